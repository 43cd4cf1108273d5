/* t_groups.c - what do cores that share an L2 pay for each other's lines, what do they send, and
 * what does the rest of the machine see of them? Four cores, two a group, one access at a time: the
 * rules of "Cores that share an L2" in docs/machine.md, to the cycle. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define A            0x10000 /* home at core 0 */
#define PAIRS        "l2.shared-by=2 l2.sibling=4 "
#define REQUEST_DATA "request 1/8, data 1/66"
#define FROM_MEMORY  "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66"

/* ---- inside a group ------------------------------------------------------------------------- */

static void shared_load_probe(struct bench *b)
{
    bench_expect(b, 0, A, MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
    line_is(b, 0, LEVEL_L1, A, EXCLUSIVE);
    bench_expect(b, 1, A, MEM_LOAD, 10 + 4, LEVEL_L2, ""); /* the sibling has E: it must share */
    line_is(b, 0, LEVEL_L1, A, SHARED);
    line_is(b, 1, LEVEL_L1, A, SHARED);
    line_is(b, 1, LEVEL_L2, A, EXCLUSIVE); /* outside, the group is the only holder */
    bench_expect(b, 1, A, MEM_LOAD, 1, LEVEL_L1, "");
}

static void test_a_siblings_load_stays_in_the_group(void **unused)
{
    (void)unused;
    bench_both(shared_load_probe, PAIRS);
}

static void store_probe(struct bench *b)
{
    bench_access(b, 0, A, MEM_LOAD);
    bench_access(b, 1, A, MEM_LOAD);
    bench_expect(b, 1, A, MEM_STORE, 10 + 4, LEVEL_L2, ""); /* S in the L1, E in the L2 */
    line_is(b, 0, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L1, A, MODIFIED);
    line_is(b, 0, LEVEL_L2, A, MODIFIED);
    bench_expect(b, 1, A, MEM_STORE, 1, LEVEL_L1, "");
    bench_expect(b, 0, A, MEM_ATOMIC, 10 + 4, LEVEL_L2, ""); /* takes it from the sibling's L1 */
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 0, LEVEL_L1, A, MODIFIED);
    bench_expect(b, 1, A, MEM_LOAD, 10 + 4, LEVEL_L2, ""); /* M is written down into the L2 */
    line_is(b, 0, LEVEL_L1, A, SHARED);
    line_is(b, 0, LEVEL_L2, A, MODIFIED);
    bench_counts(b, "l2.sibling-hits", 4);
    bench_counts(b, "l2.sibling-write-backs", 1);
}

static void test_a_siblings_store_stays_in_the_group(void **unused)
{
    (void)unused;
    bench_both(store_probe, PAIRS);
}

static void alone_probe(struct bench *b)
{
    bench_access(b, 0, A, MEM_LOAD);
    bench_access(b, 1, A, MEM_LOAD);
    for (unsigned i = 1; i <= 8; i++) /* out of core 0's L1 */
        bench_access(b, 0, A + i * 4096, MEM_LOAD);
    line_is(b, 0, LEVEL_L1, A, INVALID);
    bench_expect(b, 1, A, MEM_STORE, 10, LEVEL_L2, ""); /* still S there; nobody is in the way */
    line_is(b, 1, LEVEL_L1, A, MODIFIED);
}

static void test_who_is_alone_again_stores_after_asking_the_l2(void **unused)
{
    (void)unused;
    bench_both(alone_probe, PAIRS);
}

/* ---- between groups ------------------------------------------------------------------------- */

static void owner_probe(struct bench *b)
{
    bench_access(b, 1, A, MEM_STORE);
    bench_expect(b, 2, A, MEM_LOAD, 35 + 15, LEVEL_REMOTE,
                 "request 1/8, forward 1/8, data 1/66, write-back 1/66");
    line_is(b, 1, LEVEL_L1, A, SHARED);
    line_is(b, 1, LEVEL_L2, A, SHARED);
    bench_expect(b, 3, A, MEM_LOAD, 10, LEVEL_L2, "");
    bench_expect(b, 0, A, MEM_LOAD, 10, LEVEL_L2, "");
    /* Four L1s have it, and two holders: one is asked to give it up. */
    bench_expect(b, 3, A, MEM_STORE, 10 + 15, LEVEL_REMOTE,
                 "request 1/8, invalidate 1/8, ack 1/8, grant 1/8");
    line_is(b, 0, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 0, LEVEL_L2, A, INVALID);
    line_is(b, 2, LEVEL_L1, A, INVALID);
    line_is(b, 3, LEVEL_L1, A, MODIFIED);
}

static void test_the_directory_knows_groups(void **unused)
{
    (void)unused;
    bench_both(owner_probe, PAIRS);
}

static void victim_probe(struct bench *b)
{
    bench_access(b, 0, A, MEM_STORE);
    bench_access(b, 1, A, MEM_LOAD);
    bench_access(b, 1, A + 1024, MEM_LOAD); /* the L2 has one set of two ways */
    bench_expect(b, 1, A + 2048, MEM_LOAD, 120, LEVEL_MEMORY,
                 "request 1/8, ack 1/8, data 1/66, write-back 1/66, memory-read 1/8, "
                 "memory-data 1/66");
    line_is(b, 0, LEVEL_L1, A, INVALID);
    line_is(b, 1, LEVEL_L1, A, INVALID);
    line_is(b, 0, LEVEL_L3, A, L3_DIRTY);
}

static void test_a_victim_of_the_shared_l2_leaves_all_its_l1s(void **unused)
{
    (void)unused;
    bench_both(victim_probe, PAIRS "l1.size=64 l1.ways=1 l2.size=128 l2.ways=2");
}

/* ---- impossible ones ------------------------------------------------------------------------ */

static void refused(const char *settings, unsigned cores, const char *why)
{
    struct bench b;

    if (bench_open(&b, (struct bench_options){.cores = cores}, settings))
        fail_msg("%s is taken", settings);
    if (!strstr(b.e.text, why))
        fail_msg("%s: \"%s\" does not say \"%s\"", settings, b.e.text, why);
    bench_close(&b);
}

static void test_groups_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    refused("l2.shared-by=3", 6, "no power of 2");
    refused("l2.shared-by=4", 6, "no whole number of groups");
    refused("l2.shared-by=2 l2.inclusion=exclusive", 4, "inclusive");
    refused("l2.shared-by=2 l2.size=0", 4, "inclusive");
    refused("l2.shared-by=8 l1.size=64Ki l2.size=256Ki", 8, "can't hold");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_siblings_load_stays_in_the_group),
        cmocka_unit_test(test_a_siblings_store_stays_in_the_group),
        cmocka_unit_test(test_who_is_alone_again_stores_after_asking_the_l2),
        cmocka_unit_test(test_the_directory_knows_groups),
        cmocka_unit_test(test_a_victim_of_the_shared_l2_leaves_all_its_l1s),
        cmocka_unit_test(test_groups_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
