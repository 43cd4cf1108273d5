/* order_int.h - what the files of the timed order share, and nobody else sees.
 *
 *   order.c         lanes: the events of each thread in the window; peek and take
 *   order/wait.c    what an event needs, and who is woken when it has run
 *   order/sync.c    what each kind of event needs: threads, collections, barriers, transactions
 *   order/object.c  locks, volatiles, classes, atomic locations, found by address
 *   order/memory.c  allocations, clears and copies: what comes after them
 *   order/search.c  and what comes before
 *
 * Every need names an event recorded earlier. So the oldest event of the window is always ready. */
#ifndef LARDSIM_ORDER_INT_H
#define LARDSIM_ORDER_INT_H

#include "base/heap.h"
#include "base/interval.h"
#include "base/map.h"
#include "base/shadow.h"
#include "sim/order/order.h"

enum { CHUNK_RECORDS = 64, BLOOM_WORDS = 16, FEW_NEEDS = 2 };
#define NEVER UINT64_MAX

struct byte_range {
    sim_addr lo, last;
};
static inline bool ranges_meet(const struct byte_range *a, const struct byte_range *b)
{
    return a->lo <= b->last && b->lo <= a->last;
}

struct need {         /* an event that must have run */
    uint64_t ordinal; /* among its thread's events, from 0 */
    uint64_t number;
    sim_tid tid;
    uint8_t why; /* enum wait_reason */
    bool known;  /* false: there is no such event */
};

struct need_list {
    struct need *at; /* owns */
    size_t n, cap;
    size_t tidy; /* with so many, those that say nothing are dropped */
};

struct needs { /* all of them must have run. Of one event, or shared: the arrivals at a barrier */
    struct need_list list;
    size_t met;       /* those before it have run */
    uint32_t waiters; /* the first thread that waits for them + 1, chained by lane.next; 0: none */
    uint32_t users;   /* shared: events and objects that refer to it */
    bool sealed;      /* shared: takes no more */
};

struct extra { /* what an event has that may have to wait, or must be found by its memory */
    struct extra *next;
    uint64_t ordinal;
    struct needs own;
    struct needs *shared;      /* NULL: none */
    struct byte_range *region; /* owns; of a commit: what its transaction has accessed */
    size_t regions, region_cap;
    bool heap, scan; /* a heap event; that has not looked for earlier events yet */
    struct need few[FEW_NEEDS];
};

struct bloom { /* a Bloom filter over the bytes that some events touch, with bounds beside it */
    sim_addr low, high; /* what they touch lies between */
    bool wide;          /* an event touches more than is worth hashing */
    uint32_t words;
    uint64_t *bits; /* borrows; by hashes of addresses */
};

struct chunk { /* consecutive events of a thread, the records of each together */
    struct chunk *next;
    uint64_t first;  /* ordinal of its first event */
    uint64_t serial; /* among its thread's chunks */
    uint32_t n;      /* records */
    uint32_t hashed; /* records that the filter knows */
    struct bloom bloom;
    struct stretch *stretch; /* owns; that begins with it; NULL: none */
    uint64_t bits[BLOOM_WORDS];
    uint64_t number[CHUNK_RECORDS];
    struct event rec[CHUNK_RECORDS];
};

struct clock_mark { /* an own clock entry rose: times up to `left` are behind */
    uint64_t left;
    struct need at;
};

struct lane { /* a thread's events that have been added and not taken */
    struct chunk *head, *tail;
    uint64_t serial;       /* of the next chunk */
    uint64_t added, taken; /* events */
    uint64_t special;      /* ordinal of the first one with an extra; NEVER: none */
    uint64_t wanted;       /* the first one that somebody waits for; NEVER */
    uint32_t at;           /* record of the next one in head */
    bool attention;        /* the next one that is added is not plain */
    bool over;             /* it has ended or was joined */
    bool ended;            /* by an event of the program */
    bool placed;           /* on a kernel thread */
    bool listed;           /* in order.oldest */
    uint64_t number;       /* of the last one added */

    struct extra *first, *last; /* owns */
    struct heap waiters;        /* ordinal to struct needs * */
    struct needs *blocked;      /* what its next event waits for; NULL: not known to wait */
    uint32_t next;              /* in blocked: the next waiter + 1 */
    uint32_t kernel;
    struct need fork;       /* that no event has followed yet */
    struct need_list joins; /* likewise */
    uint64_t collections;   /* that its events have followed */
    struct byte_range *txn; /* owns; accesses of its open transaction */
    size_t txns, txn_cap;
    uint64_t time, left;     /* own clock entry, 0 stands for 1; left behind by dropped marks */
    struct clock_mark *mark; /* owns */
    size_t marks, mark_cap, mark_tidy;
    uint64_t stamp; /* order_tidy: seen, and where it stands */
    size_t slot;
};

struct kernel {       /* a kernel thread */
    struct need last; /* the last event on it, of a thread that has left it */
    sim_tid tid;
    bool on; /* tid is on it */
};

struct order {
    struct lane *lane; /* owns; by thread */
    size_t lanes, lane_cap;
    uint64_t window, pending, peak;
    const struct run_context *context; /* borrows */
    bool closed;
    struct chunk *spare; /* owns */
    struct heap oldest;  /* number, or less, of a lane's next event to the lane */
    sim_tid *woken;      /* owns */
    size_t wokens, woken_cap;
    struct budget budget;
    uint64_t stamp;

    struct need me;         /* the event being added */
    struct need_list found; /* its needs */
    struct needs *shared;

    struct shadow *objects; /* owns; cells are struct object * */
    uint64_t object_count, sweep_at, holds;
    struct kernel *kernel; /* owns */
    size_t kernels;
    struct need collection; /* the latest gc-begin or gc-end */
    uint64_t collections;

    /* The latest pending heap event of each byte: its mark is 1 + its place in fresh_by. */
    struct interval *fresh;    /* owns */
    struct need *fresh_by;     /* owns */
    size_t fresh_n, fresh_cap; /* of fresh_by */
    size_t fresh_tidy;         /* with so many, those that have run are dropped */
    uint32_t *near; /* owns; by line: pending heap events that touch it; NULL: none yet */
    uint64_t wide;  /* pending ones that touch many pages, and are not in `near` */
    uint64_t heaps; /* pending */
};

/* ---- order.c -------------------------------------------------------------------------------- */

struct lane *order_lane(struct order *o, uint64_t tid); /* made when new; moves the others */
/* xgrow, charged */
void *order_grow(struct order *o, void *array, size_t n, size_t *cap, size_t bytes);
void order_drop(struct order *o, void *array, size_t cap, size_t bytes); /* frees it */

/* ---- order/wait.c --------------------------------------------------------------------------- */

static inline bool has_run(const struct order *o, const struct need *n)
{
    return n->ordinal < o->lane[n->tid].taken;
}
/* The last event of a thread so far, if there is one. */
static inline struct need lane_latest(const struct lane *l, sim_tid tid)
{
    return (struct need){
        .ordinal = l->added - 1, .number = l->number, .tid = tid, .known = l->added > 0};
}
void order_list_add(struct order *o, struct need_list *l, const struct need *n);
void order_list_free(struct order *o, struct need_list *l);
/* Adds to what the event being added needs, unless that goes without saying. */
void order_need(struct order *o, const struct need *n, enum wait_reason why);
void order_need_all(struct order *o, struct need_list *l, enum wait_reason why);
void order_need_latest(struct order *o, sim_tid tid,
                       enum wait_reason why);          /* its last event so far */
void order_tidy(struct order *o, struct need_list *l); /* drops what has run or is implied */
bool order_met(const struct order *o, struct needs *w);
void order_wait(struct order *o, struct needs *w, sim_tid tid);
struct needs *order_share(struct order *o);
void order_leave(struct order *o, struct needs *w); /* a user less; NULL is fine */
void order_wake(struct order *o, struct lane *l);   /* who waited for what has run */
void order_heap_push(struct order *o, struct heap *h, uint64_t key, uint64_t value);

/* ---- order/sync.c --------------------------------------------------------------------------- */

/* Finds the events that this one needs, and leaves behind what later ones need of it; returns its
 * extra, or NULL. */
struct extra *order_constrain(struct order *o, const struct event *ev, uint64_t number);
void order_extra_free(struct order *o, struct extra *x);

/* ---- order/object.c ------------------------------------------------------------------------- */

void order_lock(struct order *o, const struct event *ev);
void order_message(struct order *o, enum ev_object kind, sim_addr addr, enum wait_reason why,
                   bool write);
void order_arrive(struct order *o, const struct event *ev);
void order_depart(struct order *o, const struct event *ev);
void order_objects_clear(struct order *o, sim_addr addr, uint64_t bytes);
void order_objects_copy(struct order *o, sim_addr to, sim_addr from, uint64_t bytes);
void order_objects_sweep(struct order *o); /* now and then: drops those that hold up nobody */
void order_objects_free(struct order *o);

/* ---- order/memory.c ------------------------------------------------------------------------- */

enum { EVENT_REGIONS = 2, NEAR_LINE_BITS = 6, NEAR_LINES = 16, NEAR_SLOTS = 1 << 15 };
/* False: no pending heap event touches any of it. Most accesses are far from all of them, and the
 * tree takes some hundred ns. */
static inline uint32_t *order_near_slot(const struct order *o, sim_addr line)
{
    return &o->near[(line * UINT64_C(0x9e3779b97f4a7c15) >> 32) % NEAR_SLOTS];
}
static inline bool order_near(const struct order *o, sim_addr lo, sim_addr last)
{
    const sim_addr first = lo >> NEAR_LINE_BITS, final = last >> NEAR_LINE_BITS;

    if (!o->heaps)
        return false;
    if (o->wide || final - first >= NEAR_LINES)
        return true;
    for (sim_addr line = first; line <= final; line++)
        if (*order_near_slot(o, line))
            return true;
    return false;
}
unsigned order_regions(const struct event *ev, struct byte_range to[EVENT_REGIONS]);
void order_memory_needs(struct order *o,
                        const struct byte_range *r); /* pending heap events that meet r */
void order_memory_change(struct order *o, const struct event *ev);     /* is one itself */
void order_stretch_free(struct order *o, struct chunk *c);             /* order/search.c */
void order_memory_scan(struct order *o, sim_tid tid, struct extra *x); /* fills x->own */
void order_memory_ran(struct order *o, const struct event *ev);        /* a heap event has */
void order_memory_free(struct order *o);

#endif
