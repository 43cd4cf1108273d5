/* radish_line.c - history lines on chip: where they are found, and the accesses that they hold. No
 * rule of detection is here. */
#include "policy/radish.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12 };

/* ---- places --------------------------------------------------------------------------------- */

static size_t place_bytes(const struct radish *r)
{
    return sizeof(struct place) + r->kinds * sizeof(struct hline *);
}

struct place *place_find(const struct radish *r, uint64_t line)
{
    const uint64_t *at = map_find(&r->places, line);

    return at ? (struct place *)(uintptr_t)*at : NULL;
}

struct place *place_get(struct radish *r, uint64_t line)
{
    if (r->latest && r->latest->line == line)
        return r->latest;
    uint64_t *at = map_put(&r->places, line);
    if (*at)
        return r->latest = (struct place *)(uintptr_t)*at;
    struct place *p = xcalloc(1, place_bytes(r));
    budget_take(r->env->budget, place_bytes(r));
    p->line = line;
    *at = (uint64_t)(uintptr_t)p;
    *map_put(&r->pages, line << r->line_shift >> PAGE_BITS) = 1;
    return p;
}

void place_tidy(struct radish *r, struct place *p)
{
    if (p->lines || p->queued)
        return;
    map_remove(&r->places, p->line);
    if (r->latest == p)
        r->latest = NULL;
    budget_give(r->env->budget, place_bytes(r));
    free(p);
}

/* ---- lines ---------------------------------------------------------------------------------- */

struct hline *line_find(const struct place *p, unsigned core, unsigned kind)
{
    struct hline *h = p->of_kind[kind];

    while (h && (h->core != core || h->leaving))
        h = h->next;
    return h;
}

static void core_add(struct radish *r, struct hline *h)
{
    struct radish_core *c = &r->core[h->core];

    h->earlier = c->last;
    h->later = NULL;
    *(c->last ? &c->last->later : &c->first) = h;
    c->last = h;
    c->lines++;
}

static void core_remove(struct radish *r, struct hline *h)
{
    struct radish_core *c = &r->core[h->core];

    *(h->earlier ? &h->earlier->later : &c->first) = h->later;
    *(h->later ? &h->later->earlier : &c->last) = h->earlier;
    h->earlier = h->later = NULL;
    c->lines--;
}

struct hline *line_new(struct radish *r, struct place *p, unsigned core, unsigned kind,
                       uint32_t actor)
{
    struct hline *h = xcalloc(1, sizeof *h);

    budget_take(r->env->budget, sizeof *h);
    h->place = p;
    h->core = (uint8_t)core;
    h->kind = (uint8_t)kind;
    h->actor = actor;
    h->next = p->of_kind[kind];
    p->of_kind[kind] = h;
    p->lines++;
    core_add(r, h);
    r->st.allocated++;
    r->st.lines++;
    if (r->st.lines > r->st.lines_peak)
        r->st.lines_peak = r->st.lines;
    return h;
}

void line_leaves(struct radish *r, struct hline *h)
{
    assert(!h->leaving);
    core_remove(r, h);
    h->leaving = true;
    h->may_read = h->may_write = 0;
}

void line_free(struct radish *r, struct hline *h)
{
    struct hline **at = &h->place->of_kind[h->kind];

    if (!h->leaving)
        line_leaves(r, h);
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->place->lines--;
    r->st.lines--;
    r->st.records -= h->n;
    budget_give(r->env->budget, sizeof *h + h->cap * sizeof *h->record);
    free(h->record);
    free(h);
}

sim_addr line_address(const struct radish *r, const struct hline *h)
{
    return r->params.base + h->core * r->stride +
           ((h->place->line * r->kinds + h->kind) << r->line_shift);
}

sim_addr line_granule(const struct radish *r, const struct hline *h, unsigned i)
{
    return (h->place->line << r->line_shift) +
           ((sim_addr)(h->kind * r->entries + i) << r->granule_shift);
}

granule_set line_all(const struct radish *r)
{
    return r->entries == 64 ? ~(granule_set)0 : ((granule_set)1 << r->entries) - 1;
}

/* ---- records -------------------------------------------------------------------------------- */

bool records_cancel(struct radish *r, struct hline *h, granule_set set, unsigned classes)
{
    uint32_t kept = 0;
    bool some = false;

    for (uint32_t i = 0; i < h->n; i++) {
        struct record *x = &h->record[i];
        if (classes >> op_class(x->op) & 1 && x->set & set) {
            x->set &= ~set;
            some = true;
        }
        if (x->set)
            h->record[kept++] = *x;
    }
    r->st.records -= h->n - kept;
    h->n = kept;
    return some;
}

struct record *record_add(struct radish *r, struct hline *h, const struct record *what)
{
    if (h->n == h->cap) {
        const uint32_t cap = h->cap ? 2 * h->cap : 2;
        h->record = xrealloc(h->record, cap, sizeof *h->record);
        budget_take(r->env->budget, (cap - h->cap) * sizeof *h->record);
        h->cap = cap;
    }
    r->st.records++;
    h->record[h->n] = *what;
    return &h->record[h->n++];
}

granule_set records_set(const struct hline *h, unsigned classes)
{
    granule_set set = 0;

    for (uint32_t i = 0; i < h->n; i++)
        if (classes >> op_class(h->record[i].op) & 1)
            set |= h->record[i].set;
    return set;
}
