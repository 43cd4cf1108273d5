/* switch.h - MUTANT(NAME) is true when this rule is to be broken, in a copy of the source that
 * tests/mutants/mutate.c has changed. Elsewhere, where there is no list of mutants, this is
 * nothing. */
#ifndef LARDSIM_SWITCH_H
#define LARDSIM_SWITCH_H

#if __has_include("tests/mutants/list.def")

enum mutant {
    MUTANT_NONE,
#define MUTANT_ROW(name) MUTANT_##name,
#include "tests/mutants/list.def"
#undef MUTANT_ROW
    MUTANT_COUNT
};

#pragma GCC visibility push(hidden)
extern int mutant_active;             /* an enum mutant */
extern unsigned char *mutant_reached; /* by enum mutant: whether the program has come by */
#pragma GCC visibility pop

static inline int mutant_is(int mutant)
{
    mutant_reached[mutant] = 1;
    return mutant_active == mutant;
}
#define MUTANT(name) mutant_is(MUTANT_##name)

#endif
#endif
