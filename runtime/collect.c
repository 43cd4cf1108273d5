/* collect.c - what the runtime's clocks cost the collector and the allocator (LARD 4.3.2, 4.3.3): a
 * word in each object's header, clocks that are traced, and moved where the collector moves, and a
 * sweep that has to visit each dead object to say that its history ends. */
#include <stdlib.h>

#include "runtime/runtime_int.h"

enum { HEADER = 8 }; /* bytes that are loaded of an object's, or a clock's */

static bool does(const struct runtime *r, unsigned part)
{
    return !(r->params.without & part);
}

/* ---- clocks --------------------------------------------------------------------------------- */

struct live_clocks {     /* the clocks that there are */
    struct rt_clock *at; /* owns; without their contents */
    size_t n, cap;
};

static void add_clock(struct live_clocks *f, const struct rt_clock *c)
{
    if (!c->at.at)
        return;
    f->at = xgrow(f->at, f->n, &f->cap, sizeof *f->at);
    f->at[f->n++] = (struct rt_clock){.at = c->at, .v.n = c->v.n};
}

static bool add_chain(void *arg, sim_addr addr, void *cell)
{
    (void)addr;
    for (const struct sync_object *s = *(struct sync_object **)cell; s; s = s->next) {
        const struct rt_object *o = (const struct rt_object *)s;
        add_clock(arg, &o->write);
        add_clock(arg, &o->read);
    }
    return false;
}

static int by_address(const void *a, const void *b)
{
    const sim_addr x = ((const struct rt_clock *)a)->at.at, y = ((const struct rt_clock *)b)->at.at;

    return x < y ? -1 : x > y;
}

/* Returns the live clocks in order of their addresses, so that results do not depend on the host's
 * tables. */
static struct live_clocks find_clocks(struct runtime *r)
{
    struct live_clocks f = {NULL, 0, 0};

    for (size_t i = 0; i < r->actors; i++)
        add_clock(&f, &r->actor[i]);
    for (size_t i = 0; i < r->threads; i++) {
        add_clock(&f, &r->thread[i].birth);
        add_clock(&f, &r->thread[i].final);
    }
    shadow_all(r->objects.cells, add_chain, &f);
    if (f.n)
        qsort(f.at, f.n, sizeof *f.at, by_address);
    return f;
}

/* The mark is set; a collector that moves copies the clock, a line at a time. */
static void trace_clock(struct rt_walk *w, const struct rt_clock *c)
{
    rt_access(w, c->at, HEADER, MEM_LOAD);
    rt_step(w, RT_STEP_TRACE, 1);
    rt_access(w, c->at, HEADER, MEM_STORE);
    for (uint32_t first = 0; w->r->moving && first < c->v.n; first += RT_LINE_ENTRIES) {
        rt_line(w, c->at, c->v.n, first, MEM_LOAD);
        rt_step(w, RT_STEP_COPY_LINE, 1);
        rt_line(w, c->at, c->v.n, first, MEM_STORE);
    }
}

/* Adds up the accesses that trace_clock would make for each clock, and makes none of them: clocks
 * may be many, and a collection soon again. */
static void count_clocks(struct rt_walk *w)
{
    const uint64_t n = w->r->st.live;
    const struct rt_sums none = {0, 0}, *copied = w->r->moving ? &w->r->sums : &none;
    const uint64_t bytes = n * HEADER + copied->entries * RT_ENTRY;

    rt_step(w, RT_STEP_TRACE, n);
    rt_step(w, RT_STEP_COPY_LINE, copied->lines);
    rt_accesses(w, n + copied->lines, bytes, MEM_LOAD);
    rt_accesses(w, n + copied->lines, bytes, MEM_STORE);
}

static void trace_clocks(struct rt_walk *w)
{
    if (!w->r->env.mem) {
        count_clocks(w);
        return;
    }
    struct live_clocks f = find_clocks(w->r);

    w->r->looked_at += f.n;
    for (size_t i = 0; i < f.n; i++)
        trace_clock(w, &f.at[i]);
    free(f.at);
}

/* ---- objects -------------------------------------------------------------------------------- */

/* A moved object's clock word is one more reference to look at. */
static void moved_object(struct rt_walk *w, const struct event *ev)
{
    w->r->moving = true;
    if (!does(w->r, RT_HEADER))
        return;
    rt_access(w, rt_object_word(w->r, ev->addr), HEADER, MEM_LOAD);
    rt_step(w, RT_STEP_SCAN, 1);
}

void rt_lower_memory(struct rt_walk *w, const struct event *ev)
{
    struct runtime *r = w->r;
    const bool collector = ev->flags & EVF_SYSTEM;

    if (ev->kind == EV_GC_BEGIN)
        r->moving = false;
    if (ev->kind == EV_ALLOC && does(r, RT_HEADER)) /* its clock word is zeroed with the rest */
        rt_access(w, rt_object_word(r, ev->addr), HEADER, MEM_STORE);
    if (ev->kind == EV_COPY && collector)
        moved_object(w, ev);
    if (ev->kind == EV_CLEAR && collector && does(r, RT_SWEEP)) {
        rt_access(w, rt_physical(r, ev->addr), HEADER, MEM_LOAD);
        rt_step(w, RT_STEP_SWEEP, 1);
    }
    if (ev->kind == EV_GC_END && does(r, RT_TRACE))
        trace_clocks(w);
}
