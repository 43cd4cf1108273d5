/* group.c - cores that share an L2: who keeps their L1s coherent.
 *
 * The directory knows the group as one holder, under the number of its first core, the leader. The
 * L2 is inclusive, so it sees every miss of its L1s. It knows which of them have a line
 * (l2_above), and in which state the group has it. Inside the group these rules hold besides:
 * - The group's state is the L2's, but M if an L1 has the line in M: a store makes E to M in the
 *   L1 alone.
 * - An L1 has E or M only if no other L1 of the group has the line; else all of them have S.
 * - So a store to a line that an L1 has in S asks the L2. If the group has E or M, the L2 takes the
 *   siblings' copies away and nobody else hears of it; else the home is asked, as for an upgrade.
 * - A load that finds a sibling in E or M makes that copy S. What was M there is written down into
 *   the L2, whose state becomes M. */
#include "coherence/coherence_int.h"

struct shared_l2 { /* a line that a shared L2 has, and the L1s that have it, too */
    struct private_caches *of;
    unsigned leader, l2_slot;
};

static struct shared_l2 group_of(const struct coherence *c, unsigned leader, uint64_t line)
{
    struct private_caches *of = &c->priv[leader];

    return (struct shared_l2){of, leader, cache_find(&of->l2, line)};
}

/* Goes through the L1s that have the line: *left begins as g.of->l2_above. */
static unsigned next_above(const struct shared_l2 *g, unsigned *left)
{
    const unsigned core = g->leader + (unsigned)__builtin_ctz(*left);

    *left &= *left - 1;
    return core;
}

static enum priv_state state_of(const struct coherence *c, const struct shared_l2 *g, uint64_t line)
{
    enum priv_state state = (enum priv_state)g->of->l2.state[g->l2_slot];

    for (unsigned left = g->of->l2_above[g->l2_slot]; left;) {
        const struct cache *l1 = &c->priv[next_above(g, &left)].l1;
        if (l1->state[cache_find(l1, line)] == PRIV_M)
            state = PRIV_M;
    }
    return state;
}

enum priv_state group_state(const struct coherence *c, unsigned of, uint64_t line)
{
    const struct shared_l2 g = group_of(c, leader(c, of), line);

    return g.l2_slot == CACHE_NONE ? PRIV_I : state_of(c, &g, line);
}

/* Takes the line out of an L1 of the group. */
static void drop_l1(struct txn *t, const struct shared_l2 *g, unsigned core, uint64_t line,
                    enum line_what what, enum loss why)
{
    struct cache *l1 = &t->c->priv[core].l1;
    const uint32_t slot = cache_find(l1, line);
    const enum priv_state was = (enum priv_state)l1->state[slot];

    if (what != LINE_EVICT || core != t->l1) /* its own access needs no notice */
        coh_meet(t->c, core);
    if (was == PRIV_M)
        g->of->l2.state[g->l2_slot] = PRIV_M;
    g->of->l2_above[g->l2_slot] &= (uint8_t) ~(1U << (core - g->leader));
    cache_drop(l1, slot);
    lose(t->c, LEVEL_L1, why);
    coh_event(t, (struct coh_change){what, LEVEL_L1, core, core, line, was, why});
}

static void drop_all_l1(struct txn *t, const struct shared_l2 *g, uint64_t line,
                        enum line_what what, enum loss why)
{
    for (unsigned left = g->of->l2_above[g->l2_slot]; left;)
        drop_l1(t, g, next_above(g, &left), line, what, why);
}

enum priv_state group_drop(struct txn *t, unsigned of, uint64_t line, enum loss why)
{
    const struct shared_l2 g = group_of(t->c, of, line);

    ENSURE_STATE(g.l2_slot != CACHE_NONE, t, of, line);
    drop_all_l1(t, &g, line, LINE_INVALIDATE, why);
    const enum priv_state was = (enum priv_state)g.of->l2.state[g.l2_slot];
    if (t->c->prefetcher)
        prefetch_lost(t->c, of, g.l2_slot);
    cache_drop(&g.of->l2, g.l2_slot);
    lose(t->c, LEVEL_L2, why);
    coh_event(t, (struct coh_change){LINE_INVALIDATE, LEVEL_L2, of, of, line, was, why});
    return was;
}

/* An L1 that has E or M keeps the line in S. If that was M, the L2 has it in M from now on. */
static void share_l1(struct txn *t, const struct shared_l2 *g, unsigned core)
{
    struct cache *l1 = &t->c->priv[core].l1;
    const uint32_t slot = cache_find(l1, t->line);
    const enum priv_state was = (enum priv_state)l1->state[slot];

    if (was == PRIV_S)
        return;
    coh_meet(t->c, core);
    l1->state[slot] = PRIV_S;
    t->c->stats.level[LEVEL_L1].downgrades++;
    coh_event(t,
              (struct coh_change){LINE_DOWNGRADE, LEVEL_L1, core, core, t->line, was, LOST_CLEAN});
    if (was != PRIV_M)
        return;
    g->of->l2.state[g->l2_slot] = PRIV_M;
    t->c->stats.sibling_write_backs++;
}

enum priv_state group_downgrade(struct txn *t, unsigned of)
{
    const struct shared_l2 g = group_of(t->c, of, t->line);

    for (unsigned left = g.of->l2_above[g.l2_slot]; left;)
        share_l1(t, &g, next_above(&g, &left));
    const enum priv_state was = (enum priv_state)g.of->l2.state[g.l2_slot];
    ENSURE_STATE(was >= PRIV_E, t, of, t->line);
    g.of->l2.state[g.l2_slot] = PRIV_S;
    t->c->stats.level[LEVEL_L2].downgrades++;
    coh_event(t, (struct coh_change){LINE_DOWNGRADE, LEVEL_L2, of, of, t->line, was, LOST_CLEAN});
    return was;
}

enum priv_state group_leave(struct txn *t, uint32_t l2_slot)
{
    struct private_caches *of = &t->c->priv[t->core];
    const struct shared_l2 g = {of, t->core, l2_slot};

    drop_all_l1(t, &g, cache_line(&of->l2, l2_slot), LINE_EVICT, LOST_BELOW);
    return (enum priv_state)of->l2.state[l2_slot];
}

/* The siblings that have the line lose it to a store, or share it with a load. True: one was in the
 * way. */
static bool ask_siblings(struct txn *t, const struct shared_l2 *g)
{
    unsigned left = g->of->l2_above[g->l2_slot] & ~(1U << (t->l1 - t->core));
    bool asked = false;

    while (left) {
        const unsigned core = next_above(g, &left);
        const struct cache *l1 = &t->c->priv[core].l1;
        if (t->cmd == MEM_LOAD) {
            asked |= l1->state[cache_find(l1, t->line)] != PRIV_S;
            share_l1(t, g, core);
        } else {
            asked = true;
            drop_l1(t, g, core, t->line, LINE_INVALIDATE, LOST_INVALIDATED);
        }
    }
    return asked;
}

/* The state in which the L1 gets the line: with siblings that have it, S. */
static enum priv_state l1_state(const struct txn *t, const struct shared_l2 *g)
{
    if (t->cmd != MEM_LOAD)
        return PRIV_M;
    return g->of->l2_above[g->l2_slot] ? PRIV_S : (enum priv_state)g->of->l2.state[g->l2_slot];
}

bool group_up(struct txn *t, uint32_t l2_slot, sim_cycle at)
{
    struct private_caches *of = &t->c->priv[t->core];
    struct cache *l1 = &t->c->priv[t->l1].l1;
    const struct shared_l2 g = {of, t->core, l2_slot};
    const uint8_t bit = (uint8_t)(1U << (t->l1 - t->core));
    const bool asked = ask_siblings(t, &g);

    ENSURE_STATE(l2_slot != CACHE_NONE, t, t->l1, t->line);
    cache_touch(&of->l2, l2_slot);
    if (t->cmd != MEM_LOAD)
        of->l2.state[l2_slot] = PRIV_M;
    if (of->l2_above[l2_slot] & bit) { /* in S, and the access is a store */
        const uint32_t slot = cache_find(l1, t->line);
        cache_touch(l1, slot);
        if (t->cmd != MEM_LOAD)
            l1->state[slot] = PRIV_M;
        return asked;
    }
    const enum priv_state state = l1_state(t, &g);
    of->l2_above[l2_slot] |= bit;
    private_l1_put(t, state, l2_slot, at);
    return asked;
}
