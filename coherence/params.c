/* params.c - the parameters of caches, directory and protocol: their tables, what they add up
 * to in cycles, and which machines are impossible. */
#include "coherence/coherence_int.h"

#include <inttypes.h>
#include <string.h>

static const char *const l2_inclusion[] = {"inclusive", "exclusive", NULL};
static const char *const l3_inclusion[] = {"inclusive", "non-inclusive", NULL};
static const char *const remote_cost[] = {"added", "total", NULL};
static const char *const upgrade_cost[] = {"level", "home", NULL};
static const char *const composition[] = {"absolute", "cumulative", NULL};

enum { MOST_CYCLES = 1000000, MOST_WAYS = 1024 }; /* beyond these a value is surely a mistake */
static const uint64_t most_bytes = UINT64_C(1) << 30;

#define AT(field) offsetof(struct l1_params, field)
static const struct param l1_rows[] = {
    {"size", PARAM_U64, AT(size), "32Ki", 1, most_bytes, "bytes", NULL, "A core's L1 data cache."},
    {"ways", PARAM_U64, AT(ways), "8", 1, MOST_WAYS, "ways", NULL, "Associativity."},
    {"latency", PARAM_U64, AT(latency), "1", 1, MOST_CYCLES, "cycles", NULL, "What a hit takes."},
    {"replacement", PARAM_CHOICE, AT(replacement), "lru", 0, 0, "", cache_replacement_text,
     "Which line of a set goes."},
    PARAM_END,
};
#undef AT

#define AT(field) offsetof(struct l2_params, field)
static const struct param l2_rows[] = {
    {"size", PARAM_U64, AT(size), "256Ki", 0, most_bytes, "bytes", NULL,
     "A core's L2; 0: there is none."},
    {"ways", PARAM_U64, AT(ways), "8", 1, MOST_WAYS, "ways", NULL, "Associativity."},
    {"latency", PARAM_U64, AT(latency), "10", 1, MOST_CYCLES, "cycles", NULL,
     "What a hit takes: in all, or after the L1 where latencies are cumulative."},
    {"replacement", PARAM_CHOICE, AT(replacement), "lru", 0, 0, "", cache_replacement_text,
     "Which line of a set goes; compat = ce takes fifo, and refuses others."},
    {"inclusion", PARAM_CHOICE, AT(inclusion), "inclusive", 0, 0, "", l2_inclusion,
     "inclusive: it has every line of the L1; exclusive: it has what the L1 threw out."},
    PARAM_END,
};
#undef AT

#define AT(field) offsetof(struct l3_params, field)
static const struct param l3_rows[] = {
    {"size", PARAM_U64, AT(size), "8Mi", 1, most_bytes, "bytes", NULL,
     "The L3 that all cores share, all banks together."},
    {"ways", PARAM_U64, AT(ways), "16", 1, MOST_WAYS, "ways", NULL, "Associativity."},
    {"latency", PARAM_U64, AT(latency), "35", 1, MOST_CYCLES, "cycles", NULL,
     "What a hit takes: in all, or after the private caches where latencies are cumulative."},
    {"replacement", PARAM_CHOICE, AT(replacement), "lru", 0, 0, "", cache_replacement_text,
     "Which line of a set goes; compat = ce takes fifo, and refuses others."},
    {"banks", PARAM_U64, AT(banks), "0", 0, 1024, "banks", NULL,
     "Banks, which have lines in turn; 0: as many as cores."},
    {"port", PARAM_U64, AT(port), "1", 1, 1000, "cycles", NULL,
     "From one request that a bank takes up to the next, when there is contention."},
    {"inclusion", PARAM_CHOICE, AT(inclusion), "inclusive", 0, 0, "", l3_inclusion,
     "inclusive: it has every private line, and its victims are recalled; non-inclusive: it has "
     "what the cores threw out, and the directory is an array of its own."},
    {"directory-size", PARAM_U64, AT(directory_size), "0", 0, most_bytes / 64, "lines", NULL,
     "Lines that the directory of a non-inclusive L3 covers; 0: twice what the private caches "
     "hold."},
    {"directory-ways", PARAM_U64, AT(directory_ways), "16", 1, MOST_WAYS, "ways", NULL,
     "Associativity of the directory of a non-inclusive L3."},
    PARAM_END,
};
#undef AT

#define AT(field) offsetof(struct protocol_params, field)
static const struct param protocol_rows[] = {
    {"remote", PARAM_U64, AT(remote), "15", 0, MOST_CYCLES, "cycles", NULL,
     "What it takes to reach another core's copy; see remote-cost."},
    {"remote-cost", PARAM_CHOICE, AT(remote_cost), "added", 0, 0, "", remote_cost,
     "added: to a hit of the L3; total: the whole access."},
    {"upgrade-cost", PARAM_CHOICE, AT(upgrade_cost), "level", 0, 0, "", upgrade_cost,
     "A store to a line in S takes remote and a hit of the level where it is, or what a store to "
     "another core's line takes (home)."},
    {"composition", PARAM_CHOICE, AT(composition), "absolute", 0, 0, "", composition,
     "A level's latency is that of the whole access, or cumulative: comes after the levels before "
     "it."},
    {"seed", PARAM_U64, AT(seed), "1", 0, UINT64_MAX, "", NULL,
     "Of replacements that choose at random."},
    PARAM_END,
};
#undef AT

static const struct {
    const char *section;
    const struct param *rows;
    size_t offset;
} sections[] = {
    {"l1", l1_rows, offsetof(struct coh_params, l1)},
    {"l2", l2_rows, offsetof(struct coh_params, l2)},
    {"l3", l3_rows, offsetof(struct coh_params, l3)},
    {"coherence", protocol_rows, offsetof(struct coh_params, coherence)},
    {"network", network_param_rows, offsetof(struct coh_params, network)},
};

void coherence_each_param(void (*fn)(void *arg, const char *section, const struct param *row),
                          void *arg)
{
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        for (const struct param *row = sections[i].rows; row->name; row++)
            fn(arg, sections[i].section, row);
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

/* Where latencies are of the whole access, a farther level can't answer sooner than a nearer one.
 */
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
        if (config_bind(config, sections[i].section, sections[i].rows,
                        (char *)p + sections[i].offset, e))
            return -1;
    if (env->ce && (decide_replacement(config, "l2", l2_rows, &p->l2, e) ||
                    decide_replacement(config, "l3", l3_rows, &p->l3, e)))
        return -1;
    if (cores < 1 || cores > MAX_CORES)
        return err_set(e, LARD_CONFIG, "a machine of %u cores is impossible; give 1 to %d cores",
                       cores, MAX_CORES);
    if (!p->l3.banks)
        p->l3.banks = cores;
    return check_latencies(p, e) ? -1 : network_check(&p->network, e);
}

static struct cache_geometry geometry(uint64_t bytes, uint64_t ways, uint32_t replacement,
                                      uint64_t seed, const struct coh_env *env)
{
    return (struct cache_geometry){.bytes = bytes,
                                   .ways = (uint32_t)ways,
                                   .line = env->line,
                                   .replacement = replacement,
                                   .seed = seed,
                                   .stride = 1};
}

/* Different lines that all private caches can hold at once: an inclusive L2 repeats its L1. */
static uint64_t private_lines(const struct coh_params *p, const struct coh_env *env)
{
    const bool both = p->l2.inclusion == L2_EXCLUSIVE || !p->l2.size;

    return env->cores * (p->l2.size + (both ? p->l1.size : 0)) / env->line;
}

static int check_inclusion(const struct coh_params *p, struct err *e)
{
    if (p->l2.size && p->l2.inclusion == L2_INCLUSIVE && p->l1.size > p->l2.size)
        return err_set(e, LARD_CONFIG,
                       "l1.size: an inclusive L2 of %" PRIu64 " bytes can't hold an L1 of %" PRIu64
                       "; give l2.size at least as much, or l2.inclusion=exclusive",
                       p->l2.size, p->l1.size);
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

    *to = (struct coh_shapes){
        .l1 = geometry(p->l1.size, p->l1.ways, p->l1.replacement, seed, env),
        .l2 = geometry(p->l2.size, p->l2.ways, p->l2.replacement, seed + MAX_CORES, env),
        .l3 = geometry(p->l3.size, p->l3.ways, p->l3.replacement, seed - 1, env),
        .directory = geometry(directory_lines(p, env) * env->line, p->l3.directory_ways,
                              p->l3.replacement, seed - 2, env),
    };
    if (cache_check(&to->l1, "l1", e) || (p->l2.size && cache_check(&to->l2, "l2", e)) ||
        cache_check(&to->l3, "l3", e) || check_inclusion(p, e) || check_sum(p, env, e))
        return -1;
    return p->l3.inclusion == L3_INCLUSIVE ? 0 : check_directory(&to->directory, e);
}
