/* sweep.c - see sweep.h. The program is drawn step by step: whoever comes next goes on with its
 * sweep, or begins something. */
#include "tests/policy/slimstate/sweep.h"

#include "tests/frame/draw.h"
#include "tests/policy/slimstate/sweep_array.h"

enum { ARRAYS = 3, WORKERS = 5 };
enum { LOCK_AT = 0x9000, VOLATILE_AT = 0xa000, BARRIER_AT = 0xb000, SCALARS = 0xc000 };

struct worker {
    bool there, acted, waits; /* waits: at the barrier */
    struct array *over;       /* of the sweep; NULL: none */
    int64_t index, step;
    uint64_t left;
    bool reads, writes, locked, shared;
};

struct sweep {
    struct rng *r;
    struct stream *s;
    unsigned workers, arrays, sharers[ARRAYS], owner[ARRAYS]; /* of the arrays' locks; owner: 1 + */
    struct arrays heap_of;
    bool barriers, forks, atomic_elements, closing;
    uint64_t racy, odd, heap, txn, sync, amid, leave; /* shares per mille; amid, leave: a sweep */
    uint64_t run_max, round;
    struct array array[ARRAYS];
    struct worker worker[WORKERS];
};

static bool chance(struct sweep *w, uint64_t per_mille)
{
    return rng_below(w->r, 1000) < per_mille;
}

/* ---- events --------------------------------------------------------------------------------- */

static void add(struct sweep *w, const struct event *ev)
{
    stream_add(w->s, ev);
    w->worker[ev->tid].acted = true;
}

static void emit(struct sweep *w, sim_tid tid, enum ev_kind kind, sim_addr addr, uint64_t aux)
{
    add(w, &(struct event){.kind = (uint8_t)kind, .tid = tid, .addr = addr, .aux = aux});
}

static void emit_access(struct sweep *w, sim_tid tid, bool writes, sim_addr addr, uint64_t size,
                        unsigned flags)
{
    add(w, &(struct event){.kind = writes ? EV_WRITE : EV_READ,
                           .tid = tid,
                           .addr = addr,
                           .size = (uint32_t)size,
                           .aux = rng_below(w->r, 12),
                           .flags = (uint16_t)flags});
}

/* An access that is not just an element: a part, two at once, out of line, or flagged otherwise. */
static void odd_access(struct sweep *w, sim_tid tid, bool writes, const struct array *a, uint64_t i)
{
    static const unsigned flags[] = {0, EVF_SYSTEM, EVF_FINAL, EVF_STACK, EVF_ARRAY | EVF_SYSTEM};
    const sim_addr at = array_element(a, i);
    const bool last = i + 1 == a->n; /* stays inside */

    switch (rng_below(w->r, 6)) {
    case 0:
        emit_access(w, tid, writes, at + rng_below(w->r, a->size), 1, EVF_ARRAY);
        break;
    case 1:
        emit_access(w, tid, writes, at, last ? a->size : 2 * a->size, EVF_ARRAY);
        break;
    case 2:
        emit_access(w, tid, writes, at + !last, a->size, EVF_ARRAY);
        break;
    case 3:
        emit_access(w, tid, writes, a->at, 4, 0); /* the header, or not */
        break;
    case 4:
        emit_access(w, tid, writes, at, a->size, flags[rng_below(w->r, ARRAY_SIZE(flags))]);
        break;
    default:
        emit_access(w, tid, writes, at, a->size,
                    w->atomic_elements ? EVF_ARRAY | ORDER_RELAXED << EVF_ORDER_SHIFT : EVF_ARRAY);
    }
}

/* ---- heap events ---------------------------------------------------------------------------- */

/* Nobody may be in the middle of a sweep over what changes its shape. */
static void heap_event(struct sweep *w, sim_tid tid)
{
    const unsigned which = (unsigned)rng_below(w->r, w->arrays);
    struct array *a = &w->array[which];
    bool busy = w->owner[which] || w->sharers[which];

    for (sim_tid i = 0; i < w->workers; i++)
        busy = busy || w->worker[i].over == a;
    w->worker[tid].acted = true;
    switch (rng_below(w->r, 4)) {
    case 0:
        array_move(&w->heap_of, tid, a);
        break;
    case 1:
        array_slide(&w->heap_of, tid, a);
        break;
    case 2:
        if (!busy)
            array_renew(&w->heap_of, tid, a);
        break;
    default:
        array_cut(&w->heap_of, tid, a);
    }
}

/* ---- sweeps --------------------------------------------------------------------------------- */

static void set_range(struct worker *k, uint64_t first, uint64_t end, uint64_t step)
{
    k->index = (int64_t)first;
    k->step = (int64_t)step;
    k->left = end > first ? (end - first + step - 1) / step : 0;
}

static void set_pattern(struct sweep *w, sim_tid tid, enum pattern p)
{
    struct worker *k = &w->worker[tid];
    const uint64_t n = k->over->n;

    switch (p) {
    case WHOLE:
        set_range(k, 0, n, 1);
        break;
    case BLOCK:
        set_range(k, n * tid / w->workers, n * (tid + 1) / w->workers, 1);
        break;
    case CYCLIC:
        set_range(k, tid, n, w->workers * k->over->wide);
        break;
    case PREFIX:
        set_range(k, 0, draw_between(w->r, 1, rng_below(w->r, 2) ? n / 4 + 1 : n), 1);
        break;
    case SUFFIX:
        set_range(k, rng_below(w->r, n), n, 1);
        break;
    case STRIDE: {
        const uint64_t step = draw_between(w->r, 2, 8);
        set_range(k, rng_below(w->r, 4) ? rng_below(w->r, step) : rng_below(w->r, n), n, step);
        break;
    }
    case BACKWARDS:
        k->index = (int64_t)n - 1;
        k->step = -1;
        k->left = draw_between(w->r, 1, n);
        break;
    case SINGLE:
    case PATTERNS:
        set_range(k, rng_below(w->r, n), n, n);
    }
}

static bool take_lock(struct sweep *w, sim_tid tid, unsigned which, bool shared)
{
    if (w->owner[which] || (!shared && w->sharers[which]))
        return false;
    emit(w, tid, shared ? EV_ACQUIRE_SHARED : EV_ACQUIRE, LOCK_AT + 8 * which, 0);
    w->sharers[which] += shared;
    w->owner[which] = shared ? 0 : tid + 1;
    return true;
}

static void leave_lock(struct sweep *w, sim_tid tid, unsigned which, bool shared)
{
    emit(w, tid, shared ? EV_RELEASE_SHARED : EV_RELEASE, LOCK_AT + 8 * which, 0);
    w->sharers[which] -= shared;
    w->owner[which] = 0;
}

/* What this phase lets the worker do with the array. */
static void keep_to_phase(struct sweep *w, sim_tid tid)
{
    struct worker *k = &w->worker[tid];
    const struct array *a = k->over;

    if (a->read_only) {
        k->writes = false;
        set_pattern(w, tid, (enum pattern)rng_below(w->r, PATTERNS));
    } else if (a->pattern != WHOLE || a->owner == tid)
        set_pattern(w, tid, a->pattern);
    else
        k->over = NULL;
}

static void begin_sweep(struct sweep *w, sim_tid tid)
{
    struct worker *k = &w->worker[tid];
    const unsigned which = (unsigned)rng_below(w->r, w->arrays);
    struct array *a = &w->array[which];
    const uint64_t how = rng_below(w->r, 4);

    k->over = a;
    k->reads = how < 2;
    k->writes = how > 0;
    k->locked = false;
    if (chance(w, w->racy)) {
        set_pattern(w, tid, rng_below(w->r, 2) ? SINGLE : (enum pattern)rng_below(w->r, PATTERNS));
    } else if (a->guard == PHASE) {
        keep_to_phase(w, tid);
    } else {
        k->shared = !k->writes && rng_below(w->r, 2);
        k->locked = take_lock(w, tid, which, k->shared);
        if (k->locked)
            set_pattern(w, tid, (enum pattern)rng_below(w->r, PATTERNS));
        else
            k->over = NULL;
    }
}

static void access_one(struct sweep *w, sim_tid tid, bool writes)
{
    const struct worker *k = &w->worker[tid];
    const struct array *a = k->over;

    if (chance(w, w->odd))
        odd_access(w, tid, writes, a, (uint64_t)k->index);
    else
        emit_access(w, tid, writes, array_element(a, (uint64_t)k->index), a->size, EVF_ARRAY);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void transaction(struct sweep *w, sim_tid tid)
{
    emit(w, tid, EV_TXN_BEGIN, 0, 0);
    for (uint64_t n = rng_below(w->r, 5); n > 0; n--) {
        const struct array *a = &w->array[rng_below(w->r, w->arrays)];
        emit_access(w, tid, rng_below(w->r, 2), array_element(a, rng_below(w->r, a->n)), a->size,
                    EVF_ARRAY | EVF_IN_TXN);
    }
    emit(w, tid, EV_TXN_COMMIT, 0, 0);
}

static void synchronise(struct sweep *w, sim_tid tid)
{
    const sim_addr at = VOLATILE_AT + 8 * rng_below(w->r, 2);

    switch (rng_below(w->r, 4)) {
    case 0:
        emit(w, tid, EV_VOLATILE_WRITE, at, 0);
        break;
    case 1:
        emit(w, tid, EV_VOLATILE_READ, at, 0);
        break;
    case 2:
        emit_access(w, tid, true, at + 64, 8, ORDER_RELEASE << EVF_ORDER_SHIFT);
        break;
    default:
        emit_access(w, tid, false, at + 64, 8, ORDER_ACQUIRE << EVF_ORDER_SHIFT);
    }
}

static void go_on(struct sweep *w, sim_tid tid)
{
    struct worker *k = &w->worker[tid];

    if (k->left) {
        if (k->reads)
            access_one(w, tid, false);
        if (k->writes)
            access_one(w, tid, true);
        k->index += k->step;
        k->left--;
    }
    if (chance(w, w->amid))
        rng_below(w->r, 2) ? synchronise(w, tid) : heap_event(w, tid);
    if (k->left && !chance(w, w->leave))
        return;
    if (k->locked)
        leave_lock(w, tid, (unsigned)(k->over - w->array), k->shared);
    k->locked = false;
    k->over = NULL;
}

static void draw_phase(struct sweep *w)
{
    static const enum pattern pattern[] = {BLOCK, CYCLIC, WHOLE};

    for (unsigned i = 0; i < w->arrays; i++) {
        w->array[i].pattern = pattern[rng_below(w->r, ARRAY_SIZE(pattern))];
        w->array[i].wide = (unsigned)draw_between(w->r, 1, 3);
        w->array[i].owner = (unsigned)rng_below(w->r, w->workers);
        w->array[i].read_only = rng_below(w->r, 3) == 0;
    }
}

/* All are at the barrier: a heap event is without a race there. */
static void open_barrier(struct sweep *w)
{
    const unsigned first = (unsigned)rng_below(w->r, w->workers);

    for (sim_tid i = 0; i < w->workers; i++) {
        const sim_tid tid = (sim_tid)((first + i) % w->workers);
        emit(w, tid, EV_BARRIER_DEPART, BARRIER_AT, w->round);
        w->worker[tid].waits = false;
        if (chance(w, 4 * w->heap))
            heap_event(w, tid);
    }
    w->round++;
    w->closing = false;
    draw_phase(w);
}

static void arrive(struct sweep *w, sim_tid tid)
{
    emit(w, tid, EV_BARRIER_ARRIVE, BARRIER_AT, w->round);
    w->worker[tid].waits = true;
    for (sim_tid i = 0; i < w->workers; i++)
        if (!w->worker[i].waits)
            return;
    open_barrier(w);
}

static void begin(struct sweep *w, sim_tid tid)
{
    if (w->closing)
        arrive(w, tid);
    else if (chance(w, w->sync))
        synchronise(w, tid);
    else if (chance(w, w->heap))
        heap_event(w, tid);
    else if (chance(w, w->txn))
        transaction(w, tid);
    else if (chance(w, w->odd))
        emit_access(w, tid, rng_below(w->r, 2), SCALARS + 4 * rng_below(w->r, 4), 4, 0);
    else if (w->barriers && chance(w, 40))
        w->closing = true;
    else
        begin_sweep(w, tid);
}

static void turn(struct sweep *w)
{
    const sim_tid tid = (sim_tid)rng_below(w->r, w->workers);
    struct worker *k = &w->worker[tid];

    for (uint64_t n = draw_between(w->r, 1, w->run_max); n > 0 && k->there && !k->waits; n--)
        if (k->over)
            go_on(w, tid);
        else
            begin(w, tid);
}

static void draw_program(struct sweep *w)
{
    w->workers = (unsigned)draw_between(w->r, 2, WORKERS);
    w->arrays = (unsigned)draw_between(w->r, 1, ARRAYS);
    w->heap_of.allocs = rng_below(w->r, 8) > 0;
    w->barriers = rng_below(w->r, 4) > 0;
    w->forks = rng_below(w->r, 2);
    w->atomic_elements = rng_below(w->r, 8) == 0;
    w->racy = draw_share(w->r, 200);
    w->odd = draw_share(w->r, 60);
    w->heap = draw_share(w->r, 60);
    w->txn = rng_below(w->r, 4) ? 0 : draw_share(w->r, 100);
    w->sync = draw_share(w->r, 200);
    w->amid = draw_share(w->r, 40);
    w->leave = draw_share(w->r, 40);
    w->run_max = draw_between(w->r, 1, 60);
    draw_phase(w);
}

static void start_workers(struct sweep *w)
{
    w->worker[0].there = true;
    if (w->forks)
        for (int n = 0; n < 20; n++) { /* alone */
            if (w->worker[0].over)
                go_on(w, 0);
            else
                begin_sweep(w, 0);
        }
    for (sim_tid i = 1; i < w->workers; i++) {
        if (w->forks)
            emit(w, 0, EV_FORK, 0, i);
        if (rng_below(w->r, 8) == 0)
            emit(w, i, EV_THREAD, 0, rng_below(w->r, 3));
        w->worker[i].there = true;
    }
}

/* A worker that is at the barrier, or holds a lock, can't end; a join takes its clock all the same.
 */
static void stop_workers(struct sweep *w)
{
    if (rng_below(w->r, 3) == 0) /* in the middle of it all */
        return;
    for (sim_tid i = 1; i < w->workers; i++)
        if (!w->worker[i].waits && !w->worker[i].locked && rng_below(w->r, 3) == 0)
            emit(w, i, EV_THREAD_END, 0, 0);
    for (sim_tid i = 1; i < w->workers && !w->worker[0].waits; i++)
        if ((w->forks || w->worker[i].acted) && rng_below(w->r, 2)) {
            emit(w, 0, EV_JOIN, 0, i);
            if (!w->worker[0].over)
                begin_sweep(w, 0);
            for (int n = 0; n < 40 && w->worker[0].over; n++)
                go_on(w, 0);
        }
}

static void check(const struct stream *s)
{
    struct rules *r = rules_new(true);
    struct err e = {0};
    uint64_t number = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        if (rules_apply(r, &s->rec[i], number++, &e))
            die("the generator of array programs: %s", e.text);
    rules_free(r);
}

void sweep_draw(struct rng *r, struct stream *s)
{
    struct sweep w = {.r = r, .s = s, .heap_of = {r, s, false}};
    const size_t events = s->events + draw_between(r, 60, 1200);

    draw_program(&w);
    for (unsigned i = 0; i < w.arrays; i++)
        array_make(&w.heap_of, 0, &w.array[i], i);
    start_workers(&w);
    while (s->events < events)
        turn(&w);
    stop_workers(&w);
    check(s);
}
