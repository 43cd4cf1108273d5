/* t_synth_params.c - the generator's parameters: which are refused, and does the error say why? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "trace/trace.h"

static struct source *open_spec(const char *spec)
{
    struct synth_params p;
    struct err e = {0};
    struct source *s = synth_parse(&p, spec, &e) ? NULL : synth_open(&p, &e);

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    return s;
}

static void refused(const char *spec, const char *why)
{
    struct synth_params p;
    struct err e = {0};
    struct source *s = synth_parse(&p, spec, &e) ? NULL : synth_open(&p, &e);

    if (s)
        fail_msg("%s: not refused", spec);
    assert_int_equal(e.code, LARD_CONFIG);
    if (!strstr(e.text, why) || strncmp(e.text, "synth: ", 7) != 0)
        fail_msg("expected \"%s\" in \"%s\"", why, e.text);
}

static void bad_parameters_are_refused_with_a_reason(void **state)
{
    (void)state;
    refused("evnets=3", "did you mean events?");
    refused("seed", "has no \"=\"");
    refused("seed=1,threads", "threads");
    refused(",", "has no \"=\"");
    refused("events=-1", "negative");
    refused("threads=0", "threads");
    refused("threads=65536", "65535");
    refused("discipline=1001", "1000");
    refused("sizes=3", "16");
    refused("sizes=", "sizes");
    refused("fork=trees", "did you mean tree?");
    refused("raw=maybe", "raw");
    refused("granularity=3", "1, 2, 4 or 8");
    refused("raw=on,threads=5000", "too many clocks");
    refused("variables=1G,heap_share=1", "heap_share=0");
}

static void lists_may_have_commas(void **state)
{
    struct synth_params p;
    struct err e = {0};

    (void)state;
    assert_int_equal(synth_parse(&p, "sizes=1,2,16,seed=7,seed=0x8,raw=yes", &e), 0);
    assert_int_equal(p.sizes, 1 | 2 | 16);
    assert_int_equal(p.seed, 8);
    assert_true(p.raw);
    assert_int_equal(p.threads, 4);
}

static void a_source_says_what_it_is(void **state)
{
    struct source *s = open_spec("granularity=4,heap_share=0,names=on");

    (void)state;
    assert_int_equal(s->granularity, 4);
    assert_int_equal(s->first, 0);
    assert_string_equal(s->name, "synth");
    assert_string_equal(names_find(s->names, NAME_THREAD, 0), "main 0");
    assert_string_equal(names_find(s->names, NAME_SITE, 100), "site 100");
    source_close(s);
    s = open_spec("names=off");
    assert_int_equal(names_count(s->names), 0);
    source_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_parameters_are_refused_with_a_reason),
        cmocka_unit_test(lists_may_have_commas),
        cmocka_unit_test(a_source_says_what_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
