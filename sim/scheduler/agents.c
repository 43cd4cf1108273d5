/* agents.c - whoever has a time at which it goes on, in a tournament by time; how one waits in the
 * middle of something; the loop that lets them go one by one.
 *
 * An agent's step usually runs to its end on the stack of the loop. One that must wait in the
 * middle leaves its stack (a fiber) asleep and another fiber goes on with the loop. When its time
 * has come, the loop's fiber at that moment becomes a spare, which the next sleeper continues with.
 */
#include "sim/machine/interval.h"
#include "sim/scheduler/scheduler_int.h"

#include <assert.h>
#include <stdlib.h>

/* ---- who is next: earlier first, of the same cycle the one with the lower index ---------------
 */

enum { ROOT = 1 };

/* It has another time: so may have those that it plays against, up to the root. */
static void play(struct timed *t, const struct agent *a, sim_cycle at)
{
    sim_cycle *due = t->due;
    uint32_t *winner = t->winner, best = a->index;
    size_t i = t->leaves + best;

    for (due[i] = at; i > ROOT; i /= 2) {
        const sim_cycle other = due[i ^ 1];
        const uint32_t its = winner[i ^ 1];
        const bool wins = other < at + (i & 1); /* the left one of equals */
        at = wins ? other : at;
        best = wins ? its : best;
        due[i / 2] = at;
        winner[i / 2] = best;
    }
}

void agents_init(struct timed *t)
{
    t->leaves = 1;
    while (t->leaves < t->agents)
        t->leaves *= 2;
    t->due = xcalloc(2 * t->leaves, sizeof *t->due);
    t->winner = xcalloc(2 * t->leaves, sizeof *t->winner);
    for (size_t i = 0; i < 2 * t->leaves; i++)
        t->due[i] = DUE_NEVER;
    for (size_t i = 0; i < t->agents; i++)
        t->agent[i].index = t->winner[t->leaves + i] = (uint32_t)i;
}

void agent_at(struct timed *t, struct agent *a, sim_cycle at)
{
    a->at = at;
    t->stale &= a != t->active;
    play(t, a, at);
}

/* Whoever had the last turn mostly has a new time by now: else none. */
static void settle(struct timed *t)
{
    if (UNLIKELY(t->stale))
        play(t, t->active, DUE_NEVER);
    t->stale = false;
}

/* None of the others is due before the active one would be, at this cycle. */
static bool before_others(const struct timed *t, sim_cycle at)
{
    const sim_cycle *due = t->due;

    assert(t->stale);
    for (size_t i = t->leaves + t->active->index; i > ROOT; i /= 2)
        if (due[i ^ 1] < at + (i & 1))
            return false;
    return true;
}

/* It has its turn. */
static void agent_turns(struct timed *t, struct agent *a)
{
    const uint32_t same = -(uint32_t)(a->at == t->now), last = t->last & same;

    t->last = last > a->index ? last : a->index;
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
    struct agent *a = t->active;

    a->at = at > t->now ? at : t->now;
    if (!before_others(t, a->at) || (m->type->later && m->type->next(m->self) <= a->at))
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
    const sim_cycle until = agents_wait(t) ? CYCLE_NEVER : t->due[ROOT];
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
    t->stale = true;
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
            settle(t);
            if (UNLIKELY(agents_wait(t) || t->parked) && !timed_feed(t))
                break;
            if (UNLIKELY(later) && memory_answers(t))
                continue;
            if (UNLIKELY(agents_wait(t)))
                break;
            turn(t, &t->agent[t->winner[ROOT]]);
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
    free(t->due);
    free(t->winner);
}
