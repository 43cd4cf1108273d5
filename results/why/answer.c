/* answer.c - an answer is found: what is asked, what the policy says of it, and both sides of the
 * race in the events. */
#include "results/job/progress.h"
#include "results/job/stopped.h"
#include "results/why/why.h"

struct looking { /* the readings: each is a part of the progress */
    const char *source;
    struct progress *progress;
};

static struct lardsim_source *open_source(void *arg, struct err *e)
{
    struct looking *l = arg;

    return progress_source(l->progress, stop_source(lardsim_source_open(l->source, e)));
}

static int look_at_all(struct answer *to, const struct why_asked *a, struct looking *l,
                       uint64_t memory, struct err *e)
{
    const struct sighting *race = &a->race;
    const struct lardsim_why_ask ask = {.open = open_source,
                                        .arg = l,
                                        .name = a->source,
                                        .executed = a->executed,
                                        .view = a->view,
                                        .granule = a->granule,
                                        .event = race->found ? race->event : a->event,
                                        .paired = race->paired,
                                        .earlier = race->earlier,
                                        .reported = race->found,
                                        .placed = race->size != 0,
                                        .addr = race->addr,
                                        .size = race->size,
                                        .memory = memory};

    return lardsim_why(&ask, &to->both, e);
}

static int answer(const struct why_question *q, struct why_asked *a, answer_fn *fn, void *arg,
                  struct err *e)
{
    struct policy_said said = {.asked = false};
    struct answer to = {.asked = a, .said = &said};
    struct progress progress;
    int failed = a->repeats || said_needed(a) ? said_find(&said, a, q->quiet, e) : 0;
    struct looking l = {asked_events(a), &progress};

    progress_begin(&progress, q->quiet, 0);
    failed = failed || look_at_all(&to, a, &l, q->memory, e);
    progress_clear(&progress);
    failed = failed || fn(arg, &to, e);
    lardsim_why_free(&to.both);
    said_free(&said);
    return failed;
}

int why_answer(const struct why_question *q, answer_fn *fn, void *arg, struct err *e)
{
    struct why_asked a = {.dir = NULL};
    const int failed = asked_find(&a, q, e) || answer(q, &a, fn, arg, e);

    asked_free(&a);
    return failed ? -1 : 0;
}
