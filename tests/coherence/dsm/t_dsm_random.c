/* t_dsm_random.c - does a read of a program without data races return the last write that happens
 * before it, whatever processes, pages, locks, barriers and collections do? Values are versions. */
#include "base/rng.h"
#include "tests/coherence/dsm/rig.h"
#include "tests/coherence/dsm/truth.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"

enum { LOCKS = 3, OBJECTS = 2 };

struct lock {
    int holder;                                      /* -1: nobody has it exclusive */
    unsigned sharers;                                /* a bit a process */
    uint32_t w[TRUTH_PROCESSES], r[TRUTH_PROCESSES]; /* of exclusive releases, of shared ones */
};
struct program {
    struct rng rng;
    unsigned n;
    struct truth truth;
    struct lock lock[LOCKS];
    uint32_t object[OBJECTS][TRUTH_PROCESSES];
    uint64_t reads, writes; /* that were made */
};

static unsigned below(struct program *g, unsigned n)
{
    return (unsigned)rng_below(&g->rng, n);
}

/* ---- an action of one process ---------------------------------------------------------------- */

static void access_word(struct program *g, struct rig *r, unsigned p, bool write)
{
    const unsigned w = below(g, TRUTH_WORDS);

    if (!truth_may(&g->truth, p, w, write))
        return;
    if (write) {
        rig_store(r, p, 4 * w, truth_write(&g->truth, p, w));
        g->writes++;
        return;
    }
    const uint32_t is = rig_load(r, p, 4 * w), last = truth_read(&g->truth, p, w);
    if (is != last)
        fail_msg("process %u reads version %u of word %u, whose last write is %u by process %u", p,
                 is, w, last, g->truth.word[w].writer);
    g->reads++;
}

static void use_lock(struct program *g, struct rig *r, unsigned p, bool shared)
{
    const unsigned i = below(g, LOCKS);
    struct lock *l = &g->lock[i];

    if (l->holder == (int)p || l->sharers >> p & 1) {
        rig_unlock(r, p, 0x8000 + 8 * i);
        truth_release(&g->truth, p, l->holder == (int)p ? l->w : l->r);
        l->holder = -1;
        l->sharers &= ~(1U << p);
    } else if (l->holder < 0 && (shared ? i == 0 : !l->sharers)) { /* one lock may be shared */
        rig_lock(r, p, 0x8000 + 8 * i, shared);
        truth_acquire(&g->truth, p, l->w);
        if (shared) {
            l->sharers |= 1U << p;
            return;
        }
        truth_acquire(&g->truth, p, l->r);
        l->holder = (int)p;
    }
}

static void use_object(struct program *g, struct rig *r, unsigned p, bool give)
{
    const unsigned i = below(g, OBJECTS);

    if (give) {
        r->now = dsm_give(r->d, p, DSM_VOLATILE, 0x7000 + i, r->now);
        truth_release(&g->truth, p, g->object[i]);
    } else {
        r->now = dsm_take(r->d, p, DSM_VOLATILE, 0x7000 + i, r->now);
        truth_acquire(&g->truth, p, g->object[i]);
    }
}

static void all_at_barrier(struct program *g, struct rig *r)
{
    uint32_t all[TRUTH_PROCESSES] = {0};

    rig_barrier(r, g->n);
    for (unsigned p = 0; p < g->n; p++)
        truth_release(&g->truth, p, all);
    for (unsigned p = 0; p < g->n; p++)
        truth_acquire(&g->truth, p, all);
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

static struct met { /* in all programs */
    uint64_t collections, forced, diffs, forwarded;
} one_program(uint64_t seed)
{
    struct program g = {.n = 0};
    char settings[200];

    rng_seed(&g.rng, seed);
    g.n = 2 + below(&g, TRUTH_PROCESSES - 1);
    truth_begin(&g.truth);
    for (unsigned i = 0; i < LOCKS; i++)
        g.lock[i].holder = -1;
    const unsigned barriers = below(&g, 2) * 50;
    const uint64_t page = UINT64_C(16) << below(&g, 4);
    snprintf(settings, sizeof settings, "host=%u home=%s collect=%u force=%u", 1 + below(&g, 3),
             below(&g, 2) ? "first" : "interleave", 1 + below(&g, 4000), 50 + below(&g, 4000));
    struct rig *r = rig_new(g.n, page, settings);
    for (unsigned i = 0; i < 1500; i++) {
        act(&g, r, barriers);
        dsm_check(r->d);
    }
    if (g.reads < 20 || g.writes < 10)
        fail_msg("seed %u: only %u reads and %u writes were free of races", (unsigned)seed,
                 (unsigned)g.reads, (unsigned)g.writes);
    const struct met met = {rig_stat(r, "dsm.collections"), rig_stat(r, "dsm.collections-forced"),
                            rig_stat(r, "dsm.diffs-made"), rig_stat(r, "dsm.lock-forwarded")};
    rig_free(r);
    return met;
}

static void reads_return_the_last_write(void **state)
{
    struct met all = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        const struct met m = one_program(seed);
        all.collections += m.collections;
        all.forced += m.forced;
        all.diffs += m.diffs;
        all.forwarded += m.forwarded;
    }
    /* All that could go wrong was there. */
    assert_true(all.collections > all.forced && all.forced > 100);
    assert_true(all.diffs > 1000 && all.forwarded > 1000);
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds cases = seeds_arg(argc, argv, 0, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_return_the_last_write),
    };

    for (uint64_t i = 0; i < cases.n; i++)
        one_program(cases.first + i);
    return cases.n ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
