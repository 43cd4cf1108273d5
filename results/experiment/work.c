/* work.c - runs a group of cells in this process: those of one source side by side, over one
 * reading of it. What each writes is what `lardsim run` with its settings writes. */
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/program/print.h"
#include "results/experiment/sweep.h"
#include "sim/lardsim.h"

void group_add(struct group *g, size_t cell)
{
    g->cell = xgrow(g->cell, g->n, &g->cap, sizeof *g->cell);
    g->cell[g->n++] = cell;
}

size_t group_most(const struct sweep *s, size_t left)
{
    const size_t share = (left + 2 * s->jobs - 1) / (2 * s->jobs);

    return share < GROUP_MOST ? share : GROUP_MOST;
}

bool same_reading(const struct sweep_cell *a, const struct sweep_cell *b)
{
    return a->source == b->source && a->rules == b->rules && a->machine == b->machine;
}

struct working;
struct cell_run { /* a cell of the group */
    struct working *of;
    size_t cell;
    struct lardsim *run; /* NULL: it has ended */
    uint64_t told;       /* events */
};
struct working {
    const struct sweep_folder *folder;
    const struct plan *plan;
    const struct teller *teller;
    struct cell_run *job;
    size_t n;
};

static void tell(const struct working *w, enum told what, size_t cell, uint64_t n)
{
    w->teller->tell(w->teller->arg, what, cell, n);
}

static void progress(void *job, uint64_t events)
{
    struct cell_run *j = job;

    tell(j->of, TOLD_EVENTS, j->cell, events - j->told);
    j->told = events;
}

/* ---- the end of a cell ---------------------------------------------------------------------- */

/* A folder that can't be written is no fault of the cell. */
static void end_badly(struct cell_run *j, const char *hash, int code, const char *text)
{
    struct err e = {0};

    if (code == LARD_OUTPUT || sweep_failed(j->of->folder, hash, text, NULL, &e)) {
        print_note("%s", e.code ? e.text : text);
        tell(j->of, TOLD_NO_ROOM, j->cell, LARD_OUTPUT);
        return;
    }
    tell(j->of, TOLD_FAILED, j->cell, (uint64_t)code);
}

/* Results of other events would stand under the name of those that the file had at first. */
static bool has_changed(const struct cell_run *j)
{
    const struct plan *p = j->of->plan;
    const uint64_t hash = p->source[p->cell[j->cell].source].hash;

    return hash && !lardsim_error(j->run) && lardsim_identity(j->run) != hash;
}

static void end_job(struct cell_run *j)
{
    const char *hash = j->of->plan->cell[j->cell].hash;
    struct err e = {0};

    lardsim_finish(j->run);
    progress(j, lardsim_events(j->run));
    if (lardsim_error(j->run) && lardsim_exit_code(j->run) != LARD_RACES)
        end_badly(j, hash, lardsim_exit_code(j->run), lardsim_error(j->run));
    else if (has_changed(j))
        end_badly(j, hash, LARD_TRACE,
                  "the source has other events than when the sweep began; leave it as it is until "
                  "the sweep has ended, and start it again");
    else if (sweep_done(j->of->folder, hash, &e))
        end_badly(j, hash, e.code, e.text);
    else
        tell(j->of, TOLD_DONE, j->cell, 0);
    lardsim_free(j->run);
    j->run = NULL;
}

static void ended(void *working, struct lardsim *l)
{
    struct working *w = working;

    for (size_t i = 0; i < w->n; i++)
        if (w->job[i].run == l)
            end_job(&w->job[i]);
}

/* ---- the group ------------------------------------------------------------------------------ */

static int begin_job(struct cell_run *j)
{
    const struct plan *p = j->of->plan;
    const struct sweep_cell *c = &p->cell[j->cell];
    char *dir = folder_flight(j->of->folder, c->hash);

    folder_remove(dir);
    j->run = lardsim_new();
    lardsim_on_progress(j->run, progress, j);
    cell_command(p, c, j->run);
    const int failed = cell_configure(p, c, j->run) || lardsim_output_private(j->run, dir) ||
                       lardsim_start(j->run);
    free(dir);
    return failed ? -1 : 0;
}

static void run_alone(struct cell_run *j)
{
    if (!begin_job(j))
        lardsim_run(j->run, j->of->plan->source[j->of->plan->cell[j->cell].source].text);
    end_job(j);
}

static void run_shared(struct working *w, const struct sweep_cell *first)
{
    struct err e = {0};
    struct lardsim_shared *s = lardsim_shared_open(
        w->plan->source[first->source].text, first->rules, first->machine ? KEPT_RECORDS : 0, &e);

    for (size_t i = 0; i < w->n; i++) {
        if (begin_job(&w->job[i]))
            end_job(&w->job[i]);
        else if (s)
            lardsim_shared_add(s, w->job[i].run);
    }
    if (s)
        lardsim_shared_run(s, ended, w, &e);
    for (size_t i = 0; i < w->n; i++)
        if (w->job[i].run) { /* left in the middle: it runs again, alone */
            lardsim_free(w->job[i].run);
            tell(w, TOLD_ALONE, w->job[i].cell, 0);
        }
    lardsim_shared_free(s);
}

void work_run(const struct sweep_folder *f, const struct plan *p, const struct group *g,
              const struct teller *t)
{
    struct working w = {
        .folder = f, .plan = p, .teller = t, .job = xcalloc(g->n, sizeof *w.job), .n = g->n};

    for (size_t i = 0; i < g->n; i++)
        w.job[i] = (struct cell_run){.of = &w, .cell = g->cell[i]};
    if (g->n == 1)
        run_alone(&w.job[0]);
    else if (g->n)
        run_shared(&w, &p->cell[g->cell[0]]);
    free(w.job);
}
