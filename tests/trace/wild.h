/* wild.h - random events of every kind, with the extremes of every field, for tests of formats.
 * Each is well-formed; together they obey no stream rule. */
#ifndef LARDSIM_WILD_H
#define LARDSIM_WILD_H

#include <string.h>

#include "base/rng.h"
#include "trace/trace.h"

static inline uint64_t wild_number(struct rng *r)
{
    static const uint64_t edge[] = {0, 1, 255, 256, UINT32_MAX, UINT64_MAX, (uint64_t)1 << 63};

    return rng_chance(r, 1, 8) ? edge[rng_below(r, ARRAY_SIZE(edge))]
                               : rng_next(r) >> rng_below(r, 64);
}

/* Operands by chance; most are refused for some kinds, so that the caller tries again. */
static inline void wild_try(struct rng *r, struct event ev[EVENT_RECORDS])
{
    const bool access = ev->kind && ev_info[ev->kind].class == CLASS_ACCESS;

    ev->tid = (sim_tid)(rng_chance(r, 1, 16) ? rng_next(r) | 0xfff0 : rng_below(r, 5));
    ev->gap = (uint32_t)(rng_chance(r, 1, 2) ? 1 : wild_number(r));
    ev->addr = rng_chance(r, 1, 2) ? 4096 + 8 * rng_below(r, 999) : wild_number(r);
    ev->aux = rng_chance(r, 1, 2) ? rng_below(r, 500) : wild_number(r);
    if (rng_chance(r, 1, 3) && !access)
        ev->addr = 0;
    if (rng_chance(r, 1, 3))
        ev->aux = 0;
    if (ev->kind == EV_REMAP) { /* a page */
        ev->aux = UINT64_C(4096) << rng_below(r, 20);
        ev->addr &= ~(ev->aux - 1);
    }
    ev->flags = (uint16_t)(rng_next(r) & (access ? EVF_C11 | EVF_DEPENDENT | 0x1ff
                                                 : EVF_SYSTEM | EVF_MORE | EVF_NURSERY));
    if (event_has_second(ev->kind))
        ev->flags = (uint16_t)((ev->flags & ~EVF_NURSERY) | EVF_MORE);
    if (access)
        ev->size = rng_chance(r, 1, 8) ? 65536 : (uint32_t)1 << rng_below(r, 5);
    memset(ev + 1, 0, sizeof *ev);
    if (ev->flags & EVF_MORE) {
        ev[1].addr = rng_chance(r, 1, 2) ? 0 : wild_number(r);
        ev[1].size = rng_chance(r, 1, 2) ? 0 : (uint32_t)wild_number(r);
        ev[1].aux = wild_number(r);
    }
    if (ev->kind == EV_REMAP && ev->flags & EVF_MORE)
        ev[1] = (struct event){.addr = ev[1].addr & ~(ev->aux - 1), .aux = ev[1].aux};
    if (ev->kind == EV_BRANCHES && ev->flags & EVF_MORE) {
        ev[1].size = 1 + (uint32_t)rng_below(r, BRANCHES_MAX);
        ev[1].addr = rng_next(r) >> (64 - ev[1].size);
    }
}

/* Returns the number of records, 1 or 2. */
static inline unsigned wild_event(struct rng *r, struct event ev[EVENT_RECORDS])
{
    const uint8_t kind = (uint8_t)(1 + rng_below(r, EV_KINDS - 1));
    const char *what;

    do {
        memset(ev, 0, sizeof *ev);
        ev->kind = rng_chance(r, 1, 2) ? kind : EV_READ;
        wild_try(r, ev);
    } while (event_well_formed(ev, &what));
    return event_records(ev);
}

/* Returns the number of records; `to` has room for two times `events`. */
static inline size_t wild_events(uint64_t seed, size_t events, struct event *to)
{
    size_t records = 0;
    struct rng r;

    rng_seed(&r, seed);
    while (events--)
        records += wild_event(&r, to + records);
    return records;
}

#endif
