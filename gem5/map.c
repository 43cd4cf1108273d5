/* map.c - linear probing; at most half of the slots are used. */
#include "gem5/map.h"

#include <stdlib.h>

static size_t home(const struct lard_map *m, uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u; /* 2^64 / the golden ratio: spreads neighbours */
    return (size_t)(key >> 32) & m->mask;
}

static size_t place(const struct lard_map *m, uint64_t key) /* the key's slot, now or once put */
{
    size_t i = home(m, key);

    while (m->slot[i].used && m->slot[i].key != key)
        i = (i + 1) & m->mask;
    return i;
}

uint64_t *lard_map_find(const struct lard_map *m, uint64_t key)
{
    if (!m->slot)
        return NULL;

    struct lard_map_slot *s = &m->slot[place(m, key)];

    return s->used ? &s->value : NULL;
}

static bool grow(struct lard_map *m)
{
    struct lard_map more = {.mask = m->slot ? m->mask * 2 + 1 : 63};

    more.slot = calloc(more.mask + 1, sizeof *more.slot);
    if (!more.slot)
        return false;
    for (size_t i = 0; m->slot && i <= m->mask; i++)
        if (m->slot[i].used)
            more.slot[place(&more, m->slot[i].key)] = m->slot[i];
    more.used = m->used;
    free(m->slot);
    *m = more;
    return true;
}

bool lard_map_put(struct lard_map *m, uint64_t key, uint64_t value)
{
    if ((!m->slot || m->used > m->mask / 2) && !grow(m))
        return false;

    struct lard_map_slot *s = &m->slot[place(m, key)];

    m->used += !s->used;
    *s = (struct lard_map_slot){key, value, true};
    return true;
}

void lard_map_remove(struct lard_map *m, uint64_t key)
{
    if (!m->slot)
        return;

    size_t hole = place(m, key);

    if (!m->slot[hole].used)
        return;
    /* An entry that was pushed past the hole moves back into it, as a search ends at an empty
     * slot. */
    for (size_t i = (hole + 1) & m->mask; m->slot[i].used; i = (i + 1) & m->mask)
        if (((i - home(m, m->slot[i].key)) & m->mask) >= ((i - hole) & m->mask)) {
            m->slot[hole] = m->slot[i];
            hole = i;
        }
    m->slot[hole].used = false;
    m->used--;
}

void lard_map_free(struct lard_map *m)
{
    free(m->slot);
    *m = (struct lard_map){0};
}
