/* t_radish_refused.c - what the detectors in hardware do not take: settings that can't be modelled,
 * or do not fit the machine, and regions without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/policy/radish/probe.h"

static void regions_too_big_to_go_through_are_refused(void **state)
{
    const struct event clear[] = {EV_REGION(CLEAR, 0, 0, UINT64_C(1) << 60)};
    struct probe p;
    struct watch w;

    (void)state;
    probe_open(&p, "lardish", 4, DEFAULTS);
    step(&p, clear[0]);
    assert_int_equal(p.w.err.code, LARD_TRACE);
    probe_close(&p);
    watch_open(&w, "lardish", 4,
               DEFAULTS); /* without a machine it is what has history that counts */
    watch_run(&w, (const struct event[]){EV_WRITE4(0, A)}, 1);
    watch_run(&w, clear, 1);
    watch_run(&w, (const struct event[]){EV_WRITE4(1, A)}, 1);
    assert_int_equal(w.races, 0);
    assert_int_equal(w.err.code, 0);
    watch_close(&w);
}

static void what_cannot_be_modelled_is_refused(void **state)
{
    static const struct {
        const char *policy;
        unsigned granule;
        const char *setting, *says;
    } bad[] = {
        {"lardish", 0, "clock-bits=14", "granularity"},
        {"radish-ts", 2, "clock-bits=14", "type-safe"},
        {"radish", 1, "clock-bits=3", "clock-bits"},
        {"radish", 1, "page=5000", "power of two"},
        {"radish", 1, "memory=5000000", "power of two"},
        {"radish", 1, "base=0x1000", "must not meet"},
        {"radish", 1, "manager.base=0x100000", "must not meet"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct drawn d = {.policy = bad[i].policy, .granule = bad[i].granule};
        struct watch w;
        d.setting[0] = bad[i].setting;
        open_on(&w, NULL, &d);
        assert_null(w.checker);
        assert_int_equal(w.err.code, LARD_CONFIG);
        assert_non_null(strstr(w.err.text, bad[i].says));
        watch_close(&w);
    }
}

/* On a machine: its memory, and where the runtime's clocks are. */
static void what_does_not_fit_the_machine_is_refused(void **state)
{
    static const struct {
        const char *setting, *says;
    } bad[] = {
        {"memory=16Mi", "pages.memory"},
        {"manager.base=0x40000000000000", "runtime"},
        {"base=0x40000000000000", "runtime"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct config *c = config_new(NULL);
        struct stats *s = stats_new();
        struct err e = {0};
        struct fake f;
        uint64_t number = 0;
        fake_open(&f, 1);
        f.machine.memory = 1 << 25;
        char *text = xasprintf("policy.a.%s", bad[i].setting);
        assert_int_equal(config_set(c, text, &e), 0);
        const struct checker_env env = {.config = c,
                                        .stats = s,
                                        .number = &number,
                                        .granule = 4,
                                        .err = &e,
                                        .machine = &f.machine,
                                        .host = &f,
                                        .exec = fake_exec,
                                        .mem = fake_mem};
        assert_null(checker_new("a=lardish", &env, &e));
        assert_int_equal(e.code, LARD_CONFIG);
        assert_non_null(strstr(e.text, bad[i].says));
        free(text);
        stats_free(s);
        config_free(c);
        fake_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_too_big_to_go_through_are_refused),
        cmocka_unit_test(what_cannot_be_modelled_is_refused),
        cmocka_unit_test(what_does_not_fit_the_machine_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
