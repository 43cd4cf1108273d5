/* t_cache.c - the cache by hand: short sequences, which slot is filled, where lines go, what a
 * geometry that can't be is told. t_cache_model.c has the random streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache/cache.h"

enum { LINE = 64 };

/* ---- by hand -------------------------------------------------------------------------------- */

static struct cache_geometry shape(unsigned sets, unsigned ways, uint32_t replacement)
{
    return (struct cache_geometry){.bytes = (uint64_t)sets * ways * LINE,
                                   .ways = ways,
                                   .line = LINE,
                                   .replacement = replacement};
}

static struct cache make(unsigned sets, unsigned ways, uint32_t replacement)
{
    const struct cache_geometry g = shape(sets, ways, replacement);
    struct cache c;

    cache_init(&c, &g);
    return c;
}

/* Returns how many slots are valid. */
static unsigned resident(const struct cache *c)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < cache_slots(c); i++)
        n += cache_valid(c, i);
    return n;
}

static bool access_line(struct cache *c, uint64_t line)
{
    const uint32_t slot = cache_find(c, line);

    if (slot != CACHE_NONE)
        cache_touch(c, slot);
    else
        cache_put(c, cache_victim(c, line), line, 1);
    return slot != CACHE_NONE;
}

/* Accesses each line of the text, 'a' is line 0; gives hits as 'h' and misses as 'm'. */
static void expect(uint32_t replacement, unsigned ways, const char *lines, const char *answers)
{
    struct cache c = make(1, ways, replacement);

    assert_int_equal(strlen(lines), strlen(answers));
    for (size_t i = 0; lines[i]; i++)
        if (access_line(&c, (uint64_t)(lines[i] - 'a')) != (answers[i] == 'h'))
            fail_msg("%s: access %zu of %s is no %c", cache_replacement_text[replacement], i, lines,
                     answers[i]);
    cache_free(&c);
}

static void short_sequences_hit_and_miss_as_by_hand(void **state)
{
    (void)state;
    expect(REPLACE_LRU, 2, "abacab", "mmhmhm");
    expect(REPLACE_FIFO, 2, "abacab", "mmhmmm");
    expect(REPLACE_LRU, 4, "abcdeabcde", "mmmmmmmmmm");
    /* Belady's anomaly: FIFO with more ways hits less. */
    expect(REPLACE_FIFO, 3, "abcdabeabcde", "mmmmmmmhhmmh");
    expect(REPLACE_FIFO, 4, "abcdabeabcde", "mmmmhhmmmmmm");
    /* After abcd the tree points at a, a hit of a turns it to c; LRU would take b. */
    expect(REPLACE_PLRU, 4, "abcdaebac", "mmmmhmhhm");
    expect(REPLACE_LRU, 4, "abcdaeb", "mmmmhmm");
    /* Two lines hit, then a scan: the ones with hits survive what ends LRU's. */
    expect(REPLACE_SRRIP, 4, "ababcdefab", "mmhhmmmmhh");
    expect(REPLACE_LRU, 4, "ababcdefab", "mmhhmmmmmm");
    /* All have hits: all age to 3, the lowest goes, the new one is at 2 with three at 3. */
    expect(REPLACE_SRRIP, 2, "aabbcba", "mhmhmhm");
}

static void one_way_replaces_the_one(void **state)
{
    (void)state;
    for (uint32_t r = REPLACE_LRU; r <= REPLACE_SRRIP; r++)
        expect(r, 1, "aabbab", "mhmhmm");
}

static void an_invalid_slot_is_filled_first_the_lowest(void **state)
{
    (void)state;
    for (uint32_t r = REPLACE_LRU; r <= REPLACE_SRRIP; r++) {
        struct cache c = make(4, 4, r);
        for (uint64_t i = 0; i < 4; i++) {
            assert_int_equal(cache_victim(&c, 4 * i + 2), 8 + i);
            cache_put(&c, 8 + (uint32_t)i, 4 * i + 2, 1);
        }
        cache_drop(&c, 11);
        cache_drop(&c, 9);
        assert_int_equal(cache_victim(&c, 102), 9);
        assert_int_equal(resident(&c), 2);
        cache_put(&c, 9, 102, 1);
        assert_int_equal(cache_victim(&c, 106), 11);
        cache_free(&c);
    }
}

static void put_over_a_line_ends_it(void **state)
{
    (void)state;
    struct cache c = make(2, 2, REPLACE_LRU);

    cache_put(&c, 1, 10, 7);
    cache_put(&c, 1, 12, 9);
    assert_int_equal(cache_find(&c, 10), CACHE_NONE);
    assert_int_equal(cache_find(&c, 12), 1);
    assert_int_equal(c.state[1], 9);
    assert_int_equal(resident(&c), 1);
    cache_put(&c, 1, 12, 3); /* itself again */
    assert_int_equal(cache_find(&c, 12), 1);
    cache_free(&c);
}

static void last_keeps_the_place_of_a_dropped_line(void **state)
{
    (void)state;
    for (uint32_t r = REPLACE_LRU; r <= REPLACE_FIFO; r += REPLACE_FIFO - REPLACE_LRU) {
        struct cache c = make(1, 4, r);
        assert_int_equal(cache_last(&c, 0), 0);
        for (uint64_t i = 0; i < 3; i++)
            cache_put(&c, (uint32_t)i, i, 1);
        assert_int_equal(cache_last(&c, 9), 3); /* never filled */
        cache_put(&c, 3, 3, 1);
        cache_drop(&c, 1);
        assert_int_equal(cache_last(&c, 9), 0); /* although 1 is invalid */
        assert_int_equal(cache_victim(&c, 9), 1);
        cache_touch(&c, 0);
        assert_int_equal(cache_last(&c, 9), r == REPLACE_LRU ? 1 : 0);
        cache_free(&c);
    }
}

/* The clock is moved ahead by hand, as 2^31 uses take long. */
static void the_order_stays_when_the_clock_begins_anew(void **state)
{
    static const unsigned widths[] = {3, 8, 16};

    (void)state;
    for (size_t w = 0; w < ARRAY_SIZE(widths); w++)
        for (uint32_t r = REPLACE_LRU; r <= REPLACE_FIFO; r += REPLACE_FIFO - REPLACE_LRU) {
            const unsigned ways = widths[w];
            struct cache c = make(2, ways, r);
            for (uint32_t i = ways; i-- > 1;)
                cache_put(&c, ways + i, 2 * i + 1, 1); /* the last way first; way 0 is empty */
            c.clock = CACHE_LAST_CLOCK - 2;
            cache_put(&c, 0, 0, 1);
            assert_true(c.order[0] > CACHE_LAST_CLOCK - 2);
            cache_put(&c, 1, 2, 1); /* here */
            assert_true(c.clock <= 2 * ways && c.clock >= 2);
            assert_true(c.order[0] && c.order[0] < c.order[1]);
            assert_int_equal(c.order[2], 0);
            assert_int_equal(cache_last(&c, 1), ways);
            assert_int_equal(cache_victim(&c, 1), ways);
            cache_put(&c, ways, 1, 1);
            for (uint32_t i = ways; i-- > 1;) {
                assert_int_equal(cache_victim(&c, 1), ways + i);
                cache_put(&c, ways + i, 100 + 2 * i + 1, 1);
            }
            assert_int_equal(cache_victim(&c, 1), ways);
            cache_free(&c);
        }
}

static bool never(void *arg, uint32_t slot)
{
    (void)arg;
    (void)slot;
    return false;
}

static void no_slot_allowed_is_none_and_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t r = REPLACE_LRU; r <= REPLACE_SRRIP; r++) {
        struct cache a = make(1, 8, r), b = make(1, 8, r);
        for (uint64_t i = 0; i < 60; i++) {
            assert_int_equal(cache_victim_among(&a, i, never, NULL), CACHE_NONE);
            assert_int_equal(access_line(&a, i % 11), access_line(&b, i % 11));
            assert_memory_equal(a.tag, b.tag, 8 * sizeof *a.tag);
        }
        cache_free(&a);
        cache_free(&b);
    }
}

static void asking_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t r = REPLACE_LRU; r <= REPLACE_SRRIP; r++) {
        struct cache c = make(3, 4, r);
        for (uint64_t i = 0; i < 40; i++) {
            access_line(&c, i * 5 % 17);
            const uint32_t first = cache_victim(&c, 50);
            if (r != REPLACE_RANDOM)
                assert_int_equal(cache_victim(&c, 50), first);
            assert_int_equal(cache_find(&c, 50), CACHE_NONE);
        }
        cache_free(&c);
    }
}

/* ---- where lines go ------------------------------------------------------------------------- */

static void a_set_is_the_remainder_for_any_number(void **state)
{
    (void)state;
    static const unsigned sets[] = {1,   2,   3,   5,    6,    7,     63,    64,      65,     96,
                                    100, 127, 641, 1000, 4095, 12288, 65537, 1 << 20, 1000003};
    struct rng rng;

    rng_seed(&rng, 5);
    for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
        const struct cache_geometry g = shape(sets[s], 1, REPLACE_RANDOM);
        struct cache c;
        cache_init(&c, &g);
        for (unsigned i = 0; i < 3000; i++) {
            /* Any size of number, multiples of the sets and their neighbours, the last. */
            uint64_t n = rng_next(&rng) >> (1 + rng_below(&rng, 63));
            if (i % 3 == 1)
                n = n / sets[s] * sets[s] - (n >= sets[s] && i % 2);
            if (i % 100 == 2)
                n = (UINT64_C(1) << 63) - 1 - i / 100;
            assert_int_equal(cache_set(&c, n), n % sets[s]);
        }
        cache_free(&c);
    }
}

static void a_line_is_found_in_every_way_of_every_width(void **state)
{
    (void)state;
    for (unsigned ways = 1; ways <= 67; ways++) {
        struct cache c = make(3, ways, REPLACE_FIFO);
        const uint64_t high = UINT64_C(3) << 32; /* tags that differ in one half only */
        for (uint32_t w = 0; w < ways; w++)
            cache_put(&c, ways + w, 3 * w + 1 + w % 2 * high, 1);
        for (uint32_t w = 0; w < ways; w++) {
            assert_int_equal(cache_find(&c, 3 * w + 1 + w % 2 * high), ways + w);
            assert_int_equal(cache_find(&c, 3 * w + 1 + (w + 1) % 2 * high), CACHE_NONE);
        }
        assert_int_equal(cache_find(&c, 3 * ways + 1), CACHE_NONE);
        assert_int_equal(cache_find(&c, 0), CACHE_NONE); /* next to a full set, an empty one */
        assert_int_equal(cache_find(&c, 2), CACHE_NONE);
        cache_free(&c);
    }
}

static void one_set_of_1024_ways_works(void **state)
{
    (void)state;
    for (uint32_t r = REPLACE_LRU; r <= REPLACE_SRRIP; r++) {
        const struct cache_geometry g = shape(1, CACHE_MAX_WAYS, r);
        struct err e = {0};
        assert_int_equal(cache_check(&g, "l3", &e), 0);
        struct cache c = make(1, CACHE_MAX_WAYS, r);
        for (uint64_t i = 0; i < CACHE_MAX_WAYS; i++)
            assert_false(access_line(&c, i));
        for (uint64_t i = 0; i < CACHE_MAX_WAYS; i++)
            assert_true(access_line(&c, i));
        const uint32_t victim = cache_victim(&c, 5000);
        assert_true(r == REPLACE_RANDOM ? victim < CACHE_MAX_WAYS : victim == 0);
        cache_free(&c);
    }
}

/* ---- random --------------------------------------------------------------------------------- */

static void victims(struct cache *c, unsigned n, uint32_t *to)
{
    for (uint64_t i = 0; i < n; i++) {
        to[i] = cache_victim(c, 1000 + i);
        cache_put(c, to[i], 1000 + i, 1);
    }
}

static void random_is_its_seeds_and_no_one_elses(void **state)
{
    (void)state;
    enum { N = 400 };
    static uint32_t alone[N], again[N], other[N];
    struct cache_geometry g = shape(1, 8, REPLACE_RANDOM), h = g;
    struct cache a, b, c;

    h.seed = 1;
    cache_init(&a, &g);
    victims(&a, N, alone);
    cache_init(&b, &g);
    cache_init(&c, &h);
    for (unsigned i = 0; i < N; i++) { /* both take turns */
        again[i] = cache_victim(&b, 1000 + i);
        cache_put(&b, again[i], 1000 + i, 1);
        other[i] = cache_victim(&c, 1000 + i);
        cache_put(&c, other[i], 1000 + i, 1);
    }
    assert_memory_equal(alone, again, sizeof alone);
    assert_memory_not_equal(alone, other, sizeof alone);
    cache_free(&a);
    cache_free(&b);
    cache_free(&c);
}

static bool is_odd(void *arg, uint32_t slot)
{
    (void)arg;
    return slot & 1;
}

static void random_takes_each_slot_as_often(void **state)
{
    (void)state;
    struct cache c = make(1, 12, REPLACE_RANDOM);
    unsigned all[12] = {0}, odd[12] = {0};

    for (uint64_t i = 0; i < 12; i++)
        access_line(&c, i);
    for (unsigned i = 0; i < 12000; i++) {
        all[cache_victim(&c, 99)]++;
        odd[cache_victim_among(&c, 99, is_odd, NULL)]++;
    }
    for (unsigned w = 0; w < 12; w++) { /* the mean +- more than 6 standard deviations */
        assert_in_range(all[w], 1000 - 200, 1000 + 200);
        assert_in_range(odd[w], w & 1 ? 2000 - 260 : 0, w & 1 ? 2000 + 260 : 0);
    }
    cache_free(&c);
}

/* ---- geometries that can't be --------------------------------------------------------------- */

struct wrong {
    uint64_t bytes;
    uint32_t ways, line, replacement;
    const char *text;
};
static const struct wrong wrongs[] = {
    {0, 8, 64, REPLACE_LRU,
     "l2: 0 bytes hold 0 lines of 64 bytes, fewer than 8 ways; give at least 512 bytes, or fewer "
     "ways"},
    {32768, 0, 64, REPLACE_LRU, "l2: 0 ways are impossible; give 1 to 1024"},
    {1 << 20, 1025, 64, REPLACE_LRU, "l2: 1025 ways are impossible; give 1 to 1024"},
    {32768, 8, 0, REPLACE_LRU, "l2: a line of 0 bytes is no power of two from 2 up; give 64"},
    {32768, 8, 1, REPLACE_LRU, "l2: a line of 1 bytes is no power of two from 2 up; give 64"},
    {32768, 8, 96, REPLACE_LRU, "l2: a line of 96 bytes is no power of two from 2 up; give 64"},
    {32768, 12, 64, REPLACE_PLRU,
     "l2: the tree of plru needs a power of two of ways, not 12; give 8 or 16 ways, or the "
     "replacement lru"},
    {32768, 3, 64, REPLACE_PLRU,
     "l2: the tree of plru needs a power of two of ways, not 3; give 2 or 4 ways, or the "
     "replacement lru"},
    {32769, 8, 64, REPLACE_LRU,
     "l2: 32769 bytes are no multiple of the line of 64; give 32768 or 32832 bytes"},
    {512, 16, 64, REPLACE_LRU,
     "l2: 512 bytes hold 8 lines of 64 bytes, fewer than 16 ways; give at least 1 KiB, or fewer "
     "ways"},
    {102400, 7, 64, REPLACE_LRU,
     "l2: 100 KiB in 7 ways of 64 bytes is no whole number of sets; give 102144 or 102592 bytes, "
     "or 8 ways"},
    {5 * 64, 3, 64, REPLACE_FIFO,
     "l2: 320 bytes in 3 ways of 64 bytes is no whole number of sets; give 192 or 384 bytes, or 5 "
     "ways"},
    {UINT64_C(1021) * 64, 1020, 64, REPLACE_FIFO,
     "l2: 65344 bytes in 1020 ways of 64 bytes is no whole number of sets; give 65280 or 130560 "
     "bytes, or 1021 ways"},
    {UINT64_C(1025) * 64, 1024, 64, REPLACE_FIFO,
     "l2: 65600 bytes in 1024 ways of 64 bytes is no whole number of sets; give 65536 or 131072 "
     "bytes, or 205 ways"},
    {UINT64_C(1031) * 64, 3, 64, REPLACE_FIFO,
     "l2: 65984 bytes in 3 ways of 64 bytes is no whole number of sets; give 65856 or 66048 "
     "bytes, or 1 way"},
    {UINT64_MAX, 8, 64, REPLACE_LRU,
     "l2: 18446744073709551615 bytes are more than 67108864 lines of 64 bytes; give at most 4 GiB"},
    {(UINT64_C(1) << 32) + 64, 1, 64, REPLACE_LRU,
     "l2: 4294967360 bytes are more than 67108864 lines of 64 bytes; give at most 4 GiB"},
    {UINT64_MAX, 1024, UINT32_C(1) << 31, REPLACE_LRU,
     "l2: 18446744073709551615 bytes are more than 67108864 lines of 2147483648 bytes; give at "
     "most 134217728 GiB"},
    {64, 8, UINT32_C(1) << 31, REPLACE_LRU,
     "l2: 64 bytes hold 0 lines of 2147483648 bytes, fewer than 8 ways; give at least 16 GiB, "
     "or fewer ways"},
};

static void impossible_geometries_are_told_what_would_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++) {
        const struct wrong *w = &wrongs[i];
        const struct cache_geometry g = {
            .bytes = w->bytes, .ways = w->ways, .line = w->line, .replacement = w->replacement};
        struct err e = {0};
        assert_int_equal(cache_check(&g, "l2", &e), -1);
        assert_int_equal(e.code, LARD_CONFIG);
        assert_string_equal(e.text, w->text);
    }
}

static void sizes_that_an_error_proposes_are_accepted(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= 40; ways++)
        for (uint64_t lines = ways; lines < 90; lines++) {
            struct cache_geometry g = {.bytes = lines * 64, .ways = ways, .line = 64};
            struct err e = {0};
            unsigned long long below, above;
            unsigned other;
            if (cache_check(&g, "", &e) == 0)
                continue;
            const char *give = strstr(e.text, "give ");
            assert_non_null(give);
            assert_int_equal(sscanf(give, "give %llu or %llu bytes, or %u", &below, &above, &other),
                             3);
            err_clear(&e);
            g.bytes = below;
            assert_int_equal(cache_check(&g, "", &e), 0);
            g.bytes = above;
            assert_int_equal(cache_check(&g, "", &e), 0);
            g.bytes = lines * 64;
            g.ways = other;
            assert_int_equal(cache_check(&g, "", &e), 0);
        }
}

static void the_least_and_the_largest_geometry_pass(void **state)
{
    (void)state;
    struct err e = {0};
    const struct cache_geometry least = {.bytes = 2, .ways = 1, .line = 2};
    const struct cache_geometry most = {.bytes = UINT64_C(1) << 32, .ways = 16, .line = 64};
    struct cache c;

    assert_int_equal(cache_check(&least, "l1", &e), 0);
    assert_int_equal(cache_check(&most, "l3", &e), 0);
    assert_int_equal(e.code, 0);
    cache_init(&c, &least);
    assert_false(access_line(&c, INT64_MAX)); /* the line of the last address */
    assert_true(access_line(&c, INT64_MAX));
    assert_false(access_line(&c, 0));
    cache_free(&c);
    cache_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sequences_hit_and_miss_as_by_hand),
        cmocka_unit_test(one_way_replaces_the_one),
        cmocka_unit_test(an_invalid_slot_is_filled_first_the_lowest),
        cmocka_unit_test(put_over_a_line_ends_it),
        cmocka_unit_test(last_keeps_the_place_of_a_dropped_line),
        cmocka_unit_test(the_order_stays_when_the_clock_begins_anew),
        cmocka_unit_test(no_slot_allowed_is_none_and_changes_nothing),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(a_set_is_the_remainder_for_any_number),
        cmocka_unit_test(a_line_is_found_in_every_way_of_every_width),
        cmocka_unit_test(one_set_of_1024_ways_works),
        cmocka_unit_test(random_is_its_seeds_and_no_one_elses),
        cmocka_unit_test(random_takes_each_slot_as_often),
        cmocka_unit_test(impossible_geometries_are_told_what_would_do),
        cmocka_unit_test(sizes_that_an_error_proposes_are_accepted),
        cmocka_unit_test(the_least_and_the_largest_geometry_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
