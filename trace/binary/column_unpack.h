/* column_unpack.h - residuals as they stand in bytes. Included by column.c and column_unpack.c
 * only.
 */
#ifndef LARDSIM_COLUMN_UNPACK_H
#define LARDSIM_COLUMN_UNPACK_H

#include "trace/binary/codec.h"
#include "trace/binary/column_form.h"

#include <endian.h>

/* ---- planes --------------------------------------------------------------------------------- */

struct planes { /* planes that are not constant, and the sum of the others and the base */
    const uint8_t *at[PLANES]; /* borrows */
    unsigned shift[PLANES];
    unsigned n;
    uint64_t sum;
};

/* Planes of n bytes, to be shifted; room is for those that are compressed. 0, or -1 and what. */
int planes_get(struct codec *codec, struct byte_slice *from, size_t n, unsigned planes,
               unsigned shift, uint8_t room[PLANES][COLUMN_MAX], struct planes *p,
               const char **what);
/* n numbers from place `from` on. */
void planes_join(const struct planes *p, size_t from, uint64_t *restrict v, size_t n);

/* ---- bits ----------------------------------------------------------------------------------- */

enum {
    LOAD_BYTES = 8, /* are read at a time, from where a number begins */
    STRIP_BYTES = COLUMN_STRIP * BITS_MAX / 8 + LOAD_BYTES /* the reach of a strip's numbers */
};

static inline uint64_t bits_at(const uint8_t *at)
{
    uint64_t v;

    memcpy(&v, at, LOAD_BYTES);
    return le64toh(v);
}

/* Returns a pointer from which STRIP_BYTES can be read: `at`, or a copy with 0 behind the end. */
const uint8_t *bits_reach(const uint8_t *at, const uint8_t *end, uint8_t copy[STRIP_BYTES]);

struct unpack {
    unsigned width;
    uint64_t mask, base, factor; /* number = base + (bits & mask) * factor */
};
void bits_unpack(const uint8_t *at, struct unpack u, uint64_t *restrict v, size_t n);

#endif
