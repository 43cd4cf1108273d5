/* t_binary.c - the binary form as a file: what is written is read, and what can't be read is not
 * written. Damaged traces are in t_damage.c, the inside of blocks in t_block.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/trace/trace_file.h"
#include "tests/trace/wild.h"
#include "trace/binary/binary.h"

/* ---- round trips ---------------------------------------------------------------------------- */

enum { MANY = 150000 }; /* events: more than two blocks */

static const struct sink_info plain_info = {.producer = "t_binary"};

static void wild_events_of_every_codec_come_back(void **state)
{
    struct event *rec = xcalloc(MANY, EVENT_RECORDS * sizeof *rec);
    const size_t records = wild_events(1, MANY, rec);

    (void)state;
    for (int how = 0; how < CODECS; how++) {
        struct file f = file_write(rec, records, NULL, &plain_info, (enum trace_codec)how);
        read_whole(&f, rec, records);
        free(f.at);
    }
    free(rec);
}

static void the_same_events_make_the_same_bytes(void **state)
{
    struct event *rec = xcalloc(MANY, EVENT_RECORDS * sizeof *rec);
    const size_t records = wild_events(2, MANY, rec);

    (void)state;
    for (int how = 0; how < CODECS; how++) {
        struct file a = file_write(rec, records, NULL, &plain_info, (enum trace_codec)how);
        struct file b = file_write(rec, records, NULL, &plain_info, (enum trace_codec)how);
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.at, b.at, a.n);
        free(a.at);
        free(b.at);
    }
    free(rec);
}

static void block_boundaries_lose_nothing(void **state)
{
    static const size_t events[] = {1, 65535, 65536, 65537, 131072};
    struct event *rec = xcalloc(131072, EVENT_RECORDS * sizeof *rec);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
        const size_t records = wild_events(3 + i, events[i], rec);
        struct file f = file_write(rec, records, NULL, &plain_info, CODEC_ZSTD);
        read_whole(&f, rec, records);
        free(f.at);
    }
    free(rec);
}

static void an_empty_trace_is_whole(void **state)
{
    struct file f = file_write(NULL, 0, NULL, &plain_info, CODEC_ZSTD);

    (void)state;
    read_whole(&f, NULL, 0);
    free(f.at);
}

static void the_preamble_says_who_and_where(void **state)
{
    const struct sink_info info = {.producer = "me: \"1.0\"",
                                   .first = 1234567,
                                   .granularity = 4,
                                   .layout = LAYOUT_64C,
                                   .gaps = GAPS_BYTECODES};
    static const char head[] = "lardsim-trace 2\nproducer: me: \"1.0\"\nfirst: 1234567\n"
                               "granularity: 4\nlayout: 64-bit-compressed\ngaps: bytecodes\n\nLBLK";
    struct event rec[20];
    const size_t records = wild_events(4, 10, rec);
    struct file f = file_write(rec, records, NULL, &info, CODEC_ZSTD);
    struct err e = {0};
    struct source *s = file_open((uint8_t *)f.at, f.n, &e);

    (void)state;
    assert_memory_equal(f.at, head, sizeof head - 1);
    assert_non_null(s);
    assert_string_equal(s->producer, "me: \"1.0\"");
    assert_true(s->first == 1234567);
    assert_int_equal(s->granularity, 4);
    assert_int_equal(s->layout, LAYOUT_64C);
    assert_int_equal(s->gaps, GAPS_BYTECODES);
    assert_int_equal(s->version, 2);
    assert_int_equal(read_and_compare(s, rec, records, &e), records);
    source_close(s);
    free(f.at);
}

static void the_highest_numbers_of_events_are_refused(void **state)
{
    const struct sink_info last = {.first = FIRST_MAX - 1}, over = {.first = FIRST_MAX + 1};
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_IO}};
    struct err e = {0};
    struct file f;
    FILE *out = open_memstream(&f.at, &f.n);
    struct sink *to = sink_binary(out, &last, CODEC_ZSTD, 0, &e);

    (void)state;
    assert_int_equal(to->event(to, ev, &e), 0);
    assert_int_equal(to->event(to, ev, &e), -1);
    assert_non_null(strstr(e.text, "2^63"));
    err_clear(&e);
    assert_int_equal(to->finish(to, &e), 0);
    fclose(out);
    read_whole(&f, ev, 1);
    out = fopen("/dev/null", "wb");
    assert_null(sink_binary(out, &over, CODEC_ZSTD, 0, &e));
    fclose(out);
    free(f.at);
}

/* ---- the identity --------------------------------------------------------------------------- */

static void a_source_keeps_the_hash_of_what_was_taken_before_the_latest_batch(void **state)
{
    struct event *rec = xcalloc(MANY, EVENT_RECORDS * sizeof *rec);
    const size_t records = wild_events(9, MANY, rec);
    struct file f = file_write(rec, records, NULL, &plain_info, CODEC_ZSTD);
    struct err e = {0};
    struct source *s = file_open((uint8_t *)f.at, f.n, &e);
    struct digest *d = digest_new();
    struct batch b;

    (void)state;
    assert_non_null(s->identity);
    for (;;) {
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_true(digest_value(s->identity) == digest_value(d));
        if (b.records == 0)
            break;
        digest_add(d, b.rec, b.records * sizeof *b.rec);
    }
    assert_true(digest_value(d) == digest_bytes(rec, records * sizeof *rec));
    source_close(s);
    digest_free(d);
    free(f.at);
    free(rec);
}

static void a_consumer_that_stops_adds_what_it_took(void **state)
{
    struct event *rec = xcalloc(MANY, EVENT_RECORDS * sizeof *rec);
    const size_t records = wild_events(10, MANY, rec);
    struct file f = file_write(rec, records, NULL, &plain_info, CODEC_ZSTD);
    struct err e = {0};
    struct source *s = file_open((uint8_t *)f.at, f.n, &e);
    struct batch b;
    size_t taken = 0;

    (void)state;
    assert_int_equal(source_next(s, &b, &e), 0);
    for (int i = 0; i < 40; i++) {
        taken += b.records;
        assert_int_equal(source_next(s, &b, &e), 0);
    }
    digest_add(s->identity, b.rec, 5 * sizeof *b.rec);
    assert_true(digest_value(s->identity) == digest_bytes(rec, (taken + 5) * sizeof *rec));
    source_close(s);
    free(f.at);
    free(rec);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void names_come_before_their_events(void **state)
{
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_PHASE, .aux = 7}};
    struct names *names = names_new();
    struct err e = {0};
    struct batch b;
    struct file f;
    FILE *out = open_memstream(&f.at, &f.n);
    struct sink *to = sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e);

    (void)state;
    names_add(names, NAME_PHASE, 7, "warm-up", &e);
    names_add(names, NAME_OBJECT, UINT64_MAX, "gr\xc3\xbc\xc3\x9f", &e);
    assert_int_equal(to->names(to, names, &e), 0);
    for (int i = 0; i < BLOCK_EVENTS; i++)
        assert_int_equal(to->event(to, ev, &e), 0);
    assert_int_equal(to->event(to, ev, &e), 0); /* the first of the next block */
    names_add(names, NAME_PHASE, 7, "later", &e);
    assert_int_equal(to->names(to, names, &e), 0);
    assert_int_equal(to->names(to, names, &e), 0); /* not again */
    assert_int_equal(to->finish(to, &e), 0);
    fclose(out);

    struct source *s = file_open((uint8_t *)f.at, f.n, &e);
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_string_equal(names_find(s->names, NAME_PHASE, 7), "warm-up");
    assert_string_equal(names_find(s->names, NAME_OBJECT, UINT64_MAX), "gr\xc3\xbc\xc3\x9f");
    while (b.first + b.records < BLOCK_EVENTS)
        assert_int_equal(source_next(s, &b, &e), 0);
    assert_string_equal(names_find(s->names, NAME_PHASE, 7), "warm-up");
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.first, BLOCK_EVENTS);
    assert_int_equal(b.records, 1);
    assert_string_equal(names_find(s->names, NAME_PHASE, 7), "later");
    assert_int_equal(names_count(s->names), 3);
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 0);
    source_close(s);
    names_free(names);
    free(f.at);
}

/* The order among things is each form's own. */
static void names_hash_is_of_what_things_are_called(void **state)
{
    static const struct name a = {NAME_SITE, 7, "here"}, b = {NAME_OBJECT, 7, "here"},
                             c = {NAME_SITE, 7, "there"}, d = {NAME_SITE, 8, "here"};
    const struct name *const orders[][4] = {{&a, &b, &c, &d}, {&d, &b, &a, &c}, {&c, &b, &a, &d},
                                            {&a, &b, &c},     {&b, &c, &d},     {NULL}};
    uint64_t hash[6];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct names *names = names_new();
        struct err e = {0};
        for (size_t k = 0; k < 4 && orders[i][k]; k++) {
            const struct name *name = orders[i][k];
            assert_int_equal(names_add(names, name->space, name->id, name->text, &e), 0);
        }
        hash[i] = names_hash(names);
        names_free(names);
    }
    assert_int_equal(hash[0], hash[1]);
    for (size_t i = 1; i < 6; i++)
        for (size_t k = i + 1; k < 6; k++)
            assert_int_not_equal(hash[i], hash[k]);
    assert_int_equal(hash[5], 0);
    assert_int_equal(names_hash(NULL), 0);
}

static void names_of_more_than_a_block_come_back(void **state)
{
    enum { NAMES = 17000 }; /* together more than the largest block */
    struct names *names = names_new();
    char text[1025];
    struct err e = {0};
    struct batch b;

    (void)state;
    memset(text, 'x', sizeof text);
    text[1024] = 0;
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(names_add(names, NAME_SITE, (uint64_t)i, text, &e), 0);
    struct file f = file_write(NULL, 0, names, &plain_info, CODEC_ZSTD);
    struct source *s = file_open((uint8_t *)f.at, f.n, &e);
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(names_count(s->names), NAMES);
    for (int i = 0; i < NAMES; i++)
        assert_string_equal(names_find(s->names, NAME_SITE, (uint64_t)i), text);
    source_close(s);
    names_free(names);
    free(f.at);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void what_the_disk_does_not_take_is_an_error(void **state)
{
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_IO}};
    struct err e = {0};
    FILE *out = fopen("/dev/full", "wb");
    struct sink *to;

    (void)state;
    if (!out)
        skip();
    to = sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e);
    assert_non_null(to);
    assert_int_equal(to->event(to, ev, &e), 0);
    assert_int_equal(to->finish(to, &e), -1);
    assert_int_equal(e.code, LARD_OUTPUT);
    fclose(out);
    err_clear(&e);
    out = fopen("/dev/full", "wb");
    setvbuf(out, NULL, _IONBF, 0);
    assert_null(sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e));
    assert_int_equal(e.code, LARD_OUTPUT);
    fclose(out);
}

static void a_failed_write_is_remembered(void **state)
{
    struct event *rec = xcalloc(BLOCK_EVENTS + 1, EVENT_RECORDS * sizeof *rec);
    const size_t records = wild_events(8, BLOCK_EVENTS + 1, rec);
    static char room[4096];
    struct err e = {0}, last = {0};
    FILE *out = fmemopen(room, sizeof room, "wb");
    size_t i = 0;

    (void)state;
    setvbuf(out, NULL, _IONBF, 0);
    struct sink *to = sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e);
    for (; i < records && !to->event(to, rec + i, &e);)
        i += event_records(rec + i);
    assert_true(i < records);
    assert_int_equal(e.code, LARD_OUTPUT);
    assert_int_equal(to->finish(to, &last), -1);
    assert_int_equal(last.code, LARD_OUTPUT);
    fclose(out);
    free(rec);
}

/* A file that fails once, and then takes everything again. */
static ssize_t write_but_fail_once(void *cookie, const char *p, size_t n)
{
    unsigned *writes = cookie;

    (void)p;
    return ++*writes == 2 ? 0 : (ssize_t)n;
}

static void a_trace_with_a_hole_is_never_finished(void **state)
{
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_IO}};
    unsigned writes = 0;
    struct err e = {0};
    FILE *out = fopencookie(&writes, "wb", (cookie_io_functions_t){.write = write_but_fail_once});
    struct sink *to;

    (void)state;
    setvbuf(out, NULL, _IONBF, 0);
    to = sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e);
    assert_non_null(to);
    for (int i = 0; i < BLOCK_EVENTS; i++)
        assert_int_equal(to->event(to, ev, &e), 0);
    assert_int_equal(to->event(to, ev, &e), -1);
    err_clear(&e);
    assert_int_equal(to->finish(to, &e), -1);
    assert_int_equal(e.code, LARD_OUTPUT);
    assert_int_equal(writes, 2);
    fclose(out);
}

static void an_aborted_trace_is_not_whole(void **state)
{
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_IO}};
    struct err e = {0};
    struct batch b;
    struct file f;
    FILE *out = open_memstream(&f.at, &f.n);
    struct sink *to = sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e);

    (void)state;
    assert_int_equal(to->event(to, ev, &e), 0);
    to->abort(to);
    fclose(out);
    struct source *s = file_open((uint8_t *)f.at, f.n, &e);
    assert_int_equal(source_next(s, &b, &e), -1);
    assert_non_null(strstr(e.text, "after its preamble (truncated?)"));
    source_close(s);
    free(f.at);
}

static void what_can_not_be_read_is_not_written(void **state)
{
    static const struct sink_info bad[] = {
        {.producer = "two\nlines"}, {.producer = ""}, {.granularity = 3}, {.producer = "\xc3\xbc"}};
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_READ}};
    FILE *out = fopen("/dev/null", "wb");
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_null(sink_binary(out, &bad[i], CODEC_ZSTD, 0, &e));
        assert_int_equal(e.code, LARD_TRACE);
        err_clear(&e);
    }
    assert_null(sink_binary(out, &plain_info, CODEC_ZSTD, 99, &e));
    assert_int_equal(e.code, LARD_USAGE);
    err_clear(&e);
    struct sink *to = sink_binary(out, &plain_info, CODEC_ZSTD, 0, &e);
    assert_int_equal(to->event(to, ev, &e), -1);
    assert_non_null(strstr(e.text, "event 0 can't be written"));
    to->abort(to);
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_events_of_every_codec_come_back),
        cmocka_unit_test(the_same_events_make_the_same_bytes),
        cmocka_unit_test(block_boundaries_lose_nothing),
        cmocka_unit_test(an_empty_trace_is_whole),
        cmocka_unit_test(the_preamble_says_who_and_where),
        cmocka_unit_test(the_highest_numbers_of_events_are_refused),
        cmocka_unit_test(a_source_keeps_the_hash_of_what_was_taken_before_the_latest_batch),
        cmocka_unit_test(a_consumer_that_stops_adds_what_it_took),
        cmocka_unit_test(names_come_before_their_events),
        cmocka_unit_test(names_hash_is_of_what_things_are_called),
        cmocka_unit_test(names_of_more_than_a_block_come_back),
        cmocka_unit_test(what_the_disk_does_not_take_is_an_error),
        cmocka_unit_test(a_failed_write_is_remembered),
        cmocka_unit_test(a_trace_with_a_hole_is_never_finished),
        cmocka_unit_test(an_aborted_trace_is_not_whole),
        cmocka_unit_test(what_can_not_be_read_is_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
