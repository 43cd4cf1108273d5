/* timeline.h - what each core did in a window of time, as a file that Perfetto and Chrome show
 * (docs/results.md). */
#ifndef LARDSIM_TIMELINE_H
#define LARDSIM_TIMELINE_H

#include "sim/machine/machine.h"

extern const struct param timeline_param_rows[]; /* section timeline */

/* NULL: an error is set. A file that is there is replaced, when all is written. */
struct timeline *timeline_new(const char *path, bool replace, struct config *config, unsigned cores,
                              struct err *e);
/* Names the event that the core is charged for from now on. */
void timeline_event(struct timeline *t, unsigned core, const struct event *ev, uint64_t number);
/* Hears of all cycles, as they are charged. */
void timeline_spent(struct timeline *t, unsigned core, enum spent what, sim_cycle from,
                    uint64_t cycles);
/* Writes the rest; frees t. NULL is fine. */
int timeline_close(struct timeline *t, struct err *e);
void timeline_abort(struct timeline *t); /* nothing is left; NULL is fine */
/* timeline.max was reached, in this cycle. */
bool timeline_cut(const struct timeline *t, sim_cycle *at);

#endif
