/* judge.c - the claims of a table: the quantity that each is about, against its band. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/papers/table.h"

const char *const table_verdict_names[] = {"holds", "differs", "cannot"};

static enum table_verdict judge(const struct band *b, double ours)
{
    /* Slack: a number that the page rounds must not decide otherwise than the page shows. */
    const double slack = 1e-9;

    if (isnan(ours))
        return TABLE_CANNOT;
    if ((*b->low && ours < strtod(b->low, NULL) - slack) ||
        (*b->high && ours > strtod(b->high, NULL) + slack))
        return TABLE_DIFFERS;
    return TABLE_HOLDS;
}

/* "ever" counts what some trial found: of one trial it is another quantity. */
struct estimate quantity_estimate(const struct quantity *q, const char *text)
{
    const size_t seeds = strstr(text, "ever:") ? 0 : q->results->seeds;
    double *x = xcalloc(seeds + 1, sizeof *x);
    struct quantity one = *q;

    for (one.seed = 0; one.seed < seeds; one.seed++)
        x[one.seed] = quantity_of(&one, text);
    const struct estimate s = estimate_of(x, seeds > 1 ? seeds : 0);
    free(x);
    return s;
}

static bool same_point(const struct table_sample *a, const struct table_sample *b)
{
    return a->program == b->program && a->policy == b->policy && a->step == b->step;
}

bool seeds_are_same(const struct table_results *r, const struct table_program *p)
{
    bool several = false;

    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < i && r->sample[i].program == p; k++) {
            if (!same_point(&r->sample[i], &r->sample[k]))
                continue;
            several = true;
            if (r->sample[i].behaviour != r->sample[k].behaviour)
                return false;
        }
    return several;
}

bool judge_next(const struct table_results *r, size_t *at, struct table_judged *to)
{
    const struct band *b = &bands[*at];

    while (b->table && strcmp(b->table, r->of->name) != 0)
        b++;
    if (!b->table)
        return false;
    *at = (size_t)(b - bands) + 1;
    const struct quantity q = {.results = r, .seed = SIZE_MAX};
    *to = (struct table_judged){.band = b, .ours = quantity_of(&q, b->quantity)};
    to->seeds = quantity_estimate(&q, b->quantity);
    to->verdict = judge(b, to->ours);
    return true;
}

char *band_text(const struct band *b)
{
    if (*b->low && *b->high)
        return strcmp(b->low, b->high) == 0 ? xstrdup(b->low)
                                            : xasprintf("%s to %s", b->low, b->high);
    return *b->low ? xasprintf("at least %s", b->low) : xasprintf("at most %s", b->high);
}

void judge_all(const struct table_results *r, unsigned verdicts[TABLE_VERDICTS])
{
    struct table_judged j;

    memset(verdicts, 0, TABLE_VERDICTS * sizeof *verdicts);
    for (size_t at = 0; judge_next(r, &at, &j);)
        verdicts[j.verdict]++;
}

const char *number_text(char to[static NUMBER_TEXT], double x)
{
    const double size = fabs(x);

    if (isnan(x))
        snprintf(to, NUMBER_TEXT, "-");
    else if (isinf(x))
        snprintf(to, NUMBER_TEXT, "infinite");
    else
        snprintf(to, NUMBER_TEXT, "%.*f",
                 size >= 1000  ? 0
                 : size >= 100 ? 1
                 : size >= 10  ? 2
                               : 3,
                 x);
    return to;
}

char *quantity_for(const char *text, const char *what)
{
    char *to = NULL;

    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, "$");
        char *piece = xasprintf("%.*s%s", (int)n, at, at[n] ? what : "");
        xappend(&to, "", piece);
        free(piece);
        at += n + (at[n] != '\0');
    }
    return to;
}
