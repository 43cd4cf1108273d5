/* t_costs.c - is what several runs say together what costs.h and sweep.h say it is: overheads as a
 * run goes on, whether they are settled, seeds and axes that change nothing, and what is remembered
 * of a plan? Runs are made up. */
#include <math.h>
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
#include "results/experiment/costs.h"
#include "results/experiment/sweep.h"

static void is_near(const char *what, double is, double want)
{
    if (!(fabs(is - want) <= 1e-9))
        fail_msg("%s: %.9f, not %.9f", what, is, want);
}

/* ---- as a run goes on ------------------------------------------------------------------------ */

/* After each 100 of 800 events 100 cycles more without a policy; with it 3 times as many at first,
 * and twice as many from the half on. */
static void overheads_are_of_a_part_of_the_events(void **state)
{
    struct costs none = {.course = {.step = 100, .n = 7, .events = 800, .total = 800}};
    struct costs with = {.course = {.step = 100, .n = 7, .events = 800, .total = 2000}};
    double is[COURSE_PARTS];

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        none.course.cycles[i] = 100 * (i + 1);
        with.course.cycles[i] = i < 4 ? 300 * (i + 1) : 1200 + 200 * (i - 3);
    }
    assert_true(course_overheads(&with, &none, is));
    is_near("an eighth", is[0], 2);
    is_near("a quarter", is[1], 2);
    is_near("half", is[2], 2);
    is_near("all", is[3], 1.5);

    /* between samples, and behind the last, as if cycles went evenly: 100, 200, 500 and 900 */
    with.course =
        (struct lardsim_course){.step = 200, .n = 1, .events = 800, .total = 800, .cycles = {200}};
    assert_true(course_overheads(&with, &none, is));
    is_near("half of a sample", is[0], 0);
    is_near("a sample", is[1], 0);
    is_near("behind the last", is[2], 0);
    with.course =
        (struct lardsim_course){.step = 300, .n = 1, .events = 800, .total = 800, .cycles = {600}};
    assert_true(course_overheads(&with, &none, is));
    is_near("a third of a sample", is[0], 1);
    is_near("two thirds", is[1], 1);
    is_near("a fifth of the rest", is[2], (600 + 200.0 / 5) / 400 - 1);
    with.course = (struct lardsim_course){.step = 1000, .n = 0, .events = 800, .total = 1600};
    assert_true(course_overheads(&with, &none, is));
    is_near("no sample", is[1], 1);

    with.course.events = 0;
    assert_false(course_overheads(&with, &none, is));
    with.course.events = 800;
    none.course.events = 0;
    assert_false(course_overheads(&with, &none, is));
    none.course =
        (struct lardsim_course){.step = 100, .n = 1, .events = 800, .total = 800, .cycles = {0}};
    assert_false(course_overheads(&with, &none, is)); /* nothing to hold it against */
}

/* Half a point, or a twentieth of the overhead. */
static void what_has_hardly_moved_is_settled(void **state)
{
    (void)state;
    assert_true(overhead_settled(0.010, 0.0149));
    assert_false(overhead_settled(0.010, 0.0151));
    assert_false(overhead_settled(0.0151, 0.010));
    assert_true(overhead_settled(1.91, 2));
    assert_true(overhead_settled(2.09, 2));
    assert_false(overhead_settled(1.89, 2));
    assert_false(overhead_settled(2.11, 2));
    assert_true(overhead_settled(-0.48, -0.5));
    assert_true(course_settled((const double[COURSE_PARTS]){9, 7, 2.05, 2}));
    assert_false(course_settled((const double[COURSE_PARTS]){2, 2, 2.2, 2}));
}

/* ---- several runs ---------------------------------------------------------------------------- */

/* A run in which the policies take so many cycles; the first takes 1000. */
static void add_run(struct cost_runs *to, uint64_t value, uint64_t second, uint64_t third,
                    uint64_t behaviour)
{
    struct costs row[3] = {{.behaviour = 5}, {.behaviour = 6}, {.behaviour = behaviour}};
    const struct cost_table t = {.row = row, .n = 3, .rows = 3};

    row[0].whole.cost[COST_CYCLES] = 1000;
    row[1].whole.cost[COST_CYCLES] = second;
    row[2].whole.cost[COST_CYCLES] = third;
    cost_runs_add(to, value, &t);
}

static void several_runs_have_a_mean_and_may_be_alike(void **state)
{
    struct cost_runs s = {NULL, 0, 0};

    (void)state;
    assert_false(cost_runs_same(&s, 3));
    assert_false(cost_runs_settled(&s, 3));
    add_run(&s, 1, 2000, 3000, 7);
    assert_false(cost_runs_same(&s, 3)); /* one is not several */
    assert_false(cost_runs_settled(&s, 3));
    add_run(&s, 2, 2000, 3600, 7);
    assert_true(cost_runs_same(&s, 3));
    assert_false(cost_runs_settled(&s, 3)); /* the third moved from 2 to 2.6 */
    assert_true(cost_runs_settled(&s, 2));
    add_run(&s, 4, 2040, 3650, 8);
    assert_false(cost_runs_same(&s, 3));
    assert_true(cost_runs_same(&s, 2));
    assert_true(cost_runs_settled(&s, 3));
    add_run(&s, 8, 2200, 3650, 7);
    assert_false(cost_runs_settled(&s, 3)); /* the second */
    is_near("the mean of the second", cost_estimate_of(&s, 1).mean, (1 + 1 + 1.04 + 1.2) / 4);
    is_near("the mean of the third", cost_estimate_of(&s, 2).mean, (2 + 2.6 + 2.65 + 2.65) / 4);
    assert_int_equal(s.run[2].value, 4);
    cost_runs_free(&s);
    assert_int_equal(s.n, 0);
}

/* ---- for other programs ---------------------------------------------------------------------- */

/* A file of one of the tables below. */
static char *written(void (*write)(const struct cost_table *t, FILE *out),
                     const struct cost_table *t)
{
    char *text;
    size_t bytes;
    FILE *out = xmemstream(&text, &bytes);

    write(t, out);
    fclose(out);
    return text;
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* A policy's cycles, remote misses and metadata accesses stand beside those of none, which are on
 * each row. */
static void a_plot_has_a_row_for_each_policy(void **state)
{
    struct costs row[2] = {{.label = (char *)(uintptr_t) "none"},
                           {.label = (char *)(uintptr_t) "mine"}};
    struct cost_table t = {.source = "a source", .row = row, .n = 2, .rows = 2};
    static const uint64_t counts[2][3] = {{1234, 56, 0}, {2345, 67, 890}};
    static const enum compared_cost costs[] = {COST_CYCLES, COST_REMOTE, COST_METADATA};

    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            row[i].whole.cost[costs[k]] = counts[i][k];
            row[i].region.cost[costs[k]] = counts[i][k] / 2;
        }
    for (int region = 0; region < 2; region++) {
        t.region = region;
        char *text = written(cost_table_plot, &t);
        assert_int_equal(times(text, ">none</text>"), 2); /* a row, and the legend */
        assert_int_equal(times(text, ">mine</text>"), 1);
        assert_int_equal(
            times(text, region ? ">cycles of the region</text>" : ">cycles of the run</text>"), 1);
        assert_int_equal(times(text, ">remote misses</text>"), 1);
        assert_int_equal(times(text, ">metadata accesses</text>"), 1);
        assert_int_equal(times(text, "<title>"), 1 + 2 * 3 * 2);
        for (size_t i = 0; i < 2; i++)
            for (size_t k = 0; k < 3; k++) {
                char *tip = xasprintf("<title>%llu</title>",
                                      (unsigned long long)counts[i][k] / (region ? 2 : 1));
                assert_int_equal(times(text, tip),
                                 i ? 1
                                   : 3); /* none's are hollow on both rows, and full on its own */
                free(tip);
            }
        free(text);
    }
}

/* ---- axes that change nothing ---------------------------------------------------------------- */

struct planned {
    struct spec spec;
    struct plan plan;
    struct listing listing;
};

static const struct sweep_folder folder = {.dir = (char *)(uintptr_t) "costs-folder", .lock = -1};

static void planned_open(struct planned *p, const char *text, struct memo *memo)
{
    struct progress progress;
    struct err e = {0};

    progress_begin(&progress, true, 0);
    if (spec_read(&p->spec, "s.yaml", text, strlen(text), &e) ||
        plan_make(&p->plan, &p->spec, "build", memo, &progress, &e) ||
        listing_write(&folder, &p->plan, &e) || listing_read(&p->listing, folder.dir, &e))
        fail_msg("%s", e.text);
}

static void planned_close(struct planned *p)
{
    listing_free(&p->listing);
    plan_free(&p->plan);
    spec_free(&p->spec);
}

static void told_idle(void *arg, const char *axis, size_t places)
{
    char **to = arg, *one = xasprintf("%s %zu", axis, places);

    xappend(to, ", ", one);
    free(one);
}

/* Cells behave by these columns alone; "" where a column is not theirs. Of every `gap`-th nothing
 * is known. */
static void idle_are(const struct planned *p, const char *by, size_t gap, const char *want)
{
    const struct listing *l = &p->listing;
    char **behaviour = xcalloc(l->n + 1, sizeof *behaviour), *is = NULL;

    for (size_t i = 0; i < l->n; i++) {
        behaviour[i] = xstrdup("b");
        for (size_t k = LISTED_SOURCE; k < l->head.n; k++)
            if (strstr(by, csv_at(&l->head, k)))
                xappend(&behaviour[i], "|", csv_at(&l->row[i], k));
        if (gap && i % gap == 0) {
            free(behaviour[i]);
            behaviour[i] = NULL;
        }
    }
    listing_idle(l, behaviour, told_idle, &is);
    if (strcmp(is ? is : "", want) != 0)
        fail_msg("by %s: what changes nothing is \"%s\", not \"%s\"", by, is ? is : "", want);
    for (size_t i = 0; i < l->n; i++)
        free(behaviour[i]);
    free(behaviour);
    free(is);
}

/* 2 sizes x 3 cores x 2 seeds, each with a policy and without: 24 cells. */
static void an_axis_is_idle_where_cells_differ_in_it_alone(void **state)
{
    struct planned p;
    struct memo memo;

    (void)state;
    mkdir(folder.dir, 0777);
    memo_load(&memo, folder.dir);
    planned_open(&p,
                 "base: {inherit: radish8}\naxes: {l2.size: [64Ki, 128Ki], cores: [2, 4, "
                 "8]}\npolicies: [none, vc]\n"
                 "sources: [\"synth:events=9\"]\nseeds: 2\n",
                 &memo);
    assert_int_equal(p.listing.n, 24);
    idle_are(&p, "policy", 0, "seed 12, l2.size 12, cores 8");
    idle_are(&p, "cores policy", 0, "seed 12, l2.size 12");
    idle_are(&p, "seed source", 0, "l2.size 12, cores 8");
    idle_are(&p, "seed source l2.size", 0, "cores 8");
    idle_are(&p, "seed source l2.size cores", 0, "");
    idle_are(&p, "", 1, "");
    planned_close(&p);
    /* 1 and 11 are not 11 and 1 */
    planned_open(&p,
                 "base: {inherit: radish8}\naxes: {core.misses: [1, 11], core.store-buffer: [1, "
                 "11]}\npolicies: [none]\n"
                 "sources: [\"synth:events=9\"]\nseeds: 2\n",
                 &memo);
    idle_are(&p, "policy", 0, "seed 4, core.misses 4, core.store-buffer 4");
    planned_close(&p);
    memo_free(&memo);
}

/* ---- what is remembered of a plan ------------------------------------------------------------ */

static void what_was_resolved_is_found_again(void **state)
{
    const struct memo_entry some[] = {
        {UINT64_C(0xfedcba9876543210), 7, MEMO_MACHINE | MEMO_PROGRAM}, {5, UINT64_MAX, 0}};
    struct memo m;
    struct err e = {0};
    struct stat before, after;

    (void)state;
    memo_load(&m, "nosuch");
    assert_null(memo_find(&m, 5));
    assert_int_equal(memo_save(&m, &folder, &e), 0);
    for (size_t i = 0; i < ARRAY_SIZE(some); i++)
        memo_add(&m, &some[i]);
    memo_add(&m, &(struct memo_entry){5, 6, 0}); /* the first stays */
    unlink("costs-folder/resolved");
    assert_int_equal(memo_save(&m, &folder, &e), 0);
    memo_free(&m);
    assert_int_equal(stat("costs-folder/resolved", &before), 0);
    memo_load(&m, folder.dir);
    assert_int_equal(m.n, 2);
    for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
        const struct memo_entry *x = memo_find(&m, some[i].key);
        assert_non_null(x);
        assert_true(x->hash == some[i].hash && x->flags == some[i].flags);
    }
    assert_null(memo_find(&m, 6));
    assert_int_equal(memo_save(&m, &folder, &e), 0); /* nothing is new: the file stays */
    assert_int_equal(stat("costs-folder/resolved", &after), 0);
    assert_true(before.st_ino == after.st_ino);
    memo_free(&m);

    size_t bytes;
    char *text = file_text("costs-folder/resolved", 1000, &bytes);
    for (size_t at = 0; at < bytes; at += 20) { /* a file that was changed is as good as none */
        text[at] ^= 1;
        assert_int_equal(sweep_write(&folder, "resolved", text, bytes, &e), 0);
        memo_load(&m, folder.dir);
        assert_int_equal(m.n, 0);
        memo_free(&m);
        text[at] ^= 1;
    }
    free(text);
    folder_remove(folder.dir);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void cells_that_are_damaged_are_counted(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct err e = {0};
        assert_int_equal(sweep_damaged(&folder, n, &e), -1);
        assert_int_equal(e.code, LARD_TOLERANCE);
        assert_string_equal(
            e.text,
            n == 1 ? "costs-folder: 1 cell is not as it was written, and counts as missing; "
                     "`lardsim sweep retry costs-folder` makes it again"
                   : "costs-folder: 2 cells are each not as it was written, and count as missing; "
                     "`lardsim sweep retry costs-folder` makes them again");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overheads_are_of_a_part_of_the_events),
        cmocka_unit_test(what_has_hardly_moved_is_settled),
        cmocka_unit_test(several_runs_have_a_mean_and_may_be_alike),
        cmocka_unit_test(a_plot_has_a_row_for_each_policy),
        cmocka_unit_test(an_axis_is_idle_where_cells_differ_in_it_alone),
        cmocka_unit_test(what_was_resolved_is_found_again),
        cmocka_unit_test(cells_that_are_damaged_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
