/* fixed.c - a memory of constant latency, as race detection papers assume one (120 cycles: RADISH
 * and the CE simulator). It has no banks, rows or queues; a parameter can limit its bandwidth, to
 * one line in so many cycles. */
#include "memory/count.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct fixed_params { /* cycles */
    uint64_t latency, interval;
};

/* The latest starts that are remembered. Requests are not presented in order of time, and one that
 * comes later must not delay one that comes before it: so starts are kept in order, and an early
 * request takes a gap between them. Older starts are summed up in `floor`. */
enum { FIXED_SLOTS = 64 };

struct fixed {
    uint64_t latency;  /* from the request's arrival on */
    uint64_t interval; /* 0: no limit */
    unsigned line;
    sim_cycle floor;              /* nothing is taken before this cycle any more */
    sim_cycle taken[FIXED_SLOTS]; /* when service of a line began, ascending */
    size_t n;
    struct memory_count count;
    uint64_t waits, waited; /* requests that had to wait; their cycles */
};

static void *fixed_create(const struct memory_env *env, const void *params, struct err *e)
{
    const struct fixed_params *p = params;

    if (p->latency <= env->included) {
        err_set(
            e, LARD_CONFIG,
            "memory.fixed.latency: %llu cycles are the whole access's, of which %llu have passed "
            "when the L3 has missed; give more, or coherence.composition=cumulative",
            (unsigned long long)p->latency, (unsigned long long)env->included);
        return NULL;
    }
    struct fixed *f = xcalloc(1, sizeof *f);
    f->latency = p->latency - env->included;
    f->interval = env->contention ? p->interval : 0;
    f->line = env->line;
    memory_count_declare(env->stats, &f->count);
    stats_count(env->stats, "waits", "count", "Requests that waited for the memory to be free.",
                &f->waits);
    stats_count(env->stats, "waited", "cycles", "Time that requests waited for it to be free.",
                &f->waited);
    return f;
}

/* Inserts a start at this index. Where there is no room the oldest is forgotten, and with it the
 * gap after it: the floor goes up to its end. */
static void remember(struct fixed *f, size_t at, sim_cycle start)
{
    if (f->n == FIXED_SLOTS) {
        if (at == 0) { /* older than all that are remembered */
            f->floor = start + f->interval;
            return;
        }
        f->floor = f->taken[0] + f->interval;
        memmove(f->taken, f->taken + 1, (FIXED_SLOTS - 1) * sizeof *f->taken);
        f->n--;
        at--;
    }
    memmove(f->taken + at + 1, f->taken + at, (f->n - at) * sizeof *f->taken);
    f->taken[at] = start;
    f->n++;
}

/* Takes the first cycle at or after `at` that is `interval` away from all others; returns it. Most
 * requests come last, so the search begins there. */
static sim_cycle take_slot(struct fixed *f, sim_cycle at)
{
    sim_cycle start = u64_max(at, f->floor);
    size_t i = f->n;

    while (i > 0 && f->taken[i - 1] + f->interval > start)
        i--;
    for (; i < f->n && f->taken[i] < start + f->interval; i++)
        start = f->taken[i] + f->interval;
    remember(f, i, start);
    return start;
}

static sim_cycle fixed_request(void *self, const struct mem_request *r)
{
    struct fixed *f = self;
    const sim_cycle start = f->interval ? take_slot(f, r->at) : r->at;

    assert(start >= r->at);
    memory_count_request(&f->count, r, f->line);
    f->waits += start > r->at;
    f->waited += start - r->at;
    if (r->write)
        return CYCLE_NEVER;
    histogram_add(&f->count.latency, start + f->latency - r->at);
    return start + f->latency;
}

#define AT(field) offsetof(struct fixed_params, field)
static const struct param fixed_rows[] = {
    {"latency", PARAM_U64, AT(latency), "120", 1, 1000000, "cycles", NULL,
     "A load that the memory answers takes this in all, the way through the caches included."},
    {"interval", PARAM_U64, AT(interval), "0", 0, 1000000, "cycles", NULL,
     "From one line to the next at the memory, when there is contention; 0: no limit."},
    PARAM_END,
};
#undef AT

const struct memory_type memory_fixed = {
    .name = "fixed",
    .summary = "a constant latency",
    .params = fixed_rows,
    .params_size = sizeof(struct fixed_params),
    .create = fixed_create,
    .request = fixed_request,
    .destroy = free,
};
