/* sync.c - the stream rules of locks, barriers and classes: who holds what, who waits where.
 * What a clear or copy does to them is in rules/heap.c. */
#include "trace/rules/rules_int.h"

#include <inttypes.h>

/* ---- locks ---------------------------------------------------------------------------------- */

static const char moved[] = "it moved with a copy while it was held or waited on; use its new "
                            "address, or clear this one first";

static bool by_system(const struct rules *r)
{
    return r->ev->flags & EVF_SYSTEM;
}

static uint64_t share_key(const struct rules *r, const struct rules_object *o, bool system)
{
    return o->id << 17 | (uint64_t)r->ev->tid << 1 | system;
}

/* Nesting of the thread's shared holds by a side, or NULL. */
static uint64_t *share(const struct rules *r, const struct rules_object *o, bool system)
{
    return map_find(&r->shares, share_key(r, o, system));
}

static bool shares(const struct rules *r, const struct rules_object *o)
{
    return share(r, o, false) || share(r, o, true);
}

/* Whether the thread may have the lock. o may be NULL: a free one. */
static int check_free(struct rules *r, const struct rules_object *o, bool exclusive)
{
    if (!o)
        return 0;
    if (!o->id)
        return rules_break(r, RULE_ACQUIRE_FREE, "%s", moved);
    if (o->depth && o->owner != r->ev->tid)
        return rules_break(r, RULE_ACQUIRE_FREE, "T%u holds it exclusive", o->owner);
    const uint32_t others = o->sharers - shares(r, o);
    if (exclusive && others)
        return rules_break(r, RULE_ACQUIRE_FREE,
                           "%" PRIu32 " other thread%s it shared; they must release it first",
                           others, others == 1 ? " holds" : "s hold");
    return 0;
}

static int check_owner(struct rules *r, const struct rules_object *o, enum rule_id id)
{
    const unsigned tid = r->ev->tid;

    if (!o)
        return rules_break(r, id, "nobody holds it");
    if (!o->id)
        return rules_break(r, id, "%s", moved);
    if (o->depth && o->owner != tid)
        return rules_break(r, id, "T%u does not hold it; T%u does", tid, o->owner);
    if (!o->depth)
        return rules_break(r, id, "T%u does not hold it exclusive%s", tid,
                           shares(r, o) ? "; it holds it shared" : "");
    return 0;
}

/* Breaks the rule on sides. did: how the other side has begun the hold that this event is to
 * end. */
static int wrong_side(struct rules *r, const char *did)
{
    const bool system = by_system(r);

    return rules_break(r, RULE_HOLD_SIDE, "T%u %s by a %s event, and this is one of the %s",
                       r->ev->tid, did, system ? "program" : "system",
                       system ? "system" : "program");
}

/* Counts the exclusive owner's holds that the other side has begun. */
static uint64_t others_holds(const struct rules *r, const struct rules_object *o)
{
    return by_system(r) ? o->depth - o->system : o->system;
}

int rules_acquire(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_LOCK, r->ev->addr);

    if (check_free(r, o, true))
        return -1;
    if (!o)
        o = rules_add(r, OBJECT_LOCK, r->ev->addr);
    o->owner = r->ev->tid;
    if (o->depth++ == 0)
        r->by->held++;
    o->system += by_system(r);
    return 0;
}

int rules_release(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_LOCK, r->ev->addr);

    if (check_owner(r, o, RULE_RELEASE_HELD))
        return -1;
    if (others_holds(r, o) == o->depth)
        return wrong_side(r, "acquired it");
    o->system -= by_system(r);
    if (--o->depth == 0)
        r->by->held--;
    if (!rules_busy(o))
        rules_idle(r);
    return 0;
}

int rules_acquire_shared(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_LOCK, r->ev->addr);

    if (check_free(r, o, false))
        return -1;
    if (!o)
        o = rules_add(r, OBJECT_LOCK, r->ev->addr);
    if (!shares(r, o)) {
        o->sharers++;
        r->by->held++;
    }
    ++*map_put(&r->shares, share_key(r, o, by_system(r)));
    return 0;
}

int rules_release_shared(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_LOCK, r->ev->addr);

    if (o && !o->id)
        return rules_break(r, RULE_RELEASE_HELD, "%s", moved);
    uint64_t *nesting = o ? share(r, o, by_system(r)) : NULL;
    if (!nesting && o && shares(r, o))
        return wrong_side(r, "acquired it");
    if (!nesting)
        return rules_break(r, RULE_RELEASE_HELD, "T%u does not hold it shared%s", r->ev->tid,
                           o && o->depth && o->owner == r->ev->tid ? "; it holds it exclusive"
                                                                   : "");
    if (--*nesting)
        return 0;
    map_remove(&r->shares, share_key(r, o, by_system(r)));
    if (shares(r, o))
        return 0;
    o->sharers--;
    r->by->held--;
    if (!rules_busy(o))
        rules_idle(r);
    return 0;
}

int rules_wait_enter(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_LOCK, r->ev->addr);

    if (check_owner(r, o, RULE_WAIT_HELD))
        return -1;
    if (others_holds(r, o))
        return wrong_side(r, "acquired it");
    r->by->state |= WAITING;
    r->by->by_system = by_system(r);
    r->by->at = o->id;
    r->by->restore = o->depth;
    r->by->held--;
    o->depth = o->system = 0;
    o->waiters++;
    return 0;
}

int rules_wait_exit(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_LOCK, r->ev->addr);

    if (!(r->by->state & WAITING))
        return rules_break(r, RULE_WAIT_HELD, "T%u has entered no wait", r->ev->tid);
    if (o && !o->id)
        return rules_break(r, RULE_WAIT_HELD, "%s", moved);
    if (!o || o->id != r->by->at)
        return rules_break(r, RULE_WAIT_HELD, "T%u waits on another lock", r->ev->tid);
    if (r->by->by_system != by_system(r))
        return wrong_side(r, "entered the wait");
    if (check_free(r, o, true))
        return -1;
    r->by->state &= (uint8_t)~WAITING;
    r->by->held++;
    o->depth = r->by->restore;
    o->system = r->by->by_system ? o->depth : 0;
    o->owner = r->ev->tid;
    o->waiters--;
    return 0;
}

/* ---- barriers and classes ------------------------------------------------------------------- */

/* A barrier's rounds increase: so "nobody arrives after the first departure" takes one number. */
int rules_arrive(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_BARRIER, r->ev->addr);

    if (o && !o->id)
        return rules_break(r, RULE_BARRIER_ROUND, "%s", moved);
    if (o && o->begun && r->ev->aux <= o->round)
        return rules_break(r, RULE_BARRIER_ROUND,
                           "a thread has departed from round %" PRIu64 "; later arrivals belong "
                           "to a higher round",
                           o->round);
    if (!o)
        o = rules_add(r, OBJECT_BARRIER, r->ev->addr);
    r->by->state |= AT_BARRIER;
    r->by->at = o->id;
    r->by->restore = r->ev->aux;
    o->waiters++;
    return 0;
}

int rules_depart(struct rules *r)
{
    struct rules_object *o = rules_find(r, OBJECT_BARRIER, r->ev->addr);

    if (!(r->by->state & AT_BARRIER))
        return rules_break(r, RULE_BARRIER_ROUND, "T%u has not arrived", r->ev->tid);
    if (o && !o->id)
        return rules_break(r, RULE_BARRIER_ROUND, "%s", moved);
    if (!o || o->id != r->by->at)
        return rules_break(r, RULE_BARRIER_ROUND, "T%u is at another barrier", r->ev->tid);
    if (r->by->restore != r->ev->aux)
        return rules_break(r, RULE_BARRIER_ROUND, "T%u has arrived at round %" PRIu64, r->ev->tid,
                           r->by->restore);
    r->by->state &= (uint8_t)~AT_BARRIER;
    o->waiters--;
    if (!o->begun || o->round < r->ev->aux)
        o->round = r->ev->aux;
    o->begun = true;
    return 0;
}

int rules_class_init(struct rules *r)
{
    if (rules_find(r, OBJECT_CLASS, r->ev->addr))
        return rules_break(r, RULE_CLASS_INIT_ONCE, "it is initialised, and was not cleared since");
    rules_add(r, OBJECT_CLASS, r->ev->addr);
    return 0;
}

int rules_class_use(struct rules *r)
{
    if (!rules_find(r, OBJECT_CLASS, r->ev->addr))
        return rules_break(r, RULE_CLASS_INIT_ONCE,
                           "it is used, but was never initialised, or cleared since");
    return 0;
}
