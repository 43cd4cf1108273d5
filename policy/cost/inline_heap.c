/* inline_heap.c - objects, and where they lie in the inflated heap. */
#include "policy/cost/inline_heap.h"

#include <stdlib.h>

struct inline_heap *inline_heap_new(const struct layout *l, struct pages *pages, unsigned granule,
                                    struct budget *b)
{
    struct inline_heap *h = xcalloc(1, sizeof *h);

    h->layout = l;
    h->pages = pages;
    h->granule = granule;
    h->stride = INLINE_PAIR;
    h->scale = 2; /* for the header's word */
    h->budget = b;
    h->owner = shadow_new(INLINE_PAIR, sizeof(uint32_t), b);
    return h;
}

void inline_heap_free(struct inline_heap *h)
{
    if (!h)
        return;
    shadow_free(h->owner);
    budget_give(h->budget, h->cap * sizeof *h->object);
    free(h->object);
    free(h);
}

bool inline_heap_add(struct inline_heap *h, struct inline_policy *p)
{
    if (h->policies == INLINE_POLICIES)
        return false;
    p->at = h->each;
    h->policy[h->policies++] = *p;
    h->each += p->bytes;
    h->stride = INLINE_PAIR + (uint64_t)INLINE_PAIR / h->granule * h->each;
    h->scale = (h->stride + INLINE_PAIR - 1) / INLINE_PAIR;
    if (h->scale < 2)
        h->scale = 2;
    return true;
}

/* ---- objects -------------------------------------------------------------------------------- */

const struct inline_object *inline_heap_find(const struct inline_heap *h, sim_addr addr)
{
    const uint32_t *owner = shadow_peek(h->owner, addr);

    return owner && *owner ? &h->object[*owner - 1] : NULL;
}

/* Bytes that a policy's metadata add to an object: its word, and what follows a scalar's fields. */
static uint64_t added(const struct inline_heap *h, const struct inline_object *o,
                      const struct inline_policy *p)
{
    const uint64_t fields = o->first / INLINE_PAIR * INLINE_PAIR;

    if (o->elements)
        return h->layout->word;
    return h->layout->word + (o->bytes - fields) / h->granule * p->bytes;
}

static void tell_end(struct inline_heap *h, const struct inline_object *o)
{
    for (const struct inline_policy *p = h->policy; p < h->policy + h->policies; p++) {
        budget_give(p->counted, added(h, o, p));
        p->ended(p->arg, o->base);
    }
}

static uint32_t new_object(struct inline_heap *h) /* its number, plus 1 */
{
    const uint32_t spare = h->spare;

    if (spare) {
        h->spare = (uint32_t)h->object[spare - 1].bytes;
        return spare;
    }
    h->object = budget_grow(h->budget, h->object, h->n, &h->cap, sizeof *h->object);
    return (uint32_t)++h->n;
}

struct ending {
    struct inline_heap *h;
    sim_addr from, last;
};

/* An object that is cleared in part lives on. */
static bool object_forget(void *arg, sim_addr addr, void *cell)
{
    const struct ending *e = arg;
    const uint32_t number = *(uint32_t *)cell;
    struct inline_object *o = &e->h->object[number - 1];

    (void)addr;
    if (o->live) {
        if (o->base < e->from || o->base + (o->bytes - 1) > e->last)
            return false;
        tell_end(e->h, o);
        o->live = false;
        o->bytes = e->h->spare;
        e->h->spare = number;
    }
    return true;
}

static void end_objects(struct inline_heap *h, sim_addr from, uint64_t bytes)
{
    struct ending e = {h, from, from + (bytes - 1)};

    shadow_each(h->owner, from, bytes, object_forget, &e);
}

static void begin_object(struct inline_heap *h, const struct inline_object *is)
{
    if (is->base % INLINE_PAIR || is->bytes % INLINE_PAIR)
        return; /* of no such layout: it stays where it is */
    end_objects(h, is->base, is->bytes);
    const uint32_t number = new_object(h);
    h->object[number - 1] = *is;
    for (const struct inline_policy *p = h->policy; p < h->policy + h->policies; p++)
        budget_take(p->counted, added(h, is, p));
    for (uint64_t i = 0; i < is->bytes; i += INLINE_PAIR)
        *(uint32_t *)shadow_get(h->owner, is->base + i) = number;
}

static void allocate(struct inline_heap *h, const struct event *ev)
{
    const struct layout *l = h->layout;
    struct inline_object o = {.base = ev->addr, .bytes = ev->aux, .first = l->header, .live = true};

    if (event_records(ev) > 1 && ev[1].addr) {
        o.elements = ev[1].addr;
        o.element = ev[1].size;
        o.first = (uint32_t)layout_first(l, ev->aux, o.elements, o.element);
    }
    begin_object(h, &o);
}

void inline_heap_event(struct inline_heap *h, const struct event *ev)
{
    if (ev->kind == EV_ALLOC) {
        allocate(h, ev);
    } else if (ev->kind == EV_CLEAR) {
        end_objects(h, ev->addr, ev->aux);
    } else {
        const struct inline_object *from = inline_heap_find(h, ev[1].addr);
        if (!from || from->base != ev[1].addr || from->bytes != ev->aux)
            return;
        struct inline_object to = *from;
        to.base = ev->addr;
        begin_object(h, &to);
    }
}

/* ---- places --------------------------------------------------------------------------------- */

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* The offset of an array's elements, behind the word that leads to its shadow array. */
static uint64_t elements_at(const struct inline_heap *h, const struct inline_object *o)
{
    const uint64_t behind = (uint64_t)h->layout->array + h->layout->word;

    return behind <= o->first ? o->first : up(behind, o->element);
}

/* The 8 bytes that have a scalar's field, in the inflated object. Pairs are those of addresses: a
 * compressed header ends in the middle of one. */
static uint64_t pair_at(const struct inline_heap *h, const struct inline_object *o, uint64_t offset)
{
    const uint64_t fields = o->first / INLINE_PAIR * INLINE_PAIR;

    return up(o->first + h->layout->word, INLINE_PAIR) +
           (offset - fields) / INLINE_PAIR * h->stride;
}

/* A byte of the object, in it when it is inflated. */
static uint64_t inflated(const struct inline_heap *h, const struct inline_object *o,
                         uint64_t offset)
{
    if (offset < o->first)
        return offset;
    if (o->elements)
        return offset - o->first + elements_at(h, o);
    return pair_at(h, o, offset) + offset % INLINE_PAIR;
}

static sim_addr begins(const struct inline_heap *h, const struct inline_object *o)
{
    return o->base * h->scale;
}

sim_addr inline_heap_word(const struct inline_heap *h, const struct inline_object *o)
{
    return begins(h, o) + (o->elements ? h->layout->array : h->layout->header);
}

sim_addr inline_heap_field(const struct inline_heap *h, const struct inline_object *o,
                           sim_addr location, unsigned at)
{
    const uint64_t offset = location - o->base;

    return begins(h, o) + pair_at(h, o, offset) + INLINE_PAIR +
           offset % INLINE_PAIR / h->granule * h->each + at;
}

struct paddr inline_heap_physical(const struct inline_heap *h, sim_addr at)
{
    if (!h->pages || h->pages->params.mapping == PAGES_IDENTITY)
        return paddr_of(INLINE_HEAP + at);
    const unsigned shift = h->pages->shift;
    const struct vaddr whole = vaddr_of(at / h->scale >> shift << shift);

    return paddr_of(INLINE_HEAP + h->scale * pages_physical(h->pages, whole).at +
                    (at - h->scale * whole.at));
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void range_of(const struct inline_heap *h, const struct inline_object *o, uint64_t offset,
                     const struct event *ev, uint64_t bytes, struct inline_range *to)
{
    const uint64_t from = inflated(h, o, offset), end = offset + bytes;

    to->at = begins(h, o) + from;
    to->bytes = bytes;
    if (!(ev->flags & EVF_SYSTEM) || bytes <= INLINE_PAIR || o->elements || end <= o->first)
        return;
    /* Metadata behind the last fields come along, unless the access ends between two of them. */
    to->bytes = end % INLINE_PAIR ? inflated(h, o, end - 1) + 1 - from
                                  : inflated(h, o, end - INLINE_PAIR) + h->stride - from;
}

/* A copy's writes come before its event. They go where the copy will lie. */
static bool copies(const struct inline_heap *h, const struct event *ev)
{
    const struct inline_copy *c = &h->copy;

    return ev->kind == EV_WRITE && ev->flags & EVF_SYSTEM && c->of.live && c->tid == ev->tid &&
           c->size == ev->size && ev->addr >= c->offset;
}

bool inline_heap_access(struct inline_heap *h, const struct event *ev, uint64_t bytes,
                        struct inline_range *to)
{
    const struct inline_object *o = inline_heap_find(h, ev->addr);

    if (o) {
        range_of(h, o, ev->addr - o->base, ev, bytes, to);
        if (ev->kind == EV_READ && ev->flags & EVF_SYSTEM)
            h->copy = (struct inline_copy){*o, ev->addr - o->base, ev->tid, ev->size};
        return true;
    }
    if (!copies(h, ev))
        return false;
    struct inline_object as = h->copy.of;
    as.base = ev->addr - h->copy.offset;
    range_of(h, &as, h->copy.offset, ev, bytes, to);
    return true;
}
