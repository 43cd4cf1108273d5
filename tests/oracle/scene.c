/* scene.c - see scene.h. Like the oracles it knows the events only (docs/events.md). */
#include "tests/oracle/scene.h"

#include <stdlib.h>

#include "tests/oracle/oracle.h"

void scene_open(struct scene *s, const struct event *rec, size_t records, unsigned view,
                uint64_t granule)
{
    *s = (struct scene){.view = view, .granule = granule};
    s->ev = oracle_need(calloc(records + 1, sizeof *s->ev));
    for (size_t i = 0; i < records; i += event_records(&rec[i])) {
        const struct event *ev = s->ev[s->events++] = &rec[i];
        const bool names = ev->kind == EV_FORK || ev->kind == EV_JOIN;
        const size_t high = names && ev->aux > ev->tid ? ev->aux : ev->tid;
        s->threads = high + 1 > s->threads ? high + 1 : s->threads;
    }
    s->thread = oracle_need(calloc(s->threads + 1, sizeof *s->thread));
}

void scene_close(struct scene *s)
{
    places_free(&s->places);
    for (size_t t = 0; t < s->threads; t++)
        free(s->thread[t].txn.at);
    free(s->thread);
    free(s->ev);
}

/* ---- who acts ------------------------------------------------------------------------------- */

bool scene_enter(struct scene *s, const struct event *ev)
{
    struct scene_thread *t = &s->thread[ev->tid];
    const bool first = !t->acted;

    if (ev->kind == EV_THREAD) {
        t->mapped = true;
        t->kernel = ev->aux;
    }
    t->acted = true;
    return first;
}

uint64_t scene_actor(const struct scene *s, sim_tid tid)
{
    const struct scene_thread *t = &s->thread[tid];

    if (s->view & ORACLE_NO_THREAD && t->mapped)
        return 2 * t->kernel + 1;
    return 2 * (uint64_t)tid;
}

/* ---- what counts ---------------------------------------------------------------------------- */

bool scene_sees(const struct scene *s, const struct event *access)
{
    if (access->flags & EVF_STACK)
        return false;
    return s->view & ORACLE_ALL_MEMORY ||
           !(access->flags & (EVF_SYSTEM | EVF_FINAL | EVF_VOLATILE));
}

bool scene_heeds(const struct scene *s, const struct event *sync)
{
    return !(sync->flags & EVF_SYSTEM) || s->view & ORACLE_ALL_SYNC;
}

/* ---- accesses ------------------------------------------------------------------------------- */

bool scene_location(const struct scene *s, const struct event *ev, uint64_t i, uint64_t *addr)
{
    const uint64_t g = s->granule;

    *addr = g ? (ev->addr / g + i) * g : ev->addr;
    return g ? i <= (ev->addr + ev->size - 1) / g - ev->addr / g : i == 0;
}

bool scene_waits(struct scene *s, size_t event)
{
    const struct event *ev = s->ev[event];

    if (!(ev->flags & EVF_IN_TXN))
        return false;
    list_add(&s->thread[ev->tid].txn, event);
    return true;
}

struct entry scene_entry(const struct scene *s, size_t e, size_t access)
{
    const struct event *ev = s->ev[access];

    return (struct entry){.actor = scene_actor(s, ev->tid),
                          .event = e,
                          .access = access,
                          .writes = ev->kind != EV_READ,
                          .atomic = event_order(ev) != ORDER_NONE,
                          .transaction = e != access && scene_heeds(s, s->ev[e])};
}

bool scene_conflict(const struct entry *a, const struct entry *b)
{
    return a->actor != b->actor && (a->writes || b->writes) && !(a->atomic && b->atomic);
}

/* ---- locks and memory ----------------------------------------------------------------------- */

unsigned *scene_depth(struct scene *s, const struct event *ev, bool shared)
{
    struct place *lock = place_at(&s->places, LOCK, ev->addr, 0);

    for (size_t i = 0; i < lock->holds; i++)
        if (lock->hold[i].tid == ev->tid && lock->hold[i].shared == shared)
            return &lock->hold[i].depth;
    lock->hold = oracle_room(lock->hold, lock->holds, &lock->holds_cap, sizeof *lock->hold);
    lock->hold[lock->holds] = (struct hold){ev->tid, shared, 0};
    return &lock->hold[lock->holds++].depth;
}

int scene_heap_event(struct scene *s, const struct event *ev)
{
    const uint64_t g = s->granule ? s->granule : 1;

    if (ev->addr % g || ev->aux % g || (ev->kind == EV_COPY && ev[1].addr % g))
        return -1;
    if (ev->kind == EV_CLEAR)
        places_clear(&s->places, ev->addr, ev->aux, !(s->view & ORACLE_NO_CLEAR));
    else
        places_copy(&s->places, ev->addr, ev[1].addr, ev->aux, !(s->view & ORACLE_NO_COPY));
    return 0;
}
