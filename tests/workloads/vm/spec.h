/* spec.h - for tests of the modelled runtime: workloads by their text, and what they can be run
 * with. A test that names no sites and follows nothing needs no more. */
#ifndef LARDSIM_TESTS_VM_SPEC_H
#define LARDSIM_TESTS_VM_SPEC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/workloads.h"

static const char *const collectors[] = {
    "marksweep", "semispace", "generational", "marksweep-concurrent", "copying-concurrent", NULL};

static inline struct source *open_spec(const char *spec)
{
    struct err e = {0};
    struct source *s = workload_open(spec, &e);

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    return s;
}

/* fn for each event that the workload makes. */
static inline void walk_spec(const char *spec, void (*fn)(void *arg, const struct event *ev),
                             void *arg)
{
    struct source *s = open_spec(spec);
    struct err e = {0};
    struct batch b;

    do {
        if (source_next(s, &b, &e))
            fail_msg("%s: %s", spec, e.text);
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev))
            fn(arg, ev);
    } while (b.records);
    source_close(s);
}

#endif
