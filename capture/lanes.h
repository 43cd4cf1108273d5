/* lanes.h - the reading end of the ring: the records of all lanes, in their order. */
#ifndef LARDSIM_CAPTURE_LANES_H
#define LARDSIM_CAPTURE_LANES_H

#include "capture/ring.h"

struct lanes;
struct lanes *lanes_new(struct ring *r); /* the ring is borrowed */
void lanes_free(struct lanes *l);
/* No thread writes any more: what is not there will not come. */
void lanes_ended(struct lanes *l);

struct lanes_next {
    uint16_t thread;
    size_t small;                 /* so many plain accesses that lie together; 0: a record */
    const struct ring_slot *slot; /* theirs; borrowed until the next call */
    struct ring_record record;    /* no stamps, owners, ticks */
};
/* Gets the next record, or at most `most` accesses. False: there is nothing yet. */
bool lanes_next(struct lanes *l, size_t most, struct lanes_next *to);

uint64_t lanes_lost(const struct lanes *l);   /* at the end: records that were begun, and no more */
uint64_t lanes_broken(const struct lanes *l); /* that no thread can have written so */

#endif
