/* t_vm_races.c - what detectors make of programs on the modelled heap: an exact one that knows
 * addresses, clears and copies finds the races that one finds who knows objects; race-free programs
 * have none; what the runtime does hides races from one that heeds its synchronisation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/workloads/vm/churn.h"
#include "tests/frame/watch.h"

#define SITES(X) X(A, "T.a:1")
VM_SITES(SITES)

/* ---- races ------------------------------------------------------------------------------------
 */

/* The stream as it would be without addresses: objects by identity, no heap events. */
static void abstract(const struct follow *f, struct stream *to)
{
    const struct event *rec = f->stream.rec;

    for (size_t i = 0; i < f->stream.records; i += event_records(&rec[i])) {
        struct event two[2] = {rec[i], rec[i + (rec[i].flags & EVF_MORE ? 1 : 0)]};
        if (f->identity[i].object)
            two[0].addr = f->identity[i].object << 24 | f->identity[i].offset;
        if (ev_info[rec[i].kind].class == CLASS_HEAP)
            two[0] = (struct event){.kind = EV_IO, .tid = rec[i].tid};
        stream_add(to, two);
    }
}

static void run_vc(struct watch *w, const struct stream *s)
{
    const char *const none[] = {NULL};

    watch_open(w, "vc", GRANULE_FIELD, none);
    watch_run(w, s->rec, s->records);
    if (w->err.code)
        fail_msg("%s", w->err.text);
}

static void check_races(const char *spec)
{
    struct follow f;
    struct stream plain = {0};
    struct watch real, ideal;

    follow(&f, spec);
    abstract(&f, &plain);
    run_vc(&real, &f.stream);
    run_vc(&ideal, &plain);
    assert_true(ideal.races > 0);
    assert_int_equal(real.races, ideal.races);
    for (size_t i = 0; i < real.races; i++)
        assert_int_equal(real.race[i].is.event, ideal.race[i].is.event);
    watch_close(&real);
    watch_close(&ideal);
    stream_free(&plain);
    follow_free(&f);
}

static void addresses_with_clear_and_copy_are_as_good_as_identities(void **state)
{
    (void)state;
    each(check_races, ",race=on,buckets=3", 2);
}

static void check_no_race(const char *spec)
{
    struct follow f;
    struct watch w;

    follow(&f, spec);
    run_vc(&w, &f.stream);
    if (w.races)
        fail_msg("%s: event %llu races with event %llu", spec,
                 (unsigned long long)w.race[0].is.event,
                 (unsigned long long)w.race[0].earlier.event);
    watch_close(&w);
    follow_free(&f);
}

static void race_free_programs_have_no_race(void **state)
{
    (void)state;
    each(check_no_race, "", 2);
    each(check_no_race, ",kernel_threads=2", 1);
    check_no_race("philosopher");
    check_no_race("philosopher,schedule=adversarial,seed=3,threads=9");
}

static bool planted(const struct workload *w, const char *a, const char *b)
{
    for (const struct workload_plant *p = w->plants; p->site; p++)
        if ((!strcmp(p->site, a) && !strcmp(p->other, b)) ||
            (!strcmp(p->site, b) && !strcmp(p->other, a)))
            return true;
    return false;
}

static void check_planted(const char *name, const char *spec)
{
    struct follow f;
    struct watch w;

    follow(&f, spec);
    run_vc(&w, &f.stream);
    assert_true(w.races > 0);
    for (size_t i = 0; i < w.races; i++) {
        const char *a = f.site[w.race[i].is.site], *b = f.site[w.race[i].earlier.site];
        if (!planted(workload_find(name), a, b))
            fail_msg("%s: %s races with %s, which was not planted", spec, a, b);
    }
    watch_close(&w);
    follow_free(&f);
}

static void races_are_where_they_were_planted(void **state)
{
    (void)state;
    check_planted("churn", SMALL "race=on,buckets=3");
    check_planted("churn", SMALL "race=on,buckets=3,gc=copying-concurrent,schedule=adversarial");
    check_planted("philosopher", "philosopher,race=on");
}

/* ---- the runtime's own synchronisation ----------------------------------------------------------
 */

struct meeting {
    struct vm_ref *o, *monitor;
    struct vm_barrier *barrier;
    unsigned said; /* on the host: orders nothing for anybody */
};

static void until(struct vm_thread *t, const struct meeting *m, unsigned said)
{
    while (m->said < said)
        vm_yield(t);
}

static void first_writer(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    vm_store_i32(t, m->o, 0, 1, AT_A);
    m->said++;
    until(t, m, 2);
    vm_collect(t);
    m->said++;
}

/* Was there before the collection, awake or not. */
static void second_writer(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 1);
    m->said++;
    until(t, m, 3);
    vm_store_i32(t, m->o, 0, 2, AT_A);
}

static void waiting_writer(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 1);
    m->said++;
    vm_barrier_wait(t, m->barrier, AT_A);
    vm_store_i32(t, m->o, 0, 2, AT_A);
}

static void opener(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 3);
    vm_barrier_wait(t, m->barrier, AT_A);
}

static void meet(struct vm_thread *t, void (*second)(struct vm_thread *u, void *arg))
{
    struct meeting *m = vm_scratch(t, 1, sizeof *m);
    sim_tid child[3];

    m->o = vm_global(t);
    m->barrier = vm_barrier_new(t, 2);
    vm_new_array(t, m->o, VM_I32, 4, AT_A);
    child[0] = vm_fork(t, opener, m, AT_A);
    child[1] = vm_fork(t, second, m, AT_A);
    child[2] = vm_fork(t, first_writer, m, AT_A);
    if (second == second_writer)
        vm_barrier_wait(t, m->barrier, AT_A);
    for (unsigned i = 0; i < ARRAY_SIZE(child); i++)
        vm_join(t, child[i], AT_A);
}

static void meet_awake(struct vm_thread *t, const void *p)
{
    (void)p;
    meet(t, second_writer);
}

static void meet_asleep(struct vm_thread *t, const void *p)
{
    (void)p;
    meet(t, waiting_writer);
}

/* Of the program alone, or with the system's. */
static uint64_t races_of(const struct follow *f, const char *view, bool system)
{
    struct watch w;
    const char *const settings[] = {view, NULL};

    watch_open(&w, "vc", 4, settings);
    watch_run(&w, f->stream.rec, f->stream.records);
    uint64_t races = 0;
    for (size_t i = 0; i < w.races; i++)
        races += system || !w.race[i].system;
    watch_close(&w);
    return races;
}

static uint64_t races_in(const struct follow *f, const char *view)
{
    return races_of(f, view, true);
}

static void a_collection_hides_races_from_who_heeds_it(void **state)
{
    (void)state;
    for (uint32_t gc = VM_MARKSWEEP; gc <= VM_COPYING_CONCURRENT; gc++)
        for (unsigned asleep = 0; asleep < 2; asleep++) {
            struct follow f;
            struct vm_params p = follow_params();
            p.gc = gc;
            follow_program(&f, asleep ? meet_asleep : meet_awake, &p, at_names);
            if (f.err.code)
                fail_msg("%s", f.err.text);
            assert_int_equal(races_in(&f, "view=tracked"), 1);
            assert_int_equal(races_in(&f, "view=all-sync"), 0);
            /* The flags by which threads are stopped are looked at without synchronisation. */
            assert_int_equal(races_of(&f, "view=all-memory,all-sync", false), 0);
            assert_true(races_in(&f, "view=all-memory") > 1);
            follow_free(&f);
        }
}

static void who_takes_all_for_the_program_sees_false_races(void **state)
{
    struct follow f;

    (void)state;
    follow(&f, SMALL "gc=semispace");
    assert_int_equal(races_in(&f, "view=tracked"), 0);
    assert_true(races_in(&f, "view=all-memory") > 0);
    follow_free(&f);
    follow(&f, "churn,heap=256Ki,steps=2000,buckets=30,limit=5");
    assert_true(races_in(&f, "view=no-clear") > 0);
    follow_free(&f);
    follow(&f, SMALL "gc=marksweep,kernel_threads=2");
    assert_true(races_in(&f, "view=no-thread") > 0);
    follow_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_with_clear_and_copy_are_as_good_as_identities),
        cmocka_unit_test(race_free_programs_have_no_race),
        cmocka_unit_test(races_are_where_they_were_planted),
        cmocka_unit_test(a_collection_hides_races_from_who_heeds_it),
        cmocka_unit_test(who_takes_all_for_the_program_sees_false_races),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
