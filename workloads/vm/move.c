/* move.c - a collector that copies while the program runs: it marks by snapshot, then moves each
 * marked object to the other half, then mends references, then clears what it has left.
 *
 * An object is copied piece by piece; when the program has written to it meanwhile the copy is
 * thrown away, and made again without interruption. From the moment that a copy counts, the old
 * header says where the object is: the program looks there before each access and goes to the new
 * place. In the pause after moving, roots learn the new places. Not modelled: copying that
 * interruptions can't spoil (the second copy holds everybody up, though it is no pause). */
#include "workloads/vm/vm_int.h"

/* Copies the body piece by piece; *changed: the program has written to it meanwhile. */
static bool copy_body(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes)
{
    const struct vm_core *c = &gc->vm->core;
    const uint64_t header = c->layout->header;
    uint64_t piece;

    for (uint64_t done = header; done < bytes; done += piece) {
        piece = vm_copy_piece(gc, to, from, done, bytes);
        memcpy((char *)vm_header(c, to) + done, (char *)vm_header(c, from) + done, piece);
    }
    vm_no_txn(gc);
    return !memcmp((char *)vm_header(c, to) + header, (char *)vm_header(c, from) + header,
                   bytes - header);
}

/* Moves an object. The copy is filler until it counts, so that a walk over the space steps over
 * it. */
static void move_object(struct vm_thread *gc, sim_addr from, uint64_t bytes)
{
    struct vm *v = gc->vm;
    const sim_addr to = vm_bump_take(&v->heap, bytes);

    vm_fill(v, to, to + bytes);
    if (copy_body(gc, to, from, bytes)) {
        vm_commit_copy(gc, to, from, bytes);
        return;
    }
    v->gc.aborts++;
    vm_pin(v);
    copy_body(gc, to, from, bytes);
    vm_commit_copy(gc, to, from, bytes);
    vm_unpin(v);
}

static void move_all(struct vm_thread *gc, struct vm_bump from)
{
    struct vm *v = gc->vm;
    uint64_t bytes;

    for (sim_addr at = from.base; at < from.at; at += bytes) {
        const struct vm_header *h = vm_header(&v->core, at);
        bytes = vm_bytes(v, h);
        vm_system_step(gc, EV_READ, at, v->core.layout->header, VM_SITE_COPY);
        if (vm_is_object(h) && vm_marked(&v->heap, at))
            move_object(gc, at, bytes);
        v->heap.to_move -= bytes;
    }
}

static void mend_root(struct vm *v, struct vm_ref *r, sim_addr where)
{
    struct vm_thread *gc = v->gc.thread;
    const uint32_t reference = v->core.layout->reference;

    vm_system_step(gc, EV_READ, where, reference, VM_SITE_ROOTS);
    if (vm_forwarded(&v->core, r->at) == r->at)
        return;
    vm_system(gc, EV_READ, r->at, v->core.layout->header, VM_SITE_UPDATE);
    r->at = vm_forwarded(&v->core, r->at);
    vm_system(gc, EV_WRITE, where, reference, VM_SITE_ROOTS);
}

/* Mends the slot by a compare and swap, so that no write of the program is lost. */
static void mend_slot(struct vm_thread *gc, sim_addr slot)
{
    struct vm *v = gc->vm;
    const uint32_t reference = v->core.layout->reference;

    vm_system_step(gc, EV_READ, slot, reference, VM_SITE_UPDATE);
    const sim_addr was = vm_load_slot(&v->core, slot), is = vm_forwarded(&v->core, was);
    if (is == was)
        return;
    vm_system(gc, EV_READ, was, v->core.layout->header, VM_SITE_UPDATE);
    vm_system(gc, EV_WRITE, slot, reference, VM_SITE_UPDATE);
    vm_store_slot(&v->core, slot, is);
}

/* Objects that were made meanwhile lie in the other half, too: they have new addresses only, and
 * need no mending. */
static void mend_all(struct vm_thread *gc, sim_addr base, sim_addr end)
{
    struct vm *v = gc->vm;
    uint64_t offset;

    for (sim_addr at = base; at < end;) {
        const struct vm_header *h = vm_header(&v->core, at);
        if (vm_is_object(h))
            for (uint64_t i = 0; (offset = vm_ref_offset(v, h, i)); i++)
                mend_slot(gc, at + offset);
        at += vm_bytes(v, h);
    }
}

void vm_move_cycle(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    v->gc.cycling = true;
    vm_mark_concurrently(gc);
    vm_retire_all(v);
    struct vm_bump from = v->heap.active;
    v->heap.active = v->heap.spare;
    v->heap.to_move = from.at - from.base;
    v->gc.barrier |= VM_FORWARD;
    vm_start_world(gc, false);

    move_all(gc, from);

    vm_stop_world(gc, false);
    vm_retire_all(v);
    vm_each_root(v, mend_root);
    const sim_addr end = v->heap.active.at;
    vm_start_world(gc, false);
    vm_wake_all(v, &v->gc.queue); /* there is room again */

    mend_all(gc, v->heap.active.base, end);
    vm_clear_region(gc, from.base, from.at);
    v->gc.barrier &= ~(unsigned)VM_FORWARD;
    v->heap.spare = (struct vm_bump){from.base, from.base, from.end};
    v->gc.cycling = false;
}
