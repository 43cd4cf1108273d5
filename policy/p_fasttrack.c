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

/* One cache line. The fields of two struct past, side by side, so that no byte is lost to padding.
 */
struct variable {
    epoch write, read; /* 0: none; read: the one read while reads are not shared */
    uint64_t write_site, write_event, read_site, read_event;
    struct shared_reads *shared; /* owns; NULL until first needed; n > 0: reads are shared */
    sim_tid write_tid, read_tid;
    uint8_t write_kind; /* of event, with ATOMIC */
    bool read_atomic;
    bool raced; /* the race mark of this life */
};
_Static_assert(sizeof(struct variable) == 64, "a variable is one cache line");
enum { ATOMIC = 0x80 };

struct ft_stats {
    uint64_t same_epoch, exclusive, to_shared, shared, cleared, copied;
};

struct fasttrack {
    const struct policy_env *env;
    struct shadow *variables;
    bool report_repeats;
    struct ft_stats st;
};

static struct past last_write(const struct variable *x)
{
    return (struct past){x->write,
                         x->write_site,
                         x->write_event,
                         x->write_tid,
                         x->write_kind & (uint8_t)~ATOMIC,
                         (x->write_kind & ATOMIC) != 0};
}

static struct past last_read(const struct variable *x)
{
    return (struct past){x->read,     x->read_site, x->read_event,
                         x->read_tid, EV_READ,      x->read_atomic};
}

static bool reads_shared(const struct variable *x)
{
    return x->shared && x->shared->n;
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

static bool races(const struct past *p, const struct past *now, const struct vclock *clock)
{
    return p->at && !(p->atomic && now->atomic) && !epoch_before(p->at, clock);
}

static void check_write(struct fasttrack *f, struct variable *x, sim_addr addr,
                        const struct event *ev, const struct past *now, const struct vclock *clock)
{
    if (!x->write || epoch_before(x->write, clock))
        return;
    const struct past p = last_write(x);
    if (races(&p, now, clock))
        race(f, x, addr, ev, &p);
}

static void check_reads(struct fasttrack *f, struct variable *x, sim_addr addr,
                        const struct event *ev, const struct past *now, const struct vclock *clock)
{
    if (!reads_shared(x)) {
        const struct past p = last_read(x);
        if (races(&p, now, clock))
            race(f, x, addr, ev, &p);
        return;
    }
    for (uint32_t i = 0; i < x->shared->n; i++)
        if (races(&x->shared->read[i], now, clock))
            race(f, x, addr, ev, &x->shared->read[i]);
}

/* ---- records -------------------------------------------------------------------------------- */

static void set_read(struct variable *x, const struct past *now)
{
    x->read = now->at;
    x->read_site = now->site;
    x->read_event = now->event;
    x->read_tid = now->tid;
    x->read_atomic = now->atomic;
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
    const struct past was = last_read(x);

    f->st.to_shared++; /* [FT READ SHARE]: the epoch becomes a vector */
    add_shared(f, x, &was);
    add_shared(f, x, now);
    x->read = 0;
}

static void record_read(struct fasttrack *f, struct variable *x, const struct past *now,
                        const struct vclock *clock)
{
    if (x->read && (!epoch_before(x->read, clock) || (now->atomic && !x->read_atomic))) {
        share_read(f, x, now);
    } else if (!x->read && reads_shared(x)) {
        record_shared(f, x, now);
    } else { /* [FT READ EXCLUSIVE] */
        f->st.exclusive++;
        set_read(x, now);
    }
}

static void record_write(struct variable *x, const struct past *now)
{
    x->write = now->at;
    x->write_site = now->site;
    x->write_event = now->event;
    x->write_tid = now->tid;
    x->write_kind = (uint8_t)(now->kind | (now->atomic ? ATOMIC : 0));
    x->read = 0;
    if (x->shared)
        x->shared->n = 0;
}

/* ---- the hooks ------------------------------------------------------------------------------ */

static void read_variable(struct fasttrack *f, struct variable *x, sim_addr addr,
                          const struct event *ev, const struct past *now,
                          const struct vclock *clock)
{
    /* [FT READ SAME EPOCH] */
    if (x->read == now->at && x->read_atomic == now->atomic && !(x->raced && f->report_repeats)) {
        f->st.same_epoch++;
        set_read(x, now); /* a race to come names the latest */
        return;
    }
    check_write(f, x, addr, ev, now, clock);
    record_read(f, x, now, clock);
}

static void write_variable(struct fasttrack *f, struct variable *x, sim_addr addr,
                           const struct event *ev, const struct past *now,
                           const struct vclock *clock)
{
    /* [FT WRITE SAME EPOCH]. Reads since then are the writer's own, or no conflict: had another
     * thread read it in this epoch, that read would have raced. */
    if (x->write == now->at && !(x->write_kind & ATOMIC) == !now->atomic &&
        !(x->raced && f->report_repeats)) {
        f->st.same_epoch++;
        record_write(x, now);
        return;
    }
    check_write(f, x, addr, ev, now, clock);
    check_reads(f, x, addr, ev, now, clock);
    record_write(x, now);
}

ALWAYS_INLINE void access_variable(struct fasttrack *f, sim_addr addr, const struct event *ev,
                                   const struct past *now, const struct vclock *clock)
{
    struct variable *x = shadow_get(f->variables, addr);

    if (event_writes(ev))
        write_variable(f, x, addr, ev, now, clock);
    else
        read_variable(f, x, addr, ev, now, clock);
}

static sim_cycle ft_access(void *self, const struct event *ev, unsigned core,
                           struct mem_outcome out, sim_cycle now)
{
    struct fasttrack *f = self;
    const struct hb_actor *me = hb_me(f->env->hb, ev->tid);
    const struct past access = {.at = me->now,
                                .site = ev->aux,
                                .event = *f->env->number,
                                .tid = ev->tid,
                                .kind = ev->kind,
                                .atomic = ev->flags & EVF_ORDER_MASK};
    const struct granules g = granules_of(ev, f->env->granule);

    (void)core;
    (void)out;
    access_variable(f, g.first, ev, &access, &me->clock);
    for (sim_addr a = g.first;
         a != g.last && !budget_over(f->env->budget);) /* or the run ends at its limit */
        access_variable(f, a += g.step, ev, &access, &me->clock);
    return now;
}

static void ft_soon(const void *self, const struct event *ev)
{
    const struct fasttrack *f = self;

    shadow_soon(f->variables, ev->addr);
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
    for (uint32_t i = 0; was && i < was->n; i++)
        add_shared(arg, x, &was->read[i]);
}

static sim_cycle ft_sync(void *self, const struct event *ev, unsigned core, sim_cycle now)
{
    struct fasttrack *f = self;

    (void)core;
    if (ev->kind == EV_CLEAR) {
        shadow_each(f->variables, ev->addr, ev->aux, drop_variable, f);
    } else if (ev->kind == EV_COPY) {
        struct shadow_snapshot *s = shadow_take(f->variables, ev[1].addr, ev->aux, own_reads, f);
        shadow_each(f->variables, ev->addr, ev->aux, drop_variable, f);
        f->st.copied += shadow_put(f->variables, s, ev->addr);
    }
    return now;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void *ft_create(const struct policy_env *env, const void *params, struct err *e)
{
    const struct ft_params *p = params;
    struct fasttrack *f = xcalloc(1, sizeof *f);

    (void)e;
    f->env = env;
    f->report_repeats = p->repeats == REPEATS_REPORT;
    f->variables =
        shadow_new(env->granule ? env->granule : 1, sizeof(struct variable), env->budget);
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
    assert(!(reads_shared(x) && x->read));
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
    .soon = ft_soon,
    .sync = ft_sync,
    .check = ft_check,
    .promise = ft_promise,
    .explain = ft_explain,
    .destroy = ft_destroy,
};
