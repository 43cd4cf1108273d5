/* t_oracle.c - the oracle itself, held to verdicts that were reasoned by hand: for every row of the
 * tables in docs/events.md a stream of a few events and the numbers of those that race. Here:
 * happens-before. t_oracle_memory.c has histories, heap events and views of memory. */
#include "tests/oracle/hand.h"

static void two_threads_that_never_met_race(void **state)
{
    (void)state;
    RACES("1", W(0, X), W(1, X));
    RACES("1", W(0, X), R(1, X));
    RACES("1", R(0, X), W(1, X));
    RACES("", R(0, X), R(1, X));
    RACES("", W(0, X), W(0, X), R(0, X));
    RACES("", W(0, X), W(1, Y));
    RACES("1 2 3", W(0, X), W(1, X), W(0, X), W(1, X));
}

static void a_lock_orders_its_critical_sections(void **state)
{
    (void)state;
    RACES("", ON(ACQUIRE, 0, L), W(0, X), ON(RELEASE, 0, L), ON(ACQUIRE, 1, L), W(1, X),
          ON(RELEASE, 1, L));
    RACES("4", ON(ACQUIRE, 0, L), W(0, X), ON(RELEASE, 0, L), ON(ACQUIRE, 1, M), W(1, X));
    RACES("4", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), W(0, X), ON(ACQUIRE, 1, L), W(1, X));
    RACES("", W(0, X), ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(ACQUIRE, 1, L), ON(RELEASE, 1, L),
          ON(ACQUIRE, 2, L), W(2, X));
}

static void shared_holders_are_not_ordered_among_themselves(void **state)
{
    (void)state;
    RACES("", ON(ACQUIRE, 0, L), W(0, X), ON(RELEASE, 0, L), ON(ACQUIRE_SHARED, 1, L), R(1, X));
    RACES("4", ON(ACQUIRE_SHARED, 0, L), W(0, X), ON(RELEASE_SHARED, 0, L),
          ON(ACQUIRE_SHARED, 1, L), W(1, X));
    RACES("", ON(ACQUIRE_SHARED, 0, L), W(0, X), ON(RELEASE_SHARED, 0, L), ON(ACQUIRE, 1, L),
          W(1, X));
    RACES("", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), R(0, X), R(1, X),
          ON(RELEASE_SHARED, 1, L), ON(RELEASE_SHARED, 0, L), ON(ACQUIRE, 2, L), W(2, X));
}

static void an_upgrade_takes_what_the_readers_released(void **state)
{
    (void)state;
    RACES("", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), W(1, X), ON(RELEASE_SHARED, 1, L),
          ON(ACQUIRE, 0, L), W(0, X));
}

static void a_nested_monitor_is_released_once(void **state)
{
    (void)state;
    RACES("", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), W(0, X), ON(RELEASE, 0, L),
          ON(ACQUIRE, 1, L), W(1, X));
    RACES("6", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(RELEASE, 0, L), W(0, X),
          ON(ACQUIRE, 1, L), W(1, X));
}

static void a_wait_releases_all_levels_and_restores_them(void **state)
{
    (void)state;
    RACES("", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), W(0, X), ON(WAIT_ENTER, 0, L),
          ON(ACQUIRE, 1, L), W(1, X), ON(NOTIFY, 1, L), ON(RELEASE, 1, L), ON(WAIT_EXIT, 0, L),
          W(0, X), ON(RELEASE, 0, L), W(0, X), ON(RELEASE, 0, L), ON(ACQUIRE, 1, L), W(1, X));
    /* the waker's readers are seen as well */
    RACES("", ON(ACQUIRE, 0, L), ON(WAIT_ENTER, 0, L), ON(ACQUIRE_SHARED, 1, L), W(1, X),
          ON(RELEASE_SHARED, 1, L), ON(WAIT_EXIT, 0, L), W(0, X));
    RACES("2", W(0, X), ON(NOTIFY, 0, L), W(1, X));
}

static void a_fork_orders_parent_before_child(void **state)
{
    (void)state;
    RACES("", W(0, X), NAMING(FORK, 0, 1), W(1, X));
    RACES("2", NAMING(FORK, 0, 1), W(0, X), W(1, X));
    RACES("", W(0, X), NAMING(FORK, 0, 1), BY(THREAD_START, 1), W(1, X));
    RACES("", W(0, X), NAMING(FORK, 0, 1), ON(ACQUIRE, 1, L), W(1, X));
    RACES("", W(0, X), NAMING(FORK, 0, 1), NAMING(FORK, 1, 2), W(2, X));
    RACES("4", NAMING(FORK, 0, 1), NAMING(FORK, 0, 2), W(1, X), R(0, Y), W(2, X));
    RACES("2", W(0, X), SYS(THREAD_START, 1, 0), W(1, X));
}

static void a_join_orders_child_before_parent(void **state)
{
    (void)state;
    RACES("", W(1, X), BY(THREAD_END, 1), NAMING(JOIN, 0, 1), W(0, X));
    RACES("", W(1, X), NAMING(JOIN, 0, 1), W(0, X));
    RACES("2", W(1, X), BY(THREAD_END, 1), W(0, X), NAMING(JOIN, 0, 1));
    RACES("", W(1, X), NAMING(JOIN, 0, 1), NAMING(JOIN, 2, 1), W(2, X));
    /* a child that did nothing still carries what was before its birth */
    RACES("", W(0, X), NAMING(FORK, 0, 1), NAMING(JOIN, 2, 1), W(2, X));
}

static void a_volatile_carries_from_all_its_writers(void **state)
{
    (void)state;
    RACES("", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_READ, 1, L), R(1, X));
    RACES("3", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_WRITE, 1, L), W(1, X));
    RACES("3", W(0, X), ON(VOLATILE_READ, 0, L), ON(VOLATILE_READ, 1, L), W(1, X));
    RACES("", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_WRITE, 1, L), ON(VOLATILE_READ, 2, L),
          W(2, X));
    RACES("3", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_READ, 1, M), R(1, X));
    RACES("", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_READ, 1, L), ON(VOLATILE_WRITE, 1, L),
          ON(VOLATILE_READ, 2, L), W(2, X));
}

static void a_barrier_orders_within_its_round(void **state)
{
    (void)state;
    RACES("", W(0, X), ROUND(ARRIVE, 0, L, 1), W(1, Y), ROUND(ARRIVE, 1, L, 1),
          ROUND(DEPART, 0, L, 1), ROUND(DEPART, 1, L, 1), W(0, Y), W(1, X));
    RACES("4", W(0, X), ROUND(ARRIVE, 0, L, 1), ROUND(ARRIVE, 1, L, 2), ROUND(DEPART, 1, L, 2),
          W(1, X));
    RACES("4", W(0, X), ROUND(ARRIVE, 0, L, 1), ROUND(ARRIVE, 1, M, 1), ROUND(DEPART, 1, M, 1),
          W(1, X));
}

static void class_initialisation_is_seen_by_users(void **state)
{
    (void)state;
    RACES("", W(0, X), ON(CLASS_INIT, 0, L), ON(CLASS_USE, 1, L), R(1, X));
    RACES("2", W(0, X), ON(CLASS_INIT, 0, L), R(1, X));
    RACES("4", ON(CLASS_INIT, 0, L), W(0, X), ON(CLASS_USE, 0, L), ON(CLASS_USE, 1, L), R(1, X));
}

static void kinds_of_objects_have_names_of_their_own(void **state)
{
    (void)state;
    RACES("3", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(ACQUIRE, 1, L), W(1, X));
    RACES("4", W(0, X), ON(CLASS_INIT, 0, L), ON(VOLATILE_WRITE, 2, L), ON(VOLATILE_READ, 1, L),
          W(1, X));
}

static void atomics_order_as_their_orders_say(void **state)
{
    (void)state;
    RACES("", W(0, X), ATOM(WRITE, 0, L, RELEASE), ATOM(READ, 1, L, ACQUIRE), R(1, X));
    RACES("", W(0, X), ATOM(WRITE, 0, L, SEQ_CST), ATOM(RMW, 1, L, ACQ_REL), R(1, X));
    RACES("3", W(0, X), ATOM(WRITE, 0, L, RELAXED), ATOM(READ, 1, L, ACQUIRE), R(1, X));
    RACES("3", W(0, X), ATOM(WRITE, 0, L, RELEASE), ATOM(READ, 1, L, RELAXED), R(1, X));
    RACES("3", W(0, X), ATOM(RMW, 0, L, ACQUIRE), ATOM(RMW, 1, L, ACQUIRE), R(1, X));
    RACES("3", W(0, X), ATOM(RMW, 0, L, RELEASE), ATOM(RMW, 1, L, RELEASE), R(1, X));
    /* a read never merges, a write never joins */
    RACES("3", W(0, X), ATOM(READ, 0, L, SEQ_CST), ATOM(READ, 1, L, SEQ_CST), R(1, X));
    RACES("3", W(0, X), ATOM(WRITE, 0, L, SEQ_CST), ATOM(WRITE, 1, L, SEQ_CST), R(1, X));
    /* whoever stores in between takes nothing away */
    RACES("", W(0, X), ATOM(WRITE, 0, L, RELEASE), ATOM(WRITE, 2, L, RELAXED),
          ATOM(READ, 1, L, ACQUIRE), R(1, X));
    RACES("3", W(0, X), ATOM(WRITE, 0, L, RELEASE), ATOM(READ, 1, L + 2, ACQUIRE), R(1, X));
}

/* C11 5.1.2.4: a release sequence is the release, later stores by its thread, and
 * read-modify-writes by any. */
static void stores_of_c11_end_release_sequences_of_others(void **state)
{
    (void)state;
    /* another's store ends it, whether it releases or not */
    RACES("4", W(0, X), C11(WRITE, 0, L, RELEASE), C11(WRITE, 1, L, RELEASE),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    RACES("4", W(0, X), C11(WRITE, 0, L, RELEASE), C11(WRITE, 1, L, RELAXED),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    RACES("4", W(0, X), C11(RMW, 0, L, RELEASE), C11(WRITE, 1, L, RELAXED),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    /* its own thread's do not; what that has done since is not given by a relaxed one */
    RACES("", W(0, X), C11(WRITE, 0, L, RELEASE), C11(WRITE, 0, L, RELAXED),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    RACES("4", C11(WRITE, 0, L, RELEASE), W(0, X), C11(WRITE, 0, L, RELAXED),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    /* read-modify-writes go on, and head sequences of their own */
    RACES("", W(0, X), C11(WRITE, 0, L, RELEASE), C11(RMW, 1, L, RELAXED),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    RACES("", W(0, X), W(1, Y), C11(WRITE, 0, L, RELEASE), C11(RMW, 1, L, RELEASE),
          ATOM(READ, 2, L, ACQUIRE), R(2, X), R(2, Y));
    /* of several heads a store leaves its thread's */
    RACES("6", W(0, X), W(1, Y), C11(WRITE, 0, L, RELEASE), C11(RMW, 1, L, RELEASE),
          C11(WRITE, 1, L, RELAXED), ATOM(READ, 2, L, ACQUIRE), R(2, X), R(2, Y));
    RACES("7", W(0, X), W(1, Y), C11(WRITE, 0, L, RELEASE), C11(RMW, 1, L, RELEASE),
          C11(WRITE, 0, L, RELAXED), ATOM(READ, 2, L, ACQUIRE), R(2, X), R(2, Y));
    /* what has ended does not begin again */
    RACES("5", W(0, X), C11(WRITE, 0, L, RELEASE), C11(WRITE, 1, L, RELAXED),
          C11(WRITE, 0, L, RELAXED), ATOM(READ, 2, L, ACQUIRE), R(2, X));
    /* the thread of a store that has ended others has them no less */
    RACES("", W(0, X), C11(WRITE, 0, L, RELEASE), C11(RMW, 1, L, ACQUIRE),
          C11(WRITE, 1, L, RELEASE), ATOM(READ, 2, L, ACQUIRE), R(2, X));
    /* what is no C11 ends nothing, and counts until a store of C11 */
    RACES("", W(0, X), C11(WRITE, 0, L, RELEASE), ATOM(WRITE, 1, L, RELEASE),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    RACES("4", W(0, X), ATOM(WRITE, 0, L, RELEASE), C11(WRITE, 0, L, RELAXED),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
}

/* What is not heeded, or another location's, ends nothing. A copy takes sequences along. */
static void only_stores_that_are_heeded_end_release_sequences(void **state)
{
    const struct event s[] = {
        W(0, X), C11(WRITE, 0, L, RELEASE),
        FLAGGED(WRITE, 1, L, EVF_SYSTEM | EVF_C11 | ORDER_RELAXED << EVF_ORDER_SHIFT),
        ATOM(READ, 2, L, ACQUIRE), R(2, X)};

    (void)state;
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0}, "");
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, ORACLE_ALL_SYNC}, "4");
    RACES("", W(0, X), C11(WRITE, 0, L, RELEASE), C11(WRITE, 1, L + 4, RELEASE),
          ATOM(READ, 2, L, ACQUIRE), R(2, X));
    RACES("", W(0, X), C11(WRITE, 0, L, RELEASE), COPY(2, M, L, 8), CLEAR(2, L, 8),
          C11(WRITE, 0, M, RELAXED), ATOM(READ, 1, M, ACQUIRE), R(1, X));
    RACES("5", W(0, X), C11(WRITE, 0, L, RELEASE), COPY(2, M, L, 8), C11(WRITE, 1, M, RELAXED),
          ATOM(READ, 1, M, ACQUIRE), R(1, X));
    /* the actor is the kernel thread where threads are taken for that: T0 and T1 are one */
    RACES_IN(ORACLE_NO_THREAD, 4, false, "", NAMING(THREAD, 0, 9), NAMING(THREAD, 1, 9), W(0, X),
             C11(WRITE, 0, L, RELEASE), C11(WRITE, 1, L, RELAXED), ATOM(READ, 2, L, ACQUIRE),
             R(2, X));
}

static void atomics_race_only_with_plain_accesses(void **state)
{
    (void)state;
    RACES("", ATOM(WRITE, 0, X, RELAXED), ATOM(RMW, 1, X, RELAXED), ATOM(READ, 2, X, RELAXED));
    RACES("1", ATOM(WRITE, 0, X, RELEASE), R(1, X));
    RACES("1", W(0, X), ATOM(RMW, 1, X, ACQ_REL));
    /* the release publishes the access itself, and acquiring comes before the access */
    RACES("", ATOM(WRITE, 0, X, RELEASE), ATOM(READ, 1, X, ACQUIRE), W(1, X));
    RACES("", W(0, X), ATOM(WRITE, 0, X, RELEASE), ATOM(RMW, 1, X, ACQUIRE), W(1, X));
    /* a newer atomic read of a thread does not replace its plain one; a write replaces all */
    RACES("2", R(0, X), R(1, Y), ATOM(WRITE, 1, X, RELAXED));
    RACES("2", R(0, X), ATOM(READ, 0, X, RELAXED), ATOM(WRITE, 1, X, RELAXED));
    RACES("", W(0, X), ATOM(WRITE, 0, X, RELAXED), ATOM(READ, 1, X, RELAXED));
    RACES_IN(0, 4, true, "2", W(0, X), ATOM(WRITE, 0, X, RELAXED), ATOM(READ, 1, X, RELAXED));
}

static void a_transaction_happens_at_its_commit(void **state)
{
    (void)state;
    RACES("3", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), W(1, X), BY(TXN_COMMIT, 0));
    RACES("3", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), BY(TXN_COMMIT, 0), W(1, X));
    RACES("5", W(1, X), W(1, Y), BY(TXN_BEGIN, 0), TX(WRITE, 0, X), TX(READ, 0, Y),
          BY(TXN_COMMIT, 0));
    RACES("", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), W(1, X)); /* never took effect */
    RACES("", BY(TXN_BEGIN, 0), BY(TXN_BEGIN, 1), TX(WRITE, 0, X), TX(WRITE, 1, X),
          BY(TXN_COMMIT, 0), BY(TXN_COMMIT, 1));
    /* a plain access inside a transaction happens at once */
    RACES("2", BY(TXN_BEGIN, 0), W(0, X), W(1, X), BY(TXN_COMMIT, 0));
}

static void commits_order_through_their_variables(void **state)
{
    (void)state;
    RACES("", W(0, Y), BY(TXN_BEGIN, 0), TX(READ, 0, X), BY(TXN_COMMIT, 0), BY(TXN_BEGIN, 1),
          TX(READ, 1, X), BY(TXN_COMMIT, 1), W(1, Y));
    RACES("7", W(0, Y), BY(TXN_BEGIN, 0), TX(READ, 0, X), BY(TXN_COMMIT, 0), BY(TXN_BEGIN, 1),
          TX(READ, 1, X + 4), BY(TXN_COMMIT, 1), W(1, Y));
    RACES_IN(0, 8, false, "", W(0, Y), BY(TXN_BEGIN, 0), TX(READ, 0, X), BY(TXN_COMMIT, 0),
             BY(TXN_BEGIN, 1), TX(READ, 1, X + 4), BY(TXN_COMMIT, 1), W(1, Y));
    RACES("5", W(0, Y), BY(TXN_BEGIN, 0), BY(TXN_COMMIT, 0), BY(TXN_BEGIN, 1), BY(TXN_COMMIT, 1),
          W(1, Y)); /* nothing in them */
    /* a variable that isn't checked orders as well */
    RACES("", W(0, Y), BY(TXN_BEGIN, 0), FLAGGED(READ, 0, X, EVF_IN_TXN | EVF_STACK),
          BY(TXN_COMMIT, 0), BY(TXN_BEGIN, 1), FLAGGED(READ, 1, X, EVF_IN_TXN | EVF_STACK),
          BY(TXN_COMMIT, 1), W(1, Y));
}

static void a_system_commit_moves_no_clock(void **state)
{
    const struct event s[] = {BY(TXN_BEGIN, 0), TX(WRITE, 0, X), SYS(TXN_COMMIT, 0, 0),
                              BY(TXN_BEGIN, 1), TX(WRITE, 1, X), SYS(TXN_COMMIT, 1, 0)};
    (void)state;
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, 0}, "5");
    check(s, ARRAY_SIZE(s), &(struct oracle_options){false, 4, ORACLE_ALL_SYNC}, "");
}

static void system_synchronisation_counts_only_in_all_sync(void **state)
{
    const struct event lock[] = {SYS(ACQUIRE, 0, L), W(0, X), SYS(RELEASE, 0, L),
                                 SYS(ACQUIRE, 1, L), W(1, X), SYS(RELEASE, 1, L)};
    const struct event atomic[] = {
        W(0, X), FLAGGED(WRITE, 0, L, EVF_SYSTEM | ORDER_RELEASE << EVF_ORDER_SHIFT),
        FLAGGED(READ, 1, L, EVF_SYSTEM | ORDER_ACQUIRE << EVF_ORDER_SHIFT), W(1, X)};
    const struct event fork[] = {
        W(0, X), {.kind = EV_FORK, .aux = 1, .flags = EVF_SYSTEM}, W(1, X)};
    (void)state;
    check(lock, ARRAY_SIZE(lock), &(struct oracle_options){false, 4, 0}, "4");
    check(lock, ARRAY_SIZE(lock), &(struct oracle_options){false, 4, ORACLE_ALL_SYNC}, "");
    check(atomic, ARRAY_SIZE(atomic), &(struct oracle_options){false, 4, 0}, "3");
    check(atomic, ARRAY_SIZE(atomic), &(struct oracle_options){false, 4, ORACLE_ALL_SYNC}, "");
    check(fork, ARRAY_SIZE(fork), &(struct oracle_options){false, 4, 0}, "2");
    check(fork, ARRAY_SIZE(fork), &(struct oracle_options){false, 4, ORACLE_ALL_SYNC}, "");
}

static void raw_clock_writes_order_what_they_name(void **state)
{
    (void)state;
    /* T0 publishes at 1 and goes on at 2; T1 learns of 1 */
    RACES("", W(0, X), WRITEVC(0, 0, 2), WRITEVC(1, 0, 1), W(1, X));
    RACES("3", WRITEVC(0, 0, 2), W(0, X), WRITEVC(1, 0, 1), W(1, X));
    RACES("", WRITEVC(0, 0, 2), W(0, X), WRITEVC(0, 0, 3), WRITEVC(1, 0, 2), W(1, X));
    RACES("2", W(0, X), WRITEVC(0, 0, 2), W(1, X), WRITEVC(1, 0, 1));
    RACES("3", W(0, X), {.kind = EV_READVC, .tid = 0, .addr = 1, .aux = 0},
          {.kind = EV_READVC, .tid = 1, .addr = 0, .aux = 0}, W(1, X));
}

static void without_thread_identity_the_kernel_thread_acts(void **state)
{
    const struct event two[] = {NAMING(THREAD, 0, 3), W(0, X), NAMING(THREAD, 1, 3), W(1, X)};
    const struct event one[] = {NAMING(THREAD, 0, 3), W(0, X), NAMING(THREAD, 0, 4), W(0, X)};
    const struct event own[] = {W(0, X), NAMING(THREAD, 1, 0), W(1, X)};
    const struct oracle_options ignores = {false, 4, ORACLE_NO_THREAD};
    (void)state;
    check(two, ARRAY_SIZE(two), &(struct oracle_options){false, 4, 0}, "3");
    check(two, ARRAY_SIZE(two), &ignores, "");
    check(one, ARRAY_SIZE(one), &(struct oracle_options){false, 4, 0}, "");
    check(one, ARRAY_SIZE(one), &ignores, "3");
    check(own, ARRAY_SIZE(own), &ignores, "2");
    /* birth goes to the actor of the first event; a join takes from the actor last run on */
    RACES_IN(ORACLE_NO_THREAD, 4, false, "4", W(0, X), NAMING(FORK, 0, 1), NAMING(THREAD, 1, 5),
             NAMING(THREAD, 1, 6), W(1, X));
    RACES_IN(ORACLE_NO_THREAD, 4, false, "", NAMING(THREAD, 1, 5), NAMING(THREAD, 2, 5), W(2, X),
             NAMING(JOIN, 0, 1), W(0, X));
    RACES_IN(ORACLE_NO_THREAD, 4, false, "5", NAMING(THREAD, 1, 5), NAMING(THREAD, 2, 5),
             BY(THREAD_END, 1), W(2, X), NAMING(JOIN, 0, 1), W(0, X));
    /* what that actor does after the join is not ordered by it */
    RACES_IN(ORACLE_NO_THREAD, 4, false, "5", NAMING(THREAD, 1, 5), NAMING(THREAD, 2, 5), R(2, Y),
             NAMING(JOIN, 0, 1), W(2, X), W(0, X));
}

/* T0 writes, then a lock goes through `threads` threads, each of which writes what T0 wrote. */
static void order_reaches_through_many_threads_and_words(void **state)
{
    enum { THREADS = 300 };
    struct event *s = calloc(3 * THREADS, sizeof *s);
    bool *racy = calloc(3 * THREADS, sizeof *racy);
    (void)state;
    for (unsigned t = 0; t < THREADS; t++) {
        s[3 * t] = (struct event)ON(ACQUIRE, (sim_tid)t, L);
        s[3 * t + 1] = (struct event)W((sim_tid)t, X);
        s[3 * t + 2] = (struct event)ON(RELEASE, (sim_tid)t, L);
    }
    assert_legal(s, 3 * THREADS);
    assert_int_equal(oracle_run(s, 3 * THREADS, &(struct oracle_options){true, 4, 0}, racy), 0);
    for (unsigned e = 0; e < 3 * THREADS; e++)
        assert_false(racy[e]);
    s[2].kind = EV_NOTIFY; /* T0's release is not seen; nobody else's verdict changes */
    assert_int_equal(oracle_run(s, 3 * THREADS, &(struct oracle_options){true, 4, 0}, racy), 0);
    for (unsigned e = 0; e < 3 * THREADS; e++)
        assert_int_equal(racy[e], e % 3 == 1 && e > 1);
    free(s);
    free(racy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_that_never_met_race),
        cmocka_unit_test(a_lock_orders_its_critical_sections),
        cmocka_unit_test(shared_holders_are_not_ordered_among_themselves),
        cmocka_unit_test(an_upgrade_takes_what_the_readers_released),
        cmocka_unit_test(a_nested_monitor_is_released_once),
        cmocka_unit_test(a_wait_releases_all_levels_and_restores_them),
        cmocka_unit_test(a_fork_orders_parent_before_child),
        cmocka_unit_test(a_join_orders_child_before_parent),
        cmocka_unit_test(a_volatile_carries_from_all_its_writers),
        cmocka_unit_test(a_barrier_orders_within_its_round),
        cmocka_unit_test(class_initialisation_is_seen_by_users),
        cmocka_unit_test(kinds_of_objects_have_names_of_their_own),
        cmocka_unit_test(atomics_order_as_their_orders_say),
        cmocka_unit_test(stores_of_c11_end_release_sequences_of_others),
        cmocka_unit_test(only_stores_that_are_heeded_end_release_sequences),
        cmocka_unit_test(atomics_race_only_with_plain_accesses),
        cmocka_unit_test(a_transaction_happens_at_its_commit),
        cmocka_unit_test(commits_order_through_their_variables),
        cmocka_unit_test(a_system_commit_moves_no_clock),
        cmocka_unit_test(system_synchronisation_counts_only_in_all_sync),
        cmocka_unit_test(raw_clock_writes_order_what_they_name),
        cmocka_unit_test(without_thread_identity_the_kernel_thread_acts),
        cmocka_unit_test(order_reaches_through_many_threads_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
