/* t_slim_verdict.c - slimstate on random programs over arrays: the locations that have a race, each
 * in its life, are those of the happens-before oracle and of vc; and each report is of a location
 * that has one, and of a thread that takes part in it. It commits late, so that accesses are not
 * compared.
 *
 *     t_slim_verdict [--mutant NAME] [FIRST-SEED [SEEDS [POLICY]]]     default: 1 600 slimstate
 *
 * Any policy on happens-before may be named. One that this build lacks is left out, and that is
 * said. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/frame/draw.h"
#include "tests/frame/lives.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/policy/slimstate/sweep.h"
#include "tests/frame/watch.h"

enum { CASES = 4, WHY = 300, SKIPPED = 77 };

struct one { /* a comparison */
    const char *policy;
    const struct verdict_view *view;
    unsigned granule;
    const char *setting[3]; /* of the policy, each may be NULL */
};

/* What must not change the locations, of slimstate. */
static const char *const footprints[] = {NULL, NULL, "footprints=sets"};
static const char *const partitions[] = {NULL, NULL, "partitions=sets"};
static const char *const amounts[] = {NULL, NULL, "small=1", "small=40", "buffer=1", "buffer=2"};

struct seen {
    uint64_t events, cases, with, locations, reports;
};

/* ---- the tellers ---------------------------------------------------------------------------- */

static struct oracle *judge(const struct stream *s, const struct one *c, bool all)
{
    const struct oracle_options is = {all, c->granule, c->view->bits};

    return oracle_new(s->rec, s->records, &is);
}

static void run(struct watch *w, const struct stream *s, const struct one *c, bool vc)
{
    char view[40];
    const char *settings[2 + ARRAY_SIZE(c->setting)] = {view};

    snprintf(view, sizeof view, "view=%s", c->view->name);
    for (size_t i = 0, n = 1; i < ARRAY_SIZE(c->setting) && !vc; i++)
        if (c->setting[i])
            settings[n++] = c->setting[i];
    watch_open(w, vc ? "vc" : c->policy, c->granule, settings);
    watch_run(w, s->rec, s->records);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static bool locations_differ(const struct stream *s, const struct one *c, const struct lives *right,
                             const struct watch *w, const char *name, bool exact, char *why)
{
    struct lives its;

    lives_of_watch(&its, s, c->view->bits, w);
    bool differ = lives_differ(right, "the oracle", &its, name, exact, why, WHY);
    if (!differ && watch_stat(w, "races.locations") != its.n) {
        snprintf(why, WHY, "%s reported %zu locations, and counted %" PRIu64, name, its.n,
                 watch_stat(w, "races.locations"));
        differ = true;
    }
    lives_free(&its);
    return differ;
}

/* Some race at the location, by then, has an access of that thread: the oracle with history = all
 * keeps one of each thread that takes part. */
static bool thread_races(const struct oracle *all, const struct event **at,
                         const struct watch_conflict *r, sim_tid tid)
{
    for (size_t e = 0; e < oracle_events(all) && e <= r->event; e++) {
        const struct oracle_pair *p;
        const size_t n = oracle_pairs(all, e, &p);
        for (size_t i = 0; i < n; i++)
            if (p[i].location == r->location &&
                (at[p[i].access]->tid == tid || at[p[i].earlier_access]->tid == tid))
                return true;
    }
    return false;
}

static bool threads_wrong(const struct stream *s, const struct one *c, const struct watch *w,
                          char *why)
{
    struct oracle *all = judge(s, c, true);
    const struct event **at = xcalloc(s->events + 1, sizeof *at);
    bool wrong = false;
    size_t n = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        at[n++] = &s->rec[i];
    for (size_t i = 0; i < w->conflicts && !wrong; i++) {
        const struct watch_conflict *r = &w->conflict[i];
        wrong = !thread_races(all, at, r, r->access.tid) ||
                (r->earlier.known && !thread_races(all, at, r, r->earlier.thread));
        if (wrong)
            snprintf(why, WHY,
                     "at event %" PRIu64 " a race of T%u with T%u at %#" PRIx64
                     " is reported; one of them has none there",
                     r->event, (unsigned)r->access.tid, (unsigned)r->earlier.thread, r->location);
    }
    free(at);
    oracle_free(all);
    return wrong;
}

static bool differ(const struct stream *s, const struct one *c, struct seen *seen, char *why)
{
    struct oracle *o = judge(s, c, false);
    struct watch its, vc;
    struct lives right;
    bool wrong = false;

    run(&its, s, c, false);
    run(&vc, s, c, true);
    if (!o != (its.err.code != 0)) {
        snprintf(why, WHY, "%s refuses: %.200s", o ? "the policy" : "the oracle", its.err.text);
        wrong = true;
    } else if (o) {
        lives_of_oracle(&right, s, c->view->bits, o);
        wrong = locations_differ(s, c, &right, &its, "the policy", false, why) ||
                locations_differ(s, c, &right, &vc, "vc", true, why) ||
                threads_wrong(s, c, &its, why);
        seen->locations += right.n;
        seen->with += right.n > 0;
        seen->reports += its.conflicts;
        lives_free(&right);
    }
    watch_close(&its);
    watch_close(&vc);
    oracle_free(o);
    return wrong;
}

/* ---- the property --------------------------------------------------------------------------- */

static bool still_differ(const struct stream *s, const void *arg)
{
    struct seen unused = {0};
    char why[WHY];

    return differ(s, arg, &unused, why);
}

static void tell(uint64_t seed, struct stream *s, const struct one *c)
{
    struct seen unused = {0};
    char why[WHY] = "";

    stream_minimise(s, false, still_differ, c);
    differ(s, c, &unused, why);
    printf("seed %" PRIu64 ", policy %s, view %s, granularity %u", seed, c->policy, c->view->name,
           c->granule);
    for (size_t i = 0; i < ARRAY_SIZE(c->setting); i++)
        printf("%s%s", c->setting[i] ? ", " : "", c->setting[i] ? c->setting[i] : "");
    printf("\n%s\n", why);
    fflush(stdout);
    stream_print(s, NULL, stdout);
}

static struct one draw_case(struct rng *r, const char *policy)
{
    static const unsigned granule[] = {0, 1, 2, 4, 4, 8};
    size_t views = 0;

    while (verdict_view[views].name)
        views++;
    struct one c = {policy,
                    &verdict_view[rng_below(r, 2) ? 0 : rng_below(r, views)],
                    granule[rng_below(r, ARRAY_SIZE(granule))],
                    {NULL}};
    if (!strcmp(policy, "slimstate")) {
        c.setting[0] = footprints[rng_below(r, ARRAY_SIZE(footprints))];
        c.setting[1] = partitions[rng_below(r, ARRAY_SIZE(partitions))];
        c.setting[2] = amounts[rng_below(r, ARRAY_SIZE(amounts))];
    }
    return c;
}

static bool seed_holds(uint64_t seed, const char *policy, struct seen *seen)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;
    bool holds = true;
    char why[WHY];

    rng_seed(&r, seed);
    sweep_draw(&r, &s);
    draw_changes(&r, &s, false);
    for (int i = 0; i < CASES && holds; i++) {
        const struct one c = draw_case(&r, policy);
        holds = !differ(&s, &c, seen, why);
        seen->cases++;
        if (!holds)
            tell(seed, &s, &c);
    }
    seen->events += s.events;
    stream_free(&s);
    return holds;
}

int main(int argc, char **argv)
{
    struct seen seen = {0};

    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds cases = seeds_arg(argc, argv, 600, "slimstate");

    if (!policy_find(cases.policy)) {
        printf("SKIPPED: this build has no policy %s; nothing was tested of it\n", cases.policy);
        return SKIPPED;
    }
    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        if (!seed_holds(seed, cases.policy, &seen))
            return 1;
    printf("%s: %" PRIu64 " traces from seed %" PRIu64 ", %" PRIu64 " events, %" PRIu64
           " cases, %" PRIu64 " with races; %" PRIu64 " locations, %" PRIu64 " reports\n",
           cases.policy, cases.n, cases.first, seen.events, seen.cases, seen.with, seen.locations,
           seen.reports);
    return 0;
}
