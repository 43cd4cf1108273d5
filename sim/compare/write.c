/* write.c - what a comparison finds, as text and JSON (differences.jsonl, compare.json, the command
 * line). */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/compare/compare.h"

const char *const why_text[WHYS] = {"unchecked", "no-conflict", "ordered",
                                    "forgotten", "rule",        "unknown"};
const char *const of_text[OFS] = {"access", "place", "pair"};
const char *const of_plural[OFS] = {"accesses", "places", "pairs"};
const char *const verdict_text[VERDICTS] = {"false", "missed"};

/* ---- why, as a sentence --------------------------------------------------------------------- */

/* A sentence in the making; what does not fit is cut off. */
struct text {
    char *to;
    size_t room, n;
};

static PRINTF_LIKE(2, 3) void add(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    const int n = vsnprintf(t->to + t->n, t->room - t->n, fmt, ap);
    va_end(ap);
    t->n = n < 0 || t->n + (size_t)n >= t->room ? t->room - 1 : t->n + (size_t)n;
}

/* The names of single views: "all-memory and no-clear". */
static void add_views(struct text *t, unsigned bits)
{
    const char *between = "";

    for (const struct view_info *v = view_info; v->name; v++) {
        if (!v->bits || (v->bits & (v->bits - 1)) || !(v->bits & bits))
            continue;
        add(t, "%s%s", between, v->name);
        between = " and ";
    }
}

static const char *kind_of_access(const struct event *ev)
{
    if (ev->flags & EVF_SYSTEM)
        return "the runtime system's";
    if (ev->flags & EVF_STACK)
        return "to a stack";
    if (ev->flags & EVF_FINAL)
        return "to a final field";
    return ev->flags & EVF_VOLATILE ? "of a volatile operation" : "outside its view";
}

/* Adds the fate of the silent side's record. */
static void add_fate(struct text *t, const struct difference *d, const struct instance *reporter)
{
    static const struct {
        const char *before, *behind; /* the number of an event; behind: NULL: it is not told */
    } text[] = {
        [FATE_KEPT] = {"", NULL},
        [FATE_UNCHECKED] = {": it did not check it", NULL},
        [FATE_UNKEPT] = {": it did not remember it", NULL},
        [FATE_DISPLACED] = {": event ", " took its place"},
        [FATE_GONE] = {": event ", " made it forget it"},
        [FATE_CLEARED] = {": event ", " cleared it"},
        [FATE_OVERWRITTEN] = {": the copy at event ", " overwrote it"},
        [FATE_NOT_BROUGHT] = {": the copy at event ", ", which brought it here for "},
        [FATE_ANOTHER] = {" of that site: it remembers another access of its transaction", NULL},
        [FATE_ELSEWHERE] = {": that was an access to another address, which is another location "
                            "with granularity=field",
                            NULL},
        [FATE_UNKNOWN] = {"", NULL},
    };
    const unsigned long long event = d->fate.event;

    if (d->fate.how == FATE_DISPLACED && (event == d->pair.earlier.event || event == d->event))
        add(t, ": another access of %s transaction took its place",
            event == d->event ? "this" : "its");
    else if (text[d->fate.how].behind)
        add(t, "%s%llu%s", text[d->fate.how].before, event, text[d->fate.how].behind);
    else
        add(t, "%s", text[d->fate.how].before);
    if (d->fate.how == FATE_NOT_BROUGHT)
        add(t, "%s, did not for it", reporter->label);
    if (d->fate.rule)
        add(t, " (%s)", d->fate.rule);
}

static void add_forgotten(struct text *t, const struct difference *d, const struct instance *silent,
                          const struct instance *reporter)
{
    add(t, "%s %s no record of %sevent %llu%s at this location", silent->label,
        d->late ? "had" : "has", d->pair.earlier.region ? "the region's access from " : "",
        (unsigned long long)d->pair.earlier.event, d->pair.earlier.region ? " on" : "");
    if (d->late)
        add(t, " when that access came");
    else
        add_fate(t, d, reporter);
}

static void add_ordered(struct text *t, const struct instance *silent,
                        const struct instance *reporter, const struct pair *p)
{
    const unsigned sync = (silent->view ^ reporter->view) & (VIEW_ALL_SYNC | VIEW_NO_THREAD);

    if (!p->earlier.known || compare_both_read(p))
        add(t, "%s finds all conflicting accesses at this location ordered so far", silent->label);
    else
        add(t, "%s orders event %llu before this one", silent->label,
            (unsigned long long)p->earlier.event);
    if (!sync)
        return;
    add(t, " (views differ in ");
    add_views(t, sync);
    add(t, ")");
}

static void add_unknown(struct text *t, const struct compare *c, const struct difference *d,
                        const struct instance *reporter)
{
    if (!c->params.why)
        add(t, "not asked for (compare.why is off)");
    else if (!d->pair.earlier.known)
        add(t, "%s does not name the earlier access", reporter->label);
    else if (event_order(&d->pair.access) != ORDER_NONE)
        add(t, "both accesses may be atomic, and then do not conflict");
    else
        add(t, "%s noticed it after the access", reporter->label);
}

/* Names the rule by which the silent side misses the race. A policy that misses nothing of what it
 * promises can only miss what its promise is not about. */
static void add_rule(struct text *t, const struct difference *d, const struct instance *silent,
                     const struct instance *reporter)
{
    if (d->rule)
        add(t, "%s did not check this access: %s", silent->label, d->rule);
    else if (d->fate.rule || d->fate.how == FATE_UNKEPT)
        add_forgotten(t, d, silent, reporter);
    else if (!silent->by_access || !(silent->promise.claims & CLAIM_SOUND)) {
        if (!d->says)
            add(t, "%s goes by a rule of its own", silent->label);
    } else if (!(silent->promise.conflicts >> compare_kind(&d->pair) & 1)) {
        add(t, "%s does not look for %s", silent->label,
            conflict_info[compare_kind(&d->pair)].name);
    } else if (!d->says) {
        add(t, "%s goes by a rule of its own", reporter->label);
    }
}

static void give_reason(const struct compare *c, const struct difference *d, struct text *t)
{
    const struct instance *in = &c->instance[d->instance], *truth = &c->instance[c->truth];
    const bool missed = d->verdict == VERDICT_MISSED;
    const struct instance *silent = missed ? in : truth, *reporter = missed ? truth : in;

    switch ((enum why)d->why) {
    case WHY_UNCHECKED:
        add(t, "%s does not check this access (%s)", silent->label,
            kind_of_access(&d->pair.access));
        break;
    case WHY_NO_CONFLICT:
        add(t, "both accesses are reads, which is no conflict for %s", silent->label);
        break;
    case WHY_ORDERED:
        add_ordered(t, silent, reporter, &d->pair);
        break;
    case WHY_FORGOTTEN:
        add_forgotten(t, d, silent, reporter);
        break;
    case WHY_RULE:
        add_rule(t, d, silent, reporter);
        break;
    case WHY_UNKNOWN:
        add_unknown(t, c, d, reporter);
        break;
    case WHYS:
        break;
    }
    if (d->says)
        add(t, "%s%s: %s", t->n ? "; " : "", in->label, d->says);
}

void compare_reason(const struct compare *c, const struct difference *d, char *to, size_t room)
{
    struct text t = {to, room, 0};

    *to = '\0';
    give_reason(c, d, &t);
}

/* ---- telling of a difference ---------------------------------------------------------------- */

void sim_side_json(struct json *j, const struct lardsim_side *s)
{
    char number[24];

    snprintf(number, sizeof number, "0x%llx", (unsigned long long)s->site);
    json_key_u64(j, "thread", s->thread);
    json_key_str(j, "op", ev_info[s->kind].text);
    json_key_str(j, "site", s->site_name ? s->site_name : s->site ? number : NULL);
    json_key_u64(j, s->region ? "region" : "event", s->event);
    if (s->interval)
        json_key_u64(j, "interval", s->interval);
}

void sim_earlier_json(struct json *j, const struct lardsim_side *s)
{
    json_key(j, "earlier");
    if (!s->known) {
        json_null(j);
        return;
    }
    json_object(j);
    sim_side_json(j, s);
    json_end(j);
}

struct lardsim_object sim_object(const struct names *names, const struct object_place *p)
{
    return (struct lardsim_object){
        .name = p->name,
        .offset = p->offset,
        .size = p->size,
        .event = p->event,
        .site = p->site,
        .site_name = names && p->site ? names_find(names, NAME_SITE, p->site) : NULL,
        .known = p->known,
        .allocated = p->allocated,
    };
}

void lardsim_object_json(const struct lardsim_object *o, struct json *j)
{
    const struct object_place p = {.known = o->known,
                                   .allocated = o->allocated,
                                   .name = o->name,
                                   .offset = o->offset,
                                   .size = o->size,
                                   .event = o->event,
                                   .site = o->site};
    char number[24];

    snprintf(number, sizeof number, "0x%llx", (unsigned long long)o->site);
    object_json(j, &p, o->site_name ? o->site_name : o->site ? number : NULL);
}

void sim_difference_json(struct json *j, const struct lardsim_difference *d)
{
    json_object(j);
    json_key_str(j, "policy", d->policy);
    json_key_str(j, "verdict", d->verdict);
    json_key_str(j, "of", d->of);
    sim_side_json(j, &d->is);
    if (d->is.region || d->noticed != d->is.event)
        json_key_u64(j, "noticed", d->noticed);
    json_key(j, "address");
    json_hex(j, d->addr);
    json_key_u64(j, "size", d->size);
    json_key_bool(j, "system", d->system);
    json_key(j, "location");
    json_hex(j, d->location);
    json_key_str(j, "location_name", d->location_name);
    lardsim_object_json(&d->object, j);
    json_key_str(j, "reported_by", d->reported_by);
    sim_earlier_json(j, &d->earlier);
    json_key_str(j, "why", d->why);
    json_key_str(j, "reason", d->reason);
    json_end(j);
}

/* ---- counts --------------------------------------------------------------------------------- */

static void write_verdict(struct json *j, const struct instance *in, enum verdict v)
{
    const struct difference_counts *n = &in->count[v];

    json_key_object(j, verdict_text[v]);
    if (in->by_access) {
        json_key_u64(j, "accesses", n->n[OF_ACCESS]);
        json_key_u64(j, "sites", n->sites);
        json_key_u64(j, "program", n->program);
        json_key_u64(j, "system", n->system);
    }
    json_key_u64(j, "places", n->n[OF_PLACE]);
    json_key_u64(j, "pairs", n->n[OF_PAIR]);
    json_key_object(j, "why");
    for (int of = in->by_access ? OF_ACCESS : OF_PLACE; of < OFS; of++) {
        json_key_object(j, of_plural[of]);
        for (size_t w = 0; w < WHYS; w++)
            json_key_u64(j, why_text[w], n->why[of][w]);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void write_instance(struct json *j, const struct stats *stats, const struct instance *in,
                           bool truth)
{
    static const char *const count[] = {"accesses", "sites", "places", "pairs"};
    uint64_t value;

    json_key_object(j, in->label);
    json_key_str(j, "property", in->property);
    for (size_t i = 0; i < ARRAY_SIZE(count); i++) {
        char *name = xasprintf("policy.%s.races.%s", in->label, count[i]);
        if (stats_value(stats, name, &value))
            json_key_u64(j, count[i], value);
        free(name);
    }
    if (!truth)
        json_key_bool(j, "same", compare_same(in));
    for (int v = 0; v < VERDICTS && !truth; v++)
        write_verdict(j, in, (enum verdict)v);
    json_end(j);
}

void compare_json(const struct compare *c, const struct stats *stats, struct json *j)
{
    json_key_str(j, "truth", c->instance[c->truth].label);
    json_key_object(j, "policies");
    for (uint32_t i = 0; i < c->n; i++)
        write_instance(j, stats, &c->instance[i], i == c->truth);
    json_end(j);
    json_key_u64(j, "listed", c->told);
    json_key_u64(j, "unlisted", c->unlisted);
}

const char *sim_why(size_t i)
{
    return i < WHYS ? why_text[i] : NULL;
}
