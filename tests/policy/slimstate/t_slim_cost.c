/* t_slim_cost.c - what slimstate costs on a machine: an access that extends a footprint, a commit,
 * a refinement, and what is no compressed array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/machine_rig.h"
#include "tests/frame/watch.h"

#include <cmocka.h>

enum { ARRAY = 0x1000, LOCK = 0x8000, SIZE = 4 };

struct run {
    struct machine_rig m;
    struct config *config;
    struct checker *checker;
    struct err err;
};

static void open_run(struct run *r, const char *policy)
{
    char *spec = xasprintf("a=%s", policy);

    machine_rig_open(&r->m, SIZE);
    r->err = (struct err){0};
    r->config = config_new(NULL);
    const struct checker_env env = {.config = r->config,
                                    .stats = r->m.stats,
                                    .number = &r->m.number,
                                    .granule = SIZE,
                                    .err = &r->err,
                                    .machine = &r->m.machine,
                                    .host = &r->m,
                                    .exec = machine_exec,
                                    .mem = machine_mem};
    r->checker = checker_new(spec, &env, &r->err);
    assert_non_null(r->checker);
    free(spec);
}

static void close_run(struct run *r)
{
    checker_finish(r->checker);
    checker_free(r->checker);
    config_free(r->config);
    machine_rig_close(&r->m);
}

/* Returns the accesses to metadata that it took. */
static uint64_t step(struct run *r, const struct event *ev)
{
    const uint64_t was = r->m.accesses;

    machine_forget(&r->m);
    checker_step(r->checker, ev, ev->tid % 4, (struct mem_outcome){0}, 0);
    r->m.number++;
    assert_int_equal(r->err.code, 0);
    return r->m.accesses - was;
}

static void alloc(struct run *r, uint64_t n)
{
    const struct event ev[2] = {
        {.kind = EV_ALLOC, .addr = ARRAY, .aux = n * SIZE, .flags = EVF_MORE},
        {.addr = n, .size = SIZE}};

    step(r, ev);
}

static uint64_t at(struct run *r, sim_tid t, enum ev_kind kind, uint64_t i)
{
    return step(r, &(const struct event){.kind = (uint8_t)kind,
                                         .tid = t,
                                         .addr = ARRAY + i * SIZE,
                                         .size = SIZE,
                                         .flags = EVF_ARRAY});
}

static uint64_t sweep(struct run *r, sim_tid t, enum ev_kind kind, uint64_t b, uint64_t e)
{
    uint64_t accesses = 0;

    for (uint64_t i = b; i <= e; i++)
        accesses += at(r, t, kind, i);
    return accesses;
}

static uint64_t sync(struct run *r, sim_tid t, enum ev_kind kind)
{
    return step(r, &(const struct event){.kind = (uint8_t)kind, .tid = t, .addr = LOCK});
}

static uint64_t stat(const struct run *r, const char *name)
{
    char *full = xasprintf("policy.a.%s", name);
    uint64_t v = UINT64_MAX;

    if (!stats_value(r->m.stats, full, &v))
        fail_msg("no %s", full);
    free(full);
    return v;
}

/* FIND 4, the array's word at its metadata place; FOOT 5, the header, the thread's entry; APPEND 9,
 * the range: half of 48 bytes, its end stored. */
static void an_access_that_extends_a_footprint_stores_to_the_threads_own_block(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "slimstate");
    alloc(&r, 64);
    sweep(&r, 1, EV_WRITE, 0, 1);
    at(&r, 1, EV_WRITE, 2);
    const char *log = r.m.log;
    assert_int_equal(at(&r, 1, EV_WRITE, 3), 5);
    assert_string_equal(
        log, "c1 i5 L:s+16384:8 i6 L:h+0:32 i1 L:h+4104:8 i10 L:h+4184:24 i1 S:h+4184:8");
    at(&r, 1, EV_WRITE, 5); /* can't: a commit */
    assert_true(strstr(log, " A:") != NULL);
    close_run(&r);
}

/* COMMIT 6, the buffer's entry, the array's header, the thread's entry, its footprint, of which the
 * writes are emptied; REFINE 14, PART 4; the rest is a first write of fasttrack's, to the one
 * location of the array, but for PLACE. */
#define COMMIT                                                                                     \
    "c1 i7 L:h+8192:8 i1 L:h+0:32 i1 L:h+4104:8 i1 L:h+4160:48 i1 S:h+4184:8 "                     \
    "i19 S:k+200050:8 i1 L:k+200050:8 i1 L:h+32:8 i5 L:h+40:4 i5 A:h+40:4 "                        \
    "i1 L:k+200040:8 i3 L:h+32:8 i7 S:h+32:8 i1 S:h+40:4"

static void a_commit_checks_a_part_however_many_elements_it_has(void **state)
{
    char *log[2];

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t n = k ? 4096 : 32;
        struct run r;
        open_run(&r, "slimstate");
        alloc(&r, n);
        sweep(&r, 1, EV_WRITE, 0, n - 1);
        assert_int_equal(stat(&r, "checks"), 0);
        sync(&r, 1, EV_ACQUIRE);
        assert_int_equal(stat(&r, "checks"), 1);
        log[k] = xstrdup(r.m.log);
        close_run(&r);
    }
    assert_string_equal(log[0], log[1]);
    assert_string_equal(log[0], COMMIT " i7 L:k+1100:16 i6 A:k+0:8 i1 S:k+1108:8 "
                                       "i4 S:k+10000000000:8 i3 S:k+200040:8 i5 L:k+200040:8 "
                                       "i3 L:@8008:8 i2"); /* the acquire's own */
    free(log[0]);
    free(log[1]);
}

/* Blocks of two: half as many locations as elements, each written once, a line at a time. */
static void a_refinement_writes_the_new_locations(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "slimstate");
    alloc(&r, 64);
    sweep(&r, 1, EV_WRITE, 0, 63);
    sync(&r, 1, EV_ACQUIRE);
    sync(&r, 1, EV_RELEASE);
    const uint64_t before = stat(&r, "cost.bytes");
    sweep(&r, 1, EV_WRITE, 2, 3);
    const uint64_t swept = stat(&r, "cost.bytes");
    sync(&r, 1, EV_ACQUIRE);
    assert_true(stat(&r, "cost.bytes") - swept > 32 * 16);
    assert_true(stat(&r, "cost.bytes") - swept < 32 * 16 + 400);
    assert_true(swept - before < 300);
    assert_int_equal(stat(&r, "refinements"), 1);
    close_run(&r);
}

/* An element alone, far in: all have locations of their own now, which are written 64 bytes at a
 * time in their order; the old one is read. Then the commit of two elements: PART 4 each, and what
 * the first has in registers the second has, too. */
static void elements_of_their_own_are_written_and_then_checked(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "slimstate");
    alloc(&r, 64);
    sweep(&r, 1, EV_WRITE, 0, 63);
    sync(&r, 1, EV_ACQUIRE);
    sync(&r, 1, EV_RELEASE);
    at(&r, 1, EV_READ, 40);
    at(&r, 1, EV_READ, 43);
    at(&r, 1, EV_READ, 46);
    sync(&r, 1, EV_ACQUIRE);
    int lines = 0;
    for (const char *p = r.m.log; (p = strstr(p, " i6 S:s+")); p++)
        lines++;
    assert_int_equal(lines, 64 * 16 / 64);
    assert_non_null(strstr(r.m.log, "L:h+32:16 i1 S:h+0:16 i6 S:s+16384:64 i6 S:s+16448:64 "));
    assert_non_null(strstr(r.m.log, " i6 S:s+17344:64 i"));
    /* The first: PART 4, its epoch, PLACE 2, its read words; the others: PART 4, their read words.
     */
    assert_non_null(strstr(r.m.log, "i5 S:k+200050:8 i1 L:k+200050:8 i3 L:s+17032:8 "));
    assert_non_null(strstr(r.m.log, " i5 L:s+17080:8 "));
    assert_non_null(strstr(r.m.log, " i5 L:s+17128:8 "));
    close_run(&r);
}

/* A small array costs what it costs fasttrack, access by access. */
static void small_arrays_cost_what_variables_cost(void **state)
{
    struct run r[2];

    (void)state;
    open_run(&r[0], "slimstate");
    open_run(&r[1], "fasttrack");
    for (unsigned k = 0; k < 2; k++)
        alloc(&r[k], 15);
    for (uint64_t i = 0; i < 15; i++)
        for (unsigned t = 0; t < 3; t++) {
            at(&r[0], (sim_tid)t, i % 2 ? EV_READ : EV_WRITE, i);
            at(&r[1], (sim_tid)t, i % 2 ? EV_READ : EV_WRITE, i);
            assert_string_equal(r[0].m.log, r[1].m.log);
        }
    assert_int_equal(stat(&r[0], "metadata.live"), stat(&r[1], "metadata.live"));
    close_run(&r[0]);
    close_run(&r[1]);
}

/* Compressed: a header, a location, a table, two threads' footprints and commit buffers. */
static void metadata_are_what_the_layout_says(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "slimstate");
    alloc(&r, 4096);
    assert_int_equal(stat(&r, "metadata.live"), 32);
    for (sim_tid t = 0; t < 2; t++) {
        sweep(&r, t, EV_READ, 0, 4095);
        sync(&r, t, EV_ACQUIRE);
        sync(&r, t, EV_RELEASE);
    }
    assert_int_equal(stat(&r, "metadata.live"),
                     32 + 16 + 4 * 8 + 2 * 48 + 2 * 2048 * 8 + 64 /* unordered reads: a map */);
    step(&r, &(const struct event){.kind = EV_CLEAR, .addr = ARRAY, .aux = 4096 * SIZE});
    assert_int_equal(stat(&r, "metadata.live"), 2 * 2048 * 8);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_that_extends_a_footprint_stores_to_the_threads_own_block),
        cmocka_unit_test(a_commit_checks_a_part_however_many_elements_it_has),
        cmocka_unit_test(a_refinement_writes_the_new_locations),
        cmocka_unit_test(elements_of_their_own_are_written_and_then_checked),
        cmocka_unit_test(small_arrays_cost_what_variables_cost),
        cmocka_unit_test(metadata_are_what_the_layout_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
