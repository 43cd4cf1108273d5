/* measure.c - counts what characterises a run of a workload, from its events. again.c finds the
 * accesses that repeat, misses.c those that miss in caches; races are found behind
 * sim/lardsim.h. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/trace.h"
#include "workloads/measure/measure.h"
#include "sim/lardsim.h"

const struct trait_info trait_info[TRAIT_COUNT] = {
#define X(id, name, unit, help) [TRAIT_##id] = {name, unit, help},
    TRAITS(X)
#undef X
};

enum life { UNSEEN, LIVE, ENDED };

/* Counters of one walk over the events. A source without a region of interest is one, whole. */
struct census {
    uint64_t n[TRAIT_COUNT]; /* by trait, of those that are counted */
    uint64_t system, arrays, program, live;
    uint64_t statics, volatiles; /* reads; writes */
    uint64_t work;               /* instructions of the program */
    bool marked, inside;         /* there is a region of interest; and this is it. In it: */
    uint64_t bytes, accesses, instructions;
    uint8_t *life;     /* owns; by thread: enum life */
    struct map object; /* its address -> 2 x bytes, and 1 if it was there at the last collection */
    uint64_t young, newborn,
        survived; /* bytes: since that, allocated; before it, since the one before; of them */
    struct again *again;
    struct misses *misses;
};

/* ---- threads -------------------------------------------------------------------------------- */

/* A thread lives from the first thing that it does for the program. A collector has events of the
 * system only, and on which kernel thread it runs: it is none of the program's threads. */
static void begin(struct census *c, const struct event *ev)
{
    if (c->life[ev->tid] != UNSEEN || ev->flags & EVF_SYSTEM || ev->kind == EV_THREAD)
        return;
    c->life[ev->tid] = LIVE;
    c->n[TRAIT_THREADS]++;
    c->live++;
    if (c->live > c->n[TRAIT_LIVE])
        c->n[TRAIT_LIVE] = c->live;
}

/* A join ends a thread whose end was not recorded. */
static void end(struct census *c, uint64_t tid)
{
    if (tid >= MAX_THREADS || c->life[tid] != LIVE)
        return;
    c->life[tid] = ENDED;
    c->live--;
}

/* ---- events --------------------------------------------------------------------------------- */

static void release(struct census *c, sim_tid tid)
{
    c->n[TRAIT_RELEASES]++;
    again_release(c->again, tid);
}

static void count_access(struct census *c, const struct event *ev)
{
    c->n[TRAIT_ACCESSES]++;
    misses_access(c->misses, ev, c->inside && c->life[ev->tid] == LIVE);
    if (event_tracked(ev)) {
        c->n[TRAIT_CHECKED]++;
        again_access(c->again, ev);
    }
    if (ev->flags & EVF_SYSTEM) {
        c->system++;
        return;
    }
    c->program++;
    c->accesses += c->inside;
    c->arrays += (ev->flags & EVF_ARRAY) != 0;
    c->statics += ev->flags & EVF_STATIC && ev->kind == EV_READ;
    c->n[ev->kind == EV_READ ? TRAIT_READS : ev->kind == EV_WRITE ? TRAIT_WRITES : TRAIT_ATOMICS]++;
    if (order_gives(event_order(ev)))
        release(c, ev->tid);
}

static void count_sync(struct census *c, const struct event *ev)
{
    c->n[TRAIT_SYNCS]++;
    c->n[TRAIT_LOCKS] +=
        (ev->kind == EV_ACQUIRE || ev->kind == EV_ACQUIRE_SHARED) && !(ev->flags & EVF_SYSTEM);
    if (ev_info[ev->kind].gives && !(ev->flags & EVF_SYSTEM)) {
        release(c, ev->tid);
        c->volatiles += ev->kind == EV_VOLATILE_WRITE;
    }
    if (ev->kind == EV_THREAD_END)
        end(c, ev->tid);
    if (ev->kind == EV_JOIN)
        end(c, ev->aux);
}

/* ---- what survives -------------------------------------------------------------------------- */

/* Forgets objects that begin in the region. One large region takes no longer than many small
 * ones. */
static void forget(struct map *objects, uint64_t from, uint64_t bytes)
{
    uint64_t key, *value, *dead = NULL;
    size_t n = 0, cap = 0;

    if (bytes / 8 < objects->n) {
        for (uint64_t at = (from + 7) / 8 * 8; at < from + bytes; at += 8)
            map_remove(objects, at);
        return;
    }
    for (size_t at = 0; map_next(objects, &at, &key, &value);)
        if (key - from < bytes) {
            dead = xgrow(dead, n, &cap, sizeof *dead);
            dead[n++] = key;
        }
    for (size_t i = 0; i < n; i++)
        map_remove(objects, dead[i]);
    free(dead);
}

/* Follows an object that moves: it is the same one. */
static void carry(struct map *objects, const struct event *ev)
{
    const uint64_t *was = map_find(objects, ev[1].addr);
    const uint64_t is = was ? *was : 0;

    map_remove(objects, ev[1].addr);
    if (is)
        *map_put(objects, ev->addr) = is;
}

static void count_survivors(struct census *c)
{
    uint64_t key, *value;

    for (size_t at = 0; map_next(&c->object, &at, &key, &value);) {
        c->survived += *value & 1 ? 0 : *value / 2;
        *value |= 1;
    }
    c->newborn += c->young;
    c->young = 0;
}

static void count_lives(struct census *c, const struct event *ev)
{
    if (ev->kind == EV_ALLOC) {
        c->young += ev->aux;
        *map_put(&c->object, ev->addr) = 2 * ev->aux;
    } else if (ev->kind == EV_CLEAR) {
        forget(&c->object, ev->addr, ev->aux);
    } else if (ev->kind == EV_COPY) {
        carry(&c->object, ev);
    } else if (ev->kind == EV_GC_END) {
        count_survivors(c);
    }
}

static void count_heap(struct census *c, const struct event *ev)
{
    count_lives(c, ev);
    c->n[TRAIT_HEAP]++;
    c->n[TRAIT_ALLOCS] += ev->kind == EV_ALLOC;
    c->n[TRAIT_ALLOCATED] += ev->kind == EV_ALLOC ? ev->aux : 0;
    c->bytes += ev->kind == EV_ALLOC && c->inside ? ev->aux : 0;
    c->n[TRAIT_CLEARS] += ev->kind == EV_CLEAR;
    c->n[TRAIT_COPIES] += ev->kind == EV_COPY;
    c->n[TRAIT_COLLECTIONS] += ev->kind == EV_GC_BEGIN;
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        again_move(c->again, ev);
}

/* Events before the first region of interest turn out to be in none, so their counts are
 * forgotten. */
static void count_region(struct census *c, const struct event *ev)
{
    if (ev->kind == EV_ROI_BEGIN && !c->marked) {
        c->marked = true;
        c->bytes = c->accesses = c->instructions = 0;
        misses_forget(c->misses);
    }
    c->inside = ev->kind == EV_ROI_BEGIN;
}

static int count(void *arg, const struct event *ev, uint64_t number, struct err *e)
{
    struct census *c = arg;
    const unsigned class = ev_info[ev->kind].class;

    (void)number;
    (void)e;
    c->n[TRAIT_EVENTS]++;
    const uint64_t work = ev->flags & EVF_SYSTEM ? 0 : (uint64_t)ev->gap + 1;
    c->work += work;
    c->instructions += c->inside ? work : 0;
    begin(c, ev);
    if (event_is_region(ev))
        count_region(c, ev);
    if (class == CLASS_ACCESS)
        count_access(c, ev);
    else if (class == CLASS_SYNC)
        count_sync(c, ev);
    else if (class == CLASS_HEAP)
        count_heap(c, ev);
    return WALK_ON;
}

/* ---- what becomes of it --------------------------------------------------------------------- */

/* Shares are kept as two numbers, so that nothing is rounded before it is printed. */
static void conclude(const struct census *c, struct measure to[TRAIT_COUNT])
{
    const struct again_count *p = again_count(c->again);
    const struct misses_count *m = misses_count(c->misses);

    for (size_t i = 0; i < TRAIT_COUNT; i++)
        to[i] = (struct measure){c->n[i], 1};
    to[TRAIT_READ_WRITE] = (struct measure){c->n[TRAIT_READS], c->n[TRAIT_WRITES]};
    to[TRAIT_SYSTEM] = (struct measure){100 * c->system, c->n[TRAIT_ACCESSES]};
    to[TRAIT_ARRAYS] = (struct measure){100 * c->arrays, c->program};
    to[TRAIT_STATIC_READS] = (struct measure){1000 * c->statics, c->n[TRAIT_READS]};
    to[TRAIT_VOLATILES] = (struct measure){100 * c->volatiles, c->n[TRAIT_RELEASES]};
    to[TRAIT_WORK] = (struct measure){c->work, c->n[TRAIT_CHECKED]};
    to[TRAIT_ALLOC_RATE] = (struct measure){1000 * c->bytes, c->accesses};
    to[TRAIT_FIRST_MISSES] = (struct measure){1000 * m->first, c->instructions};
    to[TRAIT_LAST_MISSES] = (struct measure){1000 * m->last, c->instructions};
    to[TRAIT_REGION] = (struct measure){c->n[TRAIT_CHECKED], c->n[TRAIT_RELEASES]};
    to[TRAIT_UNCHANGED] =
        (struct measure){100 * (p->reads_again + p->writes_again), p->reads + p->writes};
    to[TRAIT_UNCHANGED_READS] = (struct measure){100 * p->reads_again, p->reads};
    to[TRAIT_UNCHANGED_WRITES] = (struct measure){100 * p->writes_again, p->writes};
    to[TRAIT_LOCATIONS] = (struct measure){p->locations, 1};
    to[TRAIT_SHARED_LOCATIONS] = (struct measure){100 * p->shared_locations, p->locations};
    to[TRAIT_SHARED] = (struct measure){100 * p->shared, p->reads + p->writes};
    to[TRAIT_FOREIGN] = (struct measure){100 * p->foreign, p->reads + p->writes};
    to[TRAIT_LOCK_RATE] = (struct measure){1000 * c->n[TRAIT_LOCKS], c->n[TRAIT_CHECKED]};
    to[TRAIT_SURVIVAL] = (struct measure){100 * c->survived, c->newborn};
    to[TRAIT_ARRAY_LOCATIONS] = (struct measure){100 * p->elements, p->locations};
}

static int take_census(const char *source, struct measure to[TRAIT_COUNT], struct err *e)
{
    struct source *s = source_open(source, e);

    if (!s)
        return -1;
    struct census c = {.life = xcalloc(MAX_THREADS, 1),
                       .inside = true,
                       .again = again_new(s->granularity ? s->granularity : 1),
                       .misses = misses_new()};
    map_init(&c.object, NULL);
    const int failed = source_walk(s, count, &c, e);
    if (!failed)
        conclude(&c, to);
    source_close(s);
    again_free(c.again);
    misses_free(c.misses);
    map_free(&c.object);
    free(c.life);
    return failed;
}

static uint64_t stat_of(const struct lardsim *l, const char *name)
{
    uint64_t v;

    return lardsim_stat(l, name, &v) ? 0 : v;
}

/* Makes a second run: events are counted in the first, races and compressed arrays (SlimState) by
 * the policies in this one. */
static int ask_policies(const char *source, struct measure to[TRAIT_COUNT], struct err *e)
{
    struct lardsim *l = lardsim_new();

    /* The granularity is a field, so that an access is one granule. */
    if (!lardsim_set(l, "policies=fasttrack,slimstate") && !lardsim_set(l, "granularity=field") &&
        !lardsim_start(l) && !lardsim_run(l, source) && !lardsim_finish(l)) {
        to[TRAIT_RACY] = (struct measure){stat_of(l, "policy.fasttrack.races.accesses"), 1};
        to[TRAIT_RACE_SITES] = (struct measure){stat_of(l, "policy.fasttrack.races.sites"), 1};
        to[TRAIT_RACE_PAIRS] = (struct measure){stat_of(l, "policy.fasttrack.races.pairs"), 1};
        to[TRAIT_SHADOWS] = (struct measure){stat_of(l, "policy.slimstate.arrays.fraction.num"),
                                             stat_of(l, "policy.slimstate.arrays.fraction.den")};
    }
    if (lardsim_error(l))
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s", lardsim_error(l));
    lardsim_free(l);
    return e->code ? -1 : 0;
}

int source_measure(const char *source, struct measure to[TRAIT_COUNT], struct err *e)
{
    return take_census(source, to, e) || ask_policies(source, to, e) ? -1 : 0;
}
