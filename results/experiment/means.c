/* means.c - means.csv and means.jsonl of a sweep with several seeds: a row for all seeds of a
 * point, with the mean of each number and the 95 percent interval of that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "results/read/estimate.h"
#include "results/experiment/collect.h"

struct seeded_point { /* cells that differ in the seed alone */
    size_t *row;
    size_t n, cap;
};
struct seeded_points {
    struct seeded_point *at; /* own; in the order of their first cells */
    size_t n, cap;
    bool several; /* seeds of one */
};

static void find_points(struct seeded_points *p, const struct collecting *w)
{
    struct map of = {0};

    for (size_t i = 0; i < w->listing->n; i++) {
        if (!w->row[i])
            continue;
        uint64_t *at = map_put(&of, listing_point(w->listing, &w->listing->row[i], LISTED_SEED));
        if (!*at) {
            p->at = xgrow(p->at, p->n, &p->cap, sizeof *p->at);
            p->at[p->n] = (struct seeded_point){0};
            *at = ++p->n;
        }
        struct seeded_point *one = &p->at[*at - 1];
        one->row = xgrow(one->row, one->n, &one->cap, sizeof *one->row);
        one->row[one->n++] = i;
        p->several |= one->n > 1;
    }
    map_free(&of);
}

static void points_free(struct seeded_points *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->at[i].row);
    free(p->at);
}

/* Columns of cells.csv: the axes behind the cell's name, then source, seed, policy and what the
 * overhead is of, and numbers from the overheads up to the behaviour. */
struct means_columns {
    size_t axes, policy, first, end;
};

static struct means_columns columns_of(const struct collecting *w)
{
    const size_t axes = w->listing->head.n - LISTED_AXES, policy = 1 + axes + 2, first = policy + 2;

    return (struct means_columns){axes, policy, first, first + OVERHEADS + w->stats};
}

static void fill_head(struct table *to, const struct collecting *w, const struct means_columns *c)
{
    static const char *const end[] = {"", ".low", ".high"};

    for (size_t i = 1; i <= c->axes; i++)
        table_head(to, (struct table_head){.name = w->table.head[i].name});
    table_head(to, (struct table_head){.name = "source"});
    table_head(to, (struct table_head){.name = "policy"});
    table_head(to, (struct table_head){.name = "seeds"});
    table_head(to, (struct table_head){.name = overhead_measured_name});
    for (size_t i = c->first; i < c->end; i++)
        for (size_t k = 0; k < ARRAY_SIZE(end); k++) {
            char *name = xasprintf("%s%s", w->table.head[i].name, end[k]);
            table_head(to, (struct table_head){.name = name});
            free(name);
        }
}

static void add_number(struct table *to, double x)
{
    table_take(to, isnan(x) ? NULL : xasprintf("%.6f", x), true);
}

static struct estimate estimate_at(const struct collecting *w, const struct seeded_point *p,
                                   size_t column)
{
    double *x = xcalloc(p->n, sizeof *x);

    for (size_t i = 0; i < p->n; i++) {
        const char *text = table_at(&w->table, w->row[p->row[i]] - 1, column)->text;
        x[i] = text && *text ? strtod(text, NULL) : NAN;
    }
    const struct estimate s = estimate_of(x, p->n);
    free(x);
    return s;
}

static void fill_row(struct table *to, const struct collecting *w, const struct seeded_point *p,
                     const struct means_columns *c)
{
    const struct table_value *first = table_at(&w->table, w->row[p->row[0]] - 1, 0);

    for (size_t i = 1; i <= c->axes; i++)
        table_take(to, xstrdup(first[i].text), first[i].number);
    table_take(to, listing_source(&w->listing->row[p->row[0]]), false);
    table_text(to, first[c->policy].text);
    table_u64(to, p->n);
    table_text(to, first[c->policy + 1].text);
    for (size_t i = c->first; i < c->end; i++) {
        const struct estimate s = estimate_at(w, p, i);
        add_number(to, s.mean);
        add_number(to, s.mean - s.half);
        add_number(to, s.mean + s.half);
    }
}

void means_remove(const struct sweep_folder *f)
{
    static const char *const names[] = {"means.csv", "means.jsonl"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char *path = sweep_path(f, names[i], NULL);
        (void)unlink(path);
        free(path);
    }
}

size_t means_fill(struct table *to, const struct collecting *w)
{
    const struct means_columns c = columns_of(w);
    struct seeded_points p = {0};

    find_points(&p, w);
    if (p.several)
        fill_head(to, w, &c);
    for (size_t i = 0; p.several && i < p.n; i++)
        fill_row(to, w, &p.at[i], &c);
    points_free(&p);
    return table_rows(to);
}
