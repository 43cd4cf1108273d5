/* recorded.c - recorded order: events run as they were recorded, whatever the clocks of cores say.
 * Without a machine a turn is a slice of them; on a machine it is one event, on its thread's core,
 * or where and when a host says. */
#include "sim/scheduler/host.h"

#include "sim/machine/interval.h"
#include "sim/machine/timeline.h"

#include <stdlib.h>

/* ---- the recording: for all orders ---------------------------------------------------------- */

enum fed scheduler_read(struct scheduler *s)
{
    struct recording *r = &s->trace;

    if (r->at < r->batch.records)
        return FED_EVENTS;
    const enum fed fed = s->env.feed(s->env.host, &r->batch);
    r->at = 0;
    if (fed != FED_EVENTS)
        r->batch.records = 0;
    return fed;
}

void scheduler_push(struct scheduler *s, const struct event *ev)
{
    s->trace.batch = (struct batch){.rec = ev, .records = event_records(ev)};
    s->trace.at = 0;
}

void scheduler_free(struct scheduler *s)
{
    if (s)
        s->type->destroy(s);
}

/* ---- recorded order ------------------------------------------------------------------------- */

struct recorded {
    struct scheduler head;
    size_t slice;
    struct err broken;                   /* of a rule, by the event behind the turn in hand */
    struct map thread_core, kernel_core; /* to core + 1 */
    uint64_t placed;                     /* threads */
    struct host_order *hosted;           /* NULL: no host has the clock */
};

static uint64_t next_core(struct recorded *r)
{
    return r->placed++ % r->head.env.machine->params.cores + 1;
}

/* Threads take cores in turn as they appear; a kernel thread's share its core. */
static unsigned core_of(struct recorded *r, const struct event *ev)
{
    const struct machine_params *p = &r->head.env.machine->params;

    if (p->compat == COMPAT_CE)
        return (unsigned)(ev->tid % p->cores);
    uint64_t *core = map_put(&r->thread_core, ev->tid);
    if (UNLIKELY(ev->kind == EV_THREAD)) {
        uint64_t *kernel = map_put(&r->kernel_core, ev->aux);
        if (!*kernel)
            *kernel = *core ? *core : next_core(r);
        *core = *kernel;
    }
    if (!*core)
        *core = next_core(r);
    return (unsigned)*core - 1;
}

/* The instructions before the event run on its core, and bring the clock to where it starts. */
static void start(struct recorded *r, struct turn *t)
{
    struct machine *m = r->head.env.machine;

    t->core = core_of(r, t->ev);
    m->core[t->core].had_thread = true;
    machine_touch(m, t->ev);
    if (UNLIKELY(m->timeline))
        timeline_event(m->timeline, t->core, t->ev, t->number);
    machine_run(m, t->core, t->ev->gap);
}

/* The next slice: whole events, and none beyond the limit of events. */
static inline void take_slice(const struct recorded *r, struct turn *t)
{
    const struct recording *in = &r->head.trace;
    const uint64_t limit = r->head.env.limit;
    size_t records = r->slice;

    t->known = t->end = in->batch.rec + in->batch.records;
    if (UNLIKELY(limit && limit - (in->number - in->first) < records))
        records = 1;
    if ((size_t)(t->end - t->ev) > records)
        t->end = t->ev + records - 1 + event_records(t->ev + records - 1);
}

/* Cuts the turn at the first event that the stream rules forbid. False: nothing is left. */
static NO_INLINE bool rules_allow(struct recorded *r, struct turn *t)
{
    t->end =
        r->broken.code ? t->ev : rules_run(r->head.env.rules, t->ev, t->end, t->number, &r->broken);
    if (t->end == t->ev)
        *r->head.env.err = r->broken;
    return t->end > t->ev;
}

/* The turn has run, as far as it says. */
static inline void ran(struct scheduler *s, const struct turn *t)
{
    struct host_order *hosted = ((struct recorded *)s)->hosted;
    struct machine *m = s->env.machine;

    if (hosted)
        host_ran(hosted, t);
    s->trace.at = (size_t)(t->ev - s->trace.batch.rec);
    s->trace.number = *s->env.number = t->number;
    if (m && UNLIKELY(m->core[t->core].clock >= m->interval_end))
        intervals_pass(m->intervals, m->core[t->core].clock);
}

/* There is another event, and it may run. */
static NO_INLINE bool another(struct scheduler *s)
{
    struct recording *in = &s->trace;

    if (in->closed)
        return false;
    const enum fed fed = scheduler_read(s);
    in->closed = fed == FED_END;
    in->limited = fed == FED_EVENTS && scheduler_full(s);
    return fed == FED_EVENTS && !in->limited;
}

static bool recorded_next(struct scheduler *s, struct turn *t)
{
    struct recorded *r = (struct recorded *)s;
    const struct recording *in = &s->trace;

    if (t->ev)
        ran(s, t);
    if (UNLIKELY(s->env.err->code))
        return false;
    if (UNLIKELY(in->at == in->batch.records || s->env.limit) && !another(s))
        return false;
    t->ev = in->batch.rec + in->at;
    t->number = in->number;
    if (s->env.machine)
        t->end = t->ev + event_records(t->ev);
    else
        take_slice(r, t);
    if (UNLIKELY(s->env.rules != NULL) && !rules_allow(r, t))
        return false;
    if (r->hosted)
        host_start(r->hosted, t);
    else if (s->env.machine)
        start(r, t);
    return true;
}

static void recorded_run(struct scheduler *s)
{
    s->env.run_turns(s->env.host);
}

static void recorded_destroy(struct scheduler *s)
{
    struct recorded *r = (struct recorded *)s;

    free(r->hosted);
    map_free(&r->thread_core);
    map_free(&r->kernel_core);
    free(r);
}

/* -1: its thread has no core yet. */
static int core_in_hand(const struct recorded *r, const struct event *ev)
{
    const struct machine_params *p = &r->head.env.machine->params;
    const uint64_t *core = map_find(&r->thread_core, ev->tid);

    if (r->hosted)
        return (int)host_core(r->hosted);
    if (p->compat == COMPAT_CE)
        return (int)(ev->tid % p->cores);
    return core ? (int)*core - 1 : -1;
}

/* Inside a slice the number alone is kept up to date. */
static void recorded_where(const struct scheduler *s, int of, struct whereabouts *to,
                           const struct event **ev)
{
    const struct recording *in = &s->trace;
    const struct event *next = in->at < in->batch.records ? &in->batch.rec[in->at] : NULL;
    const struct machine *m = s->env.machine;
    const int core = m && next ? core_in_hand((const struct recorded *)s, next) : -1;

    to->core = of < 0 ? core : of;
    if (m && to->core >= 0)
        to->cycle = m->core[to->core].clock;
    if (to->core != core)
        return;
    to->event = m ? in->number : *s->env.number;
    if (next && to->event == in->number) {
        to->thread = next->tid;
        *ev = next;
    }
}

static sim_cycle recorded_settle(struct scheduler *s)
{
    const struct host_order *hosted = ((struct recorded *)s)->hosted;

    return hosted ? host_latest(hosted) : 0;
}

static const struct scheduler_type recorded = {
    .run = recorded_run,
    .next = recorded_next,
    .where = recorded_where,
    .settle = recorded_settle,
    .destroy = recorded_destroy,
};

struct scheduler *scheduler_recorded(const struct scheduler_env *env, size_t slice)
{
    struct recorded *r = xcalloc(1, sizeof *r);

    r->head.type = &recorded;
    r->head.env = *env;
    r->slice = slice;
    map_init(&r->thread_core, NULL);
    map_init(&r->kernel_core, NULL);
    return &r->head;
}

/* ---- the order of a host ----------------------------------------------------------------------
 */

struct scheduler *scheduler_hosted(const struct host_params *p, const struct scheduler_env *env)
{
    struct scheduler *s = scheduler_recorded(env, 1);

    ((struct recorded *)s)->hosted = host_order_new(p, env->machine, env->stats);
    return s;
}

struct host_order *scheduler_host_order(struct scheduler *s)
{
    return s && s->type == &recorded ? ((struct recorded *)s)->hosted : NULL;
}
