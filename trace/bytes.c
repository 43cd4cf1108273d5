/* bytes.c - bytes that grow, and varints in them. */
#include "trace/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void bytes_free(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){0};
}

uint8_t *bytes_room(struct bytes *b, size_t n)
{
    if (b->cap - b->n < n) {
        b->cap = b->cap + n > 2 * b->cap ? b->cap + n : 2 * b->cap;
        b->at = xrealloc(b->at, b->cap, 1);
    }
    return b->at + b->n;
}

void bytes_add(struct bytes *b, const void *p, size_t n)
{
    if (n)
        memcpy(bytes_room(b, n), p, n);
    b->n += n;
}

void bytes_varint(struct bytes *b, uint64_t v)
{
    uint8_t *to = bytes_room(b, 10);

    for (; v >= 0x80; v >>= 7, b->n++)
        *to++ = (uint8_t)(v | 0x80);
    *to = (uint8_t)v;
    b->n++;
}

int slice_varint(struct byte_slice *s, uint64_t *v)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
        const uint8_t byte = *s->at++;
        if (shift == 63 && byte > 1)
            return -1;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = sum;
            return 0;
        }
    }
    return -1;
}
