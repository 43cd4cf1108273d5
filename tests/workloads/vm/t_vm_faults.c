/* t_vm_faults.c - what a kernel on the modelled runtime must not do, or can't: each ends the stream
 * with an error that says what and where, after the events before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/workloads/vm/box.h"

struct shared {
    struct vm_ref *o;
};

static struct shared *share(struct vm_thread *t)
{
    struct shared *s = vm_scratch(t, 1, sizeof *s);

    s->o = vm_global(t);
    vm_new(t, s->o, vm_class(t, &box, NULL), AT_A);
    return s;
}

static void null_field(struct vm_thread *t, const void *p)
{
    struct vm_ref *r = vm_enter(t, 1);

    (void)p;
    vm_get_i32(t, &r[0], 0, AT_B);
}

static void bad_index(struct vm_thread *t, const void *p)
{
    struct vm_ref *r = vm_enter(t, 1);

    (void)p;
    vm_new_array(t, &r[0], VM_F64, 4, AT_A);
    vm_store_f64(t, &r[0], 4, 1, AT_B);
}

static void wrong_type(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_get_i64(t, share(t)->o, BOX_I, AT_B);
}

static void no_such_field(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_get_i32(t, share(t)->o, 6, AT_B);
}

static void wrong_element(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_load_i32(t, share(t)->o, 0, AT_B);
}

static void not_held(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_unlock(t, share(t)->o, AT_B);
}

static void lock_null(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_lock(t, vm_global(t), AT_B);
}

static void ends_holding(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_lock(t, share(t)->o, AT_B);
}

static void failed_check(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_check(t, true, "never");
    vm_check(t, false, "the sum is %d", 41);
}

static void never_notified(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    vm_lock(t, s->o, AT_A);
    vm_wait(t, s->o, AT_A);
}

static void recurse(struct vm_thread *t, const void *p)
{
    (void)p;
    for (;;)
        vm_enter(t, 100);
}

static void too_long(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_new_array(t, vm_global(t), VM_REF, UINT64_MAX / 8, AT_A);
}

static void lock_in_txn(struct vm_thread *t, const void *p)
{
    struct shared *s = share(t);

    (void)p;
    vm_txn_begin(t, 0, AT_A);
    vm_lock(t, s->o, AT_A);
}

static void greedy_txn(struct vm_thread *t, const void *p)
{
    struct vm_ref *r = vm_enter(t, 1);

    (void)p;
    vm_txn_begin(t, 100, AT_A);
    for (;;)
        vm_new_array(t, &r[0], VM_I64, 500, AT_A);
}

static void join_self(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_join(t, 0, AT_A);
}

static void faults_end_the_stream_with_their_reason(void **state)
{
    static const struct {
        void (*program)(struct vm_thread *t, const void *p);
        int code;
        const char *says;
    } fault[] = {{null_field, LARD_LIMIT, "T.b:2: field 0 of null"},
                 {bad_index, LARD_LIMIT, "T.b:2: index 4 of 4"},
                 {wrong_type, LARD_LIMIT, "Box.i is no i64"},
                 {no_such_field, LARD_LIMIT, "a Box has no field 6"},
                 {wrong_element, LARD_LIMIT, "a Box has no elements i32"},
                 {not_held, LARD_INTERNAL, "unlocks an object whose monitor it does not have"},
                 {lock_null, LARD_LIMIT, "locks null"},
                 {ends_holding, LARD_INTERNAL, "still has 1 monitor"},
                 {failed_check, LARD_INTERNAL, "the sum is 41"},
                 {never_notified, LARD_LIMIT, "deadlock: no thread can run: T0 waits for a notif"},
                 {recurse, LARD_LIMIT, "more than 8192 roots"},
                 {too_long, LARD_LIMIT, "out of heap"},
                 {lock_in_txn, LARD_LIMIT, "inside a transaction"},
                 {greedy_txn, LARD_LIMIT, "larger reserve"},
                 {join_self, LARD_INTERNAL, "T0 can't be joined by T0"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(fault); i++) {
        struct follow f;
        const struct vm_params p = follow_params();
        follow_program(&f, fault[i].program, &p, at_names);
        if (!strstr(f.err.text, fault[i].says))
            fail_msg("\"%s\" does not say \"%s\"", f.err.text, fault[i].says);
        assert_int_equal(f.err.code, fault[i].code);
        assert_memory_equal(f.err.text, "workload:test: T0, event ", 25);
        follow_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_end_the_stream_with_their_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
