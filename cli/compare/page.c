/* page.c - prints what policies cost on their machines: one page for people, or JSON.
 * docs/compare.md tells what the columns mean. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/run/run.h"
#include "cli/workload/workload.h"

/* ---- numbers -------------------------------------------------------------------------------- */

/* "12.3 %" of part / whole, right-aligned. Rounded to tenths as an integer first, as printf would
 * write "-0.0 %". */
static void print_percent(double part, double whole, int width)
{
    const double x = whole > 0 ? 1000 * part / whole : 0;
    const long long tenths = (long long)(x < 0 ? x - 0.5 : x + 0.5);
    const long long size = tenths < 0 ? -tenths : tenths;
    char text[32];

    snprintf(text, sizeof text, "%s%lld.%lld %%", tenths < 0 ? "-" : "", size / 10, size % 10);
    printf("%*s", width, text);
}

/* Bytes of metadata: "-" where nobody counts them; from 10 Ki on rounded, so that a small number is
 * exact and a large one short. */
static void bytes_text(const struct costs *r, enum compared_cost which, char *to, size_t room)
{
    static const char *const unit[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double x = (double)r->cost[which];
    size_t u = 0;

    for (; x >= 10240 && u + 1 < ARRAY_SIZE(unit); u++)
        x /= 1024;
    if (!r->has_bytes)
        snprintf(to, room, "-");
    else if (u == 0)
        snprintf(to, room, "%" PRIu64, r->cost[which]);
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

static void cell_text(const struct costs *r, const struct page_column *c, char *to, size_t room)
{
    if (c->form == BYTES)
        bytes_text(r, c->cost, to, room);
    else
        snprintf(to, room, "%" PRIu64, r->cost[c->cost]);
}

/* Two spaces before the longest of titles and cells. */
static int column_width(const struct cost_table *t, const struct page_column *c)
{
    size_t width = strlen(c->title) > strlen(c->above) ? strlen(c->title) : strlen(c->above);
    char text[32];

    for (size_t i = 0; i < t->n; i++) {
        cell_text(&t->row[i], c, text, sizeof text);
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
        cell_text(r, &c[k], text, sizeof text);
        printf("%*s", column_width(t, &c[k]), text);
    }
}

enum { CYCLES_WIDTH = 12, OVERHEAD_WIDTH = 11 };

static void print_table(const struct cost_table *t, int width)
{
    const double before = (double)t->row[0].cost[COST_CYCLES];
    const size_t n = ARRAY_SIZE(races_columns);

    printf("%*s", width + CYCLES_WIDTH + OVERHEAD_WIDTH, "");
    print_above(t, races_columns, n);
    printf("\n%-*s%*s%*s", width, "policy", CYCLES_WIDTH, "cycles", OVERHEAD_WIDTH, "overhead");
    print_titles(t, races_columns, n);
    puts("  property checked");
    for (size_t i = 0; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        printf("%-*s%*" PRIu64, width, r->label, CYCLES_WIDTH, r->cost[COST_CYCLES]);
        print_percent((double)r->cost[COST_CYCLES] - before, before, OVERHEAD_WIDTH);
        print_cells(t, r, races_columns, n);
        printf("  %s\n", r->property);
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

/* Cores that had something to do, in this run or in that without a policy: the lowest ones take
 * threads first, so those of the one are among those of the other. */
static uint64_t cores_used(const struct cost_table *t, const struct costs *r)
{
    const uint64_t none = t->row[0].cost[COST_CORES_USED], used = r->cost[COST_CORES_USED];

    return none > used ? none : used;
}

/* The cycles of so many cores; the others were idle all the time. */
static double spent_of(const struct costs *r, enum cost_spent s, uint64_t cores)
{
    const uint64_t others = r->cost[COST_CORES] - cores;

    return (double)(r->spent[s] - (s == COST_SPENT_IDLE ? others * r->cost[COST_CYCLES] : 0));
}

/* The cycles of a run's cores add up to its cycles times the cores, so the columns add up to the
 * overhead. */
static void print_where_row(const struct cost_table *t, const struct costs *r, int width)
{
    const struct costs *none = &t->row[0];
    const uint64_t cores = cores_used(t, r);
    const double whole = (double)none->cost[COST_CYCLES] * (double)cores;
    double more[WHERES] = {0};

    for (enum cost_spent s = 0; s < COST_SPENTS; s++)
        more[where_of(s)] += spent_of(r, s, cores) - spent_of(none, s, cores);
    printf("%-*s", width, r->label);
    for (size_t w = 0; w < WHERES; w++)
        print_percent(more[w], whole, OVERHEAD_WIDTH);
    print_cells(t, r, accesses_columns, ARRAY_SIZE(accesses_columns));
    putchar('\n');
}

/* "all cores", or those that had threads. */
static void print_whose(const struct cost_table *t)
{
    const uint64_t cores = t->row[0].cost[COST_CORES];
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

/* A collecting thread's own work shows only where it is a tenth of the overhead or more. Where a
 * program collects seldom this is little; a short run may collect all the time. */
static void print_collections(const struct cost_table *t)
{
    const double before = (double)t->row[0].cost[COST_CYCLES];
    const char *with = "\nof it the collecting thread's work for collections: ";

    for (size_t i = 1; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        const double more = (double)r->cost[COST_CYCLES] - before,
                     part = (double)r->cost[COST_COLLECTIONS];
        if (part * 10 < more || part <= 0 || before <= 0)
            continue;
        printf("%s%s %.1f %%", with, r->label, 100 * part / before);
        with = ", ";
    }
    if (*with == ',')
        puts(" (short runs collect far more often than real programs)");
}

static bool charged(const struct costs *r)
{
    return r->spent[COST_SPENT_HANDLER] || r->cost[COST_METADATA];
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

/* What a run has found, and every other one, too. */
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
            common.at[common.n++] = *f; /* what it has stays the row's */
        }
    run_print_findings(&common, others,
                       t->output ? "`findings` in compare.json" : "--json shows them");
    free(common.at);
}

void cost_table_text(const struct cost_table *t)
{
    const uint64_t cores = t->row[0].cost[COST_CORES];
    const int width = label_width(t);

    cli_print(stdout, t->source);
    printf(": %" PRIu64 " event%s, for each policy on a machine of its own\n\n", t->row[0].events,
           t->row[0].events == 1 ? "" : "s");
    printf("machine    %" PRIu64 " core%s at %" PRIu64
           " MHz, %s order, contention %s, memory %s\n\n",
           cores, cores == 1 ? "" : "s", t->frequency, t->order, t->contention, t->memory);
    if (workload_plants(t->source))
        puts("races      " PLANTED_TEXT "\n");
    print_table(t, width);
    print_wheres(t, width);
    print_collections(t);
    print_free(t);
    print_findings(t);
    if (t->error->code)
        puts("\nincomplete: a run stopped before the end");
    else if (t->output) {
        printf("\nresults  ");
        cli_print(stdout, t->output);
        puts("/compare.json, and a folder for each policy");
    } else if (t->n == 1) {
        puts("\nnext     -p NAME, given once or more, shows what a policy costs (`lardsim list "
             "policies`)");
    } else {
        puts("\nnext     -o DIR keeps the results of each run, --truth LABEL shows who is wrong");
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_machine(struct json *j, const struct cost_table *t)
{
    json_key(j, "machine");
    json_object(j);
    json_key_u64(j, "cores", t->row[0].cost[COST_CORES]);
    json_key_u64(j, "frequency", t->frequency);
    json_key_str(j, "order", t->order);
    json_key_str(j, "contention", t->contention);
    json_key_str(j, "memory-type", t->memory);
    json_end(j);
}

static void json_spent(struct json *j, const struct costs *r)
{
    static const char *const spent[COST_SPENTS] = {
#define SPENT(NAME, text, help) [COST_SPENT_##NAME] = text,
#include "sim/machine/spent.def"
#undef SPENT
    };

    json_key(j, "spent");
    json_object(j);
    for (size_t s = 0; s < COST_SPENTS; s++)
        json_key_u64(j, spent[s], r->spent[s]);
    json_end(j);
}

static void json_row(struct json *j, const struct costs *r, const struct costs *none)
{
    json_object(j);
    json_key_str(j, "policy", r->label);
    json_key_str(j, "property", r->property);
    json_key_u64(j, "cycles", r->cost[COST_CYCLES]);
    json_key_u64(j, "cores-used", r->cost[COST_CORES_USED]);
    json_key(j, "cycles-to-none");
    json_fixed(j, r->cost[COST_CYCLES], none->cost[COST_CYCLES]);
    json_key(j, "races");
    json_object(j);
    json_key_u64(j, "accesses", r->cost[COST_RACES]);
    json_key_u64(j, "sites", r->cost[COST_SITES]);
    json_key_u64(j, "locations", r->cost[COST_LOCATIONS]);
    json_end(j);
    json_key(j, "metadata-bytes");
    json_object(j);
    json_key(j, "live");
    r->has_bytes ? json_u64(j, r->cost[COST_BYTES]) : json_null(j);
    json_key(j, "peak");
    r->has_bytes ? json_u64(j, r->cost[COST_BYTES_PEAK]) : json_null(j);
    json_end(j);
    json_key_u64(j, "metadata-accesses", r->cost[COST_METADATA]);
    json_key_u64(j, "metadata-misses", r->cost[COST_METADATA_MISSES]);
    json_key_u64(j, "remote-misses", r->cost[COST_REMOTE]);
    json_key_u64(j, "collection-cycles", r->cost[COST_COLLECTIONS]);
    json_spent(j, r);
    sim_findings_json(&r->findings, j);
    json_key_hex16(j, "digest", r->digest);
    json_key_hex16(j, "behaviour", r->behaviour);
    json_end(j);
}

static void json_settings(struct json *j, const struct cost_table *t)
{
    json_key(j, "configuration");
    json_object(j);
    for (size_t i = 0; i < t->settings; i++)
        json_key_str(j, t->setting[i].name, t->setting[i].text);
    json_end(j);
}

/* A text in JSON is one in YAML. */
void cost_table_config(FILE *out, const struct cost_table *t)
{
    struct json j;

    fputs("# The complete configuration of these runs; `lardsim compare --config config.yaml` "
          "repeats "
          "them.\n",
          out);
    for (size_t i = 0; i < t->settings; i++) {
        json_init(&j, out, false);
        fprintf(out, "%s: ", t->setting[i].name);
        json_str(&j, t->setting[i].text);
        fputc('\n', out);
    }
}

void cost_table_json(FILE *out, const struct cost_table *t)
{
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    json_key_str(&j, "schema", "lardsim-costs-1");
    json_key_str(&j, "source", t->source);
    json_key_bool(&j, "planted-races", workload_plants(t->source));
    json_key_u64(&j, "events", t->row[0].events);
    json_key_str(&j, "error", t->error->code ? t->error->text : NULL);
    json_key_u64(&j, "exit", (uint64_t)t->error->code);
    json_key_str(&j, "output", t->output);
    json_machine(&j, t);
    json_settings(&j, t);
    json_key(&j, "policies");
    json_array(&j);
    for (size_t i = 0; i < t->n; i++)
        json_row(&j, &t->row[i], &t->row[0]);
    json_end(&j);
    json_end(&j);
}
