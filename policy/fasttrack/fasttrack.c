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
    uint32_t repeats;
};

static const char *const repeats_choices[] = {"report", "skip", NULL};
static const struct param ft_params[] = {
    {"repeats", PARAM_CHOICE, offsetof(struct ft_params, repeats), "report", 0, 0, "",
     repeats_choices,
     "Whether racy accesses count again in the same epoch, or are skipped as published."},
    PARAM_END,
};

static struct past last(const struct variable *x, unsigned side)
{
    return (struct past){.at = x->at[side],
                         .site = x->site[side],
                         .event = x->event[side],
                         .tid = x->tid[side],
                         .kind = x->kind[side] & (uint8_t)~ATOMIC,
                         .atomic = (x->kind[side] & ATOMIC) != 0};
}

/* ---- checks --------------------------------------------------------------------------------- */

static void race(struct fasttrack *f, struct variable *x, sim_addr addr, const struct event *ev,
                 const struct past *p)
{
    const struct race_side earlier = {
        .event = p->event, .site = p->site, .thread = p->tid, .op = p->kind, .known = true};

    race_conflict(f->env->report, ev, addr, &earlier, !x->raced);
    x->raced = true;
}

/* Whether it does, and then tells. */
static bool races(struct fasttrack *f, struct variable *x, sim_addr addr, const struct event *ev,
                  const struct past *p, const struct past *now, const struct vclock *clock)
{
    if ((p->atomic && now->atomic) || epoch_before(p->at, clock))
        return false;
    f->race(f, x, addr, ev, p);
    return true;
}

static bool check(struct fasttrack *f, struct variable *x, unsigned side, sim_addr addr,
                  const struct event *ev, const struct past *now, const struct vclock *clock)
{
    const struct past p = last(x, side);
    bool racy = false;

    if (side == WRITES || !reads_shared(x))
        return races(f, x, addr, ev, &p, now, clock);
    for (uint32_t i = 0; i < x->shared->n; i++)
        racy |= races(f, x, addr, ev, &x->shared->read[i], now, clock);
    return racy;
}

/* ---- records -------------------------------------------------------------------------------- */

static void add_shared(struct fasttrack *f, struct variable *x, const struct past *now)
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
static void record_shared(struct fasttrack *f, struct variable *x, const struct past *now)
{
    for (uint32_t i = 0; i < x->shared->n; i++) {
        struct past *p = &x->shared->read[i];
        if (epoch_thread(p->at) != epoch_thread(now->at) || p->atomic != now->atomic)
            continue;
        ft_map_change(&f->cost, x->shared, i, now);
        return;
    }
    f->st.shared++;
    add_shared(f, x, now);
    ft_map_add(&f->cost, x->shared);
}

static void share_read(struct fasttrack *f, struct variable *x, const struct past *now)
{
    const struct past was = last(x, READS);

    f->st.to_shared++; /* [FT READ SHARE]: the epoch becomes a vector */
    if (x->shared)
        x->shared->n = 0;
    add_shared(f, x, &was);
    add_shared(f, x, now);
    ft_map_new(&f->cost, x->shared);
    x->at[READS] = SHARED;
}

/* ---- the rules ------------------------------------------------------------------------------ */

bool ft_read_variable(struct fasttrack *f, struct variable *x, sim_addr addr,
                      const struct event *ev, const struct past *now, const struct vclock *clock)
{
    const bool again = ft_repeats(f, x, READS, now);
    const bool racy = !again && check(f, x, WRITES, addr, ev, now, clock);
    const sim_addr locked = f->cost.cost.on ? ft_charge_read(&f->cost, x, addr, now) : 0;

    if (reads_shared(x))
        record_shared(f, x, now);
    else if (!again && x->at[READS] &&
             (!epoch_before(x->at[READS], clock) || (now->atomic && !(x->kind[READS] & ATOMIC))))
        share_read(f, x, now);
    else /* [FT READ EXCLUSIVE] */
        ft_replace(f, x, now);
    if (locked)
        ft_charge_read_done(&f->cost, locked);
    return racy;
}

bool ft_write_variable(struct fasttrack *f, struct variable *x, sim_addr addr,
                       const struct event *ev, const struct past *now, const struct vclock *clock)
{
    bool racy = false;

    if (!ft_repeats(f, x, WRITES, now)) {
        racy |= check(f, x, WRITES, addr, ev, now, clock);
        racy |= check(f, x, READS, addr, ev, now, clock);
    }
    const sim_addr locked = f->cost.cost.on ? ft_charge_write(&f->cost, x, addr, now) : 0;
    if (reads_shared(x))
        ft_map_drop(&f->cost, x->shared);
    ft_replace(f, x, now);
    if (locked)
        ft_charge_write_done(&f->cost, locked);
    return racy;
}

/* At any variables. False: something raced, or the budget is over its limit, which ends the run. */
static NO_INLINE bool by_rules(struct fasttrack *f, const struct event *ev, uint64_t number)
{
    const struct hb_actor *me = hb_me(f->env->hb, ev->tid);
    const struct past now = ft_past_of(me, ev, number);
    const struct granules g = granules_of(ev, f->env->granule);
    bool racy = false;

    for (sim_addr a = g.first;; a += g.step) {
        struct variable *x = shadow_get(f->variables, a);
        cost_granule(&f->cost.cost, a == g.first);
        racy |= (event_writes(ev) ? ft_write_variable : ft_read_variable)(f, x, a, ev, &now,
                                                                          &me->clock);
        if (a == g.last || budget_over(f->env->budget))
            return !racy && !budget_over(f->env->budget);
    }
}

/* ---- the hooks ------------------------------------------------------------------------------ */

static sim_cycle ft_access(void *self, const struct event *ev, unsigned core,
                           struct mem_outcome out, sim_cycle now)
{
    struct fasttrack *f = self;

    (void)out;
    f->cost.core = core;
    clock_cost_access(f->cost.clocks, ev, core);
    by_rules(f, ev, *f->env->number);
    return now;
}

static sim_cycle ft_pay(void *self, unsigned core, sim_cycle now)
{
    struct fasttrack *f = self;

    return cost_pay(&f->cost.cost, core, now);
}

static void ft_soon(const void *self, const struct event *ev)
{
    const struct fasttrack *f = self;

    shadow_soon(f->variables, ev->addr);
}

static const struct event *ft_run(void *self, const struct event *ev, const struct event *end,
                                  const struct event *known, uint64_t *number)
{
    struct fasttrack *f = self;
    const struct policy_env *env = f->env;
    const struct event *hinted = known - ev > SOON ? known - SOON : ev; /* up to here */
    const struct hb_actor *me = hb_me(env->hb, ev->tid);
    bool go_on = true;

    for (uint64_t n = *number;; ev++, n++) {
        if (LIKELY(ev < hinted))
            hb_soon(f->announced, ev + SOON);
        if (!ft_takes_place(f, ev, me, n)) {
            *number = n;
            go_on = by_rules(f, ev, n);
        }
        if (ev + 1 == end || !go_on || !access_plain(env, ev + 1)) {
            *number = n;
            return ev;
        }
        me = hb_me(env->hb, ev[1].tid);
    }
}

void ft_free_reads(struct fasttrack *f, struct variable *x)
{
    if (x->shared)
        budget_give(f->env->budget, sizeof *x->shared + x->shared->cap * sizeof *x->shared->read);
    free(x->shared);
    x->shared = NULL;
}

struct move { /* a clear, or a copy by so much */
    struct fasttrack *f;
    bool copy;
    sim_addr by; /* may wrap */
    struct cost_sweep sweep;
};

/* A copy writes what is at its destination anyway, if there is something at the source. */
static bool drop_variable(void *arg, sim_addr addr, void *cell)
{
    struct move *m = arg;
    struct fasttrack *f = m->f;
    struct variable *x = cell;
    const struct variable *from = m->copy ? shadow_peek(f->variables, addr - m->by) : NULL;

    if (!from || !variable_used(from))
        ft_charge_variable(&f->cost, &m->sweep, addr, 0);
    if (reads_shared(x))
        ft_map_drop(&f->cost, x->shared);
    budget_give(&f->cost.bytes, f->cost.cost.on ? FT_VARIABLE_BYTES : 0);
    f->st.cleared++;
    ft_free_reads(f, x);
    return true;
}

/* The copy gets a read vector of its own. */
void ft_own_reads(void *arg, void *cell)
{
    struct fasttrack *f = arg;
    struct variable *x = cell;
    const struct shared_reads *was = x->shared;

    x->shared = NULL;
    for (uint32_t i = 0; reads_shared(x) && i < was->n; i++)
        add_shared(f, x, &was->read[i]);
    if (reads_shared(x))
        ft_map_copy(&f->cost, was, x->shared);
}

static bool copy_variable(void *arg, sim_addr addr, void *cell)
{
    struct move *m = arg;

    (void)cell;
    ft_charge_variable(&m->f->cost, &m->sweep, addr, addr + m->by);
    return false;
}

/* A clear or copy. */
NO_INLINE void ft_move_variables(struct fasttrack *f, const struct event *ev)
{
    struct move m = {.f = f, .copy = ev->kind == EV_COPY};
    struct shadow_snapshot *s = NULL;

    if (m.copy) {
        m.by = ev->addr - ev[1].addr;
        m.sweep = ft_sweep(&f->cost, true);
        if (f->cost.cost.on)
            shadow_each(f->variables, ev[1].addr, ev->aux, copy_variable, &m);
        cost_sweep_end(&f->cost.cost, &m.sweep);
        s = shadow_take(f->variables, ev[1].addr, ev->aux, ft_own_reads, f);
    }
    m.sweep = ft_sweep(&f->cost, false);
    shadow_each(f->variables, ev->addr, ev->aux, drop_variable, &m);
    cost_sweep_end(&f->cost.cost, &m.sweep);
    if (!s)
        return;
    const uint64_t copied = shadow_put(f->variables, s, ev->addr);
    f->st.copied += copied;
    budget_take(&f->cost.bytes, f->cost.cost.on ? copied * FT_VARIABLE_BYTES : 0);
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
    shadow_all(f->variables, trace_variable, f);
}

static sim_cycle ft_sync(void *self, const struct event *ev, unsigned core, sim_cycle now)
{
    struct fasttrack *f = self;

    f->cost.core = core;
    clock_cost_sync(f->cost.clocks, ev, core);
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        ft_move_variables(f, ev);
    else if (ft_collects(f, ev))
        ft_trace_variables(f);
    return now;
}

/* ---- life ----------------------------------------------------------------------------------- */

void ft_init(struct fasttrack *f, const struct policy_env *env, const struct cost_step *steps,
             unsigned n)
{
    f->env = env;
    f->apart = env->granule == GRANULE_FIELD ? 0 : ~(sim_addr)(env->granule - 1);
    f->race = race;
    f->variables =
        shadow_new(env->granule ? env->granule : 1, sizeof(struct variable), env->budget);
    f->announced[0] = f->variables;
    f->announced[1] = env->hb->objects;
    stats_count(env->stats, "same-epoch", "count",
                "Granules accessed again in the same epoch: no check.", &f->st.same_epoch);
    stats_count(env->stats, "read-exclusive", "count",
                "Reads that took the place of the read epoch.", &f->st.exclusive);
    stats_count(env->stats, "read-share", "count", "Read epochs that became vectors.",
                &f->st.to_shared);
    stats_count(env->stats, "read-shared", "count", "Reads that lengthened a vector.",
                &f->st.shared);
    stats_count(env->stats, "cleared", "locations",
                "Histories emptied by clears and overwritten by copies.", &f->st.cleared);
    stats_count(env->stats, "copied", "locations", "Histories that copies wrote.", &f->st.copied);
    ft_cost_init(&f->cost, env, steps, n);
}

static void *ft_create(const struct policy_env *env, const void *params, struct err *e)
{
    const struct ft_params *p = params;
    struct fasttrack *f = xcalloc(1, sizeof *f);

    (void)e;
    ft_init(f, env, ft_steps, FT_STEPS);
    f->report_repeats = p->repeats == REPEATS_REPORT;
    return f;
}

static bool check_variable(void *arg, sim_addr addr, void *cell)
{
    const struct variable *x = cell;

    (void)arg;
    (void)addr;
    for (uint32_t i = 0; reads_shared(x) && i < x->shared->n; i++)
        for (uint32_t j = 0; j < i; j++)
            assert(epoch_thread(x->shared->read[i].at) != epoch_thread(x->shared->read[j].at) ||
                   x->shared->read[i].atomic != x->shared->read[j].atomic);
    return false;
}

static bool free_variable(void *arg, sim_addr addr, void *cell)
{
    (void)addr;
    ft_free_reads(arg, cell);
    return false;
}

void ft_check_all(const struct fasttrack *f)
{
    shadow_all(f->variables, check_variable, NULL);
}

static void ft_check(const void *self)
{
    ft_check_all(self);
}

/* Skipped repeats are missed: of what history = all finds, at least the first at each location. */
static void ft_amend(const void *self, struct promise *p)
{
    const struct fasttrack *f = self;

    if (f->report_repeats)
        return;
    p->claims &= ~(unsigned)CLAIM_SOUND;
    p->history = HISTORY_ALL;
    p->property = "happens-before, repeats in an epoch skipped";
}

static void ft_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                       size_t room)
{
    const struct fasttrack *f = self;

    (void)ev;
    (void)location;
    if (!f->report_repeats)
        snprintf(to, room, "with repeats = skip an access is not checked again in its epoch");
}

void ft_done(struct fasttrack *f)
{
    shadow_all(f->variables, free_variable, f);
    shadow_free(f->variables);
    ft_cost_free(&f->cost);
}

static void ft_destroy(void *self)
{
    ft_done(self);
    free(self);
}

extern const struct policy policy_fasttrack;
const struct policy policy_fasttrack = {
    .name = "fasttrack",
    .summary = "epochs, and vectors where reads are shared",
    .source = "fasttrack",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER, CONFLICT_ALL, HISTORY_LAST, NULL},
    .params = ft_params,
    .params_size = sizeof(struct ft_params),
    .create = ft_create,
    .steps = ft_steps,
    .steps_n = FT_STEPS,
    .access = ft_access,
    .pay = ft_pay,
    .run = ft_run,
    .soon = ft_soon,
    .sync = ft_sync,
    .check = ft_check,
    .amend = ft_amend,
    .explain = ft_explain,
    .destroy = ft_destroy,
};
