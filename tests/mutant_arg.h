/* mutant_arg.h - for tests that take --mutant NAME: a rule broken on purpose (base/mutants.def), in
 * a build that can. */
#ifndef LARDSIM_MUTANT_ARG_H
#define LARDSIM_MUTANT_ARG_H

#include <stdio.h>
#include <string.h>

#include "base/mutant.h"

/* False: it was asked for, and there is no such mutant in this build. */
static inline bool mutant_arg(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "--mutant") != 0)
        return true;
#ifdef LARDSIM_MUTANTS
    for (int m = 0; m < MUTANT_COUNT; m++)
        if (!strcmp(mutant_name[m], argv[2])) {
            mutant_active = m;
            return true;
        }
#endif
    fprintf(stderr, "no mutant %s in this build\n", argv[2]);
    return false;
}

#endif
