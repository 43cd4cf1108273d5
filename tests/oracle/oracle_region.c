/* oracle_region.c - the definition in oracle_region.h, plainly: each actor counts its regions, each
 * location keeps all its accesses, and an access is compared with every one of them. */
#include "tests/oracle/oracle_region.h"

#include <stdlib.h>

#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_place.h"

struct thread {
    bool acted, mapped, forked, ended; /* forked, ended: as far as the view heeds it */
    uint64_t kernel;
    struct list txn;
};

struct actor {
    uint64_t id;
    size_t region; /* the ongoing one's number */
};

struct region_oracle {
    struct region_options is;
    const struct event **ev; /* by event number */
    size_t events;
    size_t *region; /* of each event: its actor's when its accesses happened */
    struct thread *thread;
    size_t threads;
    struct actor *actor;
    size_t actors, actors_cap;
    struct places places; /* locks and locations */
    struct region_conflict *conflict;
    size_t conflicts, conflicts_cap;
    struct region_location *location;
    size_t locations, locations_cap;
};

/* ---- regions -------------------------------------------------------------------------------- */

static uint64_t actor_id(const struct region_oracle *o, sim_tid tid)
{
    const struct thread *t = &o->thread[tid];

    if (o->is.view & ORACLE_NO_THREAD && t->mapped)
        return 2 * t->kernel + 1;
    return 2 * (uint64_t)tid;
}

static size_t *ongoing(struct region_oracle *o, uint64_t id)
{
    for (size_t i = 0; i < o->actors; i++)
        if (o->actor[i].id == id)
            return &o->actor[i].region;
    o->actor = oracle_room(o->actor, o->actors, &o->actors_cap, sizeof *o->actor);
    o->actor[o->actors] = (struct actor){id, 0};
    return &o->actor[o->actors++].region;
}

static void gives(struct region_oracle *o, sim_tid tid)
{
    ++*ongoing(o, actor_id(o, tid));
}

static void takes(struct region_oracle *o, sim_tid tid)
{
    if (o->is.sync_free)
        ++*ongoing(o, actor_id(o, tid));
}

/* ---- accesses ------------------------------------------------------------------------------- */

static bool in_view(const struct region_oracle *o, const struct event *ev)
{
    if (ev->flags & EVF_STACK)
        return false;
    return o->is.view & ORACLE_ALL_MEMORY || !(ev->flags & (EVF_SYSTEM | EVF_FINAL | EVF_VOLATILE));
}

static bool conflict(const struct entry *a, const struct entry *b)
{
    return a->actor != b->actor && (a->writes || b->writes) && !(a->atomic && b->atomic);
}

static void report(struct region_oracle *o, struct place *p, const struct entry *is,
                   const struct entry *earlier)
{
    if (!p->marked) {
        o->location =
            oracle_room(o->location, o->locations, &o->locations_cap, sizeof *o->location);
        o->location[o->locations++] = (struct region_location){p->addr, is->event};
        p->marked = true;
    }
    o->conflict = oracle_room(o->conflict, o->conflicts, &o->conflicts_cap, sizeof *o->conflict);
    o->conflict[o->conflicts++] = (struct region_conflict){
        is->event,
        is->access,
        earlier->event,
        earlier->access,
        o->ev[is->access]->kind,
        o->ev[earlier->access]->kind,
        p->addr,
    };
}

static void happen_at(struct region_oracle *o, struct place *p, const struct entry *is)
{
    for (size_t i = 0; i < p->entries; i++) {
        const struct entry *earlier = &p->entry[i];
        if (conflict(earlier, is) && o->region[earlier->event] == *ongoing(o, earlier->actor))
            report(o, p, is, earlier);
    }
    p->entry = oracle_room(p->entry, p->entries, &p->entries_cap, sizeof *p->entry);
    p->entry[p->entries++] = *is;
}

/* Event e (the access, or the commit of its transaction) makes the access happen. */
static void happen(struct region_oracle *o, size_t e, size_t access)
{
    const struct event *ev = o->ev[access];
    const uint64_t g = o->is.granule;
    const struct entry is = {.actor = actor_id(o, ev->tid),
                             .event = e,
                             .access = access,
                             .writes = ev->kind != EV_READ,
                             .atomic = event_order(ev) != ORDER_NONE};

    if (!in_view(o, ev))
        return;
    o->region[e] = *ongoing(o, is.actor);
    if (!g)
        happen_at(o, place_at(&o->places, HISTORY, ev->addr, 0), &is);
    else
        for (uint64_t n = ev->addr / g; n <= (ev->addr + ev->size - 1) / g; n++)
            happen_at(o, place_at(&o->places, HISTORY, n * g, 0), &is);
}

/* ---- events --------------------------------------------------------------------------------- */

static bool heeded(const struct region_oracle *o, const struct event *ev)
{
    return !(ev->flags & EVF_SYSTEM) || o->is.view & ORACLE_ALL_SYNC;
}

static void access_event(struct region_oracle *o, size_t e)
{
    const struct event *ev = o->ev[e];

    if (ev->flags & EVF_IN_TXN) {
        list_add(&o->thread[ev->tid].txn, e);
        return;
    }
    if (heeded(o, ev) && ev->kind != EV_WRITE && order_takes(event_order(ev)))
        takes(o, ev->tid);
    happen(o, e, e);
    if (heeded(o, ev) && ev->kind != EV_READ && order_gives(event_order(ev)))
        gives(o, ev->tid);
}

static void commit(struct region_oracle *o, size_t e)
{
    const struct event *ev = o->ev[e];
    struct list *txn = &o->thread[ev->tid].txn;
    const bool ends = heeded(o, ev) && txn->n;

    if (ends)
        takes(o, ev->tid);
    for (size_t i = 0; i < txn->n; i++)
        happen(o, e, txn->at[i]);
    if (ends)
        gives(o, ev->tid);
    txn->n = 0;
}

static unsigned *depth(struct region_oracle *o, const struct event *ev, bool shared)
{
    struct place *lock = place_at(&o->places, LOCK, ev->addr, 0);

    for (size_t i = 0; i < lock->holds; i++)
        if (lock->hold[i].tid == ev->tid && lock->hold[i].shared == shared)
            return &lock->hold[i].depth;
    lock->hold = oracle_room(lock->hold, lock->holds, &lock->holds_cap, sizeof *lock->hold);
    lock->hold[lock->holds] = (struct hold){ev->tid, shared, 0};
    return &lock->hold[lock->holds++].depth;
}

static void acquire(struct region_oracle *o, const struct event *ev)
{
    if ((*depth(o, ev, ev->kind == EV_ACQUIRE_SHARED))++ == 0)
        takes(o, ev->tid);
}

static void release(struct region_oracle *o, const struct event *ev)
{
    unsigned *d = depth(o, ev, ev->kind == EV_RELEASE_SHARED);

    if (--*d == 0) /* the rules say that it was held */
        gives(o, ev->tid);
}

static void join(struct region_oracle *o, const struct event *ev)
{
    const sim_tid child = (sim_tid)ev->aux;

    if (o->thread[child].acted && !o->thread[child].ended)
        gives(o, child);
    takes(o, ev->tid);
}

static void sync_event(struct region_oracle *o, const struct event *ev)
{
    switch (ev->kind) {
    case EV_ACQUIRE:
    case EV_ACQUIRE_SHARED:
        acquire(o, ev);
        break;
    case EV_RELEASE:
    case EV_RELEASE_SHARED:
        release(o, ev);
        break;
    case EV_JOIN:
        join(o, ev);
        break;
    case EV_WAIT_EXIT:
    case EV_VOLATILE_READ:
    case EV_BARRIER_DEPART:
    case EV_CLASS_USE:
    case EV_THREAD_START:
        takes(o, ev->tid);
        break;
    case EV_FORK:
        o->thread[ev->aux].forked = true;
        gives(o, ev->tid);
        break;
    case EV_THREAD_END:
        o->thread[ev->tid].ended = true;
        gives(o, ev->tid);
        break;
    case EV_WAIT_ENTER:
    case EV_VOLATILE_WRITE:
    case EV_BARRIER_ARRIVE:
    case EV_CLASS_INIT:
        gives(o, ev->tid);
        break;
    }
}

static int write_clock(struct region_oracle *o, const struct event *ev)
{
    if (o->is.view & ORACLE_NO_THREAD)
        return -1;
    if (ev->aux == ev->tid) /* it grows */
        gives(o, ev->tid);
    else
        takes(o, ev->tid);
    return 0;
}

static int heap_event(struct region_oracle *o, const struct event *ev)
{
    const uint64_t g = o->is.granule ? o->is.granule : 1;

    if (ev->addr % g || ev->aux % g || (ev->kind == EV_COPY && ev[1].addr % g))
        return -1;
    if (ev->kind == EV_CLEAR)
        places_clear(&o->places, ev->addr, ev->aux, !(o->is.view & ORACLE_NO_CLEAR));
    else
        places_copy(&o->places, ev->addr, ev[1].addr, ev->aux, !(o->is.view & ORACLE_NO_COPY));
    return 0;
}

static void enter(struct region_oracle *o, const struct event *ev)
{
    struct thread *t = &o->thread[ev->tid];

    if (ev->kind == EV_THREAD) {
        t->mapped = true;
        t->kernel = ev->aux;
    }
    if (!t->acted && t->forked)
        takes(o, ev->tid);
    t->acted = true;
}

static int step(struct region_oracle *o, size_t e)
{
    const struct event *ev = o->ev[e];

    enter(o, ev);
    switch (ev->kind) {
    case EV_READ:
    case EV_WRITE:
    case EV_RMW:
        access_event(o, e);
        return 0;
    case EV_TXN_COMMIT:
        commit(o, e);
        return 0;
    case EV_CLEAR:
    case EV_COPY:
        return heap_event(o, ev);
    case EV_WRITEVC:
        return heeded(o, ev) ? write_clock(o, ev) : 0;
    default:
        if (heeded(o, ev))
            sync_event(o, ev);
        return 0;
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void prepare(struct region_oracle *o, const struct event *rec, size_t records)
{
    o->ev = oracle_need(calloc(records + 1, sizeof *o->ev));
    o->region = oracle_need(calloc(records + 1, sizeof *o->region));
    for (size_t i = 0; i < records; i += event_records(&rec[i])) {
        const struct event *ev = o->ev[o->events++] = &rec[i];
        const bool names = ev->kind == EV_FORK || ev->kind == EV_JOIN;
        const size_t high = names && ev->aux > ev->tid ? ev->aux : ev->tid;
        o->threads = high + 1 > o->threads ? high + 1 : o->threads;
    }
    o->thread = oracle_need(calloc(o->threads + 1, sizeof *o->thread));
}

struct region_oracle *region_oracle_new(const struct event *rec, size_t records,
                                        const struct region_options *is)
{
    struct region_oracle *o = oracle_need(calloc(1, sizeof *o));
    bool judged = true;

    o->is = *is;
    prepare(o, rec, records);
    for (size_t e = 0; e < o->events && judged; e++)
        judged = step(o, e) == 0;
    if (judged)
        return o;
    region_oracle_free(o);
    return NULL;
}

void region_oracle_free(struct region_oracle *o)
{
    if (!o)
        return;
    places_free(&o->places);
    for (size_t t = 0; t < o->threads; t++)
        free(o->thread[t].txn.at);
    free(o->thread);
    free(o->actor);
    free(o->region);
    free(o->ev);
    free(o->conflict);
    free(o->location);
    free(o);
}

size_t region_oracle_conflicts(const struct region_oracle *o, const struct region_conflict **first)
{
    *first = o->conflict;
    return o->conflicts;
}

size_t region_oracle_locations(const struct region_oracle *o, const struct region_location **first)
{
    *first = o->location;
    return o->locations;
}
