/* private.c - one core's L1 and L2 as the directory sees them, as one: what goes in, up, down and
 * out. Where a dropped line goes from here, and what that costs, is shared.c's.
 *
 * An inclusive L2 has every line of the L1, in the same state but for one thing: a line in E
 * becomes M in the L1 alone. So the L1's state counts, and goes down with a victim. An exclusive L2
 * has only what the L1 threw out, and loses what comes up again. */
#include "coherence/coh_int.h"

#include <assert.h>

static struct cache *cache_of(const struct coherence *c, unsigned core, enum mem_level level)
{
    return level == LEVEL_L1 ? &c->priv[core].l1 : &c->priv[core].l2;
}

static enum priv_state state_in(const struct cache *k, uint64_t line)
{
    const uint32_t slot = cache_find(k, line);

    return slot == CACHE_NONE ? PRIV_I : (enum priv_state)k->state[slot];
}

enum priv_state private_state(const struct coherence *c, unsigned core, uint64_t line)
{
    const enum priv_state l1 = state_in(&c->priv[core].l1, line);

    return l1 || !c->has_l2 ? l1 : state_in(&c->priv[core].l2, line);
}

/* ---- what other cores do to it -------------------------------------------------------------- */

static inline void meet(const struct coherence *c, unsigned core)
{
    if (c->host.meets)
        c->host.meets(c->host.self, core);
}

static void drop(struct txn *t, unsigned core, enum mem_level level, uint64_t line, bool dirty,
                 enum loss why)
{
    struct cache *k = cache_of(t->c, core, level);
    const uint32_t slot = cache_find(k, line);

    if (slot == CACHE_NONE)
        return;
    cache_drop(k, slot);
    lose(t->c, level, why);
    struct line_event *e = coh_event(t, LINE_INVALIDATE, level, core, line, dirty);
    if (e)
        e->recalled = why == LOST_RECALLED;
}

enum priv_state private_drop(struct txn *t, unsigned core, uint64_t line, enum loss why)
{
    meet(t->c, core);
    const enum priv_state was = private_state(t->c, core, line);

    assert(was != PRIV_I);
    drop(t, core, LEVEL_L1, line, was == PRIV_M, why);
    if (t->c->has_l2)
        drop(t, core, LEVEL_L2, line, was == PRIV_M, why);
    return was;
}

static void share(struct txn *t, unsigned core, enum mem_level level, bool dirty)
{
    struct cache *k = cache_of(t->c, core, level);
    const uint32_t slot = cache_find(k, t->line);

    if (slot == CACHE_NONE)
        return;
    k->state[slot] = PRIV_S;
    t->c->stats.level[level].downgrades++;
    coh_event(t, LINE_DOWNGRADE, level, core, t->line, dirty);
}

enum priv_state private_downgrade(struct txn *t, unsigned core)
{
    meet(t->c, core);
    const enum priv_state was = private_state(t->c, core, t->line);

    assert(was >= PRIV_E);
    if (MUTANT(COH_OWNER_STAYS))
        return was;
    share(t, core, LEVEL_L1, was == PRIV_M);
    if (t->c->has_l2)
        share(t, core, LEVEL_L2, was == PRIV_M);
    return was;
}

/* ---- in and out ----------------------------------------------------------------------------- */

/* A line on its way: in which state, and where its entry is, so that it need not be searched for
 * when the line leaves. An entry stays where it is as long as a core has the line. */
struct moving {
    uint64_t line;
    enum priv_state state;
    uint32_t home;
};

static uint32_t *home_of(const struct coherence *c, unsigned core, enum mem_level level)
{
    return level == LEVEL_L1 ? c->priv[core].l1_home : c->priv[core].l2_home;
}

static void put(struct txn *t, enum mem_level level, uint32_t slot, struct moving m)
{
    struct cache_stats *s = &t->c->stats.level[level];

    cache_put(cache_of(t->c, t->core, level), slot, m.line, (uint8_t)m.state);
    home_of(t->c, t->core, level)[slot] = m.home;
    s->fills++;
    s->resident++;
    coh_event(t, LINE_FILL, level, t->core, m.line, m.state == PRIV_M);
}

static void evict(struct txn *t, enum mem_level level, uint32_t slot, enum priv_state state,
                  enum loss why)
{
    struct cache *k = cache_of(t->c, t->core, level);
    const uint64_t line = cache_line(k, slot);

    cache_drop(k, slot);
    lose(t->c, level, why);
    coh_event(t, LINE_EVICT, level, t->core, line, state == PRIV_M);
}

static enum loss by_state(enum priv_state state)
{
    return state == PRIV_M ? LOST_DIRTY : LOST_CLEAN;
}

static struct moving what_is_at(const struct txn *t, enum mem_level level, uint32_t slot)
{
    const struct cache *k = cache_of(t->c, t->core, level);

    return (struct moving){cache_line(k, slot), (enum priv_state)k->state[slot],
                           home_of(t->c, t->core, level)[slot]};
}

static void leave(struct txn *t, struct moving m, sim_cycle at)
{
    shared_put(t, m.line, m.home, m.state, at);
}

static void l2_evict(struct txn *t, uint32_t slot, sim_cycle at)
{
    const struct cache *l1 = &t->c->priv[t->core].l1;
    struct moving m = what_is_at(t, LEVEL_L2, slot);
    const uint32_t above = t->c->exclusive ? CACHE_NONE : cache_find(l1, m.line);

    if (above != CACHE_NONE) {
        if (!MUTANT(COH_L1_STATE_IGNORED))
            m.state = (enum priv_state)l1->state[above];
        evict(t, LEVEL_L1, above, m.state, LOST_BELOW);
    }
    evict(t, LEVEL_L2, slot, m.state, by_state(m.state));
    leave(t, m, at);
}

static void l2_put(struct txn *t, struct moving m, sim_cycle at)
{
    struct cache *l2 = &t->c->priv[t->core].l2;
    const uint32_t slot = t->c->quirks.last_way ? cache_last(l2, m.line) : cache_victim(l2, m.line);

    if (cache_valid(l2, slot))
        l2_evict(t, slot, at);
    put(t, LEVEL_L2, slot, m);
}

/* An L1 victim goes into the L2, if there is one. */
static void l1_evict(struct txn *t, uint32_t slot, sim_cycle at)
{
    struct cache *l2 = &t->c->priv[t->core].l2;
    const struct moving m = what_is_at(t, LEVEL_L1, slot);

    evict(t, LEVEL_L1, slot, m.state, by_state(m.state));
    if (!t->c->has_l2)
        leave(t, m, at);
    else if (t->c->exclusive)
        l2_put(t, m, at);
    else if (m.state == PRIV_M)
        l2->state[cache_find(l2, m.line)] = PRIV_M;
}

static void l1_put(struct txn *t, struct moving m, sim_cycle at)
{
    struct cache *l1 = &t->c->priv[t->core].l1;
    const uint32_t slot = t->c->quirks.last_way ? cache_last(l1, m.line) : cache_victim(l1, m.line);

    if (cache_valid(l1, slot))
        l1_evict(t, slot, at);
    put(t, LEVEL_L1, slot, m);
}

void private_fill(struct txn *t, enum priv_state state, sim_cycle at)
{
    const struct moving m = {t->line, state, entry_slot(t->c, t->entry)};

    if (t->c->has_l2 && !t->c->exclusive)
        l2_put(t, m, at);
    l1_put(t, m, at);
}

void private_up(struct txn *t, uint32_t l2_slot, enum priv_state state, sim_cycle at)
{
    struct cache *l2 = &t->c->priv[t->core].l2;
    const struct moving m = {t->line, state, t->c->priv[t->core].l2_home[l2_slot]};

    if (t->c->exclusive) {
        cache_drop(l2, l2_slot);
        lose(t->c, LEVEL_L2, LOST_MOVED);
    } else {
        cache_touch(l2, l2_slot);
        l2->state[l2_slot] = (uint8_t)state;
    }
    l1_put(t, m, at);
}

void private_grant(struct txn *t, sim_cycle at)
{
    struct private_caches *p = &t->c->priv[t->core];
    const uint32_t l1 = cache_find(&p->l1, t->line);
    const uint32_t l2 = t->c->has_l2 ? cache_find(&p->l2, t->line) : CACHE_NONE;

    if (l1 == CACHE_NONE) {
        private_up(t, l2, PRIV_M, at);
        return;
    }
    cache_touch(&p->l1, l1);
    p->l1.state[l1] = PRIV_M;
    if (l2 != CACHE_NONE)
        p->l2.state[l2] = PRIV_M;
}

void coherence_soon(const struct coherence *c, unsigned core, sim_addr addr)
{
    const struct private_caches *p = &c->priv[core];
    const struct cache *l2 = &p->l2;

    if (!c->has_l2)
        return;
    const uint32_t first = cache_set(l2, addr >> c->line_shift) * l2->ways;
    __builtin_prefetch(&l2->tag[first]);
    __builtin_prefetch(&l2->state[first], 1);
    __builtin_prefetch(&p->l2_home[first]);
    if (l2->geometry.replacement == REPLACE_LRU)
        __builtin_prefetch(&l2->order[first], 1);
}

/* Most misses of a large trace miss the host's caches as well. */
void private_prefetch(const struct coherence *c, unsigned core, uint64_t line)
{
    const struct private_caches *p = &c->priv[core];
    const bool in_l1 = !c->has_l2 || c->exclusive;
    const struct cache *k = in_l1 ? &p->l1 : &p->l2;

    if (k->geometry.replacement != REPLACE_LRU)
        return;
    const uint32_t first = cache_set(k, line) * k->ways;
    uint32_t last = first;
    for (uint32_t slot = first + 1; slot < first + k->ways; slot++)
        last = k->order[slot] < k->order[last] ? slot : last;
    __builtin_prefetch(&c->entry[(in_l1 ? p->l1_home : p->l2_home)[last]], 1);
}
