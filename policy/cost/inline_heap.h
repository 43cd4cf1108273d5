/* inline_heap.h - where a program's objects would lie if metadata lay beside their fields: the map
 * from the addresses of a trace, whose heap has none, to an inflated heap (docs/layout.md, "Inline
 * metadata"). Of a run: its policies share it, as they would share the objects.
 *
 * An object keeps its header, and a word more. Of a scalar object each 8 bytes of fields are
 * followed by the metadata of their granules. An array's elements stay together; its word leads to
 * a shadow array. All begin at a multiple `scale` of where they begin in the trace, so that
 * neighbours stay neighbours; what lies between them is never touched. */
#ifndef LARDSIM_INLINE_HEAP_H
#define LARDSIM_INLINE_HEAP_H

#include "base/base.h"
#include "base/budget.h"
#include "base/shadow.h"
#include "memory/pages.h"
#include "trace/trace.h"

enum { INLINE_PAIR = 8 };               /* bytes of fields whose metadata follow them */
#define INLINE_HEAP (UINT64_C(1) << 56) /* behind all memory that a program may have */

struct inline_object {
    sim_addr base;
    uint64_t bytes, elements; /* elements 0: it is scalar */
    uint32_t element;         /* bytes of one */
    uint32_t first;           /* where fields or elements begin */
    bool live;
};
struct inline_copy { /* what the runtime read last: to where it copies is no object yet */
    struct inline_object of;
    uint64_t offset;
    sim_tid tid;
    uint32_t size;
};
enum { INLINE_POLICIES = 16 };
struct inline_policy {
    unsigned bytes, at;     /* of a granule; where among all policies' */
    struct budget *counted; /* borrows: metadata that objects have by being there */
    void (*ended)(void *arg, sim_addr base); /* an object has: so has its shadow array */
    void *arg;
};
struct inline_heap {
    const struct layout *layout;
    struct pages *pages;          /* borrows; NULL: addresses are physical */
    unsigned granule;             /* bytes */
    unsigned each;                /* bytes of metadata of a granule, of all policies */
    uint64_t stride;              /* of 8 bytes of fields with their metadata */
    uint64_t scale;               /* at least as many times what an object takes without */
    struct shadow *owner;         /* owns; by place: its object's number, plus 1 */
    struct inline_object *object; /* owns */
    struct inline_policy policy[INLINE_POLICIES];
    unsigned policies;
    size_t n, cap;
    uint32_t spare; /* number + 1 of one that is free; 0: none */
    struct budget *budget;
    struct inline_copy copy;
};

/* granule: of the run's policies. */
struct inline_heap *inline_heap_new(const struct layout *l, struct pages *pages, unsigned granule,
                                    struct budget *b);
void inline_heap_free(struct inline_heap *h); /* may be NULL */
/* Adds room for a policy's metadata, before any event. False: there are too many policies. */
bool inline_heap_add(struct inline_heap *h, struct inline_policy *p);
/* Allocations and copies before they run, clears after. */
void inline_heap_event(struct inline_heap *h, const struct event *ev);
/* The object at an address; NULL: none is known. Valid until the next event. */
const struct inline_object *inline_heap_find(const struct inline_heap *h, sim_addr addr);
struct inline_range {
    sim_addr at; /* in the inflated heap */
    uint64_t bytes;
};
/* The inflated range of an access. An access of the runtime's to several fields takes all that lies
 * between them: it zeroes and copies metadata, too. False: no object of the heap is there. */
bool inline_heap_access(struct inline_heap *h, const struct event *ev, uint64_t bytes,
                        struct inline_range *to);
/* The address of a policy's metadata: of a scalar's granule, or of a word of the header. */
sim_addr inline_heap_field(const struct inline_heap *h, const struct inline_object *o,
                           sim_addr location, unsigned at);
sim_addr inline_heap_word(const struct inline_heap *h, const struct inline_object *o);
/* A page's inflated one is where its frame is, as many times as far. */
struct paddr inline_heap_physical(const struct inline_heap *h, sim_addr inflated);

#endif
