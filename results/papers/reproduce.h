/* reproduce.h - one run of a program for LARD's Tables 2 and 3: the six detectors, and the truth.
 */
#ifndef LARDSIM_REPRODUCE_H
#define LARDSIM_REPRODUCE_H

#include "results/job/progress.h"

/* In order of the table's columns, as the preset lard-table3 labels them. */
enum view_id {
    VIEW_LARD,
    VIEW_ALL_MEMORY,
    VIEW_ALL_SYNC,
    VIEW_NO_CLEAR,
    VIEW_NO_COPY,
    VIEW_NAIVE,
    VIEWS
};
extern const char *const view_names[]; /* NULL ends it */

struct tally { /* of accesses */
    uint64_t accesses;
    uint64_t sites;  /* distinct known ones of those */
    uint64_t system; /* accesses of the runtime system among them */
    uint64_t system_sites;
};
struct measured {
    uint64_t events, uses_again, uses_moved,
        system; /* all but the first: results/papers/abstract.h */
    struct tally truth;
    struct {
        struct tally races, falses, missed;
    } view[VIEWS];
};
/* A workload, or the trace of a capture. Two parts of the progress. 0 or -1. */
enum { REPRODUCE_PARTS = 2 };
int reproduce_measure(const char *source, struct measured *to, struct progress *progress,
                      struct err *e);

#endif
