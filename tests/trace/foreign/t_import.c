/* t_import.c - lackey, din and xdin: what each line makes, what is no line of theirs, and how the
 * formats are told and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "trace/trace.h"

static struct source *open_text(const struct trace_format *format, const char *text)
{
    struct input *in = xcalloc(1, sizeof *in);
    struct err e = {0};
    struct source *s;

    in->name = xstrdup("t");
    in->file =
        *text ? fmemopen((void *)(uintptr_t)text, strlen(text), "rb") : fopen("/dev/null", "rb");
    assert_non_null(in->file);
    s = format->open(in, &e);
    assert_non_null(s);
    return s;
}

static void reads_as(const struct trace_format *format, const char *text,
                     const struct event *expected, size_t n)
{
    struct source *s = open_text(format, text);
    struct err e = {0};
    struct batch b;

    if (source_next(s, &b, &e))
        fail_msg("%s", e.text);
    assert_int_equal(b.first, 0);
    assert_int_equal(b.records, n);
    assert_memory_equal(b.rec, expected, n * sizeof *expected);
    if (n)
        assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 0);
    assert_int_equal(names_count(s->names), 0);
    source_close(s);
}

/* After a good first line the second one is an error. */
static void refused(const struct trace_format *format, const char *good, const char *line,
                    const char *expected)
{
    char *text = xasprintf("%s\n%s\n%s\n", good, line, good);
    struct source *s = open_text(format, text);
    struct err e = {0};
    struct batch b;

    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 1);
    assert_int_equal(source_next(s, &b, &e), -1);
    assert_int_equal(e.code, LARD_TRACE);
    if (strncmp(e.text, "t:2: ", 5) != 0 || !strstr(e.text, expected))
        fail_msg("\"%s\": expected \"%s\", found \"%s\"", line, expected, e.text);
    source_close(s);
    free(text);
}

static void lackey_lines_are_instructions_and_accesses(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .addr = 0x1fff000710, .size = 8},
        {.kind = EV_WRITE, .addr = 0x1fff000708, .size = 16, .aux = 0x4014f5, .gap = 2},
        {.kind = EV_READ, .addr = 0xa0, .size = 4, .aux = 0x4014f5},
        {.kind = EV_READ, .addr = 0x1fff000704, .size = 4, .aux = 0x401502, .gap = 1},
        {.kind = EV_WRITE, .addr = 0x1fff000704, .size = 4, .aux = 0x401502},
        {.kind = EV_READ, .addr = UINT64_MAX, .size = 1, .aux = 0x401502},
    };

    (void)state;
    reads_as(&trace_format_lackey,
             "==1== Lackey, an example Valgrind tool\n==1==\n--1-- warning\n"
             " L 1fff000710,8\nI  004014f2,3\n\nI  004014f5,1\r\n S 1fff000708,16\n L A0,4\n"
             "I  00401502,4\n M 1fff000704,4\n L ffffffffffffffff,1\nI  00401506,2\n"
             "==1== Exit code:       0",
             expected, ARRAY_SIZE(expected));
    reads_as(&trace_format_lackey, "", NULL, 0);
}

static void what_is_no_line_of_lackey_s_is_an_error(void **state)
{
    static const char *const lines[] = {
        "hello",
        " L 10",
        " L 10,",
        " L ,8",
        " L 10,8 ",
        " L 10,8x",
        " L 0x10,8",
        " L10,8",
        "L 10,8",
        " I 10,8",
        "  L 10,8",
        " X 10,8",
        "I 10",
        "=1== x",
        "==1= x",
        "==x== y",
        "==== y",
        "==12",
        "-12-- x",
        "=",
        "SB 04016900",
        " ",
        " L 10,0x8",
        " L 1ffffffffffffffff,8",
        " L 10,99999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        refused(&trace_format_lackey, " L 10,8", lines[i], "not one of lackey's");
    refused(&trace_format_lackey, " L 10,8", " L 10,0", "0 bytes");
    refused(&trace_format_lackey, " L 10,8", " S 10,65537", "more than 65536");
    refused(&trace_format_lackey, " L 10,8", " S 10,4294967297", "more than 65536");
    refused(&trace_format_lackey, " L 10,8", " M ffffffffffffffff,2", "beyond the last address");
}

static void din_lines_are_labels_and_words(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .addr = 0x1fc0, .size = 4},
        {.kind = EV_WRITE, .addr = 0x1fd0, .size = 4, .aux = 0x415136, .gap = 2},
        {.kind = EV_READ, .addr = 0xfffffffffffffffc, .size = 4, .aux = 0x415136},
        {.kind = EV_WRITE, .addr = 0, .size = 4, .aux = 0x415136},
    };

    (void)state;
    reads_as(&trace_format_din,
             "0 1fc0\n2 415130 a comment\n 2\t0x415136\n4 10\n5 10\n1 1FD2\tx\n\n"
             "3 ffffffffffffffff\n0x1 0X0\r\n2 41513a",
             expected, ARRAY_SIZE(expected));
}

static void xdin_lines_are_letters_addresses_and_sizes(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .addr = 0x1fc0, .size = 8},
        {.kind = EV_WRITE, .addr = 0x1fd2, .size = 0x10, .aux = 0x415134, .gap = 2},
        {.kind = EV_READ, .addr = 0xffffffffffffffff, .size = 1, .aux = 0x415134},
        {.kind = EV_READ, .addr = 3, .size = 65536, .aux = 0x415134},
    };

    (void)state;
    reads_as(&trace_format_xdin,
             "r 1fc0 8\ni 415130 4 a comment\nI 0x415134 4\nc 10 4\nv 10 4\n W\t1FD2 0x10 x\n"
             "M ffffffffffffffff 1\r\n\nm 3 10000\ni 415138 4\n",
             expected, ARRAY_SIZE(expected));
}

static void what_is_no_line_of_dinero_s_is_an_error(void **state)
{
    static const char *const din[] = {"0",
                                      "0 ",
                                      "6 10",
                                      "r 10",
                                      "x",
                                      "0 10x",
                                      "0 0x",
                                      "0 x",
                                      "0,10",
                                      "10 1",
                                      "0 -1",
                                      "-1 10",
                                      "0 1ffffffffffffffff",
                                      " "};
    static const char *const xdin[] = {"r 10",    "r",      "x 10 4", "0 10 4", "r10 4", "rr 10 4",
                                       "r 10 4x", "r 10 x", "r x 4",  "r 10,4", " ",     "w 10 0x"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(din); i++)
        refused(&trace_format_din, "0 10", din[i], "a line of din is");
    for (size_t i = 0; i < ARRAY_SIZE(xdin); i++)
        refused(&trace_format_xdin, "r 10 4", xdin[i], "a line of xdin is");
    refused(&trace_format_xdin, "r 10 4", "r 10 0", "0 bytes");
    refused(&trace_format_xdin, "r 10 4", "r 10 10001", "more than 65536");
    refused(&trace_format_xdin, "r 10 4", "w ffffffffffffffff 2", "beyond the last address");
}

static void more_than_a_batch_is_read_in_order(void **state)
{
    char *text = xmalloc(1 << 20), *at = text;
    struct source *s;
    struct err e = {0};
    struct batch b;
    uint64_t n = 0;

    (void)state;
    at += sprintf(at, " L 7,1\n"); /* so that a pair does not fit at the end of a batch */
    for (int i = 0; i < 5000; i++)
        at += sprintf(at, " M %x,1\n", i);
    s = open_text(&trace_format_lackey, text);
    for (; !source_next(s, &b, &e) && b.records; n += b.records) {
        assert_true(b.first == n);
        for (size_t i = 0; i < b.records; i++)
            if (n + i) {
                assert_true(b.rec[i].addr == (n + i - 1) / 2);
                assert_int_equal(b.rec[i].kind, (n + i) % 2 ? EV_READ : EV_WRITE);
            }
    }
    assert_int_equal(e.code, 0);
    assert_int_equal(n, 10001);
    source_close(s);
    free(text);
}

static void lackey_is_known_by_its_first_lines(void **state)
{
    static const char *const are[] = {"==1== Lackey, an example Valgrind tool\n", " L 10,8\n",
                                      "I  004014f0,2\r\n S 10,4", "I 10,2"};
    static const char *const are_not[] = {"==1== Memcheck, a memory error detector\n",
                                          "hello\n L 10,8\n",
                                          " L 10",
                                          "L 10,8\n",
                                          "",
                                          "=",
                                          "=="};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(are); i++) {
        struct input in = {.head_n = strlen(are[i])};

        memcpy(in.head, are[i], in.head_n);
        assert_true(trace_format_lackey.bid(&in));
    }
    for (size_t i = 0; i < ARRAY_SIZE(are_not); i++) {
        struct input in = {.head_n = strlen(are_not[i])};

        memcpy(in.head, are_not[i], in.head_n);
        assert_false(trace_format_lackey.bid(&in));
    }
}

/* ---- formats by name ------------------------------------------------------------------------ */

static char *foreign(const char *before, const char *file)
{
    const char *top = getenv("top_srcdir");

    return xasprintf("%s%s/tests/data/foreign/%s", before, top ? top : ".", file);
}

static uint64_t count(const char *before, const char *file, struct err *e)
{
    char *spec = foreign(before, file);
    struct source *s = source_open(spec, e);
    struct batch b;
    uint64_t n = 0;

    while (s && !source_next(s, &b, e) && b.records)
        n += b.records;
    source_close(s);
    free(spec);
    return n;
}

static void a_format_can_be_named(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(count("", "count.lackey", &e), 5);
    assert_int_equal(count("lackey:", "count.lackey", &e), 5);
    assert_int_equal(count("din:", "loop.din", &e), 3);
    assert_int_equal(count("xdin:", "loop.xdin", &e), 3);
    assert_int_equal(e.code, 0);
    assert_int_equal(count("", "account.std", &e), 18);
    assert_int_equal(count("std:", "account.std", &e), 18);
    assert_int_equal(count("std:begin=transaction:", "marks.std", &e), 18);
    assert_int_equal(e.code, 0);
}

static void a_format_that_does_not_fit_is_an_error(void **state)
{
    static const struct {
        const char *before, *file, *expected;
    } wrong[] = {
        {"", "loop.din", "name its format: din:FILE or xdin:FILE"},
        {"", "loop.xdin", "name its format: din:FILE or xdin:FILE"},
        {"din:", "account.std", "account.std:1: a line of din"},
        {"binary:", "account.std", "preamble"},
        {"text:", "account.std", "account.std:1: the first line"},
        {"std:x=y:", "account.std", "\"x=y\" is no option of STD text"},
        {"din:x=y:", "loop.din", "the format din has no options"},
        {"din:", "nothing", "nothing: there is no such file"},
        {"din:x:", "loop.din", "there is no such file"},
        {"dim:", "loop.din", "there is no such file"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct err e = {0};

        (void)count(wrong[i].before, wrong[i].file, &e);
        assert_int_not_equal(e.code, 0);
        if (!strstr(e.text, wrong[i].expected))
            fail_msg("expected \"%s\", found \"%s\"", wrong[i].expected, e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lackey_lines_are_instructions_and_accesses),
        cmocka_unit_test(what_is_no_line_of_lackey_s_is_an_error),
        cmocka_unit_test(din_lines_are_labels_and_words),
        cmocka_unit_test(xdin_lines_are_letters_addresses_and_sizes),
        cmocka_unit_test(what_is_no_line_of_dinero_s_is_an_error),
        cmocka_unit_test(more_than_a_batch_is_read_in_order),
        cmocka_unit_test(lackey_is_known_by_its_first_lines),
        cmocka_unit_test(a_format_can_be_named),
        cmocka_unit_test(a_format_that_does_not_fit_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
