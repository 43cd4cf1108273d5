/* t_gap.c - instructions between accesses: are they as many as the parameters say, however they are
 * spread, and does work that a kernel counts come on top? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "tests/workloads/vm/spec.h"

struct gaps {
    uint64_t accesses, sum, square; /* of the program's accesses */
    uint32_t least, most;
    uint64_t before_region; /* events of other threads than the first before the region */
    unsigned regions;
};

static void count(void *arg, const struct event *ev)
{
    struct gaps *g = arg;

    g->regions += ev->kind == EV_ROI_BEGIN;
    g->before_region += !g->regions && ev->tid != 0 && !(ev->flags & EVF_SYSTEM);
    if (!event_is_access(ev) || ev->flags & (EVF_SYSTEM | EVF_STACK))
        return;
    g->least = g->accesses && g->least < ev->gap ? g->least : ev->gap;
    g->most = g->most > ev->gap ? g->most : ev->gap;
    g->sum += ev->gap;
    g->square += (uint64_t)ev->gap * ev->gap;
    g->accesses++;
}

static struct gaps gaps_of(const char *spec)
{
    struct gaps g = {0};

    walk_spec(spec, count, &g);
    return g;
}

static double mean_of(const struct gaps *g)
{
    return (double)g->sum / (double)g->accesses;
}

static void has_mean(const char *spec, double want)
{
    const struct gaps g = gaps_of(spec);
    const double is = mean_of(&g);

    if (is < want * 0.99 - 0.01 || is > want * 1.01 + 0.01)
        fail_msg("%s: %g instructions between two accesses, not %g", spec, is, want);
}

#define TWIN "luindex@valor,accesses=200k"

static void the_mean_is_the_one_asked_for_however_it_is_spread(void **state)
{
    (void)state;
    has_mean(TWIN ",gap=0", 0);
    has_mean(TWIN ",gap=0.5", 0.5);
    has_mean(TWIN ",gap=9", 9);
    has_mean(TWIN ",gap=61.25", 61.25);
    has_mean(TWIN ",gap=9,gap_spread=even", 9);
    has_mean(TWIN ",gap=6.35,gap_spread=even", 6.35);
}

static void words_are_the_ends_and_the_middle_of_the_range(void **state)
{
    const struct workload_gap *g = workload_gap(workload_find("luindex@valor"));

    (void)state;
    assert_true(g->low < workload_gap_middle(g) && workload_gap_middle(g) < g->high);
    has_mean(TWIN ",gap=low", g->low / 100.0);
    has_mean(TWIN, (double)workload_gap_middle(g) / 100.0);
    has_mean(TWIN ",gap=high", g->high / 100.0);
}

static void even_ones_are_all_alike(void **state)
{
    const struct gaps g = gaps_of("sparse,gap=7,gap_spread=even,size=small");
    const struct gaps two = gaps_of(TWIN ",gap=2,gap_spread=even");

    (void)state;
    assert_true(g.least >= 7);
    if (two.least != 2 || two.most != 2)
        fail_msg("gap=2,gap_spread=even: from %u to %u", two.least, two.most);
}

/* Of a geometric distribution with mean m the variance is m (m + 1). */
static void geometric_ones_have_the_variance_of_that(void **state)
{
    const struct gaps g = gaps_of(TWIN ",gap=9,gap_spread=geometric");
    const double mean = mean_of(&g), var = (double)g.square / (double)g.accesses - mean * mean;

    (void)state;
    if (var < 0.95 * 90 || var > 1.05 * 90)
        fail_msg("the variance is %g, not 90", var);
    assert_int_equal(g.least, 0);
    assert_true(g.most > 40);
}

/* An interpreter executes more for each instruction, that of the access itself included. */
static void an_interpreter_multiplies_all_of_it(void **state)
{
    (void)state;
    has_mean(TWIN ",gap=9,tier=interpreted,interpreter=5", 49);
    has_mean(TWIN ",gap=0,tier=interpreted,interpreter=18.67", 17.67);
    has_mean(TWIN ",gap=9,tier=interpreted,interpreter=0.05", 0);
    has_mean(TWIN ",gap=9,interpreter=5", 9); /* compiled: none */
    has_mean(TWIN ",gap=9,tier=interpreted,interpreter=low", 46 * 10 - 1);
    has_mean(TWIN ",gap=0,tier=interpreted,interpreter=high", 22 + 0.98 * 31 * 3 - 1);
    const struct gaps once = gaps_of("series,gap=0"),
                      twice = gaps_of("series,gap=0,tier=interpreted,interpreter=2,outside=0");
    const double ratio = (mean_of(&twice) + 1) / (mean_of(&once) + 1);
    if (ratio < 1.95 || ratio > 2.05)
        fail_msg("a kernel's own work becomes %g times as much, not twice", ratio);
}

/* What is outside of the interpreter takes time between accesses, too. A program's own share of it
 * is what Goldilocks' Table 1 leaves: hedc takes 3.1 s compiled and 7.5 interpreted, and what is
 * bytecodes takes 18.67 times (sor2) as long interpreted. */
static void what_is_outside_takes_time_beside_the_bytecodes(void **state)
{
    const double hedc = 1 - (7.5 - 3.1) / 7.5 * 11.2 / (11.2 - 0.6);
    const uint64_t ours = workload_outside(workload_find("hedc"));

    (void)state;
    has_mean(TWIN ",gap=9,tier=interpreted,interpreter=5,outside=50", 99);
    has_mean(TWIN ",gap=9,tier=interpreted,interpreter=5,outside=0.5", 50 / 0.995 - 1);
    has_mean(TWIN ",gap=9,outside=50", 9); /* compiled: not asked for */
    if ((double)ours < 10000 * hedc - 1 || (double)ours > 10000 * hedc + 1)
        fail_msg("hedc: %g %% are outside, not %g", (double)ours / 100, 100 * hedc);
    assert_int_equal(workload_outside(workload_find("luindex@valor")), 0); /* not printed */
}

static void refused(const char *spec, const char *why)
{
    struct err e = {0};

    assert_null(workload_open(spec, &e));
    assert_int_equal(e.code, LARD_CONFIG);
    if (!strstr(e.text, why))
        fail_msg("%s: \"%s\" does not say: %s", spec, e.text, why);
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    refused("sor,gap=middle", "none of low, mid, high");
    refused("sor,gap=-1", "none of low, mid, high");
    refused("sor,gap=1.234", "two decimals");
    refused("sor,gap=1000001", "up to 1000000");
    refused("sor,gap=99999999999999999999999", "up to 1000000");
    refused("sor,interpreter=0", "none of low, mid, high");
    refused("sor,interpreter=fast", "none of low, mid, high");
    refused("sor,outside=100", "neither auto nor a percentage");
    refused("sor,outside=all", "neither auto nor a percentage");
}

/* What a comparison measures begins when all threads may work, not with the set-up of one. */
static void each_workload_marks_one_region_and_only_the_first_thread_is_before_it(void **state)
{
    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        char *spec = xasprintf("%s%s", (*w)->name, strchr((*w)->name, '@') ? ",accesses=20k" : "");
        const struct gaps g = gaps_of(spec);
        if (g.regions != 1 || g.before_region)
            fail_msg("%s: %u regions of interest, %llu events of other threads before it", spec,
                     g.regions, (unsigned long long)g.before_region);
        free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_the_one_asked_for_however_it_is_spread),
        cmocka_unit_test(words_are_the_ends_and_the_middle_of_the_range),
        cmocka_unit_test(even_ones_are_all_alike),
        cmocka_unit_test(geometric_ones_have_the_variance_of_that),
        cmocka_unit_test(an_interpreter_multiplies_all_of_it),
        cmocka_unit_test(what_is_outside_takes_time_beside_the_bytecodes),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(each_workload_marks_one_region_and_only_the_first_thread_is_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
