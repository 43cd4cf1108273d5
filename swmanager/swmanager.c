/* swmanager.c - the manager's life, its handlers, and what they do to one line or granule. region.c
 * clears and copies; cell.c keeps the contents; walk.c charges.
 *
 * What a write in hardware makes void costs nothing and changes no simulated memory. The history
 * line that has that write tells the manager with its next message; only then does a handler start
 * the record anew and give the block of its reads back. */
#include "swmanager/swmanager_int.h"

#include <stdlib.h>
#include <string.h>

const char *const swm_reason_text[SWM_REASONS] = {
#define SWM_REASON(NAME, text, help) text,
#include "swmanager/reasons.def"
#undef SWM_REASON
};

/* ---- life ----------------------------------------------------------------------------------- */

static void register_stats(struct stats_group *g, const struct swm_stats *st)
{
    stats_vector(g, "handlers", "count", "Handlers that were left, by why they were entered.",
                 st->handlers, SWM_REASONS, swm_reason_text);
    stats_vector(g, "cycles", "cycles", "Cycles in handlers, the way in included, by reason.",
                 st->cycles, SWM_REASONS, swm_reason_text);
    stats_histogram(g, "length", "cycles", "Cycles of a handler, the way in included.",
                    &st->length);
    stats_sum(g, "handlers-have-a-length", "Every handler is in the histogram.", st->handlers,
              SWM_REASONS, &st->length.count);
    stats_sum(g, "lengths-add-up", "The cycles by reason are those of the histogram.", st->cycles,
              SWM_REASONS, &st->length.sum);
#define STATS_DEF "swmanager/stats.def"
#include "base/stats_declare.h"
}

static unsigned log2_of(uint64_t power)
{
    assert(is_power_of_2(power));
    return (unsigned)__builtin_ctzll(power);
}

static uint64_t power_above(uint64_t n)
{
    uint64_t p = 1;

    while (p < n)
        p *= 2;
    return p;
}

struct swmanager *swm_new(const struct swm_params *p, const struct swm_env *env)
{
    struct swmanager *s = xcalloc(1, sizeof *s);

    assert(env->granule && env->granule <= env->line && env->line <= 1 << SWM_PAGE_BITS);
    s->env = *env;
    s->params = *p;
    s->params.base &= ~((UINT64_C(1) << SWM_PAGE_BITS) - 1);
    s->shift = log2_of(env->granule);
    s->line_shift = log2_of(env->line);
    s->line_granules = env->line / env->granule;
    s->words = (s->line_granules + 63) / 64;
    s->entry_bytes = power_above(SWM_ENTRY_HEAD + 8 * (uint64_t)s->words);
    s->table_bytes = s->entry_bytes << (SWM_PAGE_BITS - s->line_shift);
    s->record_size = (uint8_t)log2_of(s->line_granules);
    map_init(&s->tables, env->budget);
    swm_cells_init(s);
    register_stats(env->stats, &s->st);
    return s;
}

static void core_free(struct swmanager *s, struct swm_core *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < SWM_LISTS; i++) {
        budget_give(s->env.budget, c->list[i].cap * sizeof *c->list[i].at);
        free(c->list[i].at);
    }
    budget_give(s->env.budget, sizeof *c);
    free(c->paying);
    free(c);
}

void swm_free(struct swmanager *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < MAX_CORES; i++)
        core_free(s, s->core[i]);
    swm_cells_free(s);
    map_free(&s->tables);
    free(s);
}

/* ---- handlers ------------------------------------------------------------------------------- */

sim_cycle swm_enter(struct swmanager *s, unsigned core, enum swm_reason why, sim_cycle now)
{
    ENSURE_SWM(core < MAX_CORES && why < SWM_REASONS, s, "core %u enters a handler for reason %d",
               core, (int)why);
    if (!s->core[core]) {
        s->core[core] = xcalloc(1, sizeof *s->core[core]);
        budget_take(s->env.budget, sizeof *s->core[core]);
    }
    struct swm_core *c = s->core[core];
    ENSURE_SWM(
        !c->inside, s,
        "core %u enters a handler (%s) at cycle %llu in the middle of another (%s), which it "
        "entered at %llu",
        core, swm_reason_text[why], (unsigned long long)now, swm_reason_text[c->why],
        (unsigned long long)c->entered);
    c->inside = true;
    c->why = why;
    c->entered = now;
    c->at = (struct swm_cursor){.page = UINT64_MAX, .line = UINT64_MAX};
    return now + s->params.enter;
}

sim_cycle swm_enter_late(struct swmanager *s, unsigned core, sim_cycle now)
{
    ENSURE_SWM(s->core[core] && s->core[core]->inside, s,
               "core %u begins a handler at cycle %llu that it has not entered", core,
               (unsigned long long)now);
    s->core[core]->entered = now;
    return now + s->params.enter;
}

sim_cycle swm_leave(struct swmanager *s, unsigned core, sim_cycle now)
{
    struct swm_core *c = s->core[core];

    ENSURE_SWM(c && c->inside && now >= c->entered, s,
               "core %u leaves a handler at cycle %llu; it entered the latest one at %llu", core,
               (unsigned long long)now, (unsigned long long)(c ? c->entered : 0));
    c->inside = false;
    s->st.handlers[c->why]++;
    s->st.cycles[c->why] += now - c->entered;
    histogram_add(&s->st.length, now - c->entered);
    return now;
}

/* Begins an operation on a line with the walk to it. True: its page has a table. */
static bool begin(struct swm_walk *w, struct swmanager *s, unsigned core, uint64_t line)
{
    swm_walk_begin(w, s, core);
    return swm_walk_find(w, &s->core[core]->at, line);
}

sim_cycle swm_find(struct swmanager *s, unsigned core, struct paddr line, sim_cycle now)
{
    struct swm_walk w;

    begin(&w, s, core, line.at >> s->line_shift);
    return swm_walk_end(&w, now);
}

sim_cycle swm_cached(struct swmanager *s, unsigned core, struct paddr addr, unsigned of_core,
                     bool may, sim_cycle now)
{
    const uint64_t line = addr.at >> s->line_shift, bit = UINT64_C(1) << of_core % 64;
    struct swm_walk w;

    ENSURE_SWM(of_core < MAX_CORES, s, "line 0x%llx is said to be in a cache of core %u",
               (unsigned long long)addr.at, of_core);
    if (begin(&w, s, core, line) || may)
        swm_walk_step(&w, SWM_STEP_CACHED, 1);
    struct swm_line *l = may ? swm_walk_line(&w, &s->core[core]->at, line) : swm_line_find(s, line);
    if (l && !!(l->cores[of_core / 64] & bit) != may) {
        l->cores[of_core / 64] ^= bit;
        swm_walk_access(&w, swm_entry(s, line) + UINT64_C(8) * (of_core / 64), 8, MEM_STORE);
        swm_line_tidy(s, line);
    }
    return swm_walk_end(&w, now);
}

sim_cycle swm_uncached(struct swmanager *s, unsigned core, struct paddr addr, sim_cycle now)
{
    const uint64_t line = addr.at >> s->line_shift;
    struct swm_line *l = swm_line_find(s, line);
    struct swm_walk w;

    if (!l || !(l->cores[0] | l->cores[1]))
        return now;
    begin(&w, s, core, line);
    swm_walk_step(&w, SWM_STEP_CACHED, 1);
    for (unsigned i = 0; i < ARRAY_SIZE(l->cores); i++)
        if (l->cores[i]) {
            l->cores[i] = 0;
            swm_walk_access(&w, swm_entry(s, line) + UINT64_C(8) * i, 8, MEM_STORE);
        }
    swm_line_tidy(s, line);
    return swm_walk_end(&w, now);
}

/* ---- a granule ------------------------------------------------------------------------------ */

static uint32_t reads_of(const struct swm_cell *c)
{
    return c ? c->n - c->written : 0;
}

sim_cycle swm_look(struct swmanager *s, unsigned core, struct paddr addr, enum swm_depth depth,
                   sim_cycle now)
{
    const uint64_t granule = addr.at >> s->shift, line = swm_line_of(s, granule);
    const struct swm_line *l = swm_line_find(s, line);
    const struct swm_cell *c = swm_cell_find(s, granule);
    /* n: the reads that it looks at; a block of reads is all or nothing. */
    const uint32_t has = reads_of(c), most = depth == SWM_READS ? has : depth == SWM_NO_BLOCK;
    const uint32_t n = has > most ? 0 : has;
    struct swm_walk w;

    if (begin(&w, s, core, line))
        swm_walk_step(&w, SWM_STEP_LOOK, 1);
    if (l && swm_bit(s, l, SWM_PRESENT, swm_in_line(s, granule))) {
        swm_walk_step(&w, SWM_STEP_RECORD, 1);
        swm_walk_access(&w, l->record + swm_in_line(s, granule) * SWM_RECORD, SWM_RECORD, MEM_LOAD);
        swm_walk_step(&w, SWM_STEP_EPOCH, c && c->written);
        swm_walk_step(&w, SWM_STEP_READS, depth != SWM_WRITE);
        if (n > 1)
            swm_walk_access(&w, c->block, n * SWM_EPOCH, MEM_LOAD);
        swm_walk_step(&w, SWM_STEP_EPOCH, n);
    }
    return swm_walk_end(&w, now);
}

/* The write supersedes the reads: a whole new record. */
static void store_write(struct swm_walk *w, uint64_t granule, sim_addr record,
                        const struct swm_access *a)
{
    swm_walk_give_block(w, swm_cell_find(w->s, granule));
    struct swm_cell *c = swm_cell_resize(w->s, granule, 1);
    c->at[0] = *a;
    c->written = true;
    swm_walk_access(w, record, SWM_RECORD, MEM_STORE);
}

/* The write goes under the reads, which stay. */
static void store_under(struct swm_walk *w, uint64_t granule, sim_addr record,
                        const struct swm_access *a)
{
    struct swm_cell *c = swm_cell_find(w->s, granule);

    if (!c || !c->n) {
        store_write(w, granule, record, a);
        return;
    }
    if (!c->written) {
        c = swm_cell_resize(w->s, granule, c->n + 1);
        memmove(c->at + 1, c->at, (c->n - 1) * sizeof *c->at);
        c->written = true;
    }
    c->at[0] = *a;
    swm_walk_access(w, record, SWM_EPOCH, MEM_STORE);
}

static struct swm_cell *append(struct swmanager *s, uint64_t granule, uint32_t n,
                               const struct swm_access *a)
{
    struct swm_cell *c = swm_cell_resize(s, granule, n + 1);

    c->at[n] = *a;
    return c;
}

/* Moves a full block's reads into one of twice the size, with room for one more. */
static void grow_block(struct swm_walk *w, struct swm_cell *c, uint32_t reads)
{
    ENSURE_SWM(c->size + 1 < SWM_SIZES, w->s, /* two reads of each actor that there can be */
               "core %u has %u reads of a granule, in the largest block there is", w->core, reads);
    const sim_addr to = swm_walk_take(w, c->size + 1u);

    swm_walk_access(w, c->block, reads * SWM_EPOCH, MEM_LOAD);
    swm_walk_access(w, to, (reads + 1) * SWM_EPOCH, MEM_STORE);
    swm_walk_give(w, c->size, c->block);
    c->block = to;
    c->size++;
}

/* The index of the read that `a` replaces; the number of reads if it replaces none. */
static uint32_t place_of(const struct swm_cell *c, const struct swm_access *a)
{
    const struct swm_access *read = c->at + c->written;
    uint32_t i = 0;

    while (i < reads_of(c) &&
           (read[i].actor != a->actor || swm_class(read[i].op) != swm_class(a->op)))
        i++;
    return i;
}

/* Stores a read where there are two or more, so in a block. */
static void store_in_block(struct swm_walk *w, struct swm_cell *c, uint64_t granule,
                           sim_addr reads_word, const struct swm_access *a)
{
    const uint32_t n = reads_of(c), i = place_of(c, a), searched = i < n ? i + 1 : n;

    swm_walk_step(w, SWM_STEP_READS, 1);
    swm_walk_step(w, SWM_STEP_SEARCH, searched);
    swm_walk_access(w, c->block, searched * SWM_EPOCH, MEM_LOAD);
    if (i < n) {
        c->at[c->written + i] = *a;
        swm_walk_access(w, c->block + i * SWM_EPOCH, SWM_EPOCH, MEM_STORE);
        return;
    }
    swm_walk_step(w, SWM_STEP_GROW, 1);
    if (n == UINT32_C(2) << c->size)
        grow_block(w, c, n);
    else
        swm_walk_access(w, c->block + n * SWM_EPOCH, SWM_EPOCH, MEM_STORE);
    append(w->s, granule, c->n, a);
    swm_walk_access(w, reads_word, SWM_EPOCH, MEM_STORE);
}

/* Stores a read: into a new record; among those in a block; as the second, which makes a block of
 * two; as the first, or in place of the only one. */
static void store_read(struct swm_walk *w, uint64_t granule, sim_addr record,
                       const struct swm_access *a)
{
    struct swm_cell *c = swm_cell_find(w->s, granule);
    const sim_addr reads_word = record + SWM_RECORD / 2;

    if (!c || !c->n) { /* the whole record is new */
        swm_walk_give_block(w, c);
        append(w->s, granule, 0, a);
        swm_walk_access(w, record, SWM_RECORD, MEM_STORE);
    } else if (reads_of(c) > 1) {
        store_in_block(w, c, granule, reads_word, a);
    } else if (reads_of(c) == 1 && place_of(c, a) == 1) {
        swm_walk_step(w, SWM_STEP_SEARCH, 1);
        c = append(w->s, granule, c->n, a);
        swm_walk_take_block(w, c, 0);
        swm_walk_access(w, c->block, 2 * SWM_EPOCH, MEM_STORE);
        swm_walk_access(w, reads_word, SWM_EPOCH, MEM_STORE);
    } else {
        swm_walk_step(w, SWM_STEP_SEARCH, reads_of(c));
        if (reads_of(c))
            c->at[c->written] = *a;
        else
            append(w->s, granule, c->n, a);
        swm_walk_access(w, reads_word, SWM_EPOCH, MEM_STORE);
    }
}

typedef void store_how(struct swm_walk *w, uint64_t granule, sim_addr record,
                       const struct swm_access *a);

/* The part that all stores share: the walk, a record, the granule's bit. The entry is written only
 * if its record is new or its bit changes. */
static sim_cycle store(struct swmanager *s, unsigned core, struct paddr addr,
                       const struct swm_access *a, store_how *how, sim_cycle now)
{
    const uint64_t granule = addr.at >> s->shift, line = swm_line_of(s, granule);
    const unsigned i = swm_in_line(s, granule);
    const struct swm_line *was = swm_line_find(s, line);
    const bool had_record = was && was->record;
    struct swm_walk w;

    ENSURE_SWM(a->clock, s, "core %u stores an access of thread %u to 0x%llx that has no clock",
               core, (unsigned)a->tid, (unsigned long long)addr.at);
    begin(&w, s, core, line);
    swm_walk_step(&w, SWM_STEP_STORE, 1);
    struct swm_line *l = swm_walk_record(&w, &s->core[core]->at, line);
    const sim_addr record = l->record + i * SWM_RECORD;
    swm_walk_step(&w, SWM_STEP_RECORD, 1);
    const bool present = swm_bit(s, l, SWM_PRESENT, i);
    if (present)
        swm_walk_access(&w, record, SWM_RECORD, MEM_LOAD);
    how(&w, granule, record, a);
    if (!had_record)
        swm_walk_access(&w, swm_entry(s, line) + SWM_ENTRY_CORES, 8, MEM_STORE);
    if (!present) {
        swm_bit_set(s, l, SWM_PRESENT, i, true);
        swm_walk_step(&w, SWM_STEP_PRESENT, 1);
        swm_walk_access(&w, swm_entry(s, line) + SWM_ENTRY_HEAD + UINT64_C(8) * (i / 64), 8,
                        MEM_STORE);
    }
    return swm_walk_end(&w, now);
}

sim_cycle swm_store(struct swmanager *s, unsigned core, struct paddr addr,
                    const struct swm_access *a, bool write, sim_cycle now)
{
    return store(s, core, addr, a, write ? store_write : store_read, now);
}

sim_cycle swm_store_under(struct swmanager *s, unsigned core, struct paddr addr,
                          const struct swm_access *a, sim_cycle now)
{
    return store(s, core, addr, a, store_under, now);
}

/* ---- free of cost --------------------------------------------------------------------------- */

struct swm_held swm_held(const struct swmanager *s, struct paddr addr)
{
    const struct swm_cell *c = swm_cell_find(s, addr.at >> s->shift);

    if (!c)
        return (struct swm_held){0};
    return (struct swm_held){
        .write = c->written ? c->at : NULL, .read = c->at + c->written, .n = reads_of(c)};
}

/* A granule with accesses has its present bit, so that one look at the line answers for all. */
uint64_t swm_may_hold(const struct swmanager *s, struct paddr addr, unsigned n)
{
    const uint64_t granule = addr.at >> s->shift;
    const struct swm_line *l = swm_line_find(s, swm_line_of(s, granule));
    const unsigned i = swm_in_line(s, granule);

    ENSURE_SWM(n && n <= 64 && i % n == 0 && i + n <= s->line_granules, s,
               "%u granules from 0x%llx, granule %u of its line of %u, are no aligned part of it",
               n, (unsigned long long)addr.at, i, s->line_granules);
    return l ? l->bits[SWM_PRESENT * s->words + i / 64] >> i % 64 & UINT64_MAX >> (64 - n) : 0;
}

bool swm_page_empty(const struct swmanager *s, struct paddr addr)
{
    const uint64_t lines = UINT64_C(1) << (SWM_PAGE_BITS - s->line_shift);
    const uint64_t first = addr.at >> SWM_PAGE_BITS << (SWM_PAGE_BITS - s->line_shift);

    for (uint64_t line = first; line < first + lines; line++) {
        const struct swm_line *l = swm_line_find(s, line);
        if (l && swm_bits_any(s, l, SWM_PRESENT))
            return false;
    }
    return true;
}

void swm_void(struct swmanager *s, struct paddr addr)
{
    const struct swm_cell *c = swm_cell_find(s, addr.at >> s->shift);

    if (!c || !c->n)
        return;
    s->st.voided++;
    swm_cell_resize(s, addr.at >> s->shift, 0);
}

bool swm_raced(const struct swmanager *s, struct paddr addr)
{
    const uint64_t granule = addr.at >> s->shift;
    const struct swm_line *l = swm_line_find(s, swm_line_of(s, granule));

    return l && swm_bit(s, l, SWM_RACED, swm_in_line(s, granule));
}

void swm_mark_raced(struct swmanager *s, struct paddr addr)
{
    const uint64_t granule = addr.at >> s->shift;

    swm_bit_set(s, swm_line_make(s, swm_line_of(s, granule)), SWM_RACED, swm_in_line(s, granule),
                true);
}

uint64_t swm_granules(const struct swmanager *s)
{
    return s->st.granules;
}
