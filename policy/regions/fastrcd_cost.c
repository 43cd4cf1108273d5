/* fastrcd_cost.c - what FastRCD costs in software: one 32-bit word an epoch, read maps, a lock on a
 * metadata word where metadata must change and none where not (Valor 5.2). Counted, not fitted:
 * docs/policies/fastrcd.md. */
#include "policy/regions/fastrcd.h"

#define STEPS_DEF     "policy/regions/fastrcd_steps.def"
#define STEPS_CHARGES rcd_charges
#include "policy/cost/steps.h"

enum { WRITE_AT = 0, READ_AT = 4, WORD = 4 };

void rcd_cost_init(struct rcd_cost *c, const struct policy_env *env, struct cells *variables)
{
    static const struct cell_charges charges = {.bytes = RCD_VARIABLE_BYTES,
                                                .clear_step = STEP_LINE,
                                                .copy_step = STEP_LINE,
                                                .always = true};

    c->env = env;
    c->cost = env->cost;
    c->variables = variables;
    cells_charge(variables, &charges);
}

/* ---- checks --------------------------------------------------------------------------------- */

static void load_clock(struct rcd_cost *c, uint32_t actor)
{
    charge_load(c->env, c->thread[actor].block, WORD);
}

static const struct metadata_steps reach_steps = {STEP_PLACE, STEP_SHADOW, STEP_SHADOW_NEW,
                                                  STEP_SHADOW_LINE};

/* Begins every access: loads the own epoch and one of the variable's words, and compares them.
 * Returns where the words are. */
static struct paddr begin(struct rcd_cost *c, sim_addr addr, unsigned word, uint32_t me)
{
    ledger_part(c->cost, PART_CHECK);
    if (!c->cost->held) {
        load_clock(c, me);
        metadata_reach(c->cost, c->env->core, addr, &reach_steps);
    }
    const struct paddr at = metadata_at(c->cost, addr);
    charge_load(c->env, paddr_plus(at, word), WORD);
    charge_step(c->env, STEP_SAME);
    return at;
}

/* Charges the begin of the slow path, which is not in line. */
static void slow_path(struct rcd_cost *c)
{
    ledger_part(c->cost, PART_SLOW);
    charge_step(c->env, STEP_SLOW);
}

/* The word that is the lock: without readers there is but one to choose from. */
static unsigned lock_word(const struct rcd_cost *c)
{
    return c->readers ? READ_AT : WRITE_AT;
}

static void lock(struct rcd_cost *c, struct paddr at)
{
    charge_step(c->env, STEP_LOCK);
    charge_access(c->env, paddr_plus(at, lock_word(c)), WORD, MEM_ATOMIC);
}

/* An epoch against its thread's clock: none, the own thread's, or another's, whose clock is loaded.
 */
static void check_epoch(struct rcd_cost *c, uint32_t clock, uint32_t actor, uint32_t me)
{
    charge_step(c->env, STEP_NONE);
    if (!clock)
        return;
    charge_step(c->env, STEP_OWN);
    if (actor == me)
        return;
    ledger_needs(c->cost, c->env->core);
    load_clock(c, actor);
    charge_step(c->env, STEP_ONGOING);
}

static void check_atomics(struct rcd_cost *c, const struct rcd_variable *x)
{
    const struct atomics *a = atomics_of(x);

    charge_steps(c->env, STEP_ATOMIC, a ? a->n : 0);
}

/* ---- read maps ------------------------------------------------------------------------------ */

static uint32_t slots_for(uint32_t reads)
{
    uint32_t slots = RCD_MAP_SLOTS;

    while (slots < reads)
        slots *= 2;
    return slots;
}

/* Threads are numbered from 0, so that two seldom have one slot: that they do costs nothing. */
static struct paddr slot_of(const struct overflow *m, uint32_t actor)
{
    return paddr_plus(m->block, (uint64_t)(actor & (slots_for(m->n) - 1)) * RCD_SLOT_BYTES);
}

static void make_block(struct rcd_cost *c, struct overflow *m, uint32_t slots)
{
    const uint64_t bytes = (uint64_t)slots * RCD_SLOT_BYTES;

    budget_take(&c->variables->metadata, bytes);
    m->block = metadata_take(c->cost, c->env->core, bytes);
    charge_store(c->env, m->block, bytes);
    charge_step(c->env, STEP_MAP_NEW);
}

static void give_block(struct rcd_cost *c, struct paddr block, uint32_t slots)
{
    const uint64_t bytes = (uint64_t)slots * RCD_SLOT_BYTES;

    budget_give(&c->variables->metadata, bytes);
    metadata_give(c->cost, c->env->core, block, bytes);
}

void rcd_map_new(struct rcd_cost *c, struct overflow *m)
{
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    make_block(c, m, slots_for(m->n));
    for (uint32_t i = 0; c->cost->on && i < m->n; i++) {
        charge_step(c->env, STEP_MAP_FIND);
        charge_store(c->env, slot_of(m, m->at[i].actor), RCD_SLOT_BYTES);
    }
    ledger_part(c->cost, was);
}

/* A copied map goes into a block of its own, slot by slot as it is. */
void rcd_map_copy(struct rcd_cost *c, const struct overflow *from, struct overflow *m)
{
    charge_load(c->env, from->block, (uint64_t)slots_for(from->n) * RCD_SLOT_BYTES);
    make_block(c, m, slots_for(m->n));
}

void rcd_map_add(struct rcd_cost *c, struct overflow *m)
{
    const uint32_t was = slots_for(m->n), slots = slots_for(m->n + 1);
    const struct paddr old = m->block;

    if (slots == was)
        return;
    const enum cost_part part = ledger_part(c->cost, PART_MAPS);
    make_block(c, m, slots);
    for (uint32_t i = 0; c->cost->on && i < m->n; i++) {
        charge_load(c->env, paddr_plus(old, (uint64_t)i * RCD_SLOT_BYTES), RCD_SLOT_BYTES);
        charge_step(c->env, STEP_MAP_MOVE);
        charge_store(
            c->env, paddr_plus(m->block, (uint64_t)(m->at[i].actor & (slots - 1)) * RCD_SLOT_BYTES),
            RCD_SLOT_BYTES);
    }
    give_block(c, old, was);
    ledger_part(c->cost, part);
}

void rcd_map_drop(struct rcd_cost *c, struct overflow *m)
{
    give_block(c, m->block, slots_for(m->n));
}

static const struct reader *find(const struct overflow *m, uint32_t actor)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].actor == actor)
            return &m->at[i];
    return NULL;
}

static void check_map(struct rcd_cost *c, const struct overflow *m, uint32_t me)
{
    const uint32_t slots = slots_for(m->n);
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    charge_step(c->env, STEP_MAP_FIND);
    for (uint32_t slot = 0; slot < slots; slot++)
        charge_load(c->env, paddr_plus(m->block, (uint64_t)slot * RCD_SLOT_BYTES), RCD_SLOT_BYTES);
    charge_steps(c->env, STEP_MAP_SLOT, slots);
    for (uint32_t i = 0; i < m->n; i++)
        check_epoch(c, m->at[i].clock, m->at[i].actor, me);
    ledger_part(c->cost, was);
}

static void check_reads(struct rcd_cost *c, const struct rcd_variable *x, uint32_t me)
{
    charge_step(c->env, STEP_IS_MAP);
    if (map_of(x))
        check_map(c, map_of(x), me);
    else
        check_epoch(c, x->clock[READS], x->actor[READS], me);
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* The own slot: a look, a store. */
static void probe_map(struct rcd_cost *c, const struct overflow *map, uint32_t me)
{
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    charge_step(c->env, STEP_MAP_FIND);
    charge_load(c->env, slot_of(map, me), RCD_SLOT_BYTES);
    charge_step(c->env, STEP_MAP_PROBE);
    ledger_part(c->cost, was);
}
static void store_slot(struct rcd_cost *c, const struct overflow *map, uint32_t me)
{
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    charge_store(c->env, slot_of(map, me), RCD_SLOT_BYTES);
    ledger_part(c->cost, was);
}

static bool own_region(const struct rcd_cost *c, const struct rcd_variable *x, unsigned side,
                       uint32_t me)
{
    return x->clock[side] == c->clock[me] && x->actor[side] == me;
}

/* Charges the check of a read that finds no readers: a look at the last write, which changes
 * nothing. */
static void check_read(struct rcd_cost *c, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    begin(c, addr, WRITE_AT, me);
    c->cost->reads.all++;
    c->cost->reads.same++;
    if (!own_region(c, x, WRITES, me))
        check_epoch(c, x->clock[WRITES], x->actor[WRITES], me);
    check_atomics(c, x);
}

/* The read word is the lock; what is stored there gives it up. */
static void track_read(struct rcd_cost *c, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    const uint32_t clock = c->clock[me];
    const struct overflow *map = map_of(x);
    const struct reader *r = map ? find(map, me) : NULL;
    const struct paddr at = begin(c, addr, READ_AT, me);

    c->cost->reads.all++;
    c->cost->reads.same++;
    if (!map && own_region(c, x, READS, me))
        return;
    charge_step(c->env, STEP_IS_MAP);
    if (map) {
        probe_map(c, map, me);
        if (r && r->clock == clock)
            return;
    }
    c->cost->reads.same--;
    slow_path(c);
    lock(c, at);
    charge_load(c->env, paddr_plus(at, WRITE_AT), WORD);
    check_epoch(c, x->clock[WRITES], x->actor[WRITES], me);
    check_atomics(c, x);
    if (map)
        store_slot(c, map, me);
    else
        check_epoch(c, x->clock[READS], x->actor[READS], me);
    charge_store(c->env, paddr_plus(at, READ_AT), WORD);
}

void rcd_charge_read(struct rcd_cost *c, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    (c->readers ? track_read : check_read)(c, x, addr, me);
}

/* Locks the variable after a look at its write word alone: the read word, which is the lock, then
 * the write word again, which may have changed in between. Where that is the lock, the compare and
 * swap says what it is. */
static void lock_to_write(struct rcd_cost *c, const struct rcd_variable *x, struct paddr at,
                          uint32_t me)
{
    slow_path(c);
    if (c->readers)
        charge_load(c->env, paddr_plus(at, READ_AT), WORD);
    lock(c, at);
    if (c->readers)
        charge_load(c->env, paddr_plus(at, WRITE_AT), WORD);
    check_epoch(c, x->clock[WRITES], x->actor[WRITES], me);
}

void rcd_charge_write(struct rcd_cost *c, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    const struct paddr at = begin(c, addr, WRITE_AT, me);

    c->cost->writes.all++;
    if (own_region(c, x, WRITES, me)) {
        c->cost->writes.same++;
        return;
    }
    lock_to_write(c, x, at, me);
    if (c->readers)
        check_reads(c, x, me);
    check_atomics(c, x);
    charge_store(c->env, paddr_plus(at, WRITE_AT), WORD);
    if (c->readers)
        charge_store(c->env, paddr_plus(at, READ_AT), WORD);
}

void rcd_charge_atomic(struct rcd_cost *c, const struct rcd_variable *x, sim_addr addr, uint32_t me,
                       bool write)
{
    const struct paddr at = begin(c, addr, WRITE_AT, me);

    lock_to_write(c, x, at, me);
    if (write && c->readers)
        check_reads(c, x, me);
    check_atomics(c, x);
    charge_store(c->env, paddr_plus(at, lock_word(c)), WORD);
}

/* ---- the rest ------------------------------------------------------------------------------- */

void rcd_charge_region_end(struct rcd_cost *c, struct rcd_thread *t)
{
    charge_load(c->env, t->block, WORD);
    charge_step(c->env, STEP_REGION_END);
    charge_store(c->env, t->block, WORD);
}

static void reset_epoch(struct rcd_cost *c, uint32_t clock, uint32_t actor)
{
    charge_step(c->env, STEP_NONE);
    if (!clock)
        return;
    load_clock(c, actor);
    charge_step(c->env, STEP_RESET);
}

/* A map at a full collection: it is marked, and each of its clocks is renewed. */
static void reset_map(struct rcd_cost *c, const struct overflow *m)
{
    const uint32_t slots = slots_for(m->n);

    charge_step(c->env, STEP_MAP_FIND);
    charge_load(c->env, m->block, RCD_SLOT_BYTES);
    charge_step(c->env, STEP_MARK);
    charge_store(c->env, m->block, RCD_SLOT_BYTES);
    for (uint32_t slot = 0; slot < slots; slot++)
        charge_load(c->env, paddr_plus(m->block, (uint64_t)slot * RCD_SLOT_BYTES), RCD_SLOT_BYTES);
    charge_steps(c->env, STEP_MAP_SLOT, slots);
    for (uint32_t i = 0; i < m->n; i++) {
        reset_epoch(c, m->at[i].clock, m->at[i].actor);
        if (m->at[i].clock)
            charge_store(c->env, slot_of(m, m->at[i].actor), RCD_SLOT_BYTES);
    }
}

void rcd_charge_reset(struct rcd_cost *c, const struct rcd_variable *x, sim_addr addr)
{
    const struct paddr at = metadata_at(c->cost, addr);

    charge_load(c->env, at, RCD_VARIABLE_BYTES);
    reset_epoch(c, x->clock[WRITES], x->actor[WRITES]);
    charge_step(c->env, STEP_TRACE);
    if (map_of(x))
        reset_map(c, map_of(x));
    else if (c->readers)
        reset_epoch(c, x->clock[READS], x->actor[READS]);
    charge_store(c->env, at, RCD_VARIABLE_BYTES);
}

void rcd_charge_clocks(struct rcd_cost *c, uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++)
        if (c->thread[i].block.at) /* else there is no such thread yet */
            charge_store(c->env, c->thread[i].block, WORD);
}
