/* mark.c - marking what can be reached, in a pause or while the program runs. Marks are bits in
 * a table beside the heap. Concurrent marking is by snapshot: what the program overwrites
 * meanwhile is marked as well, and what it allocates is marked from the start. */
#include "workloads/vm/vm_int.h"

/* No pause before the accesses: the reference was just read. */
static void mark(struct vm_thread *gc, sim_addr at)
{
    struct vm *v = gc->vm;

    if (!at)
        return;
    vm_system(gc, EV_READ, vm_mark_at(&v->heap, at), 8, VM_SITE_MARK);
    if (vm_marked(&v->heap, at))
        return;
    vm_mark_set(&v->heap, at);
    vm_system(gc, EV_WRITE, vm_mark_at(&v->heap, at), 8, VM_SITE_MARK);
    vm_addresses_add(&v->gc.stack, at);
}

static void mark_root(struct vm *v, struct vm_ref *r, sim_addr where)
{
    vm_system_step(v->gc.thread, EV_READ, where, v->core.layout->reference, VM_SITE_ROOTS);
    mark(v->gc.thread, r->at);
}

void vm_mark_roots(struct vm_thread *gc)
{
    vm_each_root(gc->vm, mark_root);
}

/* Reads each reference of the object, and marks what it refers to. */
static void scan(struct vm_thread *gc, sim_addr at)
{
    struct vm *v = gc->vm;
    const struct vm_header *h = vm_header(&v->core, at);
    uint64_t offset;

    vm_system_step(gc, EV_READ, at, v->core.layout->header, VM_SITE_SCAN);
    for (uint64_t i = 0; (offset = vm_ref_offset(v, h, i)); i++) {
        vm_system_step(gc, EV_READ, at + offset, v->core.layout->reference, VM_SITE_SCAN);
        mark(gc, vm_load_slot(&v->core, at + offset));
    }
}

void vm_mark_drain(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    while (v->gc.stack.n)
        scan(gc, v->gc.stack.at[--v->gc.stack.n]);
}

/* Marks the references that were overwritten since marking began. */
static void mark_log(struct vm_thread *gc)
{
    struct vm *v = gc->vm;
    const uint32_t word = v->core.layout->word;

    while (v->gc.log.n) {
        vm_system_step(gc, EV_READ, vm_area(VM_AREA_REMEMBERED, word * v->gc.log.n), word,
                       VM_SITE_ROOTS);
        mark(gc, v->gc.log.at[--v->gc.log.n]);
    }
}

void vm_mark_concurrently(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    vm_stop_world(gc, false);
    v->gc.barrier |= VM_SNAPSHOT;
    vm_mark_roots(gc);
    vm_start_world(gc, false);
    vm_mark_drain(gc);
    vm_stop_world(gc, false);
    mark_log(gc);
    vm_mark_drain(gc);
    v->gc.barrier &= ~(unsigned)VM_SNAPSHOT;
}
