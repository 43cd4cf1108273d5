/* slimstate.c - SlimState (Wilcox, Finch, Flanagan, Freund, CSTR-201510, 2015): FastTrack for
 * objects, and for arrays a shadow that is compressed by how they are accessed. What a thread
 * accesses of an array is gathered as a footprint, and checked when the thread synchronises.
 *
 * So a race on an array is told late, and by regions: location, thread and synchronisation-free
 * region of both sides are known, not the accesses. The racy locations are those of vc. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/slimstate/slimstate.h"

static const char *const arrays_choices[] = {"checked", "unchecked", NULL};
static const char *const prints_choices[] = {"ranges", "sets", NULL};
static const char *const partitions_choices[] = {"modes", "sets", NULL};
static const struct param slim_params[] = {
#define PARAMS_DEF "policy/slimstate/params.def"
#define PARAMS_OF  struct slim_params
#include "base/param_rows.h"
};

static const struct cost_step slim_steps[] = {
#define STEP(NAME, name, instructions, needs, text) {name, instructions, text, STEP_NEEDS_##needs},
#include "policy/fasttrack/steps.def"
#include "policy/slimstate/steps.def"
#undef STEP
};

/* ---- regions -------------------------------------------------------------------------------- */

static void commit_all(struct slim *s)
{
    for (size_t i = 0; i < s->regions; i++)
        slim_commit_region(s, (uint32_t)i);
}

/* May this event advance a clock? Then footprints before it must be checked with the old one. */
static bool ends_region(const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];

    if (info->class == CLASS_ACCESS || ev->kind == EV_WRITEVC)
        return true;
    return info->takes || info->gives;
}

static void slim_before(void *self, const struct event *ev)
{
    struct slim *s = self;
    const struct hb *hb = s->ft.env->hb;

    if (!hb_has_begun(hb, ev->tid) || ev->kind == EV_THREAD) /* with no-thread: not known whose */
        commit_all(s);
    else if (ends_region(ev))
        slim_end_region(s, hb_actor(hb, ev->tid), ev);
    if (ev->kind == EV_JOIN && ev->aux < MAX_THREADS && hb_has_begun(hb, (sim_tid)ev->aux))
        slim_end_region(s, hb_actor(hb, (sim_tid)ev->aux), ev);
}

/* ---- footprints that grow ------------------------------------------------------------------- */

static struct slim_seen *seen_at(struct slim *s, const struct event *ev)
{
    const uint64_t h = (ev->aux ^ (uint64_t)ev->tid << 40) * UINT64_C(0x9e3779b97f4a7c15);

    return &s->seen[h >> (64 - SLIM_SEEN_BITS)];
}

/* An access within one element is all of it where elements are granules, or locations by where they
 * begin; else it must be of its size. */
static void remember(struct slim *s, const struct event *ev, const struct slim_array *a,
                     struct slim_foot *foot)
{
    const unsigned g = s->ft.env->granule;
    const unsigned shift = (unsigned)__builtin_ctzll(a->slot);

    if (a->slot >> shift != 1 || s->p.footprints == SLIM_SETS || s->ft.env->view & VIEW_NO_THREAD ||
        a->slot > UINT32_MAX)
        return;
    const bool loose = a->slot == g;
    *seen_at(s, ev) = (struct slim_seen){
        .generation = s->generation,
        .lo = slim_addr(a, a->from),
        .bytes = (a->to - a->from) * a->slot,
        .first = a->from,
        .foot = foot,
        .mask = loose ? 0 : (uint32_t)a->slot - 1,
        .least = loose || g == GRANULE_FIELD ? 1 : (uint32_t)a->slot,
        .tid = ev->tid,
        .shift = (uint8_t)shift,
    };
}

/* The array that the access is in, if it is one that its site touched before, and one element of
 * it.
 */
ALWAYS_INLINE const struct slim_seen *recall(struct slim *s, const struct event *ev, uint64_t *i)
{
    const struct slim_seen *seen = seen_at(s, ev);
    const uint64_t at = ev->addr - seen->lo;

    if (UNLIKELY(seen->tid != ev->tid || at >= seen->bytes || seen->generation != s->generation ||
                 at & seen->mask || ((at + ev->size - 1) ^ at) >> seen->shift ||
                 ev->size < seen->least))
        return NULL;
    *i = seen->first + (at >> seen->shift);
    return seen;
}

/* The common case: the next element of a footprint, or one that it has. False: not that simple. */
ALWAYS_INLINE bool appends(struct slim *s, struct slim_range *r, uint64_t i)
{
    if (i - r->e == r->k && r->b != r->e)
        r->e = i;
    else if (i - r->b > r->e - r->b || (r->k != 1 && (i - r->b) % r->k))
        return false;
    s->st.appended++;
    return true;
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* The element that begins at a granule and is accessed as a whole; with fields, that begins there.
 */
static bool is_element(const struct slim *s, const struct slim_array *a, sim_addr at,
                       const struct granules *g, uint64_t *i)
{
    *i = slim_element(a, at);
    if (slim_addr(a, *i) != at)
        return false;
    return s->ft.env->granule == GRANULE_FIELD || a->slot - g->step <= g->last - at;
}

/* Checks the element of the array at *at. False: it is a variable's by now, and not checked. */
static bool at_array(struct slim *s, struct slim_array *a, sim_addr *at, const struct granules *g,
                     const struct event *ev, const struct ft_past *now)
{
    uint64_t i;

    ledger_granule(s->ft.cost.cost, *at == g->first);
    if (!is_element(s, a, *at, g, &i)) {
        slim_leave(s, a);
        return false;
    }
    if (now->atomic || a->is.mode == SLIM_PREFIX) {
        if (!slim_check_alone(s, a, i, ev, now))
            return false;
    } else {
        struct slim_foot *foot = slim_foot(s, a, epoch_thread(now->at));
        if (!slim_append(s, foot, i, ev))
            return false;
        remember(s, ev, a, foot);
    }
    if (s->ft.env->granule != GRANULE_FIELD)
        *at += a->slot - g->step;
    return true;
}

/* An element of its own is found by its address, as FastTrack finds it. But first SlimState has to
 * know that no footprints are built, which the array's shadow says (V-B). Whose element it is, is
 * not known here any more: the place of its own metadata stands for that of the array's word. */
static void charge_mode(struct slim *s, sim_addr at)
{
    if (!s->ft.cost.cost->on)
        return;
    charge_load(s->ft.env, metadata_at(s->ft.cost.cost, at), SLIM_ENTRY_BYTES);
    charge_step(s->ft.env, SLIM_STEP_MODE);
}

/* False: something raced, or the budget is over its limit, which ends the run. */
static NO_INLINE bool by_rules(struct slim *s, const struct event *ev, uint64_t number)
{
    const struct hb_actor *me = hb_me(s->ft.env->hb, ev->tid);
    const struct ft_past now = ft_past_of(me, ev, number);
    const struct granules g = granules_of(ev, s->ft.env->granule);
    const uint64_t races = s->races;

    if (now.atomic && s->windows) { /* after what it did so far in this region */
        slim_region_at(s, epoch_thread(me->now));
        slim_commit_region(s, epoch_thread(me->now));
    }
    for (sim_addr at = g.first;; at += g.step) {
        struct ft_variable *x = cells_peek(&s->ft.variables, at);
        struct slim_array *a = s->windows && !(x && variable_used(x)) ? slim_seek(s, at) : NULL;
        const bool odd = a && s->ft.env->granule == GRANULE_FIELD &&
                         slim_addr(a, slim_element(a, at)) != at; /* a location of its own */
        while (a && !odd && !at_array(s, a, &at, &g, ev, &now)) {
            a = slim_seek(s, at);
            x = NULL; /* the array's elements have become variables */
        }
        if (!a || odd) {
            x = x ? x : cells_get(&s->ft.variables, at);
            ledger_granule(s->ft.cost.cost, at == g.first);
            if (ev->flags & EVF_ARRAY && at == g.first)
                charge_mode(s, at);
            (event_writes(ev) ? ft_write_variable : ft_read_variable)(&s->ft, x, at, ev, &now,
                                                                      &me->clock);
        }
        if (at == g.last || budget_ends(s->ft.env->budget))
            break;
    }
    return races == s->races && !budget_over(s->ft.env->budget);
}

static bool leaves_out(const struct slim *s, const struct event *ev)
{
    return s->p.arrays == SLIM_ARRAYS_UNCHECKED && ev->flags & EVF_ARRAY;
}

static void slim_access(void *self, const struct event *ev)
{
    struct slim *s = self;

    if (!leaves_out(s, ev))
        by_rules(s, ev, *s->ft.env->number);
}

/* ---- accesses in a row ---------------------------------------------------------------------- */

/* An array's accesses need no cell that must be fetched, as long as they only make a footprint. */
ALWAYS_INLINE void hint(void *self, const struct event *ev)
{
    struct slim *s = self;
    const struct slim_seen *seen = seen_at(s, ev);

    if (!(ev->flags & EVF_ARRAY) || ev->addr - seen->lo >= seen->bytes)
        cells_hint(&s->ft.variables, ev);
}

/* An access to an array that only lengthens a footprint, or to a variable that takes a place. */
ALWAYS_INLINE bool takes(void *self, const struct event *ev, uint64_t number)
{
    struct slim *s = self;
    uint64_t i;

    if (ev->flags & EVF_ARRAY) {
        const struct slim_seen *seen = recall(s, ev, &i);
        if (seen ? appends(s, &seen->foot->side[event_writes(ev)].range, i) : leaves_out(s, ev))
            return true;
    }
    const struct ft_variable *x = cells_prefetched(&s->ft.variables, ev->addr);
    /* A variable that is in use is no array's. */
    return x && (variable_used(x) || !s->windows) && ft_takes_place(&s->ft, ev, number);
}

static NO_INLINE bool rules(void *self, const struct event *ev, uint64_t number)
{
    struct slim *s = self;
    const uint64_t races = s->races;
    uint64_t i;
    const struct slim_seen *seen = ev->flags & EVF_ARRAY ? recall(s, ev, &i) : NULL;

    if (seen && slim_append(s, seen->foot, i, ev))
        return races == s->races && !budget_over(s->ft.env->budget);
    return by_rules(s, ev, number) && races == s->races;
}

static const struct event *slim_run(void *self, const struct event *ev, const struct event *end,
                                    const struct event *known, uint64_t *number)
{
    struct slim *s = self;

    return cells_run(&s->ft.variables, ev, end, known, number, takes, rules, hint);
}

static void slim_heap(void *self, const struct event *ev)
{
    struct slim *s = self;
    size_t pos = 0;
    uint64_t lo, *value;

    if (ev->kind == EV_ALLOC)
        slim_alloc(s, ev);
    else if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        slim_move(s, ev);
    if (!ft_collects(&s->ft, ev))
        return;
    ft_trace_variables(&s->ft);
    /* The arrays' locations in use, of which an element alone is a variable. */
    while (map_next(&s->at, &pos, &lo, &value))
        slim_trace_cells(s, (const struct slim_array *)(uintptr_t)*value);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void declare(struct slim *s, struct stats_group *g)
{
    static const char *const modes[] = {"coarse", "block", "stride", "split",
                                        "prefix", "fine",  "sets"};
    struct slim_stats *st = &s->st;

#define STATS_DEF "policy/slimstate/stats.def"
#include "base/stats_declare.h"
    stats_late(g, "arrays.ended", STATS_AT_END);
    stats_late(g, "arrays.fraction", STATS_AT_END);
}

static void *slim_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct slim *s = xcalloc(1, sizeof *s);

    (void)e;
    s->p = *(const struct slim_params *)params;
    ft_init(&s->ft, env);
    s->ft.report_repeats = true;
    s->ft.race = slim_race;
    s->generation = 1;
    budget_take(env->budget, sizeof *s);
    map_init(&s->at, env->budget);
    map_init(&s->feet, env->budget);
    declare(s, env->stats);
    return s;
}

static void slim_finish(void *self)
{
    struct slim *s = self;
    size_t pos = 0;
    uint64_t key, *value;

    s->ft.cost.cost->on = s->ft.variables.charged = false; /* the run is over: this takes no time */
    commit_all(s);
    while (map_next(&s->at, &pos, &key, &value))
        slim_count_end(s, (const struct slim_array *)(uintptr_t)*value);
}

static void slim_check(const void *self)
{
    const struct slim *s = self;
    size_t pos = 0;
    uint64_t key, *value;

    assert(!s->windows == !s->at.n);
    while (s->ft.env->granule != GRANULE_FIELD && map_next(&s->at, &pos, &key, &value)) {
        const struct slim_array *a = (const struct slim_array *)(uintptr_t)*value;
        assert(a->from < a->to && a->to <= a->n && key == slim_addr(a, a->from));
        assert(!slim_any_variable(s, key, (a->to - a->from) * a->slot));
        (void)a;
    }
}

static void slim_amend(const void *self, struct promise *p)
{
    const struct slim *s = self;

    if (s->p.arrays != SLIM_ARRAYS_UNCHECKED)
        return;
    p->claims &= ~(unsigned)CLAIM_SOUND;
    p->history = HISTORY_ALL;
    p->property = "happens-before, arrays unchecked";
}

static void slim_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                         size_t room)
{
    (void)location;
    if (leaves_out(self, ev))
        snprintf(to, room, "with arrays = unchecked an access to an array is not checked");
}

static void slim_destroy(void *self)
{
    struct slim *s = self;

    slim_free_arrays(s);
    for (size_t i = 0; i < s->regions; i++)
        free(s->region[i].buffer);
    free(s->region);
    free(s->found);
    free(s->hits);
    free(s->touched);
    interval_free(s->ft.env->budget, &s->windows);
    map_free(&s->at);
    map_free(&s->feet);
    free(s);
}

const struct policy policy_slimstate = {
    .name = "slimstate",
    .summary = "FastTrack with arrays' shadow compressed, checked by footprints",
    .source = "slimstate",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_UNSITED, CONFLICT_ALL, HISTORY_LAST, NULL},
    .params = slim_params,
    .params_size = sizeof(struct slim_params),
    .create = slim_create,
    .destroy = slim_destroy,
    .detector = &(const struct policy_detector){.access = slim_access,
                                                .heap = slim_heap,
                                                .before = slim_before,
                                                .finish = slim_finish,
                                                .check = slim_check,
                                                .amend = slim_amend,
                                                .explain = slim_explain},
    .charges = &(const struct policy_charges){slim_steps, SLIM_STEPS},
    .hints = &(const struct policy_hints){.cells = true, .run = slim_run},
};
