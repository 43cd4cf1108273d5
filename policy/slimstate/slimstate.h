/* slimstate.h - what the files of policy slimstate share: arrays with their compressed shadow,
 * footprints, regions (SlimState, V). slimstate/slimstate.c has the hooks and the way of an access,
 * slimstate/array.c which memory is whose, slimstate/grow.c footprints, slimstate/part.c partitions
 * with their shadow, slimstate/commit.c checks and reports, slimstate/set.c the bit sets of Table
 * II.
 *
 * An element that has a shadow of its own is a variable of FastTrack's, as is all that is no array:
 * an array in mode FINE is gone from here, in mode PREFIX only its rest is here. */
#ifndef LARDSIM_SLIM_INT_H
#define LARDSIM_SLIM_INT_H

#include "base/interval.h"
#include "policy/fasttrack/rules.h"
#include "policy/slimstate/range.h"
#include "policy/slimstate/set.h"

enum { SLIM_ARRAYS_CHECKED, SLIM_ARRAYS_UNCHECKED };
enum { SLIM_RANGES, SLIM_SETS };

struct slim_params {
    uint32_t arrays, footprints, partitions;
    uint64_t small, buffer;
};

/* ---- footprints ----------------------------------------------------------------------------- */

struct slim_print { /* the elements of an array that were read, or that were written */
    struct slim_range range;
    struct slim_set set; /* footprints = sets; range is then empty */
};
struct slim_foot { /* of an actor on an array; READS, WRITES */
    struct slim_print side[2];
    struct slim_array *array;
    struct slim_foot *next; /* of the array */
    uint32_t actor;
    uint32_t place;     /* in the actor's commit buffer, from 1; 0: not there, and both are empty */
    struct paddr block; /* simulated, the thread's own; 0: no machine */
};

struct slim_region {           /* of an actor: since its clock moved last */
    struct slim_foot **buffer; /* owns; the commit buffer: its footprints that are not empty */
    uint32_t n;
    size_t cap;
    sim_tid tid;        /* whose footprints these are */
    bool committing;    /* between what comes before a commit's accesses, and what comes after */
    uint64_t began;     /* the first event that may belong to it */
    struct paddr block; /* the simulated buffer; 0: none yet */
};

/* ---- arrays --------------------------------------------------------------------------------- */

struct slim_cells { /* the shadow's locations, made when they are used */
    uint64_t n;
    struct ft_variable *few;   /* owns; all of them where they are few; else NULL */
    struct ft_variable **many; /* owns; pages of SLIM_FEW; NULL: none of them used */
};
enum { SLIM_FEW = 64 };

struct slim_array {
    sim_addr base;     /* of element 0 */
    uint64_t n, slot;  /* elements, bytes of one */
    uint64_t from, to; /* elements whose memory is still, or all along, this array's; from < to */
    struct slim_partition is;
    uint32_t *part;  /* owns; partitions = sets: the part of each element; NULL: one part */
    uint64_t *sizes; /* owns; of those parts; NULL: partitions = modes */
    size_t sizes_cap;
    uint64_t parts;
    struct slim_cells cell;
    struct slim_foot *feet; /* owns */
    uint64_t id;
    bool counted; /* where it ends, its mode is to be counted: it is not what a copy left */
    /* Simulated; 0: no machine. What is fixed of the array's shadow, its locations, where the
     * threads' footprints are. */
    struct paddr header, block, table;
    uint64_t block_bytes;
    bool borrows; /* header and block are those of an array that it was divided from */
};

struct slim_stats {
#define STATS_DEF "policy/slimstate/stats.def"
#include "base/stats_fields.h"
    uint64_t ended_locations, ended_all;
};

struct slim_found { /* an earlier access that races */
    sim_addr location;
    struct ft_past past;
    bool first;
};

/* A cache, by site and thread: the array that the site's accesses last touched, so that the next
 * one need not look for it. */
struct slim_seen {
    uint64_t generation; /* of the arrays, when it was seen */
    sim_addr lo;
    uint64_t bytes, first; /* of the window; its first element */
    struct slim_foot *foot;
    uint32_t mask, least; /* see remember (slimstate.c) */
    sim_tid tid;
    uint8_t shift;
};
enum { SLIM_SEEN_BITS = 10 };

struct slim {
    struct fasttrack ft; /* the first field: f->race has only that */
    struct slim_params p;
    struct interval *windows; /* owns; memory that is an array's */
    struct map at;            /* where a window begins, to its struct slim_array */
    struct map feet;          /* actor and array, to struct slim_foot */
    sim_addr gap, gap_end;    /* [gap, gap_end) has no window: where there was none last */
    uint64_t ids, generation;
    struct slim_region *region; /* owns; by actor */
    size_t regions;
    struct slim_found *found; /* owns; of the check in hand */
    size_t found_n, found_cap;
    struct slim_hits {  /* of a part, in a footprint; all 0 but while it is committed */
        uint64_t n, to; /* elements; the new part that they are in */
    } * hits;           /* owns */
    size_t hits_cap;
    uint64_t *touched; /* owns; partitions = sets: the parts of the footprint in hand */
    size_t touched_n, touched_cap;
    uint64_t races; /* reported */
    struct slim_stats st;
    struct slim_seen seen[1 << SLIM_SEEN_BITS];
};
static inline struct slim *slim_of(struct fasttrack *f)
{
    return (struct slim *)(void *)f;
}

/* Marks a remembered access that was committed with a footprint: its event is not the access, but
 * the first of its region. */
#define SLIM_LATE (UINT64_C(1) << 63)

/* ---- slimstate/array.c ---------------------------------------------------------------------- */

/* The array whose window has this address; NULL: none. */
struct slim_array *slim_find(const struct slim *s, sim_addr addr);
struct slim_array *slim_seek(struct slim *s, sim_addr addr); /* the same, remembers where none is */
static inline uint64_t slim_element(const struct slim_array *a, sim_addr addr)
{
    return (addr - a->base) / a->slot;
}
static inline sim_addr slim_addr(const struct slim_array *a, uint64_t i)
{
    return a->base + i * a->slot;
}
/* The granules of an element: for (x = first; ; x += step) { ...; if (x == last) break; } */
struct granules slim_granules(const struct slim *s, const struct slim_array *a, uint64_t i);
bool slim_any_variable(const struct slim *s, sim_addr at, uint64_t bytes); /* in use */
void slim_alloc(struct slim *s, const struct event *ev);
void slim_move(struct slim *s, const struct event *ev); /* a clear or copy */
/* The array's window becomes [from, to); if that is empty the array ends. Its footprints have been
 * committed. */
void slim_window(struct slim *s, struct slim_array *a, uint64_t from, uint64_t to);
void slim_free_arrays(struct slim *s);
void slim_count_end(struct slim *s, const struct slim_array *a);

/* ---- slimstate/grow.c ----------------------------------------------------------------------- */

void slim_charge_foot(struct slim *s, const struct slim_foot *foot); /* that is committed */
void slim_charge_find(struct slim *s, const struct slim_array *a); /* of its shadow, and the mode */
struct slim_foot *slim_foot(struct slim *s, struct slim_array *a, uint32_t actor); /* makes it */
void slim_free_feet(struct slim *s, struct slim_array *a);
uint64_t slim_table_bytes(const struct slim *s); /* of an array's simulated table; 0: no machine */
struct slim_region *slim_region_at(struct slim *s, uint32_t actor); /* makes it */
void slim_end_region(struct slim *s, uint32_t actor, const struct event *ev);
/* Adds element i to a footprint. False: footprints had to be committed, which changed arrays:
 * nothing is added, and the caller begins again. */
bool slim_append(struct slim *s, struct slim_foot *foot, uint64_t i, const struct event *ev);

/* ---- slimstate/part.c ----------------------------------------------------------------------- */

struct ft_variable *slim_cell(const struct slim_array *a, uint64_t q); /* NULL: never used */
struct ft_variable *slim_make_cell(struct slim *s, struct slim_array *a, uint64_t q);
void slim_cells_init(struct slim *s, struct slim_array *a, uint64_t n);
void slim_cells_free(struct slim *s, struct slim_cells *c);
/* The next cell in use from *i on, which becomes its number; NULL: none. */
const struct ft_variable *slim_next_cell(const struct slim_cells *c, uint64_t *i);
void slim_trace_cells(struct slim *s, const struct slim_array *a); /* charges a collection's */
void slim_cells_copy(struct slim *s, struct slim_array *to, const struct slim_array *from);
void slim_set_parts_init(struct slim *s, struct slim_array *a); /* for partitions = sets */
uint64_t slim_locations(const struct slim_array *a);            /* of the whole partition */
uint64_t slim_part_at(const struct slim_array *a, uint64_t i);
/* The place of its simulated location. */
struct paddr slim_place(const struct slim *s, const struct slim_array *a, uint64_t q);
/* Elements [from, to) of the window become variables; the window is still the array's. */
void slim_spill(struct slim *s, struct slim_array *a, uint64_t from, uint64_t to);
/* [SS REFINE]: refines the partition until it is precise enough for a footprint. In PREFIX elements
 * become variables; in FINE all do, and the caller must end the array. */
void slim_make_precise(struct slim *s, struct slim_array *a, const struct slim_print *f);
static inline bool slim_eager(const struct slim_array *a)
{
    return a->is.mode == SLIM_PREFIX || a->is.mode == SLIM_FINE;
}

/* ---- slimstate/commit.c --------------------------------------------------------------------- */

void slim_unlist(struct slim *s, struct slim_foot *f); /* leaves the commit buffer */
bool slim_print_empty(const struct slim_print *p);
/* The next element of a footprint from i on; SLIM_NONE: none. */
#define SLIM_NONE UINT64_MAX
uint64_t slim_print_next(const struct slim_print *p, uint64_t i);
/* Commits one side of a footprint, or all of an array's, or all of an actor's. Arrays may end. */
void slim_commit(struct slim *s, struct slim_foot *foot, unsigned side);
void slim_commit_array(struct slim *s, struct slim_array *a);
void slim_commit_region(struct slim *s, uint32_t actor);
/* Ends the array: all its elements become variables. */
void slim_leave(struct slim *s, struct slim_array *a);
/* Checks one element at once, by the current event, after refining the partition for it. False: the
 * element is now a variable, and not checked yet. */
bool slim_check_alone(struct slim *s, struct slim_array *a, uint64_t i, const struct event *ev,
                      const struct ft_past *now);
/* The default of f->race: tells the report at once. */
void slim_race(struct fasttrack *f, struct ft_variable *x, sim_addr addr, const struct event *ev,
               const struct ft_past *p);

/* ---- costs ---------------------------------------------------------------------------------- */

enum slim_step { /* FastTrack's, then those on arrays */
#define STEP(NAME, name, instructions, needs, text) SLIM_STEP_##NAME,
#include "policy/fasttrack/steps.def"
#include "policy/slimstate/steps.def"
#undef STEP
                 SLIM_STEPS
};
enum { SLIM_HEADER_BYTES = 32, SLIM_FOOT_BYTES = 48, SLIM_ENTRY_BYTES = 8 };
static inline void slim_bytes_take(struct slim *s, uint64_t bytes) /* of metadata */
{
    budget_take(&s->ft.variables.metadata, s->ft.cost.cost->on ? bytes : 0);
}
static inline void slim_bytes_give(struct slim *s, uint64_t bytes)
{
    budget_give(&s->ft.variables.metadata, s->ft.cost.cost->on ? bytes : 0);
}

#endif
