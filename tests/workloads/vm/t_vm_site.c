/* t_vm_site.c - the sites of the runtime's inlined code: named by the runtime's place and the
 * program's, which is that of the event it belongs to; inline=off gives the same events with the
 * runtime's places alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "workloads/workloads.h"

static const char *const specs[] = {
    "hedc,queries=50,tlab=256,heap=256Ki",
    "pool,gc=semispace,heap=256Ki,tlab=256",
    "churn,steps=200,gc=generational,heap=512Ki,nursery=64Ki",
    "churn,steps=200,gc=copying-concurrent,heap=512Ki,schedule=adversarial",
    "churn,steps=200,gc=marksweep,heap=512Ki,kernel_threads=2",
    "philosopher,schedule=adversarial",
    "xalan@lard,accesses=50k,plants=0,close=0,hidden=0,moved=0,gc=semispace",
};

static struct source *open_spec(const char *spec)
{
    struct err e = {0};
    struct source *s = workload_open(spec, &e);

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    return s;
}

static struct batch next_batch(struct source *s)
{
    struct err e = {0};
    struct batch b;

    if (source_next(s, &b, &e))
        fail_msg("%s: %s", s->name, e.text);
    return b;
}

static const char *site_name(const struct source *s, uint64_t site)
{
    const char *name = names_find(s->names, NAME_SITE, site);

    return name ? name : "unnamed";
}

/* "vm.lock@Worker.update:71": what is behind the "@"; NULL: it is not inlined. */
static const char *inlined_at(const char *name)
{
    const char *at = strchr(name, '@');

    return strncmp(name, "vm.", 3) || !at ? NULL : at + 1;
}

static bool is_place(const char *name, const char *place)
{
    return !strncmp(name, place, strlen(place)) && name[strlen(place)] == '@';
}

/* ---- the site is the one of what it belongs to ---------------------------------------------- */

enum { THREADS = 64 };
struct watched {
    const char *site[THREADS]; /* of a thread's latest access or allocation as a program */
    const char *owed[THREADS]; /* an inlined look at a lock or write of it: at this site */
    uint64_t locks, unlocks, allocs, looks;
};

static void watch_system(struct watched *w, const struct source *s, const struct event *ev)
{
    const char *name = site_name(s, ev->aux), *at = inlined_at(name);

    if (!at)
        return;
    if (is_place(name, "vm.lock") || is_place(name, "vm.unlock")) {
        w->owed[ev->tid] = at;
    } else if (is_place(name, "vm.alloc")) {
        assert_string_equal(at, w->site[ev->tid]);
        w->allocs++;
    } else if (is_place(name, "vm.safepoint")) {
        const size_t n = strlen(at);
        assert_int_equal(ev->kind, EV_READ);
        assert_int_equal(strncmp(at, w->site[ev->tid], n), 0);
        assert_true(w->site[ev->tid][n] == ':');
        w->looks++;
    } else {
        fail_msg("%s: %s is said to be inlined", s->name, name);
    }
}

static void watch(struct watched *w, const struct source *s, const struct event *ev)
{
    const bool access = event_is_access(ev), system = ev->flags & EVF_SYSTEM;
    const uint64_t site = event_site(ev);

    assert_true(ev->tid < THREADS);
    if (access && system)
        watch_system(w, s, ev);
    else if (site >= VM_SITE_FIRST && !system)
        w->site[ev->tid] = site_name(s, site);
    if ((ev->kind == EV_ACQUIRE || ev->kind == EV_RELEASE) && !system && w->owed[ev->tid]) {
        assert_string_equal(w->owed[ev->tid], site_name(s, site));
        w->locks += ev->kind == EV_ACQUIRE;
        w->unlocks += ev->kind == EV_RELEASE;
        w->owed[ev->tid] = NULL;
    }
}

static void inlined_code_has_the_site_of_what_it_belongs_to(void **state)
{
    struct watched all = {{0}, {0}, 0, 0, 0, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        struct source *s = open_spec(specs[i]);
        struct watched w = {{0}, {0}, 0, 0, 0, 0};
        for (struct batch b; (b = next_batch(s)).records;)
            for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev))
                watch(&w, s, ev);
        all.locks += w.locks;
        all.unlocks += w.unlocks;
        all.allocs += w.allocs;
        all.looks += w.looks;
        source_close(s);
    }
    assert_true(all.locks > 1000 && all.unlocks > 1000 && all.allocs > 1000 && all.looks > 20);
}

/* ---- with and without ----------------------------------------------------------------------- */

/* "vm.lock@Worker.update:71" is "vm.lock" without. */
static void same_but_for_sites(const struct source *a, const struct event *x,
                               const struct source *b, const struct event *y)
{
    const bool access = event_is_access(x);
    struct event z = *y;

    if (!access || !(x->flags & EVF_SYSTEM)) {
        assert_memory_equal(x, y, event_records(x) * sizeof *x);
        return;
    }
    z.aux = x->aux;
    assert_memory_equal(x, &z, sizeof z);
    const char *with = site_name(a, x->aux), *without = site_name(b, y->aux);
    const char *at = inlined_at(with);
    assert_null(strchr(without, '@'));
    assert_int_equal(strncmp(with, without, strlen(without)), 0);
    assert_int_equal(strlen(without), at ? (size_t)(at - with) - 1 : strlen(with));
}

static void without_inlining_the_events_are_the_same_but_for_sites(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        char *off = xasprintf("%s,inline=off", specs[i]);
        struct source *a = open_spec(specs[i]), *b = open_spec(off);
        for (;;) {
            struct batch x = next_batch(a), y = next_batch(b);
            assert_int_equal(x.records, y.records);
            if (!x.records)
                break;
            for (size_t at = 0; at < x.records; at += event_records(&x.rec[at]))
                same_but_for_sites(a, &x.rec[at], b, &y.rec[at]);
        }
        source_close(a);
        source_close(b);
        free(off);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static void each_site_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        struct source *s = open_spec(specs[i]);
        uint64_t last = VM_SITE_FIRST;
        while (next_batch(s).records) {
        }
        while (names_find(s->names, NAME_SITE, last))
            last++;
        assert_true(last > VM_SITE_FIRST + 5);
        for (uint64_t x = 1; x < last; x++)
            for (uint64_t y = x + 1; y < last; y++)
                if (inlined_at(site_name(s, y)))
                    assert_string_not_equal(site_name(s, x), site_name(s, y));
        source_close(s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_code_has_the_site_of_what_it_belongs_to),
        cmocka_unit_test(without_inlining_the_events_are_the_same_but_for_sites),
        cmocka_unit_test(each_site_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
