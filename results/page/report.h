/* report.h - the parts of `lardsim report`: results that are read again, what they say, and the
 * page that shows it.
 *
 * All kinds of results become one: a study is a list of cells, as a sweep has them. A run is a cell
 * for each of its policies, a comparison a cell for each run, and several of them together differ
 * in their parameters, which are the axes then. */
#ifndef LARDSIM_V_REPORT_H
#define LARDSIM_V_REPORT_H

#include <math.h>

#include "base/base.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "results/read/overhead.h"
#include "results/results.h"

/* ---- what is read of a run: read.c ---------------------------------------------------------- */

enum report_measure {
#define MEASURE(NAME, key, unit, of, patterns) M_##NAME,
#include "results/page/measures.def"
#undef MEASURE
    MEASURES
};
struct report_measure_info {
    const char *key, *unit, *text, *patterns;
};
extern const struct report_measure_info report_measures[MEASURES];

enum report_part { /* parts of the time of cores */
#define PART(NAME, key, text, patterns) P_##NAME,
#include "results/page/parts.def"
#undef PART
                   PARTS
};
struct report_part_info {
    const char *key, *text, *patterns;
};
extern const struct report_part_info report_parts[PARTS];
/* One of the patterns, with spaces between, is the statistic's name. */
bool report_matches(const char *patterns, const char *name);

struct report_finding {
    char *key, *sentence, *knobs; /* own; " l2.size:multiple l2.replacement:any" */
};

struct report_side {
    char *thread, *op, *site, *event; /* own; NULL: not known */
};
struct report_count {
    char *policy; /* owns */
    uint64_t n;
};
struct report_race { /* the racy accesses of one pair of sites, in all runs of a study */
    char *id, *dir;  /* own; dir: of the run of the first */
    struct report_side is, earlier; /* both sides of its first racy access */
    char *address, *object, *offset, *allocated_at;
    struct report_count *count; /* owns; by policy */
    size_t counts, counts_cap;
    struct facts verdicts; /* verdicts of a comparison: "false for naive", and why */
    struct facts said;     /* why it races: sentences; their names are "" */
    char *picture;         /* owns; of threads and edges, an SVG; NULL: none */
    char *unexplained;     /* owns; why it can't be said; NULL: nothing was tried */
};

/* A cell of a study: what one policy did in one run. */
struct report_cell {
    size_t run;          /* its index in the study */
    char *label;         /* owns */
    char **point;        /* owns; its value on each axis of the study; "" where it has none */
    size_t *place;       /* owns; the same as indices into the axes' values */
    double of[MEASURES]; /* NAN: not known */
    double part[PARTS];  /* cycles of the cores that had a thread */
    size_t baseline;     /* the cell without a policy; NO_BASELINE: there is none */
    double overhead, overhead_whole; /* NAN: there is no baseline */
};
#define NO_BASELINE SIZE_MAX

struct report_series { /* a row for each stretch of time */
    char **name;       /* owns; of columns */
    size_t columns, rows, cap;
    double *value; /* owns; row by row */
};
enum { SERIES_ROWS = 256 }; /* more are merged, two and two */
/* Reads intervals.csv. NULL: there is none, or error. */
struct report_series *series_read(const struct seal *s, struct err *e);
double series_at(const struct report_series *s, size_t row, const char *name); /* NAN: none */
void series_free(struct report_series *s);

struct report_run {
    char *dir, *name; /* own; the folder; how it is called here */
    bool done;
    struct run_time cycles; /* if it has a region, numbers are of that */
    uint64_t events;
    char *schema, *error, *source, *caveat, *build, *commit, *compiler, *version, *verb, *command,
        *identity, *digest, *behaviour, *configuration, *host, *started, *seconds, *working;
    struct facts config, stats;     /* for cells of a sweep, those of the first alone */
    struct report_finding *finding; /* owns */
    size_t findings, findings_cap;
    struct report_series *time; /* owns; intervals.csv; NULL: none */
};
enum { RACES_MOST = 65536 }; /* pairs of sites of a study that are kept */

struct report_axis {
    char *name;   /* owns */
    char **value; /* own; distinct, in the order of their appearance, or ascending if numbers */
    size_t n, cap;
    bool numbers; /* all values are numbers, and sorted as such */
    /* Cells that are alike but for this axis, by groups: */
    size_t groups, same;     /* groups; those in which nothing that happened differs */
    double cycles, overhead; /* the largest to the smallest; the farthest ones, in points */
    bool has_overhead;
    char *why;     /* owns; the sentence of a finding that says it could not matter; NULL: none */
    size_t why_of; /* in how many cells it is */
};

/* A claim of a table, and its verdict. */
struct report_claim {
    char *text, *unit, *verdict;
    double paper, ours, low, high; /* the paper's number, ours, the band */
    double interval[2]; /* the ends of that of the mean over seeds; NAN: there is one seed */
};
struct report_row {
    char *program, *column;
    double paper, ours; /* NAN: none */
};

enum report_kind { STUDY_RUNS, STUDY_SWEEP, STUDY_TABLE };
struct report_study {
    enum report_kind kind;
    char *name, *title, *dir; /* own */
    char *config;             /* owns; the file whose machine is drawn; NULL: none */
    char *machine;            /* owns; its picture, an SVG; NULL: none */
    struct report_run *run;
    size_t runs, runs_cap;
    struct report_cell *cell;
    size_t cells, cells_cap;
    struct report_axis *axis;
    size_t axes, axes_cap;
    size_t missing, failed;                    /* cells of a sweep */
    bool has_region, has_whole, has_overheads; /* some run has a region marked; some has none */
    struct report_race *race;
    size_t races, races_cap;
    struct map race_at;      /* from a race's identity to 1 + its index */
    uint64_t races_left_out; /* racy accesses of pairs beyond RACES_MOST */
    struct report_claim *claim;
    size_t claims, claims_cap;
    struct report_row *row;
    size_t rows, rows_cap;
};

struct report_faults { /* faults of the results that were read */
    char **at;         /* own */
    size_t n, cap;
};
void fault_add(struct report_faults *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

struct reported {
    struct report_study *study;
    size_t n, cap;
    struct report_faults faults;
};

/* Reads results. Broken ones are faults and no error, and the whole ones are read. -1: there are
 * none. */
int reported_read(struct reported *r, const char *const *path, size_t n, struct err *e);
void reported_free(struct reported *r);
/* The race of the same identity. NULL: there is none. */
const struct report_race *study_race(const struct report_study *s, const struct report_race *like);
/* Appends a word as a shell takes it. */
void report_shell_word(char **command, const char *word);

/* ---- what it means: study.c, say.c ---------------------------------------------------------- */

/* Axes, baselines, overheads. */
void study_complete(struct report_study *s);
size_t study_axis(const struct report_study *s, const char *name); /* SIZE_MAX: none */
void study_axis_add(struct report_study *s, const char *name);     /* unless it is there */
/* to[i]: which cells cell i is like but for that axis, as an index from 0. Returns how many there
 * are. */
size_t study_alike(const struct report_study *s, size_t axis, size_t *to);
/* A number that is added up, where there is one. */
static inline double or_none(double x)
{
    return isnan(x) ? 0 : x;
}
/* A parameter that changes no result by what it is: how much is kept and shown. */
bool changes_nothing(const char *name);
/* The change of this parameter that the finding is about, up to a blank; NULL: about none. */
const char *finding_knob(const struct report_finding *f, const char *name);
/* The policies, in the order of their appearance; n of them. */
const struct report_axis *study_policies(const struct report_study *s);
/* The mean over the cells of a policy that have it; NAN: none has. */
double study_mean(const struct report_study *s, const char *policy,
                  double (*of)(const struct report_cell *c, size_t arg), size_t arg);
double cell_overhead(const struct report_cell *c, size_t which); /* enum overhead_of */
double cell_measure(const struct report_cell *c, size_t measure);
bool cell_is_none(const struct report_cell *c);
/* Returns the part's share of the overhead, or without a baseline of the time of its cores, in
 * percent. */
double study_part(const struct report_study *s, const struct report_cell *c, size_t part);

void say_question(FILE *out, const struct report_study *s);
void say_answer(FILE *out, const struct report_study *s);
void say_axis(FILE *out, const struct report_axis *a);

/* ---- what other verbs can say: explain.c ---------------------------------------------------- */

/* Explains the first races of each study, so many, and draws its machine. What can't be is no
 * error; -1: a signal has come. */
struct explaining {
    uint64_t races;  /* how many races of each study are explained */
    uint64_t events; /* runs with more events are not explained */
    bool quiet;      /* without progress */
};
int explain_all(struct reported *r, const struct explaining *x, struct err *e);

/* ---- pictures: figure.c, figures.c ---------------------------------------------------------- */

enum figure_kind { FIGURE_BARS, FIGURE_STACK, FIGURE_COLUMNS, FIGURE_HEAT };
struct figure { /* values by row and series */
    enum figure_kind kind;
    char *name, *title; /* own; name: of its files */
    const char *unit;
    char **row, **series; /* own; NULL until they are set */
    unsigned *look;       /* owns; by series: its colour */
    size_t rows, all_series;
    double *value; /* owns; NAN: none; row r of series s: value[r * all_series + s] */
};
struct figures {
    struct figure *at;
    size_t n, cap;
};
/* Takes name and title. */
struct figure *figure_add(struct figures *f, enum figure_kind kind, char *name, char *title,
                          const char *unit, size_t rows, size_t series);
static inline double *figure_at(const struct figure *f, size_t row, size_t series)
{
    return &f->value[row * f->all_series + series];
}
void figures_free(struct figures *f);
void figure_svg(const struct figure *f, FILE *out);
void figure_csv(const struct figure *f, FILE *out);
void figure_gnuplot(const struct figure *f, FILE *out);
enum { FIGURE_FORMS = 3 };
extern const struct figure_form { /* as which files it can be had */
    const char *ending, *type;
    void (*write)(const struct figure *f, FILE *out);
} figure_forms[FIGURE_FORMS];
void figure_json(const struct figure *f, struct json *j); /* of FIGURE_COLUMNS */
/* Makes the figures of a study. prefix: stands before their names. */
void figures_make(struct figures *f, const struct report_study *s, const char *prefix);

/* ---- the page: page.c ----------------------------------------------------------------------- */

void memory_file_close(FILE *f); /* of xmemstream: its text is whole then */
void page_write(FILE *out, const struct reported *r, const struct figures *f, const size_t *first);

/* ---- what differs between two: diff.c ------------------------------------------------------- */

struct report_setting {       /* a parameter that differs */
    const char *name, *a, *b; /* NULL: not there */
    char *verdict;            /* owns; whether it mattered */
    bool matters;             /* it may have */
};
struct report_change { /* a statistic that differs beyond the threshold */
    const char *name;
    double a, b, percent; /* INFINITY: from 0 */
};
struct report_pair {
    const struct report_run *a, *b;
    const struct report_cell *cell_a, *cell_b; /* cells of sweeps; NULL: all policies of the run */
    bool same;                                 /* nothing that happened differs */
    struct report_setting *setting;            /* owns */
    size_t settings, settings_cap;
    struct report_change *change; /* owns; the largest first */
    size_t changes, changes_cap, compared;
};
struct report_met {                  /* a race of either, by its identity */
    const struct report_race *a, *b; /* NULL: it has none */
};
struct report_difference { /* begins as all zero */
    struct reported of[2]; /* own; faults of both stand with the first */
    const char *name_a, *name_b;
    double threshold; /* percent */
    const struct report_study *a, *b;
    struct report_pair *pair; /* owns */
    size_t pairs, pairs_cap, differing;
    size_t only_a, only_b;  /* runs that have no partner */
    struct report_met *met; /* owns; races that only one has, or that have other counts */
    size_t mets, mets_cap, gone, come, moved;
};
/* Reads two folders, each of one study, of runs or a sweep, and finds what differs. d is to be
 * freed either way. */
int difference_make(struct report_difference *d, const char *const path[2], double threshold,
                    struct err *e);
void difference_free(struct report_difference *d);
void difference_text(const struct report_difference *d, FILE *out);
void difference_json(const struct report_difference *d, FILE *out);
/* Calls fn for each line of the difference. */
void difference_say(const struct report_difference *d, void (*fn)(void *arg, const char *line),
                    void *arg);
/* Reads two folders, and says what differs: for `compare --results`. An exit code, or -1 and *e. */
int difference_verb(const char *const path[2], double threshold, bool json, struct err *e);
int difference_threshold(const char *text, double *percent, struct err *e); /* NULL: 1 */

void page_differences(FILE *out, const struct report_faults *faults,
                      const struct report_difference *d);

#endif
