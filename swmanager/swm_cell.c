/* swm_cell.c - what the manager holds, as the host keeps it: a cell for each granule with accesses,
 * a line for what is kept once a line. Both exist only while there is something in them. No costs
 * here. */
#include "swmanager/swm_int.h"

#include <stdlib.h>

/* ---- lines ---------------------------------------------------------------------------------- */

static uint64_t line_bytes(const struct swmanager *s)
{
    return sizeof(struct swm_line) + 2 * sizeof(uint64_t) * s->words;
}

struct swm_line *swm_line_find(const struct swmanager *s, uint64_t line)
{
    const uint64_t *at = map_find(&s->lines, line);

    return at ? (struct swm_line *)(uintptr_t)*at : NULL;
}

struct swm_line *swm_line_make(struct swmanager *s, uint64_t line)
{
    uint64_t *at = map_put(&s->lines, line);

    if (!*at) {
        *at = (uint64_t)(uintptr_t)xcalloc(1, line_bytes(s));
        budget_take(s->env.budget, line_bytes(s));
    }
    return (struct swm_line *)(uintptr_t)*at;
}

static void line_free(struct swmanager *s, struct swm_line *l)
{
    budget_give(s->env.budget, line_bytes(s));
    free(l);
}

void swm_line_tidy(struct swmanager *s, uint64_t line)
{
    struct swm_line *l = swm_line_find(s, line);

    if (!l || l->cores[0] || l->cores[1] || l->record || swm_bits_any(s, l, SWM_RACED))
        return;
    assert(!swm_bits_any(s, l, SWM_PRESENT));
    map_remove(&s->lines, line);
    line_free(s, l);
}

bool swm_bit(const struct swmanager *s, const struct swm_line *l, enum swm_bits which, unsigned i)
{
    return l->bits[which * s->words + i / 64] >> i % 64 & 1;
}

void swm_bit_set(const struct swmanager *s, struct swm_line *l, enum swm_bits which, unsigned i,
                 bool to)
{
    uint64_t *word = &l->bits[which * s->words + i / 64];

    *word = (*word & ~(UINT64_C(1) << i % 64)) | (uint64_t)to << i % 64;
}

bool swm_bits_any(const struct swmanager *s, const struct swm_line *l, enum swm_bits which)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < s->words; i++)
        any |= l->bits[which * s->words + i];
    return any != 0;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static uint64_t cell_bytes(uint32_t cap)
{
    return sizeof(struct swm_cell) + cap * sizeof(struct swm_access);
}

struct swm_cell *swm_cell_find(const struct swmanager *s, uint64_t granule)
{
    const uint64_t *at = map_find(&s->cells, granule);

    return at ? (struct swm_cell *)(uintptr_t)*at : NULL;
}

/* One more is common, so that there is room for half as many again; what is gone is given back. */
static uint32_t room_for(uint32_t n, uint32_t cap)
{
    if (n <= cap && n >= cap / 2)
        return cap;
    return n <= 2 ? n : n + n / 2;
}

static void cell_free(struct swmanager *s, struct swm_cell *c)
{
    budget_give(s->env.budget, cell_bytes(c->cap));
    free(c);
}

static struct swm_cell *cell_fit(struct swmanager *s, struct swm_cell *c, uint32_t n)
{
    const uint32_t had = c ? c->cap : 0, cap = c ? room_for(n, had) : n;

    if (c && cap == had)
        return c;
    struct swm_cell *to = xrealloc(c, 1, cell_bytes(cap));
    budget_take(s->env.budget, cell_bytes(cap));
    if (c)
        budget_give(s->env.budget, cell_bytes(had));
    else
        *to = (struct swm_cell){0};
    to->cap = cap;
    return to;
}

static void count_granule(struct swmanager *s, bool had, bool has)
{
    s->st.granules = s->st.granules + has - had;
    if (s->st.granules > s->st.granules_peak)
        s->st.granules_peak = s->st.granules;
}

struct swm_cell *swm_cell_resize(struct swmanager *s, uint64_t granule, uint32_t n)
{
    struct swm_cell *was = swm_cell_find(s, granule), *c = was;

    count_granule(s, c && c->n, n > 0);
    if (!n && !(c && c->block)) {
        if (c) {
            map_remove(&s->cells, granule);
            cell_free(s, c);
        }
        return NULL;
    }
    c = cell_fit(s, c, n);
    c->n = n;
    c->written = c->written && n;
    if (c != was)
        *map_put(&s->cells, granule) = (uint64_t)(uintptr_t)c;
    return c;
}

void swm_cells_free(struct swmanager *s)
{
    uint64_t key, *value;

    for (size_t pos = 0; map_next(&s->cells, &pos, &key, &value);)
        cell_free(s, (struct swm_cell *)(uintptr_t)*value);
    for (size_t pos = 0; map_next(&s->lines, &pos, &key, &value);)
        line_free(s, (struct swm_line *)(uintptr_t)*value);
    map_free(&s->cells);
    map_free(&s->lines);
}
