/* move.c - MoveHistory: a trace has a copy and then the clear of its source, and only the
 * clear tells that the two are a move. So the copy waits for it; then there is one handler for
 * both.
 *
 * A copy is held back until its thread does anything else that the detector hears of, but in a
 * collection until the collection's end; a MoveHistory is issued by the clear of the very same
 * source (outside of the destination) by the same thread. Whatever touches either region before
 * brings the copy on: nothing is checked, cleared or copied that it should have reached. */
#include "policy/radish/region.h"

#include <assert.h>
#include <stdlib.h>

enum { FEW = 64 };                   /* so many that are over are not worth a sweep */
#define HELD_MAX (UINT64_C(1) << 20) /* bytes; larger ones are copied at once */

struct held_copy {
    struct event ev[2];       /* of the copy */
    struct copy_regions left; /* what has not taken effect */
    bool making;              /* a core is at it, and others may touch what is left */
    bool move;                /* its clear has come */
    bool over;                /* it is freed when nobody can be at it */
};
struct held_node { /* in the list of those that touch a page */
    struct held_copy *of;
    uint64_t next; /* node, plus 1; 0: none */
};

/* ---- which there are ------------------------------------------------------------------------ */

bool move_wants(const struct radish *r, const struct event *ev)
{
    return r->params.move_history && ev->kind == EV_COPY && ev->aux <= HELD_MAX &&
           ev->addr != ev[1].addr && !(r->env->view & VIEW_NO_CLEAR);
}

static void add_pages(struct held_set *s, struct held_copy *h)
{
    for (unsigned side = 0; side < 2; side++) {
        const sim_addr from = h->ev[side].addr, last = from + (h->ev->aux - 1);
        for (uint64_t page = from >> PAGE_BITS; page <= last >> PAGE_BITS; page++) {
            uint64_t *first = map_put(&s->pages, page);
            s->node = xgrow(s->node, s->nodes, &s->nodes_cap, sizeof *s->node);
            s->node[s->nodes++] = (struct held_node){h, *first};
            *first = s->nodes;
        }
    }
}

static void free_at(struct radish *r, size_t i)
{
    free(r->held.at[i]);
    budget_give(r->env->budget, sizeof(struct held_copy));
}

/* Copies that have been made leave the list, and the index of their pages is built anew. */
static void tidy(struct radish *r)
{
    struct held_set *s = &r->held;
    size_t kept = 0;

    map_free(&s->pages);
    map_init(&s->pages, r->env->budget);
    s->nodes = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct held_copy *h = s->at[i];
        if (h->over) {
            free_at(r, i);
            continue;
        }
        add_pages(s, h);
        s->at[kept++] = h;
    }
    s->n = kept;
}

void move_put(struct radish *r, const struct event *ev)
{
    struct held_set *s = &r->held;

    if (!ev->aux)
        return;
    if (!s->busy && s->n >= 2 * s->live + FEW)
        tidy(r);
    s->at = xgrow(s->at, s->n, &s->cap, sizeof(struct held_copy *));
    struct held_copy *h = s->at[s->n++] = xcalloc(1, sizeof *h);
    budget_take(r->env->budget, sizeof *h);
    *h =
        (struct held_copy){.ev = {ev[0], ev[1]}, .left = {event_at(ev), event_at(&ev[1]), ev->aux}};
    add_pages(s, h);
    s->live++;
    r->st.held = s->live;
}

static void is_over(struct radish *r, struct held_copy *h)
{
    assert(!h->left.bytes);
    if (h->over)
        return;
    h->over = true;
    r->st.held = --r->held.live;
}

void move_free(struct radish *r)
{
    for (size_t i = 0; i < r->held.n; i++)
        free_at(r, i);
    map_free(&r->held.pages);
    free(r->held.at);
    free(r->held.node);
}

/* ---- who touches them ----------------------------------------------------------------------- */

static bool meet(sim_addr a, uint64_t a_bytes, sim_addr b, uint64_t b_bytes)
{
    return a - b < b_bytes || b - a < a_bytes;
}

static bool touches(const struct held_copy *h, sim_addr at, uint64_t bytes)
{
    return h->left.bytes && (meet(h->left.to.at, h->left.bytes, at, bytes) ||
                             meet(h->left.from.at, h->left.bytes, at, bytes));
}

/* A held copy that something in [at, at + bytes) touches; NULL: none. */
static struct held_copy *touched(const struct radish *r, sim_addr at, uint64_t bytes,
                                 const struct held_copy *except)
{
    const struct held_set *s = &r->held;
    const uint64_t first = at >> PAGE_BITS, last = (at + (bytes - 1)) >> PAGE_BITS;

    if (last - first > s->n) {
        for (size_t i = 0; i < s->n; i++)
            if (s->at[i] != except && touches(s->at[i], at, bytes))
                return s->at[i];
        return NULL;
    }
    for (uint64_t page = first; page <= last; page++) {
        const uint64_t *node = map_find(&s->pages, page);
        for (uint64_t i = node ? *node : 0; i; i = s->node[i - 1].next)
            if (s->node[i - 1].of != except && touches(s->node[i - 1].of, at, bytes))
                return s->node[i - 1].of;
    }
    return NULL;
}

static bool is_clear_of(const struct held_copy *h, const struct event *ev)
{
    const sim_addr to = h->ev->addr, from = h->ev[1].addr;
    const uint64_t bytes = h->ev->aux, apart = to > from ? to - from : from - to;
    const uint64_t left = apart < bytes ? apart : bytes;

    return !h->making && !h->over && ev->tid == h->ev->tid && ev->aux == left &&
           ev->addr == (to > from ? from : from + (bytes - left));
}

struct held_copy *move_match(const struct radish *r, const struct event *ev)
{
    const struct held_set *s = &r->held;
    const uint64_t *node = s->live && ev->kind == EV_CLEAR && ev->aux
                               ? map_find(&s->pages, ev->addr >> PAGE_BITS)
                               : NULL;

    for (uint64_t i = node ? *node : 0; i; i = s->node[i - 1].next)
        if (is_clear_of(s->node[i - 1].of, ev))
            return s->node[i - 1].of;
    return NULL;
}

/* ---- making them ---------------------------------------------------------------------------- */

/* Makes a copy that was held back. This takes time, in which another core may touch a part that is
 * left, and make that part. */
static sim_cycle copy_make(struct radish *r, struct held_copy *h, unsigned core, sim_cycle now)
{
    r->held.busy++;
    h->making = true;
    if (r->runtime)
        now = runtime_issue(r->runtime, h->ev, core, h->move, now);
    now = region_copy_parts(r, &h->left, core, h->move, now);
    is_over(r, h);
    r->held.busy--;
    return now;
}

sim_cycle move_make(struct radish *r, struct held_copy *h, unsigned core, sim_cycle now)
{
    h->move = true;
    r->st.moved_histories++;
    return copy_make(r, h, core, now);
}

/* The event's own regions, whatever its thread. */
static struct held_copy *next_touched(const struct radish *r, const struct event *ev,
                                      const struct held_copy *except)
{
    if ((ev->kind != EV_CLEAR && ev->kind != EV_COPY) || !ev->aux)
        return NULL;
    struct held_copy *h = touched(r, ev->addr, ev->aux, except);
    return h || ev->kind == EV_CLEAR ? h : touched(r, ev[1].addr, ev->aux, except);
}

/* The next held copy whose time is over: of its thread outside of collections, of all with a
 * collection's end. */
static struct held_copy *next_due(const struct radish *r, const struct event *ev,
                                  const struct held_copy *except)
{
    const struct held_set *s = &r->held;

    if (r->collections && ev->kind != EV_GC_END)
        return NULL;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i]->left.bytes && s->at[i] != except &&
            (ev->kind == EV_GC_END || s->at[i]->ev->tid == ev->tid))
            return s->at[i];
    return NULL;
}

sim_cycle move_before(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    const struct held_copy *except = move_match(r, ev);
    struct held_copy *h;

    while ((h = next_touched(r, ev, except)) || (h = next_due(r, ev, except)))
        now = copy_make(r, h, core, now);
    return now;
}

/* The access goes on at once, and its core pays for the copy as one handler. */
static void make_at_once(struct radish *r, struct held_copy *h, unsigned core, sim_cycle now)
{
    struct held_set *s = &r->held;

    if (!s->open[core])
        swm_enter(r->manager, core, SWM_COPY, now);
    s->open[core] = true;
    s->due[core].core = core;
    region_copy_at_once(r, &h->left, h->move, &s->due[core]);
    is_over(r, h);
}

bool move_touched(struct radish *r, const struct event *ev, unsigned core, sim_cycle *drained,
                  sim_cycle now)
{
    bool some = false;

    for (struct held_copy *h; ev->size && (h = touched(r, ev->addr, ev->size, NULL)); some = true)
        make_at_once(r, h, core, now);
    if (some)
        *drained = latest(*drained, r->held.due[core].until);
    return some;
}

sim_cycle move_paid(struct radish *r, unsigned core, sim_cycle now)
{
    struct held_set *s = &r->held;

    if (LIKELY(!s->open[core]))
        return now;
    s->due[core] = (struct visit){0};
    s->open[core] = false;
    now = swm_enter_late(r->manager, core, now);
    now = ledger_pay_account(&r->ledger, ledger_account(OF_COPIES, core), core, now);
    return swm_leave(r->manager, core, now);
}
