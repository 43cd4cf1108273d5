/* compared.c - the comparison of a run: made with it, told to the caller and to the results folder.
 */
#include "sim/session/session.h"

#include <stdio.h>

/* A difference as the caller and differences.jsonl get it: with names, and the reason in words. */
static void tell(void *session, const struct difference *d)
{
    const struct lardsim *l = session;
    const struct compare *c = l->compare;
    const struct event *access = &d->pair.access;
    char reason[500];
    const struct race_side is = {.event = d->event,
                                 .site = event_site(access),
                                 .thread = access->tid,
                                 .op = access->kind,
                                 .known = true};
    const struct lardsim_difference told = {
        .policy = c->instance[d->instance].label,
        .verdict = verdict_text[d->verdict],
        .of = of_text[d->of],
        .is = session_side(l, d->pair.is.known ? &d->pair.is : &is),
        .noticed = d->event,
        .earlier = session_side(l, &d->pair.earlier),
        .addr = access->addr,
        .size = access->size,
        .system = d->system,
        .location = d->pair.location,
        .location_name = names_find(l->seen, NAME_OBJECT, d->pair.location),
        .object = sim_object(l->seen, &d->object),
        .reported_by = c->instance[d->verdict == VERDICT_MISSED ? c->truth : d->instance].label,
        .why = why_text[d->why],
        .reason = reason,
    };
    struct json j;

    compare_reason(c, d, reason, sizeof reason);
    if (l->on.difference)
        l->on.difference(l->on.difference_arg, &told);
    if (!l->differences)
        return;
    json_init(&j, l->differences, false);
    sim_difference_json(&j, &told);
    fputc('\n', l->differences);
}

/* After the checkers, as it holds them against each other. */
int compared_begin(struct lardsim *l, unsigned granule)
{
    const struct compare_env env = {
        .config = l->config,
        .stats = l->stats,
        .number = &l->number,
        .granule = granule,
        .placement = l->placement,
        .memory = &l->memory,
        .checker = l->checker,
        .checkers = l->checkers,
        .tell = tell,
        .tell_arg = l,
        .err = &l->err,
    };

    if (!l->comparing)
        return 0;
    l->compare = compare_new(&env, &l->err);
    return l->compare ? 0 : -1;
}

void compared_conflict(void *session, const char *label, const struct event *ev, sim_addr location,
                       const struct race_side *earlier)
{
    const struct lardsim *l = session;

    compare_conflict(l->compare, label, ev, location, earlier);
}

void lardsim_on_difference(struct lardsim *l,
                           void (*fn)(void *arg, const struct lardsim_difference *d), void *arg)
{
    l->on.difference = fn;
    l->on.difference_arg = arg;
}

bool lardsim_compare_instance(const struct lardsim *l, size_t i, struct lardsim_instance *to)
{
    const struct compare *c = l->compare;

    if (!c || i >= c->n)
        return false;
    const struct instance *in = &c->instance[i];
    *to = (struct lardsim_instance){in->label, in->property, i == c->truth, in->by_access,
                                    compare_same(in)};
    return true;
}

void sim_compare_json(const struct lardsim *l, struct json *j)
{
    if (l->compare)
        compare_json(l->compare, l->stats, j);
}

void compared_write(FILE *out, const struct lardsim *l)
{
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    json_key_str(&j, "schema", "lardsim-compare-1");
    json_key_object(&j, "configuration");
    config_each(l->config, json_write_text, &j);
    json_end(&j);
    sim_compare_json(l, &j);
    json_end(&j);
}
