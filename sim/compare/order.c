/* order.c - who happens before whom in one view of synchronisation, asked long after.
 *
 * The checker's clocks say what a thread knows now. What is missing is the time of an earlier
 * access, of which only thread and position are known: so the changes of each actor's own time
 * are kept, and of each thread's actor. 16 bytes an outgoing edge. */
#include <stdlib.h>
#include <string.h>

#include "sim/compare/compare.h"

struct change {
    uint64_t position, value;
};
struct changes { /* ascending */
    struct change *at;
    size_t n, cap;
};

struct ordering {
    const struct checker *of;
    struct budget *budget;
    struct changes *actor; /* by thread: its actor, from the event on */
    struct changes *time;  /* by actor: its own time, from after the event on; before: 1 */
    size_t actor_cap, time_cap;
};

struct ordering *ordering_new(const struct checker *of, struct budget *budget)
{
    struct ordering *o = xcalloc(1, sizeof *o);

    o->of = of;
    o->budget = budget;
    return o;
}

static void free_all(struct changes *all, size_t cap)
{
    for (size_t i = 0; i < cap; i++)
        free(all[i].at);
    free(all);
}

void ordering_free(struct ordering *o)
{
    if (!o)
        return;
    free_all(o->actor, o->actor_cap);
    free_all(o->time, o->time_cap);
    free(o);
}

/* ---- keeping -------------------------------------------------------------------------------- */

static struct changes *changes_of(struct changes **all, size_t *cap, size_t i,
                                  struct budget *budget)
{
    *all = budget_reach(budget, *all, cap, i, sizeof **all);
    return &(*all)[i];
}

static void keep(struct changes *c, uint64_t position, uint64_t value, uint64_t at_first,
                 struct budget *budget)
{
    if ((c->n ? c->at[c->n - 1].value : at_first) == value)
        return;
    c->at = budget_grow(budget, c->at, c->n, &c->cap, sizeof *c->at);
    c->at[c->n++] = (struct change){position, value};
}

static void keep_time(struct ordering *o, uint32_t actor, uint64_t position)
{
    struct changes *c = changes_of(&o->time, &o->time_cap, actor, o->budget);

    keep(c, position, checker_time(o->of, actor), 1, o->budget);
}

void ordering_note(struct ordering *o, const struct event *ev, uint64_t position)
{
    const uint32_t actor = checker_actor(o->of, ev->tid);
    struct changes *c = changes_of(&o->actor, &o->actor_cap, ev->tid, o->budget);

    keep(c, position, actor, UINT64_MAX, o->budget);
    keep_time(o, actor, position);
    /* Joined without having ended, a thread publishes at an event that is not its own. */
    if (ev->kind == EV_JOIN && ev->aux < o->actor_cap && o->actor[ev->aux].n)
        keep_time(o, checker_actor(o->of, (sim_tid)ev->aux), position);
}

/* ---- asking --------------------------------------------------------------------------------- */

/* The value after all changes before that position. */
static uint64_t value_before(const struct changes *c, uint64_t position, uint64_t at_first)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->at[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? c->at[low - 1].value : at_first;
}

bool ordering_before(const struct ordering *o, sim_tid of, uint64_t position, sim_tid tid)
{
    if (of >= o->actor_cap || !o->actor[of].n)
        return false; /* it never acted */
    const uint32_t actor = (uint32_t)value_before(&o->actor[of], position + 1, 0);
    const uint64_t time = value_before(&o->time[actor], position, 1);
    return time <= checker_knows(o->of, tid, actor);
}
