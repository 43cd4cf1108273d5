/* replacement.h - a rule that chooses victims: what a file in cache/replacement/ fills in. A rule
 * is such a file, a line in replacements.def and one in cache.mk; parameters, help and tests follow
 * from the table.
 *
 * A cache tells its rule of each hit and fill, and asks it for a victim when all slots of a set are
 * taken. The rule's state is c->order: so many words as it asks for, 0 at first. It reads no clock
 * but cache_stamp. */
#ifndef LARDSIM_REPLACEMENT_H
#define LARDSIM_REPLACEMENT_H

#include "cache/cache.h"

/* Whether a slot may go; NULL: each may. Asked in no certain order, and possibly twice. */
typedef bool may_fn(void *arg, uint32_t slot);

struct replacement {
    const char *name;
    /* The words of c->order; NULL: one for each slot. */
    uint64_t (*words)(const struct cache *c);
    /* Refuses a geometry that the rule can't do with; `name` begins the message. NULL: it does with
     * any. */
    int (*check)(const struct cache_geometry *g, const char *name, struct err *e);
    void (*hit)(struct cache *c, uint32_t slot);  /* NULL: it does not matter */
    void (*fill)(struct cache *c, uint32_t slot); /* NULL: as a hit */
    /* Returns one of the set's slots [first, first + c->ways) that may go, or CACHE_NONE. Asked
     * again, it returns the same, but for chance and ageing. */
    uint32_t (*victim)(struct cache *c, uint32_t first, may_fn *may, void *arg);
    /* The rule has an order of all slots, by the stamps in c->order, as LRU and FIFO have:
     * cache_last takes the slot with the least stamp even if another one is free. */
    bool ordered;
};
#define REPLACEMENT(NAME, name) extern const struct replacement replacement_##name;
#include "cache/replacements.def"
#undef REPLACEMENT

/* For rules with stamps: the slot with the least that may go, the lowest of several. */
uint32_t cache_oldest(struct cache *c, uint32_t first, may_fn *may, void *arg);

#endif
