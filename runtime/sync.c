/* sync.c - the instrumented form of each kind of synchronisation, step by step (docs/runtime.md,
 * "Events"). What clocks become is known from happens-before; here is what the software does to get
 * there. */
#include "runtime/runtime_int.h"

#include <stdlib.h>

/* ---- where words lie ------------------------------------------------------------------------ */

static struct paddr thread_word(const struct runtime *r, uint64_t thread)
{
    return paddr_of(r->params.base + RT_THREADS_AT + thread * RUNTIME_WORDS);
}

static struct paddr final_word(const struct runtime *r, uint64_t thread)
{
    return paddr_plus(thread_word(r, thread), 8);
}

/* Address of an object's clock word. A trace leaves no room for it in the object, so it is taken to
 * lie in the other 8 bytes of the object's aligned 16: same line, so as near as in a runtime that
 * has such a field. */
struct paddr rt_object_word(const struct runtime *r, sim_addr object)
{
    return rt_physical(r, (object & ~UINT64_C(7)) ^ 8);
}

/* Address of the word of a lock's read clock: in the aligned 16 bytes beside those. */
static struct paddr read_word(const struct runtime *r, sim_addr lock)
{
    return rt_object_word(r, lock ^ 16);
}

/* An instrumented form of an operation is called, in the place of the operation. */
static void call(struct rt_walk *w)
{
    if (!(w->r->params.without & RT_WRAPPERS))
        rt_step(w, RT_STEP_CALL, 1);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void load_own_word(struct rt_lowering *l)
{
    rt_access(&l->walk, thread_word(l->walk.r, l->actor), 8, MEM_LOAD);
    rt_step(&l->walk, RT_STEP_THREAD_WORD, 1);
}

/* Loads the word of a clock, alone or (wide) with the word beside it. True: there is a clock. */
static bool load_word(struct rt_lowering *l, const struct rt_clock *c, struct paddr word, bool wide)
{
    rt_access(&l->walk, wide ? paddr_down(word, 16) : word, wide ? 16 : 8, MEM_LOAD);
    rt_step(&l->walk, RT_STEP_TEST, 1);
    if (!c || !c->at.at)
        return false;
    rt_step(&l->walk, RT_STEP_OBJECT_WORD, 1);
    return true;
}

static const struct rt_clock *mine(const struct rt_lowering *l)
{
    return &l->walk.r->actor[l->actor];
}

static void merge(struct rt_lowering *l, const struct rt_clock *const *from, size_t n)
{
    if (n)
        rt_merge(&l->walk, l->actor, thread_word(l->walk.r, l->actor), from, n, l->now);
}

/* An event that gives (a release) publishes the thread's clock, then increments the thread's own
 * entry. The clock in `now` is that after the increment, except at an access: there it is the one
 * between the two. */
struct giving {
    uint64_t own, after; /* the own entry as published; after the increment, if there is one */
};

static struct giving giving_of(const struct rt_lowering *l)
{
    const uint64_t own = vclock_get(l->now, l->actor);

    if (event_is_access(l->ev))
        return (struct giving){own, own + 1};
    if (own > vclock_get(&mine(l)->v, l->actor))
        return (struct giving){own - 1, own};
    return (struct giving){own, own};
}

static void settle(struct rt_lowering *l, uint64_t own)
{
    rt_settle(&l->walk, l->actor, l->now, own);
}

/* Components that no step has changed become as happens-before says. */
static void settle_now(struct rt_lowering *l)
{
    settle(l, vclock_get(l->now, l->actor));
}

static void tick(struct rt_lowering *l, struct giving g)
{
    if (g.after > g.own)
        rt_tick(&l->walk, l->actor, g.after);
}

/* A release: settles, publishes into `to`, ticks. */
static void give(struct rt_lowering *l, struct rt_clock *to, struct paddr word, enum rt_way way)
{
    const struct giving g = giving_of(l);

    settle(l, g.own);
    rt_publish(&l->walk, mine(l), to, word, way);
    tick(l, g);
}

/* ---- a thread's beginning, its children, its end -------------------------------------------- */

/* The first event of a thread: names it to the detector and gives it a clock, the one that its
 * parent made or a new one. */
static void begin(struct rt_lowering *l)
{
    struct rt_walk *w = &l->walk;
    struct runtime *r = w->r;
    struct rt_thread *t = rt_thread(r, l->ev->tid);
    struct rt_clock *c = &r->actor[l->actor];
    const struct paddr word = thread_word(r, l->actor);

    r->head.forked -= t->birth.at.at != 0;
    call(w);
    if (!t->named)
        rt_issue(w, &(struct lx_act){.op = LX_THREAD, .value = {l->ev->tid}}, 1);
    t->named = t->begun = true;
    if (t->birth.at.at && !c->at.at) {
        vclock_free(&c->v, r->env.budget);
        *c = t->birth;
        load_own_word(l);
        rt_begin_clock(w, c, l->actor, word);
    } else if (t->birth.at.at) { /* no-thread: the kernel thread has a clock, and merges this one */
        load_own_word(l);
        load_word(l, &t->birth, thread_word(r, l->ev->tid), false);
        merge(l, (const struct rt_clock *const[]){&t->birth}, 1);
        rt_clock_free(r, w->core, &t->birth);
    } else if (!c->at.at) {
        rt_begin_clock(w, c, l->actor, word);
    }
    t->birth = (struct rt_clock){0};
}

/* The parent makes the child's first clock. */
static void fork_child(struct rt_lowering *l)
{
    struct runtime *r = l->walk.r;
    struct rt_thread *child = rt_thread(r, l->ev->aux);

    r->head.forked -= child->birth.at.at != 0;
    load_own_word(l);
    give(l, &child->birth, thread_word(r, l->ev->aux), RT_IN_PLACE);
    r->head.forked += child->birth.at.at != 0;
}

/* Merges the child's final clock; the clock it has, if its end was not seen; or the one it was born
 * with, if it never began. */
static void join_child(struct rt_lowering *l)
{
    struct runtime *r = l->walk.r;
    const struct rt_thread *child = rt_thread(r, l->ev->aux);
    const struct rt_clock *from = &child->birth;
    struct paddr word = thread_word(r, l->ev->aux);

    if (child->final.at.at) {
        from = &child->final;
        word = final_word(r, l->ev->aux);
    } else if (child->begun) {
        from = &r->actor[child->actor];
        word = thread_word(r, child->actor);
    }
    load_own_word(l);
    if (load_word(l, from, word, false))
        merge(l, &from, 1);
    settle_now(l);
}

/* The thread's clock becomes its final one. With no-thread the kernel thread's clock goes on, so
 * the final one is a copy. */
static void end_thread(struct rt_lowering *l)
{
    struct runtime *r = l->walk.r;
    struct rt_thread *t = rt_thread(r, l->ev->tid);
    struct rt_clock *c = &r->actor[l->actor];
    const struct paddr word = final_word(r, l->ev->tid);

    load_own_word(l);
    if (l->now->n) {
        give(l, &t->final, word, RT_IN_PLACE);
        return;
    }
    rt_access(&l->walk, word, 8, MEM_STORE);
    rt_clock_free(r, l->walk.core, &t->final);
    t->final = *c;
    *c = (struct rt_clock){0};
    t->begun = false;
}

/* ---- objects -------------------------------------------------------------------------------- */

/* An acquire: merges the object's write clock and, for an exclusive acquire of a lock that was ever
 * held shared, its read clock. */
static void take(struct rt_lowering *l, const struct rt_object *o, unsigned which, bool wide)
{
    const struct runtime *r = l->walk.r;
    const struct rt_clock *from[2];
    size_t n = 0;

    if (load_word(l, o ? &o->write : NULL, rt_object_word(r, l->ev->addr), wide))
        from[n++] = &o->write;
    if (which & EDGE_R && o && o->held_shared &&
        load_word(l, &o->read, read_word(r, l->ev->addr), false))
        from[n++] = &o->read;
    merge(l, from, n);
}

static void give_write(struct rt_lowering *l, struct rt_object *o, enum rt_way way)
{
    give(l, &o->write, rt_object_word(l->walk.r, l->ev->addr), way);
}

/* Several readers may leave at the same time: each publishes a new clock by a swap. */
static void release_shared(struct rt_lowering *l, struct rt_object *o)
{
    const struct paddr word = read_word(l->walk.r, l->ev->addr);

    load_word(l, &o->read, word, false);
    give(l, &o->read, word, RT_SWAP);
}

/* Only a thread's outermost acquire and release order anything. wait gives the lock up whatever the
 * nesting. */
static bool outermost(struct rt_lowering *l, struct rt_object *o)
{
    const enum ev_kind kind = (enum ev_kind)l->ev->kind;
    const bool shared = kind == EV_ACQUIRE_SHARED || kind == EV_RELEASE_SHARED;

    o->held_shared |= shared;
    if (kind == EV_WAIT_ENTER || kind == EV_WAIT_EXIT)
        return true;
    rt_step(&l->walk, RT_STEP_NEST, 1);
    if (ev_info[kind].takes)
        return sync_nest(&l->walk.r->objects, &o->sync, l->ev->tid, shared) == 1;
    return sync_unnest(&o->sync, l->ev->tid, shared) == 0;
}

static void lock(struct rt_lowering *l)
{
    const struct ev_info *info = &ev_info[l->ev->kind];
    struct rt_object *o = rt_object_get(&l->walk, OBJECT_LOCK, l->ev->addr, 0);

    if (!outermost(l, o)) {
        settle_now(l);
        return;
    }
    load_own_word(l);
    if (info->takes) {
        take(l, o, info->takes, false);
        settle_now(l);
    } else if (info->gives & EDGE_R) {
        release_shared(l, o);
    } else {
        load_word(l, &o->write, rt_object_word(l->walk.r, l->ev->addr), false);
        give_write(l, o, RT_IN_PLACE);
    }
}

/* An atomic location's release sequences, before the event gives there. True: a store of C11 has
 * taken something away from the location's clock, of which nobody has told the software's memory
 * yet. */
static bool sequences_step(struct rt_lowering *l, struct rt_object *o, bool gives)
{
    struct budget *b = l->walk.r->env.budget;
    bool less = false;

    if (!(l->ev->flags & EVF_C11)) {
        if (o->sequences && gives)
            sequences_merge(o->sequences, &o->write.v, b);
        return false;
    }
    if (!o->sequences)
        o->sequences = sequences_new(b);
    if (event_ends_sequences(l->ev))
        less = sequences_end(o->sequences, l->actor, &o->write.v, b);
    if (gives)
        sequences_begin(o->sequences, l->actor, &mine(l)->v, &o->write.v, b);
    return less;
}

/* A store that releases nothing: it looks whether there is a clock that it has to end. */
static void end_sequences(struct rt_lowering *l)
{
    const struct runtime *r = l->walk.r;
    const struct paddr word = rt_object_word(r, l->ev->addr);
    struct rt_object *o = sync_object_find(&r->objects, OBJECT_ATOMIC, l->ev->addr, 0);

    load_own_word(l);
    if (load_word(l, o ? &o->write : NULL, word, true) && sequences_step(l, o, false))
        rt_replace(&l->walk, &o->write, word);
    settle_now(l);
}

/* Volatiles and atomic locations: the field and its clock's word are read and written as one, by
 * wide accesses, so that a reader gets the clock of the value that it reads. */
static void field(struct rt_lowering *l, unsigned kind, bool takes, bool gives)
{
    struct runtime *r = l->walk.r;
    struct rt_object *o = gives ? rt_object_get(&l->walk, kind, l->ev->addr, 0)
                                : sync_object_find(&r->objects, kind, l->ev->addr, 0);

    load_own_word(l);
    if (takes)
        take(l, o, EDGE_W, true);
    else
        load_word(l, &o->write, rt_object_word(r, l->ev->addr), true);
    if (gives && kind == OBJECT_ATOMIC)
        sequences_step(l, o, true);
    if (gives)
        give_write(l, o, RT_SWAP_WIDE);
    else
        settle_now(l);
}

static void class_object(struct rt_lowering *l)
{
    struct runtime *r = l->walk.r;

    load_own_word(l);
    if (l->ev->kind == EV_CLASS_USE) {
        take(l, sync_object_find(&r->objects, OBJECT_CLASS, l->ev->addr, 0), EDGE_W, false);
        settle_now(l);
        return;
    }
    struct rt_object *o = rt_object_get(&l->walk, OBJECT_CLASS, l->ev->addr, 0);
    load_word(l, &o->write, rt_object_word(r, l->ev->addr), false);
    give_write(l, o, RT_IN_PLACE);
}

/* Arrivals publish one by one, under the barrier's own lock, so in place. The last to leave drops
 * the clock of the round. */
static void barrier(struct rt_lowering *l)
{
    struct runtime *r = l->walk.r;
    struct rt_object *o = rt_object_get(&l->walk, OBJECT_BARRIER, l->ev->addr, l->ev->aux);

    load_own_word(l);
    if (l->ev->kind == EV_BARRIER_ARRIVE) {
        o->inside++;
        load_word(l, &o->write, rt_object_word(r, l->ev->addr), false);
        give_write(l, o, RT_IN_PLACE);
        return;
    }
    take(l, o, EDGE_W, false);
    settle_now(l);
    if (o->inside <= 1)
        sync_object_drop(&r->objects, o, &l->walk);
    else
        o->inside--;
}

/* ---- transactions --------------------------------------------------------------------------- */

/* An access in a transaction: its variable goes into the log, once. */
static void note_variable(struct rt_lowering *l)
{
    struct budget *b = l->walk.r->env.budget;
    struct rt_thread *t = rt_thread(l->walk.r, l->ev->tid);

    if (!t->log) {
        t->log = xcalloc(1, sizeof *t->log);
        map_init(&t->log->seen, b);
        budget_take(b, sizeof *t->log);
    }
    struct rt_log *log = t->log;
    uint64_t *seen = map_put(&log->seen, l->ev->addr);
    if (*seen)
        return;
    *seen = 1;
    log->addr = budget_grow(b, log->addr, log->n, &log->cap, sizeof *log->addr);
    log->addr[log->n++] = l->ev->addr;
}

static void take_variables(struct rt_lowering *l, const struct rt_log *log)
{
    const struct runtime *r = l->walk.r;
    const struct rt_clock **from = xmalloc(log->n * sizeof *from);
    size_t n = 0;

    for (size_t i = 0; i < log->n; i++) {
        const struct rt_object *o = sync_object_find(&r->objects, OBJECT_COMMIT, log->addr[i], 0);
        rt_step(&l->walk, RT_STEP_VARIABLE, 1);
        if (load_word(l, o ? &o->write : NULL, rt_object_word(r, log->addr[i]), false))
            from[n++] = &o->write;
    }
    merge(l, from, n);
    free(from);
}

static void give_variables(struct rt_lowering *l, const struct rt_log *log)
{
    struct runtime *r = l->walk.r;

    for (size_t i = 0; i < log->n; i++) {
        struct rt_object *o = rt_object_get(&l->walk, OBJECT_COMMIT, log->addr[i], 0);
        rt_step(&l->walk, RT_STEP_VARIABLE, 1);
        rt_publish(&l->walk, mine(l), &o->write, rt_object_word(r, log->addr[i]), RT_IN_PLACE);
    }
}

/* The transaction system has its variables to itself while it commits, so clocks are written in
 * place. All their clocks are merged in one loop, so that the detector is told a changed entry
 * once; all are published before one increment. */
static void commit(struct rt_lowering *l)
{
    struct rt_log *log = rt_thread(l->walk.r, l->ev->tid)->log;

    if (!log || !log->n) {
        settle_now(l);
        return;
    }
    load_own_word(l);
    take_variables(l, log);
    const struct giving g = giving_of(l);
    settle(l, g.own);
    give_variables(l, log);
    tick(l, g);
    map_free(&log->seen);
    log->n = 0;
}

/* ---- an event ------------------------------------------------------------------------------- */

/* The thread has no clock yet; or, with no-thread, it has moved to a kernel thread that has none.
 */
static bool to_begin(const struct rt_lowering *l)
{
    return !rt_thread(l->walk.r, l->ev->tid)->begun || !mine(l)->at.at;
}

void rt_lower_sync(struct rt_lowering *l)
{
    const unsigned object = ev_info[l->ev->kind].object;

    /* A clock that raw events alone have written: the runtime's software does not keep it. */
    if (l->ev->kind == EV_THREAD_END && mine(l)->v.n && !mine(l)->at.at) {
        vclock_free(&l->walk.r->actor[l->actor].v, l->walk.r->env.budget);
        return;
    }
    if (to_begin(l))
        begin(l);
    if (object == OBJECT_NONE || l->ev->kind == EV_THREAD_START) {
        settle_now(l);
        return;
    }
    call(&l->walk);
    switch ((enum ev_object)object) {
    case OBJECT_LOCK:
        lock(l);
        break;
    case OBJECT_VOLATILE:
        field(l, OBJECT_VOLATILE, ev_info[l->ev->kind].takes, ev_info[l->ev->kind].gives);
        break;
    case OBJECT_CLASS:
        class_object(l);
        break;
    case OBJECT_BARRIER:
        barrier(l);
        break;
    case OBJECT_CHILD:
        (l->ev->kind == EV_FORK ? fork_child : join_child)(l);
        break;
    case OBJECT_SELF:
        (l->ev->kind == EV_THREAD_END ? end_thread : settle_now)(l);
        break;
    case OBJECT_COMMIT:
        commit(l);
        break;
    case OBJECT_NONE:
    case OBJECT_ATOMIC:
        die("runtime: %s is no synchronisation with an object", ev_info[l->ev->kind].text);
    }
}

void rt_lower_access(struct rt_lowering *l)
{
    const struct ev_info *info = &ev_info[l->ev->kind];
    const bool takes = info->takes && order_takes(event_order(l->ev));
    const bool gives = info->gives && order_gives(event_order(l->ev));
    const struct rt_thread *t = rt_thread(l->walk.r, l->ev->tid);

    const bool ends = event_ends_sequences(l->ev) && !gives;

    if (takes || gives || ends ? to_begin(l) : !t->begun && t->birth.at.at)
        begin(l);
    if (l->ev->flags & EVF_IN_TXN) {
        note_variable(l);
    } else if (takes || gives) {
        call(&l->walk);
        field(l, OBJECT_ATOMIC, takes, gives);
    } else if (ends) {
        call(&l->walk);
        end_sequences(l);
    }
}
