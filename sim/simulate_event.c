/* simulate_event.c - from the session's events to the machine and back to the policies. */
#include "sim/simulate_int.h"

#include "sim/interval.h"
#include "sim/timeline.h"

/* ---- an event on the machine ---------------------------------------------------------------- */

enum { BYTES_MAX = 1 << 20 }; /* of an access that a machine makes line by line */

static int possible(struct lardsim *l, const struct event *ev, uint64_t number)
{
    if (LIKELY(!event_is_access(ev) || ev->size <= BYTES_MAX))
        return 0;
    return err_set(
        &l->err, LARD_TRACE,
        "event %llu: an access of %lu bytes; a machine makes at most %d at a time: split "
        "it, or set machine=none",
        (unsigned long long)number, (unsigned long)ev->size, BYTES_MAX);
}

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

static inline sim_cycle heard(struct lardsim *l, unsigned core, sim_cycle now)
{
    return LIKELY(!l->simulation->hears) ? now : hear_lines(l, core, now);
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

/* The policies see the event; what they make the core do is its handler's time. */
static bool tell(struct lardsim *l, const struct event *ev, unsigned core, struct mem_outcome out)
{
    struct machine *m = l->simulation->machine;
    const uint64_t warm_up = m->params.warm_up;
    const sim_cycle from = m->core[core].clock;
    sim_cycle now = from;

    if (UNLIKELY(l->simulation->hears))
        tell_lines(l, core);
    const bool go_on = session_ran(l, ev, core, out, &now);
    now = heard(l, core, now);

    machine_spend(m, core, SPENT_HANDLER, now - from);
    if (UNLIKELY(warm_up && l->st.events == warm_up))
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

    if (possible(l, ev, l->number))
        return;
    const unsigned core = core_of(s, ev);
    machine_touch(s->machine, ev);
    if (UNLIKELY(s->machine->timeline))
        timeline_event(s->machine->timeline, core, ev, l->number);
    machine_run(s->machine, core, ev->gap);
    tell(l, ev, core, machine_event(s->machine, core, ev));
    if (UNLIKELY(s->machine->core[core].clock >= s->machine->interval_end))
        intervals_pass(s->machine->intervals, s->machine->core[core].clock);
}

/* ---- timed order ---------------------------------------------------------------------------- */

bool simulate_ran(void *host, const struct event *ev, uint64_t number, unsigned core,
                  struct mem_outcome out)
{
    struct lardsim *l = host;

    l->number = number;
    return tell(l, ev, core, out);
}

/* Into the window, in recorded order. */
static int give(struct lardsim *l, const struct event *ev, uint64_t number)
{
    struct simulation *s = l->simulation;

    if (session_obeys(l, ev, number) || possible(l, ev, number))
        return -1;
    machine_touch(s->machine, ev);
    if (timed_add(s->timed, ev, number))
        return -1;
    s->given++;
    return 0;
}

/* Another event comes, and limits.events is reached. */
static bool at_limit(struct lardsim *l)
{
    struct simulation *s = l->simulation;

    s->limited = s->limited || (l->params.events && s->given == l->params.events);
    return s->limited;
}

enum fed simulate_feed(void *host)
{
    struct lardsim *l = host;
    struct simulation *s = l->simulation;

    if (s->limited)
        return FED_END;
    if (!l->pulled)
        return s->finishing ? FED_END : FED_NOTHING_YET;
    if (s->at == s->batch.records) {
        s->at = 0;
        if (session_read(l, &s->batch))
            return FED_ERROR;
        if (!s->batch.records)
            return FED_END;
    }
    const struct event *ev = s->batch.rec + s->at;
    if (at_limit(l))
        return FED_END;
    if (give(l, ev, s->next))
        return FED_ERROR;
    s->next++;
    s->at += event_records(ev);
    return FED_EVENT;
}

int simulate_limited(struct lardsim *l)
{
    return l->simulation->limited && !l->err.code ? session_limit(l) : 0;
}

int simulate_source(struct lardsim *l, struct source *s)
{
    l->simulation->next = s->first;
    if (timed_run(l->simulation->timed))
        return -1;
    return simulate_limited(l);
}

int simulate_push(struct lardsim *l, const struct event *ev)
{
    struct simulation *s = l->simulation;

    if (at_limit(l))
        return session_limit(l);
    if (give(l, ev, s->next))
        return -1;
    s->next++;
    return timed_run(s->timed);
}

void simulate_taken(const struct lardsim *l, struct digest *identity)
{
    const struct simulation *s = l->simulation;

    digest_add(identity, s->batch.rec, s->at * sizeof *s->batch.rec);
}
