/* threads.c - threads on cores: who has which, and how many they need.
 *
 * Pinned, a thread that starts takes the lowest empty core; but as many are kept free as there are
 * threads without a core whose first events were recorded before its own. Without that a later
 * thread could hold the last core and wait for one that has none. With it, a machine with as many
 * cores as threads live at a time in recorded order is enough. */
#include "sim/scheduler/scheduler_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct thread *thread_of(struct timed *t, sim_tid tid)
{
    if (tid >= t->threads) {
        t->thread = xrealloc(t->thread, (size_t)tid + 1, sizeof *t->thread);
        memset(t->thread + t->threads, 0, ((size_t)tid + 1 - t->threads) * sizeof *t->thread);
        t->threads = (size_t)tid + 1;
    }
    return &t->thread[tid];
}

/* ---- on a core ------------------------------------------------------------------------------ */

static void place_add(struct timed *t, unsigned core, sim_tid tid)
{
    struct place *p = &t->place[core];

    t->empty -= p->n == 0;
    p->tid = xgrow(p->tid, p->n, &p->cap, sizeof *p->tid);
    p->tid[p->n++] = tid;
    t->thread[tid].core = core;
}

void thread_leaves(struct timed *t, sim_tid tid)
{
    struct place *p = &t->place[t->thread[tid].core];
    size_t i = 0;

    while (p->tid[i] != tid)
        i++;
    memmove(p->tid + i, p->tid + i + 1, (--p->n - i) * sizeof *p->tid);
    if (p->turn > i || p->turn >= p->n)
        p->turn = p->turn ? p->turn - 1 : 0;
    t->empty += p->n == 0;
    t->emptied |= p->n == 0;
}

/* The core with the fewest threads, the lowest of several. */
static unsigned emptiest(const struct timed *t)
{
    unsigned best = 0;

    for (unsigned i = 1; i < t->machine->params.cores; i++)
        if (t->place[i].n < t->place[best].n)
            best = i;
    return best;
}

void thread_to_kernel(struct timed *t, sim_tid tid, uint64_t kernel)
{
    uint64_t *core = map_put(&t->kernels, kernel);

    if (!*core)
        *core = t->thread[tid].core + 1;
    if (*core - 1 == t->thread[tid].core)
        return;
    thread_leaves(t, tid);
    place_add(t, (unsigned)*core - 1, tid);
}

/* ---- without a core ------------------------------------------------------------------------- */

void thread_waits_for_core(struct timed *t, sim_tid tid)
{
    if (t->thread[tid].carried)
        return; /* its kernel thread has one */
    t->coreless = xgrow(t->coreless, t->n_coreless, &t->coreless_cap, sizeof *t->coreless);
    t->coreless[t->n_coreless++] = tid;
}

/* Its place among those that wait for a core, if it is among the first `among`; else `among`. */
static size_t turn_of(const struct timed *t, sim_tid tid, size_t among)
{
    size_t i = 0;

    while (i < among && i < t->n_coreless && t->coreless[i] != tid)
        i++;
    return i < t->n_coreless ? i : among;
}

bool thread_place(struct timed *t, sim_tid tid, const struct event *first)
{
    const uint64_t *kernel = first->kind == EV_THREAD ? map_find(&t->kernels, first->aux) : NULL;
    const bool pinned = t->params.threads == THREADS_PINNED;
    struct thread *th = &t->thread[tid];

    if (!th->carried) {
        const size_t among = pinned && !kernel ? t->empty : t->n_coreless;
        const size_t i = turn_of(t, tid, among);
        if (i == among)
            return false;
        memmove(t->coreless + i, t->coreless + i + 1, (--t->n_coreless - i) * sizeof *t->coreless);
    }
    place_add(t, kernel ? (unsigned)*kernel - 1 : emptiest(t), tid);
    th->state = THREAD_RUNNABLE;
    return true;
}

bool thread_next_placeable(struct timed *t, sim_tid *tid)
{
    for (size_t i = 0; i < t->n_coreless && i < t->empty; i++) {
        *tid = t->coreless[i];
        if (t->thread[*tid].could_start)
            return true;
    }
    return false;
}

/* ---- in recorded order: how many cores the living threads need ------------------------------ */

enum { CARRIER_NONE, CARRIER_OWN, CARRIER_KERNEL };

static void leave_carrier(struct timed *t, struct thread *th)
{
    if (th->carrier == CARRIER_OWN)
        t->living--;
    if (th->carrier == CARRIER_KERNEL && --*map_put(&t->carriers, th->kernel) == 0)
        t->living--;
    th->carrier = CARRIER_NONE;
}

static void take_kernel(struct timed *t, struct thread *th, uint64_t kernel)
{
    uint64_t *threads = map_put(&t->carriers, kernel);

    if (th->state == THREAD_UNSEEN)
        th->carried = *threads > 0;
    t->living += (*threads)++ == 0;
    th->carrier = CARRIER_KERNEL;
    th->kernel = kernel;
}

static int ended_before(const struct timed *t, const struct event *ev, uint64_t number)
{
    return err_set(t->env.err, LARD_TRACE,
                   "event %llu: thread %u acts after its end; a machine can't run that: set "
                   "trace.rules=on to see the rule that it breaks, or machine=none",
                   (unsigned long long)number, ev->tid);
}

static int too_many(const struct timed *t, const struct event *ev, uint64_t number)
{
    const unsigned cores = (unsigned)t->machine->params.cores;

    return err_set(
        t->env.err, LARD_CONFIG,
        "event %llu: thread %u makes it %llu threads that live at a time, and the machine has %u "
        "core%s; set schedule.threads=round-robin, or more cores",
        (unsigned long long)number, ev->tid, (unsigned long long)t->living, cores,
        cores == 1 ? "" : "s");
}

int thread_recorded(struct timed *t, const struct event *ev, uint64_t number)
{
    struct thread *th = &t->thread[ev->tid];

    if (th->ended)
        return ended_before(t, ev, number);
    if (ev->kind == EV_THREAD) {
        leave_carrier(t, th);
        take_kernel(t, th, ev->aux);
    } else if (th->state == THREAD_UNSEEN) {
        th->carrier = CARRIER_OWN;
        t->living++;
    }
    if (ev->kind == EV_JOIN && ev->aux < t->threads)
        leave_carrier(t, &t->thread[ev->aux]);
    th->ended = ev->kind == EV_THREAD_END;
    if (th->ended)
        leave_carrier(t, th);
    if (t->params.threads == THREADS_PINNED && t->living > t->machine->params.cores)
        return too_many(t, ev, number);
    return 0;
}
