/* vm.c - a program on the modelled runtime as a source of events: batches, records, errors,
 * opening and closing. The program runs while the next batch is asked for, and stands still when it
 * is full. */
#include "workloads/vm/vm_int.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- records -------------------------------------------------------------------------------- */

/* Counts second records, so that events can be numbered while they are made. */
void vm_emit_two(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                 unsigned flags, sim_addr addr2, uint32_t size2, uint64_t site)
{
    struct vm_core *c = t->run.core;
    const bool more = kind == EV_COPY || addr2 || size2 || site;

    *c->at++ = (struct event){.addr = addr,
                              .aux = aux,
                              .gap = t->run.gap,
                              .tid = t->run.tid,
                              .flags = (uint16_t)(flags | (more ? EVF_MORE : 0)),
                              .kind = (uint8_t)kind};
    t->run.gap = VM_GAP;
    if (!more)
        return;
    *c->at++ = (struct event){.addr = addr2, .aux = site, .size = size2};
    t->vm->stream.doubles++;
}

void vm_emit(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint64_t aux, unsigned flags,
             uint64_t site)
{
    vm_emit_two(t, kind, addr, aux, flags, 0, 0, site);
}

void vm_emit_on(struct vm_thread *t, enum ev_kind kind, const struct vm_ref *o, uint64_t offset,
                uint64_t site)
{
    struct vm_core *c = t->run.core;

    struct event *ev = c->at;

    vm_emit(t, kind, o->at + offset, 0, 0, site);
    if (c->identity)
        vm_identify(c, ev, o->at);
}

void vm_system(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint32_t size, uint64_t site)
{
    *t->run.core->at++ = (struct event){.addr = addr,
                                        .aux = site,
                                        .size = size,
                                        .gap = t->run.gap,
                                        .tid = t->run.tid,
                                        .flags = EVF_SYSTEM,
                                        .kind = (uint8_t)kind};
    t->run.gap = VM_GAP;
}

void vm_system_step(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint32_t size,
                    enum vm_site site)
{
    vm_step(t);
    vm_system(t, kind, addr, size, site);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* The stream ends here: the fiber is left as it stands, and never run again. */
NO_RETURN static void fail(struct vm_thread *t, enum lard_exit code, const char *fmt, va_list ap)
{
    char text[600];
    struct vm *v = t->vm;

    vsnprintf(text, sizeof text, fmt, ap);
    err_set(&v->stream.err, code, "%s: T%u, event %" PRIu64 ": %s", v->source.name, t->run.tid,
            v->source.first + (uint64_t)(v->core.at - v->core.rec) - v->stream.doubles, text);
    v->stream.done = true;
    vm_to_host(v, t);
    die("a stream that has failed was asked to go on");
}

void vm_fail(struct vm_thread *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail(t, LARD_LIMIT, fmt, ap);
}

void vm_check(struct vm_thread *t, bool ok, const char *fmt, ...)
{
    va_list ap;

    if (ok)
        return;
    va_start(ap, fmt);
    fail(t, LARD_INTERNAL, fmt, ap);
}

/* ---- the source ----------------------------------------------------------------------------- */

void vm_to_host(struct vm *v, struct vm_thread *t)
{
    fiber_switch(t->fiber, v->sched.host);
}

void vm_flush(struct vm_thread *t)
{
    struct vm *v = t->vm;

    if (v->core.at < v->stream.end)
        return;
    vm_rearm(v);
    vm_to_host(v, t);
    v->sched.from = v->core.at;
}

/* The batch is delivered only when the next one is asked for; then the program goes on. */
static int next(struct source *s, struct batch *b, struct err *e)
{
    struct vm *v = (struct vm *)s;
    const uint64_t was = (uint64_t)(v->core.at - v->core.rec) - v->stream.doubles;

    s->first += was;
    v->core.at = v->core.rec;
    v->stream.doubles = 0;
    if (v->core.identity)
        memset(v->core.identity, 0, (VM_BATCH + VM_SLACK) * sizeof *v->core.identity);
    if (!v->stream.done)
        fiber_switch(v->sched.host, vm_fiber(v->sched.current));
    b->rec = v->core.rec;
    b->records = (size_t)(v->core.at - v->core.rec);
    b->first = s->first;
    if (v->progress.done && !v->stream.done)
        v->progress.extent.done = v->progress.done(v->progress.arg);
    if (!b->records && v->stream.err.code)
        return err_set(e, (enum lard_exit)v->stream.err.code, "%s", v->stream.err.text);
    return 0;
}

static void free_threads(struct vm *v)
{
    for (size_t i = 0; i < v->sched.n_threads; i++)
        vm_thread_free(v->sched.thread[i]);
    fiber_free(v->sched.dead);
    fiber_free(v->sched.host);
    free(v->sched.thread);
    free(v->sched.ready);
    free(v->sched.woken);
}

static void free_tables(struct vm *v)
{
    struct vm_barrier *after;

    for (struct vm_barrier *b = v->barriers.first; b; b = after) {
        after = b->next;
        free(b);
    }
    for (size_t i = 0; i < v->classes.n; i++)
        free(v->classes.class[i]);
    for (size_t i = 0; i * VM_ROOTS < v->globals.n; i++)
        free(v->globals.chunk[i]);
    for (size_t i = 0; i < v->program.n_scratch; i++)
        free(v->program.scratch[i]);
    free(v->classes.class);
    free(v->classes.life);
    free(v->globals.chunk);
    free(v->program.scratch);
    free(v->monitors.monitor);
    map_free(&v->stream.phase_ids);
    vm_sites_close(v);
}

static void unmap(void *p, uint64_t bytes)
{
    if (p)
        munmap(p, bytes);
}

static void close_vm(struct source *s)
{
    struct vm *v = (struct vm *)s;

    free_threads(v);
    free_tables(v);
    unmap(v->heap.memory, v->p.heap);
    unmap(v->heap.marks, (v->p.heap >> v->heap.grain) / 8);
    unmap(v->heap.ids, (v->p.heap >> v->heap.grain) * 8);
    free(v->heap.cells.block);
    free(v->gc.stack.at);
    free(v->gc.log.at);
    free(v->monitors.free_heavy.at);
    free(v->core.rec);
    free(v->core.identity);
    free(v->core.proved.site);
    names_free(v->names);
    free(v->program.params);
    free(v->program.name);
    config_free(v->program.config);
    free(v);
}

void vm_phase(struct vm_thread *t, const char *text)
{
    struct vm *v = t->vm;
    uint64_t *id = map_put(&v->stream.phase_ids, digest_bytes(text, strlen(text)));

    if (!*id) {
        *id = ++v->stream.phases;
        vm_name(v, NAME_PHASE, *id, text);
    }
    const uint64_t phase = *id;
    vm_step(t);
    vm_emit(t, EV_PHASE, 0, phase, 0, 0);
}

/* ---- opening -------------------------------------------------------------------------------- */

static void *map_pages(uint64_t bytes) /* NULL: there are none */
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static struct vm_bump bump(sim_addr base, uint64_t bytes)
{
    return (struct vm_bump){base, base, base + bytes};
}

/* Opens the spaces that a heap has with its collector (heap.h). */
static void open_spaces(struct vm *v)
{
    const uint64_t heap = v->p.heap, half = heap / 2 / VM_BLOCK_BYTES * VM_BLOCK_BYTES;

    v->core.bias = (uintptr_t)v->heap.memory - (uintptr_t)VM_HEAP;
    if (v->p.gc == VM_GENERATIONAL) {
        v->heap.active = bump(VM_HEAP, v->p.nursery);
        vm_cells_open(&v->heap, VM_HEAP + v->p.nursery, heap - v->p.nursery);
        v->gc.barrier = VM_REMEMBER;
    } else if (v->p.gc == VM_SEMISPACE || v->p.gc == VM_COPYING_CONCURRENT) {
        v->heap.active = bump(VM_HEAP, half);
        v->heap.spare = bump(VM_HEAP + half, half);
    } else {
        vm_cells_open(&v->heap, VM_HEAP, heap);
    }
    if (v->p.gc == VM_COPYING_CONCURRENT)
        v->gc.trigger = half / 2;
    if (v->p.gc == VM_MARKSWEEP_CONCURRENT)
        v->gc.trigger = heap / 2;
}

static int open_heap(struct vm *v, struct err *e)
{
    const uint64_t heap = v->p.heap;

    v->heap.memory = map_pages(heap);
    v->heap.marks = map_pages((heap >> v->heap.grain) / 8);
    if (!v->heap.memory || !v->heap.marks)
        return err_set(e, LARD_CONFIG,
                       "%s: heap: the host gives no room for %" PRIu64 " bytes; use a smaller one",
                       v->program.name, heap);
    open_spaces(v);
    return 0;
}

/* Records may go beyond `end` by what a thread makes after it was last asked to stop, and by what
 * it owes when it goes on: VM_SLACK each. */
static void open_batch(struct vm *v)
{
    v->core.rec = xcalloc(VM_BATCH + VM_SLACK, sizeof *v->core.rec);
    v->core.at = v->core.stop = v->sched.from = v->core.rec;
    v->stream.end = v->core.rec + VM_BATCH - VM_SLACK;
}

static void run_main(struct vm_thread *t, void *arg)
{
    const struct vm *v = arg;

    v->program.workload->main(t, v->program.params);
}

/* Identities cost a word for 16 bytes of heap, so they are kept for who asks only. */
int workload_identify(struct source *s, const struct vm_identity **identity)
{
    struct vm *v = (struct vm *)s;

    if (s->next != next)
        return -1;
    v->heap.ids = map_pages((v->p.heap >> v->heap.grain) * 8);
    if (!v->heap.ids)
        die("no memory for the identities of objects");
    v->core.identity = xcalloc(VM_BATCH + VM_SLACK, sizeof *v->core.identity);
    *identity = v->core.identity;
    return 0;
}

/* Returns the smallest access: a reference may be smaller than the program's own. */
static unsigned granularity(const struct workload *w, const struct layout *l)
{
    const unsigned own = w->granularity ? w->granularity : 8;

    return own < l->reference ? own : l->reference;
}

static void take_layout(struct vm *v, enum layout_id id)
{
    const struct layout *l = &layouts[id];
    struct vm_core *c = &v->core;

    c->layout = l;
    v->heap.grain = (unsigned)__builtin_ctz(l->align);
    v->heap.sizes = vm_size_class(&v->heap, VM_CELL_MAX) + 1;
    assert(v->heap.sizes <= VM_SIZES);
    for (unsigned type = 0; type < VM_TYPES; type++) {
        c->shift[VM_REF] = (uint8_t)__builtin_ctz(l->reference);
        c->shift[type] = (uint8_t)vm_shift(c, (enum vm_type)type);
        c->elements[type] = (uint8_t)layout_elements(l, 1u << c->shift[type]);
    }
}

struct vm *vm_open(const struct workload *w, const struct vm_params *p, void *params,
                   struct config *config, struct err *e)
{
    struct vm *v = xcalloc(1, sizeof *v);

    v->p = *p;
    take_layout(v, (enum layout_id)p->layout);
    v->program.workload = w;
    v->program.params = params;
    v->program.config = config;
    v->program.name = xasprintf("workload:%s", w->name);
    v->names = names_new();
    v->source = (struct source){.next = next,
                                .close = close_vm,
                                .extent = &v->progress.extent,
                                .name = v->program.name,
                                .names = v->names,
                                .producer = "lardsim workload",
                                .granularity = granularity(w, &layouts[p->layout]),
                                .layout = (enum layout_id)p->layout,
                                .driven = p->kernel_threads ? NULL : &vm_driven};
    map_init(&v->stream.phase_ids, NULL);
    rng_seed(&v->sched.rng, p->seed);
    v->sched.host = fiber_host();
    open_batch(v);
    vm_gaps_open(v);
    if (open_heap(v, e)) {
        close_vm(&v->source);
        return NULL;
    }
    vm_sites_open(v);
    for (uint32_t type = 0; type < VM_TYPES; type++)
        vm_array_class(v, (enum vm_type)type);
    v->sched.current = vm_thread_new(v, run_main, v);
    v->sched.alive = 1;
    vm_wake(v, v->sched.current);
    return v;
}
