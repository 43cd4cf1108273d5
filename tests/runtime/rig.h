/* rig.h - a modelled runtime under test: happens-before of its own, and what it asks of the
 * machine, in words (tests/frame/charges.h): the steps of runtime/steps.def, and places by the
 * names that rig_place gives. */
#ifndef LARDSIM_RUNTIME_RIG_H
#define LARDSIM_RUNTIME_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hb/hb.h"
#include "runtime/runtime_int.h"
#include "tests/frame/charges.h"

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
    struct charges asked;
    uint64_t loads, stores, atomics, bytes, instructions, acts;
};

static inline sim_cycle rig_exec(void *host, unsigned core, unsigned n, sim_cycle now)
{
    struct rig *g = host;

    if (core != g->core || n == 0)
        die("rig: %u instructions on core %u", n, core);
    g->instructions += n;
    charges_instructions(&g->asked, core, n);
    return now + n;
}

/* The objects of the tests; the next 16 bytes are a lock's read word. */
enum {
    LOCK = 0x1000,
    OTHER = 0x2000,
    FIELD = 0x3000,
    BARRIER = 0x4000,
    ROUND = 7, /* of the barrier */
    VARIABLE_X = 0x7000,
    VARIABLE_Y = 0x7020,
    MOVED = 0x8000
};
static const struct rig_object {
    sim_addr at;
    const char *name;
} rig_objects[] = {{LOCK, "lock"},       {OTHER, "other lock"}, {FIELD, "field"},
                   {BARRIER, "barrier"}, {VARIABLE_X, "x"},     {VARIABLE_Y, "y"},
                   {MOVED, "moved lock"}};

/* "lock's word", "lock's read word"; of an access to an object and its word at once: "field". */
static inline void rig_place_of_object(sim_addr a, char *to, size_t room)
{
    const sim_addr own = a & ~UINT64_C(15);

    for (size_t i = 0; i < ARRAY_SIZE(rig_objects); i++)
        if (own == rig_objects[i].at || own == rig_objects[i].at + 16) {
            snprintf(to, room, "%s%s%s", rig_objects[i].name, a == own ? "" : "'s",
                     a == own                   ? ""
                     : own == rig_objects[i].at ? " word"
                                                : " read word");
            return;
        }
    snprintf(to, room, "%llx", (unsigned long long)a);
}

static inline bool rig_in_clock(const struct rt_clock *c, sim_addr a, const char *whose,
                                const char *which, char *to, size_t room)
{
    if (!c->at.at || a - c->at.at >= (uint64_t)RT_LINE << c->size)
        return false;
    if (a == c->at.at)
        snprintf(to, room, "%s's %s", whose, which);
    else
        snprintf(to, room, "%s's %s+%llu", whose, which, (unsigned long long)(a - c->at.at));
    return true;
}

/* Whose clock the block is, once the event has taken effect: "thread 0's clock", "lock's clock",
 * "x's clock+64"; "block+128": one that nobody has any more. */
static inline void rig_place_in_heap(const struct rig *g, sim_addr a, char *to, size_t room)
{
    const struct runtime *r = g->runtime;
    const struct rt_object *o;
    char whose[24];

    for (uint32_t i = 0; i < r->actors; i++) {
        snprintf(whose, sizeof whose, "thread %u", i);
        if (rig_in_clock(&r->actor[i], a, whose, "clock", to, room))
            return;
    }
    for (uint32_t i = 0; i < r->threads; i++) {
        snprintf(whose, sizeof whose, "thread %u", i);
        if (rig_in_clock(&r->thread[i].birth, a, whose, "first clock", to, room) ||
            rig_in_clock(&r->thread[i].final, a, whose, "final clock", to, room))
            return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(rig_objects); i++)
        for (unsigned kind = OBJECT_LOCK; kind <= OBJECT_COMMIT; kind++) {
            o = sync_object_find(&r->objects, kind, rig_objects[i].at,
                                 kind == OBJECT_BARRIER ? ROUND : 0);
            if (o && (rig_in_clock(&o->write, a, rig_objects[i].name, "clock", to, room) ||
                      rig_in_clock(&o->read, a, rig_objects[i].name, "read clock", to, room)))
                return;
        }
    snprintf(to, room, "block+%llu", (unsigned long long)(a - RIG_BASE - RT_HEAP_AT));
}

/* docs/runtime.md draws the memory. "free of 64": where a core has its free blocks of 64 bytes, and
 * in 16 bytes at once the next fresh one, which is "fresh of 64" alone. */
static inline void rig_place(const struct rig *g, sim_addr a, char *to, size_t room)
{
    const uint64_t at = a - RIG_BASE;

    if (a < RIG_BASE)
        rig_place_of_object(a, to, room);
    else if (at == 0)
        snprintf(to, room, "heap's end");
    else if (at >= RT_HEAP_AT)
        rig_place_in_heap(g, a, to, room);
    else if (at >= RT_THREADS_AT)
        snprintf(to, room, "thread %llu's %sword",
                 (unsigned long long)((at - RT_THREADS_AT) / RUNTIME_WORDS),
                 at % RUNTIME_WORDS ? "final " : "");
    else {
        const unsigned core = (unsigned)((at - RT_LISTS_AT) / RT_LIST_BYTES);
        snprintf(to, room, "%s of %u", at % 16 ? "fresh" : "free",
                 RT_LINE << at % RT_LIST_BYTES / 16);
        if (core != g->core)
            snprintf(to, room, "core %u's list", core);
    }
}

static inline sim_cycle rig_mem(void *host, unsigned core, struct paddr a, unsigned bytes,
                                enum mem_cmd cmd, sim_cycle now)
{
    struct rig *g = host;
    char place[80];

    rig_place(g, a.at, place, sizeof place);
    charges_access(&g->asked, core, cmd, place, bytes);
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

    g->acts++;
    if (act->op == LX_THREAD)
        snprintf(text, sizeof text, "thread %llu", v[0]);
    else if (act->op == LX_READVC || act->op == LX_WRITEVC)
        snprintf(text, sizeof text, "%s %llu = %llu", act->op == LX_READVC ? "readvc" : "writevc",
                 v[0], v[1]);
    else if (act->op == LX_CLEARHISTORY)
        snprintf(text, sizeof text, "clearhistory %llx:%llu", v[0], v[1]);
    else
        snprintf(text, sizeof text, "copyhistory %llx from %llx:%llu", v[0], v[1], v[2]);
    charges_other(&g->asked, core, text);
    if (act->op == LX_WRITEVC)
        vclock_set(rig_detector(g, tid), (uint32_t)v[0], v[1], NULL);
    if (act->op == LX_READVC && vclock_get(rig_detector(g, tid), (uint32_t)v[0]) != v[1])
        die("rig: readvc %llu of thread %u is told %llu", v[0], tid, v[1]);
    return now;
}

static const struct charge_step rig_steps[] = {
#define RT_STEP(NAME, label, n, needs, text) {.name = label, .instructions = n},
#include "runtime/steps.def"
#undef RT_STEP
};

static inline uint64_t rig_counted(const void *rig, const char *step)
{
    const struct rig *g = rig;

    for (size_t i = 0; i < ARRAY_SIZE(rig_steps); i++)
        if (!strcmp(rig_steps[i].name, step))
            return g->runtime->st.steps[i];
    die("rig: there is no step %s", step);
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
    g->asked = (struct charges){.free = !p.instructions, .counted = rig_counted, .arg = g};
    for (size_t i = 0; i < ARRAY_SIZE(rig_steps); i++)
        charges_step(&g->asked, rig_steps[i].name, rig_steps[i].instructions);
    charges_forget(&g->asked);
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
    charges_free(&g->asked);
    for (size_t i = 0; i < ARRAY_SIZE(g->detector); i++) {
        vclock_free(&g->detector[i], NULL);
        free(g->txn[i]);
    }
}

/* A test of a rig as rig_open has it, in *state. */
static inline int rig_set_up(void **state)
{
    *state = xcalloc(1, sizeof(struct rig));
    rig_open(*state);
    return 0;
}

static inline int rig_tear_down(void **state)
{
    rig_close(*state);
    free(*state);
    return 0;
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_set_up, rig_tear_down)

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

static inline void rig_forget(struct rig *g) /* what was asked up to here */
{
    charges_forget(&g->asked);
}

/* Threads 0 to n - 1 begin: their clocks are the heap's first blocks */
static inline void rig_begin(struct rig *g, sim_tid n)
{
    for (sim_tid t = 0; t < n; t++)
        rig_step_on(g, EV_NOTIFY, t, 0x1000);
    rig_forget(g);
}

/* What the events since have asked for. */
#define rig_says(g, expected) charges_are(&(g)->asked, expected)

#endif
