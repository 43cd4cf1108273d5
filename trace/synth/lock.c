/* lock.c - locks: exclusive, shared, nested, waited on. A thread only takes what is free and never
 * blocks; one that waits holds nothing else. So the program can't deadlock, whatever order it takes
 * locks in. An object is protected by the lock of its number modulo `lockers`; locks from there on
 * are the runtime system's. */
#include "trace/synth/synth_int.h"

uint64_t synth_protector(const struct synth *g, uint64_t o)
{
    return o % g->lockers;
}

static bool is_system(const struct synth *g, uint64_t lock)
{
    return lock >= g->lockers;
}

static struct synth_held *find_held(struct synth_thread *th, uint64_t lock)
{
    for (unsigned i = 0; i < th->n_held; i++)
        if (th->held[i].lock == lock)
            return &th->held[i];
    return NULL;
}

static void lock_event(struct synth *g, uint32_t t, enum ev_kind kind, uint64_t lock)
{
    synth_sync(g, t, kind, synth_name_addr(g, t, lock), 0, is_system(g, lock));
}

/* In a raw trace the program's locks are clock instructions (LARDx86) instead of events. */
static bool lowered(const struct synth *g, uint64_t lock)
{
    return g->p.raw && !is_system(g, lock);
}

/* ---- acquire -------------------------------------------------------------------------------- */

/* Whether t may take the lock, of which it has h: no other thread owns it, and, for t to own it, no
 * other reads. */
static bool free_for(const struct synth_lock *l, const struct synth_held *h, uint32_t t,
                     bool shared)
{
    return (l->owner == SYNTH_NOBODY || l->owner == t) &&
           (shared || l->readers == (h && h->shared));
}

/* Nesting is counted by mode: a thread may hold a lock both ways. */
static void count_in(struct synth *g, uint32_t t, uint64_t lock, bool shared)
{
    struct synth_thread *th = &g->threads[t];
    struct synth_held *h = find_held(th, lock);

    if (!h) {
        h = &th->held[th->n_held++];
        *h = (struct synth_held){.lock = (uint32_t)lock};
    }
    if (shared && h->shared++ == 0) {
        g->locks[lock].readers++;
        synth_hold(g, lock);
    }
    if (!shared && h->exclusive++ == 0) {
        g->locks[lock].owner = t;
        synth_hold(g, lock);
    }
}

bool synth_take(struct synth *g, uint32_t t, uint64_t lock, bool shared)
{
    struct synth_thread *th = &g->threads[t];
    const struct synth_held *h = find_held(th, lock);

    if ((!h && th->n_held == SYNTH_HELD_MAX) || (h && h->shared + h->exclusive > 4) ||
        !free_for(&g->locks[lock], h, t, shared))
        return false;
    if (!lowered(g, lock))
        lock_event(g, t, shared ? EV_ACQUIRE_SHARED : EV_ACQUIRE, lock);
    else if (!h)
        synth_raw_take(g, t, &g->locks[lock].clock);
    count_in(g, t, lock, shared);
    return true;
}

/* ---- release -------------------------------------------------------------------------------- */

static void forget(struct synth_thread *th, const struct synth_held *h)
{
    const size_t i = (size_t)(h - th->held);

    for (size_t k = i + 1; k < th->n_held; k++)
        th->held[k - 1] = th->held[k];
    th->n_held--;
}

static void count_out(struct synth *g, uint32_t t, uint64_t lock, bool shared)
{
    struct synth_thread *th = &g->threads[t];
    struct synth_held *h = find_held(th, lock);

    if (shared && --h->shared == 0) {
        g->locks[lock].readers--;
        synth_unhold(g, lock);
    }
    if (!shared && --h->exclusive == 0) {
        g->locks[lock].owner = SYNTH_NOBODY;
        synth_unhold(g, lock);
    }
    if (!h->shared && !h->exclusive)
        forget(th, h);
}

static void release(struct synth *g, uint32_t t, const struct synth_held *h)
{
    /* Held both ways, either may go first. */
    const bool shared = h->shared && (!h->exclusive || synth_coin(g, 2));
    const bool outermost = h->shared + h->exclusive == 1;
    const uint64_t lock = h->lock;

    if (!lowered(g, lock))
        lock_event(g, t, shared ? EV_RELEASE_SHARED : EV_RELEASE, lock);
    else if (outermost)
        synth_raw_give(g, t, &g->locks[lock].clock);
    count_out(g, t, lock, shared);
}

void synth_release_all(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];

    while (th->n_held)
        release(g, t, &th->held[th->n_held - 1]);
}

/* ---- what a thread does next ---------------------------------------------------------------- */

/* Mostly a lock that protects something. */
static uint64_t draw_lock(struct synth *g)
{
    if (synth_coin(g, 8))
        return synth_below(g, g->p.locks);
    return synth_protector(g, synth_below(g, g->objects));
}

static bool take_some(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];
    const bool shared = synth_chance(g, g->p.rw_share);

    /* Nested half of the time, if anything is held. */
    if (th->n_held && synth_coin(g, 2))
        return synth_take(g, t, th->held[th->n_held - 1].lock, shared);
    for (int tries = 0; tries < 3; tries++)
        if (synth_take(g, t, draw_lock(g), shared))
            return true;
    return false;
}

bool synth_lock_op(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];

    if (!g->p.locks)
        return false;
    if (!th->n_held || synth_chance(g, g->p.nested_share))
        return take_some(g, t);
    const size_t last = th->n_held - 1u;
    release(g, t, &th->held[synth_coin(g, 4) ? synth_below(g, last + 1) : last]);
    return true;
}

bool synth_held_for(const struct synth *g, uint32_t t, bool write, uint64_t *lock)
{
    const struct synth_thread *th = &g->threads[t];

    for (unsigned i = th->n_held; i-- > 0;) {
        const struct synth_held *h = &th->held[i];
        *lock = h->lock;
        if (h->lock < g->lockers && h->lock < g->objects && (h->exclusive || (h->shared && !write)))
            return true;
    }
    return false;
}

/* ---- wait and notify ------------------------------------------------------------------------ */

/* The thread gives up the lock and holds no other, so others can go on. */
static void wait_enter(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];
    const uint32_t lock = th->held[0].lock;

    lock_event(g, t, EV_WAIT_ENTER, lock);
    th->state = SYNTH_WAITING;
    g->locks[lock].owner = SYNTH_NOBODY;
    g->locks[lock].waiters++;
}

/* Notifies at least one of the threads that wait and were not notified yet. */
static bool notify(struct synth *g, uint32_t t, uint32_t lock)
{
    struct synth_lock *l = &g->locks[lock];

    lock_event(g, t, EV_NOTIFY, lock);
    if (l->signals < l->waiters)
        l->signals += 1 + (uint32_t)synth_below(g, l->waiters - l->signals);
    return true;
}

/* notify takes effect at once; a wait ends later, in synth_wait_over, when nobody holds the lock.
 */
bool synth_wait_op(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];
    const struct synth_held *h = &th->held[0];

    if (g->p.raw || !th->n_held || !h->exclusive)
        return false;
    if ((g->locks[h->lock].waiters && synth_coin(g, 2)) || th->n_held > 1 || h->shared ||
        synth_coin(g, 4))
        return notify(g, t, h->lock);
    wait_enter(g, t);
    return true;
}

bool synth_wait_over(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];
    struct synth_lock *l = &g->locks[th->held[0].lock];

    if (l->owner != SYNTH_NOBODY || l->readers)
        return false;
    lock_event(g, t, EV_WAIT_EXIT, th->held[0].lock);
    th->state = SYNTH_READY;
    l->owner = t;
    l->waiters--;
    if (l->signals)
        l->signals--;
    return true;
}
