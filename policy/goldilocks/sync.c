/* sync.c - what each event does to locksets: Figure 5's rules for all kinds of events
 * that docs/events.md knows (docs/policies/goldilocks.md has the table). Which of an object's two
 * elements an event takes from and gives to is in trace/event.def, as for clocks. */
#include "policy/goldilocks/goldilocks.h"

#include <stdlib.h>
#include <string.h>

struct gold_thread *gold_thread_at(struct goldilocks *g, uint64_t tid)
{
    g->thread = budget_reach(g->env->budget, g->thread, &g->threads, tid, sizeof *g->thread);
    return &g->thread[tid];
}

/* The event's cell. */
static void edge(struct goldilocks *g, const struct event *ev, struct gold_cell cell)
{
    cell.rule = GOLD_EDGE;
    cell.actor = hb_actor(g->env->hb, ev->tid);
    gold_append(g, &cell);
}

static gold_element me(const struct goldilocks *g, const struct event *ev)
{
    return gold_actor(hb_actor(g->env->hb, ev->tid));
}

/* An actor gives to an element. That ends the actor's moment, which is returned. */
static uint64_t actor_gives(struct goldilocks *g, const struct event *ev, gold_element to)
{
    const uint64_t moment = gold_close(g, hb_actor(g->env->hb, ev->tid));

    edge(g, ev, (struct gold_cell){.from = {me(g, ev), 0}, .to = to, .moment = moment});
    return moment;
}

static void actor_takes(struct goldilocks *g, const struct event *ev, gold_element from,
                        gold_element or_from)
{
    edge(g, ev, (struct gold_cell){.from = {from, or_from}, .to = me(g, ev)});
}

/* ---- locks ---------------------------------------------------------------------------------- */

/* Nested monitors: only the outermost acquire and release of a thread, per mode. A wait gives up
 * and takes back whatever the nesting is. */
static void lock_step(struct goldilocks *g, const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];
    const bool shared = ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_RELEASE_SHARED;
    struct gold_object *o = gold_object_get(g, OBJECT_LOCK, ev->addr, 0);
    const gold_element readers = info->takes & EDGE_R ? o->readers : 0;
    const gold_element given = info->gives & EDGE_W ? o->element : o->readers;

    gold_cost_locks(g, ev->tid);
    if (ev->kind == EV_WAIT_ENTER) {
        gold_wait(g, o, ev->tid, true);
        actor_gives(g, ev, given);
    } else if (ev->kind == EV_WAIT_EXIT) {
        gold_wait(g, o, ev->tid, false);
        actor_takes(g, ev, o->element, readers);
    } else if (info->takes) {
        if (gold_nest(g, o, ev->tid, shared) == 1)
            actor_takes(g, ev, o->element, readers);
    } else if (gold_unnest(g, o, ev->tid, shared) == 0) {
        actor_gives(g, ev, given);
    }
}

/* ---- the other objects ---------------------------------------------------------------------- */

static struct gold_object *round_of(struct goldilocks *g, const struct event *ev)
{
    return gold_object_get(g, OBJECT_BARRIER, ev->addr, ev->aux);
}

/* Nobody arrives at a round after its first departure, so the last to leave closes it. */
static void barrier_count(struct goldilocks *g, const struct event *ev)
{
    struct gold_object *o = round_of(g, ev);

    if (ev->kind == EV_BARRIER_ARRIVE)
        o->inside++;
    else if (o->inside > 1)
        o->inside--;
    else
        sync_object_drop(&g->objects, o, g);
}

static void plain_step(struct goldilocks *g, const struct event *ev, const struct gold_object *o)
{
    if (ev_info[ev->kind].takes)
        actor_takes(g, ev, o->element, 0);
    if (ev_info[ev->kind].gives)
        actor_gives(g, ev, o->element);
}

/* The element that a fork gives: the child itself (rule 6), or with no-thread the child's birth, as
 * its actor is known only when it begins. A birth that the child takes with its first event would
 * make each check walk from the fork to there, which may be long after. */
static gold_element born(const struct goldilocks *g, uint64_t tid)
{
    return g->by_kernel ? GOLD_BIRTHS + (gold_element)tid : gold_actor((uint32_t)tid);
}

/* A thread's end is an element: with no-thread its actor may be another then. */
static void child_step(struct goldilocks *g, const struct event *ev)
{
    const gold_element birth = born(g, ev->aux);
    struct gold_thread *child = gold_thread_at(g, ev->aux);

    if (ev->kind == EV_FORK) {
        child->forked = true;
        actor_gives(g, ev, birth);
    } else if (child->ended) {
        actor_takes(g, ev, GOLD_ENDS + (gold_element)ev->aux, 0);
    } else if (child->begun) { /* as if it gave now */
        const uint32_t actor = hb_actor(g->env->hb, (sim_tid)ev->aux);
        const uint64_t moment = gold_close(g, actor);
        edge(g, ev,
             (struct gold_cell){.from = {gold_actor(actor), 0}, .to = me(g, ev), .moment = moment});
    } else {
        actor_takes(g, ev, birth, 0);
    }
}

/* A thread's first event: with no-thread whoever is in the lockset through its birth is known to
 * its actor. */
static void begin(struct goldilocks *g, const struct event *ev)
{
    struct gold_thread *t = gold_thread_at(g, ev->tid);

    if (g->by_kernel && !t->begun && t->forked)
        actor_takes(g, ev, born(g, ev->tid), 0);
    if (g->by_kernel && !g->cost->on) /* else the list has it still */
        gold_reach_drop(g, born(g, ev->tid));
    t->begun = true;
}

/* WriteVC. Of another's entry: the thread now knows of the other's accesses up to that time. Of its
 * own: its time goes on. There are no locks at this level, so an actor's times are its moments. */
static void raw_step(struct goldilocks *g, const struct event *ev)
{
    const struct gold_cell cell = {.rule = GOLD_RAW,
                                   .actor = hb_actor(g->env->hb, ev->tid),
                                   .from = {gold_actor((uint32_t)ev->aux), 0},
                                   .to = me(g, ev),
                                   .moment = ev->addr};

    if (ev->aux != ev->tid)
        gold_append(g, &cell);
    else if (ev->addr > gold_actor_at(g, ev->tid)->moment)
        gold_actor_at(g, ev->tid)->moment = ev->addr;
}

void gold_sync(struct goldilocks *g, const struct event *ev)
{
    switch ((enum ev_object)ev_info[ev->kind].object) {
    case OBJECT_LOCK:
        lock_step(g, ev);
        break;
    case OBJECT_BARRIER:
        plain_step(g, ev, round_of(g, ev));
        barrier_count(g, ev);
        break;
    case OBJECT_VOLATILE:
    case OBJECT_CLASS:
        plain_step(g, ev, gold_object_get(g, ev_info[ev->kind].object, ev->addr, 0));
        break;
    case OBJECT_CHILD:
        child_step(g, ev);
        break;
    case OBJECT_SELF:
        if (ev->kind == EV_THREAD_END) {
            actor_gives(g, ev, GOLD_ENDS + (gold_element)ev->tid);
            gold_thread_at(g, ev->tid)->ended = true;
        }
        break;
    case OBJECT_NONE:
        if (ev->kind == EV_WRITEVC)
            raw_step(g, ev);
        break;
    case OBJECT_ATOMIC:
    case OBJECT_COMMIT: /* gold_edges has them */
        break;
    }
}

/* ---- atomics, transactions, memory ---------------------------------------------------------- */

/* A head of a release sequence that is not the only one gives to an element of its own, and that to
 * the location's. */
static void atomic_gives(struct goldilocks *g, const struct event *ev, struct gold_object *o,
                         bool gives)
{
    const gold_element to = gold_sequences(g, o, ev, gives);

    if (!gives)
        return;
    const uint64_t moment = actor_gives(g, ev, to);
    if (to != o->element)
        edge(g, ev, (struct gold_cell){.from = {to, 0}, .to = o->element, .moment = moment});
}

static void atomic_step(struct goldilocks *g, bool after, const struct event *ev)
{
    struct gold_object *o = gold_object_get(g, OBJECT_ATOMIC, ev->addr, 0);
    const enum ev_order order = event_order(ev);

    if (!after && order_takes(order) && ev_info[ev->kind].takes)
        actor_takes(g, ev, o->element, 0);
    if (after)
        atomic_gives(g, ev, o, order_gives(order) && ev_info[ev->kind].gives);
}

/* The extended synchronizes-with order and the two others of section 3: commits that share a
 * variable; all commits; one that reads what the other wrote. */
static struct gold_variable variable_of(struct goldilocks *g, const struct event *access,
                                        sim_addr a)
{
    const gold_element element = gold_object_get(g, OBJECT_COMMIT, a, 0)->element;
    const bool writes = access->kind != EV_READ, reads = access->kind != EV_WRITE;

    if (g->is.transactions == GOLD_WRITE_TO_READ)
        return (struct gold_variable){element, reads, writes};
    return (struct gold_variable){element, true, true};
}

static struct gold_variables *variables_add(struct goldilocks *g, struct gold_variables *v,
                                            const struct gold_variable *next)
{
    const size_t n = v ? v->n : 0;

    if (!v || (n & (n - 1)) == 0) { /* room for a power of 2 */
        const size_t cap = n ? 2 * n : 1;
        v = xrealloc(v, 1, sizeof *v + cap * sizeof *v->at);
        budget_take(g->env->budget, (v && n ? 0 : sizeof *v) + (cap - n) * sizeof *v->at);
    }
    v->at[n] = *next;
    v->n = n + 1;
    return v;
}

/* The variables of a commit's n > 0 accesses; fewer when the budget is exceeded, which ends the
 * run. */
static struct gold_variables *variables_of(struct goldilocks *g, const struct event *accesses,
                                           size_t n)
{
    struct gold_variables *v = NULL;

    if (g->is.transactions == GOLD_ALL_COMMITS)
        return variables_add(g, v, &(struct gold_variable){GOLD_TL, true, true});
    for (size_t i = 0; i < n; i++) {
        const struct granules r = granules_of(&accesses[i], g->env->granule);
        for (sim_addr a = r.first;; a += r.step) {
            const struct gold_variable next = variable_of(g, &accesses[i], a);
            v = variables_add(g, v, &next);
            if (a == r.last || budget_ends(g->env->budget))
                break;
        }
    }
    return v;
}

/* The commit is one cell; records of its accesses point at that cell, so that what it gives counts
 * for them, too (Figure 8 as printed has them point behind it). */
static void commit_begins(struct goldilocks *g, const struct event *ev,
                          const struct event *accesses, size_t n)
{
    const struct gold_cell cell = {.rule = GOLD_COMMIT,
                                   .actor = hb_actor(g->env->hb, ev->tid),
                                   .variables = variables_of(g, accesses, n)};

    gold_close(g, cell.actor);
    cell.variables->moment = gold_actor_at(g, cell.actor)->moment;
    gold_append(g, &cell);
    g->commit_at = g->list.tail - 1;
    g->committing = true;
}

void gold_edges(void *goldilocks, enum policy_edge at, const struct event *ev,
                const struct event *accesses, size_t n)
{
    struct goldilocks *g = goldilocks;

    switch (at) {
    case EDGE_BEGIN:
        begin(g, ev);
        break;
    case EDGE_BEFORE:
        if (ev->kind == EV_TXN_COMMIT)
            commit_begins(g, ev, accesses, n);
        else
            atomic_step(g, false, ev);
        break;
    case EDGE_AFTER:
        if (ev->kind != EV_TXN_COMMIT) {
            atomic_step(g, true, ev);
            break;
        }
        gold_close(g, hb_actor(g->env->hb, ev->tid));
        g->committing = false;
        break;
    case EDGE_UNHEEDED:
        if (ev_info[ev->kind].object == OBJECT_BARRIER)
            barrier_count(g, ev);
        break;
    case EDGE_MEMORY:
        if (ev->kind == EV_CLEAR)
            sync_objects_clear(&g->objects, ev->addr, ev->aux, g);
        else if (ev->kind == EV_COPY)
            sync_objects_move(&g->objects, ev->addr, ev[1].addr, ev->aux, g);
        break;
    }
}
