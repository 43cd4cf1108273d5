/* t_region_random.c - the two oracles on random streams: each conflict of regions is a race of
 * happens-before with history = all (Valor, appendix B), and each conflict of synchronisation-free
 * regions is one of release-free regions. Says how many conflicts it saw; none at all is a failure.
 *
 *     t_region_random [FIRST-SEED [SEEDS]]     default: 1 300 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/frame/draw.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/region.h"

enum { CASES = 4 };

struct options { /* of one comparison */
    unsigned granule;
    const struct verdict_view *view;
};

struct seen {
    uint64_t conflicts[2], with[2]; /* release-free, synchronisation-free; streams that have some */
};

/* With the same access, or with one of that thread that took its place. */
static bool is_race(const struct oracle *o, const struct event **at,
                    const struct region_conflict *c, bool by_kernel)
{
    const struct oracle_pair *p;
    const size_t n = oracle_pairs(o, c->event, &p);
    const struct event *earlier = at[c->earlier_access];

    for (size_t i = 0; i < n; i++) {
        const struct event *other = at[p[i].earlier_access];
        if (p[i].location == c->location && p[i].access == c->access &&
            p[i].earlier >= c->earlier && (other->tid == earlier->tid || by_kernel) &&
            (other->kind == EV_READ) == (earlier->kind == EV_READ) &&
            (event_order(other) == ORDER_NONE) == (event_order(earlier) == ORDER_NONE))
            return true;
    }
    return false;
}

static bool all_races(const struct stream *s, const struct region_oracle *regions,
                      const struct options *is, struct region_conflict *bad)
{
    const struct oracle_options all = {true, is->granule, is->view->bits};
    struct oracle *o = oracle_new(s->rec, s->records, &all);
    const struct region_conflict *c;
    const size_t n = region_oracle_conflicts(regions, &c);
    const struct event **at = stream_index(s);
    bool good = true;

    for (size_t i = 0; i < n && good; i++) {
        good = is_race(o, at, &c[i], is->view->bits & ORACLE_NO_THREAD);
        *bad = c[i];
    }
    free(at);
    oracle_free(o);
    return good;
}

static bool same(const struct region_conflict *a, const struct region_conflict *b)
{
    return a->event == b->event && a->access == b->access && a->earlier == b->earlier &&
           a->earlier_access == b->earlier_access && a->location == b->location;
}

/* Both are in the same order. */
static bool all_among(const struct region_oracle *few, const struct region_oracle *many,
                      struct region_conflict *bad)
{
    const struct region_conflict *a, *b;
    const size_t n = region_oracle_conflicts(few, &a), m = region_oracle_conflicts(many, &b);
    size_t k = 0;

    for (size_t i = 0; i < n; i++, k++) {
        while (k < m && !same(&a[i], &b[k]))
            k++;
        if (k == m) {
            *bad = a[i];
            return false;
        }
    }
    return true;
}

/* NULL: what holds, holds. */
static const char *broken(const struct stream *s, const struct options *is,
                          struct region_conflict *bad, struct seen *seen)
{
    const char *what = NULL;
    struct region_oracle *o[2];
    const struct region_conflict *c;

    for (unsigned k = 0; k < 2; k++) {
        const struct region_options how = {k, is->granule, is->view->bits};
        o[k] = region_oracle_new(s->rec, s->records, &how);
    }
    if (!o[0] != !o[1])
        what = "one of the two kinds of regions is refused";
    else if (o[0]) {
        for (unsigned k = 0; k < 2; k++) {
            seen->conflicts[k] += region_oracle_conflicts(o[k], &c);
            seen->with[k] += region_oracle_conflicts(o[k], &c) > 0;
        }
        if (!all_races(s, o[0], is, bad))
            what = "is no race";
        else if (!all_among(o[1], o[0], bad))
            what = "is none of release-free regions";
    }
    region_oracle_free(o[0]);
    region_oracle_free(o[1]);
    return what;
}

static bool differs(const struct stream *s, const void *arg)
{
    struct region_conflict bad;
    struct seen unused = {{0, 0}, {0, 0}};

    return broken(s, arg, &bad, &unused) != NULL;
}

static void tell(const struct synth_params *p, struct stream *s, const struct options *is)
{
    struct region_conflict bad = {.event = 0};
    struct seen unused = {{0, 0}, {0, 0}};

    draw_print(p);
    stream_minimise(s, false, differs, is);
    const char *what = broken(s, is, &bad, &unused);
    printf("seed %" PRIu64
           ", view %s, granularity %u: the conflict of event %zu with %zu at %#" PRIx64 " %s\n",
           p->seed, is->view->name, is->granule, bad.event, bad.earlier, bad.location, what);
    fflush(stdout);
    stream_print(s, NULL, stdout);
}

static bool seed_holds(uint64_t seed, struct seen *seen)
{
    static const unsigned granule[] = {0, 1, 2, 4, 8};
    struct stream s = {NULL, 0, 0, 0};
    struct region_conflict bad;
    struct rng r;
    size_t views = 0;
    bool holds = true;

    while (verdict_view[views].name)
        views++;
    rng_seed(&r, seed);
    const struct synth_params p = draw_regions(&r, seed);
    draw_stream(&s, &p);
    if (!p.raw)
        draw_changes(&r, &s, false);
    for (int i = 0; i < CASES && holds; i++) {
        const struct options is = {granule[rng_below(&r, ARRAY_SIZE(granule))],
                                   &verdict_view[rng_below(&r, views)]};
        if (p.raw && is.view->bits & ORACLE_ALL_SYNC)
            continue; /* the runtime that wrote the clocks knew nothing of its own locks */
        holds = !broken(&s, &is, &bad, seen);
        if (!holds)
            tell(&p, &s, &is);
    }
    stream_free(&s);
    return holds;
}

int main(int argc, char **argv)
{
    const struct seeds cases = seeds_arg(argc, argv, 300, NULL);
    struct seen seen = {{0, 0}, {0, 0}};

    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        if (!seed_holds(seed, &seen))
            return 1;
    printf("%" PRIu64 " traces from seed %" PRIu64 ", %d cases each: %" PRIu64
           " conflicts of release-free regions in %" PRIu64 " cases, %" PRIu64
           " of synchronisation-free in %" PRIu64 "\n",
           cases.n, cases.first, CASES, seen.conflicts[0], seen.with[0], seen.conflicts[1],
           seen.with[1]);
    return !seen.conflicts[0] || !seen.conflicts[1];
}
