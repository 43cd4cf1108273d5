/* t_coherence.c - each row of the tables in docs/machine.md as a probe of one access: exact cycles,
 * exact messages, exact states. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define A            0x10000 /* a line of set 0 everywhere, home at core 0 */
#define REQUEST_DATA "request 1/8, data 1/66"
#define FROM_MEMORY  "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66"

/* ---- the table of latencies ----------------------------------------------------------------- */

static void cold_probe(struct bench *b)
{
    bench_expect(b, 1, A, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
    line_is(b, 1, LEVEL_L1, A, EXCLUSIVE);
    line_is(b, 1, LEVEL_L2, A, EXCLUSIVE);
    line_is(b, 1, LEVEL_L3, A, L3_CLEAN);
    bench_expect(b, 1, A + 64, MEM_STORE, 120, LEVEL_MEMORY, FROM_MEMORY);
    line_is(b, 1, LEVEL_L1, A + 64, MODIFIED);
    bench_expect(b, 1, A + 128, MEM_ATOMIC, 120, LEVEL_MEMORY, FROM_MEMORY);
    line_is(b, 1, LEVEL_L1, A + 128, MODIFIED);
}

static void test_a_line_in_no_cache_takes_the_memorys_total(void **unused)
{
    (void)unused;
    bench_both(cold_probe, "");
}

static void l1_probe(struct bench *b)
{
    bench_access(b, 0, A, MEM_LOAD);
    bench_expect(b, 0, A + 63, MEM_LOAD, 1, LEVEL_L1, "");
    line_is(b, 0, LEVEL_L1, A, EXCLUSIVE);
    bench_expect(b, 0, A, MEM_STORE, 1, LEVEL_L1, "");
    line_is(b, 0, LEVEL_L1, A, MODIFIED);
    bench_expect(b, 0, A, MEM_STORE, 1, LEVEL_L1, "");
    bench_expect(b, 0, A, MEM_ATOMIC, 1, LEVEL_L1, "");
    bench_expect(b, 0, A, MEM_LOAD, 1, LEVEL_L1, "");
    line_is(b, 0, LEVEL_L1, A, MODIFIED);
}

static void test_an_l1_hit_takes_one_cycle_and_e_becomes_m_silently(void **unused)
{
    (void)unused;
    bench_both(l1_probe, "");
}

/* Eight other lines of the L1's set push the line out: into the L2, if there is one. */
static void push_out_of_l1(struct bench *b, unsigned core)
{
    for (unsigned i = 1; i <= 8; i++)
        bench_access(b, core, A + i * 4096, MEM_LOAD);
    line_is(b, core, LEVEL_L1, A, INVALID);
}

static void l2_probe(struct bench *b)
{
    bench_access(b, 0, A, MEM_LOAD);
    push_out_of_l1(b, 0);
    bench_expect(b, 0, A, MEM_LOAD, 10, LEVEL_L2, "");
    line_is(b, 0, LEVEL_L1, A, EXCLUSIVE);
    push_out_of_l1(b, 0);
    bench_expect(b, 0, A, MEM_STORE, 10, LEVEL_L2, "");
    line_is(b, 0, LEVEL_L1, A, MODIFIED);
    push_out_of_l1(b, 0);
    line_is(b, 0, LEVEL_L2, A, MODIFIED);
    bench_expect(b, 0, A, MEM_ATOMIC, 10, LEVEL_L2, "");
    bench_expect(b, 0, A, MEM_LOAD, 1, LEVEL_L1, "");
}

static void test_an_l2_hit_takes_ten_cycles(void **unused)
{
    (void)unused;
    bench_both(l2_probe, "");
    bench_both(l2_probe, "l2.inclusion=exclusive");
}

static void l3_probe(struct bench *b)
{
    bench_access(b, 0, A, MEM_LOAD);
    bench_access(b, 1, A, MEM_LOAD); /* nobody has it E or M now */
    bench_expect(b, 2, A, MEM_LOAD, 35, LEVEL_L3, REQUEST_DATA);
    line_is(b, 2, LEVEL_L1, A, SHARED);
}

static void test_a_load_of_a_shared_line_is_the_l3s(void **unused)
{
    (void)unused;
    bench_both(l3_probe, "");
}

/* L1 and L2 of one line: the second line throws the first out. */
#define TINY "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 "

static void no_copy_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_expect(b, 1, A + 64, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, put 1/8, memory-read 1/8, memory-data 1/66");
    bench_expect(b, 2, A, MEM_LOAD, 35, LEVEL_L3, REQUEST_DATA);
    line_is(b, 2, LEVEL_L1, A, EXCLUSIVE);
    bench_expect(b, 3, A + 64, MEM_LOAD, 50, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, notice 1/8");
    bench_access(b, 3, A + 128, MEM_LOAD);
    bench_access(b, 1, A + 192, MEM_LOAD);
    bench_expect(b, 0, A + 64, MEM_STORE, 35, LEVEL_L3, REQUEST_DATA);
    line_is(b, 0, LEVEL_L1, A + 64, MODIFIED);
}

static void test_the_l3_answers_when_no_copy_is_left(void **unused)
{
    (void)unused;
    bench_both(no_copy_probe, TINY);
}

static void owner_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_expect(b, 2, A, MEM_LOAD, 50, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, notice 1/8");
    line_is(b, 1, LEVEL_L1, A, SHARED);
    line_is(b, 2, LEVEL_L1, A, SHARED);
    line_is(b, 1, LEVEL_L3, A, L3_CLEAN);
    bench_access(b, 1, A + 64, MEM_STORE);
    bench_expect(b, 2, A + 64, MEM_LOAD, 50, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, write-back 1/66");
    line_is(b, 0, LEVEL_L3, A + 64, L3_DIRTY);
}

static void test_an_owner_forwards_to_a_load_and_shares(void **unused)
{
    (void)unused;
    bench_both(owner_probe, "");
    bench_both(owner_probe, "l2.inclusion=exclusive");
}

static void taken_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_expect(b, 2, A, MEM_STORE, 50, LEVEL_REMOTE, "request 1/8, forward 1/8, data 1/66");
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L2, A, INVALID);
    line_is(b, 2, LEVEL_L1, A, MODIFIED);
    bench_expect(b, 3, A, MEM_ATOMIC, 50, LEVEL_REMOTE, "request 1/8, forward 1/8, data 1/66");
    line_is(b, 2, LEVEL_L1, A, INVALID);
    line_is(b, 3, LEVEL_L1, A, MODIFIED);
}

static void test_an_owner_gives_the_line_to_a_store(void **unused)
{
    (void)unused;
    bench_both(taken_probe, "");
}

static void sharers_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 2, A, MEM_LOAD);
    bench_access(b, 1, A + 64, MEM_LOAD); /* throws A out */
    bench_expect(b, 3, A, MEM_STORE, 50, LEVEL_REMOTE,
                 "request 1/8, invalidate 1/8, ack 1/8, data 1/66");
    line_is(b, 2, LEVEL_L1, A, INVALID);
    line_is(b, 3, LEVEL_L1, A, MODIFIED);
}

static void test_a_store_takes_one_shared_copy_away(void **unused)
{
    (void)unused;
    bench_both(sharers_probe, TINY);
}

static void test_the_number_of_sharers_costs_only_the_way_out_of_the_home(void **unused)
{
    (void)unused;
    for (int contention = 0; contention < 2; contention++) {
        struct bench b;
        assert_true(bench_open(&b, (struct bench_options){.contention = contention}, ""));
        for (unsigned i = 1; i < 4; i++)
            bench_access(&b, i, A, MEM_LOAD);
        /* One flit a cycle leaves the home: the third invalidation two cycles late. */
        bench_expect(&b, 0, A, MEM_STORE, contention ? 52 : 50, LEVEL_REMOTE,
                     "request 1/8, invalidate 3/24, ack 3/24, data 1/66");
        bench_close(&b);
    }
}

static void upgrade_l1_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 2, A, MEM_LOAD);
    bench_expect(b, 1, A, MEM_STORE, 16, LEVEL_REMOTE,
                 "request 1/8, invalidate 1/8, ack 1/8, grant 1/8");
    line_is(b, 1, LEVEL_L1, A, MODIFIED);
    line_is(b, 1, LEVEL_L2, A, MODIFIED);
    line_is(b, 2, LEVEL_L1, A, INVALID);
    bench_expect(b, 1, A, MEM_STORE, 1, LEVEL_L1, "");
    bench_counts(b, "l1.data.store-upgrades", 1);
}

static void upgrade_l2_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 2, A, MEM_LOAD);
    push_out_of_l1(b, 1);
    bench_expect(b, 1, A, MEM_ATOMIC, 25, LEVEL_REMOTE,
                 "request 1/8, invalidate 1/8, ack 1/8, grant 1/8");
    line_is(b, 1, LEVEL_L1, A, MODIFIED);
    bench_counts(b, "l2.data.atomic-upgrades", 1);
}

static void test_an_upgrade_takes_its_level_and_the_way_to_others(void **unused)
{
    (void)unused;
    bench_both(upgrade_l1_probe, "");
    bench_both(upgrade_l2_probe, "");
    bench_both(upgrade_l2_probe, "l2.inclusion=exclusive");
}

static void lonely_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 2, A, MEM_LOAD);
    bench_access(b, 2, A + 64, MEM_LOAD);
    bench_expect(b, 1, A, MEM_STORE, 16, LEVEL_REMOTE, "request 1/8, grant 1/8");
}

static void test_an_upgrade_without_other_copies_costs_the_same(void **unused)
{
    (void)unused;
    bench_both(lonely_probe, TINY);
}

/* ---- other ways to count -------------------------------------------------------------------- */

static void home_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 2, A, MEM_LOAD);
    bench_expect(b, 1, A, MEM_STORE, 50, LEVEL_REMOTE,
                 "request 1/8, invalidate 1/8, ack 1/8, grant 1/8");
}

static void total_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_expect(b, 2, A, MEM_LOAD, 15, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, notice 1/8");
    bench_expect(b, 3, A, MEM_LOAD, 35, LEVEL_L3, REQUEST_DATA);
    bench_access(b, 0, A + 64, MEM_LOAD);
    bench_expect(b, 3, A, MEM_STORE, 16, LEVEL_REMOTE,
                 "request 1/8, invalidate 2/16, ack 2/16, grant 1/8");
    bench_expect(b, 2, A, MEM_STORE, 15, LEVEL_REMOTE, "request 1/8, forward 1/8, data 1/66");
    bench_expect(b, 2, A + 128, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
}

static void short_total_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_expect(b, 2, A, MEM_STORE, 4, LEVEL_REMOTE, "request 1/8, forward 1/8, data 1/66");
    bench_expect(b, 2, A + 128, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
}

static void cumulative_probe(struct bench *b)
{
    bench_expect(b, 1, A, MEM_LOAD, 46 + 85, LEVEL_MEMORY, FROM_MEMORY);
    bench_expect(b, 1, A, MEM_LOAD, 1, LEVEL_L1, "");
    bench_expect(b, 2, A, MEM_LOAD, 46 + 15, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, notice 1/8");
    bench_expect(b, 3, A, MEM_LOAD, 46, LEVEL_L3, REQUEST_DATA);
    push_out_of_l1(b, 1);
    bench_expect(b, 1, A, MEM_LOAD, 11, LEVEL_L2, "");
    push_out_of_l1(b, 1);
    b->said[0] = '\0';
    bench_expect(b, 1, A, MEM_LOAD, 11, LEVEL_L2, "");
}

static void no_l2_probe(struct bench *b)
{
    bench_expect(b, 1, A, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
    bench_expect(b, 2, A, MEM_LOAD, 50, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, notice 1/8");
    bench_expect(b, 3, A, MEM_LOAD, 35, LEVEL_L3, REQUEST_DATA);
    push_out_of_l1(b, 3);
    bench_expect(b, 1, A, MEM_STORE, 16, LEVEL_REMOTE,
                 "request 1/8, invalidate 1/8, ack 1/8, grant 1/8");
    bench_expect(b, 1, A, MEM_STORE, 1, LEVEL_L1, "");
    line_is(b, 1, LEVEL_L2, A, INVALID);
}

static void test_parameters_change_what_they_name(void **unused)
{
    (void)unused;
    bench_both(home_probe, "coherence.upgrade-cost=home");
    bench_both(cumulative_probe, "coherence.composition=cumulative");
    bench_both(no_l2_probe, "l2.size=0");
    bench_both(short_total_probe, "coherence.remote-cost=total coherence.remote=4");
}

static void test_a_total_for_other_cores_is_the_whole_access(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){0}, "coherence.remote-cost=total"));
    total_probe(&b);
    bench_close(&b);
}

/* ---- victims -------------------------------------------------------------------------------- */

static void private_victim_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_STORE);
    bench_expect(b, 1, A + 64, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, write-back 1/66, memory-read 1/8, "
                 "memory-data 1/66");
    line_is(b, 1, LEVEL_L3, A, L3_DIRTY);
    bench_access(b, 2, A + 64, MEM_LOAD); /* shares */
    bench_expect(b, 1, A, MEM_LOAD, 35, LEVEL_L3, "request 1/8, ack 1/8, data 1/66, put 1/8");
    line_is(b, 1, LEVEL_L1, A, EXCLUSIVE);
    assert_int_equal(bench_value(b, "coherence.puts"), 1);
    assert_int_equal(bench_value(b, "coherence.write-backs"), 1);
}

static void test_private_victims_cost_messages_and_no_cycles(void **unused)
{
    (void)unused;
    bench_both(private_victim_probe, TINY);
    bench_both(private_victim_probe, "l1.size=64 l1.ways=1 l2.size=0");
}

/* An L3 of one line. */
#define TINY_L3 "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 l3.size=64 l3.ways=1 l3.banks=1 "

static void l3_victim_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 2, A, MEM_LOAD);
    bench_expect(b, 3, A + 64, MEM_STORE, 120, LEVEL_MEMORY,
                 "request 1/8, invalidate 2/16, ack 2/16, data 1/66, memory-read 1/8, "
                 "memory-data 1/66");
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L2, A, INVALID);
    assert_int_equal(b->store.writes, 0);
    bench_expect(b, 1, A, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, invalidate 1/8, data 1/66, write-back 1/66, memory-read 1/8, "
                 "memory-data 1/66, memory-write 1/69");
    assert_int_equal(b->store.writes, 1);
    assert_int_equal(b->store.last_write, A + 64);
    bench_counts(b, "coherence.recalls", 3);
    bench_counts(b, "l3.evictions-clean", 1);
    bench_counts(b, "l3.evictions-dirty", 1);
}

static void test_an_l3_victim_recalls_its_copies(void **unused)
{
    (void)unused;
    bench_both(l3_victim_probe, TINY_L3);
}

static void inclusive_l2_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_STORE);
    bench_expect(b, 1, A + 128, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, write-back 1/66, memory-read 1/8, "
                 "memory-data 1/66");
    line_is(b, 1, LEVEL_L1, A, INVALID);
    bench_access(b, 1, A + 128, MEM_STORE);
    line_is(b, 1, LEVEL_L2, A + 128, EXCLUSIVE);
    line_is(b, 1, LEVEL_L1, A + 128, MODIFIED); /* this one counts */
    bench_expect(b, 1, A, MEM_LOAD, 35, LEVEL_L3,
                 "request 1/8, ack 1/8, data 1/66, write-back 1/66");
    line_is(b, 1, LEVEL_L1, A + 128, INVALID);
    bench_counts(b, "l1.displaced", 2);
}

static void test_an_l2_victim_takes_its_l1_copy_with_it(void **unused)
{
    (void)unused;
    bench_both(inclusive_l2_probe, "l1.size=128 l1.ways=2 l2.size=128 l2.ways=1");
}

static void exclusive_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_STORE);
    line_is(b, 1, LEVEL_L2, A, INVALID);
    bench_access(b, 1, A + 64, MEM_LOAD);
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L2, A, MODIFIED);
    bench_expect(b, 1, A, MEM_LOAD, 10, LEVEL_L2, ""); /* they change places */
    line_is(b, 1, LEVEL_L1, A, MODIFIED);
    line_is(b, 1, LEVEL_L2, A + 64, EXCLUSIVE);
    bench_expect(b, 1, A + 128, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, put 1/8, memory-read 1/8, memory-data 1/66");
    bench_counts(b, "l2.moved", 1);
}

static void test_an_exclusive_l2_has_what_the_l1_threw_out(void **unused)
{
    (void)unused;
    bench_both(exclusive_probe, TINY "l2.inclusion=exclusive");
}

/* Another core's load turns the copies of who has the line to itself into S, one in each cache. */
static void test_downgrades_are_counted_by_cache(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){0}, ""));
    bench_access(&b, 0, A, MEM_STORE);
    bench_counts(&b, "l1.downgrades", 0);
    bench_access(&b, 1, A, MEM_LOAD);
    bench_counts(&b, "l1.downgrades", 1);
    bench_counts(&b, "l2.downgrades", 1);
    bench_access(&b, 2, A, MEM_LOAD); /* they are S */
    bench_counts(&b, "l1.downgrades", 1);
    bench_access(&b, 0, A + 64, MEM_LOAD);
    push_out_of_l1(&b, 1);
    bench_access(&b, 1, A + 128, MEM_LOAD);
    bench_access(&b, 2, A + 64, MEM_LOAD); /* E, of core 0 */
    bench_counts(&b, "l1.downgrades", 2);
    bench_counts(&b, "l2.downgrades", 2);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_in_no_cache_takes_the_memorys_total),
        cmocka_unit_test(test_an_l1_hit_takes_one_cycle_and_e_becomes_m_silently),
        cmocka_unit_test(test_an_l2_hit_takes_ten_cycles),
        cmocka_unit_test(test_a_load_of_a_shared_line_is_the_l3s),
        cmocka_unit_test(test_the_l3_answers_when_no_copy_is_left),
        cmocka_unit_test(test_an_owner_forwards_to_a_load_and_shares),
        cmocka_unit_test(test_an_owner_gives_the_line_to_a_store),
        cmocka_unit_test(test_a_store_takes_one_shared_copy_away),
        cmocka_unit_test(test_the_number_of_sharers_costs_only_the_way_out_of_the_home),
        cmocka_unit_test(test_an_upgrade_takes_its_level_and_the_way_to_others),
        cmocka_unit_test(test_an_upgrade_without_other_copies_costs_the_same),
        cmocka_unit_test(test_parameters_change_what_they_name),
        cmocka_unit_test(test_downgrades_are_counted_by_cache),
        cmocka_unit_test(test_a_total_for_other_cores_is_the_whole_access),
        cmocka_unit_test(test_private_victims_cost_messages_and_no_cycles),
        cmocka_unit_test(test_an_l3_victim_recalls_its_copies),
        cmocka_unit_test(test_an_l2_victim_takes_its_l1_copy_with_it),
        cmocka_unit_test(test_an_exclusive_l2_has_what_the_l1_threw_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
