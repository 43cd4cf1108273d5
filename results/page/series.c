/* series.c - intervals.csv, of which not more rows are kept than a picture can show: where there
 * are more, two become one, again and again. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/page/report.h"

/* The first column is where a row starts, the second where it ends, all others add up. */
static void series_merge(struct report_series *s)
{
    const size_t columns = s->columns;

    for (size_t i = 0; i < s->rows; i += 2) {
        const double *a = &s->value[i * columns], *b = i + 1 < s->rows ? a + columns : NULL;
        double *to = &s->value[i / 2 * columns];
        for (size_t k = 0; k < columns; k++)
            to[k] = k == 0 || !b ? a[k] : k == 1 ? b[k] : a[k] + b[k];
    }
    s->rows = (s->rows + 1) / 2;
}

static bool series_add(struct report_series *s, const struct csv_row *row)
{
    if (row->n != s->columns)
        return false;
    if (s->rows == 2 * SERIES_ROWS)
        series_merge(s);
    for (size_t i = 0; i < s->columns; i++) {
        char *end;
        s->value[s->rows * s->columns + i] = strtod(csv_at(row, i), &end);
        if (*end || end == csv_at(row, i))
            return false;
    }
    s->rows++;
    return true;
}

struct reading_series {
    struct report_series *s;
    struct csv_row row;
    bool bad;
};

static bool is_head(const struct csv_row *row)
{
    return row->n >= 3 && !strcmp(csv_at(row, 0), "start") && !strcmp(csv_at(row, 1), "end");
}

static bool series_line(void *reading, char *line, size_t bytes)
{
    struct reading_series *r = reading;
    struct csv_text in = {line, line + bytes};

    r->bad = !csv_read(&r->row, &in) || (!r->s->columns && !is_head(&r->row));
    if (!r->bad && r->s->columns) {
        r->bad = !series_add(r->s, &r->row);
    } else if (!r->bad) {
        r->s->columns = r->row.n;
        r->s->name = xcalloc(r->row.n, sizeof *r->s->name);
        for (size_t i = 0; i < r->row.n; i++)
            r->s->name[i] = xstrdup(csv_at(&r->row, i));
        r->s->value = xcalloc(2 * SERIES_ROWS * r->s->columns, sizeof *r->s->value);
    }
    return r->bad;
}

struct report_series *series_read(const struct seal *s, struct err *e)
{
    struct reading_series r = {.s = xcalloc(1, sizeof *r.s)};

    if (seal_names(s, "intervals.csv") && !seal_lines(s, "intervals.csv", series_line, &r, e) &&
        r.bad)
        err_set(e, LARD_TOLERANCE, "%s/intervals.csv: is no table of intervals that lardsim wrote",
                seal_dir(s));
    csv_free(&r.row);
    if (e->code || !r.s->rows) {
        series_free(r.s);
        return NULL;
    }
    if (r.s->rows > SERIES_ROWS)
        series_merge(r.s);
    return r.s;
}

double series_at(const struct report_series *s, size_t row, const char *name)
{
    for (size_t i = 0; i < s->columns; i++)
        if (!strcmp(s->name[i], name))
            return s->value[row * s->columns + i];
    return NAN;
}

void series_free(struct report_series *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->columns; i++)
        free(s->name[i]);
    free((void *)s->name);
    free(s->value);
    free(s);
}
