/* t_outside.c - does a machine whose caches are a host's know where lines are, as it was told? The
 * answers are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/machine/outside.h"

enum { A = 0x1000, B = 0x1040 };

struct rig {
    struct outside *o;
    struct caches caches; /* as a policy has them */
    struct stats *stats;
    struct err err;
    struct outside_access last; /* that the host was asked to make */
    unsigned answers, asked;
};

static uint64_t makes(void *host, const struct outside_access *a, unsigned *level)
{
    struct rig *r = host;

    r->last = *a;
    r->asked++;
    *level = r->answers;
    return 17;
}

static void open_rig(struct rig *r)
{
    *r = (struct rig){.stats = stats_new(), .answers = LEVEL_L3};
    r->o = outside_new(&(struct outside_env){
        .access = makes, .host = r, .stats = r->stats, .cores = 4, .line = 64, .err = &r->err});
    r->caches = outside_caches(r->o);
}

static void close_rig(struct rig *r)
{
    outside_free(r->o);
    stats_free(r->stats);
}

static void told(struct rig *r, enum line_what what, enum mem_level level, unsigned core,
                 sim_addr addr)
{
    const struct line_event le = {.addr = paddr_of(addr),
                                  .what = (uint8_t)what,
                                  .level = (uint8_t)level,
                                  .core = (uint8_t)core};

    outside_line(r->o, &le, 1 << LINE_EVICT);
}

static enum mem_level where_is(const struct rig *r, unsigned core, sim_addr addr)
{
    return r->caches.type->where(r->caches.self, core, paddr_of(addr));
}

static void the_nearest_cache_that_has_it_counts(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    assert_int_equal(where_is(&r, 0, A), LEVEL_NONE);
    told(&r, LINE_FILL, LEVEL_L3, 0, A);
    told(&r, LINE_FILL, LEVEL_L2, 0, A + 8);
    assert_int_equal(where_is(&r, 0, A + 63), LEVEL_L2);
    assert_int_equal(where_is(&r, 1, A), LEVEL_L3);
    assert_int_equal(where_is(&r, 0, B), LEVEL_NONE);
    told(&r, LINE_FILL, LEVEL_L1, 0, A);
    assert_int_equal(where_is(&r, 0, A), LEVEL_L1);
    told(&r, LINE_DOWNGRADE, LEVEL_L1, 0, A);
    assert_int_equal(where_is(&r, 0, A), LEVEL_L1);
    told(&r, LINE_EVICT, LEVEL_L1, 0, A);
    assert_int_equal(where_is(&r, 0, A), LEVEL_L2);
    told(&r, LINE_TRANSFER, LEVEL_L1, 3, A);
    assert_int_equal(where_is(&r, 3, A), LEVEL_L1);
    told(&r, LINE_INVALIDATE, LEVEL_L2, 0, A);
    assert_int_equal(where_is(&r, 0, A), LEVEL_L3);
    told(&r, LINE_EVICT, LEVEL_L3, 0, A);
    assert_int_equal(where_is(&r, 0, A), LEVEL_NONE);
    assert_int_equal(where_is(&r, 3, A), LEVEL_L1); /* as it was told: not inclusive */
    told(&r, LINE_EVICT, LEVEL_L1, 2, A);           /* it never was there */
    assert_int_equal(where_is(&r, 2, A), LEVEL_NONE);
    assert_int_equal(outside_lines(r.o)->n, 3); /* what is heard, of the line */
    assert_int_equal(outside_lines(r.o)->at[0].addr.at, A);
    close_rig(&r);
}

static void a_drop_leaves_it_nowhere(void **state)
{
    struct rig r;
    uint8_t level;

    (void)state;
    open_rig(&r);
    assert_int_equal(r.caches.type->drop(r.caches.self, 1, paddr_of(A), &level, 100), 100);
    assert_int_equal(level, LEVEL_NONE);
    assert_int_equal(r.asked, 0);
    told(&r, LINE_FILL, LEVEL_L3, 0, A);
    told(&r, LINE_FILL, LEVEL_L1, 0, A);
    told(&r, LINE_FILL, LEVEL_L2, 3, A);
    told(&r, LINE_FILL, LEVEL_L2, 3, B);
    r.answers = LEVEL_NONE;
    assert_int_equal(r.caches.type->drop(r.caches.self, 1, paddr_of(A), &level, 100), 117);
    assert_int_equal(level, LEVEL_L1);
    assert_true(r.last.drop && r.last.core == 1 && r.last.addr.at == A);
    for (unsigned core = 0; core < 4; core++)
        assert_int_equal(where_is(&r, core, A), LEVEL_NONE);
    assert_int_equal(where_is(&r, 3, B), LEVEL_L2);
    assert_int_equal(r.caches.type->drop(r.caches.self, 1, paddr_of(B), &level, 0), 17);
    assert_int_equal(level, LEVEL_L2);
    assert_int_equal(outside_lines(r.o)->n, 0);
    assert_int_equal(r.err.code, 0);
    close_rig(&r);
}

static void the_host_makes_accesses(void **state)
{
    struct rig r;

    (void)state;
    open_rig(&r);
    r.caches.type->histories(r.caches.self, paddr_of(B), 64);
    struct coh_result is = outside_access(r.o, 2, paddr_of(A), 8, MEM_STORE, 1000);
    assert_int_equal(is.done, 1017);
    assert_int_equal(is.level, LEVEL_L3);
    assert_true(r.last.core == 2 && r.last.addr.at == A && r.last.bytes == 8 && !r.last.history);
    assert_true(r.last.cmd == MEM_STORE && r.last.now == 1000 && !r.last.drop);
    outside_access(r.o, 2, paddr_of(B + 60), 4, MEM_LOAD, 0);
    assert_true(r.last.history);
    outside_access(r.o, 2, paddr_of(B + 64), 4, MEM_LOAD, 0);
    assert_false(r.last.history);
    r.answers = LEVELS;
    outside_access(r.o, 2, paddr_of(A), 4, MEM_LOAD, 0);
    assert_int_equal(r.err.code, LARD_USAGE);
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_cache_that_has_it_counts),
        cmocka_unit_test(a_drop_leaves_it_nowhere),
        cmocka_unit_test(the_host_makes_accesses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
