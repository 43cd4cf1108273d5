/* lives.h - the places of a trace as they would be if no memory were used twice, and nothing moved.
 *
 * A life of memory begins where an object is allocated, and where memory is reclaimed: whatever is
 * there next is something else. A copy carries a life to another address. Each life has a place of
 * its own, which no address of a program reaches. By allocations and moves alone: it knows nothing
 * of histories, and shares no code with what keeps them. */
#ifndef LARDSIM_LIVES_H
#define LARDSIM_LIVES_H

#include "base/map.h"
#include "trace/trace.h"

struct life_map {
    struct map page; /* of 4 KiB -> struct life_page *, owns */
    uint64_t next;   /* the next place */
};
void life_map_init(struct life_map *l);
void life_map_free(struct life_map *l);
void life_map_follow(struct life_map *l, const struct event *ev);
/* Returns the byte's place in its life. Memory that was never allocated and never reclaimed is its
 * own place; bytes of one object have places that follow each other. */
sim_addr life_map_place(const struct life_map *l, sim_addr addr);

#endif
