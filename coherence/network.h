/* network.h - the interconnect: messages from node to node, timed link by link, counted by class.
 * And the reservation calendar that makes a link or a bank serve one thing at a time. */
#ifndef LARDSIM_NETWORK_H
#define LARDSIM_NETWORK_H

#include "base/base.h"
#include "base/param.h"
#include "base/stats.h"
#include "memory/memory.h"

#include <assert.h>

/* ---- calendar: when something that serves one at a time is free; calendar.c ------------------ */

struct calendar_span { /* taken cycles, [from, to) */
    sim_cycle from, to;
};
/* Which cycles of a link or bank are taken. Transactions are simulated one by one, so reservations
 * do not come in order of their times: one that wants an earlier time takes a gap that later ones
 * have left. The floor is the start of the access being simulated; times before it are over. */
struct calendar {    /* open so that it can stand in its owner; all zero: nothing taken yet */
    uint64_t *busy;  /* a ring of bits, a cycle each, from base to end; owns; NULL until needed */
    size_t mask;     /* words of the ring - 1 */
    sim_cycle base;  /* first cycle of the ring; a multiple of 64 */
    sim_cycle end;   /* the ring ends before this cycle */
    sim_cycle floor; /* the latest floor that a caller gave */
    sim_cycle top;   /* nothing is taken from here on */
    struct calendar_span *far; /* taken from end on, in order, none touching; owns */
    size_t n_far, cap_far;
};
void calendar_init(struct calendar *s);
void calendar_free(struct calendar *s);
/* The usual case of calendar_take: the cycles lie in the ring, are at most 64, and are free. The
 * general one would do it too, in 8.5 ns where this takes 6.4 (random offsets, a calendar one
 * twentieth full). False: not that case, nothing is taken. */
static inline bool calendar_take_at_once(struct calendar *s, sim_cycle at, unsigned cycles)
{
    const unsigned bit = at & 63;

    if (at + cycles > s->end || cycles - 1 > 63)
        return false;
    const uint64_t bits = UINT64_MAX >> (64 - cycles);
    const uint64_t low = bits << bit, high = bits >> 1 >> (63 - bit);
    const uint64_t word = at >> 6;
    uint64_t *first = &s->busy[word & s->mask], *second = &s->busy[(word + 1) & s->mask];
    if ((*first & low) | (*second & high))
        return false;
    *first |= low;
    *second |= high;
    if (at + cycles > s->top)
        s->top = at + cycles;
    return true;
}
sim_cycle calendar_take_other(struct calendar *s, sim_cycle at, unsigned cycles);
/* Takes the first `cycles` free cycles in a row at or after `at`; returns the first of them (`at`
 * where cycles is 0). floor <= at is the promise that no later reservation will want a time before
 * it (asserted): what is over can be forgotten. Far-away times work, too. */
static inline sim_cycle calendar_take(struct calendar *s, sim_cycle floor, sim_cycle at,
                                      unsigned cycles)
{
    if (floor > s->floor)
        s->floor = floor;
    assert(at >= s->floor && at <= UINT64_MAX - cycles);
    return LIKELY(calendar_take_at_once(s, at, cycles)) ? at : calendar_take_other(s, at, cycles);
}

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
extern const struct param network_param_rows[]; /* section network */
/* What a row can't say: -1 and LARD_CONFIG when the width is no power of 2. To be called after the
 * section is bound. */
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
                            struct stats_group *g);
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
/* Routers passed on the way: 0 inside a node, 1 on the crossbar. */
unsigned network_hops(const struct network *n, unsigned from, unsigned to);
/* The next node on the way; at != to. */
unsigned network_next(const struct network *n, unsigned at, unsigned to);

#endif
