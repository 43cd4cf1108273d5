/* t_again.c - which accesses repeat one in the same release-free region, and which locations there
 * are, on events by hand. It agrees with FastTrack where that counts the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/measure/again.c" /* the command line is in no library */
#include "tests/frame/watch.h"

/* A release ends a region. */
static struct again_count count(const struct event *rec, size_t n)
{
    struct again *p = again_new(4);

    for (size_t i = 0; i < n; i += event_records(&rec[i]))
        if (event_is_access(&rec[i]))
            again_access(p, &rec[i]);
        else if (rec[i].kind == EV_RELEASE)
            again_release(p, rec[i].tid);
        else
            again_move(p, &rec[i]);
    const struct again_count c = *again_count(p);
    again_free(p);
    return c;
}

static void a_repeat_is_of_the_same_kind_thread_place_and_region(void **state)
{
    const struct again_count c =
        count(EVENTS(EV_READ4(0, 0x10), EV_READ4(0, 0x10), EV_READ4(0, 0x14), EV_WRITE4(0, 0x10),
                     EV_WRITE4(0, 0x10), EV_READ4(0, 0x10), EV_ON(RELEASE, 0, 1), EV_READ4(0, 0x10),
                     EV_WRITE4(0, 0x10), EV_READ4(0, 0x10)));

    (void)state;
    assert_int_equal(c.reads, 6);
    assert_int_equal(c.reads_again, 3);
    assert_int_equal(c.writes, 3);
    assert_int_equal(c.writes_again, 1);
    assert_int_equal(c.locations, 2);
    assert_int_equal(c.elements, 0);
}

static void another_threads_release_ends_no_region(void **state)
{
    const struct again_count c =
        count(EVENTS(EV_READ4(0, 0x10), EV_READ4(1, 0x10), EV_ON(RELEASE, 1, 1), EV_READ4(0, 0x10),
                     EV_READ4(1, 0x10), EV_READ4(1, 0x10)));

    (void)state;
    assert_int_equal(c.reads_again, 2);
}

static void any_number_of_threads_may_read(void **state)
{
    enum { THREADS = 40 };
    struct event rec[3 * THREADS];

    (void)state;
    for (unsigned i = 0; i < 3 * THREADS; i++)
        rec[i] = (struct event)EV_READ4((sim_tid)(i % THREADS), 0x10);
    assert_int_equal(count(rec, 3 * THREADS).reads_again, 2 * THREADS);
    for (unsigned i = THREADS; i < 2 * THREADS; i++)
        rec[i] = (struct event)EV_ON(RELEASE, (sim_tid)(i % THREADS), 1);
    assert_int_equal(count(rec, 3 * THREADS).reads_again, 0);
}

static void a_write_of_another_thread_takes_the_place(void **state)
{
    const struct again_count c =
        count(EVENTS(EV_WRITE4(0, 0x10), EV_WRITE4(1, 0x10), EV_WRITE4(0, 0x10)));

    (void)state;
    assert_int_equal(c.writes_again, 0);
    assert_int_equal(c.locations, 1);
}

static void a_clear_begins_a_new_life_and_a_copy_takes_it_along(void **state)
{
    const struct again_count cleared =
        count(EVENTS(EV_READ4(0, 0x10), EV_REGION(CLEAR, 0, 0x10, 16), EV_READ4(0, 0x10)));
    const struct again_count moved =
        count(EVENTS(EV_READ4(0, 0x10), EV_READ4(1, 0x10), EV_READ4(2, 0x10), EV_READ4(3, 0x10),
                     EV_MOVE(0, 0x40, 0x10, 16), EV_REGION(CLEAR, 0, 0x10, 16), EV_READ4(0, 0x40),
                     EV_READ4(3, 0x40), EV_READ4(0, 0x10)));

    (void)state;
    assert_int_equal(cleared.reads_again, 0);
    assert_int_equal(cleared.locations, 2);
    assert_int_equal(moved.reads_again, 2);
    assert_int_equal(moved.locations, 2);
}

static void elements_are_told_by_their_flag(void **state)
{
    struct event rec[] = {EV_READ4(0, 0x10), EV_WRITE4(0, 0x14), EV_WRITE4(0, 0x18)};

    (void)state;
    rec[1].flags = EVF_ARRAY;
    assert_int_equal(count(rec, 3).locations, 3);
    assert_int_equal(count(rec, 3).elements, 1);
}

/* One thread: no reads are shared, so that FastTrack's statistic has all of them, but for reads
 * after a write, which forgets them there. Reads and writes are of places apart. */
static void it_agrees_with_fasttrack(void **state)
{
    static const char *const none[] = {NULL};
    enum { EVENTS_N = 3000 };
    struct event rec[EVENTS_N];
    struct rng r;
    struct watch w;

    (void)state;
    rng_seed(&r, 5);
    for (size_t i = 0; i < EVENTS_N; i++) {
        const sim_addr at = 0x100 + 4 * rng_below(&r, 20);
        const bool writes = rng_chance(&r, 1, 3);
        rec[i] = writes ? (struct event)EV_WRITE4(0, at + 0x1000) : (struct event)EV_READ4(0, at);
        if (i % 100 == 98)
            rec[i] = (struct event)EV_ON(ACQUIRE, 0, 1);
        if (i % 100 == 99)
            rec[i] = (struct event)EV_ON(RELEASE, 0, 1);
    }
    watch_open(&w, "fasttrack", 4, none);
    watch_run(&w, rec, EVENTS_N);
    const uint64_t same = watch_stat(&w, "same-epoch");
    watch_close(&w);
    for (size_t i = 98; i < EVENTS_N; i += 100) /* an acquire changes nothing here */
        rec[i] = (struct event)EV_REGION(CLEAR, 0, 0x900000, 4);
    const struct again_count c = count(rec, EVENTS_N);
    assert_int_equal(c.reads_again + c.writes_again, same);
    assert_true(c.reads_again > 500 && c.writes_again > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeat_is_of_the_same_kind_thread_place_and_region),
        cmocka_unit_test(another_threads_release_ends_no_region),
        cmocka_unit_test(any_number_of_threads_may_read),
        cmocka_unit_test(a_write_of_another_thread_takes_the_place),
        cmocka_unit_test(a_clear_begins_a_new_life_and_a_copy_takes_it_along),
        cmocka_unit_test(elements_are_told_by_their_flag),
        cmocka_unit_test(it_agrees_with_fasttrack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
