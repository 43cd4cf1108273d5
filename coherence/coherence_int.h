/* coherence_int.h - what the files of coherence/ share: parameters in use, one transaction, the
 * directory entry, counters. Nothing outside this folder includes it.
 *
 * A private hierarchy is one holder to the directory: "core c has the line" means in its L1 or L2.
 * Where cores share an L2 (l2.shared-by), the group is one holder: it has the number of its first
 * core, its leader, and its place in the network. group.c keeps the L1s of a group coherent.
 * Where the L3 is inclusive, the directory's tags are the L3's; else they are an array of its own,
 * with an entry for every line that a core holds. */
#ifndef LARDSIM_COH_INT_H
#define LARDSIM_COH_INT_H

#include "base/map.h"
#include "cache/cache.h"
#include "coherence/coherence.h"
#include "coherence/network.h"

/* MESI in a private cache. In this order, since "E or better" is the permission to store. */
enum priv_state { PRIV_I, PRIV_S, PRIV_E, PRIV_M };
/* Bits of an L3 slot's state. METADATA: the access that brought the line was one of metadata. */
enum { L3_CLEAN = 1, L3_DIRTY = 2, L3_METADATA = 4 };
/* Sizes of messages, as the CE simulator counts them: a line of 64 bytes with 2, 5 or 8 bytes of
 * header; control messages are 8 bytes. TAGGED: see coherence.ce. */
enum { BYTES_CONTROL = 8, BYTES_DATA = 66, BYTES_MEMORY = 69, BYTES_TAGGED = 72 };
enum { COMMANDS = 3 }; /* enum mem_cmd has so many */

/* ---- parameters: coherence/params.c --------------------------------------------------------- */

enum { L2_INCLUSIVE, L2_EXCLUSIVE };
enum { L3_INCLUSIVE, L3_NON_INCLUSIVE };
enum { REMOTE_ADDED, REMOTE_TOTAL };
enum { UPGRADE_LEVEL, UPGRADE_HOME };
enum { ABSOLUTE, CUMULATIVE };

struct l1_params {
    uint64_t size, ways, latency;
    uint32_t replacement;
};
struct l2_params {
    uint64_t size, ways, latency, shared_by, sibling;
    uint32_t replacement, inclusion;
};
struct l3_params {
    uint64_t size, ways, latency, banks, port, directory_size, directory_ways;
    uint32_t replacement, inclusion;
};
struct protocol_params {
    uint64_t remote, seed;
    uint32_t remote_cost, upgrade_cost, composition;
};
struct prefetch_params { /* section core.prefetch; streams = 0: there is none */
    uint64_t streams, degree, distance, misses;
};
enum { HOME_FIRST_TOUCH, HOME_INTERLEAVE };
enum { LOOKUP_HOME, LOOKUP_NODE };
enum { INVALIDATE_SHARERS, INVALIDATE_ALL };
struct coh_params {
    struct l1_params l1;
    struct l2_params l2;
    struct l3_params l3;
    struct protocol_params coherence;
    struct network_params network;
    struct numa_params numa;
    struct prefetch_params prefetch;
};
struct coh_shapes { /* of the arrays; bytes = 0: there is none */
    struct cache_geometry l1, l2, l3, directory;
};

/* Binds all sections; resolves what 0 stands for; refuses impossible machines. */
int coh_params_read(const struct coh_env *env, struct coh_params *p, struct err *e);
int coh_params_shapes(const struct coh_params *p, const struct coh_env *env, struct coh_shapes *to,
                      struct err *e);

/* How the latency of an access is spread over its way, in cycles. Each field is the time from the
 * step before it, such that the sums are the latencies that docs/machine.md tables. */
struct coh_times {
    sim_cycle l1, l2; /* a hit, from the start of the access */
    sim_cycle leave;  /* from the start until the request leaves the core */
    sim_cycle lookup; /* at the home, until it answers or asks the memory */
    sim_cycle search; /* at the home, until it asks other cores */
    sim_cycle remote; /* at a core that is asked, until it answers */
    /* The same of an upgrade; it leaves from the L1 or the L2, whichever has the line in S. */
    sim_cycle upgrade_leave[2], upgrade_search, upgrade_remote;
};
sim_cycle coh_params_l3(const struct coh_params *p); /* a hit of the L3 */
void coh_params_times(const struct coh_params *p, struct coh_times *to);

/* ---- counters: coherence/stats.c ------------------------------------------------------------ */

enum loss { /* how a cache loses a line */
            LOST_CLEAN,
            LOST_DIRTY,
            LOST_INVALIDATED, /* another core stores */
            LOST_RECALLED,    /* the L3 or the directory had to give it up */
            LOST_BELOW,       /* an inclusive L2 had to give it up */
            LOST_MOVED,       /* from an exclusive L2 up to the L1 */
            LOST_DROPPED,     /* a policy took it out (histories.c) */
            LOSSES
};
struct cache_stats {           /* of a level, over all cores */
    uint64_t accesses, misses; /* a store that hits a line in S is a miss */
    uint64_t hit[TRAFFICS][COMMANDS], miss[TRAFFICS][COMMANDS];
    uint64_t upgrade[TRAFFICS][COMMANDS]; /* of the misses; never of loads */
    uint64_t core_accesses[MAX_CORES], core_misses[MAX_CORES];
    uint64_t fills, lost[LOSSES], downgrades, resident; /* lines; fills = lost + resident */
    uint64_t capacity, resident_metadata;               /* lines, as of the last census */
};
struct prefetch_stats {                                /* lines that prefetchers asked for */
    uint64_t issued, useful, late, useless, untouched; /* issued = all the others */
    uint64_t late_cycles, full;
};
struct coh_stats {
    struct cache_stats level[LEVEL_L3 + 1];                               /* L1, L2, L3 */
    uint64_t entries_made, entries_ended, entries_recalled, entries_live; /* non-inclusive only */
    uint64_t transactions, loads, stores, upgrades, merged;
    uint64_t from[LEVELS]; /* transactions, by who answered */
    /* The same by whose line it is; their cycles; those of them in which another NUMA node took
     * part, and their cycles. */
    struct answers {
        uint64_t all, cycles, far, far_cycles;
    } answers[TRAFFICS][LEVELS];
    /* Lines that one core's caches gave to another core; those given to a load after which the
     * former owner wrote back, or only notified the home; copies taken away for a store; copies
     * that had to go for room. */
    uint64_t forwards, sharing_write_backs, sharing_notices, invalidations, recalls;
    uint64_t puts, write_backs, memory_reads; /* private victims; lines */
    /* histories.c: lines that came in empty, were dropped; requests to other cores' caches, and the
     * cores probed by them; bytes. */
    uint64_t allocated, dropped, probes, probed, piggybacked;
    uint64_t line_waits, line_wait_cycles, bank_waits, bank_wait_cycles, set_waits;
    /* Inside groups: L2 hits that met a sibling's copy; lines that a sibling wrote back for them.
     */
    uint64_t sibling_hits, sibling_write_backs;
    struct prefetch_stats prefetch[TRAFFICS];
    struct histogram latency[LEVELS]; /* cycles of an access, by who answered */
};
void coh_stats_declare(struct coherence *c, struct stats *stats);

/* ---- state ---------------------------------------------------------------------------------- */

enum { NOBODY = 255 };

/* The directory's entry of a line, found by the slot of its tags. */
struct entry {
    uint64_t sharers[2]; /* a bit for each core that has the line */
    sim_cycle busy;      /* until then the last transaction has the line; contention only */
    uint8_t owner;       /* the core that has it in E or M, or NOBODY */
    uint8_t traffic;     /* whose line it is: of the access that brought it */
    bool pending;        /* its memory read is not answered: no core has it, it can't be evicted */
};

struct private_caches {
    struct cache l1,
        l2; /* where cores share an L2, their leader has it, and the others have none */
    /* Owned; by slot: where the line of that slot stands one level down, so that a victim need not
     * be searched for there. l1_below: its slot in an inclusive L2; with no such L2, its entry in
     * the directory. l2_home: its entry in the directory. */
    uint32_t *l1_below, *l2_home;
    /* Owned; of a shared L2, by slot: which L1s of its group have the line, a bit each from the
     * leader's on. NULL: the L2 is one core's. */
    uint8_t *l2_above;
    struct fetched { /* owned; of an L2, by slot: a line that a prefetcher brought */
        sim_cycle ready;
        uint8_t traffic;
        bool untouched; /* nobody has accessed it yet; else the others have no value */
    } * l2_fetched;     /* NULL: there are no prefetchers */
};
enum { MOST_SHARED_BY = 8 }; /* bits of l2_above */

/* Several nodes, each of some cores, an L3 and a memory: numa.c. */
struct numa {
    unsigned nodes, cores;           /* cores of a node */
    unsigned page_shift;             /* log2 of a page's lines */
    uint64_t (*mask)[2];             /* owns; by node: its cores, as a set of sharers */
    struct map home;                 /* first touch: page to its home + 1 */
    uint64_t pages[MOST_NUMA_NODES]; /* homes given */
};

struct coherence {
    struct private_caches *priv; /* owns; by core */
    unsigned line_shift, cores;  /* log2 of a line's bytes */
    struct coh_times time;
    bool has_l3, has_l2, exclusive, inclusive_l2, inclusive_l3, contention; /* exclusive: the L2 */
    bool grouped;                                                           /* cores share L2s */
    unsigned group_mask;        /* cores of a group - 1 */
    unsigned listens;           /* line events that somebody hears of, bits by enum line_what */
    unsigned heard;             /* of these, what a policy does: they are kept */
    struct cache *l3;           /* owns; by NUMA node */
    struct cache own_directory; /* non-inclusive L3 only */
    struct cache *tags;         /* of the directory: one of the two arrays above */
    struct entry *entry;        /* owns; by slot of *tags */
    struct coh_params params;
    /* The CE simulator (ARC, IPDPS 2019) has other rules (compat = ce): its L2 and L3 replace in
     * order of fill (coh_params_read); a private victim is the last of its order though a way is
     * free; an owner writes back for a load in E, too, and what it writes back does not make the L3
     * dirty; an upgrade is answered with data, and not asked for; a dirty private victim takes 72
     * bytes; a recalled copy in M sends an acknowledgement and the data. */
    bool ce;
    struct calendar *bank;   /* owns; by bank; contention only */
    struct network *network; /* owns */
    struct memory *memory;   /* borrows */
    struct coh_host host;
    unsigned banks, bank_mask; /* of a NUMA node; mask: 0 where no power of 2, or one */
    unsigned controllers;      /* of memory */
    uint8_t *bank_node;        /* owns; by bank: its place in the network */
    struct numa numa;
    unsigned n_pending;              /* entries that wait for the memory */
    uint64_t next_read;              /* id of the next memory read */
    sim_cycle latest;                /* start of the latest access: time does not run back */
    uint64_t histories, n_histories; /* number of the first line of histories; how many */
    uint64_t lost;                   /* coherence_lost */
    struct prefetcher *prefetcher;   /* owns; by core; NULL: there are none */
    unsigned stream_shift;           /* log2 of the lines in which a stream stays */
    struct line_queue lines;         /* events not taken yet; owns */
    size_t room;                     /* of lines; 0 where somebody watches */
    uint64_t about;                  /* the line whose messages go, for who watches */
    struct coh_watch {               /* coherence_watch */
        void (*see)(void *self, const struct coh_sight *s); /* NULL: nobody watches */
        void *self;
    } watch;
    struct coh_stats stats;
};

/* One access that the L1 does not answer, from then until it is done. */
struct txn {
    struct coherence *c;
    uint64_t line;       /* its number */
    unsigned core, home; /* who asks; the node of the line's L3 bank and directory entry */
    unsigned l1;         /* the core whose L1 missed: where an L2 is shared, `core` is its leader */
    unsigned bank;       /* at `home` */
    /* NUMA nodes: of the core; of `home`; whose L3 has the line, while in_l3. Valid where there
     * are several. */
    uint8_t node, home_numa, l3_node;
    bool far;   /* coh_result */
    bool near;  /* its own node answers alone */
    bool ahead; /* a prefetcher asks: the line goes into the L2 alone */
    enum mem_cmd cmd;
    enum mem_traffic traffic;
    sim_cycle start;
    sim_cycle floor;     /* no later reservation of this transaction is before it: its start, or the
                            cycle of its last wake */
    sim_cycle busy;      /* when the home is done with it, if that is later than when the core is */
    bool woken;          /* it slept for the memory: others may sleep for its line */
    struct entry *entry; /* of the line */
    sim_cycle victim_at; /* when the victim's messages leave, at the earliest */
    struct {             /* the line that had to make room in the directory or the inclusive L3 */
        bool any, dirty;
        uint64_t line;
        uint64_t sharers[2]; /* who had copies: their messages are not sent yet */
        unsigned modified;   /* the core that had it in M, or NOBODY */
        enum mem_traffic traffic;
    } victim; /* while `any` is false, the other fields have no value */
};

/* Sets the fields one by one: to clear the whole struct would take the host as long as an L2 hit.
 */
static inline void txn_begin(struct txn *t, struct coherence *c, unsigned core, uint64_t line,
                             enum mem_cmd cmd, enum mem_traffic traffic, sim_cycle now)
{
    t->c = c;
    t->line = line;
    t->core = core & ~c->group_mask;
    t->l1 = core;
    t->home = 0;
    t->cmd = cmd;
    t->traffic = traffic;
    t->start = t->floor = now;
    t->busy = 0;
    t->far = false;
    t->ahead = false;
    t->woken = false;
    t->entry = NULL;
    t->victim_at = 0;
    t->victim.any = false;
    c->about = line;
}

/* ---- small things --------------------------------------------------------------------------- */

static inline bool sharer_has(const struct entry *e, unsigned core)
{
    return e->sharers[core / 64] >> core % 64 & 1;
}
static inline void sharer_add(struct entry *e, unsigned core)
{
    e->sharers[core / 64] |= UINT64_C(1) << core % 64;
}
static inline void sharer_remove(struct entry *e, unsigned core)
{
    e->sharers[core / 64] &= ~(UINT64_C(1) << core % 64);
}
static inline bool sharers_any(const uint64_t sharers[2])
{
    return (sharers[0] | sharers[1]) != 0;
}
/* Takes the lowest core out of the set; there is one. */
static inline unsigned sharers_next(uint64_t sharers[2])
{
    const unsigned word = sharers[0] ? 0 : 1;
    const unsigned core = word * 64 + (unsigned)__builtin_ctzll(sharers[word]);

    sharers[word] &= sharers[word] - 1;
    return core;
}
static inline bool only_sharer(const struct entry *e, unsigned core)
{
    const uint64_t bit = UINT64_C(1) << core % 64;

    return core < 64 ? e->sharers[0] == bit && !e->sharers[1]
                     : e->sharers[1] == bit && !e->sharers[0];
}
static inline void lose(struct coherence *c, enum mem_level level, enum loss how)
{
    c->stats.level[level].lost[how]++;
    c->stats.level[level].resident--;
    /* A private loss in front of an inclusive L3 leaves the line there: not its last cache. */
    c->lost += level == LEVEL_L3 || !c->inclusive_l3;
}

/* Returns the core whose private_caches hold the L2 that this core uses, and which stands for the
 * whole group in the directory. */
static inline unsigned leader(const struct coherence *c, unsigned core)
{
    return core & ~c->group_mask;
}
/* The directory entry of the line in this slot of a core's L1, found by the links down. */
static inline uint32_t l1_home(const struct coherence *c, unsigned core, uint32_t slot)
{
    const uint32_t below = c->priv[core].l1_below[slot];

    return c->inclusive_l2 ? c->priv[leader(c, core)].l2_home[below] : below;
}
static inline uint32_t entry_slot(const struct coherence *c, const struct entry *e)
{
    return (uint32_t)(e - c->entry);
}
/* Counts an access at a level. (The hot path of the L1 has its own three lines for its hits.) */
static inline void coh_count(struct cache_stats *s, unsigned core, enum mem_traffic traffic,
                             enum mem_cmd cmd, bool hit)
{
    s->accesses++;
    s->core_accesses[core]++;
    if (hit) {
        s->hit[traffic][cmd]++;
        return;
    }
    s->miss[traffic][cmd]++;
    s->misses++;
    s->core_misses[core]++;
}

/* Asserts a rule about a core's copy of a line, in the transaction t; the message says the states
 * of that copy and the access. */
#define ENSURE_STATE(rule, t, core, of_line)                                                       \
    ENSURE(rule, (t)->c->host.context,                                                             \
           "line 0x%llx of core %u is in %c in the L1 and %c in the L2; core %u accesses 0x%llx",  \
           (unsigned long long)((of_line) << (t)->c->line_shift), (unsigned)(core),                \
           coherence_state((t)->c, core, LEVEL_L1, paddr_of((of_line) << (t)->c->line_shift)),     \
           coherence_state((t)->c, core, LEVEL_L2, paddr_of((of_line) << (t)->c->line_shift)),     \
           (t)->l1, (unsigned long long)((t)->line << (t)->c->line_shift))

/* ---- coherence.c ---------------------------------------------------------------------------- */

/* A change of a line, to be told. core, from: as in struct line_event; state: the one in which the
 * cache had the line, or in which a fill brings it in, and in the L3 M for dirty; why: how a line
 * is lost. */
struct coh_change {
    enum line_what what;
    enum mem_level level;
    unsigned core, from;
    uint64_t line;
    enum priv_state state;
    enum loss why;
};
/* Appends a line event to the queue of policies, which has room. */
ALWAYS_INLINE void coh_event_queue(struct coherence *c, const struct txn *t, struct coh_change x)
{
    c->lines.at[c->lines.n++] = (struct line_event){
        .addr = paddr_of(x.line << c->line_shift),
        .what = (uint8_t)x.what,
        .level = (uint8_t)x.level,
        .core = (uint8_t)x.core,
        .from = (uint8_t)x.from,
        .by = (uint8_t)t->core,
        .dirty = x.state == PRIV_M,
        .recalled = x.why == LOST_RECALLED,
        .traffic = (uint8_t)t->traffic,
    };
}
/* Makes room, and tells who watches. */
void coh_event_add(struct txn *t, unsigned kind, unsigned cores, uint64_t line,
                   enum priv_state state, enum loss why);
/* Nothing is done here behind a call: whoever calls this has nothing to keep for it. */
ALWAYS_INLINE void coh_event(struct txn *t, struct coh_change x)
{
    struct coherence *c = t->c;

    if (LIKELY(!(c->listens >> x.what & 1)))
        return;
    if (LIKELY(c->lines.n < c->room))
        coh_event_queue(c, t, x);
    else
        coh_event_add(t, (unsigned)x.what | (unsigned)x.level << 8, x.core | x.from << 8, x.line,
                      x.state, x.why);
}

/* Tells a change of a line in the L3; `node`: the NUMA node whose L3 it is. */
ALWAYS_INLINE void coh_l3_event(struct txn *t, enum line_what what, unsigned node, uint64_t line,
                                bool dirty, enum loss why)
{
    coh_event(
        t, (struct coh_change){what, LEVEL_L3, t->core, node, line, dirty ? PRIV_M : PRIV_S, why});
}
/* watch.c: tells who watches. */
void coh_see(const struct txn *t, const struct coh_change *x);

/* ---- histories.c ---------------------------------------------------------------------------- */

/* The line holds access histories: it is in caches or nowhere. */
static inline bool is_history(const struct coherence *c, uint64_t line)
{
    return line - c->histories < c->n_histories;
}

/* ---- numa.c: several nodes ------------------------------------------------------------------- */

void numa_init(struct coherence *c, uint64_t page, struct stats *stats);
void numa_free(struct coherence *c);
static inline bool numa_several(const struct coherence *c)
{
    return UNLIKELY(c->numa.nodes > 1);
}
static inline unsigned numa_node(const struct coherence *c, unsigned core)
{
    return numa_several(c) ? core / c->numa.cores : 0;
}
/* Returns the place in the network at which a node as a whole is asked: its first core. */
static inline unsigned numa_place(const struct coherence *c, unsigned node)
{
    return node * c->numa.cores;
}
/* The node whose memory has the line. */
unsigned numa_home(const struct coherence *c, uint64_t line);
/* Decides which node t asks: its own, if that can answer alone, else the line's home. Gives the
 * page a home, if it has none. */
unsigned numa_ask(struct txn *t, bool upgrade);
/* The node whose L3 has the line: t's own, else the home's, else the lowest; nodes: none has. */
unsigned numa_l3(const struct txn *t);
bool numa_l3_elsewhere(const struct txn *t); /* an L3 of another node than t's has it */
/* A store, or an upgrade: L3s of other nodes lose the line, nodes are asked that must be. Returns
 * when the core has the last acknowledgement. */
sim_cycle numa_invalidate(struct txn *t, sim_cycle at, sim_cycle remote);
/* Returns the sharer that gives the line: one in t's own node, if there is one, else the lowest. */
unsigned numa_nearest(const struct txn *t, const uint64_t sharers[2]);

/* A transaction of another core is about to change this one's caches (coh_host.meets). */
static inline void coh_meet(const struct coherence *c, unsigned core)
{
    if (c->host.meets)
        c->host.meets(c->host.self, core);
}

/* ---- group.c: cores that share an L2 --------------------------------------------------------- */

/* The counterparts of private.c's functions of these names, for a shared L2. `of`: the leader. */
enum priv_state group_state(const struct coherence *c, unsigned of, uint64_t line);
enum priv_state group_drop(struct txn *t, unsigned of, uint64_t line, enum loss why);
enum priv_state group_downgrade(struct txn *t, unsigned of);
/* Before the L2 loses the line in this slot to make room: takes it out of the L1s above. Returns
 * the state in which the group had it. */
enum priv_state group_leave(struct txn *t, uint32_t l2_slot);
/* The L2 has t's line in this slot, with the permission that t needs: makes the siblings' copies
 * fit, and gives the line to the L1. True: a sibling had to be asked. */
bool group_up(struct txn *t, uint32_t l2_slot, sim_cycle at);

/* ---- private.c: one core's L1 and L2 -------------------------------------------------------- */

/* Puts t's line, which the L1 does not have, there; `below` as in l1_below. */
void private_l1_put(struct txn *t, enum priv_state state, uint32_t below, sim_cycle at);

/* The core's state of a line. Where L1 and L2 both have it, the L1's counts. */
enum priv_state private_state(const struct coherence *c, unsigned core, uint64_t line);
/* Takes the line out of the core's L1 and L2; returns the state that it had. The core has it. */
enum priv_state private_drop(struct txn *t, unsigned core, uint64_t line, enum loss why);
/* Turns E or M into S; returns the state that it had. */
enum priv_state private_downgrade(struct txn *t, unsigned core);
/* Puts t's line, which the core does not have, into its caches at cycle `at`; victims leave. */
void private_fill(struct txn *t, enum priv_state state, sim_cycle at);
/* Brings t's line up into the L1 from this slot of the L2, in this state. */
void private_up(struct txn *t, uint32_t l2_slot, enum priv_state state, sim_cycle at);
/* Turns S into M wherever the core has t's line. */
void private_grant(struct txn *t, sim_cycle at);
/* Two prefetches into the host's caches: the entry of the line's likely victim; and, for an access
 * that is going to miss its L1, the line's set in the L2. */
void private_prefetch(const struct coherence *c, unsigned core, uint64_t line);
void private_prefetch_l2(const struct coherence *c, unsigned core, struct paddr addr);

/* ---- prefetch.c: a stream prefetcher for each core ------------------------------------------- */

void prefetch_init(struct coherence *c, const struct coh_env *env); /* the caches are made */
void prefetch_free(struct coherence *c);
uint64_t prefetch_bytes(const struct coherence *c);
/* The core's L1 does not have the line that it accesses; lines that may be next are asked for. */
void prefetch_sees(struct coherence *c, unsigned core, uint64_t line, enum mem_traffic traffic,
                   sim_cycle now);
/* A prefetched line in this slot of the L2 of a core (a leader, where L2s are shared) came in, is
 * used by an access at `at` or later, or is lost. The last two do nothing with lines that nobody
 * prefetched. prefetch_used returns the cycle at which the access has the line. */
void prefetch_came(struct txn *t, uint32_t l2_slot, sim_cycle at);
sim_cycle prefetch_used(struct coherence *c, unsigned core, uint32_t l2_slot, sim_cycle at);
void prefetch_lost(struct coherence *c, unsigned core, uint32_t l2_slot);

/* ---- home.c: transactions ------------------------------------------------------------------- */

static inline unsigned bank_in(const struct coherence *c, unsigned numa_node, uint64_t line)
{
    const uint64_t bank = c->bank_mask || c->banks == 1 ? line & c->bank_mask : line % c->banks;

    return numa_node * c->banks + (unsigned)bank;
}
static inline unsigned home_number(const struct coherence *c, uint64_t line) /* of the bank */
{
    return bank_in(c, numa_several(c) ? numa_home(c, line) : 0, line);
}
static inline unsigned home_node(const struct coherence *c, uint64_t line)
{
    return c->bank_node[home_number(c, line)];
}
unsigned home_controller(const struct coherence *c, uint64_t line);
/* Sends a message of a transaction, with a traffic class of its own: a victim's bytes count for
 * whose line it was, not for the access that displaced it. */
static inline sim_cycle coh_send_as(struct txn *t, enum mem_traffic traffic, unsigned from,
                                    unsigned to, enum msg m, unsigned bytes, sim_cycle at)
{
    return network_send(t->c->network, from, to, m, bytes, traffic, t->floor, at);
}
/* Sends one of its own line. */
static inline sim_cycle coh_send(struct txn *t, unsigned from, unsigned to, enum msg m,
                                 unsigned bytes, sim_cycle at)
{
    return coh_send_as(t, t->traffic, from, to, m, bytes, at);
}
/* GetS or GetM: the core has no copy of the line, and gets one. */
struct coh_result home_get(struct txn *t);
/* Upgrade: the core has the line in S, at this level, and stores at cycle `now`; it gets M. */
struct coh_result home_upgrade(struct txn *t, enum mem_level level, sim_cycle now);
/* A request arrives at the bank at `at`; returns when the bank takes it up. */
sim_cycle home_bank(struct txn *t, unsigned bank, sim_cycle at);

/* ---- shared.c: the L3, the directory's entries, and what leaves ------------------------------ */

/* Sets t->entry to the line's entry, made if need be, and returns the cycle at which the
 * transaction has it: later than `at` where the entry was busy, or had to be slept for. *found: the
 * entry was there before. */
sim_cycle shared_entry(struct txn *t, sim_cycle at, bool *found);
/* The last copy was dropped: a directory of its own has no entry for nobody. */
void shared_entry_end(struct coherence *c, uint32_t slot);
/* Sends the messages of t's victim, if it has one whose messages are not sent yet. */
void shared_victim_leave(struct txn *t, sim_cycle at);
/* The slot of an L3 that has the line, or CACHE_NONE. */
static inline uint32_t l3_find(const struct coherence *c, unsigned numa_node, uint64_t line)
{
    return LIKELY(c->has_l3) ? cache_find(&c->l3[numa_node], line) : CACHE_NONE;
}
/* The owner of t's line wrote it back to share it: the L3 (of its node) has it now, dirty. */
void shared_write_back(struct txn *t, unsigned owner, sim_cycle at);
/* The L3 of a node loses t's line, to a store. */
void shared_l3_drop(struct txn *t, unsigned numa_node, uint32_t slot);
/* PutS, PutE or PutM: the last private level evicted a line in this state. `slot`: its entry. */
void shared_put(struct txn *t, uint64_t line, uint32_t slot, enum priv_state state, sim_cycle at);
/* Fetches the line's set into the host's caches. */
void shared_prefetch(const struct coherence *c, uint64_t line);

#endif
