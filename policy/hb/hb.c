/* hb.c - clocks of threads, and how events move them. Objects are in object.c.
 *
 * A thread's clock belongs to its actor. Without the view no-thread the actor is the thread itself;
 * with it, actors are kernel threads, and a language thread that was never placed has one of its
 * own. */
#include "policy/hb/hb_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct hb *hb_new(unsigned view, unsigned granule, struct budget *budget)
{
    struct hb *hb = xcalloc(1, sizeof *hb);

    *hb = (struct hb){.by_kernel = view & VIEW_NO_THREAD, .granule = granule, .budget = budget};
    sync_objects_init(&hb->objects, &hb_object_ways, budget);
    map_init(&hb->kernel, budget);
    return hb;
}

void hb_free(struct hb *hb)
{
    if (!hb)
        return;
    sync_objects_free(&hb->objects, hb);
    for (size_t i = 0; i < hb->threads; i++) {
        vclock_free(&hb->thread[i].birth, hb->budget);
        vclock_free(&hb->thread[i].final, hb->budget);
    }
    for (size_t i = 0; i < hb->actors; i++)
        vclock_free(&hb->actor[i].clock, hb->budget);
    map_free(&hb->kernel);
    free(hb->thread);
    free(hb->actor);
    free(hb);
}

/* ---- threads and actors --------------------------------------------------------------------- */

static struct hb_thread *thread_at(struct hb *hb, uint64_t tid)
{
    assert(tid < MAX_THREADS);
    hb->thread = budget_reach(hb->budget, hb->thread, &hb->threads, tid, sizeof *hb->thread);
    return &hb->thread[tid];
}

/* The actor's own entry has changed. */
static void settle(struct hb *hb, uint32_t actor)
{
    const uint64_t time = vclock_get(&hb->actor[actor].clock, actor);

    hb->actor[actor].now = epoch_make(actor, time);
}

static void tick(struct hb *hb, uint32_t actor)
{
    struct vclock *c = &hb->actor[actor].clock;

    vclock_set(c, actor, vclock_get(c, actor) + 1, hb->budget);
    settle(hb, actor);
}

/* Makes actors up to and including this number; its clock starts at `time`. */
static void start_actor(struct hb *hb, uint32_t actor, uint64_t time)
{
    hb->actor = budget_reach(hb->budget, hb->actor, &hb->actors, actor, sizeof *hb->actor);
    if (vclock_get(&hb->actor[actor].clock, actor) == 0)
        vclock_set(&hb->actor[actor].clock, actor, time, hb->budget);
    settle(hb, actor);
}

static uint32_t fresh_actor(struct hb *hb)
{
    start_actor(hb, hb->used_actors, 1);
    return hb->used_actors++;
}

static uint32_t kernel_actor(struct hb *hb, uint64_t kernel)
{
    uint64_t *at = map_put(&hb->kernel, kernel);

    if (!*at)
        *at = (uint64_t)fresh_actor(hb) + 1;
    return (uint32_t)(*at - 1);
}

/* The thread's first event, or its first after its end where nobody checks the stream rules. */
static void begin(struct hb *hb, struct hb_thread *t, sim_tid tid)
{
    if (!hb->by_kernel) {
        t->actor = tid;
        start_actor(hb, tid, t->ended ? t->ended : 1);
    } else if (!t->placed) {
        t->actor = fresh_actor(hb);
        t->placed = true;
    }
    t->begun = true;
    hb->forgets |= t->ended != 0;
    vclock_join(&hb->actor[t->actor].clock, &t->birth, hb->budget);
    vclock_free(&t->birth, hb->budget);
}

static void place(struct hb *hb, const struct event *ev)
{
    if (!hb->by_kernel)
        return;
    const uint32_t actor = kernel_actor(hb, ev->aux);
    struct hb_thread *t = thread_at(hb, ev->tid);
    t->actor = actor;
    t->placed = true;
}

void hb_begin(struct hb *hb, const struct event *ev)
{
    if (ev->kind == EV_THREAD)
        place(hb, ev);
    struct hb_thread *t = thread_at(hb, ev->tid);
    if (!t->begun)
        begin(hb, t, ev->tid);
}

/* ---- edges ---------------------------------------------------------------------------------- */

static struct vclock *clock_of(struct hb *hb, sim_tid tid)
{
    return &hb->actor[hb->thread[tid].actor].clock;
}

/* An actor's time goes up after each clock that it gives, and goes nowhere without that clock. So
 * whoever knows the time of a clock knows the clock, and has nothing to join: most acquires of a
 * lock that has been idle for a while. The next release then replaces the lock's clock. Raw writes
 * and threads that act after their end are the exceptions. */
static bool knows(const struct hb *hb, const struct vclock *clock, epoch of)
{
    return of && !hb->forgets && epoch_before(of, clock);
}

static void clock_take(struct hb *hb, const struct event *ev, const struct hb_object *o,
                       unsigned which)
{
    struct vclock *c = clock_of(hb, ev->tid);

    if (which & EDGE_W && !knows(hb, c, o->write_of))
        vclock_join(c, &o->write, hb->budget);
    if (which & EDGE_R && o->read.n)
        vclock_join(c, &o->read, hb->budget);
    if (hb->forgets) /* else nobody knows more of its own time */
        settle(hb, hb->thread[ev->tid].actor);
}

static void publish_write(struct hb *hb, const struct hb_actor *me, struct hb_object *o)
{
    bool same = true;

    if (knows(hb, &me->clock, o->write_of))
        vclock_copy(&o->write, &me->clock, hb->budget);
    else
        same = vclock_join(&o->write, &me->clock, hb->budget);
    o->write_of = same ? me->now : 0;
}

/* Publishing without the increment, which follows once for all that an event publishes. */
static void publish(struct hb *hb, const struct event *ev, struct hb_object *o, unsigned which)
{
    if (which & EDGE_W)
        publish_write(hb, hb_me(hb, ev->tid), o);
    if (which & EDGE_R)
        vclock_join(&o->read, clock_of(hb, ev->tid), hb->budget);
}

static void published(struct hb *hb, sim_tid tid)
{
    tick(hb, hb->thread[tid].actor);
}

static void clock_give(struct hb *hb, const struct event *ev, struct hb_object *o, unsigned which)
{
    publish(hb, ev, o, which);
    published(hb, ev->tid);
}

/* Nested monitors: only the outermost acquire and release of a thread, per mode, have an effect. A
 * wait gives up and takes back whatever the nesting is. */
static void lock_step(struct hb *hb, const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];
    struct hb_object *o = object_get(hb, OBJECT_LOCK, ev->addr, 0);
    const bool shared = ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_RELEASE_SHARED;

    if (ev->kind == EV_WAIT_ENTER) {
        clock_give(hb, ev, o, EDGE_W);
    } else if (ev->kind == EV_WAIT_EXIT) {
        clock_take(hb, ev, o, EDGE_W | EDGE_R);
    } else if (info->takes) {
        if (sync_nest(&hb->objects, &o->sync, ev->tid, shared) == 1)
            clock_take(hb, ev, o, info->takes);
    } else if (sync_unnest(&o->sync, ev->tid, shared) == 0) {
        clock_give(hb, ev, o, info->gives);
    }
}

static struct hb_object *round_of(struct hb *hb, const struct event *ev)
{
    return object_get(hb, OBJECT_BARRIER, ev->addr, ev->aux);
}

/* Nobody arrives at a round after its first departure, so the last to leave closes it. Threads
 * whose arrival or departure the view does not heed count as well. */
static void barrier_count(struct hb *hb, const struct event *ev)
{
    struct hb_object *o = round_of(hb, ev);

    if (ev->kind == EV_BARRIER_ARRIVE)
        o->inside++;
    else if (o->inside <= 1)
        sync_object_drop(&hb->objects, o, hb);
    else
        o->inside--;
}

static void barrier_step(struct hb *hb, const struct event *ev)
{
    if (ev->kind == EV_BARRIER_ARRIVE)
        clock_give(hb, ev, round_of(hb, ev), EDGE_W);
    else
        clock_take(hb, ev, round_of(hb, ev), EDGE_W);
    barrier_count(hb, ev);
}

void hb_unheeded(struct hb *hb, const struct event *ev)
{
    if (ev_info[ev->kind].object == OBJECT_BARRIER)
        barrier_count(hb, ev);
}

static void plain_step(struct hb *hb, const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];
    struct hb_object *o = object_get(hb, info->object, ev->addr, 0);

    if (info->takes)
        clock_take(hb, ev, o, info->takes);
    if (info->gives)
        clock_give(hb, ev, o, EDGE_W);
}

static void child_step(struct hb *hb, const struct event *ev)
{
    struct hb_thread *child = thread_at(hb, ev->aux);
    const uint32_t actor = hb->thread[ev->tid].actor;
    struct vclock *c = &hb->actor[actor].clock;

    if (ev->kind == EV_FORK) {
        /* One that has acted, where nobody checks the stream rules, takes it at once: as RAPID. */
        vclock_join(child->begun ? &hb->actor[child->actor].clock : &child->birth, c, hb->budget);
        tick(hb, actor);
    } else if (child->ended) {
        vclock_join(c, &child->final, hb->budget);
    } else if (child->begun) {
        vclock_join(c, &hb->actor[child->actor].clock, hb->budget);
        tick(hb, child->actor); /* it published; its actor may go on with no-thread */
    } else {                    /* it never acted: its birth is all that it has done */
        vclock_join(c, &child->birth, hb->budget);
    }
    settle(hb, actor);
}

static void end_thread(struct hb *hb, sim_tid tid)
{
    struct hb_thread *t = &hb->thread[tid];
    struct vclock *c = &hb->actor[t->actor].clock;

    t->ended = vclock_get(c, t->actor) + 1;
    vclock_free(&t->final, hb->budget);
    if (hb->by_kernel) {
        vclock_copy(&t->final, c, hb->budget);
        tick(hb, t->actor);
    } else { /* nobody else acts on this clock */
        t->final = *c;
        *c = (struct vclock){0};
        t->begun = false;
    }
}

static void write_clock(struct hb *hb, const struct event *ev)
{
    struct vclock *c = clock_of(hb, ev->tid);

    assert(!hb->by_kernel);
    if (ev->aux == ev->tid && ev->addr <= vclock_get(c, ev->tid))
        return; /* where nobody checks the stream rules: one's own time does not go back */
    hb->forgets = true;
    vclock_set(c, (uint32_t)ev->aux, ev->addr, hb->budget);
    settle(hb, hb->thread[ev->tid].actor);
}

void hb_sync(struct hb *hb, const struct event *ev)
{
    switch ((enum ev_object)ev_info[ev->kind].object) {
    case OBJECT_LOCK:
        lock_step(hb, ev);
        break;
    case OBJECT_BARRIER:
        barrier_step(hb, ev);
        break;
    case OBJECT_VOLATILE:
    case OBJECT_CLASS:
        plain_step(hb, ev);
        break;
    case OBJECT_CHILD:
        child_step(hb, ev);
        break;
    case OBJECT_SELF:
        if (ev->kind == EV_THREAD_END)
            end_thread(hb, ev->tid);
        break;
    case OBJECT_NONE:
        if (ev->kind == EV_WRITEVC)
            write_clock(hb, ev);
        break;
    case OBJECT_ATOMIC:
    case OBJECT_COMMIT:
        die("hb: %s is no plain synchronisation", ev_info[ev->kind].text);
    }
}

/* ---- atomics and transactions --------------------------------------------------------------- */

void hb_atomic_before(struct hb *hb, const struct event *ev)
{
    if (order_takes(event_order(ev)) && ev_info[ev->kind].takes)
        clock_take(hb, ev, object_get(hb, OBJECT_ATOMIC, ev->addr, 0), EDGE_W);
}

/* A store ends the sequences of other actors. The location's clock is then that of an actor's
 * release, or empty. */
static void end_sequences(struct hb *hb, uint32_t actor, struct hb_object *o)
{
    if (!sequences_end(o->sequences, actor, &o->write, hb->budget))
        return;
    const uint64_t time = vclock_get(&o->write, actor);
    o->write_of = time ? epoch_make(actor, time) : 0;
}

/* Updates the release sequences at a location: by a write or rmw of C11, and by any other release
 * if there are some. */
static void sequences_step(struct hb *hb, const struct event *ev, struct hb_object *o, bool gives)
{
    const uint32_t actor = hb_actor(hb, ev->tid);

    if (!(ev->flags & EVF_C11)) {
        if (o->sequences)
            sequences_merge(o->sequences, &o->write, hb->budget);
        return;
    }
    if (!o->sequences)
        o->sequences = sequences_new(hb->budget);
    if (event_ends_sequences(ev))
        end_sequences(hb, actor, o);
    if (gives)
        sequences_begin(o->sequences, actor, hb_clock(hb, ev->tid), &o->write, hb->budget);
}

void hb_atomic_after(struct hb *hb, const struct event *ev)
{
    const bool gives = order_gives(event_order(ev)) && ev_info[ev->kind].gives;

    if (!gives && !event_ends_sequences(ev))
        return;
    struct hb_object *o = object_get(hb, OBJECT_ATOMIC, ev->addr, 0);
    sequences_step(hb, ev, o, gives);
    if (gives)
        clock_give(hb, ev, o, EDGE_W);
}

void hb_commit_before(struct hb *hb, const struct event *commit, const struct event *accesses,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct granules g = granules_of(&accesses[i], hb->granule);
        for (sim_addr a = g.first;; a += g.step) {
            clock_take(hb, commit, object_get(hb, OBJECT_COMMIT, a, 0), EDGE_W);
            if (a == g.last || budget_ends(hb->budget))
                break;
        }
    }
}

void hb_commit_after(struct hb *hb, const struct event *commit, const struct event *accesses,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct granules g = granules_of(&accesses[i], hb->granule);
        for (sim_addr a = g.first;; a += g.step) {
            publish(hb, commit, object_get(hb, OBJECT_COMMIT, a, 0), EDGE_W);
            if (a == g.last || budget_ends(hb->budget))
                break;
        }
    }
    published(hb, commit->tid);
}
