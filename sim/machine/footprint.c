/* footprint.c - who has touched a line: threads below FOOTPRINT_BITS as bits of the line's word.
 * The lines of others are in a set of each thread's own, as bits, 64 lines a word. What all this
 * takes is charged against limits.memory. */
#include "sim/machine/footprint.h"

#include <stdlib.h>
#include <string.h>

struct thread_lines {
    struct map lines; /* of a thread from FOOTPRINT_BITS on: 64 of them, a bit each */
    uint64_t n;       /* all that it has touched */
};

const uint64_t footprint_nobody[PAGES_LINES];

/* ---- life ----------------------------------------------------------------------------------- */

static void touched_free(struct touched_lines *t)
{
    for (size_t i = 0; i < t->threads; i++)
        map_free(&t->thread[i].lines);
    free(t->thread);
    shadow_free(t->by);
}

static void declare_stats(struct footprint *f, struct stats_group *g)
{
    stats_distinct(g, "lines", "lines", "Distinct lines that the program's threads touched.",
                   &f->run.lines, &f->region.lines);
    stats_distinct(g, "shared", "lines", "Of these: lines that two threads or more touched.",
                   &f->run.in_two, &f->region.in_two);
    stats_histogram_distinct(g, "by-thread", "lines",
                             "Distinct lines that a thread touched, over the threads that touched "
                             "any.",
                             &f->run.by_thread, &f->region.by_thread);
    stats_late(g, "by-thread", STATS_SETTLED);
    stats_level(g, "peak-live", "bytes",
                "The most bytes at a time, in recorded order, that were allocated or copied to and "
                "not cleared; 0: the trace does not tell of allocations.",
                &f->peak);
}

void footprint_init(struct footprint *f, unsigned line, struct stats_group *g)
{
    f->line_shift = (unsigned)__builtin_ctz(line);
    f->run.by = shadow_new(1, sizeof(uint64_t), &f->budget);
    f->region.by = shadow_new(1, sizeof(uint64_t), &f->budget);
    declare_stats(f, g);
}

void footprint_free(struct footprint *f)
{
    touched_free(&f->run);
    touched_free(&f->region);
    interval_free(&f->budget, &f->allocated);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static struct thread_lines *lines_of(struct footprint *f, struct touched_lines *t, sim_tid tid)
{
    if (tid >= t->threads) {
        const size_t more = tid + 1 - t->threads;
        t->thread = xrealloc(t->thread, tid + 1, sizeof *t->thread);
        memset(t->thread + t->threads, 0, more * sizeof *t->thread);
        for (size_t i = t->threads; i <= tid; i++)
            map_init(&t->thread[i].lines, &f->budget);
        budget_take(&f->budget, more * sizeof *t->thread);
        t->threads = tid + 1;
    }
    return &t->thread[tid];
}

/* False: it was there. */
static bool add_line(struct map *m, uint64_t line)
{
    uint64_t *bits = map_put(m, line / 64);
    const uint64_t bit = UINT64_C(1) << line % 64;
    const bool is_new = !(*bits & bit);

    *bits |= bit;
    return is_new;
}

/* The line's word. */
static uint64_t *add_touch(struct footprint *f, struct touched_lines *t, sim_tid tid, uint64_t line)
{
    struct thread_lines *own = lines_of(f, t, tid);
    uint64_t *by = shadow_get(t->by, line);
    uint64_t bit = UINT64_C(1) << tid % FOOTPRINT_BITS;

    if (tid >= FOOTPRINT_BITS)
        bit = *by & FOOTPRINT_OTHER ? FOOTPRINT_OTHERS : FOOTPRINT_OTHER;
    if (tid >= FOOTPRINT_BITS ? !add_line(&own->lines, line) : (*by & bit) != 0)
        return by;
    t->lines += !*by;
    t->in_two += *by && !(*by & (*by - 1)); /* of one thread, until now */
    *by |= bit;
    own->n++;
    return by;
}

/* In a region of interest a line is known when it has been counted for the region as well. A
 * stretch does not cross a page of the shadow: its words lie side by side. */
NO_INLINE void footprint_touch_new(struct footprint *f, sim_tid tid, struct pages_near *at,
                                   size_t line)
{
    const uint64_t physical = (at->base.at >> f->line_shift) + line;
    const uint64_t *by = add_touch(f, &f->run, tid, physical);

    if (f->inside)
        by = add_touch(f, &f->region, tid, physical);
    at->lines = by - line;
}

void footprint_region(struct footprint *f, struct pages *pages, bool begins)
{
    f->inside = begins;
    pages_forget_lines(pages);
}

static void settle(struct touched_lines *t)
{
    t->by_thread = (struct histogram){.count = 0};
    for (size_t i = 0; i < t->threads; i++)
        if (t->thread[i].n)
            histogram_add(&t->by_thread, t->thread[i].n);
}

void footprint_settle(struct footprint *f)
{
    settle(&f->run);
    settle(&f->region);
}

/* ---- live bytes ----------------------------------------------------------------------------- */

/* A copy's destination lives from then on, and its source until it is cleared. */
void footprint_heap(struct footprint *f, const struct event *ev)
{
    const uint64_t lo = ev->addr, last = ev->addr + (ev->aux - 1);

    f->allocates |= ev->kind == EV_ALLOC;
    if (!f->allocates)
        return;
    f->live -= interval_bytes(f->allocated, lo, last);
    if (ev->kind == EV_CLEAR) {
        interval_remove(&f->budget, &f->allocated, lo, last);
        return;
    }
    f->live += last - lo + 1;
    interval_add(&f->budget, &f->allocated, lo, last);
    f->peak = u64_max(f->peak, f->live);
}
