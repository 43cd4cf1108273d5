/* t_live.c - is lardsim_stat honest while a run goes on? What it tells after the latest event is
 * what the run ends with, if no more events come; or it tells nothing. So it is in a region of
 * interest. In the middle of an event it tells nothing that is counted late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/session/session.h"

static const char synth[] = "synth:seed=3,events=3000,threads=4,variables=40,locks=3,heap_share=40";
enum { MOST = 6000, UNKNOWN = 16 };

struct value {
    char *name;
    bool known;
    uint64_t before, after;
};
struct values {
    struct value at[MOST];
    size_t n, unknown;
    const struct lardsim *l;
};

static void add(struct values *v, const char *prefix, const char *name, const char *behind)
{
    struct value x = {.name = xasprintf("%s%s%s", prefix, name, behind)};
    uint64_t after;

    assert_true(v->n < MOST);
    x.known = !lardsim_stat(v->l, x.name, &x.before);
    if (!x.known && !stats_value(v->l->stats, x.name, &after) && !*prefix) {
        free(x.name); /* there is no such part of it */
        return;
    }
    v->unknown += !x.known && !*prefix;
    v->at[v->n++] = x;
}

/* A statistic and its parts, of the run and of the regions. */
static void look(void *arg, const char *name, const char *unit, const char *help)
{
    static const char *const parts[] = {"",     ".0",   ".1",   ".2",   ".3",  ".count",
                                        ".sum", ".min", ".max", ".num", ".den"};
    struct values *v = arg;

    (void)unit;
    (void)help;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        add(v, "", name, parts[i]);
        if (v->l->in_region && strcmp(parts[i], ".min") != 0 && strcmp(parts[i], ".max") != 0)
            add(v, "roi.", name, parts[i]);
    }
}

/* Those who have no more to do are idle until the last one has ended; in the region, if it is open.
 */
static bool may_grow(const char *name)
{
    return strstr(name, "idle") || strstr(name, "region-cycles") ||
           !strcmp(name, "roi.machine.cycles");
}

static void same(const char *settings, struct values *v)
{
    for (size_t i = 0; i < v->n; i++) {
        struct value *x = &v->at[i];
        const bool known = !lardsim_stat(v->l, x->name, &x->after);
        if (x->known && !known)
            fail_msg("%s: %s was known, and is gone", settings, x->name);
        if (x->known && x->after != x->before && (!may_grow(x->name) || x->after < x->before))
            fail_msg("%s: %s was %llu with the last event, and is %llu at the end", settings,
                     x->name, (unsigned long long)x->before, (unsigned long long)x->after);
        free(x->name);
    }
}

static struct lardsim *begin(const char *settings)
{
    struct lardsim *l = lardsim_new();
    char *text = xstrdup(settings);

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        assert_int_equal(lardsim_set(l, word), 0);
    free(text);
    assert_int_equal(lardsim_set(l, "granularity=4"), 0);
    assert_int_equal(lardsim_set(l, "trace.rules=off"), 0); /* a region may be open at the end */
    if (lardsim_start(l))
        fail_msg("%s: %s", settings, lardsim_error(l));
    return l;
}

static void push(struct lardsim *l, const struct lardsim_event *ev, bool hosted)
{
    const struct lardsim_at at = {
        .cycle = 40 * lardsim_events(l), .core = ev->thread % 8, .gap = ev->gap};

    if (hosted ? lardsim_event_at(l, &at, ev, NULL) : lardsim_event(l, ev))
        fail_msg("%s", lardsim_error(l));
}

static void push_all(struct lardsim *l, bool hosted, uint64_t region)
{
    const struct lardsim_event begins = {.kind = LARDSIM_ROI_BEGIN};
    struct err e = {0};
    struct source *s = source_open(synth, &e);
    struct batch b;
    uint64_t n = 0;

    assert_non_null(s);
    while (!source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            const struct lardsim_event ev = sim_event(&b.rec[i]);
            if (event_is_region(&b.rec[i]))
                continue;
            if (region && n++ == region)
                push(l, &begins, hosted);
            push(l, &ev, hosted);
        }
    source_close(s);
}

static void holds(const char *settings, uint64_t region)
{
    struct lardsim *l = begin(settings);
    struct values *v = xcalloc(1, sizeof *v);

    v->l = l;
    push_all(l, strstr(settings, "order=host"), region);
    stats_each(l->stats, look, v);
    if (v->n < 40 || v->unknown > UNKNOWN)
        fail_msg("%s: of %zu values %zu are said to be unknown", settings, v->n, v->unknown);
    if (lardsim_finish(l))
        fail_msg("%s: %s", settings, lardsim_error(l));
    same(settings, v);
    lardsim_free(l);
    free(v);
}

static void what_is_told_is_what_comes_out(void **state)
{
    static const char *const runs[] = {"policies=none",
                                       "policies=vc,fasttrack,goldilocks,eraser",
                                       "policies=fastrcd",
                                       "policies=none machine=multicore order=recorded",
                                       "policies=fasttrack machine=multicore order=recorded",
                                       "policies=lardish machine=multicore order=recorded",
                                       "policies=vc machine=multicore order=host",
                                       "policies=radish machine=multicore order=host",
                                       "policies=lardish machine=multicore order=host"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        holds(runs[i], 0);
        holds(runs[i], 1500);
    }
}

/* In timed order the latest event that has run is not the latest that was pushed. */
static void what_is_told_never_falls(void **state)
{
    struct lardsim *l = begin("policies=lardish machine=multicore order=timed "
                              "schedule.threads=round-robin");
    static const char *const names[] = {
        "events.total",          "machine.cycles", "machine.instructions",
        "machine.spent.handler", "l1.misses",      "policy.lardish.races.accesses"};
    uint64_t last[ARRAY_SIZE(names)] = {0}, now;
    struct err e = {0};
    struct source *s = source_open(synth, &e);
    struct batch b;

    (void)state;
    while (!source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            const struct lardsim_event ev = sim_event(&b.rec[i]);
            push(l, &ev, false);
            for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
                assert_int_equal(lardsim_stat(l, names[k], &now), 0);
                assert_true(now >= last[k]);
                last[k] = now;
            }
        }
    source_close(s);
    assert_true(last[1] > 0);
    assert_int_equal(lardsim_finish(l), 0);
    for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
        assert_int_equal(lardsim_stat(l, names[k], &now), 0);
        assert_true(now >= last[k]);
    }
    lardsim_free(l);
}

/* Looking changes nothing. */
static void who_looks_gets_the_same_results(void **state)
{
    static const char settings[] = "policies=lardish machine=multicore order=timed "
                                   "schedule.threads=round-robin";
    uint64_t digest[2];

    (void)state;
    for (int looks = 0; looks < 2; looks++) {
        struct lardsim *l = begin(settings);
        struct err e = {0};
        struct source *s = source_open(synth, &e);
        struct batch b;
        uint64_t v;
        while (!source_next(s, &b, &e) && b.records)
            for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
                const struct lardsim_event ev = sim_event(&b.rec[i]);
                push(l, &ev, false);
                if (looks)
                    lardsim_stat(l, "machine.cycles", &v);
            }
        source_close(s);
        assert_int_equal(lardsim_finish(l), 0);
        digest[looks] = lardsim_digest(l);
        lardsim_free(l);
    }
    assert_int_equal(digest[0], digest[1]);
}

static void in_the_middle(void *arg, const struct lardsim_race *r)
{
    struct lardsim *l = *(struct lardsim **)arg;
    uint64_t v;

    (void)r;
    assert_int_equal(lardsim_stat(l, "machine.cycles", &v), -1);
    assert_int_equal(lardsim_stat(l, "events.total", &v), 0);
    assert_int_equal(v, lardsim_events(l));
}

static void in_an_event_nothing_is_told_that_is_late(void **state)
{
    struct lardsim *l = lardsim_new();
    uint64_t v;

    (void)state;
    lardsim_on_race(l, in_the_middle, &l);
    lardsim_set(l, "machine=multicore");
    lardsim_set(l, "order=recorded");
    lardsim_set(l, "granularity=4");
    lardsim_set(l, "layout=default");
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_stat(l, "events.total", &v), 0);
    assert_int_equal(lardsim_stat(l, "machine.cycles", &v), 0);
    assert_int_equal(v, 0);
    lardsim_access(l, 0, LARDSIM_WRITE, 8, 4, 0, 0);
    lardsim_access(l, 1, LARDSIM_WRITE, 8, 4, 0, 0);
    assert_int_equal(lardsim_stat(l, "policy.vc.races.accesses", &v), 0);
    assert_int_equal(v, 1);
    assert_int_equal(lardsim_stat(l, "l1.resident-metadata", &v), -1);
    assert_int_equal(lardsim_stat(l, "roi.events.total", &v), -1);
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(lardsim_stat(l, "l1.resident-metadata", &v), 0);
    lardsim_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_what_comes_out),
        cmocka_unit_test(what_is_told_never_falls),
        cmocka_unit_test(who_looks_gets_the_same_results),
        cmocka_unit_test(in_an_event_nothing_is_told_that_is_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
