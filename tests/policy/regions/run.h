/* run.h - for tests of policies on conflicts of regions: a stream by hand and what is said
 * of it as text, and what one event costs (policy_rig.h). It judges nothing itself. */
#ifndef LARDSIM_REGION_RUN_H
#define LARDSIM_REGION_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/frame/policy_rig.h"

enum { X = 0x1000, Y = 0x2000, Z = 0x3000, L = 0x9000 };

#define R(t, a)    EV_READ4(t, a)
#define W(t, a)    EV_WRITE4(t, a)
#define ENDS(t)    EV_ON(VOLATILE_WRITE, t, L) /* a region of t's */
#define CLEAR(a)   EV_REGION(CLEAR, 9, a, 4)
#define MOVE(b, a) EV_MOVE(9, b, a, 4) /* from a to b */
#define BY(k, t)                                                                                   \
    {                                                                                              \
        .kind = EV_##k, .tid = (t)                                                                 \
    }
#define SITED(k, t, a, s)                                                                          \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .aux = (s)                             \
    }
#define WITH(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Each race: "3-4", event 4 is racy with 3; "3~4@6", event 3 is, with 4 after it, noticed at 6;
 * "?": the other side is not known. */
static inline const char *region_text(const struct watch *w, char *to, size_t room)
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < w->races && at < room; i++) {
        const struct race *r = &w->race[i];
        const unsigned long long is = r->is.event, other = r->earlier.event, now = r->noticed;
        const char *gap = at ? " " : "";
        if (now == is)
            at += (size_t)snprintf(to + at, room - at, "%s%llu-%llu", gap, other, is);
        else if (r->earlier.known)
            at += (size_t)snprintf(to + at, room - at, "%s%llu~%llu@%llu", gap, is, other, now);
        else
            at += (size_t)snprintf(to + at, room - at, "%s%llu~?@%llu", gap, is, now);
    }
    return to;
}

static inline void region_run(struct watch *w, const char *policy, const char *const *settings,
                              const struct event *rec, size_t records)
{
    watch_open(w, policy, 4, settings);
    watch_run(w, rec, records);
}

static inline void region_says(const char *policy, const char *const *settings, const char *want,
                               const struct event *rec, size_t records)
{
    struct watch w;
    char text[500];

    region_run(&w, policy, settings, rec, records);
    assert_int_equal(w.err.code, 0);
    assert_string_equal(region_text(&w, text, sizeof text), want);
    watch_close(&w);
}

static inline uint64_t region_stat(const char *policy, const char *const *settings,
                                   const char *name, const struct event *rec, size_t records)
{
    struct watch w;

    region_run(&w, policy, settings, rec, records);
    assert_int_equal(w.err.code, 0);
    const uint64_t value = watch_stat(&w, name);
    watch_close(&w);
    return value;
}

/* The error that ends the run. */
static inline void region_stops(const char *policy, const char *const *settings, int code,
                                const char *with, const struct event *rec, size_t records)
{
    struct watch w;

    region_run(&w, policy, settings, rec, records);
    assert_int_equal(w.err.code, code);
    assert_non_null(strstr(w.err.text, with));
    watch_close(&w);
}

/* The error that keeps it from beginning. */
static inline void region_refuses(const char *policy, const char *const *settings, const char *with)
{
    struct config *config = config_new(NULL);
    struct stats *stats = stats_new();
    struct err e = {0}, late = {0};
    uint64_t number = 0;

    for (; *settings; settings++) {
        char *text = xasprintf("policy.%s.%s", policy, *settings);
        assert_int_equal(config_set(config, text, &e), 0);
        free(text);
    }
    const struct checker_env env = {
        .config = config, .stats = stats, .number = &number, .granule = 4, .err = &late};
    assert_null(checker_new(policy, &env, &e));
    assert_int_equal(e.code, LARD_CONFIG);
    assert_non_null(strstr(e.text, with));
    config_free(config);
    stats_free(stats);
}

/* ---- what an event costs -------------------------------------------------------------------- */

/* All but the last event, then what that one costs: NULL, or the caller's text of what differs. */
static inline char *region_costs(const char *policy, const char *const *settings,
                                 const struct rig_places *layout, const char *expected,
                                 const struct event *rec, size_t records)
{
    struct policy_rig r;
    size_t last = 0;

    for (size_t i = 0; i < records; i += event_records(&rec[i]))
        last = i;
    policy_rig_open(&r, policy, settings, *layout);
    policy_rig_run(&r, rec, last);
    charges_forget(&r.m.asked);
    policy_rig_run(&r, rec + last, records - last);
    char *differ = charges_differ(&r.m.asked, expected);
    policy_rig_close(&r);
    return differ;
}
/* setting: by its whole name, as the rig calls the policy a; or NULL. */
#define REGION_COSTS_WITH(policy, setting, layout, expected, ...)                                  \
    do {                                                                                           \
        const char *const set_[] = {setting, NULL};                                                \
        char *differ_ = region_costs(policy, set_, layout, expected, EVENTS(__VA_ARGS__));         \
        if (differ_)                                                                               \
            fail_msg("%s", differ_);                                                               \
    } while (0)
#define REGION_COSTS(policy, layout, expected, ...)                                                \
    REGION_COSTS_WITH(policy, NULL, layout, expected, __VA_ARGS__)

#endif
