/* machines.c - runs one source once for each policy, each time on a machine of its own, so
 * that what a policy costs is the difference to the machine without one. The runs are computed
 * behind sim/lardsim.h; what is asked is in asked.c, the page in cli/compare_costs.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/program/print.h"
#include "results/experiment/costs.h"
#include "results/job/progress.h"
#include "results/job/stopped.h"
#include "results/job/told.h"

/* ---- what was given and had no effect in any run -------------------------------------------- */

struct unused {
    char *name, *origin; /* own */
    size_t runs;         /* in which it had no effect */
};
struct all_unused {
    struct unused *item;
    size_t n, cap;
};

/* A setting may be about one policy's run only: it had no effect when no run has used it. */
static void note_unused(void *arg, const char *name, const char *origin)
{
    struct all_unused *all = arg;

    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->item[i].name, name) && !strcmp(all->item[i].origin, origin)) {
            all->item[i].runs++;
            return;
        }
    all->item = xgrow(all->item, all->n, &all->cap, sizeof *all->item);
    all->item[all->n++] = (struct unused){xstrdup(name), xstrdup(origin), 1};
}

static void warn_unused(struct all_unused *all, size_t runs)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->item[i].runs == runs)
            given_warn_unused(NULL, all->item[i].name, all->item[i].origin);
        free(all->item[i].name);
        free(all->item[i].origin);
    }
    free(all->item);
}

/* ---- a run ---------------------------------------------------------------------------------- */

/* Results go to a folder of the policy's own in that of --output. */
static int set_output(struct lardsim *l, const struct cost_table *t, const char *label)
{
    if (!t->folder)
        return 0;
    char *dir = xasprintf("%s/%s", folder_path(t->folder), label);
    const int failed = lardsim_output(l, dir, true); /* in place of a shorter run's */

    free(dir);
    return failed;
}

/* The run was stopped, and has left what it knew by then. */
static bool left_results(const struct cost_table *t, const char *label)
{
    if (!t->folder)
        return false;
    char *path = xasprintf("%s/%s/provenance.json", folder_path(t->folder), label);
    const bool has = !access(path, F_OK);

    free(path);
    return has;
}

static void run_once(struct lardsim *l, const struct cost_table *t, const struct given *g,
                     const struct specs *s, struct all_unused *unused, struct progress *progress)
{
    const char *label = t->row[t->n].label;
    const bool judged = s->truth && t->n > 0;

    lardsim_on_unused(l, note_unused, unused);
    progress_run(progress, l, label);
    stop_run(l);
    if (given_has(g, GIVEN_DEBUG))
        print_note("run policy=%s", label);
    lardsim_others(l, (const char *const *)s->spec, s->n + (s->truth != NULL));
    if (given_apply(g, l) || (judged && lardsim_compare(l)) || set_output(l, t, label) ||
        lardsim_start(l))
        return;
    lardsim_run(l, t->source);
    progress_run_over(progress);
    lardsim_finish(l);
}

/* Costs of different executions are not compared: a file that was written anew between two runs
 * would pass for an overhead. But in program order it is the program that all have in common. */
static int same_events(const struct cost_table *t, const struct costs *row, struct err *e)
{
    if (t->n == 0 || row->identity == t->row[0].identity || !strcmp(t->order, "program"))
        return 0;
    if (row->events == t->row[0].events)
        return err_set(e, LARD_TRACE,
                       "%s: it had other events for %s than for %s; compare reads the source once "
                       "for each policy, so it must not change meanwhile",
                       t->source, row->label, t->row[0].label);
    return err_set(e, LARD_TRACE,
                   "%s: it had %llu events for %s, but %llu for %s; compare reads the source once "
                   "for each policy, so it must not change meanwhile",
                   t->source, (unsigned long long)t->row[0].events, t->row[0].label,
                   (unsigned long long)row->events, row->label);
}

static int run_policy(struct cost_table *t, const struct given *g, const struct specs *s,
                      struct all_unused *unused, struct progress *progress, struct err *e)
{
    struct costs *row = &t->row[t->n];
    struct lardsim *l = lardsim_new();

    run_once(l, t, g, s, unused, progress);
    if (lardsim_error(l))
        run_error(l, row->label, e);
    t->partial = e->code && t->n == 0 && left_results(t, row->label);
    if (!e->code || t->partial) {
        costs_read(row, l, s->truth);
        lardsim_each_setting(l, costs_setting, t);
        /* The machine is the same for all; the first run tells what it is. */
        if (t->n == 0)
            costs_machine(t, l);
        if (!e->code && !same_events(t, row, e))
            t->n++;
    }
    stop_run(NULL);
    lardsim_free(l);
    return e->code ? -1 : 0;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Checks the source before anything runs: each policy reads it from its beginning. */
int costs_check(const char *source, struct err *e)
{
    const char *colon = strrchr(source, ':'), *path = colon ? colon + 1 : source;
    struct stat st;

    if (strcmp(path, "-") == 0)
        return err_set(e, LARD_USAGE,
                       "compare: with a machine, each policy reads the source from its beginning, "
                       "and standard input can't be read twice; save it to a file first");
    if ((stat(source, &st) == 0 || stat(path, &st) == 0) && S_ISFIFO(st.st_mode))
        return err_set(e, LARD_USAGE,
                       "compare: with a machine, each policy reads the source from its beginning, "
                       "and the pipe %s can't be read twice; save it to a file first",
                       path);
    return 0;
}

static int write_file(const struct cost_table *t, const char *name,
                      void (*write)(FILE *out, const struct cost_table *t), struct err *e)
{
    struct outfile *f = folder_file(t->folder, name, e);

    if (!f)
        return -1;
    write(outfile_stream(f), t);
    return outfile_commit(f, e);
}

/* A digest of the digests of all runs. */
static uint64_t digest_all(const struct cost_table *t)
{
    struct digest *d = digest_new();

    for (size_t i = 0; i < t->n; i++)
        digest_add(d, &t->row[i].digest, sizeof t->row[i].digest);
    const uint64_t digest = digest_value(d);
    digest_free(d);
    return digest;
}

int costs_write(struct cost_table *t, struct err *e)
{
    struct folder *folder = t->folder;
    struct err late = {0};

    if (!folder || (!t->n && !t->partial)) /* without results it is aborted with the table */
        return 0;
    int bad = write_file(t, "config.yaml", cost_table_config, &late) ||
              write_file(t, "compare.json", cost_table_json, &late) ||
              (!e->code && folder_seal(folder, digest_all(t), &late));
    t->folder = NULL;
    if (bad)
        folder_abort(folder);
    else
        bad = folder_commit(folder, &late);
    if (bad) { /* lost results matter more than why they were partial */
        err_clear(e);
        *e = late;
    }
    return bad ? -1 : 0;
}

bool costs_any_race(const struct cost_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].whole.cost[COST_RACES])
            return true;
    return false;
}

static void free_rows(struct cost_table *t)
{
    for (size_t i = 0; i < t->rows; i++) {
        free(t->row[i].label);
        free(t->row[i].property);
        lardsim_findings_free(&t->row[i].findings);
    }
    for (size_t i = 0; i < t->settings; i++) {
        free(t->setting[i].name);
        free(t->setting[i].text);
    }
    free(t->setting);
    free(t->row);
    free(t->order);
    free(t->contention);
    free(t->memory);
    t->row = NULL;
    t->setting = NULL;
    t->order = t->contention = t->memory = NULL;
    t->rows = t->n = t->settings = t->settings_cap = 0;
}

void cost_table_free(struct cost_table *t)
{
    folder_abort(t->folder);
    free_rows(t);
    cost_runs_free(&t->seeds);
    cost_runs_free(&t->lengths);
    cost_runs_free(&t->band);
    if (t->specs)
        specs_free(t->specs);
    free(t->specs);
    free(t->own_policies);
    free(t->own_source);
}

/* A mistake in any policy is told before the first one runs. */
static int name_rows(struct cost_table *t, const struct given *g, const struct specs *s,
                     struct err *e)
{
    t->row = xcalloc(s->n, sizeof *t->row);
    t->rows = s->n;
    for (size_t i = 0; i < s->n; i++) {
        struct given one = specs_given(g, s, i);
        const char *spec = s->spec[i];
        t->row[i].label = xasprintf("%.*s", (int)policy_label(spec), spec);
        t->row[i].property = spec_property(&one, spec, e);
        given_free(&one);
        if (!t->row[i].property)
            return -1;
    }
    return 0;
}

/* Runs all policies until one fails: the rows that are complete are shown all the same. */
static void run_all(struct cost_table *t, const struct costs_asked *asked, const struct specs *s,
                    struct err *e)
{
    struct all_unused unused = {NULL, 0, 0};
    struct progress progress;
    bool failed = false;

    progress_begin(&progress, asked->quiet || given_has(asked->given, GIVEN_DEBUG), s->n);
    for (size_t i = 0; i < s->n && !failed; i++) {
        struct given one = specs_given(asked->given, s, i);
        failed = run_policy(t, &one, s, &unused, &progress, e);
        given_free(&one);
    }
    warn_unused(&unused, t->n);
}

/* ---- seeds, lengths, the band --------------------------------------------------------------- */

/* Runs all policies as run_all does, on another source. */
static void run_on(struct cost_table *t, const struct costs_asked *asked, const struct specs *s,
                   const char *source, struct err *e)
{
    t->source = source;
    if (!name_rows(t, asked->given, s, e))
        run_all(t, asked, s, e);
}

/* Twice as long each time. */
enum { LENGTHS = 7 };
static void run_longer(struct cost_table *t, const struct costs_asked *asked, const struct specs *s,
                       char **source, struct err *e)
{
    struct lardsim_source_length length;

    if (lardsim_source_length(asked->source, &length, e))
        return;
    t->length = length.name;
    for (uint64_t value = length.value;; value *= 2) {
        free_rows(t);
        free(*source);
        *source = lardsim_source_with(asked->source, length.name, value);
        run_on(t, asked, s, *source, e);
        if (e->code)
            return;
        cost_runs_add(&t->lengths, value, t);
        if (t->lengths.n == LENGTHS || value > length.most / 2 ||
            cost_runs_settled(&t->lengths, t->n))
            return;
    }
}

/* The table's own is the first. */
static void run_seeds(struct cost_table *t, const struct costs_asked *asked, const struct specs *s,
                      struct err *e)
{
    uint64_t seed;

    if (e->code || lardsim_source_seed(t->source, &seed, e))
        return;
    cost_runs_add(&t->seeds, seed, t);
    for (uint64_t i = 1; i < asked->seeds && !e->code; i++) {
        struct cost_table other = {.policies = t->policies, .error = e};
        char *source = lardsim_source_with(t->source, "seed", seed + i);
        run_on(&other, asked, s, source, e);
        if (!e->code)
            cost_runs_add(&t->seeds, seed + i, &other);
        cost_table_free(&other);
        free(source);
    }
}

/* Runs both ends of the band of unmodelled work: none of it, and as much as the user gave. */
static void run_band(struct cost_table *t, const struct costs_asked *asked, const struct specs *s,
                     struct err *e)
{
    for (uint64_t i = 0; i < 2 && !e->code; i++) {
        struct cost_table other = {.policies = t->policies, .error = e};
        char *setting = xasprintf("core.unmodelled=%" PRIu64, i * asked->band);
        struct given more = given_copy(asked->given, NULL);
        struct costs_asked one = *asked;
        given_add(&more, GIVEN_SET, setting);
        one.given = &more;
        run_on(&other, &one, s, t->source, e);
        if (!e->code)
            cost_runs_add(&t->band, i * asked->band, &other);
        cost_table_free(&other);
        given_free(&more);
        free(setting);
    }
}

int costs_open(struct cost_table *t, const struct costs_asked *asked, struct err *e)
{
    *t = (struct cost_table){.source = asked->source, .output = asked->output, .error = e};
    t->specs = xcalloc(1, sizeof *t->specs);
    /* Claimed before anything runs, so that a path that can't be written is known at once. */
    if (!specs_collect(t->specs, asked->given, asked->source, e) && t->output)
        t->folder = folder_claim(t->output, asked->overwrite, e);
    if (e->code)
        return -1;
    char *all = NULL; /* the first is there in any case */
    for (size_t i = 1; i < t->specs->n; i++)
        xappend(&all, ",", t->specs->spec[i]);
    t->policies = t->own_policies = all ? all : xstrdup("none");
    return 0;
}

void costs_run(struct cost_table *t, const struct costs_asked *asked, struct err *e)
{
    t->own_source = xstrdup(asked->source);
    if (asked->converge)
        run_longer(t, asked, t->specs, &t->own_source, e);
    else
        run_on(t, asked, t->specs, t->own_source, e);
    if (asked->seeds > 1)
        run_seeds(t, asked, t->specs, e);
    if (asked->band)
        run_band(t, asked, t->specs, e);
}
