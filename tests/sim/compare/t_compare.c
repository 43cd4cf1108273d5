/* t_compare.c - compare by hand, between detectors of happens-before: what is counted false and
 * missed, whose it is, and why. Other policies and the truth are in t_compare_truth.c, random
 * traces in t_compare_random.c. */
#include "tests/sim/compare/hand.h"

/* ---- views ---------------------------------------------------------------------------------- */

static void false_accesses_count_each_time_their_sites_once(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("no-clear", &t);

    (void)state;
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_CLEAR, X, 4, 0);
    rd(l, 1, X, 2); /* 2: false, against event 0 */
    rd(l, 1, X, 2); /* 3: again, at the same site */
    rd(l, 2, X, 3); /* 4: and at another */
    rd(l, 2, X, 0); /* 5: and at one that is not known */
    finish(l);
    TABLE(l, 4, 2, 0, 0);
    assert_int_equal(stat(l, "compare.other.false.places"), 1);
    assert_int_equal(stat(l, "compare.other.false.pairs"), 2); /* (1,2), (1,3) */
    assert_int_equal(stat(l, "compare.other.false.why.accesses.forgotten"), 4);
    assert_int_equal(t.n, 4);
    assert_told(&t, 0, "false", "access", 2, 0, "forgotten");
    assert_told(&t, 3, "false", "access", 5, 0, "forgotten");
    assert_string_equal(t.reason[0],
                        "lard has no record of event 0 at this location: event 1 cleared it");
    assert_string_equal(t.at[0].reported_by, "other");
    assert_int_equal(t.at[0].is.site, 2);
    assert_int_equal(t.at[0].earlier.site, 1);
    lardsim_free(l);
}

static void missed_accesses_are_ordered_by_what_the_truth_does_not_heed(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("all-sync", &t);

    (void)state;
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_VOLATILE_WRITE, L, 0, LARDSIM_SYSTEM);
    sync_by(l, 1, LARDSIM_VOLATILE_READ, L, 0, LARDSIM_SYSTEM);
    wr(l, 1, X, 2); /* 3: missed */
    wr(l, 2, X, 3); /* 4: both find it */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_int_equal(stat(l, "compare.other.missed.places"), 0); /* it has its race, at 4 */
    assert_int_equal(stat(l, "compare.other.missed.pairs"), 1);
    assert_int_equal(t.n, 1);
    assert_told(&t, 0, "missed", "access", 3, 0, "ordered");
    assert_string_equal(t.at[0].reported_by, "lard");
    assert_string_equal(t.reason[0],
                        "other orders event 0 before this one (views differ in all-sync)");
    lardsim_free(l);
}

static void an_edge_counts_for_what_came_before_it_alone(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("no-clear,all-sync", &t);

    (void)state;
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_VOLATILE_WRITE, L, 0, LARDSIM_SYSTEM);
    wr(l, 0, X, 1); /* 2: after the edge */
    sync_by(l, 0, LARDSIM_CLEAR, X, 4, 0);
    sync_by(l, 1, LARDSIM_VOLATILE_READ, L, 0, LARDSIM_SYSTEM);
    wr(l, 1, X, 2); /* 5: false against 2, which nothing orders */
    finish(l);
    assert_int_equal(t.n, 1);
    assert_told(&t, 0, "false", "access", 5, 2, "forgotten");
    lardsim_free(l);
}

static void a_copy_that_is_ignored_is_named(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("no-copy", &t);

    (void)state;
    wr(l, 0, X, 1);
    copy_by(l, 2, Y, X, 4);
    sync_by(l, 2, LARDSIM_CLEAR, X, 4, 0);
    wr(l, 1, Y, 2); /* 3: missed */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 3, 0, "forgotten");
    assert_string_equal(t.reason[0], "other has no record of event 0 at this location: the copy at "
                                     "event 1, which brought it here "
                                     "for lard, did not for it");
    lardsim_free(l);
}

static void program_and_system_are_told_apart(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("all-memory", &t);

    (void)state;
    wr(l, 0, X, 1);
    access_by(l, 1, LARDSIM_READ, X, LARDSIM_SYSTEM, 2); /* 1: false, the system's */
    sync_by(l, 0, LARDSIM_VOLATILE_WRITE, L, 0, 0);
    sync_by(l, 2, LARDSIM_VOLATILE_READ, L, 0, 0);
    wr(l, 2, X, 3);                                     /* 4: false, against 1 */
    access_by(l, 1, LARDSIM_READ, X, LARDSIM_FINAL, 4); /* 5: false, the program's */
    access_by(l, 1, LARDSIM_READ, X, LARDSIM_STACK, 5); /* nobody checks it */
    finish(l);
    TABLE(l, 3, 3, 0, 0);
    assert_int_equal(stat(l, "compare.other.false.system"), 1);
    assert_int_equal(stat(l, "compare.other.false.program"), 2);
    assert_int_equal(stat(l, "compare.other.false.why.accesses.unchecked"), 2);
    assert_int_equal(stat(l, "compare.other.false.why.accesses.forgotten"), 1);
    assert_string_equal(t.reason[0], "lard does not check this access (the runtime system's)");
    assert_true(t.at[0].system && !t.at[1].system);
    assert_string_equal(t.reason[1],
                        "lard has no record of event 1 at this location: it did not check it");
    assert_string_equal(t.reason[2], "lard does not check this access (to a final field)");
    lardsim_free(l);
}

static void threads_of_one_kernel_thread_are_ordered(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("no-thread", &t);

    (void)state;
    sync_by(l, 1, LARDSIM_THREAD, 0, 4, 0);
    wr(l, 1, X, 1);
    sync_by(l, 1, LARDSIM_THREAD, 0, 5, 0); /* and goes on to another */
    sync_by(l, 2, LARDSIM_THREAD, 0, 4, 0);
    wr(l, 2, X, 2); /* 4: missed */
    wr(l, 1, X, 3); /* 5: both find it */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 4, 1, "ordered");
    lardsim_free(l);
}

/* An atomic access publishes the time at which it was made, and only then is it later. */
static void what_an_access_itself_publishes_orders_it(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("all-sync", &t);

    (void)state;
    access_by(l, 0, LARDSIM_WRITE, X, LARDSIM_ORDER(ORDER_RELEASE), 1);
    access_by(l, 1, LARDSIM_READ, X, LARDSIM_SYSTEM | LARDSIM_ORDER(ORDER_ACQUIRE), 2);
    wr(l, 1, X, 3); /* 2: missed */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 2, 0, "ordered");
    lardsim_free(l);
}

/* The join of a thread that has not ended is an outgoing edge of it, that is, of its kernel thread:
 * what that does next, the joiner knows nothing of. */
static void a_join_without_an_end_is_an_edge(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("no-thread,no-copy", &t);

    (void)state;
    sync_by(l, 0, LARDSIM_FORK, 0, 1, 0);
    sync_by(l, 1, LARDSIM_THREAD, 0, 4, 0);
    sync_by(l, 2, LARDSIM_THREAD, 0, 4, 0);
    sync_by(l, 0, LARDSIM_JOIN, 0, 1, 0);
    wr(l, 2, X, 1);
    copy_by(l, 2, Y, X, 4);
    wr(l, 0, Y, 2); /* 6: missed, against 4 */
    finish(l);
    assert_int_equal(t.n, 1);
    assert_told(&t, 0, "missed", "access", 6, 4, "forgotten");
    lardsim_free(l);
}

/* With last, event 1 takes the place of 0, which 3 races with alone. */
static void what_a_later_write_displaced_is_forgotten(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = configured(
        (const char *const[]){"policies=all=vc,other=vc", "policy.all.history=all", NULL}, &t);
    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    wr(l, 1, X, 2); /* 1: both find it */
    sync_by(l, 1, LARDSIM_VOLATILE_WRITE, L, 0, 0);
    sync_by(l, 2, LARDSIM_VOLATILE_READ, L, 0, 0);
    rd(l, 2, X, 3); /* 4: missed, against 0 */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 4, 0, "forgotten");
    assert_string_equal(t.reason[0],
                        "other has no record of event 0 at this location: event 1 took its place");
    lardsim_free(l);
}

static void a_commit_differs_once(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = started("all-memory", &t);

    (void)state;
    access_by(l, 0, LARDSIM_WRITE, X, LARDSIM_SYSTEM, 1);
    access_by(l, 0, LARDSIM_WRITE, Y, LARDSIM_SYSTEM, 2);
    sync_by(l, 1, LARDSIM_TXN_BEGIN, 0, 0, 0);
    access_by(l, 1, LARDSIM_READ, Y, LARDSIM_IN_TXN, 3);
    access_by(l, 1, LARDSIM_READ, X, LARDSIM_IN_TXN, 4);
    sync_by(l, 1, LARDSIM_TXN_COMMIT, 0, 0, 0); /* 5: false, against 1 and 0: 1 is named */
    finish(l);
    TABLE(l, 1, 1, 0, 0);
    assert_int_equal(stat(l, "compare.other.false.places"), 2);
    assert_told(&t, 0, "false", "access", 5, 1, "forgotten");
    assert_int_equal(t.at[0].is.site, 3);
    assert_int_equal(t.at[0].addr, Y);
    lardsim_free(l);
}

/* ---- the same, in other words --------------------------------------------------------------- */

static void repeats_that_are_skipped_are_missed_and_said_to_be(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = configured((const char *const[]){"policies=lard=vc,other=fasttrack",
                                                         "policy.other.repeats=skip", NULL},
                                   &t);
    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    rd(l, 1, X, 2); /* 1: both find it */
    rd(l, 1, X, 3); /* 2: a repeat */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 2, 0, "rule");
    assert_non_null(strstr(t.reason[0], "repeats = skip"));
    lardsim_free(l);
}

static void what_a_policy_does_not_look_for_is_said_to_be_missed_by_rule(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = configured((const char *const[]){"policies=lard=vc,other=clean", NULL}, &t);

    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    rd(l, 0, X, 1);
    wr(l, 1, X, 2); /* 1: a write after a read, which clean leaves out */
    rd(l, 0, X, 3); /* 2: a read after a write, which both find */
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 1, 0, "rule");
    assert_non_null(strstr(t.reason[0], "does not look for write-after-read"));
    lardsim_free(l);
}

/* Reads are found at the end of their region: what the truth had then is not known. */
static void why_is_not_known_of_what_is_noticed_late(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = configured(
        (const char *const[]){"policies=lard=vc,other=valor-o", "policy.lard.view=all-sync", NULL},
        &t);

    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    rd(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_VOLATILE_WRITE, L, 0, LARDSIM_SYSTEM);
    sync_by(l, 1, LARDSIM_VOLATILE_READ, L, 0, LARDSIM_SYSTEM);
    wr(l, 1, X, 2);
    sync_by(l, 0, LARDSIM_VOLATILE_WRITE, L + 16, 0, 0);
    finish(l);
    assert_told(&t, 0, "false", "place", 0, 3, "unknown"); /* the access, not the release */
    assert_int_equal(t.at[0].noticed, 4);
    assert_non_null(strstr(t.reason[0], "other noticed it after the access"));
    lardsim_free(l);
}

/* Nor of an atomic access that conflicts with some part of a region: of two that are atomic the
 * truth says nothing. */
static void why_is_not_known_where_both_may_be_atomic(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l =
        configured((const char *const[]){"policies=lard=vc,other=fastrcd", NULL}, &t);

    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    access_by(l, 0, LARDSIM_WRITE, X, LARDSIM_ORDER(1), 1);
    access_by(l, 1, LARDSIM_WRITE, X, LARDSIM_ORDER(1), 2);
    finish(l);
    assert_told(&t, 0, "false", "place", 2, 0, "unknown");
    assert_non_null(strstr(t.reason[0], "both accesses may be atomic"));
    lardsim_free(l);
}

static void counts_are_not_bounded_by_what_is_told(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l =
        configured((const char *const[]){"policies=lard=vc,other=vc", "policy.other.view=no-clear",
                                         "compare.max=2", NULL},
                   &t);
    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_CLEAR, X, 4, 0);
    for (int i = 0; i < 5; i++)
        rd(l, 1, X, 2);
    finish(l);
    TABLE(l, 5, 1, 0, 0);
    assert_int_equal(t.n, 2);
    lardsim_free(l);
}

static void why_may_be_left_out(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l =
        configured((const char *const[]){"policies=lard=vc,other=vc", "policy.other.view=all-sync",
                                         "compare.why=off", NULL},
                   &t);
    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_VOLATILE_WRITE, L, 0, LARDSIM_SYSTEM);
    sync_by(l, 1, LARDSIM_VOLATILE_READ, L, 0, LARDSIM_SYSTEM);
    wr(l, 1, X, 2);
    finish(l);
    TABLE(l, 0, 0, 1, 1);
    assert_told(&t, 0, "missed", "access", 3, 0, "unknown");
    lardsim_free(l);
}

static void a_region_counts_its_own(void **state)
{
    struct lardsim *l = started("no-clear", NULL);

    (void)state;
    wr(l, 0, X, 1);
    wr(l, 0, Y, 1);
    sync_by(l, 0, LARDSIM_CLEAR, X, 4, 0);
    sync_by(l, 0, LARDSIM_CLEAR, Y, 4, 0);
    rd(l, 1, X, 2); /* false, outside */
    sync_by(l, 0, LARDSIM_ROI_BEGIN, 0, 0, 0);
    rd(l, 1, X, 2); /* false, at the same place inside */
    sync_by(l, 0, LARDSIM_ROI_END, 0, 0, 0);
    rd(l, 1, Y, 3); /* false, outside */
    finish(l);
    TABLE(l, 3, 2, 0, 0);
    assert_int_equal(stat(l, "compare.other.false.places"), 2);
    assert_int_equal(stat(l, "roi.compare.other.false.accesses"), 1);
    assert_int_equal(stat(l, "roi.compare.other.false.sites"), 1);
    assert_int_equal(stat(l, "roi.compare.other.false.places"), 1);
    assert_int_equal(stat(l, "roi.compare.other.false.pairs"), 1);
    lardsim_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_accesses_count_each_time_their_sites_once),
        cmocka_unit_test(missed_accesses_are_ordered_by_what_the_truth_does_not_heed),
        cmocka_unit_test(an_edge_counts_for_what_came_before_it_alone),
        cmocka_unit_test(a_copy_that_is_ignored_is_named),
        cmocka_unit_test(program_and_system_are_told_apart),
        cmocka_unit_test(threads_of_one_kernel_thread_are_ordered),
        cmocka_unit_test(what_an_access_itself_publishes_orders_it),
        cmocka_unit_test(a_join_without_an_end_is_an_edge),
        cmocka_unit_test(what_a_later_write_displaced_is_forgotten),
        cmocka_unit_test(a_commit_differs_once),
        cmocka_unit_test(repeats_that_are_skipped_are_missed_and_said_to_be),
        cmocka_unit_test(what_a_policy_does_not_look_for_is_said_to_be_missed_by_rule),
        cmocka_unit_test(why_is_not_known_of_what_is_noticed_late),
        cmocka_unit_test(why_is_not_known_where_both_may_be_atomic),
        cmocka_unit_test(counts_are_not_bounded_by_what_is_told),
        cmocka_unit_test(why_may_be_left_out),
        cmocka_unit_test(a_region_counts_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
