/* collect.h - the collector: a thread that is asked for a collection, stops the world or works
 * beside it, and makes the accesses that this takes.
 *
 *     collect.c  being asked, stopping the world, what all collectors do
 *     mark.c     marking, in a pause or beside the program (by snapshot)
 *     copy.c     copying in a pause: semispace, and the nursery of generational
 *     move.c     copying beside the program */
#ifndef LARDSIM_VM_COLLECT_H
#define LARDSIM_VM_COLLECT_H

#include "workloads/vm/monitor.h"

enum vm_want { VM_WANT_NONE, VM_WANT_CYCLE, VM_WANT_MINOR, VM_WANT_FULL };
enum vm_barriers {                  /* the additional work of a write of a reference */
                   VM_REMEMBER = 1, /* old objects that refer to the nursery */
                   VM_SNAPSHOT = 2, /* marking runs: what is overwritten */
                   VM_FORWARD = 4   /* objects may have moved and not all references know */
};
enum vm_moment { VM_BEFORE_PAUSE, VM_AFTER_PAUSE };

struct vm_collector {
    struct vm_thread *thread; /* NULL: there was no collection yet */
    enum vm_want want;
    struct vm_queue queue; /* threads that wait for a collection's end */
    uint64_t collections;
    uint64_t trigger;          /* bytes in use at which a concurrent cycle begins; 0: never */
    unsigned barrier;          /* enum vm_barriers */
    bool cycling;              /* a cycle is under way beside the program */
    bool idle;                 /* it waits for work */
    unsigned running;          /* threads that are yet to stop (driven) */
    struct vm_addresses stack; /* the mark stack: objects marked or promoted, yet to be scanned */
    struct vm_addresses
        log;         /* remembered slots (generational); overwritten references (snapshot) */
    uint64_t aborts; /* moves that a write of the program has spoilt */

    /* For tests: called in a pause, before and after. */
    void (*observe)(void *arg, struct vm *v, enum vm_moment m);
    void *observe_arg;
};

/* ---- collect.c ------------------------------------------------------------------------------ */

/* Asks for a collection and waits for its end. */
void vm_want(struct vm_thread *t, enum vm_want want);
void vm_want_soon(struct vm_thread *t); /* a concurrent cycle, if none runs; does not wait */
void vm_stop_world(struct vm_thread *gc, bool nursery);
void vm_stop_here(struct vm_thread *t); /* driven: it is at a step, and was told to stop */
void vm_start_world(struct vm_thread *gc, bool nursery);
void vm_clear_object(struct vm_thread *gc, sim_addr at, uint64_t bytes);
/* A copy of an object, with the accesses that takes, and its event. The source is forwarded. */
void vm_copy_object(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes);
/* Ends the copy: from now on the object is at `to`. */
void vm_commit_copy(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes);
void vm_retire_all(struct vm *v);
/* The accesses to copy a piece of [from, from + bytes) that begins at offset; the piece's bytes. */
uint64_t vm_copy_piece(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t offset,
                       uint64_t bytes);

/* ---- mark.c --------------------------------------------------------------------------------- */

void vm_mark_roots(struct vm_thread *gc);
void vm_mark_drain(struct vm_thread *gc); /* until nothing is left to scan */
/* Roots in a pause, then the rest while the program runs, then what it overwrote in a pause, which
 * is still open on return. */
void vm_mark_concurrently(struct vm_thread *gc);

/* ---- copy.c, move.c ------------------------------------------------------------------------- */

void vm_semispace(struct vm_thread *gc); /* with the pause for it */
void vm_minor(struct vm_thread *gc);     /* in a pause */
void vm_clear_region(struct vm_thread *gc, sim_addr base, sim_addr end);
void vm_move_cycle(struct vm_thread *gc);

#endif
