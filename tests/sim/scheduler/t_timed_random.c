/* t_timed_random.c - properties of the timed order on random machines and random traces of all
 * kinds of events: the run ends with all invariants held, gives the same twice and pushed, runs the
 * same instructions as in recorded order, and finds the same racy locations. It knows no cycle
 * counts.
 *
 *     t_timed_random [FIRST-SEED [SEEDS]]     default: 1 300
 *
 * Locations are compared where policy vc is exact: where the writes of a location are all plain or
 * all atomic (docs/policies.md). A difference is printed with what reproduces it. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/frame/seeds.h"
#include "tests/frame/settings.h"
#include "tests/frame/timed_run.h"

enum { EVENTS = 700, ACCESSES = 1 << 16 };

static unsigned below(struct rng *r, unsigned n)
{
    return (unsigned)rng_below(r, n);
}

static const char *one_of(struct rng *r, const char *words) /* divided by blanks */
{
    static const char *const ends = " ";
    unsigned n = 1;

    for (const char *p = words; *p; p++)
        n += *p == ' ';
    for (unsigned i = below(r, n); i--;)
        words += strcspn(words, ends) + 1;
    return words;
}

/* "NAME=WORD ", one of the words. */
static void pick(struct text *t, struct rng *r, const char *name, const char *words)
{
    const char *w = one_of(r, words);

    add(t, "%s=%.*s ", name, (int)strcspn(w, " "), w);
}

/* ---- random traces -------------------------------------------------------------------------- */

struct program {
    struct text source;
    unsigned threads; /* the collector included */
    bool clean;       /* nothing races */
    bool exact;       /* vc is exact at each location */
    bool addresses;   /* a location is the granule that a racy access names. Not so when accesses
                         touch several, when locations move (later races may hide behind the first),
                         in transactions (a commit names one of its accesses) */
    unsigned granule; /* a run that is pushed must be told */
};

static void draw_memory(struct text *s, struct rng *r, struct program *p)
{
    const bool one_granule = below(r, 2);

    p->granule = one_granule ? 8 : 1u << below(r, 4);
    add(s, ",granularity=%u", p->granule);
    if (one_granule)
        add(s, ",stride=8,sizes=4,8,unaligned=0");
    else
        add(s, ",stride=%u,sizes=1,4,16,unaligned=100", 1u << below(r, 5));
    add(s, ",variables=%u,privates=%u,fields=%u,sharing=800", 1 + below(r, 40), 1 + below(r, 3),
        1 + below(r, 4));
    add(s, ",read_share=%u,flag_share=%u,system_share=%u", 200 + below(r, 600), below(r, 100),
        below(r, 200));
    const unsigned heap = below(r, 2) * below(r, 200);
    add(s, ",heap_share=%u,gc_share=%u,allocs=%s", heap, below(r, 300), below(r, 2) ? "on" : "off");
    p->addresses = one_granule && !heap;
}

static void draw_sync(struct text *s, struct rng *r, struct program *p)
{
    const unsigned atomics = below(r, 3);
    const bool raw = below(r, 6) == 0;

    add(s, ",raw=%s", raw ? "on" : "off");
    p->clean = !raw && below(r, 3) == 0; /* then there must be locks to protect things */
    add(s, ",locks=%u,volatiles=%u,barriers=%u,classes=%u,atomics=%u", p->clean + below(r, 4),
        below(r, 3), below(r, 3), below(r, 3), atomics);
    add(s, ",sync_share=%u,rw_share=%u,nested_share=%u,wait_share=%u", 50 + below(r, 600),
        below(r, 800), below(r, 600), below(r, 300));
    const unsigned txns = p->clean ? 0 : below(r, 2) * below(r, 100);

    if (p->clean)
        add(s, ",discipline=1000,racy=0");
    else
        add(s, ",discipline=%u,racy=%u", below(r, 1000), below(r, 100));
    add(s, ",txn_share=%u", txns);
    p->addresses &= !txns;
    p->exact = p->clean || !atomics;
}

static struct program draw_program(struct rng *r)
{
    struct program p = {0};
    struct text *s = &p.source;
    const unsigned threads = 2 + below(r, 8);

    p.threads = threads + 1;
    add(s, "synth:seed=%u,events=%u,threads=%u", 1 + below(r, 1u << 30), 50 + below(r, EVENTS),
        threads);
    pick(s, r, ",fork", "roots flat tree");
    s->n--; /* the blank */
    add(s, ",end_share=%u,ends=%s,run_max=%u,gap_max=%u,marks=%s,names=off", below(r, 40),
        below(r, 2) ? "on" : "off", 1 + below(r, 8), below(r, 60), below(r, 2) ? "on" : "off");
    add(s, ",kernel_threads=%u", below(r, 3) ? 0 : 1 + below(r, 4));
    draw_memory(s, r, &p);
    draw_sync(s, r, &p);
    return p;
}

/* ---- random machines ------------------------------------------------------------------------ */

/* Caches of a few lines, so that all kinds of victims come up. */
static void draw_caches(struct text *m, struct rng *r)
{
    const bool l2 = below(r, 4), ddr = below(r, 3) == 0;
    const unsigned line = ddr ? 64 : 16u << below(r, 4), banks = 1u << below(r, 3);

    add(m, "memory.type=%s line=%u ", ddr ? "ddr" : "fixed", line);
    add(m, "l1.ways=2 l1.size=%u ", line * 2 << below(r, 3));
    add(m, "l2.ways=4 l2.size=%u ", l2 ? line * 16 << below(r, 2) : 0);
    add(m, "l3.banks=%u l3.port=%u l3.ways=8 l3.size=%u ", banks, 1 + below(r, 4),
        line * banks * 8 << (3 + below(r, 4)));
    pick(m, r, "l2.inclusion", "inclusive exclusive");
    pick(m, r, "l3.inclusion", "inclusive inclusive non-inclusive");
    pick(m, r, "l1.replacement", "lru plru fifo random srrip");
    pick(m, r, "l2.replacement", "lru plru fifo random srrip");
    pick(m, r, "l3.replacement", "lru plru fifo random srrip");
}

static void draw_cores(struct text *m, struct rng *r, const struct program *p)
{
    const unsigned cores = 1 + below(r, 16);
    const bool pinned = cores >= p->threads;

    add(m, "cores=%u schedule.threads=%s ", cores, pinned ? "pinned" : "round-robin");
    add(m, "schedule.quantum=%u schedule.switch=%u ", 1 + below(r, 2000), below(r, 300));
    if (below(r, 3) == 0)
        add(m, "schedule.window=%u ", 1 + below(r, 100));
    add(m, "core.store-buffer=%u core.misses=%u ", below(r, 2) * below(r, 9),
        below(r, 2) * below(r, 5));
    pick(m, r, "core.memory-instruction", "one-plus-latency latency");
    pick(m, r, "core.type", "simple simple pipelined");
    add(m, "core.width=%u core.window=%u core.atomic=%u ", 1 + below(r, 4), 1 + below(r, 200),
        below(r, 2) * below(r, 50));
}

static struct text draw_machine(struct rng *r, const struct program *p)
{
    struct text m = {0};

    add(&m, "granularity=%u ", p->granule);
    draw_cores(&m, r, p);
    draw_caches(&m, r);
    pick(&m, r, "contention", "on on off");
    pick(&m, r, "network.topology", "crossbar ring mesh");
    add(&m, "network.link-bytes=%u network.controllers=%u ", 1u << below(r, 7), 1 + below(r, 3));
    pick(&m, r, "pages.mapping", "identity first-touch");
    pick(&m, r, "coherence.composition", "absolute cumulative");
    pick(&m, r, "coherence.upgrade-cost", "level home");
    return m;
}

/* ---- what a run found ----------------------------------------------------------------------- */

struct found {
    int code;
    char error[1000];
    uint64_t digest, instructions, races, locations, racy_events;
    size_t n;
    uint64_t addr[ACCESSES]; /* of racy accesses, made a set of granules afterwards */
};

static void on_race(void *arg, const struct lardsim_race *r)
{
    struct found *f = arg;

    f->racy_events++;
    if (f->n < ACCESSES)
        f->addr[f->n++] = r->addr / 8;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void make_set(struct found *f)
{
    size_t n = 0;

    qsort(f->addr, f->n, sizeof *f->addr, compare);
    for (size_t i = 0; i < f->n; i++)
        if (!n || f->addr[n - 1] != f->addr[i])
            f->addr[n++] = f->addr[i];
    f->n = n;
}

static void run(struct found *f, const char *source, const char *machine, bool pushed)
{
    struct lardsim *l = lardsim_new();

    memset(f, 0, offsetof(struct found, addr));
    ran_set(l, "machine=multicore policies=vc");
    ran_set(l, machine);
    lardsim_on_race(l, on_race, f);
    lardsim_start(l);
    if (!pushed)
        lardsim_run(l, source);
    else if (!lardsim_error(l))
        ran_push(l, source);
    lardsim_finish(l);
    f->code = lardsim_exit_code(l);
    snprintf(f->error, sizeof f->error, "%s", lardsim_error(l) ? lardsim_error(l) : "");
    f->digest = lardsim_digest(l);
    if (!f->code) {
        uint64_t policy = 0;
        lardsim_stat(l, "machine.instructions", &f->instructions);
        lardsim_stat(l, "policy.vc.cost.instructions", &policy); /* by how clocks meet */
        f->instructions -= policy;
        lardsim_stat(l, "policy.vc.races.accesses", &f->races);
        lardsim_stat(l, "policy.vc.races.locations", &f->locations);
    }
    lardsim_free(l);
    make_set(f);
}

/* ---- the properties ------------------------------------------------------------------------- */

static const char *broken(const struct program *p, const struct found *recorded,
                          const struct found *timed, const struct found *again,
                          const struct found *pushed)
{
    if (recorded->code || timed->code)
        return "a run fails";
    if (again->digest != timed->digest)
        return "another digest the second time";
    if (pushed->code || pushed->digest != timed->digest)
        return "another digest when pushed";
    if (recorded->instructions != timed->instructions)
        return "other instructions than in recorded order";
    if (timed->races != timed->racy_events)
        return "races that are not told";
    if (p->clean && timed->races)
        return "races where there are none";
    if (!p->exact)
        return NULL;
    if (recorded->locations != timed->locations)
        return "another number of racy locations than in recorded order";
    if (p->addresses && (recorded->n != timed->n ||
                         memcmp(recorded->addr, timed->addr, timed->n * sizeof *timed->addr)))
        return "other racy locations than in recorded order";
    return NULL;
}

static bool seed_holds(uint64_t seed, struct found f[4], uint64_t *races)
{
    struct rng r;
    rng_seed(&r, seed);
    const struct program p = draw_program(&r);
    const struct text m = draw_machine(&r, &p);
    struct text recorded = {0};

    add(&recorded,
        "%s order=recorded contention=off core.type=simple core.store-buffer=0 core.misses=0 "
        "memory.type=fixed",
        m.at);
    run(&f[0], p.source.at, recorded.at, false);
    run(&f[1], p.source.at, m.at, false);
    run(&f[2], p.source.at, m.at, false);
    run(&f[3], p.source.at, m.at, true);
    *races += f[1].locations;
    const char *what = broken(&p, &f[0], &f[1], &f[2], &f[3]);
    if (!what)
        return true;
    printf("seed %" PRIu64 ": %s\n  recorded %d %s\n  timed %d %s\n  pushed %d %s\n", seed, what,
           f[0].code, f[0].error, f[1].code, f[1].error, f[3].code, f[3].error);
    printf("  locations %" PRIu64 " and %" PRIu64 ", accesses %" PRIu64 " and %" PRIu64
           ", instructions %" PRIu64 " and %" PRIu64 "\n",
           f[0].locations, f[1].locations, f[0].races, f[1].races, f[0].instructions,
           f[1].instructions);
    printf("  lardsim run --set machine=multicore");
    for (const char *s = m.at; *s; s += strcspn(s, " ") + 1)
        printf(" --set %.*s", (int)strcspn(s, " "), s);
    printf(" %s\n", p.source.at);
    return false;
}

int main(int argc, char **argv)
{
    const struct seeds cases = seeds_arg(argc, argv, 300, NULL);
    struct found *f = xcalloc(4, sizeof *f);
    uint64_t bad = 0, races = 0;

    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        bad += !seed_holds(seed, f, &races);
    printf("%" PRIu64 " machines from seed %" PRIu64 ", %" PRIu64 " racy locations, %" PRIu64
           " fail\n",
           cases.n, cases.first, races, bad);
    free(f);
    return bad || !races;
}
