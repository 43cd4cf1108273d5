/* lives.h - the places of a trace as they would be if no memory were used twice, and nothing moved.
 *
 * A life of memory begins where an object is allocated, and where memory is reclaimed: whatever is
 * there next is something else. A copy carries a life to another address. Each life has a place of
 * its own, which no address of a program reaches. By allocations and moves alone: it knows nothing
 * of histories, and shares no code with what keeps them. */
#ifndef LARDSIM_LIVES_H
#define LARDSIM_LIVES_H

#include "trace/trace.h"

struct lives {
    struct map page; /* of 4 KiB -> struct life_page *, owns */
    uint64_t next;   /* the next place */
};
void lives_init(struct lives *l);
void lives_free(struct lives *l);
void lives_follow(struct lives *l, const struct event *ev);
/* Where a byte stands in its life. What was never allocated and never reclaimed stands where it is;
 * bytes of one object have places that follow each other. */
sim_addr lives_place(const struct lives *l, sim_addr addr);

#endif
