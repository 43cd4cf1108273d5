/* both.c - one question, in the view of a policy and in the view tracked. */
#include "sim/why/why_int.h"

#include <stdlib.h>

#include "base/mem.h"

static bool settled(const struct lardsim_why *w) /* NULL: an error */
{
    return !w || w->verdict == LARDSIM_WHY_RACES;
}

/* Replaces an answer that finds no race by one that does, if the other question has such. A commit
 * is reported for one of its accesses, and not always is it known which: `every`: any of them will
 * do. */
static struct lardsim_why *better(struct lardsim_why *so_far, const struct lardsim_why_ask *ask,
                                  bool every, struct err *e)
{
    struct lardsim_why_ask one = *ask;
    size_t accesses = 1;

    for (one.nth = 0; !settled(so_far) && one.nth <= (every && accesses > 1 ? accesses : 0);
         one.nth++) {
        struct lardsim_why *other = why_find(&one, e);
        accesses = other ? other->accesses : 0;
        struct lardsim_why *worse = settled(other) ? so_far : other;
        so_far = settled(other) ? other : so_far;
        why_free(worse);
    }
    return so_far;
}

/* A commit whose access is not said may race for any of its accesses. */
static struct lardsim_why *find_any(const struct lardsim_why_ask *ask, struct err *e)
{
    struct lardsim_why *w = why_find(ask, e);

    return !settled(w) && !ask->placed && w->accesses > 1 ? better(w, ask, true, e) : w;
}

/* The other side comes later. */
static struct lardsim_why *any_later(struct lardsim_why *w, const struct lardsim_why_ask *ask,
                                     struct err *e)
{
    const size_t accesses = w->accesses;
    struct lardsim_why_ask other = *ask;

    for (other.nth = 0; !settled(w) && other.nth <= accesses; other.nth++) {
        struct lardsim_why_ask pair = *ask;
        bool found;
        if (find_late(&other, &found, &pair.earlier, e)) {
            why_free(w);
            return NULL;
        }
        pair.paired = true;
        w = found ? better(w, &pair, true, e) : w;
    }
    return w;
}

/* Looks at the pair that is named; if that does not race, at any pair that does; and for a race
 * that was reported also at one whose other side comes later. */
static struct lardsim_why *look(const struct lardsim_why_ask *ask, struct err *e)
{
    struct lardsim_why *w = find_any(ask, e);
    struct lardsim_why_ask any = *ask;

    any.paired = false;
    if (!settled(w) && ask->paired)
        w = better(w, &any, false, e);
    if (!settled(w) && ask->reported)
        w = better(w, ask, true, e);
    if (!settled(w) && ask->reported)
        w = any_later(w, &any, e);
    return w;
}

/* The two accesses of the view that finds a race, for the other one. */
static struct lardsim_why_ask pair_of(const struct lardsim_why_ask *ask,
                                      const struct lardsim_why *w)
{
    struct lardsim_why_ask pair = *ask;

    pair.event = w->later.line.number;
    pair.paired = true;
    pair.earlier = w->earlier.line.number;
    pair.placed = true;
    pair.addr = w->later.line.ev.addr;
    pair.size = w->later.line.ev.size;
    return pair;
}

/* The pair that a lesser view races with may not be one in the view tracked: then it is that. */
static struct lardsim_why *look_tracked(const struct lardsim_why_ask *ask,
                                        const struct lardsim_why *w, struct err *e)
{
    struct lardsim_why_ask tracked = *ask;

    if (w->verdict == LARDSIM_WHY_RACES)
        tracked = pair_of(ask, w);
    else
        tracked.paired = false;
    tracked.view = "tracked";
    return find_any(&tracked, e);
}

static int find_both(const struct lardsim_why_ask *ask, struct lardsim_why_both *to, struct err *e)
{
    to->why = look(ask, e);
    if (!to->why || !to->why->view)
        return to->why ? 0 : -1;
    to->truth = look_tracked(ask, to->why, e);
    if (to->truth && to->why->verdict != LARDSIM_WHY_RACES &&
        to->truth->verdict == LARDSIM_WHY_RACES) {
        const struct lardsim_why_ask pair = pair_of(ask, to->truth);
        why_free(to->why);
        to->why = why_find(&pair, e);
    }
    return to->why && to->truth ? 0 : -1;
}

int lardsim_why(const struct lardsim_why_ask *ask, struct lardsim_why_both *to, struct err *e)
{
    struct lardsim_why_ask own = *ask;

    *to = (struct lardsim_why_both){.budget = xcalloc(1, sizeof *to->budget)};
    to->budget->limit = ask->memory;
    own.budget = to->budget;
    return find_both(&own, to, e);
}

void lardsim_why_free(struct lardsim_why_both *both)
{
    why_free(both->why);
    why_free(both->truth);
    free(both->budget);
}
