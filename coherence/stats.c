/* stats.c - names, units and sentences of what caches and directory count, and the invariants that
 * must hold at the end of a run, when no transaction is under way: what came in has gone or is
 * here, what one level does not answer is found again in the next. */
#include "coherence/coherence_int.h"

/* ---- one cache level ------------------------------------------------------------------------ */

static const struct {
    const char *hits, *hits_help, *misses, *misses_help, *upgrades, *upgrades_help;
} by_command[COMMANDS] = {
    [MEM_LOAD] = {"load-hits", "Loads that hit.", "load-misses", "Loads that missed.", NULL, NULL},
    [MEM_STORE] = {"store-hits", "Stores that hit, with permission.", "store-misses",
                   "Stores that missed, or hit a line in S.", "store-upgrades",
                   "Stores that hit a line in S; they are misses, too."},
    [MEM_ATOMIC] = {"atomic-hits", "Atomics that hit, with permission.", "atomic-misses",
                    "Atomics that missed, or hit a line in S.", "atomic-upgrades",
                    "Atomics that hit a line in S; they are misses, too."},
};

static void declare_traffic(struct stats_group *level, const char *name,
                            const struct cache_stats *s, enum mem_traffic traffic, bool private)
{
    struct stats_group *g = stats_group(level, name);

    for (unsigned i = 0; i < COMMANDS; i++) {
        stats_count(g, by_command[i].hits, "accesses", by_command[i].hits_help,
                    &s->hit[traffic][i]);
        stats_count(g, by_command[i].misses, "accesses", by_command[i].misses_help,
                    &s->miss[traffic][i]);
        if (private && by_command[i].upgrades)
            stats_count(g, by_command[i].upgrades, "accesses", by_command[i].upgrades_help,
                        &s->upgrade[traffic][i]);
    }
}

/* private: of an L1 or L2, where an access that lacks permission is a miss and counts as an
 * upgrade, too. The L3 sees only requests for lines. */
static void declare_accesses(struct stats_group *g, const struct cache_stats *s, unsigned cores,
                             bool private)
{
    stats_count(g, "accesses", "accesses",
                private ? "Accesses that came here." : "Requests for a line; not upgrades.",
                &s->accesses);
    stats_count(g, "misses", "accesses",
                private ? "Accesses that went on, upgrades included."
                        : "Requests for a line that was not here.",
                &s->misses);
    stats_ratio(g, "miss-rate", "Misses of accesses.", &s->misses, &s->accesses);
    declare_traffic(g, "data", s, TRAFFIC_DATA, private);
    declare_traffic(g, "metadata", s, TRAFFIC_METADATA, private);
    stats_vector(g, "core.accesses", "accesses", "Accesses, by core.", s->core_accesses, cores,
                 NULL);
    stats_vector(g, "core.misses", "accesses", "Misses, by core.", s->core_misses, cores, NULL);
}

static void declare_lines(struct stats_group *g, const struct cache_stats *s, bool private)
{
    stats_count(g, "fills", "lines", "Lines that came in.", &s->fills);
    stats_count(g, "evictions-clean", "lines", "Clean lines that made room for others.",
                &s->lost[LOST_CLEAN]);
    stats_count(g, "evictions-dirty", "lines", "Dirty lines that made room for others.",
                &s->lost[LOST_DIRTY]);
    stats_level(g, "resident", "lines", "Lines here at the end.", &s->resident);
    stats_level(g, "resident-metadata", "lines",
                "Lines here at the end that metadata brought: room that data have lost.",
                &s->resident_metadata);
    stats_echo(g, "capacity", "lines", "Lines that there is room for, over all cores.",
               &s->capacity);
    stats_late(g, "resident-metadata", STATS_AT_END);
    stats_late(g, "capacity", STATS_AT_END);
    if (!private)
        return;
    stats_count(g, "invalidations", "lines", "Lines lost to another core's store.",
                &s->lost[LOST_INVALIDATED]);
    stats_count(g, "recalls", "lines", "Lines lost because L3 or directory lost them.",
                &s->lost[LOST_RECALLED]);
    stats_count(g, "downgrades", "lines", "Lines that another core's load turned into S.",
                &s->downgrades);
}

/* Sums of sums must agree: by traffic and command, and by core. */
static void require_sums(struct stats_group *g, const struct cache_stats *s, unsigned cores)
{
    const size_t n = TRAFFICS * COMMANDS;
    const uint64_t *looked[2 * TRAFFICS * COMMANDS + 1] = {NULL};

    for (size_t i = 0; i < n; i++) {
        looked[i] = &s->hit[i / COMMANDS][i % COMMANDS];
        looked[n + i] = &s->miss[i / COMMANDS][i % COMMANDS];
    }
    stats_invariant(g, "accesses-kinds", "Hits and misses are all accesses.", looked, STATS_EQ,
                    STATS_SUM(&s->accesses));
    stats_sum(g, "misses-kinds", "Misses of all kinds are all misses.", s->miss[0], n, &s->misses);
    stats_sum(g, "accesses-cores", "Cores' accesses are all accesses.", s->core_accesses, cores,
              &s->accesses);
    stats_sum(g, "misses-cores", "Cores' misses are all misses.", s->core_misses, cores,
              &s->misses);
    const uint64_t *gone[LOSSES + 2] = {NULL};
    for (size_t i = 0; i < LOSSES; i++)
        gone[i] = &s->lost[i];
    gone[LOSSES] = &s->resident;
    stats_invariant(g, "lines", "What came in has gone or is here.", STATS_SUM(&s->fills), STATS_EQ,
                    gone);
}

static struct stats_group *declare_level(struct coherence *c, struct stats *stats,
                                         enum mem_level level)
{
    struct stats_group *g = stats_group(stats_root(stats), mem_level_text[level]);
    const struct cache_stats *s = &c->stats.level[level];

    declare_accesses(g, s, c->cores, level != LEVEL_L3);
    declare_lines(g, s, level != LEVEL_L3);
    require_sums(g, s, c->cores);
    return g;
}

static void declare_levels(struct coherence *c, struct stats *stats)
{
    struct stats_group *g = declare_level(c, stats, LEVEL_L1);

    if (c->has_l2 && !c->exclusive)
        stats_count(g, "displaced", "lines", "Lines lost because the inclusive L2 lost them.",
                    &c->stats.level[LEVEL_L1].lost[LOST_BELOW]);
    if (c->has_l2)
        g = declare_level(c, stats, LEVEL_L2);
    if (c->grouped) {
        stats_count(g, "sibling-hits", "accesses",
                    "Hits of a shared L2 for which another core of the group was asked.",
                    &c->stats.sibling_hits);
        stats_count(g, "sibling-write-backs", "lines",
                    "Lines that a core wrote down into a shared L2 because another loads them.",
                    &c->stats.sibling_write_backs);
    }
    if (c->exclusive)
        stats_count(g, "moved", "lines", "Lines that went up to the L1.",
                    &c->stats.level[LEVEL_L2].lost[LOST_MOVED]);
    g = declare_level(c, stats, LEVEL_L3);
    if (c->inclusive_l3)
        return;
    const struct coh_stats *s = &c->stats;
    stats_count(g, "directory.made", "entries", "Entries of the directory that were made.",
                &s->entries_made);
    stats_count(g, "directory.ended", "entries", "Entries whose last copy was dropped.",
                &s->entries_ended);
    stats_count(g, "directory.recalled", "entries", "Entries that made room for others.",
                &s->entries_recalled);
    stats_level(g, "directory.resident", "entries", "Entries at the end.", &s->entries_live);
    stats_invariant(g, "directory.entries", "Entries that were made have gone or are here.",
                    STATS_SUM(&s->entries_made), STATS_EQ,
                    STATS_SUM(&s->entries_ended, &s->entries_recalled, &s->entries_live));
}

/* ---- the protocol --------------------------------------------------------------------------- */

static void declare_protocol(struct stats_group *g, const struct coh_stats *st)
{
#define STATS_DEF "coherence/protocol_stats.def"
#include "base/stats_declare.h"
}

static const struct {
    const char *name, *count, *cycles, *far, *far_cycles;
} of_level[LEVELS] = {
    [LEVEL_L3] = {"l3", "Accesses that the L3 answered.", "What these took.",
                  "Those that another NUMA node's L3 answered, or a home there.",
                  "What those took."},
    [LEVEL_REMOTE] = {"remote", "Accesses in which other cores were asked.", "What these took.",
                      "Those in which another NUMA node took part.", "What those took."},
    [LEVEL_MEMORY] = {"memory", "Accesses that the memory answered.", "What these took.",
                      "Those that the memory of another NUMA node answered.", "What those took."},
};

static void declare_answer(struct stats_group *g, enum mem_level level, const struct answers *a,
                           bool several)
{
    struct stats_group *own = stats_group(g, of_level[level].name);

    stats_count(own, "accesses", "accesses", of_level[level].count, &a->all);
    stats_count(own, "cycles", "cycles", of_level[level].cycles, &a->cycles);
    if (!several)
        return;
    stats_count(own, "far", "accesses", of_level[level].far, &a->far);
    stats_count(own, "far-cycles", "cycles", of_level[level].far_cycles, &a->far_cycles);
    stats_invariant(own, "far.most", "The far ones are some of them.", STATS_SUM(&a->far), STATS_LE,
                    STATS_SUM(&a->all));
}

/* Counts by the level that answered, for the program's accesses and for those to metadata: misses
 * local and remote, apart. */
static void declare_answers(struct stats_group *g, const struct coherence *c)
{
    const struct coh_stats *s = &c->stats;
    struct stats_group *each[TRAFFICS] = {stats_group(g, "data"), stats_group(g, "metadata")};

    for (enum mem_level level = LEVEL_L3; level < LEVELS; level++) {
        for (size_t i = 0; i < TRAFFICS; i++)
            declare_answer(each[i], level, &s->answers[i][level], c->numa.nodes > 1);
        stats_invariant(g, of_level[level].name, "Data and metadata are all.",
                        STATS_SUM(&s->answers[TRAFFIC_DATA][level].all,
                                  &s->answers[TRAFFIC_METADATA][level].all),
                        STATS_EQ, STATS_SUM(&s->from[level]));
    }
}

static void declare_latencies(struct stats_group *g, const struct coherence *c)
{
    const struct histogram *h = c->stats.latency;

    if (c->has_l2)
        stats_histogram(g, "latency.l2", "cycles", "Of accesses that the L2 answered.",
                        &h[LEVEL_L2]);
    stats_histogram(g, "latency.l3", "cycles", "Of accesses that the L3 answered.", &h[LEVEL_L3]);
    stats_histogram(g, "latency.remote", "cycles", "Of accesses in which other cores were asked.",
                    &h[LEVEL_REMOTE]);
    stats_histogram(g, "latency.memory", "cycles", "Of accesses that the memory answered.",
                    &h[LEVEL_MEMORY]);
}

/* Invariants: lines that were asked for have been accessed, are lost, or wait. */
static void declare_prefetch(struct stats *stats, const struct coherence *c)
{
    static const char *const whose[TRAFFICS] = {
        [TRAFFIC_DATA] = "data", [TRAFFIC_METADATA] = "metadata"};
    struct stats_group *all = stats_group(stats_group(stats_root(stats), "core"), "prefetch");

    if (!c->params.prefetch.streams)
        return;
    for (size_t i = 0; i < TRAFFICS; i++) {
        struct stats_group *g = stats_group(all, whose[i]);
        const struct prefetch_stats *st = &c->stats.prefetch[i];
#define STATS_DEF "coherence/prefetch_stats.def"
#include "base/stats_declare.h"
        stats_invariant(g, "lines", "What was asked for was needed, has gone, or is here.",
                        STATS_SUM(&st->issued), STATS_EQ,
                        STATS_SUM(&st->useful, &st->late, &st->useless, &st->untouched));
    }
}

/* Each access that a level does not answer is found again in the next. */
static void require_flow(struct stats_group *g, const struct coherence *c)
{
    const struct coh_stats *s = &c->stats;
    const struct cache_stats *l1 = &s->level[LEVEL_L1], *l2 = &s->level[LEVEL_L2];
    const struct cache_stats *last = c->has_l2 ? l2 : l1;

    stats_invariant(g, "kinds", "Each transaction is a load, a store, an upgrade or merged.",
                    STATS_SUM(&s->loads, &s->stores, &s->upgrades, &s->merged), STATS_EQ,
                    STATS_SUM(&s->transactions));
    stats_invariant(g, "answers", "Each transaction is answered once.",
                    STATS_SUM(&s->from[LEVEL_L3], &s->from[LEVEL_REMOTE], &s->from[LEVEL_MEMORY]),
                    STATS_EQ, STATS_SUM(&s->transactions));
    stats_invariant(g, "requests", "Each load and store looks for its line in the L3.",
                    STATS_SUM(&s->loads, &s->stores), STATS_EQ,
                    STATS_SUM(&s->level[LEVEL_L3].accesses));
    stats_invariant(g, "reads", "The memory is read for what it answers.",
                    STATS_SUM(&s->memory_reads, &s->merged), STATS_EQ,
                    STATS_SUM(&s->from[LEVEL_MEMORY]));
    stats_invariant(g, "misses", "What misses the last private level leaves the core.",
                    STATS_SUM(&last->misses), STATS_LE, STATS_SUM(&s->transactions));
    if (c->grouped)
        stats_invariant(g, "misses-l1", "All misses of the L1s come to the shared L2s.",
                        STATS_SUM(&l1->misses), STATS_EQ, STATS_SUM(&l2->accesses));
    if (!c->has_l2 || c->grouped)
        return;
    stats_invariant(g, "upgrades-l1", "Misses of the L1 are upgrades or come to the L2.",
                    STATS_SUM(&l1->misses), STATS_EQ,
                    STATS_SUM(&l2->accesses, &l1->upgrade[TRAFFIC_DATA][MEM_STORE],
                              &l1->upgrade[TRAFFIC_DATA][MEM_ATOMIC],
                              &l1->upgrade[TRAFFIC_METADATA][MEM_STORE],
                              &l1->upgrade[TRAFFIC_METADATA][MEM_ATOMIC]));
}

static void declare_histories(struct stats_group *g, const struct coh_stats *st)
{
#define STATS_DEF "coherence/histories_stats.def"
#include "base/stats_declare.h"
}

void coh_stats_declare(struct coherence *c, struct stats *stats)
{
    struct stats_group *g = stats_group(stats_root(stats), "coherence");
    const struct coh_stats *s = &c->stats;

    declare_levels(c, stats);
    declare_protocol(g, s);
    declare_latencies(g, c);
    declare_answers(g, c);
    declare_histories(g, s);
    declare_prefetch(stats, c);
    require_flow(g, c);
}
