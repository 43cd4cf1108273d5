/* costs_files.c - what policies cost, for other programs: CSV, a row a policy, and a plot. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "results/experiment/costs.h"
#include "results/drawing/plot.h"

/* ---- what policies cost --------------------------------------------------------------------- */

static void overheads_csv(FILE *out, const struct cost_table *t, const struct costs *r)
{
    const struct run_time time = costs_time(t, r);

    fprintf(out, ",%s", run_time_measured(&time));
    for (size_t i = 0; i < OVERHEADS; i++) {
        char *text = overhead_text(costs_overhead(t, r, (enum overhead_of)i));
        fprintf(out, ",%s", text);
        free(text);
    }
}

static void measured_csv(FILE *out, const struct part_costs *m, bool has_bytes)
{
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, m->cost[COST_CYCLES],
            m->cost[COST_RACES], m->cost[COST_SITES], m->cost[COST_LOCATIONS]);
    if (has_bytes)
        fprintf(out, ",%" PRIu64 ",%" PRIu64, m->cost[COST_BYTES], m->cost[COST_BYTES_PEAK]);
    else
        fputs(",,", out);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, m->cost[COST_METADATA],
            m->cost[COST_METADATA_MISSES], m->cost[COST_REMOTE], m->cost[COST_COLLECTIONS]);
    for (size_t s = 0; s < COST_SPENTS; s++)
        fprintf(out, ",%" PRIu64, m->spent[s]);
}

static void heads_csv(FILE *out, const char *part)
{
    static const char *const head[] = {
        "cycles",        "races.accesses",   "races.sites",       "races.locations",
        "metadata.live", "metadata.peak",    "metadata.accesses", "metadata.misses",
        "remote.misses", "collection.cycles"};

    for (size_t i = 0; i < ARRAY_SIZE(head); i++)
        fprintf(out, ",%s%s", part, head[i]);
    for (size_t s = 0; s < COST_SPENTS; s++)
        fprintf(out, ",%sspent.%s", part, cost_spent_name[s]);
}

/* Writes, if there are several seeds, how many, and the overhead that is judged: its mean and the
 * ends of the mean's 95 percent interval. */
static void seeds_csv(FILE *out, const struct cost_table *t, size_t row)
{
    const struct estimate s = cost_estimate_of(&t->seeds, row);

    if (t->seeds.n > 1)
        fprintf(out, ",%zu,%.6f,%.6f,%.6f", t->seeds.n, s.mean, s.mean - s.half, s.mean + s.half);
}

/* The columns of the region are there if one is marked. */
void cost_table_csv(const struct cost_table *t, FILE *out)
{
    fprintf(out, "policy,%s", overhead_measured_name);
    for (size_t i = 0; i < OVERHEADS; i++)
        fprintf(out, ",%s", overhead_name[i]);
    heads_csv(out, "");
    if (t->region)
        heads_csv(out, "region.");
    if (t->seeds.n > 1)
        fputs(",seeds,seeds.overhead.mean,seeds.overhead.low,seeds.overhead.high", out);
    fputc('\n', out);
    for (size_t i = 0; i < t->n; i++) {
        const struct costs *r = &t->row[i];
        csv_field(out, r->label);
        overheads_csv(out, t, r);
        measured_csv(out, &r->whole, r->has_bytes);
        if (t->region)
            measured_csv(out, &r->region, r->has_bytes);
        seeds_csv(out, t, i);
        fputc('\n', out);
    }
}

void cost_table_plot(const struct cost_table *t, FILE *out)
{
    const char *const panels[] = {t->region ? "cycles of the region" : "cycles of the run",
                                  "remote misses", "metadata accesses"};
    static const enum compared_cost costs[] = {COST_CYCLES, COST_REMOTE, COST_METADATA};
    uint64_t(*count)[2] = xcalloc(t->n * ARRAY_SIZE(panels), sizeof *count);
    const char **labels = xcalloc(t->n, sizeof *labels);

    for (size_t i = 0; i < t->n; i++) {
        labels[i] = t->row[i].label;
        for (size_t k = 0; k < ARRAY_SIZE(panels); k++) {
            count[i * ARRAY_SIZE(panels) + k][0] = costs_judged(t, &t->row[0])->cost[costs[k]];
            count[i * ARRAY_SIZE(panels) + k][1] = costs_judged(t, &t->row[i])->cost[costs[k]];
        }
    }
    const struct plot plot = {.title = t->source,
                              .kind = {"none", "the policy"},
                              .panels = ARRAY_SIZE(panels),
                              .rows = t->n,
                              .panel = panels,
                              .row = labels,
                              .count = (const uint64_t(*)[2])count};
    plot_write(&plot, out);
    free(count);
    free((void *)labels);
}
