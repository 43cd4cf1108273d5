/* t_text_base.c - which name is suggested for one that is unknown; what is left of errors that are
 * too long; how an excess is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

static const char *const names[] = {
    "granularity",   "policies", "policy.vc.history", "order", "races.max",
    "limits.memory", "l1.ways",  "l2.ways",           "seed",
};

static const char *nearest(const char *name)
{
    return nearest_name(name, names, ARRAY_SIZE(names));
}

static const char *nearest_of(const char *name, const char *one)
{
    return nearest_name(name, &one, 1);
}

static void visible(const char *text, const char *expected)
{
    char *is = text_visible(text);

    assert_string_equal(is, expected);
    free(is);
}

static void people_see_what_is_hidden_or_turns_text_around(void **state)
{
    (void)state;
    visible("", "");
    visible("Account.deposit:27 \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
            "Account.deposit:27 \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    visible("\x1b[31m\n\x7f\xc2\x9b", "\\u{1b}[31m\\u{a}\\u{7f}\\u{9b}");
    visible("a\xe2\x80\xae"
            "b\xe2\x81\xa6",
            "a\\u{202e}b\\u{2066}"); /* bidi */
    visible("a\xe2\x80\x8b"
            "b\xef\xbb\xbf\xc2\xad",
            "a\\u{200b}b\\u{feff}\\u{ad}");                         /* no width */
    visible("\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}");      /* ends of lines */
    visible("\xef\xb8\x8f\xf3\xa0\x81\x81", "\\u{fe0f}\\u{e0041}"); /* selectors, tags */
}

static void bytes_that_are_no_characters_are_shown_as_bytes(void **state)
{
    (void)state;
    visible("\x80\xff", "\\x80\\xff");
    visible("\xc3", "\\xc3"); /* cut off */
    visible("\xe2\x80z", "\\xe2\\x80z");
    visible("\xc0\xaf\xe0\x80\xaf", "\\xc0\\xaf\\xe0\\x80\\xaf"); /* overlong */
    visible("\xed\xa0\x80", "\\xed\\xa0\\x80");                   /* half a pair */
    visible("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");          /* beyond the last */
}

static void characters_come_back_from_their_numbers(void **state)
{
    char bytes[UTF8_MAX + 1];
    uint32_t is;

    (void)state;
    for (uint32_t c = 1; c <= 0x10ffff; c++) {
        if (c >= 0xd800 && c < 0xe000)
            continue;
        utf8_put(bytes, c);
        assert_int_equal(utf8_char(bytes, &is), strlen(bytes));
        assert_int_equal(is, c);
    }
}

static void each_kind_of_edit_is_forgiven(void **state)
{
    (void)state;
    assert_string_equal(nearest("granularitty"), "granularity");
    assert_string_equal(nearest("granulrity"), "granularity");
    assert_string_equal(nearest("granulatity"), "granularity");
    assert_string_equal(nearest("granulairty"), "granularity");
    assert_string_equal(nearest("polices"), "policies");
}

static void an_exchange_is_one_edit(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("ba.", "ab."), "ab."); /* 3 letters: a third is one edit */
    assert_string_equal(nearest_of("acb", "abc"), "abc");
    assert_null(nearest_of("cba", "abc"));
}

static void a_third_of_the_length_is_the_limit(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("abcdyz", "abcdef"), "abcdef");
    assert_null(nearest_of("abcxyz", "abcdef"));
    assert_string_equal(nearest_of("abcd", "abcdef"), "abcdef");
    assert_null(nearest_of("abc", "abcdef"));
    assert_null(nearest_of("xy", "xz"));
    assert_null(nearest("completely different"));
}

static void case_does_not_matter(void **state)
{
    static const char *const cased[] = {"seeds", "SEED"};

    (void)state;
    assert_string_equal(nearest("SEED"), "seed");
    assert_string_equal(nearest("GRANULARTIY"), "granularity");
    assert_string_equal(nearest_name("seed", cased, 2), "SEED");
}

static void the_last_segments_are_enough(void **state)
{
    (void)state;
    assert_string_equal(nearest("history"), "policy.vc.history");
    assert_string_equal(nearest("VC.History"), "policy.vc.history");
    assert_string_equal(nearest("max"), "races.max");
    assert_string_equal(nearest("ways"), "l1.ways");
    assert_null(nearest("istory"));
    assert_null(nearest("policy.vc"));
}

static void the_first_of_equally_near_names_wins(void **state)
{
    static const char *const both[] = {"abcdx", "abcdy", "abcde"};

    (void)state;
    assert_string_equal(nearest_name("abcdz", both, 3), "abcdx");
    assert_string_equal(nearest_name("abcdy", both, 3), "abcdy");
}

static void nothing_is_near_nothing(void **state)
{
    (void)state;
    assert_null(nearest_name("x", NULL, 0));
    assert_null(nearest(""));
    assert_null(nearest_of("", "a"));
    assert_null(nearest_of("a", ""));
    assert_null(nearest_of("", "a."));
}

static void long_names_cost_nothing(void **state)
{
    static char longest[129], longer[130], huge[1000001];

    (void)state;
    memset(longest, 'a', sizeof longest - 1);
    memset(longer, 'a', sizeof longer - 1);
    memset(huge, 'a', sizeof huge - 1);
    assert_ptr_equal(nearest_of(longest, longest), longest);
    assert_null(nearest_of(longest, longer));
    assert_null(nearest(huge));
    assert_null(nearest_of(huge, huge));
}

/* ---- errors --------------------------------------------------------------------------------- */

/* err_set with a name of n times `unit` in the middle. */
static struct err long_error(const char *unit, size_t n)
{
    const size_t bytes = strlen(unit);
    char *name = xmalloc(n * bytes + 1);
    struct err e = {0};

    for (size_t i = 0; i < n; i++)
        memcpy(name + i * bytes, unit, bytes);
    name[n * bytes] = '\0';
    assert_int_equal(err_set(&e, LARD_USAGE, "before %s: after; remedy", name), -1);
    free(name);
    return e;
}

static void an_error_that_fits_is_whole(void **state)
{
    const size_t around = strlen("before : after; remedy");
    struct err e = long_error("x", sizeof e.text - 1 - around);

    (void)state;
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_null(strstr(e.text, " ... "));
    assert_int_equal(e.code, LARD_USAGE);
    err_set(&e, LARD_TRACE, "second");
    assert_int_equal(e.code, LARD_USAGE);
}

static void an_error_that_is_too_long_keeps_its_ends(void **state)
{
    const size_t around = strlen("before : after; remedy");
    const size_t lengths[] = {sizeof(struct err) - sizeof(int) - around, 5000, 1000000};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        struct err e = long_error("x", lengths[i]);
        assert_int_equal(strlen(e.text), sizeof e.text - 1);
        assert_memory_equal(e.text, "before xxx", 10);
        assert_non_null(strstr(e.text, "xxx ... xxx"));
        assert_string_equal(strstr(e.text, ": "), ": after; remedy");
    }
}

/* Whatever the phase, no character is torn: before the gap one has ended, after it one begins. */
static void an_error_is_cut_between_characters(void **state)
{
    static const char *const characters[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(characters); i++)
        for (size_t phase = 0; phase < 4; phase++) {
            char *unit = xasprintf("%.*s%s", (int)phase, "aaa", characters[i]);
            struct err e = long_error(unit, 3000);
            const char *gap = strstr(e.text, " ... ");
            assert_non_null(gap);
            assert_int_not_equal((unsigned char)gap[5] & 0xc0, 0x80);
            const size_t n = strlen(characters[i]);
            if (gap[-1] != 'a')
                assert_memory_equal(gap - n, characters[i], n);
            free(unit);
        }
}

/* Bytes that are no characters must not cost more than a few. */
static void an_error_of_wild_bytes_is_cut_all_the_same(void **state)
{
    struct err e = long_error("\x80", 5000);

    (void)state;
    assert_true(strlen(e.text) > sizeof e.text - 10);
    assert_non_null(strstr(e.text, ": after; remedy"));
}

static void excess(uint64_t a, uint64_t b, const char *expected)
{
    char *is = csv_excess(a, b);

    assert_string_equal(is, expected);
    free(is);
}

/* So that a table and a page, which has 1.174803, say the same. */
static void an_excess_is_rounded_not_cut(void **state)
{
    (void)state;
    excess(195049, 166027, "0.174803");
    excess(166027, 195049, "-0.148793");
    excess(3, 2, "0.500000");
    excess(1999999, 2000000, "-0.000001");
    excess(3999999, 4000000, "0.000000");
    excess(7, 7, "0.000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_see_what_is_hidden_or_turns_text_around),
        cmocka_unit_test(an_excess_is_rounded_not_cut),
        cmocka_unit_test(bytes_that_are_no_characters_are_shown_as_bytes),
        cmocka_unit_test(characters_come_back_from_their_numbers),
        cmocka_unit_test(each_kind_of_edit_is_forgiven),
        cmocka_unit_test(an_exchange_is_one_edit),
        cmocka_unit_test(a_third_of_the_length_is_the_limit),
        cmocka_unit_test(case_does_not_matter),
        cmocka_unit_test(the_last_segments_are_enough),
        cmocka_unit_test(the_first_of_equally_near_names_wins),
        cmocka_unit_test(nothing_is_near_nothing),
        cmocka_unit_test(long_names_cost_nothing),
        cmocka_unit_test(an_error_that_fits_is_whole),
        cmocka_unit_test(an_error_that_is_too_long_keeps_its_ends),
        cmocka_unit_test(an_error_is_cut_between_characters),
        cmocka_unit_test(an_error_of_wild_bytes_is_cut_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
