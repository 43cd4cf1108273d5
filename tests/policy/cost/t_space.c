/* t_space.c - is a policy's space beside the program's heap what counting by hand gives? The heap
 * is what is allocated or copied to and not cleared; both are looked at when a full collection ends
 * (Valor 6.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "policy/cost/space.h"

struct bench {
    struct stats *stats;
    struct live_heap heap;
    struct budget metadata;
    struct space space;
};

static void open_bench(struct bench *b)
{
    *b = (struct bench){.stats = stats_new()};
    struct stats_group *g = stats_group(stats_group(stats_root(b->stats), "policy"), "p");
    stats_level(g, "metadata.live", "bytes", "Live.", &b->metadata.live);
    stats_level(g, "metadata.peak", "bytes", "Peak.", &b->metadata.peak);
    space_init(&b->space, &b->heap, b->stats, "p", g);
}

static void close_bench(struct bench *b)
{
    live_heap_free(&b->heap);
    stats_free(b->stats);
}

static void happens(struct bench *b, enum ev_kind kind, sim_addr at, uint64_t bytes)
{
    const struct event ev[2] = {{.kind = (uint8_t)kind, .addr = at, .aux = bytes}, {.kind = 0}};

    live_heap_event(&b->heap, ev);
}

static uint64_t value(const struct bench *b, const char *name)
{
    uint64_t v = 0;

    char *full = xasprintf("policy.p.%s", name);
    if (!stats_value(b->stats, full, &v))
        fail_msg("there is no statistic %s", full);
    free(full);
    return v;
}

/* 100 and 50 bytes live, then 60 are copied, then the first 100 are dead: 110. */
static void what_lives_is_allocated_or_copied_and_not_cleared(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    happens(&b, EV_COPY, 0x5000, 10); /* nobody knows of allocations yet */
    assert_int_equal(b.heap.live, 0);
    happens(&b, EV_ALLOC, 0x1000, 100);
    happens(&b, EV_ALLOC, 0x2000, 50);
    happens(&b, EV_COPY, 0x3000, 60);
    assert_int_equal(b.heap.live, 210);
    happens(&b, EV_CLEAR, 0x1000, 100);
    happens(&b, EV_CLEAR, 0x1000, 100);
    assert_int_equal(b.heap.live, 110);
    happens(&b, EV_ALLOC, 0x2000, 50); /* over itself */
    assert_int_equal(b.heap.live, 110);
    assert_int_equal(b.heap.peak, 210);
    close_bench(&b);
}

/* After the first collection 200 and 100 of metadata, after the second 100 and 250: together 350 at
 * the most, where the heap alone has 200 at the most. */
static void the_most_and_the_mean_after_collections(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    happens(&b, EV_ALLOC, 0x1000, 200);
    budget_take(&b.metadata, 100);
    space_look(&b.space);
    happens(&b, EV_ALLOC, 0x2000, 5000); /* between collections nobody looks */
    happens(&b, EV_CLEAR, 0x2000, 5000);
    happens(&b, EV_CLEAR, 0x1000, 100);
    budget_take(&b.metadata, 150);
    space_look(&b.space);
    space_finish(&b.space);
    assert_int_equal(value(&b, "space.collections"), 2);
    assert_int_equal(value(&b, "space.heap"), 200);
    assert_int_equal(value(&b, "space.metadata"), 250);
    assert_int_equal(value(&b, "space.total"), 350);
    assert_int_equal(value(&b, "space.overhead"), 750);
    assert_int_equal(value(&b, "space.mean-heap"), 150);
    assert_int_equal(value(&b, "space.mean-metadata"), 175);
    assert_int_equal(value(&b, "space.mean-overhead"), 1167);
    close_bench(&b);
}

static void without_a_collection_the_peaks_stand_for_it(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    happens(&b, EV_ALLOC, 0x1000, 400);
    budget_take(&b.metadata, 100);
    budget_give(&b.metadata, 100);
    happens(&b, EV_CLEAR, 0x1000, 400);
    space_finish(&b.space);
    assert_int_equal(value(&b, "space.collections"), 0);
    assert_int_equal(value(&b, "space.heap"), 400);
    assert_int_equal(value(&b, "space.metadata"), 100);
    assert_int_equal(value(&b, "space.overhead"), 250);
    close_bench(&b);
}

static void a_trace_without_allocations_has_no_space(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    budget_take(&b.metadata, 100);
    space_look(&b.space);
    space_finish(&b.space);
    assert_int_equal(value(&b, "space.total"), 0);
    assert_int_equal(value(&b, "space.overhead"), 0);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lives_is_allocated_or_copied_and_not_cleared),
        cmocka_unit_test(the_most_and_the_mean_after_collections),
        cmocka_unit_test(without_a_collection_the_peaks_stand_for_it),
        cmocka_unit_test(a_trace_without_allocations_has_no_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
