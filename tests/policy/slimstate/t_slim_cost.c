/* t_slim_cost.c - what slimstate costs on a machine: an access that extends a footprint, a commit,
 * a refinement, and what is no compressed array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/policy_rig.h"

#include <cmocka.h>

enum { ARRAY = 0x1000, LOCK = 0x8000, SIZE = 4 };

static const struct rig_places slimstate_layout = {
    .each = 16,
    .field = {{0, 8, "write epoch"}, {8, 8, "read epoch"}, {8, 4, "lock"}, {12, 4, "read time"}},
    .granule = {{ARRAY, "array"},
                {ARRAY + 3 * SIZE, "element 3"},
                {ARRAY + 40 * SIZE, "element 40"},
                {ARRAY + 43 * SIZE, "element 43"},
                {ARRAY + 46 * SIZE, "element 46"}},
    .block = {{0, "header"},
              {32, "location"},
              {4096, "footprints"},
              {4160, "footprint"},
              {4184, "written range"},
              {8192, "commit buffer"},
              {24576, "new locations"}},
};

/* Returns the accesses to metadata that it took. */
static uint64_t step(struct policy_rig *r, const struct event *ev)
{
    const uint64_t was = r->m.accesses;

    charges_forget(&r->m.asked);
    policy_rig_run(r, ev, event_records(ev));
    return r->m.accesses - was;
}

static void alloc(struct policy_rig *r, uint64_t n)
{
    const struct event ev[2] = {
        {.kind = EV_ALLOC, .addr = ARRAY, .aux = n * SIZE, .flags = EVF_MORE},
        {.addr = n, .size = SIZE}};

    step(r, ev);
}

static uint64_t at(struct policy_rig *r, sim_tid t, enum ev_kind kind, uint64_t i)
{
    return step(r, &(const struct event){.kind = (uint8_t)kind,
                                         .tid = t,
                                         .addr = ARRAY + i * SIZE,
                                         .size = SIZE,
                                         .flags = EVF_ARRAY});
}

static uint64_t sweep(struct policy_rig *r, sim_tid t, enum ev_kind kind, uint64_t b, uint64_t e)
{
    uint64_t accesses = 0;

    for (uint64_t i = b; i <= e; i++)
        accesses += at(r, t, kind, i);
    return accesses;
}

static uint64_t sync(struct policy_rig *r, sim_tid t, enum ev_kind kind)
{
    return step(r, &(const struct event){.kind = (uint8_t)kind, .tid = t, .addr = LOCK});
}

static void an_access_that_extends_a_footprint_stores_to_the_threads_own_block(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "slimstate", NULL, slimstate_layout);
    alloc(&r, 64);
    sweep(&r, 1, EV_WRITE, 0, 1);
    at(&r, 1, EV_WRITE, 2);
    assert_int_equal(at(&r, 1, EV_WRITE, 3), 5);
    charges_are(&r.m.asked,
                "core 1, array-find, load array's write epoch, array-foot, load header:32, "
                "load footprints+8, array-append, load written range:24, store written range, "
                "23 in all");
    at(&r, 1, EV_WRITE, 5); /* can't: a commit */
    charges_are(&r.m.asked,
                "core 1, array-refine, heap list, load list of 32, load page's rest:16, "
                "heap fresh, swap heap's top, heap page, store page's rest:16, array-line, "
                "store new locations:32, store header:16, load location:16, heap give, "
                "load list of 16, store location, store list of 16, array-part, "
                "store thread 1's epoch, load thread 1's epoch, load new locations, same-epoch, "
                "slow-path, load new locations+8:4, lock, swap new locations+8:4, "
                "load thread 1's clock word, clock, load new locations, none, is-map, none, "
                "store new locations, store new locations+8:4, array-find, "
                "load array's write epoch, array-foot, load header:32, load footprints+8, "
                "array-append, load written range:24, store written range, 90 in all");
    policy_rig_close(&r);
}

/* The check of a commit is a first write of fasttrack's, to the one location of the array. */
static void a_commit_checks_a_part_however_many_elements_it_has(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t n = k ? 4096 : 32;
        struct policy_rig r;
        policy_rig_open(&r, "slimstate", NULL, slimstate_layout);
        alloc(&r, n);
        sweep(&r, 1, EV_WRITE, 0, n - 1);
        assert_int_equal(policy_rig_stat(&r, "checks"), 0);
        sync(&r, 1, EV_ACQUIRE);
        assert_int_equal(policy_rig_stat(&r, "checks"), 1);
        charges_are(&r.m.asked,
                    "core 1, array-commit, load commit buffer, load header:32, load footprints+8, "
                    "load footprint:48, store written range, array-refine, array-part, "
                    "store thread 1's epoch, load thread 1's epoch, load location, same-epoch, "
                    "slow-path, load location+8:4, lock, swap location+8:4, "
                    "load thread 1's clock word, clock, load location, none, is-map, none, "
                    "store location, store location+8:4, clocks call, clocks take, "
                    "load clocks' free:16, clocks take-fresh, clocks take-page, swap clocks' end, "
                    "store clocks' fresh, clocks copy-line, store clocks+0, clocks new-word, "
                    "store thread 1's clock word, clocks call, clocks nest, "
                    "load thread 1's clock word, clocks thread-word, load 0x8008, clocks test, "
                    "85 in all");
        policy_rig_close(&r);
    }
}

/* Thread 1 has written an array of 64 elements from end to end, and committed that. */
static void open_written(struct policy_rig *r)
{
    policy_rig_open(r, "slimstate", NULL, slimstate_layout);
    alloc(r, 64);
    sweep(r, 1, EV_WRITE, 0, 63);
    sync(r, 1, EV_ACQUIRE);
    sync(r, 1, EV_RELEASE);
}

/* Blocks of two: half as many locations as elements, each written once, a line at a time. */
static void a_refinement_writes_the_new_locations(void **state)
{
    struct policy_rig r;

    (void)state;
    open_written(&r);
    const uint64_t before = policy_rig_stat(&r, "cost.bytes");
    sweep(&r, 1, EV_WRITE, 2, 3);
    const uint64_t swept = policy_rig_stat(&r, "cost.bytes");
    sync(&r, 1, EV_ACQUIRE);
    assert_true(policy_rig_stat(&r, "cost.bytes") - swept > 32 * 16);
    assert_true(policy_rig_stat(&r, "cost.bytes") - swept < 32 * 16 + 400);
    assert_true(swept - before < 300);
    assert_int_equal(policy_rig_stat(&r, "refinements"), 1);
    charges_are(&r.m.asked,
                "core 1, array-commit, load commit buffer, load header:32, load footprints+8, "
                "load footprint:48, store written range, array-refine, heap list, load list of "
                "512, load page's rest:16, heap fresh, swap heap's top, heap page, store page's "
                "rest:16, 8 array-line, store new locations:64, store new locations+64:64, "
                "store new locations+128:64, store new locations+192:64, store new "
                "locations+256:64, store new locations+320:64, store new locations+384:64, "
                "store new locations+448:64, store header:16, load location:16, heap give, load "
                "list of 16, store location, store list of 16, array-part, store thread 1's "
                "epoch, load thread 1's epoch, load new locations+16, same-epoch, slow-path, "
                "load new locations+24:4, lock, swap new locations+24:4, load thread 1's clock "
                "word, clock, load new locations+16, none, ordered, load clocks+4:4, is-map, "
                "none, store new locations+16, store new locations+24:4, clocks call, clocks "
                "nest, load thread 1's clock word, clocks thread-word, load 0x8008, clocks "
                "test, clocks object-word, clocks length, clocks merge-line, load clocks+0, "
                "load clocks+64, 2 clocks entry, 153 in all");
    policy_rig_close(&r);
}

/* An element alone in the first quarter: those up to it have locations of their own, a line of
 * four. */
static void a_prefix_writes_the_locations_of_its_elements(void **state)
{
    struct policy_rig r;

    (void)state;
    open_written(&r);
    at(&r, 1, EV_READ, 3);
    sync(&r, 1, EV_ACQUIRE);
    charges_are(&r.m.asked,
                "core 1, array-commit, load commit buffer, load header:32, load footprints+8, "
                "load footprint:48, store footprint, array-refine, heap list, load list of 16, "
                "load page's rest:16, heap fresh, swap heap's top, heap page, store page's "
                "rest:16, array-line, store new locations:16, store header:16, load "
                "location:16, heap give, load list of 16, store location, store list of 16, "
                "array-line, store array:64, array-part, store thread 1's epoch, load thread "
                "1's epoch, place, load element 3's read epoch, same-epoch, is-map, slow-path, "
                "lock, swap element 3's lock:4, load thread 1's clock word, clock, load element "
                "3's write epoch, none, ordered, load clocks+4:4, none, store element 3's read "
                "time:4, store element 3's lock:4, clocks call, clocks nest, load thread 1's "
                "clock word, clocks thread-word, load 0x8008, clocks test, clocks object-word, "
                "clocks length, clocks merge-line, load clocks+0, load clocks+64, 2 clocks "
                "entry, 118 in all");
    policy_rig_close(&r);
}

/* An element alone, far in: all have locations of their own now, which are written 64 bytes at a
 * time in their order; the old one is read. Then the commit of three elements: what the first has
 * in registers the others have, too. */
static void elements_of_their_own_are_written_and_then_checked(void **state)
{
    struct policy_rig r;

    (void)state;
    open_written(&r);
    at(&r, 1, EV_READ, 40);
    at(&r, 1, EV_READ, 43);
    at(&r, 1, EV_READ, 46);
    sync(&r, 1, EV_ACQUIRE);
    charges_are(
        &r.m.asked,
        "core 1, array-commit, load commit buffer, load header:32, load footprints+8, "
        "load footprint:48, store footprint, array-refine, load location:16, "
        "store header:16, array-line, store array:64, array-line, store 0x1010:64, "
        "array-line, store 0x1020:64, array-line, store 0x1030:64, array-line, "
        "store 0x1040:64, array-line, store 0x1050:64, array-line, store 0x1060:64, "
        "array-line, store 0x1070:64, array-line, store 0x1080:64, array-line, "
        "store 0x1090:64, array-line, store element 40:64, array-line, store 0x10b0:64, "
        "array-line, store 0x10c0:64, array-line, store 0x10d0:64, array-line, "
        "store 0x10e0:64, array-line, store 0x10f0:64, array-part, store thread 1's epoch, "
        "load thread 1's epoch, place, load element 40's read epoch, same-epoch, is-map, "
        "slow-path, lock, swap element 40's lock:4, load thread 1's clock word, clock, "
        "load element 40's write epoch, none, ordered, load clocks+4:4, none, "
        "store element 40's read time:4, store element 40's lock:4, array-part, "
        "load element 43's read epoch, same-epoch, is-map, slow-path, lock, "
        "swap element 43's lock:4, load thread 1's clock word, clock, "
        "load element 43's write epoch, none, ordered, load clocks+4:4, none, "
        "store element 43's read time:4, store element 43's lock:4, array-part, "
        "load element 46's read epoch, same-epoch, is-map, slow-path, lock, "
        "swap element 46's lock:4, load thread 1's clock word, clock, "
        "load element 46's write epoch, none, ordered, load clocks+4:4, none, "
        "store element 46's read time:4, store element 46's lock:4, heap give, load list of 64, "
        "store footprint, store list of 64, heap give, load list of 32, store header, "
        "store list of 32, heap give, load list of 16, store location, store list of 16, "
        "heap give, load list of 32, store footprints, store list of 32, clocks call, "
        "clocks nest, load thread 1's clock word, clocks thread-word, load 0x8008, "
        "clocks test, clocks object-word, clocks length, clocks merge-line, load clocks+0, "
        "load clocks+64, 2 clocks entry, 266 in all");
    policy_rig_close(&r);
}

/* Of "3 instructions to load X, 1 instructions to swap Y". */
struct sums {
    unsigned long instructions, accesses;
};
static struct sums sums_of(const char *text)
{
    struct sums s = {0};

    for (const char *at = text; at; at = strstr(at, ", ")) {
        at += at == text ? 0 : 2;
        s.instructions += strtoul(at, NULL, 10);
        s.accesses++;
    }
    return s;
}

/* An element of a small array costs what it costs fasttrack, access by access, and a look at the
 * array's mode: a load, a compare, a branch. */
static void small_arrays_cost_what_variables_cost_and_a_look_at_the_mode(void **state)
{
    struct policy_rig r[2];

    (void)state;
    policy_rig_open(&r[0], "slimstate", NULL, slimstate_layout);
    policy_rig_open(&r[1], "fasttrack", NULL, slimstate_layout);
    for (unsigned k = 0; k < 2; k++)
        alloc(&r[k], 15);
    for (uint64_t i = 0; i < 15; i++)
        for (unsigned t = 0; t < 3; t++) {
            at(&r[0], (sim_tid)t, i % 2 ? EV_READ : EV_WRITE, i);
            at(&r[1], (sim_tid)t, i % 2 ? EV_READ : EV_WRITE, i);
            char *cost = charges_text(&r[0].m.asked), *same = charges_text(&r[1].m.asked);
            const struct sums slim = sums_of(cost), fast = sums_of(same);
            if (slim.instructions != fast.instructions + 3 || slim.accesses != fast.accesses + 1)
                fail_msg("element %llu, thread %u: %s; fasttrack: %s", (unsigned long long)i, t,
                         cost, same);
            free(cost);
            free(same);
        }
    assert_int_equal(policy_rig_stat(&r[0], "metadata.live"),
                     policy_rig_stat(&r[1], "metadata.live"));
    policy_rig_close(&r[0]);
    policy_rig_close(&r[1]);
}

/* Compressed: a header, a location, a table, two threads' footprints and commit buffers. */
static void metadata_are_what_the_layout_says(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "slimstate", NULL, slimstate_layout);
    alloc(&r, 4096);
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 32);
    for (sim_tid t = 0; t < 2; t++) {
        sweep(&r, t, EV_READ, 0, 4095);
        sync(&r, t, EV_ACQUIRE);
        sync(&r, t, EV_RELEASE);
    }
    assert_int_equal(policy_rig_stat(&r, "metadata.live"),
                     32 + 16 + 4 * 8 + 2 * 48 + 2 * 2048 * 8 + 64 /* unordered reads: a map */);
    step(&r, &(const struct event){.kind = EV_CLEAR, .addr = ARRAY, .aux = 4096 * SIZE});
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 2 * 2048 * 8);
    policy_rig_close(&r);
}

/* Cleared at its begin, the rest goes on with what the array had. Cleared in the middle, the second
 * rest gets a header and a location, which is copied; the header lies where the table of footprints
 * was. */
static void an_array_that_is_divided_gets_a_shadow_for_the_rest(void **state)
{
    struct policy_rig r;

    (void)state;
    open_written(&r);
    step(&r, &(const struct event){.kind = EV_CLEAR, .addr = ARRAY, .aux = 8 * SIZE});
    charges_are(&r.m.asked,
                "heap give, load list of 64, store footprint, store list of 64, heap give, "
                "load list of 32, store footprints, store list of 32, 8 in all");
    step(&r, &(const struct event){.kind = EV_CLEAR, .addr = ARRAY + 30 * SIZE, .aux = 4 * SIZE});
    charges_are(
        &r.m.asked,
        "array-line, load location:16, array-new, heap list, load list of 32, load footprints, "
        "store list of 32, heap list, load list of 16, load page's rest:16, heap fresh, "
        "store page's rest:16, store footprints:32, store location+16:16, "
        "store array's write epoch, 32 in all");
    policy_rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_that_extends_a_footprint_stores_to_the_threads_own_block),
        cmocka_unit_test(a_commit_checks_a_part_however_many_elements_it_has),
        cmocka_unit_test(a_refinement_writes_the_new_locations),
        cmocka_unit_test(a_prefix_writes_the_locations_of_its_elements),
        cmocka_unit_test(elements_of_their_own_are_written_and_then_checked),
        cmocka_unit_test(small_arrays_cost_what_variables_cost_and_a_look_at_the_mode),
        cmocka_unit_test(metadata_are_what_the_layout_says),
        cmocka_unit_test(an_array_that_is_divided_gets_a_shadow_for_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
