/* txn.c - transactions, marks and what else a kernel can say that is no access. Transactions run
 * one at a time: nothing is ever undone. */
#include "workloads/vm/vm_int.h"

#include <stdlib.h>

/* ---- transactions --------------------------------------------------------------------------- */

/* Memory for its allocations is reserved first: inside a transaction nothing can be collected. */
void vm_txn_begin(struct vm_thread *t, uint64_t reserve, uint64_t site)
{
    struct vm *v = t->vm;

    vm_check(t, v->txn.owner != t, "a transaction inside another");
    for (;;) {
        vm_reserve(t, reserve);
        if (!v->txn.owner)
            break;
        vm_stopping(t);
        vm_block(t, &v->txn.queue, "another transaction", EV_TXN_BEGIN);
    }
    v->txn.owner = t;
    v->txn.bytes = reserve;
    vm_emit(t, EV_TXN_BEGIN, 0, 0, 0, site);
    t->run.flags = EVF_IN_TXN;
}

void vm_txn_commit(struct vm_thread *t, uint64_t site)
{
    struct vm *v = t->vm;

    vm_check(t, v->txn.owner == t, "a commit without a transaction");
    vm_step(t);
    t->run.flags = 0;
    vm_emit(t, EV_TXN_COMMIT, 0, 0, 0, site);
    v->txn.owner = NULL;
    vm_wake_all(v, &v->txn.queue);
    vm_urge(t);
}

void vm_no_txn(struct vm_thread *gc)
{
    struct vm *v = gc->vm;

    for (;;) {
        vm_step(gc);
        if (!v->txn.owner)
            return;
        vm_stopping(gc);
        vm_block(gc, &v->txn.queue, "a transaction", EV_TXN_COMMIT);
    }
}

/* ---- marks ---------------------------------------------------------------------------------- */

void vm_compute(struct vm_thread *t, uint32_t instructions)
{
    const uint64_t gap = t->run.gap + instructions * t->vm->p.slower / 100;

    t->run.gap = gap > INT32_MAX ? INT32_MAX : (uint32_t)gap;
}

void vm_io(struct vm_thread *t, uint64_t site)
{
    vm_step(t);
    vm_emit(t, EV_IO, 0, 0, 0, site);
}

static void region(struct vm_thread *t, bool begins)
{
    struct vm *v = t->vm;

    vm_check(t, v->stream.in_roi != begins, "a region of interest %s",
             begins ? "begins inside another" : "ends that has not begun");
    vm_step(t);
    vm_emit(t, begins ? EV_ROI_BEGIN : EV_ROI_END, 0, 0, 0, 0);
    v->stream.in_roi = begins;
}

bool vm_roi_goes_on(const struct vm_thread *t)
{
    return t->vm->stream.in_roi;
}

void vm_progress(struct vm_thread *t, uint64_t all, uint64_t (*done)(const void *arg),
                 const void *arg)
{
    struct vm_progress *p = &t->vm->progress;

    p->extent = (struct source_extent){p->extent.done, all};
    p->done = done;
    p->arg = arg;
}

void vm_roi_begin(struct vm_thread *t)
{
    region(t, true);
}

void vm_roi_end(struct vm_thread *t)
{
    region(t, false);
}

void vm_stack(struct vm_thread *t, bool write, unsigned word, uint64_t site)
{
    const sim_addr base = VM_STACKS + (uint64_t)t->run.tid * VM_STACK_BYTES + VM_STACK_BYTES / 2;

    vm_step(t);
    *t->run.core->at++ = (struct event){.addr = base + 8 * (uint64_t)(word % 4096),
                                        .aux = site,
                                        .size = 8,
                                        .gap = t->run.gap,
                                        .tid = t->run.tid,
                                        .flags = EVF_STACK,
                                        .kind = write ? EV_WRITE : EV_READ};
    t->run.gap = VM_GAP;
}

/* ---- what a kernel may ask ------------------------------------------------------------------ */

const struct vm_params *vm_params(const struct vm_thread *t)
{
    return &t->vm->p;
}

sim_tid vm_self(const struct vm_thread *t)
{
    return t->run.tid;
}

struct rng *vm_rng(struct vm_thread *t)
{
    return &t->rng;
}

void *vm_scratch(struct vm_thread *t, size_t n, size_t bytes)
{
    struct vm *v = t->vm;
    void *p = xcalloc(n ? n : 1, bytes ? bytes : 1);

    v->program.scratch = xgrow(v->program.scratch, v->program.n_scratch, &v->program.cap_scratch,
                               sizeof *v->program.scratch);
    return v->program.scratch[v->program.n_scratch++] = p;
}

void vm_collect(struct vm_thread *t)
{
    vm_step(t);
    if (t->vm->txn.owner == t)
        vm_fail(t, "asks for a collection inside a transaction; commit first");
    vm_want(t, VM_WANT_FULL);
}

void vm_system_gc(struct vm_thread *t)
{
    if (t->vm->p.system_gc)
        vm_collect(t);
}
