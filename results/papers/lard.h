/* lard.h - LARD's Tables 2 and 3, run and judged: what is printed as they run, and kept for files.
 */
#ifndef LARDSIM_REPRODUCE_LARD_H
#define LARDSIM_REPRODUCE_LARD_H

#include "results/papers/claims.h"

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

void lard_csv(const struct lard_report *r, FILE *out);
void lard_plot(const struct lard_report *r, FILE *out);
void lard_json(const struct lard_report *r, const char *programs);

#endif
