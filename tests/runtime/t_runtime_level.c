/* t_runtime_level.c - the modelled runtime at the level of LARDx86: regions, what is raw already,
 * and its cost with nobody who listens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/runtime/rig.h"

#include <cmocka.h>

static void a_copy_is_cut_where_either_side_leaves_its_page(void **state)
{
    const struct event copy[] = {{.kind = EV_COPY, .addr = 0x10ff0, .aux = 32, .flags = EVF_MORE},
                                 {.addr = 0x20ff8}};
    const struct event clear = {.kind = EV_CLEAR, .addr = 0x20ff8, .aux = 32};
    struct rig *const g = *state;

    rig_step(g, copy);
    rig_says(g, "piece, copyhistory 20ff8 from 10ff0:8, piece, copyhistory 21000 from 10ff8:8, "
                "piece, copyhistory 21008 from 11000:16, 15 in all");
    rig_step(g, &clear);
    rig_says(g, "piece, clearhistory 20ff8:8, piece, clearhistory 21000:24, 10 in all");
}

static void objects_go_with_their_memory(void **state)
{
    const struct event copy[] = {{.kind = EV_COPY, .addr = 0x8000, .aux = 64, .flags = EVF_MORE},
                                 {.addr = LOCK}};
    const struct event clear = {.kind = EV_CLEAR, .addr = 0x8000, .aux = 64};
    struct rig *const g = *state;

    rig_begin(g, 2);
    rig_step_on(g, EV_ACQUIRE, 0, LOCK);
    rig_step_on(g, EV_RELEASE, 0, LOCK);
    rig_step(g, copy);
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 1, 0x8000);
    rig_says(g, "call, nest, load thread 1's word, thread-word, load moved lock's word, test, "
                "object-word, length, merge-line, load thread 1's clock, "
                "load moved lock's clock:4, entry, newer, report, writevc 0 = 1, "
                "store thread 1's clock, 28 in all");
    rig_step_on(g, EV_RELEASE, 1, 0x8000);
    assert_int_equal(g->runtime->st.live, 3);
    rig_step(g, &clear);
    assert_int_equal(g->runtime->st.live, 2);
    assert_int_equal(g->runtime->st.objects, 0);
    rig_forget(g);
    rig_step_on(g, EV_ACQUIRE, 1, 0x8000);
    rig_says(g, "call, nest, load thread 1's word, thread-word, load moved lock's word, test, "
                "10 in all");
}

static void raw_events_go_straight_through(void **state)
{
    const struct event raw[] = {
        {.kind = EV_THREAD, .tid = 3, .aux = 9},
        {.kind = EV_WRITEVC, .tid = 3, .aux = 3, .addr = 5},
        {.kind = EV_WRITEVC, .tid = 3, .aux = 1, .addr = 2},
        {.kind = EV_READVC, .tid = 3, .aux = 1, .addr = 2},
        {.kind = EV_THREAD_END, .tid = 3},
    };
    struct rig *const g = *state;

    for (size_t i = 0; i < ARRAY_SIZE(raw); i++)
        rig_step(g, &raw[i]);
    rig_says(g, "further thread 3, further writevc 3 = 5, further writevc 1 = 2, "
                "further readvc 1 = 2");
    assert_int_equal(g->instructions + g->loads + g->stores + g->atomics, 0);
}

/* A thread that the trace has named needs no Thread of the runtime. */
static void thread_is_issued_once(void **state)
{
    const struct event thread = {.kind = EV_THREAD, .tid = 0, .aux = 9};
    struct rig *const g = *state;

    rig_step(g, &thread);
    rig_step_on(g, EV_NOTIFY, 0, LOCK);
    rig_says(g, "further thread 0, call, take, load free of 64:16, take-fresh, take-page, "
                "swap heap's end, store fresh of 64, copy-line, store thread 0's clock:4, "
                "new-word, store thread 0's word, 21 in all");
}

/* LARD 5.4: no LARDx86 instructions. The own entry is loaded instead of read from the detector, and
 * an entry that is newer is not reported. */
static void alone_it_loads_what_it_would_have_read(void **state)
{
    const struct event clear = {.kind = EV_CLEAR, .addr = 0x20ff8, .aux = 32};
    struct rig g;

    (void)state;
    rig_open_with(&g, (struct runtime_params){.base = RIG_BASE, .page = 4096, .instructions = true},
                  false, 0);
    rig_step_on(&g, EV_NOTIFY, 0, LOCK);
    rig_says(&g, "call, take, load free of 64:16, take-fresh, take-page, swap heap's end, "
                 "store fresh of 64, copy-line, store thread 0's clock:4, new-word, "
                 "store thread 0's word, 21 in all");
    rig_step_on(&g, EV_NOTIFY, 1, LOCK);
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_forget(&g);
    rig_step_on(&g, EV_RELEASE, 0, LOCK);
    rig_says(&g,
             "call, nest, load thread 0's word, thread-word, load lock's word, test, take, "
             "load free of 64:16, take-fresh, store fresh of 64, copy-line, "
             "load thread 0's clock:4, store lock's clock:4, new-word, store lock's word, tick, "
             "load thread 0's clock:4, store thread 0's clock:4, 31 in all");
    rig_step_on(&g, EV_ACQUIRE, 1, LOCK);
    rig_says(&g, "call, nest, load thread 1's word, thread-word, load lock's word, test, "
                 "object-word, length, merge-line, load thread 1's clock, load lock's clock:4, "
                 "entry, newer, store thread 1's clock, 26 in all");
    rig_step(&g, &clear);
    rig_says(&g, "");
    rig_close(&g);
}

static void instructions_can_be_free(void **state)
{
    struct rig g;

    (void)state;
    rig_open_with(&g, (struct runtime_params){.base = RIG_BASE, .page = 4096}, true, 0);
    rig_begin(&g, 1);
    const sim_cycle before = g.now;
    rig_step_on(&g, EV_ACQUIRE, 0, LOCK);
    rig_says(&g, "call, nest, load thread 0's word, thread-word, load lock's word, test");
    assert_int_equal(g.now - before, 200);
    rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_copy_is_cut_where_either_side_leaves_its_page),
        RIG_TEST(objects_go_with_their_memory),
        RIG_TEST(raw_events_go_straight_through),
        RIG_TEST(thread_is_issued_once),
        cmocka_unit_test(alone_it_loads_what_it_would_have_read),
        cmocka_unit_test(instructions_can_be_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
