/* network.h - the interconnect: messages from node to node, timed link by link, counted by class.
 */
#ifndef LARDSIM_NETWORK_H
#define LARDSIM_NETWORK_H

#include "base/ensure.h"
#include "base/calendar.h"
#include "base/err.h"
#include "base/param.h"
#include "base/stats.h"
#include "memory/memory.h"

/* ---- messages ------------------------------------------------------------------------------- */

enum msg { /* classes of messages: messages.def */
#define MSG(NAME, ...) MSG_##NAME,
#include "coherence/messages.def"
#undef MSG
           MSGS
};
extern const char *const msg_text[MSGS];

struct network_params {
    uint32_t topology;     /* enum topology of network.c */
    uint64_t link_bytes;   /* bytes of a flit */
    uint64_t router, wire; /* cycles of a hop */
    uint64_t controllers;  /* of memory */
};
/* Checks the rule that a row can't state: returns -1 and LARD_CONFIG when the width is no power of
 * 2. To be called after the section is bound. */
int network_check(const struct network_params *p, struct err *e);

/* NUMA nodes and what is between them (section numa; docs/machine.md, "Several nodes"). */
enum { MOST_NUMA_NODES = 16 };
struct numa_params {
    uint64_t nodes, package, hop, package_hop, link_bytes;
    uint32_t home, lookup, invalidate;
};

struct network;
/* nodes >= 1; p has passed network_check. Statistics: g gets, for each class of messages and for
 * data and metadata apart, messages, bytes and flits; hops; cycles that messages waited for links;
 * the busiest link's flits; with their invariants. */
struct network *network_new(const struct network_params *p, unsigned nodes, bool contention,
                            const struct run_context *context, struct stats_group *g);
/* The first `cores` of its nodes are NUMA node 0, the next node 1, and so on: from one to the other
 * messages take the links that p says, besides. Before the first message. */
void network_numa(struct network *n, const struct numa_params *p, unsigned cores,
                  struct stats_group *g);
void network_free(struct network *n);
/* Sends at cycle `at`; returns the cycle of arrival: at, plus hops, plus waiting for links. floor
 * as in calendar_take. Inside a node: at, counted. */
sim_cycle network_send(struct network *n, unsigned from, unsigned to, enum msg m, unsigned bytes,
                       enum mem_traffic traffic, sim_cycle floor, sim_cycle at);
/* Counts a message without timing it. */
void network_count(struct network *n, enum msg m, unsigned bytes, enum mem_traffic traffic);
/* Tells of each message from now on; there: when it arrives. */
typedef void network_seen(void *self, unsigned from, unsigned to, enum msg m, unsigned bytes,
                          enum mem_traffic traffic, sim_cycle at, sim_cycle there);
void network_watch(struct network *n, network_seen *see, void *self);

#endif
