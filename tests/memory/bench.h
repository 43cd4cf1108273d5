/* bench.h - a memory on a bench, for tests: opened by name with a few settings, requests put
 * in, answers taken out. */
#ifndef LARDSIM_MEMORY_BENCH_H
#define LARDSIM_MEMORY_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/memory.h"
#include "tests/frame/number.h"

struct bench {
    struct config *config;
    struct stats *stats;
    struct memory memory;
    struct memory_env env;
};

static inline const struct memory_type *memory_named(const char *name)
{
    size_t i = 0;

    while (strcmp(memory_types[i]->name, name) != 0)
        i++;
    return memory_types[i];
}

/* env: without statistics. Settings end in NULL: "memory.ddr.page=closed", ... 0, or -1 with an
 * error. */
static inline int bench_try(struct bench *b, const char *name, struct memory_env env,
                            const char *const *settings, struct err *e)
{
    *b = (struct bench){.config = config_new(NULL), .stats = stats_new(), .env = env};
    b->env.stats = stats_group(stats_root(b->stats), "memory");
    for (; settings && *settings; settings++)
        assert_int_equal(config_set(b->config, *settings, e), 0);
    return memory_open(&b->memory, memory_named(name), b->config, &b->env, e);
}

static inline void bench_open(struct bench *b, const char *name, struct memory_env env,
                              const char *const *settings)
{
    struct err e = {0};

    if (bench_try(b, name, env, settings, &e))
        fail_msg("%s", e.text);
}

static inline void bench_free(struct bench *b)
{
    memory_close(&b->memory);
    stats_free(b->stats);
    config_free(b->config);
}

static inline void bench_finish(struct bench *b, sim_cycle end)
{
    struct err e = {0};

    if (b->memory.type->finish)
        b->memory.type->finish(b->memory.self, end);
    if (stats_check(b->stats, &e))
        fail_msg("%s", e.text);
}

static inline void bench_close(struct bench *b, sim_cycle end)
{
    bench_finish(b, end);
    bench_free(b);
}

static inline sim_cycle bench_put(struct bench *b, sim_cycle at, sim_addr addr, bool write,
                                  uint64_t id)
{
    const struct mem_request r = {paddr_of(addr), id, at, write, TRAFFIC_DATA};

    return b->memory.type->request(b->memory.self, &r);
}

static inline bool bench_step(struct bench *b, sim_cycle until, struct mem_answer *a)
{
    return b->memory.type->step(b->memory.self, until, a);
}

static inline uint64_t bench_stat(const struct bench *b, const char *name)
{
    char *full = xasprintf("memory.%s", name);
    uint64_t v = 0;

    if (!stats_value(b->stats, full, &v))
        fail_msg("no statistic %s", full);
    free(full);
    return v;
}

#define bench_counts(b, name, n) number_is("memory." name, bench_stat(b, name), n)

/* The next answer is to `id` and comes at `at`, not a cycle earlier. */
static inline void bench_expect(struct bench *b, uint64_t id, sim_cycle at)
{
    struct mem_answer a = {0};

    if (bench_step(b, at - 1, &a))
        fail_msg("answer to %llu at %llu, before %llu", (unsigned long long)a.id,
                 (unsigned long long)a.at, (unsigned long long)at);
    assert_true(b->memory.type->next(b->memory.self) <= at);
    if (!bench_step(b, at, &a))
        fail_msg("no answer by %llu", (unsigned long long)at);
    assert_int_equal(a.at, at);
    assert_int_equal(a.id, id);
}

#endif
