/* shared.c - the L3, the entries of the directory, and what leaves them: recalls, write-backs,
 * puts (docs/machine.md, "Protocol").
 *
 * Where the L3 is inclusive, an entry belongs to a slot of the L3, and making room for a line
 * evicts both. Where it is not, the directory is an array of its own: the copies of its victim are
 * recalled (a sparse directory), while the L3 is filled by what the cores evict, and loses lines
 * without asking anyone. */
#include "coherence/coherence_int.h"

/* ---- to memory ------------------------------------------------------------------------------ */

/* Posted: nobody waits for it. */
static void memory_write(struct txn *t, uint64_t line, enum mem_traffic traffic, sim_cycle at)
{
    struct coherence *c = t->c;

    if (is_history(c, line)) /* the policy hears of it, and has it kept */
        return;
    c->about = line;
    const struct mem_request write = {
        .addr = paddr_of(line << c->line_shift),
        .at = coh_send_as(t, traffic, home_node(c, line), home_controller(c, line),
                          MSG_MEMORY_WRITE, BYTES_MEMORY, at),
        .write = true,
        .traffic = traffic,
    };

    c->memory->type->request(c->memory->self, &write);
    c->about = t->line;
}

/* ---- the L3's lines. `node`: the NUMA node whose L3 it is -------------------------------------
 */

static void l3_put(struct txn *t, unsigned node, uint32_t slot, uint64_t line, bool dirty,
                   enum mem_traffic traffic)
{
    struct cache_stats *s = &t->c->stats.level[LEVEL_L3];
    const unsigned data = dirty ? L3_DIRTY : L3_CLEAN;

    cache_put(&t->c->l3[node], slot, line,
              (uint8_t)(traffic == TRAFFIC_METADATA ? data | L3_METADATA : data));
    s->fills++;
    s->resident++;
}

static void l3_dirty(struct cache *l3, uint32_t slot)
{
    l3->state[slot] = (uint8_t)((l3->state[slot] & ~L3_CLEAN) | L3_DIRTY);
}

static void l3_evict(struct txn *t, unsigned node, uint32_t slot, bool dirty)
{
    struct coherence *c = t->c;
    const uint64_t line = cache_line(&c->l3[node], slot);

    cache_drop(&c->l3[node], slot);
    lose(c, LEVEL_L3, dirty ? LOST_DIRTY : LOST_CLEAN);
    coh_l3_event(t, LINE_EVICT, node, line, dirty, dirty ? LOST_DIRTY : LOST_CLEAN);
}

void shared_l3_drop(struct txn *t, unsigned node, uint32_t slot)
{
    struct cache *l3 = &t->c->l3[node];
    const bool dirty = l3->state[slot] & L3_DIRTY;

    cache_drop(l3, slot);
    lose(t->c, LEVEL_L3, LOST_INVALIDATED);
    coh_l3_event(t, LINE_INVALIDATE, node, t->line, dirty, LOST_INVALIDATED);
}

/* Non-inclusive: the L3 takes a line from a core. Its own victim is in no core's way: a dirty one
 * is written to memory, a clean one forgotten. */
static void l3_take(struct txn *t, unsigned node, uint64_t line, bool dirty,
                    enum mem_traffic traffic, sim_cycle at)
{
    struct coherence *c = t->c;
    struct cache *l3 = &c->l3[node];
    uint32_t slot = l3_find(c, node, line);

    if (slot != CACHE_NONE) {
        if (dirty)
            l3_dirty(l3, slot);
        return;
    }
    if (!c->has_l3) {
        if (dirty)
            memory_write(t, line, traffic, at);
        return;
    }
    slot = cache_victim(l3, line);
    if (cache_valid(l3, slot)) {
        const uint64_t victim = cache_line(l3, slot);
        const uint8_t state = l3->state[slot];

        l3_evict(t, node, slot, state & L3_DIRTY);
        if (state & L3_DIRTY)
            memory_write(t, victim, state & L3_METADATA ? TRAFFIC_METADATA : TRAFFIC_DATA, at);
    }
    l3_put(t, node, slot, line, dirty, traffic);
    coh_l3_event(t, LINE_FILL, node, line, dirty, LOST_CLEAN);
}

void shared_write_back(struct txn *t, unsigned owner, sim_cycle at)
{
    struct coherence *c = t->c;

    if (c->inclusive_l3)
        l3_dirty(c->l3, entry_slot(c, t->entry));
    else
        l3_take(t, numa_node(c, owner), t->line, true, (enum mem_traffic)t->entry->traffic, at);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* A line that waits for the memory can't be evicted: its transaction goes on in this slot. */
static bool may_go(void *arg, uint32_t slot)
{
    const struct coherence *c = arg;

    return !c->entry[slot].pending;
}

/* Takes the victim's copies out of all private caches at once; the messages of that wait in
 * t->victim until shared_victim_leave, so that the request which needs the room goes first. */
static void recall(struct txn *t, uint64_t line, const struct entry *e)
{
    uint64_t left[2] = {e->sharers[0], e->sharers[1]};

    ENSURE_STATE(!t->victim.any, t, t->l1, t->victim.line);
    t->victim.any = true;
    t->victim.line = line;
    t->victim.sharers[0] = left[0];
    t->victim.sharers[1] = left[1];
    t->victim.modified = NOBODY;
    t->victim.traffic = (enum mem_traffic)e->traffic;
    while (sharers_any(left)) {
        const unsigned core = sharers_next(left);

        if (private_drop(t, core, line, LOST_RECALLED) == PRIV_M)
            t->victim.modified = core;
        t->c->stats.recalls++;
    }
    t->victim.dirty = t->victim.modified != NOBODY;
}

static void entry_evict(struct txn *t, uint32_t slot)
{
    struct coherence *c = t->c;

    recall(t, cache_line(c->tags, slot), &c->entry[slot]);
    if (c->inclusive_l3) {
        t->victim.dirty |= (c->l3->state[slot] & L3_DIRTY) != 0;
        l3_evict(t, 0, slot, t->victim.dirty);
    } else {
        cache_drop(c->tags, slot);
        c->stats.entries_recalled++;
        c->stats.entries_live--;
    }
}

static void entry_make(struct txn *t, uint32_t slot)
{
    struct coherence *c = t->c;

    if (cache_valid(c->tags, slot))
        entry_evict(t, slot);
    if (c->inclusive_l3) {
        l3_put(t, 0, slot, t->line, false, t->traffic);
    } else {
        cache_put(c->tags, slot, t->line, 1);
        c->stats.entries_made++;
        c->stats.entries_live++;
    }
    c->entry[slot] = (struct entry){.owner = NOBODY, .traffic = (uint8_t)t->traffic};
    t->entry = &c->entry[slot];
}

/* Sleeps until the transaction that has `line` is done; returns the cycle then, at least `at`. */
static sim_cycle sleep_for(struct txn *t, uint64_t line, sim_cycle at)
{
    struct coherence *c = t->c;

    t->floor = u64_max(t->floor, c->host.sleep(c->host.self, COH_KEY_LINE(line)));
    c->about = t->line;
    return u64_max(t->floor, at);
}

/* A slot for the line's entry. CACHE_NONE: all of its set wait for the memory; *blocked is then one
 * of their lines, to sleep for. */
static uint32_t entry_room(struct txn *t, uint64_t *blocked)
{
    struct coherence *c = t->c;

    if (!c->n_pending)
        return cache_victim(c->tags, t->line);
    const uint32_t slot = cache_victim_among(c->tags, t->line, may_go, c);
    if (slot == CACHE_NONE)
        *blocked = cache_line(c->tags, cache_victim(c->tags, t->line));
    return slot;
}

/* Looks again after each sleep: meanwhile anything can have come, gone, or taken the slot. */
sim_cycle shared_entry(struct txn *t, sim_cycle at, bool *found)
{
    struct coherence *c = t->c;
    const sim_cycle came = at;

    for (;;) {
        uint64_t blocked = t->line;
        uint32_t slot = cache_find(c->tags, t->line);

        *found = slot != CACHE_NONE;
        if (*found && !c->entry[slot].pending) {
            cache_touch(c->tags, slot);
            t->entry = &c->entry[slot];
            at = u64_max(at, t->entry->busy);
            break;
        }
        if (!*found && (slot = entry_room(t, &blocked)) != CACHE_NONE) {
            entry_make(t, slot);
            break;
        }
        c->stats.set_waits += !*found;
        at = sleep_for(t, blocked, at);
    }
    c->stats.line_waits += at > came;
    c->stats.line_wait_cycles += at - came;
    return at;
}

/* ---- what leaves ---------------------------------------------------------------------------- */

/* Recalls: an invalidation to each core that had the victim, and its answer, with the line if it
 * was M. Returns when the last answer is at the home. */
static sim_cycle recall_messages(struct txn *t, sim_cycle at)
{
    struct coherence *c = t->c;
    const enum mem_traffic traffic = t->victim.traffic;
    const unsigned home = home_node(c, t->victim.line);
    sim_cycle last = at;

    c->about = t->victim.line;
    while (sharers_any(t->victim.sharers)) {
        const unsigned core = sharers_next(t->victim.sharers);
        const bool modified = core == t->victim.modified;
        const sim_cycle there =
            coh_send_as(t, traffic, home, core, MSG_INVALIDATE, BYTES_CONTROL, at);

        if (!modified || c->ce)
            last =
                u64_max(last, coh_send_as(t, traffic, core, home, MSG_ACK, BYTES_CONTROL, there));
        if (modified)
            last = u64_max(last,
                           coh_send_as(t, traffic, core, home, MSG_WRITE_BACK, BYTES_DATA, there));
    }
    c->about = t->line;
    return last;
}

void shared_victim_leave(struct txn *t, sim_cycle at)
{
    if (!t->victim.any)
        return;
    at = recall_messages(t, at);
    t->victim.any = false;
    if (!t->victim.dirty)
        return;
    if (t->c->inclusive_l3)
        memory_write(t, t->victim.line, t->victim.traffic, at);
    else
        l3_take(t, numa_node(t->c, t->victim.modified), t->victim.line, true, t->victim.traffic,
                at);
}

void shared_entry_end(struct coherence *c, uint32_t slot)
{
    cache_drop(c->tags, slot);
    c->stats.entries_ended++;
    c->stats.entries_live--;
}

static void put_notice(struct txn *t, enum mem_traffic traffic, unsigned bank, sim_cycle at)
{
    const unsigned home = t->c->bank_node[bank];

    at = coh_send_as(t, traffic, t->core, home, MSG_PUT, BYTES_CONTROL, at);
    at = home_bank(t, bank, at);
    coh_send_as(t, traffic, home, t->core, MSG_ACK, BYTES_CONTROL, at);
}

/* True: another holder of the line is in the core's NUMA node. */
static bool node_has(const struct txn *t, const struct entry *e)
{
    const uint64_t *mask = t->c->numa.mask[numa_node(t->c, t->core)];

    return ((e->sharers[0] & mask[0]) | (e->sharers[1] & mask[1])) != 0;
}

/* Sends a put or write-back, which its bank queues like a request and acknowledges. Returns when
 * the home has it. */
static sim_cycle put_message(struct txn *t, uint64_t line, enum mem_traffic traffic, bool dirty,
                             bool data, sim_cycle at)
{
    struct coherence *c = t->c;
    const unsigned home_bank_number = home_number(c, line);
    const unsigned bank =
        numa_several(c) ? bank_in(c, numa_node(c, t->core), line) : home_bank_number;
    const unsigned home = c->bank_node[bank];
    const unsigned dirty_bytes = c->ce ? BYTES_TAGGED : BYTES_DATA;
    const unsigned clean_bytes = data ? BYTES_DATA : BYTES_CONTROL;

    c->stats.write_backs += dirty;
    c->stats.puts += !dirty;
    at = coh_send_as(t, traffic, t->core, home, dirty ? MSG_WRITE_BACK : MSG_PUT,
                     dirty ? dirty_bytes : clean_bytes, at);
    if (bank != home_bank_number) /* the data stay in the node; the directory hears of it */
        put_notice(t, traffic, home_bank_number, at);
    at = home_bank(t, bank, at);
    coh_send_as(t, traffic, home, t->core, MSG_ACK, BYTES_CONTROL, at);
    return at;
}

void shared_put(struct txn *t, uint64_t line, uint32_t slot, enum priv_state state, sim_cycle at)
{
    struct coherence *c = t->c;
    struct entry *e = &c->entry[slot];
    const enum mem_traffic traffic = (enum mem_traffic)e->traffic;
    const bool dirty = state == PRIV_M;
    bool take = false;

    c->about = line;
    sharer_remove(e, t->core);
    if (e->owner == t->core)
        e->owner = NOBODY;
    if (!c->inclusive_l3) /* the last clean copy is worth keeping, and so is put with its data */
        take =
            dirty || (c->has_l3 && !(numa_several(c) ? node_has(t, e) : sharers_any(e->sharers)) &&
                      l3_find(c, numa_node(c, t->core), line) == CACHE_NONE);
    at = put_message(t, line, traffic, dirty, take, at);
    if (take)
        l3_take(t, numa_node(c, t->core), line, dirty, traffic, at);
    else if (dirty)
        l3_dirty(c->l3, slot);
    if (!c->inclusive_l3 && !sharers_any(e->sharers))
        shared_entry_end(c, slot);
}

/* Most misses of a large trace miss the host's caches as well: these misses then overlap. */
static void prefetch(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)from + i, 1);
}

void shared_prefetch(const struct coherence *c, uint64_t line)
{
    const struct cache *k = c->tags;
    const uint32_t first = cache_set(k, line) * k->ways;

    prefetch(&k->tag[first], k->ways * sizeof *k->tag);
    if (k->geometry.replacement == REPLACE_LRU)
        prefetch(&k->order[first], k->ways * sizeof *k->order);
    prefetch(&k->state[first], k->ways);
}
