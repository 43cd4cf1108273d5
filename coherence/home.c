/* home.c - transactions at the home of a line: who answers, which messages go, how long it takes.
 * The table in docs/machine.md is this file in prose.
 *
 * States change at once, in the order of the calls; only time passes differently for the messages.
 * What leaves to make room goes after the request for what comes, so that it is never in the way.
 */
#include "coherence/coherence_int.h"

#include "memory/perturb.h"

unsigned home_controller(const struct coherence *c, uint64_t line)
{
    if (numa_several(c))
        return numa_place(c, numa_home(c, line));
    if (c->controllers == 1)
        return 0;
    return (unsigned)(line / c->banks % c->controllers * c->cores / c->controllers);
}

sim_cycle home_bank(struct txn *t, unsigned bank, sim_cycle at)
{
    struct coherence *c = t->c;

    if (!c->contention)
        return at;
    const sim_cycle start =
        calendar_take(&c->bank[bank], t->floor, at, (unsigned)c->params.l3.port);
    c->stats.bank_waits += start > at;
    c->stats.bank_wait_cycles += start - at;
    return start;
}

static bool is_store(const struct txn *t)
{
    return t->cmd != MEM_LOAD;
}

/* ---- who answers. Each returns when the core has the line ----------------------------------- */

/* Marks the transaction as far if this core, or home, is in another NUMA node than its own. */
static void may_be_far(struct txn *t, unsigned core)
{
    if (numa_several(t->c) && numa_node(t->c, core) != t->node)
        t->far = true;
}

/* The L3 of a node that is neither the core's nor the home's gives the line. */
static NO_INLINE sim_cycle from_third_l3(struct txn *t, sim_cycle at)
{
    const struct coh_times *time = &t->c->time;
    const unsigned place = numa_place(t->c, t->l3_node);

    t->far = true;
    at = coh_send(t, t->home, place, MSG_FORWARD, BYTES_CONTROL, at + time->search) + time->remote;
    return coh_send(t, place, t->core, MSG_DATA, BYTES_DATA, at);
}

/* The L3 has it, and no other core must be asked. */
static sim_cycle from_l3(struct txn *t, sim_cycle at)
{
    if (numa_several(t->c) && t->l3_node != t->home_numa)
        return from_third_l3(t, at);
    return coh_send(t, t->home, t->core, MSG_DATA, BYTES_DATA, at + t->c->time.lookup);
}

/* Core `from` gives the line. Returns when the core that asked has it; *there: when the one that
 * gives it sends it. */
static sim_cycle forwarded(struct txn *t, unsigned from, sim_cycle at, sim_cycle *there)
{
    const struct coh_times *time = &t->c->time;

    t->c->stats.forwards++;
    coh_event(t, (struct coh_change){LINE_TRANSFER, LEVEL_L1, t->core, from, t->line, PRIV_S,
                                     LOST_CLEAN});
    may_be_far(t, from);
    *there =
        coh_send(t, t->home, from, MSG_FORWARD, BYTES_CONTROL, at + time->search) + time->remote;
    return coh_send(t, from, t->core, MSG_DATA, BYTES_DATA, *there);
}

/* The owner keeps the line in S, and tells the home: with a write-back if it was M, else with a
 * notice, as the home can't know E from M. Returns when the home knows. */
static sim_cycle owner_shares(struct txn *t, unsigned owner, sim_cycle at)
{
    struct coherence *c = t->c;
    const bool dirty = private_downgrade(t, owner) == PRIV_M;

    t->entry->owner = NOBODY;
    if (!dirty && !c->ce) {
        c->stats.sharing_notices++;
        return coh_send(t, owner, t->home, MSG_NOTICE, BYTES_CONTROL, at);
    }
    c->stats.sharing_write_backs++;
    at = coh_send(t, owner, t->home, MSG_WRITE_BACK, BYTES_DATA, at);
    if (dirty && !c->ce)
        shared_write_back(t, owner, at);
    return at;
}

/* An invalidation, except for its messages. */
static void take_away(struct txn *t, unsigned core)
{
    private_drop(t, core, t->line, LOST_INVALIDATED);
    sharer_remove(t->entry, core);
    may_be_far(t, core);
}

/* Another core has it in E or M. The home is busy until the owner has told it about its line. */
static sim_cycle from_owner(struct txn *t, sim_cycle at)
{
    const unsigned owner = t->entry->owner;
    sim_cycle there;
    const sim_cycle done = forwarded(t, owner, at, &there);

    t->busy = done;
    if (is_store(t))
        take_away(t, owner);
    else
        t->busy = u64_max(done, owner_shares(t, owner, there));
    return done;
}

/* Takes away all copies but the asking core's and that of core `but`; sharers acknowledge to the
 * core that asked, not to the home. Returns when it has the last acknowledgement. */
static sim_cycle invalidate_others(struct txn *t, unsigned but, sim_cycle at, sim_cycle remote)
{
    uint64_t left[2] = {t->entry->sharers[0], t->entry->sharers[1]};
    sim_cycle last = at;

    while (sharers_any(left)) {
        const unsigned core = sharers_next(left);

        if (core == t->core || core == but)
            continue;
        const sim_cycle there = coh_send(t, t->home, core, MSG_INVALIDATE, BYTES_CONTROL, at);
        last = u64_max(last, coh_send(t, core, t->core, MSG_ACK, BYTES_CONTROL, there + remote));
        take_away(t, core);
        t->c->stats.invalidations++;
    }
    return last;
}

/* Cores have it in S. Where the L3 lacks it, the lowest of them gives it; a store's invalidations
 * of the others go first, as their acknowledgements are shorter than a line. */
static sim_cycle from_sharers(struct txn *t, bool in_l3, sim_cycle at)
{
    uint64_t sharers[2] = {t->entry->sharers[0], t->entry->sharers[1]};
    const struct coh_times *time = &t->c->time;
    const unsigned first = in_l3                ? NOBODY
                           : numa_several(t->c) ? numa_nearest(t, sharers)
                                                : sharers_next(sharers);
    sim_cycle there, done = at;

    if (is_store(t))
        done = invalidate_others(t, first, at + time->search, time->remote);
    const sim_cycle data = !in_l3               ? forwarded(t, first, at, &there)
                           : numa_several(t->c) ? from_l3(t, at)
                                                : coh_send(t, t->home, t->core, MSG_DATA,
                                                           BYTES_DATA, at + time->search);
    if (is_store(t) && !in_l3)
        take_away(t, first);
    return u64_max(done, data);
}

/* The transaction sleeps here where the memory answers later; the line's slot stays meanwhile. */
static sim_cycle memory_read(struct txn *t, sim_cycle at)
{
    struct coherence *c = t->c;
    const struct memory *m = c->memory;
    const struct mem_request read = {.addr = paddr_of(t->line << c->line_shift),
                                     .id = c->next_read++,
                                     .at = at,
                                     .traffic = t->traffic};
    const sim_cycle answer = m->type->request(m->self, &read);

    c->stats.memory_reads++;
    shared_victim_leave(t, t->victim_at);
    if (!m->type->later)
        return answer;
    t->entry->pending = true;
    c->n_pending++;
    const sim_cycle woken = c->host.sleep(c->host.self, COH_KEY_MEMORY(read.id));
    c->n_pending--;
    t->entry->pending = false;
    t->woken = true;
    t->floor = u64_max(t->floor, woken);
    c->about = t->line;
    return t->floor;
}

static sim_cycle from_memory(struct txn *t, sim_cycle at)
{
    struct coherence *c = t->c;
    const unsigned controller = home_controller(c, t->line);

    may_be_far(t, controller);
    t->victim_at = at + c->time.lookup;
    at = coh_send(t, t->home, controller, MSG_MEMORY_READ, BYTES_CONTROL, t->victim_at);
    if (UNLIKELY(c->memory->perturb != NULL))
        at += perturb_read(c->memory->perturb, t->line, t->traffic);
    at = memory_read(t, at);
    at = coh_send(t, controller, t->home, MSG_MEMORY_DATA, BYTES_DATA, at);
    if (c->inclusive_l3)
        coh_l3_event(t, LINE_FILL, 0, t->line, false, LOST_CLEAN);
    return coh_send(t, t->home, t->core, MSG_DATA, BYTES_DATA, at);
}

/* A history that is in no cache has no content: it comes in empty, without a read of memory. */
static sim_cycle from_nowhere(struct txn *t, sim_cycle at)
{
    t->c->stats.allocated++;
    if (t->c->inclusive_l3)
        coh_l3_event(t, LINE_FILL, 0, t->line, false, LOST_CLEAN);
    return from_l3(t, at);
}

/* ---- the two transactions ------------------------------------------------------------------- */

/* The L3 has the line. Counts the access. */
static bool look_up(struct txn *t, bool found)
{
    struct coherence *c = t->c;

    if (!c->inclusive_l3) {
        const unsigned node = numa_several(c) ? numa_l3(t) : 0;
        const uint32_t slot = node == c->numa.nodes ? CACHE_NONE : l3_find(c, node, t->line);
        t->l3_node = (uint8_t)node;
        found = slot != CACHE_NONE;
        if (found)
            cache_touch(&c->l3[node], slot);
    }
    coh_count(&c->stats.level[LEVEL_L3], t->core, t->traffic, t->cmd, found);
    return found;
}

/* Chooses who answers; *level: as it is counted. Returns when the core has the line. */
static sim_cycle supply(struct txn *t, bool in_l3, sim_cycle at, enum mem_level *level)
{
    const struct entry *e = t->entry;

    *level = LEVEL_REMOTE;
    if (e->owner != NOBODY)
        return from_owner(t, at);
    if (sharers_any(e->sharers) && (is_store(t) || !in_l3))
        return from_sharers(t, in_l3, at);
    *level = in_l3 || is_history(t->c, t->line) ? LEVEL_L3 : LEVEL_MEMORY;
    if (in_l3)
        return from_l3(t, at);
    return *level == LEVEL_L3 ? from_nowhere(t, at) : from_memory(t, at);
}

/* A load alone gets E, so that a store after it need not ask. */
static enum priv_state granted(const struct txn *t)
{
    if (is_store(t))
        return PRIV_M;
    if (numa_several(t->c) && numa_l3_elsewhere(t))
        return PRIV_S;
    return sharers_any(t->entry->sharers) ? PRIV_S : PRIV_E;
}

/* Ends a transaction: the home is free for the next one, whoever slept for the line goes on. */
static struct coh_result finish(struct txn *t, enum mem_level level, sim_cycle done)
{
    struct coherence *c = t->c;

    ENSURE(done >= t->start, c->host.context,
           "core %u has line 0x%llx at cycle %llu, before it asked at %llu", t->l1,
           (unsigned long long)(t->line << c->line_shift), (unsigned long long)done,
           (unsigned long long)t->start);
    if (c->contention)
        t->entry->busy = u64_max(done, t->busy);
    if (t->woken)
        c->host.wake(c->host.self, COH_KEY_LINE(t->line), u64_max(done, t->busy));
    c->stats.transactions++;
    c->stats.from[level]++;
    histogram_add(&c->stats.latency[level], done - t->start);
    struct answers *a = &c->stats.answers[t->traffic][level];
    a->all++;
    a->cycles += done - t->start;
    if (UNLIKELY(t->far)) {
        a->far++;
        a->far_cycles += done - t->start;
    }
    return (struct coh_result){
        .done = done, .level = (uint8_t)level, .left_core = true, .far = t->far};
}

/* The line was fetched ahead into the L2, and an access waited for it. Returns when it has it. */
static NO_INLINE sim_cycle take_fetched(struct txn *t, enum priv_state state, sim_cycle at)
{
    struct coherence *c = t->c;
    const struct private_caches *p = &c->priv[t->core];
    const uint32_t slot = cache_find(&p->l2, t->line);

    if (slot == CACHE_NONE)
        return at;
    at = u64_max(at, prefetch_used(c, t->core, slot, t->start + c->time.l2));
    if (!is_store(t) && !c->grouped && cache_find(&p->l1, t->line) == CACHE_NONE)
        private_up(t, slot, state, at);
    return at;
}

/* While this access slept, another of the same core or group brought the line: both were one miss,
 * unless permission is missing. */
static struct coh_result merged(struct txn *t, sim_cycle at)
{
    struct coherence *c = t->c;
    const enum priv_state state = private_state(c, t->core, t->line);

    if (UNLIKELY(c->prefetcher && !t->ahead))
        at = take_fetched(t, state, at);
    if (is_store(t) && state == PRIV_S)
        return home_upgrade(t, c->grouped ? LEVEL_L2 : LEVEL_L1, at);
    if (!t->ahead && (is_store(t) || c->grouped))
        private_grant(t, at);
    c->stats.merged++;
    return finish(t, LEVEL_MEMORY, at);
}

/* Chooses the bank that the request goes to, and with it the home's place in the network. */
static void choose_home(struct txn *t, bool upgrade)
{
    const struct coherence *c = t->c;

    t->bank = bank_in(c, numa_several(c) ? numa_ask(t, upgrade) : 0, t->line);
    t->home = c->bank_node[t->bank];
    may_be_far(t, t->home);
}

struct coh_result home_get(struct txn *t)
{
    struct coherence *c = t->c;
    enum mem_level level;
    bool found;

    choose_home(t, false);
    shared_prefetch(c, t->line);
    private_prefetch(c, t->core, t->line);
    sim_cycle at =
        coh_send(t, t->core, t->home, MSG_REQUEST, BYTES_CONTROL, t->start + c->time.leave);

    at = shared_entry(t, home_bank(t, t->bank, at), &found);
    if (UNLIKELY(sharer_has(t->entry, t->core)))
        return merged(t, at);
    const bool in_l3 = look_up(t, found);
    sim_cycle done = numa_several(c) && is_store(t)
                         ? numa_invalidate(t, at + c->time.search, c->time.remote)
                         : 0;
    done = u64_max(done, supply(t, in_l3, at, &level));
    const enum priv_state state = granted(t);
    shared_victim_leave(t, u64_max(t->floor, at + c->time.lookup));
    sharer_add(t->entry, t->core);
    if (state != PRIV_S)
        t->entry->owner = (uint8_t)t->core;
    private_fill(t, state, done);
    c->stats.stores += is_store(t);
    c->stats.loads += !is_store(t);
    return finish(t, level, done);
}

struct coh_result home_upgrade(struct txn *t, enum mem_level level, sim_cycle now)
{
    struct coherence *c = t->c;
    const struct coh_times *time = &c->time;
    const bool data = c->ce;
    sim_cycle at = now + time->upgrade_leave[level - LEVEL_L1];
    bool found;

    choose_home(t, true);
    if (!data)
        at = coh_send(t, t->core, t->home, MSG_REQUEST, BYTES_CONTROL, at);
    at = shared_entry(t, home_bank(t, t->bank, at), &found) + time->upgrade_search;
    ENSURE_STATE(found, t, t->l1, t->line);
    const bool alone = only_sharer(t->entry, t->core);
    sim_cycle done = invalidate_others(t, NOBODY, at, time->upgrade_remote);
    if (numa_several(c))
        done = u64_max(done, numa_invalidate(t, at, time->upgrade_remote));
    const sim_cycle granted = coh_send(t, t->home, t->core, data ? MSG_DATA : MSG_GRANT,
                                       data ? BYTES_DATA : BYTES_CONTROL, at);
    done = u64_max(done, alone ? granted + time->upgrade_remote : granted);
    t->entry->owner = (uint8_t)t->core;
    private_grant(t, done);
    c->stats.upgrades++;
    struct coh_result r = finish(t, LEVEL_REMOTE, done);
    r.upgraded = true;
    return r;
}
