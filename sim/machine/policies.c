/* policies.c - what policies get of the machine (policy.h, struct policy_machine): their host is
 * the machine. In timed order others go on while a core waits here. */
#include "sim/machine/cluster.h"
#include "sim/machine/machine.h"

sim_cycle machine_exec(void *machine, unsigned core, unsigned instructions, sim_cycle now)
{
    struct machine *m = machine;

    if (UNLIKELY(machine_pipelined(m)))
        return m->turns->exec(m->scheduler, core, instructions, now);
    m->core[core].instructions += instructions;
    return now + instructions;
}

/* Waits for the core's turn: an access must not come before one of another core with an earlier
 * clock. In recorded order it is always its turn. */
static sim_cycle until(const struct machine *m, unsigned core, sim_cycle now)
{
    return m->turns ? m->turns->until(m->scheduler, core, now) : now;
}

sim_cycle machine_mem(void *machine, unsigned core, sim_addr addr, unsigned bytes, enum mem_cmd cmd,
                      sim_cycle now)
{
    struct machine *m = machine;

    for (uint64_t left = bytes; left;) {
        const uint64_t room = line_room(m, addr), n = left < room ? left : room;
        now = until(m, core, now);
        now = machine_metadata(m, core, addr, (unsigned)n, cmd, now).done;
        addr += n;
        left -= n;
    }
    return now;
}

sim_cycle machine_steps(struct machine *m, unsigned core, const struct mem_run *r, sim_cycle now)
{
    for (size_t i = 0; i < r->n; i++)
        now = machine_step(m, core, r, i, machine_step_begins(m, core, r, i, now));
    return now;
}

static sim_cycle run(void *machine, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct machine *m = machine;

    if (m->turns)
        return m->turns->steps(m->scheduler, core, r, now);
    return machine_steps(m, core, r, now);
}

static sim_cycle ask(void *machine, unsigned core, sim_addr line, const uint64_t cores[2],
                     unsigned bytes, sim_cycle now)
{
    struct machine *m = machine;

    return coherence_probe(m->coherence, core, line, cores, bytes, until(m, core, now));
}

static sim_cycle stop(void *machine, unsigned core, sim_cycle now)
{
    const struct machine *m = machine;

    return m->turns ? m->turns->stop(m->scheduler, core, now) : now;
}

/* In recorded order, where clocks are not compared, each other core that has run loses as many
 * cycles as the stop takes. */
static sim_cycle go_on(void *machine, unsigned core, sim_cycle since, sim_cycle now)
{
    struct machine *m = machine;

    if (m->turns)
        return m->turns->go_on(m->scheduler, core, since, now);
    for (unsigned i = 0; i < m->params.cores; i++)
        if (i != core && m->core[i].clock)
            machine_spend(m, i, SPENT_STOPPED, now - since);
    return now;
}

/* Policies hand back what they have as their caches. */
static struct outside *host_of(struct coherence *caches)
{
    return (struct outside *)(void *)caches;
}

static void host_histories(struct coherence *caches, sim_addr from, uint64_t bytes)
{
    outside_histories(host_of(caches), from, bytes);
}

static sim_cycle host_drop(struct coherence *caches, unsigned core, sim_addr line, uint8_t *level,
                           sim_cycle now)
{
    return outside_drop(host_of(caches), core, line, level, now);
}

static void host_piggyback(struct coherence *caches, uint64_t bytes)
{
    outside_piggyback(host_of(caches), bytes);
}

static enum mem_level host_where(const struct coherence *caches, unsigned core, sim_addr line)
{
    return outside_where((const struct outside *)(const void *)caches, core, line);
}

static void lend_host_caches(struct policy_machine *p, struct outside *o)
{
    p->caches = (struct coherence *)(void *)o;
    p->histories = host_histories;
    p->drop = host_drop;
    p->piggyback = host_piggyback;
    p->where = host_where;
    p->lost = NULL;
    p->no_histories = NULL;
}

static bool guesses(void *machine, unsigned core, uint64_t branch, bool taken)
{
    struct machine *m = machine;

    return m->turns->guesses(m->scheduler, core, branch, taken);
}

static void passes(void *machine, unsigned core, uint64_t from)
{
    struct machine *m = machine;

    m->turns->passes(m->scheduler, core, from);
}

static sim_cycle mispredicted(void *machine, unsigned core, sim_cycle now)
{
    struct machine *m = machine;

    return m->turns->mispredicted(m->scheduler, core, now);
}

struct policy_machine machine_policies(struct machine *m)
{
    struct policy_machine p = {
        .cores = (unsigned)m->params.cores,
        .line = (unsigned)m->params.line,
        .memory = m->pages.params.mapping == PAGES_IDENTITY ? 0 : m->pages.params.memory,
        .run = run,
        .pages = &m->pages,
        .ask = ask,
        .stop = stop,
        .go_on = go_on,
        .caches = m->coherence,
        .histories = coherence_histories,
        .drop = coherence_drop,
        .piggyback = coherence_piggyback,
        .where = coherence_where,
        .lost = coherence_lost(m->coherence),
        .no_histories = m->cluster ? cluster_no_histories : coherence_no_histories(m->coherence),
        .dsm = cluster_policies(m->cluster),
    };

    if (m->core_params.predictor != PREDICTOR_NONE) {
        p.guesses = guesses;
        p.passes = passes;
        p.mispredicted = mispredicted;
    }
    if (m->outside)
        lend_host_caches(&p, m->outside);
    return p;
}
