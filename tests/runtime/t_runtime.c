/* t_runtime.c - what the modelled runtime does for each kind of event, step by step: the steps of
 * runtime/steps.def, accesses and LARDx86 instructions, in the words of rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/runtime/rig.h"

#include <cmocka.h>

/* A thread begins with its first synchronisation: a clock with its own entry, in a block that is
 * taken from the core's list or page. An end-of-wait notify has no further cost. */
static void a_thread_begins_with_a_clock_of_its_own(void **state)
{
    struct rig *const g = *state;

    rig_step_on(g, EV_NOTIFY, 0, LOCK);
    rig_says(g, "call, thread 0, take, load free of 64:16, take-fresh, take-page, swap heap's end, "
                "store fresh of 64, copy-line, store thread 0's clock:4, new-word, "
                "store thread 0's word, 22 in all");
    /* The second takes the next block of the core's page, and its clock has two entries. */
    rig_step_on(g, EV_NOTIFY, 1, LOCK);
    rig_says(g, "call, thread 1, take, load free of 64:16, take-fresh, store fresh of 64, "
                "copy-line, store thread 1's clock, new-word, store thread 1's word, 19 in all");
    /* The twentieth has 20 entries: two lines, from a page of blocks of 128 bytes. */
    rig_step_on(g, EV_NOTIFY, 19, LOCK);
    rig_says(g, "call, thread 19, take, load free of 128:16, take-fresh, take-page, "
                "swap heap's end, store fresh of 128, copy-line, store thread 19's clock:64, "
                "copy-line, store thread 19's clock+64:16, new-word, store thread 19's word, "
                "26 in all");
    assert_int_equal(g->runtime->actor[0].at.at, RIG_BASE + RT_HEAP_AT);
    assert_int_equal(g->runtime->actor[1].at.at, RIG_BASE + RT_HEAP_AT + RT_LINE);
    assert_int_equal(g->runtime->actor[19].at.at, RIG_BASE + RT_HEAP_AT + RT_PAGE);
    /* Nothing more for it. */
    rig_step_on(g, EV_NOTIFY, 0, LOCK);
    rig_says(g, "");
}

static void acquiring_a_lock_never_released_is_two_loads(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_says(g, "call, nest, load thread 0's word, thread-word, load lock's word, test, 10 in all");
}

static void the_first_release_allocates_and_copies(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_says(g, "call, nest, load thread 0's word, thread-word, load lock's word, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store lock's clock:4, new-word, store lock's word, tick, "
                "readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 32 in all");
}

/* One that has released it already: the lock's clock is merged where it is. */
static void a_later_release_merges_in_place(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_forget(g);
    /* The lock knows nothing that the thread does not. */
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_says(g, "call, nest, load thread 0's word, thread-word, load lock's word, test, "
                "object-word, length, merge-line, load thread 0's clock:4, load lock's clock:4, "
                "entry, 24 in all");
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_says(g, "call, nest, load thread 0's word, thread-word, load lock's word, test, "
                "object-word, length, merge-line, load thread 0's clock:4, load lock's clock:4, "
                "entry, newer, store lock's clock:4, tick, readvc 0 = 2, writevc 0 = 3, "
                "store thread 0's clock:4, 31 in all");
}

/* 0 hands to 1, 1 releases LOCK with both entries, 2 has neither. */
static void acquiring_writes_each_newer_entry_once(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 3);
    rig_step_on(g, EV_ACQUIRE, 0, OTHER);
    rig_step_on(g, EV_RELEASE, 0, OTHER);
    rig_step_on(g, EV_ACQUIRE, 1, OTHER);
    rig_step_on(g, EV_ACQUIRE, 1, LOCK);
    rig_step_on(g, EV_RELEASE, 1, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 2, LOCK);
    rig_says(g, "call, nest, load thread 2's word, thread-word, load lock's word, test, "
                "object-word, length, merge-line, load thread 2's clock:12, load lock's clock, "
                "2 entry, newer, report, writevc 0 = 1, newer, report, writevc 1 = 1, "
                "store thread 2's clock:12, 34 in all");
    /* A second time, none is newer. */
    rig_step_on(g, EV_RELEASE, 2, LOCK);
    rig_step_on(g, EV_ACQUIRE, 1, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_RELEASE, 1, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 1, LOCK);
    rig_says(g, "call, nest, load thread 1's word, thread-word, load lock's word, test, "
                "object-word, length, merge-line, load thread 1's clock:12, load lock's clock:12, "
                "3 entry, 30 in all");
}

/* Thread 1's clock has 2 entries, the lock's 3: after the merge the thread's has 3, and its word is
 * written. */
static void a_clock_that_grows_writes_its_word(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 3);
    rig_step_on(g, EV_ACQUIRE, 2, LOCK);
    rig_step_on(g, EV_RELEASE, 2, LOCK); /* its clock: {0, 0, 1} */
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 1, LOCK);
    rig_says(g, "call, nest, load thread 1's word, thread-word, load lock's word, test, "
                "object-word, length, merge-line, load thread 1's clock, load lock's clock:12, "
                "3 entry, newer, report, writevc 2 = 1, store thread 1's clock:12, new-word, "
                "store thread 1's word, 37 in all");
}

/* From 16 entries to 17 it moves to a block of two lines; then two lines are merged. */
static void a_clock_that_outgrows_its_block_moves(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step_on(g, EV_ACQUIRE, 16, LOCK);
    rig_step_on(g, EV_RELEASE, 16, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_says(g, "call, nest, load thread 0's word, thread-word, load lock's word, test, "
                "object-word, length, take, load free of 128:16, take-fresh, store fresh of 128, "
                "copy-line, load block+0:4, store thread 0's clock:4, merge-line, "
                "load thread 0's clock:4, load lock's clock:64, 16 entry, "
                "store thread 0's clock:64, merge-line, load lock's clock+64:4, entry, newer, "
                "report, writevc 16 = 1, store thread 0's clock+64:4, new-word, "
                "store thread 0's word, 100 in all");
}

static void nested_locks_cost_the_test_of_the_nesting(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_says(g, "call, nest, 4 in all");
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_says(g, "call, nest, 4 in all");
    /* A wait gives up all of it, without a test. */
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_WAIT_ENTER, 0, LOCK);
    rig_says(g, "call, load thread 0's word, thread-word, load lock's word, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store lock's clock:4, new-word, store lock's word, tick, "
                "readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 30 in all");
    rig_step_on(g, EV_WAIT_EXIT, 0, LOCK);
    rig_says(g,
             "call, load thread 0's word, thread-word, load lock's word, test, object-word, "
             "length, merge-line, load thread 0's clock:4, load lock's clock:4, entry, 22 in all");
}

/* The read clock has a word of its own and is swapped; an exclusive acquire merges both clocks,
 * line by line together. */
static void readers_release_by_a_swap(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 2);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_step_on(g, EV_ACQUIRE_SHARED, 0, LOCK);
    rig_forget(g);
    rig_step_on(g, EV_RELEASE_SHARED, 0, LOCK);
    rig_says(g, "call, nest, load thread 0's word, thread-word, load lock's read word, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store lock's read clock:4, new-word, "
                "swap lock's read word, swap, tick, readvc 0 = 2, writevc 0 = 3, "
                "store thread 0's clock:4, 34 in all");
    /* Entry 0 is newer in both: one WriteVC. */
    rig_step_on(g, EV_ACQUIRE, 1, LOCK);
    rig_says(g, "call, nest, load thread 1's word, thread-word, load lock's word, test, "
                "object-word, load lock's read word, test, object-word, 2 length, merge-line, "
                "load thread 1's clock, load lock's clock:4, entry, load lock's read clock:4, "
                "entry, newer, report, writevc 0 = 2, store thread 1's clock, 39 in all");
}

static void a_volatile_write_makes_a_clock_and_swaps_sixteen_bytes(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 2);
    /* The field and the word beside it at once. */
    rig_step_on(g, EV_VOLATILE_WRITE, 0, FIELD);
    rig_says(g, "call, load thread 0's word, thread-word, load field:16, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store field's clock:4, new-word, swap field:16, swap, "
                "tick, readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 32 in all");
    /* Again: merged from the clock that is replaced. */
    rig_step_on(g, EV_VOLATILE_WRITE, 0, FIELD);
    rig_says(g, "call, load thread 0's word, thread-word, load field:16, test, object-word, "
                "length, take, load free of 64:16, take-fresh, store fresh of 64, merge-line, "
                "load thread 0's clock:4, load block+128:4, entry, newer, store field's clock:4, "
                "new-word, swap field:16, swap, tick, readvc 0 = 2, writevc 0 = 3, "
                "store thread 0's clock:4, 43 in all");
    /* Garbage is used again at once here; a free block is found by its list: the next one's address
     * is in it. */
    rig_step_on(g, EV_VOLATILE_WRITE, 1, FIELD + 4);
    rig_says(g, "call, load thread 1's word, thread-word, load field:16, test, take, "
                "load free of 64:16, load block+128, store free of 64, copy-line, "
                "load thread 1's clock, store block+128, new-word, swap field:16, swap, tick, "
                "readvc 1 = 1, writevc 1 = 2, store thread 1's clock+4:4, 30 in all");
}

static void a_volatile_read_merges(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 2);
    rig_step_on(g, EV_VOLATILE_READ, 1, FIELD);
    rig_says(g, "call, load thread 1's word, thread-word, load field:16, test, 8 in all");
    rig_step_on(g, EV_VOLATILE_WRITE, 0, FIELD);
    rig_forget(g);
    rig_step_on(g, EV_VOLATILE_READ, 1, FIELD);
    rig_says(g, "call, load thread 1's word, thread-word, load field:16, test, object-word, "
                "length, merge-line, load thread 1's clock, load field's clock:4, entry, newer, "
                "report, writevc 0 = 1, store thread 1's clock, 26 in all");
}

static void an_atomic_does_both_with_one_load_of_its_words(void **state)
{
    const unsigned order = ORDER_ACQ_REL << EVF_ORDER_SHIFT;
    const struct event rmw = {
        .kind = EV_RMW, .tid = 0, .addr = FIELD, .size = 8, .flags = (uint16_t)order};
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step(g, &rmw);
    rig_says(g, "call, load thread 0's word, thread-word, load field:16, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store field's clock:4, new-word, swap field:16, swap, "
                "tick, readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 32 in all");
    /* Again: a merge, then a publication. */
    rig_step(g, &rmw);
    rig_says(g, "call, load thread 0's word, thread-word, load field:16, test, object-word, "
                "length, merge-line, load thread 0's clock:4, load block+64:4, entry, length, "
                "take, load free of 64:16, take-fresh, store fresh of 64, merge-line, "
                "load thread 0's clock:4, load block+64:4, entry, newer, store field's clock:4, "
                "new-word, swap field:16, swap, tick, readvc 0 = 2, writevc 0 = 3, "
                "store thread 0's clock:4, 55 in all");
}

/* The child's word gets a copy. */
static void a_fork_copies_and_the_child_tells_its_clock(void **state)
{
    const struct event read = {.kind = EV_READ, .tid = 1, .addr = 0x9000, .size = 4};
    struct rig *const g = *state;

    rig_begin(g, 1);
    assert_false(runtime_pending(g->runtime, 1));
    rig_step_naming(g, EV_FORK, 0, 1);
    rig_says(g, "call, load thread 0's word, thread-word, take, load free of 64:16, take-fresh, "
                "store fresh of 64, copy-line, load thread 0's clock:4, "
                "store thread 1's first clock:4, new-word, store thread 1's word, tick, "
                "readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 27 in all");
    assert_true(runtime_pending(g->runtime, 1));
    /* The own entry is a second one: the line and the word are stored. */
    rig_step(g, &read);
    rig_says(g, "call, thread 1, load thread 1's word, thread-word, copy-line, "
                "load thread 1's clock:4, born-entry, report, writevc 0 = 1, copy-line, "
                "store thread 1's clock, new-word, store thread 1's word, 21 in all");
    assert_false(runtime_pending(g->runtime, 1));
    rig_step(g, &read);
    rig_says(g, "");
}

static void a_join_merges_the_final_clock(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step_naming(g, EV_FORK, 0, 1);
    rig_step_on(g, EV_THREAD_START, 1, 0);
    rig_forget(g);
    /* The word moves. */
    rig_step_on(g, EV_THREAD_END, 1, 0);
    rig_says(g, "call, load thread 1's word, thread-word, store thread 1's final word, 6 in all");
    /* The clock grows. */
    rig_step_naming(g, EV_JOIN, 0, 1);
    rig_says(g, "call, load thread 0's word, thread-word, load thread 1's final word, test, "
                "object-word, length, merge-line, load thread 0's clock:4, "
                "load thread 1's final clock, 2 entry, newer, report, writevc 1 = 1, "
                "store thread 0's clock, new-word, store thread 0's word, 32 in all");
}

static void barrier_step(struct rig *g, enum ev_kind kind, sim_tid tid)
{
    rig_step(g, &(struct event){.kind = (uint8_t)kind, .tid = tid, .addr = BARRIER, .aux = 7});
}

static void a_barrier_of_three_merges_in_place(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 3);
    barrier_step(g, EV_BARRIER_ARRIVE, 0);
    rig_says(g, "call, load thread 0's word, thread-word, load barrier's word, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store barrier's clock:4, new-word, store barrier's word, "
                "tick, readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 30 in all");
    /* One entry is in both, the second is new. */
    barrier_step(g, EV_BARRIER_ARRIVE, 1);
    rig_says(g, "call, load thread 1's word, thread-word, load barrier's word, test, object-word, "
                "length, merge-line, load thread 1's clock, load barrier's clock:4, entry, "
                "store barrier's clock, new-word, store barrier's word, tick, readvc 1 = 1, "
                "writevc 1 = 2, store thread 1's clock+4:4, 31 in all");
    barrier_step(g, EV_BARRIER_ARRIVE, 2);
    rig_says(g, "call, load thread 2's word, thread-word, load barrier's word, test, object-word, "
                "length, merge-line, load thread 2's clock:12, load barrier's clock, 2 entry, "
                "store barrier's clock:12, new-word, store barrier's word, tick, readvc 2 = 1, "
                "writevc 2 = 2, store thread 2's clock+8:4, 34 in all");
    barrier_step(g, EV_BARRIER_DEPART, 0);
    rig_says(g, "call, load thread 0's word, thread-word, load barrier's word, test, object-word, "
                "length, merge-line, load thread 0's clock:4, load barrier's clock:12, 3 entry, "
                "newer, report, writevc 1 = 1, newer, report, writevc 2 = 1, "
                "store thread 0's clock:12, new-word, store thread 0's word, 38 in all");
    barrier_step(g, EV_BARRIER_DEPART, 2);
    rig_says(g, "call, load thread 2's word, thread-word, load barrier's word, test, object-word, "
                "length, merge-line, load thread 2's clock:12, load barrier's clock:12, 3 entry, "
                "newer, report, writevc 0 = 1, newer, report, writevc 1 = 1, "
                "store thread 2's clock:12, 35 in all");
    assert_int_equal(g->runtime->st.live, 4);
    barrier_step(g, EV_BARRIER_DEPART, 1);
    assert_int_equal(g->runtime->st.live, 3); /* the last to leave drops the clock */
}

static void a_class_is_like_a_volatile_without_a_swap(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 2);
    rig_step_on(g, EV_CLASS_INIT, 0, FIELD);
    rig_says(g, "call, load thread 0's word, thread-word, load field's word, test, take, "
                "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                "load thread 0's clock:4, store field's clock:4, new-word, store field's word, "
                "tick, readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 30 in all");
    rig_step_on(g, EV_CLASS_USE, 1, FIELD);
    rig_says(g, "call, load thread 1's word, thread-word, load field's word, test, object-word, "
                "length, merge-line, load thread 1's clock, load field's clock:4, entry, newer, "
                "report, writevc 0 = 1, store thread 1's clock, 26 in all");
}

/* Two accesses of one variable and one of another: two clocks. All are
 * merged in one loop; one increment. */
static void a_commit_merges_the_clock_of_each_variable(void **state)
{
    const struct event in[] = {
        {.kind = EV_READ, .tid = 0, .addr = 0x7000, .size = 4, .flags = EVF_IN_TXN},
        {.kind = EV_WRITE, .tid = 0, .addr = 0x7000, .size = 4, .flags = EVF_IN_TXN},
        {.kind = EV_WRITE, .tid = 0, .addr = 0x7020, .size = 4, .flags = EVF_IN_TXN},
    };
    struct rig *const g = *state;

    rig_begin(g, 1);
    for (size_t i = 0; i < ARRAY_SIZE(in); i++)
        rig_step(g, &in[i]);
    rig_step_on(g, EV_TXN_COMMIT, 0, 0);
    rig_says(g, "call, load thread 0's word, thread-word, variable, load x's word, test, variable, "
                "load y's word, test, variable, take, load free of 64:16, take-fresh, "
                "store fresh of 64, copy-line, load thread 0's clock:4, store x's clock:4, "
                "new-word, store x's word, variable, take, load free of 64:16, take-fresh, "
                "store fresh of 64, copy-line, load thread 0's clock:4, store y's clock:4, "
                "new-word, store y's word, tick, readvc 0 = 1, writevc 0 = 2, "
                "store thread 0's clock:4, 62 in all");
    rig_step_on(g, EV_TXN_COMMIT, 0, 0); /* an empty one: CALL */
    rig_says(g, "call, 2 in all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_thread_begins_with_a_clock_of_its_own),
        RIG_TEST(acquiring_a_lock_never_released_is_two_loads),
        RIG_TEST(the_first_release_allocates_and_copies),
        RIG_TEST(a_later_release_merges_in_place),
        RIG_TEST(acquiring_writes_each_newer_entry_once),
        RIG_TEST(a_clock_that_grows_writes_its_word),
        RIG_TEST(a_clock_that_outgrows_its_block_moves),
        RIG_TEST(nested_locks_cost_the_test_of_the_nesting),
        RIG_TEST(readers_release_by_a_swap),
        RIG_TEST(a_volatile_write_makes_a_clock_and_swaps_sixteen_bytes),
        RIG_TEST(a_volatile_read_merges),
        RIG_TEST(an_atomic_does_both_with_one_load_of_its_words),
        RIG_TEST(a_fork_copies_and_the_child_tells_its_clock),
        RIG_TEST(a_join_merges_the_final_clock),
        RIG_TEST(a_barrier_of_three_merges_in_place),
        RIG_TEST(a_class_is_like_a_volatile_without_a_swap),
        RIG_TEST(a_commit_merges_the_clock_of_each_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
