/* all.h - `lardsim reproduce all`: every table, and one page of what became of each claim. */
#ifndef LARDSIM_REPRODUCE_ALL_H
#define LARDSIM_REPRODUCE_ALL_H

#include "results/papers/table.h"

struct all_options {
    struct run_options run;
    bool json;
    FILE *csv; /* borrowed; NULL: none */
};
int all_run(const struct all_options *o, struct err *e);

#endif
