/* lard.h - LARD's Tables 2 and 3: programs under collectors, the six detectors and the truth in
 * each, what the paper says of them, and what is shown. They need no machine, so they are no sweep.
 */
#ifndef LARDSIM_REPRODUCE_LARD_H
#define LARDSIM_REPRODUCE_LARD_H

#include "results/job/progress.h"
#include "results/papers/table.h"

/* ---- what runs: results/papers/suites.csv --------------------------------------------------- */

struct program {
    const char *name, *settings; /* of the workload, beside those of all; NULL: none */
    bool racy;
    const char *paper; /* the name of the row that it is a twin of; NULL: it is our own program */
    bool hidden;       /* the paper: all-sync misses nearly all of its races */
    bool captured;     /* a real one (docs/programs.md): what races in it nobody has said */
    bool native;       /* of these: it has no collector */
};
struct collector {
    const char *name;
    bool moves;
};
enum { COLLECTORS = 2 };
struct suite { /* programs that are judged together */
    const char *name, *settings;
    const struct program *program;     /* a NULL name ends them */
    const struct collector *collector; /* of those that have one */
};
enum { SUITE_TWINS, SUITE_KERNELS, SUITE_REAL };
extern const struct suite suites[];
extern const char *const suite_names[]; /* NULL-terminated, as suites */
/* The collector of a program that has none: memory is freed by the program's own allocator. */
extern const struct collector no_collector;

/* ---- what is counted: reproduce.c ----------------------------------------------------------- */

/* Views, in order of the table's columns, as the preset lard-table3 labels them. */
enum view_id {
    VIEW_LARD,
    VIEW_ALL_MEMORY,
    VIEW_ALL_SYNC,
    VIEW_NO_CLEAR,
    VIEW_NO_COPY,
    VIEW_NAIVE,
    VIEWS
};
extern const char *const view_names[];

enum tally_of { RACES, FALSE, MISSED, TALLIES };
extern const char *const tally_names[];
/* Units of a tally: racy accesses, and their known sites; of all, and of the runtime system
 * alone. */
enum tally_unit { ACCESSES, SITES, SYSTEM, SYSTEM_SITES, TALLY_UNITS };
extern const char *const unit_names[];
struct tally {
    uint64_t n[TALLY_UNITS];
};
struct measured {
    uint64_t events;
    struct lardsim_unmoved moves;
    struct tally truth, view[VIEWS][TALLIES];
};
/* A workload, or the trace of a capture. Two parts of the progress. 0 or -1. */
enum { REPRODUCE_PARTS = 2 };
int reproduce_measure(const char *source, struct measured *to, struct progress *progress,
                      struct err *e);

/* ---- what the paper says: lard_claims.c ----------------------------------------------------- */

struct cell { /* a program under a collector */
    const struct program *program;
    const struct collector *collector;
    struct measured is;
};

/* No case: what the claim speaks of does not happen here, or it allows both. */
enum verdict { HOLDS, FAILS, NO_CASE, VERDICTS };
extern const char *const verdict_names[], *const verdict_keys[]; /* the latter for machines */

struct claim { /* of every cell; a row of the table, which shows a count */
    enum view_id view;
    enum tally_of of;
    const char *text;
    enum verdict (*judge)(const struct cell *c); /* NULL: another count of the claim before it */
};
struct overall_claim { /* of all cells together */
    enum view_id view;
    enum tally_of of;
    bool system; /* it is about what the runtime does */
    const char *text;
};
enum { NEEDS = 4 };
extern const struct overall_claim needs[NEEDS];

struct paper {
    const char *name, *table, *title;
    const struct claim *claims; /* a NULL text ends them */
    bool differences;           /* about false and missed ones, and needs are judged; else races */
};
extern const struct paper papers[]; /* a NULL name ends it */

/* Judges if the program has races, or none, as it is meant to: otherwise the claims would say
 * nothing. */
enum verdict judge_program(const struct cell *c);
bool any_system(const struct cell *cell, size_t cells); /* the runtime does something in one */
/* The number of cells in which the claim's effect shows: if in none, the claim fails. */
size_t cells_that_need(const struct cell *cell, size_t cells, const struct overall_claim *claim);

/* ---- a run of a table: lard.c --------------------------------------------------------------- */

struct lard_report {
    const struct paper *paper;
    bool quiet; /* no table */
    struct progress progress;
    struct cell *cell; /* owns */
    size_t cells, cap;
    unsigned verdicts[VERDICTS]; /* how many of each */
};

const struct paper *lard_find(const char *name); /* NULL: it is another's */
/* Runs the programs of the suite; 0 or -1. quiet: no progress. */
int lard_run(struct lard_report *r, const struct suite *s, bool quiet, struct err *e);
void lard_free(struct lard_report *r);

/* ---- what is shown: print.c ----------------------------------------------------------------- */

void print_head(const struct cell *c);
void print_claim(const struct paper *p, const struct cell *c, const struct claim *claim);
/* Races at sites of the runtime system are counted with the others, and told apart here. */
void print_system(const struct paper *p, const struct cell *c);
/* Prints the errata that results/papers/printed/ has for the numbers shown. */
void print_errata(const struct paper *p, const struct cell *c);

void lard_csv(const struct lard_report *r, FILE *out);
void lard_plot(const struct lard_report *r, FILE *out);
/* docs/reproduce.md has the members. */
void lard_json(const struct lard_report *r, const char *programs);

#endif
