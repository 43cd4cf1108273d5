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

typedef struct coh_result metadata_fn(struct machine *m, unsigned core, struct paddr addr,
                                      unsigned bytes, enum mem_cmd cmd, sim_cycle now);

/* Makes the access line by line, each part at its turn. Inline, so that `metadata` is no call
 * through a pointer. */
ALWAYS_INLINE sim_cycle mem_by_lines(struct machine *m, unsigned core, struct paddr addr,
                                     unsigned bytes, enum mem_cmd cmd, sim_cycle now,
                                     metadata_fn *metadata)
{
    for (uint64_t left = bytes; left;) {
        const uint64_t n = u64_min(left, line_room(m, addr.at));
        now = until(m, core, now);
        now = metadata(m, core, addr, (unsigned)n, cmd, now).done;
        addr = paddr_plus(addr, n);
        left -= n;
    }
    return now;
}

sim_cycle machine_mem(void *machine, unsigned core, struct paddr addr, unsigned bytes,
                      enum mem_cmd cmd, sim_cycle now)
{
    return mem_by_lines(machine, core, addr, bytes, cmd, now, machine_metadata);
}

sim_cycle machine_steps(struct machine *m, unsigned core, const struct mem_run *r, sim_cycle now)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct mem_step *s = &r->step[i];
        now = machine_step_begins(m, core, r, i, now);
        now = machine_step_done(
            r, i, now, machine_metadata(m, core, s->at, s->bytes, (enum mem_cmd)s->cmd, now));
    }
    return now;
}

sim_cycle machine_mem_seen(void *machine, unsigned core, struct paddr addr, unsigned bytes,
                           enum mem_cmd cmd, sim_cycle now)
{
    return mem_by_lines(machine, core, addr, bytes, cmd, now, machine_metadata_seen);
}

/* Makes the steps one by one, each at its turn. */
static sim_cycle run_seen(void *machine, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct machine *m = machine;

    if (machine_pipelined(m))
        return m->turns->steps(m->scheduler, core, r, now);
    for (size_t i = 0; i < r->n; i++) {
        const struct mem_step *s = &r->step[i];
        now = until(m, core, machine_step_begins(m, core, r, i, now));
        now = machine_step_done(
            r, i, now, machine_metadata_seen(m, core, s->at, s->bytes, (enum mem_cmd)s->cmd, now));
    }
    return now;
}

static sim_cycle run(void *machine, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct machine *m = machine;

    return m->turns ? m->turns->steps(m->scheduler, core, r, now) : machine_steps(m, core, r, now);
}

static sim_cycle ask(void *machine, unsigned core, struct paddr line, const uint64_t cores[2],
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

static bool guesses(void *machine, unsigned core, uint64_t branch, bool taken)
{
    struct machine *m = machine;
    const bool right = predictor_guesses(m->core[core].predictor, branch, taken);

    m->branches++;
    m->mispredicted += !right;
    return right;
}

static void passes(void *machine, unsigned core, uint64_t from)
{
    struct machine *m = machine;

    predictor_passes(m->core[core].predictor, from);
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
        .run = m->sights ? run_seen : run,
        .pages = &m->pages,
        .ask = ask,
        .stop = stop,
        .go_on = go_on,
        .caches = coherence_caches(m->coherence),
        .lost = coherence_lost(m->coherence),
        .no_histories = m->cluster ? cluster_no_histories : coherence_no_histories(m->coherence),
        .dsm = cluster_policies(m->cluster),
    };

    if (m->core_params.predictor != PREDICTOR_NONE) {
        p.guesses = guesses;
        p.passes = passes;
        p.mispredicted = mispredicted;
    }
    if (m->outside) {
        p.caches = outside_caches(m->outside);
        p.lost = NULL;
        p.no_histories = NULL;
    }
    return p;
}
