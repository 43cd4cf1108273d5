/* after_race.h - what follows a race: the policy goes on, no longer looks at the location or at the
 * array that it is in (Goldilocks 6), or the run ends there (docs/policies.md).
 *
 * The checker asks it which part of an access the policy sees; the report tells it of races. They
 * take effect when the event that raced is done. */
#ifndef LARDSIM_AFTER_RACE_H
#define LARDSIM_AFTER_RACE_H

#include "base/interval.h"
#include "policy/policy.h"

enum after_race_mode {
    AFTER_RACE_CONTINUE,
    AFTER_RACE_DISABLE_VARIABLE,
    AFTER_RACE_DISABLE_ARRAY,
    AFTER_RACE_STOP
};
extern const char *const after_race_choices[]; /* NULL-terminated, in this order */

struct after_race {
    enum after_race_mode mode;
    unsigned granule;         /* or GRANULE_FIELD */
    struct interval *off;     /* owns; disabled: whole granules */
    struct interval *objects; /* owns; DISABLE_ARRAY: what was allocated, in one piece each */
    sim_addr *raced;          /* owns; bytes that raced in the event in hand */
    size_t n, cap;
    size_t settled;    /* of those, disabled by the latest after_race_settle, until the next race */
    uint64_t granules; /* of accesses, that were not looked at */
    struct budget *budget;
};

void after_race_init(struct after_race *a, enum after_race_mode mode, unsigned granule,
                     struct stats_group *g, struct budget *budget);
void after_race_free(struct after_race *a);

/* The event in hand raced at this location. */
void after_race_note(struct after_race *a, const struct event *ev, sim_addr location);
static inline bool after_race_noted(const struct after_race *a)
{
    return a->n != 0;
}
/* The event is done; not for STOP. */
void after_race_settle(struct after_race *a);

static inline bool after_race_disables(const struct after_race *a) /* anything at all */
{
    return a->off != NULL;
}
/* Tells if the location is disabled; settled: other than by the latest after_race_settle. */
bool after_race_covers(const struct after_race *a, sim_addr location, bool settled);
/* The next part of an access that is not disabled, as an access of its own; *from: the byte to go
 * on with, 0 at first. False: no more. */
bool after_race_part(struct after_race *a, const struct event *ev, uint32_t *from,
                     struct event *part);

/* An alloc, clear or copy, after the policy has seen it. heeded: the view heeds it. */
void after_race_heap(struct after_race *a, const struct event *ev, bool heeded);

/* Sets the error that ends a run at its first race; names may be NULL. */
void after_race_stop(const struct race *race, const struct names *names, struct err *e);

#endif
