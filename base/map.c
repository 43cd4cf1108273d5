/* map.c - open addressing with linear probing and deletion by shifting back, so that there are no
 * tombstones and the same operations leave the same table. */
#include "base/base.h"

#include <assert.h>
#include <stdlib.h>

enum { MAP_FIRST = 16 };

void map_init(struct map *m, struct budget *budget)
{
    *m = (struct map){.budget = budget};
}

static uint64_t slot_bytes(const struct map *m)
{
    return m->slots ? (m->mask + 1) * (sizeof *m->slots + 1) : 0;
}

void map_free(struct map *m)
{
    budget_give(m->budget, slot_bytes(m));
    free(m->slots);
    free(m->full);
    map_init(m, m->budget);
}

/* Page numbers and addresses differ in low bits: multiply to spread them, fold the high half down.
 */
static size_t home(const struct map *m, uint64_t key)
{
    const uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(h ^ h >> 32) & m->mask;
}

/* The slot that holds key, or the empty one where it would go. */
static size_t probe(const struct map *m, uint64_t key)
{
    size_t i = home(m, key);

    while (m->full[i] && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    return i;
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
    if (!m->slots)
        return NULL;
    const size_t i = probe(m, key);
    return m->full[i] ? &m->slots[i].value : NULL;
}

static void resize(struct map *m, size_t cap)
{
    struct map old = *m;

    m->slots = xmalloc(cap * sizeof *m->slots);
    m->full = xcalloc(cap, 1);
    m->mask = cap - 1;
    budget_take(m->budget, slot_bytes(m));
    for (size_t i = 0; old.slots && i <= old.mask; i++) {
        if (!old.full[i])
            continue;
        const size_t to = probe(m, old.slots[i].key);
        m->full[to] = 1;
        m->slots[to] = old.slots[i];
    }
    budget_give(m->budget, slot_bytes(&old));
    free(old.slots);
    free(old.full);
}

uint64_t *map_put(struct map *m, uint64_t key)
{
    if (!m->slots)
        resize(m, MAP_FIRST);
    else if (m->n * 8 >= (m->mask + 1) * 5)
        resize(m, (m->mask + 1) * 2);
    const size_t i = probe(m, key);
    if (!m->full[i]) {
        m->full[i] = 1;
        m->slots[i] = (struct map_slot){.key = key};
        m->n++;
    }
    return &m->slots[i].value;
}

bool map_remove(struct map *m, uint64_t key)
{
    if (!m->slots)
        return false;
    size_t hole = probe(m, key);
    if (!m->full[hole])
        return false;
    for (size_t i = (hole + 1) & m->mask; m->full[i]; i = (i + 1) & m->mask) {
        /* An entry may move into the hole if that lies on its way from home to where it is. */
        const size_t from_home = (i - home(m, m->slots[i].key)) & m->mask;
        if (from_home < ((i - hole) & m->mask))
            continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->full[hole] = 0;
    m->n--;
    if (m->mask >= MAP_FIRST && m->n * 8 < m->mask) /* a walk costs what is in it, not what was */
        resize(m, (m->mask + 1) / 2);
    return true;
}

bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t **value)
{
    for (; m->slots && *pos <= m->mask; ++*pos) {
        if (!m->full[*pos])
            continue;
        *key = m->slots[*pos].key;
        *value = &m->slots[*pos].value;
        ++*pos;
        return true;
    }
    return false;
}
