/* t_memory.c - the table of memories, and the memory of constant latency: exact cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/memory/bench.h"

static void every_memory_answers_at_once_or_later(void **state)
{
    (void)state;
    assert_non_null(memory_types[0]);
    for (size_t i = 0; memory_types[i]; i++) {
        assert_non_null(memory_types[i]->summary);
        assert_true(!memory_types[i]->later == !memory_types[i]->step);
        assert_true(!memory_types[i]->later == !memory_types[i]->next);
    }
}

static void a_bad_parameter_is_an_error(void **state)
{
    const char *const settings[] = {"memory.fixed.latency=0", NULL};
    struct bench b;
    struct err e = {0};

    (void)state;
    assert_int_equal(
        bench_try(&b, "fixed", (struct memory_env){.mhz = 1000, .line = 64}, settings, &e), -1);
    assert_int_equal(e.code, LARD_CONFIG);
    assert_non_null(strstr(e.text, "latency"));
    bench_free(&b);
}

static void closing_what_was_never_opened_does_nothing(void **state)
{
    struct memory m = {0};

    (void)state;
    memory_close(&m);
    assert_null(m.type);
}

/* ---- constant latency ----------------------------------------------------------------------- */

static void open_fixed(struct bench *b, sim_cycle included, bool contention,
                       const char *const *settings)
{
    const struct memory_env env = {
        .mhz = 1000, .line = 64, .included = included, .contention = contention};

    bench_open(b, "fixed", env, settings);
}

static void the_answer_comes_at_the_total_latency(void **state)
{
    struct bench b;

    (void)state;
    open_fixed(&b, 0, true, NULL);
    assert_int_equal(bench_put(&b, 1000, 64, false, 1), 1120);
    bench_close(&b, 0);
    open_fixed(&b, 35, true, NULL); /* 35 of the 120 are over when the request arrives */
    assert_int_equal(bench_put(&b, 1000, 64, false, 1), 1085);
    bench_close(&b, 0);
}

struct fixed_latency { /* as the type's parameters begin */
    uint64_t latency, interval;
};

static void a_total_that_has_passed_is_refused(void **state)
{
    const char *const settings[] = {"memory.fixed.latency=40", NULL};
    struct bench b;

    (void)state;
    open_fixed(&b, 39, true, settings);
    assert_int_equal(bench_put(&b, 7, 0, false, 1), 8);
    bench_close(&b, 0);
    for (sim_cycle included = 40; included < 42; included++) {
        struct err e = {0};
        assert_null(
            memory_named("fixed")->create(&(struct memory_env){.included = included, .line = 64},
                                          &(struct fixed_latency){.latency = 40}, &e));
        assert_int_equal(e.code, LARD_CONFIG);
        assert_non_null(strstr(e.text, "memory.fixed.latency"));
        err_clear(&e);
    }
}

static void writes_are_posted(void **state)
{
    struct bench b;

    (void)state;
    open_fixed(&b, 0, true, NULL);
    assert_true(bench_put(&b, 5, 64, true, 1) == CYCLE_NEVER);
    bench_counts(&b, "writes", 1);
    bench_counts(&b, "reads", 0);
    bench_close(&b, 0);
}

static void without_an_interval_nothing_waits(void **state)
{
    struct bench b;

    (void)state;
    open_fixed(&b, 0, true, NULL);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(bench_put(&b, 50, i * 64, false, i), 170);
    bench_counts(&b, "waits", 0);
    bench_close(&b, 0);
}

static void an_interval_keeps_lines_apart(void **state)
{
    const char *const settings[] = {"memory.fixed.interval=10", NULL};
    struct bench b;

    (void)state;
    open_fixed(&b, 20, true, settings);
    assert_int_equal(bench_put(&b, 100, 0, false, 1), 200);
    assert_int_equal(bench_put(&b, 100, 64, false, 2), 210);
    assert_true(bench_put(&b, 100, 128, true, 3) == CYCLE_NEVER); /* a write takes a turn too */
    assert_int_equal(bench_put(&b, 101, 192, false, 4), 230);
    assert_int_equal(bench_put(&b, 140, 192, false, 4), 240); /* exactly free */
    assert_int_equal(bench_put(&b, 149, 192, false, 4), 250); /* a cycle too early */
    bench_counts(&b, "waits", 4);
    bench_counts(&b, "waited", 10 + 20 + 29 + 1);
    bench_close(&b, 0);
}

static void without_contention_the_interval_is_ignored(void **state)
{
    const char *const settings[] = {"memory.fixed.interval=10", NULL};
    struct bench b;

    (void)state;
    open_fixed(&b, 0, false, settings);
    assert_int_equal(bench_put(&b, 100, 0, false, 1), 220);
    assert_int_equal(bench_put(&b, 100, 64, false, 2), 220);
    bench_close(&b, 0);
}

static void a_later_request_never_delays_an_earlier_one(void **state)
{
    const char *const settings[] = {"memory.fixed.interval=10", "memory.fixed.latency=1", NULL};
    struct bench b;

    (void)state;
    open_fixed(&b, 0, true, settings);
    assert_int_equal(bench_put(&b, 500, 0, false, 1), 501);
    assert_int_equal(bench_put(&b, 100, 0, false, 2), 101); /* long before */
    assert_int_equal(bench_put(&b, 490, 0, false, 3), 491); /* just fits */
    assert_int_equal(bench_put(&b, 480, 0, false, 4), 481); /* fits between */
    assert_int_equal(bench_put(&b, 475, 0, false, 5), 511); /* does not: the next gap */
    bench_close(&b, 0);
}

/* Whatever the order, no two lines are taken within an interval. */
static void lines_are_apart_in_any_order(void **state)
{
    enum { N = 600, GAP = 7 };
    const char *const settings[] = {"memory.fixed.interval=7", "memory.fixed.latency=1", NULL};
    struct bench b;
    struct rng r;
    sim_cycle taken[N];

    (void)state;
    rng_seed(&r, 3);
    open_fixed(&b, 0, true, settings);
    for (unsigned i = 0; i < N; i++) {
        const sim_cycle at = i * 8 + rng_below(&r, 100);
        taken[i] = bench_put(&b, at, 0, false, i) - 1;
        assert_true(taken[i] >= at);
        for (unsigned k = 0; k < i; k++)
            assert_true(taken[i] >= taken[k] + GAP || taken[k] >= taken[i] + GAP);
    }
    bench_close(&b, 0);
}

static void bytes_are_counted_by_whose_they_are(void **state)
{
    struct bench b;
    char *text = NULL;
    size_t size = 0;

    (void)state;
    open_fixed(&b, 0, true, NULL);
    for (unsigned i = 0; i < 5; i++) {
        const struct mem_request r = {paddr_of(0), i, i, i % 2,
                                      i < 2 ? TRAFFIC_METADATA : TRAFFIC_DATA};
        b.memory.type->request(b.memory.self, &r);
    }
    FILE *f = open_memstream(&text, &size);
    stats_csv(b.stats, f);
    fclose(f);
    assert_non_null(strstr(text, "memory.bytes-read.data,128,bytes"));
    assert_non_null(strstr(text, "memory.bytes-read.metadata,64,bytes"));
    assert_non_null(strstr(text, "memory.bytes-written.data,64,bytes"));
    assert_non_null(strstr(text, "memory.bytes-written.metadata,64,bytes"));
    free(text);
    bench_close(&b, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_memory_answers_at_once_or_later),
        cmocka_unit_test(a_bad_parameter_is_an_error),
        cmocka_unit_test(closing_what_was_never_opened_does_nothing),
        cmocka_unit_test(the_answer_comes_at_the_total_latency),
        cmocka_unit_test(a_total_that_has_passed_is_refused),
        cmocka_unit_test(writes_are_posted),
        cmocka_unit_test(without_an_interval_nothing_waits),
        cmocka_unit_test(an_interval_keeps_lines_apart),
        cmocka_unit_test(without_contention_the_interval_is_ignored),
        cmocka_unit_test(a_later_request_never_delays_an_earlier_one),
        cmocka_unit_test(lines_are_apart_in_any_order),
        cmocka_unit_test(bytes_are_counted_by_whose_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
