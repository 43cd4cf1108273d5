/* scheduler_int.h - what the files of the timed scheduler share. */
#ifndef LARDSIM_TIMED_INT_H
#define LARDSIM_TIMED_INT_H

#include "base/fiber.h"
#include "sim/scheduler/scheduler.h"

/* Whatever has a time at which it goes on: cores, and what works beside them. */
struct agent {
    sim_cycle at;
    struct fiber *fiber; /* asleep in the middle of something; NULL: not */
    uint64_t key;        /* what it sleeps for */
    struct agent *next;  /* that sleeps for the same */
    unsigned core;
    uint32_t index;
    void (*step)(struct timed *t, struct agent *a);
};

enum thread_state {
    THREAD_UNSEEN,
    THREAD_UNPLACED, /* its first event can't run yet */
    THREAD_RUNNABLE,
    THREAD_WAITING, /* for an event of another thread */
    THREAD_PARKED,  /* its next event has not been read */
    THREAD_OVER
};
struct thread {
    enum thread_state state;
    unsigned core;
    bool arrived;        /* the gap before its next event has been run */
    bool waited;         /* until ready_at, for `why`; else it had no core, or did not live */
    bool could_start;    /* and had no core */
    bool carried, ended; /* recorded order: it began on a kernel thread of others; it has ended */
    uint8_t carrier;     /* recorded order: what carries it */
    uint64_t kernel;     /*   ... this kernel thread */
    sim_cycle ready_at;  /* not before: then what it waited for was done */
    enum wait_reason why;
};

struct place { /* a core, and the threads on it */
    struct core *core;
    struct agent *agent;
    sim_tid *tid; /* in the order of their turns */
    size_t n, cap;
    size_t parked;          /* of them */
    size_t turn;            /* index of the one that runs */
    struct order_next next; /* of the thread whose turn it is, when it was planned */
    bool busy;              /* planned, or in the middle of an event */
    bool finishing;         /* its event has run and is not done */
    bool ran;               /* some thread has run here: `last` */
    bool fresh;             /* its turn has not begun */
    bool held;              /* its turn came while it was stopped */
    sim_tid last;           /* whose state the core holds; while it is busy, whose turn it is */
    sim_cycle since;        /* when its turn began */
    sim_cycle lost;         /* it was stopped on the way to its next event, and has not paid */
};

struct store { /* in a store buffer */
    sim_addr addr;
    unsigned bytes;
};
struct beside {          /* what a core does not wait for */
    struct store *store; /* its store buffer: a ring of core.store-buffer */
    size_t first, n;
    bool draining;  /* the first store has been started */
    size_t loads;   /* that are busy */
    sim_cycle last; /* one was done */
    bool waits;     /* the core sleeps until one of these is done */
    bool sync;      /* accesses of the event in hand are all waited for */
};
struct load {
    sim_addr addr;
    bool busy, going; /* given out; started */
};

/* Steps of a policy that its core goes past without a turn for each: steps.c. */
struct ahead {
    const struct mem_run *run;
    size_t at, end; /* [at, end) hit in the L1, and have not been made */
    sim_cycle now;  /* when the access of step `at` starts */
};

struct timed_stats {
    uint64_t switches, window_full, forwarded, merged, buffered, overlapped;
};

struct timed {
    struct schedule_params params;
    struct timed_env env;
    struct machine *machine;
    struct order *order;
    struct batch batch; /* the latest; its records up to `at` have been taken */
    size_t at;
    uint64_t first, added; /* number of the first event; events */
    bool limited;
    struct agent *agent; /* cores, then their store buffers, then their loads */
    size_t agents;
    size_t leaves;        /* a power of two */
    sim_cycle *due;       /* [leaves, 2 leaves): of agents; [i]: the earlier of [2i] and [2i + 1] */
    uint32_t *winner;     /* whose that is */
    struct agent *active; /* whose step is running */
    bool stale;           /* it has had the turn of its time, and has no other yet */
    sim_cycle now;
    uint32_t last; /* of those that had a turn at `now`, the highest index */
    struct thread *thread;
    size_t threads;
    size_t parked;     /* threads */
    bool unplanned;    /* a core with one may have others that could go on */
    uint64_t living;   /* cores that living threads need, in recorded order */
    sim_tid *coreless; /* seen, without a core and to get one; in recorded order */
    size_t n_coreless, coreless_cap;
    size_t empty;          /* cores */
    bool emptied;          /* one has become so */
    struct place *place;   /* by core */
    struct map kernels;    /* kernel thread to core + 1 */
    struct map carriers;   /* kernel thread to its living threads, in recorded order */
    struct beside *beside; /* by core */
    struct load *load;     /* by core, then core.misses of them */
    struct ahead *ahead;   /* by core */
    bool closed;
    bool stop;              /* back to the host */
    unsigned stops;         /* by policies, going on */
    sim_cycle stopped_from; /* when the first of them began */
    struct fiber *host, *running, **spare;
    size_t spares, spares_cap;
    struct map sleepers; /* key to struct agent * */
    size_t asleep;       /* agents, for a key */
    struct timed_stats st;
};

/* agents.c: who is next, sleeping and waking, the loop */
void agents_init(struct timed *t);
#define DUE_NEVER (CYCLE_NEVER - 1) /* when somebody else says so; there may be one more */
static inline bool agents_wait(const struct timed *t) /* before a turn: all of them, for others */
{
    return t->due[1] == DUE_NEVER;
}
void agent_at(struct timed *t, struct agent *a, sim_cycle at); /* it goes on then */
sim_cycle agent_sleep(struct timed *t, uint64_t key);          /* the active one */
void agents_wake(struct timed *t, uint64_t key, sim_cycle at);
sim_cycle agent_until(void *t, unsigned core, sim_cycle at);
/* Has the active one's turn at this cycle, if it would be the next. */
bool agent_goes_on(struct timed *t, sim_cycle at);
void agents_run(struct timed *t); /* until nobody can go on, or t->stop */
void agents_free(struct timed *t);

/* beside.c: store buffers and loads that are not waited for */
size_t beside_agents(const struct timed *t); /* how many there are to be */
void beside_init(struct timed *t);
void beside_free(struct timed *t);
void beside_finish(struct timed *t); /* the run ends when all is done */
struct coh_result beside_access(void *t, unsigned core, sim_addr physical, unsigned bytes,
                                enum mem_cmd cmd, sim_cycle now);
void beside_drain(struct timed *t, unsigned core); /* waits for all of the core's */

/* steps.c */
void ahead_meets(struct timed *t, unsigned core); /* others are about to take what it has */

/* stop.c: before each turn of a core. False: it is not its turn now. */
bool stop_lets(struct timed *t, struct agent *a);

/* threads.c */
struct thread *thread_of(struct timed *t, sim_tid tid); /* made when new; moves the others */
/* In recorded order, each event that may begin, end or move a thread. -1: too many for the cores,
 * or after an end. */
int thread_recorded(struct timed *t, const struct event *ev, uint64_t number);
void thread_waits_for_core(struct timed *t, sim_tid tid); /* in recorded order of first events */
/* Its first event may run: gives it a core; false: none for now. */
bool thread_place(struct timed *t, sim_tid tid, const struct event *first);
/* One that could start and whose turn it is to get a core. */
bool thread_next_placeable(struct timed *t, sim_tid *tid);
void thread_leaves(struct timed *t, sim_tid tid); /* its core */
void thread_to_kernel(struct timed *t, sim_tid tid, uint64_t kernel);

/* scheduler/scheduler.c */
bool timed_feed(struct timed *t); /* before each turn, reads what must be known for it. False:
                                   * nothing can go on */
void timed_core_step(struct timed *t, struct agent *a); /* a core's turn */

/* Keys that are not coherence's: it uses at most 2^63. */
#define KEY_CORE(core) (UINT64_C(1) << 63 | (core))

#endif
