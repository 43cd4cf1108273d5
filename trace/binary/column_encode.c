/* column_encode.c - columns of numbers to bytes. A column is turned into residuals (against a base,
 * against the number before, or against the base of a region), and these into bits, or byte planes
 * that are compressed. Bits are read several times faster; planes must be clearly smaller.
 * docs/trace-format.md, section 6, is the specification; decoding is in column.c. */
#include "base/mem.h"
#include "trace/binary/column_encode.h"
#include "trace/binary/codec.h"

#include <assert.h>
#include <stdlib.h>

enum {
    SLIM = 8,  /* bits: what needs no more is not worth trying as deltas, */
    WIDE = 12, /* or as regions */
    TINY = 64, /* bytes: what takes no more is not worth compressing */
    FEW = 4,   /* compressed to one part of so many is quick to decompress */
    SAMPLE = 4096,
    FULL = 8192,     /* numbers: so few are all counted */
    LIED = 16,       /* bytes for so many numbers more than estimated: the estimate was wrong */
    PLANE_GAIN = 2,  /* bits that a compressed byte must save */
    ESCAPE_BITS = 8, /* the time that an escape takes, as if it were room */
    HEAD_BYTES = 8   /* the head of an inner column, about */
};

struct column_encoder {
    struct codec *codec;           /* owns */
    struct region_finder *regions; /* owns */
    enum trace_codec how;
    int level;
    /* Residuals by whether the column is an inner one, and by transform: escapes are encoded while
     * the outer column's residuals are in use. */
    uint64_t residual[2][2][COLUMN_MAX];
    uint64_t sample[SAMPLE]; /* some of the residuals */
    uint64_t escape[COLUMN_MAX];
    uint8_t plane[2][COLUMN_MAX]; /* plain and compressed */
    size_t packed;                /* bytes that were compressed */
};

struct column_encoder *column_encoder_new(enum trace_codec how, int level)
{
    struct column_encoder *c = xmalloc(sizeof *c);

    c->codec = codec_new();
    c->regions = region_finder_new();
    c->how = how;
    c->level = level;
    return c;
}

void column_encoder_free(struct column_encoder *c)
{
    codec_free(c->codec);
    free(c->regions);
    free(c);
}

/* ---- residuals ------------------------------------------------------------------------------ */

struct column_numbers { /* a column and what is known of it */
    const uint64_t *v;  /* borrows */
    size_t n;
    struct groups groups;
    bool inner;     /* it has no escapes */
    unsigned shift; /* low bits in which all agree: so deltas have as many that are 0 */
};

/* Strips have a constant length, as compilers that vectorise nothing else vectorise these. */
static uint64_t strip_any(const uint64_t *v, uint64_t first)
{
    uint64_t any = 0;

    for (size_t i = 0; i < COLUMN_STRIP; i++)
        any |= v[i] ^ first;
    return any;
}

/* Bits in which some number differs from the first. */
static uint64_t any_differing(const uint64_t *v, size_t n)
{
    uint64_t any = 0;
    size_t i = 0;

    for (; i + COLUMN_STRIP <= n; i += COLUMN_STRIP)
        any |= strip_any(v + i, v[0]);
    for (; i < n; i++)
        any |= v[i] ^ v[0];
    return any;
}

static uint64_t least(const struct column_numbers *m)
{
    uint64_t low = m->v[0], other = low; /* two, as each waits for the one before */
    size_t i = 0;

    for (; low != 0 && i + 2 <= m->n; i += 2) {
        low = m->v[i] < low ? m->v[i] : low;
        other = m->v[i + 1] < other ? m->v[i + 1] : other;
    }
    if (i < m->n)
        low = m->v[i] < low ? m->v[i] : low;
    return other < low ? other : low;
}

struct residuals {
    enum transform transform;
    uint64_t *r; /* borrows */
    uint64_t base;
    unsigned top; /* bits of the largest */
};

static uint64_t strip_base(uint64_t *restrict r, const uint64_t *restrict v, uint64_t base,
                           unsigned shift)
{
    uint64_t any = 0;

    for (size_t i = 0; i < COLUMN_STRIP; i++)
        any |= r[i] = (v[i] - base) >> shift;
    return any;
}

/* Makes residuals against the least number, without the low bits in which all numbers agree
 * (alignment). */
static struct residuals base_make(const struct column_numbers *m, uint64_t *restrict r)
{
    const uint64_t base = least(m);
    uint64_t any = 0;
    size_t i = 0;

    for (; i + COLUMN_STRIP <= m->n; i += COLUMN_STRIP)
        any |= strip_base(r + i, m->v + i, base, m->shift);
    for (; i < m->n; i++)
        any |= r[i] = (m->v[i] - base) >> m->shift;
    return (struct residuals){TRANSFORM_BASE, r, base, bits_of(any)};
}

/* Small steps down are small numbers, too. A step down is one less than even without its sign, but
 * as it is more than the shift loses, the shift loses nothing. */
static inline uint64_t delta(uint64_t v, uint64_t before, unsigned shift)
{
    return zigzag(v - before) >> shift;
}

/* Makes a strip of deltas; v has a number before it. */
static uint64_t strip_delta(uint64_t *restrict r, const uint64_t *restrict v, unsigned shift)
{
    const uint64_t *before = v - 1;
    uint64_t any = 0;

    for (size_t i = 0; i < COLUMN_STRIP; i++)
        any |= r[i] = delta(v[i], before[i], shift);
    return any;
}

/* Makes residuals against the number before. Each group begins from the same base, which then
 * serves all threads; its distance from the group before is no residual, but may count for the
 * largest. */
static struct residuals delta_make(const struct column_numbers *m, uint64_t *restrict r)
{
    const uint64_t *v = m->v, base = v[0];
    uint64_t any = 0;
    size_t i = 1;

    for (; i + COLUMN_STRIP <= m->n; i += COLUMN_STRIP)
        any |= strip_delta(r + i, v + i, m->shift);
    for (; i < m->n; i++)
        any |= r[i] = delta(v[i], v[i - 1], m->shift);
    i = 0;
    for (size_t g = 0; g < m->groups.n; i += m->groups.length[g++])
        if (m->groups.length[g])
            any |= r[i] = delta(v[i], base, m->shift);
    return (struct residuals){TRANSFORM_DELTA, r, base, bits_of(any)};
}

static struct residuals residuals_make(struct column_encoder *c, const struct column_numbers *m,
                                       enum transform transform)
{
    uint64_t *r = c->residual[m->inner][transform];

    return transform == TRANSFORM_BASE ? base_make(m, r) : delta_make(m, r);
}

/* ---- plans ---------------------------------------------------------------------------------- */

struct coding { /* how to code a column against a base or as deltas */
    struct residuals of;
    enum store store; /* bits, or planes of bytes */
    unsigned width;   /* in bits */
    uint64_t cost;    /* bytes, estimated */
};

/* A column is coded in a width in which most residuals fit; the few others are escapes, listed
 * apart. Which width is cheapest follows from how many residuals have how many bits: one pass
 * over a sample counts them. */
enum { SPREADS = 66, LANES = 4 };
struct spread {              /* how many of n residuals have how many bits */
    uint64_t others;         /* residuals that are not 0 */
    uint64_t above[SPREADS]; /* how many are escaped in a width of so many bits */
    unsigned top;            /* bits of the largest: in these nothing is */
};

/* Counts side by side, because the same one is seldom ready for the next number. */
struct counts {
    uint32_t n[SPREADS][LANES]; /* by bits */
};

/* times: how many numbers each of the sample stands for. */
static void spread_make(struct spread *s, const struct counts *c, unsigned top, uint64_t times)
{
    uint64_t sum = 0;

    s->top = top;
    for (unsigned k = SPREADS; k-- > 0;) {
        /* A residual is counted under the bits of r + 1, so those that are 0 stand under 1. */
        const uint64_t n = times * ((uint64_t)c->n[k][0] + c->n[k][1] + c->n[k][2] + c->n[k][3]);
        s->above[k] = k < s->top ? sum : 0;
        s->others = k == 1 ? sum : s->others;
        sum += n;
    }
}

/* cost: without the escapes. There can't be any where the width is 0. */
static void plan_try(struct coding *p, const struct spread *s, uint64_t cost, unsigned width,
                     bool escapes)
{
    if (width < s->top && (!escapes || width == 0))
        return;
    if (width < s->top)
        cost += s->above[width] * (s->top + ESCAPE_BITS) / 8 + HEAD_BYTES;
    if (cost < p->cost) {
        p->cost = cost;
        p->width = width;
    }
}

/* The cheapest width for bits: each is tried, as a try costs a few operations. */
static void bits_plan(struct coding *p, const struct spread *s, size_t n, bool escapes)
{
    p->store = STORE_BITS;
    p->cost = UINT64_MAX;
    for (unsigned w = 0; w <= BITS_MAX && w <= s->top; w++)
        plan_try(p, s, (n * w + 7) / 8, w, escapes);
}

/* Estimates the bytes of a plane of n bytes, `other` of which are not 0: few of them compress well.
 * Adds the bytes that a plane must save, so that a few large residuals are escapes, and not
 * planes. */
static uint64_t plane_cost(const struct column_encoder *c, uint64_t n, uint64_t other)
{
    const uint64_t sparse = 3 * other, dense = n / 8 + other;
    const uint64_t packed = sparse < dense ? sparse : dense;

    return n * PLANE_GAIN / 8 + (c->how == CODEC_RAW || n < packed ? n : packed);
}

/* The same for byte planes: a plane more at a time, until nothing is escaped. */
static void planes_plan(const struct column_encoder *c, struct coding *p, const struct spread *s,
                        size_t n, bool escapes)
{
    uint64_t planes = 0;

    p->store = STORE_PLANES;
    p->cost = UINT64_MAX;
    /* Widths of whole bytes, and one plane beyond the largest residual's last byte at most. */
    for (unsigned w = 8; w <= 64 && w < s->top + 8; w += 8) {
        planes += plane_cost(c, n, w == 8 ? s->others : s->above[w - 8]);
        plan_try(p, s, planes, w, escapes);
    }
}

struct plans { /* the best of each store */
    struct coding bits, planes;
};

/* A sample is one number in STEP, or all: short strips, at places that do not fall in step with a
 * loop of the program. A residual of all ones is the marker of an escape: it needs one bit more. */
enum { STRIP = 64, STEP = 8 };

static void sample_count(struct counts *to, const uint64_t *r, size_t n, size_t step)
{
    for (size_t k = 0, at; (at = (k * step + k * 5 % step) * STRIP) < n; k++) {
        const size_t end = n - at < STRIP ? n : at + STRIP;
        for (size_t i = at; i < end; i++)
            to->n[r[i] == UINT64_MAX ? 65 : bits_of(r[i] + 1)][i % LANES]++;
    }
}

static void plans_add(const struct column_encoder *c, struct plans *best,
                      const struct column_numbers *m, struct residuals of, size_t step)
{
    struct coding p = {.of = of};
    struct counts counts = {.n = {{0}}};
    struct spread s = {.others = 0};

    sample_count(&counts, of.r, m->n, step);
    spread_make(&s, &counts, of.top, step);
    bits_plan(&p, &s, m->n, !m->inner);
    if (p.cost < best->bits.cost)
        best->bits = p;
    planes_plan(c, &p, &s, m->n, !m->inner);
    if (p.cost < best->planes.cost)
        best->planes = p;
}

static struct plans plans_make(struct column_encoder *c, const struct column_numbers *m,
                               size_t step)
{
    struct plans best = {{.cost = UINT64_MAX}, {.cost = UINT64_MAX}};

    plans_add(c, &best, m, residuals_make(c, m, TRANSFORM_BASE), step);
    /* Good enough: deltas would save little, and cost a pass. */
    if (best.bits.cost > m->n * SLIM / 8)
        plans_add(c, &best, m, residuals_make(c, m, TRANSFORM_DELTA), step);
    return best;
}

/* ---- residuals out -------------------------------------------------------------------------- */

/* A plane of one value is that value; one that does not compress by an eighth stays as it is. */
static void plane_put(struct column_encoder *c, struct bytes *to, const uint8_t *p, size_t n)
{
    static const uint8_t form[CODECS] = {[CODEC_ZSTD] = PLANE_ZSTD, [CODEC_ZLIB] = PLANE_DEFLATE};
    uint8_t *packed = c->plane[1];

    if (!memcmp(p, p + 1, n - 1)) {
        bytes_add(to, (const uint8_t[]){PLANE_CONSTANT, p[0]}, 2);
        return;
    }
    size_t size = codec_pack(c->codec, c->how, c->level, p, n, packed, n - n / 8);
    if (size == 0) {
        bytes_add(to, (const uint8_t[]){PLANE_RAW}, 1);
        bytes_add(to, p, n);
        return;
    }
    bytes_add(to, &form[c->how], 1);
    bytes_varint(to, size);
    bytes_add(to, packed, size);
    c->packed += n;
}

static void strip_bytes(uint8_t *restrict to, const uint64_t *restrict r, unsigned shift)
{
    for (size_t i = 0; i < COLUMN_STRIP; i++)
        to[i] = (uint8_t)(r[i] >> shift);
}

static void planes_put(struct column_encoder *c, struct bytes *to, const uint64_t *r, size_t n,
                       unsigned width)
{
    for (unsigned k = 0; k < width; k += 8) {
        size_t i = 0;
        for (; i + COLUMN_STRIP <= n; i += COLUMN_STRIP)
            strip_bytes(c->plane[0] + i, r + i, k);
        for (; i < n; i++)
            c->plane[0][i] = (uint8_t)(r[i] >> k);
        plane_put(c, to, c->plane[0], n);
    }
}

/* Packs as many numbers at a time as a packer takes. */
static size_t bits_some(struct packer *p, const uint64_t *r, size_t n, unsigned width,
                        unsigned each)
{
    size_t i = 0;

    for (; i + each <= n; i += each) {
        uint64_t bits = r[i];
        for (unsigned k = 1; k < each; k++)
            bits |= r[i + k] << k * width;
        packer_add(p, bits, each * width);
    }
    return i;
}

static void bits_put(struct bytes *to, const uint64_t *r, size_t n, unsigned width)
{
    const size_t size = (n * width + 7) / 8;
    struct packer p = {.at = bytes_room(to, size + 16)};
    size_t i = 0;

    if (width <= BITS_MAX / 4)
        i = bits_some(&p, r, n, width, 4);
    else if (width <= BITS_MAX / 2)
        i = bits_some(&p, r, n, width, 2);
    for (; i < n; i++)
        packer_add(&p, r[i], width);
    to->n += size;
}

/* Lists the residuals that a width has no room for, and marks them. Without a branch, as which they
 * are is noise. */
static size_t escapes_take(struct column_encoder *c, uint64_t *r, size_t n, unsigned width)
{
    const uint64_t mark = low_bits(width);
    size_t escapes = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t was = r[i];
        c->escape[escapes] = was;
        escapes += was >= mark;
        r[i] = was < mark ? was : mark;
    }
    return escapes;
}

static void numbers_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                        struct groups groups, bool inner);

static void inner_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n)
{
    numbers_put(c, to, v, n, (struct groups){&(uint32_t){(uint32_t)n}, 1}, true);
}

/* Spoils the residuals where some are escaped. */
static void coding_put(struct column_encoder *c, struct bytes *to, const struct column_numbers *m,
                       const struct coding *p)
{
    const unsigned method = p->of.transform | p->store << STORE_SHIFT,
                   width = p->store == STORE_BITS ? p->width : p->width / 8;
    const size_t escapes = p->of.top > p->width ? escapes_take(c, p->of.r, m->n, p->width) : 0;

    bytes_add(to, (const uint8_t[]){(uint8_t)method, (uint8_t)m->shift, (uint8_t)width}, 3);
    bytes_varint(to, p->of.base);
    bytes_varint(to, escapes);
    if (escapes)
        inner_put(c, to, c->escape, escapes);
    if (p->store == STORE_BITS)
        bits_put(to, p->of.r, m->n, p->width);
    else
        planes_put(c, to, p->of.r, m->n, p->width);
}

static void regions_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n)
{
    const struct region_list *r = regions_found(c->regions);
    const size_t size = (size_t)(r->bits + 7) / 8;

    bytes_add(to, (const uint8_t[]){TRANSFORM_REGIONS, (uint8_t)r->shift}, 2);
    bytes_varint(to, r->n);
    inner_put(c, to, r->base, r->n);
    inner_put(c, to, r->width, r->n);
    bytes_varint(to, r->lists);
    if (r->lists) {
        inner_put(c, to, r->length, r->lists);
        inner_put(c, to, r->list, r->listed);
    }
    inner_put(c, to, r->place, n);
    bytes_varint(to, size);
    struct packer p = {.at = bytes_room(to, size + 16)};
    for (size_t i = 0; i < n; i++)
        packer_add(&p, (v[i] - r->base[r->region[i]]) >> r->shift,
                   (unsigned)r->width[r->region[i]]);
    to->n += size;
}

/* A look at a sample, as most columns of noise would be compressed in vain. */
static bool planes_promise(struct column_encoder *c, struct bytes *to,
                           const struct column_numbers *m, const struct coding *p, uint64_t bits)
{
    const size_t start = to->n;
    struct column_numbers sample = *m;
    struct coding sampled = *p;

    /* A small column is not worth a sample. */
    if (m->n < 4 * SAMPLE)
        return true;
    sample.n = SAMPLE;
    sampled.of.r = c->sample;
    /* The sample is from the middle: a block's beginning is seldom like the rest. */
    memcpy(c->sample, p->of.r + m->n / 2, sizeof c->sample);
    coding_put(c, to, &sample, &sampled);
    const uint64_t size = to->n - start;
    to->n = start;
    return size * m->n / SAMPLE <= bits;
}

/* Puts planes when they are worth it: a byte takes about a nanosecond to decompress, unless very
 * little is left of it. */
static bool planes_try(struct column_encoder *c, struct bytes *to, const struct column_numbers *m,
                       const struct coding *p, uint64_t bits)
{
    const size_t start = to->n;

    /* No bits can hold it (wider than BITS_MAX): planes have to do. */
    if (bits != UINT64_MAX &&
        (c->how == CODEC_RAW || bits <= TINY || !planes_promise(c, to, m, p, bits)))
        return false;
    c->packed = 0;
    coding_put(c, to, m, p);
    const size_t size = to->n - start;
    if (bits == UINT64_MAX || size + c->packed * PLANE_GAIN / 8 <= bits || size <= bits / FEW)
        return true;
    to->n = start;
    residuals_make(c, m, p->of.transform);
    return false;
}

/* Puts the planned form. False: it takes more than the sample made believe. */
static bool put_planned(struct column_encoder *c, struct bytes *to, const struct column_numbers *m,
                        size_t step)
{
    const size_t start = to->n;
    const struct plans best = plans_make(c, m, step);
    const bool wide = !m->inner && best.bits.cost > m->n * WIDE / 8;
    const uint64_t regions = wide ? regions_find(c->regions, m->v, m->n, m->groups) : UINT64_MAX;
    const uint64_t bits = regions < best.bits.cost ? regions : best.bits.cost;

    if (planes_try(c, to, m, &best.planes, bits))
        return true;
    if (regions < best.bits.cost) {
        regions_put(c, to, m->v, m->n);
        return true;
    }
    coding_put(c, to, m, &best.bits);
    if (step == 1 || to->n - start <= best.bits.cost + m->n / LIED)
        return true;
    to->n = start;
    return false;
}

static void numbers_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                        struct groups groups, bool inner)
{
    const uint64_t any = any_differing(v, n);
    struct column_numbers m = {
        .v = v, .n = n, .groups = groups, .inner = inner, .shift = trailing_zeros(any)};

    if (any == 0) {
        bytes_add(to, (const uint8_t[]){TRANSFORM_BASE | STORE_BITS << STORE_SHIFT, 0, 0}, 3);
        bytes_varint(to, v[0]);
        bytes_varint(to, 0);
    } else if (n < FULL || !put_planned(c, to, &m, STEP)) {
        put_planned(c, to, &m, 1);
    }
}

void column_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups)
{
    assert(n <= COLUMN_MAX);
    if (n > 0)
        numbers_put(c, to, v, n, groups, false);
}
