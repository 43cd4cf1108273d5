/* interval.h - sets of bytes, and maps from bytes to marks. */
#ifndef LARDSIM_BASE_INTERVAL_H
#define LARDSIM_BASE_INTERVAL_H

#include <stdint.h>

struct budget;

/* Ordered, disjoint, never adjacent intervals; a set is its root, NULL: empty. Bounds are
 * inclusive, so that the last address needs no care. */
struct interval {
    struct interval *kid[2];
    uint64_t lo, last;
    int height;
    uint32_t mark; /* of a map; 0: this is a set */
};
void interval_add(struct budget *b, struct interval **set, uint64_t lo, uint64_t last);
void interval_remove(struct budget *b, struct interval **set, uint64_t lo, uint64_t last);
/* The part of the set in `to` becomes what the part in `from` is. The regions may overlap. */
void interval_move(struct budget *b, struct interval **set, uint64_t to, uint64_t from,
                   uint64_t bytes);
/* The lowest interval that ends at or after x; that shares a byte with lo..last. NULL: none. */
struct interval *interval_reaching(struct interval *set, uint64_t x);
struct interval *interval_meeting(struct interval *set, uint64_t lo, uint64_t last);
/* How many bytes of lo..last are in it. */
uint64_t interval_bytes(struct interval *set, uint64_t lo, uint64_t last);
/* A map has marks, of 1 or more, for bytes: removed and moved as a set's bytes are. What was marked
 * apart stays apart. */
void interval_mark(struct budget *b, struct interval **map, uint64_t lo, uint64_t last,
                   uint32_t mark);
void interval_free(struct budget *b, struct interval **set); /* leaves it empty */

#endif
