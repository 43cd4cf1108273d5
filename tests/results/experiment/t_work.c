/* t_work.c - do cells that one process runs side by side end as they should, each by itself? What
 * is told of them, and where their results are, for a source that ends well, one that breaks a
 * rule, and one that has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/folder.h"
#include "base/mem.h"
#include "results/experiment/sweep.h"

enum { CELLS = 3 };

struct rig {
    struct spec spec;
    struct plan plan;
    struct memo memo;
    struct sweep_folder folder;
    uint64_t events[CELLS], times[CELLS]; /* that are told, and how often */
    char *told;                           /* all but events */
};

static void rig_open(struct rig *x, const char *source)
{
    char *text = xasprintf("policies: [none, vc, fasttrack]\nsources: [\"%s\"]\n", source);
    struct progress progress;
    struct err e = {0};

    *x = (struct rig){.told = NULL};
    memo_load(&x->memo, "nosuch");
    progress_begin(&progress, true, 0);
    if (spec_read(&x->spec, "s.yaml", text, strlen(text), &e) ||
        plan_make(&x->plan, &x->spec, "build", &x->memo, &progress, &e) ||
        sweep_open(&x->folder, "work-folder", &e))
        fail_msg("%s", e.text);
    free(text);
    assert_int_equal(x->plan.n, CELLS);
}

static void rig_close(struct rig *x)
{
    folder_remove(x->folder.dir);
    sweep_close(&x->folder);
    plan_free(&x->plan);
    spec_free(&x->spec);
    memo_free(&x->memo);
    free(x->told);
}

static void take(void *rig, enum told what, size_t cell, uint64_t n)
{
    static const char *const names[] = {"events", "done", "failed", "alone", "no room"};
    struct rig *x = rig;

    if (what == TOLD_EVENTS) {
        x->events[cell] += n;
        x->times[cell]++;
        return;
    }
    char *one = xasprintf("%zu %s %llu", cell, names[what], (unsigned long long)n);
    xappend(&x->told, ", ", one);
    free(one);
}

/* Runs the first n cells together; what is told of them is `want`. */
static void run_together(struct rig *x, size_t n, const char *want)
{
    struct group g = {NULL, 0, 0};
    const struct teller t = {take, x};

    free(x->told);
    x->told = NULL;
    memset(x->events, 0, sizeof x->events);
    memset(x->times, 0, sizeof x->times);
    for (size_t i = 0; i < n; i++)
        group_add(&g, i);
    work_run(&x->folder, &x->plan, &g, &t);
    if (strcmp(x->told ? x->told : "", want) != 0)
        fail_msg("it is told \"%s\", not \"%s\"", x->told ? x->told : "", want);
    free(g.cell);
}

static bool stands_in(const struct rig *x, const char *room, size_t cell)
{
    char *path = sweep_path(&x->folder, room, x->plan.cell[cell].hash);
    const bool there = !access(path, F_OK);

    free(path);
    return there;
}

static void log_is(const struct rig *x, size_t cell, const char *want)
{
    char *path = xasprintf("%s/failed/%s/log", x->folder.dir, x->plan.cell[cell].hash);
    size_t bytes;
    char *text = file_text(path, 2000, &bytes);

    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
    free(path);
}

static void write_trace(const char *last)
{
    FILE *f = fopen("work.trace", "w");

    fprintf(f, "lardsim-text 2\nT0 fork T1\nT0 write 0x1000 4\nT1 read 0x1000 4\n%s", last);
    assert_int_equal(fclose(f), 0);
}

/* Races are no failure. */
static void cells_that_end_well_are_done_at_once(void **state)
{
    struct rig x;

    (void)state;
    write_trace("");
    rig_open(&x, "work.trace");
    run_together(&x, 3, "0 done 0, 1 done 0, 2 done 0");
    for (size_t i = 0; i < CELLS; i++) {
        struct err why = {0};
        assert_int_equal(x.events[i], 3);
        assert_true(stands_in(&x, "cells", i));
        assert_false(stands_in(&x, "tmp", i) || stands_in(&x, "failed", i));
        assert_int_equal(cell_state(x.folder.dir, x.plan.cell[i].hash, &why), CELL_DONE);
    }
    rig_close(&x);

    rig_open(&x, "work.trace"); /* and one by itself */
    run_together(&x, 1, "0 done 0");
    assert_true(stands_in(&x, "cells", 0) && !stands_in(&x, "cells", 1));
    assert_int_equal(x.events[0], 3);
    run_together(&x, 0, "");
    rig_close(&x);
    unlink("work.trace");
}

/* Whoever waits for a cell hears of it while it runs. */
static void a_long_cell_is_heard_of_on_its_way(void **state)
{
    struct rig x;

    (void)state;
    rig_open(&x, "synth:events=100000");
    run_together(&x, 1, "0 done 0");
    assert_true(x.times[0] > 1);
    assert_true(x.events[0] >= 100000);
    run_together(&x, 2, "0 done 0, 1 done 0");
    assert_true(x.times[0] > 1 && x.times[1] > 1);
    assert_int_equal(x.events[0], x.events[1]);
    rig_close(&x);
}

/* Together they have no room to say what is wrong: each does alone. */
static void a_broken_rule_is_told_by_each_cell_alone(void **state)
{
    struct rig x;

    (void)state;
    write_trace("T0 rel 0x2000\n");
    rig_open(&x, "work.trace");
    run_together(&x, 2, "0 alone 0, 1 alone 0");
    assert_false(stands_in(&x, "cells", 0) || stands_in(&x, "failed", 0));
    run_together(&x, 1, "0 failed 4");
    assert_true(stands_in(&x, "failed", 0));
    assert_false(stands_in(&x, "cells", 0));
    rig_close(&x);
    unlink("work.trace");
}

static void results_of_other_events_are_none(void **state)
{
    struct rig x;

    (void)state;
    write_trace("");
    rig_open(&x, "work.trace");
    x.plan.source[0].hash ^= 1; /* as if the file had been another when the sweep began */
    run_together(&x, 2, "0 failed 4, 1 failed 4");
    for (size_t i = 0; i < 2; i++) {
        assert_true(stands_in(&x, "failed", i));
        assert_false(stands_in(&x, "cells", i));
        log_is(&x, i,
               "the source has other events than when the sweep began; leave it as it is until the "
               "sweep has ended, and "
               "start it again\n");
    }
    x.plan.source[0].hash = 0; /* of which not all were known then */
    run_together(&x, 2, "0 done 0, 1 done 0");
    rig_close(&x);
    unlink("work.trace");
}

static void a_group_is_a_share_of_what_is_left(void **state)
{
    const struct {
        size_t jobs, left, most;
    } cases[] = {{1, 40, 16}, {1, 32, 16}, {1, 31, 16}, {1, 30, 15},
                 {4, 40, 5},  {4, 41, 6},  {4, 1, 1},   {4, 0, 0}};
    struct sweep_cell a = {.source = 3, .machine = true}, b = a;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct sweep s = {.jobs = cases[i].jobs};
        assert_int_equal(group_most(&s, cases[i].left), cases[i].most);
    }
    assert_true(same_reading(&a, &b));
    b.source = 4;
    assert_false(same_reading(&a, &b));
    b = a;
    b.machine = false;
    assert_false(same_reading(&a, &b));
    b = a;
    b.rules = true;
    assert_false(same_reading(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_that_end_well_are_done_at_once),
        cmocka_unit_test(a_long_cell_is_heard_of_on_its_way),
        cmocka_unit_test(a_broken_rule_is_told_by_each_cell_alone),
        cmocka_unit_test(results_of_other_events_are_none),
        cmocka_unit_test(a_group_is_a_share_of_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
