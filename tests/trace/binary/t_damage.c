/* t_damage.c - binary traces made by hand from small blocks: cut off or changed anywhere, and with
 * whatever can be wrong in a header, a preamble, a name or at the end. Each is told; salvage gives
 * a prefix. */
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

/* ---- traces by hand: small blocks, and whatever is wrong ------------------------------------ */

struct hand {
    struct bytes file;
    struct trace_tally *tally;
    struct block_place next;
    uint64_t preamble_digest;
    size_t ends[16]; /* where blocks end; the first: the preamble */
    size_t blocks;
};

static struct hand hand_new(const char *preamble)
{
    struct hand h = {.tally = tally_new()};

    bytes_add(&h.file, preamble, strlen(preamble));
    h.preamble_digest = digest_bytes(preamble, strlen(preamble));
    h.ends[0] = h.file.n;
    return h;
}

static void hand_free(struct hand *h)
{
    bytes_free(&h->file);
    tally_free(h->tally);
}

static void hand_block(struct hand *h, struct block_header head, const void *payload, size_t n)
{
    uint8_t header[HEADER_BYTES];

    head.payload = (uint32_t)n;
    head.digest = digest_bytes(payload, n);
    head.number = (uint32_t)h->next.number++;
    head.first = h->next.first;
    if (head.section != SECTION_FOOTER)
        tally_block(h->tally, &head, h->file.n);
    h->next.first += head.events;
    block_header_put(header, &head);
    bytes_add(&h->file, header, sizeof header);
    bytes_add(&h->file, payload, n);
    h->ends[++h->blocks] = h->file.n;
}

static void hand_events(struct hand *h, const struct event *rec, size_t events, size_t records)
{
    struct block_encoder *encoder = block_encoder_new(CODEC_ZSTD, 1);
    struct bytes payload = {0};

    for (size_t i = 0; i < records; i += event_records(rec + i))
        block_event(encoder, rec + i);
    block_put(encoder, &payload);
    tally_events(h->tally, rec, records);
    hand_block(h,
               (struct block_header){.section = SECTION_EVENTS,
                                     .events = (uint32_t)events,
                                     .records = (uint32_t)records},
               payload.at, payload.n);
    bytes_free(&payload);
    block_encoder_free(encoder);
}

static void hand_name(struct hand *h, uint8_t space, uint64_t id, const char *text, size_t n)
{
    uint8_t payload[64] = {0};

    put64(payload, id);
    payload[8] = (uint8_t)n;
    payload[10] = space;
    memcpy(payload + NAME_HEAD_BYTES, text, n);
    hand_block(h, (struct block_header){.section = SECTION_NAMES, .records = 1}, payload,
               NAME_HEAD_BYTES + n);
}

static void hand_trailer(struct hand *h, uint64_t footer_at)
{
    uint8_t trailer[TRAILER_BYTES];

    trailer_put(trailer, footer_at);
    bytes_add(&h->file, trailer, sizeof trailer);
}

static void hand_footer(struct hand *h, uint32_t records)
{
    const size_t at = h->file.n;
    struct bytes footer = {0};

    tally_footer(h->tally, h->preamble_digest, &footer);
    hand_block(h, (struct block_header){.section = SECTION_FOOTER, .records = records}, footer.at,
               footer.n);
    hand_trailer(h, at);
    bytes_free(&footer);
}

static void hand_finish(struct hand *h)
{
    hand_footer(h, 0);
}

#define PREAMBLE "lardsim-trace 2\nproducer: by hand\nfirst: 0\ngranularity: 8\n\n"

enum { SMALL_BLOCKS = 3, SMALL_EVENTS = 6 };

struct small { /* two blocks of names, three of events */
    struct hand h;
    struct event rec[SMALL_BLOCKS * SMALL_EVENTS * EVENT_RECORDS];
    size_t records;
    size_t block_records[SMALL_BLOCKS + 1]; /* before each block of events */
};

static struct small *small_new(void)
{
    struct small *s = xcalloc(1, sizeof *s);

    s->h = hand_new(PREAMBLE);
    for (size_t i = 0; i < SMALL_BLOCKS; i++) {
        const size_t n = wild_events(20 + i, SMALL_EVENTS, s->rec + s->records);
        if (i != 1)
            hand_name(&s->h, NAME_SITE, i, "somewhere", 9);
        hand_events(&s->h, s->rec + s->records, SMALL_EVENTS, n);
        s->records += n;
        s->block_records[i + 1] = s->records;
    }
    hand_finish(&s->h);
    return s;
}

static void small_free(struct small *s)
{
    hand_free(&s->h);
    free(s);
}

/* The records that stand in whole blocks of the first n bytes. */
static size_t small_whole(const struct small *s, size_t n)
{
    static const size_t events_before[] = {0, 0, 1, 2,
                                           2, 3, 3}; /* names, events, events, names, ... */
    size_t whole = 0;

    while (whole < s->h.blocks && s->h.ends[whole + 1] <= n)
        whole++;
    return s->block_records[events_before[whole]];
}

static void small_blocks_are_read_and_files_are_as_the_sink_writes(void **state)
{
    struct small *s = small_new();
    const struct file f = {(char *)s->h.file.at, s->h.file.n};
    struct event ev[EVENT_RECORDS];
    struct rng r;

    (void)state;
    read_whole(&f, s->rec, s->records);
    small_free(s);

    rng_seed(&r, 5);
    const size_t n = wild_event(&r, ev);
    struct file sink = file_write(
        ev, n, NULL, &(struct sink_info){.producer = "by hand", .granularity = 8}, CODEC_ZSTD);
    struct hand h = hand_new(PREAMBLE);
    hand_events(&h, ev, 1, n);
    hand_finish(&h);
    assert_int_equal(h.file.n, sink.n);
    assert_memory_equal(h.file.at, sink.at, sink.n);
    hand_free(&h);
    free(sink.at);
}

static void a_trace_cut_off_at_any_byte_is_an_error_after_its_whole_blocks(void **state)
{
    struct small *s = small_new();

    (void)state;
    for (size_t n = 0; n < s->h.file.n; n++) {
        struct err e = {0};
        struct source *from = file_open(s->h.file.at, n, &e);
        assert_int_equal(!from, n < s->h.ends[0]);
        if (from) {
            assert_int_equal(read_and_compare(from, s->rec, s->records, &e), small_whole(s, n));
            assert_non_null(strstr(e.text, "(truncated?): use `lardsim trace cut --salvage"));
            source_close(from);
        }
        assert_int_equal(e.code, LARD_TRACE);
        assert_non_null(strstr(e.text, "t.trace: ends at byte"));
    }
    small_free(s);
}

static void salvage_gives_the_whole_blocks_of_a_trace_cut_off_at_any_byte(void **state)
{
    struct small *s = small_new();

    (void)state;
    for (size_t n = s->h.ends[0]; n <= s->h.file.n; n++) {
        struct err e = {0};
        struct source *from = file_open(s->h.file.at, n, &e);
        const char *lost = binary_salvage(from);
        assert_int_equal(read_and_compare(from, s->rec, s->records, &e), small_whole(s, n));
        assert_int_equal(e.code, 0);
        assert_int_equal(*lost == 0, n == s->h.file.n);
        source_close(from);
    }
    small_free(s);
}

static void a_change_of_any_byte_is_an_error_and_never_gives_other_events(void **state)
{
    static const uint8_t flips[] = {0x01, 0x20, 0xff};
    struct small *s = small_new();

    (void)state;
    for (size_t at = 0; at < s->h.file.n; at++) {
        const uint8_t flip = flips[at % ARRAY_SIZE(flips)];
        struct err e = {0};
        s->h.file.at[at] ^= flip;
        struct source *from = file_open(s->h.file.at, s->h.file.n, &e);
        if (from)
            read_and_compare(from, s->rec, s->records, &e);
        if (e.code != LARD_TRACE)
            fail_msg("byte %zu changed by %u: no error", at, flip);
        source_close(from);
        s->h.file.at[at] ^= flip;
    }
    small_free(s);
}

static void salvage_of_a_changed_trace_gives_a_prefix(void **state)
{
    struct small *s = small_new();

    (void)state;
    for (size_t at = s->h.ends[0]; at < s->h.file.n; at++) {
        struct err e = {0};
        s->h.file.at[at] ^= 4;
        struct source *from = file_open(s->h.file.at, s->h.file.n, &e);
        const char *lost = binary_salvage(from);
        assert_int_equal(read_and_compare(from, s->rec, s->records, &e), small_whole(s, at));
        assert_int_equal(e.code, 0);
        assert_string_not_equal(lost, "");
        source_close(from);
        s->h.file.at[at] ^= 4;
    }
    small_free(s);
}

static void an_error_stays(void **state)
{
    struct small *s = small_new();
    struct err e = {0}, again = {0};
    struct batch b;

    (void)state;
    s->h.file.at[s->h.ends[1] + HEADER_BYTES] ^= 1;
    struct source *from = file_open(s->h.file.at, s->h.file.n, &e);
    assert_int_equal(source_next(from, &b, &e), -1);
    assert_int_equal(source_next(from, &b, &again), -1);
    assert_string_equal(e.text, again.text);
    source_close(from);
    small_free(s);
}

static void a_whole_trace_ends_again_and_again(void **state)
{
    struct file f = file_write(NULL, 0, NULL, &(struct sink_info){0}, CODEC_ZSTD);
    struct err e = {0};
    struct source *s = file_open((uint8_t *)f.at, f.n, &e);
    struct batch b;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_int_equal(b.records, 0);
    }
    source_close(s);
    free(f.at);
}

/* Reads to the error, which must contain why. */
static void hand_refused(struct hand *h, const char *why)
{
    struct err e = {0};
    struct batch b;
    struct source *s = file_open(h->file.at, h->file.n, &e);

    while (s && !source_next(s, &b, &e) && b.records)
        ;
    assert_int_equal(e.code, LARD_TRACE);
    if (!strstr(e.text, why) || !strstr(e.text, "t.trace"))
        fail_msg("expected \"%s\" in \"%s\"", why, e.text);
    source_close(s);
    hand_free(h);
}

static void preambles_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *preamble, *why;
    } bad[] = {
        {"lardsim-trace 3\n\n",
         "version 3, this program knows versions 1 to 2: use a newer lardsim"},
        {"lardsim-trace 0\n\n", "version 0"},
        {"lardsim-trace 99999999999999999999\n\n", "not a number"},
        {"lardsim-trace one\n\n", "not a number"},
        {"lardsim-trace \n\n", "not a number"},
        {"lardsim-track 1\n\n", "first line"},
        {"lardsim-trace 1\nfirst\n\n", "t.trace:2: not a line"},
        {"lardsim-trace 1\nfirst: \n\n", "t.trace:2: first"},
        {"lardsim-trace 1\nx: y\nfirst: 9223372036854775808\n\n", "t.trace:3: first"},
        {"lardsim-trace 1\nfirst: 0x10\n\n", "first"},
        {"lardsim-trace 1\nfirst: -1\n\n", "first"},
        {"lardsim-trace 1\ngranularity: 3\n\n", "granularity"},
        {"lardsim-trace 1\nproducer: \n\n", "producer"},
        {"lardsim-trace 1\nproducer: a\tb\n\n", "printable"},
        {"lardsim-trace 1\nproducer: \xc3\xbc\n\n", "printable"},
        {"lardsim-trace 1\nfirst: 0\n", "ends at byte 25 inside its preamble"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct hand h = hand_new(bad[i].preamble);
        hand_refused(&h, bad[i].why);
    }
}

static void a_preamble_has_at_most_4096_bytes(void **state)
{
    char text[4200];

    (void)state;
    for (int over = 0; over < 2; over++) {
        const int n = snprintf(text, sizeof text, "lardsim-trace 1\nx: %0*d\n\n",
                               4096 - 16 - 3 - 2 + over, 0);
        assert_int_equal(n, 4096 + over);
        struct hand h = hand_new(text);
        hand_refused(&h, over ? "within 4096 bytes" : "ends at byte 4096 without its end mark");
    }
}

static void keys_that_are_unknown_say_nothing(void **state)
{
    struct hand h = hand_new("lardsim-trace 2\nshoe-size: 47: large\n\n");
    struct event rec[20];
    const size_t records = wild_events(6, 10, rec);
    struct file f;

    (void)state;
    hand_events(&h, rec, 10, records);
    hand_finish(&h);
    f = (struct file){(char *)h.file.at, h.file.n};
    read_whole(&f, rec, records);
    hand_free(&h);
}

static struct hand hand_with_events(void)
{
    struct hand h = hand_new(PREAMBLE);
    struct event rec[20];
    const size_t records = wild_events(7, 10, rec);

    hand_events(&h, rec, 10, records);
    return h;
}

static void headers_that_can_not_be_are_refused(void **state)
{
    static const struct {
        struct block_header head;
        const char *why;
    } bad[] = {
        {{.section = (enum section)0}, "unknown type"},
        {{.section = SECTIONS}, "unknown type"},
        {{.section = SECTION_EVENTS}, "1 to 65536 events"},
        {{.section = SECTION_EVENTS, .events = 65537, .records = 65537}, "1 to 65536 events"},
        {{.section = SECTION_EVENTS, .events = 2, .records = 1}, "one or two records"},
        {{.section = SECTION_EVENTS, .events = 2, .records = 5}, "one or two records"},
        {{.section = SECTION_EVENTS, .events = 1, .records = 1}, "block 1 at byte"},
        {{.section = SECTION_NAMES, .events = 1, .records = 1}, "has events"},
        {{.section = SECTION_FOOTER, .events = 1}, "has events"},
        {{.section = SECTION_FOOTER}, "footer tells of other blocks"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct hand h = hand_with_events();
        hand_block(&h, bad[i].head, "", 0);
        hand_refused(&h, bad[i].why);
    }
}

static void payloads_that_are_not_there_take_no_memory(void **state)
{
    static const uint32_t payload[] = {PAYLOAD_MAX, PAYLOAD_MAX + 1, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(payload); i++) {
        struct hand h = hand_new(PREAMBLE);
        const struct block_header head = {
            .section = SECTION_EVENTS, .payload = payload[i], .events = 1, .records = 1};
        uint8_t header[HEADER_BYTES];
        block_header_put(header, &head);
        bytes_add(&h.file, header, sizeof header);
        hand_refused(&h, i ? "more than 16 MiB" : "truncated");
    }
}

static void blocks_out_of_place_are_refused(void **state)
{
    struct hand h = hand_with_events();

    (void)state;
    h.next.number++;
    hand_name(&h, NAME_SITE, 1, "x", 1);
    hand_refused(&h, "block 1 at byte");
    h = hand_with_events();
    h.next.first++;
    hand_name(&h, NAME_SITE, 1, "x", 1);
    hand_refused(&h, "(event 10): its first event is not the one that should be here");
    h = hand_with_events();
    h.next.first = 0;
    hand_finish(&h);
    hand_refused(&h, "first event");
    h = hand_new("lardsim-trace 1\nfirst: 9223372036854775807\n\n");
    h.next.first = FIRST_MAX;
    hand_block(&h, (struct block_header){.section = SECTION_EVENTS, .events = 1, .records = 1}, "",
               0);
    hand_refused(&h, "first event");
}

static void names_that_are_none_are_refused(void **state)
{
    static const struct {
        uint8_t space;
        uint64_t id;
        const char *text;
        size_t n;
        const char *why;
    } bad[] = {
        {NAME_SPACES, 0, "x", 1, "name space"}, {NAME_THREAD, 65536, "x", 1, "65536"},
        {NAME_SITE, 0, "", 0, "is empty"},      {NAME_SITE, 0, "a\nb", 3, "control"},
        {NAME_SITE, 0, "\xff", 1, "UTF-8"},     {NAME_SITE, 0, "a\0b", 3, "not whole"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct hand h = hand_with_events();
        hand_name(&h, bad[i].space, bad[i].id, bad[i].text, bad[i].n);
        hand_refused(&h, bad[i].why);
    }
}

static void blocks_of_names_hold_exactly_their_names(void **state)
{
    static const uint8_t one[NAME_HEAD_BYTES + 1] = {[8] = 1, [10] = NAME_SITE, [12] = 'x'};
    static const uint8_t reserved[NAME_HEAD_BYTES + 1] = {
        [8] = 1, [10] = NAME_SITE, [11] = 1, [12] = 'x'};
    static const struct {
        const uint8_t *payload;
        size_t n;
        uint32_t names;
        const char *why;
    } bad[] = {
        {one, sizeof one, 2, "not whole"},
        {one, sizeof one, UINT32_MAX, "not whole"},
        {one, sizeof one, 0, "left over"},
        {one, sizeof one - 1, 1, "not whole"},
        {one, NAME_HEAD_BYTES - 1, 1, "not whole"},
        {one, 8, 1, "not whole"},
        {one, 0, 1, "not whole"},
        {reserved, sizeof reserved, 1, "not whole"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct hand h = hand_new(PREAMBLE);
        hand_block(&h, (struct block_header){.section = SECTION_NAMES, .records = bad[i].names},
                   bad[i].payload, bad[i].n);
        hand_refused(&h, bad[i].why);
    }
}

static void ends_that_are_not_right_are_refused(void **state)
{
    const struct event ev[EVENT_RECORDS] = {{.kind = EV_IO}};
    struct hand h = hand_with_events();

    (void)state;
    hand_finish(&h);
    bytes_add(&h.file, "", 1);
    hand_refused(&h, "more bytes follow");
    h = hand_with_events();
    tally_events(h.tally, ev, 1); /* counts and identity of other events */
    hand_finish(&h);
    hand_refused(&h, "footer tells of other blocks");
    h = hand_with_events();
    hand_footer(&h, 1);
    hand_refused(&h, "footer tells of other blocks");
    h = hand_with_events();
    h.preamble_digest++;
    hand_finish(&h);
    hand_refused(&h, "footer tells of other blocks or of another preamble");
    h = hand_with_events();
    hand_finish(&h);
    h.file.n -= TRAILER_BYTES;
    hand_trailer(&h, h.ends[0]);
    hand_refused(&h, "end mark is not right");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_blocks_are_read_and_files_are_as_the_sink_writes),
        cmocka_unit_test(a_trace_cut_off_at_any_byte_is_an_error_after_its_whole_blocks),
        cmocka_unit_test(salvage_gives_the_whole_blocks_of_a_trace_cut_off_at_any_byte),
        cmocka_unit_test(a_change_of_any_byte_is_an_error_and_never_gives_other_events),
        cmocka_unit_test(salvage_of_a_changed_trace_gives_a_prefix),
        cmocka_unit_test(an_error_stays),
        cmocka_unit_test(a_whole_trace_ends_again_and_again),
        cmocka_unit_test(preambles_that_are_none_are_refused),
        cmocka_unit_test(a_preamble_has_at_most_4096_bytes),
        cmocka_unit_test(keys_that_are_unknown_say_nothing),
        cmocka_unit_test(headers_that_can_not_be_are_refused),
        cmocka_unit_test(payloads_that_are_not_there_take_no_memory),
        cmocka_unit_test(blocks_out_of_place_are_refused),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(blocks_of_names_hold_exactly_their_names),
        cmocka_unit_test(ends_that_are_not_right_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
