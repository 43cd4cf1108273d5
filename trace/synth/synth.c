/* synth.c - the generator as a source: which thread goes next, and what it does. Memory is bounded
 * by the parameters, not by the events.
 *
 * It is a program of random steps, not a model of any real one. What it promises: every stream
 * obeys all stream rules, and the same parameters give the same events on every machine. */
#include "trace/synth/synth_int.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { BATCH_RECORDS = 4096, MARK_ODDS = 64, FORK_ODDS = 6, COMMIT_ODDS = 6, HOP_ODDS = 3 };
enum { PATIENCE_ODDS = 8, PHASES = 4, NAMED_MAX = 1000 };

/* ---- what a thread does next ---------------------------------------------------------------- */

static void mark(struct synth *g, uint32_t t)
{
    switch (synth_below(g, 3)) {
    case 0:
        synth_plain(g, t, EV_IO, 0, 0, false);
        return;
    case 1:
        synth_plain(g, t, EV_PHASE, 0, 1 + synth_below(g, PHASES), false);
        return;
    default: /* a region begins after its event, and ends with it: where a trace may be cut */
        synth_plain(g, t, g->in_roi ? EV_ROI_END : EV_ROI_BEGIN, 0, 0, false);
        g->in_roi = !g->in_roi;
    }
}

/* Whether to synchronise of the thread's own accord: below the share asked for more often, above
 * it less, as what discipline needs comes on top. */
static bool sync_is_due(struct synth *g)
{
    const uint64_t share = g->p.sync_share;
    const bool behind = g->syncs * 1000 < g->count * share;

    return synth_chance(g, behind ? (share < 500 ? 2 * share : 1000) : share / 4);
}

static bool sync_op(struct synth *g, uint32_t t)
{
    const bool high = !g->p.raw;
    const uint64_t joins = g->n_ended || g->p.end_share ? 1 : 0, locks = g->p.locks ? 8 : 0;
    const uint64_t volatiles = high && g->p.volatiles ? 3 : 0;
    const uint64_t barriers = high && g->p.barriers ? 2 : 0;
    const uint64_t classes = high && g->p.classes ? 2 : 0;
    const uint64_t all = joins + locks + volatiles + barriers + classes;

    if (!all || (synth_chance(g, g->p.wait_share) && synth_wait_op(g, t)))
        return all != 0;
    uint64_t what = synth_below(g, all);
    if (what < locks)
        return synth_lock_op(g, t);
    if ((what -= locks) < volatiles)
        return synth_volatile_op(g, t, synth_below(g, g->p.volatiles));
    if ((what -= volatiles) < barriers)
        return synth_barrier_op(g, t);
    if (what - barriers < classes)
        return synth_class_op(g, t);
    return synth_join_op(g, t);
}

static bool txn_op(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];

    if (th->in_txn && (th->n_pinned == SYNTH_TXN_MAX || synth_coin(g, COMMIT_ODDS)))
        synth_commit(g, t);
    else if (!th->in_txn && !g->p.raw && synth_chance(g, g->p.txn_share))
        synth_begin(g, t);
    else
        return false;
    return true;
}

/* Lets a thread make a step in its turn: each kind of step in its proportion, and an access if no
 * other kind is due. */
static void act(struct synth *g, uint32_t t)
{
    if (g->next_fork < g->p.threads && synth_coin(g, FORK_ODDS) && synth_fork_op(g, t))
        return;
    if (g->p.marks && synth_coin(g, MARK_ODDS)) {
        mark(g, t);
        return;
    }
    if (txn_op(g, t) || (g->heap && synth_chance(g, g->p.heap_share) && synth_heap_op(g, t)))
        return;
    if (!sync_is_due(g) || !sync_op(g, t))
        synth_access(g, t);
}

/* ---- which thread goes next ----------------------------------------------------------------- */

/* Waiting threads go on when they can, or now and then without a notification (a spurious wake-up).
 */
static bool wake(struct synth *g, uint32_t t)
{
    const struct synth_thread *th = &g->threads[t];
    const bool now = synth_coin(g, PATIENCE_ODDS);

    if (th->state == SYNTH_PARKED)
        return synth_barrier_over(g, t, now);
    if (th->state == SYNTH_WAITING)
        return (now || g->locks[th->held[0].lock].signals) && synth_wait_over(g, t);
    return th->state == SYNTH_READY;
}

/* Returns another thread, if one can go on. Some thread always can: a barrier can be left, and a
 * thread that holds a lock for which others wait does not wait itself. */
static uint32_t next_thread(struct synth *g)
{
    unsigned blocked = 0;

    for (;;) {
        const uint32_t t = g->active[synth_below(g, g->n_active)];
        if (t == g->current && g->n_active > 1 && blocked < 4)
            continue;
        if (wake(g, t))
            return t;
        blocked++;
    }
}

static void turn(struct synth *g)
{
    g->turn_end = g->count + 1 + synth_below(g, g->p.run_max);
    g->current = next_thread(g);
    if (synth_chance(g, g->p.end_share) && synth_end_op(g, g->current))
        return;
    if (g->p.kernel_threads && synth_coin(g, HOP_ODDS))
        synth_plain(g, g->current, EV_THREAD, 0, synth_below(g, g->p.kernel_threads), false);
}

/* Makes a step. Once there are enough events, all threads are brought to their end, so that no lock
 * stays held. */
static void step(struct synth *g)
{
    if (g->count >= g->p.events)
        synth_close_step(g);
    else if (g->count >= g->turn_end || g->threads[g->current].state != SYNTH_READY)
        turn(g);
    else
        act(g, g->current);
}

/* ---- the source ----------------------------------------------------------------------------- */

static int synth_next(struct source *s, struct batch *b, struct err *e)
{
    struct synth *g = (struct synth *)s;

    (void)e;
    g->n = 0;
    b->first = g->cut == SIZE_MAX ? g->count : g->p.events;
    while (!g->done && g->n < BATCH_RECORDS)
        step(g);
    b->rec = g->rec;
    b->records = g->n < g->cut ? g->n : g->cut;
    g->extent.done = g->count;
    return 0;
}

static void synth_close(struct source *s)
{
    struct synth *g = (struct synth *)s;

    for (uint64_t t = 0; t <= g->p.threads; t++)
        vclock_free(&g->threads[t].clock, NULL);
    for (uint64_t l = 0; l < g->p.locks; l++)
        vclock_free(&g->locks[l].clock, NULL);
    names_free(g->names);
    free(g->rec);
    free(g->threads);
    free(g->active);
    free(g->ended);
    free(g->locks);
    free(g->barriers);
    free(g->class_ready);
    free(g->object);
    free(g->dirt);
    free(g->free_place);
    free(g);
}

/* ---- opening -------------------------------------------------------------------------------- */

static void add_name(struct synth *g, enum name_space space, uint64_t id, const char *what,
                     uint64_t number)
{
    char *text = xasprintf("%s %llu", what, (unsigned long long)number);
    const int failed = names_add(g->names, space, id, text, NULL);

    assert(!failed);
    (void)failed;
    free(text);
}

static void add_names(struct synth *g)
{
    const struct synth_params *p = &g->p;

    for (uint64_t t = 0; t < p->threads && t < NAMED_MAX; t++)
        add_name(g, NAME_THREAD, t, t ? "worker" : "main", t);
    if (p->heap_share && p->gc_share)
        add_name(g, NAME_THREAD, p->threads, "collector", 0);
    for (uint64_t i = 0; !g->heap && i < g->objects && i < NAMED_MAX; i++)
        add_name(g, NAME_OBJECT, synth_name_addr(g, 0, i), "object", i);
    for (uint64_t i = 1; i <= p->sites && i <= NAMED_MAX; i++)
        add_name(g, NAME_SITE, i, "site", i);
    for (uint64_t i = 1; p->marks && i <= PHASES; i++)
        add_name(g, NAME_PHASE, i, "phase", i);
}

static void open_memory(struct synth *g)
{
    const struct synth_params *p = &g->p;

    g->objects = (p->variables + p->fields - 1) / p->fields;
    g->object_bytes = (SYNTH_HEADER + p->fields * p->stride + 15) / 16 * 16;
    if (!p->raw)
        g->atomic_objects = (p->atomics + p->fields - 1) / p->fields;
    for (uint32_t i = 0; i < SYNTH_SIZES; i++)
        if (p->sizes >> i & 1)
            g->sizes[g->n_sizes++] = 1u << i;
    g->heap = p->heap_share > 0;
    if (g->heap)
        synth_heap_open(g);
}

static void open_syncs(struct synth *g)
{
    const struct synth_params *p = &g->p;

    g->locks = xcalloc(p->locks + 1, sizeof *g->locks);
    g->barriers = xcalloc(p->barriers + 1, sizeof *g->barriers);
    g->class_ready = xcalloc(p->classes + 1, sizeof *g->class_ready);
    for (uint64_t l = 0; l < p->locks; l++)
        g->locks[l].owner = SYNTH_NOBODY;
    while (g->lockers < p->locks && !synth_is_system(g, g->lockers, p->locks))
        g->lockers++;
    if (g->lockers)
        g->lock_objects = (g->objects + g->lockers - 1) / g->lockers;
}

struct source *synth_open(const struct synth_params *p, struct err *e)
{
    if (synth_check(p, e))
        return NULL;
    struct synth *g = xcalloc(1, sizeof *g);

    g->p = *p;
    g->source = (struct source){.next = synth_next,
                                .close = synth_close,
                                .name = "synth",
                                .producer = "lardsim synth",
                                .granularity = (unsigned)p->granularity,
                                .extent = &g->extent,
                                .seed = p->seed,
                                .seeded = true};
    g->extent.all = p->events; /* closing adds a few */
    g->cut = SIZE_MAX;
    g->names = names_new();
    g->source.names = g->names;
    rng_seed(&g->rng, p->seed);
    open_memory(g);
    open_syncs(g);
    synth_threads_open(g);
    if (p->names)
        add_names(g);
    return &g->source;
}
