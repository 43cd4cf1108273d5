/* check.c - the invariants of the protocol, said plainly and checked over everything: one writer or
 * many readers, an exact directory, inclusion, every resident line counted. */
#include "coherence/coherence_int.h"
#include "tests/coherence/check.h"

/* die, not assert: these hold in builds without assertions, too. */
#define HOLDS(x, what)                                                                             \
    do {                                                                                           \
        if (!(x))                                                                                  \
            die("coherence: %s: line 0x%llx, core %u", what,                                       \
                (unsigned long long)(line << c->line_shift), core);                                \
    } while (0)

static struct entry *entry_of(const struct coherence *c, uint64_t line)
{
    const uint32_t slot = cache_find(c->tags, line);

    return slot == CACHE_NONE ? NULL : &c->entry[slot];
}

/* The directory knows a line that one of the core's caches has, and the core in its role: the
 * owner, or a sharer. */
static void check_copy(const struct coherence *c, unsigned core, uint64_t line)
{
    const enum priv_state state = private_state(c, core, line);
    const struct entry *e = entry_of(c, line);

    HOLDS(e != NULL, "a private copy without an entry");
    HOLDS(!e->pending, "a private copy before the memory answered");
    core = leader(c, core);
    HOLDS(sharer_has(e, core), "a copy that the directory does not know");
    HOLDS(state == PRIV_S ? e->owner != core : e->owner == core, "a wrong owner");
    if (e->owner == core) {
        uint64_t left[2] = {e->sharers[0], e->sharers[1]};
        sharers_next(left);
        HOLDS(!sharers_any(left), "an owner is not alone");
    }
}

/* The siblings of a group's core whose L1 has the line do not have it in E or M beside it, nor it
 * beside them; a line that one of them has in E or M, the L2 has in E or M, too. */
static void check_siblings(const struct coherence *c, unsigned core, uint64_t line,
                           uint32_t l1_slot)
{
    const unsigned first = leader(c, core);
    const struct private_caches *p = &c->priv[first];
    const uint32_t slot = cache_find(&p->l2, line);
    const enum priv_state own = (enum priv_state)c->priv[core].l1.state[l1_slot];

    HOLDS(slot != CACHE_NONE, "the inclusion of a shared L2");
    HOLDS(c->priv[core].l1_below[l1_slot] == slot, "where the shared L2 has it");
    HOLDS(own == PRIV_S || p->l2.state[slot] >= PRIV_E, "an L1 has more than its group");
    for (unsigned i = 0; i <= c->group_mask; i++) {
        const bool has = cache_find(&c->priv[first + i].l1, line) != CACHE_NONE;
        HOLDS(has == (p->l2_above[slot] >> i & 1), "which L1s the L2 knows");
        HOLDS(!has || first + i == core || own == PRIV_S, "siblings beside E or M");
    }
}

/* The L2 has each line of the L1 as its inclusion demands, in a state that fits the L1's. */
static void check_levels(const struct coherence *c, unsigned core, uint32_t l1_slot)
{
    const struct private_caches *p = &c->priv[core];
    const struct cache *k = &p->l2;
    const uint64_t line = cache_line(&p->l1, l1_slot);
    const enum priv_state l1 = (enum priv_state)p->l1.state[l1_slot];
    const uint32_t slot = c->has_l2 ? cache_find(k, line) : CACHE_NONE;

    if (!c->has_l2)
        return;
    if (c->grouped) {
        check_siblings(c, core, line, l1_slot);
        return;
    }
    HOLDS(c->exclusive == (slot == CACHE_NONE), "the inclusion of the L2");
    if (slot == CACHE_NONE)
        return;
    const enum priv_state l2 = (enum priv_state)k->state[slot];
    HOLDS(p->l1_below[l1_slot] == slot, "where the L2 has it");
    HOLDS(l1 == l2 || (l1 == PRIV_M && l2 == PRIV_E), "the states of L1 and L2");
}

/* Every line of one private cache; returns how many there are. */
static uint64_t check_cache(const struct coherence *c, unsigned core, enum mem_level level)
{
    const struct private_caches *p = &c->priv[core];
    const struct cache *k = level == LEVEL_L1 ? &p->l1 : &p->l2;
    uint64_t n = 0;

    for (uint32_t slot = 0; slot < cache_slots(k); slot++) {
        if (!cache_valid(k, slot))
            continue;
        const uint64_t line = cache_line(k, slot);
        n++;
        HOLDS(k->state[slot] >= PRIV_S && k->state[slot] <= PRIV_M, "a state that is none");
        check_copy(c, core, line);
        const uint32_t home = level == LEVEL_L1 ? l1_home(c, core, slot) : p->l2_home[slot];
        HOLDS(cache_line(c->tags, home) == line, "where the entry is");
        if (level == LEVEL_L1)
            check_levels(c, core, slot);
    }
    return n;
}

/* The other way round: every core that an entry names has the line. */
static void check_entry(const struct coherence *c, uint32_t slot)
{
    const struct entry *e = &c->entry[slot];
    const uint64_t line = cache_line(c->tags, slot);
    uint64_t left[2] = {e->sharers[0], e->sharers[1]};
    unsigned core = e->owner;

    HOLDS(core == NOBODY || (core < c->cores && sharer_has(e, core)), "an owner without a copy");
    HOLDS(c->inclusive_l3 || e->pending || sharers_any(left), "an entry for nobody");
    while (sharers_any(left)) {
        core = sharers_next(left);
        HOLDS(core == leader(c, core), "a core that does not stand for its group");
        HOLDS(core < c->cores && private_state(c, core, line) != PRIV_I,
              "the directory knows a copy that is none");
    }
}

static uint32_t check_entries(const struct coherence *c, uint64_t *n)
{
    uint32_t pending = 0;

    for (uint32_t slot = 0; slot < cache_slots(c->tags); slot++)
        if (cache_valid(c->tags, slot)) {
            check_entry(c, slot);
            pending += c->entry[slot].pending;
            (*n)++;
        }
    return pending;
}

/* An L3's line, with several nodes: beside an owner only the owner's node has a copy, and at most
 * one of its copies is dirty. */
static void check_nodes(const struct coherence *c, unsigned node, uint32_t slot)
{
    const uint64_t line = cache_line(&c->l3[node], slot);
    const struct entry *e = entry_of(c, line);
    const unsigned core = numa_place(c, node);

    HOLDS(!e || e->owner == NOBODY || numa_node(c, e->owner) == node,
          "a copy in an L3 beside an owner in another node");
    for (unsigned other = node + 1; other < c->numa.nodes; other++) {
        const uint32_t there = l3_find(c, other, line);
        HOLDS(there == CACHE_NONE ||
                  !(c->l3[node].state[slot] & c->l3[other].state[there] & L3_DIRTY),
              "two dirty copies in L3s");
    }
}

static uint64_t check_l3(const struct coherence *c, unsigned node)
{
    uint64_t resident = 0;

    for (uint32_t slot = 0; slot < cache_slots(&c->l3[node]); slot++) {
        if (!cache_valid(&c->l3[node], slot))
            continue;
        resident++;
        if (numa_several(c))
            check_nodes(c, node, slot);
    }
    return resident;
}

void coherence_check(const struct coherence *c)
{
    const struct coh_stats *s = &c->stats;
    const uint64_t line = 0; /* of no line in particular */
    uint64_t l1 = 0, l2 = 0, l3 = 0, entries = 0;

    for (unsigned core = 0; core < c->cores; core++) {
        l1 += check_cache(c, core, LEVEL_L1);
        if (c->has_l2 && core == leader(c, core))
            l2 += check_cache(c, core, LEVEL_L2);
    }
    const unsigned core = 0;
    HOLDS(check_entries(c, &entries) == c->n_pending, "the count of pending lines");
    HOLDS(l1 == s->level[LEVEL_L1].resident, "the count of lines in the L1s");
    HOLDS(l2 == s->level[LEVEL_L2].resident, "the count of lines in the L2s");
    for (unsigned node = 0; node < c->numa.nodes; node++)
        l3 += check_l3(c, node);
    HOLDS(l3 == s->level[LEVEL_L3].resident, "the count of lines in the L3");
    HOLDS(c->inclusive_l3 || entries == s->entries_live, "the count of entries");
}
