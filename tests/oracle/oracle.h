/* oracle.h - which accesses of a stream race, straight from the definition in docs/events.md:
 * reachability in the graph of events, no clocks. It knows nothing of the product but the event.
 *
 * Cost: the square of the number of events, in bits and in steps. Meant for up to some thousand. */
#ifndef LARDSIM_TESTS_ORACLE_H
#define LARDSIM_TESTS_ORACLE_H

#include "trace/trace.h"

enum { /* bits of a view, restated */
       ORACLE_ALL_MEMORY = 1,
       ORACLE_ALL_SYNC = 2,
       ORACLE_NO_CLEAR = 4,
       ORACLE_NO_COPY = 8,
       ORACLE_NO_THREAD = 16,
       /* Not of a view: which commits are ordered where it is not those that share a variable
        * (Goldilocks, section 3). Two accesses in transactions whose commits count then never race
        * by themselves. */
       ORACLE_ALL_COMMITS = 32,
       ORACLE_WRITE_TO_READ = 64, /* one that reads what an earlier one wrote */
       /* Nor these: kinds of conflict that count for nothing, though the accesses are remembered.
        */
       ORACLE_NO_WRITE_AFTER_WRITE = 128,
       ORACLE_NO_READ_AFTER_WRITE = 256,
       ORACLE_NO_WRITE_AFTER_READ = 512,
       ORACLE_NO_ATOMICS = 1024 /* an atomic access with a plain one */
};

struct oracle_options {
    bool history_all; /* else last */
    unsigned granule; /* 1, 2, 4, 8; 0: field */
    unsigned view;    /* bits from above */
};

/* Two accesses that race. A transaction's take effect at its commit: `event` and `earlier` are then
 * commits; `access` and `earlier_access` are always the accesses themselves. Event numbers, from 0.
 */
struct oracle_pair {
    size_t event, access, earlier, earlier_access;
    sim_addr location; /* where its granule begins, or the field's address */
};

struct oracle_location { /* a location, in one life, that has a race */
    sim_addr addr;       /* at that time */
    size_t event;        /* its first race */
};

struct oracle;

/* The stream obeys the rules. NULL: it can't be judged with these options (raw clock writes without
 * thread identity, or a heap region that is not aligned to the granule). Borrows rec. */
struct oracle *oracle_new(const struct event *rec, size_t records, const struct oracle_options *o);
void oracle_free(struct oracle *o);
size_t oracle_events(const struct oracle *o);
bool oracle_racy(const struct oracle *o, size_t event);
/* The pairs of a racy event, one for each location and history entry that it conflicts with. */
size_t oracle_pairs(const struct oracle *o, size_t event, const struct oracle_pair **first);
size_t oracle_locations(const struct oracle *o, const struct oracle_location **first);

/* Event a is b, or happens before it. (A transaction's accesses happen with their commit.) */
bool oracle_before(const struct oracle *o, size_t a, size_t b);

/* All in one: racy has a value for each event. 0, or -1 as NULL above. */
int oracle_run(const struct event *rec, size_t records, const struct oracle_options *o, bool *racy);

#endif
