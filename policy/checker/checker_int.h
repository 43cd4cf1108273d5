/* checker_int.h - what the files of a checker share, and nobody else sees.
 *
 *   new.c       made from its label, name and parameters
 *   checker.c   its step: what of an event the view lets the policy see
 *   says.c      what it says of itself: to the run's host, and for comparing instances */
#ifndef LARDSIM_CHECKER_INT_H
#define LARDSIM_CHECKER_INT_H

#include "policy/checker.h"
#include "policy/checker/cells.h"
#include "policy/checker/filter.h"
#include "policy/checker/report.h"
#include "policy/cost/space.h"

struct checker_stats {
    uint64_t collections; /* cycles: see checker_pay */
    uint64_t accesses, checked, unchecked, spared, uncommitted, disabled, syncs, syncs_unheeded,
        clears, copies;
};

enum { RARE_ACCESS = EVF_IN_TXN | EVF_ORDER_MASK }; /* in a transaction, or atomic */

struct txn_log {          /* an open transaction's accesses */
    struct event *access; /* owns */
    size_t n, cap;
};

struct checker {
    const struct policy *policy;
    const struct policy_detector *detector; /* the policy's parts; of hints none is NULL */
    const struct policy_hints *hints;
    const struct policy_hardware *hardware;
    struct cells *cells;       /* what the policy remembers; NULL: nothing, or not in cells */
    struct clock_cost *clocks; /* NULL: nobody charges for them */
    bool timed;                /* accesses take time as they are told, or charge for clocks */
    bool hinted;               /* there are hints */
    void *self;                /* the policy's; NULL until created */
    struct ledger cost;        /* what it charges */
    bool gathers; /* its steps are gathered there, to be paid when the event is decided */
    bool watches; /* free of charge */
    bool pays;    /* what it decides may take time */
    void *params;
    char *label;
    struct checker_env env;
    struct policy_env policy_env;
    struct hb *hb;
    struct race_report report;
    struct after_race after;
    uint64_t settled;  /* 1 + the event after which it left out what had raced in it */
    uint64_t left_out; /* 1 + the event of which the latest part was left out, as it had raced */
    struct filter *filter;  /* NULL: none */
    struct promise promise; /* of this instance */
    char *property;         /* owns; the promise's */
    struct budget budget;
    struct txn_log *txn; /* by thread */
    size_t txns;
    uint8_t did[MAX_CORES];        /* by core: enum checker_did, since checker_did_nothing */
    unsigned skips;                /* flags of accesses that the view does not check */
    bool raw_clocks, other_clocks; /* written so far: by WriteVC, by other synchronisation */
    struct checker_stats st;
    struct space space;
};

void checker_promises(struct checker *c); /* settles c->promise */

#endif
