/* collect.c - the collector's thread: what it is asked for, how it stops the world and lets it
 * go on, and the accesses that every collector makes. */
#include "workloads/vm/vm_int.h"

#include <assert.h>

/* ---- pauses --------------------------------------------------------------------------------- */

/* The thread finds its yield flag set, and stops. */
static void stops(struct vm_thread *t)
{
    vm_system(t, EV_READ, vm_yield_flag(t), 4, vm_inlined(t, VM_SITE_SAFEPOINT, t->stands));
    vm_stopping(t);
    t->asked = true;
}

/* Counts the threads that have stopped; the last one lets the collector begin. */
void vm_stop_here(struct vm_thread *t)
{
    struct vm *v = t->vm;

    t->to_stop = false;
    stops(t);
    if (!--v->gc.running && v->gc.thread->state == VM_IS_BLOCKED)
        vm_wake(v, v->gc.thread);
}

/* Threads that are blocked said `stopped` before; those that have not started have nothing to say.
 */
static void stop_thread(struct vm_thread *gc, struct vm_thread *t)
{
    if (t->state == VM_IS_ENDED || t == gc)
        return;
    if (t->state == VM_IS_READY && t->started && !t->mute) {
        vm_step(gc);
        vm_system(gc, EV_WRITE, vm_yield_flag(t), 4, VM_SITE_YIELD);
        t->to_stop = gc->vm->sched.driven && !t->held_back;
        if (t->to_stop) /* when it is there */
            gc->vm->gc.running++;
        else
            stops(t);
    }
    t->stale = true;
}

/* No transaction may be open in a pause: its accesses must not move. Pinned, nobody but the
 * collector runs until the world goes on. */
void vm_stop_world(struct vm_thread *gc, bool nursery)
{
    struct vm *v = gc->vm;

    vm_no_txn(gc);
    vm_pin(v);
    for (size_t i = 0; i < v->sched.n_threads; i++)
        stop_thread(gc, v->sched.thread[i]);
    while (v->gc.running)
        vm_block(gc, NULL, "threads to stop", EV_GC_BEGIN);
    vm_step(gc);
    vm_emit(gc, EV_GC_BEGIN, 0, 0, EVF_SYSTEM | (nursery ? EVF_NURSERY : 0), 0);
    vm_emit(gc, EV_VOLATILE_READ, VM_STOPPED, 0, EVF_SYSTEM, 0);
    if (v->gc.observe)
        v->gc.observe(v->gc.observe_arg, v, VM_BEFORE_PAUSE);
}

void vm_start_world(struct vm_thread *gc, bool nursery)
{
    struct vm *v = gc->vm;

    if (v->gc.observe)
        v->gc.observe(v->gc.observe_arg, v, VM_AFTER_PAUSE);
    vm_step(gc);
    vm_emit(gc, EV_VOLATILE_WRITE, VM_RESUMED, 0, EVF_SYSTEM, 0);
    vm_emit(gc, EV_GC_END, 0, 0, EVF_SYSTEM | (nursery ? EVF_NURSERY : 0), 0);
    vm_unpin(v);
}

void vm_retire_all(struct vm *v)
{
    for (size_t i = 0; i < v->sched.n_threads; i++)
        vm_retire(v, v->sched.thread[i]);
}

/* ---- memory --------------------------------------------------------------------------------- */

void vm_clear_object(struct vm_thread *gc, sim_addr at, uint64_t bytes)
{
    if (gc->vm->heap.ids)
        gc->vm->heap.ids[vm_grain(&gc->vm->heap, at)] = 0;
    vm_emit(gc, EV_CLEAR, at, bytes, EVF_SYSTEM, 0);
}

/* Returns the bytes up to the end of a cache line, of the source or the destination, whichever is
 * nearer. */
uint64_t vm_copy_piece(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t offset,
                       uint64_t bytes)
{
    const uint64_t line = 64;
    uint64_t piece = bytes - offset;

    if (piece > line - (from + offset) % line)
        piece = line - (from + offset) % line;
    if (piece > line - (to + offset) % line)
        piece = line - (to + offset) % line;
    vm_step(gc);
    vm_system(gc, EV_READ, from + offset, (uint32_t)piece, VM_SITE_COPY);
    vm_system(gc, EV_WRITE, to + offset, (uint32_t)piece, VM_SITE_COPY);
    return piece;
}

/* Ends a copy: from here on the old header says where the object is. */
void vm_commit_copy(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct vm *v = gc->vm;
    struct vm_header *h = vm_header(&v->core, from);

    memcpy(vm_header(&v->core, to), h, bytes);
    if (v->heap.ids)
        v->heap.ids[vm_grain(&v->heap, to)] = v->heap.ids[vm_grain(&v->heap, from)];
    h->class |= VM_FORWARDED;
    h->word = vm_place(&v->core, to);
    vm_emit_two(gc, EV_COPY, to, bytes, EVF_SYSTEM, from, 0, VM_SITE_COPY);
    vm_system(gc, EV_WRITE, from, v->core.layout->header, VM_SITE_FORWARD);
}

void vm_copy_object(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;)
        done += vm_copy_piece(gc, to, from, done, bytes);
    vm_step(gc);
    vm_commit_copy(gc, to, from, bytes);
}

/* ---- collections ---------------------------------------------------------------------------- */

/* Marking runs beside the program, and so does sweeping; the two pauses are for roots, and for what
 * was overwritten meanwhile. */
static void mark_and_sweep_concurrently(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    v->gc.cycling = true;
    vm_mark_concurrently(gc);
    vm_retire_all(v);
    vm_cells_unswept(v);
    vm_start_world(gc, false);
    vm_cells_sweep(gc);
    v->gc.cycling = false;
}

/* Slots of old objects that are dead are no longer remembered. */
static void forget_dead(struct vm_thread *gc)
{
    struct vm *v = gc->vm;
    const uint32_t word = v->core.layout->word;
    size_t kept = 0;

    for (size_t i = 0; i < v->gc.log.n; i++) {
        vm_system_step(gc, EV_READ, vm_area(VM_AREA_REMEMBERED, word * i), word, VM_SITE_ROOTS);
        if (vm_marked(&v->heap, vm_cells_object(&v->heap, v->gc.log.at[i])))
            v->gc.log.at[kept++] = v->gc.log.at[i];
    }
    v->gc.log.n = kept;
}

/* Whether the old space surely takes all that may survive in the nursery: cells are up to a quarter
 * larger than objects, and each size may need a block that stays nearly empty. */
static bool promotion_fits(const struct vm *v)
{
    const uint64_t young = v->heap.active.at - v->heap.active.base;

    return v->heap.cells.n_free * (uint64_t)VM_BLOCK_BYTES >=
           young + young / 2 + (uint64_t)v->heap.sizes * VM_BLOCK_BYTES;
}

/* A full collection first marks and sweeps the cells; either way the nursery is emptied then, if
 * there is one. */
static void mark_and_sweep(struct vm_thread *gc, bool full)
{
    struct vm *v = gc->vm;
    const bool generational = v->p.gc == VM_GENERATIONAL;

    full |= !generational || !promotion_fits(v);
    vm_stop_world(gc, !full);
    vm_retire_all(v);
    if (full) {
        vm_cells_unswept(v);
        vm_mark_roots(gc);
        vm_mark_drain(gc);
        forget_dead(gc);
        vm_cells_sweep(gc);
    }
    if (generational)
        vm_minor(gc);
    vm_start_world(gc, !full);
}

static void collect(struct vm_thread *gc, bool full)
{
    const enum vm_gc how = (enum vm_gc)gc->vm->p.gc;

    if (how == VM_MARKSWEEP_CONCURRENT && !full)
        mark_and_sweep_concurrently(gc);
    else if (how == VM_COPYING_CONCURRENT && !full)
        vm_move_cycle(gc);
    else if (vm_has_cells(&gc->vm->heap))
        mark_and_sweep(gc, full);
    else
        vm_semispace(gc);
}

/* Sets when the next concurrent cycle begins: when half of the memory that is free now is used. */
static void take_stock(struct vm *v)
{
    const uint64_t moving = v->heap.active.end - v->heap.active.base;
    const uint64_t room = moving ? moving : v->heap.cells.end - v->heap.cells.base;
    const uint64_t used =
        moving ? v->heap.active.at - v->heap.active.base : vm_cells_used(&v->heap);

    v->heap.room_bump = v->heap.active.end - v->heap.active.at;
    v->heap.room_cells = v->heap.cells.n_free * (uint64_t)VM_BLOCK_BYTES;
    if (v->gc.trigger)
        v->gc.trigger = used + (room - used) / 2;
}

/* The collector is a thread like others, and waits for work like others. */
static void run_collector(struct vm_thread *gc, void *arg)
{
    struct vm *v = arg;

    for (;;) {
        while (v->gc.want == VM_WANT_NONE) {
            v->gc.idle = true;
            vm_block(gc, NULL, "work", EV_THREAD_START);
        }
        const bool full = v->gc.want == VM_WANT_FULL;
        v->gc.want = VM_WANT_NONE;
        collect(gc, full);
        v->gc.collections++;
        take_stock(v);
        vm_step(gc);
        vm_stopping(gc);
        vm_wake_all(v, &v->gc.queue);
    }
}

/* Asks for a collection; the most that any thread wants is done, for all that wait. */
static void ask(struct vm *v, enum vm_want want)
{
    if (!v->gc.thread) {
        v->gc.thread = vm_thread_new(v, run_collector, v);
        v->gc.idle = true;
    }
    if (v->gc.want < want)
        v->gc.want = want;
    if (v->gc.idle)
        vm_wake(v, v->gc.thread);
    v->gc.idle = false;
}

void vm_want(struct vm_thread *t, enum vm_want want)
{
    struct vm *v = t->vm;

    if (want != VM_WANT_CYCLE || !v->gc.cycling)
        ask(v, want);
    vm_stopping(t);
    vm_block(t, &v->gc.queue, "a collection", EV_GC_END);
}

void vm_want_soon(struct vm_thread *t)
{
    if (!t->vm->gc.cycling && t->vm->gc.want == VM_WANT_NONE)
        ask(t->vm, VM_WANT_CYCLE);
}
