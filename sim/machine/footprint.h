/* footprint.h - what memory the program touches: distinct lines, by thread and in all, and the
 * bytes that are allocated and not cleared (docs/machine.md, "Footprint").
 *
 * A line counts for a thread when an access of the thread's own events comes to it, whatever the
 * caches say of it: nothing is inferred from hits and misses, so it does not matter that threads
 * migrate, share a core, or that a policy has brought the line. All accesses of events come through
 * footprint_touch, and accesses of policies never do. Who has touched a line is in a word that is
 * found with the address in physical memory, so most touches are known after a look at a bit. */
#ifndef LARDSIM_FOOTPRINT_H
#define LARDSIM_FOOTPRINT_H

#include "base/base.h"
#include "base/budget.h"
#include "base/interval.h"
#include "base/shadow.h"
#include "base/stats.h"
#include "memory/pages.h"
#include "trace/trace.h"

struct touched_lines {           /* of the whole run, or in regions of interest alone */
    struct shadow *by;           /* owns; of each line who touched it: a word, see below */
    struct thread_lines *thread; /* owns; by id */
    size_t threads;
    uint64_t lines, in_two;     /* touched by any thread, by two or more */
    struct histogram by_thread; /* as last settled */
};

/* A line's word: a bit each for threads below FOOTPRINT_BITS, and what is left for all others. */
enum { FOOTPRINT_BITS = 62 };
#define FOOTPRINT_OTHER  (UINT64_C(1) << 62)
#define FOOTPRINT_OTHERS (UINT64_C(1) << 63) /* two at least */

struct footprint {
    unsigned line_shift;
    bool inside; /* a region of interest */
    struct touched_lines run, region;
    struct interval *allocated; /* owns */
    bool allocates;             /* the trace says what is allocated */
    uint64_t live, peak;        /* bytes */
    struct budget budget;
};

extern const uint64_t footprint_nobody[PAGES_LINES]; /* words of lines that are not known */
void footprint_init(struct footprint *f, unsigned line, struct stats_group *g);
void footprint_free(struct footprint *f);
void footprint_region(struct footprint *f, struct pages *pages, bool begins); /* of interest */
void footprint_settle(struct footprint *f); /* the histograms are brought up to date */
/* Follows an allocation, clear or copy. To be called in recorded order. */
void footprint_heap(struct footprint *f, const struct event *ev);

void footprint_touch_new(struct footprint *f, sim_tid tid, struct pages_near *at, size_t line);
/* An access of the thread's to this byte of a stretch. */
static inline void footprint_touch(struct footprint *f, sim_tid tid, struct pages_near *at,
                                   uint64_t within)
{
    const size_t line = (size_t)(within >> f->line_shift);

    if (UNLIKELY(tid >= FOOTPRINT_BITS || !(at->lines[line] >> tid & 1)))
        footprint_touch_new(f, tid, at, line);
}

#endif
