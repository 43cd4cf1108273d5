/* t_runtime.c - what the modelled runtime does for each kind of event, step by step: instructions,
 * accesses and LARDx86 instructions, computed by hand from runtime/steps.def.
 *
 * In the log, iN are N instructions, the access or instruction that follows included; L, S and A
 * are loads, stores and atomics with their place (see rig_place) and bytes; R and W are ReadVC and
 * WriteVC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/runtime/runtime_rig.h"

#include <cmocka.h>

enum { LOCK = 0x1000, OTHER = 0x2000, FIELD = 0x3000, BARRIER = 0x4000, CHILD = 0x5000 };

/* A thread begins with its first synchronisation: CALL 2, Thread 1; a clock with its own entry:
 * TAKE 4 and the list's head; no free one: TAKE_FRESH 3, and at first TAKE_PAGE 2, the heap's end;
 * the list's other word; COPY_LINE 3, the line; NEW_WORD 2, the thread's word. An end-of-wait
 * notify has no further cost. */
#define FIRST_BEGIN "i3 thread:0 i5 L:0.0h:16 i6 A:E:8 i1 S:0.0f:8 i4 S:H+0:4 i3 S:T0:8"

static void a_thread_begins_with_a_clock_of_its_own(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_step_on(&g, EV_NOTIFY, 0, LOCK);
    rig_says(&g, FIRST_BEGIN);
    /* The second takes the next block of the core's page, and its clock has two entries. */
    rig_step_on(&g, EV_NOTIFY, 1, LOCK);
    rig_says(&g, "i3 thread:1 i5 L:0.0h:16 i4 S:0.0f:8 i4 S:H+64:8 i3 S:T1:8");
    /* The twentieth has 20 entries: two lines, from a page of blocks of 128 bytes. */
    rig_step_on(&g, EV_NOTIFY, 19, LOCK);
    rig_says(&g, "i3 thread:19 i5 L:0.1h:16 i6 A:E:8 i1 S:0.1f:8 i4 S:H+4096:64 i4 S:H+4160:16 "
                 "i3 S:T19:8");
    /* Nothing more for it. */
    rig_step_on(&g, EV_NOTIFY, 0, LOCK);
    rig_says(&g, "");
    rig_close(&g);
}

/* CALL 2 and NEST 2 before the thread's word; THREAD_WORD 2 before the lock's; TEST 2 after it. */
static void acquiring_a_lock_never_released_is_two_loads(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_says(&g, "i5 L:T0:8 i3 L:@1008:8 i2");
    rig_close(&g);
}

static void the_first_release_allocates_and_copies(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_forget(&g);
    /* TEST 2, TAKE 4; TAKE_FRESH 3; COPY_LINE 3; NEW_WORD 2; TICK 2. */
    rig_step_on(&g, EV_RELEASE, 0, LOCK);
    rig_says(&g, "i5 L:T0:8 i3 L:@1008:8 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+64:4 "
                 "i3 S:@1008:8 i3 R0=1 i1 W0=2 i1 S:H+0:4");
    rig_close(&g);
}

/* One that has released it already: the lock's clock is merged where it is. TEST 2, OBJECT_WORD 2,
 * LENGTH 2, MERGE_LINE 5; ENTRY 3, NEWER 1: of the own entry. */
static void a_later_release_merges_in_place(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_step_on(&g, EV_RELEASE, 0, LOCK);
    rig_forget(&g);
    /* The lock knows nothing that the thread does not. */
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_says(&g, "i5 L:T0:8 i3 L:@1008:8 i12 L:H+0:4 i1 L:H+64:4 i3");
    rig_step_on(&g, EV_RELEASE, 0, LOCK);
    rig_says(&g, "i5 L:T0:8 i3 L:@1008:8 i12 L:H+0:4 i1 L:H+64:4 i5 S:H+64:4 "
                 "i3 R0=2 i1 W0=3 i1 S:H+0:4");
    rig_close(&g);
}

/* 0 hands to 1, 1 releases LOCK with both entries, 2 has neither: two WriteVC of NEWER 1, REPORT 1
 * and themselves, after ENTRY 3 twice. */
static void acquiring_writes_each_newer_entry_once(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 3);
    rig_step_on(&g, EV_ACQUIRE, 0, OTHER);
    rig_step_on(&g, EV_RELEASE, 0, OTHER);
    rig_step_on(&g, EV_ACQUIRE, 1, OTHER);
    rig_step_on(&g, EV_ACQUIRE, 1, LOCK);
    rig_step_on(&g, EV_RELEASE, 1, LOCK); /* its clock: H+256 */
    rig_forget(&g);
    rig_step_on(&g, EV_ACQUIRE, 2, LOCK);
    rig_says(&g,
             "i5 L:T2:8 i3 L:@1008:8 i12 L:H+128:12 i1 L:H+256:8 i9 W0=1 i3 W1=1 i1 S:H+128:12");
    /* A second time, none is newer. */
    rig_step_on(&g, EV_RELEASE, 2, LOCK);
    rig_step_on(&g, EV_ACQUIRE, 1, LOCK);
    rig_forget(&g);
    rig_step_on(&g, EV_RELEASE, 1, LOCK);
    rig_step_on(&g, EV_ACQUIRE, 1, LOCK);
    assert_null(strchr(strrchr(g.log, 'S'), 'W'));
    rig_close(&g);
}

/* Thread 1's clock has 2 entries, the lock's 3: after the merge the thread's has 3, and its word is
 * written. */
static void a_clock_that_grows_writes_its_word(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 3);
    rig_step_on(&g, EV_ACQUIRE, 2, LOCK);
    rig_step_on(&g, EV_RELEASE, 2, LOCK); /* H+192: {0, 0, 1} */
    rig_forget(&g);
    /* ENTRY 9, NEWER 1, REPORT 1. */
    rig_step_on(&g, EV_ACQUIRE, 1, LOCK);
    rig_says(&g, "i5 L:T1:8 i3 L:@1008:8 i12 L:H+64:8 i1 L:H+192:12 i12 W2=1 i1 S:H+64:12 "
                 "i3 S:T1:8");
    rig_close(&g);
}

/* From 16 entries to 17 it moves to a block of two lines: LENGTH 2, TAKE 4; COPY_LINE 3 and the
 * line; then the merge of two lines. */
static void a_clock_that_outgrows_its_block_moves(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_ACQUIRE, 16, LOCK);
    rig_step_on(&g, EV_RELEASE, 16, LOCK); /* its page: H+4096, H+4224 the lock's */
    rig_forget(&g);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_says(&g, "i5 L:T0:8 i3 L:@1008:8 i11 L:0.1h:16 i4 S:0.1f:8 i4 L:H+0:4 i1 S:H+4352:4 "
                 "i6 L:H+4352:4 i1 L:H+4224:64 i49 S:H+4352:64 " /* 16 ENTRYs; it grew */
                 "i6 L:H+4288:4 i6 W16=1 i1 S:H+4416:4 i3 S:T0:8");
    rig_close(&g);
}

static void nested_locks_cost_the_test_of_the_nesting(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_forget(&g);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_says(&g, "i4");
    rig_step_on(&g, EV_RELEASE, 0, LOCK);
    rig_says(&g, "i4");
    /* A wait gives up all of it, without a test. */
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_forget(&g);
    rig_step_on(&g, EV_WAIT_ENTER, 0, LOCK);
    rig_says(&g, "i3 L:T0:8 i3 L:@1008:8 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+64:4 "
                 "i3 S:@1008:8 i3 R0=1 i1 W0=2 i1 S:H+0:4");
    rig_step_on(&g, EV_WAIT_EXIT, 0, LOCK);
    rig_says(&g, "i3 L:T0:8 i3 L:@1008:8 i12 L:H+0:4 i1 L:H+64:4 i3");
    rig_close(&g);
}

/* The read clock has a word of its own and is swapped; an exclusive acquire merges both clocks,
 * line by line together. */
static void readers_release_by_a_swap(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 2);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_step_on(&g, EV_RELEASE, 0, LOCK); /* H+128 */
    rig_step_on(&g, EV_ACQUIRE_SHARED, 0, LOCK);
    rig_forget(&g);
    rig_step_on(&g, EV_RELEASE_SHARED, 0, LOCK); /* NEW_WORD 2; SWAP 2, TICK 2 */
    rig_says(&g, "i5 L:T0:8 i3 L:@1018:8 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+192:4 "
                 "i3 A:@1018:8 i5 R0=2 i1 W0=3 i1 S:H+0:4");
    /* TEST 2, OBJECT_WORD 2 each; LENGTH 2 twice; MERGE_LINE 5; entry 0 is newer in both: one
     * WriteVC. */
    rig_step_on(&g, EV_ACQUIRE, 1, LOCK);
    rig_says(&g, "i5 L:T1:8 i3 L:@1008:8 i5 L:@1018:8 i14 L:H+64:8 i1 L:H+128:4 i4 L:H+192:4 "
                 "i6 W0=2 i1 S:H+64:8");
    rig_close(&g);
}

static void a_volatile_write_makes_a_clock_and_swaps_sixteen_bytes(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 2);
    /* The field and the word beside it at once; TEST 2, TAKE 4; ...; NEW_WORD 2; SWAP 2, TICK 2. */
    rig_step_on(&g, EV_VOLATILE_WRITE, 0, FIELD);
    rig_says(&g, "i3 L:T0:8 i3 L:@3000:16 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+128:4 "
                 "i3 A:@3000:16 i5 R0=1 i1 W0=2 i1 S:H+0:4");
    /* Again: TEST 2, OBJECT_WORD 2, LENGTH 2, TAKE 4; MERGE_LINE 5; ENTRY 3, NEWER 1. */
    rig_step_on(&g, EV_VOLATILE_WRITE, 0, FIELD);
    rig_says(&g, "i3 L:T0:8 i3 L:@3000:16 i11 L:0.0h:16 i4 S:0.0f:8 i6 L:H+0:4 i1 L:H+128:4 "
                 "i5 S:H+192:4 i3 A:@3000:16 i5 R0=2 i1 W0=3 i1 S:H+0:4");
    /* Garbage is used again at once here; a free block is found by its list: the next one's address
     * is in it. */
    rig_step_on(&g, EV_VOLATILE_WRITE, 1, FIELD + 4);
    rig_says(&g, "i3 L:T1:8 i3 L:@3000:16 i7 L:0.0h:16 i1 L:H+128:8 i1 S:0.0h:8 i4 L:H+64:8 "
                 "i1 S:H+128:8 i3 A:@3000:16 i5 R1=1 i1 W1=2 i1 S:H+68:4");
    rig_close(&g);
}

static void a_volatile_read_merges(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 2);
    rig_step_on(&g, EV_VOLATILE_READ, 1, FIELD);
    rig_says(&g, "i3 L:T1:8 i3 L:@3000:16 i2");
    rig_step_on(&g, EV_VOLATILE_WRITE, 0, FIELD); /* H+128 */
    rig_forget(&g);
    rig_step_on(&g, EV_VOLATILE_READ, 1, FIELD);
    rig_says(&g, "i3 L:T1:8 i3 L:@3000:16 i12 L:H+64:8 i1 L:H+128:4 i6 W0=1 i1 S:H+64:8");
    rig_close(&g);
}

static void an_atomic_does_both_with_one_load_of_its_words(void **state)
{
    const unsigned order = ORDER_ACQ_REL << EVF_ORDER_SHIFT;
    const struct event rmw = {
        .kind = EV_RMW, .tid = 0, .addr = FIELD, .size = 8, .flags = (uint16_t)order};
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step(&g, &rmw);
    rig_says(&g, "i3 L:T0:8 i3 L:@3000:16 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+64:4 "
                 "i3 A:@3000:16 i5 R0=1 i1 W0=2 i1 S:H+0:4");
    /* Merge: OBJECT_WORD after TEST, LENGTH, MERGE_LINE; ENTRY 3; publish: LENGTH 2, TAKE 4. */
    rig_step(&g, &rmw);
    rig_says(&g, "i3 L:T0:8 i3 L:@3000:16 i12 L:H+0:4 i1 L:H+64:4 i10 L:0.0h:16 i4 S:0.0f:8 "
                 "i6 L:H+0:4 i1 L:H+64:4 i5 S:H+128:4 i3 A:@3000:16 i5 R0=2 i1 W0=3 i1 S:H+0:4");
    rig_close(&g);
}

/* The child's word gets a copy; TAKE 4 follows the thread's word at once. */
static void a_fork_copies_and_the_child_tells_its_clock(void **state)
{
    const struct event read = {.kind = EV_READ, .tid = 1, .addr = 0x9000, .size = 4};
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    assert_false(runtime_pending(g.runtime, 1));
    rig_step_naming(&g, EV_FORK, 0, 1);
    rig_says(&g, "i3 L:T0:8 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+64:4 i3 S:T1:8 "
                 "i3 R0=1 i1 W0=2 i1 S:H+0:4");
    assert_true(runtime_pending(g.runtime, 1));
    /* CALL 2, Thread; its word; THREAD_WORD 2, COPY_LINE 3, its line; BORN_ENTRY 2, REPORT 1; the
     * own entry is a second one: COPY_LINE 3 and the line, NEW_WORD 2 and the word. */
    rig_step(&g, &read);
    rig_says(&g, "i3 thread:1 i1 L:T1:8 i6 L:H+64:4 i4 W0=1 i4 S:H+64:8 i3 S:T1:8");
    assert_false(runtime_pending(g.runtime, 1));
    rig_step(&g, &read);
    rig_says(&g, "");
    rig_close(&g);
}

static void a_join_merges_the_final_clock(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    rig_step_naming(&g, EV_FORK, 0, 1);
    rig_step_on(&g, EV_THREAD_START, 1, 0);
    rig_forget(&g);
    /* The word moves: CALL 2, load; THREAD_WORD 2, store. */
    rig_step_on(&g, EV_THREAD_END, 1, 0);
    rig_says(&g, "i3 L:T1:8 i3 S:F1:8");
    /* TEST 2, OBJECT_WORD 2, LENGTH 2, MERGE_LINE 5; ENTRY 6, NEWER 1, REPORT 1; it grows. */
    rig_step_naming(&g, EV_JOIN, 0, 1);
    rig_says(&g, "i3 L:T0:8 i3 L:F1:8 i12 L:H+0:4 i1 L:H+64:8 i9 W1=1 i1 S:H+0:8 i3 S:T0:8");
    rig_close(&g);
}

static void barrier_step(struct rig *g, enum ev_kind kind, sim_tid tid)
{
    rig_step(g, &(struct event){.kind = (uint8_t)kind, .tid = tid, .addr = BARRIER, .aux = 7});
}

static void a_barrier_of_three_merges_in_place(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 3);
    barrier_step(&g, EV_BARRIER_ARRIVE, 0);
    rig_says(&g, "i3 L:T0:8 i3 L:@4008:8 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+192:4 "
                 "i3 S:@4008:8 i3 R0=1 i1 W0=2 i1 S:H+0:4");
    /* One entry in both: ENTRY 3; the second is new: the line, NEW_WORD 2 and the word. */
    barrier_step(&g, EV_BARRIER_ARRIVE, 1);
    rig_says(&g, "i3 L:T1:8 i3 L:@4008:8 i12 L:H+64:8 i1 L:H+192:4 i4 S:H+192:8 i3 S:@4008:8 "
                 "i3 R1=1 i1 W1=2 i1 S:H+68:4");
    barrier_step(&g, EV_BARRIER_ARRIVE, 2);
    rig_says(&g, "i3 L:T2:8 i3 L:@4008:8 i12 L:H+128:12 i1 L:H+192:8 i7 S:H+192:12 i3 S:@4008:8 "
                 "i3 R2=1 i1 W2=2 i1 S:H+136:4");
    /* ENTRY 9, NEWER 1, REPORT 1; the next one 3. */
    barrier_step(&g, EV_BARRIER_DEPART, 0);
    rig_says(&g, "i3 L:T0:8 i3 L:@4008:8 i12 L:H+0:4 i1 L:H+192:12 i12 W1=1 i3 W2=1 i1 S:H+0:12 "
                 "i3 S:T0:8");
    barrier_step(&g, EV_BARRIER_DEPART, 2);
    rig_says(&g, "i3 L:T2:8 i3 L:@4008:8 i12 L:H+128:12 i1 L:H+192:12 i12 W0=1 i3 W1=1 i1 "
                 "S:H+128:12");
    assert_int_equal(g.runtime->st.live, 4);
    barrier_step(&g, EV_BARRIER_DEPART, 1);
    assert_int_equal(g.runtime->st.live, 3); /* the last to leave drops the clock */
    rig_close(&g);
}

static void a_class_is_like_a_volatile_without_a_swap(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 2);
    rig_step_on(&g, EV_CLASS_INIT, 0, FIELD);
    rig_says(&g, "i3 L:T0:8 i3 L:@3008:8 i7 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+128:4 "
                 "i3 S:@3008:8 i3 R0=1 i1 W0=2 i1 S:H+0:4");
    rig_step_on(&g, EV_CLASS_USE, 1, FIELD);
    rig_says(&g, "i3 L:T1:8 i3 L:@3008:8 i12 L:H+64:8 i1 L:H+128:4 i6 W0=1 i1 S:H+64:8");
    rig_close(&g);
}

/* Two accesses of one variable and one of another: two clocks. VARIABLE 3 before each word; all are
 * merged in one loop; one increment. */
static void a_commit_merges_the_clock_of_each_variable(void **state)
{
    const struct event in[] = {
        {.kind = EV_READ, .tid = 0, .addr = 0x7000, .size = 4, .flags = EVF_IN_TXN},
        {.kind = EV_WRITE, .tid = 0, .addr = 0x7000, .size = 4, .flags = EVF_IN_TXN},
        {.kind = EV_WRITE, .tid = 0, .addr = 0x7020, .size = 4, .flags = EVF_IN_TXN},
    };
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_begin(&g, 1);
    for (size_t i = 0; i < ARRAY_SIZE(in); i++)
        rig_step(&g, &in[i]);
    rig_step_on(&g, EV_TXN_COMMIT, 0, 0);
    rig_says(&g, "i3 L:T0:8 i6 L:@7008:8 i6 L:@7028:8 " /* TEST 2 before VARIABLE 3 */
                 "i10 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+64:4 i3 S:@7008:8 "
                 "i8 L:0.0h:16 i4 S:0.0f:8 i4 L:H+0:4 i1 S:H+128:4 i3 S:@7028:8 "
                 "i3 R0=1 i1 W0=2 i1 S:H+0:4");
    rig_step_on(&g, EV_TXN_COMMIT, 0, 0); /* an empty one: CALL */
    rig_says(&g, "i2");
    rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_begins_with_a_clock_of_its_own),
        cmocka_unit_test(acquiring_a_lock_never_released_is_two_loads),
        cmocka_unit_test(the_first_release_allocates_and_copies),
        cmocka_unit_test(a_later_release_merges_in_place),
        cmocka_unit_test(acquiring_writes_each_newer_entry_once),
        cmocka_unit_test(a_clock_that_grows_writes_its_word),
        cmocka_unit_test(a_clock_that_outgrows_its_block_moves),
        cmocka_unit_test(nested_locks_cost_the_test_of_the_nesting),
        cmocka_unit_test(readers_release_by_a_swap),
        cmocka_unit_test(a_volatile_write_makes_a_clock_and_swaps_sixteen_bytes),
        cmocka_unit_test(a_volatile_read_merges),
        cmocka_unit_test(an_atomic_does_both_with_one_load_of_its_words),
        cmocka_unit_test(a_fork_copies_and_the_child_tells_its_clock),
        cmocka_unit_test(a_join_merges_the_final_clock),
        cmocka_unit_test(a_barrier_of_three_merges_in_place),
        cmocka_unit_test(a_class_is_like_a_volatile_without_a_swap),
        cmocka_unit_test(a_commit_merges_the_clock_of_each_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
