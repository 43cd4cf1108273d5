/* beside.c - what a core does not wait for: stores in its store buffer (in order, one at a time:
 * TSO), and loads that miss while fewer than core.misses do. Each is an agent of its own, so that
 * its accesses come in the order of time. A core waits for all of them at synchronisation.
 *
 * A trace does not say who uses what a load returns: loads are taken to be used at the next
 * synchronisation, which is the most that overlapping them can give. */
#include "sim/scheduler/scheduler_int.h"

#include <stdlib.h>

static unsigned cores(const struct timed *t)
{
    return (unsigned)t->machine->params.cores;
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* The core sleeps until something of its own is done that it may have waited for. */
static void wait_core(struct timed *t, unsigned core, enum spent what)
{
    const sim_cycle from = t->machine->core[core].clock;

    t->beside[core].waits = true;
    const sim_cycle to = agent_sleep(t, KEY_CORE(core));
    machine_spend(t->machine, core, what, to > from ? to - from : 0);
}

static void done_one(struct timed *t, unsigned core)
{
    t->beside[core].last = t->now;
    if (!t->beside[core].waits)
        return;
    t->beside[core].waits = false;
    agents_wake(t, KEY_CORE(core), t->now);
}

static struct coh_result at_once(sim_cycle now)
{
    return (struct coh_result){.done = now, .level = LEVEL_L1};
}

/* An agent's access, now; policies hear what it does to lines. */
static sim_cycle access_done(struct timed *t, unsigned core, sim_addr addr, enum mem_cmd cmd)
{
    const sim_cycle done =
        coherence_access(t->machine->coherence, core, addr, cmd, TRAFFIC_DATA, t->now).done;

    t->env.beside(t->env.host, core);
    return done;
}

/* ---- store buffers: an entry is there until its store is done ------------------------------- */

static void drain_step(struct timed *t, struct agent *a)
{
    struct beside *b = &t->beside[a->core];

    if (b->draining) {
        b->first = (b->first + 1) % t->machine->core_params.store_buffer;
        b->n--;
        b->draining = false;
        done_one(t, a->core);
    }
    if (!b->n)
        return;
    b->draining = true;
    agent_at(t, a, access_done(t, a->core, b->store[b->first].addr, MEM_STORE));
}

static struct coh_result store(struct timed *t, unsigned core, sim_addr addr, unsigned bytes)
{
    struct beside *b = &t->beside[core];
    const size_t room = t->machine->core_params.store_buffer;

    while (b->n == room)
        wait_core(t, core, SPENT_STORE_BUFFER);
    const sim_cycle now = t->machine->core[core].clock;
    b->store[(b->first + b->n++) % room] = (struct store){addr, bytes};
    t->st.buffered++;
    if (b->n == 1)
        agent_at(t, &t->agent[cores(t) + core], now);
    return at_once(now);
}

enum overlap { OVERLAP_NONE, OVERLAP_PART, OVERLAP_ALL };

/* Of a load with the youngest store that gives some of its bytes. */
static enum overlap overlap(const struct timed *t, unsigned core, sim_addr addr, unsigned bytes)
{
    const struct beside *b = &t->beside[core];
    const size_t room = t->machine->core_params.store_buffer;

    for (size_t i = b->n; i-- > 0;) {
        const struct store *s = &b->store[(b->first + i) % room];
        if (addr + bytes <= s->addr || s->addr + s->bytes <= addr)
            continue;
        return addr >= s->addr && addr + bytes <= s->addr + s->bytes ? OVERLAP_ALL : OVERLAP_PART;
    }
    return OVERLAP_NONE;
}

/* ---- loads that are not waited for ---------------------------------------------------------- */

static void load_step(struct timed *t, struct agent *a)
{
    struct load *l = &t->load[(size_t)(a - t->agent) - 2 * (size_t)cores(t)];

    if (l->going) {
        l->busy = l->going = false;
        t->beside[a->core].loads--;
        done_one(t, a->core);
        return;
    }
    l->going = true;
    agent_at(t, a, access_done(t, a->core, l->addr, MEM_LOAD));
}

/* The slot that fetches the line; else a free one; NULL: all are busy. */
static struct load *slot_for(struct timed *t, unsigned core, sim_addr line)
{
    const size_t n = t->machine->core_params.misses;
    struct load *slot = &t->load[core * n], *unused = NULL;

    for (size_t i = 0; i < n; i++) {
        if (slot[i].busy && (slot[i].addr & ~(t->machine->params.line - 1)) == line)
            return &slot[i];
        if (!slot[i].busy && !unused)
            unused = &slot[i];
    }
    return unused;
}

static struct coh_result load(struct timed *t, unsigned core, sim_addr addr)
{
    const sim_addr line = addr & ~(t->machine->params.line - 1);
    struct load *l = slot_for(t, core, line);

    while (!l) {
        wait_core(t, core, SPENT_MISSES);
        l = slot_for(t, core, line);
    }
    if (l->busy) {
        t->st.merged++;
    } else {
        *l = (struct load){.addr = addr, .busy = true};
        t->st.overlapped++;
        t->beside[core].loads++;
        agent_at(t, &t->agent[2 * (size_t)cores(t) + (size_t)(l - t->load)],
                 t->machine->core[core].clock);
    }
    return at_once(t->machine->core[core].clock);
}

/* ---- the core's side ------------------------------------------------------------------------ */

void beside_drain(struct timed *t, unsigned core)
{
    const struct beside *b = &t->beside[core];

    while (b->n)
        wait_core(t, core, SPENT_STORE_BUFFER);
    while (b->loads)
        wait_core(t, core, SPENT_MISSES);
}

struct coh_result beside_access(void *arg, unsigned core, sim_addr addr, unsigned bytes,
                                enum mem_cmd cmd, sim_cycle now)
{
    struct timed *t = arg;
    struct machine *m = t->machine;

    if (cmd == MEM_STORE && m->core_params.store_buffer && !t->beside[core].sync)
        return store(t, core, addr, bytes);
    if (cmd == MEM_LOAD && t->beside[core].n) {
        const enum overlap o = overlap(t, core, addr, bytes);
        if (o == OVERLAP_ALL) {
            t->st.forwarded++;
            return (struct coh_result){.done = now + coherence_l1_latency(m->coherence),
                                       .level = LEVEL_L1};
        }
        while (o == OVERLAP_PART && t->beside[core].n)
            wait_core(t, core, SPENT_STORE_BUFFER);
        now = m->core[core].clock;
    }
    if (cmd == MEM_LOAD && m->core_params.misses && !t->beside[core].sync &&
        !coherence_in_l1(m->coherence, core, addr, cmd))
        return load(t, core, addr);
    return coherence_access(m->coherence, core, addr, cmd, TRAFFIC_DATA, now);
}

void beside_finish(struct timed *t)
{
    for (unsigned i = 0; i < cores(t); i++) {
        const sim_cycle clock = t->machine->core[i].clock, last = t->beside[i].last;
        if (last > clock)
            machine_spend(t->machine, i,
                          t->machine->core_params.store_buffer ? SPENT_STORE_BUFFER : SPENT_MISSES,
                          last - clock);
    }
}

/* ---- making it ------------------------------------------------------------------------------ */

static bool any(const struct core_params *p)
{
    return p->store_buffer || p->misses;
}

size_t beside_agents(const struct timed *t)
{
    const struct core_params *p = &t->machine->core_params;

    return any(p) ? cores(t) * (1 + (size_t)p->misses) : 0;
}

void beside_init(struct timed *t)
{
    const struct core_params *p = &t->machine->core_params;
    const unsigned n = cores(t);

    t->beside = xcalloc(n, sizeof *t->beside);
    for (unsigned i = 0; i < n && p->store_buffer; i++)
        t->beside[i].store = xcalloc(p->store_buffer, sizeof *t->beside[i].store);
    t->load = xcalloc(n * p->misses + 1, sizeof *t->load);
    for (unsigned i = 0; i < n && any(p); i++) {
        t->agent[n + i].core = i;
        t->agent[n + i].step = drain_step;
    }
    for (size_t i = 0; i < n * p->misses; i++) {
        t->agent[2 * n + i].core = (unsigned)(i / p->misses);
        t->agent[2 * n + i].step = load_step;
    }
    if (any(p)) {
        t->machine->scheduler = t;
        t->machine->access = beside_access;
    }
}

void beside_free(struct timed *t)
{
    for (unsigned i = 0; t->beside && i < cores(t); i++)
        free(t->beside[i].store);
    free(t->beside);
    free(t->load);
}
