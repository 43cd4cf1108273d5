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

#define AT(field) offsetof(struct coh_params, field)
static const struct param l1_rows[] = {
    {"size", PARAM_U64, AT(l1.size), "32Ki", 1, most_bytes, "bytes", NULL,
     "A core's L1 data cache."},
    {"ways", PARAM_U64, AT(l1.ways), "8", 1, MOST_WAYS, "ways", NULL, "Associativity."},
    {"latency", PARAM_U64, AT(l1.latency), "1", 1, MOST_CYCLES, "cycles", NULL,
     "What a hit takes."},
    {"replacement", PARAM_CHOICE, AT(l1.replacement), "lru", 0, 0, "", cache_replacement_text,
     "Which line of a set goes."},
    PARAM_END,
};

static const struct param l2_rows[] = {
    {"size", PARAM_U64, AT(l2.size), "256Ki", 0, most_bytes, "bytes", NULL,
     "A core's L2, or that of the cores that share it; 0: there is none."},
    {"ways", PARAM_U64, AT(l2.ways), "8", 1, MOST_WAYS, "ways", NULL, "Associativity."},
    {"latency", PARAM_U64, AT(l2.latency), "10", 1, MOST_CYCLES, "cycles", NULL,
     "What a hit takes: in all, or after the L1 where latencies are cumulative."},
    {"shared-by", PARAM_U64, AT(l2.shared_by), "1", 1, MOST_SHARED_BY, "cores", NULL,
     "Cores that share an L2, a power of 2; above 1 it is inclusive, and keeps their L1s "
     "coherent."},
    {"sibling", PARAM_U64, AT(l2.sibling), "0", 0, MOST_CYCLES, "cycles", NULL,
     "What a hit of a shared L2 takes longer, where the L1 of another core of the group is in the "
     "way: it has the line E or M, or the access is a store; 0: as with write-through L1s."},
    {"replacement", PARAM_CHOICE, AT(l2.replacement), "lru", 0, 0, "", cache_replacement_text,
     "Which line of a set goes; compat = ce takes fifo, and refuses others."},
    {"inclusion", PARAM_CHOICE, AT(l2.inclusion), "inclusive", 0, 0, "", l2_inclusion,
     "inclusive: it has every line of the L1; exclusive: it has what the L1 threw out."},
    PARAM_END,
};

static const struct param l3_rows[] = {
    {"size", PARAM_U64, AT(l3.size), "8Mi", 0, most_bytes, "bytes", NULL,
     "The L3 that all cores (of a NUMA node) share, all banks together; 0: there is none, only a "
     "directory."},
    {"ways", PARAM_U64, AT(l3.ways), "16", 1, MOST_WAYS, "ways", NULL, "Associativity."},
    {"latency", PARAM_U64, AT(l3.latency), "35", 1, MOST_CYCLES, "cycles", NULL,
     "What a hit takes: in all, or after the private caches where latencies are cumulative."},
    {"replacement", PARAM_CHOICE, AT(l3.replacement), "lru", 0, 0, "", cache_replacement_text,
     "Which line of a set goes; compat = ce takes fifo, and refuses others."},
    {"banks", PARAM_U64, AT(l3.banks), "0", 0, 1024, "banks", NULL,
     "Banks (of a NUMA node), which have lines in turn; 0: as many as cores."},
    {"port", PARAM_U64, AT(l3.port), "1", 1, 1000, "cycles", NULL,
     "From one request that a bank takes up to the next, when there is contention."},
    {"inclusion", PARAM_CHOICE, AT(l3.inclusion), "inclusive", 0, 0, "", l3_inclusion,
     "inclusive: it has every private line, and its victims are recalled; non-inclusive: it has "
     "what the cores threw out, and the directory is an array of its own."},
    {"directory-size", PARAM_U64, AT(l3.directory_size), "0", 0, most_bytes / 64, "lines", NULL,
     "Lines that the directory of a non-inclusive L3 covers; 0: twice what the private caches "
     "hold."},
    {"directory-ways", PARAM_U64, AT(l3.directory_ways), "16", 1, MOST_WAYS, "ways", NULL,
     "Associativity of the directory of a non-inclusive L3."},
    PARAM_END,
};

static const struct param protocol_rows[] = {
    {"remote", PARAM_U64, AT(coherence.remote), "15", 0, MOST_CYCLES, "cycles", NULL,
     "What it takes to reach another core's copy; see remote-cost."},
    {"remote-cost", PARAM_CHOICE, AT(coherence.remote_cost), "added", 0, 0, "", remote_cost,
     "added: to a hit of the L3; total: the whole access."},
    {"upgrade-cost", PARAM_CHOICE, AT(coherence.upgrade_cost), "level", 0, 0, "", upgrade_cost,
     "A store to a line in S takes remote and a hit of the level where it is, or what a store to "
     "another core's line takes (home)."},
    {"composition", PARAM_CHOICE, AT(coherence.composition), "absolute", 0, 0, "", composition,
     "A level's latency is that of the whole access, or cumulative: comes after the levels before "
     "it."},
    {"seed", PARAM_U64, AT(coherence.seed), "1", 0, UINT64_MAX, "", NULL,
     "Of replacements that choose at random."},
    PARAM_END,
};

static const struct param network_rows[] = {
    {"topology", PARAM_CHOICE, AT(network.topology), "crossbar", 0, 0, "", topology_choices,
     "How nodes are connected: an ideal crossbar, a ring of two directions, or a mesh with XY "
     "routing."},
    {"link-bytes", PARAM_U64, AT(network.link_bytes), "16", 1, 1024, "bytes", NULL,
     "Width of a link, a power of 2: the bytes of a flit, of which a link carries one a cycle."},
    {"router", PARAM_U64, AT(network.router), "1", 0, 1000, "cycles", NULL,
     "Cycles that a hop of a ring or mesh takes in the router."},
    {"wire", PARAM_U64, AT(network.wire), "1", 0, 1000, "cycles", NULL,
     "Cycles that a hop of a ring or mesh takes on the link."},
    {"controllers", PARAM_U64, AT(network.controllers), "1", 1, 128, "", NULL,
     "Memory controllers, spread evenly over the nodes."},
    PARAM_END,
};

static const struct param numa_rows[] = {
    {"nodes", PARAM_U64, AT(numa.nodes), "1", 1, MOST_NUMA_NODES, "nodes", NULL,
     "NUMA nodes, each with as many of the cores, an L3 and a memory of its own."},
    {"package", PARAM_U64, AT(numa.package), "1", 1, MOST_NUMA_NODES, "nodes", NULL,
     "Nodes in a package."},
    {"hop", PARAM_U64, AT(numa.hop), "45", 0, MOST_CYCLES, "cycles", NULL,
     "What a message takes from a package to another."},
    {"package-hop", PARAM_U64, AT(numa.package_hop), "40", 0, MOST_CYCLES, "cycles", NULL,
     "What a message takes from a node to another of its package."},
    {"link-bytes", PARAM_U64, AT(numa.link_bytes), "4", 1, 1024, "bytes", NULL,
     "Bytes that a link between nodes carries in a cycle, when there is contention."},
    {"home", PARAM_CHOICE, AT(numa.home), "first-touch", 0, 0, "", numa_homes,
     "Which node's memory has a page; first-touch: that of the core which misses it first; "
     "interleave: page number modulo nodes."},
    {"lookup", PARAM_CHOICE, AT(numa.lookup), "home", 0, 0, "", numa_lookup,
     "Who finds a line that another core of the same node has, where the node's L3 can't answer: "
     "the line's home, or the node itself."},
    {"invalidate", PARAM_CHOICE, AT(numa.invalidate), "sharers", 0, 0, "", numa_invalidate_choices,
     "Whom a store to a shared line asks: the nodes that have it, or all, as a directory must that "
     "does not know the sharers."},
    PARAM_END,
};

static const struct param prefetch_rows[] = {
    {"streams", PARAM_U64, AT(prefetch.streams), "0", 0, MOST_STREAMS, "streams", NULL,
     "Pages at a time in which a core's prefetcher follows the accesses that miss its L1, and "
     "fetches the lines ahead into its L2; 0: there is none."},
    {"degree", PARAM_U64, AT(prefetch.degree), "2", 1, MOST_STREAMS, "lines", NULL,
     "Lines that one such access makes it fetch, at most."},
    {"distance", PARAM_U64, AT(prefetch.distance), "20", 1, MOST_STREAMS, "lines", NULL,
     "How far ahead of the access they are, at most, and how far apart two accesses of a stream."},
    {"misses", PARAM_U64, AT(prefetch.misses), "16", 1, MOST_STREAMS, "lines", NULL,
     "Lines that a core's prefetcher may have under way."},
    PARAM_END,
};
#undef AT

static const struct {
    const char *section;
    const struct param *rows;
} sections[] = {
    {"l1", l1_rows},
    {"l2", l2_rows},
    {"l3", l3_rows},
    {"coherence", protocol_rows},
    {"network", network_rows},
    {"numa", numa_rows},
    {"core.prefetch", prefetch_rows},
};

void coherence_each_table(void (*fn)(void *arg, const char *section, const struct param *rows),
                          void *arg)
{
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        fn(arg, sections[i].section, sections[i].rows);
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
static int decide_replacement(struct config *config, const char *section, const struct param *rows,
                              void *params, struct err *e)
{
    while (strcmp(rows->name, "replacement"))
        rows++;
    return config_decide(config, section, rows, cache_replacement_text[REPLACE_FIFO], "compat: ce",
                         params, e);
}

int coh_params_read(const struct coh_env *env, struct coh_params *p, struct err *e)
{
    struct config *const config = env->config;
    const unsigned cores = env->cores;

    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        if (config_bind(config, sections[i].section, sections[i].rows, p, e))
            return -1;
    if (env->ce && (decide_replacement(config, "l2", l2_rows, p, e) ||
                    decide_replacement(config, "l3", l3_rows, p, e)))
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

/* Different lines that all private caches can hold at once: an inclusive L2 repeats its L1. */
static uint64_t private_lines(const struct coh_params *p, const struct coh_env *env)
{
    const bool both = p->l2.inclusion == L2_EXCLUSIVE || !p->l2.size;

    return env->cores * (p->l2.size / p->l2.shared_by + (both ? p->l1.size : 0)) / env->line;
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

/* The size given; else twice the private lines, as sparse directories are dimensioned, in whole
 * sets. */
static uint64_t directory_lines(const struct coh_params *p, const struct coh_env *env)
{
    const uint64_t lines = 2 * private_lines(p, env), ways = p->l3.directory_ways;

    if (p->l3.directory_size)
        return p->l3.directory_size;
    return (lines + ways - 1) / ways * ways;
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
