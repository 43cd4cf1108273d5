/* checker_says.c - what an instance of a policy says of itself: to the run that it is in, and for
 * comparing instances. */
#include "policy/frame/checker_int.h"

#include <stdio.h>

const struct policy *checker_policy(const struct checker *c, const void **self)
{
    *self = c->self;
    return c->policy;
}

const char *checker_label(const struct checker *c)
{
    return c->label;
}

bool checker_pays(const struct checker *c)
{
    return c->pay != NULL;
}

const struct budget *checker_memory(const struct checker *c)
{
    return &c->budget;
}

uint64_t checker_races(const struct checker *c)
{
    return c->report.accesses;
}

/* ---- for comparing instances ---------------------------------------------------------------- */

unsigned checker_view(const struct checker *c)
{
    return c->policy_env.view;
}

unsigned checker_skips(const struct checker *c)
{
    return c->skips;
}

struct promise checker_policy_promises(const struct checker *c)
{
    struct promise p = {c->policy->claims, c->policy->summary};

    if (c->policy->promise)
        c->policy->promise(c->self, &p);
    return p;
}

static const char after_first[] = "after-race leaves out what has raced";

static bool leaves_out(const struct checker *c)
{
    return c->after.mode == AFTER_RACE_DISABLE_VARIABLE ||
           c->after.mode == AFTER_RACE_DISABLE_ARRAY;
}

struct promise checker_promise(const struct checker *c)
{
    struct promise p = checker_policy_promises(c);

    if (c->filter)
        p.property = c->property;
    if (c->filter && filter_loses(c->filter))
        p.claims &= ~(unsigned)CLAIM_SOUND;
    if (!leaves_out(c))
        return p;
    p.claims &= ~(unsigned)CLAIM_SOUND;
    p.property = after_first;
    return p;
}

void checker_explain(const struct checker *c, const struct event *ev, sim_addr location, char *to,
                     size_t room)
{
    *to = '\0';
    if (c->policy->explain)
        c->policy->explain(c->self, ev, location, to, room);
    if (!*to && leaves_out(c))
        snprintf(to, room, "%s", after_first);
    if (!*to && c->filter && filter_loses(c->filter))
        snprintf(to, room, "%s leaves out accesses", filter_text(c->filter));
}

uint32_t checker_actor(const struct checker *c, sim_tid tid)
{
    return hb_actor(c->hb, tid);
}

uint64_t checker_time(const struct checker *c, uint32_t actor)
{
    return epoch_time(c->hb->actor[actor].now);
}

uint64_t checker_knows(const struct checker *c, sim_tid tid, uint32_t actor)
{
    return vclock_get(hb_clock(c->hb, tid), actor);
}
