/* sim.h - what the command line needs of sim/ beyond the library's public header: the tables'
 * rows, JSON, and what it puts beside a run's results. */
#ifndef LARDSIM_SIM_H
#define LARDSIM_SIM_H

#include "base/budget.h"
#include "base/json.h"
#include "base/param.h"
#include "sim/lardsim.h"
#include "trace/trace.h"

/* A row of a paper's machine: what it sets, and who says so. */
struct machine_setting {
    const char *preset, *key, *value;
    const char *basis;          /* "printed", "published", "recalled", "assumed" */
    const char *source, *range; /* range: to sweep; empty where it is certain */
};
void sim_each_machine(void (*fn)(void *arg, const struct machine_setting *row), void *arg);

/* Calls fn(arg, section, row) for every parameter there is: "" for the top level, "policy.vc", ...
 * A policy's section stands under its own name; an instance's label takes its place in a run. */
void sim_each_param(void (*fn)(void *arg, const char *section, const struct param *row), void *arg);
/* The table of knobs that could not matter: session/findings.def. */
void sim_each_finding(void (*fn)(void *arg, const char *key, const char *text, const char *zero,
                                 const char *given, const char *parameters),
                      void *arg);

/* An event of a trace, with its second record if it has one, as lardsim_event takes it. */
struct lardsim_event sim_event(const struct event *ev);
void sim_record(const struct lardsim_event *ev, struct event rec[static EVENT_RECORDS]);
/* An object as the library has it; names: NULL: without that of its site. */
struct object_place;
struct lardsim_object sim_object(const struct names *names, const struct object_place *p);
/* A source as the library has it, and back; takes it, NULL gives NULL. */
struct lardsim_source *sim_adopt(struct source *inner);
struct source *sim_source(struct lardsim_source *s);
/* The hash of the configuration without its source: equal for equal configurations. */
uint64_t sim_config_hash(const struct lardsim *l);
/* Returns the run's budget: memory of the caller that grows with the run is charged here, and stops
 * the run, too. */
struct budget *sim_memory(struct lardsim *l);
/* Returns the reservation about the run's events that a reader of its results needs; NULL: there is
 * none. */
const char *sim_caveat(const struct lardsim *l);
const char *sim_why(size_t i); /* the reasons of differences, in their order; NULL past the last */

/* ---- members of a JSON object that is open ----------------------------------------------------
 */

/* "truth", "policies", "listed", "unlisted": after lardsim_finish. */
void sim_compare_json(const struct lardsim *l, struct json *j);
/* The members that tell of an access; that of the earlier one, which may be unknown. */
void sim_side_json(struct json *j, const struct lardsim_side *s);
void sim_earlier_json(struct json *j, const struct lardsim_side *s);
void sim_difference_json(struct json *j, const struct lardsim_difference *d);

#endif
