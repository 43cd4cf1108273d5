/* t_eraser.c - eraser is the published lockset discipline: each transition by hand, and random
 * traces against a definition that keeps every access of a variable and knows no states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "policy/eraser/lockset.h"
#include "tests/frame/watch.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x2000, L = 0x9000, M = 0x9100, SEEDS = 250 };

#define R(t, a)       EV_READ4(t, a)
#define W(t, a)       EV_WRITE4(t, a)
#define ACQ(t, a)     EV_ON(ACQUIRE, t, a)
#define REL(t, a)     EV_ON(RELEASE, t, a)
#define SHARE(t, a)   EV_ON(ACQUIRE_SHARED, t, a)
#define LEAVE(t, a)   EV_ON(RELEASE_SHARED, t, a)
#define CLEAR(a, n)   EV_REGION(CLEAR, 0, a, n)
#define MOVE(b, a, n) EV_MOVE(0, b, a, n)

/* ---- by hand -------------------------------------------------------------------------------- */

static void check(const char *want, const char *view, unsigned granule, const struct event *rec,
                  size_t records)
{
    char *setting = xasprintf("view=%s", view), text[200];
    struct watch w;

    watch_open(&w, "eraser", granule, (const char *const[]){setting, NULL});
    watch_run(&w, rec, records);
    assert_string_equal(watch_racy(&w, text, sizeof text), want);
    watch_close(&w);
    free(setting);
}
#define RACES_IN(view, granule, want, ...) check(want, view, granule, EVENTS(__VA_ARGS__))
#define RACES(want, ...)                   RACES_IN("tracked", 4, want, __VA_ARGS__)

static void one_thread_needs_no_lock(void **state)
{
    (void)state;
    RACES("", R(0, X), W(0, X), R(0, X), W(0, X));
    RACES("", W(0, X), W(1, Y), W(0, X), W(1, Y));
}

static void what_is_only_read_once_shared_needs_no_lock(void **state)
{
    (void)state;
    RACES("", W(0, X), R(1, X), R(2, X), R(0, X));
    RACES("", R(0, X), R(1, X));
}

static void a_write_by_another_thread_makes_it_shared_modified(void **state)
{
    (void)state;
    RACES("1", W(0, X), W(1, X));
    RACES("1", R(0, X), W(1, X));
    RACES("", W(0, X), ACQ(1, L), W(1, X));
}

static void a_write_by_any_thread_ends_shared(void **state)
{
    (void)state;
    RACES("2", W(0, X), R(1, X), W(0, X));
    RACES("2", W(0, X), R(1, X), W(1, X));
    RACES("2", W(0, X), R(1, X), W(2, X));
}

static void reads_are_checked_once_it_is_modified(void **state)
{
    (void)state;
    RACES("4", W(0, X), ACQ(1, L), W(1, X), REL(1, L), R(0, X));
    RACES("", W(0, X), ACQ(1, L), W(1, X), REL(1, L), ACQ(0, L), R(0, X));
}

static void the_first_threads_locks_do_not_count(void **state)
{
    (void)state;
    RACES("", ACQ(0, M), W(0, X), REL(0, M), ACQ(1, L), W(1, X), REL(1, L), ACQ(0, L), W(0, X));
}

static void candidates_are_the_locks_of_every_access(void **state)
{
    (void)state;
    RACES("7", W(0, X), ACQ(1, L), ACQ(1, M), W(1, X), REL(1, M), REL(1, L), ACQ(0, Y), W(0, X));
    RACES("", W(0, X), ACQ(1, L), ACQ(1, M), W(1, X), REL(1, L), REL(1, M), ACQ(0, M), W(0, X));
    RACES("10", W(0, X), ACQ(1, L), ACQ(1, M), W(1, X), REL(1, L), REL(1, M), ACQ(0, M), W(0, X),
          REL(0, M), ACQ(1, L), W(1, X));
}

static void shared_refines_and_says_nothing_before_the_write(void **state)
{
    (void)state;
    RACES("5", W(0, X), R(1, X), ACQ(2, L), R(2, X), W(2, Y), W(2, X));
    RACES("", W(0, X), ACQ(1, L), R(1, X), REL(1, L), ACQ(2, L), W(2, X));
}

static void a_write_counts_only_locks_held_exclusive(void **state)
{
    (void)state;
    RACES("2", W(0, X), SHARE(1, L), W(1, X));
    RACES("", W(0, X), SHARE(1, L), R(1, X), LEAVE(1, L), ACQ(2, L), W(2, X), REL(2, L),
          SHARE(1, L), R(1, X));
    RACES("5", W(0, X), ACQ(1, L), W(1, X), REL(1, L), SHARE(2, L), W(2, X));
    RACES("", W(0, X), SHARE(1, L), ACQ(1, L), LEAVE(1, L), W(1, X));
    RACES("4", W(0, X), SHARE(1, L), ACQ(1, L), REL(1, L), W(1, X));
}

static void a_variable_is_reported_once_in_its_life(void **state)
{
    (void)state;
    RACES("1", W(0, X), W(1, X), W(0, X), R(2, X));
    RACES("1 4", W(0, X), W(1, X), CLEAR(X, 4), W(0, X), W(1, X));
    RACES("1", W(0, X), W(1, X), MOVE(Y, X, 4), W(0, Y), W(2, Y));
}

static void nested_monitors_are_held_until_the_last_release(void **state)
{
    (void)state;
    RACES("", W(0, X), ACQ(1, L), ACQ(1, L), REL(1, L), W(1, X));
    RACES("5", W(0, X), ACQ(1, L), ACQ(1, L), REL(1, L), REL(1, L), W(1, X));
}

static void a_waiter_does_not_hold_the_lock(void **state)
{
    (void)state;
    RACES("3", W(0, X), ACQ(1, L), EV_ON(WAIT_ENTER, 1, L), W(1, X));
    RACES("", W(0, X), ACQ(1, L), EV_ON(WAIT_ENTER, 1, L), EV_ON(WAIT_EXIT, 1, L), W(1, X));
    RACES("", W(0, X), ACQ(1, L), ACQ(1, L), EV_ON(WAIT_ENTER, 1, L), EV_ON(WAIT_EXIT, 1, L),
          REL(1, L), W(1, X));
}

static void nothing_but_locks_protects(void **state)
{
    (void)state;
    RACES("2", W(0, X), EV_NAMING(FORK, 0, 1), W(1, X));
    RACES("3", EV_NAMING(FORK, 0, 1), W(1, X), EV_NAMING(JOIN, 0, 1), W(0, X));
    RACES("3", W(0, X), EV_ON(VOLATILE_WRITE, 0, L), EV_ON(VOLATILE_READ, 1, L), W(1, X));
    RACES("3", W(0, X), EV_ON(CLASS_INIT, 0, L), EV_ON(CLASS_USE, 1, L), W(1, X));
    RACES("1",
          {.kind = EV_WRITE,
           .tid = 0,
           .addr = X,
           .size = 4,
           .flags = ORDER_SEQ_CST << EVF_ORDER_SHIFT},
          {.kind = EV_RMW,
           .tid = 1,
           .addr = X,
           .size = 4,
           .flags = ORDER_SEQ_CST << EVF_ORDER_SHIFT});
}

static void a_releases_without_an_acquire_is_nothing(void **state)
{
    (void)state;
    RACES("", W(0, X), REL(1, L), ACQ(1, L), W(1, X));
}

static void clears_and_copies_move_the_state(void **state)
{
    (void)state;
    RACES("", W(0, X), CLEAR(X, 4), W(1, X));
    RACES_IN("no-clear", 4, "2", W(0, X), CLEAR(X, 4), W(1, X));
    RACES("2", W(0, X), MOVE(Y, X, 4), W(1, Y)); /* the owner */
    RACES("8", W(0, X), ACQ(1, L), W(1, X), REL(1, L), MOVE(Y, X, 4), ACQ(0, L), W(0, Y), REL(0, L),
          W(0, Y));                             /* the candidates */
    RACES("", W(0, Y), MOVE(Y, X, 4), W(1, Y)); /* nothing was there */
}

static void a_lock_keeps_its_identity_when_it_moves(void **state)
{
    (void)state;
    RACES("", W(0, X), ACQ(1, L), W(1, X), REL(1, L), MOVE(M, L, 8), CLEAR(L, 8), ACQ(0, M),
          W(0, X));
    RACES("", W(0, X), ACQ(1, L), MOVE(M, L, 8), CLEAR(L, 8), W(1, X), REL(1, M), ACQ(0, M),
          W(0, X));
    RACES("7", W(0, X), ACQ(1, L), MOVE(M, L, 8), CLEAR(L, 8), W(1, X), REL(1, M), ACQ(0, L),
          W(0, X)); /* another lock at the old place */
    RACES("6", W(0, X), ACQ(1, L), W(1, X), REL(1, L), CLEAR(L, 8), ACQ(0, L), W(0, X));
    RACES_IN("naive", 4, "", W(0, X), ACQ(1, L), W(1, X), REL(1, L), MOVE(M, L, 8), CLEAR(L, 8),
             ACQ(0, M), W(0, X));
}

static void a_lock_and_its_copy_are_one(void **state)
{
    (void)state;
    RACES("", W(0, X), ACQ(1, L), REL(1, L), MOVE(M, L, 8), ACQ(1, L), ACQ(1, M), REL(1, M),
          W(1, X));
    RACES("8", W(0, X), ACQ(1, L), REL(1, L), MOVE(M, L, 8), ACQ(1, L), ACQ(1, M), REL(1, M),
          REL(1, L), W(1, X));
}

static void with_no_thread_the_owner_is_the_kernel_thread(void **state)
{
    (void)state;
    RACES_IN("no-thread", 4, "", EV_NAMING(THREAD, 0, 7), EV_NAMING(THREAD, 1, 7), W(0, X),
             W(1, X));
    RACES_IN("tracked", 4, "3", EV_NAMING(THREAD, 0, 7), EV_NAMING(THREAD, 1, 7), W(0, X), W(1, X));
    RACES_IN("no-thread", 4, "2", W(0, X), EV_NAMING(THREAD, 0, 7), W(0, X));
    RACES_IN("no-thread", 4, "4", W(2, X), EV_NAMING(THREAD, 0, 7), EV_NAMING(THREAD, 1, 7),
             ACQ(0, L), W(1, X)); /* thread 1 does not hold thread 0's lock */
}

static void a_transaction_has_the_locks_of_its_commit(void **state)
{
    (void)state;
    RACES("", W(0, X), EV_ON(TXN_BEGIN, 1, 0), EV_IN_TXN(WRITE, 1, X), ACQ(1, L),
          EV_ON(TXN_COMMIT, 1, 0));
    RACES("5", W(0, X), ACQ(1, L), EV_ON(TXN_BEGIN, 1, 0), EV_IN_TXN(WRITE, 1, X), REL(1, L),
          EV_ON(TXN_COMMIT, 1, 0));
}

static void granules_have_states_of_their_own(void **state)
{
    (void)state;
    RACES("", W(0, X), W(1, X + 4));
    RACES_IN("tracked", 8, "1", W(0, X), W(1, X + 4));
    RACES("1", EV_SIZED(WRITE, 0, X, 8), EV_SIZED(WRITE, 1, X + 4, 8));
    RACES_IN("tracked", GRANULE_FIELD, "", EV_SIZED(WRITE, 0, X, 8), W(1, X + 4));
}

static void the_runtimes_locks_count_only_in_all_sync(void **state)
{
    const struct event s[] = {
        W(0, X), {.kind = EV_ACQUIRE, .tid = 1, .addr = L, .flags = EVF_SYSTEM}, W(1, X)};

    (void)state;
    check("2", "tracked", 4, s, ARRAY_SIZE(s));
    check("", "all-sync", 4, s, ARRAY_SIZE(s));
}

static void the_earlier_side_is_the_last_access_by_another_thread(void **state)
{
    const struct event s[] = {W(0, X), R(2, X), ACQ(1, L), W(1, X), W(1, X), REL(1, L), W(1, X)};
    struct watch w;

    (void)state;
    watch_open(&w, "eraser", 4, (const char *const[]){NULL});
    watch_run(&w, s, ARRAY_SIZE(s));
    assert_int_equal(w.races, 1);
    assert_int_equal(w.race[0].is.event, 3); /* the read had no lock */
    assert_true(w.race[0].earlier.known);
    assert_int_equal(w.race[0].earlier.event, 1);
    assert_int_equal(w.race[0].earlier.thread, 2);
    assert_int_equal(w.race[0].earlier.op, EV_READ);
    watch_close(&w);
}

static void states_and_sets_are_counted(void **state)
{
    const struct event s[] = {W(0, X),   R(1, X), ACQ(1, L), W(1, Y), REL(1, L),
                              ACQ(0, M), W(0, Y), R(2, X),   W(2, X)};
    struct watch w;

    (void)state;
    watch_open(&w, "eraser", 4, (const char *const[]){NULL});
    watch_run(&w, s, ARRAY_SIZE(s));
    assert_int_equal(watch_stat(&w, "shared"), 1);
    assert_int_equal(watch_stat(&w, "shared-modified"), 2);
    assert_int_equal(watch_stat(&w, "refinements"), 4);
    assert_int_equal(watch_stat(&w, "locksets"), 3);
    assert_int_equal(watch_stat(&w, "races.locations"), 1);
    watch_close(&w);
}

/* ---- sets of locks -------------------------------------------------------------------------- */

enum { LOCKS = 8 };
static const uint64_t lock_number[LOCKS] = {
    0, 1, 2, 7, 1u << 20, UINT64_MAX / 3, UINT64_MAX - 1, UINT64_MAX};

static lockset_id set_of(struct lockset_pool *p, struct rng *r, unsigned bits)
{
    const unsigned start = (unsigned)rng_below(r, LOCKS); /* the order of making is no matter */
    lockset_id set = LOCKSET_EMPTY;

    for (unsigned i = 0; i < LOCKS; i++)
        if (bits >> (start + i) % LOCKS & 1)
            set = lockset_with(p, set, lock_number[(start + i) % LOCKS]);
    return set;
}

static void equal_sets_have_equal_ids(void **state)
{
    struct budget budget = {0};
    struct lockset_pool *p = lockset_pool_new(&budget);
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    assert_int_equal(lockset_count(p), 1);
    for (unsigned i = 0; i < 20000; i++) {
        const unsigned a = (unsigned)rng_below(&r, 1 << LOCKS);
        const unsigned b = (unsigned)rng_below(&r, 1 << LOCKS);
        const unsigned bit = (unsigned)rng_below(&r, LOCKS);
        const lockset_id x = set_of(p, &r, a), y = set_of(p, &r, b);
        assert_int_equal(x == y, a == b);
        assert_int_equal(x == LOCKSET_EMPTY, a == 0);
        assert_int_equal(lockset_both(p, x, y), set_of(p, &r, a & b));
        assert_int_equal(lockset_both(p, y, x), lockset_both(p, x, y));
        assert_int_equal(lockset_without(p, x, lock_number[bit]), set_of(p, &r, a & ~(1u << bit)));
    }
    assert_int_equal(lockset_count(p), 1 << LOCKS);
    assert_true(budget.live > (LOCKS / 2) * sizeof(uint64_t) << LOCKS);
    lockset_pool_free(p);
    lockset_pool_free(NULL);
}

static void sets_grow_without_bound_only_into_the_budget(void **state)
{
    struct budget budget = {.limit = 1 << 20};
    struct lockset_pool *p = lockset_pool_new(&budget);
    lockset_id set = LOCKSET_EMPTY;
    uint64_t n = 0;

    (void)state;
    while (!budget_over(&budget) && n < 100000)
        set = lockset_with(p, set, n++);
    assert_in_range(n, 200, 600); /* their sizes add up: about n * n * 4 bytes */
    lockset_pool_free(p);
}

/* ---- the definition, by brute force --------------------------------------------------------- */

enum { IDENTITIES = 1024 };

struct locks {
    uint64_t bits[IDENTITIES / 64];
};
struct a_lock { /* where a lock is now */
    sim_addr addr;
    unsigned identity;
};
struct a_hold {
    sim_tid tid;
    unsigned identity, exclusive, shared;
    bool waiting;
};
struct an_access {
    uint64_t event;
    uint32_t actor;
    bool write;
    struct locks held; /* for a write, exclusive */
};
struct a_variable { /* in one life */
    sim_addr addr;
    struct an_access *access; /* owns; all of them */
    size_t n, cap;
    bool reported;
};
struct brute {
    const struct verdict_case *is;
    struct a_lock *lock;
    size_t locks, lock_cap;
    unsigned identities;
    struct a_hold *hold;
    size_t holds, hold_cap;
    struct a_variable *variable;
    size_t variables, variable_cap;
    struct event *txn; /* deferred accesses of all threads */
    size_t txns, txn_cap;
    uint32_t kernel[64]; /* by thread: its kernel thread + 1; 0: one of its own */
    uint64_t number;
    bool *racy;        /* by event */
    uint64_t *earlier; /* by event: the latest of the earlier sides */
    uint64_t locations;
};

static bool sees(const struct brute *b, const struct event *ev)
{
    if (b->is->view->bits & ORACLE_ALL_MEMORY)
        return !(ev->flags & EVF_STACK);
    return !(ev->flags & (EVF_SYSTEM | EVF_STACK | EVF_FINAL | EVF_VOLATILE));
}

static uint32_t actor_of(const struct brute *b, sim_tid tid)
{
    if (b->is->view->bits & ORACLE_NO_THREAD && b->kernel[tid])
        return 1000 + b->kernel[tid];
    return tid;
}

/* Section 2.2: the locks that were held at each access, once a second thread was there, if there
 * was a write among these. */
static bool undisciplined(const struct a_variable *v)
{
    struct locks common;
    uint64_t any = 0;
    bool write = false;
    size_t i = 0;

    memset(&common, 0xff, sizeof common);
    while (i < v->n && v->access[i].actor == v->access[0].actor)
        i++;
    if (i == v->n)
        return false;
    for (; i < v->n; i++) {
        write = write || v->access[i].write;
        for (size_t k = 0; k < ARRAY_SIZE(common.bits); k++)
            common.bits[k] &= v->access[i].held.bits[k];
    }
    for (size_t k = 0; k < ARRAY_SIZE(common.bits); k++)
        any |= common.bits[k];
    return write && !any;
}

static struct locks held_by(const struct brute *b, sim_tid tid, bool exclusive)
{
    struct locks held = {{0}};

    for (size_t i = 0; i < b->holds; i++) {
        const struct a_hold *h = &b->hold[i];
        if (h->tid == tid && !h->waiting && (h->exclusive || (h->shared && !exclusive)))
            held.bits[h->identity / 64] |= UINT64_C(1) << h->identity % 64;
    }
    return held;
}

static struct a_variable *variable_at(struct brute *b, sim_addr addr)
{
    for (size_t i = 0; i < b->variables; i++)
        if (b->variable[i].addr == addr)
            return &b->variable[i];
    b->variable = xgrow(b->variable, b->variables, &b->variable_cap, sizeof *b->variable);
    b->variable[b->variables] = (struct a_variable){.addr = addr};
    return &b->variable[b->variables++];
}

static void append(struct a_variable *v, const struct an_access *a)
{
    v->access = xgrow(v->access, v->n, &v->cap, sizeof *v->access);
    v->access[v->n++] = *a;
}

static void brute_variable(struct brute *b, sim_addr addr, const struct an_access *now)
{
    struct a_variable *v = variable_at(b, addr);
    uint64_t earlier = 0;

    append(v, now);
    if (v->reported || !undisciplined(v))
        return;
    v->reported = true;
    for (size_t i = 0; i < v->n; i++)
        if (v->access[i].actor != now->actor)
            earlier = v->access[i].event;
    b->earlier[b->number] = earlier > b->earlier[b->number] ? earlier : b->earlier[b->number];
    b->racy[b->number] = true;
    b->locations++;
}

static void brute_access(struct brute *b, const struct event *ev)
{
    const struct an_access now = {b->number, actor_of(b, ev->tid), event_writes(ev),
                                  held_by(b, ev->tid, event_writes(ev))};
    const unsigned g = b->is->granule;

    if (!sees(b, ev))
        return;
    if (!g)
        brute_variable(b, ev->addr, &now);
    for (sim_addr a = g ? ev->addr / g : 0; g && a <= (ev->addr + ev->size - 1) / g; a++)
        brute_variable(b, a * g, &now);
}

static void brute_commit(struct brute *b, sim_tid tid)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->txns; i++)
        if (b->txn[i].tid == tid)
            brute_access(b, &b->txn[i]);
        else
            b->txn[kept++] = b->txn[i];
    b->txns = kept;
}

static unsigned identity_at(struct brute *b, sim_addr addr)
{
    for (size_t i = 0; i < b->locks; i++)
        if (b->lock[i].addr == addr)
            return b->lock[i].identity;
    assert_true(b->identities < IDENTITIES);
    b->lock = xgrow(b->lock, b->locks, &b->lock_cap, sizeof *b->lock);
    b->lock[b->locks++] = (struct a_lock){addr, b->identities};
    return b->identities++;
}

static struct a_hold *hold_of(struct brute *b, sim_tid tid, unsigned identity)
{
    for (size_t i = 0; i < b->holds; i++)
        if (b->hold[i].tid == tid && b->hold[i].identity == identity)
            return &b->hold[i];
    b->hold = xgrow(b->hold, b->holds, &b->hold_cap, sizeof *b->hold);
    b->hold[b->holds] = (struct a_hold){.tid = tid, .identity = identity};
    return &b->hold[b->holds++];
}

static void brute_sync(struct brute *b, const struct event *ev)
{
    if (ev->kind == EV_THREAD)
        b->kernel[ev->tid] = (uint32_t)ev->aux + 1;
    if (ev->kind == EV_TXN_COMMIT)
        brute_commit(b, ev->tid);
    if (ev_info[ev->kind].object != OBJECT_LOCK ||
        (ev->flags & EVF_SYSTEM && !(b->is->view->bits & ORACLE_ALL_SYNC)))
        return;
    struct a_hold *h = hold_of(b, ev->tid, identity_at(b, ev->addr));
    h->exclusive += ev->kind == EV_ACQUIRE;
    h->shared += ev->kind == EV_ACQUIRE_SHARED;
    h->exclusive -= ev->kind == EV_RELEASE && h->exclusive;
    h->shared -= ev->kind == EV_RELEASE_SHARED && h->shared;
    if (ev->kind == EV_WAIT_ENTER || ev->kind == EV_WAIT_EXIT)
        h->waiting = ev->kind == EV_WAIT_ENTER && (h->exclusive || h->shared);
    else if (!h->exclusive && !h->shared)
        h->waiting = false;
}

static bool inside(sim_addr a, sim_addr from, uint64_t bytes)
{
    return a >= from && a - from < bytes;
}

static void end_variables(struct brute *b, sim_addr from, uint64_t bytes)
{
    for (size_t i = 0; i < b->variables; i++)
        if (inside(b->variable[i].addr, from, bytes))
            b->variable[i].n = b->variable[i].reported = 0;
}

static void copy_variables(struct brute *b, sim_addr to, sim_addr from, uint64_t bytes)
{
    const size_t n = b->variables;
    struct a_variable *was = xcalloc(n + 1, sizeof *was);

    for (size_t i = 0; i < n; i++) {
        was[i] =
            (struct a_variable){.addr = b->variable[i].addr, .reported = b->variable[i].reported};
        for (size_t k = 0; k < b->variable[i].n; k++)
            append(&was[i], &b->variable[i].access[k]);
    }
    end_variables(b, to, bytes);
    for (size_t i = 0; i < n; i++) {
        if (inside(was[i].addr, from, bytes)) {
            struct a_variable *v = variable_at(b, was[i].addr - from + to);
            for (size_t k = 0; k < was[i].n; k++)
                append(v, &was[i].access[k]);
            v->reported = was[i].reported;
        }
        free(was[i].access);
    }
    free(was);
}

static void end_locks(struct brute *b, sim_addr from, uint64_t bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->locks; i++)
        if (!inside(b->lock[i].addr, from, bytes))
            b->lock[kept++] = b->lock[i];
    b->locks = kept;
}

static void copy_locks(struct brute *b, sim_addr to, sim_addr from, uint64_t bytes)
{
    const size_t n = b->locks;
    struct a_lock *was = xcalloc(n + 1, sizeof *was);

    for (size_t i = 0; i < n; i++)
        was[i] = b->lock[i];
    end_locks(b, to, bytes);
    for (size_t i = 0; i < n; i++)
        if (inside(was[i].addr, from, bytes)) {
            b->lock = xgrow(b->lock, b->locks, &b->lock_cap, sizeof *b->lock);
            b->lock[b->locks++] = (struct a_lock){was[i].addr - from + to, was[i].identity};
        }
    free(was);
}

static void brute_step(struct brute *b, const struct event *ev)
{
    const unsigned view = b->is->view->bits;

    if (event_is_access(ev) && ev->flags & EVF_IN_TXN) {
        b->txn = xgrow(b->txn, b->txns, &b->txn_cap, sizeof *b->txn);
        b->txn[b->txns++] = *ev;
    } else if (event_is_access(ev)) {
        brute_access(b, ev);
    } else if (ev->kind == EV_CLEAR) {
        end_locks(b, ev->addr, ev->aux);
        if (!(view & ORACLE_NO_CLEAR))
            end_variables(b, ev->addr, ev->aux);
    } else if (ev->kind == EV_COPY) {
        copy_locks(b, ev->addr, ev[1].addr, ev->aux);
        if (!(view & ORACLE_NO_COPY))
            copy_variables(b, ev->addr, ev[1].addr, ev->aux);
    } else {
        brute_sync(b, ev);
    }
}

static void brute_run(struct brute *b, const struct stream *s, const struct verdict_case *c)
{
    *b = (struct brute){.is = c};
    b->racy = xcalloc(s->events + 1, sizeof *b->racy);
    b->earlier = xcalloc(s->events + 1, sizeof *b->earlier);
    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i])) {
        brute_step(b, &s->rec[i]);
        b->number++;
    }
}

static void brute_free(struct brute *b)
{
    for (size_t i = 0; i < b->variables; i++)
        free(b->variable[i].access);
    free(b->variable);
    free(b->lock);
    free(b->hold);
    free(b->txn);
    free(b->racy);
    free(b->earlier);
}

/* ---- random traces -------------------------------------------------------------------------- */

static void same_verdicts(const struct stream *s, const struct verdict_case *c, uint64_t *races)
{
    char *view = xasprintf("view=%s", c->view->name);
    struct brute b;
    struct watch w;
    size_t k = 0;

    watch_open(&w, c->policy, c->granule, (const char *const[]){view, NULL});
    watch_run(&w, s->rec, s->records);
    assert_int_equal(w.err.code, 0);
    brute_run(&b, s, c);
    for (size_t e = 0; e < s->events; e++) {
        const bool says = k < w.races && w.race[k].is.event == e;
        if (says != b.racy[e] || (says && w.race[k].earlier.event != b.earlier[e])) {
            stream_print(s, NULL, stderr);
            fail_msg("%s, granularity %u, event %zu: the definition says %d, after %llu", view,
                     c->granule, e, b.racy[e], (unsigned long long)b.earlier[e]);
        }
        k += says;
    }
    assert_int_equal(k, w.races);
    assert_int_equal(watch_stat(&w, "races.locations"), b.locations);
    *races += k;
    watch_close(&w);
    brute_free(&b);
    free(view);
}

/* Some events get lost, as in a trace whose rules nobody checks. */
static void lose_events(struct rng *r, struct stream *s)
{
    struct stream less = {NULL, 0, 0, 0};
    const uint64_t part = rng_below(r, 40);

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        if (!rng_chance(r, part, 400))
            stream_add(&less, &s->rec[i]);
    stream_free(s);
    *s = less;
}

static void verdicts_are_those_of_the_definition(void **state)
{
    static const unsigned granule[] = {GRANULE_FIELD, 1, 2, 4, 8};
    uint64_t races = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stream s = {NULL, 0, 0, 0};
        struct rng r;
        rng_seed(&r, seed);
        watch_synth(&r, &s, "");
        if (rng_below(&r, 3) == 0)
            lose_events(&r, &s);
        for (const struct verdict_view *v = verdict_view; v->name; v++) {
            const struct verdict_case c = {.policy = "eraser", .view = v, .granule = granule[rng_below(&r, 5)]};
            same_verdicts(&s, &c, &races);
        }
        stream_free(&s);
    }
    assert_true(races > SEEDS * 7);
}

static void an_array_of_locks_held_at_once_meets_the_limit(void **state)
{
    (void)state;
    struct watch w;
    struct event ev = ACQ(0, 0);
    uint64_t n = 0;

    watch_open(&w, "eraser", 4, (const char *const[]){NULL});
    for (; checker_memory(w.checker)->peak < 1 << 22 && n < 100000; n++) {
        ev.addr = L + 16 * n;
        checker_step(w.checker, &ev, 0, (struct mem_outcome){0}, 0);
    }
    assert_true(n < 2000);
    watch_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_needs_no_lock),
        cmocka_unit_test(what_is_only_read_once_shared_needs_no_lock),
        cmocka_unit_test(a_write_by_another_thread_makes_it_shared_modified),
        cmocka_unit_test(a_write_by_any_thread_ends_shared),
        cmocka_unit_test(reads_are_checked_once_it_is_modified),
        cmocka_unit_test(the_first_threads_locks_do_not_count),
        cmocka_unit_test(candidates_are_the_locks_of_every_access),
        cmocka_unit_test(shared_refines_and_says_nothing_before_the_write),
        cmocka_unit_test(a_write_counts_only_locks_held_exclusive),
        cmocka_unit_test(a_variable_is_reported_once_in_its_life),
        cmocka_unit_test(nested_monitors_are_held_until_the_last_release),
        cmocka_unit_test(a_waiter_does_not_hold_the_lock),
        cmocka_unit_test(nothing_but_locks_protects),
        cmocka_unit_test(a_releases_without_an_acquire_is_nothing),
        cmocka_unit_test(clears_and_copies_move_the_state),
        cmocka_unit_test(a_lock_keeps_its_identity_when_it_moves),
        cmocka_unit_test(a_lock_and_its_copy_are_one),
        cmocka_unit_test(with_no_thread_the_owner_is_the_kernel_thread),
        cmocka_unit_test(a_transaction_has_the_locks_of_its_commit),
        cmocka_unit_test(granules_have_states_of_their_own),
        cmocka_unit_test(the_runtimes_locks_count_only_in_all_sync),
        cmocka_unit_test(the_earlier_side_is_the_last_access_by_another_thread),
        cmocka_unit_test(states_and_sets_are_counted),
        cmocka_unit_test(equal_sets_have_equal_ids),
        cmocka_unit_test(sets_grow_without_bound_only_into_the_budget),
        cmocka_unit_test(verdicts_are_those_of_the_definition),
        cmocka_unit_test(an_array_of_locks_held_at_once_meets_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
