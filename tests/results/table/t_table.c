/* t_table.c - does each writer of a table show what was put into it: columns under their heads on a
 * terminal, without blanks at an end of a line; CSV and JSON that can be read back? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/table/table.h"

enum writer { PRINT, CSV, LINES };

static void reads(const struct table *t, enum writer writer, const char *expected)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);

    if (writer == PRINT)
        table_print(t, out);
    else if (writer == CSV)
        table_csv(t, out);
    else
        table_json_lines(t, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(bytes, expected);
    free(bytes);
}

static struct table policies(void)
{
    static const struct table_head heads[] = {
        {.name = "policy", .align = TABLE_LEFT},
        {.name = "races.accesses", .title = "accesses", .above = "racy", .least = 10},
        {.name = "sites"},
        {.name = "note", .title = "", .align = TABLE_LEFT}};
    struct table t = {0};

    table_heads(&t, heads, ARRAY_SIZE(heads));
    table_text(&t, "fasttrack");
    table_u64(&t, 7);
    table_known(&t, true, 123456);
    table_text(&t, "a, \"b\"");
    table_text(&t, "vc");
    table_number(&t, "");
    table_known(&t, false, 1);
    table_text(&t, "");
    return t;
}

static void columns_are_as_wide_as_what_is_in_them(void **state)
{
    struct table t = policies();

    (void)state;
    reads(&t, PRINT,
          "                 racy\n"
          "policy       accesses   sites\n"
          "fasttrack           7  123456  a, \"b\"\n"
          "vc                  -       -\n");
    table_free(&t);
}

static void programs_get_names_and_fields(void **state)
{
    struct table t = policies();

    (void)state;
    reads(&t, CSV,
          "policy,races.accesses,sites,note\nfasttrack,7,123456,\"a, \"\"b\"\"\"\nvc,,,\n");
    reads(&t, LINES,
          "{\"policy\": \"fasttrack\", \"races.accesses\": 7, \"sites\": 123456, \"note\": \"a, "
          "\\\"b\\\"\"}\n"
          "{\"policy\": \"vc\"}\n");
    table_free(&t);
}

/* A text that is longer than its column may be: it moves what follows, and nothing else. */
static void a_long_text_sticks_out_of_its_row(void **state)
{
    struct table t = {0};

    (void)state;
    table_head(&t, (struct table_head){.name = "a", .align = TABLE_LEFT, .most = 3});
    table_head(&t, (struct table_head){.name = "b", .align = TABLE_LEFT});
    table_text(&t, "12345");
    table_text(&t, "x");
    table_text(&t, "1");
    table_text(&t, "y");
    reads(&t, PRINT, "a    b\n12345  x\n1    y\n");
    table_free(&t);
}

/* The last column is broken under its head where there is room, else below its row. */
static void the_last_column_is_broken_at_the_terminals_width(void **state)
{
    const char *text = "each word of this sentence stays whole, and none is past the edge";
    struct table t = {.wrap = 50};

    (void)state;
    table_head(&t, (struct table_head){.name = "", .align = TABLE_LEFT});
    table_head(&t, (struct table_head){.name = "", .align = TABLE_LEFT});
    table_text(&t, "name");
    table_text(&t, text);
    reads(&t, PRINT,
          "name  each word of this sentence stays whole, and\n"
          "      none is past the edge\n");
    t.wrap = 45;
    reads(&t, PRINT,
          "name\n"
          "    each word of this sentence stays whole,\n"
          "    and none is past the edge\n");
    table_free(&t);
}

static void is_percent(double part, double whole, const char *expected)
{
    char *text = table_percent_text(part, whole);

    assert_string_equal(text ? text : "none", expected);
    free(text);
}

static void percentages_are_rounded_and_never_minus_nothing(void **state)
{
    (void)state;
    is_percent(1, 3, "33.3 %");
    is_percent(-1, 8, "-12.5 %");
    is_percent(-1, 1000000, "0.0 %");
    is_percent(1, 0, "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_what_is_in_them),
        cmocka_unit_test(programs_get_names_and_fields),
        cmocka_unit_test(a_long_text_sticks_out_of_its_row),
        cmocka_unit_test(the_last_column_is_broken_at_the_terminals_width),
        cmocka_unit_test(percentages_are_rounded_and_never_minus_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
