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

static void step(struct valor *v, enum step s)
{
    ledger_step(v->cost, v->env->core, s);
}
static void load(struct valor *v, struct paddr at, uint64_t bytes)
{
    ledger_access(v->cost, v->env->core, at, bytes, MEM_LOAD);
}
static void store(struct valor *v, struct paddr at, uint64_t bytes)
{
    ledger_access(v->cost, v->env->core, at, bytes, MEM_STORE);
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
    ledger_steps(v->cost, v->env->core, STEP_ATOMIC, x->atomics ? x->atomics->n : 0);
}

/* Whether another's ongoing region has written it. */
static void check_word(struct valor *v, const struct valor_variable *x, uint32_t me)
{
    if (!v->epochs) {
        step(v, STEP_NONE);
        if (valor_holder(v, x) != VALOR_NOBODY)
            step(v, STEP_OWN);
        return;
    }
    step(v, STEP_OWN);
    if (!x->taking || x->writer == me)
        return;
    ledger_needs(v->cost, v->env->core);
    load(v, v->thread[x->writer].clock, CLOCK_BYTES);
    step(v, STEP_ONGOING);
}

/* Valor-E compares the epoch: the own clock, too, which it otherwise needs for the new one. */
static bool own_already(struct valor *v, const struct valor_variable *x,
                        const struct valor_access *now)
{
    step(v, STEP_OWN);
    if (v->epochs && !v->cost->held)
        load(v, v->thread[now->actor].clock, CLOCK_BYTES);
    if (v->epochs && x->taking && x->writer == now->actor)
        step(v, STEP_ONGOING);
    return valor_holder(v, x) == now->actor && !x->atomic;
}

/* The region's first write to a variable checks its word and swaps it for a new version. */
static void charge_write(struct valor *v, const struct valor_variable *x, struct paddr at,
                         const struct valor_access *now)
{
    const bool atomic = now->ev->flags & EVF_ORDER_MASK;

    v->cost->writes.all++;
    if (own_already(v, x, now) && !atomic) {
        v->cost->writes.same++;
        return;
    }
    ledger_part(v->cost, PART_SLOW);
    step(v, STEP_SLOW);
    check_word(v, x, now->actor);
    check_atomics(v, x);
    if (valor_holder(v, x) == now->actor)
        return;
    step(v, STEP_VERSION);
    step(v, STEP_SWAP);
    ledger_access(v->cost, v->env->core, at, valor_variable_bytes(v), MEM_ATOMIC);
}

void valor_charge_access(struct valor *v, const struct valor_variable *x,
                         const struct valor_access *now)
{
    static const struct metadata_steps reach = {STEP_PLACE, STEP_SHADOW, STEP_SHADOW_NEW,
                                                STEP_SHADOW_LINE};

    ledger_part(v->cost, PART_CHECK);
    if (!v->cost->held)
        metadata_reach(v->cost, v->env->core, now->addr, &reach);
    const struct paddr at = metadata_at(v->cost, now->addr);
    load(v, at, valor_variable_bytes(v));
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
        load(v, t->own, pointer(v));
    step(v, STEP_LOG);
    store(v, read_entry(v, t, t->reads), valor_log_bytes(v));
    if (!v->cost->held)
        store(v, t->own, pointer(v));
}

void valor_charge_write_set(struct valor *v, struct valor_thread *t)
{
    load(v, paddr_plus(t->own, pointer(v)), pointer(v));
    step(v, STEP_SET);
    store(v, write_entry(v, t, t->writes), valor_set_bytes(v));
    store(v, paddr_plus(t->own, pointer(v)), pointer(v));
}

/* ---- the ends of regions -------------------------------------------------------------------- */

/* Algorithm 5 or 8: each entry of the log against its variable's word. A full log is validated in
 * the middle of a region. */
void valor_charge_validation(struct valor *v, const struct valor_thread *t)
{
    const enum cost_part was = ledger_part(v->cost, PART_SYNC);

    for (uint32_t i = 0; i < t->reads; i++) {
        const struct logged *e = &t->read[i];
        load(v, read_entry(v, t, i), valor_log_bytes(v));
        ledger_needs(v->cost, v->env->core);
        if (e->x)
            load(v, metadata_at(v->cost, e->location), valor_variable_bytes(v));
        step(v, STEP_VALIDATE);
        if (e->x && e->x->version != e->version)
            step(v, STEP_CHANGED);
    }
    ledger_part(v->cost, was);
}

void valor_charge_release(struct valor *v, const struct valor_thread *t, uint32_t actor)
{
    for (uint32_t i = 0; i < t->writes; i++) {
        const struct written *e = &t->write[i];
        load(v, write_entry(v, t, i), valor_set_bytes(v));
        step(v, STEP_RELEASE);
        if (!e->x)
            continue;
        ledger_needs(v->cost, v->env->core);
        load(v, metadata_at(v->cost, e->location), valor_variable_bytes(v));
        if (valor_holder(v, e->x) == actor)
            store(v, metadata_at(v->cost, e->location), valor_variable_bytes(v));
    }
}

void valor_charge_region_end(struct valor *v, const struct valor_thread *t)
{
    load(v, t->own, pointer(v) * (v->epochs ? 1 : 2));
    step(v, STEP_REGION_END);
    if (t->reads || t->writes)
        store(v, t->own, pointer(v) * (v->epochs ? 1 : 2));
    if (!v->epochs)
        return;
    load(v, t->clock, CLOCK_BYTES);
    step(v, STEP_CLOCK);
    store(v, t->clock, CLOCK_BYTES);
}

/* ---- the heap ------------------------------------------------------------------------------- */

void valor_charge_trace(struct valor *v, const struct valor_thread *t)
{
    for (uint32_t i = 0; i < t->reads; i++) {
        load(v, read_entry(v, t, i), valor_log_bytes(v));
        store(v, read_entry(v, t, i), valor_log_bytes(v));
    }
    for (uint32_t i = 0; i < t->writes; i++) {
        load(v, write_entry(v, t, i), valor_set_bytes(v));
        store(v, write_entry(v, t, i), valor_set_bytes(v));
    }
    ledger_steps(v->cost, v->env->core, STEP_TRACE, (uint64_t)t->reads + t->writes);
}
