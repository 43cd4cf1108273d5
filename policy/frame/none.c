/* none.c - no checking: the machine alone, the base of every overhead. */
#include "policy/policy.h"

static void *none_create(const struct policy_env *env, const void *params, struct err *e)
{
    (void)params;
    (void)e;
    return env->stats; /* there is no state; anything but NULL */
}

static sim_cycle none_access(void *self, const struct event *ev, unsigned core,
                             struct mem_outcome out, sim_cycle now)
{
    (void)self;
    (void)ev;
    (void)core;
    (void)out;
    return now;
}

static sim_cycle none_sync(void *self, const struct event *ev, unsigned core, sim_cycle now)
{
    (void)self;
    (void)ev;
    (void)core;
    return now;
}

static void none_destroy(void *self)
{
    (void)self;
}

extern const struct policy policy_none;
const struct policy policy_none = {
    .name = "none",
    .summary = "no checking: the machine alone",
    .source = "lardsim",
    .promise = {CLAIM_PRECISE, CONFLICT_ALL, HISTORY_OWN, NULL},
    .create = none_create,
    .access = none_access,
    .sync = none_sync,
    .destroy = none_destroy,
};
