/* runtime_int.h - inside the modelled runtime: its clocks in simulated memory, what the host keeps
 * of them, and the walk that charges for using them. docs/runtime.md draws the memory.
 *
 * Simulated memory, from base:
 *   0        8 bytes: how much of the heap was taken
 *   4 KiB    256 bytes a core: 16 for each size of block {first free one, next fresh one}
 *   2 MiB    64 bytes a thread: {its clock's word: 8, its final clock's word: 8}
 *   1 TiB    the heap: blocks of 64 bytes << size, 16 << size entries of 4 bytes
 * A clock's word holds its address and its count of entries; 0: there is none. That of an object
 * lies beside the object's own word. */
#ifndef LARDSIM_RUNTIME_INT_H
#define LARDSIM_RUNTIME_INT_H

#include <assert.h>

#include "base/sequences.h"
#include "base/sync_object.h"
#include "runtime/runtime.h"

enum {
    RT_PAGE = 4096,
    RT_LINE = 64, /* bytes of the software's vector registers, and alignment of its blocks */
    RT_ENTRY = 4, /* bytes of a clock's entry */
    RT_LINE_ENTRIES = RT_LINE / RT_ENTRY,
    RT_SIZES = 14 /* the largest block has an entry for each epoch's thread */
};
_Static_assert(RT_LINE_ENTRIES << (RT_SIZES - 1) == EPOCH_THREADS, "the largest clock fits");
#define RT_LISTS_AT   UINT64_C(0x1000) /* offsets from base */
#define RT_LIST_BYTES UINT64_C(256)
#define RT_LIST_CORES UINT64_C(4096) /* cores beyond these share lists' addresses */
#define RT_THREADS_AT (UINT64_C(1) << 21)
#define RT_HEAP_AT    (UINT64_C(1) << 40)

enum rt_step {
#define RT_STEP(NAME, ...) RT_STEP_##NAME,
#include "runtime/steps.def"
#undef RT_STEP
    RT_STEPS
};

/* ---- what the host keeps -------------------------------------------------------------------- */

struct rt_clock {
    struct paddr at; /* its block; 0: it is not in simulated memory */
    uint8_t size;    /* its block's size */
    uint32_t summed; /* how many of its entries struct rt_sums has */
    struct vclock v; /* its contents; v.n: the count of entries */
};

struct rt_object {
    struct sync_object sync;     /* its address is in the program's memory */
    struct rt_clock write, read; /* clocks that releases gave; read: shared ones of a lock */
    union {
        uint64_t inside;             /* barriers: arrived less departed */
        struct sequences *sequences; /* owns; atomic locations. NULL: nothing of C11 yet */
    };
    bool held_shared; /* ever: the software looks for a read clock */
};

struct rt_log {      /* the variables that an open transaction has accessed */
    struct map seen; /* by address */
    sim_addr *addr;  /* owns; each once, in order of first access */
    size_t n, cap;
};

struct rt_thread {         /* a language thread */
    uint32_t actor;        /* its entry in clocks; with no-thread its kernel thread's */
    bool begun;            /* it has a clock, and the detector knows it */
    bool named;            /* a Thread instruction has been issued */
    struct rt_clock birth; /* from its fork, until it begins */
    struct rt_clock final; /* from its end, for joins */
    struct rt_log *log;    /* owns; NULL: never had one */
};

struct rt_list {      /* the free blocks of one size that a core has: a stack */
    struct paddr *at; /* owns */
    size_t n, cap;
    struct paddr
        fresh; /* the next one never used, in the core's page; a multiple of RT_PAGE: it is full */
};
struct rt_core {
    struct rt_list list[RT_SIZES]; /* by size of block */
    struct rt_due *paying;         /* owns; of a walk that is being paid for */
};
struct rt_block { /* a block of simulated memory: RT_LINE << size bytes */
    struct paddr at;
    uint8_t size;
};

enum { RT_ACCESS = LX_OPS };     /* an op beyond those of LARDx86 */
struct rt_due {                  /* some instructions, then an access or a LARDx86 instruction */
    uint64_t value[LX_OPERANDS]; /* for an access: address, bytes, enum mem_cmd */
    uint32_t instructions;       /* its own included */
    uint8_t op;                  /* enum lx_op, or RT_ACCESS */
    bool after;                  /* it needs what the latest load gives */
};

struct rt_sums {             /* over all clocks that there are */
    uint64_t lines, entries; /* in memory that the clocks take */
};

struct rt_stats {
    uint64_t steps[RT_STEPS], lardx86[LX_OPS];
    struct histogram writes; /* how many WriteVC a lowered event issues */
    uint64_t late;           /* entries that rt_settle had to correct: no step had changed them */
    uint64_t instructions, loads, stores, atomics, bytes;  /* of the software */
    uint64_t clocks;                                       /* allocated, ever */
    uint64_t live, live_peak, live_bytes, live_bytes_peak; /* in use by a thread or object */
    uint64_t garbage_bytes, heap;                          /* replaced; taken in all */
    uint64_t objects;                                      /* known now */
};

struct runtime {
    struct runtime_head head;
    struct runtime_env env;
    struct runtime_params params;
    struct rt_thread *thread;      /* owns; by language thread */
    struct rt_clock *actor;        /* owns; by actor: its clock, as the detector was told it */
    struct rt_core *core;          /* owns; by core */
    size_t threads, actors, cores; /* entries of the three */
    bool moving;                   /* the collection in hand has moved an object */
    struct sync_objects objects;   /* struct rt_object */
    struct rt_block *garbage;      /* owns; the oldest first, from garbage_first on */
    size_t garbage_first, garbage_n, garbage_cap;
    struct rt_sums sums; /* for collections without a machine */
    uint64_t looked_at;  /* clocks that collections looked at, one by one */
    struct rt_stats st;
};

/* ---- cost: runtime/walk.c ------------------------------------------------------------------- */

/* The software's work for one event. It is gathered while the event takes effect and paid
 * thereafter, since in the middle of an access other cores may go on. */
struct rt_walk {
    struct runtime *r;
    unsigned core;         /* the core that pays */
    sim_tid tid;           /* the thread of the event */
    uint32_t instructions; /* since the last due */
    bool after;            /* one of these needs what the latest load gives */
    uint64_t writes;       /* WriteVC issued */
    size_t n, cap;         /* entries of due */
    struct rt_due *due;    /* `here`; owned, if it has outgrown that */
    struct rt_due here[24];
};

void rt_walk_begin(struct rt_walk *w, struct runtime *r, unsigned core, sim_tid tid);
sim_cycle rt_walk_pay(struct rt_walk *w, sim_cycle now); /* leaves it empty */
void rt_step(struct rt_walk *w, enum rt_step step, uint64_t times);
void rt_access(struct rt_walk *w, struct paddr addr, uint64_t bytes, enum mem_cmd cmd);
/* Counts n accesses of so many bytes in all, in runs without a machine. */
void rt_accesses(struct rt_walk *w, uint64_t n, uint64_t bytes, enum mem_cmd cmd);
bool rt_listens(const struct rt_walk *w); /* a detector listens to LARDx86 */
void rt_issue(struct rt_walk *w, const struct lx_act *act, uint32_t instructions); /* its own */
/* Tells the detector of a new entry of the thread's clock: WriteVC. */
void rt_report(struct rt_walk *w, uint32_t index, uint64_t value);

/* ---- blocks of simulated memory: runtime/heap.c --------------------------------------------- */

uint8_t rt_size(uint32_t entries);                         /* the size of a block for so many */
struct rt_core *rt_core(struct runtime *r, unsigned core); /* valid until the next call */
struct rt_block rt_take(struct rt_walk *w, uint8_t size);
void rt_discard(struct runtime *r, unsigned core, struct rt_block block); /* it is garbage now */
void rt_heap_free(struct runtime *r);

/* ---- clocks: runtime/clock.c ---------------------------------------------------------------- */

static inline uint32_t rt_room(const struct rt_clock *c) /* entries */
{
    return c->at.at ? (uint32_t)RT_LINE_ENTRIES << c->size : 0;
}
/* An access to that part of a clock of n entries that is in the line of entry `first`. */
void rt_line(struct rt_walk *w, struct paddr at, uint32_t n, uint32_t first, enum mem_cmd cmd);
void rt_clock_free(struct runtime *r, unsigned core, struct rt_clock *c);
void rt_sum(struct runtime *r, struct rt_clock *c); /* it has more entries, or a block */

/* The acquiring side: merges n clocks into the thread's, entry by entry the maximum, and tells the
 * detector what changed. Entries that happens-before (`now`) does not raise are left. word: the
 * address of the thread's clock word. */
void rt_merge(struct rt_walk *w, uint32_t actor, struct paddr word,
              const struct rt_clock *const *from, size_t n, const struct vclock *now);

enum rt_way {
    RT_IN_PLACE, /* under a lock, or in a thread's own clock: it is written where it lies */
    RT_SWAP,     /* others may read or publish now: a new clock, then an atomic swap of the word */
    RT_SWAP_WIDE /* the same with the word beside it, which is a field's value */
};
/* The releasing side: `to` becomes the maximum of itself and the thread's clock. word: the address
 * of the clock word of `to`. */
void rt_publish(struct rt_walk *w, const struct rt_clock *mine, struct rt_clock *to,
                struct paddr word, enum rt_way way);
/* Other threads' parts of a location's clock have ended: what is left of it becomes a new clock, or
 * none, in the place of the old one. */
void rt_replace(struct rt_walk *w, struct rt_clock *c, struct paddr word);
/* Makes the first clock of a thread, from nothing or from the one that its parent made for it. */
void rt_begin_clock(struct rt_walk *w, struct rt_clock *c, uint32_t actor, struct paddr word);
void rt_tick(struct rt_walk *w, uint32_t actor, uint64_t after); /* its own entry becomes `after` */
/* Corrects all other entries that are not as in `now`; the actor's own is to be `own`. */
void rt_settle(struct rt_walk *w, uint32_t actor, const struct vclock *now, uint64_t own);

/* Returns the physical address of a program's address. */
static inline struct paddr rt_physical(const struct runtime *r, sim_addr at)
{
    return r->env.pages ? pages_physical(r->env.pages, vaddr_of(at)) : paddr_of(at);
}

/* ---- one event: runtime/sync.c -------------------------------------------------------------- */

struct rt_lowering {
    struct rt_walk walk;
    const struct event *ev;
    const struct vclock *now; /* the acting thread's clock */
    uint32_t actor;
};
void rt_lower_sync(struct rt_lowering *l);   /* an event of synchronisation */
void rt_lower_access(struct rt_lowering *l); /* an access of runtime_lower's three kinds */

struct rt_thread *rt_thread(struct runtime *r, uint64_t tid); /* made if need be */

/* Address of an object's clock word. */
struct paddr rt_object_word(const struct runtime *r, sim_addr object);
/* ---- the collector's and the allocator's part: runtime/collect.c ---------------------------- */

void rt_lower_memory(struct rt_walk *w, const struct event *ev);

/* ---- objects: they are given the walk, of which they pay nothing ---------------------------- */

static inline struct rt_object *rt_object_get(struct rt_walk *w, unsigned kind, sim_addr addr,
                                              uint64_t round) /* made when new */
{
    return sync_object_get(&w->r->objects, kind, addr, round, w);
}

#endif
