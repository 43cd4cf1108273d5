/* race.h - a race, and how a policy reports one. */
#ifndef LARDSIM_RACE_H
#define LARDSIM_RACE_H

#include "trace/trace.h"

struct race_side {
    uint64_t event;    /* the access's number; its commit's, for an access in a transaction */
    uint64_t site;     /* 0: unknown */
    uint64_t interval; /* of the thread's, from 1 (docs/policies/cvm.md); 0: the policy has none */
    sim_tid thread;    /* the language thread, in every view */
    uint8_t op;        /* the kind of access; of an access in a transaction, too */
    bool known;        /* false: the policy doesn't know the side at all */
    bool region;       /* it knows the region only: event is the first that may belong to it */
};
static inline struct race_side race_access(uint64_t event, uint64_t site, sim_tid tid, uint8_t op)
{
    return (struct race_side){.event = event, .site = site, .thread = tid, .op = op, .known = true};
}
struct race {                     /* one racy access */
    const char *policy;           /* label */
    struct race_side is, earlier; /* earlier: the latest of those it conflicts with */
    sim_addr addr;
    uint32_t size;
    uint32_t conflicts; /* earlier accesses that it conflicts with, over its granules */
    bool system;
    uint64_t id;                /* the same for the same pair of sites in another run */
    uint64_t noticed;           /* the event at which it was found: is.event, or later */
    struct object_place object; /* what lies at addr */
};

/* ---- what a policy reports ------------------------------------------------------------------ */

struct race_report; /* of an instance: counts, sites and pairs, races.jsonl */
/* A policy calls this for each earlier access that races with the one in hand, at each location;
 * the checker counts the access (or its commit) once. location: the granule's address. first: it
 * had no race in this life yet. */
void race_conflict(struct race_report *r, const struct event *ev, sim_addr location,
                   const struct race_side *earlier, bool first);

/* The same at a location that has a mark of its own for races in this life. */
static inline void race_with(struct race_report *r, const struct event *ev, sim_addr location,
                             struct race_side earlier, bool *raced)
{
    race_conflict(r, ev, location, &earlier, !*raced);
    *raced = true;
}

/* race_conflict for an access that is over, and whose race is found only now. ev: that access,
 * which carries its site, at its location as it is now; number: its event's. other: the side that
 * came after it. counted: it has been counted as racy. Conflicts of one access that follow each
 * other make one race; race_late_done ends the last. */
void race_late(struct race_report *r, const struct event *ev, uint64_t number,
               const struct race_side *other, bool first, bool counted);
void race_late_done(struct race_report *r);
/* race_late where only the synchronisation-free region of the access is known: what `is` says
 * stands for it. Ends with race_late_done, too; an access may make several races, as each of its
 * locations may be another's. */
void race_region(struct race_report *r, const struct event *ev, const struct race_side *is,
                 sim_addr location, const struct race_side *earlier, bool first);

#endif
