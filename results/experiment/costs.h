/* costs.h - what policies cost: one source, run for each of them on a machine of its own. An
 * experiment with one axis, the policy. */
#ifndef LARDSIM_COSTS_H
#define LARDSIM_COSTS_H

#include "results/job/given.h"
#include "results/read/estimate.h"
#include "results/read/overhead.h"
#include "sim/lardsim.h"

/* ---- a run of each policy: machines.c ---------------------------------------------- */

enum compared_cost { /* what is shown of a run, beside where its cycles went */
                     COST_CORES,
                     COST_CORES_USED,
                     COST_CYCLES,
                     COST_RACES,
                     COST_SITES,
                     COST_LOCATIONS,
                     COST_METADATA,
                     COST_METADATA_MISSES,
                     COST_REMOTE,
                     COST_COLLECTIONS,       /* cycles of the policy's work as they begin and end */
                     COST_BYTES,             /* of metadata, at the end */
                     COST_BYTES_PEAK,        /* the most at any time */
                     COST_SPACE_COLLECTIONS, /* full ones; after each, the most: */
                     COST_SPACE_HEAP,
                     COST_SPACE_METADATA,
                     COST_SPACE,     /* of both together */
                     COST_CHIP_PEAK, /* bytes of history lines in the caches, the most */
                     COSTS
};
enum cost_spent { /* where cores spend their time: LARDSIM_SPENT */
#define SPENT(NAME, text, help) COST_SPENT_##NAME,
                  LARDSIM_SPENT(SPENT)
#undef SPENT
                      COST_SPENTS
};
enum hardware_part { /* where the handler's time of a policy in hardware goes */
                     PART_FILLS,
                     PART_EVICTIONS,
                     PART_STORMS,
                     PART_CHECKS,
                     PART_REGIONS,
                     PART_FLUSHES,
                     PART_ROLL_OVERS,
                     PART_RUNTIME,
                     PART_HISTORIES, /* all else: history lines, and questions to other cores */
                     HARDWARE_PARTS
};
extern const char *const cost_spent_name[COST_SPENTS], *const hardware_part_name[HARDWARE_PARTS];
struct part_costs { /* of the whole run, or of its regions of interest */
    uint64_t cost[COSTS], spent[COST_SPENTS], hardware[HARDWARE_PARTS];
};
struct own_truth {         /* of the execution on one machine, in program order */
    bool known, by_access; /* there is one; accesses are counted, else locations */
    uint64_t racy, is_false, missed;
};
struct costs {              /* of one policy */
    char *label, *property; /* own; property: what the policy's verdicts are about */
    struct part_costs whole, region;
    struct lardsim_course course; /* of the region; events is 0: there is none */
    uint64_t events, identity, digest, behaviour;
    bool has_bytes;   /* it counts its metadata */
    bool has_manager; /* it is in hardware, over a software manager */
    struct own_truth truth;
    struct lardsim_findings findings; /* owns */
};
struct cost_setting {
    char *name, *text; /* own; text: as --set takes it */
};
struct cost_run {        /* of all policies, with another seed or length */
    uint64_t value;      /* that */
    double *overhead;    /* owns; by row */
    uint64_t *behaviour; /* owns; by row */
};
struct cost_runs {
    struct cost_run *run; /* owns */
    size_t n, cap;
};
struct cost_table {
    const char *source;
    const char *output;                /* NULL: none */
    struct folder *folder;             /* owns, while results are written; NULL: none */
    struct costs *row;                 /* owns; the first is of the machine without a policy */
    size_t n, rows;                    /* that are complete; all */
    bool partial;                      /* the first run was stopped, and its results are kept */
    char *order, *contention, *memory; /* own; of the machine */
    uint64_t frequency;
    struct cost_setting *setting; /* owns; of all runs, each once; policies are those compared */
    size_t settings, settings_cap;
    const char *policies; /* behind "policies=" */
    struct specs *specs;  /* owns; with their text, policies; NULL: borrowed from another table */
    char *own_policies, *own_source;
    bool region; /* something is marked: it is what is judged */
    /* Own; with these seeds, with lengths up to that of this table, by core.unmodelled; or none. */
    struct cost_runs seeds, lengths, band;
    const char *length;      /* the parameter */
    const struct err *error; /* of the run after those that are complete; code 0: there is none */
};

static inline const struct part_costs *costs_judged(const struct cost_table *t,
                                                    const struct costs *r)
{
    return t->region ? &r->region : &r->whole;
}

struct run_time costs_time(const struct cost_table *t, const struct costs *r);
struct overhead costs_overhead(const struct cost_table *t, const struct costs *r,
                               enum overhead_of which);

/* A request to compare costs: the settings, the source, and how often it runs. */
struct costs_asked {
    const struct given *given;
    const char *source, *output; /* output: NULL: none */
    bool overwrite, quiet;       /* quiet: no progress */
    bool converge;
    uint64_t seeds, band; /* seeds: at least 1; band: how far core.unmodelled goes, 0: no band */
};
/* These are called in this order, each if the one before it went well. */
int costs_check(const char *source, struct err *e); /* the source can be read several times */
/* The policies, and the folder of --output, which is claimed before anything runs. t is to be freed
 * either way. */
int costs_open(struct cost_table *t, const struct costs_asked *asked, struct err *e);
/* All runs. Those before one that failed, whose error is *e, are in t. */
void costs_run(struct cost_table *t, const struct costs_asked *asked, struct err *e);
/* The folder's files. Where a run failed, the results of those before it, and what it has left
 * itself: without DONE. */
int costs_write(struct cost_table *t, struct err *e);
void cost_table_free(struct cost_table *t);
bool costs_any_race(const struct cost_table *t);

/* ---- what is asked: asked.c ----------------------------------------------------------------- */

/* Whether what is given sets up a machine, and asks for what the policies cost on it. */
int costs_wanted(const struct given *g, bool *wanted, struct err *e);

struct specs { /* "vc", "naive=vc": own */
    char **spec;
    size_t n, cap;
    /* The label of one more, which watches every run but the first; NULL: none. */
    const char *truth;
};
/* Collects the specs: none first; then the policies that are given, or else those of the
 * configuration. 0 or -1; s is to be freed either way. */
int specs_collect(struct specs *s, const struct given *g, const char *source, struct err *e);
void specs_free(struct specs *s);
/* The settings for the run of s->spec[which] alone. To be freed. */
struct given specs_given(const struct given *g, const struct specs *s, size_t which);
/* The property that the policy's verdicts are about. NULL: error. Owned by the caller. */
char *spec_property(const struct given *g, const char *spec, struct err *e);

/* ---- what a run cost: costs.c ----------------------------------------------------- */

/* to->label is set; truth: the label of what judges it, or NULL. */
void costs_read(struct costs *to, const struct lardsim *l, const char *truth);
/* Adds a setting of a run, unless it is there: for lardsim_each_setting. */
void costs_setting(void *table, const char *name, const char *text);
void costs_machine(struct cost_table *t, const struct lardsim *l);

/* ---- as a run goes on: course.c ---------------------------------------------------- */

enum { COURSE_PARTS = 4 }; /* the last is all */
extern const double course_part[COURSE_PARTS];
/* The overhead after these parts of the events. False: nothing is known of it. */
bool course_overheads(const struct costs *r, const struct costs *none, double to[COURSE_PARTS]);
/* Twice as long has hardly moved it. */
bool overhead_settled(double before, double now);
bool course_settled(const double overhead[COURSE_PARTS]);

/* ---- other seeds, and longer runs: several.c ---------------------------------------- */

void cost_runs_add(struct cost_runs *s, uint64_t value, const struct cost_table *t);
void cost_runs_free(struct cost_runs *s);
bool cost_runs_settled(const struct cost_runs *s, size_t rows);
struct estimate cost_estimate_of(const struct cost_runs *s, size_t row);
/* Each policy did the same in all runs, of which there are several: the value changes nothing. */
bool cost_runs_same(const struct cost_runs *s, size_t rows);

/* ---- for other programs: costs_files.c --------------------------------------------------------
 */

void cost_table_csv(const struct cost_table *t, FILE *out);
void cost_table_plot(const struct cost_table *t, FILE *out);

/* ---- as JSON: costs_json.c ------------------------------------------------------------------ */

void cost_table_json(FILE *out, const struct cost_table *t);
void cost_table_config(FILE *out, const struct cost_table *t); /* config.yaml */

#endif
