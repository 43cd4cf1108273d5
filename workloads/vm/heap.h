/* heap.h - the heap's memory: where it lies, the spaces it is divided into, how objects are made.
 *
 * A heap has one or both kinds of space. A bump space is filled from its beginning, and emptied as
 * a whole: by copying what lives. A space of cells never moves an object: it has blocks of 16 KiB,
 * each cut into cells of one size, whose free cells are a list. Which collector has which:
 *
 *     marksweep, marksweep-concurrent   cells
 *     semispace, copying-concurrent     two halves, one of them in use (active), one empty (spare)
 *     generational                      a nursery (active), and cells for what survives it */
#ifndef LARDSIM_VM_HEAP_H
#define LARDSIM_VM_HEAP_H

#include "base/mem.h"
#include "workloads/vm/vm.h"

struct vm;

/* ---- addresses ------------------------------------------------------------------------------ */

/* The heap lies from VM_HEAP on and is backed by host memory. Everything else of the runtime lies
 * below it, stacks above; those have addresses only. */
#define VM_HEAP   UINT64_C(0x1000000000)
#define VM_STACKS UINT64_C(0x7000000000)
enum { VM_STACK_BYTES = 1 << 18 }; /* simulated; roots first, then vm_stack's words */
enum vm_area {                     /* tables of the runtime; 2^32 bytes each */
               VM_AREA_STATE = 1,  /* the two words of the handshake, the heap's lock */
               VM_AREA_BARRIERS,
               VM_AREA_CLASSES,
               VM_AREA_MARKS,      /* the mark bitmap: a bit for each place of an object */
               VM_AREA_REMEMBERED, /* slots, and references overwritten while marking */
               VM_AREA_FREE,       /* heads of free lists, ends of bump spaces */
               VM_AREA_HEAVY       /* heavy locks: the lock itself, behind it its fields */
};
static inline sim_addr vm_area(enum vm_area a, uint64_t offset)
{
    return ((uint64_t)a << 32) + offset;
}

/* Class numbers that are no class: what lies in cells and gaps that hold no object. So that a space
 * can be walked from header to header. */
#define VM_CELL_FREE 0x7ffffffeu
#define VM_GAP_FILL  0x7fffffffu /* word: its bytes, in units of the alignment */

struct vm_addresses { /* an array that grows */
    sim_addr *at;     /* owns */
    size_t n, cap;
};
static inline void vm_addresses_add(struct vm_addresses *a, sim_addr at)
{
    a->at = xgrow(a->at, a->n, &a->cap, sizeof *a->at);
    a->at[a->n++] = at;
}

/* ---- spaces --------------------------------------------------------------------------------- */

struct vm_bump { /* [base, end), allocated up to at */
    sim_addr base, at, end;
};

enum { VM_SIZES = 32 }; /* size classes of cells, at the most */
enum { VM_BLOCK_SHIFT = 14, VM_BLOCK_BYTES = 1 << VM_BLOCK_SHIFT, VM_CELL_MAX = 4096 };
enum vm_use { VM_USE_FREE, VM_USE_CELLS, VM_USE_LARGE, VM_USE_TAIL /* of a large object */ };
struct vm_block {
    uint8_t use, size; /* enum vm_use; a size class */
    bool swept;        /* false: the sweep under way has not been here */
    uint32_t blocks;   /* blocks of a large object */
    sim_addr free;     /* its free list; each free cell's word is the next */
};
struct vm_cells { /* a space of blocks */
    sim_addr base, end;
    struct vm_block *block;    /* owns */
    size_t blocks, n_free;     /* n_free: whole ones */
    size_t hint[VM_SIZES + 1]; /* no block before this one has a free cell of the size; of the last:
                                  is free as a whole */
};

struct vm_heap {
    unsigned char *memory; /* owns; its bytes on the host, zero at first */
    uint64_t *marks;       /* owns; the mark bitmap */
    uint64_t *ids;         /* owns; objects' identities by place; NULL: not asked for */
    unsigned grain;        /* log2 of the alignment of objects */
    unsigned sizes;        /* size classes that cells have */
    uint64_t last_id;
    struct vm_cells cells;
    struct vm_bump active, spare;   /* halves; active alone: the nursery */
    uint64_t to_move;               /* bytes that may still have to be moved into the active half */
    uint64_t room_bump, room_cells; /* free bytes, after the latest collection */
};
static inline sim_addr vm_bump_take(struct vm_heap *h, uint64_t bytes) /* they are there */
{
    h->active.at += bytes;
    return h->active.at - bytes;
}
static inline bool vm_has_cells(const struct vm_heap *h)
{
    return h->cells.blocks > 0;
}

static inline uint64_t vm_grain(const struct vm_heap *h, sim_addr at) /* objects begin at some */
{
    return (at - VM_HEAP) >> h->grain;
}
static inline bool vm_marked(const struct vm_heap *h, sim_addr at)
{
    const uint64_t i = vm_grain(h, at);

    return h->marks[i / 64] >> i % 64 & 1;
}
static inline void vm_mark_set(struct vm_heap *h, sim_addr at)
{
    const uint64_t i = vm_grain(h, at);

    h->marks[i / 64] |= UINT64_C(1) << i % 64;
}
static inline void vm_mark_clear(struct vm_heap *h, sim_addr at)
{
    const uint64_t i = vm_grain(h, at);

    h->marks[i / 64] &= ~(UINT64_C(1) << i % 64);
}
/* Returns the simulated address of the object's mark. */
static inline sim_addr vm_mark_at(const struct vm_heap *h, sim_addr at)
{
    return vm_area(VM_AREA_MARKS, vm_grain(h, at) / 64 * 8);
}

/* ---- new objects: alloc.c ------------------------------------------------------------------- */

/* Ends the thread's allocation buffer; the rest of it is filled. */
void vm_retire(struct vm *v, struct vm_thread *t);
void vm_fill(struct vm *v, sim_addr at, sim_addr end);
void vm_reserve(struct vm_thread *t, uint64_t bytes); /* collects unless there is room */

/* ---- the space of cells: cells.c ------------------------------------------------------------ */

void vm_cells_open(struct vm_heap *h, sim_addr base, uint64_t bytes);
unsigned vm_size_class(const struct vm_heap *h, uint64_t bytes); /* VM_SIZES: too large */
/* Takes some free cells, as a list; 0: there are none. fresh: a whole block may be cut. */
sim_addr vm_cells_take(struct vm *v, unsigned size, bool fresh);
sim_addr vm_next_cell(const struct vm_core *c, sim_addr cell); /* 0: it is the last */
sim_addr vm_cells_large(struct vm *v, uint64_t bytes);         /* 0: no room */
/* Takes one cell or large object, for the collector. 0: no room. */
sim_addr vm_cells_one(struct vm *v, uint64_t bytes);
sim_addr vm_cells_object(const struct vm_heap *h, sim_addr inside); /* that this address lies in */
/* A sweep is to come: nobody has free cells any more. */
void vm_cells_unswept(struct vm *v);
void vm_cells_sweep(struct vm_thread *gc); /* frees what is not marked, and unmarks */
uint64_t vm_cells_used(const struct vm_heap *h);

#endif
