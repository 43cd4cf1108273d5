/* vm_int.h - what the files of the modelled runtime share. For no kernel: vm.h is theirs.
 *
 * Everything runs on one host thread, each language thread and the collector on a fiber of its own.
 * Only vm_pause, vm_block and what calls them let another fiber run; between two of those, host
 * code is atomic, and up to VM_SLACK records may be made. While `pinned` is not 0 nobody else runs.
 *
 * Addresses: the heap from VM_HEAP on; everything else of the runtime lies below it, stacks above,
 * and has no host memory.
 *
 *     vm.c          the source: batches, events, errors
 *     vm/site.c     names of sites; inlined code
 *     vm/sched.c    who runs; threads
 *     vm/monitor.c  monitors; locks of the runtime
 *     vm/sync.c     barriers, volatiles, classes
 *     vm/txn.c      transactions and marks
 *     vm/class.c    classes, roots, references
 *     vm/alloc.c    new objects
 *     vm/cells.c    the space of cells (mark-sweep)
 *     vm/collect.c  pauses, roots, the collector
 *     vm/mark.c     marking
 *     vm/copy.c     copying in a pause
 *     vm/move.c     copying while the program runs */
#ifndef LARDSIM_VM_INT_H
#define LARDSIM_VM_INT_H

#include "base/fiber.h"
#include "workloads/vm/vm.h"
#include "workloads/workloads.h"

enum { VM_BATCH = 4096, VM_ROOTS = 8192, VM_KERNELS = 256 };

#define VM_HEAP   UINT64_C(0x1000000000)
#define VM_STACKS UINT64_C(0x7000000000)
enum { VM_STACK_BYTES = 1 << 18 }; /* simulated; roots first, then vm_stack's words */
enum vm_area {                     /* tables of the runtime; 2^32 bytes each */
               VM_AREA_STATE = 1,  /* the two words of the handshake, the heap's lock */
               VM_AREA_BARRIERS,
               VM_AREA_CLASSES,
               VM_AREA_MARKS,      /* a bit for 16 bytes of heap */
               VM_AREA_REMEMBERED, /* slots, and references overwritten while marking */
               VM_AREA_FREE,       /* heads of free lists, ends of bump regions */
               VM_AREA_HEAVY       /* heavy locks: the lock itself, behind it its fields */
};
static inline sim_addr vm_area(enum vm_area a, uint64_t offset)
{
    return ((uint64_t)a << 32) + offset;
}
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

/* Class numbers that are no class: what lies in cells and gaps that hold no object. */
#define VM_CELL_FREE 0x7ffffffeu
#define VM_GAP_FILL  0x7fffffffu /* length: its bytes / 16 */

struct vm;

/* ---- threads -------------------------------------------------------------------------------- */

enum vm_state { VM_IS_READY, VM_IS_BLOCKED, VM_IS_ENDED };

struct vm_queue { /* threads that wait for the same; in order */
    struct vm_thread *first, *last;
};

enum { VM_SIZES = 28 }; /* size classes of cells */

struct vm_thread {
    struct vm_run run; /* first */
    struct vm *vm;
    struct fiber *fiber; /* owns; NULL: has not run yet, or has ended */
    void (*fn)(struct vm_thread *t, void *arg);
    void *arg;
    enum vm_state state;
    bool started;   /* has acted */
    bool stale;     /* a pause has been since it acted: it reads `resumed` before it goes on */
    bool asked;     /* by its yield flag, which it takes back then */
    bool held_up;   /* another thread has stopped it since it acted: it takes its stop lock then */
    bool mute;      /* waits on a monitor or at a barrier: can make no other event */
    uint32_t held;  /* monitors, each entry counts */
    uint32_t heavy; /* a heavy lock that it keeps for its next need; 0: none */
    struct vm_thread *next; /* in a queue */
    const char *waits;      /* blocked: for what, for messages */
    struct vm_queue joiners;
    struct vm_ref *roots; /* owns VM_ROOTS */
    uint32_t n_roots, frames;
    uint32_t home, on; /* kernel threads: whose queue it is in; where it runs, by its events */
    uint32_t turns;    /* on that, since another one had it */
    uint64_t stands;   /* the site of its latest access, at the latest switch; 0: not known */
    sim_addr tlab, tlab_end;
    sim_addr cells[VM_SIZES]; /* heads of its free lists */
    uint64_t *used;           /* owns; bits: classes it has used */
    uint32_t used_words;
    struct rng rng;
};

struct vm_monitor {
    struct vm_thread *owner; /* NULL: free */
    struct vm_thread *bias;  /* who had it first and alone; NULL: nobody, or several */
    bool shared;             /* several had it: it has no bias any more */
    uint32_t heavy;          /* the number of its heavy lock; 0: thin */
    uint32_t depth;
    uint32_t next_free;
    struct vm_queue lockers, waiters;
};

struct vm_class_life {
    enum { VM_CLASS_NEW, VM_CLASS_RUNS, VM_CLASS_READY } state;
    struct vm_thread *by; /* runs its initialisation */
};

struct vm_barrier {
    struct vm_barrier *next;
    sim_addr name;
    uint64_t round;
    unsigned parties, arrived;
    struct vm_queue queue;
};

/* ---- memory --------------------------------------------------------------------------------- */

struct vm_bump { /* [base, end), allocated up to at */
    sim_addr base, at, end;
};

enum { VM_BLOCK_SHIFT = 14, VM_BLOCK_BYTES = 1 << VM_BLOCK_SHIFT, VM_CELL_MAX = 4096 };
enum vm_use { VM_USE_FREE, VM_USE_CELLS, VM_USE_LARGE, VM_USE_TAIL /* of a large object */ };
struct vm_block {
    uint8_t use, size; /* enum vm_use; a size class */
    bool swept;        /* false: the sweep under way has not been here */
    uint32_t blocks;   /* of a large object */
    sim_addr free;     /* its list of free cells; each one's word is the next */
};
struct vm_cells { /* a space of blocks */
    sim_addr base, end;
    struct vm_block *block;    /* owns */
    size_t blocks, n_free;     /* n_free: whole ones */
    size_t hint[VM_SIZES + 1]; /* where to look for free cells next */
};

enum vm_want { VM_WANT_NONE, VM_WANT_CYCLE, VM_WANT_MINOR, VM_WANT_FULL };
enum vm_barriers {                  /* what writes of references have to do, in addition */
                   VM_REMEMBER = 1, /* old objects that refer to the nursery */
                   VM_SNAPSHOT = 2, /* marking runs: what is overwritten */
                   VM_FORWARD = 4   /* objects may have moved and not all references know */
};

struct vm_list {  /* of addresses */
    sim_addr *at; /* owns */
    size_t n, cap;
};

enum vm_moment { VM_BEFORE_PAUSE, VM_AFTER_PAUSE };

struct vm {
    struct source source; /* first */
    struct vm_core core;
    struct vm_params p;
    const struct workload *workload;
    void *params;          /* owns; the workload's own */
    struct config *config; /* owns; texts in params live in it */
    char *name;            /* owns */
    struct names *names;
    uint64_t sites, phases;
    struct map phase_ids;
    uint32_t (*inlined)[VM_SITE_FIRST]; /* owns; sites of inlined code, by the program's; 0: none */
    size_t n_inlined, cap_inlined;
    struct map inlined_ids; /* the same, by digest of their names */
    struct err err;         /* the stream ends with it, after what was made before */
    struct event *end;
    struct event *from; /* where the turn's events in this batch begin */
    uint64_t left;      /* of the turn's events, when at was from */
    uint64_t doubles;   /* second records in this batch */
    bool done;

    struct fiber *host;
    struct fiber *dead;        /* of a thread that has ended; freed by who runs next */
    struct vm_thread **thread; /* owns; by number; the collector too */
    size_t n_threads, cap_threads;
    size_t alive; /* of the program */
    struct vm_thread **ready;
    size_t n_ready, cap_ready;
    struct vm_thread *current;
    uint32_t cursor; /* round robin: the last thread, or kernel thread */
    unsigned pinned;
    struct rng rng;                         /* the schedule's */
    struct vm_thread *runs[VM_KERNELS + 1]; /* kernel threads: whom they run */

    struct vm_class **classes;   /* owns */
    struct vm_class_life *lives; /* owns; by id */
    struct vm_queue class_queue;
    size_t n_classes, cap_classes, cap_lives;
    struct vm_ref **globals; /* owns; chunks of VM_ROOTS */
    size_t n_globals, cap_globals;
    struct vm_monitor *monitors; /* owns; from 1 */
    size_t n_monitors, cap_monitors;
    uint32_t free_monitor;
    struct vm_list heavy; /* free ones */
    uint32_t n_heavy;     /* that there are, from 1 */
    struct vm_barrier *barriers;
    size_t n_barriers;
    struct vm_thread *txn;
    struct vm_queue txn_queue;
    uint64_t txn_bytes; /* that the open one may still allocate */
    bool in_roi;
    void **scratch; /* owns */
    size_t n_scratch, cap_scratch;

    unsigned char *heap; /* owns; p.heap bytes */
    uint64_t *marks;     /* owns; bits by 16 bytes of heap */
    uint64_t *ids;       /* owns; objects' identities by 16 bytes of heap; NULL: not asked for */
    uint64_t last_id;
    struct vm_cells cells;
    struct vm_bump active, spare; /* halves; active alone: the nursery */

    struct vm_thread *collector; /* NULL: there was no collection yet */
    enum vm_want want;
    struct vm_queue gc_queue;
    uint64_t collections, cycles, allocated, live;
    uint64_t trigger;               /* bytes in use at which a concurrent cycle begins */
    unsigned barrier;               /* enum vm_barriers */
    bool marking, cycling, idle;    /* idle: the collector waits for work */
    struct vm_list stack;           /* marked or promoted, yet to be scanned */
    struct vm_list log;             /* remembered slots; overwritten references */
    uint64_t room_bump, room_cells; /* bytes, after the latest collection */
    uint64_t to_move;               /* bytes that may still have to be moved into the active half */
    uint64_t aborts;                /* moves that a write of the program has spoilt */

    /* For tests: in a pause, before and after. */
    void (*observe)(void *arg, struct vm *v, enum vm_moment m);
    void *observe_arg;
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

/* ---- vm/site.c ------------------------------------------------------------------------------ */

void vm_name(struct vm *v, enum name_space space, uint64_t id, const char *text);
void vm_sites_open(struct vm *v);
void vm_sites_close(struct vm *v);
/* The site of the runtime's place where it is inlined at a site of the program. */
uint64_t vm_inlined(struct vm_thread *t, enum vm_site place, uint64_t site);
/* Before the thread's events are out of sight. */
void vm_note_place(struct vm_thread *t);

/* ---- vm/sched.c ----------------------------------------------------------------------------- */

struct vm_thread *vm_thread_new(struct vm *v, void (*fn)(struct vm_thread *t, void *arg),
                                void *arg);
void vm_thread_free(struct vm_thread *t);
struct fiber *vm_fiber(struct vm_thread *t);
void vm_wake(struct vm *v, struct vm_thread *t);
void vm_wake_all(struct vm *v, struct vm_queue *q);
struct vm_thread *vm_unqueue(struct vm_queue *q); /* NULL: empty */
void vm_enqueue(struct vm_queue *q, struct vm_thread *t);
/* Until woken. what: for messages. q may be NULL. */
void vm_block(struct vm_thread *t, struct vm_queue *q, const char *what);
void vm_rearm(struct vm *v);
void vm_urge(struct vm_thread *t);     /* a good moment for an adversary to let others run */
void vm_catch_up(struct vm_thread *t); /* what it owes before its next event */
static inline void vm_step(struct vm_thread *t)
{
    if (UNLIKELY(t->run.core->at >= t->run.core->stop))
        vm_pause(t);
}
static inline void vm_pin(struct vm *v)
{
    v->pinned++;
    vm_rearm(v);
}
static inline void vm_unpin(struct vm *v)
{
    v->pinned--;
    vm_rearm(v);
}

/* ---- vm/monitor.c --------------------------------------------------------------------------- */

/* Before a thread blocks: it takes its stop lock, and writes `stopped`. */
void vm_stopping(struct vm_thread *t);
/* The accesses under a lock of the runtime that change what it guards. */
void vm_guarded(struct vm_thread *t, sim_addr lock, sim_addr what, uint64_t site);
void vm_take_stop_lock(struct vm_thread *t);
void vm_note_threads(struct vm_thread *t); /* the list of threads changes */
void vm_drop_heavy(struct vm_thread *t);   /* at its end: what it keeps is anybody's */
void vm_monitor_free(struct vm *v, struct vm_header *h); /* the object is dead */

/* ---- vm/class.c ----------------------------------------------------------------------------- */

void vm_array_class(struct vm *v, enum vm_type element); /* classes 0 to VM_TYPES - 1 */
/* Bytes of what is at the header, object or filler, a multiple of VM_ALIGN. */
uint64_t vm_bytes(const struct vm *v, const struct vm_header *h);
static inline bool vm_is_object(const struct vm_header *h)
{
    return (h->class & ~VM_FORWARDED) < VM_CELL_FREE;
}
/* The i-th reference in an object: its offset, or 0 after the last. */
uint64_t vm_ref_offset(const struct vm *v, const struct vm_header *h, uint64_t i);
static inline sim_addr *vm_slot_at(const struct vm *v, sim_addr slot)
{
    return (sim_addr *)(v->core.bias + (uintptr_t)slot);
}
/* Its new address if it has moved. */
static inline sim_addr vm_forwarded(const struct vm *v, sim_addr at)
{
    const struct vm_header *h = at ? vm_header(&v->core, at) : NULL;

    return h && h->class & VM_FORWARDED ? h->word : at;
}
/* Calls fn for every root in use; `where` is its simulated address. */
void vm_each_root(struct vm *v, void (*fn)(struct vm *v, struct vm_ref *r, sim_addr where));

/* ---- vm/alloc.c ----------------------------------------------------------------------------- */

void vm_retire(struct vm *v, struct vm_thread *t); /* its buffer ends here; the rest is filled */
void vm_fill(struct vm *v, sim_addr at, sim_addr end);
void vm_reserve(struct vm_thread *t, uint64_t bytes); /* collects unless there is room */
static inline bool vm_has_cells(const struct vm *v)
{
    return v->cells.blocks > 0;
}

/* ---- vm/cells.c ----------------------------------------------------------------------------- */

void vm_cells_open(struct vm *v, sim_addr base, uint64_t bytes);
unsigned vm_size_class(uint64_t bytes); /* VM_SIZES: too large for a cell */
uint32_t vm_size_bytes(unsigned size);
/* Some free cells, as a list; 0: there are none. fresh: a whole block may be cut. */
sim_addr vm_cells_take(struct vm *v, unsigned size, bool fresh);
sim_addr vm_cells_large(struct vm *v, uint64_t bytes); /* 0: no room */
/* One cell or large object; for the collector. 0: no room. */
sim_addr vm_cells_one(struct vm *v, uint64_t bytes);
sim_addr vm_cells_object(const struct vm *v, sim_addr inside); /* that this address lies in */
/* A sweep is to come: nobody has free cells any more. */
void vm_cells_unswept(struct vm *v);
void vm_cells_sweep(struct vm_thread *gc); /* frees what is not marked, and unmarks */
uint64_t vm_cells_used(const struct vm *v);

/* ---- vm/collect.c --------------------------------------------------------------------------- */

/* Asks for a collection and waits for its end. */
void vm_want(struct vm_thread *t, enum vm_want want);
void vm_want_soon(struct vm_thread *t); /* a concurrent cycle, if none runs; does not wait */
void vm_stop_world(struct vm_thread *gc, bool nursery);
void vm_start_world(struct vm_thread *gc, bool nursery);
void vm_no_txn(struct vm_thread *gc); /* waits until no transaction is open */
void vm_clear_object(struct vm_thread *gc, sim_addr at, uint64_t bytes);
/* A copy of an object, with the accesses that takes, and its event. The source is forwarded. */
void vm_copy_object(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes);
/* Its end: from now on the object is at `to`. */
void vm_commit_copy(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes);
void vm_retire_all(struct vm *v);
/* The accesses to copy a piece of [from, from + bytes) that begins at offset; the piece's bytes. */
uint64_t vm_copy_piece(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t offset,
                       uint64_t bytes);

/* ---- vm/mark.c ------------------------------------------------------------------------------ */

static inline bool vm_marked(const struct vm *v, sim_addr at)
{
    const uint64_t i = (at - VM_HEAP) / VM_ALIGN;

    return v->marks[i / 64] >> i % 64 & 1;
}
static inline void vm_mark_set(struct vm *v, sim_addr at)
{
    const uint64_t i = (at - VM_HEAP) / VM_ALIGN;

    v->marks[i / 64] |= UINT64_C(1) << i % 64;
}
static inline void vm_mark_clear(struct vm *v, sim_addr at)
{
    const uint64_t i = (at - VM_HEAP) / VM_ALIGN;

    v->marks[i / 64] &= ~(UINT64_C(1) << i % 64);
}
static inline sim_addr vm_mark_at(sim_addr at) /* where its bit is */
{
    return vm_area(VM_AREA_MARKS, (at - VM_HEAP) / VM_ALIGN / 64 * 8);
}
void vm_list_add(struct vm_list *l, sim_addr at);
void vm_mark_roots(struct vm_thread *gc);
void vm_mark_drain(struct vm_thread *gc); /* until nothing is left to scan */
void vm_mark_log(struct vm_thread *gc);   /* what was overwritten meanwhile */
/* Roots in a pause, then the rest while the program runs, then what it overwrote in a pause, which
 * is still open on return. */
void vm_mark_concurrently(struct vm_thread *gc);

/* ---- vm/copy.c, vm/move.c ------------------------------------------------------------------- */

void vm_semispace(struct vm_thread *gc);
void vm_minor(struct vm_thread *gc); /* in a pause */
void vm_clear_region(struct vm_thread *gc, sim_addr base, sim_addr end);
void vm_move_cycle(struct vm_thread *gc);

#endif
