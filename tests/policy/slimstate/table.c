/* table.c - the table written again, as sets of bits: which parts there are, and which
 * partition each footprint leads to. Nothing of slimstate/range.c is used to say what must be. */
#include "tests/policy/slimstate/table.h"

#include <stdio.h>

#include "policy/slimstate/range.h"

enum { MOST = 16 };

static uint32_t all_of(unsigned n)
{
    return (1u << n) - 1;
}

static uint32_t bits_of(const struct slim_range *r)
{
    uint32_t bits = 0;

    for (uint64_t i = r->b; i <= r->e && i < 32; i += r->k)
        bits |= 1u << i;
    return bits;
}

/* The part that has element i, from the sets that the paper gives for each mode. */
static uint32_t part_bits(struct slim_partition p, unsigned n, unsigned i)
{
    uint32_t bits = 0;

    for (unsigned j = 0; j < n; j++) {
        bool together = i == j;
        if (p.mode == SLIM_COARSE)
            together = true;
        else if (p.mode == SLIM_BLOCK)
            together = i / p.by == j / p.by;
        else if (p.mode == SLIM_STRIDE)
            together = i % p.by == j % p.by;
        else if (p.mode == SLIM_SPLIT)
            together = (i < p.by) == (j < p.by);
        else if (p.mode == SLIM_PREFIX)
            together = i == j || (i >= p.by && j >= p.by);
        bits |= (uint32_t)together << j;
    }
    return bits;
}

static bool is_precise(struct slim_partition p, unsigned n, uint32_t f)
{
    for (unsigned i = 0; i < n; i++) {
        const uint32_t part = part_bits(p, n, i);
        if (part & f && part & ~f)
            return false;
    }
    return true;
}

static bool refines(struct slim_partition finer, struct slim_partition p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (part_bits(finer, n, i) & ~part_bits(p, n, i))
            return false;
    return true;
}

/* ---- what must follow ----------------------------------------------------------------------- */

static struct slim_partition is(enum slim_mode mode, uint64_t by)
{
    return (struct slim_partition){mode, by};
}

/* The largest blocks, of two elements at least, that refine p and make up f. */
static bool blocks(struct slim_partition p, unsigned n, uint32_t f, struct slim_partition *to)
{
    for (unsigned d = n - 1; d > 1; d--) {
        *to = is(SLIM_BLOCK, d);
        if (n % d == 0 && refines(*to, p, n) && is_precise(*to, n, f))
            return true;
    }
    return false;
}

/* The coarsest strides, of less than n parts, that refine p and make up f, which is one residue. */
static bool strides(struct slim_partition p, unsigned n, const struct slim_range *f,
                    struct slim_partition *to)
{
    const uint32_t bits = bits_of(f);
    uint32_t residue = 0;

    for (uint64_t i = f->b % f->k; i < n; i += f->k)
        residue |= 1u << i;
    for (unsigned s = 2; s < n && f->k > 1 && bits == residue; s++) {
        *to = is(SLIM_STRIDE, s);
        if (n % s == 0 && s % f->k == 0 && refines(*to, p, n))
            return true;
    }
    return false;
}

static struct slim_partition must_coarse(unsigned n, const struct slim_range *f)
{
    struct slim_partition to;
    const uint32_t bits = bits_of(f);

    if (bits == all_of(n))
        return is(SLIM_COARSE, 0);
    for (unsigned i = 1; i < n; i++)
        if (bits == all_of(i) || bits == (all_of(n) & ~all_of(i)))
            return is(SLIM_SPLIT, i);
    if (f->k == 1 && blocks(is(SLIM_COARSE, 0), n, bits, &to))
        return to;
    if (strides(is(SLIM_COARSE, 0), n, f, &to))
        return to;
    return 4 * f->e < n ? is(SLIM_PREFIX, f->e + 1) : is(SLIM_FINE, 0);
}

static struct slim_partition must_split(struct slim_partition p, unsigned n,
                                        const struct slim_range *f)
{
    const uint64_t last = f->e > p.by ? f->e : p.by;
    struct slim_partition to;

    if (is_precise(p, n, bits_of(f)))
        return p;
    if (f->k == 1 && blocks(p, n, bits_of(f), &to))
        return to;
    return 4 * last < n ? is(SLIM_PREFIX, last + 1) : is(SLIM_FINE, 0);
}

static struct slim_partition must(struct slim_partition p, unsigned n, const struct slim_range *f)
{
    const uint32_t bits = bits_of(f);
    struct slim_partition to = is(SLIM_FINE, 0);

    switch (p.mode) {
    case SLIM_COARSE:
        return must_coarse(n, f);
    case SLIM_BLOCK:
        if (f->k == 1 && is_precise(p, n, bits))
            return p;
        return f->k == 1 && blocks(p, n, bits, &to) ? to : is(SLIM_FINE, 0);
    case SLIM_SPLIT:
        return must_split(p, n, f);
    case SLIM_STRIDE:
        if (is_precise(p, n, bits))
            return p;
        return strides(p, n, f, &to) ? to : is(SLIM_FINE, 0);
    case SLIM_PREFIX:
        if (bits == (all_of(n) & ~all_of((unsigned)p.by)) || f->e < p.by)
            return p;
        return 2 * f->e < n - 1 ? is(SLIM_PREFIX, 2 * f->e) : is(SLIM_FINE, 0);
    case SLIM_FINE:
    case SLIM_MODES:
        break;
    }
    return is(SLIM_FINE, 0);
}

/* ---- the checks ----------------------------------------------------------------------------- */

static bool fails(const char *what, struct slim_partition p, unsigned n, const struct slim_range *f)
{
    printf("FAILED: Table I, %s: mode %d by %u of %u elements, footprint %u:%u:%u\n", what,
           (int)p.mode, (unsigned)p.by, n, (unsigned)f->b, (unsigned)f->e, (unsigned)f->k);
    return true;
}

/* Each part is where it is said to be, and the footprint's are those that it is made of. */
static bool parts_fail(struct slim_partition p, unsigned n, const struct slim_range *f)
{
    uint64_t first, step, count;
    uint32_t covered = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct slim_range r = slim_part(p, n, slim_part_of(p, i));
        if (bits_of(&r) != part_bits(p, n, i) || slim_part_of(p, i) >= slim_parts(p, n))
            return fails("parts", p, n, f);
    }
    slim_cover(p, f, &first, &step, &count);
    for (uint64_t i = 0; i < count; i++) {
        const struct slim_range r = slim_part(p, n, first + i * step);
        if (covered & bits_of(&r))
            return fails("a part twice", p, n, f);
        covered |= bits_of(&r);
    }
    return covered != bits_of(f) && fails("cover", p, n, f);
}

static bool footprint_fails(struct slim_partition p, unsigned n, const struct slim_range *f)
{
    const struct slim_partition to = slim_refine(p, n, f), wanted = must(p, n, f);

    if (to.mode != wanted.mode || to.by != wanted.by)
        return fails("row", p, n, f);
    if (!refines(to, p, n) || !is_precise(to, n, bits_of(f)))
        return fails("not precise enough", p, n, f);
    return parts_fail(to, n, f);
}

static bool partition_fails(struct slim_partition p, unsigned n)
{
    for (unsigned b = 0; b < n; b++)
        for (unsigned e = b; e < n; e++)
            for (unsigned k = 1; k <= (e > b ? e - b : 1); k++) {
                const struct slim_range f = {b, e, k};
                if ((e - b) % k == 0 && footprint_fails(p, n, &f))
                    return true;
            }
    return false;
}

static bool partitions_fail(unsigned n)
{
    bool failed = partition_fails(is(SLIM_COARSE, 0), n) || partition_fails(is(SLIM_FINE, 0), n);

    for (unsigned by = 1; by < n && !failed; by++) {
        failed = partition_fails(is(SLIM_SPLIT, by), n) || partition_fails(is(SLIM_PREFIX, by), n);
        if (by > 1 && n % by == 0)
            failed = failed || partition_fails(is(SLIM_BLOCK, by), n) ||
                     partition_fails(is(SLIM_STRIDE, by), n);
    }
    return failed;
}

/* ---- footprints that grow ------------------------------------------------------------------- */

/* The six rules: what f and i together are. False: there is no rule. */
static bool together(const struct slim_range *f, uint64_t i, uint32_t *bits)
{
    const bool one = !slim_empty(f) && f->b == f->e;

    *bits = (slim_empty(f) ? 0 : bits_of(f)) | 1u << i;
    return slim_empty(f) || one || *bits == bits_of(f) || i == f->e + f->k || i + f->k == f->b;
}

static bool growth_fails(struct slim_range f, uint64_t i)
{
    const struct slim_range was = f;
    uint32_t bits;
    const bool may = together(&f, i, &bits), does = slim_extend(&f, i);
    const uint32_t now = slim_empty(&f) ? 0 : bits_of(&f);

    if (may != does || (does && (now != bits || (f.e - f.b) % f.k || (f.b == f.e && f.k != 1))) ||
        (!does && (f.b != was.b || f.e != was.e || f.k != was.k)))
        return fails("growth", is(SLIM_COARSE, 0), (unsigned)i, &was);
    return false;
}

static bool all_growth_fails(void)
{
    bool failed = false;

    for (unsigned i = 0; i < MOST && !failed; i++) {
        failed = growth_fails(SLIM_EMPTY, i);
        for (unsigned b = 0; b < MOST; b++)
            for (unsigned e = b; e < MOST; e++)
                for (unsigned k = 1; k <= (e > b ? e - b : 1) && !failed; k++)
                    if ((e - b) % k == 0)
                        failed = growth_fails((struct slim_range){b, e, k}, i);
    }
    return failed;
}

bool slim_table_fails(void)
{
    bool failed = all_growth_fails();

    for (unsigned n = 1; n <= MOST && !failed; n++)
        failed = partitions_fail(n);
    return failed;
}
