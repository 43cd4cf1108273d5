/* hb_int.h - what hb.c and object.c share, and nobody else sees. */
#ifndef LARDSIM_HB_INT_H
#define LARDSIM_HB_INT_H

#include "base/sequences.h"
#include "policy/hb/hb.h"

struct hb_object { /* a lock, volatile, round of a barrier, class, atomic location, or commit clock
                    */
    struct sync_object sync;
    uint64_t id; /* from 1; stays the same when a copy moves the object */
    struct vclock write, read;
    epoch write_of; /* `write` is the clock that this actor had at this time; 0: of several */
    union {
        uint64_t inside;             /* barriers: arrived less departed */
        struct sequences *sequences; /* owns; atomic locations. NULL: nothing of C11 yet */
    };
};

extern const struct sync_ways hb_object_ways;
static inline struct hb_object *object_get(struct hb *hb, unsigned kind, sim_addr addr,
                                           uint64_t round) /* made when new */
{
    return sync_object_get(&hb->objects, kind, addr, round, hb);
}

#endif
