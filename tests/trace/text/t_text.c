/* t_text.c - the text form: what each line means, and exact round trips. Its errors are in
 * t_text_errors.c. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/rng.h"
#include "tests/trace/text/bytes.h"

/* ---- help ----------------------------------------------------------------------------------- */

static struct source *open_text(const char *text)
{
    struct err e = {0};
    struct source *s = open_bytes(text, strlen(text), &e);

    if (!s)
        fail_msg("%s", e.text);
    return s;
}

/* All records of a text without errors; the batches' numbers must be consecutive. */
static size_t read_all(struct source *s, struct event *to, size_t max)
{
    uint64_t number = s->first;
    struct err e = {0};
    struct batch b;
    size_t n = 0;

    for (;;) {
        if (source_next(s, &b, &e))
            fail_msg("%s", e.text);
        assert_int_equal(b.first, number);
        if (!b.records)
            return n;
        assert_true(n + b.records <= max);
        memcpy(to + n, b.rec, b.records * sizeof *b.rec);
        n += b.records;
        for (size_t i = 0; i < b.records; i += event_records(b.rec + i))
            number++;
    }
}

static void means(const char *line, struct event first, struct event second)
{
    char *text = xasprintf(HEAD "%s\n", line);
    struct source *s = open_text(text);
    const struct event expected[EVENT_RECORDS] = {first, second};
    struct event found[3];
    const size_t n = read_all(s, found, 3);

    if (n != event_records(&first) || memcmp(found, expected, n * sizeof *found) != 0)
        fail_msg("%s: is another event", line);
    source_close(s);
    free(text);
}

static char *rewritten(const char *text)
{
    struct source *from = open_text(text);
    const struct sink_info info = {from->producer, from->first, from->granularity, from->layout,
                                   from->gaps};
    struct err e = {0};
    struct sink *to;
    char *bytes;
    size_t n;
    FILE *out = open_memstream(&bytes, &n);

    to = sink_text(out, &info, &e);
    if (!to || trace_pump(from, to, &e) || to->finish(to, &e))
        fail_msg("%s", e.text);
    fclose(out);
    source_close(from);
    return bytes;
}

/* ---- what lines mean ------------------------------------------------------------------------ */

#define E(...) ((struct event){__VA_ARGS__})
#define NONE   E(0)

static void accesses_are_read(void **state)
{
    (void)state;
    means("T0 write 0x1000 4 @0x11 +3 array",
          E(.kind = EV_WRITE, .addr = 0x1000, .size = 4, .aux = 0x11, .gap = 3, .flags = EVF_ARRAY),
          NONE);
    means("T65535 read 010 1", E(.kind = EV_READ, .tid = 65535, .addr = 10, .size = 1), NONE);
    means("T1 rmw 0XfF 8 seq-cst",
          E(.kind = EV_RMW, .tid = 1, .addr = 255, .size = 8,
            .flags = ORDER_SEQ_CST << EVF_ORDER_SHIFT | EVF_C11),
          NONE);
    means("T1 write 8 4 merge release",
          E(.kind = EV_WRITE, .tid = 1, .addr = 8, .size = 4,
            .flags = ORDER_RELEASE << EVF_ORDER_SHIFT),
          NONE);
    means("T1 read 8 8 txn final volatile stack system +4294967295 @0",
          E(.kind = EV_READ, .tid = 1, .addr = 8, .size = 8, .gap = UINT32_MAX,
            .flags = EVF_IN_TXN | EVF_FINAL | EVF_VOLATILE | EVF_STACK | EVF_SYSTEM),
          NONE);
    means("T1 read 18446744073709551615 1 relaxed",
          E(.kind = EV_READ, .tid = 1, .addr = UINT64_MAX, .size = 1,
            .flags = ORDER_RELAXED << EVF_ORDER_SHIFT),
          NONE);
}

static void every_form_is_read(void **state)
{
    (void)state;
    means("T0 acq 7", E(.kind = EV_ACQUIRE, .addr = 7), NONE);
    means("T0 acq 7 @0x9", E(.kind = EV_ACQUIRE, .addr = 7, .flags = EVF_MORE), E(.aux = 9));
    means("T0 depart 7 8", E(.kind = EV_BARRIER_DEPART, .addr = 7, .aux = 8), NONE);
    means("T0 fork T9", E(.kind = EV_FORK, .aux = 9), NONE);
    means("T0 end", E(.kind = EV_THREAD_END), NONE);
    means("T0 clear 8 16", E(.kind = EV_CLEAR, .addr = 8, .aux = 16), NONE);
    means("T0 alloc 8 16", E(.kind = EV_ALLOC, .addr = 8, .aux = 16), NONE);
    means("T0 alloc 8 16 \t 2  4", E(.kind = EV_ALLOC, .addr = 8, .aux = 16, .flags = EVF_MORE),
          E(.addr = 2, .size = 4));
    means("T0 alloc 8 16 0 0", E(.kind = EV_ALLOC, .addr = 8, .aux = 16), NONE);
    means("T0 alloc 8 16 +1 system",
          E(.kind = EV_ALLOC, .addr = 8, .aux = 16, .gap = 1, .flags = EVF_SYSTEM), NONE);
    means("T0 alloc 8 16 2 8 @3", E(.kind = EV_ALLOC, .addr = 8, .aux = 16, .flags = EVF_MORE),
          E(.addr = 2, .size = 8, .aux = 3));
    means("T0 copy 8 9 16", E(.kind = EV_COPY, .addr = 8, .aux = 16, .flags = EVF_MORE),
          E(.addr = 9));
    means("T0 copy 8 0 16", E(.kind = EV_COPY, .addr = 8, .aux = 16, .flags = EVF_MORE), NONE);
    means("T0 thread K3", E(.kind = EV_THREAD, .aux = 3), NONE);
    means("T0 writevc T2 5", E(.kind = EV_WRITEVC, .aux = 2, .addr = 5), NONE);
    means("T0 phase 5", E(.kind = EV_PHASE, .aux = 5), NONE);
    means("T0 time 17 +2", E(.kind = EV_TIME, .aux = 17, .gap = 2), NONE);
    means("T0 read 8 4 dependent", E(.kind = EV_READ, .addr = 8, .size = 4, .flags = EVF_DEPENDENT),
          NONE);
    means("T0 gc-begin nursery", E(.kind = EV_GC_BEGIN, .flags = EVF_NURSERY), NONE);
    means("T0 waited 3", E(.kind = EV_WAITED, .aux = 3), NONE);
    means("T0 waited 3  T0 +1", E(.kind = EV_WAITED, .aux = 3, .gap = 1, .flags = EVF_MORE),
          E(.addr = 1));
    means("T0 waited 3 T65535 @9", E(.kind = EV_WAITED, .aux = 3, .flags = EVF_MORE),
          E(.addr = 65536, .aux = 9));
    means("T0 branches 01101", E(.kind = EV_BRANCHES, .flags = EVF_MORE),
          E(.addr = 0x16, .size = 5));
    means("T0 branches 0", E(.kind = EV_BRANCHES, .flags = EVF_MORE), E(.size = 1));
    means("T0 uninstrumented 7 @9", E(.kind = EV_UNINSTRUMENTED, .aux = 7, .flags = EVF_MORE),
          E(.aux = 9));
    means("T0 remap 0x7000 0x3000 4096",
          E(.kind = EV_REMAP, .addr = 0x7000, .aux = 4096, .flags = EVF_MORE), E(.addr = 0x3000));
    means("T0 gc-begin nursery", E(.kind = EV_GC_BEGIN, .flags = EVF_NURSERY), NONE);
}

static void blanks_comments_and_line_ends_do_not_matter(void **state)
{
    static const char text[] = "# expect: none\r\n\n \t \n\t# more\n lardsim-text 1 # one\r\n"
                               "T0\tend#c\r\n   # T0 start\n\r\nT1 end  \nT2 end";
    struct source *s = open_text(text);
    struct event ev[4];

    (void)state;
    assert_int_equal(read_all(s, ev, 4), 3);
    assert_int_equal(ev[2].tid, 2);
    source_close(s);
}

static void a_trace_without_events_ends_at_once_and_stays_ended(void **state)
{
    struct source *s = open_text("lardsim-text 1");
    struct event ev[1];

    (void)state;
    assert_int_equal(read_all(s, ev, 1), 0);
    assert_int_equal(read_all(s, ev, 1), 0);
    assert_int_equal(s->version, 1); /* as its first line says */
    assert_null(s->producer);
    source_close(s);
}

static void the_header_belongs_to_the_source(void **state)
{
    struct source *s =
        open_text(HEAD "granularity 8\nlayout ia32\ngaps bytecodes\nname thread 0 \"main\"\n"
                       "first 0x10\nproducer \"a \\\"b\\\\ # c\" # d\nT0 start\nT0 end\n");
    struct event ev[2];

    (void)state;
    assert_int_equal(s->first, 16);
    assert_int_equal(s->granularity, 8);
    assert_int_equal(s->layout, LAYOUT_IA32);
    assert_int_equal(s->gaps, GAPS_BYTECODES);
    assert_string_equal(s->producer, "a \"b\\ # c");
    assert_string_equal(s->name, "t.txt");
    assert_string_equal(names_find(s->names, NAME_THREAD, 0), "main");
    assert_int_equal(read_all(s, ev, 2), 2);
    source_close(s);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void names_stand_for_objects_and_sites(void **state)
{
    struct source *s = open_text(HEAD "name object 0x2000 \"b\"\nname site 5 \"F:1\"\n"
                                      "T0 acq \"a\" @\"F:1\"\nT0 acq \"b\" @\"F:2\"\n"
                                      "T0 arrive \"c\" 3\nT0 rel \"a\" @\"F:2\"\n");
    const uint64_t base = UINT64_C(1) << 40, site = UINT64_C(1) << 62;
    struct event ev[8];

    (void)state;
    assert_int_equal(read_all(s, ev, 8), 7);
    assert_int_equal(ev[0].addr, base);
    assert_int_equal(ev[1].aux, 5);
    assert_int_equal(ev[2].addr, 0x2000);
    assert_int_equal(ev[3].aux, site);
    assert_int_equal(ev[4].addr, base + 64);
    assert_int_equal(ev[4].aux, 3);
    assert_int_equal(ev[5].addr, base);
    assert_int_equal(ev[6].aux, site);
    assert_string_equal(names_find(s->names, NAME_OBJECT, base + 64), "c");
    assert_string_equal(names_find(s->names, NAME_SITE, site), "F:2");
    source_close(s);
}

static void ids_with_a_name_are_not_given_again(void **state)
{
    struct source *s = open_text(HEAD "name object 0x10000000000 \"a\"\n"
                                      "name object 0x10000000040 \"b\"\nT0 acq \"c\"\n");
    struct event ev[1];

    (void)state;
    assert_int_equal(read_all(s, ev, 1), 1);
    assert_int_equal(ev[0].addr, (UINT64_C(1) << 40) + 128);
    source_close(s);
}

static void a_name_stands_for_the_first_id_that_had_it(void **state)
{
    struct source *s = open_text(HEAD "name object 1 \"a\"\nname object 2 \"a\"\n"
                                      "name object 1 \"b\"\nT0 acq \"a\"\nT0 acq \"b\"\n");
    struct event ev[2];

    (void)state;
    assert_int_equal(read_all(s, ev, 2), 2);
    assert_int_equal(ev[0].addr, 1);
    assert_int_equal(ev[1].addr, 1);
    source_close(s);
}

static void a_name_is_known_with_the_events_after_it_and_not_before(void **state)
{
    struct source *s = open_text(HEAD "T0 start\nT0 acq 1\nname object 1 \"late\"\nT0 rel 1\n");
    struct err e = {0};
    struct batch b;

    (void)state;
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 2);
    assert_null(names_find(s->names, NAME_OBJECT, 1));
    assert_int_equal(source_next(s, &b, &e), 0);
    assert_int_equal(b.records, 1);
    assert_int_equal(b.first, 2);
    assert_string_equal(names_find(s->names, NAME_OBJECT, 1), "late");
    source_close(s);
}

/* ---- round trips ---------------------------------------------------------------------------- */

static uint64_t any_number(struct rng *r)
{
    static const uint64_t edge[] = {0, 1, 7, 8, 4096, 65535, 65536, UINT32_MAX, UINT64_MAX};

    if (rng_chance(r, 1, 2))
        return edge[rng_below(r, ARRAY_SIZE(edge))];
    return rng_next(r) >> rng_below(r, 64);
}

/* Any bits, in half of the cases only those that an event may have: most records are refused. */
static bool any_event(struct rng *r, struct event ev[EVENT_RECORDS])
{
    const char *what;

    memset(ev, 0, EVENT_RECORDS * sizeof *ev);
    ev->kind = (uint8_t)rng_below(r, EV_KINDS);
    ev->tid = (sim_tid)any_number(r);
    ev->gap = (uint32_t)any_number(r);
    ev->addr = rng_chance(r, 1, 2) ? any_number(r) : 0;
    ev->aux = rng_chance(r, 1, 2) ? any_number(r) : 0;
    ev->size = rng_chance(r, 1, 2) ? (uint32_t)any_number(r) : 0;
    ev->flags = (uint16_t)(rng_next(r) & (rng_chance(r, 1, 2) ? EVF_MORE | EVF_SYSTEM : 0x83ff));
    if (ev->flags & EVF_MORE) {
        ev[1].addr = rng_chance(r, 1, 2) ? any_number(r) : 0;
        ev[1].aux = rng_chance(r, 1, 2) ? any_number(r) : 0;
        ev[1].size = rng_chance(r, 1, 4) ? (uint32_t)rng_below(r, 64) : 0;
    }
    if (ev->kind == EV_REMAP) {
        ev->aux = UINT64_C(4096) << rng_below(r, 30);
        ev->addr &= ~(ev->aux - 1);
        ev[1].addr &= ~(ev->aux - 1);
    }
    return !event_well_formed(ev, &what);
}

enum { RANDOM_EVENTS = 6000 };

static size_t random_events(struct event *to)
{
    unsigned kinds[EV_KINDS] = {0};
    size_t records = 0;
    struct rng r;

    rng_seed(&r, 7);
    for (unsigned n = 0; n < RANDOM_EVENTS;) {
        if (!any_event(&r, to + records))
            continue;
        kinds[to[records].kind]++;
        records += event_records(to + records);
        n++;
    }
    for (int k = 1; k < EV_KINDS; k++)
        if (ev_info[k].text && kinds[k] < 5)
            fail_msg("too few events of kind %s", ev_info[k].text);
    return records;
}

static void random_events_come_back_to_the_bit(void **state)
{
    struct event *in = xcalloc(2 * RANDOM_EVENTS, sizeof *in);
    struct event *back = xcalloc(2 * RANDOM_EVENTS, sizeof *back);
    const size_t records = random_events(in);
    const struct sink_info info = {.first = 5};
    struct err e = {0};
    struct source *s;
    struct sink *to;
    char *bytes;
    size_t n;
    FILE *out = open_memstream(&bytes, &n);

    (void)state;
    to = sink_text(out, &info, &e);
    assert_non_null(to);
    for (size_t i = 0; i < records; i += event_records(in + i))
        assert_int_equal(to->event(to, in + i, &e), 0);
    assert_int_equal(to->finish(to, &e), 0);
    fclose(out);

    s = open_text(bytes);
    assert_int_equal(s->first, 5);
    assert_int_equal(read_all(s, back, 2 * RANDOM_EVENTS), records);
    assert_memory_equal(in, back, records * sizeof *in);
    source_close(s);
    free(bytes);
    free(in);
    free(back);
}

/* Text of version 1 has no C11: what it says is said in version 2 by a word. */
static void atomics_of_version_1_merge(void **state)
{
    char *text = rewritten("lardsim-text 1\nproducer \"p\"\nT0 write 8 4 release\n"
                           "T0 rmw 8 4 seq-cst\nT0 read 8 4 acquire\nT0 write 8 4\n");

    (void)state;
    assert_string_equal(text, "lardsim-text 2\nproducer \"p\"\nT0 write 0x8 4 release merge\n"
                              "T0 rmw 0x8 4 seq-cst merge\nT0 read 0x8 4 acquire\n"
                              "T0 write 0x8 4\n");
    free(text);
}

static void what_was_written_is_a_fixed_point(void **state)
{
    static const char text[] = HEAD "producer \"p\"\nfirst 3\ngranularity 4\n"
                                    "name phase 4 \"w\"\nT0 acq \"a\" @\"S:1\"\n"
                                    "name object 5 \"\xc3\xa4 \\\\ \\\"q\\\" #\"\nT0 rel \"a\"\n"
                                    "T1 acq 5 +2\nT1 alloc 8 16 @9 system\nname thread 1 \"t\"\n";
    static const char expected[] =
        HEAD "producer \"p\"\nfirst 3\ngranularity 4\nname phase 4 \"w\"\n"
             "name object 0x10000000000 \"a\"\nname site 0x4000000000000000 \"S:1\"\n"
             "T0 acq 0x10000000000 @0x4000000000000000\n"
             "name object 0x5 \"\xc3\xa4 \\\\ \\\"q\\\" #\"\nT0 rel 0x10000000000\n"
             "T1 acq 0x5 +2\nT1 alloc 0x8 16 @0x9 system\nname thread 1 \"t\"\n";
    char *once = rewritten(text), *twice = rewritten(once);

    (void)state;
    assert_string_equal(once, expected);
    assert_string_equal(twice, expected);
    free(once);
    free(twice);
}

static void the_writer_refuses_a_header_that_could_not_be_read(void **state)
{
    const struct sink_info bad[] = {
        {.producer = "a\nb"}, {.producer = ""}, {.granularity = 3}, {.first = UINT64_MAX}};
    FILE *out = tmpfile();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err e = {0};

        assert_null(sink_text(out, &bad[i], &e));
        assert_int_not_equal(e.code, 0);
    }
    fclose(out);
}

static void a_full_disk_is_an_error(void **state)
{
    const struct sink_info info = {0};
    struct err e = {0};
    FILE *out = fopen("/dev/full", "w");
    struct sink *to;

    (void)state;
    if (!out)
        skip();
    to = sink_text(out, &info, &e);
    assert_non_null(to);
    assert_int_equal(to->finish(to, &e), -1);
    assert_int_equal(e.code, LARD_OUTPUT);
    assert_string_equal(e.text,
                        "the trace can't be written: No space left on device; make room, or "
                        "write somewhere else");
    fclose(out);
}

static void a_disk_that_fills_up_is_an_error_of_an_event(void **state)
{
    const struct event ev = {.kind = EV_IO};
    struct err e = {0};
    FILE *out = fopen("/dev/full", "w");
    int events = 0;

    (void)state;
    if (!out)
        skip();
    struct sink *to = sink_text(out, &(struct sink_info){0}, &e);
    assert_non_null(to);
    while (events < 100000 && !to->event(to, &ev, &e))
        events++;
    assert_in_range(events, 1, 99999);
    assert_non_null(strstr(e.text, "No space left on device; make room"));
    err_clear(&e);
    assert_int_equal(to->finish(to, &e), -1);
    assert_non_null(strstr(e.text, "No space left on device; make room"));
    fclose(out);
}

static void a_pipe_without_a_reader_says_nothing_of_disks(void **state)
{
    struct err e = {0};
    int end[2];

    (void)state;
    assert_int_equal(pipe(end), 0);
    close(end[0]);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    FILE *out = fdopen(end[1], "w");
    struct sink *to = sink_text(out, &(struct sink_info){0}, &e);
    assert_int_equal(to->finish(to, &e), -1);
    signal(SIGPIPE, handler);
    assert_string_equal(e.text, "the trace can't be written: Broken pipe");
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_read),
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(blanks_comments_and_line_ends_do_not_matter),
        cmocka_unit_test(a_trace_without_events_ends_at_once_and_stays_ended),
        cmocka_unit_test(the_header_belongs_to_the_source),
        cmocka_unit_test(names_stand_for_objects_and_sites),
        cmocka_unit_test(ids_with_a_name_are_not_given_again),
        cmocka_unit_test(a_name_stands_for_the_first_id_that_had_it),
        cmocka_unit_test(a_name_is_known_with_the_events_after_it_and_not_before),
        cmocka_unit_test(random_events_come_back_to_the_bit),
        cmocka_unit_test(atomics_of_version_1_merge),
        cmocka_unit_test(what_was_written_is_a_fixed_point),
        cmocka_unit_test(the_writer_refuses_a_header_that_could_not_be_read),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(a_disk_that_fills_up_is_an_error_of_an_event),
        cmocka_unit_test(a_pipe_without_a_reader_says_nothing_of_disks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
