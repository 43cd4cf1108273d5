/* coherence_int.h - what the files of coherence/ share: parameters in use, one transaction, the
 * directory entry, counters. Nothing outside this folder includes it.
 *
 * A private hierarchy is one holder to the directory: "core c has the line" means in its L1 or L2.
 * Where the L3 is inclusive, the directory's tags are the L3's; else they are an array of its own,
 * with an entry for every line that a core holds. */
#ifndef LARDSIM_COH_INT_H
#define LARDSIM_COH_INT_H

#include "cache/cache.h"
#include "coherence/coherence.h"
#include "coherence/network.h"

enum priv_state { PRIV_I, PRIV_S, PRIV_E, PRIV_M };
enum { L3_CLEAN = 1, L3_DIRTY = 2, L3_METADATA = 4 }; /* bits of a slot's state; the last: whose */
enum { BYTES_CONTROL = 8, BYTES_DATA = 66, BYTES_MEMORY = 69, BYTES_TAGGED = 72 };
enum { COMMANDS = 3 };

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
    uint64_t size, ways, latency;
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
struct coh_params {
    struct l1_params l1;
    struct l2_params l2;
    struct l3_params l3;
    struct protocol_params coherence;
    struct network_params network;
};
struct coh_shapes { /* of the arrays; bytes = 0: there is none */
    struct cache_geometry l1, l2, l3, directory;
};

/* Binds all sections; resolves what 0 stands for; refuses impossible machines. */
int coh_params_read(struct config *config, unsigned cores, struct coh_params *p, struct err *e);
int coh_params_shapes(const struct coh_params *p, const struct coh_env *env, struct coh_shapes *to,
                      struct err *e);

/* When things happen, in cycles from the one before, such that the sums are docs/machine.md's. */
struct coh_times {
    sim_cycle l1, l2; /* a hit takes, from the start */
    sim_cycle leave;  /* start of an access to its request's way */
    sim_cycle lookup; /* at the home, until it answers, or asks the memory */
    sim_cycle search; /* at the home, until it asks other cores */
    sim_cycle remote; /* at a core that is asked */
    sim_cycle upgrade_leave[2], upgrade_search, upgrade_remote; /* by L1, L2 */
};
sim_cycle coh_params_private(const struct coh_params *p); /* a hit of the last private level */
sim_cycle coh_params_l3(const struct coh_params *p);      /* a hit of the L3 */
void coh_params_times(const struct coh_params *p, struct coh_times *to);

/* What the CE simulator does otherwise. All false: our own rules. */
struct coh_quirks {
    bool fill_order;        /* L2 and L3 replace in order of fill, whatever the parameters say */
    bool last_way;          /* a private victim is the last of its order though a way is free */
    bool downgrade_clean;   /* what an owner writes back for a load does not make the L3 dirty */
    bool always_write_back; /* ... and is sent by an owner in E, too */
    bool upgrade_data;      /* an upgrade is answered with data, and not asked for */
    bool tagged_write_back; /* a dirty private victim takes 72 bytes */
    bool recall_twice;      /* a recalled copy in M sends an acknowledgement and the data */
};

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
struct cache_stats {
    uint64_t accesses, misses;
    uint64_t hit[TRAFFICS][COMMANDS], miss[TRAFFICS][COMMANDS];
    uint64_t upgrade[TRAFFICS][COMMANDS]; /* of the misses; never of loads */
    uint64_t core_accesses[MAX_CORES], core_misses[MAX_CORES];
    uint64_t fills, lost[LOSSES], downgrades, resident;
    uint64_t capacity, resident_metadata; /* lines; the latter as of the last census */
};
struct coh_stats {
    struct cache_stats level[LEVEL_L3 + 1];                               /* L1, L2, L3 */
    uint64_t entries_made, entries_ended, entries_recalled, entries_live; /* non-inclusive only */
    uint64_t transactions, loads, stores, upgrades, merged;
    uint64_t from[LEVELS]; /* transactions, by who answered */
    uint64_t forwards, sharing_write_backs, sharing_notices, invalidations, recalls;
    uint64_t puts, write_backs, memory_reads, memory_writes;
    uint64_t allocated, vanished, dropped, asks, asked, piggybacked; /* histories */
    uint64_t line_waits, line_wait_cycles, bank_waits, bank_wait_cycles, set_waits;
    struct histogram latency[LEVELS];
};
void coh_stats_declare(struct coherence *c, struct stats *stats);

/* ---- state ---------------------------------------------------------------------------------- */

enum { NOBODY = 255 };

struct entry {           /* of the directory, by slot of its tags */
    uint64_t sharers[2]; /* a bit for each core that has the line */
    sim_cycle busy;      /* the transaction in hand is done then; contention only */
    uint8_t owner;       /* the core that has it in E or M, or NOBODY */
    uint8_t traffic;     /* whose line it is: of the access that brought it */
    bool pending;        /* the memory has not answered: nobody has the line, the slot stays */
};

struct private_caches {
    struct cache l1, l2;
    /* Own; by slot: where the line stands below. l1_below: its slot in an inclusive L2, or its
     * entry, where there is none. l2_home: its entry. */
    uint32_t *l1_below, *l2_home;
};

struct coherence {
    struct private_caches *priv; /* owns; by core */
    unsigned line_shift, cores;
    struct coh_times time;
    bool has_l2, exclusive, inclusive_l2, inclusive_l3, contention;
    unsigned listens; /* line events that are kept, bits by enum line_what */
    struct cache l3, own_directory;
    struct cache *tags;  /* of the directory: one of the two */
    struct entry *entry; /* owns; by slot of *tags */
    struct coh_params params;
    struct coh_quirks quirks;
    struct slots *bank;      /* owns; by bank; contention only */
    struct network *network; /* owns */
    struct memory *memory;   /* borrows */
    struct coh_host host;
    unsigned banks, bank_mask; /* mask: 0 where banks are no power of 2 */
    unsigned controllers;
    uint8_t *bank_node;              /* owns; by bank */
    unsigned n_pending;              /* entries */
    uint64_t next_read;              /* id */
    sim_cycle latest;                /* start of an access */
    uint64_t histories, n_histories; /* lines: from, and how many (histories.c) */
    uint64_t lost;                   /* lines that may be in no cache any more */
    struct line_queue lines;
    struct coh_stats stats;
};

/* One access that left the L1. */
struct txn {
    struct coherence *c;
    uint64_t line;
    unsigned core, home;
    enum mem_cmd cmd;
    enum mem_traffic traffic;
    sim_cycle start, floor; /* floor: of what is still to come; later than start after a sleep */
    sim_cycle busy;         /* the home is done, if later than the core */
    bool woken;             /* it slept for the memory: others may sleep for it */
    struct entry *entry;    /* of the line */
    sim_cycle victim_at;
    struct { /* what had to make room in the directory or the inclusive L3 */
        bool any, dirty;
        uint64_t line;
        uint64_t sharers[2];
        unsigned modified; /* the core that had it in M, or NOBODY */
        enum mem_traffic traffic;
    } victim; /* but for `any`, nothing before there is one */
};

/* Field by field: clearing the whole takes as long as a hit of the L2. */
static inline void txn_begin(struct txn *t, struct coherence *c, unsigned core, uint64_t line,
                             enum mem_cmd cmd, enum mem_traffic traffic, sim_cycle now)
{
    t->c = c;
    t->line = line;
    t->core = core;
    t->home = 0;
    t->cmd = cmd;
    t->traffic = traffic;
    t->start = t->floor = now;
    t->busy = 0;
    t->woken = false;
    t->entry = NULL;
    t->victim_at = 0;
    t->victim.any = false;
}

/* ---- small things --------------------------------------------------------------------------- */

static inline sim_cycle cycle_max(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}
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
    c->lost +=
        level == LEVEL_L3 || !c->inclusive_l3; /* an inclusive L3 has all that the others have */
}

/* The slot of the entry of the line that is at this slot of an L1. */
static inline uint32_t l1_home(const struct coherence *c, const struct private_caches *p,
                               uint32_t slot)
{
    return c->inclusive_l2 ? p->l2_home[p->l1_below[slot]] : p->l1_below[slot];
}
static inline uint32_t entry_slot(const struct coherence *c, const struct entry *e)
{
    return (uint32_t)(e - c->entry);
}
/* An access that did not end in the hot path of the L1. */
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

/* ---- coherence.c ---------------------------------------------------------------------------- */

struct line_event *coh_event_add(struct coherence *c);
/* NULL: nobody listens. */
static inline struct line_event *coh_event(struct txn *t, enum line_what what, enum mem_level level,
                                           unsigned core, uint64_t line, bool dirty)
{
    if (LIKELY(!(t->c->listens >> what & 1)))
        return NULL;
    struct line_event *e = coh_event_add(t->c);
    *e = (struct line_event){
        .addr = line << t->c->line_shift,
        .what = (uint8_t)what,
        .level = (uint8_t)level,
        .core = (uint8_t)core,
        .from = (uint8_t)core,
        .by = (uint8_t)t->core,
        .dirty = dirty,
        .traffic = (uint8_t)t->traffic,
    };
    return e;
}

/* ---- histories.c ---------------------------------------------------------------------------- */

/* The line holds access histories: it is in caches or nowhere. */
static inline bool is_history(const struct coherence *c, uint64_t line)
{
    return line - c->histories < c->n_histories;
}

/* ---- private.c: one core's L1 and L2 -------------------------------------------------------- */

/* Core's state of a line, which the L1 knows better than the L2. */
enum priv_state private_state(const struct coherence *c, unsigned core, uint64_t line);
/* Takes all copies away; returns what the state was. Core has the line. */
enum priv_state private_drop(struct txn *t, unsigned core, uint64_t line, enum loss why);
/* E or M to S; returns what the state was. */
enum priv_state private_downgrade(struct txn *t, unsigned core);
/* The line, which the core does not have, comes in at cycle `at`: victims leave. */
void private_fill(struct txn *t, enum priv_state state, sim_cycle at);
/* The line is in the L2 at this slot: it comes up, with this state. */
void private_up(struct txn *t, uint32_t l2_slot, enum priv_state state, sim_cycle at);
/* S to M where the line is. */
void private_grant(struct txn *t, sim_cycle at);
/* Fetches what it will probably take to make room for the line into the host's caches. */
void private_prefetch(const struct coherence *c, unsigned core, uint64_t line);
void private_soon(const struct coherence *c, unsigned core, sim_addr addr);

/* ---- home.c: transactions ------------------------------------------------------------------- */

static inline unsigned home_number(const struct coherence *c, uint64_t line) /* of the bank */
{
    return (unsigned)(c->bank_mask || c->banks == 1 ? line & c->bank_mask : line % c->banks);
}
static inline unsigned home_node(const struct coherence *c, uint64_t line)
{
    return c->bank_node[home_number(c, line)];
}
unsigned home_controller(const struct coherence *c, uint64_t line);
/* traffic: whose the bytes are, where that is not the access's. */
static inline sim_cycle coh_send_as(struct txn *t, enum mem_traffic traffic, unsigned from,
                                    unsigned to, enum msg m, unsigned bytes, sim_cycle at)
{
    return network_send(t->c->network, from, to, m, bytes, traffic, t->floor, at);
}
/* The core has nothing of the line: it gets it. */
struct coh_result home_get(struct txn *t);
/* The core has the line in S, at this level, and stores at cycle `now`: it gets M. */
struct coh_result home_upgrade(struct txn *t, enum mem_level level, sim_cycle now);
/* The line's bank takes up what arrives at `at`: when. */
sim_cycle home_bank(struct txn *t, uint64_t line, sim_cycle at);

/* ---- shared.c: the L3, the directory's entries, and what leaves ------------------------------ */

/* t->entry: the line's, made if need be (the transaction may sleep before that; then, and where the
 * entry is busy, the cycle returned is later than `at`). *found: it was there. */
sim_cycle shared_entry(struct txn *t, sim_cycle at, bool *found);
/* Sends the messages of what made room. */
void shared_victim_leave(struct txn *t, sim_cycle at);
/* A core that shares a line wrote it back: the L3 has it now, and newer than the memory. */
void shared_write_back(struct txn *t, sim_cycle at);
/* The last private level threw a line out in this state; its entry is at `slot`. */
void shared_put(struct txn *t, uint64_t line, uint32_t slot, enum priv_state state, sim_cycle at);
/* Fetches the line's set into the host's caches. */
void shared_prefetch(const struct coherence *c, uint64_t line);

#endif
