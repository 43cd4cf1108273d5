/* cells.h - what a policy remembers of memory: a cell for each granule, which follows its memory.
 *
 * A cell begins as zeros and is in use once a byte of it is not. A clear empties the cells of its
 * region. A copy takes a snapshot of its source, empties its destination and writes the snapshot
 * there, so that overlap is harmless (docs/events.md). Here that is done once for all policies, and
 * charged where the policy has said what a cell takes on the machine; so are the loops over the
 * granules of an access, and over accesses in a row. */
#ifndef LARDSIM_CELLS_H
#define LARDSIM_CELLS_H

#include "policy/cost/clocks.h"
#include "policy/hb/hb.h"
#include "policy/cost/metadata.h"

struct cell_kind {
    size_t bytes; /* of a cell on the host; best the size of one cache line */
    /* The sentences of the statistics `cleared` and `copied`. */
    const char *cleared, *copied;
    /* A cell's life is over: frees what it owns. NULL: it owns nothing. */
    void (*drop)(void *self, void *cell);
    /* The copy of a cell, the same bits as the cell itself, gets its own of what that owns. */
    void (*own)(void *self, void *cell);
    /* Asserts the invariants of a cell in use; may be NULL. */
    void (*check)(const void *self, void *cell);
};

struct cell_charges {               /* what a cell in use is on the machine */
    unsigned bytes;                 /* of metadata, at metadata_at of its granule */
    unsigned clear_step, copy_step; /* for 64 bytes of it */
    bool always;                    /* metadata are counted without a machine, too */
    bool clocks;                    /* vector clocks are charged for, too: cost/clocks.h */
};

struct cells { /* open so that a check can be inline; only cells.c writes */
    const struct policy_env *env;
    const struct cell_kind *kind;
    void *self; /* what the kind's functions get */
    struct shadow *shadow;
    struct shadow *announced[2]; /* cells, and the objects of happens-before: see cells_hint */
    sim_addr apart; /* bits of addresses in which granules differ; granularity field: none */
    bool charged;
    bool bills; /* the policy's steps cost something: the ledger hears of each granule */
    struct cell_charges charges;
    uint64_t counted;          /* bytes of metadata that a cell in use counts for */
    struct budget metadata;    /* all that the policy has laid out on the machine */
    struct clock_cost *clocks; /* owns; of the policy's first cells; NULL: no machine */
    uint64_t cleared, copied;
};

/* env: borrowed. The first that a policy makes are also served by its checker: hints, clears and
 * copies where `heap` is left out, invariants, and their end. */
void cells_init(struct cells *c, const struct cell_kind *kind, const struct policy_env *env,
                void *self);
void cells_declare(struct cells *c); /* the statistics of the kind */
/* Opens the ledger, with the policy's steps, and declares its statistics, those of clocks and of
 * metadata. Clears and copies are charged from now on. */
void cells_charge(struct cells *c, const struct cell_charges *charges);
/* The checker does these for a policy's first cells. The drop of all: nobody pays any more. */
void cells_free(struct cells *c);
void cells_check(const struct cells *c);

/* A block on the machine for what has no room in a cell (metadata_take): counted as metadata, with
 * a machine or without. */
struct paddr cells_take(struct cells *c, uint64_t bytes);
void cells_give(struct cells *c, struct paddr block, uint64_t bytes);

/* A clear or a copy that the view heeds. */
void cells_move(struct cells *c, const struct event *ev);

/* The cell of a location: made if need be; NULL where there is none; NULL where it was not
 * announced a moment ago. */
static inline void *cells_get(struct cells *c, sim_addr location)
{
    return shadow_get(c->shadow, location);
}
static inline void *cells_peek(const struct cells *c, sim_addr location)
{
    return shadow_peek(c->shadow, location);
}
static inline void *cells_prefetched(const struct cells *c, sim_addr location)
{
    return shadow_prefetched(c->shadow, location);
}
static inline void cells_prefetch(const struct cells *c, const struct event *ev)
{
    shadow_prefetch(c->shadow, ev->addr);
}
/* A cell comes into use: its metadata are there from now on. */
static inline void cells_begin_use(struct cells *c)
{
    budget_take(&c->metadata, c->counted);
}
/* The access is within one granule. */
static inline bool cells_one(const struct cells *c, const struct event *ev)
{
    return !((ev->addr ^ (ev->addr + ev->size - 1)) & c->apart);
}

/* Checks an access at the cell of each of its granules; `check` is compiled in. Ends early where
 * the budget is over its limit, as the run does. True: `check` said so of a granule: it raced. */
typedef bool cells_fn(void *arg, void *cell, sim_addr location, const struct event *ev);
ALWAYS_INLINE bool cells_access(struct cells *c, const struct event *ev, cells_fn *check, void *arg)
{
    const struct granules g = granules_of(ev, c->env->granule);
    struct budget *budget = c->env->budget;
    bool raced = false;

    for (sim_addr a = g.first;; a += g.step) {
        if (UNLIKELY(c->bills))
            ledger_granule(c->env->cost, a == g.first);
        raced |= check(arg, cells_get(c, a), a, ev);
        if (a == g.last || budget_ends(budget))
            return raced;
    }
}

/* The hint that all give who remember no other thing: fetches the cell of the event's location, or
 * of its synchronisation object. A second record looks like an access, a fork like an object; that
 * does no harm. */
static inline void cells_hint(const struct cells *c, const struct event *ev)
{
    shadow_prefetch(c->announced[ev->kind > EV_RMW], ev->addr);
}

/* Plain accesses in a row: `takes` does what is common, and is compiled in; `rules` does the rest.
 * That is false where the row ends. `soon` is a hint for an access to come; NULL: cells_hint. */
typedef bool cells_takes(void *self, const struct event *ev, uint64_t number);
typedef void cells_hints(void *self, const struct event *ev);
ALWAYS_INLINE const struct event *cells_run(struct cells *c, const struct event *ev,
                                            const struct event *end, const struct event *known,
                                            uint64_t *number, cells_takes *takes,
                                            cells_takes *rules, cells_hints *soon)
{
    const struct policy_env *env = c->env;
    void *self = c->self;
    const struct event *hinted = known - ev > SOON ? known - SOON : ev; /* up to here */
    bool go_on = true;

    for (uint64_t n = *number;; ev++, n++) {
        if (LIKELY(ev < hinted))
            soon ? soon(self, ev + SOON) : cells_hint(c, ev + SOON);
        if (!takes(self, ev, n)) {
            *number = n;
            go_on = rules(self, ev, n);
        }
        if (ev + 1 == end || !go_on || !access_plain(env, ev + 1)) {
            *number = n;
            return ev;
        }
    }
}

#endif
