/* report.c - lardsim report: results are read again, and become a page, and figures as files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "results/page/report.h"

enum { OPT_FIGURES = 560, OPT_DIFF, OPT_WHY };
/* The races that are explained if nothing is given, and the events up to which their run is read
 * again: that takes some seconds. */
enum { EXPLAINED = 3, EVENTS_READ = 5000000 };

/* ---- figures as files ------------------------------------------------------------------------ */

/* Returns a figure's file. Its name has labels in it, which may have any characters. */
static char *file_name(const char *dir, const char *name, const char *ending)
{
    char *path = xasprintf("%s/%s.%s", dir, name, ending);

    for (char *at = path + strlen(dir) + 1; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *at))
            *at = '-';
    return path;
}

static int write_figure(const struct figure *f, const char *dir, bool replace, struct err *e)
{
    for (size_t i = 0; i < FIGURE_FORMS && !e->code; i++) {
        char *path = file_name(dir, f->name, figure_forms[i].ending);
        struct outfile *out = outfile_open(path, replace, e);
        if (out) {
            figure_forms[i].write(f, outfile_stream(out));
            (void)outfile_commit(out, e);
        }
        free(path);
    }
    return e->code ? -1 : 0;
}

static int write_figures(const struct figures *f, const char *dir, bool replace, struct err *e)
{
    if (!dir)
        return 0;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return outfile_error(e, dir, errno);
    for (size_t i = 0; i < f->n; i++)
        if (write_figure(&f->at[i], dir, replace, e))
            return -1;
    return 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void tell_faults(const struct report_faults *f)
{
    for (size_t i = 0; i < f->n; i++)
        print_note("warning: %s", f->at[i]);
}

static int faulty(const struct report_faults *f, const char *page, struct err *e)
{
    if (!f->n)
        return LARD_DONE;
    return err_set(e, LARD_TOLERANCE, "%s: shows what is whole; not all was, as said above", page);
}

static void make_figures(struct figures *f, const struct reported *r, size_t *first)
{
    for (size_t i = 0; i < r->n; i++) {
        char *prefix = r->n > 1 ? xasprintf("%zu-", i + 1) : xstrdup("");
        first[i] = f->n;
        figures_make(f, &r->study[i], prefix);
        free(prefix);
    }
    first[r->n] = f->n;
}

static void tell_done(const struct cli *c, const char *page, const struct reported *r,
                      const struct figures *f)
{
    size_t cells = 0, races = 0;

    for (size_t i = 0; i < r->n; i++) {
        cells += r->study[i].cells;
        races += r->study[i].races;
    }
    if (cli_has(c, OPT_QUIET) || !strcmp(page, "-"))
        return;
    print_visible(stdout, page);
    printf(": %zu cell%s, %zu figure%s, %zu pair%s of sites that race\n", cells,
           cells == 1 ? "" : "s", f->n, f->n == 1 ? "" : "s", races, races == 1 ? "" : "s");
}

static int report_page(const struct cli *c, const char *page, struct outfile **out, struct err *e)
{
    struct reported r = {0};
    struct figures f = {0};
    struct explaining x = {.races = EXPLAINED,
                           .events = cli_has(c, OPT_WHY) ? UINT64_MAX : EVENTS_READ,
                           .quiet = cli_has(c, OPT_QUIET)};
    int status = cli_u64(c, OPT_WHY, &x.races, e) || reported_read(&r, c->arg, c->args, e) ? -1 : 0;

    if (!status) {
        size_t *first = xcalloc(r.n + 1, sizeof *first);
        status = explain_all(&r, &x, e);
        tell_faults(&r.faults);
        make_figures(&f, &r, first);
        page_write(outfile_stream(*out), &r, &f, first);
        status = status ? status
                        : write_figures(&f, cli_get(c, OPT_FIGURES), cli_has(c, OPT_OVERWRITE), e);
        if (!status) {
            status = outfile_commit(*out, e);
            *out = NULL;
        }
        if (!status) {
            tell_done(c, page, &r, &f);
            status = faulty(&r.faults, page, e);
        }
        free(first);
    }
    figures_free(&f);
    reported_free(&r);
    return status;
}

static int difference_page(const struct cli *c, const char *page, struct outfile **out,
                           struct err *e)
{
    struct report_difference d = {0};
    const struct report_faults *faults = &d.of[0].faults;
    double threshold;
    int status = c->args == 2
                     ? 0
                     : err_set(e, LARD_USAGE, "report: --diff is of two folders, and there are %zu",
                               c->args);

    status = status || difference_threshold(cli_get(c, OPT_THRESHOLD), &threshold, e) ||
                     difference_make(&d, (const char *const *)c->arg, threshold, e)
                 ? -1
                 : 0;
    if (!status) {
        tell_faults(faults);
        page_differences(outfile_stream(*out), faults, &d);
        status = outfile_commit(*out, e);
        *out = NULL;
        if (!status && !cli_has(c, OPT_QUIET) && strcmp(page, "-") != 0)
            difference_text(&d, stdout);
        if (!status)
            status = faulty(faults, page, e);
    }
    difference_free(&d);
    return status;
}

static int run_report(const struct cli *c, struct err *e)
{
    const char *page = cli_get(c, 'o') ? cli_get(c, 'o') : "report.html";
    struct outfile *out = outfile_open(page, cli_has(c, OPT_OVERWRITE), e);

    if (!out)
        return -1;
    const int status = (cli_has(c, OPT_DIFF) ? difference_page : report_page)(c, page, &out, e);
    outfile_abort(out);
    return status;
}

static const struct argp_option options[] = {
    OPTION("output", 'o', "FILE",
           "Write the page to this file, else to report.html; - is standard output"),
    OPTION("figures", OPT_FIGURES, "DIR",
           "Write each figure as SVG, CSV and a script for gnuplot, too"),
    OPTION("why", OPT_WHY, "N",
           "Say why the first N races are ones, by reading their sources again; else of 3, and of "
           "runs with at most 5M events"),
    OPTION("diff", OPT_DIFF, NULL, "Show what differs between two folders, and what of it matters"),
    ROW_THRESHOLD,
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace files that exist"),
    ROW_QUIET,
    ROW_END};

const struct verb verb_report = {
    .help = &verb_help[HELP_report], .options = options, .run = run_report};
