/* used.h - what of a trace's memory some access or synchronisation of it touches, and the trace
 * without the rest. A life of memory begins with an allocation, copies carry it along, a clear ends
 * it. One that is never touched has no history and no lock, so nothing that remains is judged
 * otherwise: not where clears and copies are heeded, nor where neither is. A view that heeds one of
 * them alone keeps histories where something else is by then. Memory that nobody allocated is used
 * once it is touched or copied.
 *
 * Whoever changes what remains counts STRIP_VERSION up (results/programs/programs.h).
 *
 * Two passes: whether a life is used is known at the end. Lives that a copy moves together, as
 * parts of one region, are used together: a copy is kept or left out as a whole. */
#ifndef LARDSIM_USED_H
#define LARDSIM_USED_H

#include "base/interval.h"
#include "trace/trace.h"

struct counted {
    uint64_t had, kept;
};
struct used_memory {
    struct budget *budget; /* borrows; NULL: not accounted */
    /* Is given what is kept, in its order. 0; else the pass fails. */
    int (*keep)(void *arg, const struct event *ev, struct err *e);
    void *arg;
    struct counted allocs, clears, copies;

    /* used.c's own */
    struct interval *lives;   /* owns; which life is where */
    struct interval *touched; /* owns; words that have a history or a lock */
    uint32_t *with;           /* owns; by life: an earlier one that is used if it is, or itself */
    size_t known, cap;        /* entries of with, and room for them */
    uint32_t life;            /* the latest */
    bool *there;              /* owns; threads of which something was kept, or their fork */
};
void used_follow(struct used_memory *u, const struct event *ev); /* the first pass */
void used_again(struct used_memory *u); /* the next event is the first again */
/* The second pass: 0 or -1. */
int used_take(struct used_memory *u, const struct event *ev, struct err *e);
void used_free(struct used_memory *u);

#endif
