/* t_compare_truth.c - compare by hand: policies that promise something else than happens-before,
 * what may be the truth, runs that stop. */
#include "tests/sim/compare/hand.h"

/* ---- a policy that promises another property ------------------------------------------------ */

static struct lardsim *beside_none(struct told *t)
{
    struct lardsim *l = configured((const char *const[]){"policies=lard=vc,other=none", NULL}, t);

    assert_int_equal(lardsim_start(l), 0);
    return l;
}

static struct lardsim *beside_eraser(struct told *t)
{
    struct lardsim *l = configured((const char *const[]){"policies=vc,other=eraser", NULL}, t);

    assert_int_equal(lardsim_start(l), 0);
    return l;
}

static void what_eraser_finds_wrongly_is_ordered(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = beside_eraser(&t);

    (void)state;
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_FORK, 0, 1, 0);
    wr(l, 1, X, 2); /* 2: false location, false pair (1,2) */
    finish(l);
    assert_int_equal(stat(l, "compare.other.false.places"), 1);
    assert_int_equal(stat(l, "compare.other.false.pairs"), 1);
    assert_int_equal(t.n, 2);
    assert_told(&t, 0, "false", "place", 2, 0, "ordered");
    assert_told(&t, 1, "false", "pair", 2, 0, "ordered");
    assert_non_null(strstr(t.reason[0], "vc orders event 0 before this one; other: no lock"));
    lardsim_free(l);
}

static void what_eraser_names_may_be_no_conflict(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = beside_eraser(&t);

    (void)state;
    sync_by(l, 0, LARDSIM_ACQUIRE, L, 0, 0);
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_FORK, 0, 1, 0);
    sync_by(l, 0, LARDSIM_FORK, 0, 2, 0);
    sync_by(l, 0, LARDSIM_RELEASE, L, 0, 0);
    sync_by(l, 1, LARDSIM_ACQUIRE, L, 0, 0);
    wr(l, 1, X, 2);
    sync_by(l, 1, LARDSIM_RELEASE, L, 0, 0);
    sync_by(l, 2, LARDSIM_ACQUIRE, L, 0, 0);
    rd(l, 2, X, 3);
    sync_by(l, 2, LARDSIM_RELEASE, L, 0, 0);
    sync_by(l, 0, LARDSIM_JOIN, 0, 1, 0);
    rd(l, 0, X, 4); /* 12: without the lock, after the read 9 */
    finish(l);
    assert_int_equal(t.n, 2);
    assert_told(&t, 0, "false", "place", 12, 9, "ordered");
    assert_told(&t, 1, "false", "pair", 12, 9, "no-conflict");
    assert_non_null(strstr(t.reason[0], "finds all conflicting accesses at this location ordered"));
    lardsim_free(l);
}

static void what_eraser_misses_its_states_explain(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = beside_eraser(&t);

    (void)state;
    wr(l, 0, X, 1);
    rd(l, 1, X, 2); /* 1: Shared */
    wr(l, 0, Y, 3);
    sync_by(l, 1, LARDSIM_ACQUIRE, L, 0, 0);
    wr(l, 1, Y, 4); /* 4: Shared-Modified, under a lock */
    sync_by(l, 1, LARDSIM_RELEASE, L, 0, 0);
    finish(l);
    assert_int_equal(stat(l, "compare.other.missed.places"), 2);
    assert_int_equal(t.n, 4);
    assert_told(&t, 0, "missed", "place", 1, 0, "rule");
    assert_string_equal(t.reason[0], "other: since a second thread came, this location has only "
                                     "been read (Shared)");
    assert_told(&t, 2, "missed", "place", 4, 2, "rule");
    assert_non_null(strstr(t.reason[2], "some lock has been held at each access"));
    lardsim_free(l);
}

/* What was silent at first and found it later is no difference. */
static void who_comes_late_differs_in_nothing(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = beside_eraser(&t);

    (void)state;
    wr(l, 0, X, 0);
    rd(l, 1, X, 0); /* vc finds it */
    wr(l, 2, X, 0); /* and now eraser */
    wr(l, 0, Y, 0);
    sync_by(l, 0, LARDSIM_FORK, 0, 3, 0);
    wr(l, 3, Y, 0); /* eraser finds it */
    wr(l, 2, Y, 0); /* and now vc */
    finish(l);
    assert_int_equal(t.n, 0);
    assert_int_equal(stat(l, "compare.other.missed.places"), 0);
    assert_int_equal(stat(l, "compare.other.false.places"), 0);
    lardsim_free(l);
}

static void a_location_that_moves_is_the_same_and_a_cleared_one_is_not(void **state)
{
    struct told t = {.n = 0};
    struct lardsim *l = beside_none(&t);
    struct lardsim_instance in;

    (void)state;
    wr(l, 0, X, 1);
    wr(l, 1, X, 2); /* 1: missed, pair (1,2) */
    copy_by(l, 0, Y, X, 4);
    sync_by(l, 0, LARDSIM_CLEAR, X, 4, 0);
    wr(l, 2, Y, 3); /* 4: the same object; pair (2,3) */
    wr(l, 0, X, 2);
    wr(l, 1, X, 1); /* 6: another object, and the first pair again */
    finish(l);
    assert_int_equal(stat(l, "compare.other.missed.places"), 2);
    assert_int_equal(stat(l, "compare.other.missed.pairs"), 2);
    assert_int_equal(stat(l, "compare.other.missed.why.places.rule"), 2);
    assert_int_equal(stat(l, "compare.other.missed.why.pairs.rule"), 2);
    assert_int_equal(t.n, 4);
    assert_told(&t, 0, "missed", "place", 1, 0, "rule");
    assert_told(&t, 1, "missed", "pair", 1, 0, "rule");
    assert_told(&t, 2, "missed", "pair", 4, 1, "rule");
    assert_told(&t, 3, "missed", "place", 6, 5, "rule");
    assert_true(lardsim_compare_instance(l, 0, &in) && in.truth && in.by_access);
    assert_true(lardsim_compare_instance(l, 1, &in) && !in.truth && !in.by_access);
    assert_string_equal(in.property, "no checking: the machine alone (precise)");
    assert_false(in.same);
    assert_false(lardsim_compare_instance(l, 2, &in));
    uint64_t unused;
    assert_int_equal(lardsim_stat(l, "compare.other.missed.accesses", &unused), -1);
    lardsim_free(l);
}

/* ---- the truth ------------------------------------------------------------------------------ */

static void refused(const char *const *set, const char *says)
{
    struct lardsim *l = configured(set, NULL);

    assert_int_equal(lardsim_start(l), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_CONFIG);
    if (!strstr(lardsim_error(l), says))
        fail_msg("'%s' does not say '%s'", lardsim_error(l), says);
    lardsim_free(l);
}

static void a_truth_must_be_exact(void **state)
{
    (void)state;
    refused((const char *const[]){"policies=none,vc", NULL}, "'none'");
    refused((const char *const[]){"policies=vc,none", "compare.truth=none", NULL}, "no exact");
    refused(
        (const char *const[]){"policies=vc,b=vc", "policy.vc.after-race=disable-variable", NULL},
        "no exact");
    refused((const char *const[]){"policies=fasttrack,vc", "policy.fasttrack.repeats=skip", NULL},
            "no exact");
    refused((const char *const[]){"policies=vc,b=vc", "compare.truth=c", NULL}, "it has vc, b");
    refused((const char *const[]){"policies=vc", NULL}, "two or more");
    refused((const char *const[]){"policies=vc,b=vc", "compare.tru=b", NULL}, "compare.tru");
}

static void more_policies_than_a_mask_has_bits_are_refused(void **state)
{
    char *policies = xstrdup("policies=vc");

    (void)state;
    for (unsigned i = 1; i <= 64; i++) {
        char *one = xasprintf(",p%u=none", i);
        xappend(&policies, "", one);
        free(one);
    }
    refused((const char *const[]){policies, NULL}, "compare takes 64 at most");
    free(policies);
}

static void any_exact_one_may_be_the_truth(void **state)
{
    struct lardsim *l = configured(
        (const char *const[]){"policies=none,vc,fasttrack", "compare.truth=fasttrack", NULL}, NULL);
    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    wr(l, 1, X, 2);
    finish(l);
    assert_int_equal(stat(l, "compare.vc.missed.accesses"), 0);
    assert_int_equal(stat(l, "compare.none.missed.places"), 1);
    lardsim_free(l);
}

static void a_run_that_stops_has_counts_that_add_up(void **state)
{
    struct lardsim *l =
        configured((const char *const[]){"policies=lard=vc,other=vc", "policy.other.view=no-clear",
                                         "limits.events=3", NULL},
                   NULL);
    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    sync_by(l, 0, LARDSIM_CLEAR, X, 4, 0);
    rd(l, 1, X, 2);
    assert_int_equal(lardsim_access(l, 1, LARDSIM_READ, X, 4, 0, 2), -1);
    assert_int_equal(lardsim_finish(l), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_LIMIT);
    TABLE(l, 1, 1, 0, 0);
    lardsim_free(l);

    l = configured(
        (const char *const[]){"policies=lard=vc,other=none", "limits.memory=100KiB", NULL}, NULL);
    assert_int_equal(lardsim_start(l), 0);
    uint64_t pushed = 0;
    for (; !lardsim_error(l) && pushed < 200000; pushed++)
        if (pushed % 2)
            lardsim_sync(l, 0, LARDSIM_VOLATILE_WRITE, L, 0, 0, 0);
        else
            lardsim_access(l, 0, LARDSIM_WRITE, X, 4, 0, 1);
    assert_int_equal(lardsim_exit_code(l), LARD_LIMIT);
    assert_non_null(strstr(lardsim_error(l), "comparison"));
    assert_int_equal(lardsim_finish(l), -1);
    assert_int_equal(stat(l, "events.total"), pushed); /* with the one that was too many */
    lardsim_free(l);
}

/* A place that is copied again and again takes no more memory than one that is copied once. */
static void what_a_copy_looks_at_is_given_back(void **state)
{
    struct lardsim *l = configured(
        (const char *const[]){"policies=lard=vc,other=none", "limits.memory=1MiB", NULL}, NULL);

    (void)state;
    assert_int_equal(lardsim_start(l), 0);
    wr(l, 0, X, 1);
    for (int i = 0; i < 10000; i++) {
        copy_by(l, 0, Y, X, 4);
        copy_by(l, 0, X, Y, 4);
    }
    finish(l);
    lardsim_free(l);
}

/* What the truth does not check it names by its kind. */
static void accesses_outside_a_view_are_called_what_they_are(void **state)
{
    static const struct {
        unsigned flags;
        const char *is;
    } kinds[] = {{LARDSIM_SYSTEM, "the runtime system's"},
                 {LARDSIM_FINAL, "to a final field"},
                 {LARDSIM_VOLATILE, "of a volatile operation"},
                 {LARDSIM_SYSTEM | LARDSIM_FINAL, "the runtime system's"}};
    struct told t = {.n = 0};
    struct lardsim *l = started("all-memory", &t);

    (void)state;
    wr(l, 0, X, 1);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        access_by(l, 1, LARDSIM_READ, X, kinds[i].flags, 2);
    finish(l);
    assert_int_equal(t.n, ARRAY_SIZE(kinds));
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        char *says = xasprintf("lard does not check this access (%s)", kinds[i].is);
        assert_string_equal(t.reason[i], says);
        free(says);
    }
    lardsim_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_eraser_finds_wrongly_is_ordered),
        cmocka_unit_test(what_eraser_names_may_be_no_conflict),
        cmocka_unit_test(what_eraser_misses_its_states_explain),
        cmocka_unit_test(who_comes_late_differs_in_nothing),
        cmocka_unit_test(a_location_that_moves_is_the_same_and_a_cleared_one_is_not),
        cmocka_unit_test(a_truth_must_be_exact),
        cmocka_unit_test(more_policies_than_a_mask_has_bits_are_refused),
        cmocka_unit_test(any_exact_one_may_be_the_truth),
        cmocka_unit_test(a_run_that_stops_has_counts_that_add_up),
        cmocka_unit_test(what_a_copy_looks_at_is_given_back),
        cmocka_unit_test(accesses_outside_a_view_are_called_what_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
