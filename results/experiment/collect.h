/* collect.h - the tables of a sweep's results. */
#ifndef LARDSIM_V_COLLECT_H
#define LARDSIM_V_COLLECT_H

#include "results/read/overhead.h"
#include "results/experiment/sweep.h"
#include "results/table/table.h"

struct sweep_tables { /* of how many cells */
    size_t cells, missing, damaged;
    size_t means; /* rows of means.csv; 0: there is none */
};
/* Writes cells.csv, cells.jsonl and index.sqlite, and with several seeds means.csv and means.jsonl.
 * stat: names of statistics that are columns, too. */
int sweep_collect(struct sweep_tables *to, const char *dir, const char *const *stat, size_t stats,
                  struct err *e);

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
    struct table table;     /* owns; a row a cell */
    struct cell_index *index;
    size_t asked; /* cells that should be in the tables */
    size_t damaged;
    size_t *row;      /* owns; by row of the listing: 1 + that of the table; 0: none */
    char **behaviour; /* owns; likewise; NULL: none */
    size_t means;     /* rows of means.csv; 0: there is none */
};
/* NAME.csv and NAME.jsonl in the sweep's folder. They are closed once, whether they could be opened
 * or not: with the table in them or, if all is bad, as they were. */
struct table_files {
    struct outfile *csv, *lines; /* own */
};
int table_files_open(struct table_files *to, const struct sweep_folder *f, const char *name,
                     struct err *e);
int table_files_close(struct table_files *to, const struct table *t, bool bad, struct err *e);

/* ---- means.csv and means.jsonl: means.c ------------------------------------------------------ */

/* A row for all seeds of a point, if some point has several: how many rows; 0: these files are not
 * to be there. */
size_t means_fill(struct table *to, const struct collecting *w);
void means_remove(const struct sweep_folder *f); /* they are of another spec */

/* ---- index.sqlite: index.c ------------------------------------------------------------------ */

/* Makes an index, which lies beside its name until it is committed. NULL: error. */
struct cell_index *index_new(const struct sweep_folder *f, const struct table *t, struct err *e);
/* Adds the last row of the table, and all statistics of its cell. */
int index_row(struct cell_index *x, const struct table *t, const struct cell_stats *s,
              struct err *e);
int index_commit(struct cell_index *x, struct err *e); /* frees x in any case */
void index_abort(struct cell_index *x);                /* NULL is fine; nothing remains */

#endif
