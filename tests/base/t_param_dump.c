/* t_param_dump.c - what a configuration prints of itself loads to the same values, whatever is in
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/base/param_rig.h"

static const struct param other_rows[] = {
    {"extra", PARAM_U64, 0, "1", 0, 9, "", NULL, "Of a table of its own."}, PARAM_END};

static char *print(const struct config *c, void (*fn)(const struct config *c, FILE *out))
{
    char *text;
    size_t n;
    FILE *const out = open_memstream(&text, &n);

    assert_non_null(out);
    fn(c, out);
    fclose(out);
    return text;
}

/* ---- the dump ------------------------------------------------------------------------------- */

static void the_dump_is_nested_with_origins(void **state)
{
    struct fixture *const f = *state;
    uint64_t extra;
    char *text;

    assert_int_equal(config_preset(f->c, "small", &f->e), 0);
    assert_int_equal(load_text(f, "\npolicy.vc: {history: all, list: [a, 'b,c'], text: \"on\"}\n"),
                     0);
    assert_int_equal(config_set(f->c, "policy.vc.view=no-clear,all-memory", &f->e), 0);
    assert_int_equal(config_set(f->c, "policy.djit.ways=3", &f->e), 0);
    assert_int_equal(config_known(f->c, "policy.djit", settings_rows, &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(config_bind(f->c, "", other_rows, &extra, &f->e), 0);
    text = print(f->c, config_dump);
    char *const expected = xasprintf("extra: 1 # default\n"
                                     "policy:\n"
                                     "  vc:\n"
                                     "    any: 0 # default\n"
                                     "    flag: off # default\n"
                                     "    history: all # %s/a.yaml:2\n"
                                     "    list: [a, \"b,c\"] # %s/a.yaml:2\n"
                                     "    plain: 7 # default\n"
                                     "    queue:\n"
                                     "      entries: 4 # default\n"
                                     "    size: 1024 # preset small\n"
                                     "    text: \"on\" # %s/a.yaml:2\n"
                                     "    view: [all-memory, no-clear] # --set\n"
                                     "    ways: 2 # preset small\n",
                                     f->dir, f->dir, f->dir);
    assert_string_equal(text, expected);
    free(expected);
    free(text);
}

static void canonical_lines_are_sorted_and_without_origins(void **state)
{
    struct fixture *const f = *state;
    char *text;

    assert_int_equal(config_set(f->c, "policy.vc.size=64 KiB", &f->e), 0);
    assert_int_equal(bind(f), 0);
    text = print(f->c, config_canonical);
    assert_string_equal(text, "policy.vc.any=0\npolicy.vc.flag=off\npolicy.vc.history=last\n"
                              "policy.vc.list=[]\npolicy.vc.plain=7\npolicy.vc.queue.entries=4\n"
                              "policy.vc.size=65536\npolicy.vc.text=\"\"\npolicy.vc.view=[]\n"
                              "policy.vc.ways=8\n");
    free(text);
}

/* The same values, whoever gave them, have one hash; another value has another. */
static void the_hash_is_of_the_values_alone(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(config_set(f->c, "policy.vc.size=64 KiB", &f->e), 0);
    assert_int_equal(bind(f), 0);
    const uint64_t set = config_hash(f->c, NULL);
    renew(f);
    assert_int_equal(load_text(f, "policy.vc: {size: 65536, ways: 8}\n"), 0);
    assert_int_equal(bind(f), 0);
    assert_true(config_hash(f->c, NULL) == set);
    const uint64_t without = config_hash(f->c, "policy.vc.size");
    assert_true(without != set);
    renew(f);
    assert_int_equal(config_set(f->c, "policy.vc.size=65537", &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_true(config_hash(f->c, NULL) != set);
    assert_true(config_hash(f->c, "policy.vc.size") == without);
}

/* Binds what is in f, and again what its dump says: the same. */
static void comes_back(struct fixture *f)
{
    if (bind(f))
        fail_msg("%s", f->e.text);
    char *const before = print(f->c, config_canonical);
    char *const dump = print(f->c, config_dump);

    renew(f);
    if (load_text(f, dump) || bind(f) || config_check_names(f->c, &f->e))
        fail_msg("%s in\n%s", f->e.text, dump);
    char *const after = print(f->c, config_canonical);
    assert_string_equal(before, after);
    free(before);
    free(dump);
    free(after);
}

static void any_text_survives_the_dump(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "a",
                                        "on",
                                        "No",
                                        "null",
                                        "~",
                                        "y",
                                        "1",
                                        "0x1",
                                        "1e5",
                                        "-",
                                        "--- x",
                                        "- a",
                                        "a: b",
                                        "a #b",
                                        "#",
                                        "\"",
                                        "'",
                                        "\\",
                                        "\\n",
                                        "\n",
                                        "a\nb\n",
                                        "\t",
                                        "\r\n",
                                        "\x01\x7f",
                                        "[a]",
                                        "{a}",
                                        "a,b",
                                        "*a",
                                        "&a",
                                        "!a",
                                        "%a",
                                        "@a",
                                        "`a",
                                        "|",
                                        ">",
                                        "?",
                                        ":",
                                        "=",
                                        "<<",
                                        "...",
                                        "/a/b.yaml",
                                        "..",
                                        "\xc3\xa4",
                                        "\xc2\x85",
                                        "\xe2\x80\xa8",
                                        "\xef\xbb\xbf",
                                        "\xef\xbf\xbe",
                                        "\xef\xbf\xbd",
                                        "\xf0\x9f\x98\x80",
                                        "\xf4\x8f\xbf\xbf",
                                        "\xc2\xa0"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct fixture *const f = *state;
        char *const assignment = xasprintf("policy.vc.text=%s", texts[i]);
        renew(f);
        assert_int_equal(config_set(f->c, assignment, &f->e), 0);
        comes_back(f);
        assert_string_equal(f->s.text, texts[i]);
        free(assignment);
    }
}

static void random_texts_survive_the_dump(void **state)
{
    struct fixture *const f = *state;
    struct rng rng;

    rng_seed(&rng, 2);
    for (unsigned i = 0; i < 300; i++) {
        char text[16] = "";
        for (uint64_t k = 0, n = rng_below(&rng, sizeof text - 1); k < n; k++)
            text[k] = (char)(1 + rng_below(&rng, 127));
        char *const assignment = xasprintf("policy.vc.text=%s", text);
        renew(f);
        assert_int_equal(config_set(f->c, assignment, &f->e), 0);
        comes_back(f);
        assert_string_equal(f->s.text, text);
        free(assignment);
    }
}

static void lists_and_sets_survive_the_dump(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(load_text(f, "policy.vc.list: ['', 'a,b', '[', \"\\n\", on, '  ']\n"
                                  "policy.vc.view: [no-clear, all-sync]\npolicy.vc.flag: yes\n"
                                  "policy.vc.any: 16777215Ti\n"),
                     0);
    comes_back(f);
    assert_int_equal(f->s.list.n, 6);
    assert_string_equal(f->s.list.item[3], "\n");
    assert_int_equal(f->s.view, 6);
    assert_true(f->s.flag);
}

static void odd_file_names_do_not_break_the_dump(void **state)
{
    static const char *const names[] = {"a\nb: 1", "\xff\xfe", "\xe2\x80\xa8x", "# '\"", "\x85"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct fixture *const f = *state;
        renew(f);
        write_file(f, names[i], "policy.vc.ways: 3\n");
        assert_int_equal(load(f, names[i]), 0);
        comes_back(f);
        assert_int_equal(f->s.ways, 3);
    }
}

static void odd_labels_survive_the_dump(void **state)
{
    static const char *const labels[] = {"-", "--", "---", "-a", "_", "1", "on", "null", "0x1"};

    for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
        struct fixture *const f = *state;
        uint64_t extra = 0;
        char *const assignment = xasprintf("%s.extra=5", labels[i]);
        renew(f);
        assert_int_equal(config_set(f->c, assignment, &f->e), 0);
        assert_int_equal(config_bind(f->c, labels[i], other_rows, &extra, &f->e), 0);
        char *const dump = print(f->c, config_dump);
        renew(f);
        if (load_text(f, dump))
            fail_msg("%s", f->e.text);
        extra = 0;
        assert_int_equal(config_bind(f->c, labels[i], other_rows, &extra, &f->e), 0);
        assert_int_equal(extra, 5);
        free(dump);
        free(assignment);
    }
}

static void what_was_bound_outlives_later_values(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(config_set(f->c, "policy.vc.text=first", &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(config_set(f->c, "policy.vc.text=second", &f->e), 0);
    assert_string_equal(f->s.text, "first");
    char *const dump = print(f->c, config_dump);
    contains(dump, "text: first # --set");
    free(dump);
}

/* ---- choices that another parameter decides -------------------------------------------------- */

static int decide(struct fixture *f)
{
    const struct param *row = settings_rows;

    while (strcmp(row->name, "history"))
        row++;
    return config_decide(f->c, "policy.vc", row, "all", "machine: small", &f->s, &f->e);
}

static void what_is_decided_is_in_the_struct_and_the_dump(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(bind(f), 0);
    assert_int_equal(f->s.history, 0);
    assert_int_equal(decide(f), 0);
    assert_int_equal(f->s.history, 1);
    char *const dump = print(f->c, config_dump);
    contains(dump, "history: all # machine: small");
    free(dump);
}

static void a_value_that_agrees_keeps_its_origin(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept_set(f, "policy.vc.history=all"), 0);
    assert_int_equal(decide(f), 0);
    char *const dump = print(f->c, config_dump);
    contains(dump, "history: all # --set");
    free(dump);
}

static void a_value_that_contradicts_is_refused(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(accept_set(f, "policy.vc.history=last"), 0);
    assert_int_equal(decide(f), -1);
    says(f, "--set: policy.vc.history", "\"last\" contradicts machine: small", "always takes all");
    assert_int_equal(accept(f, "policy.vc.history: last"), 0);
    assert_int_equal(decide(f), -1);
    says(f, "a.yaml:1: policy.vc.history", "contradicts", "leave it out");
}

static void a_default_in_a_dump_is_no_contradiction(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(bind(f), 0);
    char *const dump = print(f->c, config_dump);
    assert_int_equal(accept(f, dump), 0);
    assert_int_equal(decide(f), 0);
    assert_int_equal(f->s.history, 1);

    renew(f);
    assert_int_equal(load_text(f, dump), 0);
    assert_int_equal(config_set(f->c, "policy.vc.history=last", &f->e), 0); /* not by the dump */
    assert_int_equal(bind(f), 0);
    assert_int_equal(decide(f), -1);
    says(f, "--set: policy.vc.history", "contradicts", "leave it out");
    free(dump);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PARAM_TEST(the_dump_is_nested_with_origins),
        PARAM_TEST(canonical_lines_are_sorted_and_without_origins),
        PARAM_TEST(the_hash_is_of_the_values_alone),
        PARAM_TEST(any_text_survives_the_dump),
        PARAM_TEST(random_texts_survive_the_dump),
        PARAM_TEST(lists_and_sets_survive_the_dump),
        PARAM_TEST(odd_file_names_do_not_break_the_dump),
        PARAM_TEST(odd_labels_survive_the_dump),
        PARAM_TEST(what_was_bound_outlives_later_values),
        PARAM_TEST(what_is_decided_is_in_the_struct_and_the_dump),
        PARAM_TEST(a_value_that_agrees_keeps_its_origin),
        PARAM_TEST(a_value_that_contradicts_is_refused),
        PARAM_TEST(a_default_in_a_dump_is_no_contradiction)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
