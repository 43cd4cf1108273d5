/* region.c - the definition in region.h, plainly: each actor counts its regions, each
 * location keeps all its accesses, and an access is compared with every one of them. */
#include "tests/oracle/region.h"

#include <stdlib.h>

#include "tests/oracle/oracle.h"
#include "tests/oracle/scene.h"

struct thread {
    bool forked, ended; /* as far as the view heeds it */
};

struct actor {
    uint64_t id;
    size_t region; /* the ongoing one's number */
};

struct region_oracle {
    struct scene s; /* locks, and locations' histories */
    bool sync_free;
    size_t *region; /* of each event: its actor's when its accesses happened */
    struct thread *thread;
    struct actor *actor;
    size_t actors, actors_cap;
    struct region_conflict *conflict;
    size_t conflicts, conflicts_cap;
    struct region_location *location;
    size_t locations, locations_cap;
};

/* ---- regions -------------------------------------------------------------------------------- */

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
    ++*ongoing(o, scene_actor(&o->s, tid));
}

static void takes(struct region_oracle *o, sim_tid tid)
{
    if (o->sync_free)
        ++*ongoing(o, scene_actor(&o->s, tid));
}

/* ---- accesses ------------------------------------------------------------------------------- */

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
        o->s.ev[is->access]->kind,
        o->s.ev[earlier->access]->kind,
        p->addr,
    };
}

static void happen_at(struct region_oracle *o, struct place *p, const struct entry *is)
{
    for (size_t i = 0; i < p->entries; i++) {
        const struct entry *earlier = &p->entry[i];
        if (scene_conflict(earlier, is) && o->region[earlier->event] == *ongoing(o, earlier->actor))
            report(o, p, is, earlier);
    }
    p->entry = oracle_room(p->entry, p->entries, &p->entries_cap, sizeof *p->entry);
    p->entry[p->entries++] = *is;
}

/* Event e (the access, or the commit of its transaction) makes the access happen. */
static void happen(struct region_oracle *o, size_t e, size_t access)
{
    const struct event *ev = o->s.ev[access];
    const struct entry is = scene_entry(&o->s, e, access);
    uint64_t addr;

    if (!scene_sees(&o->s, ev))
        return;
    o->region[e] = *ongoing(o, is.actor);
    for (uint64_t i = 0; scene_location(&o->s, ev, i, &addr); i++)
        happen_at(o, place_at(&o->s.places, HISTORY, addr, 0), &is);
}

/* ---- events --------------------------------------------------------------------------------- */

static void access_event(struct region_oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];

    if (scene_waits(&o->s, e))
        return;
    if (scene_heeds(&o->s, ev) && ev->kind != EV_WRITE && order_takes(event_order(ev)))
        takes(o, ev->tid);
    happen(o, e, e);
    if (scene_heeds(&o->s, ev) && ev->kind != EV_READ && order_gives(event_order(ev)))
        gives(o, ev->tid);
}

static void commit(struct region_oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];
    struct list *txn = &o->s.thread[ev->tid].txn;
    const bool ends = scene_heeds(&o->s, ev) && txn->n;

    if (ends)
        takes(o, ev->tid);
    for (size_t i = 0; i < txn->n; i++)
        happen(o, e, txn->at[i]);
    if (ends)
        gives(o, ev->tid);
    txn->n = 0;
}

static void acquire(struct region_oracle *o, const struct event *ev)
{
    if ((*scene_depth(&o->s, ev, ev->kind == EV_ACQUIRE_SHARED))++ == 0)
        takes(o, ev->tid);
}

static void release(struct region_oracle *o, const struct event *ev)
{
    unsigned *d = scene_depth(&o->s, ev, ev->kind == EV_RELEASE_SHARED);

    if (--*d == 0) /* the rules say that it was held */
        gives(o, ev->tid);
}

static void join(struct region_oracle *o, const struct event *ev)
{
    const sim_tid child = (sim_tid)ev->aux;

    if (o->s.thread[child].acted && !o->thread[child].ended)
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
    if (o->s.view & ORACLE_NO_THREAD)
        return -1;
    if (ev->aux == ev->tid) /* it grows */
        gives(o, ev->tid);
    else
        takes(o, ev->tid);
    return 0;
}

static void enter(struct region_oracle *o, const struct event *ev)
{
    if (scene_enter(&o->s, ev) && o->thread[ev->tid].forked)
        takes(o, ev->tid);
}

static int step(struct region_oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];

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
        return scene_heap_event(&o->s, ev);
    case EV_WRITEVC:
        return scene_heeds(&o->s, ev) ? write_clock(o, ev) : 0;
    default:
        if (scene_heeds(&o->s, ev))
            sync_event(o, ev);
        return 0;
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct region_oracle *region_oracle_new(const struct event *rec, size_t records,
                                        const struct region_options *is)
{
    struct region_oracle *o = oracle_need(calloc(1, sizeof *o));
    bool judged = true;

    scene_open(&o->s, rec, records, is->view, is->granule);
    o->sync_free = is->sync_free;
    o->region = oracle_need(calloc(records + 1, sizeof *o->region));
    o->thread = oracle_need(calloc(o->s.threads + 1, sizeof *o->thread));
    for (size_t e = 0; e < o->s.events && judged; e++)
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
    scene_close(&o->s);
    free(o->thread);
    free(o->actor);
    free(o->region);
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
