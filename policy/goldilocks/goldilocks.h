/* goldilocks.h - what the parts of the policy goldilocks share, and nobody else sees.
 *
 *   set.c         a lockset under evaluation
 *   reach.c       all locksets: which accesses have an element in theirs
 *   list.c        the list of synchronisation events; evaluation, collection
 *   object.c      synchronisation objects, by address: which elements of locksets they are
 *   sync.c        what each event does: the table of transfers
 *   check.c       Check-Happens-Before
 *   cost.c        what it costs on a machine
 *   goldilocks.c  variables and their records; the policy
 *
 * Elmas, Qadeer, Tasiran, PLDI 2007. A record of an access has a lockset: who knows of the access,
 * and through what one could learn of it. Each synchronisation event is a cell of the list, with a
 * rule "if one of these is in the lockset, that is, too"; the rules are applied when a lockset is
 * asked for. An access is ordered with a later one when the later one's actor is in its lockset. */
#ifndef LARDSIM_GOLDILOCKS_H
#define LARDSIM_GOLDILOCKS_H

#include "policy/checker/cells.h"
#include "policy/policy.h"

/* ---- elements and locksets ------------------------------------------------------------------ */

/* An element of locksets: an actor, a thread's birth or end, the transaction lock TL, or a
 * synchronisation object (a lock is two elements: of exclusive and of shared releases). Numbers of
 * objects are not used again. 0: none. */
typedef uint32_t gold_element;
enum {
    GOLD_ACTORS = 1, /* of actor 0 */
    GOLD_BIRTHS = GOLD_ACTORS + EPOCH_THREADS,
    GOLD_ENDS = GOLD_BIRTHS + MAX_THREADS,
    GOLD_TL = GOLD_ENDS + MAX_THREADS,
    GOLD_OBJECTS
};
static inline gold_element gold_actor(uint32_t actor)
{
    return GOLD_ACTORS + actor;
}

enum { GOLD_SET_LOW = 64 };
struct gold_set {
    uint64_t low;       /* elements below GOLD_SET_LOW, by bit: the first actors */
    gold_element *slot; /* owns; the others, hashed; 0: empty */
    uint32_t n, cap;    /* of slot: a power of 2, or 0 */
};
bool gold_set_find(const struct gold_set *s, gold_element e); /* not one of the low ones */
static inline bool gold_set_has(const struct gold_set *s, gold_element e) /* e: not 0 */
{
    if (e < GOLD_SET_LOW)
        return s->low >> e & 1;
    return s->n && gold_set_find(s, e);
}
void gold_set_add(struct gold_set *s, gold_element e, struct budget *b);
void gold_set_clear(struct gold_set *s); /* keeps its room */
void gold_set_free(struct gold_set *s, struct budget *b);

/* ---- the list ------------------------------------------------------------------------------- */

enum gold_rule {
    GOLD_EDGE,   /* if from[0], or from[1] where there is one, is in the lockset, so is `to` */
    GOLD_COMMIT, /* its actor, or a variable that it takes, brings its actor and all that it gives
                  */
    GOLD_RAW     /* locksets of accesses that from[0] made up to `moment` get `to` */
};
struct gold_variable { /* of a commit */
    gold_element element;
    bool takes, gives;
};
struct gold_variables {
    uint64_t moment; /* the actor's */
    size_t n;        /* room: the power of 2 from there on */
    struct gold_variable at[];
};
#define GOLD_NOBODY UINT32_MAX
struct gold_cell {
    uint8_t rule;   /* enum gold_rule */
    uint32_t actor; /* whose event it is; GOLD_NOBODY: a collector's copy */
    gold_element from[2], to;
    uint64_t infos; /* its reference count: the records whose pos it is */
    union {
        uint64_t moment;                  /* the actor from[0]'s, if from[0] is an actor */
        struct gold_variables *variables; /* GOLD_COMMIT; owns */
    };
    struct paddr block; /* on the machine */
};

struct gold_list {
    struct gold_cell *cell; /* owns; a ring: number n is at n & mask */
    uint64_t mask, head, tail;
    uint64_t collect_at; /* a tail */
    uint64_t trimmed;    /* up to there, the last time */
};

/* ---- all locksets --------------------------------------------------------------------------- */

/* An actor's moment goes from one event by which it gives something (a release) to the next. The
 * accesses of a moment have the same lockset, and all that is in it is in those of earlier moments,
 * too: what the later one gave, the earlier one gave as well. So all locksets with an element are
 * told by one number an actor, the last of its moments that has it. */
struct gold_giver { /* an actor by whose own event an element is in locksets */
    uint64_t moment;
    uint32_t actor;
};
struct gold_reach {      /* of an element that is no actor */
    struct vclock until; /* by actor: the last moment whose accesses have it in their locksets */
    struct gold_giver *giver; /* owns */
    uint32_t givers, cap;
};
struct gold_actor {
    struct vclock until;  /* as of other elements; but that it is in its own locksets is not said */
    struct vclock direct; /* what of that its own events have from the other's alone */
    uint64_t moment;      /* now; from 1 */
    uint64_t base;        /* the tail at its first access in this moment, or its commit's cell */
    uint64_t opened;      /* the moment to which `base` belongs */
    uint64_t closed;      /* the last moment that a cell closed which has been applied */
};

/* ---- the policy ----------------------------------------------------------------------------- */

enum { GOLD_SHARED_VARIABLE, GOLD_ALL_COMMITS, GOLD_WRITE_TO_READ }; /* what orders commits */

struct gold_params {
    bool same_thread, held_lock, two_threads;
    uint32_t transactions;
    uint64_t limit, trim, every; /* cells; per cent; cells */
};

struct gold_stats {
#define STATS_DEF "policy/goldilocks/stats.def"
#include "base/stats_fields.h"
};

struct gold_thread {
    bool begun, forked, ended;
    gold_element *held; /* owns; locks held exclusive, the latest last */
    size_t holds, cap;
    struct paddr lock_block; /* its locks, on the machine */
};

struct goldilocks {
    const struct policy_env *env;
    struct gold_params is;
    struct cells variables; /* each a struct gold_var; goldilocks/goldilocks.c */
    struct gold_list list;
    struct sync_objects objects; /* goldilocks/object.c */
    struct map live;   /* elements of objects that are there, and whether they are spoilt */
    uint64_t deaths;   /* of elements since locksets were last pruned */
    gold_element next; /* of the next object */
    struct gold_thread *thread;
    size_t threads;
    struct gold_actor *actor; /* owns */
    size_t actors;
    struct map reach;        /* struct gold_reach * of elements that are no actors; owns */
    struct gold_set scratch; /* a lockset under evaluation, as far as it is not in `reach` */
    bool by_kernel;
    bool committing;    /* a commit that is heeded */
    uint64_t commit_at; /* its cell */
    struct ledger *cost;
    struct paddr ends; /* head and tail of the list, on the machine */
    struct gold_stats st;
};

/* An access that is remembered: Info of Figure 8. */
struct gold_info {
    uint64_t moment; /* of its actor: tells its lockset */
    uint64_t pos;    /* of the list's tail then; see gold_info_at */
    uint64_t site, event;
    struct paddr block;       /* on the machine */
    gold_element alock, xact; /* a lock that its thread held; its commit's element here */
    uint32_t actor;
    sim_tid tid;
    uint8_t op;
};

struct gold_thread *gold_thread_at(struct goldilocks *g, uint64_t tid);
/* goldilocks/goldilocks.c: all records. */
void gold_each_info(struct goldilocks *g, void (*fn)(void *arg, const struct gold_info *i),
                    void *arg);

/* ---- goldilocks/list.c ---------------------------------------------------------------------- */

void gold_list_init(struct goldilocks *g);
void gold_list_free(struct goldilocks *g);
static inline struct gold_cell *gold_cell_at(const struct gold_list *l, uint64_t n)
{
    return &l->cell[n & l->mask];
}
void gold_append(struct goldilocks *g, const struct gold_cell *cell);
/* Partially-eager evaluation (5.4): drops the first `trim` per cent of the list, after the locksets
 * of records that refer to it are evaluated up to what follows. */
void gold_trim(struct goldilocks *g);
/* Applies a cell to the lockset of that access: set has the elements that are not in gold_has. */
void gold_apply(struct goldilocks *g, struct gold_set *set, const struct gold_info *i,
                const struct gold_cell *cell);

/* A record's position, as trimming has moved it. */
static inline uint64_t gold_info_at(const struct goldilocks *g, const struct gold_info *i)
{
    return i->pos < g->list.head ? g->list.head : i->pos;
}
/* Counts a record's reference to its cell; counts it no more. */
static inline void gold_info_take(struct goldilocks *g, const struct gold_info *i)
{
    gold_cell_at(&g->list, gold_info_at(g, i))->infos++;
}
static inline void gold_info_give(struct goldilocks *g, const struct gold_info *i)
{
    gold_cell_at(&g->list, gold_info_at(g, i))->infos--;
}
void gold_list_check(const void *goldilocks); /* asserts */

/* ---- goldilocks/reach.c --------------------------------------------------------------------- */

struct gold_actor *gold_actor_at(struct goldilocks *g, uint32_t actor);
/* The actor gives, or says a later time of its own: its moment is over, and returned. */
uint64_t gold_close(struct goldilocks *g, uint32_t actor);
/* Applies a cell to all locksets: the next one that has not been applied. */
void gold_reach_apply(struct goldilocks *g, const struct gold_cell *cell);
/* As gold_reach_apply, for gold_has_by_two. */
void gold_direct_apply(struct goldilocks *g, const struct gold_cell *cell);
/* The element is in the lockset of the actor's accesses in that moment, after the cells that have
 * been applied. */
bool gold_has(const struct goldilocks *g, gold_element e, uint32_t actor, uint64_t moment);
/* Tells if the other actor is in that lockset, too, by events of the two alone, whether they are on
 * the list still or not. */
bool gold_has_by_two(const struct goldilocks *g, uint32_t other, uint32_t actor, uint64_t moment);
/* Nothing will ask for the element any more. */
void gold_reach_drop(struct goldilocks *g, gold_element e);
/* Removes the elements of objects from all locksets that are dead and that no cell mentions: they
 * can add nothing any more. */
void gold_prune(struct goldilocks *g);
void gold_reach_free(struct goldilocks *g);

/* ---- goldilocks/object.c -------------------------------------------------------------------- */

struct gold_head { /* of release sequences, of C11: an actor, and what its releases give */
    uint32_t actor;
    gold_element element;
};
struct gold_object {
    struct sync_object sync;
    gold_element element, readers; /* what releases give; of a lock, what shared ones give */
    union {
        uint64_t inside;          /* barriers: arrived less departed */
        struct {                  /* atomic locations, as base/sequences.h has them for clocks */
            uint32_t sole, heads; /* sole: 1 + the actor that gave all that `element` is given */
        };
    };
    struct gold_head *head; /* owns; heads of them, where there is no sole one */
    bool given;             /* atomic locations: somebody has given to `element` */
};
void gold_objects_init(struct goldilocks *g);
void gold_objects_free(struct goldilocks *g);
static inline struct gold_object *gold_object_get(struct goldilocks *g, unsigned kind,
                                                  sim_addr addr, uint64_t round) /* made when new */
{
    return sync_object_get(&g->objects, kind, addr, round, g);
}
/* Updates the release sequences at the location by the event, before it gives there. Returns the
 * element to which it gives. */
gold_element gold_sequences(struct goldilocks *g, struct gold_object *o, const struct event *ev,
                            bool gives);
/* Both return the new depth. */
uint32_t gold_nest(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool shared);
uint32_t gold_unnest(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool shared);
void gold_wait(struct goldilocks *g, struct gold_object *o, sim_tid tid, bool waits);
/* Two threads held the lock at a time in this view, so that holding it proves nothing. */
bool gold_spoilt(const struct goldilocks *g, gold_element lock);

/* ---- goldilocks/sync.c ---------------------------------------------------------------------- */

void gold_sync(struct goldilocks *g, const struct event *ev);
void gold_edges(void *goldilocks, enum policy_edge at, const struct event *ev,
                const struct event *accesses, size_t n);

/* ---- goldilocks/check.c --------------------------------------------------------------------- */

struct gold_now { /* the access in hand */
    const struct event *ev;
    uint32_t actor;
    gold_element xact;  /* at the location in hand */
    gold_element alock; /* the one that a check found held */
};
/* Check-Happens-Before: the record's access is ordered before the one in hand. */
bool gold_check(struct goldilocks *g, const struct gold_info *i, struct gold_now *now);
/* A lock that the record of the access in hand is to remember. 0: none. */
gold_element gold_held_lock(const struct goldilocks *g, const struct gold_now *now);

/* ---- goldilocks/cost.c ---------------------------------------------------------------------- */

extern const struct policy_charges gold_charges;
enum { GOLD_SCRATCH_BYTES = 1024 }; /* a thread's set under evaluation: where it begins */
/* Bytes on the machine, by the layout's word. */
static inline unsigned gold_word(const struct goldilocks *g)
{
    return g->env->layout->word;
}
static inline unsigned gold_info_bytes(const struct goldilocks *g)
{
    return 5 * gold_word(g) + 8; /* pos, ls, alock, next of the chain, site; owner, xact */
}
static inline unsigned gold_cell_bytes(const struct goldilocks *g)
{
    return 6 * gold_word(g); /* next, object, reference count, variables; thread, kind */
}
void gold_cost_init(struct goldilocks *g);
void gold_cost_append(struct goldilocks *g, struct gold_cell *cell);
void gold_cost_behead(struct goldilocks *g, const struct gold_cell *cell);
void gold_cost_trim(struct goldilocks *g, uint64_t to);
void gold_cost_moved(struct goldilocks *g, const struct gold_info *i, uint64_t to);
void gold_cost_cell(struct goldilocks *g, const struct gold_cell *cell, bool heeded,
                    const struct gold_now *now);
void gold_cost_walked(struct goldilocks *g);
void gold_cost_locks(struct goldilocks *g, sim_tid tid);
void gold_cost_chain(struct goldilocks *g, const struct gold_info *i);
void gold_cost_held(struct goldilocks *g, const struct gold_now *now);
/* KL; with a machine only. */
void gold_cost_enter(struct goldilocks *g, sim_addr addr);
void gold_cost_leave(struct goldilocks *g, sim_addr addr);
void gold_cost_look(struct goldilocks *g, const struct gold_info *i);
void gold_cost_record(struct goldilocks *g, struct gold_info *i, sim_addr addr,
                      const struct gold_now *now);
void gold_cost_copy(struct goldilocks *g, struct gold_info *i);
void gold_cost_forget(struct goldilocks *g, const struct gold_info *i);

#endif
