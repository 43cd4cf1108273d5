/* cell.c - the contents of the manager's tables, which are kept on the host: a cell for each
 * granule with accesses, a line for what is kept once a line. Both exist only while there is
 * something in them. No costs here: those are in walk.c. */
#include "swmanager/swmanager_int.h"

#include <stdlib.h>
#include <string.h>

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

    if (!*at)
        *at = (uint64_t)(uintptr_t)memset(pool_get(&s->line_room), 0, line_bytes(s));
    return (struct swm_line *)(uintptr_t)*at;
}

void swm_line_tidy(struct swmanager *s, uint64_t line)
{
    struct swm_line *l = swm_line_find(s, line);

    if (!l || l->cores[0] || l->cores[1] || l->record || swm_bits_any(s, l, SWM_RACED))
        return;
    ENSURE_SWM(!swm_bits_any(s, l, SWM_PRESENT), s,
               "line 0x%llx has no record, and a granule of it is present",
               (unsigned long long)(line << s->line_shift));
    map_remove(&s->lines, line);
    pool_give(&s->line_room, l);
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

/* Room for n accesses. Growth by one is common, so beyond two there is room for half as many again;
 * a cell that is less than half full shrinks. */
static uint32_t room_for(uint32_t n, uint32_t cap)
{
    if (n <= cap && n >= cap / 2)
        return cap;
    return n <= 2 ? n : n + n / 2;
}

/* Returns the pool for cells of that size, which is charged: most cells have one access or two.
 * NULL: larger cells come from no pool. */
static struct pool *room_of(struct swmanager *s, uint32_t cap)
{
    return cap <= 1 ? &s->cell_room[0] : cap == 2 ? &s->cell_room[1] : NULL;
}

static struct swm_cell *cell_new(struct swmanager *s, uint32_t cap)
{
    struct pool *room = room_of(s, cap);
    struct swm_cell *c = room ? pool_get(room) : xmalloc(cell_bytes(cap));

    budget_take(room ? NULL : s->env.budget, heap_bytes(cell_bytes(cap)));
    *c = (struct swm_cell){.cap = cap};
    return c;
}

static void cell_free(struct swmanager *s, struct swm_cell *c)
{
    struct pool *room = room_of(s, c->cap);

    budget_give(room ? NULL : s->env.budget, heap_bytes(cell_bytes(c->cap)));
    if (room)
        pool_give(room, c);
    else
        free(c);
}

/* The cell, or a copy of it elsewhere, with room for n. */
static struct swm_cell *cell_fit(struct swmanager *s, struct swm_cell *c, uint32_t n)
{
    const uint32_t cap = c ? room_for(n, c->cap) : n;

    if (c && cap == c->cap)
        return c;
    struct swm_cell *to = cell_new(s, cap);
    if (!c)
        return to;
    *to = *c;
    to->cap = cap;
    memcpy(to->at, c->at, u64_min(c->n, cap) * sizeof *c->at);
    cell_free(s, c);
    return to;
}

struct swm_cell *swm_cell_resize(struct swmanager *s, uint64_t granule, uint32_t n)
{
    struct swm_cell *was = swm_cell_find(s, granule), *c = was;

    s->st.granules = s->st.granules + (n > 0) - (c && c->n);
    s->st.granules_peak = u64_max(s->st.granules_peak, s->st.granules);
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

static size_t whole_lines(uint64_t bytes) /* of the host */
{
    return (bytes + 63) / 64 * 64;
}

void swm_cells_init(struct swmanager *s)
{
    map_init(&s->lines, s->env.budget);
    map_init(&s->cells, s->env.budget);
    s->line_room = (struct pool){.bytes = whole_lines(line_bytes(s)), .budget = s->env.budget};
    for (uint32_t i = 0; i < ARRAY_SIZE(s->cell_room); i++)
        s->cell_room[i] =
            (struct pool){.bytes = whole_lines(cell_bytes(i + 1)), .budget = s->env.budget};
}

void swm_cells_free(struct swmanager *s)
{
    uint64_t key, *value;

    for (size_t pos = 0; map_next(&s->cells, &pos, &key, &value);)
        cell_free(s, (struct swm_cell *)(uintptr_t)*value);
    map_free(&s->cells);
    map_free(&s->lines);
    pool_free(&s->line_room);
    for (uint32_t i = 0; i < ARRAY_SIZE(s->cell_room); i++)
        pool_free(&s->cell_room[i]);
}
