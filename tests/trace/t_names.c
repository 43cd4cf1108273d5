/* t_names.c - the list of names: latest wins, order of addition, and which texts are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trace/trace.h"

static void add(struct names *n, enum name_space space, uint64_t id, const char *text)
{
    struct err e = {0};

    if (names_add(n, space, id, text, &e))
        fail_msg("%s", e.text);
}

static void refused(enum name_space space, uint64_t id, const char *text, const char *why)
{
    struct names *n = names_new();
    struct err e = {0};

    assert_int_equal(names_add(n, space, id, text, &e), -1);
    assert_int_equal(e.code, LARD_TRACE);
    if (!strstr(e.text, why))
        fail_msg("expected \"%s\" in \"%s\"", why, e.text);
    assert_int_equal(names_count(n), 0);
    names_free(n);
}

static void an_empty_list_finds_nothing(void **state)
{
    struct names *n = names_new();

    (void)state;
    assert_int_equal(names_count(n), 0);
    assert_null(names_find(n, NAME_SITE, 0));
    assert_null(names_at(n, 0));
    names_free(n);
    names_free(NULL);
}

static void spaces_are_apart(void **state)
{
    struct names *n = names_new();

    (void)state;
    add(n, NAME_THREAD, 1, "thread");
    add(n, NAME_OBJECT, 1, "object");
    add(n, NAME_SITE, 1, "site");
    assert_string_equal(names_find(n, NAME_THREAD, 1), "thread");
    assert_string_equal(names_find(n, NAME_OBJECT, 1), "object");
    assert_string_equal(names_find(n, NAME_SITE, 1), "site");
    assert_null(names_find(n, NAME_PHASE, 1));
    names_free(n);
}

static void a_later_name_wins_and_the_earlier_text_stays_valid(void **state)
{
    struct names *n = names_new();
    const char *earlier;

    (void)state;
    add(n, NAME_SITE, UINT64_MAX, "a");
    earlier = names_find(n, NAME_SITE, UINT64_MAX);
    add(n, NAME_SITE, UINT64_MAX, "b");
    assert_string_equal(names_find(n, NAME_SITE, UINT64_MAX), "b");
    assert_string_equal(earlier, "a");
    assert_int_equal(names_count(n), 2);
    assert_string_equal(names_at(n, 0)->text, "a");
    assert_string_equal(names_at(n, 1)->text, "b");
    names_free(n);
}

static void the_same_name_again_changes_nothing(void **state)
{
    struct names *n = names_new();

    (void)state;
    add(n, NAME_OBJECT, 0, "x");
    add(n, NAME_OBJECT, 0, "x");
    assert_int_equal(names_count(n), 1);
    add(n, NAME_OBJECT, 0, "y");
    add(n, NAME_OBJECT, 0, "x");
    assert_int_equal(names_count(n), 3);
    assert_string_equal(names_find(n, NAME_OBJECT, 0), "x");
    names_free(n);
}

static void texts_are_copied(void **state)
{
    struct names *n = names_new();
    char text[] = "mine";

    (void)state;
    add(n, NAME_PHASE, 7, text);
    text[0] = 'x';
    assert_string_equal(names_find(n, NAME_PHASE, 7), "mine");
    names_free(n);
}

static void many_names_keep_their_order(void **state)
{
    struct names *n = names_new();
    char text[32];

    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "n%u", (unsigned)i);
        add(n, NAME_OBJECT, i << 40, text);
    }
    assert_int_equal(names_count(n), 5000);
    for (size_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "n%u", (unsigned)i);
        assert_int_equal(names_at(n, i)->id, (uint64_t)i << 40);
        assert_string_equal(names_at(n, i)->text, text);
        assert_string_equal(names_find(n, NAME_OBJECT, (uint64_t)i << 40), text);
    }
    assert_null(names_at(n, 5000));
    names_free(n);
}

static void the_length_is_bounded(void **state)
{
    struct names *n = names_new();
    char text[1026];

    (void)state;
    memset(text, 'x', sizeof text);
    text[1024] = '\0';
    add(n, NAME_SITE, 1, text);
    text[1024] = 'x';
    text[1025] = '\0';
    refused(NAME_SITE, 1, text, "longer than 1024");
    refused(NAME_SITE, 1, "", "empty");
    names_free(n);
}

static void control_characters_are_refused(void **state)
{
    (void)state;
    refused(NAME_SITE, 1, "a\nb", "control characters");
    refused(NAME_SITE, 1, "\x1f", "control characters");
    refused(NAME_SITE, 1, "a\x7f", "control characters");
    refused(NAME_SITE, 1, "\xc2\x80", "control characters");
    refused(NAME_SITE, 1,
            "a\xc2\x9b"
            "31m",
            "control characters");
    refused(NAME_SITE, 1, "a\xc2\x9f", "control characters");
}

static void errors_write_numbers_as_the_text_form_does(void **state)
{
    (void)state;
    refused(NAME_OBJECT, 77, "\t", "object 0x4d ");
    refused(NAME_SITE, UINT64_MAX, "\t", "site 0xffffffffffffffff ");
    refused(NAME_THREAD, 77, "\t", "thread 77 ");
    refused(NAME_PHASE, 77, "\t", "phase 77 ");
}

static void only_utf8_is_taken(void **state)
{
    static const char *const good[] = {"\xc2\xa0",         "\xdf\xbf",         "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",     "\xee\x80\x80",     "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa4z"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2z",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xe2\x82z",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xf0\x90\x80",
                                      "\xff",
                                      "ok\xfe"};
    struct names *n = names_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        add(n, NAME_SITE, i, good[i]);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        refused(NAME_SITE, i, bad[i], "not UTF-8");
    names_free(n);
}

static void threads_with_names_exist_and_so_do_spaces(void **state)
{
    struct names *n = names_new();

    (void)state;
    add(n, NAME_THREAD, 65535, "last");
    refused(NAME_THREAD, 65536, "x", "threads are below 65536");
    refused(NAME_SPACES, 0, "x", "no name space");
    names_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_list_finds_nothing),
        cmocka_unit_test(spaces_are_apart),
        cmocka_unit_test(a_later_name_wins_and_the_earlier_text_stays_valid),
        cmocka_unit_test(the_same_name_again_changes_nothing),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(many_names_keep_their_order),
        cmocka_unit_test(the_length_is_bounded),
        cmocka_unit_test(control_characters_are_refused),
        cmocka_unit_test(errors_write_numbers_as_the_text_form_does),
        cmocka_unit_test(only_utf8_is_taken),
        cmocka_unit_test(threads_with_names_exist_and_so_do_spaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
