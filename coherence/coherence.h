/* coherence.h - private and shared caches, the MESI directory, the interconnect. docs/machine.md
 * states the model; coherence/messages.def its messages.
 *
 * One call is one access of one core to bytes of one line: it starts at a cycle and returns the
 * cycle at which it is done. Calls come in order of their start (asserted while contention is on).
 */
#ifndef LARDSIM_COHERENCE_H
#define LARDSIM_COHERENCE_H

#include "base/base.h"
#include "base/param.h"
#include "base/stats.h"
#include "memory/memory.h"

enum { MAX_CORES = 128 };

enum mem_level { LEVEL_NONE, LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_REMOTE, LEVEL_MEMORY, LEVELS };
extern const char *const mem_level_text[LEVELS]; /* "none", "l1", ... */

struct coh_result {
    sim_cycle done;
    uint8_t level;  /* enum mem_level: who gave the data, or the permission */
    bool left_core; /* a message went out */
};

/* How a transaction waits in the middle, where the memory answers later. sleep suspends whoever is
 * inside the call until wake(key), and returns its cycle; wake lets all of a key go, in the order
 * in which they came. Both NULL where the memory answers at once.
 * meets: before a transaction looks at a line in a core's own caches, and takes it or its rights:
 * hits of that core that come before it are made now, others are looked up again. May be NULL. */
struct coh_host {
    void *self;
    sim_cycle (*sleep)(void *self, uint64_t key);
    void (*wake)(void *self, uint64_t key, sim_cycle at);
    void (*meets)(void *self, unsigned core);
};
/* Keys: a read's id in the memory, or a line that is busy. */
#define COH_KEY_MEMORY(id) ((uint64_t)(id) << 1)
#define COH_KEY_LINE(line) ((uint64_t)(line) << 1 | 1)

/* What happened to a line in a private cache or the L3, in the order in which it happened. */
enum line_what {
    LINE_FILL,
    LINE_TRANSFER,
    LINE_DOWNGRADE,
    LINE_INVALIDATE,
    LINE_EVICT,
    LINE_WHATS
};
struct line_event {
    sim_addr addr; /* of the line */
    uint8_t what;  /* enum line_what */
    uint8_t level; /* LEVEL_L1, LEVEL_L2 or LEVEL_L3 */
    uint8_t core;  /* whose cache; with LEVEL_L3: who asked */
    uint8_t from;  /* TRANSFER: the core that gave the line */
    uint8_t by;    /* the core whose access caused it */
    bool dirty;
    bool recalled;   /* INVALIDATE: its entry or its line in the L3 had to go; nobody wrote */
    uint8_t traffic; /* enum mem_traffic of the access that caused it */
};

struct coh_env {           /* borrowed */
    struct stats *stats;   /* groups l1, l2, l3, coherence, network are made in it */
    struct config *config; /* sections l1, l2, l3, coherence, network are bound */
    struct memory *memory; /* open before the first access */
    struct coh_host host;
    unsigned cores;
    unsigned line;   /* bytes, a power of 2 */
    bool contention; /* ports, banks and links queue */
    bool ce;         /* the quirks of the CE simulator; docs/machine.md */
};

struct coherence;
/* NULL: error, LARD_CONFIG. */
struct coherence *coherence_new(const struct coh_env *env, struct err *e);
void coherence_free(struct coherence *c);

/* Cycles of an access before its request reaches the memory, where a total memory latency contains
 * them (memory_env). */
sim_cycle coherence_included(const struct coherence *c);

/* addr is physical; [addr, addr + bytes) lies in one line. */
struct coh_result coherence_access(struct coherence *c, unsigned core, sim_addr addr,
                                   enum mem_cmd cmd, enum mem_traffic traffic, sim_cycle now);
/* Would be done inside the L1: it hits with permission. Changes nothing. */
bool coherence_in_l1(const struct coherence *c, unsigned core, sim_addr addr, enum mem_cmd cmd);

/* The same, as two halves, for the steps of software on a core, which are made later than they are
 * looked up. How many of them from the first on hit the L1 with permission; what the one behind
 * them misses is fetched into the host's caches. And these hits, each done after the L1's latency:
 * they may be made behind accesses of others at later cycles, as long as the core's own come in
 * their order and the core has not been met since. */
size_t coherence_l1_ahead(const struct coherence *c, unsigned core, struct mem_step *step, size_t n,
                          sim_cycle *now);
void coherence_l1_hits(struct coherence *c, unsigned core, const struct mem_step *step, size_t n);
/* The n hits, then the access of the step behind them, which starts now; when it is done. */
sim_cycle coherence_steps(struct coherence *c, unsigned core, const struct mem_step *step, size_t n,
                          sim_cycle now);

sim_cycle coherence_l1_latency(const struct coherence *c);

/* ---- histories of a policy in hardware: histories.c ----------------------------------------- */

/* [from, from + bytes) holds access histories: a line of it that is in no cache comes in empty,
 * without a read of memory (answered by the L3), and leaves without a write. */
void coherence_histories(struct coherence *c, sim_addr from, uint64_t bytes);
/* Takes a line out of all caches, without line events. *level: the nearest level where it was,
 * LEVEL_NONE: in no cache. Done after a hit of that level. */
sim_cycle coherence_drop(struct coherence *c, unsigned core, sim_addr addr, uint8_t *level,
                         sim_cycle now);
/* The line's home asks these cores, each answers with so many bytes; done when the core that wants
 * to know has the last answer: `remote` later. */
sim_cycle coherence_ask(struct coherence *c, unsigned core, sim_addr addr, const uint64_t cores[2],
                        unsigned bytes, sim_cycle now);
void coherence_piggyback(struct coherence *c, uint64_t bytes); /* went along with other messages */
/* Where the line is for this core, the nearest; LEVEL_NONE: in no cache that it can hit. */
enum mem_level coherence_where(const struct coherence *c, unsigned core, sim_addr addr);
/* Counts lines that may have left the caches altogether: while it stays the same, each line that
 * was in some cache still is in one. */
const uint64_t *coherence_lost(const struct coherence *c);

/* Counts the lines that metadata brought, for the statistics: at the end of a run. */
void coherence_census(struct coherence *c);

/* From now on these line events are kept, bits by enum line_what; at first none are. */
void coherence_listen(struct coherence *c, unsigned whats);
/* What happened to lines since somebody emptied this (n = 0): coherence's own, valid as long as c.
 */
struct line_queue {
    struct line_event *at;
    size_t n, cap;
};
struct line_queue *coherence_lines(struct coherence *c);

/* Asserts the invariants: one writer or many readers, the directory exact, inclusion, every
 * resident line counted. Walks everything: for tests and the end of a run. */
void coherence_check(const struct coherence *c);

/* For tests: the state of a line in a private cache ('I', 'S', 'E', 'M'), level LEVEL_L1 or
 * LEVEL_L2; in the L3 'I' (not there), 'C' clean, 'D' dirty. */
char coherence_state(const struct coherence *c, unsigned core, enum mem_level level, sim_addr addr);

/* Tables for list and explain: sections l1, l2, l3, coherence, network. */
void coherence_each_param(void (*fn)(void *arg, const char *section, const struct param *row),
                          void *arg);

#endif
