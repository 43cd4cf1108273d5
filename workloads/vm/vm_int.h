/* vm_int.h - the modelled runtime as a whole, for its own files. For no kernel: vm.h is theirs.
 *
 *     vm.c                      the source: batches, events, errors
 *     gap.c                     instructions between accesses
 *     site.c                    names of sites; inlined code
 *     sched.c                   threads, and who runs
 *     drive.c                   ... as somebody outside says
 *     monitor.c                 monitors; locks of the runtime
 *     sync.c                    barriers, volatiles, initialisation of classes
 *     txn.c                     transactions and marks
 *     class.c                   classes, roots, references
 *     heap.h  alloc.c  cells.c  new objects; spaces
 *     collect.c                 the collector: being asked, stopping the world
 *     mark.c                    marking, in a pause or beside the program (by snapshot)
 *     copy.c                    copying in a pause: semispace, and the nursery of generational
 *     move.c                    copying beside the program */
#ifndef LARDSIM_VM_INT_H
#define LARDSIM_VM_INT_H

#include "base/fiber.h"
#include "base/map.h"
#include "workloads/vm/heap.h"
#include "workloads/workloads.h"

/* ---- sched.c, drive.c: threads, and who of them runs ----------------------------------------- */

/* Everything runs on one host thread; each language thread, and the collector, has a fiber of its
 * own. A thread runs for a turn of so many events, then the scheduler picks the next. Only
 * vm_pause, vm_block and what calls them let another thread run: between two of those, host code is
 * atomic, and up to VM_SLACK records may be made. While the scheduler is pinned nobody else runs at
 * all. */
enum { VM_ROOTS = 8192, VM_KERNELS = 256 };

enum vm_state { VM_IS_READY, VM_IS_BLOCKED, VM_IS_ENDED };

struct vm_queue { /* threads that wait for the same, first come first served */
    struct vm_thread *first, *last;
};

struct vm_thread {
    struct vm_run run; /* first: what accesses need inline (vm.h) */
    struct vm *vm;
    struct fiber *fiber; /* owns; NULL: has not run yet, or has ended */
    void (*fn)(struct vm_thread *t, void *arg);
    void *arg;
    enum vm_state state;
    bool started; /* has made an event */

    /* Work that the thread owes before its next event (vm_catch_up). */
    bool stale;     /* a pause has been since its last event: it reads `resumed` */
    bool asked;     /* its yield flag was set: it takes that back */
    bool held_up;   /* another thread has stopped it: it takes its stop lock */
    bool reaches;   /* it stands before an access of the program */
    bool to_stop;   /* driven: the collector has set its yield flag, and it has not seen that */
    bool held_back; /* driven: ready, and waits until the scheduler is no longer pinned */
    bool mute; /* it waits on a monitor or at a barrier, and can make no event but the wait's end */

    uint32_t held;          /* monitors, each entry counts */
    uint32_t heavy;         /* a heavy lock that it keeps for its next need; 0: none */
    struct vm_thread *next; /* in a queue */
    const char *waits;      /* blocked: for what, for messages */
    uint8_t awaits;         /* blocked: the kind of event with which it goes on */
    struct vm_queue joiners;
    struct vm_ref *roots; /* owns VM_ROOTS */
    uint32_t n_roots;
    uint32_t home, on; /* kernel threads: whose queue it is in; where it runs, by its events */
    uint32_t turns;    /* on that, since another one had it */
    uint64_t stands;   /* the site of its latest access, at the latest switch; 0: not known */
    sim_addr tlab, tlab_end;  /* its allocation buffer (bump spaces) */
    sim_addr cells[VM_SIZES]; /* heads of its free lists (spaces of cells) */
    uint64_t *used;           /* owns; bitmap of classes it has used */
    uint32_t used_words;
    struct rng rng; /* for the program's own use */
};

struct vm_scheduler {
    struct fiber *host;        /* the fiber that asks for events */
    struct fiber *dead;        /* a thread's that has ended; freed by the next one that runs */
    struct vm_thread **thread; /* owns; by number; the collector too */
    size_t n_threads, cap_threads;
    size_t alive; /* threads of the program */
    struct vm_thread **ready;
    size_t n_ready, cap_ready;
    struct vm_thread *current;
    uint32_t cursor; /* round robin: the last thread, or kernel thread */
    unsigned pinned; /* calls of vm_pin that are open */
    struct rng rng;
    /* The thread that each kernel thread runs. The last kernel thread is the collector's alone. */
    struct vm_thread *runs[VM_KERNELS + 1];
    uint64_t left;      /* events of the turn, as of `from` */
    struct event *from; /* the first of the turn's events in this batch */

    /* Driven from outside (struct driven): the caller decides who runs, and there are no turns. */
    bool driven;
    uint64_t asked; /* times */
    bool rests;     /* the thread that was asked looks again in a while */
    sim_tid *woken; /* owns; since the question in hand */
    size_t wokens, cap_woken;
    struct vm_queue held; /* ready, and asked while the scheduler was pinned */
};

struct vm_thread *vm_thread_new(struct vm *v, void (*fn)(struct vm_thread *t, void *arg),
                                void *arg);
void vm_thread_free(struct vm_thread *t);
struct fiber *vm_fiber(struct vm_thread *t);
void vm_wake(struct vm *v, struct vm_thread *t);
void vm_enqueue(struct vm_queue *q, struct vm_thread *t);
void vm_bury(struct vm *v); /* a fiber can't free the stack that it runs on: the next one does */
void vm_wake_all(struct vm *v, struct vm_queue *q);
struct vm_thread *vm_unqueue(struct vm_queue *q); /* NULL: empty */
/* Blocks until woken. what: for messages; awaits: the kind of event with which it goes on. q may be
 * NULL. */
void vm_block(struct vm_thread *t, struct vm_queue *q, const char *what, enum ev_kind awaits);
extern const struct driven vm_driven; /* drive.c */
void vm_answer(struct vm_thread *t);  /* driven: until it is asked again */
/* Sets core.stop anew: where the running thread has to pause next. */
void vm_rearm(struct vm *v);
void vm_pin(struct vm *v);
void vm_unpin(struct vm *v);
void vm_urge(struct vm_thread *t);     /* a good moment for an adversary to let others run */
void vm_catch_up(struct vm_thread *t); /* pays its debts before its next event */
static inline void vm_step(struct vm_thread *t)
{
    if (UNLIKELY(t->run.core->at >= t->run.core->stop))
        vm_pause(t);
}

/* ---- class.c: classes, the layout of objects, roots ------------------------------------------ */

struct vm_class_life {
    enum { VM_CLASS_NEW, VM_CLASS_RUNS, VM_CLASS_READY } state;
    struct vm_thread *by; /* runs its initialisation */
};

struct vm_classes {
    struct vm_class **class;    /* owns; by id; arrays of each enum vm_type first */
    struct vm_class_life *life; /* owns; by id */
    size_t n, cap, cap_life;
    struct vm_queue queue; /* threads that wait for an initialisation */
};

struct vm_globals {        /* roots for good: static final fields */
    struct vm_ref **chunk; /* owns; of VM_ROOTS each, so that a root stays where it is */
    size_t n, cap;
};

void vm_array_class(struct vm *v, enum vm_type element); /* classes 0 to VM_TYPES - 1 */
/* Bytes of what is at the header, object or filler, a multiple of the layout's alignment. */
uint64_t vm_bytes(const struct vm *v, const struct vm_header *h);
static inline bool vm_is_object(const struct vm_header *h)
{
    return (h->class & ~VM_FORWARDED) < VM_CELL_FREE;
}
uint64_t vm_array_bytes(const struct vm_core *c, enum vm_type element, uint64_t length);
/* The i-th reference in an object: its offset, or 0 after the last. */
uint64_t vm_ref_offset(const struct vm *v, const struct vm_header *h, uint64_t i);
/* An address of the heap in 32 bits, from 1 on in units of the alignment, and back. The last unit
 * of a heap of 2^36 bytes is 0, which only says that it is no list's next cell. */
static inline uint32_t vm_place(const struct vm_core *c, sim_addr at)
{
    return (uint32_t)((at - VM_HEAP) / c->layout->align + 1);
}
static inline sim_addr vm_at_place(const struct vm_core *c, uint32_t place)
{
    return VM_HEAP + (uint64_t)(uint32_t)(place - 1) * c->layout->align;
}
/* Returns the address of the object to which a slot refers, 0 for null. References of 4 bytes are
 * kept as places. */
static inline sim_addr vm_load_slot(const struct vm_core *c, sim_addr slot)
{
    const unsigned char *from = (const unsigned char *)(c->bias + (uintptr_t)slot);
    sim_addr at;
    uint32_t place;

    if (c->layout->reference == sizeof place) {
        memcpy(&place, from, sizeof place);
        return place ? vm_at_place(c, place) : 0;
    }
    memcpy(&at, from, sizeof at);
    return at;
}
static inline void vm_store_slot(const struct vm_core *c, sim_addr slot, sim_addr at)
{
    unsigned char *to = (unsigned char *)(c->bias + (uintptr_t)slot);
    const uint32_t place = at ? vm_place(c, at) : 0;

    if (c->layout->reference == sizeof place)
        memcpy(to, &place, sizeof place);
    else
        memcpy(to, &at, sizeof at);
}
/* Returns the object's new address if it has moved. */
static inline sim_addr vm_forwarded(const struct vm_core *c, sim_addr at)
{
    const struct vm_header *h = at ? vm_header(c, at) : NULL;

    return h && h->class & VM_FORWARDED ? vm_at_place(c, h->word) : at;
}
/* Calls fn for every root in use; `where` is its simulated address. */
void vm_each_root(struct vm *v, void (*fn)(struct vm *v, struct vm_ref *r, sim_addr where));

/* ---- monitor.c: monitors of objects, and the locks that the runtime itself uses -------------- */

/* As in Jikes RVM 3.1.1 (docs/workloads.md) a monitor is biased to the thread that locked it first,
 * until another one locks it; then thin, a word in the object's header; and heavy, a lock of the
 * runtime with a queue, once threads wait for it. */
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

/* ---- the collector: a thread that is asked for a collection, and stops the world or not ------ */

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

/* collect.c */

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

/* mark.c */

void vm_mark_roots(struct vm_thread *gc);
void vm_mark_drain(struct vm_thread *gc); /* until nothing is left to scan */
/* Roots in a pause, then the rest while the program runs, then what it overwrote in a pause, which
 * is still open on return. */
void vm_mark_concurrently(struct vm_thread *gc);

/* copy.c, move.c */

void vm_semispace(struct vm_thread *gc); /* with the pause for it */
void vm_minor(struct vm_thread *gc);     /* in a pause */
void vm_clear_region(struct vm_thread *gc, sim_addr base, sim_addr end);
void vm_move_cycle(struct vm_thread *gc);

/* ---- all of it ------------------------------------------------------------------------------- */

enum { VM_BATCH = 4096 };

struct vm_program { /* the program that runs */
    const struct workload *workload;
    void *params;          /* owns; the workload's own */
    struct config *config; /* owns; texts in params live in it */
    char *name;            /* owns */
    void **scratch;        /* owns; host memory of kernels */
    size_t n_scratch, cap_scratch;
};

struct vm_stream { /* the batch in hand, beside struct vm_core, and what the marks in it stand for
                    */
    struct event *end; /* the batch is full; VM_SLACK records follow */
    uint64_t doubles;  /* second records in this batch */
    struct err err;    /* the stream ends with it, after what was made before */
    bool done;
    bool in_roi;
    uint64_t phases;
    struct map phase_ids; /* by digest of their texts */
};

struct vm_progress {
    struct source_extent extent;
    uint64_t (*done)(const void *arg); /* NULL: nobody knows now */
    const void *arg;
};

struct vm_sites {
    uint64_t n;                         /* sites that have numbers */
    uint32_t (*inlined)[VM_SITE_FIRST]; /* owns; sites of inlined code, by the program's; 0: none */
    size_t n_inlined, cap_inlined;
    struct map inlined_ids; /* the same, by digest of their names */
};

struct vm_barrier {
    struct vm_barrier *next;
    sim_addr name;
    uint64_t round;
    unsigned parties, arrived;
    struct vm_queue queue;
};
struct vm_barrier_list {
    struct vm_barrier *first; /* owns */
    size_t n;
};

struct vm_txn {              /* transactions run one at a time */
    struct vm_thread *owner; /* the thread whose transaction is open; NULL: none is */
    struct vm_queue queue;
    uint64_t bytes; /* that the open one may still allocate */
};

struct vm {
    struct source source; /* first */
    struct vm_core core;  /* the part that inline accesses need (vm.h) */
    struct vm_params p;
    struct names *names; /* owns; of sites and phases */
    struct vm_program program;
    struct vm_stream stream;
    struct vm_progress progress;
    struct vm_sites sites;
    struct vm_scheduler sched;
    struct vm_monitors monitors;
    struct vm_barrier_list barriers;
    struct vm_txn txn;
    struct vm_classes classes;
    struct vm_globals globals;
    struct vm_heap heap;
    struct vm_collector gc;
};

/* ---- vm.c ----------------------------------------------------------------------------------- */

/* A second record is made for a site of what is no access, or for addr2 or size2. */
void vm_emit(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint64_t aux, unsigned flags,
             uint64_t site);
/* Synchronisation of the program, on something in an object. */
void vm_emit_on(struct vm_thread *t, enum ev_kind kind, const struct vm_ref *o, uint64_t offset,
                uint64_t site);
void vm_emit_two(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                 unsigned flags, sim_addr addr2, uint32_t size2, uint64_t site);
/* An access of the runtime; site: an enum vm_site, or what vm_inlined gave. */
void vm_system(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint32_t size, uint64_t site);
/* May pause first; else as vm_system. */
void vm_system_step(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint32_t size,
                    enum vm_site site);
void vm_to_host(struct vm *v, struct vm_thread *t);
void vm_flush(struct vm_thread *t); /* hands the batch over when it is full */
/* Takes params and config, also on error: NULL. */
struct vm *vm_open(const struct workload *w, const struct vm_params *p, void *params,
                   struct config *config, struct err *e);

/* ---- gap.c ---------------------------------------------------------------------------------- */

void vm_gaps_open(struct vm *v);

/* ---- site.c --------------------------------------------------------------------------------- */

void vm_name(struct vm *v, enum name_space space, uint64_t id, const char *text);
void vm_sites_open(struct vm *v);
void vm_sites_close(struct vm *v);
/* The site of the runtime's place where it is inlined at a site of the program. */
uint64_t vm_inlined(struct vm_thread *t, enum vm_site place, uint64_t site);
/* Notes where the thread stands, while its latest events are still in the batch. */
void vm_note_place(struct vm_thread *t);

/* ---- txn.c ---------------------------------------------------------------------------------- */

void vm_no_txn(struct vm_thread *gc); /* waits until no transaction is open */

/* ---- around a run: workloads/private.c, workloads/prove.c ----------------------------------- */

/* Puts private accesses between those of `of`, and takes it. */
struct source *private_open(struct source *of, const struct workload_private *table);
/* Runs the program of s to its end, to see which sites can be part of no race. s is still the
 * caller's. On success to->site is the caller's, too. */
int workload_prove(struct source *s, struct vm_proved *to, struct err *e);

#endif
