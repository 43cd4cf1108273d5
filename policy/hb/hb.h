/* hb.h - happens-before, once for all policies: the clocks of threads and of synchronisation
 * objects, moved by the edges of event.def (docs/events.md says what each means).
 *
 * One instance serves one view. The checker calls it around the policy's hooks; a policy only reads
 * the current thread's clock. */
#ifndef LARDSIM_HB_H
#define LARDSIM_HB_H

#include "base/sync_object.h"
#include "base/vclock.h"
#include "policy/policy.h"

/* Open so that reading a clock costs what it must; only hb.c and object.c write. */
struct hb_thread {  /* a language thread */
    uint32_t actor; /* once begun */
    bool begun;
    bool placed;         /* by_kernel: actor is set */
    uint64_t ended;      /* the time after its end; 0: not ended */
    struct vclock birth; /* from its fork, until it begins */
    struct vclock final; /* from its end */
};
struct hb_actor {
    struct vclock clock;
    epoch now; /* its own entry */
};
struct hb {
    struct hb_thread *thread; /* by language thread */
    struct hb_actor *actor;
    size_t threads, actors;
    uint32_t used_actors;        /* by_kernel: the next fresh one */
    struct map kernel;           /* by_kernel: kernel thread to actor + 1 */
    struct sync_objects objects; /* see hb_int.h */
    uint64_t ids;                /* of objects, given out */
    unsigned granule;
    bool by_kernel;
    bool forgets; /* who knows an actor's time need not know what the actor knew then */
    struct budget *budget;
};

struct hb *hb_new(unsigned view, unsigned granule, struct budget *budget);
void hb_free(struct hb *hb);

/* First for every event: the thread's actor is settled and has joined its birth clock. */
void hb_begin(struct hb *hb, const struct event *ev); /* hb_enter's rare part */
static inline bool hb_has_begun(const struct hb *hb, sim_tid tid)
{
    return tid < hb->threads && hb->thread[tid].begun;
}
static inline bool hb_enter(struct hb *hb, const struct event *ev) /* true: something was settled */
{
    const bool rare = !hb_has_begun(hb, ev->tid) || ev->kind == EV_THREAD;

    if (UNLIKELY(rare))
        hb_begin(hb, ev);
    return rare;
}

/* Synchronisation that the view heeds, except commits; raw clock writes (not with no-thread). */
void hb_sync(struct hb *hb, const struct event *ev);

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

/* The lock at addr: a number that goes with it when a copy moves it. 0: none was heeded there. */
uint64_t hb_lock_id(const struct hb *hb, sim_addr addr);
/* How often the thread holds the lock at addr, in that mode. */
uint32_t hb_lock_depth(const struct hb *hb, sim_addr addr, sim_tid tid, bool shared);

/* The state of a thread that has entered: its actor (the thread, or with no-thread its kernel
 * thread, numbered densely), the actor's clock, and its own entry as an epoch. */
static inline const struct hb_actor *hb_me(const struct hb *hb, sim_tid tid)
{
    return &hb->actor[hb->thread[tid].actor];
}
static inline uint32_t hb_actor(const struct hb *hb, sim_tid tid)
{
    return hb->thread[tid].actor;
}
static inline const struct vclock *hb_clock(const struct hb *hb, sim_tid tid)
{
    return &hb->actor[hb->thread[tid].actor].clock;
}
static inline epoch hb_epoch(const struct hb *hb, sim_tid tid)
{
    return hb->actor[hb->thread[tid].actor].now;
}

/* Whether it is a plain access of a thread that has entered: checked at once, and moves no clock.
 */
static inline bool access_plain(const struct policy_env *env, const struct event *ev)
{
    return ev->kind <= EV_RMW && !(ev->flags & env->special) &&
           LIKELY(hb_has_begun(env->hb, ev->tid));
}

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
static inline uint64_t granules_count(const struct event *ev, unsigned granule)
{
    const struct granules g = granules_of(ev, granule);

    return (g.last - g.first) / g.step + 1;
}

#endif
