/* t_why.c - does `why` say what the execution says? On random traces, in all views, for accesses
 * that race and for others:
 *   - it says of an access that it races where the oracle has a pair, and names such a pair;
 *   - the edge that it calls missing, put into the trace, orders the two: the pair is gone;
 *   - where it says that the two are ordered, each edge of its chain is there, one after the other,
 *     from the earlier access to the later, and joins two events that give and take;
 *   - asked in a view and in the view tracked at once, each answer is one of its own view;
 *   - an access that a policy reports, and that races with a later one alone, is said to race.
 * The oracle knows no clocks (tests/oracle/oracle.h). [FIRST-SEED [SEEDS]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/why/why_int.h"
#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/oracle.h"

enum { SEEDS = 120, ASKED = 12 };
#define ELSEWHERE (UINT64_C(0x7777) << 32) /* where no trace has anything */

/* ---- a stream as a source ------------------------------------------------------------------- */

struct stream_source {
    struct source base;
    const struct stream *s;
    bool over;
};

static int stream_next(struct source *base, struct batch *b, struct err *e)
{
    struct stream_source *s = (struct stream_source *)base;

    (void)e;
    if (!s->over) {
        b->rec = s->s->rec;
        b->records = s->s->records;
    }
    s->over = true;
    return 0;
}

static void stream_close(struct source *base)
{
    names_free((struct names *)base->names);
    free(base);
}

static struct lardsim_source *stream_open(void *arg, struct err *e)
{
    struct stream_source *s = xcalloc(1, sizeof *s);

    (void)e;
    s->base = (struct source){
        .next = stream_next, .close = stream_close, .names = names_new(), .name = "the stream"};
    s->s = arg;
    return sim_adopt(&s->base);
}

/* ---- a question and its answer -------------------------------------------------------------- */

struct question {
    struct stream *s;
    const struct event **ev; /* by number */
    const struct verdict_view *view;
    unsigned granule;
    struct oracle *oracle, *tracked; /* in this view, and in the view tracked */
    size_t event;
    const struct event *access;
};

struct sums {
    uint64_t races, orders, edges, alone, late;
};

static bool wrong(const struct question *q, const char *fmt, ...) PRINTF_LIKE(2, 3);
static bool wrong(const struct question *q, const char *fmt, ...)
{
    va_list ap;

    printf("FAILED: event %zu, view %s, granularity %u: ", q->event, q->view->name, q->granule);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    stream_print(q->s, NULL, stdout);
    return false;
}

static bool is_pair(const struct oracle *o, size_t event, size_t earlier)
{
    const struct oracle_pair *pair;
    const size_t n = oracle_pairs(o, event, &pair);

    for (size_t i = 0; i < n; i++)
        if (pair[i].earlier == earlier)
            return true;
    return false;
}

/* ---- the missing edge ----------------------------------------------------------------------- */

/* A message from the thread of event `from`, sent right after it, to that of event `to`, which
 * takes it right before. */
static struct stream with_edge(const struct question *q, size_t from)
{
    struct stream more = {NULL, 0, 0, 0};

    for (size_t i = 0; i < q->s->events; i++) {
        const struct event read = {
            .kind = EV_VOLATILE_READ, .tid = q->ev[q->event]->tid, .addr = ELSEWHERE};
        const struct event write = {
            .kind = EV_VOLATILE_WRITE, .tid = q->ev[from]->tid, .addr = ELSEWHERE};
        if (i == q->event)
            stream_add(&more, &read);
        stream_add(&more, q->ev[i]);
        if (i == from)
            stream_add(&more, &write);
    }
    return more;
}

static bool edge_orders(const struct question *q, const struct lardsim_why *w)
{
    struct stream more = with_edge(q, w->missing.number);
    const struct oracle_options as = {true, q->granule, q->view->bits};
    struct oracle *o = oracle_new(more.rec, more.records, &as);
    const size_t earlier = w->earlier.line.number + (w->earlier.line.number > w->missing.number);
    const bool gone = o && !is_pair(o, q->event + 2, earlier);

    oracle_free(o);
    stream_free(&more);
    return gone ||
           wrong(q, "the edge from event %" PRIu64 " does not order it after event %" PRIu64,
                 w->missing.number, w->earlier.line.number);
}

static bool race_holds(const struct question *q, const struct lardsim_why *w)
{
    if (w->verdict != LARDSIM_WHY_RACES)
        return wrong(q, "it races, and why has verdict %d", (int)w->verdict);
    if (!is_pair(q->oracle, q->event, w->earlier.line.number))
        return wrong(q, "it does not race with event %" PRIu64, w->earlier.line.number);
    if (w->had >= w->needed)
        return wrong(q, "it races, and its clock has %" PRIu64 " of %" PRIu64, w->had, w->needed);
    return q->view->bits & ORACLE_NO_THREAD || edge_orders(q, w);
}

/* ---- the chain ------------------------------------------------------------------------------ */

/* The event gives something that the other takes: by their kinds alone, and by whom they name. */
static bool gives_to(const struct event *from, const struct event *to, bool first)
{
    const struct ev_info *f = &ev_info[from->kind], *t = &ev_info[to->kind];

    if (from->kind == EV_FORK)
        return (first && from->aux == to->tid) || (to->kind == EV_JOIN && to->aux == from->aux);
    if (to->kind == EV_JOIN) /* from its end, or from what it did last */
        return to->aux == from->tid;
    return f->object == t->object && f->gives && t->takes;
}

static bool chain_holds(const struct question *q, const struct lardsim_why *w)
{
    size_t at = w->earlier.line.number;
    const bool by_kernel = q->view->bits & ORACLE_NO_THREAD;

    if (!w->chains)
        return wrong(q, "it is said to be ordered after event %zu, by no edge", at);
    for (size_t i = 0; i < w->chains; i++) {
        const struct lardsim_why_edge *e = &w->chain[i];
        const size_t from = e->from.number, to = e->to.number;
        bool first = true;
        for (size_t k = 0; k < to && first; k++)
            first = q->ev[k]->tid != q->ev[to]->tid;
        if (e->unknown)
            return wrong(q, "where event %zu got its clock from is not known", to);
        if (!oracle_before(q->oracle, at, from) || !oracle_before(q->oracle, from, to))
            return wrong(q, "events %zu, %zu and %zu are not ordered like that", at, from, to);
        if (!by_kernel && q->ev[from]->tid != q->ev[at]->tid)
            return wrong(q, "from event %zu to %zu the chain changes its thread", at, from);
        if (q->ev[to]->kind != EV_WRITEVC && !gives_to(q->ev[from], q->ev[to], first))
            return wrong(q, "event %zu gives nothing that event %zu takes", from, to);
        at = to;
    }
    if (!oracle_before(q->oracle, at, q->event))
        return wrong(q, "the chain ends at event %zu, which is not before it", at);
    return true;
}

static bool order_holds(const struct question *q, const struct lardsim_why *w, struct sums *sums)
{
    if (w->verdict == LARDSIM_WHY_RACES)
        return wrong(q, "it is said to race with event %" PRIu64 ", and does not race",
                     w->earlier.line.number);
    sums->alone += w->verdict == LARDSIM_WHY_ALONE;
    if (w->verdict != LARDSIM_WHY_IS_ORDERED)
        return true;
    sums->orders++;
    sums->edges += w->chains;
    return chain_holds(q, w);
}

/* ---- both views at once --------------------------------------------------------------------- */

/* The oracle remembers of each thread the last accesses alone: an older one races as that does. By
 * kernel threads that may be another thread's. */
static bool may_race(const struct question *q, size_t event, size_t earlier)
{
    const struct oracle_pair *pair;
    const size_t n = oracle_pairs(q->oracle, event, &pair);
    const bool by_kernel = q->view->bits & ORACLE_NO_THREAD;

    for (size_t i = 0; i < n; i++)
        if (pair[i].earlier == earlier ||
            (pair[i].earlier > earlier && !oracle_before(q->oracle, earlier, event) &&
             (by_kernel || q->ev[pair[i].earlier]->tid == q->ev[earlier]->tid)))
            return true;
    return false;
}

/* The first event that races with this one as the earlier side; 0: none does. */
static size_t later_side(const struct oracle *o, size_t event)
{
    for (size_t i = event + 1; i < oracle_events(o); i++)
        if (oracle_racy(o, i) && is_pair(o, i, event))
            return i;
    return 0;
}

/* An answer to a question about q->event, whichever side of the pair that is. */
static bool stands(struct question q, const struct lardsim_why *w)
{
    const size_t later = w->later.line.number, earlier = w->earlier.line.number;
    struct sums unused = {0};

    if (w->verdict == LARDSIM_WHY_RACES && later != q.event && earlier != q.event)
        return wrong(&q, "the race is said to be of events %zu and %zu", earlier, later);
    if (w->verdict == LARDSIM_WHY_RACES)
        return may_race(&q, later, earlier) ||
               wrong(&q, "event %zu is said to race with event %zu", later, earlier);
    q.event = later;
    return w->verdict != LARDSIM_WHY_IS_ORDERED || order_holds(&q, w, &unused);
}

/* A race of this view is held against the same pair in the view tracked, and any other event
 * against all that race with it there. */
static bool truth_holds(const struct question *q, const struct lardsim_why_both *both)
{
    const struct lardsim_why *w = both->why, *t = both->truth;
    struct question of = *q;
    bool races = oracle_racy(q->tracked, q->event);

    of.view = &verdict_view[0];
    of.oracle = q->tracked;
    if (!stands(of, t))
        return false;
    if (w->verdict == LARDSIM_WHY_RACES && q->access->flags & EVF_IN_TXN)
        return true; /* the pair may be of other accesses of the commits */
    if (w->verdict == LARDSIM_WHY_RACES)
        races = is_pair(q->tracked, w->later.line.number, w->earlier.line.number);
    if (races && t->verdict != LARDSIM_WHY_RACES)
        return wrong(&of, "asked in the view %s too, it is said not to race", q->view->name);
    if (w->verdict == LARDSIM_WHY_RACES && t->verdict == LARDSIM_WHY_ALONE)
        return wrong(&of, "the pair of the view %s is not looked at", q->view->name);
    return true;
}

static bool both_hold(const struct question *q, bool reported, struct sums *sums)
{
    char granule[12];
    struct err e = {0, ""};
    struct lardsim_why_both both;
    const size_t late =
        reported && !oracle_racy(q->oracle, q->event) ? later_side(q->oracle, q->event) : 0;
    const bool races = late || oracle_racy(q->oracle, q->event);

    snprintf(granule, sizeof granule, "%u", q->granule);
    const struct lardsim_why_ask ask = {.open = stream_open,
                                        .arg = q->s,
                                        .view = q->view->name,
                                        .granule = granule,
                                        .event = q->event,
                                        .reported = reported};
    if (lardsim_why(&ask, &both, &e))
        return wrong(q, "%s", e.text);
    bool holds = stands(*q, both.why);
    if (holds && races != (both.why->verdict == LARDSIM_WHY_RACES) && (races || !reported))
        holds = wrong(q, "it %s, and why has verdict %d",
                      late    ? "races with a later one"
                      : races ? "races"
                              : "does not race",
                      (int)both.why->verdict);
    if (holds && !both.truth != !q->view->bits)
        holds = wrong(q, "the view tracked has %s answer of its own", both.truth ? "an" : "no");
    if (holds && both.truth)
        holds = truth_holds(q, &both);
    sums->late += late != 0;
    lardsim_why_free(&both);
    return holds;
}

/* ---- random ones ---------------------------------------------------------------------------- */

static bool asked_holds(const struct question *q, struct sums *sums)
{
    char granule[12];
    struct budget all = {.limit = UINT64_MAX};
    struct err e = {0, ""};

    snprintf(granule, sizeof granule, "%u", q->granule);
    const struct lardsim_why_ask ask = {.open = stream_open,
                                        .arg = q->s,
                                        .view = q->view->name,
                                        .granule = granule,
                                        .event = q->event,
                                        .placed = true,
                                        .addr = q->access->addr,
                                        .size = q->access->size,
                                        .budget = &all};
    struct lardsim_why *w = why_find(&ask, &e);
    if (!w)
        return wrong(q, "%s", e.text);
    const bool racy = oracle_racy(q->oracle, q->event), checked = !w->later.unchecked;
    bool holds = true;
    if (checked && racy)
        holds = race_holds(q, w);
    else if (checked)
        holds = order_holds(q, w, sums);
    sums->races += checked && racy;
    why_free(w);
    return holds;
}

static bool is_access(const struct question *q)
{
    return event_is_access(q->ev[q->event]) && !(q->ev[q->event]->flags & EVF_IN_TXN);
}

/* Of a commit the access that races; one that does not race is not asked about, as its other
 * accesses may. */
static bool find_access(struct question *q)
{
    const struct event *ev = q->ev[q->event];
    const struct oracle_pair *pair;

    q->access = ev;
    if (ev->kind == EV_TXN_COMMIT && oracle_pairs(q->oracle, q->event, &pair)) {
        q->access = q->ev[pair->access];
        return true;
    }
    return is_access(q);
}

static bool seed_holds(uint64_t seed, struct sums *sums)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;
    bool holds = true;
    size_t views = 0;

    rng_seed(&r, seed);
    struct synth_params p = draw_params(&r, seed);
    draw_stream(&s, &p);
    while (verdict_view[views].name)
        views++;
    struct question q = {.s = &s, .ev = stream_index(&s), .granule = (unsigned)p.granularity};
    q.view = &verdict_view[p.raw ? 0 : rng_below(&r, views)];
    const struct oracle_options as = {true, q.granule, q.view->bits};
    q.oracle = oracle_new(s.rec, s.records, &as);
    q.tracked = oracle_new(s.rec, s.records, &(struct oracle_options){true, q.granule, 0});
    for (int i = 0; i < ASKED && s.events && q.oracle && holds; i++) {
        q.event = rng_below(&r, s.events);
        /* Half of them race, where there are races. */
        for (int k = 0; k < 40 && (i % 2 ? !is_access(&q) : !oracle_racy(q.oracle, q.event)); k++)
            q.event = rng_below(&r, s.events);
        if (find_access(&q) && !(p.raw && oracle_racy(q.oracle, q.event)))
            holds = asked_holds(&q, sums) && (p.raw || both_hold(&q, i / 2 % 2, sums));
    }
    if (!holds) {
        printf("seed %" PRIu64 "\n", seed);
        draw_print(&p);
    }
    oracle_free(q.oracle);
    oracle_free(q.tracked);
    free(q.ev);
    stream_free(&s);
    return holds;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds is = seeds_arg(argc, argv, SEEDS, NULL);
    struct sums sums = {0};

    for (uint64_t seed = is.first; seed - is.first < is.n; seed++)
        if (!seed_holds(seed, &sums))
            return 1;
    printf("why: %" PRIu64 " traces, %" PRIu64 " races, %" PRIu64 " orders of %" PRIu64
           " edges, %" PRIu64 " alone, %" PRIu64 " with a later one\n",
           is.n, sums.races, sums.orders, sums.edges, sums.alone, sums.late);
    if (is.n >= SEEDS && (!sums.races || !sums.orders || sums.edges <= sums.orders || !sums.late)) {
        printf("FAILED: a kind of answer never came\n");
        return 1;
    }
    return 0;
}
