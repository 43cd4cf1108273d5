/* event_queue.c - who is next in time, and how one waits in the middle of something.
 *
 * Everything that has a time at which it goes on is an agent: a core, its store buffer, each of its
 * MSHRs. The earliest goes next; of the same cycle, the one with the lower index. They stand at the
 * leaves of a tournament, so that a new time of one is a walk from its leaf to the root.
 *
 * A step of an agent usually runs to its end on the stack of the loop. One that must wait in the
 * middle leaves its stack (a fiber) asleep, and another fiber goes on with the loop. When its time
 * has come, the fiber of the loop at that moment becomes a spare, with which the next sleeper
 * continues. So protocol and policies are written as if nobody ever waited. */
#include "sim/scheduler/timed.h"

#include <assert.h>
#include <stdlib.h>

/* ---- who is next ----------------------------------------------------------------------------- */

/* An agent has a new time. The matches on the way from its leaf to the root are played again: the
 * earlier of two goes up, and waits there for the winner beside it. */
static void play(struct timed *s, const struct agent *a, sim_cycle at)
{
    sim_cycle *due = s->queue.due;
    uint32_t *winner = s->queue.winner, best = a->index;
    size_t i = s->queue.leaves + best;

    for (due[i] = at; i > QUEUE_ROOT; i /= 2) {
        const sim_cycle other = due[i ^ 1];
        const uint32_t its = winner[i ^ 1];
        const bool wins = other < at + (i & 1); /* the left one of equals */
        at = wins ? other : at;
        best = wins ? its : best;
        due[i / 2] = at;
        winner[i / 2] = best;
    }
}

void queue_at(struct timed *s, struct agent *a, sim_cycle at)
{
    a->at = at;
    s->queue.stale &= a != s->queue.active;
    play(s, a, at);
}

void queue_lapse(struct timed *s)
{
    play(s, s->queue.active, DUE_NEVER);
    s->queue.stale = false;
}

/* The active agent, at this cycle, would win: it beats the winner beside it in each match up to the
 * root, none of which is its own old time. */
static bool before_others(const struct timed *s, sim_cycle at)
{
    const sim_cycle *due = s->queue.due;

    assert(s->queue.stale);
    for (size_t i = s->queue.leaves + s->queue.active->index; i > QUEUE_ROOT; i /= 2)
        if (due[i ^ 1] < at + (i & 1))
            return false;
    return true;
}

/* ---- fibers ---------------------------------------------------------------------------------- */

static void spare_push(struct timed *s, struct fiber *f)
{
    s->queue.spare =
        xgrow(s->queue.spare, s->queue.spares, &s->queue.spares_cap, sizeof(struct fiber *));
    s->queue.spare[s->queue.spares++] = f;
}

static void go(struct timed *s, struct fiber *to)
{
    struct fiber *from = s->queue.running;

    s->queue.running = to;
    fiber_switch(from, to);
}

static void queue_loop(void *arg)
{
    struct timed *s = arg;

    for (;;) { /* the host has asked for it */
        s->head.env.run_turns(s->head.env.host);
        spare_push(s, s->queue.running);
        go(s, s->queue.host);
    }
}

static struct fiber *spare_pop(struct timed *s)
{
    return s->queue.spares ? s->queue.spare[--s->queue.spares] : fiber_new(queue_loop, s);
}

/* The active agent leaves its stack; the loop goes on elsewhere until its time has come. */
static void suspend(struct timed *s)
{
    struct agent *a = s->queue.active;
    const uint64_t number = *s->head.env.number;

    a->fiber = s->queue.running;
    go(s, spare_pop(s));
    s->queue.active = a;
    *s->head.env.number = number; /* its event is in hand again */
}

/* The same, and tells who watches. */
static void suspend_seen(struct timed *s)
{
    const struct machine_sights *see = s->machine->sights;
    const struct agent *a = s->queue.active;
    const bool asleep = s->queue.stale;
    const char *key = a->key & KEY_CORE(0) ? "core" : a->key & 1 ? "line" : "memory";

    see->sleeps(see->self, asleep ? key : "turn", asleep ? CYCLE_NEVER : a->at);
    suspend(s);
    see->wakes(see->self, s->queue.active->at);
}

void queue_resume(struct timed *s, struct agent *a)
{
    struct fiber *f = a->fiber;

    a->fiber = NULL;
    spare_push(s, s->queue.running);
    go(s, f);
}

/* ---- waiting in the middle ------------------------------------------------------------------- */

sim_cycle queue_sleep(void *self, uint64_t key)
{
    struct timed *s = self;
    struct agent *a = s->queue.active;
    uint64_t *first = map_put(&s->queue.sleepers, key);
    struct agent *last = (struct agent *)(uintptr_t)*first;

    a->key = key;
    a->next = NULL;
    if (!last)
        *first = (uint64_t)(uintptr_t)a;
    while (last && last->next)
        last = last->next;
    if (last)
        last->next = a;
    s->queue.asleep++;
    s->queue.suspend(s);
    return a->at;
}

void queue_wake(void *self, uint64_t key, sim_cycle at)
{
    struct timed *s = self;
    const uint64_t *first = map_find(&s->queue.sleepers, key);
    struct agent *a = first ? (struct agent *)(uintptr_t)*first : NULL;

    if (!a)
        return;
    map_remove(&s->queue.sleepers, key);
    while (a) {
        struct agent *next = a->next;
        a->next = NULL;
        s->queue.asleep--;
        queue_at(s, a, u64_max(at, s->queue.now));
        a = next;
    }
}

bool queue_goes_on(struct timed *s, sim_cycle at)
{
    const struct memory *m = &s->machine->memory;
    struct agent *a = s->queue.active;

    a->at = u64_max(at, s->queue.now);
    if (!before_others(s, a->at) || (m->type->later && m->type->next(m->self) <= a->at))
        return false;
    queue_turn(s, a);
    return true;
}

/* Suspends the agent until `at`: others whose time comes first go first. Returns its time then. */
sim_cycle queue_until(void *arg, unsigned core, sim_cycle at)
{
    struct timed *s = arg;
    struct agent *a = s->queue.active;

    (void)core;
    if (queue_goes_on(s, at))
        return a->at;
    queue_at(s, a, a->at);
    s->queue.suspend(s);
    return a->at;
}

/* ---- the loop -------------------------------------------------------------------------------- */

bool queue_memory(struct timed *s)
{
    const struct memory *m = &s->machine->memory;
    const sim_cycle until = queue_waits(s) ? CYCLE_NEVER : s->queue.due[QUEUE_ROOT];
    struct mem_answer answer;

    if (m->type->next(m->self) > until || !m->type->step(m->self, until, &answer))
        return false;
    queue_wake(s, COH_KEY_MEMORY(answer.id), answer.at);
    return true;
}

void queue_run(struct timed *s)
{
    if (!s->queue.host)
        s->queue.host = fiber_host();
    s->queue.running = s->queue.host;
    go(s, spare_pop(s));
}

void queue_init(struct timed *s)
{
    s->queue.suspend = s->machine->sights ? suspend_seen : suspend;
    s->queue.leaves = 1;
    while (s->queue.leaves < s->queue.agents)
        s->queue.leaves *= 2;
    s->queue.due = xcalloc(2 * s->queue.leaves, sizeof *s->queue.due);
    s->queue.winner = xcalloc(2 * s->queue.leaves, sizeof *s->queue.winner);
    for (size_t i = 0; i < 2 * s->queue.leaves; i++)
        s->queue.due[i] = DUE_NEVER;
    for (size_t i = 0; i < s->queue.agents; i++)
        s->queue.agent[i].index = s->queue.winner[s->queue.leaves + i] = (uint32_t)i;
}

void queue_free(struct timed *s)
{
    for (size_t i = 0; i < s->queue.agents; i++)
        fiber_free(s->queue.agent[i].fiber);
    while (s->queue.spares)
        fiber_free(s->queue.spare[--s->queue.spares]);
    fiber_free(s->queue.host);
    free(s->queue.spare);
    free(s->queue.due);
    free(s->queue.winner);
}
