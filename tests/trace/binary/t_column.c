/* t_column.c - columns of numbers and what is under them (codecs, varints): what goes in comes out
 * and costs what it should; what is not whole is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "tests/trace/wild.h"
#include "trace/binary/codec.h"
#include "trace/binary/column.h"

static const enum trace_codec all_codecs[] = {CODEC_RAW, CODEC_ZSTD, CODEC_ZLIB};

/* ---- columns -------------------------------------------------------------------------------- */

/* Codes n numbers, decodes, compares; returns the bytes. */
static size_t groups_round(enum trace_codec how, const uint64_t *v, size_t n, struct groups groups)
{
    struct column_encoder *to = column_encoder_new(how, how == CODEC_RAW ? 0 : 1);
    struct column_decoder *from = column_decoder_new();
    uint64_t *back = xmalloc((n + 1) * sizeof *back);
    struct bytes b = {0};
    const char *what = "";

    back[n] = 0xfeed;
    bytes_room(&b, 1);
    column_put(to, &b, v, n, groups);
    uint8_t *exact = xmalloc(b.n); /* so that reading too far is seen */
    memcpy(exact, b.at, b.n);
    struct byte_slice s = {exact, exact + b.n};
    if (column_get(from, &s, back, n, groups, &what))
        fail_msg("%zu numbers: %s", n, what);
    assert_ptr_equal(s.at, s.end);
    assert_memory_equal(v, back, n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        if (v[i] > column_bound(from) || (column_constant(from) && v[i] != column_bound(from)))
            fail_msg("number %zu of %zu is not within the bound", i, n);
    assert_int_equal(back[n], 0xfeed);
    const size_t bytes = b.n;
    column_encoder_free(to);
    column_decoder_free(from);
    bytes_free(&b);
    free(exact);
    free(back);
    return bytes;
}

/* In two groups. */
static size_t column_round(enum trace_codec how, const uint64_t *v, size_t n)
{
    const uint32_t length[2] = {(uint32_t)(n / 3), (uint32_t)(n - n / 3)};

    return groups_round(how, v, n, (struct groups){length, 2});
}

static const size_t lengths[] = {0, 1, 2, 3, 255, 256, 257, 511, 1000, 65535, 65536};

enum pattern {
    CONSTANT,
    STRIDE,
    DOWN,
    EDGES,
    TOP,
    OUTLIERS,
    NOISE,
    BYTES,
    PLACES,
    SCATTERED,
    PATTERNS
};

static uint64_t pattern_at(enum pattern p, size_t i, struct rng *r)
{
    switch (p) {
    case CONSTANT:
        return UINT64_MAX - 1;
    case STRIDE:
        return ((uint64_t)1 << 40) + 24 * i;
    case DOWN:
        return 5 - 4096 * (uint64_t)i; /* wraps */
    case EDGES:
        return wild_number(r);
    case TOP:
        return rng_below(r, 2) << 63; /* leaves one bit after the shift */
    case OUTLIERS:
        return rng_chance(r, 1, 200) ? rng_next(r) : 1000 + rng_below(r, 300);
    case NOISE:
        return rng_next(r);
    case BYTES:
        return (rng_next(r) & 0xff) << 56; /* all eight bits of the highest byte */
    case PLACES: /* in regions of different sizes, the last at the end of memory */
        return rng_below(r, 2) ? ((uint64_t)1 << 32) + 8 * rng_below(r, 100000)
               : rng_below(r, 2)
                   ? ((uint64_t)1 << 44) + ((uint64_t)i / 4096 << 27) + 8 * rng_below(r, 16)
                   : 0 - 8 * (1 + rng_below(r, 1000));
    case SCATTERED: /* over more pages than regions are looked for in */
        return rng_below(r, 5000) << 30 | rng_below(r, 5);
    case PATTERNS:
        break;
    }
    return 0;
}

static void columns_of_every_pattern_and_length_come_back(void **state)
{
    uint64_t *v = xmalloc(COLUMN_MAX * sizeof *v);
    struct rng r;

    (void)state;
    rng_seed(&r, 1);
    for (int p = 0; p < PATTERNS; p++)
        for (size_t l = 0; l < ARRAY_SIZE(lengths); l++) {
            for (size_t i = 0; i < lengths[l]; i++)
                v[i] = pattern_at((enum pattern)p, i, &r);
            for (size_t k = 0; k < ARRAY_SIZE(all_codecs); k++)
                column_round(all_codecs[k], v, lengths[l]);
        }
    free(v);
}

/* All widths, with the number of all ones, which is no marker where nothing is escaped. */
static void numbers_of_every_width_come_back(void **state)
{
    uint64_t v[1024];
    struct rng r;

    (void)state;
    rng_seed(&r, 7);
    for (unsigned bits = 1; bits <= 64; bits++)
        for (size_t n = 1021; n <= 1024; n++) {
            const uint64_t ones = UINT64_MAX >> (64 - bits);
            for (size_t i = 0; i < n; i++)
                v[i] = i % 7 == 3 ? ones : rng_next(&r) & ones;
            column_round(CODEC_RAW, v, n);
        }
}

static void markers_in_the_data_come_back(void **state)
{
    uint64_t v[1024];

    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        const uint64_t ones = UINT64_MAX >> (64 - bits);
        for (size_t i = 0; i < 1024; i++)
            v[i] = i % 99 == 3 ? ones : i % 99 == 4 ? ones - 1 : i & 1;
        column_round(CODEC_ZSTD, v, 1024);
        v[0] = ones + 1; /* one escape more, or 0 */
        column_round(CODEC_ZSTD, v, 1024);
        v[0] = UINT64_MAX;
        column_round(CODEC_RAW, v, 1024);
    }
}

static void a_column_costs_what_it_holds(void **state)
{
    uint64_t *v = xmalloc(COLUMN_MAX * sizeof *v);
    struct rng r;

    (void)state;
    rng_seed(&r, 2);
    memset(v, 0, COLUMN_MAX * sizeof *v);
    assert_int_equal(column_round(CODEC_RAW, v, 0), 0);
    assert_in_range(column_round(CODEC_RAW, v, COLUMN_MAX), 1, 5);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = UINT64_MAX;
    assert_in_range(column_round(CODEC_RAW, v, COLUMN_MAX), 1, 14);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = ((uint64_t)1 << 47) + 64 * rng_below(&r, 32); /* shift and base leave five bits */
    assert_in_range(column_round(CODEC_RAW, v, COLUMN_MAX), COLUMN_MAX / 8 * 5,
                    COLUMN_MAX / 8 * 5 + 16);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = pattern_at(STRIDE, i, &r); /* three bits each, and where a group begins an escape */
    assert_in_range(column_round(CODEC_RAW, v, COLUMN_MAX), 1, COLUMN_MAX / 8 * 3 + 64);
    assert_in_range(column_round(CODEC_ZSTD, v, COLUMN_MAX), 1, 128);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = rng_next(&r); /* never more than what they are */
    assert_in_range(column_round(CODEC_ZSTD, v, COLUMN_MAX), 8 * COLUMN_MAX, 8 * COLUMN_MAX + 32);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = pattern_at(OUTLIERS, i, &r); /* nine bits each, and a few escapes */
    assert_in_range(column_round(CODEC_RAW, v, COLUMN_MAX), COLUMN_MAX, 5 * COLUMN_MAX / 4);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = pattern_at(PLACES, i, &r); /* not 61 bits, but 17, 4 or 10, and which */
    assert_in_range(column_round(CODEC_ZSTD, v, COLUMN_MAX), COLUMN_MAX, 9 * COLUMN_MAX / 4);
    free(v);
}

/* Each group has a region of its own, and one that all have: a bit tells which. */
static void groups_have_their_own_regions(void **state)
{
    static const uint32_t groups[] = {1, 2, 9, 64, 300, 1024, 1025};
    uint64_t *v = xmalloc(COLUMN_MAX * sizeof *v);
    uint32_t *length = xcalloc(2048, sizeof *length);
    struct rng r;

    (void)state;
    rng_seed(&r, 10);
    for (size_t k = 0; k < ARRAY_SIZE(groups); k++) {
        size_t n = 0;
        for (uint32_t g = 0; g < groups[k]; g++) {
            length[g] = g % 5 == 3 ? 0 : COLUMN_MAX / groups[k] - g % 7;
            for (uint32_t i = 0; i < length[g]; i++)
                v[n++] = rng_chance(&r, 1, 2) ? 8 * rng_below(&r, 100000)
                                              : (g + UINT64_C(9)) << 40 | 8 * rng_below(&r, 16);
        }
        const size_t size = groups_round(CODEC_RAW, v, n, (struct groups){length, groups[k]});
        if (groups[k] <= 64) /* 17 or 4 bits, and 1 */
            assert_in_range(size, n * 11 / 8, n * 12 / 8 + 8 * groups[k]);
    }
    free(length);
    free(v);
}

/* Bits are quicker; planes are taken where they are clearly smaller. */
/* Plans come from strips of 64 numbers, one in eight: here those need 8 bits, and the rest 10. */
static void a_sample_that_lies_is_found_out(void **state)
{
    uint64_t *v = xcalloc(COLUMN_MAX, sizeof *v);
    struct rng r;

    (void)state;
    rng_seed(&r, 8);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = rng_below(&r, i / 64 % 8 == i / 512 * 5 % 8 ? 1 << 8 : 1 << 10);
    assert_in_range(column_round(CODEC_ZSTD, v, COLUMN_MAX), 1, COLUMN_MAX * 11 / 8);
    free(v);
}

static void repetition_is_compressed(void **state)
{
    uint64_t *v = xmalloc(COLUMN_MAX * sizeof *v), few[64];
    struct rng r;

    (void)state;
    rng_seed(&r, 8);
    for (size_t i = 0; i < ARRAY_SIZE(few); i++)
        few[i] = rng_below(&r, 1 << 20);
    for (size_t i = 0; i < COLUMN_MAX; i++)
        v[i] = few[i % ARRAY_SIZE(few)];
    assert_in_range(column_round(CODEC_ZSTD, v, COLUMN_MAX), 1, COLUMN_MAX / 32);
    assert_in_range(column_round(CODEC_ZLIB, v, COLUMN_MAX), 1, COLUMN_MAX / 32);
    free(v);
}

/* A plane that says it is small and unpacks to more than the column holds. */
static void compressed_planes_hold_exactly_their_numbers(void **state)
{
    static const enum trace_codec how[] = {CODEC_ZSTD, CODEC_ZLIB};
    struct codec *c = codec_new();
    uint8_t packed[16384], *big = xcalloc(1 << 20, 1);
    char to[101] = {0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t n = codec_pack(c, how[i], 1, big, 1 << 20, packed, sizeof packed);
        assert_int_not_equal(n, 0);
        assert_int_equal(codec_unpack(c, how[i], packed, n, to, 100), -1);
        n = codec_pack(c, how[i], 1, big, 100, packed, sizeof packed);
        assert_int_equal(codec_unpack(c, how[i], packed, n, to, 100), 0);
        assert_int_equal(codec_unpack(c, how[i], packed, n, to, 99), -1);
        assert_int_equal(codec_unpack(c, how[i], packed, n, to, 101), -1);
        assert_int_equal(codec_unpack(c, how[i], packed, n - 1, to, 100), -1);
        assert_int_equal(codec_unpack(c, how[i], packed, n + 1, to, 100), -1);
        assert_int_equal(to[100], 0);
    }
    free(big);
    codec_free(c);
}

static void levels_are_checked(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(codec_level(CODEC_ZSTD, 0, &e), 1);
    assert_int_equal(codec_level(CODEC_ZLIB, 0, &e), 6);
    assert_int_equal(codec_level(CODEC_ZLIB, 9, &e), 9);
    assert_int_equal(codec_level(CODEC_RAW, 0, &e), 0);
    assert_int_equal(e.code, 0);
    assert_int_equal(codec_level(CODEC_ZLIB, 10, &e), -1);
    assert_int_equal(e.code, LARD_USAGE);
    err_clear(&e);
    assert_int_equal(codec_level(CODEC_RAW, 1, &e), -1);
    err_clear(&e);
    assert_int_equal(codec_level(CODECS, 0, &e), -1);
}

static void varints_have_at_most_64_bits(void **state)
{
    static const uint64_t values[] = {0, 127, 128, 16383, 16384, UINT64_MAX, (uint64_t)1 << 63};
    static const uint8_t over[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0};
    struct byte_slice s = {over, over + sizeof over};
    uint64_t v;

    (void)state;
    assert_int_equal(slice_varint(&s, &v), -1);
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        struct bytes b = {0};
        bytes_varint(&b, values[i]);
        s = (struct byte_slice){b.at, b.at + b.n};
        assert_int_equal(slice_varint(&s, &v), 0);
        assert_true(v == values[i]);
        assert_ptr_equal(s.at, s.end);
        s = (struct byte_slice){b.at, b.at + b.n - 1};
        assert_int_equal(slice_varint(&s, &v), -1);
        bytes_free(&b);
    }
}

/* The head: transform and store, shift, width, base, escapes; then the escapes, if any, as a
 * column, then bits, or planes: 0 a constant, 1 raw, 2 zstd, 3 deflate. Regions: 2, shift, their
 * number, columns of bases and of widths; lists, with columns of their lengths and regions; a
 * column of places, the number of bytes, bits. */
static void columns_that_contradict_themselves_are_refused(void **state)
{
#define BASES_WIDTHS                2, 1, 2, 0, 0, 8, 0, 0, 3, 9, 0, 0, 3, 0, 0, 0x1a
#define REGIONS(place, bytes)       BASES_WIDTHS, 0, 0, 0, 2, 0, 0, place, bytes
#define LISTED(lists, length, r, p) BASES_WIDTHS, lists, 0, 0, 0, length, 0, 0, 0, 8, 0, 0, r, p
    static const struct {
        const char *why; /* NULL: is right */
        uint8_t n, bytes[48];
        uint64_t first, second; /* the numbers */
    } hand[] = {
        {NULL, 6, {0, 3, 4, 7, 0, 0x98}, 71, 79},
        {NULL, 8, {16, 3, 1, 7, 0, 1, 9, 8}, 79, 71},
        {NULL, 8, {17, 3, 1, 7, 0, 1, 4, 3}, 23, 7},
        {NULL, 11, {0, 0, 1, 7, 1, 0, 0, 0, 8, 0, 1}, 15, 7},
        {NULL, 25, {REGIONS(4, 1), 13}, 3 + 2 * 1, 9 + 2 * 3},
        {NULL, 37, {LISTED(1, 2, 1, 0), 0, 0, 2, 0, 0, 1, 1, 15}, 3 + 2 * 3, 9 + 2 * 3},
        {"bad head", 2, {0, 0}, 0, 0},
        {"bad head", 6, {3, 3, 4, 7, 0, 0x98}, 0, 0},
        {"bad head", 6, {32, 3, 4, 7, 0, 0x98}, 0, 0},
        {"bad head", 6, {18, 3, 4, 7, 0, 0x98}, 0, 0},
        {"bad head", 6, {0, 64, 4, 7, 0, 0x98}, 0, 0},
        {"bad head", 32, {0, 0, 57, 7, 0, 0x98}, 0, 0},
        {"bad head", 32, {16, 0, 9, 0, 0, 1, 9, 8}, 0, 0},
        {"bad head", 10, {0, 0, 0, 0, 1, 0, 0, 0, 8, 0}, 0, 0},    /* an escape without bits */
        {"bad head", 32, {16, 0, 8, 0, 1}, 0, 0},                  /* and where none can be */
        {"bad head", 11, {0, 0, 1, 0, 3, 0, 0, 0, 8, 0, 3}, 0, 0}, /* more escapes than numbers */
        {"bad head", 16, {0, 0, 1, 0, 1, 0, 0, 1, 8, 1, 0, 0, 0, 8, 0, 1}, 0, 0}, /* in escapes */
        {"bits ends too early", 5, {0, 3, 4, 7, 0}, 0, 0},
        {"ends too early", 5, {16, 0, 1, 0, 0}, 0, 0},
        {"ends too early", 7, {16, 0, 1, 0, 0, 1, 9}, 0, 0},
        {"ends too early", 7, {16, 0, 1, 0, 0, 2, 1}, 0, 0},
        {"ends too early", 8, {16, 0, 1, 0, 0, 2, 0x7f, 1}, 0, 0},
        {"unknown form", 8, {16, 0, 1, 0, 0, 4, 1, 1}, 0, 0},
        {"hold what it should", 9, {16, 0, 1, 0, 0, 2, 2, 1, 1}, 0, 0},
        {"hold what it should", 9, {16, 0, 1, 0, 0, 3, 2, 1, 1}, 0, 0},
        {"escaped numbers", 11, {0, 0, 1, 7, 1, 0, 0, 0, 8, 0, 0}, 0, 0}, /* too few */
        {"escaped numbers", 11, {0, 0, 1, 7, 1, 0, 0, 0, 8, 0, 3}, 0, 0}, /* too many */
        {"bad head", 2, {2, 0}, 0, 0},
        {"bad head", 24, {2, 64, 1}, 0, 0},
        {"bad head", 24, {2, 0, 0}, 0, 0},
        {"bad head", 24, {2, 0, 0x81, 2}, 0, 0}, /* 257 regions */
        {"bad head", 24, {2, 1, 1, 2}, 0, 0},    /* regions in regions */
        {"too many bits", 24, {2, 1, 1, 0, 0, 0, 3, 0, 0, 0, 0, 57, 0, 0, 0, 0, 0, 0, 1, 0}, 0, 0},
        {"none of its regions", 25, {REGIONS(12, 1), 13}, 0, 0},
        {"regions end too early", 25, {REGIONS(4, 2), 13}, 0, 0},
        {"not as many bits", 24, {REGIONS(4, 0)}, 0, 0},
        {"not as many bits", 26, {REGIONS(4, 2), 13, 0}, 0, 0},
        {"bad lists", 16, {BASES_WIDTHS}, 0, 0},
        {"bad lists", 37, {LISTED(2, 2, 1, 0), 0, 0, 2, 0, 0, 1, 1, 15}, 0, 0},
        {"bad lists", 37, {LISTED(1, 3, 1, 0), 0, 0, 2, 0, 0, 1, 1, 15}, 0, 0},
        {"bad lists", 37, {LISTED(1, 2, 2, 0), 0, 0, 2, 0, 0, 1, 1, 15}, 0, 0},
        {"none of its regions", 37, {LISTED(1, 2, 1, 0), 0, 0, 2, 0, 0, 2, 1, 15}, 0, 0},
        {"none of its regions", 29, {BASES_WIDTHS, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 15}, 0, 0},
    };
    struct column_decoder *c = column_decoder_new();
    const uint32_t length = 2;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(hand); i++) {
        const char *what = NULL;
        uint64_t v[3] = {0, 0, 0xfeed};
        uint8_t *exact = xmalloc(hand[i].n);
        memcpy(exact, hand[i].bytes, hand[i].n);
        struct byte_slice s = {exact, exact + hand[i].n};
        if (column_get(c, &s, v, 2, (struct groups){&length, 1}, &what) != (hand[i].why ? -1 : 0))
            fail_msg("%zu: %s", i, what ? what : "no error");
        if (hand[i].why && !strstr(what, hand[i].why))
            fail_msg("%zu: expected \"%s\" in \"%s\"", i, hand[i].why, what);
        if (!hand[i].why && (v[0] != hand[i].first || v[1] != hand[i].second))
            fail_msg("%zu: %ju and %ju", i, (uintmax_t)v[0], (uintmax_t)v[1]);
        assert_int_equal(v[2], 0xfeed);
        free(exact);
    }
    column_decoder_free(c);
#undef LISTED
#undef REGIONS
#undef BASES_WIDTHS
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_every_pattern_and_length_come_back),
        cmocka_unit_test(numbers_of_every_width_come_back),
        cmocka_unit_test(markers_in_the_data_come_back),
        cmocka_unit_test(a_column_costs_what_it_holds),
        cmocka_unit_test(groups_have_their_own_regions),
        cmocka_unit_test(a_sample_that_lies_is_found_out),
        cmocka_unit_test(repetition_is_compressed),
        cmocka_unit_test(columns_that_contradict_themselves_are_refused),
        cmocka_unit_test(compressed_planes_hold_exactly_their_numbers),
        cmocka_unit_test(levels_are_checked),
        cmocka_unit_test(varints_have_at_most_64_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
