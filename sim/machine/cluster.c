/* cluster.c - events on processes with memories of their own: which are accesses of shared pages,
 * what synchronisation asks of the protocol, and what a core is charged for it. */
#include "sim/machine/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NOWHERE = UINT8_MAX }; /* a thread that has not run */
struct cluster {
    struct dsm *dsm;
    struct policy_dsm policies;
    uint8_t process[MAX_THREADS]; /* where a thread runs */
    bool dead[MAX_THREADS];       /* it has said so */
    struct waited_span {
        sim_cycle from, to; /* it waited last */
    } waited[DSM_PROCESSES];
};

const char cluster_no_histories[] = "cores have memories of their own (machine=dsm)";

/* ---- time ------------------------------------------------------------------------------------ */

/* The core stands until then: others' turns may come before. */
static void stand(struct machine *m, unsigned core, enum spent what, sim_cycle to)
{
    struct core *c = &m->core[core];

    if (to <= c->clock)
        return;
    dsm_stood(m->cluster->dsm, core, c->clock, to);
    core_spend(m, c, what, to - c->clock);
}

/* Charges the core for the messages of others that it has answered since its previous event, before
 * it goes on with an event of its own. */
static void serve(struct machine *m, unsigned core)
{
    struct core *c = &m->core[core];
    const sim_cycle owed = dsm_owed(m->cluster->dsm, core, c->clock);

    if (!owed)
        return;
    core_spend(m, c, SPENT_SERVICE, owed);
    m->turns->until(m->scheduler, core, c->clock);
}

void cluster_stands(struct machine *m, unsigned core, bool waits, sim_cycle to)
{
    const sim_cycle from = m->core[core].clock;

    dsm_stood(m->cluster->dsm, core, from, to);
    if (waits)
        m->cluster->waited[core] = (struct waited_span){from, to};
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* A process's frames are its own. */
static struct paddr physical(struct machine *m, unsigned core, sim_tid tid, struct vaddr addr)
{
    struct pages_near *at = pages_near(&m->pages, addr.at >> m->pages.near_shift);
    const uint64_t within = addr.at & m->pages.within;

    footprint_touch(&m->footprint, tid, at, within);
    return paddr_plus(at->base, within + core * m->pages.params.memory);
}

static void fault(struct machine *m, unsigned core, struct vaddr addr, bool write)
{
    struct core *c = &m->core[core];

    stand(m, core, SPENT_PAGE_FAULT, dsm_fault(m->cluster->dsm, core, addr, write, c->clock));
    m->turns->until(m->scheduler, core, c->clock);
}

/* Lines one after the other, each of a page that the process has. */
static enum mem_level access(struct machine *m, unsigned core, const struct event *ev,
                             enum mem_cmd cmd)
{
    enum mem_level most = LEVEL_NONE;
    struct vaddr addr = event_at(ev);

    for (uint64_t left = ev->size, n; left; left -= n, addr = vaddr_plus(addr, n)) {
        n = u64_min(left, line_room(m, addr.at));
        if (most != LEVEL_NONE)
            m->turns->until(m->scheduler, core, m->core[core].clock);
        while (!(ev->flags & (EVF_STACK | EVF_PRIVATE)) &&
               !dsm_access(m->cluster->dsm, core, addr, (unsigned)n, cmd != MEM_LOAD))
            fault(m, core, addr, cmd != MEM_LOAD);
        const enum mem_level level =
            machine_access(m, core, physical(m, core, ev->tid, addr), (unsigned)n, cmd);
        most = level > most ? level : most;
    }
    return most;
}

/* ---- synchronisation ------------------------------------------------------------------------- */

/* When it began to wait for this event. */
static sim_cycle asked(const struct machine *m, unsigned core)
{
    const sim_cycle now = m->core[core].clock;

    return m->cluster->waited[core].to == now ? m->cluster->waited[core].from : now;
}

static void takes(struct machine *m, unsigned core, enum dsm_objects kind, uint64_t id,
                  enum spent what)
{
    stand(m, core, what, dsm_take(m->cluster->dsm, core, kind, id, m->core[core].clock));
}

static void gives(struct machine *m, unsigned core, enum dsm_objects kind, uint64_t id,
                  enum spent what)
{
    stand(m, core, what, dsm_give(m->cluster->dsm, core, kind, id, m->core[core].clock));
}

static void joins(struct machine *m, unsigned core, uint64_t tid)
{
    struct cluster *x = m->cluster;

    if (tid < MAX_THREADS && !x->dead[tid] && x->process[tid] != NOWHERE) /* it never said so */
        dsm_give(x->dsm, x->process[tid], DSM_DEAD, tid, m->core[core].clock);
    takes(m, core, DSM_DEAD, tid, SPENT_JOIN);
}

static void sync_access(struct machine *m, unsigned core, const struct event *ev)
{
    if (order_takes(event_order(ev)) && ev->kind != EV_WRITE)
        takes(m, core, DSM_ATOMIC, ev->addr, SPENT_VOLATILE);
    if (order_gives(event_order(ev)) && ev->kind != EV_READ)
        gives(m, core, DSM_ATOMIC, ev->addr, SPENT_VOLATILE);
}

static void synchronise(struct machine *m, unsigned core, const struct event *ev, sim_cycle asked)
{
    struct dsm *d = m->cluster->dsm;
    const sim_cycle now = m->core[core].clock;
    const bool shared = ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_RELEASE_SHARED;

    switch (ev->kind) {
    case EV_ACQUIRE:
    case EV_ACQUIRE_SHARED:
    case EV_WAIT_EXIT:
        stand(m, core, SPENT_LOCK, dsm_lock(d, core, event_at(ev), shared, asked, now));
        break;
    case EV_RELEASE:
    case EV_RELEASE_SHARED:
    case EV_WAIT_ENTER:
        stand(m, core, SPENT_LOCK, dsm_unlock(d, core, event_at(ev), now));
        break;
    case EV_BARRIER_ARRIVE:
        stand(m, core, SPENT_BARRIER, dsm_arrive(d, core, event_at(ev), now));
        break;
    case EV_BARRIER_DEPART:
        stand(m, core, SPENT_BARRIER, dsm_depart(d, core, event_at(ev), now));
        break;
    case EV_VOLATILE_READ:
        takes(m, core, DSM_VOLATILE, ev->addr, SPENT_VOLATILE);
        break;
    case EV_VOLATILE_WRITE:
        gives(m, core, DSM_VOLATILE, ev->addr, SPENT_VOLATILE);
        break;
    case EV_CLASS_USE:
        takes(m, core, DSM_CLASS, ev->addr, SPENT_CLASS);
        break;
    case EV_CLASS_INIT:
        gives(m, core, DSM_CLASS, ev->addr, SPENT_CLASS);
        break;
    case EV_FORK:
        gives(m, core, DSM_BORN, ev->aux, SPENT_JOIN);
        break;
    case EV_JOIN:
        joins(m, core, ev->aux);
        break;
    case EV_THREAD_END:
        m->cluster->dead[ev->tid] = true;
        gives(m, core, DSM_DEAD, ev->tid, SPENT_JOIN);
        break;
    case EV_TXN_COMMIT:
        takes(m, core, DSM_TRANSACTION, 0, SPENT_COMMIT);
        gives(m, core, DSM_TRANSACTION, 0, SPENT_COMMIT);
        break;
    }
}

/* Brings a thread into the core's process. A new thread knows what it was forked with; one that was
 * in another process knows what that one did. */
static void enter(struct machine *m, unsigned core, sim_tid tid)
{
    struct cluster *x = m->cluster;

    if (x->process[tid] != NOWHERE)
        dsm_give(x->dsm, x->process[tid], DSM_BORN, tid, m->core[core].clock);
    x->process[tid] = (uint8_t)core;
    takes(m, core, DSM_BORN, tid, SPENT_JOIN);
    m->turns->until(m->scheduler, core, m->core[core].clock);
}

struct mem_outcome cluster_event(struct machine *m, unsigned core, const struct event *ev,
                                 bool instruction)
{
    struct core *c = &m->core[core];
    struct mem_outcome out = {.began = c->clock};
    const sim_cycle since = asked(m, core);

    serve(m, core);
    if (UNLIKELY(m->cluster->process[ev->tid] != core))
        enter(m, core, ev->tid);
    if (!event_is_access(ev))
        synchronise(m, core, ev, since);
    else if (UNLIKELY(order_takes(event_order(ev)) || order_gives(event_order(ev))))
        sync_access(m, core, ev);
    else
        out.level = (uint8_t)access(m, core, ev,
                                    ev->kind == EV_READ    ? MEM_LOAD
                                    : ev->kind == EV_WRITE ? MEM_STORE
                                                           : MEM_ATOMIC);
    c->instructions += instruction;
    core_spend(m, c, SPENT_EXECUTING,
               instruction && m->core_params.memory_instruction == MEMORY_INSTRUCTION_PLUS);
    return out;
}

/* ---- for a policy ---------------------------------------------------------------------------- */

static unsigned node(void *host, unsigned core)
{
    (void)host;
    return core;
}

static sim_cycle notices(void *host, unsigned core, uint64_t read, uint64_t written, sim_cycle now)
{
    const struct machine *m = host;

    return dsm_notices(m->cluster->dsm, core, read, written, now);
}

static sim_cycle fetch(void *host, unsigned core, const uint64_t *bytes, sim_cycle now)
{
    const struct machine *m = host;

    return dsm_fetch(m->cluster->dsm, bytes, m->turns->until(m->scheduler, core, now));
}

static sim_cycle released(void *host, unsigned core, sim_cycle done)
{
    const struct machine *m = host;

    return dsm_released(m->cluster->dsm, core, done);
}

const struct policy_dsm *cluster_policies(const struct cluster *c)
{
    return c ? &c->policies : NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int check(const struct machine *m, struct err *e)
{
    if (!m->timed)
        return err_set(e, LARD_CONFIG,
                       "order: recorded has no time in which messages could travel; set "
                       "order=timed, or machine=multicore");
    if (machine_pipelined(m))
        return err_set(e, LARD_CONFIG,
                       "core.type: pipelined is not for machine=dsm, where a page fault may stand "
                       "before any access; set core.type=simple");
    if (m->pages.params.size < m->params.line)
        return err_set(e, LARD_CONFIG,
                       "pages.size: %llu bytes are less than a cache line (line: %llu); raise it",
                       (unsigned long long)m->pages.params.size,
                       (unsigned long long)m->params.line);
    return 0;
}

struct cluster *cluster_new(struct machine *m, struct config *config, struct stats *stats,
                            struct err *e)
{
    const struct dsm_env env = {
        .stats = stats,
        .config = config,
        .processes = (unsigned)m->params.cores,
        .page = m->pages.params.size,
        .frequency = m->params.frequency,
    };
    struct dsm *d = check(m, e) ? NULL : dsm_new(&env, e);

    if (!d)
        return NULL;
    struct cluster *c = xcalloc(1, sizeof *c);
    c->dsm = d;
    memset(c->process, NOWHERE, sizeof c->process);
    c->policies = (struct policy_dsm){
        .nodes = env.processes,
        .page = env.page,
        .node = node,
        .notices = notices,
        .fetch = fetch,
        .released = released,
    };
    return c;
}

void cluster_account(struct cluster *c, struct budget *b)
{
    if (c)
        dsm_account(c->dsm, b);
}

void cluster_free(struct cluster *c)
{
    if (c)
        dsm_free(c->dsm);
    free(c);
}
