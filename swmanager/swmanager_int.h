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

#include "swmanager/swmanager.h"

enum { SWM_PAGE_BITS = 12 };
#define SWM_EPOCH        UINT64_C(8)
#define SWM_RECORD       UINT64_C(16)     /* bytes of a granule's */
#define SWM_ENTRY_CORES  UINT64_C(16)     /* bytes of its mask; its record's address follows */
#define SWM_ENTRY_HEAD   UINT64_C(24)     /* what stands before its bits */
#define SWM_CORES_AT     UINT64_C(0x1000) /* offsets from base */
#define SWM_CORE_BYTES   UINT64_C(512)
#define SWM_DIRECTORY_AT (UINT64_C(1) << 20)
#define SWM_HEAP_AT      (UINT64_C(1) << 40)
/* Pages beyond 48 bits of physical address share directory entries: no contents change, only where
 * accesses go. */
#define SWM_DIRECTORY_PAGES (UINT64_C(1) << 36)

/* Sizes of blocks: 16 bytes << size; tables are of a size of their own, as they must be zero. */
enum { SWM_SIZES = 18, SWM_SIZE_TABLE = SWM_SIZES, SWM_LISTS };
_Static_assert(SWM_LISTS * 16 <= SWM_CORE_BYTES, "a core's lists are in its part");
_Static_assert(SWM_CORES_AT + MAX_CORES * SWM_CORE_BYTES <= SWM_DIRECTORY_AT, "before the next");
_Static_assert(SWM_DIRECTORY_AT + SWM_DIRECTORY_PAGES * 8 <= SWM_HEAP_AT, "before the next");
_Static_assert(SWM_HEAP_AT < SWM_SPAN, "the heap is in the span");

enum swm_step {
#define SWM_STEP(NAME, instructions, text) SWM_STEP_##NAME,
#include "swmanager/steps.def"
#undef SWM_STEP
    SWM_STEPS
};

/* ---- what the host keeps -------------------------------------------------------------------- */

struct swm_line { /* exists while something of it is not zero */
    uint64_t cores[2];
    sim_addr record; /* 0: none */
    uint64_t bits[]; /* a bit for each granule, words of them: present, then raced */
};

struct swm_cell {   /* of a granule; exists while it has accesses or a block */
    sim_addr block; /* 0: none. Outlives what it holds where a granule becomes void */
    uint32_t n, cap;
    uint8_t size; /* of the block */
    bool written; /* at[0] is the write */
    struct swm_access at[];
};

struct swm_free { /* blocks of a size that a core has: a stack */
    sim_addr *at; /* owns */
    size_t n, cap;
    sim_addr fresh; /* a multiple of 4096: none */
};

struct swm_cursor { /* what is in registers; UINT64_MAX: nothing */
    uint64_t page, line;
};

struct swm_charge {
    sim_addr addr;
    uint32_t bytes, instructions; /* instructions: before it */
    enum mem_cmd cmd;
};

struct swm_core {
    struct swm_free list[SWM_LISTS];
    struct swm_cursor at;
    struct swm_charge *paying; /* owns; of a walk in the middle of its accesses */
    sim_cycle entered;
    enum swm_reason why;
    bool inside; /* a handler */
};

struct swm_stats {
    uint64_t handlers[SWM_REASONS], cycles[SWM_REASONS];
    struct histogram length;
    uint64_t instructions, loads, stores, atomics;
    uint64_t granules, granules_peak, blocks, blocks_peak, records, tables;
    uint64_t voided, cleared, copied, moved;
    uint64_t bytes, bytes_peak, heap;
};

struct swmanager {
    struct swm_env env;
    struct swm_params params;
    unsigned shift, line_shift; /* log2 of granule and line */
    unsigned line_granules, words;
    uint64_t entry_bytes, table_bytes;
    uint8_t record_size;
    struct map tables;                /* page to simulated address */
    struct map lines;                 /* line number to struct swm_line * */
    struct map cells;                 /* granule number to struct swm_cell * */
    struct pool line_room;            /* theirs */
    struct pool cell_room[2];         /* of those with room for one access, for two */
    struct swm_core *core[MAX_CORES]; /* owns; NULL: never had a handler */
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
/* It has n accesses from now on: those it had first, new ones are the caller's to fill. Made if
 * need be; NULL: gone, as it has neither accesses nor a block. */
struct swm_cell *swm_cell_resize(struct swmanager *s, uint64_t granule, uint32_t n);
void swm_cells_init(struct swmanager *s);
void swm_cells_free(struct swmanager *s);

/* ---- cost: swmanager/walk.c ----------------------------------------------------------------- */

/* The accesses of one operation, gathered while it takes effect and made thereafter: in the middle
 * of an access the manager may be called for another core. */
struct swm_walk {
    struct swmanager *s;
    unsigned core;
    uint32_t instructions; /* since the last access */
    size_t n, cap;
    struct swm_charge *charge; /* `here`, or owns */
    struct swm_charge here[16];
};

void swm_walk_begin(struct swm_walk *w, struct swmanager *s, unsigned core);
sim_cycle swm_walk_end(struct swm_walk *w, sim_cycle now); /* makes the accesses */
void swm_walk_step(struct swm_walk *w, enum swm_step step, uint64_t times);
/* Bytes in any number of lines: an access for each. */
void swm_walk_access(struct swm_walk *w, sim_addr addr, uint64_t bytes, enum mem_cmd cmd);
/* To the line's entry: its table is there. */
bool swm_walk_find(struct swm_walk *w, struct swm_cursor *at, uint64_t line);
sim_addr swm_entry(const struct swmanager *s, uint64_t line); /* of a line whose table is there */
/* After swm_walk_find: the line has a table, or a record, too, which it gets if need be. */
struct swm_line *swm_walk_line(struct swm_walk *w, struct swm_cursor *at, uint64_t line);
struct swm_line *swm_walk_record(struct swm_walk *w, struct swm_cursor *at, uint64_t line);
/* Blocks in simulated memory. */
sim_addr swm_walk_take(struct swm_walk *w, unsigned size);
void swm_walk_give(struct swm_walk *w, unsigned size, sim_addr block);
/* A granule's block, if it has one. */
void swm_walk_give_block(struct swm_walk *w, struct swm_cell *c);
void swm_walk_take_block(struct swm_walk *w, struct swm_cell *c, unsigned size);

#endif
