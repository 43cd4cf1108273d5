/* t_local.c - does the engine that runs cells here put the right ones together, within the memory
 * that it may take, and are those of a process that ended badly run again, or said to have failed?
 * Cells and workers are made up; processes that hang or grow are real, and do nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/folder.h"
#include "results/experiment/local.c" /* its groups have no header */

enum { CELLS = 40, JOBS = 4 };

struct rig {
    struct sweep_cell cell[CELLS];
    enum cell_state state[CELLS];
    int code[CELLS];
    struct predicted predicted[CELLS];
    bool alone[CELLS];
    struct plan plan;
    struct sweep_folder folder;
    struct sweep sweep;
    struct sweep_worker worker[JOBS];
    struct err e;
    struct running r;
};

/* Ten cells of each of four sources, all missing, of 100 MiB. */
static struct rig *rig_new(void)
{
    struct rig *x = xcalloc(1, sizeof *x);

    for (size_t i = 0; i < CELLS; i++) {
        x->cell[i].source = i / 10;
        snprintf(x->cell[i].hash, sizeof x->cell[i].hash, "%016zx", i);
        x->predicted[i].own = 100 << 20;
    }
    x->plan = (struct plan){.cell = x->cell, .n = CELLS};
    x->folder = (struct sweep_folder){.dir = xstrdup("local-folder"), .lock = -1};
    x->sweep = (struct sweep){.plan = &x->plan,
                              .folder = &x->folder,
                              .state = x->state,
                              .code = x->code,
                              .predicted = x->predicted,
                              .jobs = JOBS};
    x->r = (struct running){
        .sweep = &x->sweep, .worker = x->worker, .alone = x->alone, .e = &x->e, .signals = -1};
    return x;
}

static void rig_free(struct rig *x)
{
    for (size_t i = 0; i < JOBS; i++)
        free(x->worker[i].group.cell);
    folder_remove(x->folder.dir);
    free(x->folder.dir);
    free(x);
}

/* The cells of a worker's group, as text. */
static void group_is(const struct sweep_worker *w, const char *want)
{
    char is[400] = "";

    for (size_t i = 0; i < w->group.n; i++)
        snprintf(is + strlen(is), sizeof is - strlen(is), "%s%zu", i ? " " : "", w->group.cell[i]);
    if (strcmp(is, want) != 0)
        fail_msg("the group is \"%s\", not \"%s\"", is, want);
}

/* ---- groups --------------------------------------------------------------------------------- */

static void a_group_is_of_one_source_and_a_share(void **state)
{
    struct rig *x = rig_new();
    struct sweep_worker *w = &x->worker[0];

    (void)state;
    /* 40 cells for 4 processes: two groups each */
    assert_true(next_group(&x->r, w));
    group_is(w, "0 1 2 3 4");
    x->state[0] = CELL_DONE;
    x->state[2] = CELL_RUNNING;
    x->state[4] = CELL_FAILED;
    assert_true(next_group(&x->r, w));
    group_is(w, "1 3 5 6 7");
    x->cell[3].machine = x->cell[5].rules = true;
    assert_true(next_group(&x->r, w));
    group_is(w, "1 6 7 8 9");
    x->r.first = 9;
    assert_true(next_group(&x->r, w));
    group_is(w, "9");
    x->sweep.jobs = 1;
    x->r.first = 10;
    assert_true(next_group(&x->r, w));
    group_is(w, "10 11 12 13 14 15 16 17 18 19");
    for (size_t i = 0; i < CELLS; i++)
        x->cell[i].source = 0;
    x->r.first = 20;
    assert_true(next_group(&x->r, w)); /* of at most 16 */
    group_is(w, "20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35");
    x->r.first = CELLS;
    assert_false(next_group(&x->r, w));
    rig_free(x);
}

static void a_cell_that_is_to_run_alone_does(void **state)
{
    struct rig *x = rig_new();
    struct sweep_worker *w = &x->worker[0];

    (void)state;
    x->alone[0] = x->alone[3] = true;
    assert_true(next_group(&x->r, w));
    group_is(w, "0");
    x->state[0] = CELL_DONE;
    assert_true(next_group(&x->r, w));
    group_is(w, "1 2 4 5 6");
    assert_false(runs_alone(&x->r));
    x->worker[2].pid = 1;
    group_add(&x->worker[2].group, 3);
    assert_true(runs_alone(&x->r));
    group_add(&x->worker[2].group, 4);
    assert_false(runs_alone(&x->r));
    x->worker[2].group.n = 1;
    x->alone[3] = false;
    assert_false(runs_alone(&x->r));
    x->worker[2].pid = 0;
    x->alone[3] = true;
    assert_false(runs_alone(&x->r));
    rig_free(x);
}

/* A process takes 8 MiB before it runs anything. */
static void groups_fit_into_the_memory_that_is_left(void **state)
{
    const uint64_t mib = 1 << 20;
    struct rig *x = rig_new();
    struct sweep_worker *w = &x->worker[0];

    (void)state;
    assert_true(memory_left(&x->r) == UINT64_MAX);
    x->sweep.max_memory = 320 * mib;
    assert_int_equal(memory_left(&x->r), 320 * mib);
    assert_true(next_group(&x->r, w));
    group_is(w, "0 1 2");
    assert_int_equal(w->memory, 308 * mib);
    /* another runs, which takes 108 of it */
    x->worker[1].pid = 1;
    x->worker[1].memory = 108 * mib;
    x->worker[2].memory = 200 * mib; /* and this one has ended */
    assert_int_equal(memory_left(&x->r), 212 * mib);
    assert_true(next_group(&x->r, w));
    group_is(w, "0 1");
    x->worker[1].memory = 212 * mib;
    assert_true(next_group(&x->r, w));
    group_is(w, "0");
    x->worker[1].memory = 213 * mib;
    assert_false(next_group(&x->r, w));
    x->worker[1].memory = 400 * mib;
    assert_int_equal(memory_left(&x->r), 0);
    x->worker[1].memory = 1;
    x->alone[0] = true; /* its process took too much before: not beside another */
    assert_true(next_group(&x->r, w));
    group_is(w, "1 2 3");
    /* more than there is in all runs when nothing else does, by itself */
    x->worker[1].pid = 0;
    x->predicted[0].own = 4000 * mib;
    x->alone[0] = false;
    assert_true(next_group(&x->r, w));
    group_is(w, "0");
    x->sweep.predicted = NULL;
    x->sweep.max_memory = 0;
    assert_true(next_group(&x->r, w));
    assert_int_equal(w->memory, 8 * mib);
    rig_free(x);
}

/* ---- what workers tell ---------------------------------------------------------------------- */

/* Tells it through the worker's pipe. */
static void tells(struct rig *x, struct sweep_worker *w, uint64_t what, uint64_t cell, uint64_t n)
{
    const struct worker_note note = {what, cell, n};
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    w->notes = ends[0];
    assert_int_equal(write(ends[1], &note, sizeof note), sizeof note);
    close(ends[1]);
    assert_true(read_note(&x->r, w));
    assert_false(read_note(&x->r, w)); /* it is the end */
    close(ends[0]);
}

static void the_sweep_is_as_workers_tell(void **state)
{
    struct rig *x = rig_new();
    struct sweep_worker *w = &x->worker[0];

    (void)state;
    tells(x, w, TOLD_EVENTS, 3, 700);
    tells(x, w, TOLD_EVENTS, 4, 70);
    assert_int_equal(x->r.events, 770);
    assert_int_equal(x->state[3], CELL_MISSING);
    assert_true(w->heard > 0);
    tells(x, w, TOLD_DONE, 3, 0);
    assert_int_equal(x->state[3], CELL_DONE);
    tells(x, w, TOLD_FAILED, 4, LARD_TRACE);
    assert_int_equal(x->state[4], CELL_FAILED);
    assert_int_equal(x->code[4], LARD_TRACE);
    x->state[5] = CELL_RUNNING;
    tells(x, w, TOLD_ALONE, 5, 0);
    assert_int_equal(x->state[5], CELL_RUNNING); /* which its end settles */
    assert_int_equal(x->e.code, 0);
    tells(x, w, TOLD_NO_ROOM, 5, LARD_OUTPUT);
    assert_int_equal(x->e.code, LARD_OUTPUT);
    assert_string_equal(
        x->e.text,
        "local-folder: results can't be written, so the sweep stops; make room, and the same "
        "command goes on");
    assert_int_equal(x->r.events, 770);
    rig_free(x);
}

/* Takes the next note from the pipe. */
static void told_is(int from, enum told what, uint64_t cell, uint64_t n)
{
    struct worker_note note;

    assert_int_equal(read(from, &note, sizeof note), sizeof note);
    assert_int_equal(note.what, what);
    assert_int_equal(note.cell, cell);
    assert_int_equal(note.n, n);
}

static void events_are_told_now_and_then_and_all_else_at_once(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    struct telling t = {.to = ends[1]};
    worker_tells(&t, TOLD_EVENTS, 1, 5);
    told_is(ends[0], TOLD_EVENTS, 1, 5);
    t.told = now_seconds() + 1000; /* a moment ago */
    worker_tells(&t, TOLD_EVENTS, 1, 7);
    worker_tells(&t, TOLD_EVENTS, 2, 8);
    assert_int_equal(t.events, 15);
    worker_tells(&t, TOLD_DONE, 2, 0);
    told_is(ends[0], TOLD_EVENTS, 2, 15);
    told_is(ends[0], TOLD_DONE, 2, 0);
    worker_tells(&t, TOLD_FAILED, 3, 4);
    told_is(ends[0], TOLD_FAILED, 3, 4);
    t.told = now_seconds() - 1;
    worker_tells(&t, TOLD_EVENTS, 4, 9);
    told_is(ends[0], TOLD_EVENTS, 4, 9);
    assert_int_equal(t.events, 0);
    char more;
    assert_int_equal(read(ends[0], &more, 1), -1);
    close(ends[0]);
    close(ends[1]);
}

/* ---- the end of a worker -------------------------------------------------------------------- */

static void a_log_says_how_a_process_ended(void **state)
{
    const struct {
        struct sweep_worker w;
        int status;
        const char *says;
    } cases[] = {
        {{.large = true, .hung = true},
         9,
         "the process took more memory than --max-memory, and was ended"},
        {{.hung = true}, 9, "the process made no progress for 30 seconds, and was ended"},
        {{.pid = 1}, 6, "the process was ended by signal 6 (Aborted)"},
        {{.pid = 1}, 3 << 8, "the process ended with exit code 3"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *is = how_it_ended(&cases[i].w, cases[i].status, 30);
        assert_string_equal(is, cases[i].says);
        free(is);
    }
}

static void what_a_process_has_left_runs_again_alone(void **state)
{
    struct rig *x = rig_new();
    struct sweep_worker *w = &x->worker[0];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        group_add(&w->group, i);
        x->state[i] = CELL_RUNNING;
    }
    x->state[1] = CELL_DONE;
    assert_int_equal(settle(&x->r, w, 9), 0);
    assert_int_equal(x->state[0], CELL_MISSING);
    assert_int_equal(x->state[1], CELL_DONE);
    assert_int_equal(x->state[2], CELL_MISSING);
    assert_true(x->alone[0] && !x->alone[1] && x->alone[2]);
    /* by itself in a process that was too large beside others */
    w->group.n = 0;
    group_add(&w->group, 5);
    x->state[5] = CELL_RUNNING;
    w->crowded = true;
    assert_int_equal(settle(&x->r, w, 9), 0);
    assert_int_equal(x->state[5], CELL_MISSING);
    assert_true(x->alone[5]);
    rig_free(x);
}

static void a_cell_that_was_alone_has_failed_with_a_log(void **state)
{
    struct rig *x = rig_new();
    struct sweep_worker *w = &x->worker[0];
    char *text;
    size_t bytes;

    (void)state;
    mkdir("local-folder", 0777);
    mkdir("local-folder/tmp", 0777);
    mkdir("local-folder/failed", 0777);
    FILE *log = fopen("local-folder/worker.log", "w");
    fputs("an assertion\n", log);
    fclose(log);
    w->log = (char *)(uintptr_t) "local-folder/worker.log";
    for (size_t i = 5; i < 7; i++) { /* the second was crowded, and had been told to run alone */
        w->group.n = 0;
        group_add(&w->group, i);
        x->state[i] = CELL_RUNNING;
        w->crowded = x->alone[i] = i == 6;
        assert_int_equal(settle(&x->r, w, 6), 0);
        assert_int_equal(x->state[i], CELL_FAILED);
        assert_int_equal(x->code[i], LARD_INTERNAL);
        char *path = xasprintf("local-folder/failed/%016zx/log", i);
        text = file_text(path, 1000, &bytes);
        assert_non_null(text);
        assert_string_equal(text, "the process was ended by signal 6 (Aborted)\nan assertion\n");
        free(text);
        free(path);
    }
    rig_free(x);
}

/* A process that has so many MiB, and waits. */
static pid_t idler(size_t mib)
{
    int ends[2];
    char is;

    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const char *more = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (write(ends[1], "x", 1) == 1)
            pause();
        _exit(more != MAP_FAILED);
    }
    assert_int_equal(read(ends[0], &is, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static bool was_killed(pid_t pid)
{
    int status = 0;

    for (int i = 0; i < 2000; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

static void whoever_says_nothing_for_too_long_is_ended(void **state)
{
    struct rig *x = rig_new();

    (void)state;
    for (size_t i = 0; i < 2; i++)
        x->worker[i] =
            (struct sweep_worker){.pid = idler(1), .heard = now_seconds() - (i ? 61 : 30)};
    end_hung(&x->r); /* without a limit */
    assert_false(x->worker[0].hung || x->worker[1].hung);
    x->sweep.timeout = 60;
    end_hung(&x->r);
    assert_false(x->worker[0].hung);
    assert_true(x->worker[1].hung);
    assert_true(was_killed(x->worker[1].pid));
    assert_int_equal(kill(x->worker[0].pid, 0), 0);
    kill(x->worker[0].pid, SIGKILL);
    assert_true(was_killed(x->worker[0].pid));
    rig_free(x);
}

static void the_largest_is_ended_where_all_take_too_much(void **state)
{
    struct rig *x = rig_new();
    const size_t mib[] = {10, 60, 20};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(mib); i++)
        x->worker[i] = (struct sweep_worker){.pid = idler(mib[i])};
    end_large(&x->r); /* without a limit */
    x->sweep.max_memory = 200 << 20;
    end_large(&x->r);
    for (size_t i = 0; i < ARRAY_SIZE(mib); i++)
        assert_false(x->worker[i].large);
    x->sweep.max_memory = 80 << 20;
    end_large(&x->r);
    assert_true(x->worker[1].large && x->worker[1].crowded);
    assert_false(x->worker[0].large || x->worker[2].large);
    assert_true(was_killed(x->worker[1].pid));
    for (size_t i = 0; i < ARRAY_SIZE(mib); i += 2) {
        kill(x->worker[i].pid, SIGKILL);
        assert_true(was_killed(x->worker[i].pid));
    }
    rig_free(x);
}

/* ---- how many at a time --------------------------------------------------------------------- */

static void no_more_processes_than_cells_and_open_files(void **state)
{
    struct rig *x = rig_new();
    struct rlimit had, few;

    (void)state;
    x->sweep.jobs = 60;
    fit_jobs(&x->sweep);
    assert_int_equal(x->sweep.jobs, CELLS);
    for (size_t i = 3; i < CELLS; i++)
        x->state[i] = CELL_DONE;
    fit_jobs(&x->sweep);
    assert_int_equal(x->sweep.jobs, 3);
    x->state[0] = x->state[1] = x->state[2] = CELL_DONE;
    fit_jobs(&x->sweep);
    assert_int_equal(x->sweep.jobs, 1);

    /* 20 processes need 52 files: the soft limit is raised to that, and no further */
    memset(x->state, 0, sizeof x->state);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
    few = (struct rlimit){.rlim_cur = 30, .rlim_max = had.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    x->sweep.jobs = 20;
    fit_jobs(&x->sweep);
    assert_int_equal(x->sweep.jobs, 20);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(few.rlim_cur, 52);
    /* what is enough stays as it is */
    x->sweep.jobs = 10;
    fit_jobs(&x->sweep);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(few.rlim_cur, 52);
    /* and where it may not be raised, fewer run */
    fflush(stderr);
    const int err = dup(STDERR_FILENO), to = open("local-notes", O_CREAT | O_TRUNC | O_RDWR, 0666);
    dup2(to, STDERR_FILENO);
    few = (struct rlimit){.rlim_cur = 40, .rlim_max = 42};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    x->sweep.jobs = 20;
    fit_jobs(&x->sweep);
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    close(err);
    close(to);
    assert_int_equal(x->sweep.jobs, 10);
    size_t bytes;
    char *says = file_text("local-notes", 1000, &bytes);
    assert_string_equal(says, "lardsim: sweep: no more than 42 files may be open (ulimit -n), so "
                              "10 of 20 processes run at "
                              "a time\n");
    free(says);
    unlink("local-notes");
    rig_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_of_one_source_and_a_share),
        cmocka_unit_test(a_cell_that_is_to_run_alone_does),
        cmocka_unit_test(groups_fit_into_the_memory_that_is_left),
        cmocka_unit_test(the_sweep_is_as_workers_tell),
        cmocka_unit_test(events_are_told_now_and_then_and_all_else_at_once),
        cmocka_unit_test(a_log_says_how_a_process_ended),
        cmocka_unit_test(what_a_process_has_left_runs_again_alone),
        cmocka_unit_test(a_cell_that_was_alone_has_failed_with_a_log),
        cmocka_unit_test(whoever_says_nothing_for_too_long_is_ended),
        cmocka_unit_test(the_largest_is_ended_where_all_take_too_much),
        cmocka_unit_test(no_more_processes_than_cells_and_open_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
