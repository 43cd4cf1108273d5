/* t_compare_random.c - compare on random traces: equals do not differ; false and missed are what
 * two runs apart give; and what is said to be ordered is so by the graph of the events, which is
 * built here from docs/events.md, without clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { SEEDS = 12 };

static struct lardsim *ran(const char *const *set, const char *source, bool comparing,
                           void (*on_race)(void *, const struct lardsim_race *),
                           void (*on_difference)(void *, const struct lardsim_difference *),
                           void *arg)
{
    struct lardsim *l = lardsim_new();

    for (; *set; set++)
        assert_int_equal(lardsim_set(l, *set), 0);
    if (comparing)
        lardsim_compare(l);
    if (on_race)
        lardsim_on_race(l, on_race, arg);
    if (on_difference)
        lardsim_on_difference(l, on_difference, arg);
    if (lardsim_start(l) || lardsim_run(l, source) || lardsim_finish(l))
        fail_msg("%s: %s", source, lardsim_error(l));
    return l;
}

static uint64_t stat(const struct lardsim *l, const char *first, const char *label,
                     const char *last)
{
    char *name = xasprintf("%s.%s.%s", first, label, last);
    uint64_t v = 0;

    if (lardsim_stat(l, name, &v))
        fail_msg("no statistic %s", name);
    free(name);
    return v;
}

static char *wild(unsigned seed)
{
    return xasprintf("synth:seed=%u,events=4000,threads=5,variables=24,discipline=800,racy=100,"
                     "system_share=250,heap_share=120,gc_share=200,flag_share=60,txn_share=40,"
                     "kernel_threads=3,rw_share=300,wait_share=100,site_share=500,marks=on",
                     seed);
}

/* ---- equals --------------------------------------------------------------------------------- */

/* Of ordered reads FastTrack remembers the last: it may know fewer earlier sides of a racy write.
 */
static void never(void *arg, const struct lardsim_difference *d)
{
    if (strcmp(d->policy, "fasttrack") == 0 && strcmp(d->of, "pair") == 0 &&
        strcmp(d->verdict, "missed") == 0 && strcmp(d->why, "forgotten") == 0)
        return;
    fail_msg("%s: %s %s, event %llu: %s", (const char *)arg, d->verdict, d->policy,
             (unsigned long long)d->is.event, d->reason);
}

static void equals_do_not_differ(void **state)
{
    static const char *const name[] = {"false.accesses", "missed.accesses", "false.places",
                                       "missed.places",  "false.pairs",     "false.sites"};
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char *source = wild(seed);
        struct lardsim *l = ran((const char *const[]){"policies=vc,twin=vc,fasttrack", NULL},
                                source, true, NULL, never, source);
        assert_true(stat(l, "policy", "vc", "races.accesses") > 0);
        for (size_t i = 0; i < ARRAY_SIZE(name); i++)
            assert_int_equal(stat(l, "compare", "twin", name[i]), 0);
        for (size_t i = 0; i < 4; i++) /* all but the pairs */
            assert_int_equal(stat(l, "compare", "fasttrack", name[i]), 0);
        lardsim_free(l);
        free(source);
    }
}

/* ---- two runs apart ------------------------------------------------------------------------- */

enum { EVENTS = 8192 };

struct verdicts { /* of one policy, alone; by event */
    bool racy[EVENTS], system[EVENTS];
    uint64_t site[EVENTS];
};

static void note(void *arg, const struct lardsim_race *r)
{
    struct verdicts *v = arg;

    assert_true(r->is.event < EVENTS);
    v->racy[r->is.event] = true;
    v->system[r->is.event] = r->system;
    v->site[r->is.event] = r->is.site;
}

static void alone(const char *view, const char *source, struct verdicts *v)
{
    char *set = xasprintf("policy.vc.view=%s", view);

    *v = (struct verdicts){.racy = {false}};
    lardsim_free(ran((const char *const[]){set, NULL}, source, false, note, NULL, v));
    free(set);
}

/* What one finds and the other does not. */
static void assert_only(const struct lardsim *l, const char *label, const char *verdict,
                        const struct verdicts *one, const struct verdicts *other)
{
    struct map sites;
    uint64_t accesses = 0, system = 0;
    char *first = xasprintf("compare.%s", label);

    map_init(&sites, NULL);
    for (size_t e = 0; e < EVENTS; e++) {
        if (!one->racy[e] || other->racy[e])
            continue;
        accesses++;
        system += one->system[e];
        if (one->site[e])
            map_put(&sites, one->site[e]);
    }
    assert_int_equal(stat(l, first, verdict, "accesses"), accesses);
    assert_int_equal(stat(l, first, verdict, "sites"), sites.n);
    assert_int_equal(stat(l, first, verdict, "system"), system);
    assert_int_equal(stat(l, first, verdict, "program"), accesses - system);
    map_free(&sites);
    free(first);
}

static void views_differ_as_two_runs_apart_do(void **state)
{
    static const char *const view[] = {"all-memory", "all-sync",  "no-clear",
                                       "no-copy",    "no-thread", "naive"};
    static struct verdicts truth, other;
    uint64_t differing = 0;

    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char *source = wild(seed);
        alone("tracked", source, &truth);
        for (size_t i = 0; i < ARRAY_SIZE(view); i++) {
            char *set = xasprintf("policy.b.view=%s", view[i]);
            struct lardsim *l = ran((const char *const[]){"policies=a=vc,b=vc", set, NULL}, source,
                                    true, NULL, NULL, NULL);
            alone(view[i], source, &other);
            assert_only(l, "b", "false", &other, &truth);
            assert_only(l, "b", "missed", &truth, &other);
            differing += stat(l, "compare", "b", "false.accesses");
            differing += stat(l, "compare", "b", "missed.accesses");
            lardsim_free(l);
            free(set);
        }
        free(source);
    }
    assert_true(differing > 100);
}

/* ---- the graph ------------------------------------------------------------------------------ */

enum { NODES = 1024, THREADS = 16 };

struct graph {                 /* of events, in one view of synchronisation */
    bool sync, kernel;         /* the view heeds all-sync; is no-thread */
    bool before[NODES][NODES]; /* closed as it grows */
    unsigned nodes;
    uint64_t actor[THREADS];           /* 1 + kernel thread, or a number beyond; 0: none yet */
    unsigned last_of[2 * THREADS + 2]; /* by actor: 1 + its last event */
    unsigned birth[THREADS], end[THREADS];
    struct event at[NODES];
};

static uint64_t actor_of(const struct graph *g, unsigned tid)
{
    return g->kernel && g->actor[tid] ? g->actor[tid] : THREADS + 1 + tid;
}

static void edge(struct graph *g, unsigned from, unsigned to) /* from: 1 + the event; 0: none */
{
    if (!from)
        return;
    g->before[from - 1][to] = true;
    for (unsigned i = 0; i < from - 1; i++)
        g->before[i][to] |= g->before[i][from - 1];
}

static bool heeded(const struct graph *g, const struct event *ev)
{
    return g->sync || !(ev->flags & EVF_SYSTEM);
}

static void sync_edges(struct graph *g, const struct event *ev, unsigned n)
{
    const bool takes = ev->kind == EV_ACQUIRE || ev->kind == EV_VOLATILE_READ;
    const uint8_t gives = ev->kind == EV_ACQUIRE ? EV_RELEASE : EV_VOLATILE_WRITE;

    for (unsigned i = 0; takes && i < n; i++)
        if (g->at[i].kind == gives && g->at[i].addr == ev->addr && heeded(g, &g->at[i]))
            edge(g, i + 1, n);
    if (ev->kind == EV_FORK)
        g->birth[ev->aux] = n + 1;
    if (ev->kind == EV_JOIN && g->end[ev->aux])
        edge(g, g->end[ev->aux], n);
    else if (ev->kind == EV_JOIN)
        edge(g, g->last_of[actor_of(g, (unsigned)ev->aux)], n);
    if (ev->kind == EV_THREAD_END)
        g->end[ev->tid] = n + 1;
}

static void graph_add(struct graph *g, const struct event *ev)
{
    const unsigned n = g->nodes++;

    assert_true(n < NODES && ev->tid < THREADS);
    g->at[n] = *ev;
    if (ev->kind == EV_THREAD)
        g->actor[ev->tid] = ev->aux + 1;
    edge(g, g->last_of[actor_of(g, ev->tid)], n);
    edge(g, g->birth[ev->tid], n);
    g->birth[ev->tid] = 0;
    if (heeded(g, ev))
        sync_edges(g, ev, n);
    g->last_of[actor_of(g, ev->tid)] = n + 1;
}

static struct graph *graph_of(const char *source, bool sync, bool kernel)
{
    struct graph *g = xcalloc(1, sizeof *g);
    struct err e = {0};
    struct source *s = source_open(source, &e);
    struct batch b;

    assert_non_null(s);
    g->sync = sync;
    g->kernel = kernel;
    while (!source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i]))
            graph_add(g, &b.rec[i]);
    source_close(s);
    return g;
}

struct judged {
    const char *source;
    struct graph *truth, *sync, *kernel;
    uint64_t ordered, forgotten;
};

static void judge(void *arg, const struct lardsim_difference *d)
{
    struct judged *j = arg;
    const bool missed = strcmp(d->verdict, "missed") == 0, ordered = strcmp(d->why, "ordered") == 0;
    const bool sync = strcmp(d->policy, "all-sync") == 0 || strcmp(d->policy, "naive") == 0;
    const struct graph *silent = !missed                               ? j->truth
                                 : sync                                ? j->sync
                                 : strcmp(d->policy, "no-thread") == 0 ? j->kernel
                                                                       : j->truth;

    assert_string_not_equal(d->why, "unknown");
    if (strcmp(d->why, "unchecked") == 0 || strcmp(d->why, "no-conflict") == 0)
        return;
    if (strcmp(d->why, "rule") == 0) {
        assert_string_equal(d->policy, "eraser");
        assert_true(missed);
        return;
    }
    if (d->is.kind == LARDSIM_READ && d->earlier.kind == LARDSIM_READ)
        return; /* of all conflicting accesses */
    if (silent->before[d->earlier.event][d->is.event] != ordered)
        fail_msg("%s: %s by %s, event %llu after %llu: %s", j->source, d->verdict, d->policy,
                 (unsigned long long)d->is.event, (unsigned long long)d->earlier.event, d->reason);
    j->ordered += ordered;
    j->forgotten += !ordered;
}

static void what_is_said_to_be_ordered_is(void **state)
{
    static const char *const set[] = {"policies=lard=vc,all-memory=vc,all-sync=vc,no-clear=vc,no-"
                                      "copy=vc,naive=vc,no-thread=vc,eraser",
                                      "policy.all-memory.view=all-memory",
                                      "policy.all-sync.view=all-sync",
                                      "policy.no-clear.view=no-clear",
                                      "policy.no-copy.view=no-copy",
                                      "policy.naive.view=naive",
                                      "policy.no-thread.view=no-thread",
                                      NULL};
    struct judged j = {.ordered = 0};

    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char *source = xasprintf(
            "synth:seed=%u,events=600,threads=5,variables=12,locks=3,volatiles=2,barriers=0,"
            "classes=0,"
            "atomics=0,txn_share=0,nested_share=0,rw_share=0,wait_share=0,system_share=300,"
            "heap_share=0,discipline=700,racy=200,kernel_threads=%u,end_share=%u,ends=%s,sync_"
            "share="
            "150",
            seed, seed % 3, seed % 2 ? 20 : 0, seed % 4 ? "on" : "off");
        j.source = source;
        j.truth = graph_of(source, false, false);
        j.sync = graph_of(source, true, false);
        j.kernel = graph_of(source, false, true);
        lardsim_free(ran(set, source, true, NULL, judge, &j));
        free(j.truth);
        free(j.sync);
        free(j.kernel);
        free(source);
    }
    assert_true(j.ordered > 50);
    assert_true(j.forgotten > 50);
}

/* ---- a policy that knows intervals ----------------------------------------------------------- */

/* It has touched the location, and by these threads: all, or one. */
static bool touched_between(const struct graph *g, const struct lardsim_difference *d)
{
    for (uint64_t e = d->earlier.event + 1; e < d->noticed; e++)
        if (event_is_access(&g->at[e]) && g->at[e].addr < d->location + 8 &&
            g->at[e].addr + g->at[e].size > d->location)
            return true;
    return false;
}

struct intervals_judged {
    struct graph *graph;
    bool sited;
    uint64_t missed, told_more;
};

/* cvm finds what vc finds: words, late, and of their accesses one pair of an interval's each. */
static void judge_intervals(void *arg, const struct lardsim_difference *d)
{
    struct intervals_judged *j = arg;

    assert_string_equal(d->of, "pair");
    if (strcmp(d->verdict, "missed") == 0) {
        assert_string_equal(d->why, "rule");
        assert_non_null(strstr(d->reason, j->sited ? "names the first" : "no sites"));
        j->missed++;
    } else {
        assert_true(j->sited);
        assert_string_equal(d->why, "forgotten");
        assert_non_null(strstr(d->reason, "at this location when that access came"));
        assert_true(touched_between(j->graph, d));
        j->told_more++;
    }
    assert_true(d->is.event <= d->noticed);
    assert_false(j->graph->before[d->earlier.event][d->is.event]);
}

static void intervals_are_explained(void **state)
{
    static const char *const history[] = {"last", "all"}, *const sites[] = {"off", "at-once"};
    struct intervals_judged j = {.missed = 0};

    (void)state;
    for (unsigned seed = 1; seed <= 2 * SEEDS; seed++) {
        char *source = xasprintf(
            "synth:seed=%u,events=600,threads=5,variables=12,locks=3,volatiles=2,barriers=0,"
            "classes=0,atomics=0,txn_share=0,nested_share=0,rw_share=0,wait_share=0,system_share=0,"
            "heap_share=0,discipline=700,racy=200,site_share=1000,sync_share=150",
            seed);
        char *past = xasprintf("policy.vc.history=%s", history[seed % 2]);
        char *which = xasprintf("policy.cvm.sites=%s", sites[seed / 2 % 2]);
        j.sited = seed / 2 % 2;
        j.graph = graph_of(source, false, false);
        lardsim_free(ran((const char *const[]){"policies=vc,cvm", past, which, NULL}, source, true,
                         NULL, judge_intervals, &j));
        free(j.graph);
        free(past);
        free(which);
        free(source);
    }
    if (j.missed < 50 || j.told_more < 50)
        fail_msg("%llu missed pairs, %llu more: too few to judge", (unsigned long long)j.missed,
                 (unsigned long long)j.told_more);
}

/* On traces with all that there is: nothing is left unexplained, whatever cvm is told to do. */
static void explained(void *arg, const struct lardsim_difference *d)
{
    const char *setting = arg;
    const bool exact = strcmp(setting, "report=first") != 0 && strcmp(setting, "writes=diffs") != 0;

    if (strcmp(d->why, "unknown") == 0 || !*d->reason)
        fail_msg("%s: %s %s 0x%llx, event %llu: %s", setting, d->verdict, d->of,
                 (unsigned long long)d->location, (unsigned long long)d->is.event, d->reason);
    /* An atomic write takes the place of its thread's plain one, and races with less. */
    if (exact && strcmp(d->of, "place") == 0 && strcmp(d->verdict, "missed") == 0)
        fail_msg("%s: location 0x%llx %s: %s", setting, (unsigned long long)d->location, d->verdict,
                 d->reason);
}

static void intervals_are_explained_on_any_trace(void **state)
{
    static const char *const setting[] = {"sites=off", "sites=at-once", "report=first",
                                          "writes=diffs", "intervals=5"};

    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char *source = wild(seed);
        for (size_t i = 0; i < ARRAY_SIZE(setting); i++) {
            char *set = xasprintf("policy.cvm.%s", setting[i]);
            lardsim_free(ran((const char *const[]){"policies=vc,cvm", set, NULL}, source, true,
                             NULL, explained, (void *)(uintptr_t)setting[i]));
            free(set);
        }
        free(source);
    }
}

/* The sums that every run checks hold whatever is compared (lardsim_finish in ran). */
static void everything_adds_up(void **state)
{
    static const char *const set[] = {"policies=none,vc,all=vc,ft=fasttrack,skip=fasttrack,less=vc,"
                                      "array=fasttrack,goldilocks,eraser,wide=eraser",
                                      "compare.truth=vc",
                                      "policy.all.history=all",
                                      "policy.skip.repeats=skip",
                                      "policy.less.after-race=disable-variable",
                                      "policy.array.after-race=disable-array",
                                      "policy.wide.view=naive,no-thread",
                                      "compare.max=100",
                                      NULL};

    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char *source = wild(seed);
        struct lardsim *l = ran(set, source, true, NULL, NULL, NULL);
        assert_int_equal(stat(l, "compare", "all", "missed.accesses"), 0);
        assert_int_equal(stat(l, "compare", "less", "false.accesses"), 0);
        assert_int_equal(stat(l, "compare", "less", "missed.places"), 0);
        assert_int_equal(stat(l, "compare", "none", "missed.places"),
                         stat(l, "compare", "eraser", "missed.places") +
                             stat(l, "policy", "eraser", "races.locations") -
                             stat(l, "compare", "eraser", "false.places"));
        lardsim_free(l);
        free(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_do_not_differ),
        cmocka_unit_test(views_differ_as_two_runs_apart_do),
        cmocka_unit_test(what_is_said_to_be_ordered_is),
        cmocka_unit_test(intervals_are_explained),
        cmocka_unit_test(intervals_are_explained_on_any_trace),
        cmocka_unit_test(everything_adds_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
