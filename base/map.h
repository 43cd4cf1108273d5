/* map.h - open addressing, 64-bit key to 64-bit value. */
#ifndef LARDSIM_MAP_H
#define LARDSIM_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct budget;

struct map_slot {
    uint64_t key, value;
};
struct map {                  /* all zero is an empty one that charges nobody */
    struct map_slot *slots;   /* owns; NULL while it never had an entry */
    size_t mask, n;           /* capacity - 1; entries, `sentinel` included */
    unsigned shift;           /* 64 less the bits of mask */
    struct map_slot sentinel; /* the entry of the key that marks empty slots */
    bool has_sentinel;
    struct budget *budget; /* borrows; may be NULL */
};

void map_init(struct map *m, struct budget *budget);
void map_free(struct map *m);                         /* leaves an empty map */
static inline uint64_t map_bytes(const struct map *m) /* on the host; what it charges */
{
    return m->slots ? (m->mask + 1) * sizeof *m->slots : 0;
}
/* Inline, as shadow pages are found with it. */
#define MAP_EMPTY UINT64_C(0x8c1f5e0d3b7a9246) /* any number unlikely as an address or a count */
/* Page numbers and addresses differ in low bits, and many follow each other: the high bits of a
 * product with the golden ratio spread those evenly (Knuth, 6.4), so that they seldom meet. */
static inline size_t map_home(const struct map *m, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> m->shift);
}
/* The slot that holds key, or the empty one where it would go. Not for MAP_EMPTY. */
static inline struct map_slot *map_probe(const struct map *m, uint64_t key)
{
    size_t i = map_home(m, key);

    while (UNLIKELY(m->slots[i].key != key) && m->slots[i].key != MAP_EMPTY)
        i = (i + 1) & m->mask;
    return &m->slots[i];
}
uint64_t *map_find_sentinel(const struct map *m);
static inline uint64_t *map_find(const struct map *m,
                                 uint64_t key) /* NULL: none; valid until the next put/remove */
{
    if (UNLIKELY(key == MAP_EMPTY))
        return map_find_sentinel(m);
    if (UNLIKELY(!m->slots))
        return NULL;
    struct map_slot *s = map_probe(m, key);
    return LIKELY(s->key == key) ? &s->value : NULL;
}
uint64_t *map_put(struct map *m, uint64_t key); /* the value, 0 when new; valid as above */
bool map_remove(struct map *m, uint64_t key);   /* false: was not there */
/* Entries in an order that is the same in every run: start with *pos = 0; false at the end.
 * The map must not change meanwhile. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t **value);

#endif
