/* t_json.c - the JSON writer: exact bytes for each kind of value, layout, and misuse. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/input.h"
#include "base/json.h"

struct text {
    struct json j;
    FILE *out;
    char *bytes;
    size_t n;
};

static void text_open(struct text *t, bool indent)
{
    t->out = open_memstream(&t->bytes, &t->n);
    assert_non_null(t->out);
    json_init(&t->j, t->out, indent);
}

static void text_expect(struct text *t, const char *expected)
{
    assert_int_equal(fclose(t->out), 0);
    assert_string_equal(t->bytes, expected);
    free(t->bytes);
}

static void members_are_separated_on_one_line(void **state)
{
    struct text t;

    (void)state;
    text_open(&t, false);
    json_object(&t.j);
    json_key(&t.j, "a");
    json_u64(&t.j, 1);
    json_key(&t.j, "b");
    json_array(&t.j);
    json_bool(&t.j, true);
    json_bool(&t.j, false);
    json_null(&t.j);
    json_array(&t.j);
    json_end(&t.j);
    json_object(&t.j);
    json_end(&t.j);
    json_end(&t.j);
    json_key(&t.j, "c");
    json_str(&t.j, "x");
    json_end(&t.j);
    text_expect(&t, "{\"a\": 1, \"b\": [true, false, null, [], {}], \"c\": \"x\"}");
}

static void indented_elements_have_a_line_each(void **state)
{
    struct text t;

    (void)state;
    text_open(&t, true);
    json_object(&t.j);
    json_key(&t.j, "none");
    json_object(&t.j);
    json_end(&t.j);
    json_key(&t.j, "in");
    json_object(&t.j);
    json_key(&t.j, "list");
    json_array(&t.j);
    for (uint64_t i = 1; i <= 2; i++) {
        json_object(&t.j);
        json_key(&t.j, "i");
        json_u64(&t.j, i);
        json_key(&t.j, "o");
        json_object(&t.j);
        json_key(&t.j, "p");
        json_null(&t.j);
        json_end(&t.j);
        json_end(&t.j);
    }
    json_end(&t.j);
    json_end(&t.j);
    json_end(&t.j);
    text_expect(&t, "{\n"
                    "  \"none\": {},\n"
                    "  \"in\": {\n"
                    "    \"list\": [\n"
                    "      {\"i\": 1, \"o\": {\"p\": null}},\n"
                    "      {\"i\": 2, \"o\": {\"p\": null}}\n"
                    "    ]\n"
                    "  }\n"
                    "}\n");
}

static void a_second_document_may_follow(void **state)
{
    struct text t;

    (void)state;
    text_open(&t, false);
    for (unsigned i = 0; i < 2; i++) {
        json_object(&t.j);
        json_end(&t.j);
        fputc('\n', t.out);
    }
    text_expect(&t, "{}\n{}\n");
}

static void numbers_are_exact(void **state)
{
    struct text t;

    (void)state;
    text_open(&t, false);
    json_array(&t.j);
    json_u64(&t.j, 0);
    json_u64(&t.j, (UINT64_C(1) << 53) + 1);
    json_u64(&t.j, UINT64_MAX);
    json_hex(&t.j, 0);
    json_hex(&t.j, 0x1f);
    json_hex(&t.j, UINT64_MAX);
    json_end(&t.j);
    text_expect(&t, "[0, 9007199254740993, 18446744073709551615, \"0x0\", \"0x1f\", "
                    "\"0xffffffffffffffff\"]");
}

static void expect_fixed(uint64_t num, uint64_t den, const char *expected)
{
    struct text t;

    text_open(&t, false);
    json_fixed(&t.j, num, den);
    text_expect(&t, expected);
}

static void fixed_rounds_half_up(void **state)
{
    (void)state;
    expect_fixed(1, 2, "0.500000");
    expect_fixed(1, 3, "0.333333");
    expect_fixed(2, 3, "0.666667");
    expect_fixed(1, 2000000, "0.000001");
    expect_fixed(1, 2000001, "0.000000");
    expect_fixed(3, 2000000, "0.000002");
    expect_fixed(1999999, 2000000, "1.000000");
    expect_fixed(1999998, 2000000, "0.999999");
    expect_fixed(22, 7, "3.142857");
}

static void fixed_holds_at_the_limits(void **state)
{
    (void)state;
    expect_fixed(0, 0, "null");
    expect_fixed(5, 0, "null");
    expect_fixed(0, 5, "0.000000");
    expect_fixed(0, UINT64_MAX, "0.000000");
    expect_fixed(UINT64_MAX, 1, "18446744073709551615.000000");
    expect_fixed(UINT64_MAX, 2, "9223372036854775807.500000");
    expect_fixed(UINT64_MAX, UINT64_MAX, "1.000000");
    expect_fixed(UINT64_MAX - 1, UINT64_MAX, "1.000000");
    expect_fixed(1, UINT64_MAX, "0.000000");
}

static void expect_escaped(const char *s, const char *expected)
{
    struct text t;

    text_open(&t, false);
    json_str(&t.j, s);
    text_expect(&t, expected);
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    expect_escaped("", "\"\"");
    expect_escaped(NULL, "null");
    expect_escaped("\"\\/", "\"\\\"\\\\/\"");
    expect_escaped("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    expect_escaped("\x01\x0b\x1f\x7f", "\"\\u0001\\u000b\\u001f\\u007f\"");
}

static void well_formed_utf8_stays(void **state)
{
    (void)state;
    expect_escaped("\xc2\xa0 \xdf\xbf", "\"\xc2\xa0 \xdf\xbf\"");
    expect_escaped("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80",
                   "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\"");
    expect_escaped("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
}

/* A reader gets the same text; a terminal obeys nothing in it. */
static void characters_that_hide_are_escaped(void **state)
{
    (void)state;
    expect_escaped("\xc2\x80\xe2\x80\xae\xef\xbb\xbf", "\"\\u0080\\u202e\\ufeff\"");
    expect_escaped("\xe2\x80\xa8\xf3\xa0\x81\x81", "\"\\u2028\\udb40\\udc41\"");
}

#define BAD "\xef\xbf\xbd"

static void other_bytes_become_replacement_characters(void **state)
{
    (void)state;
    expect_escaped("a\x80z", "\"a" BAD "z\"");
    expect_escaped("\xff", "\"" BAD "\"");
    expect_escaped("\xc0\xaf", "\"" BAD BAD "\"");                 /* overlong */
    expect_escaped("\xe0\x80\xaf", "\"" BAD BAD BAD "\"");         /* overlong */
    expect_escaped("\xed\xa0\x80", "\"" BAD BAD BAD "\"");         /* a surrogate */
    expect_escaped("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* beyond U+10FFFF */
    expect_escaped("\xc3", "\"" BAD "\"");                         /* cut off */
    expect_escaped("\xe2\x82", "\"" BAD BAD "\"");
    expect_escaped("\xf0\x9f\x98", "\"" BAD BAD BAD "\"");
    expect_escaped("\xc3\"", "\"" BAD "\\\"\"");
}

static void keys_are_escaped_too(void **state)
{
    struct text t;

    (void)state;
    text_open(&t, false);
    json_object(&t.j);
    json_key(&t.j, "\"\n\xff");
    json_null(&t.j);
    json_end(&t.j);
    text_expect(&t, "{\"\\\"\\n" BAD "\": null}");
}

static void sixty_four_levels_fit(void **state)
{
    struct text t;
    char expected[129];

    (void)state;
    text_open(&t, false);
    for (unsigned i = 0; i < 64; i++)
        json_array(&t.j);
    for (unsigned i = 0; i < 64; i++)
        json_end(&t.j);
    memset(expected, '[', 64);
    memset(expected + 64, ']', 64);
    expected[128] = '\0';
    text_expect(&t, expected);
}

#ifndef NDEBUG

static bool aborts(void (*misuse)(struct json *j))
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct json j;
        FILE *out = fopen("/dev/null", "w");
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!out || !freopen("/dev/null", "w", stderr))
            _exit(2);
        json_init(&j, out, false);
        misuse(&j);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void value_without_key(struct json *j)
{
    json_object(j);
    json_u64(j, 1);
}

static void key_in_array(struct json *j)
{
    json_array(j);
    json_key(j, "k");
}

static void key_outside(struct json *j)
{
    json_key(j, "k");
}

static void key_after_key(struct json *j)
{
    json_object(j);
    json_key(j, "k");
    json_key(j, "l");
}

static void key_without_value(struct json *j)
{
    json_object(j);
    json_key(j, "k");
    json_end(j);
}

static void end_outside(struct json *j)
{
    json_end(j);
}

static void too_deep(struct json *j)
{
    for (unsigned i = 0; i < 65; i++)
        json_array(j);
}

static void proper_use(struct json *j)
{
    json_object(j);
    json_key(j, "k");
    json_u64(j, 1);
    json_end(j);
}

static void misuse_is_caught(void **state)
{
    (void)state;
    assert_true(aborts(value_without_key));
    assert_true(aborts(key_in_array));
    assert_true(aborts(key_outside));
    assert_true(aborts(key_after_key));
    assert_true(aborts(key_without_value));
    assert_true(aborts(end_outside));
    assert_true(aborts(too_deep));
    assert_false(aborts(proper_use));
}

#endif

/* ---- reading -------------------------------------------------------------------------------- */

static void note(void *out, const char *name, const char *text)
{
    fprintf(out, "%s=%s\n", name, text);
}

/* What is told of a text, or "bad". Owned by the caller. */
static char *told(const char *text, size_t n)
{
    char *to = NULL;
    size_t bytes;
    FILE *out = open_memstream(&to, &bytes);
    const int bad = json_read(text, n, note, out);

    fclose(out);
    if (!bad)
        return to;
    free(to);
    return strdup("bad");
}

static void check_told(const char *text, const char *expected)
{
    char *is = told(text, strlen(text));

    assert_string_equal(is, expected);
    free(is);
}

static void what_is_read_has_the_keys_above_it(void **state)
{
    (void)state;
    check_told("{\"a\": {\"b\": 1, \"c.d\": [true, null, {\"e\": \"x\"}]}, \"f\" : -1.5e3}\n",
               "a.b=1\na.c.d=true\na.c.d=null\na.c.d.e=x\nf=-1.5e3\n");
    check_told(" \"one\" ", "=one\n");
    check_told("{\"\\u0061\\n\": \"\\\"\\\\\\/\\t\\u00e9\\u20AC\\uD83D\\uDE00\"}",
               "a\n=\"\\/\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
    check_told("{\"a\": {}, \"b\": []}", "");
}

static void what_is_no_json_is_refused(void **state)
{
    static const char *const texts[] = {" ",
                                        "{",
                                        "{\"a\"}",
                                        "{\"a\": }",
                                        "{\"a\": 1,}",
                                        "[1 2]",
                                        "[1],",
                                        "{\"a\": 1} x",
                                        "nul",
                                        "tru e",
                                        "\"a",
                                        "\"a\nb\"",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\\ud800\"",
                                        "\"\\u0000\"",
                                        "\"\\ud800\\u0041\"",
                                        "\"\\udc00\"",
                                        "{1: 2}",
                                        "[,]",
                                        "[1}",
                                        "--x",
                                        "]",
                                        "{\"a\": 1 \"b\": 2}"};
    char deep[200];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_told(texts[i], "bad");
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    check_told(deep, "bad");
}

/* A file of any length is read; a single text has a bound. */
static void length_is_no_obstacle(void **state)
{
    enum { BYTES = 3 << 20 };
    char *text = malloc(BYTES + 40);

    (void)state;
    memset(text, ' ', BYTES);
    memcpy(text, "{", 1);
    snprintf(text + BYTES, 40, "\"end\": 7}");
    check_told(text, "end=7\n");
    memset(text, 'x', BYTES);
    memcpy(text, "\"", 1);
    snprintf(text + BYTES, 40, "\"");
    check_told(text, "bad");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_has_the_keys_above_it),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(length_is_no_obstacle),
        cmocka_unit_test(members_are_separated_on_one_line),
        cmocka_unit_test(indented_elements_have_a_line_each),
        cmocka_unit_test(a_second_document_may_follow),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(fixed_rounds_half_up),
        cmocka_unit_test(fixed_holds_at_the_limits),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(well_formed_utf8_stays),
        cmocka_unit_test(characters_that_hide_are_escaped),
        cmocka_unit_test(other_bytes_become_replacement_characters),
        cmocka_unit_test(keys_are_escaped_too),
        cmocka_unit_test(sixty_four_levels_fit),
#ifndef NDEBUG
        cmocka_unit_test(misuse_is_caught),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
