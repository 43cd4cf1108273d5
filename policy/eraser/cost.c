/* cost.c - Eraser's shadow words, locksets and cache on the machine, and the steps through
 * them. Counted, not fitted: docs/policies/eraser.md. */
#include "policy/eraser/cost.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_DEF     "policy/eraser/steps.def"
#define STEPS_CHARGES eraser_charges
#include "policy/cost/steps.h"

enum {
    CACHE_BITS = 12,  /* of its entries */
    CACHE_ENTRY = 16, /* a pair, and what comes of it */
    LOCK_BYTES = 8,   /* in a vector */
    TABLE_ENTRY = 8,  /* a set's vector, by index */
    TABLE_LEAST = 1024,
    THREAD_BYTES = 16 /* the indices of its sets: in any mode, exclusive */
};

void eraser_cost_init(struct eraser_cost *c, const struct policy_env *env,
                      struct lockset_pool *sets, struct cells *variables)
{
    static const struct cell_charges charges = {
        .bytes = ERASER_WORD, .clear_step = STEP_CLEAR_LINE, .copy_step = STEP_COPY_LINE};

    *c = (struct eraser_cost){.env = env, .cost = env->cost, .sets = sets, .variables = variables};
    cells_charge(variables, &charges);
    if (!c->cost->on)
        return;
    c->cached = xcalloc((size_t)1 << CACHE_BITS, sizeof *c->cached);
    budget_take(env->budget, sizeof *c->cached << CACHE_BITS);
}

void eraser_cost_free(struct eraser_cost *c)
{
    free(c->cached);
    free(c->vector);
    free(c->thread);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static struct paddr *slot_of(struct eraser_cost *c, struct paddr **array, size_t *n, uint32_t i)
{
    *array = budget_reach(c->env->budget, *array, n, i, sizeof **array);
    return *array + i;
}

static struct paddr thread_block(struct eraser_cost *c, sim_tid tid)
{
    struct paddr *at = slot_of(c, &c->thread, &c->threads, tid);

    if (!at->at)
        *at = cells_take(c->variables, THREAD_BYTES);
    return *at;
}

/* The place of a set's entry in the table; the table is made, and doubled, as sets come. */
static struct paddr table_entry(struct eraser_cost *c, lockset_id set)
{
    const uint64_t end = ((uint64_t)set + 1) * TABLE_ENTRY;

    if (end > c->table_bytes) {
        const struct paddr was = c->table;
        const uint64_t had = c->table_bytes;
        c->table_bytes = had ? 2 * had : TABLE_LEAST * TABLE_ENTRY;
        while (c->table_bytes < end)
            c->table_bytes *= 2;
        c->table = cells_take(c->variables, c->table_bytes);
        charge_load(c->env, was, had);
        charge_store(c->env, c->table, had);
        if (had)
            cells_give(c->variables, was, had);
    }
    return paddr_plus(c->table, (uint64_t)set * TABLE_ENTRY);
}

/* The set's locks; a set that is new gets its vector and its entry. */
static struct paddr vector_of(struct eraser_cost *c, lockset_id set)
{
    const uint64_t bytes = (uint64_t)lockset_size(c->sets, set) * LOCK_BYTES;
    struct paddr *at = slot_of(c, &c->vector, &c->vectors, set);

    if (at->at || !bytes)
        return *at;
    charge_step(c->env, STEP_NEW_SET);
    const struct paddr block = cells_take(c->variables, bytes);
    charge_store(c->env, block, bytes);
    charge_store(c->env, table_entry(c, set), TABLE_ENTRY);
    return *slot_of(c, &c->vector, &c->vectors, set) = block;
}

/* ---- sets ----------------------------------------------------------------------------------- */

static void load_set(struct eraser_cost *c, lockset_id set)
{
    const struct paddr at = vector_of(c, set);

    if (!at.at)
        return;
    charge_load(c->env, table_entry(c, set), TABLE_ENTRY);
    charge_load(c->env, at, (uint64_t)lockset_size(c->sets, set) * LOCK_BYTES);
}

/* The outcome of two sorted vectors (a lock alone is one of length 1), found by its hash. */
static void work_out(struct eraser_cost *c, uint32_t elements, lockset_id after)
{
    charge_step(c->env, STEP_MISS);
    charge_steps(c->env, STEP_ELEMENT, elements);
    charge_steps(c->env, STEP_INTERN, lockset_size(c->sets, after));
    load_set(c, after); /* compared with what has that hash */
}

/* True: the cache had it. */
static bool look_up(struct eraser_cost *c, uint64_t pair)
{
    const uint64_t i = pair * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS);
    const bool hit = c->cached[i] == pair;

    if (!c->cache.at)
        c->cache = cells_take(c->variables, (uint64_t)CACHE_ENTRY << CACHE_BITS);
    charge_step(c->env, STEP_CACHE);
    charge_load(c->env, paddr_plus(c->cache, i * CACHE_ENTRY), CACHE_ENTRY);
    c->cached[i] = pair;
    return hit;
}

static void pair_keep(struct eraser_cost *c, uint64_t pair)
{
    const uint64_t i = pair * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS);

    charge_store(c->env, paddr_plus(c->cache, i * CACHE_ENTRY), CACHE_ENTRY);
}

/* An intersection is usually a look-up in the cache, as published (section 3). */
static void intersect(struct eraser_cost *c, const struct eraser_change *x)
{
    const lockset_id low = x->before < x->held ? x->before : x->held;
    const lockset_id high = x->before < x->held ? x->held : x->before;
    const uint64_t pair = (uint64_t)low << 32 | high;

    charge_step(c->env, STEP_SAME_SET);
    if (x->before == x->held || low == LOCKSET_EMPTY || look_up(c, pair))
        return;
    load_set(c, low);
    load_set(c, high);
    work_out(c, lockset_size(c->sets, low) + lockset_size(c->sets, high), x->after);
    pair_keep(c, pair);
}

/* ---- events --------------------------------------------------------------------------------- */

void eraser_charge_access(struct eraser_cost *c, sim_addr location, sim_tid tid,
                          const struct eraser_change *x)
{
    const struct paddr at = metadata_at(c->cost, location);
    bool changes = x->first || x->state_changes;

    if (!c->cost->held) {
        charge_step(c->env, STEP_CALL);
        charge_step(c->env, STEP_PLACE);
        c->knows_held = false;
    }
    charge_load(c->env, at, ERASER_WORD);
    charge_step(c->env, STEP_STATE);
    if (x->exclusive)
        charge_step(c->env, STEP_OWNER);
    if (!x->first && !(x->exclusive && x->same)) {
        if (!c->knows_held)
            charge_load(c->env, thread_block(c, tid), LOCK_BYTES);
        c->knows_held = true;
        if (x->refined)
            intersect(c, x);
        changes |= x->refined && x->after != x->before;
        charge_step(c->env, STEP_EMPTY);
    }
    if (!changes)
        return;
    charge_step(c->env, STEP_MAKE);
    charge_store(c->env, at, ERASER_WORD);
}

void eraser_charge_lock(struct eraser_cost *c, sim_tid tid, uint64_t lock,
                        const lockset_id before[2], const lockset_id after[2])
{
    const struct paddr at = thread_block(c, tid);

    charge_step(c->env, STEP_CALL);
    charge_load(c->env, at, THREAD_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        /* The high bit keeps these keys of the cache apart from those of intersections. */
        const uint64_t pair =
            (uint64_t)before[i] << 32 ^ lock << 1 ^ (before[i] < after[i]) ^ UINT64_C(1) << 63;
        if (before[i] == after[i] || look_up(c, pair))
            continue;
        load_set(c, before[i]);
        work_out(c, lockset_size(c->sets, before[i]) + 1, after[i]);
        pair_keep(c, pair);
    }
    charge_store(c->env, at, THREAD_BYTES);
}
