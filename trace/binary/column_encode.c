/* column_encode.c - columns of numbers to bytes. A column is turned into residuals (against a base,
 * against the number before, or against the base of a region), and these into bits, or byte planes
 * that are compressed. Bits are read several times faster; planes must be clearly smaller.
 * docs/trace-format.md, section 6, is the specification; decoding is in column.c. */
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
    PLANE_GAIN = 2,  /* bits that a compressed byte must save */
    ESCAPE_BITS = 8, /* what an escape takes in time, as if it were room */
    HEAD_BYTES = 8   /* of an inner column, about */
};

struct column_encoder {
    struct codec *codec;           /* owns */
    struct region_finder *regions; /* owns */
    enum trace_codec how;
    int level;
    /* of an inner column or not, as escapes are encoded while the outer residuals are in use; by
     * transform */
    uint64_t residual[2][2][COLUMN_MAX];
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
    if (!c)
        return;
    codec_free(c->codec);
    region_finder_free(c->regions);
    free(c);
}

/* ---- plans ---------------------------------------------------------------------------------- */

struct coding { /* how to code a column against a base or as deltas */
    enum transform transform;
    enum store store;      /* bits, or planes of bytes */
    unsigned shift, width; /* in bits */
    bool escapes;          /* there are some */
    uint64_t base;
    const uint64_t *residual; /* borrows */
    uint64_t cost;            /* bytes: of bits nearly exact, of planes an estimate */
};

/* A column is coded in a width in which most residuals fit; the few others are escapes, listed
 * apart. Which width is cheapest follows from how many residuals have how many bits: one pass
 * counts them. */
enum { SPREADS = 66, LANES = 4 };
struct spread {              /* of n residuals */
    uint64_t zeros;          /* residuals that are 0 */
    uint64_t above[SPREADS]; /* how many are escaped in a width of so many bits */
    unsigned top;            /* bits of the largest: in these nothing is */
};

/* Counts side by side, because the same one is seldom ready for the next number. */
struct counts {
    uint32_t n[SPREADS][LANES]; /* by bits */
    uint64_t any;
};

/* A residual of all ones is the marker of an escape: it needs one bit more. */
static inline void counts_add(struct counts *c, uint64_t r, size_t i)
{
    c->any |= r;
    c->n[r == UINT64_MAX ? 65 : bits_of(r + 1)][i % LANES]++;
}

static void spread_make(struct spread *s, const struct counts *c)
{
    uint64_t sum = 0;

    s->top = bits_of(c->any);
    for (unsigned k = SPREADS; k-- > 0;) {
        /* A residual is counted under the bits of r + 1, so those that are 0 stand under 1. */
        const uint64_t n = (uint64_t)c->n[k][0] + c->n[k][1] + c->n[k][2] + c->n[k][3];
        s->above[k] = k < s->top ? sum : 0;
        s->zeros = k == 1 ? n : s->zeros;
        sum += n;
    }
}

/* Bytes that the escapes take in a width, about; UINT64_MAX: the width can't be. */
static uint64_t escapes_cost(const struct spread *s, unsigned width, bool escapes)
{
    if (s->above[width] == 0)
        return 0;
    return escapes && width > 0 ? s->above[width] * (s->top + ESCAPE_BITS) / 8 + HEAD_BYTES
                                : UINT64_MAX;
}

static void plan_try(struct coding *p, const struct spread *s, uint64_t cost, unsigned width,
                     bool escapes)
{
    const uint64_t more = escapes_cost(s, width, escapes);

    if (more < UINT64_MAX && cost + more < p->cost) {
        p->cost = cost + more;
        p->width = width;
        p->escapes = s->above[width] > 0;
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

/* What a plane takes, estimated, in which `other` of n bytes are not 0: few of them compress well.
 */
static uint64_t plane_cost(const struct column_encoder *c, uint64_t n, uint64_t other)
{
    const uint64_t sparse = 3 * other, dense = n / 8 + other;
    const uint64_t packed = sparse < dense ? sparse : dense;

    return c->how == CODEC_RAW || n < packed ? n : packed;
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
        planes += plane_cost(c, n, w == 8 ? n - s->zeros : s->above[w - 8]);
        plan_try(p, s, planes, w, escapes);
    }
}

struct plans { /* the best of each store */
    struct coding bits, planes;
};

static void plans_add(const struct column_encoder *c, struct plans *best, struct coding p,
                      const struct counts *counts, size_t n, bool escapes)
{
    struct spread s = {.zeros = 0};

    spread_make(&s, counts);
    bits_plan(&p, &s, n, escapes);
    if (p.cost < best->bits.cost)
        best->bits = p;
    planes_plan(c, &p, &s, n, escapes);
    if (p.cost < best->planes.cost)
        best->planes = p;
}

/* Residuals against the least number, without the low bits in which all numbers agree (alignment).
 */
static struct coding base_plan(const uint64_t *restrict v, size_t n, uint64_t *restrict r,
                               struct counts *counts)
{
    uint64_t low = UINT64_MAX, any = 0; /* low bits are equal in all when they are the first's */

    for (size_t i = 0; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        any |= v[i] - v[0];
    }
    const unsigned shift = trailing_zeros(any);
    for (size_t i = 0; i < n; i++) {
        r[i] = (v[i] - low) >> shift;
        counts_add(counts, r[i], i);
    }
    return (struct coding){.transform = TRANSFORM_BASE, .shift = shift, .base = low, .residual = r};
}

/* Shifts d right, keeping its sign; spelled out because >> of a negative number is up to the
 * compiler. */
static uint64_t shift_signed(uint64_t d, unsigned shift)
{
    return d >> 63 ? ~(~d >> shift) : d >> shift;
}

/* Residuals against the number before, each group beginning from the same base; zigzag, so that
 * small steps down are small numbers, too. */
static struct coding delta_plan(const uint64_t *restrict v, struct groups groups,
                                uint64_t *restrict r, struct counts *counts)
{
    /* A group's first number is against the base, so the same base serves all threads. */
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
    for (size_t i = 0; i < n; i++) {
        r[i] = zigzag(shift_signed(r[i], shift));
        counts_add(counts, r[i], i);
    }
    return (struct coding){
        .transform = TRANSFORM_DELTA, .shift = shift, .base = base, .residual = r};
}

/* An inner column has no escapes. */
static struct plans plans_make(struct column_encoder *c, const uint64_t *v, size_t n,
                               struct groups groups, bool inner)
{
    struct plans best = {{.cost = UINT64_MAX}, {.cost = UINT64_MAX}};
    struct counts base = {.any = 0}, delta = {.any = 0};
    uint64_t(*residual)[COLUMN_MAX] = c->residual[inner];
    struct coding p = base_plan(v, n, residual[TRANSFORM_BASE], &base);

    plans_add(c, &best, p, &base, n, !inner);
    /* Good enough: deltas would save little, and cost a pass. */
    if (best.bits.cost <= n * SLIM / 8)
        return best;
    p = delta_plan(v, groups, residual[TRANSFORM_DELTA], &delta);
    plans_add(c, &best, p, &delta, n, !inner);
    return best;
}

/* ---- residuals out -------------------------------------------------------------------------- */

static bool constant(const uint8_t *p, size_t n)
{
    return !memcmp(p, p + 1, n - 1);
}

/* A plane of one value is that value; one that does not compress by an eighth stays as it is. */
static void plane_put(struct column_encoder *c, struct bytes *to, const uint8_t *p, size_t n)
{
    static const uint8_t form[CODECS] = {[CODEC_ZSTD] = PLANE_ZSTD, [CODEC_ZLIB] = PLANE_DEFLATE};
    uint8_t *packed = c->plane[1];
    size_t size;

    if (constant(p, n)) {
        bytes_add(to, (const uint8_t[]){PLANE_CONSTANT, p[0]}, 2);
        return;
    }
    size = codec_pack(c->codec, c->how, c->level, p, n, packed, n - n / 8);
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

static void planes_put(struct column_encoder *c, struct bytes *to, const uint64_t *r, size_t n,
                       unsigned width, uint64_t mark)
{
    for (unsigned k = 0; k < width; k += 8) {
        for (size_t i = 0; i < n; i++)
            c->plane[0][i] = (uint8_t)((r[i] < mark ? r[i] : mark) >> k);
        plane_put(c, to, c->plane[0], n);
    }
}

static void bits_put(struct bytes *to, const uint64_t *r, size_t n, unsigned width, uint64_t mark)
{
    const size_t size = (n * width + 7) / 8;
    struct packer p = {.at = bytes_room(to, size + 16)};

    for (size_t i = 0; i < n; i++)
        packer_add(&p, r[i] < mark ? r[i] : mark, width);
    to->n += size;
}

/* Without a branch, as which residuals are escaped is noise. */
static size_t escapes_collect(struct column_encoder *c, const struct coding *p, size_t n)
{
    const uint64_t mark = low_bits(p->width);
    size_t escapes = 0;

    for (size_t i = 0; i < n && p->escapes; i++) {
        c->escape[escapes] = p->residual[i];
        escapes += p->residual[i] >= mark;
    }
    return escapes;
}

static void put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups, bool inner);

static void inner_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n)
{
    const uint32_t length = (uint32_t)n;

    put(c, to, v, n, (struct groups){&length, 1}, true);
}

static void plan_put(struct column_encoder *c, struct bytes *to, const struct coding *p, size_t n)
{
    const unsigned method = p->transform | p->store << STORE_SHIFT,
                   width = p->store == STORE_BITS ? p->width : p->width / 8;
    const size_t escapes = escapes_collect(c, p, n);
    const uint64_t mark = p->escapes ? low_bits(p->width) : UINT64_MAX;

    bytes_add(to, (const uint8_t[]){(uint8_t)method, (uint8_t)p->shift, (uint8_t)width}, 3);
    bytes_varint(to, p->base);
    bytes_varint(to, escapes);
    if (escapes)
        inner_put(c, to, c->escape, escapes);
    if (p->store == STORE_BITS)
        bits_put(to, p->residual, n, p->width, mark);
    else
        planes_put(c, to, p->residual, n, p->width, mark);
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
static bool planes_promise(struct column_encoder *c, struct bytes *to, const struct coding *p,
                           size_t n, uint64_t bits)
{
    const size_t start = to->n;
    struct coding sample = *p;

    /* A small column is not worth a sample. */
    if (n < 4 * SAMPLE)
        return true;
    sample.residual += n / 2; /* from the middle: a block's beginning is seldom like the rest */
    plan_put(c, to, &sample, SAMPLE);
    const uint64_t size = to->n - start;
    to->n = start;
    return size * n / SAMPLE <= bits;
}

/* Puts planes when they are worth it: a byte takes about a nanosecond to decompress, unless very
 * little is left of it. */
static bool planes_try(struct column_encoder *c, struct bytes *to, const struct coding *p, size_t n,
                       uint64_t bits)
{
    const size_t start = to->n;

    /* No bits can hold it (wider than BITS_MAX): planes have to do. */
    if (bits != UINT64_MAX &&
        (c->how == CODEC_RAW || bits <= TINY || !planes_promise(c, to, p, n, bits)))
        return false;
    c->packed = 0;
    plan_put(c, to, p, n);
    const size_t size = to->n - start;
    if (bits == UINT64_MAX || size + c->packed * PLANE_GAIN / 8 <= bits || size <= bits / FEW)
        return true;
    to->n = start;
    return false;
}

static void put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups, bool inner)
{
    const struct plans best = plans_make(c, v, n, groups, inner);
    const bool wide = !inner && best.bits.cost > n * WIDE / 8;
    const uint64_t regions = wide ? regions_find(c->regions, v, n, groups) : UINT64_MAX;
    const uint64_t bits = regions < best.bits.cost ? regions : best.bits.cost;

    if (planes_try(c, to, &best.planes, n, bits))
        return;
    if (regions < best.bits.cost)
        regions_put(c, to, v, n);
    else
        plan_put(c, to, &best.bits, n);
}

void column_put(struct column_encoder *c, struct bytes *to, const uint64_t *v, size_t n,
                struct groups groups)
{
    assert(n <= COLUMN_MAX);
    if (n > 0)
        put(c, to, v, n, groups, false);
}
