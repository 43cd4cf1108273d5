/* mutant.h - MUTANT(NAME) is true when this rule is to be broken; always false outside a build for
 * mutation testing, where it costs nothing. */
#ifndef LARDSIM_MUTANT_H
#define LARDSIM_MUTANT_H

#include "base/base.h"

#ifdef LARDSIM_MUTANTS
enum mutant {
    MUTANT_NONE,
#define MUTANT_ROW(name, text) MUTANT_##name,
#include "base/mutants.def"
#undef MUTANT_ROW
    MUTANT_COUNT
};
extern int mutant_active; /* an enum mutant; set by the tests, once */
extern const char *const mutant_name[MUTANT_COUNT];
#define MUTANT(name) UNLIKELY(mutant_active == MUTANT_##name)
#else
#define MUTANT(name) false
#endif

#endif
