/* execute.c - what an instruction is as events: one that executes is one event, or two (a move is a
 * copy and a clear). */
#include <assert.h>

#include "tests/isa/lardx86/codec.h"

struct lx_act lx_evaluate(const struct lx_insn *i, const uint64_t reg[LX_REGISTERS])
{
    struct lx_act a = {.op = i->op};

    assert(lx_valid(i));
    if (i->op == LX_TRACKED) {
        const struct lx_memory *m = &i->mem;
        const uint64_t index = m->index == LX_NO_INDEX ? 0 : reg[m->index];
        a.access = lx_carrier_info[i->carrier].access;
        a.value[0] = reg[m->base] + index * m->scale + (uint64_t)(int64_t)m->disp;
        a.value[1] = i->width;
        return a;
    }
    for (unsigned k = 0; k < LX_OPERANDS && lx_info[i->op].operand[k]; k++)
        a.value[k] = reg[i->reg[k]];
    return a;
}

/* ---- to events ------------------------------------------------------------------------------ */

static int access_event(const struct lx_act *a, struct event *ev, struct err *e)
{
    const unsigned order = a->access == EV_RMW ? ORDER_RELAXED : ORDER_NONE;

    assert(a->access == EV_READ || a->access == EV_WRITE || a->access == EV_RMW);
    if (a->value[1] > UINT32_MAX)
        return err_set(e, LARD_TRACE, "lardx86: an access of %llu bytes; it has 1 to 65536",
                       (unsigned long long)a->value[1]);
    ev->kind = a->access;
    ev->addr = a->value[0];
    ev->size = (uint32_t)a->value[1];
    ev->flags = (uint16_t)(order << EVF_ORDER_SHIFT | (a->plain ? EVF_SYSTEM : 0));
    return 1;
}

static int thread_event(const struct lx_act *a, const struct lx_place *at, struct event *ev,
                        struct err *e)
{
    if (a->value[0] >= MAX_THREADS)
        return err_set(e, LARD_TRACE, "lardx86: thread: there is no thread %llu; they are below %d",
                       (unsigned long long)a->value[0], MAX_THREADS);
    ev->kind = EV_THREAD;
    ev->tid = (sim_tid)a->value[0];
    ev->aux = at->kernel;
    return 1;
}

static int clock_event(const struct lx_act *a, struct event *ev)
{
    ev->kind = a->op == LX_READVC ? EV_READVC : EV_WRITEVC;
    ev->aux = a->value[0];
    ev->addr = a->value[1];
    return 1;
}

bool lx_region_fits(sim_addr addr, uint64_t size, uint64_t page)
{
    assert(page && !(page & (page - 1)));
    return size <= page && (addr & (page - 1)) <= page - size;
}

/* 0, or -1: the region breaks the page rule. */
static int fits(const struct lx_act *a, sim_addr addr, uint64_t size, uint64_t page, struct err *e)
{
    if (lx_region_fits(addr, size, page))
        return 0;
    return err_set(e, LARD_TRACE,
                   "lardx86: %s: the %llu bytes from 0x%llx leave their page of %llu bytes; a "
                   "region lies in one page, so the runtime has to split it",
                   lx_info[a->op].text, (unsigned long long)size, (unsigned long long)addr,
                   (unsigned long long)page);
}

static int clear_event(sim_addr addr, uint64_t size, struct event *ev)
{
    if (size == 0)
        return 0;
    ev->kind = EV_CLEAR;
    ev->addr = addr;
    ev->aux = size;
    return 1;
}

static int copy_event(const struct lx_act *a, struct event *ev)
{
    if (a->value[2] == 0)
        return 0;
    ev->kind = EV_COPY;
    ev->flags = EVF_MORE;
    ev->addr = a->value[1];
    ev->aux = a->value[2];
    ev[1].addr = a->value[0];
    return 2;
}

/* A move clears the part of its source that its destination does not cover: all, or one end. */
static int left_behind(const struct lx_act *a, struct event *ev)
{
    const uint64_t src = a->value[0], dst = a->value[1], size = a->value[2];

    if (dst - src < size)
        return clear_event(src, dst - src, ev);
    if (src - dst < size)
        return clear_event(dst + size, src - dst, ev);
    return clear_event(src, size, ev);
}

static int region_events(const struct lx_act *a, const struct lx_place *at, struct event *ev,
                         struct err *e)
{
    const uint64_t *v = a->value;

    if (a->op == LX_CLEARHISTORY)
        return fits(a, v[0], v[1], at->page, e) ? -1 : clear_event(v[0], v[1], ev);
    if (fits(a, v[0], v[2], at->page, e) || fits(a, v[1], v[2], at->page, e))
        return -1;
    const int n = copy_event(a, ev);
    return a->op == LX_MOVEHISTORY && n > 0 ? n + left_behind(a, ev + n) : n;
}

static int any_events(const struct lx_act *a, const struct lx_place *at, struct event *ev,
                      struct err *e)
{
    switch ((enum lx_op)a->op) {
    case LX_TRACKED:
        return access_event(a, ev, e);
    case LX_THREAD:
        return thread_event(a, at, ev, e);
    case LX_READVC:
    case LX_WRITEVC:
        return clock_event(a, ev);
    case LX_CLEARHISTORY:
    case LX_COPYHISTORY:
    case LX_MOVEHISTORY:
        return region_events(a, at, ev, e);
    case LX_OPS:
        break;
    }
    die("lardx86: instruction %d", (int)a->op);
}

int lx_events(const struct lx_act *a, const struct lx_place *at, struct event ev[LX_MAX_RECORDS],
              struct err *e)
{
    const char *what;

    for (unsigned i = 0; i < LX_MAX_RECORDS; i++)
        ev[i] = (struct event){.zero = {0}};
    const int n = any_events(a, at, ev, e);
    for (int i = 0; i < n; i += (int)event_records(&ev[i])) {
        if (ev[i].kind != EV_THREAD)
            ev[i].tid = at->thread;
        if (event_well_formed(&ev[i], &what))
            return err_set(e, LARD_TRACE, "lardx86: %s: %s", lx_info[a->op].text, what);
    }
    return n;
}
