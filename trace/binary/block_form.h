/* block_form.h - what encoder and decoder of a block agree on: the shape of an event, and the
 * columns in their order; and, with binary.c, what is counted of events beside their kinds. */
#ifndef LARDSIM_BLOCK_FORM_H
#define LARDSIM_BLOCK_FORM_H

#include "trace/binary/block.h"

/* ---- the shape: kind, flags and size in one number ------------------------------------------ */

enum { SHAPE_FLAGS_SHIFT = 16, SHAPE_SIZE_SHIFT = 32 };

static inline uint64_t shape_make(const struct event *ev)
{
    return ev->kind | (uint64_t)ev->flags << SHAPE_FLAGS_SHIFT |
           (uint64_t)ev->size << SHAPE_SIZE_SHIFT;
}
static inline uint8_t shape_kind(uint64_t shape)
{
    return (uint8_t)shape;
}
static inline uint16_t shape_flags(uint64_t shape)
{
    return (uint16_t)(shape >> SHAPE_FLAGS_SHIFT);
}
static inline uint32_t shape_size(uint64_t shape)
{
    return (uint32_t)(shape >> SHAPE_SIZE_SHIFT);
}

/* ---- what the footer counts ----------------------------------------------------------------- */

static inline void shape_count_add(uint64_t *kinds, uint8_t kind, uint16_t flags, uint64_t n)
{
    kinds[kind] += n;
    if (flags & EVF_C11)
        kinds[COUNT_C11] += n;
    if (kind <= EV_RMW && flags & EVF_DEPENDENT)
        kinds[COUNT_DEPENDENT] += n;
}
static inline bool is_summed(uint8_t kind)
{
    return kind >= EV_WAITED && kind <= EV_UNINSTRUMENTED;
}
static inline void sums_add(uint64_t *kinds, uint8_t kind, uint64_t aux, uint64_t more_size)
{
    if (kind == EV_WAITED)
        kinds[COUNT_REREADS] += aux;
    else if (kind == EV_BRANCHES)
        kinds[COUNT_OUTCOMES] += more_size;
    else
        kinds[COUNT_UNINSTRUMENTED] += aux;
}

/* ---- the columns ---------------------------------------------------------------------------- */

enum part { /* the events of which a column has a number */
            PART_ALL,
            PART_ACCESS,
            PART_OTHER, /* no accesses; the next after accesses, as are its columns */
            PART_MORE,  /* events with a second record */
            PARTS
};

enum column { /* columns of numbers of events, in this order, after threads, runs and shapes */
              COLUMN_GAP,
              COLUMN_ADDR, /* columns of accesses, */
              COLUMN_OTHER_ADDR,
              COLUMN_AUX,
              COLUMN_OTHER_AUX,
              COLUMN_MORE_ADDR, /* columns of second records */
              COLUMN_MORE_SIZE,
              COLUMN_MORE_AUX,
              COLUMNS
};

static const uint8_t column_part[COLUMNS] = {
    [COLUMN_GAP] = PART_ALL,          [COLUMN_ADDR] = PART_ACCESS,
    [COLUMN_OTHER_ADDR] = PART_OTHER, [COLUMN_AUX] = PART_ACCESS,
    [COLUMN_OTHER_AUX] = PART_OTHER,  [COLUMN_MORE_ADDR] = PART_MORE,
    [COLUMN_MORE_SIZE] = PART_MORE,   [COLUMN_MORE_AUX] = PART_MORE,
};

#endif
