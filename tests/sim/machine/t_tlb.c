/* t_tlb.c - which translations are at hand, and what do the others take? By hand, of two levels
 * that hold four and eight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine/tlb.h"
#include "tests/frame/mutant_arg.h"

enum { SECOND = 7, WALK = 30 };
static const struct tlb_params four_and_eight = {.entries = 4,
                                                 .ways = 4,
                                                 .second_entries = 8,
                                                 .second_ways = 8,
                                                 .second_latency = SECOND,
                                                 .walk = WALK,
                                                 .page = 4096};

struct asked {
    struct tlb *t;
    uint64_t second, walks;
};

static void takes(struct asked *a, uint64_t page, sim_cycle cycles)
{
    const sim_cycle is =
        tlb_cycles(a->t, paddr_of(page * 4096 + page % 4096), &a->second, &a->walks);

    if (is != cycles)
        fail_msg("page %u takes %u cycles, not %u", (unsigned)page, (unsigned)is, (unsigned)cycles);
}

static void each_page_is_walked_to_once_while_there_is_room(void **state)
{
    struct asked a = {.t = tlb_new(&four_and_eight)};

    (void)state;
    for (uint64_t page = 0; page < 4; page++)
        takes(&a, page, WALK);
    for (uint64_t page = 0; page < 4; page++)
        takes(&a, page, 0);
    takes(&a, 4, WALK);   /* page 0 goes to the second level alone */
    takes(&a, 0, SECOND); /* and comes back; 1 goes */
    takes(&a, 2, 0);
    takes(&a, 1, SECOND);
    assert_int_equal(a.walks, 5);
    assert_int_equal(a.second, 2);
    tlb_free(a.t);
}

static void what_neither_level_has_is_walked_to_again(void **state)
{
    struct asked a = {.t = tlb_new(&four_and_eight)};

    (void)state;
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t page = 0; page < 9; page++) /* one too many for eight, in turn */
            takes(&a, page, WALK);
    assert_int_equal(a.walks, 18);
    tlb_free(a.t);
}

static void sets_hold_their_own_pages(void **state)
{
    struct tlb_params two_sets = four_and_eight;

    (void)state;
    two_sets.ways = 2;
    two_sets.second_entries = 0;
    struct asked a = {.t = tlb_new(&two_sets)};
    for (uint64_t page = 0; page < 6; page += 2) /* three for the two ways of one set */
        takes(&a, page, WALK);
    takes(&a, 1, WALK);
    takes(&a, 0, WALK);
    takes(&a, 1, 0);
    tlb_free(a.t);
}

static void what_is_no_number_of_sets_is_refused(void **state)
{
    struct tlb_params p = four_and_eight;
    struct err e = {0};

    (void)state;
    assert_int_equal(tlb_check(&p, &e), 0);
    p.ways = 3;
    assert_int_equal(tlb_check(&p, &e), -1);
    assert_non_null(strstr(e.text, "tlb.entries: 4 translations in 3 ways"));
    p = four_and_eight;
    p.page = 5000;
    e = (struct err){0};
    assert_int_equal(tlb_check(&p, &e), -1);
    assert_non_null(strstr(e.text, "tlb.page: 5000 is no power of two"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_page_is_walked_to_once_while_there_is_room),
        cmocka_unit_test(what_neither_level_has_is_walked_to_again),
        cmocka_unit_test(sets_hold_their_own_pages),
        cmocka_unit_test(what_is_no_number_of_sets_is_refused),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
