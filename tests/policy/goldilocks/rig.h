/* rig.h - goldilocks under test: with settings, with and without a machine that only counts. */
#ifndef LARDSIM_GOLD_RIG_H
#define LARDSIM_GOLD_RIG_H

#include "policy/goldilocks/goldilocks.h"
#include "tests/frame/watch.h"

enum { RIG_CORES = 4, RIG_LINE = 64 };

struct rig { /* a machine: an instruction and an access take a cycle */
    uint64_t instructions, accesses;
};

static inline sim_cycle rig_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    struct rig *r = host;

    (void)core;
    r->instructions += instructions;
    return now + instructions;
}

static inline sim_cycle rig_mem(void *host, unsigned core, struct paddr a, unsigned bytes,
                                enum mem_cmd cmd, sim_cycle now)
{
    struct rig *r = host;

    (void)core, (void)a, (void)bytes, (void)cmd;
    r->accesses++;
    return now + 1;
}

static const struct policy_machine rig_machine = {.cores = RIG_CORES, .line = RIG_LINE};

/* rig: NULL without a machine. */
static inline void rig_open(struct rig *rig, struct watch *w, unsigned granule,
                            const char *const *settings)
{
    const struct checker_env on = {
        .machine = &rig_machine, .host = rig, .exec = rig_exec, .mem = rig_mem};
    const struct checker_env off = {.machine = NULL};

    watch_open_on(w, "goldilocks", granule, settings, rig ? &on : &off);
}

/* One event, on the core that its thread has. */
static inline sim_cycle rig_step(struct watch *w, const struct event *ev)
{
    const sim_cycle done =
        checker_step(w->checker, ev, ev->tid % RIG_CORES, (struct mem_outcome){0}, 0);

    w->number++;
    return done;
}

static inline void rig_run(struct watch *w, const struct event *rec, size_t records)
{
    struct err invariant = {0};

    for (size_t i = 0; i < records && !w->err.code; i += event_records(&rec[i]))
        rig_step(w, &rec[i]);
    checker_finish(w->checker);
    if (stats_check(w->stats, &invariant))
        die("%s", invariant.text);
}

static inline struct goldilocks *rig_policy(const struct watch *w)
{
    const void *self;

    checker_policy(w->checker, &self);
    return (struct goldilocks *)(uintptr_t)self;
}

#endif
