/* simulate_int.h - what the files of a run on a machine share.
 *
 *   simulate.c         the machine and its scheduler are made; how a run ends
 *   simulate_event.c   events, to the machine and back to the policies
 *   simulate_policy.c  what policies get of the machine */
#ifndef LARDSIM_SIMULATE_INT_H
#define LARDSIM_SIMULATE_INT_H

#include "sim/session/simulate.h"

struct simulation {
    struct machine *machine;
    struct policy_machine policy; /* as policies see it */
    unsigned hears;               /* of lines, bits by enum line_what */
    bool pays;                    /* some policy: what it has decided takes time */
    bool owes[MAX_CORES];         /* by core: there may be something to pay for lines */
    struct scheduler *timed;      /* NULL: recorded order */
    struct schedule_params schedule;
    bool finishing;
    struct map thread_core, kernel_core; /* recorded order: to core + 1 */
    uint64_t placed;
    char *timeline; /* the file; NULL: none */
    bool cut;       /* the timeline, at: */
    sim_cycle cut_at;
};

/* simulate_event.c: what the timed order has of its host (scheduler/scheduler.h). */
enum fed simulate_feed(void *host, struct batch *b);
int simulate_comes(void *host, const struct event *ev, uint64_t number);
bool simulate_ran(void *host, const struct event *ev, uint64_t number, unsigned core,
                  struct mem_outcome out);
void simulate_soon(void *host, const struct event *ev, bool very);
void simulate_beside(void *host, unsigned core);
int simulate_limited(struct lardsim *l); /* an error where limits.events has kept events out */

#endif
