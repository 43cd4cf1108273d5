/* push.c - what a push costs a host: accesses that hit the L1, by four threads, each on a core of
 * its own. One line of text: nanoseconds of processor time for each, the best of five runs.
 *
 *     push PUSHES [NAME=VALUE...]    so many; configuration, as --set takes it; with order=host by
 *                                    its clock */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/lardsim.h"

enum { RUNS = 5, THREADS = 4, WORDS = 256 };

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const struct lardsim *l)
{
    fprintf(stderr, "push: %s\n", lardsim_error(l));
    exit(1);
}

/* Each thread has words of its own. */
static void push(struct lardsim *l, uint64_t i, int hosted)
{
    const unsigned thread = (unsigned)(i % THREADS);
    const struct lardsim_at at = {.cycle = 10 * i, .core = thread, .took = 1, .gap = 2};
    const uint64_t addr = (uint64_t)(thread + 1) << 20 | i / THREADS % WORDS * 8;
    const enum lardsim_kind kind = i / THREADS % 4 ? LARDSIM_READ : LARDSIM_WRITE;
    const int bad = hosted ? lardsim_access_at(l, &at, thread, kind, addr, 8, 0, 7, NULL)
                           : lardsim_access(l, thread, kind, addr, 8, 0, 7);

    if (bad)
        fail(l);
}

static double run(uint64_t pushes, char **set, int hosted)
{
    struct lardsim *l = lardsim_new();

    for (; *set; set++)
        if (lardsim_set(l, *set))
            fail(l);
    if (lardsim_start(l))
        fail(l);
    for (unsigned i = 1; i < THREADS; i++) {
        const struct lardsim_at at = {.core = 0};
        if (hosted ? lardsim_sync_at(l, &at, 0, LARDSIM_FORK, 0, i, 0, 0, NULL)
                   : lardsim_sync(l, 0, LARDSIM_FORK, 0, i, 0, 0))
            fail(l);
    }
    for (uint64_t i = 0; i < (uint64_t)THREADS * WORDS; i++)
        push(l, i, hosted);
    const double from = seconds();
    for (uint64_t i = 0; i < pushes; i++)
        push(l, i, hosted);
    const double took = seconds() - from;
    if (lardsim_finish(l))
        fail(l);
    lardsim_free(l);
    return took;
}

int main(int argc, char **argv)
{
    double best = 0;
    int hosted = 0;
    const uint64_t pushes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

    if (!pushes) {
        fprintf(stderr, "usage: push PUSHES [NAME=VALUE...]\n");
        return 1;
    }
    for (int i = 2; i < argc; i++)
        hosted |= !strcmp(argv[i], "order=host");
    for (int i = 0; i < RUNS; i++) {
        const double took = run(pushes, argv + 2, hosted);
        if (!i || took < best)
            best = took;
    }
    printf("%.1f ns\n", best / (double)pushes * 1e9);
    return 0;
}
