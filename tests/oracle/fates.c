/* fates.c - see fates.h. A location is a set of accesses. What happens to the set is written down
 * as it happens, and never taken back. */
#include "tests/oracle/fates.h"

#include <stdlib.h>
#include <string.h>

struct member { /* of a set */
    size_t event, actor;
    uint8_t op;
    bool atomic;
};
struct place { /* a location, now */
    sim_addr addr;
    struct member *in;
    size_t n;
    bool off, raced; /* raced: with the event in hand */
    bool shared;     /* fasttrack: its reads are a vector */
};
struct written { /* what became of an access at a place */
    size_t at, event, by;
    sim_addr addr;
    enum memory_fate fate;
    uint8_t op;
    bool brought; /* from another place */
};
struct switched { /* off or on, after the event */
    size_t at;
    sim_addr addr;
    bool off;
};
struct memory {
    struct memory_options o;
    const struct oracle *before;
    size_t now;
    struct place *place;
    size_t places, places_cap;
    struct written *log;
    size_t logs, log_cap;
    struct switched *off;
    size_t offs, off_cap;
    struct event *open; /* of all transactions */
    size_t opens, open_cap;
    size_t kernel[64]; /* by thread: 1 + kernel thread; 0: none */
};

static void *more(void *of, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return of;
    *cap = *cap ? 2 * *cap : 16;
    of = realloc(of, *cap * bytes);
    if (!of)
        abort();
    return of;
}

/* ---- places ---------------------------------------------------------------------------------- */

static struct place *place_at(struct memory *m, sim_addr addr)
{
    for (size_t i = 0; i < m->places; i++)
        if (m->place[i].addr == addr)
            return &m->place[i];
    m->place = more(m->place, m->places, &m->places_cap, sizeof *m->place);
    m->place[m->places] = (struct place){.addr = addr};
    return &m->place[m->places++];
}

static bool has(const struct place *p, size_t event, uint8_t op)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->in[i].event == event && p->in[i].op == op)
            return true;
    return false;
}

static void set_off(struct memory *m, struct place *p, bool off)
{
    if (p->off == off)
        return;
    p->off = off;
    m->off = more(m->off, m->offs, &m->off_cap, sizeof *m->off);
    m->off[m->offs++] = (struct switched){m->now, p->addr, off};
}

static void write_down(struct memory *m, sim_addr addr, size_t event, uint8_t op,
                       enum memory_fate fate, size_t by, bool brought)
{
    m->log = more(m->log, m->logs, &m->log_cap, sizeof *m->log);
    m->log[m->logs++] = (struct written){m->now, event, by, addr, fate, op, brought};
}

static void take_out(struct memory *m, struct place *p, size_t i, enum memory_fate fate)
{
    const struct member x = p->in[i];

    p->in[i] = p->in[--p->n];
    if (!has(p, x.event, x.op))
        write_down(m, p->addr, x.event, x.op, fate, m->now, false);
}

static void put_in(struct memory *m, struct place *p, struct member x)
{
    p->in = realloc(p->in, (p->n + 1) * sizeof *p->in);
    if (!p->in)
        abort();
    p->in[p->n++] = x;
    write_down(m, p->addr, x.event, x.op, MEMORY_HAS, 0, false);
}

/* ---- an access ------------------------------------------------------------------------------- */

static bool writes(uint8_t op)
{
    return op == EV_WRITE || op == EV_RMW;
}

/* Who acts: with no-thread the kernel thread. */
static size_t actor(const struct memory *m, sim_tid tid)
{
    const size_t k = tid < 64 ? m->kernel[tid] : 0;

    return m->o.view & ORACLE_NO_THREAD && k ? 1000 + k : tid;
}

static bool before(const struct memory *m, const struct member *x, const struct member *now)
{
    return x->event == now->event || oracle_before(m->before, x->event, now->event);
}

static bool races(const struct memory *m, const struct place *p, const struct member *now)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct member *x = &p->in[i];
        if (m->o.kind == MEMORY_CLEAN && !writes(x->op))
            continue;
        if ((writes(x->op) || writes(now->op)) && !(x->atomic && now->atomic) && !before(m, x, now))
            return true;
    }
    return false;
}

/* Whether the member makes room for the access. */
static bool makes_room(const struct memory *m, const struct place *p, const struct member *x,
                       const struct member *now)
{
    const bool own = x->actor == now->actor,
               alike = writes(x->op) == writes(now->op) && x->atomic == now->atomic;

    switch (m->o.kind) {
    case MEMORY_ALL:
        return own && alike;
    case MEMORY_LAST:
    case MEMORY_CLEAN:
        return writes(now->op) || (own && alike);
    case MEMORY_FASTTRACK:
        if (writes(now->op))
            return true;
        if (writes(x->op))
            return false;
        if (p->shared)
            return own && alike;
        return before(m, x, now) && !(now->atomic && !x->atomic);
    }
    return false;
}

static void access_at(struct memory *m, sim_addr addr, const struct event *ev)
{
    struct place *p = place_at(m, addr);
    const struct member now = {m->now, actor(m, ev->tid), ev->kind, ev->flags & EVF_ORDER_MASK};
    const unsigned skipped = m->o.view & ORACLE_ALL_MEMORY
                                 ? EVF_STACK
                                 : EVF_STACK | EVF_SYSTEM | EVF_FINAL | EVF_VOLATILE;

    if (ev->flags & skipped) {
        if (!has(p, m->now, ev->kind))
            write_down(m, addr, m->now, ev->kind, MEMORY_UNCHECKED, 0, false);
        return;
    }
    if (p->off) {
        write_down(m, addr, m->now, ev->kind, MEMORY_DISABLED, 0, false);
        return;
    }
    p->raced |= races(m, p, &now);
    if (m->o.kind == MEMORY_CLEAN && !writes(ev->kind)) {
        write_down(m, addr, m->now, ev->kind, MEMORY_UNKEPT, 0, false);
        return;
    }
    size_t reads = 0;
    for (size_t i = p->n; i-- > 0;) {
        const struct member x = p->in[i];
        if (makes_room(m, p, &x, &now))
            take_out(m, p, i, MEMORY_DISPLACED);
        else
            reads += !writes(x.op);
    }
    p->shared = m->o.kind == MEMORY_FASTTRACK && !writes(now.op) && (p->shared || reads > 0);
    put_in(m, p, now);
}

static void access(struct memory *m, const struct event *ev)
{
    if (!m->o.granule) {
        access_at(m, ev->addr, ev);
        return;
    }
    for (sim_addr a = ev->addr / m->o.granule; a <= (ev->addr + ev->size - 1) / m->o.granule; a++)
        access_at(m, a * m->o.granule, ev);
}

/* ---- the heap -------------------------------------------------------------------------------- */

static bool heeded(const struct memory *m, const struct event *ev)
{
    return !(m->o.view & (ev->kind == EV_COPY ? ORACLE_NO_COPY : ORACLE_NO_CLEAR));
}

static void empty(struct memory *m, sim_addr addr, enum memory_fate fate)
{
    struct place *p = place_at(m, addr);

    while (p->n)
        take_out(m, p, p->n - 1, fate);
    p->shared = false;
    set_off(m, p, false);
}

static bool is_latest(const struct memory *m, size_t logs, size_t i)
{
    const struct written *w = &m->log[i];

    for (size_t k = i + 1; k < logs; k++)
        if (m->log[k].addr == w->addr && m->log[k].event == w->event && m->log[k].op == w->op &&
            m->log[k].at > w->at)
            return false;
    return true;
}

/* The latest that was written down of each access at the source goes along, whoever heeds the copy,
 * to where it is not remembered. The copy is done. */
static void bring_fates(struct memory *m, size_t logs, sim_addr from, uint64_t bytes, sim_addr to)
{
    for (size_t i = 0; i < logs; i++) {
        const struct written w = m->log[i];
        const sim_addr here = w.addr - from + to;
        if (w.addr - from >= bytes || !is_latest(m, logs, i) ||
            has(place_at(m, here), w.event, w.op))
            continue;
        write_down(m, here, w.event, w.op, w.fate == MEMORY_HAS ? MEMORY_NOT_BROUGHT : w.fate,
                   w.fate == MEMORY_HAS ? m->now : w.by, true);
    }
}

static void copy(struct memory *m, const struct event *ev)
{
    const sim_addr to = ev->addr, from = ev[1].addr;
    const size_t n = m->places, logs = m->logs;
    struct place *was = malloc((n + 1) * sizeof *was);

    if (!was)
        abort();
    for (size_t i = 0; i < n; i++) {
        was[i] = m->place[i];
        was[i].in = malloc((was[i].n + 1) * sizeof *was[i].in);
        if (!was[i].in)
            abort();
        if (was[i].n)
            memcpy(was[i].in, m->place[i].in, was[i].n * sizeof *was[i].in);
    }
    for (size_t i = 0; i < n && heeded(m, ev); i++)
        if (was[i].addr - to < ev->aux)
            empty(m, was[i].addr, MEMORY_OVERWRITTEN);
    for (size_t i = 0; i < n; i++) {
        if (heeded(m, ev) && was[i].addr - from < ev->aux) {
            struct place *p = place_at(m, was[i].addr - from + to);
            for (size_t k = 0; k < was[i].n; k++)
                put_in(m, p, was[i].in[k]);
            p->shared = was[i].shared;
            set_off(m, p, was[i].off);
        }
        free(was[i].in);
    }
    bring_fates(m, logs, from, ev->aux, to);
    free(was);
}

static void clear(struct memory *m, const struct event *ev)
{
    for (size_t i = 0; i < m->places && heeded(m, ev); i++)
        if (m->place[i].addr - ev->addr < ev->aux)
            empty(m, m->place[i].addr, MEMORY_CLEARED);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void commit(struct memory *m, sim_tid tid)
{
    size_t left = 0;

    for (size_t i = 0; i < m->opens; i++)
        if (m->open[i].tid == tid)
            access(m, &m->open[i]);
        else
            m->open[left++] = m->open[i];
    m->opens = left;
}

static void step(struct memory *m, const struct event *ev)
{
    if (ev->kind == EV_THREAD && ev->tid < 64)
        m->kernel[ev->tid] = ev->aux + 1;
    if (ev->kind <= EV_RMW && ev->flags & EVF_IN_TXN) {
        m->open = more(m->open, m->opens, &m->open_cap, sizeof *m->open);
        m->open[m->opens++] = *ev;
    } else if (ev->kind <= EV_RMW) {
        access(m, ev);
    } else if (ev->kind == EV_TXN_COMMIT) {
        commit(m, ev->tid);
    } else if (ev->kind == EV_CLEAR) {
        clear(m, ev);
    } else if (ev->kind == EV_COPY) {
        copy(m, ev);
    }
    for (size_t i = 0; i < m->places; i++) {
        struct place *p = &m->place[i];
        if (p->raced && m->o.disables)
            set_off(m, p, true);
        p->raced = false;
    }
}

struct memory *memory_new(const struct event *rec, size_t records, const struct memory_options *o,
                          const struct oracle *order)
{
    struct memory *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    m->o = *o;
    m->before = order;
    for (size_t i = 0; i < records; i += event_records(&rec[i]), m->now++)
        step(m, &rec[i]);
    return m;
}

void memory_free(struct memory *m)
{
    for (size_t i = 0; i < m->places; i++)
        free(m->place[i].in);
    free(m->place);
    free(m->log);
    free(m->off);
    free(m->open);
    free(m);
}

bool memory_had(const struct memory *m, size_t now, sim_addr location, size_t event, uint8_t op,
                enum memory_fate fate, size_t by)
{
    size_t own = 0, brought = 0; /* 1 + when something was written last */
    bool is_own = false, is_brought = false;

    for (size_t i = 0; i < m->logs && m->log[i].at < now; i++) {
        const struct written *w = &m->log[i];
        if (w->addr != location || w->event != event || w->op != op)
            continue;
        size_t *last = w->brought ? &brought : &own;
        bool *is = w->brought ? &is_brought : &is_own;
        *is = (*last == w->at + 1 && *is) || (w->fate == fate && w->by == by);
        *last = w->at + 1;
        if (!w->brought && w->fate == MEMORY_HAS)
            is_brought = false;
    }
    return own || brought ? is_own || is_brought : fate == MEMORY_NEVER;
}

bool memory_was_off(const struct memory *m, size_t now, sim_addr location)
{
    bool off = false;

    for (size_t i = 0; i < m->offs && m->off[i].at < now; i++)
        if (m->off[i].addr == location)
            off = m->off[i].off;
    return off;
}
