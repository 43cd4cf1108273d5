/* histories.c - what a policy in hardware needs of the caches for its access histories. They live
 * in cache lines like any other, in caches that are not modified for them (RADISH, ISCA 2012), but
 * in addresses that no memory backs. They can be dropped because LARD's software moves histories
 * under the caches, which must not keep what it moved (4.2). */
#include "coherence/coherence_int.h"

const char *coherence_no_histories(const struct coherence *c)
{
    if (c->grouped)
        return "l2.shared-by: cores share an L2";
    return numa_several(c) ? "numa.nodes: there are several nodes" : NULL;
}

static void caches_histories(void *coherence, struct paddr from, uint64_t bytes)
{
    struct coherence *c = coherence;

    c->histories = from.at >> c->line_shift;
    c->n_histories = bytes >> c->line_shift;
}

/* The latency of a hit at this level. */
static sim_cycle latency_of(const struct coherence *c, enum mem_level level)
{
    const sim_cycle of[LEVELS] = {
        [LEVEL_L1] = c->time.l1, [LEVEL_L2] = c->time.l2, [LEVEL_L3] = coh_params_l3(&c->params)};

    return of[level];
}

/* The nearest level that has the line, looking at all cores' caches and the L3. */
static enum mem_level nearest(const struct coherence *c, uint64_t line, const struct entry *e)
{
    enum mem_level level = LEVEL_NONE;

    for (unsigned node = 0; node < c->numa.nodes; node++)
        if (l3_find(c, node, line) != CACHE_NONE)
            level = LEVEL_L3;
    if (!e)
        return level;
    uint64_t left[2] = {e->sharers[0], e->sharers[1]};
    while (sharers_any(left)) {
        const unsigned core = sharers_next(left);
        for (unsigned i = core; i <= core + c->group_mask; i++)
            if (cache_find(&c->priv[i].l1, line) != CACHE_NONE)
                return LEVEL_L1;
        level = LEVEL_L2;
    }
    return level;
}

/* Counts the messages of it, and charges no time for them: the caller pays one hit. */
static void drop_private(struct txn *t, struct entry *e)
{
    uint64_t left[2] = {e->sharers[0], e->sharers[1]};

    while (sharers_any(left)) {
        const unsigned core = sharers_next(left);
        private_drop(t, core, t->line, LOST_DROPPED);
        network_count(t->c->network, MSG_INVALIDATE, BYTES_CONTROL, TRAFFIC_METADATA);
        network_count(t->c->network, MSG_ACK, BYTES_CONTROL, TRAFFIC_METADATA);
    }
    e->sharers[0] = e->sharers[1] = 0;
    e->owner = NOBODY;
}

static void drop_shared(struct coherence *c, uint64_t line, uint32_t slot)
{
    for (unsigned node = 0; node < c->numa.nodes; node++) {
        const uint32_t l3 = l3_find(c, node, line);
        if (l3 == CACHE_NONE)
            continue;
        cache_drop(&c->l3[node], l3);
        lose(c, LEVEL_L3, LOST_DROPPED);
    }
    if (!c->inclusive_l3 && slot != CACHE_NONE)
        shared_entry_end(c, slot);
}

static sim_cycle caches_drop(void *coherence, unsigned core, struct paddr addr, uint8_t *level,
                             sim_cycle now)
{
    struct coherence *c = coherence;
    const uint64_t line = addr.at >> c->line_shift;
    const uint32_t slot = cache_find(c->tags, line);
    struct entry *e = slot == CACHE_NONE ? NULL : &c->entry[slot];
    const unsigned heard = c->heard; /* the policy asked for this: it hears no event of it */

    ENSURE(!e || !e->pending, c->host.context,
           "core %u drops line 0x%llx, whose read of memory is not answered", core,
           (unsigned long long)addr.at);
    const enum mem_level at = nearest(c, line, e);
    *level = (uint8_t)at;
    if (at == LEVEL_NONE)
        return now;
    coherence_listen(c, 0);
    if (e) {
        struct txn t;
        txn_begin(&t, c, core, line, MEM_STORE, TRAFFIC_METADATA, now);
        drop_private(&t, e);
    }
    coherence_listen(c, heard);
    drop_shared(c, line, slot);
    c->stats.dropped++;
    return now + latency_of(c, at);
}

sim_cycle coherence_probe(struct coherence *c, unsigned core, struct paddr addr,
                          const uint64_t cores[2], unsigned bytes, sim_cycle now)
{
    const unsigned home = home_node(c, addr.at >> c->line_shift);
    struct txn t;
    uint64_t left[2] = {cores[0], cores[1]};
    sim_cycle last = now;

    ENSURE(now >= c->latest || !c->contention, c->host.context,
           "a probe at cycle %llu comes before its turn, as others were at cycle %llu; of core %u, "
           "line 0x%llx",
           (unsigned long long)now, (unsigned long long)c->latest, core,
           (unsigned long long)addr.at);
    c->latest = now;
    c->stats.probes++;
    txn_begin(&t, c, core, addr.at >> c->line_shift, MEM_LOAD, TRAFFIC_METADATA, now);
    const sim_cycle asked = coh_send(&t, core, home, MSG_REQUEST, BYTES_CONTROL, now);
    while (sharers_any(left)) {
        const unsigned other = sharers_next(left);
        const sim_cycle there = coh_send(&t, home, other, MSG_FORWARD, BYTES_CONTROL, asked);
        last = u64_max(last, coh_send(&t, other, core, MSG_ACK, BYTES_CONTROL + bytes,
                                      there + c->time.remote));
        c->stats.probed++;
    }
    return last;
}

static void caches_piggyback(void *coherence, uint64_t bytes)
{
    struct coherence *c = coherence;

    c->stats.piggybacked += bytes;
}

static enum mem_level caches_where(const void *coherence, unsigned core, struct paddr addr)
{
    const struct coherence *c = coherence;
    const uint64_t line = addr.at >> c->line_shift;

    if (cache_find(&c->priv[core].l1, line) != CACHE_NONE)
        return LEVEL_L1;
    if (c->has_l2 && cache_find(&c->priv[leader(c, core)].l2, line) != CACHE_NONE)
        return LEVEL_L2;
    return l3_find(c, numa_node(c, core), line) == CACHE_NONE ? LEVEL_NONE : LEVEL_L3;
}

const uint64_t *coherence_lost(const struct coherence *c)
{
    return &c->lost;
}

struct caches coherence_caches(struct coherence *c)
{
    static const struct caches_type type = {
        .histories = caches_histories,
        .drop = caches_drop,
        .piggyback = caches_piggyback,
        .where = caches_where,
    };

    return (struct caches){&type, c};
}

/* ---- cache capacity that data have lost to histories ---------------------------------------- */

static void count_private(struct coherence *c, enum mem_level level, unsigned core)
{
    const struct private_caches *p = &c->priv[core];
    struct cache_stats *s = &c->stats.level[level];
    const struct cache *k = level == LEVEL_L1 ? &p->l1 : &p->l2;
    const uint32_t slots = cache_slots(k);
    uint64_t metadata = 0;

    s->capacity += slots;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!k->state[slot])
            continue;
        const uint32_t home = level == LEVEL_L1 ? l1_home(c, core, slot) : p->l2_home[slot];
        metadata += c->entry[home].traffic == TRAFFIC_METADATA;
    }
    s->resident_metadata += metadata;
}

void coherence_census(struct coherence *c)
{
    struct cache_stats *l3 = &c->stats.level[LEVEL_L3];
    uint64_t metadata = 0;

    for (enum mem_level level = LEVEL_L1; level <= LEVEL_L3; level++)
        c->stats.level[level].capacity = c->stats.level[level].resident_metadata = 0;
    for (unsigned i = 0; i < c->cores; i++) {
        count_private(c, LEVEL_L1, i);
        if (c->has_l2 && i == leader(c, i))
            count_private(c, LEVEL_L2, i);
    }
    for (unsigned node = 0; node < c->numa.nodes; node++) {
        const struct cache *k = &c->l3[node];
        const uint32_t slots = cache_slots(k);
        l3->capacity += slots;
        for (uint32_t slot = 0; slot < slots; slot++)
            metadata += (k->state[slot] & L3_METADATA) != 0;
    }
    l3->resident_metadata = metadata;
}
