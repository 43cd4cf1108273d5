/* collect.c - the collector's thread: what it is asked for, how it stops the world and lets it
 * go on, and the accesses that every collector makes. */
#include "workloads/vm/vm_int.h"

#include <assert.h>

/* ---- pauses --------------------------------------------------------------------------------- */

/* Threads that are blocked said `stopped` before; those that have not started have nothing to say.
 */
static void stop_thread(struct vm_thread *gc, struct vm_thread *t)
{
    if (t->state == VM_IS_ENDED || t == gc)
        return;
    if (t->state == VM_IS_READY && t->started && !t->mute) {
        vm_step(gc);
        vm_system(gc, EV_WRITE, vm_yield_flag(t), 4, VM_SITE_YIELD);
        vm_system(t, EV_READ, vm_yield_flag(t), 4, vm_inlined(t, VM_SITE_SAFEPOINT, t->stands));
        vm_stopping(t);
        t->asked = true;
    }
    t->stale = true;
}

void vm_stop_world(struct vm_thread *gc, bool nursery)
{
    struct vm *v = gc->vm;

    vm_no_txn(gc);
    vm_pin(v);
    for (size_t i = 0; i < v->n_threads; i++)
        stop_thread(gc, v->thread[i]);
    vm_step(gc);
    vm_emit(gc, EV_GC_BEGIN, 0, 0, EVF_SYSTEM | (nursery ? EVF_NURSERY : 0), 0);
    vm_emit(gc, EV_VOLATILE_READ, VM_STOPPED, 0, EVF_SYSTEM, 0);
    if (v->observe)
        v->observe(v->observe_arg, v, VM_BEFORE_PAUSE);
}

void vm_start_world(struct vm_thread *gc, bool nursery)
{
    struct vm *v = gc->vm;

    if (v->observe)
        v->observe(v->observe_arg, v, VM_AFTER_PAUSE);
    vm_step(gc);
    vm_emit(gc, EV_VOLATILE_WRITE, VM_RESUMED, 0, EVF_SYSTEM, 0);
    vm_emit(gc, EV_GC_END, 0, 0, EVF_SYSTEM | (nursery ? EVF_NURSERY : 0), 0);
    vm_unpin(v);
}

void vm_retire_all(struct vm *v)
{
    for (size_t i = 0; i < v->n_threads; i++)
        vm_retire(v, v->thread[i]);
}

/* ---- memory --------------------------------------------------------------------------------- */

void vm_clear_object(struct vm_thread *gc, sim_addr at, uint64_t bytes)
{
    if (gc->vm->ids)
        gc->vm->ids[(at - VM_HEAP) / VM_ALIGN] = 0;
    vm_emit(gc, EV_CLEAR, at, bytes, EVF_SYSTEM, 0);
}

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

void vm_commit_copy(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct vm *v = gc->vm;
    struct vm_header *h = vm_header(&v->core, from);

    memcpy(vm_header(&v->core, to), h, bytes);
    if (v->ids)
        v->ids[(to - VM_HEAP) / VM_ALIGN] = v->ids[(from - VM_HEAP) / VM_ALIGN];
    h->class |= VM_FORWARDED;
    h->word = to;
    vm_emit_two(gc, EV_COPY, to, bytes, EVF_SYSTEM, from, 0, VM_SITE_COPY);
    vm_system(gc, EV_WRITE, from, VM_HEADER, VM_SITE_FORWARD);
}

void vm_copy_object(struct vm_thread *gc, sim_addr to, sim_addr from, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;)
        done += vm_copy_piece(gc, to, from, done, bytes);
    vm_step(gc);
    vm_commit_copy(gc, to, from, bytes);
}

/* ---- collections ---------------------------------------------------------------------------- */

static void mark_and_sweep(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    vm_stop_world(gc, false);
    vm_retire_all(v);
    vm_cells_unswept(v);
    vm_mark_roots(gc);
    vm_mark_drain(gc);
    vm_cells_sweep(gc);
    vm_start_world(gc, false);
}

static void mark_and_sweep_concurrently(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    v->cycling = true;
    vm_mark_concurrently(gc);
    vm_retire_all(v);
    vm_cells_unswept(v);
    vm_start_world(gc, false);
    vm_cells_sweep(gc);
    v->cycling = false;
}

/* Slots of old objects that are dead are no longer remembered. */
static void forget_dead(struct vm_thread *gc)
{
    struct vm *v = gc->vm;
    size_t kept = 0;

    for (size_t i = 0; i < v->log.n; i++) {
        vm_system_step(gc, EV_READ, vm_area(VM_AREA_REMEMBERED, 8 * i), 8, VM_SITE_ROOTS);
        if (vm_marked(v, vm_cells_object(v, v->log.at[i])))
            v->log.at[kept++] = v->log.at[i];
    }
    v->log.n = kept;
}

/* Whether the old space surely takes all that may survive in the nursery: cells are up to a quarter
 * larger than objects, and each size may need a block that stays nearly empty. */
static bool promotion_fits(const struct vm *v)
{
    const uint64_t young = v->active.at - v->active.base;

    return v->cells.n_free * (uint64_t)VM_BLOCK_BYTES >=
           young + young / 2 + (uint64_t)VM_SIZES * VM_BLOCK_BYTES;
}

static void generational(struct vm_thread *gc, enum vm_want want)
{
    struct vm *v = gc->vm;
    const bool full = want == VM_WANT_FULL || !promotion_fits(v);

    vm_stop_world(gc, !full);
    vm_retire_all(v);
    if (full) {
        vm_cells_unswept(v);
        vm_mark_roots(gc);
        vm_mark_drain(gc);
        forget_dead(gc);
        vm_cells_sweep(gc);
    }
    vm_minor(gc);
    vm_start_world(gc, !full);
}

static void copy_all(struct vm_thread *gc)
{
    vm_stop_world(gc, false);
    vm_semispace(gc);
    vm_start_world(gc, false);
}

static void collect(struct vm_thread *gc, enum vm_want want)
{
    struct vm *v = gc->vm;

    switch ((enum vm_gc)v->p.gc) {
    case VM_MARKSWEEP:
        mark_and_sweep(gc);
        break;
    case VM_SEMISPACE:
        copy_all(gc);
        break;
    case VM_GENERATIONAL:
        generational(gc, want);
        break;
    case VM_MARKSWEEP_CONCURRENT:
        if (want == VM_WANT_FULL)
            mark_and_sweep(gc);
        else
            mark_and_sweep_concurrently(gc);
        break;
    case VM_COPYING_CONCURRENT:
        if (want == VM_WANT_FULL)
            copy_all(gc);
        else
            vm_move_cycle(gc);
        break;
    }
}

/* The next concurrent cycle begins when half of what is free now is used. */
static void take_stock(struct vm *v)
{
    const uint64_t moving = v->active.end - v->active.base;
    const uint64_t room = moving ? moving : v->cells.end - v->cells.base;
    const uint64_t used = moving ? v->active.at - v->active.base : vm_cells_used(v);

    v->room_bump = v->active.end - v->active.at;
    v->room_cells = v->cells.n_free * (uint64_t)VM_BLOCK_BYTES;
    if (v->trigger)
        v->trigger = used + (room - used) / 2;
}

static void run_collector(struct vm_thread *gc, void *arg)
{
    struct vm *v = arg;

    for (;;) {
        while (v->want == VM_WANT_NONE) {
            v->idle = true;
            vm_block(gc, NULL, "work");
        }
        const enum vm_want want = v->want;
        v->want = VM_WANT_NONE;
        collect(gc, want);
        v->collections++;
        take_stock(v);
        vm_step(gc);
        vm_stopping(gc);
        vm_wake_all(v, &v->gc_queue);
    }
}

static void ask(struct vm *v, enum vm_want want)
{
    if (!v->collector) {
        v->collector = vm_thread_new(v, run_collector, v);
        v->idle = true;
    }
    if (v->want < want)
        v->want = want;
    if (v->idle)
        vm_wake(v, v->collector);
    v->idle = false;
}

void vm_want(struct vm_thread *t, enum vm_want want)
{
    struct vm *v = t->vm;

    if (want != VM_WANT_CYCLE || !v->cycling)
        ask(v, want);
    vm_stopping(t);
    vm_block(t, &v->gc_queue, "a collection");
}

void vm_want_soon(struct vm_thread *t)
{
    if (!t->vm->cycling && t->vm->want == VM_WANT_NONE)
        ask(t->vm, VM_WANT_CYCLE);
}
