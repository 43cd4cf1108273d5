/* column_region.c - finds the few regions of addresses in which a column's numbers lie (stacks,
 * heaps, statics), so that a number is a region and some bits. Pages first, by a hash; neighbouring
 * pages then make regions. Encoding only; what is found is good, not the best there is. */
#include "trace/binary/column_encode.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
    PAGES_MAX = 1024,
    SLOTS = 4 * PAGES_MAX, /* slots in the table of pages; a power of 2 */
    PAGE_FIRST = 16,       /* log2 of a page: the first to try, the step, and the last */
    PAGE_STEP = 8,
    PAGE_LAST = 56
};

struct page { /* numbers that agree in all but their low bits */
    uint64_t number, low, high;
    uint64_t events;
    unsigned region;
};

struct region_finder {
    struct region_list found;
    size_t pages;
    struct page page[PAGES_MAX];
    uint16_t slot[SLOTS];                           /* 1 + place in page[]; 0: empty */
    uint16_t order[PAGES_MAX];                      /* places in page[], ascending by number */
    uint16_t page_of[COLUMN_MAX];                   /* each number's place in page[] */
    uint64_t region[COLUMN_MAX], place[COLUMN_MAX]; /* each number's */
    uint64_t events[REGIONS_MAX];
};

struct region_finder *region_finder_new(void)
{
    return xmalloc(sizeof(struct region_finder));
}

const struct region_list *regions_found(const struct region_finder *f)
{
    return &f->found;
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* The place of a page, made if need be; PAGES_MAX: there are too many. */
static size_t page_place(struct region_finder *f, uint64_t number)
{
    /* Fibonacci hashing: the product's high bits mix all of the number's. */
    size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; i++) {
        uint16_t *slot = &f->slot[i % SLOTS];
        if (*slot && f->page[*slot - 1].number == number)
            return *slot - 1U;
        if (*slot)
            continue;
        if (f->pages == PAGES_MAX)
            return PAGES_MAX;
        f->page[f->pages] = (struct page){.number = number, .low = UINT64_MAX};
        *slot = (uint16_t)++f->pages;
        return f->pages - 1;
    }
}

/* Fails when there are more than PAGES_MAX pages of this size; the caller tries larger ones. */
static int pages_find(struct region_finder *f, const uint64_t *v, size_t n, unsigned bits)
{
    f->pages = 0;
    memset(f->slot, 0, sizeof f->slot);
    for (size_t i = 0; i < n; i++) {
        const size_t place = page_place(f, v[i] >> bits);
        if (place == PAGES_MAX)
            return -1;
        struct page *p = &f->page[place];
        p->low = v[i] < p->low ? v[i] : p->low;
        p->high = v[i] > p->high ? v[i] : p->high;
        p->events++;
        f->page_of[i] = (uint16_t)place;
    }
    return 0;
}

struct page_key {
    uint64_t number;
    uint16_t place;
};

static int key_compare(const void *a, const void *b)
{
    const uint64_t x = ((const struct page_key *)a)->number,
                   y = ((const struct page_key *)b)->number;

    return (x > y) - (x < y);
}

static void pages_sort(struct region_finder *f)
{
    struct page_key key[PAGES_MAX];

    for (size_t i = 0; i < f->pages; i++)
        key[i] = (struct page_key){f->page[i].number, (uint16_t)i};
    qsort(key, f->pages, sizeof *key, key_compare);
    for (size_t i = 0; i < f->pages; i++)
        f->order[i] = key[i].place;
}

/* ---- regions -------------------------------------------------------------------------------- */

/* Neighbouring pages make one region as long as its numbers take few bits more than those of the
 * parts. Returns the number of regions, or REGIONS_MAX + 1: too many. */
static size_t pages_join(struct region_finder *f, unsigned slack)
{
    struct region_list *r = &f->found;
    uint64_t high = 0;

    r->n = 0;
    for (size_t i = 0; i < f->pages; i++) {
        struct page *p = &f->page[f->order[i]];
        const unsigned own = bits_of(p->high - p->low);
        const uint64_t base = r->n ? r->base[r->n - 1] : 0;
        const unsigned parts = bits_of(high - base) > own ? bits_of(high - base) : own;
        if (r->n == 0 || bits_of(p->high - base) > parts + slack) {
            if (r->n == REGIONS_MAX)
                return REGIONS_MAX + 1;
            f->events[r->n] = 0;
            r->base[r->n++] = p->low;
        }
        p->region = (unsigned)r->n - 1;
        f->events[r->n - 1] += p->events;
        high = p->high;
    }
    return r->n;
}

/* Finds the shift that all numbers allow, the width that each region needs, and each number's
 * region. */
static void regions_measure(struct region_finder *f, const uint64_t *v, size_t n)
{
    struct region_list *r = &f->found;
    uint64_t any = 0, high[REGIONS_MAX] = {0};

    for (size_t i = 0; i < f->pages; i++) {
        const struct page *p = &f->page[i];
        const uint64_t above = p->high - r->base[p->region];
        high[p->region] = above > high[p->region] ? above : high[p->region];
    }
    for (size_t i = 0; i < n; i++) {
        f->region[i] = f->page[f->page_of[i]].region;
        any |= v[i] - r->base[f->region[i]];
    }
    r->shift = trailing_zeros(any);
    r->bits = 0;
    for (size_t i = 0; i < r->n; i++) {
        r->width[i] = bits_of(high[i] >> r->shift);
        r->bits += r->width[i] * f->events[i];
    }
    r->region = f->region;
    r->place = f->region;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* The list of a group with the numbers from `at` on; their places in it. -1: there is no room. */
static int list_make(struct region_finder *f, size_t at, size_t n, uint64_t *length)
{
    struct region_list *r = &f->found;
    uint16_t place[REGIONS_MAX] = {0}; /* counted from 1 */

    *length = 0;
    for (size_t i = at; i < at + n; i++) {
        uint16_t *p = &place[f->region[i]];
        if (*p == 0) {
            if (r->listed == LISTED_MAX)
                return -1;
            r->list[r->listed++] = f->region[i];
            *p = (uint16_t)++ * length;
        }
        f->place[i] = *p - UINT64_C(1);
    }
    return 0;
}

/* A thread has its own regions and some that all have: so its places take fewer bits than numbers
 * of regions. */
static void lists_make(struct region_finder *f, struct groups groups)
{
    struct region_list *r = &f->found;
    uint64_t longest = 1;
    size_t at = 0;

    r->lists = r->listed = 0;
    if (groups.n > LISTED_MAX || groups.n < 2 || r->n < 2)
        return;
    for (size_t i = 0; i < groups.n; at += groups.length[i++]) {
        if (list_make(f, at, groups.length[i], &r->length[i]))
            return;
        longest = r->length[i] > longest ? r->length[i] : longest;
    }
    if (bits_of(longest - 1) == bits_of(r->n - 1))
        return;
    r->lists = groups.n;
    r->place = f->place;
}

/* The bits of places, about, when they are stored as bits or by a code of whole bits. */
static uint64_t places_bits(const struct region_finder *f, size_t n)
{
    uint64_t bits = 0, longest = 1;

    for (size_t i = 0; i < f->found.lists; i++)
        longest = f->found.length[i] > longest ? f->found.length[i] : longest;
    if (f->found.lists)
        return n * bits_of(longest - 1) + 8 * (f->found.listed + f->found.lists);
    for (size_t i = 0; i < f->found.n; i++)
        bits += f->events[i] * bits_of(n / f->events[i]);
    return f->found.n > 1 ? bits : 0;
}

/* Larger pages until there are few enough; then wider regions until there are few enough. */
uint64_t regions_find(struct region_finder *f, const uint64_t *v, size_t n, struct groups groups)
{
    unsigned bits = PAGE_FIRST, slack = 1;

    while (pages_find(f, v, n, bits))
        if ((bits += PAGE_STEP) > PAGE_LAST)
            return UINT64_MAX;
    pages_sort(f);
    while (pages_join(f, slack) > REGIONS_MAX)
        slack++;
    regions_measure(f, v, n);
    for (size_t i = 0; i < f->found.n; i++)
        if (f->found.width[i] > BITS_MAX)
            return UINT64_MAX;
    lists_make(f, groups);
    return (f->found.bits + places_bits(f, n)) / 8 + 10 * f->found.n;
}
