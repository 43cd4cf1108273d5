/* map.c - open addressing with linear probing and deletion by shifting back, so that there are no
 * tombstones and the same operations leave the same table.
 *
 * A slot is empty when its key is MAP_EMPTY; the entry of that very key is kept aside. So a look-up
 * touches one cache line. The table shrinks, too: a walk costs what is in it, not what was. */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/budget.h"
#include "base/mem.h"

enum { MAP_FIRST = 16 };

void map_init(struct map *m, struct budget *budget)
{
    *m = (struct map){.budget = budget};
}

void map_free(struct map *m)
{
    budget_give(m->budget, map_bytes(m));
    free(m->slots);
    map_init(m, m->budget);
}

uint64_t *map_find_sentinel(const struct map *m)
{
    return m->has_sentinel ? &((struct map *)(uintptr_t)m)->sentinel.value : NULL;
}

/* Old and new table are charged together for a moment, as both are there. */
static void resize(struct map *m, size_t cap)
{
    struct map old = *m;

    m->slots = xmalloc(cap * sizeof *m->slots);
    m->mask = cap - 1;
    m->shift = 64 - (unsigned)__builtin_ctzll(cap);
    for (size_t i = 0; i < cap; i++)
        m->slots[i].key = MAP_EMPTY;
    budget_take(m->budget, map_bytes(m));
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].key != MAP_EMPTY)
            *map_probe(m, old.slots[i].key) = old.slots[i];
    budget_give(m->budget, map_bytes(&old));
    free(old.slots);
}

/* Full at 5/8: linear probing degrades quickly above that. A pointer that was got before is not
 * valid any more if the table has grown. */
uint64_t *map_put(struct map *m, uint64_t key)
{
    if (UNLIKELY(key == MAP_EMPTY)) {
        if (!m->has_sentinel)
            m->sentinel.value = 0;
        m->n += !m->has_sentinel;
        m->has_sentinel = true;
        return &m->sentinel.value;
    }
    if (!m->slots)
        resize(m, MAP_FIRST);
    struct map_slot *s = map_probe(m, key);
    if (s->key == key)
        return &s->value;
    if (m->n * 8 >= (m->mask + 1) * 5) {
        resize(m, (m->mask + 1) * 2);
        s = map_probe(m, key);
    }
    *s = (struct map_slot){.key = key};
    m->n++;
    return &s->value;
}

bool map_remove(struct map *m, uint64_t key)
{
    if (UNLIKELY(key == MAP_EMPTY)) {
        const bool had = m->has_sentinel;
        m->n -= had;
        m->has_sentinel = false;
        return had;
    }
    if (!m->slots || map_probe(m, key)->key != key)
        return false;
    size_t hole = (size_t)(map_probe(m, key) - m->slots);
    for (size_t i = (hole + 1) & m->mask; m->slots[i].key != MAP_EMPTY; i = (i + 1) & m->mask) {
        /* An entry may move into the hole if that lies on its way from home to where it is. */
        const size_t from_home = (i - map_home(m, m->slots[i].key)) & m->mask;
        if (from_home < ((i - hole) & m->mask))
            continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole].key = MAP_EMPTY;
    m->n--;

    /* Half as large at 1/8: far from 5/8, so that it does not grow and shrink in turn. */
    if (m->mask >= MAP_FIRST && m->n * 8 < m->mask)
        resize(m, (m->mask + 1) / 2);
    return true;
}

/* SIZE_MAX is the position behind the entry that is kept aside, which comes last. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t **value)
{
    struct map_slot *s = NULL;

    for (; m->slots && *pos <= m->mask && !s; ++*pos)
        if (m->slots[*pos].key != MAP_EMPTY)
            s = &m->slots[*pos];
    if (!s && m->has_sentinel && *pos != SIZE_MAX) {
        *pos = SIZE_MAX;
        s = &((struct map *)(uintptr_t)m)->sentinel;
        *key = MAP_EMPTY;
    } else if (s) {
        *key = s->key;
    }
    if (s)
        *value = &s->value;
    return s != NULL;
}
