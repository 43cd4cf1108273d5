/* t_slim_array.c - what slimstate takes for an array: where its elements begin in an allocation
 * (docs/policies/slimstate.md), and what is counted of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/frame/number.h"
#include "tests/frame/watch.h"

enum { AT = 0x10000, SIZE = 4, ELEMENTS = 64 };

/* An array, more bytes than its elements have, and a write to each element from `first` on. */
static void sweep(struct watch *w, uint64_t elements, uint64_t more, uint64_t first)
{
    struct event rec[2 + 128] = {
        {.kind = EV_ALLOC, .addr = AT, .aux = elements * SIZE + more, .flags = EVF_MORE},
        {.addr = elements, .size = SIZE}};

    for (uint64_t i = 0; i < elements; i++)
        rec[2 + i] = (struct event){
            .kind = EV_WRITE, .addr = AT + first + i * SIZE, .size = SIZE, .flags = EVF_ARRAY};
    watch_open(w, "slimstate", SIZE, (const char *const[]){NULL});
    watch_run(w, rec, 2 + elements);
}

/* A header of 16 bytes or a multiple, or of 8: what is left is padding behind the elements. */
static void elements_begin_behind_the_header(void **state)
{
    static const struct {
        unsigned more, header;
    } each[] = {{0, 0},   {4, 0},   {7, 0},   {8, 8},   {12, 8},  {15, 8},
                {16, 16}, {20, 16}, {24, 16}, {31, 16}, {32, 32}, {40, 32}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        struct watch w;
        sweep(&w, ELEMENTS, each[i].more, each[i].header);
        if (watch_stat(&w, "appended") != ELEMENTS || watch_stat(&w, "checks") != 1)
            fail_msg("with %u bytes more, elements are not found %u behind the beginning",
                     each[i].more, each[i].header);
        watch_close(&w);
    }
}

static void arrays_and_their_elements_are_counted(void **state)
{
    struct watch w;

    (void)state;
    sweep(&w, ELEMENTS, 16, 16);
    number_is("arrays.allocated", watch_stat(&w, "arrays.allocated"), 1);
    number_is("arrays.elements", watch_stat(&w, "arrays.elements"), ELEMENTS);
    number_is("arrays.small", watch_stat(&w, "arrays.small"), 0);
    watch_close(&w);
    sweep(&w, 5, 16, 16);
    number_is("arrays.allocated", watch_stat(&w, "arrays.allocated"), 1);
    number_is("arrays.elements", watch_stat(&w, "arrays.elements"), 5);
    number_is("arrays.small", watch_stat(&w, "arrays.small"), 5);
    watch_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_begin_behind_the_header),
        cmocka_unit_test(arrays_and_their_elements_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
