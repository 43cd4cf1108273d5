/* compare_costs.c - lardsim compare on machines: what each policy costs, as a page. docs/compare.md
 * tells what the columns mean. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/compare.h"
#include "cli/run/run.h"
#include "results/table/table.h"
#include "workloads/measure/measure.h"

/* ---- numbers -------------------------------------------------------------------------------- */

/* Bytes of metadata: from 10 Ki on rounded, so that a small number is
 * exact and a large one short. The caller's. */
static char *bytes_text(const struct part_costs *m, enum compared_cost which)
{
    static const char *const unit[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double x = (double)m->cost[which];
    size_t u = 0;

    for (; x >= 10240 && u + 1 < ARRAY_SIZE(unit); u++)
        x /= 1024;
    return u ? xasprintf("%.0f%s", x, unit[u]) : xasprintf("%" PRIu64, m->cost[which]);
}

/* ---- the table ------------------------------------------------------------------------------ */

struct page_column {
    struct table_head head;
    enum compared_cost cost;
};
static const struct page_column races_columns[] = {
    {{.name = "accesses", .above = "racy"}, COST_RACES},
    {{.name = "sites"}, COST_SITES},
    {{.name = "locations"}, COST_LOCATIONS},
    {{.name = "live", .above = "metadata"}, COST_BYTES},
    {{.name = "peak"}, COST_BYTES_PEAK},
    {{.name = "misses", .above = "remote"}, COST_REMOTE}};
static const struct page_column accesses_columns[] = {
    {{.name = "accesses", .above = "metadata"}, COST_METADATA},
    {{.name = "misses", .above = " "}, COST_METADATA_MISSES}};

enum { CYCLES_WIDTH = 10, OVERHEAD_WIDTH = 9, COUNT_WIDTH = 8 };

static void add_column(struct table *to, const char *name, size_t least)
{
    table_head(to, (struct table_head){.name = name, .least = least});
}

static void add_text_column(struct table *to, const char *name)
{
    table_head(to, (struct table_head){.name = name, .align = TABLE_LEFT});
}

/* A row a policy, with columns of one width behind its label. A page's tables begin alike, so the
 * labels that this one leaves out have their place, too. */
static struct table policies_table(const struct cost_table *t, const char *const *column, size_t n,
                                   size_t least)
{
    struct table to = {0};
    size_t width = 0;

    for (size_t i = 0; i < t->n; i++)
        width = strlen(t->row[i].label) > width ? strlen(t->row[i].label) : width;
    table_head(&to, (struct table_head){.name = "policy", .align = TABLE_LEFT, .least = width});
    for (size_t k = 0; k < n; k++)
        add_column(&to, column[k], least);
    return to;
}

static void add_page_columns(struct table *to, const struct page_column *c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        table_head(to, c[k].head);
}

/* No value where nobody counts the bytes. */
static void add_costs(struct table *to, const struct cost_table *t, const struct costs *r,
                      const struct page_column *c, size_t n)
{
    const struct part_costs *m = costs_judged(t, r);

    for (size_t k = 0; k < n; k++)
        if (c[k].cost == COST_BYTES || c[k].cost == COST_BYTES_PEAK)
            table_take(to, r->has_bytes ? bytes_text(m, c[k].cost) : NULL, false);
        else
            table_u64(to, m->cost[c[k].cost]);
}

static void add_cycles(struct table *to, const struct cost_table *t, const struct costs *r,
                       enum overhead_of which)
{
    const struct overhead o = costs_overhead(t, r, which);
    const double before = (double)o.without;

    table_u64(to, o.with);
    table_percent(to, (double)o.with - before, before);
}

static void print_table(const struct cost_table *t)
{
    const size_t n = ARRAY_SIZE(races_columns);
    struct table to = policies_table(t, NULL, 0, 0);

    add_column(&to, "cycles", CYCLES_WIDTH);
    add_column(&to, overhead_name[OVERHEAD], OVERHEAD_WIDTH);
    add_page_columns(&to, races_columns, n);
    add_text_column(&to, "property checked");
    for (size_t i = 0; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        table_text(&to, r->label);
        add_cycles(&to, t, r, OVERHEAD);
        add_costs(&to, t, r, races_columns, n);
        table_text(&to, r->property);
    }
    table_show(&to, stdout, "%s", "");
}

/* ---- what is measured ----------------------------------------------------------------------- */

static void print_measured(const struct cost_table *t)
{
    const struct costs *none = &t->row[0];

    if (!t->region) {
        puts("measured   the whole run, as no region of interest is marked\n");
        return;
    }
    char *part = table_percent_text((double)none->region.cost[COST_CYCLES],
                                    (double)none->whole.cost[COST_CYCLES]);
    printf("measured   the region of interest, %s of the cycles of none; the whole run stands "
           "below\n\n",
           part ? part : "-");
    free(part);
}

/* Prints the costs of the whole run: with the set-up, and all else that is outside of the
 * region. */
static void print_whole(const struct cost_table *t)
{
    struct table to = policies_table(t, NULL, 0, 0);

    add_column(&to, "cycles", CYCLES_WIDTH);
    add_column(&to, overhead_name[OVERHEAD_WHOLE], 0);
    add_column(&to, "races", OVERHEAD_WIDTH);
    for (size_t i = 0; i < t->n && t->region; i++) {
        table_text(&to, t->row[i].label);
        add_cycles(&to, t, &t->row[i], OVERHEAD_WHOLE);
        table_u64(&to, t->row[i].whole.cost[COST_RACES]);
    }
    table_show(&to, stdout, "\nthe whole run:\n");
}

/* A short run is mostly first touches; a long one is what papers print. */
static void print_course(const struct cost_table *t)
{
    static const char *const head[COURSE_PARTS] = {"1/8", "1/4", "1/2", "all"};
    struct table to = policies_table(t, head, COURSE_PARTS, OVERHEAD_WIDTH);
    double overhead[COURSE_PARTS];

    add_text_column(&to, "");
    for (size_t i = 1; i < t->n; i++) {
        if (!course_overheads(&t->row[i], &t->row[0], overhead))
            continue;
        table_text(&to, t->row[i].label);
        for (size_t k = 0; k < COURSE_PARTS; k++)
            table_percent(&to, overhead[k], 1);
        table_text(&to,
                   course_settled(overhead) ? "settled" : "not settled: a longer run has another");
    }
    table_show(&to, stdout, "\nthe overhead after a part of the %sevents:\n",
               t->region ? "region's " : "");
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
static void add_where(struct table *to, const struct cost_table *t, const struct costs *r)
{
    const struct part_costs *none = costs_judged(t, &t->row[0]), *all = costs_judged(t, r);
    const uint64_t cores = cores_used(t, r);
    const double whole = (double)none->cost[COST_CYCLES] * (double)cores;
    double more[WHERES] = {0};

    for (enum cost_spent s = 0; s < COST_SPENTS; s++)
        more[where_of(s)] += spent_of(all, s, cores) - spent_of(none, s, cores);
    table_text(to, r->label);
    for (size_t w = 0; w < WHERES; w++)
        table_percent(to, more[w], whole);
    add_costs(to, t, r, accesses_columns, ARRAY_SIZE(accesses_columns));
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

static void print_wheres(const struct cost_table *t)
{
    struct table to = policies_table(t, where_text, WHERES, OVERHEAD_WIDTH);

    if (t->n > 1) {
        printf("\nthe overhead, by what the time of ");
        print_whose(t);
    }
    add_page_columns(&to, accesses_columns, ARRAY_SIZE(accesses_columns));
    for (size_t i = 1; i < t->n; i++)
        add_where(&to, t, &t->row[i]);
    table_show(&to, stdout, " went to:\n");
}

/* Prints the work of the hardware's handlers, in the same percent: a row adds up to its "handler"
 * above. */
static void print_hardware(const struct cost_table *t)
{
    const struct part_costs *none = costs_judged(t, &t->row[0]);
    struct table to = policies_table(t, hardware_part_name, HARDWARE_PARTS, CYCLES_WIDTH);

    for (size_t i = 1; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        if (!r->has_manager)
            continue;
        const double whole = (double)none->cost[COST_CYCLES] * (double)cores_used(t, r);
        table_text(&to, r->label);
        for (size_t k = 0; k < HARDWARE_PARTS; k++)
            table_percent(&to, (double)costs_judged(t, r)->hardware[k], whole);
    }
    table_show(&to, stdout, "\nthe handlers of hardware, by what they did:\n");
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
static void print_truths(const struct cost_table *t)
{
    static const char *const counts[] = {"racy", "false", "missed"};
    struct table to = policies_table(t, counts, ARRAY_SIZE(counts), COUNT_WIDTH);

    add_text_column(&to, "of");
    for (size_t i = 1; i < t->n; i++) {
        const struct own_truth *o = &t->row[i].truth;
        if (!o->known)
            continue;
        table_text(&to, t->row[i].label);
        table_u64(&to, o->racy);
        table_u64(&to, o->is_false);
        table_u64(&to, o->missed);
        table_text(&to, o->by_access ? "accesses" : "places");
    }
    table_show(&to, stdout,
               "\nraces of each execution, and what its policy made of them (vc watches each, and "
               "takes no time):\n");
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

    for (size_t i = 1; i < t->n; i++) {
        if (!t->row[i].has_manager || !t->row[i].whole.cost[COST_SPACE])
            continue;
        char *text = bytes_text(&t->row[i].whole, COST_CHIP_PEAK);
        printf("%s%s %s", with, t->row[i].label, text);
        free(text);
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

/* An overhead of 0 because a policy had nothing to do says nothing about its costs. */
static void print_free(const struct cost_table *t)
{
    const char *before = "\nno time was charged by: ";

    for (size_t i = 1; i < t->n; i++) {
        const struct part_costs *m = &t->row[i].whole;
        if (m->spent[COST_SPENT_HANDLER] || m->cost[COST_METADATA])
            continue;
        printf("%s%s", before, t->row[i].label);
        before = ", ";
    }
    if (*before == ',')
        puts(" (nothing that it charges for happened)");
}

/* The overheads that other lengths had, a row each. */
static void print_lengths(const struct cost_table *t)
{
    const struct cost_runs *s = &t->lengths;
    struct table to = {0};

    if (!s->n)
        return;
    add_column(&to, t->length, 12);
    for (size_t i = 1; i < t->n; i++)
        add_column(&to, t->row[i].label, CYCLES_WIDTH);
    for (size_t k = 0; k < s->n; k++) {
        table_u64(&to, s->run[k].value);
        for (size_t i = 1; i < t->n; i++)
            table_percent(&to, s->run[k].overhead[i], 1);
    }
    table_show(&to, stdout, "\nthe overhead as %s doubles: %s\n", t->length,
               cost_runs_settled(s, t->n) ? "settled" : "not settled, a longer run has another");
}

static void print_seeds(const struct cost_table *t)
{
    static const char *const head[] = {"mean", "+-", "least", "most"};
    const struct cost_runs *s = &t->seeds;
    struct table to = policies_table(t, head, ARRAY_SIZE(head), OVERHEAD_WIDTH);

    for (size_t i = 1; i < t->n && s->n; i++) {
        const struct estimate x = cost_estimate_of(s, i);
        table_text(&to, t->row[i].label);
        table_percent(&to, x.mean, 1);
        table_percent(&to, x.half, 1);
        table_percent(&to, x.least, 1);
        table_percent(&to, x.most, 1);
    }
    table_show(&to, stdout,
               "\nthe overhead with %zu seeds, from %" PRIu64
               " on; +-: the 95 percent interval of the mean:\n",
               s->n, s->n ? s->run[0].value : 0);
    if (s->n && t->n > 1 && cost_runs_same(s, t->n))
        puts("(the seeds change nothing: each policy did the same with all of them)");
}

/* Prints how the overhead moves with the cost of everything the model leaves out. */
static void print_band(const struct cost_table *t)
{
    static const char *const head[] = {"least", "most"};
    const struct cost_runs *s = &t->band;
    struct table to = policies_table(t, head, ARRAY_SIZE(head), OVERHEAD_WIDTH);

    for (size_t i = 1; i < t->n && s->n > 1; i++) {
        table_text(&to, t->row[i].label);
        table_percent(&to, s->run[0].overhead[i], 1);
        table_percent(&to, s->run[1].overhead[i], 1);
    }
    table_show(&to, stdout,
               "\nthe overhead with core.unmodelled from 0 to %" PRIu64
               " percent, for what the model leaves out:\n",
               s->n > 1 ? s->run[1].value : 0);
}

/* True: all runs have this finding. */
static bool in_all(const struct cost_table *t, const struct lardsim_finding *f)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct lardsim_findings *all = &t->row[i].findings;
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
    struct lardsim_findings common = {NULL, 0};
    size_t others = 0;

    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->row[i].findings.n; k++) {
            const struct lardsim_finding *f = &t->row[i].findings.at[k];
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

    print_visible(stdout, t->source);
    printf(": %" PRIu64 " event%s, for each policy on a machine of its own\n\n", t->row[0].events,
           t->row[0].events == 1 ? "" : "s");
    printf("machine    %" PRIu64 " core%s at %" PRIu64
           " MHz, %s order, contention %s, memory %s\n\n",
           cores, cores == 1 ? "" : "s", t->frequency, t->order, t->contention, t->memory);
    if (lardsim_source_plants(t->source))
        puts("races      " PLANTED_TEXT "\n");
    print_measured(t);
    print_order(t);
    print_table(t);
    print_truths(t);
    print_wheres(t);
    print_hardware(t);
    print_collections(t);
    print_space(t);
    print_free(t);
    print_whole(t);
    print_course(t);
    print_lengths(t);
    print_seeds(t);
    print_band(t);
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
    return text ? lardsim_source_seed(c->arg[0], &(uint64_t){0}, e) : 0;
}

static int ask_band(const struct cli *c, const struct given *g, uint64_t *most, struct err *e)
{
    struct lardsim *l = given_asked(g, e);
    const int failed = !l || cli_band(c, l, most, e);

    lardsim_free(l);
    return failed ? -1 : 0;
}

static int write_files(const struct cost_table *t, struct outputs *o, struct err *e)
{
    if (o->at[COMPARE_CSV])
        cost_table_csv(t, outfile_stream(o->at[COMPARE_CSV]));
    if (o->at[COMPARE_PLOT])
        cost_table_plot(t, outfile_stream(o->at[COMPARE_PLOT]));
    return outputs_commit(o, e);
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
    struct outputs files = {{NULL}};
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
        !compare_outputs(&files, c, e)) {
        costs_run(&t, &asked, e);
        if (!e->code)
            write_files(&t, &files, e);
        status = show(&t, c, e);
    }
    outputs_abort(&files);
    cost_table_free(&t);
    return status;
}
