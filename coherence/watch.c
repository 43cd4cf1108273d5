/* watch.c - what who watches a run is told of the caches: messages, and what happens to lines.
 * Nothing here changes anything, and none of it is called while nobody watches: a line event asks
 * whether somebody listens, a message whether it goes beyond the links of one node. Assertions ask
 * for states, too. */
#include "coherence/coherence_int.h"

/* A victim's messages go in the middle of the transaction that needs its room: c->about says whose
 * they are. */
static void see_message(void *self, unsigned from, unsigned to, enum msg m, unsigned bytes,
                        enum mem_traffic traffic, sim_cycle at, sim_cycle there)
{
    const struct coherence *c = self;

    c->watch.see(c->watch.self, &(struct coh_sight){.message = true,
                                                    .traffic = (uint8_t)traffic,
                                                    .line = paddr_of(c->about << c->line_shift),
                                                    .class = msg_text[m],
                                                    .from = from,
                                                    .to = to,
                                                    .bytes = bytes,
                                                    .at = at,
                                                    .there = there});
}

static const char letters[] = {[PRIV_I] = 'I', [PRIV_S] = 'S', [PRIV_E] = 'E', [PRIV_M] = 'M'};

static char letter(const struct coh_change *x)
{
    if (x->level == LEVEL_L3)
        return x->state == PRIV_M ? 'D' : 'C';
    return letters[x->state];
}

/* Why a cache lost the line; NULL: it did not. */
static const char *reason(const struct coh_change *x)
{
    static const char *const why[LOSSES] = {
        [LOST_CLEAN] = "room",      [LOST_DIRTY] = "room",  [LOST_INVALIDATED] = "store",
        [LOST_RECALLED] = "recall", [LOST_BELOW] = "below", [LOST_DROPPED] = "dropped",
    };

    return x->what == LINE_EVICT || x->what == LINE_INVALIDATE ? why[x->why] : NULL;
}

void coh_see(const struct txn *t, const struct coh_change *x)
{
    const struct coherence *c = t->c;
    const bool in = x->what == LINE_FILL, keeps = x->what == LINE_TRANSFER;

    c->watch.see(c->watch.self, &(struct coh_sight){.traffic = (uint8_t)t->traffic,
                                                    .line = paddr_of(x->line << c->line_shift),
                                                    .at = t->floor,
                                                    .from = x->from,
                                                    .what = (uint8_t)x->what,
                                                    .level = (uint8_t)x->level,
                                                    .core = (uint8_t)x->core,
                                                    .was = keeps ? 0
                                                           : in  ? 'I'
                                                                 : letter(x),
                                                    .is = keeps                       ? 0
                                                          : in                        ? letter(x)
                                                          : x->what == LINE_DOWNGRADE ? 'S'
                                                                                      : 'I',
                                                    .why = reason(x),
                                                    .cause = paddr_of(t->line << c->line_shift)});
}

void coherence_watch(struct coherence *c, void (*see)(void *self, const struct coh_sight *s),
                     void *self)
{
    c->watch = (struct coh_watch){see, self};
    c->room = 0;
    coherence_listen(c, c->heard);
    network_watch(c->network, see_message, c);
}

char coherence_state(const struct coherence *c, unsigned core, enum mem_level level,
                     struct paddr addr)
{
    const uint64_t line = addr.at >> c->line_shift;
    const struct cache *k = level == LEVEL_L3   ? &c->l3[numa_node(c, core)]
                            : level == LEVEL_L1 ? &c->priv[core].l1
                                                : &c->priv[leader(c, core)].l2;
    const bool has = level == LEVEL_L1 || (level == LEVEL_L2 ? c->has_l2 : c->has_l3);
    const uint32_t slot = has ? cache_find(k, line) : CACHE_NONE;

    if (slot == CACHE_NONE)
        return 'I';
    if (level != LEVEL_L3)
        return letters[k->state[slot]];
    return k->state[slot] & L3_DIRTY ? 'D' : 'C';
}
