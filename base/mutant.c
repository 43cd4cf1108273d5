/* mutant.c - which rule is broken; compiled only into builds for mutation testing. */
#include "base/mutant.h"

#ifdef LARDSIM_MUTANTS
int mutant_active;
const char *const mutant_name[MUTANT_COUNT] = {
    "NONE",
#define MUTANT_ROW(name, text) #name,
#include "base/mutants.def"
#undef MUTANT_ROW
};
#endif
