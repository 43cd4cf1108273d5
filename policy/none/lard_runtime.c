/* lard_runtime.c - the language runtime's part of LARD without a detector: what tracking
 * synchronisation and moving clocks costs by itself (LARD 5.4). It checks nothing. */
#include <stdlib.h>

#include "policy/cost/ledger.h"
#include "policy/hb/hb.h"
#include "policy/cost/software.h"
#include "policy/policy.h"
#include "runtime/runtime.h"

struct lard_runtime {
    const struct policy_env *env; /* borrowed */
    struct runtime *runtime;      /* owns; the modelled language runtime */
    struct software software;     /* as which it runs */
};

static void *lard_runtime_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct lard_runtime *p = xcalloc(1, sizeof *p);
    const struct runtime_env of = {
        .stats = stats_group(env->stats, "runtime"),
        .budget = env->budget,
        .host = &p->software,
        .exec = software_exec,
        .mem = env->machine ? software_mem : NULL,
        .needs = software_needs,
        .pages = env->machine ? env->machine->pages : NULL,
    };

    (void)e;
    p->env = env;
    p->software.env = env;
    p->runtime = runtime_new(params, &of);
    return p;
}

static sim_cycle lard_runtime_access(void *self, const struct event *ev, unsigned core,
                                     struct mem_outcome out, sim_cycle now)
{
    struct lard_runtime *p = self;
    const struct hb *hb = p->env->hb;
    const bool all_sync = p->env->view & VIEW_ALL_SYNC;

    (void)out;
    if (LIKELY(!runtime_lowers(p->runtime, ev, all_sync)))
        return now;
    return runtime_lower_access(p->runtime, ev, all_sync, core, hb_clock(hb, ev->tid),
                                hb_actor(hb, ev->tid), now);
}

static sim_cycle lard_runtime_sync(void *self, const struct event *ev, unsigned core, sim_cycle now)
{
    struct lard_runtime *p = self;
    const struct hb *hb = p->env->hb;

    return runtime_lower(p->runtime, ev, core, hb_clock(hb, ev->tid), hb_actor(hb, ev->tid), now);
}

static void lard_runtime_destroy(void *self)
{
    struct lard_runtime *p = self;

    runtime_free(p->runtime);
    free(p);
}

static const struct cost_step steps[] = {
#define RT_STEP(NAME, label, instructions, needs, text)                                            \
    {label, instructions, text, STEP_NEEDS_##needs},
#include "runtime/steps.def"
#undef RT_STEP
};

const struct policy policy_lard_runtime = {
    .name = "lard-runtime",
    .summary = "the language runtime's part of LARD alone: its cost, no checking",
    .source = "lard",
    .params = runtime_param_rows,
    .params_size = sizeof(struct runtime_params),
    .create = lard_runtime_create,
    .destroy = lard_runtime_destroy,
    .detector = &(const struct policy_detector){0},
    .charges = &(const struct policy_charges){steps, ARRAY_SIZE(steps)},
    .hardware =
        &(const struct policy_hardware){.access = lard_runtime_access, .sync = lard_runtime_sync},
};
