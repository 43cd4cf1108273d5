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
    .name = "sweep collect",
    .args = "DIR",
    .summary = "Writes the results of a sweep as tables: cells.csv, cells.jsonl, index.sqlite.",
    .text = "A row is a cell that is done: its axes, source, seed and policy; the overhead, which "
            "is its cycles / the cycles of its baseline - 1, the baseline being the cell of the "
            "same point without a policy; and statistics. `overhead` is of what `measured` says: "
            "of the region of interest, or of the whole run where none is marked. `overhead-whole` "
            "is of the whole run. index.sqlite has all statistics of all cells. An axis that makes "
            "no difference to a cell is empty in its row. All files of a cell are held against its "
            "DONE: one that is not as it was written is named, and is in no table; the exit code "
            "is 6 then. With several seeds there are means.csv and means.jsonl, too: a row for all "
            "seeds of a point, with the mean of each number and its 95 percent interval.",
    .examples = "lardsim sweep collect l2\n"
                "lardsim sweep collect l2 --stat policy.*.memory.peak",
    .options = options,
    .run = run_collect,
};
