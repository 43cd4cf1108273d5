/* host.h - order = host: what recorded order does where a host has told the core and the cycle of
 * the event. */
#ifndef LARDSIM_HOST_H
#define LARDSIM_HOST_H

#include "sim/scheduler/scheduler.h"

/* m does its accesses and stops through it from now on. All but p is borrowed. The caller frees it
 * as one block. */
struct host_order *host_order_new(const struct host_params *p, struct machine *m,
                                  struct stats *stats);
void host_start(struct host_order *h, struct turn *t);
void host_ran(struct host_order *h, const struct turn *t);
unsigned host_core(const struct host_order *h);    /* of the event in hand */
sim_cycle host_latest(const struct host_order *h); /* clock of a core that has run */

#endif
