/* run.h - for tests of the timed order: streams, and a scheduler that runs them through a
 * window, choosing among what may run by chance. It includes cmocka and what cmocka needs. */
#ifndef LARDSIM_TESTS_ORDER_RUN_H
#define LARDSIM_TESTS_ORDER_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sim/order/order_int.h"
#include "tests/frame/mutant_arg.h"

/* How many threads have been seen: ids below. */
static inline size_t order_threads(const struct order *o)
{
    return o->lanes;
}
static inline uint64_t order_bytes(const struct order *o) /* on the host, about */
{
    return o->budget.live;
}

#include <cmocka.h>

struct stream {
    struct event *rec; /* owns */
    size_t records, rec_cap;
    size_t *at; /* owns; the record of each event */
    size_t events, at_cap;
};

static inline const struct event *stream_event(const struct stream *s, size_t i)
{
    return &s->rec[s->at[i]];
}

static inline void stream_add(struct stream *s, const struct event *ev)
{
    s->at = xgrow(s->at, s->events, &s->at_cap, sizeof *s->at);
    s->at[s->events++] = s->records;
    for (unsigned i = 0; i < event_records(ev); i++) {
        s->rec = xgrow(s->rec, s->records, &s->rec_cap, sizeof *s->rec);
        s->rec[s->records++] = ev[i];
    }
}

static inline void stream_drop(struct stream *s)
{
    free(s->rec);
    free(s->at);
    *s = (struct stream){0};
}

struct scheduler {
    const struct stream *s;
    struct order *o;
    struct rng rng;
    size_t added, taken;
    size_t *run;              /* owns; event numbers as they were run */
    bool *done;               /* owns; by event */
    uint64_t ahead;           /* events read at once at most */
    size_t avoid;             /* this event is not run; SIZE_MAX: none */
    bool asleep[MAX_THREADS]; /* it was told to wait, and not woken since */
    uint64_t rank[64];        /* of threads, modulo: the highest that may run goes next */
    uint64_t keep;            /* ranks are drawn anew one time in so many */
};

static inline struct scheduler *scheduler_new(const struct stream *s, uint64_t window,
                                              uint64_t seed)
{
    struct scheduler *c = xcalloc(1, sizeof *c);

    c->s = s;
    c->o = order_new(window, NULL, NULL);
    c->run = xcalloc(s->events + 1, sizeof *c->run);
    c->done = xcalloc(s->events + 1, sizeof *c->done);
    c->ahead = window;
    c->avoid = SIZE_MAX;
    c->keep = 1;
    rng_seed(&c->rng, seed);
    return c;
}

static inline void scheduler_free(struct scheduler *c)
{
    order_free(c->o);
    free(c->run);
    free(c->done);
    free(c);
}

static inline void scheduler_feed(struct scheduler *c)
{
    uint64_t n = 1 + rng_below(&c->rng, c->ahead);
    struct err e = {0};

    for (; n > 0 && c->added < c->s->events && !order_full(c->o); n--, c->added++)
        assert_int_equal(order_add(c->o, stream_event(c->s, c->added), c->added, &e), 0);
    if (c->added == c->s->events)
        order_close(c->o);
}

/* What is said of a thread is consistent with what was said before. */
static inline bool scheduler_may_run(struct scheduler *c, size_t tid, struct order_next *next)
{
    order_peek(c->o, (sim_tid)tid, next);
    if (next->state == ORDER_BLOCKED) {
        assert_true(next->by_number < next->number);
        assert_false(c->done[next->by_number]);
        assert_int_equal(stream_event(c->s, next->by_number)->tid, next->by);
        assert_true(next->why < WAIT_REASONS);
        c->asleep[tid] = true;
    } else {
        assert_false(c->asleep[tid]);
    }
    return next->state == ORDER_READY && next->number != c->avoid;
}

static inline void scheduler_take(struct scheduler *c, size_t tid, const struct order_next *next)
{
    const struct event *ev = stream_event(c->s, next->number);
    const sim_tid *woken;

    assert_int_equal(next->ev->tid, tid);
    assert_memory_equal(next->ev, ev, event_records(ev) * sizeof *ev);
    assert_false(c->done[next->number]);
    c->done[next->number] = true;
    c->run[c->taken++] = (size_t)next->number;
    order_take(c->o, (sim_tid)tid);
    for (size_t n = order_woken(c->o, &woken); n > 0; n--) {
        assert_true(c->asleep[woken[n - 1]]);
        c->asleep[woken[n - 1]] = false;
    }
}

/* Runs one event, of the thread with the highest rank that may. */
static inline bool scheduler_step(struct scheduler *c)
{
    const size_t threads = order_threads(c->o);
    struct order_next next, best = {0};
    size_t who = SIZE_MAX;

    if (rng_below(&c->rng, c->keep) == 0)
        for (size_t i = 0; i < ARRAY_SIZE(c->rank); i++)
            c->rank[i] = rng_next(&c->rng);
    for (size_t t = 0; t < threads; t++)
        if (scheduler_may_run(c, t, &next) &&
            (who == SIZE_MAX || c->rank[t % 64] > c->rank[who % 64])) {
            who = t;
            best = next;
        }
    if (who != SIZE_MAX)
        scheduler_take(c, who, &best);
    return who != SIZE_MAX;
}

/* Runs everything, or everything that can be run without the event to avoid. */
static inline void scheduler_run(struct scheduler *c)
{
    scheduler_feed(c);
    while (c->taken < c->s->events) {
        const bool went = scheduler_step(c);
        const bool more = c->added < c->s->events && !order_full(c->o);
        if (!went && !more && c->avoid != SIZE_MAX)
            return;
        assert_true(went || more);
        assert_int_equal(order_pending(c->o), c->added - c->taken);
        if (!went || rng_chance(&c->rng, 1, 8))
            scheduler_feed(c);
    }
}

#endif
