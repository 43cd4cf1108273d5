/* reproduce.c - measures one program for LARD's Tables 2 and 3. The detectors read its events, once
 * for all six. The truth is the same detector of happens-before on the same execution told without
 * addresses (workloads/measure/abstract.h): it sees no Clear, no Copy, nothing of the runtime, and
 * shares none of the code for those. So is a capture's, which a real collector moved.
 * tests/results/papers/t_table3.c holds it to the oracle of the tests. */
#include "results/papers/lard.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/job/stopped.h"
#include "sim/lardsim.h"
#include "results/job/told.h"

const char *const view_names[] = {"lard", "all-memory", "all-sync", "no-clear", "no-copy", "naive"};
const char *const tally_names[] = {"races", "false", "missed"};
const char *const unit_names[] = {"accesses", "sites", "system", "system-sites"};

/* A racy access. Tables count accesses, and sites; an access is known by its event's number. */
struct hit {
    uint64_t event, site;
    bool system;
};
struct hits { /* in order of events */
    struct hit *hit;
    size_t n, cap;
};
struct races {
    struct hits of[VIEWS];
    struct hits truth;
};

static void add_hit(struct hits *h, struct hit hit)
{
    h->hit = xgrow(h->hit, h->n, &h->cap, sizeof *h->hit);
    h->hit[h->n++] = hit;
}

static struct hit hit_of(const struct lardsim_race *race)
{
    return (struct hit){race->is.event, race->is.site, race->system};
}

static void on_view_race(void *arg, const struct lardsim_race *race)
{
    struct races *r = arg;

    for (size_t i = 0; i < VIEWS; i++)
        if (!strcmp(race->policy, view_names[i]))
            add_hit(&r->of[i], hit_of(race));
}

static void on_truth_race(void *arg, const struct lardsim_race *race)
{
    struct races *r = arg;

    add_hit(&r->truth, hit_of(race));
}

/* ---- tallies -------------------------------------------------------------------------------- */

/* Orders hits by site; the program's before the system's, so that tally_of meets the first of
 * each. */
static int by_site(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    return x->site != y->site ? (x->site > y->site) - (x->site < y->site) : x->system - y->system;
}

/* Sorts h by site, so what needs the order of events comes first. */
static struct tally tally_of(struct hits *h)
{
    struct tally t = {.n[ACCESSES] = h->n};

    if (h->n)
        qsort(h->hit, h->n, sizeof *h->hit, by_site);
    for (size_t i = 0; i < h->n; i++) {
        const struct hit *hit = &h->hit[i];
        const bool fresh = i == 0 || hit[-1].site != hit->site;
        t.n[SYSTEM] += hit->system;
        t.n[SITES] += hit->site && fresh;
        t.n[SYSTEM_SITES] += hit->site && hit->system && (fresh || !hit[-1].system);
    }
    return t;
}

/* Tallies the hits that the first list alone has. Both lists are in order of events, so that one
 * walk finds them. */
static struct tally tally_beyond(const struct hits *h, const struct hits *other)
{
    struct hits only = {0};

    for (size_t i = 0, k = 0; i < h->n; i++) {
        while (k < other->n && other->hit[k].event < h->hit[i].event)
            k++;
        if (k == other->n || other->hit[k].event != h->hit[i].event)
            add_hit(&only, h->hit[i]);
    }
    const struct tally t = tally_of(&only);
    free(only.hit);
    return t;
}

static void tally_all(struct races *r, struct measured *to)
{
    /* tally_of sorts, so differences are taken before. */
    for (size_t i = 0; i < VIEWS; i++) {
        to->view[i][FALSE] = tally_beyond(&r->of[i], &r->truth);
        to->view[i][MISSED] = tally_beyond(&r->truth, &r->of[i]);
    }
    for (size_t i = 0; i < VIEWS; i++)
        to->view[i][RACES] = tally_of(&r->of[i]);
    to->truth = tally_of(&r->truth);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static int close_run(struct lardsim *l, int status, const char *source, struct err *e)
{
    lardsim_finish(l);
    if (!status && lardsim_error(l))
        status = run_error(l, source, e);
    stop_run(NULL);
    lardsim_free(l);
    return status;
}

/* s NULL: the source as it is named. */
static void run_on(struct lardsim *l, const char *source, struct lardsim_source *s,
                   struct progress *progress)
{
    progress_run(progress, l,
                 lardsim_source_path(source) ? source : source + strcspn(source, ":") + 1);
    stop_run(l);
    if (lardsim_start(l))
        lardsim_source_close(s);
    else if (s)
        lardsim_run_source(l, s);
    else
        lardsim_run(l, source);
    progress_run_over(progress);
}

static int run_views(const char *source, struct races *r, struct measured *to,
                     struct progress *progress, struct err *e)
{
    struct lardsim *l = lardsim_new();

    lardsim_preset(l, "lard-table3");
    lardsim_on_race(l, on_view_race, r);
    run_on(l, source, NULL, progress);
    to->events = lardsim_events(l);
    return close_run(l, 0, source, e);
}

static int run_truth(const char *source, struct races *r, struct measured *to,
                     struct progress *progress, struct err *e)
{
    struct lardsim_source *s = lardsim_unmoved(source, &to->moves, e);
    int status = 0;

    if (!s)
        return -1;
    struct lardsim *l = lardsim_new();
    lardsim_set(l, "policies=vc");
    lardsim_set(l, "policy.vc.view=tracked");
    lardsim_on_race(l, on_truth_race, r);
    run_on(l, source, s, progress);
    /* Two runs of one specification are the same run, or the comparison is void. */
    if (!lardsim_error(l) && lardsim_events(l) != to->events)
        status = err_set(e, LARD_INTERNAL, "%s: the second run has other events", source);
    return close_run(l, status, source, e);
}

int reproduce_measure(const char *source, struct measured *to, struct progress *progress,
                      struct err *e)
{
    struct races r = {0};

    *to = (struct measured){0};
    const int status =
        run_views(source, &r, to, progress, e) || run_truth(source, &r, to, progress, e) ? -1 : 0;
    if (!status)
        tally_all(&r, to);
    for (size_t i = 0; i < VIEWS; i++)
        free(r.of[i].hit);
    free(r.truth.hit);
    return status;
}
