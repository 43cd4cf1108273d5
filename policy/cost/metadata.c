/* metadata.c - places of a software policy's metadata: fixed ones, and a heap of blocks with lists
 * for each core. */
#include "policy/cost/metadata.h"

#include "policy/cost/inline_heap.h"

#include <assert.h>
#include <stdlib.h>

enum { CLASS_MIN = 4, CLASSES = 40 }; /* blocks of 16 bytes, 32, ... */
struct blocks {                       /* of a size, given back */
    struct paddr *at;                 /* owns */
    size_t n, cap;
};
struct core_heap {
    struct blocks free[CLASSES];
    struct paddr fresh; /* what is left of a page, */
    sim_addr end;       /* and where that ends */
};
struct metadata {
    unsigned shadow, granule;    /* bytes of a granule's fixed place; log2 of its own */
    struct core_heap *heap;      /* of each core; owns */
    sim_addr apart;              /* from the first policy's places */
    sim_addr top;                /* of all pages */
    struct inline_heap *inlined; /* borrows; NULL: all have a fixed place */
    unsigned at;                 /* among all policies' of a granule, inline */
    struct map shadow_of;        /* an array's address to its shadow's block */
    struct map shadow_bytes;     /* the same to its bytes */
    struct budget *counted;      /* borrows */
};

enum { INSTANCES = 16 };                       /* that have addresses of their own */
enum { ADDRESS_BITS = 48, SHADOW_MOST = 512 }; /* their product fits between shadow and heap */

sim_addr metadata_apart(const struct policy_env *env)
{
    return env->instance % INSTANCES * METADATA_APART;
}

struct metadata *metadata_new(const struct policy_env *env, unsigned shadow)
{
    enum { FIELD = 4 };
    struct metadata *m = xcalloc(1, sizeof *m);

    assert(shadow <= SHADOW_MOST);
    m->shadow = shadow;
    m->granule = (unsigned)__builtin_ctz(env->granule ? env->granule : FIELD);
    m->apart = metadata_apart(env);
    m->top = METADATA_HEAP + m->apart;
    m->heap = xcalloc(MAX_CORES, sizeof *m->heap);
    map_init(&m->shadow_of, env->budget);
    map_init(&m->shadow_bytes, env->budget);
    m->inlined = env->inlined;
    return m;
}

void metadata_free(struct metadata *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < MAX_CORES; i++)
        for (unsigned k = 0; k < CLASSES; k++)
            free(m->heap[i].free[k].at);
    map_free(&m->shadow_of);
    map_free(&m->shadow_bytes);
    free(m->heap);
    free(m);
}

/* ---- places --------------------------------------------------------------------------------- */

/* The offset behind the header of the shadow, which is an array itself. */
static uint64_t shadow_header(const struct metadata *m)
{
    return (m->inlined->layout->array + 7u) & ~7u;
}

/* 0: none. */
static struct paddr inline_at(const struct metadata *m, sim_addr location)
{
    const struct inline_object *o = inline_heap_find(m->inlined, location);

    if (!o || location - o->base < o->first)
        return (struct paddr){0};
    if (!o->elements)
        return inline_heap_physical(m->inlined, inline_heap_field(m->inlined, o, location, m->at));
    const uint64_t *block = map_find(&m->shadow_of, o->base);
    if (!block)
        return (struct paddr){0};
    return paddr_of(*block + shadow_header(m) +
                    ((location - o->base - o->first) >> m->granule) * m->shadow);
}

struct paddr metadata_at(const struct ledger *c, sim_addr location)
{
    if (!c->on)
        return (struct paddr){0};
    const struct metadata *m = c->metadata;
    const struct paddr beside = UNLIKELY(c->inlined) ? inline_at(m, location) : (struct paddr){0};

    if (beside.at)
        return beside;
    const struct paddr at = machine_physical(c->env->machine, vaddr_of(location));

    /* Addresses beyond 48 bits share metadata lines with others: only the caches notice. */
    const uint64_t granule = paddr_within(at, UINT64_C(1) << ADDRESS_BITS) >> m->granule;
    return paddr_of(METADATA_FIXED + m->apart + granule * m->shadow);
}

/* The heap's own words: a line for its top; for each core the heads of its lists, and behind them
 * what is left of its page: the next block and the end. */
enum { HEAD = 8, CORE_WORDS = 512, LEFT_AT = CLASSES * HEAD, LEFT = 16, PAGE = 4096 };
_Static_assert(LEFT_AT + LEFT <= CORE_WORDS, "a core's words");
#define HEAP_WORDS (METADATA_HEAP - (UINT64_C(1) << 20))
#define HEAP_TOP   (HEAP_WORDS - 64)

static struct paddr words_of(const struct metadata *m, unsigned core)
{
    return paddr_of(HEAP_WORDS + m->apart + (uint64_t)core * CORE_WORDS);
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

static struct paddr fresh_block(struct ledger *c, unsigned core, uint64_t bytes)
{
    struct metadata *m = c->metadata;
    struct core_heap *h = &m->heap[core];
    const uint64_t unit = bytes < 64 ? bytes : 64;
    const struct paddr left = paddr_plus(words_of(m, core), LEFT_AT);
    struct paddr at = paddr_down(paddr_plus(h->fresh, unit - 1), unit);

    ledger_add_access(c, core, left, LEFT, MEM_LOAD);
    ledger_instructions(c, core, FRESH_INSTRUCTIONS);
    if (at.at > h->end || h->end - at.at < bytes) {
        at = paddr_of(m->top);
        h->end = m->top += bytes > PAGE ? bytes : PAGE;
        ledger_add_access(c, core, paddr_of(HEAP_TOP + m->apart), 8, MEM_ATOMIC);
        ledger_instructions(c, core, PAGE_INSTRUCTIONS);
    }
    h->fresh = paddr_plus(at, bytes);
    ledger_add_access(c, core, left, LEFT, MEM_STORE);
    return at;
}

struct paddr metadata_take(struct ledger *c, unsigned core, uint64_t bytes)
{
    if (!c->on)
        return (struct paddr){0};
    const unsigned k = class_of(bytes);
    struct blocks *b = &c->metadata->heap[core].free[k];
    const struct paddr head = paddr_plus(words_of(c->metadata, core), k * HEAD);

    ledger_instructions(c, core, LIST_INSTRUCTIONS);
    ledger_add_access(c, core, head, HEAD, MEM_LOAD);
    if (!b->n)
        return fresh_block(c, core, UINT64_C(1) << (k + CLASS_MIN));
    const struct paddr at = b->at[--b->n];
    ledger_needs(c, core);
    ledger_add_access(c, core, at, HEAD, MEM_LOAD);
    ledger_add_access(c, core, head, HEAD, MEM_STORE);
    return at;
}

void metadata_give(struct ledger *c, unsigned core, struct paddr block, uint64_t bytes)
{
    if (!c->on)
        return;
    const unsigned k = class_of(bytes);
    struct blocks *b = &c->metadata->heap[core].free[k];
    const struct paddr head = paddr_plus(words_of(c->metadata, core), k * HEAD);

    ledger_instructions(c, core, LIST_INSTRUCTIONS - 2); /* there is nothing to test */
    ledger_add_access(c, core, head, HEAD, MEM_LOAD);
    ledger_add_access(c, core, block, HEAD, MEM_STORE);
    ledger_add_access(c, core, head, HEAD, MEM_STORE);
    b->at = budget_grow(c->env->budget, b->at, b->n, &b->cap, sizeof *b->at);
    b->at[b->n++] = block;
}

/* ---- inline --------------------------------------------------------------------------------- */

/* The sweep takes a dead shadow with all that is dead; nobody pays for it alone. */
static void array_ended(void *arg, sim_addr base)
{
    struct metadata *m = arg;
    const uint64_t *block = map_find(&m->shadow_of, base);

    if (!block)
        return;
    const uint64_t bytes = *map_find(&m->shadow_bytes, base);
    struct blocks *b = &m->heap[0].free[class_of(bytes)];
    b->at = xgrow(b->at, b->n, &b->cap, sizeof *b->at);
    b->at[b->n++] = paddr_of(*block);
    budget_give(m->counted, bytes);
    map_remove(&m->shadow_of, base);
    map_remove(&m->shadow_bytes, base);
}

void metadata_count(struct ledger *c, struct budget *counted)
{
    struct metadata *m = c->metadata;
    struct inline_policy p = {
        .bytes = m->shadow, .counted = counted, .ended = array_ended, .arg = m};

    m->counted = counted;
    c->inlined = inline_heap_add(m->inlined, &p);
    if (!c->inlined)
        m->inlined = NULL; /* beyond the sixteenth they have places of their own */
    m->at = p.at;
}

static struct paddr shadow_new_block(struct ledger *c, unsigned core, sim_addr base, uint64_t bytes)
{
    struct metadata *m = c->metadata;
    const struct paddr block = metadata_take(c, core, bytes);

    *map_put(&m->shadow_of, base) = block.at;
    *map_put(&m->shadow_bytes, base) = bytes;
    budget_take(m->counted, bytes);
    return block;
}

void metadata_reach_inline(struct ledger *c, unsigned core, sim_addr location,
                           const struct metadata_steps *steps)
{
    struct metadata *m = c->metadata;
    const struct inline_object *o = inline_heap_find(m->inlined, location);

    if (!o || location - o->base < o->first) {
        ledger_step(c, core, steps->place);
        return;
    }
    if (!o->elements)
        return;
    const struct paddr word = inline_heap_physical(m->inlined, inline_heap_word(m->inlined, o));
    const unsigned bytes = m->inlined->layout->word;
    ledger_add_access(c, core, word, bytes, MEM_LOAD);
    ledger_step(c, core, steps->shadow);
    if (map_find(&m->shadow_of, o->base))
        return;
    const uint64_t size = shadow_header(m) + (o->elements * o->element >> m->granule) * m->shadow;
    const struct paddr block = shadow_new_block(c, core, o->base, size);
    ledger_step(c, core, steps->shadow_new);
    ledger_steps(c, core, steps->shadow_line, (size + LEDGER_REGISTER - 1) / LEDGER_REGISTER);
    ledger_add_access(c, core, block, size, MEM_STORE);
    ledger_add_access(c, core, word, bytes, MEM_ATOMIC);
}

bool metadata_move(struct ledger *c, unsigned core, sim_addr to, sim_addr from, unsigned step)
{
    struct metadata *m = c->metadata;

    if (!c->inlined)
        return false;
    const uint64_t *block = map_find(&m->shadow_of, from);
    const struct inline_object *o = inline_heap_find(m->inlined, to);
    if (!block || !o || o->base != to)
        return true;
    const struct paddr old = {*block};
    const uint64_t size = *map_find(&m->shadow_bytes, from);
    const struct paddr new = shadow_new_block(c, core, to, size);
    ledger_steps(c, core, step, (size + LEDGER_REGISTER - 1) / LEDGER_REGISTER);
    ledger_add_access(c, core, old, size, MEM_LOAD);
    ledger_add_access(c, core, new, size, MEM_STORE);
    return true;
}

/* ---- clears and copies ---------------------------------------------------------------------- */

void metadata_sweep_end(struct ledger *c, struct metadata_sweep *s)
{
    if (s->bytes) {
        ledger_step(c, s->core, s->step);
        if (!s->fill)
            ledger_add_access(c, s->core, s->at, s->bytes, MEM_LOAD);
        ledger_add_access(c, s->core, s->to.at ? s->to : s->at, s->bytes, MEM_STORE);
    }
    s->bytes = 0;
}

void metadata_sweep(struct ledger *c, struct metadata_sweep *s, struct paddr at, struct paddr to,
                    uint64_t bytes)
{
    const bool beside = paddr_same(at, paddr_plus(s->at, s->bytes)) && at.at % LEDGER_REGISTER &&
                        (!to.at || paddr_same(to, paddr_plus(s->to, s->bytes)));

    if (!c->on)
        return;
    if (!s->bytes || !beside) {
        metadata_sweep_end(c, s);
        s->at = at;
        s->to = to;
    }
    s->bytes += bytes;
}

/* ---- metadata ------------------------------------------------------------------------------- */

void metadata_declare(const struct budget *m, struct stats_group *g)
{
    g = stats_group(g, "metadata");
    stats_level(g, "live", "bytes", "Metadata as the policy lays it out on the machine.", &m->live);
    stats_level(g, "peak", "bytes", "The most of it at any time.", &m->peak);
}
