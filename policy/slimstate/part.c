/* part.c - an array's partition with its shadow, one cell for each part; refinement copies
 * cells. Cells are made when they are first used, so that a partition of many parts costs what was
 * accessed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/slimstate/slimstate.h"

/* ---- cells ---------------------------------------------------------------------------------- */

static uint64_t pages_of(uint64_t n)
{
    return (n + SLIM_FEW - 1) / SLIM_FEW;
}

static uint64_t cells_bytes(uint64_t n)
{
    return n <= SLIM_FEW ? n * sizeof(struct ft_variable)
                         : pages_of(n) * sizeof(struct ft_variable *);
}

void slim_cells_init(struct slim *s, struct slim_array *a, uint64_t n)
{
    struct slim_cells *c = &a->cell;

    *c = (struct slim_cells){.n = n};
    budget_take(s->ft.env->budget, cells_bytes(n));
    if (n <= SLIM_FEW)
        c->few = xcalloc(n, sizeof *c->few);
    else if (!budget_over(s->ft.env->budget))
        c->many = xcalloc(pages_of(n), sizeof *c->many);
}

static struct ft_variable *cell_at(const struct slim_cells *c, uint64_t q)
{
    assert(q < c->n);
    if (c->few)
        return &c->few[q];
    return c->many && c->many[q / SLIM_FEW] ? &c->many[q / SLIM_FEW][q % SLIM_FEW] : NULL;
}

/* The cell of part q. In PREFIX the rest has the only cell. */
static uint64_t cell_of(const struct slim_array *a, uint64_t q)
{
    assert(a->is.mode != SLIM_FINE && (a->is.mode != SLIM_PREFIX || q == a->is.by));
    return a->is.mode == SLIM_PREFIX ? 0 : q;
}

struct ft_variable *slim_cell(const struct slim_array *a, uint64_t q)
{
    return cell_at(&a->cell, cell_of(a, q));
}

struct ft_variable *slim_make_cell(struct slim *s, struct slim_array *a, uint64_t q)
{
    struct slim_cells *c = &a->cell;
    const uint64_t i = cell_of(a, q), bytes = SLIM_FEW * sizeof(struct ft_variable);

    if (!c->few && !c->many) /* over the budget: the run ends */
        c->many = xcalloc(pages_of(c->n), sizeof *c->many);
    if (!c->few && !c->many[i / SLIM_FEW]) {
        budget_take(s->ft.env->budget, bytes);
        c->many[i / SLIM_FEW] = xcalloc(SLIM_FEW, sizeof(struct ft_variable));
    }
    return cell_at(c, i);
}

static void drop_cell(struct slim *s, struct ft_variable *x)
{
    if (!x || !variable_used(x))
        return;
    if (reads_shared(x))
        ft_map_drop(&s->ft.cost, x->shared);
    ft_free_reads(&s->ft, x);
    slim_bytes_give(s, s->ft.cost.words.bytes);
    *x = (struct ft_variable){0};
}

const struct ft_variable *slim_next_cell(const struct slim_cells *c, uint64_t *i)
{
    for (; *i < c->n; ++*i) {
        const struct ft_variable *x = cell_at(c, *i);
        if (x && variable_used(x))
            return x;
        if (!x)
            *i |= SLIM_FEW - 1; /* a page that is not there */
    }
    return NULL;
}

void slim_cells_free(struct slim *s, struct slim_cells *c)
{
    struct budget *b = s->ft.env->budget;

    for (uint64_t i = 0; c->few && i < c->n; i++)
        drop_cell(s, &c->few[i]);
    for (uint64_t p = 0; c->many && p < pages_of(c->n); p++) {
        if (!c->many[p])
            continue;
        for (uint64_t i = 0; i < SLIM_FEW; i++)
            drop_cell(s, &c->many[p][i]);
        budget_give(b, SLIM_FEW * sizeof(struct ft_variable));
        free(c->many[p]);
    }
    budget_give(b, cells_bytes(c->n));
    free(c->few);
    free(c->many);
    *c = (struct slim_cells){0};
}

/* Gives an unused variable the same history, with reads of its own. */
static void copy_cell(struct slim *s, struct ft_variable *to, const struct ft_variable *from)
{
    assert(!variable_used(to));
    *to = *from;
    ft_own_reads(&s->ft, to);
    slim_bytes_take(s, s->ft.cost.words.bytes);
}

void slim_cells_copy(struct slim *s, struct slim_array *to, const struct slim_array *from)
{
    const struct ft_variable *x;

    slim_cells_init(s, to, from->cell.n);
    for (uint64_t i = 0; (x = slim_next_cell(&from->cell, &i)); i++)
        copy_cell(s, slim_make_cell(s, to, to->is.mode == SLIM_PREFIX ? to->is.by : i), x);
}

void slim_trace_cells(struct slim *s, const struct slim_array *a)
{
    const struct ft_variable *x;

    for (uint64_t i = 0; (x = slim_next_cell(&a->cell, &i)); i++) {
        s->ft.cost.place = paddr_plus(a->block, i * s->ft.cost.words.bytes);
        ft_charge_trace(&s->ft.cost, x, 0);
    }
    s->ft.cost.place = (struct paddr){0};
}

/* ---- parts ---------------------------------------------------------------------------------- */

uint64_t slim_part_at(const struct slim_array *a, uint64_t i)
{
    if (a->sizes)
        return a->part ? a->part[i] : 0;
    return slim_part_of(a->is, i);
}

uint64_t slim_locations(const struct slim_array *a)
{
    return a->sizes ? a->parts : slim_parts(a->is, a->n);
}

struct paddr slim_place(const struct slim *s, const struct slim_array *a, uint64_t q)
{
    return paddr_plus(a->block, a->block.at ? cell_of(a, q) * s->ft.cost.words.bytes : 0);
}

/* ---- elements of their own ------------------------------------------------------------------ */

static void spill_element(struct slim *s, const struct slim_array *a, uint64_t i,
                          const struct ft_variable *x)
{
    const struct granules g = slim_granules(s, a, i);

    for (sim_addr at = g.first;; at += g.step) {
        copy_cell(s, cells_get(&s->ft.variables, at), x);
        if (at == g.last)
            return;
    }
}

/* Makes variables of those elements of r that lie in [from, to). */
static void spill_range(struct slim *s, const struct slim_array *a, const struct slim_range *r,
                        uint64_t from, uint64_t to, const struct ft_variable *x)
{
    uint64_t i = r->b;

    if (i < from)
        i += (from - i + r->k - 1) / r->k * r->k;
    for (; i <= r->e && i < to && !budget_ends(s->ft.env->budget); i += r->k)
        spill_element(s, a, i, x);
}

/* Locations that elements have got are written, 64 bytes at a time, in their order. */
static void charge_spilt(struct slim *s, const struct slim_array *a, uint64_t from, uint64_t to)
{
    struct ledger *c = s->ft.cost.cost;
    struct metadata_sweep line = {.core = s->ft.env->core, .step = SLIM_STEP_LINE, .fill = true};

    for (uint64_t i = from; i < to && c->on; i++) {
        const struct granules g = slim_granules(s, a, i);
        for (sim_addr at = g.first;; at += g.step) {
            const struct ft_variable *x = cells_peek(&s->ft.variables, at);
            if (x && variable_used(x))
                metadata_sweep(c, &line, metadata_at(c, at), (struct paddr){0},
                               s->ft.cost.words.bytes);
            if (at == g.last)
                break;
        }
    }
    metadata_sweep_end(c, &line);
}

/* An array has no shadow any more: the old one's locations are read. */
static void charge_dissolved(struct slim *s, const struct slim_array *a, uint64_t from, uint64_t to)
{
    charge_load(s->ft.env, a->block, a->block_bytes);
    if (!a->borrows)
        charge_store(s->ft.env, a->header, 16); /* mode, and where they are */
    charge_spilt(s, a, from, to);
}

void slim_spill(struct slim *s, struct slim_array *a, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to && !budget_ends(s->ft.env->budget); i++) {
        const struct ft_variable *x = slim_cell(a, slim_part_at(a, i));
        if (x && variable_used(x))
            spill_element(s, a, i, x);
    }
    charge_dissolved(s, a, from, to);
}

/* ---- refinement ----------------------------------------------------------------------------- */

/* Charges a new shadow: each of its lines is written, each of the old one's read. */
static void charge_shadow(struct slim *s, struct slim_array *a, uint64_t locations)
{
    const uint64_t bytes = locations * s->ft.cost.words.bytes;
    struct ledger *c = s->ft.cost.cost;

    if (!c->on)
        return;
    const struct paddr old = a->block;
    const uint64_t was = a->block_bytes;
    a->block = metadata_take(c, s->ft.env->core, bytes);
    a->block_bytes = bytes;
    charge_steps(s->ft.env, SLIM_STEP_LINE, (bytes + 63) / 64);
    charge_store(s->ft.env, a->block, bytes);
    charge_store(s->ft.env, a->header, 16); /* mode, and where they are */
    if (!old.at)
        return;
    charge_load(s->ft.env, old, was);
    metadata_give(c, s->ft.env->core, old, was);
}

/* The history of old part q goes to the new parts that it falls into. */
static void pass_on(struct slim *s, struct slim_array *a, struct slim_partition was, uint64_t q,
                    const struct ft_variable *x)
{
    const struct slim_range r = slim_part(was, a->n, q);
    uint64_t first, step, count;

    if (slim_eager(a)) {
        const uint64_t end = a->is.mode == SLIM_FINE || a->is.by > a->to ? a->to : a->is.by;
        spill_range(s, a, &r, a->from, end, x);
        if (a->is.mode == SLIM_PREFIX && r.e >= a->is.by)
            copy_cell(s, slim_make_cell(s, a, a->is.by), x);
        return;
    }
    slim_cover(a->is, &r, &first, &step, &count);
    for (uint64_t i = 0; i < count && !budget_ends(s->ft.env->budget); i++)
        copy_cell(s, slim_make_cell(s, a, first + i * step), x);
}

/* Changes the partition: every old part's history goes to the new parts, or to variables. */
static void convert(struct slim *s, struct slim_array *a, struct slim_partition to)
{
    struct slim_cells old = a->cell;
    const struct slim_partition was = a->is;
    const struct ft_variable *x;

    s->st.refinements++;
    a->is = to;
    slim_cells_init(s, a,
                    slim_eager(a) ? 1 : slim_parts(to, a->n)); /* FINE has no use for its cell */
    if (to.mode != SLIM_FINE)
        charge_shadow(s, a, slim_eager(a) ? 1 : slim_parts(to, a->n));
    for (uint64_t q = 0; (x = slim_next_cell(&old, &q)); q++)
        pass_on(s, a, was, was.mode == SLIM_PREFIX ? was.by : q, x);
    const uint64_t from = was.mode == SLIM_PREFIX && was.by > a->from ? was.by : a->from;
    if (to.mode == SLIM_FINE)
        charge_dissolved(s, a, from, a->to);
    else if (to.mode == SLIM_PREFIX)
        charge_spilt(s, a, from, to.by < a->to ? to.by : a->to);
    slim_cells_free(s, &old);
}

/* A footprint that is no range, refined by the rows of Table I that can be read for sets (ours). */
static struct slim_partition refine_set(const struct slim_array *a, const struct slim_set *f)
{
    const struct slim_partition p = a->is;
    const uint64_t by = p.mode == SLIM_SPLIT   ? slim_gcd(a->n, p.by)
                        : p.mode == SLIM_BLOCK ? p.by
                                               : a->n;
    const uint64_t d = slim_set_block(f, by);
    const uint64_t last = p.mode == SLIM_SPLIT && p.by > f->last ? p.by : f->last;
    const bool may_block = p.mode == SLIM_COARSE || p.mode == SLIM_BLOCK || p.mode == SLIM_SPLIT;

    if (p.mode == SLIM_PREFIX)
        return slim_refine(p, a->n, &(const struct slim_range){f->last, f->last, 1});
    if (p.mode == SLIM_STRIDE && slim_set_strided(f, a->n, p.by))
        return p;
    if (may_block && d > 1)
        return (struct slim_partition){SLIM_BLOCK, d};
    if ((p.mode == SLIM_COARSE || p.mode == SLIM_SPLIT) && last < (a->n + 3) / 4)
        return (struct slim_partition){SLIM_PREFIX, last + 1};
    return (struct slim_partition){SLIM_FINE, 0};
}

/* ---- partitions as sets --------------------------------------------------------------------- */

/* Room for n cells at least. */
static void more_cells(struct slim *s, struct slim_cells *c, uint64_t n)
{
    struct budget *b = s->ft.env->budget;
    const uint64_t was = pages_of(c->n);

    if (n <= c->n)
        return;
    budget_give(b, cells_bytes(c->n));
    c->n *= 2;
    budget_take(b, cells_bytes(c->n));
    c->many = xrealloc(c->many, pages_of(c->n), sizeof *c->many);
    memset(c->many + was, 0, (pages_of(c->n) - was) * sizeof(struct ft_variable *));
}

void slim_set_parts_init(struct slim *s, struct slim_array *a)
{
    a->parts = 1;
    slim_cells_init(s, a, SLIM_FEW + 1);
    a->sizes = budget_grow(s->ft.env->budget, a->sizes, 0, &a->sizes_cap, sizeof *a->sizes);
    a->sizes[0] = a->n;
}

static bool has_parts(struct slim *s, struct slim_array *a)
{
    struct budget *b = s->ft.env->budget;

    if (a->part)
        return true;
    budget_take(b, a->n * sizeof *a->part);
    if (budget_over(b)) { /* the run ends */
        budget_give(b, a->n * sizeof *a->part);
        return false;
    }
    a->part = xcalloc(a->n, sizeof *a->part);
    return true;
}

/* Adds a part: it takes so many elements out of part q, and begins with q's history. */
static uint64_t add_part(struct slim *s, struct slim_array *a, uint64_t q, uint64_t elements)
{
    const uint64_t more = a->parts++;

    s->st.refinements++;
    a->sizes = budget_grow(s->ft.env->budget, a->sizes, more, &a->sizes_cap, sizeof *a->sizes);
    a->sizes[more] = elements;
    a->sizes[q] -= elements;
    more_cells(s, &a->cell, a->parts);
    const struct ft_variable *x = slim_cell(a, q);
    if (x && variable_used(x))
        copy_cell(s, slim_make_cell(s, a, more), x);
    return more;
}

static void touch(struct slim *s, uint64_t q)
{
    if (s->hits[q].n++)
        return;
    s->touched = budget_grow(s->ft.env->budget, s->touched, s->touched_n, &s->touched_cap,
                             sizeof *s->touched);
    s->touched[s->touched_n++] = q;
}

static void more_hits(struct slim *s, uint64_t n)
{
    const size_t was = s->hits_cap;

    if (n <= was)
        return;
    s->hits_cap = 2 * n;
    s->hits = xrealloc(s->hits, s->hits_cap, sizeof *s->hits);
    memset(s->hits + was, 0, (s->hits_cap - was) * sizeof *s->hits);
    budget_take(s->ft.env->budget, (s->hits_cap - was) * sizeof *s->hits);
}

/* Splits each part of which the footprint has some elements but not all. Afterwards s->touched are
 * the parts that the footprint consists of. */
static void split_parts(struct slim *s, struct slim_array *a, const struct slim_print *f)
{
    const uint64_t was = a->parts;

    s->touched_n = 0;
    if (!has_parts(s, a))
        return;
    more_hits(s, was);
    for (uint64_t i = slim_print_next(f, 0); i != SLIM_NONE; i = slim_print_next(f, i + 1))
        touch(s, a->part[i]);
    for (uint64_t i = slim_print_next(f, 0); i != SLIM_NONE; i = slim_print_next(f, i + 1)) {
        const uint64_t q = a->part[i];
        if (!s->hits[q].to && s->hits[q].n < a->sizes[q])
            s->hits[q].to = add_part(s, a, q, s->hits[q].n);
        if (s->hits[q].to)
            a->part[i] = (uint32_t)s->hits[q].to;
    }
    for (size_t k = 0; k < s->touched_n; k++) {
        struct slim_hits *h = &s->hits[s->touched[k]];
        s->touched[k] = h->to ? h->to : s->touched[k];
        *h = (struct slim_hits){0};
    }
    if (a->parts > was)
        charge_shadow(s, a, a->parts);
}

/* ---- either way ----------------------------------------------------------------------------- */

void slim_make_precise(struct slim *s, struct slim_array *a, const struct slim_print *f)
{
    struct slim_range r = f->range;
    struct slim_partition to;

    charge_step(s->ft.env, SLIM_STEP_REFINE);
    if (a->sizes) {
        split_parts(s, a, f);
        return;
    }
    if (!slim_empty(&r) || slim_set_range(&f->set, &r))
        to = slim_refine(a->is, a->n, &r);
    else
        to = refine_set(a, &f->set);
    if (to.mode != a->is.mode || to.by != a->is.by)
        convert(s, a, to);
}
