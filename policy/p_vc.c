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
static bool check(struct vc *v, struct location *l, const struct event *ev, const struct entry *now)
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
        race_conflict(v->env->report, ev, &earlier, !l->raced);
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
}

/* The entry that `now` takes the place of: the same actor's last read, or last write. */
static struct entry *own_entry(struct location *l, const struct entry *now)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (writes(&l->entry[i]) == writes(now) &&
            epoch_thread(l->entry[i].at) == epoch_thread(now->at))
            return &l->entry[i];
    return NULL;
}

/* What a write makes a history of kind `last` forget: everything. */
static void forget(struct location *l)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < l->n && MUTANT(WRITE_KEEPS_READS); i++)
        if (!writes(&l->entry[i]))
            l->entry[kept++] = l->entry[i];
    l->n = kept;
}

static void record(struct vc *v, struct location *l, const struct entry *now)
{
    if (writes(now) && (!v->all || MUTANT(ALL_FORGETS)))
        forget(l);
    if (MUTANT(READ_FORGETS_READS) && !writes(now) && l->n && !writes(&l->entry[l->n - 1]))
        l->n--;
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
        const bool racy = check(v, l, ev, &entry);
        if (!(MUTANT(RACY_NOT_RECORDED) && racy))
            record(v, l, &entry);
        if (a == g.last)
            return now;
    }
}

/* ---- clear and copy ------------------------------------------------------------------------- */

static void location_empty(struct vc *v, struct location *l)
{
    budget_give(v->env->budget, l->cap * sizeof *l->entry);
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

struct snapshot { /* the locations of a region, as they are now */
    struct vc *v;
    struct moved {
        sim_addr addr;
        struct location location; /* owns its entries until it is placed */
    } * moved;
    size_t n, cap;
};

static bool snapshot_location(void *arg, sim_addr addr, void *cell)
{
    struct snapshot *s = arg;
    const struct location *l = cell;

    s->moved = xgrow(s->moved, s->n, &s->cap, sizeof *s->moved);
    struct moved *m = &s->moved[s->n++];
    *m = (struct moved){.addr = addr, .location = {.raced = l->raced && !MUTANT(COPY_DROPS_MARK)}};
    for (uint32_t i = 0; i < l->n; i++)
        append(s->v, &m->location, &l->entry[i]);
    return MUTANT(COPY_MOVES) ? drop_location(s->v, addr, cell) : false;
}

static void copy_region(struct vc *v, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct snapshot s = {.v = v};

    shadow_each(v->locations, from, bytes, snapshot_location, &s);
    if (!MUTANT(COPY_KEEPS_DESTINATION))
        shadow_each(v->locations, to, bytes, drop_location, v);
    for (size_t i = 0; i < s.n; i++) {
        struct location *l = shadow_get(v->locations, s.moved[i].addr + (to - from));
        location_empty(v, l);
        *l = s.moved[i].location;
        v->st.copied++;
    }
    free(s.moved);
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

static bool count_entries(void *arg, sim_addr addr, void *cell)
{
    const struct location *l = cell;
    uint64_t *n = arg;

    (void)addr;
    *n += l->n;
    return false;
}

static void each_location(struct vc *v, shadow_visit *fn, void *arg)
{
    shadow_each(v->locations, 0, UINT64_MAX, fn, arg);
    shadow_each(v->locations, UINT64_MAX, 1, fn, arg);
}

static void vc_finish(void *self)
{
    struct vc *v = self;

    v->st.entries = 0;
    each_location(v, count_entries, &v->st.entries);
}

static bool check_location(void *arg, sim_addr addr, void *cell)
{
    const struct vc *v = arg;
    const struct location *l = cell;
    uint32_t last_writes = 0;

    (void)addr;
    for (uint32_t i = 0; i < l->n; i++) {
        last_writes += writes(&l->entry[i]);
        for (uint32_t j = 0; j < i; j++)
            assert(epoch_thread(l->entry[i].at) != epoch_thread(l->entry[j].at) ||
                   writes(&l->entry[i]) != writes(&l->entry[j]));
    }
    assert(v->all || last_writes <= 1);
    return false;
}

static void vc_check(const void *self)
{
    const struct vc *v = self;

    each_location((struct vc *)(uintptr_t)v, check_location, (void *)(uintptr_t)v);
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

    each_location(v, free_location, NULL);
    shadow_free(v->locations);
    free(v);
}

extern const struct policy policy_vc;
const struct policy policy_vc = {
    .name = "vc",
    .summary = "vector clocks, the canonical detector",
    .source = "lard",
    .claims = CLAIM_SOUND | CLAIM_PRECISE,
    .params = vc_params,
    .params_size = sizeof(struct vc_params),
    .create = vc_create,
    .access = vc_access,
    .sync = vc_sync,
    .finish = vc_finish,
    .check = vc_check,
    .destroy = vc_destroy,
};
