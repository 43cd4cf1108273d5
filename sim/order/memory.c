/* memory.c - pending allocations, clears and copies, found by address by whatever touches the
 * same bytes later. What came earlier they look for themselves: order/search.c.
 *
 * For each byte the latest heap event is kept: it implies those before it. A trace without heap
 * events pays for none of this. */
#include "sim/order/order_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_BYTES = 8, FRESH_AT_LEAST = 64 };
enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, PAGES_MAX = 16 };

static bool meet(const struct byte_range *a, const struct byte_range *b)
{
    return a->lo <= b->last && b->lo <= a->last;
}

unsigned order_regions(const struct event *ev, struct byte_range to[EVENT_REGIONS])
{
    const sim_addr addr = ev->addr, most = UINT64_MAX - addr;

    switch ((enum ev_form)ev_info[ev->kind].form) {
    case FORM_ACCESS:
        to[0] = (struct byte_range){addr, addr + (ev->size - 1)};
        return 1;
    case FORM_OBJECT:
    case FORM_ROUND:
        to[0] =
            (struct byte_range){addr, addr + (most < OBJECT_BYTES - 1 ? most : OBJECT_BYTES - 1)};
        return 1;
    case FORM_REGION:
    case FORM_ALLOC:
        to[0] = (struct byte_range){addr, addr + (ev->aux - 1)};
        return 1;
    case FORM_COPY:
        to[0] = (struct byte_range){addr, addr + (ev->aux - 1)};
        to[1] = (struct byte_range){ev[1].addr, ev[1].addr + (ev->aux - 1)};
        return 2;
    case FORM_THREAD:
    case FORM_NONE:
    case FORM_KERNEL:
    case FORM_CLOCK:
    case FORM_PHASE:
    case FORM_TIME:
    case FORM_WAITED:
    case FORM_BRANCHES:
    case FORM_COUNT:
    case FORM_REMAP:
        return 0;
    }
    return 0;
}

/* ---- the latest heap event of each byte -----------------------------------------------------
 *
 * Disjoint intervals, in a treap for each page; those of events that touch many pages are in a
 * treap of their own. */

struct fresh {
    struct fresh *kid[2]; /* owns */
    struct byte_range r;
    struct need by;
    uint64_t weight; /* random; no kid has more */
};

static struct fresh *fresh_new(struct order *o, sim_addr lo, sim_addr last, const struct need *by)
{
    struct fresh *f = xmalloc(sizeof *f);
    uint64_t draw = ++o->draws * UINT64_C(0x9e3779b97f4a7c15);

    draw = (draw ^ draw >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    budget_take(&o->budget, heap_bytes(sizeof *f));
    o->fresh_count++;
    *f = (struct fresh){.r = {lo, last}, .by = *by, .weight = draw ^ draw >> 31};
    return f;
}

static void fresh_drop(struct order *o, struct fresh *f)
{
    o->fresh_count--;
    order_drop(o, f, 1, sizeof *f);
}

static void drop_all(struct order *o, struct fresh *f)
{
    if (!f)
        return;
    drop_all(o, f->kid[0]);
    drop_all(o, f->kid[1]);
    fresh_drop(o, f);
}

/* Splits the tree into the ranges that begin below lo, and the others. */
static void split(struct fresh *f, sim_addr lo, struct fresh **below, struct fresh **above)
{
    if (!f) {
        *below = *above = NULL;
    } else if (f->r.lo < lo) {
        split(f->kid[1], lo, &f->kid[1], above);
        *below = f;
    } else {
        split(f->kid[0], lo, below, &f->kid[0]);
        *above = f;
    }
}

static struct fresh *merge(struct fresh *below, struct fresh *above)
{
    if (!below || !above)
        return below ? below : above;
    if (below->weight > above->weight) {
        below->kid[1] = merge(below->kid[1], above);
        return below;
    }
    above->kid[0] = merge(below, above->kid[0]);
    return above;
}

static struct fresh *rightmost(struct fresh *f)
{
    while (f && f->kid[1])
        f = f->kid[1];
    return f;
}

/* Returns the part beyond `last` of the interval that begins last in the tree, or NULL. */
static struct fresh *tail_of(struct order *o, struct fresh *tree, sim_addr last)
{
    const struct fresh *f = rightmost(tree);

    return f && f->r.last > last ? fresh_new(o, last + 1, f->r.last, &f->by) : NULL;
}

/* The tree without the intervals of events that have run: nobody waits for those. */
static struct fresh *live_ones(struct order *o, struct fresh *f)
{
    if (!f)
        return NULL;
    f->kid[0] = live_ones(o, f->kid[0]);
    f->kid[1] = live_ones(o, f->kid[1]);
    if (!has_run(o, &f->by))
        return f;
    struct fresh *kids = merge(f->kid[0], f->kid[1]);
    fresh_drop(o, f);
    return kids;
}

/* The event in hand is the latest for r: intervals that reach into it are cut, those inside go. */
static struct fresh *fresh_put(struct order *o, struct fresh *tree, const struct byte_range *r)
{
    struct fresh *below, *inside, *above = NULL, *tail;

    split(tree, r->lo, &below, &inside);
    if (r->last != UINT64_MAX)
        split(inside, r->last + 1, &inside, &above);
    tail = tail_of(o, inside ? inside : below, r->last);
    struct fresh *cut = rightmost(below);
    if (cut && cut->r.last >= r->lo)
        cut->r.last = r->lo - 1;
    drop_all(o, inside);
    below = merge(below, fresh_new(o, r->lo, r->last, &o->me));
    return merge(below, merge(tail, above));
}

static struct fresh *tree_in(const uint64_t *slot)
{
    return slot ? (struct fresh *)(uintptr_t)*slot : NULL;
}

/* Tidies all pages: events that have run leave them; with `all`, nothing remains. */
static void each_page(struct order *o, bool all)
{
    struct map kept;
    uint64_t page, *tree;
    size_t pos = 0;

    map_init(&kept, &o->budget);
    while (map_next(&o->pages, &pos, &page, &tree)) {
        struct fresh *live = all ? NULL : live_ones(o, tree_in(tree));
        if (all)
            drop_all(o, tree_in(tree));
        else if (live)
            *map_put(&kept, page) = (uint64_t)(uintptr_t)live;
    }
    map_free(&o->pages);
    o->pages = kept;
}

static void fresh_tidy(struct order *o)
{
    if (o->fresh_count < o->fresh_tidy)
        return;
    o->wide_fresh = live_ones(o, o->wide_fresh);
    each_page(o, false);
    o->fresh_tidy = 2 * o->fresh_count + FRESH_AT_LEAST;
}

static bool is_wide(const struct byte_range *r)
{
    return (r->last >> PAGE_BITS) - (r->lo >> PAGE_BITS) >= PAGES_MAX;
}

static void fresh_add(struct order *o, const struct byte_range *r)
{
    if (is_wide(r)) {
        o->wide_fresh = fresh_put(o, o->wide_fresh, r);
        return;
    }
    for (sim_addr page = r->lo >> PAGE_BITS; page <= r->last >> PAGE_BITS; page++) {
        const sim_addr first = page << PAGE_BITS, last = first | (PAGE_BYTES - 1);
        const struct byte_range in = {r->lo > first ? r->lo : first,
                                      r->last < last ? r->last : last};
        uint64_t *tree = map_put(&o->pages, page);
        *tree = (uint64_t)(uintptr_t)fresh_put(o, tree_in(tree), &in);
    }
}

static void find_fresh(struct order *o, const struct fresh *f, const struct byte_range *r)
{
    while (f) {
        if (meet(&f->r, r))
            order_need(o, &f->by, WAIT_MEMORY);
        if (f->r.lo > r->lo)
            find_fresh(o, f->kid[0], r);
        f = f->r.last < r->last ? f->kid[1] : NULL;
    }
}

void order_memory_needs(struct order *o, const struct byte_range *r)
{
    if (!order_near(o, r->lo, r->last))
        return;
    find_fresh(o, o->wide_fresh, r);
    for (sim_addr page = r->lo >> PAGE_BITS; page <= r->last >> PAGE_BITS; page++)
        find_fresh(o, tree_in(map_find(&o->pages, page)), r);
}

/* A heap event more, or (-1) less, touches the region. */
static void count_near(struct order *o, const struct byte_range *r, int more)
{
    const sim_addr first = r->lo >> NEAR_LINE_BITS, last = r->last >> NEAR_LINE_BITS;

    if (!o->near) {
        o->near = xcalloc(NEAR_SLOTS, sizeof *o->near);
        budget_take(&o->budget, heap_bytes(NEAR_SLOTS * sizeof *o->near));
    }
    if (is_wide(r)) {
        o->wide += (uint64_t)(int64_t)more;
        return;
    }
    for (sim_addr line = first; line <= last; line++)
        *order_near_slot(o, line) += (uint32_t)more;
}

void order_memory_change(struct order *o, const struct event *ev)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    fresh_tidy(o);
    o->heaps++;
    for (unsigned i = 0; i < n; i++) {
        fresh_add(o, &r[i]);
        count_near(o, &r[i], 1);
    }
}

void order_memory_free(struct order *o)
{
    drop_all(o, o->wide_fresh);
    o->wide_fresh = NULL;
    each_page(o, true);
}

void order_memory_ran(struct order *o, const struct event *ev)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    assert(o->heaps > 0);
    for (unsigned i = 0; i < n; i++)
        count_near(o, &r[i], -1);
    if (--o->heaps == 0 && o->fresh_count >= FRESH_AT_LEAST)
        order_memory_free(o);
}
