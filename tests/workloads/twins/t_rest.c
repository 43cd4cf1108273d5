/* t_rest.c - the rest of a twin's heap: is there as much of it as asked for, of which kind, and do
 * the accesses of the region of interest stay what they were? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/workloads/vm/spec.h"

struct made { /* before the region of interest, and in it */
    uint64_t bytes, objects, arrays, elements, checked;
    uint64_t inside; /* checked accesses of the region */
    bool region;
};

static void count(void *arg, const struct event *ev)
{
    struct made *m = arg;

    m->region |= ev->kind == EV_ROI_BEGIN;
    if (event_is_access(ev) && event_tracked(ev))
        ++*(m->region ? &m->inside : &m->checked);
    if (m->region || ev->kind != EV_ALLOC)
        return;
    m->bytes += ev->aux;
    if (event_records(ev) > 1 && ev[1].addr) {
        m->arrays++;
        m->elements += ev[1].addr;
    } else {
        m->objects++;
    }
}

static struct made made_by(const char *spec)
{
    struct made m = {0};

    walk_spec(spec, count, &m);
    return m;
}

#define TWIN "luindex@valor,layout=ia32,accesses=20k"

static void there_is_as_much_as_asked_for_and_no_more(void **state)
{
    const struct made none = made_by(TWIN), two = made_by(TWIN ",rest=2");
    const uint64_t more = two.bytes - none.bytes;

    (void)state;
    if (more < 2 << 20 || more > (2 << 20) + 1024)
        fail_msg("rest=2 allocates %llu bytes more", (unsigned long long)more);
}

static void half_of_its_locations_are_elements(void **state)
{
    enum { FIELDS = 8 };
    const struct made none = made_by(TWIN), one = made_by(TWIN ",rest=1");
    const double elements = (double)(one.elements - none.elements),
                 fields = (double)(FIELDS * (one.objects - none.objects));

    (void)state;
    if (elements / (elements + fields) < 0.49 || elements / (elements + fields) > 0.51)
        fail_msg("%g elements and %g fields", elements, fields);
}

/* Nothing of it is a checked access, but for one write of each array that is touched. */
static void only_arrays_that_are_touched_are_accessed(void **state)
{
    const struct made none = made_by(TWIN), one = made_by(TWIN ",rest=1"),
                      all = made_by(TWIN ",rest=1,touched=100"),
                      some = made_by(TWIN ",rest=1,touched=25");

    (void)state;
    assert_int_equal(one.checked, none.checked);
    assert_int_equal(all.checked, none.checked + (all.arrays - none.arrays));
    assert_int_equal(some.checked, none.checked + (some.arrays - none.arrays + 3) / 4);
}

static void the_region_of_interest_has_the_same_accesses(void **state)
{
    const struct made none = made_by(TWIN), one = made_by(TWIN ",rest=1,touched=100");

    (void)state;
    assert_true(none.region);
    assert_int_equal(one.inside, none.inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_as_much_as_asked_for_and_no_more),
        cmocka_unit_test(half_of_its_locations_are_elements),
        cmocka_unit_test(only_arrays_that_are_touched_are_accessed),
        cmocka_unit_test(the_region_of_interest_has_the_same_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
