/* t_oracle_memory.c - the oracle held to verdicts that were reasoned by hand: histories, locations,
 * granules, clears and copies, and which accesses are looked at. t_oracle.c has happens-before. */
#include "tests/oracle/hand.h"

static void untracked_accesses_count_only_in_all_memory_and_the_stack_never(void **state)
{
    const uint16_t flag[] = {EVF_SYSTEM, EVF_FINAL, EVF_VOLATILE, EVF_STACK};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(flag); i++) {
        RACES("", W(0, X), FLAGGED(WRITE, 1, X, flag[i]));
        RACES("", FLAGGED(WRITE, 0, X, flag[i]), W(1, X));
        RACES_IN(ORACLE_ALL_MEMORY, 4, false, flag[i] == EVF_STACK ? "" : "1", W(0, X),
                 FLAGGED(WRITE, 1, X, flag[i]));
    }
    RACES("1", W(0, X), FLAGGED(WRITE, 1, X, EVF_ARRAY));
}

static void a_clear_begins_a_new_life(void **state)
{
    const struct event s[] = {W(0, X), CLEAR(2, X, 8), W(1, X)};
    (void)state;
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0}, "");
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, ORACLE_NO_CLEAR}, "2");
    RACES("2", W(0, X), CLEAR(2, X + 4, 8), W(1, X));
    RACES("4", W(0, X), W(0, X + 8), CLEAR(2, X, 8), W(1, X), W(1, X + 8));
}

static void a_copy_takes_histories_along(void **state)
{
    const struct event s[] = {W(0, X), COPY(2, Y, X, 8), CLEAR(2, X, 8), W(1, Y), W(1, X)};
    (void)state;
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0}, "3");
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, ORACLE_NO_COPY}, "");
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, ORACLE_NO_CLEAR}, "3 4");
    RACES("2 3", W(0, X), COPY(2, Y, X, 8), W(1, Y), W(1, X)); /* the source keeps its own */
    RACES("3", W(0, X + 4), COPY(2, Y, X, 8), W(1, Y), W(1, Y + 4));
}

static void a_copied_history_overwrites_even_when_it_is_empty(void **state)
{
    (void)state;
    RACES("", W(0, Y), COPY(2, Y, X, 8), W(1, Y));
    RACES_IN(ORACLE_NO_CLEAR, 4, false, "", W(0, Y), COPY(2, Y, X, 8), W(1, Y));
    RACES_IN(ORACLE_NO_COPY, 4, false, "2", W(0, Y), COPY(2, Y, X, 8), W(1, Y));
}

static void an_overlapping_copy_behaves_as_memmove(void **state)
{
    (void)state;
    /* X: T0, X+4: T1, X+8: none; up by 4: X: T0, X+4: T0, X+8: T1 */
    RACES("4 5", W(0, X), W(1, X + 4), COPY(2, X + 4, X, 8), R(0, X + 4), R(0, X + 8), W(1, X + 4));
    /* down by 4: X: T1, X+4: none */
    RACES("3", W(0, X), W(1, X + 4), COPY(2, X, X + 4, 8), R(0, X), W(2, X + 4));
    RACES("2", W(0, X), COPY(2, X, X, 8), W(1, X));
}

static void synchronisation_objects_die_and_move_in_every_view(void **state)
{
    (void)state;
    for (unsigned view = 0; view < 16; view++) {
        RACES_IN(view, 4, false, "3", W(0, X), ON(VOLATILE_WRITE, 0, L), CLEAR(2, L, 8), W(1, X));
        RACES_IN(view, 4, false, "4", W(0, X), ON(VOLATILE_WRITE, 0, L), CLEAR(2, L, 8),
                 ON(VOLATILE_READ, 1, L), W(1, X));
        RACES_IN(view, 4, false, "", W(0, X), ON(VOLATILE_WRITE, 0, L), COPY(2, M, L, 8),
                 ON(VOLATILE_READ, 1, M), W(1, X));
        RACES_IN(view, 4, false, "", ON(ACQUIRE, 0, L), W(0, X), COPY(2, M, L, 8),
                 ON(RELEASE, 0, M), ON(ACQUIRE, 1, M), W(1, X));
        RACES_IN(view, 4, false, "4", W(0, X), ON(CLASS_INIT, 0, L), CLEAR(2, L, 8),
                 ON(CLASS_INIT, 1, L), W(1, X));
        RACES_IN(view, 4, false, "6", W(0, X), ROUND(ARRIVE, 0, L, 1), ROUND(DEPART, 0, L, 1),
                 CLEAR(2, L, 8), ROUND(ARRIVE, 1, L, 1), ROUND(DEPART, 1, L, 1), W(1, X));
    }
}

static void atomic_and_commit_clocks_move_with_their_locations(void **state)
{
    (void)state;
    RACES("", W(0, X), ATOM(WRITE, 0, L, RELEASE), COPY(2, M, L, 4), ATOM(READ, 1, M, ACQUIRE),
          W(1, X));
    RACES("4", W(0, X), ATOM(WRITE, 0, L, RELEASE), CLEAR(2, L, 4), ATOM(READ, 1, L, ACQUIRE),
          W(1, X));
    RACES("", W(0, Y), BY(TXN_BEGIN, 0), TX(READ, 0, X), BY(TXN_COMMIT, 0), COPY(2, X + 64, X, 4),
          BY(TXN_BEGIN, 1), TX(READ, 1, X + 64), BY(TXN_COMMIT, 1), W(1, Y));
    RACES("8", W(0, Y), BY(TXN_BEGIN, 0), TX(READ, 0, X), BY(TXN_COMMIT, 0), CLEAR(2, X, 4),
          BY(TXN_BEGIN, 1), TX(READ, 1, X), BY(TXN_COMMIT, 1), W(1, Y));
}

static void a_moved_monitor_stays_as_deep_as_it_was(void **state)
{
    (void)state;
    RACES("", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), COPY(2, M, L, 8), ON(RELEASE, 0, M), W(0, X),
          ON(RELEASE, 0, M), ON(ACQUIRE, 1, M), W(1, X));
}

static void last_keeps_a_write_and_the_reads_since(void **state)
{
    const struct event s[] = {W(0, X), W(1, X), W(1, X), W(0, Y),
                              R(1, Y), R(2, Y), W(2, Y), R(1, Y)};
    const struct event reads[] = {R(0, X), W(1, X), R(1, X), W(2, X), W(2, X), R(0, X)};
    (void)state;
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0}, "1 4 5 6 7");
    check(s, ARRAY_SIZE(s), &(struct oracle_options){true, 4, 0}, "1 2 4 5 6 7");
    check(reads, ARRAY_SIZE(reads), &(struct oracle_options){false, 4, 0}, "1 3 5");
    check(reads, ARRAY_SIZE(reads), &(struct oracle_options){true, 4, 0}, "1 3 4 5");
}

static void a_racy_access_is_recorded(void **state)
{
    (void)state;
    /* the last write is T1's racy one, which T2 has heard of */
    RACES("1", W(0, X), W(1, X), ON(VOLATILE_WRITE, 1, L), ON(VOLATILE_READ, 2, L), W(2, X));
    RACES_IN(0, 4, true, "1 4", W(0, X), W(1, X), ON(VOLATILE_WRITE, 1, L), ON(VOLATILE_READ, 2, L),
             W(2, X));
}

static void granules_decide_what_touches(void **state)
{
    const struct event s[] = {SIZED(WRITE, 0, X + 1, 1), SIZED(WRITE, 1, X + 2, 1),
                              SIZED(WRITE, 2, X + 4, 4), SIZED(WRITE, 3, X, 8)};
    const unsigned granule[] = {1, 2, 4, 8, 0};
    const char *const want[] = {"3", "3", "1 3", "1 2 3", ""};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(want); i++)
        check(s, ARRAY_SIZE(s), &(struct oracle_options){false, granule[i], 0}, want[i]);
    RACES_IN(0, 0, false, "1", SIZED(WRITE, 0, X, 8), SIZED(WRITE, 1, X, 1));
    RACES_IN(0, 1, false, "1", SIZED(WRITE, 0, UINT64_MAX, 1), SIZED(WRITE, 1, UINT64_MAX - 3, 4));
    RACES_IN(0, 8, false, "1", SIZED(WRITE, 0, UINT64_MAX, 1), SIZED(WRITE, 1, UINT64_MAX - 3, 4));
}

static void fields_move_by_their_start_address(void **state)
{
    (void)state;
    RACES_IN(0, 0, false, "2 3", SIZED(WRITE, 0, X + 2, 8), COPY(2, Y, X, 3), R(1, Y + 2),
             R(1, X + 2));
    RACES_IN(0, 0, false, "2", SIZED(WRITE, 0, X + 2, 8), CLEAR(2, X + 3, 5), R(1, X + 2));
}

static void assert_locations(const struct event *s, size_t n, struct oracle_options is, size_t want)
{
    const struct oracle_location *first;
    struct oracle *o = oracle_new(s, n, &is);

    assert_int_equal(oracle_locations(o, &first), want);
    oracle_free(o);
}

static void a_location_counts_once_a_life(void **state)
{
    const struct event s[] = {W(0, X), W(1, X), W(0, X),          W(1, X + 4), CLEAR(2, X, 4),
                              W(0, X), W(1, X), COPY(2, Y, X, 4), W(0, Y),     W(1, Y)};
    const struct event wide[] = {SIZED(WRITE, 0, X, 8), SIZED(WRITE, 1, X, 8)};
    (void)state;
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0}, "1 2 6 8 9");
    assert_locations(s, ARRAY_SIZE(s), (struct oracle_options){false, 4, 0}, 2);
    assert_locations(s, ARRAY_SIZE(s), (struct oracle_options){false, 4, ORACLE_NO_CLEAR}, 1);
    assert_locations(s, ARRAY_SIZE(s), (struct oracle_options){false, 4, ORACLE_NO_COPY}, 3);
    assert_locations(wide, ARRAY_SIZE(wide), (struct oracle_options){false, 4, 0}, 2);
    assert_locations(wide, ARRAY_SIZE(wide), (struct oracle_options){false, 0, 0}, 1);
}

static void pairs_name_every_partner(void **state)
{
    const struct event s[] = {R(0, X),         R(1, X),           BY(TXN_BEGIN, 2),
                              TX(WRITE, 2, X), BY(TXN_COMMIT, 2), R(1, X)};
    const struct oracle_pair *p;
    struct oracle *o = oracle_new(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0});
    (void)state;
    assert_int_equal(oracle_pairs(o, 3, &p), 0);
    assert_int_equal(oracle_pairs(o, 4, &p), 2);
    assert_int_equal(p[0].earlier, 0);
    assert_int_equal(p[1].earlier, 1);
    assert_int_equal(p[1].access, 3);
    assert_int_equal(oracle_pairs(o, 5, &p), 1);
    assert_int_equal(p[0].earlier, 4);
    assert_int_equal(p[0].earlier_access, 3);
    assert_int_equal(p[0].location, X);
    oracle_free(o);
}

static void what_cannot_be_judged_is_refused(void **state)
{
    const struct event raw[] = {WRITEVC(0, 0, 2)};
    const struct event clear[] = {CLEAR(0, X, 4)};
    const struct event copy[] = {COPY(0, X, Y + 4, 8)};
    bool racy[2];
    (void)state;
    assert_int_equal(oracle_run(raw, 1, &(struct oracle_options){false, 4, 0}, racy), 0);
    assert_int_equal(oracle_run(raw, 1, &(struct oracle_options){false, 4, ORACLE_NO_THREAD}, racy),
                     -1);
    assert_int_equal(oracle_run(clear, 1, &(struct oracle_options){false, 4, 0}, racy), 0);
    assert_int_equal(oracle_run(clear, 1, &(struct oracle_options){false, 8, 0}, racy), -1);
    assert_int_equal(oracle_run(copy, 2, &(struct oracle_options){false, 8, 0}, racy), -1);
    assert_int_equal(oracle_run(copy, 2, &(struct oracle_options){false, 0, 0}, racy), 0);
    assert_int_equal(oracle_run(raw, 0, &(struct oracle_options){false, 0, 0}, racy), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untracked_accesses_count_only_in_all_memory_and_the_stack_never),
        cmocka_unit_test(a_clear_begins_a_new_life),
        cmocka_unit_test(a_copy_takes_histories_along),
        cmocka_unit_test(a_copied_history_overwrites_even_when_it_is_empty),
        cmocka_unit_test(an_overlapping_copy_behaves_as_memmove),
        cmocka_unit_test(synchronisation_objects_die_and_move_in_every_view),
        cmocka_unit_test(atomic_and_commit_clocks_move_with_their_locations),
        cmocka_unit_test(a_moved_monitor_stays_as_deep_as_it_was),
        cmocka_unit_test(last_keeps_a_write_and_the_reads_since),
        cmocka_unit_test(a_racy_access_is_recorded),
        cmocka_unit_test(granules_decide_what_touches),
        cmocka_unit_test(fields_move_by_their_start_address),
        cmocka_unit_test(a_location_counts_once_a_life),
        cmocka_unit_test(pairs_name_every_partner),
        cmocka_unit_test(what_cannot_be_judged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
