/* verdict.c - who finds the event in hand racy, and where two differ, why: what the silent
 * side does not check, orders, or has no record of. Nothing is said that is not known. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/compare/compare.h"

/* ---- what is reported ----------------------------------------------------------------------- */

static uint32_t instance_of(const struct compare *c, const char *label)
{
    uint32_t i = 0;

    while (i < c->n && c->instance[i].label != label)
        i++;
    assert(i < c->n);
    return i;
}

/* An object that moves takes its identity along; cleared memory has a new one. */
static uint64_t location_id(struct compare *c, sim_addr location)
{
    uint64_t *id = shadow_get(c->ids, location);

    if (!*id)
        *id = ++c->last_id;
    return *id;
}

/* Unordered: both policies are to mean the same pair, whichever access they name first. */
static uint64_t pair_key(uint64_t a, uint64_t b)
{
    const uint64_t pair[2] = {a < b ? a : b, a < b ? b : a};

    return digest_bytes(pair, sizeof pair);
}

static uint64_t *counter(struct compare *c, uint32_t i, enum verdict v, enum of of, bool roi)
{
    struct difference_counts *n = &c->instance[i].count[v];

    return roi ? &n->roi[of] : &n->n[of];
}

/* Instance i has found the race whose finders are in *mask: what was missed or false may no longer
 * be. False: it had before. */
static bool found(struct compare *c, enum of of, uint64_t *mask, uint32_t i, bool roi)
{
    const uint64_t bit = UINT64_C(1) << i, was = *mask;
    const bool truth = was >> c->truth & 1;

    if (was & bit)
        return false;
    *mask |= bit;
    if (i != c->truth && truth)
        --*counter(c, i, VERDICT_MISSED, of, roi);
    if (i != c->truth && !truth)
        ++*counter(c, i, VERDICT_FALSE, of, roi);
    for (uint32_t k = 0; i == c->truth && k < c->n; k++) {
        if (was >> k & 1)
            --*counter(c, k, VERDICT_FALSE, of, roi);
        else if (k != i)
            ++*counter(c, k, VERDICT_MISSED, of, roi);
    }
    return true;
}

static void see(struct compare *c, enum of of, uint64_t key, uint32_t i, const struct pair *pair)
{
    if (c->inside)
        found(c, of, map_put(&c->seen_roi[of], key), i, true);
    if (!found(c, of, map_put(&c->seen[of], key), i, false))
        return;
    c->fresh = xgrow(c->fresh, c->fresh_n, &c->fresh_cap, sizeof *c->fresh);
    c->fresh[c->fresh_n++] =
        (struct found_pair){.pair = *pair, .key = key, .instance = i, .of = (uint8_t)of};
}

void compare_conflict(struct compare *c, const char *label, const struct event *ev,
                      sim_addr location, const struct race_side *earlier)
{
    const uint32_t i = instance_of(c, label);
    const struct pair pair = {*ev, location, *earlier, checker_tells_late(c->instance[i].checker)};
    const uint64_t bit = UINT64_C(1) << i, site = event_site(ev);

    if (!(c->racy & bit) || earlier->event > c->instance[i].pair.earlier.event)
        c->instance[i].pair = pair;
    c->racy |= bit;
    see(c, OF_PLACE, location_id(c, location), i, &pair);
    if (site && earlier->site)
        see(c, OF_PAIR, pair_key(site, earlier->site), i, &pair);
}

/* ---- why ------------------------------------------------------------------------------------ */

/* A sound policy forgets an access only as its history says; another one may have dropped it by a
 * rule of its own. */
static bool remembers_exactly(const struct instance *in)
{
    return in->promise.claims & CLAIM_SOUND;
}

/* True: both accesses read. A policy that is about other things than conflicts may name such a
 * pair. */
bool compare_both_read(const struct pair *p)
{
    return !event_writes(&p->access) && p->earlier.op == EV_READ;
}

/* The silent side has found no race at the location: then it orders all that conflict there. */
static bool orders_all(const struct instance *silent, const struct instance *reporter, enum of of)
{
    const unsigned memory = ~(unsigned)VIEW_ALL_SYNC;

    return of == OF_PLACE && remembers_exactly(silent) &&
           (silent->view & memory) == (reporter->view & memory);
}

/* The access takes effect at the event in hand; other policies may notice later. */
static bool in_hand(const struct pair *p, const struct event *ev)
{
    if (!ev || ev->tid != p->access.tid)
        return false;
    if (ev->kind == EV_TXN_COMMIT)
        return p->access.flags & EVF_IN_TXN;
    return ev->kind == p->access.kind && p->access.addr - ev->addr < ev->size;
}

/* The number of a kind of conflict (policy/claims.def); not of two reads. */
unsigned compare_kind(const struct pair *p)
{
    if (!event_writes(&p->access))
        return CONFLICT_RAW_BIT;
    return p->earlier.op == EV_READ ? CONFLICT_WAR_BIT : CONFLICT_WAW_BIT;
}

/* Explains a pair that was reported after its event. If the two do race in both views, the silent
 * side would have found it, had it remembered the earlier one when the later one came. */
static enum why why_late(const struct instance *silent, const struct instance *reporter)
{
    if (!(reporter->promise.claims & CLAIM_PRECISE))
        return WHY_RULE;
    return reporter->view == silent->view ? WHY_FORGOTTEN : WHY_UNKNOWN;
}

static void nothing(void *arg, uint64_t event, uint8_t op)
{
    (void)arg;
    (void)event;
    (void)op;
}

/* 0: it is not known. */
static uint64_t position_of(const struct compare *c, const struct pair *p)
{
    const uint64_t at = fates_position(c->fates, p->location, p->earlier.event, p->earlier.op);

    return at || c->reordered ? at : p->earlier.event - c->first + 1;
}

/* Explains a pair whose access the silent side checks, and does not order after the other. */
static enum why why_forgotten(const struct compare *c, const struct instance *silent,
                              const struct instance *reporter, struct difference *d)
{
    const struct pair *p = &d->pair;
    const uint32_t i = (uint32_t)(silent - c->instance);
    struct policy_rule rule;

    checker_rule(silent->checker, &p->access, p->location, &rule);
    /* A repeat is known by its record: of a commit that made more there, it may be another's. */
    if (!rule.unkept && p->access.flags & EVF_IN_TXN &&
        !fates_has_now(c->fates, i, p->location, *c->env.number, p->access.kind))
        rule.unchecked = NULL;
    d->rule = rule.unchecked;
    d->fate = fates_find(c->fates, i, p->location, p->earlier.event, p->earlier.op);
    if (d->fate.how == FATE_ELSEWHERE &&
        (c->granule_is_size || !checker_remembers(reporter->checker, p->location, nothing, NULL)))
        d->fate.how = FATE_UNKNOWN;
    /* An access of the same commit came first. */
    if (d->fate.how == FATE_KEPT && p->access.flags & EVF_IN_TXN &&
        !fates_has_now(c->fates, i, p->location, p->earlier.event, p->earlier.op))
        d->fate = (struct fate){.how = FATE_DISPLACED, .event = *c->env.number};
    /* A commit may make several accesses to a location, and policies may remember different ones.
     */
    if (d->fate.how == FATE_KEPT && d->of == OF_PAIR && !d->rule)
        d->fate.how = FATE_ANOTHER;
    if (d->rule || d->fate.rule)
        return WHY_RULE;
    if (d->fate.how != FATE_KEPT && d->fate.how != FATE_UNKNOWN)
        return d->fate.how == FATE_UNKEPT ? WHY_RULE : WHY_FORGOTTEN;
    if (!reporter->by_access && event_order(&p->access) != ORDER_NONE)
        return WHY_UNKNOWN; /* it may be no conflict: both atomic */
    return d->fate.how == FATE_UNKNOWN && remembers_exactly(silent) ? WHY_FORGOTTEN : WHY_RULE;
}

static enum why find_why(const struct compare *c, const struct instance *silent,
                         const struct instance *reporter, struct difference *d,
                         const struct event *ev)
{
    const struct pair *p = &d->pair;

    if (p->access.flags & checker_skips(silent->checker))
        return WHY_UNCHECKED;
    if (!silent->by_access)
        return WHY_RULE;
    if (!p->earlier.known || compare_both_read(p)) {
        if (orders_all(silent, reporter, (enum of)d->of))
            return WHY_ORDERED;
        return p->earlier.known ? WHY_NO_CONFLICT : WHY_UNKNOWN;
    }
    if (!c->params.why)
        return WHY_UNKNOWN;
    d->late = !in_hand(p, ev);
    if (d->late)
        return why_late(silent, reporter);
    const uint64_t position = position_of(c, p);
    if (!position)
        return WHY_UNKNOWN;
    if (ordering_before(silent->order, p->earlier.thread, position, p->access.tid))
        return WHY_ORDERED;
    if (!(silent->promise.conflicts >> compare_kind(p) & 1))
        return WHY_RULE;
    return why_forgotten(c, silent, reporter, d);
}

/* Asks a policy that reports by a rule of its own to explain itself; returns its text, owned by the
 * caller, or NULL. */
static char *ask(const struct instance *in, const struct difference *d)
{
    char text[200] = "";

    if (!in->by_access || (d->why == WHY_RULE && !d->rule && !d->fate.rule))
        checker_explain(in->checker, &d->pair.access, d->pair.location, text, sizeof text);
    return *text ? xstrdup(text) : NULL;
}

/* Finds the object of the difference now, as it may have moved before the difference is told. */
static void locate(const struct compare *c, struct difference *d)
{
    const struct pair *p = &d->pair;

    if (!c->env.placement)
        return;
    placement_reach(c->env.placement, *c->env.number);
    d->object = placement_find(c->env.placement, d->of == OF_ACCESS ? p->access.addr : p->location);
}

/* of instance i, whose verdict differs from the truth's. */
static struct difference explain(struct compare *c, uint32_t i, enum verdict v, enum of of,
                                 const struct pair *p, const struct event *ev)
{
    const struct instance *in = &c->instance[i], *truth = &c->instance[c->truth];
    const bool missed = v == VERDICT_MISSED;
    const struct instance *silent = missed ? in : truth, *reporter = missed ? truth : in;

    struct difference d = {
        .pair = *p,
        .event = *c->env.number,
        .instance = i,
        .of = (uint8_t)of,
        .verdict = (uint8_t)v,
        .system = (ev ? ev : &p->access)->flags & EVF_SYSTEM,
    };
    d.why = (uint8_t)find_why(c, silent, reporter, &d, ev);
    return d;
}

/* ---- differences of accesses ---------------------------------------------------------------- */

void compare_list(struct compare *c, const struct difference *d)
{
    if (c->told >= c->params.max) {
        c->unlisted++;
        return;
    }
    c->told++;
    c->env.tell(c->env.tell_arg, d);
}

static void see_site(struct map *sites, uint64_t site, uint32_t i, uint64_t *n)
{
    uint64_t *mask = map_put(sites, site);

    *n += !(*mask >> i & 1);
    *mask |= UINT64_C(1) << i;
}

/* Verdicts on an access are final with its event, so it is counted and told at once. */
static void access_differs(struct compare *c, uint32_t i, enum verdict v, const struct event *ev)
{
    const struct pair *p = &c->instance[v == VERDICT_MISSED ? c->truth : i].pair;
    struct difference_counts *n = &c->instance[i].count[v];
    struct difference d = explain(c, i, v, OF_ACCESS, p, ev);
    const uint64_t site = event_site(&p->access);

    n->n[OF_ACCESS]++;
    n->why[OF_ACCESS][d.why]++;
    n->system += d.system;
    n->program += !d.system;
    if (site)
        see_site(&c->sites[v], site, i, &n->sites);
    if (site && c->inside)
        see_site(&c->sites_roi[v], site, i, &n->sites_roi);
    d.says = ask(&c->instance[i], &d);
    locate(c, &d);
    compare_list(c, &d);
    free(d.says);
}

static void settle_accesses(struct compare *c, const struct event *ev)
{
    const bool truth = c->racy >> c->truth & 1;

    for (uint32_t i = 0; i < c->n; i++) {
        const bool says = c->racy >> i & 1;
        if (!c->instance[i].by_access)
            continue;
        c->instance[i].accesses += says;
        if (says != truth)
            access_differs(c, i, says ? VERDICT_FALSE : VERDICT_MISSED, ev);
    }
}

/* ---- differences of places and pairs: known at the end, explained when they arise -------- */

static void keep_open(struct compare *c, uint32_t i, enum verdict v, const struct found_pair *f,
                      const struct event *ev)
{
    struct difference d = explain(c, i, v, (enum of)f->of, &f->pair, ev);
    /* The access is a difference of its own. */
    const bool told = c->instance[i].by_access && (c->racy >> i & 1) != (c->racy >> c->truth & 1);
    struct open o = {f->key, NULL, i, f->of, (uint8_t)v, d.why, told};

    if (!o.implied && c->kept < c->params.max) {
        d.says = ask(&c->instance[i], &d);
        locate(c, &d);
        o.told = xmalloc(sizeof d);
        *o.told = d;
        c->kept++;
        budget_take(&c->budget, sizeof d + (d.says ? strlen(d.says) + 1 : 0));
    }
    c->open = budget_grow(&c->budget, c->open, c->open_n, &c->open_cap, sizeof *c->open);
    c->open[c->open_n++] = o;
}

static void settle_key(struct compare *c, const struct found_pair *f, const struct event *ev)
{
    const uint64_t finders = *map_find(&c->seen[f->of], f->key);

    if (f->instance != c->truth) {
        if (!(finders >> c->truth & 1))
            keep_open(c, f->instance, VERDICT_FALSE, f, ev);
        return;
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (!(finders >> i & 1))
            keep_open(c, i, VERDICT_MISSED, f, ev);
}

void compare_settle(struct compare *c, const struct event *ev)
{
    if (ev)
        settle_accesses(c, ev);
    for (size_t i = 0; i < c->fresh_n; i++)
        settle_key(c, &c->fresh[i], ev);
    c->fresh_n = 0;
    c->racy = 0;
}

/* ---- the step ------------------------------------------------------------------------------- */

static bool drop_id(void *arg, sim_addr addr, void *cell)
{
    (void)arg;
    (void)addr;
    (void)cell;
    return true;
}

static void move_ids(struct compare *c, const struct event *ev)
{
    const bool copy = ev->kind == EV_COPY;
    const sim_addr from = copy ? ev[1].addr : ev->addr;
    struct shadow_snapshot *s = NULL;

    if ((ev->addr | from | ev->aux) & (c->granule - 1))
        return; /* an error by now */
    if (copy)
        s = shadow_take(c->ids, from, ev->aux, NULL, NULL);
    shadow_each(c->ids, ev->addr, ev->aux, drop_id, NULL);
    if (copy)
        shadow_put(c->ids, s, ev->addr);
}

void compare_step(struct compare *c, const struct event *ev)
{
    if (!c->position++)
        c->first = *c->env.number;
    c->reordered |= *c->env.number != c->first + c->position - 1;
    for (uint32_t i = 0; i < c->orders; i++)
        ordering_note(c->order[i], ev, c->position);
    if (UNLIKELY(c->racy))
        compare_settle(c, ev);
    if (c->fates)
        fates_note(c->fates, ev, *c->env.number);
    if (UNLIKELY(ev->kind == EV_CLEAR || ev->kind == EV_COPY))
        move_ids(c, ev);
    if (UNLIKELY(budget_over(&c->budget)))
        budget_error(&c->budget, *c->env.number, "the comparison", "set compare.why to off",
                     c->env.err);
}
