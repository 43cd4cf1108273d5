/* t_prefetch.c - which lines does a core's stream prefetcher ask for, when, at what price, and what
 * do the other cores see of it? One access at a time, to the cycle: docs/machine.md, "The stream
 * prefetcher". A load from memory takes 120 cycles, from the L3 35, from the L2 10. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define PAGE        0x10000 /* a page's first line: its home is at core 0 */
#define LINE(n)     (PAGE + 64 * (n))
#define STREAMS     "core.prefetch.streams=2 core.prefetch.degree=2 core.prefetch.distance=4 "
#define FROM_MEMORY "request 1/8, data 1/66, memory-read 1/8, memory-data 1/66"
#define THREE       "request 3/24, data 3/198, memory-read 3/24, memory-data 3/198"
#define TWO         "request 2/16, data 2/132, memory-read 2/16, memory-data 2/132"

static void with(const char *settings, void (*probe)(struct bench *b))
{
    struct bench b;

    if (!bench_open(&b, (struct bench_options){0}, settings))
        fail_msg("%s", b.e.text);
    probe(&b);
    bench_close(&b);
}

static void load(struct bench *b, unsigned core, unsigned line)
{
    bench_access(b, core, LINE(line), MEM_LOAD);
}

/* Lines [from, to] are in the L2 of the core and not in its L1; those beside them are in neither.
 */
static void has_ahead(struct bench *b, unsigned core, unsigned from, unsigned to)
{
    for (unsigned i = from - 1; i <= to + 1; i++) {
        const char l1 = coherence_state(b->c, core, LEVEL_L1, paddr_of(LINE(i)));
        const char l2 = coherence_state(b->c, core, LEVEL_L2, paddr_of(LINE(i)));
        if (i >= from && i <= to ? l1 != 'I' || l2 == 'I' : l1 == 'I' && l2 != 'I')
            fail_msg("line %u: %c in the L1, %c in the L2", i, l1, l2);
    }
}

/* ---- when a stream is one -------------------------------------------------------------------- */

static void upward(struct bench *b)
{
    bench_expect(b, 0, LINE(0), MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
    has_ahead(b, 0, 1, 0); /* none */
    bench_expect(b, 0, LINE(1), MEM_LOAD, 120, LEVEL_MEMORY, THREE);
    has_ahead(b, 0, 2, 3);
    bench_expect(b, 0, LINE(2), MEM_LOAD, 10, LEVEL_L2, TWO); /* goes on: an access each */
    has_ahead(b, 0, 3, 5);
    bench_expect(b, 0, LINE(3), MEM_STORE, 10, LEVEL_L2, TWO);
    has_ahead(b, 0, 4, 7);
    bench_expect(b, 0, LINE(4), MEM_ATOMIC, 10, LEVEL_L2, FROM_MEMORY); /* 4 ahead, no more */
    has_ahead(b, 0, 5, 8);
    bench_expect(b, 0, LINE(4), MEM_LOAD, 1, LEVEL_L1, ""); /* a hit says nothing */
    bench_counts(b, "core.prefetch.data.issued", 7);
    bench_counts(b, "core.prefetch.data.useful", 3);
    bench_counts(b, "core.prefetch.data.untouched", 4);
    bench_counts(b, "coherence.loads", 9);
}

static void downward(struct bench *b)
{
    load(b, 0, 9);
    bench_expect(b, 0, LINE(8), MEM_LOAD, 120, LEVEL_MEMORY, THREE);
    has_ahead(b, 0, 6, 7);
    bench_expect(b, 0, LINE(7), MEM_LOAD, 10, LEVEL_L2, TWO);
}

static void two_near_misses_are_a_stream(void **state)
{
    (void)state;
    with(STREAMS, upward);
    with(STREAMS, downward);
}

static void no_stream(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 5); /* too far off: a new beginning */
    load(b, 0, 3); /* downwards from 5: 2, 1 */
    bench_counts(b, "core.prefetch.data.issued", 2);
    has_ahead(b, 0, 1, 2);
    load(b, 0, 4); /* back: a new beginning */
    bench_counts(b, "core.prefetch.data.issued", 2);
    load(b, 0, 6); /* upwards from 4: 7, 8 */
    bench_counts(b, "core.prefetch.data.issued", 4);
    has_ahead(b, 0, 7, 8);
}

static void what_jumps_or_turns_is_none(void **state)
{
    (void)state;
    with(STREAMS, no_stream);
}

static void page_end(struct bench *b)
{
    load(b, 0, 61);
    load(b, 0, 62);
    has_ahead(b, 0, 63, 63); /* not 64 */
    load(b, 0, 63);
    bench_counts(b, "core.prefetch.data.issued", 1);
    load(b, 0, 64); /* another page: another stream */
    bench_counts(b, "core.prefetch.data.issued", 1);
    load(b, 0, 65);
    bench_counts(b, "core.prefetch.data.issued", 3);
}

static void page_begin(struct bench *b)
{
    load(b, 0, 65);
    load(b, 0, 64); /* downwards, and 63 is of the page before */
    bench_counts(b, "core.prefetch.data.issued", 0);
}

static void no_line_of_another_page_is_asked_for(void **state)
{
    (void)state;
    with(STREAMS, page_end);
    with(STREAMS, page_begin);
}

static void three_pages(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 64);
    load(b, 0, 128); /* room for two: page 0 is forgotten */
    load(b, 0, 1);
    bench_counts(b, "core.prefetch.data.issued", 0);
    load(b, 0, 129); /* 128 is still known, 64 went for 1 */
    bench_counts(b, "core.prefetch.data.issued", 2);
    load(b, 1, 2); /* another core knows nothing of it */
    bench_counts(b, "core.prefetch.data.issued", 2);
}

static void the_page_used_longest_ago_is_forgotten(void **state)
{
    (void)state;
    with(STREAMS, three_pages);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* The second load starts at 11000 and asks for the third line at once, which comes at 11120. */
static void late(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 1);
    b->now = 11030;
    bench_expect(b, 0, LINE(2), MEM_LOAD, 90, LEVEL_L2, TWO);
    bench_counts(b, "core.prefetch.data.late", 1);
    bench_counts(b, "core.prefetch.data.late-cycles", 80);
    bench_counts(b, "core.prefetch.data.useful", 0);
    b->now = 11115; /* it is there at 11120, and a hit takes until 11125 */
    bench_expect(b, 0, LINE(3), MEM_LOAD, 10, LEVEL_L2, TWO);
    bench_counts(b, "core.prefetch.data.useful", 1);
}

static void who_comes_early_waits_for_the_rest(void **state)
{
    (void)state;
    with(STREAMS, late);
}

static void few(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 1); /* at 11000: of 2 and 3 the first alone */
    has_ahead(b, 0, 2, 2);
    bench_counts(b, "core.prefetch.data.full", 1);
    load(b, 0, 2); /* at 21000: goes on where it stopped */
    has_ahead(b, 0, 3, 3);
}

static void so_many_may_be_under_way(void **state)
{
    (void)state;
    with(STREAMS "core.prefetch.misses=1", few);
}

/* ---- what others see ------------------------------------------------------------------------- */

static void modified_elsewhere(struct bench *b)
{
    bench_access(b, 1, LINE(2), MEM_STORE);
    load(b, 0, 0);
    load(b, 0, 1);
    line_is(b, 1, LEVEL_L1, LINE(2), SHARED); /* as by a load of core 0 */
    line_is(b, 0, LEVEL_L2, LINE(2), SHARED);
    line_is(b, 0, LEVEL_L2, LINE(3), EXCLUSIVE);
    bench_counts(b, "coherence.sharing-write-backs", 1);
    bench_expect(b, 0, LINE(2), MEM_STORE, 10 + 15, LEVEL_REMOTE,
                 "request 3/24, invalidate 1/8, ack 1/8, grant 1/8, data 2/132, memory-read 2/16, "
                 "memory-data 2/132");
    bench_counts(b, "core.prefetch.data.useful", 1);
}

static void taken_away(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 1);
    bench_access(b, 1, LINE(2), MEM_STORE);
    line_is(b, 0, LEVEL_L2, LINE(2), INVALID);
    bench_counts(b, "core.prefetch.data.useless", 1);
    bench_expect(b, 1, LINE(3), MEM_LOAD, 35 + 15, LEVEL_REMOTE, /* E in core 0 */
                 "request 3/24, forward 1/8, data 3/198, notice 1/8, memory-read 2/16, "
                 "memory-data 2/132");
    bench_counts(b, "core.prefetch.data.useless", 1); /* it keeps the line in S */
}

static void it_is_a_load_to_the_protocol(void **state)
{
    (void)state;
    with(STREAMS, modified_elsewhere);
    with(STREAMS, taken_away);
}

static void makes_room(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 1); /* 2 and 3 go into the L2 of four lines, of which 0 and 1 are the others */
    has_ahead(b, 0, 2, 3);
    bench_access(b, 0, LINE(100), MEM_LOAD);
    bench_access(b, 0, LINE(200), MEM_LOAD);
    bench_access(b, 0, LINE(300), MEM_LOAD);
    bench_counts(b, "core.prefetch.data.useless", 1);
    bench_counts(b, "l1.displaced", 2);
}

static void it_takes_room_in_the_l2(void **state)
{
    (void)state;
    with(STREAMS "l1.size=128 l1.ways=2 l2.size=256 l2.ways=4", makes_room);
}

static void group(struct bench *b)
{
    load(b, 1, 0);
    load(b, 1, 1);
    bench_expect(b, 0, LINE(2), MEM_LOAD, 10, LEVEL_L2, ""); /* the sibling's stream, its L2 */
    bench_counts(b, "core.prefetch.data.useful", 1);
    line_is(b, 0, LEVEL_L1, LINE(2), EXCLUSIVE);
    line_is(b, 1, LEVEL_L1, LINE(2), INVALID);
}

static void cores_that_share_an_l2_share_what_comes(void **state)
{
    (void)state;
    with(STREAMS "l2.shared-by=2", group);
}

static void exclusive(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 1);
    bench_expect(b, 0, LINE(2), MEM_LOAD, 10, LEVEL_L2, TWO);
    line_is(b, 0, LEVEL_L2, LINE(2), INVALID);
    bench_counts(b, "core.prefetch.data.useful", 1);
}

static void an_exclusive_l2_has_them_until_they_are_needed(void **state)
{
    (void)state;
    with(STREAMS "l2.inclusion=exclusive", exclusive);
}

/* ---- what there is not ----------------------------------------------------------------------- */

static void nothing(struct bench *b)
{
    load(b, 0, 0);
    load(b, 0, 1);
    bench_expect(b, 0, LINE(2), MEM_LOAD, 120, LEVEL_MEMORY, FROM_MEMORY);
}

static void refused(const char *settings, const char *a, const char *remedy, bool ce)
{
    struct bench b;

    if (bench_open(&b, (struct bench_options){.ce = ce}, settings))
        fail_msg("%s is accepted", settings);
    if (!strstr(b.e.text, a) || !strstr(b.e.text, remedy))
        fail_msg("%s: %s", settings, b.e.text);
    bench_close(&b);
}

static void by_default_there_is_none(void **state)
{
    (void)state;
    with("", nothing);
    refused("core.prefetch.streams=1 l2.size=0", "L2", "core.prefetch.streams=0", false);
    refused("core.prefetch.streams=1", "compat=ce", "core.prefetch.streams=0", true);
    refused("core.prefetch.streams=65", "core.prefetch.streams", "64", false);
    refused("core.prefetch.streams=1 core.prefetch.degree=0", "core.prefetch.degree", "1", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_near_misses_are_a_stream),
        cmocka_unit_test(what_jumps_or_turns_is_none),
        cmocka_unit_test(no_line_of_another_page_is_asked_for),
        cmocka_unit_test(the_page_used_longest_ago_is_forgotten),
        cmocka_unit_test(who_comes_early_waits_for_the_rest),
        cmocka_unit_test(so_many_may_be_under_way),
        cmocka_unit_test(it_is_a_load_to_the_protocol),
        cmocka_unit_test(it_takes_room_in_the_l2),
        cmocka_unit_test(cores_that_share_an_l2_share_what_comes),
        cmocka_unit_test(an_exclusive_l2_has_them_until_they_are_needed),
        cmocka_unit_test(by_default_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
