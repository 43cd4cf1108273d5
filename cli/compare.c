/* compare.c - lardsim compare: runs several policies over one source and holds them against one
 * of them, the truth. What is counted and said is counted behind sim/sim.h; this prints it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "cli/compare.h"
#include "results/drawing/plot.h"
#include "results/job/progress.h"
#include "results/page/report.h"
#include "results/table/table.h"
#include "cli/run/run.h"
#include "results/job/stopped.h"
#include "results/job/told.h"
#include "workloads/measure/measure.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { OPT_TRUTH = 512, OPT_LIST, OPT_RESULTS };

struct comparison { /* in the making */
    struct lardsim *run;
    const struct cli *c;
    struct json json;
    bool begun; /* something was printed */
};

/* ---- configuration -------------------------------------------------------------------------- */

/* Whether anything given may name policies; else they are those of LARD's Table 3. */
static bool names_policies(const struct cli *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct given_option *g = &c->given[i];
        if (g->key == 'p' || g->key == OPT_CONFIG || g->key == OPT_PRESET ||
            (g->key == OPT_SET && strncmp(g->value, "policies=", 9) == 0))
            return true;
    }
    return false;
}

static int set_truth(struct lardsim *l, const char *label)
{
    char *text = xasprintf("compare.truth=%s", label ? label : "");
    const int failed = label ? lardsim_set(l, text) : 0;

    free(text);
    return failed;
}

static int configure(struct lardsim *l, const struct cli *c)
{
    if (!names_policies(c) && lardsim_preset(l, "lard-table3"))
        return -1;
    if (run_settings(l, c) || set_truth(l, cli_get(c, OPT_TRUTH)) || lardsim_compare(l))
        return -1;
    return cli_get(c, 'o') ? lardsim_output(l, cli_get(c, 'o'), cli_has(c, OPT_OVERWRITE)) : 0;
}

/* ---- differences, as they come -------------------------------------------------------------- */

static void print_access(const struct lardsim_side *s)
{
    printf("%s ", ev_info[s->kind].text);
    run_print_side(s);
}

static void print_difference(const struct lardsim_difference *d)
{
    const bool access = strcmp(d->of, "access") == 0;

    printf("%s by %s: %s at 0x%" PRIx64, d->verdict, d->policy, d->of,
           access ? d->addr : d->location);
    run_print_object(&d->object);
    printf(": %s", d->system ? "system " : "");
    print_access(&d->is);
    printf("    after ");
    if (d->earlier.known)
        print_access(&d->earlier);
    else
        printf("an access that %s does not name\n", d->reported_by);
    printf("    %s: %s\n", d->why, d->reason);
}

static void begin_json(struct comparison *m)
{
    if (m->begun)
        return;
    m->begun = true;
    json_page(&m->json, stdout, "lardsim-compare-1");
    json_key_str(&m->json, "source", m->c->arg[0]);
    json_key_bool(&m->json, "planted-races", lardsim_source_plants(m->c->arg[0]));
    if (sim_caveat(m->run))
        json_key_str(&m->json, "caveat", sim_caveat(m->run));
    if (cli_has(m->c, OPT_LIST))
        json_key_array(&m->json, "list");
}

static void list_difference(void *arg, const struct lardsim_difference *d)
{
    struct comparison *m = arg;

    if (!cli_has(m->c, OPT_JSON)) {
        m->begun = true;
        print_difference(d);
        return;
    }
    begin_json(m);
    sim_difference_json(&m->json, d);
}

/* ---- the table ------------------------------------------------------------------------------ */

struct count_column {
    struct table_head head; /* its name: of the statistic <of>.<label>.<name> */
    const char *of;
};
static const struct count_column columns[] = {
    {{.name = "races.accesses", .title = "accesses", .above = "racy"}, "policy"},
    {{.name = "races.sites", .title = "sites"}, "policy"},
    {{.name = "false.accesses", .title = "accesses", .above = "false"}, "compare"},
    {{.name = "false.sites", .title = "sites"}, "compare"},
    {{.name = "false.places", .title = "places"}, "compare"},
    {{.name = "false.pairs", .title = "pairs"}, "compare"},
    {{.name = "missed.accesses", .title = "accesses", .above = "missed"}, "compare"},
    {{.name = "missed.sites", .title = "sites"}, "compare"},
    {{.name = "missed.places", .title = "places"}, "compare"},
    {{.name = "missed.pairs", .title = "pairs"}, "compare"},
};

/* The width of labels and their title: it is the same in each table of the page. */
static size_t labels_width(const struct lardsim *l)
{
    struct lardsim_instance in;
    size_t width = strlen("policy");

    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++)
        width = strlen(in.label) > width ? strlen(in.label) : width;
    return width;
}

static void add_policies(struct table *to, const struct lardsim *l)
{
    table_head(
        to, (struct table_head){.name = "policy", .align = TABLE_LEFT, .least = labels_width(l)});
}

static struct table counts_table(const struct lardsim *l, const struct count_column *c, size_t n)
{
    struct table to = {0};

    add_policies(&to, l);
    for (size_t k = 0; k < n; k++)
        table_head(&to, c[k].head);
    return to;
}

static void add_counts(struct table *to, const struct lardsim *l, const char *label,
                       const struct count_column *c, size_t n)
{
    table_text(to, label);
    for (size_t k = 0; k < n; k++) {
        uint64_t value = 0;
        const bool known = run_stat(l, &value, "%s.%s.%s", c[k].of, label, c[k].head.name);
        table_known(to, known, value);
    }
}

static struct table all_counts(const struct lardsim *l)
{
    struct table to = counts_table(l, columns, ARRAY_SIZE(columns));
    struct lardsim_instance in;

    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++)
        add_counts(&to, l, in.label, columns, ARRAY_SIZE(columns));
    return to;
}

static void print_promises(const struct lardsim *l)
{
    const struct table_head heads[] = {{.name = "", .align = TABLE_LEFT},
                                       {.name = "", .align = TABLE_LEFT, .least = labels_width(l)},
                                       {.name = "", .align = TABLE_LEFT}};
    struct table to = {0};
    struct lardsim_instance in;

    table_heads(&to, heads, ARRAY_SIZE(heads));
    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++) {
        table_text(&to, i ? "" : "promises");
        table_text(&to, in.label);
        table_text(&to, in.property);
    }
    table_show(
        &to, stdout,
        "\nfalse: a race that the truth does not find; missed: one that only the truth finds\n\n");
}

/* "same racy accesses as vc: fasttrack, goldilocks": found in this execution, promised or not. */
static void print_same_of(const struct lardsim *l, const char *truth, bool by_access)
{
    struct lardsim_instance in;
    bool any = false;

    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++) {
        if (in.truth || !in.same || in.by_access != by_access)
            continue;
        if (any)
            printf(", %s", in.label);
        else
            printf("same racy %s as %s: %s", by_access ? "accesses" : "places", truth, in.label);
        any = true;
    }
    if (any)
        putchar('\n');
}

static void print_same(const struct lardsim *l)
{
    struct lardsim_instance in = {.truth = false};
    bool any = false;

    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++)
        any |= in.same && !in.truth;
    for (size_t i = 0; any && lardsim_compare_instance(l, i, &in); i++)
        if (in.truth) {
            putchar('\n');
            print_same_of(l, in.label, true);
            print_same_of(l, in.label, false);
        }
}

/* ---- why (docs/compare.md) ------------------------------------------------------------------ */

enum { WHY_COUNT = 8 };

static void add_why(struct table *to, const struct lardsim *l, const char *label,
                    const char *verdict, const char *of)
{
    uint64_t n;

    table_text(to, label);
    table_take(to, xasprintf("%-6s %s", verdict, of), false);
    run_stat(l, &n, "compare.%s.%s.%s", label, verdict, of);
    table_u64(to, n);
    for (size_t w = 0; sim_why(w); w++) {
        const bool known =
            run_stat(l, &n, "compare.%s.%s.why.%s.%s", label, verdict, of, sim_why(w));
        table_known(to, known, n);
    }
}

static void print_reasons(const struct lardsim *l)
{
    static const char *const verdict[] = {"false", "missed"};
    static const char *const of[] = {"accesses", "places", "pairs"};
    struct table to = {0};
    struct lardsim_instance in;
    uint64_t n;

    add_policies(&to, l);
    table_head(&to, (struct table_head){.name = "", .align = TABLE_LEFT, .least = 16});
    table_head(&to, (struct table_head){.name = "count", .least = WHY_COUNT});
    for (size_t w = 0; sim_why(w); w++)
        table_head(&to, (struct table_head){.name = sim_why(w), .least = WHY_COUNT});
    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++)
        for (size_t v = 0; v < ARRAY_SIZE(verdict); v++)
            for (size_t k = 0; k < ARRAY_SIZE(of); k++)
                if (run_stat(l, &n, "compare.%s.%s.%s", in.label, verdict[v], of[k]) && n > 0)
                    add_why(&to, l, in.label, verdict[v], of[k]);
    table_show(&to, stdout, "\n");
}

/* ---- whose accesses they are (LARD 5.2, Program vs. System) --------------------------------- */

static const struct count_column owners[] = {
    {{.name = "false.program", .title = "program", .above = "false"}, "compare"},
    {{.name = "false.system", .title = "system"}, "compare"},
    {{.name = "missed.program", .title = "program", .above = "missed"}, "compare"},
    {{.name = "missed.system", .title = "system"}, "compare"},
};

static bool has_owners(const struct lardsim *l, const char *label)
{
    uint64_t n = 0, sum = 0;

    for (size_t k = 0; k < ARRAY_SIZE(owners); k++)
        sum += run_stat(l, &n, "compare.%s.%s", label, owners[k].head.name) ? n : 0;
    return sum > 0;
}

static void print_owners(const struct lardsim *l)
{
    struct table to = counts_table(l, owners, ARRAY_SIZE(owners));
    struct lardsim_instance in;

    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++)
        if (has_owners(l, in.label))
            add_counts(&to, l, in.label, owners, ARRAY_SIZE(owners));
    table_show(&to, stdout, "\n");
}

static void print_where(const struct comparison *m)
{
    const char *dir = cli_get(m->c, 'o');

    if (lardsim_error(m->run))
        puts("\nincomplete: the run stopped before the end");
    else
        printf("\ndigest   %016" PRIx64 "  behaviour %016" PRIx64 "\n", lardsim_digest(m->run),
               lardsim_behaviour(m->run));
    if (dir)
        printf("results  %s/compare.json, %s/differences.jsonl, ...\n", dir, dir);
    else if (!cli_has(m->c, OPT_LIST))
        puts("next     --list prints each difference, -o DIR keeps them");
}

static void print_text(const struct comparison *m)
{
    const uint64_t events = lardsim_events(m->run);
    struct table counts = all_counts(m->run);

    printf("%s%s: %" PRIu64 " event%s\n\n", m->begun ? "\n" : "", m->c->arg[0], events,
           events == 1 ? "" : "s");
    if (lardsim_source_plants(m->c->arg[0]))
        puts("races " PLANTED_TEXT "\n");
    if (sim_caveat(m->run))
        printf("caveat   %s\n\n", sim_caveat(m->run));
    table_show(&counts, stdout, "%s", "");
    print_promises(m->run);
    print_same(m->run);
    print_owners(m->run);
    print_reasons(m->run);
    run_print_findings_of(m->run, cli_get(m->c, 'o'));
    print_where(m);
}

static void print_json(struct comparison *m)
{
    begin_json(m);
    struct json *j = &m->json;
    if (cli_has(m->c, OPT_LIST))
        json_end(j);
    json_key_u64(j, "events", lardsim_events(m->run));
    json_key_str(j, "error", lardsim_error(m->run));
    json_key_u64(j, "exit", (uint64_t)lardsim_exit_code(m->run));
    if (lardsim_error(m->run)) {
        JSON_TEXTS(j, {"digest", NULL}, {"behaviour", NULL});
    } else {
        json_key_hex16(j, "digest", lardsim_digest(m->run));
        json_key_hex16(j, "behaviour", lardsim_behaviour(m->run));
    }
    json_key_str(j, "output", cli_get(m->c, 'o'));
    struct lardsim_findings all = lardsim_findings(m->run);
    lardsim_findings_json(&all, j);
    lardsim_findings_free(&all);
    sim_compare_json(m->run, j);
    json_end(j);
}

/* ---- the verb ------------------------------------------------------------------------------- */

enum { COUNT_PANELS = 4 };
static const char *const count_panels[COUNT_PANELS] = {"accesses", "sites", "places", "pairs"};

/* A row of dots, false and missed, in each panel. */
static void counts_at(const struct lardsim *l, const char *label, uint64_t to[COUNT_PANELS][2])
{
    static const char *const verdicts[] = {"false", "missed"};

    for (size_t k = 0; k < COUNT_PANELS; k++)
        for (size_t v = 0; v < ARRAY_SIZE(verdicts); v++)
            if (!run_stat(l, &to[k][v], "compare.%s.%s.%s", label, verdicts[v], count_panels[k]))
                to[k][v] = PLOT_NONE;
}

static void counts_plot(const struct comparison *m, FILE *out)
{
    struct lardsim_instance in;
    size_t rows = 0;

    while (lardsim_compare_instance(m->run, rows, &in))
        rows++;
    uint64_t(*count)[2] = xcalloc(rows * COUNT_PANELS + 1, sizeof *count);
    const char **labels = xcalloc(rows + 1, sizeof *labels);
    for (size_t i = 0; i < rows; i++) {
        lardsim_compare_instance(m->run, i, &in);
        labels[i] = in.label;
        counts_at(m->run, in.label, &count[i * COUNT_PANELS]);
    }
    const struct plot plot = {.title = m->c->arg[0],
                              .kind = {"false", "missed"},
                              .panels = COUNT_PANELS,
                              .rows = rows,
                              .panel = count_panels,
                              .row = labels,
                              .count = (const uint64_t(*)[2])count};
    plot_write(&plot, out);
    free((void *)labels);
    free(count);
}

static int write_files(const struct comparison *m, struct outputs *o, struct err *e)
{
    struct table counts = all_counts(m->run);

    if (o->at[COMPARE_CSV])
        table_csv(&counts, outfile_stream(o->at[COMPARE_CSV]));
    table_free(&counts);
    if (o->at[COMPARE_PLOT])
        counts_plot(m, outfile_stream(o->at[COMPARE_PLOT]));
    return outputs_commit(o, e);
}

static void run_source(struct comparison *m)
{
    const bool quiet = cli_has(m->c, OPT_QUIET) || cli_has(m->c, OPT_DEBUG);
    struct progress progress;

    progress_begin(&progress, quiet, 1);
    if (cli_has(m->c, OPT_LIST))
        lardsim_on_difference(m->run, list_difference, m);
    lardsim_on_unused(m->run, given_warn_unused, NULL);
    progress_run(&progress, m->run, NULL);
    stop_run(m->run);
    if (lardsim_start(m->run))
        return;
    lardsim_run(m->run, m->c->arg[0]);
    progress_run_over(&progress);
    lardsim_finish(m->run);
    if (lardsim_error(m->run) &&
        (lardsim_events(m->run) == 0 || lardsim_exit_code(m->run) == LARD_CONFIG))
        return;
    if (cli_has(m->c, OPT_JSON))
        print_json(m);
    else if (!quiet)
        print_text(m);
}

int compare_outputs(struct outputs *o, const struct cli *c, struct err *e)
{
    static const int key[] = {[COMPARE_CSV] = OPT_CSV, [COMPARE_PLOT] = OPT_PLOT, 0};

    for (size_t i = 0; key[i] && !cli_has(c, OPT_QUIET); i++)
        if (cli_get(c, key[i]) && !strcmp(cli_get(c, key[i]), "-"))
            return err_set(
                e, LARD_USAGE,
                "compare: standard output has the page; give --csv and --plot a file, or --quiet");
    return outputs_open(o, c, key, e);
}

static int compare_verdicts(const struct cli *c, struct err *e)
{
    if (cli_has(c, OPT_SEEDS) || cli_has(c, OPT_CONVERGE) || cli_has(c, OPT_BAND))
        return err_set(e, LARD_USAGE,
                       "compare: --seeds, --converge and --band are about what policies cost; give "
                       "a machine, as --config radish8, and neither --truth nor --list");

    struct outputs files = {{NULL}};
    if (compare_outputs(&files, c, e)) {
        outputs_abort(&files);
        return -1;
    }
    struct comparison m = {.run = lardsim_new(), .c = c};
    if (configure(m.run, c) == 0)
        run_source(&m);
    if (!lardsim_error(m.run))
        write_files(&m, &files, e);
    outputs_abort(&files);
    if (lardsim_error(m.run))
        run_error(m.run, "", e);
    else if (cli_has(c, OPT_ERROR_ON_RACE) && run_any_race(m.run))
        err_set(e, LARD_RACES, "%s: races were found, and --error-on-race was given", c->arg[0]);
    stop_run(NULL);
    lardsim_free(m.run);
    return e->code ? -1 : LARD_DONE;
}

/* On a machine the comparison is of costs, unless a truth or the differences are asked for. */
static int compare_given(const struct cli *c, struct err *e)
{
    struct given g = cli_given(c);
    bool costs = false;
    int status = cli_has(c, OPT_TRUTH) || cli_has(c, OPT_LIST) ? 0 : costs_wanted(&g, &costs, e);

    if (!status)
        status = costs ? compare_costs(c, &g, e) : compare_verdicts(c, e);
    given_free(&g);
    return status;
}

/* Compares two results that exist already, and runs nothing. */
static int compare_results(const struct cli *c, struct err *e)
{
    double threshold;

    if (c->args != 2)
        return err_set(e, LARD_USAGE, "compare: --results is of two folders, and there are %zu",
                       c->args);
    for (size_t i = 0; i < c->n; i++)
        if (c->given[i].key != OPT_RESULTS && c->given[i].key != OPT_THRESHOLD &&
            c->given[i].key != OPT_JSON)
            return err_set(
                e, LARD_USAGE,
                "compare: with --results nothing runs, and only --threshold and --json go with it");
    return difference_threshold(cli_get(c, OPT_THRESHOLD), &threshold, e)
               ? -1
               : difference_verb(&c->arg[0], threshold, cli_has(c, OPT_JSON), e);
}

static int run_compare(const struct cli *c, struct err *e)
{
    struct with_source full;

    if (cli_has(c, OPT_RESULTS))
        return compare_results(c, e);
    if (c->args > 1)
        return err_set(e, LARD_USAGE, "compare: \"%s\" is one operand too many", c->arg[1]);
    if (cli_has(c, OPT_THRESHOLD))
        return err_set(e, LARD_USAGE, "compare: --threshold needs --results");
    if (cli_has(c, OPT_OVERWRITE) && !cli_get(c, 'o') && !cli_get(c, OPT_CSV) &&
        !cli_get(c, OPT_PLOT))
        return err_set(e, LARD_USAGE,
                       "compare: --overwrite needs --output, --csv or --plot, whose folder or file "
                       "it replaces");
    const int status = run_with_source(&full, c, e) ? -1 : compare_given(&full.cli, e);
    with_source_free(&full);
    return status;
}

static const struct argp_option options[] = {
    OPTION("policy", 'p', "SPEC", "Compare this policy: NAME or LABEL=NAME; give two or more"),
    {"policies", 0, "SPEC,...", OPTION_ALIAS, "The same as --policy for each", 0},
    OPTION("truth", OPT_TRUTH, "LABEL", "Hold the others against this one; without, the first"),
    OPTION("list", OPT_LIST, NULL, "Print each difference, and why"),
    ROWS_SETTINGS,
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace the results if the folder or file exists"),
    OPTION("seeds", OPT_SEEDS, "N",
           "On a machine: run with N seeds, and tell the mean of the overheads and its 95 percent "
           "interval"),
    OPTION("converge", OPT_CONVERGE, NULL,
           "On a machine: double the length until the overheads are settled"),
    OPTION("band", OPT_BAND, "PERCENT",
           "On a pipelined core: tell the overheads with core.unmodelled at 0 and at PERCENT"),
    OPTION("csv", OPT_CSV, "FILE", "Write the table, a row a policy"),
    OPTION("plot", OPT_PLOT, "FILE", "Write a plot of the table, an SVG"),
    OPTION("results", OPT_RESULTS, NULL,
           "Run nothing: say what differs between the results in the folders A and B"),
    ROW_THRESHOLD,
    ROW_DEBUG,
    ROWS_OUTCOME,
    ROW_END};

const struct verb verb_compare = {
    .help = &verb_help[HELP_compare], .options = options, .run = run_compare};
