/* rig.h - for tests of the protocol: processes with small pages, and costs that tell each action
 * apart. It judges nothing itself. */
#ifndef LARDSIM_DSM_RIG_H
#define LARDSIM_DSM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/coherence/dsm/check.h"

struct rig {
    struct dsm *d;
    struct config *config;
    struct stats *stats;
    sim_cycle now; /* of all processes: a call begins when the one before is done */
};

/* settings: "host=1 send=10", of section dsm; a cycle is a ns. */
static inline struct rig *rig_new(unsigned processes, uint64_t page, const char *settings)
{
    struct rig *r = calloc(1, sizeof *r);
    struct err e = {0};
    char one[60], set[80];
    int used;

    r->config = config_new(NULL);
    r->stats = stats_new();
    for (; sscanf(settings, " %59s%n", one, &used) == 1; settings += used) {
        snprintf(set, sizeof set, "dsm.%s", one);
        if (config_set(r->config, set, &e))
            fail_msg("%s", e.text);
    }
    r->d = dsm_new(&(struct dsm_env){.stats = r->stats,
                                     .config = r->config,
                                     .processes = processes,
                                     .page = page,
                                     .frequency = 1000,
                                     .contents = true},
                   &e);
    if (!r->d)
        fail_msg("%s", e.text);
    return r;
}

static inline void rig_free(struct rig *r)
{
    struct err e = {0};

    dsm_check(r->d);
    if (stats_check(r->stats, &e))
        fail_msg("%s", e.text);
    dsm_free(r->d);
    stats_free(r->stats);
    config_free(r->config);
    free(r);
}

/* A word of the shared memory, through faults if there are any. */
static inline uint32_t rig_load(struct rig *r, unsigned process, sim_addr addr)
{
    while (!dsm_access(r->d, process, vaddr_of(addr), 4, false))
        r->now = dsm_fault(r->d, process, vaddr_of(addr), false, r->now);
    return dsm_load(r->d, process, vaddr_of(addr));
}
static inline void rig_store(struct rig *r, unsigned process, sim_addr addr, uint32_t value)
{
    while (!dsm_access(r->d, process, vaddr_of(addr), 4, true))
        r->now = dsm_fault(r->d, process, vaddr_of(addr), true, r->now);
    dsm_store(r->d, process, vaddr_of(addr), value);
}
static inline void rig_lock(struct rig *r, unsigned process, sim_addr lock, bool shared)
{
    r->now = dsm_lock(r->d, process, vaddr_of(lock), shared, r->now, r->now);
}
static inline void rig_unlock(struct rig *r, unsigned process, sim_addr lock)
{
    r->now = dsm_unlock(r->d, process, vaddr_of(lock), r->now);
}
/* All processes, at once. */
static inline void rig_barrier(struct rig *r, unsigned processes)
{
    sim_cycle last = r->now;

    for (unsigned p = 0; p < processes; p++) {
        const sim_cycle at = dsm_arrive(r->d, p, vaddr_of(0x9000), r->now);
        last = at > last ? at : last;
    }
    r->now = last;
    for (unsigned p = 0; p < processes; p++) {
        const sim_cycle at = dsm_depart(r->d, p, vaddr_of(0x9000), r->now);
        last = at > last ? at : last;
    }
    r->now = last;
}

static inline uint64_t rig_stat(const struct rig *r, const char *name)
{
    uint64_t value;

    if (!stats_value(r->stats, name, &value))
        fail_msg("no statistic %s", name);
    return value;
}
/* "dsm.twins=1 dsm.diffs-made=0": each holds; all that differ are told. */
static inline void rig_want(const struct rig *r, const char *want)
{
    char name[80];
    unsigned long long value;
    int bad = 0, used;

    for (; sscanf(want, " %79[^= ]=%llu%n", name, &value, &used) == 2; want += used) {
        const uint64_t is = rig_stat(r, name);
        if (is != value && ++bad)
            print_error("%s: %llu expected, %llu found\n", name, value, (unsigned long long)is);
    }
    assert_int_equal(*want, 0);
    if (bad)
        fail_msg("%d differ", bad);
}

#endif
