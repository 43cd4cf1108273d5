/* t_goldilocks_growth.c - do goldilocks' time and memory grow with events and live state alone,
 * with many variables and with many threads? By counted work, and beside vc, never by a clock.
 *
 *     t_goldilocks_growth [--mutant NAME] */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/mutant_arg.h"
#include "tests/policy/goldilocks/rig.h"

#include <cmocka.h>

/* Full collections trim the list all the time, and old records stay. */
static const struct shape {
    const char *name, *synth;
    uint64_t threads;
} shapes[] = {
    {"100,000 variables", "threads=8,variables=100000", 8},
    {"100,000 variables, no collection", "threads=8,variables=100000,heap_share=0", 8},
    {"1,024 threads", "threads=1024,variables=100000,end_share=0", 1024},
};

struct work { /* of a run */
    uint64_t events, cells, walked, advanced, pruned;
    uint64_t elements, live; /* that are kept; whose objects are there */
    uint64_t memory;         /* the most at any time */
};

static void run(struct watch *w, const char *synth, uint64_t events)
{
    char *spec = xasprintf("synth:seed=1,names=off,ends=off,events=%llu,%s",
                           (unsigned long long)events, synth);
    struct err e = {0};
    struct batch b = {0};
    struct source *from = source_open(spec, &e);

    if (!from)
        die("%s", e.text);
    do {
        assert_int_equal(source_next(from, &b, &e), 0);
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i]))
            rig_step(w, &b.rec[i]);
    } while (b.records);
    source_close(from);
    free(spec);
    assert_int_equal(w->err.code, 0);
}

static struct work work_of(const char *synth, uint64_t events)
{
    struct watch w;

    rig_open(NULL, &w, 8, (const char *const[]){NULL});
    run(&w, synth, events);
    const struct goldilocks *g = rig_policy(&w);
    const struct work done = {.events = w.number,
                              .cells = watch_stat(&w, "cells"),
                              .walked = watch_stat(&w, "walked"),
                              .advanced = watch_stat(&w, "advanced"),
                              .pruned = watch_stat(&w, "pruned"),
                              .elements = g->reach.n,
                              .live = g->live.n,
                              .memory = checker_memory(w.checker)->peak};
    checker_finish(w.checker);
    watch_close(&w);
    return done;
}

/* Neither checks nor collections go back to what was; so twice the events are twice the work. */
static void an_event_is_looked_at_once(void **state)
{
    enum { EVENTS = 60000 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
        for (uint64_t times = 1; times <= 2; times++) {
            const struct work is = work_of(shapes[i].synth, times * EVENTS);
            if (is.walked != is.cells || is.cells > is.events)
                fail_msg("%s, %llu events: %llu cells were looked at %llu times", shapes[i].name,
                         (unsigned long long)is.events, (unsigned long long)is.cells,
                         (unsigned long long)is.walked);
            if (is.advanced || is.pruned)
                fail_msg("%s: trimming went through %llu records", shapes[i].name,
                         (unsigned long long)is.advanced);
        }
}

/* An element goes with its object. Threads' births stay until they begin, and their ends, as
 * somebody may join. */
static void elements_are_kept_while_their_objects_are_there(void **state)
{
    enum { EVENTS = 60000 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        const struct work is = work_of(shapes[i].synth, EVENTS);
        if (is.elements > is.live + 2 * shapes[i].threads)
            fail_msg("%s: %llu elements are kept for %llu that are live", shapes[i].name,
                     (unsigned long long)is.elements, (unsigned long long)is.live);
    }
}

/* vc keeps a clock for each synchronisation object; goldilocks has that from the frame, too, one of
 * its own, who gave the element, and a list. */
static void memory_is_a_few_times_that_of_vc(void **state)
{
    enum { EVENTS = 120000, TIMES = 4 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        struct watch vc;
        watch_open(&vc, "vc", 8, (const char *const[]){NULL});
        run(&vc, shapes[i].synth, EVENTS);
        const uint64_t most = TIMES * checker_memory(vc.checker)->peak;
        checker_finish(vc.checker);
        watch_close(&vc);
        const struct work is = work_of(shapes[i].synth, EVENTS);
        if (is.memory > most)
            fail_msg("%s: %llu bytes, and %d times vc's are %llu", shapes[i].name,
                     (unsigned long long)is.memory, TIMES, (unsigned long long)most);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_looked_at_once),
        cmocka_unit_test(elements_are_kept_while_their_objects_are_there),
        cmocka_unit_test(memory_is_a_few_times_that_of_vc),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
