/* commit.c - footprints are committed: the partition gets precise enough, one check and one
 * update for each part ([SS REFINE], [SS COMMIT]), a report for each element that raced. */
#include <assert.h>
#include <stdlib.h>

#include "policy/slimstate/slimstate.h"

/* ---- footprints ----------------------------------------------------------------------------- */

bool slim_print_empty(const struct slim_print *p)
{
    return slim_empty(&p->range) && slim_set_empty(&p->set);
}

uint64_t slim_print_next(const struct slim_print *p, uint64_t i)
{
    const struct slim_range *r = &p->range;

    if (slim_empty(r))
        return slim_set_next(&p->set, i);
    if (i > r->e)
        return SLIM_NONE;
    return i <= r->b ? r->b : r->b + (i - r->b + r->k - 1) / r->k * r->k;
}

void slim_unlist(struct slim *s, struct slim_foot *f)
{
    if (!f->place)
        return;
    struct slim_region *r = &s->region[f->actor];
    struct slim_foot *moved = r->buffer[--r->n];

    r->buffer[f->place - 1] = moved;
    moved->place = f->place;
    f->place = 0;
}

/* ---- races ---------------------------------------------------------------------------------- */

static struct race_side side_of(const struct ft_past *p)
{
    return (struct race_side){.event = p->event & ~SLIM_LATE,
                              .site = p->site,
                              .thread = p->tid,
                              .op = p->kind,
                              .known = true,
                              .region = (p->event & SLIM_LATE) != 0};
}

void slim_race(struct fasttrack *f, struct ft_variable *x, sim_addr addr, const struct event *ev,
               const struct ft_past *p)
{
    race_with(f->env->report, ev, addr, side_of(p), &x->raced);
    slim_of(f)->races++;
}

/* f->race while a part or an element is checked: remembers what is to be told of its elements. */
static void note_race(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                      const struct event *ev, const struct ft_past *p)
{
    struct slim *s = slim_of(f);

    (void)ev;
    s->found = budget_grow(f->env->budget, s->found, s->found_n, &s->found_cap, sizeof *s->found);
    s->found[s->found_n++] = (struct slim_found){.location = addr, .past = *p, .first = !x->raced};
    x->raced = true;
}

/* [SS COMMIT] at one shadow location: FastTrack's rule, for the region as if it were one access. */
static void check_cell(struct slim *s, struct ft_variable *x, sim_addr addr, const struct event *ev,
                       const struct ft_past *now)
{
    const struct vclock *clock = &s->ft.env->hb->actor[epoch_thread(now->at)].clock;

    s->st.checks++;
    s->ft.race = note_race;
    (event_writes(ev) ? ft_write_variable : ft_read_variable)(&s->ft, x, addr, ev, now, clock);
    s->ft.race = slim_race;
    ledger_granule(s->ft.cost.cost, false);
}

/* Reports the races of element i. part: they were found at its part, and hold for each of its
 * elements. */
static void report_element(struct slim *s, const struct slim_array *a, uint64_t i,
                           const struct event *by, const struct race_side *is, bool part)
{
    const struct granules g = slim_granules(s, a, i);
    struct event ev = *by;

    ev.addr = slim_addr(a, i);
    ev.size = (uint32_t)a->slot;
    for (sim_addr at = g.first;; at += g.step) {
        bool first = true; /* at this location */
        for (size_t k = 0; k < s->found_n; k++) {
            const struct slim_found *f = &s->found[k];
            const struct race_side earlier = side_of(&f->past);
            if (!part && f->location != at)
                continue;
            race_region(s->ft.env->report, &ev, is, at, &earlier,
                        first && (part ? s->found[0].first : f->first));
            first = false;
        }
        if (at == g.last)
            break;
    }
    race_late_done(s->ft.env->report);
    s->races++;
}

/* ---- an access, or what a footprint stands for ----------------------------------------------- */

struct commit { /* by the thread of a footprint */
    struct event ev;
    struct ft_past now;
    struct race_side is;
};

/* The access that a thread's footprint stands for: by its last clock, at the begin of its
 * region. */
static struct commit commit_of(const struct slim *s, uint32_t actor, unsigned side)
{
    const struct slim_region *r = &s->region[actor];
    const uint8_t kind = side == READS ? EV_READ : EV_WRITE;

    return (struct commit){
        .ev = {.tid = r->tid, .flags = EVF_ARRAY, .kind = kind},
        .now = {.at = s->ft.env->hb->actor[actor].now,
                .event = r->began | SLIM_LATE,
                .tid = r->tid,
                .kind = kind},
        .is = {.event = r->began, .thread = r->tid, .op = kind, .known = true, .region = true}};
}

/* Element i, a variable or several. */
static void commit_element(struct slim *s, const struct slim_array *a, uint64_t i,
                           const struct commit *c)
{
    const struct granules g = slim_granules(s, a, i);

    s->found_n = 0;
    charge_step(s->ft.env, SLIM_STEP_PART);
    for (sim_addr at = g.first;; at += g.step) {
        check_cell(s, cells_get(&s->ft.variables, at), at, &c->ev, &c->now);
        if (at == g.last)
            break;
    }
    if (s->found_n)
        report_element(s, a, i, &c->ev, &c->is, false);
}

static void commit_part(struct slim *s, struct slim_array *a, uint64_t q,
                        const struct slim_print *f, const struct commit *c)
{
    s->found_n = 0;
    charge_step(s->ft.env, SLIM_STEP_PART);
    s->ft.cost.place = slim_place(s, a, q);
    check_cell(s, slim_make_cell(s, a, q), slim_addr(a, a->from), &c->ev, &c->now);
    s->ft.cost.place = (struct paddr){0};
    if (!s->found_n)
        return;
    for (uint64_t i = slim_print_next(f, 0); i != SLIM_NONE; i = slim_print_next(f, i + 1))
        if (slim_part_at(a, i) == q)
            report_element(s, a, i, &c->ev, &c->is, true);
}

/* The parts that a footprint is made of, each once. */
static void commit_parts(struct slim *s, struct slim_array *a, const struct slim_print *f,
                         const struct commit *c)
{
    uint64_t first, step, count;

    if (a->sizes) {
        for (size_t k = 0; k < s->touched_n; k++)
            commit_part(s, a, s->touched[k], f, c);
    } else if (!slim_empty(&f->range)) {
        slim_cover(a->is, &f->range, &first, &step, &count);
        for (uint64_t k = 0; k < count; k++)
            commit_part(s, a, first + k * step, f, c);
    } else if (a->is.mode == SLIM_STRIDE) {
        for (uint64_t q = 0; q < a->is.by; q++)
            if (slim_set_has(&f->set, q))
                commit_part(s, a, q, f, c);
    } else {
        for (uint64_t i = slim_print_next(f, 0); i != SLIM_NONE;) {
            const uint64_t q = slim_part_at(a, i);
            commit_part(s, a, q, f, c);
            i = slim_print_next(f, slim_part(a->is, a->n, q).e + 1);
        }
    }
}

/* Commits a footprint in FINE and PREFIX: elements that have become variables, and the rest of a
 * PREFIX, which is one part. */
static void commit_eager(struct slim *s, struct slim_array *a, const struct slim_print *f,
                         const struct commit *c)
{
    for (uint64_t i = slim_print_next(f, 0); i != SLIM_NONE; i = slim_print_next(f, i + 1)) {
        if (a->is.mode == SLIM_PREFIX && i >= a->is.by) {
            commit_part(s, a, a->is.by, f, c);
            return;
        }
        commit_element(s, a, i, c);
    }
}

static void commit_print(struct slim *s, struct slim_array *a, uint32_t actor, unsigned side,
                         const struct slim_print *f)
{
    const struct commit c = commit_of(s, actor, side);

    s->st.commits++;
    slim_make_precise(s, a, f);
    ledger_granule(s->ft.cost.cost, true);
    if (slim_eager(a))
        commit_eager(s, a, f, &c);
    else
        commit_parts(s, a, f, &c);
}

/* ---- whole footprints ----------------------------------------------------------------------- */

/* Takes a side's footprint out, commits it, and gives its memory back. */
static void commit_side(struct slim *s, struct slim_array *a, struct slim_foot *foot, unsigned side)
{
    struct slim_print f = foot->side[side];

    if (slim_print_empty(&f))
        return;
    foot->side[side] = (struct slim_print){SLIM_EMPTY, SLIM_SET_EMPTY};
    commit_print(s, a, foot->actor, side, &f);
    slim_set_clear(&f.set);
    foot->side[side].set = f.set;
}

static void commit_foot(struct slim *s, struct slim_array *a, struct slim_foot *foot)
{
    if (!slim_print_empty(&foot->side[READS]) || !slim_print_empty(&foot->side[WRITES])) {
        slim_charge_foot(s, foot);
        commit_side(s, a, foot, READS);
        commit_side(s, a, foot, WRITES);
    }
    slim_unlist(s, foot);
}

/* Commits the footprints of all threads. */
static void commit_feet(struct slim *s, struct slim_array *a)
{
    for (struct slim_foot *f = a->feet; f; f = f->next)
        commit_foot(s, a, f);
}

/* The array is in a mode without footprints (PREFIX, FINE): those of all threads are committed.
 * Elements that have become variables leave the array. */
static void leave(struct slim *s, struct slim_array *a)
{
    commit_feet(s, a);
    if (a->is.mode == SLIM_FINE)
        slim_window(s, a, 0, 0);
    else if (a->is.by > a->from)
        slim_window(s, a, a->is.by, a->to);
}

static void settle(struct slim *s, struct slim_array *a)
{
    if (slim_eager(a))
        leave(s, a);
}

void slim_leave(struct slim *s, struct slim_array *a)
{
    commit_feet(s, a);
    const bool partly = a->is.mode == SLIM_PREFIX && a->is.by > a->from;
    if (a->is.mode != SLIM_FINE)
        slim_spill(s, a, partly ? a->is.by : a->from, a->to);
    a->is.mode = SLIM_FINE;
    slim_window(s, a, 0, 0);
}

void slim_commit(struct slim *s, struct slim_foot *foot, unsigned side)
{
    struct slim_array *a = foot->array;

    commit_side(s, a, foot, side);
    settle(s, a);
}

void slim_commit_array(struct slim *s, struct slim_array *a)
{
    commit_feet(s, a);
    settle(s, a);
}

void slim_commit_region(struct slim *s, uint32_t actor)
{
    struct slim_region *r = &s->region[actor];

    while (r->n) {
        struct slim_foot *f = r->buffer[r->n - 1];
        struct slim_array *a = f->array;
        charge_step(s->ft.env, SLIM_STEP_COMMIT);
        charge_load(s->ft.env,
                    paddr_plus(r->block, r->block.at ? (r->n - 1) * SLIM_ENTRY_BYTES : 0),
                    SLIM_ENTRY_BYTES);
        commit_foot(s, a, f);
        settle(s, a);
    }
}

/* ---- one element, at once ------------------------------------------------------------------- */

bool slim_check_alone(struct slim *s, struct slim_array *a, uint64_t i, const struct event *ev,
                      const struct ft_past *now)
{
    const struct slim_print f = {.range = {i, i, 1}, .set = SLIM_SET_EMPTY};
    const struct race_side is =
        race_access(now->event & ~SLIM_LATE, now->site, now->tid, now->kind);

    slim_charge_find(s, a);
    slim_make_precise(s, a, &f);
    if (a->is.mode == SLIM_FINE || (a->is.mode == SLIM_PREFIX && i < a->is.by)) {
        leave(s, a);
        return false;
    }
    s->st.immediate++;
    const uint64_t q = slim_part_at(a, i);
    s->found_n = 0;
    charge_step(s->ft.env, SLIM_STEP_PART);
    s->ft.cost.place = slim_place(s, a, q);
    check_cell(s, slim_make_cell(s, a, q), slim_addr(a, i), ev, now);
    s->ft.cost.place = (struct paddr){0};
    if (s->found_n)
        report_element(s, a, i, ev, &is, true);
    return true;
}
