/* t_region_verdict.c - policies on conflicts of regions, held to the region oracle on random
 * streams: the same locations, each in its life, have a conflict; what is reported at the access
 * that conflicts is one of the oracle's conflicts, sides and all; what valor reports later, of a
 * read, had happened by then. fastrcd finds each location's first conflict where the oracle does.
 * Before input and output a thread's conflicts of reads are found.
 * With logs that are too small conflicts may be missed, but what is reported has to be one.
 *
 *     t_region_verdict [--mutant NAME] [FIRST-SEED [SEEDS [POLICY]]]     default: 1 300, all
 *
 * Each policy that promises conflicts of regions is one of all. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/frame/draw.h"
#include "tests/frame/lives.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/region.h"
#include "tests/frame/watch.h"

enum { CASES = 6, WHY = 300, SKIPPED = 77 };

struct setting {
    const char *name;
    unsigned low, high;
};
enum { MISSES = 3 };

/* What is drawn of the parameters that a policy has. */
static const struct setting same_setting = {"period", 1, 20}, /* may be anything */
    misses_setting[MISSES] = {                                /* too small for these streams */
                              {"read-log", 1, 9},
                              {"write-set", 1, 9},
                              {"version-bits", 1, 2}};

struct subject {
    const char *name;
    bool eager;                    /* each conflict is reported at the access */
    bool regions;                  /* which regions can be chosen */
    struct setting same;           /* without a name: it has no such parameter */
    struct setting misses[MISSES]; /* with these conflicts are missed, none is false */
};

static bool has_param(const struct policy *p, const char *name)
{
    const struct param *row = p->params;

    while (row && row->name && strcmp(row->name, name))
        row++;
    return row && row->name;
}

/* Any policy that promises conflicts of regions. */
static struct subject subject_of(const struct policy *p)
{
    struct subject is = {.name = p->name,
                         .eager = p->promise.claims & CLAIM_EAGER,
                         .regions = has_param(p, "regions")};

    if (has_param(p, same_setting.name))
        is.same = same_setting;
    for (unsigned i = 0; i < MISSES; i++)
        if (has_param(p, misses_setting[i].name))
            is.misses[i] = misses_setting[i];
    return is;
}

struct one { /* a comparison */
    const struct subject *policy;
    const struct verdict_view *view;
    unsigned granule;
    bool sync_free;
    unsigned same, misses[MISSES]; /* the settings' values; 0: as they are */
};

struct seen {
    uint64_t events, cases, with, eager, lazy, locations;
};

/* ---- the two tellers ------------------------------------------------------------------------ */

static struct region_oracle *judge(const struct stream *s, const struct one *c)
{
    const struct region_options is = {c->sync_free, c->granule, c->view->bits};

    return region_oracle_new(s->rec, s->records, &is);
}

enum { ROOM = 40, SETTINGS = 3 + MISSES + 1 };

static void settings_text(const struct one *c, char to[SETTINGS][ROOM])
{
    unsigned n = 0;

    snprintf(to[n++], ROOM, "view=%s", c->view->name);
    if (c->policy->regions)
        snprintf(to[n++], ROOM, "regions=%s", c->sync_free ? "sync-free" : "release-free");
    if (c->same)
        snprintf(to[n++], ROOM, "%s=%u", c->policy->same.name, c->same);
    for (unsigned i = 0; i < MISSES; i++)
        if (c->misses[i])
            snprintf(to[n++], ROOM, "%s=%u", c->policy->misses[i].name, c->misses[i]);
    to[n][0] = '\0';
}

static void policy_open(struct watch *w, const struct one *c)
{
    char text[SETTINGS][ROOM];
    const char *settings[SETTINGS] = {NULL};

    settings_text(c, text);
    for (unsigned i = 0; text[i][0]; i++)
        settings[i] = text[i];
    watch_open(w, c->policy->name, c->granule, settings);
}

static bool may_miss(const struct one *c)
{
    for (unsigned i = 0; i < MISSES; i++)
        if (c->misses[i])
            return true;
    return false;
}

static void lives_of_conflicts(struct lives *to, const struct stream *s, const struct one *c,
                               const struct region_oracle *o)
{
    const struct region_conflict *of;
    const size_t n = region_oracle_conflicts(o, &of);
    struct finding *f = xcalloc(n + 1, sizeof *f);

    for (size_t i = 0; i < n; i++)
        f[i] = (struct finding){of[i].event, of[i].location};
    lives_of(to, s, c->view->bits, f, n);
    free(f);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static bool is_eager(const struct region_oracle *o, const struct event **at,
                     const struct watch_conflict *r)
{
    const struct region_conflict *c;
    const size_t n = region_oracle_conflicts(o, &c);

    for (size_t i = 0; i < n; i++)
        if (c[i].event == r->event && c[i].location == r->location && c[i].kind == r->access.kind &&
            at[c[i].access]->tid == r->access.tid && at[c[i].access]->addr == r->access.addr &&
            side_is(&r->earlier, c[i].earlier, at[c[i].earlier_access]))
            return true;
    return false;
}

/* A read by the thread that the report is of, and a write in its region after it, by then, in this
 * life; the write is the other side, if there is one. */
static bool is_lazy(const struct stream *s, const struct one *is, const struct region_oracle *o,
                    const struct event **at, const struct watch_conflict *r)
{
    const uint64_t life = lives_number(s, is->view->bits, r->location, r->event);
    const struct region_conflict *c;
    const size_t n = region_oracle_conflicts(o, &c);

    for (size_t i = 0; i < n; i++) {
        const struct event *read = at[c[i].earlier_access];
        if (c[i].location != r->location || c[i].earlier_kind != EV_READ || c[i].event > r->event ||
            read->tid != r->access.tid)
            continue;
        if (r->access.kind == EV_READ && event_site(read) != event_site(&r->access))
            continue;
        if ((!r->earlier.known || side_is(&r->earlier, c[i].event, at[c[i].access])) &&
            lives_number(s, is->view->bits, r->location, c[i].event) == life)
            return true;
    }
    return false;
}

static bool reports_wrong(const struct stream *s, const struct one *c,
                          const struct region_oracle *o, const struct watch *w, struct seen *seen,
                          char *why)
{
    const struct event **at = stream_index(s);
    bool wrong = false;

    for (size_t i = 0; i < w->conflicts && !wrong; i++) {
        const struct watch_conflict *r = &w->conflict[i];
        const bool eager = is_eager(o, at, r);
        seen->eager += eager;
        seen->lazy += !eager;
        wrong = !eager && (c->policy->eager || !is_lazy(s, c, o, at, r));
        if (wrong)
            snprintf(why, WHY,
                     "at event %" PRIu64 ", location %#" PRIx64
                     ", a conflict of T%u, kind %u, with "
                     "%s event %" PRIu64 " (T%u, op %u) is reported; there is no such",
                     r->event, r->location, (unsigned)r->access.tid, (unsigned)r->access.kind,
                     r->earlier.known ? "known" : "unknown", r->earlier.event,
                     (unsigned)r->earlier.thread, (unsigned)r->earlier.op);
    }
    free(at);
    return wrong;
}

/* A racy access counts once, whenever it is told. */
static bool told_twice(const struct watch *w, char *why)
{
    for (size_t i = 0; i < w->races; i++)
        for (size_t k = 0; k < i; k++)
            if (w->race[i].is.event == w->race[k].is.event) {
                snprintf(why, WHY, "the race of event %" PRIu64 " is told twice",
                         w->race[i].is.event);
                return true;
            }
    return false;
}

static bool locations_differ(const struct stream *s, const struct one *c,
                             const struct region_oracle *o, const struct watch *w,
                             struct seen *seen, char *why)
{
    struct lives mine, its;
    const struct region_location *unused;

    lives_of_conflicts(&mine, s, c, o);
    lives_of_watch(&its, s, c->view->bits, w);
    bool differ = lives_differ(&mine, "the oracle", &its, "the policy", c->policy->eager, why, WHY);
    if (!differ && mine.n != region_oracle_locations(o, &unused)) {
        snprintf(why, WHY, "this test finds %zu locations in the oracle's conflicts", mine.n);
        differ = true;
    }
    if (!differ && watch_stat(w, "races.locations") != its.n) {
        snprintf(why, WHY, "%zu locations were reported, %" PRIu64 " counted", its.n,
                 watch_stat(w, "races.locations"));
        differ = true;
    }
    seen->locations += mine.n;
    seen->with += mine.n > 0;
    lives_free(&mine);
    lives_free(&its);
    return differ;
}

/* Before input and output a thread's reads are checked: what the oracle found first, of a read by
 * that thread, the policy has found by then. Not where threads have no identity. */
static bool overdue(const struct stream *s, const struct one *c, const struct region_oracle *o,
                    const struct watch *w, char *why)
{
    const struct event **at = stream_index(s);
    const struct region_conflict *of;
    const size_t n = c->view->bits & ORACLE_NO_THREAD ? 0 : region_oracle_conflicts(o, &of);
    struct lives mine, its;
    bool late = false;

    lives_of_conflicts(&mine, s, c, o);
    lives_of_watch(&its, s, c->view->bits, w); /* the same, and in the same order */
    for (size_t i = 0; i < n && !late; i++) {
        const sim_tid reader = at[of[i].earlier_access]->tid;
        size_t k = 0, e = of[i].event;
        while (k < mine.n && (mine.at[k].location != of[i].location || mine.at[k].event != e))
            k++;
        if (k == mine.n || of[i].earlier_kind != EV_READ)
            continue;
        while (e < s->events && (at[e]->kind != EV_IO || at[e]->tid != reader))
            e++;
        late = e < s->events && its.at[k].event > e;
        if (late)
            snprintf(why, WHY,
                     "the conflict of event %zu with %zu is found at event %" PRIu64
                     ", after the io of event %zu",
                     of[i].event, of[i].earlier, its.at[k].event, e);
    }
    lives_free(&mine);
    lives_free(&its);
    free(at);
    return late;
}

static bool differ(const struct stream *s, const struct one *c, struct seen *seen, char *why)
{
    struct region_oracle *o = judge(s, c);
    struct watch w;
    bool wrong;

    policy_open(&w, c);
    watch_run(&w, s->rec, s->records);
    if (!o != (w.err.code != 0)) {
        snprintf(why, WHY, "%s refuses: %.200s", o ? "the policy" : "the oracle", w.err.text);
        wrong = true;
    } else
        wrong = o && ((!may_miss(c) &&
                       (locations_differ(s, c, o, &w, seen, why) || overdue(s, c, o, &w, why))) ||
                      reports_wrong(s, c, o, &w, seen, why) || told_twice(&w, why));
    watch_close(&w);
    region_oracle_free(o);
    return wrong;
}

/* ---- the property --------------------------------------------------------------------------- */

static bool still_differ(const struct stream *s, const void *arg)
{
    struct seen unused = {0};
    char why[WHY];

    return differ(s, arg, &unused, why);
}

static void tell(const struct synth_params *p, struct stream *s, const struct one *c)
{
    struct seen unused = {0};
    char why[WHY] = "", text[SETTINGS][ROOM];

    draw_print(p);
    stream_minimise(s, false, still_differ, c);
    differ(s, c, &unused, why);
    settings_text(c, text);
    printf("seed %" PRIu64 ", policy %s, granularity %u", p->seed, c->policy->name, c->granule);
    for (unsigned i = 0; text[i][0]; i++)
        printf(", %s", text[i]);
    printf("\n%s\n", why);
    fflush(stdout);
    stream_print(s, NULL, stdout);
}

static unsigned draw_setting(struct rng *r, const struct setting *is)
{
    return is->name && rng_below(r, 3) == 0 ? (unsigned)draw_between(r, is->low, is->high) : 0;
}

static struct one draw_case(struct rng *r, const struct subject *policy)
{
    static const unsigned granule[] = {0, 1, 2, 4, 8};
    const bool small = rng_below(r, 4) == 0;
    size_t views = 0;

    while (verdict_view[views].name)
        views++;
    struct one c = {policy,
                    &verdict_view[rng_below(r, views)],
                    granule[rng_below(r, ARRAY_SIZE(granule))],
                    rng_below(r, 3) == 0 && policy->regions,
                    draw_setting(r, &policy->same),
                    {0}};
    for (unsigned i = 0; small && i < MISSES; i++)
        c.misses[i] = draw_setting(r, &policy->misses[i]);
    return c;
}

static bool seed_holds(uint64_t seed, const struct subject *policy, struct seen *seen)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;
    bool holds = true;
    char why[WHY];

    rng_seed(&r, seed);
    const struct synth_params p = draw_regions(&r, seed);
    draw_stream(&s, &p);
    if (!p.raw)
        draw_changes(&r, &s, false);
    for (int i = 0; i < CASES && holds; i++) {
        const struct one c = draw_case(&r, policy);
        if (p.raw && c.view->bits & (ORACLE_ALL_SYNC | ORACLE_NO_THREAD))
            continue; /* as t_verdict; or refused when the run begins */
        holds = !differ(&s, &c, seen, why);
        seen->cases++;
        if (!holds)
            tell(&p, &s, &c);
    }
    seen->events += s.events;
    stream_free(&s);
    return holds;
}

static bool policy_holds(const struct subject *policy, uint64_t first, uint64_t seeds)
{
    struct seen seen = {0};

    for (uint64_t seed = first; seed - first < seeds; seed++)
        if (!seed_holds(seed, policy, &seen))
            return false;
    printf("%s: %" PRIu64 " traces from seed %" PRIu64 ", %" PRIu64 " events, %" PRIu64
           " cases, %" PRIu64 " with conflicts; %" PRIu64 " locations, %" PRIu64
           " reports at the access, %" PRIu64 " later\n",
           policy->name, seeds, first, seen.events, seen.cases, seen.with, seen.locations,
           seen.eager, seen.lazy);
    return true;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds cases = seeds_arg(argc, argv, 300, NULL);
    bool ran = false;

    for (size_t i = 0; policies[i]; i++) {
        const struct subject subject = subject_of(policies[i]);
        if (!(policies[i]->promise.claims & CLAIM_REGION) ||
            (cases.policy && strcmp(cases.policy, subject.name)))
            continue;
        if (!policy_holds(&subject, cases.first, cases.n))
            return 1;
        ran = true;
    }
    if (!ran)
        printf("SKIPPED: this build has no policy %s on conflicts of regions\n",
               cases.policy ? cases.policy : "");
    return ran ? 0 : SKIPPED;
}
