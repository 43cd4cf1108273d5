/* why.h - why two accesses race, or why they do not: what of the execution orders them, or what is
 * missing for that (docs/why.md).
 *
 * The trace is read a few times, and never kept. What is kept is bounded by the threads, the
 * synchronisation objects and what lies in memory, plus a window of the trace around each access.
 */
#ifndef LARDSIM_SIM_WHY_H
#define LARDSIM_SIM_WHY_H

#include "base/base.h"
#include "base/budget.h"
#include "base/err.h"
#include "trace/trace.h"

/* The order in which a run executed the events of a recording, from the file of
 * lardsim_keep_executed: executed.c. */
struct executed;
struct executed *executed_open(const char *path, struct err *e); /* NULL: error */
void executed_close(struct executed *x);                         /* NULL is fine */
/* The number of the event that ran at this position, from 0 on; and back. NULL: the recorded order,
 * where positions are numbers. */
uint64_t executed_events(const struct executed *x);
uint64_t executed_event(const struct executed *x, uint64_t position);
bool executed_find(const struct executed *x, uint64_t event, uint64_t *position);

struct why_ask {
    /* The same events each time. */
    struct source *(*open)(void *arg, struct err *e);
    void *arg;
    const char *name; /* of the source, for messages; NULL: its own */
    /* The numbers of these events, which stand in the order in which a run executed them; NULL: in
     * that of the recording. */
    const struct executed *executed;
    const char *view;    /* the names of views, with commas between: as the parameter has it */
    const char *granule; /* "trace", "field", "4": as the parameter has it */
    uint64_t event;      /* of the access, or its commit */
    bool paired;         /* the other one is known, too: */
    uint64_t earlier;    /* its event, or its commit's. It may come after `event`, where a policy
                            notices late: then that is the earlier one */
    bool reported;       /* a policy reports it, be it late: the other side may come after it */
    bool placed;         /* the access is known: */
    sim_addr addr;       /* of a commit's accesses, the one here */
    uint32_t size;
    size_t nth;            /* of a commit's accesses, this one, from 1; 0: the likeliest */
    struct budget *memory; /* is charged for what is kept */
};

/* An event of the trace. Lines are in the order of their positions, and go by their numbers. */
struct why_line {
    uint64_t position; /* among the events as they are read */
    uint64_t number;   /* in the recording */
    uint64_t kernel;   /* 1 + the kernel thread on which its thread runs; 0: not told */
    struct event ev[EVENT_RECORDS];
    struct object_place at; /* what lies at its address, at that time; only where it is asked for */
};

struct why_hold { /* a lock that is held */
    sim_addr addr;
    uint64_t since; /* the number of the event that acquired it */
    uint32_t depth;
    bool shared;
    bool system; /* the runtime system acquired it: that orders nothing, unless the view heeds it */
};

struct why_side {
    struct why_line line; /* the access; its number is that of the event at which it takes effect */
    bool committed;       /* with a transaction: the number is the commit's */
    bool unchecked;       /* outside the view */
    struct why_hold *hold; /* owns; in the order in which they were acquired */
    size_t holds, holds_cap;
};

/* How a thread got to know of another's past: at `from` that thread gave what it knew, at `to` this
 * one took it. */
struct why_edge {
    struct why_line from, to;
    sim_tid from_thread, to_thread;
    uint32_t from_actor;
    bool unknown; /* what `from` is, the events do not say */
};

struct why_reach { /* an actor that knows of the earlier access */
    sim_tid thread;
    struct why_edge edge; /* by which it first did; of the earlier access's own: none */
    struct why_line out;  /* what it gave last since; outs 0: nothing */
    uint64_t outs;
};

struct why_move {         /* a clear, or a copy, of the memory between the two accesses */
    struct why_line line; /* ev is all zero where it lies beyond what is read */
    bool copy, ignored;   /* by the view */
};
enum { WHY_MOVES = 64, WHY_WINDOW = 3 }; /* kept at most; lines on either side of an access */

enum why_verdict {
    WHY_ALONE, /* no earlier access of another thread conflicts */
    WHY_APART, /* the earlier access is of another life of the memory, or conflicts with nothing */
    WHY_OUTSIDE, /* nothing orders them, but the view does not check one of them */
    WHY_IS_ORDERED,
    WHY_RACES
};

struct why {
    enum why_verdict verdict;
    unsigned view, granule;
    struct why_side later, earlier; /* earlier: not where it is ALONE */
    /* The clock of the later access's thread, in the entry of the earlier's actor. */
    uint64_t needed, had;
    struct why_line learned; /* the event by which it had that; */
    bool has_learned;        /* there is one between the two accesses, or before */
    struct why_edge *chain;  /* owns; IS_ORDERED: from the earlier to the later */
    size_t chains;
    struct why_reach *reach; /* owns; the earlier one's own first, then as they came to know */
    size_t reaches;
    struct why_line out; /* the first that the earlier access's thread gives since */
    bool has_out;
    struct why_line in; /* the last that the later one's thread takes before it */
    bool has_in;
    /* An edge from here to the later access would order the two: from the latest event at which a
     * thread that knows of the earlier one gives, or from the earlier access itself. */
    struct why_line missing;
    uint64_t newer; /* the number of a write between the two that takes the earlier's place */
    bool displaced; /* newer is one */
    struct why_move move[WHY_MOVES]; /* the latest of them, as they came */
    size_t moves, moves_in_all;
    struct why_line window[2][2 * WHY_WINDOW + 1]; /* around the earlier, the later */
    size_t windows[2];
    const char *name;      /* of the source */
    size_t accesses;       /* that take effect with the event that is asked about */
    uint64_t passes;       /* how often it was read */
    struct source *source; /* owns; names */
};

/* NULL: error. */
struct why *why_find(const struct why_ask *ask, struct err *e);
void why_free(struct why *w);

/* The answer in a policy's view, and beside it the answer in the view tracked: about the same two
 * accesses, if one of the views finds a race. A policy may name another access than the one that it
 * races with; then it is any that it does race with: both.c. */
struct why_both {
    struct why *why;
    struct why *truth; /* NULL: the view is tracked */
};
int why_find_both(const struct why_ask *ask, struct why_both *to, struct err *e); /* 0 or -1 */

#endif
