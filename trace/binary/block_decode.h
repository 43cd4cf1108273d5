/* block_decode.h - a block between its bytes and its records: what block.c leaves to block_merge.c.
 * Included by those two only. */
#ifndef LARDSIM_BLOCK_DECODE_H
#define LARDSIM_BLOCK_DECODE_H

#include "trace/binary/block_form.h"

enum { COUNTS = 4, LANES = 8, PLACE_LAST = BLOCK_EVENTS - 1 };

struct shape {
    uint64_t kind_flags; /* as in a record's last word */
    uint64_t size_gap;   /* as in the one before; without a gap unless all events have the same */
    uint16_t count[COUNTS]; /* its events: the sum of four */
    uint8_t other;          /* 1: no access */
    uint8_t more;           /* 1: has a second record */
    uint8_t look;           /* 1: its events are looked at one by one */
    uint8_t unused[5];
};
_Static_assert(sizeof(struct shape) == 32, "found by a shift");
_Static_assert(BLOCK_EVENTS / COUNTS + COUNTS <= UINT16_MAX, "a shape may be that of all events");

struct part_place { /* the place of an event's numbers */
    uint16_t shape; /* in known[] */
    uint16_t place; /* in addr[] and aux[]: accesses from the first on, others from the last down */
};

struct block_decoder {
    struct column_decoder *columns; /* owns */
    unsigned version;
    size_t events, threads, runs, shapes;
    size_t total[PARTS];
    bool plain; /* no event has a second record or must be looked at */
    bool gaps;  /* they differ */

    sim_tid thread[BLOCK_EVENTS];
    uint16_t run_thread[BLOCK_EVENTS];    /* place in thread[] */
    uint16_t run_length[BLOCK_EVENTS];    /* less 1 */
    uint32_t length[PARTS][BLOCK_EVENTS]; /* events by thread */
    struct shape known[BLOCK_EVENTS];

    /* by thread, for each event: */
    struct part_place event[BLOCK_EVENTS];
    uint16_t second[BLOCK_EVENTS]; /* place in COLUMN_MORE_...; only where there are some */
    uint64_t gap[BLOCK_EVENTS], addr[BLOCK_EVENTS], aux[BLOCK_EVENTS];
    uint32_t addr_mask, aux_mask; /* masks of places: 0 if all are equal and the first tells */
    uint64_t more_addr[BLOCK_EVENTS], more_size[BLOCK_EVENTS], more_aux[BLOCK_EVENTS];
    uint64_t spare[BLOCK_EVENTS];
    uint64_t highest[COLUMNS]; /* no number of a column is above it */

    /* the merge */
    size_t given; /* events */
    size_t run;   /* the run, and how many of its events */
    uint32_t run_given;
    uint32_t next[BLOCK_EVENTS];         /* by thread: place of its next event */
    size_t ordered, ordered_at;          /* events in the next two, and which is next */
    uint16_t from[SLICE_EVENTS + LANES]; /* place of an event */
    sim_tid by[SLICE_EVENTS + LANES];    /* its thread */
};

#endif
