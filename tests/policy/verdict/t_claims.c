/* t_claims.c - a policy is held to what it promises, and to nothing else: one that promises too
 * much is noticed, and what it leaves out of its promise is nobody's business. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/watch.h"

#include <cmocka.h>

enum { X = 0x1000, BOTH = CLAIM_SOUND | CLAIM_PRECISE };

static bool promising(const struct event *rec, size_t records, const char *policy,
                      const char *setting, struct promise as)
{
    struct verdict_case c = {.policy = policy, .view = verdict_view, .granule = 4, .as = &as};
    struct stream s = {NULL, 0, 0, 0};
    char why[300];

    snprintf(c.setting, sizeof c.setting, "%s", setting);
    for (size_t i = 0; i < records; i += event_records(&rec[i]))
        stream_add(&s, &rec[i]);
    const bool differs = verdict_differs(&s, &c, why, sizeof why);
    stream_free(&s);
    return !differs;
}

#define HOLDS(policy, setting, claims, conflicts, history, ...)                                    \
    promising(EVENTS(__VA_ARGS__), policy, setting,                                                \
              (struct promise){(claims) | CLAIM_EAGER, conflicts, history, NULL})
#define SAYS(policy, claims, ...) HOLDS(policy, "", claims, CONFLICT_ALL, HISTORY_LAST, __VA_ARGS__)

static void what_is_missed_is_not_sound(void **state)
{
    (void)state;
    assert_true(SAYS("none", CLAIM_PRECISE, EV_WRITE4(0, X), EV_WRITE4(1, X)));
    assert_false(SAYS("none", CLAIM_SOUND, EV_WRITE4(0, X), EV_WRITE4(1, X)));
    /* T1's second read is in the epoch of its first. */
    assert_false(HOLDS("fasttrack", "repeats=skip", BOTH, CONFLICT_ALL, HISTORY_LAST,
                       EV_WRITE4(0, X), EV_READ4(1, X), EV_READ4(1, X)));
}

static void what_is_no_race_is_not_precise(void **state)
{
    (void)state;
    /* The fork orders them, and there is no lock. */
    assert_false(
        SAYS("eraser", CLAIM_PRECISE, EV_WRITE4(0, X), EV_NAMING(FORK, 0, 1), EV_WRITE4(1, X)));
    assert_true(
        SAYS("eraser", CLAIM_SOUND, EV_WRITE4(0, X), EV_NAMING(FORK, 0, 1), EV_WRITE4(1, X)));
}

static void the_histories_are_told_apart(void **state)
{
    (void)state;
    assert_true(HOLDS("vc", "history=all", BOTH, CONFLICT_ALL, HISTORY_ALL, EV_WRITE4(0, X),
                      EV_WRITE4(1, X), EV_WRITE4(2, X)));
    /* T1's write ends T0's for history = last; T2 knows of T1's alone, by the fork. */
    assert_true(HOLDS("vc", "", BOTH, CONFLICT_ALL, HISTORY_LAST, EV_WRITE4(0, X), EV_WRITE4(1, X),
                      EV_NAMING(FORK, 1, 2), EV_WRITE4(2, X)));
    assert_false(HOLDS("vc", "", BOTH, CONFLICT_ALL, HISTORY_ALL, EV_WRITE4(0, X), EV_WRITE4(1, X),
                       EV_NAMING(FORK, 1, 2), EV_WRITE4(2, X)));
    assert_false(HOLDS("vc", "history=all", BOTH, CONFLICT_ALL, HISTORY_LAST, EV_WRITE4(0, X),
                       EV_WRITE4(1, X), EV_NAMING(FORK, 1, 2), EV_WRITE4(2, X)));
}

/* A promise about some kinds of conflict: others are not asked for, and must not be reported. */
static void the_kinds_of_conflict_are_told_apart(void **state)
{
    enum { WAW = CONFLICT_WAW, RAW = CONFLICT_RAW, WAR = CONFLICT_WAR, ATOMIC = CONFLICT_ATOMIC };
    static const struct {
        uint8_t earlier, later;
        unsigned kind;
    } rows[] = {{EV_WRITE, EV_WRITE, WAW}, {EV_WRITE, EV_READ, RAW}, {EV_READ, EV_WRITE, WAR},
                {EV_RMW, EV_READ, RAW},    {EV_READ, EV_RMW, WAR},   {EV_RMW, EV_WRITE, WAW}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct event s[] = {{.kind = rows[i].earlier, .tid = 0, .addr = X, .size = 4},
                                  {.kind = rows[i].later, .tid = 1, .addr = X, .size = 4}};
        const struct promise none = {CLAIM_EAGER | CLAIM_SOUND, CONFLICT_ALL & ~rows[i].kind,
                                     HISTORY_LAST, NULL},
                             one = {CLAIM_EAGER | CLAIM_SOUND, rows[i].kind | ATOMIC, HISTORY_LAST,
                                    NULL};
        struct promise precise = none;
        precise.claims = CLAIM_EAGER | CLAIM_PRECISE;
        assert_true(promising(s, 2, "none", "", none));
        assert_false(promising(s, 2, "none", "", one));
        assert_true(promising(s, 2, "vc", "", none));
        assert_false(promising(s, 2, "vc", "", precise));
    }
}

static void atomics_are_told_apart(void **state)
{
    enum { PLAIN = CONFLICT_ALL & ~CONFLICT_ATOMIC, RELAXED = ORDER_RELAXED << EVF_ORDER_SHIFT };
    const struct event s[] = {
        {.kind = EV_WRITE, .tid = 0, .addr = X, .size = 4, .flags = RELAXED},
        {.kind = EV_READ, .tid = 1, .addr = X, .size = 4},
    };

    (void)state;
    assert_true(promising(s, 2, "none", "",
                          (struct promise){CLAIM_EAGER | CLAIM_SOUND, PLAIN, HISTORY_LAST, NULL}));
    assert_false(
        promising(s, 2, "none", "",
                  (struct promise){CLAIM_EAGER | CLAIM_SOUND, CONFLICT_ALL, HISTORY_LAST, NULL}));
}

static void only_some_count_every_side(void **state)
{
    (void)state;
    /* The reads are ordered: FastTrack remembers the second alone. */
    assert_true(SAYS("vc", BOTH | CLAIM_EVERY, EV_READ4(0, X), EV_NAMING(FORK, 0, 1),
                     EV_READ4(1, X), EV_WRITE4(2, X)));
    assert_true(SAYS("fasttrack", BOTH, EV_READ4(0, X), EV_NAMING(FORK, 0, 1), EV_READ4(1, X),
                     EV_WRITE4(2, X)));
    assert_false(SAYS("fasttrack", BOTH | CLAIM_EVERY, EV_READ4(0, X), EV_NAMING(FORK, 0, 1),
                      EV_READ4(1, X), EV_WRITE4(2, X)));
}

/* Without a verdict on each access the locations are compared. */
static void late_verdicts_are_about_locations(void **state)
{
    struct promise late = {BOTH, CONFLICT_ALL, HISTORY_LAST, NULL};

    (void)state;
    assert_true(promising(EVENTS(EV_WRITE4(0, X), EV_WRITE4(1, X)), "slimstate", "", late));
    assert_false(promising(EVENTS(EV_WRITE4(0, X), EV_WRITE4(1, X)), "none", "", late));
    assert_false(promising(EVENTS(EV_WRITE4(0, X), EV_NAMING(FORK, 0, 1), EV_WRITE4(1, X)),
                           "eraser", "", late));
}

/* A policy without a promise, or with a rule of its own, is no business of this oracle. */
static void what_promises_nothing_is_not_judged(void **state)
{
    struct verdict_case c = {.policy = "vc", .view = verdict_view, .granule = 4};

    (void)state;
    assert_true(verdict_takes(&c));
    c.policy = "eraser";
    assert_false(verdict_takes(&c));
    c.policy = "fastrcd";
    assert_false(verdict_takes(&c));
    c.policy = "goldilocks";
    snprintf(c.setting, sizeof c.setting, "transactions=write-to-read");
    assert_false(verdict_takes(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missed_is_not_sound),
        cmocka_unit_test(what_is_no_race_is_not_precise),
        cmocka_unit_test(the_histories_are_told_apart),
        cmocka_unit_test(the_kinds_of_conflict_are_told_apart),
        cmocka_unit_test(atomics_are_told_apart),
        cmocka_unit_test(only_some_count_every_side),
        cmocka_unit_test(late_verdicts_are_about_locations),
        cmocka_unit_test(what_promises_nothing_is_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
