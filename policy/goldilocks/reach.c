/* reach.c - all locksets at once. The locksets of an actor's accesses lie in each other: an element
 * that is in the lockset of an access is in those of the actor's earlier accesses, too. So for each
 * element and each actor there is one number, the last moment of the actor whose accesses have the
 * element, and an event of the list changes all locksets by one pass over the actors, however many
 * variables there are.
 *
 * Without a machine each event is applied when it happens. With one, locksets are evaluated as
 * published, record by record (check.c), and this has what partially-eager evaluation
 * leaves to records: the locksets at the list's head. */
#include "policy/goldilocks/goldilocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- elements ------------------------------------------------------------------------------- */

static NO_INLINE void actors_grow(struct goldilocks *g, uint32_t actor)
{
    size_t i = g->actors;

    g->actor = budget_reach(g->env->budget, g->actor, &g->actors, actor, sizeof *g->actor);
    for (; i < g->actors; i++)
        g->actor[i].moment = 1;
}

struct gold_actor *gold_actor_at(struct goldilocks *g, uint32_t actor)
{
    if (UNLIKELY(actor >= g->actors))
        actors_grow(g, actor);
    return &g->actor[actor];
}

uint64_t gold_close(struct goldilocks *g, uint32_t actor)
{
    return gold_actor_at(g, actor)->moment++;
}

static bool is_actor(gold_element e)
{
    return e >= GOLD_ACTORS && e < GOLD_BIRTHS;
}

static struct gold_reach *reach_find(const struct goldilocks *g, gold_element e)
{
    const uint64_t *at = map_find(&g->reach, e);

    return at ? (struct gold_reach *)(uintptr_t)*at : NULL;
}

static struct gold_reach *reach_of(struct goldilocks *g, gold_element e)
{
    uint64_t *at = map_put(&g->reach, e);

    if (!*at) {
        *at = (uintptr_t)xcalloc(1, sizeof(struct gold_reach));
        budget_take(g->env->budget, sizeof(struct gold_reach));
    }
    return (struct gold_reach *)(uintptr_t)*at;
}

static const struct vclock *until_find(const struct goldilocks *g, gold_element e)
{
    if (is_actor(e))
        return e - GOLD_ACTORS < g->actors ? &g->actor[e - GOLD_ACTORS].until : NULL;
    const struct gold_reach *r = reach_find(g, e);
    return r ? &r->until : NULL;
}

static struct vclock *until_of(struct goldilocks *g, gold_element e)
{
    return is_actor(e) ? &gold_actor_at(g, e - GOLD_ACTORS)->until : &reach_of(g, e)->until;
}

static void reach_free(struct goldilocks *g, struct gold_reach *r)
{
    struct budget *b = g->env->budget;

    vclock_free(&r->until, b);
    budget_give(b, sizeof *r + r->cap * sizeof *r->giver);
    free(r->giver);
    free(r);
}

void gold_reach_drop(struct goldilocks *g, gold_element e)
{
    struct gold_reach *r = reach_find(g, e);

    if (!r)
        return;
    map_remove(&g->reach, e);
    reach_free(g, r);
}

void gold_reach_free(struct goldilocks *g)
{
    uint64_t key, *value;

    for (size_t pos = 0; map_next(&g->reach, &pos, &key, &value);)
        reach_free(g, (struct gold_reach *)(uintptr_t)*value);
    map_free(&g->reach);
    for (size_t i = 0; i < g->actors; i++) {
        vclock_free(&g->actor[i].until, g->env->budget);
        vclock_free(&g->actor[i].direct, g->env->budget);
    }
    free(g->actor);
}

/* ---- a cell's effect on all locksets -------------------------------------------------------- */

static void lift(struct goldilocks *g, struct vclock *c, uint32_t actor, uint64_t moment)
{
    if (vclock_get(c, actor) < moment)
        vclock_set(c, actor, moment, g->env->budget);
}

/* Adds to `to`: each lockset that has `from` gets the element whose clock `to` is. Locksets of an
 * actor's own accesses have the actor. */
static void bring(struct goldilocks *g, struct vclock *to, gold_element from, uint64_t moment)
{
    const struct vclock *c = from ? until_find(g, from) : NULL;

    if (c)
        vclock_join(to, c, g->env->budget);
    if (is_actor(from))
        lift(g, to, from - GOLD_ACTORS, moment);
}

static void apply_commit(struct goldilocks *g, const struct gold_cell *c)
{
    const struct gold_variables *v = c->variables;
    struct vclock *me = until_of(g, gold_actor(c->actor));

    for (size_t i = 0; i < v->n; i++)
        if (v->at[i].takes)
            bring(g, me, v->at[i].element, 0);
    for (size_t i = 0; i < v->n; i++)
        if (v->at[i].gives)
            bring(g, until_of(g, v->at[i].element), gold_actor(c->actor), v->moment);
    gold_actor_at(g, c->actor)->closed = v->moment;
}

static void apply_edge(struct goldilocks *g, const struct gold_cell *c)
{
    struct vclock *to = until_of(g, c->to);

    bring(g, to, c->from[0], c->moment);
    bring(g, to, c->from[1], 0);
    if (is_actor(c->from[0]))
        gold_actor_at(g, c->from[0] - GOLD_ACTORS)->closed = c->moment;
}

void gold_reach_apply(struct goldilocks *g, const struct gold_cell *c)
{
    switch ((enum gold_rule)c->rule) {
    case GOLD_EDGE:
        apply_edge(g, c);
        break;
    case GOLD_COMMIT:
        apply_commit(g, c);
        break;
    case GOLD_RAW:
        lift(g, until_of(g, c->to), c->from[0] - GOLD_ACTORS, c->moment);
        break;
    }
}

bool gold_has(const struct goldilocks *g, gold_element e, uint32_t actor, uint64_t moment)
{
    if (e == gold_actor(actor))
        return true;
    const struct vclock *c = until_find(g, e);
    return c && vclock_get(c, actor) >= moment;
}

/* ---- by two actors' own events --------------------------------------------------------------- */

/* An actor gives an element by its own event, and another takes it by an event of its own. Whatever
 * else the two do adds nothing for them. */
static void element_give(struct goldilocks *g, gold_element e, uint32_t actor, uint64_t moment)
{
    struct gold_reach *r = reach_of(g, e);
    uint32_t i = 0;

    while (i < r->givers && r->giver[i].actor != actor)
        i++;
    if (i == r->givers) {
        r->giver = budget_grow32(g->env->budget, r->giver, i, &r->cap, sizeof *r->giver);
        r->givers++;
    }
    r->giver[i] = (struct gold_giver){.moment = moment, .actor = actor};
}

static void element_take(struct goldilocks *g, struct vclock *direct, gold_element e)
{
    const struct gold_reach *r = e ? reach_find(g, e) : NULL;

    for (uint32_t i = 0; r && i < r->givers; i++)
        lift(g, direct, r->giver[i].actor, r->giver[i].moment);
}

static void direct_edge(struct goldilocks *g, const struct gold_cell *c)
{
    if (!is_actor(c->to)) {
        element_give(g, c->to, c->actor, c->moment);
        return;
    }
    struct vclock *direct = &gold_actor_at(g, c->to - GOLD_ACTORS)->direct;
    if (is_actor(c->from[0])) {
        lift(g, direct, c->from[0] - GOLD_ACTORS, c->moment);
    } else {
        element_take(g, direct, c->from[0]);
        element_take(g, direct, c->from[1]);
    }
}

static void direct_commit(struct goldilocks *g, const struct gold_cell *c)
{
    const struct gold_variables *v = c->variables;
    struct vclock *direct = &gold_actor_at(g, c->actor)->direct;

    for (size_t i = 0; i < v->n; i++)
        if (v->at[i].takes)
            element_take(g, direct, v->at[i].element);
    for (size_t i = 0; i < v->n; i++)
        if (v->at[i].gives)
            element_give(g, v->at[i].element, c->actor, v->moment);
}

void gold_direct_apply(struct goldilocks *g, const struct gold_cell *c)
{
    if (c->actor == GOLD_NOBODY)
        return;
    switch ((enum gold_rule)c->rule) {
    case GOLD_EDGE:
        direct_edge(g, c);
        break;
    case GOLD_COMMIT:
        direct_commit(g, c);
        break;
    case GOLD_RAW:
        lift(g, &gold_actor_at(g, c->actor)->direct, c->from[0] - GOLD_ACTORS, c->moment);
        break;
    }
}

bool gold_has_by_two(const struct goldilocks *g, uint32_t other, uint32_t actor, uint64_t moment)
{
    return other == actor ||
           (other < g->actors && vclock_get(&g->actor[other].direct, actor) >= moment);
}

/* ---- elements without meaning --------------------------------------------------------------- */

static void mention(struct goldilocks *g, gold_element e)
{
    if (e)
        gold_set_add(&g->scratch, e, g->env->budget);
}

static void mention_all(struct goldilocks *g)
{
    const struct gold_list *l = &g->list;

    gold_set_clear(&g->scratch);
    for (uint64_t n = l->head; n < l->tail; n++) {
        const struct gold_cell *c = gold_cell_at(l, n);
        mention(g, c->from[0]);
        mention(g, c->from[1]);
        for (size_t i = 0; c->rule == GOLD_COMMIT && i < c->variables->n; i++)
            mention(g, c->variables->at[i].element);
    }
}

/* The moments whose accesses are remembered: an actor's one after the other, each once. */
struct moments {
    struct gold_giver *at; /* owns */
    size_t n, cap;
};

static void add_moment(void *arg, const struct gold_info *i)
{
    struct moments *m = arg;

    m->at = xgrow(m->at, m->n, &m->cap, sizeof *m->at);
    m->at[m->n++] = (struct gold_giver){.moment = i->moment, .actor = i->actor};
}

static int compare_moments(const void *a, const void *b)
{
    const struct gold_giver *x = a, *y = b;

    if (x->actor != y->actor)
        return x->actor < y->actor ? -1 : 1;
    return (x->moment > y->moment) - (x->moment < y->moment);
}

static struct moments moments_of(struct goldilocks *g)
{
    struct moments m = {0};
    size_t kept = 0;

    gold_each_info(g, add_moment, &m);
    budget_take(g->env->budget, m.cap * sizeof *m.at);
    if (m.n)
        qsort(m.at, m.n, sizeof *m.at, compare_moments);
    for (size_t i = 0; i < m.n; i++)
        if (!kept || compare_moments(&m.at[kept - 1], &m.at[i]))
            m.at[kept++] = m.at[i];
    m.n = kept;
    return m;
}

/* How many of them come before this one. */
static size_t moments_before(const struct moments *m, uint32_t actor, uint64_t moment)
{
    const struct gold_giver at = {.moment = moment, .actor = actor};
    size_t low = 0, high = m->n;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (compare_moments(&m->at[mid], &at) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static uint64_t locksets_with(const struct moments *m, const struct vclock *until)
{
    uint64_t n = 0;

    for (uint32_t a = 0; a < until->n; a++)
        if (until->at[a])
            n += moments_before(m, a, until->at[a] + 1) - moments_before(m, a, 0);
    return n;
}

void gold_prune(struct goldilocks *g)
{
    struct moments m = moments_of(g);
    gold_element *drop = NULL;
    size_t drops = 0, cap = 0, pos = 0;
    uint64_t e, *value;

    mention_all(g);
    while (map_next(&g->reach, &pos, &e, &value)) {
        const struct gold_reach *r = (struct gold_reach *)(uintptr_t)*value;
        if (e < GOLD_OBJECTS || map_find(&g->live, e) || gold_set_has(&g->scratch, (gold_element)e))
            continue;
        g->st.pruned += locksets_with(&m, &r->until);
        drop = xgrow(drop, drops, &cap, sizeof *drop);
        drop[drops++] = (gold_element)e;
    }
    while (drops)
        gold_reach_drop(g, drop[--drops]);
    gold_set_free(&g->scratch, g->env->budget);
    budget_give(g->env->budget, m.cap * sizeof *m.at);
    g->deaths = 0;
    free(drop);
    free(m.at);
}
