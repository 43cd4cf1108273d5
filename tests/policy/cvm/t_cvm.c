/* t_cvm.c - what does cvm do at each event: which intervals and notices there are, which accesses
 * call the routine, and what each step is charged. By hand, from docs/policies/cvm.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/frame/mutant_arg.h"
#include "tests/frame/policy_rig.h"

enum { X = 0x2000, Y = 0x2008, FAR_AWAY = 0x8000, L = 0x100, B = 0x200, SITE = 40 };

#define RW(k, t, a, more)                                                                          \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .aux = SITE, more                      \
    }
#define PRIVATE(t, a) RW(READ, t, a, .flags = EVF_PRIVATE)
#define ROUND(k, t)                                                                                \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = B, .aux = 1                                            \
    }

static void watched(struct watch *w, const char *const *settings, const struct event *ev, size_t n)
{
    watch_open(w, "cvm", 4, settings);
    watch_run(w, ev, n);
}
static const char *const as_it_is[] = {NULL};

#define STAT_IS(w, name, value) assert_int_equal(watch_stat(w, name), value)

/* ---- intervals and the comparison ------------------------------------------------------------ */

/* Figure 2 of the paper: x1, x2 on a page, y1, y2 on another. w(x1) of P1's first interval happens
 * before P2's second; y is false sharing, x1 a race. */
static void figure_2(void **state)
{
    enum { X1 = 0x2000, X2 = 0x2004, Y1 = 0x4000, Y2 = 0x4004 };
    struct watch w;

    (void)state;
    watched(&w, as_it_is,
            EVENTS(EV_ON(ACQUIRE, 1, L), EV_WRITE4(1, X1), EV_ON(RELEASE, 1, L), EV_READ4(1, X1),
                   EV_READ4(1, X2), EV_READ4(1, Y1), EV_WRITE4(2, Y2), EV_ON(ACQUIRE, 2, L),
                   EV_WRITE4(2, X1), EV_ON(RELEASE, 2, L), ROUND(BARRIER_ARRIVE, 1),
                   ROUND(BARRIER_ARRIVE, 2), ROUND(BARRIER_DEPART, 1), ROUND(BARRIER_DEPART, 2)));

    STAT_IS(&w, "intervals", 4);
    STAT_IS(&w, "notices.read", 2); /* x1 and x2 are one */
    STAT_IS(&w, "notices.write", 3);
    STAT_IS(&w, "listed", 2); /* y between the first, x between the second ones */
    STAT_IS(&w, "intervals-used", 3);
    STAT_IS(&w, "bitmaps-used", 4);
    STAT_IS(&w, "barriers", 1);
    STAT_IS(&w, "races.locations", 1);
    assert_int_equal(w.conflict[0].location, X1);
    assert_int_equal(w.conflict[0].event, 12);
    assert_true(w.race[0].is.region && w.race[0].earlier.region);
    assert_int_equal(w.race[0].is.event, 8); /* the first access of P2's second interval */
    assert_int_equal(w.race[0].earlier.event, 3);
    assert_int_equal(w.race[0].is.interval, 2); /* sigma_2^2 and sigma_1^2 */
    assert_int_equal(w.race[0].earlier.interval, 2);
    watch_close(&w);
}

static void an_inner_lock_begins_nothing(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, as_it_is,
            EVENTS(EV_ON(ACQUIRE, 1, L), EV_WRITE4(1, X), EV_ON(ACQUIRE, 1, L), EV_WRITE4(1, X),
                   EV_ON(RELEASE, 1, L), EV_WRITE4(1, X), EV_ON(RELEASE, 1, L), EV_WRITE4(1, X)));

    STAT_IS(&w, "intervals", 2);
    watch_close(&w);
}

static void full_buffers_stop_where_they_may_not_grow(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"intervals=2", "full=stop", NULL},
            EVENTS(EV_WRITE4(1, X), EV_ON(ACQUIRE, 1, L), EV_WRITE4(1, X), EV_ON(RELEASE, 1, L),
                   EV_WRITE4(1, X)));

    assert_int_equal(w.err.code, LARD_CONFIG);
    assert_non_null(strstr(w.err.text, "full=consolidate"));
    watch_close(&w);
}

static void a_thread_too_many_is_refused(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"processes=2", NULL},
            EVENTS(EV_WRITE4(1, X), EV_WRITE4(2, Y), EV_WRITE4(3, X)));

    assert_int_equal(w.err.code, LARD_CONFIG);
    assert_non_null(strstr(w.err.text, "raise processes"));
    watch_close(&w);
}

/* What all processes know of is forgotten: memory does not grow with epochs. */
static void memory_is_of_two_epochs(void **state)
{
    enum { EPOCHS = 200, PAGES = 10, PROCESSES = 5 };
    struct watch w;

    (void)state;
    watch_open(&w, "cvm", 4, (const char *[]){"processes=5", NULL});
    uint64_t peak = 0;
    for (uint64_t e = 0; e < EPOCHS; e++) {
        struct event ev[PROCESSES * (PAGES + 2)];
        size_t n = 0;
        for (unsigned p = 0; p < PAGES; p++)
            for (sim_tid t = 0; t < PROCESSES; t++)
                ev[n++] = (struct event)EV_WRITE4(t, ((e * PAGES + p) * PROCESSES + t) * 8192);
        for (sim_tid t = 0; t < PROCESSES; t++)
            ev[n++] = (struct event){.kind = EV_BARRIER_ARRIVE, .tid = t, .addr = B, .aux = e};
        for (sim_tid t = 0; t < PROCESSES; t++)
            ev[n++] = (struct event){.kind = EV_BARRIER_DEPART, .tid = t, .addr = B, .aux = e};
        for (const struct event *at = ev; at < ev + n;)
            at = checker_run(w.checker, at, ev + n, ev + n, &w.number);
        if (e == 10)
            peak = checker_memory(w.checker)->peak;
    }
    assert_true(checker_memory(w.checker)->peak <= peak);
    checker_finish(w.checker);
    watch_close(&w);
}

/* ---- sites (6.1) ---------------------------------------------------------------------------- */

#define AT_SITE(k, t, a, s)                                                                        \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .aux = (s)                             \
    }

/* Of each interval the first access of the kind to the word; and both intervals' indexes. */
static void at_once_the_first_access_is_named(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"sites=at-once", NULL},
            EVENTS(AT_SITE(WRITE, 1, Y, 11), EV_ON(ACQUIRE, 1, L), AT_SITE(READ, 1, X, 12),
                   AT_SITE(WRITE, 1, X, 13), AT_SITE(WRITE, 1, X, 14), AT_SITE(READ, 2, Y + 4, 21),
                   AT_SITE(READ, 2, X, 22), AT_SITE(READ, 2, X, 23)));

    assert_int_equal(w.races, 1);
    const struct race_side *is = &w.race[0].is, *earlier = &w.race[0].earlier;
    assert_int_equal(is->event, 6);
    assert_int_equal(is->site, 22);
    assert_int_equal(is->interval, 1);
    assert_int_equal(earlier->event, 3);
    assert_int_equal(earlier->site, 13);
    assert_int_equal(earlier->interval, 2);
    assert_false(is->region || earlier->region);
    STAT_IS(&w, "races.pairs", 1);
    watch_close(&w);
}

/* A site goes where its word's bit goes: with a copy, and to what is kept after a comparison. */
static void a_site_moves_with_its_word(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"sites=at-once", NULL},
            EVENTS(AT_SITE(WRITE, 1, X, 11), EV_MOVE(1, FAR_AWAY, X, 8),
                   AT_SITE(READ, 2, FAR_AWAY, 21)));

    assert_int_equal(w.races, 1);
    assert_int_equal(w.race[0].earlier.event, 0);
    assert_int_equal(w.race[0].earlier.site, 11);
    assert_int_equal(w.race[0].is.site, 21);
    watch_close(&w);
}

static void a_cleared_word_has_no_site(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"sites=at-once", NULL},
            EVENTS(AT_SITE(WRITE, 1, X, 11), EV_REGION(CLEAR, 1, X, 8), AT_SITE(WRITE, 1, X, 12),
                   AT_SITE(READ, 2, X, 21)));

    assert_int_equal(w.races, 1);
    assert_int_equal(w.race[0].earlier.event, 2);
    assert_int_equal(w.race[0].earlier.site, 12);
    watch_close(&w);
}

/* ---- first races (6.3) ---------------------------------------------------------------------- */

/* X races; then T1 gives to T2, which gives to nobody. Y has one side after that, Z both: T1's is
 * in its next interval, T2's after what it took. */
static void what_others_affect_is_not_told(void **state)
{
    enum { Z = 0x2010 };
    static const struct event both[] = {
        EV_WRITE4(1, X),      EV_WRITE4(2, X),      EV_WRITE4(3, Y),
        EV_ON(RELEASE, 1, L), EV_ON(ACQUIRE, 3, L), EV_ON(RELEASE, 3, L),
        EV_WRITE4(1, Y),      EV_WRITE4(3, Z),      EV_WRITE4(1, Z)};
    struct watch w;

    (void)state;
    watched(&w, as_it_is, both, ARRAY_SIZE(both));
    STAT_IS(&w, "races.locations", 3);
    watch_close(&w);
    watched(&w, (const char *[]){"report=first", NULL}, both, ARRAY_SIZE(both));
    STAT_IS(&w, "races.locations", 2);
    STAT_IS(&w, "affected", 1);
    for (size_t i = 0; i < w.conflicts; i++)
        assert_int_not_equal(w.conflict[i].location, Z);
    assert_false(checker_promise(w.checker).claims & CLAIM_SOUND);
    watch_close(&w);
}

/* Of one interval nobody knows which of its accesses came first. */
static void races_of_an_interval_do_not_affect_each_other(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"report=first", NULL},
            EVENTS(EV_WRITE4(1, X), EV_WRITE4(2, X), EV_WRITE4(1, Y), EV_WRITE4(2, Y)));

    STAT_IS(&w, "races.locations", 2);
    STAT_IS(&w, "affected", 0);
    watch_close(&w);
}

/* ---- diffs as the source of writes (4.5.4) --------------------------------------------------- */

enum { X1 = 0x2000, X2 = 0x2004 };

/* Figure 4: P1's access to x1 is ordered before P2's write of it. But P2 has a twin of the page
 * since its first interval, and the one diff says that this has written x1. */
static const struct event figure_4[] = {EV_WRITE4(2, X2),     EV_READ4(1, X1),
                                        EV_ON(RELEASE, 1, L), EV_ON(ACQUIRE, 2, L),
                                        EV_WRITE4(2, X1),     EV_ON(RELEASE, 2, L)};

static void figure_4_is_a_race_to_diffs(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, as_it_is, figure_4, ARRAY_SIZE(figure_4));
    STAT_IS(&w, "races.locations", 0);
    STAT_IS(&w, "notices.write", 2);
    watch_close(&w);
    watched(&w, (const char *[]){"writes=diffs", NULL}, figure_4, ARRAY_SIZE(figure_4));
    STAT_IS(&w, "races.locations", 1);
    assert_int_equal(w.conflict[0].location, X1);
    assert_int_equal(w.race[0].is.thread + w.race[0].earlier.thread, 1 + 2);
    STAT_IS(&w, "notices.write", 1); /* the twin stands: no other notice */
    STAT_IS(&w, "diffed", 2);
    assert_false(checker_promise(w.checker).claims & (CLAIM_SOUND | CLAIM_PRECISE));
    watch_close(&w);
}

/* P1 has written the page: its notice comes with the lock, and P2's twin goes. */
static void a_twin_goes_when_another_write_is_heard(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"writes=diffs", NULL},
            EVENTS(EV_WRITE4(2, X2), EV_WRITE4(1, X1), EV_ON(RELEASE, 1, L), EV_ON(ACQUIRE, 2, L),
                   EV_WRITE4(2, X1), EV_ON(RELEASE, 2, L)));

    STAT_IS(&w, "races.locations", 0);
    STAT_IS(&w, "notices.write", 3);
    watch_close(&w);
}

/* P3 has heard of P2's write, and asks for the diff. */
static void a_twin_goes_when_its_diff_is_asked_for(void **state)
{
    static const struct event asked[] = {
        EV_READ4(1, X1),          EV_WRITE4(2, X2), EV_ON(RELEASE, 2, L + 8),
        EV_ON(ACQUIRE, 3, L + 8), EV_READ4(3, X2),  EV_ON(RELEASE, 1, L),
        EV_ON(ACQUIRE, 2, L),     EV_WRITE4(2, X1), EV_ON(RELEASE, 2, L)};
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"writes=diffs", NULL}, asked, ARRAY_SIZE(asked));
    STAT_IS(&w, "races.locations", 0);
    STAT_IS(&w, "notices.write", 2);
    watch_close(&w);
}

/* A race that is missed: P3 has heard of P2's first interval, and reads x1 after P2 has written it
 * in the second, of which it has not heard. */
static void diffs_miss_races(void **state)
{
    static const struct event missed[] = {EV_WRITE4(2, X2), EV_ON(RELEASE, 2, L),
                                          EV_WRITE4(2, X1), EV_ON(ACQUIRE, 3, L),
                                          EV_READ4(3, X1),  EV_ON(RELEASE, 3, L)};
    struct watch w;

    (void)state;
    watched(&w, as_it_is, missed, ARRAY_SIZE(missed));
    STAT_IS(&w, "races.locations", 1);
    watch_close(&w);
    watched(&w, (const char *[]){"writes=diffs", NULL}, missed, ARRAY_SIZE(missed));
    STAT_IS(&w, "races.locations", 0);
    watch_close(&w);
}

/* ---- instrumentation (4.5) ------------------------------------------------------------------ */

static void private_data_are_looked_at_and_not_kept(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, as_it_is, EVENTS(PRIVATE(1, X), RW(WRITE, 2, X, )));

    STAT_IS(&w, "calls-private", 1);
    STAT_IS(&w, "intervals", 1);
    STAT_IS(&w, "races.locations", 0);
    watch_close(&w);
}

static void data_flow_spares_what_is_proved(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"data-flow=on", NULL},
            EVENTS(RW(READ, 1, X, .flags = EVF_PRIVATE | EVF_PROVED), PRIVATE(1, X)));

    STAT_IS(&w, "proved", 1);
    STAT_IS(&w, "calls", 1);
    watch_close(&w);
}

static void batching_has_three_methods(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"batching=on", NULL},
            EVENTS(EV_READ4(1, X), EV_READ4(1, X), EV_WRITE4(1, X), EV_READ4(1, X + 4),
                   EV_READ4(1, X + 8),
                   EV_READ4(1, X + 12), /* the fourth of a row calls for itself */
                   EV_ON(ACQUIRE, 1, L), EV_READ4(1, X))); /* another block */

    STAT_IS(&w, "batched.same", 1);
    STAT_IS(&w, "batched.mix", 1);
    STAT_IS(&w, "batched.next", 2);
    STAT_IS(&w, "calls", 6);
    watch_close(&w);
}

/* Static counts: a site is what its accesses need most. */
static void a_site_is_counted_once(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"batching=on", "data-flow=on", NULL},
            EVENTS(AT_SITE(READ, 1, X, 1), AT_SITE(READ, 1, X, 2), AT_SITE(WRITE, 1, X, 3),
                   AT_SITE(READ, 1, X + 4, 4), AT_SITE(READ, 1, X, 2), EV_ON(ACQUIRE, 1, L),
                   AT_SITE(READ, 1, X, 4), /* it calls for itself here */
                   RW(READ, 1, Y, .flags = EVF_PRIVATE | EVF_PROVED), PRIVATE(1, Y)));

    STAT_IS(&w, "sites.calls", 3);
    STAT_IS(&w, "sites.same", 1);
    STAT_IS(&w, "sites.mix", 1);
    STAT_IS(&w, "sites.next", 0);
    STAT_IS(&w, "sites.proved", 0);
    STAT_IS(&w, "sites.both", 0);
    watch_close(&w);
}

static void sites_of_both_kinds_of_data_are_counted(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"code-modification=on", NULL},
            EVENTS(PRIVATE(1, FAR_AWAY), EV_ON(ACQUIRE, 1, L), RW(WRITE, 1, X, ),
                   AT_SITE(READ, 1, Y, 3)));

    STAT_IS(&w, "sites.calls", 2);
    STAT_IS(&w, "sites.both", 1);
    watch_close(&w);
}

static void a_block_has_an_end(void **state)
{
    const struct event far_off = {.kind = EV_READ, .tid = 1, .addr = X, .size = 4, .gap = 8};
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"batching=on", "block=8", NULL}, EVENTS(EV_READ4(1, X), far_off));

    STAT_IS(&w, "batched.same", 0);
    watch_close(&w);
}

/* 4.5.3: not before the next synchronisation; and a site that then accesses shared data is missed.
 */
static void a_call_is_removed_and_may_be_missed(void **state)
{
    struct watch w;

    (void)state;
    watched(&w, (const char *[]){"code-modification=on", NULL},
            EVENTS(PRIVATE(1, FAR_AWAY), PRIVATE(1, FAR_AWAY), EV_ON(ACQUIRE, 1, L),
                   PRIVATE(1, FAR_AWAY), RW(WRITE, 1, X, ), EV_WRITE4(2, X)));

    STAT_IS(&w, "calls-private", 2);
    STAT_IS(&w, "removed", 1);
    STAT_IS(&w, "removed-calls", 2);
    STAT_IS(&w, "removed-unseen", 1);
    STAT_IS(&w, "races.locations", 0);
    assert_false(checker_promise(w.checker).claims & CLAIM_SOUND);
    watch_close(&w);
}

/* ---- costs ---------------------------------------------------------------------------------- */

static void rig(struct policy_rig *r, const char *const *settings)
{
    policy_rig_open(r, "cvm", settings, (struct rig_places){0});
}

static uint64_t steps(const struct policy_rig *r, const char *name)
{
    char *full = xasprintf("cost.steps.%s", name);
    const uint64_t n = policy_rig_stat(r, full);

    free(full);
    return n;
}

/* 4.2: 8 for the call, 30 in the routine, 10 of them for registers; 3 of the 30 are accesses. */
static void a_call_has_38_instructions(void **state)
{
    struct policy_rig r;

    (void)state;
    rig(&r, NULL);
    RUN(&r, RW(WRITE, 1, X, ));
    assert_int_equal(policy_rig_stat(&r, "cost.instructions"), 8 + 30);
    assert_int_equal(policy_rig_stat(&r, "cost.loads") + policy_rig_stat(&r, "cost.stores"), 3);
    RUN(&r, PRIVATE(1, FAR_AWAY)); /* it ends where the address is not shared */
    assert_int_equal(policy_rig_stat(&r, "cost.instructions"), 38 + 8 + 10 + 6);
    policy_rig_close(&r);
}

static void inlined_there_is_no_call(void **state)
{
    const char *const settings[] = {"policy.a.inlining=on", "policy.a.liveness=150", NULL};
    struct policy_rig r;

    (void)state;
    rig(&r, settings);
    RUN(&r, RW(WRITE, 1, X, ), RW(WRITE, 1, X, ));
    assert_int_equal(steps(&r, "call"), 0);
    assert_int_equal(steps(&r, "spill"), 11); /* 10 less 15 percent of 30: 5.5 each */
    policy_rig_close(&r);
}

/* A program counter for the first access of a kind to a word: 5 instructions and a store. */
static void a_site_is_stored_once(void **state)
{
    struct policy_rig r;

    (void)state;
    rig(&r, (const char *const[]){"policy.a.sites=at-once", NULL});
    RUN(&r, RW(WRITE, 1, X, ), RW(WRITE, 1, X, ), RW(READ, 1, X, ));
    assert_int_equal(steps(&r, "site"), 2);
    assert_int_equal(policy_rig_stat(&r, "cost.instructions"), 3 * 38 + 2 * (5 + 1));
    policy_rig_close(&r);
}

/* Two intervals of a page each: two notices and 256 bytes of bitmaps; one pair, its two notices
 * walked, one entry, one pair of bitmaps of 32 times 8 bytes (page / word / 8 = 256 bytes). */
static void a_barrier_is_the_masters_work(void **state)
{
    struct policy_rig r;

    (void)state;
    rig(&r, NULL);
    RUN(&r, RW(WRITE, 1, X, ), RW(WRITE, 2, X + 4, ), ROUND(BARRIER_ARRIVE, 1),
        ROUND(BARRIER_ARRIVE, 2), ROUND(BARRIER_DEPART, 1), ROUND(BARRIER_DEPART, 2));
    assert_int_equal(steps(&r, "interval"), 2);
    assert_int_equal(steps(&r, "notice"), 2);
    assert_int_equal(steps(&r, "keep"), 2 * 256 / 8);
    assert_int_equal(steps(&r, "compare"), 1);
    assert_int_equal(steps(&r, "overlap"), 2);
    assert_int_equal(steps(&r, "list"), 1);
    assert_int_equal(steps(&r, "words"), 256 / 8);
    policy_rig_close(&r);
}

/* Full buffers (6.2): the thread whose third interval finds no room does what a barrier's master
 * does, and the other one goes on when that is done. */
static void full_buffers_are_a_masters_work(void **state)
{
    static const struct event before[] = {RW(WRITE, 1, X, ), RW(WRITE, 2, X + 4, ),
                                          EV_ON(ACQUIRE, 1, L)};
    const struct event third = RW(WRITE, 1, X, ), next = EV_ON(ACQUIRE, 2, L + 8);
    struct policy_rig r;

    (void)state;
    rig(&r, (const char *const[]){"policy.a.intervals=2", NULL});
    policy_rig_run(&r, before, ARRAY_SIZE(before));
    assert_int_equal(steps(&r, "compare"), 0);
    const sim_cycle done = checker_step(r.checker, &third, 1, (struct mem_outcome){0}, 0);
    assert_int_equal(policy_rig_stat(&r, "consolidations"), 1);
    assert_int_equal(steps(&r, "compare"), 1);
    assert_int_equal(steps(&r, "overlap"), 2);
    assert_int_equal(steps(&r, "list"), 1);
    assert_int_equal(steps(&r, "words"), 256 / 8);
    const sim_cycle work = 10 + 2 * 6 + 12 + 32 * 6;
    assert_true(done >= work);
    assert_true(checker_step(r.checker, &next, 2, (struct mem_outcome){0}, 0) >= work);
    assert_true(checker_step(r.checker, &next, 2, (struct mem_outcome){0}, 0) < work);
    policy_rig_close(&r);
}

/* On a machine with pages in messages: who is told of notices, who is asked for bitmaps, and that
 * all wait for the master. */
static struct {
    uint64_t read, written, bytes[4];
    unsigned fetches, departures;
} seen;

static unsigned its_node(void *host, unsigned core)
{
    (void)host;
    return core;
}
static sim_cycle see_notices(void *host, unsigned core, uint64_t read, uint64_t written,
                             sim_cycle now)
{
    (void)host;
    (void)core;
    seen.read += read;
    seen.written += written;
    return now;
}
static sim_cycle see_fetch(void *host, unsigned core, const uint64_t *bytes, sim_cycle now)
{
    (void)host;
    (void)core;
    seen.fetches++;
    for (unsigned i = 0; i < 4; i++)
        seen.bytes[i] += bytes[i];
    return now + 1000;
}
static sim_cycle see_release(void *host, unsigned core, sim_cycle done)
{
    (void)host;
    (void)core;
    seen.departures++;
    return done + 50;
}

static void the_protocol_hears_of_it(void **state)
{
    static const struct policy_dsm dsm = {.nodes = 4,
                                          .page = 8192,
                                          .node = its_node,
                                          .notices = see_notices,
                                          .fetch = see_fetch,
                                          .released = see_release};
    static const struct event before[] = {RW(WRITE, 1, X, ),        RW(READ, 2, X + 4, ),
                                          RW(READ, 3, FAR_AWAY, ),  ROUND(BARRIER_ARRIVE, 1),
                                          ROUND(BARRIER_ARRIVE, 2), ROUND(BARRIER_ARRIVE, 3)};
    const struct event first = ROUND(BARRIER_DEPART, 1), second = ROUND(BARRIER_DEPART, 2);
    struct policy_rig r;

    (void)state;
    memset(&seen, 0, sizeof seen);
    rig(&r, NULL);
    r.m.machine.dsm = &dsm;
    policy_rig_run(&r, before, ARRAY_SIZE(before));
    assert_int_equal(seen.read, 2);
    assert_int_equal(seen.written, 1);
    const sim_cycle done = checker_step(r.checker, &first, 1, (struct mem_outcome){0}, 0);
    assert_int_equal(seen.fetches, 1);
    assert_int_equal(seen.bytes[1], 256); /* the page that is shared falsely: its writer's, */
    assert_int_equal(seen.bytes[2], 256); /* and its reader's bitmap */
    assert_int_equal(seen.bytes[3], 0);
    assert_true(done >= 1000);
    assert_int_equal(checker_step(r.checker, &second, 2, (struct mem_outcome){0}, 0), done + 50);
    assert_int_equal(seen.departures, 1);
    policy_rig_close(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2),
        cmocka_unit_test(an_inner_lock_begins_nothing),
        cmocka_unit_test(full_buffers_stop_where_they_may_not_grow),
        cmocka_unit_test(a_thread_too_many_is_refused),
        cmocka_unit_test(memory_is_of_two_epochs),
        cmocka_unit_test(at_once_the_first_access_is_named),
        cmocka_unit_test(a_site_moves_with_its_word),
        cmocka_unit_test(a_cleared_word_has_no_site),
        cmocka_unit_test(what_others_affect_is_not_told),
        cmocka_unit_test(races_of_an_interval_do_not_affect_each_other),
        cmocka_unit_test(figure_4_is_a_race_to_diffs),
        cmocka_unit_test(a_twin_goes_when_another_write_is_heard),
        cmocka_unit_test(a_twin_goes_when_its_diff_is_asked_for),
        cmocka_unit_test(diffs_miss_races),
        cmocka_unit_test(private_data_are_looked_at_and_not_kept),
        cmocka_unit_test(data_flow_spares_what_is_proved),
        cmocka_unit_test(batching_has_three_methods),
        cmocka_unit_test(a_site_is_counted_once),
        cmocka_unit_test(sites_of_both_kinds_of_data_are_counted),
        cmocka_unit_test(a_block_has_an_end),
        cmocka_unit_test(a_call_is_removed_and_may_be_missed),
        cmocka_unit_test(a_call_has_38_instructions),
        cmocka_unit_test(inlined_there_is_no_call),
        cmocka_unit_test(a_site_is_stored_once),
        cmocka_unit_test(a_barrier_is_the_masters_work),
        cmocka_unit_test(full_buffers_are_a_masters_work),
        cmocka_unit_test(the_protocol_hears_of_it),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
