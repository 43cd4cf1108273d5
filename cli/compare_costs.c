/* compare_costs.c - lardsim compare on machines: what each policy costs, as a page. docs/compare.md
 * tells what the columns mean. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/run/run.h"
#include "workloads/measure/measure.h"

/* ---- numbers -------------------------------------------------------------------------------- */

/* "12.3 %" of part / whole, right-aligned; "-": there is no whole. Rounded to tenths as an integer
 * first, as printf would write "-0.0 %". */
static void print_percent(double part, double whole, int width)
{
    const bool known = whole > 0 && !isnan(part);
    const double x = known ? 1000 * part / whole : 0;
    const long long tenths = (long long)(x < 0 ? x - 0.5 : x + 0.5);
    const long long size = tenths < 0 ? -tenths : tenths;
    char text[32];

    snprintf(text, sizeof text, "%s%lld.%lld %%", tenths < 0 ? "-" : "", size / 10, size % 10);
    printf("%*s", width, known ? text : "-");
}

/* Bytes of metadata: from 10 Ki on rounded, so that a small number is
 * exact and a large one short. */
static void bytes_text(const struct part_costs *m, enum compared_cost which, char *to, size_t room)
{
    static const char *const unit[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double x = (double)m->cost[which];
    size_t u = 0;

    for (; x >= 10240 && u + 1 < ARRAY_SIZE(unit); u++)
        x /= 1024;
    if (u == 0)
        snprintf(to, room, "%" PRIu64, m->cost[which]);
    else
        snprintf(to, room, "%.0f%s", x, unit[u]);
}

static int label_width(const struct cost_table *t)
{
    int width = (int)strlen("policy");

    for (size_t i = 0; i < t->n; i++)
        if ((int)strlen(t->row[i].label) > width)
            width = (int)strlen(t->row[i].label);
    return width;
}

/* ---- the table ------------------------------------------------------------------------------ */

enum form { COUNT, BYTES };
struct page_column {
    const char *above, *title; /* above: over this column and those that follow with "" */
    enum compared_cost cost;
    enum form form;
};
static const struct page_column races_columns[] = {
    {"racy", "accesses", COST_RACES, COUNT},  {"", "sites", COST_SITES, COUNT},
    {"", "locations", COST_LOCATIONS, COUNT}, {"metadata", "live", COST_BYTES, BYTES},
    {"", "peak", COST_BYTES_PEAK, BYTES},     {"remote", "misses", COST_REMOTE, COUNT}};
static const struct page_column accesses_columns[] = {
    {"metadata", "accesses", COST_METADATA, COUNT}, {"", "misses", COST_METADATA_MISSES, COUNT}};

/* "-" where nobody counts the bytes. */
static void cell_text(const struct cost_table *t, const struct costs *r,
                      const struct page_column *c, char *to, size_t room)
{
    const struct part_costs *m = costs_judged(t, r);

    if (c->form == COUNT)
        snprintf(to, room, "%" PRIu64, m->cost[c->cost]);
    else if (r->has_bytes)
        bytes_text(m, c->cost, to, room);
    else
        snprintf(to, room, "-");
}

/* Returns the column's width: two spaces before the longest of titles and cells. */
static int column_width(const struct cost_table *t, const struct page_column *c)
{
    size_t width = strlen(c->title) > strlen(c->above) ? strlen(c->title) : strlen(c->above);
    char text[32];

    for (size_t i = 0; i < t->n; i++) {
        cell_text(t, &t->row[i], c, text, sizeof text);
        if (strlen(text) > width)
            width = strlen(text);
    }
    return (int)width + 2;
}

static void print_above(const struct cost_table *t, const struct page_column *c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        printf("%*s", column_width(t, &c[k]), c[k].above);
}

static void print_titles(const struct cost_table *t, const struct page_column *c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        printf("%*s", column_width(t, &c[k]), c[k].title);
}

static void print_cells(const struct cost_table *t, const struct costs *r,
                        const struct page_column *c, size_t n)
{
    char text[32];

    for (size_t k = 0; k < n; k++) {
        cell_text(t, r, &c[k], text, sizeof text);
        printf("%*s", column_width(t, &c[k]), text);
    }
}

enum { CYCLES_WIDTH = 12, OVERHEAD_WIDTH = 11, WHOLE_WIDTH = 16 };

static void print_cycles(const struct cost_table *t, const struct costs *r, enum overhead_of which)
{
    const struct overhead o = costs_overhead(t, r, which);
    const double before = (double)o.without;

    printf("%*" PRIu64, CYCLES_WIDTH, o.with);
    print_percent((double)o.with - before, before,
                  which == OVERHEAD ? OVERHEAD_WIDTH : WHOLE_WIDTH);
}

static void print_table(const struct cost_table *t, int width)
{
    const size_t n = ARRAY_SIZE(races_columns);

    printf("%*s", width + CYCLES_WIDTH + OVERHEAD_WIDTH, "");
    print_above(t, races_columns, n);
    printf("\n%-*s%*s%*s", width, "policy", CYCLES_WIDTH, "cycles", OVERHEAD_WIDTH,
           overhead_name[OVERHEAD]);
    print_titles(t, races_columns, n);
    puts("  property checked");
    for (size_t i = 0; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        printf("%-*s", width, r->label);
        print_cycles(t, r, OVERHEAD);
        print_cells(t, r, races_columns, n);
        printf("  %s\n", r->property);
    }
}

/* ---- what is measured ----------------------------------------------------------------------- */

static void print_measured(const struct cost_table *t)
{
    const struct costs *none = &t->row[0];

    if (!t->region) {
        puts("measured   the whole run, as no region of interest is marked\n");
        return;
    }
    printf("measured   the region of interest, ");
    print_percent((double)none->region.cost[COST_CYCLES], (double)none->whole.cost[COST_CYCLES], 0);
    puts(" of the cycles of none; the whole run stands below\n");
}

/* Prints the costs of the whole run: with the set-up, and all else that is outside of the
 * region. */
static void print_whole(const struct cost_table *t, int width)
{
    if (!t->region)
        return;
    printf("\nthe whole run:\n%-*s%*s%*s%*s\n", width, "policy", CYCLES_WIDTH, "cycles",
           WHOLE_WIDTH, overhead_name[OVERHEAD_WHOLE], OVERHEAD_WIDTH, "races");
    for (size_t i = 0; i < t->n; i++) {
        printf("%-*s", width, t->row[i].label);
        print_cycles(t, &t->row[i], OVERHEAD_WHOLE);
        printf("%*" PRIu64 "\n", OVERHEAD_WIDTH, t->row[i].whole.cost[COST_RACES]);
    }
}

/* A short run is mostly first touches; a long one is what papers print. */
static void print_course(const struct cost_table *t, int width)
{
    static const char *const head[COURSE_PARTS] = {"1/8", "1/4", "1/2", "all"};
    double overhead[COURSE_PARTS];

    if (t->n < 2 || !course_overheads(&t->row[1], &t->row[0], overhead))
        return;
    printf("\nthe overhead after a part of the %sevents:\n%-*s", t->region ? "region's " : "",
           width, "policy");
    for (size_t k = 0; k < COURSE_PARTS; k++)
        printf("%*s", OVERHEAD_WIDTH, head[k]);
    putchar('\n');
    for (size_t i = 1; i < t->n; i++) {
        if (!course_overheads(&t->row[i], &t->row[0], overhead))
            continue;
        printf("%-*s", width, t->row[i].label);
        for (size_t k = 0; k < COURSE_PARTS; k++)
            print_percent(overhead[k], 1, OVERHEAD_WIDTH);
        puts(course_settled(overhead) ? "  settled" : "  not settled: a longer run has another");
    }
}

/* ---- where the additional cycles are -------------------------------------------------------- */

enum where { HANDLER, EXECUTING, CACHES, REMOTE, MEMORY, WAITING, IDLE, WHERES };
static const char *const where_text[WHERES] = {"handler", "executing", "caches", "remote",
                                               "memory",  "waiting",   "idle"};

/* Kinds of waiting are many, and on this page one column: what is not named here. 1 is added, so
 * that 0 means not named. */
static enum where where_of(enum cost_spent s)
{
    static const uint8_t known[COST_SPENTS] = {
        [COST_SPENT_HANDLER] = 1 + HANDLER, [COST_SPENT_EXECUTING] = 1 + EXECUTING,
        [COST_SPENT_L1] = 1 + CACHES,       [COST_SPENT_L2] = 1 + CACHES,
        [COST_SPENT_L3] = 1 + CACHES,       [COST_SPENT_REMOTE] = 1 + REMOTE,
        [COST_SPENT_MEMORY] = 1 + MEMORY,   [COST_SPENT_IDLE] = 1 + IDLE};

    return known[s] ? (enum where)(known[s] - 1) : WAITING;
}

/* Counts the cores that had something to do, in this run or in that without a policy. The lowest
 * cores take threads first, so one set contains the other. */
static uint64_t cores_used(const struct cost_table *t, const struct costs *r)
{
    const uint64_t none = t->row[0].whole.cost[COST_CORES_USED],
                   used = r->whole.cost[COST_CORES_USED];

    return none > used ? none : used;
}

/* The cycles of so many cores; the others were idle all the time. */
static double spent_of(const struct part_costs *m, enum cost_spent s, uint64_t cores)
{
    const uint64_t others = m->cost[COST_CORES] - cores;
    const uint64_t unused = s == COST_SPENT_IDLE ? others * m->cost[COST_CYCLES] : 0;

    return (double)m->spent[s] - (double)unused;
}

/* The cycles of a run's cores add up to its cycles times the cores, so the columns add up to the
 * overhead. */
static void print_where_row(const struct cost_table *t, const struct costs *r, int width)
{
    const struct part_costs *none = costs_judged(t, &t->row[0]), *all = costs_judged(t, r);
    const uint64_t cores = cores_used(t, r);
    const double whole = (double)none->cost[COST_CYCLES] * (double)cores;
    double more[WHERES] = {0};

    for (enum cost_spent s = 0; s < COST_SPENTS; s++)
        more[where_of(s)] += spent_of(all, s, cores) - spent_of(none, s, cores);
    printf("%-*s", width, r->label);
    for (size_t w = 0; w < WHERES; w++)
        print_percent(more[w], whole, OVERHEAD_WIDTH);
    print_cells(t, r, accesses_columns, ARRAY_SIZE(accesses_columns));
    putchar('\n');
}

/* Prints whose cycles are shared out: "all cores", or those that had threads. */
static void print_whose(const struct cost_table *t)
{
    const uint64_t cores = t->row[0].whole.cost[COST_CORES];
    uint64_t used = 0;

    for (size_t i = 1; i < t->n; i++)
        used = cores_used(t, &t->row[i]) > used ? cores_used(t, &t->row[i]) : used;
    if (used == cores)
        printf("all cores");
    else
        printf("the %" PRIu64 " cores that had threads (%" PRIu64 " had none)", used, cores - used);
}

static void print_wheres(const struct cost_table *t, int width)
{
    if (t->n < 2)
        return;
    printf("\nthe overhead, by what the time of ");
    print_whose(t);
    printf(" went to:\n%*s", width + WHERES * OVERHEAD_WIDTH, "");
    print_above(t, accesses_columns, ARRAY_SIZE(accesses_columns));
    printf("\n%-*s", width, "policy");
    for (size_t w = 0; w < WHERES; w++)
        printf("%*s", OVERHEAD_WIDTH, where_text[w]);
    print_titles(t, accesses_columns, ARRAY_SIZE(accesses_columns));
    putchar('\n');
    for (size_t i = 1; i < t->n; i++)
        print_where_row(t, &t->row[i], width);
}

/* Prints the work of the hardware's handlers, in the same percent: a row adds up to its "handler"
 * above. */
enum { PART_WIDTH = OVERHEAD_WIDTH + 1 }; /* "roll-overs" is long */
static void print_hardware(const struct cost_table *t, int width)
{
    const struct part_costs *none = costs_judged(t, &t->row[0]);
    bool any = false;

    for (size_t i = 1; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        if (!r->has_manager)
            continue;
        if (!any)
            printf("\nthe handlers of hardware, by what they did:\n%-*s", width, "policy");
        for (size_t k = 0; k < HARDWARE_PARTS && !any; k++)
            printf("%*s", PART_WIDTH, hardware_part_name[k]);
        any = true;
        const double whole = (double)none->cost[COST_CYCLES] * (double)cores_used(t, r);
        printf("\n%-*s", width, r->label);
        for (size_t k = 0; k < HARDWARE_PARTS; k++)
            print_percent((double)costs_judged(t, r)->hardware[k], whole, PART_WIDTH);
    }
    if (any)
        putchar('\n');
}

/* A collecting thread's own work shows only where it is a tenth of the overhead or more. Where a
 * program collects seldom this is little; a short run may collect all the time. */
static void print_collections(const struct cost_table *t)
{
    const double before = (double)costs_judged(t, &t->row[0])->cost[COST_CYCLES];
    const char *with = "\nof it the collecting thread's work for collections: ";

    for (size_t i = 1; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        const struct part_costs *m = costs_judged(t, r);
        const double more = (double)m->cost[COST_CYCLES] - before,
                     part = (double)m->cost[COST_COLLECTIONS];
        if (part * 10 < more || part <= 0 || before <= 0)
            continue;
        printf("%s%s %.1f %%", with, r->label, 100 * part / before);
        with = ", ";
    }
    if (*with == ',')
        puts(" (short runs collect far more often than real programs)");
}

/* Prints the truth of each row by itself: in program order no two rows are about the same
 * execution. */
static void print_truths(const struct cost_table *t, int width)
{
    const char *order = "\nraces of each execution, and what its policy made of them (vc watches "
                        "each, and takes no time):\n";

    for (size_t i = 1; i < t->n; i++) {
        const struct own_truth *o = &t->row[i].truth;
        if (!o->known)
            continue;
        if (*order)
            printf("%s%-*s%10s%10s%10s  of\n", order, width, "policy", "racy", "false", "missed");
        order = "";
        printf("%-*s%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "  %s\n", width, t->row[i].label, o->racy,
               o->is_false, o->missed, o->by_access ? "accesses" : "places");
    }
}

/* Explains the overhead: which executions it compares. */
static void print_order(const struct cost_table *t)
{
    if (t->n < 2)
        return;
    if (!strcmp(t->order, "program"))
        puts("overhead   of the same program: each machine has an execution of its own, which "
             "follows its time\n");
    else
        puts("overhead   of the same events, and the same order of synchronisation\n");
}

/* Histories of hardware are in memory only as far as the manager has them. */
static void print_on_chip(const struct cost_table *t)
{
    const char *with = "beside it at most so much of the caches, for lines of histories: ";
    char text[32];

    for (size_t i = 1; i < t->n; i++) {
        if (!t->row[i].has_manager || !t->row[i].whole.cost[COST_SPACE])
            continue;
        bytes_text(&t->row[i].whole, COST_CHIP_PEAK, text, sizeof text);
        printf("%s%s %s", with, t->row[i].label, text);
        with = ", ";
    }
    if (*with == ',')
        putchar('\n');
}

/* Prints the space that metadata take beside the heap. The heap's need is known only if the program
 * collects all of it. */
static void print_space(const struct cost_table *t)
{
    const char *with = "\nspace beside the heap after full collections: ";

    for (size_t i = 1; i < t->n; i++) {
        const uint64_t *cost = t->row[i].whole.cost;
        const double heap = (double)cost[COST_SPACE_HEAP];
        if (!cost[COST_SPACE_COLLECTIONS] || heap <= 0)
            continue;
        printf("%s%s %.1f %%", with, t->row[i].label,
               100 * ((double)cost[COST_SPACE] - heap) / heap);
        with = ", ";
    }
    if (*with != ',')
        return;
    putchar('\n');
    print_on_chip(t);
}

static bool charged(const struct costs *r)
{
    return r->whole.spent[COST_SPENT_HANDLER] || r->whole.cost[COST_METADATA];
}

/* An overhead of 0 because a policy had nothing to do says nothing about its costs. */
static void print_free(const struct cost_table *t)
{
    const char *before = "\nno time was charged by: ";

    for (size_t i = 1; i < t->n; i++) {
        if (charged(&t->row[i]))
            continue;
        printf("%s%s", before, t->row[i].label);
        before = ", ";
    }
    if (*before == ',')
        puts(" (nothing that it charges for happened)");
}

/* The overheads that other lengths had, a row each. */
static void print_lengths(const struct cost_table *t, int width)
{
    const struct cost_runs *s = &t->lengths;

    if (!s->n)
        return;
    printf("\nthe overhead as %s doubles", t->length);
    puts(cost_runs_settled(s, t->n) ? ": settled" : ": not settled, a longer run has another");
    printf("%*s", 12, t->length);
    for (size_t i = 1; i < t->n; i++)
        printf("%*s", width > 10 ? width + 2 : 12, t->row[i].label);
    putchar('\n');
    for (size_t k = 0; k < s->n; k++) {
        printf("%12" PRIu64, s->run[k].value);
        for (size_t i = 1; i < t->n; i++)
            print_percent(s->run[k].overhead[i], 1, width > 10 ? width + 2 : 12);
        putchar('\n');
    }
}

static void print_seeds(const struct cost_table *t, int width)
{
    const struct cost_runs *s = &t->seeds;

    if (!s->n || t->n < 2)
        return;
    printf("\nthe overhead with %zu seeds, from %" PRIu64 " on; +-: the 95 percent interval of the "
           "mean:\n%-*s%*s%*s%*s%*s\n",
           s->n, s->run[0].value, width, "policy", OVERHEAD_WIDTH, "mean", OVERHEAD_WIDTH, "+-",
           OVERHEAD_WIDTH, "least", OVERHEAD_WIDTH, "most");
    for (size_t i = 1; i < t->n; i++) {
        const struct estimate x = cost_estimate_of(s, i);
        printf("%-*s", width, t->row[i].label);
        print_percent(x.mean, 1, OVERHEAD_WIDTH);
        print_percent(x.half, 1, OVERHEAD_WIDTH);
        print_percent(x.least, 1, OVERHEAD_WIDTH);
        print_percent(x.most, 1, OVERHEAD_WIDTH);
        putchar('\n');
    }
    if (cost_runs_same(s, t->n))
        puts("(the seeds change nothing: each policy did the same with all of them)");
}

/* Prints how the overhead moves with the cost of everything the model leaves out. */
static void print_band(const struct cost_table *t, int width)
{
    const struct cost_runs *s = &t->band;

    if (s->n < 2)
        return;
    printf("\nthe overhead with core.unmodelled from 0 to %" PRIu64 " percent, for what the model "
           "leaves out:\n%-*s%*s%*s\n",
           s->run[1].value, width, "policy", OVERHEAD_WIDTH, "least", OVERHEAD_WIDTH, "most");
    for (size_t i = 1; i < t->n; i++) {
        printf("%-*s", width, t->row[i].label);
        print_percent(s->run[0].overhead[i], 1, OVERHEAD_WIDTH);
        print_percent(s->run[1].overhead[i], 1, OVERHEAD_WIDTH);
        putchar('\n');
    }
}

/* True: all runs have this finding. */
static bool in_all(const struct cost_table *t, const struct sim_finding *f)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct sim_findings *all = &t->row[i].findings;
        size_t k = 0;
        while (k < all->n && strcmp(all->at[k].sentence, f->sentence) != 0)
            k++;
        if (k == all->n)
            return false;
    }
    return true;
}

/* A knob that could not matter in any of the runs is told; what is true of some is counted. */
static void print_findings(const struct cost_table *t)
{
    struct sim_findings common = {NULL, 0};
    size_t others = 0;

    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->row[i].findings.n; k++) {
            const struct sim_finding *f = &t->row[i].findings.at[k];
            const bool all = in_all(t, f);
            others += !all;
            if (!all || i > 0)
                continue;
            common.at = xrealloc(common.at, common.n + 1, sizeof *common.at);
            common.at[common.n++] = *f; /* its texts stay the row's */
        }
    run_print_findings(&common, others,
                       t->output ? "`findings` in compare.json" : "--json shows them");
    free(common.at);
}

static void print_costs(const struct cost_table *t)
{
    const uint64_t cores = t->row[0].whole.cost[COST_CORES];
    const int width = label_width(t);

    print_visible(stdout, t->source);
    printf(": %" PRIu64 " event%s, for each policy on a machine of its own\n\n", t->row[0].events,
           t->row[0].events == 1 ? "" : "s");
    printf("machine    %" PRIu64 " core%s at %" PRIu64
           " MHz, %s order, contention %s, memory %s\n\n",
           cores, cores == 1 ? "" : "s", t->frequency, t->order, t->contention, t->memory);
    if (workload_plants(t->source))
        puts("races      " PLANTED_TEXT "\n");
    print_measured(t);
    print_order(t);
    print_table(t, width);
    print_truths(t, width);
    print_wheres(t, width);
    print_hardware(t, width);
    print_collections(t);
    print_space(t);
    print_free(t);
    print_whole(t, width);
    print_course(t, width);
    print_lengths(t, width);
    print_seeds(t, width);
    print_band(t, width);
    print_findings(t);
    if (t->error->code)
        puts("\nincomplete: a run stopped before the end");
    else if (t->output) {
        printf("\nresults  ");
        print_visible(stdout, t->output);
        puts("/compare.json, and a folder for each policy");
    } else if (t->n == 1) {
        puts("\nnext     -p NAME, given once or more, shows what a policy costs (`lardsim list "
             "policies`)");
    } else {
        puts("\nnext     -o DIR keeps the results of each run, --truth LABEL shows who is wrong");
    }
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int ask_seeds(const struct cli *c, uint64_t *seeds, struct err *e)
{
    const char *text = cli_get(c, OPT_SEEDS);

    *seeds = 1;
    if (text && (!number_of_text(text, seeds) || !*seeds || *seeds > 1000))
        return err_set(e, LARD_USAGE, "compare: --seeds: '%s' is no number from 1 to 1000", text);
    return text ? source_seed(c->arg[0], &(uint64_t){0}, e) : 0;
}

static int ask_band(const struct cli *c, const struct given *g, uint64_t *most, struct err *e)
{
    struct config *config = config_new(run_presets);
    const int failed = given_gather(g, config, e) || cli_band(c, config, most, e);

    config_free(config);
    return failed ? -1 : 0;
}

static int write_files(const struct cost_table *t, struct compare_files *f, struct err *e)
{
    if (f->csv)
        cost_table_csv(t, outfile_stream(f->csv));
    if (f->plot)
        cost_table_plot(t, outfile_stream(f->plot));
    return compare_files_commit(f, e);
}

static int show(struct cost_table *t, const struct cli *c, struct err *e)
{
    if (costs_write(t, e) || t->n == 0)
        return -1;
    if (cli_has(c, OPT_JSON))
        cost_table_json(stdout, t);
    else if (!cli_has(c, OPT_QUIET))
        print_costs(t);
    if (!e->code && cli_has(c, OPT_ERROR_ON_RACE) && costs_any_race(t))
        err_set(e, LARD_RACES, "%s: races were found, and --error-on-race was given", t->source);
    return e->code ? -1 : LARD_DONE;
}

int compare_costs(const struct cli *c, const struct given *g, struct err *e)
{
    struct compare_files files = {NULL, NULL};
    struct costs_asked asked = {.given = g,
                                .source = c->arg[0],
                                .output = cli_get(c, 'o'),
                                .overwrite = cli_has(c, OPT_OVERWRITE),
                                .quiet = cli_has(c, OPT_QUIET),
                                .converge = cli_has(c, OPT_CONVERGE)};
    struct cost_table t = {.source = NULL};
    int status = -1;

    if (!costs_check(asked.source, e) && !ask_seeds(c, &asked.seeds, e) &&
        !ask_band(c, g, &asked.band, e) && !costs_open(&t, &asked, e) &&
        !compare_files_open(&files, c, e)) {
        costs_run(&t, &asked, e);
        if (!e->code)
            write_files(&t, &files, e);
        status = show(&t, c, e);
    }
    compare_files_abort(&files);
    cost_table_free(&t);
    return status;
}
