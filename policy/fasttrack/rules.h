/* rules.h - FastTrack's state and rules, as fasttrack/fasttrack.c has them, for policies that
 * check some of their memory by the same rules; and inline what must be fast. */
#ifndef LARDSIM_FASTTRACK_RULES_H
#define LARDSIM_FASTTRACK_RULES_H

#include "policy/fasttrack/fasttrack.h"

struct fasttrack {
    const struct policy_env *env;
    const struct hb *hb; /* env->hb, which each access needs */
    struct cells variables;
    bool report_repeats;
    struct ft_cost cost;
    struct {
        uint64_t same_epoch, exclusive, to_shared, shared;
    } st;
    /* Called with each earlier access that races, before the variable changes. */
    void (*race)(struct fasttrack *f, struct ft_variable *x, sim_addr addr, const struct event *ev,
                 const struct ft_past *p);
};

/* FastTrack's rules for an access to one variable, at addr. True: it raced. */
bool ft_read_variable(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                      const struct event *ev, const struct ft_past *now,
                      const struct vclock *clock);
bool ft_write_variable(struct fasttrack *f, struct ft_variable *x, sim_addr addr,
                       const struct event *ev, const struct ft_past *now,
                       const struct vclock *clock);

/* ft_own_reads: after a variable was copied bit by bit, the copy gets a read vector of its own.
 * ft_free_reads frees a variable's. */
void ft_own_reads(void *fasttrack, void *variable);
void ft_free_reads(struct fasttrack *f, struct ft_variable *x);
/* Whether a full collection is over and is to be charged: it has gone through all variables that
 * are still there. */
static inline bool ft_collects(const struct fasttrack *f, const struct event *ev)
{
    return f->variables.charged && ev->kind == EV_GC_END && !(ev->flags & EVF_NURSERY);
}
void ft_trace_variables(struct fasttrack *f);

void ft_init(struct fasttrack *f, const struct policy_env *env); /* declares statistics */

/* [FT READ SAME EPOCH] and [FT WRITE SAME EPOCH]. Reads since that write are the writer's own, or
 * no conflict: had another thread read it in this epoch, that read would have raced. */
static inline bool ft_repeats(const struct fasttrack *f, const struct ft_variable *x, size_t side,
                              const struct ft_past *now)
{
    return x->at[side] == now->at && !(x->kind[side] & ATOMIC) == !now->atomic &&
           !(x->raced && f->report_repeats);
}

/* The access replaces the side's last one, even in the same epoch: a later race is reported with
 * the latest access. A write forgets the reads. */
ALWAYS_INLINE void ft_replace(struct fasttrack *f, struct ft_variable *x, const struct ft_past *now)
{
    const size_t side = now->kind == EV_READ ? READS : WRITES;
    const bool again = ft_repeats(f, x, side, now);

    if (UNLIKELY(again))
        f->st.same_epoch++;
    else
        f->st.exclusive += side ^ WRITES; /* a read */
    /* The first of a commit's accesses to the variable tells if they repeat. */
    const unsigned repeat = x->event[side] != now->event ? AGAIN : x->kind[side] & AGAIN;
    x->at[side] = now->at;
    x->site[side] = now->site;
    x->event[side] = now->event;
    x->tid[side] = now->tid;
    x->kind[side] = (uint8_t)(now->kind | (now->atomic ? ATOMIC : 0) | (again ? repeat : 0));
    x->at[READS] &= side - 1;
}

static inline struct ft_past ft_past_of(const struct hb_actor *me, const struct event *ev,
                                        uint64_t number)
{
    return (struct ft_past){.at = me->now,
                            .site = ev->aux,
                            .event = number,
                            .tid = ev->tid,
                            .kind = ev->kind,
                            .atomic = ev->flags & EVF_ORDER_MASK};
}

/* Most often an access is of one variable, announced, and all that is remembered of it happens
 * before: then a plain access only takes a place. False: it is not so. */
ALWAYS_INLINE bool ft_takes_place(void *fasttrack, const struct event *ev, uint64_t number)
{
    struct fasttrack *f = fasttrack;
    const struct hb_actor *me = hb_me(f->hb, ev->tid);
    struct ft_variable *x = cells_prefetched(&f->variables, ev->addr);

    if (UNLIKELY(!x || !cells_one(&f->variables, ev) || !epoch_before(x->at[WRITES], &me->clock) ||
                 !epoch_before(x->at[READS], &me->clock)))
        return false;
    struct ft_past now = ft_past_of(me, ev, number);
    now.atomic = false; /* as is known */
    ft_replace(f, x, &now);
    return true;
}

#endif
