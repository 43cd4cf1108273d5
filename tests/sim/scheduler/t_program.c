/* t_program.c - program order: who comes first in simulated time is first. Programs that are made
 * for it say who gets a lock, how long that takes, and what a slow detector or memory changes. */
#include "tests/sim/scheduler/program.h"

enum { LATE = 1000, HELD = 20000, SECTION = 10000, CROWD = 5 };
enum { AT_A = VM_SITE_FIRST };
#define MACHINE "machine=multicore order=program cores=8 granularity=8 "

/* Who acquired monitors, in order, leaving out thread `but`. */
static size_t acquirers(const struct stream *s, sim_tid but, sim_tid to[], size_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < s->records && n < room; i += event_records(&s->rec[i])) {
        const struct event *ev = &s->rec[i];
        if (ev->kind == EV_ACQUIRE && !(ev->flags & EVF_SYSTEM) && ev->tid != but)
            to[n++] = ev->tid;
    }
    return n;
}

static void kept(struct stream *to)
{
    char path[200], why[400];

    kept_read(to, kept_path(path), why);
    unlink(path);
    if (why[0])
        fail_msg("the kept trace breaks a rule: %s", why);
}

static void runs(struct executed *x, program_main *program, uint64_t threads, const char *settings,
                 struct stream *keep)
{
    const struct vm_params p = program_params(threads);
    char path[200];

    execute_program(x, program, &p, settings, keep ? kept_path(path) : NULL);
    if (x->code)
        fail_msg("the run ends with %d: %s", x->code, x->error);
    if (keep)
        kept(keep);
    executed_free(x);
}

/* ---- who gets a lock ------------------------------------------------------------------------ */

struct crowd {
    struct vm_ref *monitor;
    const unsigned *arrival; /* of each */
    bool apart;              /* each has a monitor of its own */
    struct vm_ref *own[CROWD];
};

static void comes(struct vm_thread *t, void *arg)
{
    struct crowd *c = arg;
    const unsigned i = vm_self(t) - 2;

    vm_compute(t, LATE * (1 + c->arrival[i]));
    vm_lock(t, c->apart ? c->own[i] : c->monitor, AT_A);
    vm_compute(t, SECTION);
    vm_unlock(t, c->apart ? c->own[i] : c->monitor, AT_A);
}

static void only_locks(struct vm_thread *t, void *arg)
{
    struct crowd *c = arg;

    vm_lock(t, c->monitor, AT_A);
    vm_unlock(t, c->monitor, AT_A);
}

/* Thread 1 makes the monitor one that is biased to nobody, so that nobody has to be stopped. */
static void crowds(struct vm_thread *t, bool apart, const unsigned *arrival)
{
    struct crowd *c = vm_scratch(t, 1, sizeof *c);
    sim_tid tid[CROWD];

    c->arrival = arrival;
    c->apart = apart;
    c->monitor = vm_global(t);
    vm_new_array(t, c->monitor, VM_I32, 1, AT_A);
    for (unsigned i = 0; i < CROWD; i++) {
        c->own[i] = vm_global(t);
        vm_new_array(t, c->own[i], VM_I32, 1, AT_A);
    }
    vm_join(t, vm_fork(t, only_locks, c, AT_A), AT_A);
    vm_lock(t, c->monitor, AT_A);
    for (unsigned i = 0; i < CROWD; i++)
        tid[i] = vm_fork(t, comes, c, AT_A);
    vm_compute(t, apart ? 0 : HELD);
    vm_unlock(t, c->monitor, AT_A);
    for (unsigned i = 0; i < CROWD; i++)
        vm_join(t, tid[i], AT_A);
}

/* Threads are 2 to 6; the third one to be forked comes first. */
static const unsigned arrival[CROWD] = {8, 6, 0, 4, 2};

static void all_want_one(struct vm_thread *t, const void *p)
{
    (void)p;
    crowds(t, false, arrival);
}

static void each_wants_its_own(struct vm_thread *t, const void *p)
{
    (void)p;
    crowds(t, true, arrival);
}

static void a_lock_goes_to_who_comes_first(void **state)
{
    static const sim_tid want[CROWD + 1] = {1, 4, 6, 5, 3, 2};
    struct executed x;
    struct stream s;
    sim_tid got[CROWD + 1] = {0};

    (void)state;
    runs(&x, all_want_one, CROWD, MACHINE "policies=none", &s);
    if (acquirers(&s, 0, got, CROWD + 1) != CROWD + 1 || memcmp(got, want, sizeof want) != 0)
        fail_msg("T4, T6, T5, T3, T2 came in this order, and T%u, T%u, T%u, T%u, T%u got it",
                 got[1], got[2], got[3], got[4], got[5]);
    stream_free(&s);
}

static void sections_of_a_lock_take_turns_in_simulated_time(void **state)
{
    struct executed one, own;

    (void)state;
    runs(&one, all_want_one, CROWD, MACHINE "policies=none", NULL);
    runs(&own, each_wants_its_own, CROWD, MACHINE "policies=none", NULL);
    if (one.cycles < HELD + CROWD * SECTION)
        fail_msg("%d sections of %d cycles under one lock, which is held for %d before, take %llu "
                 "cycles only",
                 CROWD, SECTION, HELD, (unsigned long long)one.cycles);
    if (own.cycles > 9 * LATE + 2 * SECTION + HELD / 2)
        fail_msg("%d sections under locks of their own take %llu cycles", CROWD,
                 (unsigned long long)own.cycles);
    if (one.waited < CROWD * HELD / 2)
        fail_msg("of them only %llu are waits for locks", (unsigned long long)one.waited);
}

/* ---- what changes the interleaving ---------------------------------------------------------- */

struct race_to_lock {
    struct vm_ref *monitor, *data;
};

/* Without a detector the accesses take some 3,000 cycles. */
static void walks(struct vm_thread *t, void *arg)
{
    struct race_to_lock *r = arg;

    for (unsigned i = 0; i < 1000; i++)
        vm_store_i64(t, r->data, i % 8, i, AT_A);
    vm_lock(t, r->monitor, AT_A);
    vm_unlock(t, r->monitor, AT_A);
}

static void computes(struct vm_thread *t, void *arg)
{
    struct race_to_lock *r = arg;

    vm_compute(t, 8000);
    vm_lock(t, r->monitor, AT_A);
    vm_unlock(t, r->monitor, AT_A);
}

static void two_race_to_a_lock(struct vm_thread *t, const void *p)
{
    struct race_to_lock *r = vm_scratch(t, 1, sizeof *r);

    (void)p;
    r->monitor = vm_global(t);
    r->data = vm_global(t);
    vm_new_array(t, r->monitor, VM_I64, 1, AT_A);
    vm_new_array(t, r->data, VM_I64, 8, AT_A);
    const sim_tid a = vm_fork(t, walks, r, AT_A), b = vm_fork(t, computes, r, AT_A);
    vm_join(t, a, AT_A);
    vm_join(t, b, AT_A);
}

static sim_tid first_with(const char *settings)
{
    char all[300];
    struct executed x;
    struct stream s;
    sim_tid got[2] = {0};

    snprintf(all, sizeof all, MACHINE "%s", settings);
    runs(&x, two_race_to_a_lock, 2, all, &s);
    assert_int_equal(acquirers(&s, 0, got, 2), 2);
    stream_free(&s);
    return got[0];
}

static void what_slows_a_thread_changes_who_is_first(void **state)
{
    (void)state;
    if (first_with("policies=none") != 1)
        fail_msg("the thread that walks through an array in 3,000 cycles is not before the one "
                 "that computes for 8,000");
    if (first_with("policies=fasttrack") != 2)
        fail_msg("FastTrack's cost of 1,000 accesses does not change who gets the lock");
    if (first_with("policies=none l1.latency=20 l2.latency=30") != 2)
        fail_msg("an L1 of 20 cycles does not change who gets the lock");
    if (first_with("policies=fasttrack policy.fasttrack.charged=off") != 1)
        fail_msg("a policy that is not charged changes who gets the lock");
}

static void who_is_not_charged_changes_no_cycle(void **state)
{
    struct executed alone, watched;

    (void)state;
    runs(&alone, all_want_one, CROWD, MACHINE "policies=fasttrack", NULL);
    runs(&watched, all_want_one, CROWD,
         MACHINE "policies=fasttrack,truth=vc policy.truth.charged=off", NULL);
    if (alone.cycles != watched.cycles)
        fail_msg("%llu cycles, but %llu where vc watches", (unsigned long long)alone.cycles,
                 (unsigned long long)watched.cycles);
}

/* ---- more threads than cores; limits; what is refused --------------------------------------- */

static void threads_share_cores_by_turns(void **state)
{
    struct executed x;
    struct stream s;

    (void)state;
    runs(&x, each_wants_its_own, CROWD,
         MACHINE "policies=none cores=2 schedule.threads=round-robin schedule.quantum=2000", &s);
    stream_free(&s);
    assert_true(x.switches > CROWD);
    if (x.cycles < CROWD * SECTION / 2)
        fail_msg("%d sections of %d cycles on two cores take %llu only", CROWD, SECTION,
                 (unsigned long long)x.cycles);
}

static void refused(program_main *program, const char *source, const char *settings, int code,
                    const char *text)
{
    const struct vm_params p = program_params(CROWD);
    struct executed x;

    if (program)
        execute_program(&x, program, &p, settings, NULL);
    else
        execute_source(&x, source, settings, NULL);
    if (x.code != code || !strstr(x.error, text))
        fail_msg("%s with %s: exit %d (%s), not %d (%s)", source ? source : "a program", settings,
                 x.code, x.error, code, text);
    executed_free(&x);
}

static void what_can_not_be_is_refused(void **state)
{
    (void)state;
    refused(NULL, "synth:events=100", MACHINE "policies=none", LARD_CONFIG, "can't be asked");
    refused(NULL, "workload:philosopher,kernel_threads=2", MACHINE "policies=none", LARD_CONFIG,
            "can't be asked");
    refused(NULL, "workload:philosopher", "order=program machine=none", LARD_CONFIG,
            "needs a machine");
    refused(all_want_one, NULL, MACHINE "policies=none cores=3", LARD_CONFIG, "round-robin");
}

static void the_limit_of_events_is_exact(void **state)
{
    const struct vm_params p = program_params(CROWD);
    struct executed x;

    (void)state;
    execute_program(&x, all_want_one, &p, MACHINE "policies=vc limits.events=77", NULL);
    assert_int_equal(x.code, LARD_LIMIT);
    assert_int_equal(x.events, 77);
    executed_free(&x);
}

static void two_wait_for_each_other_part(struct vm_thread *t, void *arg)
{
    struct race_to_lock *r = arg;

    vm_lock(t, r->data, AT_A);
    vm_compute(t, 100000);
    vm_lock(t, r->monitor, AT_A);
}

static void two_wait_for_each_other(struct vm_thread *t, const void *p)
{
    struct race_to_lock *r = vm_scratch(t, 1, sizeof *r);

    (void)p;
    r->monitor = vm_global(t);
    r->data = vm_global(t);
    vm_new_array(t, r->monitor, VM_I64, 1, AT_A);
    vm_new_array(t, r->data, VM_I64, 8, AT_A);
    vm_lock(t, r->monitor, AT_A);
    vm_fork(t, two_wait_for_each_other_part, r, AT_A);
    vm_compute(t, 50000);
    vm_lock(t, r->data, AT_A);
}

static void a_deadlock_is_told(void **state)
{
    (void)state;
    refused(two_wait_for_each_other, NULL, MACHINE "policies=none", LARD_LIMIT, "deadlock");
}

/* ---- a program of the papers ---------------------------------------------------------------- */

/* Issued for the 64 cores of Valor's machine: there a recording by chance makes threads wait. */
static void xalan_waits_less_than_its_replay(void **state)
{
    static const char xalan[] = "workload:xalan@valor,accesses=300k,plants=0,collections=0";
    struct executed program, replay;

    (void)state;
    execute_source(&program, xalan, "machine=multicore order=program cores=64 policies=none", NULL);
    execute_source(&replay, xalan, "machine=multicore order=timed cores=64 policies=none", NULL);
    if (program.code || replay.code)
        fail_msg("a run fails: %s%s", program.error, replay.error);
    if (program.waited * 2 > replay.waited)
        fail_msg("xalan waits %llu cycles for locks in program order, %llu in timed order",
                 (unsigned long long)program.waited, (unsigned long long)replay.waited);
    if (program.cycles >= replay.cycles)
        fail_msg("xalan takes %llu cycles in program order, %llu in timed order",
                 (unsigned long long)program.cycles, (unsigned long long)replay.cycles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_goes_to_who_comes_first),
        cmocka_unit_test(sections_of_a_lock_take_turns_in_simulated_time),
        cmocka_unit_test(what_slows_a_thread_changes_who_is_first),
        cmocka_unit_test(who_is_not_charged_changes_no_cycle),
        cmocka_unit_test(threads_share_cores_by_turns),
        cmocka_unit_test(what_can_not_be_is_refused),
        cmocka_unit_test(the_limit_of_events_is_exact),
        cmocka_unit_test(a_deadlock_is_told),
        cmocka_unit_test(xalan_waits_less_than_its_replay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
