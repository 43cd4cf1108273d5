/* search.c - the events that an allocation, clear or copy must wait for: of each other thread
 * the last one recorded before it that touches the same memory.
 *
 * The search is made when the heap event is its thread's next: few events that were recorded before
 * it are left then. Where a thread is far behind, chunks are passed over that can't have touched
 * the memory, and stretches of many chunks likewise. */
#include "sim/order/order_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutant.h"

enum { UNIT_BITS = 8, UNITS_MAX = 16, STRETCH_CHUNKS = 64, STRETCH_WORDS = 1024 };

/* ---- sieves: what some events can't have touched -------------------------------------------- */

static void sieve_empty(struct sieve *s, uint64_t *bits, size_t words)
{
    *s = (struct sieve){.low = UINT64_MAX, .words = (uint32_t)words, .bits = bits};
    memset(bits, 0, words * sizeof *bits);
}

static uint64_t *sieve_word(const struct sieve *s, sim_addr unit, uint64_t *bit)
{
    const uint64_t h = unit * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    *bit = UINT64_C(1) << h % 64;
    return &s->bits[h / 64 % s->words];
}

static void sieve_region(struct sieve *s, const struct region *r)
{
    const sim_addr first = r->lo >> UNIT_BITS, last = r->last >> UNIT_BITS;
    uint64_t bit;

    s->low = r->lo < s->low ? r->lo : s->low;
    s->high = r->last > s->high ? r->last : s->high;
    if (last - first >= UNITS_MAX) {
        s->wide = true;
        return;
    }
    for (sim_addr unit = first; unit <= last; unit++) {
        uint64_t *word = sieve_word(s, unit, &bit);
        *word |= bit;
    }
}

/* The variables of a commit are not in its record. */
static void sieve_event(struct sieve *s, const struct event *ev)
{
    struct region r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    for (unsigned i = 0; i < n; i++)
        sieve_region(s, &r[i]);
    s->wide |= ev->kind == EV_TXN_COMMIT;
}

static bool may_touch(const struct sieve *s, const struct region *r)
{
    const sim_addr first = r->lo >> UNIT_BITS, last = r->last >> UNIT_BITS;
    uint64_t bit;

    if (s->wide)
        return true;
    if (r->lo > s->high || r->last < s->low)
        return false;
    if (last - first >= UNITS_MAX)
        return true;
    for (sim_addr unit = first; unit <= last; unit++) {
        const uint64_t *word = sieve_word(s, unit, &bit);
        if (*word & bit)
            return true;
    }
    return false;
}

/* The chunk may grow: what came since the last time is added. */
static void sieve_chunk(struct chunk *c)
{
    if (!c->sieved)
        sieve_empty(&c->sieve, c->bits, ARRAY_SIZE(c->bits));
    for (; c->sieved < c->n; c->sieved += event_records(&c->rec[c->sieved]))
        sieve_event(&c->sieve, &c->rec[c->sieved]);
}

struct stretch { /* so many chunks, all of them complete */
    struct sieve sieve;
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
    budget_take(&o->budget, sizeof *st);
    sieve_empty(&st->sieve, st->bits, ARRAY_SIZE(st->bits));
    for (unsigned k = 0; k < STRETCH_CHUNKS; k++, c = c->next)
        for (uint32_t i = 0; i < c->n; i += event_records(&c->rec[i]))
            sieve_event(&st->sieve, &c->rec[i]);
    st->beyond = c;
    return st;
}

void order_stretch_free(struct order *o, struct chunk *c)
{
    order_drop(o, c->stretch, c->stretch != NULL, sizeof *c->stretch);
    c->stretch = NULL;
}

/* ---- what came earlier ---------------------------------------------------------------------- */

struct search {
    struct order *o;
    uint64_t number; /* of the heap event */
    struct region r[EVENT_REGIONS];
    unsigned n;
    sim_tid tid;           /* whose lane is searched */
    const struct extra *x; /* its first that has not been passed */
    struct need found;     /* in that lane: the last one so far */
};

static bool meet(const struct region *a, const struct region *b)
{
    return a->lo <= b->last && b->lo <= a->last;
}

static bool wanted(const struct search *s, const struct region *r)
{
    return meet(&s->r[0], r) || (s->n > 1 && meet(&s->r[1], r));
}

static bool event_touches(struct search *s, const struct event *ev, uint64_t ordinal)
{
    struct region r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    for (unsigned i = 0; i < n; i++)
        if (wanted(s, &r[i]))
            return true;
    if (ev->kind != EV_TXN_COMMIT || MUTANT(ORDER_COMMIT_NO_MEMORY))
        return false;
    while (s->x && s->x->ordinal < ordinal)
        s->x = s->x->next;
    for (size_t i = 0; s->x && s->x->ordinal == ordinal && i < s->x->regions; i++)
        if (wanted(s, &s->x->region[i]))
            return true;
    return false;
}

static void search_chunk(struct search *s, const struct chunk *c)
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

static bool sieve_passes(const struct search *s, const struct sieve *sieve)
{
    return may_touch(sieve, &s->r[0]) || (s->n > 1 && may_touch(sieve, &s->r[1]));
}

static void search_lane(struct search *s)
{
    const struct lane *l = &s->o->lane[s->tid];
    const struct stretch *st;

    s->x = l->first;
    s->found.known = false;
    for (struct chunk *c = l->head; c && c->number[0] < s->number;) {
        st = stretch_at(s->o, l, c);
        if (st && !sieve_passes(s, &st->sieve)) {
            c = st->beyond;
            continue;
        }
        sieve_chunk(c);
        if (sieve_passes(s, &c->sieve))
            search_chunk(s, c);
        c = c->next;
    }
}

void order_memory_scan(struct order *o, sim_tid tid, struct extra *x)
{
    const struct lane *me = &o->lane[tid];
    struct search s = {.o = o, .number = me->head->number[me->at]};

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
