/* space.h - how much memory a policy's metadata take beside the program's own: docs/layout.md,
 * "Space". On a machine only. */
#ifndef LARDSIM_SPACE_H
#define LARDSIM_SPACE_H

#include "base/base.h"
#include "base/stats.h"
#include "trace/trace.h"

/* What the program has allocated or copied to and not cleared, as events run. */
struct live_heap {
    struct interval *allocated; /* owns */
    struct budget budget;
    bool allocates; /* the trace says what is allocated */
    uint64_t live, peak;
};
void live_heap_free(struct live_heap *h);
void live_heap_event(struct live_heap *h, const struct event *ev); /* that places: as it has run */

/* Of a policy: looked at when a full collection has ended (000 6.4: "the maximum memory used after
 * any full-heap garbage collection"). */
struct space {
    const struct live_heap *heap;            /* borrows; NULL: nobody looks */
    const struct budget *metadata;           /* borrows */
    uint64_t collections;                    /* full ones */
    uint64_t heap_most, metadata_most, most; /* after one; most: of both together */
    uint64_t heap_sum, metadata_sum, heap_mean, metadata_mean;
    uint64_t overhead, mean_overhead; /* permille */
};
void space_init(struct space *s, const struct live_heap *heap, const struct budget *metadata,
                struct stats_group *g);
void space_look(struct space *s);   /* a full collection has ended */
void space_finish(struct space *s); /* the run has */

#endif
