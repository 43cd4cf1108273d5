/* print.h - what `lardsim reproduce` shows: text, CSV, JSON, a plot. */
#ifndef LARDSIM_REPRODUCE_PRINT_H
#define LARDSIM_REPRODUCE_PRINT_H

#include "results/papers/claims.h"

void print_head(const struct cell *c);
void print_claim(const struct paper *p, const struct cell *c, const struct claim *claim,
                 enum verdict v);
/* Races at sites of the runtime system are counted with the others, and told apart here. */
void print_system(const struct paper *p, const struct cell *c);

/* What results/paper says is wrong with the numbers shown. */
void print_errata(const struct paper *p, const struct cell *c);

void csv_head(FILE *csv);
void csv_cell(FILE *csv, const struct paper *p, const struct cell *c);

/* docs/reproduce.md has the members. */
void json_cells(const struct paper *p, const char *programs, const struct cell *cell, size_t cells,
                const unsigned verdicts[VERDICTS]);

void plot_cells(FILE *out, const struct paper *p, const struct cell *cells, size_t n);

#endif
