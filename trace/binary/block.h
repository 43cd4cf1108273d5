/* block.h - up to 65,536 consecutive events to bytes and back, inside trace/ only. A block stands
 * alone: nothing before it is needed to decode it. docs/trace-format.md, section 5. */
#ifndef LARDSIM_BLOCK_H
#define LARDSIM_BLOCK_H

#include "trace/binary/column.h"

enum { BLOCK_EVENTS = COLUMN_MAX, BLOCK_RECORDS = BLOCK_EVENTS * EVENT_RECORDS };

struct block_encoder;
struct block_encoder *block_encoder_new(enum trace_codec how, int level);
void block_encoder_free(struct block_encoder *b);

/* Adds an event to a block that has not yet BLOCK_EVENTS. It must be well-formed, and is not looked
 * at. */
void block_event(struct block_encoder *b, const struct event *ev);
/* Adds accesses that are well-formed because one like them in the block was, up to BLOCK_EVENTS.
 * Returns the first event that is none, or end. */
const struct event *block_accesses(struct block_encoder *b, const struct event *ev,
                                   const struct event *end);
struct block_sum { /* whole events */
    size_t events, records;
};
struct block_sum block_sum(const struct block_encoder *b); /* sums up the events that were added */
/* Adds the open block's events to counts of COUNTED kinds and MAX_THREADS threads. */
void block_added(const struct block_encoder *b, uint64_t *kinds, uint64_t *threads);
/* Appends the bytes of the block, of at least one event, to `to`. The next block begins. */
void block_put(struct block_encoder *b, struct bytes *to);

struct block_decoder;
struct block_decoder *block_decoder_new(unsigned version); /* version: the format's */
void block_decoder_free(struct block_decoder *b);

struct block_fault {
    const char *what; /* a string constant */
    size_t event;     /* of block_next: which event of the block, from 0 */
};

/* Decoding in slices, so that records are still in a near cache when they are used: open, then next
 * until there are no more. Open returns 0 when all bytes make exactly so many events and records,
 * else -1; after it `from` is needed no more. events is 1 to BLOCK_EVENTS, records at most twice
 * that. */
int block_open(struct block_decoder *b, const uint8_t *from, size_t bytes, size_t events,
               size_t records, struct block_fault *fault);
/* Adds the events of an open block to counts of COUNTED kinds and MAX_THREADS threads. */
void block_count(const struct block_decoder *b, uint64_t *kinds, uint64_t *threads);

enum { SLICE_EVENTS = 2048, SLICE_RECORDS = SLICE_EVENTS * EVENT_RECORDS };
/* Gets the next whole events, well-formed, into rec, which has room for SLICE_RECORDS; none at the
 * end of the block. -1 when the next event is not well-formed; those before it have been given
 * out. */
int block_next(struct block_decoder *b, struct event *rec, struct block_sum *to,
               struct block_fault *fault);

#endif
