/* t_print.c - is what is told of a cell all that is to be told, and nothing if it is to be quiet?
 * Is the difference from a paper's number said as print.c says, is a pair of sites the same
 * whichever access came first, and is a set of seeds the same where all cells behave so? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "results/papers/lard.c"
#include "results/papers/pairs.c" /* what they say of one line has no header; so has print.c */
#include "results/papers/print.c"

static void a_difference_is_in_percent_or_a_factor(void **state)
{
    static const struct {
        uint64_t paper, ours;
        const char *is;
    } cases[] = {
        {5, 5, "="},
        {0, 0, "="},
        {0, 7, "+7"},
        {100, 0, "-100.0%"},
        {10000, 1, "-99.9%"},
        {100000, 1, "-99.9%"},
        {1000, 1, "-99.9%"},
        {3, 4, "+33.3%"},
        {3, 5, "+66.7%"},
        {3, 2, "-33.3%"},
        {2000, 2001, "+0.1%"},
        {2001, 2002, "+0.0%"},
        {10, 1009, "+9990.0%"},
        {10, 1010, "x101"},
        {1, 101, "x101"},
        {1, 100, "+9900.0%"},
        {8, 7, "-12.5%"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *is = difference(cases[i].paper, cases[i].ours);
        if (strcmp(is, cases[i].is) != 0)
            fail_msg("%d for %d: %s, not %s", (int)cases[i].ours, (int)cases[i].paper, is,
                     cases[i].is);
        free(is);
    }
}

static void a_pair_of_sites_is_counted_once(void **state)
{
    static const char *const lines[] = {
        "{\"event\": 9, \"site\": \"b:2\", \"earlier\": {\"event\": 3, \"site\": \"a:1\"}}",
        "{\"event\": 12, \"site\": \"a:1\", \"earlier\": {\"event\": 9, \"site\": \"b:2\"}}",
        "{\"event\": 13, \"site\": \"a:1\", \"earlier\": {\"event\": 12, \"site\": \"a:1\"}}",
        "{\"event\": 14, \"site\": null, \"earlier\": {\"event\": 12, \"site\": \"c\"}}",
        "{\"event\": 15, \"site\": \"c\", \"earlier\": {\"event\": 12, \"site\": null}}",
        "{\"event\": 16, \"site\": \"c\"}",
        "{\"site\": \"c\\\"d\", \"earlier\": {\"site\": \"e\\\\\", \"object\": \"f\"}}",
        "{\"event\": 18, \"site\": \"open"};
    static const char *const pairs[] = {"a:1 and b:2", "a:1 and a:1", "c\\\"d and e\\\\"};
    struct table_pairs p = {.known = true};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        char *line = xstrdup(lines[i]);
        assert_false(add_line(&p, line, strlen(line)));
        free(line);
    }
    assert_int_equal(p.n, ARRAY_SIZE(pairs));
    for (size_t i = 0; i < p.n; i++)
        assert_string_equal(p.name[i], pairs[i]);
    pairs_free(&p);
}

static void seeds_are_the_same_where_all_points_are(void **state)
{
    static const struct table_program programs[] = {{.name = "sor"}, {.name = "tsp"}};
    static const char policy[] = "vc", other[] = "none", step[] = "s";
    struct table_sample s[] = {
        {.program = &programs[0], .policy = policy, .step = step, .behaviour = 1},
        {.program = &programs[0], .policy = other, .step = step, .behaviour = 2},
        {.program = &programs[1], .policy = policy, .step = step, .behaviour = 3},
        {.program = &programs[0], .policy = policy, .step = NULL, .behaviour = 4}};
    struct table_sample twice[5];
    struct table_results r = {.sample = s, .n = 4};

    (void)state;
    assert_false(seeds_are_same(&r, &programs[0])); /* nothing is there twice */
    memcpy(twice, s, sizeof s);
    twice[4] = s[0];
    r = (struct table_results){.sample = twice, .n = 5};
    assert_true(seeds_are_same(&r, &programs[0]));
    assert_false(seeds_are_same(&r, &programs[1]));
    twice[4].behaviour = 9;
    assert_false(seeds_are_same(&r, &programs[0]));
    twice[4] = s[2];
    assert_true(seeds_are_same(&r, &programs[1]));
}

static void numbers_and_bands_are_for_people(void **state)
{
    static const struct {
        double x;
        const char *is;
    } numbers[] = {{0.1234, "0.123"}, {9.9994, "9.999"}, {10, "10.00"},    {99.99, "99.99"},
                   {100, "100.0"},    {999.94, "999.9"}, {1000.4, "1000"}, {-12.346, "-12.35"}};
    static const struct {
        const char *low, *high, *is;
    } texts[] = {
        {"1", "2", "1 to 2"}, {"3", "3", "3"}, {"4", "", "at least 4"}, {"", "5", "at most 5"}};
    char to[NUMBER_TEXT];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        assert_string_equal(number_text(to, numbers[i].x), numbers[i].is);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        char *is = band_text(&(struct band){.low = texts[i].low, .high = texts[i].high});
        assert_string_equal(is, texts[i].is);
        free(is);
    }
    char *q = quantity_for("a($, b) - $$", "vc"), *same = quantity_for("no", "vc");
    assert_string_equal(q, "a(vc, b) - vcvc");
    assert_string_equal(same, "no");
    free(q);
    free(same);
}

/* Returns the text about the cell, under the first table or the second; the caller's. */
static char *told_of(struct lard_report *r, const struct cell *c)
{
    size_t bytes;

    fflush(stdout);
    const int was = dup(STDOUT_FILENO), to = open("print.out", O_CREAT | O_TRUNC | O_WRONLY, 0666);
    dup2(to, STDOUT_FILENO);
    close(to);
    memset(r->verdicts, 0, sizeof r->verdicts);
    report_cell(r, c);
    report_needs(r);
    fflush(stdout);
    dup2(was, STDOUT_FILENO);
    close(was);
    char *text = file_text("print.out", 100000, &bytes);
    unlink("print.out");
    return text;
}

/* A program that should have races has none; seven accesses of the runtime's race under a view, or
 * are false there. */
static void a_cell_is_told_of_unless_it_is_quiet(void **state)
{
    static const struct program program = {.name = "hedc", .racy = true};
    static const struct collector collector = {"semispace", true};
    struct cell c = {.program = &program, .collector = &collector, .is = {.events = 12345}};

    (void)state;
    for (size_t i = 0; papers[i].name; i++) {
        struct lard_report r = {.paper = &papers[i], .cell = &c, .cells = 1};
        struct tally *t = &c.is.view[VIEW_NAIVE][papers[i].differences ? FALSE : RACES];
        *t = (struct tally){.n = {9, 8, 7, 6}};
        char *text = told_of(&r, &c);
        unsigned verdicts[VERDICTS];
        memcpy(verdicts, r.verdicts, sizeof verdicts);
        assert_non_null(strstr(text, "hedc, "));
        assert_non_null(
            strstr(text, ", semispace: 12345 events; truth: 0 racy accesses at 0 sites\n"));
        assert_non_null(strstr(text, ": the program should have races\n"));
        assert_non_null(strstr(text, papers[i].differences
                                         ? "at sites of the runtime system: naive false 7 at 6\n"
                                         : "at sites of the runtime system: naive 7 at 6\n"));
        assert_int_equal(strstr(text, "\nover all programs: every extension is needed\n") != NULL,
                         papers[i].differences);
        free(text);
        r.quiet = true;
        text = told_of(&r, &c);
        assert_string_equal(text, "");
        assert_memory_equal(verdicts, r.verdicts, sizeof verdicts);
        assert_true(verdicts[FAILS] > 0);
        /* of the program, of each claim, and of each extension that all of them need */
        unsigned judged = 1 + (papers[i].differences ? NEEDS : 0);
        for (const struct claim *claim = papers[i].claims; claim->text; claim++)
            judged += claim->judge != NULL;
        assert_int_equal(verdicts[HOLDS] + verdicts[FAILS] + verdicts[NO_CASE], judged);
        free(text);
        *t = (struct tally){.n = {0}};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_in_percent_or_a_factor),
        cmocka_unit_test(a_pair_of_sites_is_counted_once),
        cmocka_unit_test(seeds_are_the_same_where_all_points_are),
        cmocka_unit_test(numbers_and_bands_are_for_people),
        cmocka_unit_test(a_cell_is_told_of_unless_it_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
