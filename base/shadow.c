/* shadow.c - cells for addresses, in pages that exist while a cell is in use: what a policy
 * remembers of each location. A cell of zeros is the same as none.
 *
 * A page spans 64 granules: small enough that a sparse trace can't blow it up (a lone access costs
 * one page), large enough that neighbours share a lookup. Most lookups hit the page of the one
 * before, which is remembered. */
#include "base/shadow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/budget.h"
#include "base/map.h"
#include "base/mem.h"

struct shadow *shadow_new(unsigned granule, size_t cell_bytes, struct budget *budget)
{
    struct shadow *s = xcalloc(1, sizeof *s);

    assert(granule && (granule & (granule - 1)) == 0);
    s->shift = (unsigned)__builtin_ctz(granule);
    s->cell_bytes = cell_bytes;
    s->budget = budget;
    s->room.budget = budget;
    s->room.bytes = (sizeof(struct shadow_page) + SHADOW_PAGE_CELLS * cell_bytes + 63) / 64 * 64;
    map_init(&s->pages, budget);
    return s;
}

void shadow_free(struct shadow *s)
{
    if (!s)
        return;
    pool_free(&s->room);
    map_free(&s->pages);
    free(s);
}

/* Makes a page. Memory is charged by slabs: a page that is freed leaves room for others, and gives
 * the host nothing back. */
struct shadow_page *shadow_page_new(struct shadow *s, uint64_t number)
{
    struct shadow_page *p = pool_get(&s->room);

    memset(p, 0, s->room.bytes);
    p->number = number;
    *map_put(&s->pages, number) = (uint64_t)(uintptr_t)p;
    return p;
}

/* A page that goes must not be found any more through the cache of prefetched cells. */
static void drop_page(struct shadow *s, struct shadow_page *p)
{
    if (s->last == p)
        s->last = NULL;
    for (uint64_t i = 0; i < SHADOW_PAGE_CELLS; i++) {
        const uint64_t index = p->number * SHADOW_PAGE_CELLS + i;
        const size_t slot = shadow_cache_slot(index);
        if (s->cache[slot].index == index)
            s->cache[slot].cell = NULL;
    }
    map_remove(&s->pages, p->number);
    pool_give(&s->room, p);
}

/* Any byte that is not 0. By words, as this is asked of every cell of a region that is cleared or
 * copied. */
bool shadow_in_use(const struct shadow *s, const void *at)
{
    const unsigned char *cell = at;
    uint64_t any = 0, word;
    size_t i = 0;

    for (; i + sizeof word <= s->cell_bytes; i += sizeof word) {
        memcpy(&word, cell + i, sizeof word);
        any |= word;
    }
    for (; i < s->cell_bytes; i++)
        any |= cell[i];
    return any != 0;
}

/* Visits the used cells among granules first..last that lie in p. fn returns true for a cell that
 * is to go; a page whose last cell went goes, too. */
static void visit_page(struct shadow *s, struct shadow_page *p, uint64_t first, uint64_t last,
                       shadow_visit *fn, void *arg)
{
    const uint64_t base = p->number * SHADOW_PAGE_CELLS;
    const unsigned from = first > base ? (unsigned)(first - base) : 0;
    const unsigned to =
        last - base < SHADOW_PAGE_CELLS ? (unsigned)(last - base) : SHADOW_PAGE_CELLS - 1;
    bool dropped = false, used = false;

    for (unsigned i = from; i <= to; i++) {
        if (!shadow_in_use(s, shadow_cell(s, p, i)) ||
            !fn(arg, (base + i) << s->shift, shadow_cell(s, p, i)))
            continue;
        memset(shadow_cell(s, p, i), 0, s->cell_bytes);
        dropped = true;
    }
    for (unsigned i = 0; dropped && !used && i < SHADOW_PAGE_CELLS; i++)
        used = shadow_in_use(s, shadow_cell(s, p, i));
    if (dropped && !used)
        drop_page(s, p);
}

/* The range spans more pages than exist: go by those that exist. Their list is made first, as fn
 * may drop pages and so change the map that is walked. */
static void visit_existing(struct shadow *s, uint64_t first, uint64_t last, shadow_visit *fn,
                           void *arg)
{
    const size_t n = s->pages.n;
    struct shadow_page **todo = xmalloc(n * sizeof *todo), *p;
    size_t k = 0;

    for (size_t pos = 0; (p = shadow_page_next(s, &pos));)
        todo[k++] = p;
    assert(k == n);
    for (k = 0; k < n; k++) {
        const uint64_t base = todo[k]->number * SHADOW_PAGE_CELLS;
        if (base <= last && base + SHADOW_PAGE_CELLS - 1 >= first)
            visit_page(s, todo[k], first, last, fn, arg);
    }
    free(todo);
}

/* A region may span far more pages than there are (a clear of a whole heap half, say): then the map
 * is walked instead of the range. */
void shadow_each(struct shadow *s, sim_addr addr, uint64_t bytes, shadow_visit *fn, void *arg)
{
    if (!bytes)
        return;
    assert(bytes - 1 <= UINT64_MAX - addr);
    const uint64_t first = addr >> s->shift, last = (addr + (bytes - 1)) >> s->shift;
    const uint64_t first_page = first / SHADOW_PAGE_CELLS, last_page = last / SHADOW_PAGE_CELLS;

    if (last_page - first_page >= s->pages.n) {
        visit_existing(s, first, last, fn, arg);
        return;
    }
    for (uint64_t number = first_page; number <= last_page; number++) {
        struct shadow_page *p = shadow_page_find(s, number);
        if (p)
            visit_page(s, p, first, last, fn, arg);
    }
}

void shadow_all(struct shadow *s, shadow_visit *fn, void *arg)
{
    visit_existing(s, 0, UINT64_MAX >> s->shift, fn, arg); /* of 2^64 bytes: no region has that */
}

struct shadow_page *shadow_page_next(const struct shadow *s, size_t *pos)
{
    uint64_t number, *at;

    return map_next(&s->pages, pos, &number, &at) ? (struct shadow_page *)(uintptr_t)*at : NULL;
}

/* ---- snapshots ------------------------------------------------------------------------------ */

struct shadow_snapshot { /* charged to the shadow's budget */
    struct budget *budget;
    size_t cell_bytes, n, cap;
    sim_addr from;
    sim_addr *addr;       /* of each cell */
    unsigned char *cells; /* one after the other */
};

/* Returns false: the cell stays where it is. */
static bool take_cell(void *arg, sim_addr addr, void *cell)
{
    struct shadow_snapshot *t = arg;

    if (budget_ends(t->budget))
        return false; /* the run is about to stop: the snapshot stays incomplete */
    if (t->n == t->cap) {
        const size_t was = t->cap;
        t->cap = t->cap ? 2 * t->cap : 8;
        budget_take(t->budget, (t->cap - was) * (sizeof *t->addr + t->cell_bytes));
        t->addr = xrealloc(t->addr, t->cap, sizeof *t->addr);
        t->cells = xrealloc(t->cells, t->cap, t->cell_bytes);
    }
    t->addr[t->n] = addr;
    memcpy(t->cells + t->n * t->cell_bytes, cell, t->cell_bytes);
    t->n++;
    return false;
}

/* Cells are copied bit by bit first, and made independent afterwards: `own` may need room, and the
 * budget may run out half-way. */
struct shadow_snapshot *shadow_take(struct shadow *s, sim_addr from, uint64_t bytes,
                                    void (*own)(void *arg, void *cell), void *arg)
{
    struct shadow_snapshot *t = xmalloc(sizeof *t);

    *t = (struct shadow_snapshot){.budget = s->budget, .cell_bytes = s->cell_bytes, .from = from};
    shadow_each(s, from, bytes, take_cell, t);
    for (size_t i = 0; own && i < t->n; i++) {
        if (budget_ends(s->budget))
            t->n = i; /* the rest points to what the original owns */
        else
            own(arg, t->cells + i * t->cell_bytes);
    }
    return t;
}

/* Puts the snapshot's cells at `to`, each at its old distance from the begin of the region. */
uint64_t shadow_put(struct shadow *s, struct shadow_snapshot *t, sim_addr to)
{
    const uint64_t n = t->n;

    for (size_t i = 0; i < t->n; i++)
        memcpy(shadow_get(s, t->addr[i] + (to - t->from)), t->cells + i * t->cell_bytes,
               t->cell_bytes);
    budget_give(t->budget, t->cap * (sizeof *t->addr + t->cell_bytes));
    free(t->addr);
    free(t->cells);
    free(t);
    return n;
}
