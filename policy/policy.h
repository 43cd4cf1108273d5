/* policy.h - checking policies as values: an algorithm plus its costs on the modelled machine.
 *
 * To add one: a file policy/p_x.c that ends in one const struct policy, a line in policies.def, a
 * line in Makefile.am, a golden file (docs/adding-a-policy.md). */
#ifndef LARDSIM_POLICY_H
#define LARDSIM_POLICY_H

#include "base/base.h"
#include "base/param.h"
#include "base/stats.h"
#include "coherence/coherence.h"
#include "memory/memory.h"
#include "policy/claims.h"
#include "trace/trace.h"

/* ---- what every policy has in common -------------------------------------------------------- */

enum view_bit {
    VIEW_ALL_MEMORY = 1,
    VIEW_ALL_SYNC = 2,
    VIEW_NO_CLEAR = 4,
    VIEW_NO_COPY = 8,
    VIEW_NO_THREAD = 16
};
struct view_info {
    const char *name, *help;
    unsigned bits;
};
extern const struct view_info view_info[]; /* a NULL name ends it */

enum { GRANULE_FIELD = 0 }; /* else 1, 2, 4, 8 */

/* The bits of a set of views, given as a mask of indices into view_info. */
unsigned view_bits(uint32_t set);
/* The flags any of which keeps an access from being checked. */
unsigned view_skips(unsigned view);

struct mem_outcome { /* of the data access itself; all 0 with machine = none */
    uint8_t level;   /* enum mem_level: who answered */
    bool asked;      /* it is of one line, and the home asked other cores for that */
    sim_cycle began; /* when it started; policies are told when it was done */
};

struct race_side {
    uint64_t event; /* the access's number; its commit's, for an access in a transaction */
    uint64_t site;  /* 0: unknown */
    sim_tid thread; /* the language thread, in every view */
    uint8_t op;     /* the kind of access; of an access in a transaction, too */
    bool known;     /* false: the policy doesn't know the side at all */
    bool region;    /* it knows the region only: event is the first that may belong to it */
};
struct race {                     /* one racy access */
    const char *policy;           /* label */
    struct race_side is, earlier; /* earlier: the latest of those it conflicts with */
    sim_addr addr;
    uint32_t size;
    uint32_t
        conflicts; /* earlier accesses in the history that it conflicts with, over its granules */
    bool system;
    uint64_t id;      /* the same for the same pair of sites in another run */
    uint64_t noticed; /* the event at which it was found: is.event, or later */
};

struct race_report;
struct hb;
struct cost;

/* What a policy in software asks of its core. */
struct mem_run {
    struct mem_step *step; /* n >= 1 */
    size_t n;
    /* Counted as the steps begin. */
    struct mem_counts {
        uint64_t instructions, bytes, access[MEM_ATOMIC + 1]; /* by enum mem_cmd */
    } * counts;
};

/* What a policy makes the machine do beside exec and mem. Addresses are physical. Cores are sets of
 * bits in two words. */
struct policy_machine {
    unsigned cores, line;
    /* The steps as exec and mem would make them one by one. NULL: those do. */
    sim_cycle (*run)(void *host, unsigned core, const struct mem_run *r, sim_cycle now);
    uint64_t memory; /* physical addresses are below this; 0: anywhere */
    sim_addr (*physical)(void *host, sim_addr virtual_addr);
    /* [from, from + bytes) holds histories: a line of it that is in no cache comes in without a
     * read of memory, and leaves without a write. Its going is told by the policy's `line`. */
    void (*histories)(void *host, sim_addr from, uint64_t bytes);
    /* Takes a line out of all caches, whoever holds it, and no `line` tells of it. *level: where it
     * was, LEVEL_NONE: nowhere. Returns when done: a hit at that level, later. */
    sim_cycle (*drop)(void *host, unsigned core, sim_addr line, uint8_t *level, sim_cycle now);
    /* The home of a line of data asks these cores something at once; done when the last has
     * answered, each with so many bytes. */
    sim_cycle (*ask)(void *host, unsigned core, sim_addr line, const uint64_t cores[2],
                     unsigned bytes, sim_cycle now);
    /* So many bytes went along with messages that were sent anyway. */
    void (*piggyback)(void *host, uint64_t bytes);
    /* All other cores stop: they finish the event in hand and begin nothing until `go_on`. Returns
     * the cycle from which they do, which is `since` there; go_on returns when they go on. */
    sim_cycle (*stop)(void *host, unsigned core, sim_cycle now);
    sim_cycle (*go_on)(void *host, unsigned core, sim_cycle since, sim_cycle now);
    /* The level at which a line is now for this core, LEVEL_NONE: in no cache. Changes nothing. */
    uint8_t (*where)(void *host, unsigned core, sim_addr line);
    /* While this stays the same, no line of histories that was in a cache is in none. NULL: nobody
     * counts. */
    const uint64_t *lost;
};

struct policy_env {            /* borrowed for the policy's life */
    struct stats_group *stats; /* policy.<label> */
    struct race_report *report;
    struct budget *budget;  /* what the policy's state takes; policy.<label>.memory */
    const struct hb *hb;    /* happens-before in this view, kept by the checker (hb.h) */
    const uint64_t *number; /* of the event in hand */
    unsigned view;          /* view bits */
    unsigned granule;       /* 1, 2, 4, 8 or GRANULE_FIELD */
    unsigned special;       /* flags any of which keeps an access from being plain (hb.h) */
    const struct policy_machine *machine; /* NULL: detection only */
    struct cost *cost; /* what it charges; gathers nothing without a machine: cost.h */
    unsigned instance; /* of the run's policies, from 0: each has metadata of its own */
    void *host;
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
    struct err *err; /* a policy that can't go on sets it (err_set); the run stops there */
};

struct cost_step {         /* of what a policy in software does: cost.h */
    const char *name;      /* of the statistic policy.<label>.cost.steps */
    unsigned instructions; /* beside its accesses, which are counted by themselves */
    const char *text;      /* the reasoning */
};

/* How many records ahead a policy hears of an access: about twice the time that memory takes, and
 * that time. */
enum { SOON = 12, VERY_SOON = 6 };

/* What a policy with a happens-before of its own is told through `edges`. */
enum policy_edge {
    EDGE_BEGIN,    /* the thread's first event; and EV_THREAD, when it is placed */
    EDGE_BEFORE,   /* an atomic access or a commit that the view heeds: what it takes */
    EDGE_AFTER,    /* what it gives */
    EDGE_UNHEEDED, /* synchronisation that the view does not heed */
    EDGE_MEMORY    /* a clear or copy, in every view: objects follow their memory */
};

struct policy {
    const char *name, *summary;
    const char *source;     /* key into base/papers.def */
    struct promise promise; /* of an instance with its parameters as they are by default */
    unsigned view;          /* view bits that it always has */
    const struct param
        *params;        /* rows of section policy.<label>, beside the common ones; may be NULL */
    size_t params_size; /* of the struct they fill */
    const struct cost_step *steps; /* what it charges for; its page prints them; may be NULL */
    unsigned steps_n;              /* 0: its costs are in no table */
    /* -1: it can't be made with these parameters. Before anything of it is declared; may be NULL.
     */
    int (*refuse)(const struct policy_env *env, const void *params, struct err *e);
    void *(*create)(const struct policy_env *env, const void *params,
                    struct err *e); /* NULL: error */
    /* An access that the view checks, when it takes effect: at once, or at its commit. */
    sim_cycle (*access)(void *self, const struct event *ev, unsigned core, struct mem_outcome out,
                        sim_cycle now);
    /* What `access` and `line` have decided takes time here: with a machine, other cores may go on
     * meanwhile. After the event's accesses are all checked, their races reported and clocks moved.
     * NULL: nothing. Where there are steps: after each event, and not without a machine, where they
     * cost nothing. */
    sim_cycle (*pay)(void *self, unsigned core, sim_cycle now);
    /* The same of several plain accesses: ev, and those that follow it up to one that is not plain,
     * has raced, or has taken the budget over its limit. Returns the last; *number is the first's,
     * then the last's. Events before `known` may be looked at, for hints. May be NULL. */
    const struct event *(*run)(void *self, const struct event *ev, const struct event *end,
                               const struct event *known, uint64_t *number);
    /* Hints for the host's caches, without effect. An access will come soon: fetch its cell; very
     * soon: fetch what the cell points to. Either may be NULL. */
    void (*soon)(const void *self, const struct event *ev);
    void (*very_soon)(const void *self, const struct event *ev);
    /* Before env->hb moves: synchronisation that the view heeds, an atomic access, checked or not,
     * and a commit, before its accesses take effect and after. With no-thread also before a
     * thread's first event and when it changes its kernel thread. NULL: does not mind. */
    void (*before)(void *self, const struct event *ev, unsigned core);
    /* Synchronisation, clears, copies and raw LARDx86 that the view heeds, after env->hb has moved.
     */
    sim_cycle (*sync)(void *self, const struct event *ev, unsigned core, sim_cycle now);
    /* Each time when env->hb has moved, or counted, and `sync` is not what tells of it, or not yet;
     * accesses are the transaction's, in the view or not, at a commit. What it gathers is paid by
     * the next hook that pays. NULL: the policy goes by env->hb. */
    void (*edges)(void *self, enum policy_edge at, const struct event *ev,
                  const struct event *accesses, size_t n, unsigned core);
    /* Input or output, in any view. NULL: does not mind. */
    sim_cycle (*io)(void *self, const struct event *ev, unsigned core, sim_cycle now);
    /* What happened to a line in the caches, in order, after the access that caused it is done and
     * before `access` hears of it; events of its own mem calls come after the hook that made them,
     * or while other cores go on. It takes no time here, but in `pay` of the core whose access it
     * was (le->by), once what that core has in hand is done; or of this core, which tells of it.
     * NULL: does not react, and the machine keeps no such events. */
    void (*line)(void *self, const struct line_event *le, unsigned core);
    unsigned lines;                  /* that `line` wants, bits by enum line_what */
    void (*finish)(void *self);      /* may be NULL */
    void (*check)(const void *self); /* asserts its invariants; may be NULL */
    /* What its parameters change in the promise; NULL: nothing. */
    void (*amend)(const void *self, struct promise *p);
    /* For compare, after the access: why a policy that is not about happens-before finds a race at
     * this location, or none, as a clause ("no lock is held at all its accesses"). May be NULL. */
    void (*explain)(const void *self, const struct event *ev, sim_addr location, char *to,
                    size_t room);
    void (*destroy)(void *self);
};

/* Every policy, by name. */
extern const struct policy *const policies[]; /* NULL-terminated */
const struct policy *policy_find(const char *name);

/* ---- an instance in a run: a policy, its label, its view ------------------------------------ */

struct checker;
/* spec: "vc", or "label=vc". Binds section policy.<label>, registers statistics. NULL: error. */
struct checker_env {
    struct config *config;
    struct stats *stats;
    const struct names *names; /* may grow meanwhile; NULL: none yet, see checker_names */
    const uint64_t *number;
    unsigned granule;
    uint64_t memory_limit;
    FILE *const *races; /* *races: races.jsonl, or NULL; races may be NULL */
    uint64_t lines;     /* of races.jsonl at most */
    void (*on_race)(void *arg, const struct race *race); /* may be NULL */
    /* At each location and earlier access that races; label is the checker's. May be NULL. */
    void (*on_conflict)(void *arg, const char *label, const struct event *ev, sim_addr location,
                        const struct race_side *earlier);
    void *on_race_arg;
    struct err *err;   /* as policy_env's */
    unsigned instance; /* as policy_env's */
    /* Of a machine, as policy_env's; all NULL: detection only. */
    const struct policy_machine *machine;
    void *host;
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
};
struct checker *checker_new(const char *spec, const struct checker_env *env, struct err *e);
void checker_free(struct checker *c);
const char *checker_label(const struct checker *c);
void checker_names(struct checker *c, const struct names *names);
void checker_region(struct checker *c, bool inside); /* of interest */
/* Applies the view, then asks the policy; what that has decided takes time afterwards, in which
 * other cores may go on: several checkers all decide before any of them pays. */
sim_cycle checker_decide(struct checker *c, const struct event *ev, unsigned core,
                         struct mem_outcome out, sim_cycle now);
sim_cycle checker_pay(struct checker *c, const struct event *ev, unsigned core, sim_cycle now);
/* Of several on a machine those with smaller numbers decide first: 0: decides in no time; 1:
 * hardware, which pays for some events as it hears of them; 2: what decides nothing, and pays at
 * once. */
unsigned checker_turn(const struct checker *c);
/* Both. */
sim_cycle checker_step(struct checker *c, const struct event *ev, unsigned core,
                       struct mem_outcome out, sim_cycle now);
/* Something happened to a line in the machine's caches, and this core tells of it. */
void checker_line(struct checker *c, const struct line_event *le, unsigned core);
/* The core pays for what it has heard of lines, or others have for it. */
sim_cycle checker_line_paid(struct checker *c, unsigned core, sim_cycle now);
unsigned checker_lines(const struct checker *c); /* that it wants to hear of */
bool checker_pays(const struct checker *c);      /* what it decides may take time */
/* A hint, without effect: an access that comes, or comes next. */
void checker_soon(const struct checker *c, const struct event *ev, bool very);
bool checker_looks_ahead(const struct checker *c, bool very); /* it makes something of that */
/* Without a machine: the events of [ev, end), up to one that sets the error, and which is returned,
 * or up to a mark of a region of interest. Else returns what is behind the last. *number is ev's,
 * and counts on; it is what env.number points to. Events before `known` may be looked at, for
 * hints. */
const struct event *checker_run(struct checker *c, const struct event *ev, const struct event *end,
                                const struct event *known, uint64_t *number);
/* The policy and its own. */
const struct policy *checker_policy(const struct checker *c, const void **self);
void checker_finish(struct checker *c);
const struct budget *checker_memory(const struct checker *c);
extern const struct param checker_param_rows[];  /* of every policy's section, beside its own */
uint64_t checker_races(const struct checker *c); /* racy accesses so far */

/* For comparing instances: what they look at, what they promise, how they explain themselves (an
 * empty text: not at all). */
unsigned checker_view(const struct checker *c);
unsigned checker_skips(const struct checker *c); /* flags of accesses that it does not check */
struct promise checker_promise(const struct checker *c);
void checker_explain(const struct checker *c, const struct event *ev, sim_addr location, char *to,
                     size_t room);
/* Happens-before in its view, after an event: the actor of a thread that has acted, an actor's own
 * time, and what a thread knows of an actor's time. */
uint32_t checker_actor(const struct checker *c, sim_tid tid);
uint64_t checker_time(const struct checker *c, uint32_t actor);
uint64_t checker_knows(const struct checker *c, sim_tid tid, uint32_t actor);

/* ---- the race report: report.c -------------------------------------------------------------- */

/* A policy calls this for each earlier access that races with the one in hand, at each location;
 * the checker counts the access (or its commit) once. location: the granule's address. first: it
 * had no race in this life yet. */
void race_conflict(struct race_report *r, const struct event *ev, sim_addr location,
                   const struct race_side *earlier, bool first);

/* The same for an access that is over, and whose race is found only now. ev: that access, which
 * carries its site, at its location as it is now; number: its event's. other: the side that came
 * after it. counted: it has been counted as racy. Conflicts of one access that follow each other
 * make one race; race_late_done ends the last. */
void race_late(struct race_report *r, const struct event *ev, uint64_t number,
               const struct race_side *other, bool first, bool counted);
void race_late_done(struct race_report *r);
/* The same where only its synchronisation-free region is known: what `is` says stands for it. Ends
 * with race_late_done, too; an access may make several races, as each of its locations may be
 * another's. */
void race_region(struct race_report *r, const struct event *ev, const struct race_side *is,
                 sim_addr location, const struct race_side *earlier, bool first);

#endif
