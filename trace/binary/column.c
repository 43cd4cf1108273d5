/* column.c - bytes to columns of numbers, strip by strip, so that numbers are used while they are
 * in the host's cache. Trusts nothing in the bytes; encoding is in column_encode.c.
 * docs/trace-format.md, section 6, is the specification. */
#include "trace/binary/codec.h"
#include "trace/binary/column_form.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>

#include "base/mem.h"

struct planes { /* planes that are not constant, and the sum of the others and the base */
    const uint8_t *at[PLANES]; /* borrows */
    unsigned shift[PLANES];
    unsigned n;
    uint64_t sum;
};

/* A column of base or delta as it is read: residuals of `width` bits, each to be shifted and added
 * to the base or to the number before. A residual of all ones stands for an escape, a number that
 * does not fit. */
struct column_reader {
    enum transform transform;
    enum store store;
    unsigned shift, width; /* in bits */
    uint64_t base;
    bool folded;         /* base and shift are applied while unpacking */
    uint64_t bound;      /* no number is above it */
    size_t n, done;      /* numbers in all; that are read */
    const uint8_t *bits; /* bits of the next strip; borrows */
    struct planes planes;
    uint64_t escapes, escaped; /* in all; that are read */
    const uint32_t *groups;    /* lengths of those to come; borrows */
    size_t left;               /* numbers of the group */
    uint64_t before;           /* the number before, of the group */
};

/* A region of addresses; a number is its base and some low bits. */
struct column_region {
    uint64_t base, mask, width;
    uint64_t unused; /* a power of 2 is quicker to multiply by */
};

/* A column of regions. The reader gives the places of regions in a list; here follow the low bits,
 * each number's as wide as its region says. */
struct column_regions {
    bool open; /* the reader reads places of regions */
    unsigned shift;
    uint64_t n, lists;
    uint64_t length[LISTED_MAX]; /* lengths of the lists */
    /* The regions; or those of the lists, one list after the other. */
    struct column_region in[LISTED_MAX];
    const uint8_t *at; /* borrows */
    uint64_t bit, bits;
    uint64_t bound; /* no number is above it */

    /* State of the next number: */
    const struct column_region *list;
    uint64_t listed;        /* regions in it */
    size_t next;            /* list */
    size_t left;            /* numbers of the group */
    const uint32_t *groups; /* lengths of those to come; borrows */
};

struct column_decoder {
    struct codec *codec; /* owns */
    const uint8_t *end;  /* the end of the readable bytes; borrows */
    struct column_reader reader;
    struct column_regions regions;
    uint64_t escape[COLUMN_MAX];
    uint8_t plane[PLANES][COLUMN_MAX];
};

struct column_decoder *column_decoder_new(void)
{
    struct column_decoder *c = xmalloc(sizeof *c);

    c->codec = codec_new();
    return c;
}

void column_decoder_free(struct column_decoder *c)
{
    codec_free(c->codec);
    free(c);
}

static int fail(const char **what, const char *why)
{
    *what = why;
    return -1;
}

/* ---- planes: most of the time of decoding goes into this and the next part ------------------ */

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
    case PLANE_DEFLATE:
        p->n++;
        return plane_unpack(codec, from, form == PLANE_ZSTD ? CODEC_ZSTD : CODEC_ZLIB, room, n,
                            what);
    default:
        return fail(what, "a plane of bytes has an unknown form");
    }
}

/* Planes of n bytes, to be shifted; room is for those that are compressed. 0, or -1 and what. */
static int planes_get(struct codec *codec, struct byte_slice *from, size_t n, unsigned planes,
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

/* n numbers from place `from` on. */
static void planes_join(const struct planes *p, size_t from, uint64_t *restrict v, size_t n)
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

struct unpack {
    unsigned width;
    uint64_t mask, base, factor; /* number = base + (bits & mask) * factor */
};
/* Returns a pointer from which STRIP_BYTES can be read: `at`, or a copy with 0 behind the end. */
static const uint8_t *bits_reach(const uint8_t *at, const uint8_t *end, uint8_t copy[STRIP_BYTES])
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
static void bits_unpack(const uint8_t *at, struct unpack u, uint64_t *restrict v, size_t n)
{
    if (u.width == 0)
        strip_fill(v, n, u.base);
    else if (u.base == 0 && u.factor == 1)
        bits_any(at, (struct unpack){u.width, u.mask, 0, 1}, v, n);
    else
        bits_any(at, u, v, n);
}

/* ---- residuals back to numbers -------------------------------------------------------------- */

static const char bad_escapes[] = "a column has not as many escaped numbers as it says";

/* Puts the escaped numbers into their places. Numbers with base and shift already applied have the
 * marker so, too. */
static int escapes_fill(const struct column_decoder *c, struct column_reader *r, uint64_t *v,
                        size_t n, const char **what)
{
    const uint64_t base = r->folded ? r->base : 0;
    const unsigned shift = r->folded ? r->shift : 0;
    const uint64_t mark = base + (low_bits(r->width) << shift);

    for (size_t i = 0; i < n; i++) {
        if (LIKELY(v[i] != mark))
            continue;
        if (r->escaped == r->escapes)
            return fail(what, bad_escapes);
        v[i] = base + (c->escape[r->escaped++] << shift);
    }
    return r->done + n == r->n && r->escaped < r->escapes ? fail(what, bad_escapes) : 0;
}

static void undo_base(const struct column_reader *r, uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = r->base + (v[i] << r->shift);
}

/* Prefix sums, group by group: a group's first number is against the base. */
static void undo_delta(struct column_reader *r, uint64_t *v, size_t n)
{
    while (n > 0) {
        for (; r->left == 0; r->before = r->base)
            r->left = *r->groups++;
        const size_t m = r->left < n ? r->left : n;
        uint64_t before = r->before;
        for (size_t i = 0; i < m; i++)
            v[i] = before += unzigzag(v[i]) << r->shift;
        r->before = before;
        r->left -= m;
        v += m;
        n -= m;
    }
}

static void bits_next(const struct column_decoder *c, struct column_reader *r, uint64_t *restrict v,
                      size_t n)
{
    const struct unpack u = {.width = r->width,
                             .mask = low_bits(r->width),
                             .base = r->folded ? r->base : 0,
                             .factor = r->folded ? UINT64_C(1) << r->shift : 1};
    uint8_t copy[STRIP_BYTES];

    bits_unpack(r->width ? bits_reach(r->bits, c->end, copy) : NULL, u, v, n);
    r->bits += n * r->width / 8; /* whole, but for the last strip */
}

static int reader_next(struct column_decoder *c, uint64_t *restrict v, size_t n, const char **what)
{
    struct column_reader *r = &c->reader;

    assert(n == COLUMN_STRIP || n == r->n - r->done);
    if (r->store == STORE_BITS)
        bits_next(c, r, v, n);
    else
        planes_join(&r->planes, r->done, v, n);
    if (r->escapes && escapes_fill(c, r, v, n, what))
        return -1;
    if (r->transform == TRANSFORM_DELTA)
        undo_delta(r, v, n);
    else if (!r->folded)
        undo_base(r, v, n);
    r->done += n;
    return 0;
}

/* ---- columns of base or delta --------------------------------------------------------------- */

static const char bad_head[] = "a column has a bad head",
                  bad_lists[] = "a column has bad lists of regions";

/* The head: method, shift, width, base, number of escapes. Whatever it says is held against what
 * the format allows before anything is allocated or read by it. */
static int head_get(struct byte_slice *from, struct column_reader *r, const char **what)
{
    if (from->end - from->at < 3)
        return fail(what, bad_head);
    const uint8_t method = *from->at++;
    r->transform = (enum transform)(method & low_bits(STORE_SHIFT));
    r->store = (enum store)(method >> STORE_SHIFT);
    r->shift = *from->at++;
    r->width = *from->at++;
    if (r->transform >= TRANSFORM_REGIONS || r->store >= STORES || r->shift > 63 ||
        r->width > (r->store == STORE_BITS ? BITS_MAX : PLANES))
        return fail(what, bad_head);
    r->width *= r->store == STORE_BITS ? 1 : 8;
    return slice_varint(from, &r->base) || slice_varint(from, &r->escapes) || r->escapes > r->n ||
                   (r->escapes && (r->width == 0 || r->width == 64))
               ? fail(what, bad_head)
               : 0;
}

static int bits_get(struct byte_slice *from, struct column_reader *r, const char **what)
{
    const size_t size = (r->n * r->width + 7) / 8;

    r->bits = from->at;
    if (size > (size_t)(from->end - from->at))
        return fail(what, "a column of bits ends too early");
    from->at += size;
    return 0;
}

/* The highest number that a base and residuals can make, or UINT64_MAX. Compared before it is
 * shifted left, as what is shifted may not fit. */
static uint64_t bound_of(uint64_t base, uint64_t residual, unsigned shift)
{
    return residual > (UINT64_MAX - base) >> shift ? UINT64_MAX : base + (residual << shift);
}

static uint64_t reader_bound(const struct column_decoder *c, const struct column_reader *r)
{
    /* Deltas have no bound that is known, as they add up. */
    uint64_t highest = low_bits(r->width);

    if (r->width == 0)
        return r->base;
    for (size_t i = 0; i < r->escapes; i++)
        highest = c->escape[i] > highest ? c->escape[i] : highest;
    return r->transform == TRANSFORM_BASE ? bound_of(r->base, highest, r->shift) : UINT64_MAX;
}

/* Opens the residuals, which follow the head and the escapes; they are read strip by strip. */
static int residuals_open(struct column_decoder *c, struct byte_slice *from,
                          struct column_reader *r, const char **what)
{
    r->before = r->base;
    r->bound = reader_bound(c, r);
    r->folded = r->transform == TRANSFORM_BASE && r->shift + r->width <= 64;
    r->planes.sum = r->folded ? r->base : 0;
    const unsigned shift = r->folded ? r->shift : 0;
    if (r->store == STORE_BITS
            ? bits_get(from, r, what)
            : planes_get(c->codec, from, r->n, r->width / 8, shift, c->plane, &r->planes, what))
        return -1;
    c->reader = *r;
    return 0;
}

/* Reads the rest of the column by the strip; the last strip may be shorter. */
int column_rest(struct column_decoder *c, uint64_t *v, size_t n, const char **what)
{
    for (size_t i = 0; i < n; i += COLUMN_STRIP)
        if (column_next(c, v + i, n - i < COLUMN_STRIP ? n - i : COLUMN_STRIP, what))
            return -1;
    return 0;
}

/* A column inside another: of one group, without escapes or regions. n > 0. */
static int inner_open(struct column_decoder *c, struct byte_slice *from, size_t n,
                      const char **what)
{
    struct column_reader r = {.n = n, .left = n};

    if (head_get(from, &r, what))
        return -1;
    return r.escapes ? fail(what, bad_head) : residuals_open(c, from, &r, what);
}

static int inner_get(struct column_decoder *c, struct byte_slice *from, uint64_t *v, size_t n,
                     const char **what)
{
    return inner_open(c, from, n, what) || column_rest(c, v, n, what) ? -1 : 0;
}

static int plain_open(struct column_decoder *c, struct byte_slice *from, size_t n,
                      struct groups groups, const char **what)
{
    struct column_reader r = {.n = n, .groups = groups.length};

    if (head_get(from, &r, what) ||
        (r.escapes && inner_get(c, from, c->escape, (size_t)r.escapes, what)))
        return -1;
    return residuals_open(c, from, &r, what);
}

/* ---- columns of regions --------------------------------------------------------------------- */

/* The regions: base and width of each, both as inner columns. */
static int regions_list(struct column_decoder *c, struct byte_slice *from, struct column_regions *g,
                        const char **what)
{
    uint64_t base[REGIONS_MAX], width[REGIONS_MAX];

    if (from->end - from->at < 2)
        return fail(what, bad_head);
    from->at++;
    g->shift = *from->at++;
    if (g->shift > 63 || slice_varint(from, &g->n) || g->n == 0 || g->n > REGIONS_MAX)
        return fail(what, bad_head);
    if (inner_get(c, from, base, (size_t)g->n, what) ||
        inner_get(c, from, width, (size_t)g->n, what))
        return -1;
    g->bound = 0;
    /* A number's bits are read in one load, which has no more than BITS_MAX to give. */
    for (size_t i = 0; i < g->n; i++) {
        if (width[i] > BITS_MAX)
            return fail(what, "a region of a column has numbers of too many bits");
        g->in[i] = (struct column_region){base[i], low_bits((unsigned)width[i]), width[i], 0};
        const uint64_t bound = bound_of(base[i], g->in[i].mask, g->shift);
        g->bound = bound > g->bound ? bound : g->bound;
    }
    return 0;
}

/* Each group of numbers has a list of the regions that it uses. Puts the regions of all lists in
 * the place of the regions, list after list. */
static int lists_fill(struct column_decoder *c, struct byte_slice *from, struct column_regions *g,
                      const char **what)
{
    struct column_region region[REGIONS_MAX];
    uint64_t listed[LISTED_MAX], sum = 0;

    /* The sum is checked as it grows, before it is used as a size. */
    for (size_t i = 0; i < g->lists; i++)
        if (g->length[i] > g->n || (sum += g->length[i]) > LISTED_MAX)
            return fail(what, bad_lists);
    memcpy(region, g->in, (size_t)g->n * sizeof *region);
    if (sum > 0 && inner_get(c, from, listed, (size_t)sum, what))
        return -1;
    for (size_t i = 0; i < sum; i++) {
        if (listed[i] >= g->n)
            return fail(what, bad_lists);
        g->in[i] = region[listed[i]];
    }
    return 0;
}

/* A column without lists has one group, which has all regions. */
static int lists_get(struct column_decoder *c, struct byte_slice *from, struct column_regions *g,
                     size_t n, struct groups groups, const char **what)
{
    if (slice_varint(from, &g->lists) || (g->lists && g->lists != groups.n) ||
        g->lists > LISTED_MAX)
        return fail(what, bad_lists);
    g->list = g->in;
    g->listed = g->lists ? 0 : g->n;
    g->left = g->lists ? 0 : n;
    g->next = 0;
    g->groups = groups.length;
    if (g->lists == 0)
        return 0;
    return inner_get(c, from, g->length, (size_t)g->lists, what) || lists_fill(c, from, g, what)
               ? -1
               : 0;
}

static int regions_open(struct column_decoder *c, struct byte_slice *from, size_t n,
                        struct groups groups, const char **what)
{
    struct column_regions *g = &c->regions;
    uint64_t size;

    if (regions_list(c, from, g, what) || lists_get(c, from, g, n, groups, what) ||
        inner_open(c, from, n, what))
        return -1;
    if (slice_varint(from, &size) || size > (size_t)(from->end - from->at))
        return fail(what, "the bits of a column's regions end too early");
    g->at = from->at;
    g->bit = 0;
    g->bits = size * 8;
    from->at += size;
    g->open = true;
    return 0;
}

static void list_next(struct column_regions *g)
{
    while (g->left == 0) {
        g->list += g->listed;
        g->listed = g->length[g->next++];
        g->left = *g->groups++;
    }
}

/* The bound of the whole column mostly answers this without a look at the numbers. */
static bool places_are_listed(const struct column_decoder *c, const uint64_t *v, size_t n)
{
    const uint64_t listed = c->regions.listed;

    for (size_t i = 0; i < n && c->reader.bound >= listed; i++)
        if (v[i] >= listed)
            return false;
    return true;
}

/* Places of regions to numbers of one group. Returns the next bit. */
static uint64_t places_apply(const struct column_regions *g, const uint8_t *at, uint64_t bit,
                             uint64_t *restrict v, size_t n)
{
    const uint64_t factor = UINT64_C(1) << g->shift;

    for (size_t i = 0; i < n; i++) {
        const struct column_region *x = &g->list[v[i]];
        v[i] = x->base + (bits_at(at + bit / 8) >> bit % 8 & x->mask) * factor;
        bit += x->width;
    }
    return bit;
}

static int regions_apply(struct column_decoder *c, uint64_t *restrict v, size_t n,
                         const char **what)
{
    struct column_regions *g = &c->regions;
    uint8_t copy[STRIP_BYTES];
    const uint8_t *at = bits_reach(g->at + g->bit / 8, c->end, copy);
    uint64_t bit = g->bit % 8;

    g->bit -= bit;
    for (size_t i = 0, m; i < n; i += m) {
        list_next(g);
        m = g->left < n - i ? g->left : n - i;
        if (!places_are_listed(c, v + i, m))
            return fail(what, "a number of a column is in none of its regions");
        bit = places_apply(g, at, bit, v + i, m);
        g->left -= m;
    }
    g->bit += bit;
    /* The last byte may have bits that are not used. */
    if (g->bit > g->bits || (c->reader.done == c->reader.n && g->bits - g->bit >= 8))
        return fail(what, "a column's regions have not as many bits as it says");
    return 0;
}

/* ---- any column ----------------------------------------------------------------------------- */

int column_open(struct column_decoder *c, struct byte_slice *from, size_t n, struct groups groups,
                const char **what)
{
    assert(n <= COLUMN_MAX);
    c->end = from->end;
    c->regions.open = false;
    if (n == 0) {
        c->reader = (struct column_reader){.width = 0};
        return 0;
    }
    if (from->at < from->end && *from->at == TRANSFORM_REGIONS)
        return regions_open(c, from, n, groups, what);
    return plain_open(c, from, n, groups, what);
}

bool column_constant(const struct column_decoder *c)
{
    return !c->regions.open && c->reader.width == 0;
}

uint64_t column_bound(const struct column_decoder *c)
{
    return c->regions.open ? c->regions.bound : c->reader.bound;
}

int column_next(struct column_decoder *c, uint64_t *restrict v, size_t n, const char **what)
{
    if (reader_next(c, v, n, what))
        return -1;
    return c->regions.open ? regions_apply(c, v, n, what) : 0;
}

int column_get(struct column_decoder *c, struct byte_slice *from, uint64_t *v, size_t n,
               struct groups groups, const char **what)
{
    return column_open(c, from, n, groups, what) || column_rest(c, v, n, what) ? -1 : 0;
}
