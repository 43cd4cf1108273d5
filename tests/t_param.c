/* t_param.c - the configuration: what is accepted, what it comes to, and that each mistake is an
 * error that says where it is, what the rule is and what was probably meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/param.h"
#include "base/yaml.h"

/* ---- tables --------------------------------------------------------------------------------- */

struct settings {
    bool flag;
    uint64_t size, ways, entries, plain, any;
    uint32_t history, view;
    const char *text;
    struct param_list list;
};
#define AT(field) offsetof(struct settings, field)

static const char *const histories[] = {"last", "all", NULL};
static const char *const views[] = {"all-memory", "all-sync", "no-clear", NULL};
static const struct param rows[] = {
    {"flag", PARAM_BOOL, AT(flag), "off", 0, 0, "", NULL, "A switch."},
    {"size", PARAM_U64, AT(size), "32Ki", 64, 1 << 20, "bytes", NULL, "A size."},
    {"ways", PARAM_U64, AT(ways), "8", 1, 64, "ways", NULL, "Associativity."},
    {"queue.entries", PARAM_U64, AT(entries), "4", 0, 100000000, "entries", NULL, "A dotted row."},
    {"plain", PARAM_U64, AT(plain), "7", 0, 1000, "", NULL, "Without a unit."},
    {"any", PARAM_U64, AT(any), "0", 0, UINT64_MAX, "accesses", NULL, "Any number."},
    {"history", PARAM_CHOICE, AT(history), "last", 0, 0, "", histories, "What is kept."},
    {"view", PARAM_SET, AT(view), "", 0, 0, "", views, "What is looked at."},
    {"text", PARAM_STRING, AT(text), "", 0, 0, "", NULL, "A text."},
    {"list", PARAM_LIST, AT(list), "", 0, 0, "", NULL, "Texts."},
    PARAM_END};

static const struct param other_rows[] = {
    {"extra", PARAM_U64, 0, "1", 0, 9, "", NULL, "Of a table of its own."}, PARAM_END};

static const struct preset presets[] = {
    {"small", "A small one.", "policy.vc.size: 1Ki\npolicy.vc.ways: 2\n"},
    {"smaller", "A smaller one.", "inherit: small\npolicy: {vc: {ways: 1}}\n"},
    {"broken", "Inherits itself.", "inherit: [small, broken]\n"},
    {NULL, NULL, NULL}};

/* ---- helpers -------------------------------------------------------------------------------- */

struct fixture {
    char dir[64];
    struct config *c;
    struct settings s;
    struct err e;
};

static int setup(void **state)
{
    struct fixture *const f = xcalloc(1, sizeof *f);
    const char *const tmp = getenv("TMPDIR");

    snprintf(f->dir, sizeof f->dir, "%.40s/t_param.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(f->dir))
        return -1;
    f->c = config_new(presets);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *const f = *state;
    char *const command = xasprintf("rm -rf '%s'", f->dir);
    const int status = system(command);

    free(command);
    config_free(f->c);
    free(f);
    return status;
}

static void renew(struct fixture *f)
{
    config_free(f->c);
    f->c = config_new(presets);
    err_clear(&f->e);
}

static char *path_of(const struct fixture *f, const char *name)
{
    return xasprintf("%s/%s", f->dir, name);
}

static void write_bytes(const struct fixture *f, const char *name, const void *p, size_t n)
{
    char *const path = path_of(f, name);
    FILE *const out = fopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(p, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    free(path);
}

static void write_file(const struct fixture *f, const char *name, const char *text)
{
    write_bytes(f, name, text, strlen(text));
}

static int load(struct fixture *f, const char *name)
{
    char *const path = path_of(f, name);
    const int status = config_load(f->c, path, &f->e);

    free(path);
    return status;
}

static int load_text(struct fixture *f, const char *text)
{
    write_file(f, "a.yaml", text);
    return load(f, "a.yaml");
}

static int bind(struct fixture *f)
{
    return config_bind(f->c, "policy.vc", rows, &f->s, &f->e);
}

/* A fresh configuration of this one file, bound: 0 or -1. */
static int accept(struct fixture *f, const char *text)
{
    renew(f);
    return load_text(f, text) || bind(f) || config_check_names(f->c, &f->e) ? -1 : 0;
}

static int accept_set(struct fixture *f, const char *assignment)
{
    renew(f);
    return config_set(f->c, assignment, &f->e) || bind(f) || config_check_names(f->c, &f->e) ? -1
                                                                                             : 0;
}

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* The error is one of configuration and contains all parts. */
static void says(const struct fixture *f, const char *a, const char *b, const char *c)
{
    assert_int_equal(f->e.code, LARD_CONFIG);
    contains(f->e.text, a);
    contains(f->e.text, b);
    contains(f->e.text, c);
}

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

/* ---- files ---------------------------------------------------------------------------------- */

static void names_given_twice_name_both_lines(void **state)
{
    static const char *const twice[] = {
        "policy.vc.ways: 1\npolicy.vc.size: 64\npolicy.vc.ways: 1\n",
        "policy: {vc: {ways: 1}}\n\npolicy.vc.ways: 2\n",
        "policy:\n  vc: {size: 64}\npolicy:\n  vc.ways: 2\n",
        "inherit: small\n\ninherit: smaller\n"};

    for (size_t i = 0; i < ARRAY_SIZE(twice); i++) {
        assert_int_equal(accept(*state, twice[i]), -1);
        says(*state, "", "a.yaml:3: ", "line 1");
    }
}

static void unwanted_yaml_is_refused(void **state)
{
    static const struct {
        const char *place, *why, *text[12];
    } bad[] = {
        {"a.yaml:1", "anchors", {"a: &x 1", "a: &x {b: 1}", "a: &x [b]", "&x a: 1", "a: [&x b]"}},
        {"a.yaml:1", "tags", {"a: !!str 1", "a: ! 1", "a: !x {b: 1}", "a: !x [b]", "!x a: 1"}},
        {"a.yaml:2", "alias", {"\na: *x", "\n*x : 1", "a:\n- *x"}},
        {"a.yaml:2", "second YAML document", {"a: 1\n---\nb: 2", "---\n---\n", "{}\n--- b"}},
        {"a.yaml:1", "is a map", {"- a", "a", "[]", "a:1"}},
        {"a.yaml:2", "has no value", {"a: 1\nb:", "a:\n-\n"}},
        {"a.yaml:1", "single values", {"a: [b, [c]]", "a: [{b: c}]"}},
        {"a.yaml:1", "must be text", {"[a, b]: 1", "{a: 1}: 1"}},
        {"a.yaml:1",
         "a name must",
         {"<<: {a: 1}", "a b: 1", "a..b: 1", ".a: 1", "a.: 1", "'': 1", "\"a\\0b\": 1",
          "\xc3\xa4: 1", "a/b: 1", "?\n: 1"}},
        {"a.yaml:1", "NUL", {"a: \"b\\0c\"", "a: [\"\\0\"]"}},
        {"a.yaml:1", "not YAML", {": 1", "a: @b", "a: b: c", "a: 'b' c"}},
        {"a.yaml:2", "not YAML", {"a: 1\n\tb: 2", "a: [1\n", "a: \"1\n", "a: 1\n b: 2", "a: {\n"}},
        {"a.yaml: byte 3", "UTF-8", {"a: \xff", "a: \x01", "a: \xc3", "a: \xed\xa0\x80"}}};

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        for (size_t j = 0; bad[i].text[j]; j++) {
            struct fixture *const f = *state;
            renew(f);
            if (!load_text(f, bad[i].text[j]))
                fail_msg("\"%s\" was accepted", bad[i].text[j]);
            says(f, f->dir, bad[i].place, bad[i].why);
        }
}

static char *nested(unsigned depth)
{
    char *text = xstrdup("1");

    for (unsigned i = 0; i < depth; i++) {
        char *const outer = xasprintf("{a: %s}", text);
        free(text);
        text = outer;
    }
    return text;
}

static void depth_has_a_limit(void **state)
{
    static const struct {
        unsigned depth;
        int status;
    } cases[] = {{16, 0}, {17, -1}, {900, -1}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct fixture *const f = *state;
        char *const text = nested(cases[i].depth);
        renew(f);
        assert_int_equal(load_text(f, text), cases[i].status);
        if (cases[i].status)
            says(f, "a.yaml:1", "nested", "16");
        free(text);
    }
}

static void deep_lists_are_refused_at_once(void **state)
{
    char *const text = xmalloc(100001);

    memset(text, '[', 100000);
    text[100000] = '\0';
    assert_int_equal(accept(*state, text), -1);
    assert_int_equal(((struct fixture *)*state)->e.code, LARD_CONFIG);
    free(text);
}

static void size_has_a_limit(void **state)
{
    struct fixture *const f = *state;
    char *const text = xmalloc((1 << 20) + 1);

    memset(text, ' ', (1 << 20) + 1);
    text[0] = '#';
    write_bytes(f, "big.yaml", text, 1 << 20);
    assert_int_equal(load(f, "big.yaml"), 0);
    write_bytes(f, "big.yaml", text, (1 << 20) + 1);
    assert_int_equal(load(f, "big.yaml"), -1);
    says(f, "big.yaml", "1 MiB", "");
    free(text);
}

static void names_have_a_limit(void **state)
{
    struct fixture *const f = *state;
    char name[260];
    char *text;

    memset(name, 'a', sizeof name);
    name[253] = '\0'; /* with "x." 255 */
    text = xasprintf("x:\n  %s: 1\n", name);
    assert_int_equal(load_text(f, text), 0);
    free(text);
    renew(f);
    name[253] = 'a';
    name[254] = '\0';
    text = xasprintf("x:\n  %s: 1\n", name);
    assert_int_equal(load_text(f, text), -1);
    says(f, "a.yaml:2", "255", "");
    free(text);
}

static void the_number_of_values_has_a_limit(void **state)
{
    struct fixture *const f = *state;

    for (unsigned n = 10000; n <= 10001; n++) {
        char *text;
        size_t bytes;
        FILE *const out = open_memstream(&text, &bytes);

        for (unsigned i = 0; i < n; i++)
            fprintf(out, "a%u: 1\n", i);
        fclose(out);
        renew(f);
        assert_int_equal(load_text(f, text), n == 10000 ? 0 : -1);
        free(text);
    }
    says(f, "a.yaml:10001", "10000", "");
}

static void files_that_cannot_be_read_are_told(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(load(f, "nosuch.yaml"), -1);
    says(f, f->dir, "nosuch.yaml", "no such file");
    renew(f);
    assert_int_equal(config_load(f->c, f->dir, &f->e), -1);
    says(f, f->dir, "directory", "");
    renew(f);
    write_file(f, "a.yaml", "a: 1\n");
    assert_int_equal(load(f, "a.yaml/b"), -1);
    says(f, "a.yaml/b", "Not a directory", "");
    renew(f);
    assert_int_equal(config_load(f->c, "", &f->e), -1);
    says(f, "no such file", "", "");
    if (geteuid() != 0) {
        char *const path = path_of(f, "a.yaml");
        assert_int_equal(chmod(path, 0), 0);
        renew(f);
        assert_int_equal(config_load(f->c, path, &f->e), -1);
        says(f, "a.yaml", "Permission denied", "");
        free(path);
    }
}

static void arbitrary_bytes_do_no_harm(void **state)
{
    static const char seed[] =
        "inherit: small\npolicy: {vc: {view: [all-sync, 'no-clear'], list: "
        "\"a\\x41, b\"}}\npolicy.vc.size: 32 KiB # x\n? policy.vc.text\n: |\n  y\n";
    static const char alphabet[] = "\n\n  :,[]{}&*!|>'\"%@#?-\\.0aZ\t\xc3\xff";
    struct fixture *const f = *state;
    struct rng rng;

    rng_seed(&rng, 1);
    for (unsigned i = 0; i < 1500; i++) {
        char text[sizeof seed];
        memcpy(text, seed, sizeof seed);
        for (uint64_t edits = 1 + rng_below(&rng, 6); edits; edits--)
            text[rng_below(&rng, sizeof seed - 1)] =
                rng_chance(&rng, 1, 8) ? (char)rng_below(&rng, 256)
                                       : alphabet[rng_below(&rng, sizeof alphabet - 1)];
        renew(f);
        write_bytes(f, "a.yaml", text, rng_below(&rng, sizeof seed));
        if (load(f, "a.yaml") || bind(f) || config_check_names(f->c, &f->e)) {
            assert_int_equal(f->e.code, LARD_CONFIG);
            assert_int_not_equal(strlen(f->e.text), 0);
        }
    }
}

/* ---- precedence and inheritance ------------------------------------------------------------- */

static void the_last_word_holds(void **state)
{
    struct fixture *const f = *state;

    write_file(f, "a.yaml", "policy.vc: {size: 128, ways: 3, any: 1}\n");
    assert_int_equal(config_preset(f->c, "small", &f->e), 0);
    assert_int_equal(load(f, "a.yaml"), 0);
    assert_int_equal(config_set(f->c, "policy.vc.any=2", &f->e), 0);
    assert_int_equal(config_set(f->c, "policy.vc.any=3", &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(f->s.size, 128);
    assert_int_equal(f->s.ways, 3);
    assert_int_equal(f->s.any, 3);
    renew(f);
    assert_int_equal(load(f, "a.yaml"), 0);
    assert_int_equal(config_preset(f->c, "smaller", &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(f->s.size, 1024);
    assert_int_equal(f->s.ways, 1);
    assert_int_equal(f->s.any, 1);
}

static void a_file_wins_over_what_it_inherits(void **state)
{
    struct fixture *const f = *state;
    char *const sub = path_of(f, "sub");

    assert_int_equal(mkdir(sub, 0700), 0);
    free(sub);
    write_file(f, "base.yaml", "policy.vc: {size: 64, ways: 4, any: 5, plain: 6}\n");
    write_file(f, "sub/b.yaml", "policy.vc: {any: 50, plain: 60}\ninherit: ../base.yaml\n");
    write_file(f, "sub/c.yaml", "policy.vc.plain: 600\n");
    assert_int_equal(load_text(f, "policy.vc.ways: 40\ninherit: [sub/b.yaml, sub/c.yaml]\n"), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(f->s.size, 64);
    assert_int_equal(f->s.ways, 40);
    assert_int_equal(f->s.any, 50);
    assert_int_equal(f->s.plain, 600);
}

static void an_absolute_path_and_a_preset_are_inherited(void **state)
{
    struct fixture *const f = *state;
    char *const text = xasprintf("inherit: [small, %s/abs.yaml]\n", f->dir);

    write_file(f, "abs.yaml", "policy.vc.any: 9\n");
    assert_int_equal(load_text(f, text), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(f->s.size, 1024);
    assert_int_equal(f->s.any, 9);
    free(text);
}

static void a_preset_may_be_a_file(void **state)
{
    struct fixture *const f = *state;
    char *const path = path_of(f, "p.yaml");

    write_file(f, "p.yaml", "policy.vc.any: 9\n");
    assert_int_equal(config_preset(f->c, path, &f->e), 0);
    assert_int_equal(bind(f), 0);
    assert_int_equal(f->s.any, 9);
    free(path);
    assert_int_equal(config_preset(f->c, "smal", &f->e), -1);
    says(f, "smal:", "no such preset", "did you mean small?");
}

static void circles_of_inheritance_end(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(load_text(f, "# x\ninherit: a.yaml\n"), -1);
    says(f, "a.yaml:2: inherit", "inherits itself", "remove");
    renew(f);
    write_file(f, "b.yaml", "inherit: ./a.yaml\n");
    assert_int_equal(load_text(f, "inherit: b.yaml\n"), -1);
    says(f, "b.yaml:1: inherit", "a.yaml inherits itself", "");
    renew(f);
    assert_int_equal(config_preset(f->c, "broken", &f->e), -1);
    says(f, "preset broken", "inherits itself", "");
    renew(f);
    write_file(f, "c.yaml", "policy.vc.any: 1\n"); /* twice, but no circle */
    assert_int_equal(load_text(f, "inherit: [c.yaml, c.yaml]\n"), 0);
}

/* n files in a row, each inheriting the next one twice if `wide`. */
static void write_chain(const struct fixture *f, unsigned n, bool wide)
{
    for (unsigned i = 1; i <= n; i++) {
        char *const name = xasprintf("%u.yaml", i);
        char *const text = wide ? xasprintf("inherit: [%u.yaml, %u.yaml]\n", i + 1, i + 1)
                                : xasprintf("inherit: %u.yaml\n", i + 1);
        write_file(f, name, i < n ? text : "policy.vc.any: 1\n");
        free(name);
        free(text);
    }
}

static void inheritance_has_limits(void **state)
{
    struct fixture *const f = *state;

    write_chain(f, 16, false);
    assert_int_equal(load(f, "1.yaml"), 0);
    renew(f);
    write_chain(f, 17, false);
    assert_int_equal(load(f, "1.yaml"), -1);
    says(f, "16.yaml:1: inherit", "too deep", "16");
    renew(f);
    write_chain(f, 15, true);
    assert_int_equal(load(f, "1.yaml"), -1);
    says(f, "too many files", "64", "");
}

static void a_missing_parent_names_the_line(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(load_text(f, "\ninherit: smaler\n"), -1);
    says(f, "a.yaml:2: inherit", "no such file, and no such preset", "did you mean smaller?");
    renew(f);
    write_file(f, "b.yaml", "a: &x 1\n");
    assert_int_equal(load_text(f, "inherit: b.yaml\n"), -1);
    says(f, "b.yaml:1", "anchors", "");
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
    assert_int_equal(config_known(f->c, "policy.djit", rows, &f->e), 0);
    assert_int_equal(config_known(f->c, "policy.vc", rows, &f->e), 0);
    assert_int_equal(config_check_names(f->c, &f->e), 0);
    config_unused(f->c, note_unused, text);
    assert_string_equal(text, "policy.djit.size@a.yaml:1 policy.vc.any@a.yaml:2 "
                              "policy.djit.ways@--set ");
    assert_int_equal(bind(f), 0); /* known first, bound later */
    assert_int_equal(config_known(f->c, "policy.vc", rows, &f->e), 0);
    text[0] = '\0';
    config_unused(f->c, note_unused, text);
    assert_string_equal(text, "policy.djit.size@a.yaml:1 policy.djit.ways@--set ");
}

static void values_of_known_sections_are_checked(void **state)
{
    struct fixture *const f = *state;

    assert_int_equal(load_text(f, "policy.djit.list: [a, b]\npolicy.djit.ways: 65\n"), 0);
    assert_int_equal(config_known(f->c, "policy.djit", rows, &f->e), -1);
    says(f, "a.yaml:2: policy.djit.ways", "1..64 ways", "out of range");
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
    assert_int_equal(config_known(f->c, "policy.djit", rows, &f->e), 0);
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

/* ---- ranges as text ------------------------------------------------------------------------- */

static void ranges_are_told(void **state)
{
    static const char *const expected[] = {
        "on | off", "64..1048576", "1..64",      "0..100000000",
        "0..1000",  "0 or more",   "last | all", "all-memory, all-sync, no-clear",
        "text",     "texts"};

    (void)state;
    for (size_t i = 0; rows[i].name; i++) {
        char *const range = param_range(&rows[i]);
        assert_string_equal(range, expected[i]);
        free(range);
        assert_non_null(param_type_name(rows[i].type));
    }
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    config_free(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {TEST(defaults_hold_where_nothing_is_given),
                                              TEST(nested_and_dotted_names_are_the_same),
                                              TEST(empty_files_say_nothing),
                                              TEST(numbers_are_read),
                                              TEST(bad_numbers_are_refused),
                                              TEST(long_values_are_shown_in_part),
                                              TEST(a_bad_number_names_place_rule_and_example),
                                              TEST(switches_are_read),
                                              TEST(choices_are_exact_and_the_nearest_is_told),
                                              TEST(sets_are_masks_by_index),
                                              TEST(lists_and_texts_keep_what_is_written),
                                              TEST(names_given_twice_name_both_lines),
                                              TEST(unwanted_yaml_is_refused),
                                              TEST(depth_has_a_limit),
                                              TEST(deep_lists_are_refused_at_once),
                                              TEST(size_has_a_limit),
                                              TEST(names_have_a_limit),
                                              TEST(the_number_of_values_has_a_limit),
                                              TEST(files_that_cannot_be_read_are_told),
                                              TEST(arbitrary_bytes_do_no_harm),
                                              TEST(the_last_word_holds),
                                              TEST(a_file_wins_over_what_it_inherits),
                                              TEST(an_absolute_path_and_a_preset_are_inherited),
                                              TEST(a_preset_may_be_a_file),
                                              TEST(circles_of_inheritance_end),
                                              TEST(inheritance_has_limits),
                                              TEST(a_missing_parent_names_the_line),
                                              TEST(assignments_must_be_name_equals_value),
                                              TEST(unknown_names_are_told_with_the_nearest),
                                              TEST(a_section_takes_no_value),
                                              TEST(two_tables_share_a_section),
                                              TEST(the_top_level_is_a_section),
                                              TEST(a_name_bound_twice_is_an_error),
                                              TEST(a_parameter_is_no_section),
                                              TEST(unused_values_are_told_in_order),
                                              TEST(values_of_known_sections_are_checked),
                                              TEST(the_dump_is_nested_with_origins),
                                              TEST(canonical_lines_are_sorted_and_without_origins),
                                              TEST(any_text_survives_the_dump),
                                              TEST(random_texts_survive_the_dump),
                                              TEST(lists_and_sets_survive_the_dump),
                                              TEST(odd_file_names_do_not_break_the_dump),
                                              TEST(odd_labels_survive_the_dump),
                                              TEST(what_was_bound_outlives_later_values),
                                              cmocka_unit_test(ranges_are_told),
                                              cmocka_unit_test(freeing_nothing_is_fine)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
