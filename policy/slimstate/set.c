/* set.c - sets of indices as bits, with the first and last member kept so that sparse use of a
 * large array is not searched in vain. */
#include "policy/slimstate/set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool slim_set_add(struct slim_set *s, uint64_t n, uint64_t i, struct budget *b)
{
    assert(i < n);
    if (!s->word) {
        s->words = (n + 63) / 64;
        budget_take(b, s->words * sizeof *s->word);
        if (budget_over(b)) {
            budget_give(b, s->words * sizeof *s->word);
            s->words = 0;
            return false;
        }
        s->word = xcalloc(s->words, sizeof *s->word);
    }
    s->word[i / 64] |= UINT64_C(1) << i % 64;
    if (slim_set_empty(s))
        s->first = s->last = i;
    s->first = i < s->first ? i : s->first;
    s->last = i > s->last ? i : s->last;
    return true;
}

/* The next index from i on in the set, or with flip the next that is not in it. */
static uint64_t next_of(const struct slim_set *s, uint64_t i, uint64_t flip)
{
    for (uint64_t w = i / 64; w < s->words; w++) {
        uint64_t bits = s->word[w] ^ flip;
        if (w == i / 64)
            bits &= ~UINT64_C(0) << i % 64;
        if (bits)
            return w * 64 + (uint64_t)__builtin_ctzll(bits);
    }
    return UINT64_MAX;
}

uint64_t slim_set_next(const struct slim_set *s, uint64_t i)
{
    if (slim_set_empty(s) || i > s->last)
        return UINT64_MAX;
    return next_of(s, i < s->first ? s->first : i, 0);
}

void slim_set_clear(struct slim_set *s)
{
    if (!slim_set_empty(s))
        memset(s->word + s->first / 64, 0,
               (size_t)(s->last / 64 - s->first / 64 + 1) * sizeof *s->word);
    s->first = UINT64_MAX;
    s->last = 0;
}

void slim_set_free(struct slim_set *s, struct budget *b)
{
    budget_give(b, s->words * sizeof *s->word);
    free(s->word);
    *s = SLIM_SET_EMPTY;
}

bool slim_set_range(const struct slim_set *s, struct slim_range *r)
{
    *r = SLIM_EMPTY;
    for (uint64_t i = s->first; i != UINT64_MAX; i = slim_set_next(s, i + 1))
        if (!slim_extend(r, i))
            return false;
    return true;
}

uint64_t slim_set_block(const struct slim_set *s, uint64_t n)
{
    uint64_t d = n;

    for (uint64_t b = slim_set_next(s, 0), e; b != UINT64_MAX && d > 1; b = slim_set_next(s, e)) {
        e = next_of(s, b, ~UINT64_C(0));
        e = e == UINT64_MAX ? s->words * 64 : e; /* to the last bit of the last word */
        d = slim_gcd(d, slim_gcd(b, e));
    }
    return d;
}

bool slim_set_strided(const struct slim_set *s, uint64_t n, uint64_t by)
{
    for (uint64_t i = by; i < n; i++)
        if (slim_set_has(s, i) != slim_set_has(s, i - by))
            return false;
    return true;
}
