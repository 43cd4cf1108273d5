/* order.h - the timed order: a window over the recorded order from which each thread takes its own
 * events, and what every event must wait for (docs/machine.md, "Order and waiting"). It knows
 * nothing of time: it says what may go next, never what should. */
#ifndef LARDSIM_ORDER_H
#define LARDSIM_ORDER_H

#include "base/base.h"
#include "base/budget.h"
#include "base/ensure.h"
#include "base/err.h"
#include "trace/trace.h"

enum wait_reason { /* why a thread's next event can't run yet */
                   WAIT_LOCK,
                   WAIT_BARRIER,
                   WAIT_JOIN,
                   WAIT_FORK,
                   WAIT_VOLATILE,
                   WAIT_CLASS,
                   WAIT_COMMIT,     /* transactions that share a variable */
                   WAIT_MEMORY,     /* a clear, copy or allocation of the same memory */
                   WAIT_COLLECTION, /* the world is stopped */
                   WAIT_KERNEL,     /* another language thread still runs on the kernel thread */
                   WAIT_REASONS
};
extern const char *const wait_reason_text[WAIT_REASONS];

struct order;
/* window: events that have been added and not yet taken, at most (order_full). context: for
 * assertions; may be NULL. */
struct order *order_new(uint64_t window, const struct run_context *context, struct budget *of);
void order_free(struct order *o);

/* Adds the next event of the recorded order (1 or 2 records). Not when full. -1: over the budget.
 */
int order_add(struct order *o, const struct event *ev, uint64_t number, struct err *e);
uint64_t order_room(const struct order *o); /* for so many events */
static inline bool order_full(const struct order *o)
{
    return order_room(o) == 0;
}
void order_close(struct order *o); /* there are no more */

enum order_state {
    ORDER_READY,   /* its next event may run now */
    ORDER_BLOCKED, /* it must wait for another thread's event that has not run */
    ORDER_UNKNOWN, /* none of its events is in the window, and there may be more */
    ORDER_OVER     /* it has ended or was joined, or the trace is closed and holds no more of it */
};
struct order_next {
    enum order_state state;
    const struct event *ev; /* READY, BLOCKED: its next event, valid until it is taken */
    uint64_t number;
    enum wait_reason why; /* BLOCKED */
    sim_tid by;           /* BLOCKED: a thread that must run first */
    uint64_t by_number;   /*   ... up to and including this event */
};
/* Cheap when READY. BLOCKED registers the thread: order_take reports it once it may be asked again.
 */
void order_peek(struct order *o, sim_tid tid, struct order_next *to);
/* The thread's next event, which was READY, has run. Threads that waited for it are in
 * order_woken until the next order_take. True: there are some. */
bool order_take(struct order *o, sim_tid tid);
size_t order_woken(const struct order *o, const sim_tid **tids);

/* Returns the thread whose next event is the oldest that is pending; it is always READY. Not to be
 * called when none is pending. */
sim_tid order_oldest(struct order *o);

uint64_t order_pending(const struct order *o);     /* added and not taken */
const uint64_t *order_peak(const struct order *o); /* most that were pending */
/* When nobody runs anything though the trace is closed: always -1, and *e says what holds: the
 * oldest pending event, which may run (every event waits for earlier ones only, whatever rules the
 * stream breaks), and a thread that waits. */
int order_stuck(struct order *o, const struct names *names, struct err *e);

#endif
