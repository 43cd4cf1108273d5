/* cost.h - what Eraser costs in software, as its paper describes it (section 3): a shadow
 * word of 32 bits for each variable, with a state and a thread or the index of a lockset; locksets
 * as sorted vectors, each there once; a cache of what a lockset becomes with another or with a
 * lock. It knows no verdict. */
#ifndef LARDSIM_ERASER_COST_H
#define LARDSIM_ERASER_COST_H

#include "policy/checker/cells.h"
#include "policy/eraser/lockset.h"

struct eraser_cost {
    struct ledger *cost;
    struct cells *variables;
    struct lockset_pool *sets;
    const struct policy_env *env;
    uint64_t *cached;     /* owns; what each entry of the cache is about; NULL: no machine */
    struct paddr *vector; /* owns; by lockset; 0: not there yet */
    struct paddr *thread; /* owns; by language thread, its block; 0: none yet */
    size_t vectors, threads;
    struct paddr cache, table; /* blocks; 0: not made yet */
    uint64_t table_bytes;
    bool knows_held; /* the access in hand has what its thread holds in a register */
};
enum { ERASER_WORD = 4 };
extern const struct policy_charges eraser_charges;

void eraser_cost_init(struct eraser_cost *c, const struct policy_env *env,
                      struct lockset_pool *sets, struct cells *variables);
void eraser_cost_free(struct eraser_cost *c);

/* Costs are charged with a machine only. */
struct eraser_change { /* what an access does to a variable's shadow word */
    bool first;        /* it was Virgin */
    bool exclusive;    /* it was Exclusive */
    bool same;         /* and the thread is the one that had it */
    bool refined;      /* candidates were intersected with what is held */
    lockset_id before, held, after;
    bool state_changes;
};
void eraser_charge_access(struct eraser_cost *c, sim_addr location, sim_tid tid,
                          const struct eraser_change *x);
/* A thread acquires or releases a lock. before, after: what it holds in any mode, and exclusive. */
void eraser_charge_lock(struct eraser_cost *c, sim_tid tid, uint64_t lock,
                        const lockset_id before[2], const lockset_id after[2]);

#endif
