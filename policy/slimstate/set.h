/* set.h - a set of indices as bits: the footprints of SlimState's Table II that are not
 * ranges. A set takes its memory when it is first added to. */
#ifndef LARDSIM_SLIM_SET_H
#define LARDSIM_SLIM_SET_H

#include "base/budget.h"
#include "policy/slimstate/range.h"

struct slim_set {
    uint64_t *word;       /* owns; NULL: empty */
    uint64_t words;       /* of memory */
    uint64_t first, last; /* of its members, if it has any; first > last: none */
};
#define SLIM_SET_EMPTY ((struct slim_set){.first = UINT64_MAX})
static inline bool slim_set_empty(const struct slim_set *s)
{
    return s->first > s->last;
}
static inline bool slim_set_has(const struct slim_set *s, uint64_t i)
{
    return s->word && i / 64 < s->words && s->word[i / 64] >> i % 64 & 1;
}
/* Adds i, one of 0..n-1. False: the budget does not allow for it. */
bool slim_set_add(struct slim_set *s, uint64_t n, uint64_t i, struct budget *b);
uint64_t slim_set_next(const struct slim_set *s, uint64_t i); /* from i on; UINT64_MAX: none */
void slim_set_clear(struct slim_set *s);                      /* keeps its memory */
void slim_set_free(struct slim_set *s, struct budget *b);
/* The set as a strided range; false: it is none. The set is not empty. */
bool slim_set_range(const struct slim_set *s, struct slim_range *r);
/* The gcd of n and of all indices at which it begins or ends: the largest block size that it is
 * made of. */
uint64_t slim_set_block(const struct slim_set *s, uint64_t n);
/* Whether the set has all or none of each part of STRIDE(by). */
bool slim_set_strided(const struct slim_set *s, uint64_t n, uint64_t by);

#endif
