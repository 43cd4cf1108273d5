/* collect.h - the tables of a sweep's results. */
#ifndef LARDSIM_V_COLLECT_H
#define LARDSIM_V_COLLECT_H

#include "results/read/overhead.h"
#include "results/experiment/sweep.h"

struct sweep_tables { /* of how many cells */
    size_t cells, missing, damaged;
    size_t means; /* rows of means.csv; 0: there is none */
};
/* Writes cells.csv, cells.jsonl and index.sqlite, and with several seeds means.csv and means.jsonl.
 * stat: names of statistics that are columns, too. */
int sweep_collect(struct sweep_tables *to, const char *dir, const char *const *stat, size_t stats,
                  struct err *e);

struct cell_value {
    char *text; /* owns; "": none */
    bool number;
};
struct cell_row {          /* of the tables */
    struct cell_value *at; /* owns */
    size_t n, cap;
};
struct collecting {
    const struct sweep_folder *folder;
    const struct listing *listing;
    const char **stat; /* owns; that are columns */
    size_t stats;
    bool *found;           /* owns; by stat: some cell has it */
    bool *number;          /* owns; by column of the listing: all its values are numbers */
    struct map baseline;   /* hash to 1 + the index of its time */
    struct run_time *time; /* owns; of baselines */
    size_t times, times_cap;
    struct map at;          /* hash to row of the listing */
    enum cell_state *state; /* owns; by row of the listing */
    struct cell_row head;
    struct outfile *csv, *jsonl;
    struct cell_index *index;
    size_t rows, asked; /* cells: in the tables, that should be */
    size_t damaged;
    struct cell_row *row; /* owns; by row of the listing: what is in the tables; n = 0: nothing */
    char **behaviour;     /* owns; likewise; NULL: nothing */
    size_t means;         /* rows of means.csv; 0: there is none */
};
void cell_row_add(struct cell_row *to, char *text, bool number); /* takes text */
void cell_row_free(struct cell_row *r);
void cell_row_csv(FILE *out, const struct cell_row *r);
void cell_row_json(FILE *out, const struct cell_row *head, const struct cell_row *r);
struct outfile *table_open(const struct sweep_folder *f, const char *name, struct err *e);

/* ---- means.csv and means.jsonl: sweep/means.c ------------------------------------------------ */

/* A row for all seeds of a point, if some point has several: else these files are not there. */
int means_write(struct collecting *w, struct err *e);

/* ---- index.sqlite: sweep/index.c ------------------------------------------------------------ */

/* Beside its name until it is committed. NULL: error. */
struct cell_index *index_new(const struct sweep_folder *f, const struct cell_row *head,
                             struct err *e);
int index_row(struct cell_index *x, const struct cell_row *row, const struct cell_stats *s,
              struct err *e);
int index_commit(struct cell_index *x, struct err *e); /* frees x in any case */
void index_abort(struct cell_index *x);                /* NULL is fine; nothing remains */

#endif
