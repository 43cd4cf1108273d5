/* policy.h - a checking policy as a value: who it is, what it decides, and what it costs.
 *
 * A policy is one file that ends in one const struct policy (docs/adding-a-policy.md). It must have
 * a name, a promise, `create`, and a detector with `access`. All else it may have: a pointer or a
 * hook that is NULL is one that it does without.
 *
 * The checker that owns an instance (checker.h) has applied the view, settled who acts, and moved
 * the clocks of happens-before before a hook is called, and has held back the accesses of open
 * transactions. What a hook decides, it decides at once; what that costs is gathered and paid when
 * the event is done. */
#ifndef LARDSIM_POLICY_H
#define LARDSIM_POLICY_H

#include "base/base.h"
#include "base/budget.h"
#include "base/err.h"
#include "base/param.h"
#include "base/stats.h"
#include "policy/claims.h"
#include "policy/machine.h"
#include "policy/race.h"
#include "policy/view.h"
#include "trace/trace.h"

struct hb;
struct ledger;
struct cells;
struct inline_heap;

/* ---- what an instance gets ------------------------------------------------------------------ */

struct policy_env {              /* borrowed for the policy's life */
    struct stats_group *stats;   /* policy.<label> */
    struct race_report *report;  /* race_conflict, race.h */
    struct budget *budget;       /* what the policy's state takes; policy.<label>.memory */
    const struct hb *hb;         /* happens-before in this view, kept by the checker: hb/hb.h */
    const uint64_t *number;      /* of the event in hand */
    unsigned core;               /* of the event in hand: it pays */
    unsigned view;               /* view bits */
    unsigned granule;            /* 1, 2, 4, 8 or GRANULE_FIELD */
    struct inline_heap *inlined; /* metadata lie there; NULL: in a space of their own */
    const struct layout *layout; /* of the program's objects, and of words; NULL: the default */
    unsigned special;            /* flags any of which keeps an access from being plain: hb/hb.h */
    struct err *err;      /* a policy that can't go on sets it (err_set); the run stops there */
    struct cells **cells; /* the first that the policy makes, which the checker then serves */
    /* Costs: on a machine only. */
    const struct policy_charges *charges; /* the policy's own */
    struct ledger *cost;                  /* its ledger, which gathers nothing without a machine */
    const struct run_context *context;    /* for assertions; may be NULL */
    unsigned instance; /* of the run's policies, from 0: each has metadata of its own */
    const struct policy_machine *machine; /* NULL: detection only */
    void *host;
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
};

/* ---- verdicts ------------------------------------------------------------------------------- */

/* Events of a happens-before that a policy with one of its own is told through `edges`. */
enum policy_edge {
    EDGE_BEGIN,    /* the thread's first event; and EV_THREAD, when it is placed */
    EDGE_BEFORE,   /* an atomic access or a commit that the view heeds: what it takes */
    EDGE_AFTER,    /* what it gives */
    EDGE_UNHEEDED, /* synchronisation that the view does not heed */
    EDGE_MEMORY    /* a clear or copy, in every view: objects follow their memory */
};

/* The policy's own rule by which it treated the access in hand as it did, at a location; as
 * clauses, NULL: there is none. */
struct policy_rule {
    const char *unchecked; /* it was not held against what is remembered */
    const char *unkept;    /* it was not remembered */
    const char *displaces; /* it took the place of another that is not its predecessor */
};
typedef void remembered_fn(void *arg, uint64_t event, uint8_t op);

struct policy_detector {
    /* An access that the view checks, when it takes effect: at once, or at its commit. Reports
     * earlier accesses that it races with, and remembers it. */
    void (*access)(void *self, const struct event *ev);

    /* All others may be NULL. Synchronisation and raw LARDx86 that the view heeds, after env->hb
     * has moved. */
    void (*sync)(void *self, const struct event *ev);
    /* Clears and copies that the view heeds, allocations, collections. NULL: cells follow their
     * memory (checker/cells.h), and nothing else happens. */
    void (*heap)(void *self, const struct event *ev);
    /* Input or output, in any view. */
    void (*io)(void *self, const struct event *ev);
    /* Called before env->hb moves: by synchronisation that the view heeds, an atomic access,
     * checked or not, and a commit, before its accesses take effect and after. With no-thread also
     * before a thread's first event and when it changes its kernel thread. */
    void (*before)(void *self, const struct event *ev);
    /* Each time when env->hb has moved, or counted, and `sync` is not what tells of it, or not yet;
     * accesses are the transaction's, in the view or not, at a commit. What it gathers is paid by
     * the next event that pays. */
    void (*edges)(void *self, enum policy_edge at, const struct event *ev,
                  const struct event *accesses, size_t n);
    void (*finish)(void *self);      /* the run is over */
    void (*check)(const void *self); /* asserts its invariants, beside those of its cells */
    /* Amends the promise by the instance's parameters. */
    void (*amend)(const void *self, struct promise *p);
    /* For compare, after the access: why a policy that is not about happens-before finds a race at
     * this location, or none, as a clause ("no lock is held at all its accesses"). */
    void (*explain)(const void *self, const struct event *ev, sim_addr location, char *to,
                    size_t room);
    /* For compare, after an event, so that a policy keeps nothing for it: calls fn for each access
     * that is remembered of a location. NULL: what becomes of them is not known. */
    void (*remembers)(const void *self, sim_addr location, remembered_fn *fn, void *arg);
    void (*rule)(const void *self, sim_addr location, struct policy_rule *r);
};

/* ---- costs in software ---------------------------------------------------------------------- */

/* Operands that the access after a step needs for its address, beside registers: nothing, or the
 * value of the latest load. Compares and branches need no waiting: branches are predicted. */
enum step_needs { STEP_NEEDS_FREE, STEP_NEEDS_VALUE };
struct cost_step {
    const char *name;      /* of the statistic policy.<label>.cost.steps */
    unsigned instructions; /* beside its accesses, which are counted by themselves */
    const char *text;      /* the reasoning */
    enum step_needs needs;
};
struct policy_charges { /* what it charges for; its page prints them: checker/cells.h */
    const struct cost_step *step;
    unsigned steps;
};

/* ---- hints for the host --------------------------------------------------------------------- */

/* How many records ahead a policy hears of an access: about twice the time that memory takes, and
 * that time. */
enum { SOON = 12, VERY_SOON = 6 };

struct policy_hints { /* make detection faster on the host; without effect on anything else */
    bool cells;       /* the cell of an access that comes soon is fetched */
    /* An access comes soon: where it has more than a cell; very soon: fetch what the cell points
     * to. Very soon without a machine only. */
    void (*soon)(const void *self, const struct event *ev);
    void (*very_soon)(const void *self, const struct event *ev);
    /* Does what `access` does, for a row of plain accesses that begins with ev. It stops before an
     * event that is no plain access, and after an access that raced or took the budget over its
     * limit. Returns the last access done; *number is the number of the first, then of the last.
     * Events before `known` may be looked at. Without a machine only. */
    const struct event *(*run)(void *self, const struct event *ev, const struct event *end,
                               const struct event *known, uint64_t *number);
};

/* ---- hardware ------------------------------------------------------------------------------- */

/* Hardware takes its own time: `access` and `sync` stand in for the detector's (`sync` also of the
 * heap), from the cycle at which they start; each returns the cycle at which it is done. */
struct policy_hardware {
    sim_cycle (*access)(void *self, const struct event *ev, unsigned core, struct mem_outcome out,
                        sim_cycle now);
    sim_cycle (*sync)(void *self, const struct event *ev, unsigned core, sim_cycle now);
    /* Pays, in time, for all that `access` and `line` have decided: with a machine, other cores may
     * go on meanwhile. Called after the event's accesses are all checked, their races reported and
     * clocks moved. NULL: nothing takes time. */
    sim_cycle (*pay)(void *self, unsigned core, sim_cycle now);
    /* Tells what happened to a line in the caches, in order, after the access that caused it is
     * done and before `access` hears of it; events of its own mem calls come after the hook that
     * made them, or while other cores go on. It takes no time here, but in `pay` of the core whose
     * access it was (le->by), once that core has done what it has in hand; or of this core, which
     * tells of it. True: one of the two has something to pay. NULL: does not react, and the machine
     * keeps no such events. */
    bool (*line)(void *self, const struct line_event *le, unsigned core);
    unsigned lines; /* that `line` wants, bits by enum line_what */
};

/* ---- the policy ----------------------------------------------------------------------------- */

struct policy {
    const char *name, *summary;
    const char *source;     /* key into base/papers.def */
    struct promise promise; /* of an instance with its parameters as they are by default */
    unsigned view;          /* view bits that it always has */
    bool inlines;    /* its paper has metadata beside fields, and arrays' in a shadow array */
    bool by_process; /* its metadata are of one process each: it can be charged on machine=dsm */
    const struct param *params; /* rows of policy.<label>, beside the common ones; or NULL */
    size_t params_size;         /* of the struct they fill */
    /* -1: it can't be made with these parameters. Before anything of it is declared; or NULL. */
    int (*refuse)(const struct policy_env *env, const void *params, struct err *e);
    void *(*create)(const struct policy_env *env, const void *params, struct err *e); /* or NULL */
    void (*destroy)(void *self); /* its cells are freed before; NULL: free() is enough */
    const struct policy_detector *detector;
    const struct policy_charges *charges;   /* NULL: it costs nothing, or is hardware */
    const struct policy_hints *hints;       /* or NULL */
    const struct policy_hardware *hardware; /* or NULL */
};

/* Every policy, by name. */
#define POLICY(name) extern const struct policy policy_##name;
#include "policy/policies.def"
#undef POLICY
extern const struct policy *const policies[]; /* NULL-terminated */
const struct policy *policy_find(const char *name);

#endif
