/* lockset.c - interned sets of locks: sorted arrays, one after the other in one block, found again
 * by their hash. Everything is charged to the pool's budget; nothing is freed before the pool. */
#include "policy/eraser/lockset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

struct set {
    size_t at; /* of its first lock in the block */
    uint32_t n;
    lockset_id next; /* with the same hash; LOCKSET_EMPTY: none */
};

struct lockset_pool {
    struct set *set; /* owns; by id */
    size_t sets, set_cap;
    uint64_t *lock; /* owns; the block */
    size_t locks, lock_cap;
    uint64_t *work; /* owns; the set being made */
    size_t work_cap;
    struct map found; /* hash to the newest set with it */
    struct map both;  /* two ids, the smaller one in the high half, to their intersection */
    struct budget *budget;
};

struct lockset_pool *lockset_pool_new(struct budget *budget)
{
    struct lockset_pool *p = xcalloc(1, sizeof *p);

    p->budget = budget;
    map_init(&p->found, budget);
    map_init(&p->both, budget);
    p->lock = budget_grow(p->budget, NULL, 0, &p->lock_cap, sizeof *p->lock);
    p->set = budget_grow(p->budget, NULL, 0, &p->set_cap, sizeof *p->set);
    p->set[p->sets++] = (struct set){0}; /* the empty one */
    return p;
}

void lockset_pool_free(struct lockset_pool *p)
{
    if (!p)
        return;
    map_free(&p->found);
    map_free(&p->both);
    free(p->set);
    free(p->lock);
    free(p->work);
    free(p);
}

uint64_t lockset_count(const struct lockset_pool *p)
{
    return p->sets;
}

uint32_t lockset_size(const struct lockset_pool *p, lockset_id set)
{
    assert(set < p->sets);
    return p->set[set].n;
}

static const uint64_t *locks_of(const struct lockset_pool *p, lockset_id id)
{
    assert(id < p->sets);
    return p->lock + p->set[id].at;
}

/* The index at which the lock is in the set, or would be put. */
static uint32_t place_of(const struct lockset_pool *p, lockset_id id, uint64_t lock)
{
    const uint64_t *locks = locks_of(p, id);
    uint32_t low = 0, high = p->set[id].n;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (locks[middle] < lock)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct lockset_pool *p, lockset_id set, uint32_t at, uint64_t lock)
{
    return at < p->set[set].n && locks_of(p, set)[at] == lock;
}

/* ---- interning ------------------------------------------------------------------------------ */

static uint64_t *work_for(struct lockset_pool *p, size_t n)
{
    while (p->work_cap < n)
        p->work = budget_grow(p->budget, p->work, p->work_cap, &p->work_cap, sizeof *p->work);
    return p->work;
}

/* Appends the n locks in p->work as a new set. */
static lockset_id set_add(struct lockset_pool *p, uint32_t n, lockset_id next)
{
    if (p->sets > UINT32_MAX)
        die("lockset: more than 2^32 sets of locks");
    p->set = budget_grow(p->budget, p->set, p->sets, &p->set_cap, sizeof *p->set);
    p->set[p->sets] = (struct set){p->locks, n, next};
    for (uint32_t i = 0; i < n; i++) {
        p->lock = budget_grow(p->budget, p->lock, p->locks, &p->lock_cap, sizeof *p->lock);
        p->lock[p->locks++] = p->work[i];
    }
    return (lockset_id)p->sets++;
}

/* The id of the n sorted locks in p->work. */
static lockset_id intern(struct lockset_pool *p, uint32_t n)
{
    if (!n)
        return LOCKSET_EMPTY;
    uint64_t *newest = map_put(&p->found, digest_bytes(p->work, n * sizeof *p->work));
    for (lockset_id id = (lockset_id)*newest; id; id = p->set[id].next)
        if (p->set[id].n == n && !memcmp(locks_of(p, id), p->work, n * sizeof *p->work))
            return id;
    *newest = set_add(p, n, (lockset_id)*newest);
    return (lockset_id)*newest;
}

/* ---- operations ----------------------------------------------------------------------------- */

lockset_id lockset_with(struct lockset_pool *p, lockset_id set, uint64_t lock)
{
    const uint32_t n = p->set[set].n, at = place_of(p, set, lock);

    if (is_at(p, set, at, lock))
        return set;
    uint64_t *to = work_for(p, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        to[i + (i >= at)] = locks_of(p, set)[i];
    to[at] = lock;
    return intern(p, n + 1);
}

lockset_id lockset_without(struct lockset_pool *p, lockset_id set, uint64_t lock)
{
    const uint32_t n = p->set[set].n, at = place_of(p, set, lock);

    if (!is_at(p, set, at, lock))
        return set;
    uint64_t *to = work_for(p, n);
    for (uint32_t i = 0; i + 1 < n; i++)
        to[i] = locks_of(p, set)[i + (i >= at)];
    return intern(p, n - 1);
}

/* Intersects two sorted arrays in one pass. */
static lockset_id intersect(struct lockset_pool *p, lockset_id a, lockset_id b)
{
    const uint32_t n = p->set[a].n, m = p->set[b].n;
    uint64_t *to = work_for(p, n < m ? n : m);
    uint32_t kept = 0;

    for (uint32_t i = 0, j = 0; i < n && j < m;) {
        const uint64_t x = locks_of(p, a)[i], y = locks_of(p, b)[j];
        if (x == y)
            to[kept++] = x;
        i += x <= y;
        j += y <= x;
    }
    return intern(p, kept);
}

lockset_id lockset_both(struct lockset_pool *p, lockset_id a, lockset_id b)
{
    if (a == b || a == LOCKSET_EMPTY || b == LOCKSET_EMPTY)
        return a == b ? a : LOCKSET_EMPTY;
    const uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    const uint64_t *known = map_find(&p->both, pair);
    if (known)
        return (lockset_id)*known;
    const lockset_id both = intersect(p, a, b);
    *map_put(&p->both, pair) = both;
    return both;
}
