/* block_form.h - what encoder and decoder of a block agree on: the shape of an event, and the
 * columns in their order. Included by block.c and block_encode.c only. */
#ifndef LARDSIM_BLOCK_FORM_H
#define LARDSIM_BLOCK_FORM_H

#include "trace/block.h"

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

/* ---- the columns ---------------------------------------------------------------------------- */

enum part { /* which events a column has a number of */
            PART_ALL,
            PART_ACCESS,
            PART_OTHER, /* whatever is no access */
            PART_MORE,  /* events with a second record */
            PARTS
};

enum field {
    FIELD_GAP,
    FIELD_ADDR,
    FIELD_AUX,
    FIELD_MORE_ADDR, /* of the second record */
    FIELD_MORE_SIZE,
    FIELD_MORE_AUX,
    FIELDS
};

/* After threads, runs and shapes, in this order. */
static const struct {
    uint8_t part, field;
} block_columns[] = {
    {PART_ALL, FIELD_GAP},        {PART_ACCESS, FIELD_ADDR},   {PART_OTHER, FIELD_ADDR},
    {PART_ACCESS, FIELD_AUX},     {PART_OTHER, FIELD_AUX},     {PART_MORE, FIELD_MORE_ADDR},
    {PART_MORE, FIELD_MORE_SIZE}, {PART_MORE, FIELD_MORE_AUX},
};

#endif
