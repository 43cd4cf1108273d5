/* scheduler.c - threads on cores, and which goes next.
 *
 * A core's agent goes on when its thread arrives at its next event: the core's clock and the
 * instructions before the event. There the event runs, or the thread has to wait for another
 * thread's event (order.h) and leaves the core to the others on it. */
#include "sim/scheduler/scheduler_int.h"

#include "sim/machine/timeline.h"

#include <assert.h>

/* ---- what a core does next ------------------------------------------------------------------ */

/* The cycle from which the thread could use the core. */
static sim_cycle could_from(const struct timed *t, sim_tid tid, const struct place *p)
{
    const sim_cycle clock = p->core->clock, ready = t->thread[tid].ready_at;

    return ready > clock ? ready : clock;
}

static NO_INLINE bool choose_among(struct timed *t, struct place *p)
{
    const bool over = p->core->clock - p->since >= t->params.quantum;
    size_t best = p->n;

    for (size_t k = 0; k < p->n; k++) {
        const size_t i = (p->turn + over + k) % p->n;
        if (t->thread[p->tid[i]].state == THREAD_RUNNABLE &&
            (best == p->n || could_from(t, p->tid[i], p) < could_from(t, p->tid[best], p)))
            best = i;
    }
    if (best == p->n)
        return false;
    p->fresh = best != p->turn || over; /* its time counts once the switch is paid */
    p->turn = best;
    return true;
}

/* Whose turn it is among the core's threads: who could go first; of several the one that runs while
 * its turn lasts, then the next in the round. False: nobody's. */
static inline bool choose(struct timed *t, struct place *p)
{
    if (LIKELY(p->n == 1)) /* its turn is 0 */
        return t->thread[p->tid[0]].state == THREAD_RUNNABLE;
    return choose_among(t, p);
}

/* The core stands still until the thread may use it. */
static NO_INLINE void stand_still(struct timed *t, struct place *p, struct thread *th)
{
    if (th->ready_at > p->core->clock)
        core_spend(t->machine, p->core, th->waited ? spent_waiting(th->why) : SPENT_IDLE,
                   th->ready_at - p->core->clock);
    th->waited = false;
}

static NO_INLINE void take_turn(struct timed *t, struct place *p, sim_tid tid)
{
    if (p->ran && p->last != tid) {
        core_spend(t->machine, p->core, SPENT_SWITCH, t->params.switch_cycles);
        t->st.switches++;
    }
    p->ran = true;
    p->last = tid;
    if (p->fresh)
        p->since = p->core->clock;
    p->fresh = false;
}

static void park(struct timed *t, sim_tid tid)
{
    t->thread[tid].state = THREAD_PARKED;
    t->place[t->thread[tid].core].parked++;
    t->parked++;
}

static void unpark(struct timed *t, sim_tid tid, enum thread_state now)
{
    t->thread[tid].state = now;
    t->place[t->thread[tid].core].parked--;
    t->parked--;
}

/* Who goes next on the core depends on an event that is about to be read. */
static inline bool must_know(struct timed *t, const struct place *p)
{
    if (LIKELY(!p->parked) || t->closed || order_full(t->order))
        return false;
    t->unplanned = true;
    return true;
}

static inline void hint(const struct timed *t, const struct event *ev, bool very)
{
    if (t->machine->soon[very] && event_is_access(ev))
        t->env.soon(t->env.host, ev, very);
}

/* Its next event can't be its core's next. */
static NO_INLINE void pass_over(struct timed *t, sim_tid tid, enum order_state why)
{
    if (why == ORDER_UNKNOWN) {
        park(t, tid);
        return;
    }
    t->thread[tid].state = THREAD_OVER;
    thread_leaves(t, tid);
}

/* The core's agent goes on when its thread arrives at its event. */
static inline void take_up(struct timed *t, struct place *p, sim_tid tid)
{
    struct thread *th = &t->thread[tid];
    struct machine *m = t->machine;

    if (UNLIKELY(m->timeline))
        timeline_event(m->timeline, p->agent->core, p->next.ev, p->next.number);
    if (UNLIKELY(th->waited || th->ready_at > p->core->clock))
        stand_still(t, p, th);
    if (UNLIKELY(p->last != tid || !p->ran || p->fresh))
        take_turn(t, p, tid);
    sim_cycle at = p->core->clock + (th->arrived ? 0 : p->next.ev->gap);
    if (UNLIKELY(at < t->now)) { /* its event came late: the window was full */
        core_spend(m, p->core, SPENT_WINDOW, t->now - at);
        at = t->now;
    }
    p->busy = true;
    hint(t, p->next.ev, false);
    agent_at(t, p->agent, at);
}

/* The core takes up its next thread, if it can. */
static void plan(struct timed *t, struct place *p)
{
    while (!p->busy && !must_know(t, p) && choose(t, p)) {
        const sim_tid tid = p->tid[p->turn];
        order_peek(t->order, tid, &p->next);
        if (LIKELY(p->next.state <= ORDER_BLOCKED)) {
            take_up(t, p, tid);
            break;
        }
        pass_over(t, tid, p->next.state);
    }
}

static struct place *place_of(const struct timed *t, sim_tid tid)
{
    return &t->place[t->thread[tid].core];
}

/* A core has become empty: whose turn it is to get one. */
static void place_waiting(struct timed *t)
{
    struct order_next next;
    sim_tid tid;

    t->emptied = false;
    while (thread_next_placeable(t, &tid)) {
        order_peek(t->order, tid, &next);
        assert(next.state == ORDER_READY);
        if (!thread_place(t, tid, next.ev))
            break;
        t->thread[tid].ready_at = t->now;
        plan(t, place_of(t, tid));
    }
}

/* Its first event may run from `at` on, unless it still waits for something else. */
static void start(struct timed *t, sim_tid tid, sim_cycle at)
{
    struct thread *th = &t->thread[tid];
    struct order_next next;

    order_peek(t->order, tid, &next);
    if (next.state != ORDER_READY)
        return;
    th->ready_at = at;
    th->could_start = true;
    if (thread_place(t, tid, next.ev))
        plan(t, place_of(t, tid));
}

static void wake(struct timed *t, sim_tid tid, sim_cycle at)
{
    struct thread *th = &t->thread[tid];

    if (th->ready_at < at)
        th->ready_at = at;
    if (th->state == THREAD_UNPLACED)
        start(t, tid, at);
    if (th->state != THREAD_WAITING)
        return;
    th->state = THREAD_RUNNABLE;
    plan(t, place_of(t, tid));
}

/* ---- an event ------------------------------------------------------------------------------- */

static void leave(struct timed *t, sim_tid tid)
{
    struct thread *th = &t->thread[tid];

    if (th->state == THREAD_PARKED)
        unpark(t, tid, THREAD_OVER);
    th->state = THREAD_OVER;
    thread_leaves(t, tid);
}

/* What the event, which has run, says of threads. */
static void settle_threads(struct timed *t, sim_tid tid, enum ev_kind kind, uint64_t aux)
{
    if (kind == EV_THREAD)
        thread_to_kernel(t, tid, aux);
    else if (kind == EV_THREAD_END)
        leave(t, tid);
    else if (kind == EV_JOIN && aux < t->threads && t->thread[aux].state == THREAD_PARKED)
        leave(t, (sim_tid)aux); /* it never said that it ended */
}

static void wake_all(struct timed *t, sim_cycle at)
{
    const sim_tid *woken;
    const size_t n = order_woken(t->order, &woken);

    for (size_t i = 0; i < n; i++)
        wake(t, woken[i], at);
}

/* The event is done: who waits for it may go on. */
static inline void taken(struct timed *t, struct place *p)
{
    const sim_tid tid = p->last;
    const struct event *ev = p->next.ev;
    const enum ev_kind kind = (enum ev_kind)ev->kind; /* the window forgets the event */
    const uint64_t aux = ev->aux;
    const bool threads = !event_is_access(ev);

    t->thread[tid].arrived = false;
    const bool woken = order_take(t->order, tid);
    if (UNLIKELY(threads))
        settle_threads(t, tid, kind, aux);
    p->busy = false;
    if (UNLIKELY(woken))
        wake_all(t, p->core->clock);
    plan(t, p);
    if (UNLIKELY(threads && place_of(t, tid) != p))
        plan(t, place_of(t, tid));
    if (UNLIKELY(t->emptied))
        place_waiting(t);
}

/* The core's thread has arrived at its event; that goes ahead, and is done later. */
static inline void run_event(struct timed *t, struct place *p)
{
    const struct event *ev = p->next.ev;
    const unsigned core = p->agent->core;
    const bool orders = !event_is_access(ev) || ev->flags & EVF_ORDER_MASK;

    if (UNLIKELY(orders)) {
        t->beside[core].sync = true;
        beside_drain(t, core);
    }
    hint(t, ev, true);
    const struct mem_outcome out = machine_event(t->machine, core, ev);
    if (UNLIKELY(orders))
        t->beside[core].sync = false;
    if (UNLIKELY(!t->env.ran(t->env.host, ev, p->next.number, core, out))) {
        t->stop = true;
    } else if (LIKELY(!orders || p->core->clock <= t->now)) {
        taken(t, p);
    } else { /* others may be ordered behind it: not before it is done */
        p->finishing = true;
        agent_at(t, p->agent, p->core->clock);
    }
}

/* The thread's next event must wait for another one's. */
static NO_INLINE void wait_for(struct timed *t, struct place *p)
{
    struct thread *th = &t->thread[p->last];

    th->state = THREAD_WAITING;
    th->why = p->next.why;
    th->waited = true;
    p->busy = false;
    plan(t, p);
}

static inline void arrive(struct timed *t, struct place *p)
{
    struct thread *th = &t->thread[p->last];

    if (LIKELY(!th->arrived)) {
        p->core->instructions += p->next.ev->gap;
        core_spend(t->machine, p->core, SPENT_EXECUTING, p->next.ev->gap);
    }
    th->arrived = true;
    if (UNLIKELY(p->next.state == ORDER_BLOCKED)) {
        wait_for(t, p);
    } else if (UNLIKELY(th->ready_at > p->core->clock)) { /* it is being done */
        th->waited = true;
        stand_still(t, p, th);
        agent_at(t, p->agent, p->core->clock);
    } else {
        run_event(t, p);
    }
}

void timed_core_step(struct timed *t, struct agent *a)
{
    struct place *p = &t->place[a->core];

    if (UNLIKELY(p->finishing)) {
        p->finishing = false;
        taken(t, p);
        return;
    }
    if (UNLIKELY(t->stops || p->lost) && !stop_lets(t, a))
        return;
    if (UNLIKELY(p->next.state != ORDER_READY)) /* when it was planned */
        order_peek(t->order, p->last, &p->next);
    arrive(t, p);
}

/* ---- the trace comes in --------------------------------------------------------------------- */

/* The thread could not go on without the event. */
static void known(struct timed *t, sim_tid tid)
{
    struct thread *th = &t->thread[tid];

    if (th->state == THREAD_UNSEEN) {
        th->state = THREAD_UNPLACED;
        thread_waits_for_core(t, tid);
        start(t, tid, t->now);
    } else {
        unpark(t, tid, THREAD_RUNNABLE);
        plan(t, place_of(t, tid));
    }
}

/* The next event in recorded order. */
ALWAYS_INLINE int add(struct timed *t, const struct event *ev)
{
    const uint64_t number = t->first + t->added;

    if (UNLIKELY(t->env.comes != NULL) && t->env.comes(t->env.host, ev, number))
        return -1;
    machine_touch(t->machine, ev);
    const struct thread *th =
        LIKELY(ev->tid < t->threads) ? &t->thread[ev->tid] : thread_of(t, ev->tid);
    if (UNLIKELY((!event_is_access(ev) || th->state == THREAD_UNSEEN || th->ended) &&
                 thread_recorded(t, ev, number)) ||
        order_add(t->order, ev, number, t->env.err))
        return -1;
    t->added++;
    if (UNLIKELY(th->state == THREAD_UNSEEN || th->state == THREAD_PARKED))
        known(t, ev->tid);
    return 0;
}

/* Another event comes. */
static inline bool at_limit(struct timed *t)
{
    t->limited = t->env.events && t->added == t->env.events;
    return t->limited;
}

int timed_push(struct timed *t, const struct event *ev)
{
    return at_limit(t) ? -1 : add(t, ev);
}

/* Cores that waited for what is read go on with their other threads. */
static void plan_others(struct timed *t)
{
    if (!t->unplanned)
        return;
    t->unplanned = false;
    for (unsigned i = 0; i < t->machine->params.cores; i++)
        plan(t, &t->place[i]);
}

static void close_trace(struct timed *t)
{
    t->closed = true;
    order_close(t->order);
    for (size_t i = 0; i < t->threads; i++)
        if (t->thread[i].state == THREAD_PARKED)
            leave(t, (sim_tid)i);
    plan_others(t);
    place_waiting(t);
}

/* A thread whose next event isn't known might go next: it is read, while the window has room. */
static bool must_read(struct timed *t)
{
    if (t->closed || (!agents_wait(t) && !t->parked))
        return false;
    if (order_full(t->order)) {
        t->st.window_full++;
        for (unsigned i = 0; i < t->machine->params.cores; i++)
            ahead_meets(t, i); /* their turns are counted */
        plan_others(t);
        return false;
    }
    return t->parked || !t->asleep;
}

/* Until it is known what goes next, or the batch or the window ends. */
static enum fed read_some(struct timed *t)
{
    const struct event *rec = t->batch.rec;

    for (uint64_t room = order_room(t->order); room && t->at < t->batch.records; room--) {
        if (at_limit(t))
            return FED_END;
        if (add(t, &rec[t->at]))
            return FED_ERROR;
        t->at += event_records(&rec[t->at]);
        if (!t->parked)
            break;
    }
    return FED_EVENTS;
}

static enum fed read_on(struct timed *t)
{
    if (t->at == t->batch.records) {
        t->at = 0;
        const enum fed fed = t->env.feed(t->env.host, &t->batch);
        if (fed != FED_EVENTS)
            return fed;
    }
    return read_some(t);
}

bool timed_feed(struct timed *t)
{
    while (must_read(t))
        switch (read_on(t)) {
        case FED_EVENTS:
            break;
        case FED_END:
            close_trace(t);
            break;
        case FED_NOTHING_YET:
        case FED_ERROR:
            return false;
        }
    return !t->env.err->code;
}

/* ---- a run ---------------------------------------------------------------------------------- */

int timed_run(struct timed *t)
{
    t->stop = false;
    agents_run(t);
    timed_settle(t);
    if (t->env.err->code)
        return -1;
    const bool more = !t->closed && !order_full(t->order); /* to be read first */
    if (!more && (order_pending(t->order) || t->asleep))
        return order_stuck(t->order, *t->env.names, t->env.err);
    if (t->closed)
        beside_finish(t);
    return 0;
}
