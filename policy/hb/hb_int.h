/* hb_int.h - what hb.c and object.c share, and nobody else sees. */
#ifndef LARDSIM_HB_INT_H
#define LARDSIM_HB_INT_H

#include "base/sequences.h"
#include "policy/hb/hb.h"

enum { OBJECT_GRANULE = 8 }; /* of the table below; objects in one granule are chained */

struct hold { /* a thread's hold on a lock */
    sim_tid tid;
    bool shared;
    uint32_t depth; /* > 0 */
};

struct hb_object { /* a lock, volatile, round of a barrier, class, atomic location, or commit clock
                    */
    struct hb_object *next; /* in the same granule */
    sim_addr addr;
    uint64_t round; /* barriers; else 0 */
    uint64_t id;    /* from 1; stays the same when a copy moves the object */
    struct vclock write, read;
    epoch write_of;    /* `write` is the clock that this actor had at this time; 0: of several */
    struct hold *hold; /* owns; locks */
    uint32_t holds, hold_cap;
    union {
        uint64_t inside;             /* barriers: arrived less departed */
        struct sequences *sequences; /* owns; atomic locations. NULL: nothing of C11 yet */
    };
    uint8_t kind; /* enum ev_object */
};

struct hb_object *object_get(struct hb *hb, unsigned kind, sim_addr addr,
                             uint64_t round); /* made when new */
void objects_free(struct hb *hb);
void object_drop(struct hb *hb, unsigned kind, sim_addr addr, uint64_t round);
struct hold *object_hold(const struct hb_object *o, sim_tid tid, bool shared); /* NULL: none */
uint32_t object_nest(struct hb *hb, struct hb_object *o, sim_tid tid,
                     bool shared);                                     /* the new depth */
uint32_t object_unnest(struct hb_object *o, sim_tid tid, bool shared); /* the new depth */

#endif
