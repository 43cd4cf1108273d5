/* list.c - the list of synchronisation events (Goldilocks 5): appended to at its tail,
 * cut off at its head where no record refers to it (5.4), and read when a lockset is asked for.
 *
 * Without a machine nothing reads it: what an event does to locksets is done when it happens
 * (reach.c), and the list only counts. On a machine each check reads it, as published,
 * and pays (check.c). */
#include "policy/goldilocks/goldilocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void gold_list_init(struct goldilocks *g)
{
    struct gold_list *l = &g->list;

    l->collect_at = g->is.every;
    l->mask = 63;
    l->cell = xcalloc(l->mask + 1, sizeof *l->cell);
    budget_take(g->env->budget, (l->mask + 1) * sizeof *l->cell);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static void drop_variables(struct goldilocks *g, struct gold_cell *c)
{
    uint64_t cap = 1;

    if (c->rule != GOLD_COMMIT)
        return;
    while (cap < c->variables->n)
        cap *= 2;
    budget_give(g->env->budget, sizeof *c->variables + cap * sizeof *c->variables->at);
    free(c->variables);
}

void gold_list_free(struct goldilocks *g)
{
    struct gold_list *l = &g->list;

    for (uint64_t n = l->head; n < l->tail; n++)
        drop_variables(g, gold_cell_at(l, n));
    free(l->cell);
}

/* Drops the first cell. */
static void behead(struct goldilocks *g)
{
    struct gold_list *l = &g->list;
    struct gold_cell *c = gold_cell_at(l, l->head);

    gold_cost_behead(g, c);
    drop_variables(g, c);
    *c = (struct gold_cell){.rule = GOLD_EDGE};
    g->st.collected++;
    l->head++;
}

/* Drops the cells before the first one that a record refers to. */
static void collect(struct goldilocks *g)
{
    struct gold_list *l = &g->list;

    while (l->head < l->tail && !gold_cell_at(l, l->head)->infos)
        behead(g);
    l->collect_at = l->tail + g->is.every;
}

static NO_INLINE void list_grow(struct goldilocks *g)
{
    struct gold_list *l = &g->list, was = *l;
    const uint64_t cap = l->mask + 1;

    l->cell = xcalloc(2 * cap, sizeof *l->cell);
    l->mask = 2 * cap - 1;
    budget_take(g->env->budget, 2 * cap * sizeof *l->cell); /* both are there for a moment */
    for (uint64_t n = l->head; n <= l->tail; n++)
        *gold_cell_at(l, n) = *gold_cell_at(&was, n);
    budget_give(g->env->budget, cap * sizeof *l->cell);
    free(was.cell);
}

void gold_append(struct goldilocks *g, const struct gold_cell *cell)
{
    struct gold_list *l = &g->list;

    if (UNLIKELY(l->tail >= l->collect_at))
        collect(g);
    while (UNLIKELY(l->tail - l->head >= g->is.limit))
        gold_trim(g);
    if (UNLIKELY(l->tail - l->head == l->mask))
        list_grow(g);
    struct gold_cell *c = gold_cell_at(l, l->tail);
    const uint64_t infos = c->infos;
    *c = *cell;
    c->infos = infos;
    l->tail++;
    *gold_cell_at(l, l->tail) = (struct gold_cell){.rule = GOLD_EDGE};
    g->st.cells++;
    g->st.length = l->tail - l->head;
    if (g->st.length > g->st.peak)
        g->st.peak = g->st.length;
    gold_cost_append(g, c);
    if (g->cost->on)
        return;
    g->st.walked++;
    gold_reach_apply(g, c);
    if (g->is.two_threads)
        gold_direct_apply(g, c);
}

/* ---- evaluation of one lockset -------------------------------------------------------------- */

/* Trimming has evaluated locksets up to the head; those of later accesses are their actors alone.
 */
static bool has(const struct goldilocks *g, const struct gold_set *set, const struct gold_info *i,
                gold_element e)
{
    return gold_set_has(set, e) || (i->pos < g->list.head && gold_has(g, e, i->actor, i->moment));
}

static void apply_commit(struct goldilocks *g, struct gold_set *set, const struct gold_info *i,
                         const struct gold_cell *c)
{
    const struct gold_variables *v = c->variables;
    bool known = has(g, set, i, gold_actor(c->actor));

    for (size_t k = 0; k < v->n && !known; k++)
        known = v->at[k].takes && has(g, set, i, v->at[k].element);
    if (!known)
        return;
    gold_set_add(set, gold_actor(c->actor), g->env->budget);
    for (size_t k = 0; k < v->n; k++)
        if (v->at[k].gives)
            gold_set_add(set, v->at[k].element, g->env->budget);
}

void gold_apply(struct goldilocks *g, struct gold_set *set, const struct gold_info *i,
                const struct gold_cell *c)
{
    switch ((enum gold_rule)c->rule) {
    case GOLD_EDGE:
        if (has(g, set, i, c->from[0]) || (c->from[1] && has(g, set, i, c->from[1])))
            gold_set_add(set, c->to, g->env->budget);
        break;
    case GOLD_COMMIT:
        apply_commit(g, set, i, c);
        break;
    case GOLD_RAW:
        if (gold_actor(i->actor) == c->from[0] && i->moment <= c->moment)
            gold_set_add(set, c->to, g->env->budget);
        break;
    }
}

/* ---- partially-eager evaluation ------------------------------------------------------------- */

struct trimming {
    struct goldilocks *g;
    uint64_t to;
    bool further; /* than the last */
};

/* A record's lockset has been evaluated up to `to`; those of a moment that is over later than that
 * have nothing but the actor yet. */
static void trim_info(void *arg, const struct gold_info *i)
{
    const struct trimming *t = arg;
    struct goldilocks *g = t->g;
    const struct gold_actor *a = &g->actor[i->actor];
    const bool over = i->moment <= a->closed, now = i->moment == a->moment && a->base < t->to;

    g->st.advanced += t->further && (over || now);
    gold_cost_moved(g, i, t->to);
}

static void evaluate(struct goldilocks *g, uint64_t to)
{
    struct gold_list *l = &g->list;
    struct trimming t = {.g = g, .to = to, .further = to > l->trimmed};

    for (uint64_t n = l->head; n < to; n++)
        gold_reach_apply(g, gold_cell_at(l, n));
    gold_cost_trim(g, to);
    gold_each_info(g, trim_info, &t);
    l->trimmed = to;
}

void gold_trim(struct goldilocks *g)
{
    struct gold_list *l = &g->list;
    const uint64_t n = l->tail - l->head, part = n * g->is.trim / 100,
                   to = l->head + (part ? part : n != 0);
    uint64_t infos = 0;

    if (g->cost->on)
        evaluate(g, to);
    while (l->head < to) {
        infos += gold_cell_at(l, l->head)->infos;
        behead(g);
    }
    gold_cell_at(l, to)->infos += infos;
    g->st.trims++;
    collect(g);
    if (g->cost->on && g->deaths > g->live.n)
        gold_prune(g);
}

static void count_info(void *arg, const struct gold_info *i)
{
    (void)i;
    ++*(uint64_t *)arg;
}

void gold_list_check(const void *goldilocks)
{
    struct goldilocks *g = (struct goldilocks *)(uintptr_t)goldilocks;
    const struct gold_list *l = &g->list;
    uint64_t counted = 0, infos = 0;

    for (uint64_t n = l->head; n <= l->tail; n++)
        counted += gold_cell_at(l, n)->infos;
    gold_each_info(g, count_info, &infos);
    assert(counted == infos);
    (void)counted;
}
