/* column_unpack.c - byte planes and strings of bits to a strip of numbers: the loops in which most
 * of the time of decoding goes. Knows nothing of a column's head, deltas or escapes. */
#include "trace/binary/column_unpack.h"

static int fail(const char **what, const char *why)
{
    *what = why;
    return -1;
}

/* ---- planes --------------------------------------------------------------------------------- */

static const char plane_short[] = "a plane of bytes ends too early";

static int plane_unpack(struct codec *codec, struct byte_slice *from, enum trace_codec how,
                        uint8_t *to, size_t n, const char **what)
{
    uint64_t size;

    if (slice_varint(from, &size) || size > (size_t)(from->end - from->at))
        return fail(what, plane_short);
    if (codec_unpack(codec, how, from->at, (size_t)size, to, n))
        return fail(what, "a compressed plane does not hold what it should");
    from->at += size;
    return 0;
}

static int plane_get(struct codec *codec, struct byte_slice *from, size_t n, unsigned shift,
                     uint8_t *room, struct planes *p, const char **what)
{
    if (from->end - from->at < 2)
        return fail(what, plane_short);
    const uint8_t form = *from->at++;
    if (form == PLANE_CONSTANT) {
        p->sum += (uint64_t)*from->at++ << shift;
        return 0;
    }
    p->shift[p->n] = shift;
    p->at[p->n] = room;
    switch (form) {
    case PLANE_RAW:
        if ((size_t)(from->end - from->at) < n)
            return fail(what, plane_short);
        p->at[p->n++] = from->at;
        from->at += n;
        return 0;
    case PLANE_ZSTD:
        p->n++;
        return plane_unpack(codec, from, CODEC_ZSTD, room, n, what);
    case PLANE_DEFLATE:
        p->n++;
        return plane_unpack(codec, from, CODEC_ZLIB, room, n, what);
    default:
        return fail(what, "a plane of bytes has an unknown form");
    }
}

int planes_get(struct codec *codec, struct byte_slice *from, size_t n, unsigned planes,
               unsigned shift, uint8_t room[PLANES][COLUMN_MAX], struct planes *p,
               const char **what)
{
    for (unsigned k = 0; k < planes; k++)
        if (plane_get(codec, from, n, 8 * k + shift, room[k], p, what))
            return -1;
    return 0;
}

/* Strips have a constant length so that compilers that vectorise nothing else vectorise these. */
static void strip_fill(uint64_t *v, size_t n, uint64_t sum)
{
    if (n == COLUMN_STRIP)
        for (size_t i = 0; i < COLUMN_STRIP; i++)
            v[i] = sum;
    else
        for (size_t i = 0; i < n; i++)
            v[i] = sum;
}

static void strip_set(uint64_t *restrict v, const uint8_t *restrict p, unsigned shift, uint64_t sum)
{
    for (size_t i = 0; i < COLUMN_STRIP; i++)
        v[i] = ((uint64_t)p[i] << shift) + sum;
}

static void strip_add(uint64_t *restrict v, const uint8_t *restrict p, unsigned shift)
{
    for (size_t i = 0; i < COLUMN_STRIP; i++)
        v[i] += (uint64_t)p[i] << shift;
}

void planes_join(const struct planes *p, size_t from, uint64_t *restrict v, size_t n)
{
    if (n == COLUMN_STRIP && p->n) {
        strip_set(v, p->at[0] + from, p->shift[0], p->sum);
        for (unsigned k = 1; k < p->n; k++)
            strip_add(v, p->at[k] + from, p->shift[k]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] = p->sum;
        for (unsigned k = 0; k < p->n; k++)
            v[i] += (uint64_t)p->at[k][from + i] << p->shift[k];
    }
}

/* ---- bits ----------------------------------------------------------------------------------- */

const uint8_t *bits_reach(const uint8_t *at, const uint8_t *end, uint8_t copy[STRIP_BYTES])
{
    const size_t left = (size_t)(end - at);

    if (LIKELY(left >= STRIP_BYTES))
        return at;
    memcpy(copy, at, left);
    memset(copy + left, 0, STRIP_BYTES - left);
    return copy;
}

/* The number in the low bits. Returns those after it. */
ALWAYS_INLINE uint64_t bits_one(uint64_t bits, const struct unpack u, uint64_t *restrict v)
{
    *v = u.base + (bits & u.mask) * u.factor;
    return bits >> u.width;
}

/* `each` numbers, 1, 2, 4 or 8, from one load; the first begins at `bit`. Written out, because
 * loops of a few rounds are not unrolled at -O2. */
ALWAYS_INLINE void bits_load(const uint8_t *at, size_t bit, const struct unpack u, unsigned each,
                             uint64_t *restrict v)
{
    uint64_t bits = bits_one(bits_at(at + bit / 8) >> bit % 8, u, v);

    if (each > 1)
        bits = bits_one(bits, u, v + 1);
    if (each > 2) {
        bits = bits_one(bits, u, v + 2);
        bits = bits_one(bits, u, v + 3);
    }
    if (each > 4) {
        bits = bits_one(bits, u, v + 4);
        bits = bits_one(bits, u, v + 5);
        bits = bits_one(bits, u, v + 6);
        bits_one(bits, u, v + 7);
    }
}

/* Unpacks as many values at a time as fit into a word, with up to 7 bits before them. */
ALWAYS_INLINE void bits_some(const uint8_t *at, const struct unpack u, unsigned each,
                             uint64_t *restrict v, size_t n)
{
    size_t i = 0, bit = 0;

    for (; i + each <= n; i += each, bit += each * u.width)
        bits_load(at, bit, u, each, v + i);
    for (; i < n; i++, bit += u.width)
        bits_load(at, bit, u, 1, v + i);
}

ALWAYS_INLINE void bits_any(const uint8_t *at, const struct unpack u, uint64_t *restrict v,
                            size_t n)
{
    if (u.width <= 7)
        bits_some(at, u, 8, v, n);
    else if (u.width <= 14)
        bits_some(at, u, 4, v, n);
    else if (u.width <= 28)
        bits_some(at, u, 2, v, n);
    else
        bits_some(at, u, 1, v, n);
}

/* Most columns of few bits have neither base nor factor; that case has a loop of its own. */
void bits_unpack(const uint8_t *at, struct unpack u, uint64_t *restrict v, size_t n)
{
    if (u.width == 0)
        strip_fill(v, n, u.base);
    else if (u.base == 0 && u.factor == 1)
        bits_any(at, (struct unpack){u.width, u.mask, 0, 1}, v, n);
    else
        bits_any(at, u, v, n);
}
