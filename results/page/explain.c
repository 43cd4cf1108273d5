/* explain.c - what a page has from other rooms: why the first races are ones, and the machine.
 * Both read the configuration of results again; the source, too, which may be gone. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "results/drawing/drawing.h"
#include "results/page/report.h"
#include "base/program/stop.h"
#include "results/why/why.h"

/* ---- races ---------------------------------------------------------------------------------- */

static int keep(void *arg, const struct answer *a, struct err *e)
{
    struct report_race *race = arg;
    struct sentences said = {.at = NULL};
    size_t bytes = 0;
    FILE *out = xmemstream(&race->picture, &bytes);

    (void)e;
    answer_say(a, &said);
    for (size_t i = 0; i < said.n; i++)
        facts_add(&race->said, "", said.at[i]);
    sentences_free(&said);
    answer_svg(a, out);
    memory_file_close(out);
    return 0;
}

/* -1: a signal has come. faults: NULL if it is told already that the run is not whole. */
static int explain_race(struct report_race *race, struct report_faults *faults, bool quiet,
                        struct err *stopped)
{
    struct err e = {0};
    const struct why_question q = {.where = race->dir,
                                   .which = race->is.event ? race->is.event : race->id,
                                   .policy = race->counts ? race->count[0].policy : NULL,
                                   .memory = WHY_MEMORY,
                                   .quiet = quiet};

    (void)why_answer(&q, keep, race, &e);
    if (stop_code(e.code))
        return err_set(stopped, (enum lard_exit)e.code, "%s", e.text);
    if (e.code)
        race->unexplained = xstrdup(e.text);
    if (e.code == LARD_TOLERANCE && faults) /* something has changed since it was read */
        fault_add(faults, "%s", e.text);
    return 0;
}

/* ---- the machine ---------------------------------------------------------------------------- */

static void draw_machine(struct report_study *s, struct report_faults *faults)
{
    struct given g = {.at = NULL};
    struct err e = {0};
    char *text = NULL;
    size_t bytes = 0;

    if (!s->config || !s->cells || isnan(s->cell[0].of[M_CYCLES]))
        return;
    FILE *out = xmemstream(&text, &bytes);
    given_add(&g, GIVEN_FILE, s->config);
    const int failed = drawing_picture(&g, out, &e);
    given_free(&g);
    memory_file_close(out);
    if (failed) {
        fault_add(faults, "no picture of the machine: %s", e.text);
        free(text);
    } else {
        s->machine = text;
    }
}

static const struct report_run *run_in(const struct report_study *s, const char *dir)
{
    size_t i = 0;

    while (strcmp(s->run[i].dir, dir) != 0)
        i++;
    return &s->run[i];
}

/* here: the working folder, to which why may not have come back. */
static int explain_races(struct report_study *s, struct report_faults *faults,
                         const struct explaining *x, int here, struct err *e)
{
    for (size_t k = 0; k < s->races && k < x->races; k++) {
        struct report_race *race = &s->race[k];
        const struct report_run *run = run_in(s, race->dir);
        if (run->events > x->events)
            race->unexplained = xasprintf("its run has %" PRIu64 " events, which takes a while to "
                                          "read again; lardsim report --why %zu does so",
                                          run->events, k + 1);
        else if (explain_race(race, run->done ? faults : NULL, x->quiet, e))
            return -1;
        if (fchdir(here))
            die("the working folder has gone");
    }
    return 0;
}

int explain_all(struct reported *r, const struct explaining *x, struct err *e)
{
    const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; i < r->n && here >= 0 && !e->code; i++) {
        draw_machine(&r->study[i], &r->faults);
        (void)explain_races(&r->study[i], &r->faults, x, here, e);
    }
    if (here >= 0)
        (void)close(here);
    return e->code ? -1 : 0;
}
