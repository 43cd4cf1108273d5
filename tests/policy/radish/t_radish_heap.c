/* t_radish_heap.c - what LARD names and leaves open, step by step: in-cache copies and MoveHistory.
 * That verdicts do not change is t_radish's and t_verdict's.
 *
 *     t_radish_heap [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/frame/mutant_arg.h"
#include "tests/policy/radish/probe.h"

static void write_system(struct probe *p, sim_tid t, sim_addr a, uint32_t n)
{
    struct event ev = WRITE(t, a, n);

    ev.flags = EVF_SYSTEM;
    step(p, ev);
}

static sim_cycle copy_takes(struct probe *p, sim_tid t, sim_addr to, sim_addr from, uint64_t n)
{
    const struct event ev[] = {EV_MOVE(t, to, from, n)};

    return step_at(p, ev, 1000000 + 100000 * p->w.number);
}

static sim_cycle clear_takes(struct probe *p, sim_tid t, sim_addr at, uint64_t n)
{
    return step(p, (struct event)EV_REGION(CLEAR, t, at, n));
}

static void an_in_cache_copy_takes_lines_along(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("in-cache-copy=on"));
    step(&p, READ(3, B + 128, 4)); /* its page gets a table */
    step(&p, WRITE(0, A, 16));
    write_system(&p, 1, B, 16);
    const uint64_t before = p.f.metadata;
    /* The handler; directory and entry of each side, 24 instructions; core 0 loads its line and
     * stores the new one, 1; the manager notes that, again from the directory, 16. */
    assert_int_equal(copy_takes(&p, 1, B, A, 16), 100 + 24 + 3 * FAKE_L3 + FAKE_MEMORY + 1 +
                                                      FAKE_L1 + FAKE_L3 + 16 + 3 * FAKE_L1);
    assert_int_equal(p.f.metadata - before, 9);
    assert_int_equal(p.f.drops - p.drops, 0);
    GREW(&p, in_cache, 1);
    assert_int_equal(inside(&p.w)->st.lines, 3);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    step(&p, WRITE(0, A, 16)); /* it keeps what it had there */
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, READ(0, B, 8)); /* here it is asked for permission */
    GREW(&p, allocated, 0);
    GREW(&p, outcome[OUTCOME_LOCAL], 1);
    step(&p, WRITE(2, B + 8, 4));
    assert_int_equal(GROWTH(&p, need[NEED_WRITE]) + GROWTH(&p, need[NEED_BOTH]), 0);
    RACES(&p, 1);
    assert_int_equal(p.w.race[0].earlier.event, 1);
    probe_close(&p);
}

/* From the middle of a line to the end of another: two lines of the destination. */
static void an_in_cache_copy_goes_by_what_is_in_a_line_on_both_sides(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("in-cache-copy=on"));
    write_system(&p, 1, B, 128);
    step(&p, WRITE(0, A, 64));
    step(&p, READ(2, A + 128, 64));
    copy(&p, 1, B + 56, A + 8, 16);
    GREW(&p, in_cache, 1);
    GREW(&p, allocated, 2);
    step(&p, READ(3, B + 52, 4)); /* not of the region */
    step(&p, READ(3, B + 72, 4));
    RACES(&p, 0);
    step(&p, READ(3, B + 56, 4));
    step(&p, READ(3, B + 68, 4));
    RACES(&p, 2);
    probe_close(&p);
}

static void an_in_cache_copy_evicts_what_would_be_lost(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("in-cache-copy=on"));
    step(&p, WRITE(0, A, 16)); /* the destination's data are on no core */
    copy(&p, 1, B, A, 16);
    GREW(&p, in_cache, 0);
    assert_int_equal(p.f.drops - p.drops, 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 8);
    step(&p, WRITE(0, A + 256, 16)); /* source and destination share a line */
    copy(&p, 1, A + 272, A + 256, 16);
    GREW(&p, in_cache, 0);
    probe_close(&p);
    probe_open(&p, "lardish", 4, WITH("in-cache-copy=on", "flush=lazy"));
    step(&p, WRITE(0, A, 16));
    write_system(&p, 1, B, 16);
    const struct event other = READ(4, A + 4096, 4);
    step_on(&p.w, &p.f, &other, 0, 5000000); /* another thread on that core */
    copy(&p, 1, B, A, 16);
    GREW(&p, in_cache, 0);
    step(&p, READ(2, B, 4));
    RACES(&p, 1);
    probe_close(&p);
}

/* Source and destination just meet: neither has a line of the other. */
static void an_in_cache_copy_to_the_next_line_shares_none(void **state)
{
    (void)state;
    for (int down = 0; down < 2; down++) {
        const sim_addr from = down ? A + 64 : A, to = down ? A : A + 64;
        struct probe p;
        probe_open(&p, "lardish", 4, WITH("in-cache-copy=on"));
        step(&p, WRITE(0, from, 64));
        write_system(&p, 1, to, 64);
        copy(&p, 1, to, from, 64);
        GREW(&p, in_cache, 1);
        step(&p, READ(2, to + 60, 4));
        RACES(&p, 1);
        probe_close(&p);
    }
}

/* A line of data has 64 granules here. The destination is one granule on, so that its first line
 * takes 63 of them, and the next the last. */
static void an_in_cache_copy_takes_the_last_of_64_granules_along(void **state)
{
    enum { GRANULE = 4, LINE = 64 * GRANULE };
    struct probe p;

    (void)state;
    probe_open_on(&p, "lardish", GRANULE, LINE, WITH("in-cache-copy=on"));
    step(&p, WRITE(0, A, LINE));
    write_system(&p, 1, B, 2 * LINE);
    copy(&p, 1, B + GRANULE, A, LINE);
    GREW(&p, in_cache, 1);
    step(&p, READ(2, B, GRANULE)); /* not of the region */
    RACES(&p, 0);
    step(&p, READ(2, B + LINE - GRANULE, GRANULE));
    step(&p, READ(2, B + LINE, GRANULE));
    RACES(&p, 2);
    probe_close(&p);
}

static void a_copy_and_the_clear_of_its_source_are_one_move(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("move-history=on"));
    /* nothing there: the directory's entries of both sides */
    assert_int_equal(copy_takes(&p, 1, B, A, 16), 0);
    assert_int_equal(inside(&p.w)->st.held, 1);
    assert_int_equal(clear_takes(&p, 1, A, 16), 100 + 6 + 4 + 4 + 2 * FAKE_MEMORY);
    GREW(&p, parts, 1);
    GREW(&p, moved_histories, 1);
    step(&p, WRITE(0, A + 256, 16));
    step(&p, READ(3, A + 256, 4)); /* 0 and 3 race */
    copy(&p, 1, B + 256, A + 256, 16);
    assert_int_equal(inside(&p.w)->st.lines, 2); /* nothing has happened */
    clear_takes(&p, 1, A + 256, 16);
    GREW(&p, parts, 1);
    assert_int_equal(p.f.drops - p.drops, 2);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 4);
    assert_int_equal(watch_stat(&p.w, "manager.moved"), 4);
    assert_int_equal(watch_stat(&p.w, "manager.copied"), 0);
    step(&p, WRITE(2, A + 256, 16));
    RACES(&p, 1);
    step(&p, WRITE(2, B + 264, 4));
    RACES(&p, 2);
    assert_int_equal(p.w.race[1].earlier.event, 2);
    probe_close(&p);
}

static void a_copy_waits_for_its_own_clear_only(void **state)
{
    static const struct {
        struct event ev;
        bool moves;
    } then[] = {
        {EV_REGION(CLEAR, 1, A, 16), true},      {EV_REGION(CLEAR, 2, A, 16), false},
        {EV_REGION(CLEAR, 1, A, 32), false},     {EV_REGION(CLEAR, 1, A, 8), false},
        {EV_REGION(CLEAR, 1, A + 4, 16), false}, {EV_REGION(CLEAR, 1, B, 16), false},
        {EV_SIZED(READ, 2, B + 12, 8), false},   {EV_SIZED(WRITE, 0, A, 1), false},
        {EV_ON(ACQUIRE, 1, LOCK), false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(then); i++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH("move-history=on"));
        step(&p, WRITE(0, A, 16));
        copy(&p, 1, B, A, 16);
        const sim_cycle took = step(&p, then[i].ev);
        assert_true(took > 100);
        assert_int_equal(inside(&p.w)->st.held, 0);
        GREW(&p, moved_histories, then[i].moves);
        step(&p, READ(3, B, 4));
        assert_int_equal(p.w.races > 0, i != 5);
        probe_close(&p);
    }
}

static void others_do_not_bring_a_copy_on(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("move-history=on"));
    step(&p, WRITE(0, A, 16));
    copy(&p, 1, B, A, 16);
    step(&p, READ(1, A + 64, 4)); /* an access elsewhere, of the same thread, too */
    step(&p, ON(ACQUIRE, 2, LOCK));
    write_system(&p, 1, B, 16);
    step(&p, (struct event)EV_REGION(CLEAR, 3, A + 16, 64));
    assert_int_equal(inside(&p.w)->st.held, 1);
    clear_takes(&p, 1, A, 16);
    GREW(&p, moved_histories, 1);
    probe_close(&p);
}

/* It is of more pages than there are copies to look through. */
static void a_wide_clear_brings_a_copy_on_only_where_it_touches_it(void **state)
{
    enum { PAGE = 4096 };

    (void)state;
    for (int touches = 0; touches < 2; touches++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH("move-history=on"));
        step(&p, WRITE(0, A, 16));
        copy(&p, 1, B, A, 16);
        clear_takes(&p, 2, A + (touches ? 8 : 16), 8 * PAGE);
        assert_int_equal(inside(&p.w)->st.held, !touches);
        probe_close(&p);
    }
}

static void in_a_collection_copies_wait_for_its_end(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("move-history=on"));
    step(&p, WRITE(0, A, 64));
    step(&p, ON(GC_BEGIN, 1, 0));
    for (sim_addr i = 0; i < 3; i++)
        copy(&p, 1, B + i * 16, A + i * 16, 16);
    assert_int_equal(inside(&p.w)->st.held, 3);
    clear_takes(&p, 1, A, 16);
    clear_takes(&p, 1, A + 16, 16);
    assert_int_equal(inside(&p.w)->st.held, 1);
    assert_int_equal(inside(&p.w)->st.moved_histories, 2);
    assert_true(step(&p, ON(GC_END, 1, 0)) > 100); /* the third was a copy */
    assert_int_equal(inside(&p.w)->st.held, 0);
    step(&p, READ(2, A + 16, 4));
    RACES(&p, 0);
    for (sim_addr i = 0; i < 3; i++)
        step(&p, READ(2, B + i * 16, 4));
    step(&p, READ(2, A + 32, 4));
    RACES(&p, 4);
    probe_close(&p);
}

/* Slid by 8: what is not the object's any more is the beginning, or the end. */
static void a_move_onto_itself_clears_what_it_leaves(void **state)
{
    (void)state;
    for (int up = 0; up < 2; up++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH("move-history=on"));
        step(&p, WRITE(0, A, 32));
        copy(&p, 1, up ? A + 8 : A - 8, A, 32);
        clear_takes(&p, 1, up ? A : A + 24, 8);
        GREW(&p, moved_histories, 1);
        step(&p, READ(2, up ? A : A + 24, 8));
        RACES(&p, 0);
        step(&p, READ(2, up ? A + 36 : A - 8, 4));
        RACES(&p, 1);
        probe_close(&p);
    }
}

static void a_move_in_the_caches_leaves_no_line_behind(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("move-history=on", "in-cache-copy=on"));
    step(&p, WRITE(0, A, 64));
    write_system(&p, 1, B, 64);
    copy(&p, 1, B, A, 64);
    clear_takes(&p, 1, A, 64);
    GREW(&p, moved_histories, 1);
    GREW(&p, in_cache, 1);
    assert_int_equal(p.f.drops - p.drops, 1);
    assert_int_equal(inside(&p.w)->st.lines, 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    step(&p, READ(2, A, 64));
    RACES(&p, 0);
    step(&p, READ(2, B, 64));
    RACES(&p, 1);
    probe_close(&p);
}

/* ---- while another core is in the middle of something --------------------------------------- */

struct between { /* events that come once, in the middle of an access of the detector's */
    struct probe *p;
    struct event ev[3];
    unsigned n;
    unsigned after; /* so many accesses */
};

static void run_between(void *arg)
{
    struct between *b = arg;

    if (b->after-- > 0)
        return;
    b->p->f.meanwhile = NULL;
    for (unsigned i = 0; i < b->n; i += event_records(&b->ev[i]))
        step_on(&b->p->w, &b->p->f, &b->ev[i], b->ev[i].tid, 2000000);
}

static void between(struct between *b, struct probe *p)
{
    b->p = p;
    p->f.meanwhile = run_between;
    p->f.arg = b;
}

/* Thread 2 clears a part of the destination, and so makes the copy; before it has paid, thread 1
 * clears the source. */
static void a_copy_in_the_making_is_no_move(void **state)
{
    struct probe p;
    struct between b = {.ev = {EV_REGION(CLEAR, 1, A, 16)}, .n = 1};

    (void)state;
    probe_open(&p, "lardish", 4, WITH("move-history=on"));
    step(&p, WRITE(0, A, 16));
    copy(&p, 1, B, A, 16);
    between(&b, &p);
    clear_takes(&p, 2, B, 4);
    assert_int_equal(inside(&p.w)->st.moved_histories, 0);
    assert_int_equal(inside(&p.w)->st.held, 0);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 3);
    step(&p, READ(3, A, 16));
    step(&p, READ(3, B, 4));
    RACES(&p, 0);
    step(&p, READ(3, B + 4, 4));
    RACES(&p, 1);
    probe_close(&p);
}

/* Two lines have lost their data; the handler of one goes on when the source is moved away. */
static void what_is_leaving_does_not_come_back_after_a_move(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 3; after++) {
        struct probe p;
        struct between b = {
            .ev = {EV_MOVE(1, B, A, 16), EV_REGION(CLEAR, 1, A, 16)}, .n = 3, .after = after};
        probe_open(&p, "lardish", 4, WITH("move-history=on"));
        step(&p, WRITE(0, A, 8));
        step(&p, WRITE(2, A + 8, 8));
        fake_lose(&p.f, 3, paddr_of(A));
        between(&b, &p);
        p.f.told_access = true;
        fake_tell(&p.f, p.w.checker, 3, 1500000);
        p.f.told_access = false;
        assert_int_equal(inside(&p.w)->st.moved_histories, 1);
        assert_int_equal(swm_granules(inside(&p.w)->manager), 4);
        step(&p, READ(3, A, 16));
        RACES(&p, 0);
        step(&p, READ(3, B, 4));
        step(&p, READ(3, B + 12, 4));
        RACES(&p, 2);
        probe_close(&p);
    }
}

/* A commit reads the same twice. In between it touches a copy that was held back, which stores the
 * line: the manager has the first read, the line that comes back the second, and both have the
 * commit's number. Then the line may be lost, when the thread is on another core and has brought
 * what the manager had there. */
static void of_a_commits_reads_the_last_is_told(void **state)
{
    enum { FIRST_SITE = 11, LAST_SITE = 12, READER = 0, WRITER = 1, OTHER_CORE = 3 };
    const sim_addr twice = A + 32;

    (void)state;
    for (int moved = 0; moved < 2; moved++) {
        struct event first = EV_IN_TXN(READ, READER, twice), last = first;
        struct probe p;
        first.aux = FIRST_SITE;
        last.aux = LAST_SITE;
        probe_open(&p, "lardish", 4, WITH("move-history=on", "flush=lazy"));
        copy(&p, 2, B, A, 16);
        step(&p, (struct event)EV_NAMING(TXN_BEGIN, READER, 0));
        step(&p, first);
        step(&p, (struct event)EV_IN_TXN(READ, READER, A));
        step(&p, last);
        step(&p, (struct event)EV_NAMING(TXN_COMMIT, READER, 0));
        assert_int_equal(inside(&p.w)->st.held, 0);               /* the copy was made */
        assert_int_equal(swm_granules(inside(&p.w)->manager), 1); /* and stored the first read */
        if (moved) {
            const struct event beside = READ(READER, twice + 4, 4);
            step_on(&p.w, &p.f, &beside, OTHER_CORE, 5000000);
            p.w.number++;
            struct radish *r = inside(&p.w);
            assert_int_equal(r->st.lines, 2);
            fake_lose(&p.f, READER,
                      line_address(r, line_on_core(r, READER, line_number(r, A / 64, 0))));
            fake_tell(&p.f, p.w.checker, READER, 0);
            assert_int_equal(r->st.lines, 1);
        }
        step(&p, WRITE(WRITER, twice, 4));
        RACES(&p, 1);
        assert_int_equal(p.w.race[0].earlier.thread, READER);
        assert_int_equal(p.w.race[0].earlier.site, LAST_SITE);
        assert_int_equal(p.w.conflicts, 1);
        probe_close(&p);
    }
}

/* Another thread's read is with the manager, too. A line that comes for a read then brings neither,
 * so that what the commit reads last is new in it, while the manager has what it read first. */
static void of_a_commits_reads_the_last_is_told_before_the_managers(void **state)
{
    enum { FIRST_SITE = 11, LAST_SITE = 12, READER = 0, WRITER = 1, OTHER = 2, COPIER = 3 };
    const sim_addr twice = A + 32;
    struct event first = EV_IN_TXN(READ, READER, twice), last = first;
    struct probe p;

    (void)state;
    first.aux = FIRST_SITE;
    last.aux = LAST_SITE;
    probe_open(&p, "lardish", 4, WITH("move-history=on", "flush=lazy"));
    step(&p, READ(OTHER, twice, 4));
    struct radish *r = inside(&p.w);
    fake_lose(&p.f, OTHER, line_address(r, line_on_core(r, OTHER, line_number(r, A / 64, 0))));
    fake_tell(&p.f, p.w.checker, OTHER, 0);
    assert_int_equal(swm_granules(r->manager), 1);
    copy(&p, COPIER, B, A, 16);
    step(&p, (struct event)EV_NAMING(TXN_BEGIN, READER, 0));
    step(&p, first);
    step(&p, (struct event)EV_IN_TXN(READ, READER, A)); /* stores the first read */
    step(&p, last);
    step(&p, (struct event)EV_NAMING(TXN_COMMIT, READER, 0));
    assert_int_equal(swm_held(r->manager, paddr_of(twice)).n, 2);
    step(&p, WRITE(WRITER, twice, 4));
    RACES(&p, 1);
    assert_int_equal(p.w.conflicts, 2);
    assert_int_equal(p.w.race[0].earlier.thread, READER);
    assert_int_equal(p.w.race[0].earlier.site, LAST_SITE);
    probe_close(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_in_cache_copy_takes_lines_along),
        cmocka_unit_test(an_in_cache_copy_goes_by_what_is_in_a_line_on_both_sides),
        cmocka_unit_test(an_in_cache_copy_evicts_what_would_be_lost),
        cmocka_unit_test(an_in_cache_copy_to_the_next_line_shares_none),
        cmocka_unit_test(an_in_cache_copy_takes_the_last_of_64_granules_along),
        cmocka_unit_test(a_copy_and_the_clear_of_its_source_are_one_move),
        cmocka_unit_test(a_copy_waits_for_its_own_clear_only),
        cmocka_unit_test(others_do_not_bring_a_copy_on),
        cmocka_unit_test(a_wide_clear_brings_a_copy_on_only_where_it_touches_it),
        cmocka_unit_test(in_a_collection_copies_wait_for_its_end),
        cmocka_unit_test(a_move_onto_itself_clears_what_it_leaves),
        cmocka_unit_test(a_move_in_the_caches_leaves_no_line_behind),
        cmocka_unit_test(a_copy_in_the_making_is_no_move),
        cmocka_unit_test(what_is_leaving_does_not_come_back_after_a_move),
        cmocka_unit_test(of_a_commits_reads_the_last_is_told),
        cmocka_unit_test(of_a_commits_reads_the_last_is_told_before_the_managers),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
