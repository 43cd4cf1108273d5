/* run.c - where events are run, in every order, with a machine and without: turn by turn, as the
 * scheduler hands them over. An event goes to the machine, then to each checker, then it counts
 * (docs/architecture.md follows one).
 *
 * Policies hear what happened to lines, whosever access it was, before they decide anything else;
 * all decide before any of them pays; what they pay is the time of the core's handler. */
#include "sim/session/session.h"

/* ---- regions of interest, limits ------------------------------------------------------------ */

void run_region(struct lardsim *l, bool in)
{
    if (l->in_region == in)
        return;
    const sim_cycle now = scheduler_settle(l->scheduler);
    if (l->machine) {
        machine_region(l->machine, in, now);
        in ? course_begin(l, true) : course_end(l);
    }
    l->in_region = in;
    for (size_t i = 0; i < l->checkers; i++)
        checker_region(l->checker[i], in);
    if (l->compare)
        l->compare->inside = in;
    (in ? stats_roi_begin : stats_roi_end)(l->stats);
}

void run_forget_regions(struct lardsim *l)
{
    const bool inside = l->in_region;

    run_region(l, false);
    stats_roi_forget(l->stats);
    if (l->machine) {
        machine_forget_regions(l->machine);
        l->course.step = 0; /* it begins with the next region */
    }
    run_region(l, inside);
}

void run_look(const struct lardsim *l)
{
    scheduler_settle(l->scheduler);
    if (l->machine)
        machine_look(l->machine, l->in_region);
}

/* Stops the run when its parts together take more memory than they may, though none is at its own
 * limit. */
static int memory_limit(struct lardsim *l)
{
    if (LIKELY(!budget_over(&l->memory)))
        return 0;
    return budget_error(&l->memory, l->number, "all together", "choose a coarser granularity",
                        &l->err);
}

static int events_limit(struct lardsim *l)
{
    return err_set(&l->err, LARD_LIMIT,
                   "event %llu: limits.events (%llu) is reached; the results up to here hold; "
                   "raise it to go on",
                   (unsigned long long)l->number, (unsigned long long)l->params.events);
}

/* Sets the stop as the run's error, also in place of an error that the stop has caused. */
int run_stopped(struct lardsim *l)
{
    err_clear(&l->err);
    return err_stopped(&l->err, l->number, l->stop);
}

/* ---- without a machine ---------------------------------------------------------------------- */

static void count_all(struct lardsim *l, const struct event *ev, const struct event *end)
{
    uint64_t n = 0, system = 0;

    for (; ev < end; ev += event_records(ev), n++) {
        l->st.kind[ev->kind]++;
        system += ev->flags & EVF_SYSTEM;
    }
    l->st.events += n;
    l->st.system += system;
}

static uint64_t heap_events(const struct lardsim *l)
{
    return l->st.kind[EV_ALLOC] + l->st.kind[EV_CLEAR] + l->st.kind[EV_COPY];
}

/* All of the turn, or what of it is before a mark, or up to the event that stops the run: that has
 * run, too. Where several take turns, or compare, a turn is one event. */
ALWAYS_INLINE void detect(struct lardsim *l, struct turn *t, const bool watched)
{
    const struct event *at = t->ev;
    const uint64_t heap = heap_events(l);

    if (watched)
        watched_turn(l, t);

    if (l->placement)
        placement_turn(l->placement, t->ev, t->end, t->number);
    for (size_t i = 0; i < l->checkers; i++) {
        l->number = t->number;
        if (watched)
            watched_policy(l, 0, l->checker[i]);
        at = checker_run(l->checker[i], t->ev, t->end, t->known, &l->number);
        if (watched)
            watched_check(l, l->checker[i], t->number, t->ev, 0, NOT_KNOWN);
    }
    if (l->compare) {
        l->number = t->number;
        compare_step(l->compare, t->ev);
        l->number++;
    }
    count_all(l, t->ev, l->err.code && at < t->end ? at + event_records(at) : at);
    if (l->placement && heap_events(l) != heap)
        placement_reach(l->placement, l->number);
    if (l->placement)
        placement_turn(l->placement, NULL, NULL, l->number);
    const struct event *last = at > t->ev ? at - 1 - !at[-1].kind : NULL; /* a second has no kind */
    if (last && !l->err.code && event_is_region(last))
        run_region(l, last->kind == EV_ROI_BEGIN);
    t->ev = at;
    t->number = l->number;
}

/* ---- on a machine --------------------------------------------------------------------------- */

static NO_INLINE void tell_all_lines(struct lardsim *l, unsigned core)
{
    struct line_queue *q = l->lines.queue;

    for (size_t k = 0; k < l->checkers; k++)
        checker_lines_told(l->checker[k], q, core, l->lines.owes);
    q->n = 0;
}

static inline void tell_lines(struct lardsim *l, unsigned core)
{
    if (UNLIKELY(l->lines.queue->n))
        tell_all_lines(l, core);
}

void run_tell_lines(struct lardsim *l, unsigned core)
{
    tell_lines(l, core);
}

/* Tells policies of lines until nothing is owed, as their own accesses move lines, too, and other
 * cores go on meanwhile. */
static NO_INLINE sim_cycle pay_lines(struct lardsim *l, unsigned core, sim_cycle now)
{
    for (tell_lines(l, core); l->lines.owes[core]; tell_lines(l, core)) {
        l->lines.owes[core] = false;
        for (size_t k = 0; k < l->checkers; k++) {
            if (UNLIKELY(l->watched != NULL))
                watched_policy(l, core, l->checker[k]);
            now = checker_line_paid(l->checker[k], core, now);
        }
    }
    return now;
}

/* The decisions of the policies are compared with the truth, and each policy's costs are paid. */
ALWAYS_INLINE sim_cycle pay_each(struct lardsim *l, const struct event *ev, unsigned core,
                                 sim_cycle now, const bool watched)
{
    if (l->compare)
        compare_step(l->compare, ev);
    for (size_t i = 0; i < l->checkers && l->pays; i++) {
        if (watched)
            watched_policy(l, core, l->turn[i]);
        now = checker_pay(l->turn[i], ev, core, now);
    }
    return now;
}

static NO_INLINE sim_cycle pay(struct lardsim *l, const struct event *ev, unsigned core,
                               sim_cycle now)
{
    return pay_each(l, ev, core, now, false);
}

static NO_INLINE sim_cycle pay_watched(struct lardsim *l, const struct event *ev, unsigned core,
                                       sim_cycle now)
{
    return pay_each(l, ev, core, now, true);
}

static inline void count_event(struct lardsim *l, const struct event *ev)
{
    l->st.events++;
    l->st.kind[ev->kind]++;
    l->st.system += ev->flags & EVF_SYSTEM;
}

enum { LOOK_UP = 4096 }; /* events between two looks at what is seldom asked */

/* In program order the recorded order is made here: this event is its next. False: it may not be.
 */
static NO_INLINE bool recorded_now(struct lardsim *l, struct turn *t)
{
    struct recording *r = &l->scheduler->trace;

    r->limited = scheduler_full(l->scheduler);
    if (r->limited) {
        l->number = r->number;
        events_limit(l);
        return false;
    }
    if (l->rules && rules_apply(l->rules, t->ev, r->number, &l->err))
        return false;
    digest_add(l->identity, t->ev, event_records(t->ev) * sizeof *t->ev);
    t->number = r->number++;
    if (UNLIKELY(r->number % LOOK_UP == 0)) {
        if (l->on.progress)
            l->on.progress(l->on.progress_arg, l->st.events);
        return !memory_limit(l);
    }
    return true;
}

/* When hardware has the data that it checks: a pipelined core may go on without them. What a check
 * takes beyond that stops the core. */
static sim_cycle data_there(const struct lardsim *l, const struct core *c)
{
    const bool beside = machine_pipelined(l->machine) && l->lines.hears;

    return beside && c->ready > c->clock && c->ready != CYCLE_NEVER ? c->ready : c->clock;
}

static NO_INLINE void place_event(struct lardsim *l, const struct event *ev, uint64_t number)
{
    live_heap_event(&l->heap, ev);
    if (l->machine->inlined && ev->kind == EV_CLEAR)
        inline_heap_event(l->machine->inlined, ev);
    if (l->placement)
        placement_apply(l->placement, ev, number);
}

/* watched: a constant, so that the loop of a run that nobody watches has nothing of it. */
static inline __attribute__((always_inline)) void execute(struct lardsim *l, struct turn *t,
                                                          const bool watched)
{
    const struct event *ev = t->ev;
    const unsigned core = t->core;
    struct machine *m = l->machine;
    struct core *c = &m->core[core];

    if (UNLIKELY(m->inlined) && event_is_placing(ev) && ev->kind != EV_CLEAR)
        inline_heap_event(m->inlined, ev); /* what follows is about the object */
    if (watched)
        watched_turn(l, t);
    struct mem_outcome out = machine_event(m, core, ev);
    const sim_cycle from = data_there(l, c);
    sim_cycle now = from;

    out.began -= t->took < out.began ? t->took : out.began;
    if (UNLIKELY(l->program) && !recorded_now(l, t))
        return;
    if (UNLIKELY(l->keep != NULL) && !l->pushing &&
        keep_event(l->keep, ev, t->number, l->seen, &l->err))
        return;
    l->number = t->number; /* others may have run meanwhile */
    if (watched)
        watched_number(l, t);
    if (UNLIKELY(l->lines.hears)) {
        tell_lines(l, core);
        c->serves = true; /* its verdict may take time */
    }
    for (size_t i = 0; i < l->checkers; i++) {
        if (watched)
            watched_policy(l, core, l->turn[i]);
        now = checker_decide(l->turn[i], ev, core, out, now);
        if (watched)
            watched_check(l, l->turn[i], t->number, ev, core, now);
    }
    if (l->pays || l->compare) {
        c->serves = true;
        now = watched ? pay_watched(l, ev, core, now) : pay(l, ev, core, now);
        c->serves = false;
    }
    count_event(l, ev);
    if (UNLIKELY(event_is_placing(ev)))
        place_event(l, ev, t->number);
    if (UNLIKELY(event_is_region(ev)) && !l->err.code)
        run_region(l, ev->kind == EV_ROI_BEGIN);
    if (UNLIKELY(l->lines.hears)) {
        c->serves = true;
        now = pay_lines(l, core, now);
        c->serves = false;
    }
    if (now != from)
        core_spend(m, c, SPENT_HANDLER, now - from);
    if (UNLIKELY(l->st.events == m->params.warm_up))
        run_region(l, true);
    if (UNLIKELY(l->st.events >= l->course.next))
        course_sample(l);
    if (LIKELY(!l->err.code)) {
        t->ev += event_records(ev);
        t->number++;
    }
}

/* ---- what the scheduler has of the run ------------------------------------------------------ */

ALWAYS_INLINE void turns(struct lardsim *l, const bool watched)
{
    struct turn t = TURN_NONE;

    while (scheduler_next(l->scheduler, &t)) {
        if (l->machine)
            execute(l, &t, watched);
        else
            detect(l, &t, watched);
        if (UNLIKELY(l->stop) && !l->err.code)
            run_stopped(l);
    }
}

static void run_turns(void *session)
{
    turns(session, false);
}

static void run_turns_watched(void *session)
{
    turns(session, true);
}

/* A source that keeps the hash itself adds a batch when the next is asked for. */
static enum fed feed(void *session, struct batch *b)
{
    struct lardsim *l = session;

    if (!l->pulled)
        return l->finishing ? FED_END : FED_NOTHING_YET;
    if (!l->pulled->identity)
        digest_add(l->identity, gaps_original(l, b), b->records * sizeof *b->rec);
    if (b->records && l->on.progress)
        l->on.progress(l->on.progress_arg, l->st.events);
    if (memory_limit(l))
        return FED_ERROR;
    l->source_failed = !l->stop && source_next(l->pulled, b, &l->err) != 0;
    if (UNLIKELY(l->stop)) { /* it may have interrupted the read */
        l->source_failed = false;
        run_stopped(l);
        return FED_ERROR;
    }
    if (l->source_failed)
        return FED_ERROR;
    gaps_batch(l, b);
    return b->records ? FED_EVENTS : FED_END;
}

static void soon(void *session, const struct event *ev)
{
    const struct lardsim *l = session;

    for (size_t i = 0; i < l->checkers; i++)
        checker_soon(l->checker[i], ev);
}

/* The core may be in the middle of something, and pays at the end of that. */
static void used_caches(void *session, unsigned core)
{
    struct lardsim *l = session;

    if (UNLIKELY(l->lines.hears))
        tell_lines(l, core);
}

/* How many records a policy runs at a time that is alone; several take turns at each event, so that
 * they have seen the same events whatever stops the run. */
enum { SLICE = 128 };

void run_begin(struct lardsim *l)
{
    static const struct host_stats no_host;

    const struct scheduler_env env = {
        .machine = l->machine,
        .stats = l->stats,
        .rules = l->rules,
        .names = &l->seen,
        .number = &l->number,
        .memory = &l->memory,
        .limit = l->params.events,
        .host = l,
        .feed = feed,
        .run_turns = l->watched ? run_turns_watched : run_turns,
        .soon = soon,
        .used_caches = used_caches,
        .context = &l->context,
        .err = &l->err,
    };

    if (l->machine)
        course_begin(l, false);
    if (l->listing) {
        host_declare(l->stats, &no_host);
        outside_declare(l->stats, NULL);
    }
    if (l->params.order == ORDER_HOST)
        l->scheduler = scheduler_hosted(&l->hosted, &env);
    else if (l->machine && l->machine->timed)
        l->scheduler = scheduler_timed(&l->schedule, &env);
    else
        l->scheduler =
            scheduler_recorded(&env, l->params.policies.n == 1 && !l->watched ? SLICE : 1);
}

/* ---- a run ---------------------------------------------------------------------------------- */

static int run(struct lardsim *l)
{
    l->running = true;
    const int bad = scheduler_run(l->scheduler);
    l->running = false;
    if (bad)
        return -1;
    return l->scheduler->trace.limited ? events_limit(l) : 0;
}

int run_pull(struct lardsim *l)
{
    struct recording *r = &l->scheduler->trace;

    rules_for_run(l->rules, l->pulled->format);
    r->first = r->number = l->pulled->first;
    if (l->program) { /* a workload knows its gaps */
        l->machine->gaps_known = 1;
        scheduler_drive(l->scheduler, l->pulled);
    }
    const int bad = run(l);
    l->source_failed |= r->failed;
    digest_add(run_identity(l), gaps_original(l, &r->batch), r->at * sizeof *r->batch.rec);
    return bad;
}

int run_push(struct lardsim *l, const struct host_at *at, const struct event *ev)
{
    if (scheduler_full(l->scheduler))
        return events_limit(l);
    struct batch one = {.rec = ev, .records = event_records(ev)};
    gaps_batch(l, &one);
    if (at)
        host_tell(scheduler_host_order(l->scheduler), at);
    scheduler_push(l->scheduler, one.rec);
    if (run(l))
        return -1;
    digest_add(l->identity, ev, event_records(ev) * sizeof *ev);
    if (UNLIKELY(l->keep != NULL) && keep_event(l->keep, ev, l->number, l->seen, &l->err))
        return -1;
    return memory_limit(l);
}

void run_finish(struct lardsim *l)
{
    const struct recording *r = &l->scheduler->trace;

    l->finishing = true;
    if (!l->err.code && !run(l) && l->st.events != r->number - r->first)
        err_set(&l->err, LARD_INTERNAL,
                "the run ends after %llu of %llu events, and says nothing; please report it",
                (unsigned long long)l->st.events, (unsigned long long)(r->number - r->first));
}
