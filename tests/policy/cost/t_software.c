/* t_software.c - what fasttrack, vc, eraser and clean cost in software, one event at a time: each
 * path's steps, by the tables in docs/policies/, and accesses to metadata, in the words of
 * machine_rig.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/policy_rig.h"

#include <cmocka.h>

#include "tests/frame/number.h"

enum { X = 0x40, Y = 0x44, FAR = 0x10000, L = 0x9000, M = 0x9100 };

#define R(t, a)   EV_READ4(t, a)
#define W(t, a)   EV_WRITE4(t, a)
#define ACQ(t, a) EV_ON(ACQUIRE, t, a)
#define REL(t, a) EV_ON(RELEASE, t, a)

static const struct rig_places fasttrack_layout = {
    .each = 16,
    .field = {{0, 8, "write epoch"}, {8, 8, "read epoch"}, {8, 4, "lock"}, {12, 4, "read time"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "map"}, {4096, "second map"}},
};

static const struct rig_places vc_layout = {
    .each = 16,
    .field = {{0, 8, "last write"}, {8, 8, "vector word"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "vector"}, {32, "longer vector"}},
};

static const struct rig_places clean_layout = {
    .each = 4,
    .field = {{0, 4, "word"}},
    .granule = {{X, "X"}, {Y, "Y"}},
};

static const struct rig_places eraser_layout = {
    .each = 4,
    .field = {{0, 4, "word"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "held sets"},
              {4096, "cache"},
              {69632, "sets"},
              {73728, "table of sets"},
              {81920, "later block"}},
};

/* ---- fasttrack ------------------------------------------------------------------------------ */

static void fasttrack_reads(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    EVENTS_COST(&r,
                "store thread 0's epoch, load thread 0's epoch, place, load X's read epoch, "
                "same-epoch, is-map, slow-path, lock, swap X's lock:4, load thread 0's clock word, "
                "clock, load X's write epoch, 2 none, store X's read time:4, store X's lock:4, "
                "26 in all",
                R(0, X));
    /* The same epoch: a load, compare, branch; no store, no atomic. */
    EVENTS_COST(&r, "load thread 0's epoch, place, load X's read epoch, same-epoch, 6 in all",
                R(0, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16);
    policy_rig_close(&r);
}

/* Ablations charge the lock never, or for each access; verdicts are none of their business. */
static void fasttrack_locks_as_it_is_told(void **state)
{
    static const char *const none[] = {"policy.a.lock=none", NULL};
    static const char *const always[] = {"policy.a.lock=always", NULL};
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", none, fasttrack_layout);
    EVENTS_COST(&r,
                "store thread 0's epoch, load thread 0's epoch, place, load X's read epoch, "
                "same-epoch, is-map, slow-path, load thread 0's clock word, clock, "
                "load X's write epoch, 2 none, store X's read time:4, store X's lock:4, "
                "21 in all",
                R(0, X));
    policy_rig_close(&r);
    policy_rig_open(&r, "fasttrack", always, fasttrack_layout);
    RUN(&r, R(0, X));
    EVENTS_COST(&r,
                "load thread 0's epoch, place, lock, swap X's lock:4, load X's read epoch, "
                "same-epoch, store X's lock:4, 12 in all",
                R(0, X));
    policy_rig_close(&r);
}

static void fasttrack_calls_its_check_where_it_is_not_in_line(void **state)
{
    static const char *const calls[] = {"policy.a.inlined=off", NULL};
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", calls, fasttrack_layout);
    RUN(&r, R(0, X));
    EVENTS_COST(
        &r, "load thread 0's epoch, place, slow-path, load X's read epoch, same-epoch, 8 in all",
        R(0, X));
    policy_rig_close(&r);
}

/* Whether its thread has seen the class's initialisation; a store does not ask. */
static void fasttrack_looks_for_the_class_of_a_static_that_it_loads(void **state)
{
    static const char *const off[] = {"policy.a.statics=off", NULL};
    const struct event load = {
        .kind = EV_READ, .tid = 0, .addr = X, .size = 4, .flags = EVF_STATIC};
    const struct event store = {
        .kind = EV_WRITE, .tid = 0, .addr = Y, .size = 4, .flags = EVF_STATIC};
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, load, store);
    EVENTS_COST(&r,
                "load thread 0's classes' word, load thread 0's classes:4, class-seen, "
                "load thread 0's epoch, place, load X's read epoch, same-epoch, 21 in all",
                load);
    EVENTS_COST(&r, "load thread 0's epoch, place, load Y's write epoch, same-epoch, 6 in all",
                store);
    policy_rig_close(&r);
    policy_rig_open(&r, "fasttrack", off, fasttrack_layout);
    RUN(&r, load);
    EVENTS_COST(&r, "load thread 0's epoch, place, load X's read epoch, same-epoch, 6 in all",
                load);
    policy_rig_close(&r);
}

/* Before a write the read words are loaded to be locked. There is no clock in memory yet. */
static void fasttrack_writes(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, R(0, X));
    EVENTS_COST(&r,
                "load thread 0's epoch, place, load Y's write epoch, same-epoch, slow-path, "
                "load Y's lock:4, lock, swap Y's lock:4, load thread 0's clock word, clock, "
                "load Y's write epoch, none, is-map, none, store Y's write epoch, "
                "store Y's lock:4, 26 in all",
                W(0, Y));
    EVENTS_COST(&r, "load thread 0's epoch, place, load Y's write epoch, same-epoch, 6 in all",
                W(0, Y));
    /* X has been read: the read's time is looked at. */
    EVENTS_COST(&r,
                "load thread 0's epoch, place, load X's write epoch, same-epoch, slow-path, "
                "load X's lock:4, lock, swap X's lock:4, load thread 0's clock word, clock, "
                "load X's write epoch, none, is-map, none, load X's read time:4, ordered, "
                "store X's write epoch, store X's lock:4, 32 in all",
                W(0, X));
    /* As published, that write has left the read epoch. */
    EVENTS_COST(&r, "load thread 0's epoch, place, load X's read epoch, same-epoch, 6 in all",
                R(0, X));
    EVENTS_COST(&r, "load thread 0's epoch, place, load X's write epoch, same-epoch, 6 in all",
                W(0, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 32);
    policy_rig_close(&r);
}

/* Thread 1 acquires what thread 0 has released: its clock has two entries.
 */
static void fasttrack_looks_entries_up_in_the_clock(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, W(0, X), ACQ(0, L), REL(0, L), ACQ(1, L));
    EVENTS_COST(&r,
                "core 1, store thread 1's epoch, load thread 1's epoch, place, "
                "load X's read epoch, same-epoch, is-map, slow-path, lock, swap X's lock:4, "
                "load thread 1's clock word, clock, load X's write epoch, none, ordered, "
                "load clocks+4096:4, none, store X's read time:4, store X's lock:4, 32 in all",
                R(1, X));
    policy_rig_close(&r);
}

/* The second unordered reader makes a map of 64 bytes, on its own core's page. */
static void fasttrack_makes_a_read_map(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, R(0, X));
    EVENTS_COST(&r,
                "core 1, store thread 1's epoch, load thread 1's epoch, place, "
                "load X's read epoch, same-epoch, is-map, slow-path, lock, swap X's lock:4, "
                "load thread 1's clock word, clock, load X's write epoch, 2 none, "
                "load X's read time:4, ordered, heap list, load list of 64, load page's rest:16, "
                "heap fresh, swap heap's top, heap page, store page's rest:16, map-zero, "
                "store map:64, map-find, store map, map-find, store map+8, map-new, "
                "store X's read time:4, store X's lock:4, 61 in all",
                R(1, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 64);
    /* Its read is there. */
    EVENTS_COST(&r,
                "core 1, load thread 1's epoch, place, load X's read epoch, same-epoch, is-map, "
                "map-find, load map+8, map-probe, 17 in all",
                R(1, X));
    /* One that is not enters it under the lock. */
    EVENTS_COST(&r,
                "core 2, store thread 2's epoch, load thread 2's epoch, place, "
                "load X's read epoch, same-epoch, is-map, map-find, load map+16, map-probe, "
                "slow-path, lock, swap X's lock:4, load thread 2's clock word, clock, "
                "load X's write epoch, none, store map+16, store X's lock:4, 33 in all",
                R(2, X));
    /* A write looks at all slots. It races, which costs nothing. */
    EVENTS_COST(&r,
                "load thread 0's epoch, place, load X's write epoch, same-epoch, slow-path, "
                "load X's lock:4, lock, swap X's lock:4, load thread 0's clock word, clock, "
                "load X's write epoch, none, is-map, map-find, load map, map-slot, ordered, "
                "load map+8, map-slot, ordered, load map+16, map-slot, ordered, load map+24, "
                "map-slot, load map+32, map-slot, load map+40, map-slot, load map+48, map-slot, "
                "load map+56, map-slot, heap give, load list of 64, store map, store list of 64, "
                "store X's write epoch, store X's lock:4, 95 in all",
                W(0, X));
    assert_int_equal(policy_rig_stat(&r, "races.accesses"), 1);
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16);
    assert_int_equal(policy_rig_stat(&r, "metadata.peak"), 16 + 64);
    EVENTS_COST(&r, "load thread 0's epoch, place, load X's write epoch, same-epoch, 6 in all",
                W(0, X)); /* nor do repeats */
    policy_rig_close(&r);
}

/* Thread 8's slot is thread 0's, and so on: all are taken.
 */
static void fasttrack_doubles_a_full_map(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, R(0, X), R(1, X), R(2, X), R(3, X), R(4, X), R(5, X), R(6, X), R(7, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 64);
    EVENTS_COST(&r,
                "store thread 8's epoch, load thread 8's epoch, place, load X's read epoch, "
                "same-epoch, is-map, map-find, load map, map-probe, load map+8, map-probe, "
                "load map+16, map-probe, load map+24, map-probe, load map+32, map-probe, "
                "load map+40, map-probe, load map+48, map-probe, load map+56, map-probe, "
                "slow-path, lock, swap X's lock:4, load thread 8's clock word, clock, "
                "load X's write epoch, none, heap list, load list of 128, load page's rest:16, "
                "heap fresh, swap heap's top, heap page, store page's rest:16, 2 map-zero, "
                "store second map:64, store second map+64:64, load map, map-move, "
                "store second map, load map+8, map-move, store second map+8, load map+16, "
                "map-move, store second map+16, load map+24, map-move, store second map+24, "
                "load map+32, map-move, store second map+32, load map+40, map-move, "
                "store second map+40, load map+48, map-move, store second map+48, load map+56, "
                "map-move, store second map+56, map-new, heap give, load list of 64, store map, "
                "store list of 64, store second map+64, store X's read time:4, store X's lock:4, "
                "160 in all",
                R(8, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 128);
    /* Threads 0 and 16 would now share a slot: 16 takes the next one that is free, 9. */
    EVENTS_COST(&r,
                "store thread 16's epoch, load thread 16's epoch, place, load X's read epoch, "
                "same-epoch, is-map, map-find, load second map, map-probe, load second map+8, "
                "map-probe, load second map+16, map-probe, load second map+24, map-probe, "
                "load second map+32, map-probe, load second map+40, map-probe, load second map+48, "
                "map-probe, load second map+56, map-probe, load second map+64, map-probe, "
                "load second map+72, map-probe, slow-path, lock, swap X's lock:4, "
                "load thread 16's clock word, clock, load X's write epoch, none, "
                "store second map+72, store X's lock:4, 78 in all",
                R(16, X));
    policy_rig_close(&r);
}

/* Words side by side in 64 bytes go together; a copy's map is its own. */
static void fasttrack_clears_and_copies_words(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, W(0, X), W(0, Y), W(0, X + 16), W(0, FAR));
    EVENTS_COST(&r,
                "copy-line, load X:32, store 0x140:32, copy-line, load 0x50:16, store 0x150:16, "
                "14 in all",
                EV_MOVE(0, X + 0x100, X, 32));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 * 7);
    EVENTS_COST(&r,
                "clear-line, load X:32, store X:32, clear-line, load 0x50:16, store 0x50:16, "
                "14 in all",
                EV_REGION(CLEAR, 0, X, 32));
    EVENTS_COST(&r, "", EV_REGION(CLEAR, 0, X, 32)); /* there is nothing */
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 * 4);
    RUN(&r, R(0, Y), R(1, Y));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 * 5 + 64);
    /* The map's block is loaded, and stored in a fresh one. */
    EVENTS_COST(&r,
                "copy-line, load Y:16, store 0x244:16, load map:64, heap list, load list of 64, "
                "load page's rest:16, heap fresh, swap heap's top, heap page, "
                "store page's rest:16, map-zero, store second map:64, map-new, 27 in all",
                EV_MOVE(0, Y + 0x200, Y, 4));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 * 6 + 128);
    RUN(&r, EV_REGION(CLEAR, 0, 0, 0x20000));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 0);
    assert_int_equal(policy_rig_stat(&r, "metadata.peak"), 16 * 6 + 128);
    policy_rig_close(&r);
}

/* A nursery's collection goes through what it copies. */
static void fasttrack_read_maps_are_traced_at_full_collections(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, R(0, X), R(1, X), W(0, Y));
    EVENTS_COST(&r,
                "load X's lock:4, trace, load map, mark, store map, load Y's lock:4, trace, "
                "17 in all",
                {.kind = EV_GC_BEGIN}, {.kind = EV_GC_END});
    assert_int_equal(policy_rig_stat(&r, "cost.collections"), 17 + 4 * 100);
    EVENTS_COST(&r, "", {.kind = EV_GC_BEGIN, .flags = EVF_NURSERY},
                {.kind = EV_GC_END, .flags = EVF_NURSERY});
    policy_rig_close(&r);
}

/* What all granules of an access have in common is in registers from the second on: the own epoch,
 * clock or locks, PLACE, the call. */
static void further_granules_cost_what_they_have_of_their_own(void **state)
{
    static const struct event both = {.kind = EV_WRITE, .addr = X, .size = 8};
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fasttrack", NULL, fasttrack_layout);
    RUN(&r, both);
    EVENTS_COST(&r,
                "load thread 0's epoch, place, load X's write epoch, same-epoch, "
                "load Y's write epoch, same-epoch, 9 in all",
                both);
    policy_rig_close(&r);
    policy_rig_open(&r, "vc", NULL, vc_layout);
    RUN(&r, both);
    EVENTS_COST(&r,
                "call, load thread 0's epoch, load thread 0's clock word, clock, place, "
                "load X's vector word, lock, swap X's vector word, load X's last write, none, "
                "ordered, vector, store X's last write, store X's vector word, "
                "load Y's vector word, lock, swap Y's vector word, load Y's last write, none, "
                "ordered, vector, store Y's last write, store Y's vector word, 48 in all",
                both);
    policy_rig_close(&r);
    policy_rig_open(&r, "eraser", NULL, eraser_layout);
    RUN(&r, both, {.kind = EV_WRITE, .tid = 1, .addr = X, .size = 8});
    EVENTS_COST(&r,
                "core 1, call, place, load X's word:4, state, load held sets, same-set, empty, "
                "load Y's word:4, state, same-set, empty, 29 in all",
                {.kind = EV_WRITE, .tid = 1, .addr = X, .size = 8});
    policy_rig_close(&r);
}

/* Verdicts differ with `repeats`, costs do not. */
static void fasttrack_costs_the_same_however_repeats_count(void **state)
{
    static const char *const skip[] = {"policy.a.repeats=skip", NULL};
    const struct event rec[] = {W(0, X), W(1, X), R(0, X), R(0, X), W(0, X), R(1, X), W(1, X)};
    struct policy_rig reports, skips;

    (void)state;
    policy_rig_open(&reports, "fasttrack", NULL, fasttrack_layout);
    policy_rig_open(&skips, "fasttrack", skip, fasttrack_layout);
    policy_rig_run(&reports, rec, ARRAY_SIZE(rec));
    policy_rig_run(&skips, rec, ARRAY_SIZE(rec));
    assert_int_not_equal(policy_rig_stat(&reports, "races.accesses"),
                         policy_rig_stat(&skips, "races.accesses"));
    char *cost = charges_text(&reports.m.asked), *same = charges_text(&skips.m.asked);
    assert_string_equal(cost, same);
    free(cost);
    free(same);
    policy_rig_close(&reports);
    policy_rig_close(&skips);
}

/* ---- vc ------------------------------------------------------------------------------------- */

static void vc_reads_and_writes_under_a_lock(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "vc", NULL, vc_layout);
    EVENTS_COST(&r,
                "call, store thread 0's epoch, load thread 0's epoch, load thread 0's clock word, "
                "clock, place, load X's vector word, lock, swap X's vector word, "
                "load X's last write, none, own-entry, grow, heap list, load list of 16, "
                "load page's rest:16, heap fresh, swap heap's top, heap page, "
                "store page's rest:16, line, store vector:16, store vector:4, "
                "store X's vector word, 43 in all",
                R(0, X));
    EVENTS_COST(&r,
                "call, load thread 0's epoch, load thread 0's clock word, clock, place, "
                "load X's vector word, lock, swap X's vector word, load X's last write, none, "
                "own-entry, store vector:4, store X's vector word, 21 in all",
                R(0, X));
    /* Four entries are compared, and zeroed. */
    EVENTS_COST(&r,
                "call, load thread 0's epoch, load thread 0's clock word, clock, place, "
                "load X's vector word, lock, swap X's vector word, load X's last write, none, "
                "vector, line, load vector:16, 4 entry, line, store vector:16, "
                "store X's last write, store X's vector word, 43 in all",
                W(0, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 16);
    /* Thread 4's entry is beyond the vector's four. */
    EVENTS_COST(&r,
                "call, store thread 4's epoch, load thread 4's epoch, load thread 4's clock word, "
                "clock, place, load X's vector word, lock, swap X's vector word, "
                "load X's last write, none, ordered, own-entry, grow, heap list, load list of 32, "
                "load page's rest:16, heap fresh, store page's rest:16, line, load vector:16, "
                "store longer vector:16, line, store longer vector+16:16, heap give, "
                "load list of 16, store vector, store list of 16, store longer vector+16:4, "
                "store X's vector word, 54 in all",
                R(4, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 32);
    RUN(&r, EV_MOVE(0, X + 0x100, X, 4), EV_REGION(CLEAR, 0, X, 4));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 32);
    assert_int_equal(policy_rig_stat(&r, "metadata.peak"), 2 * (16 + 32));
    policy_rig_close(&r);
}

/* A read goes through the vector of writes, a write through both. */
static void vc_with_all_has_two_vectors(void **state)
{
    static const char *const all[] = {"policy.a.history=all", NULL};
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "vc", all, vc_layout);
    RUN(&r, W(0, X), R(0, X));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16 + 16 + 16);
    EVENTS_COST(&r,
                "call, load thread 0's epoch, load thread 0's clock word, clock, place, "
                "load X's vector word, lock, swap X's vector word, load X's last write, vector, "
                "line, load vector:16, 4 entry, own-entry, store vector+16:4, "
                "store X's vector word, 39 in all",
                R(0, X));
    EVENTS_COST(&r,
                "call, load thread 0's epoch, load thread 0's clock word, clock, place, "
                "load X's vector word, lock, swap X's vector word, load X's last write, vector, "
                "line, load vector:16, 4 entry, vector, line, load vector+16:16, 4 entry, "
                "own-entry, store vector:4, store X's last write, store X's vector word, 60 in all",
                W(0, X));
    policy_rig_close(&r);
}

/* ---- eraser --------------------------------------------------------------------------------- */

static void eraser_has_a_word_a_variable(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "eraser", NULL, eraser_layout);
    EVENTS_COST(&r, "call, place, load X's word:4, state, make, store X's word:4, 12 in all",
                W(0, X));
    EVENTS_COST(&r, "call, place, load X's word:4, state, owner, 12 in all",
                W(0, X)); /* Exclusive, the same thread: nothing changes */
    /* Another: what it holds is asked; its block is made. No lock: reported, for nothing.
     */
    EVENTS_COST(&r,
                "core 1, call, place, load X's word:4, state, owner, heap list, load list of 16, "
                "load page's rest:16, heap fresh, swap heap's top, heap page, "
                "store page's rest:16, load held sets, empty, make, store X's word:4, 32 in all",
                W(1, X));
    assert_int_equal(policy_rig_stat(&r, "races.accesses"), 1);
    /* Reported: the candidates are none, as is what it holds. */
    EVENTS_COST(&r,
                "core 1, call, place, load X's word:4, state, load held sets, same-set, empty, "
                "17 in all",
                W(1, X));
    EVENTS_COST(&r, "clear-line, load X's word:4, store X's word:4, 5 in all",
                EV_REGION(CLEAR, 0, X, 4));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 16);
    assert_int_equal(policy_rig_stat(&r, "metadata.peak"), 16 + 4);
    policy_rig_close(&r);
}

/* The first time sets are worked out and kept; afterwards each is one look-up of 16 bytes. */
static void eraser_finds_known_sets_in_its_cache(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "eraser", NULL, eraser_layout);
    RUN(&r, ACQ(0, L), ACQ(0, M), REL(0, M), REL(0, L));
    EVENTS_COST(&r,
                "call, load held sets:16, cache, load cache+23200:16, cache, load cache+23200:16, "
                "store held sets:16, 18 in all",
                ACQ(0, L)); /* both sets become {L} */
    /* Candidates {L} and {L, M}: looked up, worked out, kept; then known. */
    RUN(&r, W(1, X), W(0, X), ACQ(0, M));
    EVENTS_COST(&r,
                "call, place, load X's word:4, state, load held sets, same-set, cache, "
                "load cache+48048:16, load table of sets+8, load sets, load table of sets+16, "
                "load later block:16, miss, 3 element, intern, load table of sets+8, load sets, "
                "store cache+48048:16, empty, 51 in all",
                W(0, X));
    EVENTS_COST(&r,
                "call, place, load X's word:4, state, load held sets, same-set, cache, "
                "load cache+48048:16, empty, 24 in all",
                W(0, X)); /* the word, what it holds, the cache */
    policy_rig_close(&r);
}

/* Words whose state or set does not change are not written. */
static void eraser_writes_words_that_change(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "eraser", NULL, eraser_layout);
    RUN(&r, ACQ(0, L), W(0, X), REL(0, L), ACQ(1, L));
    EVENTS_COST(&r,
                "core 1, call, place, load X's word:4, state, owner, load later block, empty, "
                "make, store X's word:4, 20 in all",
                R(1, X)); /* Shared */
    EVENTS_COST(&r,
                "core 1, call, place, load X's word:4, state, load later block, same-set, empty, "
                "17 in all",
                R(1, X));
    EVENTS_COST(&r,
                "core 1, call, place, load X's word:4, state, load later block, same-set, empty, "
                "make, store X's word:4, 20 in all",
                W(1, X)); /* Shared-Modified */
    policy_rig_close(&r);
}

/* Of 1024 entries of 8 bytes, doubled when a set more comes: the old one is given back. What else
 * comes with a lock is its set of one, 8 bytes, and the word of a variable that it guards. */
static void eraser_has_one_table_of_sets(void **state)
{
    enum { LOCK = 8, VARIABLE = 4, ENTRY = 8, FIRST = 1024 };
    struct policy_rig r;
    uint64_t was = 0;
    unsigned doubled = 0;

    (void)state;
    policy_rig_open(&r, "eraser", NULL, eraser_layout);
    for (unsigned i = 0; i < FIRST + 100; i++) {
        const sim_addr x = FAR + 16 * i, lock = M + 16 * i;
        RUN(&r, ACQ(0, lock), W(0, x), W(1, x), W(0, x), REL(0, lock));
        const uint64_t live = policy_rig_stat(&r, "metadata.live"), more = live - was;
        if (i > 0 && more == LOCK + VARIABLE + FIRST * ENTRY)
            doubled++; /* by as much as it had */
        else if (i > 0)
            assert_int_equal(more, LOCK + VARIABLE);
        was = live;
    }
    number_is("times that the table was doubled", doubled, 1);
    policy_rig_close(&r);
}

/* ---- clean ---------------------------------------------------------------------------------- */

#define ATOMIC(k, t, a)                                                                            \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4,                                        \
        .flags = ORDER_RELAXED << EVF_ORDER_SHIFT                                                  \
    }

static void clean_reads_and_writes(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "clean", NULL, clean_layout);
    EVENTS_COST(
        &r,
        "place, store thread 0's epoch, load thread 0's epoch, load X's word:4, same-epoch, "
        "load thread 0's clock word, clock, ordered, swap, swap X's word:4, 20 in all",
        W(0, X));
    /* The same epoch: a load, compare, branch; no swap. */
    EVENTS_COST(&r, "place, load thread 0's epoch, load X's word:4, same-epoch, 7 in all", W(0, X));
    EVENTS_COST(&r, "place, load thread 0's epoch, load X's word:4, same-epoch, 7 in all", R(0, X));
    /* Another's: a read changes nothing. */
    EVENTS_COST(&r,
                "core 1, place, store thread 1's epoch, load thread 1's epoch, load X's word:4, "
                "same-epoch, load thread 1's clock word, clock, ordered, 17 in all",
                R(1, X));
    assert_int_equal(policy_rig_stat(&r, "races.accesses"), 1);
    RUN(&r, ACQ(0, L), REL(0, L), ACQ(1, L));
    EVENTS_COST(&r,
                "core 1, place, load thread 1's epoch, load X's word:4, same-epoch, "
                "load thread 1's clock word, clock, load clocks+4096:4, ordered, swap, "
                "swap X's word:4, 20 in all",
                W(1, X));
    assert_int_equal(policy_rig_stat(&r, "races.accesses"), 1);
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), 4);
    policy_rig_close(&r);
}

/* Atomic accesses don't race: the bit says so before a clock is looked at. */
static void clean_looks_at_no_clock_between_atomics(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "clean", NULL, clean_layout);
    RUN(&r, ATOMIC(WRITE, 0, X), R(1, Y));
    EVENTS_COST(&r,
                "core 1, place, load thread 1's epoch, load X's word:4, same-epoch, atomic, swap, "
                "swap X's word:4, 12 in all",
                ATOMIC(WRITE, 1, X));
    EVENTS_COST(&r,
                "place, load thread 0's epoch, load X's word:4, same-epoch, "
                "load thread 0's clock word, clock, ordered, 16 in all",
                R(0, X));
    policy_rig_close(&r);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* What a policy still has in hand is checked when the run is over, and takes no time. */
static void the_end_of_a_run_costs_nothing(void **state)
{
    static const struct event array[] = {
        {.kind = EV_ALLOC, .addr = FAR, .aux = 256, .flags = EVF_MORE}, {.addr = 64, .size = 4}};

    (void)state;
    for (size_t i = 0; policies[i]; i++) {
        struct policy_rig r;
        if (!policies[i]->charges || policies[i]->hardware)
            continue;
        policy_rig_open(&r, policies[i]->name, NULL, fasttrack_layout);
        policy_rig_run(&r, array, 2);
        for (unsigned k = 0; k < 128; k++)
            RUN(&r, {.kind = k % 2 ? EV_READ : EV_WRITE,
                     .tid = (sim_tid)(k / 32),
                     .addr = FAR + k / 2 * 4,
                     .size = 4,
                     .flags = EVF_ARRAY});
        charges_forget(&r.m.asked);
        const uint64_t live = policy_rig_stat(&r, "metadata.live");
        checker_finish(r.checker);
        char *differ = charges_differ(&r.m.asked, "");
        if (differ)
            fail_msg("at the end of a run with %s: %s", policies[i]->name, differ);
        assert_int_equal(policy_rig_stat(&r, "metadata.live"), live);
        policy_rig_free(&r);
    }
}

/* ---- counts --------------------------------------------------------------------------------- */

static void granules_that_clears_and_copies_change_are_counted(void **state)
{
    static const char *const names[] = {"fasttrack", "vc", "eraser"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct policy_rig r;
        policy_rig_open(&r, names[i], NULL, fasttrack_layout);
        RUN(&r, W(0, X), W(0, Y), EV_MOVE(0, FAR, X, 8));
        assert_int_equal(policy_rig_stat(&r, "copied"), 2);
        assert_int_equal(policy_rig_stat(&r, "cleared"), 0); /* nothing was there */
        RUN(&r, EV_MOVE(0, FAR, Y, 4));
        assert_int_equal(policy_rig_stat(&r, "copied"), 3);
        RUN(&r, EV_REGION(CLEAR, 0, X, 4));
        assert_true(policy_rig_stat(&r, "cleared") > 0);
        policy_rig_close(&r);
    }
}

/* What is only detected takes no time. */
static void collections_are_counted_where_there_is_time(void **state)
{
    struct policy_rig on_machine;
    struct watch w;
    uint64_t n;

    (void)state;
    policy_rig_open(&on_machine, "fasttrack", NULL, fasttrack_layout);
    assert_true(stats_value(on_machine.m.stats, "policy.a.cost.collections", &n));
    policy_rig_close(&on_machine);
    watch_open(&w, "fasttrack", 4, (const char *const[]){NULL});
    assert_false(stats_value(w.stats, "policy.a.cost.collections", &n));
    watch_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fasttrack_reads),
        cmocka_unit_test(fasttrack_locks_as_it_is_told),
        cmocka_unit_test(fasttrack_calls_its_check_where_it_is_not_in_line),
        cmocka_unit_test(fasttrack_looks_for_the_class_of_a_static_that_it_loads),
        cmocka_unit_test(fasttrack_writes),
        cmocka_unit_test(fasttrack_looks_entries_up_in_the_clock),
        cmocka_unit_test(fasttrack_makes_a_read_map),
        cmocka_unit_test(fasttrack_doubles_a_full_map),
        cmocka_unit_test(fasttrack_clears_and_copies_words),
        cmocka_unit_test(fasttrack_read_maps_are_traced_at_full_collections),
        cmocka_unit_test(further_granules_cost_what_they_have_of_their_own),
        cmocka_unit_test(fasttrack_costs_the_same_however_repeats_count),
        cmocka_unit_test(vc_reads_and_writes_under_a_lock),
        cmocka_unit_test(vc_with_all_has_two_vectors),
        cmocka_unit_test(eraser_has_a_word_a_variable),
        cmocka_unit_test(eraser_finds_known_sets_in_its_cache),
        cmocka_unit_test(eraser_writes_words_that_change),
        cmocka_unit_test(eraser_has_one_table_of_sets),
        cmocka_unit_test(clean_reads_and_writes),
        cmocka_unit_test(clean_looks_at_no_clock_between_atomics),
        cmocka_unit_test(the_end_of_a_run_costs_nothing),
        cmocka_unit_test(granules_that_clears_and_copies_change_are_counted),
        cmocka_unit_test(collections_are_counted_where_there_is_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
