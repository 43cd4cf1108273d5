/* order.c - the window: each thread's events in a lane of its own, added at one end in recorded
 * order and taken at the other in whatever order the needs of order/sync.c leave. A plain access is
 * copied and no more. */
#include "sim/order/order_int.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const wait_reason_text[WAIT_REASONS] = {
    [WAIT_LOCK] = "lock",           [WAIT_BARRIER] = "barrier",   [WAIT_JOIN] = "join",
    [WAIT_FORK] = "fork",           [WAIT_VOLATILE] = "volatile", [WAIT_CLASS] = "class",
    [WAIT_COMMIT] = "commit",       [WAIT_MEMORY] = "memory",     [WAIT_COLLECTION] = "collection",
    [WAIT_KERNEL] = "kernel thread"};

struct order *order_new(uint64_t window, const struct run_context *context, struct budget *of)
{
    struct order *o = xcalloc(1, sizeof *o);

    assert(window > 0);
    o->window = window;
    o->context = context;
    o->budget.of = of;
    o->objects = shadow_new(8, sizeof(struct object *), &o->budget);
    return o;
}

static void lane_free(struct order *o, struct lane *l)
{
    for (struct chunk *c = l->head, *next; c; c = next) {
        next = c->next;
        order_stretch_free(o, c);
        free(c);
    }
    for (struct extra *x = l->first, *next; x; x = next) {
        next = x->next;
        order_extra_free(o, x);
    }
    order_list_free(o, &l->joins);
    free(l->waiters.slot);
    free(l->txn);
    free(l->mark);
}

void order_free(struct order *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->lanes; i++)
        lane_free(o, &o->lane[i]);
    for (struct chunk *c = o->spare, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    order_memory_free(o);
    order_objects_free(o);
    order_list_free(o, &o->found);
    free(o->oldest.slot);
    free(o->near);
    free(o->kernel);
    free(o->woken);
    free(o->lane);
    free(o);
}

void *order_grow(struct order *o, void *array, size_t n, size_t *cap, size_t bytes)
{
    const size_t was = *cap;

    array = xgrow(array, n, cap, bytes);
    budget_take(&o->budget, heap_bytes(*cap * bytes) - heap_bytes(was * bytes));
    return array;
}

void order_drop(struct order *o, void *array, size_t cap, size_t bytes)
{
    budget_give(&o->budget, heap_bytes(cap * bytes));
    free(array);
}

uint64_t order_pending(const struct order *o)
{
    return o->pending;
}

const uint64_t *order_peak(const struct order *o)
{
    return &o->peak;
}

uint64_t order_room(const struct order *o)
{
    return o->window - o->pending;
}

void order_close(struct order *o)
{
    o->closed = true;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

struct lane *order_lane(struct order *o, uint64_t tid)
{
    assert(tid < MAX_THREADS);
    while (o->lanes <= tid) {
        o->lane = order_grow(o, o->lane, o->lanes, &o->lane_cap, sizeof *o->lane);
        o->lane[o->lanes++] = (struct lane){.special = NEVER, .wanted = NEVER, .attention = true};
    }
    return &o->lane[tid];
}

static struct chunk *chunk_new(struct order *o)
{
    struct chunk *c = o->spare;

    if (c) {
        o->spare = c->next;
    } else {
        c = xmalloc(sizeof *c);
        budget_take(&o->budget, heap_bytes(sizeof *c));
    }
    c->next = NULL;
    c->n = c->hashed = 0;
    c->stretch = NULL;
    return c;
}

/* A place for the next event, whose number this is. */
static void lane_extend(struct order *o, struct lane *l, uint64_t number)
{
    struct chunk *c = chunk_new(o);

    c->first = l->added;
    c->serial = l->serial++;
    if (l->tail) {
        l->tail = l->tail->next = c;
        return;
    }
    l->head = l->tail = c;
    if (!l->listed)
        order_heap_push(o, &o->oldest, number, (uint64_t)(l - o->lane));
    l->listed = true;
}

/* All of the first chunk has been taken. */
static void lane_advance(struct order *o, struct lane *l)
{
    struct chunk *c = l->head;

    l->head = c->next;
    l->at = 0;
    if (!l->head)
        l->tail = NULL;
    if (UNLIKELY(c->stretch != NULL))
        order_stretch_free(o, c);
    c->next = o->spare;
    o->spare = c;
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Kinds that need nothing, leave nothing behind, and touch no memory that others clear, or that are
 * accesses. */
static const bool plain_kind[EV_KINDS] = {
    [EV_READ] = true,     [EV_WRITE] = true,          [EV_RMW] = true,     [EV_TXN_BEGIN] = true,
    [EV_READVC] = true,   [EV_ROI_BEGIN] = true,      [EV_ROI_END] = true, [EV_IO] = true,
    [EV_PHASE] = true,    [EV_THREAD_START] = true,   [EV_TIME] = true,    [EV_WAITED] = true,
    [EV_BRANCHES] = true, [EV_UNINSTRUMENTED] = true, [EV_REMAP] = true,
};

/* Appends an event's n records behind the lane's last one; there is room. */
ALWAYS_INLINE void append(struct order *o, struct lane *l, const struct event *ev, uint32_t n,
                          uint64_t number)
{
    struct chunk *c = l->tail;
    const uint32_t at = c->n;

    c->number[at] = number;
    c->rec[at] = *ev;
    if (n > 1)
        c->rec[at + 1] = ev[1];
    c->n = at + n;
    l->number = number;
    l->added++;
    o->pending++;
}

static void hang(struct lane *l, struct extra *x)
{
    if (!l->first)
        l->first = x;
    else
        l->last->next = x;
    l->last = x;
    l->special = l->first->ordinal;
}

static int too_much(const struct order *o, uint64_t number, struct err *e)
{
    char what[80];

    snprintf(what, sizeof what, "the window of the timed order (%" PRIu64 " events)", o->pending);
    return budget_error(&o->budget, number, what, "lower schedule.window", e);
}

/* Whether order/sync.c has nothing to say of it. */
static inline bool is_plain(const struct order *o, const struct lane *l, const struct event *ev)
{
    return !l->attention && plain_kind[ev->kind] && !(ev->flags & (EVF_IN_TXN | EVF_ORDER_MASK)) &&
           (LIKELY(!o->heaps) || !event_is_access(ev) ||
            !order_near(o, ev->addr, ev->addr + (ev->size - 1)));
}

/* An event has come into the window: is there still memory for it? */
static inline int added(struct order *o, uint64_t number, struct err *e)
{
    if (UNLIKELY(budget_over(&o->budget)))
        return too_much(o, number, e);
    o->peak = u64_max(o->peak, o->pending);
    return 0;
}

static NO_INLINE int add_any(struct order *o, const struct event *ev, uint64_t number,
                             struct err *e)
{
    struct lane *l = order_lane(o, ev->tid);

    if (!is_plain(o, l, ev)) {
        struct extra *x = order_constrain(o, ev, number);
        l = &o->lane[ev->tid];
        if (x)
            hang(l, x);
    }
    const uint32_t n = event_records(ev);
    if (!l->tail || l->tail->n + n > CHUNK_RECORDS)
        lane_extend(o, l, number);
    append(o, l, ev, n, number);
    return added(o, number, e);
}

int order_add(struct order *o, const struct event *ev, uint64_t number, struct err *e)
{
    struct lane *l = LIKELY(ev->tid < o->lanes) ? &o->lane[ev->tid] : NULL;

    assert(o->pending < o->window && !o->closed);
    if (UNLIKELY(!l || !is_plain(o, l, ev) || ev->flags & EVF_MORE || !l->tail ||
                 l->tail->n == CHUNK_RECORDS))
        return add_any(o, ev, number, e);
    append(o, l, ev, 1, number);
    return added(o, number, e);
}

/* ---- what is next --------------------------------------------------------------------------- */

/* The first of the needs that has not been met and that the thread now waits for; NULL: it may run.
 */
static const struct need *must_wait(struct order *o, sim_tid tid)
{
    struct lane *l = &o->lane[tid];
    struct extra *x = l->first;

    if (!l->blocked) {
        struct needs *w = !order_met(o, &x->own) ? &x->own : x->shared;
        if ((!w || order_met(o, w)) && x->scan) {
            order_memory_scan(o, tid, x);
            w = &x->own;
        }
        if (!w || order_met(o, w))
            return NULL;
        order_wait(o, w, tid);
    }
    return &l->blocked->list.at[l->blocked->met];
}

/* Finds the event that a thread's next event waits for, if that is one that may have to wait. */
static NO_INLINE void peek_special(struct order *o, sim_tid tid, struct order_next *to)
{
    const struct need *first = must_wait(o, tid);

    if (!first)
        return;
    to->state = ORDER_BLOCKED;
    to->why = (enum wait_reason)first->why;
    to->by = first->tid;
    to->by_number = first->number;
}

void order_peek(struct order *o, sim_tid tid, struct order_next *to)
{
    const struct lane *l = LIKELY(tid < o->lanes) ? &o->lane[tid] : NULL;

    if (UNLIKELY(!l || l->taken == l->added)) {
        const bool over = o->closed || (l && l->over);
        *to = (struct order_next){.state = over ? ORDER_OVER : ORDER_UNKNOWN};
        return;
    }
    const struct chunk *c = l->head;
    to->state = ORDER_READY;
    to->ev = &c->rec[l->at];
    to->number = c->number[l->at];
    if (UNLIKELY(l->taken == l->special))
        peek_special(o, tid, to);
}

/* The event with the first extra runs. */
static void unhang(struct order *o, struct lane *l)
{
    struct extra *x = l->first;

    ENSURE(!l->blocked && order_met(o, &x->own) && (!x->shared || order_met(o, x->shared)) &&
               !x->scan,
           o->context, "an event of thread %u ran before what it had to wait for",
           (unsigned)l->head->rec[l->at].tid);
    l->first = x->next;
    l->special = l->first ? l->first->ordinal : NEVER;
    if (x->heap)
        order_memory_ran(o, &l->head->rec[l->at]);
    order_extra_free(o, x);
}

bool order_take(struct order *o, sim_tid tid)
{
    struct lane *l = &o->lane[tid];

    ENSURE(tid < o->lanes && l->taken < l->added, o->context,
           "thread %u has run an event that it does not have", (unsigned)tid);
    o->wokens = 0;
    if (UNLIKELY(l->taken == l->special))
        unhang(o, l);
    l->at += event_records(&l->head->rec[l->at]);
    l->taken++;
    o->pending--;
    if (UNLIKELY(l->at == l->head->n))
        lane_advance(o, l);
    if (UNLIKELY(l->taken > l->wanted))
        order_wake(o, l);
    return o->wokens > 0;
}

size_t order_woken(const struct order *o, const sim_tid **tids)
{
    *tids = o->woken;
    return o->wokens;
}

/* Keys of the heap may be those of events that have been taken: they only grow. */
sim_tid order_oldest(struct order *o)
{
    struct heap *h = &o->oldest;

    assert(o->pending);
    for (;;) {
        struct lane *l = &o->lane[h->slot[0].value];
        if (!l->head) {
            l->listed = false;
            heap_pop(h);
        } else if (h->slot[0].key != l->head->number[l->at]) {
            h->slot[0].key = l->head->number[l->at];
            heap_settle(h);
        } else {
            return (sim_tid)h->slot[0].value;
        }
    }
}

/* ---- when nothing goes on ------------------------------------------------------------------- */

static void describe(const struct names *names, sim_tid tid, const struct order_next *next,
                     char *to, size_t n)
{
    const char *thread = names ? names_find(names, NAME_THREAD, tid) : NULL;
    const enum ev_form form = (enum ev_form)ev_info[next->ev->kind].form;
    const bool object = form == FORM_OBJECT || form == FORM_ROUND;
    const char *name = names && object ? names_find(names, NAME_OBJECT, next->ev->addr) : NULL;
    const int used = snprintf(to, n, "event %" PRIu64 ", %s of thread %u%s%.80s%s", next->number,
                              ev_info[next->ev->kind].text, (unsigned)tid, thread ? " (" : "",
                              thread ? thread : "", thread ? ")" : "");

    if (object && used > 0 && (size_t)used < n)
        snprintf(to + used, n - (size_t)used, " at 0x%" PRIx64 "%s%.80s%s", next->ev->addr,
                 name ? " (" : "", name ? name : "", name ? ")" : "");
}

static bool first_blocked(struct order *o, sim_tid *tid, struct order_next *next)
{
    for (size_t i = 0; i < o->lanes; i++) {
        order_peek(o, (sim_tid)i, next);
        *tid = (sim_tid)i;
        if (next->state == ORDER_BLOCKED)
            return true;
    }
    return false;
}

int order_stuck(struct order *o, const struct names *names, struct err *e)
{
    char oldest[320], other[320];
    struct order_next next;

    if (!o->pending)
        return err_set(e, LARD_INTERNAL, "the timed order stands still with all events run");
    sim_tid tid = order_oldest(o);
    order_peek(o, tid, &next);
    ENSURE(next.state == ORDER_READY, o->context, "the oldest event may not run");
    describe(names, tid, &next, oldest, sizeof oldest);
    if (!first_blocked(o, &tid, &next))
        return err_set(e, LARD_INTERNAL, "the timed order stands still: %s, may run and does not",
                       oldest);
    describe(names, tid, &next, other, sizeof other);
    return err_set(e, LARD_INTERNAL,
                   "the timed order stands still: %s, may run and does not; %s, waits for event "
                   "%" PRIu64 " of thread %u (%s)",
                   oldest, other, next.by_number, (unsigned)next.by, wait_reason_text[next.why]);
}
