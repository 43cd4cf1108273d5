/* switch.h - what a file begins with that tests/mutants/mutate.c has edited: MUTANT(NAME) is true when this
 * rule is to be broken. Elsewhere, where there is no list of mutants, this is nothing. */
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

/* An enum mutant; set by the tests, once. Each file that is edited brings it, and it is one. */
__attribute__((weak)) int mutant_active;

#define MUTANT(name) __builtin_expect(mutant_active == MUTANT_##name, 0)

#endif
#endif
