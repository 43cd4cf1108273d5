/* t_text_errors.c - the text form: an error with its line for whatever is not well written, after
 * the events before it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "tests/trace/text/bytes.h"

/* The error of a text, found at once or after `events` events. */
static void fails_after(const char *bytes, size_t n, unsigned events, const char *expected)
{
    struct err e = {0};
    struct source *s = open_bytes(bytes, n, &e);
    unsigned found = 0;
    struct batch b;

    while (s && !source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(b.rec + i))
            found++;
    if (s) { /* it stays */
        struct err again = {0};

        assert_int_equal(source_next(s, &b, &again), -1);
        assert_string_equal(again.text, e.text);
    }
    source_close(s);
    if (e.code != LARD_TRACE || !strstr(e.text, expected))
        fail_msg("%.60s: expected \"%s\", found \"%s\"", bytes, expected, e.text);
    assert_int_equal(found, events);
}

static void fails(const char *lines, const char *expected)
{
    char *text = xasprintf(HEAD "%s", lines);

    fails_after(text, strlen(text), 0, expected);
    free(text);
}

static void events_before_an_error_are_delivered(void **state)
{
    char *text = xmalloc(3000 * 8 + 64), *p = text;

    (void)state;
    p += sprintf(p, HEAD);
    for (int i = 0; i < 3000; i++)
        p += sprintf(p, "T0 io\n");
    p += sprintf(p, "T0 oi\nT0 io\n");
    fails_after(text, (size_t)(p - text), 3000, "t.txt:3002: \"oi\" is no kind");
    free(text);
    fails_after(HEAD "T0 io\nT0", sizeof HEAD "T0 io\nT0" - 1, 1, "t.txt:3: the kind of event");
}

static void lines_are_bounded_and_have_no_nul(void **state)
{
    const size_t head = sizeof HEAD - 1, most = 65536;
    char *text = xmalloc(head + 4 * most);
    struct err e = {0};
    struct source *s;

    (void)state;
    memcpy(text, HEAD, head);
    memset(text + head, '#', 4 * most);
    memcpy(text + head + most, "\r\n", 2);
    s = open_bytes(text, head + most + 2, &e);
    assert_non_null(s);
    source_close(s);
    fails_after(text, head + 4 * most, 0, "t.txt:3: the line is longer");
    memset(text + head + most, '#', 2);
    text[head + most + 1] = '\n';
    fails_after(text, head + most + 2, 0, "t.txt:2: the line is longer");
    fails_after(HEAD "# \0\n", sizeof HEAD "# \0\n" - 1, 0, "t.txt:2: the line has a NUL");
    free(text);
}

/* A file that breaks after its first line and a half. */
static ssize_t breaks(void *cookie, char *to, size_t n)
{
    static const char text[] = HEAD "T0 io\nT0";
    bool *begun = cookie;

    if (*begun || n < sizeof text) {
        errno = EIO;
        return -1;
    }
    *begun = true;
    memcpy(to, text, sizeof text - 1);
    return sizeof text - 1;
}

static void a_file_that_breaks_is_an_error_after_its_whole_lines(void **state)
{
    struct input *in = xcalloc(1, sizeof *in);
    struct err e = {0};
    bool begun = false;
    struct source *s;
    struct batch b;

    (void)state;
    in->name = xstrdup("t.txt");
    in->file = fopencookie(&begun, "r", (cookie_io_functions_t){.read = breaks});
    assert_non_null(in->file);
    s = trace_format_text.open(in, &e);
    assert_non_null(s);
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 1);
    assert_int_equal(source_next(s, &b, &e), -1);
    assert_string_equal(e.text, "t.txt:3: the file can't be read any further: Input/output error");
    source_close(s);
}

static const char *const errors[][2] = {
    {"T0 wirte 8 4", "t.txt:2: \"wirte\" is no kind of event; did you mean write?"},
    {"T0 xyzzyxyzzy", "list events"},
    {"T0", "the kind of event is missing"},
    {"T0 \"io\"", "stands where the kind"},
    {"T65536 io", "the thread: 65536 is more than 65535"},
    {"T1x io", "the thread: \"1x\" is not a number"},
    {"t0 io", "begins with its thread"},
    {"\"T0\" io", "begins with its thread"},
    {"granluarity 8", "did you mean granularity?"},
    {"T0 read", "the address is missing; write T<thread> read ADDRESS SIZE"},
    {"T0 read 8", "the size is missing"},
    {"T0 read 8 @4", "@4 stands where the size should"},
    {"T0 read \"x\" 4", "x stands where the address should"},
    {"T0 read 0x 4", "\"0x\" is not a number"},
    {"T0 read 1g 4", "\"1g\" is not a number"},
    {"T0 read -1 4", "\"-1\" is not a number"},
    {"T0 read 18446744073709551616 1", "does not fit in 64 bits"},
    {"T0 read 0x10000000000000000 1", "does not fit in 64 bits"},
    {"T0 read 99999999999999999999999 1", "does not fit in 64 bits"},
    {"T0 read 8 4294967296", "the size: 4294967296 is more than 4294967295"},
    {"T0 read 8 0", "an access of 0 bytes"},
    {"T0 read 8 4 4", "\"4\" is too much"},
    {"T0 read 8 4 arary", "did you mean array?"},
    {"T0 read 8 4 seqcst", "did you mean seq-cst?"},
    {"T0 read 8 4 none", "\"none\" is"},
    {"T0 read 8 4 array array", "array is given twice"},
    {"T0 read 8 4 acquire acquire", "the memory order is given twice"},
    {"T0 read 8 4 relaxed acquire", "the memory order is given twice"},
    {"T0 write 8 4 release merge merge", "merge is given twice"},
    {"T0 io dependent", "only an access can be dependent"},
    {"T0 waited", "the count is missing; write T<thread> waited COUNT [T<thread that wrote>]"},
    {"T0 waited 1 T", "\"T\" stands where a thread should"},
    {"T0 branches", "the row of outcomes is missing"},
    {"T0 branches 0121", "\"0121\" is no row of outcomes; write 0 and 1, as in 0110"},
    {"T0 branches 01010101010101010101010101010101010101010101010101010101010101010",
     "1 to 64 branches, not of 65"},
    {"T0 remap 1 0 4096", "virtual address is a multiple"},
    {"T0 write 8 4 merge", "only an atomic write or rmw can merge"},
    {"T0 read 8 4 acquire merge", "only an atomic write or rmw can merge"},
    {"T0 write 8 4 release merg", "did you mean merge?"},
    {"T0 read 8 4 +1 +1", "the gap is given twice"},
    {"T0 read 8 4 +4294967296", "the gap: 4294967296 is more"},
    {"T0 read 8 4 +", "the gap: \"\" is not a number"},
    {"T0 read 8 4 @1 @1", "the site is given twice"},
    {"T0 read 8 4 @", "the site: \"\" is not a number"},
    {"T0 read 8 4 \"x\"", "a name is too much"},
    {"T0 read 8 4 nursery", "only gc-begin and gc-end"},
    {"T0 rmw 8 4", "an rmw needs an order"},
    {"T0 acq", "the object is missing"},
    {"T0 acq @1", "a site stands where the object"},
    {"T0 acq \"\"", "is empty"},
    {"T0 acq \"a", "opened and not closed"},
    {"T0 acq \"a\\", "a backslash in quotes"},
    {"T0 acq \"a\\n\"", "a backslash in quotes"},
    {"T0 acq \"a\\u202e\"", "in braces"},
    {"T0 acq \"a\\u{\"", "in braces"},
    {"T0 acq \"a\\u{}\"", "in braces"},
    {"T0 acq \"a\\u{0}\"", "in braces"},
    {"T0 acq \"a\\u{110000}\"", "in braces"},
    {"T0 acq \"a\\u{0000041}\"", "in braces"},
    {"T0 acq \"a\\u{d800}\"", "in braces"},
    {"T0 acq \"a\\u{1b}\"", "control characters"},
    {"T0 acq \"a\"b", "a blank is missing after"},
    {"T0 acq a\"b\"", "a quote begins inside a word"},
    {"T0 acq \"\x01\"", "control characters"},
    {"T0 acq \"\xff\"", "not UTF-8"},
    {"T0 acq 1 stack", "only an access can be stack"},
    {"T0 arrive 1 \"a", "opened and not closed"},
    {"name site 1 \"x", "opened and not closed"},
    {"T0 arrive 1", "the round is missing"},
    {"T0 fork 1", "\"1\" stands where a thread should; write T and a number"},
    {"T0 fork T65536", "more than 65535"},
    {"T0 fork", "a thread is missing"},
    {"T0 thread T1", "a kernel thread should; write K"},
    {"T0 thread K65536", "the kernel thread: 65536"},
    {"T0 readvc T1", "the value is missing"},
    {"T0 readvc T1 0x400000000000", "below 2^46"},
    {"T0 clear 8 0", "a heap event of 0 bytes"},
    {"T0 copy 8 16", "the number of bytes is missing"},
    {"T0 alloc 8 16 2", "the bytes of an element is missing"},
    {"T0 alloc 8 16 3 8", "take more bytes than are allocated"},
    {"T0 phase", "the phase is missing"},
    {"T0 phase \"x\"", "x stands where the phase should"},
    {"name", "the name space is missing"},
    {"name lock 1 \"x\"", "\"lock\" has no names"},
    {"name site \"x\"", "x stands where the id should"},
    {"name site 1 x", "a text in quotes is missing"},
    {"name site 1", "a text in quotes is missing"},
    {"name site 1 @\"x\"", "a text in quotes is missing"},
    {"name site 1 \"x\" 2", "\"2\" is too much"},
    {"name thread 65536 \"x\"", "threads are below"},
    {"first", "the number of the first event is missing"},
    {"first 0x8000000000000000", "is more than 9223372036854775807"},
    {"first 1\nfirst 1", "t.txt:3: first is given twice"},
    {"first 1 2", "\"2\" is too much"},
    {"granularity 3", "a granularity is 1, 2, 4 or 8"},
    {"gaps", "the unit of gaps is missing; write gaps UNIT"},
    {"gaps miles", "gaps are counted in instructions or bytecodes"},
    {"gaps bytecodes 1", "\"1\" is too much"},
    {"gaps bytecodes\ngaps bytecodes", "t.txt:3: gaps is given twice"},
    {"granularity 8\ngranularity 8", "given twice"},
    {"producer x", "a text in quotes is missing"},
    {"producer \"\xc3\xa4\"", "printable ASCII"},
    {"producer \"a\"\nproducer \"b\"", "given twice"},
};

static void each_wrong_line_has_its_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
        fails(errors[i][0], errors[i][1]);
}

static void the_header_ends_with_the_first_event(void **state)
{
    static const char text[] = HEAD "T0 io\nfirst 3\n";

    (void)state;
    fails_after(text, sizeof text - 1, 1, "t.txt:3: first must come before the first event");
}

static void the_numbers_of_events_are_bounded(void **state)
{
    static const char most[] = HEAD "first 0x7ffffffffffffffe\nT0 io\nT0 io\n";
    static const char none[] = HEAD "first 0x7fffffffffffffff\nT0 io\n";

    (void)state;
    fails_after(most, sizeof most - 1, 1, "t.txt:4: the numbers of events must be below 2^63 - 1");
    fails_after(none, sizeof none - 1, 0, "t.txt:3: the numbers of events must be below 2^63 - 1");
}

static void the_first_line_must_name_a_known_version(void **state)
{
    static const char *const bad[][2] = {
        {"lardsim-text 3\n",
         "t.txt:1: version \"3\" is unknown; this lardsim reads versions 1 to 2"},
        {"lardsim-text 0\n", "version \"0\" is unknown"},
        {"lardsim-text 1\nT0 write 8 4 release merge\n", "in \"lardsim-text 1\" all atomic writes"},
        {"lardsim-text\n", "the version is missing"},
        {"lardsim-text x\n", "version \"x\" is unknown"},
        {"lardsim-text 1 2\n", "\"2\" is too much"},
        {"# only\n# comments\n", "t.txt:2: the first line must be"},
        {"T0 io\n", "t.txt:1: the first line must be"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        fails_after(bad[i][0], strlen(bad[i][0]), 0, bad[i][1]);
}

static void rubbish_never_hurts(void **state)
{
    static const char stuff[] = "T0123456789 \t\"\\@#+xKnameacqrelcopyalocfirst\n\r\x80\xff";
    char text[400] = HEAD;
    struct rng r;

    (void)state;
    rng_seed(&r, 3);
    for (int round = 0; round < 3000; round++) {
        const size_t n = sizeof HEAD - 1 + rng_below(&r, 300);
        struct err e = {0};
        struct source *s;
        struct batch b;

        for (size_t i = sizeof HEAD - 1; i < n; i++)
            text[i] = stuff[rng_below(&r, sizeof stuff)];
        s = open_bytes(text, n, &e);
        while (s && !source_next(s, &b, &e) && b.records)
            assert_true(b.records <= 2048);
        source_close(s);
        assert_true(e.code == 0 || e.code == LARD_TRACE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_before_an_error_are_delivered),
        cmocka_unit_test(lines_are_bounded_and_have_no_nul),
        cmocka_unit_test(a_file_that_breaks_is_an_error_after_its_whole_lines),
        cmocka_unit_test(each_wrong_line_has_its_error),
        cmocka_unit_test(the_header_ends_with_the_first_event),
        cmocka_unit_test(the_numbers_of_events_are_bounded),
        cmocka_unit_test(the_first_line_must_name_a_known_version),
        cmocka_unit_test(rubbish_never_hurts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
