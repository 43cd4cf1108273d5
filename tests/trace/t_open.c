/* t_open.c - a source by its name: files, formats by their first bytes, and an error that says what
 * a file is when it is no trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/frame/place.h"
#include "trace/trace.h"

static void refused(const char *spec, const char *expected)
{
    struct err e = {0};

    assert_null(source_open(spec, &e));
    assert_int_equal(e.code, LARD_TRACE);
    if (!strstr(e.text, expected) || !strstr(e.text, spec))
        fail_msg("expected \"%s\", found \"%s\"", expected, e.text);
}

static void what_is_no_trace_is_called_by_its_name(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *expected;
    } files[] = {
        {"", 0, "is empty"},
        {"\x1f\x8b\x08", 3, "the gzip data end too early"},
        {"\x1f", 1, "binary data"},
        {"\x28\xb5\x2f\xfd", 4, "the zstd data end too early"},
        {"\x7f"
         "ELF\x02",
         5, "ELF"},
        {"PK\x03\x04", 4, "zip"},
        {"{\"a\": 1}", 8, "JSON"},
        {"2 415130\n0 1fc0\n", 16, "a Dinero trace"},
        {"r 1fc0 8\n", 9, "a Dinero trace"},
        {"r 1fc0x 8\n", 10, "text of some other kind"},
        {"# comment\nT0 read 8 4\n", 22, "begins with \"lardsim-text 2\""},
        {"hello", 5, "text of some other kind"},
        {"a | b", 5, "text of some other kind"},
        {"\n\n\n", 3, "text of some other kind"},
        {"a\0b", 3, "binary data"},
        {"\xef\xbb\xbflardsim-text 1\n", 18, "byte order mark"},
    };
    const struct place *p = *state;

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        place_put(p, files[i].bytes, files[i].n);
        refused(p->file, files[i].expected);
    }
    place_put(p, "hello", 5);
    refused(p->file, "(binary, text, std, lackey, din, xdin, ce, gem5)");
}

static void what_can_not_be_read_is_an_error(void **state)
{
    const struct place *p = *state;

    refused(p->file, "no such file");
    refused("", "no such file");
    refused(p->dir, "is a directory");
    refused("/dev/null", "is empty");
    place_put(p, "lardsim-text 1\n", 15);
    assert_int_equal(chmod(p->file, 0), 0);
    if (geteuid() != 0)
        refused(p->file, "can't be opened");
}

/* It has no place in anybody's budget yet. */
static void a_source_that_nobody_accounts_for_has_a_limit(void **state)
{
    const struct place *p = *state;
    struct err e = {0};

    place_put(p, "lardsim-text 1\nT3 io\n", 21);
    struct source *s = source_open(p->file, &e);
    assert_non_null(s);
    assert_int_equal(s->kept.limit, SOURCE_MEMORY);
    source_close(s);
}

static void a_text_trace_is_known_after_comments(void **state)
{
    static const char text[] = "\n# expect: none\r\n\t# more\n  lardsim-text 1\nT3 io\n";
    const struct place *p = *state;
    struct err e = {0};
    struct source *s;
    struct batch b;

    place_put(p, text, sizeof text - 1);
    s = source_open(p->file, &e);
    assert_non_null(s);
    assert_string_equal(s->name, p->file);
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 1);
    assert_int_equal(b.rec[0].tid, 3);
    source_close(s);
}

static void a_text_trace_is_known_after_more_comments_than_the_head_holds(void **state)
{
    const struct place *p = *state;
    char text[2048] = "#";
    struct err e = {0};
    struct source *s;

    memset(text + 1, 'x', 999);
    strcpy(text + 1000, "\nlardsim-text 1\n");
    place_put(p, text, strlen(text));
    s = source_open(p->file, &e);
    assert_non_null(s);
    source_close(s);
    strcpy(text + 1000, "\nhello\n");
    place_put(p, text, strlen(text));
    refused(p->file, ":2: the first line must be");
}

static void an_error_in_a_trace_names_its_path(void **state)
{
    const struct place *p = *state;

    place_put(p, "lardsim-text 9\n", 15);
    refused(p->file, "trace:1: version \"9\"");
}

static void input_is_read_head_first(void **state)
{
    struct input *in = xcalloc(1, sizeof *in);
    char bytes[] = "0123456789", got[16];

    (void)state;
    in->name = xstrdup("x");
    in->file = fmemopen(bytes, 10, "r");
    assert_non_null(in->file);
    in->head_n = fread(in->head, 1, 4, in->file);
    assert_int_equal(input_read(in, got, 3), 3);
    assert_memory_equal(got, "012", 3);
    assert_int_equal(input_read(in, got, 0), 0);
    assert_int_equal(input_read(in, got, 3), 3);
    assert_memory_equal(got, "345", 3);
    assert_int_equal(input_read(in, got, 16), 4);
    assert_memory_equal(got, "6789", 4);
    assert_int_equal(input_read(in, got, 16), 0);
    input_free(in);
    input_free(NULL);
}

static void a_pipe_can_be_read(void **state)
{
    char *spec;
    struct err e = {0};
    struct source *s;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "lardsim-text 1\nT0 io\n", 21), 21);
    close(ends[1]);
    spec = xasprintf("/dev/fd/%d", ends[0]);
    if (access(spec, R_OK))
        skip();
    s = source_open(spec, &e);
    assert_non_null(s);
    source_close(s);
    close(ends[0]);
    free(spec);
}

static void standard_input_can_be_read(void **state)
{
    const int was = dup(STDIN_FILENO);
    struct err e = {0};
    struct source *s;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "lardsim-text 1\nT0 oi\n", 21), 21);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    s = source_open("-", &e);
    assert_null(s);
    assert_non_null(strstr(e.text, "standard input:2: "));
    if (was >= 0)
        assert_int_equal(dup2(was, STDIN_FILENO), STDIN_FILENO);
    close(was);
}

static void the_generator_is_a_source(void **state)
{
    struct err e = {0};
    struct source *s = source_open("synth:events=100", &e);
    struct batch b;

    (void)state;
    if (!s)
        fail_msg("%s", e.text);
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_true(b.records > 0);
    source_close(s);
    assert_null(source_open("synth:evnets=100", &e));
    assert_int_not_equal(e.code, 0);
}

/* Takes n events, then fails. */
struct counting_sink {
    struct sink base;
    unsigned events, limit, named;
};

static int count_event(struct sink *s, const struct event *ev, struct err *e)
{
    struct counting_sink *c = (struct counting_sink *)s;

    (void)ev;
    if (c->events == c->limit)
        return err_set(e, LARD_OUTPUT, "full");
    c->events++;
    return 0;
}

static int count_names(struct sink *s, const struct names *from, struct err *e)
{
    struct counting_sink *c = (struct counting_sink *)s;

    (void)e;
    c->named = (unsigned)names_count(from);
    return 0;
}

static void a_pump_moves_events_and_names_and_reports_either_side(void **state)
{
    static const char text[] = "lardsim-text 1\nT0 copy 8 16 8\nT0 io\nname site 1 \"end\"\n";
    struct counting_sink to = {.base = {.event = count_event, .names = count_names}, .limit = 9};
    const struct place *p = *state;
    struct err e = {0};
    struct source *s;

    place_put(p, text, sizeof text - 1);
    s = source_open(p->file, &e);
    assert_non_null(s);
    assert_int_equal(trace_pump(s, &to.base, &e), 0);
    assert_int_equal(to.events, 2);
    assert_int_equal(to.named, 1);
    source_close(s);

    to.events = 0;
    to.limit = 1;
    s = source_open(p->file, &e);
    assert_int_equal(trace_pump(s, &to.base, &e), -1);
    assert_string_equal(e.text, "full");
    source_close(s);

    err_clear(&e);
    to.events = 0;
    place_put(p, "lardsim-text 1\nT0 io\nT0 oi\n", 27);
    s = source_open(p->file, &e);
    assert_int_equal(trace_pump(s, &to.base, &e), -1);
    assert_int_equal(e.code, LARD_TRACE);
    assert_int_equal(to.events, 1);
    source_close(s);
}

static void the_path_in_a_source_is_what_follows_format_and_options(void **state)
{
    static const struct {
        const char *spec, *path;
    } sources[] = {
        {"a.lard", "a.lard"},
        {"/tmp/a:b.lard", "/tmp/a:b.lard"},
        {"-", "-"},
        {"std:a.std", "a.std"},
        {"text:-", "-"},
        {"lackey:threads=2:a.txt", "a.txt"},
        {"./synth:events=3", "./synth:events=3"},
        {"synth", "synth"},
        {"synthetic:a", "synthetic:a"},
        {"synth:events=3", NULL},
        {"synth:", NULL},
        {"workload:sor,size=small", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        const char *path = source_path(sources[i].spec), *want = sources[i].path;
        if (!path != !want || (path && strcmp(path, want) != 0))
            fail_msg("the path in %s is %s, not %s", sources[i].spec, path ? path : "none",
                     want ? want : "none");
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, place_make, place_remove)
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_trace_is_called_by_its_name),
        TEST(what_can_not_be_read_is_an_error),
        TEST(a_source_that_nobody_accounts_for_has_a_limit),
        TEST(a_text_trace_is_known_after_comments),
        TEST(a_text_trace_is_known_after_more_comments_than_the_head_holds),
        TEST(an_error_in_a_trace_names_its_path),
        TEST(input_is_read_head_first),
        TEST(a_pipe_can_be_read),
        TEST(standard_input_can_be_read),
        TEST(the_generator_is_a_source),
        TEST(the_path_in_a_source_is_what_follows_format_and_options),
        TEST(a_pump_moves_events_and_names_and_reports_either_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
