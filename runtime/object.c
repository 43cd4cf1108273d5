/* object.c - the synchronisation objects that have a clock, by address. They follow the memory that
 * they live in: a copy takes them along, a clear ends them (LARD 4.3.2, 4.3.3). This table is the
 * host's and costs nothing: in the modelled memory a word of the object points to its clock. */
#include "runtime/runtime_int.h"

#include <stdlib.h>

static bool is(const struct rt_object *o, unsigned kind, sim_addr addr, uint64_t round)
{
    return o->addr == addr && o->kind == kind && o->round == round;
}

static struct rt_object **chain_at(const struct runtime *r, sim_addr addr) /* NULL: none */
{
    return shadow_peek(r->objects, addr);
}

struct rt_object *rt_object_find(const struct runtime *r, unsigned kind, sim_addr addr,
                                 uint64_t round)
{
    struct rt_object *const *chain = chain_at(r, addr);

    for (struct rt_object *o = chain ? *chain : NULL; o; o = o->next)
        if (is(o, kind, addr, round))
            return o;
    return NULL;
}

static void object_put(struct runtime *r, struct rt_object *o)
{
    struct rt_object **chain = shadow_get(r->objects, o->addr);

    o->next = *chain;
    *chain = o;
}

struct rt_object *rt_object_get(struct runtime *r, unsigned kind, sim_addr addr, uint64_t round)
{
    struct rt_object *o = rt_object_find(r, kind, addr, round);

    if (o)
        return o;
    o = xcalloc(1, sizeof *o);
    budget_take(r->env.budget, sizeof *o);
    o->kind = (uint8_t)kind;
    o->addr = addr;
    o->round = round;
    r->st.objects++;
    object_put(r, o);
    return o;
}

static void object_free(struct runtime *r, unsigned core, struct rt_object *o)
{
    rt_clock_free(r, core, &o->write);
    rt_clock_free(r, core, &o->read);
    if (o->kind == OBJECT_ATOMIC)
        sequences_free(o->sequences, r->env.budget);
    budget_give(r->env.budget, sizeof *o + o->hold_cap * sizeof *o->hold);
    r->st.objects--;
    free(o->hold);
    free(o);
}

/* ---- regions -------------------------------------------------------------------------------- */

struct pick { /* takes the objects of a region out of the table */
    sim_addr first, last;
    const struct rt_object *only; /* NULL: all; else this one */
    struct rt_object *found;      /* the objects taken out, chained */
};

/* Takes the region's objects out of one chain; returns whether it is empty now. */
static bool pick_chain(void *arg, sim_addr addr, void *cell)
{
    struct pick *p = arg;
    struct rt_object **link = cell;

    (void)addr;
    while (*link) {
        struct rt_object *o = *link;
        if (o->addr >= p->first && o->addr <= p->last && (!p->only || p->only == o)) {
            *link = o->next;
            o->next = p->found;
            p->found = o;
        } else {
            link = &o->next;
        }
    }
    return *(struct rt_object **)cell == NULL;
}

static struct rt_object *pick_region(struct runtime *r, sim_addr addr, uint64_t bytes)
{
    struct pick p = {.first = addr, .last = addr + (bytes - 1)};

    if (bytes)
        shadow_each(r->objects, addr, bytes, pick_chain, &p);
    return p.found;
}

static void free_all(struct runtime *r, unsigned core, struct rt_object *o)
{
    while (o) {
        struct rt_object *next = o->next;
        object_free(r, core, o);
        o = next;
    }
}

void rt_object_drop(struct runtime *r, unsigned core, const struct rt_object *o)
{
    struct pick p = {.first = o->addr, .last = o->addr, .only = o};

    shadow_each(r->objects, o->addr, 1, pick_chain, &p);
    free_all(r, core, p.found);
}

void rt_objects_clear(struct runtime *r, unsigned core, sim_addr addr, uint64_t bytes)
{
    free_all(r, core, pick_region(r, addr, bytes));
}

void rt_objects_move(struct runtime *r, unsigned core, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct rt_object *moved = pick_region(r, from, bytes);

    free_all(r, core, pick_region(r, to, bytes));
    while (moved) {
        struct rt_object *o = moved;
        moved = o->next;
        o->addr += to - from;
        object_put(r, o);
    }
}

void rt_objects_free(struct runtime *r)
{
    struct pick all = {.first = 0, .last = UINT64_MAX};

    shadow_all(r->objects, pick_chain, &all);
    free_all(r, 0, all.found);
    shadow_free(r->objects);
}

/* ---- nesting of locks ----------------------------------------------------------------------- */

static struct rt_hold *hold_of(const struct rt_object *o, sim_tid tid, bool shared)
{
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->hold[i].tid == tid && o->hold[i].shared == shared)
            return &o->hold[i];
    return NULL;
}

uint32_t rt_nest(struct runtime *r, struct rt_object *o, sim_tid tid, bool shared)
{
    struct rt_hold *h = hold_of(o, tid, shared);
    size_t cap = o->hold_cap;

    if (h)
        return ++h->depth;
    o->hold = xgrow(o->hold, o->holds, &cap, sizeof *o->hold);
    budget_take(r->env.budget, (cap - o->hold_cap) * sizeof *o->hold);
    o->hold_cap = (uint32_t)cap;
    o->hold[o->holds++] = (struct rt_hold){.tid = tid, .shared = shared, .depth = 1};
    return 1;
}

uint32_t rt_unnest(struct rt_object *o, sim_tid tid, bool shared)
{
    struct rt_hold *h = hold_of(o, tid, shared);

    if (!h)
        return 0; /* it was acquired where this view does not look */
    if (--h->depth)
        return h->depth;
    *h = o->hold[--o->holds];
    return 0;
}
