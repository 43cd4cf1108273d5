/* t_runtime_collect.c - what the runtime's clocks cost the allocator and the collector (LARD 4.3.2,
 * 4.3.3), instruction by instruction, and that each part can be left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/runtime/rig.h"

static const struct event new_object[] = {
    {.kind = EV_ALLOC, .addr = OTHER, .aux = 16, .flags = EVF_MORE}, {0}};
static const struct event dead_object = {
    .kind = EV_CLEAR, .addr = OTHER, .aux = 16, .flags = EVF_SYSTEM};
static const struct event moved_object[] = {
    {.kind = EV_COPY, .addr = MOVED, .aux = 16, .flags = EVF_MORE | EVF_SYSTEM}, {.addr = OTHER}};
static const struct event begins = {.kind = EV_GC_BEGIN, .flags = EVF_SYSTEM},
                          ends = {.kind = EV_GC_END, .flags = EVF_SYSTEM};

/* Thread 0 and a lock have clocks. */
static void with_two_clocks(struct rig *g)
{
    rig_begin(g, 1);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_forget(g);
}

static void a_new_object_has_one_more_word(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step(g, new_object);
    rig_says(g, "store other lock's word, 1 in all");
}

static void a_dead_object_is_visited(void **state)
{
    struct rig *const g = *state;

    rig_begin(g, 1);
    rig_step(g, &dead_object);
    rig_says(g, "load other lock, sweep, piece, clearhistory 2000:16, 13 in all");
    struct event own = dead_object;
    own.flags = 0; /* the program's own: nobody has looked for it */
    rig_step(g, &own);
    rig_says(g, "piece, clearhistory 2000:16, 5 in all");
}

/* Without a detector there is no instruction to issue; the work beside it stays (LARD 5.4). */
static void objects_cost_the_same_without_a_detector(void **state)
{
    struct rig g;

    (void)state;
    rig_open_with(
        &g,
        (struct runtime_params){.base = RIG_BASE, .page = 4096, .garbage = 0, .instructions = true},
        false, 0);
    rig_begin(&g, 1);
    rig_step(&g, &dead_object);
    rig_says(&g, "load other lock, sweep, 8 in all");
    rig_step(&g, moved_object);
    rig_says(&g, "load moved lock's word, scan, 3 in all");
    rig_close(&g);
}

static void a_collection_marks_each_clock(void **state)
{
    struct rig *const g = *state;

    with_two_clocks(g);
    rig_step(g, &begins);
    rig_says(g, "");
    rig_step(g, &ends);
    rig_says(g, "load thread 0's clock, trace, store thread 0's clock, load lock's clock, trace, "
                "store lock's clock, 10 in all");
}

static void a_collection_that_moves_copies_each_clock(void **state)
{
    struct rig *const g = *state;

    with_two_clocks(g);
    rig_step(g, &begins);
    rig_step(g, moved_object);
    rig_says(g, "load moved lock's word, scan, piece, copyhistory 2000 from 8000:16, 8 in all");
    rig_step(g, &ends);
    rig_says(g, "load thread 0's clock, trace, store thread 0's clock, load thread 0's clock:4, "
                "copy-line, store thread 0's clock:4, load lock's clock, trace, "
                "store lock's clock, load lock's clock:4, copy-line, store lock's clock:4, "
                "20 in all");
    rig_step(g, &begins); /* the next one moves nothing */
    rig_step(g, &ends);
    rig_says(g, "load thread 0's clock, trace, store thread 0's clock, load lock's clock, trace, "
                "store lock's clock, 10 in all");
}

static void open_without(struct rig *g, uint32_t part)
{
    rig_open_with(
        g,
        (struct runtime_params){
            .base = RIG_BASE, .page = 4096, .garbage = 0, .instructions = true, .without = part},
        true, 0);
}

static void parts_of_memory_can_be_left_out(void **state)
{
    struct rig g;

    (void)state;
    open_without(&g, RT_HEADER);
    rig_begin(&g, 1);
    rig_step(&g, new_object);
    rig_says(&g, "");
    rig_step(&g, moved_object);
    rig_says(&g, "piece, copyhistory 2000 from 8000:16, 5 in all");
    rig_close(&g);
    open_without(&g, RT_SWEEP);
    rig_begin(&g, 1);
    rig_step(&g, &dead_object);
    rig_says(&g, "piece, clearhistory 2000:16, 5 in all");
    rig_close(&g);
    open_without(&g, RT_TRACE);
    with_two_clocks(&g);
    rig_step(&g, &begins);
    rig_step(&g, &ends);
    rig_says(&g, "");
    rig_close(&g);
}

static void parts_of_synchronisation_can_be_left_out(void **state)
{
    struct rig g;

    (void)state;
    open_without(&g, RT_WRAPPERS);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_says(&g, "nest, load thread 0's word, thread-word, load lock's word, test, 8 in all");
    rig_close(&g);
    open_without(&g, RT_WIDE_CAS);
    rig_begin(&g, 1);
    rig_step_on(&g, EV_VOLATILE_WRITE, 0, FIELD);
    rig_says(&g, "call, load thread 0's word, thread-word, load field:16, test, take, "
                 "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
                 "load thread 0's clock:4, store field's clock:4, new-word, store field's word, "
                 "tick, readvc 0 = 1, writevc 0 = 2, store thread 0's clock:4, 30 in all");
    rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_new_object_has_one_more_word),
        RIG_TEST(a_dead_object_is_visited),
        cmocka_unit_test(objects_cost_the_same_without_a_detector),
        RIG_TEST(a_collection_marks_each_clock),
        RIG_TEST(a_collection_that_moves_copies_each_clock),
        cmocka_unit_test(parts_of_memory_can_be_left_out),
        cmocka_unit_test(parts_of_synchronisation_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
