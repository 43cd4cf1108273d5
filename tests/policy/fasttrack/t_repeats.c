/* t_repeats.c - what fasttrack's `repeats = skip` may leave out, and `history = all` against the
 * counting of RAPID's happens-before engine: two clocks a variable, R and W, joins of the clocks of
 * all reads and of all writes, never cleared; a read races unless W <= C, a write unless W <= C and
 * R <= C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/vclock.h"
#include "tests/frame/watch.h"

#include <cmocka.h>

enum { SEEDS = 200, VARIABLES = 4096 };

static void draw(struct stream *s, const char *more, uint64_t seed)
{
    char *text =
        xasprintf("seed=%llu,events=400,names=off,marks=off,%s", (unsigned long long)seed, more);
    struct synth_params p;
    struct err e = {0};

    if (synth_parse(&p, text, &e))
        die("%s", e.text);
    struct source *source = synth_open(&p, &e);
    if (!source || stream_read(s, source, &e))
        die("%s", e.text);
    source_close(source);
    free(text);
}

static struct watch watched(const struct stream *s, const char *policy, const char *setting)
{
    struct watch w;

    watch_open(&w, policy, 8, (const char *const[]){setting, NULL});
    watch_run(&w, s->rec, s->records);
    assert_int_equal(w.err.code, 0);
    return w;
}

/* ---- repeats = skip ------------------------------------------------------------------------- */

static bool has_race(const struct watch *w, uint64_t event)
{
    for (size_t i = 0; i < w->races; i++)
        if (w->race[i].is.event == event)
            return true;
    return false;
}

static uint64_t locations(const struct watch *w)
{
    uint64_t n = 0;

    assert_true(stats_value(w->stats, "policy.a.races.locations", &n));
    return n;
}

static void what_is_skipped_had_raced_before(void **state)
{
    uint64_t skipped = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stream s = {0};
        draw(&s, "threads=4,variables=6,sharing=900,discipline=400,run_max=8", seed);
        struct watch skip = watched(&s, "fasttrack", "repeats=skip");
        struct watch report = watched(&s, "fasttrack", "repeats=report");
        struct watch all = watched(&s, "vc", "history=all");
        for (size_t i = 0; i < skip.races; i++)
            assert_true(has_race(&all, skip.race[i].is.event));
        assert_true(skip.races <= report.races);
        assert_int_equal(locations(&skip), locations(&report));
        skipped += report.races - skip.races;
        watch_close(&skip);
        watch_close(&report);
        watch_close(&all);
        stream_free(&s);
    }
    assert_true(skipped > 100); /* or the test would show nothing */
}

/* The event of the first conflict at a location; nothing is cleared or copied here. */
static uint64_t first_race(const struct watch *w, sim_addr location)
{
    for (size_t i = 0; i < w->conflicts; i++)
        if (w->conflict[i].location == location)
            return w->conflict[i].event;
    return UINT64_MAX;
}

static void the_first_race_of_a_location_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stream s = {0};
        draw(&s, "threads=4,variables=6,sharing=900,discipline=400,heap_share=0", seed);
        struct watch skip = watched(&s, "fasttrack", "repeats=skip");
        struct watch report = watched(&s, "fasttrack", "repeats=report");
        for (size_t i = 0; i < report.conflicts; i++)
            assert_int_equal(first_race(&skip, report.conflict[i].location),
                             first_race(&report, report.conflict[i].location));
        assert_int_equal(locations(&skip), locations(&report));
        watch_close(&skip);
        watch_close(&report);
        stream_free(&s);
    }
}

/* ---- RAPID's counting ----------------------------------------------------------------------- */

struct rapid {
    struct vclock thread[16], lock_of[VARIABLES], reads[VARIABLES], writes[VARIABLES];
    uint64_t name[VARIABLES]; /* of variables and locks */
    size_t names;
};

static size_t number(struct rapid *r, uint64_t name)
{
    for (size_t i = 0; i < r->names; i++)
        if (r->name[i] == name)
            return i;
    assert_true(r->names < VARIABLES);
    r->name[r->names] = name;
    return r->names++;
}

static bool leq(const struct vclock *a, const struct vclock *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->at[i] > vclock_get(b, i))
            return false;
    return true;
}

static void tick(struct vclock *c, sim_tid t)
{
    vclock_set(c, t, vclock_get(c, t) + 1, NULL);
}

/* True: the event is a racy access. */
static bool rapid_step(struct rapid *r, const struct event *ev)
{
    struct vclock *c = &r->thread[ev->tid];
    bool racy = false;

    if (!vclock_get(c, ev->tid))
        tick(c, ev->tid);
    if (event_is_access(ev)) {
        const size_t x = number(r, ev->addr);
        racy = !leq(&r->writes[x], c) || (event_writes(ev) && !leq(&r->reads[x], c));
        vclock_join(event_writes(ev) ? &r->writes[x] : &r->reads[x], c, NULL);
    } else if (ev->kind == EV_ACQUIRE) {
        vclock_join(c, &r->lock_of[number(r, ev->addr)], NULL);
    } else if (ev->kind == EV_RELEASE) {
        vclock_copy(&r->lock_of[number(r, ev->addr)], c, NULL);
        tick(c, ev->tid);
    } else if (ev->kind == EV_FORK) {
        vclock_join(&r->thread[ev->aux], c, NULL);
        tick(&r->thread[ev->aux], (sim_tid)ev->aux);
        tick(c, ev->tid);
    } else if (ev->kind == EV_JOIN) {
        vclock_join(c, &r->thread[ev->aux], NULL);
    } else {
        assert_true(ev->kind == EV_THREAD_START || ev->kind == EV_THREAD_END);
    }
    return racy;
}

static void rapid_free(struct rapid *r)
{
    for (size_t i = 0; i < ARRAY_SIZE(r->thread); i++)
        vclock_free(&r->thread[i], NULL);
    for (size_t i = 0; i < VARIABLES; i++) {
        vclock_free(&r->lock_of[i], NULL);
        vclock_free(&r->reads[i], NULL);
        vclock_free(&r->writes[i], NULL);
    }
    free(r);
}

static void all_counts_as_rapid_does(void **state)
{
    uint64_t races = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rapid *r = xcalloc(1, sizeof *r);
        struct stream s = {0};
        draw(&s,
             "threads=5,variables=8,sharing=900,discipline=500,nested_share=0,rw_share=0,wait_"
             "share=0,volatiles=0,"
             "barriers=0,classes=0,atomics=0,txn_share=0,heap_share=0,system_share=0,flag_share=0,"
             "sizes=8,"
             "unaligned=0,fork=tree,end_share=30",
             seed);
        struct watch all = watched(&s, "vc", "history=all");
        size_t k = 0, event = 0;
        for (size_t i = 0; i < s.records; i += event_records(&s.rec[i]), event++) {
            const bool racy = rapid_step(r, &s.rec[i]);
            assert_int_equal(racy, k < all.races && all.race[k].is.event == event);
            k += racy;
        }
        assert_int_equal(k, all.races);
        races += k;
        watch_close(&all);
        stream_free(&s);
        rapid_free(r);
    }
    assert_true(races > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_skipped_had_raced_before),
        cmocka_unit_test(the_first_race_of_a_location_is_the_same),
        cmocka_unit_test(all_counts_as_rapid_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
