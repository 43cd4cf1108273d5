/* watch.h - runs a policy over a stream and keeps all that it says: each race, and the location of
 * each earlier access that it races with. And how tests write events by hand. */
#ifndef LARDSIM_WATCH_H
#define LARDSIM_WATCH_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/checker.h"
#include "tests/frame/verdict.h"

/* ---- events by hand ------------------------------------------------------------------------- */

#define EV_SIZED(k, t, a, n)                                                                       \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = (n)                                       \
    }
#define EV_READ4(t, a)  EV_SIZED(READ, t, a, 4)
#define EV_WRITE4(t, a) EV_SIZED(WRITE, t, a, 4)
#define EV_IN_TXN(k, t, a)                                                                         \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .flags = EVF_IN_TXN                    \
    }
#define EV_ON(k, t, a)                                                                             \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a)                                                    \
    }
#define EV_NAMING(k, t, u)                                                                         \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .aux = (u)                                                     \
    }
#define EV_REGION(k, t, a, n)                                                                      \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .aux = (n)                                        \
    }
#define EV_MOVE(t, to, from, n)                                                                    \
    {.kind = EV_COPY, .tid = (t), .addr = (to), .aux = (n), .flags = EVF_MORE},                    \
    {                                                                                              \
        .addr = (from)                                                                             \
    }
#define EVENTS(...) (const struct event[]){__VA_ARGS__}, ARRAY_SIZE(((struct event[]){__VA_ARGS__}))

/* ---- a run ---------------------------------------------------------------------------------- */

struct watch_conflict {
    uint64_t event;
    sim_addr location;
    struct event access; /* as the policy gave it; kind 0: it gave none */
    struct race_side earlier;
};
struct watch {
    struct config *config;
    struct stats *stats;
    struct checker *checker;
    uint64_t number;
    struct err err;
    struct race *race; /* owns; in order of events */
    size_t races, race_cap;
    struct watch_conflict *conflict; /* owns; as they come */
    size_t conflicts, conflict_cap;
};

static inline void watch_race(void *arg, const struct race *race)
{
    struct watch *w = arg;

    w->race = xgrow(w->race, w->races, &w->race_cap, sizeof *w->race);
    w->race[w->races++] = *race;
}

static inline void watch_conflict(void *arg, const char *label, const struct event *ev,
                                  sim_addr location, const struct race_side *earlier)
{
    struct watch *w = arg;

    (void)label;
    w->conflict = xgrow(w->conflict, w->conflicts, &w->conflict_cap, sizeof *w->conflict);
    w->conflict[w->conflicts++] =
        (struct watch_conflict){w->number, location, ev ? *ev : (struct event){0}, *earlier};
}

/* settings: of the policy, labelled a, as in "view=tracked"; NULL ends them. on: has the machine
 * that it runs on. */
static inline void watch_open_on(struct watch *w, const char *policy, unsigned granule,
                                 const char *const *settings, const struct checker_env *on)
{
    char *spec = xasprintf("a=%s", policy);

    *w = (struct watch){.config = config_new(NULL), .stats = stats_new()};
    for (; *settings; settings++) {
        char *text = xasprintf("policy.a.%s", *settings);
        if (config_set(w->config, text, &w->err))
            die("%s", w->err.text);
        free(text);
    }
    const struct checker_env env = {.config = w->config,
                                    .stats = w->stats,
                                    .number = &w->number,
                                    .granule = granule,
                                    .lines = UINT64_MAX,
                                    .on_race = watch_race,
                                    .on_conflict = watch_conflict,
                                    .on_race_arg = w,
                                    .err = &w->err,
                                    .machine = on->machine,
                                    .host = on->host,
                                    .exec = on->exec,
                                    .mem = on->mem};
    w->checker = checker_new(spec, &env, &w->err);
    if (!w->checker)
        die("%s", w->err.text);
    free(spec);
}

static inline void watch_open(struct watch *w, const char *policy, unsigned granule,
                              const char *const *settings)
{
    const struct checker_env nothing = {.machine = NULL};

    watch_open_on(w, policy, granule, settings, &nothing);
}

/* Up to the end, or until the policy can't go on. */
static inline void watch_run(struct watch *w, const struct event *rec, size_t records)
{
    struct err invariant = {0};

    for (const struct event *ev = rec; ev < rec + records && !w->err.code;)
        ev = checker_run(w->checker, ev, rec + records, rec + records, &w->number);
    w->number += w->err.code != 0; /* what stops it has been run */
    checker_finish(w->checker);
    if (stats_check(w->stats, &invariant))
        die("%s", invariant.text);
}

static inline uint64_t watch_stat(const struct watch *w, const char *name)
{
    char *full = xasprintf("policy.a.%s", name);
    uint64_t value = 0;

    if (!stats_value(w->stats, full, &value))
        die("no statistic %s", full);
    free(full);
    return value;
}

static inline void watch_close(struct watch *w)
{
    checker_free(w->checker);
    config_free(w->config);
    stats_free(w->stats);
    free(w->race);
    free(w->conflict);
}

/* The numbers of the racy events, as "3 7". */
static inline const char *watch_racy(const struct watch *w, char *to, size_t room)
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < w->races && at < room; i++)
        at += (size_t)snprintf(to + at, room - at, at ? " %llu" : "%llu",
                               (unsigned long long)w->race[i].is.event);
    return to;
}

/* ---- random streams ------------------------------------------------------------------------- */

static inline uint64_t watch_between(struct rng *r, uint64_t low, uint64_t high)
{
    return low + rng_below(r, high - low + 1);
}

/* Small and dense, all kinds of events but raw ones; heap events are aligned to 8. */
static inline void watch_synth(struct rng *r, struct stream *s, const char *more)
{
    struct err e = {0};
    char *spec = xasprintf(
        "synth:seed=%llu,events=%llu,threads=%llu,variables=%llu,fields=%llu,stride=4,"
        "sizes=1,2,4,8,16,unaligned=200,privates=1,locks=%llu,volatiles=1,atomics=1,classes=1,"
        "sharing=900,discipline=%llu,read_share=%llu,sync_share=%llu,rw_share=%llu,"
        "nested_share=300,wait_share=100,txn_share=%llu,heap_share=%llu,gc_share=200,"
        "system_share=%llu,flag_share=50,end_share=20,kernel_threads=%llu,granularity=8,"
        "run_max=%llu,names=off,racy=200%s",
        (unsigned long long)rng_next(r) >> 1, (unsigned long long)watch_between(r, 60, 300),
        (unsigned long long)watch_between(r, 2, 5), (unsigned long long)watch_between(r, 1, 10),
        (unsigned long long)watch_between(r, 1, 6), (unsigned long long)watch_between(r, 1, 4),
        (unsigned long long)watch_between(r, 0, 1000),
        (unsigned long long)watch_between(r, 200, 800),
        (unsigned long long)watch_between(r, 50, 500), (unsigned long long)watch_between(r, 0, 800),
        (unsigned long long)rng_below(r, 2) * 80, (unsigned long long)rng_below(r, 2) * 150,
        (unsigned long long)rng_below(r, 3) * 100, (unsigned long long)rng_below(r, 3),
        (unsigned long long)watch_between(r, 1, 8), more);
    struct source *from = source_open(spec, &e);

    if (!from || stream_read(s, from, &e))
        die("%s", e.text);
    source_close(from);
    free(spec);
}

#endif
