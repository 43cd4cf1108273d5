/* judge.c - see judge.h. The judge is the oracle alone: also for a report's sides, of
 * which it judges the stream in which nothing else is checked. */
#include "tests/policy/slimstate/judge.h"

#include <inttypes.h>

#include "tests/frame/watch.h"

/* ---- the stream by events ------------------------------------------------------------------- */

struct judge {
    const struct stream *s;
    const struct slim_case *c;
    const struct event **ev; /* owns; by number */
    size_t *effect;          /* owns; the event at which an access takes effect */
    size_t n;
};

static void judge_open(struct judge *g, const struct stream *s, const struct slim_case *c)
{
    size_t open[MAX_THREADS / 256] = {0}, n = 0; /* few threads */

    *g = (struct judge){s, c, xcalloc(s->events + 1, sizeof *g->ev),
                        xcalloc(s->events + 1, sizeof *g->effect), s->events};
    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        g->ev[n++] = &s->rec[i];
    for (size_t e = n; e-- > 0;) {
        const struct event *ev = g->ev[e];
        if (ev->tid >= ARRAY_SIZE(open))
            die("slim_judge: thread %u", ev->tid);
        if (ev->kind == EV_TXN_COMMIT)
            open[ev->tid] = e;
        g->effect[e] = event_is_access(ev) && ev->flags & EVF_IN_TXN ? open[ev->tid] : e;
    }
}

static void judge_close(struct judge *g)
{
    free(g->ev);
    free(g->effect);
}

static bool heeds_sync(const struct judge *g, const struct event *ev)
{
    return !(ev->flags & EVF_SYSTEM) || g->c->view->bits & ORACLE_ALL_SYNC;
}

static bool changes(const struct judge *g, const struct event *ev, sim_addr location)
{
    if (ev->kind == EV_CLEAR ? g->c->view->bits & ORACLE_NO_CLEAR
                             : ev->kind != EV_COPY || g->c->view->bits & ORACLE_NO_COPY)
        return false;
    return location - ev->addr < ev->aux;
}

/* ---- locations, each in its life ------------------------------------------------------------ */

struct place {
    sim_addr addr;
    uint64_t life;
};
struct placed {
    struct place *at; /* owns */
    size_t n, cap;
};

static void add_place(const struct judge *g, struct placed *p, sim_addr addr, size_t event)
{
    struct place new = {addr, 0};

    for (size_t e = 0; e < event && e < g->n; e++)
        new.life += changes(g, g->ev[e], addr);
    p->at = xgrow(p->at, p->n, &p->cap, sizeof *p->at);
    p->at[p->n++] = new;
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->life < y->life ? -1 : x->life > y->life;
}

/* Marks live, move and die as histories do. */
static void move_marks(const struct judge *g, struct map *mark, const struct event *ev)
{
    if (ev->kind != EV_CLEAR && ev->kind != EV_COPY)
        return;
    if (!changes(g, ev, ev->addr))
        return;
    bool *now = xcalloc(ev->aux, sizeof *now);
    for (uint64_t i = 0; ev->kind == EV_COPY && i < ev->aux; i++)
        now[i] = map_find(mark, ev[1].addr + i) != NULL;
    for (uint64_t i = 0; i < ev->aux; i++) {
        map_remove(mark, ev->addr + i);
        if (now[i])
            *map_put(mark, ev->addr + i) = 1;
    }
    free(now);
}

static void first_reports(const struct judge *g, const struct watch *w, struct placed *p)
{
    struct map mark;
    size_t k = 0;

    map_init(&mark, NULL);
    for (size_t e = 0; e <= g->n; e++) {
        for (; k < w->conflicts && w->conflict[k].event <= e; k++) {
            uint64_t *marked = map_put(&mark, w->conflict[k].location);
            if (!*marked)
                add_place(g, p, w->conflict[k].location, e);
            *marked = 1;
        }
        if (e < g->n)
            move_marks(g, &mark, g->ev[e]);
    }
    map_free(&mark);
}

static bool places_differ(const struct judge *g, const struct watch *w, const struct oracle *o,
                          char *why, size_t room)
{
    const struct oracle_location *racy;
    const size_t n = oracle_locations(o, &racy);
    struct placed is = {0}, must = {0};
    size_t i = 0;

    first_reports(g, w, &is);
    for (size_t k = 0; k < n; k++)
        add_place(g, &must, racy[k].addr, racy[k].event);
    if (is.n)
        qsort(is.at, is.n, sizeof *is.at, by_place);
    if (must.n)
        qsort(must.at, must.n, sizeof *must.at, by_place);
    while (i < is.n && i < must.n && by_place(&is.at[i], &must.at[i]) == 0)
        i++;
    const bool differ = i < is.n || i < must.n,
               extra = i < is.n && (i == must.n || by_place(&is.at[i], &must.at[i]) < 0);
    if (differ) {
        const struct place *at = extra ? &is.at[i] : &must.at[i];
        snprintf(why, room, "0x%" PRIx64 " in life %" PRIu64 " %s (%zu racy, oracle %zu)", at->addr,
                 at->life, extra ? "does not race" : "is missed", is.n, must.n);
    } else if (watch_stat(w, "races.locations") != n) {
        snprintf(why, room, "%" PRIu64 " locations are counted, not %zu",
                 watch_stat(w, "races.locations"), n);
    }
    free(is.at);
    free(must.at);
    return differ || watch_stat(w, "races.locations") != n;
}

/* ---- the sides of a report ------------------------------------------------------------------ */

static bool ends_region(const struct judge *g, const struct event *ev)
{
    const struct ev_info *info = &ev_info[ev->kind];

    if (info->class == CLASS_ACCESS)
        return ev->flags & EVF_ORDER_MASK && !(ev->flags & EVF_IN_TXN);
    return heeds_sync(g, ev) && (info->takes || info->gives || ev->kind == EV_WRITEVC);
}

/* Where the region ends that begins with an event. */
static size_t region_end(const struct judge *g, const struct race_side *side)
{
    size_t e = side->event;

    if (e < g->n && g->ev[e]->tid == side->thread && g->ev[e]->kind == EV_TXN_COMMIT)
        return e + 1;
    while (e < g->n && !(g->ev[e]->tid == side->thread && ends_region(g, g->ev[e])))
        e++;
    return e;
}

static bool may_be(const struct judge *g, size_t e, const struct race_side *side)
{
    const size_t effect = g->effect[e];

    if (g->ev[e]->tid != side->thread || event_writes(g->ev[e]) != (side->op != EV_READ))
        return false;
    if (!side->region)
        return effect == side->event;
    return effect >= side->event && effect < region_end(g, side);
}

/* The later side is an access of the place that raced. Copies may have brought the earlier one's.
 */
static bool is_there(const struct judge *g, const struct event *ev, const struct race *race)
{
    const sim_addr within = g->c->granule ? g->c->granule - 1 : 0;

    return (ev->addr & ~within) < race->addr + race->size &&
           ((ev->addr + ev->size - 1) | within) >= race->addr;
}

/* The oracle finds a race there when nothing but the two sides is checked. */
static bool sides_race(const struct judge *g, const struct race *race)
{
    const struct oracle_options o = {true, g->c->granule, g->c->view->bits};
    struct stream only = {NULL, 0, 0, 0};
    const struct oracle_location *at;
    bool found = false;

    for (size_t e = 0; e < g->n; e++) {
        stream_add(&only, g->ev[e]);
        struct event *ev = &only.rec[only.records - event_records(g->ev[e])];
        if (event_is_access(ev) && !(may_be(g, e, &race->is) && is_there(g, ev, race)) &&
            !may_be(g, e, &race->earlier))
            ev->flags |= EVF_STACK;
    }
    struct oracle *judged = oracle_new(only.rec, only.records, &o);
    const size_t n = judged ? oracle_locations(judged, &at) : 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned g1 = g->c->granule ? g->c->granule : 1;
        found = found || (at[i].addr + g1 > race->addr && at[i].addr < race->addr + race->size);
    }
    oracle_free(judged);
    stream_free(&only);
    return found;
}

static bool reports_differ(const struct judge *g, const struct watch *w, char *why, size_t room)
{
    enum { SOME = 4 }; /* each costs a judgement */

    for (size_t i = 0; i < w->races; i += 1 + w->races / SOME) {
        const struct race *r = &w->race[i];
        if (!r->is.known || !r->earlier.known || (r->is.region && r->is.site) ||
            (r->earlier.region && r->earlier.site) || !sides_race(g, r)) {
            snprintf(why, room,
                     "report %zu, at 0x%" PRIx64 ": T%u from %" PRIu64 " and T%u from %" PRIu64
                     " is no pair that races",
                     i, r->addr, r->is.thread, r->is.event, r->earlier.thread, r->earlier.event);
            return true;
        }
    }
    return false;
}

/* ---- all ------------------------------------------------------------------------------------ */

bool slim_differs(const struct stream *s, const struct slim_case *c, struct slim_judged *j,
                  char *why, size_t room)
{
    const struct oracle_options o = {false, c->granule, c->view->bits};
    const char *setting[ARRAY_SIZE(c->setting) + 1] = {NULL};
    char *view = xasprintf("view=%s", c->view->name);
    struct oracle *judged = oracle_new(s->rec, s->records, &o);
    struct judge g;
    struct watch w;
    bool differs = false;

    setting[0] = view;
    for (size_t i = 0; c->setting[i]; i++)
        setting[i + 1] = c->setting[i];
    judge_open(&g, s, c);
    watch_open(&w, "slimstate", c->granule, setting);
    watch_run(&w, s->rec, s->records);
    if (!judged != (w.err.code != 0)) {
        snprintf(why, room, "one refuses: %s", w.err.text);
        differs = true;
    } else if (judged) {
        differs = places_differ(&g, &w, judged, why, room) || reports_differ(&g, &w, why, room);
        j->locations += watch_stat(&w, "races.locations");
        j->compressed += watch_stat(&w, "appended");
        for (size_t i = 0; i < w.races; i++)
            j->late += w.race[i].is.region;
    }
    watch_close(&w);
    judge_close(&g);
    oracle_free(judged);
    free(view);
    return differs;
}
