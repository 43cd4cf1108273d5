/* fake_caches.h - caches that forget all the time, for policies in hardware: a few private lines a
 * core, a few shared ones, random victims, exact events. No timing but a latency for each level. */
#ifndef LARDSIM_TESTS_FAKE_CACHES_H
#define LARDSIM_TESTS_FAKE_CACHES_H

#include "base/rng.h"
#include "policy/checker.h"

enum { FAKE_CORES = 8, FAKE_LINES = 64, FAKE_L1 = 1, FAKE_L3 = 35, FAKE_MEMORY = 120 };

struct fake_line {
    uint64_t line; /* its number plus 1; 0: free */
    bool dirty;
};
struct fake {
    struct rng rng;
    unsigned cores, line, private_lines, shared_lines;
    unsigned loss; /* per mille of accesses after which a shared line is lost */
    struct fake_line l1[FAKE_CORES][FAKE_LINES], l3[FAKE_LINES * FAKE_CORES];
    struct line_queue lines; /* owns; not yet told */
    unsigned by;             /* whose access it is */
    sim_addr histories;
    uint64_t history_bytes;
    struct pages pages;
    struct stats *stats; /* owns; of the pages */
    uint64_t accesses, metadata, asks, asked_bytes, drops, piggybacked, memory, stops;
    sim_cycle stopped;
    struct policy_machine machine;
    void (*meanwhile)(void *arg); /* in the middle of a policy's access; NULL: nothing happens */
    void *arg;
    bool told_access; /* it may happen: the policy has heard of the access in hand */
};

void fake_open(struct fake *f, uint64_t seed);
void fake_close(struct fake *f);
void fake_mix(struct fake *f, uint64_t seed); /* pages are mixed up; 0: they are not */
/* The program's access to [a, a + bytes) of one line, virtual. */
struct mem_outcome fake_data(struct fake *f, unsigned core, sim_addr a, bool write, sim_cycle now);
/* One event on a core: its data, and the policy's part. */
sim_cycle fake_step(struct fake *f, struct checker *c, const struct event *ev, unsigned core,
                    sim_cycle now);
/* Tells a policy what happened, also what its own hooks cause meanwhile. */
sim_cycle fake_tell(struct fake *f, struct checker *c, unsigned core, sim_cycle now);
/* Out of all caches, with events. */
void fake_lose(struct fake *f, unsigned by, struct paddr physical);
/* Out of one core's, with events. */
void fake_evict(struct fake *f, unsigned core, struct paddr physical);

sim_cycle fake_exec(void *host, unsigned core, unsigned instructions, sim_cycle now);
sim_cycle fake_mem(void *host, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                   sim_cycle now);

#endif
