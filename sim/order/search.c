/* search.c - the events that an allocation, clear or copy must wait for: of each other thread
 * the last one recorded before it that touches the same memory.
 *
 * The search is made when the heap event is its thread's next: few events that were recorded before
 * it are left then. Where a thread is far behind, chunks are passed over that can't have touched
 * the memory, and stretches of many chunks likewise. */
#include "sim/order/order_int.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT_BITS = 8, UNITS_MAX = 16, STRETCH_CHUNKS = 64, STRETCH_WORDS = 1024 };

/* ---- Bloom filters: what some events can't have touched -------------------------------------- */

static void bloom_empty(struct bloom *s, uint64_t *bits, size_t words)
{
    *s = (struct bloom){.low = UINT64_MAX, .words = (uint32_t)words, .bits = bits};
    memset(bits, 0, words * sizeof *bits);
}

static uint64_t bloom_hash(sim_addr unit)
{
    return unit * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}
static uint64_t bloom_bit(sim_addr unit)
{
    return UINT64_C(1) << bloom_hash(unit) % 64;
}
static uint64_t *bloom_word(const struct bloom *s, sim_addr unit)
{
    return &s->bits[bloom_hash(unit) / 64 % s->words];
}

static void bloom_region(struct bloom *s, const struct byte_range *r)
{
    const sim_addr first = r->lo >> UNIT_BITS, last = r->last >> UNIT_BITS;

    s->low = u64_min(r->lo, s->low);
    s->high = u64_max(r->last, s->high);
    if (last - first >= UNITS_MAX) {
        s->wide = true;
        return;
    }
    for (sim_addr unit = first; unit <= last; unit++)
        *bloom_word(s, unit) |= bloom_bit(unit);
}

/* The variables of a commit are not in its record. */
static void bloom_event(struct bloom *s, const struct event *ev)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    for (unsigned i = 0; i < n; i++)
        bloom_region(s, &r[i]);
    s->wide |= ev->kind == EV_TXN_COMMIT;
}

static bool may_touch(const struct bloom *s, const struct byte_range *r)
{
    const sim_addr first = r->lo >> UNIT_BITS, last = r->last >> UNIT_BITS;

    if (s->wide)
        return true;
    if (r->lo > s->high || r->last < s->low)
        return false;
    if (last - first >= UNITS_MAX)
        return true;
    for (sim_addr unit = first; unit <= last; unit++)
        if (*bloom_word(s, unit) & bloom_bit(unit))
            return true;
    return false;
}

/* The chunk may grow: what came since the last time is added. */
static void bloom_chunk(struct chunk *c)
{
    if (!c->hashed)
        bloom_empty(&c->bloom, c->bits, ARRAY_SIZE(c->bits));
    for (; c->hashed < c->n; c->hashed += event_records(&c->rec[c->hashed]))
        bloom_event(&c->bloom, &c->rec[c->hashed]);
}

struct stretch { /* so many chunks, all of them complete */
    struct bloom bloom;
    struct chunk *beyond; /* the next one */
    uint64_t bits[STRETCH_WORDS];
};

/* The stretch that begins with the chunk; NULL: none does. */
static struct stretch *stretch_at(struct order *o, const struct lane *l, struct chunk *first)
{
    struct chunk *c = first;

    if (first->serial % STRETCH_CHUNKS || first->stretch ||
        l->tail->serial < first->serial + STRETCH_CHUNKS)
        return first->stretch;
    struct stretch *st = first->stretch = xmalloc(sizeof *st);
    budget_take(&o->budget, heap_bytes(sizeof *st));
    bloom_empty(&st->bloom, st->bits, ARRAY_SIZE(st->bits));
    for (unsigned k = 0; k < STRETCH_CHUNKS; k++, c = c->next)
        for (uint32_t i = 0; i < c->n; i += event_records(&c->rec[i]))
            bloom_event(&st->bloom, &c->rec[i]);
    st->beyond = c;
    return st;
}

void order_stretch_free(struct order *o, struct chunk *c)
{
    order_drop(o, c->stretch, c->stretch != NULL, sizeof *c->stretch);
    c->stretch = NULL;
}

/* ---- what came earlier ----------------------------------------------------------------------- */

struct range_search {
    struct order *o;
    uint64_t number; /* of the heap event */
    struct byte_range r[EVENT_REGIONS];
    unsigned n;
    sim_tid tid;           /* whose lane is searched */
    const struct extra *x; /* its first that has not been passed */
    struct need found;     /* in that lane: the last one so far */
};

static bool wanted(const struct range_search *s, const struct byte_range *r)
{
    return ranges_meet(&s->r[0], r) || (s->n > 1 && ranges_meet(&s->r[1], r));
}

static bool event_touches(struct range_search *s, const struct event *ev, uint64_t ordinal)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    for (unsigned i = 0; i < n; i++)
        if (wanted(s, &r[i]))
            return true;
    if (ev->kind != EV_TXN_COMMIT)
        return false;
    while (s->x && s->x->ordinal < ordinal)
        s->x = s->x->next;
    for (size_t i = 0; s->x && s->x->ordinal == ordinal && i < s->x->regions; i++)
        if (wanted(s, &s->x->region[i]))
            return true;
    return false;
}

static void search_chunk(struct range_search *s, const struct chunk *c)
{
    const struct lane *l = &s->o->lane[s->tid];
    uint32_t i = c == l->head ? l->at : 0;

    for (uint64_t ordinal = c == l->head ? l->taken : c->first;
         i < c->n && c->number[i] < s->number; ordinal++) {
        if (event_touches(s, &c->rec[i], ordinal))
            s->found = (struct need){.ordinal = ordinal,
                                     .number = c->number[i],
                                     .tid = s->tid,
                                     .why = WAIT_MEMORY,
                                     .known = true};
        i += event_records(&c->rec[i]);
    }
}

static bool bloom_passes(const struct range_search *s, const struct bloom *bloom)
{
    return may_touch(bloom, &s->r[0]) || (s->n > 1 && may_touch(bloom, &s->r[1]));
}

static void search_lane(struct range_search *s)
{
    const struct lane *l = &s->o->lane[s->tid];
    const struct stretch *st;

    s->x = l->first;
    s->found.known = false;
    for (struct chunk *c = l->head; c && c->number[0] < s->number;) {
        st = stretch_at(s->o, l, c);
        if (st && !bloom_passes(s, &st->bloom)) {
            c = st->beyond;
            continue;
        }
        bloom_chunk(c);
        if (bloom_passes(s, &c->bloom))
            search_chunk(s, c);
        c = c->next;
    }
}

void order_memory_scan(struct order *o, sim_tid tid, struct extra *x)
{
    const struct lane *me = &o->lane[tid];
    struct range_search s = {.o = o, .number = me->head->number[me->at]};

    s.n = order_regions(&me->head->rec[me->at], s.r);
    x->scan = false;
    x->own.met = x->own.list.n = 0;
    if (x->own.list.at == x->few)
        x->own.list = (struct need_list){0};
    for (size_t i = 0; i < o->lanes; i++) {
        s.tid = (sim_tid)i;
        if (i == tid || !o->lane[i].head)
            continue;
        search_lane(&s);
        if (s.found.known)
            order_list_add(o, &x->own.list, &s.found);
    }
}
