/* verdict.c - runs a policy and the oracle over the same events and compares what they say. */
#include "tests/frame/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct verdict_view verdict_view[] = {
    {"tracked", 0},
    {"all-memory", ORACLE_ALL_MEMORY},
    {"all-sync", ORACLE_ALL_SYNC},
    {"no-clear", ORACLE_NO_CLEAR},
    {"no-copy", ORACLE_NO_COPY},
    {"no-thread", ORACLE_NO_THREAD},
    {"naive", ORACLE_ALL_MEMORY | ORACLE_ALL_SYNC | ORACLE_NO_CLEAR | ORACLE_NO_COPY},
    {NULL, 0},
};

/* ---- streams -------------------------------------------------------------------------------- */

void stream_add(struct stream *s, const struct event *ev)
{
    for (unsigned i = 0; i < event_records(ev); i++) {
        s->rec = xgrow(s->rec, s->records, &s->cap, sizeof *s->rec);
        s->rec[s->records++] = ev[i];
    }
    s->events++;
}

int stream_read(struct stream *s, struct source *from, struct err *e)
{
    struct batch b;

    for (;;) {
        if (source_next(from, &b, e))
            return -1;
        if (!b.records)
            return 0;
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i]))
            stream_add(s, &b.rec[i]);
    }
}

void stream_free(struct stream *s)
{
    free(s->rec);
    *s = (struct stream){NULL, 0, 0, 0};
}

const struct event **stream_index(const struct stream *s)
{
    const struct event **at = xcalloc(s->events + 1, sizeof *at);
    size_t n = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        at[n++] = &s->rec[i];
    return at;
}

void stream_print(const struct stream *s, const struct names *names, FILE *out)
{
    struct sink_info info = {.producer = NULL};
    struct err e = {0};
    struct sink *to = sink_text(out, &info, &e);

    if (!to || (names && to->names(to, names, &e)))
        die("%s", e.text);
    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        if (to->event(to, &s->rec[i], &e))
            die("%s", e.text);
    if (to->finish(to, &e))
        die("%s", e.text);
}

bool verdict_has_all(const char *policy)
{
    return strcmp(policy, "vc") == 0;
}

void verdict_case_text(const struct verdict_case *c, char *to, size_t room)
{
    char granule[16] = "field";

    if (c->granule)
        snprintf(granule, sizeof granule, "%u", c->granule);
    snprintf(to, room, "policy %s, view %s, history %s, granularity %s", c->policy, c->view->name,
             c->history_all ? "all" : "last", granule);
}

/* ---- the policy ----------------------------------------------------------------------------- */

struct run {
    struct config *config;
    struct stats *stats;
    struct checker *checker;
    const struct verdict_host *host; /* NULL: none */
    uint64_t number;
    struct err err;
    struct race *race; /* owns; in order of events */
    size_t races, cap;
};

static void keep_race(void *arg, const struct race *race)
{
    struct run *r = arg;

    r->race = xgrow(r->race, r->races, &r->cap, sizeof *r->race);
    r->race[r->races++] = *race;
}

static void set(struct run *r, const char *name, const char *value)
{
    char *text = xasprintf("policy.a.%s%s%s", name, value ? "=" : "", value ? value : "");

    if (config_set(r->config, text, &r->err))
        die("%s", r->err.text);
    free(text);
}

static const struct verdict_hardware nothing;

static void run_open(struct run *r, const struct verdict_case *c, const struct verdict_hardware *on)
{
    char *spec = xasprintf("a=%s", c->policy);

    *r = (struct run){.config = config_new(NULL), .stats = stats_new()};
    set(r, "view", c->view->name);
    if (c->history_all)
        set(r, "history", "all");
    for (const char *const *setting = on->settings; setting && *setting; setting++)
        set(r, *setting, NULL);
    const struct verdict_host *host = r->host = on->open ? on->open(on->arg) : NULL;
    const struct checker_env env = {.config = r->config,
                                    .stats = r->stats,
                                    .number = &r->number,
                                    .granule = c->granule,
                                    .lines = UINT64_MAX,
                                    .on_race = keep_race,
                                    .on_race_arg = r,
                                    .machine = host ? host->machine : NULL,
                                    .host = host ? host->self : NULL,
                                    .exec = host ? host->exec : NULL,
                                    .mem = host ? host->mem : NULL,
                                    .err = &r->err};
    r->checker = checker_new(spec, &env, &r->err);
    if (!r->checker)
        die("%s", r->err.text);
    free(spec);
}

static void run_close(struct run *r, const struct verdict_hardware *on)
{
    if (on->close)
        on->close(on->arg, r->stats);
    checker_free(r->checker);
    config_free(r->config);
    stats_free(r->stats);
    free(r->race);
}

static void run_on_host(struct run *r, const struct stream *s)
{
    sim_cycle now = 0;

    for (size_t i = 0; i < s->records && !r->err.code; i += event_records(&s->rec[i])) {
        now = r->host->event(r->host->self, r->checker, &s->rec[i], now);
        r->number++;
    }
}

/* False: the policy can't go on. */
static bool run_all(struct run *r, const struct stream *s)
{
    const struct event *ev = s->rec, *end = ev + s->records;

    if (r->host)
        run_on_host(r, s);
    while (!r->host && ev < end && !r->err.code)
        ev = checker_run(r->checker, ev, end, end, &r->number);
    if (!r->err.code)
        checker_finish(r->checker);
    return !r->err.code;
}

static uint64_t run_stat(const struct run *r, const char *name)
{
    uint64_t value = 0;

    if (!stats_value(r->stats, name, &value))
        die("no statistic %s", name);
    return value;
}

/* ---- the oracle ----------------------------------------------------------------------------- */

static struct oracle *judge(const struct stream *s, const struct verdict_case *c)
{
    const struct oracle_options o = {c->history_all, c->granule, c->view->bits};

    return oracle_new(s->rec, s->records, &o);
}

/* ---- comparing ------------------------------------------------------------------------------ */

bool side_is(const struct race_side *side, uint64_t event, const struct event *access)
{
    return side->known && side->event == event && side->thread == access->tid &&
           side->op == access->kind && side->site == event_site(access);
}

/* The sides of a race are those of a pair, and there is no later partner. */
static bool sides_hold(const struct oracle *o, const struct event **at, const struct race *race,
                       bool every)
{
    const struct oracle_pair *p;
    const size_t n = oracle_pairs(o, race->is.event, &p);
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        if (p[i].earlier > race->earlier.event)
            return false;
        found = found || (side_is(&race->is, p[i].event, at[p[i].access]) &&
                          side_is(&race->earlier, p[i].earlier, at[p[i].earlier_access]));
    }
    return found && (every ? race->conflicts == n : race->conflicts && race->conflicts <= n);
}

static bool races_differ(const struct oracle *o, const struct event **at, const struct run *r,
                         bool every, char *why, size_t room)
{
    size_t k = 0;

    for (size_t e = 0; e < oracle_events(o); e++) {
        const bool says = k < r->races && r->race[k].is.event == e;
        if (says != oracle_racy(o, e)) {
            snprintf(why, room, "event %zu: the oracle says %s, the policy %s", e,
                     says ? "no race" : "race", says ? "race" : "no race");
            return true;
        }
        if (says && !sides_hold(o, at, &r->race[k], every)) {
            const struct race_side *x = &r->race[k].earlier;
            snprintf(why, room,
                     "event %zu is said to race with event %" PRIu64 " (T%u, op %u, site %#" PRIx64
                     ") and %" PRIu32 " in all; that is no such pair, or not the latest",
                     e, x->event, (unsigned)x->thread, (unsigned)x->op, x->site,
                     r->race[k].conflicts);
            return true;
        }
        k += says;
    }
    if (k < r->races)
        snprintf(why, room, "race %zu of %zu is out of order, or given twice", k, r->races);
    return k < r->races;
}

/* ---- counts: from the oracle's pairs, by plain search --------------------------------------- */

struct count {
    const char *name;
    uint64_t value;
    bool every; /* policies that do not know every partner count at most this */
};
enum { ACCESSES, SITES, LOCATIONS, PAIRS, CONFLICTS, PROGRAM, SYSTEM, COUNTS };

struct site_pairs { /* a set of pairs of numbers */
    uint64_t (*at)[2];
    size_t n, cap;
};

static void add_pair(struct site_pairs *set, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < set->n; i++)
        if ((set->at[i][0] == a && set->at[i][1] == b) ||
            (set->at[i][0] == b && set->at[i][1] == a))
            return;
    set->at = xgrow(set->at, set->n, &set->cap, sizeof *set->at);
    set->at[set->n][0] = a;
    set->at[set->n++][1] = b;
}

static void count_all(const struct oracle *o, const struct event **at, struct count count[COUNTS])
{
    const struct oracle_location *unused;
    struct site_pairs sites = {0}, pairs = {0};
    const struct oracle_pair *p;

    for (size_t e = 0; e < oracle_events(o); e++) {
        const size_t n = oracle_pairs(o, e, &p);
        count[ACCESSES].value += n > 0;
        count[at[e]->flags & EVF_SYSTEM ? SYSTEM : PROGRAM].value += n > 0;
        count[CONFLICTS].value += n;
        for (size_t i = 0; i < n; i++) {
            const uint64_t site = event_site(at[p[i].access]),
                           other = event_site(at[p[i].earlier_access]);
            if (site)
                add_pair(&sites, site, site);
            if (site && other)
                add_pair(&pairs, site, other);
        }
    }
    count[SITES].value = sites.n;
    count[PAIRS].value = pairs.n;
    count[LOCATIONS].value = oracle_locations(o, &unused);
    free(sites.at);
    free(pairs.at);
}

static bool counts_differ(const struct oracle *o, const struct event **at, const struct run *r,
                          bool every, char *why, size_t room)
{
    struct count count[COUNTS] = {
        [ACCESSES] = {"accesses", 0, true},    [SITES] = {"sites", 0, true},
        [LOCATIONS] = {"locations", 0, true},  [PAIRS] = {"pairs", 0, every},
        [CONFLICTS] = {"conflicts", 0, every}, [PROGRAM] = {"program", 0, true},
        [SYSTEM] = {"system", 0, true},
    };

    count_all(o, at, count);
    for (size_t i = 0; i < COUNTS; i++) {
        char *name = xasprintf("policy.a.races.%s", count[i].name);
        const uint64_t has = run_stat(r, name);
        free(name);
        if (has == count[i].value || (!count[i].every && has < count[i].value))
            continue;
        snprintf(why, room, "the oracle counts %" PRIu64 " %s, the policy %" PRIu64, count[i].value,
                 count[i].name, has);
        return true;
    }
    if (checker_races(r->checker) == r->races && r->races == count[ACCESSES].value)
        return false;
    snprintf(why, room, "%zu races were reported, %" PRIu64 " counted", r->races,
             count[ACCESSES].value);
    return true;
}

bool verdict_differs(const struct stream *s, const struct verdict_case *c, char *why, size_t room)
{
    return verdict_differs_on(s, c, &nothing, why, room);
}

bool verdict_differs_on(const struct stream *s, const struct verdict_case *c,
                        const struct verdict_hardware *on, char *why, size_t room)
{
    struct oracle *o = judge(s, c);
    struct run r;
    bool differs;

    run_open(&r, c, on);
    const bool judged = run_all(&r, s);
    if (judged != (o != NULL)) {
        snprintf(why, room, "%s refuses: %s", o ? "the policy" : "the oracle", r.err.text);
        differs = true;
    } else if (!o) {
        differs = false;
    } else {
        const struct event **at = stream_index(s);
        differs = races_differ(o, at, &r, verdict_has_all(c->policy), why, room) ||
                  counts_differ(o, at, &r, verdict_has_all(c->policy), why, room);
        free(at);
    }
    run_close(&r, on);
    oracle_free(o);
    return differs;
}

/* ---- one of them alone ---------------------------------------------------------------------- */

bool verdict_of_oracle(const struct stream *s, const struct verdict_case *c, bool *racy,
                       uint64_t *locations)
{
    struct oracle *o = judge(s, c);
    const struct oracle_location *unused;

    if (!o)
        return false;
    for (size_t e = 0; e < oracle_events(o); e++)
        racy[e] = oracle_racy(o, e);
    *locations = oracle_locations(o, &unused);
    oracle_free(o);
    return true;
}

bool verdict_of_policy(const struct stream *s, const struct verdict_case *c, bool *racy,
                       uint64_t *locations)
{
    struct run r;

    run_open(&r, c, &nothing);
    const bool judged = run_all(&r, s);
    memset(racy, 0, s->events * sizeof *racy);
    for (size_t i = 0; i < r.races; i++)
        racy[r.race[i].is.event] = true;
    *locations = run_stat(&r, "policy.a.races.locations");
    run_close(&r, &nothing);
    return judged;
}
