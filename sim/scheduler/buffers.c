/* buffers.c - store buffers and MSHRs: what a core does not wait for.
 *
 * Stores go into a store buffer and leave it in order, one at a time (TSO). A load that misses
 * takes an MSHR, core.misses of them at a time; a load of a line that an MSHR fetches joins it.
 * Store buffers and MSHRs are agents of their own, so that their accesses reach the caches in the
 * order of time. A core waits for all of its own at synchronisation.
 *
 * A trace does not say who uses what a load returns: loads are taken to be used at the next
 * synchronisation, which is the most that overlapping them can give. */
#include "sim/scheduler/timed.h"

#include <stdlib.h>

static unsigned cores(const struct timed *s)
{
    return (unsigned)s->machine->params.cores;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* The core sleeps until something of its own is done that it may have waited for. */
static void wait_core(struct timed *s, unsigned core, enum spent what)
{
    const sim_cycle from = s->machine->core[core].clock;

    s->buffers[core].waits = true;
    const sim_cycle to = queue_sleep(s, KEY_CORE(core));
    machine_spend(s->machine, core, what, to > from ? to - from : 0);
}

static void done_one(struct timed *s, unsigned core)
{
    s->buffers[core].last = s->queue.now;
    if (!s->buffers[core].waits)
        return;
    s->buffers[core].waits = false;
    queue_wake(s, KEY_CORE(core), s->queue.now);
}

static struct coh_result at_once(sim_cycle now)
{
    return (struct coh_result){.done = now, .level = LEVEL_L1};
}

/* An agent's access, now; policies hear what it does to lines. */
static struct coh_result agent_access(struct timed *s, unsigned core, struct paddr addr,
                                      enum mem_cmd cmd, enum mem_traffic traffic)
{
    const struct coh_result r =
        coherence_access(s->machine->coherence, core, addr, cmd, traffic, s->queue.now);

    s->head.env.used_caches(s->head.env.host, core);
    return r;
}

/* ---- store buffers: an entry is there until its store is done -------------------------------- */

void buffers_count(struct mem_counts *n, uint8_t level)
{
    n->local += level != LEVEL_L1 && level != LEVEL_REMOTE;
    n->remote += level == LEVEL_REMOTE;
}

/* The oldest store begins. The L1 of a pipelined core takes a store each cycle. */
static void drain_first(struct timed *s, struct agent *a, const struct buffered_store *st)
{
    struct mem_counts *counts = st->counts;
    const struct coh_result r = agent_access(s, a->core, st->addr, MEM_STORE, st->traffic);

    if (counts)
        buffers_count(counts, r.level);
    queue_at(s, a, s->pipe && r.level == LEVEL_L1 ? s->queue.now + 1 : r.done);
}

/* Called when a store may begin, and again when it is done: one store at a time, in order. */
static void drain_step(struct timed *s, struct agent *a)
{
    struct core_buffers *b = &s->buffers[a->core];

    if (b->draining) {
        b->first = (b->first + 1) % s->machine->core_params.store_buffer;
        b->n--;
        b->draining = false;
        done_one(s, a->core);
    }
    if (!b->n)
        return;
    const struct buffered_store *st = &b->store[b->first];
    if (st->from > s->queue.now) {
        queue_at(s, a, st->from);
        return;
    }
    b->draining = true;
    drain_first(s, a, st);
}

void buffers_push(struct timed *s, unsigned core, const struct buffered_store *st, sim_cycle now)
{
    struct core_buffers *b = &s->buffers[core];
    const size_t room = s->machine->core_params.store_buffer;

    b->store[(b->first + b->n++) % room] = *st;
    s->st.buffered++;
    if (b->n == 1)
        queue_at(s, &s->queue.agent[cores(s) + core], u64_max(now, st->from));
}

static struct coh_result store(struct timed *s, unsigned core, struct paddr addr, unsigned bytes)
{
    struct core_buffers *b = &s->buffers[core];
    const size_t room = s->machine->core_params.store_buffer;

    s->st.buffer_full += b->n == room;
    while (b->n == room)
        wait_core(s, core, SPENT_STORE_BUFFER);
    const sim_cycle now = s->machine->core[core].clock;
    buffers_push(s, core, &(struct buffered_store){.addr = addr, .bytes = bytes}, now);
    return at_once(now);
}

enum overlap buffers_overlap(const struct timed *s, unsigned core, struct paddr at, unsigned bytes)
{
    const struct core_buffers *b = &s->buffers[core];
    const size_t room = s->machine->core_params.store_buffer;
    const sim_addr from = at.at, end = from + bytes;

    for (size_t i = b->n; i-- > 0;) {
        const struct buffered_store *st = &b->store[(b->first + i) % room];
        const sim_addr stored = st->addr.at, stored_end = stored + st->bytes;
        if (end <= stored || stored_end <= from)
            continue;
        return from >= stored && end <= stored_end ? OVERLAP_ALL : OVERLAP_PART;
    }
    return OVERLAP_NONE;
}

/* ---- MSHRs ----------------------------------------------------------------------------------- */

static void load_step(struct timed *s, struct agent *a)
{
    struct mshr *l = &s->mshr[(size_t)(a - s->queue.agent) - 2 * (size_t)cores(s)];

    if (s->pipe) {
        const struct coh_result r = agent_access(s, a->core, l->addr, MEM_LOAD, l->traffic);
        l->done = r.done;
        l->level = r.level;
        if (l->counts)
            buffers_count(l->counts, r.level);
        pipeline_fetched(s, a->core, l);
        done_one(s, a->core);
        return;
    }
    if (l->going) {
        l->busy = l->going = false;
        s->buffers[a->core].loads--;
        done_one(s, a->core);
        return;
    }
    l->going = true;
    queue_at(s, a, agent_access(s, a->core, l->addr, MEM_LOAD, TRAFFIC_DATA).done);
}

/* A core's prefetcher asks for a line. */
static void fetch_step(struct timed *s, struct agent *a)
{
    const unsigned n = coherence_fetches(s->machine->coherence);

    coherence_ahead(s->machine->coherence, a->core, (unsigned)(a - s->fetcher) % n, s->queue.now);
    s->head.env.used_caches(s->head.env.host, a->core);
}

void buffers_ahead(void *self, unsigned core, unsigned fetch)
{
    struct timed *s = self;

    queue_at(s, &s->fetcher[core * coherence_fetches(s->machine->coherence) + fetch], s->queue.now);
}

/* The slot that fetches the line; else a free one; NULL: all are busy. */
static struct mshr *slot_for(struct timed *s, unsigned core, struct paddr line)
{
    const size_t n = s->machine->core_params.misses;
    struct mshr *slot = &s->mshr[core * n], *unused = NULL;

    for (size_t i = 0; i < n; i++) {
        if (slot[i].busy && paddr_same(paddr_down(slot[i].addr, s->machine->params.line), line))
            return &slot[i];
        if (!slot[i].busy && !unused)
            unused = &slot[i];
    }
    return unused;
}

static struct coh_result load(struct timed *s, unsigned core, struct paddr addr)
{
    const struct paddr line = paddr_down(addr, s->machine->params.line);
    struct mshr *l = slot_for(s, core, line);

    s->st.misses_full += !l;
    while (!l) {
        wait_core(s, core, SPENT_MISSES);
        l = slot_for(s, core, line);
    }
    if (l->busy) {
        s->st.merged++;
    } else {
        *l = (struct mshr){.addr = addr, .busy = true};
        s->st.overlapped++;
        s->buffers[core].loads++;
        queue_at(s, &s->queue.agent[2 * (size_t)cores(s) + (size_t)(l - s->mshr)],
                 s->machine->core[core].clock);
    }
    return at_once(s->machine->core[core].clock);
}

/* ---- the core's side ------------------------------------------------------------------------- */

void buffers_drain(struct timed *s, unsigned core)
{
    const struct core_buffers *b = &s->buffers[core];

    while (b->n)
        wait_core(s, core, SPENT_STORE_BUFFER);
    while (b->loads)
        wait_core(s, core, SPENT_MISSES);
}

/* A load sees the core's own stores: the buffer answers if it has all the bytes; if it has a part,
 * the load waits until those stores are in the cache. */
static struct coh_result buffers_access(struct machine *m, unsigned core, struct paddr addr,
                                        unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    struct timed *s = m->scheduler;

    if (cmd == MEM_STORE && m->core_params.store_buffer && !s->buffers[core].sync)
        return store(s, core, addr, bytes);
    if (cmd == MEM_LOAD && s->buffers[core].n) {
        const enum overlap o = buffers_overlap(s, core, addr, bytes);
        if (o == OVERLAP_ALL) {
            s->st.forwarded++;
            return (struct coh_result){.done = now + s->l1_latency, .level = LEVEL_L1};
        }
        while (o == OVERLAP_PART && s->buffers[core].n)
            wait_core(s, core, SPENT_STORE_BUFFER);
        now = m->core[core].clock;
    }
    if (cmd == MEM_LOAD && m->core_params.misses && !s->buffers[core].sync &&
        !coherence_in_l1(m->coherence, core, addr, cmd))
        return load(s, core, addr);
    return coherence_access(m->coherence, core, addr, cmd, TRAFFIC_DATA, now);
}

void buffers_finish(struct timed *s)
{
    for (unsigned i = 0; i < cores(s); i++) {
        if (s->pipe)
            pipeline_finish(s, i);
        const sim_cycle clock = s->machine->core[i].clock, last = s->buffers[i].last;
        if (last > clock)
            machine_spend(s->machine, i,
                          s->machine->core_params.store_buffer ? SPENT_STORE_BUFFER : SPENT_MISSES,
                          last - clock);
    }
}

/* ---- making it ------------------------------------------------------------------------------- */

static bool any(const struct core_params *p)
{
    return p->store_buffer || p->misses;
}

/* Store buffers and MSHRs. */
static size_t own_agents(const struct timed *s)
{
    const struct core_params *p = &s->machine->core_params;

    return any(p) ? cores(s) * (1 + (size_t)p->misses) : 0;
}

/* Prefetchers need agents where the memory answers later. */
static size_t fetchers(const struct timed *s)
{
    return s->machine->memory.type->later ? cores(s) * coherence_fetches(s->machine->coherence) : 0;
}

size_t buffers_agents(const struct timed *s)
{
    return own_agents(s) + fetchers(s);
}

/* Each core has so many of these agents. */
static void agents_of_cores(struct agent *a, size_t n, size_t each,
                            void (*step)(struct timed *s, struct agent *a))
{
    for (size_t i = 0; i < n; i++) {
        a[i].core = (unsigned)(i / each);
        a[i].step = step;
    }
}

void buffers_init(struct timed *s)
{
    const struct core_params *p = &s->machine->core_params;
    const unsigned n = cores(s);

    s->buffers = xcalloc(n, sizeof *s->buffers);
    for (unsigned i = 0; i < n && p->store_buffer; i++)
        s->buffers[i].store = xcalloc(p->store_buffer, sizeof *s->buffers[i].store);
    s->mshr = xcalloc(n * p->misses + 1, sizeof *s->mshr);
    s->fetcher = &s->queue.agent[n + own_agents(s)];
    agents_of_cores(s->fetcher, fetchers(s), coherence_fetches(s->machine->coherence), fetch_step);
    if (any(p)) {
        agents_of_cores(&s->queue.agent[n], n, 1, drain_step);
        agents_of_cores(&s->queue.agent[2 * n], n * p->misses, p->misses, load_step);
        s->machine->scheduler = s;
        s->machine->access = buffers_access;
    }
}

void buffers_free(struct timed *s)
{
    for (unsigned i = 0; s->buffers && i < cores(s); i++)
        free(s->buffers[i].store);
    free(s->buffers);
    free(s->mshr);
}
