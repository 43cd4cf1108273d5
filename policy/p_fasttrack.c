/* p_fasttrack.c - FastTrack (Flanagan, Freund, PLDI 2009), as Valor 5.2 and SlimState II state its
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
#include <string.h>

#include "base/mutant.h"
#include "policy/hb.h"
#include "policy/policy.h"

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

struct past { /* an access that is remembered */
    epoch at; /* 0: none */
    uint64_t site, event;
    sim_tid tid;
    uint8_t kind; /* of event */
    bool atomic;
};

struct shared_reads { /* the read vector: at most two reads of an actor, plain and atomic */
    uint32_t n, cap;
    struct past read[];
};

enum { READS = 0, WRITES = 1 }; /* the two sides of a variable */

/* One cache line. The fields of two struct past, side by side, so that no byte is lost to padding.
 */
struct variable {
    epoch at[2]; /* 0: none */
    uint64_t site[2], event[2];
    struct shared_reads *shared; /* owns; NULL until first needed; heeded while reads are shared */
    sim_tid tid[2];
    uint8_t kind[2]; /* of event, with ATOMIC */
    bool raced;      /* the race mark of this life */
};
_Static_assert(sizeof(struct variable) == 64, "a variable is one cache line");
enum { ATOMIC = 0x80 };
#define SHARED UINT64_MAX /* at[READS] while reads are shared: no epoch, and before no clock */

struct ft_stats {
    uint64_t same_epoch, exclusive, to_shared, shared, cleared, copied;
};

struct fasttrack {
    const struct policy_env *env;
    struct shadow *variables;
    struct shadow *announced[2]; /* variables, and the objects of happens-before: see hb_soon */
    sim_addr apart; /* bits of addresses in which variables differ; granularity field: none */
    bool report_repeats;
    struct ft_stats st;
};

static struct past last(const struct variable *x, unsigned side)
{
    return (struct past){x->at[side],
                         x->site[side],
                         x->event[side],
                         x->tid[side],
                         x->kind[side] & (uint8_t)~ATOMIC,
                         (x->kind[side] & ATOMIC) != 0};
}

static bool reads_shared(const struct variable *x)
{
    return x->at[READS] == SHARED;
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
    race(f, x, addr, ev, p);
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

/* [FT READ SAME EPOCH] and [FT WRITE SAME EPOCH]. Reads since that write are the writer's own, or
 * no conflict: had another thread read it in this epoch, that read would have raced. */
static inline bool repeats(const struct fasttrack *f, const struct variable *x, size_t side,
                           const struct past *now)
{
    return x->at[side] == now->at && !(x->kind[side] & ATOMIC) == !now->atomic &&
           !(x->raced && f->report_repeats);
}

/* Takes the place of the side's last access, also where it repeats it: a race to come names the
 * latest. A write forgets the reads. */
ALWAYS_INLINE void replace(struct fasttrack *f, struct variable *x, const struct past *now)
{
    const size_t side = now->kind == EV_READ ? READS : WRITES;
    const bool again = repeats(f, x, side, now);

    if (UNLIKELY(again))
        f->st.same_epoch++;
    else
        f->st.exclusive += side ^ WRITES; /* a read */
    x->at[side] = now->at;
    x->site[side] = now->site;
    x->event[side] = now->event;
    x->tid[side] = now->tid;
    x->kind[side] = (uint8_t)(now->kind | (now->atomic ? ATOMIC : 0));
    x->at[READS] &= side - 1;
}

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
        *p = *now;
        return;
    }
    f->st.shared++;
    add_shared(f, x, now);
}

static void share_read(struct fasttrack *f, struct variable *x, const struct past *now)
{
    const struct past was = last(x, READS);

    f->st.to_shared++; /* [FT READ SHARE]: the epoch becomes a vector */
    if (x->shared)
        x->shared->n = 0;
    add_shared(f, x, &was);
    add_shared(f, x, now);
    x->at[READS] = SHARED;
}

/* ---- the rules ------------------------------------------------------------------------------ */

static bool read_variable(struct fasttrack *f, struct variable *x, sim_addr addr,
                          const struct event *ev, const struct past *now,
                          const struct vclock *clock)
{
    const bool again = repeats(f, x, READS, now);
    const bool racy = !again && check(f, x, WRITES, addr, ev, now, clock);

    if (reads_shared(x))
        record_shared(f, x, now);
    else if (!again && x->at[READS] &&
             (!epoch_before(x->at[READS], clock) || (now->atomic && !(x->kind[READS] & ATOMIC))))
        share_read(f, x, now);
    else /* [FT READ EXCLUSIVE] */
        replace(f, x, now);
    return racy;
}

static bool write_variable(struct fasttrack *f, struct variable *x, sim_addr addr,
                           const struct event *ev, const struct past *now,
                           const struct vclock *clock)
{
    bool racy = false;

    if (!repeats(f, x, WRITES, now)) {
        racy |= check(f, x, WRITES, addr, ev, now, clock);
        racy |= check(f, x, READS, addr, ev, now, clock);
    }
    replace(f, x, now);
    return racy;
}

static struct past past_of(const struct hb_actor *me, const struct event *ev, uint64_t number)
{
    return (struct past){.at = me->now,
                         .site = ev->aux,
                         .event = number,
                         .tid = ev->tid,
                         .kind = ev->kind,
                         .atomic = ev->flags & EVF_ORDER_MASK};
}

/* At any variables. False: something raced, or the budget is over its limit, which ends the run. */
static NO_INLINE bool by_rules(struct fasttrack *f, const struct event *ev, uint64_t number)
{
    const struct hb_actor *me = hb_me(f->env->hb, ev->tid);
    const struct past now = past_of(me, ev, number);
    const struct granules g = granules_of(ev, f->env->granule);
    bool racy = false;

    for (sim_addr a = g.first;; a += g.step) {
        struct variable *x = shadow_get(f->variables, a);
        racy |= (event_writes(ev) ? write_variable : read_variable)(f, x, a, ev, &now, &me->clock);
        if (a == g.last || budget_over(f->env->budget))
            return !racy && !budget_over(f->env->budget);
    }
}

/* Most often an access is of one variable, announced, and all that is remembered of it happens
 * before: then a plain access only takes a place. False: it is not so. */
ALWAYS_INLINE bool takes_place(struct fasttrack *f, const struct event *ev,
                               const struct hb_actor *me, uint64_t number)
{
    struct variable *x = shadow_seen(f->variables, ev->addr);

    if (UNLIKELY(!x || (ev->addr ^ (ev->addr + ev->size - 1)) & f->apart ||
                 !epoch_before(x->at[WRITES], &me->clock) ||
                 !epoch_before(x->at[READS], &me->clock)))
        return false;
    struct past now = past_of(me, ev, number);
    now.atomic = false; /* as is known */
    replace(f, x, &now);
    return true;
}

/* ---- the hooks ------------------------------------------------------------------------------ */

static sim_cycle ft_access(void *self, const struct event *ev, unsigned core,
                           struct mem_outcome out, sim_cycle now)
{
    struct fasttrack *f = self;

    (void)core;
    (void)out;
    by_rules(f, ev, *f->env->number);
    return now;
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
        if (!takes_place(f, ev, me, n)) {
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

static void free_reads(struct fasttrack *f, struct variable *x)
{
    if (x->shared)
        budget_give(f->env->budget, sizeof *x->shared + x->shared->cap * sizeof *x->shared->read);
    free(x->shared);
    x->shared = NULL;
}

static bool drop_variable(void *arg, sim_addr addr, void *cell)
{
    struct fasttrack *f = arg;

    (void)addr;
    f->st.cleared++;
    free_reads(f, cell);
    return true;
}

/* The copy gets a read vector of its own. */
static void own_reads(void *arg, void *cell)
{
    struct variable *x = cell;
    const struct shared_reads *was = x->shared;

    x->shared = NULL;
    for (uint32_t i = 0; reads_shared(x) && i < was->n; i++)
        add_shared(arg, x, &was->read[i]);
}

/* A clear or copy. */
static NO_INLINE void move_variables(struct fasttrack *f, const struct event *ev)
{
    struct shadow_snapshot *s = NULL;

    if (ev->kind == EV_COPY)
        s = shadow_take(f->variables, ev[1].addr, ev->aux, own_reads, f);
    shadow_each(f->variables, ev->addr, ev->aux, drop_variable, f);
    if (s)
        f->st.copied += shadow_put(f->variables, s, ev->addr);
}

static sim_cycle ft_sync(void *self, const struct event *ev, unsigned core, sim_cycle now)
{
    (void)core;
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        move_variables(self, ev);
    return now;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void *ft_create(const struct policy_env *env, const void *params, struct err *e)
{
    const struct ft_params *p = params;
    struct fasttrack *f = xcalloc(1, sizeof *f);

    (void)e;
    f->env = env;
    f->apart = env->granule == GRANULE_FIELD ? 0 : ~(sim_addr)(env->granule - 1);
    f->report_repeats = p->repeats == REPEATS_REPORT;
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
    free_reads(arg, cell);
    return false;
}

static void ft_check(const void *self)
{
    const struct fasttrack *f = self;

    shadow_all(f->variables, check_variable, NULL);
}

/* Skipped repeats are missed: of what history = all finds, at least the first at each location. */
static void ft_promise(const void *self, struct promise *p)
{
    const struct fasttrack *f = self;

    p->property = "happens-before, history last";
    if (f->report_repeats)
        return;
    p->claims &= ~(unsigned)CLAIM_SOUND;
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

static void ft_destroy(void *self)
{
    struct fasttrack *f = self;

    shadow_all(f->variables, free_variable, f);
    shadow_free(f->variables);
    free(f);
}

extern const struct policy policy_fasttrack;
const struct policy policy_fasttrack = {
    .name = "fasttrack",
    .summary = "epochs, and vectors where reads are shared",
    .source = "fasttrack",
    .claims = CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER,
    .params = ft_params,
    .params_size = sizeof(struct ft_params),
    .create = ft_create,
    .access = ft_access,
    .run = ft_run,
    .soon = ft_soon,
    .sync = ft_sync,
    .check = ft_check,
    .promise = ft_promise,
    .explain = ft_explain,
    .destroy = ft_destroy,
};
