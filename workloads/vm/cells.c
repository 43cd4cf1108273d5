/* cells.c - a space that does not move objects: blocks of 16 KiB, each cut into cells of one
 * size, or several for one large object. Sweeping frees what is not marked. */
#include "workloads/vm/vm_int.h"

#include <stdlib.h>

/* Sizes of cells: up to 8 times the alignment one each alignment, then four an octave, so that a
 * cell is at most a quarter larger than its object. */
enum { FINE_SIZES = 8 };

unsigned vm_size_class(const struct vm_heap *h, uint64_t bytes)
{
    if (bytes > VM_CELL_MAX)
        return VM_SIZES;
    if (bytes <= (uint64_t)FINE_SIZES << h->grain)
        return (unsigned)((bytes - 1) >> h->grain);
    const unsigned octave = 63 - (unsigned)__builtin_clzll(bytes - 1);
    return FINE_SIZES + (octave - h->grain - 3) * 4 + (unsigned)((bytes - 1) >> (octave - 2)) - 4;
}

static uint32_t size_bytes(const struct vm_heap *h, unsigned size)
{
    if (size < FINE_SIZES)
        return (size + 1) << h->grain;
    const unsigned i = size - FINE_SIZES;
    return (5 + i % 4) << (h->grain + 1 + i / 4);
}

void vm_cells_open(struct vm_heap *h, sim_addr base, uint64_t bytes)
{
    struct vm_cells *c = &h->cells;

    c->base = base;
    c->blocks = c->n_free = bytes / VM_BLOCK_BYTES;
    c->end = base + c->blocks * VM_BLOCK_BYTES;
    c->block = xcalloc(c->blocks, sizeof *c->block);
}

uint64_t vm_cells_used(const struct vm_heap *h)
{
    return (h->cells.blocks - h->cells.n_free) * VM_BLOCK_BYTES;
}

static sim_addr block_at(const struct vm_heap *h, size_t i)
{
    return h->cells.base + i * VM_BLOCK_BYTES;
}

/* ---- taking --------------------------------------------------------------------------------- */

static void make_free(struct vm *v, sim_addr cell, sim_addr next)
{
    struct vm_header *h = vm_header(&v->core, cell);

    h->class = VM_CELL_FREE;
    h->word = next ? vm_place(&v->core, next) : 0;
}

sim_addr vm_next_cell(const struct vm_core *c, sim_addr cell)
{
    const uint32_t next = vm_header(c, cell)->word;

    return next ? vm_at_place(c, next) : 0;
}

/* The list is made from the last cell up, so that cells are given out by ascending address. */
static void cut(struct vm *v, size_t i, unsigned size)
{
    struct vm_block *b = &v->heap.cells.block[i];
    const uint32_t bytes = size_bytes(&v->heap, size), n = VM_BLOCK_BYTES / bytes;

    *b = (struct vm_block){.use = VM_USE_CELLS, .size = (uint8_t)size, .swept = true};
    for (uint32_t c = n; c-- > 0;) {
        make_free(v, block_at(&v->heap, i) + c * bytes, b->free);
        b->free = block_at(&v->heap, i) + c * bytes;
    }
    v->heap.cells.n_free--;
}

/* Finds n whole blocks in a row; v->heap.cells.blocks: there are none. */
static size_t find_blocks(struct vm *v, size_t n)
{
    struct vm_cells *c = &v->heap.cells;
    size_t run = 0;

    for (size_t i = c->hint[VM_SIZES]; i < c->blocks; i++) {
        run = c->block[i].use == VM_USE_FREE ? run + 1 : 0;
        if (run != n)
            continue;
        if (n == 1)
            c->hint[VM_SIZES] = i + 1;
        return i + 1 - n;
    }
    return c->blocks;
}

/* About as many bytes as a buffer has, so that threads do not hoard what others need. */
static sim_addr split(struct vm *v, struct vm_block *b)
{
    const sim_addr list = b->free;
    sim_addr last = list;

    for (uint64_t n = v->p.tlab / size_bytes(&v->heap, b->size);
         n > 1 && vm_next_cell(&v->core, last); n--)
        last = vm_next_cell(&v->core, last);
    b->free = vm_next_cell(&v->core, last);
    vm_header(&v->core, last)->word = 0;
    return list;
}

sim_addr vm_cells_take(struct vm *v, unsigned size, bool fresh)
{
    struct vm_cells *c = &v->heap.cells;
    size_t *at = &c->hint[size];

    for (; *at < c->blocks; ++*at) {
        struct vm_block *b = &c->block[*at];
        if (b->use == VM_USE_CELLS && b->size == size && b->swept && b->free)
            return split(v, b);
    }
    const size_t i = fresh && c->n_free ? find_blocks(v, 1) : c->blocks;
    if (i == c->blocks)
        return 0;
    cut(v, i, size);
    *at = i;
    return split(v, &c->block[i]);
}

sim_addr vm_cells_large(struct vm *v, uint64_t bytes)
{
    struct vm_cells *c = &v->heap.cells;
    const size_t n = (bytes + VM_BLOCK_BYTES - 1) / VM_BLOCK_BYTES;
    const size_t first = n <= c->n_free ? find_blocks(v, n) : c->blocks;

    if (first == c->blocks)
        return 0;
    for (size_t i = first; i < first + n; i++)
        c->block[i] = (struct vm_block){.use = VM_USE_TAIL, .swept = true};
    c->block[first].use = VM_USE_LARGE;
    c->block[first].blocks = (uint32_t)n;
    c->n_free -= n;
    return block_at(&v->heap, first);
}

sim_addr vm_cells_one(struct vm *v, uint64_t bytes)
{
    const unsigned size = vm_size_class(&v->heap, bytes);
    sim_addr *list = &v->gc.thread->cells[size < VM_SIZES ? size : 0];

    if (size == VM_SIZES)
        return vm_cells_large(v, bytes);
    if (!*list)
        *list = vm_cells_take(v, size, true);
    const sim_addr at = *list;
    if (at)
        *list = vm_next_cell(&v->core, at);
    return at;
}

sim_addr vm_cells_object(const struct vm_heap *h, sim_addr inside)
{
    size_t i = (inside - h->cells.base) / VM_BLOCK_BYTES;
    const struct vm_block *b = &h->cells.block[i];

    if (b->use == VM_USE_CELLS) {
        const uint32_t bytes = size_bytes(h, b->size);
        return block_at(h, i) + (inside - block_at(h, i)) / bytes * bytes;
    }
    while (h->cells.block[i].use == VM_USE_TAIL)
        i--;
    return block_at(h, i);
}

/* ---- sweeping ------------------------------------------------------------------------------- */

void vm_cells_unswept(struct vm *v)
{
    for (size_t i = 0; i < v->sched.n_threads; i++)
        memset(v->sched.thread[i]->cells, 0, sizeof v->sched.thread[i]->cells);
    for (size_t i = 0; i < v->heap.cells.blocks; i++) {
        v->heap.cells.block[i].swept = v->heap.cells.block[i].use == VM_USE_FREE;
        v->heap.cells.block[i].free = 0;
    }
}

/* Block i has free cells again: a search begins there at the latest. */
static void hint(struct vm_cells *c, unsigned size, size_t i)
{
    if (c->hint[size] > i)
        c->hint[size] = i;
}

/* True if the object lives on; else its memory is reclaimed. */
static bool survives(struct vm_thread *gc, sim_addr at)
{
    struct vm *v = gc->vm;
    struct vm_header *h = vm_header(&v->core, at);

    if (vm_marked(&v->heap, at)) {
        vm_mark_clear(&v->heap, at);
        return true;
    }
    vm_step(gc);
    vm_monitor_free(v, h);
    vm_clear_object(gc, at, vm_bytes(v, h));
    return false;
}

/* A block whose cells are all free becomes a whole free block again, for any size. */
static void sweep_cells(struct vm_thread *gc, size_t i)
{
    struct vm *v = gc->vm;
    struct vm_block *b = &v->heap.cells.block[i];
    const uint32_t bytes = size_bytes(&v->heap, b->size), n = VM_BLOCK_BYTES / bytes;
    sim_addr list = 0;
    uint32_t n_free = 0;

    for (uint32_t c = n; c-- > 0;) {
        const sim_addr at = block_at(&v->heap, i) + c * bytes;
        const bool object = vm_header(&v->core, at)->class != VM_CELL_FREE;
        if (object && survives(gc, at))
            continue;
        if (object)
            vm_system(gc, EV_WRITE, at, v->core.layout->header, VM_SITE_SWEEP);
        make_free(v, at, list);
        list = at;
        n_free++;
    }
    b->free = list;
    b->swept = true;
    hint(&v->heap.cells, b->size, i);
    if (n_free < n)
        return;
    *b = (struct vm_block){.swept = true};
    v->heap.cells.n_free++;
    hint(&v->heap.cells, VM_SIZES, i);
}

static void sweep_large(struct vm_thread *gc, size_t i)
{
    struct vm *v = gc->vm;
    const uint32_t n = v->heap.cells.block[i].blocks;

    v->heap.cells.block[i].swept = true;
    if (survives(gc, block_at(&v->heap, i)))
        return;
    for (size_t b = i; b < i + n; b++)
        v->heap.cells.block[b] = (struct vm_block){.swept = true};
    v->heap.cells.n_free += n;
    hint(&v->heap.cells, VM_SIZES, i);
}

void vm_cells_sweep(struct vm_thread *gc)
{
    struct vm *v = gc->vm;
    struct vm_cells *c = &v->heap.cells;

    for (size_t i = 0; i < c->blocks; i++) {
        if (c->block[i].swept || c->block[i].use == VM_USE_TAIL)
            continue;
        vm_system_step(gc, EV_READ, vm_mark_at(&v->heap, block_at(&v->heap, i)),
                       (uint32_t)VM_BLOCK_BYTES >> v->heap.grain >> 3, VM_SITE_SWEEP);
        if (c->block[i].use == VM_USE_CELLS)
            sweep_cells(gc, i);
        else
            sweep_large(gc, i);
    }
}
