/* rng.h - random numbers, the same everywhere for a seed (xoshiro256**). */
#ifndef LARDSIM_RNG_H
#define LARDSIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};
void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n);              /* 0..n-1, unbiased; n > 0 */
bool rng_chance(struct rng *r, uint64_t part, uint64_t of); /* true in part of `of` cases */

#endif
