/* valor.h - what the files of Valor share: a variable, a thread's logs, the policy. */
#ifndef LARDSIM_VALOR_H
#define LARDSIM_VALOR_H

#include "policy/checker/cells.h"
#include "policy/regions/region.h"

/* Valor-O's word is version and owner; Valor-E's two are version and thread, and the clock of the
 * thread's region. Owner and clock are `taking` here. The others are only reported, or ours. */
struct valor_variable {
    _Alignas(64) uint64_t taking; /* the writer's, at the last write; 0, which nobody's is: never */
    uint64_t site, event;         /* of the last write that changed the word */
    struct atomics *atomics;      /* owns; NULL: none */
    uint32_t version;
    uint16_t writer; /* the actor of that write */
    sim_tid tid;
    uint8_t kind;
    bool atomic; /* the writer's writes in that region are all atomic */
    bool raced;  /* the race mark of this life */
    bool used;
};
_Static_assert(sizeof(struct valor_variable) == 64, "a variable is one cache line");

struct logged {               /* an entry of a read log */
    struct valor_variable *x; /* NULL: its location has been cleared */
    sim_addr location;
    uint64_t event, site;
    uint32_t version, size;
    sim_tid tid;
    bool system;
};
struct written {              /* an entry of a write set */
    struct valor_variable *x; /* NULL: as above */
    sim_addr location;
};

struct valor_thread {      /* an actor */
    struct logged *read;   /* owns */
    struct written *write; /* owns */
    /* paged: on the machine, at any time yet; cap: on the host; room: the lesser */
    uint32_t reads, reads_room, reads_cap, reads_paged;
    uint32_t writes, writes_room, writes_cap, writes_paged;
    uint32_t followed;                    /* of the reads, those that a copy made */
    uint64_t read_base, write_base;       /* how many were logged before the first */
    uint64_t read_indexed, write_indexed; /* valor_follow.c: up to there */
    uint64_t region;                      /* its number, from 1 */
    uint64_t taking;                      /* what it takes is its own while this is the same */
    uint32_t checked;                     /* of the reads, at the last validation or followed */
    uint32_t log_room;                    /* reads up to which it need not be asked */
    bool reported;                        /* a conflict, in this region */
    struct map counted; /* accesses of this region that count as racy by now; a set */
    struct paddr own, clock, read_log, write_set; /* on the machine; 0: not yet */
};

struct valor_params {
    uint64_t version_bits, thread_bits, read_log, write_set, period;
    uint32_t regions;
};
struct valor_stats {
#define STATS_DEF "policy/regions/valor_stats.def"
#include "base/stats_fields.h"
};

struct follow_node { /* of the index: where an entry of a log or write set is */
    uint64_t serial; /* read_base or write_base, and its index */
    uint32_t next;   /* of the same granule: its number + 1 */
    uint16_t actor;
    bool write;
};
struct follow {               /* entries by location, made when first needed; many are stale */
    struct shadow *heads;     /* each the number + 1 of a node; NULL: not yet */
    struct follow_node *node; /* owns */
    size_t n, cap;
    uint32_t spare; /* number + 1 of the first that is free */
    uint64_t used;
};

struct valor {
    const struct policy_env *env;
    struct cells variables;
    struct valor_params params;
    bool epochs; /* Valor-E */
    uint32_t version_mask;
    struct valor_thread *thread; /* owns; by actor */
    uint32_t threads;
    struct regions regions;
    struct follow follow;
    struct ledger *cost;
    struct valor_stats st;
};

#define VALOR_NOBODY UINT32_MAX

/* The thread whose ongoing region has written the variable, as far as the word tells. */
static inline uint32_t valor_holder(const struct valor *v, const struct valor_variable *x)
{
    return x->taking == v->thread[x->writer].taking ? x->writer : VALOR_NOBODY;
}

/* ---- costs: valor_cost.c -------------------------------------------------------------------- */

extern const struct policy_charges valor_charges;
/* Bytes of a log's entry. In a layout with 4-byte words, an entry of a read log is the object, the
 * offset of the metadata in it, and the word as it was read: 4 bytes each; one of a write set has
 * no word. With words of 8 bytes both are padded to 16. (5.3) */
static inline unsigned valor_log_bytes(const struct valor *v)
{
    return v->env->layout->word == 4 ? 12 : 16;
}
static inline unsigned valor_set_bytes(const struct valor *v)
{
    return v->env->layout->word == 4 ? 8 : 16;
}
static inline unsigned valor_variable_bytes(const struct valor *v)
{
    return v->epochs ? 8 : 4;
}

static inline void valor_use(struct valor *v, struct valor_variable *x)
{
    if (UNLIKELY(!x->used))
        cells_begin_use(&v->variables);
    x->used = true;
}

void valor_cost_init(struct valor *v);
/* The thread's blocks, when it is new. */
void valor_cost_thread(struct valor *v, struct valor_thread *t);
/* Charges with a machine only; before the variable changes. */
void valor_charge_access(struct valor *v, const struct valor_variable *x,
                         const struct region_access *now);
void valor_charge_log(struct valor *v, struct valor_thread *t);
void valor_charge_write_set(struct valor *v, struct valor_thread *t);
void valor_charge_validation(struct valor *v, const struct valor_thread *t);
void valor_charge_release(struct valor *v, const struct valor_thread *t, uint32_t actor);
void valor_charge_region_end(struct valor *v, const struct valor_thread *t);
void valor_charge_trace(struct valor *v, const struct valor_thread *t); /* by a collection */

/* ---- accesses: valor_rules.c ---------------------------------------------------------------- */

/* Checks and records the access. True: it conflicts. */
bool valor_at_variable(struct valor *v, struct valor_variable *x, const struct region_access *now);
/* The access has been counted as racy: its entries in the log do not count again. */
void valor_counted(struct valor *v, const struct region_access *now);

/* ---- logs: valor_log.c ---------------------------------------------------------------------- */

/* Makes room for one entry when a read finds its log full, or its period over: by a larger log or
 * by validating and emptying it. */
void valor_log_room(struct valor *v, uint32_t actor);
/* Adds an entry that follows its location (valor_follow.c); beyond the limit, if need be. */
void valor_add_read(struct valor *v, uint32_t actor, const struct logged *is);
void valor_add_write(struct valor *v, uint32_t actor, const struct written *is);
/* A region's write to a variable: the set has room for it, or the region is split. */
void valor_write_room(struct valor *v, uint32_t actor);

/* Checks all entries, and keeps them. */
void valor_validate(struct valor *v, uint32_t actor);
void valor_validate_one(struct valor *v, uint32_t actor, struct logged *e);
void valor_end_region(struct valor *v, uint32_t actor);

static inline void valor_log(struct valor *v, struct valor_variable *x,
                             const struct region_access *now)
{
    struct valor_thread *t = &v->thread[now->actor];
    const struct event *ev = now->ev;

    if (UNLIKELY(t->reads >= t->log_room))
        valor_log_room(v, now->actor);
    t->read[t->reads++] = (struct logged){.x = x,
                                          .location = now->addr,
                                          .event = now->number,
                                          .site = ev->aux,
                                          .version = x->version,
                                          .size = ev->size,
                                          .tid = ev->tid,
                                          .system = ev->flags & EVF_SYSTEM};
}

/* A region's first write to a variable, for which there is room: a new version, and the writer's.
 */
static inline void valor_take(struct valor *v, struct valor_variable *x,
                              const struct region_access *now)
{
    struct valor_thread *t = &v->thread[now->actor];

    if (!v->epochs) {
        if (UNLIKELY(v->cost->on))
            valor_charge_write_set(v, t);
        t->write[t->writes++] = (struct written){.x = x, .location = now->addr};
    }
    x->version = (x->version + 1) & v->version_mask;
    v->st.overflows += !x->version;
    x->writer = (uint16_t)now->actor;
    x->taking = t->taking;
}

static inline void valor_name_write(struct valor_variable *x, const struct region_access *now)
{
    x->site = now->ev->aux;
    x->event = now->number;
    x->tid = now->ev->tid;
    x->kind = now->ev->kind;
}

/* ---- clears and copies: valor_follow.c ------------------------------------------------------ */

/* A clear or copy; entries go where their locations go (5.3). */
void valor_move(struct valor *v, const struct event *ev);
extern const struct cell_kind valor_variable_kind;
void valor_follow_free(struct valor *v);

#endif
