/* claims.h - what `lardsim reproduce` runs, and what the paper says of it. */
#ifndef LARDSIM_REPRODUCE_CLAIMS_H
#define LARDSIM_REPRODUCE_CLAIMS_H

#include "results/papers/reproduce.h"

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
/* Where the program has none: what frees is its own allocator. */
extern const struct collector no_collector;

struct cell { /* a program under a collector */
    const struct program *program;
    const struct collector *collector;
    struct measured is;
};

/* No case: what the claim speaks of does not happen here, or it allows both. */
enum verdict { HOLDS, FAILS, NO_CASE, VERDICTS };
extern const char *const verdict_names[], *const verdict_keys[]; /* the latter for machines */

enum { SHOWS_RACES = 1, SHOWS_FALSE = 2, SHOWS_MISSED = 4 };
struct claim { /* of every cell */
    enum view_id view;
    unsigned shows; /* the counts that it is about */
    const char *text;
    enum verdict (*judge)(const struct cell *c);
};
struct overall_claim { /* of all cells together */
    enum view_id view;
    bool missed; /* else false */
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

/* That a program has races is part of what it is for: else the claims would say nothing. */
enum verdict judge_program(const struct cell *c);
bool any_system(const struct cell *cell, size_t cells); /* the runtime does something in one */
/* In how many of the cells it shows: in none, and the claim fails. */
size_t cells_that_need(const struct cell *cell, size_t cells, const struct overall_claim *claim);

/* What a paper printed (results/paper), PAPER_NONE: nothing. */
#define PAPER_NONE UINT64_MAX
uint64_t paper_value(const char *table, const char *program, const char *collector,
                     const char *detector, const char *measure);
/* What is wrong with that number, or "". */
const char *paper_erratum(const char *table, const char *program, const char *collector,
                          const char *detector, const char *measure);

#endif
