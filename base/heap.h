/* heap.h - a binary heap: the least key comes first; of equal keys, the least order. */
#ifndef LARDSIM_HEAP_H
#define LARDSIM_HEAP_H

#include <stdbool.h>

#include "base/base.h"

struct heap_slot {
    uint64_t key, order;
    uint64_t value; /* the owner's */
};
struct heap {
    struct heap_slot *slot; /* owns; the first is the least */
    size_t n, cap;          /* the owner makes it grow (xgrow) */
};

static inline bool heap_before(const struct heap_slot *a, const struct heap_slot *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* There is room for it. */
static inline void heap_push(struct heap *h, struct heap_slot s)
{
    size_t i = h->n++;

    for (; i && heap_before(&s, &h->slot[(i - 1) / 2]); i = (i - 1) / 2)
        h->slot[i] = h->slot[(i - 1) / 2];
    h->slot[i] = s;
}

/* The key of the first has grown: it goes down to its place. */
static inline void heap_settle(struct heap *h)
{
    const struct heap_slot s = h->slot[0];
    size_t i = 0;

    for (size_t kid; (kid = 2 * i + 1) < h->n; i = kid) {
        kid += kid + 1 < h->n && heap_before(&h->slot[kid + 1], &h->slot[kid]);
        if (!heap_before(&h->slot[kid], &s))
            break;
        h->slot[i] = h->slot[kid];
    }
    h->slot[i] = s;
}

/* There is a first one. */
static inline struct heap_slot heap_pop(struct heap *h)
{
    const struct heap_slot top = h->slot[0];

    h->slot[0] = h->slot[--h->n];
    if (h->n)
        heap_settle(h);
    return top;
}

#endif
