/* switch.c - the switch of switch.h; tests/mutants/mutate.c adds it to a file that is in every
 * program. A test sets it (tests/frame/mutant_arg.h), or, for tests that know nothing of it, the
 * environment does: LARDSIM_MUTANT is a mutant's number, and LARDSIM_REACHED a file that gets a
 * byte for each. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/mutants/switch.h"

#ifdef MUTANT

static unsigned char mutant_seen[MUTANT_COUNT];
unsigned char *mutant_reached = mutant_seen;
int mutant_active;

__attribute__((constructor)) static void mutant_start(void)
{
    const char *number = getenv("LARDSIM_MUTANT"), *reached = getenv("LARDSIM_REACHED");

    if (number)
        mutant_active = atoi(number);
    const int file = reached ? open(reached, O_RDWR | O_CREAT, 0666) : -1;
    if (file < 0)
        return;
    /* Shared, so that it is complete whichever way the program ends, or its children do. */
    if (!ftruncate(file, MUTANT_COUNT)) {
        void *at = mmap(NULL, MUTANT_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at != MAP_FAILED)
            mutant_reached = at;
    }
    close(file);
}

#endif
