/* bytes.h - bytes that grow and bytes to read, with varints, inside trace/ only. */
#ifndef LARDSIM_BYTES_H
#define LARDSIM_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {   /* grows; all zero is empty */
    uint8_t *at; /* owns */
    size_t n, cap;
};
void bytes_free(struct bytes *b);               /* leaves it empty */
uint8_t *bytes_room(struct bytes *b, size_t n); /* n bytes behind the end, not yet part of it */
void bytes_add(struct bytes *b, const void *p, size_t n);
void bytes_varint(struct bytes *b, uint64_t v); /* LEB128 */

struct byte_slice {          /* the bytes that are left to read */
    const uint8_t *at, *end; /* borrows */
};
static inline unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}
/* Returns -1 where it ends too early, or has more than 64 bits. */
int slice_varint(struct byte_slice *s, uint64_t *v);

#endif
