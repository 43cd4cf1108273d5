/* cost.h - what the canonical detector costs in software: a location's last write and a vector
 * of its last reads, or with history = all two vectors, checked and changed under a lock at each
 * access. Nothing is cut short. It knows no verdict. */
#ifndef LARDSIM_VC_COST_H
#define LARDSIM_VC_COST_H

#include "policy/checker/cells.h"

struct vc_cost {
    struct ledger *cost;
    struct clock_cost *clocks;
    struct cells locations; /* each as it is laid out; unused without a machine */
    const struct policy_env *env;
    bool all; /* history = all */
};
extern const struct policy_charges vc_charges;

void vc_cost_init(struct vc_cost *c, const struct policy_env *env, bool all);

/* Charges an access; with a machine only. */
void vc_charge_access(struct vc_cost *c, sim_addr location, const struct event *ev);

#endif
