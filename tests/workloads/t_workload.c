/* t_workload.c - workloads by name: the same text gives the same events, sizes and given values,
 * what is wrong with a text is said, and a stream may be closed wherever it stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "tests/workloads/vm/spec.h"

/* ---- the same again ---------------------------------------------------------------------------
 */

static uint64_t digest_of(const char *spec)
{
    struct err e = {0};
    struct source *s = workload_open(spec, &e);
    struct digest *d = digest_new();
    struct batch b;

    if (!s)
        fail_msg("%s", e.text);
    do {
        if (source_next(s, &b, &e))
            fail_msg("%s", e.text);
        digest_add(d, b.rec, b.records * sizeof *b.rec);
    } while (b.records);
    source_close(s);
    const uint64_t value = digest_value(d);
    digest_free(d);
    return value;
}

static void the_same_seed_gives_the_same_events(void **state)
{
    static const char *const spec[] = {
        "churn,steps=200,heap=512Ki,gc=semispace", "churn,steps=200,schedule=adversarial",
        "churn,steps=200,kernel_threads=2,gc=copying-concurrent,heap=512Ki"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(spec); i++) {
        char *other = xasprintf("%s,seed=2", spec[i]), *same = xasprintf("%s,seed=1", spec[i]);
        assert_int_equal(digest_of(spec[i]), digest_of(same));
        assert_int_not_equal(digest_of(spec[i]), digest_of(other));
        free(other);
        free(same);
    }
}

static void given_values_win_over_a_size(void **state)
{
    (void)state;
    assert_int_equal(digest_of("philosopher,size=medium,meals=7"),
                     digest_of("philosopher,meals=7"));
    assert_int_equal(digest_of("philosopher,meals=50"), digest_of("philosopher"));
    assert_int_not_equal(digest_of("philosopher,meals=7"), digest_of("philosopher"));
}

static void bad_parameters_are_errors(void **state)
{
    static const char *const bad[] = {"churm",
                                      "",
                                      "churn,stepps=3",
                                      "churn,gc=refcount",
                                      "churn,heap=1000",
                                      "churn,threads=0",
                                      "churn,steps",
                                      "churn,gc=generational,heap=1Mi,nursery=1Mi",
                                      "churn,heap=300001",
                                      "churn,tlab=100",
                                      "churn,size=huge",
                                      "philosopher,threads=1",
                                      "fft,rows=3",
                                      "xalan@valor,live=1",
                                      "xalan@valor,length=33",
                                      "xalan@lard,races=5",
                                      "xalan@lard,hidden=704",
                                      "sor,=3",
                                      "churn,heap=256Ki,tlab=32Ki"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err e = {0};
        if (workload_open(bad[i], &e))
            fail_msg("%s: was taken", bad[i]);
        assert_int_equal(e.code, LARD_CONFIG);
        char *name = xasprintf("workload:%.*s: ", (int)strcspn(bad[i], ","), bad[i]);
        if (strncmp(e.text, name, strlen(name)) != 0 || strstr(e.text + 1, "workload:"))
            fail_msg("%s: does not name the workload once: %s", bad[i], e.text);
        free(name);
        assert_null(strstr(e.text, "--set"));
    }
}

static void a_name_that_is_wrong_is_answered_with_the_nearest(void **state)
{
    static const struct {
        const char *spec, *says;
    } wrong[] = {{"churm", "did you mean churn?"},
                 {"xalan", "did you mean xalan@"},
                 {"churn,thread=3", "did you mean threads?"},
                 {"churn,stepps=3", "did you mean steps?"},
                 {"churn,quite_other=3", "`lardsim workload describe churn`"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct err e = {0};
        assert_null(workload_open(wrong[i].spec, &e));
        if (!strstr(e.text, wrong[i].says))
            fail_msg("%s: %s", wrong[i].spec, e.text);
    }
}

/* Given, of the size (its last word where it has several), default. */
static void settings_are_what_is_in_force(void **state)
{
    static const struct {
        const char *spec, *line;
    } in[] = {{"sor", "\nn=50\n"},
              {"sor,size=large", "\nn=1000\n"},
              {"sor,n=7,size=large,n=9", "\nn=9\n"},
              {"sor", "\ngc=marksweep\n"},
              {"sor,gc=semispace", "\ngc=semispace\n"},
              {"xalan@lard", "\nheap=1048576\n"},
              {"xalan@lard,heap=2Mi", "\nheap=2097152\n"},
              {"xalan@valor", "\nheap=268435456\n"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
        struct err e = {0};
        char *text = workload_settings(in[i].spec, &e), *all = xasprintf("\n%s", text ? text : "");
        if (!strstr(all, in[i].line))
            fail_msg("%s: not %s in%s", in[i].spec, in[i].line + 1, all);
        free(text);
        free(all);
    }
    struct err e = {0};
    assert_null(workload_settings("sor,n=0", &e));
    assert_int_equal(e.code, LARD_CONFIG);
}

static void it_can_be_closed_at_any_time(void **state)
{
    (void)state;
    for (unsigned batches = 0; batches < 40; batches++) {
        char *spec = xasprintf("churn,heap=512Ki,nursery=48Ki,tlab=1Ki,steps=500,gc=%s",
                               collectors[batches % 5]);
        struct source *s = open_spec(spec);
        struct batch b;
        struct err e = {0};
        for (unsigned i = 0; i < batches; i++)
            assert_int_equal(source_next(s, &b, &e), 0);
        source_close(s);
        free(spec);
    }
}

static void every_workload_is_found_by_its_name(void **state)
{
    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        assert_ptr_equal(workload_find((*w)->name), *w);
        assert_true((*w)->summary && (*w)->summary[0]);
        assert_non_null((*w)->main);
    }
    assert_null(workload_find("nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_events),
        cmocka_unit_test(given_values_win_over_a_size),
        cmocka_unit_test(bad_parameters_are_errors),
        cmocka_unit_test(a_name_that_is_wrong_is_answered_with_the_nearest),
        cmocka_unit_test(settings_are_what_is_in_force),
        cmocka_unit_test(it_can_be_closed_at_any_time),
        cmocka_unit_test(every_workload_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
