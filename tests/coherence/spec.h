/* spec.h - what an access of a core must do to caches and directory: the tables of
 * docs/machine.md once more, for tests, with no care for speed. Where the page is silent it follows
 * the program, and says so: there it keeps what is, and proves nothing. Latencies are the defaults.
 * Every cache is one set, so that a state is what is where, and in which order it was used. No
 * contention. */
#ifndef LARDSIM_COH_SPEC_H
#define LARDSIM_COH_SPEC_H

#include "coherence/network.h"
#include "coherence/coherence.h"

enum { MOST_CORES = 4, MOST_LINES = 4 };
enum { FIRST_LINE = 0x400 }; /* number of line 0 */

enum { I, S, E, M };       /* of a private copy */
enum { CLEAN = 1, DIRTY }; /* of the L3's */

struct shape { /* caches: how many lines they have; 0: there is none */
    unsigned cores, lines, l1, l2, l3, directory;
    bool exclusive, ring;
};

struct tags {
    uint8_t n, line[MOST_LINES]; /* the last used first */
    uint8_t state[MOST_LINES];   /* by line; 0: it isn't here */
};
struct picture {
    struct tags l1[MOST_CORES], l2[MOST_CORES], l3, directory;
};

enum seen { /* rows, then what happens besides; a test sees all of them that its machine can do */
            L1_HIT,
            L2_HIT,
            L3_ANSWERS,
            OWNER_SHARES,
            OWNER_GIVES,
            SHARERS_GO,
            SHARER_FORWARDS,
            SHARERS_GO_ONE_FORWARDS,
            L1_UPGRADE,
            L2_UPGRADE,
            FROM_MEMORY,
            ROWS,
            VICTIM_S = ROWS, /* of the last private level; in order of the states */
            VICTIM_E,
            VICTIM_M,
            VICTIM_IN_L1, /* an inclusive L2's victim that the L1 had, too */
            RECALL_NONE,  /* an L3's, a directory's victim that no core had */
            RECALL_S,     /* in order of the states */
            RECALL_E,
            RECALL_M,
            RECALL_ALL, /* all cores had it */
            L3_VICTIM_CLEAN,
            L3_VICTIM_DIRTY,
            SEEN
};

struct account { /* of one access, or of all so far */
    enum mem_level level;
    sim_cycle cycles;
    uint64_t messages[MSGS], bytes[MSGS], hops, reads, writes, seen;
    unsigned written; /* the last line */
};

/* The access is done to *p, and added to *a. */
void spec_access(const struct shape *s, struct picture *p, unsigned core, unsigned line, bool store,
                 struct account *a);

#endif
