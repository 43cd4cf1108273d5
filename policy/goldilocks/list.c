/* list.c - the list of synchronisation events (Goldilocks 5): appended to at its tail,
 * cut off at its head where no record refers to it (5.4), and read when a lockset is asked for.
 *
 * A record's lockset follows from its actor and its place in the list alone. So the accesses of an
 * actor between two events by which it gives something share one, in a struct gold_stretch, and the
 * host evaluates it once for all of them. On a machine each check evaluates anew, as published, and
 * pays (goldilocks/check.c). */
#include "policy/goldilocks/goldilocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void gold_list_init(struct goldilocks *g)
{
    struct gold_list *l = &g->list;

    l->limit = g->is.limit;
    l->trim = g->is.trim;
    l->every = l->collect_at = g->is.every;
    l->mask = 63;
    l->cell = xcalloc(l->mask + 1, sizeof *l->cell);
    l->room.bytes = (sizeof(struct gold_stretch) + 63) / 64 * 64;
    budget_take(g->env->budget, (l->mask + 1) * sizeof *l->cell);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static uint64_t variables_bytes(const struct gold_cell *c)
{
    uint64_t cap = 1;

    while (cap < c->variables->n)
        cap *= 2;
    return sizeof *c->variables + cap * sizeof *c->variables->at;
}

static void drop_variables(struct goldilocks *g, struct gold_cell *c)
{
    if (c->rule != GOLD_COMMIT)
        return;
    budget_give(g->env->budget, variables_bytes(c));
    free(c->variables);
}

void gold_list_free(struct goldilocks *g)
{
    struct gold_list *l = &g->list;

    for (struct gold_stretch *s = l->oldest; s; s = s->newer)
        gold_set_free(&s->set, g->env->budget);
    for (uint64_t n = l->head; n < l->tail; n++)
        drop_variables(g, gold_cell_at(l, n));
    pool_free(&l->room);
    free(l->cell);
    free(l->of);
}

/* Drops the first cell. */
static void behead(struct goldilocks *g, unsigned core)
{
    struct gold_list *l = &g->list;
    struct gold_cell *c = gold_cell_at(l, l->head);

    gold_cost_behead(g, c, core);
    drop_variables(g, c);
    *c = (struct gold_cell){.rule = GOLD_EDGE};
    g->st.collected++;
    l->head++;
}

/* Drops the cells before the first one that a record refers to. */
static void collect(struct goldilocks *g, unsigned core)
{
    struct gold_list *l = &g->list;

    while (l->head < l->tail && !gold_cell_at(l, l->head)->infos)
        behead(g, core);
    l->collect_at = l->tail + l->every;
}

static NO_INLINE void list_grow(struct goldilocks *g)
{
    struct gold_list *l = &g->list, was = *l;
    const uint64_t cap = l->mask + 1;

    l->cell = xcalloc(2 * cap, sizeof *l->cell);
    l->mask = 2 * cap - 1;
    budget_take(g->env->budget, cap * sizeof *l->cell);
    for (uint64_t n = l->head; n <= l->tail; n++)
        *gold_cell_at(l, n) = *gold_cell_at(&was, n);
    free(was.cell);
}

void gold_append(struct goldilocks *g, const struct gold_cell *cell, unsigned core)
{
    struct gold_list *l = &g->list;

    if (UNLIKELY(l->tail >= l->collect_at))
        collect(g, core);
    while (UNLIKELY(l->tail - l->head >= l->limit))
        gold_trim(g, core);
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
    gold_cost_append(g, c, core);
}

/* ---- stretches ------------------------------------------------------------------------------ */

static void stretch_free(struct goldilocks *g, struct gold_stretch *s)
{
    struct gold_list *l = &g->list;

    *(s->older ? &s->older->newer : &l->oldest) = s->newer;
    *(s->newer ? &s->newer->older : &l->newest) = s->older;
    gold_set_free(&s->set, g->env->budget);
    budget_give(g->env->budget, l->room.bytes);
    pool_give(&l->room, s);
}

static struct gold_stretch *stretch_new(struct goldilocks *g, uint32_t actor, uint64_t time)
{
    struct gold_list *l = &g->list;
    const uint64_t base = g->committing ? g->commit_at : l->tail;
    struct gold_stretch *s = pool_get(&l->room);

    budget_take(g->env->budget, l->room.bytes);
    *s = (struct gold_stretch){.older = l->newest,
                               .base = base,
                               .begin = base,
                               .done = base,
                               .time = time,
                               .actor = actor,
                               .open = true};
    gold_set_add(&s->set, gold_actor(actor), g->env->budget);
    *(l->newest ? &l->newest->newer : &l->oldest) = s;
    l->newest = s;
    return s;
}

static struct gold_stretch **open_of(struct goldilocks *g, uint32_t actor)
{
    struct gold_list *l = &g->list;

    if (actor >= l->actors) {
        const size_t n = (size_t)actor + 1 + actor / 2;
        l->of = xrealloc(l->of, n, sizeof *l->of);
        memset(l->of + l->actors, 0, (n - l->actors) * sizeof *l->of);
        budget_take(g->env->budget, (n - l->actors) * sizeof *l->of);
        l->actors = n;
    }
    return &l->of[actor];
}

/* Ends the actor's stretch. Its lockset can grow from cell `begin` on: that of what the actor gives
 * next, or of its commit. */
static void close_at(struct goldilocks *g, uint32_t actor, uint64_t begin)
{
    struct gold_stretch **at = open_of(g, actor), *s = *at;

    *at = NULL;
    if (!s)
        return;
    s->open = false;
    if (!g->list.raw)
        s->begin = s->done = begin;
    if (!s->infos)
        stretch_free(g, s);
}

void gold_close(struct goldilocks *g, uint32_t actor)
{
    close_at(g, actor, g->committing ? g->commit_at : g->list.tail);
}

struct gold_stretch *gold_stretch_of(struct goldilocks *g, uint32_t actor, uint64_t time)
{
    struct gold_stretch **at = open_of(g, actor);

    if (UNLIKELY(g->list.raw) && *at && (*at)->base != g->list.tail)
        close_at(g, actor, 0);
    if (!*at)
        *at = stretch_new(g, actor, time);
    return *at;
}

void gold_info_take(struct goldilocks *g, const struct gold_info *i)
{
    gold_cell_at(&g->list, gold_info_at(g, i))->infos++;
    i->stretch->infos++;
}

void gold_info_give(struct goldilocks *g, const struct gold_info *i)
{
    gold_cell_at(&g->list, gold_info_at(g, i))->infos--;
    if (--i->stretch->infos == 0 && !i->stretch->open)
        stretch_free(g, i->stretch);
}

/* ---- evaluation ----------------------------------------------------------------------------- */

static void apply_commit(struct goldilocks *g, struct gold_set *set, const struct gold_cell *c)
{
    const struct gold_variables *v = c->variables;
    bool known = gold_set_has(set, gold_actor(c->actor));

    for (size_t i = 0; i < v->n && !known; i++)
        known = v->at[i].takes && gold_set_has(set, v->at[i].element);
    if (!known)
        return;
    gold_set_add(set, gold_actor(c->actor), g->env->budget);
    for (size_t i = 0; i < v->n; i++)
        if (v->at[i].gives)
            gold_set_add(set, v->at[i].element, g->env->budget);
}

void gold_apply(struct goldilocks *g, struct gold_set *set, const struct gold_stretch *s,
                const struct gold_cell *c)
{
    switch ((enum gold_rule)c->rule) {
    case GOLD_EDGE:
        if (gold_set_has(set, c->from[0]) || (c->from[1] && gold_set_has(set, c->from[1])))
            gold_set_add(set, c->to, g->env->budget);
        break;
    case GOLD_COMMIT:
        apply_commit(g, set, c);
        break;
    case GOLD_RAW:
        if (gold_actor(s->actor) == c->from[0] && s->time <= c->time)
            gold_set_add(set, c->to, g->env->budget);
        break;
    }
}

bool gold_knows(struct goldilocks *g, struct gold_stretch *s, uint32_t actor)
{
    const struct gold_list *l = &g->list;
    const gold_element me = gold_actor(actor);
    bool known = gold_set_has(&s->set, me);

    if (known || (s->open && !l->raw))
        return known;
    const uint64_t from = s->done;
    while (s->done < l->tail && !known) {
        gold_apply(g, &s->set, s, gold_cell_at(l, s->done++));
        known = gold_set_has(&s->set, me);
    }
    g->st.walked += s->done - from;
    return known;
}

/* ---- partially-eager evaluation ------------------------------------------------------------- */

static bool still_means_something(void *arg, gold_element e)
{
    const struct goldilocks *g = arg;

    return gold_is_live(g, e) || gold_set_has(&g->far, e);
}

static void mention(struct goldilocks *g, gold_element e)
{
    if (e)
        gold_set_add(&g->far, e, g->env->budget);
}

/* Removes from all locksets the elements of objects that are dead and that no cell mentions: they
 * can add nothing any more. */
static void prune(struct goldilocks *g)
{
    const struct gold_list *l = &g->list;

    gold_set_clear(&g->far);
    for (uint64_t n = l->head; n < l->tail; n++) {
        const struct gold_cell *c = gold_cell_at(l, n);
        mention(g, c->from[0]);
        mention(g, c->from[1]);
        for (size_t i = 0; c->rule == GOLD_COMMIT && i < c->variables->n; i++)
            mention(g, c->variables->at[i].element);
    }
    for (struct gold_stretch *s = l->oldest; s; s = s->newer) {
        const uint32_t was = s->set.n;
        gold_set_keep(&s->set, still_means_something, g, g->env->budget);
        g->st.pruned += was - s->set.n;
    }
    gold_set_free(&g->far, g->env->budget);
    g->deaths = 0;
}

/* Evaluates the stretch's lockset up to this cell. */
static void advance(struct goldilocks *g, struct gold_stretch *s, uint64_t to)
{
    g->st.advanced += s->infos;
    if (s->open && !g->list.raw)
        s->begin = s->done = to;
    for (; s->done < to; s->done++)
        gold_apply(g, &s->set, s, gold_cell_at(&g->list, s->done));
}

void gold_trim(struct goldilocks *g, unsigned core)
{
    struct gold_list *l = &g->list;
    const uint64_t n = l->tail - l->head, part = n * l->trim / 100,
                   to = l->head + (part ? part : n != 0);
    uint64_t infos = 0;

    for (struct gold_stretch *s = l->oldest; s && s->base < to; s = s->newer)
        if (s->done < to)
            advance(g, s, to);
    gold_cost_trim(g, to, core);
    while (l->head < to) {
        infos += gold_cell_at(l, l->head)->infos;
        behead(g, core);
    }
    gold_cell_at(l, to)->infos += infos;
    g->st.trims++;
    collect(g, core);
    if (g->deaths > g->live.n)
        prune(g);
}

void gold_list_check(const struct goldilocks *g)
{
    const struct gold_list *l = &g->list;
    uint64_t cells = 0, stretches = 0;

    for (uint64_t n = l->head; n <= l->tail; n++)
        cells += gold_cell_at(l, n)->infos;
    for (const struct gold_stretch *s = l->oldest; s; s = s->newer) {
        assert(!s->newer || s->newer->older == s);
        assert(s->open ? l->of[s->actor] == s : s->infos > 0);
        assert(gold_set_has(&s->set, gold_actor(s->actor)));
        assert(s->done <= l->tail && s->begin <= s->done);
        stretches += s->infos;
    }
    assert(cells == stretches);
    (void)cells;
    (void)stretches;
}
