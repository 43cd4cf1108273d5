/* access.c - accesses: to a thread's own variables or to shared ones; protected by the
 * variable's lock, atomic, or neither; in transactions or not. */
#include "trace/synth/synth_int.h"

#define PRIVATE_BASE (UINT64_C(1) << 44)
enum { PRIVATE_BITS = 27 }; /* bits of address space that a thread has */

struct target { /* the target of an access */
    sim_addr addr;
    uint64_t room;   /* bytes up to the end of the object */
    uint64_t id;     /* the variable's, for its site */
    uint32_t object; /* SYNTH_NOBODY: none that could move */
    unsigned flags;
    bool write, atomic;
};

/* ---- the record ----------------------------------------------------------------------------- */

/* Sites go with the variable: a few for its reads, others for its writes. */
static uint64_t site_of(const struct synth *g, const struct target *to, uint64_t random)
{
    const uint64_t which = to->id * 8 + (to->write ? 4 : 0) + random % 4;
    const uint64_t hash = (which + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return g->p.sites ? 1 + (hash * g->p.sites >> 32) : 0;
}

static void draw_extent(struct synth *g, struct target *to, uint32_t *size, uint64_t random)
{
    *size = g->sizes[(random & 0xff) * g->n_sizes >> 8];
    if (!to->atomic && to->room > 1 && synth_chance(g, g->p.unaligned)) {
        const uint64_t skip = 1 + synth_below(g, to->room < 8 ? to->room - 1 : 7);
        to->addr += skip;
        to->room -= skip;
    }
    while (*size > to->room)
        *size /= 2;
}

/* Draws an order that C11 allows, mostly; but loads that release and stores that acquire can be
 * written down, too. */
static enum ev_order draw_order(struct synth *g, const struct target *to, bool rmw)
{
    static const enum ev_order load[] = {ORDER_RELAXED, ORDER_ACQUIRE, ORDER_SEQ_CST};
    static const enum ev_order store[] = {ORDER_RELAXED, ORDER_RELEASE, ORDER_SEQ_CST};

    if (rmw || synth_coin(g, 8))
        return (enum ev_order)(1 + synth_below(g, ORDERS - 1));
    return (to->write ? store : load)[synth_below(g, 3)];
}

/* Decides by bits of a number that was drawn: one draw decides several things, as most of the time
 * goes into drawing. */
static bool decide(uint64_t bits, uint64_t per_mille)
{
    return ((bits & 0xfffff) * 1000 >> 20) < per_mille;
}

static void emit(struct synth *g, uint32_t t, struct target *to)
{
    struct synth_thread *th = &g->threads[t];
    const uint64_t random = rng_next(&g->rng);
    enum ev_kind kind = to->write ? EV_WRITE : EV_READ;
    uint32_t size;

    draw_extent(g, to, &size, random >> 8);
    if (to->atomic) {
        if (to->write && synth_coin(g, 2))
            kind = EV_RMW;
        to->flags |= (unsigned)draw_order(g, to, kind == EV_RMW) << EVF_ORDER_SHIFT;
        if (to->write && decide(random >> 44, g->p.c11))
            to->flags |= EVF_C11;
    } else if (th->in_txn && th->n_pinned < SYNTH_TXN_MAX && !synth_coin(g, 8)) {
        to->flags |= EVF_IN_TXN;
        th->pinned[th->n_pinned++] = to->object; /* what it touches may not move */
        if (g->heap && to->object != SYNTH_NOBODY)
            g->object[to->object].pins++;
    }
    if (synth_chance(g, g->p.system_share))
        to->flags |= EVF_SYSTEM;
    struct event *ev = synth_event(g, t, kind);
    ev->addr = to->addr;
    ev->size = size;
    ev->flags = (uint16_t)to->flags;
    ev->aux = site_of(g, to, random);
}

void synth_system_access(struct synth *g, uint32_t t, enum ev_kind kind, sim_addr addr)
{
    struct event *ev = synth_event(g, t, kind);

    ev->addr = addr;
    ev->size = SYNTH_HEADER;
    ev->flags = EVF_SYSTEM;
    if (kind == EV_RMW)
        ev->flags |= ORDER_SEQ_CST << EVF_ORDER_SHIFT;
}

/* ---- which variable ------------------------------------------------------------------------- */

/* No other thread knows the address: never a race. */
static void access_private(struct synth *g, uint32_t t, bool write)
{
    const uint64_t i = synth_below(g, g->p.privates);
    struct target to = {.addr = PRIVATE_BASE + ((uint64_t)t << PRIVATE_BITS) + i * g->p.stride,
                        .room = g->p.stride < 16 ? 16 : g->p.stride,
                        .id = g->p.variables + i,
                        .object = SYNTH_NOBODY,
                        .write = write};

    if (synth_chance(g, g->p.flag_share))
        to.flags |= EVF_STACK;
    emit(g, t, &to);
}

struct synth_variable { /* a shared one: of which object, and which of its fields */
    uint64_t object, field;
};

/* Every other object is an array; some fields are final, which the views of policies tell apart. */
static void access_variable(struct synth *g, uint32_t t, struct synth_variable v, bool write,
                            bool atomic)
{
    const uint64_t at = SYNTH_HEADER + v.field * g->p.stride;
    struct target to = {.addr = synth_object_addr(g, t, v.object) + at,
                        .room = g->object_bytes - at,
                        .id = v.object * g->p.fields + v.field,
                        .object = g->heap ? (uint32_t)v.object : SYNTH_NOBODY,
                        .write = write,
                        .atomic = atomic};

    if (v.object % 2)
        to.flags |= EVF_ARRAY;
    if (synth_chance(g, g->p.flag_share))
        to.flags |= EVF_FINAL;
    emit(g, t, &to);
}

/* A variable of an object that this lock protects; there is one. */
static struct synth_variable draw_protected(struct synth *g, uint64_t lock)
{
    struct synth_variable v = {.object = lock + g->lockers * synth_below(g, g->lock_objects)};

    if (v.object >= g->objects)
        v.object -= g->lockers;
    const uint64_t left = g->p.variables - v.object * g->p.fields;
    v.field = synth_below(g, left < g->p.fields ? left : g->p.fields);
    return v;
}

/* A fixed part of the objects, by hash, is accessed without a lock: these race. */
static bool nobody_protects(const struct synth *g, uint64_t o)
{
    const uint64_t hash = (o + 1) * UINT64_C(0xd1342543de82ef95) >> 32;

    return !g->p.locks || hash * 1000 >> 32 < g->p.racy;
}

/* Makes an access under a lock: the variable's lock if the thread holds it; else it is taken
 * first. */
static void access_protected(struct synth *g, uint32_t t, struct synth_variable v, bool write)
{
    uint64_t lock;

    if (synth_held_for(g, t, write, &lock)) {
        v = draw_protected(g, lock);
    } else if (!synth_take(g, t, synth_protector(g, v.object),
                           !write && synth_chance(g, g->p.rw_share))) {
        access_private(g, t, write);
        return;
    }
    access_variable(g, t, v, write, v.object < g->atomic_objects);
}

void synth_access(struct synth *g, uint32_t t)
{
    const uint64_t random = rng_next(&g->rng);
    const bool write = !decide(random, g->p.read_share);

    if (!decide(random >> 20, g->p.sharing)) {
        access_private(g, t, write);
        return;
    }
    const uint64_t i = synth_below(g, g->p.variables), object = i / g->p.fields;
    const struct synth_variable v = {object, i - object * g->p.fields};
    const bool atomic = object < g->atomic_objects;
    if (!decide(random >> 40, g->p.discipline) || (!atomic && nobody_protects(g, object)))
        access_variable(g, t, v, write, false);
    else if (atomic)
        access_variable(g, t, v, write, true);
    else
        access_protected(g, t, v, write);
}

/* ---- transactions --------------------------------------------------------------------------- */

void synth_begin(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];

    th->in_txn = true;
    th->txn_system = synth_chance(g, g->p.system_share);
    synth_sync(g, t, EV_TXN_BEGIN, 0, 0, th->txn_system);
}

/* The variables that it has accessed may move again. */
void synth_commit(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];

    synth_sync(g, t, EV_TXN_COMMIT, 0, 0, th->txn_system);
    for (unsigned i = 0; i < th->n_pinned; i++)
        if (g->heap && th->pinned[i] != SYNTH_NOBODY)
            g->object[th->pinned[i]].pins--;
    th->n_pinned = 0;
    th->in_txn = false;
}
