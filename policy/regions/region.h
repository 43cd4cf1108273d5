/* region.h - where regions end (Valor 3.3.1), for policies on conflicts of regions, and what such
 * policies remember of atomic accesses, which the papers do not have.
 *
 * Release-free regions end at whatever publishes, as happens-before has it (docs/events.md): then
 * an actor's own time goes up. Synchronisation-free regions end there and before whatever takes,
 * whether or not there is anything to take. An inner acquire or release of a nested monitor, and
 * what the view does not heed, end nothing. Collections end nothing. */
#ifndef LARDSIM_REGION_H
#define LARDSIM_REGION_H

#include "policy/hb/hb.h"

enum region_kind { REGION_RELEASE_FREE, REGION_SYNC_FREE };
extern const char *const region_choices[]; /* NULL-terminated, in this order */
extern const char region_help[];           /* of the parameter `regions` */

struct regions {
    const struct hb *hb;
    bool sync_free;
    epoch *seen; /* owns; of each actor, when its region began; 0: not yet seen */
    size_t n;
    struct map forked; /* threads that have not begun; a set */
    struct budget *budget;
};
void regions_init(struct regions *r, const struct policy_env *env, enum region_kind kind);
void regions_free(struct regions *r);

struct regions_ended { /* one's own, and with a join perhaps the joined thread's */
    unsigned n;
    uint32_t actor[2];
};
/* Whether it can't end any: most events that only take. */
static inline bool regions_quiet(const struct regions *r, const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];

    return !r->sync_free && info->class == CLASS_SYNC && !info->gives && ev->kind != EV_JOIN;
}
/* The regions that an event ends: to be asked from the policy's hook `sync`, for each event that is
 * not quiet; and from its hook `edges`. */
struct regions_ended regions_sync(struct regions *r, const struct event *ev);
struct regions_ended regions_edge(struct regions *r, const struct event *ev, enum policy_edge at);

/* ---- accesses ------------------------------------------------------------------------------- */

struct region_access { /* in hand, at one variable */
    const struct event *ev;
    uint64_t number;
    sim_addr addr;
    uint32_t actor, clock; /* clock: FastRCD's, of the actor's region */
};

/* An atomic access conflicts with plain ones only, so that one last writer, or one version, can't
 * stand for all: a location's atomic accesses in ongoing regions stand in a list of their own. */
struct atomic_access {
    uint64_t region; /* its actor's, as the policy numbers them */
    uint64_t site, event;
    uint32_t actor;
    sim_tid tid;
    uint8_t kind;
};
struct atomics {
    uint32_t n, cap;
    struct atomic_access at[];
};

/* Adds an atomic access; the latest read and the latest write of an actor are kept. */
struct atomics *atomics_add(struct atomics *a, const struct region_access *now, uint64_t region,
                            struct budget *b);
void atomics_free(struct atomics *a, struct budget *b);                  /* may be NULL */
struct atomics *atomics_copy(const struct atomics *a, struct budget *b); /* may be NULL */

#endif
