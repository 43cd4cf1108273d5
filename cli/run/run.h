/* run.h - the parts of `lardsim run`: races grouped by pair of sites, the result. */
#ifndef LARDSIM_V_RUN_H
#define LARDSIM_V_RUN_H

#include "base/map.h"
#include "cli/cli.h"
#include "results/results.h"
#include "sim/sim.h"

/* ---- shared with `lardsim compare`: run/run.c -------------------------------------------------
 */

/* Options of both verbs: what is configured, and how the outcome is told. */
#define ROWS_CONFIG                                                                                \
    OPTION("config", OPT_CONFIG, "FILE",                                                           \
           "Read parameters from a YAML file, or take a preset; may be repeated"),                 \
        OPTION("preset", OPT_PRESET, "PRESET",                                                     \
               "Take the parameters of a preset; may be repeated"),                                \
        OPTION("set", OPT_SET, "NAME=VALUE", "Set a parameter; may be repeated")
#define ROWS_SETTINGS                                                                              \
    ROWS_CONFIG, OPTION("output", 'o', "DIR",                                                      \
                        "Write the results to this folder, which must be new or empty")
#define ROW_DEBUG                                                                                  \
    OPTION("debug", OPT_DEBUG, "FILTER",                                                           \
           "Print what happens in the run to standard error, a line each thing: all, or what "     \
           "event=, address=, line=, core= and cycles= let pass, each a number or FROM-TO; may "   \
           "be repeated (docs/debugging.md)")
#define ROWS_OUTCOME                                                                               \
    OPTION("error-on-race", OPT_ERROR_ON_RACE, NULL,                                               \
           "End with exit code 66 when there are races"),                                          \
        ROW_JSON, ROW_QUIET

/* The command line with its SOURCE, which may stand in the configuration instead. -1: nowhere. To
 * be freed either way. */
struct with_source {
    struct cli cli; /* borrows all but arg[0] */
    const char *arg[1];
    char *owned; /* NULL: on the command line */
};
int run_with_source(struct with_source *to, const struct cli *c, struct err *e);
void with_source_free(struct with_source *w);
/* Applies the settings of the command line (cli_given) to the run. */
int run_settings(struct lardsim *l, const struct cli *c);

/* ---- races by pair of sites: run/races.c -------------------------------------------------- */

struct race_group {
    uint64_t id;               /* the race's id, as in races.jsonl: by its sites */
    uint64_t most;             /* racy accesses by the policy that has the most of them */
    uint64_t *by_policy;       /* owns; in the order of lardsim_policy */
    struct lardsim_race first; /* the first one */
    char *text[6];             /* own; the names in first */
};
struct race_groups {
    const struct lardsim *run; /* its policies, in order */
    struct budget *memory;     /* the run's: groups are charged to it */
    struct race_group *group;  /* owns */
    size_t n, cap;
    struct map index;  /* to 1 + index of group */
    uint64_t left_out; /* racy accesses of groups beyond what is kept */
};
/* A run with millions of groups must end with a page, not without memory. */
enum { GROUPS_KEPT = 65536, GROUPS_SHOWN = 10 };
void race_groups_add(void *groups, const struct lardsim_race *race); /* for lardsim_on_race */
void race_groups_sort(struct race_groups *g); /* the most frequent first; then no more adding */
void race_groups_free(struct race_groups *g);

/* ---- a run that is repeated: run/repeat.c -------------------------------------------------- */

struct repeat {
    const char *dir;
    struct past past;
    struct cli cli; /* the command line that is run; owns given */
    char **path;    /* owns */
    size_t paths, paths_cap;
};
/* Reads the run that --again DIR repeats, and goes to the folder in which that was started. To be
 * freed either way. */
int repeat_begin(struct repeat *a, const struct cli *c, struct err *e);
void repeat_free(struct repeat *a);
bool repeat_same(const struct repeat *a, const struct lardsim *l); /* the digest */
/* 0, or -1 and *e: it is another, and why. */
int repeat_judge(const struct repeat *a, const struct lardsim *l, struct err *e);

/* ---- the result on standard output: run/result.c ------------------------------------------ */

struct run_result {
    const struct lardsim *run;
    const struct race_groups *races;
    const char *source;
    const char *output;         /* NULL: none */
    const struct repeat *again; /* NULL: it repeats none */
};
void run_result_text(const struct run_result *r);
void run_result_json(const struct run_result *r);
/* run/machine.c; nothing without a machine */
void run_machine_text(const struct run_result *r);
void run_machine_json(struct json *j, const struct run_result *r);
/* "by thread 1 (main), event 7, at Account.java:42" and the end of the line. */
/* The first findings, how many more there are, how many others that are not of all runs, and where.
 */
void run_print_findings_of(const struct lardsim *l, const char *output); /* NULL: no folder */
void run_print_findings(const struct lardsim_findings *all, size_t others, const char *where);
void run_print_side(const struct lardsim_side *s);
/* " (account + 8)" or " (byte 8 of 24 allocated by event 5, at Account.java:5)"; nothing where
 * nothing is known. */
void run_print_object(const struct lardsim_object *o);

#endif
