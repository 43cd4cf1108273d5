/* gen.c - see gen.h. */
#include "tests/policy/slimstate/gen.h"

enum { THREADS = 5, ARRAYS = 4, LOCKS = 0x900000, VOLATILE = 0x910000, BARRIER = 0x920000 };

struct array {
    sim_addr at, base; /* of the allocation, of element 0 */
    uint64_t n, size, bytes;
    uint64_t place;
};
struct gen {
    struct rng *r;
    const struct slim_gen_options *o;
    struct stream *s;
    struct array array[ARRAYS];
    bool taken[SLIM_GEN_PLACES];
    bool owned[SLIM_GEN_PLACES * SLIM_GEN_PLACE]; /* bytes that are allocated */
    unsigned threads, arrays;
    unsigned phase; /* set by a barrier: 0 nothing, 1 all only read, 2 each has a part */
    uint64_t round;
};

static uint64_t below(struct gen *g, uint64_t n)
{
    return rng_below(g->r, n);
}
static bool coin(struct gen *g, uint64_t of)
{
    return below(g, of) == 0;
}

static void emit(struct gen *g, struct event ev)
{
    stream_add(g->s, &ev);
}
static void on(struct gen *g, unsigned t, enum ev_kind kind, sim_addr object)
{
    emit(g, (struct event){.kind = (uint8_t)kind, .tid = (sim_tid)t, .addr = object});
}

/* ---- arrays --------------------------------------------------------------------------------- */

static uint64_t free_place(struct gen *g)
{
    uint64_t p = below(g, SLIM_GEN_PLACES);

    while (g->taken[p])
        p = (p + 1) % SLIM_GEN_PLACES;
    g->taken[p] = true;
    return p;
}

/* For the rules that only what is allocated is cleared or copied, and what is not is allocated: as
 * objects, of which slimstate takes no notice. */
static void own(struct gen *g, sim_addr at, uint64_t bytes, bool owned)
{
    for (uint64_t i = 0; i < bytes; i++)
        g->owned[at - SLIM_GEN_BASE + i] = owned;
}
static void claim(struct gen *g, unsigned t, sim_addr at, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 8)
        if (!g->owned[at - SLIM_GEN_BASE + i])
            emit(g, (struct event){.kind = EV_ALLOC, .tid = (sim_tid)t, .addr = at + i, .aux = 8});
    own(g, at, bytes, true);
}

static void alloc(struct gen *g, unsigned t, struct array *a)
{
    static const uint64_t sizes[] = {1, 2, 4, 4, 8, 8, 12};
    static const uint64_t header[] = {0, 8, 16, 16};
    const uint64_t head = header[below(g, ARRAY_SIZE(header))];

    a->size = sizes[below(g, ARRAY_SIZE(sizes))];
    a->n = 1 + below(g, g->o->elements);
    if (coin(g, 2)) /* has many divisors */
        a->n = g->o->elements / 12 * 12;
    a->bytes = (head + a->n * a->size + 7) / 8 * 8;
    a->at = SLIM_GEN_BASE + a->place * SLIM_GEN_PLACE + 8 * below(g, 4);
    a->base = a->at + head;
    const struct event ev[2] = {
        {.kind = EV_ALLOC, .tid = (sim_tid)t, .addr = a->at, .aux = a->bytes, .flags = EVF_MORE},
        {.addr = a->n, .size = (uint32_t)a->size}};
    stream_add(g->s, ev);
    own(g, a->at, a->bytes, true);
}

static void clear(struct gen *g, unsigned t, sim_addr at, uint64_t bytes)
{
    if (!bytes)
        return;
    claim(g, t, at, bytes);
    emit(g, (struct event){.kind = EV_CLEAR, .tid = (sim_tid)t, .addr = at, .aux = bytes});
    own(g, at, bytes, false);
}

static void copy(struct gen *g, unsigned t, struct array *a, sim_addr to)
{
    const struct event ev[2] = {
        {.kind = EV_COPY, .tid = (sim_tid)t, .addr = to, .aux = a->bytes, .flags = EVF_MORE},
        {.addr = a->at}};
    claim(g, t, a->at, a->bytes);
    stream_add(g->s, ev);
    own(g, to, a->bytes, true);
    a->base += to - a->at;
    a->at = to;
}

static void move(struct gen *g, unsigned t, struct array *a)
{
    const sim_addr was = a->at;
    const uint64_t place = free_place(g);

    copy(g, t, a, SLIM_GEN_BASE + place * SLIM_GEN_PLACE + 8 * below(g, 4));
    if (!coin(g, 4))
        clear(g, t, was, a->bytes);
    else
        clear(g, t, was, 8 + below(g, a->bytes / 8) * 8); /* what is left is found at reuse */
    g->taken[a->place] = false;
    a->place = place;
}

static void slide(struct gen *g, unsigned t, struct array *a)
{
    const sim_addr was = a->at;
    const sim_addr to = SLIM_GEN_BASE + a->place * SLIM_GEN_PLACE + 8 * below(g, 8);

    if (to == was)
        return;
    copy(g, t, a, to);
    const uint64_t by = to > was ? to - was : was - to;
    if (by < a->bytes)
        clear(g, t, to > was ? was : to + a->bytes, by);
    else
        clear(g, t, was, a->bytes);
}

static void heap(struct gen *g, unsigned t, struct array *a)
{
    const uint64_t from = below(g, a->bytes / 8 + 1) * 8;

    switch (below(g, 5)) {
    case 0:
        clear(g, t, SLIM_GEN_BASE + a->place * SLIM_GEN_PLACE, SLIM_GEN_PLACE);
        alloc(g, t, a);
        break;
    case 1:
        clear(g, t, a->at + from, below(g, (a->bytes - from) / 8 + 1) * 8);
        break;
    case 2:
        slide(g, t, a);
        break;
    default:
        move(g, t, a);
    }
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void access_at(struct gen *g, unsigned t, enum ev_kind kind, const struct array *a,
                      uint64_t i)
{
    emit(g, (struct event){.kind = (uint8_t)kind,
                           .tid = (sim_tid)t,
                           .addr = a->base + i * a->size,
                           .size = (uint32_t)a->size,
                           .aux = 1 + t * 8 + (kind == EV_READ) + below(g, 2) * 2,
                           .flags = EVF_ARRAY});
}

/* Any bytes of it, atomic or not, in a transaction or not. */
static void odd_access(struct gen *g, unsigned t, const struct array *a)
{
    static const unsigned flags[] = {0, EVF_ARRAY, EVF_ARRAY | ORDER_SEQ_CST << EVF_ORDER_SHIFT,
                                     EVF_ARRAY | ORDER_RELAXED << EVF_ORDER_SHIFT,
                                     EVF_ARRAY | ORDER_RELEASE << EVF_ORDER_SHIFT};
    const bool element = !coin(g, 3);
    const uint64_t i = below(g, a->n), first = element ? i * a->size : below(g, a->bytes);
    const uint64_t size = element ? a->size : 1 + below(g, coin(g, 2) ? 3 * a->size : a->size);
    struct event ev = {.kind = coin(g, 2) ? EV_READ : EV_WRITE,
                       .tid = (sim_tid)t,
                       .addr = a->base + first,
                       .size = (uint32_t)size,
                       .flags = (uint16_t)flags[below(g, ARRAY_SIZE(flags))]};

    if (coin(g, 4)) {
        on(g, t, EV_TXN_BEGIN, 0);
        ev.flags = EVF_ARRAY | EVF_IN_TXN;
        for (uint64_t n = 1 + below(g, 3); n > 0; n--, ev.addr += a->size)
            emit(g, ev);
        on(g, t, EV_TXN_COMMIT, 0);
        return;
    }
    if (ev.flags & EVF_ORDER_MASK && coin(g, 4))
        ev.kind = EV_RMW;
    emit(g, ev);
}

struct sweep {
    uint64_t b, e, k;
};

static struct sweep draw_sweep(struct gen *g, uint64_t n)
{
    const uint64_t d = 2 + below(g, 6), i = below(g, n), j = below(g, n), k = 1 + below(g, 4);
    struct sweep w = {0, n - 1, 1};

    switch (below(g, 8)) {
    case 0:
        w.e = i;
        break;
    case 1:
        w.b = i;
        break;
    case 2:
        if (n >= d)
            w = (struct sweep){i / d * d, i / d * d + d - 1 < n ? i / d * d + d - 1 : n - 1, 1};
        break;
    case 3:
        w = (struct sweep){below(g, d < n ? d : n), n - 1, d};
        break;
    case 4:
        w = (struct sweep){i / 4, i / 4 + below(g, 2), 1};
        break;
    case 5:
        w = (struct sweep){i < j ? i : j, i < j ? j : i, k};
        break;
    default:
        break;
    }
    w.e = w.b + (w.e < n ? w.e - w.b : n - 1 - w.b) / w.k * w.k;
    return w;
}

/* As what a barrier agreed on allows. */
static struct sweep agreed_sweep(const struct gen *g, unsigned t, uint64_t n)
{
    if (g->phase == 1)
        return (struct sweep){0, n - 1, 1};
    if (g->round % 2 && n > t) /* every so many */
        return (struct sweep){t, t + (n - 1 - t) / g->threads * g->threads, g->threads};
    const uint64_t from = n * t / g->threads, end = n * (t + 1) / g->threads;
    return from < end ? (struct sweep){from, end - 1, 1} : (struct sweep){n, 0, 1};
}

static void make_sweep(struct gen *g, unsigned t, const struct array *a, struct sweep w,
                       unsigned kinds)
{
    const bool down = coin(g, 3);

    for (uint64_t i = w.b; i <= w.e; i += w.k) {
        const uint64_t at = down ? w.e - (i - w.b) : i;
        if (kinds & 1)
            access_at(g, t, EV_READ, a, at);
        if (kinds & 2)
            access_at(g, t, EV_WRITE, a, at);
    }
}

static void sweep(struct gen *g, unsigned t, unsigned which)
{
    const struct array *a = &g->array[which];
    const bool protect = below(g, 1000) < g->o->protect;
    const unsigned kinds = 1 + (unsigned)below(g, 3);

    if (protect && g->phase) {
        make_sweep(g, t, a, agreed_sweep(g, t, a->n), g->phase == 1 ? 1 : kinds);
        return;
    }
    if (protect)
        on(g, t, EV_ACQUIRE, LOCKS + 8 * which);
    for (uint64_t n = 1 + below(g, 2); n > 0; n--)
        make_sweep(g, t, a, draw_sweep(g, a->n), kinds);
    if (protect)
        on(g, t, EV_RELEASE, LOCKS + 8 * which);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void barrier(struct gen *g)
{
    for (unsigned way = 0; way < 2; way++)
        for (unsigned t = 0; t < g->threads; t++)
            emit(g, (struct event){.kind = way ? EV_BARRIER_DEPART : EV_BARRIER_ARRIVE,
                                   .tid = (sim_tid)t,
                                   .addr = BARRIER,
                                   .aux = g->round});
    g->round++;
    g->phase = (unsigned)below(g, 3);
}

static void step(struct gen *g)
{
    const unsigned t = (unsigned)below(g, g->threads), which = (unsigned)below(g, g->arrays);
    const uint64_t what = below(g, 24);

    if (what < 13)
        sweep(g, t, which);
    else if (what < 15)
        on(g, t, coin(g, 2) ? EV_VOLATILE_READ : EV_VOLATILE_WRITE, VOLATILE);
    else if (what < 18)
        heap(g, t, &g->array[which]);
    else if (what < 20)
        barrier(g);
    else if (!g->o->plain)
        odd_access(g, t, &g->array[which]);
}

static void fork_or_join(struct gen *g, enum ev_kind kind)
{
    for (unsigned t = 1; t < g->threads; t++) {
        if (kind == EV_JOIN)
            on(g, t, EV_THREAD_END, 0);
        emit(g, (struct event){.kind = (uint8_t)kind, .aux = t});
    }
}

void slim_gen(struct rng *r, const struct slim_gen_options *o, struct stream *s)
{
    struct gen g = {.r = r, .o = o, .s = s};

    g.threads = 2 + (unsigned)below(&g, THREADS - 1);
    g.arrays = 1 + (unsigned)below(&g, ARRAYS);
    for (unsigned i = 0; i < g.arrays; i++) {
        g.array[i].place = free_place(&g);
        alloc(&g, 0, &g.array[i]);
    }
    fork_or_join(&g, EV_FORK);
    while (s->events < o->events)
        step(&g);
    if (!coin(&g, 2))
        return;
    fork_or_join(&g, EV_JOIN);
    for (unsigned i = 0; i < g.arrays; i++)
        make_sweep(&g, 0, &g.array[i], (struct sweep){0, g.array[i].n - 1, 1}, 3);
}
