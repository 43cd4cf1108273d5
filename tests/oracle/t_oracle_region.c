/* t_oracle_region.c - the region oracle itself, held to verdicts that were reasoned by hand: for
 * every rule in region.h a stream of a few events and its conflicts, as EARLIER-EVENT. Each
 * rule of what ends a region has a stream in which its absence would show, and one for its excess.
 * t_region_random.c holds it to the other oracle. */
#include "tests/oracle/hand.h"
#include "tests/oracle/region.h"

static void check_region(const struct event *s, size_t records, const struct region_options *is,
                         const char *want)
{
    struct region_oracle *got = region_oracle_new(s, records, is);
    const struct region_conflict *c;
    char text[1000] = "";
    size_t at = 0;

    assert_legal(s, records);
    assert_non_null(got);
    const size_t n = region_oracle_conflicts(got, &c);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, at ? " %zu-%zu" : "%zu-%zu",
                               c[i].earlier, c[i].event);
    region_oracle_free(got);
    assert_string_equal(text, want);
}

#define IN(view, granule, sync_free, want, ...)                                                    \
    check_region(EVENTS(__VA_ARGS__), &(struct region_options){sync_free, granule, view}, want)
#define RFR(want, ...)  IN(0, 4, false, want, __VA_ARGS__)
#define SFR(want, ...)  IN(0, 4, true, want, __VA_ARGS__)
#define BOTH(want, ...) (RFR(want, __VA_ARGS__), SFR(want, __VA_ARGS__))
/* Release-free and synchronisation-free; where they differ, both are given. */
#define BOTH(want, ...)               (RFR(want, __VA_ARGS__), SFR(want, __VA_ARGS__))
#define EACH(release_free, want, ...) (RFR(release_free, __VA_ARGS__), SFR(want, __VA_ARGS__))

/* ---- conflicts ------------------------------------------------------------------------------ */

static void an_access_conflicts_with_an_ongoing_regions(void **state)
{
    (void)state;
    BOTH("0-1", W(0, X), W(1, X));
    BOTH("0-1", W(0, X), R(1, X));
    BOTH("0-1", R(0, X), W(1, X));
    BOTH("", R(0, X), R(1, X));
    BOTH("", W(0, X), R(0, X), W(0, X));
    BOTH("", W(0, X), W(1, Y));
}

static void it_conflicts_with_each_access_however_old_or_overwritten(void **state)
{
    (void)state;
    BOTH("0-1 0-2 1-2", W(0, X), W(1, X), W(2, X));
    BOTH("0-2 1-2", R(0, X), R(1, X), W(2, X));
    BOTH("0-2 1-2", R(0, X), R(0, X), W(1, X));
    BOTH("0-1 0-2 2-3", W(0, X), R(1, X), W(1, X), R(0, X));
}

/* T0's write, whose region has ended, stands for the "last writer p@T0" of the figures. */
static void valor_figure_1(void **state)
{
    (void)state;
    BOTH("3-4", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_WRITE, 1, L), W(1, X), W(2, X),
         ON(VOLATILE_WRITE, 1, L));
    BOTH("3-4", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_WRITE, 1, L), W(1, X), R(2, X),
         ON(VOLATILE_WRITE, 1, L));
    BOTH("3-4", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_WRITE, 1, L), R(1, X), W(2, X),
         ON(VOLATILE_WRITE, 1, L));
}

static void valor_figure_2(void **state)
{
    (void)state;
    BOTH("", W(0, X), ON(VOLATILE_WRITE, 0, L), R(1, X), W(1, X), ON(VOLATILE_WRITE, 1, L));
    BOTH("2-3", W(0, X), ON(VOLATILE_WRITE, 0, L), R(1, X), W(2, X), ON(VOLATILE_WRITE, 2, L),
         W(1, X), ON(VOLATILE_WRITE, 1, L));
}

/* Regions that overlap, with accesses that conflict, are no conflict when the earlier access's
 * region has ended; it is the earlier one's region that counts. */
static void overlap_is_no_conflict(void **state)
{
    (void)state;
    BOTH("", R(1, Y), W(0, X), ON(VOLATILE_WRITE, 0, L), W(1, X));
    BOTH("3-4", W(0, X), ON(VOLATILE_WRITE, 0, L), ON(VOLATILE_WRITE, 1, L), W(0, X), W(1, X));
    BOTH("0-3", W(0, X), ON(VOLATILE_WRITE, 1, L), ON(VOLATILE_READ, 2, L), W(1, X));
}

/* ---- what ends a region: T0 writes, the event; T1 writes. In its absence T0's would go on ---- */

static void what_publishes_ends_both_kinds(void **state)
{
    (void)state;
    BOTH("", ON(ACQUIRE, 0, L), W(0, X), ON(RELEASE, 0, L), W(1, X));
    BOTH("", ON(ACQUIRE_SHARED, 0, L), W(0, X), ON(RELEASE_SHARED, 0, L), W(1, X));
    BOTH("", ON(ACQUIRE, 0, L), W(0, X), ON(WAIT_ENTER, 0, L), W(1, X));
    BOTH("", W(0, X), NAMING(FORK, 0, 2), W(1, X));
    BOTH("", W(0, X), ON(VOLATILE_WRITE, 0, L), W(1, X));
    BOTH("", W(0, X), ROUND(ARRIVE, 0, L, 1), W(1, X));
    BOTH("", W(0, X), ON(CLASS_INIT, 0, L), W(1, X));
    BOTH("", W(0, X), BY(THREAD_END, 0), W(1, X));
    BOTH("", W(0, X), ATOM(WRITE, 0, L, RELEASE), W(1, X));
    BOTH("", W(0, X), ATOM(WRITE, 0, L, SEQ_CST), W(1, X));
    BOTH("", W(0, X), ATOM(RMW, 0, L, RELEASE), W(1, X));
    BOTH("", W(0, X), ATOM(RMW, 0, L, ACQ_REL), W(1, X));
    BOTH("", W(0, X), BY(TXN_BEGIN, 0), TX(READ, 0, Y), BY(TXN_COMMIT, 0), W(1, X));
    BOTH("", W(0, X), WRITEVC(0, 0, 2), W(1, X));
}

static void what_takes_ends_the_synchronisation_free_only(void **state)
{
    (void)state;
    EACH("0-2", "", W(0, X), ON(ACQUIRE, 0, L), W(1, X));
    EACH("0-2", "", W(0, X), ON(ACQUIRE_SHARED, 0, L), W(1, X));
    EACH("0-2", "", W(0, X), ON(VOLATILE_READ, 0, L), W(1, X));
    EACH("1-3", "", ON(CLASS_INIT, 2, L), W(0, X), ON(CLASS_USE, 0, L), W(1, X));
    EACH("1-3", "", NAMING(FORK, 2, 3), W(0, X), NAMING(JOIN, 0, 3), W(1, X));
    EACH("0-2", "", W(0, X), ATOM(READ, 0, L, ACQUIRE), W(1, X));
    EACH("0-2", "", W(0, X), ATOM(READ, 0, L, SEQ_CST), W(1, X));
    EACH("0-2", "", W(0, X), ATOM(RMW, 0, L, ACQUIRE), W(1, X));
    EACH("1-3", "", WRITEVC(2, 2, 2), W(0, X), WRITEVC(0, 2, 1), W(1, X));
}

/* Between the two halves of a wait or a barrier a thread does nothing; its kernel thread may. */
static void so_do_the_second_halves_of_waits_and_barriers(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        const char *want = k ? "" : "4-6";
        IN(ORACLE_NO_THREAD, 4, k, want, NAMING(THREAD, 0, 9), ON(ACQUIRE, 0, L),
           ON(WAIT_ENTER, 0, L), NAMING(THREAD, 2, 9), W(2, X), ON(WAIT_EXIT, 0, L), W(1, X));
        IN(ORACLE_NO_THREAD, 4, k, want, NAMING(THREAD, 0, 9), R(0, Y), ROUND(ARRIVE, 0, L, 1),
           NAMING(THREAD, 2, 9), W(2, X), ROUND(DEPART, 0, L, 1), W(1, X));
    }
}

static void nothing_else_ends_a_region(void **state)
{
    (void)state;
    BOTH("2-4", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), W(0, X), ON(RELEASE, 0, L), W(1, X));
    BOTH("1-3", ON(ACQUIRE, 0, L), W(0, X), ON(ACQUIRE, 0, L), W(1, X));
    BOTH("1-3", ON(ACQUIRE, 0, L), W(0, X), ON(NOTIFY, 0, L), W(1, X));
    BOTH("0-2", W(0, X), BY(TXN_BEGIN, 0), W(1, X));
    BOTH("1-3", BY(TXN_BEGIN, 0), W(0, X), BY(TXN_COMMIT, 0), W(1, X)); /* an empty one */
    BOTH("0-2", W(0, X), ATOM(READ, 0, L, RELAXED), W(1, X));
    BOTH("0-2", W(0, X), ATOM(READ, 0, L, RELEASE), W(1, X));
    BOTH("0-2", W(0, X), ATOM(WRITE, 0, L, ACQUIRE), W(1, X));
    BOTH("0-2", W(0, X), ATOM(WRITE, 0, L, RELAXED), W(1, X));
    BOTH("0-2", W(0, X), {.kind = EV_READVC, .tid = 0, .addr = 1, .aux = 0}, W(1, X));
    BOTH("0-3", W(0, X), BY(GC_BEGIN, 0), BY(GC_END, 0), W(1, X));
    BOTH("0-2", W(0, X), NAMING(THREAD, 0, 7), W(1, X));
    BOTH("0-2", W(0, X), BY(IO, 0), W(1, X));
    BOTH("0-2", W(0, X), CLEAR(0, Y, 4), W(1, X));
}

static void nested_monitors_are_counted_by_lock_and_mode(void **state)
{
    (void)state;
    BOTH("", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), ON(RELEASE, 0, L), W(0, X), ON(RELEASE, 0, L),
         W(1, X));
    BOTH("", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, M), W(0, X), ON(RELEASE, 0, M), W(1, X));
    BOTH("", ON(ACQUIRE, 0, L), ON(ACQUIRE_SHARED, 0, L), W(0, X), ON(RELEASE_SHARED, 0, L),
         W(1, X));
    /* a wait releases all levels, and restores them */
    BOTH("", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), W(0, X), ON(WAIT_ENTER, 0, L), W(1, X));
    BOTH("4-6", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), ON(WAIT_ENTER, 0, L), ON(WAIT_EXIT, 0, L),
         W(0, X), ON(RELEASE, 0, L), W(1, X));
    /* a lock that moves is held as before */
    BOTH("4-6", ON(ACQUIRE, 0, L), ON(ACQUIRE, 0, L), COPY(0, M, L, 8), CLEAR(0, L, 8), W(0, X),
         ON(RELEASE, 0, M), W(1, X));
}

static void a_join_without_end_ends_the_childs_region(void **state)
{
    (void)state;
    BOTH("", W(0, X), NAMING(JOIN, 2, 0), W(1, X));
    BOTH("1-3", BY(THREAD_END, 3), W(0, X), NAMING(JOIN, 2, 3), W(1, X)); /* another's */
    /* seen from the joiner: an acquire, no release */
    EACH("1-3", "", BY(THREAD_END, 3), W(0, X), NAMING(JOIN, 0, 3), W(1, X));
}

static void a_first_event_takes_what_the_fork_gave(void **state)
{
    (void)state;
    /* T0 and T2 are one actor: T2's birth is its acquire */
    IN(ORACLE_NO_THREAD, 4, false, "2-5", NAMING(FORK, 3, 2), NAMING(THREAD, 0, 9), W(0, X),
       NAMING(THREAD, 2, 9), R(2, Y), W(1, X));
    IN(ORACLE_NO_THREAD, 4, true, "", NAMING(FORK, 3, 2), NAMING(THREAD, 0, 9), W(0, X),
       NAMING(THREAD, 2, 9), R(2, Y), W(1, X));
    IN(ORACLE_NO_THREAD, 4, true, "1-4", NAMING(THREAD, 0, 9), W(0, X), NAMING(THREAD, 2, 9),
       R(2, Y), W(1, X)); /* a root takes nothing */
}

/* ---- accesses with an order, in transactions ------------------------------------------------ */

static void atomics_conflict_only_with_plain_accesses(void **state)
{
    (void)state;
    BOTH("", ATOM(WRITE, 0, X, RELAXED), ATOM(RMW, 1, X, RELAXED), ATOM(READ, 2, X, RELAXED));
    BOTH("0-1", ATOM(WRITE, 0, X, RELAXED), R(1, X));
    BOTH("0-1", W(0, X), ATOM(READ, 1, X, RELAXED));
    BOTH("0-1", R(0, X), ATOM(RMW, 1, X, ACQ_REL));
    /* nothing is forgotten: neither T0's atomic write, nor its plain one */
    BOTH("0-2 1-2", ATOM(WRITE, 0, X, RELAXED), ATOM(WRITE, 1, X, RELAXED), R(2, X));
    BOTH("0-2", W(0, X), ATOM(WRITE, 0, X, RELAXED), ATOM(READ, 1, X, RELAXED));
    BOTH("0-2", ATOM(READ, 0, X, RELAXED), ATOM(WRITE, 1, X, RELAXED), W(1, X));
}

static void an_order_ends_the_region_on_its_side_of_the_access(void **state)
{
    (void)state;
    BOTH("", ATOM(WRITE, 0, X, RELEASE), R(1, X));
    BOTH("", ATOM(RMW, 0, X, ACQ_REL), W(1, X));
    BOTH("0-1", ATOM(READ, 0, X, ACQUIRE), W(1, X));
    BOTH("0-1", ATOM(RMW, 0, X, ACQUIRE), W(1, X));
    BOTH("0-1", W(0, X), ATOM(RMW, 1, X, ACQ_REL)); /* it is its own region that ends */
}

static void in_txn_accesses_happen_at_the_commit_and_end_with_it(void **state)
{
    (void)state;
    BOTH("2-3", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), W(1, X), BY(TXN_COMMIT, 0));
    BOTH("", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), BY(TXN_COMMIT, 0), W(1, X));
    BOTH("", BY(TXN_BEGIN, 0), TX(WRITE, 0, X), W(1, X)); /* never took effect */
    BOTH("0-5 1-5", W(1, X), W(1, Y), BY(TXN_BEGIN, 0), TX(WRITE, 0, X), TX(READ, 0, Y),
         BY(TXN_COMMIT, 0));
    BOTH("", BY(TXN_BEGIN, 0), BY(TXN_BEGIN, 1), TX(WRITE, 0, X), TX(WRITE, 1, X),
         BY(TXN_COMMIT, 0), BY(TXN_COMMIT, 1));
    /* a plain access inside a transaction happens at once */
    BOTH("1-2", BY(TXN_BEGIN, 0), W(0, X), W(1, X), BY(TXN_COMMIT, 0));
    /* a commit of accesses that the view does not check ends the region as well */
    BOTH("", W(0, X), BY(TXN_BEGIN, 0), FLAGGED(READ, 0, Y, EVF_IN_TXN | EVF_STACK),
         BY(TXN_COMMIT, 0), W(1, X));
}

static void both_sides_of_a_conflict_are_told(void **state)
{
    const struct event s[] = {BY(TXN_BEGIN, 0), TX(WRITE, 0, Y), TX(READ, 0, X), W(1, X),
                              BY(TXN_COMMIT, 0)};
    const struct region_options is = {false, 4, 0};
    struct region_oracle *o = region_oracle_new(s, ARRAY_SIZE(s), &is);
    const struct region_conflict *c;
    const struct region_location *l;

    (void)state;
    assert_int_equal(region_oracle_conflicts(o, &c), 1);
    assert_int_equal(c->event, 4);
    assert_int_equal(c->access, 2);
    assert_int_equal(c->kind, EV_READ);
    assert_int_equal(c->earlier, 3);
    assert_int_equal(c->earlier_access, 3);
    assert_int_equal(c->earlier_kind, EV_WRITE);
    assert_int_equal(c->location, X);
    assert_int_equal(region_oracle_locations(o, &l), 1);
    assert_int_equal(l->addr, X);
    assert_int_equal(l->event, 4);
    region_oracle_free(o);
}

/* ---- views ---------------------------------------------------------------------------------- */

static void what_the_view_does_not_heed_ends_nothing(void **state)
{
    const struct event s[] = {SYS(ACQUIRE, 0, L), W(0, X), SYS(RELEASE, 0, L), W(1, X)};
    const struct event c[] = {BY(TXN_BEGIN, 0), TX(WRITE, 0, X), SYS(TXN_COMMIT, 0, 0), W(1, X)};
    const struct event a[] = {
        W(0, X), FLAGGED(WRITE, 0, L, EVF_SYSTEM | ORDER_RELEASE << EVF_ORDER_SHIFT), W(1, X)};
    const struct event f[] = {W(0, X), SYS(FORK, 0, 0), W(1, X)};
    struct event fork[ARRAY_SIZE(f)];

    (void)state;
    memcpy(fork, f, sizeof f);
    fork[1].aux = 2;
    for (unsigned k = 0; k < 2; k++) {
        const struct region_options some = {k, 4, 0}, all = {k, 4, ORACLE_ALL_SYNC};
        check_region(s, ARRAY_SIZE(s), &some, "1-3");
        check_region(s, ARRAY_SIZE(s), &all, "");
        check_region(c, ARRAY_SIZE(c), &some, "2-3");
        check_region(c, ARRAY_SIZE(c), &all, "");
        check_region(a, ARRAY_SIZE(a), &some, "0-2");
        check_region(a, ARRAY_SIZE(a), &all, "");
        check_region(fork, ARRAY_SIZE(fork), &some, "0-2");
        check_region(fork, ARRAY_SIZE(fork), &all, "");
    }
}

static void an_end_that_is_not_heeded_leaves_it_to_the_join(void **state)
{
    const struct event s[] = {W(0, X), SYS(THREAD_END, 0, 0), W(1, X), NAMING(JOIN, 2, 0), W(1, X)};

    (void)state;
    check_region(s, ARRAY_SIZE(s), &(struct region_options){false, 4, 0}, "0-2");
    check_region(s, ARRAY_SIZE(s), &(struct region_options){false, 4, ORACLE_ALL_SYNC}, "");
}

static void the_view_says_which_accesses_count(void **state)
{
    const uint16_t flags[] = {EVF_SYSTEM, EVF_FINAL, EVF_VOLATILE, EVF_STACK};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        const struct event s[] = {FLAGGED(WRITE, 0, X, flags[i]), W(1, X)};
        check_region(s, 2, &(struct region_options){false, 4, 0}, "");
        check_region(s, 2, &(struct region_options){false, 4, ORACLE_ALL_MEMORY},
                     flags[i] == EVF_STACK ? "" : "0-1");
    }
}

static void without_thread_identity_regions_are_the_kernel_threads(void **state)
{
    (void)state;
    IN(ORACLE_NO_THREAD, 4, false, "", NAMING(THREAD, 0, 3), W(0, X), NAMING(THREAD, 1, 3),
       W(1, X));
    IN(ORACLE_NO_THREAD, 4, false, "1-3", NAMING(THREAD, 0, 3), W(0, X), NAMING(THREAD, 0, 4),
       W(0, X));
    /* T1's release ends what T0 did on the same kernel thread, not what it did elsewhere */
    IN(ORACLE_NO_THREAD, 4, false, "", NAMING(THREAD, 0, 3), W(0, X), NAMING(THREAD, 1, 3),
       ON(VOLATILE_WRITE, 1, L), W(2, X));
    IN(ORACLE_NO_THREAD, 4, false, "0-4", W(0, X), NAMING(THREAD, 0, 3), NAMING(THREAD, 1, 3),
       ON(VOLATILE_WRITE, 1, L), W(2, X));
    IN(ORACLE_NO_THREAD, 4, false, "", NAMING(THREAD, 0, 3), W(0, X), NAMING(THREAD, 1, 3),
       NAMING(JOIN, 2, 1), W(2, X));
}

/* ---- locations and their lives -------------------------------------------------------------- */

static void the_granule_says_what_one_location_is(void **state)
{
    (void)state;
    IN(0, 4, false, "", W(0, X), W(1, X + 4));
    IN(0, 8, false, "0-1", W(0, X), W(1, X + 4));
    IN(0, 4, false, "0-1 0-1", SIZED(WRITE, 0, X, 8), SIZED(WRITE, 1, X, 8));
    IN(0, 4, false, "0-1", SIZED(WRITE, 0, X + 3, 2), SIZED(WRITE, 1, X, 1));
    IN(0, 2, false, "", SIZED(WRITE, 0, X + 2, 2), SIZED(WRITE, 1, X, 2));
    IN(0, 0, false, "", SIZED(WRITE, 0, X, 8), SIZED(WRITE, 1, X + 4, 4));
    IN(0, 0, false, "0-1", SIZED(WRITE, 0, X, 8), SIZED(WRITE, 1, X, 1));
}

static void a_clear_ends_the_life(void **state)
{
    (void)state;
    BOTH("", W(0, X), CLEAR(0, X, 4), W(1, X));
    BOTH("0-2", W(0, X), CLEAR(0, X + 4, 4), W(1, X));
    BOTH("", W(0, X), CLEAR(2, X - 8, 64), W(1, X));
    BOTH("0-1 3-4", W(0, X), W(1, X), CLEAR(0, X, 4), W(1, X), W(0, X));
    IN(ORACLE_NO_CLEAR, 4, false, "0-2", W(0, X), CLEAR(0, X, 4), W(1, X));
}

static void a_copy_takes_the_accesses_along(void **state)
{
    (void)state;
    BOTH("0-2", W(0, X), COPY(2, Y, X, 4), W(1, Y));
    BOTH("0-2", R(0, X), COPY(2, Y, X, 4), W(1, Y));
    BOTH("", W(0, X), COPY(0, Y, X, 4), W(0, Y)); /* one's own */
    BOTH("0-2 0-3", W(0, X), COPY(2, Y, X, 4), W(1, X), W(1, Y));
    BOTH("", W(0, X), COPY(2, Y, X, 4), ON(VOLATILE_WRITE, 0, L), W(1, Y)); /* its region ended */
    BOTH("0-3", W(0, X), COPY(2, Y, X, 4), ON(VOLATILE_WRITE, 1, L), W(1, Y));
    BOTH("0-3", W(0, X), COPY(2, Y, X, 4), CLEAR(2, X, 4), W(1, Y));
    BOTH("0-3", W(0, X), COPY(2, X + 4, X, 8), CLEAR(2, X, 4), W(1, X + 4)); /* as memmove */
    IN(ORACLE_NO_COPY, 4, false, "", W(0, X), COPY(2, Y, X, 4), W(1, Y));
}

static void a_copy_ends_the_destinations_life(void **state)
{
    (void)state;
    BOTH("", W(0, X + 4), CLEAR(0, X + 4, 4), COPY(2, X + 4, Y, 4), W(1, X + 4));
    BOTH("1-3", W(0, X + 8), W(0, X + 4), COPY(2, X + 8, X + 4, 8), W(1, X + 8));
}

static void a_copy_of_a_location_that_had_a_conflict_is_no_new_one(void **state)
{
    const struct event s[] = {W(0, X),        W(1, X), COPY(2, Y, X, 4), W(1, Y),
                              CLEAR(2, X, 4), W(0, X), W(1, X)};
    struct region_oracle *o =
        region_oracle_new(s, ARRAY_SIZE(s), &(struct region_options){false, 4, 0});
    const struct region_location *l;

    (void)state;
    assert_int_equal(region_oracle_locations(o, &l), 2);
    assert_int_equal(l[0].addr, X);
    assert_int_equal(l[0].event, 1);
    assert_int_equal(l[1].addr, X);
    assert_int_equal(l[1].event, 6);
    region_oracle_free(o);
}

static void what_can_not_be_judged_is_refused(void **state)
{
    const struct event raw[] = {WRITEVC(0, 0, 2)}, heap[] = {CLEAR(0, X + 2, 4)};

    (void)state;
    assert_null(region_oracle_new(raw, 1, &(struct region_options){false, 4, ORACLE_NO_THREAD}));
    assert_null(region_oracle_new(heap, 1, &(struct region_options){false, 4, 0}));
}

static void nothing_has_no_conflict(void **state)
{
    struct region_oracle *o = region_oracle_new(NULL, 0, &(struct region_options){false, 4, 0});
    const struct region_conflict *c;
    const struct region_location *l;

    (void)state;
    assert_int_equal(region_oracle_conflicts(o, &c), 0);
    assert_int_equal(region_oracle_locations(o, &l), 0);
    region_oracle_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_conflicts_with_an_ongoing_regions),
        cmocka_unit_test(it_conflicts_with_each_access_however_old_or_overwritten),
        cmocka_unit_test(valor_figure_1),
        cmocka_unit_test(valor_figure_2),
        cmocka_unit_test(overlap_is_no_conflict),
        cmocka_unit_test(what_publishes_ends_both_kinds),
        cmocka_unit_test(what_takes_ends_the_synchronisation_free_only),
        cmocka_unit_test(so_do_the_second_halves_of_waits_and_barriers),
        cmocka_unit_test(nothing_else_ends_a_region),
        cmocka_unit_test(nested_monitors_are_counted_by_lock_and_mode),
        cmocka_unit_test(a_join_without_end_ends_the_childs_region),
        cmocka_unit_test(a_first_event_takes_what_the_fork_gave),
        cmocka_unit_test(atomics_conflict_only_with_plain_accesses),
        cmocka_unit_test(an_order_ends_the_region_on_its_side_of_the_access),
        cmocka_unit_test(in_txn_accesses_happen_at_the_commit_and_end_with_it),
        cmocka_unit_test(both_sides_of_a_conflict_are_told),
        cmocka_unit_test(what_the_view_does_not_heed_ends_nothing),
        cmocka_unit_test(an_end_that_is_not_heeded_leaves_it_to_the_join),
        cmocka_unit_test(the_view_says_which_accesses_count),
        cmocka_unit_test(without_thread_identity_regions_are_the_kernel_threads),
        cmocka_unit_test(the_granule_says_what_one_location_is),
        cmocka_unit_test(a_clear_ends_the_life),
        cmocka_unit_test(a_copy_takes_the_accesses_along),
        cmocka_unit_test(a_copy_ends_the_destinations_life),
        cmocka_unit_test(a_copy_of_a_location_that_had_a_conflict_is_no_new_one),
        cmocka_unit_test(what_can_not_be_judged_is_refused),
        cmocka_unit_test(nothing_has_no_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
