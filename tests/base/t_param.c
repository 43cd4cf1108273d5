/* t_param.c - the configuration: which values and names are accepted, what they come to, and that
 * each mistake is an error that says where it is, what the rule is and what was probably meant.
 * Files: t_param_file.c; the dump: t_param_dump.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/yaml.h"
#include "tests/base/param_rig.h"

static const struct param other_rows[] = {
    {"extra", PARAM_U64, 0, "1", 0, 9, "", NULL, "Of a table of its own."}, PARAM_END};

/* ---- values --------------------------------------------------------------------------------- */

static void defaults_hold_where_nothing_is_given(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(bind(f), 0);
    assert_false(f->s.flag);
    assert_int_equal(f->s.size, 32768);
    assert_int_equal(f->s.history, 0);
    assert_int_equal(f->s.view, 0);
    assert_string_equal(f->s.text, "");
    assert_int_equal(f->s.list.n, 0);
}

static void nested_and_dotted_names_are_the_same(void **state)
{
    static const char *const same[] = {
        "policy: {vc: {history: all, queue: {entries: 9}}}",
        "policy.vc.history: all\npolicy.vc.queue.entries: 9\n",
        "policy:\n  vc.history: all\n  vc.queue:\n    entries: 9\n",
        "\"policy.vc\":\n  history: 'all'\n  queue.entries: \"9\"\n",
        "policy.vc:\n  history: all\npolicy:\n  vc.queue.entries: 9\n",
        "%YAML 1.1\n---\npolicy.vc: {history: all, queue.entries: 9}\n...\n",
        "\xef\xbb\xbfpolicy.vc: {history: all, queue.entries: 9}\r\n"};

    for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
        struct fixture *const f = *state;
        assert_int_equal(accept(f, same[i]), 0);
        assert_int_equal(f->s.history, 1);
        assert_int_equal(f->s.entries, 9);
    }
}

static void empty_files_say_nothing(void **state)
{
    static const char *const empty[] = {"",      "\n", "# only a comment\n",
                                        "---\n", "{}", "--- {}\n...\n"};

    for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
        assert_int_equal(accept(*state, empty[i]), 0);
}

static void numbers_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"any=0", 0},
                {"any=42", 42},
                {"any=0x2a", 42},
                {"any=0XfF", 255},
                {"any=64Ki", 65536},
                {"any=1k", 1000},
                {"any=3M", 3000000},
                {"any=3Mi", 3 << 20},
                {"any=2G", 2000000000},
                {"any=2Gi", UINT64_C(2) << 30},
                {"any=5T", UINT64_C(5000000000000)},
                {"any=5Ti", UINT64_C(5) << 40},
                {"any=0x10Ki", 16384},
                {"any=0x10B", 0x10b},
                {"any=18446744073709551615", UINT64_MAX},
                {"any=0xffffffffffffffff", UINT64_MAX},
                {"any=16777215Ti", UINT64_C(16777215) << 40},
                {"any=3 accesses", 3},
                {"any=1 access", 1},
                {"any=1Maccesses", 1000000},
                {"any=1 M accesses", 1000000},
                {"any=1M access", 1000000},
                {"size=32KiB", 32768},
                {"size=32 KiB", 32768},
                {"size=32KB", 32000},
                {"size=32kB", 32000},
                {"size=32 kB", 32000},
                {"size=64B", 64},
                {"size=64 byte", 64},
                {"size=64 bytes", 64},
                {"size=1MiB", 1 << 20},
                {"size=1 Ki bytes", 1024},
                {"ways=2 ways", 2},
                {"ways=1 way", 1},
                {"queue.entries=1 entry", 1},
                {"queue.entries=2k entries", 2000},
                {"plain=10", 10}};

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        struct fixture *const f = *state;
        char *const assignment = xasprintf("policy.vc.%s", good[i].text);
        const char first = good[i].text[0];

        if (accept_set(f, assignment))
            fail_msg("%s", f->e.text);
        const uint64_t value = first == 'a'   ? f->s.any
                               : first == 's' ? f->s.size
                               : first == 'w' ? f->s.ways
                               : first == 'q' ? f->s.entries
                                              : f->s.plain;
        assert_int_equal(value, good[i].value);
        free(assignment);
    }
}

static void bad_numbers_are_refused(void **state)
{
    static const struct {
        const char *why, *text[12];
    } bad[] = {{"not a number", {"any=", "any=x", "any=0x", "any=Ki", "any= 5", "any=+5"}},
               {"negative", {"any=-1", "any=-0"}},
               {"not a whole number", {"any=1.5", "any=1.", "any=1e6", "any=1E+6"}},
               {"octal", {"any=010", "any=00"}},
               {"64 bits",
                {"any=18446744073709551616", "any=99999999999999999999999999",
                 "any=0x10000000000000000", "any=16777216Ti", "any=18446744073709552k"}},
               {"wrong unit",
                {"any=5 bytes", "any=5 Access", "any=5 accesse", "any=5 accesss", "any=5KK",
                 "any=1,000", "any=1_000", "any=5 5", "any=5 mu", "any=5\n"}},
               {"wrong unit",
                {"size=32 ms", "size=32Kb", "size=32KIB", "size=64 Bs", "size=64 B ",
                 "queue.entries=2 entrie", "queue.entries=2 entrx", "ways=1 wa"}},
               {"k (1000) or Ki (1024)", {"any=32K", "size=32 K"}},
               {"out of range", {"size=63", "size=1048577", "ways=0", "ways=65", "plain=1001"}},
               {"no unit here", {"plain=10 bytes", "plain=10 s", "plain=1B"}}};

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        for (size_t j = 0; bad[i].text[j]; j++) {
            struct fixture *const f = *state;
            char *const assignment = xasprintf("policy.vc.%s", bad[i].text[j]);

            if (!accept_set(f, assignment))
                fail_msg("%s was accepted", assignment);
            says(f, "--set: policy.vc.", bad[i].why, "give ");
            free(assignment);
        }
}

static void long_values_are_shown_in_part(void **state)
{
    struct fixture *const f = *state;
    char text[] = "policy.vc.ways="
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4";

    assert_int_equal(accept_set(f, text), -1);
    says(f, "\xc3\xa4...\" is not a number", "", "");
    assert_true(yaml_text_ok(f->e.text));
    assert_int_equal(accept_set(f, "policy.vc.ways=\x1b[2J\n"), -1);
    says(f, "\"?[2J?\" is not a number", "", "");
}

static void a_bad_number_names_place_rule_and_example(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept(f, "# a comment\npolicy.vc:\n  size: 32 ms\n"), -1);
    says(f, "a.yaml:3: policy.vc.size: \"32 ms\" has a wrong unit", "64..1048576 bytes",
         "such as 32Ki");
    assert_int_equal(accept_set(f, "policy.vc.any=-1"), -1);
    says(f, "0 or more accesses", "such as 0", "--set");
}

static void switches_are_read(void **state)
{
    static const char *const on[] = {"on", "true", "yes", "On", "TRUE"};
    static const char *const off[] = {"off", "false", "no", "OFF", "False"};
    static const char *const bad[] = {"", "1", "0", "o", "y", "onn", "~"};

    for (size_t i = 0; i < 2 * ARRAY_SIZE(on); i++) {
        struct fixture *const f = *state;
        char *const text = xasprintf("policy.vc.flag=%s", i % 2 ? on[i / 2] : off[i / 2]);
        assert_int_equal(accept_set(f, text), 0);
        assert_int_equal(f->s.flag, i % 2);
        free(text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        char *const text = xasprintf("policy.vc.flag=%s", bad[i]);
        assert_int_equal(accept_set(*state, text), -1);
        says(*state, "neither on nor off", "give on | off", "");
        free(text);
    }
}

static void choices_are_exact_and_the_nearest_is_told(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept(f, "policy.vc.history: all"), 0);
    assert_int_equal(f->s.history, 1);
    assert_int_equal(accept(f, "policy.vc.history: lsat"), -1);
    says(f, "a.yaml:1: policy.vc.history: \"lsat\"", "give last | all", "did you mean last?");
    assert_int_equal(accept(f, "policy.vc.history: [all]"), -1);
    says(f, "is a list", "last | all", "");
    assert_int_equal(accept(f, "policy.vc.history: []"), -1);
    assert_int_equal(accept_set(f, "policy.vc.history="), -1);
}

static void sets_are_masks_by_index(void **state)
{
    static const struct {
        const char *yaml;
        uint32_t mask;
    } good[] = {{"all-memory", 1},
                {"no-clear", 4},
                {"all-memory,no-clear", 5},
                {"' no-clear ,  all-sync '", 6},
                {"[no-clear, all-memory, all-sync]", 7},
                {"all-sync, all-sync", 2},
                {"\"\"", 0},
                {"[]", 0}};
    static const char *const bad[] = {
        "all", "'all-memory,'",  "',all-memory'",           "'all-memory,,no-clear'",
        "','", "'all-memory, '", "['all-memory,no-clear']", "['']"};
    struct fixture *const f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        char *const text = xasprintf("policy.vc.view: %s\n", good[i].yaml);
        assert_int_equal(accept(f, text), 0);
        assert_int_equal(f->s.view, good[i].mask);
        free(text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        char *const text = xasprintf("policy.vc.view: %s\n", bad[i]);
        if (!accept(f, text))
            fail_msg("%s was accepted", text);
        says(f, "a.yaml:1: policy.vc.view", "give all-memory, all-sync, no-clear", "");
        free(text);
    }
}

static void lists_and_texts_keep_what_is_written(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept(f, "policy.vc: {list: ['a,b', '', ' c '], text: ' 0x1, # '}"), 0);
    assert_int_equal(f->s.list.n, 3);
    assert_string_equal(f->s.list.item[0], "a,b");
    assert_string_equal(f->s.list.item[1], "");
    assert_string_equal(f->s.list.item[2], " c ");
    assert_string_equal(f->s.text, " 0x1, # ");
    assert_int_equal(accept_set(f, "policy.vc.list=a, b=c ,d"), 0);
    assert_int_equal(f->s.list.n, 3);
    assert_string_equal(f->s.list.item[1], "b=c");
    assert_int_equal(accept_set(f, "policy.vc.text=a=b,c"), 0);
    assert_string_equal(f->s.text, "a=b,c");
    assert_int_equal(accept_set(f, "policy.vc.list="), 0);
    assert_int_equal(f->s.list.n, 0);
    assert_int_equal(accept_set(f, "policy.vc.list=a,,b"), -1);
    says(f, "--set", "empty item", "give texts");
    assert_int_equal(accept(f, "policy.vc.text: [a]"), -1);
    says(f, "is a list", "give text", "");
}

/* ---- --set ---------------------------------------------------------------------------------- */

static void assignments_must_be_name_equals_value(void **state)
{
    static const char *const bad[] = {
        "",       "a",      "=1",     "a b=1",          "a.=1",
        ".a=1",   "a..b=1", " a=1",   "a =1",           "inherit=small",
        "\xff=1", "a=\xff", "a=\xc3", "a=\xed\xa0\x80", "a=\xf5\x80\x80\x80"};

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct fixture *const f = *state;
        renew(f);
        if (!config_set(f->c, bad[i], &f->e))
            fail_msg("\"%s\" was accepted", bad[i]);
        says(f, "--set", "write ", "");
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static void unknown_names_are_told_with_the_nearest(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept(f, "policy.vc.ways: 1\n\npolicy:\n  vc:\n    histroy: all\n"), -1);
    says(f, "a.yaml:5: unknown parameter policy.vc.histroy", "section policy.vc has no histroy",
         "did you mean policy.vc.history?");
    assert_int_equal(accept(f, "polcy.vc.history: all\n"), -1);
    says(f, "a.yaml:1: unknown parameter polcy.vc.history", "did you mean policy.vc.history?", "");
    assert_int_equal(accept_set(f, "history=all"), -1);
    says(f, "--set: unknown parameter history", "did you mean policy.vc.history?", "");
    assert_int_equal(accept_set(f, "policy.vc.zzz=1"), -1);
    says(f, "section policy.vc has no zzz", "lardsim list parameters", "");
    assert_null(strstr(f->e.text, "did you mean"));
}

static void a_section_takes_no_value(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept(f, "policy: vc\n"), -1);
    says(f, "a.yaml:1: policy is a section", "policy.vc.", "");
    assert_int_equal(accept(f, "policy.vc.ways.x: 1\n"), -1);
    says(f, "unknown parameter policy.vc.ways.x", "", "");
}

static void two_tables_share_a_section(void **state)
{
    struct fixture *const f = *state;
    uint64_t extra = 0;

    assert_int_equal(load_text(f, "policy.vc: {extra: 5, ways: 3}\n"), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(config_check_names(f->c, &f->e), -1);
    err_clear(&f->e);
    assert_int_equal(config_bind(f->c, "policy.vc", other_rows, &extra, &f->e), 0);
    assert_int_equal(config_check_names(f->c, &f->e), 0);
    assert_int_equal(extra, 5);
    assert_int_equal(f->s.ways, 3);
}

static void the_top_level_is_a_section(void **state)
{
    struct fixture *const f = *state;
    uint64_t extra = 0;

    assert_int_equal(load_text(f, "extra: 5\n"), 0);
    assert_int_equal(config_bind(f->c, "", other_rows, &extra, &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(config_check_names(f->c, &f->e), 0);
    assert_int_equal(extra, 5);
}

static void a_name_bound_twice_is_an_error(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(bind(f), 0);
    assert_int_equal(bind(f), -1);
    says(f, "policy.vc.flag", "another label", "");
}

static void a_parameter_is_no_section(void **state)
{
    struct fixture *const f = *state;
    uint64_t extra;

    assert_int_equal(config_bind(f->c, "policy.vc.ways", other_rows, &extra, &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(config_check_names(f->c, &f->e), -1);
    says(f, "policy.vc.ways is a parameter", "policy.vc.ways.extra", "");
}

/* ---- known and unused ----------------------------------------------------------------------- */

static void note_unused(void *arg, const char *name, const char *origin)
{
    char *const text = arg;
    const char *const file = strrchr(origin, '/');

    snprintf(text + strlen(text), 500 - strlen(text), "%s@%s ", name, file ? file + 1 : origin);
}

static void unused_values_are_told_in_order(void **state)
{
    struct fixture *const f = *state;
    char text[500] = "";

    assert_int_equal(config_preset(f->c, "small", &f->e), 0);
    assert_int_equal(load_text(f, "policy.djit: {ways: 3, size: 64}\npolicy.vc.any: 1\n"), 0);
    assert_int_equal(config_set(f->c, "policy.djit.ways=4", &f->e), 0);
    assert_int_equal(config_known(f->c, "policy.djit", settings_rows, &f->e), 0);
    assert_int_equal(config_known(f->c, "policy.vc", settings_rows, &f->e), 0);
    assert_int_equal(config_check_names(f->c, &f->e), 0);
    config_unused(f->c, note_unused, text);
    assert_string_equal(text, "policy.djit.size@a.yaml:1 policy.vc.any@a.yaml:2 "
                              "policy.djit.ways@--set ");
    assert_int_equal(bind(f), 0); /* known first, bound later */
    assert_int_equal(config_known(f->c, "policy.vc", settings_rows, &f->e), 0);
    text[0] = '\0';
    config_unused(f->c, note_unused, text);
    assert_string_equal(text, "policy.djit.size@a.yaml:1 policy.djit.ways@--set ");
}

static void values_of_known_sections_are_checked(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(load_text(f, "policy.djit.list: [a, b]\npolicy.djit.ways: 65\n"), 0);
    assert_int_equal(config_known(f->c, "policy.djit", settings_rows, &f->e), -1);
    says(f, "a.yaml:2: policy.djit.ways", "1..64 ways", "out of range");
}

/* ---- ranges as text ------------------------------------------------------------------------- */

static void ranges_are_told(void **state)
{
    static const char *const expected[] = {
        "on | off", "64..1048576", "1..64",      "0..100000000",
        "0..1000",  "0 or more",   "last | all", "all-memory, all-sync, no-clear",
        "text",     "texts"};

    (void)state;
    for (size_t i = 0; settings_rows[i].name; i++) {
        char *const range = param_range(&settings_rows[i]);
        assert_string_equal(range, expected[i]);
        free(range);
        assert_non_null(param_type_name(settings_rows[i].type));
    }
}

/* The hash of what a fresh configuration was given: a file, then assignments. */
static uint64_t hash_of(struct fixture *f, const char *text, const char *a, const char *b)
{
    renew(f);
    if (*text)
        assert_int_equal(load_text(f, text), 0);
    if (*a)
        assert_int_equal(config_set(f->c, a, &f->e), 0);
    if (*b)
        assert_int_equal(config_set_from(f->c, b, "elsewhere", &f->e), 0);
    return config_given_hash(f->c);
}

static void the_hash_is_of_names_and_values_wherever_they_came_from(void **state)
{
    struct fixture *f = *state;
    const uint64_t is = hash_of(f, "", "policy.vc.ways=4", "");

    assert_int_equal(hash_of(f, "", "", "policy.vc.ways=4"), is);
    assert_int_equal(hash_of(f, "policy.vc.ways: 4\n", "", ""), is);
    assert_int_equal(hash_of(f, "# nested\npolicy: {vc: {ways: 4}}\n", "", ""), is);
    assert_int_equal(hash_of(f, "policy.vc.ways: 8\n", "policy.vc.ways=4", ""), is);
    assert_int_equal(hash_of(f, "", "policy.vc.ways=2", "policy.vc.ways=4"), is);
}

static void another_name_value_or_giver_is_another_hash(void **state)
{
    struct fixture *f = *state;
    const uint64_t is = hash_of(f, "", "policy.vc.ways=4", "");
    const uint64_t other[] = {
        hash_of(f, "", "", ""),
        hash_of(f, "", "policy.vc.ways=5", ""),
        hash_of(f, "", "policy.vc.way=s=4", ""),
        hash_of(f, "", "policy.vc.ways=4", "policy.vc.size=4"),
        hash_of(f, "policy.vc.ways: [4]\n", "", ""),
    };

    for (size_t i = 0; i < ARRAY_SIZE(other); i++)
        if (other[i] == is)
            fail_msg("the hash of configuration %zu is that of policy.vc.ways=4", i);
    renew(f); /* what a preset gives may be void where a user's value is an error */
    assert_int_equal(config_preset(f->c, "small", &f->e), 0);
    assert_int_not_equal(config_given_hash(f->c), other[0]);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    config_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PARAM_TEST(defaults_hold_where_nothing_is_given),
        PARAM_TEST(nested_and_dotted_names_are_the_same),
        PARAM_TEST(empty_files_say_nothing),
        PARAM_TEST(numbers_are_read),
        PARAM_TEST(bad_numbers_are_refused),
        PARAM_TEST(long_values_are_shown_in_part),
        PARAM_TEST(a_bad_number_names_place_rule_and_example),
        PARAM_TEST(switches_are_read),
        PARAM_TEST(choices_are_exact_and_the_nearest_is_told),
        PARAM_TEST(sets_are_masks_by_index),
        PARAM_TEST(lists_and_texts_keep_what_is_written),
        PARAM_TEST(assignments_must_be_name_equals_value),
        PARAM_TEST(unknown_names_are_told_with_the_nearest),
        PARAM_TEST(a_section_takes_no_value),
        PARAM_TEST(two_tables_share_a_section),
        PARAM_TEST(the_top_level_is_a_section),
        PARAM_TEST(a_name_bound_twice_is_an_error),
        PARAM_TEST(a_parameter_is_no_section),
        PARAM_TEST(unused_values_are_told_in_order),
        PARAM_TEST(values_of_known_sections_are_checked),
        PARAM_TEST(the_hash_is_of_names_and_values_wherever_they_came_from),
        PARAM_TEST(another_name_value_or_giver_is_another_hash),
        cmocka_unit_test(ranges_are_told),
        cmocka_unit_test(freeing_nothing_is_fine)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
