/* notes.c - what is legal in a stream, but suspicious (notes.def). Only who asks for notes pays for
 * them. */
#include "trace/rules/rules_int.h"

#include <stdlib.h>

const struct note_info note_info[NOTE_KINDS] = {
#define NOTE(id, name, text, place) [NOTE_##id] = {name, text, NOTE_OF_##place},
#include "trace/rules/notes.def"
#undef NOTE
};

struct rules_notes {
    struct notes_taken taken;
    struct map forked; /* a set: threads that were, and those that have their note */
    bool begun;        /* the first thread of the program has acted */
};

/* Bits in the round of a volatile: it was written, or read. */
enum { WRITTEN = 1, READ = 2 };

void rules_take_notes(struct rules *r)
{
    r->notes = xcalloc(1, sizeof *r->notes);
    map_init(&r->notes->forked, r->budget);
}

void rules_notes_free(struct rules *r)
{
    if (r->notes)
        map_free(&r->notes->forked);
    free(r->notes);
}

const struct notes_taken *rules_notes(const struct rules *r)
{
    return &r->notes->taken;
}

static void note_take(struct rules *r, enum note_kind kind, uint64_t number, sim_tid tid,
                      sim_addr addr)
{
    struct notes_taken *n = &r->notes->taken;

    if (n->count[kind] < NOTES_KEPT)
        n->first[kind][n->count[kind]] = (struct note){number, tid, addr};
    n->count[kind]++;
}

static void here(struct rules *r, enum note_kind kind)
{
    note_take(r, kind, r->number, r->ev->tid, r->ev->addr);
}

/* ---- events --------------------------------------------------------------------------------- */

static void see_thread(struct rules *r)
{
    struct rules_notes *n = r->notes;

    if (r->ev->kind == EV_FORK)
        *map_put(&n->forked, r->ev->aux) = 1;
    if (r->ev->flags & EVF_SYSTEM)
        return;
    uint64_t *forked = map_put(&n->forked, r->ev->tid);
    if (!*forked && n->begun)
        here(r, NOTE_ROOT_THREAD);
    *forked = 1;
    n->begun = true;
}

static void see_access(struct rules *r)
{
    if (!event_tracked(r->ev))
        return;
    if (!r->ev->aux)
        here(r, NOTE_NO_SITE);
    if (!rules_allocated(r, r->ev->addr, r->ev->size))
        here(r, NOTE_UNALLOCATED_ACCESS);
}

static void see_volatile(struct rules *r, unsigned what)
{
    struct rules_object *o = rules_find(r, OBJECT_VOLATILE, r->ev->addr);

    if (!o)
        o = rules_add(r, OBJECT_VOLATILE, r->ev->addr);
    o->round |= what;
}

/* A volatile that was moved counts as read: its readers read the copy from now on. */
void rules_note_moved(struct rules_object *o)
{
    if (o->kind == OBJECT_VOLATILE)
        o->round |= READ;
}

void rules_note_copy(struct rules *r)
{
    if (r->notes && !rules_allocated(r, r->ev[1].addr, r->ev->aux))
        note_take(r, NOTE_MOVED_UNALLOCATED, r->number, r->ev->tid, r->ev[1].addr);
}

void rules_note(struct rules *r)
{
    if (!r->notes)
        return;
    see_thread(r);
    if (event_is_access(r->ev))
        see_access(r);
    else if (r->ev->kind == EV_VOLATILE_WRITE)
        see_volatile(r, WRITTEN);
    else if (r->ev->kind == EV_VOLATILE_READ)
        see_volatile(r, READ);
}

/* ---- the end -------------------------------------------------------------------------------- */

static bool end_object(void *arg, sim_addr addr, void *cell)
{
    struct rules *r = arg;

    (void)addr;
    for (const struct rules_object *o = *(struct rules_object **)cell; o; o = o->next) {
        if (o->kind == OBJECT_LOCK && o->id && (o->depth || o->sharers))
            note_take(r, NOTE_NEVER_RELEASED, NOTE_AT_END, 0, o->addr);
        if (o->kind == OBJECT_VOLATILE && o->round == WRITTEN)
            note_take(r, NOTE_UNREAD_VOLATILE, NOTE_AT_END, 0, o->addr);
    }
    return false;
}

void rules_note_end(struct rules *r)
{
    for (uint32_t i = 0; i < r->threads; i++) {
        const unsigned state = r->thread[i].state;
        if (state & FORKED)
            note_take(r, NOTE_IDLE_THREAD, NOTE_AT_END, (sim_tid)i, 0);
        if (state & (WAITING | AT_BARRIER))
            note_take(r, NOTE_STILL_WAITING, NOTE_AT_END, (sim_tid)i, 0);
        if (state & IN_TXN)
            note_take(r, NOTE_UNCOMMITTED, NOTE_AT_END, (sim_tid)i, 0);
    }
    shadow_all(r->objects, end_object, r);
    /* Many recorders see no allocation at all. */
    if (!r->allocs)
        r->notes->taken.count[NOTE_UNALLOCATED_ACCESS] = 0;
}
