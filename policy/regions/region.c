/* region.c - ends of regions, read off happens-before; lists of atomic accesses. */
#include "policy/regions/region.h"

#include <stdlib.h>
#include <string.h>

const char *const region_choices[] = {"release-free", "sync-free", NULL};
const char region_help[] = "What ends a region: what publishes, or all synchronisation.";

void regions_init(struct regions *r, const struct policy_env *env, enum region_kind kind)
{
    *r = (struct regions){
        .hb = env->hb, .sync_free = kind == REGION_SYNC_FREE, .budget = env->budget};
    map_init(&r->forked, env->budget);
}

void regions_free(struct regions *r)
{
    budget_give(r->budget, r->n * sizeof *r->seen);
    free(r->seen);
    map_free(&r->forked);
}

/* ---- ends ----------------------------------------------------------------------------------- */

/* The actor's own time has gone up since its region began. An actor that is new here has had no
 * access before: nothing of it could be missed. */
static inline bool published(struct regions *r, uint32_t actor)
{
    if (UNLIKELY(actor >= r->n))
        r->seen = budget_reach(r->budget, r->seen, &r->n, actor, sizeof *r->seen);
    const epoch was = r->seen[actor], now = r->hb->actor[actor].now;

    r->seen[actor] = now;
    return was && was != now;
}

/* Does the event take something, for a synchronisation-free region to end before it? */
static bool takes(const struct regions *r, const struct event *ev)
{
    switch (ev->kind) {
    case EV_ACQUIRE:
    case EV_ACQUIRE_SHARED:
        return hb_lock_depth(r->hb, ev->addr, ev->tid, ev->kind == EV_ACQUIRE_SHARED) == 1;
    case EV_WRITEVC:
        return ev->aux != ev->tid;
    default:
        return ev_info[ev->kind].takes && ev->kind != EV_TXN_COMMIT && !event_is_access(ev);
    }
}

static void add(struct regions_ended *ended, uint32_t actor)
{
    ended->actor[ended->n++] = actor;
}

struct regions_ended regions_sync(struct regions *r, const struct event *ev)
{
    struct regions_ended ended = {0};
    const uint32_t me = hb_actor(r->hb, ev->tid);
    const sim_tid child = (sim_tid)ev->aux;
    bool mine = published(r, me) || ev->kind == EV_THREAD_END;

    if (ev->kind == EV_FORK)
        *map_put(&r->forked, ev->aux) = 1;
    if (r->sync_free)
        mine |= takes(r, ev);
    if (mine)
        add(&ended, me);
    /* A join with a thread that has not ended publishes its clock, and ends its region. */
    if (ev->kind == EV_JOIN && hb_has_begun(r->hb, child) && published(r, hb_actor(r->hb, child)))
        add(&ended, hb_actor(r->hb, child));
    return ended;
}

struct regions_ended regions_edge(struct regions *r, const struct event *ev, enum policy_edge at)
{
    struct regions_ended ended = {0};
    const uint32_t me = hb_actor(r->hb, ev->tid);

    if (at != EDGE_BEGIN && at != EDGE_BEFORE && at != EDGE_AFTER)
        return ended;
    bool mine = published(r, me);
    if (at == EDGE_BEGIN)
        mine |= map_remove(&r->forked, ev->tid) && r->sync_free;
    else if (at == EDGE_BEFORE && r->sync_free)
        mine |=
            ev->kind == EV_TXN_COMMIT || (ev_info[ev->kind].takes && order_takes(event_order(ev)));
    if (mine)
        add(&ended, me);
    return ended;
}

/* ---- atomic accesses ------------------------------------------------------------------------ */

static size_t bytes_of(uint32_t cap)
{
    return sizeof(struct atomics) + cap * sizeof(struct atomic_access);
}

static struct atomics *grow(struct atomics *a, struct budget *b)
{
    const uint32_t was = a ? a->cap : 0, cap = was ? 2 * was : 4;
    struct atomics *more = xrealloc(a, 1, bytes_of(cap));

    budget_take(b, bytes_of(cap) - (a ? bytes_of(was) : 0));
    if (!a)
        more->n = 0;
    more->cap = cap;
    return more;
}

struct atomics *atomics_add(struct atomics *a, const struct region_access *now, uint64_t region,
                            struct budget *b)
{
    const struct atomic_access is = {.region = region,
                                     .site = now->ev->aux,
                                     .event = now->number,
                                     .actor = now->actor,
                                     .tid = now->ev->tid,
                                     .kind = now->ev->kind};

    for (uint32_t i = 0; a && i < a->n; i++) {
        if (a->at[i].actor != is.actor || (a->at[i].kind == EV_READ) != (is.kind == EV_READ))
            continue;
        a->at[i] = is;
        return a;
    }
    if (!a || a->n == a->cap)
        a = grow(a, b);
    a->at[a->n++] = is;
    return a;
}

void atomics_free(struct atomics *a, struct budget *b)
{
    if (a)
        budget_give(b, bytes_of(a->cap));
    free(a);
}

struct atomics *atomics_copy(const struct atomics *a, struct budget *b)
{
    if (!a)
        return NULL;
    struct atomics *copy = xmalloc(bytes_of(a->cap));

    memcpy(copy, a, bytes_of(a->n));
    budget_take(b, bytes_of(a->cap));
    return copy;
}
