/* t_collect.c - does what a program says while it runs become the names and events of its trace?
 * The program is this one, called with "program": it finds the ring as an agent does. */
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

static int program(void)
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
    dprintf(names, "T 0 the first\nT 1 the sec");
    event(&w);
    event(&w); /* what is read after a batch is read before the next one */
    dprintf(names, "ond\nT 2 the third\nT 3 half");
    return 0;
}

/* ---- its trace ------------------------------------------------------------------------------ */

static char *self;

static void a_line_is_read_when_it_is_whole(void **state)
{
    char *argv[] = {self, (char[]){"program"}, NULL};
    struct captured had;
    struct err e = {.code = LARD_DONE};
    struct batch b;
    uint64_t events = 0;

    (void)state;
    struct source *s = capture_start(CAPTURE_JAVA, argv, &(struct window){.toggle = -1}, &had, &e);
    assert_non_null(s);
    do {
        assert_int_equal(source_next(s, &b, &e), 0);
        events += b.records;
    } while (b.records);
    assert_int_equal(events, 2);
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
    };

    if (argc == 2 && strcmp(argv[1], "program") == 0)
        return program();
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
