/* report.c - what is counted and written of a race (docs/results.md).
 *
 * An access counts once, however many earlier ones it races with: each is a conflict of the one
 * race, and the race is told when the event is done. Sites that the trace does not know (0) are no
 * sites: they are counted apart, and make no pairs. */
#include "policy/checker/report.h"

#include <string.h>

void report_init(struct race_report *r, const struct checker_env *env, const char *policy,
                 struct stats_group *g, struct budget *budget)
{
    *r = (struct race_report){
        .env = env, .policy = policy, .names = env->names, .lines = env->lines};
    map_init(&r->sites, budget);
    map_init(&r->pairs, budget);
    map_init(&r->locations_inside, budget);
    stats_count(g, "races.accesses", "accesses",
                "Racy accesses (LARD's DRE); a commit counts as one.", &r->accesses);
    stats_distinct(g, "races.sites", "sites", "Distinct sites of racy accesses (LARD's PC).",
                   &r->site_count, &r->sites_roi);
    stats_distinct(g, "races.locations", "locations",
                   "Locations that had a race, each life of one counted once.", &r->locations,
                   &r->locations_roi);
    stats_distinct(g, "races.pairs", "pairs", "Unordered pairs of sites that raced.",
                   &r->pair_count, &r->pairs_roi);
    stats_count(g, "races.conflicts", "conflicts",
                "Earlier accesses that racy accesses raced with, over all granules.",
                &r->conflicts);
    stats_count(g, "races.program", "accesses", "Racy accesses of the program.", &r->program);
    stats_count(g, "races.system", "accesses", "Racy accesses of the runtime system.", &r->system);
    stats_count(g, "races.unsited", "accesses", "Racy accesses whose site the trace does not tell.",
                &r->unsited);
    stats_count(g, "races.unwritten", "accesses",
                "Racy accesses beyond races.max: counted, not in races.jsonl.", &r->unwritten);
    stats_invariant(g, "races.split", "Every racy access is the program's or the system's.",
                    STATS_SUM(&r->program, &r->system), STATS_EQ, STATS_SUM(&r->accesses));
    stats_invariant(g, "races.locations", "A location that raced has a conflict.",
                    STATS_SUM(&r->locations), STATS_LE, STATS_SUM(&r->conflicts));
    stats_invariant(g, "races.sites", "Each site of a racy access has a conflict.",
                    STATS_SUM(&r->site_count), STATS_LE, STATS_SUM(&r->conflicts));
}

void report_free(struct race_report *r)
{
    map_free(&r->sites);
    map_free(&r->pairs);
    map_free(&r->locations_inside);
}

/* ---- counting ------------------------------------------------------------------------------- */

/* Unordered: which of the two came first is chance. */
static uint64_t pair_hash(uint64_t a, uint64_t b)
{
    const bool swap = a > b;
    const uint64_t pair[2] = {swap ? b : a, swap ? a : b};

    return digest_bytes(pair, sizeof pair);
}

/* Adds to a set, whose values are bits: seen, and seen inside a region of interest. */
static void see(const struct race_report *r, struct map *set, uint64_t key, uint64_t *n,
                uint64_t *n_inside)
{
    uint64_t *seen = map_put(set, key);

    *n += !(*seen & 1);
    *n_inside += r->inside && !(*seen & 2);
    *seen |= r->inside ? 3 : 1;
}

static void see_location(struct race_report *r, sim_addr location, bool first)
{
    r->locations += first;
    if (!r->inside)
        return;
    uint64_t *seen = map_put(&r->locations_inside, location);
    r->locations_roi += first || !*seen;
    *seen = 1;
}

static void conflict(struct race_report *r, const struct event *ev, sim_addr location,
                     const struct race_side *earlier, bool first)
{
    const uint64_t site = event_site(ev);

    if (r->env->on_conflict)
        r->env->on_conflict(r->env->on_race_arg, r->policy, ev, location, earlier);
    if (r->after)
        after_race_note(r->after, ev, location);
    r->conflicts++;
    see_location(r, location, first);
    if (site && earlier->site)
        see(r, &r->pairs, pair_hash(site, earlier->site), &r->pair_count, &r->pairs_roi);
    if (site)
        see(r, &r->sites, site, &r->site_count, &r->sites_roi);
}

/* Names the sides of the race; the latest of several that the access conflicts with. */
static void name_sides(struct race *race, const struct event *ev, uint64_t number,
                       const struct race_side *other)
{
    if (race->conflicts++ && (!other->known || other->event <= race->earlier.event))
        return;
    race->earlier = *other;
    race->is = race_access(number, event_site(ev), ev->tid, ev->kind);
    race->addr = ev->addr;
    race->size = ev->size;
}

void race_conflict(struct race_report *r, const struct event *ev, sim_addr location,
                   const struct race_side *earlier, bool first)
{
    conflict(r, ev, location, earlier, first);
    name_sides(&r->race, ev, *r->env->number, earlier);
}

void race_late(struct race_report *r, const struct event *ev, uint64_t number,
               const struct race_side *other, bool first, bool counted)
{
    if (r->late.conflicts && r->late.is.event != number)
        race_late_done(r);
    r->told = race_access(number, event_site(ev), ev->tid, ev->kind);
    conflict(r, ev, ev->addr, other, first);
    r->told.known = false;
    if (!r->late.conflicts)
        r->late_counted = counted;
    r->late.system = ev->flags & EVF_SYSTEM;
    name_sides(&r->late, ev, number, other);
}

void race_region(struct race_report *r, const struct event *ev, const struct race_side *is,
                 sim_addr location, const struct race_side *earlier, bool first)
{
    r->told = *is;
    conflict(r, ev, location, earlier, first);
    r->told.known = false;
    r->late_counted = false;
    r->late_several = true;
    r->late.system = ev->flags & EVF_SYSTEM;
    name_sides(&r->late, ev, is->event, earlier);
    r->late.is = *is;
}

/* ---- identity and line ---------------------------------------------------------------------- */

/* A site as text, the same in every run of the same program: its name, else its number. */
static const char *site_text(const struct race_report *r, uint64_t site, char number[static 24])
{
    const char *name = site && r->names ? names_find(r->names, NAME_SITE, site) : NULL;

    if (name)
        return name;
    if (!site)
        return NULL;
    snprintf(number, 24, "0x%llx", (unsigned long long)site);
    return number;
}

/* Hashes the sites' texts, not their numbers: another recording may number the same sites
 * differently. */
static uint64_t race_id(const char *a, const char *b)
{
    struct digest *d = digest_new();

    a = a ? a : "?";
    b = b ? b : "?";
    if (strcmp(a, b) > 0) {
        const char *t = a;
        a = b;
        b = t;
    }
    digest_add(d, a, strlen(a) + 1);
    digest_add(d, b, strlen(b) + 1);
    const uint64_t id = digest_value(d);
    digest_free(d);
    return id;
}

static void write_side(struct json *j, const struct race_side *s, const char *site)
{
    s->known ? json_key_u64(j, "thread", s->thread) : json_key_null(j, "thread");
    json_key_str(j, "op", s->known ? ev_info[s->op].text : NULL);
    json_key_str(j, "site", s->known ? site : NULL);
    s->known && !s->region ? json_key_u64(j, "event", s->event) : json_key_null(j, "event");
    if (s->region)
        json_key_u64(j, "region", s->event);
    if (s->interval)
        json_key_u64(j, "interval", s->interval);
}

static void write_line(const struct race *race, FILE *out, const char *site,
                       const char *earlier_site, const char *allocated_at)
{
    struct json j;

    json_init(&j, out, false);
    json_object(&j);
    json_key_str(&j, "policy", race->policy);
    json_key_hex16(&j, "race", race->id);
    write_side(&j, &race->is, site);
    if (race->noticed != race->is.event)
        json_key_u64(&j, "noticed", race->noticed);
    json_key(&j, "address");
    json_hex(&j, race->addr);
    json_key_u64(&j, "size", race->size);
    object_json(&j, &race->object, allocated_at);
    json_key_bool(&j, "system", race->system);
    json_key_u64(&j, "conflicts", race->conflicts);
    json_key_object(&j, "earlier");
    write_side(&j, &race->earlier, earlier_site);
    json_end(&j);
    json_end(&j);
    fputc('\n', out);
}

static void publish(struct race_report *r, struct race *race)
{
    char number[3][24];
    const char *site = site_text(r, race->is.site, number[0]);
    const char *earlier = site_text(r, race->earlier.site, number[1]);
    struct placement *objects = r->env->placement ? *r->env->placement : NULL;

    race->policy = r->policy;
    race->id = race_id(site, earlier);
    race->noticed = *r->env->number;
    if (objects) { /* as of now; only if a caller asks for races */
        placement_reach(objects, *r->env->number);
        race->object = placement_find(objects, race->addr);
    }
    if (r->env->on_race)
        r->env->on_race(r->env->on_race_arg, race);
    if (!r->lines) {
        /* races.max bounds the file, never the counts. */
        r->unwritten++;
        return;
    }
    r->lines--;
    if (r->env->races && *r->env->races)
        write_line(race, *r->env->races, site, earlier, site_text(r, race->object.site, number[2]));
}

/* A racy access. */
static void count_race(struct race_report *r, struct race *race)
{
    r->accesses++;
    *(race->system ? &r->system : &r->program) += 1;
    r->unsited += !race->is.site;
    publish(r, race);
    if (r->accesses == 1)
        r->first = *race;
}

void report_done(struct race_report *r, const struct event *blamed)
{
    if (LIKELY(!r->race.conflicts))
        return;
    r->race.system = blamed->flags & EVF_SYSTEM;
    count_race(r, &r->race);
    r->race = (struct race){0};
}

void race_late_done(struct race_report *r)
{
    if (r->late.conflicts && !r->late_counted)
        count_race(r, &r->late);
    r->several += r->late.conflicts && r->late_several;
    r->late_several = false;
    r->late = (struct race){0};
}
