/* abstract.h - the events of a program as they would be without addresses: the truth for LARD's
 * Table 3 is made of them. A workload tells the identities of its objects; of a capture they follow
 * from its allocations and moves. */
#ifndef LARDSIM_ABSTRACT_H
#define LARDSIM_ABSTRACT_H

#include "trace/lives/lives.h"
#include "workloads/workloads.h"

struct abstract {
    struct map place;      /* a piece of an object -> where that stands, from 1 */
    struct map at;         /* an object -> where it was at its latest use */
    struct map owner;      /* eight bytes of memory -> the object the program last used there */
    uint64_t places;       /* so far */
    uint64_t uses_again;   /* uses by the program of memory where it has used another object */
    uint64_t uses_moved;   /* uses of what has another address than at the use before */
    uint64_t system;       /* accesses and synchronisation of the runtime */
    struct life_map lives; /* of a capture */
};
void abstract_init(struct abstract *a);
void abstract_free(struct abstract *a);

/* Abstracts one event to one, so that numbers stay. A place stands for (object identity, offset)
 * alone: it is never reused and does not move. The runtime's accesses and synchronisation, and all
 * allocation, Clear and Copy, become EV_IO, which means nothing. ev and to have the records of one
 * event. */
void abstract_event(struct abstract *a, const struct event *ev, struct vm_identity is,
                    struct event to[EVENT_RECORDS]);
/* The same of a capture: a place stands for a byte of one life of memory. */
void abstract_captured(struct abstract *a, const struct event *ev, struct event to[EVENT_RECORDS]);

#endif
