/* sweep_array.c - see sweep_array.h. */
#include "tests/policy/slimstate/sweep_array.h"

#include "tests/frame/draw.h"

enum { BASE = 0x100000, ROOM = 0x4000 };

static void region(const struct arrays *x, sim_tid tid, enum ev_kind kind, sim_addr at,
                   uint64_t bytes)
{
    stream_add(x->s, &(struct event){.kind = (uint8_t)kind, .tid = tid, .addr = at, .aux = bytes});
}

static void two(const struct arrays *x, sim_tid tid, enum ev_kind kind, sim_addr at, uint64_t bytes,
                sim_addr second, uint64_t size)
{
    const struct event ev[2] = {
        {.kind = (uint8_t)kind, .tid = tid, .addr = at, .aux = bytes, .flags = EVF_MORE},
        {.addr = second, .size = (uint32_t)size}};

    stream_add(x->s, ev);
}

static void shape(const struct arrays *x, struct array *a)
{
    static const uint64_t size[] = {1, 2, 4, 4, 8, 8, 16}, header[] = {0, 8, 12, 16};
    static const uint64_t round[] = {16, 18, 20, 24, 24, 30, 32, 36, 40, 48, 60, 64, 96};

    a->n = rng_below(x->r, 3)   ? round[rng_below(x->r, ARRAY_SIZE(round))]
           : rng_below(x->r, 2) ? draw_between(x->r, 1, 20)
                                : draw_between(x->r, 10, 130);
    a->size = size[rng_below(x->r, ARRAY_SIZE(size))];
    a->header = header[rng_below(x->r, ARRAY_SIZE(header))];
    a->bytes = (a->header + a->n * a->size + ARRAY_UNIT - 1) / ARRAY_UNIT * ARRAY_UNIT;
    a->guard = rng_below(x->r, 2) ? PHASE : LOCK;
}

static void allocate(const struct arrays *x, sim_tid tid, const struct array *a)
{
    if (x->allocs)
        two(x, tid, EV_ALLOC, a->at, a->bytes, a->n, a->size);
}

void array_make(const struct arrays *x, sim_tid tid, struct array *a, unsigned i)
{
    for (unsigned h = 0; h < 2; h++)
        a->home[h] = BASE + (2 * i + h) * 2 * (sim_addr)ROOM;
    a->at = a->home[0];
    shape(x, a);
    allocate(x, tid, a);
}

void array_move(const struct arrays *x, sim_tid tid, struct array *a)
{
    const sim_addr from = a->at;

    a->in = !a->in;
    a->at = a->home[a->in];
    two(x, tid, EV_COPY, a->at, a->bytes, from, 0);
    region(x, tid, EV_CLEAR, from, a->bytes);
}

void array_slide(const struct arrays *x, sim_tid tid, struct array *a)
{
    const uint64_t by = ARRAY_UNIT * draw_between(x->r, 1, 4);

    if (a->at + by + a->bytes > a->home[a->in] + ROOM)
        return;
    two(x, tid, EV_COPY, a->at + by, a->bytes, a->at, 0);
    region(x, tid, EV_CLEAR, a->at, by < a->bytes ? by : a->bytes);
    a->at += by;
}

void array_renew(const struct arrays *x, sim_tid tid, struct array *a)
{
    region(x, tid, EV_CLEAR, a->at, a->bytes);
    a->at = a->home[a->in];
    if (rng_below(x->r, 2))
        shape(x, a);
    allocate(x, tid, a);
}

void array_cut(const struct arrays *x, sim_tid tid, const struct array *a)
{
    const uint64_t units = a->bytes / ARRAY_UNIT, first = rng_below(x->r, units);
    const uint64_t bytes = ARRAY_UNIT * draw_between(x->r, 1, units - first);
    const sim_addr at = a->at + ARRAY_UNIT * first;

    region(x, tid, EV_CLEAR, at, bytes);
    if (!x->allocs)
        return;
    if (rng_below(x->r, 2))
        region(x, tid, EV_ALLOC, at, bytes);
    else
        two(x, tid, EV_ALLOC, at, bytes, bytes / 4, 4);
}
