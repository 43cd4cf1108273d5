/* heap.c - the heap: objects are born, die, move, slide over themselves; collections.
 *
 * An object lies in a place, which has room for two, so that it can slide. Free places are empty,
 * or have the remains of one object, which are cleared before the place is used again. So the
 * destination of a copy is always empty, and what is cleared was allocated or copied to. */
#include "trace/synth/synth_int.h"

#include "base/mem.h"

#define HEAP_BASE (UINT64_C(1) << 32)
#define NAME_BASE (UINT64_C(1) << 40)
enum { NAME_STRIDE = 16, UNIT = 8 };

static sim_addr place_base(const struct synth *g, uint32_t place)
{
    return HEAP_BASE + UINT64_C(2) * place * g->object_bytes;
}

/* A quarter more places than objects: there is always an empty one to move to. */
void synth_heap_open(struct synth *g)
{
    const uint32_t objects = (uint32_t)g->objects;

    g->places = objects + objects / 4 + 2;
    g->object = xcalloc(objects, sizeof *g->object);
    g->dirt = xcalloc(g->places, sizeof *g->dirt);
    g->free_place = xcalloc(g->places, sizeof *g->free_place);
    for (uint32_t i = 0; i < g->places; i++) {
        if (i >= objects || g->p.allocs) {
            g->free_place[g->n_free++] = i;
        } else {
            g->object[i].place = i;
            g->object[i].addr = place_base(g, i);
        }
    }
}

/* ---- events --------------------------------------------------------------------------------- */

static void clear(struct synth *g, uint32_t t, sim_addr addr, uint64_t bytes, bool system)
{
    synth_plain(g, t, EV_CLEAR, addr, bytes, system);
}

static void copy(struct synth *g, uint32_t t, sim_addr to, sim_addr from, bool system)
{
    synth_two(g, t, EV_COPY, to, g->object_bytes, from, 0, system);
}

static bool draw_system(struct synth *g)
{
    return g->in_gc || synth_chance(g, g->p.system_share);
}

/* ---- places --------------------------------------------------------------------------------- */

/* An address for an object in a place that was free, and now is empty. */
static sim_addr take_place(struct synth *g, uint32_t t, uint32_t *place, bool system)
{
    const size_t i = synth_below(g, g->n_free);
    const uint64_t slack = g->object_bytes / UNIT + 1;

    *place = g->free_place[i];
    g->free_place[i] = g->free_place[--g->n_free];
    if (g->dirt[*place])
        clear(g, t, g->dirt[*place], g->object_bytes, system);
    g->dirt[*place] = 0;
    return place_base(g, *place) + (synth_coin(g, 2) ? UNIT * synth_below(g, slack) : 0);
}

/* Half of the remains are cleared now, the others when the place is used again. */
static void leave_place(struct synth *g, uint32_t t, uint32_t place, sim_addr remains, bool system)
{
    if (synth_coin(g, 2))
        clear(g, t, remains, g->object_bytes, system);
    else
        g->dirt[place] = remains;
    g->free_place[g->n_free++] = place;
}

/* ---- the life of an object ------------------------------------------------------------------ */

/* Every other object is an array. */
static void birth(struct synth *g, uint32_t t, uint64_t o)
{
    struct synth_object *obj = &g->object[o];
    const bool system = draw_system(g), array = o % 2;

    obj->addr = take_place(g, t, &obj->place, system);
    if (g->p.allocs)
        synth_two(g, t, EV_ALLOC, obj->addr, g->object_bytes, array ? g->p.fields : 0,
                  array ? (uint32_t)g->p.stride : 0, system);
}

sim_addr synth_object_addr(struct synth *g, uint32_t t, uint64_t o)
{
    if (!g->heap)
        return HEAP_BASE + o * g->object_bytes;
    if (UNLIKELY(!g->object[o].addr))
        birth(g, t, o);
    return g->object[o].addr;
}

sim_addr synth_name_addr(struct synth *g, uint32_t t, uint64_t i)
{
    return i < g->objects ? synth_object_addr(g, t, i) : NAME_BASE + i * NAME_STRIDE;
}

void synth_hold(struct synth *g, uint64_t i)
{
    if (g->heap && i < g->objects)
        g->object[i].holds++;
}

void synth_unhold(struct synth *g, uint64_t i)
{
    if (g->heap && i < g->objects)
        g->object[i].holds--;
}

static void death(struct synth *g, uint32_t t, uint64_t o)
{
    struct synth_object *obj = &g->object[o];

    leave_place(g, t, obj->place, obj->addr, draw_system(g));
    obj->addr = 0;
    synth_class_dies(g, o);
}

/* Moves the object to another place, as a copying collector does. */
static void move(struct synth *g, uint32_t t, uint64_t o)
{
    struct synth_object *obj = &g->object[o];
    const uint32_t old_place = obj->place;
    const sim_addr old = obj->addr;
    const bool system = draw_system(g);

    obj->addr = take_place(g, t, &obj->place, system);
    copy(g, t, obj->addr, old, system);
    leave_place(g, t, old_place, old, system);
}

/* Moves the object within its place; the part that it leaves is cleared at once. */
static void slide(struct synth *g, uint32_t t, uint64_t o)
{
    struct synth_object *obj = &g->object[o];
    const uint64_t bytes = g->object_bytes;
    const sim_addr from = obj->addr;
    const sim_addr to = place_base(g, obj->place) + UNIT * synth_below(g, bytes / UNIT + 1);
    const bool system = draw_system(g);

    if (to == from)
        return;
    copy(g, t, to, from, system);
    if (to > from)
        clear(g, t, from, to - from, system);
    else if (from - to >= bytes)
        clear(g, t, from, bytes, system);
    else
        clear(g, t, to + bytes, from - to, system);
    obj->addr = to;
}

/* Begins a new life for some of the object's variables. */
static void renew(struct synth *g, uint32_t t, uint64_t o)
{
    const uint64_t unit = g->p.granularity, n = (g->object_bytes - SYNTH_HEADER) / unit;
    const uint64_t first = synth_below(g, n), bytes = (1 + synth_below(g, n - first)) * unit;
    const sim_addr addr = g->object[o].addr + SYNTH_HEADER + first * unit;
    const bool system = draw_system(g);

    clear(g, t, addr, bytes, system);
    if (g->p.allocs)
        synth_plain(g, t, EV_ALLOC, addr, bytes, system);
}

/* ---- what happens next ---------------------------------------------------------------------- */

/* Whether a lock must live: one that dies orders nothing from then on, and what it protects beside
 * its own object would race. */
static bool is_needed(struct synth *g, uint64_t o)
{
    return o < g->lockers && g->objects - o > g->lockers && synth_chance(g, g->p.discipline);
}

/* Draws a live object that may move now. idle: one that may also die now. */
static bool draw_object(struct synth *g, bool idle, uint64_t *o)
{
    /* Six tries, then nothing happens: a heap full of pinned objects must not stop the generator.
     */
    for (int tries = 0; tries < 6; tries++) {
        *o = synth_below(g, g->objects);
        const struct synth_object *obj = &g->object[*o];
        if (obj->addr && !obj->pins && !(idle && (obj->holds || is_needed(g, *o))))
            return true;
    }
    return false;
}

static bool change(struct synth *g, uint32_t t)
{
    const uint64_t what = synth_below(g, 8);
    uint64_t o;

    if (!draw_object(g, what < 3, &o))
        return false;
    if (what < 2)
        death(g, t, o);
    else if (what < 3)
        renew(g, t, o);
    else if (what < 6)
        move(g, t, o);
    else
        slide(g, t, o);
    return true;
}

/* The collector looks at an object, moves it, and mends its header. */
static void evacuate(struct synth *g, uint32_t t)
{
    uint64_t o;

    if (!draw_object(g, false, &o))
        return;
    synth_system_access(g, t, EV_READ, g->object[o].addr);
    if (synth_coin(g, 2))
        move(g, t, o);
    else
        slide(g, t, o);
    synth_system_access(g, t, synth_coin(g, 4) ? EV_RMW : EV_WRITE, g->object[o].addr);
}

static void collector_syncs(struct synth *g, uint32_t t)
{
    const uint64_t runtime_locks = g->p.locks - g->lockers;
    const uint64_t i = g->p.volatiles ? synth_below(g, g->p.volatiles) : 0;

    if (runtime_locks)
        synth_take(g, t, g->lockers + synth_below(g, runtime_locks), false);
    if (g->p.volatiles && synth_is_system(g, i, g->p.volatiles))
        synth_volatile_op(g, t, i);
}

static void pause_event(struct synth *g, uint32_t t, enum ev_kind kind, bool nursery)
{
    synth_event(g, t, kind)->flags = EVF_SYSTEM | (nursery ? EVF_NURSERY : 0);
    g->in_gc = kind == EV_GC_BEGIN;
}

/* A collection is a pause in which the collector's thread looks at objects, moves some and lets
 * some die. */
static void collect(struct synth *g)
{
    const uint32_t t = (uint32_t)g->p.threads;
    const bool nursery = synth_coin(g, 2);

    pause_event(g, t, EV_GC_BEGIN, nursery);
    collector_syncs(g, t);
    for (uint64_t n = 1 + synth_below(g, 4); n > 0; n--) {
        evacuate(g, t);
        change(g, t);
    }
    synth_release_all(g, t);
    pause_event(g, t, EV_GC_END, nursery);
}

bool synth_heap_op(struct synth *g, uint32_t t)
{
    if (!synth_chance(g, g->p.gc_share))
        return change(g, t);
    collect(g);
    return true;
}
