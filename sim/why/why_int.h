/* why_int.h - what the parts of sim/why share: a reading of the trace with happens-before, and who
 * gets to know of one access. */
#ifndef LARDSIM_WHY_INT_H
#define LARDSIM_WHY_INT_H

#include "base/param.h"
#include "base/stats.h"
#include "policy/checker.h"
#include "sim/lardsim.h"
#include "sim/sim.h"

/* One answer; NULL: error. */
struct lardsim_why *why_find(const struct lardsim_why_ask *ask, struct err *e);
void why_free(struct lardsim_why *w);
/* The position of an event; x NULL: the recorded order, where positions are numbers. */
bool executed_find(const struct lardsim_executed *x, uint64_t event, uint64_t *position);

/* ---- a reading of the trace: read.c --------------------------------------------------------- */

struct open_txn { /* the accesses of an open transaction */
    struct event *access;
    size_t n, cap;
};

struct walk {
    const struct lardsim_why_ask *ask;
    struct lardsim_source *from; /* owns; NULL: somebody has taken it over */
    struct source *source;       /* the same */
    struct checker *hb;          /* owns; happens-before in the view; NULL: not asked for */
    struct rules *rules;         /* owns; NULL: they were applied before */
    struct config *config;       /* own */
    struct stats *stats;
    struct err *err;
    uint64_t position, number; /* of the event in hand; in the recording */
    unsigned granule;
    uint64_t *time; /* by actor: its own time, after the latest event; 0: 1 */
    size_t times;
    bool *acted; /* by thread */
    size_t threads;
    uint64_t *kernel; /* by thread: as why_line's */
    size_t kernels;
    struct open_txn *txn; /* by thread; own */
    size_t txns;
    /* About the event in hand, when it is done: */
    uint32_t actor;             /* who did it */
    uint64_t before;            /* the actor's own time before it */
    bool first;                 /* it is its thread's first */
    bool gave;                  /* the actor gave its clock to something */
    bool other_gave;            /* so did the thread that it joins, which never ended */
    uint32_t other;             /* that one's actor */
    const struct event *effect; /* the accesses that take effect with it */
    size_t effects;
};
enum reading_way { READ_PLAIN, READ_CHECKED, READ_CLOCKS }; /* CHECKED: by the stream rules */
int reading_open(struct walk *r, const struct lardsim_why_ask *ask, enum reading_way way,
                 struct err *e);
void reading_close(struct walk *r);
struct lardsim_why_line reading_line(const struct walk *r,
                                     const struct event *ev); /* the event in hand */
const char *reading_name(const struct walk *r);               /* of its source, for messages */
/* Calls fn for each event until it returns false. 0 or -1. */
typedef bool reading_fn(void *arg, struct walk *r, const struct event *ev);
int reading_each(struct walk *r, reading_fn *fn, void *arg);

/* ---- memory --------------------------------------------------------------------------------- */

struct bytes_at {
    sim_addr first, last;
};
/* The locations of an access; of a granule `field` its address alone. */
struct bytes_at region_of(const struct event *access, unsigned granule);
static inline bool regions_meet(struct bytes_at a, struct bytes_at b)
{
    return a.first <= b.last && b.first <= a.last;
}

/* The locations of an access: one region, until a part of it is cleared or comes from elsewhere.
 * Parts beyond the last are left out. */
enum { PIECES = 16 };
struct pieces {
    struct bytes_at at[PIECES];
    size_t n;
};
bool pieces_meet(const struct pieces *p, struct bytes_at with);
void pieces_without(struct pieces *p, struct bytes_at part);
/* Adds what of p lies in `of`, moved by `shift`. */
void pieces_part(const struct pieces *p, struct bytes_at of, sim_addr shift, struct pieces *to);
bool accesses_conflict(const struct event *a, const struct event *b);

/* ---- the other side that comes later: late.c ------------------------------------------------- */

/* The first access that races with the one that is asked about, which came before it. *number: of
 * its event. -1: error. */
int find_late(const struct lardsim_why_ask *ask, bool *found, uint64_t *number, struct err *e);

/* How well one of the accesses that take effect with an event fits the place that is asked about:
 * that may be of a granule alone, of the other side, or where the memory has moved to since. Of
 * several a write fits, which conflicts with all that a read there does. */
unsigned likeness(const struct lardsim_why_ask *ask, unsigned granule, unsigned view,
                  const struct event *access);

/* ---- who gets to know of an access: flow.c -------------------------------------------------- */

enum flow_space {
    FLOW_LOCK,        /* given by exclusive releases */
    FLOW_LOCK_SHARED, /* by shared ones */
    FLOW_VOLATILE,
    FLOW_BARRIER,
    FLOW_CLASS,
    FLOW_ATOMIC,
    FLOW_COMMIT,
    FLOW_BIRTH, /* addr: the thread */
    FLOW_FINAL,
    FLOW_GONE /* it was ended by a store of C11 */
};
struct flow_key {
    enum flow_space space;
    uint64_t addr, round;
};
struct flow_object { /* one that has the clock of somebody who knows */
    struct flow_key key;
    struct lardsim_why_line from; /* the first that gave it */
    sim_tid thread;
    uint32_t actor;
};
struct flow_actor {
    bool knows;
    size_t reach;                 /* index of its reach */
    struct lardsim_why_line last; /* its latest event */
};
struct flow {
    struct budget *budget;
    uint32_t origin; /* the actor of the access */
    uint64_t needed; /* its own time then */
    struct lardsim_why_line access;
    struct flow_actor *actor;
    size_t actors;
    struct flow_object *object;
    size_t objects, objects_cap;
    struct map index; /* a hash of the key, to 1 + its object */
    struct map pages; /* of memory in which some of them lie */
    struct lardsim_why_reach *reach;
    size_t reaches, reaches_cap;
};
/* The access is the event in hand. */
void flow_begin(struct flow *f, const struct walk *r, const struct event *ev,
                struct budget *budget);
/* After each event, that of the access, too. */
void flow_step(struct flow *f, const struct walk *r, const struct event *ev);
void flow_free(struct flow *f);
bool flow_knows(const struct flow *f, uint32_t actor);

#endif
