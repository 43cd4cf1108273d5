/* threads.c - threads on cores: who has which, and how many they need.
 *
 * Pinned, a thread that starts takes the lowest empty core; but as many are kept free as there are
 * threads without a core whose first events were recorded before its own. Without that a later
 * thread could hold the last core and wait for one that has none. With it, a machine with as many
 * cores as threads live at a time in recorded order is enough. */
#include "sim/scheduler/timed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct sched_thread *thread_of(struct timed *s, sim_tid tid)
{
    struct threads *t = &s->threads;

    t->at = budget_reach(s->head.env.memory, t->at, &t->n, tid, sizeof *t->at);
    return &t->at[tid];
}

/* ---- on a core ------------------------------------------------------------------------------ */

static void core_add(struct timed *s, unsigned core, sim_tid tid)
{
    struct run_queue *q = &s->core[core];

    s->threads.empty -= q->n == 0;
    q->tid = xgrow(q->tid, q->n, &q->cap, sizeof *q->tid);
    q->tid[q->n++] = tid;
    s->threads.at[tid].core = core;
    q->core->had_thread = true;
}

void thread_leaves(struct timed *s, sim_tid tid)
{
    struct run_queue *q = &s->core[s->threads.at[tid].core];
    size_t i = 0;

    while (q->tid[i] != tid)
        i++;
    memmove(q->tid + i, q->tid + i + 1, (--q->n - i) * sizeof *q->tid);
    if (q->turn > i || q->turn >= q->n)
        q->turn = q->turn ? q->turn - 1 : 0;
    s->threads.empty += q->n == 0;
    s->threads.emptied |= q->n == 0;
}

/* The core with the fewest threads, the lowest of several. */
static unsigned emptiest(const struct timed *s)
{
    unsigned best = 0;

    for (unsigned i = 1; i < s->machine->params.cores; i++)
        if (s->core[i].n < s->core[best].n)
            best = i;
    return best;
}

void thread_to_kernel(struct timed *s, sim_tid tid, uint64_t kernel)
{
    uint64_t *core = map_put(&s->threads.kernels, kernel);

    if (!*core)
        *core = s->threads.at[tid].core + 1;
    if (*core - 1 == s->threads.at[tid].core)
        return;
    thread_leaves(s, tid);
    core_add(s, (unsigned)*core - 1, tid);
}

/* ---- without a core ------------------------------------------------------------------------- */

void thread_waits_for_core(struct timed *s, sim_tid tid)
{
    if (s->threads.at[tid].carried)
        return; /* its kernel thread has one */
    s->threads.coreless = xgrow(s->threads.coreless, s->threads.n_coreless,
                                &s->threads.coreless_cap, sizeof *s->threads.coreless);
    s->threads.coreless[s->threads.n_coreless++] = tid;
}

/* Returns a thread's place among those that wait for a core, if it is among the first `among`; else
 * `among`. */
static size_t turn_of(const struct timed *s, sim_tid tid, size_t among)
{
    size_t i = 0;

    while (i < among && i < s->threads.n_coreless && s->threads.coreless[i] != tid)
        i++;
    return i < s->threads.n_coreless ? i : among;
}

bool thread_place(struct timed *s, sim_tid tid, const struct event *first)
{
    const uint64_t *kernel =
        first && first->kind == EV_THREAD ? map_find(&s->threads.kernels, first->aux) : NULL;
    const bool pinned = s->params.threads == THREADS_PINNED;
    struct sched_thread *th = &s->threads.at[tid];

    if (!th->carried) {
        const size_t among = pinned && !kernel ? s->threads.empty : s->threads.n_coreless;
        const size_t i = turn_of(s, tid, among);
        if (i == among)
            return false;
        memmove(s->threads.coreless + i, s->threads.coreless + i + 1,
                (--s->threads.n_coreless - i) * sizeof *s->threads.coreless);
    }
    core_add(s, kernel ? (unsigned)*kernel - 1 : emptiest(s), tid);
    th->ready_at += perturb_start(s->machine->perturb, tid);
    th->state = THREAD_RUNNABLE;
    return true;
}

bool thread_next_placeable(struct timed *s, sim_tid *tid)
{
    for (size_t i = 0; i < s->threads.n_coreless && i < s->threads.empty; i++) {
        *tid = s->threads.coreless[i];
        if (s->threads.at[*tid].could_start)
            return true;
    }
    return false;
}

/* ---- in recorded order: how many cores the living threads need ------------------------------ */

enum { CARRIER_NONE, CARRIER_OWN, CARRIER_KERNEL };

/* A carrier is what needs a core: a thread by itself, or a kernel thread for all that it carries.
 */
static void leave_carrier(struct timed *s, struct sched_thread *th)
{
    if (th->carrier == CARRIER_OWN)
        s->threads.living--;
    if (th->carrier == CARRIER_KERNEL && --*map_put(&s->threads.carriers, th->kernel) == 0)
        s->threads.living--;
    th->carrier = CARRIER_NONE;
}

static void take_kernel(struct timed *s, struct sched_thread *th, uint64_t kernel)
{
    uint64_t *threads = map_put(&s->threads.carriers, kernel);

    if (th->state == THREAD_UNSEEN)
        th->carried = *threads > 0;
    s->threads.living += (*threads)++ == 0;
    th->carrier = CARRIER_KERNEL;
    th->kernel = kernel;
}

static int ended_before(const struct timed *s, const struct event *ev, uint64_t number)
{
    return err_set(s->head.env.err, LARD_TRACE,
                   "event %llu: thread %u acts after its end; a machine can't run that: set "
                   "trace.rules=on to see the rule that it breaks, or machine=none",
                   (unsigned long long)number, ev->tid);
}

/* -1: with this thread more live than there are cores. */
static int check_living(const struct timed *s, sim_tid tid, uint64_t number)
{
    const unsigned cores = (unsigned)s->machine->params.cores;
    const struct names *names = *s->head.env.names;

    if (s->params.threads != THREADS_PINNED || s->threads.living <= cores)
        return 0;
    const char *name = names ? names_find(names, NAME_THREAD, tid) : NULL;
    return err_set(
        s->head.env.err, LARD_CONFIG,
        "event %llu: thread %u%s%.200s%s makes it %llu threads that live at a time; with "
        "schedule.threads=pinned each has a core of its own, and the machine has %u core%s; set "
        "schedule.threads=round-robin, or more cores",
        (unsigned long long)number, tid, name ? " (" : "", name ? name : "", name ? ")" : "",
        (unsigned long long)s->threads.living, cores, cores == 1 ? "" : "s");
}

/* At the end there live at least as many as there are, but for those that ended or were joined.
 * Where kernel threads carry them, cores are for those. */
int threads_foresee(const struct timed *s, const struct trace_summary *all, struct err *e)
{
    const uint64_t gone = all->kinds[EV_THREAD_END] + all->kinds[EV_JOIN];
    const uint64_t cores = s->machine->params.cores;

    if (s->params.threads != THREADS_PINNED || !all->counted || all->kinds[EV_THREAD] ||
        all->threads <= cores || all->threads - cores <= gone)
        return 0;
    return err_set(
        e, LARD_CONFIG,
        "by its footer the trace has %llu threads, and %llu at least live at a time; with "
        "schedule.threads=pinned each has a core of its own, and the machine has %llu "
        "core%s; set schedule.threads=round-robin, or more cores",
        (unsigned long long)all->threads, (unsigned long long)(all->threads - gone),
        (unsigned long long)cores, cores == 1 ? "" : "s");
}

int thread_recorded(struct timed *s, const struct event *ev, uint64_t number)
{
    struct sched_thread *th = &s->threads.at[ev->tid];

    if (th->ended)
        return ended_before(s, ev, number);
    if (ev->kind == EV_THREAD) {
        leave_carrier(s, th);
        take_kernel(s, th, ev->aux);
    } else if (th->state == THREAD_UNSEEN) {
        th->carrier = CARRIER_OWN;
        s->threads.living++;
    }
    if (ev->kind == EV_JOIN && ev->aux < s->threads.n)
        leave_carrier(s, &s->threads.at[ev->aux]);
    th->ended = ev->kind == EV_THREAD_END;
    if (th->ended)
        leave_carrier(s, th);
    return check_living(s, ev->tid, number);
}

int thread_lives(struct timed *s, sim_tid tid)
{
    s->threads.at[tid].carrier = CARRIER_OWN;
    s->threads.living++;
    return check_living(s, tid, s->head.trace.number);
}
