/* follow.h - runs a workload, keeps its events, holds them to the stream rules and to what the
 * modelled heap promises: what lies where is told from alloc, copy and clear alone, and every
 * access of the program must be to an object that is alive, the one that its identity names. */
#ifndef LARDSIM_VM_FOLLOW_H
#define LARDSIM_VM_FOLLOW_H

#include <stdlib.h>

#include "tests/frame/verdict.h"
#include "workloads/vm/vm_int.h"

enum follow_state { FOLLOW_LIVE, FOLLOW_MOVED, FOLLOW_GONE };
struct follow_object {
    sim_addr at;
    uint64_t bytes, id; /* id 0: not accessed yet */
    enum follow_state state;
};
struct follow {
    struct stream stream;
    struct vm_identity *identity; /* owns; beside the stream's records */
    size_t identity_cap;
    uint32_t *owner; /* owns; by 8 bytes of heap: number of the object there, from 1 */
    struct follow_object *object;
    size_t objects, object_cap;
    unsigned lock; /* where an object's lock word is: the first that the program touches */
    uint64_t heap, number, moved; /* moved: and not cleared yet */
    uint64_t copies, clears, copies_outside, scans_outside, collections, aborts;
    bool in_pause;
    struct err err; /* the source's */
    char why[400];  /* "": nothing was wrong */
    char **site;    /* owns; names by number */
    size_t sites;
};

static inline void follow_say(struct follow *f, const char *what, const struct event *ev)
{
    if (!f->why[0])
        snprintf(f->why, sizeof f->why, "event %llu (T%u %s 0x%llx): %s",
                 (unsigned long long)f->number, ev->tid, ev_info[ev->kind].text,
                 (unsigned long long)ev->addr, what);
}

enum { FOLLOW_GRAIN = 8 }; /* every layout aligns objects to that at least */

static inline bool follow_in_heap(const struct follow *f, sim_addr at)
{
    return at >= VM_HEAP && at < VM_HEAP + f->heap;
}

static inline struct follow_object *follow_find(struct follow *f, sim_addr at) /* or NULL */
{
    const uint32_t i = f->owner[(at - VM_HEAP) / FOLLOW_GRAIN];

    return i ? &f->object[i - 1] : NULL;
}

static inline void follow_born(struct follow *f, const struct event *ev, uint64_t id)
{
    const uint64_t first = (ev->addr - VM_HEAP) / FOLLOW_GRAIN;

    if (!follow_in_heap(f, ev->addr) || !follow_in_heap(f, ev->addr + ev->aux - 1) ||
        ev->addr % FOLLOW_GRAIN || ev->aux % FOLLOW_GRAIN) {
        follow_say(f, "not a place in the heap", ev);
        return;
    }
    f->object = xgrow(f->object, f->objects, &f->object_cap, sizeof *f->object);
    f->object[f->objects++] = (struct follow_object){ev->addr, ev->aux, id, FOLLOW_LIVE};
    for (uint64_t g = first; g < first + ev->aux / FOLLOW_GRAIN; g++) {
        if (f->owner[g])
            follow_say(f, "two objects overlap", ev);
        f->owner[g] = (uint32_t)f->objects;
    }
}

/* The object that the region is exactly. */
static inline struct follow_object *follow_exact(struct follow *f, const struct event *ev,
                                                 sim_addr at)
{
    struct follow_object *o = follow_in_heap(f, at) ? follow_find(f, at) : NULL;

    if (o && o->at == at && o->bytes == ev->aux)
        return o;
    follow_say(f, "the region is not exactly an object", ev);
    return NULL;
}

static inline void follow_copy(struct follow *f, const struct event *ev)
{
    struct follow_object *o = follow_exact(f, ev, ev[1].addr);

    f->copies++;
    f->copies_outside += !f->in_pause;
    if (!o)
        return;
    if (o->state != FOLLOW_LIVE)
        follow_say(f, "the object has moved before", ev);
    o->state = FOLLOW_MOVED;
    f->moved++;
    follow_born(f, ev, o->id);
}

static inline void follow_clear(struct follow *f, const struct event *ev)
{
    struct follow_object *o = follow_exact(f, ev, ev->addr);
    const uint64_t first = (ev->addr - VM_HEAP) / FOLLOW_GRAIN;

    f->clears++;
    if (!o)
        return;
    f->moved -= o->state == FOLLOW_MOVED;
    o->state = FOLLOW_GONE;
    memset(f->owner + first, 0, o->bytes / FOLLOW_GRAIN * sizeof *f->owner);
}

/* The program is at an address of the heap. */
static inline void follow_use(struct follow *f, const struct event *ev, struct vm_identity is)
{
    struct follow_object *o = follow_find(f, ev->addr);

    if (!o || o->state != FOLLOW_LIVE) {
        follow_say(f, o ? "the object has moved away" : "no object lives there", ev);
        return;
    }
    if (ev->addr + ev->size > o->at + o->bytes || ev->addr < o->at + f->lock)
        follow_say(f, "beyond the object", ev);
    if (!is.object || is.offset != ev->addr - o->at || (o->id && o->id != is.object))
        follow_say(f, "it is another object, or another place in it", ev);
    o->id = is.object;
}

static inline void follow_event(struct follow *f, const struct event *ev, struct vm_identity is)
{
    const uint8_t class = ev_info[ev->kind].class;
    const bool program = !(ev->flags & EVF_SYSTEM);

    if (ev->kind == EV_ALLOC)
        follow_born(f, ev, 0);
    else if (ev->kind == EV_COPY)
        follow_copy(f, ev);
    else if (ev->kind == EV_CLEAR)
        follow_clear(f, ev);
    else if (ev->kind == EV_GC_BEGIN || ev->kind == EV_GC_END)
        f->in_pause = ev->kind == EV_GC_BEGIN;
    else if ((class == CLASS_ACCESS || class == CLASS_SYNC) && program &&
             follow_in_heap(f, ev->addr))
        follow_use(f, ev, is);
    else if (is.object)
        follow_say(f, "it has an identity, and is no use of an object by the program", ev);
    f->scans_outside += ev->kind == EV_READ && ev->aux == VM_SITE_SCAN && !f->in_pause;
}

static inline void follow_keep(struct follow *f, const struct event *ev, struct vm_identity is)
{
    for (unsigned i = 0; i < event_records(ev); i++) {
        f->identity =
            xgrow(f->identity, f->stream.records + i, &f->identity_cap, sizeof *f->identity);
        f->identity[f->stream.records + i] = i ? (struct vm_identity){0} : is;
    }
    stream_add(&f->stream, ev);
}

static inline void follow_batch(struct follow *f, const struct batch *b, struct rules *rules,
                                const struct vm_identity *identity)
{
    const char *what;
    struct err e = {0};

    for (const struct event *ev = b->rec; ev < b->rec + b->records; ev += event_records(ev)) {
        const struct vm_identity is = identity[ev - b->rec];
        if (event_well_formed(ev, &what))
            follow_say(f, what, ev);
        if (!f->why[0] && rules_apply(rules, ev, f->number, &e))
            snprintf(f->why, sizeof f->why, "%.390s", e.text);
        follow_event(f, ev, is);
        follow_keep(f, ev, is);
        f->number++;
    }
}

static inline void follow_names(struct follow *f, const struct vm *v)
{
    f->sites = v->sites.n;
    f->site = xcalloc(v->sites.n, sizeof *f->site);
    for (uint64_t i = 0; i < v->sites.n; i++) {
        const char *name = names_find(v->names, NAME_SITE, i);
        f->site[i] = name ? xstrdup(name) : NULL;
    }
}

/* All of it; closes s. */
static inline void follow_source(struct follow *f, struct source *s)
{
    struct rules *rules = rules_new(true);
    const struct vm_identity *identity;
    struct vm *v = (struct vm *)s;
    struct batch b;
    struct err e = {0};

    *f = (struct follow){.heap = v->p.heap, .lock = v->core.layout->lock};
    f->owner = xcalloc(f->heap / FOLLOW_GRAIN, sizeof *f->owner);
    workload_identify(s, &identity);
    for (;;) {
        if (source_next(s, &b, &f->err) || !b.records)
            break;
        if (b.first != f->number)
            follow_say(f, "the batch has another number", b.rec);
        follow_batch(f, &b, rules, identity);
    }
    if (!f->err.code && !f->why[0] && rules_finish(rules, &e))
        snprintf(f->why, sizeof f->why, "%.390s", e.text);
    f->collections = v->gc.collections;
    f->aborts = v->gc.aborts;
    follow_names(f, v);
    source_close(s);
    rules_free(rules);
}

/* A program of a test's own, with small defaults. */
static inline struct vm_params follow_params(void)
{
    return (struct vm_params){.seed = 1,
                              .threads = 3,
                              .quantum = 10,
                              .heap = 1 << 20,
                              .nursery = 1 << 16,
                              .tlab = 1024,
                              .instructions = 100 * VM_GAP,
                              .slower = 100,
                              .schedule = VM_RANDOM};
}

static inline void follow_program(struct follow *f,
                                  void (*program)(struct vm_thread *t, const void *p),
                                  const struct vm_params *p, const char *const *sites)
{
    struct err e = {0};
    struct workload *w = xcalloc(1, sizeof *w);

    *w = (struct workload){.name = "test", .sites = sites, .main = program};
    struct vm *v = vm_open(w, p, NULL, NULL, &e);
    follow_source(f, &v->source);
    free(w);
    if (f->why[0])
        die("%s", f->why);
}

static inline void follow_free(struct follow *f)
{
    for (size_t i = 0; i < f->sites; i++)
        free(f->site[i]);
    free(f->site);
    free(f->identity);
    free(f->owner);
    free(f->object);
    stream_free(&f->stream);
}

#endif
