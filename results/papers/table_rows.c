/* table_rows.c - the tables that `lardsim reproduce` repeats, as the build has made them of
 * results/papers/tables/. */
#include "results/papers/table.h"

const struct reproduction reproductions[] = {
#include "tables.inc"
    {.name = NULL},
};
