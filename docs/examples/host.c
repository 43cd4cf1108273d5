/* host.c - a simulator of two cores that asks lardsim what its accesses cost, and whether they race
 * (docs/library.md). Both threads add to a counter; the second forgets the lock. */
#include <inttypes.h>
#include <lardsim.h>
#include <stdio.h>
#include <stdlib.h>

enum { CORES = 2, COUNTER = 0x1000, LOCK = 0x2000 };

static uint64_t clock_of[CORES]; /* this simulator's own */

/* Any call may fail; the first error stays, and says what to do. */
static void check(struct lardsim *l, int result)
{
    if (!result)
        return;
    fprintf(stderr, "host: %s\n", lardsim_error(l));
    exit(lardsim_exit_code(l));
}

static void on_race(void *arg, const struct lardsim_race *race)
{
    (void)arg;
    printf("race: threads %" PRIu32 " and %" PRIu32 " at 0x%" PRIx64 "\n", race->earlier.thread,
           race->is.thread, race->addr);
}

/* An access took `cycles` here; lardsim says what its detector adds, and the core stands still. */
static void data(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint32_t cycles)
{
    uint64_t added;

    clock_of[thread] += cycles;
    const struct lardsim_at at = {.cycle = clock_of[thread], .took = cycles, .core = thread};
    check(l, lardsim_access_at(l, &at, thread, kind, COUNTER, 8, 0, 0, &added));
    clock_of[thread] += added;
}

static void sync(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t object,
                 uint64_t aux)
{
    uint64_t added;

    clock_of[thread] += 20;
    const struct lardsim_at at = {.cycle = clock_of[thread], .took = 20, .core = thread};
    check(l, lardsim_sync_at(l, &at, thread, kind, object, aux, 0, 0, &added));
    clock_of[thread] += added;
}

int main(void)
{
    struct lardsim *l = lardsim_new();

    check(l, lardsim_set(l, "machine=multicore"));
    check(l, lardsim_set(l, "cores=2"));
    check(l, lardsim_set(l, "order=host"));
    check(l, lardsim_set(l, "policies=lardish"));
    check(l, lardsim_output(l, "host-results", 1));
    check(l, lardsim_record(l, "host.lard", 1));
    lardsim_on_race(l, on_race, NULL);
    check(l, lardsim_start(l));

    sync(l, 0, LARDSIM_FORK, 0, 1);
    for (int i = 0; i < 2; i++) {
        sync(l, 0, LARDSIM_ACQUIRE, LOCK, 0);
        data(l, 0, LARDSIM_READ, 2);
        data(l, 0, LARDSIM_WRITE, 2);
        sync(l, 0, LARDSIM_RELEASE, LOCK, 0);
        data(l, 1, LARDSIM_READ, 40);
        data(l, 1, LARDSIM_WRITE, 40);
    }
    for (unsigned core = 0; core < CORES; core++) {
        uint64_t cycles, added;
        if (!lardsim_cycles(l, core, &cycles, &added))
            printf("core %u: %" PRIu64 " cycles, %" PRIu64 " of them the detector's\n", core,
                   cycles, added);
    }
    check(l, lardsim_finish(l));
    lardsim_free(l);
    return 0;
}
