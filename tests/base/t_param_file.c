/* t_param_file.c - configuration files: what in them is no configuration is told with its place,
 * they have limits, inherit, and the last word holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/base/param_rig.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PARAM_TEST(names_given_twice_name_both_lines),
        PARAM_TEST(unwanted_yaml_is_refused),
        PARAM_TEST(depth_has_a_limit),
        PARAM_TEST(deep_lists_are_refused_at_once),
        PARAM_TEST(size_has_a_limit),
        PARAM_TEST(names_have_a_limit),
        PARAM_TEST(the_number_of_values_has_a_limit),
        PARAM_TEST(files_that_cannot_be_read_are_told),
        PARAM_TEST(arbitrary_bytes_do_no_harm),
        PARAM_TEST(the_last_word_holds),
        PARAM_TEST(a_file_wins_over_what_it_inherits),
        PARAM_TEST(an_absolute_path_and_a_preset_are_inherited),
        PARAM_TEST(a_preset_may_be_a_file),
        PARAM_TEST(circles_of_inheritance_end),
        PARAM_TEST(inheritance_has_limits),
        PARAM_TEST(a_missing_parent_names_the_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
