/* t_pages.c - where the pages of the program's addresses lie: as the machine is asked, and never
 * two in one frame (docs/machine.md, "Physical memory"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memory/pages.h"

enum { PAGE = 4096, PAGES = 16, MEMORY = PAGES * PAGE };
#define PROGRAM UINT64_C(0x7f0000000000) /* what it has, begins here */

struct mapped {
    struct stats *stats;
    struct pages pages;
};

static void map_open(struct mapped *m, uint32_t mapping, uint64_t seed)
{
    const struct pages_params params = {mapping, PAGE, MEMORY, seed};
    struct err e = {0};

    m->stats = stats_new();
    if (pages_init(&m->pages, &params, stats_root(m->stats), &e))
        fail_msg("%s", e.text);
}

static void map_close(struct mapped *m)
{
    pages_free(&m->pages);
    stats_free(m->stats);
}

static void identity_leaves_an_address_where_it_is(void **state)
{
    struct mapped m;

    (void)state;
    map_open(&m, PAGES_IDENTITY, 1);
    for (uint64_t i = 0; i < 3 * PAGES; i++)
        assert_int_equal(pages_physical(&m.pages, vaddr_of(PROGRAM + 1000 * i)).at,
                         PROGRAM + 1000 * i);
    map_close(&m);
}

static void each_page_has_a_frame_of_its_own_within_the_memory(void **state)
{
    bool taken[PAGES] = {false};
    struct mapped m;
    uint64_t touched;

    (void)state;
    map_open(&m, PAGES_FIRST_TOUCH, 1);
    for (uint64_t i = 0; i < PAGES; i++) {
        const sim_addr at = pages_physical(&m.pages, vaddr_of(PROGRAM + i * PAGE + 40)).at;
        if (at >= MEMORY)
            fail_msg("page %u lies at 0x%llx, behind the memory", (unsigned)i,
                     (unsigned long long)at);
        assert_int_equal(at % PAGE, 40); /* the place within the page stays */
        if (taken[at / PAGE])
            fail_msg("page %u lies where another does", (unsigned)i);
        taken[at / PAGE] = true;
        assert_int_equal(pages_physical(&m.pages, vaddr_of(PROGRAM + i * PAGE + 4095)).at,
                         at - 40 + 4095);
    }
    assert_true(stats_value(m.stats, "touched", &touched));
    assert_int_equal(touched, PAGES);
    map_close(&m);
}

static void frames_go_by_the_order_of_touches_not_by_the_page(void **state)
{
    struct mapped up, down;

    (void)state;
    map_open(&up, PAGES_FIRST_TOUCH, 7);
    map_open(&down, PAGES_FIRST_TOUCH, 7);
    for (uint64_t i = 0; i < PAGES; i++)
        assert_int_equal(
            pages_physical(&up.pages, vaddr_of(PROGRAM + i * PAGE)).at,
            pages_physical(&down.pages, vaddr_of(PROGRAM + (PAGES - i) * 1000 * PAGE)).at);
    map_close(&up);
    map_close(&down);
}

static void another_seed_gives_other_frames(void **state)
{
    unsigned same = 0;
    struct mapped one, other;

    (void)state;
    map_open(&one, PAGES_FIRST_TOUCH, 1);
    map_open(&other, PAGES_FIRST_TOUCH, 2);
    for (uint64_t i = 0; i < PAGES; i++)
        same += paddr_same(pages_physical(&one.pages, vaddr_of(i * PAGE)),
                           pages_physical(&other.pages, vaddr_of(i * PAGE)));
    assert_true(same < PAGES);
    map_close(&one);
    map_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_leaves_an_address_where_it_is),
        cmocka_unit_test(each_page_has_a_frame_of_its_own_within_the_memory),
        cmocka_unit_test(frames_go_by_the_order_of_touches_not_by_the_page),
        cmocka_unit_test(another_seed_gives_other_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
