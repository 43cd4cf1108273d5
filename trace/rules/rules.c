/* rules.c - what a stream of well-formed events must obey: threads, transactions, clocks, marks.
 * Locks, barriers and classes are in rules/sync.c, memory in rules/heap.c, the rules' text in
 * rules.def. What is kept follows what is alive, not the stream's length.
 *
 * An event that breaks a rule has no effect, except that its thread has acted and its level (see
 * one-level) is taken. */
#include "trace/rules/rules_int.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct rule_info rule_info[RULES] = {
#define RULE(id, name, text) [RULE_##id] = {name, text},
#include "trace/rules/rules.def"
#undef RULE
};

struct rules *rules_new(bool full)
{
    struct rules *r = xcalloc(1, sizeof *r);

    r->full = r->watch = full;
    r->objects = shadow_new(8, sizeof(struct rules_object *), NULL);
    return r;
}

void rules_account(struct rules *r, struct budget *b)
{
    if (!r)
        return;
    shadow_free(r->objects);
    r->objects = shadow_new(8, sizeof(struct rules_object *), b);
    map_init(&r->shares, b);
    map_init(&r->clocks, b);
    r->budget = b;
}

void rules_for_run(struct rules *r, const char *format)
{
    if (!r)
        return;
    r->for_run = true;
    r->format = format;
}

void rules_free(struct rules *r)
{
    if (!r)
        return;
    rules_heap_free(r);
    rules_notes_free(r);
    for (uint32_t i = 0; i < r->threads; i++)
        interval_free(r->budget, &r->thread[i].txn);
    map_free(&r->shares);
    map_free(&r->clocks);
    free(r->thread);
    free(r->open);
    free(r);
}

enum rule_id rules_broken(const struct rules *r)
{
    return r->broken;
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Says how a run can get past the rule. Other tools take orders of events that our rules refuse:
 * RAPID a fork of a thread that has acted, for one. */
static void remedy(const struct rules *r, char *to, size_t n)
{
    *to = '\0';
    if (r->for_run && r->format)
        snprintf(
            to, n,
            "; %s is another tool's format, and may have no such rule: `--set trace.rules=off` "
            "runs the trace as it is, each event for what it says",
            r->format);
    else if (r->for_run)
        snprintf(to, n, "; `--set trace.rules=off` runs it all the same");
}

int rules_break(struct rules *r, enum rule_id id, const char *fmt, ...)
{
    char event[EVENT_SHOWN_MAX], what[320], then[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    event_shown(r->ev, event);
    r->broken = id;
    remedy(r, then, sizeof then);
    return err_set(r->err, LARD_TRACE,
                   "event %" PRIu64 " (%s): %s: %s; `lardsim explain %s` tells the rule%s",
                   r->number, event, rule_info[id].name, what, rule_info[id].name, then);
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Threads are few and dense, so an array by number; grown by doubling. */
static void reserve(struct rules *r, uint32_t tid)
{
    uint32_t cap = r->threads ? r->threads : 8;

    if (LIKELY(tid < r->threads))
        return;
    while (cap <= tid)
        cap *= 2;
    r->thread = xrecalloc(r->thread, r->threads, cap, sizeof *r->thread);
    budget_take(r->budget, (cap - r->threads) * sizeof *r->thread);
    r->threads = cap;
}

/* The thread that the event names. */
static struct rules_thread *named(struct rules *r)
{
    assert(r->ev->aux < r->threads);
    return &r->thread[r->ev->aux];
}

/* Checks that the thread may act at all, and do this next. */
static int check_thread(struct rules *r, const struct rules_thread *t)
{
    const unsigned tid = r->ev->tid, kind = r->ev->kind;

    if (t->state & ENDED)
        return rules_break(r, RULE_END_LAST, "T%u has ended", tid);
    if (t->state & JOINED)
        return rules_break(r, RULE_END_LAST, "T%u was joined before", tid);
    if (kind == EV_THREAD_START && t->state & ACTED)
        return rules_break(r, RULE_START_FIRST, "T%u has acted before", tid);
    if (t->state & WAITING && kind != EV_WAIT_EXIT)
        return rules_break(r, kind == EV_THREAD_END ? RULE_END_CLEAN : RULE_WAIT_HELD,
                           "T%u waits on a lock; its next event must be the wait-exit", tid);
    if (t->state & AT_BARRIER && kind != EV_BARRIER_DEPART)
        return rules_break(r, kind == EV_THREAD_END ? RULE_END_CLEAN : RULE_BARRIER_ROUND,
                           "T%u is at a barrier; its next event must be the departure", tid);
    return 0;
}

/* Whether the event orders program threads above the level of clocks. */
static bool synchronises(const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];
    const enum ev_order order = event_order(ev);

    if (info->class == CLASS_ACCESS)
        return (info->takes && order_takes(order)) || (info->gives && order_gives(order));
    return info->class == CLASS_SYNC && info->object != OBJECT_NONE && info->object != OBJECT_SELF;
}

/* True if the event may make its object. A release is none: release-held checks that its lock is
 * still there. */
static bool uses_object(const struct ev_info *info, const struct event *ev)
{
    return (info->form == FORM_OBJECT || info->form == FORM_ROUND) && ev->kind != EV_RELEASE &&
           ev->kind != EV_RELEASE_SHARED;
}

/* Checks that this kind of event may happen now, in any thread. */
static int check_moment(struct rules *r)
{
    const struct ev_info *info = &ev_info[r->ev->kind];

    if (r->ev->flags & EVF_SYSTEM)
        return 0;
    if (r->gc && info->class != CLASS_HEAP && info->class != CLASS_MARK)
        return rules_break(r, RULE_GC_PAUSE,
                           "a collection runs since event %" PRIu64
                           "; only the runtime acts before its gc-end",
                           r->gc_since);
    if (UNLIKELY(r->full) && uses_object(info, r->ev) && rules_there(r, r->ev->addr, 1))
        return -1;
    if (!synchronises(r->ev))
        return 0;
    if (r->raw)
        return rules_break(r, RULE_ONE_LEVEL,
                           "the trace writes or reads clocks (LARDx86); "
                           "synchronisation above that must be the system's");
    r->sync = true;
    return 0;
}

static int fork_thread(struct rules *r)
{
    struct rules_thread *u = named(r);

    if (r->ev->aux == r->ev->tid)
        return rules_break(r, RULE_FORK_NEW, "a thread can't fork itself");
    if (u->state)
        return rules_break(r, RULE_FORK_NEW, "T%" PRIu64 " %s before", r->ev->aux,
                           u->state & ACTED ? "has acted" : "was forked");
    u->state = FORKED;
    return 0;
}

static int join_thread(struct rules *r)
{
    struct rules_thread *u = named(r);

    if (r->ev->aux == r->ev->tid)
        return rules_break(r, RULE_JOIN_KNOWN, "a thread can't join itself");
    if (!u->state)
        return rules_break(r, RULE_JOIN_KNOWN, "T%" PRIu64 " has not acted and was not forked",
                           r->ev->aux);
    u->state |= JOINED;
    return 0;
}

static int end_thread(struct rules *r)
{
    if (r->by->held)
        return rules_break(r, RULE_END_CLEAN, "T%u still holds %" PRIu32 " lock%s", r->ev->tid,
                           r->by->held, r->by->held == 1 ? "" : "s");
    if (r->by->state & IN_TXN)
        return rules_break(r, RULE_END_CLEAN, "T%u has a transaction open", r->ev->tid);
    r->by->state |= ENDED;
    return 0;
}

/* ---- transactions and accesses -------------------------------------------------------------- */

/* Open transactions stand in a dense array, so that a clear or copy can look at each. */
static int txn_begin(struct rules *r)
{
    if (r->by->state & IN_TXN)
        return rules_break(r, RULE_TXN_NEST, "T%u has a transaction open", r->ev->tid);
    r->by->state |= IN_TXN;
    r->by->slot = r->opens;
    r->open = xgrow(r->open, r->opens, &r->open_cap, sizeof *r->open);
    r->open[r->opens++] = r->ev->tid;
    return 0;
}

static int txn_commit(struct rules *r)
{
    if (!(r->by->state & IN_TXN))
        return rules_break(r, RULE_TXN_NEST, "T%u has no transaction open", r->ev->tid);
    const sim_tid last = r->open[--r->opens];
    r->open[r->by->slot] = last;
    r->thread[last].slot = r->by->slot;
    r->by->state &= (uint8_t)~IN_TXN;
    interval_free(r->budget, &r->by->txn);
    return 0;
}

static int access_memory(struct rules *r)
{
    const struct event *ev = r->ev;

    if (ev->flags & EVF_IN_TXN) {
        if (!(r->by->state & IN_TXN))
            return rules_break(r, RULE_TXN_NEST, "T%u has no transaction open", ev->tid);
        if (event_order(ev) != ORDER_NONE)
            return rules_break(r, RULE_TXN_NEST, "an in-txn access can't be atomic");
        rules_touch(r, &r->by->txn, ev->addr, ev->size);
    }
    if (!r->full || !event_tracked(ev))
        return 0;
    if (rules_there(r, ev->addr, ev->size))
        return -1;
    rules_touch(r, &r->touched, ev->addr, ev->size);
    return 0;
}

/* ---- clocks and marks ----------------------------------------------------------------------- */

static int see_raw(struct rules *r)
{
    if (r->sync)
        return rules_break(r, RULE_ONE_LEVEL,
                           "the program has synchronised above the level of "
                           "clocks before; use one level in a trace");
    r->raw = true;
    return 0;
}

static uint64_t own_time(const struct rules_thread *t)
{
    return t->time ? t->time : 1;
}

static int write_own(struct rules *r)
{
    const uint64_t value = r->ev->addr;

    if (value <= own_time(r->by))
        return rules_break(r, RULE_CLOCK_SANE, "T%u's own time is %" PRIu64 " and must grow",
                           r->ev->tid, own_time(r->by));
    r->by->time = value;
    if (!(r->ev->flags & EVF_SYSTEM))
        r->by->heeded = value;
    return 0;
}

/* Returns the named thread's present time as this event may know it: a view that heeds only the
 * program's events sees only the times that the program has written. */
static uint64_t others_time(const struct rules *r, const struct rules_thread *t)
{
    return r->ev->flags & EVF_SYSTEM ? own_time(t) : t->heeded ? t->heeded : 1;
}

static int writevc(struct rules *r)
{
    const uint64_t value = r->ev->addr, index = r->ev->aux;

    if (see_raw(r))
        return -1;
    if (index == r->ev->tid)
        return write_own(r);
    if (value >= others_time(r, named(r)) + !!(named(r)->state & ENDED))
        return rules_break(r, RULE_CLOCK_SANE, "T%" PRIu64 " is still at its time %" PRIu64, index,
                           others_time(r, named(r)));
    uint64_t *entry = map_put(&r->clocks, (uint64_t)r->ev->tid << 16 | index);
    if (value < *entry)
        return rules_break(r, RULE_CLOCK_SANE, "the entry is %" PRIu64 " and can't be lowered",
                           *entry);
    *entry = value;
    return 0;
}

/* While the world is stopped, accesses of the program break a rule: so they may not take the short
 * way of exempt(). */
static int gc(struct rules *r)
{
    const bool begin = r->ev->kind == EV_GC_BEGIN;

    if (begin && r->gc)
        return rules_break(r, RULE_GC_PAUSE, "a collection runs since event %" PRIu64, r->gc_since);
    if (!begin && !r->gc)
        return rules_break(r, RULE_GC_PAUSE, "no collection runs");
    r->gc = begin;
    r->gc_since = r->number;
    r->watch = r->full || begin;
    return 0;
}

static int roi(struct rules *r)
{
    const bool begin = r->ev->kind == EV_ROI_BEGIN;

    if (begin && r->roi)
        return rules_break(r, RULE_ROI_NEST, "a region is open since event %" PRIu64, r->roi_since);
    if (!begin && !r->roi)
        return rules_break(r, RULE_ROI_NEST, "no region is open");
    r->roi = begin;
    r->roi_since = r->number;
    return 0;
}

/* ---- the stream ----------------------------------------------------------------------------- */

/* The second half of a check: what the kind of event itself demands and changes. NULL: nothing. */
static int (*const demands[EV_KINDS])(struct rules *r) = {
    [EV_READ] = access_memory,
    [EV_WRITE] = access_memory,
    [EV_RMW] = access_memory,
    [EV_ACQUIRE] = rules_acquire,
    [EV_RELEASE] = rules_release,
    [EV_ACQUIRE_SHARED] = rules_acquire_shared,
    [EV_RELEASE_SHARED] = rules_release_shared,
    [EV_FORK] = fork_thread,
    [EV_JOIN] = join_thread,
    [EV_WAIT_ENTER] = rules_wait_enter,
    [EV_WAIT_EXIT] = rules_wait_exit,
    [EV_BARRIER_ARRIVE] = rules_arrive,
    [EV_BARRIER_DEPART] = rules_depart,
    [EV_CLASS_INIT] = rules_class_init,
    [EV_CLASS_USE] = rules_class_use,
    [EV_TXN_BEGIN] = txn_begin,
    [EV_TXN_COMMIT] = txn_commit,
    [EV_THREAD_END] = end_thread,
    [EV_ALLOC] = rules_alloc,
    [EV_CLEAR] = rules_clear,
    [EV_COPY] = rules_copy,
    [EV_GC_BEGIN] = gc,
    [EV_GC_END] = gc,
    [EV_READVC] = see_raw,
    [EV_WRITEVC] = writevc,
    [EV_ROI_BEGIN] = roi,
    [EV_ROI_END] = roi,
};

/* The first half: whether the thread may act at all, and whether such an event may happen now. */
static int apply_checked(struct rules *r, const struct event *ev)
{
    const enum ev_form form = (enum ev_form)ev_info[ev->kind].form;

    if (form == FORM_THREAD || form == FORM_CLOCK) {
        assert(ev->aux < MAX_THREADS);
        reserve(r, (uint32_t)ev->aux);
    }
    reserve(r, ev->tid);
    struct rules_thread *t = r->by = &r->thread[ev->tid];
    if (check_thread(r, t) || check_moment(r))
        return -1;
    t->state = (uint8_t)((t->state & ~FORKED) | ACTED);
    return demands[ev->kind] ? demands[ev->kind](r) : 0;
}

/* A plain access of a thread that has acted: no rule is about it. */
static inline bool exempt(const struct rules *r, const struct event *ev)
{
    return ev->kind <= EV_RMW && !(ev->flags & (EVF_IN_TXN | EVF_ORDER_MASK)) &&
           ev->tid < r->threads && r->thread[ev->tid].state == ACTED && !r->watch;
}

int rules_apply(struct rules *r, const struct event *ev, uint64_t number, struct err *e)
{
    if (exempt(r, ev))
        return 0;
    r->ev = ev;
    r->number = number;
    r->err = e;
    return apply_checked(r, ev);
}

const struct event *rules_run(struct rules *r, const struct event *ev, const struct event *end,
                              uint64_t number, struct err *e)
{
    for (; ev < end; ev += event_records(ev), number++) {
        if (LIKELY(exempt(r, ev)))
            continue;
        if (rules_apply(r, ev, number, e))
            return ev;
        if (event_is_region(ev))
            end = ev + event_records(ev);
    }
    return ev;
}

int rules_finish(struct rules *r, struct err *e)
{
    const enum rule_id id = r->gc ? RULE_GC_PAUSE : RULE_ROI_NEST;
    char then[200];

    if (r->notes)
        rules_note_end(r);
    if (!r->gc && !r->roi)
        return 0;
    r->broken = id;
    remedy(r, then, sizeof then);
    return err_set(e, LARD_TRACE,
                   "end of the trace: %s: the %s of event %" PRIu64
                   " has no end; `lardsim explain %s` tells the rule%s",
                   rule_info[id].name, r->gc ? "collection" : "region of interest",
                   r->gc ? r->gc_since : r->roi_since, rule_info[id].name, then);
}
