/* addr.h - the two kinds of address in a simulated machine, as types that a compiler tells apart.
 *
 * A program's address (struct event's addr) is virtual: it names data, and where the data move or
 * end the histories of a policy follow it. Caches, memory and metadata have physical addresses.
 * memory/pages.h alone makes the one of the other; with pages.mapping = identity both have the same
 * number, so that a mix-up would show nowhere but on other machines.
 *
 * sim_addr is a number: a byte in a trace, in a room that knows one of the two kinds alone, or in
 * arithmetic between taking a value apart and putting it together again. */
#ifndef LARDSIM_ADDR_H
#define LARDSIM_ADDR_H

#include <stdbool.h>

#include "base/base.h"

struct vaddr {
    sim_addr at;
};
struct paddr {
    sim_addr at;
};

static inline struct vaddr vaddr_of(sim_addr at)
{
    return (struct vaddr){at};
}
static inline struct vaddr vaddr_plus(struct vaddr a, uint64_t bytes)
{
    return (struct vaddr){a.at + bytes};
}
/* Makes a physical address. For those that lay out physical memory: pages, metadata, a runtime's
 * heap. */
static inline struct paddr paddr_of(sim_addr at)
{
    return (struct paddr){at};
}
static inline struct paddr paddr_plus(struct paddr a, uint64_t bytes)
{
    return (struct paddr){a.at + bytes};
}
/* Bytes from its unit's beginning; of a line, for one. unit: a power of 2. */
static inline uint64_t paddr_within(struct paddr a, uint64_t unit)
{
    return a.at & (unit - 1);
}
static inline struct paddr paddr_down(struct paddr a, uint64_t unit)
{
    return (struct paddr){a.at & ~(unit - 1)};
}
static inline bool paddr_same(struct paddr a, struct paddr b)
{
    return a.at == b.at;
}

#endif
