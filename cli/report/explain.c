/* explain.c - what a report has from other verbs: why the first races are ones, and the machine.
 * Both read the configuration of results again; the source, too, which may be gone. Where the
 * machine has made the order of events, the run is repeated, and its events are kept for the while.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "cli/machine/machine.h"
#include "cli/report/report.h"
#include "cli/stop.h"
#include "cli/why/why.h"

/* A command line of another verb: borrows all. */
struct asking {
    struct given_option given[3];
    const char *arg[2];
    struct cli c;
};

static void asking_begin(struct asking *a, const char *verb)
{
    *a = (struct asking){.c = {.given = a->given, .arg = a->arg}};
    for (size_t i = 0; verbs[i]; i++)
        if (!strcmp(verbs[i]->name, verb))
            a->c.verb = verbs[i];
}

static void asking_option(struct asking *a, int key, const char *value)
{
    a->given[a->c.n++] = (struct given_option){key, value};
}

/* ---- races ---------------------------------------------------------------------------------- */

static int keep(void *arg, const struct answer *a, struct err *e)
{
    struct report_race *race = arg;
    struct sentences said = {0};
    size_t bytes = 0;
    FILE *out = memory_file(&race->picture, &bytes);

    (void)e;
    answer_say(a, &said);
    for (size_t i = 0; i < said.n; i++)
        facts_add(&race->said, "", said.at[i]);
    sentences_free(&said);
    answer_svg(a, out);
    if (fclose(out))
        die("no memory for a picture");
    return 0;
}

/* ---- a run that is repeated, so that its events are there ---------------------------------------
 */

enum { EVENTS_REPEATED = 5000000 }; /* more are not worth the wait */

struct repeated {
    const struct report_run *of; /* NULL: none was */
    char *dir, *trace;           /* own */
    struct err error;            /* why it can't be used; code 0: it can */
};

static void repeated_end(struct repeated *r)
{
    if (r->dir)
        (void)folder_remove(r->dir);
    free(r->dir);
    free(r->trace);
    *r = (struct repeated){0};
}

static void run_again(struct repeated *r, const char *config)
{
    struct lardsim *l = lardsim_new();
    char identity[24];

    char *limit = xasprintf("limits.events=%d", EVENTS_REPEATED + 1);

    if (!lardsim_load(l, config) && !lardsim_set(l, "stats.interval=0") &&
        !lardsim_set(l, "stats.rows=0") && !lardsim_set(l, limit) &&
        !lardsim_record(l, r->trace, 0)) {
        stop_run(l);
        if (!lardsim_start(l))
            lardsim_run(l, NULL);
        lardsim_finish(l);
        stop_run(NULL);
    }
    snprintf(identity, sizeof identity, "%016" PRIx64, sim_identity(l));
    if (lardsim_error(l))
        err_set(&r->error, (enum lard_exit)lardsim_exit_code(l), "%s", lardsim_error(l));
    else if (!r->of->identity || strcmp(identity, r->of->identity) != 0)
        err_set(&r->error, LARD_TOLERANCE,
                "%s: run again, it came to other events, which another build can do", r->of->dir);
    free(limit);
    lardsim_free(l);
}

static void repeat(struct repeated *r, const struct report_run *run)
{
    const char *in = getenv("TMPDIR");
    char *config = xasprintf("%s/config.yaml", run->dir);

    repeated_end(r);
    r->of = run;
    r->dir = xasprintf("%s/lardsim-report-XXXXXX", in && *in ? in : "/tmp");
    if (mkdtemp(r->dir)) {
        r->trace = xasprintf("%s/trace", r->dir);
        run_again(r, config);
    } else {
        err_set(&r->error, LARD_OUTPUT, "%s: can't be made, for the events of the run", r->dir);
    }
    free(config);
}

/* What a workload does can be had again. */
static const struct report_run *repeatable(const struct report_study *s, const char *dir)
{
    for (size_t i = 0; i < s->runs; i++)
        if (!strcmp(s->run[i].dir, dir))
            return s->run[i].source && !strncmp(s->run[i].source, "workload:", 9) &&
                           s->run[i].complete && s->run[i].events <= EVENTS_REPEATED
                       ? &s->run[i]
                       : NULL;
    return NULL;
}

/* ---- races ---------------------------------------------------------------------------------- */

static void ask_folder(struct report_race *race, bool quiet, struct err *e)
{
    struct asking a;

    asking_begin(&a, "why");
    a.arg[a.c.args++] = race->dir;
    a.arg[a.c.args++] = race->is.event ? race->is.event : race->id;
    if (quiet) /* else there is progress */
        asking_option(&a, OPT_QUIET, NULL);
    if (race->counts)
        asking_option(&a, 'p', race->count[0].policy);
    (void)why_answer(&a.c, keep, race, e);
}

static void ask_trace(struct report_race *race, const struct repeated *r, bool quiet, struct err *e)
{
    char *config = xasprintf("%s/config.yaml", r->of->dir);
    struct asking a;

    asking_begin(&a, "why");
    a.arg[a.c.args++] = r->trace;
    a.arg[a.c.args++] = race->is.event ? race->is.event : race->id;
    if (quiet) /* else there is progress */
        asking_option(&a, OPT_QUIET, NULL);
    asking_option(&a, OPT_CONFIG, config);
    if (race->counts)
        asking_option(&a, 'p', race->count[0].policy);
    (void)why_answer(&a.c, keep, race, e);
    free(config);
}

/* -1: a signal has come. */
static int explain_race(struct repeated *r, const struct report_study *s, struct report_race *race,
                        bool quiet, struct err *stopped)
{
    struct err e = {0}, again = {0};

    ask_folder(race, quiet, &e);
    const struct report_run *run = e.code ? repeatable(s, race->dir) : NULL;
    if (run && r->of != run)
        repeat(r, run);
    if (run && !r->error.code) {
        ask_trace(race, r, quiet, &again);
        e = again;
        race->repeated = true;
    } else if (run) {
        e = r->error;
    }
    if (e.code == LARD_INTERRUPTED || e.code == LARD_TERMINATED)
        return err_set(stopped, (enum lard_exit)e.code, "%s", e.text);
    if (e.code)
        race->unexplained = xstrdup(e.text);
    return 0;
}

/* ---- the machine ---------------------------------------------------------------------------- */

static void draw_machine(struct report_study *s)
{
    struct asking a;
    struct err e = {0};
    char *text = NULL;
    size_t bytes = 0;

    if (!s->config || !s->cells || isnan(s->cell[0].of[M_CYCLES]))
        return;
    FILE *out = memory_file(&text, &bytes);
    asking_begin(&a, "machine");
    asking_option(&a, OPT_CONFIG, s->config);
    const int failed = machine_picture(&a.c, out, &e);
    if (fclose(out))
        die("no memory for a picture");
    if (failed)
        free(text);
    else
        s->machine = text;
}

int explain_all(struct reported *r, uint64_t races, bool quiet, struct err *e)
{
    const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct repeated again = {0};

    for (size_t i = 0; i < r->n && !e->code; i++) {
        struct report_study *s = &r->study[i];
        draw_machine(s);
        for (size_t k = 0; k < s->races && k < races && here >= 0 && !e->code; k++) {
            (void)explain_race(&again, s, &s->race[k], quiet, e);
            if (fchdir(here))
                die("the working folder has gone");
        }
    }
    repeated_end(&again);
    if (here >= 0)
        (void)close(here);
    return e->code ? -1 : 0;
}
