/* t_twin.c - does a twin choose as it should? Its shares come out exactly, as what is missed at one
 * time is owed at the next; each block that it takes is one that it may take; numbers are divided
 * among threads without a rest; and what a run has been asked for is what it has, to the last few
 * accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "workloads/twins/twin.c" /* how it chooses has no header */
#include "workloads/measure/measure.h"

/* ---- shares ---------------------------------------------------------------------------------- */

static uint32_t bits_next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*random >> 32);
}

static void shares_come_out_exactly(void **state)
{
    static const struct {
        uint64_t part, of, want; /* of 100000 draws */
    } cases[] = {{0, 7, 0},          {1, 100, 1000}, {1, 3, 33333},  {50, 100, 50000},
                 {999, 1000, 99900}, {5, 5, 100000}, {9, 5, 100000}, {3, 0, 0}};
    uint64_t random = 7;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rate r = rate_of(cases[i].part, cases[i].of);
        uint64_t n = 0;
        assert_int_equal(r.owed, 0);
        for (int k = 0; k < 100000; k++)
            n += draw(&r, bits_next(&random));
        if (n > cases[i].want + 1 || n + 1 < cases[i].want)
            fail_msg("%d of %d: %d times, not %d", (int)cases[i].part, (int)cases[i].of, (int)n,
                     (int)cases[i].want);
    }
    /* Half of it was chosen by others: so much less is chosen here. */
    struct rate r = rate_of(3, 4);
    uint64_t n = 0;
    for (int k = 0; k < 1000; k++) {
        took_place(&r, k % 2);
        n += draw(&r, bits_next(&random));
    }
    assert_in_range(n, 1500 - 500 - 1, 1500 - 500 + 1);
}

/* ---- a thread by hand ------------------------------------------------------------------------ */

enum { KEEP = 4 };
struct hand {
    struct twin_params p;
    struct job job;
    struct worker w;
    struct block own[KEEP], shared[4];
};

static struct hand *hand_new(void)
{
    static struct hand h;

    h = (struct hand){.p = {.keep = KEEP, .arrays = 50, .length = 32, .accesses = 10000}};
    h.job = (struct job){.p = &h.p, .shared = h.shared, .n_shared = 4, .accesses = 1000};
    h.w = (struct worker){.job = &h.job, .own = h.own, .random = 1, .region = 5, .left = 1000};
    for (unsigned i = 0; i < KEEP; i++) {
        h.own[i] = (struct block){.n = 8, .step = 1};
        h.shared[i] = (struct block){.n = 8, .step = 1, .array = i == 2};
    }
    return &h;
}

static void blocks_are_arrays_for_their_share(void **state)
{
    struct hand *h = hand_new();
    struct mix m = {0, 0};

    (void)state;
    h->job.places = 100;
    h->job.elements = 50;
    assert_true(next_is_array(&h->job)); /* as long as there are not more */
    assert_false(has_enough(&h->job, true));
    assert_true(has_enough(&h->job, false));
    h->job.elements = 51;
    assert_false(next_is_array(&h->job));
    assert_true(has_enough(&h->job, true));
    h->p.arrays = 0;
    h->job.elements = 0;
    assert_false(next_is_array(&h->job));

    assert_false(is_mixed(&h->p));
    h->p.array_accesses = 300;
    assert_false(is_mixed(&h->p));
    h->p.arrays = 100;
    assert_false(is_mixed(&h->p));
    h->p.arrays = 99;
    assert_true(is_mixed(&h->p));
    assert_true(wants_array(&h->p, &m));
    chose(&m, &(struct block){.n = 70});
    assert_true(wants_array(&h->p, &m));
    chose(&m, &(struct block){.n = 30, .array = true});
    assert_int_equal(m.places, 100);
    assert_int_equal(m.elements, 30);
    assert_true(wants_array(&h->p, &m));
    chose(&m, &(struct block){.n = 1, .array = true});
    assert_false(wants_array(&h->p, &m));
}

static void arrays_are_finished_where_they_are_whole(void **state)
{
    struct hand *h = hand_new();
    struct block b = {.n = 32, .step = 1, .array = true};
    struct cursor c = {&b, 0, 31};

    (void)state;
    assert_false(unfinished(&h->w, &c));
    h->p.whole = true;
    assert_true(unfinished(&h->w, &c));
    c.at = 32;
    assert_false(unfinished(&h->w, &c));
    c.at = 3;
    b.step = 5;
    assert_false(unfinished(&h->w, &c));
    b.step = 1;
    b.array = false;
    assert_false(unfinished(&h->w, &c));
    assert_false(unfinished(&h->w, &(struct cursor){NULL, 0, 0}));
    /* what is forced counts as chosen */
    h->w.writes = h->w.again_writes = h->w.again_reads = rate_of(1, 2);
    forced(&h->w, true);
    assert_int_equal(h->w.left, 999);
    assert_true(h->w.writes.owed == ONE / 2 - ONE);
    assert_true(h->w.again_writes.owed == ONE / 2);
    assert_true(h->w.again_reads.owed == 0);
    forced(&h->w, false);
    assert_true(h->w.writes.owed == 0);
    assert_true(h->w.again_reads.owed == ONE / 2);
    h->w.left = 0;
    forced(&h->w, false);
    assert_int_equal(h->w.left, 0);
}

static void bytes_are_owed_as_accesses_go_on(void **state)
{
    struct hand *h = hand_new();

    (void)state;
    h->p.alloc = 2000;
    h->w.left = 900; /* 100 are done */
    assert_int_equal(owed_bytes(&h->w), 200);
    h->w.allocated = 250;
    assert_int_equal(owed_bytes(&h->w), -50);
    assert_true(renews(&h->w));
    h->w.allocated = 200;
    assert_true(renews(&h->w));
    h->w.allocated = 199;
    assert_false(renews(&h->w));
    make_texts(&h->w); /* a byte is too little for one */
    assert_int_equal(h->w.allocated, 199);
    h->p.alloc = 0;
    h->w.renew = rate_of(1, 1);
    assert_true(renews(&h->w));
    h->w.renew = rate_of(0, 1);
    assert_false(renews(&h->w));
}

static void blocks_that_are_read_are_old_and_others(void **state)
{
    struct hand *h = hand_new();

    (void)state;
    h->w.n_own = KEEP;
    h->w.fill.in = &h->own[0];
    h->own[1].read_in = 5; /* in this region */
    assert_ptr_equal(old_block(&h->w, false, false), &h->own[2]);
    assert_ptr_equal(old_block(&h->w, false, false), &h->own[3]);
    h->own[2].read_in = 5;
    assert_null(old_block(&h->w, false, false)); /* three tries: 0, 1 and 2 */
    assert_ptr_equal(old_block(&h->w, false, false), &h->own[3]);
    h->w.n_own = 1;
    assert_null(old_block(&h->w, false, false));
    /* objects and arrays by turns: kinds have places of their own */
    h->w.n_own = KEEP;
    h->w.next_scan = 0;
    h->own[2].read_in = h->own[1].read_in = 0;
    assert_ptr_equal(old_block(&h->w, true, true), &h->own[1]);
    assert_ptr_equal(old_block(&h->w, true, true), &h->own[3]);
    assert_ptr_equal(old_block(&h->w, true, false), &h->own[2]); /* 0 is being filled */
    h->own[3].n = 0;
    h->w.next_scan = 1;
    assert_ptr_equal(old_block(&h->w, true, true), &h->own[1]);

    assert_ptr_equal(shared_block(&h->w, false, true), &h->shared[0]);
    assert_ptr_equal(shared_block(&h->w, true, true), &h->shared[2]);
    assert_ptr_equal(shared_block(&h->w, true, false), &h->shared[3]);
    assert_ptr_equal(shared_block(&h->w, true, true), &h->shared[2]);
    h->shared[2].array = false;
    h->w.next_shared = 0;
    assert_ptr_equal(shared_block(&h->w, true, true), &h->shared[3]); /* there is none: after all */
}

static void blocks_that_are_filled_go_round(void **state)
{
    struct hand *h = hand_new();

    (void)state;
    h->own[0].n = h->own[2].n = 8;
    h->own[1].n = h->own[3].n = 0;
    h->job.elements = 100; /* arrays enough, so not enough objects */
    h->job.places = 100;
    assert_ptr_equal(own_to_fill(&h->w, false), &h->own[0]);
    assert_ptr_equal(own_to_fill(&h->w, false), &h->own[2]);
    assert_ptr_equal(own_to_fill(&h->w, false), &h->own[0]);
    assert_ptr_equal(own_to_fill(&h->w, true),
                     &h->own[1]); /* which has nothing yet, nor has the first */
    h->own[1].n = 32;
    assert_ptr_equal(own_to_fill(&h->w, true), &h->own[1]); /* rather than a new one */
    assert_int_equal(h->w.next_kind[1], 1);
    h->own[1].filled_in = 5;
    assert_ptr_equal(own_to_fill(&h->w, true), &h->own[3]); /* it has been filled in this region */
    h->own[1].filled_in = 4;
    h->job.elements = 10;
    h->w.next_kind[1] = 1;
    assert_ptr_equal(own_to_fill(&h->w, true), &h->own[3]); /* there are not enough */
}

static void repeats_are_of_what_the_region_has(void **state)
{
    struct block b = {.n = 32, .step = 1};
    const struct cursor some = {&b, 10, 14}, none = {&b, 10, 10};
    struct rate r = rate_of(1, 1);
    bool seen[32] = {false};

    (void)state;
    assert_true(again(&r, &some, 0));
    assert_true(r.owed == 0);
    assert_false(again(&r, &none, 0));
    assert_true(r.owed == ONE); /* it is made up for */
    for (uint64_t k = 0; k < 64; k++)
        seen[one_of(&some, k << 58)] = true;
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(seen[i], i >= 10 && i < 14);
}

static void what_is_due_comes_at_equal_distances(void **state)
{
    struct hand *h = hand_new();

    (void)state;
    assert_int_equal(time_of(&h->job, 0, 3), 750);
    assert_int_equal(time_of(&h->job, 1, 3), 500);
    assert_int_equal(time_of(&h->job, 2, 3), 250);
    assert_int_equal(time_of(&h->job, 3, 3), 0);
    assert_int_equal(time_of(&h->job, 0, 0), 0);
    h->w.fill.at = 7;
    h->w.scan.at = 9;
    h->w.statics_read = 3;
    next_region(&h->w);
    assert_int_equal(h->w.region, 6);
    assert_int_equal(h->w.fill.low, 7);
    assert_int_equal(h->w.scan.low, 9);
    assert_int_equal(h->w.statics_read, 0);
}

/* Of 10000 accesses 100 were made before; a quarter are writes; regions have 100. */
static void numbers_are_divided_among_threads(void **state)
{
    struct hand *h = hand_new();

    (void)state;
    h->p.reads = 3;
    h->p.writes = 1;
    h->p.region = 100;
    h->p.again_reads = 300;
    h->p.again_writes = 480;
    h->job.workers = 4;
    divide(&h->job, 4, 100);
    assert_int_equal(h->job.accesses, 9900 / 4);
    /* 100 regions, of which 3 are ended by forks and 4 by ends of threads */
    assert_int_equal(h->job.sections, 93 / 4);
    assert_int_equal(h->job.extra, 93 % 4);
    assert_true(h->job.writes.part == rate_of(2500 - 100, 9900).part);
    assert_true(h->job.again_reads.part == rate_of(3, 10).part);
    /* as many of all writes repeat as asked for, though none did before */
    assert_true(h->job.again_writes.part == rate_of(1, 2).part);
    h->p.statics = 1;
    h->p.classes = 8;
    divide(&h->job, 4, 2500);
    assert_int_equal(h->job.sections, 85 / 4); /* and 8 by classes */
    assert_true(h->job.writes.part == 0 && h->job.again_writes.part == 0);
    h->p.region = 10000;
    divide(&h->job, 4, 20000);
    assert_int_equal(h->job.accesses + h->job.sections + h->job.extra, 0);
}

static void members_take_every_burst_in_pairs(void **state)
{
    const struct twin_plants s = {.n = 7, .members = 3};
    static const unsigned of[3][5] = {{0, 2, 3, 5, 6}, {0, 1, 3, 4, 6}, {1, 2, 4, 5, 7}};

    (void)state;
    for (unsigned m = 0; m < 3; m++)
        for (unsigned i = 0, at = 0; i < 5; i++, at++) {
            at = twin_burst_next(&s, m, at);
            assert_int_equal(at, of[m][i]);
        }
    assert_int_equal(twin_races(&(struct twin_params){.plants = 3}), 30);
    assert_int_equal(twin_races(&(struct twin_params){.plants = 3, .races = 4}), 4);
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct wanted {
    enum trait trait;
    double least, most; /* value / of */
};

static void has(const char *settings, const struct wanted *wanted, size_t n)
{
    char *source = xasprintf("workload:xalan@valor,accesses=40k,plants=0,close=0,%s", settings);
    struct measure is[TRAIT_COUNT];
    struct err e = {0};

    if (source_measure(source, is, &e))
        fail_msg("%s: %s", source, e.text);
    for (size_t i = 0; i < n; i++) {
        const struct measure *m = &is[wanted[i].trait];
        const double x = (double)m->value / (double)m->of;
        if (!(x >= wanted[i].least && x <= wanted[i].most))
            fail_msg("%s: %s is %g, not from %g to %g", source, trait_info[wanted[i].trait].name, x,
                     wanted[i].least, wanted[i].most);
    }
    free(source);
}
#define HAS(settings, ...)                                                                         \
    has(settings, (const struct wanted[]){__VA_ARGS__},                                            \
        sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))

static void a_run_has_what_it_was_asked_for(void **state)
{
    (void)state;
    HAS("threads=4,live=0,reads=3,writes=1,again_reads=300,again_writes=400,region=80,arrays=25,"
        "statics=0,"
        "alloc=0,collections=3",
        {TRAIT_THREADS, 4, 4}, {TRAIT_LIVE, 4, 4}, {TRAIT_CHECKED, 39990, 40010},
        {TRAIT_READ_WRITE, 2.998, 3.002}, {TRAIT_UNCHANGED_READS, 29.9, 30.1},
        {TRAIT_UNCHANGED_WRITES, 39.9, 40.1}, {TRAIT_RELEASES, 499, 501},
        {TRAIT_ARRAY_LOCATIONS, 24, 26}, {TRAIT_COLLECTIONS, 3, 3}, {TRAIT_VOLATILES, 0, 0},
        {TRAIT_STATIC_READS, 0, 0});
    /* fewer at once, and volatiles for half of what is no fork and no end of a thread */
    HAS("threads=6,live=3,region=100,reads=1,writes=1,volatiles=50,statics=0",
        {TRAIT_THREADS, 6, 6}, {TRAIT_LIVE, 3, 3}, {TRAIT_CHECKED, 39990, 40010},
        {TRAIT_READ_WRITE, 0.998, 1.002}, {TRAIT_UNCHANGED_READS, 51.9, 52.1},
        {TRAIT_UNCHANGED_WRITES, 28.1, 28.3}, {TRAIT_RELEASES, 400, 400},
        {TRAIT_VOLATILES, 48, 49.5});
    HAS("threads=4,live=0,statics=300,classes=4,region=80,alloc=3000",
        {TRAIT_CHECKED, 39990, 40010}, {TRAIT_READ_WRITE, 4.43, 4.45},
        {TRAIT_UNCHANGED_READS, 51.9, 52.1}, {TRAIT_UNCHANGED_WRITES, 28.1, 28.3},
        {TRAIT_RELEASES, 500, 500}, {TRAIT_STATIC_READS, 298, 302}, {TRAIT_ALLOC_RATE, 2950, 3000},
        {TRAIT_ARRAY_LOCATIONS, 49, 51}, {TRAIT_VOLATILES, 0, 0});
    HAS("threads=4,live=0,statics=0,shared=0,arrays=100,again_reads=0,again_writes=0,alloc=0,renew="
        "0,region=40",
        {TRAIT_CHECKED, 39990, 40010}, {TRAIT_UNCHANGED, 0, 0}, {TRAIT_RELEASES, 1000, 1000},
        {TRAIT_READ_WRITE, 4.43, 4.45});
    HAS("threads=4,live=0,statics=0,shared=100,arrays=0,alloc=0,renew=100", {TRAIT_ARRAYS, 0, 0},
        {TRAIT_ARRAY_LOCATIONS, 0, 0}, {TRAIT_SHARED, 75, 90}, {TRAIT_CHECKED, 39990, 40010});
    HAS("threads=4,live=0,statics=0,arrays=30,array_accesses=700,alloc=0", {TRAIT_ARRAYS, 66, 70},
        {TRAIT_CHECKED, 39990, 40010}, {TRAIT_UNCHANGED_READS, 51.9, 52.1});
    /* of what a region has left of an array a little is more than asked for */
    HAS("threads=4,live=0,statics=0,whole=on,scatter=50,arrays=50,misses=20000,old=4,alloc=0",
        {TRAIT_CHECKED, 40000, 40100}, {TRAIT_FIRST_MISSES, 19, 22},
        {TRAIT_UNCHANGED_READS, 51.8, 52.1});
    HAS("threads=4,live=0,statics=0,plants=5,close=2,races=60", {TRAIT_RACY, 60, 60},
        {TRAIT_RACE_SITES, 5, 5}, {TRAIT_RACE_PAIRS, 5, 5}, {TRAIT_CHECKED, 39990, 40010});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_come_out_exactly),
        cmocka_unit_test(blocks_are_arrays_for_their_share),
        cmocka_unit_test(arrays_are_finished_where_they_are_whole),
        cmocka_unit_test(bytes_are_owed_as_accesses_go_on),
        cmocka_unit_test(blocks_that_are_read_are_old_and_others),
        cmocka_unit_test(blocks_that_are_filled_go_round),
        cmocka_unit_test(repeats_are_of_what_the_region_has),
        cmocka_unit_test(what_is_due_comes_at_equal_distances),
        cmocka_unit_test(numbers_are_divided_among_threads),
        cmocka_unit_test(members_take_every_burst_in_pairs),
        cmocka_unit_test(a_run_has_what_it_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
