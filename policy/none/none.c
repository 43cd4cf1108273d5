/* none.c - no checking: the machine alone, the base of every overhead. */
#include "base/mem.h"
#include "policy/policy.h"

static void *none_create(const struct policy_env *env, const void *params, struct err *e)
{
    (void)params;
    (void)e;
    (void)env;
    return xcalloc(1, 1); /* it remembers nothing */
}

static void none_access(void *self, const struct event *ev)
{
    (void)self;
    (void)ev;
}

const struct policy policy_none = {
    .name = "none",
    .summary = "no checking: the machine alone",
    .source = "lardsim",
    .promise = {CLAIM_PRECISE, CONFLICT_ALL, HISTORY_OWN, NULL},
    .create = none_create,
    .detector = &(const struct policy_detector){.access = none_access},
};
