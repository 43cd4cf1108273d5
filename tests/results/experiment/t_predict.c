/* t_predict.c - is what a sweep predicts of its cells what predict.c and dry_run.c say that it is?
 * Moments of a cell and costs along axes are made up here, so that the whole is known; samples of
 * real cells are asked only which cells they are of. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "results/experiment/predict.c" /* what it computes has no header; so has dry_run.c */
#include "results/experiment/dry_run.c"

static void is_near(const char *what, double is, double want)
{
    if (!(fabs(is - want) <= 1e-6 * fabs(want)))
        fail_msg("%s: %.9f, not %.9f", what, is, want);
}

/* ---- from a moment to the whole ------------------------------------------------------------- */

/* A cell takes a second to start, and then 4 for all of its source. */
static void the_rest_takes_as_long_as_the_second_half(void **state)
{
    (void)state;
    is_near("half of it ran", whole_of(3, 2, 0.5, 0.25), 5);
    is_near("a tenth of it ran", whole_of(1.4, 1.2, 0.1, 0.05), 5);
    is_near("all of it ran", whole_of(5, 3, 1, 0.5), 5);
    is_near("nobody looked half way", whole_of(3, 3, 0.5, 0.5), 6);
    is_near("nobody knows how much ran", whole_of(3, 2, 0, 0), 3);
    is_near("the second half took no time", whole_of(3, 3, 0.5, 0.25), 3);
}

/* MiB at the start, half way and at the end of what ran, which is `part`. */
static struct sample grown(uint64_t start, uint64_t mid, uint64_t end, double part)
{
    return (struct sample){.start = start << 20,
                           .base = 10 << 20,
                           .mid = {1, part / 2, mid << 20},
                           .end = {2, part, end << 20},
                           .ok = true};
}

static void memory_grows_by_the_same_part_in_each_stretch(void **state)
{
    const struct {
        const char *what;
        struct sample s;
        double most;
    } cases[] = {
        {"40, then 20: then 10 and 5", grown(100, 140, 160, 0.5), 175},
        {"40, then 20, a quarter of it: then 10, 5, 2.5 and so on, six times",
         grown(100, 140, 160, 0.25), 160 + 10 + 5 + 2.5 + 1.25 + 0.625 + 0.3125},
        {"40, then 40: it goes on", grown(100, 140, 180, 0.5), 260},
        {"20, then 40: never faster than it did", grown(100, 120, 160, 0.5), 240},
        {"40, then nothing", grown(100, 140, 140, 0.5), 140},
        {"all of it ran", grown(100, 140, 160, 1), 160},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_near(cases[i].what, memory_of_all(&cases[i].s) / (1 << 20), cases[i].most);
}

static void a_cell_is_predicted_of_its_sample(void **state)
{
    struct sample s = grown(100, 140, 160, 0.5);

    (void)state;
    s.files = 7000;
    s.lines = 500;
    const struct predicted p = predicted_of(&s);
    assert_true(p.known);
    is_near("seconds", p.seconds, 4);
    is_near("memory", (double)p.memory, 175 << 20);
    is_near("what it adds to a process that is there", (double)p.own, 165 << 20);
    is_near("files as long as they are, and twice the lines", (double)p.disk, 8000);
    s.base = UINT64_C(1) << 30;
    assert_int_equal(predicted_of(&s).own, 0);
    s.ok = false;
    assert_false(predicted_of(&s).known);
    s.ok = true;
    s.end.part = 0;
    assert_false(predicted_of(&s).known);
}

static void half_way_is_the_last_look_before_half(void **state)
{
    struct sample to = {.base = 77};
    struct sampling s = {.to = &to, .looks = 5};

    (void)state;
    for (size_t i = 0; i < s.looks; i++)
        s.at[i] = (struct sample_at){(double)i, 0.125 * (double)i, i};
    assert_int_equal(half_way(&s, 0.5).memory, 2);
    assert_int_equal(half_way(&s, 0.4).memory, 1);
    assert_int_equal(half_way(&s, 1).memory, 4);
    s.looks = 0;
    assert_int_equal(half_way(&s, 0.5).memory, 77);
}

/* ---- what is asked of the host --------------------------------------------------------------- */

static void memory_and_files_are_what_the_host_says(void **state)
{
    enum { MORE = 32 << 20, NEAR = 6 << 20 }; /* the kernel counts in batches */
    const uint64_t own = process_memory((long)getpid()), all = resident_memory();
    char *more = malloc(MORE), dir[] = "predict-XXXXXX";
    static const struct {
        const char *name;
        int bytes;
    } files[] = {
        {"races.jsonl", 9000}, {"intervals.csv", 20000}, {"stats.csv", 70000}, {".hidden", 300000}};
    struct sample s = {.ok = false};
    uint64_t blocks[ARRAY_SIZE(files)];

    (void)state;
    assert_non_null(more);
    memset(more, 1, MORE);
    assert_in_range(process_memory((long)getpid()), own + MORE - NEAR, own + MORE + NEAR);
    assert_in_range(resident_memory(), all + MORE - NEAR, all + MORE + NEAR);
    assert_true(own && own <= all);
    free(more);
    assert_int_equal(process_memory(0), 0);

    assert_non_null(mkdtemp(dir));
    const int at = open(dir, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        const int f = openat(at, files[i].name, O_CREAT | O_WRONLY, 0666);
        struct stat st;
        dprintf(f, "%*s", files[i].bytes, "x");
        fsync(f); /* it has no blocks before */
        assert_int_equal(fstat(f, &st), 0);
        blocks[i] = (uint64_t)st.st_blocks * 512;
        close(f);
    }
    close(at);
    measure_files(&s, dir);
    assert_int_equal(s.lines, blocks[0] + blocks[1]);
    assert_int_equal(s.files, blocks[2]);
    folder_remove(dir);
}

static void events_of_a_source_that_does_not_say_are_counted(void **state)
{
    FILE *f = fopen("predict.trace", "w");

    (void)state;
    fputs("lardsim-text 2\nT0 fork T1\nT0 write 0x1000 1\nT1 read 0x1000 1\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(count_events("predict.trace"), 3);
    assert_int_equal(count_events("nosuch.trace"), 0);
    unlink("predict.trace");
}

/* ---- along the axes -------------------------------------------------------------------------- */

struct planned {
    struct spec spec;
    struct plan plan;
    struct memo memo;
    struct predicting x;
};

static void planned_open(struct planned *p, const char *text)
{
    struct progress progress;
    struct err e = {0};

    memo_load(&p->memo, "nosuch");
    progress_begin(&progress, true, 0);
    if (spec_read(&p->spec, "s.yaml", text, strlen(text), &e) ||
        plan_make(&p->plan, &p->spec, "build", &p->memo, &progress, &e))
        fail_msg("%s", e.text);
    p->x = (struct predicting){.plan = &p->plan,
                               .to = xcalloc(p->plan.n, sizeof *p->x.to),
                               .kind = xcalloc(p->plan.n, sizeof *p->x.kind),
                               .first = xcalloc(p->plan.n, sizeof *p->x.first),
                               .begin = xcalloc(p->spec.axes + 1, sizeof *p->x.begin),
                               .run = xcalloc(p->plan.n, sizeof *p->x.run),
                               .dir = xstrdup("predict-cell")};
    find_kinds(&p->x);
    find_probes(&p->x);
}

static void planned_close(struct planned *p)
{
    free(p->x.to);
    free(p->x.kind);
    free(p->x.first);
    free(p->x.begin);
    free(p->x.probe);
    free(p->x.run);
    free(p->x.dir);
    plan_free(&p->plan);
    spec_free(&p->spec);
    memo_free(&p->memo);
}

/* The step of a cell on an axis, by its name. */
static size_t step_at(const struct planned *p, size_t cell, size_t axis)
{
    for (size_t i = 0; i < p->spec.axis[axis].n; i++)
        if (p->plan.cell[cell].value[axis] &&
            !strcmp(p->plan.cell[cell].value[axis], p->spec.axis[axis].step[i].name))
            return i;
    return 0;
}

static const char two_axes[] = "base: {inherit: radish8}\n"
                               "axes: {l2.size: [64Ki, 128Ki, 256Ki], cores: [1, 2, 4, 8, 16]}\n"
                               "policies: [none, fasttrack]\n"
                               "sources: [\"synth:events=300,threads=2\"]\n";

/* So many times the first cell of its policy. Each axis of it goes evenly from one end to the
 * other. */
static double factor(const struct planned *p, size_t cell, double of_first_axis, double of_second)
{
    return pow(of_first_axis, (double)step_at(p, cell, 0)) *
           pow(of_second, (double)step_at(p, cell, 1));
}

static struct predicted made_up(const struct planned *p, size_t cell)
{
    const bool none = !strcmp(p->plan.cell[cell].policy, "none");

    return (struct predicted){.known = true,
                              .seconds = (none ? 2 : 7) * factor(p, cell, 1.5, 2),
                              .memory = (uint64_t)(1e9 * factor(p, cell, 1, 4)),
                              .own = (uint64_t)(1e6 * factor(p, cell, 3, 1)),
                              .disk = (uint64_t)(1e5 * (none ? 1 : 3))};
}

static void cells_that_were_not_run_lie_evenly_between_those_that_were(void **state)
{
    struct planned p;

    (void)state;
    planned_open(&p, two_axes);
    assert_int_equal(p.plan.n, 30);
    assert_int_equal(p.x.kinds, 2);
    size_t run = 0;
    for (size_t i = 0; i < p.plan.n; i++) { /* the corner and the ends of its two edges */
        const size_t a = step_at(&p, i, 0), b = step_at(&p, i, 1);
        p.x.run[i] = (a == 0 || a == 2) && (b == 0 || b == 4) && (!a || !b);
        run += p.x.run[i];
        if (p.x.run[i])
            p.x.to[i] = made_up(&p, i);
    }
    assert_int_equal(run, 6);
    predict_rest(&p.x);
    for (size_t i = 0; i < p.plan.n; i++) {
        const struct predicted want = made_up(&p, i), *is = &p.x.to[i];
        assert_true(is->known);
        is_near("seconds", is->seconds, want.seconds);
        is_near("memory", (double)is->memory, (double)want.memory);
        is_near("own memory", (double)is->own, (double)want.own);
        is_near("disk", (double)is->disk, (double)want.disk);
    }
    planned_close(&p);
}

/* There is no factor where one end is nothing, or is not known. */
static void what_is_not_known_has_no_factor(void **state)
{
    struct planned p;

    (void)state;
    planned_open(&p, two_axes);
    for (size_t i = 0; i < p.plan.n; i++) {
        const size_t a = step_at(&p, i, 0), b = step_at(&p, i, 1);
        p.x.run[i] = (!a || !b) && (a == 2 || b == 4 || a + b == 0);
        p.x.to[i] = (struct predicted){.known = !strcmp(p.plan.cell[i].policy, "none") && b != 4,
                                       .seconds = a ? 0 : 3,
                                       .memory = 1000,
                                       .own = 0,
                                       .disk = 7};
    }
    predict_rest(&p.x);
    for (size_t i = 0; i < p.plan.n; i++) {
        if (p.x.run[i])
            continue;
        const bool known = !strcmp(p.plan.cell[i].policy, "none");
        assert_int_equal(p.x.to[i].known, known);
        if (!known)
            continue;
        assert_int_equal(p.x.to[i].memory, 1000);
        assert_int_equal(p.x.to[i].own, 0);
        assert_int_equal(p.x.to[i].disk, 7);
        is_near("seconds where an end is 0", p.x.to[i].seconds, 3);
    }
    planned_close(&p);
}

/* Cells took 3 seconds with a core, 6 with 4, and none ran with 16: one with 8 is taken to last 6.
 */
static void between_a_value_and_nothing_the_value_stands(void **state)
{
    static const double seconds[] = {3, 0, 6, 0, 0};
    struct planned p;

    (void)state;
    planned_open(&p, two_axes);
    for (size_t i = 0; i < p.plan.n; i++) {
        const size_t b = step_at(&p, i, 1);
        p.x.run[i] = !step_at(&p, i, 0) && b % 2 == 0;
        p.x.to[i] = (struct predicted){.known = true, .seconds = seconds[b]};
    }
    predict_rest(&p.x);
    for (size_t i = 0; i < p.plan.n; i++)
        if (!step_at(&p, i, 0) && step_at(&p, i, 1) % 2)
            is_near("seconds", p.x.to[i].seconds, step_at(&p, i, 1) == 1 ? sqrt(3 * 6) : 6);
    planned_close(&p);
}

/* The corner of each policy, the ends and the middles of its edges are run; inside, nothing. */
static void samples_are_of_corners_ends_and_middles(void **state)
{
    struct planned p;

    (void)state;
    planned_open(&p, two_axes);
    run_samples(&p.x);
    is_near("of 6 seconds, for 2 policies with an end and a middle of 2 axes", p.x.seconds,
            6.0 / 10);
    for (size_t i = 0; i < p.plan.n; i++) {
        const size_t a = step_at(&p, i, 0), b = step_at(&p, i, 1);
        const bool must = (!b && (a == 0 || a == 1 || a == 2)) || (!a && (b == 2 || b == 4));
        if ((must && !p.x.run[i]) || (a && b && p.x.run[i]))
            fail_msg("the cell of size %zu and cores %zu is %srun", a, b, must ? "not " : "");
        if (p.x.run[i] && !(p.x.to[i].known && p.x.to[i].seconds > 0 && p.x.to[i].disk > 0 &&
                            p.x.to[i].memory >= p.x.to[i].own && p.x.to[i].own > 0))
            fail_msg("the cell of size %zu and cores %zu is not known", a, b);
    }
    assert_int_equal(p.plan.source[0].events, count_events(p.plan.source[0].text));
    assert_true(affordable(100));
    assert_false(affordable(101));
    planned_close(&p);
}

/* ---- memory of a process --------------------------------------------------------------------- */

/* Three cells: what a process takes that runs them side by side, of `events`. */
static uint64_t together(struct planned *p, bool machine, bool asked, uint64_t events, size_t n)
{
    static const size_t cells[] = {0, 1, 2};
    const struct predicted x[] = {{.memory = 1000 << 20, .own = 800 << 20},
                                  {.memory = 500 << 20, .own = 200 << 20},
                                  {.memory = 910 << 20, .own = 900 << 20}};
    const struct sweep s = {.plan = &p->plan};

    for (size_t i = 0; i < 3; i++)
        p->plan.cell[i].machine = machine;
    p->plan.source[0].events = events;
    p->plan.source[0].asked = asked;
    return group_memory(&s, x, cells, n);
}

static void a_process_takes_what_its_cells_do(void **state)
{
    const uint64_t mib = 1 << 20, kept = (uint64_t)KEPT_RECORDS * RECORD_BYTES;
    struct planned p;

    (void)state;
    planned_open(&p, two_axes);
    /* Beside what they add, 200, 300 and 10 MiB are the process's. */
    assert_int_equal(together(&p, false, false, 1000, 3), (300 + 800 + 200 + 900) * mib);
    assert_int_equal(together(&p, false, false, 1000, 1), 1000 * mib);
    assert_int_equal(together(&p, true, false, 1000, 1), 1000 * mib);
    assert_int_equal(together(&p, true, false, 1000, 3),
                     (300 + 900) * mib + (uint64_t)1000 * RECORD_BYTES);
    assert_int_equal(together(&p, true, false, KEPT_RECORDS, 3), (300 + 900) * mib + kept);
    assert_int_equal(together(&p, true, false, KEPT_RECORDS + 1, 3), (300 + 1900) * mib + kept);
    assert_int_equal(together(&p, true, true, KEPT_RECORDS + 1, 3), (300 + 900) * mib);
    planned_close(&p);
}

/* 20 of 30 cells are missing, and go to processes of at most 16 or a share; none has cells of both
 * sources. */
static void totals_are_of_what_is_missing(void **state)
{
    struct planned p;
    enum cell_state is[30];

    (void)state;
    planned_open(&p, two_axes);
    for (size_t i = 0; i < 30; i++) {
        is[i] = i % 3 ? i % 3 == 1 ? CELL_MISSING : CELL_DAMAGED : CELL_DONE;
        p.x.to[i] = (struct predicted){
            .known = i != 4, .seconds = 2, .memory = i << 20, .own = i << 19, .disk = 10};
    }
    p.plan.cell[3].asked = false;
    const struct sweep one = {.plan = &p.plan, .state = is, .jobs = 1},
                       many = {.plan = &p.plan, .state = is, .jobs = 3};
    const struct total t = total_of(&one, p.x.to), u = total_of(&many, p.x.to);
    assert_int_equal(t.missing, 20);
    assert_int_equal(t.unknown, 1);
    assert_int_equal(t.bases, 1);
    is_near("seconds", t.all.seconds, 19 * 2);
    assert_int_equal(t.all.disk, 190);
    assert_int_equal(t.all.memory, 29 << 20);
    assert_int_equal(t.processes, t.process);
    assert_int_equal(u.processes, 3 * u.process);
    planned_close(&p);
}

/* ---- what --dry-run shows -------------------------------------------------------------------- */

/* Sends all that is printed meanwhile to this file; returns what shall be put back. */
static int printed_to(const char *file)
{
    fflush(stdout);
    const int was = dup(STDOUT_FILENO), to = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0666);

    dup2(to, STDOUT_FILENO);
    close(to);
    return was;
}

static char *printed_end(const char *file, int was)
{
    size_t bytes;

    fflush(stdout);
    dup2(was, STDOUT_FILENO);
    close(was);
    char *text = file_text(file, 100000, &bytes);
    unlink(file);
    return text;
}

#define UNCOUNTED                                                                                  \
    " bytes of all\nof 1 cells it is not known how long their source is; they are not counted\n"

static void a_page_has_a_line_for_each_cell_and_totals(void **state)
{
    static const char *const lines[] = {
        "cell              state     seconds     memory       disk  policy       source\n",
        "  missing      1.25      1.5Gi        999  none         synth:events=300  cores=1\n",
        "  done         2.00       12Mi      1.0Ki  vc           synth:events=300  cores=1\n",
        "  damaged     30.00      977Mi      9.8Ki  none         synth:events=300  cores=2\n",
        "  missing         -          -          -  vc           synth:events=300  cores=2\n",
        "\n1 of the cells with the policy none are baselines that the spec leaves out: overheads "
        "need them, and the tables "
        "do not show them\n",
        "\n4 cells, 3 missing: about 31 s of one processor, up to 1.5Gi bytes of memory a cell "
        "alone; 11Ki bytes of disk\n"
        "with -j 2: up to ",
        " bytes of memory a process, of up to 16 cells; ",
        UNCOUNTED};
    enum cell_state is[] = {CELL_MISSING, CELL_DONE, CELL_DAMAGED, CELL_MISSING};
    const struct predicted x[] = {
        {.known = true, .seconds = 1.25, .memory = UINT64_C(3) << 29, .own = 1, .disk = 999},
        {.known = true, .seconds = 2, .memory = 12 << 20, .own = 1, .disk = 1000},
        {.known = true, .seconds = 30, .memory = 977 << 20, .own = 1, .disk = 10035},
        {.known = false}};
    struct planned p;

    (void)state;
    planned_open(&p, "base: {inherit: radish8}\naxes: {cores: [1, 2]}\npolicies: [none, vc]\n"
                     "sources: [\"synth:events=300\"]\n");
    assert_int_equal(p.plan.n, 4);
    p.plan.cell[0].asked = false;
    const struct sweep s = {.plan = &p.plan, .state = is, .jobs = 2};
    const int was = printed_to("predict.page");
    predicted_print(&s, x);
    char *text = printed_end("predict.page", was);
    const char *at = text;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        if (i >= 1 && i <= 4) {
            assert_memory_equal(at, p.plan.cell[i - 1].hash, 16);
            at += 16;
        } else if (i >= 7) { /* what processes take is asked above */
            at = strstr(at, " bytes");
            assert_non_null(at);
        }
        if (strncmp(at, lines[i], strlen(lines[i])) != 0)
            fail_msg("the page says \"%s\", not \"%s\"", at, lines[i]);
        at += strlen(lines[i]);
    }
    assert_string_equal(at, "");
    free(text);
    planned_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_takes_as_long_as_the_second_half),
        cmocka_unit_test(memory_grows_by_the_same_part_in_each_stretch),
        cmocka_unit_test(a_cell_is_predicted_of_its_sample),
        cmocka_unit_test(half_way_is_the_last_look_before_half),
        cmocka_unit_test(memory_and_files_are_what_the_host_says),
        cmocka_unit_test(events_of_a_source_that_does_not_say_are_counted),
        cmocka_unit_test(cells_that_were_not_run_lie_evenly_between_those_that_were),
        cmocka_unit_test(what_is_not_known_has_no_factor),
        cmocka_unit_test(between_a_value_and_nothing_the_value_stands),
        cmocka_unit_test(samples_are_of_corners_ends_and_middles),
        cmocka_unit_test(a_process_takes_what_its_cells_do),
        cmocka_unit_test(totals_are_of_what_is_missing),
        cmocka_unit_test(a_page_has_a_line_for_each_cell_and_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
