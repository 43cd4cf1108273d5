/* scheduler.h - who is next: which events run now, on which core, from when.
 *
 * A run asks its scheduler for a turn, runs the events of the turn, and hands it back for the next
 * one (sim/session/run.c). The order of a run is one of these:
 *
 *   recorded  the events as they were recorded, with a machine or without: recorded.c
 *   timed     the thread that is first in simulated time: timed.c
 *   program   the same, but a workload is asked what that thread does now: program.c
 *   host      the events as another simulator pushes them, each with its core and its cycle, by a
 *             clock that is that simulator's: recorded.c, host.c */
#ifndef LARDSIM_SCHEDULER_H
#define LARDSIM_SCHEDULER_H

#include "base/ensure.h"
#include "sim/machine/machine.h"

enum { THREADS_PINNED, THREADS_ROUND_ROBIN };
struct schedule_params { /* section schedule */
    uint32_t threads;
    uint64_t quantum, switch_cycles, window;
};
extern const struct param schedule_param_rows[];

enum { CACHES_OWN, CACHES_HOST }; /* parameter caches */
struct caches_params {            /* of the top level, in order = host */
    uint32_t where;
};
extern const struct param caches_param_rows[];
struct host_params { /* section host */
    bool delays;
};
extern const struct param host_param_rows[];
struct host_stats {
    uint64_t added, behind;
};
void host_declare(struct stats *stats, const struct host_stats *st);
struct host_at { /* where and when a pushed event is, in order = host */
    sim_cycle cycle;
    uint32_t took, gap;
    unsigned core, level; /* level: who answered; where the caches are the host's */
};

/* Events that run one after the other: at least one. On a machine they are one thread's, on this
 * core, and start at its clock. Whoever runs them moves `ev` and `number` to what it has not run.
 */
struct turn {
    const struct event *ev, *end;
    const struct event *known; /* events before it may be looked at, for hints */
    uint64_t number;           /* of ev */
    unsigned core;
    sim_cycle took; /* its access, before the turn starts; 0 but in order = host */
};
#define TURN_NONE ((struct turn){0})

enum fed { FED_EVENTS, FED_NOTHING_YET, FED_END, FED_ERROR };

struct scheduler_env {       /* borrowed */
    struct machine *machine; /* NULL: detection only */
    struct stats *stats;
    struct rules *rules; /* NULL: not checked */
    const struct names *const *names;
    uint64_t *number; /* of the event in hand: whoever comes back to his event has it in hand */
    struct budget *memory; /* of the whole run */
    uint64_t limit;        /* of events; 0: none */
    void *host;
    /* The next events of the recording, or why there are none. *b: what came last. */
    enum fed (*feed)(void *host, struct batch *b);
    /* Asks for turns (scheduler_next) and runs them until there are none. */
    void (*run_turns)(void *host);
    /* A hint, where the machine wants them: an access that a core comes to. */
    void (*soon)(void *host, const struct event *ev);
    /* A store buffer or an MSHR has used the core's caches. Takes no time. */
    void (*used_caches)(void *host, unsigned core);
    const struct run_context *context; /* for assertions; may be NULL */
    struct err *err;
};

/* The recording as it comes in, in recorded order, which is the order of the stream rules and of
 * first touches of pages, whatever runs when. */
struct recording {
    struct batch batch;     /* the latest */
    size_t at;              /* records of it that have been taken */
    uint64_t first, number; /* of the first event; of the next one that is taken */
    bool limited;           /* there were more than the limit */
    bool closed;            /* no more come */
    bool failed;            /* the program did, which is asked */
};

struct scheduler { /* the head of each order's own struct */
    const struct scheduler_type *type;
    struct scheduler_env env;
    struct recording trace;
};

struct scheduler_type {
    /* Until there is nothing to feed, an error, or the end. */
    void (*run)(struct scheduler *s);
    /* *t is the turn that has run, or TURN_NONE; then the next one. False: none now. */
    bool (*next)(struct scheduler *s, struct turn *t);
    sim_cycle (*settle)(struct scheduler *s);
    void (*where)(const struct scheduler *s, int core, struct whereabouts *to,
                  const struct event **ev);
    void (*destroy)(struct scheduler *s);
};

/* slice: records of a turn, about, where there is no machine. */
struct scheduler *scheduler_recorded(const struct scheduler_env *env, size_t slice);
/* Recorded order, where the host has told of each event (host_tell) before scheduler_push. */
struct scheduler *scheduler_hosted(const struct host_params *p, const struct scheduler_env *env);
struct host_order;
struct host_order *scheduler_host_order(struct scheduler *s); /* NULL: another order */
void host_tell(struct host_order *h, const struct host_at *at);
uint64_t host_added(const struct host_order *h); /* cycles, to the event that was told last */
struct scheduler *scheduler_timed(const struct schedule_params *p, const struct scheduler_env *env);
/* Timed order becomes program order: this source is asked (struct driven). Borrowed. Before the
 * first scheduler_run; numbers, stream rules and the limit of events are the caller's then. */
void scheduler_drive(struct scheduler *s, struct source *program);
void scheduler_free(struct scheduler *s); /* NULL is fine */
/* For coh_env, which comes before the scheduler (coherence_serve): how a transaction waits, in
 * timed order. */
struct coh_host scheduler_host(void);

/* In timed order: what is known of all events before the first says that there will be too many
 * threads for the cores. -1: e says so. */
int scheduler_foresee(const struct scheduler *s, const struct trace_summary *all, struct err *e);
/* The next event, from outside: the next scheduler_run takes it. */
void scheduler_push(struct scheduler *s, const struct event *ev);
/* There have been as many events as the limit: another one is too many. */
static inline bool scheduler_full(const struct scheduler *s)
{
    return s->env.limit && s->trace.number - s->trace.first == s->env.limit;
}
/* -1: an error is set. */
static inline int scheduler_run(struct scheduler *s)
{
    s->type->run(s);
    return s->env.err->code ? -1 : 0;
}
static inline bool scheduler_next(struct scheduler *s, struct turn *t)
{
    return s->type->next(s, t);
}
/* Tells where the core is, or, with -1, the core that has the turn: sets the members of *to that
 * are known (it is WHERE_UNKNOWN before), and returns the event in hand, or NULL. In program order
 * the event's number is that in which it was made, as it has no other yet. */
static inline const struct event *scheduler_where(const struct scheduler *s, int core,
                                                  struct whereabouts *to)
{
    const struct event *ev = NULL;

    s->type->where(s, core, to, &ev);
    return ev;
}
/* Before statistics are looked at in the middle: what is counted late is counted now. Returns the
 * time of the latest turn; 0 where turns have none. */
static inline sim_cycle scheduler_settle(struct scheduler *s)
{
    return s->type->settle(s);
}

/* recorded.c, for all orders. */
enum fed scheduler_read(struct scheduler *s); /* the next batch, if this one has been taken */

#endif
