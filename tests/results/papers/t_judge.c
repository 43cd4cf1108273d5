/* t_judge.c - what is said of a table that ran with several seeds: claims are judged by the mean,
 * which has a 95 percent interval, and programs whose seeds change nothing are found. Quantities
 * and bands are the test's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "results/papers/table.h"

const struct band bands[] = {
    {"t", "in the band by its mean", "a", "100", "95", "105", "%", "1", "a test"},
    {"other", "of another table", "a", "1", "1", "1", "%", "1", "a test"},
    {"t", "out of it by its mean", "b", "100", "95", "105", "%", "1", "a test"},
    {"t", "of all trials", "mean(ever:valor)", "7", "1", "9", "", "1", "a test"},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};

/* a: 90, 100, 110 with three seeds, the mean 100; b: 100, 100, 130, the mean 110. */
double quantity_of(const struct quantity *q, const char *text)
{
    static const double a[] = {90, 100, 110}, b[] = {100, 100, 130};
    const double *of = *text == 'a' ? a : b;

    if (*text == 'm')
        return 7;
    return q->seed == SIZE_MAX ? (of[0] + of[1] + of[2]) / 3 : of[q->seed];
}

static const struct table_program programs[] = {
    {.name = "sor"}, {.name = "tsp"}, {.name = "crypt"}, {.name = NULL}};
static const struct reproduction table = {.name = "t", .program = programs};

static void is_near(const char *what, double is, double want, double by)
{
    if (!(fabs(is - want) <= by))
        fail_msg("%s: %.6f, not %.6f", what, is, want);
}

static void a_claim_is_judged_by_the_mean_of_its_seeds(void **state)
{
    const struct table_results r = {.of = &table, .seeds = 3};
    struct table_judged j;
    size_t at = 0;

    (void)state;
    assert_true(judge_next(&r, &at, &j));
    assert_int_equal(j.verdict, TABLE_HOLDS);
    is_near("ours", j.ours, 100, 1e-9);
    /* s = 10, half = 4.3027 * 10 / sqrt(3) */
    is_near("half", j.seeds.half, 24.84, 0.01);
    is_near("least", j.seeds.least, 90, 0);
    is_near("most", j.seeds.most, 110, 0);
    assert_true(judge_next(&r, &at, &j));
    assert_int_equal(j.verdict, TABLE_DIFFERS);
    is_near("half", j.seeds.half, 43.03, 0.01);
    assert_true(judge_next(&r, &at, &j));
    assert_int_equal(j.seeds.n, 0); /* of one trial it is another quantity */
    assert_false(judge_next(&r, &at, &j));
}

static void one_seed_has_no_interval(void **state)
{
    const struct table_results r = {.of = &table, .seeds = 1};
    struct table_judged j;
    size_t at = 0;

    (void)state;
    assert_true(judge_next(&r, &at, &j));
    assert_int_equal(j.seeds.n, 0);
    assert_true(isnan(j.seeds.half));
}

static void seeds_that_change_nothing_are_found(void **state)
{
    static const char ft[] = "fasttrack", vc[] = "vc";
    struct table_sample sample[] = {
        {.program = &programs[0], .policy = ft, .seed = 0, .behaviour = 1},
        {.program = &programs[0], .policy = vc, .seed = 0, .behaviour = 2},
        {.program = &programs[1], .policy = ft, .seed = 0, .behaviour = 3},
        {.program = &programs[1], .policy = vc, .seed = 0, .behaviour = 4},
        {.program = &programs[2], .policy = ft, .seed = 0, .behaviour = 5},
        {.program = &programs[0], .policy = ft, .seed = 1, .behaviour = 1},
        {.program = &programs[0], .policy = vc, .seed = 1, .behaviour = 2},
        {.program = &programs[1], .policy = ft, .seed = 1, .behaviour = 3},
        {.program = &programs[1], .policy = vc, .seed = 1, .behaviour = 6},
    };
    const struct table_results r = {
        .of = &table, .seeds = 2, .sample = sample, .n = ARRAY_SIZE(sample)};

    (void)state;
    assert_true(seeds_are_same(&r, &programs[0]));
    assert_false(seeds_are_same(&r, &programs[1])); /* vc does something else */
    assert_false(seeds_are_same(&r, &programs[2])); /* it has one seed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_is_judged_by_the_mean_of_its_seeds),
        cmocka_unit_test(one_seed_has_no_interval),
        cmocka_unit_test(seeds_that_change_nothing_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
