/* cost.c - what a software policy's steps and metadata accesses cost: gathered for each core, paid
 * in order. It knows no policy and no verdict. */
#include "policy/cost.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hb.h"
#include "runtime/runtime.h"

/* ---- state ---------------------------------------------------------------------------------- */

struct due { /* instructions, then an access */
    sim_addr at;
    uint32_t bytes, instructions;
    enum mem_cmd cmd;
};
struct core_work {
    struct due *due; /* owns */
    size_t n, cap;
    uint32_t instructions; /* since the last access */
    bool paying;
};
enum { CLASS_MIN = 4, CLASSES = 40 }; /* blocks of 16 bytes, 32, ... */
struct blocks {                       /* of a size, given back */
    sim_addr *at;                     /* owns */
    size_t n, cap;
};
struct core_heap {
    struct blocks free[CLASSES];
    sim_addr fresh, end; /* what is left of a page */
};
struct cost_work {
    const struct policy_env *env;
    const struct cost_step *step;
    unsigned steps, shadow;
    struct core_work core[MAX_CORES];
    struct core_heap *heap; /* of each core; owns */
    sim_addr top;           /* of all pages */
    uint64_t *count;        /* of each step; owns */
    const char **name;      /* of each step; owns */
    uint64_t instructions, loads, stores, atomics, bytes;
};

static void declare(struct cost_work *w, struct stats_group *g)
{
    stats_vector(g, "steps", "count", "Steps of the policy's paths (docs/policies/).", w->count,
                 w->steps, w->name);
    stats_count(g, "instructions", "count", "Instructions of the policy, accesses included.",
                &w->instructions);
    stats_count(g, "loads", "count", "Loads of metadata.", &w->loads);
    stats_count(g, "stores", "count", "Stores to metadata.", &w->stores);
    stats_count(g, "atomics", "count", "Atomic accesses to metadata.", &w->atomics);
    stats_count(g, "bytes", "bytes", "What these accesses read or write.", &w->bytes);
}

void cost_init(struct cost *c, const struct policy_env *env, const struct cost_step *step,
               unsigned steps, unsigned shadow)
{
    *c = (struct cost){.on = env->machine != NULL};
    if (!c->on)
        return;
    struct cost_work *w = c->work = xcalloc(1, sizeof *w);
    w->env = env;
    w->step = step;
    w->steps = steps;
    w->shadow = shadow;
    w->top = COST_HEAP;
    w->heap = xcalloc(MAX_CORES, sizeof *w->heap);
    w->count = xcalloc(steps, sizeof *w->count);
    w->name = xcalloc(steps, sizeof *w->name);
    for (unsigned i = 0; i < steps; i++)
        w->name[i] = step[i].name;
    declare(w, stats_group(env->stats, "cost"));
}

void cost_free(struct cost *c)
{
    struct cost_work *w = c->work;

    if (!w)
        return;
    for (unsigned i = 0; i < MAX_CORES; i++) {
        free(w->core[i].due);
        for (unsigned k = 0; k < CLASSES; k++)
            free(w->heap[i].free[k].at);
    }
    free(w->heap);
    free(w->count);
    free(w->name);
    free(w);
    *c = (struct cost){0};
}

/* ---- gathering ------------------------------------------------------------------------------ */

void cost_add_instructions(struct cost *c, unsigned core, uint64_t n)
{
    c->work->core[core].instructions += (uint32_t)n;
}

void cost_add_steps(struct cost *c, unsigned core, unsigned step, uint64_t times)
{
    assert(step < c->work->steps);
    c->work->count[step] += times;
    cost_add_instructions(c, core, times * c->work->step[step].instructions);
}

void cost_add_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd)
{
    struct core_work *k = &c->work->core[core];
    const uint64_t line = c->work->env->machine->line;

    assert(!k->paying);
    while (bytes) {
        const uint64_t room = line - (at & (line - 1)), n = bytes < room ? bytes : room;
        k->due = xgrow(k->due, k->n, &k->cap, sizeof *k->due);
        k->due[k->n++] = (struct due){
            .at = at, .bytes = (uint32_t)n, .instructions = k->instructions + 1, .cmd = cmd};
        k->instructions = 0;
        at += n;
        bytes -= n;
    }
}

/* ---- paying --------------------------------------------------------------------------------- */

static sim_cycle run_instructions(struct cost_work *w, unsigned core, uint32_t n, sim_cycle now)
{
    if (!n)
        return now;
    w->instructions += n;
    const sim_cycle done = w->env->exec(w->env->host, core, n, now);
    assert(done >= now);
    return done;
}

static sim_cycle make_access(struct cost_work *w, unsigned core, const struct due *d, sim_cycle now)
{
    w->loads += d->cmd == MEM_LOAD;
    w->stores += d->cmd == MEM_STORE;
    w->atomics += d->cmd == MEM_ATOMIC;
    w->bytes += d->bytes;
    const sim_cycle done = w->env->mem(w->env->host, core, d->at, d->bytes, d->cmd, now);
    assert(done >= now);
    return done;
}

sim_cycle cost_pay(struct cost *c, unsigned core, sim_cycle now)
{
    if (!c->on)
        return now;
    struct cost_work *w = c->work;
    struct core_work *k = &w->core[core];
    const uint32_t last = k->instructions;

    k->instructions = 0;
    k->paying = true;
    for (size_t i = 0; i < k->n; i++) {
        now = run_instructions(w, core, k->due[i].instructions, now);
        now = make_access(w, core, &k->due[i], now);
    }
    now = run_instructions(w, core, last, now);
    k->n = 0;
    k->paying = false;
    return now;
}

/* ---- places --------------------------------------------------------------------------------- */

sim_addr cost_shadow(const struct cost *c, sim_addr location)
{
    enum { FIELD = 4, ADDRESS_BITS = 48 };
    if (!c->on)
        return 0;
    const struct cost_work *w = c->work;
    const struct policy_machine *m = w->env->machine;
    const uint64_t granule = w->env->granule ? w->env->granule : FIELD;
    const sim_addr at = m->physical ? m->physical(w->env->host, location) : location;

    /* Addresses beyond 48 bits share metadata lines with others: only the caches notice. */
    return COST_SHADOW + (at & ((UINT64_C(1) << ADDRESS_BITS) - 1)) / granule * w->shadow;
}

/* The heap's lists: one line a core. */
static sim_addr list_of(const struct cost_work *w, unsigned core)
{
    return COST_HEAP - (UINT64_C(1) << 20) + (uint64_t)core * w->env->machine->line;
}

static unsigned class_of(uint64_t bytes)
{
    unsigned k = CLASS_MIN;

    while (UINT64_C(1) << k < bytes)
        k++;
    assert(k - CLASS_MIN < CLASSES);
    return k - CLASS_MIN;
}

static sim_addr fresh_block(struct cost_work *w, struct core_heap *h, uint64_t bytes)
{
    enum { PAGE = 4096 };

    if (h->end - h->fresh < bytes) {
        const uint64_t room = bytes > PAGE ? bytes : PAGE;
        h->fresh = w->top;
        h->end = w->top += room;
    }
    const sim_addr at = h->fresh;
    h->fresh += bytes;
    return at;
}

/* A list is its first block, which holds the next: address of the list, test, branch. */
enum { LIST_INSTRUCTIONS = 3 };

sim_addr cost_take(struct cost *c, unsigned core, uint64_t bytes)
{
    if (!c->on)
        return 0;
    struct cost_work *w = c->work;
    struct core_heap *h = &w->heap[core];
    const unsigned k = class_of(bytes);
    struct blocks *b = &h->free[k];

    cost_add_instructions(c, core, LIST_INSTRUCTIONS);
    cost_add_access(c, core, list_of(w, core), 8, MEM_LOAD);
    const sim_addr at = b->n ? b->at[--b->n] : fresh_block(w, h, UINT64_C(1) << (k + CLASS_MIN));
    cost_add_access(c, core, list_of(w, core), 8, MEM_STORE);
    return at;
}

void cost_give(struct cost *c, unsigned core, sim_addr block, uint64_t bytes)
{
    if (!c->on)
        return;
    struct cost_work *w = c->work;
    struct blocks *b = &w->heap[core].free[class_of(bytes)];

    cost_add_instructions(c, core, LIST_INSTRUCTIONS);
    cost_add_access(c, core, list_of(w, core), 8, MEM_LOAD);
    cost_add_access(c, core, block, 8, MEM_STORE);
    cost_add_access(c, core, list_of(w, core), 8, MEM_STORE);
    b->at = xgrow(b->at, b->n, &b->cap, sizeof *b->at);
    b->at[b->n++] = block;
}

/* ---- metadata ------------------------------------------------------------------------------- */

void metadata_declare(const struct budget *m, struct stats_group *g)
{
    g = stats_group(g, "metadata");
    stats_level(g, "live", "bytes", "Metadata as the policy lays it out on the machine.", &m->live);
    stats_level(g, "peak", "bytes", "The most of it at any time.", &m->peak);
}

/* ---- clocks in software --------------------------------------------------------------------- */

struct clock_cost {
    struct cost *cost;
    const struct policy_env *env;
    struct runtime *runtime; /* NULL: no machine */
};

static sim_cycle gather_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    struct clock_cost *k = host;

    cost_add_instructions(k->cost, core, instructions);
    return now;
}

/* The runtime counts an access's instruction itself. */
static sim_cycle gather_mem(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                            sim_cycle now)
{
    struct clock_cost *k = host;

    k->cost->work->core[core].instructions--;
    cost_add_access(k->cost, core, a, bytes, cmd);
    return now;
}

static sim_addr place(void *host, sim_addr virtual_addr)
{
    const struct policy_env *env = ((struct clock_cost *)host)->env;

    return env->machine->physical(env->host, virtual_addr);
}

struct clock_cost *clock_cost_new(struct cost *c, const struct policy_env *env)
{
    if (!c->on)
        return NULL;
    struct clock_cost *k = xcalloc(1, sizeof *k);
    const struct runtime_params defaults = {
        .base = UINT64_C(1) << 57, .page = 4096, .garbage = 1 << 20, .instructions = true};
    const struct runtime_env of = {
        .stats = stats_group(env->stats, "clocks"),
        .budget = env->budget,
        .host = k,
        .exec = gather_exec,
        .mem = gather_mem,
        .physical = env->machine->physical ? place : NULL,
    };

    k->cost = c;
    k->env = env;
    k->runtime = runtime_new(&defaults, &of);
    return k;
}

void clock_cost_free(struct clock_cost *k)
{
    if (!k)
        return;
    runtime_free(k->runtime);
    free(k);
}

static void lower(struct clock_cost *k, const struct event *ev, unsigned core)
{
    runtime_lower(k->runtime, ev, core, hb_clock(k->env->hb, ev->tid),
                  hb_actor(k->env->hb, ev->tid), 0);
}

void clock_cost_access(struct clock_cost *k, const struct event *ev, unsigned core)
{
    struct event heeded;

    if (!k || !(ev->flags & (EVF_IN_TXN | EVF_ORDER_MASK) || runtime_pending(k->runtime, ev->tid)))
        return;
    heeded = *ev;
    if (ev->flags & EVF_SYSTEM && !(k->env->view & VIEW_ALL_SYNC))
        heeded.flags &= (uint16_t)~EVF_ORDER_MASK;
    lower(k, &heeded, core);
}

void clock_cost_sync(struct clock_cost *k, const struct event *ev, unsigned core)
{
    if (k)
        lower(k, ev, core);
}
