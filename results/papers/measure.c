/* measure.c - what is measured in a cell, from its statistics and those of the same point without
 * a policy. Times are of the region of interest where both have one. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/read/overhead.h"
#include "results/papers/table.h"

/* The kinds of results/papers/measures.csv.
 *
 * MORE_TIME: the overhead, in percent. MORE_WHOLE: likewise, of the whole run
 * (results/read/overhead.h). TIMES: cycles to those of none. SHARE: of the cores' time under none,
 * in percent: what is more of it here. REST: of the overhead, what is not in that. RATIO: one sum
 * to the other. MORE: the sum of the own to the base's. BASE: cycles of none, of the cores that had
 * threads, to the own sum. EVER: pairs of sites, each once in all trials. */
enum { MORE_TIME, MORE_WHOLE, TIMES, SHARE, REST, RATIO, MORE, BASE, EVER };

const struct table_measure measures[] = {
#include "measures.inc"
    {NULL, 0, NULL, NULL, 0},
};

const struct table_measure *measure_find(const char *name, size_t length)
{
    for (const struct table_measure *m = measures; m->name; m++)
        if (strlen(m->name) == length && !strncmp(m->name, name, length))
            return m;
    return NULL;
}

/* ---- statistics ----------------------------------------------------------------------------- */

static double stat_of(const struct cell_stats *s, const char *name)
{
    const char *text = cell_stats_find(s, name);

    return text ? strtod(text, NULL) : NAN;
}

static bool has_region(const struct table_sample *s)
{
    return run_time_of(&s->own).has_region;
}

/* "policy.$.checked" with the label in place. */
static char *with_label(const char *pattern, size_t length, const char *label, bool region)
{
    const char *at = memchr(pattern, '$', length);
    const char *before = region ? "roi." : "";

    if (!at)
        return xasprintf("%s%.*s", before, (int)length, pattern);
    return xasprintf("%s%.*s%s%.*s", before, (int)(at - pattern), pattern, label,
                     (int)(length - (size_t)(at - pattern) - 1), at + 1);
}

static double matching(const struct cell_stats *s, const char *pattern)
{
    double sum = 0;
    bool some = false;

    if (!strchr(pattern, '*'))
        return stat_of(s, pattern);
    for (size_t i = 0; i < s->n; i++)
        if (fnmatch(pattern, s->at[i].name, 0) == 0) {
            sum += strtod(s->at[i].value, NULL);
            some = true;
        }
    return some ? sum : NAN;
}

/* NAN if the cell has none of them: what it has not counts nothing. */
static double sum_of(const struct cell_stats *s, const char *patterns, const char *label,
                     bool region)
{
    double sum = 0;
    bool some = false;

    for (const char *at = patterns; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        char *pattern = with_label(at, length, label, region);
        const double x = matching(s, pattern);
        free(pattern);
        at += length;
        some |= !isnan(x);
        sum += isnan(x) ? 0 : x;
    }
    return some ? sum : NAN;
}

/* ---- measures ------------------------------------------------------------------------------- */

static struct overhead overhead(const struct table_sample *s, enum overhead_of which)
{
    const struct run_time own = run_time_of(&s->own), base = run_time_of(&s->base);

    return overhead_of(&own, &base, which);
}

static double more(const struct table_sample *s, enum overhead_of which)
{
    return overhead_value(overhead(s, which));
}

/* The policy's share: a statistic's increase over the run without it, by the time of the cores that
 * had threads in that run. Shares that cover all time add up to the overhead. */
static double share(const struct table_measure *m, const struct table_sample *s)
{
    const bool region = has_region(s);
    const double own = sum_of(&s->own, m->over, s->policy, region),
                 base = sum_of(&s->base, m->over, s->policy, region),
                 cycles = (double)overhead(s, OVERHEAD).without,
                 used = stat_of(&s->base, "machine.cores-used");

    return (own - (isnan(base) ? 0 : base)) / (cycles * used);
}

double measure_of(const struct table_measure *m, const struct table_sample *s)
{
    switch (m->kind) {
    case MORE_TIME:
        return m->times * more(s, OVERHEAD);
    case MORE_WHOLE:
        return m->times * more(s, OVERHEAD_WHOLE);
    case TIMES:
        return m->times * (more(s, OVERHEAD) + 1);
    case SHARE:
        return m->times * share(m, s);
    case REST:
        return m->times * (more(s, OVERHEAD) - share(m, s));
    case MORE:
        return m->times * sum_of(&s->own, m->over, s->policy, false) /
               sum_of(&s->base, m->under, s->policy, false);
    case EVER:
        return s->raced.known ? (double)s->raced.n : NAN;
    case BASE: {
        const bool region = has_region(s);
        return m->times * sum_of(&s->base, m->over, s->policy, region) *
               stat_of(&s->base, "machine.cores-used") /
               sum_of(&s->own, m->under, s->policy, region);
    }
    default:
        return m->times * sum_of(&s->own, m->over, s->policy, false) /
               (m->under ? sum_of(&s->own, m->under, s->policy, false) : 1);
    }
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

double measure_mean(const struct table_results *r, const struct table_measure *m,
                    const char *program, const char *step, const char *policy, size_t seed)
{
    struct table_pairs raced = {0};
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct table_sample *s = &r->sample[i];
        if (strcmp(s->program->name, program) != 0 || !same(s->step, step) ||
            strcmp(s->policy, policy) != 0 || (seed != SIZE_MAX && s->seed != seed))
            continue;
        const double x = measure_of(m, s);
        sum += isnan(x) ? 0 : x;
        n += isnan(x) ? 0 : 1;
        for (size_t k = 0; m->kind == EVER && k < s->raced.n; k++)
            pairs_add(&raced, s->raced.name[k]);
    }
    const double ever = (double)raced.n;
    pairs_free(&raced);
    if (m->kind == EVER)
        return n ? ever : NAN;
    return n ? sum / (double)n : NAN;
}
