/* run.c - lardsim run: configures an instance of the library, runs a source through it, prints
 * the result. Everything that is computed is computed behind sim/lardsim.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/job/progress.h"
#include "cli/run/run.h"
#include "results/job/stopped.h"
#include "results/job/told.h"

/* ---- configuration -------------------------------------------------------------------------- */

int run_settings(struct lardsim *l, const struct cli *c)
{
    struct given g = cli_given(c);
    const int failed = given_apply(&g, l);

    given_free(&g);
    return failed;
}

static int find_source(char **to, const struct cli *c, struct err *e)
{
    struct lardsim *l = lardsim_new(); /* only its settings are used */

    if (run_settings(l, c))
        run_error(l, "", e);
    else if (lardsim_given(l, "source") && *lardsim_given(l, "source"))
        *to = xstrdup(lardsim_given(l, "source"));
    else
        err_set(e, LARD_USAGE,
                "%s: operands are missing: SOURCE; give a trace, \"workload:NAME\" or \"synth:\", "
                "or a configuration with the key source",
                c->verb->help->name);
    lardsim_free(l);
    return e->code ? -1 : 0;
}

int run_with_source(struct with_source *to, const struct cli *c, struct err *e)
{
    *to = (struct with_source){.cli = *c};
    if (c->args)
        return 0;
    if (find_source(&to->owned, c, e))
        return -1;
    to->arg[0] = to->owned;
    to->cli.arg = to->arg;
    to->cli.args = 1;
    return 0;
}

void with_source_free(struct with_source *w)
{
    free(w->owned);
}

static int configure(struct lardsim *l, const struct cli *c)
{
    const char *timeline = cli_get(c, OPT_TIMELINE), *record = cli_get(c, OPT_RECORD);

    if (run_settings(l, c) ||
        (timeline && lardsim_timeline(l, timeline, cli_has(c, OPT_OVERWRITE))) ||
        (record && lardsim_record(l, record, cli_has(c, OPT_OVERWRITE))))
        return -1;
    return cli_get(c, 'o') ? lardsim_output(l, cli_get(c, 'o'), cli_has(c, OPT_OVERWRITE)) : 0;
}

/* ---- the run -------------------------------------------------------------------------------- */

static void warn_cut(const struct lardsim *l, const char *timeline)
{
    uint64_t at;

    if (timeline && lardsim_timeline_cut(l, &at))
        print_note("warning: %s stops at cycle %llu, where it has timeline.max slices; raise that, "
                   "or move the window with timeline.from and timeline.to",
                   timeline, (unsigned long long)at);
}

/* Results are shown of every run that began, also when it had to stop; but not where the
 * configuration can't run the trace. */
static void run_source(struct lardsim *l, const struct cli *c, struct race_groups *races)
{
    struct progress progress;

    progress_begin(&progress, cli_has(c, OPT_QUIET) || cli_has(c, OPT_DEBUG), 1);
    if (!cli_has(c, OPT_QUIET) || cli_has(c, OPT_JSON))
        lardsim_on_race(l, race_groups_add, races);
    lardsim_on_unused(l, given_warn_unused, NULL);
    progress_run(&progress, l, NULL);
    stop_run(l);
    if (lardsim_start(l))
        return;
    lardsim_run(l, c->arg[0]);
    progress_run_over(&progress);
    lardsim_finish(l);
    warn_cut(l, cli_get(c, OPT_TIMELINE));
}

static void print_result(const struct run_result *r, const struct cli *c)
{
    if (lardsim_error(r->run) &&
        (lardsim_events(r->run) == 0 || lardsim_exit_code(r->run) == LARD_CONFIG))
        return;
    if (cli_has(c, OPT_JSON))
        run_result_json(r);
    else if (!cli_has(c, OPT_QUIET))
        run_result_text(r);
}

/* Checks before a long run, not after it, that the files it is to write can be written. */
static int check_outputs(const struct cli *c, struct err *e)
{
    const char *timeline = cli_get(c, OPT_TIMELINE), *record = cli_get(c, OPT_RECORD);

    if (cli_has(c, OPT_OVERWRITE) && !cli_get(c, 'o') && !timeline && !record)
        return err_set(e, LARD_USAGE,
                       "run: --overwrite needs --output, --timeline or --record, whose folder or "
                       "file it replaces");
    if (timeline && !strcmp(timeline, "-"))
        return err_set(e, LARD_USAGE,
                       "run: --timeline needs a file; standard output has the result");
    if (record && !strcmp(record, "-"))
        return err_set(e, LARD_USAGE, "run: --record needs a file; standard output has the result");
    if (record && outfile_check(record, cli_has(c, OPT_OVERWRITE), e))
        return -1;
    return timeline ? outfile_check(timeline, cli_has(c, OPT_OVERWRITE), e) : 0;
}

/* The folder, the page and the exit code tell the same, also of a run that was stopped. */
static void run_once(const struct cli *c, const struct repeat *again, struct err *e)
{
    struct lardsim *l = lardsim_new();
    struct race_groups races = {.run = l, .memory = sim_memory(l)};
    map_init(&races.index, races.memory);
    const struct run_result result = {
        .run = l, .races = &races, .source = c->arg[0], .output = cli_get(c, 'o'), .again = again};

    if (configure(l, c) == 0 && !(again && again->past.comparing && lardsim_compare(l))) {
        run_source(l, c, &races);
        race_groups_sort(&races);
        print_result(&result, c);
    }
    if (lardsim_error(l))
        run_error(l, "", e);
    else if (again && repeat_judge(again, l, e))
        ;
    else if (cli_has(c, OPT_ERROR_ON_RACE) && run_any_race(l))
        err_set(e, LARD_RACES, "%s: races were found, and --error-on-race was given", c->arg[0]);
    race_groups_free(&races);
    stop_run(NULL);
    lardsim_free(l);
}

static int run_given(const struct cli *c, const struct repeat *again, struct err *e)
{
    struct with_source full = {.owned = NULL};

    if (!check_outputs(c, e) && !run_with_source(&full, c, e))
        run_once(&full.cli, again, e);
    with_source_free(&full);
    return e->code ? -1 : LARD_DONE;
}

static int run_run(const struct cli *c, struct err *e)
{
    struct repeat again;

    if (!cli_has(c, OPT_AGAIN))
        return run_given(c, NULL, e);
    const int status = repeat_begin(&again, c, e) ? -1 : run_given(&again.cli, &again, e);
    repeat_free(&again);
    return status;
}

static const struct argp_option options[] = {
    OPTION("policy", 'p', "SPEC",
           "Detect races with this policy: NAME or LABEL=NAME; may be repeated"),
    ROWS_SETTINGS,
    OPTION("again", OPT_AGAIN, "DIR",
           "Repeat the run that wrote this results folder, and say whether the digest is the same"),
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace the results if the folder or file exists"),
    OPTION("timeline", OPT_TIMELINE, "FILE",
           "Write to this file what each core did, cycle by cycle, for Perfetto or Chrome"),
    OPTION("record", OPT_RECORD, "FILE",
           "Write the execution to this file, as a trace; in program order (docs/machine.md)"),
    ROW_DEBUG,
    ROWS_OUTCOME,
    ROW_END};

const struct verb verb_run = {.help = &verb_help[HELP_run], .options = options, .run = run_run};
