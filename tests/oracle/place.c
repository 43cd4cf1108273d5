/* place.c - a table of places, and what clear and copy do to them. A place is never dropped,
 * only emptied: empty is what a new life begins with. */
#include "tests/oracle/place.h"

#include <stdlib.h>
#include <string.h>

void *oracle_need(void *p)
{
    if (!p)
        abort();
    return p;
}

void *oracle_room(void *array, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return array;
    *cap = *cap ? 2 * *cap : 4;
    return oracle_need(realloc(array, *cap * bytes));
}

void list_add(struct list *l, size_t event)
{
    l->at = oracle_room(l->at, l->n, &l->cap, sizeof *l->at);
    l->at[l->n++] = event;
}

static size_t slot_of(const struct places *ps, enum space space, uint64_t addr, uint64_t round)
{
    const uint64_t name = addr + ((uint64_t)space << 56) + (round << 40);
    size_t i = (size_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (ps->slots - 1);

    for (; ps->index[i]; i = (i + 1) & (ps->slots - 1)) {
        const struct place *p = &ps->at[ps->index[i] - 1];
        if (p->space == space && p->addr == addr && p->round == round)
            break;
    }
    return i;
}

static void index_grow(struct places *ps)
{
    free(ps->index);
    ps->slots = ps->slots ? 2 * ps->slots : 64;
    ps->index = oracle_need(calloc(ps->slots, sizeof *ps->index));
    for (size_t i = 0; i < ps->n; i++) {
        const struct place *p = &ps->at[i];
        ps->index[slot_of(ps, p->space, p->addr, p->round)] = i + 1;
    }
}

struct place *place_at(struct places *ps, enum space space, uint64_t addr, uint64_t round)
{
    if (2 * (ps->n + 1) > ps->slots)
        index_grow(ps);
    const size_t i = slot_of(ps, space, addr, round);

    if (!ps->index[i]) {
        ps->at = oracle_room(ps->at, ps->n, &ps->cap, sizeof *ps->at);
        ps->at[ps->n] = (struct place){.space = space, .addr = addr, .round = round};
        ps->index[i] = ++ps->n;
    }
    return &ps->at[ps->index[i] - 1];
}

static void empty(struct place *p)
{
    free(p->exclusive.at);
    free(p->shared.at);
    free(p->hold);
    free(p->entry);
    *p = (struct place){.space = p->space, .addr = p->addr, .round = p->round};
}

static void *clone(const void *from, size_t n, size_t bytes)
{
    if (!n)
        return NULL;
    return memcpy(oracle_need(malloc(n * bytes)), from, n * bytes);
}

static struct list list_clone(const struct list *l)
{
    return (struct list){clone(l->at, l->n, sizeof *l->at), l->n, l->n};
}

static struct place place_clone(const struct place *p)
{
    struct place c = *p;

    c.exclusive = list_clone(&p->exclusive);
    c.shared = list_clone(&p->shared);
    c.hold = clone(p->hold, p->holds, sizeof *p->hold);
    c.holds_cap = p->holds;
    c.entry = clone(p->entry, p->entries, sizeof *p->entry);
    c.entries_cap = p->entries;
    return c;
}

static bool concerned(const struct place *p, uint64_t addr, uint64_t bytes, bool histories)
{
    return p->addr >= addr && p->addr - addr < bytes && (histories || p->space != HISTORY);
}

void places_clear(struct places *ps, uint64_t addr, uint64_t bytes, bool histories)
{
    for (size_t i = 0; i < ps->n; i++)
        if (concerned(&ps->at[i], addr, bytes, histories))
            empty(&ps->at[i]);
}

void places_copy(struct places *ps, uint64_t dst, uint64_t src, uint64_t bytes, bool histories)
{
    struct place *was = NULL;
    size_t n = 0, cap = 0;

    for (size_t i = 0; i < ps->n; i++)
        if (concerned(&ps->at[i], src, bytes, histories)) {
            was = oracle_room(was, n, &cap, sizeof *was);
            was[n++] = place_clone(&ps->at[i]);
        }
    places_clear(ps, dst, bytes, histories);
    for (size_t i = 0; i < n; i++) {
        was[i].addr += dst - src;
        struct place *to = place_at(ps, was[i].space, was[i].addr, was[i].round);
        empty(to);
        *to = was[i];
    }
    free(was);
}

void places_free(struct places *ps)
{
    for (size_t i = 0; i < ps->n; i++)
        empty(&ps->at[i]);
    free(ps->at);
    free(ps->index);
    *ps = (struct places){NULL, 0, 0, NULL, 0};
}
