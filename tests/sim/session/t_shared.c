/* t_shared.c - do runs over one reading of a source give what each gives alone? However many
 * batches are kept, whatever ends one of them earlier, and what becomes of them when the source
 * fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/sim.h"
#include "tests/frame/place.h"

static const char synth[] = "synth:seed=3,events=20000,threads=5";

/* Each in the form that --set takes, divided by blanks. */
static const char *const runs[] = {
    "policies=vc",
    "policies=fasttrack,eraser trace.rules=off",
    "policies=none machine=multicore cores=3",
    "policies=lardish machine=multicore order=recorded l3.size=1Mi",
    "policies=vc limits.events=777",
    "policies=vc policy.vc.after-race=stop",
    /* Its parts are made when it starts, as it asks nothing of the trace. */
    "policies=fasttrack machine=multicore granularity=8 layout=default trace.rules=on",
};
enum { RUNS = ARRAY_SIZE(runs) };

struct outcome {
    uint64_t digest, identity, events;
    int code;
};

static struct lardsim *start(const char *settings)
{
    struct lardsim *l = lardsim_new();
    char one[100];
    int used;

    for (; sscanf(settings, " %99s%n", one, &used) == 1; settings += used)
        lardsim_set(l, one);
    lardsim_start(l);
    return l;
}

static struct outcome finish(struct lardsim *l)
{
    lardsim_finish(l);
    return (struct outcome){lardsim_digest(l), lardsim_identity(l), lardsim_events(l),
                            lardsim_exit_code(l)};
}

static struct outcome alone(const char *source, const char *settings)
{
    struct lardsim *l = start(settings);

    lardsim_run(l, source);
    const struct outcome is = finish(l);
    lardsim_free(l);
    return is;
}

struct together {
    struct lardsim *run[RUNS];
    struct outcome is[RUNS];
    bool ended[RUNS];
};

static void ended(void *arg, struct lardsim *l)
{
    struct together *t = arg;

    for (size_t i = 0; i < RUNS; i++)
        if (t->run[i] == l) {
            assert_false(t->ended[i]);
            t->ended[i] = true;
            t->is[i] = finish(l);
        }
}

static int run_together(struct together *t, struct lardsim_shared *s, struct err *e)
{
    *t = (struct together){.run = {NULL}};
    for (size_t i = 0; i < RUNS; i++)
        lardsim_shared_add(s, t->run[i] = start(runs[i]));
    const int status = lardsim_shared_run(s, ended, t, e);
    for (size_t i = 0; i < RUNS; i++)
        lardsim_free(t->run[i]);
    lardsim_shared_free(s);
    return status;
}

static void is_the_same(const char *source, size_t keep)
{
    struct together t;
    struct err e = {0};
    struct lardsim_shared *s = lardsim_shared_open(source, true, keep, &e);

    if (!s)
        fail_msg("%s", e.text);
    assert_int_equal(run_together(&t, s, &e), 0);
    for (size_t i = 0; i < RUNS; i++) {
        const struct outcome is = alone(source, runs[i]);
        if (!t.ended[i])
            fail_msg("%s, %zu kept: %s has not ended", source, keep, runs[i]);
        if (is.digest != t.is[i].digest || is.identity != t.is[i].identity ||
            is.events != t.is[i].events || is.code != t.is[i].code)
            fail_msg("%s, %zu kept: %s has %llu events and code %d, alone %llu and %d, or another "
                     "digest",
                     source, keep, runs[i], (unsigned long long)t.is[i].events, t.is[i].code,
                     (unsigned long long)is.events, is.code);
    }
}

static void however_many_batches_are_kept_the_results_are_those_of_runs_alone(void **state)
{
    static const size_t keep[] = {0, 1, 3000, 1 << 20};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(keep); i++)
        is_the_same(synth, keep[i]);
}

/* Names come with batches, and a text trace has a few events a batch. */
static void a_file_with_names_is_the_same(void **state)
{
    static const char text[] = "lardsim-text 1\nname thread 0 \"main\"\nT0 fork T1\n"
                               "name object 0x1000 \"a\"\nT0 write 0x1000 8 @\"x.c:1\"\n"
                               "T1 write 0x1000 8 @\"x.c:2\"\nT0 join T1\n";
    const struct place *p = *state;

    place_put(p, text, sizeof text - 1);
    is_the_same(p->file, 0);
    is_the_same(p->file, 100);
}

/* What it says of the source, and with which results up to there, only a run alone can say. */
static void runs_over_a_source_that_breaks_a_rule_are_given_up(void **state)
{
    static const char text[] = "lardsim-text 1\nT0 write 0x1000 8\nT0 rel 0x2000\n";
    const struct place *p = *state;
    struct together t;
    struct err e = {0};

    place_put(p, text, sizeof text - 1);
    assert_int_equal(run_together(&t, lardsim_shared_open(p->file, true, 0, &e), &e), -1);
    assert_int_equal(e.code, LARD_TRACE);
    assert_false(t.ended[0]);
}

static void a_source_that_is_not_there_is_an_error(void **state)
{
    struct err e = {0};

    (void)state;
    assert_null(lardsim_shared_open("/nonexistent/trace", true, 0, &e));
    assert_int_equal(e.code, LARD_TRACE);
}

struct stopping {
    struct lardsim_shared *of;
    uint64_t events;
};

static void stop_early(void *arg, uint64_t events)
{
    const struct stopping *s = arg;

    if (events)
        lardsim_shared_stop(s->of);
}

static void note_events(void *arg, struct lardsim *l)
{
    struct stopping *s = arg;

    lardsim_finish(l);
    s->events = lardsim_events(l);
}

static void a_reading_that_is_stopped_ends_after_the_batch_in_hand(void **state)
{
    struct err e = {0};
    struct stopping s = {.of = lardsim_shared_open(synth, false, 0, &e)};
    struct lardsim *l = lardsim_new();

    (void)state;
    lardsim_on_progress(l, stop_early, &s);
    lardsim_start(l);
    lardsim_shared_add(s.of, l);
    assert_false(lardsim_shared_stopped(s.of));
    assert_int_equal(lardsim_shared_run(s.of, note_events, &s, &e), 0);
    assert_true(lardsim_shared_stopped(s.of));
    assert_int_equal(lardsim_exit_code(l), LARD_DONE);
    assert_in_range(s.events, 1, 19999);
    lardsim_free(l);
    lardsim_shared_free(s.of);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, place_make, place_remove)
    const struct CMUnitTest tests[] = {
        TEST(however_many_batches_are_kept_the_results_are_those_of_runs_alone),
        TEST(a_file_with_names_is_the_same),
        TEST(runs_over_a_source_that_breaks_a_rule_are_given_up),
        TEST(a_source_that_is_not_there_is_an_error),
        TEST(a_reading_that_is_stopped_ends_after_the_batch_in_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
