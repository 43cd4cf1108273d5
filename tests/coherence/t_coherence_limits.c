/* t_coherence_limits.c - what waits for what, what is counted and told, and which machines can be:
 * the smallest, the largest, the odd, the impossible. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define A           0x10000 /* a line of set 0 everywhere, home at core 0 */
#define FROM_MEMORY "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66"
/* Caches of one line. */
#define TINY_L3 "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 l3.size=64 l3.ways=1 l3.banks=1 "

/* ---- contention ----------------------------------------------------------------------------- */

static sim_cycle done_at(struct bench *b, unsigned core, sim_addr addr, enum mem_cmd cmd,
                         sim_cycle now)
{
    const sim_cycle done =
        coherence_access(b->c, core, paddr_of(addr), cmd, TRAFFIC_DATA, now).done;

    coherence_check(b->c);
    return done;
}

static void test_a_line_is_busy_until_its_transaction_is_done(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){.contention = true}, ""));
    assert_int_equal(done_at(&b, 1, A, MEM_STORE, 1000), 1120);
    /* At the home at 1011; the line is free at 1120; then 25 to look up and 15 to the owner. */
    assert_int_equal(done_at(&b, 2, A, MEM_STORE, 1001), 1160);
    assert_int_equal(done_at(&b, 3, A, MEM_STORE, 1002), 1200);
    bench_counts(&b, "coherence.line-waits", 2);
    bench_counts(&b, "coherence.line-wait-cycles", 109 + 148);
    bench_close(&b);
}

/* The owner's answer to the home goes over its link after the data for the core that asked: the
 * transaction is done when that has come, too, so many flits after the data. */
static void test_a_line_is_busy_until_the_home_has_the_owners_answer(void **unused)
{
    enum { TO_HOME = 10, FROM_L3 = 25, REMOTE = 50, DATA = 66 };
    static const unsigned link_bytes[] = {8, 16, 32, 128};

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE(link_bytes); i++)
        for (int changed = 0; changed < 2; changed++) { /* a write-back, or a notice */
            const sim_cycle flits = (DATA + link_bytes[i] - 1) / link_bytes[i];
            char setting[40];
            struct bench b;
            snprintf(setting, sizeof setting, "network.link-bytes=%u", link_bytes[i]);
            assert_true(bench_open(&b, (struct bench_options){.contention = true}, setting));
            done_at(&b, 1, A, changed ? MEM_STORE : MEM_LOAD, 1000);
            assert_int_equal(done_at(&b, 2, A, MEM_LOAD, 2000), 2000 + REMOTE);
            assert_int_equal(done_at(&b, 3, A, MEM_LOAD, 2000 + REMOTE - TO_HOME),
                             2000 + REMOTE + flits + FROM_L3);
            bench_counts(&b, "coherence.line-waits", 1);
            bench_counts(&b, "coherence.line-wait-cycles", flits);
            bench_close(&b);
        }
}

static void test_a_bank_takes_one_request_every_port_cycles(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){.contention = true},
                           "l3.port=20 l3.banks=1 network.link-bytes=1024"));
    assert_int_equal(done_at(&b, 1, A, MEM_LOAD, 1000), 1120);
    assert_int_equal(done_at(&b, 2, A + 64, MEM_LOAD, 1000), 1140);
    assert_int_equal(done_at(&b, 3, A + 128, MEM_LOAD, 1005), 1160);
    bench_counts(&b, "coherence.bank-waits", 2);
    /* The second waited a cycle for the link. */
    bench_counts(&b, "coherence.bank-wait-cycles", 19 + 35);
    bench_close(&b);
}

static void test_nothing_queues_without_contention(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){0}, "l3.port=20 l3.banks=1"));
    for (unsigned core = 0; core < 4; core++)
        assert_int_equal(done_at(&b, core, A + 64 * core, MEM_LOAD, 1000), 1120);
    assert_int_equal(done_at(&b, 1, A, MEM_STORE, 1000), 1050);
    assert_int_equal(done_at(&b, 2, A, MEM_STORE, 1000), 1050);
    bench_close(&b);
}

static void test_hops_count_with_and_without_contention(void **unused)
{
    (void)unused;
    for (int contention = 0; contention < 2; contention++) {
        struct bench b;
        assert_true(bench_open(&b, (struct bench_options){.contention = contention},
                               "network.topology=ring network.router=2 network.wire=3"));
        /* Home 0, controller 0: request and data go two hops of 5 cycles each. */
        bench_expect(&b, 2, A, MEM_LOAD, 120 + 20, LEVEL_MEMORY, FROM_MEMORY);
        bench_expect(&b, 2, A, MEM_LOAD, 1, LEVEL_L1, "");
        /* Home 0 to owner 2, and 2 to 1: two hops and one. */
        bench_expect(&b, 1, A, MEM_LOAD, 50 + 5 + 10 + 5, LEVEL_REMOTE,
                     "request 1/8, forward 1/8, data 1/66, notice 1/8");
        bench_close(&b);
    }
}

/* ---- what is counted ------------------------------------------------------------------------ */

static void test_bytes_are_charged_to_whose_line_they_are(void **unused)
{
    struct bench b;
    char *before, *after;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){0}, TINY_L3));
    coherence_access(b.c, 1, paddr_of(A), MEM_STORE, TRAFFIC_METADATA, 1000);
    before = bench_csv(&b);
    coherence_access(b.c, 2, paddr_of(A + 64), MEM_LOAD, TRAFFIC_DATA, 2000);
    after = bench_csv(&b);
    bench_messages(&b, before, after, "metadata");
    assert_string_equal(b.said, "invalidate 1/8, write-back 1/66, memory-write 1/69");
    bench_messages(&b, before, after, "data");
    assert_string_equal(b.said, "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66");
    bench_counts(&b, "l1.metadata.store-misses", 1);
    bench_counts(&b, "l1.data.load-misses", 1);
    bench_counts(&b, "l1.core.accesses.2", 1);
    free(before);
    free(after);
    bench_close(&b);
}

static void test_looking_changes_nothing(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){0}, "l1.size=128 l1.ways=2"));
    bench_access(&b, 1, A, MEM_LOAD);
    bench_access(&b, 1, A + 64, MEM_LOAD);
    assert_true(coherence_in_l1(b.c, 1, paddr_of(A + 7), MEM_LOAD));
    assert_true(coherence_in_l1(b.c, 1, paddr_of(A), MEM_STORE));
    assert_false(coherence_in_l1(b.c, 2, paddr_of(A), MEM_LOAD));
    bench_access(&b, 1, A + 128, MEM_LOAD); /* A is still the least recent */
    assert_false(coherence_in_l1(b.c, 1, paddr_of(A), MEM_LOAD));
    bench_access(&b, 2, A + 64, MEM_LOAD);
    assert_true(coherence_in_l1(b.c, 1, paddr_of(A + 64), MEM_LOAD));
    assert_false(coherence_in_l1(b.c, 1, paddr_of(A + 64), MEM_STORE));
    bench_counts(&b, "l1.accesses", 4);
    assert_int_equal(coherence_l1_latency(b.c), 1);
    bench_close(&b);
}

/* ---- many cores, and what is told of lines -------------------------------------------------- */

static void test_all_128_cores_share(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){.cores = 128}, ""));
    for (unsigned core = 0; core < 128; core++)
        bench_access(&b, core, A, MEM_LOAD);
    line_is(&b, 64, LEVEL_L1, A, SHARED);
    bench_expect(&b, 127, A, MEM_STORE, 16, LEVEL_REMOTE,
                 "request 1/8, invalidate 127/1016, ack 127/1016, grant 1/8");
    for (unsigned core = 0; core < 127; core++)
        line_is(&b, core, LEVEL_L1, A, INVALID);
    bench_expect(&b, 63, A, MEM_LOAD, 50, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, write-back 1/66");
    bench_close(&b);
}

static void test_one_core_is_a_machine(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){.cores = 1, .contention = true}, ""));
    bench_expect(&b, 0, A, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
    bench_expect(&b, 0, A, MEM_STORE, 1, LEVEL_L1, "");
    bench_close(&b);
}

/* "fill l1 2" and so on, in the order in which it happened. */
static void expect_events(struct bench *b, const char *expected)
{
    static const char *const what[LINE_WHATS] = {"fill", "transfer", "downgrade", "invalidate",
                                                 "evict"};
    char said[1000] = "";
    struct line_queue *q = coherence_lines(b->c);

    for (size_t i = 0; i < q->n; i++) {
        const struct line_event *e = &q->at[i];
        const size_t used = strlen(said);
        snprintf(said + used, sizeof said - used, "%s%s %s %u%s", used ? ", " : "", what[e->what],
                 mem_level_text[e->level], e->core, e->dirty ? " dirty" : "");
    }
    assert_string_equal(said, expected);
    q->n = 0;
}

static void test_line_events_say_what_happened_in_order(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){.line_events = true}, TINY_L3));
    bench_access(&b, 1, A, MEM_STORE);
    expect_events(&b, "fill l3 1, fill l2 1 dirty, fill l1 1 dirty");
    bench_access(&b, 2, A, MEM_LOAD);
    assert_int_equal(coherence_lines(b.c)->at[0].from, 1);
    expect_events(&b, "transfer l1 2, downgrade l1 1 dirty, downgrade l2 1 dirty, fill l2 2, "
                      "fill l1 2");
    bench_access(&b, 2, A, MEM_STORE);
    expect_events(&b, "invalidate l1 1, invalidate l2 1");
    bench_access(&b, 1, A, MEM_STORE);
    expect_events(&b, "transfer l1 1, invalidate l1 2 dirty, invalidate l2 2 dirty, "
                      "fill l2 1 dirty, fill l1 1 dirty");
    bench_access(&b, 3, A + 64, MEM_LOAD);
    expect_events(&b, "invalidate l1 1 dirty, invalidate l2 1 dirty, evict l3 3 dirty, fill l3 3, "
                      "fill l2 3, fill l1 3");
    bench_close(&b);
}

/* ---- machines that can't be ----------------------------------------------------------------- */

static void refused(const char *settings, const char *says)
{
    struct bench b;

    assert_false(bench_open(&b, (struct bench_options){0}, settings));
    assert_int_equal(b.e.code, LARD_CONFIG);
    if (!strstr(b.e.text, says))
        fail_msg("'%s' does not say '%s'", b.e.text, says);
    bench_close(&b);
}

static void test_impossible_machines_are_refused(void **unused)
{
    struct bench b;

    (void)unused;
    refused("l1.size=512Ki", "l1.size: ");
    refused("l1.latency=0", "l1.latency");
    refused("l2.latency=1", "l2.latency: ");
    refused("l3.latency=10", "l3.latency: ");
    refused("l2.size=0 l3.latency=1", "l3.latency: ");
    refused("l3.size=0", "l3.size");
    refused("l1.size=100Ki l1.ways=7", "l1: ");
    refused("l3.size=1000", "l3: ");
    refused("coherence.remote-cost=total coherence.remote=0", "coherence.remote: ");
    refused("l3.inclusion=non-inclusive l3.directory-size=3", "l3.directory-size: ");
    refused("network.link-bytes=3", "network.link-bytes: ");
    assert_false(bench_open(&b, (struct bench_options){.cores = 129}, ""));
    assert_non_null(strstr(b.e.text, "129 cores"));
    bench_close(&b);
    assert_false(bench_open(&b, (struct bench_options){.cores = 128},
                            "l1.size=256Mi l2.size=256Mi l3.size=1Gi"));
    assert_non_null(strstr(b.e.text, "l2.size: "));
    bench_close(&b);
}

static void test_odd_machines_are_possible(void **unused)
{
    static const char *const settings[] = {
        "l1.size=512Ki l2.inclusion=exclusive",
        "l2.latency=1 l3.latency=1 coherence.composition=cumulative",
        "l2.size=4Mi",      /* L2s larger than the L3 */
        "l3.size=12582912", /* sets that are no power of two */
        "l3.banks=3 l3.inclusion=non-inclusive l3.directory-ways=5",
        "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 l3.size=64 l3.ways=1",
    };

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        struct bench b;
        if (!bench_open(&b, (struct bench_options){.cores = 6}, settings[i]))
            fail_msg("%s", b.e.text);
        for (unsigned j = 0; j < 60; j++)
            bench_access(&b, j % 6, A + 64 * (j % 7), j % 3 ? MEM_LOAD : MEM_STORE);
        bench_close(&b);
    }
}

static void test_what_a_total_memory_latency_contains(void **unused)
{
    struct bench b;

    (void)unused;
    assert_true(bench_open(&b, (struct bench_options){0}, "l3.latency=40"));
    assert_int_equal(coherence_included(b.c), 40);
    bench_close(&b);
    assert_true(bench_open(&b, (struct bench_options){0}, "coherence.composition=cumulative"));
    assert_int_equal(coherence_included(b.c), 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_is_busy_until_its_transaction_is_done),
        cmocka_unit_test(test_a_line_is_busy_until_the_home_has_the_owners_answer),
        cmocka_unit_test(test_a_bank_takes_one_request_every_port_cycles),
        cmocka_unit_test(test_nothing_queues_without_contention),
        cmocka_unit_test(test_hops_count_with_and_without_contention),
        cmocka_unit_test(test_bytes_are_charged_to_whose_line_they_are),
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_all_128_cores_share),
        cmocka_unit_test(test_one_core_is_a_machine),
        cmocka_unit_test(test_line_events_say_what_happened_in_order),
        cmocka_unit_test(test_impossible_machines_are_refused),
        cmocka_unit_test(test_odd_machines_are_possible),
        cmocka_unit_test(test_what_a_total_memory_latency_contains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
