/* hb.h - happens-before, once for all policies: the clocks of threads and of synchronisation
 * objects, moved by the edges of event.def (docs/events.md says what each means).
 *
 * One instance serves one view. The checker calls it around the policy's hooks; a policy only reads
 * the current thread's clock. */
#ifndef LARDSIM_HB_H
#define LARDSIM_HB_H

#include "base/vclock.h"
#include "policy/policy.h"

struct hb;
struct hb *hb_new(unsigned view, unsigned granule, struct budget *budget);
void hb_free(struct hb *hb);

/* First for every event: the thread's actor is settled and has joined its birth clock. */
void hb_enter(struct hb *hb, const struct event *ev);

/* Synchronisation that the view heeds, except commits; raw clock writes. -1: no meaning in this
 * view. */
int hb_sync(struct hb *hb, const struct event *ev, struct err *e);

/* Synchronisation that the view does not heed: moves no clock, but state that is counted stays
 * right. */
void hb_unheeded(struct hb *hb, const struct event *ev);

/* Around an atomic access that the view heeds. */
void hb_atomic_before(struct hb *hb, const struct event *ev);
void hb_atomic_after(struct hb *hb, const struct event *ev);

/* Around a commit that the view heeds: accesses are the transaction's, n > 0. */
void hb_commit_before(struct hb *hb, const struct event *commit, const struct event *accesses,
                      size_t n);
void hb_commit_after(struct hb *hb, const struct event *commit, const struct event *accesses,
                     size_t n);

/* Synchronisation objects follow the memory that they live in, in every view. */
void hb_clear(struct hb *hb, sim_addr addr, uint64_t bytes);
void hb_copy(struct hb *hb, sim_addr to, sim_addr from, uint64_t bytes);

/* Of a thread that has entered: the actor (the thread, or with no-thread its kernel thread,
 * numbered densely), the actor's clock, and its own entry as an epoch. */
uint32_t hb_actor(const struct hb *hb, sim_tid tid);
const struct vclock *hb_clock(const struct hb *hb, sim_tid tid);
epoch hb_epoch(const struct hb *hb, sim_tid tid);

/* The granules of an access: for (a = first; ; a += step) { ...; if (a == last) break; } */
struct granules {
    sim_addr first, last, step;
};
static inline struct granules granules_of(const struct event *ev, unsigned granule)
{
    const sim_addr mask = ~(sim_addr)(granule - 1);

    if (granule == GRANULE_FIELD)
        return (struct granules){ev->addr, ev->addr, 1};
    return (struct granules){ev->addr & mask, (ev->addr + ev->size - 1) & mask, granule};
}

#endif
