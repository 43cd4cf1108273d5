/* copy.c - copying in a pause: the whole heap from one half to the other, or what survives in
 * the nursery to the old space. Each object that is left behind, moved or dead, is cleared once. */
#include "workloads/vm/vm_int.h"

static bool young(const struct vm *v, sim_addr at) /* generational */
{
    return at && at < v->heap.active.end;
}

/* Returns the place for a survivor. Semispace: in the other half. Generational: a cell of the old
 * space, which may be full. */
static sim_addr place_for(struct vm *v, uint64_t bytes)
{
    if (!vm_has_cells(&v->heap))
        return vm_bump_take(&v->heap, bytes);
    const sim_addr at = vm_cells_one(v, bytes);
    if (!at)
        vm_fail(v->gc.thread, "out of heap: what survives in the nursery has no room in the old "
                              "space; give a larger heap, or a smaller nursery");
    vm_addresses_add(&v->gc.stack, at);
    return at;
}

/* The new address of an object that has to leave. */
static sim_addr evacuate(struct vm_thread *gc, sim_addr at)
{
    struct vm *v = gc->vm;
    const struct vm_header *h = vm_header(&v->core, at);

    vm_system_step(gc, EV_READ, at, v->core.layout->header, VM_SITE_COPY);
    if (h->class & VM_FORWARDED)
        return vm_at_place(&v->core, h->word);
    const uint64_t bytes = vm_bytes(v, h);
    const sim_addr to = place_for(v, bytes);
    vm_copy_object(gc, to, at, bytes);
    return to;
}

static void update_slot(struct vm_thread *gc, sim_addr slot, bool minor)
{
    struct vm *v = gc->vm;
    const uint32_t reference = v->core.layout->reference;
    const sim_addr was = vm_load_slot(&v->core, slot);

    vm_system_step(gc, EV_READ, slot, reference, VM_SITE_SCAN);
    if (!was || (minor && !young(v, was)))
        return;
    vm_store_slot(&v->core, slot, evacuate(gc, was));
    vm_system_step(gc, EV_WRITE, slot, reference, VM_SITE_UPDATE);
}

static void scan(struct vm_thread *gc, sim_addr at, bool minor)
{
    struct vm *v = gc->vm;
    const struct vm_header *h = vm_header(&v->core, at);
    uint64_t offset;

    vm_system_step(gc, EV_READ, at, v->core.layout->header, VM_SITE_SCAN);
    for (uint64_t i = 0; (offset = vm_ref_offset(v, h, i)); i++)
        update_slot(gc, at + offset, minor);
}

static void update_root(struct vm *v, struct vm_ref *r, sim_addr where)
{
    struct vm_thread *gc = v->gc.thread;
    const uint32_t reference = v->core.layout->reference;

    vm_system_step(gc, EV_READ, where, reference, VM_SITE_ROOTS);
    if (vm_has_cells(&v->heap) && !young(v, r->at))
        return;
    r->at = evacuate(gc, r->at);
    vm_system_step(gc, EV_WRITE, where, reference, VM_SITE_ROOTS);
}

/* Clears a region from header to header: each object there is dead, or has moved. */
void vm_clear_region(struct vm_thread *gc, sim_addr base, sim_addr end)
{
    struct vm *v = gc->vm;
    uint64_t bytes;

    for (sim_addr at = base; at < end; at += bytes) {
        struct vm_header *h = vm_header(&v->core, at);
        bytes = vm_bytes(v, h);
        vm_system_step(gc, EV_READ, at, v->core.layout->header, VM_SITE_SWEEP);
        if (!vm_is_object(h))
            continue;
        if (!(h->class & VM_FORWARDED))
            vm_monitor_free(v, h);
        vm_mark_clear(&v->heap, at);
        vm_clear_object(gc, at, bytes);
    }
}

/* Cheney's algorithm: what was copied is the queue of what is to be scanned. */
void vm_semispace(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    vm_stop_world(gc, false);
    vm_retire_all(v);
    const struct vm_bump from = v->heap.active;
    v->heap.active = v->heap.spare;
    vm_each_root(v, update_root);
    for (sim_addr at = v->heap.active.base; at < v->heap.active.at;) {
        scan(gc, at, false);
        at += vm_bytes(v, vm_header(&v->core, at));
    }
    vm_clear_region(gc, from.base, from.at);
    v->heap.spare = (struct vm_bump){from.base, from.base, from.end};
    vm_start_world(gc, false);
}

/* Roots of a minor collection: the program's, and the remembered slots of old objects. */
void vm_minor(struct vm_thread *gc)
{
    struct vm *v = gc->vm;
    const uint32_t word = v->core.layout->word;

    vm_each_root(v, update_root);
    for (size_t i = 0; i < v->gc.log.n; i++) {
        vm_system_step(gc, EV_READ, vm_area(VM_AREA_REMEMBERED, word * i), word, VM_SITE_ROOTS);
        update_slot(gc, v->gc.log.at[i], true);
    }
    while (v->gc.stack.n)
        scan(gc, v->gc.stack.at[--v->gc.stack.n], true);
    v->gc.log.n = 0;
    vm_clear_region(gc, v->heap.active.base, v->heap.active.at);
    v->heap.active.at = v->heap.active.base;
}
