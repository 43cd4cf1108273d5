/* t_extent.c - does a source say how far it has come? For each kind of source: what its units are,
 * that it never goes back, and that at its end all of it is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/frame/place.h"
#include "trace/binary/codec.h"
#include "trace/trace.h"

#define SYNTH "synth:seed=3,events=200k"

/* Reads to the end. What is done may not shrink, and in the middle it is neither nothing nor all.
 */
static struct source_extent read_all(struct source *s, uint64_t *events)
{
    struct err e = {0};
    struct source_extent last = {0, 0};
    struct batch b;
    bool between = false;

    assert_non_null(s);
    assert_non_null(s->extent);
    do {
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_true(s->extent->done >= last.done);
        last = *s->extent;
        between |= last.done > last.all / 4 && last.done < last.all / 4 * 3;
        *events = b.first - s->first;
    } while (b.records);
    if (last.all)
        assert_true(between);
    source_close(s);
    return last;
}

/* The generated trace in a file, as `sink` writes it. */
static void record(const struct place *p, bool text)
{
    struct err e = {0};
    const struct sink_info info = {.producer = NULL};
    FILE *out = fopen(p->file, "wb");
    struct source *from = source_open(SYNTH, &e);
    struct sink *to = text ? sink_text(out, &info, &e) : sink_binary(out, &info, CODEC_ZSTD, 0, &e);

    assert_int_equal(trace_pump(from, to, &e), 0);
    assert_int_equal(to->finish(to, &e), 0);
    assert_int_equal(fclose(out), 0);
    source_close(from);
}

static uint64_t file_bytes(const struct place *p)
{
    struct stat st;

    assert_int_equal(stat(p->file, &st), 0);
    return (uint64_t)st.st_size;
}

static void a_binary_file_counts_the_events_of_its_footer(void **state)
{
    const struct place *p = *state;
    struct err e = {0};
    uint64_t events;

    record(p, false);
    const struct source_extent x = read_all(source_open(p->file, &e), &events);
    assert_true(events >= 200000);
    assert_int_equal(x.all, events);
    assert_int_equal(x.done, events);
}

static void without_its_footer_it_counts_bytes(void **state)
{
    const struct place *p = *state;
    const char *lost;
    struct err e = {0};
    uint64_t events;

    record(p, false);
    assert_int_equal(truncate(p->file, (off_t)file_bytes(p) - 1), 0);
    const struct source_extent x = read_all(source_salvage(p->file, &lost, &e), &events);
    assert_non_null(lost); /* the text itself went with the source */
    assert_int_equal(x.all, file_bytes(p));
    assert_int_equal(x.done, file_bytes(p));
}

static void a_text_counts_bytes(void **state)
{
    const struct place *p = *state;
    struct err e = {0};
    uint64_t events;

    record(p, true);
    const struct source_extent x = read_all(source_open(p->file, &e), &events);
    assert_int_equal(x.all, file_bytes(p));
    assert_int_equal(x.done, file_bytes(p));
}

/* The file as a zstd frame, in its place. */
static void pack(const struct place *p)
{
    const size_t n = (size_t)file_bytes(p), cap = n + n / 16 + 1000;
    char *from = xmalloc(n), *to = xmalloc(cap);
    FILE *in = fopen(p->file, "rb");
    struct codec *c = codec_new();

    assert_int_equal(fread(from, 1, n, in), n);
    fclose(in);
    const size_t packed = codec_pack(c, CODEC_ZSTD, 1, from, n, to, cap);
    assert_true(packed > 0);
    place_put(p, to, packed);
    codec_free(c);
    free(from);
    free(to);
}

static void a_packed_file_counts_its_packed_bytes(void **state)
{
    const struct place *p = *state;
    struct err e = {0};
    uint64_t events;

    for (int text = 0; text < 2; text++) {
        record(p, text);
        pack(p);
        const struct source_extent x = read_all(source_open(p->file, &e), &events);
        assert_int_equal(x.all, file_bytes(p));
        assert_int_equal(x.done, file_bytes(p));
    }
}

static void the_generator_counts_events(void **state)
{
    struct err e = {0};
    uint64_t events;

    (void)state;
    const struct source_extent x = read_all(source_open(SYNTH, &e), &events);
    assert_int_equal(x.all, 200000);
    assert_int_equal(x.done, events);
}

static void a_twin_counts_its_accesses(void **state)
{
    struct err e = {0};
    uint64_t events;

    (void)state;
    const struct source_extent x =
        read_all(source_open("workload:xalan@lard,accesses=200k", &e), &events);
    assert_true(x.all > 190000 && x.all <= 200000); /* some are made before its threads begin */
    assert_true(x.done > x.all - x.all / 20);
}

/* It is as far as what was given out, not as what was read ahead. */
static void read_ahead_it_is_the_same(void **state)
{
    const struct place *p = *state;
    struct err e = {0};
    uint64_t events;
    struct batch b;

    record(p, false);
    struct source *s = source_ahead(source_open(p->file, &e));
    usleep(20000);
    assert_int_equal(source_next(s, &b, &e), 0);
    const uint64_t first = s->extent->done;
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(first, b.first - s->first);
    source_close(s);
    const struct source_extent x = read_all(source_ahead(source_open(p->file, &e)), &events);
    assert_int_equal(x.done, events);
    assert_int_equal(x.all, events);
}

static void nobody_knows_of_a_pipe(void **state)
{
    static const char text[] = "lardsim-text 1\nT0 io\n";
    struct err e = {0};
    uint64_t events;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    char *spec = xasprintf("/dev/fd/%d", ends[0]);
    if (access(spec, R_OK))
        skip();
    assert_int_equal(read_all(source_open(spec, &e), &events).all, 0);
    close(ends[0]);
    free(spec);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, place_make, place_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_binary_file_counts_the_events_of_its_footer),
        TEST(without_its_footer_it_counts_bytes),
        TEST(a_text_counts_bytes),
        TEST(a_packed_file_counts_its_packed_bytes),
        TEST(the_generator_counts_events),
        TEST(a_twin_counts_its_accesses),
        TEST(read_ahead_it_is_the_same),
        TEST(nobody_knows_of_a_pipe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
