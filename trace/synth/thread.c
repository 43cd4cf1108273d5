/* thread.c - threads begin, end, and are joined; the events that close a trace. */
#include "trace/synth/synth_int.h"

#include "base/mem.h"

static void activate(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];

    th->state = SYNTH_READY;
    th->slot = g->n_active;
    g->active[g->n_active++] = t;
}

/* The last active thread takes its slot, so that one can be drawn by number. */
static void deactivate(struct synth *g, uint32_t t)
{
    struct synth_thread *th = &g->threads[t];
    const uint32_t last = g->active[--g->n_active];

    th->state = SYNTH_ENDED;
    g->active[th->slot] = last;
    g->threads[last].slot = th->slot;
}

void synth_threads_open(struct synth *g)
{
    const uint32_t n = (uint32_t)g->p.threads;
    const uint32_t roots = g->p.fork == SYNTH_ROOTS ? n : 1;

    g->threads = xcalloc(n + 1u, sizeof *g->threads);
    g->active = xcalloc(n, sizeof *g->active);
    g->ended = xcalloc(n, sizeof *g->ended);
    for (uint32_t t = 0; g->p.raw && t < n; t++)
        vclock_set(&g->threads[t].clock, t, 1, NULL);
    for (uint32_t t = 0; t < roots; t++)
        activate(g, t);
    g->next_fork = roots;
    /* The collector comes behind the program's threads, so no draw chooses it. */
    g->threads[n].state = SYNTH_READY; /* the collector is always there */
    g->threads[n].acted = true;
}

/* Begins a thread; not every recorder has a start event. */
void synth_born(struct synth *g, uint32_t t)
{
    g->threads[t].acted = true;
    if (!synth_coin(g, 4))
        synth_plain(g, t, EV_THREAD_START, 0, 0, false);
    if (g->p.raw)
        synth_raw_born(g, t);
}

bool synth_fork_op(struct synth *g, uint32_t t)
{
    if (g->next_fork >= g->p.threads || (g->p.fork == SYNTH_FLAT && t != 0))
        return false;
    const uint32_t child = g->next_fork++;
    g->threads[child].forked = true;
    if (g->p.raw)
        synth_raw_fork(g, t, child);
    else
        synth_sync(g, t, EV_FORK, 0, child, false);
    activate(g, child);
    return true;
}

/* A thread can end only with nothing in hand. */
static bool clean(const struct synth_thread *th)
{
    return th->state == SYNTH_READY && !th->n_held && !th->in_txn;
}

static void end(struct synth *g, uint32_t t)
{
    synth_plain(g, t, EV_THREAD_END, 0, 0, false);
    deactivate(g, t);
    g->ended[g->n_ended++] = t;
}

/* The first thread stays: it forks, and it joins. */
bool synth_end_op(struct synth *g, uint32_t t)
{
    if (t == 0 || !clean(&g->threads[t]))
        return false;
    end(g, t);
    return true;
}

static void join(struct synth *g, uint32_t t, uint32_t u)
{
    g->threads[u].joined = true;
    if (g->p.raw)
        synth_raw_take(g, t, &g->threads[u].clock);
    else
        synth_sync(g, t, EV_JOIN, 0, u, false);
}

/* Joins a thread that has not ended. Some recorders see no end: then the join is the end. Raw
 * clocks can't express that: without an end, u's time is not left behind. A thread that has never
 * acted and was not forked is none yet. */
static bool join_unended(struct synth *g, uint32_t t)
{
    const uint32_t u = g->active[synth_below(g, g->n_active)];
    const struct synth_thread *th = &g->threads[u];

    if (g->p.raw || u == t || u == 0 || !clean(th) || !(th->acted || th->forked))
        return false;
    deactivate(g, u);
    join(g, t, u);
    return true;
}

bool synth_join_op(struct synth *g, uint32_t t)
{
    if (!g->n_ended)
        return synth_chance(g, g->p.end_share) && join_unended(g, t);
    const size_t i = synth_below(g, g->n_ended);
    const uint32_t u = g->ended[i];
    if (!synth_coin(g, 4)) /* one in four stays, for others to join it once more */
        g->ended[i] = g->ended[--g->n_ended];
    join(g, t, u);
    return true;
}

/* ---- the closing events, in passes over the threads ----------------------------------------- */

/* First pass: leave barriers, commit, release. Second: those that wait. Third: end and join. */
static void let_go(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];

    if (th->state == SYNTH_PARKED)
        synth_barrier_over(g, t, true);
    if (th->state == SYNTH_READY && th->in_txn)
        synth_commit(g, t);
    if (th->state == SYNTH_READY)
        synth_release_all(g, t);
}

static void wake(struct synth *g, uint32_t t)
{
    if (g->threads[t].state == SYNTH_WAITING && synth_wait_over(g, t))
        let_go(g, t);
}

static void finish(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];

    if (t != 0 && th->state == SYNTH_READY && (th->acted || th->forked))
        end(g, t);
    if (t != 0 && th->state == SYNTH_ENDED && !th->joined)
        join(g, 0, t);
}

/* Returns a thread that can mark the region's end: the collector, if all others wait. */
static uint32_t ready_thread(const struct synth *g)
{
    for (uint32_t i = 0; i < g->n_active; i++)
        if (g->threads[g->active[i]].state == SYNTH_READY)
            return g->active[i];
    return (uint32_t)g->p.threads;
}

static void last_pass(struct synth *g)
{
    if (g->in_roi && g->cut == SIZE_MAX)
        synth_plain(g, ready_thread(g), EV_ROI_END, 0, 0, false);
    if (g->p.ends)
        synth_plain(g, 0, EV_THREAD_END, 0, 0, false);
    g->done = true;
}

void synth_close_step(struct synth *g)
{
    static void (*const pass[])(struct synth *, uint32_t) = {let_go, wake, finish};

    if (!g->p.ends || g->closing == ARRAY_SIZE(pass)) {
        last_pass(g);
        return;
    }
    pass[g->closing](g, g->cursor++);
    if (g->cursor >= g->p.threads) {
        g->cursor = 0;
        g->closing++;
    }
}
