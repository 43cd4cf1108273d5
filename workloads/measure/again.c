/* again.c - which of a run's accesses repeat one of the same thread in the same
 * release-free region, which locations several threads access, and which are array elements. By the
 * events alone: no clocks, no policy, nothing that whoever made the events has said of them.
 *
 * A location is the start address of an access, for one life of its memory: a clear ends it, a copy
 * takes it along. For each one the regions are kept in which it was last written, and in which it
 * was read by threads that are still in that region. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shadow.h"
#include "workloads/measure/measure.h"

enum { INLINE = 2 }; /* readers that need no list */
struct uses {
    uint64_t wrote;        /* a region; 0: none */
    uint64_t read[INLINE]; /* regions; 0: none */
    struct readers *more;  /* owns; NULL: none */
    uint64_t accesses;
    sim_tid last; /* the thread that accessed it last */
    bool shared;  /* somebody else did, too */
};
/* The place of a region that is over is taken again, so a list is as long as the most readers that
 * a location had at once. */
struct readers {
    uint32_t n, cap;
    uint64_t region[];
};

struct again {
    struct shadow *at;
    uint64_t *region;    /* owns; by thread: the one that it is in */
    uint8_t *ended;      /* owns; by region, a bit: it is over */
    uint64_t last, room; /* the last region's number; the bytes of ended */
    struct again_count n;
};

struct again *again_new(unsigned granularity)
{
    struct again *p = xcalloc(1, sizeof *p);

    p->at = shadow_new(granularity, sizeof(struct uses), NULL);
    p->region = xcalloc(MAX_THREADS, sizeof *p->region);
    return p;
}

static bool drop(void *arg, sim_addr addr, void *cell)
{
    struct uses *x = cell;

    (void)arg;
    (void)addr;
    free(x->more);
    return true;
}

void again_free(struct again *p)
{
    if (!p)
        return;
    shadow_all(p->at, drop, NULL);
    shadow_free(p->at);
    free(p->region);
    free(p->ended);
    free(p);
}

const struct again_count *again_count(const struct again *p)
{
    return &p->n;
}

/* ---- regions: numbered from 1, each of one thread ------------------------------------------- */

static bool is_over(const struct again *p, uint64_t region)
{
    return p->ended[region / 8] >> region % 8 & 1;
}

static uint64_t region_of(struct again *p, sim_tid tid)
{
    if (p->region[tid])
        return p->region[tid];
    p->region[tid] = ++p->last;
    if (p->last / 8 >= p->room) {
        const uint64_t room = p->room ? 2 * p->room : 1024;
        p->ended = xrealloc(p->ended, room, 1);
        for (; p->room < room; p->room++)
            p->ended[p->room] = 0;
    }
    return p->last;
}

void again_release(struct again *p, sim_tid tid)
{
    const uint64_t region = p->region[tid];

    if (region)
        p->ended[region / 8] |= (uint8_t)(1u << region % 8);
    p->region[tid] = 0;
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Adds a reader, in the place of a region that is over if there is one. */
static void add_reader(struct again *p, struct uses *x, uint64_t region)
{
    struct readers *r = x->more;

    for (size_t i = 0; i < INLINE; i++)
        if (!x->read[i] || is_over(p, x->read[i])) {
            x->read[i] = region;
            return;
        }
    for (uint32_t i = 0; r && i < r->n; i++)
        if (is_over(p, r->region[i])) {
            r->region[i] = region;
            return;
        }
    if (!r || r->n == r->cap) {
        const uint32_t n = r ? r->n : 0, cap = n ? 2 * n : 4;
        x->more = r = xrealloc(r, 1, sizeof *r + cap * sizeof *r->region);
        r->n = n;
        r->cap = cap;
    }
    r->region[r->n++] = region;
}

static bool has_read(const struct uses *x, uint64_t region)
{
    for (size_t i = 0; i < INLINE; i++)
        if (x->read[i] == region)
            return true;
    for (uint32_t i = 0; x->more && i < x->more->n; i++)
        if (x->more->region[i] == region)
            return true;
    return false;
}

/* When a second thread comes, all accesses until then were to a shared location, too. */
static void sharing(struct again *p, struct uses *x, sim_tid tid)
{
    const bool foreign = x->accesses && x->last != tid;

    p->n.foreign += foreign;
    if (foreign && !x->shared) {
        x->shared = true;
        p->n.shared_locations++;
        p->n.shared += x->accesses;
    }
    p->n.shared += x->shared;
    x->accesses++;
    x->last = tid;
}

void again_access(struct again *p, const struct event *ev)
{
    const uint64_t region = region_of(p, ev->tid);
    struct uses *x = shadow_get(p->at, ev->addr);

    if (!x->accesses) {
        p->n.locations++;
        p->n.elements += (ev->flags & EVF_ARRAY) != 0;
    }
    sharing(p, x, ev->tid);
    if (event_writes(ev)) {
        p->n.writes++;
        p->n.writes_again += x->wrote == region;
        x->wrote = region;
        return;
    }
    p->n.reads++;
    if (has_read(x, region))
        p->n.reads_again++;
    else
        add_reader(p, x, region);
}

/* ---- clears and copies ---------------------------------------------------------------------- */

/* A snapshot has copied the cells, pointers and all: each copy gets a list of its own. */
static void own(void *arg, void *cell)
{
    struct uses *x = cell;
    const struct readers *was = x->more;

    (void)arg;
    if (!was)
        return;
    const size_t bytes = sizeof *was + was->cap * sizeof *was->region;
    x->more = xmalloc(bytes);
    memcpy(x->more, was, bytes);
}

void again_move(struct again *p, const struct event *ev)
{
    struct shadow_snapshot *s = NULL;

    /* A snapshot first, as the source may overlap the destination. */
    if (ev->kind == EV_COPY)
        s = shadow_take(p->at, ev[1].addr, ev->aux, own, NULL);
    shadow_each(p->at, ev->addr, ev->aux, drop, NULL);
    if (s)
        shadow_put(p->at, s, ev->addr);
}
