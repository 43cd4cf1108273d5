/* swmanager.h - the software under the hardware detector (RADISH; LARD 4.2): it keeps whole access
 * histories in a format of its own in simulated memory, and knows which cores may have them in
 * cache. Hardware traps into its handlers, and their costs are counted here (docs/lardish.md).
 *
 * It holds what the hardware gave it, and nothing else. A handler is entered (swm_params.enter
 * cycles), runs instructions, makes accesses at simulated addresses through the same caches, which
 * are never checked for races, and is left. The caller passes the cycle at which an operation
 * begins and gets the cycle at which it is done. Addresses are physical; a granule is 1, 2, 4 or 8
 * bytes.
 *
 * An operation takes effect at once, when it is called. Its accesses follow and take their cycles,
 * and meanwhile handlers on other cores may run: they find the effect complete. */
#ifndef LARDSIM_SWMANAGER_H
#define LARDSIM_SWMANAGER_H

#include "base/addr.h"
#include "base/ensure.h"
#include "base/stats.h"
#include "coherence/coherence.h"
#include "memory/memory.h"

struct swm_access { /* an access of a thread to a granule, as the manager keeps it */
    uint64_t clock; /* the thread's own clock then; 0: there is none */
    uint32_t actor; /* the thread, as its number in clocks */
    uint8_t op; /* the owner's: in the high bits a class, which says what conflicts with what; in
                   the low SWM_OP_KIND_BITS the kind of event */
    /* These fields are not modelled; reports need them. */
    sim_tid tid;
    uint64_t event, site;
};

/* A read takes the place of the last one of its actor and class. */
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
#define SWM_SPAN (UINT64_C(1) << 41) /* bytes from base within which all its tables lie */

struct swm_env {               /* borrowed */
    struct stats_group *stats; /* its own: policy.<label>.manager */
    struct budget *budget;     /* for host memory; may be NULL */
    unsigned granule, line;    /* bytes */
    void *host;
    /* The machine: runs instructions on a core, makes an access of a core. Each returns when it is
     * done. */
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
    const struct run_context *context; /* for assertions; may be NULL */
    /* The access made next needs for its address what the latest load gave. NULL: nobody asks. */
    void (*needs)(void *host);
};

struct swmanager;
struct swmanager *swm_new(const struct swm_params *p, const struct swm_env *env);
void swm_free(struct swmanager *s);

/* ---- handlers: a core runs one at a time, from enter to leave ------------------------------- */

sim_cycle swm_enter(struct swmanager *s, unsigned core, enum swm_reason why, sim_cycle now);
/* A handler that was entered, and whose accesses had to be put off, begins only now. */
sim_cycle swm_enter_late(struct swmanager *s, unsigned core, sim_cycle now);
sim_cycle swm_leave(struct swmanager *s, unsigned core, sim_cycle now); /* counts its cycles */

/* Walks the tables to the entry of a line of data, and pays for that. The operations below begin
 * with the same walk, which is free where the handler's last one ended at the same line. */
sim_cycle swm_find(struct swmanager *s, unsigned core, struct paddr line, sim_cycle now);
/* Notes that the core `of_core` may have histories of this line of data in cache, or can't any
 * more. */
sim_cycle swm_cached(struct swmanager *s, unsigned core, struct paddr line, unsigned of_core,
                     bool may, sim_cycle now);

/* Notes that no core has: one store for each word of the mask of cores that changes; free where
 * nothing changes. */
sim_cycle swm_uncached(struct swmanager *s, unsigned core, struct paddr line, sim_cycle now);

/* Looks at what the manager holds of one granule, and pays for that: for the write alone; for the
 * write and a read that is in the record itself; for the write and all reads, in a block or not.
 * What it holds, swm_held says. */
enum swm_depth { SWM_WRITE, SWM_NO_BLOCK, SWM_READS };
sim_cycle swm_look(struct swmanager *s, unsigned core, struct paddr granule, enum swm_depth depth,
                   sim_cycle now);
/* Stores an access. A write takes the place of all that is there. */
sim_cycle swm_store(struct swmanager *s, unsigned core, struct paddr granule,
                    const struct swm_access *a, bool write, sim_cycle now);
/* Stores a write that is older than the reads that are there: they stay. */
sim_cycle swm_store_under(struct swmanager *s, unsigned core, struct paddr granule,
                          const struct swm_access *a, sim_cycle now);
/* Clears or copies what the manager holds of whole regions of granules, each within a page, with
 * the race marks. Which cores may have it in cache does not change. The destination of a copy is
 * overwritten, also where the source has nothing. Regions may overlap, as with memmove. */
sim_cycle swm_clear(struct swmanager *s, unsigned core, struct paddr addr, uint64_t bytes,
                    sim_cycle now);
sim_cycle swm_copy(struct swmanager *s, unsigned core, struct paddr to, struct paddr from,
                   uint64_t bytes, sim_cycle now);
/* A copy, after which the source outside the destination is cleared. Cheaper than these two where
 * the regions share no line: the record of a whole line, and blocks of reads, change hands as they
 * are. */
sim_cycle swm_move(struct swmanager *s, unsigned core, struct paddr to, struct paddr from,
                   uint64_t bytes, sim_cycle now);

/* ---- free of cost: what hardware knows or does by itself, and what reports need -------------- */

/* A granule's history in the manager. The arrays are valid until the next call that changes it. */
struct swm_held {
    const struct swm_access *write; /* NULL: none */
    const struct swm_access *read;  /* n of them, at most one for each actor and class */
    size_t n;
};
struct swm_held swm_held(const struct swmanager *s, struct paddr granule);
/* A filter: a bit for each of n granules from this one on; 0: it surely holds no access of that
 * one. n is a power of two, at most 64, and the granules are aligned to it. */
uint64_t swm_may_hold(const struct swmanager *s, struct paddr granule, unsigned n);
/* Whether it holds nothing of the whole page of 4 KiB, and where the directory's word for the page
 * is. */
bool swm_page_empty(const struct swmanager *s, struct paddr addr);
struct paddr swm_page_word(const struct swmanager *s, struct paddr addr);
/* A write in hardware has superseded all that the manager holds of the granule: it is forgotten in
 * the same step (and counted). The race mark stays. */
void swm_void(struct swmanager *s, struct paddr granule);
bool swm_raced(const struct swmanager *s, struct paddr granule); /* the race mark of its life */
void swm_mark_raced(struct swmanager *s, struct paddr granule);

uint64_t swm_granules(const struct swmanager *s); /* that it holds something of */

#endif
