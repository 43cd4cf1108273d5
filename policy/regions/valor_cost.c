/* valor_cost.c - what Valor costs in software: a word (Valor-E: two) a variable, compare and swap
 * at a region's first write to it, no change at a read, logs of a thread's own (Valor 5.3).
 * Counted, not fitted: docs/policies/valor.md. */
#include "policy/regions/valor.h"

#define STEPS_DEF     "policy/regions/valor_steps.def"
#define STEPS_CHARGES valor_charges
#include "policy/cost/steps.h"

/* A thread's own line has two pointers: where the log ends, where the write set ends. */
enum { CLOCK_BYTES = 4, LINE = 64 };

static unsigned pointer(const struct valor *v)
{
    return v->env->layout->word;
}

void valor_cost_init(struct valor *v)
{
    const struct cell_charges charges = {.bytes = valor_variable_bytes(v),
                                         .clear_step = STEP_LINE,
                                         .copy_step = STEP_LINE,
                                         .always = true};

    cells_charge(&v->variables, &charges);
}

void valor_cost_thread(struct valor *v, struct valor_thread *t)
{
    if (!v->cost->on || t->own.at)
        return;
    t->own = metadata_take(v->cost, v->env->core, LINE);
    t->read_log = metadata_take(v->cost, v->env->core, v->params.read_log * valor_log_bytes(v));
    if (v->epochs)
        t->clock = metadata_take(v->cost, v->env->core, LINE);
    else
        t->write_set =
            metadata_take(v->cost, v->env->core, v->params.write_set * valor_set_bytes(v));
}

/* Entries that copies have made beyond the limit stand where the log began. */
static struct paddr read_entry(const struct valor *v, const struct valor_thread *t, uint64_t i)
{
    return paddr_plus(t->read_log, i % v->params.read_log * valor_log_bytes(v));
}
static struct paddr write_entry(const struct valor *v, const struct valor_thread *t, uint64_t i)
{
    return paddr_plus(t->write_set, i % v->params.write_set * valor_set_bytes(v));
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void check_atomics(struct valor *v, const struct valor_variable *x)
{
    charge_steps(v->env, STEP_ATOMIC, x->atomics ? x->atomics->n : 0);
}

/* Whether another's ongoing region has written it. */
static void check_word(struct valor *v, const struct valor_variable *x, uint32_t me)
{
    if (!v->epochs) {
        charge_step(v->env, STEP_NONE);
        if (valor_holder(v, x) != VALOR_NOBODY)
            charge_step(v->env, STEP_OWN);
        return;
    }
    charge_step(v->env, STEP_OWN);
    if (!x->taking || x->writer == me)
        return;
    ledger_needs(v->cost, v->env->core);
    charge_load(v->env, v->thread[x->writer].clock, CLOCK_BYTES);
    charge_step(v->env, STEP_ONGOING);
}

/* Valor-E compares the epoch: the own clock, too, which it otherwise needs for the new one. */
static bool own_already(struct valor *v, const struct valor_variable *x,
                        const struct region_access *now)
{
    charge_step(v->env, STEP_OWN);
    if (v->epochs && !v->cost->held)
        charge_load(v->env, v->thread[now->actor].clock, CLOCK_BYTES);
    if (v->epochs && x->taking && x->writer == now->actor)
        charge_step(v->env, STEP_ONGOING);
    return valor_holder(v, x) == now->actor && !x->atomic;
}

/* The region's first write to a variable checks its word and swaps it for a new version. */
static void charge_write(struct valor *v, const struct valor_variable *x, struct paddr at,
                         const struct region_access *now)
{
    v->cost->writes.all++;
    if (own_already(v, x, now) && !(now->ev->flags & EVF_ORDER_MASK)) {
        v->cost->writes.same++;
        return;
    }
    ledger_part(v->cost, PART_SLOW);
    charge_step(v->env, STEP_SLOW);
    check_word(v, x, now->actor);
    check_atomics(v, x);
    if (valor_holder(v, x) == now->actor)
        return;
    charge_step(v->env, STEP_VERSION);
    charge_step(v->env, STEP_SWAP);
    charge_access(v->env, at, valor_variable_bytes(v), MEM_ATOMIC);
}

void valor_charge_access(struct valor *v, const struct valor_variable *x,
                         const struct region_access *now)
{
    static const struct metadata_steps reach = {STEP_PLACE, STEP_SHADOW, STEP_SHADOW_NEW,
                                                STEP_SHADOW_LINE};

    ledger_part(v->cost, PART_CHECK);
    if (!v->cost->held)
        metadata_reach(v->cost, v->env->core, now->addr, &reach);
    const struct paddr at = metadata_at(v->cost, now->addr);
    charge_load(v->env, at, valor_variable_bytes(v));
    if (event_writes(now->ev)) {
        charge_write(v, x, at, now);
        return;
    }
    v->cost->reads.all++;
    v->cost->reads.same++; /* by its design */
    check_word(v, x, now->actor);
    check_atomics(v, x);
}

void valor_charge_log(struct valor *v, struct valor_thread *t)
{
    if (!v->cost->held) /* where the log ends */
        charge_load(v->env, t->own, pointer(v));
    charge_step(v->env, STEP_LOG);
    charge_store(v->env, read_entry(v, t, t->reads), valor_log_bytes(v));
    if (!v->cost->held)
        charge_store(v->env, t->own, pointer(v));
}

void valor_charge_write_set(struct valor *v, struct valor_thread *t)
{
    charge_load(v->env, paddr_plus(t->own, pointer(v)), pointer(v));
    charge_step(v->env, STEP_SET);
    charge_store(v->env, write_entry(v, t, t->writes), valor_set_bytes(v));
    charge_store(v->env, paddr_plus(t->own, pointer(v)), pointer(v));
}

/* ---- the ends of regions -------------------------------------------------------------------- */

/* Algorithm 5 or 8: each entry of the log against its variable's word. A full log is validated in
 * the middle of a region. */
void valor_charge_validation(struct valor *v, const struct valor_thread *t)
{
    const enum cost_part was = ledger_part(v->cost, PART_SYNC);

    for (uint32_t i = 0; i < t->reads; i++) {
        const struct logged *e = &t->read[i];
        charge_load(v->env, read_entry(v, t, i), valor_log_bytes(v));
        ledger_needs(v->cost, v->env->core);
        if (e->x)
            charge_load(v->env, metadata_at(v->cost, e->location), valor_variable_bytes(v));
        charge_step(v->env, STEP_VALIDATE);
        if (e->x && e->x->version != e->version)
            charge_step(v->env, STEP_CHANGED);
    }
    ledger_part(v->cost, was);
}

void valor_charge_release(struct valor *v, const struct valor_thread *t, uint32_t actor)
{
    for (uint32_t i = 0; i < t->writes; i++) {
        const struct written *e = &t->write[i];
        charge_load(v->env, write_entry(v, t, i), valor_set_bytes(v));
        charge_step(v->env, STEP_RELEASE);
        if (!e->x)
            continue;
        ledger_needs(v->cost, v->env->core);
        charge_load(v->env, metadata_at(v->cost, e->location), valor_variable_bytes(v));
        if (valor_holder(v, e->x) == actor)
            charge_store(v->env, metadata_at(v->cost, e->location), valor_variable_bytes(v));
    }
}

void valor_charge_region_end(struct valor *v, const struct valor_thread *t)
{
    charge_load(v->env, t->own, pointer(v) * (v->epochs ? 1 : 2));
    charge_step(v->env, STEP_REGION_END);
    if (t->reads || t->writes)
        charge_store(v->env, t->own, pointer(v) * (v->epochs ? 1 : 2));
    if (!v->epochs)
        return;
    charge_load(v->env, t->clock, CLOCK_BYTES);
    charge_step(v->env, STEP_CLOCK);
    charge_store(v->env, t->clock, CLOCK_BYTES);
}

/* ---- the heap ------------------------------------------------------------------------------- */

void valor_charge_trace(struct valor *v, const struct valor_thread *t)
{
    for (uint32_t i = 0; i < t->reads; i++) {
        charge_load(v->env, read_entry(v, t, i), valor_log_bytes(v));
        charge_store(v->env, read_entry(v, t, i), valor_log_bytes(v));
    }
    for (uint32_t i = 0; i < t->writes; i++) {
        charge_load(v->env, write_entry(v, t, i), valor_set_bytes(v));
        charge_store(v->env, write_entry(v, t, i), valor_set_bytes(v));
    }
    charge_steps(v->env, STEP_TRACE, (uint64_t)t->reads + t->writes);
}
