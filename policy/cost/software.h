/* software.h - what software does beside a policy's own hooks, as it calls: the language runtime.
 * Its instructions and accesses go where those of the program and of policies in software go; it
 * waits for nothing but what it needs. */
#ifndef LARDSIM_SOFTWARE_H
#define LARDSIM_SOFTWARE_H

#include "policy/policy.h"

struct software {
    const struct policy_env *env; /* borrowed */
    bool after;                   /* the next access needs what the latest load gives */
    struct mem_counts counts;     /* of no interest by themselves */
};

/* With `software` as their host, these serve as the functions of struct runtime_env. */
sim_cycle software_exec(void *software, unsigned core, unsigned instructions, sim_cycle now);
sim_cycle software_mem(void *software, unsigned core, struct paddr at, unsigned bytes,
                       enum mem_cmd cmd, sim_cycle now);
void software_needs(void *software);

#endif
