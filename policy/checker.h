/* checker.h - an instance of a policy in a run: its label, its view, its report. The run asks this;
 * a policy never sees it. */
#ifndef LARDSIM_CHECKER_H
#define LARDSIM_CHECKER_H

#include "policy/policy.h"

struct checker;
struct live_heap;
/* spec: "vc", or "label=vc". Binds section policy.<label>, registers statistics. NULL: error. */
struct checker_env {
    struct config *config;
    struct stats *stats;
    const struct names *names; /* may grow meanwhile; NULL: none yet, see checker_names */
    const uint64_t *number;
    unsigned granule;
    const struct layout *layout; /* NULL: the default */
    struct budget *memory;       /* of the whole run; NULL: no limit */
    const volatile int *stop;    /* as a budget's; NULL: nothing ends the run */
    FILE *const *races;          /* *races: races.jsonl, or NULL; races may be NULL */
    uint64_t lines;              /* of races.jsonl at most */
    /* The places of allocations, for reports; *placement may be NULL, and so may placement. */
    struct placement *const *placement;
    void (*on_race)(void *arg, const struct race *race); /* may be NULL */
    /* Called at each location and earlier access that races; label is the checker's. May be
     * NULL. */
    void (*on_conflict)(void *arg, const char *label, const struct event *ev, sim_addr location,
                        const struct race_side *earlier);
    void *on_race_arg;
    struct err *err;                   /* as policy_env's */
    const struct run_context *context; /* as policy_env's */
    unsigned instance;                 /* as policy_env's */
    const struct live_heap *heap;      /* NULL: what metadata take beside it is not looked at */
    /* The machine that costs are charged on, as policy_env's; all NULL: detection only. */
    const struct policy_machine *machine;
    void *host;
    sim_cycle (*exec)(void *host, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *host, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
};
/* A label that is another policy's name is refused: its results would pass for that policy's. */
int checker_label_check(const char *spec, size_t n, struct err *e); /* of n characters */
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
/* The checker's turn among several on a machine; smaller numbers decide first. 0: decides in no
 * time; 1: hardware, which pays for some events as it hears of them; 2: decides nothing, and pays
 * at once. */
unsigned checker_turn(const struct checker *c);
/* checker_decide, then checker_pay. */
sim_cycle checker_step(struct checker *c, const struct event *ev, unsigned core,
                       struct mem_outcome out, sim_cycle now);
/* Tells all that happened to lines in the machine's caches, in order, as this core saw it. Adds the
 * cores that have to pay for that. */
void checker_lines_told(struct checker *c, const struct line_queue *q, unsigned core, bool *owes);
/* The core pays for what it has heard of lines, or others have for it. */
sim_cycle checker_line_paid(struct checker *c, unsigned core, sim_cycle now);
unsigned checker_lines(const struct checker *c); /* that it wants to hear of */
/* The treatment of the access on this core since the last call, for a watching caller. */
enum checker_did { DID_CHECK, DID_LEAVE, DID_SPARE, DID_PASS, DID_DEFER, CHECKER_DIDS };
enum checker_did checker_did(struct checker *c, unsigned core);
bool checker_pays(const struct checker *c); /* what it decides may take time */
/* A hint, without effect: an access that comes. */
void checker_soon(const struct checker *c, const struct event *ev);
bool checker_looks_ahead(const struct checker *c); /* it makes something of that */
/* Runs, without a machine, the events of [ev, end), up to one that sets the error, and which is
 * returned, or up to a mark of a region of interest. Else returns what is behind the last. *number
 * is ev's, and counts on; it is what env.number points to. Events before `known` may be looked at,
 * for hints. */
const struct event *checker_run(struct checker *c, const struct event *ev, const struct event *end,
                                const struct event *known, uint64_t *number);
/* The policy and its own. */
const struct policy *checker_policy(const struct checker *c, const void **self);
void checker_finish(struct checker *c);
const struct budget *checker_memory(const struct checker *c);
extern const struct param checker_param_rows[]; /* of every policy's section, beside its own */

/* For comparing instances: what they look at, what they promise, how they explain themselves (an
 * empty text: not at all). */
unsigned checker_view(const struct checker *c);
unsigned checker_skips(const struct checker *c); /* flags of accesses that it does not check */
struct promise checker_promise(const struct checker *c);
void checker_explain(const struct checker *c, const struct event *ev, sim_addr location, char *to,
                     size_t room);
/* While it tells of a conflict (on_conflict): the access, where that is over; else not known. */
struct race_side checker_tells_late(const struct checker *c);
/* Calls fn, after an event, for each access that the policy remembers of a location. False: the
 * policy does not say. */
bool checker_remembers(const struct checker *c, sim_addr location, remembered_fn *fn, void *arg);
/* The rule, of the policy or its filters, by which it left out this access, which has just taken
 * effect and is in the view, or did not remember it, or had it take a place. */
void checker_rule(const struct checker *c, const struct event *ev, sim_addr location,
                  struct policy_rule *r);
/* Happens-before in its view, after an event: the actor of a thread that has acted, an actor's own
 * time, and what a thread knows of an actor's time. */
uint32_t checker_actor(const struct checker *c, sim_tid tid);
uint64_t checker_time(const struct checker *c, uint32_t actor);
uint64_t checker_knows(const struct checker *c, sim_tid tid, uint32_t actor);

#endif
