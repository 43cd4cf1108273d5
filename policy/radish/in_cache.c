/* in_cache.c - what a copy does with the history lines of its source that are on chip. It evicts
 * them, as LARD 4.2 has it. Or it copies them to lines of the destination in the same caches, and
 * the manager's histories "underneath" them; LARD names this and leaves it open (docs/lardish.md).
 *
 * A line is copied in the caches where that loses nothing. It is of the thread that runs on its
 * core, and holds some access of the source. The destination's data are on chip, so that the home
 * knows whose histories there are. The two regions share no line of data. Others are evicted. */
#include "policy/radish/region.h"

#include <stdlib.h>

static struct paddr destination(const struct region_part *p, struct paddr granule)
{
    return paddr_plus(p->to, granule.at - p->from.at);
}

/* ---- which lines ---------------------------------------------------------------------------- */

static bool share_lines(const struct radish *r, const struct region_part *p)
{
    const uint64_t to = p->to.at >> r->line_shift, from = p->from.at >> r->line_shift;
    const uint64_t to_last = (p->to.at + (p->bytes - 1)) >> r->line_shift,
                   from_last = (p->from.at + (p->bytes - 1)) >> r->line_shift;

    return to <= from_last && from <= to_last;
}

static bool destination_here(const struct radish *r, const struct hline *h,
                             const struct region_part *p, granule_set set)
{
    const uint64_t size = UINT64_C(1) << r->line_shift;
    const unsigned first = (unsigned)__builtin_ctzll(set),
                   last = 63 - (unsigned)__builtin_clzll(set);
    const struct paddr to = destination(p, line_granule(r, h, last));
    struct paddr at = paddr_down(destination(p, line_granule(r, h, first)), size);

    for (; at.at <= to.at; at = paddr_plus(at, size))
        if (!data_anywhere(r, at))
            return false;
    return true;
}

static bool may_stay(const struct radish *r, const struct hline *h, const struct region_part *p,
                     granule_set set)
{
    const struct radish_core *c = &r->core[h->core];

    if (h->leaving || !c->taken || c->actor != h->actor || !(records_set(h, EVERY_CLASS) & set))
        return false;
    return !r->machine || (line_level(r, h) && destination_here(r, h, p, set));
}

static void choose(struct radish *r, uint64_t line, const struct region_part *p,
                   struct taken_along *a)
{
    const struct data_line *data = data_find(r, line);

    for (unsigned k = 0; data && k < r->kinds; k++)
        for (struct hline *h = data->of_kind[k]; h; h = h->next) {
            const granule_set set = region_inside(r, h, p->from, p->bytes);
            if (!set || !may_stay(r, h, p, set))
                continue;
            h->stays = true;
            a->at = xgrow(a->at, a->n, &a->cap, sizeof *a->at);
            a->at[a->n++] = (struct along){h, set};
        }
}

static void evict(struct radish *r, struct hline *h, granule_set set, unsigned core)
{
    if (!h->stays)
        region_store(r, h, set, core);
}

void copy_source(struct radish *r, struct visit *v, const struct region_part *p,
                 struct taken_along *along)
{
    const uint64_t last = (p->from.at + (p->bytes - 1)) >> r->line_shift;

    if (r->params.in_cache && !share_lines(r, p))
        for (uint64_t line = p->from.at >> r->line_shift; line <= last; line++)
            choose(r, line, p, along);
    region_visit(r, v, p->from, p->bytes, evict);
}

/* ---- copying them --------------------------------------------------------------------------- */

struct made { /* a line of the destination, and what it has from the source's lines */
    struct hline *line;
    granule_set set;
};
struct making {
    struct radish *r;
    const struct region_part *p;
    unsigned core; /* that runs the handler */
    struct made *made;
    size_t n, cap;
};

/* A new one has what the manager has. */
static struct made *line_make(struct making *m, const struct hline *source, struct paddr granule)
{
    struct radish *r = m->r;
    struct data_line *data = data_get(r, granule.at >> r->line_shift);
    const unsigned kind = (unsigned)((granule.at >> r->granule_shift) / r->entries % r->kinds);

    for (size_t i = 0; i < m->n; i++) {
        struct hline *h = m->made[i].line;
        if (h->data == data && h->kind == kind && h->core == source->core)
            return &m->made[i];
    }
    m->made = xgrow(m->made, m->n, &m->cap, sizeof *m->made);
    struct hline *h = line_new(r, data, source->core, kind, source->actor);
    manager_fill(r, h, true);
    m->made[m->n] = (struct made){h, 0};
    return &m->made[m->n++];
}

struct entry_run { /* of granules from i of a line, to j of another */
    unsigned i, j, n;
};

static granule_set shifted(granule_set set, struct entry_run run)
{
    const granule_set all = run.n == 64 ? ~(granule_set)0 : ((granule_set)1 << run.n) - 1;

    return (set >> run.i & all) << run.j;
}

/* Entries and status go along, permissions do not: nobody would have told of the destination. */
static void copy_run(struct radish *r, struct hline *to, const struct hline *from,
                     struct entry_run run)
{
    const granule_set set = shifted(~(granule_set)0, run);

    records_cancel(r, to, set, EVERY_CLASS);
    for (uint32_t k = 0; k < from->n; k++) {
        struct access_record x = from->record[k];
        x.set = shifted(x.set, run);
        if (!x.set)
            continue;
        record_add(r, to, &x);
        to->dirty |= !x.saved;
    }
    to->kept = (to->kept & ~set) | shifted(from->kept, run);
    to->soft_write = (to->soft_write & ~set) | shifted(from->soft_write, run);
    to->soft_reads = (to->soft_reads & ~set) | shifted(from->soft_reads, run);
}

/* Pays for a run of entries, by an instruction of the handler; the core that has the line loads and
 * stores. */
static void pay_run(const struct making *m, const struct hline *to, const struct hline *from,
                    struct entry_run run)
{
    struct radish *r = m->r;

    ledger_exec(&r->ledger, m->core, 1, 0);
    ledger_mem(&r->ledger, from->core, paddr_plus(line_address(r, from), run.i * RADISH_ENTRY),
               run.n * RADISH_ENTRY, MEM_LOAD, 0);
    ledger_mem(&r->ledger, to->core, paddr_plus(line_address(r, to), run.j * RADISH_ENTRY),
               run.n * RADISH_ENTRY, MEM_STORE, 0);
}

static void copy_line(struct making *m, const struct along *a)
{
    struct radish *r = m->r;

    for (granule_set left = a->set; left;) {
        const unsigned i = (unsigned)__builtin_ctzll(left),
                       in = 64 - (unsigned)__builtin_clzll(a->set) - i;
        const struct paddr to = destination(m->p, line_granule(r, a->line, i));
        const unsigned j = (unsigned)((to.at >> r->granule_shift) % r->entries);
        const struct entry_run run = {i, j, in < r->entries - j ? in : r->entries - j};
        struct made *made = line_make(m, a->line, to);
        copy_run(r, made->line, a->line, run);
        made->set |= shifted(~(granule_set)0, run);
        pay_run(m, made->line, a->line, run);
        left = i + run.n < 64 ? left & ~(granule_set)0 << (i + run.n) : 0;
    }
}

/* The manager notes the line, and gives it the rest of what it has. */
static void settle(const struct making *m, const struct made *made)
{
    struct radish *r = m->r;
    const struct hline *h = made->line;

    swm_cached(r->manager, m->core, paddr_of(h->data->line << r->line_shift), h->core, true, 0);
    for (granule_set rest = h->kept & ~made->set; rest;)
        swm_look(r->manager, m->core, line_granule(r, h, next_granule(&rest)), SWM_READS, 0);
}

void copy_along(struct radish *r, struct visit *v, const struct region_part *p,
                const struct taken_along *along)
{
    struct making m = {.r = r, .p = p, .core = v->core};

    for (size_t i = 0; i < along->n; i++) {
        copy_line(&m, &along->at[i]);
        along->at[i].line->stays = false;
        r->st.in_cache++;
    }
    for (size_t i = 0; i < m.n; i++)
        settle(&m, &m.made[i]);
    free(m.made);
}
