/* t_all.c - does `lardsim reproduce all` say of each table what became of its claims? Tables,
 * claims and what they are made of are the test's: one holds, differs and can't be judged, one
 * can't be run, one runs only when it is asked for. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "results/papers/all.h"
#include "results/papers/lard.h"

/* ---- tables by hand -------------------------------------------------------------------------- */

const struct reproduction reproductions[] = {{.name = "first", .cannot = "no such hardware"},
                                             {.name = "asked", .asked = true},
                                             {.name = "broken"},
                                             {.name = "plain"},
                                             {.name = NULL}};
const struct paper papers[] = {
    {.name = "lard2", .title = "two"}, {.name = "lard3", .title = "three"}, {.name = NULL}};
const struct suite suites[] = {{.name = "twins"}, {.name = "kernels"}};
const char *const table_verdict_names[] = {"holds", "differs", "cannot"};
const char *const verdict_keys[] = {"holds", "fails", "no-case"};

static const struct {
    const char *table;
    struct band band;
    double ours, half;
    enum table_verdict verdict;
} claims[] = {
    {"first", {.claim = "it is fast", .unit = "%", .paper = "12"}, 11, NAN, TABLE_HOLDS},
    {"first", {.claim = "it is small", .unit = "bytes", .paper = ""}, 7, 2, TABLE_DIFFERS},
    {"first", {.claim = "it is new"}, NAN, NAN, TABLE_CANNOT},
    {"plain", {.claim = "it is there"}, NAN, NAN, TABLE_CANNOT},
    {"plain", {.claim = "it is fast", .unit = "x", .paper = "3"}, 3, NAN, TABLE_HOLDS},
};
static int broken_code = LARD_CONFIG, lard_fails, made, freed, lards_freed;

int results_make(struct table_results *r, const struct reproduction *t, const struct run_options *o,
                 struct err *e)
{
    (void)o;
    r->of = t;
    made++;
    if (strcmp(t->name, "broken") != 0)
        return 0;
    return err_set(e, (enum lard_exit)broken_code, "no such program");
}
void results_free(struct table_results *r)
{
    (void)r;
    freed++;
}
bool judge_next(const struct table_results *r, size_t *at, struct table_judged *to)
{
    for (; *at < ARRAY_SIZE(claims); ++*at)
        if (!strcmp(claims[*at].table, r->of->name)) {
            *to = (struct table_judged){.band = &claims[*at].band,
                                        .ours = claims[*at].ours,
                                        .seeds = {.half = claims[*at].half},
                                        .verdict = claims[*at].verdict};
            ++*at;
            return true;
        }
    return false;
}
const char *number_text(char to[static NUMBER_TEXT], double x)
{
    snprintf(to, NUMBER_TEXT, "%g", x);
    return to;
}
char *band_text(const struct band *b)
{
    (void)b;
    return xstrdup("1 to 9");
}
void file_csv(const struct table_results *r, FILE *out)
{
    fprintf(out, "csv of %s\n", r->of->name);
}
void page_json(const struct table_results *r, struct json *j)
{
    json_str(j, r->of->name);
}
int lard_run(struct lard_report *r, const struct suite *s, bool quiet, struct err *e)
{
    (void)quiet;
    assert_string_equal(s->name, "twins");
    if (lard_fails)
        return err_set(e, LARD_LIMIT, "stopped");
    r->verdicts[HOLDS] = 5;
    r->verdicts[FAILS] = !strcmp(r->paper->name, "lard3");
    r->verdicts[NO_CASE] = 2;
    return 0;
}
void lard_free(struct lard_report *r)
{
    (void)r;
    lards_freed++;
}

/* ---- what is said ---------------------------------------------------------------------------- */

struct said {
    char *text, *csv; /* own */
    int code;
    struct err e;
};

static struct said run_all(bool quiet, bool json)
{
    struct said s = {NULL, NULL, 0, {0}};
    size_t bytes;
    FILE *csv = xmemstream(&s.csv, &bytes);
    const struct all_options o = {.run = {.quiet = quiet}, .json = json, .csv = csv};

    fflush(stdout);
    const int out = dup(STDOUT_FILENO), to = open("all.out", O_CREAT | O_TRUNC | O_RDWR, 0666);
    dup2(to, STDOUT_FILENO);
    made = freed = lards_freed = 0;
    s.code = all_run(&o, &s.e);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(to);
    fclose(csv);
    s.text = file_text("all.out", 100000, &bytes);
    unlink("all.out");
    return s;
}

static void said_free(struct said *s)
{
    free(s->text);
    free(s->csv);
}

#define FIRST  "first              "
#define BROKEN "broken             "
#define PLAIN  "plain              "
#define LARD   "what it claims of each program and collector\n                   "
#define BELOW  "\n                   "

static const char before_broken[] =
    FIRST "it is fast" BELOW "holds    ours 11 %, paper 12, band 1 to 9\n" FIRST "it is small" BELOW
          "differs  ours 7 +- 2 bytes, paper -, band 1 to 9\n" FIRST "it is new" BELOW
          "cannot   not measured: its page says why\n" BROKEN "its cells can't be run" BELOW
          "cannot   no such program\n";
static const char behind[] =
    PLAIN "it is there" BELOW "cannot   not measured: no cell has it\n" PLAIN "it is fast" BELOW
          "holds    ours 3 x, paper 3, band 1 to 9\n"
          "lard2              " LARD "holds    5 claims hold, 0 fail, 2 have no case\n"
          "lard3              " LARD "differs  5 claims hold, 1 fail, 2 have no case\n"
          "\n5 tables; claims: 3 hold, 2 differ, 2 cannot be judged\n";

static void each_claim_has_its_line_and_all_are_counted(void **state)
{
    (void)state;
    struct said s = run_all(false, false);
    char *want = xasprintf("%s%s", before_broken, behind);
    if (strcmp(s.text, want) != 0)
        fail_msg("it says \"%s\", not \"%s\"", s.text, want);
    assert_int_equal(s.code, -1);
    assert_int_equal(s.e.code, LARD_INTERNAL);
    assert_string_equal(s.e.text, "1 table could not be run");
    assert_string_equal(s.csv, "csv of first\ncsv of plain\n");
    assert_int_equal(made, 3);
    assert_int_equal(freed, 3);
    assert_int_equal(lards_freed, 2);
    free(want);
    said_free(&s);
}

static void quiet_it_says_nothing(void **state)
{
    (void)state;
    struct said s = run_all(true, false);
    assert_string_equal(s.text, "");
    assert_string_equal(s.csv, "csv of first\ncsv of plain\n");
    said_free(&s);
}

static void as_json_it_is_a_list_of_tables(void **state)
{
    static const char *const parts[] = {"\"first\"",
                                        "\"plain\"",
                                        "\"result\": \"lard2\"",
                                        "\"title\": \"two\"",
                                        "\"result\": \"lard3\"",
                                        "\"title\": \"three\"",
                                        "\"holds\": 5",
                                        "\"fails\": 1"};

    (void)state;
    struct said s = run_all(false, true);
    assert_true(*s.text == '[');
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (!strstr(s.text, parts[i]))
            fail_msg("the list lacks %s: %s", parts[i], s.text);
    }
    assert_null(strstr(s.text, "it is fast"));
    assert_null(strstr(s.text, "tables; claims"));
    assert_non_null(strstr(s.text, "\"schema\": \"lardsim-lard-verdicts-1\""));
    said_free(&s);
}

/* A folder that can't be written, or a signal: nothing else will do better. */
static void what_would_not_do_better_ends_it(void **state)
{
    static const int codes[] = {LARD_OUTPUT, 130};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
        broken_code = codes[i];
        struct said s = run_all(false, false);
        assert_string_equal(s.text, before_broken);
        assert_int_equal(s.code, -1);
        assert_int_equal(s.e.code, codes[i]);
        assert_string_equal(s.e.text, "no such program");
        assert_int_equal(made, 2);
        assert_int_equal(freed, 2);
        assert_int_equal(lards_freed, 0);
        said_free(&s);
    }
    broken_code = LARD_CONFIG;
    lard_fails = 1;
    struct said s = run_all(true, false);
    assert_int_equal(s.e.code, LARD_LIMIT);
    assert_int_equal(lards_freed, 1);
    said_free(&s);
    lard_fails = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_claim_has_its_line_and_all_are_counted),
        cmocka_unit_test(quiet_it_says_nothing),
        cmocka_unit_test(as_json_it_is_a_list_of_tables),
        cmocka_unit_test(what_would_not_do_better_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
