/* machine.h - what the machine offers to policies, beside instructions and accesses. Software needs
 * none of it: it charges through the ledger (policy/checker/cells.h, ledger.h). */
#ifndef LARDSIM_POLICY_MACHINE_H
#define LARDSIM_POLICY_MACHINE_H

#include "coherence/coherence.h"
#include "memory/memory.h"
#include "memory/pages.h"

struct mem_outcome { /* of the data access itself; all 0 with machine = none */
    uint8_t level;   /* enum mem_level: who answered */
    bool asked;      /* it is of one line, and the home asked other cores for that */
    bool far;        /* it is of one line, and another NUMA node took part */
    bool upgraded;   /* it is of one line, which was in S, and needed M */
    sim_cycle began; /* when it started; policies are told when it was done */
};

/* A software policy's time is split in two ways: by part of the work, and by kind of step. */
enum cost_part {
    PART_CHECK,
    PART_SLOW,
    PART_MAPS,
    PART_SYNC,
    PART_HEAP,
    PART_COLLECTIONS,
    COST_PARTS
};
enum cost_time { TIME_INSTRUCTIONS, TIME_ATOMICS, TIME_L1, TIME_LOCAL, TIME_REMOTE, COST_TIMES };
static inline enum cost_time cost_time_of(enum mem_cmd cmd, uint8_t level)
{
    return level == LEVEL_REMOTE ? TIME_REMOTE
           : level != LEVEL_L1   ? TIME_LOCAL
           : cmd == MEM_ATOMIC   ? TIME_ATOMICS
                                 : TIME_L1;
}

/* A run of steps that a software policy makes on its core. */
struct mem_run {
    struct mem_step *step; /* n >= 1 */
    size_t n;
    bool serial; /* in hardware: an access without instructions is waited for before the next */
    /* Counted as the steps begin; cycles as they pass. */
    struct mem_counts {
        uint64_t instructions, bytes, access[MEM_ATOMIC + 1]; /* by enum mem_cmd */
        uint64_t local, remote; /* accesses that the L1 did not answer: by others who did */
        uint64_t cycles[COST_PARTS][COST_TIMES];
    } * counts;
};

/* Services of a machine with distributed shared memory for a policy that adds to its protocol (002,
 * 4.1). Each node is a process with a memory of its own. */
struct policy_dsm {
    unsigned nodes;
    uint64_t page; /* bytes */
    unsigned (*node)(void *host, unsigned core);
    /* The interval that the core's thread has just ended, at the event in hand, read and wrote so
     * many pages. Read notices go along with every message that first tells a node of that
     * interval; of write notices those that the protocol by itself has not made by now. A message
     * that is under way, an arrival at a barrier, gets longer. Returns when they are sent. */
    sim_cycle (*notices)(void *host, unsigned core, uint64_t read, uint64_t written, sim_cycle now);
    /* The extra round (002, 4.3 step 5): the request goes along with a barrier's release, and each
     * node sends the master so many bytes of bitmaps. Returns when the last have come. */
    sim_cycle (*fetch)(void *host, unsigned core, const uint64_t *bytes_by_node, sim_cycle now);
    /* When the core, which departs, gets a release that the master sends at `done`. */
    sim_cycle (*released)(void *host, unsigned core, sim_cycle done);
};

/* The machine as a policy sees it, beside exec and mem. Cores are sets of bits in two words. */
struct policy_machine {
    unsigned cores, line;
    /* The steps as exec and mem would make them one by one. NULL: those do. */
    sim_cycle (*run)(void *host, unsigned core, const struct mem_run *r, sim_cycle now);
    /* A branch of a policy in software goes one way: as the core guessed? A jump or call is on its
     * way to it. After a wrong guess, when its core goes on. NULL: all are guessed. */
    bool (*guesses)(void *host, unsigned core, uint64_t branch, bool taken);
    void (*passes)(void *host, unsigned core, uint64_t from);
    sim_cycle (*mispredicted)(void *host, unsigned core, sim_cycle now);
    uint64_t memory;             /* physical addresses are below this; 0: anywhere */
    struct pages *pages;         /* NULL: addresses are physical; see machine_physical */
    struct inline_heap *inlined; /* for policies whose metadata lie beside fields; NULL: none may */
    /* The home of a line of data asks these cores something at once; done when the last has
     * answered, each with so many bytes. */
    sim_cycle (*ask)(void *host, unsigned core, struct paddr line, const uint64_t cores[2],
                     unsigned bytes, sim_cycle now);
    /* Stops all other cores: they finish the event in hand and begin nothing until `go_on`. Returns
     * the cycle from which they stand still, which is `since` there; go_on returns when they go
     * on. */
    sim_cycle (*stop)(void *host, unsigned core, sim_cycle now);
    sim_cycle (*go_on)(void *host, unsigned core, sim_cycle since, sim_cycle now);
    /* The caches themselves, as coherence.h has them, for hardware to ask. Lines of histories are
     * dropped without a word; the policy's `line` tells when one is evicted. */
    struct caches caches;
    const uint64_t *lost;         /* coherence_lost; NULL: nobody counts */
    const char *no_histories;     /* coherence_no_histories */
    const struct policy_dsm *dsm; /* NULL: the machine has no such protocol */
};

/* m may be NULL: no machine. */
static inline struct paddr machine_physical(const struct policy_machine *m, struct vaddr a)
{
    return m && m->pages ? pages_physical(m->pages, a) : paddr_of(a.at);
}

#endif
