/* t_coherence_random.c - random accesses by several cores to few lines, in tiny caches of all
 * kinds: after each step all invariants hold, and a load gets what the last store stored.
 * Values are versions (versions.h). Some cores have two accesses under way at once. */
#include "tests/coherence/bench.h"
#include "tests/coherence/versions.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fiber.h"
#include "base/mem.h"
#include "base/rng.h"

enum { MOST_FETCHES = 4, MOST_AGENTS = (2 + MOST_FETCHES) * MOST_CORES, STEPS = 3000 };

/* ---- a run ---------------------------------------------------------------------------------- */

struct random;
struct agent { /* one access after the other, on one core */
    struct random *run;
    struct fiber *fiber;
    sim_cycle time;
    uint64_t key, turn; /* key: sleeps for it */
    unsigned core, left;
    bool sleeps;
    unsigned fetch; /* of a prefetcher's: which of its lines */
};
struct random {
    struct bench b;
    struct copies copies;
    struct rng rng;
    struct fiber *main;
    struct agent agent[MOST_AGENTS];
    unsigned agents, now; /* now: who runs */
    unsigned fetches;     /* of a core, by agents behind the others; 0: none have agents */
    unsigned lines, stores, nodes, cores;
    uint64_t turn, slept;
    bool values, ahead; /* ahead: cores have prefetchers */
    char failed[1200];
};

static void fails(struct random *r, const char *what, unsigned core, size_t l)
{
    if (!r->failed[0])
        snprintf(r->failed, sizeof r->failed, "%s: core %u, line %zu", what, core, l);
}

static char private(const struct random *r, unsigned core, size_t l)
{
    const sim_addr addr = (FIRST + l) << 6;
    const char l1 = coherence_state(r->b.c, core, LEVEL_L1, paddr_of(addr));

    return l1 != 'I' ? l1 : coherence_state(r->b.c, core, LEVEL_L2, paddr_of(addr));
}

/* What the events say is what the states are. */
static void compare(struct random *r)
{
    for (unsigned core = 0; core < r->agents; core++) {
        const unsigned c = r->agent[core].core;
        for (size_t l = 0; l < r->lines; l++) {
            if (r->copies.has[leader(&r->copies, c)][l] != (private(r, c, l) != 'I'))
                fails(r, "events and states differ", c, l);
            const sim_addr addr = (FIRST + l) << 6;
            if (r->copies.group > 1 &&
                r->copies.has_above[c][l] !=
                    (coherence_state(r->b.c, c, LEVEL_L1, paddr_of(addr)) != 'I'))
                fails(r, "events and states of a group's L1 differ", c, l);
        }
    }
}

static void one(struct agent *a)
{
    struct random *r = a->run;
    const size_t l = rng_below(&r->rng, r->lines);
    const bool load = !rng_chance(&r->rng, r->stores, 100);
    const enum mem_cmd cmd = load ? MEM_LOAD : rng_chance(&r->rng, 1, 3) ? MEM_ATOMIC : MEM_STORE;
    const enum mem_traffic traffic = l % 3 ? TRAFFIC_DATA : TRAFFIC_METADATA;
    const sim_addr addr = ((FIRST + l) << 6) + rng_below(&r->rng, 64);
    const bool near = coherence_in_l1(r->b.c, a->core, paddr_of(addr), cmd);
    const struct coh_result res =
        coherence_access(r->b.c, a->core, paddr_of(addr), cmd, traffic, a->time);

    follow_all(&r->copies, r->b.c);
    a->time = res.done + rng_below(&r->rng, 20);
    if (near != (res.level == LEVEL_L1))
        fails(r, "in the L1 or not", a->core, l);
    if (r->ahead && private(r, a->core, l) == 'I') {
        r->values = false; /* lost to a line fetched ahead, where sets are few: events of one */
        return;            /* access do not tell what was stored before that */
    }
    if (coherence_state(r->b.c, a->core, LEVEL_L1, paddr_of(addr)) == 'I')
        fails(r, "not in the L1", a->core, l);
    if (!load && private(r, a->core, l) != 'M')
        fails(r, "a store without permission", a->core, l);
    uint64_t *const own = version_of(&r->copies, a->core, l);
    if (!has_version(&r->copies, a->core, l) || (r->values && *own != r->copies.latest[l]))
        fails(r, "not what was stored last", a->core, l);
    if (!load)
        *own = ++r->copies.latest[l];
}

static void life(void *arg)
{
    struct agent *a = arg;

    for (;;) {
        one(a);
        a->left--;
        fiber_switch(a->fiber, a->run->main);
    }
}

static void fetch_life(void *arg)
{
    struct agent *a = arg;

    for (;;) {
        coherence_ahead(a->run->b.c, a->core, a->fetch, a->time);
        follow_all(&a->run->copies, a->run->b.c);
        a->left--;
        fiber_switch(a->fiber, a->run->main);
    }
}

static void fetch_ahead(void *self, unsigned core, unsigned fetch)
{
    struct random *r = self;
    struct agent *a = &r->agent[r->agents + core * r->fetches + fetch];

    a->time = r->agent[r->now].time;
    a->turn = ++r->turn;
    a->left = 1;
}

static sim_cycle go_to_sleep(void *self, uint64_t key)
{
    struct random *r = self;
    struct agent *a = &r->agent[r->now];

    a->sleeps = true;
    a->key = key;
    a->turn = ++r->turn;
    r->slept++;
    fiber_switch(a->fiber, r->main);
    return a->time;
}

static unsigned all_agents(const struct random *r)
{
    return r->agents + r->fetches * r->cores;
}

static void wake_up(void *self, uint64_t key, sim_cycle at)
{
    struct random *r = self;

    for (unsigned i = 0; i < all_agents(r); i++)
        if (r->agent[i].sleeps && r->agent[i].key == key) {
            r->agent[i].sleeps = false;
            r->agent[i].time = at;
        }
}

/* The first answer of the memory, or NULL. */
static struct mem_request *next_answer(struct bench_memory *m)
{
    struct mem_request *first = NULL;

    for (size_t i = 0; i < m->n; i++)
        if (!first || m->queue[i].at + m->latency + m->queue[i].id % 7 * 20 <
                          first->at + m->latency + first->id % 7 * 20)
            first = &m->queue[i];
    return first;
}

static struct agent *next_agent(struct random *r)
{
    struct agent *first = NULL;

    for (unsigned i = 0; i < all_agents(r); i++) {
        struct agent *a = &r->agent[i];
        if (!a->sleeps && a->left &&
            (!first || a->time < first->time || (a->time == first->time && a->turn < first->turn)))
            first = a;
    }
    return first;
}

static bool step(struct random *r)
{
    struct bench_memory *m = &r->b.store;
    struct mem_request *answer = next_answer(m);
    struct agent *a = next_agent(r);
    const sim_cycle at = answer ? answer->at + m->latency + answer->id % 7 * 20 : 0;

    if (answer && (!a || at <= a->time)) {
        wake_up(r, COH_KEY_MEMORY(answer->id), at);
        *answer = m->queue[--m->n];
        return true;
    }
    if (!a)
        return false;
    r->now = (unsigned)(a - r->agent);
    fiber_switch(r->main, a->fiber);
    follow_all(&r->copies, r->b.c);
    compare(r);
    coherence_check(r->b.c);
    return !r->failed[0];
}

/* ---- machines ------------------------------------------------------------------------------- */

static const char *const l1s[] = {"l1.size=64 l1.ways=1", "l1.size=128 l1.ways=2",
                                  "l1.size=256 l1.ways=2"};
static const char *const l2s[] = {"l2.size=0", "l2.size=256 l2.ways=2", "l2.size=512 l2.ways=8",
                                  "l2.size=128 l2.ways=1 l2.inclusion=exclusive",
                                  "l2.size=256 l2.ways=4 l2.inclusion=exclusive"};
static const char *const shared_l2s[] = {"l2.size=512 l2.ways=4", "l2.size=1024 l2.ways=2",
                                         "l2.size=2048 l2.ways=32"};
static const char *const l3s[] = {
    "l3.size=512 l3.ways=2",
    "l3.size=1024 l3.ways=4 l3.banks=3",
    "l3.size=128 l3.ways=1 l3.banks=2",
    "l3.size=192 l3.ways=1 l3.inclusion=non-inclusive",
    "l3.size=512 l3.ways=4 l3.inclusion=non-inclusive l3.directory-size=8 l3.directory-ways=2",
    "l3.size=128 l3.ways=2 l3.inclusion=non-inclusive l3.directory-size=4 l3.directory-ways=4",
    "l3.size=0 l3.inclusion=non-inclusive",
    "l3.size=0 l3.inclusion=non-inclusive l3.directory-size=4 l3.directory-ways=4",
};
enum { APART = 3 }; /* the first that several nodes can have */
static const char *const nodes[] = {
    "numa.home=interleave", "numa.lookup=node", "numa.invalidate=all numa.home=interleave",
    "numa.lookup=node numa.invalidate=all numa.hop=7 numa.link-bytes=1"};
static const char *const replacements[] = {"lru", "plru", "fifo", "random", "srrip"};
static const char *const networks[] = {"network.topology=crossbar", "network.topology=ring",
                                       "network.topology=mesh network.controllers=2"};

#define ANY(r, table) (table)[rng_below(r, ARRAY_SIZE(table))]

static void describe(struct random *r, char *text, size_t n)
{
    const unsigned first = r->nodes > 1 ? APART : 0;
    const char *const l3 = l3s[first + rng_below(&r->rng, ARRAY_SIZE(l3s) - first)];
    const char *const l2 = r->copies.group > 1 ? ANY(&r->rng, shared_l2s) : ANY(&r->rng, l2s);

    r->copies.has_l2 = !strstr(l2, "size=0");
    r->copies.inclusive = !strstr(l3, "non-inclusive");
    r->copies.l3_lines = !strstr(l3, "size=0");
    snprintf(text, n,
             "%s %s l2.shared-by=%u l2.sibling=%u %s %s l1.replacement=%s "
             "coherence.remote-cost=%s coherence.upgrade-cost=%s coherence.composition=%s "
             "numa.nodes=%u numa.package=%u %s",
             r->copies.group > 2 ? l1s[rng_below(&r->rng, 2)] : ANY(&r->rng, l1s), l2,
             r->copies.group, (unsigned)rng_below(&r->rng, 9), l3, ANY(&r->rng, networks),
             ANY(&r->rng, replacements), rng_chance(&r->rng, 1, 4) ? "total" : "added",
             rng_chance(&r->rng, 1, 4) ? "home" : "level",
             rng_chance(&r->rng, 1, 4) ? "cumulative" : "absolute", r->nodes,
             rng_chance(&r->rng, 1, 2) ? 1 : r->nodes / 2 + r->nodes % 2, ANY(&r->rng, nodes));
}

/* compat: ce decides them itself. */
static void describe_shared(struct random *r, char *text, size_t n)
{
    const size_t at = strlen(text);

    snprintf(text + at, n - at, " l2.replacement=%s l3.replacement=%s", ANY(&r->rng, replacements),
             ANY(&r->rng, replacements));
}

/* Streams of a few lines, as pages are small. */
static void describe_prefetch(struct random *r, bool later, char *text, size_t n)
{
    const size_t at = strlen(text);
    const unsigned fetches = 1 + (unsigned)rng_below(&r->rng, MOST_FETCHES);

    r->fetches = later ? fetches : 0;

    snprintf(text + at, n - at,
             " core.prefetch.streams=%u core.prefetch.degree=%u core.prefetch.distance=%u "
             "core.prefetch.misses=%u",
             1 + (unsigned)rng_below(&r->rng, 3), 1 + (unsigned)rng_below(&r->rng, 3),
             1 + (unsigned)rng_below(&r->rng, 5), fetches);
}

static void set_up(struct random *r, uint64_t seed, bool say)
{
    char settings[900];
    struct copies copies;

    memset(r, 0, sizeof *r);
    rng_seed(&r->rng, seed);
    r->nodes = rng_chance(&r->rng, 1, 2) ? 1U << (1 + rng_below(&r->rng, 2)) : 1;
    r->copies.group = 1U << (rng_chance(&r->rng, 1, 2) ? 1 + rng_below(&r->rng, 2) : 0);
    describe(r, settings, sizeof settings);
    copies = r->copies;
    const unsigned least = r->copies.group * r->nodes;
    const unsigned cores = least + least * (unsigned)rng_below(&r->rng, MOST_CORES / least);
    const bool later = rng_chance(&r->rng, 1, 2);
    const bool ce = r->copies.inclusive && least == 1 && rng_chance(&r->rng, 1, 4);
    copies.node = cores / r->nodes;
    if (!ce)
        describe_shared(r, settings, sizeof settings);
    r->ahead = !ce && r->copies.has_l2 && rng_chance(&r->rng, 1, 2);
    if (r->ahead)
        describe_prefetch(r, later, settings, sizeof settings);
    const struct bench_options o = {
        .cores = cores,
        .page = r->ahead ? 512 : 128,
        .contention = rng_chance(&r->rng, 2, 3),
        .ce = ce,
        .line_events = true,
        .later = later,
        .host = {.self = r, .sleep = go_to_sleep, .wake = wake_up, .ahead = fetch_ahead},
    };
    r->values = !ce; /* that mode loses dirty lines */
    r->lines = 2 + (unsigned)rng_below(&r->rng, LINES - 1);
    r->stores = 5 + (unsigned)rng_below(&r->rng, 60);
    if (say)
        fprintf(stderr, "seed %" PRIu64 ": %u cores, %u lines%s%s%s, %s\n", seed, cores, r->lines,
                later ? ", later" : "", o.contention ? ", contention" : "", ce ? ", ce" : "",
                settings);
    if (!bench_open(&r->b, o, settings))
        fails(r, r->b.e.text, 0, 0);
    r->copies = copies;
    r->main = fiber_host();
    r->agents = later ? 2 * cores : cores;
    r->cores = cores;
    for (unsigned i = 0; i < r->fetches * cores; i++) {
        struct agent *a = &r->agent[r->agents + i];
        *a = (struct agent){.run = r,
                            .fiber = fiber_new(fetch_life, a),
                            .core = i / r->fetches,
                            .fetch = i % r->fetches};
    }
    for (unsigned i = 0; i < r->agents; i++)
        r->agent[i] = (struct agent){.run = r,
                                     .fiber = fiber_new(life, &r->agent[i]),
                                     .time = 1000,
                                     .turn = ++r->turn,
                                     .core = i % cores,
                                     .left = STEPS / r->agents};
}

/* What a set of runs must have met, or they tested less than they should. */
static const char *const situations[] = {
    "coherence.merged",     "coherence.set-waits", "coherence.line-waits",
    "coherence.recalls",    "coherence.forwards",  "coherence.sharing-write-backs",
    "coherence.bank-waits", "coherence.upgrades",  "coherence.sharing-notices",
    "l3.evictions-dirty",
};
/* The same of those with cores that share L2s, with several nodes. */
static const char *const of_groups[] = {"l2.sibling-hits", "l2.sibling-write-backs"};
static const char *const of_nodes[] = {"numa.hops", "coherence.data.l3.far",
                                       "coherence.data.remote.far", "coherence.data.memory.far"};
static const char *const of_ahead[] = {"core.prefetch.data.useful", "core.prefetch.data.late",
                                       "core.prefetch.data.useless", "core.prefetch.data.full",
                                       "core.prefetch.metadata.issued"};
struct met {
    uint64_t all[ARRAY_SIZE(situations)], groups[ARRAY_SIZE(of_groups)],
        nodes[ARRAY_SIZE(of_nodes)], ahead[ARRAY_SIZE(of_ahead)];
};

static void meets(const struct random *r, struct met *met)
{
    for (size_t i = 0; i < ARRAY_SIZE(situations); i++)
        met->all[i] += bench_value(&r->b, situations[i]);
    for (size_t i = 0; i < ARRAY_SIZE(of_groups) && r->copies.group > 1; i++)
        met->groups[i] += bench_value(&r->b, of_groups[i]);
    for (size_t i = 0; i < ARRAY_SIZE(of_nodes) && r->nodes > 1; i++)
        met->nodes[i] += bench_value(&r->b, of_nodes[i]);
    for (size_t i = 0; i < ARRAY_SIZE(of_ahead) && r->ahead && r->values; i++)
        met->ahead[i] += bench_value(&r->b, of_ahead[i]);
}

static void has_met(const uint64_t *met, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!met[i])
            fail_msg("no %s", names[i]);
}

static bool run(uint64_t seed, bool say, struct met *met)
{
    struct random *r = xcalloc(1, sizeof *r);

    set_up(r, seed, say);
    while (!r->failed[0] && step(r))
        ;
    for (unsigned i = 0; i < r->agents; i++)
        if (!r->failed[0] && (r->agent[i].sleeps || r->agent[i].left))
            fails(r, "nobody wakes it", r->agent[i].core, 0);
    if (!r->failed[0] && stats_check(r->b.stats, &r->b.e))
        fails(r, r->b.e.text, 0, 0);
    if (!r->failed[0])
        meets(r, met);
    const bool good = !r->failed[0];
    if (!good)
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, r->failed);
    for (unsigned i = 0; i < all_agents(r); i++)
        fiber_free(r->agent[i].fiber);
    fiber_free(r->main);
    coherence_free(r->b.c);
    stats_free(r->b.stats);
    config_free(r->b.config);
    free(r);
    return good;
}

static void test_a_load_gets_what_was_stored_last(void **unused)
{
    struct met met = {{0}, {0}, {0}, {0}};

    (void)unused;
    for (uint64_t seed = 1; seed <= 60; seed++)
        assert_true(run(seed, false, &met));
    has_met(met.all, situations, ARRAY_SIZE(situations));
    has_met(met.groups, of_groups, ARRAY_SIZE(of_groups));
    has_met(met.nodes, of_nodes, ARRAY_SIZE(of_nodes));
    has_met(met.ahead, of_ahead, ARRAY_SIZE(of_ahead));
}

/* t_coherence_random [--mutant NAME] [SEED [SEEDS]] */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_load_gets_what_was_stored_last)};

    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    if (!mutant_arg(&argc, &argv))
        return 2;
    struct met met = {{0}, {0}, {0}, {0}};
    const struct seeds cases = seeds_arg(argc, argv, 1, NULL);
    for (uint64_t seed = cases.first; seed < cases.first + cases.n; seed++)
        if (!run(seed, true, &met))
            return 1;
    return 0;
}
