/* several.c - the overheads of more than one run of each policy: other seeds, for the spread, and
 * longer runs, until they are settled (docs/compare.md). */
#include <stdlib.h>

#include "base/mem.h"
#include "results/experiment/costs.h"

/* ---- overheads ------------------------------------------------------------------------------ */

void cost_runs_add(struct cost_runs *s, uint64_t value, const struct cost_table *t)
{
    s->run = xgrow(s->run, s->n, &s->cap, sizeof *s->run);
    struct cost_run *r = &s->run[s->n++];
    r->value = value;
    r->overhead = xcalloc(t->n, sizeof *r->overhead);
    r->behaviour = xcalloc(t->n, sizeof *r->behaviour);
    for (size_t i = 0; i < t->n; i++) {
        r->overhead[i] = overhead_value(costs_overhead(t, &t->row[i], OVERHEAD));
        r->behaviour[i] = t->row[i].behaviour;
    }
}

void cost_runs_free(struct cost_runs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->run[i].overhead);
        free(s->run[i].behaviour);
    }
    free(s->run);
    *s = (struct cost_runs){0};
}

struct estimate cost_estimate_of(const struct cost_runs *s, size_t row)
{
    double *x = xcalloc(s->n + 1, sizeof *x);

    for (size_t i = 0; i < s->n; i++)
        x[i] = s->run[i].overhead[row];
    const struct estimate of = estimate_of(x, s->n);
    free(x);
    return of;
}

bool cost_runs_same(const struct cost_runs *s, size_t rows)
{
    for (size_t i = 1; i < s->n; i++)
        for (size_t k = 0; k < rows; k++)
            if (s->run[i].behaviour[k] != s->run[0].behaviour[k])
                return false;
    return s->n > 1;
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
