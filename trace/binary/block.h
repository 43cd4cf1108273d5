/* block.h - up to 65,536 consecutive events to bytes and back, inside trace/ only. A block stands
 * alone: nothing before it is needed to decode it. docs/trace-format.md, section 5. */
#ifndef LARDSIM_BLOCK_H
#define LARDSIM_BLOCK_H

#include "trace/binary/column.h"

enum { BLOCK_EVENTS = COLUMN_MAX, BLOCK_RECORDS = BLOCK_EVENTS * EVENT_RECORDS };

struct block_encoder;
struct block_encoder *block_encoder_new(enum trace_codec how, int level);
void block_encoder_free(struct block_encoder *b);

/* Adds the bytes of a block to `to`. 1 to BLOCK_EVENTS well-formed events. */
void block_encode(struct block_encoder *b, const struct event *rec, size_t records,
                  struct bytes *to);

struct block_decoder;
struct block_decoder *block_decoder_new(void);
void block_decoder_free(struct block_decoder *b);

struct block_fault {
    const char *what; /* a string constant */
    bool at_event;
    size_t event; /* when at_event: which event of the block, from 0 */
};

/* Decoding in slices, so that records are still in a near cache when they are used: open, then next
 * until there are no more. Open returns 0 when all bytes make exactly so many events and records,
 * else -1; after it `from` is needed no more. events is 1 to BLOCK_EVENTS, records at most twice
 * that. */
int block_open(struct block_decoder *b, const uint8_t *from, size_t bytes, size_t events,
               size_t records, struct block_fault *fault);
/* Adds the events of an open block to counts of EV_KINDS kinds and MAX_THREADS threads. */
void block_count(const struct block_decoder *b, uint64_t *kinds, uint64_t *threads);

enum { SLICE_EVENTS = 2048, SLICE_RECORDS = SLICE_EVENTS * EVENT_RECORDS };
struct block_sum { /* 0 events: the block is at its end */
    size_t events, records;
};
/* The next whole events, well-formed, into rec, which has room for SLICE_RECORDS. -1 when the next
 * event is not well-formed; what is before it has been given out. */
int block_next(struct block_decoder *b, struct event *rec, struct block_sum *to,
               struct block_fault *fault);

#endif
