/* churn.h - for tests of the modelled heap: the workload churn, small enough to collect often,
 * under each scheduler, followed event by event. */
#ifndef LARDSIM_TESTS_VM_CHURN_H
#define LARDSIM_TESTS_VM_CHURN_H

#include "tests/workloads/vm/follow.h"
#include "tests/workloads/vm/spec.h"

static const char *const schedules[] = {"round-robin", "random", "adversarial", NULL};

#define SMALL "churn,heap=512Ki,nursery=48Ki,tlab=1Ki,steps=500,"

static inline void follow(struct follow *f, const char *spec)
{
    follow_source(f, open_spec(spec));
    if (f->err.code)
        fail_msg("%s: %s", spec, f->err.text);
    if (f->why[0])
        fail_msg("%s: %s", spec, f->why);
}

/* Every collector, schedule, some seeds. */
static inline void each(void (*fn)(const char *spec), const char *more, unsigned seeds)
{
    for (const char *const *gc = collectors; *gc; gc++)
        for (const char *const *schedule = schedules; *schedule; schedule++)
            for (unsigned seed = 0; seed < seeds; seed++) {
                char *spec =
                    xasprintf(SMALL "gc=%s,schedule=%s,seed=%u%s", *gc, *schedule, seed, more);
                fn(spec);
                free(spec);
            }
}

#endif
