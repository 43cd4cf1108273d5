/* shadow.c - after each event of an execution without races, slimstate's partition with the
 * pending footprints laid over it is FastTrack's shadow, read epochs that equal the write epoch
 * left out.
 *
 * Reads that happen before another read of their location may be in the one and not in the other:
 * commits come in another order than accesses. So both are held to the definition: they have the
 * last write, all reads since it that happen before no other read, and no others than reads since
 * it. */
#include "tests/policy/slimstate/shadow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/slimstate/slimstate.h"
#include "tests/policy/slimstate/gen.h"
#include "tests/frame/watch.h"

enum { BYTES = SLIM_GEN_PLACES * SLIM_GEN_PLACE, READS_MOST = 4096 };

struct reads {
    struct seen_read {
        epoch at;
        bool over; /* it happens before another */
    } * at;        /* owns */
    size_t n, cap;
};
struct cell { /* what must be remembered */
    epoch write;
    struct reads reads;
};
struct both {
    struct watch slim, ft;
    unsigned granule;
    struct cell cell[BYTES];
};

/* ---- what must be --------------------------------------------------------------------------- */

static epoch epoch_of(const struct both *b, sim_tid tid)
{
    const uint32_t actor = checker_actor(b->ft.checker, tid);

    return epoch_make(actor, checker_time(b->ft.checker, actor));
}

static bool before(const struct both *b, epoch e, sim_tid tid)
{
    return epoch_time(e) <= checker_knows(b->ft.checker, tid, epoch_thread(e));
}

static void add_read(const struct both *b, struct reads *r, sim_tid tid)
{
    const epoch now = epoch_of(b, tid);

    for (size_t i = 0; i < r->n; i++)
        r->at[i].over = r->at[i].over || before(b, r->at[i].at, tid);
    r->at = xgrow(r->at, r->n, &r->cap, sizeof *r->at);
    r->at[r->n++] = (struct seen_read){.at = now};
}

static void note_access(struct both *b, const struct event *ev)
{
    const struct granules g = granules_of(ev, b->granule);

    for (sim_addr a = g.first;; a += g.step) {
        struct cell *c = &b->cell[a - SLIM_GEN_BASE];
        if (event_writes(ev)) {
            c->write = epoch_of(b, ev->tid);
            c->reads.n = 0;
        } else {
            add_read(b, &c->reads, ev->tid);
        }
        if (a == g.last)
            return;
    }
}

static void copy_cell(struct cell *to, const struct cell *from)
{
    to->write = from->write;
    to->reads.n = 0;
    for (size_t i = 0; i < from->reads.n; i++) {
        to->reads.at = xgrow(to->reads.at, to->reads.n, &to->reads.cap, sizeof *to->reads.at);
        to->reads.at[to->reads.n++] = from->reads.at[i];
    }
}

static void note_heap(struct both *b, const struct event *ev)
{
    static const struct cell empty = {0};
    struct cell *to = &b->cell[ev->addr - SLIM_GEN_BASE];

    if (ev->kind == EV_CLEAR)
        for (uint64_t i = 0; i < ev->aux; i++)
            copy_cell(&to[i], &empty);
    if (ev->kind != EV_COPY)
        return;
    const struct cell *from = &b->cell[ev[1].addr - SLIM_GEN_BASE];
    for (uint64_t i = 0; i < ev->aux; i++) {
        const uint64_t at = to < from ? i : ev->aux - 1 - i;
        copy_cell(&to[at], &from[at]);
    }
}

/* ---- what is -------------------------------------------------------------------------------- */

struct has { /* of a location */
    epoch write;
    epoch read[READS_MOST];
    size_t n;
};

static void take_variable(struct has *h, const struct ft_variable *x)
{
    h->write = x ? x->at[WRITES] : 0;
    h->n = 0;
    if (!x || !x->at[READS])
        return;
    if (!reads_shared(x))
        h->read[h->n++] = x->at[READS];
    for (uint32_t i = 0; reads_shared(x) && i < x->shared->n && h->n < READS_MOST; i++)
        h->read[h->n++] = x->shared->read[i].at;
}

static bool in_print(const struct slim_print *p, uint64_t i)
{
    return slim_print_next(p, i) == i;
}

/* Pending footprints over it. */
static void lay_over(const struct slim *s, const struct slim_array *a, uint64_t i, struct has *h)
{
    for (const struct slim_foot *f = a->feet; f; f = f->next)
        if (in_print(&f->side[WRITES], i)) {
            h->write = s->ft.env->hb->actor[f->actor].now;
            h->n = 0;
        }
    for (const struct slim_foot *f = a->feet; f; f = f->next)
        if (in_print(&f->side[READS], i) && h->n < READS_MOST)
            h->read[h->n++] = s->ft.env->hb->actor[f->actor].now;
}

static void look(const struct slim *s, sim_addr addr, struct has *h)
{
    const struct slim_array *a = s->windows ? slim_find(s, addr) : NULL;
    const uint64_t i = a ? slim_element(a, addr) : 0;

    if (!a || (s->ft.env->granule == GRANULE_FIELD && slim_addr(a, i) != addr)) {
        take_variable(h, cells_peek(&s->ft.variables, addr));
        return;
    }
    take_variable(h, slim_cell(a, slim_part_at(a, i)));
    lay_over(s, a, i, h);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static bool has_read(const struct has *h, epoch e)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->read[i] == e)
            return true;
    return false;
}

static bool is_right(const struct has *h, const struct cell *c)
{
    if (h->write != c->write)
        return false;
    for (size_t k = 0; k < c->reads.n; k++)
        if (!c->reads.at[k].over && c->reads.at[k].at != c->write &&
            !has_read(h, c->reads.at[k].at))
            return false;
    for (size_t i = 0; i < h->n; i++) {
        bool known = h->read[i] == c->write;
        for (size_t k = 0; k < c->reads.n && !known; k++)
            known = c->reads.at[k].at == h->read[i];
        if (!known)
            return false;
    }
    return true;
}

static const void *self_of(const struct watch *w)
{
    const void *self;

    checker_policy(w->checker, &self);
    return self;
}

static bool shadows_hold(struct both *b, uint64_t seed, uint64_t event, unsigned every)
{
    const struct fasttrack *f = self_of(&b->ft);
    const unsigned g = b->granule ? b->granule : 1;
    static const char *const who[] = {"fasttrack", "slimstate"};
    struct has *h = xmalloc(sizeof *h);

    for (sim_addr at = event % every * g; at < BYTES; at += (sim_addr)g * every)
        for (unsigned i = 0; i < 2; i++) {
            if (i)
                look(self_of(&b->slim), SLIM_GEN_BASE + at, h);
            else
                take_variable(h, cells_peek(&f->variables, SLIM_GEN_BASE + at));
            if (!is_right(h, &b->cell[at])) {
                printf("seed %" PRIu64 " FAILED: after event %" PRIu64
                       " the shadow of %s at 0x%" PRIx64 " is not what was accessed\n",
                       seed, event, who[i], SLIM_GEN_BASE + at);
                free(h);
                return false;
            }
        }
    free(h);
    return true;
}

static void step(struct watch *w, const struct event *ev)
{
    const struct event *end = ev + event_records(ev);

    checker_run(w->checker, ev, end, end, &w->number);
}

static bool run_both(struct both *b, const struct stream *s, uint64_t seed, uint64_t races_at)
{
    uint64_t e = 0;
    bool holds = true;

    for (size_t i = 0; i < s->records && e < races_at && holds;
         i += event_records(&s->rec[i]), e++) {
        const struct event *ev = &s->rec[i];
        step(&b->slim, ev);
        step(&b->ft, ev);
        if (event_is_access(ev))
            note_access(b, ev);
        note_heap(b, ev);
        holds = b->slim.conflicts == 0 && shadows_hold(b, seed, e, event_is_access(ev) ? 64 : 1);
    }
    return holds;
}

/* The first racy event. */
static uint64_t first_race(const struct stream *s, unsigned granule)
{
    const struct oracle_options o = {false, granule, 0};
    struct oracle *judged = oracle_new(s->rec, s->records, &o);
    uint64_t e = 0;

    while (judged && e < s->events && !oracle_racy(judged, e))
        e++;
    oracle_free(judged);
    return e;
}

bool slim_shadow_holds(uint64_t seed)
{
    static const unsigned granule[] = {0, 1, 2, 4, 8};
    static const char *const some[][4] = {{"small=16"},
                                          {"small=1"},
                                          {"small=1", "buffer=1"},
                                          {"small=1", "partitions=sets"},
                                          {"small=1", "footprints=sets"}};
    struct both *b = xcalloc(1, sizeof *b);
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;

    rng_seed(&r, seed ^ 0x5eed);
    b->granule = granule[rng_below(&r, ARRAY_SIZE(granule))];
    const struct slim_gen_options o = {.granule = b->granule,
                                       .plain = true,
                                       .events = 60 + rng_below(&r, 300),
                                       .protect = 1000,
                                       .elements = 12 * (1 + rng_below(&r, 4))};
    slim_gen(&r, &o, &s);
    watch_open(&b->slim, "slimstate", b->granule, some[rng_below(&r, ARRAY_SIZE(some))]);
    watch_open(&b->ft, "fasttrack", b->granule, (const char *const[]){NULL});
    const bool holds = run_both(b, &s, seed, first_race(&s, b->granule));
    watch_close(&b->slim);
    watch_close(&b->ft);
    stream_free(&s);
    for (size_t i = 0; i < BYTES; i++)
        free(b->cell[i].reads.at);
    free(b);
    return holds;
}
