/* fasttrack.h - a variable as fasttrack keeps it, and what each rule costs on a machine: shared by
 * fasttrack/fasttrack.c, which has the rules, and fasttrack/cost.c. */
#ifndef LARDSIM_FASTTRACK_H
#define LARDSIM_FASTTRACK_H

#include "policy/checker/cells.h"

struct ft_past { /* an access that is remembered */
    epoch at;    /* 0: none */
    uint64_t site, event;
    sim_tid tid;
    uint16_t slot; /* in the modelled read map; with a machine only */
    uint8_t kind;  /* of event */
    bool atomic;
};

struct shared_reads { /* the read vector: at most two reads of an actor, plain and atomic */
    uint32_t n, cap;
    struct paddr map; /* the modelled read map's block; 0: no machine */
    struct ft_past read[];
};

enum { READS = 0, WRITES = 1 }; /* the two sides of a variable */

/* A variable's state, in one cache line. The fields of two struct ft_past, side by side, so that no
 * byte is lost to padding. */
struct ft_variable {
    epoch at[2]; /* 0: none */
    uint64_t site[2], event[2];
    struct shared_reads *shared; /* owns; NULL until first needed; heeded while reads are shared */
    sim_tid tid[2];
    uint8_t kind[2]; /* of event, with ATOMIC and AGAIN */
    bool raced;      /* the race mark of this life */
    uint8_t kept;    /* enum kept; with a machine only */
};
_Static_assert(sizeof(struct ft_variable) == 64, "a variable is one cache line");
/* AGAIN: it repeats one of its epoch, and was not checked. */
enum { ATOMIC = 0x80, AGAIN = 0x40, KIND = 0x3f };
#define SHARED UINT64_MAX /* at[READS] while reads are shared: no epoch, and before no clock */

static inline bool reads_shared(const struct ft_variable *x)
{
    return x->at[READS] == SHARED;
}
static inline bool variable_used(const struct ft_variable *x)
{
    return x->at[READS] | x->at[WRITES];
}

/* ---- costs: fasttrack/cost.c ---------------------------------------------------------------- */

/* FastTrack as published leaves the read epoch at a write; ours forgets it, but its costs are those
 * of the published rules. */
enum kept { KEPT_NONE, KEPT_OLDER, KEPT_SAME /* as the write's epoch */ };

/* A variable on the machine. Valor 5.2, on IA32, and the default: write epoch, then read epoch,
 * each a word with the thread (of the read epoch it is the variable's lock, and may lead to a map)
 * and one with the clock. SlimState V.B, on 64 bits, in RoadRunner: a reference leads to an object
 * of its own, whose fields are a reference to the read vector and two 32-bit epochs; the object's
 * place is taken to be behind the reference. */
struct ft_words {
    uint8_t bytes;
    uint8_t reference; /* of those, what leads to the rest; 0: nothing need lead there */
    uint8_t write, read, epoch;
};
static inline struct ft_words ft_words(const struct layout *l)
{
    const uint8_t fields = (uint8_t)(l->reference + l->header + l->reference);

    if (l->word == 4 || l == &layouts[LAYOUT_DEFAULT])
        return (struct ft_words){.bytes = 16, .write = 0, .read = 8, .epoch = 8};
    return (struct ft_words){.bytes = (uint8_t)(fields + 8),
                             .reference = l->reference,
                             .write = fields,
                             .read = (uint8_t)(fields + 4),
                             .epoch = 4};
}

struct ft_cost {
    struct ft_words words;
    struct ledger *cost;
    struct clock_cost *clocks;
    struct cells *variables;
    const struct policy_env *env;
    struct paddr place; /* its caller's, of the variable in hand; 0: its address has one */
    bool new_words;     /* of the read in hand: the second changes, too */
    /* Ablations: which accesses lock, and whether each is a call. */
    enum { FT_LOCK_CHANGES, FT_LOCK_NONE, FT_LOCK_ALWAYS } lock;
    bool calls;
    bool statics; /* whether loads of static fields look for their classes' initialisation */
};

extern const struct policy_charges ft_charges;

/* The policy's charges are ft_charges, or begin with its steps. */
void ft_cost_init(struct ft_cost *c, const struct policy_env *env, struct cells *variables);

/* Charges, with a machine only, a load of a static field before its check: whether its thread has
 * seen the class's initialisation. A thread that has not pays for its class-use event. */
void ft_charge_static(struct ft_cost *c, sim_tid tid);
/* Charges, with a machine only, an access before the variable changes: returns the address of its
 * words, at which it is locked, or 0 if nothing changes. The second half, once it has changed,
 * charges the stores, and unlocks it. */
struct paddr ft_charge_read(struct ft_cost *c, struct ft_variable *x, sim_addr addr,
                            const struct ft_past *now);
void ft_charge_read_done(struct ft_cost *c, struct paddr at);
struct paddr ft_charge_write(struct ft_cost *c, struct ft_variable *x, sim_addr addr,
                             const struct ft_past *now);
void ft_charge_write_done(struct ft_cost *c, struct paddr at);

/* Read maps, with or without a machine. Made of the reads that there are; a read has been added; a
 * read takes the place of its thread's last one; gone. */
void ft_map_new(struct ft_cost *c, struct shared_reads *s);
void ft_map_copy(struct ft_cost *c, const struct shared_reads *from, struct shared_reads *s);
void ft_map_add(struct ft_cost *c, struct shared_reads *s);
void ft_map_change(struct ft_cost *c, struct shared_reads *s, uint32_t i,
                   const struct ft_past *now);
void ft_map_drop(struct ft_cost *c, struct shared_reads *s);

/* Charges a full collection: the collector looks for a map, and traces it. */
void ft_charge_trace(struct ft_cost *c, const struct ft_variable *x, sim_addr addr);

#endif
