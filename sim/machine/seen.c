/* seen.c - accesses as who watches a run is told of them: each function stands in the place of one
 * that tells nobody, in a run that is watched, and makes the same access. */
#include "sim/machine/machine.h"
#include "sim/machine/timeline.h"

void machine_tell_spent(struct machine *m, unsigned core, enum spent what, uint64_t cycles)
{
    const sim_cycle from = m->core[core].clock;

    if (m->timeline)
        timeline_spent(m->timeline, core, what, from, cycles);
    if (m->sights && cycles)
        m->sights->spent(m->sights->self, core, what, from, cycles);
}

/* The caches of a host do not say. */
static void states(const struct machine *m, unsigned core, struct paddr at, char to[2])
{
    to[0] = to[1] = 0;
    if (m->outside)
        return;
    to[0] = coherence_state(m->coherence, core, LEVEL_L1, at);
    to[1] = coherence_state(m->coherence, core, LEVEL_L2, at);
}

static struct coh_result seen(struct machine *m, unsigned core, struct seen_access *a)
{
    states(m, core, a->at, a->was);
    if (a->traffic == TRAFFIC_METADATA)
        a->is = machine_metadata(m, core, a->at, a->bytes, a->cmd, a->from);
    else if (m->sights->made)
        a->is = m->sights->made(m, core, a->at, a->bytes, a->cmd, a->from);
    else
        a->is = coherence_access(m->coherence, core, a->at, a->cmd, TRAFFIC_DATA, a->from);
    states(m, core, a->at, a->has);
    m->sights->access(m->sights->self, core, a);
    return a->is;
}

struct coh_result machine_metadata_seen(struct machine *m, unsigned core, struct paddr at,
                                        unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    return seen(m, core, &(struct seen_access){at, bytes, cmd, TRAFFIC_METADATA, .from = now});
}

static struct coh_result data_seen(struct machine *m, unsigned core, struct paddr at,
                                   unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    return seen(m, core, &(struct seen_access){at, bytes, cmd, TRAFFIC_DATA, .from = now});
}

void machine_watch(struct machine *m)
{
    m->sights->made = m->access;
    m->access = data_seen;
}
