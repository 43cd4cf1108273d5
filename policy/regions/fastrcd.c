/* fastrcd.c - FastRCD (Biswas, Zhang, Bond, Lucia, "Valor", OOPSLA 2015, 3.1 and 5.2): conflicts
 * of an access with one that another thread's ongoing region has made, by epochs of regions instead
 * of clocks.
 *
 * Algorithms 1 and 2 with the other thread's being another in both checks, which the paper leaves
 * out; clocks from 1; the metadata changes whether or not there was a conflict. Not in the paper:
 * atomic accesses, which stand in a list of their own. Not a detector of all races: what conflicts
 * in regions that are over is none of its business. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/regions/fastrcd.h"

static const struct param rcd_params[] = {
#define PARAMS_DEF "policy/regions/fastrcd_params.def"
#define PARAMS_OF  struct rcd_params
#include "base/param_rows.h"
};

/* ---- threads -------------------------------------------------------------------------------- */

/* False: there is no number for it; the run ends. */
static NO_INLINE bool more_threads(struct fastrcd *f, uint32_t actor)
{
    const uint32_t limit = UINT32_C(1) << f->params.thread_bits, more = actor + 1 + actor / 2;

    if (actor >= limit) {
        err_set(f->env->err, LARD_CONFIG,
                "event %llu: policy fastrcd: a word has %llu bits for a thread's number, and this "
                "is thread %u; raise thread-bits, and lower clock-bits so that both are at most 31",
                (unsigned long long)*f->env->number, (unsigned long long)f->params.thread_bits,
                (unsigned)actor);
        return false;
    }
    const uint32_t n = more < limit ? more : limit;
    f->thread = xrealloc(f->thread, n, sizeof *f->thread);
    f->clock = xrealloc(f->clock, n, sizeof *f->clock);
    for (uint32_t i = f->threads; i < n; i++) {
        f->thread[i] = (struct rcd_thread){.region = 1};
        f->clock[i] = 1;
    }
    budget_take(f->env->budget, (n - f->threads) * (sizeof *f->thread + sizeof *f->clock));
    f->threads = n;
    return true;
}

/* The actor's clock on the machine: a line of its own, for all to read. */
static NO_INLINE void give_block(struct fastrcd *f, struct rcd_thread *t)
{
    enum { LINE = 64 };

    if (!t->block.at)
        t->block = metadata_take(f->env->cost, f->env->core, LINE);
}

static inline bool known(struct fastrcd *f, uint32_t actor)
{
    if (UNLIKELY(actor >= f->threads) && !more_threads(f, actor))
        return false;
    if (UNLIKELY(f->env->cost->on))
        give_block(f, &f->thread[actor]);
    return true;
}

/* The region's number goes up, and so does the thread's clock, which has fewer bits. */
static void end_region(struct fastrcd *f, uint32_t actor)
{
    struct rcd_thread *t = &f->thread[actor];

    f->st.regions++;
    t->region++;
    if (UNLIKELY(++f->clock[actor] >> f->params.clock_bits)) {
        f->clock[actor] = 1;
        f->st.overflows++;
    }
    if (f->env->cost->on)
        rcd_charge_region_end(f, t);
}

static void end_regions(struct fastrcd *f, struct regions_ended ended)
{
    for (unsigned i = 0; i < ended.n; i++)
        if (known(f, ended.actor[i]))
            end_region(f, ended.actor[i]);
}

/* ---- accesses ------------------------------------------------------------------------------- */

struct rcd_check { /* an access in hand */
    struct fastrcd *f;
    struct region_access now;
};

/* Checks one variable of an access. True: it raced. */
static bool check_variable(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    struct rcd_check *k = arg;

    (void)ev;
    k->now.addr = addr;
    return rcd_variable(k->f, cell, &k->now);
}

/* An access by the rules, at each of its variables. False: something raced, or the run is to end.
 */
static NO_INLINE bool by_rules(void *self, const struct event *ev, uint64_t number)
{
    struct fastrcd *f = self;
    struct rcd_check k = {f, {.ev = ev, .number = number, .actor = hb_actor(f->env->hb, ev->tid)}};

    if (!known(f, k.now.actor))
        return false;
    k.now.clock = f->clock[k.now.actor];
    return !cells_access(&f->variables, ev, check_variable, &k) && !budget_over(f->env->budget);
}

/* The common case: an access of one variable whose cell is prefetched, and which no other thread's
 * ongoing region has accessed. False: it is not that. The likely conditions are evaluated together,
 * as it can't be predicted which of them fails. */
ALWAYS_INLINE bool takes_place(void *self, const struct event *ev, uint64_t number)
{
    struct fastrcd *f = self;
    struct rcd_variable *x = cells_prefetched(&f->variables, ev->addr);
    const uint32_t me = hb_actor(f->env->hb, ev->tid);

    if (UNLIKELY(!x || !cells_one(&f->variables, ev) || !x->used || me >= f->threads ||
                 x->overflow || !f->params.readers))
        return false;
    const struct region_access now = {
        .ev = ev, .number = number, .actor = me, .clock = f->clock[me]};
    const unsigned side = event_writes(ev) ? WRITES : READS;
    const bool same = (x->clock[side] == now.clock) & (x->actor[side] == me);
    if (UNLIKELY(!same && ((int)rcd_ongoing(f, x, WRITES, me) | (int)rcd_ongoing(f, x, READS, me))))
        return false;
    f->st.same_region += same;
    if (same)
        return true;
    rcd_replace(x, side, &now);
    x->clock[READS] &= (uint32_t)side - 1; /* a write forgets them */
    return true;
}

static void rcd_access(void *self, const struct event *ev)
{
    struct fastrcd *f = self;

    by_rules(f, ev, *f->env->number);
}

static const struct event *rcd_run(void *self, const struct event *ev, const struct event *end,
                                   const struct event *known_to, uint64_t *number)
{
    struct fastrcd *f = self;

    return cells_run(&f->variables, ev, end, known_to, number, takes_place, by_rules, NULL);
}

/* ---- collections ---------------------------------------------------------------------------- */

static bool reset_variable(void *arg, sim_addr addr, void *cell)
{
    struct fastrcd *f = arg;

    if (f->env->cost->on)
        rcd_charge_reset(f, cell, addr);
    rcd_reset(f, cell);
    return false;
}

/* Each full collection: all clocks start again (5.2). At its end: what it has cleared is not gone
 * through. */
static void reset(struct fastrcd *f)
{
    f->st.resets++;
    shadow_all(f->variables.shadow, reset_variable, f);
    for (uint32_t i = 0; i < f->threads; i++)
        f->clock[i] = 1;
    if (f->env->cost->on)
        rcd_charge_clocks(f, f->threads);
}

static void rcd_sync(void *self, const struct event *ev)
{
    struct fastrcd *f = self;

    if (regions_quiet(&f->regions, ev))
        return;
    end_regions(f, regions_sync(&f->regions, ev));
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        cells_move(&f->variables, ev);
    else if (ev->kind == EV_GC_END && !(ev->flags & EVF_NURSERY))
        reset(f);
}

static void rcd_edges(void *self, enum policy_edge at, const struct event *ev,
                      const struct event *accesses, size_t n)
{
    struct fastrcd *f = self;

    (void)accesses;
    (void)n;
    end_regions(f, regions_edge(&f->regions, ev, at));
}

/* ---- life ----------------------------------------------------------------------------------- */

static void check_overflow(const void *self, void *cell)
{
    const struct fastrcd *f = self;
    const struct rcd_variable *x = cell;
    const struct overflow *map = map_of(x);

    (void)f;
    assert(x->used);
    for (uint32_t i = 0; map && i < map->n; i++) {
        assert(map->at[i].actor < f->threads);
        for (uint32_t j = 0; j < i; j++)
            assert(map->at[i].actor != map->at[j].actor);
    }
}

static const struct cell_kind variable_kind = {
    .bytes = sizeof(struct rcd_variable),
    .cleared = "Metadata emptied by clears and overwritten by copies.",
    .copied = "Metadata that copies wrote.",
    .drop = rcd_drop_overflow,
    .own = rcd_own_overflow,
    .check = check_overflow,
};

static int rcd_refuse(const struct policy_env *env, const void *params, struct err *e)
{
    const struct rcd_params *p = params;
    const uint64_t sum = p->clock_bits + p->thread_bits;

    (void)env;
    if (sum <= 31)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy fastrcd: clock-bits (%llu) and thread-bits (%llu) are %llu, and an "
                   "epoch has 31 and the bit of a read map; lower one of them",
                   (unsigned long long)p->clock_bits, (unsigned long long)p->thread_bits,
                   (unsigned long long)sum);
}

static void *rcd_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct fastrcd *f = xcalloc(1, sizeof *f);
    struct rcd_stats *st = &f->st;
    struct stats_group *g = env->stats;

    (void)e;
    *f = (struct fastrcd){.env = env, .params = *(const struct rcd_params *)params};
    regions_init(&f->regions, env, (enum region_kind)f->params.regions);
    cells_init(&f->variables, &variable_kind, env, f);
    rcd_cost_init(f);
#define STATS_DEF "policy/regions/fastrcd_stats.def"
#include "base/stats_declare.h"
    cells_declare(&f->variables);
    return f;
}

static void rcd_amend(const void *self, struct promise *p)
{
    const struct fastrcd *f = self;

    if (f->params.regions == REGION_SYNC_FREE)
        p->property = "conflicts of synchronisation-free regions";
    if (!f->params.readers)
        p->claims &= ~(unsigned)CLAIM_SOUND;
}

static void rcd_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                        size_t room)
{
    (void)self;
    (void)ev;
    (void)location;
    snprintf(to, room,
             "no region of another thread that had made a conflicting access was going on");
}

static void rcd_destroy(void *self)
{
    struct fastrcd *f = self;

    regions_free(&f->regions);
    free(f->thread);
    free(f->clock);
    free(f);
}

const struct policy policy_fastrcd = {
    .name = "fastrcd",
    .summary = "conflicts with ongoing regions, by epochs of regions",
    .inlines = true,
    .source = "valor",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_REGION | CLAIM_EAGER, CONFLICT_ALL, HISTORY_OWN,
                "conflicts of release-free regions"},
    .params = rcd_params,
    .params_size = sizeof(struct rcd_params),
    .refuse = rcd_refuse,
    .create = rcd_create,
    .destroy = rcd_destroy,
    .detector = &(const struct policy_detector){.access = rcd_access,
                                                .sync = rcd_sync,
                                                .heap = rcd_sync,
                                                .edges = rcd_edges,
                                                .amend = rcd_amend,
                                                .explain = rcd_explain},
    .charges = &rcd_charges,
    .hints = &(const struct policy_hints){.cells = true, .run = rcd_run},
};
