/* series.c - intervals.csv, of which not more rows are kept than a picture can show: where there
 * are more, two become one, again and again. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"

static char **copy_heads(const struct csv_row *head)
{
    char **name = xcalloc(head->n, sizeof *name);

    for (size_t i = 0; i < head->n; i++)
        name[i] = xstrdup(csv_at(head, i));
    return name;
}

/* The first column is where a row starts, the second where it ends, all others add up. */
static void merge(struct report_series *s)
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

static bool add_row(struct report_series *s, const struct csv_row *row)
{
    if (row->n != s->columns)
        return false;
    if (s->rows == 2 * SERIES_ROWS)
        merge(s);
    for (size_t i = 0; i < s->columns; i++) {
        char *end;
        s->value[s->rows * s->columns + i] = strtod(csv_at(row, i), &end);
        if (*end || end == csv_at(row, i))
            return false;
    }
    s->rows++;
    return true;
}

struct report_series *series_read(const char *path, bool *bad)
{
    FILE *in = fopen(path, "re");
    struct csv_row row = {0};

    *bad = false;
    if (!in)
        return NULL;
    struct report_series *s = xcalloc(1, sizeof *s);
    *bad = !csv_read(&row, in) || row.n < 3 || strcmp(csv_at(&row, 0), "start") != 0 ||
           strcmp(csv_at(&row, 1), "end") != 0;
    if (!*bad) {
        s->name = copy_heads(&row);
        s->columns = row.n;
        s->value = xcalloc(2 * SERIES_ROWS * s->columns, sizeof *s->value);
    }
    while (!*bad && csv_read(&row, in))
        *bad = !add_row(s, &row);
    csv_free(&row);
    fclose(in);
    if (*bad || !s->rows) {
        series_free(s);
        return NULL;
    }
    if (s->rows > SERIES_ROWS)
        merge(s);
    return s;
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
