/* plant.c - the races that are put into a twin: where they are, when they happen, between
 * whom. Not how many a policy finds. */
#include <assert.h>
#include <inttypes.h>

#include "workloads/twins/twin.h"

enum { BURSTS = 16, BURST_MAX = 256 }; /* at the least, where there are races enough; cells */
enum { HEAP_BYTES = 16384 };           /* an array so large needs the heap's lock */

enum state { APART, MET, ACCESSED, DONE };
enum { HIDDEN = 1, MOVED = 2, CLOSE = 4 };

struct twin_burst {
    struct vm_ref *cells;
    enum state state;
    unsigned kind; /* HIDDEN: the heap's lock between the accesses; MOVED: a collection,
                      too; CLOSE: no release of the first thread */
    uint64_t plant, of,
        n; /* the n cells are of plants plant, plant + 1, ... of `of` from base on */
    uint64_t base;
};

/* ---- what there is to do -------------------------------------------------------------------- */

/* Races of one kind, on `of` plants from base on, in turn, cut into bursts; `before`: how many
 * there were of other kinds. */
static void cut(struct twin_plants *s, uint64_t races, unsigned kind, uint64_t before,
                uint64_t base, uint64_t of)
{
    uint64_t step = twin_races(s->p) / BURSTS;

    step = step < 1 ? 1 : step > BURST_MAX ? BURST_MAX : step;
    for (uint64_t done = 0; done < races && of; done += step) {
        const uint64_t n = races - done < step ? races - done : step;
        s->burst[s->n++] = (struct twin_burst){
            .kind = kind, .plant = (before + done) % of, .of = of, .n = n, .base = base};
    }
}

/* Mixes the kinds of bursts, by a seed that is always the same. */
static void shuffle(struct twin_plants *s)
{
    struct rng r;

    rng_seed(&r, s->n);
    for (unsigned i = s->n; i > 1; i--) {
        const unsigned other = (unsigned)rng_below(&r, i);
        const struct twin_burst b = s->burst[i - 1];
        s->burst[i - 1] = s->burst[other];
        s->burst[other] = b;
    }
}

static void plan(struct twin_plants *s)
{
    const struct twin_params *p = s->p;
    const uint64_t close = p->close < p->plants ? p->close : p->plants;
    const uint64_t open = twin_races(p) - p->hidden, near = open * close / p->plants;

    cut(s, p->moved, HIDDEN | MOVED | CLOSE, 0, 0, p->plants);
    cut(s, p->hidden - p->moved, HIDDEN | CLOSE, p->moved, 0, p->plants);
    cut(s, near, CLOSE, p->hidden, 0, close);
    cut(s, open - near, 0, p->hidden, close, p->plants - close);
    shuffle(s);
}

void twin_plants_init(struct vm_thread *t, struct twin_plants *s, const struct twin_params *p,
                      unsigned members)
{
    *s = (struct twin_plants){.p = p, .members = members};
    for (uint64_t i = 0; i < p->plants; i++) {
        char text[40];
        snprintf(text, sizeof text, "Planted.first:%" PRIu64, i + 1);
        s->first[i] = vm_site(t, text);
        snprintf(text, sizeof text, "Planted.second:%" PRIu64, i + 1);
        s->second[i] = vm_site(t, text);
    }
    if (members < 2 || !p->plants)
        return;
    s->burst = vm_scratch(t, twin_races(p) + 1, sizeof *s->burst);
    plan(s);
    for (unsigned i = 0; i < s->n; i++)
        s->burst[i].cells = vm_global(t);
}

unsigned twin_burst_next(const struct twin_plants *s, unsigned member, unsigned from)
{
    for (; from < s->n; from++)
        if (from % s->members == member || (from + 1) % s->members == member)
            return from;
    return s->n;
}

/* ---- doing it ------------------------------------------------------------------------------- */

/* Waits without an event, as it must order nothing. */
static void await(struct vm_thread *t, const struct twin_burst *b, enum state until)
{
    while (b->state < until)
        vm_yield(t);
}

/* The heap's lock is the system's: an order for who heeds system synchronisation. */
static void pass_heap_lock(struct vm_thread *t)
{
    struct vm_ref *r = vm_enter(t, 1);
    const uint64_t tlab = vm_params(t)->tlab;

    vm_new_array(t, r, VM_I8, tlab > HEAP_BYTES ? tlab : HEAP_BYTES, VM_SITE_NONE);
    vm_leave(t, r);
}

static struct twin_tally touch(struct vm_thread *t, const struct twin_plants *s,
                               struct twin_burst *b, bool second)
{
    struct twin_tally n = {0, 0, false};
    const bool narrow = twin_narrow(t);

    for (uint64_t i = 0; i < b->n; i++) {
        const uint64_t plant = b->base + (b->plant + i) % b->of;
        const uint64_t site = second ? s->second[plant] : s->first[plant];
        const bool writes = plant % 3 != (second ? 1 : 2); /* never are both reads */
        if (writes)
            twin_put(t, b->cells, true, narrow, (uint32_t)i, (int64_t)plant, site);
        else if (twin_get(t, b->cells, true, narrow, (uint32_t)i, site) !=
                 (second ? (int64_t)plant : 0))
            vm_fail(t, "twin: a planted cell has lost its value");
        n.writes += writes;
        n.reads += !writes;
    }
    return n;
}

/* The first side of a burst. Nothing orders it before the second, unless the kind says so: what
 * looks like order to some detectors is what hides a race from them. */
static struct twin_tally run_first(struct vm_thread *t, struct twin_plants *s, struct twin_burst *b)
{
    vm_new_array(t, b->cells, twin_narrow(t) ? VM_I32 : VM_I64, b->n, VM_SITE_NONE);
    await(t, b, MET);
    struct twin_tally n = touch(t, s, b, false);
    if (b->kind & HIDDEN)
        pass_heap_lock(t);
    if (!(b->kind & CLOSE)) {
        vm_lock(t, b->cells, VM_SITE_NONE);
        vm_unlock(t, b->cells, VM_SITE_NONE);
        n.released = true;
    }
    b->state = ACCESSED;
    await(t, b, DONE);
    return n;
}

/* Runs the second side. With MOVED the cells have other addresses by now: a detector that does not
 * follow copies has lost the first side. */
static struct twin_tally run_second(struct vm_thread *t, struct twin_plants *s,
                                    struct twin_burst *b)
{
    b->state = MET;
    await(t, b, ACCESSED);
    if (b->kind & HIDDEN)
        pass_heap_lock(t);
    if (b->kind & MOVED)
        vm_collect(t);
    const struct twin_tally n = touch(t, s, b, true);
    vm_set_null(b->cells);
    b->state = DONE;
    return n;
}

struct twin_tally twin_burst_run(struct vm_thread *t, struct twin_plants *s, unsigned member,
                                 unsigned burst)
{
    struct twin_burst *b = &s->burst[burst];

    return burst % s->members == member ? run_first(t, s, b) : run_second(t, s, b);
}
