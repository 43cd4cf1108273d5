/* t_csv.c - are fields of CSV what RFC 4180 says, and read back as they were? And excesses, which
 * are rounded by integers, so that they are the same everywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/input.h"

static void is_written(const char *text, const char *field)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);

    csv_field(out, text);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(bytes, field);
    free(bytes);
}

static void a_field_is_quoted_where_it_has_to_be(void **state)
{
    (void)state;
    is_written("", "");
    is_written("plain text; no more", "plain text; no more");
    is_written("a,b", "\"a,b\"");
    is_written("say \"no\"", "\"say \"\"no\"\"\"");
    is_written("two\nlines", "\"two\nlines\"");
    is_written("return\r", "\"return\r\"");
}

static void what_was_written_is_read_back(void **state)
{
    static const char *const fields[] = {"a", "", "b,c", "\"", "two\nlines", "\"\",\"", "end"};
    struct csv_row r = {0};
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);

    (void)state;
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
            csv_field(out, fields[i]);
            fputc(i + 1 < ARRAY_SIZE(fields) ? ',' : '\n', out);
        }
    assert_int_equal(fclose(out), 0);
    struct csv_text in = {bytes, bytes + n};
    for (size_t row = 0; row < 2; row++) {
        assert_true(csv_read(&r, &in));
        assert_int_equal(r.n, ARRAY_SIZE(fields));
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
            assert_string_equal(csv_at(&r, i), fields[i]);
    }
    assert_false(csv_read(&r, &in));
    csv_free(&r);
    free(bytes);
}

/* Of a row: the fields, divided by "|". */
static void is_read(const char *text, const char *fields)
{
    struct csv_row r = {0};
    char *bytes = NULL;
    size_t n = 0;
    struct csv_text in = {text, text + strlen(text)};
    FILE *out = open_memstream(&bytes, &n);

    assert_true(csv_read(&r, &in));
    for (size_t i = 0; i < r.n; i++)
        fprintf(out, "%s%s", i ? "|" : "", csv_at(&r, i));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(bytes, fields);
    assert_string_equal(csv_at(&r, r.n), "");
    csv_free(&r);
    free(bytes);
}

static void files_of_others_are_read(void **state)
{
    (void)state;
    is_read("a,b\r\nc,d\r\n", "a|b");
    is_read("a,b", "a|b");
    is_read("a,,\n", "a||");
    is_read("\n", "");
    is_read("\"a\",b\n", "a|b");
    is_read("\"a\r\nb\",c\r\n", "a\r\nb|c");
    is_read("\"never closed", "never closed");
    is_read("\"a\"b,c\n", "ab|c");
}

static void is_excess(uint64_t a, uint64_t b, const char *text)
{
    char *is = csv_excess(a, b);

    if (strcmp(is, text) != 0)
        fail_msg("%llu over %llu is %s, not %s", (unsigned long long)a, (unsigned long long)b, is,
                 text);
    free(is);
}

static void an_excess_is_rounded(void **state)
{
    (void)state;
    is_excess(125, 100, "0.250000");
    is_excess(100, 100, "0.000000");
    is_excess(75, 100, "-0.250000");
    is_excess(0, 7, "-1.000000");
    is_excess(5, 3, "0.666667");
    is_excess(4, 3, "0.333333");
    is_excess(1, 3, "-0.666667");
    is_excess(10000000, 9999999, "0.000000");
    is_excess(9999999, 10000000, "0.000000"); /* no -0 */
    is_excess(UINT64_MAX, 1, "18446744073709551614.000000");
    is_excess(1, UINT64_MAX, "-1.000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_quoted_where_it_has_to_be),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(files_of_others_are_read),
        cmocka_unit_test(an_excess_is_rounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
