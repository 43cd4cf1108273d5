/* measure.c - what is measured in a cell, from its statistics and those of the same point without
 * a policy. Times are of the region of interest where both have one. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/read/overhead.h"
#include "results/papers/table.h"

/* MORE_TIME: the overhead, in percent. MORE_WHOLE: likewise, of the whole run
 * (results/read/overhead.h). TIMES: cycles to those of none. SHARE: of the cores' time under none,
 * in percent: what is more of it here. REST: of the overhead, what is not in that. RATIO: one sum
 * to the other. MORE: the sum of the own to the base's. BASE: cycles of none, of the cores that had
 * threads, to the own sum. EVER: pairs of sites, each once in all trials. */
enum { MORE_TIME, MORE_WHOLE, TIMES, SHARE, REST, RATIO, MORE, BASE, EVER };

#define CYCLES "policy.$.cost.cycles."
const struct table_measure measures[] = {
    {"overhead", "%", "Cycles more than without a policy, in the region of interest.", MORE_TIME,
     NULL, NULL, 100},
    {"overhead-whole", "%", "Cycles more than without a policy, of the whole run.", MORE_WHOLE,
     NULL, NULL, 100},
    {"time", "times", "Cycles to those without a policy.", TIMES, NULL, NULL, 1},
    {"slow", "times", "Cycles to those without a policy.", TIMES, NULL, NULL, 1},
    {"instructions", "%", "Of overhead: checks in line, instructions and L1 hits.", SHARE,
     CYCLES "check.instructions " CYCLES "check.l1", NULL, 100},
    {"swaps", "%", "Of overhead: compare-and-swaps that hit the L1.", SHARE, CYCLES "*.atomics",
     NULL, 100},
    {"slow-paths", "%", "Of overhead: what is not in line, instructions and L1 hits.", SHARE,
     CYCLES "slow.instructions " CYCLES "slow.l1", NULL, 100},
    {"local-misses", "%", "Of overhead: metadata from the L2, the L3 or memory.", SHARE,
     CYCLES "check.local " CYCLES "slow.local " CYCLES "sync.local " CYCLES "heap.local", NULL,
     100},
    {"remote-misses", "%", "Of overhead: metadata for which other cores were asked.", SHARE,
     CYCLES "check.remote " CYCLES "slow.remote " CYCLES "sync.remote " CYCLES "heap.remote", NULL,
     100},
    {"read-maps", "%", "Of overhead: maps of readers, their misses included.", SHARE,
     CYCLES "maps.instructions " CYCLES "maps.l1 " CYCLES "maps.local " CYCLES "maps.remote", NULL,
     100},
    {"region-ends", "%", "Of overhead: clocks, logs, ends of regions; clears and copies.", SHARE,
     CYCLES "sync.instructions " CYCLES "sync.l1 " CYCLES "heap.instructions " CYCLES "heap.l1",
     NULL, 100},
    {"collections", "%", "Of overhead: the policy's work at collections.", SHARE,
     CYCLES "collections.instructions " CYCLES "collections.l1 " CYCLES "collections.local " CYCLES
            "collections.remote",
     NULL, 100},
    {"handler", "%", "Of overhead: all of the policy's instructions and accesses.", SHARE,
     "machine.spent.handler", NULL, 100},
    {"program", "%", "Of overhead: the program's own instructions and accesses take longer.", SHARE,
     "machine.spent.executing machine.spent.l1 machine.spent.l2 machine.spent.l3 "
     "machine.spent.remote machine.spent.memory",
     NULL, 100},
    {"waiting", "%", "Of overhead: the rest, waiting for others and idling.", REST,
     "machine.spent.handler machine.spent.executing machine.spent.l1 machine.spent.l2 "
     "machine.spent.l3 machine.spent.remote machine.spent.memory",
     NULL, 100},
    {"no-update-reads", "%", "Reads that need not change metadata.", RATIO,
     "policy.$.cost.reads-same", "policy.$.cost.reads", 100},
    {"no-update-writes", "%", "Writes that need not change metadata.", RATIO,
     "policy.$.cost.writes-same", "policy.$.cost.writes", 100},
    {"reads-a-write", "", "Checked reads to checked writes.", RATIO, "policy.$.cost.reads",
     "policy.$.cost.writes", 1},
    {"accesses-per-region", "accesses", "Checked accesses to regions.", RATIO, "policy.$.checked",
     "policy.$.regions", 1},
    {"pairs", "pairs", "Unordered pairs of sites that race.", RATIO, "policy.$.races.pairs", NULL,
     1},
    {"ever", "pairs", "Pairs of sites that raced in at least one trial.", EVER, NULL, NULL, 1},
    {"space", "%", "What metadata add to the live heap, after full collections.", RATIO,
     "policy.$.space.overhead", NULL, 0.1},
    {"live", "MiB", "Live heap after full collections, the most.", RATIO, "policy.$.space.heap",
     NULL, 1.0 / (1 << 20)},
    {"heap", "times", "Live heap and metadata to live heap alone, at their peaks.", MORE,
     "policy.$.metadata.peak footprint.peak-live", "footprint.peak-live", 1},
    {"shadow", "of 1", "Locations kept for arrays at their ends, to their elements.", RATIO,
     "policy.$.arrays.fraction.num", "policy.$.arrays.fraction.den", 1},
    {"checks", "count", "Checks of array partitions.", RATIO, "policy.$.checks", NULL, 1},
    {"base-access", "cycles", "What an access takes without a policy, of all cores' time.", BASE,
     "machine.cycles", "policy.$.accesses", 1},
    {"access-instructions", "instructions", "The policy's, for an access that is checked.", RATIO,
     "policy.$.cost.instructions", "policy.$.checked", 1},
    {"more-instructions", "%", "Instructions that the machine executes, to those without.", MORE,
     "machine.instructions", "machine.instructions", 100},
    {"access-cycles", "cycles", "The policy's work, for an access that is checked.", RATIO,
     "machine.spent.handler", "policy.$.checked", 1},
    {"accesses-checked", "%", "Accesses that are checked.", RATIO, "policy.$.checked",
     "policy.$.accesses", 100},
    {"short-circuits", "%", "Checks that need no walk along the list.", RATIO,
     "policy.$.by-thread policy.$.by-lock", "policy.$.checks", 100},
    /* CVM. What the master does, all wait for, so that it is of the whole run's time: eight
     * processes, at an instruction a cycle. Instructions as policy/cvm/steps.def has them. */
    {"routine", "%", "Of overhead: calls of the analysis routine, and what it does.", SHARE,
     CYCLES "check.instructions " CYCLES "check.l1 " CYCLES "check.local " CYCLES "check.remote",
     NULL, 100},
    {"calls-alone", "%", "Of it, the calls: 8 instructions each.", SHARE,
     "policy.$.cost.steps.call", NULL, 8 * 100},
    {"wait-for-vectors", "%", "Of overhead: the master compares version vectors.", SHARE,
     "policy.$.cost.steps.compare", NULL, 8 * 10 * 100},
    {"wait-for-lists", "%", "Of overhead: the master walks lists of notices.", SHARE,
     "policy.$.cost.steps.overlap", NULL, 8 * 6 * 100},
    {"wait-for-check-list", "%", "Of overhead: the master makes the check list.", SHARE,
     "policy.$.cost.steps.list", NULL, 8 * 12 * 100},
    {"wait-for-bitmaps", "%", "Of overhead: the master compares bitmaps.", SHARE,
     "policy.$.cost.steps.words", NULL, 8 * 6 * 100},
    {"rest-of-cvm", "%", "Of overhead: what is not in the routine.", REST,
     CYCLES "check.instructions " CYCLES "check.l1 " CYCLES "check.local " CYCLES "check.remote",
     NULL, 100},
    {"intervals", "a barrier", "Intervals of a process between two barriers.", RATIO,
     "policy.$.intervals", "policy.$.barriers", 1.0 / 8},
    {"intervals-used", "%", "Intervals of a concurrent pair with a page in common.", RATIO,
     "policy.$.intervals-used", "policy.$.intervals", 100},
    {"bitmaps-used", "%", "Bitmaps that a check list asked for.", RATIO, "policy.$.bitmaps-used",
     "policy.$.bitmaps", 100},
    {"message-overhead", "%", "Bytes of messages that only the detector needs, to all others.",
     RATIO, "dsm.bytes.read-notices dsm.bytes.more-notices dsm.bytes.more-clocks dsm.bytes.bitmaps",
     "dsm.bytes.header dsm.bytes.clocks dsm.bytes.notices dsm.bytes.requests dsm.bytes.pages "
     "dsm.bytes.diffs",
     100},
    {"routine-calls", "accesses", "Accesses that call the analysis routine.", RATIO,
     "policy.$.calls", NULL, 1},
    {"routine-sites", "sites", "Sites with a call of the analysis routine.", RATIO,
     "policy.$.sites.calls", NULL, 1},
    {"cloned-sites", "sites", "Sites of private data and shared data, in routines to be cloned.",
     RATIO, "policy.$.sites.both", NULL, 1},
    {"sites-same", "sites", "Sites for which others of the same kind and place call.", RATIO,
     "policy.$.sites.same", NULL, 1},
    {"sites-mix", "sites", "Sites in the call of one of another kind.", RATIO, "policy.$.sites.mix",
     NULL, 1},
    {"sites-next", "sites", "Sites in the call of one to the place beside.", RATIO,
     "policy.$.sites.next", NULL, 1},
    {NULL, NULL, NULL, 0, NULL, NULL, 0},
};

const struct table_measure *measure_find(const char *name, size_t length)
{
    for (const struct table_measure *m = measures; m->name; m++)
        if (strlen(m->name) == length && !strncmp(m->name, name, length))
            return m;
    return NULL;
}

/* ---- statistics ----------------------------------------------------------------------------- */

static double stat_of(const struct cell_stats *s, const char *name)
{
    const char *text = cell_stats_find(s, name);

    return text ? strtod(text, NULL) : NAN;
}

static bool has_region(const struct table_sample *s)
{
    return run_time_of(&s->own).has_region;
}

/* "policy.$.checked" with the label in place. */
static char *with_label(const char *pattern, size_t length, const char *label, bool region)
{
    const char *at = memchr(pattern, '$', length);
    const char *before = region ? "roi." : "";

    if (!at)
        return xasprintf("%s%.*s", before, (int)length, pattern);
    return xasprintf("%s%.*s%s%.*s", before, (int)(at - pattern), pattern, label,
                     (int)(length - (size_t)(at - pattern) - 1), at + 1);
}

static double matching(const struct cell_stats *s, const char *pattern)
{
    double sum = 0;
    bool some = false;

    if (!strchr(pattern, '*'))
        return stat_of(s, pattern);
    for (size_t i = 0; i < s->n; i++)
        if (fnmatch(pattern, s->at[i].name, 0) == 0) {
            sum += strtod(s->at[i].value, NULL);
            some = true;
        }
    return some ? sum : NAN;
}

/* NAN if the cell has none of them: what it has not counts nothing. */
static double sum_of(const struct cell_stats *s, const char *patterns, const char *label,
                     bool region)
{
    double sum = 0;
    bool some = false;

    for (const char *at = patterns; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        char *pattern = with_label(at, length, label, region);
        const double x = matching(s, pattern);
        free(pattern);
        at += length;
        some |= !isnan(x);
        sum += isnan(x) ? 0 : x;
    }
    return some ? sum : NAN;
}

/* ---- measures ------------------------------------------------------------------------------- */

static struct overhead overhead(const struct table_sample *s, enum overhead_of which)
{
    const struct run_time own = run_time_of(&s->own), base = run_time_of(&s->base);

    return overhead_of(&own, &base, which);
}

static double more(const struct table_sample *s, enum overhead_of which)
{
    return overhead_value(overhead(s, which));
}

/* What the policy has more of than the run without it, by the time of the cores that had threads
 * there: shares that cover all time add up to the overhead. */
static double share(const struct table_measure *m, const struct table_sample *s)
{
    const bool region = has_region(s);
    const double own = sum_of(&s->own, m->over, s->policy, region),
                 base = sum_of(&s->base, m->over, s->policy, region),
                 cycles = (double)overhead(s, OVERHEAD).without,
                 used = stat_of(&s->base, "machine.cores-used");

    return (own - (isnan(base) ? 0 : base)) / (cycles * used);
}

double measure_of(const struct table_measure *m, const struct table_sample *s)
{
    switch (m->kind) {
    case MORE_TIME:
        return m->times * more(s, OVERHEAD);
    case MORE_WHOLE:
        return m->times * more(s, OVERHEAD_WHOLE);
    case TIMES:
        return m->times * (more(s, OVERHEAD) + 1);
    case SHARE:
        return m->times * share(m, s);
    case REST:
        return m->times * (more(s, OVERHEAD) - share(m, s));
    case MORE:
        return m->times * sum_of(&s->own, m->over, s->policy, false) /
               sum_of(&s->base, m->under, s->policy, false);
    case EVER:
        return s->raced.known ? (double)s->raced.n : NAN;
    case BASE: {
        const bool region = has_region(s);
        return m->times * sum_of(&s->base, m->over, s->policy, region) *
               stat_of(&s->base, "machine.cores-used") /
               sum_of(&s->own, m->under, s->policy, region);
    }
    default:
        return m->times * sum_of(&s->own, m->over, s->policy, false) /
               (m->under ? sum_of(&s->own, m->under, s->policy, false) : 1);
    }
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

double measure_mean(const struct table_results *r, const struct table_measure *m,
                    const char *program, const char *step, const char *policy, size_t seed)
{
    struct table_pairs raced = {0};
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct table_sample *s = &r->sample[i];
        if (strcmp(s->program->name, program) != 0 || !same(s->step, step) ||
            strcmp(s->policy, policy) != 0 || (seed != SIZE_MAX && s->seed != seed))
            continue;
        const double x = measure_of(m, s);
        sum += isnan(x) ? 0 : x;
        n += isnan(x) ? 0 : 1;
        for (size_t k = 0; m->kind == EVER && k < s->raced.n; k++)
            pairs_add(&raced, s->raced.name[k]);
    }
    const double ever = (double)raced.n;
    pairs_free(&raced);
    if (m->kind == EVER)
        return n ? ever : NAN;
    return n ? sum / (double)n : NAN;
}
