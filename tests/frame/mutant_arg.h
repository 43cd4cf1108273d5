/* mutant_arg.h - for tests that take --mutant NAME: a rule broken on purpose (tests/mutants/), in
 * a build that can. */
#ifndef LARDSIM_MUTANT_ARG_H
#define LARDSIM_MUTANT_ARG_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/mutants/switch.c" /* the room of the test may have no mutant, and so no switch */

static inline void mutant_on_abort(int signal)
{
    static const char text[] = "FAILED: an assertion\n";

    (void)signal;
    _exit(write(2, text, sizeof text - 1) < 0 ? 2 : 1);
}

/* False: there is no such mutant in this build. An assertion of the program's own is a failure of
 * the test like others from here on. */
static inline bool mutant_set(const char *name)
{
#ifdef MUTANT
    static const char *const names[] = {
#define MUTANT_ROW(name) #name,
#include "tests/mutants/list.def"
#undef MUTANT_ROW
    };
    for (int m = MUTANT_NONE + 1; m < MUTANT_COUNT; m++)
        if (!strcmp(names[m - 1], name)) {
            mutant_active = m;
            signal(SIGABRT, mutant_on_abort);
            return true;
        }
#endif
    fprintf(stderr, "no mutant %s in this build\n", name);
    return false;
}

/* The same of the arguments, if they begin so; it is taken away from them. */
static inline bool mutant_arg(int *argc, char ***argv)
{
    if (*argc < 3 || strcmp((*argv)[1], "--mutant") != 0)
        return true;
    if (!mutant_set((*argv)[2]))
        return false;
    *argc -= 2;
    *argv += 2;
    return true;
}

#endif
