/* cost.c - what a software policy's steps and metadata accesses cost: gathered for each core, paid
 * in order. It knows no policy and no verdict. */
#include "policy/frame/cost.h"

#include <assert.h>
#include <stdlib.h>

#include "policy/frame/hb.h"
#include "runtime/runtime.h"

/* ---- state ---------------------------------------------------------------------------------- */

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
    uint64_t line;
    unsigned shadow, granule; /* bytes of a granule's metadata; log2 of its own */
    struct cost_core core[MAX_CORES];
    struct core_heap *heap; /* of each core; owns */
    sim_addr apart;         /* from the first policy's places */
    sim_addr top;           /* of all pages */
    const char **name;      /* of each step; owns */
    struct mem_counts counts;
};

enum { INSTANCES = 16 };                       /* that have addresses of their own */
enum { ADDRESS_BITS = 48, SHADOW_MOST = 512 }; /* their product fits between shadow and heap */

static void declare(const struct cost *c, struct stats_group *g)
{
    struct cost_work *w = c->work;

    if (c->steps)
        stats_vector(g, "steps", "count", "Steps of the policy's paths (docs/policies.md).",
                     c->count, c->steps, w->name);
    stats_count(g, "instructions", "count", "Instructions of the policy, accesses included.",
                &w->counts.instructions);
    stats_count(g, "loads", "count", "Loads of metadata.", &w->counts.access[MEM_LOAD]);
    stats_count(g, "stores", "count", "Stores to metadata.", &w->counts.access[MEM_STORE]);
    stats_count(g, "atomics", "count", "Atomic accesses to metadata.",
                &w->counts.access[MEM_ATOMIC]);
    stats_count(g, "bytes", "bytes", "What these accesses read or write.", &w->counts.bytes);
}

void cost_init(struct cost *c, const struct policy_env *env, const struct cost_step *step,
               unsigned steps, unsigned shadow)
{
    enum { FIELD = 4 };
    *c = (struct cost){.on = env->machine != NULL, .step = step, .steps = steps};
    if (!c->on)
        return;
    assert(shadow <= SHADOW_MOST);
    struct cost_work *w = c->work = xcalloc(1, sizeof *w);
    c->core = w->core;
    c->count = xcalloc(steps + 1, sizeof *c->count);
    w->env = env;
    w->line = env->machine->line;
    w->shadow = shadow;
    w->granule = (unsigned)__builtin_ctz(env->granule ? env->granule : FIELD);
    w->apart = env->instance % INSTANCES * COST_APART;
    w->top = COST_HEAP + w->apart;
    w->heap = xcalloc(MAX_CORES, sizeof *w->heap);
    w->name = xcalloc(steps + 1, sizeof *w->name);
    for (unsigned i = 0; i < steps; i++)
        w->name[i] = step[i].name;
    declare(c, stats_group(env->stats, "cost"));
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
    free(c->count);
    free(w->name);
    free(w);
    *c = (struct cost){0};
}

/* ---- gathering ------------------------------------------------------------------------------ */

static NO_INLINE void more_room(struct cost_work *w, struct cost_core *k)
{
    const size_t was = k->cap;

    k->due = xgrow(k->due, k->n, &k->cap, sizeof *k->due);
    budget_take(w->env->budget, (k->cap - was) * sizeof *k->due);
}

/* In one line, after so many instructions more; there is room. */
static inline void add_due(struct cost_core *k, sim_addr at, uint64_t bytes, enum mem_cmd cmd,
                           uint64_t instructions)
{
    k->due[k->n++] = (struct mem_step){.at = at,
                                       .instructions = k->instructions + instructions,
                                       .bytes = (uint16_t)bytes,
                                       .cmd = (uint8_t)cmd};
    k->instructions = 0;
}

enum { REGISTER = 64 };

static NO_INLINE void add_pieces(struct cost_work *w, unsigned core, sim_addr at, uint64_t bytes,
                                 enum mem_cmd cmd)
{
    struct cost_core *k = &w->core[core];

    for (uint64_t done = 0, n; done < bytes; done += n) {
        const uint64_t room = w->line - ((at + done) & (w->line - 1));
        n = bytes - done < room ? bytes - done : room;
        if (k->n == k->cap)
            more_room(w, k);
        add_due(k, at + done, n, cmd,
                (done + n + REGISTER - 1) / REGISTER - (done + REGISTER - 1) / REGISTER);
    }
}

void cost_add_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd)
{
    struct cost_work *w = c->work;
    struct cost_core *k = &w->core[core];

    assert(!k->paying);
    if (UNLIKELY(bytes > REGISTER || (at & (w->line - 1)) + bytes > w->line || k->n == k->cap))
        add_pieces(w, core, at, bytes, cmd);
    else
        add_due(k, at, bytes, cmd, 1);
}

/* ---- clears and copies ---------------------------------------------------------------------- */

void cost_sweep_end(struct cost *c, struct cost_sweep *s)
{
    if (s->bytes) {
        cost_step(c, s->core, s->step);
        if (!s->fill)
            cost_add_access(c, s->core, s->at, s->bytes, MEM_LOAD);
        cost_add_access(c, s->core, s->to ? s->to : s->at, s->bytes, MEM_STORE);
    }
    s->bytes = 0;
}

void cost_sweep(struct cost *c, struct cost_sweep *s, sim_addr at, sim_addr to, uint64_t bytes)
{
    const bool beside = at == s->at + s->bytes && at % REGISTER && (!to || to == s->to + s->bytes);

    if (!c->on)
        return;
    if (!s->bytes || !beside) {
        cost_sweep_end(c, s);
        s->at = at;
        s->to = to;
    }
    s->bytes += bytes;
}

/* ---- paying --------------------------------------------------------------------------------- */

static NO_INLINE sim_cycle run_very_many(struct cost_work *w, unsigned core, uint64_t n,
                                         sim_cycle now)
{
    enum { AT_ONCE = 1 << 30 };

    for (; n > AT_ONCE; n -= AT_ONCE)
        now = w->env->exec(w->env->host, core, AT_ONCE, now);
    return w->env->exec(w->env->host, core, (unsigned)n, now);
}

static inline sim_cycle run_instructions(struct cost_work *w, unsigned core, uint64_t n,
                                         sim_cycle now)
{
    w->counts.instructions += n;
    if (LIKELY(n <= UINT32_MAX))
        return n ? w->env->exec(w->env->host, core, (unsigned)n, now) : now;
    return run_very_many(w, core, n, now);
}

static inline sim_cycle make_access(struct cost_work *w, unsigned core, const struct mem_step *d,
                                    sim_cycle now)
{
    const enum mem_cmd cmd = (enum mem_cmd)d->cmd;

    w->counts.access[cmd]++;
    w->counts.bytes += d->bytes;
    const sim_cycle done = w->env->mem(w->env->host, core, d->at, d->bytes, cmd, now);
    assert(done >= now);
    return done;
}

/* For machines that know single accesses only. */
static NO_INLINE sim_cycle one_by_one(struct cost_work *w, unsigned core, struct cost_core *k,
                                      sim_cycle now)
{
    for (size_t i = 0; i < k->n; i++) {
        now = run_instructions(w, core, k->due[i].instructions, now);
        now = make_access(w, core, &k->due[i], now);
    }
    return now;
}

sim_cycle cost_pay_due(struct cost *c, unsigned core, sim_cycle now)
{
    struct cost_work *w = c->work;
    struct cost_core *k = &w->core[core];
    const struct policy_machine *m = w->env->machine;
    const struct mem_run run = {k->due, k->n, &w->counts};
    const uint64_t last = k->instructions;

    k->instructions = 0;
    k->paying = true;
    if (k->n)
        now = m->run ? m->run(w->env->host, core, &run, now) : one_by_one(w, core, k, now);
    now = run_instructions(w, core, last, now);
    k->n = 0;
    k->paying = false;
    return now;
}

/* ---- places --------------------------------------------------------------------------------- */

sim_addr cost_shadow(const struct cost *c, sim_addr location)
{
    if (!c->on)
        return 0;
    const struct cost_work *w = c->work;
    const struct policy_machine *m = w->env->machine;
    const sim_addr at = m->physical ? m->physical(w->env->host, location) : location;

    /* Addresses beyond 48 bits share metadata lines with others: only the caches notice. */
    return COST_SHADOW + w->apart +
           ((at & ((UINT64_C(1) << ADDRESS_BITS) - 1)) >> w->granule) * w->shadow;
}

/* The heap's own words: a line for its top; for each core the heads of its lists, and behind them
 * what is left of its page: the next block and the end. */
enum { HEAD = 8, CORE_WORDS = 512, LEFT_AT = CLASSES * HEAD, LEFT = 16, PAGE = 4096 };
_Static_assert(LEFT_AT + LEFT <= CORE_WORDS, "a core's words");
#define HEAP_WORDS (COST_HEAP - (UINT64_C(1) << 20))
#define HEAP_TOP   (HEAP_WORDS - 64)

static sim_addr words_of(const struct cost_work *w, unsigned core)
{
    return HEAP_WORDS + w->apart + (uint64_t)core * CORE_WORDS;
}

static unsigned class_of(uint64_t bytes)
{
    unsigned k = CLASS_MIN;

    while (k < CLASS_MIN + CLASSES && UINT64_C(1) << k < bytes)
        k++;
    assert(k < CLASS_MIN + CLASSES);
    return k - CLASS_MIN;
}

/* Instructions beside the accesses. A list is its first block, which holds the next: the list's
 * address; test, branch on none. Of a page: the block's end, compare, branch on the page's. A new
 * page: its end, and the block's. */
enum { LIST_INSTRUCTIONS = 3, FRESH_INSTRUCTIONS = 3, PAGE_INSTRUCTIONS = 2 };

static sim_addr fresh_block(struct cost *c, unsigned core, uint64_t bytes)
{
    struct cost_work *w = c->work;
    struct core_heap *h = &w->heap[core];
    const uint64_t unit = bytes < 64 ? bytes : 64;
    sim_addr at = (h->fresh + unit - 1) & ~(unit - 1);

    cost_add_access(c, core, words_of(w, core) + LEFT_AT, LEFT, MEM_LOAD);
    cost_add_instructions(c, core, FRESH_INSTRUCTIONS);
    if (at > h->end || h->end - at < bytes) {
        at = w->top;
        h->end = w->top += bytes > PAGE ? bytes : PAGE;
        cost_add_access(c, core, HEAP_TOP + w->apart, 8, MEM_ATOMIC);
        cost_add_instructions(c, core, PAGE_INSTRUCTIONS);
    }
    h->fresh = at + bytes;
    cost_add_access(c, core, words_of(w, core) + LEFT_AT, LEFT, MEM_STORE);
    return at;
}

sim_addr cost_take(struct cost *c, unsigned core, uint64_t bytes)
{
    if (!c->on)
        return 0;
    const unsigned k = class_of(bytes);
    struct blocks *b = &c->work->heap[core].free[k];
    const sim_addr head = words_of(c->work, core) + k * HEAD;

    cost_add_instructions(c, core, LIST_INSTRUCTIONS);
    cost_add_access(c, core, head, HEAD, MEM_LOAD);
    if (!b->n)
        return fresh_block(c, core, UINT64_C(1) << (k + CLASS_MIN));
    const sim_addr at = b->at[--b->n];
    cost_add_access(c, core, at, HEAD, MEM_LOAD);
    cost_add_access(c, core, head, HEAD, MEM_STORE);
    return at;
}

void cost_give(struct cost *c, unsigned core, sim_addr block, uint64_t bytes)
{
    if (!c->on)
        return;
    const unsigned k = class_of(bytes);
    struct blocks *b = &c->work->heap[core].free[k];
    const sim_addr head = words_of(c->work, core) + k * HEAD;
    const size_t was = b->cap;

    cost_add_instructions(c, core, LIST_INSTRUCTIONS - 2); /* there is nothing to test */
    cost_add_access(c, core, head, HEAD, MEM_LOAD);
    cost_add_access(c, core, block, HEAD, MEM_STORE);
    cost_add_access(c, core, head, HEAD, MEM_STORE);
    b->at = xgrow(b->at, b->n, &b->cap, sizeof *b->at);
    budget_take(c->work->env->budget, (b->cap - was) * sizeof *b->at);
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

struct clock_cost { /* made with a machine only */
    struct cost *cost;
    const struct policy_env *env;
    struct runtime *runtime;
    struct own_epoch { /* in the actor's words */
        sim_addr at;
        epoch shown; /* as it stands there */
    } * own;         /* owns; by actor */
    uint32_t actors;
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
    const struct runtime_params defaults = {.base = (UINT64_C(1) << 57) + c->work->apart,
                                            .page = 4096,
                                            .garbage = 1 << 20,
                                            .instructions = true};
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
    free(k->own);
    free(k);
}

void clock_cost_add_access(struct clock_cost *k, const struct event *ev, unsigned core)
{
    runtime_lower_access(k->runtime, ev, k->env->view & VIEW_ALL_SYNC, core,
                         hb_clock(k->env->hb, ev->tid), hb_actor(k->env->hb, ev->tid), 0);
}

void clock_cost_add_sync(struct clock_cost *k, const struct event *ev, unsigned core)
{
    runtime_lower(k->runtime, ev, core, hb_clock(k->env->hb, ev->tid),
                  hb_actor(k->env->hb, ev->tid), 0);
}

/* ---- what checks read of a thread ----------------------------------------------------------- */

enum { CLOCK_WORD = 0, EPOCH_WORD = 16, WORD = 8, ENTRY = 4 };

static NO_INLINE void more_actors(struct clock_cost *k, uint32_t actor)
{
    const uint32_t n = actor + 1 + actor / 2;

    k->own = xrealloc(k->own, n, sizeof *k->own);
    for (uint32_t i = k->actors; i < n; i++)
        k->own[i] = (struct own_epoch){.at = runtime_words(k->runtime, i) + EPOCH_WORD};
    budget_take(k->env->budget, (n - k->actors) * sizeof *k->own);
    k->actors = n;
}

void clock_cost_epoch(struct clock_cost *k, sim_tid tid, unsigned core)
{
    if (!k)
        return;
    const uint32_t actor = hb_actor(k->env->hb, tid);
    const epoch now = k->env->hb->actor[actor].now;

    if (UNLIKELY(actor >= k->actors))
        more_actors(k, actor);
    struct own_epoch *own = &k->own[actor];
    if (own->shown != now)
        cost_access(k->cost, core, own->at, WORD, MEM_STORE);
    own->shown = now;
    cost_access(k->cost, core, own->at, WORD, MEM_LOAD);
}

void clock_cost_clock(struct clock_cost *k, sim_tid tid, unsigned core)
{
    if (k)
        cost_access(k->cost, core,
                    runtime_words(k->runtime, hb_actor(k->env->hb, tid)) + CLOCK_WORD, WORD,
                    MEM_LOAD);
}

void clock_cost_entries(struct clock_cost *k, sim_tid tid, uint32_t first, uint32_t n,
                        unsigned core)
{
    if (!k)
        return;
    const struct hb *hb = k->env->hb;
    const sim_addr at = runtime_entry(k->runtime, hb_actor(hb, tid), first);
    uint32_t has = at != 0;

    while (has && has < n && runtime_entry(k->runtime, hb_actor(hb, tid), first + has))
        has++;
    cost_access(k->cost, core, at, (uint64_t)has * ENTRY, MEM_LOAD);
}

void clock_cost_entry(struct clock_cost *k, sim_tid tid, uint32_t of, unsigned core)
{
    clock_cost_entries(k, tid, of, 1, core);
}
