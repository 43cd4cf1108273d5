/* fastrcd.h - a variable as FastRCD keeps it, and what its rules cost on a machine: shared by
 * regions/fastrcd.c, which has the rules, and fastrcd_cost.c. */
#ifndef LARDSIM_FASTRCD_H
#define LARDSIM_FASTRCD_H

#include "policy/checker/cells.h"
#include "policy/regions/region.h"

struct reader { /* a thread's last read */
    uint64_t site, event;
    uint32_t clock; /* 0: of a region that ended before the last full collection */
    uint16_t actor;
    sim_tid tid;
};
struct overflow {            /* what has no room in the variable's line: a read map, atomics */
    struct atomics *atomics; /* owns; NULL: none */
    struct paddr block;      /* of the read map on the machine; 0: there is none */
    uint32_t n, cap;         /* n 0: no map */
    struct reader at[];
};

enum { READS = 0, WRITES = 1 }; /* the two sides of a variable */

/* The epochs of the last read and the last write (clock and thread), side by side, and what is only
 * reported of them. */
struct rcd_variable {
    uint32_t clock[2]; /* 0: never, or over; READS: heeded while there is no map */
    uint16_t actor[2];
    sim_tid tid[2];
    uint64_t site[2], event[2];
    struct overflow *overflow; /* owns; NULL until first needed */
    bool raced;                /* the race mark of this life */
    bool used;
};
_Static_assert(sizeof(struct rcd_variable) == 64, "a variable is one cache line");

static inline struct overflow *map_of(const struct rcd_variable *x) /* NULL: reads are an epoch */
{
    return x->overflow && x->overflow->n ? x->overflow : NULL;
}
static inline struct reader *find_reader(struct overflow *map, uint32_t actor) /* NULL: none */
{
    for (uint32_t i = 0; i < map->n; i++)
        if (map->at[i].actor == actor)
            return &map->at[i];
    return NULL;
}
static inline const struct atomics *atomics_of(const struct rcd_variable *x) /* NULL: none */
{
    return x->overflow ? x->overflow->atomics : NULL;
}

struct rcd_thread {     /* an actor */
    uint64_t region;    /* its number, from 1 */
    struct paddr block; /* on the machine, where its clock is; 0: not yet */
};

/* ---- the policy ------------------------------------------------------------------------------ */

struct rcd_params {
    uint64_t clock_bits, thread_bits;
    uint32_t regions;
    bool readers; /* false: an ablation (6.2), which keeps no last readers */
};

struct rcd_stats {
#define STATS_DEF "policy/regions/fastrcd_stats.def"
#include "base/stats_fields.h"
};

struct fastrcd {
    const struct policy_env *env;
    struct cells variables;
    struct rcd_params params;
    struct rcd_thread *thread; /* owns; by actor */
    uint32_t *clock; /* owns; of each region, in so many bits, since the last full collection; not 0
                      */
    uint32_t threads;
    struct regions regions;
    struct rcd_stats st;
};

static inline bool ongoing(const struct fastrcd *f, uint32_t clock, uint32_t actor)
{
    return clock == f->clock[actor];
}

/* Whether one side's epoch is of another thread's ongoing region. Clock 0 never is. */
static inline bool rcd_ongoing(const struct fastrcd *f, const struct rcd_variable *x, unsigned side,
                               uint32_t me)
{
    return (x->actor[side] != me) & ongoing(f, x->clock[side], x->actor[side]);
}

ALWAYS_INLINE void rcd_replace(struct rcd_variable *x, unsigned side,
                               const struct region_access *now)
{
    x->clock[side] = now->clock;
    x->actor[side] = (uint16_t)now->actor;
    x->tid[side] = now->ev->tid;
    x->site[side] = now->ev->aux;
    x->event[side] = now->number;
}

/* ---- costs: fastrcd_cost.c ------------------------------------------------------------------ */

enum { RCD_VARIABLE_BYTES = 8 };

extern const struct policy_charges rcd_charges;

void rcd_cost_init(struct fastrcd *f);

/* Charges with a machine only; before the variable changes. */
void rcd_charge_read(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me);
void rcd_charge_write(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me);
void rcd_charge_atomic(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me,
                       bool write);
void rcd_charge_region_end(struct fastrcd *f, struct rcd_thread *t);
/* Charges a full collection: for a variable, and for all threads' clocks. */
void rcd_charge_reset(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr);
void rcd_charge_clocks(struct fastrcd *f, uint32_t threads);

/* A read map, with or without a machine: made, about to be longer by one, gone. */
void rcd_map_new(struct fastrcd *f, struct overflow *m);
void rcd_map_add(struct fastrcd *f, struct overflow *m);
void rcd_map_drop(struct fastrcd *f, struct overflow *m);
void rcd_map_copy(struct fastrcd *f, const struct overflow *from, struct overflow *m);

/* ---- rules: fastrcd_rules.c ----------------------------------------------------------------- */

/* Checks and records the access. True: it conflicts. */
bool rcd_variable(struct fastrcd *f, struct rcd_variable *x, const struct region_access *now);
/* A full collection: clocks of regions that go on become 1, others 0. */
void rcd_reset(struct fastrcd *f, struct rcd_variable *x);
/* A cell that goes frees its overflow; a copied one, which has the same pointer, gets its own. */
void rcd_drop_overflow(void *fastrcd, void *variable);
void rcd_own_overflow(void *fastrcd, void *variable);

#endif
