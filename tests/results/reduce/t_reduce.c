/* t_reduce.c - does `lardsim trace reduce` give a small legal trace that still shows what it was to
 * keep? On random traces: a race, a difference between two policies, an exit code. Of what is left:
 *   - it obeys all stream rules, the full ones;
 *   - by the oracle, which knows nothing of the program, it has a race of the two sites that were
 *     asked for;
 *   - it is as small as it goes: without any one of its threads or events (if that is still legal)
 *     the oracle finds no such race.
 * [FIRST-SEED [SEEDS]]; LARDSIM is the program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "tests/frame/draw.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/oracle.h"

enum { SEEDS = 20 };

/* ---- what is asked for ---------------------------------------------------------------------- */

struct target { /* a race: the first that vc reports */
    bool there;
    uint64_t id, site[2];
    sim_addr addr;
    unsigned granule;
};

static void see_race(void *arg, const struct lardsim_race *race)
{
    struct target *t = arg;

    if (t->there)
        return;
    *t = (struct target){.there = true,
                         .id = race->id,
                         .site = {race->is.site, race->earlier.site},
                         .addr = race->addr,
                         .granule = t->granule};
}

static struct lardsim *run_over(const char *path, const char *with, unsigned granule,
                                void (*on_race)(void *, const struct lardsim_race *), void *arg)
{
    struct lardsim *l = lardsim_new();
    char set[100];

    snprintf(set, sizeof set, "granularity=%u", granule);
    lardsim_set(l, set);
    lardsim_set(l, with);
    lardsim_on_race(l, on_race, arg);
    if (lardsim_start(l) || lardsim_run(l, path) || lardsim_finish(l))
        die("%s: %s", path, lardsim_error(l));
    return l;
}

/* The oracle has a race of these sites, in either order; where neither is known, at that address.
 */
static bool has_race(const struct stream *s, const struct target *t)
{
    const struct oracle_options as = {false, t->granule, 0};
    const struct event **ev = stream_index(s);
    struct oracle *o = oracle_new(s->rec, s->records, &as);
    bool has = false;

    for (size_t e = 0; o && e < s->events && !has; e++) {
        const struct oracle_pair *pair;
        const size_t n = oracle_pairs(o, e, &pair);
        for (size_t i = 0; i < n && !has; i++) {
            const uint64_t a = event_site(ev[pair[i].access]),
                           b = event_site(ev[pair[i].earlier_access]);
            has = (a == t->site[0] && b == t->site[1]) || (a == t->site[1] && b == t->site[0]);
            has &= a || b || ev[pair[i].access]->addr == t->addr;
        }
    }
    oracle_free(o);
    free(ev);
    return has;
}

/* ---- what is left --------------------------------------------------------------------------- */

static struct stream without_thread(const struct stream *s, uint64_t tid)
{
    struct stream less = {NULL, 0, 0, 0};

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i])) {
        const struct event *ev = &s->rec[i];
        const bool names = ev->kind == EV_FORK || ev->kind == EV_JOIN;
        if (ev->tid != tid && !(names && ev->aux == tid))
            stream_add(&less, ev);
    }
    return less;
}

static bool too_large(struct stream less, const struct target *t)
{
    const bool large = stream_lawful(&less, true) && has_race(&less, t);

    stream_free(&less);
    return large;
}

/* NULL: nothing; else what is wrong with it. */
static const char *race_left(const struct stream *s, const struct target *t)
{
    if (!has_race(s, t))
        return "the race is gone";
    for (size_t e = 0; e < s->events; e++)
        if (too_large(stream_without(s, e, 1), t))
            return "an event is not needed";
    for (uint64_t tid = 0; tid < 64; tid++) {
        struct stream less = without_thread(s, tid);
        const bool smaller = less.events < s->events;
        stream_free(&less);
        if (smaller && too_large(without_thread(s, tid), t))
            return "a thread is not needed";
    }
    return NULL;
}

struct reports { /* racy addresses by two policies */
    uint64_t only_first, only_second;
    struct map seen;
};

static void see_either(void *arg, const struct lardsim_race *race)
{
    struct reports *r = arg;

    *map_put(&r->seen, race->addr) |= !strcmp(race->policy, "vc") ? 1 : 2;
}

/* The ways in which vc and eraser differ: 1, 2, or both. */
static unsigned difference(const char *path, unsigned granule)
{
    struct reports r = {0};
    size_t pos = 0;
    uint64_t key, *seen;
    unsigned ways = 0;

    map_init(&r.seen, NULL);
    lardsim_free(run_over(path, "policies=vc,eraser", granule, see_either, &r));
    while (map_next(&r.seen, &pos, &key, &seen))
        ways |= *seen == 3 ? 0 : (unsigned)*seen;
    map_free(&r.seen);
    return ways;
}

/* ---- one trace ------------------------------------------------------------------------------ */

struct trial {
    const char *lardsim;
    char in[64], out[64], keep[64];
    struct target target;
    unsigned ways;
};

static bool wrong(const struct trial *t, uint64_t seed, const char *what)
{
    printf("FAILED: seed %" PRIu64 ", --keep '%s': %s\n", seed, t->keep, what);
    return false;
}

static void write_stream(const struct stream *s, const char *path)
{
    FILE *out = fopen(path, "w");

    if (!out)
        die("%s can't be written", path);
    stream_print(s, NULL, out);
    fclose(out);
}

static int reduce(const struct trial *t)
{
    char *command = xasprintf("'%s' trace reduce -q --overwrite --set granularity=%u '%s' '%s' "
                              "--keep '%s'",
                              t->lardsim, t->target.granule, t->in, t->out, t->keep);
    const int status = system(command);

    free(command);
    return status;
}

static bool left_holds(const struct trial *t, uint64_t seed, const struct stream *was)
{
    struct stream s = {NULL, 0, 0, 0};
    struct err e = {0, ""};
    struct source *from = source_open(t->out, &e);
    const char *why = NULL;
    struct target now = {.granule = t->target.granule};

    if (!from || stream_read(&s, from, &e))
        die("%s", e.text);
    source_close(from);
    if (!stream_lawful(&s, true))
        why = "what is left breaks a rule";
    else if (s.events > was->events)
        why = "it has become larger";
    else if (!strncmp(t->keep, "race", 4))
        why = race_left(&s, &t->target);
    else if (!strncmp(t->keep, "differ", 6))
        why = difference(t->out, now.granule) & t->ways ? NULL : "the difference is gone";
    else
        lardsim_free(run_over(t->out, "policies=vc", now.granule, see_race, &now));
    if (!strncmp(t->keep, "exit", 4) && !now.there)
        why = "no race is left";
    if (why)
        stream_print(&s, NULL, stdout);
    stream_free(&s);
    return !why || wrong(t, seed, why);
}

/* What of this trace is to be kept: a race, in one trace of five something else. False: nothing. */
static bool choose(struct trial *t, uint64_t seed)
{
    lardsim_free(run_over(t->in, "policies=vc", t->target.granule, see_race, &t->target));
    t->ways = seed % 5 == 1 ? difference(t->in, t->target.granule) : 0;
    if (t->ways) {
        t->ways = t->ways & 1 ? 1 : 2; /* the first one's is kept */
        snprintf(t->keep, sizeof t->keep, "differ vc eraser");
    } else if (seed % 10 == 2) {
        snprintf(t->keep, sizeof t->keep, "exit 66");
    } else {
        snprintf(t->keep, sizeof t->keep, "race %016" PRIx64, t->target.id);
    }
    return t->target.there;
}

struct sums {
    uint64_t traces, before, after;
};

static bool seed_holds(struct trial *t, uint64_t seed, struct sums *sums)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;

    rng_seed(&r, seed);
    const struct synth_params p = draw_params(&r, seed);
    draw_stream(&s, &p);
    t->target = (struct target){.granule = (unsigned)p.granularity};
    write_stream(&s, t->in);
    bool holds = true;
    if (choose(t, seed)) {
        sums->traces++;
        holds =
            reduce(t) == 0 ? left_holds(t, seed, &s) : wrong(t, seed, "it could not be reduced");
    }
    if (!holds)
        draw_print(&p);
    stream_free(&s);
    return holds;
}

int main(int argc, char **argv)
{
    const struct seeds is = seeds_arg(argc, argv, SEEDS, NULL);
    struct trial t = {.lardsim = getenv("LARDSIM")};
    char folder[] = "/tmp/t_reduce-XXXXXX";
    struct sums sums = {0};
    bool holds = true;

    if (!t.lardsim || !mkdtemp(folder)) {
        printf("LARDSIM must be the path of the program, and /tmp a folder\n");
        return 99;
    }
    snprintf(t.in, sizeof t.in, "%s/in.trace", folder);
    snprintf(t.out, sizeof t.out, "%s/out.trace", folder);
    for (uint64_t seed = is.first; sums.traces < is.n && holds; seed++)
        holds = seed_holds(&t, seed, &sums);
    unlink(t.in);
    unlink(t.out);
    rmdir(folder);
    printf("reduce: %" PRIu64 " traces\n", sums.traces);
    return !holds;
}
