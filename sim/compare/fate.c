/* fate.c - what became of each access that some policy remembers, in each of the others: seen, not
 * inferred. After an event each policy says what it remembers of the locations that the event
 * touched. What is there no more has gone with this event.
 *
 * A difference names an earlier access that one side remembers. So an access is kept here as long
 * as somebody remembers it, with what became of it elsewhere. That is bounded by what policies
 * remember. */
#include <stdlib.h>
#include <string.h>

#include "sim/compare/compare.h"

struct fate_past { /* an access, at a location */
    uint64_t event, position;
    uint64_t kept; /* mask of instances: those that remember it */
    uint8_t op;
    struct fate fate[]; /* by instance; of those that remember it: KEPT */
};
struct location_past {       /* a location */
    struct fate_past **past; /* owns */
    uint32_t n, cap;
};

struct remembered { /* what an instance remembers of a location */
    uint64_t event;
    uint8_t op;
};

struct open_accesses { /* of an open transaction */
    struct event *at;
    size_t n, cap;
};

struct fates {
    struct checker *const *of;
    uint32_t n;
    unsigned granule;
    struct budget *budget;
    struct shadow *places;
    uint64_t position;       /* of the event in hand */
    struct remembered *seen; /* owns; of the instance in hand */
    size_t seen_n, seen_cap;
    struct open_accesses *open; /* owns; by thread */
    size_t threads;
};

/* ---- records -------------------------------------------------------------------------------- */

static size_t past_bytes(const struct fates *f)
{
    return sizeof(struct fate_past) + f->n * sizeof(struct fate);
}

static struct fate_past *past_find(const struct location_past *p, uint64_t event, uint8_t op)
{
    for (uint32_t i = 0; p && i < p->n; i++)
        if (p->past[i]->event == event && p->past[i]->op == op)
            return p->past[i];
    return NULL;
}

/* Nobody remembers it: each has the fate that is given. */
static struct fate_past *past_new(struct fates *f, struct location_past *p, uint64_t event,
                                  uint8_t op, uint64_t position)
{
    struct fate_past *x = xcalloc(1, past_bytes(f));

    x->event = event;
    x->op = op;
    x->position = position;
    budget_take(f->budget, heap_bytes(past_bytes(f)));
    p->past = budget_grow32(f->budget, p->past, p->n, &p->cap, sizeof *p->past);
    p->past[p->n++] = x;
    return x;
}

/* Frees the accesses that nobody remembers any more: nothing is asked of them. */
static void place_tidy(struct fates *f, struct location_past *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->past[i]->kept) {
            p->past[n++] = p->past[i];
        } else {
            budget_give(f->budget, heap_bytes(past_bytes(f)));
            free(p->past[i]);
        }
    p->n = n;
    if (n)
        return;
    budget_give(f->budget, p->cap * sizeof *p->past);
    free(p->past);
    *p = (struct location_past){0};
}

static bool drop_place(void *arg, sim_addr addr, void *cell)
{
    struct location_past *p = cell;

    (void)addr;
    for (uint32_t i = 0; i < p->n; i++)
        p->past[i]->kept = 0;
    place_tidy(arg, p);
    return true;
}

/* ---- looking -------------------------------------------------------------------------------- */

static void see(void *arg, uint64_t event, uint8_t op)
{
    struct fates *f = arg;

    f->seen = xgrow(f->seen, f->seen_n, &f->seen_cap, sizeof *f->seen);
    f->seen[f->seen_n++] = (struct remembered){event, op};
}

/* False: the instance does not say what it remembers. */
static bool look(struct fates *f, uint32_t i, sim_addr location)
{
    f->seen_n = 0;
    return checker_remembers(f->of[i], location, see, f);
}

enum { ANY_OP = -1 };
static bool is_seen(const struct fates *f, uint64_t event, int op)
{
    for (size_t i = 0; i < f->seen_n; i++)
        if (f->seen[i].event == event && (op == ANY_OP || f->seen[i].op == op))
            return true;
    return false;
}

/* Gives this fate to all accesses that instance i, which has been looked at, has just ceased to
 * remember. */
static void lose(const struct fates *f, const struct location_past *p, uint32_t i, struct fate fate)
{
    const uint64_t bit = UINT64_C(1) << i;

    for (uint32_t k = 0; k < p->n; k++) {
        struct fate_past *x = p->past[k];
        if (!(x->kept & bit) || is_seen(f, x->event, x->op))
            continue;
        x->kept &= ~bit;
        x->fate[i] = fate;
    }
}

static void keep(struct fate_past *x, uint32_t i)
{
    x->kept |= UINT64_C(1) << i;
    x->fate[i] = (struct fate){.how = FATE_KEPT};
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Notes whether instance i remembers an access that has just taken effect, at this location, and
 * which others it no longer does. */
static void see_access(struct fates *f, struct location_past *p, struct fate_past *now, uint32_t i,
                       const struct event *ev, sim_addr location)
{
    struct policy_rule rule;

    if (!look(f, i, location)) {
        now->fate[i] = (struct fate){.how = FATE_UNKNOWN};
        return;
    }
    checker_rule(f->of[i], ev, location, &rule);
    lose(f, p, i,
         (struct fate){.how = is_seen(f, now->event, ANY_OP) ? FATE_DISPLACED : FATE_GONE,
                       .event = now->event,
                       .rule = rule.displaces});
    if (is_seen(f, now->event, now->op))
        keep(now, i);
    else if (ev->flags & checker_skips(f->of[i]) && now->fate[i].how == FATE_KEPT)
        now->fate[i] = (struct fate){.how = FATE_UNCHECKED};
    else if (ev->flags & checker_skips(f->of[i]))
        return;                              /* another access of its commit was checked */
    else if (is_seen(f, now->event, ANY_OP)) /* another access of the same commit */
        now->fate[i] = (struct fate){.how = FATE_DISPLACED, .event = now->event};
    else
        now->fate[i] = (struct fate){.how = FATE_UNKEPT, .rule = rule.unkept};
}

static void note_location(struct fates *f, const struct event *ev, uint64_t number,
                          sim_addr location)
{
    struct location_past *p = shadow_get(f->places, location);
    struct fate_past *now = past_find(p, number, ev->kind);

    if (!now)
        now = past_new(f, p, number, ev->kind, f->position);
    for (uint32_t i = 0; i < f->n; i++)
        if (!(now->kept >> i & 1))
            see_access(f, p, now, i, ev, location);
    place_tidy(f, p);
}

static void note_access(struct fates *f, const struct event *ev, uint64_t number)
{
    if (f->granule == GRANULE_FIELD) {
        note_location(f, ev, number, ev->addr);
        return;
    }
    const sim_addr mask = ~(sim_addr)(f->granule - 1), last = (ev->addr + ev->size - 1) & mask;
    for (sim_addr a = ev->addr & mask;; a += f->granule) {
        note_location(f, ev, number, a);
        if (a == last || budget_over(f->budget))
            return;
    }
}

static void note_open(struct fates *f, const struct event *ev)
{
    f->open = budget_reach(NULL, f->open, &f->threads, ev->tid, sizeof *f->open);
    struct open_accesses *o = &f->open[ev->tid];
    o->at = budget_grow(f->budget, o->at, o->n, &o->cap, sizeof *o->at);
    o->at[o->n++] = *ev;
}

static void note_commit(struct fates *f, const struct event *ev, uint64_t number)
{
    struct open_accesses *o = ev->tid < f->threads ? &f->open[ev->tid] : NULL;

    for (size_t i = 0; o && i < o->n; i++)
        note_access(f, &o->at[i], number);
    if (o)
        o->n = 0;
}

/* ---- the heap ------------------------------------------------------------------------------- */

struct heap_event {
    struct fates *f;
    struct fate fate;
    sim_addr shift; /* from the source of a copy to here */
};

static bool empty_place(void *arg, sim_addr location, void *cell)
{
    const struct heap_event *h = arg;
    struct location_past *p = cell;

    for (uint32_t i = 0; i < h->f->n; i++)
        if (look(h->f, i, location))
            lose(h->f, p, i, h->fate);
    place_tidy(h->f, p);
    return !p->n;
}

/* The copy of a place gets records of its own. */
static void own_place(void *arg, void *cell)
{
    struct fates *f = arg;
    struct location_past *p = cell;
    const struct location_past was = *p;

    *p = (struct location_past){0};
    for (uint32_t i = 0; i < was.n; i++)
        memcpy(past_new(f, p, 0, 0, 0), was.past[i], past_bytes(f));
}

/* The fate of an access at the place to which its location was copied: kept, if the instance
 * remembers it here; not brought, if it was remembered only where it came from. Else its fate there
 * holds here, too: its former fate here belongs to another life of the location. */
static void bring(struct heap_event *h, struct location_past *to, const struct fate_past *x,
                  sim_addr location)
{
    struct fates *f = h->f;
    struct fate_past *here = past_find(to, x->event, x->op);

    if (!here)
        here = past_new(f, to, x->event, x->op, x->position);
    for (uint32_t i = 0; i < f->n; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        if (look(f, i, location) && is_seen(f, x->event, x->op))
            keep(here, i);
        else if (!(here->kept & bit))
            here->fate[i] = x->kept & bit
                                ? (struct fate){.how = FATE_NOT_BROUGHT, .event = h->fate.event}
                                : x->fate[i];
    }
}

struct brought { /* of the source of a copy, before anything changes here */
    sim_addr location;
    struct location_past place; /* owns */
};
struct all_brought {
    struct fates *f;
    struct brought *at;
    size_t n, cap;
};

static bool take_place(void *arg, sim_addr location, void *cell)
{
    struct all_brought *all = arg;
    struct brought b = {location, *(struct location_past *)cell};

    own_place(all->f, &b.place);
    all->at = xgrow(all->at, all->n, &all->cap, sizeof *all->at);
    all->at[all->n++] = b;
    return false;
}

static void note_heap(struct fates *f, const struct event *ev, uint64_t number)
{
    const bool copy = ev->kind == EV_COPY;
    const unsigned g = f->granule ? f->granule : 1;
    const sim_addr from = copy ? ev[1].addr : ev->addr;
    struct heap_event h = {
        f, {.how = copy ? FATE_OVERWRITTEN : FATE_CLEARED, .event = number}, ev->addr - from};
    struct all_brought all = {.f = f};

    if ((ev->addr | from | ev->aux) & (g - 1))
        return; /* an error by now */
    if (copy)
        shadow_each(f->places, from, ev->aux, take_place, &all);
    shadow_each(f->places, ev->addr, ev->aux, empty_place, &h);
    for (size_t i = 0; i < all.n; i++) {
        struct brought *b = &all.at[i];
        const sim_addr here = b->location + h.shift;
        struct location_past *to = shadow_get(f->places, here);
        for (uint32_t k = 0; k < b->place.n; k++)
            bring(&h, to, b->place.past[k], here);
        place_tidy(f, to);
        drop_place(f, here, &b->place);
    }
    free(all.at);
}

/* ---- the interface -------------------------------------------------------------------------- */

struct fates *fates_new(struct checker *const *of, uint32_t n, unsigned granule,
                        struct budget *budget)
{
    struct fates *f = xcalloc(1, sizeof *f);

    *f = (struct fates){.of = of, .n = n, .granule = granule, .budget = budget};
    f->places = shadow_new(granule ? granule : 1, sizeof(struct location_past), budget);
    return f;
}

void fates_free(struct fates *f)
{
    if (!f)
        return;
    shadow_all(f->places, drop_place, f);
    shadow_free(f->places);
    for (size_t i = 0; i < f->threads; i++)
        free(f->open[i].at);
    free(f->open);
    free(f->seen);
    free(f);
}

void fates_note(struct fates *f, const struct event *ev, uint64_t number)
{
    f->position++;
    if (event_is_access(ev) && ev->flags & EVF_IN_TXN)
        note_open(f, ev);
    else if (event_is_access(ev))
        note_access(f, ev, number);
    else if (ev->kind == EV_TXN_COMMIT)
        note_commit(f, ev, number);
    else if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        note_heap(f, ev, number);
}

static const struct fate_past *find(const struct fates *f, sim_addr location, uint64_t event,
                                    uint8_t op)
{
    return past_find(shadow_peek(f->places, location), event, op);
}

struct fate fates_find(const struct fates *f, uint32_t i, sim_addr location, uint64_t event,
                       uint8_t op)
{
    const struct fate_past *x = find(f, location, event, op);

    return x ? x->fate[i] : (struct fate){.how = FATE_ELSEWHERE};
}

bool fates_has_now(struct fates *f, uint32_t i, sim_addr location, uint64_t event, uint8_t op)
{
    return look(f, i, location) && is_seen(f, event, op);
}

uint64_t fates_position(const struct fates *f, sim_addr location, uint64_t event, uint8_t op)
{
    const struct fate_past *x = find(f, location, event, op);

    return x ? x->position : 0;
}
