/* t_fastrcd.c - FastRCD's rules on streams by hand (t_region_verdict.c has random ones), its words'
 * overflow and reset, and what its steps cost.
 *
 *     t_fastrcd [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/policy/regions/run.h"

#define SAYS(want, ...)            region_says("fastrcd", WITH(NULL), want, EVENTS(__VA_ARGS__))
#define SAYS_WITH(with, want, ...) region_says("fastrcd", with, want, EVENTS(__VA_ARGS__))
#define STAT(with, name, want, ...)                                                                \
    assert_int_equal(region_stat("fastrcd", with, name, EVENTS(__VA_ARGS__)), want)
static const struct rig_places fastrcd_layout = {
    .each = 8,
    .field = {{0, 4, "write word"}, {4, 4, "read word"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "first clock"}, {64, "second map"}, {4096, "second clock"}, {4160, "map"}},
};
#define COSTS_WITH(setting, expected, ...)                                                         \
    REGION_COSTS_WITH("fastrcd", setting, &fastrcd_layout, expected, __VA_ARGS__)
#define COSTS(expected, ...) REGION_COSTS("fastrcd", &fastrcd_layout, expected, __VA_ARGS__)

/* ---- Algorithms 1 and 2 --------------------------------------------------------------------- */

static void an_access_conflicts_with_an_ongoing_regions(void **state)
{
    (void)state;
    SAYS("0-1", W(0, X), W(1, X));
    SAYS("0-1", W(0, X), R(1, X));
    SAYS("0-1", R(0, X), W(1, X));
    SAYS("", R(0, X), R(1, X));
    SAYS("", W(0, X), W(1, Y));
}

static void not_with_one_that_is_over(void **state)
{
    (void)state;
    SAYS("", W(0, X), ENDS(0), W(1, X));
    SAYS("", W(0, X), ENDS(0), R(1, X));
    SAYS("", R(0, X), ENDS(0), W(1, X));
    SAYS("0-2", W(0, X), ENDS(1), W(1, X));
}

static void a_join_ends_the_region_of_a_thread_without_an_end(void **state)
{
    (void)state;
    SAYS("", EV_NAMING(FORK, 0, 1), W(1, X), EV_NAMING(JOIN, 0, 1), W(2, X));
    SAYS("1-2", EV_NAMING(FORK, 0, 1), W(1, X), W(2, X), EV_NAMING(JOIN, 0, 1));
}

static void a_thread_does_not_conflict_with_itself(void **state)
{
    (void)state;
    SAYS("", W(0, X), R(0, X), W(0, X));
    SAYS("", R(0, X), W(0, X), R(0, X));
    SAYS("", R(0, X), ENDS(0), W(0, X), R(0, X));
}

static void what_was_never_accessed_is_of_no_region(void **state)
{
    (void)state;
    SAYS("", R(0, X), W(0, Y), W(1, Z)); /* first regions: clock 1, never 0 */
    SAYS("", R(1, X), R(0, Y), W(0, Y));
}

static void the_metadata_changes_with_a_conflict_or_without(void **state)
{
    (void)state;
    SAYS("0-1 1-3", W(0, X), R(1, X), ENDS(0), W(2, X));
    SAYS("0-1 1-3", W(0, X), W(1, X), ENDS(0), R(2, X));
    SAYS("0-1", W(0, X), W(1, X), ENDS(1), R(2, X)); /* T0's write has been replaced */
}

static void reads_in_regions_that_overlap_make_a_map(void **state)
{
    struct watch w;

    (void)state;
    STAT(WITH(NULL), "upgrades", 1, R(0, X), R(1, X), R(2, X));
    STAT(WITH(NULL), "upgrades", 0, R(0, X), ENDS(0), R(1, X), ENDS(1), R(2, X));
    STAT(WITH(NULL), "upgrades", 0, R(0, X), ENDS(0), R(0, X));
    region_run(&w, "fastrcd", WITH(NULL), EVENTS(R(0, X), R(1, X), R(2, X), ENDS(1), W(3, X)));
    assert_int_equal(w.conflicts, 2); /* T0's and T2's */
    assert_int_equal(w.conflict[0].earlier.event, 0);
    assert_int_equal(w.conflict[1].earlier.event, 2);
    watch_close(&w);
    SAYS("0-2", R(0, X), R(1, X), W(1, X)); /* its own read is none */
}

static void a_write_forgets_the_reads(void **state)
{
    struct watch w;

    (void)state;
    region_run(&w, "fastrcd", WITH(NULL), EVENTS(R(0, X), R(1, X), W(2, X), W(3, X)));
    assert_int_equal(w.conflicts, 3); /* 0-2, 1-2, 2-3 */
    watch_close(&w);
}

static void repeats_in_a_region_are_not_checked(void **state)
{
    (void)state;
    STAT(WITH(NULL), "same-region", 2, W(0, X), W(0, X), R(0, X), R(0, X));
    STAT(WITH(NULL), "same-region", 0, W(0, X), ENDS(0), W(0, X));
    STAT(WITH(NULL), "same-region", 1, R(0, X), R(1, X), R(0, X)); /* in a map */
    SAYS("0-1", W(0, X), R(1, X), W(0, X));                        /* the oracle has 1-2 as well */
}

static void clears_begin_a_life_and_copies_take_it_along(void **state)
{
    (void)state;
    SAYS("", W(0, X), CLEAR(X), W(1, X));
    SAYS("0-3", W(0, X), MOVE(Y, X), CLEAR(X), W(1, Y));
    SAYS("0-4", R(0, X), R(1, X), MOVE(Y, X), CLEAR(X), W(1, Y));
    STAT(WITH(NULL), "races.locations", 1, W(0, X), W(1, X), MOVE(Y, X), W(0, Y));
    STAT(WITH(NULL), "metadata.live", 16, W(0, X), W(0, Y), W(0, Z), CLEAR(Z));
    STAT(WITH(NULL), "metadata.live", 8 + 64, R(0, X), R(1, X));
    STAT(WITH(NULL), "metadata.live", 8, R(0, X), R(1, X), W(1, X));
}

/* ---- words ---------------------------------------------------------------------------------- */

#define GC_DONE(t) BY(GC_BEGIN, t), BY(GC_END, t)
#define GC         GC_DONE(0)
#define NURSERY                                                                                    \
    {.kind = EV_GC_BEGIN, .flags = EVF_NURSERY},                                                   \
    {                                                                                              \
        .kind = EV_GC_END, .flags = EVF_NURSERY                                                    \
    }

static void a_full_collection_resets_all_clocks(void **state)
{
    (void)state;
    STAT(WITH(NULL), "resets", 1, W(0, X), GC);
    STAT(WITH(NULL), "resets", 0, W(0, X), NURSERY);
    SAYS("2-5", ENDS(0), ENDS(0), W(0, X), GC, W(1, X));
    SAYS("", W(0, X), ENDS(0), GC, W(1, X));
    SAYS("", W(0, X), ENDS(0), ENDS(0), GC, R(1, X));
    SAYS("1-4", R(0, X), R(1, X), GC, W(0, X)); /* a map */
    SAYS("", R(0, X), R(1, X), ENDS(1), GC, W(0, X));
    SAYS("", W(0, X), GC, ENDS(0), W(1, X));
}

#define THREE_ENDS ENDS(0), ENDS(0), ENDS(0)

static void a_clock_that_overflows_takes_an_old_region_for_the_ongoing(void **state)
{
    (void)state;
    SAYS_WITH(WITH("clock-bits=2"), "0-4", W(0, X), THREE_ENDS, W(1, X));
    SAYS_WITH(WITH("clock-bits=3"), "", W(0, X), THREE_ENDS, W(1, X));
    STAT(WITH("clock-bits=2"), "overflows", 1, W(0, X), THREE_ENDS);
    STAT(WITH("clock-bits=2"), "overflows", 0, W(0, X), ENDS(0), ENDS(0), GC, ENDS(0), ENDS(0));
}

static void what_has_no_bits_is_refused(void **state)
{
    (void)state;
    region_stops("fastrcd", WITH("thread-bits=3"), LARD_CONFIG, "this is thread 8; raise",
                 EVENTS(R(7, X), R(8, X)));
    region_stops("fastrcd", WITH("thread-bits=1"), LARD_CONFIG, "this is thread 2; raise",
                 EVENTS(W(0, X), W(1, Y), W(2, Z)));
    region_stops("fastrcd", WITH(NULL), LARD_CONFIG, "this is thread 512", EVENTS(W(512, X)));
    SAYS("0-1", W(510, X), W(511, X));
    region_refuses("fastrcd", WITH("clock-bits=23"), "are 32, and an epoch has 31");
}

static void it_can_end_the_run(void **state)
{
    (void)state;
    region_stops("fastrcd", WITH("after-race=stop"), LARD_RACES, "",
                 EVENTS(W(0, X), W(1, X), W(2, X)));
}

/* ---- costs: a clock, a word, ... as docs/policies/fastrcd.md has it ------------------------- */

static void a_repeat_costs_two_loads(void **state)
{
    (void)state;
    COSTS("load first clock:4, place, load X's read word:4, same-region, 6 in all", R(0, X),
          R(0, X));
    COSTS("load first clock:4, place, load X's write word:4, same-region, 6 in all", W(0, X),
          W(0, X));
}

static void other_accesses_lock_the_read_word(void **state)
{
    (void)state;
    COSTS("load first clock:4, place, load X's read word:4, same-region, is-map, slow-path, "
          "lock, swap X's read word:4, load X's write word:4, 2 none, store X's read word:4, "
          "21 in all",
          R(0, Y), R(0, X));
    /* a write also loads the read word, and again its own, as nothing was locked before */
    COSTS("load first clock:4, place, load X's write word:4, same-region, slow-path, "
          "load X's read word:4, lock, swap X's read word:4, load X's write word:4, none, "
          "is-map, none, store X's write word:4, store X's read word:4, 23 in all",
          R(0, Y), W(0, X));
}

static void another_threads_epoch_costs_its_clock(void **state)
{
    (void)state;
    /* as a first write, and twice: is it the own epoch, is its region ongoing? */
    COSTS("core 1, load first clock:4, place, load X's write word:4, same-region, slow-path, "
          "load X's read word:4, lock, swap X's read word:4, load X's write word:4, none, "
          "own, load second clock:4, ongoing, is-map, none, own, load second clock:4, "
          "ongoing, store X's write word:4, store X's read word:4, 39 in all",
          R(1, Y), R(0, Y), W(0, X), R(0, X), ENDS(0), W(1, X));
    /* the own is told from the thread: no clock */
    COSTS("load first clock:4, place, load X's write word:4, same-region, slow-path, "
          "load X's read word:4, lock, swap X's read word:4, load X's write word:4, none, "
          "is-map, none, own, store X's write word:4, store X's read word:4, 26 in all",
          R(0, X), W(0, X));
}

static void without_readers_a_read_is_checked_against_the_last_write_alone(void **state)
{
    (void)state;
    SAYS_WITH(WITH("readers=off"), "0-1", W(0, X), R(1, X));
    SAYS_WITH(WITH("readers=off"), "0-1", W(0, X), W(1, X));
    SAYS_WITH(WITH("readers=off"), "", R(0, X), W(1, X)); /* missed: unsound */
    SAYS_WITH(WITH("readers=off"), "", R(0, X), R(1, X), W(2, X));
}

static void without_readers_a_read_changes_nothing(void **state)
{
    (void)state;
    COSTS_WITH("policy.a.readers=off",
               "load first clock:4, place, load X's write word:4, same-region, none, 8 in all",
               R(0, Y), R(0, X));
    COSTS_WITH("policy.a.readers=off",
               "core 1, load second clock:4, place, load X's write word:4, same-region, none, own, "
               "load first clock:4, ongoing, 16 in all",
               W(0, X), R(1, Y), R(1, X));
}

static void without_readers_the_write_word_is_the_lock(void **state)
{
    (void)state;
    COSTS_WITH("policy.a.readers=off",
               "load first clock:4, place, load X's write word:4, same-region, slow-path, lock, "
               "swap X's write word:4, none, store X's write word:4, 16 in all",
               R(0, X), W(0, X));
}

static void a_map_costs_a_block_and_its_slots(void **state)
{
    (void)state;
    /* as a first read; a fresh block of 64 bytes, two slots */
    COSTS("core 1, load second clock:4, place, load X's read word:4, same-region, is-map, "
          "slow-path, lock, swap X's read word:4, load X's write word:4, 2 none, own, "
          "load first clock:4, ongoing, store X's read word:4, heap list, load list of 64, "
          "load page's rest:16, heap fresh, store page's rest:16, store map:64, map-new, "
          "map-find, store map, map-find, store map+8, 51 in all",
          R(0, X), R(1, Y), R(1, X));
    COSTS("core 1, load second clock:4, place, load X's read word:4, same-region, is-map, "
          "map-find, load map+8, map-probe, 17 in all",
          R(0, X), R(1, X), R(1, X));
}

/* 8 slots of 8 bytes: the ninth reader's is twice as large, and the first goes back; so with the
 * 17th. */
static void a_full_map_is_doubled(void **state)
{
    enum { READERS = 20, WORDS = 8 };
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "fastrcd", NULL, fastrcd_layout);
    for (unsigned t = 0; t < READERS; t++)
        RUN(&r, R((sim_tid)t, Y + 8 * t)); /* they have clocks */
    for (unsigned t = 0; t < READERS; t++) {
        const uint64_t was = policy_rig_stat(&r, "metadata.live");
        RUN(&r, R((sim_tid)t, X));
        const uint64_t more = policy_rig_stat(&r, "metadata.live") - was;
        assert_int_equal(more, t == 0 ? WORDS : t == 1 || t == 8 ? 64 : t == 16 ? 128 : 0);
    }
    const uint64_t live = policy_rig_stat(&r, "metadata.live");
    RUN(&r, CLEAR(X));
    assert_int_equal(live - policy_rig_stat(&r, "metadata.live"), WORDS + 256);
    policy_rig_close(&r);
}

/* The own clock and place are in registers. */
static void a_further_granule_costs_its_own_words(void **state)
{
    const struct event both = {.kind = EV_WRITE, .addr = X, .size = 8};

    (void)state;
    COSTS("load first clock:4, place, load X's write word:4, same-region, "
          "load 0x1004's write word:4, same-region, 9 in all",
          both, both);
}

static void the_end_of_a_region_costs_its_clock(void **state)
{
    (void)state;
    COSTS("load first clock:4, region-end, store first clock:4, 5 in all", R(0, X), ENDS(0));
    COSTS("", R(0, X), EV_ON(ACQUIRE, 0, L));
}

static void a_full_collection_costs_each_variable_and_clock(void **state)
{
    (void)state;
    COSTS("load Y, none, trace, none, load first clock:4, reset, store Y, load X, none, "
          "trace, none, load first clock:4, reset, store X, store first clock:4, 33 in all",
          R(0, X), R(0, Y), GC_DONE(0));
    /* clocks of threads that are there */
    COSTS("core 3, load X, none, trace, none, load first clock:4, reset, store X, "
          "store first clock:4, 17 in all",
          R(7, X), GC_DONE(7));
    /* a map of two readers */
    COSTS("load X, none, trace, map-find, load map, mark, store map, load map, load map+8, "
          "load map+16, load map+24, load map+32, load map+40, load map+48, load map+56, "
          "8 map-slot, none, load first clock:4, reset, store map, none, "
          "load second clock:4, reset, store map+8, store X, store first clock:4, "
          "store second clock:4, 84 in all",
          R(0, X), R(1, X), GC_DONE(0));
}

static void a_clear_costs_each_line_of_metadata(void **state)
{
    (void)state;
    COSTS("line, load X:16, store X:16, 7 in all", R(0, X), R(0, X + 4),
          EV_REGION(CLEAR, 0, X, 64));
    COSTS("line, load X, store Y, 7 in all", R(0, X), EV_MOVE(0, Y, X, 64));
    /* a map: loaded, and stored in a fresh block */
    COSTS("line, load X, store Y, load map:64, heap list, load list of 64, "
          "load page's rest:16, heap fresh, store page's rest:16, store second map:64, "
          "map-new, 20 in all",
          R(0, X), R(1, X), EV_MOVE(0, Y, X, 4));
    /* what is at the destination is written once */
    COSTS("line, load X, store Y, 7 in all", R(0, X), R(0, Y), EV_MOVE(0, Y, X, 64));
    /* one line of the source, two of the destination */
    COSTS("line, load X:16, store 0x201c, further store 0x2020, 7 in all", R(0, X), R(0, X + 4),
          EV_MOVE(0, Y + 28, X, 64));
    COSTS("", R(0, X), EV_REGION(CLEAR, 0, Y, 64));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_conflicts_with_an_ongoing_regions),
        cmocka_unit_test(not_with_one_that_is_over),
        cmocka_unit_test(a_join_ends_the_region_of_a_thread_without_an_end),
        cmocka_unit_test(a_thread_does_not_conflict_with_itself),
        cmocka_unit_test(what_was_never_accessed_is_of_no_region),
        cmocka_unit_test(the_metadata_changes_with_a_conflict_or_without),
        cmocka_unit_test(reads_in_regions_that_overlap_make_a_map),
        cmocka_unit_test(a_write_forgets_the_reads),
        cmocka_unit_test(repeats_in_a_region_are_not_checked),
        cmocka_unit_test(clears_begin_a_life_and_copies_take_it_along),
        cmocka_unit_test(a_full_collection_resets_all_clocks),
        cmocka_unit_test(a_clock_that_overflows_takes_an_old_region_for_the_ongoing),
        cmocka_unit_test(what_has_no_bits_is_refused),
        cmocka_unit_test(it_can_end_the_run),
        cmocka_unit_test(a_repeat_costs_two_loads),
        cmocka_unit_test(other_accesses_lock_the_read_word),
        cmocka_unit_test(another_threads_epoch_costs_its_clock),
        cmocka_unit_test(without_readers_a_read_is_checked_against_the_last_write_alone),
        cmocka_unit_test(without_readers_a_read_changes_nothing),
        cmocka_unit_test(without_readers_the_write_word_is_the_lock),
        cmocka_unit_test(a_map_costs_a_block_and_its_slots),
        cmocka_unit_test(a_full_map_is_doubled),
        cmocka_unit_test(a_further_granule_costs_its_own_words),
        cmocka_unit_test(the_end_of_a_region_costs_its_clock),
        cmocka_unit_test(a_full_collection_costs_each_variable_and_clock),
        cmocka_unit_test(a_clear_costs_each_line_of_metadata),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
