/* emit.c - the generator's records: every event is made here. */
#include "trace/synth/synth_int.h"

#include "base/mem.h"

static struct event *next_record(struct synth *g)
{
    if (UNLIKELY(g->n == g->cap))
        g->rec = xgrow(g->rec, g->n, &g->cap, sizeof *g->rec);
    return &g->rec[g->n++];
}

struct event *synth_event(struct synth *g, uint32_t t, enum ev_kind kind)
{
    if (UNLIKELY(!g->threads[t].acted))
        synth_born(g, t);
    if (UNLIKELY(g->count >= g->p.events && !g->p.ends && g->cut == SIZE_MAX))
        if (!g->in_gc && !g->in_roi)
            g->cut = g->n;
    const uint32_t gap = g->p.gap_max ? (uint32_t)synth_below(g, g->p.gap_max + 1) : 0;
    struct event *ev = next_record(g);

    *ev = (struct event){.tid = (sim_tid)t, .kind = (uint8_t)kind, .gap = gap};
    g->count++;
    return ev;
}

void synth_two(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr, uint64_t aux,
               sim_addr addr2, uint32_t size2, bool system)
{
    const bool sited = g->p.sites && synth_chance(g, g->p.site_share);
    const uint64_t site = sited ? 1 + synth_below(g, g->p.sites) : 0;
    struct event *ev = synth_event(g, t, kind);

    ev->addr = addr;
    ev->aux = aux;
    ev->flags = system ? EVF_SYSTEM : 0;
    if (kind != EV_COPY && !addr2 && !size2 && !site)
        return;
    ev->flags |= EVF_MORE; /* ev may move when the next record is made */
    *next_record(g) = (struct event){.addr = addr2, .aux = site, .size = size2};
}

void synth_plain(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                 bool system)
{
    synth_two(g, t, kind, addr, aux, 0, 0, system);
}

void synth_sync(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                bool system)
{
    g->syncs++;
    synth_plain(g, t, kind, addr, aux, system);
}

bool synth_is_system(const struct synth *g, uint64_t i, uint64_t n)
{
    const uint64_t share = (n * g->p.system_share + 999) / 1000;

    return i >= n - (share < n ? share : n - 1);
}
