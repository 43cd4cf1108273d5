/* runtime_rig.h - a modelled runtime under test: happens-before of its own, and a log of all that
 * it does, as text. */
#ifndef LARDSIM_RUNTIME_RIG_H
#define LARDSIM_RUNTIME_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/frame/hb.h"
#include "runtime/runtime_int.h"

#define RIG_BASE UINT64_C(0xa00000000000)

struct rig {
    struct stats *stats;
    struct runtime *runtime;
    struct hb *hb;
    unsigned core;
    sim_cycle now;
    struct vclock detector[64]; /* what the WriteVC say, by actor */
    bool known[64];             /* it has been given its own entry, 1 */
    struct event *txn[64];      /* owns; open transactions */
    size_t txns[64], txn_cap[64];
    char log[1 << 14];
    size_t logged; /* more than log holds: it is cut */
    uint64_t loads, stores, atomics, bytes, instructions, acts;
};

static inline void rig_note(struct rig *g, const char *text)
{
    const int n =
        snprintf(g->log + g->logged, sizeof g->log - g->logged, "%s%s", g->logged ? " " : "", text);

    if (g->logged + (size_t)n < sizeof g->log)
        g->logged += (size_t)n;
}

static inline sim_cycle rig_exec(void *host, unsigned core, unsigned n, sim_cycle now)
{
    struct rig *g = host;
    char text[32];

    if (core != g->core || n == 0)
        die("rig: %u instructions on core %u", n, core);
    g->instructions += n;
    snprintf(text, sizeof text, "i%u", n);
    rig_note(g, text);
    return now + n;
}

/* Heap: H+offset; thread words: T0, final ones: F0; lists: core.size; the heap's end: E; else @. */
static inline void rig_place(sim_addr a, char *to, size_t room)
{
    const uint64_t at = a - RIG_BASE;

    if (a < RIG_BASE)
        snprintf(to, room, "@%llx", (unsigned long long)a);
    else if (at == 0)
        snprintf(to, room, "E");
    else if (at >= RT_HEAP_AT)
        snprintf(to, room, "H+%llu", (unsigned long long)(at - RT_HEAP_AT));
    else if (at >= RT_THREADS_AT)
        snprintf(to, room, "%c%llu", at % 64 == 8 ? 'F' : 'T',
                 (unsigned long long)((at - RT_THREADS_AT) / 64));
    else
        snprintf(to, room, "%llu.%llu%s", (unsigned long long)((at - RT_LISTS_AT) / 256),
                 (unsigned long long)(at % 256 / 16), at % 16 ? "f" : "h");
}

static inline sim_cycle rig_mem(void *host, unsigned core, sim_addr a, unsigned bytes,
                                enum mem_cmd cmd, sim_cycle now)
{
    struct rig *g = host;
    char place[32], text[64];

    (void)core;
    rig_place(a, place, sizeof place);
    snprintf(text, sizeof text, "%c:%s:%u", "LSA"[cmd], place, bytes);
    rig_note(g, text);
    g->loads += cmd == MEM_LOAD;
    g->stores += cmd == MEM_STORE;
    g->atomics += cmd == MEM_ATOMIC;
    g->bytes += bytes;
    return now + 100;
}

/* The detector's clock of a thread starts as {own: 1}. The thread has entered. */
static inline struct vclock *rig_detector(struct rig *g, sim_tid tid)
{
    const uint32_t actor = hb_actor(g->hb, tid);

    if (!g->known[actor])
        vclock_set(&g->detector[actor], actor, 1, NULL);
    g->known[actor] = true;
    return &g->detector[actor];
}

static inline void rig_forget_thread(struct rig *g, sim_tid tid)
{
    const uint32_t actor = hb_actor(g->hb, tid);

    vclock_free(&g->detector[actor], NULL);
    g->known[actor] = false;
}

static inline sim_cycle rig_issue(void *host, unsigned core, sim_tid tid, const struct lx_act *act,
                                  sim_cycle now)
{
    struct rig *g = host;
    const unsigned long long v[3] = {act->value[0], act->value[1], act->value[2]};
    char text[80];

    (void)core;
    g->acts++;
    if (act->op == LX_THREAD)
        snprintf(text, sizeof text, "thread:%llu", v[0]);
    else if (act->op == LX_READVC || act->op == LX_WRITEVC)
        snprintf(text, sizeof text, "%c%llu=%llu", act->op == LX_READVC ? 'R' : 'W', v[0], v[1]);
    else if (act->op == LX_CLEARHISTORY)
        snprintf(text, sizeof text, "clear:%llx:%llu", v[0], v[1]);
    else
        snprintf(text, sizeof text, "copy:%llx:%llx:%llu", v[0], v[1], v[2]);
    rig_note(g, text);
    if (act->op == LX_WRITEVC)
        vclock_set(rig_detector(g, tid), (uint32_t)v[0], v[1], NULL);
    if (act->op == LX_READVC && vclock_get(rig_detector(g, tid), (uint32_t)v[0]) != v[1])
        die("rig: readvc %llu of thread %u is told %llu", v[0], tid, v[1]);
    return now;
}

static inline void rig_open_with(struct rig *g, struct runtime_params p, bool listens,
                                 unsigned view)
{
    memset(g, 0, sizeof *g);
    g->stats = stats_new();
    const struct runtime_env env = {
        .stats = stats_root(g->stats),
        .host = g,
        .exec = rig_exec,
        .mem = rig_mem,
        .issue = listens ? rig_issue : NULL,
    };
    g->runtime = runtime_new(&p, &env);
    g->hb = hb_new(view, GRANULE_FIELD, NULL);
}

static inline void rig_open(struct rig *g)
{
    rig_open_with(
        g,
        (struct runtime_params){.base = RIG_BASE, .page = 4096, .garbage = 0, .instructions = true},
        true, 0);
}

static inline void rig_close(struct rig *g)
{
    struct err e = {0};

    if (stats_check(g->stats, &e))
        die("%s", e.text);
    hb_free(g->hb);
    runtime_free(g->runtime);
    stats_free(g->stats);
    for (size_t i = 0; i < ARRAY_SIZE(g->detector); i++) {
        vclock_free(&g->detector[i], NULL);
        free(g->txn[i]);
    }
}

static inline void rig_lower(struct rig *g, const struct event *ev)
{
    g->now = runtime_lower(g->runtime, ev, g->core, hb_clock(g->hb, ev->tid),
                           hb_actor(g->hb, ev->tid), g->now);
}

static inline void rig_access(struct rig *g, const struct event *ev)
{
    const bool atomic = event_order(ev) != ORDER_NONE;
    const sim_tid t = ev->tid;

    if (ev->flags & EVF_IN_TXN) {
        g->txn[t] = xgrow(g->txn[t], g->txns[t], &g->txn_cap[t], sizeof *g->txn[t]);
        g->txn[t][g->txns[t]++] = *ev;
        return;
    }
    if (atomic)
        hb_atomic_before(g->hb, ev);
    if (atomic || runtime_pending(g->runtime, t))
        rig_lower(g, ev);
    if (atomic)
        hb_atomic_after(g->hb, ev);
}

static inline void rig_commit(struct rig *g, const struct event *ev)
{
    const sim_tid t = ev->tid;
    const size_t n = g->txns[t];

    g->txns[t] = 0;
    if (n)
        hb_commit_before(g->hb, ev, g->txn[t], n);
    for (size_t i = 0; i < n; i++)
        rig_lower(g, &g->txn[t][i]);
    if (n)
        hb_commit_after(g->hb, ev, g->txn[t], n);
    rig_lower(g, ev);
}

/* One event, as a checker with the view tracked would have it. */
static inline void rig_step(struct rig *g, const struct event *ev)
{
    const unsigned class = ev_info[ev->kind].class;

    hb_enter(g->hb, ev);
    if (class == CLASS_ACCESS) {
        rig_access(g, ev);
        return;
    }
    if (class == CLASS_MARK || (ev->flags & EVF_SYSTEM && class == CLASS_SYNC)) {
        hb_unheeded(g->hb, ev);
        return;
    }
    if (ev->kind == EV_TXN_COMMIT) {
        rig_commit(g, ev);
        return;
    }
    if (ev->kind == EV_CLEAR)
        hb_clear(g->hb, ev->addr, ev->aux);
    else if (ev->kind == EV_COPY)
        hb_copy(g->hb, ev->addr, ev[1].addr, ev->aux);
    else if (class != CLASS_HEAP)
        hb_sync(g->hb, ev);
    rig_lower(g, ev);
}

static inline void rig_step_on(struct rig *g, enum ev_kind kind, sim_tid tid, sim_addr addr)
{
    rig_step(g, &(struct event){.kind = (uint8_t)kind, .tid = tid, .addr = addr});
}
static inline void rig_step_naming(struct rig *g, enum ev_kind kind, sim_tid tid, uint64_t aux)
{
    rig_step(g, &(struct event){.kind = (uint8_t)kind, .tid = tid, .aux = aux});
}

static inline void rig_forget(struct rig *g) /* the log */
{
    g->logged = 0;
    g->log[0] = '\0';
}

/* Threads 0 to n - 1 begin: their clocks are at H+0, H+64, ... */
static inline void rig_begin(struct rig *g, sim_tid n)
{
    for (sim_tid t = 0; t < n; t++)
        rig_step_on(g, EV_NOTIFY, t, 0x1000);
    rig_forget(g);
}

/* What the last event did. */
#define rig_says(g, ...)                                                                           \
    do {                                                                                           \
        assert_string_equal((g)->log, __VA_ARGS__);                                                \
        rig_forget(g);                                                                             \
    } while (0)

#endif
