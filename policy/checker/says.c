/* says.c - what an instance of a policy says of itself: to the run that it is in, and for
 * comparing instances. */
#include "policy/checker/checker_int.h"

#include <stdio.h>
#include <stdlib.h>

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
    return c->pays;
}

const struct budget *checker_memory(const struct checker *c)
{
    return &c->budget;
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

static const char after_first[] = "after-race leaves out what has raced";

static bool leaves_out(const struct checker *c)
{
    return c->after.mode == AFTER_RACE_DISABLE_VARIABLE ||
           c->after.mode == AFTER_RACE_DISABLE_ARRAY;
}

/* "write-after-write, read-after-write": what the claims are not about is left out. */
static char *conflicts_text(unsigned conflicts)
{
    char *all = xstrdup("");

    for (unsigned i = 0; i < CONFLICT_KINDS && conflicts != CONFLICT_ALL; i++)
        if (conflicts >> i & 1)
            xappend(&all, ", ", conflict_info[i].name);
    return all;
}

static char *property_text(const struct checker *c, const struct promise *p)
{
    char *text;

    if (leaves_out(c))
        return xstrdup(after_first);
    if (!p->property && p->history == HISTORY_OWN)
        text = xstrdup(c->policy->summary);
    else
        text = p->property ? xstrdup(p->property)
                           : xasprintf("happens-before, history %s", history_info[p->history].name);
    char *conflicts = conflicts_text(p->claims ? p->conflicts : CONFLICT_ALL);
    char *all = xasprintf("%s%s%s%s%s", text, *conflicts ? "; " : "", conflicts,
                          c->filter ? "; " : "", c->filter ? filter_text(c->filter) : "");
    free(conflicts);
    free(text);
    return all;
}

/* Works out the instance's promise. Accesses that it is not shown it neither reports nor remembers,
 * so that an access may race with an older one than the last: with one of those that history = all
 * has. */
void checker_promises(struct checker *c)
{
    struct promise p = c->policy->promise;

    if (c->detector->amend)
        c->detector->amend(c->self, &p);
    c->property = property_text(c, &p);
    p.property = c->property;
    if (leaves_out(c) || (c->filter && filter_loses(c->filter))) {
        p.claims &= ~(unsigned)(CLAIM_SOUND | CLAIM_EVERY);
        p.history = p.history == HISTORY_LAST ? HISTORY_ALL : p.history;
    }
    c->promise = p;
}

struct promise checker_promise(const struct checker *c)
{
    return c->promise;
}

void checker_explain(const struct checker *c, const struct event *ev, sim_addr location, char *to,
                     size_t room)
{
    *to = '\0';
    if (c->detector->explain)
        c->detector->explain(c->self, ev, location, to, room);
    if (!*to && leaves_out(c))
        snprintf(to, room, "%s", after_first);
    if (!*to && c->filter && filter_loses(c->filter))
        snprintf(to, room, "%s leaves out accesses", filter_text(c->filter));
}

struct race_side checker_tells_late(const struct checker *c)
{
    return c->report.told;
}

bool checker_remembers(const struct checker *c, sim_addr location, remembered_fn *fn, void *arg)
{
    if (c->detector->remembers)
        c->detector->remembers(c->self, location, fn, arg);
    return c->detector->remembers != NULL;
}

void checker_rule(const struct checker *c, const struct event *ev, sim_addr location,
                  struct policy_rule *r)
{
    *r = (struct policy_rule){.unchecked = NULL};
    if (c->filter)
        r->unchecked = filter_spared(c->filter, ev, *c->env.number);
    if (!r->unchecked && c->left_out == *c->env.number + 1 &&
        after_race_covers(&c->after, location, c->settled == *c->env.number + 1))
        r->unchecked = "it had raced here, and after-race leaves that out";
    if (r->unchecked)
        r->unkept = r->unchecked;
    else if (c->detector->rule)
        c->detector->rule(c->self, location, r);
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
