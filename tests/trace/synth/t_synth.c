/* t_synth.c - the generator: the same events everywhere, legal ones, of all kinds, at the rates
 * asked for, in bounded memory, with races and, where asked for, without. t_synth_params.c has the
 * parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/map.h"
#include "tests/oracle/oracle.h"
#include "tests/trace/synth/spec.h"
#include "trace/synth/synth_int.h"

static const char everything[] =
    "threads=6,variables=12,fields=3,stride=4,sizes=1,2,4,8,16,unaligned=80,locks=5,barriers=2,"
    "volatiles=3,atomics=3,classes=3,sharing=900,discipline=500,sync_share=350,rw_share=300,"
    "nested_share=400,wait_share=150,txn_share=80,heap_share=100,gc_share=100,system_share=150,"
    "flag_share=100,end_share=20,kernel_threads=3,granularity=2,run_max=5";

static const char bench[] =
    "threads=8,fork=roots,variables=100000,locks=1000,read_share=701,sync_share=130,run_max=10,"
    "sharing=600,discipline=1000,racy=0,barriers=0,volatiles=0,atomics=0,classes=0,end_share=0,"
    "rw_share=0,nested_share=0,wait_share=0,txn_share=0,heap_share=0,system_share=0,flag_share=0,"
    "unaligned=0,site_share=0,marks=off,ends=off";

struct feed { /* a source, event by event */
    struct source *source;
    struct batch b;
    size_t at;       /* record of the next event */
    uint64_t events; /* so far */
};

static struct feed feed_open(const char *common, const char *more)
{
    struct synth_params p;
    struct err e = {0};
    char *spec = xasprintf("%s%s%s", common, *common && *more ? "," : "", more);
    struct feed f = {.source = synth_parse(&p, spec, &e) ? NULL : synth_open(&p, &e)};

    if (!f.source)
        fail_msg("%s: %s", spec, e.text);
    free(spec);
    return f;
}

/* NULL: that was all, and the source is closed. */
static const struct event *feed_next(struct feed *f)
{
    struct err e = {0};

    if (f->at == f->b.records) {
        if (source_next(f->source, &f->b, &e))
            fail_msg("%s", e.text);
        assert_int_equal(f->b.first, f->events);
        f->at = 0;
    }
    if (!f->b.records) {
        source_close(f->source);
        return NULL;
    }
    const struct event *ev = &f->b.rec[f->at];
    f->at += event_records(ev);
    f->events++;
    return ev;
}

/* ---- what a stream is made of --------------------------------------------------------------- */

struct trace_tally {
    uint64_t events, records, digest;
    uint64_t kinds[EV_KINDS], orders[ORDERS], sizes[17], flags[16];
    uint64_t overlaps, longest_run;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void tally_event(struct trace_tally *t, const struct event *ev)
{
    t->events++;
    t->kinds[ev->kind]++;
    t->orders[event_order(ev)]++;
    for (int bit = 0; bit < 16; bit++)
        t->flags[bit] += ev->flags >> bit & 1;
    if (event_is_access(ev) && ev->size < ARRAY_SIZE(t->sizes))
        t->sizes[ev->size]++;
    if (ev->kind == EV_COPY && ev->addr - ev[1].addr + ev->aux < 2 * ev->aux)
        t->overlaps++;
    for (unsigned i = 0; i < event_records(ev); i++) {
        t->records++;
        t->digest = mix(mix(mix(t->digest, ev[i].addr), ev[i].aux), ev[i].size);
        t->digest = mix(mix(mix(t->digest, ev[i].gap), ev[i].tid), ev[i].flags);
        t->digest = mix(t->digest, ev[i].kind);
    }
}

static struct trace_tally tally_of(const char *common, const char *more)
{
    struct feed f = feed_open(common, more);
    struct trace_tally t = {0};
    uint64_t run = 0;
    unsigned last = MAX_THREADS;

    for (const struct event *ev; (ev = feed_next(&f));) {
        run = ev->tid == last ? run + 1 : 1;
        last = ev->tid;
        t.longest_run = run > t.longest_run ? run : t.longest_run;
        tally_event(&t, ev);
    }
    return t;
}

/* ---- the same events ------------------------------------------------------------------------ */

static void the_events_are_these_on_every_machine(void **state)
{
    static const struct {
        const char *common, *more;
        uint64_t digest;
    } golden[] = {
        {"", "", UINT64_C(0x66bf6c9364a09e1e)},
        {"", "seed=2,events=5000,fork=tree", UINT64_C(0x84675d8394ea3db3)},
        {everything, "seed=3,events=20000", UINT64_C(0x6d32bba34101a8aa)},
        {everything, "seed=4,events=3000,raw=on,fork=roots,allocs=off",
         UINT64_C(0xb3159c995f4d83f1)},
        {bench, "seed=5,events=20000", UINT64_C(0x18fe8c9e0a9b8a55)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(golden); i++) {
        const struct trace_tally t = tally_of(golden[i].common, golden[i].more);
        if (t.digest != golden[i].digest)
            fail_msg("%s: digest 0x%llx", golden[i].more, (unsigned long long)t.digest);
    }
}

static void another_seed_is_another_trace(void **state)
{
    const struct trace_tally a = tally_of(everything, "seed=8"), b = tally_of(everything, "seed=9");

    (void)state;
    assert_int_not_equal(a.digest, b.digest);
}

/* ---- all kinds ------------------------------------------------------------------------------ */

/* Of instructions that a program has, or of a capture: no generator makes them. */
static bool is_of_others(int kind)
{
    return kind == EV_READVC || kind == EV_WRITEVC || kind >= EV_TIME;
}

static void every_kind_order_size_and_flag_appears(void **state)
{
    const struct trace_tally t = tally_of(everything, "events=20000,c11=500");

    (void)state;
    for (int k = 1; k < EV_KINDS; k++)
        if (!t.kinds[k] != is_of_others(k))
            fail_msg("%s: %llu", ev_info[k].text, (unsigned long long)t.kinds[k]);
    for (int o = 0; o < ORDERS; o++)
        assert_true(t.orders[o]);
    for (int size = 1; size <= 16; size *= 2)
        assert_true(t.sizes[size]);
    for (int bit = 0; bit < 16; bit++)
        assert_int_equal(t.flags[bit] > 0, bit <= 9 || bit == 14 || bit == 15);
    assert_true(t.overlaps);
}

static void a_tiny_trace_has_most_kinds(void **state)
{
    (void)state;
    for (int seed = 0; seed < 20; seed++) {
        char more[64];
        unsigned kinds = 0;
        snprintf(more, sizeof more, "events=400,marks=off,seed=%d", seed);
        const struct trace_tally t = tally_of(everything, more);
        for (int k = 1; k < EV_KINDS; k++)
            kinds += t.kinds[k] > 0;
        assert_in_range(kinds, 20, 28);
    }
}

static void raw_has_clocks_and_no_synchronisation_of_the_program(void **state)
{
    struct feed f = feed_open(everything, "events=20000,raw=on");
    uint64_t kinds[EV_KINDS] = {0};

    (void)state;
    for (const struct event *ev; (ev = feed_next(&f));)
        if (!(ev->flags & EVF_SYSTEM))
            kinds[ev->kind]++;
    for (int k = 1; k < EV_KINDS; k++)
        if (ev_info[k].class == CLASS_SYNC && k != EV_THREAD_START && k != EV_THREAD_END)
            assert_int_equal(kinds[k], 0);
    assert_true(kinds[EV_READVC] && kinds[EV_WRITEVC]);
}

static void forks_are_as_asked(void **state)
{
    const char *fork[] = {"fork=roots", "fork=flat", "fork=tree"};
    bool others[3] = {false};
    uint64_t forks[3] = {0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct feed f = feed_open("threads=20,seed=3,ends=off", fork[i]);
        for (const struct event *ev; (ev = feed_next(&f));)
            if (ev->kind == EV_FORK) {
                forks[i]++;
                others[i] |= ev->tid != 0;
            }
    }
    assert_int_equal(forks[0], 0);
    assert_int_equal(forks[1], 19);
    assert_int_equal(forks[2], 19);
    assert_false(others[1]);
    assert_true(others[2]);
}

/* A lock is copied elsewhere between acquire and release, and comes back under its new name. */
static void held_locks_move(void **state)
{
    struct feed f = feed_open(everything, "events=20000,gc_share=0");
    struct map held; /* name to holder + 1 */
    uint64_t moved = 0;

    (void)state;
    map_init(&held, NULL);
    for (const struct event *ev; (ev = feed_next(&f));)
        if (ev->kind == EV_ACQUIRE)
            *map_put(&held, ev->addr) = ev->tid + 1u;
        else if (ev->kind == EV_RELEASE)
            map_remove(&held, ev->addr);
        else if (ev->kind == EV_COPY)
            moved += map_find(&held, ev[1].addr) != NULL;
    assert_true(moved > 10);
    map_free(&held);
}

/* ---- legal streams -------------------------------------------------------------------------- */

static void obeys(const char *spec)
{
    struct feed f = feed_open(spec, "");
    struct rules *r = rules_new(true);
    struct err e = {0};
    const char *what;

    for (const struct event *ev; (ev = feed_next(&f));) {
        if (event_well_formed(ev, &what))
            fail_msg("%s: event %llu: %s", spec, (unsigned long long)f.events - 1, what);
        if (rules_apply(r, ev, f.events - 1, &e))
            fail_msg("%s: %s", spec, e.text);
    }
    if (rules_finish(r, &e))
        fail_msg("%s: %s", spec, e.text);
    rules_free(r);
}

static void streams_obey_all_rules_whatever_the_parameters(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 2);
    for (int i = 0; i < 200; i++) {
        char *spec = synth_spec_draw(&rng, 600);
        obeys(spec);
        free(spec);
    }
}

static void streams_obey_all_rules_at_the_edges(void **state)
{
    (void)state;
    obeys("events=0");
    obeys("events=1,ends=off");
    obeys("threads=1,variables=1,fields=1,locks=1,stride=1,sizes=16,heap_share=500");
    obeys("threads=65535,fork=roots,run_max=1,events=70000,names=off");
    obeys("threads=300,fork=tree,raw=on,events=5000");
    obeys("locks=0,sync_share=1000,volatiles=0,barriers=0,classes=0");
    obeys("sync_share=1000,barriers=1,locks=0,volatiles=0,classes=0,threads=3");
    obeys("sync_share=1000,wait_share=1000,locks=1,nested_share=0,threads=3");
    obeys("heap_share=1000,gc_share=1000,ends=off,events=500");
    obeys("gap_max=2147483647,sites=2147483647,seed=18446744073709551615");
}

/* ---- how many, how often -------------------------------------------------------------------- */

static void near_mille(const char *what, uint64_t part, uint64_t of, uint64_t mille, uint64_t off)
{
    const uint64_t is = part * 1000 / of;

    if (is + off < mille || is > mille + off)
        fail_msg("%s: %llu per mille, not %llu", what, (unsigned long long)is,
                 (unsigned long long)mille);
}

static void the_bench_recipe_has_its_rates(void **state)
{
    const struct trace_tally t = tally_of(bench, "events=300000");
    const uint64_t locks = t.kinds[EV_ACQUIRE] + t.kinds[EV_RELEASE];

    (void)state;
    assert_int_equal(t.events, 300000);
    near_mille("reads", t.kinds[EV_READ], t.events, 610, 5);
    near_mille("writes", t.kinds[EV_WRITE], t.events, 260, 5);
    near_mille("lock operations", locks, t.events, 130, 3);
    assert_int_equal(t.kinds[EV_READ] + t.kinds[EV_WRITE] + locks + t.kinds[EV_THREAD_START],
                     t.events);
    assert_int_equal(t.records, t.events);
    assert_in_range(t.longest_run, 10, 12); /* a last access may come with its acquire */
}

static void shares_are_kept(void **state)
{
    static const char plain[] =
        "events=100000,locks=0,barriers=0,volatiles=0,classes=0,atomics=0,"
        "end_share=0,txn_share=0,heap_share=0,marks=off,ends=off,fork=roots";
    struct trace_tally t =
        tally_of(plain, "system_share=300,flag_share=0,discipline=0,unaligned=0");

    (void)state;
    near_mille("system", t.flags[0], t.events, 300, 10);
    near_mille("reads", t.kinds[EV_READ], t.events, 700, 10);
    t = tally_of(plain, "flag_share=400,sharing=250");
    near_mille("stack", t.flags[1], t.events, 300, 10);
    near_mille("final", t.flags[4], t.events, 100, 10);
    t = tally_of(plain, "sizes=1,2,16,read_share=0,unaligned=0,sharing=0");
    near_mille("1 byte", t.sizes[1], t.events, 333, 10);
    near_mille("16 bytes", t.sizes[16], t.events, 333, 10);
    assert_int_equal(t.kinds[EV_READ], 0);
}

/* 0 alone is none. */
static void the_least_share_of_heap_events_is_some(void **state)
{
    (void)state;
    assert_int_equal(tally_of("heap_share=0", "events=20000").kinds[EV_ALLOC], 0);
    assert_true(tally_of("heap_share=1", "events=20000").kinds[EV_ALLOC] > 0);
}

static void the_number_of_events_is_exact_unless_something_must_be_closed(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 9000; n = n < 60 ? n + 1 : n + 4000) {
        char more[64];
        snprintf(more, sizeof more, "events=%u,marks=off,gc_share=0,ends=off", n);
        assert_int_equal(tally_of(everything, more).events, n);
        snprintf(more, sizeof more, "events=%u", n);
        assert_true(tally_of(everything, more).events >= n);
    }
}

static void ends_closes_everything(void **state)
{
    struct feed f = feed_open(everything, "events=3000,threads=30");
    struct map open; /* by thread: acted, and neither ended nor joined */
    int64_t held = 0;

    (void)state;
    map_init(&open, NULL);
    for (const struct event *ev; (ev = feed_next(&f));) {
        map_put(&open, ev->tid);
        held += ev->kind == EV_ACQUIRE || ev->kind == EV_ACQUIRE_SHARED;
        held -= ev->kind == EV_RELEASE || ev->kind == EV_RELEASE_SHARED;
        if (ev->kind == EV_THREAD_END)
            map_remove(&open, ev->tid);
        if (ev->kind == EV_JOIN)
            map_remove(&open, ev->aux);
    }
    map_remove(&open, 30); /* the collector stays */
    assert_int_equal(open.n, 0);
    assert_int_equal(held, 0);
    map_free(&open);
}

static void memory_does_not_grow_with_the_events(void **state)
{
    struct feed f = feed_open(everything, "events=1000000000000");
    const struct synth *g = (const struct synth *)f.source;
    size_t early = 0;

    (void)state;
    while (f.events < 400000) {
        assert_non_null(feed_next(&f));
        if (f.events < 40000)
            early = g->cap;
        assert_int_equal(g->cap, early);
        assert_true(f.b.records < 5000);
    }
    source_close(f.source);
}

/* ---- races ---------------------------------------------------------------------------------- */

static size_t races(const char *common, const char *more, unsigned granule)
{
    const struct oracle_options options = {.granule = granule};
    struct feed f = feed_open(common, more);
    struct event *rec = NULL;
    size_t n = 0, racy = 0;

    for (const struct event *ev; (ev = feed_next(&f)); n += event_records(ev)) {
        rec = xrealloc(rec, n + event_records(ev), sizeof *rec);
        memcpy(rec + n, ev, event_records(ev) * sizeof *rec);
    }
    struct oracle *o = oracle_new(rec, n, &options);
    assert_non_null(o);
    for (size_t i = 0; i < oracle_events(o); i++)
        racy += oracle_racy(o, i);
    oracle_free(o);
    free(rec);
    return racy;
}

static void the_default_has_races(void **state)
{
    const size_t racy = races("", "events=4000", 8);

    (void)state;
    assert_in_range(racy, 10, 400);
}

/* A few objects in a thousand may be accessed without their lock, by all. */
static void objects_that_no_lock_protects_race(void **state)
{
    (void)state;
    if (!races("discipline=1000,racy=300,txn_share=0", "events=4000", 8))
        fail_msg("300 of 1000 objects have no lock, and nothing races");
}

static void full_discipline_has_none(void **state)
{
    static const char *const more[] = {
        "",
        "heap_share=300,locks=4",
        "rw_share=400,nested_share=400",
        "fields=3,stride=1,locks=2",
        "raw=on",
        "fork=tree,wait_share=300",
        "atomics=20",
        "sizes=16,unaligned=500,gc_share=500",
    };
    static const unsigned granule[] = {0, 1, 8};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(more); i++)
        for (int seed = 0; seed < 3; seed++) {
            char all[200];
            snprintf(all, sizeof all, "events=1500,seed=%d%s%s", seed, *more[i] ? "," : "",
                     more[i]);
            for (size_t k = 0; k < ARRAY_SIZE(granule); k++)
                if (races("discipline=1000,racy=0,txn_share=0", all, granule[k]))
                    fail_msg("%s: races at granularity %u", all, granule[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_events_are_these_on_every_machine),
        cmocka_unit_test(another_seed_is_another_trace),
        cmocka_unit_test(every_kind_order_size_and_flag_appears),
        cmocka_unit_test(a_tiny_trace_has_most_kinds),
        cmocka_unit_test(raw_has_clocks_and_no_synchronisation_of_the_program),
        cmocka_unit_test(forks_are_as_asked),
        cmocka_unit_test(held_locks_move),
        cmocka_unit_test(streams_obey_all_rules_whatever_the_parameters),
        cmocka_unit_test(streams_obey_all_rules_at_the_edges),
        cmocka_unit_test(the_bench_recipe_has_its_rates),
        cmocka_unit_test(shares_are_kept),
        cmocka_unit_test(the_least_share_of_heap_events_is_some),
        cmocka_unit_test(the_number_of_events_is_exact_unless_something_must_be_closed),
        cmocka_unit_test(ends_closes_everything),
        cmocka_unit_test(memory_does_not_grow_with_the_events),
        cmocka_unit_test(the_default_has_races),
        cmocka_unit_test(objects_that_no_lock_protects_race),
        cmocka_unit_test(full_discipline_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
