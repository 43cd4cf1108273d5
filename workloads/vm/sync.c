/* sync.c - barriers, volatiles, the initialisation of classes: each is an event of its own kind,
 * which says what it orders. The accesses by which the runtime does all that are the system's.
 * Monitors are in monitor.c. */
#include "workloads/vm/vm_int.h"

/* ---- barriers ------------------------------------------------------------------------------- */

struct vm_barrier *vm_barrier_new(struct vm_thread *t, unsigned parties)
{
    struct vm *v = t->vm;
    struct vm_barrier *b = xcalloc(1, sizeof *b);

    vm_check(t, parties > 0, "a barrier for nobody");
    b->next = v->barriers.first;
    b->name = vm_area(VM_AREA_BARRIERS, 64 * v->barriers.n++);
    b->parties = parties;
    return v->barriers.first = b;
}

/* The last one to arrive wakes the others and goes on without blocking. */
void vm_barrier_wait(struct vm_thread *t, struct vm_barrier *b, uint64_t site)
{
    vm_step(t);
    const uint64_t round = b->round;
    if (t->vm->txn.owner == t)
        vm_fail(t, "waits at a barrier inside a transaction; commit first");
    vm_stopping(t);
    vm_emit(t, EV_BARRIER_ARRIVE, b->name, round, 0, site);
    t->mute = true;
    if (++b->arrived == b->parties) {
        b->arrived = 0;
        b->round++;
        vm_wake_all(t->vm, &b->queue);
        if (t->vm->sched.driven)
            vm_answer(t); /* they go on when it has arrived, not when it departs */
    } else {
        vm_block(t, &b->queue, "others at a barrier", EV_BARRIER_DEPART);
    }
    vm_emit(t, EV_BARRIER_DEPART, b->name, round, 0, site);
    t->mute = false;
    vm_catch_up(t);
}

/* ---- volatiles ------------------------------------------------------------------------------ */

/* A volatile's event stands before its read and after its write: so what was written before the
 * write is ordered before what is read after the read. */
unsigned char *vm_volatile(struct vm_thread *t, const struct vm_ref *o, const struct vm_slot *s,
                           enum ev_kind kind, uint64_t site)
{
    if (t->vm->txn.owner == t)
        vm_fail(t, "accesses a volatile field inside a transaction; commit first");
    if (kind == EV_READ)
        vm_emit_on(t, EV_VOLATILE_READ, o, s->offset, site);
    unsigned char *value =
        vm_touch(t, o->at, s->offset, (enum vm_type)s->type, s->flags, kind, site);
    if (kind == EV_READ)
        return value;
    vm_emit_on(t, EV_VOLATILE_WRITE, o, s->offset, site);
    vm_urge(t);
    return value;
}

int64_t vm_add_i64(struct vm_thread *t, struct vm_ref *o, unsigned field, int64_t add,
                   uint64_t site)
{
    vm_urge(t);
    unsigned char *at = vm_field(t, o, field, VM_I64, EV_READ, site);
    const struct vm_class *k = t->run.core->classes[vm_header(t->run.core, o->at)->class];
    int64_t was;

    vm_check(t, k->slot[field].flags & EVF_VOLATILE, "%s.%s is not volatile", k->name,
             k->of->fields[field].name);
    memcpy(&was, at, sizeof was);
    const int64_t is = (int64_t)((uint64_t)was + (uint64_t)add);
    memcpy(at, &is, sizeof is);
    vm_volatile(t, o, &k->slot[field], EV_WRITE, site);
    return was;
}

/* ---- initialisation of classes -------------------------------------------------------------- */

/* A thread's first use orders it after the initialisation; later uses add nothing. */
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

/* The lock is released before the initialiser runs: who comes meanwhile waits for the class, and
 * the initialiser itself may use it. */
static void initialise(struct vm_thread *t, const struct vm_class *k, sim_addr name, uint64_t site)
{
    struct vm *v = t->vm;

    v->classes.life[k->id] = (struct vm_class_life){VM_CLASS_RUNS, t};
    vm_emit(t, EV_ACQUIRE, name, 0, EVF_SYSTEM, 0);
    vm_system(t, EV_WRITE, name, 8, VM_SITE_CLASS);
    vm_emit(t, EV_RELEASE, name, 0, EVF_SYSTEM, 0);
    k->of->init(t, k->arg);
    vm_system_step(t, EV_WRITE, name, 8, VM_SITE_CLASS);
    vm_emit(t, EV_CLASS_INIT, name, 0, 0, site);
    v->classes.life[k->id].state = VM_CLASS_READY;
    vm_wake_all(v, &v->classes.queue);
}

void vm_class_use(struct vm_thread *t, const struct vm_class *k, uint64_t site)
{
    struct vm *v = t->vm;
    const sim_addr name = vm_area(VM_AREA_CLASSES, 64 * (uint64_t)k->id);

    if (!k->of || !k->of->init || has_used(t, k->id))
        return;
    for (;;) {
        vm_system_step(t, EV_READ, name, 8, VM_SITE_CLASS);
        if (v->classes.life[k->id].state != VM_CLASS_RUNS)
            break;
        if (v->classes.life[k->id].by == t)
            return;
        vm_stopping(t);
        vm_block(t, &v->classes.queue, "a class's initialisation", EV_CLASS_USE);
    }
    if (v->classes.life[k->id].state == VM_CLASS_NEW)
        initialise(t, k, name, site);
    else
        vm_emit(t, EV_CLASS_USE, name, 0, 0, site);
    note_used(t, k->id);
}
