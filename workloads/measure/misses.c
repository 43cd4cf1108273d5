/* misses.c - what a run's accesses miss in caches like those on which the targets were measured
 * (workloads/twins/dacapo.def): of each thread a first level of 32 KiB in 8 ways, as AMD's Zen 4
 * has (Software Optimization Guide, 57647), and one last level of 32 MiB in 16 ways for all, as it
 * has for 8 cores. By the events alone, without a machine: no timing, no coherence, and no
 * second level, which would not change what the last one misses by much. */
#include <stdlib.h>

#include "base/mem.h"
#include "cache/cache.h"
#include "workloads/measure/measure.h"

enum { LINE = 64 };
static const struct cache_geometry first = {32 << 10, 8, LINE, REPLACE_LRU, 0};
static const struct cache_geometry last = {32 << 20, 16, LINE, REPLACE_LRU, 0};

struct misses {
    struct cache *first; /* owns; by thread */
    size_t n, cap;
    struct cache last;
    struct misses_count count;
};

struct misses *misses_new(void)
{
    struct misses *m = xcalloc(1, sizeof *m);

    cache_init(&m->last, &last);
    return m;
}

void misses_free(struct misses *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        cache_free(&m->first[i]);
    cache_free(&m->last);
    free(m->first);
    free(m);
}

static struct cache *of_thread(struct misses *m, sim_tid tid)
{
    while (m->n <= tid) {
        m->first = xgrow(m->first, m->n, &m->cap, sizeof *m->first);
        cache_init(&m->first[m->n++], &first);
    }
    return &m->first[tid];
}

void misses_access(struct misses *m, const struct event *ev, bool counts)
{
    const uint64_t end = (ev->addr + ev->size - 1) / LINE;

    for (uint64_t line = ev->addr / LINE; line <= end; line++) {
        if (cache_had(of_thread(m, ev->tid), line))
            continue;
        const bool found = cache_had(&m->last, line);
        m->count.first += counts;
        m->count.last += counts && !found;
    }
}

void misses_forget(struct misses *m)
{
    m->count = (struct misses_count){0};
}

const struct misses_count *misses_count(const struct misses *m)
{
    return &m->count;
}
