/* t_map.c - does the table keep what was put into it, whatever is taken out? Held against an array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gem5/map.h"

enum { KEYS = 300, STEPS = 200000 };

static void it_is_an_array_by_key(void **state)
{
    static uint64_t is[KEYS]; /* 0: not there */
    struct lard_map m = {0};
    uint64_t draw = 88172645463325252u;

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        draw ^= draw << 13, draw ^= draw >> 7, draw ^= draw << 17;
        const size_t i = draw % KEYS;
        const uint64_t key = i * 0x1000 + (i & 1 ? 1u << 30 : 0);

        if (draw >> 60 < 8) {
            assert_true(lard_map_put(&m, key, draw | 1));
            is[i] = draw | 1;
        } else {
            lard_map_remove(&m, key);
            is[i] = 0;
        }
        for (size_t k = draw % 7; step % 64 == 0 && k < KEYS; k += 7) {
            const uint64_t *found = lard_map_find(&m, k * 0x1000 + (k & 1 ? 1u << 30 : 0));

            if (found ? *found != is[k] : is[k] != 0)
                fail_msg("step %d: key %zu is %s, and was %s", step, k,
                         found ? "there" : "not there", is[k] ? "put there" : "not");
        }
    }
    lard_map_free(&m);
    assert_null(lard_map_find(&m, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_an_array_by_key)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
