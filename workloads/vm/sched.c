/* sched.c - which thread runs: language threads as fibers, a seeded scheduler that switches them
 * at events, and kernel threads that they share. The same seed makes the same choices. */
#include "workloads/vm/vm_int.h"

#include <assert.h>
#include <stdlib.h>

enum { SLICE = 4 }; /* turns in a row of a language thread on a kernel thread */

/* ---- queues --------------------------------------------------------------------------------- */

void vm_enqueue(struct vm_queue *q, struct vm_thread *t)
{
    t->next = NULL;
    if (q->last)
        q->last->next = t;
    else
        q->first = t;
    q->last = t;
}

struct vm_thread *vm_unqueue(struct vm_queue *q)
{
    struct vm_thread *t = q->first;

    if (t && !(q->first = t->next))
        q->last = NULL;
    return t;
}

/* Notes that the thread may be asked again. */
static void note_woken(struct vm *v, const struct vm_thread *t)
{
    v->sched.woken =
        xgrow(v->sched.woken, v->sched.wokens, &v->sched.cap_woken, sizeof *v->sched.woken);
    v->sched.woken[v->sched.wokens++] = t->run.tid;
}

/* Wakes the thread. On kernel threads it goes to the queue of the thread that wakes it, as its data
 * are likely in that one's caches. The collector has a kernel thread of its own, so threads that it
 * wakes go back to their own. */
void vm_wake(struct vm *v, struct vm_thread *t)
{
    assert(t->state == VM_IS_BLOCKED);
    t->state = VM_IS_READY;
    t->home = v->sched.current ? v->sched.current->home : 0;
    if (t == v->gc.thread)
        t->home = (uint32_t)v->p.kernel_threads;
    else if (v->sched.current == v->gc.thread)
        t->home = t->run.tid % (v->p.kernel_threads ? (uint32_t)v->p.kernel_threads : 1);
    v->sched.ready =
        xgrow(v->sched.ready, v->sched.n_ready, &v->sched.cap_ready, sizeof *v->sched.ready);
    v->sched.ready[v->sched.n_ready++] = t;
    if (v->sched.driven)
        note_woken(v, t);
}

void vm_wake_all(struct vm *v, struct vm_queue *q)
{
    for (struct vm_thread *t; (t = vm_unqueue(q));)
        vm_wake(v, t);
}

/* The cursor keeps pointing at the same thread: round robin neither skips nor repeats one. */
static void unready(struct vm *v, const struct vm_thread *t)
{
    size_t i = 0;

    while (v->sched.ready[i] != t)
        i++;
    v->sched.n_ready--;
    memmove(v->sched.ready + i, v->sched.ready + i + 1,
            (v->sched.n_ready - i) * sizeof *v->sched.ready);
    if (!v->p.kernel_threads && i <= v->sched.cursor)
        v->sched.cursor = v->sched.cursor ? v->sched.cursor - 1
                                          : (uint32_t)(v->sched.n_ready ? v->sched.n_ready - 1 : 0);
}

/* ---- kernel threads ------------------------------------------------------------------------- */

/* The next ready thread in k's queue, after the one that k runs. */
static struct vm_thread *rotate(const struct vm *v, uint32_t k)
{
    struct vm_thread *first = NULL;
    bool behind = false;

    for (size_t i = 0; i < v->sched.n_ready; i++) {
        struct vm_thread *t = v->sched.ready[i];
        if (t->home == k && behind)
            return t;
        if (t->home == k && !first)
            first = t;
        behind |= t == v->sched.runs[k];
    }
    return first;
}

/* Work stealing: the oldest that no kernel thread is at. */
static struct vm_thread *steal(const struct vm *v, uint32_t k)
{
    for (size_t i = 0; i < v->sched.n_ready; i++) {
        struct vm_thread *t = v->sched.ready[i];
        if (t->home != k && t->home < v->p.kernel_threads && v->sched.runs[t->home] != t)
            return t;
    }
    return NULL;
}

/* The thread that k has stays for SLICE turns; then the next in k's queue, or one taken from
 * another's. */
static struct vm_thread *job(struct vm *v, uint32_t k)
{
    struct vm_thread *t = v->sched.runs[k];

    if (t && t->state == VM_IS_READY && t->home == k && t->turns < SLICE) {
        t->turns++;
        return t;
    }
    t = rotate(v, k);
    if (!t && k < v->p.kernel_threads)
        t = steal(v, k);
    if (!t)
        return NULL;
    t->home = k;
    t->turns = 1;
    return v->sched.runs[k] = t;
}

static struct vm_thread *pick_kernel(struct vm *v)
{
    const uint32_t n = (uint32_t)v->p.kernel_threads + 1;
    const uint32_t start = v->p.schedule == VM_ROUND_ROBIN ? v->sched.cursor + 1
                                                           : (uint32_t)rng_below(&v->sched.rng, n);

    for (uint32_t i = 0; i < n; i++) {
        v->sched.cursor = (start + i) % n;
        struct vm_thread *t = job(v, v->sched.cursor);
        if (t)
            return t;
    }
    die("threads are ready, and no kernel thread has work");
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* Returns the thread with the next turn. An adversarial schedule never gives it to the same thread
 * twice while others are ready. */
static struct vm_thread *pick(struct vm *v, const struct vm_thread *now)
{
    if (v->p.kernel_threads)
        return pick_kernel(v);
    if (v->p.schedule == VM_ROUND_ROBIN) {
        v->sched.cursor = v->sched.cursor + 1 < v->sched.n_ready ? v->sched.cursor + 1 : 0;
        return v->sched.ready[v->sched.cursor];
    }
    struct vm_thread *t = v->sched.ready[rng_below(&v->sched.rng, v->sched.n_ready)];
    while (v->p.schedule == VM_ADVERSARIAL && t == now && v->sched.n_ready > 1)
        t = v->sched.ready[rng_below(&v->sched.rng, v->sched.n_ready)];
    return t;
}

/* Draws a length evenly from 1 on, so that turns are a quantum long on average. */
static uint64_t turn_length(struct vm *v)
{
    if (v->p.schedule == VM_ROUND_ROBIN)
        return v->p.quantum;
    return 1 + rng_below(&v->sched.rng, 2 * v->p.quantum - 1);
}

void vm_bury(struct vm *v)
{
    fiber_free(v->sched.dead);
    v->sched.dead = NULL;
}

/* Ends the stream as no thread can go on. The message says what the first few wait for; that is
 * mostly the bug. */
NO_RETURN static void deadlock(struct vm_thread *t)
{
    char text[400];
    const struct vm *v = t->vm;
    size_t n = 0, named = 0;

    for (size_t i = 0; i < v->sched.n_threads && named < 6; i++) {
        const struct vm_thread *u = v->sched.thread[i];
        if (u->state != VM_IS_BLOCKED || u == v->gc.thread)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%sT%u waits for %s", named++ ? ", " : "",
                              u->run.tid, u->waits);
    }
    vm_fail(t, "deadlock: no thread can run: %s", text);
}

/* `self` is the fiber that runs now, t's. Returns when t is to run again. */
static void turn(struct vm *v, struct vm_thread *t, struct fiber *self)
{
    if (!v->sched.n_ready)
        deadlock(t);
    struct vm_thread *u = pick(v, t);

    v->sched.left = turn_length(v);
    v->sched.from = v->core.at;
    v->sched.current = u;
    if (u->fiber == self)
        return;
    fiber_switch(self, vm_fiber(u));
    vm_bury(v);
}

void vm_rearm(struct vm *v)
{
    struct vm_core *c = &v->core;

    if (v->sched.driven) { /* each step waits to be asked */
        c->stop = c->rec;
        return;
    }
    const uint64_t spent = (uint64_t)(c->at - v->sched.from);
    const uint64_t room = c->at < v->stream.end ? (uint64_t)(v->stream.end - c->at) : 0;

    v->sched.left -= spent < v->sched.left ? spent : v->sched.left;
    v->sched.from = c->at;
    c->stop = c->at + (v->sched.pinned || v->sched.left > room ? room : v->sched.left);
}

void vm_pin(struct vm *v)
{
    v->sched.pinned++;
    vm_rearm(v);
}

void vm_unpin(struct vm *v)
{
    v->sched.pinned--;
    for (struct vm_thread *t; !v->sched.pinned && (t = vm_unqueue(&v->sched.held));) {
        t->held_back = false;
        note_woken(v, t);
    }
    vm_rearm(v);
}

void vm_catch_up(struct vm_thread *t)
{
    struct vm *v = t->vm;

    if (t->mute)
        return;
    if (v->p.kernel_threads && (!t->started || t->on != t->home)) {
        t->on = t->home;
        vm_emit(t, EV_THREAD, 0, t->on, 0, 0);
    } else if (!t->started) {
        vm_emit(t, EV_THREAD_START, 0, 0, t == v->gc.thread ? EVF_SYSTEM : 0, 0);
    }
    t->started = true;
    if (t->stale)
        vm_emit(t, EV_VOLATILE_READ, VM_RESUMED, 0, EVF_SYSTEM, 0);
    if (t->asked)
        vm_system(t, EV_WRITE, vm_yield_flag(t), 4, VM_SITE_SAFEPOINT);
    if (t->held_up)
        vm_take_stop_lock(t);
    t->stale = t->asked = t->held_up = false;
}

/* The turn may be over, the batch full, or both; on return there is room for VM_SLACK records more.
 */
void vm_pause(struct vm_thread *t)
{
    struct vm *v = t->vm;

    vm_note_place(t);
    if (v->sched.driven) {
        vm_answer(t);
        return;
    }
    vm_rearm(v);
    if (!v->sched.left && !v->sched.pinned)
        turn(v, t, t->fiber);
    vm_flush(t);
    vm_catch_up(t);
    vm_rearm(v);
}

void vm_pause_access(struct vm_thread *t)
{
    t->reaches = true;
    vm_pause(t);
    t->reaches = false;
}

/* Blocks the thread. Nothing may be pinned, as nobody could wake it then, but for a thread that is
 * told to stop. */
void vm_block(struct vm_thread *t, struct vm_queue *q, const char *what, enum ev_kind awaits)
{
    struct vm *v = t->vm;

    assert((!v->sched.pinned || v->sched.driven) && t->state == VM_IS_READY);
    vm_note_place(t);
    vm_flush(t);
    unready(v, t);
    t->state = VM_IS_BLOCKED;
    t->waits = what;
    t->awaits = (uint8_t)awaits;
    if (q)
        vm_enqueue(q, t);
    if (v->sched.driven) {
        if (!v->sched.n_ready)
            deadlock(t);
        vm_answer(t);
        return;
    }
    turn(v, t, t->fiber);
    vm_flush(t);
    vm_catch_up(t);
    vm_rearm(v);
}

/* The thread pauses at its next event. */
static void end_turn(struct vm *v)
{
    vm_note_place(v->sched.current);
    v->sched.left = 0;
    v->sched.from = v->core.stop = v->core.at;
}

void vm_urge(struct vm_thread *t)
{
    struct vm *v = t->vm;

    if (v->p.schedule == VM_ADVERSARIAL && !v->sched.driven && !v->sched.pinned &&
        rng_chance(&v->sched.rng, 7, 8))
        end_turn(v);
}

void vm_yield(struct vm_thread *t)
{
    if (!t->vm->sched.driven)
        end_turn(t->vm);
    t->vm->sched.rests = true;
    vm_step(t);
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Runs on the thread's own fiber, which never comes back: another one is switched to at the end. */
NO_RETURN static void end_thread(struct vm_thread *t)
{
    struct vm *v = t->vm;
    struct fiber *self = t->fiber;

    vm_step(t);
    vm_check(t, !t->held, "the thread ends and still has %u monitors", t->held);
    vm_check(t, v->txn.owner != t, "the thread ends in a transaction");
    if (v->stream.in_roi && v->sched.alive == 1)
        vm_emit(t, EV_ROI_END, 0, 0, 0, 0);
    vm_drop_heavy(t);
    vm_note_threads(t);
    vm_stopping(t);
    vm_emit(t, EV_THREAD_END, 0, 0, 0, 0);
    vm_retire(v, t);
    t->n_roots = 0;
    unready(v, t);
    t->state = VM_IS_ENDED;
    vm_wake_all(v, &t->joiners);
    if (!--v->sched.alive) {
        v->stream.done = true;
        vm_to_host(v, t);
    }
    if (!v->sched.n_ready)
        deadlock(t);
    t->fiber = NULL;
    v->sched.dead = self;
    if (v->sched.driven)
        fiber_switch(self, v->sched.host);
    else
        turn(v, t, self);
    die("a thread that has ended runs");
}

/* The first thing that runs on a new fiber. */
static void enter(void *arg)
{
    struct vm_thread *t = arg;

    vm_bury(t->vm);
    vm_flush(t);
    vm_catch_up(t);
    vm_rearm(t->vm);
    t->fn(t, t->arg);
    end_thread(t);
}

struct fiber *vm_fiber(struct vm_thread *t)
{
    if (!t->fiber)
        t->fiber = fiber_new(enter, t);
    return t->fiber;
}

struct vm_thread *vm_thread_new(struct vm *v, void (*fn)(struct vm_thread *t, void *arg), void *arg)
{
    struct vm_thread *t = xcalloc(1, sizeof *t);

    t->run = (struct vm_run){.core = &v->core, .tid = (sim_tid)v->sched.n_threads};
    t->run.drawn = t->run.tid * 389u; /* no divisor of VM_GAPS: threads do not go in step */
    t->vm = v;
    t->fn = fn;
    t->arg = arg;
    t->state = VM_IS_BLOCKED;
    t->roots = xcalloc(VM_ROOTS, sizeof *t->roots);
    rng_seed(&t->rng, UINT64_C(0x6b65726e) + v->sched.n_threads);
    v->sched.thread =
        xgrow(v->sched.thread, v->sched.n_threads, &v->sched.cap_threads, sizeof *v->sched.thread);
    v->sched.thread[v->sched.n_threads++] = t;
    return t;
}

void vm_thread_free(struct vm_thread *t)
{
    fiber_free(t->fiber);
    free(t->roots);
    free(t->used);
    free(t);
}

sim_tid vm_fork(struct vm_thread *t, void (*fn)(struct vm_thread *u, void *arg), void *arg,
                uint64_t site)
{
    struct vm *v = t->vm;

    vm_step(t);
    if (v->sched.n_threads >= MAX_THREADS - 1)
        vm_fail(t, "more than %d threads; use fewer", MAX_THREADS - 1);
    struct vm_thread *u = vm_thread_new(v, fn, arg);
    vm_note_threads(t);
    vm_emit(t, EV_FORK, 0, u->run.tid, 0, site);
    v->sched.alive++;
    vm_wake(v, u);
    vm_urge(t);
    return u->run.tid;
}

void vm_join(struct vm_thread *t, sim_tid u, uint64_t site)
{
    struct vm *v = t->vm;

    vm_check(t, u < v->sched.n_threads && v->sched.thread[u] != t, "T%u can't be joined by T%u", u,
             t->run.tid);
    vm_check(t, v->txn.owner != t, "a join inside a transaction");
    vm_step(t);
    while (v->sched.thread[u]->state != VM_IS_ENDED) {
        vm_stopping(t);
        vm_block(t, &v->sched.thread[u]->joiners, "a thread's end", EV_JOIN);
    }
    vm_emit(t, EV_JOIN, 0, u, 0, site);
}
