/* column.c - numbers to bytes and back. A column is turned into residuals (against a base, or
 * against the number before), these into byte planes, and each plane is left out (constant), raw or
 * compressed, whichever is smallest. docs/trace-format.md, section 6, is the specification. */
#include "trace/column.h"
#include "trace/codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum transform { TRANSFORM_BASE, TRANSFORM_DELTA, TRANSFORMS };
enum plane_form { PLANE_CONSTANT, PLANE_RAW, PLANE_ZSTD, PLANE_DEFLATE };

enum { STRIP = 256 }; /* numbers at a time, so that partial results stay in the nearest cache */

struct column_coder {
    struct codec *codec; /* owns */
    enum trace_codec how;
    int level;
    uint64_t residual[TRANSFORMS][COLUMN_MAX];
    uint64_t escape[COLUMN_MAX];
    uint8_t plane[PLANES][COLUMN_MAX];
};

struct column_coder *column_coder_new(enum trace_codec how, int level)
{
    struct column_coder *c = xmalloc(sizeof *c);

    c->codec = codec_new();
    c->how = how;
    c->level = level;
    return c;
}

void column_coder_free(struct column_coder *c)
{
    if (!c)
        return;
    codec_free(c->codec);
    free(c);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

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

int slice_varint(struct slice *s, uint64_t *v)
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

/* ---- residuals ------------------------------------------------------------------------------ */

static unsigned bits(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static unsigned trailing_zeros(uint64_t v)
{
    return v ? (unsigned)__builtin_ctzll(v) : 0;
}

/* Small numbers of either sign become small numbers without one. */
static uint64_t zigzag(uint64_t d)
{
    return d << 1 ^ (0 - (d >> 63));
}

static uint64_t unzigzag(uint64_t r)
{
    return r >> 1 ^ (0 - (r & 1));
}

/* Shifts d right, keeping its sign; spelled out because >> of a negative number is up to the
 * compiler. */
static uint64_t shift_signed(uint64_t d, unsigned shift)
{
    return d >> 63 ? ~(~d >> shift) : d >> shift;
}

struct plan { /* how to code a column */
    enum transform transform;
    unsigned shift, width;
    uint64_t base;
    const uint64_t *residual; /* borrows */
    uint64_t cost;            /* estimated bytes */
};

/* The marker of an escaped number in planes of this width. Eight planes hold every number. */
static uint64_t marker(unsigned width)
{
    return (UINT64_C(1) << 8 * width) - 1;
}

/* Planes that a residual needs so as not to be escaped. */
static unsigned residual_width(uint64_t r)
{
    return r == 0 ? 0 : r == UINT64_MAX ? 8 : (bits(r + 1) + 7) / 8;
}

/* What a plane takes, estimated, in which `other` of n bytes are not 0: few of them compress well.
 */
static uint64_t plane_cost(const struct column_coder *c, uint64_t n, uint64_t other)
{
    const uint64_t sparse = 3 * other, dense = n / 8 + other;
    const uint64_t packed = sparse < dense ? sparse : dense;

    return c->how == CODEC_RAW || n < packed ? n : packed;
}

/* Chooses the width: another plane, or eight bytes for each residual that is escaped. */
static void plan_width(const struct column_coder *c, struct plan *p, size_t n)
{
    size_t need[PLANES + 1] = {0};
    uint64_t planes = 0, above;

    for (size_t i = 0; i < n; i++)
        need[residual_width(p->residual[i])]++;
    above = n - need[0];
    p->width = 0;
    p->cost = above ? UINT64_MAX : 0;
    for (unsigned w = 1; w <= PLANES && above; w++) {
        planes += plane_cost(c, n, above);
        above -= need[w];
        if (planes + 8 * above < p->cost) {
            p->cost = planes + 8 * above;
            p->width = w;
        }
    }
}

static void plan_base(struct column_coder *c, struct plan *p, const uint64_t *v, size_t n)
{
    uint64_t *r = c->residual[TRANSFORM_BASE];
    uint64_t low = UINT64_MAX, any = 0;

    for (size_t i = 0; i < n; i++)
        low = v[i] < low ? v[i] : low;
    for (size_t i = 0; i < n; i++)
        any |= v[i] - low;
    const unsigned shift = trailing_zeros(any);
    for (size_t i = 0; i < n; i++)
        r[i] = (v[i] - low) >> shift;
    *p = (struct plan){.transform = TRANSFORM_BASE, .shift = shift, .base = low, .residual = r};
    plan_width(c, p, n);
}

static void plan_delta(struct column_coder *c, struct plan *p, const uint64_t *v,
                       struct groups groups)
{
    uint64_t *r = c->residual[TRANSFORM_DELTA];
    const uint64_t base = v[0];
    uint64_t any = 0;
    size_t n = 0;

    for (size_t g = 0; g < groups.n; g++) {
        uint64_t before = base;
        for (size_t end = n + groups.length[g]; n < end; n++) {
            r[n] = v[n] - before;
            any |= r[n];
            before = v[n];
        }
    }
    const unsigned shift = trailing_zeros(any);
    for (size_t i = 0; i < n; i++)
        r[i] = zigzag(shift_signed(r[i], shift));
    *p = (struct plan){.transform = TRANSFORM_DELTA, .shift = shift, .base = base, .residual = r};
    plan_width(c, p, n);
}

/* ---- planes out ----------------------------------------------------------------------------- */

static bool constant(const uint8_t *p, size_t n)
{
    return !memcmp(p, p + 1, n - 1);
}

static void plane_put(struct column_coder *c, struct bytes *to, const uint8_t *p, size_t n)
{
    static const uint8_t form[CODECS] = {[CODEC_ZSTD] = PLANE_ZSTD, [CODEC_ZLIB] = PLANE_DEFLATE};
    uint8_t *packed = c->plane[1];
    size_t size;

    if (constant(p, n)) {
        bytes_add(to, (const uint8_t[]){PLANE_CONSTANT, p[0]}, 2);
        return;
    }
    /* A gain of less than 3 % is not worth the time to decompress. */
    size = codec_pack(c->codec, c->how, c->level, p, n, packed, n - n / 32);
    if (size == 0) {
        bytes_add(to, (const uint8_t[]){PLANE_RAW}, 1);
        bytes_add(to, p, n);
        return;
    }
    bytes_add(to, &form[c->how], 1);
    bytes_varint(to, size);
    bytes_add(to, packed, size);
}

static void planes_put(struct column_coder *c, struct bytes *to, const uint64_t *r, size_t n,
                       unsigned width)
{
    for (unsigned k = 0; k < width; k++) {
        for (size_t i = 0; i < n; i++)
            c->plane[0][i] = (uint8_t)(r[i] >> 8 * k);
        plane_put(c, to, c->plane[0], n);
    }
}

/* The residual, or the marker in place of one that is escaped; *escapes counts and keeps those. */
static uint64_t residual_or_marker(struct column_coder *c, uint64_t r, uint64_t mark,
                                   size_t *escapes)
{
    if (r < mark)
        return r;
    c->escape[(*escapes)++] = r;
    return mark;
}

void column_put(struct column_coder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups)
{
    struct plan plan, delta;
    size_t escapes = 0;
    uint64_t *r;

    assert(n <= COLUMN_MAX);
    if (n == 0)
        return;
    plan_base(c, &plan, v, n);
    if (plan.width) {
        plan_delta(c, &delta, v, groups);
        if (delta.cost < plan.cost)
            plan = delta;
    }
    r = c->residual[plan.transform];
    if (plan.width && plan.width < PLANES)
        for (size_t i = 0; i < n; i++)
            r[i] = residual_or_marker(c, r[i], marker(plan.width), &escapes);
    bytes_add(to,
              (const uint8_t[]){(uint8_t)plan.transform, (uint8_t)plan.shift, (uint8_t)plan.width},
              3);
    bytes_varint(to, plan.base);
    bytes_varint(to, escapes);
    planes_put(c, to, r, n, plan.width);
    if (escapes)
        planes_put(c, to, c->escape, escapes, PLANES);
}

/* ---- planes in ------------------------------------------------------------------------------ */

struct planes { /* those that are not constant, and the sum of those that are and of the base */
    const uint8_t *at[PLANES];
    unsigned shift[PLANES];
    unsigned n;
    uint64_t sum;
};

static const char plane_short[] = "a plane of bytes ends too early";

static int plane_unpack(struct column_coder *c, struct slice *from, enum trace_codec how,
                        uint8_t *to, size_t n, const char **what)
{
    uint64_t size;

    if (slice_varint(from, &size) || size > (size_t)(from->end - from->at)) {
        *what = plane_short;
        return -1;
    }
    if (codec_unpack(c->codec, how, from->at, (size_t)size, to, n)) {
        *what = "a compressed plane does not hold what it should";
        return -1;
    }
    from->at += size;
    return 0;
}

static int plane_get(struct column_coder *c, struct slice *from, unsigned k, size_t n,
                     unsigned shift, struct planes *p, const char **what)
{
    if (from->end - from->at < 2) {
        *what = plane_short;
        return -1;
    }
    const uint8_t form = *from->at++;
    if (form == PLANE_CONSTANT) {
        p->sum += (uint64_t)*from->at++ << shift;
        return 0;
    }
    p->shift[p->n] = shift;
    p->at[p->n] = c->plane[k];
    switch (form) {
    case PLANE_RAW:
        if ((size_t)(from->end - from->at) < n) {
            *what = plane_short;
            return -1;
        }
        p->at[p->n++] = from->at;
        from->at += n;
        return 0;
    case PLANE_ZSTD:
        p->n++;
        return plane_unpack(c, from, CODEC_ZSTD, c->plane[k], n, what);
    case PLANE_DEFLATE:
        p->n++;
        return plane_unpack(c, from, CODEC_ZLIB, c->plane[k], n, what);
    default:
        *what = "a plane of bytes has an unknown form";
        return -1;
    }
}

/* Strips have a constant length so that compilers that vectorise nothing else vectorise these. */
static void strip_add(uint64_t *restrict v, const uint8_t *restrict p, unsigned shift)
{
    for (size_t i = 0; i < STRIP; i++)
        v[i] += (uint64_t)p[i] << shift;
}

static void strip_set(uint64_t *restrict v, const uint8_t *restrict p, unsigned shift, uint64_t sum)
{
    for (size_t i = 0; i < STRIP; i++)
        v[i] = ((uint64_t)p[i] << shift) + sum;
}

static void planes_join(const struct planes *p, uint64_t *v, size_t n)
{
    size_t i = 0;

    for (; p->n && i + STRIP <= n; i += STRIP) {
        strip_set(v + i, p->at[0] + i, p->shift[0], p->sum);
        for (unsigned k = 1; k < p->n; k++)
            strip_add(v + i, p->at[k] + i, p->shift[k]);
    }
    for (; i < n; i++) {
        v[i] = p->sum;
        for (unsigned k = 0; k < p->n; k++)
            v[i] += (uint64_t)p->at[k][i] << p->shift[k];
    }
}

/* Numbers = base + (what the planes hold << shift). */
static int planes_get(struct column_coder *c, struct slice *from, uint64_t *v, size_t n,
                      unsigned width, uint64_t base, unsigned shift, const char **what)
{
    struct planes p = {.sum = base};

    for (unsigned k = 0; k < width; k++)
        if (plane_get(c, from, k, n, 8 * k + shift, &p, what))
            return -1;
    planes_join(&p, v, n);
    return 0;
}

/* ---- residuals back to numbers -------------------------------------------------------------- */

static int escapes_fill(struct column_coder *c, struct slice *from, uint64_t *v, size_t n,
                        uint64_t mark, uint64_t escapes, const char **what)
{
    size_t used = 0;

    if (planes_get(c, from, c->escape, (size_t)escapes, PLANES, 0, 0, what))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (UNLIKELY(v[i] == mark))
            v[i] = c->escape[used++]; /* too many are told below; there is room for n */
    if (used == escapes)
        return 0;
    *what = "a column has not as many escaped numbers as it says";
    return -1;
}

static void undo_base(uint64_t *v, size_t n, uint64_t base, unsigned shift)
{
    for (size_t i = 0; i < n; i++)
        v[i] = base + (v[i] << shift);
}

static void undo_delta(uint64_t *v, struct groups groups, uint64_t base, unsigned shift)
{
    for (size_t g = 0; g < groups.n; g++) {
        uint64_t before = base;
        for (const uint64_t *end = v + groups.length[g]; v < end; v++)
            *v = before += unzigzag(*v) << shift;
    }
}

struct column_head {
    unsigned transform, shift, width;
    uint64_t base, escapes;
};

static int head_get(struct slice *from, struct column_head *h, size_t n)
{
    if (from->end - from->at < 3)
        return -1;
    h->transform = *from->at++;
    h->shift = *from->at++;
    h->width = *from->at++;
    if (h->transform >= TRANSFORMS || h->shift > 63 || h->width > PLANES)
        return -1;
    if (slice_varint(from, &h->base) || slice_varint(from, &h->escapes))
        return -1;
    return h->escapes > n || (h->escapes && (h->width == 0 || h->width == PLANES)) ? -1 : 0;
}

int column_get(struct column_coder *c, struct slice *from, uint64_t *v, size_t n,
               struct groups groups, const char **what)
{
    struct column_head h;

    assert(n <= COLUMN_MAX);
    if (n == 0)
        return 0;
    if (head_get(from, &h, n)) {
        *what = "a column has a bad head";
        return -1;
    }
    if (h.transform == TRANSFORM_BASE && h.escapes == 0 && h.shift + 8 * h.width <= 64)
        return planes_get(c, from, v, n, h.width, h.base, h.shift, what);
    if (planes_get(c, from, v, n, h.width, 0, 0, what))
        return -1;
    if (h.escapes && escapes_fill(c, from, v, n, marker(h.width), h.escapes, what))
        return -1;
    if (h.transform == TRANSFORM_DELTA)
        undo_delta(v, groups, h.base, h.shift);
    else
        undo_base(v, n, h.base, h.shift);
    return 0;
}
