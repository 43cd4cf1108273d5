/* fasttrack.c - FastTrack (Flanagan, Freund, PLDI 2009), as Valor 5.2 and SlimState II state its
 * rules: epochs instead of vector clocks where accesses are ordered anyway.
 *
 * Held to be equal to vc with history = last, access by access. Hence three differences from the
 * rules as published, none of which changes what happens before the first race of a location:
 *   - a write always forgets the reads ([FT WRITE EXCLUSIVE] leaves the read epoch);
 *   - the same-epoch short cuts are not taken where there was a race (`repeats = report`), so that
 *     repeats count; `repeats = skip` takes them always, as published;
 *   - an atomic read does not take the place of another thread's plain one: it conflicts with less.
 */
#include <assert.h>
#include <stdlib.h>

#include "policy/fasttrack/rules.h"

enum { REPEATS_REPORT, REPEATS_SKIP };

struct ft_params {
    uint32_t repeats, lock;
    bool inlined, statics;
};

static const char *const repeats_choices[] = {"report", "skip", NULL};
static const char *const lock_choices[] = {
    [FT_LOCK_CHANGES] = "changes", [FT_LOCK_NONE] = "none", [FT_LOCK_ALWAYS] = "always", NULL};
static const struct param ft_params[] = {
#define PARAMS_DEF "policy/fasttrack/params.def"
#define PARAMS_OF  struct ft_params
#include "base/param_rows.h"
};

static struct ft_past last(const struct ft_variable *x, unsigned side)
{
    return (struct ft_past){.at = x->at[side],
                            .site = x->site[side],
                            .event = x->event[side],
                            .tid = x->tid[side],
                            .kind = x->kind[side] & KIND,
                            .atomic = (x->kind[side] & ATOMIC) != 0};
}

/* ---- checks --------------------------------------------------------------------------------- */

static void variable_race(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                          const struct event *ev, const struct ft_past *p)
{
    race_with(f->env->report, ev, addr, race_access(p->event, p->site, p->tid, p->kind), &x->raced);
}

/* Does the earlier access race with this one? Then it is reported. */
static bool past_races(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                       const struct event *ev, const struct ft_past *p, const struct ft_past *now,
                       const struct vclock *clock)
{
    if ((p->atomic && now->atomic) || epoch_before(p->at, clock))
        return false;
    f->race(f, x, addr, ev, p);
    return true;
}

/* Checks one side of a variable against the access: an epoch, or each read of a read vector. */
static bool side_check(struct fasttrack *f, struct ft_variable *x, unsigned side, sim_addr addr,
                       const struct event *ev, const struct ft_past *now,
                       const struct vclock *clock)
{
    const struct ft_past p = last(x, side);
    bool racy = false;

    if (side == WRITES || !reads_shared(x))
        return past_races(f, x, addr, ev, &p, now, clock);
    for (uint32_t i = 0; i < x->shared->n; i++)
        racy |= past_races(f, x, addr, ev, &x->shared->read[i], now, clock);
    return racy;
}

/* ---- records -------------------------------------------------------------------------------- */

static void add_shared(struct fasttrack *f, struct ft_variable *x, const struct ft_past *now)
{
    struct shared_reads *s = x->shared;
    const uint32_t cap = s ? s->cap : 0;

    if (!s || s->n == cap) {
        const uint32_t more = cap ? 2 * cap : 4;
        s = xrealloc(s, 1, sizeof *s + more * sizeof *s->read);
        budget_take(f->env->budget, (more - cap) * sizeof *s->read + (cap ? 0 : sizeof *s));
        if (!cap)
            s->n = 0;
        s->cap = more;
        x->shared = s;
    }
    s->read[s->n++] = *now;
}

/* [FT READ SHARED]: an entry for each actor. */
static void record_shared(struct fasttrack *f, struct ft_variable *x, const struct ft_past *now)
{
    for (uint32_t i = 0; i < x->shared->n; i++) {
        struct ft_past *p = &x->shared->read[i];
        if (epoch_thread(p->at) != epoch_thread(now->at) || p->atomic != now->atomic)
            continue;
        ft_map_change(&f->cost, x->shared, i, now);
        return;
    }
    f->st.shared++;
    add_shared(f, x, now);
    ft_map_add(&f->cost, x->shared);
}

/* [FT READ SHARE]: reads are not ordered any more, so the epoch becomes a vector. */
static void share_read(struct fasttrack *f, struct ft_variable *x, const struct ft_past *now)
{
    const struct ft_past was = last(x, READS);

    f->st.to_shared++;
    if (x->shared)
        x->shared->n = 0;
    add_shared(f, x, &was);
    add_shared(f, x, now);
    ft_map_new(&f->cost, x->shared);
    x->at[READS] = SHARED;
}

/* ---- the rules ------------------------------------------------------------------------------ */

bool ft_read_variable(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                      const struct event *ev, const struct ft_past *now, const struct vclock *clock)
{
    const bool again = ft_repeats(f, x, READS, now);
    const bool racy = !again && side_check(f, x, WRITES, addr, ev, now, clock);
    const struct paddr locked =
        f->variables.charged ? ft_charge_read(&f->cost, x, addr, now) : (struct paddr){0};

    if (reads_shared(x))
        record_shared(f, x, now);
    else if (!again && x->at[READS] &&
             (!epoch_before(x->at[READS], clock) || (now->atomic && !(x->kind[READS] & ATOMIC))))
        share_read(f, x, now);
    else /* [FT READ EXCLUSIVE] */
        ft_replace(f, x, now);
    if (locked.at)
        ft_charge_read_done(&f->cost, locked);
    return racy;
}

bool ft_write_variable(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                       const struct event *ev, const struct ft_past *now,
                       const struct vclock *clock)
{
    bool racy = false;

    if (!ft_repeats(f, x, WRITES, now)) {
        racy |= side_check(f, x, WRITES, addr, ev, now, clock);
        racy |= side_check(f, x, READS, addr, ev, now, clock);
    }
    const struct paddr locked =
        f->variables.charged ? ft_charge_write(&f->cost, x, addr, now) : (struct paddr){0};
    if (reads_shared(x))
        ft_map_drop(&f->cost, x->shared);
    ft_replace(f, x, now);
    if (locked.at)
        ft_charge_write_done(&f->cost, locked);
    return racy;
}

struct ft_check { /* an access in hand */
    struct fasttrack *f;
    const struct vclock *clock;
    struct ft_past now;
};

static bool check_variable(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    const struct ft_check *k = arg;

    return (event_writes(ev) ? ft_write_variable : ft_read_variable)(k->f, cell, addr, ev, &k->now,
                                                                     k->clock);
}

/* An access by the rules, at each of its variables. False: something raced, or the budget is over
 * its limit, which ends the run. */
static NO_INLINE bool by_rules(void *self, const struct event *ev, uint64_t number)
{
    struct fasttrack *f = self;
    const struct hb_actor *me = hb_me(f->env->hb, ev->tid);
    struct ft_check k = {f, &me->clock, ft_past_of(me, ev, number)};

    if (UNLIKELY(ev->flags & EVF_STATIC) && ev->kind == EV_READ)
        ft_charge_static(&f->cost, ev->tid);
    return !cells_access(&f->variables, ev, check_variable, &k) && !budget_over(f->env->budget);
}

/* ---- the hooks ------------------------------------------------------------------------------ */

static void ft_access(void *self, const struct event *ev)
{
    struct fasttrack *f = self;

    by_rules(f, ev, *f->env->number);
}

static const struct event *ft_run(void *self, const struct event *ev, const struct event *end,
                                  const struct event *known, uint64_t *number)
{
    struct fasttrack *f = self;

    return cells_run(&f->variables, ev, end, known, number, ft_takes_place, by_rules, NULL);
}

void ft_free_reads(struct fasttrack *f, struct ft_variable *x)
{
    if (x->shared)
        budget_give(f->env->budget, sizeof *x->shared + x->shared->cap * sizeof *x->shared->read);
    free(x->shared);
    x->shared = NULL;
}

static void drop_variable(void *self, void *cell)
{
    struct fasttrack *f = self;
    struct ft_variable *x = cell;

    if (reads_shared(x))
        ft_map_drop(&f->cost, x->shared);
    ft_free_reads(f, x);
}

/* The copy gets a read vector of its own. */
void ft_own_reads(void *arg, void *cell)
{
    struct fasttrack *f = arg;
    struct ft_variable *x = cell;
    const struct shared_reads *was = x->shared;

    x->shared = NULL;
    for (uint32_t i = 0; reads_shared(x) && i < was->n; i++)
        add_shared(f, x, &was->read[i]);
    if (reads_shared(x))
        ft_map_copy(&f->cost, was, x->shared);
}

static bool trace_variable(void *arg, sim_addr addr, void *cell)
{
    struct fasttrack *f = arg;

    if (variable_used(cell))
        ft_charge_trace(&f->cost, cell, addr);
    return false;
}

NO_INLINE void ft_trace_variables(struct fasttrack *f)
{
    shadow_all(f->variables.shadow, trace_variable, f);
}

static void ft_heap(void *self, const struct event *ev)
{
    struct fasttrack *f = self;

    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        cells_move(&f->variables, ev);
    else if (ft_collects(f, ev))
        ft_trace_variables(f);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void check_reads(const void *self, void *cell)
{
    const struct ft_variable *x = cell;

    (void)self;
    for (uint32_t i = 0; reads_shared(x) && i < x->shared->n; i++)
        for (uint32_t j = 0; j < i; j++)
            assert(epoch_thread(x->shared->read[i].at) != epoch_thread(x->shared->read[j].at) ||
                   x->shared->read[i].atomic != x->shared->read[j].atomic);
}

static const struct cell_kind variable_kind = {
    .bytes = sizeof(struct ft_variable),
    .cleared = "Histories emptied by clears and overwritten by copies.",
    .copied = "Histories that copies wrote.",
    .drop = drop_variable,
    .own = ft_own_reads,
    .check = check_reads,
};

void ft_init(struct fasttrack *f, const struct policy_env *env)
{
    f->env = env;
    f->hb = env->hb;
    f->race = variable_race;
    stats_count(env->stats, "same-epoch", "count",
                "Granules accessed again in the same epoch: no check.", &f->st.same_epoch);
    stats_count(env->stats, "read-exclusive", "count",
                "Reads that took the place of the read epoch.", &f->st.exclusive);
    stats_count(env->stats, "read-share", "count", "Read epochs that became vectors.",
                &f->st.to_shared);
    stats_count(env->stats, "read-shared", "count", "Reads that lengthened a vector.",
                &f->st.shared);
    cells_init(&f->variables, &variable_kind, env, f);
    cells_declare(&f->variables);
    ft_cost_init(&f->cost, env, &f->variables);
}

static void *ft_create(const struct policy_env *env, const void *params, struct err *e)
{
    const struct ft_params *p = params;
    struct fasttrack *f = xcalloc(1, sizeof *f);

    (void)e;
    ft_init(f, env);
    f->report_repeats = p->repeats == REPEATS_REPORT;
    f->cost.lock = p->lock;
    f->cost.calls = !p->inlined;
    f->cost.statics = p->statics;
    return f;
}

/* Amends the promise: with repeats = skip, races of repeats are missed. At least the first race at
 * each location that history = all finds is found. */
static void ft_amend(const void *self, struct promise *p)
{
    const struct fasttrack *f = self;

    if (f->report_repeats)
        return;
    p->claims &= ~(unsigned)CLAIM_SOUND;
    p->history = HISTORY_ALL;
    p->property = "happens-before, repeats in an epoch skipped";
}

static void ft_remembers(const void *self, sim_addr location, remembered_fn *fn, void *arg)
{
    const struct fasttrack *f = self;
    const struct ft_variable *x = cells_peek(&f->variables, location);

    if (!x)
        return;
    if (x->at[WRITES])
        fn(arg, x->event[WRITES], x->kind[WRITES] & KIND);
    if (x->at[READS] && !reads_shared(x))
        fn(arg, x->event[READS], x->kind[READS] & KIND);
    for (uint32_t i = 0; reads_shared(x) && i < x->shared->n; i++)
        fn(arg, x->shared->read[i].event, x->shared->read[i].kind);
}

static void ft_rule(const void *self, sim_addr location, struct policy_rule *r)
{
    const struct fasttrack *f = self;
    const struct ft_variable *x = cells_peek(&f->variables, location);
    size_t now_at = 0, again = 0;

    for (size_t side = READS; x && side <= WRITES; side++)
        if (x->at[side] && x->event[side] == *f->env->number) {
            now_at++;
            again += (x->kind[side] & AGAIN) != 0;
        }
    /* A commit's read and write must both be repeats, as the event does not tell which is meant.
     * With repeats = report an access that is skipped can't race. */
    if (!f->report_repeats && again && again == now_at)
        r->unchecked = "with repeats = skip an access is not checked again in its epoch";
}

const struct policy policy_fasttrack = {
    .name = "fasttrack",
    .summary = "epochs, and vectors where reads are shared",
    .inlines = true,
    .source = "fasttrack",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER, CONFLICT_ALL, HISTORY_LAST, NULL},
    .params = ft_params,
    .params_size = sizeof(struct ft_params),
    .create = ft_create,
    .detector = &(const struct policy_detector){.access = ft_access,
                                                .heap = ft_heap,
                                                .amend = ft_amend,
                                                .remembers = ft_remembers,
                                                .rule = ft_rule},
    .charges = &ft_charges,
    .hints = &(const struct policy_hints){.cells = true, .run = ft_run},
};
