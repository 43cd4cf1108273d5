/* cost.c - what FastTrack costs in software: the layout and the locking of Valor 5.2 (two
 * 32-bit words an epoch, read maps, no synchronisation where metadata need not change), the rules
 * as published. Counted, not fitted: docs/policies/fasttrack.md. */
#include "policy/fasttrack/fasttrack.h"

#include <assert.h>

#define STEPS_DEF     "policy/fasttrack/steps.def"
#define STEPS_CHARGES ft_charges
#include "policy/cost/steps.h"

void ft_cost_init(struct ft_cost *c, const struct policy_env *env, struct cells *variables)
{
    *c = (struct ft_cost){
        .words = ft_words(env->layout), .env = env, .cost = env->cost, .variables = variables};
    const struct cell_charges charges = {.bytes = c->words.bytes,
                                         .clear_step = STEP_CLEAR_LINE,
                                         .copy_step = STEP_COPY_LINE,
                                         .clocks = true};

    cells_charge(variables, &charges);
    c->clocks = variables->clocks;
}

/* ---- the words of a variable ---------------------------------------------------------------- */

enum { WORD = 4, LINE = 64 };

static const struct metadata_steps reach_steps = {STEP_PLACE, STEP_SHADOW, STEP_SHADOW_NEW,
                                                  STEP_SHADOW_LINE};

static void swap_lock(struct ft_cost *c, struct paddr at)
{
    charge_step(c->env, STEP_LOCK);
    charge_access(c->env, paddr_plus(at, c->words.read), WORD, MEM_ATOMIC);
}

/* Begins every access: finds the variable's words and the thread's own epoch, and compares that
 * with one of the words. Returns where the words are. */
static struct paddr begin(struct ft_cost *c, const struct ft_variable *x, sim_addr addr,
                          unsigned word, sim_tid tid)
{
    const struct ft_words *w = &c->words;

    ledger_part(c->cost, PART_CHECK);
    if (!variable_used(x))
        cells_begin_use(c->variables);
    if (!c->cost->held)
        clock_cost_epoch(c->clocks, tid, c->env->core);
    if (!c->cost->held && !c->place.at)
        metadata_reach(c->cost, c->env->core, addr, &reach_steps);
    const struct paddr at = c->place.at ? c->place : metadata_at(c->cost, addr);
    if (c->calls)
        charge_step(c->env, STEP_SLOW);
    if (w->reference)
        charge_load(c->env, at, w->reference);
    if (c->lock == FT_LOCK_ALWAYS)
        swap_lock(c, at);
    charge_load(c->env, paddr_plus(at, word), w->epoch);
    charge_step(c->env, STEP_SAME);
    return at;
}

/* The check ends where metadata need not change. */
static struct paddr unchanged(struct ft_cost *c, struct paddr at)
{
    if (c->lock == FT_LOCK_ALWAYS)
        charge_store(c->env, paddr_plus(at, c->words.read), WORD);
    return (struct paddr){0};
}

/* Charges the begin of the slow path, which is not in line. */
static void slow_path(struct ft_cost *c)
{
    ledger_part(c->cost, PART_SLOW);
    charge_step(c->env, STEP_SLOW);
}

/* The variable, if that is not locked already, or never. */
static void lock(struct ft_cost *c, struct paddr at)
{
    if (c->lock == FT_LOCK_CHANGES)
        swap_lock(c, at);
}

static void ordered(struct ft_cost *c, uint32_t actor, sim_tid tid)
{
    charge_step(c->env, STEP_ORDERED);
    clock_cost_entry(c->clocks, tid, actor, c->env->core);
}

/* The last write, now that the variable is locked, against the thread's clock. */
static void check_write(struct ft_cost *c, const struct ft_variable *x, struct paddr at,
                        sim_tid tid)
{
    clock_cost_clock(c->clocks, tid, c->env->core);
    charge_step(c->env, STEP_CLOCK);
    charge_load(c->env, paddr_plus(at, c->words.write), c->words.epoch);
    charge_step(c->env, STEP_NONE);
    if (x->at[WRITES])
        ordered(c, epoch_thread(x->at[WRITES]), tid);
}

/* The last read, an epoch or none. */
static void check_read(struct ft_cost *c, const struct ft_variable *x, struct paddr at, sim_tid tid)
{
    charge_step(c->env, STEP_NONE);
    if (!x->at[READS] && !x->kept)
        return;
    if (c->words.epoch > WORD)
        charge_load(c->env, paddr_plus(at, c->words.read + WORD), WORD);
    ordered(c, x->at[READS] ? epoch_thread(x->at[READS]) : hb_actor(c->env->hb, x->tid[READS]),
            tid);
}

/* ---- read maps ------------------------------------------------------------------------------ */

static bool taken(const struct shared_reads *s, uint32_t n, uint32_t slot)
{
    for (uint32_t i = 0; i < n; i++)
        if (s->read[i].slot == slot)
            return true;
    return false;
}

static uint32_t home(const struct ft_past *p, uint32_t slots)
{
    return epoch_thread(p->at) & (slots - 1);
}

/* Gives read i a slot of the map, which is hashed by thread with linear probing: after reads 0 to
 * i - 1. */
static void settle(struct shared_reads *s, uint32_t i, uint32_t slots)
{
    uint32_t slot = home(&s->read[i], slots);

    while (taken(s, i, slot))
        slot = (slot + 1) & (slots - 1);
    s->read[i].slot = (uint16_t)slot;
}

static void store_slot(struct ft_cost *c, const struct shared_reads *s, uint32_t i)
{
    charge_store(c->env, paddr_plus(s->map, (uint64_t)s->read[i].slot * READ_MAP_SLOT),
                 READ_MAP_SLOT);
}

static void make_block(struct ft_cost *c, struct shared_reads *s, uint32_t slots)
{
    const uint64_t bytes = (uint64_t)slots * READ_MAP_SLOT;

    c->new_words = true;
    s->map = cells_take(c->variables, bytes);
    charge_steps(c->env, STEP_MAP_ZERO, bytes / LINE);
    charge_store(c->env, s->map, bytes);
}

void ft_map_new(struct ft_cost *c, struct shared_reads *s)
{
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    make_block(c, s, read_map_slots(s->n));
    for (uint32_t i = 0; c->cost->on && i < s->n; i++) {
        settle(s, i, read_map_slots(s->n));
        charge_step(c->env, STEP_MAP_FIND);
        store_slot(c, s, i);
    }
    charge_step(c->env, STEP_MAP_NEW);
    ledger_part(c->cost, was);
}

/* A copied map goes into a block of its own, slot by slot as it is. */
void ft_map_copy(struct ft_cost *c, const struct shared_reads *from, struct shared_reads *s)
{
    charge_load(c->env, from->map, (uint64_t)read_map_slots(from->n) * READ_MAP_SLOT);
    make_block(c, s, read_map_slots(s->n));
    charge_step(c->env, STEP_MAP_NEW);
}

/* A map that is full moves to a block of twice its slots. */
static void move_map(struct ft_cost *c, struct shared_reads *s, uint32_t was, uint32_t slots)
{
    const struct paddr old = s->map;

    make_block(c, s, slots);
    for (uint32_t i = 0; c->cost->on && i + 1 < s->n; i++) {
        charge_load(c->env, paddr_plus(old, (uint64_t)s->read[i].slot * READ_MAP_SLOT),
                    READ_MAP_SLOT);
        settle(s, i, slots);
        charge_step(c->env, STEP_MAP_MOVE);
        store_slot(c, s, i);
    }
    charge_step(c->env, STEP_MAP_NEW);
    cells_give(c->variables, old, (uint64_t)was * READ_MAP_SLOT);
}

void ft_map_add(struct ft_cost *c, struct shared_reads *s)
{
    const uint32_t was = read_map_slots(s->n - 1), slots = read_map_slots(s->n);
    const enum cost_part part = ledger_part(c->cost, PART_MAPS);

    if (slots > was)
        move_map(c, s, was, slots);
    if (c->cost->on) {
        settle(s, s->n - 1, slots);
        store_slot(c, s, s->n - 1);
    }
    ledger_part(c->cost, part);
}

void ft_map_change(struct ft_cost *c, struct shared_reads *s, uint32_t i, const struct ft_past *now)
{
    const uint16_t slot = s->read[i].slot;
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    if (s->read[i].at != now->at)
        store_slot(c, s, i);
    ledger_part(c->cost, was);
    s->read[i] = *now;
    s->read[i].slot = slot;
}

void ft_map_drop(struct ft_cost *c, struct shared_reads *s)
{
    cells_give(c->variables, s->map, (uint64_t)read_map_slots(s->n) * READ_MAP_SLOT);
    s->map = (struct paddr){0};
}

/* Looks for the thread's read, without a lock. True: it is there, of this epoch. */
static bool read_find(struct ft_cost *c, const struct shared_reads *s, const struct ft_past *now)
{
    const uint32_t slots = read_map_slots(s->n), first = home(now, slots);
    const struct ft_past *own = NULL;
    uint32_t slot = first;

    for (uint32_t i = 0; i < s->n && !own; i++)
        if (epoch_thread(s->read[i].at) == epoch_thread(now->at) &&
            s->read[i].atomic == now->atomic)
            own = &s->read[i];
    const enum cost_part part = ledger_part(c->cost, PART_MAPS);
    charge_step(c->env, STEP_MAP_FIND);
    for (uint32_t looked = 0; looked < slots; looked++, slot = (slot + 1) & (slots - 1)) {
        charge_load(c->env, paddr_plus(s->map, (uint64_t)slot * READ_MAP_SLOT), READ_MAP_SLOT);
        charge_step(c->env, STEP_MAP_PROBE);
        if (own ? own->slot == slot : !taken(s, s->n, slot))
            break;
    }
    ledger_part(c->cost, part);
    return own && own->at == now->at;
}

/* Each read in it against the thread's clock. */
static void check_map(struct ft_cost *c, const struct shared_reads *s, sim_tid tid)
{
    const uint32_t slots = read_map_slots(s->n);
    const enum cost_part was = ledger_part(c->cost, PART_MAPS);

    charge_step(c->env, STEP_MAP_FIND);
    for (uint32_t slot = 0; slot < slots; slot++) {
        charge_load(c->env, paddr_plus(s->map, (uint64_t)slot * READ_MAP_SLOT), READ_MAP_SLOT);
        charge_step(c->env, STEP_MAP_SLOT);
        for (uint32_t i = 0; i < s->n; i++)
            if (s->read[i].slot == slot)
                ordered(c, epoch_thread(s->read[i].at), tid);
    }
    ledger_part(c->cost, was);
}

/* ---- static fields
 * ------------------------------------------------------------------------------- */

/* Charges the check of a class's initialisation as fib makes it
 * (rvm/src/org/jikesrvm/dr/DrRuntime.java, observeClassInit): a bitmap of each thread, with a bit
 * for each class. */
void ft_charge_static(struct ft_cost *c, sim_tid tid)
{
    if (!c->statics)
        return;
    ledger_part(c->cost, PART_CHECK);
    clock_cost_class_seen(c->clocks, tid, c->env->core);
    charge_step(c->env, STEP_SEEN);
}

/* ---- accesses ------------------------------------------------------------------------------- */

static bool same(const struct ft_variable *x, unsigned side, const struct ft_past *now)
{
    return x->at[side] == now->at && !(x->kind[side] & ATOMIC) == !now->atomic;
}

struct paddr ft_charge_read(struct ft_cost *c, struct ft_variable *x, sim_addr addr,
                            const struct ft_past *now)
{
    const struct paddr at = begin(c, x, addr, c->words.read, now->tid);

    c->cost->reads.all++;
    c->cost->reads.same++;
    if (same(x, READS, now) || (x->kept == KEPT_SAME && same(x, WRITES, now)))
        return unchanged(c, at);
    charge_step(c->env, STEP_IS_MAP);
    if (reads_shared(x) && read_find(c, x->shared, now))
        return unchanged(c, at);
    c->cost->reads.same--;
    slow_path(c);
    lock(c, at);
    check_write(c, x, at, now->tid);
    if (!reads_shared(x))
        check_read(c, x, at, now->tid);
    x->kept = KEPT_NONE;
    c->new_words = !reads_shared(x);
    return at;
}

void ft_charge_read_done(struct ft_cost *c, struct paddr at)
{
    if (c->new_words && c->words.epoch > WORD)
        charge_store(c->env, paddr_plus(at, c->words.read + WORD), WORD);
    charge_store(c->env, paddr_plus(at, c->words.read), WORD);
}

/* The read epoch that the published rules would have left after this write; see enum kept. */
static enum kept kept_after(const struct ft_variable *x, const struct ft_past *now)
{
    if (reads_shared(x))
        return KEPT_NONE;
    if (x->at[READS])
        return same(x, READS, now) ? KEPT_SAME : KEPT_OLDER;
    return x->kept && !same(x, WRITES, now) ? KEPT_OLDER : (enum kept)x->kept;
}

struct paddr ft_charge_write(struct ft_cost *c, struct ft_variable *x, sim_addr addr,
                             const struct ft_past *now)
{
    const struct paddr at = begin(c, x, addr, c->words.write, now->tid);
    const enum kept kept = kept_after(x, now);

    c->cost->writes.all++;
    if (same(x, WRITES, now)) {
        c->cost->writes.same++;
        x->kept = (uint8_t)kept;
        return unchanged(c, at);
    }
    slow_path(c);
    charge_load(c->env, paddr_plus(at, c->words.read), WORD);
    lock(c, at);
    check_write(c, x, at, now->tid);
    charge_step(c->env, STEP_IS_MAP);
    if (reads_shared(x))
        check_map(c, x->shared, now->tid);
    else
        check_read(c, x, at, now->tid);
    x->kept = (uint8_t)kept;
    return at;
}

void ft_charge_write_done(struct ft_cost *c, struct paddr at)
{
    charge_store(c->env, paddr_plus(at, c->words.write), c->words.epoch);
    charge_store(c->env, paddr_plus(at, c->words.read), WORD);
}

/* ---- collections ---------------------------------------------------------------------------- */

void ft_charge_trace(struct ft_cost *c, const struct ft_variable *x, sim_addr addr)
{
    const struct paddr at = c->place.at ? c->place : metadata_at(c->cost, addr);

    charge_load(c->env, paddr_plus(at, c->words.read), WORD);
    charge_step(c->env, STEP_TRACE);
    if (!reads_shared(x))
        return;
    ledger_needs(c->cost, c->env->core);
    charge_load(c->env, x->shared->map, READ_MAP_SLOT);
    charge_step(c->env, STEP_MARK);
    charge_store(c->env, x->shared->map, READ_MAP_SLOT);
}
