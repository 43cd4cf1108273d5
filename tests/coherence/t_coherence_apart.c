/* t_coherence_apart.c - a non-inclusive L3 and a directory of its own, by probes of one access. */
#include "tests/coherence/bench.h"

#define A            0x10000 /* a line of set 0 everywhere, home at core 0 */
#define REQUEST_DATA "request 1/8, data 1/66"
#define FROM_MEMORY  "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66"
/* L1 and L2 of one line: the second line throws the first out. */
#define TINY "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 "

#define NINE TINY "l3.inclusion=non-inclusive "

static void non_inclusive_probe(struct bench *b)
{
    bench_expect(b, 1, A, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
    line_is(b, 1, LEVEL_L3, A, INVALID); /* memory fills only the private caches */
    bench_expect(b, 2, A, MEM_LOAD, 50, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, notice 1/8");
    bench_expect(b, 3, A, MEM_LOAD, 50, LEVEL_REMOTE, "request 1/8, forward 1/8, data 1/66");
    line_is(b, 1, LEVEL_L1, A, SHARED);
    bench_access(b, 1, A + 64, MEM_LOAD);
    bench_access(b, 2, A + 128, MEM_LOAD);
    line_is(b, 1, LEVEL_L3, A, INVALID); /* core 3 still has it */
    bench_expect(b, 3, A + 192, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, put 1/66, memory-read 1/8, memory-data 1/66");
    line_is(b, 1, LEVEL_L3, A, L3_CLEAN); /* a victim fills the L3 */
    bench_expect(b, 0, A, MEM_LOAD, 35, LEVEL_L3, REQUEST_DATA);
    line_is(b, 0, LEVEL_L1, A, EXCLUSIVE);
}

static void test_sharers_answer_a_store_where_the_l3_has_nothing(void **unused)
{
    (void)unused;
    for (int contention = 0; contention < 2; contention++) {
        struct bench b;
        assert_true(bench_open(&b, (struct bench_options){.contention = contention}, NINE));
        bench_access(&b, 1, A, MEM_LOAD);
        bench_access(&b, 2, A, MEM_LOAD);
        /* The data come after the acknowledgement, by the same link. */
        bench_expect(&b, 3, A, MEM_STORE, contention ? 51 : 50, LEVEL_REMOTE,
                     "request 1/8, forward 1/8, invalidate 1/8, ack 1/8, data 1/66");
        line_is(&b, 1, LEVEL_L1, A, INVALID);
        line_is(&b, 2, LEVEL_L1, A, INVALID);
        bench_expect(&b, 0, A, MEM_LOAD, 50, LEVEL_REMOTE,
                     "request 1/8, forward 1/8, data 1/66, write-back 1/66");
        line_is(&b, 0, LEVEL_L3, A, L3_DIRTY);
        /* Two acknowledgements come at once. */
        bench_expect(&b, 2, A, MEM_STORE, contention ? 51 : 50, LEVEL_REMOTE,
                     "request 1/8, invalidate 2/16, ack 2/16, data 1/66");
        bench_close(&b);
    }
}

static void test_a_non_inclusive_l3_takes_what_cores_throw_out(void **unused)
{
    (void)unused;
    bench_both(non_inclusive_probe, NINE);
}

static void directory_victim_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_STORE);
    bench_expect(b, 2, A + 64, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, invalidate 1/8, data 1/66, write-back 1/66, memory-read 1/8, "
                 "memory-data 1/66");
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L3, A, L3_DIRTY);
    bench_expect(b, 2, A, MEM_LOAD, 35, LEVEL_L3,
                 "request 1/8, invalidate 1/8, ack 1/8, data 1/66");
    bench_counts(b, "l3.directory.recalled", 2);
    bench_counts(b, "l3.directory.resident", 1);
}

static void test_a_victim_of_the_directory_is_recalled(void **unused)
{
    (void)unused;
    bench_both(directory_victim_probe, NINE "l3.directory-size=1 l3.directory-ways=1");
}

static void l3_loses_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_STORE);
    bench_access(b, 1, A + 64, MEM_LOAD); /* A is dirty in the L3 */
    bench_expect(b, 2, A, MEM_LOAD, 35, LEVEL_L3, REQUEST_DATA);
    bench_expect(b, 1, A + 128, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, put 1/66, memory-read 1/8, memory-data 1/66, "
                 "memory-write 1/69");
    assert_int_equal(b->store.last_write, A);
    line_is(b, 2, LEVEL_L1, A, EXCLUSIVE); /* no recall */
}

static void test_a_non_inclusive_l3_loses_lines_without_recall(void **unused)
{
    (void)unused;
    bench_both(l3_loses_probe, NINE "l3.size=64 l3.ways=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_non_inclusive_l3_takes_what_cores_throw_out),
        cmocka_unit_test(test_sharers_answer_a_store_where_the_l3_has_nothing),
        cmocka_unit_test(test_a_victim_of_the_directory_is_recalled),
        cmocka_unit_test(test_a_non_inclusive_l3_loses_lines_without_recall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
