/* tlb.h - a core's translations of addresses: two levels of them, and the walk of page tables.
 *
 * The latest translations are at hand, and cost nothing beyond the access. One of the second level
 * takes `second-latency` cycles more, and one that neither has takes `walk`. Both levels keep the
 * latest used; what a walk finds goes into both. Pages are known by where the machine has them: it
 * has them in one piece, as they are not larger than its own. Walks overlap, as the accesses do that wait for them. */
#ifndef LARDSIM_TLB_H
#define LARDSIM_TLB_H

#include "base/addr.h"
#include "base/param.h"

struct tlb_params { /* section tlb */
    uint64_t entries, ways, second_entries, second_ways, second_latency, walk, page;
};
extern const struct param tlb_param_rows[];
int tlb_check(const struct tlb_params *p, struct err *e);

struct tlb;
struct tlb *tlb_new(const struct tlb_params *p); /* NULL: all translations are at hand */
void tlb_free(struct tlb *t);                    /* NULL is fine, too */
/* Returns the cycles that the translation of an address takes. second, walks: counted. */
sim_cycle tlb_cycles(struct tlb *t, struct paddr at, uint64_t *second, uint64_t *walks);

#endif
