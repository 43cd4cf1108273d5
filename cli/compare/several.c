/* several.c - the overheads of more than one run of each policy: other seeds, for the spread, and
 * longer runs, until they are settled (docs/compare.md). */
#include <math.h>
#include <stdlib.h>

#include "cli/compare/compare.h"

/* ---- overheads ------------------------------------------------------------------------------ */

void cost_runs_add(struct cost_runs *s, uint64_t value, const struct cost_table *t)
{
    s->run = xgrow(s->run, s->n, &s->cap, sizeof *s->run);
    struct cost_run *r = &s->run[s->n++];
    r->value = value;
    r->overhead = xcalloc(t->n, sizeof *r->overhead);
    for (size_t i = 0; i < t->n; i++)
        r->overhead[i] = overhead_value(costs_overhead(t, &t->row[i], OVERHEAD));
}

void cost_runs_free(struct cost_runs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->run[i].overhead);
    free(s->run);
    *s = (struct cost_runs){0};
}

struct cost_spread cost_spread_of(const struct cost_runs *s, size_t row)
{
    struct cost_spread x = {0, INFINITY, -INFINITY};

    for (size_t i = 0; i < s->n; i++) {
        const double o = s->run[i].overhead[row];
        x.mean += o / (double)s->n;
        x.least = o < x.least ? o : x.least;
        x.most = o > x.most ? o : x.most;
    }
    return x;
}

bool cost_runs_settled(const struct cost_runs *s, size_t rows)
{
    if (s->n < 2)
        return false;
    for (size_t i = 1; i < rows; i++)
        if (!overhead_settled(s->run[s->n - 2].overhead[i], s->run[s->n - 1].overhead[i]))
            return false;
    return true;
}
