/* t_summary.c - what a file says of itself, read from footer, headers or, through a pipe, from all
 * of it; and salvage and sources by path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/trace/trace_file.h"
#include "tests/trace/wild.h"
#include "trace/binary/binary.h"

enum { EVENTS = 70000, FIRST = 1000 }; /* two blocks */

struct on_disk {
    char folder[256], path[300];
    struct event *rec;
    size_t records;
    struct file f; /* the whole trace */
    struct names *names;
};

static void disk_put(struct on_disk *d, const void *at, size_t n)
{
    FILE *out = fopen(d->path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(at, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

static int setup(void **state)
{
    const struct sink_info info = {.producer = "t_summary", .first = FIRST, .granularity = 8};
    struct on_disk *d = xcalloc(1, sizeof *d);
    const char *tmp = getenv("TMPDIR");
    struct err e = {0};

    snprintf(d->folder, sizeof d->folder, "%s/t_summary.XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(d->folder));
    snprintf(d->path, sizeof d->path, "%s/x.trace", d->folder);
    d->rec = xcalloc(EVENTS, EVENT_RECORDS * sizeof *d->rec);
    d->records = wild_events(1, EVENTS, d->rec);
    d->names = names_new();
    names_add(d->names, NAME_THREAD, 0, "main", &e);
    d->f = file_write(d->rec, d->records, d->names, &info, CODEC_ZSTD);
    disk_put(d, d->f.at, d->f.n);
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    struct on_disk *d = *state;

    unlink(d->path);
    rmdir(d->folder);
    free(d->rec);
    free(d->f.at);
    names_free(d->names);
    free(d);
    return 0;
}

static void summarize(const char *spec, struct trace_summary *to)
{
    struct err e = {0};

    memset(to, 0x5a, sizeof *to);
    if (trace_summarize(spec, to, &e))
        fail_msg("%s", e.text);
    assert_int_equal(e.code, 0);
}

/* By its own count, to check the footer's. */
static void counts_are_right(const struct on_disk *d, const struct trace_summary *got)
{
    struct trace_summary want = {0};
    static bool seen[MAX_THREADS];

    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < d->records; i += event_records(d->rec + i)) {
        const struct event *ev = &d->rec[i];
        want.kinds[ev->kind]++;
        want.kinds[COUNT_C11] += (ev->flags & EVF_C11) != 0;
        want.kinds[COUNT_DEPENDENT] += event_is_access(ev) && ev->flags & EVF_DEPENDENT;
        want.kinds[COUNT_REREADS] += ev->kind == EV_WAITED ? ev->aux : 0;
        want.kinds[COUNT_OUTCOMES] += ev->kind == EV_BRANCHES ? ev[1].size : 0;
        want.kinds[COUNT_UNINSTRUMENTED] += ev->kind == EV_UNINSTRUMENTED ? ev->aux : 0;
        want.threads += !seen[d->rec[i].tid];
        seen[d->rec[i].tid] = true;
    }
    assert_true(got->counted);
    assert_memory_equal(got->kinds, want.kinds, sizeof want.kinds);
    assert_int_equal(got->threads, want.threads);
    assert_true(got->identity == digest_bytes(d->rec, d->records * sizeof *d->rec));
    assert_int_equal(got->events, EVENTS);
}

static void a_whole_file_tells_all_from_its_footer(void **state)
{
    const struct on_disk *d = *state;
    struct trace_summary t;

    summarize(d->path, &t);
    assert_string_equal(t.format, "lardsim-trace 2");
    assert_string_equal(t.producer, "t_summary");
    assert_int_equal(t.first, FIRST);
    assert_int_equal(t.granularity, 8);
    assert_int_equal(t.blocks, 3); /* one of names */
    assert_true(t.complete);
    assert_string_equal(t.damage, "");
    assert_int_equal(t.file_bytes, d->f.n);
    assert_int_equal(t.good_bytes, d->f.n);
    counts_are_right(d, &t);
}

static void a_payload_is_not_read(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;

    d->f.at[d->f.n / 2] ^= 1;
    disk_put(d, d->f.at, d->f.n);
    summarize(d->path, &t);
    assert_true(t.complete);
}

/* Opens the reading end of a pipe that holds n bytes; the writer is a child process. */
static int pipe_with(const void *at, size_t n)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *p = at;
        close(ends[0]);
        for (ssize_t k = 1; n && k > 0; p += k, n -= (size_t)k)
            k = write(ends[1], p, n);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static void a_pipe_tells_the_same_as_the_file(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary file, t;
    char path[64];
    const int fd = pipe_with(d->f.at, d->f.n);

    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    summarize(d->path, &file);
    summarize(path, &t);
    close(fd);
    counts_are_right(d, &t);
    assert_true(t.complete);
    assert_int_equal(t.blocks, file.blocks);
    assert_int_equal(t.file_bytes, file.file_bytes);
    assert_int_equal(t.good_bytes, file.good_bytes);
    assert_true(t.identity == file.identity);
}

static void a_pipe_that_is_cut_off_tells_where(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;
    char path[64];
    const int fd = pipe_with(d->f.at, d->f.n - 1);

    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    summarize(path, &t);
    close(fd);
    assert_false(t.complete);
    assert_non_null(strstr(t.damage, "truncated"));
    assert_int_equal(t.events, EVENTS);
    assert_int_equal(t.file_bytes, d->f.n - 1);
    assert_true(t.good_bytes < d->f.n - TRAILER_BYTES);
}

static void a_sink_writes_to_a_pipe_and_a_source_reads_from_it(void **state)
{
    const struct on_disk *d = *state;
    struct err e = {0};
    int ends[2];
    char path[64];

    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *out = fdopen(ends[1], "wb");
        struct sink *to = sink_binary(out, &(struct sink_info){0}, CODEC_ZLIB, 1, &e);
        for (size_t i = 0; to && i < d->records; i += event_records(d->rec + i))
            to->event(to, d->rec + i, &e);
        if (to)
            to->finish(to, &e);
        fclose(out);
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct source *s = source_open(path, &e);
    assert_non_null(s);
    assert_int_equal(read_and_compare(s, d->rec, d->records, &e), d->records);
    assert_int_equal(e.code, 0);
    assert_int_equal(strncmp(s->producer, "lardsim ", 8), 0);
    source_close(s);
    close(ends[0]);
}

static void a_file_cut_off_tells_what_is_whole(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;

    disk_put(d, d->f.at, d->f.n - 1);
    summarize(d->path, &t);
    assert_false(t.complete);
    assert_false(t.counted);
    assert_int_equal(t.events, EVENTS);
    assert_int_equal(t.blocks, 3);
    assert_int_equal(t.file_bytes, d->f.n - 1);
    assert_non_null(strstr(t.damage, "end mark"));
    const uint64_t footer_at = t.good_bytes;

    disk_put(d, d->f.at, footer_at);
    summarize(d->path, &t);
    assert_int_equal(t.events, EVENTS);
    assert_int_equal(t.good_bytes, footer_at);
    assert_non_null(strstr(t.damage, "(truncated?)"));

    disk_put(d, d->f.at, footer_at - 1); /* the second block of events is not whole */
    summarize(d->path, &t);
    assert_int_equal(t.events, BLOCK_EVENTS);
    assert_int_equal(t.blocks, 2);
    assert_true(t.good_bytes < footer_at);
    assert_non_null(strstr(t.damage, "block 2 at byte"));
    assert_non_null(strstr(t.damage, "cut off"));

    disk_put(d, d->f.at, t.good_bytes + 20);
    summarize(d->path, &t);
    assert_int_equal(t.events, BLOCK_EVENTS);
    assert_non_null(strstr(t.damage, "header is cut off"));
}

static void the_summary_of_a_file_cut_off_at_any_byte_is_never_complete(void **state)
{
    struct on_disk *d = *state;
    const struct sink_info info = {.producer = "small"};
    struct file f = file_write(d->rec, 1, NULL, &info, CODEC_ZSTD);
    struct trace_summary t;
    struct err e = {0};

    for (size_t n = 0; n < f.n; n++) {
        disk_put(d, f.at, n);
        if (trace_summarize(d->path, &t, &e)) {
            assert_int_equal(e.code, LARD_TRACE);
            err_clear(&e);
            continue;
        }
        assert_false(t.complete);
        assert_true(t.good_bytes <= n);
        assert_string_not_equal(t.damage, "");
    }
    disk_put(d, f.at, f.n);
    summarize(d->path, &t);
    assert_true(t.complete);
    free(f.at);
}

static void bytes_after_the_end_are_damage(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;

    d->f.at = xrealloc(d->f.at, d->f.n + 1, 1);
    d->f.at[d->f.n] = 0;
    disk_put(d, d->f.at, d->f.n + 1);
    summarize(d->path, &t);
    assert_false(t.complete);
    assert_int_equal(t.events, EVENTS);
    assert_non_null(strstr(t.damage, "end mark"));
}

/* 10 GB that take no room on the disk: whoever reads them all takes longer than a test may. */
static void a_huge_file_of_zeros_behind_a_trace_answers_at_once(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;
    const char *lost;
    struct err e = {0};

    disk_put(d, d->f.at, d->f.n - TRAILER_BYTES - 3);
    if (truncate(d->path, (off_t)10 << 30))
        skip();
    summarize(d->path, &t);
    assert_false(t.complete);
    assert_int_equal(t.events, EVENTS);
    assert_true(t.file_bytes == (uint64_t)10 << 30);

    struct source *s = source_salvage(d->path, &lost, &e);
    assert_int_equal(read_and_compare(s, d->rec, d->records, &e), d->records);
    assert_string_not_equal(lost, "");
    source_close(s);

    disk_put(d, d->f.at, 70); /* the preamble, and the beginning of a header */
    assert_int_equal(truncate(d->path, (off_t)10 << 30), 0);
    summarize(d->path, &t);
    assert_int_equal(t.events, 0);
    assert_int_equal(t.blocks, 0);
    assert_non_null(strstr(t.damage, "block 0"));
}

static void trailers_that_point_elsewhere_are_not_followed(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;

    const uint64_t at[] = {0, 1, d->f.n - TRAILER_BYTES, d->f.n, UINT64_MAX, UINT64_MAX - 47, 63};
    for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
        trailer_put((uint8_t *)d->f.at + d->f.n - TRAILER_BYTES, at[i]);
        disk_put(d, d->f.at, d->f.n);
        summarize(d->path, &t);
        assert_false(t.complete);
        assert_int_equal(t.events, EVENTS);
    }
}

static void footer_refused(struct on_disk *d, const char *what)
{
    struct trace_summary t;

    disk_put(d, d->f.at, d->f.n);
    summarize(d->path, &t);
    if (t.complete || t.counted || !t.damage[0] || t.events != EVENTS)
        fail_msg("a footer with another %s was believed", what);
}

/* With checksums that fit. */
static void footers_with_other_words_are_not_believed(void **state)
{
    static const struct {
        const char *what;
        size_t word;
        uint64_t more;
    } bad[] = {
        {"number of events", 0, 1},
        {"number of blocks", 2, 1},
        {"preamble", 4, 1},
        {"number of kinds", 6, 1},
        {"number of kinds", 6, (uint64_t)1 << 60}, /* times 16: 2^64 */
        {"number of threads", 7, UINT64_MAX},
        {"number of threads", 7, (uint64_t)1 << 60},
        {"number of entries", 8, 1},
        {"number of entries", 8, (uint64_t)1 << 59},
        {"kind", 9, 255},
    };
    struct on_disk *d = *state;
    uint64_t at;

    assert_int_equal(trailer_get((uint8_t *)d->f.at + d->f.n - TRAILER_BYTES, &at), 0);
    uint8_t *header = (uint8_t *)d->f.at + at, *payload = header + HEADER_BYTES;
    const size_t n = d->f.n - TRAILER_BYTES - HEADER_BYTES - at;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        const uint64_t was = get64(payload + 8 * bad[i].word);
        put64(payload + 8 * bad[i].word, was + bad[i].more);
        put64(header + 32, digest_bytes(payload, n));
        put64(header + 40, digest_bytes(header, 40));
        footer_refused(d, bad[i].what);
        put64(payload + 8 * bad[i].word, was);
    }
    put64(payload, UINT64_MAX); /* events, and the number of the next one to fit */
    put64(header + 24, FIRST - 1);
    put64(header + 32, digest_bytes(payload, n));
    put64(header + 40, digest_bytes(header, 40));
    footer_refused(d, "number of events that wraps");
}

static void footers_with_other_headers_are_not_believed(void **state)
{
    struct on_disk *d = *state;
    uint64_t at;

    assert_int_equal(trailer_get((uint8_t *)d->f.at + d->f.n - TRAILER_BYTES, &at), 0);
    uint8_t *header = (uint8_t *)d->f.at + at;
    header[HEADER_BYTES + 24] ^= 1; /* the identity, without the checksum */
    footer_refused(d, "identity");
    header[HEADER_BYTES + 24] ^= 1;
    header[8] ^= 1; /* the payload's length */
    put64(header + 40, digest_bytes(header, 40));
    footer_refused(d, "length");
    header[8] ^= 1;
    header[4] = SECTION_NAMES;
    put64(header + 40, digest_bytes(header, 40));
    disk_put(d, d->f.at, d->f.n);
    struct trace_summary t;
    summarize(d->path, &t);
    assert_false(t.complete);
}

static void second_records_are_no_events_of_thread_0(void **state)
{
    const struct event rec[] = {{.kind = EV_IO, .tid = 3, .flags = EVF_MORE},
                                {.aux = 9},
                                {.kind = EV_IO, .tid = 3, .flags = EVF_MORE},
                                {.aux = 9}};
    struct on_disk *d = *state;
    struct file f = file_write(rec, 4, NULL, &(struct sink_info){0}, CODEC_ZSTD);
    struct trace_summary t;

    disk_put(d, f.at, f.n);
    summarize(d->path, &t);
    assert_int_equal(t.threads, 1);
    assert_int_equal(t.events, 2);
    assert_int_equal(t.kinds[EV_IO], 2);
    assert_int_equal(t.kinds[0], 0);
    free(f.at);
}

static void salvage_by_path_keeps_events_and_names_before_the_damage(void **state)
{
    struct on_disk *d = *state;
    const char *lost;
    struct err e = {0};
    struct source *s;

    s = source_salvage(d->path, &lost, &e);
    assert_int_equal(read_and_compare(s, d->rec, d->records, &e), d->records);
    assert_string_equal(lost, "");
    source_close(s);

    disk_put(d, d->f.at, d->f.n / 2); /* inside the first block of events */
    s = source_salvage(d->path, &lost, &e);
    assert_int_equal(read_and_compare(s, d->rec, d->records, &e), 0);
    assert_non_null(strstr(lost, "truncated"));
    assert_null(strstr(lost, "salvage")); /* the remedy is what the user does just now */
    assert_string_equal(names_find(s->names, NAME_THREAD, 0), "main");
    source_close(s);

    disk_put(d, d->f.at, 30);
    assert_null(source_salvage(d->path, &lost, &e));
    assert_int_equal(e.code, LARD_TRACE);
    err_clear(&e);
    unlink(d->path);
    assert_null(source_salvage(d->path, &lost, &e));
}

static void disk_text(struct on_disk *d, const char *text)
{
    disk_put(d, text, strlen(text));
}

static void salvage_of_text_keeps_the_lines_before_the_damage(void **state)
{
    struct on_disk *d = *state;
    const char *lost;
    struct err e = {0};
    struct batch b;

    disk_text(d, "lardsim-text 1\nfirst 7\nT0 io\nname thread 0 \"main\"\nT1 io\nT0 wirte 8");
    struct source *s = source_salvage(d->path, &lost, &e);
    assert_non_null(s);
    assert_int_equal(s->first, 7);
    for (uint64_t first = 7; first < 9; first++) {
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_int_equal(b.records, 1);
        assert_int_equal(b.first, first);
        assert_string_equal(lost, "");
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_int_equal(b.records, 0);
        assert_string_equal(lost, "line 6: \"wirte\" is no kind of event; did you mean write?");
    }
    assert_string_equal(names_find(s->names, NAME_THREAD, 0), "main");
    assert_int_equal(e.code, 0);
    source_close(s);

    disk_text(d, "lardsim-text 1\nT0 io\n");
    s = source_salvage(d->path, &lost, &e);
    while (!source_next(s, &b, &e) && b.records)
        continue;
    assert_string_equal(lost, "");
    source_close(s);

    disk_text(d, "lardsim-text 1\nT0 wirte 8");
    assert_null(source_salvage(d->path, &lost, &e));
    assert_non_null(strstr(e.text, "wri"));
}

static void other_sources_are_read_through(void **state)
{
    struct on_disk *d = *state;
    struct trace_summary t;
    struct err e = {0};
    struct stat st;
    FILE *out = fopen(d->path, "wb");
    struct sink *to = sink_text(out, &(struct sink_info){.first = FIRST}, &e);

    assert_non_null(to);
    for (size_t i = 0; i < d->records; i += event_records(d->rec + i))
        assert_int_equal(to->event(to, d->rec + i, &e), 0);
    assert_int_equal(to->finish(to, &e), 0);
    fclose(out);
    summarize(d->path, &t);
    counts_are_right(d, &t);
    assert_string_equal(t.format, "lardsim-text 2");
    assert_true(t.complete);
    assert_int_equal(stat(d->path, &st), 0);
    assert_int_equal(t.file_bytes, st.st_size);
    assert_int_equal(t.first, FIRST);
}

static void what_is_generated_is_counted(void **state)
{
    struct trace_summary t;

    (void)state;
    summarize("synth:events=1000,threads=4,seed=1", &t);
    assert_string_equal(t.format, "generated");
    assert_true(t.counted);
    assert_true(t.events > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(a_whole_file_tells_all_from_its_footer),
        TEST(a_payload_is_not_read),
        TEST(a_pipe_tells_the_same_as_the_file),
        TEST(a_pipe_that_is_cut_off_tells_where),
        TEST(a_sink_writes_to_a_pipe_and_a_source_reads_from_it),
        TEST(a_file_cut_off_tells_what_is_whole),
        TEST(the_summary_of_a_file_cut_off_at_any_byte_is_never_complete),
        TEST(bytes_after_the_end_are_damage),
        TEST(a_huge_file_of_zeros_behind_a_trace_answers_at_once),
        TEST(trailers_that_point_elsewhere_are_not_followed),
        TEST(footers_with_other_words_are_not_believed),
        TEST(footers_with_other_headers_are_not_believed),
        TEST(second_records_are_no_events_of_thread_0),
        TEST(salvage_by_path_keeps_events_and_names_before_the_damage),
        TEST(salvage_of_text_keeps_the_lines_before_the_damage),
        TEST(other_sources_are_read_through),
        TEST(what_is_generated_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
