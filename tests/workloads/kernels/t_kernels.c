/* t_kernels.c - the built-in programs, each in its small size: what they compute is right, what
 * they do is legal, the same twice, and free of races under every collector and schedule, as
 * long as nobody asks for those that are put in. What the runtime itself promises: t_vm.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/frame/watch.h"
#include "workloads/workloads.h"

/* So that what makes garbage is collected. */
#define SMALL_HEAP "heap=4Mi,nursery=256Ki"

struct outcome {
    uint64_t digest, accesses, collections, races;
    bool planted; /* all races are between sites of plants */
};

static bool is_plant(const struct workload *w, const struct names *names, const struct race *race)
{
    const char *is = names_find(names, NAME_SITE, race->is.site);
    const char *earlier = names_find(names, NAME_SITE, race->earlier.site);

    for (const struct workload_plant *p = w->plants; p && is && earlier && p->site; p++)
        if ((!strcmp(is, p->site) && !strcmp(earlier, p->other)) ||
            (!strcmp(is, p->other) && !strcmp(earlier, p->site)))
            return true;
    return false;
}

static void count(struct outcome *o, const struct batch *b)
{
    for (size_t i = 0; i < b->records; i += event_records(&b->rec[i])) {
        o->accesses += event_is_access(&b->rec[i]);
        o->collections += b->rec[i].kind == EV_GC_BEGIN;
    }
}

static void hold_to_rules(struct rules *r, const struct batch *b, const char *spec)
{
    uint64_t number = b->first;
    struct err e = {0};

    for (size_t i = 0; i < b->records; i += event_records(&b->rec[i]))
        if (rules_apply(r, &b->rec[i], number++, &e))
            fail_msg("%s: %s", spec, e.text);
}

/* What is left when a source has been read to its end. */
static void finish(struct outcome *o, struct watch *w, struct rules *r, const char *spec)
{
    struct err e = {0};

    if (r && rules_finish(r, &e))
        fail_msg("%s: %s", spec, e.text);
    if (w->err.code)
        fail_msg("%s: %s", spec, w->err.text);
    checker_finish(w->checker);
    o->races = w->races;
}

static struct outcome run(const struct workload *load, const char *spec, bool rules,
                          const char *policy)
{
    static const char *const none[] = {NULL};
    struct err e = {0};
    struct source *s = workload_open(spec, &e);
    struct outcome o = {.planted = true};
    struct digest *d = digest_new();
    struct rules *r = rules ? rules_new(true) : NULL;
    struct watch w;
    struct batch b;

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    watch_open(&w, policy, load->granularity ? load->granularity : 8, none);
    for (;;) {
        if (source_next(s, &b, &e))
            fail_msg("%s: %s", spec, e.text);
        if (!b.records)
            break;
        count(&o, &b);
        digest_add(d, b.rec, b.records * sizeof *b.rec);
        if (rules)
            hold_to_rules(r, &b, spec);
        const struct event *end = b.rec + b.records;
        for (const struct event *ev = b.rec; ev < end && !w.err.code;)
            ev = checker_run(w.checker, ev, end, end, &w.number);
    }
    finish(&o, &w, r, spec);
    for (size_t i = 0; i < w.races; i++)
        o.planted &= is_plant(load, s->names, &w.race[i]);
    o.digest = digest_value(d);
    digest_free(d);
    rules_free(r);
    watch_close(&w);
    source_close(s);
    return o;
}

static const char *const *choices_of(const char *name)
{
    for (const struct param *row = vm_param_rows; row->name; row++)
        if (!strcmp(row->name, name))
            return row->choices;
    fail_msg("workloads have no parameter %s", name);
    return NULL;
}

/* Twins have tests of their own: t_twins.c. */
static bool is_program(const struct workload *w)
{
    return w->main != NULL && !strchr(w->name, '@');
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void small_sizes_compute_the_right_thing_by_legal_events(void **state)
{
    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        if (!is_program(*w))
            continue;
        const struct outcome o = run(*w, (*w)->name, true, "none");
        if (o.accesses < 1000 || o.accesses > 1000000)
            fail_msg("%s has %llu accesses", (*w)->name, (unsigned long long)o.accesses);
    }
}

static void the_same_seed_gives_the_same_events_and_another_one_others(void **state)
{
    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        if (!is_program(*w))
            continue;
        char *spec = xasprintf("%s,seed=7", (*w)->name);
        char *other = xasprintf("%s,seed=8,schedule=random", (*w)->name);
        const struct outcome first = run(*w, spec, false, "none");
        const struct outcome second = run(*w, spec, false, "none");
        if (first.digest != second.digest)
            fail_msg("%s: not the same twice", spec);
        if (first.digest == run(*w, other, false, "none").digest)
            fail_msg("%s: the same as %s", spec, other);
        free(spec);
        free(other);
    }
}

/* Every collector with every schedule, each with another seed and quantum. */
static void no_races_under_any_collector_and_schedule_unless_asked_for(void **state)
{
    const char *const *gc = choices_of("gc"), *const *schedule = choices_of("schedule");

    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        unsigned seed = 0;
        for (unsigned g = 0; gc[g] && is_program(*w) && !(*w)->racy; g++)
            for (unsigned s = 0; schedule[s]; s++, seed++) {
                char *spec =
                    xasprintf("%s,seed=%u,gc=%s,schedule=%s,quantum=%u," SMALL_HEAP, (*w)->name,
                              seed, gc[g], schedule[s], 1 + seed * seed * 17 % 500);
                const struct outcome o = run(*w, spec, false, "fasttrack");
                if (o.races)
                    fail_msg("%s: %llu races", spec, (unsigned long long)o.races);
                free(spec);
            }
    }
}

/* ---- single ones ---------------------------------------------------------------------------- */

static void the_ray_tracers_checksum_races_only_when_asked_to(void **state)
{
    const struct workload *w = workload_find("raytracer");
    uint64_t races = 0;

    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        char *spec = xasprintf("raytracer,n=8,threads=4,seed=%u,racy=on", seed);
        char *without = xasprintf("raytracer,n=8,threads=4,seed=%u", seed);
        const struct outcome o = run(w, spec, true, "vc");
        assert_true(o.planted);
        races += o.races;
        assert_int_equal(run(w, without, true, "vc").races, 0);
        free(spec);
        free(without);
    }
    assert_true(races > 0);
}

static void parts_of_teams_may_be_empty(void **state)
{
    static const char *const specs[] = {
        "crypt,n=1,threads=5",
        "lufact,n=1,threads=3",
        "lufact,n=4,threads=9",
        "moldyn,cells=1,steps=21,threads=7",
        "montecarlo,tasks=0,threads=3",
        "montecarlo,tasks=2,steps=2,threads=6",
        "raytracer,n=1,side=1,threads=5",
        "series,n=3,threads=8",
        "sor,n=3,steps=3,threads=6",
        "sor,n=9,steps=0,threads=2",
        "sparse,n=1,entries=9,threads=4",
        "sparse,n=40,entries=3,threads=16",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        char *name = xstrdup(specs[i]);
        *strchr(name, ',') = '\0';
        assert_int_equal(run(workload_find(name), specs[i], true, "vc").races, 0);
        free(name);
    }
}

static void one_thread_is_enough_for_all_that_take_it(void **state)
{
    static const char *const names[] = {"crypt",     "lufact", "moldyn", "montecarlo",
                                        "raytracer", "series", "sor",    "sparse"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char *spec = xasprintf("%s,threads=1", names[i]);
        assert_int_equal(run(workload_find(names[i]), spec, true, "vc").races, 0);
        free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sizes_compute_the_right_thing_by_legal_events),
        cmocka_unit_test(the_same_seed_gives_the_same_events_and_another_one_others),
        cmocka_unit_test(no_races_under_any_collector_and_schedule_unless_asked_for),
        cmocka_unit_test(the_ray_tracers_checksum_races_only_when_asked_to),
        cmocka_unit_test(parts_of_teams_may_be_empty),
        cmocka_unit_test(one_thread_is_enough_for_all_that_take_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
