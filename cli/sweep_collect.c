/* sweep_collect.c - lardsim sweep collect: the results of a sweep as tables. */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "results/experiment/collect.h"

enum { OPT_STAT = 600 };

static void print_tables(const struct sweep_tables *w, const char *dir)
{
    printf("%s/cells.csv, cells.jsonl and index.sqlite: %zu cells\n", dir, w->cells);
    if (w->means)
        printf("%s/means.csv and means.jsonl: means over seeds, %zu rows\n", dir, w->means);
}

static void json_tables(const struct sweep_tables *w, const char *dir)
{
    static const char *const files[] = {"cells.csv", "cells.jsonl", "index.sqlite", "means.csv",
                                        "means.jsonl"};
    const size_t n = w->means ? ARRAY_SIZE(files) : 3; /* the last two: of several seeds */
    struct json j;

    json_page(&j, stdout, "lardsim-sweep-collect-1");
    JSON_COUNTS(&j, {"cells", w->cells}, {"missing", w->missing}, {"damaged", w->damaged});
    json_key_array(&j, "files");
    for (size_t i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", dir, files[i]);
        json_str(&j, path);
        free(path);
    }
    json_end(&j);
    json_end(&j);
}

static int run_collect(const struct cli *c, struct err *e)
{
    const char **stat = xcalloc(c->n + 1, sizeof *stat);
    struct sweep_tables written;
    size_t stats = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->given[i].key == OPT_STAT)
            stat[stats++] = c->given[i].value;
    if (!sweep_collect(&written, c->arg[0], stat, stats, e)) {
        (cli_has(c, OPT_JSON) ? json_tables : print_tables)(&written, c->arg[0]);
        if (written.damaged) {
            const struct sweep_folder f = {.dir = (char *)c->arg[0]};
            sweep_damaged(&f, written.damaged, e);
        }
    }
    free(stat);
    return e->code ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("stat", OPT_STAT, "NAME",
           "Have this statistic, too, as a column; policy.*.NAME is that of the cell's policy; may "
           "be repeated"),
    ROW_JSON, ROW_END};

const struct verb verb_sweep_collect = {
    .help = &verb_help[HELP_sweep_collect], .options = options, .run = run_collect};
