/* used.c - see used.h. What was accessed since it was last cleared has a history; memory without
 * one can be cleared, and copied to and from, without that mattering. */
#include "trace/lives/used.h"

#include <stdlib.h>

#include "base/mem.h"

enum { WORD = 8 }; /* the coarsest granule */
enum { USED = 0 }; /* the life that is used; those of the trace have numbers from 1 */

/* ---- lives ---------------------------------------------------------------------------------- */

/* Returns the number of the next life. The last number is shared by all further lives, and so is
 * used. */
static uint32_t next_life(const struct used_memory *u)
{
    return u->life + (u->life < UINT32_MAX);
}

static uint32_t begin_life(struct used_memory *u)
{
    u->life = next_life(u);
    while (u->known <= u->life) {
        u->with = budget_grow(u->budget, u->with, u->known, &u->cap, sizeof *u->with);
        u->with[u->known] = u->known < UINT32_MAX ? (uint32_t)u->known : USED;
        u->known++;
    }
    return u->life;
}

static uint32_t first_of(const struct used_memory *u, uint32_t life)
{
    for (; u->with[life] != life; life = u->with[life])
        u->with[life] = u->with[u->with[life]];
    return life;
}

static bool is_used(const struct used_memory *u, uint32_t life)
{
    return first_of(u, life) == USED;
}

static void use_with(struct used_memory *u, uint32_t life, uint32_t other)
{
    const uint32_t a = first_of(u, life), b = first_of(u, other);

    if (a < b)
        u->with[b] = a;
    else
        u->with[a] = b;
}

struct lived {
    uint64_t lo, last;
    uint32_t life;
};

/* The first stretch of lo..last that is in the map. */
static bool stretch_of(struct interval *map, uint64_t lo, uint64_t last, struct lived *to)
{
    const struct interval *i = interval_meeting(map, lo, last);

    if (i)
        *to = (struct lived){i->lo > lo ? i->lo : lo, i->last < last ? i->last : last, i->mark};
    return i;
}

static bool next_stretch(struct interval *map, uint64_t last, struct lived *at)
{
    return at->last < last && stretch_of(map, at->last + 1, last, at);
}

static void use_all_with(struct used_memory *u, uint64_t lo, uint64_t last, uint32_t life)
{
    struct lived p;

    for (bool some = stretch_of(u->lives, lo, last, &p); some;
         some = next_stretch(u->lives, last, &p))
        use_with(u, p.life, life);
}

static bool is_touched(const struct used_memory *u, uint64_t lo, uint64_t last)
{
    return interval_meeting(u->touched, lo, last);
}

/* ---- what each event does to lives, in both passes ------------------------------------------ */

/* Marks words as touched, as granules may be words. Lives in which something was touched are used
 * already. */
static void touch(struct used_memory *u, uint64_t addr, uint64_t bytes)
{
    const uint64_t lo = addr / WORD * WORD, last = (addr + (bytes - 1)) | (WORD - 1);
    const struct interval *was = interval_reaching(u->touched, lo);

    if (was && was->lo <= lo && was->last >= last)
        return;
    interval_add(u->budget, &u->touched, lo, last);
    use_all_with(u, lo, last, USED);
}

static void live(struct used_memory *u, uint64_t lo, uint64_t last)
{
    const uint32_t life = begin_life(u);

    if (is_touched(u, lo, last))
        use_with(u, life, USED);
    interval_mark(u->budget, &u->lives, lo, last, life);
}

/* Memory that nobody allocated, and that moves, is as good as touched. */
static void touch_unknown(struct used_memory *u, uint64_t lo, uint64_t last)
{
    struct lived p;

    while (stretch_of(u->lives, lo, last, &p)) {
        if (p.lo > lo)
            interval_add(u->budget, &u->touched, lo, p.lo - 1);
        if (p.last == last)
            return;
        lo = p.last + 1;
    }
    interval_add(u->budget, &u->touched, lo, last);
}

/* A copy has a number as lives have, and is used as all that it takes along. What comes where
 * something was touched ends that, and so is not left out. */
static void move(struct used_memory *u, uint64_t to, uint64_t from, uint64_t bytes)
{
    const uint64_t last = from + (bytes - 1);
    const uint32_t copy = begin_life(u);

    touch_unknown(u, from, last);
    if (is_touched(u, from, last) || is_touched(u, to, to + (bytes - 1)))
        use_with(u, copy, USED);
    use_all_with(u, from, last, copy);
    interval_move(u->budget, &u->lives, to, from, bytes);
    interval_move(u->budget, &u->touched, to, from, bytes);
}

void used_follow(struct used_memory *u, const struct event *ev)
{
    const uint8_t class = ev_info[ev->kind].class;

    if (class == CLASS_ACCESS || (class == CLASS_SYNC && event_has_address(ev))) {
        touch(u, ev->addr, event_is_access(ev) ? ev->size : 1);
    } else if (ev->kind == EV_ALLOC) {
        live(u, ev->addr, ev->addr + (ev->aux - 1));
    } else if (ev->kind == EV_COPY) {
        move(u, ev->addr, ev[1].addr, ev->aux);
    } else if (ev->kind == EV_CLEAR) {
        interval_remove(u->budget, &u->lives, ev->addr, ev->addr + (ev->aux - 1));
        interval_remove(u->budget, &u->touched, ev->addr, ev->addr + (ev->aux - 1));
    }
}

void used_again(struct used_memory *u)
{
    interval_free(u->budget, &u->lives);
    interval_free(u->budget, &u->touched);
    u->life = USED;
}

void used_free(struct used_memory *u)
{
    used_again(u);
    budget_give(u->budget, u->cap * sizeof *u->with);
    free(u->with);
    free(u->there);
}

/* ---- second pass: what is kept -------------------------------------------------------------- */

static int keep(struct used_memory *u, const struct event *ev, struct err *e)
{
    u->there[ev->tid] = true;
    return u->keep(u->arg, ev, e);
}

/* Keeps a join. A thread of which nothing else is left gets an event, as its join has to find
 * it. */
static int take_join(struct used_memory *u, const struct event *ev, struct err *e)
{
    const sim_tid tid = (sim_tid)ev->aux;

    if (!u->there[tid] && keep(u, &(struct event){.kind = EV_IO, .tid = tid}, e))
        return -1;
    return keep(u, ev, e);
}

static int take_alloc(struct used_memory *u, const struct event *ev, struct err *e)
{
    u->allocs.had++;
    if (!is_used(u, next_life(u)))
        return 0;
    u->allocs.kept++;
    return keep(u, ev, e);
}

static int clear(struct used_memory *u, const struct event *ev, const struct lived *p,
                 struct err *e)
{
    struct event part[EVENT_RECORDS] = {*ev};

    if (event_records(ev) > 1)
        part[1] = (struct event){.aux = ev[1].aux};
    if (ev->kind == EV_COPY)
        part->flags &= (uint16_t)~EVF_MORE;
    part->kind = EV_CLEAR;
    part->addr = p->lo;
    part->aux = p->last - p->lo + 1;
    u->clears.kept++;
    return keep(u, part, e);
}

/* Makes a clear of each run of bytes that is used, or was touched without a life. */
static int clear_used(struct used_memory *u, const struct event *ev, struct err *e)
{
    const uint64_t lo = ev->addr, last = lo + (ev->aux - 1);
    struct interval *run = NULL;
    struct lived p;
    int failed = 0;

    for (bool some = stretch_of(u->lives, lo, last, &p); some;
         some = next_stretch(u->lives, last, &p))
        if (is_used(u, p.life))
            interval_add(u->budget, &run, p.lo, p.last);
    for (bool some = stretch_of(u->touched, lo, last, &p); some;
         some = next_stretch(u->touched, last, &p))
        interval_add(u->budget, &run, p.lo, p.last);
    for (bool some = stretch_of(run, lo, last, &p); some && !failed;
         some = next_stretch(run, last, &p))
        failed = clear(u, ev, &p, e);
    interval_free(u->budget, &run);
    return failed;
}

static int take_clear(struct used_memory *u, const struct event *ev, struct err *e)
{
    u->clears.had++;
    return clear_used(u, ev, e);
}

/* A copy that is not used still ends the allocation at its destination. */
static int take_copy(struct used_memory *u, const struct event *ev, struct err *e)
{
    u->copies.had++;
    if (!is_used(u, next_life(u)))
        return clear_used(u, ev, e);
    u->copies.kept++;
    return keep(u, ev, e);
}

int used_take(struct used_memory *u, const struct event *ev, struct err *e)
{
    static int (*const take[EV_KINDS])(struct used_memory *, const struct event *,
                                       struct err *) = {[EV_ALLOC] = take_alloc,
                                                        [EV_CLEAR] = take_clear,
                                                        [EV_COPY] = take_copy,
                                                        [EV_JOIN] = take_join};

    if (!u->there)
        u->there = xcalloc(MAX_THREADS, sizeof *u->there);
    const int failed = (take[ev->kind] ? take[ev->kind] : keep)(u, ev, e);
    if (ev->kind == EV_FORK)
        u->there[ev->aux] = true;
    used_follow(u, ev);
    return failed;
}
