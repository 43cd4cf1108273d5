/* shadow.h - shadow pages: fixed-size cells for addresses. */
#ifndef LARDSIM_SHADOW_H
#define LARDSIM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/map.h"
#include "base/mem.h"

/* A cell is in use while it is not all zero. A page has 64 cells and exists while one of them is in
 * use; one whose cells have become zero otherwise than by shadow_each may stay. */
enum { SHADOW_PAGE_CELLS = 64 };
struct shadow_page {
    uint64_t number;
    _Alignas(64) unsigned char cells[]; /* a cell of 64 bytes is a cache line */
};
enum { SHADOW_CACHE_BITS = 9, SHADOW_CACHE = 1 << SHADOW_CACHE_BITS };
struct shadow {     /* open so that a look-up can be inline; only shadow.c writes */
    unsigned shift; /* log2 of the granule */
    size_t cell_bytes;
    struct map pages;         /* number to struct shadow_page * */
    struct pool room;         /* theirs */
    struct shadow_page *last; /* of the latest look-up; NULL: none */
    struct {                  /* a direct-mapped cache of cells that were prefetched, by granule */
        uint64_t index;
        void *cell; /* NULL: none */
    } cache[SHADOW_CACHE];
    struct budget *budget;
};

/* The granule is a power of 2. */
struct shadow *shadow_new(unsigned granule, size_t cell_bytes, struct budget *budget);
void shadow_free(struct shadow *s);
struct shadow_page *shadow_page_new(struct shadow *s, uint64_t number);
static inline struct shadow_page *shadow_page_find(const struct shadow *s,
                                                   uint64_t number) /* NULL: none */
{
    if (s->last && s->last->number == number)
        return s->last;
    const uint64_t *at = map_find(&s->pages, number);
    return LIKELY(at != NULL) ? (struct shadow_page *)(uintptr_t)*at : NULL;
}
static inline void *shadow_cell(const struct shadow *s, struct shadow_page *p, uint64_t index)
{
    return p->cells + index % SHADOW_PAGE_CELLS * s->cell_bytes;
}
/* Hashed, as regions of threads often agree in low bits. */
static inline size_t shadow_cache_slot(uint64_t index)
{
    return (size_t)(index * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHADOW_CACHE_BITS));
}
/* The cell, if it was prefetched not long ago; else NULL. */
static inline void *shadow_prefetched(const struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    const size_t slot = shadow_cache_slot(index);

    return LIKELY(s->cache[slot].index == index) ? s->cache[slot].cell : NULL;
}
/* The cell of the granule that holds addr, made if need be. Valid until it is dropped. */
static inline void *shadow_get(struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    void *cell = shadow_prefetched(s, addr);

    if (cell)
        return cell;
    struct shadow_page *p = shadow_page_find(s, index / SHADOW_PAGE_CELLS);
    if (UNLIKELY(!p))
        p = shadow_page_new(s, index / SHADOW_PAGE_CELLS);
    s->last = p;
    return shadow_cell(s, p, index);
}
/* The location's cell will be asked for soon: finds it now, and fetches it into the host's
 * cache. */
static inline void shadow_prefetch(struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    const uint64_t *at = map_find(&s->pages, index / SHADOW_PAGE_CELLS);
    void *cell = at ? shadow_cell(s, (struct shadow_page *)(uintptr_t)*at, index) : NULL;

    s->cache[shadow_cache_slot(index)].index = index;
    s->cache[shadow_cache_slot(index)].cell = cell;
    __builtin_prefetch(cell, 1);
}
/* As shadow_get, but NULL if the location's page does not exist. */
static inline void *shadow_peek(const struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    struct shadow_page *p = shadow_page_find(s, index / SHADOW_PAGE_CELLS);

    return p ? shadow_cell(s, p, index) : NULL;
}
bool shadow_in_use(const struct shadow *s, const void *cell);
/* Calls fn for every cell in use in [addr, addr+bytes); fn returns true to drop the cell. Costs the
 * smaller of the pages in the range and the pages that exist. Ascending inside a page only. */
typedef bool shadow_visit(void *arg, sim_addr addr, void *cell);
void shadow_each(struct shadow *s, sim_addr addr, uint64_t bytes, shadow_visit *fn, void *arg);
void shadow_all(struct shadow *s, shadow_visit *fn, void *arg); /* every cell in use */
static inline uint64_t shadow_pages(const struct shadow *s)     /* that exist */
{
    return s->pages.n;
}
/* The next page there is, in shadow_all's order, for who knows sooner than by all bytes that a cell
 * is not in use. NULL: no more. No cell may be made or dropped meanwhile. */
struct shadow_page *shadow_page_next(const struct shadow *s, size_t *pos);

/* Copying a region, as memmove does: take a snapshot, drop what is at the destination
 * (shadow_each), put the snapshot there. `own` is called for each cell of the snapshot, which is
 * still the same bits as the original, so that it gets its own of whatever it points to; NULL: it
 * points to nothing. */
struct shadow_snapshot;
struct shadow_snapshot *shadow_take(struct shadow *s, sim_addr from, uint64_t bytes,
                                    void (*own)(void *arg, void *cell), void *arg);
/* Cells go where they were plus to - from, over what is there. Frees the snapshot; returns its
 * cells. */
uint64_t shadow_put(struct shadow *s, struct shadow_snapshot *snapshot, sim_addr to);

#endif
