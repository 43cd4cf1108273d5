/* t_kernels2.c - what is special in some of the built-in programs: races that were put in are
 * found, and at their sites; transactions keep what nothing else keeps; reused memory and moved
 * objects mislead who ignores Clear and Copy. What holds for all programs: t_kernels.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "sim/sim.h"
#include "workloads/workloads.h"

enum { MAX_RUNS = 4, MAX_GCS = 4096 };

static const char table3[] = "policies=lard=vc,no-clear=vc,no-copy=vc,all-sync=vc";
static const char *const views[] = {"policy.no-clear.view=no-clear", "policy.no-copy.view=no-copy",
                                    "policy.all-sync.view=all-sync", NULL};
static const char *const no_views[] = {NULL};

struct result { /* of one policy */
    char label[16];
    uint64_t races, elsewhere; /* elsewhere: not between the sites of a plant */
    uint64_t across;           /* of all: there was a collection between the two sides */
};
struct outcome {
    const struct workload *load;
    struct result of[MAX_RUNS];
    uint64_t kinds[EV_KINDS];
    uint64_t in_txn, program; /* accesses */
    uint64_t locks;           /* acquires by the program */
    uint64_t gc[MAX_GCS];     /* events: where collections begin */
};

static bool is_plant(const struct workload *w, const char *is, const char *earlier)
{
    for (const struct workload_plant *p = w->plants; p && is && earlier && p->site; p++)
        if ((!strcmp(is, p->site) && !strcmp(earlier, p->other)) ||
            (!strcmp(is, p->other) && !strcmp(earlier, p->site)))
            return true;
    return false;
}

static void on_race(void *arg, const struct lardsim_race *r)
{
    struct outcome *o = arg;
    struct result *to = o->of;
    bool across = false;

    while (to->label[0] && strcmp(to->label, r->policy))
        to++;
    assert_true(to < o->of + MAX_RUNS);
    snprintf(to->label, sizeof to->label, "%s", r->policy);
    to->races++;
    to->elsewhere += !is_plant(o->load, r->is.site_name, r->earlier.site_name);
    for (uint64_t i = 0; i < MAX_GCS && i < o->kinds[EV_GC_BEGIN]; i++)
        across |= o->gc[i] > r->earlier.event && o->gc[i] < r->is.event;
    to->across += across;
}

static struct result result(const struct outcome *o, const char *label)
{
    for (unsigned i = 0; i < MAX_RUNS; i++)
        if (!strcmp(o->of[i].label, label))
            return o->of[i];
    return (struct result){.races = 0};
}

/* plain: an event less what makes it part of a transaction. */
static void push(struct lardsim *l, const struct event *ev, bool plain)
{
    struct lardsim_event p = sim_event(ev);

    if (plain)
        p.flags &= (uint16_t)~EVF_IN_TXN;
    if (plain && (ev->kind == EV_TXN_BEGIN || ev->kind == EV_TXN_COMMIT))
        return;
    if (lardsim_event(l, &p))
        fail_msg("%s", lardsim_error(l));
}

static void push_names(struct lardsim *l, const struct names *names, size_t *n)
{
    for (; *n < names_count(names); ++*n) {
        const struct name *name = names_at(names, *n);
        if (name->space == NAME_SITE)
            assert_int_equal(lardsim_name(l, LARDSIM_NAME_SITE, name->id, name->text), 0);
    }
}

static void count(struct outcome *o, const struct event *ev, uint64_t number)
{
    if (ev->kind == EV_GC_BEGIN && o->kinds[EV_GC_BEGIN] < MAX_GCS)
        o->gc[o->kinds[EV_GC_BEGIN]] = number;
    o->kinds[ev->kind]++;
    o->locks += ev->kind == EV_ACQUIRE && !(ev->flags & EVF_SYSTEM);
    if (event_is_access(ev) && !(ev->flags & EVF_SYSTEM)) {
        o->program++;
        o->in_txn += ev->flags & EVF_IN_TXN ? 1 : 0;
    }
}

static struct source *opened(const char *spec)
{
    struct err e = {0};
    struct source *s = workload_open(spec, &e);

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    return s;
}

static struct lardsim *started(struct outcome *o, const struct source *s, const char *policies,
                               const char *const *set)
{
    struct lardsim *l = lardsim_new();
    char *granularity = xasprintf("granularity=%u", s->granularity);

    assert_int_equal(lardsim_set(l, "machine=none"), 0);
    assert_int_equal(lardsim_set(l, granularity), 0);
    assert_int_equal(lardsim_set(l, policies), 0);
    for (; *set; set++)
        assert_int_equal(lardsim_set(l, *set), 0);
    lardsim_on_race(l, on_race, o);
    assert_int_equal(lardsim_start(l), 0);
    free(granularity);
    return l;
}

static const struct workload *named(const char *spec)
{
    char *name = xasprintf("%.*s", (int)strcspn(spec, ","), spec);
    const struct workload *w = workload_find(name);

    assert_non_null(w);
    free(name);
    return w;
}

static void run(struct outcome *o, const char *spec, const char *policies, const char *const *set,
                bool plain)
{
    struct source *s = opened(spec);
    struct err e = {0};
    struct batch b;
    size_t names = 0;

    *o = (struct outcome){.load = named(spec)};
    struct lardsim *l = started(o, s, policies, set);
    for (;;) {
        if (source_next(s, &b, &e))
            fail_msg("%s: %s", spec, e.text);
        if (!b.records)
            break;
        push_names(l, s->names, &names);
        uint64_t number = b.first;
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            count(o, &b.rec[i], number++);
            push(l, &b.rec[i], plain);
        }
    }
    assert_int_equal(lardsim_finish(l), 0);
    lardsim_free(l);
    source_close(s);
}

static bool moves(const char *gc)
{
    return strncmp(gc, "marksweep", strlen("marksweep")) != 0;
}

static const char *const gcs[] = {
    "marksweep", "semispace", "generational", "marksweep-concurrent", "copying-concurrent", NULL};
static const char *const schedules[] = {"round-robin", "random", "adversarial", NULL};

/* ---- planted races -------------------------------------------------------------------------- */

static void planted_races_are_found_at_the_planted_sites_and_nowhere_else(void **state)
{
    static const char *const racy[] = {"tsp", "hedc", "pool"};
    struct outcome o;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(racy) * 15; i++) {
        char *spec = xasprintf("%s,racy=on,gc=%s,schedule=%s,seed=%u", racy[i / 15], gcs[i % 5],
                               schedules[i % 3], i);
        run(&o, spec, "policies=vc,fasttrack", no_views, false);
        const struct result vc = result(&o, "vc"), ft = result(&o, "fasttrack");
        if (!vc.races || vc.races != ft.races || vc.elsewhere || ft.elsewhere)
            fail_msg("%s: vc has %u races, %u of them not planted, fasttrack %u", spec,
                     (unsigned)vc.races, (unsigned)vc.elsewhere, (unsigned)ft.races);
        free(spec);
    }
}

static void without_the_parameter_there_is_no_race(void **state)
{
    static const char *const fine[] = {"tsp", "hedc", "pool", "multiset", "multiset,mode=locks"};
    struct outcome o;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(fine) * 3; i++) {
        char *spec = xasprintf("%s,gc=%s,schedule=%s,threads=%u,seed=%u", fine[i / 3], gcs[i % 5],
                               schedules[i % 3], 1 + i % 3 * 3, i);
        run(&o, spec, "policies=vc", no_views, false);
        if (result(&o, "vc").races)
            fail_msg("%s: %u races", spec, (unsigned)result(&o, "vc").races);
        free(spec);
    }
}

/* A race needs two threads. */
static void one_thread_has_no_race_but_with_the_client_of_hedc(void **state)
{
    struct outcome o;

    (void)state;
    run(&o, "tsp,racy=on,threads=1", "policies=vc", no_views, false);
    assert_int_equal(result(&o, "vc").races, 0);
    run(&o, "pool,racy=on,threads=1", "policies=vc", no_views, false);
    assert_int_equal(result(&o, "vc").races, 0);
    run(&o, "hedc,racy=on,threads=1", "policies=vc", no_views, false);
    assert_true(result(&o, "vc").races > 0);
}

/* ---- transactions --------------------------------------------------------------------------- */

static void the_multiset_has_no_race_but_when_its_transactions_are_taken_away(void **state)
{
    struct outcome o;

    (void)state;
    run(&o, "multiset,mode=txn", "policies=vc", no_views, false);
    assert_true(o.kinds[EV_TXN_COMMIT] > 1000);
    assert_int_equal(o.kinds[EV_TXN_COMMIT], o.kinds[EV_TXN_BEGIN]);
    assert_int_equal(result(&o, "vc").races, 0);
    run(&o, "multiset,mode=txn", "policies=vc", no_views, true);
    assert_true(result(&o, "vc").races > 1000);
}

static void arrays_to_insert_are_handled_outside_transactions(void **state)
{
    struct outcome o;

    (void)state;
    run(&o, "multiset,mode=txn", "policies=none", no_views, false);
    assert_true(o.in_txn > o.program / 2);
    assert_true(o.program - o.in_txn > 1000);
    assert_true(o.kinds[EV_ACQUIRE] > 1000); /* the factory's */
}

static void with_locks_there_are_no_transactions(void **state)
{
    struct outcome o;

    (void)state;
    run(&o, "multiset,mode=locks", "policies=none", no_views, false);
    assert_int_equal(o.kinds[EV_TXN_BEGIN] + o.kinds[EV_TXN_COMMIT] + o.in_txn, 0);
    assert_true(o.kinds[EV_ACQUIRE] > 10000);
}

/* ---- LARD's Figure 1 ------------------------------------------------------------------------ */

static void who_ignores_clear_sees_races_in_reused_memory(void **state)
{
    struct outcome o;

    (void)state;
    for (unsigned i = 0; gcs[i]; i++) {
        char *spec = xasprintf("pool,gc=%s,seed=%u", gcs[i], i);
        run(&o, spec, table3, views, false);
        if (result(&o, "lard").races || !result(&o, "no-clear").races ||
            result(&o, "no-copy").races || result(&o, "all-sync").races)
            fail_msg("%s: lard %u, no-clear %u, no-copy %u, all-sync %u", spec,
                     (unsigned)result(&o, "lard").races, (unsigned)result(&o, "no-clear").races,
                     (unsigned)result(&o, "no-copy").races, (unsigned)result(&o, "all-sync").races);
        free(spec);
    }
}

/* Two racy accesses in each of the 6 rounds: the second thread reads the ticket and writes it. */
static void each_planted_race_of_pool_has_a_collection_between_its_sides(void **state)
{
    struct outcome o;

    (void)state;
    for (unsigned i = 0; gcs[i]; i++) {
        char *spec =
            xasprintf("pool,racy=on,gc=%s,seed=%u,schedule=%s", gcs[i], i, schedules[i % 3]);
        run(&o, spec, "policies=lard=vc", no_views, false);
        assert_int_equal(result(&o, "lard").races, 12);
        assert_int_equal(result(&o, "lard").across, 12);
        free(spec);
    }
}

static void who_ignores_copy_misses_it_where_the_collector_moves(void **state)
{
    struct outcome o;

    (void)state;
    for (unsigned i = 0; gcs[i]; i++) {
        char *spec = xasprintf("pool,racy=on,gc=%s,seed=%u", gcs[i], i);
        run(&o, spec, table3, views, false);
        const uint64_t all = result(&o, "lard").races, found = result(&o, "no-copy").races;
        assert_int_equal(all, 12);
        if (moves(gcs[i]) ? found >= all : found != all)
            fail_msg("%s: no-copy has %u races", spec, (unsigned)found);
        if (!strcmp(gcs[i], "semispace"))
            assert_int_equal(found, 0);
        free(spec);
    }
}

static void who_heeds_the_collectors_synchronisation_misses_it_too(void **state)
{
    struct outcome o;

    (void)state;
    for (unsigned i = 0; gcs[i]; i++) {
        char *spec = xasprintf("pool,racy=on,gc=%s,seed=%u", gcs[i], i);
        run(&o, spec, table3, views, false);
        assert_int_equal(result(&o, "all-sync").races, 0);
        free(spec);
    }
}

/* ---- results -------------------------------------------------------------------------------- */

/* Each checks its results and fails when they are wrong. */
static void results_are_right_for_any_number_of_threads(void **state)
{
    static const char *const of[] = {"fft",
                                     "barnes",
                                     "water",
                                     "spatial",
                                     "tsp",
                                     "multiset",
                                     "hedc",
                                     "colt",
                                     "pool",
                                     "fft,repeats=3",
                                     "barnes,bodies=1",
                                     "barnes,version=dsm",
                                     "barnes,version=dsm,bodies=1",
                                     "water,molecules=7",
                                     "water,version=dsm",
                                     "water,version=dsm,molecules=7",
                                     "colt,n=5",
                                     "spatial,grid=3",
                                     "spatial,version=dsm",
                                     "spatial,version=dsm,grid=3",
                                     "multiset,slots=1",
                                     "hedc,tasks=1"};
    static const unsigned threads[] = {1, 2, 3, 17};
    struct outcome o;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(of) * ARRAY_SIZE(threads); i++) {
        char *spec = xasprintf("%s,threads=%u,gc=%s,heap=512Ki,nursery=16Ki,tlab=512", of[i / 4],
                               threads[i % 4], gcs[i % 5]);
        run(&o, spec, "policies=none", no_views, false);
        free(spec);
    }
}

static void what_allocates_while_it_runs_is_right_and_has_no_race_after_collections(void **state)
{
    static const char *const of[] = {"barnes,bodies=400,steps=10", "hedc,queries=2000,archive=64",
                                     "colt,n=3,rounds=500"};
    struct outcome o;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(of) * 5; i++) {
        char *spec = xasprintf("%s,gc=%s,schedule=%s,threads=6,heap=256Ki,nursery=16Ki,tlab=512",
                               of[i / 5], gcs[i % 5], schedules[i % 3]);
        run(&o, spec, "policies=vc", no_views, false);
        if (!o.kinds[EV_GC_BEGIN] || result(&o, "vc").races)
            fail_msg("%s: %u collections, %u races", spec, (unsigned)o.kinds[EV_GC_BEGIN],
                     (unsigned)result(&o, "vc").races);
        free(spec);
    }
}

/* What CVM ran: barnes with a tree for each thread has three barriers a step and no lock. Water
 * locks the molecules that a thread has met, its own and the half that follows, and four sums;
 * spatial three sums, and two cells for each molecule that leaves one. Both have five barriers a
 * step. */
static void programs_for_a_dsm_lock_and_meet_as_often_as_published(void **state)
{
    enum { THREADS = 4, STEPS = 3, MOLECULES = 32 };
    static const struct {
        const char *spec;
        uint64_t barriers, acquires; /* of a thread, in a step */
        bool more;                   /* two for each molecule that leaves its cell */
    } rows[] = {
        {"barnes,bodies=100", 3, 0, false},
        {"water,molecules=32", 5, MOLECULES / THREADS + MOLECULES / 2 + 4, false},
        {"spatial,grid=6", 5, 3, true},
    };
    struct outcome o;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        char *spec = xasprintf("%s,version=dsm,steps=3,threads=4", rows[i].spec);
        run(&o, spec, "policies=vc", no_views, false);
        const uint64_t fixed = rows[i].acquires * THREADS * STEPS;
        if (o.kinds[EV_BARRIER_DEPART] != rows[i].barriers * THREADS * STEPS)
            fail_msg("%s: %u departures", spec, (unsigned)o.kinds[EV_BARRIER_DEPART]);
        if (rows[i].more ? o.locks <= fixed || (o.locks - fixed) % 2 : o.locks != fixed)
            fail_msg("%s: %u acquires, of which %u are of each step", spec, (unsigned)o.locks,
                     (unsigned)fixed);
        assert_int_equal(result(&o, "vc").races, 0);
        free(spec);
    }
}

static void small_sizes_have_50_to_200_thousand_accesses_of_the_program(void **state)
{
    static const char *const of[] = {"fft",  "barnes",   "water", "spatial", "tsp",
                                     "hedc", "multiset", "colt",  "pool"};
    struct outcome o;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
        run(&o, of[i], "policies=none", no_views, false);
        if (o.program < 50000 || o.program > 200000)
            fail_msg("%s has %u", of[i], (unsigned)o.program);
    }
}

static void parameters_that_can_not_be_are_refused(void **state)
{
    static const char *const bad[] = {
        "fft,rows=3",         "fft,rows=1",   "tsp,cities=3", "tsp,cities=17",   "spatial,grid=2",
        "multiset,mode=both", "pool,lists=0", "hedc,tasks=0", "barnes,bodies=0", "water,racy=on"};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err e = {0};
        struct source *s = workload_open(bad[i], &e);
        if (s)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(e.code, LARD_CONFIG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_races_are_found_at_the_planted_sites_and_nowhere_else),
        cmocka_unit_test(without_the_parameter_there_is_no_race),
        cmocka_unit_test(one_thread_has_no_race_but_with_the_client_of_hedc),
        cmocka_unit_test(the_multiset_has_no_race_but_when_its_transactions_are_taken_away),
        cmocka_unit_test(arrays_to_insert_are_handled_outside_transactions),
        cmocka_unit_test(with_locks_there_are_no_transactions),
        cmocka_unit_test(who_ignores_clear_sees_races_in_reused_memory),
        cmocka_unit_test(each_planted_race_of_pool_has_a_collection_between_its_sides),
        cmocka_unit_test(who_ignores_copy_misses_it_where_the_collector_moves),
        cmocka_unit_test(who_heeds_the_collectors_synchronisation_misses_it_too),
        cmocka_unit_test(results_are_right_for_any_number_of_threads),
        cmocka_unit_test(what_allocates_while_it_runs_is_right_and_has_no_race_after_collections),
        cmocka_unit_test(programs_for_a_dsm_lock_and_meet_as_often_as_published),
        cmocka_unit_test(small_sizes_have_50_to_200_thousand_accesses_of_the_program),
        cmocka_unit_test(parameters_that_can_not_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
