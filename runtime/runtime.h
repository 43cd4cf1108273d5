/* runtime.h - the modelled language runtime: lowers language events to LARDx86 instructions and to
 * the instructions and memory accesses that this costs (LARD 4.3; docs/runtime.md).
 *
 * Clocks themselves are the checker's (policy/frame/hb.h): the runtime is told the clock of the
 * acting thread after each event, and works out what its software must have read, merged and
 * written: what changed goes to the detector with WriteVC. It charges; it decides nothing. */
#ifndef LARDSIM_RUNTIME_H
#define LARDSIM_RUNTIME_H

#include "base/base.h"
#include "base/param.h"
#include "base/stats.h"
#include "base/vclock.h"
#include "isa/lardx86/lardx86.h"
#include "memory/memory.h"
#include "trace/trace.h"

struct runtime_params {
    uint64_t base;     /* physical address of its memory; rounded down to a multiple of 4096 */
    uint64_t page;     /* rounded down to a power of 2 */
    uint64_t garbage;  /* bytes */
    bool instructions; /* charge them, or only the accesses */
};
#define RUNTIME_SPAN (UINT64_C(1) << 41)        /* bytes from base in which all its memory lies */
extern const struct param runtime_param_rows[]; /* section runtime */

struct runtime_env {           /* borrowed */
    struct stats_group *stats; /* its own: policy.<label>.runtime */
    struct budget *budget;     /* may be NULL */
    void *host;
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
    /* Where an object of the program lies; NULL: at its address. */
    sim_addr (*physical)(void *host, sim_addr virtual_addr);
    /* Each LARDx86 instruction that it issues, with its operands; the instruction itself has been
     * charged. NULL: nobody listens, and there are none (LARD 5.4: the runtime's cost alone).
     * Returns when it is done. */
    sim_cycle (*issue)(void *host, unsigned core, sim_tid tid, const struct lx_act *act,
                       sim_cycle now);
};

struct runtime;
struct runtime *runtime_new(const struct runtime_params *p, const struct runtime_env *env);
void runtime_free(struct runtime *r);

/* Lowers one event, after happens-before has moved: clock is the acting thread's clock now, actor
 * its entry in it. Raw LARDx86 goes straight through (issue, nothing else). What the event changes
 * in the runtime has changed when the first access is made: others may be lowered meanwhile.
 *
 * Accesses need no lowering (Tracked is a prefix) and may be left out, but for three kinds: the
 * first event of a forked thread (runtime_pending), with which the detector is told the clock that
 * it was born with; accesses in a transaction, when they take effect, as the commit merges the
 * clocks of what they name; and atomic accesses whose edges the view heeds: clock is then the one
 * between the access's incoming edge and its outgoing one. */
sim_cycle runtime_lower(struct runtime *r, const struct event *ev, unsigned core,
                        const struct vclock *clock, uint32_t actor, sim_cycle now);
/* The two halves of lowering a copy or clear, for a detector that takes a copy and the clear of its
 * source for one instruction: objects follow their memory at each of the events; the instructions
 * of a copy, CopyHistory or MoveHistory, are issued later. */
void runtime_follow(struct runtime *r, const struct event *ev, unsigned core);
sim_cycle runtime_issue(struct runtime *r, const struct event *ev, unsigned core, bool move,
                        sim_cycle now);
bool runtime_pending(const struct runtime *r, sim_tid tid);
/* Lowers an access if it is one of those. all_sync: the view heeds edges of the system's. */
sim_cycle runtime_lower_access(struct runtime *r, const struct event *ev, bool all_sync,
                               unsigned core, const struct vclock *clock, uint32_t actor,
                               sim_cycle now);

/* Where an actor's words lie: a line, of which the runtime uses the first 16 bytes. */
sim_addr runtime_words(const struct runtime *r, uint32_t actor);
/* Where an entry of an actor's clock lies. 0: the clock has none, or is not in memory. */
sim_addr runtime_entry(const struct runtime *r, uint32_t actor, uint32_t of);

#endif
