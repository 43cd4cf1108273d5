/* prove.c - which sites of a program an analysis of all of it could prove free of races: Chord in
 * Goldilocks 5.2, which knows what data escape their thread, what fork and join order, and which
 * locks are held. It does not follow barriers, volatiles, waiting or transactions.
 *
 * A compiler has to guess which data a site touches; here the program is run once, with the same
 * parameters, and shows it. So what is found is the most that such an analysis could prove of the
 * sites that run. Two sites that touch a location have it in common, and with it all that the other
 * one touches: data are told apart by the sites that touch them. None of them is proved if two
 * threads access one of these locations, one of them writes, nothing but fork and join orders the
 * two, and they hold no lock in common. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "workloads/vm/vm_int.h"

enum { HELD = 4, OFFSET_BITS = 24, SITES = 1 << 16 };

struct locks { /* objects, each once; more than HELD are not remembered: then fewer are common */
    uint64_t of[HELD];
    unsigned n;
};
struct prover {      /* a thread */
    uint64_t *clock; /* owns; by thread: how much of it fork and join have told this one */
    struct locks held;
};
struct proved_touch { /* a thread's accesses to a location: the latest one, and the locks of all */
    uint64_t when;
    struct locks locks;
    sim_tid tid;
    bool writes;
    uint32_t next; /* the location's next one, + 1; 0: none */
};
struct proved_place { /* a location */
    uint32_t first;   /* touch + 1 */
    uint32_t site;
};
struct proof {
    struct map where; /* object and offset, to place + 1; what does not fit is taken for the same */
    struct proved_place *place;
    struct proved_touch *touch;
    struct prover *member;
    uint32_t *joined;   /* by site: another one of its set, or itself */
    bool *races, *seen; /* by site */
    size_t places, place_cap, touches, touch_cap, members;
};

/* ---- sets of sites -------------------------------------------------------------------------- */

static uint32_t leader(const struct proof *p, uint32_t site)
{
    while (p->joined[site] != site)
        site = p->joined[site] = p->joined[p->joined[site]];
    return site;
}

/* ---- locks ---------------------------------------------------------------------------------- */

static bool has_lock(const struct locks *l, uint64_t object)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->of[i] == object)
            return true;
    return false;
}

static bool in_common(const struct locks *a, const struct locks *b)
{
    for (unsigned i = 0; i < a->n; i++)
        if (has_lock(b, a->of[i]))
            return true;
    return false;
}

static void keep_common(struct locks *of, const struct locks *with)
{
    unsigned n = 0;

    for (unsigned i = 0; i < of->n; i++)
        if (has_lock(with, of->of[i]))
            of->of[n++] = of->of[i];
    of->n = n;
}

static void drop_lock(struct locks *l, uint64_t object)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->of[i] == object)
            l->of[i--] = l->of[--l->n];
}

/* ---- threads -------------------------------------------------------------------------------- */

static struct prover *member_at(struct proof *p, sim_tid tid)
{
    if (tid >= p->members) {
        const size_t n = (size_t)tid + 1, was = p->members;
        p->member = xrecalloc(p->member, was, n, sizeof *p->member);
        for (size_t i = 0; i < n; i++)
            p->member[i].clock =
                xrecalloc(p->member[i].clock, i < was ? was : 0, n, sizeof *p->member[i].clock);
        for (size_t i = was; i < n; i++)
            p->member[i].clock[i] = 1;
        p->members = n;
    }
    return &p->member[tid];
}

static void learn(struct proof *p, sim_tid who, sim_tid of)
{
    member_at(p, who > of ? who : of);
    for (size_t i = 0; i < p->members; i++)
        if (p->member[of].clock[i] > p->member[who].clock[i])
            p->member[who].clock[i] = p->member[of].clock[i];
}

/* ---- accesses ------------------------------------------------------------------------------- */

static struct proved_touch *own_touch(struct proof *p, struct proved_place *at,
                                      const struct event *ev)
{
    const bool writes = event_writes(ev);

    for (uint32_t i = at->first; i; i = p->touch[i - 1].next)
        if (p->touch[i - 1].tid == ev->tid && p->touch[i - 1].writes == writes)
            return &p->touch[i - 1];
    p->touch = xgrow(p->touch, p->touches, &p->touch_cap, sizeof *p->touch);
    p->touch[p->touches] = (struct proved_touch){
        .tid = ev->tid, .writes = writes, .locks = p->member[ev->tid].held, .next = at->first};
    at->first = (uint32_t)++p->touches;
    return &p->touch[p->touches - 1];
}

static bool could_race(const struct proof *p, const struct proved_place *at, const struct event *ev)
{
    const struct prover *me = &p->member[ev->tid];

    for (uint32_t i = at->first; i; i = p->touch[i - 1].next) {
        const struct proved_touch *t = &p->touch[i - 1];
        if (t->tid != ev->tid && (t->writes || event_writes(ev)) && t->when > me->clock[t->tid] &&
            !in_common(&t->locks, &me->held))
            return true;
    }
    return false;
}

static struct proved_place *place_of(struct proof *p, const struct vm_identity *id, uint32_t site)
{
    uint64_t *at = map_put(&p->where, id->object << OFFSET_BITS | id->offset);

    if (!*at) {
        p->place = xgrow(p->place, p->places, &p->place_cap, sizeof *p->place);
        p->place[p->places] = (struct proved_place){.site = site};
        *at = ++p->places;
    }
    return &p->place[*at - 1];
}

static void look(struct proof *p, const struct event *ev, const struct vm_identity *id)
{
    const uint32_t site = (uint32_t)event_site(ev);

    if (!event_tracked(ev) || event_site(ev) >= SITES || !id->object)
        return;
    const struct prover *me = member_at(p, ev->tid);
    struct proved_place *at = place_of(p, id, site);
    p->seen[site] = true;
    p->joined[leader(p, site)] = leader(p, at->site);
    if (could_race(p, at, ev) || ev->flags & EVF_IN_TXN)
        p->races[site] = true;
    struct proved_touch *own = own_touch(p, at, ev);
    own->when = me->clock[ev->tid];
    keep_common(&own->locks, &me->held);
}

/* ---- events --------------------------------------------------------------------------------- */

static void order(struct proof *p, const struct event *ev, const struct vm_identity *id)
{
    struct prover *me = member_at(p, ev->tid);

    switch (ev->kind) {
    case EV_FORK:
        learn(p, (sim_tid)ev->aux, ev->tid);
        member_at(p, ev->tid)->clock[ev->tid]++;
        break;
    case EV_JOIN:
        learn(p, ev->tid, (sim_tid)ev->aux);
        break;
    case EV_ACQUIRE:
    case EV_WAIT_EXIT:
        if (id->object && me->held.n < HELD && !has_lock(&me->held, id->object))
            me->held.of[me->held.n++] = id->object;
        break;
    /* Drops the lock even if it is still held once more: then less is known than is so, which is
     * safe. */
    case EV_RELEASE:
    case EV_WAIT_ENTER:
        drop_lock(&me->held, id->object);
        break;
    default:
        break;
    }
}

static void batch_take(struct proof *p, const struct batch *b, const struct vm_identity *id)
{
    for (size_t i = 0; i < b->records; i += event_records(&b->rec[i])) {
        const struct event *ev = &b->rec[i];
        if (event_is_access(ev))
            look(p, ev, &id[i]);
        else if (!(ev->flags & EVF_SYSTEM))
            order(p, ev, &id[i]);
    }
}

/* ---- a proof -------------------------------------------------------------------------------- */

static int run(struct proof *p, struct source *s, struct err *e)
{
    const struct vm_identity *id;
    struct batch b = {.records = 0};

    if (workload_identify(s, &id))
        return err_set(e, LARD_CONFIG, "%s: analysis: it has no objects; leave it off", s->name);
    do {
        if (source_next(s, &b, e))
            return -1;
        batch_take(p, &b, id);
    } while (b.records);
    return 0;
}

static void close_proof(struct proof *p)
{
    for (size_t i = 0; i < p->members; i++)
        free(p->member[i].clock);
    free(p->member);
    free(p->touch);
    free(p->place);
    free(p->joined);
    free(p->races);
    free(p->seen);
    map_free(&p->where);
}

int workload_prove(struct source *s, struct vm_proved *to, struct err *e)
{
    struct proof p = {.joined = xcalloc(SITES, sizeof *p.joined),
                      .races = xcalloc(SITES, sizeof *p.races),
                      .seen = xcalloc(SITES, sizeof *p.seen)};

    for (uint32_t i = 0; i < SITES; i++)
        p.joined[i] = i;
    map_init(&p.where, NULL);
    const int failed = run(&p, s, e);
    *to = (struct vm_proved){.site = failed ? NULL : xcalloc(SITES, sizeof *to->site), .n = SITES};
    for (uint32_t i = 1; i < SITES; i++)
        p.races[leader(&p, i)] |= p.races[i];
    for (uint32_t i = 1; i < SITES && !failed; i++)
        to->site[i] = p.seen[i] && !p.races[leader(&p, i)];
    close_proof(&p);
    return failed;
}
