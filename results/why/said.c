/* said.c - what the policy says of the event: it runs once more, beside the truth, and the two are
 * compared as `lardsim compare` does it. An exact detector has said it when the clocks have.
 *
 * A run on a machine has an order of its own. It is repeated as it was, and its events are kept in
 * that order for the while. The truth beside it takes no time, and its label is the last of all, as
 * others' decide where their metadata lie: so it changes nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "results/job/progress.h"
#include "base/program/place.h"
#include "results/job/stopped.h"
#include "results/why/why.h"

#define TRUTH "zzzzzzzz-the-truth"

struct hearing {
    struct policy_said *said;
    struct why_asked *asked;
};

static void sight(struct sighting *s, const struct lardsim_race *race)
{
    *s = (struct sighting){.found = true,
                           .event = race->is.event,
                           .earlier = race->earlier.event,
                           .paired = race->earlier.known && !race->earlier.region,
                           .id = race->id,
                           .addr = race->addr,
                           .size = race->size};
}

/* The reason for our user, who has never heard of the label. */
static char *reason_told(const char *reason)
{
    const char *label = strstr(reason, TRUTH);

    return label ? xasprintf("%.*sthe truth%s", (int)(label - reason), reason,
                             label + sizeof TRUTH - 1)
                 : xstrdup(reason);
}

static void keep_location(struct policy_said *s, uint64_t event, uint64_t location, uint32_t size,
                          bool region, const char *reason)
{
    if (s->n == LOCATIONS_KEPT)
        return;
    s->at = xgrow(s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] = (struct location_said){event, event,  location,
                                           size,  region, reason ? reason_told(reason) : NULL};
}

static void hear_race(void *arg, const struct lardsim_race *race)
{
    struct hearing *h = arg;
    struct why_asked *a = h->asked;
    const bool own = !strcmp(race->policy, a->label);

    if (own && !a->is.by_access && race->is.known)
        keep_location(h->said, race->is.event, race->addr, race->size, race->is.region, NULL);
    if (!race->is.known || race->is.region)
        return;
    if (own && a->by_id && !a->race.found && race->id == a->id)
        sight(&a->race, race);
    const uint64_t event = a->by_id ? a->race.event : a->event;
    if (race->is.event != event || (a->by_id && !a->race.found))
        return;
    if (own && !a->race.found)
        sight(&a->race, race);
    h->said->reports |= own;
    h->said->true_race |= !strcmp(race->policy, TRUTH);
}

static void hear_difference(void *arg, const struct lardsim_difference *d)
{
    struct hearing *h = arg;
    const struct why_asked *a = h->asked;
    const uint64_t event = a->by_id ? a->race.event : a->event;

    if (strcmp(d->policy, a->label) != 0)
        return;
    if (!a->is.by_access && !strcmp(d->of, "place"))
        keep_location(h->said, d->is.event, d->location, 1, false, d->reason);
    if (d->is.event != event || h->said->reason)
        return;
    h->said->reason = reason_told(d->reason);
    h->said->why = xstrdup(d->why);
}

/* ---- the trace, without a machine ----------------------------------------------------------- */

static int set_truth(struct lardsim *l, const char *specs)
{
    char *both = xasprintf("policies=%s," TRUTH "=vc", specs);
    const int failed = lardsim_set(l, both) || lardsim_set(l, "compare.truth=" TRUTH) ||
                       lardsim_set(l, "races.max=0") || lardsim_compare(l);

    free(both);
    return failed;
}

static int prepare_trace(struct lardsim *l, const struct why_asked *a)
{
    if (given_apply(&a->settings, l) || set_truth(l, a->spec) || lardsim_set(l, "machine=none") ||
        lardsim_set(l, "order=recorded"))
        return -1;
    lardsim_others(l, (const char *const *)a->other, a->others);
    return 0;
}

/* ---- the run again, as it was --------------------------------------------------------------- */

static int judge_beside(struct lardsim *l, const struct why_asked *a)
{
    char *all = NULL;

    for (size_t i = 0; i < a->others; i++)
        xappend(&all, i ? "," : "", a->other[i]);
    const int failed = set_truth(l, all) || lardsim_set(l, "policy." TRUTH ".charged=off");
    free(all);
    return failed;
}

/* Prepares the run for its repetition. Intervals are off, as they go to a results folder, and there
 * is none. */
static int prepare_again(struct lardsim *l, struct why_asked *a)
{
    char *numbers = xasprintf("%s/numbers", a->folder);

    a->events = xasprintf("%s/run.lard", a->folder);
    int failed = lardsim_load(l, a->config) || lardsim_set(l, "stats.interval=0") ||
                 lardsim_set(l, "stats.rows=0") || lardsim_keep_executed(l, a->events, numbers) ||
                 (said_needed(a) && judge_beside(l, a));
    free(numbers);
    return failed;
}

/* True: this run came as far as that one. It may have stopped at a race, a limit, or an error of
 * the trace. */
static bool came_as_far(const struct lardsim *l)
{
    const int code = lardsim_exit_code(l);

    return !code || code == LARD_RACES || code == LARD_LIMIT || code == LARD_TRACE;
}

static int take_events(struct why_asked *a, struct lardsim *l, bool reported, struct err *e)
{
    char identity[24];

    snprintf(identity, sizeof identity, "%016" PRIx64, lardsim_identity(l));
    if ((a->past.complete && strcmp(identity, a->past.identity) != 0) ||
        (a->race.found && !reported))
        return err_set(e, LARD_TOLERANCE,
                       "%s: run again in %s order, it came to other events, as another build can; "
                       "run it anew (lardsim run --config %s/config.yaml), and ask about those "
                       "results",
                       a->dir, a->order, a->dir);
    char *numbers = xasprintf("%s/numbers", a->folder);
    a->executed = lardsim_executed_open(numbers, e);
    free(numbers);
    return e->code ? -1 : 0;
}

/* Finds the positions of all reported events in one pass over the execution. */
static void find_positions(struct policy_said *s, const struct lardsim_executed *x, uint64_t events)
{
    struct map wanted = {0};

    for (size_t i = 0; i < s->n; i++)
        *map_put(&wanted, s->at[i].event) = UINT64_MAX;
    for (uint64_t position = 0; position < events; position++) {
        uint64_t *found = map_find(&wanted, lardsim_executed_event(x, position));
        if (found)
            *found = position;
    }
    for (size_t i = 0; i < s->n; i++)
        s->at[i].position = *map_find(&wanted, s->at[i].event);
    map_free(&wanted);
}

/* ---- either ---------------------------------------------------------------------------------- */

bool said_needed(const struct why_asked *a)
{
    return !a->is.exact || strcmp(a->view, "tracked") || (a->by_id && !a->race.found);
}

static void run_it(struct lardsim *l, struct why_asked *a, struct progress *progress)
{
    if (a->repeats ? prepare_again(l, a) : prepare_trace(l, a))
        return;
    progress_run(progress, l, NULL);
    stop_run(l);
    if (!lardsim_start(l))
        lardsim_run(l, a->repeats ? NULL : a->source);
    progress_run_over(progress);
    lardsim_finish(l);
}

int said_find(struct policy_said *s, struct why_asked *a, bool quiet, struct err *e)
{
    struct hearing h = {s, a};
    struct progress progress;

    if (a->repeats && place_work(&a->folder, "lardsim-why", "the events of the run go", e))
        return -1;
    struct lardsim *l = lardsim_new();
    s->asked = said_needed(a);
    progress_begin(&progress, quiet, 1);
    lardsim_on_race(l, hear_race, &h);
    lardsim_on_difference(l, hear_difference, &h);
    run_it(l, a, &progress);
    progress_clear(&progress);
    if (a->repeats ? !came_as_far(l) : lardsim_error(l) != NULL)
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s%s%s", a->repeats ? a->dir : "",
                a->repeats ? ": to have its order it runs again: " : "", lardsim_error(l));
    else if (a->by_id && !a->race.found)
        err_set(e, LARD_USAGE,
                "%s: policy %s reports no race %016" PRIx64
                " there; `lardsim run --json` has those that it does",
                a->source, a->label, a->id);
    else if (a->repeats && !take_events(a, l, s->reports, e))
        find_positions(s, a->executed, lardsim_executed_events(a->executed));
    stop_run(NULL);
    lardsim_free(l);
    return e->code ? -1 : 0;
}

void said_free(struct policy_said *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->at[i].reason);
    free(s->at);
    free(s->reason);
    free(s->why);
}
