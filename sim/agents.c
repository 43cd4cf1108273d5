/* agents.c - whoever has a time at which it goes on, in a heap by time; how one waits in the middle
 * of something; the loop that lets them go one by one.
 *
 * An agent's step usually runs to its end on the stack of the loop. One that must wait in the
 * middle leaves its stack (a fiber) asleep and another fiber goes on with the loop. When its time
 * has come, the loop's fiber at that moment becomes a spare, which the next sleeper continues with.
 */
#include "sim/interval.h"
#include "sim/timed_int.h"

#include <assert.h>
#include <stdlib.h>

/* ---- the heap: earlier first, of the same cycle the one with the lower index ---------------- */

static bool before(const struct agent *a, const struct agent *b)
{
    return a->at != b->at ? a->at < b->at : a < b;
}

static void sift_up(struct timed *t, size_t i, struct agent *a)
{
    for (; i > 0 && before(a, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = a;
}

static void sift_down(struct timed *t, size_t i, struct agent *a)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < t->heaped && before(t->heap[child + 1], t->heap[child]))
            child++;
        if (child >= t->heaped || !before(t->heap[child], a))
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = a;
}

/* The root is vacant after its agent was taken, as it mostly comes back soon: `hole`. */
static void close_hole(struct timed *t)
{
    t->hole = false;
    if (--t->heaped)
        sift_down(t, 0, t->heap[t->heaped]);
}

void agent_sooner(struct timed *t, struct agent *a, sim_cycle at)
{
    size_t i = 0;

    if (t->hole)
        close_hole(t);
    while (t->heap[i] != a)
        i++;
    a->at = at;
    sift_up(t, i, a);
}

void agent_at(struct timed *t, struct agent *a, sim_cycle at)
{
    a->at = at;
    if (!t->hole) {
        sift_up(t, t->heaped++, a);
        return;
    }
    t->hole = false;
    sift_down(t, 0, a);
}

static struct agent *first(struct timed *t)
{
    if (t->hole)
        close_hole(t);
    return t->heaped ? t->heap[0] : NULL;
}

/* The one that goes next while the root may be vacant; that stays as it is. */
static const struct agent *first_other(const struct timed *t)
{
    if (!t->hole)
        return t->heaped ? t->heap[0] : NULL;
    if (t->heaped <= 2)
        return t->heaped == 2 ? t->heap[1] : NULL;
    return before(t->heap[2], t->heap[1]) ? t->heap[2] : t->heap[1];
}

/* It has its turn. */
static void agent_turns(struct timed *t, struct agent *a)
{
    t->last = a->at > t->now || a > t->last ? a : t->last;
    t->now = a->at;
}

static void agents_loop(void *arg);

/* ---- fibers --------------------------------------------------------------------------------- */

static void spare_push(struct timed *t, struct fiber *f)
{
    t->spare = xgrow(t->spare, t->spares, &t->spares_cap, sizeof(struct fiber *));
    t->spare[t->spares++] = f;
}

static struct fiber *spare_pop(struct timed *t)
{
    return t->spares ? t->spare[--t->spares] : fiber_new(agents_loop, t);
}

static void go(struct timed *t, struct fiber *to)
{
    struct fiber *from = t->running;

    t->running = to;
    fiber_switch(from, to);
}

/* The active agent leaves its stack; the loop goes on elsewhere until its time has come. */
static void suspend(struct timed *t)
{
    struct agent *a = t->active;

    a->fiber = t->running;
    go(t, spare_pop(t));
    t->active = a;
}

static void resume(struct timed *t, struct agent *a)
{
    struct fiber *f = a->fiber;

    a->fiber = NULL;
    spare_push(t, t->running);
    go(t, f);
}

/* ---- waiting in the middle ------------------------------------------------------------------ */

sim_cycle agent_sleep(struct timed *t, uint64_t key)
{
    struct agent *a = t->active;
    uint64_t *first = map_put(&t->sleepers, key);

    a->key = key;
    a->next = NULL;
    if (*first) {
        struct agent *last = (struct agent *)(uintptr_t)*first;
        while (last->next)
            last = last->next;
        last->next = a;
    } else {
        *first = (uint64_t)(uintptr_t)a;
    }
    t->asleep++;
    suspend(t);
    return a->at;
}

void agents_wake(struct timed *t, uint64_t key, sim_cycle at)
{
    const uint64_t *first = map_find(&t->sleepers, key);
    struct agent *a = first ? (struct agent *)(uintptr_t)*first : NULL;

    if (!a)
        return;
    map_remove(&t->sleepers, key);
    while (a) {
        struct agent *next = a->next;
        a->next = NULL;
        t->asleep--;
        agent_at(t, a, at > t->now ? at : t->now);
        a = next;
    }
}

bool agent_goes_on(struct timed *t, sim_cycle at)
{
    const struct memory *m = &t->machine->memory;
    const struct agent *other = first_other(t);
    struct agent *a = t->active;

    a->at = at > t->now ? at : t->now;
    if ((other && before(other, a)) || (m->type->later && m->type->next(m->self) <= a->at))
        return false;
    agent_turns(t, a);
    return true;
}

/* Others whose time comes first go first. */
sim_cycle agent_until(void *arg, unsigned core, sim_cycle at)
{
    struct timed *t = arg;
    struct agent *a = t->active;

    (void)core;
    if (agent_goes_on(t, at))
        return a->at;
    agent_at(t, a, a->at);
    suspend(t);
    return a->at;
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* An answer of the memory that comes before the next agent's time, or at it. */
static bool memory_answers(struct timed *t)
{
    const struct memory *m = &t->machine->memory;
    const struct agent *a = first(t);
    const sim_cycle until = a ? a->at : CYCLE_NEVER;
    struct mem_answer answer;

    if (m->type->next(m->self) > until || !m->type->step(m->self, until, &answer))
        return false;
    agents_wake(t, COH_KEY_MEMORY(answer.id), answer.at);
    return true;
}

static void turn(struct timed *t, struct agent *a)
{
    if (UNLIKELY(a->at >= t->machine->interval_end))
        intervals_pass(t->machine->intervals, a->at);
    t->hole = true;
    assert(a->at >= t->now);
    agent_turns(t, a);
    t->active = a;
    if (a->fiber)
        resume(t, a);
    else
        a->step(t, a);
}

static void agents_loop(void *arg)
{
    struct timed *t = arg;
    const bool later = t->machine->memory.type->later;

    for (;;) { /* the host has asked for it */
        while (!t->stop) {
            struct agent *a = first(t);
            if (UNLIKELY(!a || t->parked) && !timed_feed(t))
                break;
            if (UNLIKELY(later) && memory_answers(t))
                continue;
            a = first(t);
            if (!a)
                break;
            turn(t, a);
        }
        spare_push(t, t->running);
        go(t, t->host);
    }
}

void agents_run(struct timed *t)
{
    if (!t->host)
        t->host = fiber_host();
    t->running = t->host;
    go(t, spare_pop(t));
}

void agents_free(struct timed *t)
{
    for (size_t i = 0; i < t->agents; i++)
        fiber_free(t->agent[i].fiber);
    while (t->spares)
        fiber_free(t->spare[--t->spares]);
    fiber_free(t->host);
    free(t->spare);
}
