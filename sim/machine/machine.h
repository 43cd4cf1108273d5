/* machine.h - the simulated machine in a run: cores and their clocks on top of coherence and
 * memory, what each event costs there, and where the cycles go (docs/machine.md). Which event runs
 * next is not decided here: sim/scheduler/ does that. */
#ifndef LARDSIM_MACHINE_H
#define LARDSIM_MACHINE_H

#include "policy/cost/inline_heap.h"
#include "policy/machine.h"
#include "sim/lardsim.h"
#include "sim/machine/outside.h"
#include "sim/machine/predictor.h"
#include "sim/machine/tlb.h"
#include "sim/machine/footprint.h"
#include "sim/order/order.h"
#include "memory/pages.h"
#include "memory/perturb.h"
#include "trace/trace.h"

enum { MACHINE_NONE, MACHINE_MULTICORE, MACHINE_DSM }; /* parameter machine */
/* parameter order */
enum { ORDER_BY_MACHINE, ORDER_RECORDED, ORDER_TIMED, ORDER_PROGRAM, ORDER_HOST };
enum { COMPAT_NONE, COMPAT_CE };
enum { CONTENTION_BY_ORDER, CONTENTION_ON, CONTENTION_OFF };
enum { CORE_SIMPLE, CORE_PIPELINED }; /* parameter core.type */
/* The last is no choice: what core.type = pipelined makes of the first. */
enum { MEMORY_INSTRUCTION_PLUS, MEMORY_INSTRUCTION_LATENCY, MEMORY_INSTRUCTION_ISSUED };

struct machine_params { /* of the top level */
    uint64_t cores, line, frequency, warm_up;
    uint32_t contention, compat;
};
struct core_params { /* section core */
    uint32_t type, memory_instruction, predictor;
    uint64_t width, width_hundredths, shared_front_end, window, store_buffer, misses, atomic,
        mispredict, unmodelled;
    uint64_t unknown_gap; /* instructions before an access, where the trace never says */
    uint64_t bytecode;    /* percent of an instruction, where gaps are bytecodes */
};
extern const struct param machine_param_rows[], core_param_rows[];

/* The uses of a core's cycles: they add up to the cycles of the run. */
enum spent {
#define SPENT(NAME, ...) SPENT_##NAME,
    LARDSIM_SPENT(SPENT)
#undef SPENT
        SPENTS,
    SPENTS_MULTICORE = SPENT_PAGE_FAULT /* those that each machine has */
};
extern const char *const spent_text[SPENTS];
enum spent spent_waiting(enum wait_reason why);

struct core {
    sim_cycle clock;
    sim_cycle ready; /* pipelined: when the data of the latest access of an event are there */
    uint64_t instructions;
    sim_cycle entered, inside; /* when the region of interest began; cycles in those that ended */
    uint64_t *spent;           /* SPENTS, MAX_CORES apart */
    bool had_thread;
    bool serves;                 /* a policy works on it, for its event in hand */
    struct predictor *predictor; /* owns; NULL: all guesses are right */
};

struct machine;
struct seen_access {
    struct paddr at;
    unsigned bytes;
    enum mem_cmd cmd;
    enum mem_traffic traffic;
    sim_cycle from;
    struct coh_result is;
    char was[2], has[2]; /* of the L1, the L2; 0: there is none */
};

/* The services of a scheduler in which other cores go on in the middle of an event of this core. */
struct machine_turns {
    sim_cycle (*until)(void *scheduler, unsigned core, sim_cycle at); /* or later: when it is */
    sim_cycle (*steps)(void *scheduler, unsigned core, const struct mem_run *r, sim_cycle now);
    /* All other cores stop, go on: when that is. */
    sim_cycle (*stop)(void *scheduler, unsigned core, sim_cycle now);
    sim_cycle (*go_on)(void *scheduler, unsigned core, sim_cycle since, sim_cycle now);
    /* core.type = pipelined: an event's own instruction, and instructions of a policy; a branch of
     * a policy was guessed wrongly, as struct policy_machine has it. */
    void (*issue)(void *scheduler, unsigned core);
    sim_cycle (*exec)(void *scheduler, unsigned core, uint64_t instructions, sim_cycle now);
    sim_cycle (*mispredicted)(void *scheduler, unsigned core, sim_cycle now);
};

/* A watcher of the run is told of these, besides what coherence tells (docs/debugging.md). */
struct machine_sights {
    void *self;
    /* An access was made: its bytes, of the program or of a policy; the states that the core's L1
     * and L2 had its line in, and have. */
    void (*access)(void *self, unsigned core, const struct seen_access *a);
    void (*spent)(void *self, unsigned core, enum spent what, sim_cycle from, uint64_t cycles);
    /* A core, or what it does not wait for, goes on later. until: CYCLE_NEVER: not known. */
    void (*sleeps)(void *self, const char *until_what, sim_cycle until);
    void (*wakes)(void *self, sim_cycle at);
    /* A thread waits for another one's event. */
    void (*waits)(void *self, unsigned core, enum wait_reason why, sim_tid by, uint64_t event);
    /* The machine's own access function, for which the watched one stands. */
    struct coh_result (*made)(struct machine *m, unsigned core, struct paddr physical,
                              unsigned bytes, enum mem_cmd cmd, sim_cycle now);
};

struct cluster;   /* cluster.h */
struct intervals; /* interval.h */
struct timeline;  /* timeline.h */

struct machine {
    struct machine_params params;
    struct core_params core_params;
    struct tlb_params tlb_params;
    struct memory memory;
    struct perturb *perturb; /* owns; NULL: no seed delays anything */
    struct coherence *coherence;
    struct outside *outside; /* owns; the caches are a host's; NULL: they are coherence's */
    struct pages pages;
    struct footprint footprint;
    struct cluster *cluster;     /* NULL: cores share memory */
    struct inline_heap *inlined; /* borrows; NULL: no policy has metadata beside fields */
    unsigned word;               /* bytes of a synchronisation object's; of the layout */
    bool timed;
    bool soon; /* a policy looks for what it has of an access before that comes */
    struct core *core;
    uint64_t *spent;        /* by reason, MAX_CORES of each, then core */
    uint64_t *instructions; /* by core, as last settled */
    uint64_t total_spent[SPENTS], total_instructions, cycles; /* as last settled */
    uint64_t gaps_known; /* 1: an event has said how many instructions come before it */
    uint64_t region_cycles, used, unused; /* the last two: cores, as last settled */
    uint64_t branches, mispredicted;      /* of policies, where cores have predictors */
    /* In timed order: how an access in the middle of an event has its turn, and how one is made
     * where stores or loads need not be waited for. NULL: at once. */
    void *scheduler;
    const struct machine_turns *turns;
    struct coh_result (*access)(struct machine *m, unsigned core, struct paddr physical,
                                unsigned bytes, enum mem_cmd cmd, sim_cycle now);
    struct machine_sights *sights; /* borrows; NULL: nobody watches */
    bool tells_spent;              /* there is a timeline, or somebody watches */
    struct intervals *intervals;   /* NULL: none */
    sim_cycle interval_end;        /* of the one that is being counted; CYCLE_NEVER: none */
    struct timeline *timeline;     /* NULL: none */
};

/* Binds the parts of the configuration that a machine has. seed: of the workload whose threads are
 * asked, which perturbs it; NULL: there is none. NULL: error. */
struct machine *machine_new(struct config *config, struct stats *stats, uint32_t kind, bool timed,
                            const uint64_t *seed, const struct coh_host *host, struct err *e);
void machine_account(struct machine *m, struct budget *b); /* what it has, and what it will */
void machine_free(struct machine *m);

/* Tells the timeline, and whoever watches, of cycles that a core is charged. */
void machine_tell_spent(struct machine *m, unsigned core, enum spent what, uint64_t cycles);

/* Charges cycles of a core: its clock goes on by as many. */
static inline void core_spend(struct machine *m, struct core *c, enum spent what, uint64_t cycles)
{
    if (UNLIKELY(m->tells_spent))
        machine_tell_spent(m, (unsigned)(c - m->core), what, cycles);
    c->clock += cycles;
    c->spent[(size_t)what * MAX_CORES] += cycles;
}
static inline void machine_spend(struct machine *m, unsigned core, enum spent what, uint64_t cycles)
{
    core_spend(m, &m->core[core], what, cycles);
}
/* Instructions that need no memory: the gap before an event. */
static inline void machine_run(struct machine *m, unsigned core, uint64_t instructions)
{
    m->core[core].instructions += instructions;
    machine_spend(m, core, SPENT_EXECUTING, instructions);
}
static inline bool machine_pipelined(const struct machine *m)
{
    return m->core_params.type == CORE_PIPELINED;
}
enum spent spent_at(enum mem_level level); /* cycles of accesses that it answered */
static inline sim_cycle machine_step_begins(struct machine *m, unsigned core,
                                            const struct mem_run *r, size_t i, sim_cycle now)
{
    const struct mem_step *s = &r->step[i];

    m->core[core].instructions += s->instructions;
    r->counts->instructions += s->instructions;
    r->counts->access[s->cmd]++;
    r->counts->bytes += s->bytes;
    r->counts->cycles[s->part][TIME_INSTRUCTIONS] += s->instructions;
    return now + s->instructions;
}
/* Counts a step's access that was made, from `began` on; returns when it was done. */
static inline sim_cycle machine_step_done(const struct mem_run *r, size_t i, sim_cycle began,
                                          struct coh_result is)
{
    const struct mem_step *s = &r->step[i];
    struct mem_counts *n = r->counts;
    const enum cost_time on = cost_time_of((enum mem_cmd)s->cmd, is.level);

    n->cycles[s->part][on] += is.done - began;
    n->local += on == TIME_LOCAL;
    n->remote += on == TIME_REMOTE;
    return is.done;
}
/* An access of a policy, within one line. */
static inline struct coh_result machine_metadata(struct machine *m, unsigned core, struct paddr at,
                                                 unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    if (UNLIKELY(m->outside != NULL))
        return outside_access(m->outside, core, at, bytes, cmd, now);
    return coherence_access(m->coherence, core, at, cmd, TRAFFIC_METADATA, now);
}
/* The same, and tells who watches: for whom it is made in place of the others. */
struct coh_result machine_metadata_seen(struct machine *m, unsigned core, struct paddr at,
                                        unsigned bytes, enum mem_cmd cmd, sim_cycle now);
void machine_watch(struct machine *m); /* once there is a scheduler: accesses of the program, too */
/* Makes all steps of the run at once, for an order in which no other core goes on in between. */
sim_cycle machine_steps(struct machine *m, unsigned core, const struct mem_run *r, sim_cycle now);
/* Returns the machine as policies see it, whose host is the machine: policies.c. */
struct policy_machine machine_policies(struct machine *m);
sim_cycle machine_exec(void *machine, unsigned core, unsigned instructions, sim_cycle now);
sim_cycle machine_mem_seen(void *machine, unsigned core, struct paddr physical, unsigned bytes,
                           enum mem_cmd cmd, sim_cycle now);
sim_cycle machine_mem(void *machine, unsigned core, struct paddr physical, unsigned bytes,
                      enum mem_cmd cmd, sim_cycle now);

/* Bytes from there to the end of the line. */
static inline uint64_t line_room(const struct machine *m, sim_addr addr)
{
    return m->params.line - (addr & (m->params.line - 1));
}
/* The event's own instruction and accesses, its gap aside, from the core's clock on. */
struct mem_outcome machine_event(struct machine *m, unsigned core, const struct event *ev);
/* An access within a line, from the core's clock on; it is charged. */
enum mem_level machine_access(struct machine *m, unsigned core, struct paddr physical,
                              unsigned bytes, enum mem_cmd cmd);
/* Memory that the event touches gets its physical pages: in recorded order. */
void machine_touch_pages(struct machine *m, const struct event *ev);
static inline void machine_touch(struct machine *m, const struct event *ev)
{
    const struct pages *p = &m->pages;
    const uint64_t stretch = ev->addr >> p->near_shift;

    if (LIKELY(event_is_access(ev) && pages_is_near(p, stretch) &&
               (ev->addr + (ev->size - 1)) >> p->near_shift == stretch))
        return;
    machine_touch_pages(m, ev);
}

/* The most cycles that a core has spent in regions of interest so far; before the first: at all. */
sim_cycle machine_inside(const struct machine *m);
/* A region of interest; settles. Who is behind `now` is idle until then. */
void machine_region(struct machine *m, bool begins, sim_cycle now);
void machine_forget_regions(struct machine *m); /* between two of them: as if there had been none */
/* Brings totals up to date, before they are looked at: idle cores are idle until the last one's
 * clock. */
void machine_settle(struct machine *m);
void machine_look(struct machine *m, bool in_region); /* likewise, for who looks between events */
void machine_finish(struct machine *m);

/* Tells of each table of parameters; rows: NULL: a memory without. */
void machine_each_table(void (*fn)(void *arg, const char *section, const struct param *rows),
                        void *arg);

#endif
