/* t_turns.c - several policies on one machine: no count depends on the order in which they are
 * listed, and those that look at the same find the same, whoever's decisions take time. */
#include "tests/frame/timed_run.h"

static const char *const dense =
    "synth:events=3000,threads=5,granularity=4,unaligned=0,variables=40,sharing=900,discipline=600,"
    "txn_share=150,atomics=4,heap_share=80,gc_share=100,locks=4,seed=";

static int by_name(const void *a, const void *b)
{
    const struct stat_value *const x = a, *const y = b;

    return strcmp(x->name, y->name);
}

/* With a core for each thread, or too few. */
static struct ran run_of(const char *policies, int seed)
{
    char source[400], settings[400];

    snprintf(source, sizeof source, "%s%d", dense, seed);
    snprintf(settings, sizeof settings,
             "granularity=4 contention=on pages.mapping=first-touch policies=%s %s", policies,
             seed % 2 ? "cores=8" : "cores=3 schedule.threads=round-robin schedule.quantum=500");
    struct ran r = ran_source(source, settings);
    if (r.code)
        fail_msg("%s: %s", policies, r.error);
    qsort(r.stat, r.n, sizeof *r.stat, by_name);
    return r;
}

/* ---- the order in which they are listed ----------------------------------------------------- */

static void expect_same(const struct ran *is, const struct ran *first, const char *policies)
{
    assert_int_equal(is->n, first->n);
    for (size_t i = 0; i < is->n; i++) {
        assert_string_equal(is->stat[i].name, first->stat[i].name);
        if (is->stat[i].value != first->stat[i].value)
            fail_msg("%s: %s is %llu, and %llu in another order", policies, is->stat[i].name,
                     (unsigned long long)is->stat[i].value,
                     (unsigned long long)first->stat[i].value);
    }
}

static void in_each_order(const char *a, const char *b, const char *c, int seed)
{
    const char *const order[6][3] = {{a, b, c}, {a, c, b}, {b, a, c},
                                     {b, c, a}, {c, a, b}, {c, b, a}};
    struct ran first = {0};

    for (int i = 0; i < 6; i++) {
        char policies[200];
        snprintf(policies, sizeof policies, "%s,%s,%s", order[i][0], order[i][1], order[i][2]);
        struct ran r = run_of(policies, seed);
        if (i == 0) {
            first = r;
            continue;
        }
        expect_same(&r, &first, policies);
        ran_free(&r);
    }
    ran_free(&first);
}

static void hardware_and_software_in_any_order(void **state)
{
    (void)state;
    in_each_order("lardish", "vc", "valor", 1);
    in_each_order("fasttrack", "radish", "goldilocks", 2);
}

static void software_in_any_order(void **state)
{
    (void)state;
    in_each_order("slimstate", "eraser", "fastrcd", 3);
    in_each_order("z=vc", "b=vc", "m=valor-e", 4);
}

static void the_runtime_in_any_order(void **state)
{
    (void)state;
    in_each_order("lard-runtime", "vc", "none", 5);
    in_each_order("lard-runtime", "fasttrack", "lardish", 6);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

/* The order that was executed is one, and all policies of happens-before are told it. */
static void who_decides_in_no_time_and_who_does_not_find_the_same(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 4; seed++) {
        struct ran r = run_of("lardish,vc,fasttrack,lard-runtime", seed);
        const uint64_t races = ran_stat(&r, "policy.vc.races.accesses");
        assert_true(races > 0);
        assert_int_equal(ran_stat(&r, "policy.lardish.races.accesses"), races);
        assert_int_equal(ran_stat(&r, "policy.fasttrack.races.accesses"), races);
        ran_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hardware_and_software_in_any_order),
        cmocka_unit_test(software_in_any_order),
        cmocka_unit_test(the_runtime_in_any_order),
        cmocka_unit_test(who_decides_in_no_time_and_who_does_not_find_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
