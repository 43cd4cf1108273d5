/* t_runtime_random.c - the modelled runtime on random traces: the WriteVC that it issues keep the
 * detector's clocks equal to happens-before after each event, each changed entry by one; no change
 * is written late where every step is seen; simulated memory is never handed out twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/runtime/rig.h"

#include <cmocka.h>

enum { SEEDS = 60 };

static struct source *drawn(const char *more, uint64_t seed)
{
    char *text =
        xasprintf("seed=%llu,events=1500,names=off,marks=off,%s", (unsigned long long)seed, more);
    struct synth_params p;
    struct err e = {0};

    if (synth_parse(&p, text, &e))
        die("%s", e.text);
    struct source *source = synth_open(&p, &e);
    if (!source)
        die("%s", e.text);
    free(text);
    return source;
}

static uint64_t differences(const struct vclock *a, const struct vclock *b)
{
    const uint32_t n = a->n > b->n ? a->n : b->n;
    uint64_t differ = 0;

    for (uint32_t i = 0; i < n; i++)
        differ += vclock_get(a, i) != vclock_get(b, i);
    return differ;
}

/* Steps, and counts that each entry that changed was written once. (A child's first event has two
 * operations: its start, then itself.) */
/* After an end there is no clock to be equal to; the detector forgets the thread. Before its first
 * event that is heeded, a thread's birth clock is not told; with no-thread, that of another one on
 * the same kernel thread. */
static void same_clock(struct rig *g, const struct event *ev)
{
    const struct vclock *is = rig_detector(g, ev->tid), *must = hb_clock(g->hb, ev->tid);

    if (ev->kind == EV_THREAD_END && !must->n) {
        rig_forget_thread(g, ev->tid);
        return;
    }
    if (runtime_pending(g->runtime, ev->tid) ||
        (g->hb->by_kernel && (ev_info[ev->kind].class != CLASS_SYNC || ev->flags & EVF_SYSTEM)))
        return;
    if (differences(is, must))
        fail_msg("after %s of thread %u the detector's clock is not that of happens-before",
                 ev_info[ev->kind].text, ev->tid);
}

static void step_once(struct rig *g, const struct event *ev)
{
    const uint64_t *writes = &g->runtime->st.lardx86[LX_WRITEVC], had = *writes;
    hb_enter(g->hb, ev); /* so that it has an actor; a second time it has no effect */
    const bool starts = runtime_pending(g->runtime, ev->tid);
    struct vclock before = {0};

    vclock_copy(&before, rig_detector(g, ev->tid), NULL);
    rig_step(g, ev);
    const uint64_t differ = differences(&before, rig_detector(g, ev->tid));
    assert_true(starts ? *writes - had >= differ : *writes - had == differ);
    vclock_free(&before, NULL);
}

static bool same_blocks(const struct rt_clock *a, struct paddr at)
{
    return a->at.at && paddr_same(a->at, at);
}

/* No two live clocks share a block, and none is on a free list. */
static void blocks_are_apart(const struct rig *g)
{
    const struct runtime *r = g->runtime;

    for (size_t i = 0; i < r->actors; i++)
        for (size_t k = 0; k < r->actors; k++)
            assert_false(i != k && same_blocks(&r->actor[i], r->actor[k].at));
    for (size_t c = 0; c < r->cores; c++)
        for (unsigned s = 0; s < RT_SIZES; s++)
            for (size_t k = 0; k < r->core[c].list[s].n; k++)
                for (size_t i = 0; i < r->actors; i++)
                    assert_false(same_blocks(&r->actor[i], r->core[c].list[s].at[k]));
}

static void counts_agree(const struct rig *g)
{
    const struct rt_stats *st = &g->runtime->st;
    uint64_t acts = 0;

    for (unsigned i = 0; i < LX_OPS; i++)
        acts += st->lardx86[i];
    assert_int_equal(acts, g->acts);
    assert_int_equal(st->instructions, g->instructions);
    assert_int_equal(st->loads, g->loads);
    assert_int_equal(st->stores, g->stores);
    assert_int_equal(st->atomics, g->atomics);
    assert_int_equal(st->bytes, g->bytes);
    assert_true(st->live <= st->live_peak && st->live_bytes <= st->live_bytes_peak);
    assert_true(st->live_bytes + st->garbage_bytes <= st->heap);
}

/* Returns the changes that were late. */
static uint64_t replayed(const char *what, uint64_t seed, uint64_t garbage, unsigned view)
{
    struct source *s = drawn(what, seed);
    struct err e = {0};
    struct rig g;

    rig_open_with(&g,
                  (struct runtime_params){
                      .base = RIG_BASE, .page = 4096, .garbage = garbage, .instructions = true},
                  true, view);
    for (struct batch b; !source_next(s, &b, &e) && b.records;)
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev)) {
            rig_forget(&g);
            g.core = ev->tid % 3;
            step_once(&g, ev);
            same_clock(&g, ev);
        }
    assert_int_equal(e.code, 0);
    blocks_are_apart(&g);
    counts_agree(&g);
    const uint64_t late = g.runtime->st.late;
    rig_close(&g);
    source_close(s);
    return late;
}

#define EVERYTHING                                                                                 \
    "sync_share=600,read_share=600,sharing=800,variables=40,locks=4,barriers=2,volatiles=3,"       \
    "atomics=3,classes=2,rw_share=400,nested_share=300,wait_share=100,txn_share=100"

static void every_step_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        assert_int_equal(replayed("threads=5,fork=tree,ends=on," EVERYTHING, seed, 0, 0), 0);
        assert_int_equal(replayed("threads=6,fork=roots," EVERYTHING, seed, 512, 0), 0);
    }
}

/* More than a line of entries, so that clocks grow and move. */
static void many_threads_are_told_as_well(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++)
        assert_int_equal(
            replayed("threads=40,fork=flat,ends=on,discipline=900," EVERYTHING, seed, 4096, 0), 0);
}

static void heaps_and_collections_change_nothing_of_that(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        (void)replayed("threads=5,fork=tree,ends=on,heap_share=200,gc_share=100," EVERYTHING, seed,
                       0, 0);
}

/* A join of a thread that did not end makes its clock go up without an event of it. */
static void a_join_without_an_end_is_told_all_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        (void)replayed("threads=5,fork=tree,ends=off,end_share=500," EVERYTHING, seed, 0, 0);
}

/* Several threads have one clock, which outlives them. */
static void kernel_threads_are_told_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        (void)replayed("threads=8,kernel_threads=3,fork=tree,ends=on," EVERYTHING, seed, 0,
                       VIEW_NO_THREAD);
        assert_int_equal(
            replayed("threads=6,kernel_threads=3,fork=tree,ends=on," EVERYTHING, seed, 0, 0), 0);
    }
}

static void raw_clocks_pass_through(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        assert_int_equal(replayed("threads=5,raw=on,sync_share=600,locks=4,volatiles=0,barriers=0,"
                                  "classes=0,atomics=0,wait_share=0,txn_share=0",
                                  seed, 0, 0),
                         0);
}

/* Where a view ignores what brought a change, the next event of the thread writes it. */
static void what_was_not_seen_is_late(void **state)
{
    const struct event hidden = {.kind = EV_RMW,
                                 .tid = 0,
                                 .addr = 0x3000,
                                 .size = 8,
                                 .flags = ORDER_SEQ_CST << EVF_ORDER_SHIFT};
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_step_on(&g, EV_NOTIFY, 0, 0x1000);
    hb_atomic_before(g.hb, &hidden);
    hb_atomic_after(g.hb, &hidden);
    rig_forget(&g);
    rig_step_on(&g, EV_NOTIFY, 0, 0x1000);
    rig_says(&g, "report, writevc 0 = 2, 2 in all");
    assert_int_equal(g.runtime->st.late, 1);
    rig_close(&g);
}

/* A replaced clock is not used again before so much garbage has come together. */
static void garbage_waits(void **state)
{
    const uint64_t limits[] = {0, 64 * 10, UINT64_C(1) << 30}, heaps[] = {1, 1, 4};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        struct rig g;
        rig_open_with(&g,
                      (struct runtime_params){.base = RIG_BASE, .page = 4096, .garbage = limits[i]},
                      true, 0);
        for (unsigned n = 0; n < 200; n++) {
            rig_step_on(&g, EV_VOLATILE_WRITE, 0, 0x3000);
            rig_forget(&g);
        }
        /* 201 clocks of 64 bytes, 2 live: 4 pages when none is used again. */
        assert_int_equal(g.runtime->st.heap, heaps[i] * RT_PAGE);
        assert_int_equal(g.runtime->st.live, 2);
        assert_true(g.runtime->st.garbage_bytes <= limits[i]);
        rig_close(&g);
    }
}

/* ---- without a machine ---------------------------------------------------------------------- */

#define COLLECTED "threads=20,fork=tree,ends=on,heap_share=200,gc_share=200," EVERYTHING

struct counts {
    struct rt_stats st;
    uint64_t looked_at;
};

/* What a run counts; on a machine, or where nobody is charged. */
static struct counts counted(const char *what, uint64_t seed, bool machine)
{
    struct source *s = drawn(what, seed);
    struct err e = {0};
    struct rig g;

    rig_open_with(&g,
                  (struct runtime_params){
                      .base = RIG_BASE, .page = 4096, .garbage = 512, .instructions = true},
                  false, 0);
    if (!machine)
        g.runtime->env.mem = NULL;
    for (struct batch b; !source_next(s, &b, &e) && b.records;)
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev)) {
            rig_forget(&g);
            rig_step(&g, ev);
        }
    assert_int_equal(e.code, 0);
    const struct counts c = {g.runtime->st, g.runtime->looked_at};
    rig_close(&g);
    source_close(s);
    return c;
}

/* On a machine each access is made by itself; else they are added up, and must come to the same. */
static void what_is_counted_does_not_depend_on_a_machine(void **state)
{
    uint64_t traced = 0, copied = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
        const struct counts a = counted(COLLECTED, seed, true), b = counted(COLLECTED, seed, false);
        if (memcmp(&a.st, &b.st, sizeof a.st) != 0)
            fail_msg("seed %llu: other statistics without a machine", (unsigned long long)seed);
        assert_int_equal(a.looked_at, a.st.steps[RT_STEP_TRACE]);
        traced += a.st.steps[RT_STEP_TRACE];
        copied += a.st.steps[RT_STEP_COPY_LINE];
    }
    assert_true(traced > 1000 && copied > 1000);
}

/* The more locks, the more clocks each collection traces, so their product grows with the square of
 * the events. Where that is only counted, no clock is looked at for it. */
static void a_collection_that_is_only_counted_looks_at_no_clock(void **state)
{
    const char *shape = "threads=16,variables=100000,events=%d";
    enum { EVENTS = 20000 };

    (void)state;
    for (int times = 1; times <= 4; times *= 2) {
        char *what = xasprintf(shape, times * EVENTS);
        const struct counts c = counted(what, 1, false);
        free(what);
        assert_true(c.st.steps[RT_STEP_TRACE] > 100);
        if (c.looked_at)
            fail_msg("%d events: collections looked at %llu clocks", times * EVENTS,
                     (unsigned long long)c.looked_at);
    }
}

/* 2^60 bytes are not 2^48 instructions. */
static void an_absurd_region_is_cut_into_larger_pages(void **state)
{
    const struct event clear = {.kind = EV_CLEAR, .addr = 0x1000, .aux = UINT64_C(1) << 60};
    struct rig g;

    (void)state;
    rig_open(&g);
    rig_step(&g, &clear);
    assert_in_range(g.acts, 1 << 15, 1 << 17);
    rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_seen),
        cmocka_unit_test(many_threads_are_told_as_well),
        cmocka_unit_test(heaps_and_collections_change_nothing_of_that),
        cmocka_unit_test(a_join_without_an_end_is_told_all_the_same),
        cmocka_unit_test(kernel_threads_are_told_too),
        cmocka_unit_test(raw_clocks_pass_through),
        cmocka_unit_test(what_was_not_seen_is_late),
        cmocka_unit_test(garbage_waits),
        cmocka_unit_test(what_is_counted_does_not_depend_on_a_machine),
        cmocka_unit_test(a_collection_that_is_only_counted_looks_at_no_clock),
        cmocka_unit_test(an_absurd_region_is_cut_into_larger_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
