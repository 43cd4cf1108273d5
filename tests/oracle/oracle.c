/* oracle.c - docs/events.md as a graph. Events are nodes; edges go from what publishes to what
 * takes; an access races when a conflicting entry of its location's history does not reach it.
 *
 * Written from that page alone, without a look at the policies, and plainly: a node's set of all
 * that happens before it is the union of its predecessors' sets. */
#include "tests/oracle/oracle.h"
#include "tests/oracle/scene.h"

#include <stdlib.h>

enum { NO_EVENT = -1 };

struct thread {
    long fork, end; /* events that count in this view, or NO_EVENT */
    uint64_t time;  /* own entry, which only raw clock writes ask for */
};

struct actor {
    uint64_t id;
    size_t last; /* its latest event */
};

struct oracle {
    struct scene s;
    bool history_all;
    size_t words;
    uint64_t *known; /* for each event a bit for itself and for all that happens before it */
    uint64_t *time;  /* for each event its thread's own time */
    uint64_t *by;    /* for each event who acts */
    struct thread *thread;
    struct actor *actor;
    size_t actors, actors_cap;
    struct list commits; /* of all variables, for ORACLE_ALL_COMMITS */
    struct oracle_pair *pair;
    size_t pairs, pairs_cap;
    size_t *first_pair; /* of each event; one more */
    struct oracle_location *location;
    size_t locations, locations_cap;
};

/* ---- the graph ------------------------------------------------------------------------------ */

static uint64_t *known(const struct oracle *o, size_t e)
{
    return o->known + e * o->words;
}

static bool before(const struct oracle *o, size_t a, size_t b)
{
    return known(o, b)[a / 64] >> a % 64 & 1;
}

static void edge(struct oracle *o, size_t from, size_t to)
{
    if (before(o, from, to))
        return; /* and so does everything before it */
    for (size_t w = 0; w < o->words; w++)
        known(o, to)[w] |= known(o, from)[w];
}

static void take(struct oracle *o, const struct list *publishers, size_t e)
{
    for (size_t i = publishers->n; i-- > 0;)
        edge(o, publishers->at[i], e);
}

static void publish(struct oracle *o, struct list *to, size_t e)
{
    list_add(to, e);
    o->thread[o->s.ev[e]->tid].time = o->time[e] + 1;
}

/* ---- who acts ------------------------------------------------------------------------------- */

static struct actor *actor_find(const struct oracle *o, uint64_t id)
{
    for (size_t i = 0; i < o->actors; i++)
        if (o->actor[i].id == id)
            return &o->actor[i];
    return NULL;
}

/* The event follows its actor's latest, and its thread's birth when it is the thread's first. */
static void enter(struct oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];
    const struct thread *t = &o->thread[ev->tid];
    const bool first = scene_enter(&o->s, ev);

    known(o, e)[e / 64] |= UINT64_C(1) << e % 64;
    o->time[e] = t->time;
    const uint64_t id = o->by[e] = scene_actor(&o->s, ev->tid);
    struct actor *a = actor_find(o, id);

    if (a) {
        edge(o, a->last, e);
        a->last = e;
    } else {
        o->actor = oracle_room(o->actor, o->actors, &o->actors_cap, sizeof *o->actor);
        o->actor[o->actors++] = (struct actor){id, e};
    }
    if (first && t->fork != NO_EVENT)
        edge(o, (size_t)t->fork, e);
}

static void join(struct oracle *o, size_t e)
{
    const sim_tid child = (sim_tid)o->s.ev[e]->aux;
    const struct thread *u = &o->thread[child];

    if (u->end != NO_EVENT)
        edge(o, (size_t)u->end, e);
    else if (o->s.thread[child].acted)
        edge(o, actor_find(o, scene_actor(&o->s, child))->last, e);
    else if (u->fork != NO_EVENT) /* it did nothing, but was born */
        edge(o, (size_t)u->fork, e);
}

/* ---- histories ------------------------------------------------------------------------------ */

static void racy(struct oracle *o, struct place *p, size_t e, size_t access,
                 const struct entry *with)
{
    if (!p->marked) {
        o->location =
            oracle_room(o->location, o->locations, &o->locations_cap, sizeof *o->location);
        o->location[o->locations++] = (struct oracle_location){p->addr, e};
        p->marked = true;
    }
    o->pair = oracle_room(o->pair, o->pairs, &o->pairs_cap, sizeof *o->pair);
    o->pair[o->pairs++] = (struct oracle_pair){e, access, with->event, with->access, p->addr};
}

/* The kind of conflict is one that counts. */
static bool counts(const struct oracle *o, const struct entry *older, const struct entry *newer)
{
    const unsigned kind = !newer->writes  ? ORACLE_NO_READ_AFTER_WRITE
                          : older->writes ? ORACLE_NO_WRITE_AFTER_WRITE
                                          : ORACLE_NO_WRITE_AFTER_READ;

    return !(o->s.view & kind) &&
           !(o->s.view & ORACLE_NO_ATOMICS && (older->atomic || newer->atomic));
}

static bool conflict(const struct oracle *o, const struct entry *a, const struct entry *b)
{
    if (o->s.view & (ORACLE_ALL_COMMITS | ORACLE_WRITE_TO_READ) && a->transaction && b->transaction)
        return false;
    return scene_conflict(a, b);
}

/* What an entry makes superfluous. */
static bool replaces(const struct oracle *o, const struct entry *newer, const struct entry *older)
{
    if (!o->history_all && newer->writes)
        return true;
    return newer->actor == older->actor && newer->writes == older->writes &&
           newer->atomic == older->atomic;
}

static void remember(struct oracle *o, struct place *p, const struct entry *newer)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->entries; i++)
        if (!replaces(o, newer, &p->entry[i]))
            p->entry[kept++] = p->entry[i];
    p->entry = oracle_room(p->entry, kept, &p->entries_cap, sizeof *p->entry);
    p->entry[kept] = *newer;
    p->entries = kept + 1;
}

/* Event e (the access, or the commit of its transaction) makes the access happen. */
static void happen(struct oracle *o, size_t e, size_t access)
{
    const struct event *ev = o->s.ev[access];
    const struct entry newer = scene_entry(&o->s, e, access);
    uint64_t addr;

    if (!scene_sees(&o->s, ev))
        return;
    for (uint64_t i = 0; scene_location(&o->s, ev, i, &addr); i++) {
        struct place *p = place_at(&o->s.places, HISTORY, addr, 0);
        for (size_t k = 0; k < p->entries; k++)
            if (conflict(o, &p->entry[k], &newer) && counts(o, &p->entry[k], &newer) &&
                !before(o, p->entry[k].event, e))
                racy(o, p, e, access, &p->entry[k]);
        remember(o, p, &newer);
    }
}

/* ---- synchronisation ------------------------------------------------------------------------ */

/* The modification order of an atomic location, C11 5.1.2.4: whoever reads after the last of these
 * modifications reads from the release sequence headed by the i-th, if each later one is of that
 * thread, or is no store of C11. What is no C11 heads no sequence: it counts until such a store. */
static bool in_sequence(const struct oracle *o, const struct list *modified, size_t i)
{
    const bool heads = o->s.ev[modified->at[i]]->flags & EVF_C11;

    for (size_t k = i + 1; k < modified->n; k++) {
        const struct event *later = o->s.ev[modified->at[k]];
        const bool store = later->kind == EV_WRITE && later->flags & EVF_C11;
        if (store && !(heads && o->by[modified->at[k]] == o->by[modified->at[i]]))
            return false;
    }
    return true;
}

static void atomic_take(struct oracle *o, size_t e)
{
    const struct list *modified = &place_at(&o->s.places, ATOMIC, o->s.ev[e]->addr, 0)->exclusive;

    for (size_t i = 0; i < modified->n; i++)
        if (order_gives(event_order(o->s.ev[modified->at[i]])) && in_sequence(o, modified, i))
            edge(o, modified->at[i], e);
}

static void access_event(struct oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];
    const bool edges = scene_heeds(&o->s, ev) && event_order(ev) != ORDER_NONE;

    if (scene_waits(&o->s, e))
        return;
    if (edges && ev->kind != EV_WRITE && order_takes(event_order(ev)))
        atomic_take(o, e);
    happen(o, e, e);
    if (edges && ev->kind != EV_READ)
        list_add(&place_at(&o->s.places, ATOMIC, ev->addr, 0)->exclusive, e);
    if (edges && ev->kind != EV_READ && order_gives(event_order(ev)))
        o->thread[ev->tid].time = o->time[e] + 1;
}

/* Takes from where earlier commits published, or publishes there, for each of the transaction's
 * variables. */
static void commit_edges(struct oracle *o, size_t e, bool publishes)
{
    const struct list *txn = &o->s.thread[o->s.ev[e]->tid].txn;
    const uint8_t other = publishes ? EV_READ : EV_WRITE;
    uint64_t addr;

    for (size_t k = 0; k < txn->n; k++) {
        if (o->s.view & ORACLE_WRITE_TO_READ && o->s.ev[txn->at[k]]->kind == other)
            continue;
        for (uint64_t i = 0; scene_location(&o->s, o->s.ev[txn->at[k]], i, &addr); i++) {
            struct list *l = &place_at(&o->s.places, COMMIT, addr, 0)->exclusive;
            if (o->s.view & ORACLE_ALL_COMMITS)
                l = &o->commits;
            if (publishes)
                publish(o, l, e);
            else
                take(o, l, e);
        }
    }
}

static void commit(struct oracle *o, size_t e)
{
    struct list *txn = &o->s.thread[o->s.ev[e]->tid].txn;
    const bool edges = scene_heeds(&o->s, o->s.ev[e]);

    if (edges)
        commit_edges(o, e, false);
    for (size_t k = 0; k < txn->n; k++)
        happen(o, e, txn->at[k]);
    if (edges)
        commit_edges(o, e, true);
    txn->n = 0;
}

static void take_lock(struct oracle *o, size_t e, const struct place *lock, bool shared)
{
    take(o, &lock->exclusive, e);
    if (!shared)
        take(o, &lock->shared, e);
}

static void lock_event(struct oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];
    struct place *lock = place_at(&o->s.places, LOCK, ev->addr, 0);
    const bool shared = ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_RELEASE_SHARED;
    unsigned *d = scene_depth(&o->s, ev, shared);

    if (ev->kind == EV_WAIT_ENTER)
        publish(o, &lock->exclusive, e);
    else if (ev->kind == EV_WAIT_EXIT)
        take_lock(o, e, lock, false);
    else if (ev->kind == EV_ACQUIRE || ev->kind == EV_ACQUIRE_SHARED) {
        if ((*d)++ == 0)
            take_lock(o, e, lock, shared);
    } else if (*d > 1)
        --*d;
    else {
        *d = 0;
        publish(o, shared ? &lock->shared : &lock->exclusive, e);
    }
}

/* An object that is only published to and taken from. */
static void message(struct oracle *o, size_t e, enum space space, bool gives)
{
    const struct event *ev = o->s.ev[e];
    struct list *l =
        &place_at(&o->s.places, space, ev->addr, space == BARRIER ? ev->aux : 0)->exclusive;

    if (gives)
        publish(o, l, e);
    else
        take(o, l, e);
}

static void sync_event(struct oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];
    struct thread *t = &o->thread[ev->tid];

    switch (ev->kind) {
    case EV_ACQUIRE:
    case EV_ACQUIRE_SHARED:
    case EV_RELEASE:
    case EV_RELEASE_SHARED:
    case EV_WAIT_ENTER:
    case EV_WAIT_EXIT:
        lock_event(o, e);
        break;
    case EV_VOLATILE_READ:
    case EV_VOLATILE_WRITE:
        message(o, e, VOLATILE, ev->kind == EV_VOLATILE_WRITE);
        break;
    case EV_BARRIER_ARRIVE:
    case EV_BARRIER_DEPART:
        message(o, e, BARRIER, ev->kind == EV_BARRIER_ARRIVE);
        break;
    case EV_CLASS_INIT:
    case EV_CLASS_USE:
        message(o, e, CLASS, ev->kind == EV_CLASS_INIT);
        break;
    case EV_FORK:
        o->thread[ev->aux].fork = (long)e;
        t->time++;
        break;
    case EV_JOIN:
        join(o, e);
        break;
    case EV_THREAD_END:
        t->end = (long)e;
        t->time++;
        break;
    }
}

/* The runtime says that what thread ev->aux did up to its own time ev->addr happened before. */
static int write_clock(struct oracle *o, size_t e)
{
    const struct event *ev = o->s.ev[e];
    struct thread *t = &o->thread[ev->tid];

    if (o->s.view & ORACLE_NO_THREAD)
        return -1;
    if (ev->aux == ev->tid) {
        t->time = ev->addr > t->time ? ev->addr : t->time;
        return 0;
    }
    for (size_t i = e; i-- > 0;)
        if (o->s.ev[i]->tid == ev->aux && o->time[i] <= ev->addr) {
            edge(o, i, e);
            break;
        }
    return 0;
}

static int step(struct oracle *o, size_t e)
{
    enter(o, e);
    switch (o->s.ev[e]->kind) {
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
        return scene_heap_event(&o->s, o->s.ev[e]);
    case EV_WRITEVC:
        return scene_heeds(&o->s, o->s.ev[e]) ? write_clock(o, e) : 0;
    default:
        if (scene_heeds(&o->s, o->s.ev[e]))
            sync_event(o, e);
        return 0;
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void prepare(struct oracle *o)
{
    o->words = o->s.events / 64 + 1;
    o->known = oracle_need(calloc(o->s.events * o->words + 1, sizeof *o->known));
    o->time = oracle_need(calloc(o->s.events + 1, sizeof *o->time));
    o->by = oracle_need(calloc(o->s.events + 1, sizeof *o->by));
    o->first_pair = oracle_need(calloc(o->s.events + 1, sizeof *o->first_pair));
    o->thread = oracle_need(calloc(o->s.threads + 1, sizeof *o->thread));
    for (size_t t = 0; t < o->s.threads; t++)
        o->thread[t] = (struct thread){.fork = NO_EVENT, .end = NO_EVENT, .time = 1};
}

struct oracle *oracle_new(const struct event *rec, size_t records, const struct oracle_options *is)
{
    struct oracle *o = oracle_need(calloc(1, sizeof *o));
    bool judged = true;

    scene_open(&o->s, rec, records, is->view, is->granule);
    o->history_all = is->history_all;
    prepare(o);
    for (size_t e = 0; e < o->s.events && judged; e++) {
        o->first_pair[e] = o->pairs;
        judged = step(o, e) == 0;
    }
    o->first_pair[o->s.events] = o->pairs;
    if (judged)
        return o;
    oracle_free(o);
    return NULL;
}

void oracle_free(struct oracle *o)
{
    if (!o)
        return;
    scene_close(&o->s);
    free(o->commits.at);
    free(o->thread);
    free(o->actor);
    free(o->known);
    free(o->time);
    free(o->by);
    free(o->pair);
    free(o->first_pair);
    free(o->location);
    free(o);
}

size_t oracle_events(const struct oracle *o)
{
    return o->s.events;
}

bool oracle_racy(const struct oracle *o, size_t event)
{
    return o->first_pair[event] < o->first_pair[event + 1];
}

size_t oracle_pairs(const struct oracle *o, size_t event, const struct oracle_pair **first)
{
    *first = o->pairs ? &o->pair[o->first_pair[event]] : NULL;
    return o->first_pair[event + 1] - o->first_pair[event];
}

size_t oracle_locations(const struct oracle *o, const struct oracle_location **first)
{
    *first = o->location;
    return o->locations;
}

bool oracle_before(const struct oracle *o, size_t a, size_t b)
{
    return before(o, a, b);
}

int oracle_run(const struct event *rec, size_t records, const struct oracle_options *is,
               bool *racy_at)
{
    struct oracle *o = oracle_new(rec, records, is);

    if (!o)
        return -1;
    for (size_t e = 0; e < o->s.events; e++)
        racy_at[e] = oracle_racy(o, e);
    oracle_free(o);
    return 0;
}
