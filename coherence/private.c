/* private.c - one core's L1 and L2, which the directory sees as one: what other cores take from
 * them, what is filled, moves between them and is evicted. What an eviction sends to the home, and
 * when, is in shared.c.
 *
 * An inclusive L2 has every line of the L1, in the same state but for one thing: a store makes E to
 * M in the L1 alone. So the L1's state counts, and is written down when the L1 evicts the line. An
 * exclusive L2 has only what the L1 evicted, and loses what comes up again. What is different where
 * cores share an L2 is in group.c. */
#include "coherence/coherence_int.h"

static struct cache *cache_of(const struct coherence *c, unsigned core, enum mem_level level)
{
    return level == LEVEL_L1 ? &c->priv[core].l1 : &c->priv[core].l2;
}

/* The slots in which a core's caches have a line; CACHE_NONE: not there. */
struct places {
    uint32_t l1, l2;
};

static struct places places_of(const struct coherence *c, unsigned core, uint64_t line)
{
    const struct private_caches *p = &c->priv[core];
    struct places at = {cache_find(&p->l1, line), CACHE_NONE};

    if (!c->has_l2)
        return at;
    if (at.l1 == CACHE_NONE)
        at.l2 = cache_find(&p->l2, line);
    else if (c->inclusive_l2)
        at.l2 = p->l1_below[at.l1];
    return at;
}

/* Returns the core's state of the line. If both caches have it, the L1's state counts. */
static enum priv_state state_at(const struct coherence *c, unsigned core, struct places at)
{
    const struct private_caches *p = &c->priv[core];

    if (at.l1 != CACHE_NONE)
        return (enum priv_state)p->l1.state[at.l1];
    return at.l2 != CACHE_NONE ? (enum priv_state)p->l2.state[at.l2] : PRIV_I;
}

enum priv_state private_state(const struct coherence *c, unsigned core, uint64_t line)
{
    if (UNLIKELY(c->grouped))
        return group_state(c, core, line);
    return state_at(c, core, places_of(c, core, line));
}

/* ---- what other cores do to it -------------------------------------------------------------- */

static inline void drop(struct txn *t, unsigned core, enum mem_level level, uint32_t slot,
                        uint64_t line, enum priv_state was, enum loss why)
{
    if (slot == CACHE_NONE)
        return;
    if (UNLIKELY(t->c->prefetcher != NULL) && level == LEVEL_L2)
        prefetch_lost(t->c, core, slot);
    cache_drop(cache_of(t->c, core, level), slot);
    lose(t->c, level, why);
    coh_event(t, (struct coh_change){LINE_INVALIDATE, level, core, core, line, was, why});
}

enum priv_state private_drop(struct txn *t, unsigned core, uint64_t line, enum loss why)
{
    if (UNLIKELY(t->c->grouped))
        return group_drop(t, core, line, why);
    coh_meet(t->c, core);
    const struct places at = places_of(t->c, core, line);
    const enum priv_state was = state_at(t->c, core, at);

    ENSURE_STATE(was != PRIV_I, t, core, line);
    drop(t, core, LEVEL_L1, at.l1, line, was, why);
    drop(t, core, LEVEL_L2, at.l2, line, was, why);
    return was;
}

static inline void share(struct txn *t, unsigned core, enum mem_level level, uint32_t slot,
                         enum priv_state was)
{
    if (slot == CACHE_NONE)
        return;
    cache_of(t->c, core, level)->state[slot] = PRIV_S;
    t->c->stats.level[level].downgrades++;
    coh_event(t, (struct coh_change){LINE_DOWNGRADE, level, core, core, t->line, was, LOST_CLEAN});
}

enum priv_state private_downgrade(struct txn *t, unsigned core)
{
    if (UNLIKELY(t->c->grouped))
        return group_downgrade(t, core);
    coh_meet(t->c, core);
    const struct places at = places_of(t->c, core, t->line);
    const enum priv_state was = state_at(t->c, core, at);

    ENSURE_STATE(was >= PRIV_E, t, core, t->line);
    share(t, core, LEVEL_L1, at.l1, was);
    share(t, core, LEVEL_L2, at.l2, was);
    return was;
}

/* ---- in and out ----------------------------------------------------------------------------- */

/* A line on its way into or out of a cache. `below` is what l1_below or l2_home has for it there:
 * the slot that it has one level down, which stays the same as long as the core has the line. */
struct moving {
    uint64_t line;
    enum priv_state state;
    uint32_t below;
};

/* The private_caches that hold the core's L2, and those that hold its L1. They differ if cores
 * share L2s: then the L2 is the leader's. */
static inline struct private_caches *own(const struct txn *t)
{
    return &t->c->priv[t->core];
}
static inline struct private_caches *own_l1(const struct txn *t)
{
    return &t->c->priv[t->l1];
}

/* Fills a slot, which is empty by now. */
ALWAYS_INLINE void put(struct txn *t, struct private_caches *p, enum mem_level level, uint32_t slot,
                       struct moving m)
{
    struct cache_stats *s = &t->c->stats.level[level];

    (level == LEVEL_L1 ? p->l1_below : p->l2_home)[slot] = m.below;
    cache_put(level == LEVEL_L1 ? &p->l1 : &p->l2, slot, m.line, (uint8_t)m.state);
    s->fills++;
    s->resident++;
    const unsigned core = level == LEVEL_L1 ? t->l1 : t->core;
    coh_event(t, (struct coh_change){LINE_FILL, level, core, core, m.line, m.state, LOST_CLEAN});
}

/* Empties a slot for another line. */
ALWAYS_INLINE void evict(struct txn *t, struct private_caches *p, enum mem_level level,
                         uint32_t slot, const struct moving *m, enum loss why)
{
    if (UNLIKELY(t->c->prefetcher != NULL) && level == LEVEL_L2)
        prefetch_lost(t->c, t->core, slot);
    cache_drop(level == LEVEL_L1 ? &p->l1 : &p->l2, slot);
    lose(t->c, level, why);
    const unsigned core = level == LEVEL_L1 ? t->l1 : t->core;
    coh_event(t, (struct coh_change){LINE_EVICT, level, core, core, m->line, m->state, why});
}

static inline enum loss by_state(enum priv_state state)
{
    return state == PRIV_M ? LOST_DIRTY : LOST_CLEAN;
}

/* The slot where the line would go. */
static inline uint32_t room(const struct txn *t, struct cache *k, uint64_t line)
{
    return UNLIKELY(t->c->ce) ? cache_last(k, line) : cache_victim(k, line);
}

/* An inclusive L2 takes its line out of the L1, too, and the L1's state leaves with it. */
static void l2_evict(struct txn *t, uint32_t slot, sim_cycle at)
{
    struct private_caches *p = own(t);
    struct moving m = {cache_line(&p->l2, slot), (enum priv_state)p->l2.state[slot],
                       p->l2_home[slot]};
    const bool alone = !t->c->exclusive && !t->c->grouped;
    const uint32_t above = alone ? cache_find(&p->l1, m.line) : CACHE_NONE;

    if (UNLIKELY(t->c->grouped))
        m.state = group_leave(t, slot);
    if (above != CACHE_NONE) {
        m.state = (enum priv_state)p->l1.state[above];
        evict(t, p, LEVEL_L1, above, &m, LOST_BELOW);
    }
    evict(t, p, LEVEL_L2, slot, &m, by_state(m.state));
    shared_put(t, m.line, m.below, m.state, at);
}

/* Puts the line into the L2; returns its slot. */
static uint32_t l2_put(struct txn *t, struct moving m, sim_cycle at)
{
    struct private_caches *p = own(t);
    const uint32_t slot = room(t, &p->l2, m.line);

    if (cache_valid(&p->l2, slot))
        l2_evict(t, slot, at);
    put(t, p, LEVEL_L2, slot, m);
    return slot;
}

/* An L1 victim that no inclusive L2 has goes down into an exclusive L2, or leaves the core. */
static void l1_leave(struct txn *t, const struct moving *m, sim_cycle at)
{
    if (t->c->exclusive)
        l2_put(t, *m, at);
    else
        shared_put(t, m->line, m->below, m->state, at);
}

ALWAYS_INLINE void l1_evict(struct txn *t, struct private_caches *p, uint32_t slot, sim_cycle at)
{
    const struct moving m = {cache_line(&p->l1, slot), (enum priv_state)p->l1.state[slot],
                             p->l1_below[slot]};

    evict(t, p, LEVEL_L1, slot, &m, by_state(m.state));
    if (UNLIKELY(!t->c->inclusive_l2))
        l1_leave(t, &m, at);
    else if (m.state == PRIV_M)
        own(t)->l2.state[m.below] = PRIV_M;
    if (UNLIKELY(t->c->grouped))
        own(t)->l2_above[m.below] &= (uint8_t) ~(1U << (t->l1 - t->core));
}

ALWAYS_INLINE void l1_put(struct txn *t, struct private_caches *p, struct moving m, sim_cycle at)
{
    const uint32_t slot = room(t, &p->l1, m.line);

    if (LIKELY(cache_valid(&p->l1, slot)))
        l1_evict(t, p, slot, at);
    put(t, p, LEVEL_L1, slot, m);
}

void private_l1_put(struct txn *t, enum priv_state state, uint32_t below, sim_cycle at)
{
    l1_put(t, own_l1(t), (struct moving){t->line, state, below}, at);
}

/* A line fetched ahead waits in the L2. */
static NO_INLINE void fill_ahead(struct txn *t, struct moving m, sim_cycle at)
{
    const uint32_t slot = l2_put(t, m, at);

    if (t->c->grouped)
        own(t)->l2_above[slot] = 0;
    prefetch_came(t, slot, at);
}

void private_fill(struct txn *t, enum priv_state state, sim_cycle at)
{
    struct moving m = {t->line, state, entry_slot(t->c, t->entry)};

    if (UNLIKELY(t->ahead)) {
        fill_ahead(t, m, at);
        return;
    }
    if (t->c->inclusive_l2)
        m.below = l2_put(t, m, at);
    if (UNLIKELY(t->c->grouped))
        own(t)->l2_above[m.below] = (uint8_t)(1U << (t->l1 - t->core));
    l1_put(t, own_l1(t), m, at);
}

void private_up(struct txn *t, uint32_t l2_slot, enum priv_state state, sim_cycle at)
{
    struct private_caches *p = own(t);
    struct moving m = {t->line, state, l2_slot};

    if (UNLIKELY(t->c->exclusive)) {
        m.below = p->l2_home[l2_slot];
        cache_drop(&p->l2, l2_slot);
        lose(t->c, LEVEL_L2, LOST_MOVED);
    } else {
        cache_touch(&p->l2, l2_slot);
        p->l2.state[l2_slot] = (uint8_t)state;
    }
    l1_put(t, p, m, at);
}

void private_grant(struct txn *t, sim_cycle at)
{
    struct private_caches *p = own(t);

    if (UNLIKELY(t->c->grouped)) {
        group_up(t, cache_find(&p->l2, t->line), at);
        return;
    }
    const struct places where = places_of(t->c, t->core, t->line);
    if (where.l1 == CACHE_NONE) {
        private_up(t, where.l2, PRIV_M, at);
        return;
    }
    cache_touch(&p->l1, where.l1);
    p->l1.state[where.l1] = PRIV_M;
    if (where.l2 != CACHE_NONE)
        p->l2.state[where.l2] = PRIV_M;
}

/* The core will miss its L1 there and look in its L2. */
void private_prefetch_l2(const struct coherence *c, unsigned core, struct paddr addr)
{
    const struct private_caches *p = &c->priv[leader(c, core)];
    const struct cache *l2 = &p->l2;

    if (!c->has_l2)
        return;
    const uint32_t first = cache_set(l2, addr.at >> c->line_shift) * l2->ways;
    __builtin_prefetch(&l2->tag[first]);
    __builtin_prefetch(&l2->state[first], 1);
    __builtin_prefetch(&p->l2_home[first]);
    if (l2->geometry.replacement == REPLACE_LRU)
        __builtin_prefetch(&l2->order[first], 1);
}

/* Most misses of a large trace miss the host's caches as well. The least recently used line of the
 * set will have to go, and its eviction changes its entry. */
void private_prefetch(const struct coherence *c, unsigned core, uint64_t line)
{
    struct private_caches *p = &c->priv[core];
    const bool in_l1 = !c->inclusive_l2;
    struct cache *k = in_l1 ? &p->l1 : &p->l2;

    if (k->geometry.replacement != REPLACE_LRU)
        return;
    const uint32_t last = cache_last(k, line);
    __builtin_prefetch(&c->entry[in_l1 ? p->l1_below[last] : p->l2_home[last]], 1);
}
