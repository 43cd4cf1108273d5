/* monitor.c - monitors. One is named by its object's lock word, so that it moves and dies with
 * the object; its state is on the host. The accesses by which the runtime does it are the system's;
 * an acquire's and a release's own access is part of that event.
 *
 * How the runtime synchronises beside the program is that of Jikes RVM 3.1.1 (docs/workloads.md):
 * biased, then thin, then heavy locks. What a thread does to others when it takes a bias back, or
 * queues for a heavy lock, orders them for who heeds the system's synchronisation. */
#include "workloads/vm/vm_int.h"

#include <assert.h>

enum { GUARDED = 64 /* behind a lock: what it guards */ };

/* ---- locks of the runtime ------------------------------------------------------------------- */

void vm_guarded(struct vm_thread *t, sim_addr lock, sim_addr what, uint64_t site)
{
    vm_emit(t, EV_ACQUIRE, lock, 0, EVF_SYSTEM, 0);
    vm_system(t, EV_READ, what, 8, site);
    vm_system(t, EV_WRITE, what, 8, site);
    vm_emit(t, EV_RELEASE, lock, 0, EVF_SYSTEM, 0);
}

void vm_note_threads(struct vm_thread *t)
{
    vm_guarded(t, VM_THREADS_LOCK, VM_THREADS_LOCK + GUARDED, VM_SITE_THREADS);
}

void vm_take_stop_lock(struct vm_thread *t)
{
    vm_emit(t, EV_ACQUIRE, vm_stop_lock(t), 0, EVF_SYSTEM, 0);
    vm_emit(t, EV_RELEASE, vm_stop_lock(t), 0, EVF_SYSTEM, 0);
}

void vm_stopping(struct vm_thread *t)
{
    vm_take_stop_lock(t);
    vm_emit(t, EV_VOLATILE_WRITE, VM_STOPPED, 0, EVF_SYSTEM, 0);
}

/* ---- monitors ------------------------------------------------------------------------------- */

/* Returns a number for a new monitor; those of dead objects' monitors are used again. */
static uint32_t new_monitor(struct vm *v)
{
    struct vm_monitors *m = &v->monitors;
    uint32_t i = m->free;

    if (i) {
        m->free = m->monitor[i].next_free;
    } else {
        i = (uint32_t)++m->n;
        m->monitor = xgrow(m->monitor, i, &m->cap, sizeof *m->monitor);
    }
    m->monitor[i] = (struct vm_monitor){0};
    return i;
}

/* Returns the object's monitor, made if it has none; the pointer is valid until another monitor is
 * made. */
static struct vm_monitor *monitor(struct vm *v, sim_addr object)
{
    struct vm_header *h = vm_header(&v->core, object);

    if (!h->word)
        h->word = new_monitor(v);
    return &v->monitors.monitor[h->word];
}

void vm_monitor_free(struct vm *v, struct vm_header *h)
{
    if (!h->word)
        return;
    const struct vm_monitor *m = &v->monitors.monitor[h->word];
    assert(!m->owner && !m->waiters.first && !m->heavy);
    (void)m;
    v->monitors.monitor[h->word].next_free = v->monitors.free;
    v->monitors.free = h->word;
    h->word = 0;
}

/* Returns the address of the object's lock word; lock_bytes: its size. */
static sim_addr lock_word(const struct vm_thread *t, const struct vm_ref *o)
{
    return o->at + t->vm->core.layout->lock;
}
static uint32_t lock_bytes(const struct vm_thread *t)
{
    return t->vm->core.layout->word;
}

static void see(struct vm_thread *t, struct vm_ref *o, const char *what)
{
    vm_step(t);
    if (!vm_stands(t, o))
        vm_fail(t, "%s null", what);
    if (t->vm->txn.owner == t)
        vm_fail(t, "%s an object inside a transaction; commit first", what);
}

/* Returns the monitor for an operation that is allowed to its owner alone. */
static struct vm_monitor *held(struct vm_thread *t, struct vm_ref *o, const char *what)
{
    see(t, o, what);
    struct vm_monitor *m = monitor(t->vm, o->at);
    vm_check(t, m->owner == t, "%s an object whose monitor it does not have", what);
    return m;
}

/* ---- biased locks --------------------------------------------------------------------------- */

/* Stops a thread at a yield point until it is let go. A thread that is blocked, or that a
 * collection has stopped, has taken its stop lock before. */
static void hold_up(struct vm_thread *u)
{
    if (u->state == VM_IS_READY && u->started && !u->mute && !u->stale) {
        vm_system(u, EV_READ, vm_yield_flag(u), 4, vm_inlined(u, VM_SITE_SAFEPOINT, u->stands));
        vm_emit(u, EV_ACQUIRE, vm_stop_lock(u), 0, EVF_SYSTEM, 0);
        vm_system(u, EV_WRITE, vm_yield_flag(u), 4, VM_SITE_SAFEPOINT);
        vm_emit(u, EV_RELEASE, vm_stop_lock(u), 0, EVF_SYSTEM, 0);
    }
    u->held_up = true;
}

/* Takes back the bias of a monitor that was u's alone: t stops u, and makes it anybody's. */
static void take_back(struct vm_thread *t, const struct vm_ref *o, struct vm_thread *u)
{
    const sim_addr lock = vm_stop_lock(u);

    vm_emit(t, EV_ACQUIRE, lock, 0, EVF_SYSTEM, 0);
    vm_system(t, EV_WRITE, vm_yield_flag(u), 4, VM_SITE_REVOKE);
    vm_emit(t, EV_RELEASE, lock, 0, EVF_SYSTEM, 0);
    hold_up(u);
    vm_emit(t, EV_ACQUIRE, lock, 0, EVF_SYSTEM, 0);
    vm_system(t, EV_WRITE, lock_word(t, o), lock_bytes(t), VM_SITE_REVOKE);
    vm_emit(t, EV_RELEASE, lock, 0, EVF_SYSTEM, 0);
}

/* True when another thread had the bias: taking it back makes events, after which t must look
 * again. */
static bool had_bias(struct vm_thread *t, struct vm_monitor *m, const struct vm_ref *o)
{
    struct vm_thread *u = m->bias;

    if (m->shared || u == t)
        return false;
    if (!u) {
        m->bias = t;
        return false;
    }
    m->bias = NULL;
    m->shared = true;
    if (u->state == VM_IS_ENDED)
        return false;
    take_back(t, o, u);
    return true;
}

/* ---- heavy locks ---------------------------------------------------------------------------- */

static sim_addr heavy_lock(uint32_t i)
{
    return vm_area(VM_AREA_HEAVY, 2 * GUARDED * (uint64_t)i);
}

/* The accesses to a heavy lock's own fields, under it. */
static void note_heavy(struct vm_thread *t, uint32_t i)
{
    vm_guarded(t, heavy_lock(i), heavy_lock(i) + GUARDED, VM_SITE_HEAVY);
}

static void note_list(struct vm_thread *t)
{
    vm_guarded(t, VM_HEAVY_LOCK, VM_HEAVY_LOCK + GUARDED, VM_SITE_HEAVY);
}

/* Returns the heavy lock that t keeps, or one from the list, or a new one. */
static uint32_t new_heavy(struct vm_thread *t)
{
    struct vm *v = t->vm;
    const uint32_t kept = t->heavy;

    t->heavy = 0;
    if (kept)
        return kept;
    note_list(t);
    return v->monitors.free_heavy.n
               ? (uint32_t)v->monitors.free_heavy.at[--v->monitors.free_heavy.n]
               : ++v->monitors.n_heavy;
}

static void list_heavy(struct vm_thread *t, uint32_t i)
{
    note_list(t);
    vm_addresses_add(&t->vm->monitors.free_heavy, i);
}

void vm_drop_heavy(struct vm_thread *t)
{
    if (t->heavy)
        list_heavy(t, t->heavy);
    t->heavy = 0;
}

/* Works under a heavy lock, which m gets if it has none. */
static void use_heavy(struct vm_thread *t, struct vm_monitor *m)
{
    if (!m->heavy) {
        m->heavy = new_heavy(t);
        m->shared = true;
        m->bias = NULL;
    }
    note_heavy(t, m->heavy);
}

/* Gives the heavy lock back, as no thread waits for it any more. */
static void deflate(struct vm_thread *t, struct vm_monitor *m)
{
    const uint32_t i = m->heavy;

    m->heavy = 0;
    if (t->heavy)
        list_heavy(t, i);
    else
        t->heavy = i;
}

/* Releases the monitor. All queued threads look again. On a machine, which decides who comes first,
 * the one that has queued longest does, as in Jikes RVM (Lock.unlockHeavy); a thread that comes
 * before it gets the monitor. */
static void let_go(struct vm *v, struct vm_monitor *m)
{
    m->owner = NULL;
    m->depth = 0;
    if (!v->sched.driven) {
        vm_wake_all(v, &m->lockers);
        return;
    }
    struct vm_thread *first = vm_unqueue(&m->lockers);
    if (first)
        vm_wake(v, first);
}

/* ---- what programs do with them ------------------------------------------------------------- */

/* Looks the monitor up again where time may have passed under the heavy lock: it may be another one
 * by now, or light again. */
static struct vm_monitor *look_again(struct vm_thread *t, struct vm_ref *o, struct vm_monitor *m)
{
    if (!t->vm->sched.driven)
        return m;
    see(t, o, "locks");
    return monitor(t->vm, o->at);
}

/* Tries to lock, beginning with a look at the lock word. True: t has the monitor now. */
static bool try_lock(struct vm_thread *t, struct vm_ref *o, uint64_t look)
{
    vm_urge(t);
    see(t, o, "locks");
    struct vm_monitor *m = monitor(t->vm, o->at);
    vm_system(t, EV_READ, lock_word(t, o), lock_bytes(t), look);
    if (had_bias(t, m, o))
        return false;
    if (m->heavy || (m->owner && m->owner != t)) {
        use_heavy(t, m);
        m = look_again(t, o, m);
    }
    if (!m->owner || m->owner == t)
        return true;
    if (!m->heavy)
        return false;
    vm_stopping(t);
    vm_block(t, &m->lockers, "a monitor", EV_ACQUIRE);
    return false;
}

void vm_lock(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    uint64_t look = vm_inlined(t, VM_SITE_LOCK, site);

    while (!try_lock(t, o, look))
        look = VM_SITE_LOCK;
    struct vm_monitor *m = monitor(t->vm, o->at);
    m->owner = t;
    m->depth++;
    t->held++;
    vm_emit_on(t, EV_ACQUIRE, o, t->vm->core.layout->lock, site);
}

void vm_unlock(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    struct vm_monitor *m = held(t, o, "unlocks");
    const bool heavy = m->heavy, last = m->depth == 1;

    if (heavy)
        note_heavy(t, m->heavy);
    if (heavy && last && !m->lockers.first && !m->waiters.first)
        deflate(t, m);
    vm_system(t, EV_WRITE, lock_word(t, o), lock_bytes(t), vm_inlined(t, VM_SITE_UNLOCK, site));
    vm_emit_on(t, EV_RELEASE, o, t->vm->core.layout->lock, site);
    t->held--;
    m->depth--;
    if (!last)
        return;
    let_go(t->vm, m);
    vm_urge(t);
}

/* Waits until t has the monitor again. The object may move meanwhile, and no event is possible but
 * the wait's end. */
static struct vm_monitor *get_back(struct vm_thread *t, struct vm_ref *o)
{
    struct vm *v = t->vm;

    for (;;) {
        vm_step(t);
        o->at = vm_forwarded(&v->core, o->at);
        struct vm_monitor *m = monitor(v, o->at);
        if (!m->owner)
            return m;
        vm_block(t, &m->lockers, "a monitor, after a wait", EV_WAIT_EXIT);
    }
}

/* A wait makes the lock heavy, as in Jikes RVM: the queue of waiters belongs to a heavy lock. */
void vm_wait(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    struct vm_monitor *m = held(t, o, "waits on");
    const uint32_t depth = m->depth;

    use_heavy(t, m);
    vm_system(t, EV_WRITE, lock_word(t, o), lock_bytes(t), VM_SITE_UNLOCK);
    vm_stopping(t);
    vm_emit_on(t, EV_WAIT_ENTER, o, t->vm->core.layout->lock, site);
    t->mute = true;
    let_go(t->vm, m);
    vm_block(t, &m->waiters, "a notification", EV_WAIT_EXIT);
    m = get_back(t, o);
    m->owner = t;
    m->depth = depth;
    vm_emit_on(t, EV_WAIT_EXIT, o, t->vm->core.layout->lock, site);
    t->mute = false;
    vm_catch_up(t);
    if (m->heavy)
        note_heavy(t, m->heavy);
}

/* A notified thread queues for the monitor, which the notifier still has (Lock.notify). */
void vm_notify(struct vm_thread *t, struct vm_ref *o, bool all, uint64_t site)
{
    struct vm_monitor *m = held(t, o, "notifies");

    if (m->heavy)
        note_heavy(t, m->heavy);
    vm_emit_on(t, EV_NOTIFY, o, t->vm->core.layout->lock, site);
    do {
        struct vm_thread *u = vm_unqueue(&m->waiters);
        if (!u)
            break;
        if (t->vm->sched.driven)
            vm_enqueue(&m->lockers, u);
        else
            vm_wake(t->vm, u);
    } while (all);
}
