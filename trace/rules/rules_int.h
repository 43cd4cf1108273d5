/* rules_int.h - what rules.c and rules/heap.c share: the state that the stream rules keep. Not for
 * others; trace.h has their interface. */
#ifndef LARDSIM_RULES_INT_H
#define LARDSIM_RULES_INT_H

#include "base/interval.h"
#include "base/map.h"
#include "base/shadow.h"
#include "trace/trace.h"

enum thread_state {
    ACTED = 1,
    FORKED = 2, /* and has not acted yet */
    ENDED = 4,
    JOINED = 8,
    WAITING = 16,
    AT_BARRIER = 32,
    IN_TXN = 64
};

struct rules_thread {
    uint8_t state;        /* bits of enum thread_state */
    bool by_system;       /* waiting: a system event entered the wait */
    uint32_t held;        /* locks, each mode counts */
    uint32_t slot;        /* IN_TXN: where it stands in rules.open */
    uint64_t time;        /* its own entry, as WriteVC models it; 0 stands for 1 */
    uint64_t heeded;      /* the same for views that don't heed the system's */
    uint64_t at;          /* id of the lock it waits on, of the barrier it is at */
    uint64_t restore;     /* waiting: nesting before; at a barrier: the round */
    struct interval *txn; /* owns; memory that its open transaction has accessed */
};

/* A lock that someone holds or waits on, a barrier, or an initialised class. Threads refer to the
 * id, which goes with the object when memory is copied: so a move costs the same for any number of
 * holders. What stays behind has id 0 until it is cleared. */
struct rules_object {
    struct rules_object *next; /* owns; in the same granule */
    sim_addr addr;             /* the address by which events name it */
    uint64_t id;               /* threads name it by this; 0: stale, it has moved away */
    uint64_t depth;            /* locks: nesting of the exclusive owner, 0: none */
    uint64_t system;           /* the part of depth that system events acquired */
    uint64_t round;            /* barriers: the highest from which a thread has departed */
    uint32_t sharers;          /* locks: threads; their nesting is in rules.shares */
    uint32_t waiters;          /* locks, barriers: threads */
    sim_tid owner;             /* locks: valid while depth is not 0 */
    uint8_t kind;              /* an enum ev_object */
    bool begun;                /* barriers: round is valid */
};

struct rules {
    const char *format;          /* borrowed; of another tool, NULL: none */
    bool for_run;                /* the run can do without the rules */
    struct rules_thread *thread; /* owns; by thread */
    uint32_t threads;            /* the length of thread */
    uint32_t opens;
    sim_tid *open; /* owns; threads in a transaction, opens of them */
    size_t open_cap;
    struct shadow *objects;      /* owns; cells are struct rules_object *, chains by granule */
    struct map shares;           /* (id, thread, side) to nesting, for shared holders */
    struct map clocks;           /* (thread, thread) to what WriteVC wrote */
    uint64_t ids;                /* given out */
    uint64_t alive;              /* objects */
    uint64_t idled;              /* locks that have become idle since idle ones were dropped */
    struct interval *allocated;  /* owns */
    struct interval *left;       /* owns; full only: what copies outside pauses moved away */
    uint64_t pages_left;         /* pages of objects that were left then */
    struct interval *touched;    /* owns; full only: tracked accesses since the last clear */
    struct rules_object *moving; /* owns; scratch of a copy */
    size_t moving_cap;
    uint64_t gc_since, roi_since; /* events */
    struct rules_notes *notes;    /* owns; NULL: nobody asked for them */
    bool full, gc, roi, allocs;
    bool watch;              /* full or gc: accesses may not take the short way */
    bool raw, sync;          /* seen: ReadVC or WriteVC; synchronisation above that level */
    enum rule_id broken;     /* the rule that an event broke */
    struct rules_thread *by; /* whose event is applied; in thread */
    const struct event *ev;  /* borrows; the one being applied, its number and where errors go */
    uint64_t number;
    struct err *err;
    struct budget *budget; /* borrows; NULL: not accounted */
};

/* Sets the error for the current event; -1. */
int rules_break(struct rules *r, enum rule_id id, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- rules/sync.c: the event in hand; 0 or -1 ------------------------------------------- */

int rules_acquire(struct rules *r);
int rules_release(struct rules *r);
int rules_acquire_shared(struct rules *r);
int rules_release_shared(struct rules *r);
int rules_wait_enter(struct rules *r);
int rules_wait_exit(struct rules *r);
int rules_arrive(struct rules *r);
int rules_depart(struct rules *r);
int rules_class_init(struct rules *r);
int rules_class_use(struct rules *r);

/* ---- rules/heap.c --------------------------------------------------------------------------- */

struct rules_object *rules_find(struct rules *r, enum ev_object kind, sim_addr addr); /* or NULL */
/* Adds an object where there is none yet. */
struct rules_object *rules_add(struct rules *r, enum ev_object kind, sim_addr addr);
enum { IDLE_LOCKS = 4096 };       /* kept at the least, see rules_idle */
void rules_idle(struct rules *r); /* a lock has become idle */
static inline bool rules_busy(const struct rules_object *o)
{
    return o->depth || o->sharers || o->waiters;
}

/* Checks that nothing happens in bytes that a move beside the program has taken away: 0 or -1. */
int rules_there(struct rules *r, sim_addr addr, uint64_t bytes);
bool rules_allocated(const struct rules *r, sim_addr addr, uint64_t bytes);
int rules_alloc(struct rules *r);
int rules_clear(struct rules *r);
int rules_copy(struct rules *r);
void rules_touch(struct rules *r, struct interval **set, sim_addr addr, uint64_t bytes);
void rules_heap_free(struct rules *r);

/* ---- rules/notes.c; those without a word on NULL are for who takes notes ----------------------
 */

void rules_note_copy(struct rules *r);         /* before it takes effect; without notes nothing */
void rules_note_moved(struct rules_object *o); /* its image has been taken elsewhere */
void rules_note_end(struct rules *r);
void rules_notes_free(struct rules *r); /* NULL is fine */

#endif
