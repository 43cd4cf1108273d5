/* t_verdict.c - the property that carries all others: on random traces of all kinds of events a
 * policy's verdicts are the oracle's as far as it promises, in every view and granularity, whatever
 * its parameters are set to.
 *
 *     t_verdict [--mutant NAME] [FIRST-SEED [SEEDS [POLICY]]]
 *
 * Default: 1 300 of each policy that promises something about happens-before, and fewer of those in
 * hardware. A new policy is one of them as soon as it is in policies.def.
 *
 * Policies in hardware (radish, radish-ts, lardish) run on random hardware. lardish refuses a copy
 * to where there is history, so that its streams never have one.
 *
 * --mutant breaks a rule on purpose (tests/mutants/), in a build that can; the test must then
 * fail. A difference is printed with what reproduces it and with a trace made as small as it goes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/frame/verdict.h"
#include "tests/policy/radish/verdict_hardware.h"

enum { CASES = 6, WHY = 300, SKIPPED = 77 };

static const struct verdict_view *draw_view(struct rng *r, const char *policy)
{
    size_t views = 0;

    while (verdict_view[views].name)
        views++;
    if (hardware_policy(policy) && strcmp(policy, "lardish"))
        return &verdict_view[views - 1]; /* naive, always */
    return &verdict_view[rng_below(r, views)];
}

/* One that a history line can have; mostly one to which all regions are aligned. */
static unsigned draw_line_granule(struct rng *r, const char *policy, uint64_t aligned)
{
    const unsigned least = strcmp(policy, "radish-ts") ? 1 : 4;
    const unsigned most = rng_below(r, 8) && aligned >= least ? (unsigned)aligned : 8;

    for (;;) {
        const unsigned granule = 1u << rng_below(r, 4);
        if (granule >= least && granule <= most)
            return granule;
    }
}

/* Threads that have events. */
static uint64_t threads_of(const struct stream *s)
{
    bool seen[MAX_THREADS] = {false};
    uint64_t n = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i])) {
        n += !seen[s->rec[i].tid];
        seen[s->rec[i].tid] = true;
    }
    return n;
}

/* Small numbers come first, and oftener. Of threads it is mostly as many as there are: with fewer a
 * policy refuses, with more it never sees the last. */
static void draw_other(struct rng *r, const struct param *row, const struct stream *s,
                       char to[VERDICT_SETTING])
{
    size_t others = 0;

    if (row->type == PARAM_U64 && !strcmp(row->unit, "threads") && rng_below(r, 4)) {
        snprintf(to, VERDICT_SETTING, "%s=%" PRIu64, row->name, threads_of(s));
        return;
    }
    while (verdict_other(row, others, to))
        others++;
    if (others)
        verdict_other(row, rng_below(r, 1 + rng_below(r, others)), to);
}

/* Half of the cases as the policy is by default; the others with some of its parameters set, be
 * they choices or numbers. */
static void draw_settings(struct rng *r, const struct stream *s, struct verdict_case *c)
{
    const struct param *row = policy_find(c->policy)->params;
    size_t used = 0;

    if (rng_below(r, 2))
        return;
    for (const uint64_t share = 1 + rng_below(r, 4); row && row->name; row++) {
        char is[VERDICT_SETTING] = "";
        if (!rng_below(r, share))
            draw_other(r, row, s, is);
        if (*is && used + strlen(is) + 1 < sizeof c->setting)
            used += (size_t)snprintf(c->setting + used, sizeof c->setting - used, " %s", is);
    }
}

static struct verdict_case draw_case(struct rng *r, const struct stream *s, const char *policy,
                                     uint64_t aligned)
{
    static const unsigned granule[] = {0, 1, 2, 4, 8};
    struct verdict_case c = {.policy = policy, .view = draw_view(r, policy)};

    c.granule = hardware_policy(policy) ? draw_line_granule(r, policy, aligned)
                                        : granule[rng_below(r, ARRAY_SIZE(granule))];
    if (!hardware_policy(policy))
        draw_settings(r, s, &c);
    return c;
}

/* ---- telling of a difference ---------------------------------------------------------------- */

struct trial { /* a stream's case, on hardware or not */
    struct verdict_case is;
    struct hardware on; /* drawn for policies in hardware only */
    bool hard, full;    /* full: all contracts are kept */
};

static bool differs(const struct stream *s, const struct trial *t, char why[WHY])
{
    return t->hard ? verdict_differs_on(s, &t->is, &t->on.is, why, WHY)
                   : verdict_differs(s, &t->is, why, WHY);
}

static bool still_differs(const struct stream *s, const void *arg)
{
    char why[WHY];

    return differs(s, arg, why);
}

static void tell(const struct synth_params *p, struct stream *s, const struct trial *t,
                 char why[WHY])
{
    char text[VERDICT_SETTINGS];

    verdict_case_text(&t->is, text, sizeof text);
    printf("seed %" PRIu64 ", %s\n%s\n", p->seed, text, why);
    draw_print(p);
    if (t->hard)
        hardware_print(&t->on, stdout);
    fflush(stdout);
    stream_minimise(s, t->full, still_differs, t);
    differs(s, t, why);
    printf("smallest: %s\n", why);
    fflush(stdout);
    stream_print(s, NULL, stdout);
}

/* ---- the property --------------------------------------------------------------------------- */

/* Counts over all seeds. */
struct sums {
    uint64_t events, cases, seen[HARDWARE_SEEN];
};

static bool case_holds(const struct synth_params *p, struct stream *s, struct rng *r,
                       const char *policy, struct sums *sums)
{
    struct trial t = {.is = draw_case(r, s, policy, p->granularity),
                      .hard = hardware_policy(policy),
                      .full = !strcmp(policy, "lardish")};
    char why[WHY];

    if (t.hard)
        hardware_draw(&t.on, r, sums->seen);
    if (p->raw && t.is.view->bits & ORACLE_ALL_SYNC)
        return true; /* the runtime that wrote the clocks knew nothing of its own locks */
    if (!t.hard && !verdict_takes(&t.is))
        return true;
    sums->cases++;
    if (!differs(s, &t, why))
        return true;
    tell(p, s, &t, why);
    return false;
}

static bool stream_holds(const struct synth_params *p, struct rng *r, const char *policy,
                         struct sums *sums)
{
    struct stream s = {NULL, 0, 0, 0};
    bool holds = true;

    draw_stream(&s, p);
    if (!p->raw)
        draw_changes(r, &s, !strcmp(policy, "lardish"));
    for (int i = 0; i < CASES && holds; i++)
        holds = case_holds(p, &s, r, policy, sums);
    sums->events += s.events;
    stream_free(&s);
    return holds;
}

/* A stream of anything; of every fourth seed also one of atomics, of others one of barriers or of
 * arrays, with draws of their own. */
static bool seed_holds(uint64_t seed, const char *policy, struct sums *sums)
{
    struct rng r;

    rng_seed(&r, seed);
    struct synth_params p = draw_params(&r, seed);
    if (!stream_holds(&p, &r, policy, sums))
        return false;
    if (seed % 4 == 3)
        return true;
    rng_seed(&r, ~seed);
    p = (seed % 2 ? draw_barriers : seed % 4 ? draw_arrays : draw_atomics)(&r, seed);
    return stream_holds(&p, &r, policy, sums);
}

/* What hardware did, all over. False: something never happened, in a run that is long enough. */
static bool tell_seen(const struct sums *sums, const char *policy, uint64_t seeds)
{
    bool all = true;

    for (size_t i = 0; hardware_policy(policy) && hardware_seen[i]; i++) {
        const bool heap = !strncmp(hardware_seen[i], "heap.", 5);
        printf("  %s %" PRIu64 "\n", hardware_seen[i], sums->seen[i]);
        all &= sums->seen[i] || (heap && strcmp(policy, "lardish"));
    }
    if (!all && seeds >= 300)
        printf("FAILED: something never happened\n");
    return all || seeds < 300;
}

static bool seeds_hold(uint64_t first, uint64_t seeds, const char *policy)
{
    struct sums sums = {0};

    for (uint64_t seed = first; seed - first < seeds; seed++)
        if (!seed_holds(seed, policy, &sums))
            return false;
    printf("%s: %" PRIu64 " traces from seed %" PRIu64 ", %" PRIu64 " events, %" PRIu64 " cases\n",
           policy, seeds, first, sums.events, sums.cases);
    if (!sums.cases) {
        printf("FAILED: %s was not judged at all\n", policy);
        return false;
    }
    return tell_seen(&sums, policy, seeds);
}

/* The oracle can judge it, in some way that it can be set. */
static bool can_be_judged(const char *policy)
{
    struct verdict_case c = {.policy = policy, .view = verdict_view, .granule = 4};
    bool can = hardware_policy(policy);

    for (size_t i = 0; !can && verdict_setting(policy, i, c.setting); i++)
        can = verdict_takes(&c);
    return can;
}

/* Each policy of the build that promises something about happens-before. */
static bool all_hold(uint64_t seeds)
{
    for (size_t i = 0; policies[i]; i++) {
        const char *name = policies[i]->name;
        if (can_be_judged(name) && !seeds_hold(1, hardware_policy(name) ? seeds / 3 : seeds, name))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds cases = seeds_arg(argc, argv, 300, "vc");

    if (!policy_find(cases.policy)) {
        printf("SKIPPED: this build has no policy %s; nothing was tested of it\n", cases.policy);
        return SKIPPED;
    }
    return !(argc < 2 ? all_hold(cases.n) : seeds_hold(cases.first, cases.n, cases.policy));
}
