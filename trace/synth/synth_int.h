/* synth_int.h - what the files of the generator share: the model of the program that it runs. Not
 * for others; trace.h has the interface.
 *
 *   synth.c          the source: which thread goes next and what it does
 *   synth/param.c    parameters
 *   synth/emit.c     records, and where things lie in memory
 *   synth/access.c   accesses and transactions
 *   synth/lock.c     locks, waits, and who may have what
 *   synth/sync.c     volatiles, barriers, classes
 *   synth/thread.c   fork, join, start, end, the closing events
 *   synth/heap.c     objects that are born, move and die; collections
 *   synth/raw.c      clocks, where the trace speaks LARDx86
 *
 * Memory is made of objects: a header of 8 bytes, then `fields` variables, `stride` apart. Lock i,
 * volatile i, barrier i and class i are all named by the header of object i, as long as there is
 * one; so they move and die with it. All variables of an object are protected by the same lock. */
#ifndef LARDSIM_SYNTH_INT_H
#define LARDSIM_SYNTH_INT_H

#include "base/rng.h"
#include "base/vclock.h"
#include "trace/trace.h"

enum { SYNTH_HEADER = 8, SYNTH_HELD_MAX = 6, SYNTH_TXN_MAX = 8, SYNTH_SIZES = 5 };
#define SYNTH_NOBODY UINT32_MAX

enum synth_state {
    SYNTH_UNBORN,  /* not forked yet */
    SYNTH_READY,   /* may act */
    SYNTH_WAITING, /* in wait-enter */
    SYNTH_PARKED,  /* at a barrier */
    SYNTH_ENDED    /* or was joined: does nothing any more */
};

struct synth_held {
    uint32_t lock;
    uint16_t exclusive, shared; /* nesting */
};

struct synth_thread {
    enum synth_state state;
    bool acted, forked, joined;
    bool in_txn, txn_system;                /* a transaction is open; it is the system's */
    uint8_t n_held, n_pinned;               /* entries of held and pinned */
    struct synth_held held[SYNTH_HELD_MAX]; /* SYNTH_WAITING: held[0] is the lock waited on */
    uint32_t pinned[SYNTH_TXN_MAX];         /* objects that the open transaction has accessed */
    uint32_t barrier;                       /* SYNTH_PARKED: at this one, in this round */
    uint64_t round;
    uint32_t slot;       /* in synth.active */
    struct vclock clock; /* raw: owns */
};

struct synth_lock {
    uint32_t owner;                     /* holds it exclusive; SYNTH_NOBODY: none */
    uint32_t readers, waiters, signals; /* signals: waiters that may go on */
    struct vclock clock;                /* raw: owns */
};

struct synth_barrier {
    uint64_t round;            /* in which threads arrive now */
    uint32_t arrived, parties; /* in the present round */
};

struct synth_object { /* only where there are heap events */
    sim_addr addr;    /* 0: not born */
    uint32_t place;   /* the number of its place */
    uint32_t holds;   /* why it may not die: locks held or waited on, threads at the barrier */
    uint32_t pins;    /* why it may not move: open transactions have accessed it */
};

struct synth {
    struct source source; /* the first field */
    struct synth_params p;
    struct rng rng;
    struct names *names; /* owns */

    struct event *rec; /* owns; the batch */
    size_t n, cap;
    size_t cut;     /* records of the batch that are delivered; SIZE_MAX: all */
    uint64_t count; /* events */
    uint64_t syncs; /* synchronisation events so far */
    struct source_extent extent;

    struct synth_thread *threads; /* owns; by tid, the last is the collector */
    uint32_t *active;             /* owns; threads that have not ended, in no order */
    uint32_t *ended;              /* owns; ended, and not joined yet */
    uint32_t n_active, n_ended, next_fork;
    uint32_t current;         /* thread whose turn it is, while count < turn_end */
    uint64_t turn_end;        /* count at which the turn ends */
    uint32_t closing;         /* 0: not yet; else the pass */
    uint32_t cursor;          /* the next thread in the pass */
    bool done, in_gc, in_roi; /* the stream is over; a pause, a region is open */

    struct synth_lock *locks;       /* owns */
    struct synth_barrier *barriers; /* owns */
    bool *class_ready;              /* owns */

    uint64_t objects, object_bytes, atomic_objects;
    uint64_t lockers;      /* locks that protect variables: object i has lock i % lockers */
    uint64_t lock_objects; /* objects that a lock protects, rounded up */
    uint32_t sizes[SYNTH_SIZES], n_sizes;

    bool heap;                   /* heap events: the fields below are in use */
    struct synth_object *object; /* owns */
    sim_addr *dirt;              /* owns; by place: a dead object lies there; 0: none */
    uint32_t *free_place;        /* owns; places without an object */
    uint32_t places, n_free;     /* all; those in free_place */
};

int synth_check(const struct synth_params *p, struct err *e); /* synth/param.c */

/* ---- draws ---------------------------------------------------------------------------------- */

static inline uint64_t synth_below(struct synth *g, uint64_t n)
{
    return rng_below(&g->rng, n);
}
static inline bool synth_chance(struct synth *g, uint64_t per_mille)
{
    if (per_mille == 0 || per_mille >= 1000)
        return per_mille != 0;
    return rng_chance(&g->rng, per_mille, 1000);
}
static inline bool synth_coin(struct synth *g, uint64_t of) /* true in one of so many cases */
{
    return rng_below(&g->rng, of) == 0;
}

/* ---- synth/emit.c --------------------------------------------------------------------------- */

/* A record for an event of thread t: the caller fills in addr and the rest. Valid until the next.
 * A thread's first event comes after its birth (synth_born). */
struct event *synth_event(struct synth *g, uint32_t t, enum ev_kind kind);
/* An event that is no access. Some of them get a site. */
void synth_plain(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                 bool system);
/* The same, for synchronisation: it counts towards sync_share. */
void synth_sync(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                bool system);
/* Makes an event with a second record. size and addr2 by the kind's form; site 0: drawn like that
 * of others. */
void synth_two(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr, uint64_t aux,
               sim_addr addr2, uint32_t size2, bool system);
/* True for the last system_share of n indices: they are the runtime's. */
bool synth_is_system(const struct synth *g, uint64_t i, uint64_t n);

/* ---- synth/heap.c --------------------------------------------------------------------------- */

void synth_heap_open(struct synth *g);
/* Returns the address of object o; thread t makes the object if it is not there yet. */
sim_addr synth_object_addr(struct synth *g, uint32_t t, uint64_t o);
/* The name of lock, volatile, barrier or class i. */
sim_addr synth_name_addr(struct synth *g, uint32_t t, uint64_t i);
void synth_hold(struct synth *g, uint64_t i);
void synth_unhold(struct synth *g, uint64_t i);
bool synth_heap_op(struct synth *g, uint32_t t);

/* ---- synth/access.c ------------------------------------------------------------------------- */

void synth_access(struct synth *g, uint32_t t);
/* Makes an access of the runtime at a given place. */
void synth_system_access(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr);
void synth_begin(struct synth *g, uint32_t t);
void synth_commit(struct synth *g, uint32_t t);

/* ---- synth/lock.c: try semantics, false: not now, and no event ------------------------------ */

bool synth_take(struct synth *g, uint32_t t, uint64_t lock, bool shared);
bool synth_lock_op(struct synth *g, uint32_t t);
bool synth_wait_op(struct synth *g, uint32_t t);
void synth_release_all(struct synth *g, uint32_t t);
bool synth_wait_over(struct synth *g, uint32_t t); /* wait-exit, if the lock is free */
uint64_t synth_protector(const struct synth *g, uint64_t o);
/* The lock, held in the mode, that protects some object; false: none. */
bool synth_held_for(const struct synth *g, uint32_t t, bool write, uint64_t *lock);

/* ---- synth/sync.c --------------------------------------------------------------------------- */

bool synth_volatile_op(struct synth *g, uint32_t t, uint64_t i);
bool synth_barrier_op(struct synth *g, uint32_t t);
bool synth_barrier_over(struct synth *g, uint32_t t, bool now);
bool synth_class_op(struct synth *g, uint32_t t);
void synth_class_dies(struct synth *g, uint64_t object);

/* ---- synth/thread.c ------------------------------------------------------------------------- */

void synth_threads_open(struct synth *g);
void synth_born(struct synth *g, uint32_t t); /* before its first event */
bool synth_fork_op(struct synth *g, uint32_t t);
bool synth_join_op(struct synth *g, uint32_t t);
bool synth_end_op(struct synth *g, uint32_t t);
void synth_close_step(struct synth *g); /* the closing events, some at a time; sets done */

/* ---- synth/raw.c ---------------------------------------------------------------------------- */

void synth_raw_give(struct synth *g, uint32_t t, struct vclock *to);
void synth_raw_take(struct synth *g, uint32_t t, const struct vclock *from);
void synth_raw_fork(struct synth *g, uint32_t t, uint32_t child);
void synth_raw_born(struct synth *g, uint32_t t);

#endif
