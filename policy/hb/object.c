/* object.c - synchronisation objects, found by address, and what clears and copies of memory do
 * to them: a lock's clock hangs on its object, moves with it and dies with it (LARD 4.3.2, 4.3.3).
 * One cell of a shadow has a chain: an object may be a lock and a barrier, and a granule may have
 * several objects. */
#include "policy/hb/hb_int.h"

#include <stdlib.h>
#include <string.h>

static bool is(const struct hb_object *o, unsigned kind, sim_addr addr, uint64_t round)
{
    return o->addr == addr && o->kind == kind && o->round == round;
}

static NO_INLINE struct hb_object *object_new(struct hb *hb, unsigned kind, sim_addr addr,
                                              uint64_t round)
{
    struct hb_object **chain = shadow_get(hb->objects, addr), *o = xcalloc(1, sizeof *o);

    budget_take(hb->budget, sizeof *o);
    o->kind = (uint8_t)kind;
    o->addr = addr;
    o->round = round;
    o->id = ++hb->ids;
    o->next = *chain;
    return *chain = o;
}

struct hb_object *object_get(struct hb *hb, unsigned kind, sim_addr addr, uint64_t round)
{
    struct hb_object *const *chain = shadow_prefetched(hb->objects, addr);

    if (UNLIKELY(!chain))
        chain = shadow_peek(hb->objects, addr);
    for (struct hb_object *o = chain ? *chain : NULL; o; o = o->next)
        if (LIKELY(is(o, kind, addr, round)))
            return o;
    return object_new(hb, kind, addr, round);
}

static const struct hb_object *lock_at(const struct hb *hb, sim_addr addr)
{
    struct hb_object *const *chain = shadow_peek(hb->objects, addr);
    const struct hb_object *o = chain ? *chain : NULL;

    while (o && !is(o, OBJECT_LOCK, addr, 0))
        o = o->next;
    return o;
}

uint64_t hb_lock_id(const struct hb *hb, sim_addr addr)
{
    const struct hb_object *o = lock_at(hb, addr);

    return o ? o->id : 0;
}

uint32_t hb_lock_depth(const struct hb *hb, sim_addr addr, sim_tid tid, bool shared)
{
    const struct hb_object *o = lock_at(hb, addr);
    const struct hold *h = o ? object_hold(o, tid, shared) : NULL;

    return h ? h->depth : 0;
}

static void object_free(struct hb *hb, struct hb_object *o)
{
    vclock_free(&o->write, hb->budget);
    vclock_free(&o->read, hb->budget);
    if (o->kind == OBJECT_ATOMIC)
        sequences_free(o->sequences, hb->budget);
    budget_give(hb->budget, sizeof *o + o->hold_cap * sizeof *o->hold);
    free(o->hold);
    free(o);
}

/* ---- regions -------------------------------------------------------------------------------- */

struct region { /* which objects to drop: those in the region that match */
    struct hb *hb;
    sim_addr first, last;
    const struct hb_object *only; /* NULL: all; else the one like it */
};

static bool drop_from_chain(void *arg, sim_addr addr, void *cell)
{
    const struct region *r = arg;
    struct hb_object **link = cell;

    (void)addr;
    while (*link) {
        struct hb_object *o = *link;
        const bool in = o->addr >= r->first && o->addr <= r->last;
        if (in && (!r->only || is(o, r->only->kind, r->only->addr, r->only->round))) {
            *link = o->next;
            object_free(r->hb, o);
        } else {
            link = &o->next;
        }
    }
    return *(struct hb_object **)cell == NULL;
}

void object_drop(struct hb *hb, unsigned kind, sim_addr addr, uint64_t round)
{
    const struct hb_object like = {.kind = (uint8_t)kind, .addr = addr, .round = round};
    struct region r = {.hb = hb, .first = addr, .last = addr, .only = &like};

    shadow_each(hb->objects, addr, 1, drop_from_chain, &r);
}

/* Objects are compared byte by byte: a granule may lie half in the region. */
static void drop_region(struct hb *hb, sim_addr addr, uint64_t bytes)
{
    struct region r = {.hb = hb, .first = addr, .last = addr + (bytes - 1)};

    shadow_each(hb->objects, addr, bytes, drop_from_chain, &r);
}

void objects_free(struct hb *hb)
{
    struct region all = {.hb = hb, .first = 0, .last = UINT64_MAX};

    shadow_all(hb->objects, drop_from_chain, &all);
    shadow_free(hb->objects);
}

void hb_clear(struct hb *hb, sim_addr addr, uint64_t bytes)
{
    drop_region(hb, addr, bytes);
}

struct snapshot { /* the objects of a region, as they are now */
    struct hb *hb;
    sim_addr first, last;
    struct hb_object *found; /* chained; owns */
};

static bool snapshot_chain(void *arg, sim_addr addr, void *cell)
{
    struct snapshot *s = arg;

    (void)addr;
    for (const struct hb_object *o = *(struct hb_object **)cell; o; o = o->next) {
        if (o->addr < s->first || o->addr > s->last || budget_ends(s->hb->budget))
            continue;
        struct hb_object *copy = xcalloc(1, sizeof *copy);
        copy->addr = o->addr;
        copy->round = o->round;
        copy->id = o->id;
        copy->kind = o->kind;
        if (o->kind == OBJECT_ATOMIC)
            copy->sequences = sequences_copy(o->sequences, s->hb->budget);
        else
            copy->inside = o->inside;
        copy->write_of = o->write_of;
        vclock_copy(&copy->write, &o->write, s->hb->budget);
        vclock_copy(&copy->read, &o->read, s->hb->budget);
        if (o->holds) {
            copy->hold = xmalloc(o->holds * sizeof *o->hold);
            memcpy(copy->hold, o->hold, o->holds * sizeof *o->hold);
            copy->holds = copy->hold_cap = o->holds;
        }
        budget_take(s->hb->budget, sizeof *copy + copy->hold_cap * sizeof *copy->hold);
        copy->next = s->found;
        s->found = copy;
    }
    return false;
}

/* A snapshot first, as source and destination may overlap. */
void hb_copy(struct hb *hb, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct snapshot s = {.hb = hb, .first = from, .last = from + (bytes - 1)};

    shadow_each(hb->objects, from, bytes, snapshot_chain, &s);
    drop_region(hb, to, bytes);
    while (s.found) {
        struct hb_object *o = s.found;
        s.found = o->next;
        o->addr += to - from;
        struct hb_object **chain = shadow_get(hb->objects, o->addr);
        o->next = *chain;
        *chain = o;
    }
}

/* ---- holds ---------------------------------------------------------------------------------- */

struct hold *object_hold(const struct hb_object *o, sim_tid tid, bool shared)
{
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->hold[i].tid == tid && o->hold[i].shared == shared)
            return &o->hold[i];
    return NULL;
}

static NO_INLINE void holds_grow(struct hb *hb, struct hb_object *o)
{
    size_t cap = o->hold_cap;

    o->hold = xgrow(o->hold, o->holds, &cap, sizeof *o->hold);
    budget_take(hb->budget, (cap - o->hold_cap) * sizeof *o->hold);
    o->hold_cap = (uint32_t)cap;
}

uint32_t object_nest(struct hb *hb, struct hb_object *o, sim_tid tid, bool shared)
{
    struct hold *h = object_hold(o, tid, shared);

    if (h)
        return ++h->depth;
    if (UNLIKELY(o->holds == o->hold_cap))
        holds_grow(hb, o);
    o->hold[o->holds++] = (struct hold){.tid = tid, .shared = shared, .depth = 1};
    return 1;
}

uint32_t object_unnest(struct hb_object *o, sim_tid tid, bool shared)
{
    struct hold *h = object_hold(o, tid, shared);

    if (!h)
        return 0; /* it was acquired where this view does not look */
    if (--h->depth)
        return h->depth;
    *h = o->hold[--o->holds];
    return 0;
}
