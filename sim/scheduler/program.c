/* program.c - program order: a thread of a workload is asked what it does (struct driven) when its
 * core has come to that. So who comes first in simulated time is first: it gets the lock, reads the
 * value, arrives. Events go through the window like those of a trace, as each must still wait for
 * what it follows: a lock is given while its holder is on the way out.
 *
 * The recorded order of an execution is the order in which its events are decided. That is where
 * they are numbered, held against the stream rules and kept (sim/session/run.c). */
#include "sim/scheduler/timed.h"

#include "sim/machine/timeline.h"

#include <assert.h>
#include <stdlib.h>

/* How often a thread that waits for another one without an event looks again. It is no part of the
 * program that is modelled (vm_yield), only how exactly such a meeting is timed. */
enum { REST = 100 };

void scheduler_drive(struct scheduler *head, struct source *program)
{
    ((struct timed *)head)->program.source = program;
}

/* ---- threads that come and go --------------------------------------------------------------- */

/* The reason for which a thread waits, by the kind of event with which it will go on; any other
 * kind waits for a lock. */
static const uint8_t waits_for[EV_KINDS] = {
    [EV_BARRIER_DEPART] = WAIT_BARRIER, [EV_JOIN] = WAIT_JOIN,
    [EV_CLASS_USE] = WAIT_CLASS,        [EV_TXN_BEGIN] = WAIT_COMMIT,
    [EV_TXN_COMMIT] = WAIT_COMMIT,      [EV_GC_BEGIN] = WAIT_COLLECTION,
    [EV_GC_END] = WAIT_COLLECTION,
};
_Static_assert(WAIT_LOCK == 0, "the table's default");

/* A thread that was forked: it needs a core from now on. */
static void appear(struct timed *s, sim_tid tid, sim_cycle at)
{
    struct sched_thread *th = thread_of(s, tid);

    if (thread_lives(s, tid)) {
        s->stop = true;
        return;
    }
    th->state = THREAD_UNPLACED;
    th->could_start = true;
    th->ready_at = at;
    thread_waits_for_core(s, tid);
    if (thread_place(s, tid, NULL))
        timed_plan(s, tid);
}

static void go_on(struct timed *s, sim_tid tid, sim_cycle at)
{
    struct sched_thread *th = &s->threads.at[tid];

    if (th->state != THREAD_ASLEEP)
        return;
    th->ready_at = u64_max(th->ready_at, at);
    th->state = THREAD_RUNNABLE;
    timed_plan(s, tid);
}

static void wake_all(struct timed *s, sim_tid by, sim_cycle at)
{
    struct woken woken = s->threads.at[by].woken; /* threads may move meanwhile */

    s->threads.at[by].woken = (struct woken){0};
    for (size_t i = 0; i < woken.n; i++) {
        thread_of(s, woken.tid[i])->asleep = false;
        if (s->threads.at[woken.tid[i]].state == THREAD_UNSEEN)
            appear(s, woken.tid[i], at);
        else
            go_on(s, woken.tid[i], at);
    }
    free(woken.tid);
}

void program_ran(struct timed *s, sim_tid tid, sim_cycle at)
{
    struct sched_thread *th = &s->threads.at[tid];

    if (!--th->pending && th->woken.n)
        wake_all(s, tid, at);
}

bool program_begins(struct timed *s)
{
    if (!s->program.begun) {
        s->program.begun = true;
        appear(s, 0, 0);
    }
    return !s->head.env.err->code;
}

/* ---- a question ----------------------------------------------------------------------------- */

static int add(struct timed *s, const struct event *ev)
{
    struct sched_thread *th = thread_of(s, ev->tid);

    machine_touch(s->machine, ev);
    if ((!event_is_access(ev) && thread_recorded(s, ev, s->program.made)) ||
        order_add(s->order, ev, s->program.made, s->head.env.err))
        return -1;
    s->program.made++;
    th->pending++;
    return 0;
}

/* Adds the new events to the window. Threads that were made to do something in the middle of a
 * sleep wake up for it. */
static int add_all(struct timed *s, const struct driven_answer *a)
{
    for (size_t i = 0; i < a->records; i += event_records(&a->rec[i])) {
        if (add(s, &a->rec[i]))
            return -1;
        go_on(s, a->rec[i].tid, s->queue.now);
    }
    return 0;
}

static void note_woken(struct sched_thread *th, const struct driven_answer *a)
{
    struct woken *w = &th->woken;

    for (size_t i = 0; i < a->wokens; i++) {
        w->tid = xgrow(w->tid, w->n, &w->cap, sizeof *w->tid);
        w->tid[w->n++] = a->woken[i];
    }
}

static void heed(struct timed *s, sim_tid tid, const struct driven_answer *a)
{
    struct sched_thread *th = &s->threads.at[tid];

    th->asleep = a->then == DRIVEN_BLOCKED;
    th->rests = a->then == DRIVEN_RESTS;
    th->awaits = a->awaits;
    note_woken(th, a);
    if (a->over) {
        s->head.trace.closed = true;
        order_close(s->order);
    }
}

bool program_asks(struct timed *s, sim_tid tid)
{
    struct source *p = s->program.source;
    struct driven_answer a;

    s->head.trace.failed = p->driven->next(p, tid, &a, s->head.env.err) != 0;
    if (s->head.trace.failed || add_all(s, &a)) {
        s->stop = true;
        return false;
    }
    heed(s, tid, &a);
    if (s->threads.at[tid].pending)
        return true;
    if (s->threads.at[tid].woken.n)
        wake_all(s, tid, s->queue.now);
    return false;
}

bool program_stands(struct timed *s, sim_tid tid)
{
    struct sched_thread *th = &s->threads.at[tid];

    if (th->asleep) {
        th->state = THREAD_ASLEEP;
        th->why = (enum wait_reason)waits_for[th->awaits];
        th->waited = th->awaits != EV_THREAD_START; /* else it has no work */
        return false;
    }
    if (th->rests) { /* others on its core may come first */
        th->rests = th->waited = false;
        th->ready_at = u64_max(s->core[th->core].core->clock, s->queue.now) + REST;
        return false;
    }
    return true;
}

/* Nobody goes on, and the program has not ended. */
int program_stuck(const struct timed *s)
{
    return err_set(s->head.env.err, LARD_INTERNAL,
                   "the program stands still after %llu events, and no thread of it waits for "
                   "anything that could come; please report it",
                   (unsigned long long)s->program.made);
}
