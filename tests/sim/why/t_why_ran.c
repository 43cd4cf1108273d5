/* t_why_ran.c - is a race that a run on a machine reported ever denied? Random traces run in timed
 * order, and workloads in program order, under policies that report nothing but races. For each
 * race that the run reported, `why` is asked with the events as that run executed them: it must
 * answer that they race, and name a pair that races by the oracle, to which the executed order is
 * given like a recording. [FIRST-SEED [SEEDS]] */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/lardsim.h"
#include "sim/sim.h"
#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/oracle.h"

enum { SEEDS = 50, RACES_MOST = 12, ORACLE_MOST = 3000 };

/* ---- the run -------------------------------------------------------------------------------- */

struct reported {
    struct lardsim_race at[RACES_MOST]; /* the first, and then each that is 10 more */
    size_t n;
    uint64_t all;
};

static void see_race(void *arg, const struct lardsim_race *race)
{
    struct reported *r = arg;

    if (!race->is.known || race->is.region)
        return;
    if (r->all++ % 10 == 0 && r->n < RACES_MOST)
        r->at[r->n++] = *race;
}

struct trial {
    uint64_t seed;
    char folder[64], in[96], trace[96], numbers[96];
    char policy[64], set[4][64], source[96];
    const char *view;
    unsigned granule;
    struct reported reported;
};

static bool wrong(const struct trial *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
static bool wrong(const struct trial *t, const char *fmt, ...)
{
    va_list ap;

    printf("FAILED: seed %" PRIu64 ", %s, granularity %u, %s over %s: ", t->seed, t->policy,
           t->granule, t->set[0], t->source);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    return false;
}

static bool run(struct trial *t)
{
    struct lardsim *l = lardsim_new();
    bool ran;

    lardsim_preset(l, "radish8");
    for (size_t i = 0; i < ARRAY_SIZE(t->set); i++)
        if (*t->set[i])
            lardsim_set(l, t->set[i]);
    lardsim_on_race(l, see_race, &t->reported);
    lardsim_keep_executed(l, t->trace, t->numbers);
    if (!lardsim_start(l))
        lardsim_run(l, t->source);
    ran = !lardsim_finish(l);
    if (!ran)
        wrong(t, "%s", lardsim_error(l));
    lardsim_free(l);
    return ran;
}

/* ---- what why says of it -------------------------------------------------------------------- */

static struct lardsim_source *open_executed(void *arg, struct err *e)
{
    const struct trial *t = arg;

    return lardsim_source_open(t->trace, e);
}

/* The oracle remembers of each thread the last accesses alone; an older one that a policy names
 * races as the last one does. */
static bool is_pair(const struct oracle *o, uint64_t event, uint64_t earlier)
{
    const struct oracle_pair *pair;
    const size_t n = oracle_pairs(o, event, &pair);

    if (oracle_racy(o, event) && !oracle_before(o, earlier, event))
        return true;
    for (size_t i = 0; i < n; i++)
        if (pair[i].earlier == earlier)
            return true;
    return false;
}

struct sums {
    uint64_t races, turned, runs;
};

static bool race_stands(struct trial *t, const struct lardsim_race *race,
                        const struct lardsim_executed *executed, const struct oracle *o,
                        struct sums *sums)
{
    char granule[12];
    struct err e = {0, ""};
    struct lardsim_why_both both;

    snprintf(granule, sizeof granule, "%u", t->granule);
    const struct lardsim_why_ask ask = {.open = open_executed,
                                        .arg = t,
                                        .executed = executed,
                                        .view = t->view,
                                        .granule = granule,
                                        .event = race->is.event,
                                        .paired = race->earlier.known && !race->earlier.region,
                                        .earlier = race->earlier.event,
                                        .reported = true,
                                        .placed = true,
                                        .addr = race->addr,
                                        .size = race->size};
    if (lardsim_why(&ask, &both, &e))
        return wrong(t, "event %" PRIu64 ": %s", race->is.event, e.text);
    const struct lardsim_why *w = both.why;
    const uint64_t later = w->later.line.number, earlier = w->earlier.line.number;
    bool stands = true;
    if (w->verdict != LARDSIM_WHY_RACES)
        stands = wrong(t, "event %" PRIu64 " was reported with event %" PRIu64 ", and why says %d",
                       race->is.event, race->earlier.event, (int)w->verdict);
    else if (later != race->is.event && earlier != race->is.event)
        stands = wrong(t, "asked about event %" PRIu64 ", why speaks of %" PRIu64 " and %" PRIu64,
                       race->is.event, later, earlier);
    else if (o && !is_pair(o, w->later.line.position, w->earlier.line.position))
        stands = wrong(t, "event %" PRIu64 " does not race with event %" PRIu64, later, earlier);
    sums->races++;
    sums->turned += earlier > later;
    lardsim_why_free(&both);
    return stands;
}

static struct oracle *oracle_of(const struct trial *t, struct stream *s)
{
    struct err e = {0, ""};
    struct source *from = source_open(t->trace, &e);
    unsigned view = 0;

    if (!from || stream_read(s, from, &e))
        die("%s", e.text);
    source_close(from);
    for (const struct verdict_view *v = verdict_view; v->name; v++)
        view |= strcmp(v->name, t->view) ? 0 : v->bits;
    const struct oracle_options as = {true, t->granule, view};
    return s->events > ORACLE_MOST ? NULL : oracle_new(s->rec, s->records, &as);
}

static bool races_stand(struct trial *t, struct sums *sums)
{
    struct err e = {0, ""};
    struct stream s = {NULL, 0, 0, 0};
    bool stand = run(t);

    sums->runs++;
    if (stand && t->reported.n) {
        struct lardsim_executed *executed = lardsim_executed_open(t->numbers, &e);
        if (!executed)
            die("%s", e.text);
        struct oracle *o = oracle_of(t, &s);
        for (size_t i = 0; i < t->reported.n && stand; i++)
            stand = race_stands(t, &t->reported.at[i], executed, o, sums);
        oracle_free(o);
        lardsim_executed_close(executed);
    }
    stream_free(&s);
    unlink(t->trace);
    unlink(t->numbers);
    return stand;
}

/* ---- random ones ---------------------------------------------------------------------------- */

/* They report nothing but races of their view. */
static const char *const precise[] = {"vc",      "fasttrack", "goldilocks", "clean", "fastrcd",
                                      "valor-e", "valor-o",   "valor",      "tsan",  "lardish"};
/* A workload can be asked; synth: is read. */
static const char *const asked[] = {
    "workload:hedc,racy=on,queries=3", "workload:raytracer,racy=on,n=2,side=6",
    "workload:tsp,racy=on,cities=5", "workload:pool,racy=on,rounds=2,lists=2,nodes=3"};

static void draw_machine(struct trial *t, struct rng *r)
{
    const char *policy = precise[rng_below(r, ARRAY_SIZE(precise))];

    snprintf(t->policy, sizeof t->policy, "%s", policy);
    snprintf(t->set[0], sizeof t->set[0], "policies=%s", policy);
    snprintf(t->set[1], sizeof t->set[1], "cores=%u", 1U << rng_below(r, 4));
    snprintf(t->set[2], sizeof t->set[2], "contention=%s", rng_below(r, 2) ? "on" : "off");
    t->view = "tracked";
}

static void write_stream(const struct stream *s, const char *path)
{
    FILE *out = fopen(path, "w");

    if (!out)
        die("%s can't be written", path);
    stream_print(s, NULL, out);
    fclose(out);
}

static bool seed_holds(struct trial *t, uint64_t seed, struct sums *sums)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;

    rng_seed(&r, seed);
    struct synth_params p = draw_params(&r, seed);
    t->seed = seed;
    t->reported = (struct reported){.n = 0};
    draw_machine(t, &r);
    if (p.raw || seed % 12 == 7) {
        snprintf(t->source, sizeof t->source, "%s", asked[rng_below(&r, ARRAY_SIZE(asked))]);
        t->granule = 4;
    } else {
        p.events = 400;
        p.racy = 200;
        t->granule = (unsigned)p.granularity;
        snprintf(t->source, sizeof t->source, "%s", t->in);
        draw_stream(&s, &p);
        write_stream(&s, t->in);
    }
    snprintf(t->set[3], sizeof t->set[3], "granularity=%u", t->granule);
    const bool stand = races_stand(t, sums);
    if (!stand)
        draw_print(&p);
    stream_free(&s);
    unlink(t->in);
    return stand;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds is = seeds_arg(argc, argv, SEEDS, NULL);
    struct trial t = {.folder = "/tmp/t_why_ran-XXXXXX"};
    struct sums sums = {0};
    bool stand = mkdtemp(t.folder) != NULL;

    snprintf(t.in, sizeof t.in, "%s/in.trace", t.folder);
    snprintf(t.trace, sizeof t.trace, "%s/run.lard", t.folder);
    snprintf(t.numbers, sizeof t.numbers, "%s/numbers", t.folder);
    for (uint64_t seed = is.first; seed - is.first < is.n && stand; seed++)
        stand = seed_holds(&t, seed, &sums);
    rmdir(t.folder);
    printf("why: %" PRIu64 " runs, %" PRIu64 " races, of %" PRIu64
           " the earlier side is later in recorded order\n",
           sums.runs, sums.races, sums.turned);
    if (stand && is.n >= SEEDS && (sums.races < is.n || !sums.turned)) {
        printf("FAILED: too few races were asked about\n");
        return 1;
    }
    return !stand;
}
