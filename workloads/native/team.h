/* team.h - the frame of the native kernels: a team of threads that does the same work again and
 * again.
 *
 *     kernel THREADS REPEATS
 *
 * prints the processor time of all repetitions but the first one, of all threads together, and a
 * sum that must be the same however the kernel was compiled. */
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A kernel defines these; main is here. */
static void setup(void);                             /* by the first thread alone */
static void work(unsigned member, unsigned members); /* a repetition, by each */
static double result(void);

static unsigned team_size;
static long team_repeats;
static int64_t team_began;
static pthread_barrier_t team_barrier;

static inline void *team_get(size_t n, size_t bytes)
{
    void *p = calloc(n, bytes);

    if (!p)
        abort();
    return p;
}

/* Returns the beginning of a member's part of n things; for member + 1 that is its end. */
static inline size_t team_part(size_t n, unsigned member, unsigned members)
{
    return n * member / members;
}

static inline void team_wait(void)
{
    pthread_barrier_wait(&team_barrier);
}

/* Returns a number from 0 to 1, the same sequence in every run. */
static inline double team_random(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 (Marsaglia, 2003) */

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static inline int64_t team_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void *team_member(void *number)
{
    const unsigned member = (unsigned)(uintptr_t)number;

    for (long i = 0; i < team_repeats; i++) {
        team_wait();
        if (member == 0 && i == 1)
            team_began = team_time();
        work(member, team_size);
    }
    team_wait();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[256];
    int64_t ended;

    team_size = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    team_repeats = argc > 2 ? atol(argv[2]) : 1;
    if (team_size < 1 || team_size > 256 || team_repeats < 1)
        return 2;
    setup();
    pthread_barrier_init(&team_barrier, NULL, team_size);
    for (unsigned i = 1; i < team_size; i++)
        if (pthread_create(&thread[i], NULL, team_member, (void *)(uintptr_t)i))
            return 1;
    team_member(NULL);
    ended = team_time();
    for (unsigned i = 1; i < team_size; i++)
        pthread_join(thread[i], NULL);
    printf("nanoseconds %lld\n", team_repeats > 1 ? (long long)(ended - team_began) : 0);
    printf("result %.9g\n", result());
    return 0;
}

#endif
