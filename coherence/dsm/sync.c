/* sync.c - locks with a manager, barriers with a master, other objects.
 *
 * Process 0 is the master of all barriers. Managers of locks and objects are the processes in turn,
 * as the objects come. A process that is its own manager sends itself nothing. */
#include "coherence/dsm/dsm_int.h"

#include "base/mem.h"

static uint32_t *clock_new(struct dsm *d)
{
    budget_take(&d->budget, heap_bytes(d->n * sizeof(uint32_t)));
    return xcalloc(d->n, sizeof(uint32_t));
}

/* Returns the rest of a path from `now` on. Time that has passed is taken off the path's parts,
 * beginning with the last one in the table: the later parts are those that could be done while the
 * process still had something else to do. */
static struct path path_since(const struct path *of, sim_cycle now)
{
    struct path p = *of;
    uint64_t over = 0;

    for (unsigned i = 0; i < DSM_PARTS; i++)
        over += p.part[i];
    if (p.at < now)
        return (struct path){.at = now};
    over -= over > p.at - now ? p.at - now : over;
    for (unsigned i = DSM_PARTS; i--;) {
        const uint64_t off = p.part[i] < over ? p.part[i] : over;
        p.part[i] -= off;
        over -= off;
    }
    return p;
}

/* ---- other objects --------------------------------------------------------------------------- */

static struct dsm_object *object_of(struct dsm *d, enum dsm_objects kind, uint64_t id)
{
    uint64_t *at = map_put(&d->objects[kind], id);
    struct dsm_object *o = (struct dsm_object *)(uintptr_t)*at;

    if (o)
        return o;
    o = xcalloc(1, sizeof *o);
    *at = (uint64_t)(uintptr_t)o;
    o->manager = (unsigned)(d->managed++ % d->n);
    o->clock = clock_new(d);
    return o;
}

/* Gives the process's intervals to the object's manager; it does not wait for the message to
 * arrive. */
static void object_give(struct dsm *d, struct path *p, unsigned process, struct dsm_object *o)
{
    const uint32_t *own = d->process[process].clock;

    if (o->manager != process) {
        struct mail m =
            message_post(d, p, process, o->manager, DSM_MSG_TELL, ival_load(d, o->clock, own));
        message_accept(d, &m.there, o->manager, m.bytes);
        o->there = m.there.at;
        d->process[process].told = DSM_MSG_TELL;
    }
    clock_join(d, o->clock, own);
}

static void object_take(struct dsm *d, struct path *p, unsigned process, struct dsm_object *o)
{
    const bool far = o->manager != process;

    if (far)
        message_send(d, p, process, o->manager, DSM_MSG_ASK, (struct load){{0}});
    path_reach(p, DSM_PART_OTHERS, o->there);
    if (far)
        message_send(d, p, o->manager, process, DSM_MSG_ANSWER,
                     ival_load(d, d->process[process].clock, o->clock));
    ival_learn(d, p, process, o->clock);
}

/* Ends a release or acquire, when all else is done: collects if the process has too many data. */
static sim_cycle sync_done(struct dsm *d, enum dsm_wait what, sim_cycle now, struct path *p,
                           unsigned process)
{
    if (d->process[process].kept > d->params.force)
        collect_forced(d, p, process);
    return path_end(d, what, now, p);
}

sim_cycle dsm_give(struct dsm *d, unsigned process, enum dsm_objects kind, uint64_t id,
                   sim_cycle now)
{
    struct path p = path_begin(d, process, now);

    ival_close(d, process);
    object_give(d, &p, process, object_of(d, kind, id));
    return sync_done(d, DSM_WAIT_OTHER, now, &p, process);
}

sim_cycle dsm_take(struct dsm *d, unsigned process, enum dsm_objects kind, uint64_t id,
                   sim_cycle now)
{
    struct path p = path_begin(d, process, now);

    if (kind == DSM_BORN && !map_find(&d->objects[kind], id)) /* it was there at the beginning */
        return now;
    ival_close(d, process);
    object_take(d, &p, process, object_of(d, kind, id));
    return sync_done(d, DSM_WAIT_OTHER, now, &p, process);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static struct lock *lock_of(struct dsm *d, struct vaddr addr)
{
    uint64_t *at = map_put(&d->locks, addr.at);
    struct lock *l = (struct lock *)(uintptr_t)*at;

    if (l)
        return l;
    l = xcalloc(1, sizeof *l);
    *at = (uint64_t)(uintptr_t)l;
    l->manager = l->holder = (unsigned)(d->managed++ % d->n);
    return l;
}

/* Gets the lock from its last holder, whom the manager knows. */
static void lock_grant(struct dsm *d, struct path *p, unsigned process, const struct lock *l)
{
    const struct load request = {.bytes = {[DSM_BYTES_CLOCKS] = d->n * BYTES_ENTRY}};

    d->st.remote++;
    if (l->manager != process)
        message_send(d, p, process, l->manager, DSM_MSG_LOCK_REQUEST, request);
    if (l->manager != l->holder) {
        d->st.forwarded++;
        message_send(d, p, l->manager, l->holder, DSM_MSG_LOCK_FORWARD, request);
    }
    path_reach(p, DSM_PART_OTHERS, l->free);
    const uint32_t *own = d->process[process].clock;
    message_send(d, p, l->holder, process, DSM_MSG_LOCK_GRANT,
                 ival_load(d, own, l->clock ? l->clock : own));
    if (l->clock)
        ival_learn(d, p, process, l->clock);
}

sim_cycle dsm_lock(struct dsm *d, unsigned process, struct vaddr addr, bool shared, sim_cycle asked,
                   sim_cycle now)
{
    struct path p = path_begin(d, process, now);
    struct lock *l = lock_of(d, addr);

    assert(asked <= now);
    d->st.acquires++;
    ival_close(d, process);
    if (shared && !l->shared) { /* from now on its manager has what is released */
        l->shared = true;
        if (l->clock)
            clock_join(d, object_of(d, DSM_RWLOCK, addr.at)->clock, l->clock);
    }
    if (l->shared) {
        object_take(d, &p, process, object_of(d, DSM_RWLOCK, addr.at));
    } else if (l->holder != process) {
        p.at = asked;
        lock_grant(d, &p, process, l);
        p = path_since(&p, now);
    }
    return sync_done(d, DSM_WAIT_LOCK, now, &p, process);
}

sim_cycle dsm_unlock(struct dsm *d, unsigned process, struct vaddr addr, sim_cycle now)
{
    struct path p = path_begin(d, process, now);
    struct lock *l = lock_of(d, addr);

    ival_close(d, process);
    if (l->shared) {
        object_give(d, &p, process, object_of(d, DSM_RWLOCK, addr.at));
    } else {
        if (!l->clock)
            l->clock = clock_new(d);
        memcpy(l->clock, d->process[process].clock, d->n * sizeof *l->clock);
        l->holder = process;
        l->free = now;
    }
    return sync_done(d, DSM_WAIT_LOCK, now, &p, process);
}

/* ---- barriers -------------------------------------------------------------------------------- */

static struct barrier *barrier_of(struct dsm *d, struct vaddr addr)
{
    uint64_t *at = map_put(&d->barriers, addr.at);
    struct barrier *b = (struct barrier *)(uintptr_t)*at;

    if (b)
        return b;
    b = xcalloc(1, sizeof *b + d->n * sizeof *b->depart);
    *at = (uint64_t)(uintptr_t)b;
    b->clock = clock_new(d);
    return b;
}

/* Sends the process's own intervals since the last barrier to the master; the process need not wait
 * for that. */
sim_cycle dsm_arrive(struct dsm *d, unsigned process, struct vaddr addr, sim_cycle now)
{
    struct path p = path_begin(d, process, now);
    struct barrier *b = barrier_of(d, addr);
    uint32_t own[DSM_PROCESSES];

    ival_close(d, process);
    memcpy(own, b->clock, d->n * sizeof *own);
    own[process] = d->process[process].clock[process];
    struct path there = p;
    if (process != MASTER) {
        struct mail m =
            message_post(d, &p, process, MASTER, DSM_MSG_ARRIVE, ival_load(d, b->clock, own));
        message_accept(d, &m.there, MASTER, m.bytes);
        there = m.there;
        d->process[process].told = DSM_MSG_ARRIVE;
        d->process[process].at = b;
    }
    if (there.at >= b->handled.at)
        b->handled = there;
    clock_join(d, b->clock, d->process[process].clock);
    b->waiting |= UINT64_C(1) << process;
    return path_end(d, DSM_WAIT_BARRIER, now, &p);
}

/* All that will come have arrived: the master tells them one after the other. */
static void barrier_let_go(struct dsm *d, struct barrier *b, sim_cycle now)
{
    struct path m = path_since(&b->handled, now);
    const uint64_t waiting = b->waiting;

    d->st.rounds++;
    b->waiting = 0;
    for (unsigned q = 0; q < d->n; q++) {
        if (!(waiting >> q & 1) || q == MASTER)
            continue;
        d->actor = waiting >> MASTER & 1 ? MASTER : q;
        struct mail out = message_post(d, &m, MASTER, q, DSM_MSG_DEPART,
                                       ival_load(d, d->process[q].clock, b->clock));
        b->depart[q] = out.there;
        d->actor = q;
        message_accept(d, &b->depart[q], q, out.bytes);
        ival_learn(d, &b->depart[q], q, b->clock);
    }
    b->depart[MASTER] = m;
    d->actor = MASTER;
    if (waiting >> MASTER & 1)
        ival_learn(d, &b->depart[MASTER], MASTER, b->clock);
    if (collect_due(d))
        collect_at(d, b->depart, waiting, MASTER, b->clock);
}

sim_cycle dsm_depart(struct dsm *d, unsigned process, struct vaddr addr, sim_cycle now)
{
    struct barrier *b = barrier_of(d, addr);
    struct path p = path_begin(d, process, now);

    if (b->waiting >> process & 1)
        barrier_let_go(d, b, now);
    d->actor = process;
    p = path_since(&b->depart[process], now);
    return path_end(d, DSM_WAIT_BARRIER, now, &p);
}

/* ---- for a detector -------------------------------------------------------------------------- */

/* The interval may have been without a notice. What has told of it already gets longer. */
sim_cycle dsm_notices(struct dsm *d, unsigned process, uint64_t read, uint64_t written,
                      sim_cycle now)
{
    struct process *q = &d->process[process];
    const uint32_t index = q->clock[process];
    struct ival *i = index ? ival_find(d, process, index) : NULL;
    struct path p = path_begin(d, process, now);

    if (!read && !written)
        return now;
    if (!i)
        i = ival_new(d, process);
    i->read = read;
    i->more = written > i->n ? written - i->n : 0;
    ival_kept(d, process, (read + i->more) * BYTES_PAGE);
    if (q->told == DSM_MSGS)
        return now;
    const struct load more = {.bytes = {[DSM_BYTES_READ_NOTICES] = i->read * BYTES_PAGE,
                                        [DSM_BYTES_MORE_NOTICES] = i->more * BYTES_PAGE}};
    message_add(d, q->told, more);
    if (!q->at)
        return now;
    const uint64_t bytes = (i->read + i->more) * BYTES_PAGE;
    message_send_on(d, &p, process, MASTER, bytes);
    if (p.at > q->at->handled.at)
        q->at->handled = p;
    return now + ns_cycles(d, d->params.copy * bytes / 1024);
}

sim_cycle dsm_fetch(struct dsm *d, const uint64_t *bytes, sim_cycle now)
{
    struct path m = path_begin(d, MASTER, now), last = m;

    for (unsigned q = 0; q < d->n; q++) {
        if (!bytes[q] || q == MASTER)
            continue;
        struct path p = m;
        message_ride(d, &p, MASTER, q);
        message_send(d, &p, q, MASTER, DSM_MSG_BITMAPS,
                     (struct load){.bytes = {[DSM_BYTES_BITMAPS] = bytes[q]}});
        last = p.at > last.at ? p : last;
    }
    return last.at;
}

sim_cycle dsm_released(struct dsm *d, unsigned process, sim_cycle at)
{
    struct path p = {.at = at};

    d->actor = process;
    if (process != MASTER)
        message_ride(d, &p, MASTER, process);
    return p.at;
}
