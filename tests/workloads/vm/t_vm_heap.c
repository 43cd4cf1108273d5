/* t_vm_heap.c - the modelled heap: collectors keep what can be reached as it is, objects never
 * overlap, what moves is copied and cleared once, and events tell all of it. t_vm_races.c tells
 * what detectors make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/workloads/vm/churn.h"

#define SITES(X) X(A, "T.a:1")
VM_SITES(SITES)

/* ---- what can be reached ----------------------------------------------------------------------
 */

struct graph {         /* of a heap, independent of addresses */
    struct map number; /* address to the order of discovery */
    struct vm_addresses found;
    uint64_t hash;
    unsigned pauses, broken;
    char why[200];
};

static void mix(struct graph *g, uint64_t value)
{
    g->hash = (g->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    g->hash ^= g->hash >> 29;
}

static void spoilt(struct graph *g, const char *what, sim_addr at)
{
    g->broken++;
    snprintf(g->why, sizeof g->why, "pause %u: 0x%llx %s", g->pauses, (unsigned long long)at, what);
}

static bool valid(struct graph *g, const struct vm *v, sim_addr at)
{
    const char *what = NULL;

    if (at < VM_HEAP || at >= VM_HEAP + v->p.heap || at % v->core.layout->align)
        what = "is no object's address";
    else if (!vm_is_object(vm_header(&v->core, at)))
        what = "is free memory";
    else if ((vm_header(&v->core, at)->class & ~VM_FORWARDED) >= v->classes.n)
        what = "has no class";
    else if (vm_header(&v->core, at)->class & VM_FORWARDED && !(v->gc.barrier & VM_FORWARD))
        what = "has moved, and is not looked for any more";
    if (what)
        spoilt(g, what, at);
    return !what;
}

static void reach(struct graph *g, const struct vm *v, sim_addr at)
{
    at = at && valid(g, v, at) ? vm_forwarded(&v->core, at) : 0;
    if (!at || !valid(g, v, at)) {
        mix(g, 0);
        return;
    }
    uint64_t *n = map_put(&g->number, at);
    if (!*n) {
        *n = g->number.n;
        vm_addresses_add(&g->found, at);
    }
    mix(g, *map_find(&g->number, at));
}

static void describe(struct graph *g, const struct vm *v, sim_addr at)
{
    const struct vm_header *h = vm_header(&v->core, at);
    const uint64_t bytes = vm_bytes(v, h);
    uint64_t next = vm_ref_offset(v, h, 0), i = 0;

    mix(g, (uint64_t)h->class << 32 | (h->class < VM_TYPES ? h->length : 0));
    for (uint64_t offset = v->core.layout->header; offset < bytes; offset++) {
        if (offset != next) {
            mix(g, ((const unsigned char *)h)[offset]);
            continue;
        }
        reach(g, v, vm_load_slot(&v->core, at + offset));
        offset += v->core.layout->reference - 1u;
        next = vm_ref_offset(v, h, ++i);
    }
}

static void reach_root(struct graph *g, const struct vm *v, const struct vm_ref *r)
{
    reach(g, v, r->at);
}

static int by_address(const void *a, const void *b)
{
    const sim_addr x = *(const sim_addr *)a, y = *(const sim_addr *)b;

    return (x > y) - (x < y);
}

static void check_apart(struct graph *g, const struct vm *v)
{
    qsort(g->found.at, g->found.n, sizeof *g->found.at, by_address);
    for (size_t i = 1; i < g->found.n; i++)
        if (g->found.at[i - 1] + vm_bytes(v, vm_header(&v->core, g->found.at[i - 1])) >
            g->found.at[i])
            spoilt(g, "overlaps the object before", g->found.at[i]);
}

static uint64_t graph_of(struct graph *g, const struct vm *v)
{
    map_init(&g->number, NULL);
    g->found.n = 0;
    g->hash = 0;
    for (size_t i = 0; i < v->sched.n_threads; i++)
        for (uint32_t r = 0; r < v->sched.thread[i]->n_roots; r++)
            reach_root(g, v, &v->sched.thread[i]->roots[r]);
    for (size_t i = 0; i < v->globals.n; i++)
        reach_root(g, v, &v->globals.chunk[i / VM_ROOTS][i % VM_ROOTS]);
    for (size_t i = 0; i < g->found.n; i++)
        describe(g, v, g->found.at[i]);
    check_apart(g, v);
    map_free(&g->number);
    return g->hash;
}

struct pauses {
    struct graph graph;
    uint64_t before;
};

static void observe(void *arg, struct vm *v, enum vm_moment m)
{
    struct pauses *p = arg;
    const uint64_t hash = graph_of(&p->graph, v);

    if (m == VM_BEFORE_PAUSE)
        p->before = hash;
    else if (hash != p->before)
        spoilt(&p->graph, "(first object) starts a graph that a pause has changed",
               p->graph.found.n ? p->graph.found.at[0] : 0);
    p->graph.pauses += m == VM_AFTER_PAUSE;
}

/* Runs a source that is observed. */
static void observed(struct source *s, const char *what)
{
    struct vm *v = (struct vm *)s;
    struct pauses p = {0};
    struct follow f;

    v->gc.observe = observe;
    v->gc.observe_arg = &p;
    follow_source(&f, s);
    if (f.err.code || f.why[0])
        fail_msg("%s: %s%s", what, f.err.text, f.why);
    if (p.graph.broken)
        fail_msg("%s: %s", what, p.graph.why);
    assert_true(p.graph.pauses > 1);
    free(p.graph.found.at);
    follow_free(&f);
}

static void check_graph(const char *spec)
{
    observed(open_spec(spec), spec);
}

static void a_pause_changes_nothing_that_can_be_reached(void **state)
{
    (void)state;
    each(check_graph, ",system_gc=on", 2);
    each(check_graph, ",system_gc=on,kernel_threads=2,threads=7,quantum=7", 1);
    each(check_graph, ",system_gc=on,layout=ia32", 1);
    each(check_graph, ",system_gc=on,layout=64-bit-compressed", 1);
}

enum { CELLS = 40, HELD = 8 };

/* Keeps references in roots for long, and drops others all the time. */
static void holder(struct vm_thread *t, void *arg)
{
    struct vm_ref *table = arg, *r = vm_enter(t, HELD + 1);

    for (unsigned i = 0; i < 4000; i++) {
        struct vm_ref *one = &r[i / 40 % HELD];
        const uint64_t at = rng_below(vm_rng(t), CELLS);
        if (i % 3 == 0) {
            vm_new_array(t, &r[HELD], VM_REF, 1 + i % 60, AT_A);
            vm_load_ref(t, one, table, at, AT_A);
            vm_store_ref(t, &r[HELD], 0, one, AT_A);
            vm_store_ref(t, table, at, &r[HELD], AT_A);
        } else if (!vm_is_null(one)) {
            vm_load_ref(t, one, one, 0, AT_A);
        } else {
            vm_load_ref(t, one, table, at, AT_A);
        }
        if (i % 7 == 0)
            vm_store_ref(t, table, rng_below(vm_rng(t), CELLS), NULL, AT_A);
    }
}

static void hold(struct vm_thread *t, const void *p)
{
    struct vm_ref *table = vm_global(t);
    sim_tid child[4];

    (void)p;
    vm_new_array(t, table, VM_REF, CELLS, AT_A);
    for (unsigned i = 0; i < ARRAY_SIZE(child); i++)
        child[i] = vm_fork(t, holder, table, AT_A);
    for (unsigned i = 0; i < ARRAY_SIZE(child); i++)
        vm_join(t, child[i], AT_A);
}

static const struct workload holding = {.name = "hold", .sites = at_names, .main = hold};

static void references_in_roots_stay_good(void **state)
{
    (void)state;
    for (uint32_t gc = VM_MARKSWEEP; gc <= VM_COPYING_CONCURRENT; gc++)
        for (uint64_t seed = 0; seed < (gc == VM_COPYING_CONCURRENT ? 12 : 3); seed++) {
            struct err e = {0};
            struct vm_params p = follow_params();
            p.gc = gc;
            p.seed = seed;
            p.heap = 1 << 18;
            p.quantum = 3;
            p.nursery = 1 << 15;
            observed(&vm_open(&holding, &p, NULL, NULL, &e)->source, "hold");
        }
}

static void drop_old(struct vm_thread *t, const void *p)
{
    struct vm_ref *r = vm_enter(t, 2);

    (void)p;
    vm_new_array(t, &r[0], VM_REF, 1, AT_A);
    vm_collect(t);
    vm_new_array(t, &r[1], VM_I32, 1, AT_A);
    vm_store_ref(t, &r[0], 0, &r[1], AT_A);
    vm_set_null(&r[0]);
    vm_set_null(&r[1]);
    vm_collect(t);
}

static void what_only_dead_old_objects_remember_dies(void **state)
{
    struct follow f;
    struct vm_params p = follow_params();

    (void)state;
    p.gc = VM_GENERATIONAL;
    follow_program(&f, drop_old, &p, at_names);
    assert_int_equal(f.err.code, 0);
    assert_int_equal(f.copies, 1);
    assert_int_equal(f.clears, 3);
    follow_free(&f);
}

/* ---- events -----------------------------------------------------------------------------------
 */

static void check_heap(const char *spec)
{
    struct follow f;

    follow(&f, spec);
    const bool moving =
        strstr(spec, "semispace") || strstr(spec, "generational") || strstr(spec, "copying");
    assert_true(f.clears > 0);
    assert_true(moving == (f.copies > 0));
    if (!strstr(spec, "concurrent"))
        assert_int_equal(f.moved, 0);
    follow_free(&f);
}

static void events_tell_where_every_object_is(void **state)
{
    (void)state;
    each(check_heap, ",race=on", 2);
}

static void a_large_heap_is_never_collected(void **state)
{
    struct follow f;

    (void)state;
    follow(&f, "philosopher,meals=20");
    assert_int_equal(f.collections + f.clears + f.copies, 0);
    follow_free(&f);
}

static void concurrent_marking_reads_while_the_program_runs(void **state)
{
    struct follow f;

    (void)state;
    follow(&f, SMALL "gc=marksweep-concurrent");
    assert_true(f.scans_outside > 0);
    assert_int_equal(f.copies_outside, 0);
    follow_free(&f);
    follow(&f, SMALL "gc=marksweep");
    assert_int_equal(f.scans_outside, 0);
    follow_free(&f);
}

static void concurrent_copying_copies_while_the_program_runs(void **state)
{
    uint64_t aborts = 0;

    (void)state;
    for (unsigned seed = 0; seed < 6; seed++) {
        struct follow f;
        char *spec = xasprintf(SMALL "gc=copying-concurrent,quantum=5,seed=%u", seed);
        follow(&f, spec);
        assert_true(f.copies_outside > 0);
        aborts += f.aborts;
        follow_free(&f);
        free(spec);
    }
    assert_true(aborts > 0); /* or a copy that the program spoils was never tried */
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static void a_heap_that_is_too_small_is_an_error(void **state)
{
    (void)state;
    for (const char *const *gc = collectors; *gc; gc++) {
        struct follow f;
        char *spec = xasprintf("churn,heap=256Ki,nursery=16Ki,tlab=512,limit=65536,steps=20000,"
                               "gc=%s",
                               *gc);
        follow_source(&f, open_spec(spec));
        assert_int_equal(f.err.code, LARD_LIMIT);
        if (!strstr(f.err.text, "out of heap"))
            fail_msg("%s", f.err.text);
        assert_string_equal(f.why, "");
        assert_true(f.number > 1000);
        follow_free(&f);
        free(spec);
    }
}

static void many_threads_share_a_small_nursery(void **state)
{
    struct follow f;

    (void)state;
    follow(&f, "churn,threads=48,steps=60,heap=4Mi,gc=generational,nursery=128Ki,tlab=8Ki");
    assert_true(f.collections > 0);
    follow_free(&f);
    follow(&f, "churn,threads=48,steps=60,heap=1Mi,gc=semispace,tlab=16Ki,schedule=round-robin");
    follow_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_changes_nothing_that_can_be_reached),
        cmocka_unit_test(references_in_roots_stay_good),
        cmocka_unit_test(what_only_dead_old_objects_remember_dies),
        cmocka_unit_test(events_tell_where_every_object_is),
        cmocka_unit_test(a_large_heap_is_never_collected),
        cmocka_unit_test(concurrent_marking_reads_while_the_program_runs),
        cmocka_unit_test(concurrent_copying_copies_while_the_program_runs),
        cmocka_unit_test(many_threads_share_a_small_nursery),
        cmocka_unit_test(a_heap_that_is_too_small_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
