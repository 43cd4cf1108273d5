/* said.c - what the policy says of the event: it runs once more, beside the truth, and the two are
 * compared as `lardsim compare` does it. An exact detector has said it when the clocks have. */
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/run/run.h"
#include "cli/stop.h"
#include "cli/why/why.h"

#define TRUTH "the-truth"

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

static void keep_location(struct policy_said *s, uint64_t event, sim_addr location, uint32_t size,
                          bool region, const char *reason)
{
    if (s->n == LOCATIONS_KEPT)
        return;
    s->at = xgrow(s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] =
        (struct location_said){event, location, size, region, reason ? xstrdup(reason) : NULL};
}

static void hear_race(void *arg, const struct lardsim_race *race)
{
    struct hearing *h = arg;
    struct why_asked *a = h->asked;
    const bool own = !strcmp(race->policy, a->label);

    if (own && !a->by_access && race->is.known)
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
    h->said->true_race |= !own;
}

static void hear_difference(void *arg, const struct sim_difference *d)
{
    struct hearing *h = arg;
    const struct why_asked *a = h->asked;
    const uint64_t event = a->by_id ? a->race.event : a->event;

    if (strcmp(d->policy, a->label) != 0)
        return;
    if (!a->by_access && !strcmp(d->of, "location"))
        keep_location(h->said, d->is.event, d->location, 1, false, d->reason);
    if (d->is.event != event || h->said->reason)
        return;
    h->said->reason = xstrdup(d->reason);
    h->said->why = xstrdup(d->why);
}

static int prepare(struct lardsim *l, const struct why_asked *a)
{
    char *both = xasprintf("policies=" TRUTH "=vc,%s", a->spec);
    int failed = run_settings(l, &a->settings) || lardsim_set(l, both) ||
                 lardsim_set(l, "compare.truth=" TRUTH) || lardsim_set(l, "machine=none") ||
                 lardsim_set(l, "order=recorded") || lardsim_set(l, "races.max=0") ||
                 sim_compare(l);

    if (!failed)
        sim_others(l, (const char *const *)a->other, a->others);
    free(both);
    return failed;
}

static int not_reported(const struct why_asked *a, struct err *e)
{
    return err_set(e, LARD_USAGE,
                   "%s: policy %s reports no race %016llx there; `lardsim run --json` has those "
                   "that it does",
                   a->source, a->label, (unsigned long long)a->id);
}

int said_find(struct policy_said *s, struct why_asked *a, const struct cli *c, struct err *e)
{
    struct hearing h = {s, a};
    struct progress progress;
    struct lardsim *l = lardsim_new();

    s->asked = true;
    progress_begin(&progress, cli_has(c, OPT_QUIET), 1);
    lardsim_on_race(l, hear_race, &h);
    sim_on_difference(l, hear_difference, &h);
    if (!prepare(l, a)) {
        progress_run(&progress, l, NULL);
        stop_run(l);
        if (!lardsim_start(l))
            lardsim_run(l, a->source);
        progress_run_over(&progress);
        lardsim_finish(l);
    }
    progress_clear(&progress);
    if (lardsim_error(l))
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s", lardsim_error(l));
    else if (a->by_id && !a->race.found)
        not_reported(a, e);
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
