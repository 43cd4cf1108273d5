/* extent.h - disjoint ranges of addresses, in order: an interval map for allocations and the like.
 * Neighbours stay apart. Bounds are inclusive, so that the last address needs no care.
 *
 * Each call costs the logarithm of the ranges, times those that it changes. */
#ifndef LARDSIM_EXTENT_H
#define LARDSIM_EXTENT_H

#include "base/base.h"
#include "base/budget.h"

struct extent;
struct extents {
    struct extent *root; /* owns; NULL while there is none */
    uint64_t n;
    struct budget *budget; /* borrows; may be NULL */
};

void extents_init(struct extents *x, struct budget *budget);
void extents_free(struct extents *x); /* leaves an empty map */
/* The range becomes one extent by itself; what it overlaps is cut. */
void extents_put(struct extents *x, sim_addr lo, sim_addr last);
/* Nothing of the range is left; an extent that it lies in becomes two. */
void extents_cut(struct extents *x, sim_addr lo, sim_addr last);
/* Moves marks as memmove moves bytes: those at `from` are at `to`, too, and nothing else is
 * there. */
void extents_copy(struct extents *x, sim_addr to, sim_addr from, uint64_t bytes);
/* The lowest extent that ends at or after addr. False: none. */
bool extents_next(const struct extents *x, sim_addr addr, sim_addr *lo, sim_addr *last);

#endif
