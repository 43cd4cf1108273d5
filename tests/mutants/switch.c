/* switch.c - the switch of switch.h; each file that tests/mutants/mutate.c has changed begins with
 * it, and of those that a program has one is taken. A test sets it (tests/frame/mutant_arg.h), or,
 * for tests that know nothing of it, the environment does: LARDSIM_MUTANT is a mutant's number, and
 * LARDSIM_REACHED a file that gets a byte for each. */
#include "tests/mutants/switch.h"

#if defined MUTANT && !defined MUTANT_SWITCH
#define MUTANT_SWITCH __attribute__((weak, visibility("hidden")))

/* The system's headers would bring their names into the file that follows (it may have an access()
 * or a LOCK_READ of its own), so the few functions are declared here, under names of our own. */
extern char *mutant_getenv(const char *) __asm__("getenv");
extern int mutant_atoi(const char *) __asm__("atoi");
extern int mutant_open(const char *, int, ...) __asm__("open");
extern int mutant_truncate(int, long) __asm__("ftruncate");
extern void *mutant_map(void *, unsigned long, int, int, int, long) __asm__("mmap");
extern int mutant_close(int) __asm__("close");
enum { MUTANT_O_RDWR_CREAT = 02 | 0100, MUTANT_PROT_READ_WRITE = 3, MUTANT_MAP_SHARED = 1 };

static unsigned char mutant_seen[MUTANT_COUNT];
MUTANT_SWITCH unsigned char *mutant_reached = mutant_seen;
MUTANT_SWITCH int mutant_active;

/* Before the runtime of captures starts: compilers call it with a priority of 99. */
__attribute__((constructor(1))) MUTANT_SWITCH void mutant_start(void)
{
    static int started;
    const char *number = mutant_getenv("LARDSIM_MUTANT"),
               *reached = mutant_getenv("LARDSIM_REACHED");

    if (started++)
        return;
    if (number)
        mutant_active = mutant_atoi(number);
    const int file = reached ? mutant_open(reached, MUTANT_O_RDWR_CREAT, 0666) : -1;
    if (file < 0)
        return;
    /* Shared, so that it is complete whichever way the program ends, or its children do. */
    if (!mutant_truncate(file, MUTANT_COUNT)) {
        void *at = mutant_map(0, MUTANT_COUNT, MUTANT_PROT_READ_WRITE, MUTANT_MAP_SHARED, file, 0);
        if (at != (void *)-1)
            mutant_reached = at;
    }
    mutant_close(file);
}

#endif
