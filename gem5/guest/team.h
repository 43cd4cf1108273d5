/* team.h - one function in several threads, inside a region of interest. */
#ifndef LARD_TEAM_H
#define LARD_TEAM_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "lard.h"

struct member {
    size_t id, of, n; /* of: how many members there are; n: the size of the job */
    void (*work)(const struct member *m);
};

static inline size_t team_from(const struct member *m, size_t n)
{
    return n * m->id / m->of;
}
static inline size_t team_end(const struct member *m, size_t n)
{
    return n * (m->id + 1) / m->of;
}

static void *team_start(void *arg)
{
    const struct member *m = arg;

    m->work(m);
    return NULL;
}

enum { TEAM_MOST = 64 };

/* Runs work in so many threads. Returns 0, or not: there can't be so many. */
static inline int team_run(void (*work)(const struct member *m), size_t n, size_t threads)
{
    static struct member m[TEAM_MOST];
    pthread_t t[TEAM_MOST];

    if (!threads || threads > TEAM_MOST)
        return -1;
    lard_roi_begin();
    for (size_t i = 0; i < threads; i++) {
        m[i] = (struct member){i, threads, n, work};
        if (i && pthread_create(&t[i], NULL, team_start, &m[i])) {
            puts("no core is free for another thread");
            return -1;
        }
    }
    work(&m[0]);
    for (size_t i = 1; i < threads; i++)
        pthread_join(t[i], NULL);
    lard_roi_end();
    return 0;
}

#endif
