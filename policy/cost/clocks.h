/* clocks.h - what vector clocks of threads and of synchronisation objects cost in software:
 * runtime/ without LARDx86 (docs/runtime.md), on the policy's ledger. For policies on
 * happens-before. All of these do nothing without a machine. */
#ifndef LARDSIM_CLOCKS_H
#define LARDSIM_CLOCKS_H

#include "policy/cost/ledger.h"

struct clock_cost;
/* Returns NULL without a machine. */
struct clock_cost *clock_cost_new(struct ledger *c, const struct policy_env *env);
void clock_cost_free(struct clock_cost *k); /* may be NULL */
void clock_cost_add_access(struct clock_cost *k, const struct event *ev, unsigned core);
void clock_cost_add_sync(struct clock_cost *k, const struct event *ev, unsigned core);

/* Called from `access`, for each; most cost nothing. */
static inline void clock_cost_access(struct clock_cost *k, const struct event *ev, unsigned core)
{
    if (UNLIKELY(k))
        clock_cost_add_access(k, ev, core);
}
/* Called from `sync`, for each. */
static inline void clock_cost_sync(struct clock_cost *k, const struct event *ev, unsigned core)
{
    if (UNLIKELY(k))
        clock_cost_add_sync(k, ev, core);
}

/* Charges a check's reads of the acting thread. Here its own epoch, 8 bytes beside the word that
 * leads to its clock: a load, and after a change first the store that keeps it up to date. */
void clock_cost_epoch(struct clock_cost *k, sim_tid tid, unsigned core);
/* Charges the thread's bit of a class: the word that leads to the bitmap, 8 bytes, and by that a
 * word of it. */
void clock_cost_class_seen(struct clock_cost *k, sim_tid tid, unsigned core);
/* Charges the word that leads to the thread's clock, 8 bytes, before entries are looked at. */
void clock_cost_clock(struct clock_cost *k, sim_tid tid, unsigned core);
/* Charges the clock's entry of an actor, 4 bytes; or entries from one on, at most 16, all at once.
 * None if the clock is not so long. */
void clock_cost_entry(struct clock_cost *k, sim_tid tid, uint32_t of, unsigned core);
void clock_cost_entries(struct clock_cost *k, sim_tid tid, uint32_t first, uint32_t n,
                        unsigned core);

#endif
