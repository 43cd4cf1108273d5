/* t_steps.c - what a core pays for a policy's metadata does not depend on how its turns are taken:
 * where hits are made ahead of others' turns (sim/scheduler/steps.c), every statistic is as where
 * each access waits for its own, which it does in a run with intervals of statistics. It knows no
 * counts. */
#include "tests/frame/timed_run.h"

static const char *const policies[] = {"fasttrack",  "fastrcd", "valor", "slimstate",
                                       "goldilocks", "vc",      "eraser"};
/* Small caches, so that others take lines that are about to be hit. */
static const char *const machines[] = {
    "l1.size=2Ki l2.size=8Ki l3.size=64Ki",
    "contention=on l1.size=2Ki l2.size=8Ki l3.size=64Ki",
    "contention=on l2.size=0 l1.latency=5 l1.replacement=plru",
    "contention=on l1.size=1Ki l2.size=4Ki l2.inclusion=exclusive l3.inclusion=non-inclusive",
    "contention=on schedule.threads=round-robin schedule.quantum=100 cores=3 schedule.window=64",
    "contention=on warm-up=300 l1.size=2Ki",
    "limits.events=400 l1.size=2Ki",
};

static void same(const struct ran *a, const struct ran *b, const char *what)
{
    assert_int_equal(a->code, b->code);
    assert_string_equal(a->error, b->error);
    assert_int_equal(a->digest, b->digest);
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->stat[i].name, b->stat[i].name);
        if (a->stat[i].value != b->stat[i].value)
            fail_msg("%s: %s is %llu ahead, %llu by turns", what, a->stat[i].name,
                     (unsigned long long)a->stat[i].value, (unsigned long long)b->stat[i].value);
    }
}

/* Intervals are written to a folder. */
static struct ran run_by_turns(const char *source, const char *settings)
{
    char folder[300], out[340];
    struct ran r = {0};

    snprintf(folder, sizeof folder, "%s/lardsim-steps-XXXXXX", ran_tmp());
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/out", folder);
    ran_once(&r, source, settings, RAN_PULL, out);
    ran_remove(out);
    ran_remove(folder);
    return r;
}

static void compare(const char *policy, const char *machine, unsigned seed)
{
    char source[200], ahead[300], turns[340], what[600];

    snprintf(source, sizeof source,
             "synth:seed=%u,events=1000,threads=%u,variables=60,sharing=900,sync_share=150,"
             "discipline=800,racy=100,fork=roots",
             seed, 3 + seed % 2);
    snprintf(ahead, sizeof ahead, "order=timed granularity=4 cores=8 policies=%s %s", policy,
             machine);
    snprintf(turns, sizeof turns, "%s stats.interval=1000000000", ahead);
    snprintf(what, sizeof what, "%s %s", source, ahead);
    struct ran a = ran_source(source, ahead), b = run_by_turns(source, turns);
    same(&a, &b, what);
    assert_true(a.code || ran_stat(&a, "machine.spent.handler") > 0);
    ran_free(&a);
    ran_free(&b);
}

static void hits_ahead_are_hits_at_their_turns(void **state)
{
    (void)state;
    for (unsigned p = 0; p < sizeof policies / sizeof *policies; p++)
        for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++)
            compare(policies[p], machines[m], 1 + p + m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_ahead_are_hits_at_their_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
