/* ledger.h - the one account of what detection costs on the machine, in software and in hardware.
 *
 * A verdict is decided at once, by a state that nobody else changes meanwhile; what deciding it
 * costs takes time, in which other cores go on. So a policy writes it down here while it decides,
 * core by core and in its order, and pays when all is decided. Most of it is instructions and
 * accesses, which the machine makes in a run. What else may be due stands between them as a note:
 * what has to be waited for, a question to other cores, a handler, or that the costs of another
 * access begin, beside the data or after it. Without a machine software gathers nothing.
 *
 * Software policies charge through this and through nothing else: their steps, each with its
 * instructions counted in a table, and accesses to their metadata (metadata.h). Hardware also has
 * parts that act as they are called, the software manager and the language runtime; while the
 * ledger gathers for a core, these take effect, and their costs wait like all others'. */
#ifndef LARDSIM_LEDGER_H
#define LARDSIM_LEDGER_H

#include <assert.h>

#include "policy/policy.h"

enum ledger_what {
    LEDGER_BILL,  /* an access's costs begin: at `start`, unless something was paid before them */
    LEDGER_DATA,  /* not before that access's data are there */
    LEDGER_WAIT,  /* not before a cycle */
    LEDGER_ASK,   /* the home of a line asks other cores */
    LEDGER_DROP,  /* a line is taken out of all caches */
    LEDGER_OTHER, /* another core's caches make an access, and this core waits */
    LEDGER_CALL   /* what is decided only then, as a handler that reads its tables */
};
struct ledger_note {
    uint8_t what;          /* enum ledger_what */
    uint8_t core;          /* of OTHER: whose caches; of CALL: handed on */
    uint8_t cmd;           /* of OTHER: enum mem_cmd */
    uint32_t bytes;        /* of ASK: of each answer; of OTHER */
    size_t before;         /* comes before this step, */
    uint64_t instructions; /* and after these */
    union {
        struct { /* CYCLE_NEVER for start: after all that is paid before */
            sim_cycle start, data;
        } bill;
        struct {
            sim_cycle until;
            uint64_t *waited; /* counts the cycles */
        } wait;
        struct {
            sim_addr line;
            uint64_t cores[2];
        } ask;
        sim_addr at; /* of DROP, OTHER */
        struct {
            sim_cycle (*fn)(void *self, unsigned core, void *what, sim_cycle now);
            void *self, *what;
        } call;
    };
};

struct ledger_core {       /* what a core has gathered */
    struct mem_step *step; /* owns; instructions and accesses */
    size_t n, cap;
    uint64_t instructions;    /* since the last of them, or the last note */
    struct ledger_note *note; /* owns; in order of `before` */
    size_t notes, notes_cap;
    bool paying;
};

struct metadata;
struct cost {                     /* open so that gathering can be inline; only ledger.c writes */
    bool on;                      /* there is a machine, or hardware that acts without one */
    bool held;                    /* see cost_granule */
    unsigned gathers;             /* see ledger_gather; core + 1 */
    unsigned steps;               /* in the table; 0 in hardware */
    const struct cost_step *step; /* the table; borrowed */
    uint64_t *count;              /* of each step; owns */
    struct ledger_core *core;     /* owns; of each */
    const struct policy_env *env; /* borrowed */
    struct metadata *metadata;    /* owns; NULL: none has a place */
    uint64_t line;                /* bytes */
    const char **name;            /* of each step; owns */
    struct mem_counts counts;
};

/* For software. step: the policy's table, borrowed; steps may be 0. shadow: bytes of metadata that
 * each granule has at a fixed place, at most 512. */
void cost_init(struct cost *c, const struct policy_env *env, const struct cost_step *step,
               unsigned steps, unsigned shadow);
/* For hardware: counts nothing of its own; notes are kept without a machine, too. */
void ledger_init(struct cost *c, const struct policy_env *env);
void cost_free(struct cost *c);

/* ---- gathering: steps and accesses ---------------------------------------------------------- */

void cost_add_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd);
static inline void cost_add_instructions(struct cost *c, unsigned core, uint64_t n) /* of no step */
{
    assert(!c->core[core].paying);
    c->core[core].instructions += n;
}
static inline void cost_add_steps(struct cost *c, unsigned core, unsigned step, uint64_t times)
{
    assert(step < c->steps);
    c->count[step] += times;
    cost_add_instructions(c, core, times * c->step[step].instructions);
}

static inline void cost_steps(struct cost *c, unsigned core, unsigned step, uint64_t times)
{
    if (UNLIKELY(c->on) && times)
        cost_add_steps(c, core, step, times);
}
static inline void cost_step(struct cost *c, unsigned core, unsigned step)
{
    cost_steps(c, core, step, 1);
}
enum { LEDGER_REGISTER = 64 }; /* bytes that an instruction of software loads or stores */
/* By software: one instruction for each 64 bytes begun, as many as a register holds; one access for
 * each line. */
static inline void cost_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes,
                               enum mem_cmd cmd)
{
    if (UNLIKELY(c->on) && bytes)
        cost_add_access(c, core, at, bytes, cmd);
}
/* By hardware, or with its instruction counted: an access alone. */
void ledger_touch(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd);

/* An access comes to the first of its granules, or to a further one. What a compiled check then
 * holds in registers is not charged again: c->held. That is what all granules have in common: where
 * metadata are, the own epoch, clock or locks. */
static inline void cost_granule(struct cost *c, bool first)
{
    c->held = !first;
}

/* ---- gathering: notes ----------------------------------------------------------------------- */

/* At the end; `before` and `instructions` are filled in. */
void ledger_note(struct cost *c, unsigned core, const struct ledger_note *n);
/* A place to put a note later, in front of what is gathered meanwhile. */
struct ledger_place {
    size_t step, note;
};
struct ledger_place ledger_place(const struct cost *c, unsigned core);
void ledger_note_at(struct cost *c, unsigned core, struct ledger_place at,
                    const struct ledger_note *n);

/* ---- parts that act as they are called ------------------------------------------------------ */

/* What they do; `ledger` is a struct cost. At once, or noted while the ledger gathers: then they
 * return `now`. The core of an access may be another than that for which it gathers. */
sim_cycle ledger_exec(void *ledger, unsigned core, unsigned instructions, sim_cycle now);
sim_cycle ledger_mem(void *ledger, unsigned core, sim_addr at, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
sim_cycle ledger_drop(struct cost *c, unsigned core, sim_addr line, sim_cycle now);
sim_addr ledger_physical(void *ledger, sim_addr virtual_addr);

/* From here on they are gathered for this core: what several of them do is one step of the
 * detector. Nothing without a machine. */
static inline void ledger_gather(struct cost *c, unsigned core)
{
    c->gathers = c->env->machine ? core + 1 : 0;
}
static inline void ledger_gathered(struct cost *c)
{
    c->gathers = 0;
}

/* ---- paying --------------------------------------------------------------------------------- */

sim_cycle cost_pay_due(struct cost *c, unsigned core, sim_cycle now);
/* Pays all that was gathered for this core, in its order. A software policy's `pay` is this, after
 * every event. */
static inline sim_cycle cost_pay(struct cost *c, unsigned core, sim_cycle now)
{
    return UNLIKELY(c->on) ? cost_pay_due(c, core, now) : now;
}

/* Gathers what is paid first, maybe in the middle of paying the rest: a handler. End it with
 * ledger_pay_part or ledger_beside. */
struct ledger_part {
    struct ledger_place from;
    uint64_t instructions;
};
struct ledger_part ledger_part(struct cost *c, unsigned core);
sim_cycle ledger_pay_part(struct cost *c, unsigned core, struct ledger_part p, sim_cycle now);
/* By another core beside the program: the accesses go to its caches now. Returns how long it takes,
 * one after the other. */
sim_cycle ledger_beside(struct cost *c, unsigned core, unsigned by, struct ledger_part p,
                        sim_cycle now);

#endif
