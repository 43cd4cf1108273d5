/* drive.c - a program whose threads are asked one by one: who runs, and when, is decided by whoever
 * has a clock (struct driven). A thread is asked at each step, and makes the events of that step
 * alone: who has a monitor, who arrives last at a barrier, which value is read is settled in the
 * order of the questions. */
#include "workloads/vm/vm_int.h"

#include <assert.h>

void vm_answer(struct vm_thread *t)
{
    vm_to_host(t->vm, t);
    vm_catch_up(t);
}

static void begin(struct vm *v)
{
    struct vm_core *c = &v->core;

    v->source.first += (uint64_t)(c->at - c->rec) - v->stream.doubles;
    v->stream.doubles = 0;
    if (c->identity)
        memset(c->identity, 0, (size_t)(c->at - c->rec) * sizeof *c->identity);
    c->at = c->stop = v->sched.from = c->rec;
    v->sched.driven = true;
    v->sched.rests = false;
    v->sched.wokens = 0;
}

/* Holds a thread back while the scheduler is pinned: nobody but the thread that pinned it goes on.
 * A thread that was told to stop says so. */
static void hold(struct vm *v, struct vm_thread *t)
{
    t->held_back = true;
    vm_enqueue(&v->sched.held, t);
    if (t->to_stop)
        vm_stop_here(t);
}

static void run(struct vm *v, struct vm_thread *t)
{
    v->sched.current = t;
    fiber_switch(v->sched.host, vm_fiber(t));
    vm_bury(v);
}

static enum driven_state state_of(const struct vm *v, const struct vm_thread *t)
{
    if (t->state == VM_IS_ENDED)
        return DRIVEN_ENDED;
    if (t->state == VM_IS_BLOCKED || t->held_back)
        return DRIVEN_BLOCKED;
    return v->sched.rests ? DRIVEN_RESTS : DRIVEN_STANDS;
}

static int drive(struct source *s, sim_tid tid, struct driven_answer *to, struct err *e)
{
    struct vm *v = (struct vm *)s;
    struct vm_thread *t = v->sched.thread[tid];

    assert(t->state == VM_IS_READY && !t->held_back && !v->stream.done);
    begin(v);
    if (v->sched.pinned && v->sched.current != t)
        hold(v, t);
    else
        run(v, t);
    if (v->stream.err.code)
        return err_set(e, (enum lard_exit)v->stream.err.code, "%s", v->stream.err.text);
    *to = (struct driven_answer){.rec = v->core.rec,
                                 .records = (size_t)(v->core.at - v->core.rec),
                                 .then = state_of(v, t),
                                 .awaits = t->held_back ? EV_GC_END : t->awaits,
                                 .over = v->stream.done,
                                 .woken = v->sched.woken,
                                 .wokens = v->sched.wokens};
    if (UNLIKELY(++v->sched.asked % VM_BATCH == 0) && v->progress.done && !to->over)
        v->progress.extent.done = v->progress.done(v->progress.arg);
    return 0;
}

static uint32_t gap(const struct source *s, sim_tid tid)
{
    const struct vm *v = (const struct vm *)s;
    const struct vm_thread *t = v->sched.thread[tid];

    return t->run.gap + (t->reaches ? v->core.more[t->run.drawn % VM_GAPS] : 0);
}

const struct driven vm_driven = {drive, gap};
