/* timed.h - timed order, and program order: what their files share.
 *
 *   timed.c        threads on cores: whose turn it is, when it arrives at its event
 *   program.c      program order: a workload is asked, instead of a trace read
 *   threads.c      which core a thread has
 *   event_queue.c  who is next in time; waiting in the middle of something
 *   buffers.c      store buffers and MSHRs
 *   pipeline.c     the pipelined core: issue, loads under way
 *   steps.c        what a policy does on its core
 *   stop.c         a policy stops the other cores
 *   new.c          parameters, statistics, life */
#ifndef LARDSIM_TIMED_H
#define LARDSIM_TIMED_H

#include "base/fiber.h"
#include "sim/scheduler/scheduler.h"

struct timed;

/* An agent has a time at which it goes on: a core, its store buffer, each of its MSHRs. */
struct agent {
    sim_cycle at;
    struct fiber *fiber; /* asleep in the middle of something; NULL: not */
    uint64_t key;        /* what it sleeps for */
    struct agent *next;  /* that sleeps for the same */
    unsigned core;
    uint32_t index;
    void (*step)(struct timed *s, struct agent *a); /* its time has come; NULL: a core */
};

/* The agents by time, in a tournament; those that sleep until something happens; and the stacks on
 * which they do. */
struct event_queue {
    struct agent *agent; /* cores, then their store buffers, MSHRs, prefetchers' lines */
    size_t agents;
    size_t leaves;        /* a power of two */
    sim_cycle *due;       /* [leaves, 2 leaves): of agents; [i]: the earlier of [2i] and [2i + 1] */
    uint32_t *winner;     /* whose that is */
    struct agent *active; /* whose step is running */
    bool stale;           /* it has had the turn of its time, and has no other yet */
    sim_cycle now;        /* the time of the latest turn */
    uint32_t last;        /* of those that had a turn at `now`, the highest index */
    struct map sleepers;  /* key to struct agent * */
    size_t asleep;        /* agents, for a key */
    struct fiber *host, *running, **spare;
    size_t spares, spares_cap;
    void (*suspend)(struct timed *s); /* the active one leaves its stack, until it goes on */
};

enum thread_state {
    THREAD_UNSEEN,
    THREAD_UNPLACED, /* its first event can't run yet */
    THREAD_RUNNABLE,
    THREAD_WAITING, /* for an event of another thread */
    THREAD_PARKED,  /* its next event has not been read */
    THREAD_ASLEEP,  /* program order: its next event is not known before others let it go on */
    THREAD_OVER
};
struct woken {
    sim_tid *tid; /* owns */
    size_t n, cap;
};
struct sched_thread {
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

    /* Program order. */
    bool asleep, rests; /* what it does when it has run what is pending: enum driven_state */
    uint8_t awaits;     /* asleep: an event of this kind */
    uint32_t pending;   /* events made and not done */
    struct woken woken; /* by it; they go on when these are done */
};

struct threads {
    struct sched_thread *at; /* by id */
    size_t n;
    size_t parked;     /* of them */
    bool unplanned;    /* a core with a parked one may have others that could go on */
    uint64_t living;   /* cores that living threads need, in recorded order */
    sim_tid *coreless; /* seen, without a core and to get one; in recorded order */
    size_t n_coreless, coreless_cap;
    size_t empty;        /* cores */
    bool emptied;        /* one has become so */
    struct map kernels;  /* kernel thread to core + 1 */
    struct map carriers; /* kernel thread to its living threads, in recorded order */
};

struct run_queue { /* a core, and the threads on it */
    struct core *core;
    struct agent *agent;
    sim_tid *tid; /* in the order of their turns */
    size_t n, cap;
    size_t parked;          /* of them */
    size_t turn;            /* index of the one that runs */
    struct order_next next; /* of the thread whose turn it is, when it was planned */
    bool access;            /* that event is one */
    bool orders;            /* others may be ordered behind it */
    bool busy;              /* planned, or in the middle of an event */
    bool finishing;         /* its event has run and is not done */
    bool spins;             /* its thread waits, and others on it do not go on yet */
    bool ran;               /* some thread has run here: `last` */
    bool fresh;             /* its turn has not begun */
    bool held;              /* its turn came while it was stopped */
    sim_tid last;           /* whose state the core holds; while it is busy, whose turn it is */
    sim_cycle since;        /* when its turn began */
    sim_cycle lost;         /* it was stopped on the way to its next event, and has not paid */
};

struct buffered_store { /* in a store buffer */
    struct paddr addr;
    unsigned bytes;
    sim_cycle from; /* it may leave the core */
    enum mem_traffic traffic;
    struct mem_counts *counts; /* a policy's; NULL: the program's */
};
struct mshr { /* a load that missed, and is not waited for */
    struct paddr addr;
    bool busy, going; /* given out; started */
    /* Only a pipelined core uses these; addr is then the line's. */
    sim_cycle done; /* CYCLE_NEVER: not known yet */
    uint8_t level;
    enum mem_traffic traffic;
    struct mem_counts *counts;
};
struct core_buffers {             /* what a core does not wait for */
    struct buffered_store *store; /* its store buffer: a ring of core.store-buffer */
    size_t first, n;
    bool draining;  /* the first store has been started */
    size_t loads;   /* MSHRs that are busy */
    sim_cycle last; /* one of these was done */
    bool waits;     /* the core sleeps until one of these is done */
    bool sync;      /* accesses of the event in hand are all waited for */
};

/* Steps of a policy that its core goes past without a turn for each: steps.c. */
struct ahead_steps {
    const struct mem_run *run;
    size_t at, end; /* [at, end) hit in the L1, and have not been made */
    sim_cycle now;  /* when the access of step `at` starts */
};

/* Atomics of a pipelined core, by what the core had of their lines, or who gave them. */
enum atomic_line {
    ATOMIC_OWN,    /* it had E or M */
    ATOMIC_SHARED, /* S */
    ATOMIC_L3,
    ATOMIC_REMOTE,
    ATOMIC_MEMORY,
    ATOMIC_LINES
};
struct atomic_count {
    uint64_t all, cycles, far, far_cycles; /* far: another NUMA node took part */
};
struct timed_stats {
    uint64_t switches, window_full, forwarded, merged, buffered, overlapped, buffer_full,
        misses_full;
    uint64_t second_translations, walks; /* of a pipelined core */
    uint64_t policy[SPENTS];             /* of a pipelined core: cycles of policies */
    struct atomic_count atomics[ATOMIC_LINES];
};

struct timed {
    struct scheduler head;
    struct schedule_params params;
    struct machine *machine;
    sim_cycle l1_latency;
    struct order *order; /* the window over the recording */
    struct event_queue queue;
    struct threads threads;
    struct run_queue *core;       /* by core */
    struct core_buffers *buffers; /* by core */
    struct mshr *mshr;            /* by core, then core.misses of them */
    struct agent *fetcher;        /* by core, then core.prefetch.misses of them; maybe none */
    struct pipeline *pipe;        /* by core; NULL: core.type = simple */
    struct machine_turns turns;
    struct ahead_steps *ahead; /* by core */
    struct {
        unsigned deep;  /* policies' that go on */
        sim_cycle from; /* when the first of them began */
    } stops;
    struct {
        struct source *source; /* NULL: a trace is read */
        uint64_t made;         /* events */
        bool begun;
    } program;
    bool stop; /* back to the host */
    struct timed_stats st;
};

/* event_queue.c: who is next, sleeping and waking, the loop */
void queue_init(struct timed *s);
enum { QUEUE_ROOT = 1 };            /* of the tournament */
#define DUE_NEVER (CYCLE_NEVER - 1) /* when somebody else says so; there may be one more */
static inline bool queue_waits(const struct timed *s) /* before a turn: all of them, for others */
{
    return s->queue.due[QUEUE_ROOT] == DUE_NEVER;
}
/* The agent has its turn. */
static inline void queue_turn(struct timed *s, const struct agent *a)
{
    const uint32_t same = -(uint32_t)(a->at == s->queue.now), last = s->queue.last & same;

    s->queue.last = last > a->index ? last : a->index;
    s->queue.now = a->at;
}
void queue_lapse(struct timed *s); /* the active one has no other time, as yet */
/* The memory answers somebody before the next agent's time, or at it. */
bool queue_memory(struct timed *s);
void queue_resume(struct timed *s, struct agent *a);           /* goes on where it sleeps */
void queue_at(struct timed *s, struct agent *a, sim_cycle at); /* it goes on then */
sim_cycle queue_sleep(void *s, uint64_t key);                  /* the active one */
void queue_wake(void *s, uint64_t key, sim_cycle at);
sim_cycle queue_until(void *s, unsigned core, sim_cycle at);
/* Has the active one's turn at this cycle, if it would be the next. */
bool queue_goes_on(struct timed *s, sim_cycle at);
void queue_run(struct timed *s); /* turns, on fibers, until nobody can go on, or s->stop */
void queue_free(struct timed *s);

/* buffers.c: store buffers and MSHRs */
size_t buffers_agents(const struct timed *s); /* how many there are to be */
void buffers_init(struct timed *s);
void buffers_free(struct timed *s);
void buffers_finish(struct timed *s);                       /* the run ends when all is done */
void buffers_ahead(void *s, unsigned core, unsigned fetch); /* of coh_host */
void buffers_drain(struct timed *s, unsigned core);         /* waits for all of the core's */
/* A store goes into the buffer, where there is room. */
void buffers_push(struct timed *s, unsigned core, const struct buffered_store *st, sim_cycle now);
void buffers_count(struct mem_counts *n, uint8_t level); /* who answered a policy's access */
enum overlap { OVERLAP_NONE, OVERLAP_PART, OVERLAP_ALL };
/* Compares a load with the youngest store in the buffer that gives some of its bytes. */
enum overlap buffers_overlap(const struct timed *s, unsigned core, struct paddr at, unsigned bytes);

/* pipeline.c: all is for core.type = pipelined */
void pipeline_init(struct timed *s, struct machine_turns *turns, struct stats_group *g);
void pipeline_free(struct timed *s);
/* When a thread would arrive at its next event, the gap of that from the core's clock on. */
sim_cycle pipeline_foresees(struct timed *s, unsigned core, uint64_t gap);
void pipeline_arrives(struct timed *s, unsigned core, uint64_t gap); /* the gap is issued */
void pipeline_drain(struct timed *s, unsigned core);  /* waits for all of the core's */
void pipeline_finish(struct timed *s, unsigned core); /* all stores are done */
void pipeline_fetched(struct timed *s, unsigned core, const struct mshr *slot);

/* steps.c: a policy's steps, in the middle of the event of a core */
sim_cycle timed_steps(void *s, unsigned core, const struct mem_run *r, sim_cycle now);
void steps_settle(struct timed *s);       /* all those that are due are made */
void ahead_meets(void *s, unsigned core); /* others are about to take what it has */

/* stop.c: in the middle of the event of a core, all others stop, go on: when that is */
sim_cycle timed_stop(void *s, unsigned core, sim_cycle now);
sim_cycle timed_go_on(void *s, unsigned core, sim_cycle since, sim_cycle now);
/* Before each turn of a core. False: it is not its turn now. */
bool stop_lets(struct timed *s, struct agent *a);

/* threads.c */
struct sched_thread *thread_of(struct timed *s, sim_tid tid); /* made when new; moves the others */
/* In recorded order, each event that may begin, end or move a thread. -1: too many for the cores,
 * or after an end. */
int thread_recorded(struct timed *s, const struct event *ev, uint64_t number);
int threads_foresee(const struct timed *s, const struct trace_summary *all, struct err *e);
void thread_waits_for_core(struct timed *s, sim_tid tid); /* in recorded order of first events */
/* Gives a core to a thread whose first event may run (NULL: not known) from its ready_at on. The
 * thread uses the core from then on, or as much later as a seed says. False: no core for now. */
bool thread_place(struct timed *s, sim_tid tid, const struct event *first);
/* Finds a thread that could start and whose turn it is to get a core. */
bool thread_next_placeable(struct timed *s, sim_tid *tid);
void thread_leaves(struct timed *s, sim_tid tid); /* its core */
void thread_to_kernel(struct timed *s, sim_tid tid, uint64_t kernel);

/* -1: it is one more thread that lives than there are cores. Else it counts. */
int thread_lives(struct timed *s, sim_tid tid);

/* program.c */
bool program_begins(struct timed *s); /* once, thread 0 is there; false: an error is set */
/* Asks a thread that has no event to run. True: it stands before a step, which it may make now.
 * False: it stands before none, or makes it later. */
bool program_stands(struct timed *s, sim_tid tid);
/* Asks a thread that has come to its next step for the event of that. False: the step makes none
 * now. */
bool program_asks(struct timed *s, sim_tid tid);
void program_ran(struct timed *s, sim_tid tid, sim_cycle at); /* an event of it is done */
int program_stuck(const struct timed *s);

/* timed.c */
sim_cycle timed_settle(struct scheduler *head);
void timed_plan(struct timed *s, sim_tid tid); /* its core takes up its next thread, if it can */
bool timed_next(struct scheduler *head, struct turn *t);
void timed_run(struct scheduler *head);
void timed_where(const struct scheduler *head, int core, struct whereabouts *to,
                 const struct event **ev);

/* Keys that are not coherence's: it uses at most 2^63. */
#define KEY_CORE(core) (UINT64_C(1) << 63 | (core))

#endif
