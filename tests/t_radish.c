/* t_radish.c - the detectors in hardware say what vc says, access by access, with no machine and
 * with caches that forget everything all the time; what they know is in those lines and with the
 * software manager; and what their steps do and cost, one by one.
 *
 *     t_radish [--mutant NAME]     a rule broken on purpose (base/mutants.def): must fail
 */
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/mutant_arg.h"
#include "tests/radish_probe.h"

enum { WHY = 300 };

/* The manager loses all that it has of what the stream touches. */
static void forget_all(const struct watch *w, struct fake *f, const struct stream *s)
{
    for (const struct event *ev = s->rec; ev < s->rec + s->records; ev += event_records(ev))
        for (sim_addr a = ev->addr; event_is_access(ev) && a < ev->addr + ev->size; a++)
            swm_void(inside(w)->manager, f->machine.physical(f, a));
}

struct drive { /* of a stream over a machine */
    struct watch *w;
    struct fake *f;
    const struct stream *s;
    struct rng *r;
    const struct event *next;
    uint64_t number; /* of the next */
    unsigned shift;  /* threads go from core to core now and then */
    unsigned busy;   /* cores that are in the middle of an event: a bit for each */
    bool plain;      /* and these are plain accesses */
};

static unsigned core_of(const struct drive *d)
{
    return (d->next->tid + d->shift) % d->f->cores;
}

static sim_cycle drive_next(struct drive *d, sim_cycle now)
{
    const struct event *ev = d->next;
    const unsigned core = core_of(d), was = d->busy;
    const uint64_t outer = d->w->number;

    d->w->number = d->number++;
    d->next += event_records(ev);
    d->busy |= 1u << core;
    d->plain = event_is_access(ev) && !(ev->flags & (EVF_ORDER_MASK | EVF_IN_TXN));
    now = step_on(d->w, d->f, ev, core, now);
    d->busy = was;
    if (was)
        d->w->number = outer;
    return now;
}

/* Another core's plain access comes while the policy waits for its own: it was called later, so it
 * is later. */
static void another_core(void *arg)
{
    struct drive *d = arg;
    const struct event *ev = d->next;

    if (!d->plain || ev >= d->s->rec + d->s->records || !rng_chance(d->r, 1, 4))
        return;
    if (!event_is_access(ev) || ev->flags & (EVF_ORDER_MASK | EVF_IN_TXN) ||
        d->busy >> core_of(d) & 1)
        return;
    drive_next(d, 0);
}

static void run_on(struct watch *w, struct fake *f, const struct stream *s, struct rng *r,
                   bool forget)
{
    struct drive d = {.w = w, .f = f, .s = s, .r = r, .next = s->rec};
    struct err invariant = {0};
    sim_cycle now = 0;

    f->arg = &d;
    while (d.next < s->rec + s->records && !w->err.code) {
        d.shift += rng_chance(r, 20, 1000);
        now = drive_next(&d, now);
        if (d.number % 16 == 0 && !forget)
            radish_check(inside(w));
        if (d.number % 16 == 0 && forget)
            forget_all(w, f, s);
    }
    if (!forget)
        checker_finish(w->checker);
    if (stats_check(w->stats, &invariant))
        die("%s", invariant.text);
}

/* ---- two of them say the same --------------------------------------------------------------- */

static int by_event_and_location(const void *a, const void *b)
{
    const struct watch_conflict *x = a, *y = b;

    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->location == y->location ? 0 : x->location < y->location ? -1 : 1;
}

static void sort(struct watch *w)
{
    if (w->conflicts)
        qsort(w->conflict, w->conflicts, sizeof *w->conflict, by_event_and_location);
}

static bool conflicts_differ(struct watch *a, struct watch *b, char why[WHY])
{
    const size_t n = a->conflicts < b->conflicts ? a->conflicts : b->conflicts;

    sort(a);
    sort(b);
    for (size_t i = 0; i < n; i++)
        if (by_event_and_location(&a->conflict[i], &b->conflict[i])) {
            snprintf(why, WHY, "conflicts: event %llu at %#llx with vc, event %llu at %#llx here",
                     (unsigned long long)a->conflict[i].event,
                     (unsigned long long)a->conflict[i].location,
                     (unsigned long long)b->conflict[i].event,
                     (unsigned long long)b->conflict[i].location);
            return true;
        }
    snprintf(why, WHY, "%zu conflicts with vc, %zu here", a->conflicts, b->conflicts);
    return a->conflicts != b->conflicts;
}

static bool sides_differ(const struct race_side *x, const struct race_side *y)
{
    return x->event != y->event || x->site != y->site || x->thread != y->thread || x->op != y->op;
}

static bool races_differ(const struct watch *a, const struct watch *b, char why[WHY])
{
    const size_t n = a->races < b->races ? a->races : b->races;

    for (size_t i = 0; i < n; i++) {
        const struct race *x = &a->race[i], *y = &b->race[i];
        if (!sides_differ(&x->is, &y->is) && !sides_differ(&x->earlier, &y->earlier) &&
            x->conflicts == y->conflicts)
            continue;
        snprintf(why, WHY,
                 "race %zu: event %llu with %llu, %u conflicts, with vc; event %llu with %llu, %u "
                 "here",
                 i, (unsigned long long)x->is.event, (unsigned long long)x->earlier.event,
                 (unsigned)x->conflicts, (unsigned long long)y->is.event,
                 (unsigned long long)y->earlier.event, (unsigned)y->conflicts);
        return true;
    }
    snprintf(why, WHY, "%zu races with vc, %zu here", a->races, b->races);
    return a->races != b->races;
}

static bool differ(struct watch *a, struct watch *b, bool mixed, char why[WHY])
{
    static const char *const count[] = {"races.accesses", "races.sites",     "races.locations",
                                        "races.pairs",    "races.conflicts", "races.program"};

    if (a->err.code || b->err.code) {
        snprintf(why, WHY, "vc: %.100s; here: %.100s", a->err.text, b->err.text);
        return true;
    }
    if (conflicts_differ(a, b, why))
        return true;
    if (mixed) /* the report can't tell events apart that are in hand at a time */
        return false;
    if (races_differ(a, b, why))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(count); i++)
        if (watch_stat(a, count[i]) != watch_stat(b, count[i])) {
            snprintf(why, WHY, "%s differ", count[i]);
            return true;
        }
    return false;
}

/* ---- random cases --------------------------------------------------------------------------- */

static const char *draw_policy(struct rng *r, unsigned granule)
{
    const uint64_t i = rng_below(r, granule < 4 ? 2 : 3);

    return i == 0 ? "lardish" : i == 1 ? "radish" : "radish-ts";
}

static void draw(struct rng *r, struct drawn *d)
{
    const uint64_t bits = rng_below(r, 14);

    *d = (struct drawn){.granule = 1u << rng_below(r, 4)};
    d->policy = draw_policy(r, d->granule);
    const char *view = verdict_view[rng_below(r, 7)].name;
    if (strcmp(d->policy, "lardish")) /* theirs is the naive one at least */
        view = rng_below(r, 2) ? "naive" : "naive,no-thread";
    add(d, "view", view);
    add_number(d, "clock-bits", bits ? bits + 3 : 0);
    add(d, "flush", rng_below(r, 2) ? "eager" : "lazy");
    add(d, "checks", rng_below(r, 2) ? "queued" : "synchronous");
    add_number(d, "queue", 1 + rng_below(r, 8));
    add(d, "overlap", rng_below(r, 2) ? "max" : "sum");
    add_number(d, "page", UINT64_C(512) << rng_below(r, 4));
    add(d, "in-cache-copy", rng_below(r, 2) ? "on" : "off");
    add(d, "move-history", rng_below(r, 2) ? "on" : "off");
}

static void draw_fake(struct rng *r, struct fake *f, struct drawn *d)
{
    fake_open(f, rng_next(r));
    f->cores = f->machine.cores = 1 + (unsigned)rng_below(r, 4);
    f->line = f->machine.line = 16u << rng_below(r, 4);
    f->private_lines = 2 + (unsigned)rng_below(r, 8);
    f->shared_lines = f->private_lines * f->cores + 1 + (unsigned)rng_below(r, 12);
    f->loss = (unsigned)rng_below(r, 3) * 40;
    f->mixes = rng_next(r) & 0x7000;
    (void)d;
}

static void draw_stream(struct rng *r, struct stream *s)
{
    static const char *const more[] = {"", "", ",unaligned=600", ",threads=12,events=500",
                                       ",heap_share=400,gc_share=0"};

    *s = (struct stream){NULL, 0, 0, 0};
    watch_synth(r, s, more[rng_below(r, ARRAY_SIZE(more))]);
}

static void run_vc(struct watch *w, const struct drawn *d, const struct stream *s)
{
    watch_open(w, "vc", d->granule, (const char *const[]){d->setting[0], NULL});
    watch_run(w, s->rec, s->records);
}

static void tell_case(uint64_t seed, const struct drawn *d, const char *why)
{
    print_error("seed %llu, %s, granularity %u", (unsigned long long)seed, d->policy, d->granule);
    for (size_t i = 0; d->setting[i]; i++)
        print_error(", %s", d->setting[i]);
    print_error(": %s\n", why);
}

/* True: they say the same. */
enum how { PLAIN, MACHINE, MACHINE_MIXED, MACHINE_FORGETS };
static bool same(uint64_t seed, enum how how, uint64_t *races)
{
    struct stream s;
    struct drawn d;
    struct watch a, b;
    struct fake f;
    struct rng r;
    char why[WHY];

    rng_seed(&r, seed);
    draw_stream(&r, &s);
    draw(&r, &d);
    draw_fake(&r, &f, &d);
    run_vc(&a, &d, &s);
    f.meanwhile = how == MACHINE_MIXED ? another_core : NULL;
    open_on(&b, how == PLAIN ? NULL : &f, &d);
    assert_non_null(b.checker);
    if (how != PLAIN)
        run_on(&b, &f, &s, &r, how == MACHINE_FORGETS);
    else
        watch_run(&b, s.rec, s.records);
    const bool differs = differ(&a, &b, how == MACHINE_MIXED, why);
    if (differs && how != MACHINE_FORGETS)
        tell_case(seed, &d, why);
    *races += a.races;
    watch_close(&a);
    watch_close(&b);
    fake_close(&f);
    stream_free(&s);
    return !differs;
}

static void equal(uint64_t first, uint64_t seeds, enum how how)
{
    uint64_t races = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++)
        assert_true(same(seed, how, &races));
    assert_true(races > seeds);
}

static void without_a_machine_they_equal_vc(void **state)
{
    (void)state;
    equal(1, 400, PLAIN);
}

static void with_everything_evicted_all_the_time_they_equal_vc(void **state)
{
    (void)state;
    equal(1, 500, MACHINE);
}

static void while_other_cores_go_on_in_the_middle_of_their_accesses_they_equal_vc(void **state)
{
    (void)state;
    equal(1, 300, MACHINE_MIXED);
}

/* What a line held is poisoned when it has left: the C library fills what is given back. (In a
 * build with the address sanitizer any look at it ends the test.) */
static void what_an_evicted_line_held_is_not_looked_at(void **state)
{
    (void)state;
    mallopt(M_PERTURB, 0xa5);
    equal(1000, 100, MACHINE);
    mallopt(M_PERTURB, 0);
}

static void without_the_managers_answers_verdicts_change(void **state)
{
    uint64_t races = 0, changed = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        changed += !same(seed, MACHINE_FORGETS, &races);
    assert_true(changed > 10);
}

/* ---- one step at a time --------------------------------------------------------------------- */

static void enough_permission_costs_the_history_lines_access(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, WITH("overlap=sum"));
    const sim_cycle first = step(&p, WRITE(0, A, 4));
    assert_true(first > FAKE_L1 + FAKE_L3 + 100); /* it is filled, by a handler */
    assert_int_equal(GREW(&p, outcome[OUTCOME_LOCAL]), 1);
    assert_int_equal(GREW(&p, allocated), 1);
    const uint64_t before = p.f.metadata;
    assert_int_equal(step(&p, WRITE(0, A, 4)), FAKE_L1 + FAKE_L1);
    assert_int_equal(p.f.metadata - before, 1);
    assert_int_equal(GREW(&p, outcome[OUTCOME_PERMISSION]), 1);
    assert_int_equal(GREW(&p, loads), 1);
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
    assert_int_equal(GREW(&p, outcome[OUTCOME_PERMISSION]), 1);
    assert_int_equal(GREW(&p, stores), 1);
    step(&p, WRITE(0, A, 4));
    assert_int_equal(GREW(&p, loads), 1);
    probe_close(&p);
}

static void false_sharing_leaves_permissions(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 1));
    step(&p, WRITE(1, A + 1, 1));
    assert_int_equal(GREW(&p, outcome[OUTCOME_PIGGYBACKED]), 1);
    step(&p, WRITE(0, A, 1));
    assert_int_equal(GREW(&p, outcome[OUTCOME_PERMISSION]), 1);
    step(&p, READ(1, A, 1));
    assert_int_equal(GREW(&p, lowered), 1);
    step(&p, READ(0, A, 1));
    assert_int_equal(GREW(&p, outcome[OUTCOME_PERMISSION]), 1);
    step(&p, WRITE(0, A, 1));
    assert_int_equal(GREW(&p, outcome[OUTCOME_PERMISSION]), 0);
    probe_close(&p);
}

static void the_home_asks_only_where_the_data_did_not_go(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("overlap=sum"));
    step(&p, WRITE(0, A, 4));
    step(&p, READ(1, A, 4)); /* the core that wrote gives the data */
    assert_int_equal(GREW(&p, outcome[OUTCOME_PIGGYBACKED]), 1);
    assert_int_equal(p.f.asks, 0);
    step(&p, READ(0, A + 4, 4)); /* the data is here, the permission is not */
    assert_int_equal(GREW(&p, outcome[OUTCOME_REMOTE]), 1);
    assert_int_equal(p.f.asks, 1);
    assert_int_equal(p.f.asked_bytes, 4);
    step(&p, READ(0, A + 8, 8));
    assert_int_equal(p.f.asked_bytes, 4 + 8);
    probe_close(&p);
}

static void data_from_the_l3_bring_no_other_cores_histories(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("overlap=sum"));
    step(&p, READ(0, A, 4));
    step(&p, READ(1, A + 4, 4));
    assert_int_equal(GREW(&p, outcome[OUTCOME_REMOTE]), 1);
    step(&p, READ(2, A, 4));
    assert_int_equal(GREW(&p, outcome[OUTCOME_REMOTE]), 1);
    assert_int_equal(GREW(&p, asked), 2);
    assert_int_equal(p.f.piggybacked, 0);
    step(&p, WRITE(3, B, 64));
    step(&p, READ(0, B + 60, 8)); /* of two lines: each is asked for */
    assert_int_equal(GREW(&p, asks), 1);
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

static uint64_t manager_loads(const struct probe *p)
{
    return watch_stat(&p->w, "manager.loads");
}

static void a_clear_looks_each_line_up_once(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 4));
    step(&p, (struct event)EV_REGION(CLEAR, 0, A, 4096)); /* a table is there */
    const uint64_t before = manager_loads(&p);
    step(&p, (struct event)EV_REGION(CLEAR, 0, A, 4096));
    assert_int_equal(manager_loads(&p) - before, 1 + 64); /* directory, and an entry a line */
    probe_close(&p);
}

static void a_collector_that_moves_on_leaves_nothing_with_the_manager(void **state)
{
    enum { PAGES = 50 };
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    for (sim_addr page = 0; page < PAGES; page++) {
        const sim_addr at = A + page * 4096;
        for (sim_addr i = 0; i < 8; i++)
            step(&p, READ(0, at + i * 64, 4));
        step(&p, READ(1, at, 4));
        copy(&p, 1, at + 4096, at, 512);
        step(&p, (struct event)EV_REGION(CLEAR, 0, at + 4, 300)); /* lines in part, too */
        step(&p, (struct event)EV_REGION(CLEAR, 0, at, 512));
        step(&p, READ(2, at + 4096, 4)); /* clean */
        step(&p, (struct event)EV_REGION(CLEAR, 0, at + 4096, 512));
    }
    for (sim_addr line = A / 64; line < (A + (PAGES + 1) * 4096) / 64; line++) {
        uint64_t cores[2];
        swm_may_be_cached(inside(&p.w)->manager, line * 64, cores);
        assert_int_equal(cores[0] | cores[1], 0);
    }
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    probe_close(&p);
}

/* A drained check whose cost comes only later is waited for all the same. */
static void a_check_drained_early_is_waited_for_by_the_next_synchronisation(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("checks=queued"));
    step(&p, WRITE(0, A, 4));
    struct radish *r = inside(&p.w);
    struct queued_check c = {.place = place_find(r, A / 64), .set = 1, .core = 1, .done = 7};
    sim_cycle wait;
    const uint64_t id = queue_put(r, &c, &wait);
    assert_int_equal(queue_drain_place(r, c.place), 0); /* nothing has been served yet */
    assert_int_equal(queue_drain_all(r), 0);
    queue_serve(r, 1, id, &(struct check_paid){.line = A / 64, .set = 1}, 5000);
    assert_int_equal(r->queue_n, 0);
    const sim_cycle free_at = r->queue_free;
    assert_true(free_at >= 5000 + 100);
    assert_int_equal(queue_drain_all(r), free_at);
    queue_put(r, &c, &wait);
    assert_int_equal(queue_drain_place(r, c.place), free_at); /* it comes after that */
    const struct event sync = ON(ACQUIRE, 2, LOCK);
    step_at(&p, &sync, 5000);
    assert_int_equal(GREW(&p, queue_wait), free_at - 5000);
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
    fake_evict(&p.f, 0, A);
    fake_tell(&p.f, p.w.checker, 0, 0);
    assert_int_equal(GREW(&p, taken_away), 4);
    step(&p, WRITE(0, A, 4));
    assert_int_equal(GREW(&p, outcome[OUTCOME_LOCAL]), 1);
    probe_close(&p);
}

static void a_core_whose_data_are_recalled_loses_its_permissions(void **state)
{
    struct line_event le = {
        .addr = A, .what = LINE_INVALIDATE, .level = LEVEL_L1, .core = 0, .from = 0};

    (void)state;
    for (int recalled = 0; recalled < 2; recalled++) {
        struct probe p;
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, WRITE(0, A, 4));
        for (size_t i = 0; i < FAKE_LINES; i++)
            if (p.f.l1[0][i].line == A / 64 + 1)
                p.f.l1[0][i].line = 0;
        le.recalled = recalled;
        p.was = inside(&p.w)->st;
        checker_line(p.w.checker, &le, 0);
        assert_int_equal(GREW(&p, taken_away), recalled);
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
    assert_int_equal(GREW(&p, allocated), 1);
    assert_int_equal(GREW(&p, lost_dirty), 0);
    assert_int_equal(GREW(&p, checks), 3);
    fake_lose(&p.f, 0, A); /* it has come: its going is noticed */
    fake_tell(&p.f, p.w.checker, 0, 0);
    assert_int_equal(GREW(&p, lost_dirty), 1);
    probe_close(&p);
}

/* Core 1 has displaced the line, and has not yet paid. */
static void what_waits_for_its_handler_is_stored_before_clocks_roll_over(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, WITH("clock-bits=4"));
    step(&p, WRITE(0, A, 4));
    fake_lose(&p.f, 1, A);
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
    assert_int_equal(GREW(&p, lost_dirty), 0);
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
    fake_lose(&p.f, 2, A);
    fake_tell(&p.f, p.w.checker, 2, 0);
    assert_int_equal(inside(&p.w)->st.lines, 0);
    assert_int_equal(GREW(&p, homeless), 2);
    assert_int_equal(p.f.drops, 2);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 8);
    step(&p, READ(1, A, 4));
    assert_int_equal(GREW(&p, outcome[OUTCOME_SOFTWARE]), 1);
    assert_int_equal(GREW(&p, need[NEED_WRITE]), 1);
    assert_int_equal(p.w.races, 1);
    probe_close(&p);
}

static void an_access_touches_every_history_line_that_it_needs(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "radish", 1, DEFAULTS);
    step(&p, WRITE(0, A + 12, 8)); /* bytes 12 to 15 in one, 16 to 19 in the next */
    assert_int_equal(GREW(&p, checks), 2);
    step(&p, WRITE(0, A + 60, 40)); /* across lines: 1, then 3 */
    assert_int_equal(GREW(&p, checks), 4);
    probe_close(&p);
    probe_open(&p, "radish-ts", 4, DEFAULTS);
    step(&p, WRITE(0, A + 12, 8));
    assert_int_equal(GREW(&p, checks), 1);
    probe_close(&p);
}

static void a_clear_discards_what_is_cached_a_hit_a_line(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 1, DEFAULTS);
    step(&p, WRITE(0, A, 64));
    step(&p, READ(1, A, 16));
    step(&p, (struct event)EV_REGION(CLEAR, 2, A, 8192));
    assert_int_equal(p.f.drops - p.drops, 5);
    assert_int_equal(GREW(&p, invalidated), 5);
    assert_int_equal(GREW(&p, parts), 2);
    assert_int_equal(GREW(&p, lost_dirty), 0);
    assert_int_equal(watch_stat(&p.w, "manager.cleared"), 0); /* nothing was stored before */
    assert_int_equal(swm_granules(inside(&p.w)->manager), 0);
    step(&p, WRITE(3, A, 64));
    assert_int_equal(p.w.races, 1); /* of the read by 1; none from here on */
    probe_close(&p);
}

static void a_clear_of_a_part_of_a_line_keeps_the_rest(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 16));
    step(&p, (struct event)EV_REGION(CLEAR, 0, A + 4, 8));
    assert_int_equal(p.f.drops - p.drops, 1);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 2);
    step(&p, READ(1, A + 4, 8));
    assert_int_equal(p.w.races, 0);
    step(&p, READ(1, A + 12, 4));
    assert_int_equal(p.w.races, 1);
    probe_close(&p);
}

static void a_copy_evicts_its_source_and_leaves_its_destination_uncached(void **state)
{
    struct probe p;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 16));
    copy(&p, 1, B, A, 16);
    assert_int_equal(p.f.drops - p.drops, 1);
    assert_int_equal(inside(&p.w)->st.lines, 0);
    assert_int_equal(swm_granules(inside(&p.w)->manager), 8);
    step(&p, WRITE(2, B + 8, 4));
    assert_int_equal(GREW(&p, outcome[OUTCOME_SOFTWARE]), 1);
    assert_int_equal(p.w.races, 1);
    assert_int_equal(p.w.race[0].earlier.event, 0);
    probe_close(&p);
}

static void a_copy_to_where_there_is_history_is_an_error_of_the_runtime(void **state)
{
    struct probe p;

    (void)state;
    for (int evicted = 0; evicted < 2; evicted++) {
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, WRITE(0, B + 60, 4));
        if (evicted)
            fake_lose(&p.f, 0, B);
        fake_tell(&p.f, p.w.checker, 0, 0);
        copy(&p, 1, B, A, 128);
        assert_int_equal(p.w.err.code, LARD_TRACE);
        assert_non_null(strstr(p.w.err.text, "event 1"));
        assert_non_null(strstr(p.w.err.text, "0x2003c"));
        assert_non_null(strstr(p.w.err.text, "ClearHistory"));
        probe_close(&p);
    }
    probe_open(&p, "lardish", 4, WITH("view=all-sync"));
    step(&p, WRITE(0, B + 60, 4));
    copy(&p, 1, B, A, 128);
    step(&p, READ(1, B + 60, 4));
    assert_int_equal(p.w.err.code, 0);
    assert_int_equal(p.w.races, 0); /* overwritten with nothing */
    probe_close(&p);
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 64));
    copy(&p, 1, A + 32, A, 32); /* and where its own source is, there may be some */
    assert_int_equal(p.w.err.code, LARD_TRACE);
    probe_close(&p);
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, WRITE(0, A, 32));
    copy(&p, 1, A + 8, A, 32);
    assert_int_equal(p.w.err.code, 0);
    probe_close(&p);
}

static void a_copy_keeps_others_out_unless_the_world_stands_still(void **state)
{
    const struct event read = READ(2, A, 4);

    (void)state;
    for (int collects = 0; collects < 2; collects++) {
        struct probe p;
        probe_open(&p, "lardish", 4, DEFAULTS);
        step(&p, WRITE(0, A, 4));
        if (collects)
            step(&p, ON(GC_BEGIN, 1, 0));
        const sim_cycle at = 1000000 + 100000 * p.w.number;
        copy(&p, 1, B, A, 64);
        step_at(&p, &read, at + 20); /* while the copy goes on */
        assert_int_equal(GREW(&p, blocked_requests), !collects);
        assert_int_equal(GREW(&p, blocked_cycles) > 0, !collects);
        probe_close(&p);
    }
}

static void a_queued_check_is_waited_for_by_synchronisation_only(void **state)
{
    sim_cycle cost[2];

    (void)state;
    for (int queued = 0; queued < 2; queued++) {
        struct probe p;
        probe_open(&p, "lardish", 4,
                   WITH("overlap=sum", queued ? "checks=queued" : "checks=synchronous"));
        step(&p, WRITE(0, A, 4));
        step(&p, READ(1, B, 4));
        fake_lose(&p.f, 0, A);
        fake_tell(&p.f, p.w.checker, 0, 0);
        const struct event read = READ(1, A, 4), sync = ON(ACQUIRE, 1, LOCK);
        const sim_cycle now = 5000000;
        cost[queued] = step_at(&p, &read, now);
        assert_int_equal(GREW(&p, queued), queued);
        assert_int_equal(p.w.races, 1); /* the verdict is that of its state then */
        step_at(&p, &sync, now + cost[queued]);
        assert_int_equal(GREW(&p, queue_wait) > 90, queued);
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
    assert_int_equal(p.w.races, 1);
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
        assert_int_equal(p.w.races, 1);
        assert_int_equal(GREW(&p, flushes), !lazy);
        assert_int_equal(GREW(&p, flushed), lazy ? 0 : 2);
        assert_int_equal(GREW(&p, lazy_flushes), lazy);
        probe_close(&p);
    }
}

static void what_cannot_be_modelled_is_refused(void **state)
{
    static const struct {
        const char *policy;
        unsigned granule;
        const char *setting, *says;
    } bad[] = {
        {"lardish", 0, "clock-bits=14", "granularity"},
        {"radish-ts", 2, "clock-bits=14", "type-safe"},
        {"radish", 1, "clock-bits=3", "clock-bits"},
        {"radish", 1, "page=5000", "power of two"},
        {"radish", 1, "memory=5000000", "power of two"},
        {"radish", 1, "base=0x1000", "must not meet"},
        {"radish", 1, "manager.base=0x100000", "must not meet"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct drawn d = {.policy = bad[i].policy, .granule = bad[i].granule};
        struct watch w;
        d.setting[0] = bad[i].setting;
        open_on(&w, NULL, &d);
        assert_null(w.checker);
        assert_int_equal(w.err.code, LARD_CONFIG);
        assert_non_null(strstr(w.err.text, bad[i].says));
        watch_close(&w);
    }
}

/* On a machine: its memory, and where the runtime's clocks are. */
static void what_does_not_fit_the_machine_is_refused(void **state)
{
    static const struct {
        const char *setting, *says;
    } bad[] = {
        {"memory=16Mi", "pages.memory"},
        {"manager.base=0x40000000000000", "runtime"},
        {"base=0x40000000000000", "runtime"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct config *c = config_new(NULL);
        struct stats *s = stats_new();
        struct err e = {0};
        struct fake f;
        uint64_t number = 0;
        fake_open(&f, 1);
        f.machine.memory = 1 << 25;
        char *text = xasprintf("policy.a.%s", bad[i].setting);
        assert_int_equal(config_set(c, text, &e), 0);
        const struct checker_env env = {.config = c,
                                        .stats = s,
                                        .number = &number,
                                        .granule = 4,
                                        .err = &e,
                                        .machine = &f.machine,
                                        .host = &f,
                                        .exec = fake_exec,
                                        .mem = fake_mem};
        assert_null(checker_new("a=lardish", &env, &e));
        assert_int_equal(e.code, LARD_CONFIG);
        assert_non_null(strstr(e.text, bad[i].says));
        free(text);
        stats_free(s);
        config_free(c);
        fake_close(&f);
    }
}

static void regions_too_big_to_go_through_are_refused(void **state)
{
    const struct event clear[] = {EV_REGION(CLEAR, 0, 0, UINT64_C(1) << 60)};
    struct probe p;
    struct watch w;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, clear[0]);
    assert_int_equal(p.w.err.code, LARD_TRACE);
    probe_close(&p);
    watch_open(&w, "lardish", 4,
               DEFAULTS); /* without a machine it is what has history that counts */
    watch_run(&w, (const struct event[]){EV_WRITE4(0, A)}, 1);
    watch_run(&w, clear, 1);
    watch_run(&w, (const struct event[]){EV_WRITE4(1, A)}, 1);
    assert_int_equal(w.races, 0);
    assert_int_equal(w.err.code, 0);
    watch_close(&w);
}

static void on_abort(int signal)
{
    static const char text[] = "FAILED: an assertion\n";

    (void)signal;
    _exit(write(2, text, sizeof text - 1) < 0 ? 2 : 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_permission_costs_the_history_lines_access),
        cmocka_unit_test(after_a_release_the_clock_is_written_again),
        cmocka_unit_test(false_sharing_leaves_permissions),
        cmocka_unit_test(the_home_asks_only_where_the_data_did_not_go),
        cmocka_unit_test(data_from_the_l3_bring_no_other_cores_histories),
        cmocka_unit_test(a_handler_begins_when_the_data_are_there),
        cmocka_unit_test(a_clear_looks_each_line_up_once),
        cmocka_unit_test(a_collector_that_moves_on_leaves_nothing_with_the_manager),
        cmocka_unit_test(a_check_drained_early_is_waited_for_by_the_next_synchronisation),
        cmocka_unit_test(a_run_may_end_in_the_middle_of_any_payment),
        cmocka_unit_test(a_core_that_throws_out_data_loses_its_permissions),
        cmocka_unit_test(a_core_whose_data_are_recalled_loses_its_permissions),
        cmocka_unit_test(a_commit_brings_each_line_once),
        cmocka_unit_test(what_waits_for_its_handler_is_stored_before_clocks_roll_over),
        cmocka_unit_test(data_that_leaves_the_chip_takes_its_histories_along),
        cmocka_unit_test(an_access_touches_every_history_line_that_it_needs),
        cmocka_unit_test(a_clear_discards_what_is_cached_a_hit_a_line),
        cmocka_unit_test(a_clear_of_a_part_of_a_line_keeps_the_rest),
        cmocka_unit_test(a_copy_evicts_its_source_and_leaves_its_destination_uncached),
        cmocka_unit_test(a_copy_to_where_there_is_history_is_an_error_of_the_runtime),
        cmocka_unit_test(a_copy_keeps_others_out_unless_the_world_stands_still),
        cmocka_unit_test(a_queued_check_is_waited_for_by_synchronisation_only),
        cmocka_unit_test(a_clock_that_no_longer_fits_flushes_everything),
        cmocka_unit_test(a_thread_switch_flushes_the_core_or_the_line),
        cmocka_unit_test(what_cannot_be_modelled_is_refused),
        cmocka_unit_test(what_does_not_fit_the_machine_is_refused),
        cmocka_unit_test(regions_too_big_to_go_through_are_refused),
        cmocka_unit_test(without_a_machine_they_equal_vc),
        cmocka_unit_test(with_everything_evicted_all_the_time_they_equal_vc),
        cmocka_unit_test(while_other_cores_go_on_in_the_middle_of_their_accesses_they_equal_vc),
        cmocka_unit_test(what_an_evicted_line_held_is_not_looked_at),
        cmocka_unit_test(without_the_managers_answers_verdicts_change),
    };

    if (argc > 2 && !strcmp(argv[1], "--mutant")) {
        if (!mutant_set(argv[2]))
            return 2;
        signal(SIGABRT, on_abort);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
