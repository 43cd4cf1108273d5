/* coherence.h - the memory system between cores and memory: private L1 and L2, a shared banked L3,
 * a MESI directory, the interconnect. docs/machine.md states the model and tables each transaction;
 * coherence/messages.def has the messages.
 *
 * One call is one access of one core to bytes of one line: it starts at a cycle and returns the
 * cycle at which it is done. A transaction changes all caches at once, in the order of the calls;
 * only its messages take time. So requests never race in the protocol, and the one transient state
 * is that of a line whose read of memory is not answered yet. Calls come in order of their start
 * (asserted while contention is on).
 */
#ifndef LARDSIM_COHERENCE_H
#define LARDSIM_COHERENCE_H

#include "base/addr.h"
#include "base/budget.h"
#include "base/ensure.h"
#include "base/param.h"
#include "base/stats.h"
#include "memory/memory.h"

enum { MAX_CORES = 128 };

/* The levels that may answer an access, the nearest first. REMOTE: another core's private caches.
 */
enum mem_level { LEVEL_NONE, LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_REMOTE, LEVEL_MEMORY, LEVELS };
extern const char *const mem_level_text[LEVELS]; /* "none", "l1", ... */

struct coh_result {
    sim_cycle done;
    uint8_t level;  /* enum mem_level: who gave the data, or the permission */
    bool left_core; /* a message went out */
    bool far;       /* another NUMA node took part: the line's home is there, or a copy was */
    bool upgraded;  /* the core, or its group, had the line in S, and the home was asked for M */
};

/* The services of the simulator around the caches.
 * sleep, wake: a transaction waits in the middle of its call where the memory answers later. sleep
 * suspends the caller until wake(key), and returns the cycle of that wake; wake lets all sleepers
 * of a key go, in the order in which they came. Both are NULL where the memory answers at once.
 * meets: called before another core's transaction changes this core's private caches. Hits that the
 * core has looked up and not made yet (coherence_l1_ahead) are made now if they come before the
 * transaction; the others must be looked up again. May be NULL.
 * ahead: where the memory answers later, calls coherence_ahead now, on a stack of its own. NULL
 * where the memory answers at once. */
struct coh_host {
    void *self;
    sim_cycle (*sleep)(void *self, uint64_t key);
    void (*wake)(void *self, uint64_t key, sim_cycle at);
    void (*meets)(void *self, unsigned core);
    void (*ahead)(void *self, unsigned core, unsigned fetch);
    const struct run_context *context; /* for assertions; may be NULL */
};
/* Keys of sleepers: the id of a read in the memory, or the line that another transaction holds. The
 * lowest bit keeps the two apart. */
#define COH_KEY_MEMORY(id) ((uint64_t)(id) << 1)
#define COH_KEY_LINE(line) ((uint64_t)(line) << 1 | 1)

/* The changes of a line in a private cache or the L3, told in the order in which they happened. A
 * policy in hardware keeps its histories in step with them. */
enum line_what {
    LINE_FILL,       /* it came in */
    LINE_TRANSFER,   /* one core's caches gave it to another core */
    LINE_DOWNGRADE,  /* E or M became S: another core loads it */
    LINE_INVALIDATE, /* it was taken away: another core stores, or its room is needed below */
    LINE_EVICT,      /* it made room for another line */
    LINE_WHATS
};
struct line_event {
    struct paddr addr; /* of the line */
    uint8_t what;      /* enum line_what */
    uint8_t level;     /* LEVEL_L1, LEVEL_L2 or LEVEL_L3 */
    uint8_t core;      /* whose cache; with LEVEL_L3: who asked */
    uint8_t from;      /* TRANSFER: the core that gave the line; LEVEL_L3: whose, by NUMA node */
    uint8_t by;        /* the core whose access caused it */
    bool dirty;        /* the copy differed from the level below */
    bool recalled;     /* INVALIDATE: its entry or its line in the L3 had to go; nobody wrote */
    uint8_t traffic;   /* enum mem_traffic of the access that caused it */
};

/* A step of an access, for who watches a run (coherence_watch): a message, or what happened to a
 * line in a cache. */
struct coh_sight {
    bool message;
    uint8_t traffic; /* enum mem_traffic: whose bytes they are */
    struct paddr line;
    /* A message: its class, its way, its bytes, when it leaves and when it is there. */
    const char *class;
    unsigned from, to, bytes; /* TRANSFER: from, the core that gave the line */
    sim_cycle at, there;      /* a line's: at */
    /* A line: where, its state before and after ('I', 'S', 'E', 'M'; in the L3 'C' clean, 'D'
     * dirty), why it went, for the access of which line. */
    uint8_t what, level, core; /* enum line_what; enum mem_level; whose cache */
    char was, is;
    const char *why; /* of a line that went; else NULL */
    struct paddr cause;
};

struct coh_env {           /* borrowed */
    struct stats *stats;   /* groups l1, l2, l3, coherence, network, numa are made in it */
    struct config *config; /* sections l1, l2, l3, coherence, network, numa are bound */
    struct memory *memory; /* open before the first access */
    struct coh_host host;
    unsigned cores;  /* 1 to MAX_CORES */
    unsigned line;   /* bytes, a power of 2 */
    uint64_t page;   /* bytes that have one home among the NUMA nodes, a power of 2; 0: 4 KiB */
    bool contention; /* ports, banks and links queue */
    bool ce;         /* the quirks of the CE simulator; docs/machine.md */
};

struct coherence;
/* NULL: error, LARD_CONFIG. */
struct coherence *coherence_new(const struct coh_env *env, struct err *e);
/* Returns the host's memory that the caches and the directory take, in bytes: the configuration
 * fixes it. */
uint64_t coherence_bytes(const struct coherence *c);
/* Before the first access: what grows is charged to b, which is borrowed. */
void coherence_account(struct coherence *c, struct budget *b);
void coherence_serve(struct coherence *c, void *host); /* coh_host.self, where that is made later */
void coherence_free(struct coherence *c);

/* Cycles of an access before its request reaches the memory, where a total memory latency contains
 * them (memory_env). */
sim_cycle coherence_included(const struct coherence *c);

/* Makes an access of `core` to the line of the physical address. */
struct coh_result coherence_access(struct coherence *c, unsigned core, struct paddr addr,
                                   enum mem_cmd cmd, enum mem_traffic traffic, sim_cycle now);
/* True: this access would hit the core's L1 with permission, so that nobody else sees it. Changes
 * nothing. */
bool coherence_in_l1(const struct coherence *c, unsigned core, struct paddr addr, enum mem_cmd cmd);

/* coherence_in_l1 and the access after it, for a row of accesses by software on a core: looked up
 * together now, made together later. An L1 hit touches nothing that other cores see, so the row may
 * be made behind accesses of other cores at later cycles, as long as the core's own accesses keep
 * their order and host.meets has not named the core in between.
 *
 * coherence_l1_ahead: how many steps from the first on hit the L1 with permission. *now, the cycle
 * at which the first of them is made, becomes the one at which the step behind the last of them
 * makes its access (there is such a step). It also prefetches into the host's caches what the first
 * miss will need. coherence_l1_hits: makes n such hits, each done after the L1's latency. */
size_t coherence_l1_ahead(const struct coherence *c, unsigned core, struct mem_step *step, size_t n,
                          sim_cycle *now);
void coherence_l1_hits(struct coherence *c, unsigned core, const struct mem_step *step, size_t n);
/* The n hits, then the access of the step behind them, which starts now. */
struct coh_result coherence_steps(struct coherence *c, unsigned core, const struct mem_step *step,
                                  size_t n, sim_cycle now);

sim_cycle coherence_l1_latency(const struct coherence *c);
/* Lines that the prefetcher of a core may have under way; 0: there are no prefetchers. */
unsigned coherence_fetches(const struct coherence *c);
/* Fetches the line of one of these prefetches. */
void coherence_ahead(struct coherence *c, unsigned core, unsigned fetch, sim_cycle now);

/* ---- histories of a policy in hardware: histories.c ----------------------------------------- */

/* The operations that a policy in hardware needs of caches: either this folder's, or those of a
 * host that says where its lines are (sim/machine/outside.h).
 * histories: [from, from + bytes) holds access histories, which memory does not back. A line of it
 * that is in no cache comes in empty, answered by the L3 without a read of memory, and leaves the
 * chip without a write. The policy that owns it is told of its eviction and keeps what it needs.
 * drop: takes a line out of all caches, without line events. *level: the nearest level that had it,
 * in any core's caches; LEVEL_NONE: none had it. Done after a hit of that level.
 * piggyback: so many bytes went along with other messages.
 * where: the nearest level that this core can hit the line in: its own caches, or the L3; else
 * LEVEL_NONE. */
struct caches_type {
    void (*histories)(void *self, struct paddr from, uint64_t bytes);
    sim_cycle (*drop)(void *self, unsigned core, struct paddr addr, uint8_t *level, sim_cycle now);
    void (*piggyback)(void *self, uint64_t bytes);
    enum mem_level (*where)(const void *self, unsigned core, struct paddr addr);
};
struct caches {
    const struct caches_type *type;
    void *self; /* borrowed */
};
struct caches coherence_caches(struct coherence *c);

/* Why these caches are none for histories; NULL: they are. A history belongs to the L1 and L2 of
 * one core, and has its home on the same chip. */
const char *coherence_no_histories(const struct coherence *c);
/* Probes other cores' caches for their part of a history: the core sends a request to the line's
 * home, the home forwards it to each core of the set, each answers the core with so many bytes.
 * Returns when the last answer has come. */
sim_cycle coherence_probe(struct coherence *c, unsigned core, struct paddr addr,
                          const uint64_t cores[2], unsigned bytes, sim_cycle now);
/* A counter that goes up whenever a line may have left its last cache: while it stays the same,
 * each line that was in some cache still is in one. */
const uint64_t *coherence_lost(const struct coherence *c);

/* Counts the lines that metadata brought, for the statistics: at the end of a run. */
void coherence_census(struct coherence *c);

/* From now on these line events are kept, bits by enum line_what; at first none are. */
void coherence_listen(struct coherence *c, unsigned whats);
/* The line events since the policy emptied this queue (n = 0), the oldest first. Coherence owns it;
 * it is valid as long as c. */
struct line_queue {
    struct line_event *at;
    size_t n, cap;
};
struct line_queue *coherence_lines(struct coherence *c);

/* From now on all that is seen is told, before the call that makes it returns. Watching changes
 * nothing. */
void coherence_watch(struct coherence *c, void (*see)(void *self, const struct coh_sight *s),
                     void *self);

/* The state of a line in a private cache ('I', 'S', 'E', 'M'), level LEVEL_L1 or LEVEL_L2; in the
 * L3 (of the core's NUMA node) 'I' (not there), 'C' clean, 'D' dirty. For assertions and who
 * watches. */
char coherence_state(const struct coherence *c, unsigned core, enum mem_level level,
                     struct paddr addr);

/* Tables for list and explain: sections l1, l2, l3, coherence, network, numa. */
void coherence_each_table(void (*fn)(void *arg, const char *section, const struct param *rows),
                          void *arg);

#endif
