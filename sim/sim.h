/* sim.h - what the command line needs of sim/ beyond the library's public header: the tables, and
 * comparing policies. */
#ifndef LARDSIM_SIM_H
#define LARDSIM_SIM_H

#include "base/budget.h"
#include "base/err.h"
#include "base/json.h"
#include "base/param.h"
#include "base/stats.h"
#include "sim/lardsim.h"
#include "trace/trace.h"

extern const struct param run_param_rows[]; /* the top-level section */
extern const struct preset run_presets[];   /* presets by name */
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
/* Every statistic of a run with all policies, held against vc. */
void lardsim_each_stat(void (*fn)(void *arg, const char *name, const char *unit, const char *help),
                       void *arg);

/* An event of a trace, with its second record if it has one, as lardsim_event takes it. */
struct lardsim_event sim_event(const struct event *ev);
/* ---- what a run says of itself, and of an earlier one: session/provenance.c ------------------ */

/* The words of the command line, for provenance.json. Before lardsim_finish; once. */
void lardsim_command(struct lardsim *l, const char *const *word, size_t n);
/* The last text given so far for a parameter, as "source"; NULL: none. */
const char *lardsim_given(const struct lardsim *l, const char *parameter);
/* The complete configuration, a parameter a call, by name: text is what --set takes. Once started;
 * all of it from the first event on. */
void lardsim_each_setting(const struct lardsim *l,
                          void (*fn)(void *arg, const char *name, const char *text), void *arg);
/* The hash of the configuration without its source: equal for equal configurations. */
uint64_t sim_config_hash(const struct lardsim *l);
/* The digest of the events so far. */
uint64_t lardsim_identity(const struct lardsim *l);

/* Returns the run's budget: memory of the caller that grows with the run is charged here, and stops
 * the run, too. */
struct budget *sim_memory(struct lardsim *l);

/* The digest of what happened alone, without echoes of the configuration: two runs that differ in a
 * parameter that did not matter have the same. After lardsim_finish. */
uint64_t lardsim_behaviour(const struct lardsim *l);

/* ---- knobs that could not matter: session/findings.def --------------------------------------- */

struct lardsim_knob {
    char *parameter, *change; /* own; change: "any", "larger", "smaller", "multiple", or a value */
};
struct lardsim_finding {
    const char *key;
    char *sentence;            /* owns */
    struct lardsim_knob *knob; /* owns; none: a fact without a claim */
    size_t knobs;
};
struct lardsim_findings {
    struct lardsim_finding *at; /* owns */
    size_t n;
};
/* The findings of a run, after lardsim_finish; none if it stopped early. To be freed. */
struct lardsim_findings lardsim_findings(const struct lardsim *l);
void lardsim_findings_free(struct lardsim_findings *all);
/* The member "findings" of an object that is open. */
void lardsim_findings_json(const struct lardsim_findings *all, struct json *j);
/* The table: for list and explain. */
void sim_each_finding(void (*fn)(void *arg, const char *key, const char *text, const char *zero,
                                 const char *given, const char *parameters),
                      void *arg);

/* As lardsim_set, but messages and config.yaml name the origin: "sweep.yaml:7". */
int lardsim_set_from(struct lardsim *l, const char *assignment, const char *origin);
/* As lardsim_output, for a folder of the caller's own: see folder_private. */
int lardsim_output_private(struct lardsim *l, const char *dir);
/* Starts the run, and makes its parts as for a trace with this granularity (0: none is known);
 * writes its configuration in the form of config_canonical. Nothing is read, nor written to a
 * folder. */
int lardsim_resolve(struct lardsim *l, unsigned granularity, FILE *canonical);

/* The hash of all that was given before lardsim_start: if two are equal, so are their
 * configurations. */
uint64_t lardsim_given_hash(const struct lardsim *l);

/* ---- runs side by side over one reading of a source: session/shared.c ------------------------ */

struct lardsim_shared;
/* rules: hold the events against the stream rules, for runs whose trace.rules is on. keep: records
 * that a run goes through at its turn; 0: a batch, however long. NULL: error. */
struct lardsim_shared *lardsim_shared_open(const char *source, bool rules, size_t keep,
                                           struct err *e);
/* After lardsim_start, instead of lardsim_run. The reading outlives l. */
void lardsim_shared_add(struct lardsim_shared *s, struct lardsim *l);
/* Runs them all; ended is called for each that needs no more events: for lardsim_finish, and to
 * free it. -1: the source failed, or broke a rule; runs that have not ended can only be freed, and
 * each by itself says what its results are. */
int lardsim_shared_run(struct lardsim_shared *s, void (*ended)(void *arg, struct lardsim *l),
                       void *arg, struct err *e);
void lardsim_shared_stop(struct lardsim_shared *s); /* the source ends after the batch in hand */
bool lardsim_shared_stopped(const struct lardsim_shared *s);
void lardsim_shared_free(struct lardsim_shared *s);

/* A run on a machine keeps its events in the order in which the policies decided on them, as a
 * trace that begins with event 0; and in a file of uint64_t, their numbers in the recording. Also
 * of a run that stops early. Both are new files. Its source is pulled. Before lardsim_start. */
int lardsim_keep_executed(struct lardsim *l, const char *trace, const char *numbers);

/* Returns the reservation about the run's events that a reader of its results needs; NULL: there is
 * none. */
const char *sim_caveat(const struct lardsim *l);

/* ---- a run on a machine: session/on_machine.c ------------------------------------------------ */

/* The run writes a timeline to this file. Before lardsim_start. */
int lardsim_timeline(struct lardsim *l, const char *path, bool overwrite);
/* Whether a run of this source on a machine, with this choice of the parameter order, is in program
 * order. */
bool sim_asks(uint32_t order, const char *source);
/* After lardsim_finish: the timeline stops at this cycle, as it has timeline.max slices. */
bool lardsim_timeline_cut(const struct lardsim *l, uint64_t *at);
/* "order", "contention", "memory": as this run has it; NULL: no machine. From the first event on.
 */
const char *lardsim_machine_is(const struct lardsim *l, const char *what);

/* Cycles when the first step, 2 step, ... n step events were done: of the regions of interest, or
 * of the run where none is marked; and of all of them. */
enum { LARDSIM_COURSE_SAMPLES = 128 };
struct lardsim_course {
    uint64_t step;
    size_t n;
    uint64_t cycles[LARDSIM_COURSE_SAMPLES];
    uint64_t events, total;
};
/* After lardsim_finish. False: no machine, or no event. */
bool lardsim_course(const struct lardsim *l, struct lardsim_course *to);

/* ---- policies of a run held against one of them (docs/compare.md) --------------------------- */

int lardsim_compare(struct lardsim *l); /* this run compares; before lardsim_start */
/* Names the policies of the other runs that share this run's configuration: values for those
 * policies ("vc", "naive=vc") are no mistakes, and have no effect. Borrowed. Before lardsim_start.
 */
void lardsim_others(struct lardsim *l, const char *const *spec, size_t n);

struct lardsim_instance {         /* valid while l is */
    const char *label, *property; /* property: what it promises */
    bool truth;
    bool by_access; /* accesses are compared, too; else locations and pairs of sites alone */
    bool same;      /* so far: as the truth, accesses, or locations where those are not compared */
};
/* From the first event on. False: past the last. Counts are the statistics compare.<label>.... */
bool lardsim_compare_instance(const struct lardsim *l, size_t i, struct lardsim_instance *to);
const char *sim_why(size_t i); /* the reasons, in their order; NULL past the last */
/* "truth", "policies", "listed", "unlisted": into an object that is open. After lardsim_finish. */
void sim_compare_json(const struct lardsim *l, struct json *j);

struct lardsim_difference { /* valid during the call */
    const char *policy, *verdict, *of;
    struct lardsim_side is, earlier; /* as the one that reports names them */
    uint64_t noticed; /* the event at which it was told: that of the access, or a later one */
    uint64_t addr, location;
    const char *location_name;    /* NULL: not named */
    struct lardsim_object object; /* at addr; of a location or pair at location */
    uint32_t size;
    bool system;
    const char *reported_by, *why, *reason;
};
/* "object", "offset", "allocated", "allocated_at": into an object that is open. */
void sim_object_json(struct json *j, const struct lardsim_object *o);
void sim_difference_json(struct json *j, const struct lardsim_difference *d);
/* Called for each difference, compare.max times at most. Before lardsim_start. */
void lardsim_on_difference(struct lardsim *l,
                           void (*fn)(void *arg, const struct lardsim_difference *d), void *arg);

#endif
