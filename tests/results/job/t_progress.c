/* t_progress.c - what is shown of a long command's progress, and when? The clock is the test's, so
 * that nothing depends on the host's speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/job/progress.h"
#include "sim/sim.h"

/* ---- a clock, and what is printed ----------------------------------------------------------- */

static double now;
static unsigned looks;

static double test_clock(void)
{
    looks++;
    return now;
}

struct shown {
    struct progress p;
    char *text; /* owns */
    size_t n;
};

static void begin(struct shown *s, bool quiet, bool terminal, size_t parts)
{
    progress_begin(&s->p, quiet, parts);
    now = 1000;
    looks = 0;
    s->p.clock = test_clock;
    s->p.began = s->p.looked = s->p.told = now;
    s->p.terminal = terminal;
    s->p.to = open_memstream(&s->text, &s->n);
}

/* How many lines were printed since the last call; the last stands in line. */
static unsigned lines(struct shown *s, char line[200])
{
    unsigned n = 0;

    fclose(s->p.to);
    *line = '\0';
    for (const char *at = s->text; (at = strstr(at, s->p.terminal ? "\r" : "lardsim: ")); at++) {
        snprintf(line, 200, "%s", at);
        n++;
    }
    free(s->text);
    s->p.to = open_memstream(&s->text, &s->n);
    return n;
}

static void over(struct shown *s)
{
    fclose(s->p.to);
    free(s->text);
}

static void says(const char *line, const char *text)
{
    if (!strstr(line, text))
        fail_msg("\"%s\" does not say \"%s\"", line, text);
}

/* ---- a source of as many events as are asked for -------------------------------------------- */

struct fake {
    struct source base;
    struct source_extent extent;
    struct event ev;
    uint64_t given;
    double seconds; /* that a batch takes */
};

static int fake_next(struct source *s, struct batch *b, struct err *e)
{
    struct fake *f = (struct fake *)s;

    (void)e;
    now += f->seconds;
    *b = (struct batch){.rec = &f->ev, .records = 1, .first = f->given};
    f->given += 1000;
    f->extent.done = f->given;
    return 0;
}

static void fake_close(struct source *s)
{
    (void)s;
}

static struct fake fake(uint64_t all, double seconds)
{
    return (struct fake){
        .base = {.next = fake_next, .close = fake_close}, .extent = {0, all}, .seconds = seconds};
}

static void read_batches(struct source *s, unsigned n)
{
    struct err e = {0};
    struct batch b;

    while (n-- > 0)
        source_next(s, &b, &e);
}

/* ---- when ----------------------------------------------------------------------------------- */

static void a_log_has_a_line_each_30_seconds(void **state)
{
    struct shown s;
    struct fake f = fake(1000000, 1);
    char line[200];

    (void)state;
    begin(&s, false, false, 1);
    f.base.extent = &f.extent;
    struct source *told = sim_source(progress_source(&s.p, sim_adopt(&f.base)));
    read_batches(told, 29);
    assert_int_equal(lines(&s, line), 0);
    read_batches(told, 1);
    assert_int_equal(lines(&s, line), 1);
    assert_non_null(strchr(line, '\n'));
    assert_null(strchr(line, '\r'));
    read_batches(told, 29);
    assert_int_equal(lines(&s, line), 0);
    read_batches(told, 31);
    assert_int_equal(lines(&s, line), 2);
    source_close(told);
    over(&s);
}

static void a_terminal_is_written_after_a_second_then_twice_a_second(void **state)
{
    struct shown s;
    struct fake f = fake(1000000, 0.25);
    char line[200];

    (void)state;
    begin(&s, false, true, 1);
    f.base.extent = &f.extent;
    struct source *told = sim_source(progress_source(&s.p, sim_adopt(&f.base)));
    read_batches(told, 3);
    assert_int_equal(lines(&s, line), 0);
    read_batches(told, 1);
    assert_int_equal(lines(&s, line), 1);
    says(line, "\033[K");
    assert_null(strchr(line, '\n'));
    read_batches(told, 8);
    assert_int_equal(lines(&s, line), 4);
    progress_clear(&s.p);
    assert_int_equal(lines(&s, line), 1);
    assert_string_equal(line, "\r\033[K");
    progress_clear(&s.p);
    assert_int_equal(lines(&s, line), 0);
    source_close(told);
    over(&s);
}

static void quiet_it_looks_at_no_clock(void **state)
{
    struct shown s;
    struct fake f = fake(1000000, 10);
    char line[200];

    (void)state;
    begin(&s, true, true, 1);
    struct source *told = sim_source(progress_source(&s.p, sim_adopt(&f.base)));
    read_batches(told, 1000);
    assert_int_equal(lines(&s, line), 0);
    assert_int_equal(looks, 0);
    source_close(told);
    over(&s);
}

/* A batch each microsecond for a second, then one each second: the clock is read some hundred
 * times, and soon again at every batch. */
static void the_clock_is_read_each_few_milliseconds_at_most(void **state)
{
    struct shown s;
    struct fake f = fake(0, 1e-6);
    char line[200];

    (void)state;
    begin(&s, false, false, 1);
    struct source *told = sim_source(progress_source(&s.p, sim_adopt(&f.base)));
    read_batches(told, 1000000);
    assert_in_range(looks, 300, 5000);
    f.seconds = 1;
    looks = 0;
    read_batches(told, 256 + 100);
    assert_in_range(looks, 100, 256 + 100);
    assert_true(lines(&s, line) >= 3);
    source_close(told);
    over(&s);
}

/* ---- what ----------------------------------------------------------------------------------- */

static void a_known_length_gives_percent_rate_memory_and_time_left(void **state)
{
    struct shown s;
    struct fake f = fake(120000, 1);
    char line[200];

    (void)state;
    begin(&s, false, false, 1);
    f.base.extent = &f.extent;
    struct source *told = sim_source(progress_source(&s.p, sim_adopt(&f.base)));
    read_batches(told, 30);
    assert_int_equal(lines(&s, line), 1);
    says(line, "lardsim: 25 %, 29.0 k events, 967/s, ");
    says(line, " MiB, 1 min 30 s left\n");
    assert_null(strstr(line, ", 0 MiB"));
    source_close(told);
    over(&s);
}

static void an_unknown_length_gives_no_percent_and_no_time(void **state)
{
    struct shown s;
    struct fake f = fake(0, 1);
    char line[200];

    (void)state;
    begin(&s, false, false, 1);
    struct source *told = sim_source(progress_source(&s.p, sim_adopt(&f.base)));
    read_batches(told, 30);
    assert_int_equal(lines(&s, line), 1);
    says(line, "lardsim: 29.0 k events, 967/s, ");
    assert_null(strchr(line, '%'));
    assert_null(strstr(line, "left"));
    source_close(told);
    over(&s);
}

static void parts_count_the_same(void **state)
{
    struct shown s;
    struct fake f = fake(120000, 1), g = fake(60000, 0);
    char line[200];

    (void)state;
    begin(&s, false, false, 4);
    f.base.extent = &f.extent;
    g.base.extent = &g.extent;
    s.p.over = 1;
    struct source *one = sim_source(progress_source(&s.p, sim_adopt(&f.base))),
                  *other = sim_source(progress_source(&s.p, sim_adopt(&g.base)));
    now += 29.9;
    read_batches(other, 30);
    now += 0.2;
    read_batches(other, 15); /* the clock's stride */
    read_batches(one, 30);
    assert_int_equal(lines(&s, line), 2);
    says(line, "2 of 4, ");
    says(line, "50 %"); /* one that is over, a quarter of one, three quarters of the other */
    source_close(one);
    source_close(other);
    over(&s);
}

static void a_long_line_is_cut_to_the_terminal(void **state)
{
    struct shown s;
    char line[200];

    (void)state;
    begin(&s, false, true, 1);
    progress_show(&s.p, "%0300d", 7);
    assert_int_equal(lines(&s, line), 1);
    assert_true(strcspn(line + 1, "\033") < 200);
    over(&s);
}

static void times_are_told_in_two_units(void **state)
{
    char to[32];

    (void)state;
    assert_string_equal(progress_time(to, 0.4), "0 s");
    assert_string_equal(progress_time(to, 59.4), "59 s");
    assert_string_equal(progress_time(to, 200), "3 min 20 s");
    assert_string_equal(progress_time(to, 3600 * 5 + 125), "5 h 2 min");
    assert_string_equal(progress_time(to, 1e300), "277777 h 46 min");
}

/* ---- a run ---------------------------------------------------------------------------------- */

static void a_run_is_told_with_its_name_and_length(void **state)
{
    struct shown s;
    char line[200];
    struct lardsim *l = lardsim_new();

    (void)state;
    begin(&s, false, true, 2);
    progress_run(&s.p, l, "vc");
    assert_int_equal(lardsim_set(l, "policies=vc"), 0);
    assert_int_equal(lardsim_start(l), 0);
    now += 5;
    s.p.stride = 5; /* a line at the fifth batch */
    assert_int_equal(lardsim_run(l, "synth:seed=1,events=100k"), 0);
    assert_int_equal(lines(&s, line), 1);
    says(line, "vc, 1 of 2, ");
    says(line, " k events, ");
    says(line, " left");
    progress_run_over(&s.p);
    assert_int_equal(s.p.over, 1);
    assert_int_equal(s.p.events, lardsim_events(l));
    lardsim_free(l);
    over(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_has_a_line_each_30_seconds),
        cmocka_unit_test(a_terminal_is_written_after_a_second_then_twice_a_second),
        cmocka_unit_test(quiet_it_looks_at_no_clock),
        cmocka_unit_test(the_clock_is_read_each_few_milliseconds_at_most),
        cmocka_unit_test(a_known_length_gives_percent_rate_memory_and_time_left),
        cmocka_unit_test(an_unknown_length_gives_no_percent_and_no_time),
        cmocka_unit_test(parts_count_the_same),
        cmocka_unit_test(a_long_line_is_cut_to_the_terminal),
        cmocka_unit_test(times_are_told_in_two_units),
        cmocka_unit_test(a_run_is_told_with_its_name_and_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
