/* sync_object.c - chains of synchronisation objects in a shadow, and who holds a lock. */
#include "base/sync_object.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"

enum { OBJECT_GRANULE = 8 };

void sync_objects_init(struct sync_objects *t, const struct sync_ways *ways, struct budget *budget)
{
    t->cells = shadow_new(OBJECT_GRANULE, sizeof(struct sync_object *), budget);
    t->ways = ways;
    t->budget = budget;
}

static void object_put(struct sync_objects *t, struct sync_object *o)
{
    struct sync_object **chain = shadow_get(t->cells, o->addr);

    o->next = *chain;
    *chain = o;
}

static struct sync_object *object_make(struct sync_objects *t, unsigned kind, sim_addr addr,
                                       uint64_t round)
{
    struct sync_object *o = xcalloc(1, t->ways->bytes);

    budget_take(t->budget, t->ways->bytes);
    o->kind = (uint8_t)kind;
    o->addr = addr;
    o->round = round;
    return o;
}

void *sync_object_new(struct sync_objects *t, unsigned kind, sim_addr addr, uint64_t round,
                      void *arg)
{
    struct sync_object *o = object_make(t, kind, addr, round);

    t->ways->begin(arg, o);
    object_put(t, o);
    return o;
}

/* ---- regions -------------------------------------------------------------------------------- */

struct sync_region {
    struct sync_objects *t;
    sim_addr first, last;
    const struct sync_object *only; /* NULL: all in the region; else this one */
    struct sync_object *found;      /* chained; owns */
    void *arg;
};

/* Objects are compared byte by byte: a granule may lie half in the region. */
static bool inside(const struct sync_region *r, const struct sync_object *o)
{
    return o->addr >= r->first && o->addr <= r->last && (!r->only || r->only == o);
}

/* Takes the region's objects out of a chain; returns whether it is empty now. */
static bool pick_chain(void *arg, sim_addr addr, void *cell)
{
    struct sync_region *r = arg;
    struct sync_object **link = cell;

    (void)addr;
    while (*link) {
        struct sync_object *o = *link;
        if (inside(r, o)) {
            *link = o->next;
            o->next = r->found;
            r->found = o;
        } else {
            link = &o->next;
        }
    }
    return *(struct sync_object **)cell == NULL;
}

static bool copy_chain(void *arg, sim_addr addr, void *cell)
{
    struct sync_region *r = arg;

    (void)addr;
    for (const struct sync_object *o = *(struct sync_object **)cell; o; o = o->next) {
        if (!inside(r, o) || budget_ends(r->t->budget))
            continue;
        struct sync_object *copy = object_make(r->t, o->kind, o->addr, o->round);
        if (o->holds) {
            copy->hold = xmalloc(o->holds * sizeof *o->hold);
            memcpy(copy->hold, o->hold, o->holds * sizeof *o->hold);
            copy->holds = copy->hold_cap = o->holds;
            budget_take(r->t->budget, o->holds * sizeof *o->hold);
        }
        r->t->ways->copy(r->arg, copy, o);
        copy->next = r->found;
        r->found = copy;
    }
    return false;
}

static struct sync_object *region_found(struct sync_objects *t, shadow_visit *visit, sim_addr addr,
                                        uint64_t bytes, void *arg)
{
    struct sync_region r = {.t = t, .first = addr, .last = addr + (bytes - 1), .arg = arg};

    if (bytes)
        shadow_each(t->cells, addr, bytes, visit, &r);
    return r.found;
}

static void end_all(struct sync_objects *t, struct sync_object *o, void *arg)
{
    while (o) {
        struct sync_object *next = o->next;
        t->ways->end(arg, o);
        budget_give(t->budget, t->ways->bytes + o->hold_cap * sizeof *o->hold);
        free(o->hold);
        free(o);
        o = next;
    }
}

void sync_object_drop(struct sync_objects *t, const void *object, void *arg)
{
    const struct sync_object *o = object;
    struct sync_region r = {.first = o->addr, .last = o->addr, .only = o};

    shadow_each(t->cells, o->addr, 1, pick_chain, &r);
    end_all(t, r.found, arg);
}

void sync_objects_clear(struct sync_objects *t, sim_addr addr, uint64_t bytes, void *arg)
{
    end_all(t, region_found(t, pick_chain, addr, bytes, arg), arg);
}

void sync_objects_move(struct sync_objects *t, sim_addr to, sim_addr from, uint64_t bytes,
                       void *arg)
{
    struct sync_object *found =
        region_found(t, t->ways->copy ? copy_chain : pick_chain, from, bytes, arg);

    sync_objects_clear(t, to, bytes, arg);
    while (found) {
        struct sync_object *o = found;
        found = o->next;
        o->addr += to - from;
        object_put(t, o);
    }
}

void sync_objects_free(struct sync_objects *t, void *arg)
{
    struct sync_region all = {.last = UINT64_MAX};

    shadow_all(t->cells, pick_chain, &all);
    end_all(t, all.found, arg);
    shadow_free(t->cells);
}

/* ---- who holds a lock ----------------------------------------------------------------------- */

struct sync_hold *sync_hold_of(const struct sync_object *o, sim_tid tid, bool shared)
{
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->hold[i].tid == tid && o->hold[i].shared == shared)
            return &o->hold[i];
    return NULL;
}

uint32_t sync_nest(struct sync_objects *t, struct sync_object *o, sim_tid tid, bool shared)
{
    struct sync_hold *h = sync_hold_of(o, tid, shared);

    if (h)
        return ++h->depth;
    if (UNLIKELY(o->holds == o->hold_cap))
        o->hold = budget_grow32(t->budget, o->hold, o->holds, &o->hold_cap, sizeof *o->hold);
    o->hold[o->holds++] = (struct sync_hold){.tid = tid, .shared = shared, .depth = 1};
    return 1;
}

uint32_t sync_unnest(struct sync_object *o, sim_tid tid, bool shared)
{
    struct sync_hold *h = sync_hold_of(o, tid, shared);

    if (!h)
        return 0; /* it was acquired where this view does not look */
    if (--h->depth)
        return h->depth;
    *h = o->hold[--o->holds];
    return 0;
}
