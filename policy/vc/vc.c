/* vc.c - the canonical vector-clock detector: LARD, Appendix A, as docs/events.md corrects it.
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

#include "policy/op.h"
#include "policy/vc/history.h"
#include "policy/vc/cost.h"

enum { CHOICE_LAST, CHOICE_ALL }; /* of history_choices */

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

struct vc {
    const struct policy_env *env;
    struct cells histories; /* of locations; what they cost is beside, in cost.c */
    struct history_pool pool;
    bool all;
    struct vc_cost cost;
    uint64_t comparisons; /* a statistic */
};

/* ---- an access ------------------------------------------------------------------------------ */

static bool happens_before(epoch e, const struct vclock *clock)
{
    return epoch_before(e, clock);
}

/* Is the entry the one that an access of op `now` by this actor replaces? Its last one of the same
 * class: reads and writes, plain and atomic ones are kept apart. */
static bool same_place(epoch e, uint8_t op, const struct hb_actor *me, uint8_t now)
{
    const unsigned differ = op_class(op) ^ op_class(now);

    return (differ | (epoch_thread(e) ^ epoch_thread(me->now))) == 0;
}

struct found {          /* what a look through a history finds */
    unsigned unordered; /* bit c: an access of class c does not happen before this one */
    uint32_t place;     /* the index of the entry that this access replaces; NOWHERE: none */
};
#define NOWHERE UINT32_MAX

/* Looks through n entries, the first of which has index `from`. No branch depends on an entry,
 * since who is ordered with whom can't be predicted. */
ALWAYS_INLINE struct found look(const epoch *at, const uint8_t *op, uint32_t n, uint32_t from,
                                const struct hb_actor *me, uint8_t now, struct found f)
{
    for (uint32_t i = 0; i < n; i++) {
        f.unordered |= (unsigned)!happens_before(at[i], &me->clock) << op_class(op[i]);
        f.place = same_place(at[i], op[i], me, now) ? from + i : f.place;
    }
    return f;
}

/* Rare: not in line, it leaves the registers to what is not. */
static NO_INLINE struct found look_more(struct history_more *m, const struct hb_actor *me,
                                        uint8_t now, struct found f)
{
    return look(m->at, history_more_op(m), m->n, HISTORY_HERE, me, now, f);
}

/* Reports every race of the access with the location's history. */
static NO_INLINE void report(struct vc *v, struct history *h, sim_addr addr, const struct event *ev,
                             const struct vclock *clock)
{
    const unsigned conflicts = op_conflicts(op_class(op_of(ev)));

    for (uint32_t i = 0; i < history_count(h); i++) {
        const struct history_past *p = history_past(h, i);
        if (!(conflicts >> op_class(*history_op(h, i)) & 1) ||
            happens_before(*history_at(h, i), clock))
            continue;
        race_with(v->env->report, ev, addr,
                  race_access(p->event, p->site, p->tid, op_kind(*history_op(h, i))), &h->raced);
    }
}

/* How many entries stay when an access of op `now` comes: none at a write with history = last. */
static uint32_t keep(const struct vc *v, const struct history *h, uint8_t now)
{
    const uint32_t n = history_count(h);
    const bool forgets = op_writes(now) && !v->all;

    return n & ((uint32_t)forgets - 1); /* without a branch */
}

/* Stores the access at the index found, or behind the entries that stay; NOWHERE is larger than any
 * index. */
ALWAYS_INLINE void record(struct vc *v, struct history *h, uint32_t place, const struct event *ev,
                          epoch at_now, uint8_t now)
{
    const uint32_t kept = keep(v, h, now), i = place < kept ? place : kept;

    history_resize(&v->pool, h, i < kept ? kept : kept + 1);
    *history_at(h, i) = at_now;
    *history_op(h, i) = now;
    /* Field by field, as a copy of the whole would wait for its parts. */
    struct history_past *p = history_past(h, i);
    p->site = ev->aux;
    p->event = *v->env->number;
    p->tid = ev->tid;
}

struct vc_check { /* an access in hand */
    struct vc *v;
    const struct hb_actor *me;
    uint8_t op;
};

ALWAYS_INLINE bool check_location(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    const struct vc_check *k = arg;
    struct vc *v = k->v;
    struct history *h = cell;
    struct found f = look(h->at, h->op, h->n, 0, k->me, k->op, (struct found){.place = NOWHERE});

    if (h->more)
        f = look_more(h->more, k->me, k->op, f);
    v->comparisons += history_count(h);
    const bool racy = f.unordered & op_conflicts(op_class(k->op));
    if (UNLIKELY(racy))
        report(v, h, addr, ev, &k->me->clock);
    record(v, h, f.place, ev, k->me->now, k->op);
    if (UNLIKELY(v->cost.cost->on))
        vc_charge_access(&v->cost, addr, ev);
    return racy;
}

static void vc_access(void *self, const struct event *ev)
{
    struct vc *v = self;
    struct vc_check k = {v, hb_me(v->env->hb, ev->tid), op_of(ev)};

    cells_access(&v->histories, ev, check_location, &k);
}

static void vc_very_soon(const void *self, const struct event *ev)
{
    const struct vc *v = self;
    const struct history *h = cells_prefetched(&v->histories, ev->addr);

    if (h)
        history_soon(h);
}

static void vc_remembers(const void *self, sim_addr location, remembered_fn *fn, void *arg)
{
    const struct vc *v = self;
    struct history *h = cells_peek(&v->histories, location);

    for (uint32_t i = 0; h && i < history_count(h); i++)
        fn(arg, history_past(h, i)->event, op_kind(*history_op(h, i)));
}

/* ---- clear and copy ------------------------------------------------------------------------- */

static void drop_history(void *self, void *cell)
{
    struct vc *v = self;

    history_resize(&v->pool, cell, 0);
}

static void own_history(void *self, void *cell)
{
    struct vc *v = self;
    struct history *h = cell;

    history_own(&v->pool, h);
}

static void check_history(const void *self, void *cell)
{
    const struct vc *v = self;
    struct history *h = cell;

    for (uint32_t i = 0; i < history_count(h); i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint8_t x = *history_op(h, i), y = *history_op(h, j);
            assert(v->all || !op_writes(x) || !op_writes(y));
            assert(epoch_thread(*history_at(h, i)) != epoch_thread(*history_at(h, j)) ||
                   op_class(x) != op_class(y));
            (void)x;
            (void)y;
        }
    (void)v;
}

static const struct cell_kind history_kind = {
    .bytes = sizeof(struct history),
    .cleared = "Histories emptied by clears and overwritten by copies.",
    .copied = "Histories that copies wrote.",
    .drop = drop_history,
    .own = own_history,
    .check = check_history,
};

static void vc_heap(void *self, const struct event *ev)
{
    struct vc *v = self;

    if (ev->kind != EV_CLEAR && ev->kind != EV_COPY)
        return;
    if (v->cost.cost->on)
        cells_move(&v->cost.locations, ev);
    cells_move(&v->histories, ev);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void *vc_create(const struct policy_env *env, const void *params, struct err *e)
{
    const struct vc_params *p = params;
    struct vc *v = xcalloc(1, sizeof *v);

    (void)e;
    v->env = env;
    v->all = p->history == CHOICE_ALL;
    history_pool_init(&v->pool, env->budget);
    stats_count(env->stats, "comparisons", "count", "History entries compared with an access.",
                &v->comparisons);
    cells_init(&v->histories, &history_kind, env, v);
    cells_declare(&v->histories);
    stats_level(env->stats, "entries", "count", "Accesses in all histories at the end.",
                &v->pool.entries);
    vc_cost_init(&v->cost, env, v->all);
    return v;
}

static void vc_amend(const void *self, struct promise *p)
{
    const struct vc *v = self;

    p->history = v->all ? HISTORY_ALL : HISTORY_LAST;
}

static void vc_destroy(void *self)
{
    struct vc *v = self;

    cells_free(&v->cost.locations);
    pool_free(&v->pool.small);
    free(v);
}

const struct policy policy_vc = {
    .name = "vc",
    .summary = "vector clocks, the canonical detector",
    .source = "lard",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER | CLAIM_EVERY, CONFLICT_ALL, HISTORY_LAST,
                NULL},
    .params = vc_params,
    .params_size = sizeof(struct vc_params),
    .create = vc_create,
    .destroy = vc_destroy,
    .detector =
        &(const struct policy_detector){
            .access = vc_access, .heap = vc_heap, .amend = vc_amend, .remembers = vc_remembers},
    .charges = &vc_charges,
    .hints = &(const struct policy_hints){.cells = true, .very_soon = vc_very_soon},
};
