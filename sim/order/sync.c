/* sync.c - what each event must wait for, found when it is added: all that was recorded
 * before it has been seen then, and nothing that comes later. Program and system events count
 * alike. */
#include "sim/order/order_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a thread's next event has to look at ---------------------------------------------- */

static struct kernel *kernel_at(struct order *o, uint64_t number)
{
    assert(number < MAX_THREADS);
    o->kernel = budget_reach(&o->budget, o->kernel, &o->kernels, number, sizeof *o->kernel);
    return &o->kernel[number];
}

/* The event is the next one on the kernel thread. */
static void follow_kernel(struct order *o, const struct kernel *k)
{
    if (k->on)
        order_need_latest(o, k->tid, WAIT_KERNEL);
    else
        order_need(o, &k->last, WAIT_KERNEL);
}

/* A kernel thread carries one language thread at a time: one that acts on it follows all that the
 * one before did there. */
static void enter_kernel(struct order *o, sim_tid tid, uint32_t number)
{
    struct kernel *k = kernel_at(o, number);

    if (k->on && k->tid == tid)
        return;
    follow_kernel(o, k);
    if (k->on)
        o->lane[k->tid].attention = true; /* should it act without another `thread` */
    k->on = true;
    k->tid = tid;
}

static void place(struct order *o, const struct event *ev)
{
    struct lane *l = &o->lane[ev->tid];

    if (l->placed && l->kernel != ev->aux && o->kernel[l->kernel].on &&
        o->kernel[l->kernel].tid == ev->tid) {
        o->kernel[l->kernel].on = false;
        o->kernel[l->kernel].last = lane_latest(l, ev->tid);
    }
    l->placed = true;
    l->kernel = (uint32_t)ev->aux;
}

static void attend(struct order *o, const struct event *ev)
{
    struct lane *l = &o->lane[ev->tid];

    l->attention = l->over = false;
    order_need(o, &l->fork, WAIT_FORK);
    l->fork.known = false;
    order_need_all(o, &l->joins, WAIT_JOIN);
    l->joins.n = 0;
    if (l->collections != o->collections)
        order_need(o, &o->collection, WAIT_COLLECTION);
    l->collections = o->collections;
    if (l->placed && ev->kind != EV_THREAD)
        enter_kernel(o, ev->tid, l->kernel);
}

/* ---- threads -------------------------------------------------------------------------------- */

static void fork_thread(struct order *o, const struct event *ev)
{
    struct lane *child = order_lane(o, ev->aux);

    child->fork = o->me;
    child->attention = true;
}

/* A thread whose end was never seen is joined through its kernel thread in the view no-thread: the
 * view takes that one's clock, which has all that has run there by now, and nothing that comes
 * later. */
static void join_kernel(struct order *o, const struct lane *child)
{
    struct kernel *k = kernel_at(o, child->kernel);

    follow_kernel(o, k);
    if (k->on)
        o->lane[k->tid].attention = true;
    k->on = false;
    k->last = o->me;
}

static void join_thread(struct order *o, const struct event *ev)
{
    struct lane *child = order_lane(o, ev->aux);

    if (ev->aux == ev->tid)
        return;
    order_need_latest(o, (sim_tid)ev->aux, WAIT_JOIN);
    order_need(o, &child->fork, WAIT_FORK);
    if (child->placed && !child->ended)
        join_kernel(o, child);
    order_list_add(o, &child->joins, &o->me);
    child->attention = child->over = true;
}

static void end_thread(struct order *o, const struct event *ev)
{
    struct lane *l = &o->lane[ev->tid];

    l->attention = l->over = true;
    l->ended = l->ended || !(ev->flags & EVF_SYSTEM);
}

static void collect(struct order *o)
{
    for (size_t i = 0; i < o->lanes; i++) {
        order_need_latest(o, (sim_tid)i, WAIT_COLLECTION);
        o->lane[i].attention = true;
    }
    o->collection = o->me;
    o->lane[o->me.tid].collections = ++o->collections;
}

/* ---- raw clocks ----------------------------------------------------------------------------- */

/* The thread's own time rises: its earlier times are behind it when this event has run. */
static void raise_clock(struct order *o, struct lane *l, uint64_t time)
{
    const uint64_t now = l->time ? l->time : 1;
    size_t gone = 0;

    if (time <= now)
        return;
    l->time = time;
    if (l->marks == l->mark_tidy) {
        while (gone < l->marks && has_run(o, &l->mark[gone].at))
            l->left = l->mark[gone++].left;
        l->marks -= gone;
        if (gone)
            memmove(l->mark, l->mark + gone, l->marks * sizeof *l->mark);
        l->mark_tidy = l->marks < 8 ? 16 : 2 * l->marks;
    }
    l->mark = order_grow(o, l->mark, l->marks, &l->mark_cap, sizeof *l->mark);
    l->mark[l->marks++] = (struct clock_mark){time - 1, o->me};
}

/* The events of the other thread up to that time of its own happened before this one. */
static void follow_clock(struct order *o, sim_tid tid, uint64_t time)
{
    const struct lane *l = order_lane(o, tid);
    size_t low = 0, high = l->marks;

    if (time <= l->left)
        return;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->mark[middle].left < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < l->marks)
        order_need(o, &l->mark[low].at, WAIT_LOCK);
    else
        order_need_latest(o, tid, WAIT_LOCK);
}

static void write_clock(struct order *o, const struct event *ev)
{
    if (ev->aux == ev->tid)
        raise_clock(o, &o->lane[ev->tid], ev->addr);
    else
        follow_clock(o, (sim_tid)ev->aux, ev->addr);
}

/* ---- transactions --------------------------------------------------------------------------- */

static void remember_access(struct order *o, const struct event *ev)
{
    struct lane *l = &o->lane[ev->tid];

    l->txn = order_grow(o, l->txn, l->txns, &l->txn_cap, sizeof *l->txn);
    l->txn[l->txns++] = (struct byte_range){ev->addr, ev->addr + (ev->size - 1)};
}

/* A variable is at most a granule of 8 bytes, whatever the run's granularity. */
static void commit(struct order *o, const struct lane *l)
{
    for (size_t i = 0; i < l->txns; i++) {
        for (uint64_t g = l->txn[i].lo / 8; g <= l->txn[i].last / 8; g++)
            order_message(o, OBJECT_COMMIT, g * 8, WAIT_COMMIT, true);
        order_memory_needs(o, &l->txn[i]);
    }
}

static void atomic_access(struct order *o, const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];
    const bool takes = info->takes && order_takes(event_order(ev));
    const bool gives = info->gives && order_gives(event_order(ev));

    const bool ends = event_ends_sequences(ev);

    if (takes || gives || ends)
        order_message(o, OBJECT_ATOMIC, ev->addr, WAIT_VOLATILE, gives || ends);
}

/* ---- the event ------------------------------------------------------------------------------ */

static void change_memory(struct order *o, const struct event *ev)
{
    order_memory_change(o, ev);
    if (ev->kind == EV_CLEAR)
        order_objects_clear(o, ev->addr, ev->aux);
    else if (ev->kind == EV_COPY)
        order_objects_copy(o, ev->addr, ev[1].addr, ev->aux);
}

/* The edges of event.def, and what else keeps its recorded order (docs/machine.md). Kinds at the
 * end order nothing beyond their own thread. */
static void apply(struct order *o, const struct event *ev)
{
    switch ((enum ev_kind)ev->kind) {
    case EV_READ:
    case EV_WRITE:
    case EV_RMW:
        if (ev->flags & EVF_IN_TXN)
            remember_access(o, ev);
        else if (event_order(ev) != ORDER_NONE)
            atomic_access(o, ev);
        break;
    case EV_ACQUIRE:
    case EV_RELEASE:
    case EV_ACQUIRE_SHARED:
    case EV_RELEASE_SHARED:
    case EV_WAIT_ENTER:
    case EV_WAIT_EXIT:
        order_lock(o, ev);
        break;
    case EV_VOLATILE_READ:
    case EV_VOLATILE_WRITE:
        order_message(o, OBJECT_VOLATILE, ev->addr, WAIT_VOLATILE, ev->kind == EV_VOLATILE_WRITE);
        break;
    case EV_CLASS_INIT:
    case EV_CLASS_USE:
        order_message(o, OBJECT_CLASS, ev->addr, WAIT_CLASS, ev->kind == EV_CLASS_INIT);
        break;
    case EV_BARRIER_ARRIVE:
        order_arrive(o, ev);
        break;
    case EV_BARRIER_DEPART:
        order_depart(o, ev);
        break;
    case EV_FORK:
        fork_thread(o, ev);
        break;
    case EV_JOIN:
        join_thread(o, ev);
        break;
    case EV_THREAD_END:
        end_thread(o, ev);
        break;
    case EV_TXN_COMMIT:
        commit(o, &o->lane[ev->tid]);
        break;
    case EV_ALLOC:
    case EV_CLEAR:
    case EV_COPY:
        change_memory(o, ev);
        break;
    case EV_GC_BEGIN:
    case EV_GC_END:
        collect(o);
        break;
    case EV_THREAD:
        place(o, ev);
        enter_kernel(o, ev->tid, (uint32_t)ev->aux);
        break;
    case EV_WRITEVC:
        write_clock(o, ev);
        break;
    case EV_TXN_BEGIN:
    case EV_THREAD_START:
    case EV_NOTIFY:
    case EV_READVC:
    case EV_ROI_BEGIN:
    case EV_ROI_END:
    case EV_IO:
    case EV_PHASE:
    case EV_TIME:
    case EV_WAITED:
    case EV_BRANCHES:
    case EV_UNINSTRUMENTED:
    case EV_REMAP:
    case EV_KINDS:
        break;
    }
}

/* ---- extras --------------------------------------------------------------------------------- */

static void keep_found(struct order *o, struct extra *x)
{
    struct need_list *own = &x->own.list;

    if (o->found.n > FEW_NEEDS)
        order_tidy(o, &o->found);
    if (o->found.n > FEW_NEEDS) {
        own->at = xmalloc(o->found.n * sizeof *own->at);
        own->cap = o->found.n;
        budget_take(&o->budget, heap_bytes(own->cap * sizeof *own->at));
    } else {
        own->at = x->few;
    }
    if (o->found.n)
        memcpy(own->at, o->found.at, o->found.n * sizeof *own->at);
    own->n = o->found.n;
}

/* The commit takes the transaction's accesses with it. */
static void keep_accesses(struct extra *x, struct lane *l)
{
    x->region = l->txn;
    x->regions = l->txns;
    x->region_cap = l->txn_cap;
    l->txn = NULL;
    l->txns = l->txn_cap = 0;
}

void order_extra_free(struct order *o, struct extra *x)
{
    if (x->own.list.at != x->few)
        order_list_free(o, &x->own.list);
    order_leave(o, x->shared);
    order_drop(o, x->region, x->region_cap, sizeof *x->region);
    order_drop(o, x, 1, sizeof *x);
}

static bool changes_memory(const struct event *ev)
{
    return ev->kind == EV_ALLOC || ev->kind == EV_CLEAR || ev->kind == EV_COPY;
}

static struct extra *extra_of(struct order *o, const struct event *ev)
{
    struct lane *l = &o->lane[ev->tid];
    const bool heap = changes_memory(ev);
    const bool commits = ev->kind == EV_TXN_COMMIT && l->txns;

    if (!o->found.n && !o->shared && !heap && !commits)
        return NULL;
    struct extra *x = xcalloc(1, sizeof *x);
    budget_take(&o->budget, heap_bytes(sizeof *x));
    x->ordinal = o->me.ordinal;
    x->shared = o->shared;
    x->heap = heap;
    x->scan = heap;
    keep_found(o, x);
    if (commits)
        keep_accesses(x, l);
    return x;
}

/* A heap event looks for earlier ones itself, later. */
static void touch_memory(struct order *o, const struct event *ev)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = changes_memory(ev) ? 0 : order_regions(ev, r);

    for (unsigned i = 0; i < n; i++)
        order_memory_needs(o, &r[i]);
}

struct extra *order_constrain(struct order *o, const struct event *ev, uint64_t number)
{
    const struct lane *l = &o->lane[ev->tid];

    o->me = (struct need){.ordinal = l->added, .number = number, .tid = ev->tid, .known = true};
    o->found.n = 0;
    o->shared = NULL;
    if (l->attention)
        attend(o, ev);
    touch_memory(o, ev);
    order_objects_sweep(o);
    apply(o, ev);
    return extra_of(o, ev);
}
