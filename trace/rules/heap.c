/* heap.c - the memory behind the stream rules: objects by address, sets of bytes, and the
 * rules of alloc, clear and copy. Accesses are not held against what is allocated. */
#include "trace/rules/rules_int.h"

#include <inttypes.h>
#include <stdlib.h>

void rules_touch(struct rules *r, struct interval **set, sim_addr addr, uint64_t bytes)
{
    const struct interval *s = interval_reaching(*set, addr);

    if (!s || s->lo > addr || s->last - addr < bytes - 1)
        interval_add(r->budget, set, addr, addr + (bytes - 1));
}

/* ---- objects by address --------------------------------------------------------------------- */

static struct rules_object **chain(void *cell)
{
    return cell;
}

struct rules_object *rules_find(struct rules *r, enum ev_object kind, sim_addr addr)
{
    void *cell = shadow_peek(r->objects, addr);

    for (struct rules_object *o = cell ? *chain(cell) : NULL; o; o = o->next)
        if (o->addr == addr && o->kind == kind)
            return o;
    return NULL;
}

static struct rules_object *object_add(struct rules *r, const struct rules_object *like)
{
    struct rules_object *o = xmalloc(sizeof *o), **head = chain(shadow_get(r->objects, like->addr));

    budget_take(r->budget, heap_bytes(sizeof *o));
    *o = *like;
    o->next = *head;
    *head = o;
    r->alive++;
    return o;
}

struct rules_object *rules_add(struct rules *r, enum ev_object kind, sim_addr addr)
{
    return object_add(r,
                      &(struct rules_object){.addr = addr, .id = ++r->ids, .kind = (uint8_t)kind});
}

struct heap_walk { /* over the objects in lo..last */
    struct rules *r;
    uint64_t lo, last;
    uint64_t spare_lo, spare_last; /* find_busy: not here */
    const struct rules_object *found;
    size_t n;  /* collect: in r->moving */
    bool idle; /* drop: idle locks, wherever they are */
};

static bool inside(uint64_t x, uint64_t lo, uint64_t last)
{
    return x >= lo && x <= last;
}

/* Frees the objects that the walk is about. */
static bool drop(void *arg, sim_addr addr, void *cell)
{
    const struct heap_walk *w = arg;

    (void)addr;
    for (struct rules_object **at = chain(cell); *at;) {
        struct rules_object *o = *at;
        if (w->idle ? o->kind == OBJECT_LOCK && !rules_busy(o) : inside(o->addr, w->lo, w->last)) {
            *at = o->next;
            budget_give(w->r->budget, heap_bytes(sizeof *o));
            free(o);
            w->r->alive--;
        } else {
            at = &o->next;
        }
    }
    return !*chain(cell);
}

/* Drops all idle locks at once, now and then, so that it costs next to nothing each. Most locks are
 * soon taken again, so idle ones stay until then. */
void rules_idle(struct rules *r)
{
    if (++r->idled < IDLE_LOCKS || r->idled < 2 * r->pages_left || r->alive < IDLE_LOCKS)
        return;
    r->idled = 0;
    shadow_all(r->objects, drop, &(struct heap_walk){.r = r, .idle = true});
    r->pages_left = shadow_pages(r->objects);
}

static void each_object(struct heap_walk *w, shadow_visit *fn)
{
    if (shadow_pages(w->r->objects))
        shadow_each(w->r->objects, w->lo, w->last - w->lo + 1, fn, w);
}

static bool find_busy(void *arg, sim_addr addr, void *cell)
{
    struct heap_walk *w = arg;

    (void)addr;
    for (const struct rules_object *o = *chain(cell); o; o = o->next)
        if (o->id && rules_busy(o) && inside(o->addr, w->lo, w->last) &&
            !inside(o->addr, w->spare_lo, w->spare_last) && (!w->found || o->addr < w->found->addr))
            w->found = o;
    return false;
}

/* The copy's image of each object. What is held goes along under its id, and leaves id 0 behind;
 * what is idle gets an id of its own. */
static bool collect(void *arg, sim_addr addr, void *cell)
{
    struct heap_walk *w = arg;
    struct rules *r = w->r;

    (void)addr;
    for (struct rules_object *o = *chain(cell); o; o = o->next) {
        if (!inside(o->addr, w->lo, w->last))
            continue;
        r->moving = budget_grow(r->budget, r->moving, w->n, &r->moving_cap, sizeof *r->moving);
        r->moving[w->n++] = *o;
        rules_note_moved(o);
        if (rules_busy(o))
            o->id = 0;
        else
            r->moving[w->n - 1].id = ++r->ids;
    }
    return false;
}

/* A copy's source keeps a stale image of what was held; the holders go with the copy. */
static void move_objects(struct rules *r, uint64_t to, uint64_t from, uint64_t bytes)
{
    struct heap_walk source = {.r = r, .lo = from, .last = from + (bytes - 1)};

    each_object(&source, collect);
    each_object(&(struct heap_walk){.r = r, .lo = to, .last = to + (bytes - 1)}, drop);
    for (size_t i = 0; i < source.n; i++) {
        r->moving[i].addr += to - from;
        object_add(r, &r->moving[i]);
    }
}

void rules_heap_free(struct rules *r)
{
    shadow_all(r->objects, drop, &(struct heap_walk){.r = r, .last = UINT64_MAX});
    shadow_free(r->objects);
    interval_free(r->budget, &r->allocated);
    interval_free(r->budget, &r->touched);
    interval_free(r->budget, &r->left);
    free(r->moving);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static int check_txns(struct rules *r, uint64_t lo, uint64_t last)
{
    for (uint32_t i = 0; i < r->opens; i++) {
        const struct interval *s = interval_meeting(r->thread[r->open[i]].txn, lo, last);
        if (s)
            return rules_break(r, RULE_TXN_HEAP,
                               "T%u's open transaction has accessed 0x%" PRIx64 "; it must commit "
                               "first",
                               r->open[i], s->lo > lo ? s->lo : lo);
    }
    return 0;
}

bool rules_allocated(const struct rules *r, sim_addr addr, uint64_t bytes)
{
    const struct interval *s = interval_reaching(r->allocated, addr);

    return s && s->lo <= addr && s->last - addr >= bytes - 1;
}

/* Checks only traces that have alloc events at all; many recorders see none. */
static int check_allocated(struct rules *r, uint64_t lo, uint64_t last)
{
    const struct interval *s = interval_reaching(r->allocated, lo);

    if (!r->allocs || rules_allocated(r, lo, last - lo + 1))
        return 0;
    return rules_break(r, RULE_HEAP_ALLOCATED, "0x%" PRIx64 " is not allocated, nor copied to",
                       s && s->lo <= lo ? s->last + 1 : lo);
}

/* Nothing that a clear or copy ends may be in use, except what the copy takes along from `spare`.
 */
static int check_idle(struct rules *r, uint64_t lo, uint64_t last, uint64_t spare_lo,
                      uint64_t spare_last)
{
    struct heap_walk w = {
        .r = r, .lo = lo, .last = last, .spare_lo = spare_lo, .spare_last = spare_last};

    each_object(&w, find_busy);
    const struct rules_object *o = w.found;
    const char *how = r->ev->kind == EV_COPY ? "overwritten" : "cleared";
    if (!o)
        return 0;
    if (o->kind == OBJECT_BARRIER)
        return rules_break(r, RULE_BARRIER_ROUND,
                           "the barrier at 0x%" PRIx64 " is %s while threads are at it", o->addr,
                           how);
    return rules_break(r, RULE_RELEASE_HELD, "the lock at 0x%" PRIx64 " is %s while %s", o->addr,
                       how, o->depth || o->sharers ? "held" : "waited on");
}

int rules_there(struct rules *r, sim_addr addr, uint64_t bytes)
{
    const struct interval *s = interval_meeting(r->left, addr, addr + (bytes - 1));

    if (!s)
        return 0;
    return rules_break(
        r, RULE_MOVED_AWAY,
        "0x%" PRIx64 " was copied to a new place while the program ran, and the old "
        "one was not cleared; record the new address, as a read barrier gives it, or "
        "put the move into a pause (gc-begin, gc-end)",
        s->lo > addr ? s->lo : addr);
}

/* Notes that an object left its place beside the program. In a pause there is nothing to note: all
 * threads are given the new address before they go on. */
static void leave(struct rules *r, uint64_t to, uint64_t from, uint64_t bytes)
{
    if (!r->full)
        return;
    if (!r->gc)
        interval_add(r->budget, &r->left, from, from + (bytes - 1));
    interval_remove(r->budget, &r->left, to, to + (bytes - 1));
}

int rules_alloc(struct rules *r)
{
    const uint64_t lo = r->ev->addr, last = lo + (r->ev->aux - 1);
    const struct interval *s = interval_meeting(r->allocated, lo, last);

    if (s)
        return rules_break(r, RULE_ALLOC_FRESH, "0x%" PRIx64 " is allocated; clear it first",
                           s->lo > lo ? s->lo : lo);
    r->allocs = true;
    interval_add(r->budget, &r->allocated, lo, last);
    return 0;
}

/* No open transaction may have accessed it, it must be allocated, and nobody may hold a lock in it.
 */
int rules_clear(struct rules *r)
{
    const uint64_t lo = r->ev->addr, last = lo + (r->ev->aux - 1);

    if (check_txns(r, lo, last) || check_allocated(r, lo, last) || check_idle(r, lo, last, 1, 0))
        return -1;
    interval_remove(r->budget, &r->allocated, lo, last);
    interval_remove(r->budget, &r->touched, lo, last);
    interval_remove(r->budget, &r->left, lo, last);
    each_object(&(struct heap_walk){.r = r, .lo = lo, .last = last}, drop);
    return 0;
}

/* Nothing may have been accessed in the destination of a copy, but for where it overlaps the
 * source. */
static int check_empty(struct rules *r, uint64_t to, uint64_t from, uint64_t bytes)
{
    uint64_t lo = to, last = to + (bytes - 1);

    if (to == from)
        return 0;
    if (to < from && last >= from)
        last = from - 1;
    if (to > from && from + (bytes - 1) >= to)
        lo = from + bytes;
    const struct interval *s = interval_meeting(r->touched, lo, last);
    if (s)
        return rules_break(r, RULE_COPY_EMPTY,
                           "0x%" PRIx64 " was accessed; clear the destination first",
                           s->lo > lo ? s->lo : lo);
    return 0;
}

int rules_copy(struct rules *r)
{
    const uint64_t to = r->ev->addr, from = r->ev[1].addr, bytes = r->ev->aux;
    const uint64_t to_last = to + (bytes - 1), from_last = from + (bytes - 1);

    if (check_txns(r, from, from_last) || check_txns(r, to, to_last) ||
        check_allocated(r, from, from_last) || check_idle(r, to, to_last, from, from_last) ||
        check_empty(r, to, from, bytes))
        return -1;
    rules_note_copy(r);
    leave(r, to, from, bytes);
    interval_add(r->budget, &r->allocated, to, to_last);
    interval_move(r->budget, &r->touched, to, from, bytes);
    move_objects(r, to, from, bytes);
    return 0;
}
