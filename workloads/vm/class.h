/* class.h - classes, the layout of objects, and the roots from which objects are reached. */
#ifndef LARDSIM_VM_CLASS_H
#define LARDSIM_VM_CLASS_H

#include "workloads/vm/heap.h"
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
/* Bytes of what is at the header, object or filler, a multiple of the layout's alignment. */
uint64_t vm_bytes(const struct vm *v, const struct vm_header *h);
static inline bool vm_is_object(const struct vm_header *h)
{
    return (h->class & ~VM_FORWARDED) < VM_CELL_FREE;
}
uint64_t vm_array_bytes(const struct vm_core *c, enum vm_type element, uint64_t length);
/* The i-th reference in an object: its offset, or 0 after the last. */
uint64_t vm_ref_offset(const struct vm *v, const struct vm_header *h, uint64_t i);
/* An address of the heap in 32 bits, from 1 on in units of the alignment, and back. The last unit
 * of a heap of 2^36 bytes is 0, which only says that it is no list's next cell. */
static inline uint32_t vm_place(const struct vm_core *c, sim_addr at)
{
    return (uint32_t)((at - VM_HEAP) / c->layout->align + 1);
}
static inline sim_addr vm_at_place(const struct vm_core *c, uint32_t place)
{
    return VM_HEAP + (uint64_t)(uint32_t)(place - 1) * c->layout->align;
}
/* Returns the address of the object to which a slot refers, 0 for null. References of 4 bytes are
 * kept as places. */
static inline sim_addr vm_load_slot(const struct vm_core *c, sim_addr slot)
{
    const unsigned char *from = (const unsigned char *)(c->bias + (uintptr_t)slot);
    sim_addr at;
    uint32_t place;

    if (c->layout->reference == sizeof place) {
        memcpy(&place, from, sizeof place);
        return place ? vm_at_place(c, place) : 0;
    }
    memcpy(&at, from, sizeof at);
    return at;
}
static inline void vm_store_slot(const struct vm_core *c, sim_addr slot, sim_addr at)
{
    unsigned char *to = (unsigned char *)(c->bias + (uintptr_t)slot);
    const uint32_t place = at ? vm_place(c, at) : 0;

    if (c->layout->reference == sizeof place)
        memcpy(to, &place, sizeof place);
    else
        memcpy(to, &at, sizeof at);
}
/* Returns the object's new address if it has moved. */
static inline sim_addr vm_forwarded(const struct vm_core *c, sim_addr at)
{
    const struct vm_header *h = at ? vm_header(c, at) : NULL;

    return h && h->class & VM_FORWARDED ? vm_at_place(c, h->word) : at;
}
/* Calls fn for every root in use; `where` is its simulated address. */
void vm_each_root(struct vm *v, void (*fn)(struct vm *v, struct vm_ref *r, sim_addr where));

#endif
