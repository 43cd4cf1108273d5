/* object.c - what has to keep its order object by object: locks, volatiles, classes, atomic
 * locations, barriers, and the variables of transactions.
 *
 * What a clear or copy does to an object needs no care here, except for who holds a lock: whatever
 * touches the object's memory waits for that event, and it for all that touched it before. */
#include "sim/order/order_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_FRONT = OBJECT_COMMIT + 1 }; /* of a barrier, for all rounds */
enum { SWEEP_AT_LEAST = 4096 };

struct lock_hold { /* a thread's hold on a lock */
    sim_tid tid;
    bool shared;
    uint32_t depth; /* > 0 */
};

struct object {
    struct object *next; /* owns; in the same 8 bytes */
    sim_addr addr;
    uint64_t round;    /* barriers; else 0 */
    struct need last;  /* acquisition, write, commit */
    struct need given; /* locks: the last exclusive release */
    struct need_list
        since; /* shared releases, reads: since the last exclusive acquisition, write */
    struct needs *arrivals; /* barriers: of a round; of a front: of the round that began last */
    struct lock_hold *hold; /* owns; locks */
    size_t holds, hold_cap;
    uint8_t kind; /* enum ev_object */
};

static struct object *object_find(const struct order *o, unsigned kind, sim_addr addr,
                                  uint64_t round)
{
    struct object *const *chain = shadow_peek(o->objects, addr);

    for (struct object *b = chain ? *chain : NULL; b; b = b->next)
        if (b->addr == addr && b->kind == kind && b->round == round)
            return b;
    return NULL;
}

static struct object *object_get(struct order *o, unsigned kind, sim_addr addr, uint64_t round)
{
    struct object *b = object_find(o, kind, addr, round);

    if (b)
        return b;
    struct object **chain = shadow_get(o->objects, addr);
    b = xcalloc(1, sizeof *b);
    budget_take(&o->budget, heap_bytes(sizeof *b));
    b->kind = (uint8_t)kind;
    b->addr = addr;
    b->round = round;
    b->next = *chain;
    o->object_count++;
    return *chain = b;
}

static void object_free(struct order *o, struct object *b)
{
    order_list_free(o, &b->since);
    order_leave(o, b->arrivals);
    o->holds -= b->holds;
    order_drop(o, b->hold, b->hold_cap, sizeof *b->hold);
    order_drop(o, b, 1, sizeof *b);
    o->object_count--;
}

/* ---- locks ---------------------------------------------------------------------------------- */

static struct lock_hold *find_hold(const struct object *b, sim_tid tid, bool shared)
{
    for (size_t i = 0; i < b->holds; i++)
        if (b->hold[i].tid == tid && b->hold[i].shared == shared)
            return &b->hold[i];
    return NULL;
}

/* True: the outermost. */
static bool nest(struct order *o, struct object *b, sim_tid tid, bool shared)
{
    struct lock_hold *h = find_hold(b, tid, shared);

    if (h) {
        h->depth++;
        return false;
    }
    b->hold = order_grow(o, b->hold, b->holds, &b->hold_cap, sizeof *b->hold);
    b->hold[b->holds++] = (struct lock_hold){tid, shared, 1};
    o->holds++;
    return true;
}

/* A lock acquired nobody knows where, or by another thread. Nobody does that who obeys the stream
 * rules; then its acquisitions are kept out of the way. */
static void unheld(struct order *o, const struct object *b)
{
    order_need(o, &b->last, WAIT_LOCK);
    order_need(o, &b->given, WAIT_LOCK);
}

/* True: the outermost. */
static bool unnest(struct order *o, struct object *b, sim_tid tid, bool shared)
{
    struct lock_hold *h = find_hold(b, tid, shared);

    if (!h) {
        unheld(o, b);
        return true;
    }
    if (--h->depth)
        return false;
    *h = b->hold[--b->holds];
    o->holds--;
    return true;
}

static void acquire(struct order *o, struct object *b, bool shared)
{
    order_need(o, &b->last, WAIT_LOCK);
    order_need(o, &b->given, WAIT_LOCK);
    if (!shared) {
        order_need_all(o, &b->since, WAIT_LOCK);
        b->since.n = 0;
    }
    b->last = o->me;
}

void order_lock(struct order *o, const struct event *ev)
{
    struct object *b = object_get(o, OBJECT_LOCK, ev->addr, 0);
    const bool shared = ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_RELEASE_SHARED;

    switch (ev->kind) {
    case EV_ACQUIRE:
    case EV_ACQUIRE_SHARED:
        if (nest(o, b, ev->tid, shared))
            acquire(o, b, shared);
        break;
    case EV_WAIT_EXIT:
        acquire(o, b, false);
        break;
    case EV_WAIT_ENTER:
        if (!find_hold(b, ev->tid, false))
            unheld(o, b);
        b->given = o->me;
        break;
    case EV_RELEASE:
        if (unnest(o, b, ev->tid, false))
            b->given = o->me;
        break;
    case EV_RELEASE_SHARED:
        if (unnest(o, b, ev->tid, true))
            order_list_add(o, &b->since, &o->me);
        break;
    }
}

/* ---- volatiles, classes, atomic locations, variables of transactions ------------------------ */

void order_message(struct order *o, enum ev_object kind, sim_addr addr, enum wait_reason why,
                   bool write)
{
    struct object *b = object_get(o, kind, addr, 0);

    order_need(o, &b->last, why);
    if (!write) {
        order_list_add(o, &b->since, &o->me);
        return;
    }
    order_need_all(o, &b->since, why);
    b->since.n = 0;
    b->last = o->me;
}

/* ---- barriers ------------------------------------------------------------------------------- */

/* The thread that arrives first in a round waits for the arrivals of the round that began before,
 * so that a barrier's rounds keep their order even if different threads take part in them. */
static void begin_round(struct order *o, const struct event *ev, struct object *round)
{
    struct object *front = object_get(o, OBJECT_FRONT, ev->addr, 0);
    struct needs *before = front->arrivals;

    order_leave(o, round->arrivals);
    round->arrivals = order_share(o);
    round->arrivals->users++;
    front->arrivals = round->arrivals;
    if (!before)
        return;
    before->sealed = true;
    if (!order_met(o, before))
        o->shared = before;
    else
        order_leave(o, before);
}

void order_arrive(struct order *o, const struct event *ev)
{
    struct object *b = object_get(o, OBJECT_BARRIER, ev->addr, ev->aux);

    if (!b->arrivals || b->arrivals->sealed)
        begin_round(o, ev, b);
    struct need me = o->me;
    me.why = WAIT_BARRIER;
    order_list_add(o, &b->arrivals->list, &me);
}

void order_depart(struct order *o, const struct event *ev)
{
    const struct object *b = object_find(o, OBJECT_BARRIER, ev->addr, ev->aux);

    if (!b || !b->arrivals)
        return;
    b->arrivals->sealed = true;
    if (order_met(o, b->arrivals))
        return;
    b->arrivals->users++;
    o->shared = b->arrivals;
}

/* ---- all of a region, all there are --------------------------------------------------------- */

struct object_walk {
    struct order *o;
    sim_addr lo, last;
    struct moved *moved; /* copy: found so far; owns */
};

struct moved { /* who holds a lock that a copy takes along */
    struct moved *next;
    sim_addr addr;
    struct lock_hold *hold;
    size_t holds;
};

static bool in(const struct object_walk *w, const struct object *b)
{
    return b->kind == OBJECT_LOCK && b->holds && b->addr >= w->lo && b->addr <= w->last;
}

static bool forget_holds(void *arg, sim_addr addr, void *cell)
{
    const struct object_walk *w = arg;

    (void)addr;
    for (struct object *b = *(struct object **)cell; b; b = b->next)
        if (in(w, b)) {
            w->o->holds -= b->holds;
            b->holds = 0;
        }
    return false;
}

void order_objects_clear(struct order *o, sim_addr addr, uint64_t bytes)
{
    struct object_walk w = {.o = o, .lo = addr, .last = addr + (bytes - 1)};

    if (o->holds)
        shadow_each(o->objects, addr, bytes, forget_holds, &w);
}

static bool collect_holds(void *arg, sim_addr addr, void *cell)
{
    struct object_walk *w = arg;

    (void)addr;
    for (const struct object *b = *(struct object **)cell; b; b = b->next) {
        if (!in(w, b))
            continue;
        struct moved *m = xmalloc(sizeof *m);
        *m = (struct moved){w->moved, b->addr, xmalloc(b->holds * sizeof *m->hold), b->holds};
        memcpy(m->hold, b->hold, b->holds * sizeof *m->hold);
        w->moved = m;
    }
    return false;
}

void order_objects_copy(struct order *o, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct object_walk w = {.o = o, .lo = from, .last = from + (bytes - 1)};

    if (!o->holds)
        return;
    shadow_each(o->objects, from, bytes, collect_holds, &w);
    order_objects_clear(o, to, bytes);
    for (struct moved *m = w.moved, *next; m; m = next) {
        struct object *b = object_get(o, OBJECT_LOCK, m->addr + (to - from), 0);
        order_drop(o, b->hold, b->hold_cap, sizeof *b->hold);
        b->hold = m->hold;
        b->holds = b->hold_cap = m->holds;
        budget_take(&o->budget, heap_bytes(b->hold_cap * sizeof *b->hold));
        o->holds += b->holds;
        next = m->next;
        free(m);
    }
}

static bool waited_for(struct order *o, const struct need *n)
{
    return n->known && !has_run(o, n);
}

/* Whether later events may have to wait for it, or it knows who holds the lock. */
static bool matters(struct order *o, struct object *b)
{
    if (b->holds || waited_for(o, &b->last) || waited_for(o, &b->given))
        return true;
    order_tidy(o, &b->since);
    if (b->arrivals && !b->arrivals->sealed)
        order_tidy(o, &b->arrivals->list);
    return b->since.n || (b->arrivals && !order_met(o, b->arrivals));
}

static bool sweep_chain(void *arg, sim_addr addr, void *cell)
{
    const struct object_walk *w = arg;
    struct object **link = cell;

    (void)addr;
    while (*link) {
        struct object *b = *link;
        if (w->o->sweep_at && matters(w->o, b)) {
            link = &b->next;
        } else {
            *link = b->next;
            object_free(w->o, b);
        }
    }
    return !*(struct object **)cell;
}

void order_objects_sweep(struct order *o)
{
    struct object_walk w = {.o = o};

    if (!o->sweep_at)
        o->sweep_at = SWEEP_AT_LEAST;
    if (LIKELY(o->object_count < o->sweep_at))
        return;
    shadow_all(o->objects, sweep_chain, &w);
    o->sweep_at = o->object_count < SWEEP_AT_LEAST / 2 ? SWEEP_AT_LEAST : 2 * o->object_count;
}

void order_objects_free(struct order *o)
{
    struct object_walk w = {.o = o};

    o->sweep_at = 0; /* all */
    shadow_all(o->objects, sweep_chain, &w);
    shadow_free(o->objects);
}
