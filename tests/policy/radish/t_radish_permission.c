/* t_radish_permission.c - permission that comes before it is asked for: with a line that the
 * manager has filled, and with the answers of other cores. t_radish and t_verdict hold the
 * verdicts.
 *
 *     t_radish_permission [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/frame/mutant_arg.h"
#include "tests/policy/radish/probe.h"

/* Thread 0 writes one granule and reads another; then no cache has anything of it. */
static void with_the_manager(struct probe *p)
{
    step(p, WRITE(0, A, 4));
    step(p, READ(0, A + 8, 4));
    fake_lose(&p->f, 0, paddr_of(A));
    fake_tell(&p->f, p->w.checker, 0, 0);
    assert_int_equal(swm_granules(inside(&p->w)->manager), 2);
}

static void a_line_that_the_manager_fills_comes_checked(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    with_the_manager(&p);
    step(&p, READ(1, A + 16, 4));
    GREW(&p, outcome[OUTCOME_FILLED], 1);
    GREW(&p, nothing, 0);
    GREW(&p, granted, 15); /* not for the write, which is not ordered */
    assert_int_equal(step(&p, WRITE(1, A + 20, 4)), FAKE_L1);
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, READ(1, A + 8, 4));
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, WRITE(1, A + 8, 4)); /* the read is not ordered either */
    GREW(&p, outcome[OUTCOME_SOFTWARE], 1);
    GREW(&p, need[NEED_READS], 1);
    step(&p, READ(1, A, 4));
    GREW(&p, need[NEED_WRITE], 1);
    RACES(&p, 2);
    step(&p, READ(1, B, 4));
    GREW(&p, nothing, 1);
    probe_close(&p);
}

static void what_is_ordered_comes_with_permission_to_write(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, ON(ACQUIRE, 0, LOCK));
    with_the_manager(&p);
    step(&p, ON(RELEASE, 0, LOCK));
    step(&p, ON(ACQUIRE, 1, LOCK));
    step(&p, READ(1, A, 4));
    GREW(&p, outcome[OUTCOME_FILLED], 1);
    GREW(&p, granted, 16);
    step(&p, WRITE(1, A + 8, 4));
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 1);
    probe_close(&p);
}

static void for_a_read_nobody_looks_into_blocks(void **state)
{
    uint64_t accesses[2];

    (void)state;
    for (int write = 0; write < 2; write++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH("overlap=sum"));
        step(&p, READ(0, A, 4));
        step(&p, READ(1, A, 4));
        fake_lose(&p.f, 0, paddr_of(A));
        fake_tell(&p.f, p.w.checker, 0, 0);
        const uint64_t before = p.f.metadata;
        step(&p, write ? WRITE(2, A + 8, 4) : READ(2, A + 8, 4));
        accesses[write] = p.f.metadata - before;
        GREW(&p, outcome[OUTCOME_FILLED], 1);
        step(&p, READ(2, A, 4));
        GREW(&p, outcome[OUTCOME_PERMISSION], 1);
        step(&p, WRITE(2, A, 4)); /* not ordered either way */
        GREW(&p, need[NEED_READS], 1);
        RACES(&p, 1);
        probe_close(&p);
    }
    assert_int_equal(accesses[1], accesses[0] + 1);
}

/* Thread 0's own read comes back to its core, where thread 1 may write without a check. */
static void who_may_write_hears_of_entries_that_come(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("answers=granules"));
    step(&p, ON(ACQUIRE, 0, LOCK));
    with_the_manager(&p);
    step(&p, ON(RELEASE, 0, LOCK));
    step(&p, ON(ACQUIRE, 1, LOCK));
    step(&p, READ(1, A + 32, 4));
    step(&p, READ(0, A + 40, 4));
    GREW(&p, outcome[OUTCOME_FILLED], 0);
    GREW(&p, lowered, 3); /* for both, and for what is read now */
    step(&p, WRITE(1, A + 8, 4));
    GREW(&p, outcome[OUTCOME_PERMISSION], 0);
    probe_close(&p);
}

static void a_line_and_its_check_are_one_handler(void **state)
{
    sim_cycle cost[2];

    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH("overlap=sum", apart ? "fill=status" : "fill=checks"));
        with_the_manager(&p);
        cost[apart] = step(&p, READ(1, A, 4)); /* it races: no permission comes */
        GREW(&p, outcome[OUTCOME_SOFTWARE], 1);
        RACES(&p, 1);
        probe_close(&p);
    }
    assert_true(cost[1] > cost[0] + 100);
}

/* Another thread's dirty line is stored, and filled for this thread. */
static void a_lazy_flush_and_the_fill_are_one_handler(void **state)
{
    sim_cycle cost[2];

    (void)state;
    for (int enter = 0; enter < 2; enter++) {
        struct probe p;
        const struct event ev = WRITE(4, A, 4);
        probe_open(&p, "lardish", 4,
                   WITH("flush=lazy", enter ? "manager.enter=100" : "manager.enter=0"));
        step(&p, WRITE(0, A, 4));
        p.was = inside(&p.w)->st;
        cost[enter] = step_on(&p.w, &p.f, &ev, 0, 5000000) - 5000000; /* on the same core */
        GREW(&p, lazy_flushes, 1);
        GREW(&p, flushed, 1);
        assert_int_equal(swm_granules(inside(&p.w)->manager), 0); /* stored, and made void */
        RACES(&p, 1);
        probe_close(&p);
    }
    assert_int_equal(cost[1] - cost[0], 100);
}

static void answers_give_permission_for_the_rest_of_the_line(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("overlap=sum"));
    step(&p, WRITE(0, A, 4));
    step(&p, WRITE(0, A + 8, 4));
    step(&p, READ(1, A + 4, 4)); /* the core that wrote gives the data */
    GREW(&p, outcome[OUTCOME_PIGGYBACKED], 1);
    GREW(&p, piggybacked, 64);
    GREW(&p, granted, 14); /* not what was written: it is not ordered */
    GREW(&p, lowered, 14);
    step(&p, READ(1, A + 12, 4));
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, WRITE(0, A, 4)); /* has kept its permission */
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, WRITE(0, A + 16, 4));
    GREW(&p, outcome[OUTCOME_PERMISSION], 0);
    step(&p, WRITE(0, A + 20, 4)); /* nobody has read it */
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, WRITE(0, A + 12, 4)); /* but this */
    GREW(&p, outcome[OUTCOME_PERMISSION], 0);
    probe_close(&p);
}

static sim_cycle first_touch(const char *empty, sim_addr at)
{
    struct probe p;

    probe_open(&p, "lardish", 4, WITH("overlap=sum", empty));
    const sim_cycle took = step(&p, WRITE(0, at, 4));
    GREW(&p, nothing, 1);
    GREW(&p, unasked, strcmp(empty, "empty=ask") != 0);
    assert_int_equal(p.w.err.code, 0);
    probe_close(&p);
    return took;
}

/* With a bit beside the data the line comes for nothing, with a word of the page for its load. */
static void a_line_known_to_be_empty_calls_nobody(void **state)
{
    (void)state;
    const sim_cycle ask = first_touch("empty=ask", A), page = first_touch("empty=page", A),
                    line = first_touch("empty=line", A);

    assert_true(page > line);
    assert_true(ask >= page + 100); /* what it takes to enter the manager */
}

/* What the manager has is asked for: of its page, or of its line alone. */
static void a_line_with_history_is_asked_for(void **state)
{
    static const char *const empty[] = {"empty=page", "empty=line"};

    (void)state;
    for (unsigned by_line = 0; by_line < 2; by_line++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH(empty[by_line]));
        with_the_manager(&p);
        step(&p, READ(1, A + 16, 4));
        GREW(&p, nothing, 0);
        GREW(&p, unasked, 0);
        RACES(&p, 0);
        step(&p, READ(1, A + 64, 4)); /* the next line of the page */
        GREW(&p, nothing, 1);
        GREW(&p, unasked, by_line);
        step(&p, READ(1, B, 4));
        GREW(&p, unasked, 1);
        step(&p, READ(1, A, 4));
        RACES(&p, 1);
        probe_close(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_the_manager_fills_comes_checked),
        cmocka_unit_test(what_is_ordered_comes_with_permission_to_write),
        cmocka_unit_test(for_a_read_nobody_looks_into_blocks),
        cmocka_unit_test(who_may_write_hears_of_entries_that_come),
        cmocka_unit_test(a_line_and_its_check_are_one_handler),
        cmocka_unit_test(a_lazy_flush_and_the_fill_are_one_handler),
        cmocka_unit_test(a_line_known_to_be_empty_calls_nobody),
        cmocka_unit_test(a_line_with_history_is_asked_for),
        cmocka_unit_test(answers_give_permission_for_the_rest_of_the_line),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
