/* table.h - a table or claim of a paper that `lardsim reproduce` repeats: what runs, what is
 * measured in it, what the paper printed, and what is judged. A new one is a file in
 * results/papers/tables/, one in results/papers/claims/ and, where the paper prints numbers by
 * program, one in results/papers/printed/ (results/README.md).
 *
 * What runs is a sweep (results/experiment/): each program under each policy with each seed is a
 * cell, on a machine of its own. */
#ifndef LARDSIM_REPRODUCE_TABLE_H
#define LARDSIM_REPRODUCE_TABLE_H

#include "results/read/estimate.h"
#include "results/experiment/collect.h"

/* ---- what runs ------------------------------------------------------------------------------ */

struct table_program {
    const char *name;    /* of the row: "xalan"; programs of one name differ in their step */
    const char *step;    /* "threads=16"; NULL: it has one */
    const char *source;  /* "xalan@valor,threads=16"; of a capture the path */
    const char *printed; /* as the paper calls it; NULL: it prints nothing of it */
    const char *groups;  /* "clean arrays": names for sets of programs, with blanks between */
};
struct table_column { /* of programs */
    const char *head, *quantity;
    const char *paper; /* a quantity; NULL: the paper prints none */
};
struct table_line { /* below the programs: a sum in its parts, or a reason */
    const char *text, *quantity;
};
struct reproduction {
    const char *name, *paper, *number; /* the latter two: keys of results/papers/printed/ */
    const char *section, *title;
    const char *machine;  /* the preset that is meant; NULL: no machine */
    const char *settings; /* lines of YAML, for all cells; NULL: none */
    const char *axis;     /* a line of a sweep's axes, whose values are steps; NULL: none */
    const char *policies; /* "fasttrack, writers=fastrcd" */
    const struct table_program *program; /* a NULL name ends them */
    const char *size, *quick;            /* "accesses=1M", of each source; NULL: as it is */
    unsigned seeds;
    const struct table_column *column; /* a NULL head ends them; may be NULL */
    const struct table_line *summary;  /* below a column, whose quantity stands for $; likewise */
    /* Parts of quantities: in each of `of` the name "part" stands for the measure of a part. */
    const struct table_line *part, *of; /* a NULL text ends them; may be NULL */
    const struct table_line *reason;    /* statistics in which the two differ; likewise */
    const char *inputs;                 /* what was put in, and did not come out: lines */
    const char *frozen; /* of a hold-out: which commit froze the constants; or NULL */
    const char *cannot; /* what of the paper is not repeated, and why; or NULL */
    bool names_pairs;   /* of sites that race: those of all trials are counted */
    bool asked;         /* only when it is asked for by name: a hold-out */
    bool captured;      /* its programs are captures (captured.c) */
};
extern const struct reproduction reproductions[]; /* a NULL name ends them */

/* ---- what was printed, and what is judged: printed_rows.c ----------------------------------- */

struct printed { /* a row of results/papers/printed/ */
    const char *paper, *table, *program, *collector, *detector, *measure, *value, *erratum;
};
extern const struct printed printed[]; /* a NULL paper ends them */
/* NULL: the paper prints none. */
const struct printed *printed_find(const char *paper, const char *table, const char *program,
                                   const char *collector, const char *detector,
                                   const char *measure);

struct band { /* a row of results/papers/claims/ */
    const char *table, *claim, *quantity, *paper, *low, *high, *unit, *section, *why;
};
extern const struct band bands[]; /* a NULL table ends them */

/* ---- results -------------------------------------------------------------------------------- */

struct table_pairs { /* of sites that raced */
    char **name;     /* owns; each once */
    size_t n, cap;
    bool known;
};
struct table_sample { /* a cell that is done */
    const struct table_program *program;
    const char *policy; /* its label */
    const char *step;   /* of the program, or "granularity=4": the value of the axis; NULL: none */
    size_t seed;
    struct cell_stats own, base; /* base: of the same point without a policy */
    struct table_pairs raced;    /* known where the table asks for them */
    uint64_t behaviour;          /* a hash of all statistics of own */
    bool machine;
};
struct table_results {
    const struct reproduction *of;
    const char *machine; /* that ran; NULL: none */
    const char *size;    /* as given to each source; NULL: as it is */
    /* The results with core.unmodelled at so many percent, which is the other end of a band; owned.
     * NULL: not asked for. */
    struct table_results *band;
    uint64_t unmodelled;
    size_t seeds, cells, failed;
    struct table_sample *sample; /* owns */
    size_t n, cap;
    char **label; /* owns; NULL-terminated: samples borrow them */
};

/* run.c: makes what is missing of the cells in dir, and reads them. 0 or -1; r is to be freed. */
struct run_options {
    const char *dir;
    uint64_t jobs, seeds; /* 0: as many as there are processors; as the table says */
    const char *size;     /* NULL: as the table says */
    uint64_t band;        /* core.unmodelled at its upper end; 0: no band */
    bool quick, quiet;
};
const char *machine_of(const struct reproduction *t); /* the preset that runs; NULL: none */
int results_make(struct table_results *r, const struct reproduction *t, const struct run_options *o,
                 struct err *e);
void results_free(struct table_results *r);

/* captured.c: the table with captures of real programs in the place of its own; its program is to
 * be freed by captured_free. 0 or -1. */
int captured_table(struct reproduction *to, const struct reproduction *t,
                   const struct run_options *o, struct err *e);
void captured_free(struct reproduction *t);

/* pairs.c: 0 or -1; p is to be freed either way. */
int pairs_read(struct table_pairs *p, const struct sweep *s, const char *hash, struct err *e);
void pairs_add(struct table_pairs *p, const char *pair); /* if it is not there */
void pairs_free(struct table_pairs *p);

/* measure.c: of a sample; NAN: there is none. */
struct table_measure {
    const char *name;
    int kind;
    const char *over, *under; /* statistics, with blanks between; $: the policy's label */
    double times;
};
extern const struct table_measure measures[]; /* a NULL name ends them */
const struct table_measure *measure_find(const char *name, size_t length);
double measure_of(const struct table_measure *m, const struct table_sample *s);
/* The mean of a program's cells over seeds; policy, step: so many characters. seed: SIZE_MAX:
 * all. */
double measure_mean(const struct table_results *r, const struct table_measure *m,
                    const char *program, const char *step, const char *policy, size_t seed);

/* quantity.c: "mean(overhead:fasttrack) - mean(overhead:valor)", as docs/reproduce.md says it.
 * program: the row that names without an aggregate are about; NULL: none. part: what "part" stands
 * for; NULL: nothing. A mistake in the text is ours, and ends the process. */
struct quantity {
    const struct table_results *results;
    const struct table_program *program;
    const char *part;
    size_t seed; /* SIZE_MAX: the mean of all */
};
double quantity_of(const struct quantity *q, const char *text);
/* An estimate from the quantities of the single seeds; none if there is one seed, or the quantity
 * is of all trials at once. */
struct estimate quantity_estimate(const struct quantity *q, const char *text);

/* ---- judging -------------------------------------------------------------------------------- */

enum table_verdict { TABLE_HOLDS, TABLE_DIFFERS, TABLE_CANNOT, TABLE_VERDICTS };
extern const char *const table_verdict_names[];
struct table_judged {
    const struct band *band;
    double ours;           /* the quantity of the means over seeds: what is judged */
    struct estimate seeds; /* none: there is one */
    enum table_verdict verdict;
};
/* The next claim of the table from *at on; false: there is none. */
bool judge_next(const struct table_results *r, size_t *at, struct table_judged *to);

/* All policies did the same with each seed of this program, of which there are several. */
bool seeds_are_same(const struct table_results *r, const struct table_program *p);

/* Counts how many of each there are. */
void judge_all(const struct table_results *r, unsigned verdicts[TABLE_VERDICTS]);
char *band_text(const struct band *b); /* "56.25 to 93.75"; the caller's */

/* page.c, files.c */
void page_print(const struct table_results *r);
void page_json(const struct table_results *r, struct json *j);
char *program_text(const struct table_program *p); /* "xalan threads=16"; the caller's */
void file_csv(const struct table_results *r, FILE *out);
void file_plot(const struct table_results *r, FILE *out);
void file_gnuplot(const struct table_results *r, FILE *out);
/* "-": none. At least four digits, as many places. */
enum { NUMBER_TEXT = 32 };
const char *number_text(char to[static NUMBER_TEXT], double x);
char *quantity_for(const char *text, const char *what); /* what in place of $; the caller's */

#endif
