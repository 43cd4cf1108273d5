/* simulate.h - a run on a simulated machine: from the session's events to the machine and back to
 * the policies. Recorded order: event by event as they come. Timed order: through the window. */
#ifndef LARDSIM_SIMULATE_H
#define LARDSIM_SIMULATE_H

#include "sim/compare/compare.h"
#include "sim/scheduler/scheduler.h"

/* Makes the machine of the configuration, if it has one, or lets its parameters be known. */
int simulate_begin(struct lardsim *l);
void simulate_free(struct lardsim *l);

/* Recorded order: the event runs on its thread's core, then the policies see it. */
void simulate_event(struct lardsim *l, const struct event *ev);

/* Timed order. */
int simulate_source(struct lardsim *l, struct source *s);
int simulate_push(struct lardsim *l, const struct event *ev);
/* Adds what was taken of the latest batch to the hash. */
void simulate_taken(const struct lardsim *l, struct digest *identity);
bool simulate_timed(const struct lardsim *l);

/* What is left runs, the machine's totals are brought up to date. */
void simulate_finish(struct lardsim *l);
void simulate_region(struct lardsim *l, bool begins); /* before the statistics hear of it */

/* What policies get of the machine; nothing where there is none. After simulate_begin. */
void simulate_host(struct lardsim *l, struct checker_env *env);
/* It has been made: what it hears of the machine, if there is one. */
void simulate_checker(struct lardsim *l, const struct checker *c);

/* ---- what session.c has for it -------------------------------------------------------------- */

/* The source's next batch. Empty: the end. */
int session_read(struct lardsim *l, struct batch *b);
void session_region(struct lardsim *l, bool inside); /* of interest */
int session_limit(struct lardsim *l);                /* limits.events is reached: an error */

#endif
