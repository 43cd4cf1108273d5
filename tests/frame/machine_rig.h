/* machine_rig.h - a machine that policies can be asked on one event at a time: it has no caches, an
 * instruction takes a cycle and an access 100, and all that is asked of it is kept as text.
 *
 * In the log, c1 begins what core 1 asks from here on, iN are N instructions; L, S and A are loads,
 * stores and atomics, with their place (machine_place) and bytes. */
#ifndef LARDSIM_MACHINE_RIG_H
#define LARDSIM_MACHINE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/frame/cost.h"
#include "policy/frame/hb.h"

struct machine_rig {
    struct policy_machine machine;
    struct stats *stats;
    struct budget budget;
    struct policy_env env; /* of a policy; hb is the test's own */
    uint64_t number, instructions, accesses;
    unsigned core; /* that asked last */
    char log[1 << 15];
    size_t logged; /* more than log holds: it is cut */
    /* Called in the middle of each access, if any. */
    void (*meanwhile)(struct machine_rig *m, unsigned core, sim_addr a);
    void *arg;
};

static inline void machine_note(struct machine_rig *m, unsigned core, const char *text)
{
    char from[16] = "";

    if (core != m->core)
        snprintf(from, sizeof from, "%sc%u", m->logged ? " " : "", core);
    m->core = core;
    const int n = snprintf(m->log + m->logged, sizeof m->log - m->logged, "%s%s%s", from,
                           m->logged || *from ? " " : "", text);
    if (m->logged + (size_t)n < sizeof m->log)
        m->logged += (size_t)n;
}

/* Shadow: s+offset; blocks: h+offset; the heap's words: w+offset; clocks: k+offset; else @. */
static inline void machine_place(sim_addr a, char *to, size_t room)
{
    const uint64_t clocks = UINT64_C(1) << 57, words = COST_HEAP - (UINT64_C(1) << 20);

    if (a >= COST_HEAP)
        snprintf(to, room, "h+%llu", (unsigned long long)(a - COST_HEAP));
    else if (a >= words)
        snprintf(to, room, "w+%llu", (unsigned long long)(a - words));
    else if (a == words - 64)
        snprintf(to, room, "top");
    else if (a >= COST_SHADOW)
        snprintf(to, room, "s+%llu", (unsigned long long)(a - COST_SHADOW));
    else if (a >= clocks)
        snprintf(to, room, "k+%llx", (unsigned long long)(a - clocks));
    else
        snprintf(to, room, "@%llx", (unsigned long long)a);
}

static inline sim_cycle machine_exec(void *host, unsigned core, unsigned n, sim_cycle now)
{
    struct machine_rig *m = host;
    char text[32];

    if (n == 0)
        die("machine_rig: no instructions on core %u", core);
    m->instructions += n;
    snprintf(text, sizeof text, "i%u", n);
    machine_note(m, core, text);
    return now + n;
}

static inline sim_cycle machine_mem(void *host, unsigned core, sim_addr a, unsigned bytes,
                                    enum mem_cmd cmd, sim_cycle now)
{
    struct machine_rig *m = host;
    char place[32], text[64];

    if (bytes == 0 || (a & (m->machine.line - 1)) + bytes > m->machine.line)
        die("machine_rig: %u bytes at 0x%llx", bytes, (unsigned long long)a);
    m->accesses++;
    machine_place(a, place, sizeof place);
    snprintf(text, sizeof text, "%c:%s:%u", "LSA"[cmd], place, bytes);
    machine_note(m, core, text);
    if (m->meanwhile)
        m->meanwhile(m, core, a);
    return now + 100;
}

static inline void machine_rig_open(struct machine_rig *m, unsigned granule)
{
    *m = (struct machine_rig){.machine = {.cores = 4, .line = 64}, .stats = stats_new()};
    m->env = (struct policy_env){.stats = stats_root(m->stats),
                                 .budget = &m->budget,
                                 .number = &m->number,
                                 .granule = granule,
                                 .machine = &m->machine,
                                 .host = m,
                                 .exec = machine_exec,
                                 .mem = machine_mem};
}

static inline void machine_rig_close(struct machine_rig *m)
{
    stats_free(m->stats);
}

static inline void machine_forget(struct machine_rig *m) /* the log */
{
    m->logged = 0;
    m->log[0] = '\0';
    m->core = 0;
}

/* What has been asked since the log was last looked at. */
#define machine_says(m, ...)                                                                       \
    do {                                                                                           \
        assert_string_equal((m)->log, __VA_ARGS__);                                                \
        machine_forget(m);                                                                         \
    } while (0)

#endif
