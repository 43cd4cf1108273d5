/* array.c - which memory belongs to which array: allocations, clears, copies.
 *
 * An array has a window of its elements: those whose memory is still its own. A clear takes a piece
 * out of it; a copy of a piece has a window of its own on the same partition. Where a window is no
 * larger than its shadow, its elements become variables instead, so that pieces of pieces cost no
 * more than the elements. Under a window there is no variable in use. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/slimstate/slimstate.h"

enum { MOST_BITS = 28 }; /* elements of an array; larger ones are checked as variables */

/* ---- windows -------------------------------------------------------------------------------- */

static sim_addr window_lo(const struct slim_array *a)
{
    return slim_addr(a, a->from);
}
static sim_addr window_last(const struct slim_array *a)
{
    return slim_addr(a, a->to) - 1;
}

static struct slim_array *array_at(const struct slim *s, sim_addr lo)
{
    const uint64_t *at = map_find(&s->at, lo);

    assert(at);
    return (struct slim_array *)(uintptr_t)*at;
}

/* The first in the region; NULL: none. Most regions lie between arrays, near the last such one. */
static struct slim_array *next_array(struct slim *s, sim_addr from, sim_addr to)
{
    if (from >= s->gap && to < s->gap_end)
        return NULL;
    const struct interval *window = interval_reaching(s->windows, from);
    if (!window || window->lo > from) {
        s->gap = from;
        s->gap_end = window ? window->lo : UINT64_MAX;
    }
    return window && window->lo <= to ? array_at(s, window->lo) : NULL;
}

struct slim_array *slim_seek(struct slim *s, sim_addr addr)
{
    return next_array(s, addr, addr);
}

struct slim_array *slim_find(const struct slim *s, sim_addr addr)
{
    const struct interval *window = interval_meeting(s->windows, addr, addr);

    return window ? array_at(s, window->lo) : NULL;
}

static void show(struct slim *s, struct slim_array *a)
{
    interval_mark(s->ft.env->budget, &s->windows, window_lo(a), window_last(a), 1);
    *map_put(&s->at, window_lo(a)) = (uint64_t)(uintptr_t)a;
    if (s->gap_end > window_lo(a))
        s->gap_end = s->gap = 0;
}

struct granules slim_granules(const struct slim *s, const struct slim_array *a, uint64_t i)
{
    const unsigned g = s->ft.env->granule;
    const sim_addr first = slim_addr(a, i);

    if (g == GRANULE_FIELD)
        return (struct granules){first, first, 1};
    return (struct granules){first, first + a->slot - g, g};
}

/* ---- lives ---------------------------------------------------------------------------------- */

static struct slim_array *new_array(struct slim *s, sim_addr base, uint64_t n, uint64_t slot)
{
    struct slim_array *a = xcalloc(1, sizeof *a);

    budget_take(s->ft.env->budget, sizeof *a);
    slim_bytes_take(s, SLIM_HEADER_BYTES);
    *a = (struct slim_array){
        .base = base, .n = n, .slot = slot, .to = n, .id = s->ids++, .counted = true};
    return a;
}

static void free_blocks(struct slim *s, const struct slim_array *a)
{
    struct ft_cost *c = &s->ft.cost;

    if (!c->cost->on)
        return;
    if (!a->borrows) {
        metadata_give(c->cost, c->env->core, a->header, SLIM_HEADER_BYTES);
        metadata_give(c->cost, c->env->core, a->block, a->block_bytes);
    }
    if (!a->table.at)
        return;
    metadata_give(c->cost, c->env->core, a->table, slim_table_bytes(s));
    slim_bytes_give(s, slim_table_bytes(s));
}

static void free_array(struct slim *s, struct slim_array *a)
{
    struct budget *b = s->ft.env->budget;

    slim_free_feet(s, a);
    slim_cells_free(s, &a->cell);
    free_blocks(s, a);
    budget_give(b, (a->part ? a->n * sizeof *a->part : 0) + a->sizes_cap * sizeof *a->sizes);
    free(a->part);
    free(a->sizes);
    budget_give(b, sizeof *a);
    slim_bytes_give(s, SLIM_HEADER_BYTES);
    free(a);
}

void slim_count_end(struct slim *s, const struct slim_array *a)
{
    if (!a->counted)
        return;
    s->st.ended[a->sizes ? SLIM_MODES : a->is.mode]++;
    s->st.ended_all += a->n;
    s->st.ended_locations += slim_locations(a);
}

void slim_window(struct slim *s, struct slim_array *a, uint64_t from, uint64_t to)
{
    interval_remove(s->ft.env->budget, &s->windows, window_lo(a), window_last(a));
    map_remove(&s->at, window_lo(a));
    s->generation++;
    if (from >= to) {
        slim_count_end(s, a);
        free_array(s, a);
        return;
    }
    a->from = from;
    a->to = to;
    show(s, a);
}

void slim_free_arrays(struct slim *s)
{
    size_t pos = 0;
    uint64_t key, *value;

    s->ft.cost.cost->on = false; /* nothing is charged at the end */
    while (map_next(&s->at, &pos, &key, &value))
        free_array(s, (struct slim_array *)(uintptr_t)*value);
}

/* ---- allocation ----------------------------------------------------------------------------- */

/* Elements are whole granules; several small ones in a granule count as one. Where the first begins
 * is a guess: a wrong one costs compression, no race. */
static bool layout(const struct slim *s, const struct event *ev, struct slim_array *a)
{
    const uint64_t g = s->ft.env->granule ? s->ft.env->granule : 1, bytes = ev[1].size;
    const sim_addr from =
        ev->addr + layout_first(s->ft.env->layout, ev->aux, ev[1].addr, ev[1].size);

    if (bytes >= g) {
        *a = (struct slim_array){.base = from, .n = ev[1].addr, .slot = bytes};
        return bytes % g == 0 && from % g == 0;
    }
    const sim_addr lo = (from + g - 1) / g * g, hi = (from + ev[1].addr * bytes) / g * g;
    *a = (struct slim_array){.base = lo, .n = hi > lo ? (hi - lo) / g : 0, .slot = g};
    return true;
}

static bool note_used(void *arg, sim_addr addr, void *cell)
{
    (void)addr;
    (void)cell;
    *(bool *)arg = true;
    return false;
}

static bool has_history(const struct slim_array *a)
{
    for (const struct slim_foot *f = a->feet; f; f = f->next)
        if (f->place)
            return true;
    return slim_next_cell(&a->cell, &(uint64_t){0}) != NULL;
}

bool slim_any_variable(const struct slim *s, sim_addr at, uint64_t bytes)
{
    bool used = false;

    shadow_each(s->ft.variables.shadow, at, bytes, note_used, &used);
    return used;
}

/* Memory without a history becomes an array. Where something is remembered, as where the view does
 * not heed clears, it stays as it is. */
static bool vacate(struct slim *s, sim_addr lo, sim_addr last)
{
    bool used = false;

    for (struct slim_array *a = next_array(s, lo, last); a && !used;
         a = window_last(a) < last ? next_array(s, window_last(a) + 1, last) : NULL)
        used = has_history(a);
    if (used || slim_any_variable(s, lo, last - lo + 1))
        return false;
    for (struct slim_array *a; (a = next_array(s, lo, last));)
        slim_window(s, a, 0, 0);
    return true;
}

static void charge_new(struct slim *s, struct slim_array *a, uint64_t bytes)
{
    if (!s->ft.cost.cost->on)
        return;
    charge_step(s->ft.env, SLIM_STEP_NEW);
    a->block_bytes = bytes;
    a->header = metadata_take(s->ft.cost.cost, s->ft.env->core, SLIM_HEADER_BYTES);
    a->block = metadata_take(s->ft.cost.cost, s->ft.env->core, a->block_bytes);
    charge_store(s->ft.env, a->header, SLIM_HEADER_BYTES);
    charge_store(s->ft.env, a->block, a->block_bytes);
    charge_store(s->ft.env, metadata_at(s->ft.cost.cost, a->base), 8);
}

void slim_alloc(struct slim *s, const struct event *ev)
{
    struct slim_array as;

    if (!(ev->flags & EVF_MORE) || !ev[1].addr || ev->aux / ev[1].addr < ev[1].size)
        return;
    s->st.arrays++;
    s->st.elements += ev[1].addr;
    const bool laid_out = layout(s, ev, &as);
    if (as.n < s->p.small) {
        s->st.small_elements += ev[1].addr;
        return;
    }
    if (!laid_out || as.n >> MOST_BITS || s->p.arrays == SLIM_ARRAYS_UNCHECKED ||
        !vacate(s, as.base, as.base + as.n * as.slot - 1)) {
        s->st.plain++;
        return;
    }
    struct slim_array *a = new_array(s, as.base, as.n, as.slot);
    if (s->p.partitions == SLIM_SETS)
        slim_set_parts_init(s, a);
    else
        slim_cells_init(s, a, 1);
    charge_new(s, a, s->ft.cost.words.bytes);
    show(s, a);
}

/* ---- clears and copies ---------------------------------------------------------------------- */

/* Commits all footprints, of all threads, of the arrays that lie in the region. */
static void commit_in(struct slim *s, sim_addr lo, sim_addr last)
{
    for (struct slim_array *a; (a = next_array(s, lo, last));) {
        lo = window_last(a) + 1;
        slim_commit_array(s, a);
        if (lo > last || !lo)
            return;
    }
}

static struct slim_array *clone(struct slim *s, const struct slim_array *a, uint64_t from,
                                uint64_t to, sim_addr base)
{
    struct slim_array *c = new_array(s, base, a->n, a->slot);

    c->from = from;
    c->to = to;
    c->is = a->is;
    c->counted = false;
    slim_cells_copy(s, c, a);
    if (a->sizes) {
        struct budget *b = s->ft.env->budget;
        c->parts = a->parts;
        c->sizes_cap = a->sizes_cap;
        c->sizes = xmalloc(c->sizes_cap * sizeof *c->sizes);
        memcpy(c->sizes, a->sizes, a->parts * sizeof *c->sizes);
        c->part = a->part ? xmalloc(c->n * sizeof *c->part) : NULL;
        if (a->part)
            memcpy(c->part, a->part, c->n * sizeof *c->part);
        budget_take(b, c->sizes_cap * sizeof *c->sizes + (a->part ? c->n * sizeof *c->part : 0));
    }
    return c;
}

/* Is a window larger than its shadow? Then it is worth one of its own. */
static bool is_worth(const struct slim_array *a, uint64_t from, uint64_t to)
{
    return to > from && to - from > (a->sizes ? a->n / 2 : a->cell.n);
}

/* The elements that lie in a region, [in, out); whole: none of them in part. */
struct piece {
    uint64_t in, out;
    bool whole;
};
static struct piece piece_of(const struct slim_array *a, sim_addr lo, sim_addr last)
{
    struct piece p = {a->from, a->to, true};

    if (lo > window_lo(a)) {
        p.in = slim_element(a, lo);
        p.whole = slim_addr(a, p.in) == lo;
    }
    if (last < window_last(a)) {
        p.out = slim_element(a, last) + 1;
        p.whole = p.whole && slim_addr(a, p.out) - 1 == last;
    }
    return p;
}

/* Arrays of which an element lies in the region in part become variables. */
static void dissolve_cut(struct slim *s, sim_addr lo, sim_addr last)
{
    const sim_addr edge[2] = {lo, last};

    for (unsigned i = 0; i < 2; i++) {
        struct slim_array *a = slim_seek(s, edge[i]);
        if (a && !piece_of(a, lo, last).whole)
            slim_leave(s, a);
    }
}

/* The region's memory is not the array's any more. What is left on either side remains, for now:
 * one of the two keeps the array's header and block, and the other borrows them. */
static void cut(struct slim *s, struct slim_array *a, sim_addr lo, sim_addr last)
{
    const struct piece p = piece_of(a, lo, last);
    struct slim_array *rest = p.out < a->to ? clone(s, a, p.out, a->to, a->base) : NULL;

    if (rest) {
        rest->header = a->header;
        rest->block = a->block;
        rest->block_bytes = a->block_bytes;
        a->borrows = p.in <= a->from;
        rest->borrows = !a->borrows;
    }
    slim_window(s, a, a->from, p.in);
    if (rest)
        show(s, rest);
}

static void dissolve_unworthy(struct slim *s, struct slim_array *a)
{
    if (a && !is_worth(a, a->from, a->to))
        slim_leave(s, a);
}

/* Charges a copy: a shadow and a header of its own, filled from another's. */
static void charge_copy(struct slim *s, struct slim_array *c, struct paddr block, uint64_t bytes)
{
    charge_steps(s->ft.env, SLIM_STEP_LINE, (bytes + 63) / 64);
    charge_load(s->ft.env, block, bytes);
    charge_new(s, c, bytes);
    c->borrows = false;
}

struct clones {
    struct slim_array **at; /* owns */
    size_t n, cap;
};

/* The piece of an array that is copied, for its new place. */
static void copy_piece(struct slim *s, struct slim_array *a, sim_addr lo, sim_addr last,
                       sim_addr by, struct clones *to)
{
    const struct piece p = piece_of(a, lo, last);

    if (!p.whole || !is_worth(a, p.in, p.out)) {
        slim_leave(s, a);
        return;
    }
    struct slim_array *c = clone(s, a, p.in, p.out, a->base + by);
    c->counted = a->counted;
    a->counted = false;
    to->at = xgrow(to->at, to->n, &to->cap, sizeof *to->at);
    to->at[to->n++] = c;
    charge_copy(s, c, a->block, a->block_bytes);
}

static void copy_pieces(struct slim *s, sim_addr lo, sim_addr last, sim_addr by, struct clones *to)
{
    for (struct slim_array *a; (a = next_array(s, lo, last));) {
        const sim_addr end = window_last(a);
        copy_piece(s, a, lo, last, by, to);
        if (end >= last)
            return;
        lo = end + 1;
    }
}

void slim_move(struct slim *s, const struct event *ev)
{
    const sim_addr last = ev->addr + (ev->aux - 1), from = ev->kind == EV_COPY ? ev[1].addr : 0;
    struct clones clones = {0};

    commit_in(s, ev->addr, last);
    if (ev->kind == EV_COPY)
        commit_in(s, from, from + (ev->aux - 1));
    dissolve_cut(s, ev->addr, last);
    if (ev->kind == EV_COPY)
        copy_pieces(s, from, from + (ev->aux - 1), ev->addr - from, &clones);
    for (struct slim_array *a; (a = next_array(s, ev->addr, last));)
        cut(s, a, ev->addr, last);
    cells_move(&s->ft.variables, ev);
    for (size_t i = 0; i < clones.n; i++)
        show(s, clones.at[i]);
    free(clones.at);
    dissolve_unworthy(s, slim_seek(s, last + 1)); /* while what it borrows is there */
    struct slim_array *rest = slim_seek(s, last + 1);
    if (rest && rest->borrows)
        charge_copy(s, rest, rest->block, rest->block_bytes);
    dissolve_unworthy(s, slim_find(s, ev->addr - 1));
}
