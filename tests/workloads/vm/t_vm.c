/* t_vm.c - what a kernel on the modelled runtime can do, and what becomes of it in the stream: one
 * small program a property. What a kernel must not do is in t_vm_faults.c, the heap and its
 * collectors in t_vm_heap.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/workloads/vm/box.h"
#include "tests/frame/watch.h"

struct shared { /* what a test's threads have in common */
    struct vm_ref *o;
    struct vm_barrier *barrier;
    const struct vm_class *k;
    int32_t total;
    unsigned order[64], n;
};

/* ---- running a program ------------------------------------------------------------------------
 */

static void run_with(struct follow *f, void (*program)(struct vm_thread *t, const void *p),
                     const struct vm_params *p)
{
    follow_program(f, program, p, at_names);
}

static void run(struct follow *f, void (*program)(struct vm_thread *t, const void *p))
{
    const struct vm_params p = follow_params();

    run_with(f, program, &p);
    if (f->err.code)
        fail_msg("%s", f->err.text);
}

/* As text: "T0 start, T0 alloc ...", of the program alone, without allocations. */
static char *told(const struct follow *f, char *to, size_t room)
{
    size_t n = 0;

    to[0] = '\0';
    for (const struct event *ev = f->stream.rec; ev < f->stream.rec + f->stream.records;
         ev += event_records(ev))
        if (!(ev->flags & EVF_SYSTEM) && ev->kind != EV_ALLOC && n < room)
            n += (size_t)snprintf(to + n, room - n, "%s%u%s%s", n ? " " : "", ev->tid,
                                  ev_info[ev->kind].text,
                                  ev->flags & EVF_VOLATILE ? "/v"
                                  : ev->flags & EVF_FINAL  ? "/f"
                                  : ev->flags & EVF_STACK  ? "/s"
                                  : ev->flags & EVF_ARRAY  ? "/a"
                                  : ev->flags & EVF_IN_TXN ? "/t"
                                                           : "");
    return to;
}

static size_t count(const struct follow *f, enum ev_kind kind, bool program)
{
    size_t n = 0;

    for (const struct event *ev = f->stream.rec; ev < f->stream.rec + f->stream.records;
         ev += event_records(ev))
        n += ev->kind == kind && !(ev->flags & EVF_SYSTEM) == program;
    return n;
}

static struct shared *share(struct vm_thread *t)
{
    struct shared *s = vm_scratch(t, 1, sizeof *s);

    s->o = vm_global(t);
    s->k = vm_class(t, &box, s);
    vm_new(t, s->o, s->k, AT_A);
    return s;
}

static void fork_join(struct vm_thread *t, void (*fn)(struct vm_thread *u, void *arg), void *arg,
                      unsigned n)
{
    sim_tid child[64];

    for (unsigned i = 0; i < n; i++)
        child[i] = vm_fork(t, fn, arg, AT_A);
    for (unsigned i = 0; i < n; i++)
        vm_join(t, child[i], AT_A);
}

/* ---- one thread -------------------------------------------------------------------------------
 */

static void accesses(struct vm_thread *t, const void *p)
{
    struct vm_ref *r = vm_enter(t, 2);

    (void)p;
    vm_new(t, &r[0], vm_class(t, &box, NULL), AT_A);
    vm_put_i32(t, &r[0], BOX_I, -5, AT_A);
    vm_check(t, vm_get_i32(t, &r[0], BOX_I, AT_B) == -5, "i");
    vm_put_i32(t, &r[0], BOX_F, 6, AT_A);
    vm_put_i64(t, &r[0], BOX_V, 7, AT_A);
    vm_check(t, vm_get_i64(t, &r[0], BOX_V, AT_A) == 7, "v");
    vm_check(t, vm_add_i64(t, &r[0], BOX_V, 3, AT_A) == 7, "add");
    vm_new_array(t, &r[1], VM_I8, 3, AT_A);
    vm_store_i8(t, &r[1], 2, 200, AT_A);
    vm_check(t, vm_load_i8(t, &r[1], 2, AT_A) == 200 && vm_length(t, &r[1]) == 3, "a");
    vm_put_ref(t, &r[0], BOX_R, &r[1], AT_A);
    vm_stack(t, true, 5, AT_A);
    vm_set_null(&r[1]);
    vm_get_ref(t, &r[1], &r[0], BOX_R, AT_A);
    vm_check(t, vm_length(t, &r[1]) == 3, "r");
    vm_leave(t, r);
}

static void an_access_is_the_event_it_should_be(void **state)
{
    struct follow f;
    char text[2000];

    (void)state;
    run(&f, accesses);
    assert_string_equal(told(&f, text, sizeof text),
                        "0start 0write 0read 0write/f 0write/v 0vwrite 0vread 0read/v 0vread "
                        "0read/v 0write/v 0vwrite 0write/a 0read/a 0write 0write/s 0read 0end");
    follow_free(&f);
}

static void layout(struct vm_thread *t, const void *p)
{
    static const uint32_t offset[] = {16, 24, 32, 40, 48, 56};
    const struct vm_class *k = vm_class(t, &box, NULL);

    (void)p;
    for (unsigned i = 0; i < ARRAY_SIZE(offset); i++)
        vm_check(t, k->slot[i].offset == offset[i], "field %u is at %u", i, k->slot[i].offset);
    vm_check(t, k->bytes == 64, "bytes: %u", k->bytes);
}

static void fields_are_aligned_and_in_order(void **state)
{
    struct follow f;

    (void)state;
    run(&f, layout);
    follow_free(&f);
}

static void marks(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    vm_phase(t, "one");
    vm_roi_begin(t);
    vm_io(t, AT_A);
    vm_phase(t, "two");
    vm_phase(t, "one");
    vm_compute(t, 1000);
    vm_put_i32(t, s->o, BOX_I, 1, AT_A);
    vm_txn_begin(t, 64, AT_A);
    vm_put_i32(t, s->o, BOX_I, 2, AT_A);
    vm_txn_commit(t, AT_A);
    vm_put_i32(t, s->o, BOX_I, 3, AT_A);
}

static void marks_and_transactions_are_told(void **state)
{
    struct follow f;
    char text[500];
    uint64_t phases[3], n = 0, gap = 0;

    (void)state;
    run(&f, marks);
    assert_string_equal(told(&f, text, sizeof text),
                        "0start 0phase 0roi-begin 0io 0phase 0phase 0write 0txn-begin 0write/t "
                        "0txn-commit 0write 0roi-end 0end");
    for (const struct event *ev = f.stream.rec; ev < f.stream.rec + f.stream.records;
         ev += event_records(ev)) {
        if (ev->kind == EV_PHASE)
            phases[n++] = ev->aux;
        gap = ev->gap > gap ? ev->gap : gap;
    }
    assert_int_equal(phases[0], phases[2]);
    assert_int_not_equal(phases[0], phases[1]);
    assert_int_equal(gap, 1000 + VM_GAP);
    follow_free(&f);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static void count_up(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;

    for (unsigned i = 0; i < 50; i++) {
        vm_lock(t, s->o, AT_A);
        vm_lock(t, s->o, AT_A);
        vm_put_i32(t, s->o, BOX_I, vm_get_i32(t, s->o, BOX_I, AT_B) + 1, AT_B);
        vm_unlock(t, s->o, AT_A);
        vm_unlock(t, s->o, AT_A);
        vm_add_i64(t, s->o, BOX_V, 2, AT_B);
    }
}

static void counting(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    fork_join(t, count_up, s, 6);
    vm_check(t, vm_get_i32(t, s->o, BOX_I, AT_A) == 300, "a monitor let two in");
    vm_check(t, vm_get_i64(t, s->o, BOX_V, AT_A) == 600, "an update was lost");
}

static void monitors_exclude_in_every_schedule(void **state)
{
    (void)state;
    for (uint32_t schedule = VM_ROUND_ROBIN; schedule <= VM_ADVERSARIAL; schedule++)
        for (uint64_t kernel = 0; kernel < 4; kernel += 3) {
            struct follow f;
            struct vm_params p = follow_params();
            p.schedule = schedule;
            p.quantum = 1 + schedule;
            p.kernel_threads = kernel;
            run_with(&f, counting, &p);
            assert_int_equal(f.err.code, 0);
            assert_int_equal(count(&f, EV_ACQUIRE, true), 600);
            assert_int_equal(count(&f, EV_ACQUIRE, true), count(&f, EV_RELEASE, true));
            follow_free(&f);
        }
}

static void rounds(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;

    for (int32_t i = 1; i <= 10; i++) {
        if (vm_self(t) % 2)
            vm_compute(t, 50);
        s->total++;
        vm_barrier_wait(t, s->barrier, AT_A);
        vm_check(t, s->total == 5 * i, "round %d has %d", i, s->total);
        vm_barrier_wait(t, s->barrier, AT_A);
    }
}

static void with_barrier(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    s->barrier = vm_barrier_new(t, 5);
    fork_join(t, rounds, s, 5);
}

static void a_barrier_holds_all_until_all_are_there(void **state)
{
    struct follow f;

    (void)state;
    run(&f, with_barrier);
    assert_int_equal(count(&f, EV_BARRIER_ARRIVE, true), 100);
    assert_int_equal(count(&f, EV_BARRIER_DEPART, true), 100);
    follow_free(&f);
}

static void consume(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;

    vm_lock(t, s->o, AT_A);
    vm_lock(t, s->o, AT_A);
    while (vm_get_i32(t, s->o, BOX_I, AT_A) == 0)
        vm_wait(t, s->o, AT_A);
    vm_put_i32(t, s->o, BOX_I, vm_get_i32(t, s->o, BOX_I, AT_A) - 1, AT_A);
    vm_unlock(t, s->o, AT_A);
    vm_unlock(t, s->o, AT_A);
}

static void produce(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);
    sim_tid child[8];

    (void)p;
    for (unsigned i = 0; i < 8; i++)
        child[i] = vm_fork(t, consume, s, AT_A);
    for (unsigned i = 0; i < 8; i++) {
        vm_lock(t, s->o, AT_B);
        vm_put_i32(t, s->o, BOX_I, vm_get_i32(t, s->o, BOX_I, AT_B) + 1, AT_B);
        vm_notify(t, s->o, i == 7, AT_B);
        vm_unlock(t, s->o, AT_B);
        vm_collect(t); /* moves the monitor while others wait on it */
    }
    for (unsigned i = 0; i < 8; i++)
        vm_join(t, child[i], AT_A);
    vm_check(t, vm_get_i32(t, s->o, BOX_I, AT_A) == 0, "not all were consumed");
}

static void who_waits_is_woken_wherever_the_object_is(void **state)
{
    (void)state;
    for (uint32_t gc = VM_MARKSWEEP; gc <= VM_COPYING_CONCURRENT; gc++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct follow f;
            struct vm_params p = follow_params();
            p.gc = gc;
            p.seed = seed;
            p.kernel_threads = seed % 3;
            run_with(&f, produce, &p);
            if (f.err.code)
                fail_msg("%s", f.err.text);
            assert_int_equal(count(&f, EV_WAIT_ENTER, true), count(&f, EV_WAIT_EXIT, true));
            assert_true(f.collections >= 8);
            follow_free(&f);
        }
}

static void init_box(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;

    for (unsigned i = 0; i < 30; i++)
        vm_put_i32(t, s->o, BOX_L - 1, (int32_t)i, AT_A);
    s->total++;
}
static const struct vm_type_of lazy = VM_TYPE_INIT("Lazy", init_box, BOX_FIELDS);

static void use_class(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;
    struct vm_ref *r = vm_enter(t, 1);

    vm_new(t, &r[0], s->k, AT_B);
    vm_check(t, s->total == 1, "used before it was initialised");
    vm_new(t, &r[0], s->k, AT_B);
    vm_check(t, vm_get_i32(t, s->o, BOX_I, AT_B) == 29, "what it did is not seen");
    vm_leave(t, r);
}

static void with_class(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    s->k = vm_class(t, &lazy, s);
    fork_join(t, use_class, s, 5);
}

static void a_class_is_initialised_once_before_use(void **state)
{
    struct follow f;
    struct watch w;
    const char *const none[] = {NULL};

    (void)state;
    run(&f, with_class);
    assert_int_equal(count(&f, EV_CLASS_INIT, true), 1);
    assert_int_equal(count(&f, EV_CLASS_USE, true), 4);
    watch_open(&w, "vc", 4, none);
    watch_run(&w, f.stream.rec, f.stream.records);
    assert_int_equal(w.races, 0);
    watch_close(&w);
    follow_free(&f);
}

static void transact(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;
    struct vm_ref *r = vm_enter(t, 1);

    for (unsigned i = 0; i < 20; i++) {
        vm_txn_begin(t, 200, AT_A);
        vm_new_array(t, &r[0], VM_I64, 20, AT_A);
        vm_store_i64(t, &r[0], 0, vm_get_i64(t, s->o, BOX_L, AT_A), AT_A);
        vm_put_i64(t, s->o, BOX_L, vm_load_i64(t, &r[0], 0, AT_A) + 1, AT_A);
        vm_txn_commit(t, AT_A);
        vm_new_array(t, &r[0], VM_F64, 300, AT_A);
    }
    vm_leave(t, r);
}

static void transactions(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    fork_join(t, transact, s, 6);
    vm_check(t, vm_get_i64(t, s->o, BOX_L, AT_A) == 120, "a transaction was not alone");
}

static void transactions_exclude_and_collections_wait_for_them(void **state)
{
    (void)state;
    for (uint32_t gc = VM_MARKSWEEP; gc <= VM_COPYING_CONCURRENT; gc++) {
        struct follow f;
        struct vm_params p = follow_params();
        p.gc = gc;
        p.heap = 1 << 18;
        p.nursery = 1 << 15;
        run_with(&f, transactions, &p);
        if (f.err.code)
            fail_msg("%s", f.err.text);
        assert_int_equal(count(&f, EV_TXN_COMMIT, true), 120);
        assert_true(f.collections > 0);
        follow_free(&f);
    }
}

/* ---- kernel threads ---------------------------------------------------------------------------
 */

static void language_threads_share_kernel_threads(void **state)
{
    struct follow f;
    struct vm_params p = follow_params();
    uint64_t on[16];
    bool seen[3] = {false};

    (void)state;
    memset(on, 0xff, sizeof on);
    p.kernel_threads = 3;
    run_with(&f, counting, &p);
    assert_int_equal(count(&f, EV_THREAD_START, true), 0);
    for (const struct event *ev = f.stream.rec; ev < f.stream.rec + f.stream.records;
         ev += event_records(ev)) {
        if (ev->kind == EV_THREAD) {
            assert_true(ev->aux < 3);
            assert_true(on[ev->tid] != ev->aux);
            on[ev->tid] = ev->aux;
            seen[ev->aux] = true;
        }
        assert_true(on[ev->tid] < 3);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    assert_true(count(&f, EV_THREAD, true) > 7); /* somebody has moved */
    follow_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_is_the_event_it_should_be),
        cmocka_unit_test(fields_are_aligned_and_in_order),
        cmocka_unit_test(marks_and_transactions_are_told),
        cmocka_unit_test(monitors_exclude_in_every_schedule),
        cmocka_unit_test(a_barrier_holds_all_until_all_are_there),
        cmocka_unit_test(who_waits_is_woken_wherever_the_object_is),
        cmocka_unit_test(a_class_is_initialised_once_before_use),
        cmocka_unit_test(transactions_exclude_and_collections_wait_for_them),
        cmocka_unit_test(language_threads_share_kernel_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
