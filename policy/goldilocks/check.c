/* check.c - Check-Happens-Before of Figure 8: whether a recorded access is ordered
 * before the one in hand. Checks that are enough by themselves come first (5.1); else the lockset
 * is evaluated.
 *
 * Two things are not as printed. The lock that a record remembers (alock) is one that its own
 * thread held at the access; line 6 has the earlier accessor's, with which line 4 would prove
 * nothing. And it is remembered at every access, not only after an evaluation. */
#include "policy/goldilocks/goldilocks.h"

#include <stdlib.h>

/* ---- the short-circuit checks --------------------------------------------------------------- */

static bool holds(const struct goldilocks *g, sim_tid tid, gold_element lock)
{
    const struct gold_thread *t = tid < g->threads ? &g->thread[tid] : NULL;

    for (size_t k = 0; t && k < t->holds; k++)
        if (t->held[k] == lock)
            return true;
    return false;
}

/* The lock that was held at the earlier access is held now, by another thread. So it was released
 * and acquired in between, which orders the two accesses. */
static bool lock_in_common(struct goldilocks *g, const struct gold_info *i, struct gold_now *now)
{
    if (!i->alock || g->by_kernel)
        return false;
    gold_cost_held(g, now);
    if (!holds(g, now->ev->tid, i->alock) || gold_spoilt(g, i->alock))
        return false;
    now->alock = i->alock;
    return true;
}

/* The lock that the thread acquired last, of those that prove something. */
static gold_element latest_held(const struct goldilocks *g, sim_tid tid)
{
    const struct gold_thread *t = tid < g->threads ? &g->thread[tid] : NULL;

    for (size_t k = t && !g->by_kernel ? t->holds : 0; k-- > 0;)
        if (!gold_spoilt(g, t->held[k]))
            return t->held[k];
    return 0;
}

gold_element gold_held_lock(const struct goldilocks *g, const struct gold_now *now)
{
    return now->alock ? now->alock : latest_held(g, now->ev->tid);
}

/* ---- evaluation ----------------------------------------------------------------------------- */

static struct gold_set *set_empty(struct goldilocks *g)
{
    enum { LARGE = 1024 };

    if (g->scratch.cap > LARGE)
        gold_set_free(&g->scratch, g->env->budget);
    gold_set_clear(&g->scratch);
    return &g->scratch;
}

/* Apply-Lockset-Rules of Figure 8, on a machine: applies the list's cells to the lockset until it
 * has the accessing thread. two: those of the two threads alone. A record that trimming has moved
 * begins with what the cells up to the head have left it. */
static bool walk(struct goldilocks *g, const struct gold_info *i, bool two,
                 const struct gold_now *now)
{
    struct gold_set *set = set_empty(g);
    const gold_element me = gold_actor(now->actor);
    const uint64_t from = gold_info_at(g, i), tail = g->list.tail;
    uint64_t n = from;

    gold_set_add(set, gold_actor(i->actor), g->env->budget);
    bool known = gold_set_has(set, me) || (i->pos < n && gold_has(g, me, i->actor, i->moment));
    for (; n < tail && !known; n++) {
        const struct gold_cell *c = gold_cell_at(&g->list, n);
        const bool heeded = !two || c->actor == i->actor || c->actor == now->actor;
        gold_cost_cell(g, c, heeded, now);
        if (!heeded)
            continue;
        gold_apply(g, set, i, c);
        known = gold_set_has(set, me);
    }
    g->st.walked += n - from;
    gold_cost_walked(g);
    return known;
}

bool gold_check(struct goldilocks *g, const struct gold_info *i, struct gold_now *now)
{
    struct gold_stats *st = &g->st;

    st->checks++;
    gold_cost_look(g, i);
    /* 5.3: both were in transactions. Commits that the view heeds order the variable, as long as it
     * is in the same life for them. */
    if (i->xact && i->xact == now->xact)
        st->by_transaction++;
    else if (g->is.same_thread && i->actor == now->actor)
        st->by_thread++;
    else if (g->is.held_lock && lock_in_common(g, i, now))
        st->by_lock++;
    else if (g->is.two_threads &&
             (g->cost->on ? walk(g, i, true, now)
                          : gold_has_by_two(g, now->actor, i->actor, i->moment)))
        st->by_two++;
    else if (g->cost->on ? walk(g, i, false, now)
                         : gold_has(g, gold_actor(now->actor), i->actor, i->moment)) {
        st->by_lockset++;
    } else {
        st->unordered++;
        return false;
    }
    return true;
}
