/* printed_rows.c - results/papers/printed/ and claims/, as the build has put them into tables. */
#include <string.h>

#include "results/papers/table.h"

const struct printed printed[] = {
#include "paper.inc"
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};

const struct band bands[] = {
#include "bands.inc"
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};

const struct printed *printed_find(const char *paper, const char *table, const char *program,
                                   const char *collector, const char *detector, const char *measure)
{
    for (const struct printed *p = printed; p->paper; p++)
        if (!strcmp(p->paper, paper) && !strcmp(p->table, table) && !strcmp(p->program, program) &&
            !strcmp(p->collector, collector) && !strcmp(p->detector, detector) &&
            !strcmp(p->measure, measure))
            return p;
    return NULL;
}
