/* set.c - a lockset under evaluation: bits for the first actors, an open-addressed hash table for
 * all other elements. Elements are not removed, but all at once. */
#include "policy/goldilocks/goldilocks.h"

#include <stdlib.h>
#include <string.h>

/* The slot that has e, or the empty one where it would go. Multiplicative hashing: elements are
 * numbers in rows, which a mask alone would cluster. */
static uint32_t probe(const struct gold_set *s, gold_element e)
{
    uint32_t i = (uint32_t)((e * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (s->cap - 1);

    while (s->slot[i] && s->slot[i] != e)
        i = (i + 1) & (s->cap - 1);
    return i;
}

bool gold_set_find(const struct gold_set *s, gold_element e)
{
    return s->slot[probe(s, e)] == e;
}

static void resize(struct gold_set *s, uint32_t cap, struct budget *b)
{
    struct gold_set next = {.low = s->low, .n = s->n, .cap = cap};

    next.slot = xcalloc(cap, sizeof *next.slot);
    budget_take(b, cap * sizeof *next.slot);
    for (uint32_t i = 0; i < s->cap; i++)
        if (s->slot[i])
            next.slot[probe(&next, s->slot[i])] = s->slot[i];
    gold_set_free(s, b);
    *s = next;
}

void gold_set_add(struct gold_set *s, gold_element e, struct budget *b)
{
    if (e < GOLD_SET_LOW) {
        s->low |= UINT64_C(1) << e;
        return;
    }
    /* Half empty at least: probes stay short, and always end. */
    if (s->cap < 2 * (s->n + 1))
        resize(s, s->cap ? 2 * s->cap : 4, b);
    const uint32_t i = probe(s, e);
    s->n += s->slot[i] == 0;
    s->slot[i] = e;
}

void gold_set_clear(struct gold_set *s)
{
    if (s->n)
        memset(s->slot, 0, s->cap * sizeof *s->slot);
    s->low = 0;
    s->n = 0;
}

void gold_set_free(struct gold_set *s, struct budget *b)
{
    budget_give(b, s->cap * sizeof *s->slot);
    free(s->slot);
    *s = (struct gold_set){0};
}
