/* t_touch.c - which pages an event gives frames to in recorded order: all that its access reaches,
 * and no others. What a frame is: t_pages.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/machine/machine.h"
#include "tests/frame/number.h"

enum { PAGE = 4096, AT = 0x40000 };

struct touched {
    struct stats *stats;
    struct machine *m;
};

static void open_pages(struct touched *t, uint32_t mapping)
{
    const struct pages_params p = {mapping, PAGE, UINT64_C(1) << 24, 1};
    struct err e = {0};

    t->stats = stats_new();
    t->m = xcalloc(1, sizeof *t->m);
    if (pages_init(&t->m->pages, &p, stats_root(t->stats), &e))
        fail_msg("%s", e.text);
}

static void close_pages(struct touched *t)
{
    pages_free(&t->m->pages);
    stats_free(t->stats);
    free(t->m);
}

/* It gives frames to so many pages. */
static void touches(struct touched *t, struct event ev, uint64_t pages)
{
    uint64_t was, is;

    assert_true(stats_value(t->stats, "touched", &was));
    machine_touch(t->m, &ev);
    assert_true(stats_value(t->stats, "touched", &is));
    number_is("pages that have a frame now", is - was, pages);
}
#define ACCESS(k, a, n)                                                                            \
    (struct event)                                                                                 \
    {                                                                                              \
        .kind = EV_##k, .addr = (a), .size = (n)                                                   \
    }

static void an_access_touches_each_page_that_it_reaches(void **state)
{
    struct touched t;

    (void)state;
    open_pages(&t, PAGES_FIRST_TOUCH);
    touches(&t, ACCESS(READ, AT, 8), 1);
    touches(&t, ACCESS(WRITE, AT + PAGE - 8, 8), 0); /* up to its end */
    touches(&t, ACCESS(WRITE, AT + PAGE - 4, 8), 1); /* the first is there, the next is not */
    touches(&t, ACCESS(READ, AT + 2 * PAGE - 1, 2 * PAGE + 1), 2);
    touches(&t, ACCESS(READ, AT + 3 * PAGE + 8, 8), 0);
    touches(&t, ACCESS(READ, AT + 9 * PAGE - 1, 2), 2);
    close_pages(&t);
}

static void what_is_no_access_touches_none(void **state)
{
    struct touched t;

    (void)state;
    open_pages(&t, PAGES_FIRST_TOUCH);
    touches(&t, (struct event){.kind = EV_CLEAR, .addr = AT, .aux = 8 * PAGE}, 0);
    touches(&t, (struct event){.kind = EV_FORK, .aux = 1}, 0);
    close_pages(&t);
    open_pages(&t, PAGES_IDENTITY); /* there are no frames */
    touches(&t, ACCESS(READ, AT, 8), 0);
    close_pages(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_touches_each_page_that_it_reaches),
        cmocka_unit_test(what_is_no_access_touches_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
