/* coherence.c - an access from the core's side: the L1, the L2, then the home. Also line events,
 * and how the whole is made and freed. What the home does is in home.c; private.c and shared.c have
 * what is evicted. */
#include "coherence/coherence_int.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

const char *const mem_level_text[LEVELS] = {
    [LEVEL_NONE] = "none", [LEVEL_L1] = "l1",         [LEVEL_L2] = "l2",
    [LEVEL_L3] = "l3",     [LEVEL_REMOTE] = "remote", [LEVEL_MEMORY] = "memory",
};

/* ---- accesses ------------------------------------------------------------------------------- */

/* A line in this state can be accessed without asking its home. E becomes M silently. */
static inline bool permits(uint8_t state, enum mem_cmd cmd)
{
    return cmd == MEM_LOAD || state >= PRIV_E;
}

static struct coh_result l2_hit(struct txn *t, uint32_t slot)
{
    struct coherence *c = t->c;
    const uint8_t state = c->priv[t->core].l2.state[slot];
    sim_cycle done = t->start + c->time.l2;

    if (UNLIKELY(c->prefetcher != NULL))
        done = prefetch_used(c, t->core, slot, done);
    if (UNLIKELY(c->grouped)) {
        const bool asked = group_up(t, slot, done);
        c->stats.sibling_hits += asked;
        done += asked ? c->params.l2.sibling : 0;
    } else
        private_up(t, slot, t->cmd == MEM_LOAD ? (enum priv_state)state : PRIV_M, done);
    histogram_add(&c->stats.latency[LEVEL_L2], done - t->start);
    return (struct coh_result){.done = done, .level = LEVEL_L2};
}

/* The L1 has no permission: the L2, if it has it, else the home. */
static struct coh_result beyond_l1(struct coherence *c, unsigned core, uint64_t line,
                                   enum mem_cmd cmd, enum mem_traffic traffic, sim_cycle now)
{
    struct cache_stats *s = &c->stats.level[LEVEL_L2];
    const struct cache *l2 = &c->priv[leader(c, core)].l2;
    struct txn t;

    coh_count(&c->stats.level[LEVEL_L1], core, traffic, cmd, false);
    txn_begin(&t, c, core, line, cmd, traffic, now);
    if (!c->has_l2)
        return home_get(&t);
    const uint32_t slot = cache_find(l2, line);
    const bool hit = slot != CACHE_NONE && permits(l2->state[slot], cmd);
    coh_count(s, core, traffic, cmd, hit);
    if (LIKELY(hit))
        return l2_hit(&t, slot);
    if (slot == CACHE_NONE)
        return home_get(&t);
    s->upgrade[traffic][cmd]++;
    if (UNLIKELY(c->prefetcher != NULL))
        now = prefetch_used(c, t.core, slot, now);
    return home_upgrade(&t, LEVEL_L2, now);
}

/* The prefetcher's requests go behind the access's own, in the same cycle. With a memory that
 * answers later they do so although prefetch_sees comes first, as agents of their own make them
 * (coh_host.ahead). */
static NO_INLINE struct coh_result l1_miss_seen(struct coherence *c, unsigned core, uint64_t line,
                                                enum mem_cmd cmd, enum mem_traffic traffic,
                                                sim_cycle now)
{
    const bool later = c->memory->type->later;

    if (later)
        prefetch_sees(c, core, line, traffic, now);
    const struct coh_result r = beyond_l1(c, core, line, cmd, traffic, now);
    if (!later)
        prefetch_sees(c, core, line, traffic, now);
    return r;
}

/* The L1 does not have the line. */
static NO_INLINE struct coh_result l1_miss(struct coherence *c, unsigned core, uint64_t line,
                                           enum mem_cmd cmd, enum mem_traffic traffic,
                                           sim_cycle now)
{
    if (UNLIKELY(c->prefetcher != NULL))
        return l1_miss_seen(c, core, line, cmd, traffic, now);
    return beyond_l1(c, core, line, cmd, traffic, now);
}

/* The L1 has the line in S, and the access is a store. The core's own L2 could know no better. */
static NO_INLINE struct coh_result l1_upgrade(struct coherence *c, unsigned core, uint64_t line,
                                              enum mem_cmd cmd, enum mem_traffic traffic,
                                              sim_cycle now)
{
    struct cache_stats *s = &c->stats.level[LEVEL_L1];
    struct txn t;

    if (UNLIKELY(c->grouped)) { /* the group may have permission */
        s->upgrade[traffic][cmd]++;
        return beyond_l1(c, core, line, cmd, traffic, now);
    }
    coh_count(s, core, traffic, cmd, false);
    s->upgrade[traffic][cmd]++;
    txn_begin(&t, c, core, line, cmd, traffic, now);
    return home_upgrade(&t, LEVEL_L1, now);
}

static inline void l1_hit(struct coherence *c, unsigned core, uint32_t slot, enum mem_cmd cmd,
                          enum mem_traffic traffic)
{
    struct cache *l1 = &c->priv[core].l1;
    struct cache_stats *s = &c->stats.level[LEVEL_L1];

    if (cmd != MEM_LOAD)
        l1->state[slot] = PRIV_M;
    s->accesses++;
    s->core_accesses[core]++;
    s->hit[traffic][cmd]++;
    cache_touch(l1, slot);
}

/* Reports the rule that failed. A function of its own, so that the look-up keeps nothing for the
 * message. */
static NO_INLINE NO_RETURN void too_early(const struct coherence *c, unsigned core, uint64_t line,
                                          sim_cycle now)
{
    const struct paddr at = paddr_of(line << c->line_shift);

    ENSURE(core < c->cores, c->host.context, "core %u of %u", core, c->cores);
    ensure_failed(__FILE__, __LINE__, "now >= c->latest", c->host.context,
                  "an access at cycle %llu comes before its turn, as others were at cycle %llu; of "
                  "core %u, line 0x%llx, state %c in its L1",
                  (unsigned long long)now, (unsigned long long)c->latest, core,
                  (unsigned long long)at.at, coherence_state(c, core, LEVEL_L1, at));
}

static NO_INLINE NO_RETURN void no_hit(const struct coherence *c, unsigned core, struct paddr addr)
{
    ensure_failed(__FILE__, __LINE__, "permits", c->host.context,
                  "core %u was to hit the line of 0x%llx in its L1, which has it in %c", core,
                  (unsigned long long)addr.at, coherence_state(c, core, LEVEL_L1, addr));
}

/* Flattened, so that every call in it is inlined: the L1 look-up is the simulator's hottest code.
 */
__attribute__((flatten)) struct coh_result coherence_access(struct coherence *c, unsigned core,
                                                            struct paddr addr, enum mem_cmd cmd,
                                                            enum mem_traffic traffic, sim_cycle now)
{
    const uint64_t line = addr.at >> c->line_shift;
    const struct cache *l1 = &c->priv[core].l1;
    const uint32_t slot = cache_find(l1, line);

    if (UNLIKELY(core >= c->cores || (now < c->latest && c->contention)))
        too_early(c, core, line, now);
    c->latest = now;
    if (UNLIKELY(slot == CACHE_NONE))
        return l1_miss(c, core, line, cmd, traffic, now);
    if (UNLIKELY(!permits(l1->state[slot], cmd)))
        return l1_upgrade(c, core, line, cmd, traffic, now);
    l1_hit(c, core, slot, cmd, traffic);
    return (struct coh_result){.done = now + c->time.l1, .level = LEVEL_L1};
}

/* The slot in which the access would hit with permission, or CACHE_NONE. */
static inline uint32_t l1_find(const struct coherence *c, unsigned core, struct paddr addr,
                               enum mem_cmd cmd)
{
    const struct cache *l1 = &c->priv[core].l1;
    const uint32_t slot = cache_find(l1, addr.at >> c->line_shift);

    return slot != CACHE_NONE && permits(l1->state[slot], cmd) ? slot : CACHE_NONE;
}

size_t coherence_l1_ahead(const struct coherence *c, unsigned core, struct mem_step *restrict step,
                          size_t n, sim_cycle *now)
{
    sim_cycle at = *now;
    size_t i = 0;

    for (; i < n; i++) {
        step[i].slot = l1_find(c, core, step[i].at, (enum mem_cmd)step[i].cmd);
        if (step[i].slot == CACHE_NONE) {
            private_prefetch_l2(c, core, step[i].at);
            break;
        }
        at += c->time.l1 + step[i + 1].instructions;
    }
    *now = at;
    return i;
}

void coherence_l1_hits(struct coherence *c, unsigned core, const struct mem_step *step, size_t n)
{
    for (const struct mem_step *end = step + n; step < end; step++) {
        if (UNLIKELY(!permits(c->priv[core].l1.state[step->slot], (enum mem_cmd)step->cmd)))
            no_hit(c, core, step->at);
        l1_hit(c, core, step->slot, (enum mem_cmd)step->cmd, TRAFFIC_METADATA);
    }
}

struct coh_result coherence_steps(struct coherence *c, unsigned core, const struct mem_step *step,
                                  size_t n, sim_cycle now)
{
    if (n)
        coherence_l1_hits(c, core, step, n);
    step += n;
    return coherence_access(c, core, step->at, (enum mem_cmd)step->cmd, TRAFFIC_METADATA, now);
}

bool coherence_in_l1(const struct coherence *c, unsigned core, struct paddr addr, enum mem_cmd cmd)
{
    return l1_find(c, core, addr, cmd) != CACHE_NONE;
}

sim_cycle coherence_l1_latency(const struct coherence *c)
{
    return c->time.l1;
}

/* ---- events --------------------------------------------------------------------------------- */

void coh_event_add(struct txn *t, unsigned kind, unsigned cores, uint64_t line,
                   enum priv_state state, enum loss why)
{
    const struct coh_change x = {(enum line_what)(kind & 255),
                                 (enum mem_level)(kind >> 8),
                                 cores & 255,
                                 cores >> 8,
                                 line,
                                 state,
                                 why};
    struct coherence *c = t->c;
    struct line_queue *q = &c->lines;

    if (c->watch.see)
        coh_see(t, &x);
    if (!(c->heard >> x.what & 1))
        return;
    q->at = xgrow(q->at, q->n, &q->cap, sizeof *q->at);
    c->room = c->watch.see ? 0 : q->cap;
    coh_event_queue(c, t, x);
}

void coherence_listen(struct coherence *c, unsigned whats)
{
    c->heard = whats;
    c->listens = c->watch.see ? ~0U : whats;
}

struct line_queue *coherence_lines(struct coherence *c)
{
    return &c->lines;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void make_caches(struct coherence *c, struct coh_shapes *shapes)
{
    c->priv = xcalloc(c->cores, sizeof *c->priv);
    for (unsigned i = 0; i < c->cores; i++) {
        struct private_caches *p = &c->priv[i];
        cache_init(&p->l1, &shapes->l1);
        p->l1_below = xcalloc(cache_slots(&p->l1), sizeof *p->l1_below);
        if (c->has_l2 && i == leader(c, i)) {
            cache_init(&p->l2, &shapes->l2);
            p->l2_home = xcalloc(cache_slots(&p->l2), sizeof *p->l2_home);
            if (c->grouped)
                p->l2_above = xcalloc(cache_slots(&p->l2), sizeof *p->l2_above);
        }
        shapes->l1.seed++; /* a random sequence of its own for each cache */
        shapes->l2.seed++;
    }
    c->l3 = xcalloc(c->numa.nodes, sizeof *c->l3);
    for (unsigned i = 0; c->has_l3 && i < c->numa.nodes; i++) {
        cache_init(&c->l3[i], &shapes->l3);
        shapes->l3.seed -= 2;
    }
    if (!c->inclusive_l3)
        cache_init(&c->own_directory, &shapes->directory);
    c->tags = c->inclusive_l3 ? c->l3 : &c->own_directory;
    c->entry = xcalloc(cache_slots(c->tags), sizeof *c->entry);
}

uint64_t coherence_bytes(const struct coherence *c)
{
    uint64_t bytes =
        cache_bytes(&c->own_directory) + (uint64_t)cache_slots(c->tags) * sizeof *c->entry;

    for (unsigned i = 0; i < c->numa.nodes; i++)
        bytes += cache_bytes(&c->l3[i]);
    for (unsigned i = 0; i < c->cores; i++) {
        const struct private_caches *p = &c->priv[i];
        bytes += sizeof *p + cache_bytes(&p->l1) + cache_bytes(&p->l2);
        bytes += (uint64_t)cache_slots(&p->l1) * sizeof *p->l1_below;
        bytes += (uint64_t)cache_slots(&p->l2) * (sizeof *p->l2_home + (p->l2_above != NULL));
    }
    return bytes + prefetch_bytes(c);
}

/* Banks stand evenly over the places of the network, of which there are as many as cores; those of
 * a NUMA node over its places. */
static void make_banks(struct coherence *c)
{
    const unsigned nodes = c->numa.nodes, cores = c->cores / nodes;

    c->banks = (unsigned)c->params.l3.banks;
    c->bank_mask = c->banks & (c->banks - 1) ? 0 : c->banks - 1;
    c->bank_node = xcalloc((size_t)c->banks * nodes, sizeof *c->bank_node);
    for (unsigned i = 0; i < c->banks * nodes; i++)
        c->bank_node[i] = (uint8_t)(i / c->banks * cores + i % c->banks * cores / c->banks);
    c->controllers = (unsigned)c->params.network.controllers;
    if (!c->contention)
        return;
    c->bank = xcalloc((size_t)c->banks * nodes, sizeof *c->bank);
    for (unsigned i = 0; i < c->banks * nodes; i++)
        calendar_init(&c->bank[i], c->host.context);
}

static struct coherence *make(const struct coh_env *env, const struct coh_params *p)
{
    struct coherence *c = xcalloc(1, sizeof *c);

    c->cores = env->cores;
    c->line_shift = (unsigned)__builtin_ctz(env->line);
    c->params = *p;
    c->has_l2 = p->l2.size != 0;
    c->has_l3 = p->l3.size != 0;
    c->exclusive = c->has_l2 && p->l2.inclusion == L2_EXCLUSIVE;
    c->inclusive_l2 = c->has_l2 && !c->exclusive;
    c->grouped = p->l2.shared_by > 1;
    c->group_mask = (unsigned)p->l2.shared_by - 1;
    c->inclusive_l3 = p->l3.inclusion == L3_INCLUSIVE;
    c->ce = env->ce;
    c->contention = env->contention && !env->ce;
    c->memory = env->memory;
    c->host = env->host;
    coh_params_times(p, &c->time);
    return c;
}

struct coherence *coherence_new(const struct coh_env *env, struct err *e)
{
    struct coh_params params;
    struct coh_shapes shapes;

    if (coh_params_read(env, &params, e))
        return NULL;
    struct coherence *c = make(env, &params);
    if (coh_params_shapes(&c->params, env, &shapes, e)) {
        free(c);
        return NULL;
    }
    numa_init(c, env->page, env->stats);
    make_caches(c, &shapes);
    make_banks(c);
    prefetch_init(c, env);
    coh_stats_declare(c, env->stats);
    c->network = network_new(&c->params.network, c->cores, c->contention, c->host.context,
                             stats_group(stats_root(env->stats), "network"));
    if (numa_several(c))
        network_numa(c->network, &c->params.numa, c->numa.cores,
                     stats_group(stats_root(env->stats), "numa"));
    return c;
}

void coherence_serve(struct coherence *c, void *host)
{
    c->host.self = host;
}

void coherence_free(struct coherence *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->cores; i++) {
        cache_free(&c->priv[i].l1);
        cache_free(&c->priv[i].l2);
        free(c->priv[i].l1_below);
        free(c->priv[i].l2_home);
        free(c->priv[i].l2_above);
    }
    for (unsigned i = 0; i < c->numa.nodes; i++)
        cache_free(&c->l3[i]);
    cache_free(&c->own_directory);
    for (unsigned i = 0; c->bank && i < c->banks * c->numa.nodes; i++)
        calendar_free(&c->bank[i]);
    network_free(c->network);
    numa_free(c);
    prefetch_free(c);
    free(c->l3);
    free(c->priv);
    free(c->entry);
    free(c->bank);
    free(c->bank_node);
    free(c->lines.at);
    free(c);
}
