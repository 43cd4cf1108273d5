/* random.c - any line goes, each as likely. */
#include "cache/replacement.h"

/* Counts those that may go, then draws one of them. */
static uint32_t any(struct cache *c, uint32_t first, may_fn *may, void *arg)
{
    if (!may)
        return first + (uint32_t)rng_below(&c->rng, c->ways);
    uint32_t n = 0;
    for (uint32_t i = first; i < first + c->ways; i++)
        n += may(arg, i);
    if (n == 0)
        return CACHE_NONE;
    uint64_t skip = rng_below(&c->rng, n);
    for (uint32_t i = first;; i++)
        if (may(arg, i) && skip-- == 0)
            return i;
}

static uint64_t no_words(const struct cache *c)
{
    (void)c;
    return 0;
}

const struct replacement replacement_random = {
    .name = "random",
    .words = no_words,
    .victim = any,
};
