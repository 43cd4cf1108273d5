/* t_order.c - what each event waits for in the timed order, rule by rule: exactly these events of
 * other threads, and nothing else. t_order_random.c has all rules at once. */
#include "tests/sim/order/run.h"

#include "tests/oracle/hand.h"

enum { B = 0x9200, V = 0x9300 };

#define ALLOC(t, a, n)                                                                             \
    {                                                                                              \
        .kind = EV_ALLOC, .tid = (t), .addr = (a), .aux = (n)                                      \
    }
#define REGION(k, t, a, n)                                                                         \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .aux = (n)                                        \
    }
#define BIG(k, t, a, n)                                                                            \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = (n)                                       \
    }

/* ---- what must run before what -------------------------------------------------------------- */

enum { HAND_EVENTS = 16 };
struct relation { /* which event must run before which */
    bool before[HAND_EVENTS][HAND_EVENTS];
};

/* What does not run when all runs that goes without one event comes after it. */
static struct relation relation_of(const struct stream *s)
{
    struct relation r = {0};

    assert_true(s->events <= HAND_EVENTS);
    for (size_t first = 0; first < s->events; first++) {
        struct scheduler *c = scheduler_new(s, 1000, 1);
        c->avoid = first;
        c->ahead = 1;
        scheduler_run(c);
        for (size_t then = 0; then < s->events; then++)
            r.before[first][then] = then != first && !c->done[then];
        scheduler_free(c);
    }
    return r;
}

static bool goes_without_saying(const struct relation *r, size_t first, size_t then, size_t events)
{
    for (size_t i = 0; i < events; i++)
        if (r->before[first][i] && r->before[i][then])
            return true;
    return false;
}

/* "5<3 5<1": event 5 waits for event 3 and for event 1, of other threads; what follows from that
 * and from the order of each thread is left out. */
static void needs_in(const struct event *rec, size_t records, bool legal, const char *want)
{
    struct stream s = {0};
    char text[1000] = "";
    size_t at = 0;

    if (legal)
        assert_legal(rec, records);
    for (size_t i = 0; i < records; i += event_records(&rec[i]))
        stream_add(&s, &rec[i]);
    const struct relation r = relation_of(&s);
    for (size_t x = 0; x < s.events; x++)
        for (size_t y = 0; y < s.events; y++)
            if (r.before[y][x] && stream_event(&s, x)->tid != stream_event(&s, y)->tid &&
                !goes_without_saying(&r, y, x, s.events))
                at += (size_t)snprintf(text + at, sizeof text - at, at ? " %zu<%zu" : "%zu<%zu", x,
                                       y);
    stream_drop(&s);
    assert_string_equal(text, want);
}
#define NEEDS(want, ...)         needs_in(EVENTS(__VA_ARGS__), true, want)
#define NEEDS_UNRULED(want, ...) needs_in(EVENTS(__VA_ARGS__), false, want)

/* ---- locks ---------------------------------------------------------------------------------- */

static void plain_accesses_wait_for_nothing(void **state)
{
    (void)state;
    NEEDS("", W(0, X), W(1, X), R(2, X), W(0, X), BY(IO, 1), BY(THREAD_START, 3), R(3, X));
}

static void an_acquire_waits_for_the_release_before(void **state)
{
    (void)state;
    NEEDS("3<2", ON(ACQUIRE, 0, L), W(0, X), ON(RELEASE, 0, L), ON(ACQUIRE, 1, L), W(1, X));
    NEEDS("2<1 4<3", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(ACQUIRE, 1, L), ON(RELEASE, 1, L),
          ON(ACQUIRE, 0, L));
    NEEDS("2<1", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), SYS(ACQUIRE, 1, L));
}

static void other_locks_do_not_wait(void **state)
{
    (void)state;
    NEEDS("", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(ACQUIRE, 1, M), ON(RELEASE, 1, M),
          ON(ACQUIRE, 2, L + 8), ON(ACQUIRE, 3, L + 1));
}

static void a_release_and_what_follows_do_not_wait(void **state)
{
    (void)state;
    NEEDS("1<0", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), ON(RELEASE_SHARED, 0, L),
          W(0, X), ON(RELEASE_SHARED, 1, L), W(1, X));
}

static void shared_acquisitions_overlap_in_order(void **state)
{
    (void)state;
    NEEDS("2<1 3<2", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(ACQUIRE_SHARED, 1, L),
          ON(ACQUIRE_SHARED, 2, L), ON(RELEASE_SHARED, 1, L), ON(RELEASE_SHARED, 2, L));
    NEEDS("2<0", ON(ACQUIRE_SHARED, 0, L), ON(RELEASE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L));
}

static void an_exclusive_acquire_waits_for_all_shared_releases(void **state)
{
    (void)state;
    NEEDS("1<0 4<2 4<3", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L),
          ON(RELEASE_SHARED, 0, L), ON(RELEASE_SHARED, 1, L), ON(ACQUIRE, 2, L));
    NEEDS("1<0 3<2", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), ON(RELEASE_SHARED, 1, L),
          ON(ACQUIRE, 0, L));
}

static void a_shared_acquire_waits_for_no_later_release(void **state)
{
    (void)state;
    NEEDS("3<0", ON(ACQUIRE_SHARED, 0, L), W(0, X), ON(RELEASE_SHARED, 0, L),
          ON(ACQUIRE_SHARED, 1, L));
}

static void inner_levels_of_a_monitor_wait_for_nobody(void **state)
{
    (void)state;
    NEEDS("5<4", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), W(0, X),
          ON(RELEASE, 0, L), ON(ACQUIRE, 1, L));
    NEEDS("1<0", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), ON(ACQUIRE_SHARED, 0, L),
          ON(RELEASE_SHARED, 0, L));
    NEEDS("1<0 3<1", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), ON(ACQUIRE_SHARED, 0, L),
          ON(ACQUIRE_SHARED, 2, L));
}

static void a_wait_is_a_release_and_an_acquire(void **state)
{
    (void)state;
    NEEDS("3<2 5<4", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), ON(WAIT_ENTER, 0, L), ON(ACQUIRE, 1, L),
          ON(RELEASE, 1, L), ON(WAIT_EXIT, 0, L), ON(NOTIFY, 0, L));
    NEEDS("2<1 4<3", ON(ACQUIRE, 0, L), ON(WAIT_ENTER, 0, L), ON(ACQUIRE, 1, L), ON(RELEASE, 1, L),
          ON(WAIT_EXIT, 0, L), ON(NOTIFY, 2, L));
}

static void a_lock_moves_with_its_holders(void **state)
{
    (void)state;
    /* The inner acquire at the new address waits for the copy, not for the latest reader. */
    NEEDS("1<0 2<1 3<2 4<2", ON(ACQUIRE_SHARED, 0, L), ON(ACQUIRE_SHARED, 1, L), COPY(2, M, L, 8),
          ON(ACQUIRE_SHARED, 3, M), ON(ACQUIRE_SHARED, 0, M));
    NEEDS("1<0 3<2 4<3", ON(ACQUIRE_SHARED, 0, L), COPY(1, M, L, 8), CLEAR(1, L, 8),
          ON(ACQUIRE_SHARED, 2, L), ON(ACQUIRE_SHARED, 0, L));
}

/* The inner acquire does not wait for the latest reader. A lock takes 8 bytes, and what is cleared
 * of them is waited for; it is the lock's while its first byte stays. */
static void a_clear_beside_a_lock_leaves_it_held(void **state)
{
    (void)state;
    NEEDS("2<0", ON(ACQUIRE_SHARED, 0, L + 4), CLEAR(1, L, 4), ON(ACQUIRE_SHARED, 2, L + 4),
          ON(ACQUIRE_SHARED, 0, L + 4));
    NEEDS("1<0 2<1 3<1", ON(ACQUIRE_SHARED, 0, L), CLEAR(1, L + 4, 4), ON(ACQUIRE_SHARED, 2, L),
          ON(ACQUIRE_SHARED, 0, L));
}

static void without_rules_the_recorded_order_is_followed(void **state)
{
    (void)state;
    NEEDS_UNRULED("1<0", ON(ACQUIRE, 0, L), ON(ACQUIRE, 1, L), ON(RELEASE, 0, L));
    NEEDS_UNRULED("1<0 2<1", ON(ACQUIRE, 0, L), ON(RELEASE, 1, L), ON(ACQUIRE, 2, L));
    /* A release by who does not hold it comes after the one before. */
    NEEDS_UNRULED("2<1", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(RELEASE, 1, L));
}

/* ---- volatiles, classes, atomics ------------------------------------------------------------ */

static void a_volatile_read_stays_between_its_writes(void **state)
{
    (void)state;
    NEEDS("1<0 2<0 3<1 3<2 4<3", ON(VOLATILE_WRITE, 0, V), ON(VOLATILE_READ, 1, V),
          ON(VOLATILE_READ, 2, V), ON(VOLATILE_WRITE, 3, V), ON(VOLATILE_READ, 4, V));
    NEEDS("", ON(VOLATILE_READ, 0, V), ON(VOLATILE_READ, 1, V), ON(VOLATILE_WRITE, 2, V + 8));
}

static void a_class_is_used_after_its_initialisation(void **state)
{
    (void)state;
    NEEDS("1<0 2<0", ON(CLASS_INIT, 0, V), ON(CLASS_USE, 1, V), SYS(CLASS_USE, 2, V));
}

static void name_spaces_do_not_mix(void **state)
{
    (void)state;
    NEEDS("", ON(VOLATILE_WRITE, 0, V), ON(CLASS_INIT, 1, V), ON(ACQUIRE, 2, V),
          ATOM(WRITE, 3, V, SEQ_CST), ROUND(ARRIVE, 4, V, 1));
}

static void atomics_wait_as_their_order_says(void **state)
{
    (void)state;
    NEEDS("1<0 2<1", ATOM(WRITE, 0, X, RELEASE), ATOM(READ, 1, X, ACQUIRE),
          ATOM(WRITE, 2, X, SEQ_CST));
    NEEDS("1<0", ATOM(RMW, 0, X, ACQ_REL), ATOM(RMW, 1, X, ACQ_REL), ATOM(RMW, 2, X, RELAXED),
          ATOM(READ, 3, X, RELAXED), ATOM(READ, 4, X, RELEASE), ATOM(WRITE, 5, X, ACQUIRE));
    NEEDS("2<0 2<1", ATOM(RMW, 0, X, ACQUIRE), ATOM(READ, 1, X, SEQ_CST), ATOM(RMW, 2, X, RELEASE));
    NEEDS("", ATOM(WRITE, 0, X, SEQ_CST), ATOM(READ, 1, X + 4, SEQ_CST), R(2, X));
    /* a relaxed store of C11 ends what others gave: a read stays before it, or after it */
    NEEDS("1<0 2<1 3<2", ATOM(WRITE, 0, X, RELEASE), ATOM(READ, 1, X, ACQUIRE),
          FLAGGED(WRITE, 2, X, EVF_C11 | ORDER_RELAXED << EVF_ORDER_SHIFT),
          ATOM(READ, 3, X, ACQUIRE));
}

/* ---- barriers ------------------------------------------------------------------------------- */

static void a_departure_waits_for_all_arrivals_of_its_round(void **state)
{
    (void)state;
    NEEDS("2<1 3<0", ROUND(ARRIVE, 0, B, 1), ROUND(ARRIVE, 1, B, 1), ROUND(DEPART, 0, B, 1),
          ROUND(DEPART, 1, B, 1));
    NEEDS("4<1 4<3 5<0 5<3", ROUND(ARRIVE, 0, B, 1), ROUND(ARRIVE, 1, B, 1), W(2, X),
          ROUND(ARRIVE, 2, B, 1), ROUND(DEPART, 0, B, 1), ROUND(DEPART, 1, B, 1));
    NEEDS("", ROUND(ARRIVE, 0, B, 1), ROUND(ARRIVE, 1, B + 8, 1), ROUND(DEPART, 0, B, 1),
          ROUND(DEPART, 1, B + 8, 1));
}

static void a_slow_departure_waits_for_no_later_round(void **state)
{
    (void)state;
    NEEDS("2<1 4<0", ROUND(ARRIVE, 0, B, 1), ROUND(ARRIVE, 1, B, 1), ROUND(DEPART, 0, B, 1),
          ROUND(ARRIVE, 0, B, 2), ROUND(DEPART, 1, B, 1));
}

static void rounds_of_others_begin_in_order(void **state)
{
    (void)state;
    NEEDS("2<0 2<1 3<2", ROUND(ARRIVE, 0, B, 1), ROUND(ARRIVE, 1, B, 1), ROUND(ARRIVE, 2, B, 2),
          ROUND(ARRIVE, 3, B, 3), ROUND(DEPART, 3, B, 3));
}

/* ---- threads -------------------------------------------------------------------------------- */

static void a_child_waits_for_its_fork(void **state)
{
    (void)state;
    NEEDS("2<1", W(0, X), NAMING(FORK, 0, 1), W(1, X), W(0, X), W(1, X), W(2, X));
}

static void a_join_waits_for_all_of_the_child(void **state)
{
    (void)state;
    NEEDS("1<0 4<3", NAMING(FORK, 0, 1), W(1, X), W(1, X), BY(THREAD_END, 1), NAMING(JOIN, 0, 1));
    NEEDS("2<1 3<1", W(0, X), W(1, X), NAMING(JOIN, 0, 1), NAMING(JOIN, 2, 1));
    NEEDS("1<0", NAMING(FORK, 0, 1), NAMING(JOIN, 2, 1));
    NEEDS_UNRULED("1<0 2<1", W(0, X), NAMING(JOIN, 1, 0), W(0, X), W(2, X));
}

static void a_kernel_thread_carries_one_thread_at_a_time(void **state)
{
    (void)state;
    NEEDS("2<1", NAMING(THREAD, 0, 7), W(0, X), NAMING(THREAD, 1, 7), NAMING(THREAD, 2, 8));
    NEEDS("3<1", NAMING(THREAD, 0, 7), W(0, X), NAMING(THREAD, 0, 8), NAMING(THREAD, 1, 7),
          W(0, X));
    NEEDS("2<1 3<2", NAMING(THREAD, 0, 7), W(0, X), NAMING(THREAD, 1, 7), W(0, X));
    NEEDS("2<1 3<2", NAMING(THREAD, 0, 7), W(0, X), NAMING(JOIN, 1, 0), NAMING(THREAD, 2, 7));
    NEEDS("2<1 3<1", NAMING(THREAD, 0, 7), BY(THREAD_END, 0), NAMING(JOIN, 1, 0),
          NAMING(THREAD, 2, 7));
}

static void raw_clocks_wait_for_the_times_they_name(void **state)
{
    (void)state;
    NEEDS("5<1", W(0, X), WRITEVC(0, 0, 5), W(0, X), WRITEVC(0, 0, 7), W(0, X), WRITEVC(1, 0, 4));
    NEEDS("5<3", W(0, X), WRITEVC(0, 0, 5), W(0, X), WRITEVC(0, 0, 7), W(0, X), WRITEVC(1, 0, 5));
    NEEDS("3<2", W(0, X), WRITEVC(0, 0, 5), BY(THREAD_END, 0), WRITEVC(1, 0, 5));
    NEEDS("", W(0, X), REGION(READVC, 1, 1, 0), WRITEVC(1, 1, 2));
}

/* ---- transactions --------------------------------------------------------------------------- */

static void commits_that_share_a_variable_keep_their_order(void **state)
{
    (void)state;
    NEEDS("5<2", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), BY(TXN_COMMIT, 0), BY(TXN_BEGIN, 1),
          TX(READ, 1, X + 4), BY(TXN_COMMIT, 1));
    NEEDS("", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), BY(TXN_COMMIT, 0), BY(TXN_BEGIN, 1),
          TX(READ, 1, X + 8), R(1, X), BY(TXN_COMMIT, 1), BY(TXN_BEGIN, 2), BY(TXN_COMMIT, 2));
}

static void a_commit_touches_what_its_transaction_accessed(void **state)
{
    (void)state;
    NEEDS("3<2", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), BY(TXN_COMMIT, 0), CLEAR(1, X, 8));
    NEEDS("", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), BY(TXN_COMMIT, 0), CLEAR(1, X + 8, 8));
    NEEDS_UNRULED("2<1 3<2", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), CLEAR(1, X, 8), BY(TXN_COMMIT, 0));
}

/* ---- memory --------------------------------------------------------------------------------- */

static void a_clear_waits_for_the_last_access_of_each_thread(void **state)
{
    (void)state;
    NEEDS("5<1 5<2", W(0, X), W(0, X + 12), R(1, X + 8), W(0, Y), W(2, X - 4), CLEAR(3, X, 16),
          W(4, X + 16));
}

static void accesses_wait_for_a_clear_before_them(void **state)
{
    (void)state;
    NEEDS("1<0 4<0", CLEAR(0, X, 16), W(1, X + 12), W(2, X + 16), W(2, X - 4),
          BIG(WRITE, 3, X - 4, 8), W(0, X));
}

static void allocations_apart_do_not_wait(void **state)
{
    (void)state;
    NEEDS("", ALLOC(0, X, 16), ALLOC(1, X + 16, 16), W(0, X), W(1, X + 16), ALLOC(0, X + 32, 8),
          CLEAR(1, X + 16, 16));
    NEEDS("1<0", ALLOC(0, X, 16), R(1, X));
}

static void a_copy_touches_both_regions(void **state)
{
    (void)state;
    NEEDS("2<0 2<1 3<2 4<2", W(0, X), W(1, Y + 20), COPY(2, Y + 8, X, 16), W(3, X + 15),
          W(4, Y + 8), W(5, Y));
}

static void heap_events_wait_for_each_other(void **state)
{
    (void)state;
    NEEDS("1<0 2<1 3<2", CLEAR(0, X, 64), CLEAR(1, X + 16, 16), CLEAR(2, X, 64), W(3, X + 40));
    NEEDS("1<0 2<1 3<0 4<0", CLEAR(0, X, 64), CLEAR(1, X + 16, 16), W(2, X + 20), W(3, X + 60),
          W(4, X));
}

static void synchronisation_touches_its_object(void **state)
{
    (void)state;
    NEEDS("2<1 3<2", ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), CLEAR(1, L, 8), ON(ACQUIRE, 2, L));
    NEEDS("2<1", ON(VOLATILE_WRITE, 0, V), ON(NOTIFY, 0, V), CLEAR(1, V + 4, 4),
          ON(VOLATILE_READ, 2, V + 8));
    NEEDS("1<0", ROUND(ARRIVE, 0, B, 3), CLEAR(1, B + 7, 1));
}

static void memory_has_edges(void **state)
{
    (void)state;
    NEEDS("1<0 2<1", BIG(WRITE, 0, UINT64_MAX, 1), REGION(CLEAR, 1, UINT64_MAX - 7, 8),
          BIG(WRITE, 2, UINT64_MAX, 1), BIG(WRITE, 3, UINT64_MAX - 8, 1));
    NEEDS("1<0 2<1", ON(VOLATILE_READ, 0, UINT64_MAX), REGION(CLEAR, 1, UINT64_MAX, 1),
          ON(NOTIFY, 2, UINT64_MAX - 3));
    NEEDS("1<0 3<1", BIG(WRITE, 0, 0, 1), REGION(CLEAR, 1, 0, 1), BIG(WRITE, 2, 1, 1),
          BIG(WRITE, 3, 0, 1));
    NEEDS("3<0 3<1 4<3", BIG(WRITE, 0, X, 65536), BIG(WRITE, 1, 0, 1), BIG(READ, 2, UINT64_MAX, 1),
          REGION(CLEAR, 3, 0, UINT64_MAX), W(4, Y));
}

static void a_collection_stops_the_world(void **state)
{
    (void)state;
    NEEDS("2<0 2<1 3<2 4<2 5<3 5<4 6<5", W(0, X), W(1, Y), BY(GC_BEGIN, 2), SYS(ACQUIRE, 0, L),
          FLAGGED(READ, 1, X, EVF_SYSTEM), BY(GC_END, 2), W(3, X), W(2, X));
}

/* ---- reasons -------------------------------------------------------------------------------- */

/* The reason that the last event of the stream, of thread 1, is given for waiting. */
static void assert_reason(const struct event *rec, size_t records, enum wait_reason why)
{
    struct order *o = order_new(100, NULL, NULL);
    struct order_next next;
    struct err e = {0};
    uint64_t number = 0;

    for (size_t i = 0; i < records; i += event_records(&rec[i]))
        assert_int_equal(order_add(o, &rec[i], number++, &e), 0);
    order_peek(o, 1, &next);
    assert_int_equal(next.state, ORDER_BLOCKED);
    assert_int_equal(next.why, why);
    assert_int_equal(next.by, 0);
    assert_true(wait_reason_text[why][0]);
    order_free(o);
}
#define REASON(why, ...) assert_reason(EVENTS(__VA_ARGS__), WAIT_##why)

static void every_reason_has_its_name(void **state)
{
    (void)state;
    REASON(LOCK, ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), ON(ACQUIRE, 1, L));
    REASON(JOIN, W(0, X), NAMING(JOIN, 1, 0));
    REASON(FORK, NAMING(FORK, 0, 1), W(1, X));
    REASON(VOLATILE, ON(VOLATILE_WRITE, 0, V), ON(VOLATILE_READ, 1, V));
    REASON(VOLATILE, ATOM(WRITE, 0, X, RELEASE), ATOM(READ, 1, X, ACQUIRE));
    REASON(CLASS, ON(CLASS_INIT, 0, V), ON(CLASS_USE, 1, V));
    REASON(MEMORY, CLEAR(0, X, 8), W(1, X));
    REASON(MEMORY, W(0, X), CLEAR(1, X, 8));
    REASON(COLLECTION, W(0, X), BY(GC_BEGIN, 1));
    REASON(COLLECTION, BY(GC_BEGIN, 0), W(1, X));
    REASON(KERNEL, NAMING(THREAD, 0, 3), NAMING(THREAD, 1, 3));
}

static void add(struct order *o, struct event ev, uint64_t number)
{
    struct err e = {0};

    assert_int_equal(order_add(o, &ev, number, &e), 0);
}

static void barriers_and_commits_name_their_reason(void **state)
{
    struct order *o = order_new(100, NULL, NULL);
    struct order_next next;

    (void)state;
    add(o, (struct event)ROUND(ARRIVE, 1, B, 1), 0);
    add(o, (struct event)ROUND(ARRIVE, 0, B, 1), 1);
    add(o, (struct event)ROUND(DEPART, 1, B, 1), 2);
    order_take(o, 1);
    order_peek(o, 1, &next);
    assert_int_equal(next.why, WAIT_BARRIER);
    assert_int_equal(next.by_number, 1);
    add(o, (struct event)TX(WRITE, 2, X), 3);
    add(o, (struct event)BY(TXN_COMMIT, 2), 4);
    add(o, (struct event)TX(WRITE, 3, X), 5);
    add(o, (struct event)BY(TXN_COMMIT, 3), 6);
    order_take(o, 3);
    order_peek(o, 3, &next);
    assert_int_equal(next.why, WAIT_COMMIT);
    assert_int_equal(next.by_number, 4);
    order_free(o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_accesses_wait_for_nothing),
        cmocka_unit_test(an_acquire_waits_for_the_release_before),
        cmocka_unit_test(other_locks_do_not_wait),
        cmocka_unit_test(a_release_and_what_follows_do_not_wait),
        cmocka_unit_test(shared_acquisitions_overlap_in_order),
        cmocka_unit_test(an_exclusive_acquire_waits_for_all_shared_releases),
        cmocka_unit_test(a_shared_acquire_waits_for_no_later_release),
        cmocka_unit_test(inner_levels_of_a_monitor_wait_for_nobody),
        cmocka_unit_test(a_wait_is_a_release_and_an_acquire),
        cmocka_unit_test(a_lock_moves_with_its_holders),
        cmocka_unit_test(a_clear_beside_a_lock_leaves_it_held),
        cmocka_unit_test(without_rules_the_recorded_order_is_followed),
        cmocka_unit_test(a_volatile_read_stays_between_its_writes),
        cmocka_unit_test(a_class_is_used_after_its_initialisation),
        cmocka_unit_test(name_spaces_do_not_mix),
        cmocka_unit_test(atomics_wait_as_their_order_says),
        cmocka_unit_test(a_departure_waits_for_all_arrivals_of_its_round),
        cmocka_unit_test(a_slow_departure_waits_for_no_later_round),
        cmocka_unit_test(rounds_of_others_begin_in_order),
        cmocka_unit_test(a_child_waits_for_its_fork),
        cmocka_unit_test(a_join_waits_for_all_of_the_child),
        cmocka_unit_test(a_kernel_thread_carries_one_thread_at_a_time),
        cmocka_unit_test(raw_clocks_wait_for_the_times_they_name),
        cmocka_unit_test(commits_that_share_a_variable_keep_their_order),
        cmocka_unit_test(a_commit_touches_what_its_transaction_accessed),
        cmocka_unit_test(a_clear_waits_for_the_last_access_of_each_thread),
        cmocka_unit_test(accesses_wait_for_a_clear_before_them),
        cmocka_unit_test(allocations_apart_do_not_wait),
        cmocka_unit_test(a_copy_touches_both_regions),
        cmocka_unit_test(heap_events_wait_for_each_other),
        cmocka_unit_test(synchronisation_touches_its_object),
        cmocka_unit_test(memory_has_edges),
        cmocka_unit_test(a_collection_stops_the_world),
        cmocka_unit_test(every_reason_has_its_name),
        cmocka_unit_test(barriers_and_commits_name_their_reason),
    };

    (void)check; /* of tests/oracle/hand.h: there are no verdicts here */
    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
