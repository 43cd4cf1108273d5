/* class.h - classes, the layout of objects, and the roots from which objects are reached. */
#ifndef LARDSIM_VM_CLASS_H
#define LARDSIM_VM_CLASS_H

#include "workloads/vm/sched.h"

struct vm_class_life {
    enum { VM_CLASS_NEW, VM_CLASS_RUNS, VM_CLASS_READY } state;
    struct vm_thread *by; /* runs its initialisation */
};

struct vm_classes {
    struct vm_class **class;    /* owns; by id; arrays of each enum vm_type first */
    struct vm_class_life *life; /* owns; by id */
    size_t n, cap, cap_life;
    struct vm_queue queue; /* threads that wait for an initialisation */
};

struct vm_globals {        /* roots for good: static final fields */
    struct vm_ref **chunk; /* owns; of VM_ROOTS each, so that a root stays where it is */
    size_t n, cap;
};

void vm_array_class(struct vm *v, enum vm_type element); /* classes 0 to VM_TYPES - 1 */
/* Bytes of what is at the header, object or filler, a multiple of VM_ALIGN. */
uint64_t vm_bytes(const struct vm *v, const struct vm_header *h);
static inline bool vm_is_object(const struct vm_header *h)
{
    return (h->class & ~VM_FORWARDED) < VM_CELL_FREE;
}
/* The i-th reference in an object: its offset, or 0 after the last. */
uint64_t vm_ref_offset(const struct vm *v, const struct vm_header *h, uint64_t i);
static inline sim_addr *vm_slot_at(const struct vm_core *c, sim_addr slot)
{
    return (sim_addr *)(c->bias + (uintptr_t)slot);
}
/* Its new address if it has moved. */
static inline sim_addr vm_forwarded(const struct vm_core *c, sim_addr at)
{
    const struct vm_header *h = at ? vm_header(c, at) : NULL;

    return h && h->class & VM_FORWARDED ? h->word : at;
}
/* Calls fn for every root in use; `where` is its simulated address. */
void vm_each_root(struct vm *v, void (*fn)(struct vm *v, struct vm_ref *r, sim_addr where));

#endif
