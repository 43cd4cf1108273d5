/* srrip.c - re-reference intervals of 2 bits (Jaleel et al., ISCA 2010, hit priority): "long", 2,
 * at a fill, "near", 0, at a hit. The victim is the lowest slot that has "distant", 3; as long as
 * there is none the whole set ages by one. Where some slots may not go, the set ages until one that
 * may has 3, and others stay at 3. */
#include "cache/replacement.h"

enum { SRRIP_FILL = 2, SRRIP_VICTIM = 3 };

/* The set ages until some interval is 3: all that at once. */
static void age(struct cache *c, uint32_t first, uint32_t by)
{
    for (uint32_t i = first; i < first + c->ways; i++)
        c->order[i] = c->order[i] + by < SRRIP_VICTIM ? c->order[i] + by : SRRIP_VICTIM;
}

/* The largest interval, the lowest slot of these. */
static uint32_t farthest(struct cache *c, uint32_t first, may_fn *may, void *arg)
{
    uint32_t best = CACHE_NONE;

    for (uint32_t i = first; i < first + c->ways; i++)
        if ((best == CACHE_NONE || c->order[i] > c->order[best]) && (!may || may(arg, i)))
            best = i;
    if (best != CACHE_NONE && c->order[best] < SRRIP_VICTIM)
        age(c, first, SRRIP_VICTIM - c->order[best]);
    return best;
}

static void near(struct cache *c, uint32_t slot)
{
    c->order[slot] = 0;
}

static void fill(struct cache *c, uint32_t slot)
{
    c->order[slot] = SRRIP_FILL;
}

const struct replacement replacement_srrip = {
    .name = "srrip",
    .hit = near,
    .fill = fill,
    .victim = farthest,
};
