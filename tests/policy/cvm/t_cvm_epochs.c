/* t_cvm_epochs.c - are the racy words that cvm finds in each barrier epoch those of the definition?
 * On random streams with barriers and locks, with barriers alone, and with locks alone; in small
 * pages and large ones; with buffers that are full now and then, and with as many as there may be;
 * with as many threads as come, and with the number known.
 *
 *     t_cvm_epochs [--mutant NAME] [FIRST-SEED [SEEDS]]     default: 1 400
 *
 * The oracle knows reachability in the graph of events: a word races in the epoch in which the
 * later access is. An epoch ends at the first departure from a round of a barrier. */
#include <inttypes.h>

#include "tests/frame/draw.h"
#include "tests/frame/lives.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/frame/watch.h"
#include "tests/oracle/oracle.h"

struct word { /* racy, in an epoch */
    uint64_t epoch;
    sim_addr at;
};
struct words {
    struct word *at; /* owns */
    size_t n, cap;
};

static void add(struct words *w, uint64_t epoch, sim_addr at)
{
    w->at = xgrow(w->at, w->n, &w->cap, sizeof *w->at);
    w->at[w->n++] = (struct word){epoch, at};
}

static int by_epoch(const void *left, const void *right)
{
    const struct word *a = left, *b = right;

    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static void sort(struct words *w)
{
    size_t n = 0;

    if (w->n)
        qsort(w->at, w->n, sizeof *w->at, by_epoch);
    for (size_t i = 0; i < w->n; i++)
        if (!n || by_epoch(&w->at[n - 1], &w->at[i]))
            w->at[n++] = w->at[i];
    w->n = n;
}

/* ---- epochs --------------------------------------------------------------------------------- */

struct epochs {
    uint64_t *end; /* owns; events with which one ends */
    size_t n;
};

static bool same_round(const struct event *a, const struct event *b)
{
    return a->kind == EV_BARRIER_DEPART && a->addr == b->addr && a->aux == b->aux;
}

static bool heeded(const struct event *ev)
{
    return !(ev->flags & EVF_SYSTEM);
}

static struct epochs epochs_of(const struct stream *s)
{
    const struct event **at = stream_index(s);
    struct epochs e = {xcalloc(s->events + 1, sizeof *e.end), 0};

    for (size_t i = 0; i < s->events; i++) {
        bool first = at[i]->kind == EV_BARRIER_DEPART && heeded(at[i]);
        for (size_t k = 0; k < i && first; k++)
            first = !(same_round(at[k], at[i]) && heeded(at[k]));
        if (first)
            e.end[e.n++] = i;
    }
    free(at);
    return e;
}

/* Of what happens at that event, or is found there of what has happened. */
static uint64_t epoch_at(const struct epochs *e, uint64_t event)
{
    uint64_t n = 0;

    while (n < e->n && e->end[n] < event)
        n++;
    return n;
}

/* ---- a case --------------------------------------------------------------------------------- */

enum { WHY = 300 };
struct trial {
    unsigned granule, page, intervals; /* intervals 0: as it is */
    bool known; /* that there are no more threads: what all know of is forgotten */
};
struct seen {
    uint64_t cases, epochs, words, consolidations;
};

static unsigned threads_of(const struct stream *s)
{
    const struct event **at = stream_index(s);
    uint64_t seen = 0;

    for (size_t i = 0; i < s->events; i++)
        seen |= UINT64_C(1) << at[i]->tid % 64;
    free(at);
    return (unsigned)__builtin_popcountll(seen);
}

static void of_policy(struct words *to, const struct stream *s, const struct epochs *e,
                      const struct trial *t, struct seen *seen)
{
    struct watch w;
    char *page = xasprintf("page=%u", t->page);
    char *intervals = xasprintf("intervals=%u", t->intervals ? t->intervals : 4096);
    char *processes = xasprintf("processes=%u", t->known ? threads_of(s) : 0);
    const char *settings[] = {page, intervals, processes, NULL};

    watch_open(&w, "cvm", t->granule, settings);
    watch_run(&w, s->rec, s->records);
    if (w.err.code)
        die("%s", w.err.text);
    for (size_t i = 0; i < w.conflicts; i++)
        add(to, epoch_at(e, w.conflict[i].event), w.conflict[i].location);
    seen->consolidations += watch_stat(&w, "consolidations");
    watch_close(&w);
    free(page);
    free(intervals);
    free(processes);
    sort(to);
}

static void of_oracle(struct words *to, const struct stream *s, const struct epochs *e,
                      const struct trial *t)
{
    const struct oracle_options is = {.history_all = true, .granule = t->granule};
    struct oracle *o = oracle_new(s->rec, s->records, &is);
    const struct oracle_pair *p;

    if (!o)
        die("the oracle refuses the stream");
    for (size_t i = 0; i < oracle_events(o); i++)
        for (size_t k = 0, n = oracle_pairs(o, i, &p); k < n; k++)
            add(to, epoch_at(e, i), p[k].location);
    oracle_free(o);
    sort(to);
}

static bool lack(const struct words *a, const char *who, const struct words *b, char *why)
{
    for (size_t i = 0; i < a->n; i++)
        if (!b->n || !bsearch(&a->at[i], b->at, b->n, sizeof *b->at, by_epoch)) {
            snprintf(why, WHY, "epoch %" PRIu64 ", word %#" PRIx64 ": only %s finds a race",
                     a->at[i].epoch, a->at[i].at, who);
            return true;
        }
    return false;
}

static bool case_differs(const struct stream *s, const struct trial *t, struct seen *seen,
                         char *why)
{
    struct words its = {0}, right = {0};
    struct epochs e = epochs_of(s);

    of_policy(&its, s, &e, t, seen);
    of_oracle(&right, s, &e, t);
    seen->epochs += e.n;
    seen->words += right.n;
    seen->cases++;
    const bool differs = lack(&right, "the oracle", &its, why) || lack(&its, "cvm", &right, why);
    free(its.at);
    free(right.at);
    free(e.end);
    return differs;
}

static bool still_differs(const struct stream *s, const void *arg)
{
    char why[WHY];
    struct seen unused = {0};

    return case_differs(s, arg, &unused, why);
}

/* ---- streams -------------------------------------------------------------------------------- */

static void draw(struct rng *r, uint64_t seed, struct stream *s)
{
    static const char *const kind[] = {"barriers=0", "barriers=1", "barriers=2",
                                       "barriers=2,fork=flat", "barriers=1,fork=tree"};
    char *more = xasprintf(",%s", kind[seed % ARRAY_SIZE(kind)]);

    watch_synth(r, s, more);
    free(more);
}

static bool seed_holds(uint64_t seed, struct seen *seen)
{
    struct stream s = {NULL, 0, 0, 0};
    char why[WHY];
    struct rng r;

    rng_seed(&r, seed);
    draw(&r, seed, &s);
    const struct trial t = {.granule = 1u << rng_below(&r, 4),
                            .page = rng_below(&r, 2) ? 64 : 8192,
                            .intervals = rng_below(&r, 2) ? (unsigned)watch_between(&r, 1, 20) : 0,
                            .known = rng_below(&r, 2)};
    const bool holds = !case_differs(&s, &t, seen, why);
    if (!holds) {
        printf("seed %" PRIu64 ", granularity %u, page %u, intervals %u%s: %s\n", seed, t.granule,
               t.page, t.intervals, t.known ? ", processes known" : "", why);
        stream_minimise(&s, false, still_differs, &t);
        stream_print(&s, NULL, stdout);
    }
    stream_free(&s);
    return holds;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds seeds = seeds_arg(argc, argv, 400, "cvm");
    struct seen seen = {0};

    for (uint64_t i = 0; i < seeds.n; i++)
        if (!seed_holds(seeds.first + i, &seen))
            return 1;
    printf("%" PRIu64 " streams, %" PRIu64 " epochs ended, %" PRIu64 " racy words, %" PRIu64
           " comparisons as buffers were full\n",
           seen.cases, seen.epochs, seen.words, seen.consolidations);
    if (seeds.n >= 100 && (!seen.epochs || !seen.words || !seen.consolidations)) {
        printf("FAILED: something never happened\n");
        return 1;
    }
    return 0;
}
