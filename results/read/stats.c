/* stats.c - the statistics of a cell: the numbers of stats.csv, and of stats.json what is none. */
#include "results/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void cell_stat_add(struct cell_stats *s, const struct csv_row *row)
{
    s->at = xgrow(s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] = (struct cell_stat){xstrdup(csv_at(row, 0)), xstrdup(csv_at(row, 1)),
                                       xstrdup(csv_at(row, 2))};
}

static int read_numbers(struct cell_stats *s, const struct seal *seal, struct err *e)
{
    size_t bytes;
    char *text = seal_text(seal, "stats.csv", &bytes, e);
    struct csv_text in = {text, text ? text + bytes : NULL};
    struct csv_row row = {0};

    if (text && (!csv_read(&row, &in) || strcmp(csv_at(&row, 0), "name") != 0))
        err_set(e, LARD_TOLERANCE, "%s/stats.csv: is no table of statistics; " SEAL_REMEDY,
                seal_dir(seal));
    while (!e->code && csv_read(&row, &in))
        cell_stat_add(s, &row);
    csv_free(&row);
    free(text);
    return e->code ? -1 : 0;
}

static void take_word(void *stats, const char *name, const char *text)
{
    struct cell_stats *s = stats;

    if (!strcmp(name, "behaviour") && !s->behaviour)
        s->behaviour = xstrdup(text);
    else if (!strcmp(name, "findings.key"))
        xappend(&s->findings, " ", text);
}

int cell_stats_read(struct cell_stats *s, const char *dir, const char *hash, struct err *e)
{
    struct seal *seal = cell_open(dir, hash, e);

    *s = (struct cell_stats){0};
    if (seal && !read_numbers(s, seal, e))
        results_json(seal, "stats.json", take_word, s, e);
    seal_close(seal);
    return e->code ? -1 : 0;
}

const char *cell_stats_find(const struct cell_stats *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->at[i].name, name) == 0)
            return s->at[i].value;
    return NULL;
}

void cell_stats_free(struct cell_stats *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->at[i].name);
        free(s->at[i].value);
        free(s->at[i].unit);
    }
    free(s->at);
    free(s->behaviour);
    free(s->findings);
}
