/* column.h - numbers to bytes and back: a column of up to 65,536 numbers, coded as in section 6 of
 * docs/trace-format.md. Inside trace/ only; knows nothing of events. */
#ifndef LARDSIM_COLUMN_H
#define LARDSIM_COLUMN_H

#include "trace/trace.h"

enum { COLUMN_MAX = 65536, PLANES = 8 };

struct bytes {   /* grows; all zero is empty */
    uint8_t *at; /* owns */
    size_t n, cap;
};
void bytes_free(struct bytes *b);               /* leaves it empty */
uint8_t *bytes_room(struct bytes *b, size_t n); /* n bytes behind the end, not yet part of it */
void bytes_add(struct bytes *b, const void *p, size_t n);
void bytes_varint(struct bytes *b, uint64_t v); /* LEB128 */

struct slice {               /* what is left to read */
    const uint8_t *at, *end; /* borrows */
};
int slice_varint(struct slice *s,
                 uint64_t *v); /* -1: it ends too early, or has more than 64 bits */

/* A column's numbers belong to consecutive groups (threads); deltas start afresh in each. */
struct groups {
    const uint32_t *length; /* borrows; their sum is the column's length */
    size_t n;
};

struct column_coder;
struct column_coder *column_coder_new(enum trace_codec how,
                                      int level); /* a decoder needs neither */
void column_coder_free(struct column_coder *c);

/* A column of 0 numbers takes no bytes. */
void column_put(struct column_coder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups);
/* 0, or -1 and what is wrong, a string constant. Writes n numbers at most; n <= COLUMN_MAX. */
int column_get(struct column_coder *c, struct slice *from, uint64_t *v, size_t n,
               struct groups groups, const char **what);

#endif
