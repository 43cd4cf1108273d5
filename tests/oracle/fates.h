/* fates.h - what a policy remembers of each location, by sets of events, and what became of what it
 * does not: straight from docs/compare.md, docs/events.md and the pages of the policies. It knows
 * nothing of the product but the event. All of the past is kept, so that one can ask about any
 * time.
 *
 * Cost: the square of the number of events. Meant for some hundred. */
#ifndef LARDSIM_TESTS_FATES_H
#define LARDSIM_TESTS_FATES_H

#include "tests/oracle/oracle.h"

enum memory_kind { /* docs/policies/vc.md, fasttrack.md, clean.md */
                   MEMORY_LAST,
                   MEMORY_ALL,
                   MEMORY_FASTTRACK,
                   MEMORY_CLEAN
};
struct memory_options {
    enum memory_kind kind;
    unsigned granule; /* 0: field */
    unsigned view;    /* of oracle.h */
    bool disables;    /* after-race = disable-variable */
};

enum memory_fate {
    MEMORY_NEVER, /* it was no access to this location */
    MEMORY_HAS,
    MEMORY_UNCHECKED,
    MEMORY_UNKEPT,   /* a rule does not remember it: clean of reads */
    MEMORY_DISABLED, /* the location had raced */
    MEMORY_DISPLACED,
    MEMORY_CLEARED,
    MEMORY_OVERWRITTEN,
    MEMORY_NOT_BROUGHT
};

struct memory;
/* before: of the same view; borrowed, with the records. */
struct memory *memory_new(const struct event *rec, size_t records, const struct memory_options *o,
                          const struct oracle *before);
void memory_free(struct memory *m);
/* Whether, right before `now`, an access of that kind with that event has this fate there, by that
 * event. A copy brings fates along: then that of either place is one. */
bool memory_had(const struct memory *m, size_t now, sim_addr location, size_t event, uint8_t op,
                enum memory_fate fate, size_t by);
/* The location had raced, and is not looked at. */
bool memory_was_off(const struct memory *m, size_t now, sim_addr location);

#endif
