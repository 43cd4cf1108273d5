/* flow.c - who gets to know of one access, and by which edge: its own actor at once; an object with
 * the first clock of somebody who knows; a thread when it takes from such an object. Whether it
 * knows, its clock says. What is added here is where the clock came from.
 *
 * Objects follow clears and copies of their memory, as the clocks do. */
#include "sim/why/why_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- actors --------------------------------------------------------------------------------- */

static struct flow_actor *actor_at(struct flow *f, uint32_t actor)
{
    f->actor = budget_reach(f->budget, f->actor, &f->actors, actor, sizeof *f->actor);
    return &f->actor[actor];
}

bool flow_knows(const struct flow *f, uint32_t actor)
{
    return actor < f->actors && f->actor[actor].knows;
}

static struct lardsim_why_reach *reach_new(struct flow *f, uint32_t actor, sim_tid tid)
{
    f->reach = budget_grow(f->budget, f->reach, f->reaches, &f->reaches_cap, sizeof *f->reach);
    struct flow_actor *a = actor_at(f, actor);
    a->knows = true;
    a->reach = f->reaches;
    f->reach[f->reaches] = (struct lardsim_why_reach){.thread = tid};
    return &f->reach[f->reaches++];
}

/* ---- objects -------------------------------------------------------------------------------- */

enum { FLOW_PAGE_BITS = 12 };

static uint64_t *index_of(struct flow *f, const struct flow_object *o)
{
    const uint64_t key[3] = {o->key.space, o->key.addr, o->key.round};

    if (o->key.space < FLOW_BIRTH)
        *map_put(&f->pages, o->key.addr >> FLOW_PAGE_BITS) = 1;
    return map_put(&f->index, digest_bytes(key, sizeof key));
}

static const struct flow_object *object_find(const struct flow *f, struct flow_key k)
{
    const uint64_t key[3] = {k.space, k.addr, k.round};
    const uint64_t *at = map_find(&f->index, digest_bytes(key, sizeof key));

    return at ? &f->object[*at - 1] : NULL;
}

static void object_add(struct flow *f, const struct flow_object *o)
{
    f->object = budget_grow(f->budget, f->object, f->objects, &f->objects_cap, sizeof *f->object);
    f->object[f->objects++] = *o;
    *index_of(f, o) = f->objects;
}

static void object_put(struct flow *f, struct flow_key key, const struct walk *r,
                       const struct event *ev)
{
    const struct flow_object o = {
        .key = key, .from = reading_line(r, ev), .thread = ev->tid, .actor = r->actor};

    if (!object_find(f, key))
        object_add(f, &o);
}

static void object_drop(struct flow *f, struct flow_key k)
{
    const uint64_t key[3] = {k.space, k.addr, k.round}, digest = digest_bytes(key, sizeof key);
    const uint64_t *at = map_find(&f->index, digest);

    if (!at)
        return;
    f->object[*at - 1].key.space = FLOW_GONE;
    map_remove(&f->index, digest);
}

static bool lies_in(const struct flow_object *o, sim_addr addr, uint64_t bytes)
{
    return o->key.space < FLOW_BIRTH && o->key.addr - addr < bytes;
}

/* Most clears and copies are of memory where no object lies that matters. */
static bool some_lie_in(const struct flow *f, sim_addr addr, uint64_t bytes)
{
    const uint64_t first = addr >> FLOW_PAGE_BITS, last = (addr + (bytes - 1)) >> FLOW_PAGE_BITS;

    if (last - first >= f->objects)
        return f->objects > 0;
    for (uint64_t page = first; page <= last; page++)
        if (map_find(&f->pages, page))
            return true;
    return false;
}

/* Builds the table of objects anew from those that were in it, without those that lie at the
 * destination. */
static void put_again(struct flow *f, struct flow_object *was, size_t n, sim_addr addr,
                      uint64_t bytes)
{
    f->object = NULL;
    f->objects = f->objects_cap = 0;
    map_free(&f->index);
    map_free(&f->pages);
    for (size_t i = 0; i < n; i++)
        if (was[i].key.space != FLOW_GONE && !lies_in(&was[i], addr, bytes))
            object_add(f, &was[i]);
}

/* As memmove does it: what lay at the source, then the destination emptied, then put there. */
static void follow_memory(struct flow *f, const struct event *ev)
{
    struct flow_object *was = f->object;
    const size_t n = f->objects;

    if (!some_lie_in(f, ev->addr, ev->aux) &&
        !(ev->kind == EV_COPY && some_lie_in(f, ev[1].addr, ev->aux)))
        return;
    budget_give(f->budget, f->objects_cap * sizeof *f->object);
    put_again(f, was, n, ev->addr, ev->aux);
    for (size_t i = 0; ev->kind == EV_COPY && i < n; i++)
        if (lies_in(&was[i], ev[1].addr, ev->aux)) {
            struct flow_object moved = was[i];
            moved.key.addr += ev->addr - ev[1].addr;
            object_add(f, &moved);
        }
    free(was);
}

/* ---- through which objects an event's edges go ---------------------------------------------- */

enum { NO_SPACE = -1 };
static int space_of(const struct event *ev)
{
    static const int space[] = {[OBJECT_NONE] = NO_SPACE,          [OBJECT_LOCK] = FLOW_LOCK,
                                [OBJECT_VOLATILE] = FLOW_VOLATILE, [OBJECT_BARRIER] = FLOW_BARRIER,
                                [OBJECT_CLASS] = FLOW_CLASS,       [OBJECT_ATOMIC] = FLOW_ATOMIC,
                                [OBJECT_CHILD] = NO_SPACE,         [OBJECT_SELF] = NO_SPACE,
                                [OBJECT_COMMIT] = NO_SPACE};

    return ev->kind == EV_RELEASE_SHARED ? FLOW_LOCK_SHARED : space[ev_info[ev->kind].object];
}

static struct flow_key key_of(const struct event *ev, int space)
{
    return (struct flow_key){(enum flow_space)space, ev->addr, space == FLOW_BARRIER ? ev->aux : 0};
}

static bool from_object(const struct flow *f, struct flow_key key, struct lardsim_why_edge *edge)
{
    const struct flow_object *o = object_find(f, key);

    if (!o)
        return false;
    edge->from = o->from;
    edge->from_thread = o->thread;
    edge->from_actor = o->actor;
    return true;
}

/* The variables of a transaction: the first edge from one of them is found, or, if edge is NULL,
 * all of them are given the clock. */
static bool each_variable(struct flow *f, const struct walk *r, const struct event *ev,
                          struct lardsim_why_edge *edge)
{
    const uint64_t step = r->granule ? r->granule : 1;

    for (size_t i = 0; i < r->effects; i++) {
        const struct bytes_at in = region_of(&r->effect[i], r->granule);
        for (sim_addr a = in.first; a <= in.last; a += step) {
            const struct flow_key key = {FLOW_COMMIT, a, 0};
            if (!edge)
                object_put(f, key, r, ev);
            else if (from_object(f, key, edge))
                return true;
            if (in.last - a < step)
                break;
        }
    }
    return false;
}

/* ---- release sequences ---------------------------------------------------------------------- */

/* An atomic location of C11 has an object more for each actor that knows and heads a sequence there
 * (base/sequences.h): it is what a store of that actor leaves. */
static struct flow_key head_key(sim_addr addr, uint32_t actor)
{
    return (struct flow_key){FLOW_ATOMIC, addr, actor + UINT64_C(1)};
}

/* A store of C11 that the view heeds. */
static void end_sequences(struct flow *f, const struct walk *r, const struct event *ev)
{
    const struct flow_key location = {FLOW_ATOMIC, ev->addr, 0};

    if (!object_find(f, location))
        return;
    for (uint32_t a = 0; a < f->actors; a++)
        if (a != r->actor)
            object_drop(f, head_key(ev->addr, a));
    object_drop(f, location);
    const struct flow_object *own = object_find(f, head_key(ev->addr, r->actor));
    if (own) {
        struct flow_object left = *own;
        left.key = location;
        object_add(f, &left);
    }
}

static void sequences_step(struct flow *f, const struct walk *r, const struct event *ev)
{
    const bool heeded = !(ev->flags & EVF_SYSTEM) || checker_view(r->hb) & VIEW_ALL_SYNC;

    if (!heeded || ev->flags & EVF_IN_TXN || !(ev->flags & EVF_C11))
        return;
    if (event_ends_sequences(ev))
        end_sequences(f, r, ev);
    if (r->gave && flow_knows(f, r->actor))
        object_put(f, head_key(ev->addr, r->actor), r, ev);
}

/* ---- taking --------------------------------------------------------------------------------- */

static bool from_child(const struct flow *f, const struct walk *r, const struct event *ev,
                       struct lardsim_why_edge *edge)
{
    if (from_object(f, (struct flow_key){FLOW_FINAL, ev->aux, 0}, edge))
        return true;
    if (r->other_gave && flow_knows(f, r->other)) {
        edge->from = f->actor[r->other].last;
        edge->from_thread = (sim_tid)ev->aux;
        edge->from_actor = r->other;
        return true;
    }
    return from_object(f, (struct flow_key){FLOW_BIRTH, ev->aux, 0}, edge);
}

/* Finds the edge by which the thread has got to know with this event. */
static bool find_edge(struct flow *f, const struct walk *r, const struct event *ev,
                      struct lardsim_why_edge *edge)
{
    const int space = space_of(ev);

    if (r->first && from_object(f, (struct flow_key){FLOW_BIRTH, ev->tid, 0}, edge))
        return true;
    if (ev->kind == EV_JOIN)
        return from_child(f, r, ev, edge);
    if (ev->kind == EV_TXN_COMMIT)
        return each_variable(f, r, ev, edge);
    if (ev->kind == EV_WRITEVC) { /* the trace says what happened before, and not how */
        edge->from = f->access;
        edge->from_thread = f->access.ev.thread;
        edge->from_actor = f->origin;
        return true;
    }
    if (space == NO_SPACE)
        return false;
    if (from_object(f, key_of(ev, space), edge))
        return true;
    /* An exclusive acquire takes from shared releases, too. */
    return space == FLOW_LOCK && ev->kind != EV_ACQUIRE_SHARED &&
           from_object(f, key_of(ev, FLOW_LOCK_SHARED), edge);
}

static void reached(struct flow *f, const struct walk *r, const struct event *ev)
{
    struct lardsim_why_edge edge = {.to = reading_line(r, ev), .to_thread = ev->tid};

    edge.unknown = !find_edge(f, r, ev, &edge);
    reach_new(f, r->actor, ev->tid)->edge = edge;
}

/* ---- giving --------------------------------------------------------------------------------- */

static void gives(struct flow *f, uint32_t actor, const struct walk *r, const struct event *ev)
{
    struct lardsim_why_reach *reach = &f->reach[f->actor[actor].reach];

    reach->out = reading_line(r, ev);
    reach->outs++;
}

static void give(struct flow *f, const struct walk *r, const struct event *ev)
{
    const int space = space_of(ev);

    gives(f, r->actor, r, ev);
    if (ev->kind == EV_FORK)
        object_put(f, (struct flow_key){FLOW_BIRTH, ev->aux, 0}, r, ev);
    else if (ev->kind == EV_THREAD_END)
        object_put(f, (struct flow_key){FLOW_FINAL, ev->tid, 0}, r, ev);
    else if (ev->kind == EV_TXN_COMMIT)
        each_variable(f, r, ev, NULL);
    else if (space != NO_SPACE)
        object_put(f, key_of(ev, space), r, ev);
}

/* ---- the whole ------------------------------------------------------------------------------ */

void flow_begin(struct flow *f, const struct walk *r, const struct event *ev, struct budget *budget)
{
    *f = (struct flow){.budget = budget, .origin = r->actor, .needed = r->before};
    f->access = reading_line(r, ev);
    map_init(&f->index, budget);
    map_init(&f->pages, budget);
    reach_new(f, r->actor, ev->tid);
}

/* The clock of a thread that has ended is gone: what it was born with, it had. */
static bool learns(const struct flow *f, const struct walk *r, const struct event *ev)
{
    return checker_knows(r->hb, ev->tid, f->origin) >= f->needed ||
           (ev->kind == EV_THREAD_END && r->first && r->gave &&
            object_find(f, (struct flow_key){FLOW_BIRTH, ev->tid, 0}));
}

void flow_step(struct flow *f, const struct walk *r, const struct event *ev)
{
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        follow_memory(f, ev);
    if (!flow_knows(f, r->actor) && learns(f, r, ev))
        reached(f, r, ev);
    if (event_is_access(ev))
        sequences_step(f, r, ev);
    if (r->gave && flow_knows(f, r->actor))
        give(f, r, ev);
    if (r->other_gave && flow_knows(f, r->other))
        gives(f, r->other, r, ev);
    if (flow_knows(f, r->actor))
        actor_at(f, r->actor)->last = reading_line(r, ev);
}

void flow_free(struct flow *f)
{
    free(f->actor);
    free(f->object);
    map_free(&f->index);
    map_free(&f->pages);
    free(f->reach);
    *f = (struct flow){0};
}
