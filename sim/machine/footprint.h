/* footprint.h - what memory the program touches: distinct lines, by thread and in all, and the
 * bytes that are allocated and not cleared (docs/machine.md, "Footprint").
 *
 * A line counts for a thread when an access of the thread's own events comes to it, whatever the
 * caches say of it: nothing is inferred from hits and misses, so it does not matter that threads
 * migrate, share a core, or that a policy has brought the line. All accesses of events come through
 * footprint_touch, and accesses of policies never do. Most are known from a table of the latest. */
#ifndef LARDSIM_FOOTPRINT_H
#define LARDSIM_FOOTPRINT_H

#include "base/base.h"
#include "base/stats.h"
#include "trace/trace.h"

struct touched_lines {           /* of the whole run, or in regions of interest alone */
    struct shadow *first;        /* owns; of each line the thread that touched it first */
    struct thread_lines *thread; /* owns; by id */
    size_t threads;
    uint64_t lines, in_two;     /* touched by any thread, by two or more */
    struct histogram by_thread; /* as last settled */
};

/* Touches that are counted already: the latest, by line and thread. */
enum { FOOTPRINT_KNOWN = 16384 };
struct known_lines {
    uint64_t at[FOOTPRINT_KNOWN];
};

struct footprint {
    unsigned line_shift;
    bool inside;                                    /* a region of interest */
    struct known_lines *known;                      /* of the two the one that holds now */
    struct known_lines outside_known, inside_known; /* the latter: for the region as well */
    struct touched_lines run, region;
    struct interval *allocated; /* owns */
    bool allocates;             /* the trace says what is allocated */
    uint64_t live, peak;        /* bytes */
    struct budget budget;
};

void footprint_init(struct footprint *f, unsigned line, struct stats_group *g);
void footprint_free(struct footprint *f);
void footprint_region(struct footprint *f, bool begins); /* of interest */
void footprint_settle(struct footprint *f);              /* the histograms are brought up to date */
/* In recorded order: an allocation, clear or copy. */
void footprint_heap(struct footprint *f, const struct event *ev);

/* The slot of a touch in known, and the touch itself: threads are below 65,536. */
static inline size_t footprint_slot(sim_tid tid, uint64_t line)
{
    return (size_t)(line ^ (uint64_t)tid << 10) % FOOTPRINT_KNOWN;
}
static inline uint64_t footprint_key(sim_tid tid, uint64_t line)
{
    return line << 16 | tid;
}
void footprint_touch_new(struct footprint *f, sim_tid tid, uint64_t line);
/* An access of the thread's to this line of physical memory. */
static inline void footprint_touch(struct footprint *f, sim_tid tid, sim_addr physical)
{
    const uint64_t line = physical >> f->line_shift;

    if (UNLIKELY(f->known->at[footprint_slot(tid, line)] != footprint_key(tid, line)))
        footprint_touch_new(f, tid, line);
}

#endif
