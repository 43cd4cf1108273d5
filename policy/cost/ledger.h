/* ledger.h - the one account of what detection costs on the machine, in software and in hardware.
 *
 * A verdict is decided at once, by a state that nobody else changes meanwhile; what deciding it
 * costs takes time, in which other cores go on. So a policy writes the costs down while it decides,
 * in their order, and pays when all is decided. Each core has an account, which has its number.
 * Most of it is instructions and accesses, which the machine makes in a run. What else may be due
 * stands between them as a note: what has to be waited for, a question to other cores, a handler,
 * or that the costs of another access begin, beside the data or after it. Without a machine
 * software gathers nothing.
 *
 * Software policies charge through this and through nothing else: their steps, each with its
 * instructions counted in a table, and accesses to their metadata (metadata.h). Hardware also has
 * parts that act as they are called, the software manager and the language runtime; while the
 * ledger gathers for a core, these take effect, and their costs wait like all others'. */
#ifndef LARDSIM_LEDGER_H
#define LARDSIM_LEDGER_H

#include "base/ensure.h"
#include "policy/policy.h"

enum ledger_what {
    LEDGER_BILL,   /* an access's costs begin: at `start`, unless something was paid before them */
    LEDGER_DATA,   /* not before that access's data are there */
    LEDGER_WAIT,   /* not before a cycle */
    LEDGER_ASK,    /* the home of a line asks other cores */
    LEDGER_ALONG,  /* bytes came along with messages that were sent anyway, as the data did */
    LEDGER_DROP,   /* a line is taken out of all caches */
    LEDGER_OTHER,  /* another core's caches make an access, and this core waits */
    LEDGER_BRANCH, /* it was guessed wrongly */
    LEDGER_CALL    /* what is decided only then, as a handler that reads its tables */
};
typedef sim_cycle ledger_call(void *self, unsigned core, void *what, sim_cycle now);
struct ledger_note {
    size_t before;         /* comes before this step, */
    uint64_t instructions; /* and after these */
    uint8_t what;          /* enum ledger_what */
    uint8_t part;          /* of the instructions */
    union {
        struct {
            sim_cycle start; /* CYCLE_NEVER: after all that is paid before */
            sim_cycle data;  /* when they are there */
        } bill;
        struct {
            sim_cycle until;
            uint64_t *counts; /* the cycles that were waited */
        } wait;
        struct {
            struct paddr line;
            uint64_t cores[2];
            unsigned bytes; /* of each answer */
        } ask;
        uint64_t bytes;    /* of ALONG */
        struct paddr line; /* of DROP */
        struct {
            struct paddr at;
            uint16_t bytes;
            uint8_t core, cmd; /* whose caches; enum mem_cmd */
        } other;
        struct {
            ledger_call *fn;
            void *self, *what;
            unsigned core;
        } call;
    };
};

/* Hardware has several accounts a core, of so many kinds, as it pays for some things before others
 * that it has gathered earlier. */
static inline unsigned ledger_account(unsigned kind, unsigned core)
{
    return kind * MAX_CORES + core;
}
struct ledger_account {    /* what was gathered, in its order */
    struct mem_step *step; /* owns; instructions and accesses */
    size_t n, cap;
    uint64_t instructions;    /* since the last of them, or the last note */
    struct ledger_note *note; /* owns; in order of `before` */
    size_t notes, notes_cap;
    uint8_t part; /* of the instructions, of which the last */
    bool paying;
    bool after; /* the next access needs the value of the latest load: ledger_needs */
};

struct metadata;
struct ledger {                     /* open so that gathering can be inline; only ledger.c writes */
    bool on;                        /* there is a machine, or hardware that acts without one */
    bool inlined;                   /* metadata lie beside fields; metadata.c */
    bool guessed;                   /* branches may be guessed wrongly */
    bool held;                      /* see ledger_granule */
    uint8_t part;                   /* see ledger_part */
    unsigned gathers;               /* see ledger_gather: an account, plus 1 */
    unsigned steps;                 /* in the table; 0 in hardware */
    const struct cost_step *step;   /* the table; borrowed */
    uint64_t *count;                /* of each step; owns */
    struct ledger_account *account; /* owns; by number */
    unsigned accounts;
    const struct policy_env *env; /* borrowed */
    struct metadata *metadata;    /* owns; NULL: none has a place */
    uint64_t line;                /* bytes */
    const char **name;            /* of each step; owns */
    struct mem_counts counts;
    /* Checked reads and writes of a variable: all, and those that change no metadata. Counted by
     * policies that tell them. */
    struct {
        uint64_t all, same;
    } reads, writes;
};

/* Begins a ledger for software. step: the policy's table, borrowed; steps may be 0. shadow: bytes
 * of metadata that each granule has at a fixed place, at most 512. */
void ledger_software(struct ledger *c, const struct policy_env *env, const struct cost_step *step,
                     unsigned steps, unsigned shadow);
/* Begins a ledger for hardware, which counts nothing of its own, and works without a machine,
 * too. */
void ledger_hardware(struct ledger *c, const struct policy_env *env, unsigned kinds);
void ledger_free(struct ledger *c);

/* ---- gathering: steps and accesses ---------------------------------------------------------- */

enum { LEDGER_REGISTER = 64 }; /* bytes that an instruction of software loads or stores */

/* Asserts that the account takes charges: not while it is being paid. */
void ledger_closed(const struct ledger *c, const struct ledger_account *k) NO_RETURN;
static inline void ledger_open(const struct ledger *c, const struct ledger_account *k)
{
    if (UNLIKELY(k->paying))
        ledger_closed(c, k);
}
void ledger_add_access(struct ledger *c, unsigned core, struct paddr at, uint64_t bytes,
                       enum mem_cmd cmd);
static inline void ledger_instructions(struct ledger *c, unsigned account,
                                       uint64_t n) /* of no step */
{
    struct ledger_account *k = &c->account[account];

    ledger_open(c, k);
    k->instructions += n;
    k->part = c->part;
}
static inline void ledger_add_steps(struct ledger *c, unsigned core, unsigned step, uint64_t times)
{
    ENSURE(step < c->steps, c->env->context, "core %u is charged step %u, and the table has %u",
           core, step, c->steps);
    c->count[step] += times;
    c->account[core].after |= c->step[step].needs == STEP_NEEDS_VALUE;
    ledger_instructions(c, core, times * c->step[step].instructions);
}
/* The next access needs for its address what the latest load gives, where no step says so. A
 * pipelined core waits for that; it does not wait for what is only compared and branched on. */
static inline void ledger_needs(struct ledger *c, unsigned account)
{
    if (UNLIKELY(c->on))
        c->account[account].after = true;
}

static inline void ledger_steps(struct ledger *c, unsigned core, unsigned step, uint64_t times)
{
    if (UNLIKELY(c->on) && times)
        ledger_add_steps(c, core, step, times);
}
static inline void ledger_step(struct ledger *c, unsigned core, unsigned step)
{
    ledger_steps(c, core, step, 1);
}
/* Adds an access by software: one instruction for each 64 bytes begun, as many as a register holds;
 * one access for each line. */
static inline void ledger_access(struct ledger *c, unsigned core, struct paddr at, uint64_t bytes,
                                 enum mem_cmd cmd)
{
    if (UNLIKELY(c->on) && bytes)
        ledger_add_access(c, core, at, bytes, cmd);
}
/* unit: bytes for which there is an instruction; 0: none. */
void ledger_add_pieces(struct ledger *c, unsigned account, struct paddr at, uint64_t bytes,
                       enum mem_cmd cmd, uint64_t unit);
/* Adds a step within one line; there is room. */
static inline void ledger_add_step(const struct ledger *c, struct ledger_account *k,
                                   struct paddr at, uint64_t bytes, enum mem_cmd cmd,
                                   uint64_t instructions)
{
    struct mem_step *s = &k->step[k->n++];

    s->at = at;
    s->instructions = k->instructions + instructions;
    s->bytes = (uint16_t)bytes;
    s->cmd = (uint8_t)cmd;
    s->part = c->part;
    s->after = k->after;
    k->after = false;
    k->instructions = 0;
}
static inline bool ledger_in_pieces(const struct ledger *c, const struct ledger_account *k,
                                    struct paddr at, uint64_t bytes)
{
    return paddr_within(at, c->line) + bytes > c->line || k->n == k->cap;
}
/* The same for the core of the event in hand, as policies in software charge. */
static inline void charge_steps(const struct policy_env *env, unsigned step, uint64_t times)
{
    ledger_steps(env->cost, env->core, step, times);
}
static inline void charge_step(const struct policy_env *env, unsigned step)
{
    ledger_steps(env->cost, env->core, step, 1);
}
static inline void charge_access(const struct policy_env *env, struct paddr at, uint64_t bytes,
                                 enum mem_cmd cmd)
{
    ledger_access(env->cost, env->core, at, bytes, cmd);
}
static inline void charge_load(const struct policy_env *env, struct paddr at, uint64_t bytes)
{
    charge_access(env, at, bytes, MEM_LOAD);
}
static inline void charge_store(const struct policy_env *env, struct paddr at, uint64_t bytes)
{
    charge_access(env, at, bytes, MEM_STORE);
}

/* Adds an access alone: by hardware, or with its instruction counted elsewhere. */
static inline void ledger_touch(struct ledger *c, unsigned account, struct paddr at, uint64_t bytes,
                                enum mem_cmd cmd)
{
    struct ledger_account *k = &c->account[account];

    ledger_open(c, k);
    if (UNLIKELY(ledger_in_pieces(c, k, at, bytes)))
        ledger_add_pieces(c, account, at, bytes, cmd, 0);
    else
        ledger_add_step(c, k, at, bytes, cmd, 0);
}

/* Sets the part of the work to which software's steps and accesses are charged from here on. The
 * frame says it at each event, a policy where it leaves the path that is in line, and at maps of
 * readers. Returns the part before. */
static inline enum cost_part ledger_part(struct ledger *c, enum cost_part part)
{
    const enum cost_part was = (enum cost_part)c->part;

    c->part = (uint8_t)part;
    return was;
}

/* An access comes to the first of its granules, or to a further one. What a compiled check then
 * holds in registers is not charged again: c->held. That is what all granules have in common: where
 * metadata are, the own epoch, clock or locks. */
static inline void ledger_granule(struct ledger *c, bool first)
{
    c->held = !first;
}

/* ---- gathering: notes ----------------------------------------------------------------------- */

struct ledger_note *ledger_more_notes(struct ledger_account *k);
/* A new one at the end, for the caller to fill in what this kind has. */
static inline struct ledger_note *ledger_note(struct ledger *c, unsigned account,
                                              enum ledger_what what)
{
    struct ledger_account *k = &c->account[account];

    ledger_open(c, k);
    struct ledger_note *n =
        LIKELY(k->notes < k->notes_cap) ? &k->note[k->notes++] : ledger_more_notes(k);
    n->what = (uint8_t)what;
    n->before = k->n;
    n->instructions = k->instructions;
    n->part = k->part;
    k->instructions = 0;
    return n;
}
static inline void ledger_note_call(struct ledger *c, unsigned account, ledger_call *fn, void *self,
                                    void *what, unsigned core)
{
    struct ledger_note *n = ledger_note(c, account, LEDGER_CALL);

    n->call.fn = fn;
    n->call.self = self;
    n->call.what = what;
    n->call.core = core;
}
/* Puts a note in front of all that was gathered since the latest bill began. */
struct ledger_note *ledger_note_first(struct ledger *c, unsigned account, enum ledger_what what);

/* Adds a branch of software whose outcome depends on data, as the latest instruction. branch: a
 * number that it alone has. */
void ledger_guess(struct ledger *c, unsigned core, uint64_t branch, bool taken);
static inline bool ledger_branch(struct ledger *c, unsigned core, uint64_t branch, bool taken)
{
    if (UNLIKELY(c->guessed))
        ledger_guess(c, core, branch, taken);
    return taken;
}
/* The code has been called from there. */
void ledger_called(struct ledger *c, unsigned core, uint64_t from);

/* ---- parts that act as they are called ------------------------------------------------------ */

/* These act as exec and mem of policy_env do; `ledger` is a struct ledger. They act at once, or are
 * gathered: then they return `now`. The core that makes an access may be another than the
 * account's. */
sim_cycle ledger_exec(void *ledger, unsigned core, unsigned instructions, sim_cycle now);
sim_cycle ledger_mem(void *ledger, unsigned core, struct paddr at, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
void ledger_needs_value(void *ledger); /* ledger_needs, of what is gathered */
sim_cycle ledger_drop(struct ledger *c, unsigned core, struct paddr line, sim_cycle now);

/* From here on accesses are gathered: several of them are one step of the detector. Not without a
 * machine, where nothing takes time. */
static inline void ledger_gather(struct ledger *c, unsigned account)
{
    c->gathers = c->env->machine ? account + 1 : 0;
}
static inline void ledger_gathered(struct ledger *c)
{
    c->gathers = 0;
}

/* ---- paying --------------------------------------------------------------------------------- */

sim_cycle ledger_pay_due(struct ledger *c, unsigned account, unsigned core, sim_cycle now);
/* A core pays all of an account, in its order. */
static inline sim_cycle ledger_pay_account(struct ledger *c, unsigned account, unsigned core,
                                           sim_cycle now)
{
    const struct ledger_account *k = &c->account[account];

    return k->n || k->notes || k->instructions ? ledger_pay_due(c, account, core, now) : now;
}
/* A software policy's `pay` is this, after every event. */
static inline sim_cycle ledger_pay(struct ledger *c, unsigned core, sim_cycle now)
{
    return UNLIKELY(c->on) ? ledger_pay_account(c, core, core, now) : now;
}
/* Pays by a core that does it beside the program: the accesses go to its caches now. Returns how
 * long it takes, one after the other. */
sim_cycle ledger_pay_beside(struct ledger *c, unsigned account, unsigned core, sim_cycle now);

#endif
