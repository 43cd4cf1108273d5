/* cost.h - what the canonical detector costs in software: a location's last write and a vector
 * of its last reads, or with history = all two vectors, checked and changed under a lock at each
 * access. Nothing is cut short. It knows no verdict. */
#ifndef LARDSIM_VC_COST_H
#define LARDSIM_VC_COST_H

#include "policy/frame/cost.h"
#include "policy/frame/hb.h"

struct vc_cost {
    struct cost cost;
    struct clock_cost *clocks;
    struct budget bytes;     /* of metadata, as laid out on the machine */
    struct shadow *location; /* owns; what is laid out; NULL: no machine */
    const struct policy_env *env;
    bool all; /* history = all */
};
enum { VC_STEPS = 13 };
extern const struct cost_step vc_steps[];

void vc_cost_init(struct vc_cost *c, const struct policy_env *env, bool all);
void vc_cost_free(struct vc_cost *c);

/* With a machine only. */
void vc_charge_access(struct vc_cost *c, sim_addr location, const struct event *ev, unsigned core);
/* These do nothing without one. */
void vc_charge_clear(struct vc_cost *c, sim_addr addr, uint64_t bytes, unsigned core);
void vc_charge_copy(struct vc_cost *c, sim_addr to, sim_addr from, uint64_t bytes, unsigned core);

#endif
