/* port.h - what passes between a core and its first cache, as gem5's packets: which of them are an
 * access, and when each answer goes on to the core.
 *
 *   refused   a request that the cache does not take comes again; the core that does not take an
 *             answer is sent it again. Neither is a second access.
 *   split     an access that crosses a line comes as two requests, made in the same tick, of which
 *             one begins where the other ends, at a line. It is one access, done with its last
 *             answer.
 *   locked    an atomic operation comes as a locked read and a locked write. It is one access, done
 *             with the write.
 *   snoops, instructions, prefetches, maintenance of caches: no access of the program. */
#ifndef LARD_PORT_H
#define LARD_PORT_H

#include "gem5/live.h"

#ifdef __cplusplus
extern "C" {
#endif

enum port_packet_is {
    PORT_READ = 1,
    PORT_WRITE = 2,
    PORT_LOCKED = 4, /* half of an atomic operation */
    PORT_MARKED = 8,
    PORT_ON_STACK = 16,
    PORT_PREFETCH = 32,
    PORT_FETCH = 64,
    PORT_MAINTENANCE = 128,
    PORT_NO_ADDRESS = 256, /* it has no virtual address, or belongs to no context */
};
struct port_packet {
    const void *id;       /* the same for a request, its repetitions and its answer */
    struct live_place at; /* the tick is now */
    uint64_t addr, made;  /* virtual; the tick in which the request was made */
    uint32_t size;
    unsigned is; /* enum port_packet_is */
};

struct port_core { /* how answers go on */
    unsigned line; /* bytes; the core cuts accesses there */
    void *arg;
    bool (*send)(void *arg, void *answer);  /* false: not now; port_retry comes when it can */
    void (*wake)(void *arg, uint64_t tick); /* call port_pump then; the latest wish counts */
};

struct port_counts {
    uint64_t reads, writes, atomics; /* accesses */
    uint64_t marked, split;          /* accesses that are marked; that are split */
    uint64_t ignored;                /* packets that are no access of the program */
    uint64_t delayed, ticks;         /* answers that were held, and for how long in all */
};

struct port;
struct port *port_new(struct live *l, unsigned core,
                      const struct port_core *to); /* NULL: no memory */
void port_free(struct port *p);
const struct port_counts *port_counted(const struct port *p);

/* Timing. The core asks: call this for each attempt, refused or not. Of requests that neither begin
 * nor end at a line nothing is to be known; they may be left out. */
static inline bool port_may_be_part(uint64_t addr, uint32_t size, unsigned line)
{
    return addr % line == 0 || (addr + size) % line == 0;
}
void port_request(struct port *p, const struct port_packet *k);
/* The answer has come: the port takes it, reports, and sends it on, now or later. k is the request;
 * answer is what send gets. -1: the run has an error. */
int port_answer(struct port *p, const struct port_packet *k, void *answer);
void port_pump(struct port *p, uint64_t now);  /* the time that was wished for has come */
void port_retry(struct port *p, uint64_t now); /* the core takes answers again */
bool port_is_idle(const struct port *p);       /* holds no answer */

/* Atomic. A request that was done at once, and took so many ticks; returns the ticks to add. Where
 * it ends at a line it may be the first part of an access, and waits for the run's next event. */
uint64_t port_atomic(struct port *p, const struct port_packet *k, uint64_t took);

#ifdef __cplusplus
}
#endif
#endif
