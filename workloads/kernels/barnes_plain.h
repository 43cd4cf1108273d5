/* barnes_plain.h - what the workload barnes has in common with the same computation on the host,
 * which is here to compare results with: the plane, and the law of attraction. */
#ifndef LARDSIM_BARNES_PLAIN_H
#define LARDSIM_BARNES_PLAIN_H

#include "workloads/vm/vm.h"

struct barnes_body {
    double mass, at[2], v[2], a[2];
};
struct barnes_box { /* a square: its centre, half its side */
    double x, y, half;
};
static const double barnes_dt = 0.01;

static inline unsigned barnes_quadrant(const struct barnes_box *b, double x, double y)
{
    return (x >= b->x ? 1u : 0u) | (y >= b->y ? 2u : 0u);
}
static inline struct barnes_box barnes_quarter(const struct barnes_box *b, unsigned q)
{
    const double half = b->half / 2;

    return (struct barnes_box){b->x + (q & 1 ? half : -half), b->y + (q & 2 ? half : -half), half};
}
/* A cell of that half side is too near to be taken for one mass. */
static inline bool barnes_near(double half, double dx, double dy)
{
    return half * half > 0.16 * (dx * dx + dy * dy);
}
static inline void barnes_attract(struct barnes_body *b, double mass, double dx, double dy)
{
    const double by = mass / (dx * dx + dy * dy + 0.01);

    b->a[0] += by * dx;
    b->a[1] += by * dy;
}

/* A tree in the memory of one thread. In the place of links it has an array of bodies in the order
 * of its leaves: a cell is a range of it, and its first child stands behind it. */
struct barnes_cell {
    struct barnes_box in;
    double mass, x, y;
    uint64_t first, n, next; /* its range in order; the cell behind all that are inside this one */
};
struct barnes_tree {
    struct vm_thread *t; /* whose memory it has (vm_scratch) */
    const struct barnes_body *body;
    uint64_t *order; /* room for all bodies, by number; the caller's */
    struct barnes_cell *cell;
    size_t cells, room;
};
/* Builds the tree of n bodies; returns how often a body has passed a cell. */
uint64_t barnes_tree_build(struct barnes_tree *p, uint64_t n);
void barnes_plain(struct vm_thread *t, struct barnes_body *b, uint64_t n, uint64_t steps);

#endif
