/* column.h - numbers to bytes and back: a column of up to 65,536 numbers, coded as in section 6 of
 * docs/trace-format.md. Inside trace/ only; knows nothing of events. */
#ifndef LARDSIM_COLUMN_H
#define LARDSIM_COLUMN_H

#include "trace/bytes.h"
#include "trace/trace.h"

enum { COLUMN_MAX = 65536 };

/* A column's numbers belong to consecutive groups (threads); deltas start afresh in each. */
struct groups {
    const uint32_t *length; /* borrows; their sum is the column's length */
    size_t n;
};

struct column_encoder;
struct column_encoder *column_encoder_new(enum trace_codec how, int level);
void column_encoder_free(struct column_encoder *c);

/* A column of 0 numbers takes no bytes. */
void column_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups);

struct column_decoder;
struct column_decoder *column_decoder_new(void);
void column_decoder_free(struct column_decoder *c);

/* Reading in strips, which stay in the nearest cache: open, then next until all numbers are read.
 * open leaves `from` behind the column; its bytes and groups must stay until then. n is
 * COLUMN_STRIP for each strip but the last. Both return 0, or -1 and what is wrong, a string
 * constant. */
enum { COLUMN_STRIP = 256 };
int column_open(struct column_decoder *c, struct byte_slice *from, size_t n, struct groups groups,
                const char **what);
/* Reads all strips. */
int column_rest(struct column_decoder *c, uint64_t *v, size_t n, const char **what);
/* For an open column. column_bound: no number is above it. column_constant: all numbers are the
 * bound. */
uint64_t column_bound(const struct column_decoder *c);
bool column_constant(const struct column_decoder *c);
int column_next(struct column_decoder *c, uint64_t *restrict v, size_t n, const char **what);

/* The whole column; n <= COLUMN_MAX. */
int column_get(struct column_decoder *c, struct byte_slice *from, uint64_t *v, size_t n,
               struct groups groups, const char **what);

#endif
