/* hand.h - how the oracle's own tests write a stream by hand and state its verdict. It
 * includes cmocka and what cmocka needs. */
#ifndef LARDSIM_TESTS_ORACLE_HAND_H
#define LARDSIM_TESTS_ORACLE_HAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x2000, L = 0x9000, M = 0x9100 };

#define SIZED(k, t, a, n)                                                                          \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = (n)                                       \
    }
#define R(t, a) SIZED(READ, t, a, 4)
#define W(t, a) SIZED(WRITE, t, a, 4)
#define FLAGGED(k, t, a, f)                                                                        \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .flags = (f)                           \
    }
#define ATOM(k, t, a, o) FLAGGED(k, t, a, ORDER_##o << EVF_ORDER_SHIFT)
#define C11(k, t, a, o)  FLAGGED(k, t, a, ORDER_##o << EVF_ORDER_SHIFT | EVF_C11)
#define TX(k, t, a)      FLAGGED(k, t, a, EVF_IN_TXN)
#define ON(k, t, a)                                                                                \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a)                                                    \
    }
#define SYS(k, t, a)                                                                               \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .flags = EVF_SYSTEM                               \
    }
#define BY(k, t)                                                                                   \
    {                                                                                              \
        .kind = EV_##k, .tid = (t)                                                                 \
    }
#define NAMING(k, t, u)                                                                            \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .aux = (u)                                                     \
    }
#define ROUND(k, t, a, n)                                                                          \
    {                                                                                              \
        .kind = EV_BARRIER_##k, .tid = (t), .addr = (a), .aux = (n)                                \
    }
#define WRITEVC(t, i, v)                                                                           \
    {                                                                                              \
        .kind = EV_WRITEVC, .tid = (t), .addr = (v), .aux = (i)                                    \
    }
#define CLEAR(t, a, n)                                                                             \
    {                                                                                              \
        .kind = EV_CLEAR, .tid = (t), .addr = (a), .aux = (n)                                      \
    }
#define COPY(t, to, from, n)                                                                       \
    {.kind = EV_COPY, .tid = (t), .addr = (to), .aux = (n), .flags = EVF_MORE},                    \
    {                                                                                              \
        .addr = (from)                                                                             \
    }

static void assert_legal(const struct event *s, size_t records)
{
    struct rules *r = rules_new(false);
    struct err e = {0};
    const char *why = NULL;
    uint64_t number = 0;

    for (size_t i = 0; i < records; i += event_records(&s[i]))
        if (event_well_formed(&s[i], &why) || rules_apply(r, &s[i], number++, &e))
            fail_msg("the test's stream is wrong: %s", why ? why : e.text);
    rules_free(r);
}

static inline void check(const struct event *s, size_t records, const struct oracle_options *o,
                         const char *want)
{
    struct oracle *got = oracle_new(s, records, o);
    char text[1000] = "";
    size_t at = 0;

    assert_legal(s, records);
    assert_non_null(got);
    for (size_t e = 0; e < oracle_events(got); e++)
        if (oracle_racy(got, e))
            at += (size_t)snprintf(text + at, sizeof text - at, at ? " %zu" : "%zu", e);
    oracle_free(got);
    assert_string_equal(text, want);
}

#define EVENTS(...) (const struct event[]){__VA_ARGS__}, ARRAY_SIZE(((struct event[]){__VA_ARGS__}))
#define RACES_IN(view, granule, all, want, ...)                                                    \
    check(EVENTS(__VA_ARGS__), &(struct oracle_options){all, granule, view}, want)
#define RACES(want, ...) RACES_IN(0, 4, false, want, __VA_ARGS__)

#endif
