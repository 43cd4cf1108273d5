/* t_slim_set.c - sets of indices: what is in them, in order, and of which blocks and strides they
 * are made. A set is held against an array of its members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/rng.h"
#include "policy/slimstate/set.h"

#include <cmocka.h>

enum { MOST = 320 };

static struct slim_set set_of(const bool *has, uint64_t n, struct budget *b)
{
    struct slim_set s = SLIM_SET_EMPTY;

    for (uint64_t i = 0; i < n; i++)
        if (has[i])
            assert_true(slim_set_add(&s, n, i, b));
    return s;
}

/* The largest divisor of n whose blocks are in the set as a whole or not at all. */
static uint64_t block_of(const bool *has, uint64_t n)
{
    for (uint64_t d = n; d > 1; d--) {
        bool whole = n % d == 0;
        for (uint64_t i = 1; i < n && whole; i++)
            whole = i % d == 0 || has[i] == has[i - 1];
        if (whole)
            return d;
    }
    return 1;
}

/* Whether what has the same rest by `by` is in the set as a whole or not at all. */
static bool strided(const bool *has, uint64_t n, uint64_t by)
{
    for (uint64_t i = 0; i < n; i++)
        if (has[i] != has[i % by])
            return false;
    return true;
}

static void is_as_its_members(const bool *has, uint64_t n)
{
    struct budget b = {0};
    struct slim_set s = set_of(has, n, &b);
    uint64_t next = UINT64_MAX;

    for (uint64_t i = n; i-- > 0;) {
        next = has[i] ? i : next;
        assert_int_equal(slim_set_has(&s, i), has[i]);
        assert_int_equal(slim_set_next(&s, i), next);
    }
    if (!slim_set_empty(&s) && slim_set_block(&s, n) != block_of(has, n))
        fail_msg("a set of %d indices is of blocks of %d, not of %d", (int)n, (int)block_of(has, n),
                 (int)slim_set_block(&s, n));
    for (uint64_t by = 1; by <= n; by++)
        if (slim_set_strided(&s, n, by) != strided(has, n, by))
            fail_msg("a set of %d indices is %smade of strides of %d", (int)n,
                     strided(has, n, by) ? "" : "not ", (int)by);
    slim_set_clear(&s);
    assert_true(slim_set_empty(&s));
    for (uint64_t i = 0; i < n; i++)
        assert_false(slim_set_has(&s, i));
    slim_set_free(&s, &b);
    assert_int_equal(b.live, 0);
}

static void a_set_has_what_was_added_in_blocks_as_large_as_can_be(void **state)
{
    static const uint64_t sizes[] = {1, 10, 48, 64, 96, 128, 240, 256, MOST};
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
        for (uint64_t d = 1; d <= sizes[k]; d++)
            for (unsigned draw = 0; draw < 4 && sizes[k] % d == 0; draw++) {
                bool has[MOST] = {false};
                for (uint64_t block = 0; block < sizes[k] / d; block++) {
                    const bool in = rng_chance(&r, 1, 2);
                    for (uint64_t i = 0; i < d; i++)
                        has[block * d + i] = in;
                }
                is_as_its_members(has, sizes[k]);
            }
}

/* The last bit of the last word has no other behind it. */
static void a_set_may_end_with_all_there_is(void **state)
{
    (void)state;
    for (uint64_t n = 64; n <= MOST; n += 64)
        for (uint64_t from = 0; from < n; from += 8) {
            bool has[MOST] = {false};
            for (uint64_t i = from; i < n; i++)
                has[i] = true;
            is_as_its_members(has, n);
        }
}

/* Parts of a stride, whose last one of each may end before the array does. */
static void a_set_of_strides_is_known_as_one(void **state)
{
    struct rng r;

    (void)state;
    rng_seed(&r, 2);
    for (uint64_t n = 1; n <= 200; n += 7)
        for (uint64_t by = 1; by <= n; by++) {
            bool has[MOST] = {false};
            for (uint64_t i = 0; i < n; i++)
                has[i] = i < by ? rng_chance(&r, 1, 2) : has[i - by];
            is_as_its_members(has, n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_what_was_added_in_blocks_as_large_as_can_be),
        cmocka_unit_test(a_set_may_end_with_all_there_is),
        cmocka_unit_test(a_set_of_strides_is_known_as_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
