/* shadow.c - cells for addresses, in pages that exist while a cell is in use.
 *
 * A page spans 64 granules: small enough that a sparse trace can't blow it up (a lone access costs
 * one page), large enough that neighbours share a lookup. Most lookups hit the page of the one
 * before, which is remembered. */
#include "base/base.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct page {
    uint64_t number;
    uint64_t used; /* a bit a cell */
    unsigned char cells[];
};

struct shadow {
    unsigned shift; /* log2 of the granule */
    size_t cell_bytes;
    struct map pages;  /* number to struct page * */
    struct page *last; /* of the latest lookup; NULL: none */
    uint64_t cells;    /* in use */
    struct budget *budget;
};

struct shadow *shadow_new(unsigned granule, size_t cell_bytes, struct budget *budget)
{
    struct shadow *s = xcalloc(1, sizeof *s);

    assert(granule && (granule & (granule - 1)) == 0);
    s->shift = (unsigned)__builtin_ctz(granule);
    s->cell_bytes = cell_bytes;
    s->budget = budget;
    map_init(&s->pages, budget);
    return s;
}

static size_t page_bytes(const struct shadow *s)
{
    return sizeof(struct page) + SHADOW_PAGE_CELLS * s->cell_bytes;
}

void shadow_free(struct shadow *s)
{
    uint64_t key, *value;

    if (!s)
        return;
    for (size_t pos = 0; map_next(&s->pages, &pos, &key, &value);) {
        free((void *)(uintptr_t)*value);
        budget_give(s->budget, page_bytes(s));
    }
    map_free(&s->pages);
    free(s);
}

static struct page *find_page(struct shadow *s, uint64_t number)
{
    if (LIKELY(s->last && s->last->number == number))
        return s->last;
    const uint64_t *at = map_find(&s->pages, number);
    if (!at)
        return NULL;
    return s->last = (struct page *)(uintptr_t)*at;
}

static struct page *new_page(struct shadow *s, uint64_t number)
{
    struct page *p = xcalloc(1, page_bytes(s));

    budget_take(s->budget, page_bytes(s));
    p->number = number;
    *map_put(&s->pages, number) = (uint64_t)(uintptr_t)p;
    return s->last = p;
}

static void drop_page(struct shadow *s, struct page *p)
{
    if (s->last == p)
        s->last = NULL;
    map_remove(&s->pages, p->number);
    budget_give(s->budget, page_bytes(s));
    free(p);
}

static void *cell_at(const struct shadow *s, struct page *p, unsigned i)
{
    return p->cells + i * s->cell_bytes;
}

void *shadow_get(struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift, number = index / SHADOW_PAGE_CELLS;
    const unsigned i = index % SHADOW_PAGE_CELLS;
    struct page *p = find_page(s, number);

    if (UNLIKELY(!p))
        p = new_page(s, number);
    if (UNLIKELY(!(p->used >> i & 1))) {
        p->used |= UINT64_C(1) << i;
        s->cells++;
    }
    return cell_at(s, p, i);
}

void *shadow_peek(struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    const unsigned i = index % SHADOW_PAGE_CELLS;
    struct page *p = find_page(s, index / SHADOW_PAGE_CELLS);

    return p && p->used >> i & 1 ? cell_at(s, p, i) : NULL;
}

/* Visits the used cells among granules first..last that lie in p. */
static void visit_page(struct shadow *s, struct page *p, uint64_t first, uint64_t last,
                       shadow_visit *fn, void *arg)
{
    const uint64_t base = p->number * SHADOW_PAGE_CELLS;
    uint64_t todo = p->used;

    if (first > base)
        todo &= ~UINT64_C(0) << (first - base);
    if (last - base < SHADOW_PAGE_CELLS - 1)
        todo &= (UINT64_C(2) << (last - base)) - 1;
    for (; todo; todo &= todo - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(todo);
        if (!fn(arg, (base + i) << s->shift, cell_at(s, p, i)))
            continue;
        memset(cell_at(s, p, i), 0, s->cell_bytes);
        p->used &= ~(UINT64_C(1) << i);
        s->cells--;
    }
    if (!p->used)
        drop_page(s, p);
}

/* The range spans more pages than exist: go by those that exist. */
static void visit_existing(struct shadow *s, uint64_t first, uint64_t last, shadow_visit *fn,
                           void *arg)
{
    const size_t n = s->pages.n;
    struct page **todo = xmalloc(n * sizeof *todo);
    uint64_t key, *value;
    size_t k = 0;

    for (size_t pos = 0; map_next(&s->pages, &pos, &key, &value);)
        todo[k++] = (struct page *)(uintptr_t)*value;
    assert(k == n);
    for (k = 0; k < n; k++) {
        const uint64_t base = todo[k]->number * SHADOW_PAGE_CELLS;
        if (base <= last && base + SHADOW_PAGE_CELLS - 1 >= first)
            visit_page(s, todo[k], first, last, fn, arg);
    }
    free(todo);
}

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
        struct page *p = find_page(s, number);
        if (p)
            visit_page(s, p, first, last, fn, arg);
    }
}

uint64_t shadow_cells(const struct shadow *s)
{
    return s->cells;
}
