/* t_tasks.c - are cells put into tasks for other machines as they should be, written and found
 * again, and is what Slurm says of them taken as it means? Cells are made up; Slurm is what it
 * prints. tests/cli/engines.sh runs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "results/experiment/slurm.c" /* what it takes of Slurm has no header */

enum { CELLS = 12 };

struct rig {
    struct sweep_cell cell[CELLS];
    enum cell_state state[CELLS];
    int code[CELLS];
    struct predicted predicted[CELLS];
    bool alone[CELLS];
    size_t owner[CELLS];
    struct plan plan;
    struct sweep_folder folder;
    struct sweep sweep;
    struct err e;
    struct slurm r;
};

/* Cells of ten seconds each, all missing; tasks are to take 25. */
static struct rig *rig_new(void)
{
    struct rig *x = xcalloc(1, sizeof *x);

    x->plan = (struct plan){.cell = x->cell, .n = CELLS};
    map_init(&x->plan.index, NULL);
    for (size_t i = 0; i < CELLS; i++) {
        snprintf(x->cell[i].hash, sizeof x->cell[i].hash, "%016zx", i + 100);
        *map_put(&x->plan.index, i + 100) = i + 1;
        x->predicted[i].seconds = 10;
    }
    x->folder = (struct sweep_folder){.dir = xstrdup("tasks-folder"), .lock = -1};
    mkdir(x->folder.dir, 0777);
    x->sweep = (struct sweep){.plan = &x->plan,
                              .folder = &x->folder,
                              .state = x->state,
                              .code = x->code,
                              .predicted = x->predicted,
                              .jobs = 2,
                              .timeout = 600,
                              .elsewhere = {.seconds = 25}};
    x->r = (struct slurm){.sweep = &x->sweep,
                          .alone = x->alone,
                          .owner = x->owner,
                          .name = (char *)(uintptr_t) "lardsim-12",
                          .e = &x->e};
    return x;
}

static void rig_free(struct rig *x)
{
    for (size_t i = 0; i < x->r.n; i++) {
        tasks_free(&x->r.array[i].tasks);
        free(x->r.array[i].absent);
    }
    free(x->r.array);
    folder_remove(x->folder.dir);
    free(x->folder.dir);
    map_free(&x->plan.index);
    free(x);
}

static void tasks_are(const struct batch_of_tasks *b, const char *want)
{
    char is[2000] = "";

    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->task[i].n; k++)
            snprintf(is + strlen(is), sizeof is - strlen(is), "%s%zu",
                     k   ? " "
                     : i ? "; "
                         : "",
                     b->task[i].cell[k]);
    if (strcmp(is, want) != 0)
        fail_msg("the tasks are \"%s\", not \"%s\"", is, want);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static void a_task_takes_about_as_long_as_asked(void **state)
{
    struct rig *x = rig_new();
    struct batch_of_tasks b;

    (void)state;
    tasks_make(&b, &x->sweep, x->alone, SIZE_MAX);
    tasks_are(&b, "0 1; 2 3; 4 5; 6 7; 8 9; 10 11");
    tasks_free(&b);
    tasks_make(&b, &x->sweep, x->alone, 2);
    tasks_are(&b, "0 1; 2 3");
    tasks_free(&b);
    x->state[0] = CELL_DONE;
    x->state[2] = CELL_RUNNING;
    x->state[3] = CELL_FAILED;
    x->predicted[1].seconds = 100; /* more than asked for */
    x->predicted[5].seconds = 5;   /* just as long as asked for, with the next two */
    x->alone[8] = true;
    tasks_make(&b, &x->sweep, x->alone, SIZE_MAX);
    tasks_are(&b, "1; 4 5 6; 7; 8; 9 10; 11");
    tasks_free(&b);
    x->sweep.elsewhere.seconds = 0;
    tasks_make(&b, &x->sweep, x->alone, SIZE_MAX);
    tasks_are(&b, "1; 4; 5; 6; 7; 8; 9; 10; 11");
    tasks_free(&b);
    rig_free(x);
}

static void tasks_are_read_as_they_were_written(void **state)
{
    struct rig *x = rig_new();
    struct batch_of_tasks b, again;

    (void)state;
    assert_int_equal(tasks_last(&x->folder), 0);
    for (unsigned number = 1; number <= 2; number++) {
        tasks_make(&b, &x->sweep, x->alone, 3);
        assert_int_equal(tasks_write(&b, &x->folder, &x->plan, &x->e), 0);
        assert_int_equal(b.number, number);
        assert_int_equal(tasks_read(&again, number, &x->folder, &x->plan, &x->e), 0);
        assert_int_equal(again.number, number);
        tasks_are(&again, number == 1 ? "0 1; 2 3; 4 5" : "3 4; 5 6; 7 8");
        tasks_free(&b);
        tasks_free(&again);
        x->state[0] = x->state[1] = x->state[2] = CELL_DONE;
    }
    fclose(fopen("tasks-folder/tasks/17.sh", "w")); /* no batch */
    assert_int_equal(tasks_last(&x->folder), 2);
    map_free(&x->plan.index);
    map_init(&x->plan.index, NULL);
    *map_put(&x->plan.index, 102) = 3; /* of a plan that has one of them */
    assert_int_equal(tasks_read(&again, 1, &x->folder, &x->plan, &x->e), 0);
    assert_int_equal(again.n, 3);
    tasks_are(&again, "; 2");
    tasks_free(&again);
    assert_int_equal(tasks_read(&again, 3, &x->folder, &x->plan, &x->e), -1);
    rig_free(x);
}

static void a_command_is_one_word_each_for_a_shell(void **state)
{
    struct rig *x = rig_new();
    char *quoted = shell_quoted("it's `a` $b"), here[4096], program[4096] = "";

    (void)state;
    assert_string_equal(quoted, "'it'\\''s `a` $b'");
    free(quoted);
    assert_non_null(getcwd(here, sizeof here));
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    for (int more = 0; more < 2; more++) {
        x->sweep.max_memory = more ? 5000 : 0;
        x->sweep.elsewhere.accept_build = more;
        char *is = task_command(&x->sweep, 7, &x->e);
        char *want = xasprintf("'%s' sweep task -j 2 --timeout 600%s '%s/tasks-folder' 7", program,
                               more ? " --accept-build --max-memory 5000" : "", here);
        assert_string_equal(is, want);
        free(is);
        free(want);
    }
    folder_remove(x->folder.dir);
    assert_null(task_command(&x->sweep, 7, &x->e));
    assert_int_equal(x->e.code, LARD_OUTPUT);
    rig_free(x);
}

/* ---- what is shown -------------------------------------------------------------------------- */

static double at_250_seconds(void)
{
    return 250;
}

static void progress_says_how_long_the_rest_will_last(void **state)
{
    static const struct {
        uint64_t events;
        size_t had, others;
        const char *says;
    } cases[] = {
        {0, 2, 0, "4 of 12 cells (1 failed, 2 under way), 3 min 20 s, 7 min 47 s left\n"},
        {500000000, 2, 0,
         "4 of 12 cells (1 failed, 2 under way), 3 min 20 s, 7 min 47 s left, 2.5 M events a "
         "second\n"},
        {0, 5, 0, "4 of 12 cells (1 failed, 2 under way), 3 min 20 s, ? left\n"},
        {0, 2, 3, "1 of 9 cells (1 failed, 2 under way), 3 min 20 s, 7 min 47 s left\n"},
    };
    struct rig *x = rig_new();

    (void)state;
    for (size_t i = 0; i < 7; i++)
        x->state[i] = i < 4 ? CELL_DONE : i == 4 ? CELL_FAILED : CELL_RUNNING;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *text;
        size_t bytes;
        struct progress p = {
            .clock = at_250_seconds, .began = 50, .stride = 1, .to = xmemstream(&text, &bytes)};
        x->sweep.had = cases[i].had;
        x->sweep.others = cases[i].others;
        sweep_progress(&p, &x->sweep, cases[i].events);
        sweep_progress(&p, &x->sweep, cases[i].events); /* which is not due yet */
        fclose(p.to);
        const char *is = strstr(text, cases[i].says);
        if (!is || strlen(is) != strlen(cases[i].says))
            fail_msg("it says \"%s\", not \"%s\"", text, cases[i].says);
        free(text);
    }
    rig_free(x);
}

/* ---- Slurm ---------------------------------------------------------------------------------- */

/* Two arrays, of two tasks and of one. */
static struct rig *with_arrays(void)
{
    struct rig *x = rig_new();

    for (size_t a = 0; a < 2; a++) {
        struct batch_of_tasks b;
        tasks_make(&b, &x->sweep, x->alone, 2 - a);
        assert_int_equal(tasks_write(&b, &x->folder, &x->plan, &x->e), 0);
        own(&x->r, add_array(&x->r, b));
    }
    return x;
}

static void states_are(const struct rig *x, const char *want)
{
    static const char letter[] = {
        [CELL_MISSING] = 'm', [CELL_RUNNING] = 'r', [CELL_DONE] = 'd', [CELL_FAILED] = 'f'};
    char is[CELLS + 1] = "";

    for (size_t i = 0; i < CELLS; i++)
        is[i] = letter[x->state[i]];
    assert_string_equal(is, want);
}

/* Slurm is asked, and has none of them. */
static void not_heard_of(struct slurm *r)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->array[i].tasks.n; k++)
            r->array[i].absent[k]++;
}

static void jobs_are_found_by_their_names(void **state)
{
    struct rig *x = with_arrays();

    (void)state;
    states_are(x, "rrrrrrmmmmmm");
    assert_int_equal(x->owner[3], 0);
    assert_int_equal(x->owner[4], 1);
    for (int i = 0; i < 2; i++)
        not_heard_of(&x->r);
    static const char *const others[] = {"lardsim-12-1 2",
                                         "lardsim-12-3 0",
                                         "lardsim-1-1 0",
                                         "lardsim-12x-1 0",
                                         "lardsim-123-1 0",
                                         "lardsim-12-1",
                                         "",
                                         "lardsim-12-2 1"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        take_job(&x->r, others[i]);
    assert_int_equal(x->r.array[0].absent[0], 2);
    assert_int_equal(x->r.array[0].absent[1], 2);
    assert_int_equal(x->r.array[1].absent[0], 2);
    assert_false(x->r.array[0].submitted || x->r.array[1].submitted);
    take_job(&x->r, "lardsim-12-1 1");
    assert_int_equal(x->r.array[0].absent[0], 2);
    assert_int_equal(x->r.array[0].absent[1], 0);
    assert_true(x->r.array[0].submitted && !x->r.array[1].submitted);
    rig_free(x);
}

static void a_task_is_over_when_slurm_has_it_no_more(void **state)
{
    struct rig *x = with_arrays();

    (void)state;
    x->r.array[0].submitted = true; /* the other's submission was never heard of */
    x->state[1] = CELL_DONE;
    not_heard_of(&x->r);
    assert_int_equal(settle_all(&x->r), 0);
    states_are(x, "rdrrrrmmmmmm"); /* once is no proof */
    not_heard_of(&x->r);
    take_job(&x->r, "lardsim-12-1 1");
    assert_int_equal(settle_all(&x->r), 0);
    states_are(x, "mdrrmmmmmmmm");
    assert_true(x->alone[0]);
    assert_false(x->alone[1] || x->alone[2] || x->alone[4] || x->alone[5]);
    rig_free(x);
}

static void a_cell_that_was_alone_twice_has_failed(void **state)
{
    struct rig *x = rig_new();
    struct batch_of_tasks b;
    size_t bytes;

    (void)state;
    mkdir("tasks-folder/tmp", 0777);
    mkdir("tasks-folder/failed", 0777);
    x->alone[0] = true;
    tasks_make(&b, &x->sweep, x->alone, 1);
    assert_int_equal(tasks_write(&b, &x->folder, &x->plan, &x->e), 0);
    own(&x->r, add_array(&x->r, b));
    FILE *log = fopen("tasks-folder/tasks/1-0.log", "w");
    fputs("slurmstepd: out of memory\n", log);
    fclose(log);
    for (int i = 0; i < 2; i++)
        not_heard_of(&x->r);
    assert_int_equal(settle_all(&x->r), 0);
    states_are(x, "mmmmmmmmmmmm"); /* Slurm never had it */
    own(&x->r, &x->r.array[0]);
    x->alone[0] = x->r.array[0].submitted = true;
    assert_int_equal(settle_all(&x->r), 0);
    states_are(x, "fmmmmmmmmmmm");
    assert_int_equal(x->code[0], LARD_INTERNAL);
    char *text = file_text("tasks-folder/failed/0000000000000064/log", 1000, &bytes);
    assert_non_null(text);
    assert_string_equal(
        text,
        "its task in Slurm ended without results, twice: by a limit of time or memory, by scancel, "
        "or with its machine\nslurmstepd: out of memory\n");
    free(text);
    rig_free(x);
}

static void earlier_arrays_run_until_slurm_says_otherwise(void **state)
{
    struct rig *x = with_arrays();

    (void)state;
    for (size_t i = 0; i < x->r.n; i++) {
        tasks_free(&x->r.array[i].tasks);
        free(x->r.array[i].absent);
    }
    x->r.n = 0;
    memset(x->state, 0, sizeof x->state);
    unlink("tasks-folder/tasks/1");
    find_earlier(&x->r);
    assert_int_equal(x->r.n, 1);
    assert_int_equal(x->r.array[0].tasks.number, 2);
    states_are(x, "mmmmrrmmmmmm");
    rig_free(x);
}

static void slurm_is_asked_ever_less_often(void **state)
{
    const struct slurm r = {.began = 1000};

    (void)state;
    assert_true(ask_again_after(&r, 1000) == 2);
    assert_true(ask_again_after(&r, 1040) == 2);
    assert_true(ask_again_after(&r, 1100) == 5);
    assert_true(ask_again_after(&r, 1600) == 30);
    assert_true(ask_again_after(&r, 9000) == 30);
}

static void only_what_slurm_takes_is_handed_on(void **state)
{
    static const struct {
        struct elsewhere o;
        const char *says;
    } cases[] = {
        {{.partition = "batch,long_2.x-y",
          .account = "p-1_.z",
          .time = "2-12:00:09",
          .memory = "40G"},
         NULL},
        {{.partition = ""},
         "--partition: \"\" is nothing that Slurm takes there; write it as batch or batch,long"},
        {{.partition = "-p"},
         "--partition: \"-p\" is nothing that Slurm takes there; write it as batch or batch,long"},
        {{.account = "a,b"},
         "--account: \"a,b\" is nothing that Slurm takes there; write it as project7"},
        {{.time = "1h"},
         "--time: \"1h\" is nothing that Slurm takes there; write it as 90 (minutes), 1:30:00 or "
         "2-12:00"},
        {{.memory = "4g"}, "--memory: \"4g\" is nothing that Slurm takes there; write it as 4G"},
    };
    char lines[] = "one\ntwo\n\nthree\n";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = {0};
        const int failed = check_options(&cases[i].o, &e);
        if (failed != (cases[i].says ? -1 : 0) ||
            strcmp(e.text, cases[i].says ? cases[i].says : "") != 0)
            fail_msg("it ends with %d, and says \"%s\", not \"%s\"", failed, e.text, cases[i].says);
        assert_int_equal(e.code, cases[i].says ? LARD_USAGE : 0);
    }
    assert_string_equal(one_line(lines), "one two  three");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_takes_about_as_long_as_asked),
        cmocka_unit_test(tasks_are_read_as_they_were_written),
        cmocka_unit_test(a_command_is_one_word_each_for_a_shell),
        cmocka_unit_test(progress_says_how_long_the_rest_will_last),
        cmocka_unit_test(jobs_are_found_by_their_names),
        cmocka_unit_test(a_task_is_over_when_slurm_has_it_no_more),
        cmocka_unit_test(a_cell_that_was_alone_twice_has_failed),
        cmocka_unit_test(earlier_arrays_run_until_slurm_says_otherwise),
        cmocka_unit_test(slurm_is_asked_ever_less_often),
        cmocka_unit_test(only_what_slurm_takes_is_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
