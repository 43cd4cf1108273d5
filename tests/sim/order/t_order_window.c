/* t_order_window.c - the timed order's window: what is told of threads, who is woken when, limits,
 * streams that break the rules, and many events at once. */
#include "tests/sim/order/run.h"

#include "tests/frame/heap.h"
#include "tests/oracle/hand.h"

enum { B = 0x9200 };

/* ---- the window ----------------------------------------------------------------------------- */

static void add(struct order *o, struct event ev, uint64_t number)
{
    struct err e = {0};

    assert_int_equal(order_add(o, &ev, number, &e), 0);
}

static void assert_next(struct order *o, sim_tid tid, enum order_state state, uint64_t number)
{
    struct order_next next;

    order_peek(o, tid, &next);
    assert_int_equal(next.state, state);
    if (state == ORDER_READY)
        assert_int_equal(next.number, number);
}

static void a_window_is_full_and_says_what_it_knows(void **state)
{
    struct order *o = order_new(2, NULL, NULL);

    (void)state;
    assert_int_equal(order_threads(o), 0);
    assert_next(o, 5, ORDER_UNKNOWN, 0);
    add(o, (struct event)W(1, X), 10);
    assert_false(order_full(o));
    add(o, (struct event)W(0, X), 11);
    assert_true(order_full(o));
    assert_int_equal(order_threads(o), 2);
    assert_int_equal(order_oldest(o), 1);
    assert_next(o, 1, ORDER_READY, 10);
    order_take(o, 1);
    assert_int_equal(order_oldest(o), 0);
    assert_next(o, 1, ORDER_UNKNOWN, 0);
    add(o, (struct event)BY(THREAD_END, 1), 12);
    order_close(o);
    assert_next(o, 1, ORDER_READY, 12);
    order_take(o, 1);
    assert_next(o, 1, ORDER_OVER, 0);
    assert_next(o, 7, ORDER_OVER, 0);
    assert_int_equal(order_pending(o), 1);
    order_free(o);
}

static void a_thread_is_over_when_it_ended_or_was_joined(void **state)
{
    struct order *o = order_new(100, NULL, NULL);

    (void)state;
    add(o, (struct event)BY(THREAD_END, 0), 0);
    assert_next(o, 0, ORDER_READY, 0);
    order_take(o, 0);
    assert_next(o, 0, ORDER_OVER, 0);
    add(o, (struct event)NAMING(FORK, 1, 2), 1);
    assert_next(o, 2, ORDER_UNKNOWN, 0);
    add(o, (struct event)NAMING(JOIN, 1, 2), 2);
    assert_next(o, 2, ORDER_OVER, 0);
    add(o, (struct event)W(0, X), 3); /* which no rule allows */
    assert_next(o, 0, ORDER_READY, 3);
    order_take(o, 0);
    assert_next(o, 0, ORDER_UNKNOWN, 0);
    order_free(o);
}

static void who_waits_is_told_why_and_woken_once(void **state)
{
    struct order *o = order_new(100, NULL, NULL);
    struct order_next next;
    const sim_tid *woken;

    (void)state;
    add(o, (struct event)ON(ACQUIRE_SHARED, 0, L), 20);
    add(o, (struct event)ON(ACQUIRE_SHARED, 1, L), 21);
    add(o, (struct event)ON(RELEASE_SHARED, 0, L), 22);
    add(o, (struct event)ON(RELEASE_SHARED, 1, L), 23);
    add(o, (struct event)ON(ACQUIRE, 2, L), 24);
    order_peek(o, 2, &next);
    assert_int_equal(next.state, ORDER_BLOCKED);
    assert_int_equal(next.why, WAIT_LOCK);
    assert_int_equal(next.number, 24);
    assert_true(next.by_number >= 20 && next.by_number < 24);
    for (sim_tid tid = 0; tid < 2; tid++)
        for (int i = 0; i < 2; i++) {
            assert_next(o, tid, ORDER_READY, 20u + tid + 2u * (unsigned)i);
            order_take(o, tid);
            const bool last = tid == 1 && i == 1;
            assert_int_equal(order_woken(o, &woken), last);
            assert_next(o, 2, last ? ORDER_READY : ORDER_BLOCKED, 24);
        }
    assert_int_equal(woken[0], 2);
    order_take(o, 2);
    assert_int_equal(order_woken(o, &woken), 0);
    order_free(o);
}

static void the_oldest_event_may_always_run(void **state)
{
    struct stream s = {0};
    struct rng rng;

    (void)state;
    rng_seed(&rng, 1);
    for (int i = 0; i < 3000; i++) { /* whatever the rules say */
        static const uint8_t kinds[] = {
            EV_ACQUIRE,    EV_RELEASE,        EV_ACQUIRE_SHARED, EV_RELEASE_SHARED, EV_WAIT_ENTER,
            EV_WAIT_EXIT,  EV_BARRIER_ARRIVE, EV_BARRIER_DEPART, EV_FORK,           EV_JOIN,
            EV_THREAD_END, EV_VOLATILE_WRITE, EV_CLASS_INIT,     EV_TXN_COMMIT,     EV_THREAD,
            EV_WRITEVC,    EV_GC_END,         EV_CLEAR,          EV_ALLOC,          EV_COPY,
            EV_WRITE,      EV_WRITE};
        struct event ev[2] = {{.tid = (sim_tid)rng_below(&rng, 6)}};
        const unsigned form = ev_info[ev->kind = kinds[rng_below(&rng, ARRAY_SIZE(kinds))]].form;
        if (form != FORM_NONE && form != FORM_THREAD)
            ev->addr = 8 * rng_below(&rng, 4);
        ev->aux = form == FORM_NONE || form == FORM_OBJECT ? 0 : 1 + rng_below(&rng, 5);
        ev->size = form == FORM_ACCESS ? 1 + (uint32_t)rng_below(&rng, 16) : 0;
        ev->flags = ev->kind == EV_COPY                             ? EVF_MORE
                    : form == FORM_ACCESS && rng_chance(&rng, 1, 2) ? EVF_IN_TXN
                                                                    : 0;
        stream_add(&s, ev);
    }
    for (uint64_t window = 1; window < 2000; window = 3 * window) {
        struct scheduler *c = scheduler_new(&s, window, window);
        scheduler_feed(c);
        for (uint64_t i = 0; c->taken < s.events; i++) {
            struct order_next next;
            if (order_pending(c->o)) {
                const sim_tid oldest = order_oldest(c->o);
                assert_true(scheduler_may_run(c, oldest, &next));
                if (rng_chance(&rng, 1, 2))
                    scheduler_take(c, oldest, &next);
                else
                    assert_true(scheduler_step(c));
            }
            if (!order_pending(c->o) || rng_chance(&rng, 1, 4))
                scheduler_feed(c);
        }
        scheduler_free(c);
    }
    stream_drop(&s);
}

static void standing_still_is_told_with_names(void **state)
{
    struct order *o = order_new(10, NULL, NULL);
    struct names *names = names_new();
    struct err e = {0};

    (void)state;
    assert_int_equal(order_stuck(o, names, &e), -1);
    err_clear(&e);
    names_add(names, NAME_THREAD, 0, "worker", &e);
    names_add(names, NAME_OBJECT, L, "queue", &e);
    add(o, (struct event)ON(ACQUIRE, 0, L), 7);
    assert_int_equal(order_stuck(o, NULL, &e), -1);
    assert_null(strstr(e.text, "waits"));
    err_clear(&e);
    add(o, (struct event)ON(ACQUIRE, 1, L), 8);
    order_close(o);
    assert_int_equal(order_stuck(o, names, &e), -1);
    assert_int_equal(e.code, LARD_INTERNAL);
    assert_non_null(strstr(e.text, "event 7, acq of thread 0 (worker) at 0x9000 (queue), may run"));
    assert_non_null(strstr(e.text, "event 8, acq of thread 1 at 0x9000 (queue), waits for event 7 "
                                   "of thread 0 (lock)"));
    names_free(names);
    order_free(o);
}

static void too_much_memory_is_an_error(void **state)
{
    struct budget all = {.limit = 200000};
    struct order *o = order_new(1000000, NULL, &all);
    struct err e = {0};
    uint64_t n = 0;

    (void)state;
    while (!order_add(o, &(struct event)W(0, X), n, &e))
        n++;
    assert_in_range(n, 200000 / 60, 200000 / 32);
    assert_int_equal(e.code, LARD_LIMIT);
    assert_non_null(strstr(e.text, "schedule.window"));
    assert_true(order_bytes(o) > 200000);
    order_free(o);
}

/* Adds and runs one event after the other with 4 MiB for all: what is over is given back. */
static void leaves_nothing_behind(const char *what, size_t events, struct event (*draw)(size_t i))
{
    struct budget all = {.limit = 4 << 20};
    struct order *o = order_new(1000, NULL, &all);

    for (size_t i = 0; i < events; i++) {
        const struct event ev = draw(i);
        struct err e = {0};
        if (order_add(o, &ev, i, &e))
            fail_msg("of %zu %s that are over something is kept: %s", i, what, e.text);
        order_take(o, ev.tid);
    }
    order_free(o);
}

static struct event draw_lock(size_t i)
{
    return i % 2 ? (struct event)ON(RELEASE, 0, 16 * (i / 2))
                 : (struct event)ON(ACQUIRE, 0, 16 * (i / 2));
}

static struct event draw_lock_shared(size_t i)
{
    const sim_addr lock = 16 * (i / 2);

    return i % 2 ? (struct event)ON(RELEASE_SHARED, 0, lock)
                 : (struct event)ON(ACQUIRE_SHARED, 0, lock);
}

/* One holder is always there, so that the lock is never free. */
static struct event draw_shared(size_t i)
{
    const sim_tid tid = (sim_tid)(i / 2 % 3);

    if (i == 0)
        return (struct event)ON(ACQUIRE_SHARED, 9, L);
    return i % 2 ? (struct event)ON(ACQUIRE_SHARED, tid, L)
                 : (struct event)ON(RELEASE_SHARED, (sim_tid)((i - 1) / 2 % 3), L);
}

static void what_is_over_takes_no_memory(void **state)
{
    (void)state;
    leaves_nothing_behind("locks", 40000, draw_lock);
    leaves_nothing_behind("locks held shared", 40000, draw_lock_shared);
    leaves_nothing_behind("shared acquisitions", 600000, draw_shared);
}

/* Bytes with events on two kernel threads, the second of a larger number. */
static uint64_t bytes_of_kernels(uint64_t first, uint64_t second)
{
    struct order *o = order_new(1000, NULL, 0);

    add(o, (struct event)NAMING(THREAD, 0, first), 0);
    order_take(o, 0);
    add(o, (struct event)NAMING(THREAD, 0, second), 1);
    order_take(o, 0);
    const uint64_t bytes = order_bytes(o);
    order_free(o);
    return bytes;
}

static void what_has_grown_counts_once(void **state)
{
    (void)state;
    assert_int_equal(bytes_of_kernels(40000, 64000), bytes_of_kernels(1, 64000));
}

static void a_window_says_what_it_holds(void **state)
{
    enum { CLEARS = 100000, PAGE = 4096 };

    (void)state;
    if (!heap())
        skip();
    struct order *o = order_new(CLEARS, NULL, 0);
    const uint64_t was = heap(), said = order_bytes(o);
    for (uint64_t i = 0; i < CLEARS; i++)
        add(o, (struct event)CLEAR(0, PAGE * i, 8), i);
    const uint64_t holds = heap() - was, says = order_bytes(o) - said;
    if (says < holds / 100 * 80 || says > holds / 100 * 110)
        fail_msg("a window with %u clears holds %llu bytes and says %llu", (unsigned)CLEARS,
                 (unsigned long long)holds, (unsigned long long)says);
    order_free(o);
}

/* ---- many heap events, many accesses -------------------------------------------------------- */

static bool meet(const struct event *a, const struct event *b)
{
    const uint64_t n = event_is_access(a) ? a->size : a->aux,
                   m = event_is_access(b) ? b->size : b->aux;

    return a->addr < b->addr ? b->addr - a->addr < n : a->addr - b->addr < m;
}

static struct event draw_clear(struct rng *r, sim_tid tid)
{
    const uint64_t most = rng_chance(r, 1, 20) ? 200000 : rng_chance(r, 1, 2) ? 64 : 6000;

    return (struct event)CLEAR(tid, 0x100000 + rng_below(r, 4000000), 1 + rng_below(r, most));
}

static struct event draw_access(struct rng *r, sim_tid tid)
{
    const uint32_t most = rng_chance(r, 1, 500) ? 65536 : 16;
    struct event ev = W(tid, 0x100000 + rng_below(r, 4000000));

    ev.size = 1 + (uint32_t)rng_below(r, most);
    return ev;
}

enum { ACCESSES = 20000, CLEARS = 300 };

/* Thread 0 is far behind; each other thread clears once. */
static void a_clear_finds_the_last_access_among_many(void **state)
{
    struct order *o = order_new(1000000, NULL, NULL);
    struct event *past = xcalloc(ACCESSES, sizeof *past);
    size_t gone = 0, found = 0;
    struct rng r;

    (void)state;
    rng_seed(&r, 3);
    for (size_t i = 0; i < ACCESSES; i++)
        add(o, past[i] = draw_access(&r, 0), i);
    for (sim_tid tid = 1; tid <= CLEARS; tid++) {
        const struct event clear = draw_clear(&r, tid);
        struct order_next next;
        size_t last = ACCESSES;
        add(o, clear, ACCESSES + tid);
        for (; gone < tid * 40u; gone++)
            order_take(o, 0);
        while (last > gone && !meet(&past[last - 1], &clear))
            last--;
        order_peek(o, tid, &next);
        const bool waits = next.state == ORDER_BLOCKED && next.by == 0;
        assert_int_equal(waits, last > gone);
        if (waits)
            assert_int_equal(next.by_number, last - 1);
        found += waits;
    }
    assert_in_range(found, CLEARS / 10, CLEARS - CLEARS / 10);
    free(past);
    order_free(o);
}

/* Thread 0 has many clears to run; each other thread accesses memory once. */
static void an_access_waits_for_the_last_clear_among_many(void **state)
{
    struct order *o = order_new(1000000, NULL, NULL);
    struct event clear[CLEARS];
    size_t waits_for[CLEARS + 1] = {0}, found = 0; /* a clear + 1 */
    struct order_next next;
    const sim_tid *woken;
    struct rng r;

    (void)state;
    rng_seed(&r, 5);
    for (size_t i = 0; i < CLEARS; i++) {
        add(o, clear[i] = draw_clear(&r, 0), 2 * i);
        const sim_tid tid = (sim_tid)(i + 1);
        const struct event access = draw_access(&r, tid);
        add(o, access, 2 * i + 1);
        for (size_t k = 0; k <= i; k++)
            waits_for[tid] = meet(&clear[k], &access) ? k + 1 : waits_for[tid];
        order_peek(o, tid, &next);
        assert_int_equal(next.state == ORDER_BLOCKED, waits_for[tid] > 0);
        found += waits_for[tid] > 0;
        if (!waits_for[tid])
            order_take(o, tid); /* else later clears wait for it */
    }
    assert_in_range(found, CLEARS / 10, CLEARS - CLEARS / 10);
    for (size_t i = 0; i < CLEARS; i++) {
        order_peek(o, 0, &next);
        assert_int_equal(next.state, ORDER_READY);
        order_take(o, 0);
        const size_t n = order_woken(o, &woken);
        sim_tid now[CLEARS];
        for (size_t k = 0; k < n; k++)
            now[k] = woken[k];
        for (size_t k = 0; k < n; k++, found--) {
            assert_int_equal(waits_for[now[k]], i + 1);
            order_take(o, now[k]);
        }
    }
    assert_int_equal(found, 0);
    order_free(o);
}

/* ---- the worst cases ------------------------------------------------------------------------ */

static void run_all(const struct stream *s, uint64_t window)
{
    struct scheduler *c = scheduler_new(s, window, 1);
    size_t idle = 0;

    scheduler_feed(c);
    for (sim_tid tid = 0; c->taken < s->events; tid = (sim_tid)((tid + 1u) % order_threads(c->o))) {
        struct order_next next;
        idle++;
        while (!c->asleep[tid] && scheduler_may_run(c, tid, &next)) {
            scheduler_take(c, tid, &next);
            idle = 0;
        }
        if (c->added < s->events)
            scheduler_feed(c);
        assert_true(idle < 2 * order_threads(c->o) || c->added < s->events);
    }
    scheduler_free(c);
}

static void a_thousand_threads_meet_at_a_barrier(void **state)
{
    struct stream s = {0};

    (void)state;
    for (uint64_t round = 0; round < 20; round++)
        for (int departs = 0; departs < 2; departs++)
            for (unsigned i = 0; i < 1000; i++) {
                const sim_tid tid = (sim_tid)(round % 2 ? 999 - i : i);
                const struct event arrive = ROUND(ARRIVE, tid, B, round),
                                   depart = ROUND(DEPART, tid, B, round);
                stream_add(&s, departs ? &depart : &arrive);
            }
    run_all(&s, 100000);
    run_all(&s, 1000);
    stream_drop(&s);
}

static void a_hundred_thousand_clears_wait_for_a_slow_thread(void **state)
{
    struct stream s = {0};

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        const struct event slow = W(1, X + 64 * (i % 1000)),
                           clear = CLEAR(0, X + 64 * (i % 777), 64);
        stream_add(&s, &slow);
        stream_add(&s, &clear);
    }
    run_all(&s, 1000000);
    stream_drop(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_full_and_says_what_it_knows),
        cmocka_unit_test(a_thread_is_over_when_it_ended_or_was_joined),
        cmocka_unit_test(who_waits_is_told_why_and_woken_once),
        cmocka_unit_test(the_oldest_event_may_always_run),
        cmocka_unit_test(standing_still_is_told_with_names),
        cmocka_unit_test(too_much_memory_is_an_error),
        cmocka_unit_test(what_is_over_takes_no_memory),
        cmocka_unit_test(what_has_grown_counts_once),
        cmocka_unit_test(a_window_says_what_it_holds),
        cmocka_unit_test(a_clear_finds_the_last_access_among_many),
        cmocka_unit_test(an_access_waits_for_the_last_clear_among_many),
        cmocka_unit_test(a_thousand_threads_meet_at_a_barrier),
        cmocka_unit_test(a_hundred_thousand_clears_wait_for_a_slow_thread),
    };

    (void)check; /* of tests/oracle/hand.h: there are no verdicts here */
    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
