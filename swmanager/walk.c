/* walk.c - what walking the manager's tables costs, and the allocator of simulated memory. The one
 * place that knows where things lie.
 *
 * The allocator is one of size classes, as in multi-threaded programs: each core has its own lists
 * of free blocks, and takes fresh ones from pages of its own; only the pages come from a word that
 * all cores share, by an atomic. Fresh memory is zero, as it was never used. */
#include "swmanager/swmanager_int.h"

#include <stdlib.h>
#include <string.h>

enum { FREE, VALUE }; /* the need of a step's next access for its address */
static const struct {
    uint8_t instructions;
    bool needs;
} steps[SWM_STEPS] = {
#define SWM_STEP(NAME, instructions, needs, text) {instructions, needs},
#include "swmanager/steps.def"
#undef SWM_STEP
};

/* ---- a walk --------------------------------------------------------------------------------- */

void swm_walk_begin(struct swm_walk *w, struct swmanager *s, unsigned core)
{
    ENSURE_SWM(core < MAX_CORES && s->core[core] && s->core[core]->inside, s,
               "core %u works on the tables outside of a handler", core);
    w->s = s;
    w->core = core;
    w->instructions = 0;
    w->after = false;
    w->n = 0;
    w->cap = ARRAY_SIZE(w->here);
    w->charge = w->here;
}

void swm_walk_step(struct swm_walk *w, enum swm_step step, uint64_t times)
{
    w->instructions += (uint32_t)(times * steps[step].instructions);
    w->after |= times && steps[step].needs;
}

static void add_charge(struct swm_walk *w, struct swm_charge c)
{
    if (w->n == w->cap) {
        struct swm_charge *was = w->charge == w->here ? NULL : w->charge;
        w->charge = xrealloc(was, w->cap * 2, sizeof *w->charge);
        if (!was)
            memcpy(w->charge, w->here, sizeof w->here);
        w->cap *= 2;
    }
    w->charge[w->n++] = c;
}

void swm_walk_access(struct swm_walk *w, sim_addr addr, uint64_t bytes, enum mem_cmd cmd)
{
    const uint64_t line = w->s->env.line;

    while (bytes) {
        const uint64_t n = u64_min(bytes, line - (addr & (line - 1)));
        add_charge(w, (struct swm_charge){.addr = addr,
                                          .bytes = (uint32_t)n,
                                          .instructions = w->instructions + 1,
                                          .cmd = cmd,
                                          .after = w->after});
        w->instructions = 0;
        w->after = false;
        addr += n;
        bytes -= n;
    }
}

static sim_cycle run_instructions(struct swm_walk *w, uint32_t n, sim_cycle now)
{
    const struct swm_env *env = &w->s->env;

    if (!n)
        return now;
    w->s->st.instructions += n;
    const sim_cycle done = env->exec(env->host, w->core, n, now);
    ENSURE_SWM(done >= now, w->s, "%u instructions of core %u from cycle %llu on end at %llu", n,
               w->core, (unsigned long long)now, (unsigned long long)done);
    return done;
}

static sim_cycle make_access(struct swm_walk *w, const struct swm_charge *c, sim_cycle now)
{
    const struct swm_env *env = &w->s->env;

    w->s->st.loads += c->cmd == MEM_LOAD;
    w->s->st.stores += c->cmd == MEM_STORE;
    w->s->st.atomics += c->cmd == MEM_ATOMIC;
    if (c->after && env->needs)
        env->needs(env->host);
    const sim_cycle done = env->mem(env->host, w->core, paddr_of(c->addr), c->bytes, c->cmd, now);
    ENSURE_SWM(done >= now, w->s,
               "an access of core %u to 0x%llx that begins at cycle %llu is done at %llu", w->core,
               (unsigned long long)c->addr, (unsigned long long)now, (unsigned long long)done);
    return done;
}

sim_cycle swm_walk_end(struct swm_walk *w, sim_cycle now)
{
    struct swm_core *c = w->s->core[w->core];

    /* A run may end in the middle of an access: then swm_free must find what this walk has
     * allocated. */
    c->paying = w->charge == w->here ? NULL : w->charge;
    for (size_t i = 0; i < w->n; i++) {
        now = run_instructions(w, w->charge[i].instructions, now);
        now = make_access(w, &w->charge[i], now);
    }
    now = run_instructions(w, w->instructions, now);
    free(c->paying);
    c->paying = NULL;
    return now;
}

/* ---- the table ------------------------------------------------------------------------------ */

static uint64_t page_of(const struct swmanager *s, uint64_t line)
{
    return line >> (SWM_PAGE_BITS - s->line_shift);
}

static sim_addr directory_entry(const struct swmanager *s, uint64_t page)
{
    return s->params.base + SWM_DIRECTORY_AT + page % SWM_DIRECTORY_PAGES * 8;
}

struct paddr swm_page_word(const struct swmanager *s, struct paddr addr)
{
    return paddr_of(directory_entry(s, addr.at >> SWM_PAGE_BITS));
}

static sim_addr entry_in(const struct swmanager *s, sim_addr table, uint64_t line)
{
    const uint64_t lines = UINT64_C(1) << (SWM_PAGE_BITS - s->line_shift);

    return table + (line & (lines - 1)) * s->entry_bytes;
}

sim_addr swm_entry(const struct swmanager *s, uint64_t line)
{
    return entry_in(s, *map_find(&s->tables, page_of(s, line)), line);
}

bool swm_walk_find(struct swm_walk *w, struct swm_cursor *at, uint64_t line)
{
    const struct swmanager *s = w->s;
    const uint64_t page = page_of(s, line);

    if (at->page != page) {
        swm_walk_step(w, SWM_STEP_DIRECTORY, 1);
        swm_walk_access(w, directory_entry(s, page), 8, MEM_LOAD);
        *at = (struct swm_cursor){.page = page, .line = UINT64_MAX};
    }
    const uint64_t *table = map_find(&s->tables, page);
    if (!table)
        return false;
    if (at->line != line) {
        swm_walk_step(w, SWM_STEP_ENTRY, 1);
        swm_walk_access(w, entry_in(s, *table, line), SWM_ENTRY_HEAD + 8 * (uint64_t)s->words,
                        MEM_LOAD);
        at->line = line;
    }
    return true;
}

struct swm_line *swm_walk_line(struct swm_walk *w, struct swm_cursor *at, uint64_t line)
{
    struct swmanager *s = w->s;
    const uint64_t page = page_of(s, line);

    if (!map_find(&s->tables, page)) {
        *map_put(&s->tables, page) = swm_walk_take(w, SWM_SIZE_TABLE);
        s->st.tables++;
        swm_walk_step(w, SWM_STEP_TABLE, 1);
        swm_walk_access(w, directory_entry(s, page), 8, MEM_ATOMIC);
        at->line = line; /* its entry is zero and need not be loaded */
    }
    return swm_line_make(s, line);
}

struct swm_line *swm_walk_record(struct swm_walk *w, struct swm_cursor *at, uint64_t line)
{
    struct swm_line *l = swm_walk_line(w, at, line);

    if (!l->record) {
        l->record = swm_walk_take(w, w->s->record_size);
        w->s->st.records++;
    }
    return l;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static uint64_t size_bytes(const struct swmanager *s, unsigned size)
{
    return size == SWM_SIZE_TABLE ? s->table_bytes : UINT64_C(16) << size;
}

static sim_addr list_at(const struct swm_walk *w, unsigned size)
{
    return w->s->params.base + SWM_CORES_AT + w->core * SWM_CORE_BYTES + size * UINT64_C(16);
}

/* A free block's first word links to the next one. */
static sim_addr take_free(struct swm_walk *w, unsigned size, struct swm_free *f)
{
    const sim_addr block = f->at[--f->n];

    swm_walk_access(w, block, 8, MEM_LOAD); /* the next one */
    swm_walk_access(w, list_at(w, size), 8, MEM_STORE);
    return block;
}

/* The next block of the core's page for this size, or the first of a new page. */
static sim_addr take_fresh(struct swm_walk *w, unsigned size, struct swm_free *f)
{
    const uint64_t page = UINT64_C(1) << SWM_PAGE_BITS, bytes = size_bytes(w->s, size);

    swm_walk_step(w, SWM_STEP_TAKE_FRESH, 1);
    if (f->fresh % page == 0) {
        swm_walk_step(w, SWM_STEP_TAKE_PAGE, 1);
        swm_walk_access(w, w->s->params.base, 8, MEM_ATOMIC);
        f->fresh = w->s->params.base + SWM_HEAP_AT + w->s->st.heap;
        w->s->st.heap += bytes > page ? bytes : page;
    }
    const sim_addr block = f->fresh;
    f->fresh += bytes;
    swm_walk_access(w, list_at(w, size) + 8, 8, MEM_STORE);
    return block;
}

sim_addr swm_walk_take(struct swm_walk *w, unsigned size)
{
    struct swm_stats *st = &w->s->st;
    struct swm_free *f = &w->s->core[w->core]->list[size];

    ENSURE_SWM(size < SWM_LISTS, w->s, "core %u takes a block of size %u", w->core, size);
    swm_walk_step(w, SWM_STEP_TAKE, 1);
    swm_walk_access(w, list_at(w, size), 16, MEM_LOAD);
    st->bytes += size_bytes(w->s, size);
    st->bytes_peak = u64_max(st->bytes_peak, st->bytes);
    return f->n ? take_free(w, size, f) : take_fresh(w, size, f);
}

void swm_walk_give(struct swm_walk *w, unsigned size, sim_addr block)
{
    struct swmanager *s = w->s;
    struct swm_free *f = &s->core[w->core]->list[size];

    swm_walk_step(w, SWM_STEP_GIVE, 1);
    swm_walk_access(w, list_at(w, size), 8, MEM_LOAD);
    swm_walk_access(w, block, 8, MEM_STORE);
    swm_walk_access(w, list_at(w, size), 8, MEM_STORE);
    f->at = budget_grow(s->env.budget, f->at, f->n, &f->cap, sizeof *f->at);
    f->at[f->n++] = block;
    s->st.bytes -= size_bytes(s, size);
}

void swm_walk_take_block(struct swm_walk *w, struct swm_cell *c, unsigned size)
{
    struct swm_stats *st = &w->s->st;

    ENSURE_SWM(!c->block, w->s,
               "core %u takes a block for the %u accesses of a granule that has one, at 0x%llx",
               w->core, c->n, (unsigned long long)c->block);
    c->block = swm_walk_take(w, size);
    c->size = (uint8_t)size;
    st->blocks_peak = u64_max(st->blocks_peak, ++st->blocks);
}

void swm_walk_give_block(struct swm_walk *w, struct swm_cell *c)
{
    if (!c || !c->block)
        return;
    swm_walk_give(w, c->size, c->block);
    c->block = 0;
    w->s->st.blocks--;
}
