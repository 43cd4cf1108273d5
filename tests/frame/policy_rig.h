/* policy_rig.h - a policy in software, labelled a, on a machine that keeps what is asked of it
 * (machine_rig.h): what events cost, and its statistics. */
#ifndef LARDSIM_POLICY_RIG_H
#define LARDSIM_POLICY_RIG_H

#include "tests/frame/machine_rig.h"
#include "tests/frame/watch.h"

struct policy_rig {
    struct machine_rig m;
    struct config *config;
    struct checker *checker;
    struct err err;
};

/* settings: as "policy.a.history=all"; NULL ends them, or there are none. */
static inline void policy_rig_open(struct policy_rig *r, const char *policy,
                                   const char *const *settings, struct rig_places layout)
{
    const struct policy *p = policy_find(policy);
    char *spec = xasprintf("a=%s", policy);

    machine_rig_open(&r->m, 4);
    r->m.counts = "policy.a.";
    r->m.layout = layout;
    if (layout.inlined)
        r->m.machine.inlined = inline_heap_new(layout.layout, NULL, 4, NULL);
    r->err = (struct err){0};
    r->config = config_new(NULL);
    for (; settings && *settings; settings++)
        if (config_set(r->config, *settings, &r->err))
            die("%s", r->err.text);
    const struct checker_env env = {.config = r->config,
                                    .stats = r->m.stats,
                                    .number = &r->m.number,
                                    .granule = 4,
                                    .layout = layout.layout,
                                    .err = &r->err,
                                    .machine = &r->m.machine,
                                    .host = &r->m,
                                    .exec = machine_exec,
                                    .mem = machine_mem};
    r->checker = checker_new(spec, &env, &r->err);
    if (!r->checker)
        die("%s", r->err.text);
    machine_steps(&r->m, p->charges->step, p->charges->steps);
    free(spec);
}

static inline void policy_rig_free(struct policy_rig *r)
{
    checker_free(r->checker);
    config_free(r->config);
    machine_rig_close(&r->m);
}

static inline void policy_rig_close(struct policy_rig *r)
{
    checker_finish(r->checker);
    policy_rig_free(r);
}

/* On the core of the thread's number. */
static inline void policy_rig_run(struct policy_rig *r, const struct event *ev, size_t records)
{
    for (const struct event *end = ev + records; ev < end; ev += event_records(ev), r->m.number++)
        checker_step(r->checker, ev, ev->tid % 4, (struct mem_outcome){0}, 0);
    if (r->err.code)
        die("%s", r->err.text);
}
#define RUN(r, ...) policy_rig_run(r, EVENTS(__VA_ARGS__))

/* What these events cost after those before. */
#define EVENTS_COST(r, expected, ...)                                                              \
    do {                                                                                           \
        charges_forget(&(r)->m.asked);                                                             \
        RUN(r, __VA_ARGS__);                                                                       \
        charges_are(&(r)->m.asked, expected);                                                      \
    } while (0)

static inline uint64_t policy_rig_stat(const struct policy_rig *r, const char *name)
{
    char *full = xasprintf("policy.a.%s", name);
    uint64_t v = 0;

    if (!stats_value(r->m.stats, full, &v))
        die("no statistic %s", full);
    free(full);
    return v;
}

#endif
