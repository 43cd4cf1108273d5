/* op.h - an access as histories remember it, in a byte: the kind of event, and above that its
 * class. Classes tell which accesses conflict: one of two writes, and not both are atomic. */
#ifndef LARDSIM_OP_H
#define LARDSIM_OP_H

#include "trace/trace.h"

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, OP_CLASSES };
enum { OP_KIND_BITS = 6 };
_Static_assert((int)EV_KINDS <= 1 << OP_KIND_BITS, "a kind fits below the class");

enum { /* sets of classes */
       EVERY_CLASS = (1 << OP_CLASSES) - 1,
       WRITE_CLASSES = 1 << PLAIN_WRITE | 1 << ATOMIC_WRITE,
       READ_CLASSES = EVERY_CLASS & ~WRITE_CLASSES
};

static inline unsigned op_class(uint8_t op)
{
    return op >> OP_KIND_BITS;
}
static inline bool op_writes(uint8_t op)
{
    return op_class(op) & PLAIN_WRITE;
}
static inline uint8_t op_kind(uint8_t op)
{
    return op & ((1 << OP_KIND_BITS) - 1);
}
static inline uint8_t op_of(const struct event *ev)
{
    const unsigned class = (event_writes(ev) ? PLAIN_WRITE : PLAIN_READ) |
                           (ev->flags & EVF_ORDER_MASK ? ATOMIC_READ : 0u);

    return (uint8_t)(class << OP_KIND_BITS | ev->kind);
}
/* The set of classes that an access of this one conflicts with. */
static inline unsigned op_conflicts(unsigned class)
{
    enum { PLAIN = 1 << PLAIN_READ | 1 << PLAIN_WRITE };
    static const uint8_t set[OP_CLASSES] = {[PLAIN_READ] = WRITE_CLASSES,
                                            [PLAIN_WRITE] = EVERY_CLASS,
                                            [ATOMIC_READ] = WRITE_CLASSES & PLAIN,
                                            [ATOMIC_WRITE] = PLAIN};

    return set[class];
}

#endif
