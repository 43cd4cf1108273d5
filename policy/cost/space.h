/* space.h - how much memory a policy's metadata take beside the program's own: docs/layout.md,
 * "Space". On a machine only. */
#ifndef LARDSIM_SPACE_H
#define LARDSIM_SPACE_H

#include "base/budget.h"
#include "base/interval.h"
#include "base/stats.h"
#include "trace/trace.h"

/* Live memory: allocated or copied to, and not cleared since, as events run. */
struct live_heap {
    struct interval *allocated; /* owns */
    struct budget budget;
    bool allocates; /* the trace says what is allocated */
    uint64_t live, peak;
};
void live_heap_free(struct live_heap *h);
void live_heap_event(struct live_heap *h, const struct event *ev); /* that places: as it has run */

/* A policy's memory beside the heap: in software its metadata as it lays them out, in hardware its
 * manager's tables, records and blocks. The statistics that count it say how much that is, so they
 * can't disagree with this. Lines of histories on chip are no memory. Looked at when a full
 * collection has ended (000 6.4: "the maximum memory used after any full-heap garbage
 * collection"). */
struct space {
    const struct live_heap *heap; /* borrows; NULL: nobody looks */
    const struct stats *stats;    /* borrows; they have */
    const char *label;            /* borrows; of the policy, these two: */
    const char *live, *peak;
    uint64_t collections;                    /* full ones */
    uint64_t heap_most, metadata_most, most; /* after one; most: of both together */
    uint64_t heap_sum, metadata_sum, heap_mean, metadata_mean;
    uint64_t overhead, mean_overhead; /* permille */
};
/* g: of the policy, which has declared its own by now. One that counts no metadata has no space. */
void space_init(struct space *s, const struct live_heap *heap, const struct stats *stats,
                const char *label, struct stats_group *g);
void space_look(struct space *s);   /* a full collection has ended */
void space_finish(struct space *s); /* the run has */

#endif
