/* t_vm_monitor.c - how monitors make the runtime synchronise for itself: whose bias is taken back
 * is stopped, once; who queues for a heavy lock comes before its owner's next steps. That orders
 * only for who heeds the system's synchronisation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/workloads/vm/follow.h"
#include "tests/frame/watch.h"

#define SITES(X) X(A, "T.a:1")
VM_SITES(SITES)

struct meeting {
    struct vm_ref *x, *monitor;
    unsigned said; /* on the host: orders nothing for anybody */
};

static void until(struct vm_thread *t, const struct meeting *m, unsigned said)
{
    while (m->said < said)
        vm_yield(t);
}

static void let_others_run(struct vm_thread *t)
{
    for (unsigned i = 0; i < 50; i++)
        vm_yield(t);
}

static void write_x(struct vm_thread *t, struct meeting *m)
{
    vm_store_i32(t, m->x, 0, 1, AT_A);
}

static void lock_and_unlock(struct vm_thread *t, struct meeting *m)
{
    vm_lock(t, m->monitor, AT_A);
    vm_unlock(t, m->monitor, AT_A);
}

typedef void part(struct vm_thread *t, void *meeting);

static void run_parts(struct vm_thread *t, part *first, part *second)
{
    struct meeting *m = vm_scratch(t, 1, sizeof *m);

    m->x = vm_global(t);
    m->monitor = vm_global(t);
    vm_new_array(t, m->x, VM_I32, 4, AT_A);
    vm_new_array(t, m->monitor, VM_I32, 4, AT_A);
    const sim_tid a = vm_fork(t, first, m, AT_A), b = vm_fork(t, second, m, AT_A);
    vm_join(t, a, AT_A);
    vm_join(t, b, AT_A);
}

/* ---- programs: the second one's access to x races with the first one's ----------------------- */

static void has_the_bias(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    lock_and_unlock(t, m);
    write_x(t, m);
    m->said++;
    until(t, m, 2);
}

static void takes_the_bias(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 1);
    lock_and_unlock(t, m);
    write_x(t, m);
    for (unsigned i = 0; i < 5; i++)
        lock_and_unlock(t, m);
    m->said++;
}

static void bias(struct vm_thread *t, const void *p)
{
    (void)p;
    run_parts(t, has_the_bias, takes_the_bias);
}

/* Not before the other one has begun: an end comes before what begins later. */
static void has_ended(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 1);
    lock_and_unlock(t, m);
    write_x(t, m);
    m->said++;
}

static void comes_late(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    m->said++;
    until(t, m, 2);
    let_others_run(t);
    lock_and_unlock(t, m);
    write_x(t, m);
}

static void bias_of_the_dead(struct vm_thread *t, const void *p)
{
    (void)p;
    run_parts(t, has_ended, comes_late);
}

static void owns(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    lock_and_unlock(t, m);
    m->said++;
    until(t, m, 2);
    vm_lock(t, m->monitor, AT_A);
    m->said++;
    let_others_run(t);
    vm_unlock(t, m->monitor, AT_A);
    write_x(t, m);
}

static void queues(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 1);
    lock_and_unlock(t, m); /* no longer biased */
    m->said++;
    until(t, m, 3);
    write_x(t, m);
    lock_and_unlock(t, m);
    m->said++;
}

static void contention(struct vm_thread *t, const void *p)
{
    (void)p;
    run_parts(t, owns, queues);
}

static void owns_alone(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    lock_and_unlock(t, m);
    m->said++;
    until(t, m, 3);
    lock_and_unlock(t, m);
    write_x(t, m);
}

static void does_not_queue(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    until(t, m, 1);
    lock_and_unlock(t, m);
    m->said++;
    lock_and_unlock(t, m);
    write_x(t, m);
    m->said++;
}

static void no_contention(struct vm_thread *t, const void *p)
{
    (void)p;
    run_parts(t, owns_alone, does_not_queue);
}

static void waits(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    vm_lock(t, m->monitor, AT_A);
    m->said++;
    vm_wait(t, m->monitor, AT_A);
    vm_unlock(t, m->monitor, AT_A);
    until(t, m, 2);
    vm_lock(t, m->monitor, AT_A);
    m->said++;
    vm_wait(t, m->monitor, AT_A);
    vm_unlock(t, m->monitor, AT_A);
}

static void notifies(struct vm_thread *t, void *arg)
{
    struct meeting *m = arg;

    for (unsigned i = 0; i < 2; i++) {
        until(t, m, 1 + 2 * i);
        vm_lock(t, m->monitor, AT_A);
        vm_notify(t, m->monitor, i == 0, AT_A);
        vm_unlock(t, m->monitor, AT_A);
        m->said++;
    }
}

static void waiting(struct vm_thread *t, const void *p)
{
    (void)p;
    run_parts(t, waits, notifies);
}

/* ---- what comes of them --------------------------------------------------------------------- */

static uint64_t races_in(const struct follow *f, const char *view)
{
    struct watch w;
    const char *const settings[] = {view, NULL};

    watch_open(&w, "vc", 4, settings);
    watch_run(&w, f->stream.rec, f->stream.records);
    const uint64_t races = w.races;
    watch_close(&w);
    return races;
}

static uint64_t at_site(const struct follow *f, uint64_t site, enum ev_kind kind)
{
    uint64_t n = 0;

    for (size_t i = 0; i < f->stream.records; i += event_records(&f->stream.rec[i]))
        n += f->stream.rec[i].kind == kind && f->stream.rec[i].aux == site;
    return n;
}

static void run(struct follow *f, void (*program)(struct vm_thread *t, const void *p),
                uint32_t schedule)
{
    struct vm_params p = follow_params();

    p.schedule = schedule;
    follow_program(f, program, &p, at_names);
    if (f->err.code)
        fail_msg("%s", f->err.text);
}

/* Of the program's races, those in a view that heeds the system's synchronisation. */
static void expect(void (*program)(struct vm_thread *t, const void *p), uint64_t all_sync,
                   uint64_t revoked, bool heavy)
{
    for (uint32_t schedule = VM_ROUND_ROBIN; schedule <= VM_ADVERSARIAL; schedule++) {
        struct follow f;
        run(&f, program, schedule);
        assert_int_equal(races_in(&f, "view=tracked"), 1);
        assert_int_equal(races_in(&f, "view=all-sync"), all_sync);
        /* The yield flag, and the lock word. */
        assert_int_equal(at_site(&f, VM_SITE_REVOKE, EV_WRITE), 2 * revoked);
        assert_int_equal(at_site(&f, VM_SITE_HEAVY, EV_WRITE) > 0, heavy);
        follow_free(&f);
    }
}

static void who_takes_a_bias_back_stops_its_owner_once(void **state)
{
    (void)state;
    expect(bias, 0, 1, false);
}

static void nobody_is_stopped_for_the_bias_of_a_thread_that_has_ended(void **state)
{
    (void)state;
    expect(bias_of_the_dead, 1, 0, false);
}

static void who_queues_comes_before_what_the_owner_does_next(void **state)
{
    (void)state;
    expect(contention, 0, 1, true);
}

static void who_does_not_queue_comes_before_nothing(void **state)
{
    (void)state;
    expect(no_contention, 1, 1, false);
}

/* Then it has no bias, and nobody is stopped for it. */
static void a_monitor_is_heavy_while_somebody_waits(void **state)
{
    struct follow f;

    (void)state;
    run(&f, waiting, VM_RANDOM);
    assert_int_equal(at_site(&f, VM_SITE_REVOKE, EV_WRITE), 0);
    /* Each wait, notify and the unlocks around them. */
    assert_true(at_site(&f, VM_SITE_HEAVY, EV_WRITE) >= 2 * 4);
    assert_int_equal(at_site(&f, VM_SITE_HEAVY, EV_WRITE), at_site(&f, VM_SITE_HEAVY, EV_READ));
    follow_free(&f);
}

/* The runtime's locks exclude, in all workloads: follow_source has the rules of streams checked. */
static void threads_that_begin_and_end_take_the_lock_of_their_list(void **state)
{
    struct follow f;

    (void)state;
    run(&f, bias, VM_RANDOM);
    assert_int_equal(at_site(&f, VM_SITE_THREADS, EV_WRITE), 2 + 3);
    follow_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_a_bias_back_stops_its_owner_once),
        cmocka_unit_test(nobody_is_stopped_for_the_bias_of_a_thread_that_has_ended),
        cmocka_unit_test(who_queues_comes_before_what_the_owner_does_next),
        cmocka_unit_test(who_does_not_queue_comes_before_nothing),
        cmocka_unit_test(a_monitor_is_heavy_while_somebody_waits),
        cmocka_unit_test(threads_that_begin_and_end_take_the_lock_of_their_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
