/* cost.h - what a software policy costs on the machine: steps of its described paths, each with its
 * instructions counted in a table, and accesses to its metadata at shadow addresses through the
 * simulated caches. They are gathered while something is decided and paid afterwards, as other
 * cores may go on meanwhile. Without a machine nothing is gathered.
 *
 * Every software policy charges through this, and through nothing else (docs/policies/). */
#ifndef LARDSIM_COST_H
#define LARDSIM_COST_H

#include <assert.h>

#include "policy/policy.h"

/* Where software policies have their metadata, behind all memory that a program may have. */
#define COST_SHADOW (UINT64_C(1) << 58) /* metadata at a fixed place for each granule */
#define COST_HEAP   (UINT64_C(1) << 59) /* blocks that come and go */
/* Of the first of a run's policies; the next one's are so much further on. Beyond the sixteenth
 * they are where the first's are, and only the caches notice. */
#define COST_APART (UINT64_C(1) << 60)

struct cost_core {        /* what a core has gathered */
    struct mem_step *due; /* owns */
    size_t n, cap;
    uint64_t instructions; /* since the last access */
    bool paying;
};
struct cost {  /* open so that gathering can be inline; only cost.c and what is here write */
    bool on;   /* there is a machine */
    bool held; /* see cost_granule */
    unsigned steps;
    const struct cost_step *step;
    uint64_t *count; /* of each step; owns */
    struct cost_core *core;
    struct cost_work *work;
};

/* step: the policy's table, borrowed; steps may be 0. shadow: bytes of metadata that each granule
 * has at a fixed place, at most 512. */
void cost_init(struct cost *c, const struct policy_env *env, const struct cost_step *step,
               unsigned steps, unsigned shadow);
void cost_free(struct cost *c);

/* ---- gathering: what this core will pay ----------------------------------------------------- */

void cost_add_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd);
static inline void cost_add_instructions(struct cost *c, unsigned core, uint64_t n) /* of no step */
{
    assert(!c->core[core].paying);
    c->core[core].instructions += n;
}
static inline void cost_add_steps(struct cost *c, unsigned core, unsigned step, uint64_t times)
{
    assert(step < c->steps);
    c->count[step] += times;
    cost_add_instructions(c, core, times * c->step[step].instructions);
}

static inline void cost_steps(struct cost *c, unsigned core, unsigned step, uint64_t times)
{
    if (UNLIKELY(c->on) && times)
        cost_add_steps(c, core, step, times);
}
static inline void cost_step(struct cost *c, unsigned core, unsigned step)
{
    cost_steps(c, core, step, 1);
}
/* One instruction for each 64 bytes begun, as many as a register holds; one access for each line.
 */
static inline void cost_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes,
                               enum mem_cmd cmd)
{
    if (UNLIKELY(c->on) && bytes)
        cost_add_access(c, core, at, bytes, cmd);
}

/* An access comes to the first of its granules, or to a further one. What a compiled check then
 * holds in registers is not charged again: c->held. That is what all granules have in common: where
 * metadata are, the own epoch, clock or locks. */
static inline void cost_granule(struct cost *c, bool first)
{
    c->held = !first;
}

/* A clear or copy that goes through metadata: places side by side in 64 bytes are charged together,
 * a step, a load and a store; `to`: where a copy has them go, else 0. End it with cost_sweep_end.
 */
struct cost_sweep {
    unsigned core, step;
    bool fill; /* there is nothing to load */
    sim_addr at, to;
    uint64_t bytes; /* not yet charged */
};
void cost_sweep(struct cost *c, struct cost_sweep *s, sim_addr at, sim_addr to, uint64_t bytes);
void cost_sweep_end(struct cost *c, struct cost_sweep *s);

sim_cycle cost_pay_due(struct cost *c, unsigned core, sim_cycle now);
/* Pays what was gathered for this core, in its order. The policy's `pay` is this, after
 * every event. */
static inline sim_cycle cost_pay(struct cost *c, unsigned core, sim_cycle now)
{
    return UNLIKELY(c->on) ? cost_pay_due(c, core, now) : now;
}

/* ---- places --------------------------------------------------------------------------------- */

/* The metadata of the granule at a location (fields: 4 bytes apart at least). 0 without a machine.
 */
sim_addr cost_shadow(const struct cost *c, sim_addr location);
/* A block of simulated memory, from lists that each core has for itself: of 16 bytes or a larger
 * power of two, aligned to it or to 64. What the list costs is gathered (docs/policies.md, "Costs
 * that all have"). Given back to the list of the core that gives it. 0 without a machine. */
sim_addr cost_take(struct cost *c, unsigned core, uint64_t bytes);
void cost_give(struct cost *c, unsigned core, sim_addr block, uint64_t bytes);

/* ---- how much metadata there is ------------------------------------------------------------- */

/* metadata.live, metadata.peak: bytes of the policy's own layout on the machine, not of this
 * program's. Take and give with budget_take and budget_give; where that slows detection, with a
 * machine only. */
void metadata_declare(const struct budget *m, struct stats_group *g);

/* ---- clocks in software --------------------------------------------------------------------- */

/* What vector clocks of threads and of synchronisation objects cost in software: runtime/ without
 * LARDx86 (docs/runtime.md). Gathered like everything else. For policies on happens-before. */
struct clock_cost;
struct clock_cost *clock_cost_new(struct cost *c,
                                  const struct policy_env *env); /* NULL: no machine */
void clock_cost_free(struct clock_cost *k);                      /* may be NULL */
void clock_cost_add_access(struct clock_cost *k, const struct event *ev, unsigned core);
void clock_cost_add_sync(struct clock_cost *k, const struct event *ev, unsigned core);

/* From `access`, for each; most cost nothing. */
static inline void clock_cost_access(struct clock_cost *k, const struct event *ev, unsigned core)
{
    if (UNLIKELY(k))
        clock_cost_add_access(k, ev, core);
}
/* From `sync`, for each. */
static inline void clock_cost_sync(struct clock_cost *k, const struct event *ev, unsigned core)
{
    if (UNLIKELY(k))
        clock_cost_add_sync(k, ev, core);
}

/* What checks read of the acting thread. Its own epoch, 8 bytes beside the word that leads to its
 * clock: a load, and where it has changed since, first the store that keeps it up to date. */
void clock_cost_epoch(struct clock_cost *k, sim_tid tid, unsigned core);
/* The word that leads to its clock, 8 bytes, before entries are looked at. */
void clock_cost_clock(struct clock_cost *k, sim_tid tid, unsigned core);
/* Its clock's entry of an actor, 4 bytes; or entries from one on, at most 16, all at once. None
 * where the clock is not so long. */
void clock_cost_entry(struct clock_cost *k, sim_tid tid, uint32_t of, unsigned core);
void clock_cost_entries(struct clock_cost *k, sim_tid tid, uint32_t first, uint32_t n,
                        unsigned core);

#endif
