/* t_compressed.c - gzip and zstd are told by content and taken off, whatever is inside; what is cut
 * off or damaged is an error; memory stays bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/frame/place.h"
#include "trace/binary/codec.h"

/* ---- packing -------------------------------------------------------------------------------- */

struct data {
    uint8_t *at; /* owns */
    size_t n;
};

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
    }
    return ~crc;
}

static void put32(uint8_t *to, uint64_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

/* Both libraries through the codec: a zstd frame, or raw deflate with gzip's header and trailer. */
static struct data pack(enum packing how, const void *from, size_t n)
{
    static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    const size_t cap = n + n / 16 + 1000, skip = how == PACKING_GZIP ? sizeof header : 0;
    struct data d = {xmalloc(skip + cap + 8), 0};
    struct codec *c = codec_new();
    const size_t packed =
        codec_pack(c, how == PACKING_GZIP ? CODEC_ZLIB : CODEC_ZSTD, 1, from, n, d.at + skip, cap);

    assert_true(packed > 0);
    codec_free(c);
    d.n = skip + packed;
    if (how == PACKING_GZIP) {
        memcpy(d.at, header, sizeof header);
        put32(d.at + d.n, crc32_of(from, n));
        put32(d.at + d.n + 4, n);
        d.n += 8;
    }
    return d;
}

static void append(struct data *to, struct data more)
{
    to->at = xrealloc(to->at, to->n + more.n, 1);
    memcpy(to->at + to->n, more.at, more.n);
    to->n += more.n;
    free(more.at);
}

static const enum packing both[] = {PACKING_GZIP, PACKING_ZSTD};

/* ---- files ---------------------------------------------------------------------------------- */

/* Reads to the end or an error. Returns the events, and the digest of their records. */
static uint64_t read_file(const struct place *p, uint64_t *identity, struct err *e)
{
    struct source *s = source_open(p->file, e);
    struct digest *d = digest_new();
    struct batch b;
    uint64_t n = 0;

    while (s && !source_next(s, &b, e) && b.records) {
        digest_add(d, b.rec, b.records * sizeof *b.rec);
        for (size_t i = 0; i < b.records; i += event_records(b.rec + i))
            n++;
    }
    *identity = digest_value(d);
    digest_free(d);
    source_close(s);
    return n;
}

/* Some events in each of the forms. */
static struct data trace(unsigned events, struct sink *(*open)(FILE *out, struct err *e))
{
    char *spec = xasprintf("synth:events=%u,ends=off", events);
    struct err e = {0};
    struct source *s = source_open(spec, &e);
    struct data d = {NULL, 0};
    char *at = NULL;
    FILE *out = open_memstream(&at, &d.n);
    struct sink *to = open(out, &e);

    assert_non_null(s);
    assert_non_null(to);
    assert_int_equal(trace_pump(s, to, &e), 0);
    assert_int_equal(to->finish(to, &e), 0);
    fclose(out);
    source_close(s);
    free(spec);
    d.at = (uint8_t *)at;
    return d;
}

static const struct sink_info no_info = {.producer = "t"};

static struct sink *binary(FILE *out, struct err *e)
{
    return sink_binary(out, &no_info, CODEC_ZSTD, 0, e);
}

static struct sink *text(FILE *out, struct err *e)
{
    return sink_text(out, &no_info, e);
}

static struct sink *std(FILE *out, struct err *e)
{
    return sink_std(out, &no_info, true, e);
}

static struct sink *(*const forms[])(FILE *out, struct err *e) = {binary, text, std};

/* ---- tests ---------------------------------------------------------------------------------- */

static void what_is_packed_reads_as_what_is_not(void **state)
{
    const struct place *p = *state;

    for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
        struct data plain = trace(20000, forms[f]);
        uint64_t identity, packed_identity;
        struct err e = {0};

        place_put(p, plain.at, plain.n);
        const uint64_t n = read_file(p, &identity, &e);
        assert_true(n > 1000);
        for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
            struct data packed = pack(both[k], plain.at, plain.n);

            place_put(p, packed.at, packed.n);
            assert_int_equal(read_file(p, &packed_identity, &e), n);
            if (e.code)
                fail_msg("%s", e.text);
            assert_true(packed_identity == identity);
            free(packed.at);
        }
        free(plain.at);
    }
}

static void members_and_frames_follow_each_other(void **state)
{
    static const uint8_t skippable[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    static const char parts[][20] = {"T0|r(x)", "|1\nT0|w(y)|2\n", "T1|r(x)|", "3\n"};
    const struct place *p = *state;

    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = {NULL, 0};
        struct err e = {0};
        uint64_t identity;

        if (both[k] == PACKING_ZSTD) {
            append(&d, (struct data){memcpy(xmalloc(sizeof skippable), skippable, sizeof skippable),
                                     sizeof skippable});
        }
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
            append(&d, pack(both[k], parts[i], strlen(parts[i])));
            append(&d, pack(both[k], "", 0));
        }
        place_put(p, d.at, d.n);
        assert_int_equal(read_file(p, &identity, &e), 3);
        if (e.code)
            fail_msg("%s", e.text);
        free(d.at);
    }
}

static void what_is_cut_off_is_an_error_at_every_byte(void **state)
{
    static const char text_trace[] = "lardsim-text 1\nT0 io\nT0 io\nT0 write 8 4\nT0 io\n";
    const struct place *p = *state;

    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = pack(both[k], text_trace, sizeof text_trace - 1);

        for (size_t n = 4; n < d.n; n++) {
            struct err e = {0};
            uint64_t identity;

            place_put(p, d.at, n);
            assert_true(read_file(p, &identity, &e) <= 4);
            assert_int_equal(e.code, LARD_TRACE);
            if (!strstr(e.text, "data end too early (truncated?)"))
                fail_msg("%zu bytes: %s", n, e.text);
        }
        free(d.at);
    }
}

static void what_is_cut_off_is_an_error_in_a_binary_trace(void **state)
{
    const struct place *p = *state;
    struct data plain = trace(200000, binary);

    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = pack(both[k], plain.at, plain.n);
        const char *lost = NULL;
        struct err e = {0};
        uint64_t identity;
        struct source *s;
        struct batch b;

        place_put(p, d.at, d.n / 2);
        (void)read_file(p, &identity, &e);
        assert_int_equal(e.code, LARD_TRACE);
        assert_non_null(strstr(e.text, "data end too early (truncated?)"));
        err_clear(&e);
        s = source_salvage(p->file, &lost, &e); /* what comes before can be had */
        assert_non_null(s);
        while (!source_next(s, &b, &e) && b.records)
            continue;
        assert_int_equal(e.code, 0);
        assert_non_null(strstr(lost, "data end too early (truncated?)"));
        source_close(s);
        free(d.at);
    }
    free(plain.at);
}

/* No more than 4 events may come of it, and never a crash; the checksum of gzip, and in part that
 * of the text's own grammar, tells most damage. */
static void damage_anywhere_does_no_harm(void **state)
{
    static const char text_trace[] = "lardsim-text 1\nT0 io\nT0 io\nT0 write 8 4\nT0 io\n";
    const struct place *p = *state;

    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = pack(both[k], text_trace, sizeof text_trace - 1);
        unsigned noticed = 0;

        for (size_t bit = 0; bit < 8 * d.n; bit++) {
            struct err e = {0};
            uint64_t identity;

            d.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
            place_put(p, d.at, d.n);
            (void)read_file(p, &identity, &e);
            noticed += e.code == LARD_TRACE;
            d.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(noticed > 4 * d.n);
        free(d.at);
    }
}

static void what_follows_the_packed_data_is_an_error(void **state)
{
    static const char std_trace[] = "T0|r(x)|1\n";
    const struct place *p = *state;

    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = pack(both[k], std_trace, sizeof std_trace - 1);
        struct err e = {0};
        uint64_t identity;

        append(&d, (struct data){(uint8_t *)xstrdup("rubbish"), 7});
        place_put(p, d.at, d.n);
        assert_int_equal(read_file(p, &identity, &e), 1);
        assert_int_equal(e.code, LARD_TRACE);
        assert_non_null(strstr(e.text, "trace:2: "));
        assert_non_null(strstr(e.text, both[k] == PACKING_GZIP ? "gzip data" : "zstd data"));
        free(d.at);
    }
}

static struct data zeros(size_t n)
{
    return (struct data){xcalloc(n, 1), n};
}

/* As gzip has it; and between its members there may be nothing. */
static void zeros_behind_gzip_are_padding(void **state)
{
    static const char one[] = "T0|r(x)|1\n", two[] = "T0|w(x)|2\n";
    static const size_t paddings[] = {1, 2, 511, 512, 65536, 200000};
    const struct place *p = *state;

    for (size_t i = 0; i < ARRAY_SIZE(paddings); i++)
        for (int then = 0; then < 3; then++) { /* nothing, a byte, a member */
            struct data d = pack(PACKING_GZIP, one, sizeof one - 1);
            struct err e = {0};
            uint64_t identity;
            char at[40];

            append(&d, pack(PACKING_GZIP, two, sizeof two - 1));
            append(&d, zeros(paddings[i]));
            snprintf(at, sizeof at, "byte %zu,", d.n);
            if (then == 1)
                append(&d, (struct data){(uint8_t *)xstrdup("!"), 1});
            if (then == 2)
                append(&d, pack(PACKING_GZIP, two, sizeof two - 1));
            place_put(p, d.at, d.n);
            assert_int_equal(read_file(p, &identity, &e), 2);
            assert_int_equal(e.code, then ? LARD_TRACE : LARD_DONE);
            if (then && !strstr(e.text, at))
                fail_msg("the error must name %s: %s", at, e.text);
            free(d.at);
        }
}

static void nothing_and_what_is_packed_twice_are_errors(void **state)
{
    const struct place *p = *state;

    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = pack(both[k], "", 0), twice = pack(both[1 - k], d.at, d.n);
        struct err e = {0};

        place_put(p, d.at, d.n);
        assert_null(source_open(p->file, &e));
        assert_non_null(strstr(e.text, "holds nothing once it is unpacked"));
        err_clear(&e);
        place_put(p, twice.at, twice.n);
        assert_null(source_open(p->file, &e));
        assert_non_null(strstr(e.text, "packed twice"));
        err_clear(&e);
        place_put(p, d.at, 4);
        assert_null(source_open(p->file, &e));
        assert_non_null(strstr(e.text, "data end too early"));
        free(d.at);
        free(twice.at);
    }
}

/* A line without end, 256 MiB of it, in some KiB: an error after the longest line, and no memory.
 */
static void a_bomb_is_read_in_steps(void **state)
{
    enum { PIECE = 1 << 22, PIECES = 64 };
    const struct place *p = *state;
    char *piece = xmalloc(PIECE);
    struct rusage before, after;

    memset(piece, 'x', PIECE);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
        struct data d = pack(both[k], "T0|r(", 5), one = pack(both[k], piece, PIECE);
        struct err e = {0};
        uint64_t identity;

        for (int i = 0; i < PIECES; i++) {
            struct data copy = {memcpy(xmalloc(one.n), one.at, one.n), one.n};

            append(&d, copy);
        }
        assert_true(d.n < PIECE);
        place_put(p, d.at, d.n);
        (void)read_file(p, &identity, &e);
        assert_non_null(strstr(e.text, "trace:1: the line is longer than 65536 bytes"));
        free(d.at);
        free(one.at);
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10);
    free(piece);
}

static void a_pipe_may_be_packed(void **state)
{
    static const char std_trace[] = "T0|r(x)|1\nT0|w(x)|1\n";
    struct data d = pack(PACKING_GZIP, std_trace, sizeof std_trace - 1);
    struct place p = {.dir = NULL};
    struct err e = {0};
    uint64_t identity;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], d.at, d.n), d.n);
    close(ends[1]);
    p.file = xasprintf("/dev/fd/%d", ends[0]);
    if (!access(p.file, R_OK))
        assert_int_equal(read_file(&p, &identity, &e), 2);
    assert_int_equal(e.code, 0);
    close(ends[0]);
    free(p.file);
    free(d.at);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, place_make, place_remove)
    const struct CMUnitTest tests[] = {
        TEST(what_is_packed_reads_as_what_is_not),
        TEST(members_and_frames_follow_each_other),
        TEST(what_is_cut_off_is_an_error_at_every_byte),
        TEST(what_is_cut_off_is_an_error_in_a_binary_trace),
        TEST(damage_anywhere_does_no_harm),
        TEST(what_follows_the_packed_data_is_an_error),
        TEST(zeros_behind_gzip_are_padding),
        TEST(nothing_and_what_is_packed_twice_are_errors),
        TEST(a_bomb_is_read_in_steps),
        TEST(a_pipe_may_be_packed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
