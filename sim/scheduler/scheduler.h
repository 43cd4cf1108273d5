/* scheduler.h - the timed order: the core with the smallest clock goes next (docs/machine.md,
 * "Order and waiting"). */
#ifndef LARDSIM_SCHEDULER_H
#define LARDSIM_SCHEDULER_H

#include "sim/machine/machine.h"

enum { THREADS_PINNED, THREADS_ROUND_ROBIN };
struct schedule_params { /* section schedule */
    uint32_t threads;
    uint64_t quantum, switch_cycles, window;
};
extern const struct param schedule_param_rows[];

enum fed { FED_EVENTS, FED_NOTHING_YET, FED_END, FED_ERROR };

struct scheduler_env { /* borrowed */
    struct machine *machine;
    struct stats *stats;
    const struct names *const *names;
    uint64_t memory_limit;
    uint64_t events; /* that are fed or pushed, at most; 0: no limit */
    void *host;
    /* The next events of the recorded order, or why there are none. */
    enum fed (*feed)(void *host, struct batch *b);
    /* What it has to say of each event that comes in. -1: an error. NULL: nothing. */
    int (*comes)(void *host, const struct event *ev, uint64_t number);
    /* An event has run: the policies' turn. False: the run stops. */
    bool (*ran)(void *host, const struct event *ev, uint64_t number, unsigned core,
                struct mem_outcome out);
    /* A hint, where the machine wants them: an access that a core comes to; very: now. */
    void (*soon)(void *host, const struct event *ev, bool very);
    /* Something beside the core's events has used the caches. Takes no time. */
    void (*beside)(void *host, unsigned core);
    struct err *err;
};

struct scheduler;
struct scheduler *scheduler_new(const struct schedule_params *p, const struct scheduler_env *env);
void scheduler_free(struct scheduler *s);
/* For coh_env, which comes before the scheduler: how a transaction waits in *s. */
struct coh_host scheduler_host(struct scheduler **s);
void scheduler_first(struct scheduler *s, uint64_t number); /* of the first event; else 0 */
/* The next event, from outside. -1: an error, or beyond the limit. */
int scheduler_push(struct scheduler *s, const struct event *ev);
struct batch scheduler_taken(const struct scheduler *s); /* of the latest batch */
uint64_t scheduler_added(const struct scheduler *s);     /* events */
bool scheduler_limited(const struct scheduler *s);       /* there were more events than the limit */
/* Runs until there is nothing to feed, an error, or the end (after FED_END). -1: an error is set.
 */
int scheduler_run(struct scheduler *s);

/* A policy's steps, in the middle of the event of a core. */
sim_cycle scheduler_steps(struct scheduler *s, unsigned core, const struct mem_run *r,
                          sim_cycle now);
/* Before statistics are looked at in the middle: what is counted late is counted now. */
void scheduler_settle(struct scheduler *s);

/* In the middle of the event of a core: all other cores stop, go on. Each returns the cycle at
 * which that is. */
sim_cycle scheduler_stop(struct scheduler *s, unsigned core, sim_cycle now);
sim_cycle scheduler_go_on(struct scheduler *s, unsigned core, sim_cycle now);

#endif
