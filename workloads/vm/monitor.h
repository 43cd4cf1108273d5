/* monitor.h - monitors of objects, and the locks that the runtime itself uses.
 *
 * As in Jikes RVM 3.1.1 (docs/workloads.md) a monitor is biased to the thread that locked it first,
 * until another one locks it; then thin, a word in the object's header; and heavy, a lock of the
 * runtime with a queue, once threads wait for it. */
#ifndef LARDSIM_VM_MONITOR_H
#define LARDSIM_VM_MONITOR_H

#include "workloads/vm/sched.h"

/* Names of the runtime's own synchronisation. Threads write `stopped` before they stop or block,
 * the collector reads it; it writes `resumed`, and they read it before they go on. So everything
 * before a collection is ordered before everything after it, for who heeds the system's
 * synchronisation. */
#define VM_STOPPED   vm_area(VM_AREA_STATE, 0)
#define VM_RESUMED   vm_area(VM_AREA_STATE, 64)
#define VM_HEAP_LOCK vm_area(VM_AREA_STATE, 128)
/* The lock of the list of threads, that of the list of heavy locks; what each guards is behind it.
 */
#define VM_THREADS_LOCK vm_area(VM_AREA_STATE, 256)
#define VM_HEAVY_LOCK   vm_area(VM_AREA_STATE, 384)
/* The word that a running thread looks at to see whether it is to stop, without synchronisation, as
 * runtimes do at method entries and loops. The collector sets it, the thread takes it back. Looks
 * that find nothing are not in the trace. */
#define vm_yield_flag(t) vm_area(VM_AREA_STATE, (UINT64_C(1) << 20) + 64 * (uint64_t)(t)->run.tid)
/* The lock under which a thread stops and is stopped. */
#define vm_stop_lock(t) vm_area(VM_AREA_STATE, (UINT64_C(2) << 20) + 64 * (uint64_t)(t)->run.tid)

struct vm_monitor {
    struct vm_thread *owner; /* NULL: free */
    struct vm_thread *bias;  /* the thread that had it first and alone; NULL: none, or several */
    bool shared;             /* several had it: it has no bias any more */
    uint32_t heavy;          /* the number of its heavy lock; 0: thin */
    uint32_t depth;
    uint32_t next_free; /* in the free list of monitors */
    struct vm_queue lockers, waiters;
};

struct vm_monitors {
    struct vm_monitor *monitor; /* owns; from 1: an object's lock word is its number */
    size_t n, cap;
    uint32_t free;                  /* head of the free list; 0: empty */
    struct vm_addresses free_heavy; /* numbers of heavy locks that nobody uses */
    uint32_t n_heavy;               /* heavy locks that there are, from 1 */
};

/* Called before a thread blocks: it takes its stop lock, and writes `stopped`. */
void vm_stopping(struct vm_thread *t);
/* The accesses under a lock of the runtime that change what it guards. */
void vm_guarded(struct vm_thread *t, sim_addr lock, sim_addr what, uint64_t site);
void vm_take_stop_lock(struct vm_thread *t);
void vm_note_threads(struct vm_thread *t); /* the list of threads changes */
void vm_drop_heavy(struct vm_thread *t);   /* at its end: what it keeps is anybody's */
void vm_monitor_free(struct vm *v, struct vm_header *h); /* the object is dead */

#endif
