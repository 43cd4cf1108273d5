/* t_collect.c - does what a program says while it runs become the names and events of its trace,
 * and what is told of it at the end? The program is this one, called with the name of what it does:
 * it finds the ring as an agent does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "capture/capture.h"
#include "capture/write.h"

/* ---- the program ---------------------------------------------------------------------------- */

/* Returns when the reader has come by, and so has read the lines before. */
static void event(struct ring_writer *w)
{
    ring_event(w, &(struct ring_record){.addr = 8, .kind = REC_VOLATILE_WRITE});
    while (atomic_load(&w->lane->taken) < atomic_load(&w->lane->reserved) && !ring_is_left(w->ring))
        usleep(100);
}

static void happens(struct ring_writer *w, uint8_t kind, uint64_t addr, uint64_t bytes)
{
    ring_event(w, &(struct ring_record){.addr = addr, .kind = kind, .more = bytes});
}

static void reads(struct ring_writer *w)
{
    ring_access(w, &(struct ring_record){.addr = 0x1000, .size = 4, .kind = REC_READ});
}

static int says_names(struct ring_writer *w, int names)
{
    dprintf(names, "T 0 the first\nT 1 the sec");
    event(w);
    event(w); /* what is read after a batch is read before the next one */
    dprintf(names, "ond\nT 2 the third\nT 3 half");
    return 0;
}

/* Two of five reads are made while it holds a lock. */
static int locks(struct ring_writer *w, int names)
{
    (void)names;
    happens(w, REC_RELEASE, 0x48, 0); /* acquired before the capture began */
    reads(w);
    happens(w, REC_ACQUIRE, 0x40, 0);
    happens(w, REC_VOLATILE_WRITE, 8, 0);
    reads(w);
    happens(w, REC_ACQUIRE_SHARED, 0x50, 0);
    happens(w, REC_RELEASE, 0x40, 0);
    reads(w);
    happens(w, REC_RELEASE_SHARED, 0x50, 0);
    reads(w);
    reads(w);
    return 0;
}

static int frees(struct ring_writer *w, int names)
{
    (void)names;
    happens(w, REC_ALLOC, 0x1000, 64);
    happens(w, REC_ALLOC, 0x1000, 64); /* told twice, when the capture began */
    happens(w, REC_CLEAR, 0x1000, 64);
    happens(w, REC_CLEAR, 0x2000, 32); /* given before it could be told */
    return 0;
}

/* 0: its clock began with the capture, less than a minute ago. */
static int knows_the_time(struct ring_writer *w, int names)
{
    (void)names;
    return ring_time(w->ring) > UINT64_C(60) * 1000000000;
}

/* 0: the window closes. */
static int waits_for_the_end(struct ring_writer *w, int names)
{
    (void)names;
    for (int i = 0; i < 3000 && atomic_load(&w->ring->mode) != RING_OUTSIDE; i++)
        usleep(10000);
    return atomic_load(&w->ring->mode) != RING_OUTSIDE;
}

static const struct {
    const char *name;
    int (*does)(struct ring_writer *w, int names);
} programs[] = {{"names", says_names},
                {"locks", locks},
                {"frees", frees},
                {"time", knows_the_time},
                {"end", waits_for_the_end}};

static int program(const char *name)
{
    const char *text = getenv(RING_VARIABLE);
    struct ring_writer w;
    int fd, names;

    if (!text || sscanf(text, "%d,%d", &fd, &names) != 2)
        return 1;
    struct ring *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r == MAP_FAILED)
        return 1;
    ring_enter_lane(&w, r, 0);
    atomic_store(&r->version, RING_VERSION);
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        if (!strcmp(programs[i].name, name))
            return programs[i].does(&w, names);
    return 1;
}

/* ---- its trace ------------------------------------------------------------------------------ */

static char *self;

enum { MOST = 16 };
struct all {
    struct source *source;
    struct captured had;
    struct event ev[MOST]; /* their first records, without marks of time */
    size_t n;
};

/* A program that waits for the window's end is waited for. */
static struct all all_of(const char *name, double from, double length)
{
    char *argv[] = {self, strdup(name), NULL};
    const struct window w = {.from = from, .length = length, .toggle = -1};
    static struct all all; /* `had` is told until the source is closed */
    struct err e = {.code = LARD_DONE};
    struct batch b;

    all = (struct all){.source = capture_start(CAPTURE_JAVA, argv, &w, &all.had, &e)};
    if (!all.source)
        fail_msg("%s", e.text);
    do {
        assert_int_equal(source_next(all.source, &b, &e), 0);
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            assert_true(all.n < MOST);
            all.ev[all.n++] = b.rec[i];
        }
    } while (b.records);
    free(argv[1]);
    return all;
}

static void are(const struct all *a, const enum ev_kind *kinds, size_t n)
{
    assert_int_equal(a->n, n);
    for (size_t i = 0; i < n; i++)
        if (a->ev[i].kind != kinds[i])
            fail_msg("event %zu is %s, not %s", i, ev_info[a->ev[i].kind].text,
                     ev_info[kinds[i]].text);
    assert_int_equal(a->had.events, n);
    assert_int_equal(a->had.status, 0);
}

static void accesses_under_a_lock_are_told(void **state)
{
    static const enum ev_kind kinds[] = {
        EV_RELEASE, EV_READ, EV_ACQUIRE,        EV_VOLATILE_WRITE, EV_READ, EV_ACQUIRE_SHARED,
        EV_RELEASE, EV_READ, EV_RELEASE_SHARED, EV_READ,           EV_READ};
    const struct all a = all_of("locks", 0, 0);

    (void)state;
    are(&a, kinds, ARRAY_SIZE(kinds));
    assert_int_equal(a.had.accesses, 5);
    assert_int_equal(a.had.locked, 2);
    source_close(a.source);
}

static void memory_that_is_freed_was_given_before(void **state)
{
    static const enum ev_kind kinds[] = {EV_ALLOC, EV_CLEAR, EV_ALLOC, EV_CLEAR};
    const struct all a = all_of("frees", 0, 0);

    (void)state;
    are(&a, kinds, ARRAY_SIZE(kinds));
    assert_int_equal(a.ev[2].addr, 0x2000);
    assert_int_equal(a.ev[2].aux, 32);
    source_close(a.source);
}

static void time_is_counted_from_the_beginning(void **state)
{
    const struct all a = all_of("time", 0, 0);

    (void)state;
    are(&a, NULL, 0);
    assert_true(a.had.opened);
    source_close(a.source);
}

static void a_window_opens_and_closes_in_its_time(void **state)
{
    struct all a = all_of("time", 1000, 0);

    (void)state;
    assert_false(a.had.opened);
    source_close(a.source);
    a = all_of("end", 0, 0.05);
    assert_true(a.had.opened);
    assert_int_equal(a.had.status, 0);
    source_close(a.source);
}

static void a_line_is_read_when_it_is_whole(void **state)
{
    const struct all a = all_of("names", 0, 0);
    struct source *s = a.source;

    (void)state;
    assert_int_equal(a.n, 2);
    assert_string_equal(names_find(s->names, NAME_THREAD, 0), "the first");
    assert_string_equal(names_find(s->names, NAME_THREAD, 1), "the second");
    assert_string_equal(names_find(s->names, NAME_THREAD, 2), "the third");
    assert_null(names_find(s->names, NAME_THREAD, 3));
    source_close(s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_read_when_it_is_whole),
        cmocka_unit_test(accesses_under_a_lock_are_told),
        cmocka_unit_test(memory_that_is_freed_was_given_before),
        cmocka_unit_test(time_is_counted_from_the_beginning),
        cmocka_unit_test(a_window_opens_and_closes_in_its_time),
    };

    if (argc == 2)
        return program(argv[1]);
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
