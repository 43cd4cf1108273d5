/* stop.c - a policy stops all other cores, and lets them go on (docs/machine.md, "Order and
 * waiting").
 *
 * A core finishes the event that it is in the middle of and begins no other; instructions before
 * its next event stand still from the moment of the stop. Store buffers and loads on their way go
 * on. A core whose threads all wait is not stopped by it: it waits anyway. In recorded order, where
 * clocks are not compared, each core that has run loses as many cycles as the stop takes. */
#include "sim/scheduler/scheduler_int.h"

#include "base/mutant.h"

sim_cycle timed_stop(struct timed *t, unsigned core, sim_cycle now)
{
    now = agent_until(t, core, now);
    if (!t->stops++)
        t->stopped_from = now;
    return now;
}

/* What the core loses: it may have been in the middle of an event when the stop began. */
static sim_cycle lost(const struct timed *t, unsigned core, sim_cycle end)
{
    const sim_cycle clock = t->machine->core[core].clock + t->place[core].lost;
    const sim_cycle from =
        clock > t->stopped_from && !MUTANT(STOP_FROM_THE_START) ? clock : t->stopped_from;

    return end > from ? end - from : 0;
}

/* It is on its way to its next event, or waits there for the end of the stop. */
static bool on_its_way(const struct timed *t, unsigned core)
{
    const struct agent *a = &t->agent[core];

    return t->place[core].busy && !t->place[core].finishing && !a->fiber && a != t->active;
}

static void delay(struct timed *t, struct agent *a)
{
    struct place *p = &t->place[a->core];
    const sim_cycle by = p->lost;

    p->lost = 0;
    machine_spend(t->machine, a->core, SPENT_STOPPED, by);
    agent_at(t, a, a->at + by);
}

sim_cycle timed_go_on(struct timed *t, unsigned core, sim_cycle now)
{
    now = agent_until(t, core, now);
    if (--t->stops)
        return now;
    for (unsigned i = 0; i < t->machine->params.cores; i++) {
        struct place *p = &t->place[i];
        if (on_its_way(t, i) && !MUTANT(STOP_RUNS_ON))
            p->lost += lost(t, i, now);
        if (p->held)
            delay(t, &t->agent[i]);
        p->held = false;
    }
    return now;
}

bool stop_lets(struct timed *t, struct agent *a)
{
    struct place *p = &t->place[a->core];

    if (p->lost) { /* its turn has come as if there had been no stop: then it comes later */
        delay(t, a);
        return false;
    }
    p->held = t->stops && !MUTANT(STOP_RUNS_ON); /* its agent waits for the end */
    return !p->held;
}
