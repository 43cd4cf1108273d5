/* means.c - means.csv and means.jsonl of a sweep with several seeds: a row for all seeds of a
 * point, with the mean of each number and the 95 percent interval of that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct map of;

    map_init(&of, NULL);
    for (size_t i = 0; i < w->listing->n; i++) {
        if (!w->row[i].n)
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

static void fill_head(struct cell_row *to, const struct collecting *w,
                      const struct means_columns *c)
{
    static const char *const end[] = {"", ".low", ".high"};

    for (size_t i = 1; i <= c->axes; i++)
        cell_row_add(to, xstrdup(w->head.at[i].text), false);
    cell_row_add(to, xstrdup("source"), false);
    cell_row_add(to, xstrdup("policy"), false);
    cell_row_add(to, xstrdup("seeds"), false);
    cell_row_add(to, xstrdup(overhead_measured_name), false);
    for (size_t i = c->first; i < c->end; i++)
        for (size_t k = 0; k < ARRAY_SIZE(end); k++)
            cell_row_add(to, xasprintf("%s%s", w->head.at[i].text, end[k]), false);
}

static void add_number(struct cell_row *to, double x)
{
    cell_row_add(to, isnan(x) ? xstrdup("") : xasprintf("%.6f", x), true);
}

static struct estimate estimate_at(const struct collecting *w, const struct seeded_point *p,
                                   size_t column)
{
    double *x = xcalloc(p->n, sizeof *x);

    for (size_t i = 0; i < p->n; i++) {
        const char *text = w->row[p->row[i]].at[column].text;
        x[i] = *text ? strtod(text, NULL) : NAN;
    }
    const struct estimate s = estimate_of(x, p->n);
    free(x);
    return s;
}

static void fill_row(struct cell_row *to, const struct collecting *w, const struct seeded_point *p,
                     const struct means_columns *c)
{
    const struct cell_row *first = &w->row[p->row[0]];

    for (size_t i = 1; i <= c->axes; i++)
        cell_row_add(to, xstrdup(first->at[i].text), first->at[i].number);
    cell_row_add(to, listing_source(&w->listing->row[p->row[0]]), false);
    cell_row_add(to, xstrdup(first->at[c->policy].text), false);
    cell_row_add(to, xasprintf("%zu", p->n), true);
    cell_row_add(to, xstrdup(first->at[c->policy + 1].text), false);
    for (size_t i = c->first; i < c->end; i++) {
        const struct estimate s = estimate_at(w, p, i);
        add_number(to, s.mean);
        add_number(to, s.mean - s.half);
        add_number(to, s.mean + s.half);
    }
}

static void write_points(const struct collecting *w, const struct seeded_points *p, FILE *csv,
                         FILE *jsonl)
{
    const struct means_columns c = columns_of(w);
    struct cell_row head = {0};

    fill_head(&head, w, &c);
    cell_row_csv(csv, &head);
    for (size_t i = 0; i < p->n; i++) {
        struct cell_row row = {0};
        fill_row(&row, w, &p->at[i], &c);
        cell_row_csv(csv, &row);
        cell_row_json(jsonl, &head, &row);
        cell_row_free(&row);
    }
    cell_row_free(&head);
}

static int write_both(struct collecting *w, const struct seeded_points *p, struct err *e)
{
    struct outfile *csv = table_open(w->folder, "means.csv", e);
    struct outfile *jsonl = table_open(w->folder, "means.jsonl", e);

    if (e->code) {
        outfile_abort(csv);
        outfile_abort(jsonl);
        return -1;
    }
    write_points(w, p, outfile_stream(csv), outfile_stream(jsonl));
    if (outfile_commit(csv, e)) {
        outfile_abort(jsonl);
        return -1;
    }
    w->means = p->n;
    return outfile_commit(jsonl, e);
}

/* Of another spec. */
static void remove_both(const struct sweep_folder *f)
{
    static const char *const names[] = {"means.csv", "means.jsonl"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char *path = sweep_path(f, names[i], NULL);
        (void)unlink(path);
        free(path);
    }
}

int means_write(struct collecting *w, struct err *e)
{
    struct seeded_points p = {0};
    int failed = 0;

    find_points(&p, w);
    if (p.several)
        failed = write_both(w, &p, e);
    else
        remove_both(w->folder);
    points_free(&p);
    return failed;
}
