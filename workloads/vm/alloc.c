/* alloc.c - new objects: from a thread's own buffer or free cells, which need no lock; when these
 * are used up, from the space under the heap's lock; when that is, after a collection; else the
 * stream ends with an error. The accesses that all this takes are the system's. */
#include "workloads/vm/vm_int.h"

#include <assert.h>
#include <inttypes.h>

enum { PATIENCE = 50 }; /* collections until a thread gives up that is always late */

/* ---- buffers -------------------------------------------------------------------------------- */

/* A collector that walks the heap goes from header to header, so an unused rest needs one, too. */
void vm_fill(struct vm *v, sim_addr at, sim_addr end)
{
    struct vm_header *h = vm_header(&v->core, at);

    if (at >= end)
        return;
    h->class = VM_GAP_FILL; /* the rest may be as short as these two */
    h->word = (uint32_t)((end - at) / v->core.layout->align);
}

void vm_retire(struct vm *v, struct vm_thread *t)
{
    vm_fill(v, t->tlab, t->tlab_end);
    t->tlab = t->tlab_end = 0;
}

/* ---- room ----------------------------------------------------------------------------------- */

/* Bytes that another thread's open transaction may still need: it has reserved them, as there can
 * be no collection inside it. */
static uint64_t held_back(const struct vm *v, const struct vm_thread *t)
{
    return v->txn.owner && v->txn.owner != t ? 2 * v->txn.bytes + v->p.tlab : 0;
}

/* Large objects are old from birth: copying them out of the nursery would cost more than it saves.
 */
static bool too_large(const struct vm *v, uint64_t bytes) /* for the nursery */
{
    return vm_has_cells(&v->heap) && v->heap.active.base && bytes > v->p.nursery / 8;
}

static bool in_cells(const struct vm *v, uint64_t bytes)
{
    return !v->heap.active.base || too_large(v, bytes);
}

/* Room that somebody else has a right to is no room: an open transaction's reserve, and what the
 * collector still has to move here. */
static bool bump_has(const struct vm *v, const struct vm_thread *t, uint64_t bytes)
{
    const uint64_t room = v->heap.active.end - v->heap.active.at,
                   kept = held_back(v, t) + v->heap.to_move;

    return room >= kept && room - kept >= bytes;
}

static bool cells_have(const struct vm *v, const struct vm_thread *t, uint64_t bytes)
{
    return v->heap.cells.n_free >= (bytes + held_back(v, t)) / VM_BLOCK_BYTES + 1;
}

/* The accesses under the heap's lock that take something from a space. */
static void note_taking(struct vm_thread *t, unsigned what)
{
    vm_guarded(t, VM_HEAP_LOCK, vm_area(VM_AREA_FREE, 64 * (uint64_t)what), VM_SITE_TLAB);
}

/* ---- taking memory: 0 where there is none --------------------------------------------------- */

/* Small objects come from the thread's own buffer; larger ones from the space at once, so that a
 * buffer is not thrown away half full. */
static sim_addr from_buffer(struct vm_thread *t, uint64_t bytes)
{
    struct vm *v = t->vm;
    const sim_addr at = t->tlab;

    if (t->tlab_end - at >= bytes) {
        t->tlab += bytes;
        return at;
    }
    const bool small = bytes <= v->p.tlab / 4;
    if (!bump_has(v, t, small ? v->p.tlab : bytes))
        return 0;
    note_taking(t, v->heap.sizes);
    if (!small)
        return vm_bump_take(&v->heap, bytes);
    vm_retire(v, t);
    t->tlab = vm_bump_take(&v->heap, v->p.tlab);
    t->tlab_end = t->tlab + v->p.tlab;
    return from_buffer(t, bytes);
}

/* Takes a cell from the thread's free list of the size, which is filled from a block when it is
 * empty. */
static sim_addr from_cells(struct vm_thread *t, uint64_t bytes)
{
    struct vm *v = t->vm;
    const unsigned size = vm_size_class(&v->heap, bytes);

    if (size < VM_SIZES && !t->cells[size]) {
        t->cells[size] = vm_cells_take(v, size, cells_have(v, t, 0));
        if (t->cells[size])
            note_taking(t, size);
    }
    if (size < VM_SIZES) {
        const sim_addr at = t->cells[size];
        t->cells[size] = at ? vm_next_cell(&v->core, at) : 0;
        return at;
    }
    const sim_addr at = cells_have(v, t, bytes) ? vm_cells_large(v, bytes) : 0;
    if (at)
        note_taking(t, v->heap.sizes + 1);
    return at;
}

static uint64_t in_use(const struct vm *v)
{
    return v->heap.active.at - v->heap.active.base + vm_cells_used(&v->heap);
}

NO_RETURN static void no_room(struct vm_thread *t, uint64_t bytes)
{
    const struct vm *v = t->vm;

    vm_fail(t,
            "out of heap: no room for %" PRIu64 " bytes, with %" PRIu64 " of %" PRIu64
            " in use after a full collection; give heap=%" PRIu64 " or smaller sizes",
            bytes, in_use(v), v->p.heap, 2 * v->p.heap);
}

/* True if a full collection made room, but other threads took it first. */
static bool was_late(const struct vm *v, uint64_t bytes)
{
    const uint64_t small = bytes > v->p.tlab ? bytes : v->p.tlab;

    return (in_cells(v, bytes) ? v->heap.room_cells : v->heap.room_bump) >= small + VM_BLOCK_BYTES;
}

/* Makes room, with a more thorough collection at each try. */
static void make_room(struct vm_thread *t, uint64_t bytes, unsigned tries)
{
    struct vm *v = t->vm;

    if (v->txn.owner == t)
        vm_fail(t, "out of heap inside a transaction; give vm_txn_begin a larger reserve");
    if (tries == 0 && v->gc.cycling)
        vm_want(t, VM_WANT_CYCLE);
    else if (tries == 0 && v->p.gc == VM_GENERATIONAL && !in_cells(v, bytes))
        vm_want(t, VM_WANT_MINOR);
    else if (tries <= 2 || (tries < PATIENCE && was_late(v, bytes)))
        vm_want(t, VM_WANT_FULL);
    else
        no_room(t, bytes);
}

void vm_reserve(struct vm_thread *t, uint64_t bytes)
{
    struct vm *v = t->vm;

    for (unsigned tries = 0;; tries++) {
        vm_step(t);
        if (v->heap.active.base ? bump_has(v, t, 2 * bytes + v->p.tlab)
                                : cells_have(v, t, 2 * bytes))
            return;
        make_room(t, bytes, tries);
    }
}

/* Takes memory. No pause comes between this and the caller's use of it. */
static sim_addr memory_take(struct vm_thread *t, uint64_t bytes)
{
    for (unsigned tries = 0;; tries++) {
        vm_step(t);
        const sim_addr at = in_cells(t->vm, bytes) ? from_cells(t, bytes) : from_buffer(t, bytes);
        if (at)
            return at;
        make_room(t, bytes, tries);
    }
}

/* ---- new objects ---------------------------------------------------------------------------- */

/* The runtime's writes of zeros behind the header, a cache line each. The object may move
 * meanwhile. */
static void note_zeros(struct vm_thread *t, struct vm_ref *o, uint64_t header, uint64_t bytes)
{
    const uint64_t line = 64;

    for (uint64_t done = header; done < bytes;) {
        vm_step(t);
        o->at = vm_forwarded(&t->vm->core, o->at);
        uint64_t piece = line - (o->at + done) % line;
        if (piece > bytes - done)
            piece = bytes - done;
        vm_system(t, EV_WRITE, o->at + done, (uint32_t)piece, VM_SITE_ZERO);
        done += piece;
    }
}

/* The object is there before its events: a pause between them must find it whole. */
static void make(struct vm_thread *t, struct vm_ref *to, uint64_t bytes, struct vm_header h,
                 uint32_t element, uint64_t site)
{
    struct vm *v = t->vm;
    const struct layout *l = v->core.layout;
    const uint32_t header = element ? l->array : l->header;
    const sim_addr at = memory_take(t, bytes);
    struct vm_header *host = vm_header(&v->core, at);

    memset(host, 0, bytes);
    host->class = h.class;
    if (element)
        host->length = h.length;
    if (v->gc.barrier & VM_SNAPSHOT)
        vm_mark_set(&v->heap, at);
    if (v->heap.ids)
        v->heap.ids[vm_grain(&v->heap, at)] = ++v->heap.last_id;
    if (v->txn.owner == t)
        v->txn.bytes -= v->txn.bytes < bytes ? v->txn.bytes : bytes;
    to->at = at;
    vm_emit_two(t, EV_ALLOC, at, bytes, 0, element ? h.length : 0, element, site);
    vm_system(t, EV_WRITE, at, header,
              element ? VM_SITE_ALLOC : vm_inlined(t, VM_SITE_ALLOC, site));
    note_zeros(t, to, header, bytes);
    if (v->gc.trigger && in_use(v) > v->gc.trigger)
        vm_want_soon(t);
}

void vm_new(struct vm_thread *t, struct vm_ref *to, const struct vm_class *k, uint64_t site)
{
    vm_class_use(t, k, site);
    make(t, to, k->bytes, (struct vm_header){.class = k->id}, 0, site);
}

void vm_new_array(struct vm_thread *t, struct vm_ref *to, enum vm_type element, uint64_t length,
                  uint64_t site)
{
    const struct vm_core *c = t->run.core;
    const unsigned shift = vm_shift(c, element);

    if (length >= t->vm->p.heap >> shift || length > INT32_MAX)
        no_room(t, length > UINT64_MAX >> 4 ? length : length << shift);
    make(t, to, vm_array_bytes(c, element, length),
         (struct vm_header){.class = (uint32_t)element, .length = (uint32_t)length}, 1u << shift,
         site);
}
