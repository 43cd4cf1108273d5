/* verb.c - lardsim reproduce: runs programs as LARD's Tables 2 and 3 run theirs, and judges
 * what the paper says of each program and collector. The programs are not the paper's, so claims
 * are judged, not numbers; the paper's numbers stand beside ours. */
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/claims.h"
#include "cli/reproduce/print.h"

enum { OPT_PLOT = 512, OPT_PROGRAMS };

/* What is printed, and kept for the files, which are written at the end. */
struct report {
    const struct paper *paper;
    bool quiet; /* no table */
    struct progress progress;
    struct cell *cell; /* owns */
    size_t cells, cap;
    unsigned verdicts[VERDICTS]; /* how many of each */
};

/* ---- running and judging -------------------------------------------------------------------- */

static void report_cell(struct report *r, const struct cell *c)
{
    const enum verdict is = judge_program(c);

    if (!r->quiet)
        print_head(c);
    r->verdicts[is]++;
    if (is == FAILS && !r->quiet)
        printf("  %s: the program should %s races\n", verdict_names[is],
               c->program->racy ? "have" : "have no");
    for (const struct claim *claim = r->paper->claims; claim->text; claim++) {
        const enum verdict v = claim->judge(c);
        r->verdicts[v]++;
        if (!r->quiet)
            print_claim(r->paper, c, claim, v);
    }
    if (!r->quiet) {
        print_system(r->paper, c);
        print_errata(r->paper, c);
    }
}

/* Claims of all programs together: an extension is needed if any program shows it. */
static void report_needs(struct report *r)
{
    if (!r->paper->differences)
        return;
    if (!r->quiet)
        puts("\nover all programs: every extension is needed");
    for (size_t i = 0; i < NEEDS; i++) {
        const size_t n = cells_that_need(r->cell, r->cells, &needs[i]);
        const enum verdict v = n ? HOLDS : FAILS;
        r->verdicts[v]++;
        if (!r->quiet)
            printf("  %-10s %-30s in %zu of %zu  %s\n", view_names[needs[i].view], needs[i].text, n,
                   r->cells, verdict_names[v]);
    }
}

static int run_cell(struct report *r, const struct suite *s, const struct program *p,
                    const struct collector *collector, struct err *e)
{
    struct cell c = {.program = p, .collector = collector};
    char *spec = xasprintf("%s,gc=%s%s%s%s%s", p->name, collector->name, s->settings ? "," : "",
                           s->settings ? s->settings : "", p->settings ? "," : "",
                           p->settings ? p->settings : "");
    const int status = reproduce_measure(spec, &c.is, &r->progress, e);

    free(spec);
    if (status)
        return -1;
    r->cell = xgrow(r->cell, r->cells, &r->cap, sizeof *r->cell);
    r->cell[r->cells++] = c;
    report_cell(r, &c);
    return 0;
}

static size_t cells_of(const struct suite *s)
{
    size_t n = 0;

    while (s->program[n].name)
        n++;
    return n * COLLECTORS;
}

static int run_suite(struct report *r, const struct suite *s, bool quiet, struct err *e)
{
    progress_begin(&r->progress, quiet, REPRODUCE_PARTS * cells_of(s));
    if (!r->quiet)
        printf("%s\nDRE: racy accesses; PC: their sites. false, missed: against a truth that goes "
               "by (object identity,\noffset), not by addresses, Clear or Copy.\n",
               r->paper->title);
    for (const struct program *p = s->program; p->name; p++)
        for (size_t k = 0; k < COLLECTORS; k++)
            if (run_cell(r, s, p, &collectors[k], e))
                return -1;
    report_needs(r);
    if (!r->quiet)
        printf("\nclaims: %u hold, %u fail, %u have no case\n", r->verdicts[HOLDS],
               r->verdicts[FAILS], r->verdicts[NO_CASE]);
    return 0;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Before anything runs: a path that can't be written is known at once. NULL with no error: no path.
 */
static struct outfile *open_file(const struct cli *c, const char *path, struct err *e)
{
    return path ? outfile_open(path, cli_has(c, OPT_OVERWRITE), e) : NULL;
}

static void write_csv(const struct report *r, FILE *out)
{
    csv_head(out);
    for (size_t i = 0; i < r->cells; i++)
        csv_cell(out, r->paper, &r->cell[i]);
}

static void write_plot(const struct report *r, FILE *out)
{
    plot_cells(out, r->paper, r->cell, r->cells);
}

/* Writes and commits *file, if there is one, and sets it to NULL. */
static int write_file(const struct report *r, struct outfile **file,
                      void (*write)(const struct report *r, FILE *out), struct err *e)
{
    struct outfile *f = *file;

    if (!f)
        return 0;
    *file = NULL;
    write(r, outfile_stream(f));
    return outfile_commit(f, e);
}

/* ---- the verb ------------------------------------------------------------------------------- */

static const struct paper *paper_find(const char *name, struct err *e)
{
    for (const struct paper *p = papers; p->name; p++)
        if (!strcmp(p->name, name))
            return p;
    err_set(e, LARD_USAGE, "reproduce: %.100s: no such result; lard-table2 and lard-table3 are",
            name);
    return NULL;
}

static int judged(const struct report *r, struct err *e)
{
    if (!r->verdicts[FAILS])
        return LARD_DONE;
    return err_set(e, LARD_TOLERANCE, "%s: %u claims fail; the table says which", r->paper->name,
                   r->verdicts[FAILS]);
}

/* Standard output is for one of them. */
static int check_stdout(const struct cli *c, struct err *e)
{
    const char *csv = cli_get(c, 'o'), *plot = cli_get(c, OPT_PLOT);

    if (cli_has(c, OPT_JSON) && ((csv && !strcmp(csv, "-")) || (plot && !strcmp(plot, "-"))))
        return err_set(e, LARD_USAGE,
                       "reproduce: with --json, standard output has the JSON; give -o and --plot a "
                       "file");
    return 0;
}

static int run_reproduce(const struct cli *c, struct err *e)
{
    struct outfile *csv = NULL, *plot = NULL;
    const bool quiet = cli_has(c, OPT_QUIET), json = cli_has(c, OPT_JSON);
    struct report r = {.quiet = quiet || json, .paper = paper_find(c->arg[0], e)};
    size_t suite = 0;

    if (!r.paper || cli_index(c, OPT_PROGRAMS, suite_names, &suite, e) || check_stdout(c, e))
        return -1;
    csv = open_file(c, cli_get(c, 'o'), e);
    plot = e->code ? NULL : open_file(c, cli_get(c, OPT_PLOT), e);
    int status = e->code ? -1 : run_suite(&r, &suites[suite], quiet, e);
    if (!status && (write_file(&r, &csv, write_csv, e) || write_file(&r, &plot, write_plot, e)))
        status = -1;
    if (!status && json)
        json_cells(r.paper, suites[suite].name, r.cell, r.cells, r.verdicts);
    if (!status)
        status = judged(&r, e);
    outfile_abort(csv);
    outfile_abort(plot);
    free(r.cell);
    return status;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write all counts to this file as CSV, too; - is standard output",
     0},
    {"plot", OPT_PLOT, "FILE", 0, "Write a plot of the paper's counts and ours, an SVG", 0},
    {"programs", OPT_PROGRAMS, "twins|kernels", 0,
     "What runs: twins of the paper's programs (the default), or programs that compute", 0},
    {"overwrite", OPT_OVERWRITE, NULL, 0, "Replace FILE if it exists", 0},
    ROW_JSON,
    ROW_QUIET,
    ROW_END};

const struct verb verb_reproduce = {
    .name = "reproduce",
    .args = "lard-table2|lard-table3",
    .summary = "Repeats a table of a paper with our programs, and judges what the paper claims.",
    .text =
        "Each program runs under a collector that moves objects and one that does not. The six "
        "detectors are the preset lard-table3; the truth goes by objects, not by addresses. "
        "The paper's counts stand beside ours, with the difference in percent. The programs are "
        "not the paper's own, so only what it claims of all programs and collectors is judged. "
        "If a claim fails, the exit code is 6.",
    .examples = "lardsim reproduce lard-table3\n"
                "lardsim reproduce --quiet -o table2.csv --plot table2.svg lard-table2\n"
                "lardsim reproduce --json lard-table3 > table3.json\n"
                "lardsim reproduce lard-table3 --programs kernels",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_reproduce,
};
