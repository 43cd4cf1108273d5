/* range.c - strided ranges, partitions, and Table I, row by row. */
#include "policy/slimstate/range.h"

#include <assert.h>

/* ---- footprints ----------------------------------------------------------------------------- */

bool slim_contains(const struct slim_range *r, uint64_t i)
{
    return !slim_empty(r) && i >= r->b && i <= r->e && (i - r->b) % r->k == 0;
}

bool slim_extend(struct slim_range *r, uint64_t i)
{
    if (slim_contains(r, i))
        return true;
    if (slim_empty(r))
        *r = (struct slim_range){i, i, 1};
    else if (r->b == r->e)
        *r = i > r->b ? (struct slim_range){r->b, i, i - r->b}
                      : (struct slim_range){i, r->b, r->b - i};
    else if (i > r->e && i - r->e == r->k)
        r->e = i;
    else if (i < r->b && r->b - i == r->k)
        r->b = i;
    else
        return false;
    return true;
}

/* ---- Table I -------------------------------------------------------------------------------- */

uint64_t slim_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static struct slim_partition partition(enum slim_mode mode, uint64_t by)
{
    return (struct slim_partition){mode, by};
}
static const struct slim_partition fine = {SLIM_FINE, 0};

static bool is_range(const struct slim_range *f, uint64_t b, uint64_t e)
{
    return f->b == b && f->e == e && f->k == 1;
}

/* The largest block size that divides `size` and that f is made of; 1: no larger one does. */
static uint64_t block_for(uint64_t size, const struct slim_range *f)
{
    return f->k == 1 ? slim_gcd(size, slim_gcd(f->b, f->e + 1)) : 1;
}

/* Is f all elements of an array of n that are b modulo k? */
static bool is_stride(uint64_t n, const struct slim_range *f)
{
    return f->k > 1 && f->b < f->k && n - 1 - f->e < f->k;
}

static bool in_first_quarter(uint64_t n, uint64_t i)
{
    return i < n / 4 + (n % 4 != 0);
}

static struct slim_partition refine_coarse(uint64_t n, const struct slim_range *f)
{
    const uint64_t d = block_for(n, f);

    if (is_range(f, 0, n - 1))
        return partition(SLIM_COARSE, 0);
    if (is_range(f, 0, f->e))
        return partition(SLIM_SPLIT, f->e + 1);
    if (is_range(f, f->b, n - 1))
        return partition(SLIM_SPLIT, f->b);
    if (d > 1)
        return partition(SLIM_BLOCK, d);
    if (is_stride(n, f) && n % f->k == 0)
        return partition(SLIM_STRIDE, f->k);
    if (in_first_quarter(n, f->e))
        return partition(SLIM_PREFIX, f->e + 1);
    return fine;
}

static struct slim_partition refine_block(uint64_t was, const struct slim_range *f)
{
    const uint64_t d = block_for(was, f);

    return d > 1 ? partition(SLIM_BLOCK, d) : fine;
}

static struct slim_partition refine_split(uint64_t n, uint64_t i, const struct slim_range *f)
{
    const uint64_t d = block_for(slim_gcd(n, i), f);
    const uint64_t last = i > f->e ? i : f->e;

    if (is_range(f, 0, i - 1))
        return partition(SLIM_SPLIT, i);
    if (is_range(f, i, n - 1))
        return partition(SLIM_SPLIT, i);
    if (is_range(f, 0, n - 1))
        return partition(SLIM_SPLIT, i);
    if (d > 1)
        return partition(SLIM_BLOCK, d);
    if (in_first_quarter(n, last))
        return partition(SLIM_PREFIX, last + 1);
    return fine;
}

/* Refines a STRIDE. A sweep over all elements is not a row of Table I, as its k > 1; STRIDE is
 * precise enough for it. */
static struct slim_partition refine_stride(uint64_t n, uint64_t s, const struct slim_range *f)
{
    const uint64_t times = f->k / slim_gcd(s, f->k);

    if (is_range(f, 0, n - 1))
        return partition(SLIM_STRIDE, s);
    if (!is_stride(n, f) || n / s % times)
        return fine;
    return s * times < n ? partition(SLIM_STRIDE, s * times) : fine;
}

static struct slim_partition refine_prefix(uint64_t n, uint64_t i, const struct slim_range *f)
{
    if (is_range(f, i, n - 1) || f->e < i)
        return partition(SLIM_PREFIX, i);
    if (f->e < (n - 1) / 2 + (n - 1) % 2)
        return partition(SLIM_PREFIX, 2 * f->e);
    return fine;
}

struct slim_partition slim_refine(struct slim_partition p, uint64_t n, const struct slim_range *f)
{
    assert(!slim_empty(f) && f->e < n);
    switch (p.mode) {
    case SLIM_COARSE:
        return refine_coarse(n, f);
    case SLIM_BLOCK:
        return refine_block(p.by, f);
    case SLIM_STRIDE:
        return refine_stride(n, p.by, f);
    case SLIM_SPLIT:
        return refine_split(n, p.by, f);
    case SLIM_PREFIX:
        return refine_prefix(n, p.by, f);
    case SLIM_FINE:
    case SLIM_MODES:
        break;
    }
    return fine;
}

/* ---- parts ---------------------------------------------------------------------------------- */

uint64_t slim_parts(struct slim_partition p, uint64_t n)
{
    switch (p.mode) {
    case SLIM_COARSE:
        return 1;
    case SLIM_BLOCK:
        return n / p.by;
    case SLIM_STRIDE:
        return p.by;
    case SLIM_SPLIT:
        return 2;
    case SLIM_PREFIX:
        return p.by + 1;
    case SLIM_FINE:
    case SLIM_MODES:
        break;
    }
    return n;
}

uint64_t slim_part_of(struct slim_partition p, uint64_t i)
{
    switch (p.mode) {
    case SLIM_COARSE:
        return 0;
    case SLIM_BLOCK:
        return i / p.by;
    case SLIM_STRIDE:
        return i % p.by;
    case SLIM_SPLIT:
        return i >= p.by;
    case SLIM_PREFIX:
        return i < p.by ? i : p.by;
    case SLIM_FINE:
    case SLIM_MODES:
        break;
    }
    return i;
}

static struct slim_range range(uint64_t b, uint64_t e, uint64_t k)
{
    return (struct slim_range){b, e, b == e ? 1 : k};
}

struct slim_range slim_part(struct slim_partition p, uint64_t n, uint64_t q)
{
    switch (p.mode) {
    case SLIM_COARSE:
        return range(0, n - 1, 1);
    case SLIM_BLOCK:
        return range(q * p.by, q * p.by + p.by - 1, 1);
    case SLIM_STRIDE:
        return range(q, n - p.by + q, p.by);
    case SLIM_SPLIT:
        return q ? range(p.by, n - 1, 1) : range(0, p.by - 1, 1);
    case SLIM_PREFIX:
        return q < p.by ? range(q, q, 1) : range(p.by, n - 1, 1);
    case SLIM_FINE:
    case SLIM_MODES:
        break;
    }
    return range(q, q, 1);
}

/* The parts that a range covers. In STRIDE it is a sweep of all, or all that are b modulo k; in the
 * other modes it is of neighbours, except where parts are single elements. */
void slim_cover(struct slim_partition p, const struct slim_range *r, uint64_t *first,
                uint64_t *step, uint64_t *count)
{
    *first = slim_part_of(p, r->b);
    *step = p.mode == SLIM_FINE || p.mode == SLIM_STRIDE || p.mode == SLIM_PREFIX ? r->k : 1;
    if (p.mode == SLIM_STRIDE)
        *count = (p.by - *first + *step - 1) / *step;
    else
        *count = (slim_part_of(p, r->e) - *first) / *step + 1;
}
