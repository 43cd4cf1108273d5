/* t_estimate.c - mean and 95 percent interval, against values that were computed by hand with a
 * table of Student's t. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "results/read/estimate.h"

static void is_near(const char *what, double is, double want, double by)
{
    if (!(fabs(is - want) <= by))
        fail_msg("%s: %.6f, not %.6f", what, is, want);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: the mean is 5, the squares add up to 32, so s = sqrt(32 / 7) = 2.13809,
 * and half = 2.365 * 2.13809 / sqrt(8) = 1.7878. */
static void eight_numbers(void **state)
{
    static const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    const struct estimate s = estimate_of(x, ARRAY_SIZE(x));

    (void)state;
    assert_int_equal(s.n, 8);
    is_near("mean", s.mean, 5, 1e-12);
    is_near("half", s.half, 1.7878, 0.0005);
    is_near("least", s.least, 2, 0);
    is_near("most", s.most, 9, 0);
}

/* 10 and 20: s = sqrt(50), half = 12.706 * sqrt(50) / sqrt(2) = 63.53. */
static void two_numbers_say_little(void **state)
{
    static const double x[] = {10, 20};

    (void)state;
    is_near("half", estimate_of(x, 2).half, 63.531, 0.001);
}

/* 84.8, 96.7, 90.1: mean 90.5333, s = 5.9618, half = 4.303 * 5.9618 / sqrt(3) = 14.811. */
static void three_overheads(void **state)
{
    static const double x[] = {84.8, 96.7, 90.1};
    const struct estimate s = estimate_of(x, 3);

    (void)state;
    is_near("mean", s.mean, 90.5333, 0.0001);
    is_near("half", s.half, 14.811, 0.003);
}

static void numbers_that_are_the_same_have_no_width(void **state)
{
    static const double x[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const struct estimate s = estimate_of(x, ARRAY_SIZE(x));

    (void)state;
    is_near("mean", s.mean, 0.1, 0);
    is_near("half", s.half, 0, 0);
}

static void what_is_no_number_is_left_out(void **state)
{
    static const double some[] = {NAN, 10, NAN, 20}, one[] = {NAN, 3}, none[] = {NAN, NAN};

    (void)state;
    assert_int_equal(estimate_of(some, 4).n, 2);
    is_near("half", estimate_of(some, 4).half, 63.531, 0.001);
    is_near("mean", estimate_of(one, 2).mean, 3, 0);
    assert_true(isnan(estimate_of(one, 2).half));
    assert_true(isnan(estimate_of(none, 2).mean));
    assert_true(isnan(estimate_of(none, 0).mean));
}

/* A printed table, to three decimals. */
static void students_t_is_that_of_the_tables(void **state)
{
    static const struct {
        size_t degrees;
        double t;
    } rows[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},   {4, 2.776},   {5, 2.571},   {9, 2.262},
                {10, 2.228}, {20, 2.086}, {29, 2.045},  {30, 2.042},  {31, 2.040},  {40, 2.021},
                {60, 2.000}, {80, 1.990}, {100, 1.984}, {120, 1.980}, {1000, 1.962}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        is_near("t", estimate_t(rows[i].degrees), rows[i].t, 0.00051);
    for (size_t d = 1; d < 200; d++)
        if (estimate_t(d) <= estimate_t(d + 1))
            fail_msg("t of %zu degrees is not more than that of %zu", d, d + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_numbers),
        cmocka_unit_test(two_numbers_say_little),
        cmocka_unit_test(three_overheads),
        cmocka_unit_test(numbers_that_are_the_same_have_no_width),
        cmocka_unit_test(what_is_no_number_is_left_out),
        cmocka_unit_test(students_t_is_that_of_the_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
