/* simulate_event.c - from the session's events to the machine and back to the policies. */
#include "sim/session/simulate_int.h"

#include "sim/machine/interval.h"
#include "sim/machine/timeline.h"

/* ---- an event on the machine ---------------------------------------------------------------- */

/* The policies hear what happened to lines, whosever access it was, before they decide anything
 * else. That takes no time: each core pays for its own accesses. */
static void tell_lines(struct lardsim *l, unsigned core)
{
    struct simulation *s = l->simulation;
    struct coherence *c = s->machine->coherence;
    size_t n;
    const struct line_event *le = coherence_events(c, &n);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < l->checkers; k++)
            checker_line(l->checker[k], &le[i], core);
        s->owes[le[i].by] = s->owes[core] = true;
    }
    coherence_events_clear(c);
}

/* Also what the policies' own accesses do to lines, and other cores' meanwhile. */
static NO_INLINE sim_cycle hear_lines(struct lardsim *l, unsigned core, sim_cycle now)
{
    struct simulation *s = l->simulation;

    for (tell_lines(l, core); s->owes[core]; tell_lines(l, core)) {
        s->owes[core] = false;
        for (size_t k = 0; k < l->checkers; k++)
            now = checker_line_paid(l->checker[k], core, now);
    }
    return now;
}

void simulate_soon(void *host, const struct event *ev, bool very)
{
    const struct lardsim *l = host;

    for (size_t k = 0; k < l->checkers; k++)
        checker_soon(l->checker[k], ev, very);
}

/* The core may be in the middle of something, and pays at the end of that. */
void simulate_beside(void *host, unsigned core)
{
    struct lardsim *l = host;

    if (UNLIKELY(l->simulation->hears))
        tell_lines(l, core);
}

/* What the policies have decided together is held against the truth, and takes its time. */
static NO_INLINE sim_cycle decided(struct lardsim *l, const struct event *ev, unsigned core,
                                   sim_cycle now)
{
    if (l->compare)
        compare_step(l->compare, ev);
    for (size_t i = 0; i < l->checkers && l->simulation->pays; i++)
        now = checker_pay(l->turn[i], ev, core, now);
    return now;
}

/* What the policies take is the core's handler's time. */
bool simulate_ran(void *host, const struct event *ev, uint64_t number, unsigned core,
                  struct mem_outcome out)
{
    struct lardsim *l = host;
    const struct simulation *s = l->simulation;
    struct core *c = &s->machine->core[core];
    const sim_cycle from = c->clock;
    sim_cycle now = from;

    l->number = number;
    if (UNLIKELY(s->hears))
        tell_lines(l, core);
    for (size_t i = 0; i < l->checkers; i++)
        now = checker_decide(l->turn[i], ev, core, out, now);
    if (s->pays || l->compare)
        now = decided(l, ev, core, now);
    session_count(l, ev);
    if (UNLIKELY(event_is_region(ev)) && !l->err.code)
        session_region(l, ev->kind == EV_ROI_BEGIN);
    const bool go_on = !l->err.code;
    if (UNLIKELY(s->hears))
        now = hear_lines(l, core, now);
    if (now != from)
        core_spend(s->machine, c, SPENT_HANDLER, now - from);
    if (UNLIKELY(l->st.events == s->machine->params.warm_up))
        session_region(l, true);
    return go_on;
}

static uint64_t next_core(struct simulation *s)
{
    return s->placed++ % s->machine->params.cores + 1;
}

/* Recorded order: threads take cores in turn as they appear; a kernel thread's share its core. */
static unsigned core_of(struct simulation *s, const struct event *ev)
{
    if (s->machine->params.compat == COMPAT_CE)
        return (unsigned)(ev->tid % s->machine->params.cores);
    uint64_t *core = map_put(&s->thread_core, ev->tid);
    if (UNLIKELY(ev->kind == EV_THREAD)) {
        uint64_t *kernel = map_put(&s->kernel_core, ev->aux);
        if (!*kernel)
            *kernel = *core ? *core : next_core(s);
        *core = *kernel;
    }
    if (!*core)
        *core = next_core(s);
    return (unsigned)*core - 1;
}

void simulate_event(struct lardsim *l, const struct event *ev)
{
    struct simulation *s = l->simulation;

    const unsigned core = core_of(s, ev);
    machine_touch(s->machine, ev);
    if (UNLIKELY(s->machine->timeline))
        timeline_event(s->machine->timeline, core, ev, l->number);
    machine_run(s->machine, core, ev->gap);
    simulate_ran(l, ev, l->number, core, machine_event(s->machine, core, ev));
    if (UNLIKELY(s->machine->core[core].clock >= s->machine->interval_end))
        intervals_pass(s->machine->intervals, s->machine->core[core].clock);
}

/* ---- timed order ---------------------------------------------------------------------------- */

enum fed simulate_feed(void *host, struct batch *b)
{
    struct lardsim *l = host;

    if (!l->pulled)
        return l->simulation->finishing ? FED_END : FED_NOTHING_YET;
    if (session_read(l, b))
        return FED_ERROR;
    return b->records ? FED_EVENTS : FED_END;
}

int simulate_comes(void *host, const struct event *ev, uint64_t number)
{
    struct lardsim *l = host;

    return rules_apply(l->rules, ev, number, &l->err);
}

int simulate_limited(struct lardsim *l)
{
    return scheduler_limited(l->simulation->timed) && !l->err.code ? session_limit(l) : 0;
}

int simulate_source(struct lardsim *l, struct source *s)
{
    scheduler_first(l->simulation->timed, s->first);
    if (scheduler_run(l->simulation->timed))
        return -1;
    return simulate_limited(l);
}

int simulate_push(struct lardsim *l, const struct event *ev)
{
    struct scheduler *t = l->simulation->timed;

    if (scheduler_push(t, ev))
        return scheduler_limited(t) ? session_limit(l) : -1;
    return scheduler_run(t);
}

void simulate_taken(const struct lardsim *l, struct digest *identity)
{
    const struct batch b = scheduler_taken(l->simulation->timed);

    digest_add(identity, b.rec, b.records * sizeof *b.rec);
}
