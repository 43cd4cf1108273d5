/* overhead.h - the overhead of a policy: how much longer the machine takes with it than without.
 * Every verb that tells an overhead takes it from here (docs/compare.md, "Region and whole run").
 *
 * `overhead` is of the region of interest where the source marks one, else of the whole run;
 * `overhead-whole` is of the whole run in any case, with its set-up. The base is the run without a
 * policy: of the same source, seed and machine. */
#ifndef LARDSIM_OVERHEAD_H
#define LARDSIM_OVERHEAD_H

#include "results/results.h"

struct run_time { /* the time of one run, in cycles */
    uint64_t whole, region;
    bool has_whole, has_region; /* the run has a machine; its source marks a region */
};
/* The statistics that say it. */
#define RUN_TIME_WHOLE  "machine.cycles"
#define RUN_TIME_REGION "roi.machine.cycles"
struct run_time run_time_of(const struct cell_stats *s);
/* value: of one of the two; others change nothing. */
void run_time_take(struct run_time *t, const char *stat, const char *value);
/* "region" or "run": what `overhead` is of. "": no machine. */
const char *run_time_measured(const struct run_time *t);

enum overhead_of { OVERHEAD, OVERHEAD_WHOLE, OVERHEADS };
extern const char *const overhead_name[OVERHEADS]; /* names of columns, keys and measures */
extern const char overhead_measured_name[];        /* the name of what run_time_measured says */

struct overhead {
    uint64_t with, without; /* cycles; without is 0: it is not known */
};
struct overhead overhead_of(const struct run_time *with, const struct run_time *without,
                            enum overhead_of which);
double overhead_value(struct overhead o); /* with / without - 1; NAN: not known */
char *overhead_text(struct overhead o);   /* the same, to a millionth; "": not known; owned */

#endif
