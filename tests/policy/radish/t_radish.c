/* t_radish.c - the detectors in hardware, one step at a time: what each access does to permissions,
 * history lines and checks, and what it costs. Verdicts: t_radish_random.c; clears and copies:
 * t_radish_region.c.
 *
 *     t_radish [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/frame/mutant_arg.h"
#include "tests/policy/radish/probe.h"

static void enough_permission_costs_the_history_lines_access(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, WITH("overlap=sum"));
    const sim_cycle first = step(&p, WRITE(0, A, 4));
    assert_true(first > FAKE_L1 + FAKE_L3 + 100); /* it is filled, by a handler */
    GREW(&p, outcome[OUTCOME_FILLED], 1);
    GREW(&p, allocated, 1);
    const uint64_t before = p.f.metadata;
    assert_int_equal(step(&p, WRITE(0, A, 4)), FAKE_L1 + FAKE_L1);
    assert_int_equal(p.f.metadata - before, 1);
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    GREW(&p, loads, 1);
    probe_close(&p);
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    assert_int_equal(step(&p, WRITE(0, A, 4)), FAKE_L1); /* side by side */
    probe_close(&p);
}

static void after_a_release_the_clock_is_written_again(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    step(&p, ON(ACQUIRE, 0, LOCK));
    step(&p, ON(RELEASE, 0, LOCK));
    step(&p, WRITE(0, A, 4));
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    GREW(&p, stores, 1);
    step(&p, WRITE(0, A, 4));
    GREW(&p, loads, 1);
    probe_close(&p);
}

static void false_sharing_leaves_permissions(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 1));
    step(&p, WRITE(1, A + 1, 1));
    GREW(&p, outcome[OUTCOME_PIGGYBACKED], 1);
    step(&p, WRITE(0, A, 1));
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, READ(1, A, 1));
    GREW(&p, lowered, 1);
    step(&p, READ(0, A, 1));
    GREW(&p, outcome[OUTCOME_PERMISSION], 1);
    step(&p, WRITE(0, A, 1));
    GREW(&p, outcome[OUTCOME_PERMISSION], 0);
    probe_close(&p);
}

static void the_home_asks_only_where_the_data_did_not_go(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("overlap=sum", "answers=granules", "fill=status"));
    step(&p, WRITE(0, A, 4));
    step(&p, READ(1, A, 4)); /* the core that wrote gives the data */
    GREW(&p, outcome[OUTCOME_PIGGYBACKED], 1);
    assert_int_equal(p.f.asks, 0);
    step(&p, READ(0, A + 4, 4)); /* the data is here, the permission is not */
    GREW(&p, outcome[OUTCOME_REMOTE], 1);
    assert_int_equal(p.f.asks, 1);
    assert_int_equal(p.f.asked_bytes, 4);
    step(&p, READ(0, A + 8, 8));
    assert_int_equal(p.f.asked_bytes, 4 + 8);
    probe_close(&p);
}

/* An access to two history lines of one line of data: what answers the question for the first
 * brings the other's entries along. */
static void one_question_goes_for_all_history_lines_of_a_line(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "radish", 1, WITH("overlap=sum", "answers=granules", "fill=status"));
    step(&p, WRITE(0, A, 4));
    step(&p, READ(1, A, 4));
    step(&p, READ(0, A + 12, 8)); /* bytes 12 to 15 in one, 16 to 19 in the next */
    CHECKED(&p, 2);
    GREW(&p, asks, 1);
    GREW(&p, outcome[OUTCOME_REMOTE], 1);
    GREW(&p, outcome[OUTCOME_PIGGYBACKED], 1);
    step(&p, READ(0, A + 28, 8));
    GREW(&p, asks, 1); /* the next access asks anew */
    probe_close(&p);
}

static void data_from_the_l3_bring_no_other_cores_histories(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("overlap=sum"));
    step(&p, READ(0, A, 4));
    step(&p, READ(1, A + 4, 4));
    GREW(&p, outcome[OUTCOME_REMOTE], 1);
    step(&p, READ(2, A, 4));
    GREW(&p, outcome[OUTCOME_REMOTE], 1);
    GREW(&p, asked, 2);
    assert_int_equal(p.f.piggybacked, 0);
    step(&p, WRITE(3, B, 64));
    step(&p, READ(0, B + 60, 8)); /* of two lines: each is asked for */
    GREW(&p, asks, 1);
    probe_close(&p);
}

/* The core waits for its data, or for the history line, and only then goes into the handler. */
static void a_handler_begins_when_the_data_are_there(void **state)
{
    enum { DATA = 500 };

    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct probe p;
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, READ(0, B, 4)); /* the manager's tables for it are made elsewhere */
        const struct event ev = READ(0, A, 4);
        struct mem_outcome out = {.level = LEVEL_MEMORY, .began = 1000000};
        const uint64_t before = p.f.metadata;
        const sim_cycle done =
            checker_step(p.w.checker, &ev, 0, out, 1000000 + (slow ? DATA : FAKE_L1));
        assert_int_equal(p.f.metadata - before > 1, 1);
        p.w.number++;
        static sim_cycle handler;
        if (!slow)
            handler = done - 1000000 - FAKE_L3; /* beside the line's access */
        else
            assert_int_equal(done, 1000000 + DATA + handler);
        probe_close(&p);
    }
}

/* A drained check whose cost comes only later is waited for all the same. */
static void a_check_drained_early_is_waited_for_by_the_next_synchronisation(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("checks=queued"));
    step(&p, WRITE(0, A, 4));
    struct radish *r = inside(&p.w);
    struct queued_check c = {.data = data_find(r, A / 64), .set = 1, .core = 1, .done = 7};
    sim_cycle wait;
    const uint64_t id = queue_put(r, &c, &wait);
    assert_int_equal(queue_drain_data(r, c.data), 0); /* nothing has been served yet */
    assert_int_equal(queue_drain_all(r), 0);
    queue_serve(r, 1, id, &(struct check_paid){.line = A / 64, .set = 1}, 5000);
    assert_int_equal(r->queue_n, 0);
    const sim_cycle free_at = r->queue_free;
    assert_true(free_at >= 5000 + 100);
    assert_int_equal(queue_drain_all(r), free_at);
    queue_put(r, &c, &wait);
    assert_int_equal(queue_drain_data(r, c.data), free_at); /* it comes after that */
    const struct event sync = ON(ACQUIRE, 2, LOCK);
    step_at(&p, &sync, 5000);
    GREW(&p, queue_wait, free_at - 5000);
    probe_close(&p);
}

/* ---- the queue ------------------------------------------------------------------------------ */

/* Of granules of A's line, by thread 1; what it takes is known once it is served. */
static struct queued_check check_of(struct radish *r, unsigned kind, granule_set set)
{
    return (struct queued_check){
        .data = data_find(r, A / 64), .set = set, .core = 1, .kind = (uint8_t)kind};
}

static sim_cycle served(struct radish *r, uint64_t id, unsigned kind, granule_set set,
                        sim_cycle now)
{
    queue_serve(r, 1, id, &(struct check_paid){.line = A / 64, .kind = kind, .set = set}, now);
    return r->queue_free;
}

static void checks_leave_the_queue_in_their_order(void **state)
{
    enum { SECOND_HALF = 1 };
    struct probe p;
    sim_cycle unused;

    (void)state;
    probe_open(&p, "lardish", 1, WITH("checks=queued", "queue=4"));
    for (unsigned round = 0; round < 3; round++) { /* the ring's places come to be used again */
        step(&p, WRITE(0, A, 64));
        struct radish *r = inside(&p.w);
        const struct queued_check first = check_of(r, SECOND_HALF, 1), second = check_of(r, 0, 2),
                                  third = check_of(r, SECOND_HALF, 4);
        const uint64_t id = queue_put(r, &first, &unused);
        assert_int_equal(queue_put(r, &second, &unused), id + 1);
        assert_int_equal(queue_put(r, &third, &unused), id + 2);
        assert_int_equal(queue_has(r, first.data, SECOND_HALF), 1 | 4);
        assert_int_equal(queue_has(r, first.data, 0), 2);
        const sim_cycle at = 3000000 + 100000 * round, one = served(r, id, SECOND_HALF, 1, at),
                        two = served(r, id + 1, 0, 2, at), three = served(r, id + 2, 1, 4, at);
        assert_true(at < one && one < two && two < three); /* the spare core does one at a time */
        assert_int_equal(queue_drain(r, first.data, SECOND_HALF, 2), 0); /* not of these granules */
        assert_int_equal(queue_drain(r, first.data, SECOND_HALF, 1), one);
        assert_int_equal(r->queue_n, 2);
        assert_int_equal(queue_drain_data(r, first.data), three);
        assert_int_equal(r->queue_n, 0);
    }
    probe_close(&p);
}

/* Whose check is the oldest does not matter: all of the line's are waited for. */
static void a_line_is_free_when_the_last_of_its_checks_is(void **state)
{
    struct probe p;
    sim_cycle unused;

    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        probe_open(&p, "lardish", 1, WITH("checks=queued"));
        step(&p, WRITE(0, A, 64));
        struct radish *r = inside(&p.w);
        const struct queued_check first = check_of(r, kind, 1), second = check_of(r, !kind, 1);
        const uint64_t id = queue_put(r, &first, &unused);
        queue_put(r, &second, &unused);
        served(r, id, kind, 1, 5000);
        const sim_cycle last = served(r, id + 1, !kind, 1, 5000);
        assert_int_equal(queue_drain_data(r, first.data), last);
        probe_close(&p);
    }
}

/* What touches granules whose check is under way goes on when that is over. */
static void who_meets_a_queued_check_waits_for_it(void **state)
{
    static const struct {
        const char *what;
        struct event ev;
    } meets[] = {
        {"a write of the thread that has the line", EV_SIZED(WRITE, 0, A, 4)},
        {"a read that brings a line of its own", EV_SIZED(READ, 2, A, 4)},
        {"a clear", EV_REGION(CLEAR, 2, A, 64)},
        {"a lock", EV_ON(ACQUIRE, 2, LOCK)},
    };
    enum { START = 2000000, SERVED = 2500000 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(meets); i++) {
        struct probe p;
        sim_cycle unused;
        probe_open(&p, "lardish", 4, WITH("checks=queued", "fill=status"));
        step(&p, READ(0, A, 4));
        struct radish *r = inside(&p.w);
        const struct queued_check check = check_of(r, 0, 1);
        const sim_cycle over = served(r, queue_put(r, &check, &unused), 0, 1, SERVED);
        const sim_cycle done = START + step_at(&p, &meets[i].ev, START);
        if (done < over)
            fail_msg("%s is done at %llu, before the check that it meets, at %llu", meets[i].what,
                     (unsigned long long)done, (unsigned long long)over);
        if (!GROWTH(&p, queue_wait))
            fail_msg("nobody counts that %s waits", meets[i].what);
        probe_close(&p);
    }
}

/* ---- history lines that leave ---------------------------------------------------------------- */

static struct paddr history_of(const struct probe *p, unsigned core)
{
    const struct radish *r = inside(&p->w);

    return line_address(r, line_on_core(r, core, line_number(r, A / 64, 0)));
}

static void a_dirty_history_line_that_is_thrown_out_goes_to_the_manager(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    assert_int_equal(inside(&p.w)->st.lines, 1);
    fake_lose(&p.f, 1, history_of(&p, 0));
    fake_tell(&p.f, p.w.checker, 1, 0);
    assert_int_equal(inside(&p.w)->st.lines, 0);
    assert_int_equal(inside(&p.w)->st.lost_dirty, 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 1);
    probe_close(&p);
}

/* The line is in no cache any more, and nobody has said so yet. */
static void an_access_finds_out_that_its_history_line_has_just_gone(void **state)
{
    struct probe p;
    uint8_t level;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    p.f.machine.caches.type->drop(&p.f, 0, history_of(&p, 0), &level, 0);
    step(&p, WRITE(0, A, 4));
    GREW(&p, allocated, 1);
    GREW(&p, lost_dirty, 1);
    assert_int_equal(inside(&p.w)->st.lines, 1);
    probe_close(&p);
}

/* What the manager has, a write makes void: then no core's line says any more that the manager has
 * something, and who looks there next finds that out by its own line. */
static void a_write_tells_all_lines_that_the_manager_has_nothing_left(void **state)
{
    enum { FIRST, WRITER, BESIDE };
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(FIRST, A, 4));
    fake_lose(&p.f, FIRST, history_of(&p, FIRST));
    fake_tell(&p.f, p.w.checker, FIRST, 0);
    step(&p, WRITE(BESIDE, A + 4, 4));
    step(&p, WRITE(WRITER, A + 8, 4));
    struct radish *r = inside(&p.w);
    const struct hline *theirs = line_on_core(r, BESIDE, line_number(r, A / 64, 0));
    assert_true(theirs->kept & 1);
    step(&p, WRITE(WRITER, A, 4));
    assert_int_equal(swm_held(r->manager, paddr_of(A)).write != NULL, 0);
    if (theirs->kept & 1)
        fail_msg("another core's line still says that the manager has what the write made void");
    assert_int_equal((theirs->soft_write | theirs->soft_reads) & 1, 0);
    probe_close(&p);
}

struct stop { /* a run ends in the middle of an access, as the scheduler ends it */
    jmp_buf out;
    unsigned after;
};

static void stop_now(void *arg)
{
    struct stop *s = arg;

    if (s->after-- == 0)
        longjmp(s->out, 1);
}

static void stopped(struct probe *p, struct stop *s)
{
    if (setjmp(s->out))
        return;
    for (unsigned i = 0; i < 32; i++) {
        step(p, WRITE(1, A + 64 * i, 64));
        step(p, READ(2, A + 64 * i, 64));
    }
    step(p, (struct event)EV_REGION(CLEAR, 1, A + 4, 1000));
}

/* AddressSanitizer tells what is left behind. */
static void a_run_may_end_in_the_middle_of_any_payment(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 3000; after += 1 + after / 8) {
        struct probe p;
        struct stop s = {.after = after};
        probe_open(&p, "lardish", 4, after % 2 ? WITH("checks=queued") : DEFAULTS);
        p.f.meanwhile = stop_now;
        p.f.arg = &s;
        stopped(&p, &s);
        p.f.meanwhile = NULL;
        watch_close(&p.w);
        fake_close(&p.f);
    }
}

static void a_core_that_throws_out_data_loses_its_permissions(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    fake_evict(&p.f, 0, paddr_of(A));
    fake_tell(&p.f, p.w.checker, 0, 0);
    GREW(&p, taken_away, 16); /* all that the fill gave */
    step(&p, WRITE(0, A, 4));
    GREW(&p, outcome[OUTCOME_LOCAL], 1);
    probe_close(&p);
}

static void a_core_whose_data_are_recalled_loses_its_permissions(void **state)
{
    struct line_event le = {
        .addr = {A}, .what = LINE_INVALIDATE, .level = LEVEL_L1, .core = 0, .from = 0};

    (void)state;
    for (int recalled = 0; recalled < 2; recalled++) {
        struct probe p;
        bool owes[MAX_CORES];
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, WRITE(0, A, 4));
        for (size_t i = 0; i < FAKE_LINES; i++)
            if (p.f.l1[0][i].line == A / 64 + 1)
                p.f.l1[0][i].line = 0;
        le.recalled = recalled;
        p.was = inside(&p.w)->st;
        checker_lines_told(p.w.checker, &(struct line_queue){.at = &le, .n = 1}, 0, owes);
        GREW(&p, taken_away, recalled ? 16 : 0);
        probe_close(&p);
    }
}

/* Accesses of a commit are decided before any of them brings its history. */
static void a_commit_brings_each_line_once(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, (struct event)EV_NAMING(TXN_BEGIN, 0, 0));
    step(&p, (struct event)EV_IN_TXN(READ, 0, A));
    step(&p, (struct event)EV_IN_TXN(WRITE, 0, A + 4));
    step(&p, (struct event)EV_IN_TXN(READ, 0, A));
    step(&p, (struct event)EV_NAMING(TXN_COMMIT, 0, 0));
    GREW(&p, allocated, 1);
    GREW(&p, lost_dirty, 0);
    CHECKED(&p, 3);
    fake_lose(&p.f, 0, paddr_of(A)); /* it has come: its going is noticed */
    fake_tell(&p.f, p.w.checker, 0, 0);
    GREW(&p, lost_dirty, 1);
    probe_close(&p);
}

/* Core 1 has displaced the line, and has not yet paid. */
static void what_waits_for_its_handler_is_stored_before_clocks_roll_over(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("clock-bits=4"));
    step(&p, WRITE(0, A, 4));
    fake_lose(&p.f, 1, paddr_of(A));
    fake_tell(&p.f, p.w.checker, 2, 0);
    assert_int_equal(inside(&p.w)->st.lines, 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    for (int i = 0; i < 16; i++) {
        step(&p, ON(ACQUIRE, 0, LOCK));
        step(&p, ON(RELEASE, 0, LOCK));
    }
    assert_int_equal(inside(&p.w)->st.roll_overs, 1);
    assert_int_equal(inside(&p.w)->st.lines, 0);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 1);
    fake_tell(&p.f, p.w.checker, 1, 0);
    GREW(&p, lost_dirty, 0);
    probe_close(&p);
}

static void data_that_leaves_the_chip_takes_its_histories_along(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    step(&p, READ(1, A + 32, 4));
    assert_int_equal(inside(&p.w)->st.lines, 2);
    fake_lose(&p.f, 2, paddr_of(A));
    fake_tell(&p.f, p.w.checker, 2, 0);
    assert_int_equal(inside(&p.w)->st.lines, 0);
    GREW(&p, homeless, 2);
    assert_int_equal(p.f.drops, 2);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 8);
    step(&p, READ(1, A, 4));
    GREW(&p, outcome[OUTCOME_SOFTWARE], 1);
    GREW(&p, need[NEED_WRITE], 1);
    RACES(&p, 1);
    probe_close(&p);
}

static void an_access_touches_every_history_line_that_it_needs(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "radish", 1, DEFAULTS);
    step(&p, WRITE(0, A + 12, 8)); /* bytes 12 to 15 in one, 16 to 19 in the next */
    CHECKED(&p, 2);
    step(&p, WRITE(0, A + 60, 40)); /* across lines: 1, then 3 */
    CHECKED(&p, 4);
    probe_close(&p);
    probe_open(&p, "radish-ts", 4, DEFAULTS);
    step(&p, WRITE(0, A + 12, 8));
    CHECKED(&p, 1);
    probe_close(&p);
}

static void a_queued_check_is_waited_for_by_synchronisation_only(void **state)
{
    sim_cycle cost[2];

    (void)state;
    for (int queued = 0; queued < 2; queued++) {
        struct probe p;
        probe_open(
            &p, "lardish", 4,
            WITH("overlap=sum", "fill=status", queued ? "checks=queued" : "checks=synchronous"));
        step(&p, WRITE(0, A, 4));
        step(&p, READ(1, B, 4));
        fake_lose(&p.f, 0, paddr_of(A));
        fake_tell(&p.f, p.w.checker, 0, 0);
        const struct event read = READ(1, A, 4), sync = ON(ACQUIRE, 1, LOCK);
        const sim_cycle now = 5000000;
        cost[queued] = step_at(&p, &read, now);
        GREW(&p, queued, queued);
        RACES(&p, 1); /* the verdict is that of its state then */
        step_at(&p, &sync, now + cost[queued]);
        assert_int_equal(GROWTH(&p, queue_wait) > 90, queued);
        probe_close(&p);
    }
    assert_true(cost[0] > cost[1] + 90);
}

static void a_clock_that_no_longer_fits_flushes_everything(void **state)
{
    struct probe p;
    sim_cycle last = 0;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("clock-bits=4"));
    step(&p, READ(1, B, 4));
    for (int i = 0; i < 15; i++) {
        step(&p, WRITE(0, A, 4)); /* at the times 1 to 15 */
        step(&p, ON(ACQUIRE, 0, LOCK));
        last = step(&p, ON(RELEASE, 0, LOCK));
    }
    assert_int_equal(inside(&p.w)->st.roll_overs, 1); /* by the last release: 16 */
    assert_int_equal(inside(&p.w)->st.lines, 0);
    assert_int_equal(p.f.stops, 1); /* of all cores, as long as the handler runs */
    assert_int_equal(p.f.stopped, last);
    assert_int_equal(inside(&p.w)->st.stopped, p.f.stopped);
    step(&p, WRITE(0, A, 4));
    assert_int_equal(inside(&p.w)->st.roll_overs, 1);
    step(&p, WRITE(1, A, 4));
    RACES(&p, 1);
    probe_close(&p);
}

static void a_thread_switch_flushes_the_core_or_the_line(void **state)
{
    (void)state;
    for (int lazy = 0; lazy < 2; lazy++) {
        struct probe p;
        probe_open(&p, "lardish", 4, WITH(lazy ? "flush=lazy" : "flush=eager"));
        step(&p, WRITE(0, A, 4));
        step(&p, WRITE(0, B, 4));
        struct event ev = WRITE(4, A, 4);
        p.was = inside(&p.w)->st;
        step_on(&p.w, &p.f, &ev, 0, 5000000); /* on the same core */
        RACES(&p, 1);
        GREW(&p, flushes, !lazy);
        GREW(&p, flushed, lazy ? 1 : 2);
        GREW(&p, lazy_flushes, lazy);
        probe_close(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_permission_costs_the_history_lines_access),
        cmocka_unit_test(after_a_release_the_clock_is_written_again),
        cmocka_unit_test(false_sharing_leaves_permissions),
        cmocka_unit_test(the_home_asks_only_where_the_data_did_not_go),
        cmocka_unit_test(one_question_goes_for_all_history_lines_of_a_line),
        cmocka_unit_test(data_from_the_l3_bring_no_other_cores_histories),
        cmocka_unit_test(a_handler_begins_when_the_data_are_there),
        cmocka_unit_test(a_check_drained_early_is_waited_for_by_the_next_synchronisation),
        cmocka_unit_test(checks_leave_the_queue_in_their_order),
        cmocka_unit_test(a_line_is_free_when_the_last_of_its_checks_is),
        cmocka_unit_test(who_meets_a_queued_check_waits_for_it),
        cmocka_unit_test(a_dirty_history_line_that_is_thrown_out_goes_to_the_manager),
        cmocka_unit_test(an_access_finds_out_that_its_history_line_has_just_gone),
        cmocka_unit_test(a_write_tells_all_lines_that_the_manager_has_nothing_left),
        cmocka_unit_test(a_run_may_end_in_the_middle_of_any_payment),
        cmocka_unit_test(a_core_that_throws_out_data_loses_its_permissions),
        cmocka_unit_test(a_core_whose_data_are_recalled_loses_its_permissions),
        cmocka_unit_test(a_commit_brings_each_line_once),
        cmocka_unit_test(what_waits_for_its_handler_is_stored_before_clocks_roll_over),
        cmocka_unit_test(data_that_leaves_the_chip_takes_its_histories_along),
        cmocka_unit_test(an_access_touches_every_history_line_that_it_needs),
        cmocka_unit_test(a_queued_check_is_waited_for_by_synchronisation_only),
        cmocka_unit_test(a_clock_that_no_longer_fits_flushes_everything),
        cmocka_unit_test(a_thread_switch_flushes_the_core_or_the_line),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
