/* cost.c - what Goldilocks does to a machine: its steps, and its records, cells and
 * locks in simulated memory. Nothing here decides anything; without a machine nothing happens but
 * that metadata is counted.
 *
 * In memory: for each variable a shadow word with the lock KL and the write record's address, and
 * one with the chain of its read records; records and cells in blocks; the list's head and tail in
 * a line of their own; in a block of each thread the locks it holds and the set that it evaluates.
 * The collection of records that nothing refers to is as free as Kaffe's was unmeasured: their
 * blocks are given back at once. */
#include "policy/goldilocks/goldilocks.h"

#define STEPS_DEF     "policy/goldilocks/steps.def"
#define STEPS_CHARGES gold_charges
#include "policy/cost/steps.h"

enum { ENDS_BYTES = 64, THREAD_BYTES = 64 + GOLD_SCRATCH_BYTES, SCRATCH_AT = 64 };

/* The offset of a cell's count of records. */
static unsigned count_at(const struct goldilocks *g)
{
    return 2 * gold_word(g);
}

void gold_cost_init(struct goldilocks *g)
{
    /* A variable: KL and WriteInfo, the chain of ReadInfo. */
    const struct cell_charges charges = {
        .bytes = 2 * gold_word(g), .clear_step = STEP_LINE, .copy_step = STEP_LINE, .always = true};

    cells_charge(&g->variables, &charges);
}

static struct paddr thread_block(struct goldilocks *g, sim_tid tid)
{
    struct gold_thread *t = gold_thread_at(g, tid);

    if (!t->lock_block.at)
        t->lock_block = cells_take(&g->variables, THREAD_BYTES);
    return t->lock_block;
}

/* ---- the list ------------------------------------------------------------------------------- */

static struct paddr ends_of(struct goldilocks *g)
{
    if (!g->ends.at)
        g->ends = metadata_take(g->cost, g->env->core, ENDS_BYTES);
    return g->ends;
}

/* Charges a change of cell n's count of records. The tail's cell is not there yet on the host: its
 * count is in the line of the ends. */
static void charge_count(struct goldilocks *g, uint64_t n)
{
    const struct paddr at = n == g->list.tail ? ends_of(g) : gold_cell_at(&g->list, n)->block;

    charge_step(g->env, STEP_COUNT);
    charge_access(g->env, paddr_plus(at, count_at(g)), gold_word(g), MEM_ATOMIC);
}

static uint64_t cell_bytes(const struct goldilocks *g, const struct gold_cell *c)
{
    return gold_cell_bytes(g) + (c->rule == GOLD_COMMIT ? c->variables->n * gold_word(g) : 0);
}

/* The tail's cell is filled, and a new one becomes the tail. The first was there from the start. */
void gold_cost_append(struct goldilocks *g, struct gold_cell *c)
{
    const uint64_t bytes = cell_bytes(g, c);

    budget_take(&g->variables.metadata, bytes);
    if (!g->cost->on)
        return;
    c->block = metadata_take(g->cost, g->env->core, bytes);
    charge_step(g->env, STEP_APPEND);
    charge_store(g->env, c->block, count_at(g));
    if (c->rule == GOLD_COMMIT) {
        charge_steps(g->env, STEP_COMMIT, c->variables->n);
        charge_store(g->env, paddr_plus(c->block, gold_cell_bytes(g)), bytes - gold_cell_bytes(g));
    }
    charge_access(g->env, paddr_plus(ends_of(g), gold_word(g)), gold_word(g),
                  MEM_ATOMIC); /* the tail */
}

/* A cell leaves the list at its head. */
void gold_cost_behead(struct goldilocks *g, const struct gold_cell *c)
{
    budget_give(&g->variables.metadata, cell_bytes(g, c));
    if (!g->cost->on)
        return;
    charge_step(g->env, STEP_COLLECT);
    charge_load(g->env, paddr_plus(c->block, count_at(g)), gold_word(g));
    charge_store(g->env, ends_of(g), gold_word(g)); /* the head */
    metadata_give(g->cost, g->env->core, c->block, cell_bytes(g, c));
}

/* Each record that refers to a cell before `to` is evaluated from there on: instructions for each
 * of its cells; the caches are asked for each cell once, as they then have it. */
void gold_cost_trim(struct goldilocks *g, uint64_t to)
{
    uint64_t infos = 0;

    for (uint64_t n = g->list.head; n < to; n++) {
        const struct gold_cell *c = gold_cell_at(&g->list, n);
        infos += c->infos;
        charge_steps(g->env, STEP_ADVANCE, infos);
        if (infos)
            charge_load(g->env, c->block, gold_cell_bytes(g));
    }
}

/* The record refers to `to` from now on, if it did to an earlier cell. */
void gold_cost_moved(struct goldilocks *g, const struct gold_info *i, uint64_t to)
{
    if (gold_info_at(g, i) >= to)
        return;
    charge_load(g->env, i->block, gold_info_bytes(g));
    charge_step(g->env, STEP_MOVED);
    charge_store(g->env, i->block, 2 * gold_word(g));
    charge_count(g, to);
}

/* ---- a check -------------------------------------------------------------------------------- */

void gold_cost_look(struct goldilocks *g, const struct gold_info *i)
{
    charge_step(g->env, STEP_LOOK);
    charge_load(g->env, i->block, gold_info_bytes(g));
}

void gold_cost_held(struct goldilocks *g, const struct gold_now *now)
{
    if (!g->cost->on)
        return;
    const struct paddr block = thread_block(g, now->ev->tid);
    const size_t holds = gold_thread_at(g, now->ev->tid)->holds;
    charge_step(g->env, STEP_HELD);
    charge_steps(g->env, STEP_HOLDS, holds);
    charge_load(g->env, block, gold_word(g) * (1 + (holds < 7 ? holds : 7)));
}

/* Once for each evaluation. */
void gold_cost_walked(struct goldilocks *g)
{
    charge_step(g->env, STEP_RESULT);
}

void gold_cost_locks(struct goldilocks *g, sim_tid tid)
{
    if (!g->cost->on)
        return;
    const struct paddr block = thread_block(g, tid);
    charge_step(g->env, STEP_LOCKS);
    charge_load(g->env, block, gold_word(g));
    charge_store(g->env, block, gold_word(g));
}

/* Loads the slot to which an element is hashed in the thread's set under evaluation. */
static void look_up(struct goldilocks *g, gold_element e, const struct gold_now *now)
{
    const uint64_t slot = e * UINT64_C(0x9e3779b97f4a7c15) % (GOLD_SCRATCH_BYTES / gold_word(g));

    if (e)
        charge_load(g->env,
                    paddr_plus(thread_block(g, now->ev->tid), SCRATCH_AT + slot * gold_word(g)),
                    gold_word(g));
}

void gold_cost_cell(struct goldilocks *g, const struct gold_cell *c, bool heeded,
                    const struct gold_now *now)
{
    if (!g->cost->on)
        return;
    charge_load(g->env, c->block, count_at(g) + gold_word(g));
    charge_step(g->env, heeded ? STEP_CELL : STEP_SKIP);
    if (!heeded)
        return;
    look_up(g, c->from[0], now);
    look_up(g, c->from[1], now);
    if (c->rule != GOLD_COMMIT)
        return;
    charge_steps(g->env, STEP_VARIABLE, c->variables->n);
    charge_load(g->env, paddr_plus(c->block, gold_cell_bytes(g)), c->variables->n * gold_word(g));
}

/* ---- variables and records ------------------------------------------------------------------ */

void gold_cost_enter(struct goldilocks *g, sim_addr addr)
{
    charge_step(g->env, STEP_LOCK);
    charge_access(g->env, metadata_at(g->cost, addr), gold_word(g), MEM_ATOMIC);
}

void gold_cost_leave(struct goldilocks *g, sim_addr addr)
{
    charge_step(g->env, STEP_UNLOCK);
    charge_store(g->env, metadata_at(g->cost, addr), gold_word(g));
}

/* A new record, for the cell at the tail; what it takes the place of is forgotten by itself. The
 * chain of reads begins with it, or is empty now; KL's word gets a write's when KL is given up. The
 * tail's cell is not there yet on the host: its count is in the line of the ends. */
void gold_cost_record(struct goldilocks *g, struct gold_info *i, sim_addr addr,
                      const struct gold_now *now)
{
    budget_take(&g->variables.metadata, gold_info_bytes(g));
    if (!g->cost->on)
        return;
    i->block = metadata_take(g->cost, g->env->core, gold_info_bytes(g));
    charge_load(g->env, paddr_plus(ends_of(g), gold_word(g)), gold_word(g));
    if (!g->cost->held) /* the latest lock */
        charge_load(g->env, thread_block(g, now->ev->tid), gold_word(g));
    charge_step(g->env, STEP_INFO);
    charge_store(g->env, i->block, gold_info_bytes(g));
    charge_step(g->env, STEP_COUNT);
    charge_access(g->env, paddr_plus(ends_of(g), count_at(g)), gold_word(g), MEM_ATOMIC);
    charge_store(g->env, paddr_plus(metadata_at(g->cost, addr), gold_word(g)), gold_word(g));
}

void gold_cost_chain(struct goldilocks *g, const struct gold_info *i)
{
    charge_step(g->env, STEP_CHAIN);
    charge_load(g->env, paddr_plus(i->block, 3 * gold_word(g)), 2 * gold_word(g));
}

void gold_cost_forget(struct goldilocks *g, const struct gold_info *i)
{
    budget_give(&g->variables.metadata, gold_info_bytes(g));
    if (!g->cost->on)
        return;
    charge_count(g, gold_info_at(g, i));
    metadata_give(g->cost, g->env->core, i->block, gold_info_bytes(g));
}

void gold_cost_copy(struct goldilocks *g, struct gold_info *i)
{
    const struct paddr from = i->block;

    budget_take(&g->variables.metadata, gold_info_bytes(g));
    if (!g->cost->on)
        return;
    charge_load(g->env, from, gold_info_bytes(g));
    i->block = metadata_take(g->cost, g->env->core, gold_info_bytes(g));
    charge_store(g->env, i->block, gold_info_bytes(g));
    charge_count(g, gold_info_at(g, i));
}
