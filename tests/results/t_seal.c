/* t_seal.c - is every change of a results folder noticed, and does a reader get no byte of it? Each
 * byte of each file of a run's folder becomes another, each file is cut off at each length, and
 * lines go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "results/results.h"
#include "sim/lardsim.h"

static char dir[] = "/tmp/t_seal-XXXXXX";
static char *folder;
enum { FILES = 8, MOST = 1 << 20 };
static const char *const names[FILES] = {
    "DONE",        "config.yaml", "host.json",  "provenance.json",
    "races.jsonl", "stats.csv",   "stats.json", "stats.txt"};

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static void write_file(const char *name, const char *text, size_t bytes)
{
    char *path = path_of(name);
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
    free(path);
}

static char *read_file(const char *name, size_t *bytes)
{
    char *path = path_of(name), *text = file_text(path, MOST, bytes);

    assert_non_null(text);
    free(path);
    return text;
}

/* A small run, with races. */
static int make_folder(void **state)
{
    struct lardsim *l = lardsim_new();

    (void)state;
    assert_non_null(mkdtemp(dir));
    folder = xasprintf("%s/results", dir);
    assert_int_equal(lardsim_output(l, folder, 0), 0);
    assert_int_equal(lardsim_set(l, "policies=vc"), 0);
    assert_int_equal(lardsim_start(l), 0);
    lardsim_run(l, "synth:events=60,threads=3,racy=500");
    lardsim_finish(l);
    if (lardsim_error(l))
        fail_msg("%s", lardsim_error(l));
    lardsim_free(l);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    assert_int_equal(folder_remove(dir), 0);
    free(folder);
    return 0;
}

static bool is_whole(void)
{
    struct err e = {0};
    struct seal *s = seal_open(folder, &e);
    const bool whole = s && !results_check(s, &e);

    assert_int_equal(whole, e.code == 0);
    assert_true(whole || e.code == LARD_TOLERANCE);
    seal_close(s);
    return whole;
}

static bool note_line(void *got, char *line, size_t bytes)
{
    (void)line;
    *(size_t *)got += bytes + 1;
    return false;
}

/* Whoever asks for the file alone gets all of it, or nothing. */
static bool is_read(const char *name)
{
    struct err e = {0}, later = {0};
    struct seal *s = seal_open(folder, &e);
    size_t bytes = 0, lines = 0;
    char *text = s ? seal_text(s, name, &bytes, &e) : NULL;

    if (s && strcmp(name, "host.json") != 0) { /* its seal is in its last line: it is read whole */
        assert_int_equal(seal_lines(s, name, note_line, &lines, &later) == 0, text != NULL);
        assert_int_equal(lines, text ? bytes : 0);
    }
    assert_int_equal(text != NULL, e.code == 0);
    free(text);
    seal_close(s);
    return !e.code;
}

static void all_is_as_it_was_written(void **state)
{
    (void)state;
    assert_true(is_whole());
    for (size_t i = 1; i < FILES; i++)
        assert_true(is_read(names[i]));
}

static void each_byte_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t bytes;
        char *text = read_file(names[i], &bytes);
        const size_t step = bytes / 400 + 1; /* all bytes of the smaller files */
        for (size_t at = 0; at < bytes;
             at += at + step < bytes || at == bytes - 1 ? step : bytes - 1 - at) {
            text[at] ^= 1;
            write_file(names[i], text, bytes);
            if (is_whole())
                fail_msg("byte %zu of %s is another, and nobody notices", at, names[i]);
            if (i && is_read(names[i]))
                fail_msg("byte %zu of %s is another, and the file is handed over", at, names[i]);
            text[at] ^= 1;
        }
        write_file(names[i], text, bytes);
        free(text);
    }
    assert_true(is_whole());
}

static void each_length_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t bytes;
        char *text = read_file(names[i], &bytes);
        for (size_t n = 0; n < bytes;
             n += n + bytes / 200 + 1 < bytes || n == bytes - 1 ? bytes / 200 + 1 : bytes - 1 - n) {
            write_file(names[i], text, n);
            if (is_whole())
                fail_msg("%s is cut off after %zu bytes, and nobody notices", names[i], n);
        }
        write_file(names[i], text, bytes);
        free(text);
    }
    assert_true(is_whole());
}

static void each_file_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t bytes;
        char *text = read_file(names[i], &bytes), *path = path_of(names[i]);
        assert_int_equal(unlink(path), 0);
        if (is_whole())
            fail_msg("%s is gone, and nobody notices", names[i]);
        write_file(names[i], text, bytes);
        free(path);
        free(text);
    }
}

/* A file that DONE does not have is of somebody else. */
static void a_foreign_file_is_not_read(void **state)
{
    (void)state;
    write_file("intervals.csv", "start,end,x\n0,1,2\n", 18);
    assert_true(is_whole());
    assert_false(is_read("intervals.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_as_it_was_written),   cmocka_unit_test(each_byte_counts),
        cmocka_unit_test(each_length_counts),         cmocka_unit_test(each_file_counts),
        cmocka_unit_test(a_foreign_file_is_not_read),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
