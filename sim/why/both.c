/* both.c - one question, in the view of a policy and in the view tracked. */
#include "sim/why/why_int.h"

static bool settled(const struct why *w) /* NULL: an error */
{
    return !w || w->verdict == WHY_RACES;
}

/* Replaces an answer that finds no race by one that does, if the other question has such. A commit
 * is reported for one of its accesses, and not always is it known which: `every`: any of them will
 * do. */
static struct why *better(struct why *so_far, const struct why_ask *ask, bool every, struct err *e)
{
    struct why_ask one = *ask;
    size_t accesses = 1;

    for (one.nth = 0; !settled(so_far) && one.nth <= (every && accesses > 1 ? accesses : 0);
         one.nth++) {
        struct why *other = why_find(&one, e);
        accesses = other ? other->accesses : 0;
        why_free(settled(other) ? so_far : other);
        so_far = settled(other) ? other : so_far;
    }
    return so_far;
}

/* The other side comes later. */
static struct why *any_later(struct why *w, const struct why_ask *ask, struct err *e)
{
    const size_t accesses = w->accesses;
    struct why_ask other = *ask;

    for (other.nth = 0; !settled(w) && other.nth <= accesses; other.nth++) {
        struct why_ask pair = *ask;
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
static struct why *look(const struct why_ask *ask, struct err *e)
{
    struct why *w = why_find(ask, e);
    struct why_ask any = *ask;

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
static struct why_ask pair_of(const struct why_ask *ask, const struct why *w)
{
    struct why_ask pair = *ask;

    pair.event = w->later.line.number;
    pair.paired = true;
    pair.earlier = w->earlier.line.number;
    pair.placed = true;
    pair.addr = w->later.line.ev->addr;
    pair.size = w->later.line.ev->size;
    return pair;
}

/* The pair that a lesser view races with may not be one in the view tracked: then it is that. */
static struct why *look_tracked(const struct why_ask *ask, const struct why *w, struct err *e)
{
    struct why_ask tracked = *ask;

    if (w->verdict == WHY_RACES)
        tracked = pair_of(ask, w);
    else
        tracked.paired = false;
    tracked.view = "tracked";
    return why_find(&tracked, e);
}

int why_find_both(const struct why_ask *ask, struct why_both *to, struct err *e)
{
    *to = (struct why_both){.why = look(ask, e)};
    if (!to->why || !to->why->view)
        return to->why ? 0 : -1;
    to->truth = look_tracked(ask, to->why, e);
    if (to->truth && to->why->verdict != WHY_RACES && to->truth->verdict == WHY_RACES) {
        const struct why_ask pair = pair_of(ask, to->truth);
        why_free(to->why);
        to->why = why_find(&pair, e);
    }
    return to->why && to->truth ? 0 : -1;
}
