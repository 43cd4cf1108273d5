/* interval.h - statistics by interval of simulated time: intervals.csv (docs/results.md). Whoever
 * runs the machine says when an interval is over. */
#ifndef LARDSIM_INTERVAL_H
#define LARDSIM_INTERVAL_H

#include "sim/machine/machine.h"

struct intervals_env { /* borrowed */
    struct config *config;
    const struct stats *stats; /* complete when the first row is written */
    struct machine *machine;
    /* Makes intervals.csv, when the first row is written. NULL: there is no results folder. */
    FILE *(*open)(void *host, struct err *e);
    void *host;
    struct err *err;
};

extern const struct param interval_param_rows[]; /* section stats */

/* NULL: none are wanted, or an error is set. Sets machine->interval_end. */
struct intervals *intervals_new(const struct intervals_env *env);
void intervals_free(struct intervals *i);
/* All that begins before `now` has been charged: rows up to the last end of an interval that is not
 * later. NULL is fine. */
void intervals_pass(struct intervals *i, sim_cycle now);
void intervals_finish(struct intervals *i); /* what is left, when all totals are final; NULL too */

#endif
