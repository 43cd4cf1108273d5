/* swmanager_int.h - inside the software manager: its tables in simulated memory, what the host
 * keeps of them, and the walk that charges for them. docs/lardish.md draws the tables.
 *
 * Simulated memory, from base:
 *   0        8 bytes: how much of the heap was taken
 *   4 KiB    512 bytes a core: 16 for each size of block {first free one, next fresh one}
 *   1 MiB    the directory: 8 bytes for each 4 KiB of physical memory, the address of a table
 *   1 TiB    the heap
 * A table has an entry for each line: {cores that may cache its histories: 16, record: 8, present:
 * a bit for each granule}, a power of two in size. A record has 16 bytes for each granule: {write:
 * 8, reads: 8}, where reads is one read, or tagged the address, the size and the number of reads of
 * a block of 8 bytes for each. */
#ifndef LARDSIM_SWM_INT_H
#define LARDSIM_SWM_INT_H

#include <assert.h>

#include "base/map.h"
#include "base/mem.h"
#include "swmanager/swmanager.h"

enum { SWM_PAGE_BITS = 12 };
#define SWM_EPOCH        UINT64_C(8)  /* bytes of an access: clock and thread */
#define SWM_RECORD       UINT64_C(16) /* bytes of a granule's part of its line's record */
#define SWM_ENTRY_CORES  UINT64_C(16) /* bytes of an entry's mask; the record's address follows */
#define SWM_ENTRY_HEAD   UINT64_C(24) /* bytes of an entry before its bits */
#define SWM_CORES_AT     UINT64_C(0x1000) /* offsets from base */
#define SWM_CORE_BYTES   UINT64_C(512)
#define SWM_DIRECTORY_AT (UINT64_C(1) << 20)
#define SWM_HEAP_AT      (UINT64_C(1) << 40)
/* Pages beyond 48 bits of physical address share directory entries. Contents are kept on the host,
 * so only the addresses of accesses are affected. */
#define SWM_DIRECTORY_PAGES (UINT64_C(1) << 36)

/* Sizes of blocks: 16 bytes << size. Tables have a list of their own, as they must be zero when
 * they are taken: they are never given back. */
enum { SWM_SIZES = 18, SWM_SIZE_TABLE = SWM_SIZES, SWM_LISTS };
_Static_assert(SWM_LISTS * 16 <= SWM_CORE_BYTES, "a core's lists are in its part");
_Static_assert(SWM_CORES_AT + MAX_CORES * SWM_CORE_BYTES <= SWM_DIRECTORY_AT, "before the next");
_Static_assert(SWM_DIRECTORY_AT + SWM_DIRECTORY_PAGES * 8 <= SWM_HEAP_AT, "before the next");
_Static_assert(SWM_HEAP_AT < SWM_SPAN, "the heap is in the span");

enum swm_step {
#define SWM_STEP(NAME, instructions, needs, text) SWM_STEP_##NAME,
#include "swmanager/steps.def"
#undef SWM_STEP
    SWM_STEPS
};

/* ---- what the host keeps -------------------------------------------------------------------- */

struct swm_line {      /* a line of data; exists while something of it is not zero */
    uint64_t cores[2]; /* cores that may have histories of it in cache */
    sim_addr record;   /* 0: none */
    uint64_t bits[];   /* a bit for each granule, words of them: present, then raced */
};

struct swm_cell {    /* a granule's accesses; exists while there are some, or a block */
    sim_addr block;  /* its block of reads, in simulated memory; 0: none. A void granule keeps it
                        until a handler starts the record anew */
    uint32_t n, cap; /* entries in at, and room for them */
    uint8_t size;    /* the block's size */
    bool written;    /* at[0] is the write; the others are reads */
    struct swm_access at[];
};

struct swm_free { /* the free blocks of one size that a core has: a stack */
    sim_addr *at; /* owns */
    size_t n, cap;
    sim_addr
        fresh; /* the next one never used, in the core's page; a multiple of 4096: page is full */
};

struct swm_cursor {      /* the end of the last walk: its addresses are still in registers */
    uint64_t page, line; /* numbers; UINT64_MAX: none */
};

struct swm_charge { /* some instructions, then one access within a line */
    sim_addr addr;
    uint32_t bytes, instructions; /* instructions: before it */
    enum mem_cmd cmd;
    bool after; /* it needs what the latest load gives */
};

struct swm_core {
    struct swm_free list[SWM_LISTS]; /* by size of block */
    struct swm_cursor at;            /* the next walk begins there */
    struct swm_charge *paying; /* owns; charges of a walk that is in the middle of its accesses */
    sim_cycle entered;         /* the handler, when */
    enum swm_reason why;       /* the reason of the handler that runs */
    bool inside;               /* a handler runs */
};

struct swm_stats {
    uint64_t handlers[SWM_REASONS], cycles[SWM_REASONS]; /* handlers that were left */
    struct histogram length;                             /* cycles of a handler */
    uint64_t instructions, loads, stores, atomics;       /* of handlers */
    uint64_t granules, granules_peak, blocks, blocks_peak, records, tables; /* there now */
    uint64_t voided, cleared, copied, moved;                                /* granules */
    uint64_t bytes, bytes_peak,
        heap; /* simulated: in use; taken from the heap, free ones included */
};

struct swmanager {
    struct swm_env env;
    struct swm_params params;
    unsigned shift, line_shift;        /* log2 of granule and line */
    unsigned line_granules, words;     /* granules of a line; words with a bit for each */
    uint64_t entry_bytes, table_bytes; /* bytes of a line's entry; of the entries of a page */
    uint8_t record_size;               /* as a size of blocks */
    struct map tables;                 /* page to simulated address */
    struct map lines;                  /* line number to struct swm_line * */
    struct map cells;                  /* granule number to struct swm_cell * */
    struct pool line_room;             /* memory of lines */
    struct pool cell_room[2];          /* memory of cells with room for one access, for two */
    struct swm_core *core[MAX_CORES];  /* owns; NULL: never had a handler */
    struct swm_stats st;
};

/* Granules and lines go by numbers: address / size. */
static inline uint64_t swm_line_of(const struct swmanager *s, uint64_t granule)
{
    return granule >> (s->line_shift - s->shift);
}
static inline unsigned swm_in_line(const struct swmanager *s, uint64_t granule)
{
    return (unsigned)(granule & (s->line_granules - 1));
}

/* Asserts a rule of what the manager does for a core; then a sentence. */
#define ENSURE_SWM(rule, s, ...) ENSURE(rule, (s)->env.context, __VA_ARGS__)

/* ---- content: swmanager/cell.c -------------------------------------------------------------- */

struct swm_line *swm_line_find(const struct swmanager *s, uint64_t line); /* NULL: none */
struct swm_line *swm_line_make(struct swmanager *s, uint64_t line);
void swm_line_tidy(struct swmanager *s, uint64_t line); /* frees it when all is zero */
enum swm_bits { SWM_PRESENT, SWM_RACED };
bool swm_bit(const struct swmanager *s, const struct swm_line *l, enum swm_bits which, unsigned i);
void swm_bit_set(const struct swmanager *s, struct swm_line *l, enum swm_bits which, unsigned i,
                 bool to);
bool swm_bits_any(const struct swmanager *s, const struct swm_line *l, enum swm_bits which);

struct swm_cell *swm_cell_find(const struct swmanager *s, uint64_t granule); /* NULL: none */
/* Gives a granule's cell n accesses, and makes it if need be. The first ones are those it had; new
 * ones are the caller's to fill. NULL: it is gone, as it has neither accesses nor a block. */
struct swm_cell *swm_cell_resize(struct swmanager *s, uint64_t granule, uint32_t n);
void swm_cells_init(struct swmanager *s);
void swm_cells_free(struct swmanager *s);

/* ---- cost: swmanager/walk.c ----------------------------------------------------------------- */

/* The charges of one operation: gathered while it takes effect, paid thereafter. Not sooner, since
 * in the middle of an access the manager may be called for another core. */
struct swm_walk {
    struct swmanager *s;
    unsigned core;             /* the core whose handler runs */
    uint32_t instructions;     /* since the last charge */
    bool after;                /* one of these needs what the latest load gives */
    size_t n, cap;             /* entries of charge */
    struct swm_charge *charge; /* `here`; owned, if it has outgrown that */
    struct swm_charge here[16];
};

void swm_walk_begin(struct swm_walk *w, struct swmanager *s, unsigned core);
sim_cycle swm_walk_end(struct swm_walk *w, sim_cycle now); /* makes the accesses */
void swm_walk_step(struct swm_walk *w, enum swm_step step, uint64_t times);
/* Accesses bytes in any number of lines, each line by itself. */
void swm_walk_access(struct swm_walk *w, sim_addr addr, uint64_t bytes, enum mem_cmd cmd);
/* Walks to the line's entry. False: the page has no table yet, so no entry. */
bool swm_walk_find(struct swm_walk *w, struct swm_cursor *at, uint64_t line);
sim_addr swm_entry(const struct swmanager *s, uint64_t line); /* the line's table is there */
/* Called after swm_walk_find, these make what is missing: the page's table; and swm_walk_record the
 * line's record, too. */
struct swm_line *swm_walk_line(struct swm_walk *w, struct swm_cursor *at, uint64_t line);
struct swm_line *swm_walk_record(struct swm_walk *w, struct swm_cursor *at, uint64_t line);
/* Blocks in simulated memory. */
sim_addr swm_walk_take(struct swm_walk *w, unsigned size);
void swm_walk_give(struct swm_walk *w, unsigned size, sim_addr block);
/* A granule's block, if it has one. */
void swm_walk_give_block(struct swm_walk *w, struct swm_cell *c);
void swm_walk_take_block(struct swm_walk *w, struct swm_cell *c, unsigned size);

#endif
