/* runtime_int.h - inside the modelled runtime: its clocks in simulated memory, what the host keeps
 * of them, and the walk that charges for them. docs/runtime.md draws the memory.
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

#include "runtime/runtime.h"

enum {
    RT_PAGE = 4096,
    RT_LINE = 64, /* of the software: its registers and the alignment of its blocks */
    RT_ENTRY = 4,
    RT_LINE_ENTRIES = RT_LINE / RT_ENTRY,
    RT_SIZES = 14 /* the largest block has an entry for each epoch's thread */
};
_Static_assert(RT_LINE_ENTRIES << (RT_SIZES - 1) == EPOCH_THREADS, "the largest clock fits");
#define RT_LISTS_AT     UINT64_C(0x1000) /* offsets from base */
#define RT_LIST_BYTES   UINT64_C(256)
#define RT_LIST_CORES   UINT64_C(4096) /* more share theirs */
#define RT_THREADS_AT   (UINT64_C(1) << 21)
#define RT_THREAD_BYTES UINT64_C(64)
#define RT_HEAP_AT      (UINT64_C(1) << 40)

enum rt_step {
#define RT_STEP(NAME, ...) RT_STEP_##NAME,
#include "runtime/steps.def"
#undef RT_STEP
    RT_STEPS
};

/* ---- what the host keeps -------------------------------------------------------------------- */

struct rt_clock {
    sim_addr at;     /* of its block; 0: it is not in simulated memory */
    uint8_t size;    /* of its block */
    struct vclock v; /* its entries; the count is v.n */
};

struct rt_hold { /* a thread's hold on a lock */
    sim_tid tid;
    bool shared;
    uint32_t depth; /* > 0 */
};

struct rt_object {
    struct rt_object *next; /* in the same granule of the table */
    sim_addr addr;
    uint64_t round; /* barriers; else 0 */
    struct rt_clock write, read;
    struct rt_hold *hold; /* owns; locks */
    uint32_t holds, hold_cap;
    uint64_t inside;  /* barriers: arrived less departed */
    uint8_t kind;     /* enum ev_object */
    bool held_shared; /* ever: the software looks for a read clock */
};

struct rt_log { /* the variables of an open transaction */
    struct map seen;
    sim_addr *addr; /* owns; each once */
    size_t n, cap;
};

struct rt_thread { /* a language thread */
    uint32_t actor;
    bool begun;            /* it has a clock, and the detector knows it */
    bool named;            /* a Thread instruction has been issued */
    struct rt_clock birth; /* from its fork, until it begins */
    struct rt_clock final; /* from its end */
    struct rt_log *log;    /* owns; NULL: never had one */
};

struct rt_list {  /* blocks of a size that a core has: a stack */
    sim_addr *at; /* owns */
    size_t n, cap;
    sim_addr fresh; /* a multiple of RT_PAGE: none */
};
struct rt_core {
    struct rt_list list[RT_SIZES];
    struct rt_due *paying; /* owns; of a walk that is being paid for */
};
struct rt_block {
    sim_addr at;
    uint8_t size;
};

enum { RT_ACCESS = LX_OPS };
struct rt_due {                  /* instructions, and then an access or an instruction of LARDx86 */
    uint64_t value[LX_OPERANDS]; /* of an access: address, bytes, enum mem_cmd */
    uint32_t instructions;       /* itself included */
    uint8_t op;                  /* enum lx_op, or RT_ACCESS */
};

struct rt_stats {
    uint64_t steps[RT_STEPS], lardx86[LX_OPS];
    struct histogram writes; /* WriteVC of a lowered event */
    uint64_t late;           /* of them, for changes that no step had */
    uint64_t instructions, loads, stores, atomics, bytes;
    uint64_t clocks, live, live_peak, live_bytes, live_bytes_peak, garbage_bytes, heap;
    uint64_t objects;
};

struct runtime {
    struct runtime_env env;
    struct runtime_params params;
    struct rt_thread *thread; /* by language thread */
    struct rt_clock *actor;   /* by actor: its clock, which is what the detector was told */
    struct rt_core *core;
    size_t threads, actors, cores;
    struct shadow *objects;   /* chains */
    struct rt_block *garbage; /* owns; the oldest first, from garbage_first on */
    size_t garbage_first, garbage_n, garbage_cap;
    struct rt_stats st;
};

/* ---- cost: runtime/walk.c ------------------------------------------------------------------- */

/* What the software does for one event, gathered while it takes effect and paid thereafter: in the
 * middle of an access other cores may go on. */
struct rt_walk {
    struct runtime *r;
    unsigned core;
    sim_tid tid;
    uint32_t instructions; /* since the last due */
    uint64_t writes;       /* WriteVC */
    size_t n, cap;
    struct rt_due *due; /* `here`, or owns */
    struct rt_due here[24];
};

void rt_walk_begin(struct rt_walk *w, struct runtime *r, unsigned core, sim_tid tid);
sim_cycle rt_walk_pay(struct rt_walk *w, sim_cycle now); /* leaves it empty */
void rt_step(struct rt_walk *w, enum rt_step step, uint64_t times);
void rt_access(struct rt_walk *w, sim_addr addr, uint64_t bytes, enum mem_cmd cmd);
bool rt_listens(const struct rt_walk *w); /* somebody does to LARDx86 */
void rt_issue(struct rt_walk *w, const struct lx_act *act);
/* As it stands in the trace: its instruction is the program's. */
void rt_issue_raw(struct rt_walk *w, const struct lx_act *act);
/* An entry of the thread's clock that is new: WriteVC. */
void rt_report(struct rt_walk *w, uint32_t index, uint64_t value);

/* ---- blocks of simulated memory: runtime/heap.c --------------------------------------------- */

uint8_t rt_size(uint32_t entries);                         /* of a block for so many */
struct rt_core *rt_core(struct runtime *r, unsigned core); /* valid until the next call */
struct rt_block rt_take(struct rt_walk *w, uint8_t size);
void rt_discard(struct runtime *r, unsigned core, struct rt_block block); /* it is garbage now */
void rt_heap_free(struct runtime *r);

/* ---- clocks: runtime/clock.c ---------------------------------------------------------------- */

static inline uint32_t rt_room(const struct rt_clock *c) /* entries */
{
    return c->at ? (uint32_t)RT_LINE_ENTRIES << c->size : 0;
}
void rt_clock_free(struct runtime *r, unsigned core, struct rt_clock *c);

/* The thread's clock becomes the maximum of itself and n others, but for entries that `now` does
 * not have so: what changed is written to the detector. word: of the thread's clock. */
void rt_merge(struct rt_walk *w, uint32_t actor, sim_addr word, const struct rt_clock *const *from,
              size_t n, const struct vclock *now);

enum rt_way {
    RT_IN_PLACE, /* whoever does it is alone */
    RT_SWAP,     /* a new clock, and an atomic swap of the word */
    RT_SWAP_WIDE /* ... and of the word beside it */
};
/* `to` becomes the maximum of itself and the thread's clock. word: of `to`. */
void rt_publish(struct rt_walk *w, const struct rt_clock *mine, struct rt_clock *to, sim_addr word,
                enum rt_way way);
/* The first clock of a thread: none so far, or the one that its parent made. */
void rt_begin_clock(struct rt_walk *w, struct rt_clock *c, uint32_t actor, sim_addr word);
void rt_tick(struct rt_walk *w, uint32_t actor, uint64_t after);
/* Whatever else is not as in `now`; of the own entry: as own. */
void rt_settle(struct rt_walk *w, uint32_t actor, const struct vclock *now, uint64_t own);

/* ---- one event: runtime/sync.c -------------------------------------------------------------- */

struct rt_lowering {
    struct rt_walk walk;
    const struct event *ev;
    const struct vclock *now; /* the acting thread's clock */
    uint32_t actor;
};
void rt_lower_sync(struct rt_lowering *l);
void rt_lower_access(struct rt_lowering *l);

struct rt_thread *rt_thread(struct runtime *r, uint64_t tid); /* made if need be */

/* ---- objects: runtime/object.c -------------------------------------------------------------- */

struct rt_object *rt_object_find(const struct runtime *r, unsigned kind, sim_addr addr,
                                 uint64_t round); /* NULL: none */
struct rt_object *rt_object_get(struct runtime *r, unsigned kind, sim_addr addr, uint64_t round);
void rt_object_drop(struct runtime *r, unsigned core, const struct rt_object *o);
uint32_t rt_nest(struct runtime *r, struct rt_object *o, sim_tid tid, bool shared); /* new depth */
uint32_t rt_unnest(struct rt_object *o, sim_tid tid, bool shared);                  /* new depth */
/* What memory does to the objects in it. */
void rt_objects_clear(struct runtime *r, unsigned core, sim_addr addr, uint64_t bytes);
void rt_objects_move(struct runtime *r, unsigned core, sim_addr to, sim_addr from, uint64_t bytes);
void rt_objects_free(struct runtime *r);

#endif
