/* network.c - the interconnect: an ideal crossbar, a bidirectional ring, a mesh.
 *
 * Timing is that of virtual cut-through switching with unbounded buffers: the head of a message
 * goes on hop by hop (router cycles, then waiting until the link is free for all its flits, then
 * wire cycles); the body follows, so that each link is taken for as many cycles as flits, and a
 * message that waits does not hold the link behind it. The arrival is the head's, since the
 * latencies of the levels contain one serialisation. On the crossbar a message takes the output
 * link of its source and the input link of its destination, and passes no router.
 *
 * The mesh has as many columns as the smallest c with c x c >= nodes, and node i stands in row
 * i / c, column i mod c; only the last row may be incomplete. Messages go along their row first,
 * then along the column (XY). One that starts in an incomplete last row, for a column that this row
 * does not have, first goes one row up: all other rows are complete, so each next node exists, and
 * the way is as short as any. */
#include "coherence/network.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

enum topology { CROSSBAR, RING, MESH };
enum { OUTPUT, INPUT, CROSSBAR_LINKS };                            /* of a node */
enum { CLOCKWISE, COUNTERCLOCKWISE, RING_LINKS };                  /* that leave a node */
enum { MESH_EAST, MESH_WEST, MESH_SOUTH, MESH_NORTH, MESH_LINKS }; /* likewise */

const char *const msg_text[MSGS] = {
#define MSG(NAME, text, help) [MSG_##NAME] = text,
#include "coherence/messages.def"
#undef MSG
};

int network_check(const struct network_params *p, struct err *e)
{
    if (is_power_of_2(p->link_bytes))
        return 0;
    return err_set(e, LARD_CONFIG,
                   "network.link-bytes: %" PRIu64
                   " is no power of 2; give 1, 2, 4, ... 1024 bytes, "
                   "such as 16",
                   p->link_bytes);
}

/* ---- state ---------------------------------------------------------------------------------- */

struct link {
    /* The cycles in which it carries a flit, with contention; flits carried so far. */
    struct calendar busy;
    uint64_t flits;
};

struct totals {
    uint64_t messages[TRAFFICS][MSGS], bytes[TRAFFICS][MSGS], flits[TRAFFICS][MSGS];
    uint64_t all_messages, all_bytes, all_flits; /* sums of the three above */
    uint64_t inside, between, untimed;           /* messages: in a node, over links, counted only */
    uint64_t hops, flit_hops;                    /* of all messages; the latter times their flits */
    uint64_t link_flits, busiest; /* flits: over all links; of the link with the most */
    uint64_t waited;              /* cycles, for links */
    struct histogram waits;       /* cycles that a message waited on its whole way */
};

/* Links between NUMA nodes: one from each package to each other, for each position in it, and one
 * from each node to each other of its package. A message goes to the package first. */
struct numa_links {
    unsigned nodes, cores, package; /* cores: of a node; package: nodes of one */
    uint64_t bytes;                 /* that a link carries in a cycle */
    sim_cycle hop, package_hop;
    struct link *link; /* owns; from node a to node b: a x nodes + b; NULL: there is one node */
    uint64_t messages, moved, hops, waited, busiest;
};

struct network {
    struct numa_links numa;
    network_seen *see; /* NULL: nobody watches */
    void *seer;
    bool beyond; /* one of these is there: a message asks for both at once */
    enum topology topology;
    bool contention;
    unsigned nodes, columns; /* columns: of the mesh */
    unsigned flit_shift;     /* log2 of a flit's bytes */
    sim_cycle router, wire;
    unsigned links;    /* that leave a node; on the crossbar its two */
    struct link *link; /* owns; of node i: from i x links on */
    struct totals total;
};

struct worm {              /* a message on its way */
    sim_cycle floor, head; /* as in calendar_take; where in time its head is */
    uint64_t flits;
};

/* ---- routes --------------------------------------------------------------------------------- */

struct hop {
    unsigned link; /* which of the links of the node that it leaves */
    unsigned node; /* the node that it leads to */
};

/* The shorter way round; clockwise where both are as long. */
static struct hop ring_hop(const struct network *n, unsigned at, unsigned to)
{
    const unsigned clockwise = to >= at ? to - at : to + n->nodes - at;

    if (clockwise <= n->nodes - clockwise)
        return (struct hop){CLOCKWISE, at + 1 < n->nodes ? at + 1 : 0};
    return (struct hop){COUNTERCLOCKWISE, at ? at - 1 : n->nodes - 1};
}

static struct hop mesh_hop(const struct network *n, unsigned at, unsigned to)
{
    const unsigned c = n->columns, x = at % c, to_x = to % c;
    const bool missing = at - x + to_x >= n->nodes; /* my row does not have that column */

    if (x == to_x && at < to)
        return (struct hop){MESH_SOUTH, at + c};
    if (x == to_x || missing)
        return (struct hop){MESH_NORTH, at - c};
    return x < to_x ? (struct hop){MESH_EAST, at + 1} : (struct hop){MESH_WEST, at - 1};
}

/* The next hop of a ring or mesh. */
static struct hop next_hop(const struct network *n, unsigned at, unsigned to)
{
    return n->topology == RING ? ring_hop(n, at, to) : mesh_hop(n, at, to);
}

static unsigned distance(unsigned a, unsigned b)
{
    return a < b ? b - a : a - b;
}

static inline unsigned hops_of(const struct network *n, unsigned from, unsigned to)
{
    assert(from < n->nodes && to < n->nodes);
    if (LIKELY(n->topology == CROSSBAR))
        return from != to;
    const unsigned d = distance(from, to), c = n->columns;
    if (n->topology == RING)
        return d <= n->nodes - d ? d : n->nodes - d;
    return distance(from % c, to % c) + distance(from / c, to / c);
}

/* ---- on the way ----------------------------------------------------------------------------- */

ALWAYS_INLINE void take_link(struct network *n, unsigned node, unsigned which, struct worm *w)
{
    struct link *l = &n->link[node * n->links + which];

    l->flits += w->flits;
    n->total.link_flits += w->flits;
    n->total.busiest = u64_max(n->total.busiest, l->flits);
    if (n->contention)
        w->head = calendar_take(&l->busy, w->floor, w->head, (unsigned)w->flits);
}

static NO_INLINE void travel_hops(struct network *n, unsigned from, unsigned to, struct worm *w)
{
    for (unsigned at = from; at != to;) {
        const struct hop h = next_hop(n, at, to);

        w->head += n->router;
        take_link(n, at, h.link, w);
        w->head += n->wire;
        at = h.node;
    }
}

static void take_numa_link(struct network *n, unsigned from, unsigned to, unsigned bytes,
                           sim_cycle cycles, struct worm *w)
{
    struct numa_links *u = &n->numa;
    struct link *l = &u->link[from * u->nodes + to];
    const unsigned taken = (unsigned)((bytes + u->bytes - 1) / u->bytes);
    const sim_cycle at = w->head;

    l->flits += taken;
    u->busiest = u64_max(u->busiest, l->flits);
    u->hops++;
    if (n->contention)
        w->head = calendar_take(&l->busy, w->floor, w->head, taken);
    u->waited += w->head - at;
    w->head += cycles;
}

static NO_INLINE void travel_numa(struct network *n, unsigned from, unsigned to, unsigned bytes,
                                  struct worm *w)
{
    struct numa_links *u = &n->numa;
    unsigned a = from / u->cores;
    const unsigned b = to / u->cores, there = b - b % u->package + a % u->package;

    if (a == b)
        return;
    u->messages++;
    u->moved += bytes;
    if (a != there)
        take_numa_link(n, a, there, bytes, u->hop, w);
    a = there;
    if (a != b)
        take_numa_link(n, a, b, bytes, u->package_hop, w);
}

static inline uint64_t count(struct network *n, enum msg m, unsigned bytes,
                             enum mem_traffic traffic)
{
    struct totals *t = &n->total;
    const uint64_t flit_bytes = UINT64_C(1) << n->flit_shift;
    const uint64_t flits = (bytes + flit_bytes - 1) >> n->flit_shift;

    t->messages[traffic][m]++;
    t->bytes[traffic][m] += bytes;
    t->flits[traffic][m] += flits;
    t->all_messages++;
    t->all_bytes += bytes;
    t->all_flits += flits;
    return flits;
}

void network_count(struct network *n, enum msg m, unsigned bytes, enum mem_traffic traffic)
{
    count(n, m, bytes, traffic);
    n->total.untimed++;
}

/* Sends a message over an on-chip network that nobody watches; send_beyond adds the rest. */
ALWAYS_INLINE void deliver(struct network *n, unsigned from, unsigned to, struct worm *w)
{
    struct totals *t = &n->total;
    const unsigned hops = hops_of(n, from, to);
    const sim_cycle at = w->head;

    if (!hops) {
        t->inside++;
        return;
    }
    t->between++;
    t->hops += hops;
    t->flit_hops += hops * w->flits;
    if (n->topology == CROSSBAR) {
        take_link(n, from, OUTPUT, w);
        take_link(n, to, INPUT, w);
    } else {
        travel_hops(n, from, to, w);
    }
    if (n->contention) { /* what it took beyond an idle network is waiting */
        const sim_cycle idle = n->topology == CROSSBAR ? 0 : hops * (n->router + n->wire);
        const sim_cycle waited = w->head - at - idle;
        t->waited += waited;
        histogram_add(&t->waits, waited);
    }
}

static NO_INLINE sim_cycle send_beyond(struct network *n, unsigned from, unsigned to, enum msg m,
                                       unsigned bytes, enum mem_traffic traffic, sim_cycle floor,
                                       sim_cycle at)
{
    struct worm w = {floor, at, count(n, m, bytes, traffic)};

    deliver(n, from, to, &w);
    if (n->numa.link)
        travel_numa(n, from, to, bytes, &w);
    if (n->see)
        n->see(n->seer, from, to, m, bytes, traffic, at, w.head);
    return w.head;
}

/* The rare cases, which need send_beyond, are told apart by one test in front, so that the caller's
 * arguments are still where that function takes them. */
sim_cycle network_send(struct network *n, unsigned from, unsigned to, enum msg m, unsigned bytes,
                       enum mem_traffic traffic, sim_cycle floor, sim_cycle at)
{
    if (UNLIKELY(n->beyond))
        return send_beyond(n, from, to, m, bytes, traffic, floor, at);
    struct worm w = {floor, at, count(n, m, bytes, traffic)};
    deliver(n, from, to, &w);
    return w.head;
}

void network_watch(struct network *n, network_seen *see, void *self)
{
    n->see = see;
    n->seer = self;
    n->beyond = true;
}

/* ---- statistics ----------------------------------------------------------------------------- */

struct by_class { /* one quantity of messages: its counters by traffic and class, and their sum */
    const char *name, *data_help, *metadata_help, *total_help; /* name: and the unit */
    const uint64_t (*field)[MSGS];
    const uint64_t *total;
};

static void declare_class(struct stats_group *parent, const struct by_class *b)
{
    struct stats_group *g = stats_group(parent, b->name);

    stats_vector(g, "data", b->name, b->data_help, b->field[TRAFFIC_DATA], MSGS, msg_text);
    stats_vector(g, "metadata", b->name, b->metadata_help, b->field[TRAFFIC_METADATA], MSGS,
                 msg_text);
    stats_count(g, "total", b->name, b->total_help, b->total);
    stats_sum(g, "sum", "Classes of data and metadata add up to the total.", b->field[0],
              (size_t)TRAFFICS * MSGS, b->total);
}

static void declare_classes(struct stats_group *g, const struct totals *t)
{
#define BY_CLASS(name, what)                                                                       \
    {                                                                                              \
#name, what " of accesses to data, by class.", what " of accesses to metadata, by class.", \
            what ".", t->name, &t->all_##name                                                      \
    }
    const struct by_class classes[] = {BY_CLASS(messages, "Messages"),
                                       BY_CLASS(bytes, "Bytes of messages"),
                                       BY_CLASS(flits, "Flits of messages")};
#undef BY_CLASS

    for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
        declare_class(g, &classes[i]);
}

static void declare_ways(struct stats_group *g, const struct network *n)
{
    const struct totals *st = &n->total;
    const bool crossbar = n->topology == CROSSBAR;

#define STATS_DEF "coherence/network_stats.def"
#include "base/stats_declare.h"
    stats_invariant(g, "messages.ways",
                    "Each message goes inside a node, between nodes, or is "
                    "counted only.",
                    STATS_SUM(&st->all_messages), STATS_EQ,
                    STATS_SUM(&st->inside, &st->between, &st->untimed));
    stats_invariant(g, "links.sum", "Each flit takes a link a hop, on the crossbar two.",
                    STATS_SUM(&st->link_flits), STATS_EQ,
                    STATS_SUM(&st->flit_hops, crossbar ? &st->flit_hops : NULL));
    stats_invariant(g, "links.most", "No link carries more than all of them.",
                    STATS_SUM(&st->busiest), STATS_LE, STATS_SUM(&st->link_flits));
    stats_invariant(g, "waits.sum", "The histogram of waits adds up to the cycles waited.",
                    STATS_SUM(&st->waits.sum), STATS_EQ, STATS_SUM(&st->waited));
    stats_invariant(g, "waits.count",
                    "With contention each message between nodes is in the "
                    "histogram.",
                    STATS_SUM(&st->waits.count), STATS_EQ,
                    STATS_SUM(n->contention ? &st->between : NULL));
}

/* ---- life ----------------------------------------------------------------------------------- */

static unsigned columns_for(unsigned nodes)
{
    unsigned c = 1;

    while ((uint64_t)c * c < nodes)
        c++;
    return c;
}

struct network *network_new(const struct network_params *p, unsigned nodes, bool contention,
                            const struct run_context *context, struct stats_group *g)
{
    static const unsigned links[] = {
        [CROSSBAR] = CROSSBAR_LINKS, [RING] = RING_LINKS, [MESH] = MESH_LINKS};
    struct network *n = xcalloc(1, sizeof *n);

    assert(nodes && p->topology < ARRAY_SIZE(links) && is_power_of_2(p->link_bytes));
    n->topology = (enum topology)p->topology;
    n->contention = contention;
    n->nodes = nodes;
    n->columns = columns_for(nodes);
    n->flit_shift = (unsigned)__builtin_ctzll(p->link_bytes);
    n->router = p->router;
    n->wire = p->wire;
    n->links = links[p->topology];
    n->link = xcalloc((size_t)nodes * n->links, sizeof *n->link);
    for (size_t i = 0; i < (size_t)nodes * n->links; i++)
        calendar_init(&n->link[i].busy, context);
    declare_classes(g, &n->total);
    declare_ways(g, n);
    return n;
}

static void declare_numa(struct stats_group *g, const struct numa_links *st)
{
#define STATS_DEF "coherence/numa_stats.def"
#include "base/stats_declare.h"
    stats_invariant(g, "hops.most", "Each message takes at least one link.",
                    STATS_SUM(&st->messages), STATS_LE, STATS_SUM(&st->hops));
}

void network_numa(struct network *n, const struct numa_params *p, unsigned cores,
                  struct stats_group *g)
{
    const size_t links = (size_t)p->nodes * p->nodes;

    n->numa = (struct numa_links){.nodes = (unsigned)p->nodes,
                                  .cores = cores,
                                  .package = (unsigned)p->package,
                                  .bytes = p->link_bytes,
                                  .hop = p->hop,
                                  .package_hop = p->package_hop,
                                  .link = xcalloc(links, sizeof *n->numa.link)};
    for (size_t i = 0; i < links; i++)
        calendar_init(&n->numa.link[i].busy, n->link[0].busy.context);
    n->beyond = true;
    declare_numa(g, &n->numa);
}

void network_free(struct network *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < (size_t)n->numa.nodes * n->numa.nodes; i++)
        calendar_free(&n->numa.link[i].busy);
    free(n->numa.link);
    for (size_t i = 0; i < (size_t)n->nodes * n->links; i++)
        calendar_free(&n->link[i].busy);
    free(n->link);
    free(n);
}
