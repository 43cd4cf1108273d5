/* swmanager.h - the software under the hardware detector: whole access histories in its own format
 * in simulated memory, what may be cached of them, and handlers with their costs (docs/lardish.md).
 *
 * It holds what the hardware gave it, and nothing else. A handler is entered (100 cycles), runs
 * instructions, makes accesses at simulated addresses through the same caches, which are never
 * checked, and is left. Whoever calls passes the cycle and gets the cycle at which it is done.
 * Addresses are physical; a granule is 1, 2, 4 or 8 bytes.
 *
 * An operation takes effect when it is called; its accesses and their cycles follow, and meanwhile
 * handlers on other cores may be called. */
#ifndef LARDSIM_SWMANAGER_H
#define LARDSIM_SWMANAGER_H

#include "base/base.h"
#include "base/stats.h"
#include "coherence/coherence.h"
#include "memory/memory.h"

struct swm_access { /* of a thread to a granule, as the manager keeps it */
    uint64_t clock; /* the thread's own clock then; 0: there is none */
    uint32_t actor; /* the thread */
    uint8_t op;     /* the owner's: the class of what conflicts with what, above a kind */
    /* Not modelled, kept for reports: */
    sim_tid tid;
    uint64_t event, site;
};

/* Reads of one actor and one class take each other's place. */
enum { SWM_OP_KIND_BITS = 6 };
static inline unsigned swm_class(uint8_t op)
{
    return op >> SWM_OP_KIND_BITS;
}

enum swm_reason { /* why a handler was entered: swmanager/reasons.def */
#define SWM_REASON(NAME, ...) SWM_##NAME,
#include "swmanager/reasons.def"
#undef SWM_REASON
                  SWM_REASONS
};
extern const char *const swm_reason_text[SWM_REASONS];

struct swm_params {
    uint64_t enter; /* cycles */
    uint64_t base;  /* physical address of its tables; rounded down to a multiple of 4096 */
};
#define SWM_SPAN (UINT64_C(1) << 41) /* bytes from base in which all its tables lie */

struct swm_env {               /* borrowed */
    struct stats_group *stats; /* its own: policy.<label>.manager */
    struct budget *budget;     /* may be NULL */
    unsigned granule, line;
    void *host;
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
};

struct swmanager;
struct swmanager *swm_new(const struct swm_params *p, const struct swm_env *env);
void swm_free(struct swmanager *s);

/* ---- handlers: everything between enter and leave is one, one a core at a time -------------- */

sim_cycle swm_enter(struct swmanager *s, unsigned core, enum swm_reason why, sim_cycle now);
/* One that was entered, and whose accesses were put off, begins only now. */
sim_cycle swm_enter_late(struct swmanager *s, unsigned core, sim_cycle now);
sim_cycle swm_leave(struct swmanager *s, unsigned core, sim_cycle now); /* counts its cycles */

/* Finds what the manager has of a line of data: costs what its table costs. The operations below
 * find the line of their granule, too, unless the handler's latest one was of the same line. */
sim_cycle swm_find(struct swmanager *s, unsigned core, sim_addr line, sim_cycle now);
/* Notes that the core's history lines of this line of data may be cached, or no more. */
sim_cycle swm_cached(struct swmanager *s, unsigned core, sim_addr line, unsigned of_core, bool may,
                     sim_cycle now);

/* Notes that no core's are: one store for each word of the mask that changes, and nothing where
 * none did. */
sim_cycle swm_uncached(struct swmanager *s, unsigned core, sim_addr line, sim_cycle now);

/* Of one granule: what the manager has. Costs the accesses of looking at it: at the write, at the
 * record and not into a block, at each of the reads. */
enum swm_depth { SWM_WRITE, SWM_NO_BLOCK, SWM_READS };
sim_cycle swm_look(struct swmanager *s, unsigned core, sim_addr granule, enum swm_depth depth,
                   sim_cycle now);
/* Stores an access. A write takes the place of all that is there. */
sim_cycle swm_store(struct swmanager *s, unsigned core, sim_addr granule,
                    const struct swm_access *a, bool write, sim_cycle now);
/* Stores a write that the reads that are there came after: they stay. */
sim_cycle swm_store_under(struct swmanager *s, unsigned core, sim_addr granule,
                          const struct swm_access *a, sim_cycle now);
/* Clears and copies what the manager has of whole regions of granules (within a page each), race
 * marks, too, but not which cores may have it cached: the destination of a copy is overwritten,
 * also with nothing. Overlap is memmove. */
sim_cycle swm_clear(struct swmanager *s, unsigned core, sim_addr addr, uint64_t bytes,
                    sim_cycle now);
sim_cycle swm_copy(struct swmanager *s, unsigned core, sim_addr to, sim_addr from, uint64_t bytes,
                   sim_cycle now);
/* A copy, after which the source outside the destination is cleared. Where they share no line, a
 * whole line's record goes over as it is, and blocks of reads do. */
sim_cycle swm_move(struct swmanager *s, unsigned core, sim_addr to, sim_addr from, uint64_t bytes,
                   sim_cycle now);

/* ---- free of cost: what the hardware knows or does by itself -------------------------------- */

/* What the manager holds of a granule. The arrays are valid until the next call that changes it. */
struct swm_held {
    const struct swm_access *write; /* NULL: none */
    const struct swm_access *read;  /* n of them, at most one for each actor and class */
    size_t n;
};
struct swm_held swm_held(const struct swmanager *s, sim_addr granule);
/* Of n granules from this one on, a power of two and at most 64, aligned: a bit for each that it
 * may hold accesses of. It holds none of the others. */
uint64_t swm_may_hold(const struct swmanager *s, sim_addr granule, unsigned n);
/* A write in hardware has made it void: forgotten in the same step (counted). The race mark stays.
 */
void swm_void(struct swmanager *s, sim_addr granule);
/* The cores whose history lines of this line of data may be cached, as a mask of two words. */
void swm_may_be_cached(const struct swmanager *s, sim_addr line, uint64_t cores[2]);
bool swm_raced(const struct swmanager *s, sim_addr granule); /* the race mark of its life */
void swm_mark_raced(struct swmanager *s, sim_addr granule);

uint64_t swm_granules(const struct swmanager *s); /* that it holds something of */

#endif
