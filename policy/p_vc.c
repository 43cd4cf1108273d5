/* p_vc.c - the canonical vector-clock detector: LARD, Appendix A, as docs/events.md corrects it.
 *
 * A location's history is a plain list of entries, and the check is the definition: an access races
 * with each entry that conflicts with it and does not happen before it. Nothing is cut short, so
 * that faster detectors have something to be equal to.
 *   history = last: the last write, and since it the last read of each thread.
 *   history = all: the last read and the last write of each thread.
 * Not precise after the first race of a location with `last`, as in the paper (5.1): a racy write
 * takes the place of the one that it raced with. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutant.h"
#include "policy/hb.h"
#include "policy/policy.h"

enum { HISTORY_LAST, HISTORY_ALL };

struct vc_params {
    uint32_t history;
};

static const char *const history_choices[] = {"last", "all", NULL};
static const struct param vc_params[] = {
    {"history", PARAM_CHOICE, offsetof(struct vc_params, history), "last", 0, 0, "",
     history_choices,
     "What a location remembers: the last write and the reads since, or each thread's last read "
     "and write."},
    PARAM_END,
};

struct entry { /* an access in a history */
    epoch at;  /* its actor and the actor's time */
    uint64_t site, event;
    sim_tid tid;
    uint8_t kind; /* of event */
    bool atomic;
};

struct location {
    struct entry *entry; /* owns; unordered */
    uint32_t n, cap;
    bool raced; /* the race mark of this life */
};

struct vc_stats {
    uint64_t comparisons, entries, cleared, copied;
};

struct vc {
    const struct policy_env *env;
    struct shadow *locations;
    bool all;
    struct vc_stats st;
};

static bool writes(const struct entry *e)
{
    return e->kind != EV_READ;
}

static bool conflict(const struct entry *e, const struct entry *now)
{
    if (!writes(e) && !writes(now) && !MUTANT(READ_RACES_READ))
        return false;
    if (MUTANT(WRITE_MISSES_READS) && !writes(e))
        return false;
    if (MUTANT(ATOMIC_NEVER_RACES) && (e->atomic || now->atomic))
        return false;
    return !(e->atomic && now->atomic) || MUTANT(ATOMIC_RACES);
}

static bool happens_before(const struct entry *e, const struct vclock *clock)
{
    if (MUTANT(SELF_RACES))
        return epoch_time(e->at) < vclock_get(clock, epoch_thread(e->at));
    return epoch_before(e->at, clock);
}

/* Reports every race of `now` with the location's history. */
static bool check(struct vc *v, struct location *l, sim_addr addr, const struct event *ev,
                  const struct entry *now)
{
    const struct vclock *clock = hb_clock(v->env->hb, ev->tid);
    bool racy = false;

    for (uint32_t i = 0; i < l->n; i++) {
        const struct entry *e = &l->entry[i];
        v->st.comparisons++;
        if (!conflict(e, now) || happens_before(e, clock))
            continue;
        const struct race_side earlier = {
            .event = e->event, .site = e->site, .thread = e->tid, .op = e->kind, .known = true};
        race_conflict(v->env->report, ev, addr, &earlier, !l->raced);
        l->raced = racy = true;
    }
    return racy;
}

static void append(struct vc *v, struct location *l, const struct entry *now)
{
    if (l->n == l->cap) {
        const uint32_t cap = l->cap ? 2 * l->cap : 1;
        l->entry = xrealloc(l->entry, cap, sizeof *l->entry);
        budget_take(v->env->budget, (cap - l->cap) * sizeof *l->entry);
        l->cap = cap;
    }
    l->entry[l->n++] = *now;
    v->st.entries++;
}

/* The entry that `now` takes the place of: the same actor's last one of its kind, plain and atomic
 * ones apart. */
static struct entry *own_entry(struct location *l, const struct entry *now)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (writes(&l->entry[i]) == writes(now) &&
            (l->entry[i].atomic == now->atomic ||
             (MUTANT(ATOMIC_READ_REPLACES) && now->atomic && !writes(now))) &&
            epoch_thread(l->entry[i].at) == epoch_thread(now->at))
            return &l->entry[i];
    return NULL;
}

/* What a write makes a history of kind `last` forget: everything. */
static void forget(struct vc *v, struct location *l)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < l->n && MUTANT(WRITE_KEEPS_READS); i++)
        if (!writes(&l->entry[i]))
            l->entry[kept++] = l->entry[i];
    v->st.entries -= l->n - kept;
    l->n = kept;
}

static void record(struct vc *v, struct location *l, const struct entry *now)
{
    if (writes(now) && (!v->all || MUTANT(ALL_FORGETS)))
        forget(v, l);
    if (MUTANT(READ_FORGETS_READS) && !writes(now) && l->n && !writes(&l->entry[l->n - 1])) {
        l->n--;
        v->st.entries--;
    }
    struct entry *own = own_entry(l, now);
    if (own)
        *own = *now;
    else
        append(v, l, now);
}

static sim_cycle vc_access(void *self, const struct event *ev, unsigned core,
                           struct mem_outcome out, sim_cycle now)
{
    struct vc *v = self;
    const struct entry entry = {.at = hb_epoch(v->env->hb, ev->tid),
                                .site = event_site(ev),
                                .event = *v->env->number,
                                .tid = ev->tid,
                                .kind = ev->kind,
                                .atomic = event_order(ev) != ORDER_NONE};
    struct granules g = granules_of(ev, v->env->granule);

    (void)core;
    (void)out;
    if (MUTANT(FIELD_IS_BYTE) && v->env->granule == GRANULE_FIELD)
        g.last = ev->addr + ev->size - 1;
    if (MUTANT(FIRST_GRANULE_ONLY))
        g.last = g.first;
    for (sim_addr a = g.first;; a += g.step) {
        struct location *l = shadow_get(v->locations, a);
        const bool racy = check(v, l, a, ev, &entry);
        if (!(MUTANT(RACY_NOT_RECORDED) && racy))
            record(v, l, &entry);
        if (a == g.last || budget_over(v->env->budget)) /* the run ends at its limit */
            return now;
    }
}

static void vc_soon(const void *self, const struct event *ev)
{
    const struct vc *v = self;

    shadow_soon(v->locations, ev->addr);
}

static void vc_very_soon(const void *self, const struct event *ev)
{
    const struct vc *v = self;
    const struct location *l = shadow_seen(v->locations, ev->addr);

    if (l)
        __builtin_prefetch(l->entry, 1);
}

/* ---- clear and copy ------------------------------------------------------------------------- */

static void location_empty(struct vc *v, struct location *l)
{
    budget_give(v->env->budget, l->cap * sizeof *l->entry);
    v->st.entries -= l->n;
    free(l->entry);
    *l = (struct location){.raced = MUTANT(CLEAR_KEEPS_MARK) && l->raced};
}

static bool drop_location(void *arg, sim_addr addr, void *cell)
{
    struct vc *v = arg;
    struct location *l = cell;

    (void)addr;
    v->st.cleared++;
    location_empty(v, l);
    return !l->raced;
}

/* The copy gets entries of its own. */
static void own_entries(void *arg, void *cell)
{
    struct vc *v = arg;
    struct location *l = cell, was = *l;

    *l = (struct location){.raced = was.raced && !MUTANT(COPY_DROPS_MARK)};
    for (uint32_t i = 0; i < was.n; i++)
        append(v, l, &was.entry[i]);
}

static void copy_region(struct vc *v, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct shadow_snapshot *s = shadow_take(v->locations, from, bytes, own_entries, v);

    if (MUTANT(COPY_MOVES))
        shadow_each(v->locations, from, bytes, drop_location, v);
    if (!MUTANT(COPY_KEEPS_DESTINATION))
        shadow_each(v->locations, to, bytes, drop_location, v);
    v->st.copied += shadow_put(v->locations, s, to);
}

/* What a copy that goes granule by granule, upwards, would do to an overlapping region. */
static void copy_forward(struct vc *v, sim_addr to, sim_addr from, uint64_t bytes)
{
    const uint64_t step = v->env->granule ? v->env->granule : 1;

    for (uint64_t at = 0; at < bytes; at += step)
        copy_region(v, to + at, from + at, step);
}

static sim_cycle vc_sync(void *self, const struct event *ev, unsigned core, sim_cycle now)
{
    struct vc *v = self;

    (void)core;
    if (ev->kind == EV_CLEAR && !MUTANT(CLEAR_IGNORED))
        shadow_each(v->locations, ev->addr, ev->aux, drop_location, v);
    else if (ev->kind == EV_COPY && MUTANT(COPY_FORWARD))
        copy_forward(v, ev->addr, ev[1].addr, ev->aux);
    else if (ev->kind == EV_COPY && !MUTANT(COPY_IGNORED))
        copy_region(v, ev->addr, ev[1].addr, ev->aux);
    return now;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void *vc_create(const struct policy_env *env, const void *params, struct err *e)
{
    const struct vc_params *p = params;
    struct vc *v = xcalloc(1, sizeof *v);

    (void)e;
    v->env = env;
    v->all = p->history == HISTORY_ALL;
    v->locations =
        shadow_new(env->granule ? env->granule : 1, sizeof(struct location), env->budget);
    stats_count(env->stats, "comparisons", "count", "History entries compared with an access.",
                &v->st.comparisons);
    stats_count(env->stats, "cleared", "locations",
                "Histories emptied by clears and overwritten by copies.", &v->st.cleared);
    stats_count(env->stats, "copied", "locations", "Histories that copies wrote.", &v->st.copied);
    stats_level(env->stats, "entries", "count", "Accesses in all histories at the end.",
                &v->st.entries);
    return v;
}

static bool check_location(void *arg, sim_addr addr, void *cell)
{
    const bool *all = arg;
    const struct location *l = cell;

    (void)addr;
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct entry *x = &l->entry[i], *y = &l->entry[j];
            assert(*all || !writes(x) || !writes(y));
            assert(epoch_thread(x->at) != epoch_thread(y->at) || writes(x) != writes(y) ||
                   x->atomic != y->atomic);
            (void)x;
            (void)y;
        }
    (void)all;
    return false;
}

static void vc_check(const void *self)
{
    const struct vc *v = self;
    bool all = v->all;

    shadow_all(v->locations, check_location, &all);
}

static void vc_promise(const void *self, struct promise *p)
{
    const struct vc *v = self;

    p->property = v->all ? "happens-before, history all" : "happens-before, history last";
}

static bool free_location(void *arg, sim_addr addr, void *cell)
{
    const struct location *l = cell;

    (void)arg;
    (void)addr;
    free(l->entry);
    return true;
}

static void vc_destroy(void *self)
{
    struct vc *v = self;

    shadow_all(v->locations, free_location, NULL);
    shadow_free(v->locations);
    free(v);
}

extern const struct policy policy_vc;
const struct policy policy_vc = {
    .name = "vc",
    .summary = "vector clocks, the canonical detector",
    .source = "lard",
    .claims = CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER,
    .params = vc_params,
    .params_size = sizeof(struct vc_params),
    .create = vc_create,
    .access = vc_access,
    .soon = vc_soon,
    .very_soon = vc_very_soon,
    .sync = vc_sync,
    .check = vc_check,
    .promise = vc_promise,
    .destroy = vc_destroy,
};
