/* verdict.c - runs a policy and the oracle over the same events and compares what they say. */
#include "tests/frame/verdict.h"
#include "tests/frame/lives.h"

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

/* ---- cases ---------------------------------------------------------------------------------- */

static bool other_choice(const struct param *row, size_t k, char to[VERDICT_SETTING])
{
    static const char *const bools[] = {"on", "off", NULL};

    for (const char *const *is = row->type == PARAM_BOOL ? bools : row->choices; *is; is++)
        if (strcmp(*is, row->value) && k-- == 0) {
            snprintf(to, VERDICT_SETTING, "%s=%s", row->name, *is);
            return true;
        }
    return false;
}

enum { NUMBERS = 16 };

/* From the row's own limits: the least number, powers of two that lie further and further above it,
 * one beside each, and the largest. */
static size_t numbers_of(const struct param *row, uint64_t to[NUMBERS])
{
    const uint64_t from = row->min ? row->min : 1;
    size_t n = 0;

    to[n++] = row->min;
    for (unsigned shift = 0; shift <= 32; shift = shift ? 2 * shift : 1)
        for (uint64_t is = from << shift, end = is + 2; is >> shift == from && is < end; is++)
            if (is > to[n - 1] && is < row->max)
                to[n++] = is;
    to[n++] = row->max;
    return n;
}

static bool other_number(const struct param *row, size_t k, char to[VERDICT_SETTING])
{
    uint64_t number[NUMBERS];
    const bool has = k < numbers_of(row, number);

    if (has)
        snprintf(to, VERDICT_SETTING, "%s=%" PRIu64, row->name, number[k]);
    return has;
}

bool verdict_other(const struct param *row, size_t k, char to[VERDICT_SETTING])
{
    if (row->type == PARAM_BOOL || row->type == PARAM_CHOICE)
        return other_choice(row, k, to);
    return row->type == PARAM_U64 && other_number(row, k, to);
}

bool verdict_setting(const char *policy, size_t i, char to[VERDICT_SETTING])
{
    const struct param *row = policy_find(policy)->params;

    to[0] = '\0';
    for (; i > 0 && row && row->name; row++)
        for (size_t k = 0; i > 0 && verdict_other(row, k, to); k++)
            i--;
    return i == 0;
}

size_t verdict_settings(const char *policy)
{
    char unused[VERDICT_SETTING];
    size_t n = 0;

    while (verdict_setting(policy, n, unused))
        n++;
    return n;
}

void verdict_case_text(const struct verdict_case *c, char *to, size_t room)
{
    char granule[16] = "field";

    if (c->granule)
        snprintf(granule, sizeof granule, "%u", c->granule);
    snprintf(to, room, "policy %s, view %s, granularity %s%s%s", c->policy, c->view->name, granule,
             *c->setting ? ", " : "", c->setting);
}

/* ---- the policy ----------------------------------------------------------------------------- */

struct run {
    struct config *config;
    struct stats *stats;
    struct checker *checker; /* NULL: the policy can't be had with these parameters */
    struct promise promise;
    const struct verdict_host *host; /* NULL: none */
    uint64_t number;
    struct err err;
    struct race *race; /* owns; in order of events */
    size_t races, cap;
    struct finding *finding; /* owns: each location that a race was reported at */
    size_t findings, finding_cap;
};

static void keep_race(void *arg, const struct race *race)
{
    struct run *r = arg;

    r->race = xgrow(r->race, r->races, &r->cap, sizeof *r->race);
    r->race[r->races++] = *race;
}

static void keep_finding(void *arg, const char *label, const struct event *ev, sim_addr location,
                         const struct race_side *earlier)
{
    struct run *r = arg;

    (void)label;
    (void)ev;
    (void)earlier;
    r->finding = xgrow(r->finding, r->findings, &r->finding_cap, sizeof *r->finding);
    r->finding[r->findings++] = (struct finding){r->number, location};
}

static void set(struct run *r, const char *settings)
{
    char each[VERDICT_SETTINGS];

    snprintf(each, sizeof each, "%s", settings);
    for (char *at = each, *is; (is = strtok_r(at, " ", &at));) {
        char *text = xasprintf("policy.a.%s", is);
        if (config_set(r->config, text, &r->err))
            die("%s", r->err.text);
        free(text);
    }
}

static const struct verdict_hardware nothing;

static void run_open(struct run *r, const struct verdict_case *c, const struct verdict_hardware *on)
{
    char *spec = xasprintf("a=%s", c->policy), *view = xasprintf("view=%s", c->view->name);

    *r = (struct run){.config = config_new(NULL), .stats = stats_new()};
    set(r, view);
    set(r, c->setting);
    for (const char *const *setting = on->settings; setting && *setting; setting++)
        set(r, *setting);
    const struct verdict_host *host = r->host = on->open ? on->open(on->arg) : NULL;
    const struct checker_env env = {.config = r->config,
                                    .stats = r->stats,
                                    .number = &r->number,
                                    .granule = c->granule,
                                    .lines = UINT64_MAX,
                                    .on_race = keep_race,
                                    .on_conflict = keep_finding,
                                    .on_race_arg = r,
                                    .machine = host ? host->machine : NULL,
                                    .host = host ? host->self : NULL,
                                    .exec = host ? host->exec : NULL,
                                    .mem = host ? host->mem : NULL,
                                    .err = &r->err};
    r->checker = checker_new(spec, &env, &r->err);
    if (!r->checker && r->err.code != LARD_CONFIG)
        die("%s", r->err.text);
    if (r->checker)
        r->promise = c->as ? *c->as : checker_promise(r->checker);
    free(view);
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
    free(r->finding);
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

_Static_assert((int)VIEW_ALL_MEMORY == ORACLE_ALL_MEMORY && (int)VIEW_ALL_SYNC == ORACLE_ALL_SYNC &&
                   (int)VIEW_NO_CLEAR == ORACLE_NO_CLEAR && (int)VIEW_NO_COPY == ORACLE_NO_COPY &&
                   (int)VIEW_NO_THREAD == ORACLE_NO_THREAD,
               "the oracle restates the bits of views");

/* What is not claimed does not count. */
static unsigned without(unsigned conflicts)
{
    return (conflicts & CONFLICT_WAW ? 0 : ORACLE_NO_WRITE_AFTER_WRITE) |
           (conflicts & CONFLICT_RAW ? 0 : ORACLE_NO_READ_AFTER_WRITE) |
           (conflicts & CONFLICT_WAR ? 0 : ORACLE_NO_WRITE_AFTER_READ) |
           (conflicts & CONFLICT_ATOMIC ? 0 : ORACLE_NO_ATOMICS);
}

static struct oracle *judge(const struct stream *s, const struct verdict_case *c,
                            const struct run *r)
{
    const struct oracle_options o = {r->promise.history == HISTORY_ALL, c->granule,
                                     checker_view(r->checker) | without(r->promise.conflicts)};

    return oracle_new(s->rec, s->records, &o);
}

/* The oracle can judge that: it is about happens-before and says something. Not that a late verdict
 * is right where some are missed: by then its location may have moved, and be racy for what was
 * missed. */
static bool judged_by_it(const struct promise *p)
{
    return p->history != HISTORY_OWN &&
           p->claims & (p->claims & CLAIM_EAGER ? CLAIM_SOUND | CLAIM_PRECISE : CLAIM_SOUND);
}

bool verdict_takes(const struct verdict_case *c)
{
    struct run r;

    run_open(&r, c, &nothing);
    const bool takes = r.checker && judged_by_it(&r.promise);
    run_close(&r, &nothing);
    return takes;
}

/* ---- comparing ------------------------------------------------------------------------------ */

bool side_is(const struct race_side *side, uint64_t event, const struct event *access)
{
    return side->known && side->event == event && side->thread == access->tid &&
           side->op == access->kind && side->site == event_site(access);
}

static bool claims(const struct run *r, unsigned all)
{
    return (r->promise.claims & all) == all;
}

/* The sides of a race are those of a pair, and there is no later partner. */
static bool sides_hold(const struct oracle *o, const struct event **at, const struct run *r,
                       const struct race *race)
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
    return found && (claims(r, CLAIM_EVERY) ? race->conflicts == n
                                            : race->conflicts && race->conflicts <= n);
}

/* Of a policy with a verdict on each access: which race, and with whom. Sides are judged where
 * nothing is missed: who leaves accesses out may name one that another has replaced. */
static bool races_differ(const struct oracle *o, const struct event **at, const struct run *r,
                         char *why, size_t room)
{
    size_t k = 0;

    for (size_t e = 0; e < oracle_events(o); e++) {
        const bool says = k < r->races && r->race[k].is.event == e, is = oracle_racy(o, e);
        if (says != is && claims(r, says ? CLAIM_PRECISE : CLAIM_SOUND)) {
            snprintf(why, room, "event %zu: the oracle says %s, the policy %s", e,
                     says ? "no race" : "race", says ? "race" : "no race");
            return true;
        }
        if (says && is && claims(r, CLAIM_SOUND | CLAIM_PRECISE) &&
            !sides_hold(o, at, r, &r->race[k])) {
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

/* Of a policy that may find a race late: the locations that have one, each in its life. */
static bool locations_differ(const struct stream *s, const struct oracle *o, const struct run *r,
                             char *why, size_t room)
{
    struct lives right, its;

    lives_of_oracle(&right, s, checker_view(r->checker), o);
    lives_of(&its, s, checker_view(r->checker), r->finding, r->findings);
    const bool differ =
        (claims(r, CLAIM_SOUND) && lives_lack(&right, "the oracle", &its, why, room)) ||
        (claims(r, CLAIM_PRECISE) && lives_lack(&its, "the policy", &right, why, room));
    lives_free(&right);
    lives_free(&its);
    return differ;
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
                          char *why, size_t room)
{
    const bool every = claims(r, CLAIM_EVERY);
    struct count count[COUNTS] = {
        [ACCESSES] = {"accesses", 0, true},    [SITES] = {"sites", 0, true},
        [LOCATIONS] = {"locations", 0, true},  [PAIRS] = {"pairs", 0, every},
        [CONFLICTS] = {"conflicts", 0, every}, [PROGRAM] = {"program", 0, true},
        [SYSTEM] = {"system", 0, true},
    };

    const uint64_t told = run_stat(r, "policy.a.races.accesses");

    if (told != r->races) {
        snprintf(why, room, "%zu races were reported, %" PRIu64 " counted", r->races, told);
        return true;
    }
    count_all(o, at, count);
    for (size_t i = 0; claims(r, CLAIM_SOUND | CLAIM_PRECISE) && i < COUNTS; i++) {
        char *name = xasprintf("policy.a.races.%s", count[i].name);
        const uint64_t has = run_stat(r, name);
        free(name);
        if (has == count[i].value || (!count[i].every && has < count[i].value))
            continue;
        snprintf(why, room, "the oracle counts %" PRIu64 " %s, the policy %" PRIu64, count[i].value,
                 count[i].name, has);
        return true;
    }
    return false;
}

bool verdict_differs(const struct stream *s, const struct verdict_case *c, char *why, size_t room)
{
    return verdict_differs_on(s, c, &nothing, why, room);
}

/* It can't go on as it is set, and says by which parameter. */
static bool refuses_setting(const struct run *r, const struct verdict_case *c)
{
    char text[VERDICT_SETTINGS];
    bool named = false;

    snprintf(text, sizeof text, "%s", c->setting);
    for (char *at = text, *name; (name = strtok_r(at, " =", &at)); strtok_r(at, " ", &at))
        named = named || strstr(r->err.text, name);
    return named && r->err.code == LARD_CONFIG;
}

static bool run_differs(const struct stream *s, const struct verdict_case *c, struct run *r,
                        char *why, size_t room)
{
    const bool done = run_all(r, s);
    struct oracle *o = judge(s, c, r);
    const struct event **at = stream_index(s);
    bool differs = false;

    if (o && refuses_setting(r, c)) {
        ; /* it has said so, which is no verdict */
    } else if (done != (o != NULL)) {
        snprintf(why, room, "%s refuses: %s", o ? "the policy" : "the oracle", r->err.text);
        differs = true;
    } else if (o && claims(r, CLAIM_EAGER)) {
        differs = races_differ(o, at, r, why, room) || counts_differ(o, at, r, why, room);
    } else if (o) {
        differs = locations_differ(s, o, r, why, room);
    }
    free(at);
    oracle_free(o);
    return differs;
}

bool verdict_differs_on(const struct stream *s, const struct verdict_case *c,
                        const struct verdict_hardware *on, char *why, size_t room)
{
    struct run r;

    run_open(&r, c, on);
    if (!r.checker)
        die("%s", r.err.text);
    const bool differs = judged_by_it(&r.promise) && run_differs(s, c, &r, why, room);
    run_close(&r, on);
    return differs;
}

/* ---- one of them alone ---------------------------------------------------------------------- */

bool verdict_of_oracle(const struct stream *s, const struct oracle_options *is, bool *racy,
                       uint64_t *locations)
{
    struct oracle *o = oracle_new(s->rec, s->records, is);
    const struct oracle_location *unused;

    if (!o)
        return false;
    for (size_t e = 0; e < oracle_events(o); e++)
        racy[e] = oracle_racy(o, e);
    *locations = oracle_locations(o, &unused);
    oracle_free(o);
    return true;
}
