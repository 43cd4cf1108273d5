/* collect.h - the tables of a sweep's results. */
#ifndef LARDSIM_V_COLLECT_H
#define LARDSIM_V_COLLECT_H

#include "cli/overhead.h"
#include "cli/sweep/sweep.h"

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
};

/* ---- index.sqlite: sweep/index.c ------------------------------------------------------------ */

/* Beside its name until it is committed. NULL: error. */
struct cell_index *index_new(const struct sweep_folder *f, const struct cell_row *head,
                             struct err *e);
int index_row(struct cell_index *x, const struct cell_row *row, const struct cell_stats *s,
              struct err *e);
int index_commit(struct cell_index *x, struct err *e); /* frees x in any case */
void index_abort(struct cell_index *x);                /* NULL is fine; nothing remains */

#endif
