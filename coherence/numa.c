/* numa.c - several nodes, each of some cores, an L3 and a memory (docs/machine.md, "Several
 * nodes").
 *
 * A page has its home in one node: its memory, and the directory's entries of its lines. The L3 of
 * a node is a victim cache of its cores, whatever their lines' homes are. These rules hold besides:
 * - A core gets a line alone (E or M) only if no L3 of another node has it: a load gets S beside
 *   such copies, a store takes them away. So all copies in L3s are fresh while nobody owns the
 * line, and only the owner's own node can have a stale one.
 * - What an owner writes back goes dirty into the L3 of its node. At most one L3 has a line dirty;
 *   others may have it clean meanwhile.
 * - A node answers alone what concerns nobody outside it (numa_ask); else the home decides. */
#include "coherence/coherence_int.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { DEFAULT_PAGE = 4096 };

/* ---- homes ---------------------------------------------------------------------------------- */

static uint64_t page_of(const struct coherence *c, uint64_t line)
{
    return line >> c->numa.page_shift;
}

unsigned numa_home(const struct coherence *c, uint64_t line)
{
    const uint64_t page = page_of(c, line);

    if (c->params.numa.home == HOME_INTERLEAVE)
        return (unsigned)(page % c->numa.nodes);
    const uint64_t *home = map_find(&c->numa.home, page);
    return home ? (unsigned)(*home - 1) : 0;
}

static void touch(struct coherence *c, uint64_t line, unsigned node)
{
    if (c->params.numa.home == HOME_INTERLEAVE)
        return;
    uint64_t *home = map_put(&c->numa.home, page_of(c, line));
    if (*home)
        return;
    *home = node + 1;
    c->numa.pages[node]++;
}

/* ---- who has a line ------------------------------------------------------------------------- */

bool numa_l3_elsewhere(const struct txn *t)
{
    for (unsigned i = 0; i < t->c->numa.nodes; i++)
        if (i != t->node && l3_find(t->c, i, t->line) != CACHE_NONE)
            return true;
    return false;
}

unsigned numa_l3(const struct txn *t)
{
    const struct coherence *c = t->c;
    const unsigned home = numa_home(c, t->line);
    unsigned node = 0;

    if (l3_find(c, t->node, t->line) != CACHE_NONE)
        return t->node;
    if (l3_find(c, home, t->line) != CACHE_NONE)
        return home;
    while (node < c->numa.nodes && l3_find(c, node, t->line) == CACHE_NONE)
        node++;
    return node;
}

unsigned numa_nearest(const struct txn *t, const uint64_t sharers[2])
{
    const uint64_t *mask = t->c->numa.mask[t->node];
    uint64_t own[2] = {sharers[0] & mask[0], sharers[1] & mask[1]};
    uint64_t all[2] = {sharers[0], sharers[1]};

    return sharers_next(sharers_any(own) ? own : all);
}

/* ---- whom to ask ---------------------------------------------------------------------------- */

struct holders {          /* of a line */
    bool inside, outside; /* cores of the node have it, cores or L3s of others have */
    bool l3, owned;       /* the node's L3 has it; a core has it in E or M */
};

static struct holders holders_of(const struct txn *t, const struct entry *e)
{
    const struct coherence *c = t->c;
    const uint64_t *mask = c->numa.mask[t->node];
    struct holders h = {.l3 = l3_find(c, t->node, t->line) != CACHE_NONE,
                        .outside = numa_l3_elsewhere(t)};

    if (!e)
        return h;
    h.inside = ((e->sharers[0] & mask[0]) | (e->sharers[1] & mask[1])) != 0;
    h.outside |= ((e->sharers[0] & ~mask[0]) | (e->sharers[1] & ~mask[1])) != 0;
    h.owned = e->owner != NOBODY;
    return h;
}

/* The node can answer alone. Its L3 can, if its line is fresh and permission is not missing; the
 * node's cores are found there only with lookup = node. */
static bool alone(const struct txn *t, const struct holders *h, bool upgrade)
{
    const bool finds = t->c->params.numa.lookup == LOOKUP_NODE;

    if (upgrade)
        return finds && !h->outside;
    if (t->cmd != MEM_LOAD && h->outside)
        return false;
    if (h->owned || (t->cmd != MEM_LOAD && h->inside))
        return finds && h->inside;
    return h->l3 || (finds && h->inside);
}

unsigned numa_ask(struct txn *t, bool upgrade)
{
    struct coherence *c = t->c;
    const uint32_t slot = cache_find(c->tags, t->line);
    const struct entry *e = slot == CACHE_NONE ? NULL : &c->entry[slot];

    t->node = (uint8_t)numa_node(c, t->core);
    t->l3_node = t->node;
    touch(c, t->line, t->node);
    const struct holders h = holders_of(t, e);
    t->near = !(e && e->pending) && alone(t, &h, upgrade);
    t->home_numa = (uint8_t)(t->near ? t->node : numa_home(c, t->line));
    return t->home_numa;
}

/* ---- stores --------------------------------------------------------------------------------- */

sim_cycle numa_invalidate(struct txn *t, sim_cycle at, sim_cycle remote)
{
    struct coherence *c = t->c;
    const bool owned = t->entry->owner != NOBODY;
    /* A line that is shared: every node is asked, if the directory does not know the sharers. */
    const bool all = c->params.numa.invalidate == INVALIDATE_ALL && !t->near && !owned &&
                     (sharers_any(t->entry->sharers) || numa_l3_elsewhere(t));
    sim_cycle last = at;

    for (unsigned node = 0; node < c->numa.nodes; node++) {
        const uint32_t slot = node == t->node ? CACHE_NONE : l3_find(c, node, t->line);
        const unsigned place = numa_place(c, node);

        /* An owner's stale copy goes with it, and what gives the line is asked for that. */
        const bool told = slot != CACHE_NONE && !owned && node != t->l3_node;
        if (slot != CACHE_NONE)
            shared_l3_drop(t, node, slot);
        if (!(told || all) || node == t->node)
            continue;
        t->far = true;
        const sim_cycle there = coh_send(t, t->home, place, MSG_INVALIDATE, BYTES_CONTROL, at);
        last = u64_max(last, coh_send(t, place, t->core, MSG_ACK, BYTES_CONTROL, there + remote));
    }
    return last;
}

/* ---- life ----------------------------------------------------------------------------------- */

void coherence_account(struct coherence *c, struct budget *b)
{
    map_init(&c->numa.home, b);
}

static const char *const node_names[MOST_NUMA_NODES] = {
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"};

void numa_init(struct coherence *c, uint64_t page, struct stats *stats)
{
    struct numa *u = &c->numa;

    u->nodes = (unsigned)c->params.numa.nodes;
    u->cores = c->cores / u->nodes;
    u->page_shift = (unsigned)__builtin_ctzll(page ? page : DEFAULT_PAGE);
    u->page_shift = u->page_shift > c->line_shift ? u->page_shift - c->line_shift : 0;
    u->mask = xcalloc(u->nodes, sizeof *u->mask);
    for (unsigned i = 0; i < c->cores; i++)
        u->mask[i / u->cores][i / 64] |= UINT64_C(1) << i % 64;
    map_init(&u->home, NULL);
    if (u->nodes > 1)
        stats_vector(stats_group(stats_root(stats), "numa"), "pages", "pages",
                     "Pages whose home is there by first touch, by NUMA node.", u->pages, u->nodes,
                     node_names);
}

void numa_free(struct coherence *c)
{
    free(c->numa.mask);
    map_free(&c->numa.home);
}
