/* vm_sync.c - monitors, barriers, volatiles, the initialisation of classes. A monitor is named by
 * its object's lock word, so that it moves and dies with the object; its state is on the host. The
 * accesses by which the runtime does all that are the system's; an acquire's and a release's own
 * access is part of that event. */
#include "workloads/vm_int.h"

#include <assert.h>

enum { LOCK_WORD = 8 };

void vm_stopping(struct vm_thread *t)
{
    vm_emit(t, EV_VOLATILE_WRITE, VM_STOPPED, 0, EVF_SYSTEM, 0);
}

/* ---- monitors ------------------------------------------------------------------------------- */

static uint32_t new_monitor(struct vm *v)
{
    if (v->free_monitor) {
        const uint32_t i = v->free_monitor;
        v->free_monitor = v->monitors[i].next_free;
        v->monitors[i] = (struct vm_monitor){0};
        return i;
    }
    if (!v->n_monitors)
        v->n_monitors = 1;
    while (v->cap_monitors <= v->n_monitors)
        v->monitors = xgrow(v->monitors, v->cap_monitors, &v->cap_monitors, sizeof *v->monitors);
    v->monitors[v->n_monitors] = (struct vm_monitor){0};
    return (uint32_t)v->n_monitors++;
}

/* Valid until another monitor is made. */
static struct vm_monitor *monitor(struct vm *v, sim_addr object)
{
    struct vm_header *h = vm_header(&v->core, object);

    if (!h->word)
        h->word = new_monitor(v);
    return &v->monitors[h->word];
}

void vm_monitor_free(struct vm *v, struct vm_header *h)
{
    if (!h->word)
        return;
    assert(!v->monitors[h->word].owner && !v->monitors[h->word].waiters.first);
    v->monitors[h->word].next_free = v->free_monitor;
    v->free_monitor = (uint32_t)h->word;
    h->word = 0;
}

static void see(struct vm_thread *t, struct vm_ref *o, const char *what)
{
    if (!vm_see(t, o))
        vm_fail(t, "%s null", what);
    if (t->vm->txn == t)
        vm_fail(t, "%s an object inside a transaction; commit first", what);
}

void vm_lock(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    uint64_t look = vm_inlined(t, VM_SITE_LOCK, site);
    struct vm_monitor *m;

    for (;; look = VM_SITE_LOCK) {
        vm_urge(t);
        see(t, o, "locks");
        m = monitor(t->vm, o->at);
        vm_system(t, EV_READ, o->at + LOCK_WORD, 8, look);
        if (!m->owner || m->owner == t)
            break;
        vm_stopping(t);
        vm_block(t, &m->lockers, "a monitor");
    }
    m->owner = t;
    m->depth++;
    t->held++;
    vm_emit_on(t, EV_ACQUIRE, o, LOCK_WORD, site);
}

static struct vm_monitor *held(struct vm_thread *t, struct vm_ref *o, const char *what)
{
    see(t, o, what);
    struct vm_monitor *m = monitor(t->vm, o->at);
    vm_check(t, m->owner == t, "%s an object whose monitor it does not have", what);
    return m;
}

void vm_unlock(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    struct vm_monitor *m = held(t, o, "unlocks");

    vm_system(t, EV_WRITE, o->at + LOCK_WORD, 8, vm_inlined(t, VM_SITE_UNLOCK, site));
    vm_emit_on(t, EV_RELEASE, o, LOCK_WORD, site);
    t->held--;
    if (--m->depth)
        return;
    m->owner = NULL;
    vm_wake_all(t->vm, &m->lockers);
    vm_urge(t);
}

/* The object may move meanwhile, and no event is possible but the wait's end. */
static struct vm_monitor *get_back(struct vm_thread *t, struct vm_ref *o)
{
    struct vm *v = t->vm;

    for (;;) {
        vm_step(t);
        o->at = vm_forwarded(v, o->at);
        struct vm_monitor *m = monitor(v, o->at);
        if (!m->owner)
            return m;
        vm_block(t, &m->lockers, "a monitor, after a wait");
    }
}

void vm_wait(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    struct vm_monitor *m = held(t, o, "waits on");
    const uint32_t depth = m->depth;

    vm_system(t, EV_WRITE, o->at + LOCK_WORD, 8, VM_SITE_UNLOCK);
    vm_stopping(t);
    vm_emit_on(t, EV_WAIT_ENTER, o, LOCK_WORD, site);
    t->mute = true;
    m->owner = NULL;
    m->depth = 0;
    vm_wake_all(t->vm, &m->lockers);
    vm_block(t, &m->waiters, "a notification");
    m = get_back(t, o);
    m->owner = t;
    m->depth = depth;
    vm_emit_on(t, EV_WAIT_EXIT, o, LOCK_WORD, site);
    t->mute = false;
    vm_catch_up(t);
}

void vm_notify(struct vm_thread *t, struct vm_ref *o, bool all, uint64_t site)
{
    struct vm_monitor *m = held(t, o, "notifies");

    vm_emit_on(t, EV_NOTIFY, o, LOCK_WORD, site);
    do {
        struct vm_thread *u = vm_unqueue(&m->waiters);
        if (!u)
            break;
        vm_wake(t->vm, u);
    } while (all);
}

/* ---- barriers ------------------------------------------------------------------------------- */

struct vm_barrier *vm_barrier_new(struct vm_thread *t, unsigned parties)
{
    struct vm *v = t->vm;
    struct vm_barrier *b = xcalloc(1, sizeof *b);

    vm_check(t, parties > 0, "a barrier for nobody");
    b->next = v->barriers;
    b->name = vm_area(VM_AREA_BARRIERS, 64 * v->n_barriers++);
    b->parties = parties;
    return v->barriers = b;
}

void vm_barrier_wait(struct vm_thread *t, struct vm_barrier *b, uint64_t site)
{
    vm_step(t);
    const uint64_t round = b->round;
    if (t->vm->txn == t)
        vm_fail(t, "waits at a barrier inside a transaction; commit first");
    vm_stopping(t);
    vm_emit(t, EV_BARRIER_ARRIVE, b->name, round, 0, site);
    t->mute = true;
    if (++b->arrived == b->parties) {
        b->arrived = 0;
        b->round++;
        vm_wake_all(t->vm, &b->queue);
    } else {
        vm_block(t, &b->queue, "others at a barrier");
    }
    vm_emit(t, EV_BARRIER_DEPART, b->name, round, 0, site);
    t->mute = false;
    vm_catch_up(t);
}

/* ---- volatiles ------------------------------------------------------------------------------ */

unsigned char *vm_volatile(struct vm_thread *t, const struct vm_ref *o, const struct vm_slot *s,
                           enum ev_kind kind, uint64_t site)
{
    unsigned char *value;

    if (t->vm->txn == t)
        vm_fail(t, "accesses a volatile field inside a transaction; commit first");
    if (kind == EV_READ)
        vm_emit_on(t, EV_VOLATILE_READ, o, s->offset, site);
    value = vm_touch(t, o->at, s->offset, (enum vm_type)s->type, s->flags, kind, site);
    if (kind == EV_READ)
        return value;
    vm_emit_on(t, EV_VOLATILE_WRITE, o, s->offset, site);
    vm_urge(t);
    return value;
}

/* Where the value is; its read has happened. */
static unsigned char *begin_update(struct vm_thread *t, struct vm_ref *o, unsigned field,
                                   enum vm_type type, uint64_t site)
{
    vm_urge(t);
    unsigned char *value = vm_field(t, o, field, type, EV_READ, site);
    const struct vm_class *k = t->run.core->classes[vm_header(t->run.core, o->at)->class];

    vm_check(t, k->slot[field].flags & EVF_VOLATILE, "%s.%s is not volatile", k->name,
             k->of->fields[field].name);
    return value;
}

static void end_update(struct vm_thread *t, struct vm_ref *o, unsigned field, uint64_t site)
{
    const struct vm_class *k = t->run.core->classes[vm_header(t->run.core, o->at)->class];

    vm_volatile(t, o, &k->slot[field], EV_WRITE, site);
}

int32_t vm_add_i32(struct vm_thread *t, struct vm_ref *o, unsigned field, int32_t add,
                   uint64_t site)
{
    unsigned char *at = begin_update(t, o, field, VM_I32, site);
    int32_t was;

    memcpy(&was, at, sizeof was);
    const int32_t is = (int32_t)((uint32_t)was + (uint32_t)add);
    memcpy(at, &is, sizeof is);
    end_update(t, o, field, site);
    return was;
}

int64_t vm_add_i64(struct vm_thread *t, struct vm_ref *o, unsigned field, int64_t add,
                   uint64_t site)
{
    unsigned char *at = begin_update(t, o, field, VM_I64, site);
    int64_t was;

    memcpy(&was, at, sizeof was);
    const int64_t is = (int64_t)((uint64_t)was + (uint64_t)add);
    memcpy(at, &is, sizeof is);
    end_update(t, o, field, site);
    return was;
}

int32_t vm_cas_i32(struct vm_thread *t, struct vm_ref *o, unsigned field, int32_t expected,
                   int32_t value, uint64_t site)
{
    unsigned char *at = begin_update(t, o, field, VM_I32, site);
    int32_t was;

    memcpy(&was, at, sizeof was);
    if (was != expected)
        return was;
    memcpy(at, &value, sizeof value);
    end_update(t, o, field, site);
    return was;
}

/* ---- initialisation of classes -------------------------------------------------------------- */

static bool has_used(const struct vm_thread *t, uint32_t id)
{
    return id / 64 < t->used_words && t->used[id / 64] >> id % 64 & 1;
}

static void note_used(struct vm_thread *t, uint32_t id)
{
    while (t->used_words <= id / 64) {
        t->used = xrealloc(t->used, t->used_words + 1, sizeof *t->used);
        t->used[t->used_words++] = 0;
    }
    t->used[id / 64] |= UINT64_C(1) << id % 64;
}

static void initialise(struct vm_thread *t, const struct vm_class *k, sim_addr name, uint64_t site)
{
    struct vm *v = t->vm;

    v->lives[k->id] = (struct vm_class_life){VM_CLASS_RUNS, t};
    vm_emit(t, EV_ACQUIRE, name, 0, EVF_SYSTEM, 0);
    vm_system(t, EV_WRITE, name, 8, VM_SITE_CLASS);
    vm_emit(t, EV_RELEASE, name, 0, EVF_SYSTEM, 0);
    k->of->init(t, k->arg);
    vm_system_step(t, EV_WRITE, name, 8, VM_SITE_CLASS);
    vm_emit(t, EV_CLASS_INIT, name, 0, 0, site);
    v->lives[k->id].state = VM_CLASS_READY;
    vm_wake_all(v, &v->class_queue);
}

void vm_class_use(struct vm_thread *t, const struct vm_class *k, uint64_t site)
{
    struct vm *v = t->vm;
    const sim_addr name = vm_area(VM_AREA_CLASSES, 64 * (uint64_t)k->id);

    if (!k->of || !k->of->init || has_used(t, k->id))
        return;
    for (;;) {
        vm_system_step(t, EV_READ, name, 8, VM_SITE_CLASS);
        if (v->lives[k->id].state != VM_CLASS_RUNS)
            break;
        if (v->lives[k->id].by == t)
            return;
        vm_stopping(t);
        vm_block(t, &v->class_queue, "a class's initialisation");
    }
    if (v->lives[k->id].state == VM_CLASS_NEW)
        initialise(t, k, name, site);
    else
        vm_emit(t, EV_CLASS_USE, name, 0, 0, site);
    note_used(t, k->id);
}
