/* cost.c - the layout and the steps of a plain implementation of LARD's Appendix A in software.
 * Counted, not fitted: docs/policies/vc.md. */
#include "policy/vc/cost.h"

#include <assert.h>

#define STEPS_DEF     "policy/vc/steps.def"
#define STEPS_CHARGES vc_charges
#include "policy/cost/steps.h"

/* A location: the last write (32-bit thread and time), or with history = all the word of the vector
 * of writes; then the word of the vector of reads, which has the lock's bit. */
enum { WRITE_AT = 0, READS_AT = 8, WORD = 8, LOCATION_BYTES = 16 };
enum { ENTRY = 4, LINE_ENTRIES = 16, LINE = LINE_ENTRIES * ENTRY, LEAST = 4 };
enum { READS, WRITES, VECTORS };

struct vector { /* of entries of 4 bytes */
    struct paddr at;
    uint32_t room; /* 0: none */
};
struct laid_out { /* a location; write is 0 and no vector has room: none */
    struct vector vector[VECTORS];
    epoch write;
    bool used;
};

/* ---- vectors -------------------------------------------------------------------------------- */

struct vc_charge { /* an access at a location */
    struct vc_cost *c;
    sim_tid tid;
    uint32_t actor;
};

static uint64_t vector_bytes(const struct vector *v)
{
    return (uint64_t)v->room * ENTRY;
}

static uint32_t entries_in_line(const struct vector *v, uint32_t first)
{
    return v->room - first < LINE_ENTRIES ? v->room - first : LINE_ENTRIES;
}

/* Each entry of a vector against the thread's clock, a line of 64 bytes at a time. */
static void check_vector(const struct vc_charge *k, const struct vector *v)
{
    charge_step(k->c->env, STEP_VECTOR);
    for (uint32_t first = 0; first < v->room; first += LINE_ENTRIES) {
        const uint32_t n = entries_in_line(v, first);
        charge_step(k->c->env, STEP_LINE);
        charge_load(k->c->env, paddr_plus(v->at, (uint64_t)first * ENTRY), (uint64_t)n * ENTRY);
        clock_cost_entries(k->c->clocks, k->tid, first, n, k->c->env->core);
        charge_steps(k->c->env, STEP_ENTRY, n);
    }
}

/* Stores zeros, a line of 64 bytes at a time. */
static void zero(const struct vc_charge *k, struct paddr at, uint64_t bytes)
{
    charge_steps(k->c->env, STEP_LINE, (bytes + LINE - 1) / LINE);
    charge_store(k->c->env, at, bytes);
}

static void copy(const struct vc_charge *k, struct paddr to, const struct vector *from)
{
    for (uint32_t first = 0; first < from->room; first += LINE_ENTRIES) {
        const uint64_t bytes = (uint64_t)entries_in_line(from, first) * ENTRY;
        charge_step(k->c->env, STEP_LINE);
        charge_load(k->c->env, paddr_plus(from->at, (uint64_t)first * ENTRY), bytes);
        charge_store(k->c->env, paddr_plus(to, (uint64_t)first * ENTRY), bytes);
    }
}

static void give(const struct vc_charge *k, struct vector *v)
{
    if (!v->room)
        return;
    cells_give(&k->c->locations, v->at, vector_bytes(v));
    *v = (struct vector){0};
}

/* A block for n entries, with those of another vector and zeros behind them. */
static struct vector make(const struct vc_charge *k, uint32_t n, const struct vector *with)
{
    struct vector v = {.room = LEAST};

    while (v.room < n)
        v.room *= 2;
    v.at = cells_take(&k->c->locations, vector_bytes(&v));
    copy(k, v.at, with);
    zero(k, paddr_plus(v.at, vector_bytes(with)), vector_bytes(&v) - vector_bytes(with));
    return v;
}

/* The thread's own entry of a vector becomes now; the vector grows if it has none. */
static void set_own(const struct vc_charge *k, struct vector *v)
{
    charge_step(k->c->env, STEP_OWN);
    if (k->actor >= v->room) {
        charge_step(k->c->env, STEP_GROW);
        const struct vector longer = make(k, k->actor + 1, v);
        give(k, v);
        *v = longer;
    }
    charge_store(k->c->env, paddr_plus(v->at, (uint64_t)k->actor * ENTRY), ENTRY);
}

/* ---- an access ------------------------------------------------------------------------------ */

/* The last write, or with history = all each thread's, against the thread's clock. */
static void check_write(const struct vc_charge *k, const struct laid_out *x, struct paddr at)
{
    charge_load(k->c->env, paddr_plus(at, WRITE_AT), WORD);
    if (k->c->all) {
        check_vector(k, &x->vector[WRITES]);
        return;
    }
    charge_step(k->c->env, STEP_NONE);
    if (!x->write)
        return;
    charge_step(k->c->env, STEP_ORDERED);
    clock_cost_entry(k->c->clocks, k->tid, epoch_thread(x->write), k->c->env->core);
}

static void record_write(const struct vc_charge *k, struct laid_out *x, struct paddr at)
{
    if (k->c->all) {
        set_own(k, &x->vector[WRITES]);
        charge_store(k->c->env, paddr_plus(at, WRITE_AT), WORD);
        return;
    }
    zero(k, x->vector[READS].at, vector_bytes(&x->vector[READS])); /* it forgets the reads */
    x->write = hb_epoch(k->c->env->hb, k->tid);
    charge_store(k->c->env, paddr_plus(at, WRITE_AT), WORD);
}

/* Done once for an access, whatever the number of its locations. */
static void begin(const struct vc_charge *k)
{
    charge_step(k->c->env, STEP_CALL);
    clock_cost_epoch(k->c->clocks, k->tid, k->c->env->core);
    clock_cost_clock(k->c->clocks, k->tid, k->c->env->core);
    charge_step(k->c->env, STEP_CLOCK);
    charge_step(k->c->env, STEP_PLACE);
}

void vc_charge_access(struct vc_cost *c, sim_addr location, const struct event *ev)
{
    const struct vc_charge k = {c, ev->tid, hb_actor(c->env->hb, ev->tid)};
    struct laid_out *x = cells_get(&c->locations, location);
    const struct paddr at = metadata_at(c->cost, location);

    if (!x->used)
        cells_begin_use(&c->locations);
    x->used = true;
    if (!c->cost->held)
        begin(&k);
    charge_load(c->env, paddr_plus(at, READS_AT), WORD);
    charge_step(c->env, STEP_LOCK);
    charge_access(c->env, paddr_plus(at, READS_AT), WORD, MEM_ATOMIC);
    check_write(&k, x, at);
    if (event_writes(ev)) {
        check_vector(&k, &x->vector[READS]);
        record_write(&k, x, at);
    } else {
        set_own(&k, &x->vector[READS]);
    }
    charge_store(c->env, paddr_plus(at, READS_AT), WORD); /* unlocks */
}

/* ---- clears and copies ---------------------------------------------------------------------- */

static void drop_location(void *self, void *cell)
{
    const struct vc_charge k = {.c = self};
    struct laid_out *x = cell;

    for (unsigned i = 0; i < VECTORS; i++)
        give(&k, &x->vector[i]);
}

/* The copy gets vectors of its own. */
static void own_vectors(void *self, void *cell)
{
    const struct vc_charge k = {.c = self};
    struct laid_out *x = cell;

    for (unsigned i = 0; i < VECTORS; i++)
        if (x->vector[i].room)
            x->vector[i] = make(&k, x->vector[i].room, &x->vector[i]);
}

void vc_cost_init(struct vc_cost *c, const struct policy_env *env, bool all)
{
    static const struct cell_kind kind = {
        .bytes = sizeof(struct laid_out), .drop = drop_location, .own = own_vectors};
    static const struct cell_charges charges = {.bytes = LOCATION_BYTES,
                                                .clear_step = STEP_CLEAR_LINE,
                                                .copy_step = STEP_COPY_LINE,
                                                .clocks = true};

    *c = (struct vc_cost){.env = env, .cost = env->cost, .all = all};
    cells_init(&c->locations, &kind, env, c);
    cells_charge(&c->locations, &charges);
    c->clocks = (*env->cells)->clocks;
}
