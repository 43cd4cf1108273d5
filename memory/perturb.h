/* perturb.h - a run that a seed perturbs: threads start a little later, and reads of memory take a
 * few cycles more. Runs that differ in the seed alone are samples of what the machine may do with
 * the program (Alameldeen and Wood, HPCA 2003).
 *
 * Each delay is a function of the seed and of what is delayed, never of how many were drawn before
 * it. A thread's is that of its number, so it is the same under every policy. A read's is that of
 * its line and of how often that line was read for the same party, the program or the policies. So
 * what a policy reads for itself does not change what the program's reads draw. */
#ifndef LARDSIM_PERTURB_H
#define LARDSIM_PERTURB_H

#include "memory/memory.h"

struct perturb_params { /* section perturb */
    uint64_t seed, start, memory;
};
extern const struct param perturb_param_rows[];

struct perturb;
/* *to: NULL where nothing is perturbed. workload: the seed in force where none is set; NULL: there
 * is none. -1: error. */
int perturb_new(struct perturb **to, struct config *config, struct stats *stats,
                const uint64_t *workload, struct err *e);
void perturb_free(struct perturb *p);            /* NULL is fine */
uint64_t perturb_bytes(const struct perturb *p); /* its memory on the host; NULL is fine */
/* Returns by how many cycles the thread starts later; counted. The first thread starts at once: a
 * delay of it would move all others, too. NULL is fine. */
sim_cycle perturb_start(struct perturb *p, uint32_t thread);
/* Returns by how many cycles a read of this line comes to the memory later; counted. */
sim_cycle perturb_read(struct perturb *p, uint64_t line, enum mem_traffic for_whom);

#endif
