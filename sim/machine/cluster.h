/* cluster.h - machine: dsm: cores whose processes have memories of their own (docs/dsm.md). What an
 * event makes of the protocol in coherence/dsm/. A core is a process. */
#ifndef LARDSIM_CLUSTER_H
#define LARDSIM_CLUSTER_H

#include "coherence/dsm/dsm.h"
#include "sim/machine/machine.h"

/* m's own parameters are bound. NULL: error. The others take NULL. */
struct cluster *cluster_new(struct machine *m, struct config *config, struct stats *stats,
                            struct err *e);
void cluster_account(struct cluster *c, struct budget *b);
void cluster_free(struct cluster *c);

/* instruction: the event is one of its own. */
struct mem_outcome cluster_event(struct machine *m, unsigned core, const struct event *ev,
                                 bool instruction);
/* The core stands still from its clock to this cycle; waits: for another thread's event. */
void cluster_stands(struct machine *m, unsigned core, bool waits, sim_cycle to);

const struct policy_dsm *cluster_policies(const struct cluster *c);
extern const char cluster_no_histories[];

#endif
