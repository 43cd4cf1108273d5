/* t_api.c - the library as a host sees it: pull equals push, instances are independent, errors
 * stay. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "sim/sim.h"
#include "trace/trace.h"

static const char synth[] = "synth:seed=5,events=3000,threads=4,variables=12,locks=3";

struct seen { /* the races, as a digest of what the callback got */
    uint64_t n, mix;
};

static void on_race(void *arg, const struct lardsim_race *r)
{
    struct seen *s = arg;

    s->n++;
    s->mix = s->mix * 31 + r->is.event + r->earlier.event * 7 + r->addr + r->id;
    if (r->object.known)
        s->mix += r->object.offset * 3 + r->object.event * 5 + r->object.size;
    assert_true(r->earlier.known);
    assert_true(r->earlier.event < r->is.event);
    assert_string_equal(r->policy, "vc");
}

static struct lardsim *started(const char *const *set, struct seen *seen)
{
    struct lardsim *l = lardsim_new();

    for (; set && *set; set++)
        assert_int_equal(lardsim_set(l, *set), 0);
    if (seen)
        lardsim_on_race(l, on_race, seen);
    assert_int_equal(lardsim_start(l), 0);
    return l;
}

static uint64_t stat(const struct lardsim *l, const char *name)
{
    uint64_t v = 0;

    assert_int_equal(lardsim_stat(l, name, &v), 0);
    return v;
}

static void push_event(struct lardsim *l, const struct event *ev)
{
    const struct lardsim_event p = sim_event(ev);

    assert_int_equal(lardsim_event(l, &p), 0);
}

/* Race identities go by the names of sites. */
static void push_names(struct lardsim *l, const struct names *names)
{
    for (size_t i = 0; i < names_count(names); i++) {
        const struct name *n = names_at(names, i);
        assert_int_equal(lardsim_name(l, (enum lardsim_names)n->space, n->id, n->text), 0);
    }
}

/* Pushes what the source yields; into another instance as well, in turns, if there is one. */
static void push_all(struct lardsim *l, struct lardsim *other)
{
    struct err e = {0};
    struct source *s = source_open(synth, &e);
    struct batch b;

    assert_non_null(s);
    push_names(l, s->names);
    if (other)
        push_names(other, s->names);
    while (!source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            push_event(l, &b.rec[i]);
            if (other)
                push_event(other, &b.rec[i]);
        }
    source_close(s);
}

static void pull_equals_push(void **state)
{
    const char *const set[] = {"granularity=8", NULL};
    struct seen pulled = {0}, pushed = {0}, pushed_too = {0};
    struct lardsim *a = started(set, &pulled), *b = started(set, &pushed),
                   *c = started(set, &pushed_too);

    (void)state;
    assert_int_equal(lardsim_run(a, synth), 0);
    push_all(b, c);
    assert_int_equal(lardsim_finish(a), 0);
    assert_int_equal(lardsim_finish(b), 0);
    assert_int_equal(lardsim_finish(c), 0);
    assert_true(pulled.n > 0);
    assert_int_equal(pulled.n, stat(a, "policy.vc.races.accesses"));
    assert_int_equal(lardsim_digest(a), lardsim_digest(b));
    assert_int_equal(lardsim_digest(a), lardsim_digest(c));
    assert_int_equal(pulled.mix, pushed_too.mix);
    assert_int_equal(pulled.n, pushed.n);
    lardsim_free(a);
    lardsim_free(b);
    lardsim_free(c);
}

static void a_race_by_hand_names_both_sides(void **state)
{
    const char *const set[] = {"granularity=4", NULL};
    struct seen seen = {0};
    struct lardsim *l = started(set, &seen);

    (void)state;
    assert_int_equal(lardsim_access(l, 0, LARDSIM_WRITE, 0x1000, 4, 0, 0x11), 0);
    assert_int_equal(lardsim_sync(l, 0, LARDSIM_RELEASE, 0x2000, 0, 0, 0),
                     -1); /* it does not hold it */
    assert_non_null(strstr(lardsim_error(l), "release-held"));
    assert_int_equal(lardsim_exit_code(l), LARD_TRACE);
    assert_int_equal(lardsim_access(l, 1, LARDSIM_WRITE, 0x1000, 4, 0, 0x12),
                     -1); /* the error stays */
    assert_int_equal(lardsim_finish(l), -1);
    lardsim_free(l);

    l = started(set, &seen);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_WRITE, 0x1000, 4, 0, 0x11), 0);
    assert_int_equal(lardsim_access(l, 1, LARDSIM_READ, 0x1002, 1, 0, 0x12), 0);
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(stat(l, "policy.vc.races.accesses"), 1);
    assert_int_equal(stat(l, "policy.vc.races.pairs"), 1);
    assert_int_equal(stat(l, "events.total"), 2);
    assert_int_equal(seen.n, 1);
    lardsim_free(l);
}

static void tell_object(void *arg, const struct lardsim_race *r)
{
    struct lardsim_object *to = arg;

    *to = r->object;
    to->name = r->object.name ? xstrdup(r->object.name) : NULL;
}

/* Two threads write to a word of memory that was allocated at 0x1000 and has moved to 0x2000. */
static struct lardsim_object raced_after_a_move(const char *name)
{
    struct lardsim *l = lardsim_new();
    struct lardsim_object at = {.known = 0};

    lardsim_set(l, "granularity=4");
    lardsim_on_race(l, tell_object, &at);
    lardsim_start(l);
    if (name)
        lardsim_name(l, LARDSIM_NAME_OBJECT, 0x1000, name);
    lardsim_sync(l, 0, LARDSIM_ALLOC, 0x1000, 16, 0, 0x77);
    lardsim_access(l, 0, LARDSIM_WRITE, 0x1008, 4, 0, 0x11);
    const struct lardsim_event move = {
        .kind = LARDSIM_COPY, .thread = 0, .addr = 0x2000, .addr2 = 0x1000, .aux = 16};
    lardsim_event(l, &move);
    lardsim_access(l, 1, LARDSIM_WRITE, 0x2008, 4, 0, 0x12);
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(stat(l, "policy.vc.races.accesses"), 1);
    lardsim_free(l);
    return at;
}

static void a_race_names_its_object(void **state)
{
    struct lardsim_object at = raced_after_a_move("account");

    (void)state;
    assert_non_null(at.name);
    assert_string_equal(at.name, "account");
    assert_int_equal(at.offset, 8);
    free((void *)(uintptr_t)at.name);
    at = raced_after_a_move(NULL);
    assert_null(at.name);
    assert_true(at.known && at.allocated);
    assert_int_equal(at.event, 0);
    assert_int_equal(at.site, 0x77);
    assert_int_equal(at.size, 16);
    assert_int_equal(at.offset, 8);
}

static void a_region_counts_what_is_distinct_inside(void **state)
{
    const char *const set[] = {"granularity=4", NULL};
    struct lardsim *l = started(set, NULL);

    (void)state;
    lardsim_access(l, 0, LARDSIM_WRITE, 0x1000, 4, 0, 0x11);
    lardsim_access(l, 1, LARDSIM_WRITE, 0x1000, 4, 0, 0x12); /* races outside */
    lardsim_sync(l, 0, LARDSIM_ROI_BEGIN, 0, 0, 0, 0);
    lardsim_access(l, 0, LARDSIM_WRITE, 0x1000, 4, 0, 0x11); /* and at the same place inside */
    lardsim_access(l, 1, LARDSIM_WRITE, 0x1000, 4, 0, 0x12);
    lardsim_sync(l, 0, LARDSIM_ROI_END, 0, 0, 0, 0);
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(stat(l, "policy.vc.races.accesses"), 3);
    assert_int_equal(stat(l, "roi.policy.vc.races.accesses"), 2);
    assert_int_equal(stat(l, "roi.policy.vc.races.sites"), 2);
    assert_int_equal(stat(l, "roi.policy.vc.races.pairs"), 1);
    assert_int_equal(stat(l, "roi.policy.vc.races.locations"), 1);
    assert_int_equal(stat(l, "roi.policy.vc.entries"), 1);
    lardsim_free(l);
}

static void misuse_is_an_error_not_a_crash(void **state)
{
    struct lardsim *l = lardsim_new();
    uint64_t v;

    (void)state;
    assert_int_equal(lardsim_access(l, 0, LARDSIM_READ, 1, 1, 0, 0), -1); /* not started */
    assert_int_equal(lardsim_exit_code(l), LARD_USAGE);
    assert_int_equal(lardsim_stat(l, "no.such", &v), -1);
    assert_int_equal(lardsim_finish(l), -1);
    lardsim_free(l);
    lardsim_free(NULL);

    l = lardsim_new();
    assert_int_equal(lardsim_set(l, "policies=fasttrak"), 0);
    assert_int_equal(lardsim_set(l, "granularity=1"), 0);
    assert_int_equal(lardsim_set(l, "layout=default"), 0);
    assert_int_equal(lardsim_start(l), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_CONFIG);
    lardsim_free(l);

    l = started(NULL, NULL);
    assert_int_equal(lardsim_access(l, 65536, LARDSIM_READ, 1, 1, 0, 0), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_TRACE);
    lardsim_free(l);

    l = started(NULL, NULL);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_READ, UINT64_MAX, 2, 0, 0), -1); /* wraps */
    lardsim_free(l);

    l = started(NULL, NULL); /* nothing is cut off to fit */
    assert_int_equal(lardsim_access(l, 0, (enum lardsim_kind)257, 16, 4, 0, 0), -1);
    lardsim_free(l);
    l = started(NULL, NULL);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_READ, 16, 4, 1u << 16, 0), -1);
    lardsim_free(l);
}

static void limits_stop_with_partial_results(void **state)
{
    const char *const few[] = {"limits.events=10", NULL}, *const small[] = {"limits.memory=4KiB",
                                                                            NULL};
    struct lardsim *l = started(few, NULL);

    (void)state;
    assert_int_equal(lardsim_run(l, synth), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_LIMIT);
    assert_int_equal(lardsim_finish(l), -1);
    assert_int_equal(lardsim_events(l), 10);
    lardsim_free(l);

    l = started(small, NULL);
    assert_int_equal(lardsim_run(l, synth), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_LIMIT);
    assert_non_null(strstr(lardsim_error(l), "limits.memory"));
    lardsim_finish(l);
    lardsim_free(l);
}

/* What a host says of its events: the latest, while the run goes on. */
static void a_caveat_is_said_of_a_run_that_goes_on(void **state)
{
    const char *const plain[] = {"policies=vc", NULL};
    struct lardsim *l = lardsim_new();
    char text[] = "some are missing";

    (void)state;
    assert_int_equal(lardsim_caveat(l, text), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_USAGE);
    lardsim_free(l);

    l = started(plain, NULL);
    assert_null(sim_caveat(l));
    assert_int_equal(lardsim_caveat(l, "all are there"), 0);
    assert_int_equal(lardsim_caveat(l, text), 0);
    *text = 'S';
    assert_string_equal(sim_caveat(l), "some are missing");
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(lardsim_caveat(l, text), -1);
    lardsim_free(l);
}

static void stop_it(void *run, uint64_t events)
{
    if (events)
        lardsim_stop(run, SIGTERM);
}

/* One instance, and no other; also where events are pushed. */
static void a_run_can_be_stopped(void **state)
{
    const char *const plain[] = {"policies=vc", NULL};
    struct lardsim *l = lardsim_new(), *other = started(plain, NULL);

    (void)state;
    lardsim_on_progress(l, stop_it, l);
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_run(l, synth), -1);
    assert_int_equal(lardsim_finish(l), -1);
    assert_int_equal(lardsim_exit_code(l), 128 + SIGTERM);
    assert_non_null(strstr(lardsim_error(l), "stopped by SIGTERM; the results up to here hold"));
    assert_true(lardsim_events(l) > 0);
    lardsim_free(l);

    assert_int_equal(lardsim_access(other, 0, LARDSIM_WRITE, 8, 8, 0, 0), 0);
    lardsim_stop(other, SIGINT);
    assert_int_equal(lardsim_access(other, 0, LARDSIM_WRITE, 8, 8, 0, 0), -1);
    assert_int_equal(lardsim_exit_code(other), 128 + SIGINT);
    lardsim_finish(other);
    lardsim_free(other);
}

static void a_timeline_is_there_when_the_run_is_over(void **state)
{
    const char *const machine[] = {"machine=multicore", "timeline.max=100", NULL};
    char path[] = "/tmp/lardsim-timeline-XXXXXX";
    uint64_t at = 0;

    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct lardsim *l = lardsim_new();
    for (size_t i = 0; machine[i]; i++)
        assert_int_equal(lardsim_set(l, machine[i]), 0);
    assert_int_equal(lardsim_timeline(l, path, true), 0);
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_run(l, synth), 0);
    assert_int_equal(lardsim_finish(l), 0);
    assert_true(lardsim_timeline_cut(l, &at)); /* there was more than it may have */
    assert_true(at > 0);
    lardsim_free(l);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(getc(f) != EOF);
    fclose(f);
    unlink(path);
}

/* Nothing is cut where there is no timeline. */
static void a_run_without_a_timeline_has_none_that_is_cut(void **state)
{
    struct lardsim *l = started((const char *const[]){"machine=multicore", NULL}, NULL);
    uint64_t at;

    (void)state;
    assert_int_equal(lardsim_run(l, synth), 0);
    assert_int_equal(lardsim_finish(l), 0);
    assert_false(lardsim_timeline_cut(l, &at));
    lardsim_free(l);
}

static void what_is_not_compared_has_nothing_to_say_of_it(void **state)
{
    struct lardsim *l = started(NULL, NULL);
    struct lardsim_instance one;
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    struct json j;

    (void)state;
    json_init(&j, f, false);
    json_object(&j);
    sim_compare_json(l, &j);
    json_end(&j);
    fclose(f);
    assert_null(strchr(text, '"')); /* no key */
    assert_false(lardsim_compare_instance(l, 0, &one));
    free(text);
    lardsim_free(l);
}

/* By docs/compare.md the truth has counts, and the others what is false and missed besides. */
static void what_is_compared_says_what_differs_from_the_truth(void **state)
{
    struct lardsim *l = lardsim_new();
    char *text = NULL;
    size_t bytes;
    struct json j;

    (void)state;
    assert_int_equal(lardsim_set(l, "policies=vc,eraser"), 0);
    assert_int_equal(lardsim_compare(l), 0);
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_run(l, synth), 0);
    assert_int_equal(lardsim_finish(l), 0);
    FILE *f = open_memstream(&text, &bytes);
    json_init(&j, f, false);
    json_object(&j);
    sim_compare_json(l, &j);
    json_end(&j);
    fclose(f);
    char *const vc = strstr(text, "\"vc\":"), *const eraser = strstr(text, "\"eraser\":");
    assert_true(vc && eraser && vc < eraser);
    assert_non_null(strstr(eraser, "\"false\":"));
    assert_non_null(strstr(eraser, "\"missed\":"));
    *eraser = '\0';
    assert_non_null(strstr(vc, "\"accesses\":"));
    assert_null(strstr(vc, "\"false\":"));
    assert_null(strstr(vc, "\"missed\":"));
    free(text);
    lardsim_free(l);
}

/* The number that the next file to be opened gets. */
static int next_file(void)
{
    const int fd = dup(STDERR_FILENO);

    assert_true(fd >= 0);
    close(fd);
    return fd;
}

static void a_run_that_is_given_up_leaves_no_folder_and_no_file_open(void **state)
{
    char in[] = "/tmp/lardsim-given-up-XXXXXX", out[sizeof in + 4];

    (void)state;
    const int files = next_file();
    assert_non_null(mkdtemp(in));
    snprintf(out, sizeof out, "%s/out", in);
    struct lardsim *l = lardsim_new();
    assert_int_equal(lardsim_output(l, out, 0), 0);
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_run(l, synth), 0);
    assert_int_equal(access(out, F_OK), 0);
    lardsim_free(l); /* and not finished */
    assert_int_not_equal(access(out, F_OK), 0);
    assert_int_equal(rmdir(in), 0);
    assert_int_equal(next_file(), files);
}

/* Granularity by the trace: one that says nothing of it is taken byte by byte. */
static void a_trace_that_names_no_granule_has_bytes(void **state)
{
    struct lardsim *l = started((const char *const[]){"granularity=trace", NULL}, NULL);

    (void)state;
    assert_int_equal(lardsim_access(l, 0, LARDSIM_WRITE, 16, 1, 0, 0), 0);
    assert_int_equal(lardsim_access(l, 1, LARDSIM_WRITE, 17, 1, 0, 0), 0);
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(stat(l, "policy.vc.races.accesses"), 0);
    lardsim_free(l);
}

/* ---- progress ------------------------------------------------------------------------------- */

struct far {
    const struct lardsim *l;
    uint64_t calls, events, done, all;
};

static void on_progress(void *arg, uint64_t events)
{
    struct far *f = arg;
    uint64_t done, all;

    assert_true(events >= f->events);
    f->events = events;
    f->calls++;
    if (lardsim_progress(f->l, &done, &all))
        return;
    assert_true(all > 0 && done <= all && done >= f->done);
    f->done = done;
    f->all = all;
}

static struct far far_of(const char *set, const char *source)
{
    struct lardsim *l = lardsim_new();
    struct far f = {.l = l};
    uint64_t done, all;

    assert_int_equal(lardsim_progress(l, &done, &all), -1);
    lardsim_on_progress(l, on_progress, &f);
    assert_int_equal(lardsim_set(l, set), 0);
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_progress(l, &done, &all), -1);
    lardsim_run(l, source);
    assert_true(f.calls > 1);
    if (lardsim_progress(l, &f.done, &f.all)) /* at the end */
        f.done = f.all = 0;
    lardsim_free(l);
    return f;
}

static void a_run_says_how_far_it_has_come(void **state)
{
    static const char source[] = "synth:seed=5,events=50k";

    (void)state;
    const struct far whole = far_of("policies=vc", source);
    assert_int_equal(whole.all, 50000);
    assert_int_equal(whole.done, whole.all);
    const struct far ahead = far_of("trace.ahead=on", source);
    assert_int_equal(ahead.all, 50000);
    assert_int_equal(ahead.done, ahead.all);
    /* A limit before the source's end is the end. */
    const struct far limited = far_of("limits.events=20k", source);
    assert_int_equal(limited.all, 20000);
    assert_int_equal(limited.done, 20000);
    const struct far unlimited = far_of("limits.events=1G", source);
    assert_int_equal(unlimited.all, 50000);
    /* A kernel does not know how long it is. */
    assert_int_equal(far_of("policies=vc", "workload:philosopher").all, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pull_equals_push),
        cmocka_unit_test(a_race_by_hand_names_both_sides),
        cmocka_unit_test(a_race_names_its_object),
        cmocka_unit_test(a_region_counts_what_is_distinct_inside),
        cmocka_unit_test(misuse_is_an_error_not_a_crash),
        cmocka_unit_test(limits_stop_with_partial_results),
        cmocka_unit_test(a_caveat_is_said_of_a_run_that_goes_on),
        cmocka_unit_test(a_run_can_be_stopped),
        cmocka_unit_test(a_timeline_is_there_when_the_run_is_over),
        cmocka_unit_test(a_run_without_a_timeline_has_none_that_is_cut),
        cmocka_unit_test(what_is_not_compared_has_nothing_to_say_of_it),
        cmocka_unit_test(what_is_compared_says_what_differs_from_the_truth),
        cmocka_unit_test(a_run_that_is_given_up_leaves_no_folder_and_no_file_open),
        cmocka_unit_test(a_trace_that_names_no_granule_has_bytes),
        cmocka_unit_test(a_run_says_how_far_it_has_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
