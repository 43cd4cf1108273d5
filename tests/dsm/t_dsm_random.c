/* t_dsm_random.c - does a read of a program without data races return the last write that happens
 * before it, whatever processes, pages, locks, barriers and collections do? Values are versions.
 *
 * Happens-before is kept here, from its definition, with vector clocks of the processes' own. An
 * access is drawn, and made only where it races with none before it; so the last write is one. */
#include "tests/dsm/rig.h"
#include "tests/frame/seeds.h"

enum { MOST = 6, WORDS = 48, LOCKS = 3, OBJECTS = 2 };

struct word {
    uint32_t version;
    unsigned writer;
    uint32_t at;         /* the writer's time; 0: never */
    uint32_t read[MOST]; /* by process: its time */
};
struct lock {
    int holder;           /* -1: nobody has it exclusive */
    unsigned sharers;     /* a bit a process */
    uint32_t w[MOST], r[MOST]; /* of exclusive releases, of shared ones */
};
struct program {
    struct rng rng;
    unsigned n;
    uint32_t clock[MOST][MOST];
    struct word word[WORDS];
    struct lock lock[LOCKS];
    uint32_t object[OBJECTS][MOST];
    uint32_t version;
    uint64_t reads, writes; /* that were made */
};

static unsigned below(struct program *g, unsigned n)
{
    return (unsigned)rng_below(&g->rng, n);
}
static void join(uint32_t *into, const uint32_t *from)
{
    for (unsigned i = 0; i < MOST; i++)
        into[i] = from[i] > into[i] ? from[i] : into[i];
}
static void release(struct program *g, unsigned p, uint32_t *object)
{
    join(object, g->clock[p]);
    g->clock[p][p]++;
}

/* ---- an action of one process ---------------------------------------------------------------- */

static void access_word(struct program *g, struct rig *r, unsigned p, bool write)
{
    const unsigned w = below(g, WORDS);
    struct word *x = &g->word[w];

    if (x->at > g->clock[p][x->writer])
        return; /* a race */
    for (unsigned q = 0; write && q < g->n; q++)
        if (x->read[q] > g->clock[p][q])
            return;
    if (write) {
        rig_store(r, p, 4 * w, x->version = ++g->version);
        x->writer = p;
        x->at = g->clock[p][p];
        memset(x->read, 0, sizeof x->read);
        g->writes++;
        return;
    }
    const uint32_t is = rig_load(r, p, 4 * w);
    if (is != x->version)
        fail_msg("process %u reads version %u of word %u, whose last write is %u by process %u", p,
                 is, w, x->version, x->writer);
    x->read[p] = g->clock[p][p];
    g->reads++;
}

static void use_lock(struct program *g, struct rig *r, unsigned p, bool shared)
{
    const unsigned i = below(g, LOCKS);
    struct lock *l = &g->lock[i];

    if (l->holder == (int)p || l->sharers >> p & 1) {
        rig_unlock(r, p, 0x8000 + 8 * i);
        release(g, p, l->holder == (int)p ? l->w : l->r);
        l->holder = -1;
        l->sharers &= ~(1U << p);
    } else if (l->holder < 0 && (shared ? i == 0 : !l->sharers)) { /* one lock may be shared */
        rig_lock(r, p, 0x8000 + 8 * i, shared);
        join(g->clock[p], l->w);
        if (!shared)
            join(g->clock[p], l->r);
        if (shared)
            l->sharers |= 1U << p;
        else
            l->holder = (int)p;
    }
}

static void use_object(struct program *g, struct rig *r, unsigned p, bool give)
{
    const unsigned i = below(g, OBJECTS);

    if (give) {
        r->now = dsm_give(r->d, p, DSM_VOLATILE, 0x7000 + i, r->now);
        release(g, p, g->object[i]);
    } else {
        r->now = dsm_take(r->d, p, DSM_VOLATILE, 0x7000 + i, r->now);
        join(g->clock[p], g->object[i]);
    }
}

static void all_at_barrier(struct program *g, struct rig *r)
{
    uint32_t all[MOST] = {0};

    rig_barrier(r, g->n);
    for (unsigned p = 0; p < g->n; p++)
        release(g, p, all);
    for (unsigned p = 0; p < g->n; p++)
        join(g->clock[p], all);
}

static void act(struct program *g, struct rig *r, unsigned barriers)
{
    const unsigned p = below(g, g->n), what = below(g, 100);

    if (what < 45)
        access_word(g, r, p, false);
    else if (what < 75)
        access_word(g, r, p, true);
    else if (what < 90)
        use_lock(g, r, p, what < 78);
    else if (what < 96)
        use_object(g, r, p, what < 93);
    else if (below(g, 100) < barriers)
        all_at_barrier(g, r);
}

static void one_program(uint64_t seed)
{
    struct program g = {.n = 0};
    char settings[200];

    rng_seed(&g.rng, seed);
    g.n = 2 + below(&g, MOST - 1);
    for (unsigned p = 0; p < g.n; p++)
        g.clock[p][p] = 1;
    for (unsigned i = 0; i < LOCKS; i++)
        g.lock[i].holder = -1;
    const unsigned barriers = below(&g, 2) * 50;
    const uint64_t page = UINT64_C(16) << below(&g, 4);
    snprintf(settings, sizeof settings, "host=%u home=%s collect=%u force=%u",
             1 + below(&g, 3), below(&g, 2) ? "first" : "interleave",
             1 + below(&g, 4000), 200 + below(&g, 8000));
    struct rig *r = rig_new(g.n, page, settings);
    for (unsigned i = 0; i < 1500; i++) {
        act(&g, r, barriers);
        dsm_check(r->d);
    }
    if (g.reads < 20 || g.writes < 10)
        fail_msg("only %u reads and %u writes were free of races", (unsigned)g.reads,
                 (unsigned)g.writes);
    rig_free(r);
}

static void reads_return_the_last_write(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++)
        one_program(seed);
}

int main(int argc, char **argv)
{
    const struct seeds cases = seeds_arg(argc, argv, 0, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_return_the_last_write),
    };

    for (uint64_t i = 0; i < cases.n; i++)
        one_program(cases.first + i);
    return cases.n ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
