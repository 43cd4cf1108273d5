/* mutant_arg.h - for tests that take --mutant NAME: a rule broken on purpose (base/mutants.def), in
 * a build that can. */
#ifndef LARDSIM_MUTANT_ARG_H
#define LARDSIM_MUTANT_ARG_H

#include <stdio.h>
#include <string.h>

#include "base/mutant.h"

/* False: there is no such mutant in this build. */
static inline bool mutant_set(const char *name)
{
#ifdef LARDSIM_MUTANTS
    for (int m = 0; m < MUTANT_COUNT; m++)
        if (!strcmp(mutant_name[m], name)) {
            mutant_active = m;
            return true;
        }
#endif
    fprintf(stderr, "no mutant %s in this build\n", name);
    return false;
}

/* The same, if the first argument asks for one. */
static inline bool mutant_arg(int argc, char **argv)
{
    return argc < 3 || strcmp(argv[1], "--mutant") != 0 || mutant_set(argv[2]);
}

#endif
