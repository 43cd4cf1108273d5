/* t_radish_random.c - the detectors in hardware say what vc says, access by access, on random
 * traces: with no machine, with caches that forget everything all the time, and while other cores
 * go on; and what they know is in those lines and with the software manager alone.
 *
 *     t_radish_random [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/frame/mutant_arg.h"
#include "tests/policy/radish/probe.h"

enum { WHY = 300 };

/* The manager loses all that it has of what the stream touches. */
static void forget_all(const struct watch *w, struct fake *f, const struct stream *s)
{
    for (const struct event *ev = s->rec; ev < s->rec + s->records; ev += event_records(ev))
        for (sim_addr a = ev->addr; event_is_access(ev) && a < ev->addr + ev->size; a++)
            swm_void(inside(w)->manager, pages_physical(&f->pages, vaddr_of(a)));
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
    add(d, "answers", rng_below(r, 4) ? "line" : "granules");
    add(d, "fill", rng_below(r, 4) ? "checks" : "status");
    add(d, "empty", (const char *const[]){"ask", "page", "line"}[rng_below(r, 3)]);
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
    fake_mix(f, rng_next(r) & 0x7000);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_machine_they_equal_vc),
        cmocka_unit_test(with_everything_evicted_all_the_time_they_equal_vc),
        cmocka_unit_test(while_other_cores_go_on_in_the_middle_of_their_accesses_they_equal_vc),
        cmocka_unit_test(what_an_evicted_line_held_is_not_looked_at),
        cmocka_unit_test(without_the_managers_answers_verdicts_change),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
