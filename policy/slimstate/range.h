/* range.h - SlimState's footprints as strided ranges, its partitions of an array, and how a
 * footprint refines a partition (SlimState, V-A and Table I). Numbers only: no clocks, no memory.
 *
 * The row of Table I for strides is not legible in our copy: b < k, n-1 < e+k, s' = lcm(s, k), s'
 * divides n, k > 1 is what we take it to be. */
#ifndef LARDSIM_SLIM_RANGE_H
#define LARDSIM_SLIM_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The paper's <b:e:k>: b, b+k, ... e; k >= 1 divides e-b, and is 1 where b = e. */
struct slim_range {
    uint64_t b, e, k;
};
#define SLIM_EMPTY                                                                                 \
    ((struct slim_range){UINT64_MAX, UINT64_MAX, 1}) /* not the paper's <1:0:1>: no index is in it \
                                                      */
static inline bool slim_empty(const struct slim_range *r)
{
    return r->b == UINT64_MAX;
}
bool slim_contains(const struct slim_range *r, uint64_t i);
/* False: the footprint cannot be extended with i. */
bool slim_extend(struct slim_range *r, uint64_t i);

enum slim_mode {
    SLIM_COARSE,
    SLIM_BLOCK,  /* by: elements of a block */
    SLIM_STRIDE, /* by: parts */
    SLIM_SPLIT,  /* by: the second part's first element */
    SLIM_PREFIX, /* by: elements apart; the rest is one part */
    SLIM_FINE,
    SLIM_MODES
};
struct slim_partition {
    enum slim_mode mode;
    uint64_t by; /* 0 for COARSE and FINE */
};

/* The partition of n > 0 elements that is precise enough for a footprint that is not empty. The
 * same partition, where it is so already. */
struct slim_partition slim_refine(struct slim_partition p, uint64_t n, const struct slim_range *f);

uint64_t slim_parts(struct slim_partition p, uint64_t n);
uint64_t slim_part_of(struct slim_partition p, uint64_t i);
/* The elements of part q. */
struct slim_range slim_part(struct slim_partition p, uint64_t n, uint64_t q);
/* The parts under p that make up r: *first, *first + *step, ... *count of them. p is precise enough
 * for r. */
void slim_cover(struct slim_partition p, const struct slim_range *r, uint64_t *first,
                uint64_t *step, uint64_t *count);

uint64_t slim_gcd(uint64_t a, uint64_t b); /* with 0: the other */

#endif
