/* t_std.c - RAPID's STD text in both directions: each operation and its event, ids and names,
 * malformed lines, marks and transactions, what STD lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "trace/trace.h"

#define V(i)     ((UINT64_C(1) << 32) + 8 * (uint64_t)(i))
#define L(i)     ((UINT64_C(1) << 40) + 64 * (uint64_t)(i))
#define NAMED(i) ((UINT64_C(1) << 62) + (uint64_t)(i))

/* ---- helpers -------------------------------------------------------------------------------- */

static struct source *open_bytes(const struct trace_format *format, const char *bytes, size_t n,
                                 const char *options, struct err *e)
{
    struct input *in = xcalloc(1, sizeof *in);

    in->name = xstrdup("t.std");
    in->file = n ? fmemopen((void *)(uintptr_t)bytes, n, "rb") : fopen("/dev/null", "rb");
    in->options = options ? xstrdup(options) : NULL;
    assert_non_null(in->file);
    return format->open(in, e);
}

static struct source *open_text(const char *text, const char *options)
{
    struct err e = {0};
    struct source *s = open_bytes(&trace_format_std, text, strlen(text), options, &e);

    if (!s)
        fail_msg("%s", e.text);
    return s;
}

struct all { /* a whole trace in memory */
    struct event *rec;
    size_t n, cap;
};

static void read_all(struct source *s, struct all *a)
{
    struct err e = {0};
    struct batch b;

    *a = (struct all){NULL, 0, 0};
    for (;;) {
        if (source_next(s, &b, &e))
            fail_msg("%s", e.text);
        if (!b.records)
            return;
        for (size_t i = 0; i < b.records; i++) {
            a->rec = xgrow(a->rec, a->n, &a->cap, sizeof *a->rec);
            a->rec[a->n++] = b.rec[i];
        }
    }
}

/* The trace as lardsim's text, without its first lines: one string to compare. */
static char *as_text(struct source *s)
{
    const struct sink_info info = {.producer = "t"};
    struct err e = {0};
    char *at = NULL;
    size_t n;
    FILE *out = open_memstream(&at, &n);
    struct sink *to = sink_text(out, &info, &e);

    assert_non_null(to);
    if (trace_pump(s, to, &e) || to->finish(to, &e))
        fail_msg("%s", e.text);
    fclose(out);
    source_close(s);
    return at;
}

/* Most texts here have numbers for locations, whose names a_location_is_a_site is about. */
static void leave_out_numbered_sites(char *text)
{
    unsigned long long site, called;
    char *to = text, *next;

    for (char *line = text; *line; line = next) {
        next = strchr(line, '\n') + 1;
        if (sscanf(line, "name site 0x%llx \"%llu\"", &site, &called) == 2 && site == called)
            continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
}

static void same_text(const char *std, const char *options, const char *expected)
{
    char *whole = xasprintf("lardsim-text 2\nproducer \"t\"\n%s", expected);
    char *is = as_text(open_text(std, options));

    leave_out_numbered_sites(is);
    assert_string_equal(is, whole);
    free(is);
    free(whole);
}

/* What the sink writes, or its error. */
static char *as_std(struct source *s, bool lossy, struct err *e)
{
    const struct sink_info info = {.first = s->first};
    char *at = NULL;
    size_t n;
    FILE *out = open_memstream(&at, &n);
    struct sink *to = sink_std(out, &info, lossy, e);

    assert_non_null(to);
    if (trace_pump(s, to, e))
        to->abort(to);
    else
        assert_int_equal(to->finish(to, e), 0);
    fclose(out);
    source_close(s);
    return at;
}

static char *std_again(const char *std, bool lossy)
{
    struct err e = {0};
    char *is = as_std(open_text(std, NULL), lossy, &e);

    if (e.code)
        fail_msg("%s", e.text);
    return is;
}

/* From lardsim's text, whose first line is left out, to STD. */
static char *std_of(const char *text, bool lossy, struct err *e)
{
    char *whole = xasprintf("lardsim-text 1\n%s", text), *is;
    struct source *s = open_bytes(&trace_format_text, whole, strlen(whole), NULL, e);

    if (!s)
        fail_msg("%s", e->text);
    is = as_std(s, lossy, e);
    free(whole);
    return is;
}

static void written_as(const char *text, bool lossy, const char *expected)
{
    struct err e = {0};
    char *is = std_of(text, lossy, &e);

    if (e.code)
        fail_msg("%s", e.text);
    assert_string_equal(is, expected);
    free(is);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void each_operation_is_its_event(void **state)
{
    const struct event expected[] = {
        {.kind = EV_FORK, .aux = 1, .flags = EVF_MORE},
        {.aux = 7},
        {.kind = EV_ACQUIRE, .addr = L(0), .flags = EVF_MORE},
        {.aux = 8},
        {.kind = EV_WRITE, .addr = V(0), .size = 8, .aux = 9},
        {.kind = EV_RELEASE, .addr = L(0), .flags = EVF_MORE},
        {.aux = 10},
        {.kind = EV_READ, .addr = V(1), .size = 8, .aux = 1000000000000, .tid = 1},
        {.kind = EV_JOIN, .aux = 1},
    };
    struct source *s = open_text("T0|fork(T1)|7\nT0|acq(L0)|8\nT0|w(V0)|9\nT0|rel(L0)|10\n"
                                 "T1|r(V1)|1000000000000\nT0|join(T1)|-1",
                                 NULL);
    struct all a;

    (void)state;
    assert_int_equal(s->granularity, 8);
    assert_int_equal(s->first, 0);
    read_all(s, &a);
    assert_int_equal(a.n, ARRAY_SIZE(expected));
    assert_memory_equal(a.rec, expected, sizeof expected);
    free(a.rec);
    source_close(s);
}

static void ids_are_dense_in_order_of_appearance_and_named(void **state)
{
    (void)state;
    same_text("main|fork(w9)|1\nw2|w(b)|2\nw9|acq(b)|3\nmain|r(a)|4\nw2|r(b)|5\nw9|acq(a)|6\n"
              "w9|join(w2)|6\n",
              NULL,
              "name thread 0 \"main\"\n"
              "name thread 1 \"w9\"\n"
              "name thread 2 \"w2\"\n"
              "name object 0x100000000 \"b\"\n"
              "name object 0x10000000000 \"b\"\n"
              "name object 0x100000008 \"a\"\n"
              "name object 0x10000000040 \"a\"\n"
              "T0 fork T1 @0x1\n"
              "T2 write 0x100000000 8 @0x2\n"
              "T1 acq 0x10000000000 @0x3\n"
              "T0 read 0x100000008 8 @0x4\n"
              "T2 read 0x100000000 8 @0x5\n"
              "T1 acq 0x10000000040 @0x6\n"
              "T1 join T2 @0x6\n");
}

static void a_location_is_a_site(void **state)
{
    static const struct {
        const char *location;
        uint64_t site;
        const char *name;
    } at[] = {
        {"1", 1, "1"},
        {"4611686018427387903", NAMED(0) - 1, "4611686018427387903"},
        {"-1", 0, NULL},
        {"0", NAMED(0), "0"},
        {"00", NAMED(1), "00"},
        {"007", NAMED(2), "007"},
        {"4611686018427387904", NAMED(3), "4611686018427387904"},
        {"99999999999999999999", NAMED(4), "99999999999999999999"},
        {"-2", NAMED(5), "-2"},
        {"Account.java:12", NAMED(6), "Account.java:12"},
        {"12x", NAMED(7), "12x"},
        {"-1x", NAMED(8), "-1x"},
        {"18446744073709551623", NAMED(9), "18446744073709551623"}, /* 2^64 + 7 */
        {"7", 7, "7"},
        {"0", NAMED(0), "0"},
    };
    char text[1000] = "", *end = text;
    struct source *s;
    struct all a;

    (void)state;
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < ARRAY_SIZE(at); i++)
            end += sprintf(end, "T0|r(x)|%s\n", at[i].location);
    s = open_text(text, NULL);
    read_all(s, &a);
    assert_int_equal(a.n, 2 * ARRAY_SIZE(at));
    for (size_t i = 0; i < a.n; i++) {
        const char *name = at[i % ARRAY_SIZE(at)].name;

        assert_true(a.rec[i].aux == at[i % ARRAY_SIZE(at)].site);
        if (name)
            assert_string_equal(names_find(s->names, NAME_SITE, a.rec[i].aux), name);
        else
            assert_null(names_find(s->names, NAME_SITE, a.rec[i].aux));
    }
    free(a.rec);
    source_close(s);
}

static void a_name_is_any_run_of_characters_that_are_not_blank(void **state)
{
    static const char *const names[] = {
        "x",         "V234.23[0]", "a|b", "a)|5",     "((",        "))",
        ")",         "(",          "|",   "r(x)|1",   "\xc3\xa4",  "V1.2",
        "V07",       "V",          "V0",  "V1048575", "V1048576",  "V1234567",
        "V12345678", "W1",         "0",   "aaaaaaaa", "aaaaaaaab", "com.example.A@1f",
        "#",         "\"",         "V00"};
    char text[2000] = "", *end = text;
    struct source *s;
    struct all a;

    (void)state;
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
            end += sprintf(end, "T0|r(%s)|1\n", names[i]);
    s = open_text(text, NULL);
    read_all(s, &a);
    assert_int_equal(a.n, 2 * ARRAY_SIZE(names));
    for (size_t i = 0; i < a.n; i++) {
        assert_true(a.rec[i].addr == V(i % ARRAY_SIZE(names)));
        assert_string_equal(names_find(s->names, NAME_OBJECT, a.rec[i].addr),
                            names[i % ARRAY_SIZE(names)]);
    }
    free(a.rec);
    source_close(s);
}

static void empty_lines_and_ends_of_lines_do_not_matter(void **state)
{
    static const char *const texts[] = {
        "T0|r(x)|1\nT0|w(x)|2\n", "T0|r(x)|1\nT0|w(x)|2", "\n\nT0|r(x)|1\n\nT0|w(x)|2\n\n\n",
        "T0|r(x)|1\r\nT0|w(x)|2\r\n", "\r\nT0|r(x)|1\r\nT0|w(x)|2\r"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        same_text(texts[i], NULL,
                  "name thread 0 \"T0\"\nname object 0x100000000 \"x\"\n"
                  "T0 read 0x100000000 8 @0x1\nT0 write 0x100000000 8 @0x2\n");
    same_text("", NULL, "");
    same_text("\n", NULL, "");
}

/* The same with LF, where most lines are read quickly, and with CR LF, where none is. */
static void quick_lines_are_read_as_all_others(void **state)
{
    static const char *const operations[] = {"r", "w", "r", "w", "acq", "rel", "fork", "join"};
    static const char *const letters[] = {"V", "V", "V", "x", "V1.", "com.example.Field@"};
    char *text[2], *at[2], *is[2], line[100];
    struct rng r;

    (void)state;
    rng_seed(&r, 7);
    for (int k = 0; k < 2; k++)
        at[k] = text[k] = xmalloc(1 << 20);
    for (int i = 0; i < 20000; i++) {
        const char *operation = operations[rng_below(&r, ARRAY_SIZE(operations))];
        const char *letter = *operation == 'f' || *operation == 'j'
                                 ? "T"
                                 : letters[rng_below(&r, ARRAY_SIZE(letters))];

        snprintf(line, sizeof line, "T%d|%s(%s%d)|%d", (int)rng_below(&r, 20), operation, letter,
                 (int)rng_below(&r, 300), (int)rng_below(&r, 50) - 1);
        at[0] += sprintf(at[0], "%s\n", line);
        at[1] += sprintf(at[1], "%s\r\n", line);
    }
    for (int k = 0; k < 2; k++)
        is[k] = as_text(open_text(text[k], NULL));
    assert_string_equal(is[0], is[1]);
    for (int k = 0; k < 2; k++) {
        free(text[k]);
        free(is[k]);
    }
}

static void a_malformed_line_is_an_error_that_names_it(void **state)
{
    static const char *const lines[][2] = {
        {"T0", "there are no bars"},
        {"T0|r(x)", "a bar is missing"},
        {"|r(x)|1", "the thread is missing"},
        {"T0|r(x)|", "the location is missing"},
        {"T0||1", "no name in parentheses"},
        {"T0|r|1", "no name in parentheses"},
        {"T0|r()|1", "no name in parentheses"},
        {"T0|r(x|1", "no name in parentheses"},
        {"T0|rx)|1", "no name in parentheses"},
        {"T0|r(x)y|1", "no name in parentheses"},
        {"T0|begin()|1", "no name in parentheses"},
        {"T0|beginning|1", "no name in parentheses"},
        {"T0|(x)|1", "\"\" is no operation"},
        {"T0|R(x)|1", "\"R\" is no operation"},
        {"T0|write(x)|1", "\"write\" is no operation"},
        {"T0|dummy(x)|1", "\"dummy\" is no operation"},
        {"T0|endless(x)|1", "\"endless\" is no operation"},
        {" T0|r(x)|1", "blank"},
        {"T0|r(x)|1 ", "blank"},
        {"T0|r(a b)|1", "blank"},
        {"T0|r(a\tb)|1", "blank"},
        {"T0 r x", "there are no bars"},
        {"T0|r(\x01)|1", "control"},
        {"T\x7f|r(x)|1", "control"},
        {"T0|r(x)|\x01", "control"},
        {"T0|r(\xff)|1", "UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        char *text = xasprintf("T0|w(x)|1\n\n%s\nT0|w(x)|2\n", lines[i][0]);
        struct source *s = open_text(text, NULL);
        struct err e = {0};
        struct batch b;

        assert_int_equal(source_next(s, &b, &e), 0);
        assert_int_equal(b.records, 1); /* what is before it */
        for (int again = 0; again < 2; again++) {
            err_clear(&e);
            assert_int_equal(source_next(s, &b, &e), -1);
            assert_int_equal(e.code, LARD_TRACE);
            if (strncmp(e.text, "t.std:3: ", 9) != 0 || !strstr(e.text, lines[i][1]))
                fail_msg("%s: expected \"%s\", found \"%s\"", lines[i][0], lines[i][1], e.text);
        }
        source_close(s);
        free(text);
    }
}

static void a_nul_is_an_error_wherever_it_is(void **state)
{
    static const char line[] = "T0|r(x)|1\n";

    (void)state;
    for (size_t i = 0; i < sizeof line - 2; i++) {
        char text[2 * sizeof line];
        struct err e = {0};
        struct source *s;
        struct batch b;

        memcpy(text, line, sizeof line - 1);
        memcpy(text + sizeof line - 1, line, sizeof line - 1);
        text[sizeof line - 1 + i] = '\0';
        s = open_bytes(&trace_format_std, text, 2 * (sizeof line - 1), NULL, &e);
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_int_equal(b.records, 1);
        assert_int_equal(source_next(s, &b, &e), -1);
        assert_non_null(strstr(e.text, "t.std:2: "));
        source_close(s);
    }
}

static void limits_hold(void **state)
{
    char *text = xmalloc(2 << 20), *at = text;
    struct err e = {0};
    struct source *s;
    struct batch b;
    size_t n = 0;

    (void)state;
    for (int i = 0; i < MAX_THREADS; i++)
        at += sprintf(at, "T%d|r(x)|1\n", i);
    s = open_text(text, NULL);
    while (!source_next(s, &b, &e) && b.records)
        n += b.records;
    assert_int_equal(e.code, 0);
    assert_int_equal(n, MAX_THREADS);
    source_close(s);
    sprintf(at, "main|r(x)|1\n");
    s = open_text(text, NULL);
    while (!source_next(s, &b, &e))
        continue;
    assert_non_null(strstr(e.text, "t.std:65537: there are more than 65536 threads"));
    source_close(s);

    err_clear(&e);
    memset(text, 'x', 1 << 20);
    memcpy(text, "T0|r(", 5);
    text[1 << 20] = '\0';
    s = open_text(text, NULL);
    assert_int_equal(source_next(s, &b, &e), -1);
    assert_non_null(strstr(e.text, "t.std:1: the line is longer than 65536 bytes"));
    source_close(s);

    err_clear(&e);
    memcpy(text + 1030, ")|1\n", 5); /* a name of 1025 bytes */
    s = open_text(text, NULL);
    assert_int_equal(source_next(s, &b, &e), -1);
    assert_non_null(strstr(e.text, "longer than 1024 bytes"));
    source_close(s);
    free(text);
}

/* ---- begin and end -------------------------------------------------------------------------- */

static const char marks[] = "T0|begin|1\nT0|w(x)|2\nT0|begin(f)|3\nT1|w(y)|4\nT0|end(f)|5\n"
                            "T0|r(y)|6\nT0|end|7\nT0|r(x)|8\nT0|end|9\n";

static void begin_and_end_are_marks(void **state)
{
    (void)state;
    same_text(marks, NULL,
              "name thread 0 \"T0\"\n"
              "name phase 0 \"begin\"\n"
              "name object 0x100000000 \"x\"\n"
              "name phase 1 \"begin(f)\"\n"
              "name thread 1 \"T1\"\n"
              "name object 0x100000008 \"y\"\n"
              "name phase 2 \"end(f)\"\n"
              "name phase 3 \"end\"\n"
              "T0 phase 0 @0x1\n"
              "T0 write 0x100000000 8 @0x2\n"
              "T0 phase 1 @0x3\n"
              "T1 write 0x100000008 8 @0x4\n"
              "T0 phase 2 @0x5\n"
              "T0 read 0x100000008 8 @0x6\n"
              "T0 phase 3 @0x7\n"
              "T0 read 0x100000000 8 @0x8\n"
              "T0 phase 3 @0x9\n");
}

static void an_option_makes_the_outermost_pairs_transactions(void **state)
{
    char *is;
    struct err e = {0};

    (void)state;
    same_text(marks, "begin=transaction",
              "name thread 0 \"T0\"\n"
              "name object 0x100000000 \"x\"\n"
              "name phase 0 \"begin(f)\"\n"
              "name thread 1 \"T1\"\n"
              "name object 0x100000008 \"y\"\n"
              "name phase 1 \"end(f)\"\n"
              "name phase 2 \"end\"\n"
              "T0 txn-begin @0x1\n"
              "T0 write 0x100000000 8 @0x2 txn\n"
              "T0 phase 0 @0x3\n"
              "T1 write 0x100000008 8 @0x4\n"
              "T0 phase 1 @0x5\n"
              "T0 read 0x100000008 8 @0x6 txn\n"
              "T0 txn-commit @0x7\n"
              "T0 read 0x100000000 8 @0x8\n"
              "T0 phase 2 @0x9\n");
    is = as_std(open_text(marks, "begin=transaction"), true, &e);
    assert_string_equal(is, marks);
    free(is);
    is = as_std(open_text(marks, "begin=mark"), false, &e);
    assert_string_equal(is, marks);
    free(is);
    is = as_std(open_text(marks, "begin=transaction"), false, &e);
    assert_non_null(strstr(e.text, "event 0, of thread 0, is of the kind txn-begin"));
    free(is);
}

static void what_is_no_option_is_an_error(void **state)
{
    static const char *const options[] = {"begin=", "begin=x", "end=mark", "begin=mark,begin=mark"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        struct err e = {0};

        assert_null(open_bytes(&trace_format_std, "T0|r(x)|1\n", 10, options[i], &e));
        assert_int_equal(e.code, LARD_USAGE);
        assert_non_null(strstr(e.text, options[i]));
    }
}

/* ---- knowing it ----------------------------------------------------------------------------- */

static void it_is_known_by_its_first_line(void **state)
{
    static const char *const are[] = {
        "T0|r(x)|1\n",         "main|dummy(x)|1", "T0|begin|1\n",    "T0|end|1",
        "\n\r\nT0|acq(x)|1\n", "T0|wirte(x)|1\n", "T0|fork(T1)|x\n", "a|b(c"};
    static const char *const are_not[] = {
        "T0|r|1\n",   "a | r(x) | 1\n", "|r(x)|1\n", "x\nT0|r(x)|1\n",
        "T0|(x)|1\n", "T0|R(x)|1\n",    "",          "\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(are); i++) {
        struct input in = {.head_n = strlen(are[i])};

        memcpy(in.head, are[i], in.head_n);
        assert_true(trace_format_std.bid(&in));
    }
    for (size_t i = 0; i < ARRAY_SIZE(are_not); i++) {
        struct input in = {.head_n = strlen(are_not[i])};

        memcpy(in.head, are_not[i], in.head_n);
        assert_false(trace_format_std.bid(&in));
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static void a_canonical_file_comes_out_as_it_went_in(void **state)
{
    static const char text[] = "main|fork(T1)|10\nmain|acq(bank)|11\nmain|w(a.b[0])|12\n"
                               "main|rel(bank)|0\nT1|begin(f)|1\nT1|r(V7)|-1\nT1|w(V7)|-1\n"
                               "T1|acq(V7)|3\nT1|acq(V7)|3\nT1|rel(V7)|2147483647\nT1|end(f)|2\n"
                               "main|join(T1)|15\nmain|r(V0)|A.java:16\nmain|w(a|b)|1\n";
    char *once;

    (void)state;
    once = std_again(text, false);
    assert_string_equal(once, text);
    free(once);
}

static void lossy_writes_what_rapid_can_read(void **state)
{
    char *once = std_again("T0|w(a|b)|A.java:16\nT0|w(V0)|2147483648\nT0|r(a|b)|-2\n"
                           "T0|w(x)|1073741824\nT0|w(y)|-99999999999\nT0|begin(a|b)|1\n",
                           true);
    char *twice = std_again(once, true);

    (void)state;
    assert_string_equal(once, "T0|w(V0)|1073741824\nT0|w(V1)|1073741825\nT0|r(V0)|-2\n"
                              "T0|w(x)|1073741826\nT0|w(y)|1073741827\n");
    assert_string_equal(once, twice);
    free(once);
    free(twice);
}

static void names_that_can_not_stand_in_std_are_replaced(void **state)
{
    (void)state;
    written_as("name object 8 \"two words\"\nname object 16 \"V3\"\nname object 24 \"same\"\n"
               "name object 32 \"same\"\nname object 64 \"lock a\"\nname thread 3 \"T7\"\n"
               "name thread 4 \"a|b\"\nname site 5 \"7\"\nname site 6 \"-1\"\nname site 8 \"a b\"\n"
               "T3 read 8 4 @5\nT3 read 16 4 @7\nT3 write 24 4 @6\nT3 read 32 4 @8\n"
               "T7 read 40 2 @0x4000000000000000\nT7 acq 64\nT4 acq 8\n",
               false,
               "T7|r(V0)|7\nT7|r(V3)|1073741824\nT7|w(same)|6\nT7|r(V3_0)|8\n"
               "T7_0|r(V4)|4611686018427387904\nT7_0|acq(L0)|-1\nT4|acq(L1)|-1\n");
}

static void a_name_that_comes_late_changes_nothing(void **state)
{
    struct err e = {0};
    char *is = std_of("T0 read 8 4\nname object 8 \"x\"\nname thread 0 \"main\"\nT0 read 8 4\n",
                      false, &e);

    (void)state;
    assert_string_equal(is, "T0|r(V0)|-1\nT0|r(V0)|-1\n");
    free(is);
}

static void accesses_of_different_sizes_are_of_one_variable_where_they_begin(void **state)
{
    (void)state;
    written_as("T0 read 8 4 +7 array\nT0 write 8 8\nT0 read 12 4\n", false,
               "T0|r(V0)|-1\nT0|w(V0)|-1\nT0|r(V1)|-1\n");
}

static void what_std_lacks_stops_the_writer_or_is_left_out(void **state)
{
    static const char *const lacking[][2] = {
        {"T0 rmw 8 4 relaxed", "rmw, atomic"},
        {"T0 read 8 4 acquire", "read, atomic"},
        {"T0 write 8 4 system", "write, system"},
        {"T0 read 8 4 stack", "read, stack"},
        {"T0 read 8 4 volatile", "read, volatile"},
        {"T0 read 8 4 final", "read, final"},
        {"T0 acq 8 system", "acq, system"},
        {"T0 fork T1 system", "fork, system"},
        {"T0 acq-shared 8", "acq-shared"},
        {"T0 rel-shared 8", "rel-shared"},
        {"T0 wait-enter 8", "wait-enter"},
        {"T0 wait-exit 8", "wait-exit"},
        {"T0 notify 8", "notify"},
        {"T0 vread 8", "vread"},
        {"T0 vwrite 8", "vwrite"},
        {"T0 arrive 8 0", "arrive"},
        {"T0 depart 8 0", "depart"},
        {"T0 class-init 8", "class-init"},
        {"T0 class-use 8", "class-use"},
        {"T0 start", "start"},
        {"T0 end", "end"},
        {"T0 alloc 8 8", "alloc"},
        {"T0 clear 8 8", "clear"},
        {"T0 copy 8 16 8", "copy"},
        {"T0 gc-begin", "gc-begin"},
        {"T0 gc-end", "gc-end"},
        {"T0 thread K0", "thread"},
        {"T0 readvc T0 1", "readvc"},
        {"T0 writevc T0 1", "writevc"},
        {"T0 roi-begin", "roi-begin"},
        {"T0 roi-end", "roi-end"},
        {"T0 io", "io"},
        {"T0 phase 7", "phase"},
        {"name phase 7 \"beginning\"\nT0 phase 7", "phase"},
        {"name phase 7 \"begin(a b)\"\nT0 phase 7", "phase"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lacking); i++) {
        char *text = xasprintf("first 41\nT0 read 64 4 @3\n%s\nT0 write 64 4 @4\n", lacking[i][0]);
        char *expected =
            xasprintf("event 42, of thread 0, is of the kind %s, which", lacking[i][1]);
        struct err e = {0};
        char *is = std_of(text, false, &e);

        assert_int_equal(e.code, LARD_TRACE);
        if (!strstr(e.text, expected))
            fail_msg("expected \"%s\", found \"%s\"", expected, e.text);
        free(is);
        written_as(text, true, "T0|r(V0)|3\nT0|w(V0)|4\n");
        free(expected);
        free(text);
    }
    written_as("T0 txn-begin\nT0 read 8 4 txn\nT0 txn-commit\n", true,
               "T0|begin|-1\nT0|r(V0)|-1\nT0|end|-1\n");
}

static void who_waits_lets_go_of_the_lock(void **state)
{
    (void)state;
    written_as("T0 acq 8\nT0 acq 8\nT0 acq 16\nT0 wait-enter 8\nT1 acq 8\nT1 wait-enter 8 @2\n"
               "T0 wait-exit 8\nT0 rel 8\nT0 rel 8\nT1 wait-exit 8\nT1 rel 8\nT1 wait-enter 8\n",
               true,
               "T0|acq(L0)|-1\nT0|acq(L0)|-1\nT0|acq(L1)|-1\nT0|rel(L0)|-1\nT0|rel(L0)|-1\n"
               "T1|acq(L0)|-1\nT1|rel(L0)|2\nT0|acq(L0)|-1\nT0|acq(L0)|-1\nT0|rel(L0)|-1\n"
               "T0|rel(L0)|-1\nT1|acq(L0)|-1\nT1|rel(L0)|-1\n");
}

/* What was written is read as the same events, whatever the trace was; writing that again makes the
 * same text. */
static void what_is_written_is_read_again(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 20; seed++) {
        char *spec = xasprintf("synth:events=3000,threads=6,seed=%d", seed), *once, *twice;
        struct err e = {0};
        struct source *s = source_open(spec, &e);

        assert_non_null(s);
        once = as_std(s, true, &e);
        assert_int_equal(e.code, 0);
        assert_true(strlen(once) > 10000);
        twice = std_again(once, false);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
        free(spec);
    }
}

static void a_disk_that_is_full_is_an_error(void **state)
{
    const struct sink_info info = {.first = 0};
    const struct event ev = {.kind = EV_READ, .addr = 8, .size = 4};
    FILE *out = fopen("/dev/full", "wb");
    struct err e = {0};
    struct sink *to;

    (void)state;
    if (!out)
        skip();
    to = sink_std(out, &info, false, &e);
    assert_int_equal(to->event(to, &ev, &e), 0);
    assert_int_equal(to->finish(to, &e), -1);
    assert_int_equal(e.code, LARD_OUTPUT);
    assert_non_null(strstr(e.text, "can't be written: No space"));
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_is_its_event),
        cmocka_unit_test(ids_are_dense_in_order_of_appearance_and_named),
        cmocka_unit_test(a_location_is_a_site),
        cmocka_unit_test(a_name_is_any_run_of_characters_that_are_not_blank),
        cmocka_unit_test(empty_lines_and_ends_of_lines_do_not_matter),
        cmocka_unit_test(quick_lines_are_read_as_all_others),
        cmocka_unit_test(a_malformed_line_is_an_error_that_names_it),
        cmocka_unit_test(a_nul_is_an_error_wherever_it_is),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(begin_and_end_are_marks),
        cmocka_unit_test(an_option_makes_the_outermost_pairs_transactions),
        cmocka_unit_test(what_is_no_option_is_an_error),
        cmocka_unit_test(it_is_known_by_its_first_line),
        cmocka_unit_test(a_canonical_file_comes_out_as_it_went_in),
        cmocka_unit_test(lossy_writes_what_rapid_can_read),
        cmocka_unit_test(names_that_can_not_stand_in_std_are_replaced),
        cmocka_unit_test(a_name_that_comes_late_changes_nothing),
        cmocka_unit_test(accesses_of_different_sizes_are_of_one_variable_where_they_begin),
        cmocka_unit_test(what_std_lacks_stops_the_writer_or_is_left_out),
        cmocka_unit_test(who_waits_lets_go_of_the_lock),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_disk_that_is_full_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
