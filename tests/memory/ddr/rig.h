/* rig.h - the DDR model on a bench with a log of its commands, for tests. The device is
 * ddr4-3200 beside a processor of 1600 MHz, so that a processor cycle is a memory cycle: CL 22, CWL
 * 16, tRCD 22, tRP 22, tRAS 52, tRTP 12, tWR 24, tRRD 4/8, tFAW 34, tCCD 4/8, tWTR 4/12, tRTRS 1,
 * tRFC 560, a refresh each 6240, ranks in turn. A request is taken in in the cycle after its
 * own, as it comes at an edge, and its first command may go in the one after that. */
#ifndef LARDSIM_DDR_RIG_H
#define LARDSIM_DDR_RIG_H

#include "memory/ddr/ddr.h"
#include "tests/memory/bench.h"

enum { HIT = 2 + 22 + 4, MISS = HIT + 22, CONFLICT = MISS + 22, DATA = 22 + 4 };

static inline sim_addr place(unsigned rank, unsigned group, unsigned bank, unsigned row,
                             unsigned column)
{
    return (sim_addr)row << 18 | (sim_addr)rank << 17 | (sim_addr)bank << 15 |
           (sim_addr)group << 13 | (sim_addr)column << 6;
}

struct log {
    size_t n;
    struct {
        uint64_t cycle;
        enum ddr_command command;
        struct ddr_place at;
    } row[4096];
};

static inline void log_command(void *arg, uint64_t cycle, enum ddr_command c,
                               const struct ddr_place *at)
{
    struct log *l = arg;

    if (l->n == ARRAY_SIZE(l->row))
        return;
    l->row[l->n].cycle = cycle;
    l->row[l->n].command = c;
    l->row[l->n++].at = *at;
}

/* The cycle of the nth command (from 0) of a kind; CYCLE_NEVER: none. */
static inline uint64_t when(const struct log *l, enum ddr_command c, size_t nth)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->row[i].command == c && !nth--)
            return l->row[i].cycle;
    return CYCLE_NEVER;
}

struct rig {
    struct bench b;
    struct log log;
};

/* The nth command (from 0) of a kind goes in that cycle; CYCLE_NEVER: there is none. */
#define command_goes(r, command, nth, cycle)                                                       \
    number_is("the cycle of " #command " number " #nth, when(&(r)->log, command, nth), cycle)

static inline struct rig *rig_new(const char *const *settings)
{
    const char *all[8] = {"memory.ddr.config=ddr4-3200"};
    const struct memory_env env = {.mhz = 1600, .line = 64, .contention = true};
    struct rig *r = xcalloc(1, sizeof *r);

    for (size_t i = 0; settings && settings[i]; i++)
        all[i + 1] = settings[i];
    bench_open(&r->b, "ddr", env, all);
    ddr_watch(r->b.memory.self, (struct ddr_monitor){log_command, &r->log});
    return r;
}

static inline void rig_free(struct rig *r, sim_cycle end)
{
    bench_close(&r->b, end);
    free(r);
}

static inline void read_at(struct rig *r, sim_cycle at, sim_addr addr, uint64_t id)
{
    assert_true(bench_put(&r->b, at, addr, false, id) == CYCLE_NEVER);
}

static inline void write_at(struct rig *r, sim_cycle at, sim_addr addr)
{
    assert_true(bench_put(&r->b, at, addr, true, 0) == CYCLE_NEVER);
}

static inline void run_until(struct rig *r, sim_cycle until)
{
    struct mem_answer a;

    assert_false(bench_step(&r->b, until, &a));
}

#endif
