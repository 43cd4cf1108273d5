/* region.h - which accesses of a stream conflict with an ongoing region of another thread,
 * straight from the definition (Valor, section 3; docs/events.md for what an event is): an access
 * that conflicts with an access already executed in a region of another thread that has not ended.
 * No epochs, no versions, no logs: every access is kept, and every pair is looked at.
 *
 * What ends a region, for release-free regions: whatever publishes in the sense of docs/events.md.
 *   - outermost release, wait-enter, fork, volatile write, barrier arrival, class-init, end, the
 *     commit of a transaction that has accesses, an atomic access with a release order that writes,
 *     writevc of a thread's own entry;
 *   - a join of a thread without an `end`, which publishes that thread's clock, ends its region.
 * Synchronisation-free regions end there and before whatever takes:
 *   - outermost acquire, wait-exit, volatile read, barrier departure, class-use, join, `start`, the
 *     first event of a thread that was forked, the same commit, an atomic access with an acquire
 *     order that reads, and writevc of another's entry.
 * An event that the view does not heed ends nothing. Nor does an inner acquire or release of a
 * nested monitor, an empty commit, notify, a heap event, a collection, or `thread`.
 *
 * Accesses. An acquire order ends the region before its access, a release order after it. In-txn
 * accesses happen at their commit, between its two ends: where the view heeds the commit, no region
 * with them goes on, so two transactions never conflict. Two atomic accesses never conflict. With
 * no-thread the regions are the kernel threads'.
 * A clear ends the life of its locations: what was accessed before it conflicts with nothing after.
 * A copy's destination begins a life in which the source's accesses have been executed (they belong
 * to the object that moved), in the regions in which they were; the source keeps them, too. */
#ifndef LARDSIM_TESTS_ORACLE_REGION_H
#define LARDSIM_TESTS_ORACLE_REGION_H

#include "trace/trace.h"

struct region_options {
    bool sync_free;   /* else release-free */
    unsigned granule; /* 1, 2, 4, 8; 0: field */
    unsigned view;    /* bits as oracle.h has them */
};

/* One for each location and earlier access. `event` and `earlier` are commits for in-txn accesses;
 * `access` and `earlier_access` are always the accesses themselves. Event numbers, from 0. */
struct region_conflict {
    size_t event, access, earlier, earlier_access;
    uint8_t kind, earlier_kind; /* of the accesses */
    sim_addr location;          /* where its granule begins, or the field's address */
};

struct region_location { /* a location, in one life, that has a conflict */
    sim_addr addr;       /* at that time */
    size_t event;        /* its first conflict; a copy of a location that had one is not counted */
};

struct region_oracle;

/* The stream obeys the rules. NULL: it can't be judged with these options, as in oracle.h. */
struct region_oracle *region_oracle_new(const struct event *rec, size_t records,
                                        const struct region_options *is);
void region_oracle_free(struct region_oracle *o);
/* In order of `event`. */
size_t region_oracle_conflicts(const struct region_oracle *o, const struct region_conflict **first);
size_t region_oracle_locations(const struct region_oracle *o, const struct region_location **first);

#endif
