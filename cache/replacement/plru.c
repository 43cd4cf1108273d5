/* plru.c - a binary tree over the ways; each node points away from the half that was used last, and
 * the victim is where the nodes point. At a node whose half has no slot that may go, it is in the
 * other half. */
#include "cache/replacement.h"

#include <inttypes.h>

/* Nodes are numbered as in a binary heap: 1 is the root, 2n and 2n + 1 are below n, and node
 * ways + w stands for way w. A node's bit names the half that the victim is in. */

static uint32_t *tree_of(const struct cache *c, uint32_t first)
{
    return c->order + (uint64_t)(first >> __builtin_ctz(c->ways)) * c->tree_words;
}

/* All nodes above the slot now point away from it. */
static void tree_use(struct cache *c, uint32_t slot)
{
    const uint32_t way = slot & (c->ways - 1);
    uint32_t *tree = tree_of(c, slot - way);

    for (uint32_t node = c->ways + way; node > 1; node /= 2) {
        const uint32_t above = node / 2;
        const uint32_t other = ~node & 1;
        tree[above / 32] &= ~(UINT32_C(1) << above % 32);
        tree[above / 32] |= other << above % 32;
    }
}

/* The victim below a node: where its bit says, or in the other half if no slot there may go. */
static uint32_t tree_pick(const struct cache *c, uint32_t first, uint32_t node, may_fn *may,
                          void *arg)
{
    if (node >= c->ways) {
        const uint32_t slot = first + node - c->ways;
        return !may || may(arg, slot) ? slot : CACHE_NONE;
    }
    const uint32_t half = tree_of(c, first)[node / 32] >> node % 32 & 1;
    const uint32_t slot = tree_pick(c, first, 2 * node + half, may, arg);
    return slot != CACHE_NONE ? slot : tree_pick(c, first, 2 * node + !half, may, arg);
}

static uint32_t tree_victim(struct cache *c, uint32_t first, may_fn *may, void *arg)
{
    return tree_pick(c, first, 1, may, arg);
}

static uint64_t tree_words(const struct cache *c)
{
    return (uint64_t)c->sets * c->tree_words;
}

static int check_ways(const struct cache_geometry *g, const char *name, struct err *e)
{
    if ((g->ways & (g->ways - 1)) == 0)
        return 0;
    const uint32_t below = UINT32_C(1) << (31 - __builtin_clz(g->ways));
    return err_set(e, LARD_CONFIG,
                   "%s: the tree of plru needs a power of two of ways, not %" PRIu32
                   "; give %" PRIu32 " or %" PRIu32 " ways, or the replacement lru",
                   name, g->ways, below, 2 * below);
}

const struct replacement replacement_plru = {
    .name = "plru",
    .words = tree_words,
    .check = check_ways,
    .hit = tree_use,
    .victim = tree_victim,
};
