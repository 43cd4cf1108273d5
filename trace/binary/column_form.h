/* column_form.h - what encoder and decoder of a column agree on. Included by column*.c only. */
#ifndef LARDSIM_COLUMN_FORM_H
#define LARDSIM_COLUMN_FORM_H

#include "trace/binary/column.h"

#include <string.h>

enum transform { TRANSFORM_BASE, TRANSFORM_DELTA, TRANSFORM_REGIONS, TRANSFORMS };
enum store { STORE_BITS, STORE_PLANES, STORES }; /* the form of residuals */
enum plane_form { PLANE_CONSTANT, PLANE_RAW, PLANE_ZSTD, PLANE_DEFLATE };

enum {
    STORE_SHIFT = 4, /* a column's first byte is transform + store * 16 */
    PLANES = 8,
    BITS_MAX = 56, /* with up to 7 bits before it, a number lies in eight bytes */
    REGIONS_MAX = 256,
    LISTED_MAX = 1024 /* regions in the lists of groups, and lists */
};

/* Returns `width` bits that are all set: in a width of 1 to 63 bits that residual means
 * "escaped". */
static inline uint64_t low_bits(unsigned width)
{
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* Small numbers of either sign become small numbers without one. */
static inline uint64_t zigzag(uint64_t d)
{
    return d << 1 ^ (0 - (d >> 63));
}
static inline uint64_t unzigzag(uint64_t r)
{
    return r >> 1 ^ (0 - (r & 1));
}

#endif
