/* net_rig.h - an interconnect and its statistics, for tests of it. */
#ifndef LARDSIM_TESTS_NET_RIG_H
#define LARDSIM_TESTS_NET_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "coherence/network.c" /* its routes are asked hop by hop, which nobody else does */

enum { TOPOLOGIES = MESH + 1 };
enum { ON = true, OFF = false };

/* Routers passed on the way: 0 inside a node, 1 on the crossbar. */
static inline unsigned network_hops(const struct network *n, unsigned from, unsigned to)
{
    return hops_of(n, from, to);
}

/* The next node on the way; at != to. */
static inline unsigned network_next(const struct network *n, unsigned at, unsigned to)
{
    return n->topology == CROSSBAR ? to : next_hop(n, at, to).node;
}

struct rig {
    struct stats *stats;
    struct network *net;
};

static inline struct rig rig_of(const struct network_params *p, unsigned nodes, bool contention)
{
    struct rig r = {.stats = stats_new()};

    r.net = network_new(p, nodes, contention, NULL, stats_group(stats_root(r.stats), "network"));
    return r;
}

static inline struct rig rig_new(uint32_t topology, unsigned nodes, bool contention)
{
    return rig_of(&(struct network_params){topology, 16, 1, 1, 1}, nodes, contention);
}

static inline void rig_free(struct rig *r) /* invariants hold after every test */
{
    struct err e = {.code = 0};

    if (stats_check(r->stats, &e))
        fail_msg("%s", e.text);
    network_free(r->net);
    stats_free(r->stats);
}

static inline sim_cycle send(struct rig *r, unsigned from, unsigned to, unsigned bytes,
                             sim_cycle at)
{
    return network_send(r->net, from, to, MSG_DATA, bytes, TRAFFIC_DATA, 0, at);
}

static inline uint64_t value(const struct rig *r, const char *name)
{
    char *full = xasprintf("network.%s", name);
    uint64_t v = 0;

    if (!stats_value(r->stats, full, &v))
        fail_msg("no statistic %s", full);
    free(full);
    return v;
}

#endif
