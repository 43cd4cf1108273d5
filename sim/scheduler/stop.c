/* stop.c - a policy stops all other cores, and lets them go on (docs/machine.md, "Order and
 * waiting").
 *
 * A core finishes the event that it is in the middle of and begins no other; instructions before
 * its next event stand still from the moment of the stop. Store buffers and loads on their way go
 * on. A core whose threads all wait is not stopped by it: it waits anyway. In recorded order, where
 * clocks are not compared, each core that has run loses as many cycles as the stop takes. */
#include "sim/scheduler/timed.h"

sim_cycle timed_stop(void *self, unsigned core, sim_cycle now)
{
    struct timed *s = self;

    now = queue_until(s, core, now);
    if (!s->stops.deep++)
        s->stops.from = now;
    return now;
}

/* Returns the cycles that the stop takes from the core, which may have been in the middle of an
 * event when the stop began. */
static sim_cycle lost(const struct timed *s, unsigned core, sim_cycle end)
{
    const sim_cycle clock = s->machine->core[core].clock + s->core[core].lost;
    const sim_cycle from = u64_max(clock, s->stops.from);

    return end > from ? end - from : 0;
}

/* The core is on its way to its next event, or waits there for the end of the stop. */
static bool on_its_way(const struct timed *s, unsigned core)
{
    const struct agent *a = &s->queue.agent[core];

    return s->core[core].busy && !s->core[core].finishing && !a->fiber && a != s->queue.active;
}

/* A core that spins loses nothing, and yet its turn may have passed during the stop. */
static void delay(struct timed *s, struct agent *a)
{
    struct run_queue *q = &s->core[a->core];
    const sim_cycle by = q->lost;

    q->lost = 0;
    machine_spend(s->machine, a->core, SPENT_STOPPED, by);
    queue_at(s, a, u64_max(a->at + by, s->queue.now));
}

sim_cycle timed_go_on(void *self, unsigned core, sim_cycle since, sim_cycle now)
{
    struct timed *s = self;

    (void)since;
    now = queue_until(s, core, now);
    if (--s->stops.deep)
        return now;
    for (unsigned i = 0; i < s->machine->params.cores; i++) {
        struct run_queue *q = &s->core[i];
        if (on_its_way(s, i))
            q->lost += lost(s, i, now);
        if (q->held)
            delay(s, &s->queue.agent[i]);
        q->held = false;
    }
    return now;
}

bool stop_lets(struct timed *s, struct agent *a)
{
    struct run_queue *q = &s->core[a->core];

    if (q->lost) { /* its turn has come as if there had been no stop: then it comes later */
        delay(s, a);
        return false;
    }
    q->held = s->stops.deep; /* its agent waits for the end */
    return !q->held;
}
