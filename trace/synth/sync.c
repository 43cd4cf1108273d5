/* sync.c - volatiles, barriers, classes. Threads never block for good: a barrier's round ends
 * when its parties have arrived, or earlier when somebody has lost patience. */
#include "trace/synth/synth_int.h"

bool synth_volatile_op(struct synth *g, uint32_t t, uint64_t i)
{
    const bool write = !synth_coin(g, 3), system = synth_is_system(g, i, g->p.volatiles);
    const bool modify = write && synth_coin(g, 4);
    const sim_addr at = synth_name_addr(g, t, i);

    if (!write || modify)
        synth_sync(g, t, EV_VOLATILE_READ, at, 0, system);
    if (synth_chance(g, g->p.flag_share)) {
        struct event *ev = synth_event(g, t, write ? EV_WRITE : EV_READ);
        ev->addr = at;
        ev->size = SYNTH_HEADER;
        ev->flags = EVF_VOLATILE | (system ? EVF_SYSTEM : 0);
    }
    if (write)
        synth_sync(g, t, EV_VOLATILE_WRITE, at, 0, system);
    return true;
}

/* ---- barriers ------------------------------------------------------------------------------- */

static void end_round(struct synth_barrier *b)
{
    b->round++;
    b->arrived = 0;
}

/* Draws two to eight parties, but not more than are alive. */
static uint32_t draw_parties(struct synth *g)
{
    const uint32_t most = g->n_active < 8 ? g->n_active : 8;

    return most < 2 ? 1 : 2 + (uint32_t)synth_below(g, most - 1);
}

bool synth_barrier_op(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];
    const uint64_t i = synth_below(g, g->p.barriers);
    struct synth_barrier *b = &g->barriers[i];
    const sim_addr at = synth_name_addr(g, t, i);

    synth_sync(g, t, EV_BARRIER_ARRIVE, at, b->round, synth_is_system(g, i, g->p.barriers));
    synth_hold(g, i);
    th->state = SYNTH_PARKED;
    th->barrier = (uint32_t)i;
    th->round = b->round;
    if (b->arrived++ == 0)
        b->parties = draw_parties(g);
    if (b->arrived >= b->parties)
        end_round(b);
    return true;
}

bool synth_barrier_over(struct synth *g, uint32_t t, bool now)
{
    struct synth_thread *th = &g->threads[t];
    const uint64_t i = th->barrier;
    struct synth_barrier *b = &g->barriers[i];

    if (th->round == b->round) {
        if (!now)
            return false;
        end_round(b);
    }
    synth_sync(g, t, EV_BARRIER_DEPART, synth_name_addr(g, t, i), th->round,
               synth_is_system(g, i, g->p.barriers));
    synth_unhold(g, i);
    th->state = SYNTH_READY;
    return true;
}

/* ---- classes -------------------------------------------------------------------------------- */

bool synth_class_op(struct synth *g, uint32_t t)
{
    const uint64_t i = synth_below(g, g->p.classes);
    const sim_addr at = synth_name_addr(g, t, i);
    const bool ready = g->class_ready[i];

    g->class_ready[i] = true;
    synth_sync(g, t, ready ? EV_CLASS_USE : EV_CLASS_INIT, at, 0,
               synth_is_system(g, i, g->p.classes));
    return true;
}

void synth_class_dies(struct synth *g, uint64_t object)
{
    if (object < g->p.classes)
        g->class_ready[object] = false;
}
