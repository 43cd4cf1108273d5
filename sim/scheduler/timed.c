/* timed.c - timed and program order: threads on cores, and which goes next.
 *
 * The agent of a core has its turn when its thread arrives at its next event: at the core's clock,
 * and the instructions before the event. There the event runs, or the thread has to wait for
 * another thread's event (order.h) and leaves the core to the others on it. The trace is read as
 * far as it must be known for that: the next event of each thread that could go next. */
#include "sim/scheduler/timed.h"

#include "sim/machine/cluster.h"
#include "sim/machine/interval.h"
#include "sim/machine/timeline.h"

#include <assert.h>

/* ---- what a core does next ------------------------------------------------------------------ */

/* The cycle from which the thread could use the core. */
static sim_cycle could_from(const struct timed *s, sim_tid tid, const struct run_queue *q)
{
    return u64_max(q->core->clock, s->threads.at[tid].ready_at);
}

/* True: thread a goes before b on their core. A thread in the middle of a step goes first, as
 * others may wait for it; then the one that could go first. */
static bool comes_before(const struct timed *s, const struct run_queue *q, sim_tid a, sim_tid b)
{
    const bool first = s->threads.at[a].pending > 0, second = s->threads.at[b].pending > 0;

    return first != second ? first : could_from(s, a, q) < could_from(s, b, q);
}

static NO_INLINE bool choose_among(struct timed *s, struct run_queue *q)
{
    const bool in_step = q->n && s->threads.at[q->tid[q->turn]].pending; /* no turn ends there */
    const bool over = q->core->clock - q->since >= s->params.quantum && !in_step;
    size_t best = q->n;

    for (size_t k = 0; k < q->n; k++) {
        const size_t i = (q->turn + over + k) % q->n;
        if (s->threads.at[q->tid[i]].state == THREAD_RUNNABLE &&
            (best == q->n || comes_before(s, q, q->tid[i], q->tid[best])))
            best = i;
    }
    if (best == q->n)
        return false;
    q->fresh = best != q->turn || over; /* its time counts once the switch is paid */
    q->turn = best;
    return true;
}

/* Gives the turn to one of the core's threads: the one that could go first; of several the one that
 * runs while its turn lasts, then the next in the round. False: no thread can go. */
static inline bool choose(struct timed *s, struct run_queue *q)
{
    if (LIKELY(q->n == 1)) /* its turn is 0 */
        return s->threads.at[q->tid[0]].state == THREAD_RUNNABLE;
    return choose_among(s, q);
}

/* The core stands still until the thread may use it. */
static NO_INLINE void stand_still(struct timed *s, struct run_queue *q, struct sched_thread *th)
{
    if (UNLIKELY(s->machine->cluster) && th->ready_at > q->core->clock)
        cluster_stands(s->machine, q->agent->core, th->waited, th->ready_at);
    if (th->ready_at > q->core->clock)
        core_spend(s->machine, q->core, th->waited ? spent_waiting(th->why) : SPENT_IDLE,
                   th->ready_at - q->core->clock);
    th->waited = false;
}

static NO_INLINE void take_turn(struct timed *s, struct run_queue *q, sim_tid tid)
{
    if (q->ran && q->last != tid) {
        core_spend(s->machine, q->core, SPENT_SWITCH, s->params.switch_cycles);
        s->st.switches++;
    }
    q->ran = true;
    q->last = tid;
    if (q->fresh)
        q->since = q->core->clock;
    q->fresh = false;
}

static void park(struct timed *s, sim_tid tid)
{
    s->threads.at[tid].state = THREAD_PARKED;
    s->core[s->threads.at[tid].core].parked++;
    s->threads.parked++;
}

static void unpark(struct timed *s, sim_tid tid, enum thread_state now)
{
    s->threads.at[tid].state = now;
    s->core[s->threads.at[tid].core].parked--;
    s->threads.parked--;
}

/* True: an event that is about to be read may change which thread goes next on the core. */
static inline bool must_know(struct timed *s, const struct run_queue *q)
{
    if (LIKELY(!q->parked) || s->head.trace.closed || order_full(s->order))
        return false;
    s->threads.unplanned = true;
    return true;
}

/* When the core has run so many instructions. */
static inline sim_cycle after(struct timed *s, const struct run_queue *q, uint64_t gap)
{
    if (UNLIKELY(s->pipe != NULL))
        return pipeline_foresees(s, q->agent->core, gap);
    return q->core->clock + gap;
}

/* The instructions before its next step, which nobody knows yet, are on their way. */
static void stand(struct timed *s, struct run_queue *q, sim_tid tid)
{
    const struct source *p = s->program.source;
    struct sched_thread *th = &s->threads.at[tid];

    if (th->waited || th->ready_at > q->core->clock)
        stand_still(s, q, th);
    if (q->last != tid || !q->ran || q->fresh)
        take_turn(s, q, tid);
    q->busy = true;
    q->access = false;
    queue_at(s, q->agent, u64_max(s->queue.now, after(s, q, p->driven->gap(p, tid))));
}

/* Takes out of the choice a thread whose next event can't be its core's next, or is not made before
 * the core has come to it. */
static NO_INLINE void pass_over(struct timed *s, struct run_queue *q, sim_tid tid)
{
    if (q->next.state == ORDER_OVER) {
        s->threads.at[tid].state = THREAD_OVER;
        thread_leaves(s, tid);
    } else if (!s->program.source) {
        park(s, tid);
    } else if (program_stands(s, tid)) {
        stand(s, q, tid);
    }
}

/* The core's agent goes on when its thread arrives at its event. */
static inline void take_up(struct timed *s, struct run_queue *q, sim_tid tid)
{
    struct sched_thread *th = &s->threads.at[tid];
    struct machine *m = s->machine;

    q->busy = true;
    if (UNLIKELY(m->timeline))
        timeline_event(m->timeline, q->agent->core, q->next.ev, q->next.number);
    if (UNLIKELY(th->waited || th->ready_at > q->core->clock))
        stand_still(s, q, th);
    if (UNLIKELY(q->last != tid || !q->ran || q->fresh))
        take_turn(s, q, tid);
    sim_cycle at = th->arrived ? q->core->clock : after(s, q, q->next.ev->gap);
    if (UNLIKELY(at < s->queue.now)) { /* its event came late: the window was full */
        core_spend(m, q->core, SPENT_WINDOW, s->queue.now - at);
        at = s->queue.now;
    }
    q->access = event_is_access(q->next.ev);
    if (m->soon && q->access)
        s->head.env.soon(s->head.env.host, q->next.ev);
    queue_at(s, q->agent, at);
}

/* True: the core's thread waits in the middle of a step, and keeps the core for a while. */
static NO_INLINE bool spins_on(const struct timed *s, struct run_queue *q)
{
    q->spins = s->threads.at[q->last].state == THREAD_WAITING;
    return q->spins;
}

/* The core takes up its next thread, if it can. */
static void plan(struct timed *s, struct run_queue *q)
{
    if (UNLIKELY(q->spins) && spins_on(s, q))
        return;
    while (!q->busy && !must_know(s, q) && choose(s, q)) {
        const sim_tid tid = q->tid[q->turn];
        order_peek(s->order, tid, &q->next);
        if (LIKELY(q->next.state <= ORDER_BLOCKED)) {
            take_up(s, q, tid);
            break;
        }
        pass_over(s, q, tid);
    }
}

static struct run_queue *core_of(const struct timed *s, sim_tid tid)
{
    return &s->core[s->threads.at[tid].core];
}

void timed_plan(struct timed *s, sim_tid tid)
{
    plan(s, core_of(s, tid));
}

/* A core has become empty: whose turn it is to get one. */
static void place_waiting(struct timed *s)
{
    struct order_next next = {.ev = NULL};
    sim_tid tid;

    s->threads.emptied = false;
    while (thread_next_placeable(s, &tid)) {
        if (!s->program.source)
            order_peek(s->order, tid, &next);
        assert(s->program.source || next.state == ORDER_READY);
        s->threads.at[tid].ready_at = s->queue.now;
        if (!thread_place(s, tid, next.ev))
            break;
        plan(s, core_of(s, tid));
    }
}

/* Lets a thread's first event run from `at` on, unless it still waits for something else. */
static void start(struct timed *s, sim_tid tid, sim_cycle at)
{
    struct sched_thread *th = &s->threads.at[tid];
    struct order_next next;

    order_peek(s->order, tid, &next);
    if (next.state != ORDER_READY)
        return;
    th->ready_at = at;
    th->could_start = true;
    if (thread_place(s, tid, next.ev))
        plan(s, core_of(s, tid));
}

static void wake(struct timed *s, sim_tid tid, sim_cycle at)
{
    struct sched_thread *th = &s->threads.at[tid];

    th->ready_at = u64_max(th->ready_at, at);
    if (th->state == THREAD_UNPLACED)
        start(s, tid, at);
    if (th->state != THREAD_WAITING)
        return;
    th->state = THREAD_RUNNABLE;
    plan(s, core_of(s, tid));
}

/* ---- an event ------------------------------------------------------------------------------- */

static void leave(struct timed *s, sim_tid tid)
{
    struct sched_thread *th = &s->threads.at[tid];

    if (th->state == THREAD_PARKED)
        unpark(s, tid, THREAD_OVER);
    th->state = THREAD_OVER;
    thread_leaves(s, tid);
}

/* Changes the states of threads as the event, which has run, demands. */
static void settle_threads(struct timed *s, sim_tid tid, enum ev_kind kind, uint64_t aux)
{
    if (kind == EV_THREAD)
        thread_to_kernel(s, tid, aux);
    else if (kind == EV_THREAD_END)
        leave(s, tid);
    else if (kind == EV_JOIN && aux < s->threads.n && s->threads.at[aux].state == THREAD_PARKED)
        leave(s, (sim_tid)aux); /* it never said that it ended */
}

static void wake_all(struct timed *s, sim_cycle at)
{
    const sim_tid *woken;
    const size_t n = order_woken(s->order, &woken);

    for (size_t i = 0; i < n; i++)
        wake(s, woken[i], at);
}

/* The event is done: who waits for it may go on. */
static inline void taken(struct timed *s, struct run_queue *q)
{
    const sim_tid tid = q->last;
    const struct event *ev = q->next.ev;
    const enum ev_kind kind = (enum ev_kind)ev->kind; /* the window forgets the event */
    const uint64_t aux = ev->aux;
    const bool threads = !q->access;

    s->threads.at[tid].arrived = false;
    const bool woken = order_take(s->order, tid);
    if (UNLIKELY(threads))
        settle_threads(s, tid, kind, aux);
    q->busy = false;
    if (UNLIKELY(woken))
        wake_all(s, q->core->clock);
    if (UNLIKELY(s->program.source != NULL))
        program_ran(s, tid, q->core->clock);
    plan(s, q);
    if (UNLIKELY(threads && core_of(s, tid) != q))
        plan(s, core_of(s, tid));
    if (UNLIKELY(s->threads.emptied))
        place_waiting(s);
}

/* The core's thread has arrived at its event, which runs now. */
static inline void begin(struct timed *s, struct run_queue *q, struct turn *t)
{
    const struct event *ev = q->next.ev;
    const unsigned core = q->agent->core;

    q->orders = !q->access || ev->flags & EVF_ORDER_MASK;
    if (UNLIKELY(q->orders)) {
        s->buffers[core].sync = true;
        if (s->pipe)
            pipeline_drain(s, core);
        else
            buffers_drain(s, core);
    }
    t->ev = ev;
    t->number = q->next.number;
    t->core = core;
}

/* The turn has run; it is done at the cycle that the clock of its core says now. */
static inline void ran(struct timed *s, const struct turn *t)
{
    struct run_queue *q = &s->core[t->core];

    s->buffers[t->core].sync = false;
    if (UNLIKELY(s->pipe != NULL) && q->core->clock < s->queue.now) /* a check in hardware */
        core_spend(s->machine, q->core, SPENT_HANDLER, s->queue.now - q->core->clock);
    if (UNLIKELY(s->head.env.err->code)) {
        s->stop = true;
    } else if (LIKELY(!q->orders || q->core->clock <= s->queue.now)) {
        taken(s, q);
    } else { /* others may be ordered behind it: not before it is done */
        q->finishing = true;
        queue_at(s, q->agent, q->core->clock);
    }
}

/* The thread's next event must wait for another one's. */
static NO_INLINE void wait_for(struct timed *s, struct run_queue *q)
{
    struct sched_thread *th = &s->threads.at[q->last];

    if (UNLIKELY(s->machine->sights != NULL))
        s->machine->sights->waits(s->machine->sights->self, q->agent->core, q->next.why, q->next.by,
                                  q->next.by_number);
    th->state = THREAD_WAITING;
    th->why = q->next.why;
    th->waited = true;
    q->busy = false;
    if (s->program.source && q->n > 1) {
        q->spins = true;
        queue_at(s, q->agent, q->core->clock + s->params.switch_cycles);
    }
    plan(s, q);
}

/* The core's thread has spun for as long as a switch takes: now others have the core. */
static NO_INLINE void spun(struct timed *s, struct run_queue *q)
{
    q->spins = false;
    core_spend(s->machine, q->core, spent_waiting(s->threads.at[q->last].why),
               s->queue.now - q->core->clock);
    plan(s, q);
}

static inline bool arrive(struct timed *s, struct run_queue *q, struct turn *t)
{
    struct sched_thread *th = &s->threads.at[q->last];

    if (LIKELY(!th->arrived)) {
        th->arrived = true;
        q->core->instructions += q->next.ev->gap;
        if (LIKELY(!s->pipe)) {
            core_spend(s->machine, q->core, SPENT_EXECUTING, q->next.ev->gap);
        } else {
            pipeline_arrives(s, q->agent->core, q->next.ev->gap);
            th = &s->threads.at[q->last]; /* others may have run meanwhile */
            if (q->next.state != ORDER_READY)
                order_peek(s->order, q->last, &q->next);
        }
    }
    if (UNLIKELY(q->next.state == ORDER_BLOCKED)) {
        wait_for(s, q);
    } else if (UNLIKELY(s->pipe && q->core->clock > s->queue.now)) { /* nobody could foresee that */
        queue_at(s, q->agent, q->core->clock);
    } else if (UNLIKELY(th->ready_at > q->core->clock)) { /* it is being done */
        th->waited = true;
        stand_still(s, q, th);
        queue_at(s, q->agent, q->core->clock);
    } else {
        begin(s, q, t);
        return true;
    }
    return false;
}

/* Holds the plan of a step, made before the step was known, against the time at which the step
 * really is. False: that time comes later. */
static bool is_there(struct timed *s, struct run_queue *q)
{
    const sim_cycle at = after(s, q, q->next.ev->gap);

    if (UNLIKELY(at > s->queue.now)) {
        queue_at(s, q->agent, at);
        return false;
    }
    if (UNLIKELY(at < s->queue.now) && !s->pipe) /* that sees it by itself */
        core_spend(s->machine, q->core, SPENT_IDLE, s->queue.now - at);
    return true;
}

/* Learns the step that the core's thread has come to, which was not known when it was planned.
 * False: no event of it may run now. */
static NO_INLINE bool learn(struct timed *s, struct run_queue *q)
{
    const sim_tid tid = q->last;

    if (q->next.state == ORDER_UNKNOWN && program_asks(s, tid))
        order_peek(s->order, tid, &q->next);
    if (s->stop)
        return false;
    if (q->next.state > ORDER_BLOCKED) {
        q->busy = false;
        plan(s, q);
        return false;
    }
    q->access = event_is_access(q->next.ev);
    if (s->machine->timeline)
        timeline_event(s->machine->timeline, q->agent->core, q->next.ev, s->head.trace.number);
    return is_there(s, q);
}

static inline bool core_step(struct timed *s, struct agent *a, struct turn *t)
{
    struct run_queue *q = &s->core[a->core];
    const bool known = q->next.state <= ORDER_BLOCKED;

    if (UNLIKELY(q->finishing)) {
        q->finishing = false;
        taken(s, q);
        return false;
    }
    if (UNLIKELY(s->stops.deep || q->lost) && !stop_lets(s, a))
        return false;
    if (UNLIKELY(q->spins)) {
        spun(s, q);
        return false;
    }
    if (UNLIKELY(q->next.state != ORDER_READY)) /* when it was planned */
        order_peek(s->order, q->last, &q->next);
    if (UNLIKELY(!known) && !learn(s, q))
        return false;
    return arrive(s, q, t);
}

/* ---- the trace comes in --------------------------------------------------------------------- */

/* The thread could not go on without the event. */
static void known(struct timed *s, sim_tid tid)
{
    struct sched_thread *th = &s->threads.at[tid];

    if (th->state == THREAD_UNSEEN) {
        th->state = THREAD_UNPLACED;
        thread_waits_for_core(s, tid);
        start(s, tid, s->queue.now);
    } else {
        unpark(s, tid, THREAD_RUNNABLE);
        plan(s, core_of(s, tid));
    }
}

/* The next event in recorded order. */
ALWAYS_INLINE int add(struct timed *s, const struct event *ev)
{
    const uint64_t number = s->head.trace.number;

    if (s->head.env.rules && rules_apply(s->head.env.rules, ev, number, s->head.env.err))
        return -1;
    machine_touch(s->machine, ev);
    const struct sched_thread *th =
        LIKELY(ev->tid < s->threads.n) ? &s->threads.at[ev->tid] : thread_of(s, ev->tid);
    if (UNLIKELY((!event_is_access(ev) || th->state == THREAD_UNSEEN || th->ended) &&
                 thread_recorded(s, ev, number)) ||
        order_add(s->order, ev, number, s->head.env.err))
        return -1;
    s->head.trace.number++;
    if (UNLIKELY(th->state == THREAD_UNSEEN || th->state == THREAD_PARKED))
        known(s, ev->tid);
    return 0;
}

/* Cores that waited for what is read go on with their other threads. */
static void plan_others(struct timed *s)
{
    if (!s->threads.unplanned)
        return;
    s->threads.unplanned = false;
    for (unsigned i = 0; i < s->machine->params.cores; i++)
        plan(s, &s->core[i]);
}

static void close_trace(struct timed *s)
{
    s->head.trace.closed = true;
    order_close(s->order);
    for (size_t i = 0; i < s->threads.n; i++)
        if (s->threads.at[i].state == THREAD_PARKED)
            leave(s, (sim_tid)i);
    plan_others(s);
    place_waiting(s);
}

/* A thread whose next event isn't known might go next: it is read, while the window has room. */
static bool must_read(struct timed *s)
{
    if (s->head.trace.closed || (!queue_waits(s) && !s->threads.parked))
        return false;
    if (order_full(s->order)) {
        s->st.window_full++;
        for (unsigned i = 0; i < s->machine->params.cores; i++)
            ahead_meets(s, i); /* their turns are counted */
        plan_others(s);
        return false;
    }
    return s->threads.parked || !s->queue.asleep;
}

/* Until it is known what goes next, or the batch or the window ends. */
static enum fed read_on(struct timed *s)
{
    const enum fed fed = scheduler_read(&s->head);
    const struct event *rec = s->head.trace.batch.rec;

    if (fed != FED_EVENTS)
        return fed;
    for (uint64_t room = order_room(s->order);
         room && s->head.trace.at < s->head.trace.batch.records; room--) {
        s->head.trace.limited = scheduler_full(&s->head);
        if (s->head.trace.limited)
            return FED_END;
        if (add(s, &rec[s->head.trace.at]))
            return FED_ERROR;
        s->head.trace.at += event_records(&rec[s->head.trace.at]);
        if (!s->threads.parked)
            break;
    }
    return FED_EVENTS;
}

static NO_INLINE bool read_ahead(struct timed *s)
{
    if (s->program.source)
        return program_begins(s);
    while (must_read(s)) {
        const enum fed fed = read_on(s);
        if (fed == FED_END)
            close_trace(s);
        else if (fed != FED_EVENTS)
            return false;
    }
    return !s->head.env.err->code;
}

/* ---- a run ---------------------------------------------------------------------------------- */

static NO_INLINE NO_RETURN void goes_back(const struct timed *s, const struct agent *a)
{
    ensure_failed(__FILE__, __LINE__, "a->at >= s->queue.now", s->head.env.context,
                  "core %u was to go on at cycle %llu, and others were at cycle %llu", a->core,
                  (unsigned long long)a->at, (unsigned long long)s->queue.now);
}

/* An agent's time has come. True: that a core's thread is at an event, which runs now. */
static inline bool turn(struct timed *s, struct agent *a, struct turn *t)
{
    if (UNLIKELY(a->at >= s->machine->interval_end))
        intervals_pass(s->machine->intervals, a->at);
    if (UNLIKELY(a->at < s->queue.now))
        goes_back(s, a);
    s->queue.stale = true;
    queue_turn(s, a);
    s->queue.active = a;
    if (UNLIKELY(a->fiber != NULL))
        queue_resume(s, a);
    else if (LIKELY(!a->step))
        return core_step(s, a, t);
    else
        a->step(s, a);
    return false;
}

bool timed_next(struct scheduler *head, struct turn *t)
{
    struct timed *s = (struct timed *)head;
    const struct event_queue *q = &s->queue;

    if (t->ev)
        ran(s, t);
    while (!s->stop) {
        if (UNLIKELY(q->stale))
            queue_lapse(s);
        if (UNLIKELY(queue_waits(s) || s->threads.parked) && !read_ahead(s))
            break;
        if (UNLIKELY(s->machine->memory.type->later) && queue_memory(s))
            continue;
        if (UNLIKELY(queue_waits(s)))
            break;
        if (turn(s, &q->agent[q->winner[QUEUE_ROOT]], t))
            return true;
    }
    return false;
}

/* So far the core waits, or has no thread. That is counted, and moves nothing: nobody wakes it at
 * an earlier time than that of the latest turn, and a thread's turn on it is as long as it was. */
static void pass_time(struct timed *s, struct run_queue *q)
{
    const sim_cycle clock = q->core->clock, now = s->queue.now;

    if (q->busy || q->parked || clock >= now)
        return;
    const struct sched_thread *th = q->n ? &s->threads.at[q->tid[q->turn % q->n]] : NULL;
    if (th)
        q->since += now - clock;
    core_spend(s->machine, q->core, th && th->waited ? spent_waiting(th->why) : SPENT_IDLE,
               now - clock);
}

sim_cycle timed_settle(struct scheduler *head)
{
    struct timed *s = (struct timed *)head;

    steps_settle(s);
    for (unsigned i = 0; i < s->machine->params.cores; i++)
        pass_time(s, &s->core[i]);
    return s->queue.now;
}

void timed_where(const struct scheduler *head, int of, struct whereabouts *to,
                 const struct event **ev)
{
    const struct timed *s = (const struct timed *)head;
    const struct agent *a = of < 0 ? s->queue.active : &s->queue.agent[of];

    to->cycle = s->queue.now;
    if (!a)
        return;
    to->core = (int)a->core;
    const struct run_queue *q = &s->core[a->core];
    if (a->step || !(q->busy || (q->n && q->next.state == ORDER_BLOCKED)) ||
        q->next.state > ORDER_BLOCKED)
        return;
    *ev = q->next.ev;
    to->thread = q->next.ev->tid;
    to->event = q->next.number;
}

void timed_run(struct scheduler *head)
{
    struct timed *s = (struct timed *)head;

    s->stop = false;
    queue_run(s);
    steps_settle(s);
    if (head->env.err->code)
        return;
    if (s->program.source && !head->trace.closed && !order_pending(s->order)) {
        program_stuck(s);
        return;
    }
    const bool more =
        !s->program.source && !s->head.trace.closed && !order_full(s->order); /* to be read first */
    if (!more && (order_pending(s->order) || s->queue.asleep))
        order_stuck(s->order, *head->env.names, head->env.err);
    else if (head->trace.closed)
        buffers_finish(s);
}
