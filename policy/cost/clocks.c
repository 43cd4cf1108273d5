/* clocks.c - what clocks cost a policy in software: the modelled runtime's work, without
 * LARDx86, on the policy's ledger. Clocks themselves are in hb.c; nothing here changes a verdict.
 */
#include "policy/cost/clocks.h"

#include <stdlib.h>

#include "policy/hb/hb.h"
#include "policy/cost/metadata.h"
#include "runtime/runtime.h"

struct clock_cost { /* made with a machine only */
    struct ledger *cost;
    const struct policy_env *env;
    struct runtime *runtime;
    struct own_epoch { /* in the actor's words */
        struct paddr at;
        epoch shown; /* as it stands there */
    } * own;         /* owns; by actor */
    uint32_t actors;
};

struct clock_cost *clock_cost_new(struct ledger *c, const struct policy_env *env)
{
    if (!c->on)
        return NULL;
    struct clock_cost *k = xcalloc(1, sizeof *k);
    const struct runtime_params defaults = {.base = (UINT64_C(1) << 57) + metadata_apart(env),
                                            .page = 4096,
                                            .garbage = 1 << 20,
                                            .instructions = true,
                                            /* what policies do in collections they charge
                                             * themselves, and nobody asks them of dead objects */
                                            .without = RT_HEADER | RT_TRACE | RT_SWEEP};
    const struct runtime_env of = {
        .stats = stats_group(env->stats, "clocks"),
        .budget = env->budget,
        .host = c,
        .exec = ledger_exec,
        .mem = ledger_mem,
        .needs = ledger_needs_value,
        .pages = env->machine->pages,
    };

    *k = (struct clock_cost){.cost = c, .env = env, .runtime = runtime_new(&defaults, &of)};
    return k;
}

void clock_cost_free(struct clock_cost *k)
{
    if (!k)
        return;
    runtime_free(k->runtime);
    free(k->own);
    free(k);
}

void clock_cost_add_access(struct clock_cost *k, const struct event *ev, unsigned core)
{
    const bool all_sync = k->env->view & VIEW_ALL_SYNC;

    if (LIKELY(!runtime_lowers(k->runtime, ev, all_sync)))
        return;
    ledger_gather(k->cost, core);
    runtime_lower_access(k->runtime, ev, all_sync, core, hb_clock(k->env->hb, ev->tid),
                         hb_actor(k->env->hb, ev->tid), 0);
    ledger_gathered(k->cost);
}

void clock_cost_add_sync(struct clock_cost *k, const struct event *ev, unsigned core)
{
    ledger_gather(k->cost, core);
    runtime_lower(k->runtime, ev, core, hb_clock(k->env->hb, ev->tid),
                  hb_actor(k->env->hb, ev->tid), 0);
    ledger_gathered(k->cost);
}

/* ---- what checks read of a thread ----------------------------------------------------------- */

/* Bytes: where in a thread's words its clock's address, its own epoch and the address of its bitmap
 * of classes are, and that bitmap, which is taken to be beside them; how large a word is, and an
 * entry of a clock. */
enum { CLOCK_WORD = 0, EPOCH_WORD = 16, BITMAP_WORD = 24, BITMAP = 32, WORD = 8, ENTRY = 4 };

static NO_INLINE void more_actors(struct clock_cost *k, uint32_t actor)
{
    const uint32_t n = actor + 1 + actor / 2;

    k->own = xrealloc(k->own, n, sizeof *k->own);
    for (uint32_t i = k->actors; i < n; i++)
        k->own[i] = (struct own_epoch){.at = paddr_plus(runtime_words(k->runtime, i), EPOCH_WORD)};
    budget_take(k->env->budget, (n - k->actors) * sizeof *k->own);
    k->actors = n;
}

void clock_cost_epoch(struct clock_cost *k, sim_tid tid, unsigned core)
{
    if (!k)
        return;
    const uint32_t actor = hb_actor(k->env->hb, tid);
    const epoch now = k->env->hb->actor[actor].now;

    if (UNLIKELY(actor >= k->actors))
        more_actors(k, actor);
    struct own_epoch *own = &k->own[actor];
    /* The epoch is stored when it has changed since it was last shown, and loaded by every check.
     */
    if (own->shown != now)
        ledger_access(k->cost, core, own->at, WORD, MEM_STORE);
    own->shown = now;
    ledger_access(k->cost, core, own->at, WORD, MEM_LOAD);
}

void clock_cost_class_seen(struct clock_cost *k, sim_tid tid, unsigned core)
{
    if (!k)
        return;
    const struct paddr words = runtime_words(k->runtime, hb_actor(k->env->hb, tid));

    ledger_access(k->cost, core, paddr_plus(words, BITMAP_WORD), k->env->layout->word, MEM_LOAD);
    ledger_needs(k->cost, core);
    ledger_access(k->cost, core, paddr_plus(words, BITMAP), ENTRY, MEM_LOAD);
}

void clock_cost_clock(struct clock_cost *k, sim_tid tid, unsigned core)
{
    if (k)
        ledger_access(k->cost, core,
                      paddr_plus(runtime_words(k->runtime, hb_actor(k->env->hb, tid)), CLOCK_WORD),
                      k->env->layout->word, MEM_LOAD);
}

void clock_cost_entries(struct clock_cost *k, sim_tid tid, uint32_t first, uint32_t n,
                        unsigned core)
{
    if (!k)
        return;
    const struct hb *hb = k->env->hb;
    const struct paddr at = runtime_entry(k->runtime, hb_actor(hb, tid), first);
    uint32_t has = at.at != 0;

    while (has && has < n && runtime_entry(k->runtime, hb_actor(hb, tid), first + has).at)
        has++;
    ledger_access(k->cost, core, at, (uint64_t)has * ENTRY, MEM_LOAD);
}

void clock_cost_entry(struct clock_cost *k, sim_tid tid, uint32_t of, unsigned core)
{
    clock_cost_entries(k, tid, of, 1, core);
}
