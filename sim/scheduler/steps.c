/* steps.c - how a core pays for a policy's metadata: each step's access at its turn among all
 * agents.
 *
 * Most of them hit in the L1 with permission, and nobody else can tell when that was done, until
 * somebody takes the line or its rights, or looks at statistics. So a core does not take turns for
 * the hits at hand: it looks them up and takes its next turn at the first access that is none, or
 * at the last of all, as the event ends there. The hits are made then, or earlier, when others are
 * about to change something in the core's caches (coh_host.meets): those whose turn would have been
 * by now; the rest is looked up again.
 *
 * What a core does not wait for changes its L1, too; and the statistics of intervals, and of a
 * memory that answers later, depend on turns: with any of these, each access takes its own.
 */
#include "sim/scheduler/scheduler_int.h"

#include <assert.h>

static void make_hit(struct timed *t, unsigned core, struct ahead *h)
{
    struct machine *m = t->machine;
    const struct mem_step *s = &h->run->step[h->at];

    coherence_l1_hit(m->coherence, core, s->slot, (enum mem_cmd)s->cmd, TRAFFIC_METADATA);
    h->at++;
    h->now =
        machine_step_begins(m, core, h->run, h->at, h->now + coherence_l1_latency(m->coherence));
}

/* Makes those whose turn would have come before the latest of anybody. */
static void settle(struct timed *t, unsigned core)
{
    struct ahead *h = &t->ahead[core];
    const bool first = t->agent[core].index < t->last;

    while (h->at < h->end && (h->now < t->now || (h->now == t->now && first)))
        make_hit(t, core, h);
}

void timed_settle(struct timed *t)
{
    for (unsigned i = 0; i < t->machine->params.cores; i++)
        settle(t, i);
}

void ahead_meets(struct timed *t, unsigned core)
{
    struct ahead *h = &t->ahead[core];

    settle(t, core);
    if (h->at >= h->end)
        return;
    h->end = h->at;
    agent_at(t, &t->agent[core], h->now);
}

/* How far it hits as things are; returns when the access behind that starts. */
static sim_cycle look_ahead(const struct timed *t, unsigned core, struct ahead *h)
{
    const struct coherence *c = t->machine->coherence;
    const sim_cycle latency = coherence_l1_latency(c);
    const struct mem_run *r = h->run;
    sim_cycle now = h->now;

    for (h->end = h->at; h->end + 1 < r->n; h->end++) {
        struct mem_step *s = &r->step[h->end];
        s->slot = coherence_l1_find(c, core, s->at, (enum mem_cmd)s->cmd);
        if (s->slot == COH_NO_HIT) {
            coherence_soon(c, core, s->at);
            break;
        }
        now += latency + s[1].instructions;
    }
    return now;
}

/* To the turn of step h->at, or of a later one if it hits. */
static void wait_turn(struct timed *t, unsigned core, struct ahead *h)
{
    const struct machine *m = t->machine;
    const bool each = m->access || m->intervals || m->memory.type->later;

    h->now = h->now > t->now ? h->now : t->now;
    if (agent_goes_on(t, h->now))
        return;
    agent_until(t, core, each ? h->now : look_ahead(t, core, h));
    while (h->at < h->end)
        make_hit(t, core, h);
    assert(h->now == t->now);
}

sim_cycle timed_steps(struct timed *t, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct machine *m = t->machine;
    struct ahead *h = &t->ahead[core];

    assert(t->active == &t->agent[core]);
    for (*h = (struct ahead){.run = r}; h->at < r->n; h->at++) {
        h->now = machine_step_begins(m, core, r, h->at, now);
        wait_turn(t, core, h);
        now = machine_step(m, core, r, h->at, h->now);
    }
    return now;
}
