/* t_calendar.c - the calendar of busy cycles: hand-made cases, and random ones against the plain
 * definition, a byte for each cycle. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/calendar.h"
#include "base/rng.h"

/* ---- by hand -------------------------------------------------------------------------------- */

static void an_idle_calendar_gives_what_is_asked(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    assert_int_equal(calendar_take(&s, 0, 0, 1), 0);
    assert_int_equal(calendar_take(&s, 0, 1, 5), 1);
    assert_int_equal(calendar_take(&s, 7, 7, 64), 7);
    assert_int_equal(calendar_take(&s, 7, 1000, 5), 1000);
    calendar_free(&s);
}

static void it_is_free_at_the_end_and_not_a_cycle_before(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 200; at++)
        for (unsigned n = 1; n < 150; n += 7) {
            struct calendar s;

            calendar_init(&s, NULL);
            assert_int_equal(calendar_take(&s, 0, at, n), at);
            assert_int_equal(calendar_take(&s, 0, at + n - 1, 1), at + n);
            assert_int_equal(calendar_take(&s, 0, at + n + 1, 1), at + n + 1);
            calendar_free(&s);
        }
}

static void a_gap_is_used_where_it_is_long_enough(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    assert_int_equal(calendar_take(&s, 0, 10, 10), 10); /* 10..19 */
    assert_int_equal(calendar_take(&s, 0, 24, 10), 24); /* 24..33 */
    assert_int_equal(calendar_take(&s, 0, 12, 5), 34);  /* 20..23 is one too short */
    assert_int_equal(calendar_take(&s, 0, 12, 4), 20);
    assert_int_equal(calendar_take(&s, 0, 0, 10), 0);
    assert_int_equal(calendar_take(&s, 0, 0, 1), 39);
    calendar_free(&s);
}

static void gaps_of_every_length_at_every_place_are_found(void **state)
{
    (void)state;
    for (unsigned at = 1; at < 140; at += 3)
        for (unsigned gap = 1; gap < 140; gap += 2) {
            struct calendar s;

            calendar_init(&s, NULL);
            assert_int_equal(calendar_take(&s, 0, 0, at), 0);
            assert_int_equal(calendar_take(&s, 0, at + gap, 100), at + gap);
            assert_int_equal(calendar_take(&s, 0, 0, gap + 1), at + gap + 100);
            assert_int_equal(calendar_take(&s, 0, 0, gap), at);
            calendar_free(&s);
        }
}

static void no_cycles_take_nothing(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    assert_int_equal(calendar_take(&s, 0, 5, 0), 5);
    assert_int_equal(calendar_take(&s, 0, 5, 3), 5);
    assert_int_equal(calendar_take(&s, 0, 6, 0), 6);
    assert_int_equal(calendar_take(&s, 0, 1000000, 0), 1000000);
    assert_int_equal(calendar_take(&s, 0, 0, 5), 0);
    assert_int_equal(calendar_take(&s, 0, 999990, 20), 999990);
    calendar_free(&s);
}

static void what_is_taken_stays_taken_when_the_ring_turns(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    for (sim_cycle c = 0; c < 100000; c += 10)
        assert_int_equal(calendar_take(&s, c < 500 ? 0 : c - 500, c, 9), c);
    for (sim_cycle c = 99509; c < 100000; c += 10)
        assert_int_equal(calendar_take(&s, 99500, 99500, 1), c);
    calendar_free(&s);
}

static void a_long_idle_time_frees_everything(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    for (unsigned i = 0; i < 50; i++) {
        const sim_cycle at = (sim_cycle)i * 1000003;
        assert_int_equal(calendar_take(&s, at, at, 1000), at);
        assert_int_equal(calendar_take(&s, at, at + 990, 30), at + 1000);
    }
    calendar_free(&s);
}

static void far_times_are_kept_exactly(void **state)
{
    (void)state;
    static const sim_cycle far[] = {1023,
                                    1024,
                                    1025,
                                    65535,
                                    65536,
                                    65537,
                                    100000,
                                    UINT64_C(1) << 32,
                                    1 << 20,
                                    1 << 30,
                                    UINT64_C(1) << 62};

    for (size_t i = 0; i < ARRAY_SIZE(far); i++) {
        const sim_cycle at = far[i];
        struct calendar s;

        calendar_init(&s, NULL);
        assert_int_equal(calendar_take(&s, 0, at, 5), at);
        assert_int_equal(calendar_take(&s, 0, 3, 5), 3);
        assert_int_equal(calendar_take(&s, 0, at - 2, 3), at + 5);
        assert_int_equal(calendar_take(&s, 0, at - 2, 2), at - 2);
        assert_int_equal(calendar_take(&s, 0, 4, 5), 8);
        assert_int_equal(calendar_take(&s, at - 100, at - 1, 1), at + 8); /* now it is near */
        assert_int_equal(calendar_take(&s, at + 3, at + 3, 1), at + 9);
        calendar_free(&s);
    }
}

static void far_gaps_are_found_too(void **state)
{
    (void)state;
    const sim_cycle far = 1000000;
    struct calendar s;

    calendar_init(&s, NULL);
    for (unsigned i = 100; i-- > 0;) /* the latest first: 10 taken, 10 free */
        assert_int_equal(calendar_take(&s, 0, far + 20 * i, 10), far + 20 * i);
    assert_int_equal(calendar_take(&s, 0, far, 11), far + 1990);
    for (unsigned i = 0; i < 99; i++)
        assert_int_equal(calendar_take(&s, 0, far, 10), far + 20 * i + 10);
    assert_int_equal(calendar_take(&s, 0, far, 1), far + 2001);
    calendar_free(&s);
}

static void a_reservation_longer_than_any_ring_is_kept(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    assert_int_equal(calendar_take(&s, 0, 7, 1000000000), 7);
    assert_int_equal(calendar_take(&s, 0, 0, 8), 1000000007);
    assert_int_equal(calendar_take(&s, 0, 0, 7), 0);
    assert_int_equal(calendar_take(&s, 500000000, 500000000, 1), 1000000015);
    assert_int_equal(calendar_take(&s, 1000000006, 1000000006, 1), 1000000016);
    calendar_free(&s);
}

static void what_was_far_and_is_partly_over_takes_what_is_left(void **state)
{
    (void)state;
    const sim_cycle far = 1000000;
    struct calendar s;

    calendar_init(&s, NULL);
    assert_int_equal(calendar_take(&s, 0, far, 2000), far);
    assert_int_equal(calendar_take(&s, 0, far + 3000, 10), far + 3000);
    assert_int_equal(calendar_take(&s, far + 1990, far + 2100, 1), far + 2100); /* brings it near */
    assert_int_equal(calendar_take(&s, far + 1990, far + 2050, 50), far + 2050);
    assert_int_equal(calendar_take(&s, far + 1990, far + 1990, 50), far + 2000);
    assert_int_equal(calendar_take(&s, far + 1990, far + 2101, 899), far + 2101);
    assert_int_equal(calendar_take(&s, far + 1990, far + 2101, 1), far + 3010);
    calendar_free(&s);
}

static void a_saturated_calendar_takes_little_memory(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(calendar_take(&s, 0, 0, 100000), (sim_cycle)i * 100000);
    assert_true(s.mask < 1024);
    assert_true(s.n_far <= 1);
    calendar_free(&s);
}

static void one_that_was_freed_is_as_new(void **state)
{
    (void)state;
    struct calendar s;

    calendar_init(&s, NULL);
    calendar_free(&s);
    calendar_take(&s, 0, 100000, 5);
    calendar_take(&s, 0, 3, 5);
    calendar_free(&s);
    calendar_free(&s);
    assert_int_equal(calendar_take(&s, 0, 3, 5), 3);
    calendar_free(&s);
}

/* ---- against the definition ----------------------------------------------------------------- */

enum { CYCLES = 600000 };

static sim_cycle plain_take(unsigned char *taken, sim_cycle at, unsigned cycles)
{
    for (sim_cycle c = at; c < at + cycles; c++) {
        assert_true(c < CYCLES);
        if (taken[c])
            at = c + 1;
    }
    memset(taken + at, 1, cycles);
    return at;
}

struct mix {
    unsigned step;          /* the floor moves by up to this */
    unsigned near, far;     /* distances from the floor */
    unsigned far_part;      /* one in this many is far */
    unsigned cycles, takes; /* length at most; how many */
    unsigned start;         /* of time */
};

static void follow(const struct mix *m, uint64_t seed)
{
    unsigned char *taken = calloc(CYCLES, 1);
    sim_cycle floor = m->start;
    struct calendar s;
    struct rng r;

    assert_non_null(taken);
    calendar_init(&s, NULL);
    rng_seed(&r, seed);
    for (unsigned i = 0; i < m->takes && floor < CYCLES - 200000; i++) {
        const bool far = rng_below(&r, m->far_part) == 0;
        const sim_cycle at = floor + rng_below(&r, far ? m->far : m->near);
        const unsigned n = (unsigned)rng_below(&r, m->cycles + 1);
        assert_int_equal(calendar_take(&s, floor, at, n), plain_take(taken, at, n));
        floor += rng_below(&r, m->step + 1);
    }
    calendar_free(&s);
    free(taken);
}

static void random_reservations_are_as_defined(void **state)
{
    (void)state;
    static const struct mix mixes[] = {
        {20, 150, 150, 1, 5, 20000, 0},       /* links, half full */
        {5, 150, 150, 1, 9, 20000, 63},       /* nearly full: a queue */
        {60, 300, 120000, 50, 5, 5000, 1},    /* a slow memory now and then */
        {9, 2000, 3000, 2, 12, 10000, 0},     /* the ring has to grow */
        {30, 64, 90000, 3, 40, 3000, 0},      /* much is far */
        {200, 1, 70000, 4, 69, 2000, 17},     /* about as far as the largest ring */
        {3000, 500, 5000, 5, 200, 300, 0},    /* idle times; longer than a word */
        {1000, 100, 66000, 5, 3000, 150, 0},  /* very long */
        {0, 200, 100000, 10, 20, 2000, 1000}, /* no time passes */
        {1, 1, 1, 1, 1, 2000, 0},             /* a cycle each */
    };

    for (size_t i = 0; i < ARRAY_SIZE(mixes); i++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            follow(&mixes[i], seed);
}

/* ---- misuse --------------------------------------------------------------------------------- */

#ifndef NDEBUG
static bool aborts(sim_cycle floor, sim_cycle at)
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct calendar s;

        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        calendar_init(&s, NULL);
        calendar_take(&s, 100, 100, 5);
        calendar_take(&s, floor, at, 5);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void times_before_the_floor_are_caught(void **state)
{
    (void)state;
    assert_false(aborts(100, 100));
    assert_false(aborts(50, 100)); /* the earlier floor holds on */
    assert_true(aborts(100, 99));
    assert_true(aborts(50, 99)); /* it was promised that nobody would ask */
    assert_true(aborts(2000, 1999));
    assert_true(aborts(0, UINT64_MAX - 4)); /* would not end in 64 bits */
    assert_false(aborts(0, UINT64_MAX - 5));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_calendar_gives_what_is_asked),
        cmocka_unit_test(it_is_free_at_the_end_and_not_a_cycle_before),
        cmocka_unit_test(a_gap_is_used_where_it_is_long_enough),
        cmocka_unit_test(gaps_of_every_length_at_every_place_are_found),
        cmocka_unit_test(no_cycles_take_nothing),
        cmocka_unit_test(what_is_taken_stays_taken_when_the_ring_turns),
        cmocka_unit_test(a_long_idle_time_frees_everything),
        cmocka_unit_test(far_times_are_kept_exactly),
        cmocka_unit_test(far_gaps_are_found_too),
        cmocka_unit_test(a_reservation_longer_than_any_ring_is_kept),
        cmocka_unit_test(what_was_far_and_is_partly_over_takes_what_is_left),
        cmocka_unit_test(a_saturated_calendar_takes_little_memory),
        cmocka_unit_test(one_that_was_freed_is_as_new),
        cmocka_unit_test(random_reservations_are_as_defined),
#ifndef NDEBUG
        cmocka_unit_test(times_before_the_floor_are_caught),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
