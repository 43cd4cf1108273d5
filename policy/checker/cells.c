/* cells.c - cells that follow their memory: clears, copies, and what those charge. */
#include "policy/checker/cells.h"

void cells_init(struct cells *c, const struct cell_kind *kind, const struct policy_env *env,
                void *self)
{
    *c = (struct cells){.env = env, .kind = kind, .self = self};
    c->shadow = shadow_new(env->granule ? env->granule : 1, kind->bytes, env->budget);
    c->announced[0] = c->shadow;
    c->announced[1] = env->hb->objects.cells;
    c->apart = env->granule == GRANULE_FIELD ? 0 : ~(sim_addr)(env->granule - 1);
    if (!*env->cells)
        *env->cells = c;
}

void cells_declare(struct cells *c)
{
    stats_count(c->env->stats, "cleared", "locations", c->kind->cleared, &c->cleared);
    stats_count(c->env->stats, "copied", "locations", c->kind->copied, &c->copied);
}

void cells_charge(struct cells *c, const struct cell_charges *charges)
{
    const struct policy_env *env = c->env;

    c->charges = *charges;
    ledger_software(env->cost, env, env->charges->step, env->charges->steps, charges->bytes);
    if (charges->clocks)
        (*env->cells)->clocks = clock_cost_new(env->cost, env);
    c->charged = (*env->cells)->bills = env->cost->on;
    if (!c->charged && !charges->always)
        return;
    c->counted = charges->bytes;
    metadata_declare(&c->metadata, env->stats);
    if (!env->cost->on || !env->inlined)
        return;
    metadata_count(env->cost, &c->metadata);
    if (env->cost->inlined)
        c->counted = 0; /* they are there as long as their object is */
}

struct paddr cells_take(struct cells *c, uint64_t bytes)
{
    budget_take(&c->metadata, bytes);
    return metadata_take(c->env->cost, c->env->core, bytes);
}

void cells_give(struct cells *c, struct paddr block, uint64_t bytes)
{
    metadata_give(c->env->cost, c->env->core, block, bytes);
    budget_give(&c->metadata, bytes);
}

/* ---- clear and copy ------------------------------------------------------------------------- */

struct move { /* a clear, or a copy by so much */
    struct cells *c;
    sim_addr by; /* may wrap */
    bool copy;
    struct metadata_sweep sweep;
};

static bool charge_copy(void *arg, sim_addr addr, void *cell)
{
    struct move *m = arg;
    struct ledger *cost = m->c->env->cost;

    (void)cell;
    metadata_sweep(cost, &m->sweep, metadata_at(cost, addr), metadata_at(cost, addr + m->by),
                   m->c->charges.bytes);
    return false;
}

/* The copy writes here anyway. */
static bool is_written(const struct move *m, sim_addr addr)
{
    const void *from = m->copy ? shadow_peek(m->c->shadow, addr - m->by) : NULL;

    return from && shadow_in_use(m->c->shadow, from);
}

static bool drop_cell(void *arg, sim_addr addr, void *cell)
{
    struct move *m = arg;
    struct cells *c = m->c;

    if (c->charged && !c->env->cost->inlined && !is_written(m, addr))
        metadata_sweep(c->env->cost, &m->sweep, metadata_at(c->env->cost, addr), (struct paddr){0},
                       c->charges.bytes);
    if (c->kind->drop)
        c->kind->drop(c->self, cell);
    budget_give(&c->metadata, c->counted);
    c->cleared++;
    return true;
}

static void area_empty(struct move *m, sim_addr addr, uint64_t bytes)
{
    m->sweep = (struct metadata_sweep){.core = m->c->env->core, .step = m->c->charges.clear_step};
    shadow_each(m->c->shadow, addr, bytes, drop_cell, m);
    metadata_sweep_end(m->c->env->cost, &m->sweep);
}

static void own_cell(void *arg, void *cell)
{
    struct cells *c = arg;

    budget_take(&c->metadata, c->counted);
    if (c->kind->own)
        c->kind->own(c->self, cell);
}

static void area_copy(struct cells *c, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct move m = {.c = c,
                     .copy = true,
                     .by = to - from,
                     .sweep = {.core = c->env->core, .step = c->charges.copy_step}};

    if (c->charged && !metadata_move(c->env->cost, c->env->core, to, from, c->charges.copy_step))
        shadow_each(c->shadow, from, bytes, charge_copy, &m);
    metadata_sweep_end(c->env->cost, &m.sweep);
    struct shadow_snapshot *s = shadow_take(c->shadow, from, bytes, own_cell, c);
    area_empty(&m, to, bytes);
    c->copied += shadow_put(c->shadow, s, to);
}

void cells_move(struct cells *c, const struct event *ev)
{
    if (ev->kind == EV_CLEAR)
        area_empty(&(struct move){.c = c}, ev->addr, ev->aux);
    else
        area_copy(c, ev->addr, ev[1].addr, ev->aux);
}

/* ---- life ----------------------------------------------------------------------------------- */

static bool check_cell(void *arg, sim_addr addr, void *cell)
{
    const struct cells *c = arg;

    (void)addr;
    c->kind->check(c->self, cell);
    return false;
}

void cells_check(const struct cells *c)
{
    if (c->kind->check)
        shadow_all(c->shadow, check_cell, (void *)(uintptr_t)c);
}

static bool free_cell(void *arg, sim_addr addr, void *cell)
{
    struct cells *c = arg;

    (void)addr;
    c->kind->drop(c->self, cell);
    return false;
}

void cells_free(struct cells *c)
{
    c->env->cost->on = false;
    if (c->kind->drop)
        shadow_all(c->shadow, free_cell, c);
    shadow_free(c->shadow);
    clock_cost_free(c->clocks);
}
