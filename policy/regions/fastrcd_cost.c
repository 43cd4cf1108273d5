/* fastrcd_cost.c - what FastRCD costs in software: one 32-bit word an epoch, read maps, a lock on a
 * metadata word where metadata must change and none where not (Valor 5.2). Counted, not fitted:
 * docs/policies/fastrcd.md. */
#include "policy/regions/fastrcd.h"

#define STEPS_DEF     "policy/regions/fastrcd_steps.def"
#define STEPS_CHARGES rcd_charges
#include "policy/cost/steps.h"

enum { WRITE_AT = 0, READ_AT = 4, WORD = 4 };

void rcd_cost_init(struct fastrcd *f)
{
    static const struct cell_charges charges = {.bytes = RCD_VARIABLE_BYTES,
                                                .clear_step = STEP_LINE,
                                                .copy_step = STEP_LINE,
                                                .always = true};

    cells_charge(&f->variables, &charges);
}

/* ---- checks --------------------------------------------------------------------------------- */

static void load_clock(struct fastrcd *f, uint32_t actor)
{
    charge_load(f->env, f->thread[actor].block, WORD);
}

static const struct metadata_steps reach_steps = {STEP_PLACE, STEP_SHADOW, STEP_SHADOW_NEW,
                                                  STEP_SHADOW_LINE};

/* Begins every access: loads the own epoch and one of the variable's words, and compares them.
 * Returns where the words are. */
static struct paddr begin(struct fastrcd *f, sim_addr addr, unsigned word, uint32_t me)
{
    ledger_part(f->env->cost, PART_CHECK);
    if (!f->env->cost->held) {
        load_clock(f, me);
        metadata_reach(f->env->cost, f->env->core, addr, &reach_steps);
    }
    const struct paddr at = metadata_at(f->env->cost, addr);
    charge_load(f->env, paddr_plus(at, word), WORD);
    charge_step(f->env, STEP_SAME);
    return at;
}

/* Charges the begin of the slow path, which is not in line. */
static void slow_path(struct fastrcd *f)
{
    ledger_part(f->env->cost, PART_SLOW);
    charge_step(f->env, STEP_SLOW);
}

/* The word that is the lock: without readers there is but one to choose from. */
static unsigned lock_word(const struct fastrcd *f)
{
    return f->params.readers ? READ_AT : WRITE_AT;
}

static void lock(struct fastrcd *f, struct paddr at)
{
    charge_step(f->env, STEP_LOCK);
    charge_access(f->env, paddr_plus(at, lock_word(f)), WORD, MEM_ATOMIC);
}

/* An epoch against its thread's clock: none, the own thread's, or another's, whose clock is loaded.
 */
static void check_epoch(struct fastrcd *f, uint32_t clock, uint32_t actor, uint32_t me)
{
    charge_step(f->env, STEP_NONE);
    if (!clock)
        return;
    charge_step(f->env, STEP_OWN);
    if (actor == me)
        return;
    ledger_needs(f->env->cost, f->env->core);
    load_clock(f, actor);
    charge_step(f->env, STEP_ONGOING);
}

static void check_atomics(struct fastrcd *f, const struct rcd_variable *x)
{
    const struct atomics *a = atomics_of(x);

    charge_steps(f->env, STEP_ATOMIC, a ? a->n : 0);
}

/* ---- read maps ------------------------------------------------------------------------------ */

/* Threads are numbered from 0, so that two seldom have one slot: that they do costs nothing. */
static struct paddr slot_of(const struct overflow *m, uint32_t actor)
{
    return paddr_plus(m->block, (uint64_t)(actor & (read_map_slots(m->n) - 1)) * READ_MAP_SLOT);
}

static void make_block(struct fastrcd *f, struct overflow *m, uint32_t slots)
{
    const uint64_t bytes = (uint64_t)slots * READ_MAP_SLOT;

    m->block = cells_take(&f->variables, bytes);
    charge_store(f->env, m->block, bytes);
    charge_step(f->env, STEP_MAP_NEW);
}

void rcd_map_new(struct fastrcd *f, struct overflow *m)
{
    const enum cost_part was = ledger_part(f->env->cost, PART_MAPS);

    make_block(f, m, read_map_slots(m->n));
    for (uint32_t i = 0; f->env->cost->on && i < m->n; i++) {
        charge_step(f->env, STEP_MAP_FIND);
        charge_store(f->env, slot_of(m, m->at[i].actor), READ_MAP_SLOT);
    }
    ledger_part(f->env->cost, was);
}

/* A copied map goes into a block of its own, slot by slot as it is. */
void rcd_map_copy(struct fastrcd *f, const struct overflow *from, struct overflow *m)
{
    charge_load(f->env, from->block, (uint64_t)read_map_slots(from->n) * READ_MAP_SLOT);
    make_block(f, m, read_map_slots(m->n));
}

void rcd_map_add(struct fastrcd *f, struct overflow *m)
{
    const uint32_t was = read_map_slots(m->n), slots = read_map_slots(m->n + 1);
    const struct paddr old = m->block;

    if (slots == was)
        return;
    const enum cost_part part = ledger_part(f->env->cost, PART_MAPS);
    make_block(f, m, slots);
    for (uint32_t i = 0; f->env->cost->on && i < m->n; i++) {
        charge_load(f->env, paddr_plus(old, (uint64_t)i * READ_MAP_SLOT), READ_MAP_SLOT);
        charge_step(f->env, STEP_MAP_MOVE);
        charge_store(f->env,
                     paddr_plus(m->block, (uint64_t)(m->at[i].actor & (slots - 1)) * READ_MAP_SLOT),
                     READ_MAP_SLOT);
    }
    cells_give(&f->variables, old, (uint64_t)was * READ_MAP_SLOT);
    ledger_part(f->env->cost, part);
}

void rcd_map_drop(struct fastrcd *f, struct overflow *m)
{
    cells_give(&f->variables, m->block, (uint64_t)read_map_slots(m->n) * READ_MAP_SLOT);
}

static void check_map(struct fastrcd *f, const struct overflow *m, uint32_t me)
{
    const uint32_t slots = read_map_slots(m->n);
    const enum cost_part was = ledger_part(f->env->cost, PART_MAPS);

    charge_step(f->env, STEP_MAP_FIND);
    for (uint32_t slot = 0; slot < slots; slot++)
        charge_load(f->env, paddr_plus(m->block, (uint64_t)slot * READ_MAP_SLOT), READ_MAP_SLOT);
    charge_steps(f->env, STEP_MAP_SLOT, slots);
    for (uint32_t i = 0; i < m->n; i++)
        check_epoch(f, m->at[i].clock, m->at[i].actor, me);
    ledger_part(f->env->cost, was);
}

static void check_reads(struct fastrcd *f, const struct rcd_variable *x, uint32_t me)
{
    charge_step(f->env, STEP_IS_MAP);
    if (map_of(x))
        check_map(f, map_of(x), me);
    else
        check_epoch(f, x->clock[READS], x->actor[READS], me);
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* The own slot: a look, a store. */
static void probe_map(struct fastrcd *f, const struct overflow *map, uint32_t me)
{
    const enum cost_part was = ledger_part(f->env->cost, PART_MAPS);

    charge_step(f->env, STEP_MAP_FIND);
    charge_load(f->env, slot_of(map, me), READ_MAP_SLOT);
    charge_step(f->env, STEP_MAP_PROBE);
    ledger_part(f->env->cost, was);
}
static void store_slot(struct fastrcd *f, const struct overflow *map, uint32_t me)
{
    const enum cost_part was = ledger_part(f->env->cost, PART_MAPS);

    charge_store(f->env, slot_of(map, me), READ_MAP_SLOT);
    ledger_part(f->env->cost, was);
}

static bool own_region(const struct fastrcd *f, const struct rcd_variable *x, unsigned side,
                       uint32_t me)
{
    return x->clock[side] == f->clock[me] && x->actor[side] == me;
}

/* Charges the check of a read that finds no readers: a look at the last write, which changes
 * nothing. */
static void check_read(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    begin(f, addr, WRITE_AT, me);
    f->env->cost->reads.all++;
    f->env->cost->reads.same++;
    if (!own_region(f, x, WRITES, me))
        check_epoch(f, x->clock[WRITES], x->actor[WRITES], me);
    check_atomics(f, x);
}

/* The read word is the lock; what is stored there gives it up. */
static void track_read(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    const uint32_t clock = f->clock[me];
    struct overflow *map = map_of(x);
    const struct reader *r = map ? find_reader(map, me) : NULL;
    const struct paddr at = begin(f, addr, READ_AT, me);

    f->env->cost->reads.all++;
    f->env->cost->reads.same++;
    if (!map && own_region(f, x, READS, me))
        return;
    charge_step(f->env, STEP_IS_MAP);
    if (map) {
        probe_map(f, map, me);
        if (r && r->clock == clock)
            return;
    }
    f->env->cost->reads.same--;
    slow_path(f);
    lock(f, at);
    charge_load(f->env, paddr_plus(at, WRITE_AT), WORD);
    check_epoch(f, x->clock[WRITES], x->actor[WRITES], me);
    check_atomics(f, x);
    if (map)
        store_slot(f, map, me);
    else
        check_epoch(f, x->clock[READS], x->actor[READS], me);
    charge_store(f->env, paddr_plus(at, READ_AT), WORD);
}

void rcd_charge_read(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    (f->params.readers ? track_read : check_read)(f, x, addr, me);
}

/* Locks the variable after a look at its write word alone: the read word, which is the lock, then
 * the write word again, which may have changed in between. Where that is the lock, the compare and
 * swap says what it is. */
static void lock_to_write(struct fastrcd *f, const struct rcd_variable *x, struct paddr at,
                          uint32_t me)
{
    slow_path(f);
    if (f->params.readers)
        charge_load(f->env, paddr_plus(at, READ_AT), WORD);
    lock(f, at);
    if (f->params.readers)
        charge_load(f->env, paddr_plus(at, WRITE_AT), WORD);
    check_epoch(f, x->clock[WRITES], x->actor[WRITES], me);
}

void rcd_charge_write(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me)
{
    const struct paddr at = begin(f, addr, WRITE_AT, me);

    f->env->cost->writes.all++;
    if (own_region(f, x, WRITES, me)) {
        f->env->cost->writes.same++;
        return;
    }
    lock_to_write(f, x, at, me);
    if (f->params.readers)
        check_reads(f, x, me);
    check_atomics(f, x);
    charge_store(f->env, paddr_plus(at, WRITE_AT), WORD);
    if (f->params.readers)
        charge_store(f->env, paddr_plus(at, READ_AT), WORD);
}

void rcd_charge_atomic(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr, uint32_t me,
                       bool write)
{
    const struct paddr at = begin(f, addr, WRITE_AT, me);

    lock_to_write(f, x, at, me);
    if (write && f->params.readers)
        check_reads(f, x, me);
    check_atomics(f, x);
    charge_store(f->env, paddr_plus(at, lock_word(f)), WORD);
}

/* ---- the rest ------------------------------------------------------------------------------- */

void rcd_charge_region_end(struct fastrcd *f, struct rcd_thread *t)
{
    charge_load(f->env, t->block, WORD);
    charge_step(f->env, STEP_REGION_END);
    charge_store(f->env, t->block, WORD);
}

static void reset_epoch(struct fastrcd *f, uint32_t clock, uint32_t actor)
{
    charge_step(f->env, STEP_NONE);
    if (!clock)
        return;
    load_clock(f, actor);
    charge_step(f->env, STEP_RESET);
}

/* A map at a full collection: it is marked, and each of its clocks is renewed. */
static void reset_map(struct fastrcd *f, const struct overflow *m)
{
    const uint32_t slots = read_map_slots(m->n);

    charge_step(f->env, STEP_MAP_FIND);
    charge_load(f->env, m->block, READ_MAP_SLOT);
    charge_step(f->env, STEP_MARK);
    charge_store(f->env, m->block, READ_MAP_SLOT);
    for (uint32_t slot = 0; slot < slots; slot++)
        charge_load(f->env, paddr_plus(m->block, (uint64_t)slot * READ_MAP_SLOT), READ_MAP_SLOT);
    charge_steps(f->env, STEP_MAP_SLOT, slots);
    for (uint32_t i = 0; i < m->n; i++) {
        reset_epoch(f, m->at[i].clock, m->at[i].actor);
        if (m->at[i].clock)
            charge_store(f->env, slot_of(m, m->at[i].actor), READ_MAP_SLOT);
    }
}

void rcd_charge_reset(struct fastrcd *f, const struct rcd_variable *x, sim_addr addr)
{
    const struct paddr at = metadata_at(f->env->cost, addr);

    charge_load(f->env, at, RCD_VARIABLE_BYTES);
    reset_epoch(f, x->clock[WRITES], x->actor[WRITES]);
    charge_step(f->env, STEP_TRACE);
    if (map_of(x))
        reset_map(f, map_of(x));
    else if (f->params.readers)
        reset_epoch(f, x->clock[READS], x->actor[READS]);
    charge_store(f->env, at, RCD_VARIABLE_BYTES);
}

void rcd_charge_clocks(struct fastrcd *f, uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++)
        if (f->thread[i].block.at) /* else there is no such thread yet */
            charge_store(f->env, f->thread[i].block, WORD);
}
