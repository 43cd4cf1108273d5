/* map.h - a hash table from a number to a number, of what a live run has to remember. */
#ifndef LARD_MAP_H
#define LARD_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lard_map_slot {
    uint64_t key, value;
    bool used;
};
struct lard_map { /* all zero: empty */
    struct lard_map_slot *slot;
    size_t used, mask;
};

uint64_t *lard_map_find(const struct lard_map *m,
                        uint64_t key); /* NULL: not there; valid until the next put */
bool lard_map_put(struct lard_map *m, uint64_t key, uint64_t value); /* false: no memory */
void lard_map_remove(struct lard_map *m, uint64_t key);
void lard_map_free(struct lard_map *m);

#endif
