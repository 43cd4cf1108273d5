/* reproduce.c - lardsim reproduce: repeats a table or a claim of a paper with our programs, and
 * judges what the paper says. The programs are not the paper's, so claims are judged, not numbers;
 * the paper's numbers stand beside ours. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "base/program/place.h"
#include "base/folder.h"
#include "results/papers/all.h"
#include "results/papers/lard.h"
#include "results/papers/table.h"

enum { OPT_PLOT = 512, OPT_PROGRAMS, OPT_GNUPLOT, OPT_CELLS, OPT_QUICK, OPT_SEEDS, OPT_SIZE };

/* The files that a table is written to. */
enum { FILE_CSV, FILE_PLOT, FILE_GNUPLOT };
static const int file_key[OUTPUTS] = {
    [FILE_CSV] = 'o', [FILE_PLOT] = OPT_PLOT, [FILE_GNUPLOT] = OPT_GNUPLOT};

/* ---- LARD's Tables 2 and 3 ------------------------------------------------------------------ */

static int refuse(const struct cli *c, const char *name, struct err *e)
{
    static const struct {
        int key;
        const char *text;
    } no[] = {{OPT_GNUPLOT, "--gnuplot"}, {OPT_CELLS, "--cells"}, {OPT_QUICK, "--quick"},
              {OPT_SEEDS, "--seeds"},     {OPT_SIZE, "--size"},   {'j', "--jobs"},
              {OPT_BAND, "--band"}};

    for (size_t i = 0; i < ARRAY_SIZE(no); i++)
        if (cli_has(c, no[i].key))
            return err_set(e, LARD_USAGE,
                           "reproduce: %s is no sweep, and has no %s; leave that out", name,
                           no[i].text);
    return 0;
}

static int reproduce_lard(const struct cli *c, const struct paper *p, struct outputs *f,
                          struct err *e)
{
    const bool quiet = cli_has(c, OPT_QUIET), json = cli_has(c, OPT_JSON);
    struct lard_report r = {.quiet = quiet || json, .paper = p};
    size_t suite = 0;

    if (refuse(c, p->name, e) || cli_index(c, OPT_PROGRAMS, suite_names, &suite, e) ||
        outputs_open(f, c, file_key, e))
        return -1;
    int status = lard_run(&r, &suites[suite], quiet, e);
    if (!status && f->at[FILE_CSV])
        lard_csv(&r, outfile_stream(f->at[FILE_CSV]));
    if (!status && f->at[FILE_PLOT])
        lard_plot(&r, outfile_stream(f->at[FILE_PLOT]));
    status = status || outputs_commit(f, e) ? -1 : 0;
    if (!status && json)
        lard_json(&r, suites[suite].name);
    if (!status && r.verdicts[FAILS])
        status = err_set(e, LARD_TOLERANCE, "%s: %u claims fail; the table says which", p->name,
                         r.verdicts[FAILS]);
    lard_free(&r);
    return status;
}

/* ---- where cells are ------------------------------------------------------------------------ */

/* A folder for cells that nobody keeps: owned by the caller. NULL: error. */
static char *temporary(struct err *e)
{
    char *dir;

    if (!place_temporary(&dir, "lardsim-cells"))
        return dir;
    err_set(e, LARD_OUTPUT, "%s: a folder for cells can't be made there; give --cells DIR", dir);
    free(dir);
    return NULL;
}

/* The table's machine must have a core that heeds core.unmodelled. */
static int band_option(uint64_t *most, const struct cli *c, const struct reproduction *t,
                       struct err *e)
{
    const char *machine = t ? machine_of(t) : NULL;

    if (!cli_has(c, OPT_BAND))
        return 0;
    if (!machine)
        return err_set(e, LARD_USAGE, "reproduce: --band is of one table on a machine; name that");
    struct lardsim *l = lardsim_new();
    lardsim_preset(l, machine); /* machine_of knows it */
    const int failed = cli_band(c, l, most, e);
    lardsim_free(l);
    return failed ? -1 : 0;
}

static int run_options(struct run_options *o, const struct cli *c, const struct reproduction *t,
                       struct err *e)
{
    o->quick = cli_has(c, OPT_QUICK);
    o->quiet = cli_has(c, OPT_QUIET);
    o->size = cli_get(c, OPT_SIZE);
    if (cli_u64(c, 'j', &o->jobs, e) || cli_u64(c, OPT_SEEDS, &o->seeds, e) ||
        band_option(&o->band, c, t, e))
        return -1;
    if (o->jobs > 4096 || o->seeds > 1000)
        return err_set(e, LARD_USAGE, "reproduce: give at most 4096 --jobs, and 1000 --seeds");
    return 0;
}

/* ---- a table -------------------------------------------------------------------------------- */

static int write_table(const struct table_results *r, struct outputs *f, struct err *e)
{
    static void (*const write[OUTPUTS])(const struct table_results *r, FILE *out) = {
        [FILE_CSV] = file_csv, [FILE_PLOT] = file_plot, [FILE_GNUPLOT] = file_gnuplot};

    for (size_t i = 0; i < OUTPUTS; i++)
        if (f->at[i])
            write[i](r, outfile_stream(f->at[i]));
    return outputs_commit(f, e);
}

static void print_table(const struct cli *c, const struct table_results *r)
{
    struct json j;

    if (cli_has(c, OPT_JSON)) {
        json_init(&j, stdout, true);
        page_json(r, &j);
    } else if (!cli_has(c, OPT_QUIET)) {
        page_print(r);
    }
}

static int reproduce_table(const struct cli *c, const struct reproduction *t,
                           const struct run_options *o, struct outputs *f, struct err *e)
{
    struct table_results r = {0};
    unsigned verdicts[TABLE_VERDICTS];

    if (outputs_open(f, c, file_key, e))
        return -1;
    int status = results_make(&r, t, o, e) || write_table(&r, f, e) ? -1 : 0;
    if (!status) {
        print_table(c, &r);
        judge_all(&r, verdicts);
        if (verdicts[TABLE_DIFFERS])
            status = err_set(e, LARD_TOLERANCE, "%s: %u claims differ; the table says which",
                             t->name, verdicts[TABLE_DIFFERS]);
    }
    results_free(&r);
    return status;
}

static int reproduce_all(const struct cli *c, const struct run_options *o, struct outputs *f,
                         struct err *e)
{
    if (cli_has(c, OPT_PLOT) || cli_has(c, OPT_GNUPLOT) || cli_has(c, OPT_SIZE))
        return err_set(e, LARD_USAGE,
                       "reproduce: --plot, --gnuplot and --size are of one table; name that");
    if (!o->quick && !cli_has(c, OPT_CELLS))
        return err_set(e, LARD_USAGE,
                       "reproduce: all tables take hours; give --cells DIR, with which it goes on "
                       "where it was stopped, or --quick");
    if (outputs_open(f, c, file_key, e))
        return -1;
    const struct all_options all = {.run = *o,
                                    .json = cli_has(c, OPT_JSON),
                                    .csv =
                                        f->at[FILE_CSV] ? outfile_stream(f->at[FILE_CSV]) : NULL};
    const int status = all_run(&all, e);
    struct err late = {0};
    return outputs_commit(f, status && e->code != LARD_TOLERANCE ? &late : e) ? -1 : status;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static const struct reproduction *table_named(const char *name)
{
    for (const struct reproduction *t = reproductions; t->name; t++)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}

static int no_such(const char *name, struct err *e)
{
    char *all = xstrdup("all");

    for (const struct reproduction *t = reproductions; t->name; t++)
        xappend(&all, ", ", t->name);
    for (const struct paper *p = papers; p->name; p++)
        xappend(&all, ", ", p->name);
    err_set(e, LARD_USAGE, "reproduce: %.100s: no such result; there are %s", name, all);
    free(all);
    return -1;
}

/* A table whose programs are captures of real ones. */
static int reproduce_captured(const struct cli *c, const struct reproduction *t,
                              const struct run_options *o, struct outputs *f, struct err *e)
{
    struct reproduction real;

    if (!t || o->seeds)
        return err_set(e, LARD_USAGE,
                       "reproduce: --programs real is for one table, and its programs are "
                       "captures, without seeds; leave --seeds out");
    const int status = captured_table(&real, t, o, e) ? -1 : reproduce_table(c, &real, o, f, e);
    captured_free(&real);
    return status;
}

/* Reproduces one table, or all, from a sweep. */
static int reproduce_sweep(const struct cli *c, const struct reproduction *t, struct outputs *f,
                           struct err *e)
{
    struct run_options o = {.dir = cli_get(c, OPT_CELLS)};
    char *own = NULL;
    size_t suite = SUITE_TWINS;

    if (cli_index(c, OPT_PROGRAMS, suite_names, &suite, e))
        return -1;
    if (suite == SUITE_KERNELS)
        return err_set(e, LARD_USAGE,
                       "reproduce: --programs kernels is for lard-table2 and lard-table3");
    if (t && !t->program->name && suite != SUITE_REAL)
        return err_set(e, LARD_USAGE, "reproduce: %s is of real programs: give --programs real",
                       t->name);
    if (run_options(&o, c, t, e) || (!o.dir && !(o.dir = own = temporary(e))))
        return -1;
    const int status = suite == SUITE_REAL ? reproduce_captured(c, t, &o, f, e)
                       : t                 ? reproduce_table(c, t, &o, f, e)
                                           : reproduce_all(c, &o, f, e);
    if (own)
        (void)folder_remove(own);
    free(own);
    return status;
}

/* Standard output is for one of them. */
static int check_stdout(const struct cli *c, struct err *e)
{
    for (size_t i = 0; i < OUTPUTS && cli_has(c, OPT_JSON); i++)
        if (cli_get(c, file_key[i]) && !strcmp(cli_get(c, file_key[i]), "-"))
            return err_set(e, LARD_USAGE,
                           "reproduce: with --json, standard output has the JSON; give -o, --plot "
                           "and --gnuplot a file");
    return 0;
}

static int run_reproduce(const struct cli *c, struct err *e)
{
    const char *name = c->arg[0];
    const struct paper *lard = lard_find(name);
    const struct reproduction *t = table_named(name);
    struct outputs files = {{NULL}};

    if (!lard && !t && strcmp(name, "all") != 0)
        return no_such(name, e);
    if (check_stdout(c, e))
        return -1;
    const int status = lard ? reproduce_lard(c, lard, &files, e) : reproduce_sweep(c, t, &files, e);
    outputs_abort(&files);
    return status;
}

static const struct argp_option options[] = {
    OPTION("output", 'o', "FILE",
           "Write all counts to this file as CSV, too; - is standard output"),
    OPTION("plot", OPT_PLOT, "FILE", "Write a plot of the paper's numbers and ours, an SVG"),
    OPTION("gnuplot", OPT_GNUPLOT, "FILE", "Write a script for gnuplot, with the data in it"),
    OPTION("programs", OPT_PROGRAMS, "twins|kernels|real",
           "What runs: twins of the paper's programs (the default), captures of real programs, or, "
           "for lard-table2 and lard-table3, programs that compute"),
    OPTION("cells", OPT_CELLS, "DIR",
           "Keep the cells of the sweep in this folder, and run those only that it does not have"),
    OPTION("jobs", 'j', "N", "Run in this many processes; else in as many as there are processors"),
    OPTION("quick", OPT_QUICK, NULL, "Run less: shorter programs, one seed"),
    OPTION("seeds", OPT_SEEDS, "N", "Run each program with so many seeds"),
    OPTION("size", OPT_SIZE, "TEXT",
           "What each program is given besides, as accesses=1M; a captured one, as size=medium"),
    OPTION("band", OPT_BAND, "PERCENT",
           "Run all once more with core.unmodelled at PERCENT, and print both ends"),
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace FILE if it exists"),
    ROW_JSON,
    ROW_QUIET,
    ROW_END};

const struct verb verb_reproduce = {
    .help = &verb_help[HELP_reproduce], .options = options, .run = run_reproduce};
