/* rng.c - xoshiro256** by Blackman and Vigna, seeded through splitmix64: small, fast, and the same
 * numbers on every machine. Not for secrets. */
#include "base/rng.h"

#include <assert.h>

#include "base/base.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* splitmix64 turns similar seeds (1, 2, 3) into unrelated states. */
void rng_seed(struct rng *r, uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_SIZE(r->s); i++)
        r->s[i] = splitmix(&seed);
}

uint64_t rng_next(struct rng *r)
{
    const uint64_t result = rotate(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotate(r->s[3], 45);
    return result;
}

/* Lemire's method: a multiplication, and a retry only where the result would be biased. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
    assert(n > 0);
    for (;;) {
        __extension__ const unsigned __int128 m = (unsigned __int128)rng_next(r) * n;
        if (LIKELY((uint64_t)m >= n) || (uint64_t)m >= -n % n)
            return (uint64_t)(m >> 64);
    }
}

bool rng_chance(struct rng *r, uint64_t part, uint64_t of)
{
    return rng_below(r, of) < part;
}
