/* t_containers.c - map, shadow pages, vector clocks, random numbers: against plain models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/base.h"
#include "base/budget.h"
#include "base/interval.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/shadow.h"
#include "base/vclock.h"

/* ---- map ------------------------------------------------------------------------------------ */

static void map_agrees_with_an_array(void **state)
{
    enum { KEYS = 300 };
    uint64_t model[KEYS] = {0};
    bool there[KEYS] = {false};
    struct budget budget = {0};
    struct map m;
    struct rng r;

    (void)state;
    map_init(&m, &budget);
    rng_seed(&r, 7);
    for (int i = 0; i < 20000; i++) {
        const size_t k = rng_below(&r, KEYS) % KEYS;     /* the remainder tells the compiler */
        const uint64_t key = k * UINT64_C(0x1000000001); /* many alike in their low bits */
        const uint64_t *found = map_find(&m, key);
        assert_int_equal(found != NULL, there[k]);
        if (found)
            assert_int_equal(*found, model[k]);
        if (rng_chance(&r, 1, 3)) {
            assert_int_equal(map_remove(&m, key), there[k]);
            there[k] = false;
        } else {
            uint64_t *v = map_put(&m, key);
            assert_int_equal(*v, there[k] ? model[k] : 0);
            *v = model[k] = rng_next(&r);
            there[k] = true;
        }
    }
    size_t n = 0, pos = 0, expected = 0;
    uint64_t key, *value;
    while (map_next(&m, &pos, &key, &value)) {
        const size_t k = key / UINT64_C(0x1000000001) % KEYS;
        assert_true(there[k]);
        n++;
    }
    for (size_t k = 0; k < KEYS; k++)
        expected += there[k];
    assert_int_equal(n, expected);
    map_free(&m);
    assert_int_equal(budget.live, 0);
    assert_true(budget.peak > 0);
}

static void map_takes_every_key(void **state)
{
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_C(0x8c1f5e0d3b7a9246), UINT64_C(1) << 63};
    struct map m;

    (void)state;
    map_init(&m, NULL);
    assert_null(map_find(&m, 0));
    assert_false(map_remove(&m, 0));
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        *map_put(&m, keys[i]) = i + 1;
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        assert_int_equal(*map_find(&m, keys[i]), i + 1);
    uint64_t key, *value, sum = 0;
    for (size_t pos = 0; map_next(&m, &pos, &key, &value);)
        sum += *value;
    assert_int_equal(sum, 1 + 2 + 3 + 4 + 5);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        assert_true(map_remove(&m, keys[i]));
        assert_false(map_remove(&m, keys[i]));
    }
    assert_int_equal(m.n, 0);
    map_free(&m);
}

/* ---- shadow --------------------------------------------------------------------------------- */

static bool drop_all(void *arg, sim_addr addr, void *cell)
{
    (void)addr;
    (void)cell;
    ++*(unsigned *)arg;
    return true;
}

static bool count_all(void *arg, sim_addr addr, void *cell)
{
    (void)addr;
    (void)cell;
    ++*(unsigned *)arg;
    return false;
}

static void shadow_agrees_with_an_array(void **state)
{
    enum { BYTES = 4096 };
    static uint32_t model[BYTES];
    struct rng r;

    (void)state;
    for (unsigned granule = 1; granule <= 8; granule *= 2) {
        struct budget budget = {0};
        struct shadow *s = shadow_new(granule, sizeof(uint32_t), &budget);
        const unsigned cells = BYTES / granule;
        memset(model, 0, sizeof model);
        rng_seed(&r, granule);
        for (int i = 0; i < 5000; i++) {
            const sim_addr a = rng_below(&r, BYTES);
            const unsigned cell = (unsigned)(a / granule);
            if (rng_chance(&r, 1, 20)) {
                const uint64_t n = rng_below(&r, BYTES - a) + 1;
                const unsigned last = (unsigned)((a + n - 1) / granule);
                unsigned visited = 0, expected = 0;
                for (unsigned c = cell; c <= last; c++) {
                    expected += model[c] != 0;
                    model[c] = 0;
                }
                shadow_each(s, a, n, drop_all, &visited);
                assert_int_equal(visited, expected);
            } else if (rng_chance(&r, 1, 2)) {
                uint32_t *v = shadow_get(s, a);
                assert_int_equal(*v, model[cell]);
                *v = model[cell] = (uint32_t)rng_next(&r) | 1;
            } else {
                const uint32_t *v = shadow_peek(s, a);
                assert_int_equal(v ? *v : 0, model[cell]);
            }
        }
        unsigned live = 0;
        for (unsigned c = 0; c < cells; c++)
            live += model[c] != 0;
        unsigned counted = 0, dropped = 0;
        shadow_each(s, 0, UINT64_MAX, count_all, &counted);
        assert_int_equal(counted, live);
        shadow_each(s, 0, BYTES, drop_all, &dropped);
        assert_int_equal(dropped, live);
        assert_int_equal(shadow_pages(s), 0);
        shadow_free(s);
        assert_int_equal(budget.live, 0);
    }
}

static void shadow_reaches_both_ends_of_the_address_space(void **state)
{
    struct shadow *s = shadow_new(8, 1, NULL);
    unsigned n = 0;

    (void)state;
    *(char *)shadow_get(s, 0) = 1;
    *(char *)shadow_get(s, UINT64_MAX) = 1;
    assert_non_null(shadow_peek(s, UINT64_MAX - 7));
    assert_int_equal(*(char *)shadow_peek(s, UINT64_MAX - 8), 0);
    assert_null(shadow_peek(s, 512));
    shadow_each(s, 0, UINT64_MAX, count_all, &n); /* at once, though the range has 2^55 pages */
    assert_int_equal(n, 2);
    shadow_all(s, count_all, &n); /* each once, the last of several bytes, too */
    assert_int_equal(n, 4);
    shadow_each(s, UINT64_MAX - 7, 8, drop_all, &n);
    shadow_each(s, 0, 0, drop_all, &n);
    assert_int_equal(shadow_pages(s), 1);
    shadow_free(s);
}

static void shadow_memory_follows_what_is_in_use(void **state)
{
    struct budget budget = {0};
    struct shadow *s = shadow_new(8, 16, &budget);
    unsigned n = 0;

    (void)state;
    for (sim_addr a = 0; a < 1 << 22; a += 1024) {
        memset(shadow_get(s, a), 1, 16);
        shadow_each(s, a, 8, drop_all, &n);
    }
    assert_true(budget.peak < 10000);
    shadow_free(s);
}

/* ---- vector clocks -------------------------------------------------------------------------- */

static void clocks_join_entry_by_entry(void **state)
{
    struct budget budget = {0};
    struct vclock a = {0}, b = {0};

    (void)state;
    assert_int_equal(vclock_get(&a, 65535), 0);
    vclock_set(&a, 3, 7, &budget);
    vclock_set(&b, 1, 2, &budget);
    vclock_set(&b, 3, 5, &budget);
    vclock_set(&b, 131071, 9, &budget);
    vclock_join(&a, &b, &budget);
    assert_int_equal(vclock_get(&a, 0), 0);
    assert_int_equal(vclock_get(&a, 1), 2);
    assert_int_equal(vclock_get(&a, 3), 7);
    assert_int_equal(vclock_get(&a, 131071), 9);
    vclock_copy(&b, &a, &budget);
    assert_int_equal(b.n, a.n);
    assert_memory_equal(b.at, a.at, a.n * sizeof *a.at);
    vclock_free(&a, &budget);
    vclock_free(&b, &budget);
    assert_int_equal(budget.live, 0);
}

static void epochs_hold_thread_and_time(void **state)
{
    const uint64_t times[] = {1, 2, (UINT64_C(1) << EPOCH_TIME_BITS) - 1};
    const uint32_t threads[] = {0, 1, 65535, EPOCH_THREADS - 1};
    struct vclock c = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        for (size_t j = 0; j < ARRAY_SIZE(times); j++) {
            const epoch e = epoch_make(threads[i], times[j]);
            assert_int_equal(epoch_thread(e), threads[i]);
            assert_int_equal(epoch_time(e), times[j]);
        }
    vclock_set(&c, 2, 5, NULL);
    assert_true(epoch_before(epoch_make(2, 5), &c));
    assert_false(epoch_before(epoch_make(2, 6), &c));
    assert_false(epoch_before(epoch_make(9, 1), &c));
    vclock_free(&c, NULL);
}

/* ---- random numbers ------------------------------------------------------------------------- */

static void random_numbers_are_the_same_everywhere(void **state)
{
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    const uint64_t first = rng_next(&r);
    uint64_t sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += rng_below(&r, 1000);
    assert_int_equal(first, UINT64_C(0xb3f2af6d0fc710c5));
    assert_int_equal(sum, 498908);
}

static void random_numbers_stay_in_range(void **state)
{
    struct rng r;
    unsigned hit[7] = {0};

    (void)state;
    rng_seed(&r, 99);
    for (int i = 0; i < 7000; i++)
        hit[rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(hit[i], 850, 1150);
    assert_int_equal(rng_below(&r, 1), 0);
    assert_false(rng_chance(&r, 0, 1000));
    assert_true(rng_chance(&r, 1000, 1000));
}

/* ---- pools ---------------------------------------------------------------------------------- */

/* Enough for slabs of every size; each block holds its own bytes until it is given back. */
static void pool_blocks_are_aligned_and_apart(void **state)
{
    enum { BLOCKS = 20000, BYTES = 192 };
    static unsigned char *block[BLOCKS];
    struct pool p = {.bytes = BYTES};

    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = pool_get(&p);
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        memset(block[i], i % 251, BYTES);
    }
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < BYTES; k++)
            assert_int_equal(block[i][k], i % 251);
    pool_give(&p, block[7]);
    pool_give(&p, block[3]);
    assert_ptr_equal(pool_get(&p), block[3]);
    assert_ptr_equal(pool_get(&p), block[7]);
    pool_free(&p);
    assert_non_null(pool_get(&p));
    pool_free(&p);
}

/* ---- sets of bytes -------------------------------------------------------------------------- */

enum { SPACE = 200 };

static void expect_set(struct interval *set, const bool in[SPACE])
{
    uint64_t n = 0;

    for (uint64_t x = 0; x < SPACE; x++) {
        const struct interval *s = interval_reaching(set, x);
        assert_int_equal(s && s->lo <= x, in[x]);
        assert_int_equal(interval_bytes(set, x, x), in[x]);
        n += in[x];
    }
    assert_int_equal(interval_bytes(set, 0, UINT64_MAX), n);
}

/* The set and a table of flags get the same additions, removals and moves. */
static void a_set_of_bytes_is_what_was_added_and_not_removed(void **state)
{
    struct interval *set = NULL;
    bool in[SPACE] = {false};
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    for (int step = 0; step < 3000; step++) {
        const uint64_t what = rng_below(&r, 5), bytes = 1 + rng_below(&r, 20);
        const uint64_t lo = rng_below(&r, SPACE - bytes), from = rng_below(&r, SPACE - bytes);
        if (what < 2)
            interval_add(NULL, &set, lo, lo + bytes - 1);
        else if (what < 4)
            interval_remove(NULL, &set, lo, lo + bytes - 1);
        else
            interval_move(NULL, &set, lo, from, bytes);
        if (what < 4)
            memset(in + lo, what < 2, bytes);
        else
            memmove(in + lo, in + from, bytes);
        expect_set(set, in);
    }
    interval_free(NULL, &set);
    assert_null(set);
}

static void expect_map(struct interval *map, const uint32_t mark[SPACE])
{
    for (uint64_t x = 0; x < SPACE; x++) {
        const struct interval *s = interval_meeting(map, x, x);
        if ((s ? s->mark : 0) != mark[x])
            fail_msg("byte %u has the mark %u in place of %u", (unsigned)x, s ? s->mark : 0,
                     mark[x]);
    }
}

/* The map and a table of marks get the same marks, removals and moves. */
static void a_map_of_bytes_has_the_mark_that_was_last_given(void **state)
{
    struct interval *map = NULL;
    uint32_t mark[SPACE] = {0};
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    for (uint32_t step = 1; step < 3000; step++) {
        const uint64_t what = rng_below(&r, 5), bytes = 1 + rng_below(&r, 20);
        const uint64_t lo = rng_below(&r, SPACE - bytes), from = rng_below(&r, SPACE - bytes);
        if (what < 2)
            interval_mark(NULL, &map, lo, lo + bytes - 1, step);
        else if (what < 4)
            interval_remove(NULL, &map, lo, lo + bytes - 1);
        else
            interval_move(NULL, &map, lo, from, bytes);
        for (uint64_t x = lo; what < 4 && x < lo + bytes; x++)
            mark[x] = what < 2 ? step : 0;
        if (what == 4)
            memmove(mark + lo, mark + from, bytes * sizeof *mark);
        expect_map(map, mark);
    }
    interval_free(NULL, &map);
    assert_null(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_agrees_with_an_array),
        cmocka_unit_test(map_takes_every_key),
        cmocka_unit_test(shadow_agrees_with_an_array),
        cmocka_unit_test(shadow_reaches_both_ends_of_the_address_space),
        cmocka_unit_test(shadow_memory_follows_what_is_in_use),
        cmocka_unit_test(clocks_join_entry_by_entry),
        cmocka_unit_test(epochs_hold_thread_and_time),
        cmocka_unit_test(pool_blocks_are_aligned_and_apart),
        cmocka_unit_test(random_numbers_are_the_same_everywhere),
        cmocka_unit_test(random_numbers_stay_in_range),
        cmocka_unit_test(a_set_of_bytes_is_what_was_added_and_not_removed),
        cmocka_unit_test(a_map_of_bytes_has_the_mark_that_was_last_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
