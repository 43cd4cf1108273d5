/* hand.h - how the tests of compare make events by hand, and hold what is counted and told
 * against what they want. It includes cmocka and what cmocka needs. */
#ifndef LARDSIM_COMPARE_HAND_H
#define LARDSIM_COMPARE_HAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { X = 0x1000, Y = 0x2000, L = 0x9000, TOLD = 64 };

struct told { /* the differences, in the order told */
    struct lardsim_difference at[TOLD];
    char reason[TOLD][200];
    size_t n;
};

static inline void tell(void *arg, const struct lardsim_difference *d)
{
    struct told *t = arg;

    assert_true(t->n < TOLD);
    t->at[t->n] = *d;
    snprintf(t->reason[t->n], sizeof t->reason[0], "%s", d->reason);
    t->n++;
}

static inline struct lardsim *configured(const char *const *set, struct told *t)
{
    struct lardsim *l = lardsim_new();

    assert_int_equal(lardsim_compare(l), 0);
    assert_int_equal(lardsim_set(l, "granularity=4"), 0);
    assert_int_equal(lardsim_set(l, "layout=default"), 0);
    for (; *set; set++)
        assert_int_equal(lardsim_set(l, *set), 0);
    if (t)
        lardsim_on_difference(l, tell, t);
    return l;
}

/* "views=..." sets the views of an instance other beside the truth, lard. */
static inline struct lardsim *started(const char *view, struct told *t)
{
    char *set = xasprintf("policy.other.view=%s", view);
    struct lardsim *l =
        configured((const char *const[]){"policies=lard=vc,other=vc", set, NULL}, t);

    free(set);
    assert_int_equal(lardsim_start(l), 0);
    return l;
}

static inline void finish(struct lardsim *l)
{
    if (lardsim_finish(l))
        fail_msg("%s", lardsim_error(l));
}

static inline uint64_t stat(const struct lardsim *l, const char *name)
{
    uint64_t v = 0;

    if (lardsim_stat(l, name, &v))
        fail_msg("no statistic %s", name);
    return v;
}

/* F DRE, F PC, M DRE, M PC. */
static inline void assert_table(const struct lardsim *l, const char *label, const uint64_t want[4])
{
    static const char *const name[] = {"false.accesses", "false.sites", "missed.accesses",
                                       "missed.sites"};

    for (size_t i = 0; i < 4; i++) {
        char *full = xasprintf("compare.%s.%s", label, name[i]);
        if (stat(l, full) != want[i])
            fail_msg("%s is %llu, not %llu", full, (unsigned long long)stat(l, full),
                     (unsigned long long)want[i]);
        free(full);
    }
}
#define TABLE(l, ...) assert_table(l, "other", (const uint64_t[4]){__VA_ARGS__})

static inline void assert_told(const struct told *t, size_t i, const char *verdict, const char *of,
                               uint64_t event, uint64_t earlier, const char *why)
{
    assert_true(i < t->n);
    const struct lardsim_difference *d = &t->at[i];
    assert_string_equal(d->verdict, verdict);
    assert_string_equal(d->of, of);
    assert_int_equal(d->is.event, event);
    assert_int_equal(d->earlier.event, earlier);
    assert_string_equal(d->why, why);
}

static inline void access_by(struct lardsim *l, unsigned t, enum lardsim_kind kind, uint64_t a,
                             unsigned flags, uint64_t site)
{
    if (lardsim_access(l, t, kind, a, 4, flags, site))
        fail_msg("%s", lardsim_error(l));
}
static inline void wr(struct lardsim *l, unsigned t, uint64_t a, uint64_t site)
{
    access_by(l, t, LARDSIM_WRITE, a, 0, site);
}
static inline void rd(struct lardsim *l, unsigned t, uint64_t a, uint64_t site)
{
    access_by(l, t, LARDSIM_READ, a, 0, site);
}
static inline void sync_by(struct lardsim *l, unsigned t, enum lardsim_kind kind, uint64_t o,
                           uint64_t aux, unsigned flags)
{
    if (lardsim_sync(l, t, kind, o, aux, flags, 0))
        fail_msg("%s", lardsim_error(l));
}
static inline void copy_by(struct lardsim *l, unsigned t, uint64_t to, uint64_t from,
                           uint64_t bytes)
{
    const struct lardsim_event ev = {
        .addr = to, .addr2 = from, .aux = bytes, .thread = (uint16_t)t, .kind = LARDSIM_COPY};

    if (lardsim_event(l, &ev))
        fail_msg("%s", lardsim_error(l));
}

#endif
