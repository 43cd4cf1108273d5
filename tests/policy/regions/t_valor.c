/* t_valor.c - Valor's rules on streams by hand (t_region_verdict.c has random ones): the paper's
 * figures, what validates when, full logs, versions that overflow, logs that follow what moves, and
 * what the steps cost.
 *
 *     t_valor [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/policy/regions/run.h"

#define BOTH_WITH(with, want, ...)                                                                 \
    (region_says("valor-e", with, want, EVENTS(__VA_ARGS__)),                                      \
     region_says("valor-o", with, want, EVENTS(__VA_ARGS__)))
#define BOTH(want, ...)         BOTH_WITH(WITH(NULL), want, __VA_ARGS__)
#define O_WITH(with, want, ...) region_says("valor-o", with, want, EVENTS(__VA_ARGS__))
#define E_WITH(with, want, ...) region_says("valor-e", with, want, EVENTS(__VA_ARGS__))
#define STAT(with, name, want, ...)                                                                \
    (assert_int_equal(region_stat("valor-e", with, name, EVENTS(__VA_ARGS__)), want),              \
     assert_int_equal(region_stat("valor-o", with, name, EVENTS(__VA_ARGS__)), want))
#define O_STAT(with, name, want, ...)                                                              \
    assert_int_equal(region_stat("valor-o", with, name, EVENTS(__VA_ARGS__)), want)
static const struct rig_places own_layout = {
    .each = 4,
    .field = {{0, 4, "word"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "log's end"}, {8, "write set's end"}, {4096, "log"}, {1052672, "write set"}},
};
static const struct rig_places epoch_layout = {
    .each = 8,
    .field = {{0, 8, "word"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "log's end"},
              {4096, "log"},
              {1052672, "clock"},
              {1056768, "second log's end"},
              {1060864, "second log"}},
};
#define COSTS_O(expected, ...) REGION_COSTS("valor-o", &own_layout, expected, __VA_ARGS__)
#define COSTS_E(expected, ...) REGION_COSTS("valor-e", &epoch_layout, expected, __VA_ARGS__)

/* ---- the paper's figures -------------------------------------------------------------------- */

/* T0 wrote x, in a region that is over: events 0 and 1. */
#define BEFORE W(0, X), ENDS(0)

static void figure_1a_a_write_is_found_at_once(void **state)
{
    (void)state;
    BOTH("2-3", BEFORE, W(1, X), R(2, X), ENDS(1), ENDS(2));
    BOTH("2-3", BEFORE, W(1, X), W(2, X), ENDS(1), ENDS(2));
}

static void figure_1b_a_read_that_is_written_over_is_found_when_its_region_ends(void **state)
{
    (void)state;
    BOTH("2~3@4", BEFORE, R(1, X), W(2, X), ENDS(1), ENDS(2));
    BOTH("2~3@5", BEFORE, R(1, X), W(2, X), ENDS(2), ENDS(1));
}

static void figure_2a_ones_own_write_is_no_conflict(void **state)
{
    (void)state;
    BOTH("", BEFORE, R(1, X), W(1, X), ENDS(1));
    BOTH("", BEFORE, R(1, X), W(1, X), W(1, X), R(1, X), ENDS(1));
}

static void figure_2b_two_versions_are_one_too_many(void **state)
{
    (void)state;
    BOTH("2~?@6", BEFORE, R(1, X), W(2, X), ENDS(2), W(1, X), ENDS(1));
}

/* ---- what conflicts ------------------------------------------------------------------------- */

static void regions_that_are_over_and_own_accesses_do_not(void **state)
{
    (void)state;
    BOTH("", W(0, X), ENDS(0), W(1, X), ENDS(1), R(2, X), ENDS(2), W(0, X));
    BOTH("", W(0, X), R(0, X), W(0, X), ENDS(0));
    BOTH("", R(0, X), R(1, X), ENDS(0), ENDS(1));
    BOTH("", R(0, X), ENDS(0), W(1, X), ENDS(1));
    BOTH("", R(0, X), W(1, Y), ENDS(0));
}

static void the_word_changes_with_a_conflict_or_without(void **state)
{
    (void)state;
    BOTH("0-1 1-3", W(0, X), W(1, X), ENDS(0), R(2, X));
    /* what T1 has taken T0 does not clear */
    BOTH("0-1 1-3", W(0, X), W(1, X), ENDS(0), W(2, X));
}

static void the_end_is_an_end_of_all_regions(void **state)
{
    (void)state;
    BOTH("0~1@2", R(0, X), W(1, X));
}

static void a_join_ends_the_region_of_a_thread_without_an_end(void **state)
{
    (void)state;
    BOTH("", EV_NAMING(FORK, 0, 1), R(1, X), EV_NAMING(JOIN, 0, 1), W(2, X), ENDS(0));
    BOTH("1~2@3", EV_NAMING(FORK, 0, 1), R(1, X), W(2, X), EV_NAMING(JOIN, 0, 1), ENDS(0));
}

static void each_racing_read_is_told_with_its_site(void **state)
{
    struct watch w;

    (void)state;
    for (int e = 0; e < 2; e++) {
        region_run(
            &w, e ? "valor-e" : "valor-o", WITH(NULL),
            EVENTS(SITED(READ, 0, X, 11), SITED(READ, 0, X, 12), SITED(WRITE, 1, X, 13), ENDS(0)));
        assert_int_equal(w.races, 2);
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(w.race[i].is.site, 11 + i);
            assert_int_equal(w.race[i].is.thread, 0);
            assert_int_equal(w.race[i].is.op, EV_READ);
            assert_int_equal(w.race[i].addr, X);
            assert_int_equal(w.race[i].earlier.site, 13);
            assert_int_equal(w.race[i].noticed, 3);
        }
        assert_int_equal(watch_stat(&w, "races.pairs"), 2);
        assert_int_equal(watch_stat(&w, "races.locations"), 1);
        assert_int_equal(watch_stat(&w, "late"), 2);
        watch_close(&w);
    }
}

static void an_access_counts_once(void **state)
{
    (void)state;
    /* of two granules; at once and late; at two validations */
    STAT(WITH(NULL), "races.accesses", 1, EV_SIZED(READ, 0, X, 8), W(1, X), W(1, X + 4), ENDS(0));
    STAT(WITH(NULL), "races.conflicts", 2, EV_SIZED(READ, 0, X, 8), W(1, X), W(1, X + 4), ENDS(0));
    STAT(WITH(NULL), "races.accesses", 2, W(1, X), R(0, X), W(2, X), ENDS(0));
    STAT(WITH(NULL), "races.conflicts", 3, W(1, X), R(0, X), W(2, X), ENDS(0));
    STAT(WITH(NULL), "races.accesses", 1, EV_SIZED(READ, 0, X, 8), W(1, X), BY(IO, 0), W(1, X + 4),
         ENDS(0));
}

#define ATOMIC(k, t, a)                                                                            \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4,                                        \
        .flags = ORDER_RELAXED << EVF_ORDER_SHIFT                                                  \
    }

/* The word tells of the last atomic write, and so does the list: that is one conflict. */
static void each_atomic_access_conflicts_once_with_a_plain_one(void **state)
{
    (void)state;
    STAT(WITH(NULL), "races.conflicts", 1, ATOMIC(WRITE, 0, X), R(1, X));
    STAT(WITH(NULL), "races.conflicts", 1, ATOMIC(WRITE, 0, X), W(1, X));
    STAT(WITH(NULL), "races.conflicts", 2, ATOMIC(WRITE, 0, X), ATOMIC(WRITE, 2, X), R(1, X));
    STAT(WITH(NULL), "races.conflicts", 2, ATOMIC(WRITE, 0, X), ATOMIC(WRITE, 2, X), W(1, X));
    STAT(WITH(NULL), "races.conflicts", 2, ATOMIC(READ, 0, X), ATOMIC(WRITE, 2, X), W(1, X));
    STAT(WITH(NULL), "races.conflicts", 1, ATOMIC(READ, 0, X), ATOMIC(WRITE, 2, X), R(1, X));
    STAT(WITH(NULL), "races.conflicts", 0, ATOMIC(READ, 0, X), R(1, X));
    STAT(WITH(NULL), "races.conflicts", 0, ATOMIC(WRITE, 0, X), ATOMIC(WRITE, 1, X));
}

/* ---- when validation comes ------------------------------------------------------------------ */

static void before_input_and_output(void **state)
{
    (void)state;
    BOTH("0~1@2", R(0, X), W(1, X), BY(IO, 0), ENDS(0));
    BOTH("0~1@3", R(0, X), W(1, X), BY(IO, 1), ENDS(0)); /* another's log is not looked at */
    BOTH("", R(0, X), BY(IO, 0), W(0, X), BY(IO, 0), ENDS(0));
    STAT(WITH(NULL), "before-io", 1, R(0, X), BY(IO, 0), ENDS(0), BY(IO, 0));
}

static void the_log_is_kept_and_a_conflict_reported_once(void **state)
{
    (void)state;
    BOTH("0~1@2", R(0, X), W(1, X), BY(IO, 0), BY(IO, 0), ENDS(0));
    BOTH("0~2@3", R(0, X), BY(IO, 0), W(1, X), ENDS(0));
    STAT(WITH(NULL), "races.conflicts", 1, R(0, X), W(1, X), BY(IO, 0), BY(IO, 0), ENDS(0));
    STAT(WITH(NULL), "races.conflicts", 2, R(0, X), W(1, X), BY(IO, 0), ENDS(1), W(1, X), ENDS(0));
}

static void before_the_first_report_of_a_region(void **state)
{
    (void)state;
    BOTH("0~1@3 2-3", R(0, X), W(1, X), W(1, Y), R(0, Y), ENDS(0));
    BOTH("0~1@3 2-3", R(0, X), W(1, X), W(1, Y), W(0, Y), ENDS(0));
    /* not before its second: both would end the program */
    BOTH("0-1 3-5 2~4@6", W(1, Y), R(0, Y), R(0, X), W(1, Z), W(1, X), R(0, Z), ENDS(0));
    STAT(WITH(NULL), "before-report", 2, W(1, Y), R(0, Y), R(0, Y), ENDS(0), R(0, Y));
}

static void after_each_period(void **state)
{
    (void)state;
    BOTH_WITH(WITH("period=2"), "0~1@3", R(0, X), W(1, X), R(0, Y), R(0, Y), ENDS(0));
    BOTH_WITH(WITH("period=1"), "0~1@2", R(0, X), W(1, X), R(0, Y), R(0, Y), ENDS(0));
    BOTH_WITH(WITH("period=3"), "0~1@4", R(0, X), W(1, X), R(0, Y), R(0, Y), ENDS(0));
    STAT(WITH("period=2"), "periodic", 2, R(0, X), R(0, X), R(0, X), R(0, X), R(0, X));
    STAT(WITH("period=2"), "periodic", 0, R(0, X), R(0, X), ENDS(0), R(0, X));
    STAT(WITH(NULL), "periodic", 0, R(0, X), R(0, X), R(0, X));
}

/* ---- logs that are full --------------------------------------------------------------------- */

static void a_full_log_is_validated_and_forgotten_and_the_region_goes_on(void **state)
{
    (void)state;
    BOTH_WITH(WITH("read-log=2"), "0~1@3", R(0, X), W(1, X), R(0, Y), R(0, Y), ENDS(0));
    BOTH_WITH(WITH("read-log=2"), "", R(0, X), R(0, Y), R(0, Y), W(1, X), ENDS(0)); /* missed */
    BOTH_WITH(WITH("read-log=3"), "0~3@4", R(0, X), R(0, Y), R(0, Y), W(1, X), ENDS(0));
    BOTH_WITH(WITH("read-log=1"), "0-4", W(0, X), R(0, Y), R(0, Y), R(0, Y), W(1, X), ENDS(0));
    STAT(WITH("read-log=2"), "log-full", 2, R(0, X), R(0, X), R(0, X), R(0, X), R(0, X));
    STAT(WITH("read-log=2"), "log-full", 0, R(0, X), R(0, X), ENDS(0), R(0, X), R(0, X));
    STAT(WITH("read-log=2"), "logged", 5, R(0, X), R(0, X), R(0, X), R(0, X), R(0, X), ENDS(0));
}

static void a_full_write_set_splits_the_region(void **state)
{
    (void)state;
    O_WITH(WITH("write-set=1"), "1-3", W(0, X), W(0, Y), W(1, X), W(1, Y));     /* x is missed */
    E_WITH(WITH("write-set=1"), "0-2 1-3", W(0, X), W(0, Y), W(1, X), W(1, Y)); /* it has none */
    O_STAT(WITH("write-set=1"), "splits", 2, W(0, X), W(0, Y), W(0, Z), W(0, Z), ENDS(0));
    O_STAT(WITH("write-set=3"), "splits", 0, W(0, X), W(0, Y), W(0, Z), W(0, Z), ENDS(0));
    /* the log is validated, and emptied: its own write would be taken for another's */
    O_WITH(WITH("write-set=1"), "0~1@3", R(0, X), W(1, X), W(0, Y), W(0, Z), ENDS(0));
    O_WITH(WITH("write-set=1"), "", R(0, X), W(0, X), W(0, Y), ENDS(0));
}

/* ---- words ---------------------------------------------------------------------------------- */

static void a_version_that_comes_round_hides_a_conflict(void **state)
{
    (void)state;
    BOTH_WITH(WITH("version-bits=1"), "", R(0, X), W(1, X), ENDS(1), W(1, X), ENDS(0));
    BOTH_WITH(WITH("version-bits=2"), "0~3@4", R(0, X), W(1, X), ENDS(1), W(1, X), ENDS(0));
    STAT(WITH("version-bits=1"), "overflows", 1, R(0, X), W(1, X), ENDS(1), W(1, X), ENDS(0));
    STAT(WITH("version-bits=2"), "overflows", 0, R(0, X), W(1, X), ENDS(1), W(1, X), ENDS(0));
    /* from 3 to 1 it is two versions as well */
    BOTH_WITH(WITH("version-bits=2"), "6~?@10", W(0, X), ENDS(0), W(0, X), ENDS(0), W(0, X),
              ENDS(0), R(1, X), W(2, X), ENDS(2), W(1, X), ENDS(1));
}

static void what_has_no_bits_is_refused(void **state)
{
    (void)state;
    region_stops("valor-o", WITH("thread-bits=3"), LARD_CONFIG, "this is thread 7; raise",
                 EVENTS(R(6, X), R(7, X)));
    region_stops("valor-o", WITH("thread-bits=1"), LARD_CONFIG, "this is thread 1; raise",
                 EVENTS(W(0, X), W(1, Y)));
    region_stops("valor-e", WITH(NULL), LARD_CONFIG, "this is thread 511", EVENTS(W(511, X)));
    BOTH("0-1", W(509, X), W(510, X));
    region_refuses("valor-o", WITH("version-bits=24"), "are 33, and a word has 32");
    region_refuses("valor", WITH("thread-bits=10"), "are 33, and a word has 32");
}

static void valor_is_valor_o(void **state)
{
    (void)state;
    region_says("valor", WITH("write-set=1"), "1-3", EVENTS(W(0, X), W(0, Y), W(1, X), W(1, Y)));
}

static void ownership_ends_with_the_region(void **state)
{
    (void)state;
    BOTH("", W(0, X), W(0, Y), ENDS(0), W(1, X), R(1, Y), ENDS(1));
    BOTH("3-4", W(0, X), W(0, Y), ENDS(0), W(1, X), W(2, X));
}

/* ---- what moves ----------------------------------------------------------------------------- */

static void entries_of_logs_follow_what_moves(void **state)
{
    (void)state;
    BOTH("0~3@4", R(0, X), MOVE(Y, X), CLEAR(X), W(1, Y), ENDS(0));
    BOTH("0~5@6", R(0, X), MOVE(Y, X), CLEAR(X), MOVE(Z, Y), CLEAR(Y), W(1, Z), ENDS(0));
    BOTH("0~2@3", R(0, X), MOVE(Y, X), W(1, X), ENDS(0)); /* both places have it */
    STAT(WITH(NULL), "races.locations", 2, R(0, X), MOVE(Y, X), W(1, X), W(1, Y), ENDS(0));
    BOTH("", R(0, Y), R(0, X), MOVE(Y, Z), W(1, Y), ENDS(0)); /* overwritten */
    STAT(WITH(NULL), "logged", 1, R(0, X), MOVE(Y, X), CLEAR(X), ENDS(0));
}

static void overlapping_copies_are_as_memmove(void **state)
{
    (void)state;
    BOTH("0~3@4", R(0, X), R(0, X + 4), EV_MOVE(9, X + 4, X, 8), W(1, X + 4), ENDS(0));
    BOTH("1~3@4", R(0, X), R(0, X + 4), EV_MOVE(9, X + 4, X, 8), W(1, X + 8), ENDS(0));
    BOTH("1~3@4", R(0, X), R(0, X + 4), EV_MOVE(9, X, X + 4, 4), W(1, X), ENDS(0));
}

static void a_clear_takes_no_conflict_along(void **state)
{
    (void)state;
    BOTH("0~1@2", R(0, X), W(1, X), CLEAR(X), ENDS(0));
    BOTH("", R(0, X), CLEAR(X), W(1, X), ENDS(0));
    BOTH("", W(0, X), CLEAR(X), W(1, X), R(1, X), ENDS(1), ENDS(0));
    STAT(WITH(NULL), "races.locations", 1, R(0, X), W(1, X), MOVE(Y, X), CLEAR(X), ENDS(0));
    STAT(WITH(NULL), "races.locations", 2, R(0, X), W(1, X), CLEAR(X), R(0, X), W(1, X), ENDS(0));
}

static void write_sets_follow_as_well(void **state)
{
    (void)state;
    BOTH("", W(0, X), MOVE(Y, X), CLEAR(X), ENDS(0), W(1, Y), ENDS(1));
    BOTH("0-3", W(0, X), MOVE(Y, X), CLEAR(X), W(1, Y));
}

/* Many short regions between clears: the index of entries is made again when most are stale. */
static void stale_entries_are_forgotten(void **state)
{
    enum { ROUNDS = 3000 };
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct event ev[] = {R(0, X + 8 * i), W(0, X + 8 * i), EV_REGION(CLEAR, 0, L, 8),
                                   ENDS(0)};
        for (unsigned k = 0; k < ARRAY_SIZE(ev); k++)
            stream_add(&s, &ev[k]);
    }
    const struct event tail[] = {R(0, X), EV_REGION(CLEAR, 0, L, 8), W(1, X), CLEAR(X), ENDS(0)};
    for (unsigned k = 0; k < ARRAY_SIZE(tail); k++)
        stream_add(&s, &tail[k]);
    region_run(&w, "valor-o", WITH(NULL), s.rec, s.records);
    assert_int_equal(w.races, 1);
    assert_int_equal(w.race[0].is.event, 4 * ROUNDS);
    assert_int_equal(w.race[0].noticed, 4 * ROUNDS + 3);
    watch_close(&w);
    stream_free(&s);
}

/* ---- after a race --------------------------------------------------------------------------- */

static void a_race_that_is_found_late_ends_the_run_or_disables(void **state)
{
    (void)state;
    region_stops("valor-o", WITH("after-race=stop"), LARD_RACES, "",
                 EVENTS(R(0, X), W(1, X), ENDS(0), R(0, Y)));
    region_stops("valor-e", WITH("after-race=stop"), LARD_RACES, "", EVENTS(R(0, X), W(1, X)));
    STAT(WITH("after-race=disable-variable"), "disabled", 1, R(0, X), W(1, X), ENDS(0), R(0, X));
}

/* ---- costs, as docs/policies/valor.md has them ---------------------------------------------- */

static void a_read_changes_no_metadata(void **state)
{
    (void)state;
    COSTS_O("place, load X's word:4, none, load log's end, log, store log+16:16, "
            "store log's end, 14 in all",
            R(0, Y), R(0, X));
    COSTS_O("place, load X's word:4, none, load log's end, log, store log+16:16, "
            "store log's end, 14 in all",
            R(0, X), R(0, X));
    /* valor-e also asks whether another's region is ongoing */
    COSTS_E("place, load X's word, own, load log's end, log, store log+16:16, store log's end, "
            "15 in all",
            R(0, Y), R(0, X));
    COSTS_E("place, load X's word, own, load clock:4, ongoing, load second log's end, log, "
            "store second log+16:16, store second log's end, 19 in all",
            W(1, X), ENDS(1), R(0, Y), R(0, X));
}

static void a_regions_first_write_swaps(void **state)
{
    (void)state;
    COSTS_O("place, load X's word:4, own, slow-path, none, version, swap, swap X's word:4, "
            "load write set's end, write-set, store write set:16, store write set's end, "
            "23 in all",
            R(0, Y), W(0, X));
    COSTS_O("place, load X's word:4, own, 6 in all", W(0, X), W(0, X));
    COSTS_E("place, load X's word, own, load clock:4, slow-path, own, version, swap, "
            "swap X's word, 18 in all",
            R(0, Y), W(0, X));
    COSTS_E("place, load X's word, own, load clock:4, ongoing, 10 in all", W(0, X), W(0, X));
}

/* In registers: place, where the log ends, the own clock. */
static void a_further_granule_costs_its_own_word(void **state)
{
    const struct event reads = {.kind = EV_READ, .addr = X, .size = 8};
    const struct event writes = {.kind = EV_WRITE, .addr = X, .size = 8};

    (void)state;
    COSTS_O("place, load X's word:4, none, load log's end, log, store log+32:16, "
            "store log's end, load 0x1004's word:4, none, log, store log+48:16, 24 in all",
            reads, reads);
    COSTS_O("place, load X's word:4, own, load 0x1004's word:4, own, 10 in all", writes, writes);
    COSTS_E("place, load X's word, own, load clock:4, ongoing, load 0x1004's word, own, "
            "ongoing, 17 in all",
            writes, writes);
}

static void the_end_of_a_region_goes_through_both_logs(void **state)
{
    (void)state;
    COSTS_O("load log's end:16, region-end, 5 in all", R(0, X), ENDS(0), ENDS(0)); /* empty */
    COSTS_O("load log's end:16, region-end, store log's end:16, load log:16, load X's word:4, "
            "validate, load write set:16, release, load Y's word:4, store Y's word:4, 27 in all",
            R(0, X), W(0, Y), ENDS(0));
    COSTS_O("load log's end:16, region-end, store log's end:16, load log:16, load X's word:4, "
            "validate, changed, 22 in all",
            R(0, X), W(1, X), ENDS(0));
    COSTS_E("load log's end, region-end, store log's end, load clock:4, clock, store clock:4, "
            "load log:16, load X's word, validate, 19 in all",
            R(0, X), W(0, Y), ENDS(0));
}

/* It gives up what it holds and no more: another has written to Y since. */
static void the_end_of_a_region_leaves_what_another_holds(void **state)
{
    (void)state;
    COSTS_O("load log's end:16, region-end, store log's end:16, load write set:16, release, "
            "load Y's word:4, 16 in all",
            W(0, Y), W(1, Y), ENDS(0));
}

static void a_validation_costs_its_entries_only(void **state)
{
    (void)state;
    COSTS_O("load log:16, load X's word:4, validate, load log+16:16, load Y's word:4, "
            "validate, 20 in all",
            R(0, X), R(0, Y), BY(IO, 0));
    COSTS_O("", R(0, X), ENDS(0), BY(IO, 0));
}

static void a_collection_traces_the_logs(void **state)
{
    (void)state;
    COSTS_O("load log:16, store log:16, load write set:16, store write set:16, 2 trace, "
            "16 in all",
            R(0, X), W(0, Y), BY(GC_BEGIN, 0));
}

static void a_clear_costs_each_line_of_metadata(void **state)
{
    (void)state;
    COSTS_O("line, load X, store X, 5 in all", R(0, X), R(0, X + 4), EV_REGION(CLEAR, 0, X, 64));
    COSTS_O("line, load X's word:4, store Y's word:4, 5 in all", R(0, X), EV_MOVE(0, Y, X, 64));
    COSTS_O("line, load X's word:4, store Y's word:4, 5 in all", R(0, X), R(0, Y),
            EV_MOVE(0, Y, X, 64));
    /* one line of the source, two of the destination */
    COSTS_E("line, load X:16, store 0x201c's word, further store 0x2020's word, 5 in all", R(0, X),
            R(0, X + 4), EV_MOVE(0, Y + 28, X, 64));
}

static void metadata_is_a_word_a_variable_and_the_logs(void **state)
{
    const struct event page = {.kind = EV_READ, .addr = X, .size = 4 * 256}; /* of entries */
    const struct event more = {.kind = EV_READ, .addr = X, .size = 4 * 300};

    (void)state;
    /* of a log the pages of 4096 bytes that were used, up to its limit */
    O_STAT(WITH(NULL), "metadata.live", 3 * 4 + 4096, R(0, X), R(0, Y), R(0, Z));
    O_STAT(WITH(NULL), "metadata.live", 256 * 4 + 4096, page, ENDS(0), page);
    O_STAT(WITH(NULL), "metadata.live", 300 * 4 + 8192, more);
    O_STAT(WITH("read-log=270"), "metadata.live", 300 * 4 + 270 * 16, more);
    O_STAT(WITH("read-log=2"), "metadata.live", 3 * 4 + 2 * 16, R(0, X), R(0, Y), R(0, Z));
    O_STAT(WITH(NULL), "metadata.live", 4 + 2 * 4096, W(0, X), R(0, Y), R(0, Z),
           EV_REGION(CLEAR, 0, X, 4), EV_REGION(CLEAR, 0, Y, 4), ENDS(0));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_1a_a_write_is_found_at_once),
        cmocka_unit_test(figure_1b_a_read_that_is_written_over_is_found_when_its_region_ends),
        cmocka_unit_test(figure_2a_ones_own_write_is_no_conflict),
        cmocka_unit_test(figure_2b_two_versions_are_one_too_many),
        cmocka_unit_test(regions_that_are_over_and_own_accesses_do_not),
        cmocka_unit_test(the_word_changes_with_a_conflict_or_without),
        cmocka_unit_test(the_end_is_an_end_of_all_regions),
        cmocka_unit_test(a_join_ends_the_region_of_a_thread_without_an_end),
        cmocka_unit_test(each_racing_read_is_told_with_its_site),
        cmocka_unit_test(an_access_counts_once),
        cmocka_unit_test(each_atomic_access_conflicts_once_with_a_plain_one),
        cmocka_unit_test(before_input_and_output),
        cmocka_unit_test(the_log_is_kept_and_a_conflict_reported_once),
        cmocka_unit_test(before_the_first_report_of_a_region),
        cmocka_unit_test(after_each_period),
        cmocka_unit_test(a_full_log_is_validated_and_forgotten_and_the_region_goes_on),
        cmocka_unit_test(a_full_write_set_splits_the_region),
        cmocka_unit_test(a_version_that_comes_round_hides_a_conflict),
        cmocka_unit_test(what_has_no_bits_is_refused),
        cmocka_unit_test(valor_is_valor_o),
        cmocka_unit_test(ownership_ends_with_the_region),
        cmocka_unit_test(entries_of_logs_follow_what_moves),
        cmocka_unit_test(overlapping_copies_are_as_memmove),
        cmocka_unit_test(a_clear_takes_no_conflict_along),
        cmocka_unit_test(write_sets_follow_as_well),
        cmocka_unit_test(stale_entries_are_forgotten),
        cmocka_unit_test(a_race_that_is_found_late_ends_the_run_or_disables),
        cmocka_unit_test(a_read_changes_no_metadata),
        cmocka_unit_test(a_regions_first_write_swaps),
        cmocka_unit_test(a_further_granule_costs_its_own_word),
        cmocka_unit_test(the_end_of_a_region_goes_through_both_logs),
        cmocka_unit_test(the_end_of_a_region_leaves_what_another_holds),
        cmocka_unit_test(a_validation_costs_its_entries_only),
        cmocka_unit_test(a_collection_traces_the_logs),
        cmocka_unit_test(a_clear_costs_each_line_of_metadata),
        cmocka_unit_test(metadata_is_a_word_a_variable_and_the_logs),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
