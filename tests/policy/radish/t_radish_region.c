/* t_radish_region.c - what ClearHistory and CopyHistory do to the histories in caches and with the
 * software manager, and what they cost there. Copies in the caches, moves: t_radish_heap.c.
 *
 *     t_radish_region [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "swmanager/swmanager_int.h"
#include "tests/frame/mutant_arg.h"
#include "tests/policy/radish/probe.h"

static uint64_t manager_loads(const struct probe *p)
{
    return watch_stat(&p->w, "manager.loads");
}

static void a_clear_looks_each_line_up_once(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    step(&p, (struct event)EV_REGION(CLEAR, 0, A, 4096)); /* a table is there */
    const uint64_t before = manager_loads(&p);
    step(&p, (struct event)EV_REGION(CLEAR, 0, A, 4096));
    assert_int_equal(manager_loads(&p) - before, 1 + 64); /* directory, and an entry a line */
    probe_close(&p);
}

static void a_collector_that_moves_on_leaves_nothing_with_the_manager(void **state)
{
    enum { PAGES = 50 };
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    for (sim_addr page = 0; page < PAGES; page++) {
        const sim_addr at = A + page * 4096;
        for (sim_addr i = 0; i < 8; i++)
            step(&p, READ(0, at + i * 64, 4));
        step(&p, READ(1, at, 4));
        copy(&p, 1, at + 4096, at, 512);
        step(&p, (struct event)EV_REGION(CLEAR, 0, at + 4, 300)); /* lines in part, too */
        step(&p, (struct event)EV_REGION(CLEAR, 0, at, 512));
        step(&p, READ(2, at + 4096, 4)); /* clean */
        step(&p, (struct event)EV_REGION(CLEAR, 0, at + 4096, 512));
    }
    for (sim_addr line = A / 64; line < (A + (PAGES + 1) * 4096) / 64; line++) {
        const struct swm_line *l = swm_line_find(inside(&p.w)->manager, line);
        assert_true(!l || !(l->cores[0] | l->cores[1])); /* nobody may have it in cache */
    }
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    probe_close(&p);
}

static void a_clear_discards_what_is_cached_a_hit_a_line(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 64));
    step(&p, READ(1, A, 16));
    step(&p, (struct event)EV_REGION(CLEAR, 2, A, 8192));
    assert_int_equal(p.f.drops - p.drops, 5);
    GREW(&p, invalidated, 5);
    GREW(&p, parts, 2);
    GREW(&p, lost_dirty, 0);
    assert_int_equal(watch_stat(&p.w, "manager.cleared"), 0); /* nothing was stored before */
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    step(&p, WRITE(3, A, 64));
    RACES(&p, 1); /* of the read by 1; none from here on */
    probe_close(&p);
}

static void a_clear_of_a_part_of_a_line_keeps_the_rest(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 16));
    step(&p, (struct event)EV_REGION(CLEAR, 0, A + 4, 8));
    assert_int_equal(p.f.drops - p.drops, 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 2);
    step(&p, READ(1, A + 4, 8));
    RACES(&p, 0);
    step(&p, READ(1, A + 12, 4));
    RACES(&p, 1);
    probe_close(&p);
}

static void a_copy_evicts_its_source_and_leaves_its_destination_uncached(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 16));
    copy(&p, 1, B, A, 16);
    assert_int_equal(p.f.drops - p.drops, 1);
    assert_int_equal(inside(&p.w)->st.lines, 0);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 8);
    step(&p, WRITE(2, B + 8, 4));
    GREW(&p, outcome[OUTCOME_SOFTWARE], 1);
    RACES(&p, 1);
    assert_int_equal(p.w.race[0].earlier.event, 0);
    probe_close(&p);
}

static void a_copy_to_where_there_is_history_is_an_error_of_the_runtime(void **state)
{
    struct probe p;

    (void)state;
    for (int evicted = 0; evicted < 2; evicted++) {
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, WRITE(0, B + 60, 4));
        if (evicted)
            fake_lose(&p.f, 0, paddr_of(B));
        fake_tell(&p.f, p.w.checker, 0, 0);
        copy(&p, 1, B, A, 128);
        assert_int_equal(p.w.err.code, LARD_TRACE);
        assert_non_null(strstr(p.w.err.text, "event 1"));
        assert_non_null(strstr(p.w.err.text, "0x2003c"));
        assert_non_null(strstr(p.w.err.text, "ClearHistory"));
        probe_close(&p);
    }
    probe_open(&p, "lardish", 4, WITH("view=all-sync"));
    step(&p, WRITE(0, B + 60, 4));
    copy(&p, 1, B, A, 128);
    step(&p, READ(1, B + 60, 4));
    assert_int_equal(p.w.err.code, 0);
    RACES(&p, 0); /* overwritten with nothing */
    probe_close(&p);
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 64));
    copy(&p, 1, A + 32, A, 32); /* and where its own source is, there may be some */
    assert_int_equal(p.w.err.code, LARD_TRACE);
    probe_close(&p);
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 32));
    copy(&p, 1, A + 8, A, 32);
    assert_int_equal(p.w.err.code, 0);
    probe_close(&p);
}

static void a_copy_keeps_others_out_unless_the_world_stands_still(void **state)
{
    const struct event read = READ(2, A, 4);

    (void)state;
    for (int collects = 0; collects < 2; collects++) {
        struct probe p;
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, WRITE(0, A, 4));
        if (collects)
            step(&p, ON(GC_BEGIN, 1, 0));
        const sim_cycle at = 1000000 + 100000 * p.w.number;
        copy(&p, 1, B, A, 64);
        step_at(&p, &read, at + 20); /* while the copy goes on */
        GREW(&p, blocked_requests, !collects);
        assert_int_equal(GROWTH(&p, blocked_cycles) > 0, !collects);
        probe_close(&p);
    }
}

/* Page by page from the end where the regions overlap, as memmove does. */
static void a_copy_over_its_own_source_keeps_what_is_still_to_be_copied(void **state)
{
    enum { PAGE = 4096 };

    (void)state;
    for (int up = 0; up < 2; up++) {
        const sim_addr from = A, to = up ? A + PAGE : A - PAGE;
        struct probe p;
        probe_open(&p, "lardish", 4, DEFAULTS);
        for (sim_addr page = 0; page < 3; page++) /* event 0 is of the first page, and so on */
            step(&p, WRITE(0, from + page * PAGE, 4));
        copy(&p, 1, to, from, 3 * PAGE);
        for (sim_addr page = 0; page < 3; page++) {
            step(&p, READ(2, to + page * PAGE, 4));
            RACES(&p, page + 1);
            assert_int_equal(p.w.race[page].earlier.event, page);
        }
        probe_close(&p);
    }
}

/* Nobody who obeys the rules of a trace clears nothing; where nobody looks, it is nothing. */
static void a_clear_of_no_bytes_clears_nothing(void **state)
{
    const struct drawn d = {.policy = "lardish", .granule = 4};
    const struct event ev[] = {EV_SIZED(WRITE, 0, A, 4), EV_REGION(CLEAR, 1, 0, 0),
                               EV_SIZED(READ, 2, A, 4)};
    struct watch w;

    (void)state;
    open_on(&w, NULL, &d);
    for (size_t i = 0; i < ARRAY_SIZE(ev); i++, w.number++)
        checker_step(w.checker, &ev[i], 0, (struct mem_outcome){0}, 0);
    assert_int_equal(w.races, 1);
    watch_close(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clear_looks_each_line_up_once),
        cmocka_unit_test(a_collector_that_moves_on_leaves_nothing_with_the_manager),
        cmocka_unit_test(a_clear_discards_what_is_cached_a_hit_a_line),
        cmocka_unit_test(a_clear_of_a_part_of_a_line_keeps_the_rest),
        cmocka_unit_test(a_copy_evicts_its_source_and_leaves_its_destination_uncached),
        cmocka_unit_test(a_copy_to_where_there_is_history_is_an_error_of_the_runtime),
        cmocka_unit_test(a_copy_keeps_others_out_unless_the_world_stands_still),
        cmocka_unit_test(a_copy_over_its_own_source_keeps_what_is_still_to_be_copied),
        cmocka_unit_test(a_clear_of_no_bytes_clears_nothing),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
