/* params.c - the parameters of caches, directory and protocol: their tables, what they add up
 * to in cycles, and which machines are impossible. */
#include "coherence/coherence_int.h"

#include <inttypes.h>
#include <string.h>

static const char *const l2_inclusion[] = {"inclusive", "exclusive", NULL};
static const char *const l3_inclusion[] = {"inclusive", "non-inclusive", NULL};
static const char *const remote_cost[] = {"added", "total", NULL};
static const char *const upgrade_cost[] = {"level", "home", NULL};
static const char *const topology_choices[] = {"crossbar", "ring", "mesh", NULL};
static const char *const numa_homes[] = {"first-touch", "interleave", NULL};
static const char *const numa_lookup[] = {"home", "node", NULL};
static const char *const numa_invalidate_choices[] = {"sharers", "all", NULL};
static const char *const composition[] = {"absolute", "cumulative", NULL};

enum { MOST_CYCLES = 1000000, MOST_WAYS = 1024 }; /* beyond these a value is surely a mistake */
enum { MOST_STREAMS = 64 };                       /* of a page, there are so many lines */
static const uint64_t most_bytes = UINT64_C(1) << 30;

/* One section behind the other; each ends with PARAM_END. */
static const struct param all_rows[] = {
#define PARAMS_DEF "coherence/params.def"
#define PARAMS_OF  struct coh_params
#include "base/param_rows.h"
};
static const char *const sections[] = {"l1",      "l2",   "l3",           "coherence",
                                       "network", "numa", "core.prefetch"};
enum { SECTION_L2 = 1, SECTION_L3 };

static const struct param *rows_of(size_t section)
{
    const struct param *row = all_rows;

    while (section)
        section -= !row++->name;
    return row;
}

void coherence_each_table(void (*fn)(void *arg, const char *section, const struct param *rows),
                          void *arg)
{
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        fn(arg, sections[i], rows_of(i));
}

/* ---- cycles --------------------------------------------------------------------------------- */

/* A hit of the last private level. */
static sim_cycle private_latency(const struct coh_params *p)
{
    if (!p->l2.size)
        return p->l1.latency;
    return p->coherence.composition == CUMULATIVE ? p->l1.latency + p->l2.latency : p->l2.latency;
}

sim_cycle coh_params_l3(const struct coh_params *p)
{
    if (p->coherence.composition == CUMULATIVE)
        return private_latency(p) + p->l3.latency;
    return p->l3.latency;
}

/* Spreads latencies over the way. lookup is what an L3 hit takes less what has passed when the
 * request leaves, so the sums are right by construction.
 *
 * remote-cost = total says what a remote access takes in all, and nothing of its parts. Then the
 * request leaves when the private caches have missed, or after the whole total if that is less; the
 * home takes no time of its own, and the remote core takes the rest. */
void coh_params_times(const struct coh_params *p, struct coh_times *to)
{
    const sim_cycle private = private_latency(p), remote = p->coherence.remote;
    const bool total = p->coherence.remote_cost == REMOTE_TOTAL;
    const bool home = p->coherence.upgrade_cost == UPGRADE_HOME;

    to->l1 = p->l1.latency;
    to->l2 = private;
    to->leave = total && remote < private ? remote : private;
    to->lookup = coh_params_l3(p) - to->leave;
    to->search = total ? 0 : to->lookup;
    to->remote = total ? remote - to->leave : remote;
    to->upgrade_leave[0] = home ? to->leave : p->l1.latency;
    to->upgrade_leave[1] = home ? to->leave : private;
    to->upgrade_search = home ? to->search : 0;
    to->upgrade_remote = home ? to->remote : remote;
}

/* With absolute latencies the memory's, too, is that of the whole access. */
sim_cycle coherence_included(const struct coherence *c)
{
    return c->params.coherence.composition == CUMULATIVE ? 0 : coh_params_l3(&c->params);
}

/* ---- what is possible ----------------------------------------------------------------------- */

/* A farther level can't answer sooner than a nearer one, if latencies are those of the whole
 * access. */
static int check_latencies(const struct coh_params *p, struct err *e)
{
    const char *const nearer = p->l2.size ? "l2" : "l1";

    if (p->coherence.remote_cost == REMOTE_TOTAL && !p->coherence.remote)
        return err_set(e, LARD_CONFIG,
                       "coherence.remote: an access that another core answers can't take 0 cycles "
                       "in all; give at least 1, or coherence.remote-cost=added");
    if (p->coherence.composition == CUMULATIVE)
        return 0;
    if (p->l2.size && p->l2.latency <= p->l1.latency)
        return err_set(e, LARD_CONFIG,
                       "l2.latency: an L2 hit of %" PRIu64 " cycles in all is not later than an L1 "
                       "hit of %" PRIu64 "; give more, or coherence.composition=cumulative",
                       p->l2.latency, p->l1.latency);
    if (p->l3.latency <= private_latency(p))
        return err_set(e, LARD_CONFIG,
                       "l3.latency: an L3 hit of %" PRIu64 " cycles in all is not later than an %s "
                       "hit of %" PRIu64 "; give more, or coherence.composition=cumulative",
                       p->l3.latency, nearer, private_latency(p));
    return 0;
}

static int check_nodes(const struct coh_params *p, const struct coh_env *env, struct err *e)
{
    const uint64_t n = p->numa.nodes, group = n * p->l2.shared_by;

    if (!p->l3.size && p->l3.inclusion == L3_INCLUSIVE)
        return err_set(e, LARD_CONFIG,
                       "l3.size: without an L3 there is nothing inclusive; set "
                       "l3.inclusion=non-inclusive, or give an l3.size");
    if (n == 1)
        return 0;
    if (env->cores % group)
        return err_set(e, LARD_CONFIG,
                       "numa.nodes: %u cores are no whole number for each of %" PRIu64
                       " nodes (l2.shared-by: %" PRIu64 "); give another number of either",
                       env->cores, n, p->l2.shared_by);
    if (n % p->numa.package)
        return err_set(e, LARD_CONFIG,
                       "numa.package: %" PRIu64 " nodes are no whole number of packages of %" PRIu64
                       "; give another number of either",
                       n, p->numa.package);
    if (p->l3.inclusion == L3_INCLUSIVE || env->ce)
        return err_set(e, LARD_CONFIG,
                       "numa.nodes: several nodes need a directory apart from their L3s; set "
                       "l3.inclusion=non-inclusive, without compat=ce");
    return 0;
}

static int check_prefetch(const struct coh_params *p, const struct coh_env *env, struct err *e)
{
    if (!p->prefetch.streams)
        return 0;
    if (!p->l2.size)
        return err_set(e, LARD_CONFIG,
                       "core.prefetch.streams: lines are fetched into the L2, and there is none; "
                       "give an l2.size, or core.prefetch.streams=0");
    if (env->ce)
        return err_set(e, LARD_CONFIG,
                       "core.prefetch.streams: compat=ce has no prefetcher; set "
                       "core.prefetch.streams=0");
    return 0;
}

/* The CE simulator's L2 and L3 replace in order of fill. */
static int decide_replacement(struct config *config, size_t section, void *params, struct err *e)
{
    const struct param *rows = rows_of(section);

    while (strcmp(rows->name, "replacement"))
        rows++;
    return config_decide(config, sections[section], rows, cache_replacement_text[REPLACE_FIFO],
                         "compat: ce", params, e);
}

int coh_params_read(const struct coh_env *env, struct coh_params *p, struct err *e)
{
    struct config *const config = env->config;
    const unsigned cores = env->cores;

    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        if (config_bind(config, sections[i], rows_of(i), p, e))
            return -1;
    if (env->ce && (decide_replacement(config, SECTION_L2, p, e) ||
                    decide_replacement(config, SECTION_L3, p, e)))
        return -1;
    if (cores < 1 || cores > MAX_CORES)
        return err_set(e, LARD_CONFIG, "a machine of %u cores is impossible; give 1 to %d cores",
                       cores, MAX_CORES);
    if (check_nodes(p, env, e) || check_prefetch(p, env, e))
        return -1;
    if (!p->l3.banks)
        p->l3.banks = cores / p->numa.nodes;
    return check_latencies(p, e) ? -1 : network_check(&p->network, e);
}

static struct cache_geometry geometry(uint64_t bytes, uint64_t ways, uint32_t replacement,
                                      uint64_t seed, const struct coh_env *env)
{
    return (struct cache_geometry){.bytes = bytes,
                                   .ways = (uint32_t)ways,
                                   .line = env->line,
                                   .replacement = replacement,
                                   .seed = seed};
}

/* A shared L2 keeps its L1s coherent, so it must have what they have. */
static int check_groups(const struct coh_params *p, const struct coh_env *env, struct err *e)
{
    const uint64_t n = p->l2.shared_by;

    if (n == 1)
        return 0;
    if (n & (n - 1))
        return err_set(e, LARD_CONFIG,
                       "l2.shared-by: %" PRIu64 " is no power of 2; give 1, 2, 4 or 8", n);
    if (env->cores % n)
        return err_set(e, LARD_CONFIG,
                       "l2.shared-by: %u cores are no whole number of groups of %" PRIu64
                       "; give another number of either",
                       env->cores, n);
    if (!p->l2.size || p->l2.inclusion == L2_EXCLUSIVE)
        return err_set(e, LARD_CONFIG,
                       "l2.shared-by: cores can share an L2 only if there is one and it is "
                       "inclusive; set l2.inclusion=inclusive and an l2.size, or l2.shared-by=1");
    if (env->ce)
        return err_set(e, LARD_CONFIG,
                       "l2.shared-by: compat=ce has private L2s; set l2.shared-by=1");
    return 0;
}

static int check_inclusion(const struct coh_params *p, struct err *e)
{
    const uint64_t l1s = p->l1.size * p->l2.shared_by;

    if (p->l2.size && p->l2.inclusion == L2_INCLUSIVE && l1s > p->l2.size)
        return err_set(e, LARD_CONFIG,
                       "l1.size: an inclusive L2 of %" PRIu64
                       " bytes can't hold what is above it, %" PRIu64
                       " bytes; give l2.size at least as much, or l2.inclusion=exclusive",
                       p->l2.size, l1s);
    return 0;
}

/* cache_check would speak of bytes, and this size is given in lines. */
static int check_directory(const struct cache_geometry *g, struct err *e)
{
    if (g->bytes / g->line >= g->ways)
        return cache_check(g, "l3.directory-size", e);
    return err_set(e, LARD_CONFIG,
                   "l3.directory-size: %" PRIu64
                   " lines are fewer than l3.directory-ways (%u); give "
                   "more, or 0 for twice all private lines",
                   g->bytes / g->line, g->ways);
}

/* All private caches together may take as much host memory as the largest single cache. */
static int check_sum(const struct coh_params *p, const struct coh_env *env, struct err *e)
{
    const uint64_t lines = env->cores * ((p->l1.size + p->l2.size) / env->line);

    if (lines <= CACHE_MAX_LINES)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "l2.size: %u cores with %" PRIu64 " bytes of L1 and %" PRIu64
                   " of L2 have %" PRIu64 " private lines, and at most %d can be simulated; give "
                   "smaller caches or fewer cores",
                   env->cores, p->l1.size, p->l2.size, lines, CACHE_MAX_LINES);
}

/* The size given; else twice the different lines that all private caches can hold at once (an
 * inclusive L2 repeats its L1), as sparse directories are dimensioned, in whole sets. */
static uint64_t directory_lines(const struct coh_params *p, const struct coh_env *env)
{
    const bool both = p->l2.inclusion == L2_EXCLUSIVE || !p->l2.size;
    const uint64_t bytes = p->l2.size / p->l2.shared_by + (both ? p->l1.size : 0),
                   lines = 2 * (env->cores * bytes / env->line), ways = p->l3.directory_ways;

    return p->l3.directory_size ? p->l3.directory_size : (lines + ways - 1) / ways * ways;
}

/* Random replacement: seeds differ, so that no two caches draw the same ways. Cores' L1s and L2s
 * count up from theirs (make_caches). */
int coh_params_shapes(const struct coh_params *p, const struct coh_env *env, struct coh_shapes *to,
                      struct err *e)
{
    const uint64_t seed = p->coherence.seed;

    if (check_groups(p, env, e))
        return -1;
    *to = (struct coh_shapes){
        .l1 = geometry(p->l1.size, p->l1.ways, p->l1.replacement, seed, env),
        .l2 = geometry(p->l2.size, p->l2.ways, p->l2.replacement, seed + MAX_CORES, env),
        .l3 = geometry(p->l3.size, p->l3.ways, p->l3.replacement, seed - 1, env),
        .directory = geometry(directory_lines(p, env) * env->line, p->l3.directory_ways,
                              p->l3.replacement, seed - 2, env),
    };
    if (cache_check(&to->l1, "l1", e) || (p->l2.size && cache_check(&to->l2, "l2", e)) ||
        (p->l3.size && cache_check(&to->l3, "l3", e)) || check_inclusion(p, e) ||
        check_sum(p, env, e))
        return -1;
    return p->l3.inclusion == L3_INCLUSIVE ? 0 : check_directory(&to->directory, e);
}
