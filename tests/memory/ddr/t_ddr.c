/* t_ddr.c - the DDR model to the cycle: one read, two commands, refresh. The device and its
 * numbers: rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/memory/ddr/rig.h"

/* ---- one read ------------------------------------------------------------------------------- */

static void a_closed_bank_takes_activate_and_read(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 100, place(0, 1, 2, 3, 4), 7);
    bench_expect(&r->b, 7, 100 + MISS);
    command_goes(r, DDR_ACTIVATE, 0, 102);
    command_goes(r, DDR_READ, 0, 124);
    assert_int_equal(r->log.n, 2);
    assert_int_equal(r->log.row[1].at.group, 1);
    assert_int_equal(r->log.row[1].at.bank, 2);
    assert_int_equal(r->log.row[1].at.row, 3);
    assert_int_equal(r->log.row[1].at.column, 4);
    bench_counts(&r->b, "row-misses", 1);
    rig_free(r, 200);
}

static void an_open_row_takes_a_read_only(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 3, 0), 1);
    bench_expect(&r->b, 1, MISS);
    read_at(r, 1000, place(0, 0, 0, 3, 127), 2);
    bench_expect(&r->b, 2, 1000 + HIT);
    bench_counts(&r->b, "row-hits", 1);
    rig_free(r, 2000);
}

static void another_row_takes_a_precharge_too(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 3, 0), 1);
    bench_expect(&r->b, 1, MISS);
    read_at(r, 1000, place(0, 0, 0, 4, 0), 2);
    bench_expect(&r->b, 2, 1000 + CONFLICT);
    bench_counts(&r->b, "row-conflicts", 1);
    bench_counts(&r->b, "precharges", 1);
    rig_free(r, 2000);
}

static void a_precharge_waits_for_tras(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 3, 0), 1);
    read_at(r, 10, place(0, 0, 0, 4, 0), 2);
    bench_expect(&r->b, 1, MISS);
    bench_expect(&r->b, 2, 2 + 52 + 22 + 22 + DATA); /* activated in cycle 2 */
    command_goes(r, DDR_PRECHARGE, 0, 54);
    rig_free(r, 200);
}

static void a_precharge_waits_for_trtp(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 3, 0), 1);
    bench_expect(&r->b, 1, MISS);
    read_at(r, 200, place(0, 0, 0, 3, 1), 2); /* read in cycle 202 */
    read_at(r, 201, place(0, 0, 0, 4, 0), 3);
    bench_expect(&r->b, 2, 200 + HIT);
    bench_expect(&r->b, 3, 202 + 12 + 22 + 22 + DATA);
    rig_free(r, 400);
}

static void controller_cycles_are_added_to_each_read(void **state)
{
    const char *const settings[] = {"memory.ddr.controller-cycles=13", NULL};
    struct rig *r = rig_new(settings);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 3, 0), 1);
    bench_expect(&r->b, 1, MISS + 13);
    rig_free(r, 200);
}

/* ---- two commands --------------------------------------------------------------------------- */

static void activates_keep_their_distances(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        read_at(r, 0, place(0, i, 0, 1, 0), i); /* four groups */
    read_at(r, 0, place(0, 0, 1, 1, 0), 4);
    run_until(r, 40);
    command_goes(r, DDR_ACTIVATE, 0, 2);
    command_goes(r, DDR_ACTIVATE, 1, 6); /* tRRD_S */
    command_goes(r, DDR_ACTIVATE, 2, 10);
    command_goes(r, DDR_ACTIVATE, 3, 14);
    command_goes(r, DDR_ACTIVATE, 4, 37); /* tFAW; 36 has a read */
    bench_expect(&r->b, 0, MISS);
    rig_free(r, 200);
}

static void activates_of_a_group_are_further_apart(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    read_at(r, 0, place(0, 0, 1, 1, 0), 2);
    run_until(r, 20);
    command_goes(r, DDR_ACTIVATE, 1, 10);
    rig_free(r, 200);
}

/* Rows are opened, then two reads arrive together. */
static uint64_t distance_of_reads(sim_addr first, sim_addr second)
{
    struct rig *r = rig_new(NULL);

    read_at(r, 0, first, 1);
    read_at(r, 0, second, 2);
    struct mem_answer a;
    assert_true(bench_step(&r->b, 400, &a) && bench_step(&r->b, 400, &a));
    read_at(r, 500, first + 64, 3);
    read_at(r, 500, second + 64, 4);
    assert_true(bench_step(&r->b, 1000, &a) && bench_step(&r->b, 1000, &a));
    const uint64_t d = when(&r->log, DDR_READ, 3) - when(&r->log, DDR_READ, 2);
    rig_free(r, 1000);
    return d;
}

static void reads_keep_their_distances(void **state)
{
    (void)state;
    assert_int_equal(distance_of_reads(place(0, 0, 0, 1, 0), place(0, 0, 1, 1, 0)), 8);
    assert_int_equal(distance_of_reads(place(0, 0, 0, 1, 0), place(0, 1, 0, 1, 0)), 4);
    assert_int_equal(distance_of_reads(place(0, 0, 0, 1, 0), place(1, 0, 0, 1, 0)), 5); /* tRTRS */
}

static const char *const eager_writes[] = {"memory.ddr.write-idle=0", NULL};

static void a_read_after_a_write_waits_for_twtr(void **state)
{
    const struct {
        sim_addr addr;
        uint64_t distance;
    } each[] = {{place(0, 0, 1, 1, 0), 16 + 4 + 12},
                {place(0, 1, 0, 1, 0), 16 + 4 + 4},
                {place(1, 0, 0, 1, 0), 1}}; /* another rank: its data are after those anyway */

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        struct rig *r = rig_new(eager_writes);
        struct mem_answer a;
        read_at(r, 0, each[i].addr, 1); /* opens the row */
        assert_true(bench_step(&r->b, 100, &a));
        write_at(r, 200, place(0, 0, 0, 1, 0)); /* activate in 202 */
        read_at(r, 223, each[i].addr + 64, 2);
        assert_true(bench_step(&r->b, 500, &a));
        const uint64_t wrote = when(&r->log, DDR_WRITE, 0);
        assert_int_equal(wrote, 224);
        assert_int_equal(a.at, wrote + each[i].distance + DATA);
        rig_free(r, 500);
    }
}

static void a_write_after_a_read_waits_for_the_bus(void **state)
{
    struct rig *r = rig_new(eager_writes);
    struct mem_answer a;

    (void)state;
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    assert_true(bench_step(&r->b, 100, &a));
    read_at(r, 200, place(0, 0, 0, 1, 1), 2); /* read in 202 */
    write_at(r, 201, place(0, 0, 0, 1, 2));
    assert_true(bench_step(&r->b, 300, &a));
    run_until(r, 300);
    command_goes(r, DDR_WRITE, 0, 202 + 22 + 4 - 16 + 1);
    rig_free(r, 500);
}

/* ---- refresh -------------------------------------------------------------------------------- */

static void ranks_are_refreshed_in_turn(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    run_until(r, 4 * 6240 + 1);
    assert_int_equal(r->log.n, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(r->log.row[i].command, DDR_REFRESH);
        assert_int_equal(r->log.row[i].cycle, (i + 1) * 6240);
        assert_int_equal(r->log.row[i].at.rank, i % 2);
    }
    rig_free(r, 4 * 6240 + 1);
}

static void a_refresh_holds_up_its_rank_only(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 6240, place(0, 0, 0, 1, 0), 1);
    read_at(r, 6240, place(1, 0, 0, 1, 0), 2);
    bench_expect(&r->b, 2, 6240 + MISS + 1); /* moved to its queue one cycle after the other */
    bench_expect(&r->b, 1, 6240 + 560 + 22 + DATA);
    rig_free(r, 7000);
}

static void a_refresh_closes_open_rows_first(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 6000, place(0, 0, 0, 1, 0), 1);
    read_at(r, 6000, place(0, 1, 0, 1, 0), 2);
    bench_expect(&r->b, 1, 6000 + MISS);
    bench_expect(&r->b, 2, 6000 + MISS + 4);
    run_until(r, 6300);
    command_goes(r, DDR_PRECHARGE, 0, 6240);
    command_goes(r, DDR_PRECHARGE, 1, 6241);
    command_goes(r, DDR_REFRESH, 0, 6241 + 22);
    read_at(r, 8000, place(0, 0, 0, 1, 1), 3);
    bench_expect(&r->b, 3, 8000 + MISS);
    bench_counts(&r->b, "row-misses", 3);
    rig_free(r, 9000);
}

static void what_waits_for_its_refresh_takes_no_command(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 6230, place(0, 0, 0, 1, 0), 1); /* activated in 6232: open until 6284 at least */
    read_at(r, 6240, place(0, 1, 0, 1, 0), 2); /* its bank is closed, and stays so */
    run_until(r, 6232 + 52 + 22 + 1);
    command_goes(r, DDR_PRECHARGE, 0, 6232 + 52);
    command_goes(r, DDR_REFRESH, 0, 6232 + 52 + 22);
    bench_expect(&r->b, 2, 6306 + 560 + 22 + DATA);
    rig_free(r, 7000);
}

/* Idle time is jumped over: without a monitor, and with one, everything is the same. */
static void a_jump_over_idle_time_changes_nothing(void **state)
{
    const sim_cycle idle[] = {6239, 6240, 6241, 20000, 12345678, 123456789};
    uint64_t refreshes[2], answer[2];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
        for (int watched = 0; watched < 2; watched++) {
            struct rig *r = rig_new(NULL);
            struct mem_answer a;
            if (!watched)
                ddr_watch(r->b.memory.self, (struct ddr_monitor){NULL, NULL});
            read_at(r, 0, place(0, 0, 0, 1, 0), 1);
            assert_true(bench_step(&r->b, idle[i], &a));
            run_until(r, idle[i]);
            read_at(r, idle[i], place(1, 0, 0, 1, 0), 2);
            assert_true(bench_step(&r->b, CYCLE_NEVER, &a));
            answer[watched] = a.at;
            bench_finish(&r->b, idle[i] + 30000);
            refreshes[watched] = bench_stat(&r->b, "refreshes");
            rig_free(r, idle[i] + 30000);
        }
        assert_int_equal(answer[0], answer[1]);
        assert_int_equal(refreshes[0], refreshes[1]);
        assert_int_equal(refreshes[0], (idle[i] + 30000 - 1) / 6240);
    }
}

static void an_age_of_idle_time_takes_no_time(void **state)
{
    struct rig *r = rig_new(NULL);
    const sim_cycle age = UINT64_C(1) << 60;

    (void)state;
    ddr_watch(r->b.memory.self, (struct ddr_monitor){NULL, NULL});
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    bench_expect(&r->b, 1, MISS);
    write_at(r, 100, place(0, 0, 0, 1, 0)); /* one that waits does not matter */
    run_until(r, age);
    bench_finish(&r->b, age + 1);
    bench_counts(&r->b, "refreshes", age / 6240);
    bench_free(&r->b);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_bank_takes_activate_and_read),
        cmocka_unit_test(an_open_row_takes_a_read_only),
        cmocka_unit_test(another_row_takes_a_precharge_too),
        cmocka_unit_test(a_precharge_waits_for_tras),
        cmocka_unit_test(a_precharge_waits_for_trtp),
        cmocka_unit_test(controller_cycles_are_added_to_each_read),
        cmocka_unit_test(activates_keep_their_distances),
        cmocka_unit_test(activates_of_a_group_are_further_apart),
        cmocka_unit_test(reads_keep_their_distances),
        cmocka_unit_test(a_read_after_a_write_waits_for_twtr),
        cmocka_unit_test(a_write_after_a_read_waits_for_the_bus),
        cmocka_unit_test(ranks_are_refreshed_in_turn),
        cmocka_unit_test(a_refresh_holds_up_its_rank_only),
        cmocka_unit_test(a_refresh_closes_open_rows_first),
        cmocka_unit_test(what_waits_for_its_refresh_takes_no_command),
        cmocka_unit_test(a_jump_over_idle_time_changes_nothing),
        cmocka_unit_test(an_age_of_idle_time_takes_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
