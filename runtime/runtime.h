/* runtime.h - the modelled language runtime: lowers language events to LARDx86 instructions, and to
 * the ordinary instructions and memory accesses that this costs (LARD 4.3; docs/runtime.md).
 *
 * It decides nothing: clocks come from happens-before (policy/hb/hb.h). The runtime is told the
 * clock of the acting thread after each event, and works out which clocks its software must have
 * read, merged and written to get there. What changed in the thread's clock goes to the detector
 * with WriteVC. */
#ifndef LARDSIM_RUNTIME_H
#define LARDSIM_RUNTIME_H

#include "base/base.h"
#include "base/budget.h"
#include "base/param.h"
#include "base/stats.h"
#include "base/vclock.h"
#include "isa/lardx86/lardx86.h"
#include "memory/memory.h"
#include "memory/pages.h"
#include "trace/trace.h"

struct runtime_params {
    uint64_t base;     /* physical address of its memory; rounded down to a multiple of 4096 */
    uint64_t page;     /* bytes; rounded down to a power of 2 */
    uint64_t garbage;  /* bytes of replaced clocks, before the oldest of them are used again */
    bool instructions; /* its instructions take time; else its accesses alone */
    uint32_t without;  /* RT_HEADER and so on: the parts that are left out */
};
/* Parts of what LARD 4.3 adds to a runtime, each of which can be left out. */
enum {
    RT_HEADER = 1 << 0,   /* the word in each object */
    RT_TRACE = 1 << 1,    /* clocks are the collector's, too */
    RT_WIDE_CAS = 1 << 2, /* a volatile and its clock change at once; else by two stores */
    RT_WRAPPERS = 1 << 3, /* the instrumented forms of synchronisation are called */
    RT_SWEEP = 1 << 4     /* each dead object is visited */
};
extern const char *const runtime_parts[]; /* their names; NULL ends it */
#define RUNTIME_WITHOUT_HELP                                                                       \
    "Parts of the runtime's work that cost nothing: the clock word in each object's header, "      \
    "tracing "                                                                                     \
    "clocks in collections, the wide compare-and-swap of volatiles, calls of the instrumented "    \
    "forms "                                                                                       \
    "of synchronisation, visiting each dead object."
#define RUNTIME_SPAN (UINT64_C(1) << 41) /* bytes from base within which all its memory lies */
extern const struct param runtime_param_rows[]; /* section runtime */

struct runtime_env {           /* borrowed */
    struct stats_group *stats; /* its own: policy.<label>.runtime */
    struct budget *budget;     /* for host memory; may be NULL */
    void *host;
    /* The machine: runs instructions on a core, makes an access of a core. Each returns when it is
     * done. mem NULL: there is no machine, and accesses are counted only. */
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
    /* The access made next needs for its address what the latest load gave. NULL: nobody asks. */
    void (*needs)(void *host);
    struct pages *pages; /* pages of the program's objects; NULL: addresses are of one kind */
    /* A LARDx86 instruction with its operands, which goes to the detector; its own cycle is charged
     * already. Returns when it is done. NULL: there is no such detector, and none are issued (the
     * runtime's cost alone: LARD 5.4). */
    sim_cycle (*issue)(void *host, unsigned core, sim_tid tid, const struct lx_act *act,
                       sim_cycle now);
};

struct runtime;
struct runtime_head {   /* its beginning, open for what is asked at each access */
    uint64_t forked;    /* threads that were, and have not begun */
    struct paddr words; /* the words of actor 0 */
};
struct runtime *runtime_new(const struct runtime_params *p, const struct runtime_env *env);
void runtime_free(struct runtime *r);

/* Lowers one event, after happens-before has advanced: clock is the acting thread's clock now,
 * actor the thread's own entry in it. Raw LARDx86 instructions of the trace are issued as they are.
 * The runtime's state changes at once; its accesses follow, and while they take their time events
 * of other threads may be lowered.
 *
 * Most accesses need no lowering (Tracked is a prefix) and may be left out. Three kinds may not:
 *   - the first event of a forked thread (runtime_pending): the detector is told the clock that the
 *     thread was born with;
 *   - accesses in a transaction, when they take effect: its commit merges the clocks of the
 * variables that they name;
 *   - atomic accesses whose edges the view heeds: clock is then the one between the access's
 * incoming edge and its outgoing one. */
sim_cycle runtime_lower(struct runtime *r, const struct event *ev, unsigned core,
                        const struct vclock *clock, uint32_t actor, sim_cycle now);
/* The two halves of lowering a copy or clear, for a detector that makes a copy and the clear of its
 * source one MoveHistory. runtime_follow, at each of the two events: synchronisation objects move
 * or end with their memory. runtime_issue, once it is known which: CopyHistory or MoveHistory. */
void runtime_follow(struct runtime *r, const struct event *ev, unsigned core);
sim_cycle runtime_issue(struct runtime *r, const struct event *ev, unsigned core, bool move,
                        sim_cycle now);
/* The thread was forked and its clock is not told to the detector yet. */
bool runtime_pending(const struct runtime *r, sim_tid tid);
/* An access of one of those three kinds. all_sync: the view heeds edges of the system's accesses,
 * too. */
static inline bool runtime_lowers(const struct runtime *r, const struct event *ev, bool all_sync)
{
    const bool orders = ev->flags & EVF_ORDER_MASK && (all_sync || !(ev->flags & EVF_SYSTEM));

    return ev->flags & EVF_IN_TXN || orders ||
           (((const struct runtime_head *)r)->forked && runtime_pending(r, ev->tid));
}
/* Lowers such an access, as the view has it. */
sim_cycle runtime_lower_access(struct runtime *r, const struct event *ev, bool all_sync,
                               unsigned core, const struct vclock *clock, uint32_t actor,
                               sim_cycle now);

/* Address of an actor's words: of a line, of which the runtime uses the first 16 bytes. */
#define RUNTIME_WORDS UINT64_C(64)
static inline struct paddr runtime_words(const struct runtime *r, uint32_t actor)
{
    return paddr_plus(((const struct runtime_head *)r)->words, actor * RUNTIME_WORDS);
}
/* Address of the entry of actor `of` in an actor's clock. 0: there is no such entry, or no clock.
 */
struct paddr runtime_entry(const struct runtime *r, uint32_t actor, uint32_t of);

#endif
