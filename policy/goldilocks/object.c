/* object.c - synchronisation objects (base/sync_object.h): which elements of locksets they are, who
 * holds them, and how they follow their memory. A copy of an object is a
 * new element, and is in every lockset that the source is in: a cell of the list says so. */
#include "policy/goldilocks/goldilocks.h"

#include <stdlib.h>

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

static bool remembers(const struct sync_hold *h)
{
    return !h->shared && !h->waiting;
}

/* A thread comes to hold the lock. Whoever held it before has released it, so that holding it
 * proves an order. But in a view that leaves out events somebody else may hold it too: then the
 * lock is spoilt, and proves nothing. */
static void now_holds(struct goldilocks *g, const struct gold_object *o, const struct sync_hold *h)
{
    for (const struct sync_hold *by = o->sync.hold; by < o->sync.hold + o->sync.holds; by++)
        if (by->tid != h->tid && !by->waiting && (!by->shared || !h->shared))
            spoil(g, o->element);
    if (remembers(h))
        held_push(g, h->tid, o->element);
}

uint32_t gold_nest(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool shared)
{
    const uint32_t depth = sync_nest(&g->objects, &o->sync, tid, shared);

    if (depth == 1)
        now_holds(g, o, &o->sync.hold[o->sync.holds - 1]); /* the one that came */
    return depth;
}

uint32_t gold_unnest(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool shared)
{
    const uint32_t depth = sync_unnest(&o->sync, tid, shared);

    if (!depth && !shared)
        held_remove(g, tid, o->element);
    return depth;
}

void gold_wait(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool waits)
{
    struct sync_hold *h = sync_hold_of(&o->sync, tid, false);

    if (!h || h->waiting == waits)
        return;
    h->waiting = waits;
    if (waits)
        held_remove(g, tid, o->element);
    else
        now_holds(g, o, h);
}

/* ---- objects -------------------------------------------------------------------------------- */

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

static void object_begin(void *arg, void *object)
{
    struct goldilocks *g = arg;
    struct gold_object *o = object;

    o->element = element_new(g);
    o->readers = o->sync.kind == OBJECT_LOCK ? element_new(g) : 0;
}

static void object_end(void *arg, void *object)
{
    struct goldilocks *g = arg;
    struct gold_object *o = object;

    for (uint32_t i = 0; i < o->sync.holds; i++)
        held_remove(g, o->sync.hold[i].tid, o->element);
    element_drop(g, o->element);
    element_drop(g, o->readers);
    if (o->sync.kind == OBJECT_ATOMIC)
        heads_drop(g, o, 0);
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

static void object_copy(void *arg, void *to, const void *from)
{
    struct goldilocks *g = arg;
    const struct gold_object *o = from;
    struct gold_object *copy = to;

    copy->element = element_new(g);
    copy->readers = o->readers ? element_new(g) : 0;
    copy->given = o->given;
    if (o->sync.kind == OBJECT_BARRIER)
        copy->inside = o->inside;
    if (gold_spoilt(g, o->element))
        spoil(g, copy->element);
    for (uint32_t i = 0; i < copy->sync.holds; i++)
        if (remembers(&copy->sync.hold[i]))
            held_push(g, copy->sync.hold[i].tid, copy->element);
    same_element(g, copy->element, o->element);
    if (o->readers)
        same_element(g, copy->readers, o->readers);
    if (o->sync.kind != OBJECT_ATOMIC)
        return;
    copy->sole = o->sole;
    for (uint32_t i = 0; i < o->heads; i++) {
        const gold_element element = element_new(g);
        head_add(g, copy, &(struct gold_head){o->head[i].actor, element});
        same_element(g, element, o->head[i].element);
    }
}

static const struct sync_ways ways = {sizeof(struct gold_object), object_begin, object_end,
                                      object_copy};

void gold_objects_init(struct goldilocks *g)
{
    sync_objects_init(&g->objects, &ways, g->env->budget);
    map_init(&g->live, g->env->budget);
    g->next = GOLD_OBJECTS;
}

void gold_objects_free(struct goldilocks *g)
{
    sync_objects_free(&g->objects, g);
    map_free(&g->live);
}
