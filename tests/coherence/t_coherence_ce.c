/* t_coherence_ce.c - compat = ce: what one access is charged by the CE simulator, measured there by
 * probes of one event (4 cores, an L3 hit of 25 cycles; 35, 40, 50 with 8, 16, 32 cores). Rows of
 * its columns CE and CE+ are not MESI and not here. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define A           0x10000
#define FROM_MEMORY "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66"

/* A read of the memory takes 120 in all, so 120 - l3 once it is there. */
static void open_ce_machine(struct bench *b, unsigned cores, sim_cycle l3, const char *settings)
{
    char all[300];

    snprintf(all, sizeof all, "l3.latency=%u %s", (unsigned)l3, settings);
    if (!bench_open(b,
                    (struct bench_options){.cores = cores,
                                           .ce = true,
                                           .contention = true, /* has no effect */
                                           .memory = 120 - l3},
                    all))
        fail_msg("%s", b->e.text);
}

static void open_ce(struct bench *b, const char *settings)
{
    open_ce_machine(b, 4, 25, settings);
}

static void test_cold_accesses_take_120(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "");
    bench_expect(&b, 1, A, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY); /* 4 messages, 148 bytes */
    bench_expect(&b, 1, A + 64, MEM_STORE, 120, LEVEL_MEMORY, FROM_MEMORY);
    bench_close(&b);
}

static void test_hits_of_the_private_levels(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "");
    bench_access(&b, 1, A, MEM_LOAD);
    bench_expect(&b, 1, A, MEM_LOAD, 1, LEVEL_L1, "");
    bench_expect(&b, 1, A, MEM_STORE, 1, LEVEL_L1, ""); /* E to M, silently */
    bench_expect(&b, 1, A, MEM_STORE, 1, LEVEL_L1, "");
    bench_access(&b, 1, A + 64, MEM_LOAD);
    for (unsigned i = 1; i <= 8; i++)
        bench_access(&b, 1, A + i * 4096, MEM_LOAD);
    bench_expect(&b, 1, A, MEM_LOAD, 10, LEVEL_L2, "");
    for (unsigned i = 1; i <= 8; i++)
        bench_access(&b, 1, A + 64 + i * 4096, MEM_LOAD);
    bench_expect(&b, 1, A + 64, MEM_STORE, 10, LEVEL_L2, ""); /* in E */
    bench_close(&b);
}

static void test_an_l3_hit_by_the_number_of_cores(void **unused)
{
    static const unsigned rows[][2] = {{4, 25}, {8, 35}, {16, 40}, {32, 50}};

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct bench b;
        const sim_cycle hit = rows[i][1];
        open_ce_machine(&b, rows[i][0], hit, "");
        bench_access(&b, 1, A, MEM_STORE);
        bench_expect(&b, 2, A, MEM_LOAD, hit + 15, LEVEL_REMOTE,
                     "request 1/8, forward 1/8, data 1/66, write-back 1/66");
        bench_expect(&b, 3, A, MEM_LOAD, hit, LEVEL_L3, "request 1/8, data 1/66");
        bench_expect(&b, 3, A + 64, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
        bench_close(&b);
    }
}

/* L1 and L2 of one line. */
#define TINY "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 "

static void test_the_l3_answers_without_private_copies(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, TINY);
    bench_access(&b, 1, A, MEM_LOAD);
    bench_expect(&b, 1, A + 64, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, put 1/8, memory-read 1/8, memory-data 1/66");
    bench_expect(&b, 2, A, MEM_LOAD, 25, LEVEL_L3, "request 1/8, data 1/66"); /* 2, 74 */
    bench_expect(&b, 1, A + 128, MEM_STORE, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, put 1/8, memory-read 1/8, memory-data 1/66");
    bench_expect(&b, 3, A + 64, MEM_STORE, 25, LEVEL_L3, "request 1/8, data 1/66");
    bench_expect(&b, 2, A + 64, MEM_LOAD, 40, LEVEL_REMOTE, /* and a clean L2 victim: 2, 16 */
                 "request 1/8, forward 1/8, ack 1/8, data 1/66, put 1/8, write-back 1/66");
    bench_close(&b);
}

static void test_a_miss_whose_l2_victim_is_dirty(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, TINY);
    bench_access(&b, 1, A, MEM_STORE);
    bench_expect(&b, 1, A + 64, MEM_LOAD, 120, LEVEL_MEMORY, /* 6, 228 */
                 "request 1/8, ack 1/8, data 1/66, write-back 1/72, memory-read 1/8, "
                 "memory-data 1/66");
    line_is(&b, 0, LEVEL_L3, A, L3_DIRTY);
    bench_close(&b);
}

static void test_a_load_of_an_owned_line(void **unused)
{
    (void)unused;
    for (unsigned cmd = MEM_LOAD; cmd <= MEM_STORE; cmd++) {
        struct bench b;
        open_ce(&b, "");
        bench_access(&b, 1, A, (enum mem_cmd)cmd);         /* E or M */
        bench_expect(&b, 2, A, MEM_LOAD, 40, LEVEL_REMOTE, /* 4, 148 */
                     "request 1/8, forward 1/8, data 1/66, write-back 1/66");
        line_is(&b, 1, LEVEL_L1, A, SHARED);
        line_is(&b, 0, LEVEL_L3, A, L3_CLEAN); /* M: the lost dirty bit */
        bench_expect(&b, 3, A, MEM_LOAD, 25, LEVEL_L3, "request 1/8, data 1/66");
        bench_close(&b);
    }
}

static void test_a_store_to_an_owned_line(void **unused)
{
    (void)unused;
    for (unsigned cmd = MEM_LOAD; cmd <= MEM_STORE; cmd++) {
        struct bench b;
        open_ce(&b, "");
        bench_access(&b, 1, A, (enum mem_cmd)cmd);
        bench_expect(&b, 2, A, MEM_STORE, 40, LEVEL_REMOTE, /* 3, 82 */
                     "request 1/8, forward 1/8, data 1/66");
        line_is(&b, 1, LEVEL_L1, A, INVALID);
        bench_close(&b);
    }
}

static void test_a_store_to_a_shared_line(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "");
    bench_access(&b, 1, A, MEM_LOAD);
    bench_access(&b, 2, A, MEM_LOAD);
    bench_expect(&b, 3, A, MEM_STORE, 40, LEVEL_REMOTE, /* 6, 106 */
                 "request 1/8, invalidate 2/16, ack 2/16, data 1/66");
    bench_close(&b);
}

static void test_an_upgrade_is_sent_data_and_not_asked_for(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "");
    bench_access(&b, 1, A, MEM_LOAD);
    bench_access(&b, 2, A, MEM_LOAD);
    bench_expect(&b, 1, A, MEM_STORE, 16, LEVEL_REMOTE, /* 3, 82 */
                 "invalidate 1/8, ack 1/8, data 1/66");
    bench_access(&b, 2, A, MEM_LOAD);
    for (unsigned i = 1; i <= 8; i++)
        bench_access(&b, 1, A + i * 4096, MEM_LOAD);
    bench_expect(&b, 1, A, MEM_STORE, 25, LEVEL_REMOTE, /* in the L2 */
                 "invalidate 1/8, ack 1/8, data 1/66");
    bench_close(&b);
}

/* An atomic is a read, then a write, which the machine makes two accesses of. */
static void test_a_lock_that_is_elsewhere(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "");
    bench_access(&b, 1, A, MEM_STORE);
    bench_expect(&b, 2, A, MEM_LOAD, 40, LEVEL_REMOTE, /* together 56 cycles, 7, 230 */
                 "request 1/8, forward 1/8, data 1/66, write-back 1/66");
    bench_expect(&b, 2, A, MEM_STORE, 16, LEVEL_REMOTE, "invalidate 1/8, ack 1/8, data 1/66");
    bench_expect(&b, 2, A, MEM_LOAD, 1, LEVEL_L1, "");
    bench_expect(&b, 2, A, MEM_STORE, 1, LEVEL_L1, "");
    bench_close(&b);
}

/* An L3 of one line: 16 for each copy recalled, 66 if it is in M, 69 to the memory when dirty. */
static void test_l3_victims(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "l3.size=64 l3.ways=1 l3.banks=1");
    bench_access(&b, 1, A, MEM_LOAD);
    bench_access(&b, 2, A, MEM_LOAD);
    bench_expect(&b, 3, A + 64, MEM_STORE, 120, LEVEL_MEMORY,
                 "request 1/8, invalidate 2/16, ack 2/16, data 1/66, memory-read 1/8, "
                 "memory-data 1/66");
    bench_expect(&b, 1, A, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, invalidate 1/8, ack 1/8, data 1/66, write-back 1/66, "
                 "memory-read 1/8, memory-data 1/66, memory-write 1/69");
    bench_close(&b);
}

static void test_a_lost_dirty_bit_is_not_written_to_the_memory(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "l3.size=64 l3.ways=1 l3.banks=1");
    bench_access(&b, 1, A, MEM_STORE);
    bench_access(&b, 2, A, MEM_LOAD);
    bench_access(&b, 3, A + 64, MEM_LOAD);
    assert_int_equal(b.store.writes, 0);
    bench_close(&b);
}

static void test_l2_and_l3_replace_in_order_of_fill(void **unused)
{
    static const char *const levels[] = {
        "l1.size=64 l1.ways=1 l2.size=128 l2.ways=2",
        "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 l3.size=128 l3.ways=2"};

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
        struct bench b;
        const enum mem_level level = i ? LEVEL_L3 : LEVEL_L2;
        open_ce(&b, levels[i]);
        bench_access(&b, 1, A, MEM_LOAD);
        bench_access(&b, 1, A + 64, MEM_LOAD);
        bench_access(&b, 1, A, MEM_LOAD); /* makes it recent in the L1 alone */
        bench_access(&b, 1, A + 128, MEM_LOAD);
        line_is(&b, 1, level, A, INVALID);
        assert_int_not_equal(coherence_state(b.c, 1, level, paddr_of(A + 64)), INVALID);
        bench_close(&b);
    }
}

static void test_the_l1_victim_is_the_last_even_if_a_way_is_free(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "l1.size=128 l1.ways=2");
    bench_access(&b, 1, A, MEM_LOAD);
    bench_access(&b, 1, A + 64, MEM_LOAD);
    bench_access(&b, 2, A + 64, MEM_STORE); /* its way is free, but it is not the last */
    bench_access(&b, 1, A + 128, MEM_LOAD);
    line_is(&b, 1, LEVEL_L1, A, INVALID);
    bench_close(&b);
}

static void test_nothing_waits(void **unused)
{
    struct bench b;

    (void)unused;
    open_ce(&b, "l3.banks=1 l3.port=50");
    for (unsigned core = 0; core < 4; core++)
        assert_int_equal(
            coherence_access(b.c, core, paddr_of(A + 64 * core), MEM_LOAD, TRAFFIC_DATA, 1000).done,
            1120);
    assert_int_equal(coherence_access(b.c, 1, paddr_of(A), MEM_STORE, TRAFFIC_DATA, 10).done, 50);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_accesses_take_120),
        cmocka_unit_test(test_hits_of_the_private_levels),
        cmocka_unit_test(test_an_l3_hit_by_the_number_of_cores),
        cmocka_unit_test(test_the_l3_answers_without_private_copies),
        cmocka_unit_test(test_a_miss_whose_l2_victim_is_dirty),
        cmocka_unit_test(test_a_load_of_an_owned_line),
        cmocka_unit_test(test_a_store_to_an_owned_line),
        cmocka_unit_test(test_a_store_to_a_shared_line),
        cmocka_unit_test(test_an_upgrade_is_sent_data_and_not_asked_for),
        cmocka_unit_test(test_a_lock_that_is_elsewhere),
        cmocka_unit_test(test_l3_victims),
        cmocka_unit_test(test_a_lost_dirty_bit_is_not_written_to_the_memory),
        cmocka_unit_test(test_l2_and_l3_replace_in_order_of_fill),
        cmocka_unit_test(test_the_l1_victim_is_the_last_even_if_a_way_is_free),
        cmocka_unit_test(test_nothing_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
