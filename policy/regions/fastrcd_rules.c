/* fastrcd_rules.c - Algorithms 1 and 2 at one variable (Valor 3.1), and the upgrade to a read map
 * (5.2). */
#include <stdlib.h>
#include <string.h>

#include "policy/regions/fastrcd.h"

/* ---- checks --------------------------------------------------------------------------------- */

static bool conflict(struct fastrcd *f, struct rcd_variable *x, const struct region_access *now,
                     struct race_side earlier)
{
    race_with(f->env->report, now->ev, now->addr, earlier, &x->raced);
    return true;
}

static bool check_side(struct fastrcd *f, struct rcd_variable *x, unsigned side,
                       const struct region_access *now)
{
    if (!rcd_ongoing(f, x, side, now->actor))
        return false;
    return conflict(f, x, now,
                    race_access(x->event[side], x->site[side], x->tid[side],
                                side == READS ? EV_READ : EV_WRITE));
}

static bool check_reads(struct fastrcd *f, struct rcd_variable *x, const struct region_access *now)
{
    const struct overflow *map = map_of(x);
    bool racy = false;

    if (!map)
        return check_side(f, x, READS, now);
    for (uint32_t i = 0; i < map->n; i++) {
        const struct reader *r = &map->at[i];
        if (r->actor != now->actor && ongoing(f, r->clock, r->actor))
            racy |= conflict(f, x, now, race_access(r->event, r->site, r->tid, EV_READ));
    }
    return racy;
}

/* A plain access against atomic ones. */
static bool check_atomics(struct fastrcd *f, struct rcd_variable *x,
                          const struct region_access *now, bool write)
{
    const struct atomics *a = atomics_of(x);
    bool racy = false;

    for (uint32_t i = 0; a && i < a->n; i++) {
        const struct atomic_access *p = &a->at[i];
        if (p->actor != now->actor && p->region == f->thread[p->actor].region &&
            (write || p->kind != EV_READ))
            racy |= conflict(f, x, now, race_access(p->event, p->site, p->tid, p->kind));
    }
    return racy;
}

/* ---- records -------------------------------------------------------------------------------- */

static size_t overflow_bytes(uint32_t cap)
{
    return sizeof(struct overflow) + cap * sizeof(struct reader);
}

static struct overflow *overflow_room(struct fastrcd *f, struct rcd_variable *x, uint32_t need)
{
    struct overflow *b = x->overflow;
    const uint32_t was = b ? b->cap : 0;

    if (b && was >= need)
        return b;
    const uint32_t cap = need ? need + need / 2 + 1 : 0;
    b = xrealloc(b, 1, overflow_bytes(cap));
    if (!x->overflow)
        *b = (struct overflow){0};
    budget_take(f->env->budget, overflow_bytes(cap) - (x->overflow ? overflow_bytes(was) : 0));
    b->cap = cap;
    return x->overflow = b;
}

static struct reader reader_of(const struct region_access *now)
{
    return (struct reader){.site = now->ev->aux,
                           .event = now->number,
                           .clock = now->clock,
                           .actor = (uint16_t)now->actor,
                           .tid = now->ev->tid};
}

static void put_reader(struct fastrcd *f, struct rcd_variable *x, const struct region_access *now)
{
    struct reader *r = find_reader(x->overflow, now->actor);

    if (!r) {
        rcd_map_add(f, x->overflow);
        struct overflow *map = overflow_room(f, x, x->overflow->n + 1);
        r = &map->at[map->n++];
    }
    *r = reader_of(now);
}

/* The last reader's region goes on: two readers make a map (5.2). */
static void upgrade(struct fastrcd *f, struct rcd_variable *x, const struct region_access *now)
{
    struct overflow *map = overflow_room(f, x, 2);

    f->st.upgrades++;
    map->at[0] = (struct reader){.site = x->site[READS],
                                 .event = x->event[READS],
                                 .clock = x->clock[READS],
                                 .actor = x->actor[READS],
                                 .tid = x->tid[READS]};
    map->at[1] = reader_of(now);
    map->n = 2;
    rcd_map_new(f, map);
}

static void drop_map(struct fastrcd *f, struct rcd_variable *x)
{
    if (!map_of(x))
        return;
    rcd_map_drop(f, x->overflow);
    x->overflow->n = 0;
    x->overflow->block = (struct paddr){0};
    x->clock[READS] = 0;
}

static void drop_atomics(struct fastrcd *f, struct rcd_variable *x)
{
    if (!x->overflow)
        return;
    atomics_free(x->overflow->atomics, f->env->budget);
    x->overflow->atomics = NULL;
}

/* ---- Algorithms 1 and 2 --------------------------------------------------------------------- */

static bool same_region(struct fastrcd *f, struct rcd_variable *x, unsigned side,
                        const struct region_access *now)
{
    struct overflow *map = side == READS ? map_of(x) : NULL;
    const struct reader *r = map ? find_reader(map, now->actor) : NULL;
    const bool same = map ? r && r->clock == now->clock
                          : x->clock[side] == now->clock && x->actor[side] == now->actor;

    f->st.same_region += same;
    return same;
}

static bool read_variable(struct fastrcd *f, struct rcd_variable *x,
                          const struct region_access *now)
{
    bool racy = false;

    if (same_region(f, x, READS, now))
        return false;
    racy |= check_side(f, x, WRITES, now);
    racy |= check_atomics(f, x, now, false);
    if (!f->params.readers)
        return racy;
    if (map_of(x))
        put_reader(f, x, now);
    else if (rcd_ongoing(f, x, READS, now->actor))
        upgrade(f, x, now);
    else
        rcd_replace(x, READS, now);
    return racy;
}

static bool write_variable(struct fastrcd *f, struct rcd_variable *x,
                           const struct region_access *now)
{
    bool racy = false;

    if (same_region(f, x, WRITES, now))
        return false;
    racy |= check_side(f, x, WRITES, now);
    racy |= check_reads(f, x, now);
    racy |= check_atomics(f, x, now, true);
    rcd_replace(x, WRITES, now);
    drop_map(f, x);
    drop_atomics(f, x);
    x->clock[READS] = 0;
    return racy;
}

/* An atomic access conflicts with plain ones only. It does not replace the last reader or writer,
 * as that would forget a plain one. */
static bool atomic_variable(struct fastrcd *f, struct rcd_variable *x,
                            const struct region_access *now)
{
    bool racy = check_side(f, x, WRITES, now);

    racy |= event_writes(now->ev) && check_reads(f, x, now);
    struct overflow *b = overflow_room(f, x, 0);
    b->atomics = atomics_add(b->atomics, now, f->thread[now->actor].region, f->env->budget);
    return racy;
}

/* ---- an access ------------------------------------------------------------------------------ */

bool rcd_variable(struct fastrcd *f, struct rcd_variable *x, const struct region_access *now)
{
    const bool write = event_writes(now->ev), atomic = now->ev->flags & EVF_ORDER_MASK;

    if (!x->used)
        cells_begin_use(&f->variables);
    x->used = true;
    if (UNLIKELY(f->env->cost->on) && atomic)
        rcd_charge_atomic(f, x, now->addr, now->actor, write);
    else if (UNLIKELY(f->env->cost->on))
        (write ? rcd_charge_write : rcd_charge_read)(f, x, now->addr, now->actor);
    if (atomic)
        return atomic_variable(f, x, now);
    return (write ? write_variable : read_variable)(f, x, now);
}

/* ---- collections, clears, copies ------------------------------------------------------------ */

static uint32_t reset_clock(const struct fastrcd *f, uint32_t clock, uint32_t actor)
{
    return clock && ongoing(f, clock, actor);
}

void rcd_reset(struct fastrcd *f, struct rcd_variable *x)
{
    struct overflow *map = map_of(x);

    for (unsigned side = READS; side <= WRITES; side++)
        x->clock[side] = reset_clock(f, x->clock[side], x->actor[side]);
    for (uint32_t i = 0; map && i < map->n; i++)
        map->at[i].clock = reset_clock(f, map->at[i].clock, map->at[i].actor);
}

void rcd_drop_overflow(void *self, void *cell)
{
    struct fastrcd *f = self;
    struct rcd_variable *x = cell;

    drop_map(f, x);
    drop_atomics(f, x);
    if (x->overflow)
        budget_give(f->env->budget, overflow_bytes(x->overflow->cap));
    free(x->overflow);
    x->overflow = NULL;
}

void rcd_own_overflow(void *self, void *cell)
{
    struct fastrcd *f = self;
    struct rcd_variable *x = cell;
    const struct overflow *was = x->overflow;

    x->overflow = NULL;
    if (!was)
        return;
    struct overflow *b = overflow_room(f, x, was->n);
    b->atomics = atomics_copy(was->atomics, f->env->budget);
    b->n = was->n;
    memcpy(b->at, was->at, was->n * sizeof *b->at);
    if (b->n)
        rcd_map_copy(f, was, b);
}
