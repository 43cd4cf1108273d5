/* metadata.h - where a software policy's metadata lie in simulated memory: at a fixed place for
 * each granule, or in blocks that come and go. What finding, taking and clearing them costs goes on
 * the policy's ledger. */
#ifndef LARDSIM_METADATA_H
#define LARDSIM_METADATA_H

#include "base/shadow.h"
#include "policy/cost/ledger.h"

/* Regions of metadata, behind all memory that a program may have. */
#define METADATA_FIXED (UINT64_C(1) << 58) /* metadata at a fixed place for each granule */
#define METADATA_HEAP  (UINT64_C(1) << 59) /* blocks that come and go */
/* The distance between the metadata of a run's policies, from the first on. Those beyond the
 * sixteenth lie where the first's are, and only the caches notice. */
#define METADATA_APART (UINT64_C(1) << 60)

/* shadow: bytes of each granule's fixed place. Its ledger makes and frees it. */
struct metadata *metadata_new(const struct policy_env *env, unsigned shadow);
void metadata_free(struct metadata *m); /* may be NULL */
/* How far this policy's are from the first one's. */
sim_addr metadata_apart(const struct policy_env *env);

/* ---- places --------------------------------------------------------------------------------- */

/* The metadata of the granule at a location (fields: 4 bytes apart at least). 0 without a machine.
 * Inline they are where the location's object is, or where its array's shadow is, if it has one;
 * what is in no object that the trace has allocated has a fixed place all the same. */
struct paddr metadata_at(const struct ledger *c, sim_addr location);
/* Steps by which a check finds metadata before an access. A fixed place is computed from the
 * address: a step. Beside a field they are at a distance that the code has. An array's word is
 * loaded, and leads to its shadow: a step. The first access makes that: a step, zeros in it 64
 * bytes at a time, and a compare and swap of the word. */
struct metadata_steps {
    unsigned place, shadow, shadow_new, shadow_line;
};
void metadata_reach_inline(struct ledger *c, unsigned core, sim_addr location,
                           const struct metadata_steps *steps);
static inline void metadata_reach(struct ledger *c, unsigned core, sim_addr location,
                                  const struct metadata_steps *steps)
{
    if (LIKELY(!c->inlined))
        ledger_step(c, core, steps->place);
    else
        metadata_reach_inline(c, core, location, steps);
}
/* A copy of memory: the shadow of an array that it moves goes along, into a block of its own. Other
 * metadata that are inline are what the copy itself has copied. False: they are not inline. */
bool metadata_move(struct ledger *c, unsigned core, sim_addr to, sim_addr from, unsigned step);
/* counted: bytes that come with objects. Inline only. */
void metadata_count(struct ledger *c, struct budget *counted);
/* A block of simulated memory, from lists that each core has for itself: of 16 bytes or a larger
 * power of two, aligned to it or to 64. What the list costs is gathered (docs/policies.md, "Costs
 * that all have"). Given back to the list of the core that gives it. 0 without a machine. */
struct paddr metadata_take(struct ledger *c, unsigned core, uint64_t bytes);
void metadata_give(struct ledger *c, unsigned core, struct paddr block, uint64_t bytes);

/* A read map of fasttrack or fastrcd is a block: a power of two of slots, hashed by thread. */
enum { READ_MAP_SLOT = 8 }; /* bytes */
static inline uint32_t read_map_slots(uint32_t reads)
{
    uint32_t slots = 8;

    while (slots < reads)
        slots *= 2;
    return slots;
}

/* ---- clears and copies ---------------------------------------------------------------------- */

/* A clear or copy that goes through metadata: places side by side in 64 bytes are charged together,
 * a step, a load and a store; `to`: where a copy has them go, else 0. End it with
 * metadata_sweep_end.
 */
struct metadata_sweep {
    unsigned core, step;
    bool fill; /* there is nothing to load */
    struct paddr at, to;
    uint64_t bytes; /* not yet charged */
};
void metadata_sweep(struct ledger *c, struct metadata_sweep *s, struct paddr at, struct paddr to,
                    uint64_t bytes);
void metadata_sweep_end(struct ledger *c, struct metadata_sweep *s);

/* ---- how much there is ---------------------------------------------------------------------- */

/* metadata.live, metadata.peak: bytes of the policy's own layout on the machine, not of this
 * program's. Take and give with budget_take and budget_give; where that slows detection, with a
 * machine only. */
void metadata_declare(const struct budget *m, struct stats_group *g);

#endif
