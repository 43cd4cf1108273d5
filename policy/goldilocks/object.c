/* object.c - synchronisation objects by address, as hb/object.c has them for clocks: which elements
 * of locksets they are, who holds them, and how they follow their memory. A copy of an object is a
 * new element, and is in every lockset that the source is in: a cell of the list says so. */
#include "policy/goldilocks/goldilocks.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECT_GRANULE = 8 };

void gold_objects_init(struct goldilocks *g)
{
    g->objects = shadow_new(OBJECT_GRANULE, sizeof(struct gold_object *), g->env->budget);
    map_init(&g->live, g->env->budget);
    g->next = GOLD_OBJECTS;
}

/* ---- elements ------------------------------------------------------------------------------- */

static gold_element element_new(struct goldilocks *g)
{
    if (UNLIKELY(g->next == UINT32_MAX)) {
        err_set(g->env->err, LARD_LIMIT,
                "event %llu: policy goldilocks: more than 4 billion lives of synchronisation "
                "objects; the results up to here hold; cut the trace",
                (unsigned long long)*g->env->number);
        return g->next;
    }
    *map_put(&g->live, g->next) = false;
    return g->next++;
}

static void element_drop(struct goldilocks *g, gold_element e)
{
    if (!e || !map_remove(&g->live, e))
        return;
    g->deaths++;
    if (!g->cost->on) /* else cells may still ask for it */
        gold_reach_drop(g, e);
}

bool gold_spoilt(const struct goldilocks *g, gold_element lock)
{
    const uint64_t *spoilt = map_find(&g->live, lock);

    return !spoilt || *spoilt;
}

static void spoil(struct goldilocks *g, gold_element lock)
{
    uint64_t *spoilt = map_find(&g->live, lock);

    if (spoilt)
        *spoilt = true;
}

/* ---- what a thread holds -------------------------------------------------------------------- */

static void held_push(struct goldilocks *g, sim_tid tid, gold_element lock)
{
    struct gold_thread *t = gold_thread_at(g, tid);

    t->held = budget_grow(g->env->budget, t->held, t->holds, &t->cap, sizeof *t->held);
    t->held[t->holds++] = lock;
}

static void held_remove(struct goldilocks *g, sim_tid tid, gold_element lock)
{
    struct gold_thread *t = gold_thread_at(g, tid);
    size_t kept = 0;

    for (size_t i = 0; i < t->holds; i++)
        if (t->held[i] != lock)
            t->held[kept++] = t->held[i];
    t->holds = kept;
}

static bool remembers(const struct gold_hold *h)
{
    return !h->shared && !h->waiting;
}

/* A thread comes to hold the lock. Whoever held it before has released it, so that holding it
 * proves an order. But in a view that leaves out events somebody else may hold it too: then the
 * lock is spoilt, and proves nothing. */
static void now_holds(struct goldilocks *g, const struct gold_object *o, const struct gold_hold *h)
{
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->hold[i].tid != h->tid && !o->hold[i].waiting && (!o->hold[i].shared || !h->shared))
            spoil(g, o->element);
    if (remembers(h))
        held_push(g, h->tid, o->element);
}

static struct gold_hold *hold_of(const struct gold_object *o, sim_tid tid, bool shared)
{
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->hold[i].tid == tid && o->hold[i].shared == shared)
            return &o->hold[i];
    return NULL;
}

static NO_INLINE void holds_grow(struct goldilocks *g, struct gold_object *o)
{
    size_t cap = o->hold_cap;

    o->hold = xgrow(o->hold, o->holds, &cap, sizeof *o->hold);
    budget_take(g->env->budget, (cap - o->hold_cap) * sizeof *o->hold);
    o->hold_cap = (uint32_t)cap;
}

uint32_t gold_nest(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool shared)
{
    struct gold_hold *h = hold_of(o, tid, shared);

    if (h)
        return ++h->depth;
    if (UNLIKELY(o->holds == o->hold_cap))
        holds_grow(g, o);
    h = &o->hold[o->holds++];
    *h = (struct gold_hold){.tid = tid, .shared = shared, .depth = 1};
    now_holds(g, o, h);
    return 1;
}

uint32_t gold_unnest(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool shared)
{
    struct gold_hold *h = hold_of(o, tid, shared);

    if (!h)
        return 0; /* it was acquired where this view does not look */
    if (--h->depth)
        return h->depth;
    if (!h->shared)
        held_remove(g, tid, o->element);
    *h = o->hold[--o->holds];
    return 0;
}

void gold_wait(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool waits)
{
    struct gold_hold *h = hold_of(o, tid, false);

    if (!h || h->waiting == waits)
        return;
    h->waiting = waits;
    if (waits)
        held_remove(g, tid, o->element);
    else
        now_holds(g, o, h);
}

/* ---- objects -------------------------------------------------------------------------------- */

static bool is(const struct gold_object *o, unsigned kind, sim_addr addr, uint64_t round)
{
    return o->addr == addr && o->kind == kind && o->round == round;
}

static NO_INLINE struct gold_object *object_new(struct goldilocks *g, unsigned kind, sim_addr addr,
                                                uint64_t round)
{
    struct gold_object **chain = shadow_get(g->objects, addr), *o = xcalloc(1, sizeof *o);

    budget_take(g->env->budget, sizeof *o);
    o->kind = (uint8_t)kind;
    o->addr = addr;
    o->round = round;
    o->element = element_new(g);
    o->readers = kind == OBJECT_LOCK ? element_new(g) : 0;
    o->next = *chain;
    return *chain = o;
}

struct gold_object *gold_object_get(struct goldilocks *g, unsigned kind, sim_addr addr,
                                    uint64_t round)
{
    struct gold_object *const *chain = shadow_peek(g->objects, addr);

    for (struct gold_object *o = chain ? *chain : NULL; o; o = o->next)
        if (LIKELY(is(o, kind, addr, round)))
            return o;
    return object_new(g, kind, addr, round);
}

static uint64_t heads_bytes(uint32_t heads) /* there is room for a power of 2 */
{
    return heads ? (UINT64_C(2) << (31 - __builtin_clz(heads))) * sizeof(struct gold_head) : 0;
}

/* Keeps the element of one of them, if it has that. */
static void heads_drop(struct goldilocks *g, struct gold_object *o, gold_element keep)
{
    for (uint32_t i = 0; i < o->heads; i++)
        if (o->head[i].element != keep)
            element_drop(g, o->head[i].element);
    budget_give(g->env->budget, heads_bytes(o->heads));
    free(o->head);
    o->head = NULL;
    o->heads = 0;
}

static void object_free(struct goldilocks *g, struct gold_object *o)
{
    for (uint32_t i = 0; i < o->holds; i++)
        held_remove(g, o->hold[i].tid, o->element);
    element_drop(g, o->element);
    element_drop(g, o->readers);
    if (o->kind == OBJECT_ATOMIC)
        heads_drop(g, o, 0);
    budget_give(g->env->budget, sizeof *o + o->hold_cap * sizeof *o->hold);
    free(o->hold);
    free(o);
}

struct gold_region { /* which objects to drop: those in the region that match */
    struct goldilocks *g;
    sim_addr first, last;
    const struct gold_object *only; /* NULL: all; else the one like it */
};

static bool drop_from_chain(void *arg, sim_addr addr, void *cell)
{
    const struct gold_region *r = arg;
    struct gold_object **link = cell;

    (void)addr;
    while (*link) {
        struct gold_object *o = *link;
        const bool in = o->addr >= r->first && o->addr <= r->last;
        if (in && (!r->only || is(o, r->only->kind, r->only->addr, r->only->round))) {
            *link = o->next;
            object_free(r->g, o);
        } else {
            link = &o->next;
        }
    }
    return *(struct gold_object **)cell == NULL;
}

void gold_object_drop(struct goldilocks *g, unsigned kind, sim_addr addr, uint64_t round)
{
    const struct gold_object like = {.kind = (uint8_t)kind, .addr = addr, .round = round};
    struct gold_region r = {.g = g, .first = addr, .last = addr, .only = &like};

    shadow_each(g->objects, addr, 1, drop_from_chain, &r);
}

void gold_objects_clear(struct goldilocks *g, sim_addr addr, uint64_t bytes)
{
    struct gold_region r = {.g = g, .first = addr, .last = addr + (bytes - 1)};

    shadow_each(g->objects, addr, bytes, drop_from_chain, &r);
}

void gold_objects_free(struct goldilocks *g)
{
    struct gold_region all = {.g = g, .first = 0, .last = UINT64_MAX};

    shadow_all(g->objects, drop_from_chain, &all);
    shadow_free(g->objects);
    map_free(&g->live);
}

/* ---- release sequences ---------------------------------------------------------------------- */

/* Puts `to` into each lockset that `from` is in now, from here on. */
static void same_element(struct goldilocks *g, gold_element to, gold_element from)
{
    const struct gold_cell cell = {
        .rule = GOLD_EDGE, .actor = GOLD_NOBODY, .from = {from, 0}, .to = to};

    gold_append(g, &cell);
}

static gold_element head_add(struct goldilocks *g, struct gold_object *o, const struct gold_head *h)
{
    const uint64_t was = heads_bytes(o->heads), now = heads_bytes(o->heads + 1);

    if (was != now) {
        o->head = xrealloc(o->head, now / sizeof *h, sizeof *h);
        budget_take(g->env->budget, now - was);
    }
    o->head[o->heads++] = *h;
    return h->element;
}

static const struct gold_head *head_of(const struct gold_object *o, uint32_t actor)
{
    for (uint32_t i = 0; i < o->heads; i++)
        if (o->head[i].actor == actor)
            return &o->head[i];
    return NULL;
}

/* Somebody else gives, too: what the sole actor gave stays apart. */
static void sole_no_more(struct goldilocks *g, struct gold_object *o)
{
    if (!o->sole)
        return;
    head_add(g, o, &(struct gold_head){o->sole - 1, o->element});
    o->element = element_new(g);
    same_element(g, o->element, o->head[o->heads - 1].element);
    o->sole = 0;
}

/* A store: what others have given is an element no more. */
static void end_sequences(struct goldilocks *g, struct gold_object *o, uint32_t actor)
{
    if (!o->given || o->sole == actor + 1)
        return;
    const struct gold_head *own = head_of(o, actor);
    const gold_element keep = own ? own->element : 0;
    element_drop(g, o->element);
    heads_drop(g, o, keep);
    o->element = keep ? keep : element_new(g);
    o->given = keep;
    o->sole = keep ? actor + 1 : 0;
}

gold_element gold_sequences(struct goldilocks *g, struct gold_object *o, const struct event *ev,
                            bool gives)
{
    const uint32_t actor = hb_actor(g->env->hb, ev->tid);

    if (event_ends_sequences(ev))
        end_sequences(g, o, actor);
    if (!gives)
        return 0;
    if (ev->flags & EVF_C11 && !o->given)
        o->sole = actor + 1;
    o->given = true;
    if (!(ev->flags & EVF_C11))
        sole_no_more(g, o);
    if (!(ev->flags & EVF_C11) || o->sole == actor + 1)
        return o->element;
    sole_no_more(g, o);
    const struct gold_head *own = head_of(o, actor);
    return own ? own->element : head_add(g, o, &(struct gold_head){actor, element_new(g)});
}

/* ---- copies --------------------------------------------------------------------------------- */

struct copies { /* of the objects of a region */
    struct goldilocks *g;
    sim_addr first, last;
    struct gold_object *made; /* chained; owns */
};

static void same_holds(struct goldilocks *g, struct gold_object *o, const struct gold_object *of)
{
    if (!of->holds)
        return;
    o->hold = xmalloc(of->holds * sizeof *of->hold);
    memcpy(o->hold, of->hold, of->holds * sizeof *of->hold);
    o->holds = o->hold_cap = of->holds;
    budget_take(g->env->budget, o->hold_cap * sizeof *o->hold);
    for (uint32_t i = 0; i < o->holds; i++)
        if (remembers(&o->hold[i]))
            held_push(g, o->hold[i].tid, o->element);
}

static void knows_as_much(struct copies *t, gold_element to, gold_element from)
{
    if (from)
        same_element(t->g, to, from);
}

static void same_heads(struct copies *t, struct gold_object *o, const struct gold_object *of)
{
    o->sole = of->sole;
    for (uint32_t i = 0; i < of->heads; i++) {
        const gold_element element = element_new(t->g);
        head_add(t->g, o, &(struct gold_head){of->head[i].actor, element});
        same_element(t->g, element, of->head[i].element);
    }
}

static bool copy_chain(void *arg, sim_addr addr, void *cell)
{
    struct copies *t = arg;

    (void)addr;
    for (const struct gold_object *o = *(struct gold_object **)cell; o; o = o->next) {
        if (o->addr < t->first || o->addr > t->last || budget_ends(t->g->env->budget))
            continue;
        struct gold_object *copy = xcalloc(1, sizeof *copy);
        budget_take(t->g->env->budget, sizeof *copy);
        *copy = (struct gold_object){.next = t->made,
                                     .addr = o->addr,
                                     .round = o->round,
                                     .element = element_new(t->g),
                                     .readers = o->readers ? element_new(t->g) : 0,
                                     .given = o->given,
                                     .kind = o->kind};
        if (o->kind == OBJECT_BARRIER)
            copy->inside = o->inside;
        if (gold_spoilt(t->g, o->element))
            spoil(t->g, copy->element);
        same_holds(t->g, copy, o);
        knows_as_much(t, copy->element, o->element);
        knows_as_much(t, copy->readers, o->readers);
        if (o->kind == OBJECT_ATOMIC)
            same_heads(t, copy, o);
        t->made = copy;
    }
    return false;
}

void gold_objects_copy(struct goldilocks *g, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct copies t = {.g = g, .first = from, .last = from + (bytes - 1)};

    shadow_each(g->objects, from, bytes, copy_chain, &t);
    gold_objects_clear(g, to, bytes);
    while (t.made) {
        struct gold_object *o = t.made;
        t.made = o->next;
        o->addr += to - from;
        struct gold_object **chain = shadow_get(g->objects, o->addr);
        o->next = *chain;
        *chain = o;
    }
}
