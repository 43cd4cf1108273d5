/* abstract.c - events by (object identity, offset) in the place of addresses. It makes no verdicts:
 * those who run a detector on what comes out do. */
#include "workloads/measure/abstract.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/sim.h"
#include "workloads/measure/measure.h"

#define PLACE_BYTES 64 /* of an object, that have one place; objects are aligned to less */
#define PLACES      (UINT64_C(1) << 62) /* beyond all addresses of workloads */
#define OFFSET_BITS 40
#define WORD        8

void abstract_init(struct abstract *a)
{
    *a = (struct abstract){0};
    map_init(&a->place, NULL);
    map_init(&a->at, NULL);
    map_init(&a->owner, NULL);
    life_map_init(&a->lives);
}

void abstract_free(struct abstract *a)
{
    map_free(&a->place);
    map_free(&a->at);
    map_free(&a->owner);
    life_map_free(&a->lives);
}

/* Counts what only a collector does to memory: it has been another object's before, or the object
 * was elsewhere before. Where neither happens, a policy without Clear and Copy has nothing to get
 * wrong. */
static void note_use(struct abstract *a, sim_addr addr, struct vm_identity is)
{
    uint64_t *owner = map_put(&a->owner, addr / WORD);
    uint64_t *at = map_put(&a->at, is.object);
    const sim_addr begin = addr - is.offset;

    a->uses_again += *owner && *owner != is.object;
    a->uses_moved += *at && *at != begin;
    *owner = is.object;
    *at = begin;
}

/* Pieces of objects get addresses in order of first use, which no collector changes. */
static sim_addr place_of(struct abstract *a, struct vm_identity is)
{
    /* PLACE_BYTES is 2^6, so the identity begins where the number of a piece ends. */
    const uint64_t piece = is.object << (OFFSET_BITS - 6) | is.offset / PLACE_BYTES;
    uint64_t *n = map_put(&a->place, piece);

    if (!*n)
        *n = ++a->places;
    return PLACES + *n * PLACE_BYTES + is.offset % PLACE_BYTES;
}

/* Tells if an event is dropped: the runtime's own, or one about memory. Threads and what they do to
 * each other stay: they order the program's accesses. */
static bool is_dropped(struct abstract *a, const struct event *ev)
{
    const uint8_t class = ev_info[ev->kind].class;
    const bool system = (class == CLASS_ACCESS || class == CLASS_SYNC) && ev->flags & EVF_SYSTEM;

    a->system += system;
    return class == CLASS_HEAP || system;
}

/* False: all has been said. */
static bool begin(struct abstract *a, const struct event *ev, struct event to[EVENT_RECORDS])
{
    if (is_dropped(a, ev)) {
        /* An event that means nothing: those that follow keep their numbers. */
        to[0] = (struct event){.kind = EV_IO, .tid = ev->tid};
        return false;
    }
    memcpy(to, ev, event_records(ev) * sizeof *to);
    return true;
}

void abstract_event(struct abstract *a, const struct event *ev, struct vm_identity is,
                    struct event to[EVENT_RECORDS])
{
    if (!begin(a, ev, to) || !is.object)
        return;
    note_use(a, ev->addr, is);
    to[0].addr = place_of(a, is);
}

static bool has_address(const struct event *ev)
{
    const uint8_t form = ev_info[ev->kind].form;

    return form == FORM_ACCESS || form == FORM_OBJECT || form == FORM_ROUND;
}

/* The words of an object move together, so that each is as good as an object here. */
void abstract_captured(struct abstract *a, const struct event *ev, struct event to[EVENT_RECORDS])
{
    life_map_follow(&a->lives, ev);
    if (!begin(a, ev, to) || !has_address(ev))
        return;
    to[0].addr = life_map_place(&a->lives, ev->addr);
    note_use(a, ev->addr, (struct vm_identity){to[0].addr / WORD, (uint32_t)(ev->addr % WORD)});
}

/* ---- a source of what comes out ------------------------------------------------------------- */

struct unmoved_source {
    struct source base;
    struct source *inner;               /* owns */
    const struct vm_identity *identity; /* beside its batch; NULL: a capture */
    struct abstract made;
    struct lardsim_unmoved *counts;
    struct event *rec; /* owns */
    size_t most;
};

static int unmoved_next(struct source *source, struct batch *b, struct err *e)
{
    struct unmoved_source *s = (struct unmoved_source *)source;
    struct event *to = s->rec;

    if (source_next(s->inner, b, e))
        return -1;
    if (b->records > s->most) {
        s->most = b->records;
        s->rec = to = xrealloc(s->rec, s->most, sizeof *s->rec);
    }
    for (const struct event *ev = b->rec; ev < b->rec + b->records; ev += event_records(ev)) {
        if (s->identity)
            abstract_event(&s->made, ev, s->identity[ev - b->rec], to);
        else
            abstract_captured(&s->made, ev, to);
        to += event_records(to);
    }
    b->rec = s->rec;
    b->records = (size_t)(to - s->rec);
    *s->counts = (struct lardsim_unmoved){s->made.uses_again, s->made.uses_moved, s->made.system};
    return 0;
}

static void unmoved_close(struct source *source)
{
    struct unmoved_source *s = (struct unmoved_source *)source;

    source_close(s->inner);
    abstract_free(&s->made);
    free(s->rec);
    free(s);
}

struct lardsim_source *lardsim_unmoved(const char *source, struct lardsim_unmoved *to,
                                       struct err *e)
{
    struct source *inner =
        source_path(source) ? source_open(source, e) : workload_open(workload_spec(source), e);
    const struct vm_identity *identity = NULL;

    if (inner && !source_path(source) && workload_identify(inner, &identity)) {
        err_set(e, LARD_INTERNAL, "%s: no identities of objects", inner->name);
        source_close(inner);
        inner = NULL;
    }
    if (!inner)
        return NULL;
    struct unmoved_source *s = xcalloc(1, sizeof *s);
    s->base = *inner;
    s->base.next = unmoved_next;
    s->base.close = unmoved_close;
    s->base.identity = NULL; /* that is of other events */
    s->base.driven = NULL;
    s->base.kept = (struct budget){0}; /* inner has it */
    s->inner = inner;
    s->identity = identity;
    s->counts = to;
    abstract_init(&s->made);
    return sim_adopt(&s->base);
}
