/* t_ahead.c - reading ahead in a thread: the same events, numbers, names, errors and end, at the
 * same places; bounded; closed whenever. Also run under the thread sanitizer (tests/long/long.sh).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/lardsim.h"
#include "tests/trace/trace_file.h"
#include "tests/trace/wild.h"

/* ---- a source by hand ----------------------------------------------------------------------- */

enum { BATCH = 3, NO_ERROR = -1 };

struct hand { /* batches of BATCH events with a name before each */
    struct source base;
    struct names *names;
    struct event rec[BATCH];
    int batches, error_at; /* NO_ERROR: it ends after `batches` */
    int given;
    atomic_int *read, *closed; /* batches asked for; closes */
};

static int hand_next(struct source *s, struct batch *b, struct err *e)
{
    struct hand *h = (struct hand *)s;
    char text[32];

    atomic_fetch_add(h->read, 1);
    snprintf(text, sizeof text, "before batch %d", h->given);
    names_add(h->names, NAME_SITE, (uint64_t)h->given, text, e);
    *b = (struct batch){.first = (uint64_t)h->given * BATCH};
    if (h->given == h->error_at)
        return err_set(e, LARD_TRACE, "by hand: after %d batches", h->given);
    if (h->given == h->batches)
        return 0;
    for (int i = 0; i < BATCH; i++)
        h->rec[i] =
            (struct event){.kind = EV_READ, .size = 4, .addr = (uint64_t)(h->given * BATCH + i)};
    b->rec = h->rec;
    b->records = BATCH;
    h->given++;
    return 0;
}

static void hand_close(struct source *s)
{
    struct hand *h = (struct hand *)s;

    atomic_fetch_add(h->closed, 1);
    names_free(h->names);
    free(h);
}

static struct source *hand_new(int batches, int error_at, atomic_int *read, atomic_int *closed)
{
    struct hand *h = xcalloc(1, sizeof *h);

    h->names = names_new();
    h->batches = batches;
    h->error_at = error_at;
    h->read = read;
    h->closed = closed;
    h->base = (struct source){.next = hand_next,
                              .close = hand_close,
                              .names = h->names,
                              .name = "by hand",
                              .first = 0,
                              .producer = "t_ahead",
                              .granularity = 4,
                              .version = 7};
    names_add(h->names, NAME_THREAD, 0, "before all", NULL);
    return &h->base;
}

static void take_batch(struct source *s, int number)
{
    struct err e = {0};
    struct batch b;

    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, BATCH);
    assert_int_equal(b.first, number * BATCH);
    for (int i = 0; i < BATCH; i++)
        assert_int_equal(b.rec[i].addr, number * BATCH + i);
}

static void what_is_said_of_the_source_stays(void **state)
{
    atomic_int read = 0, closed = 0;
    struct source *s = source_ahead(hand_new(1, NO_ERROR, &read, &closed));

    (void)state;
    assert_string_equal(s->name, "by hand");
    assert_string_equal(s->producer, "t_ahead");
    assert_int_equal(s->granularity, 4);
    assert_int_equal(s->version, 7);
    assert_string_equal(names_find(s->names, NAME_THREAD, 0), "before all");
    assert_int_equal(names_count(s->names), 1); /* however far the thread is */
    source_close(s);
    assert_int_equal(closed, 1);
}

static void names_come_with_their_batch_and_not_before(void **state)
{
    atomic_int read = 0, closed = 0;
    struct source *s = source_ahead(hand_new(50, NO_ERROR, &read, &closed));

    (void)state;
    for (int i = 0; i < 50; i++) {
        take_batch(s, i);
        assert_int_equal(names_count(s->names), i + 2);
    }
    source_close(s);
}

static void the_end_is_said_as_often_as_asked(void **state)
{
    atomic_int read = 0, closed = 0;
    struct source *s = source_ahead(hand_new(5, NO_ERROR, &read, &closed));
    struct err e = {0};
    struct batch b;

    (void)state;
    for (int i = 0; i < 5; i++)
        take_batch(s, i);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(source_next(s, &b, &e), 0);
        assert_int_equal(b.records, 0);
        assert_int_equal(b.first, 5 * BATCH);
        assert_int_equal(names_count(s->names), 7); /* those behind the last event, too */
    }
    source_close(s);
    assert_int_equal(read, 6);
}

static void an_error_comes_after_the_events_before_it(void **state)
{
    (void)state;
    for (int at = 0; at < 6; at++) {
        atomic_int read = 0, closed = 0;
        struct source *s = source_ahead(hand_new(9, at, &read, &closed));
        struct batch b;

        for (int i = 0; i < at; i++)
            take_batch(s, i);
        for (int i = 0; i < 3; i++) {
            struct err e = {0};
            assert_int_equal(source_next(s, &b, &e), -1);
            assert_int_equal(e.code, LARD_TRACE);
            assert_non_null(strstr(e.text, "by hand: after"));
        }
        source_close(s);
        assert_int_equal(closed, 1);
    }
}

static void it_reads_a_few_batches_ahead_only(void **state)
{
    atomic_int read = 0, closed = 0;
    struct source *s = source_ahead(hand_new(1000, NO_ERROR, &read, &closed));

    (void)state;
    for (int i = 0; i < 200; i++) {
        take_batch(s, i);
        assert_true(atomic_load(&read) <= i + 1 + 3);
    }
    source_close(s);
    assert_true(atomic_load(&read) <= 200 + 3);
}

static void it_can_be_closed_at_any_time(void **state)
{
    (void)state;
    for (int batches = 0; batches < 40; batches++) {
        atomic_int read = 0, closed = 0;
        struct source *s = source_ahead(hand_new(1000, NO_ERROR, &read, &closed));

        for (int i = 0; i < batches; i++)
            take_batch(s, i);
        source_close(s);
        assert_int_equal(closed, 1);
    }
}

/* ---- real sources --------------------------------------------------------------------------- */

/* Both yield the same, at the same places. */
static void same(struct source *plain, struct source *ahead)
{
    struct err e = {0}, f = {0};
    struct batch b, c;
    int bad;

    do {
        bad = source_next(plain, &b, &e);
        assert_int_equal(source_next(ahead, &c, &f), bad);
        if (bad)
            break;
        assert_int_equal(c.records, b.records);
        assert_true(c.first == b.first);
        assert_memory_equal(c.rec, b.rec, b.records * sizeof *b.rec);
        assert_int_equal(names_count(ahead->names), names_count(plain->names));
    } while (b.records);
    assert_string_equal(f.text, e.text);
    for (size_t i = 0; i < names_count(plain->names); i++)
        assert_string_equal(names_at(ahead->names, i)->text, names_at(plain->names, i)->text);
    source_close(plain);
    source_close(ahead);
}

static void a_generated_trace_is_the_same(void **state)
{
    static const char spec[] = "synth:seed=3,events=20000,names=on,heap_share=50";
    struct err e = {0};
    struct source *plain = source_open(spec, &e), *inner = source_open(spec, &e);

    (void)state;
    if (e.code)
        fail_msg("%s", e.text);
    same(plain, source_ahead(inner));
}

/* A binary trace, whole and cut off at some places. */
static void a_file_is_the_same_where_it_ends_early_too(void **state)
{
    enum { EVENTS = 70000 };
    struct event *rec = xcalloc(2 * EVENTS, sizeof *rec);
    struct names *names = names_new();
    const struct sink_info info = {.producer = "t_ahead", .first = 12, .granularity = 8};
    size_t records;

    (void)state;
    names_add(names, NAME_OBJECT, 4096, "an object", NULL);
    records = wild_events(5, EVENTS, rec);
    struct file file = file_write(rec, records, names, &info, CODEC_RAW);
    const size_t ends[] = {file.n, file.n - 1, file.n / 2, file.n / 3, 200};
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        struct err e = {0};
        struct source *plain = file_open((uint8_t *)file.at, ends[i], &e);
        struct source *inner = file_open((uint8_t *)file.at, ends[i], &e);
        assert_non_null(plain);
        assert_non_null(inner);
        same(plain, source_ahead(inner));
    }
    free(file.at);
    free(rec);
    names_free(names);
}

static uint64_t digest_of(const char *ahead, const char *source, char *error, size_t n)
{
    struct lardsim *l = lardsim_new();

    assert_int_equal(lardsim_set(l, "policies=vc,fasttrack"), 0);
    assert_int_equal(lardsim_set(l, ahead), 0);
    assert_int_equal(lardsim_start(l), 0);
    lardsim_run(l, source);
    lardsim_finish(l);
    snprintf(error, n, "%s", lardsim_error(l) ? lardsim_error(l) : "");
    const uint64_t digest = lardsim_digest(l);
    lardsim_free(l);
    return digest;
}

static void a_run_gives_the_same_results(void **state)
{
    static const char *const sources[] = {
        "synth:seed=5,events=30000,names=on", "synth:seed=6,events=300,raw=on",
        "/dev/null", /* an error already on opening */
    };
    char with[1000], without[1000];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        const uint64_t on = digest_of("trace.ahead=on", sources[i], with, sizeof with);
        assert_true(on == digest_of("trace.ahead=off", sources[i], without, sizeof without));
        assert_string_equal(with, without);
    }
}

static void a_run_that_stops_at_a_limit_closes_its_source(void **state)
{
    (void)state;
    for (int i = 1; i < 40; i += 3) {
        struct lardsim *l = lardsim_new();
        char limit[64];

        snprintf(limit, sizeof limit, "limits.events=%d", i * 1000);
        assert_int_equal(lardsim_set(l, "trace.ahead=on"), 0);
        assert_int_equal(lardsim_set(l, limit), 0);
        assert_int_equal(lardsim_start(l), 0);
        assert_int_equal(lardsim_run(l, "synth:seed=5,events=1000000"), -1);
        assert_int_equal(lardsim_exit_code(l), LARD_LIMIT);
        assert_int_equal(lardsim_events(l), i * 1000);
        lardsim_finish(l);
        lardsim_free(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_the_source_stays),
        cmocka_unit_test(names_come_with_their_batch_and_not_before),
        cmocka_unit_test(the_end_is_said_as_often_as_asked),
        cmocka_unit_test(an_error_comes_after_the_events_before_it),
        cmocka_unit_test(it_reads_a_few_batches_ahead_only),
        cmocka_unit_test(it_can_be_closed_at_any_time),
        cmocka_unit_test(a_generated_trace_is_the_same),
        cmocka_unit_test(a_file_is_the_same_where_it_ends_early_too),
        cmocka_unit_test(a_run_gives_the_same_results),
        cmocka_unit_test(a_run_that_stops_at_a_limit_closes_its_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
