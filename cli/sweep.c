/* sweep.c - lardsim sweep, and its verbs that go on with one. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/cli.h"
#include "results/experiment/sweep.h"

enum {
    OPT_DRY_RUN = 600,
    OPT_ACCEPT_BUILD,
    OPT_TIMEOUT,
    OPT_MAX_MEMORY,
    OPT_ENGINE,
    OPT_PARTITION,
    OPT_ACCOUNT,
    OPT_TIME,
    OPT_TASK_MEMORY,
    OPT_TASK_SECONDS
};

static const struct engine *const engines[] = {&engine_local, &engine_slurm, &engine_shell};
static const char *const engine_names[] = {"local", "slurm", "shell", NULL};

/* Options of engines beyond this machine, which no other engine may be given. */
static int set_elsewhere(struct elsewhere *to, const struct cli *c, bool slurm, struct err *e)
{
    static const int only_slurm[] = {OPT_PARTITION, OPT_ACCOUNT, OPT_TIME, OPT_TASK_MEMORY};

    for (size_t i = 0; i < ARRAY_SIZE(only_slurm) && !slurm; i++)
        if (cli_has(c, only_slurm[i]))
            return err_set(e, LARD_USAGE,
                           "sweep: --partition, --account, --time and --memory are for --engine "
                           "slurm; give that, or leave them out");
    *to = (struct elsewhere){.partition = cli_get(c, OPT_PARTITION),
                             .account = cli_get(c, OPT_ACCOUNT),
                             .time = cli_get(c, OPT_TIME),
                             .memory = cli_get(c, OPT_TASK_MEMORY),
                             .seconds = 600,
                             .accept_build = cli_has(c, OPT_ACCEPT_BUILD)};
    return cli_u64(c, OPT_TASK_SECONDS, &to->seconds, e);
}

static int set_options(struct sweep *s, const struct cli *c, struct err *e)
{
    size_t engine = 0;

    if (cli_index(c, OPT_ENGINE, engine_names, &engine, e))
        return -1;
    s->engine = engines[engine];
    if (set_elsewhere(&s->elsewhere, c, s->engine == &engine_slurm, e))
        return -1;
    uint64_t jobs = s->engine == &engine_local ? sweep_processors() : 1;

    s->timeout = 600;
    if (cli_u64(c, 'j', &jobs, e) || cli_u64(c, OPT_TIMEOUT, &s->timeout, e) ||
        cli_u64(c, OPT_MAX_MEMORY, &s->max_memory, e))
        return -1;
    if (jobs < 1 || jobs > 4096)
        return err_set(e, LARD_USAGE, "--jobs: %" PRIu64 " processes; give 1 to 4096", jobs);
    s->jobs = jobs;
    s->quiet = cli_has(c, OPT_QUIET);
    s->json = cli_has(c, OPT_JSON);
    if (s->json && s->engine == &engine_shell && !cli_has(c, OPT_DRY_RUN))
        return err_set(e, LARD_USAGE,
                       "sweep: --engine shell prints commands, which are no JSON; give one of "
                       "--engine shell and --json");
    return 0;
}

static int run_sweep(const struct cli *c, struct err *e)
{
    struct sweep_asked asked = {.dry_run = cli_has(c, OPT_DRY_RUN)};
    const char *dir = cli_get(c, 'o');

    if (!dir)
        return err_set(e, LARD_USAGE, "sweep: --output is missing; it names the sweep's folder");
    return set_options(&asked.how, c, e) ? -1 : sweep_run(&asked, c->arg[0], dir, e);
}

static int run_retry(const struct cli *c, struct err *e)
{
    struct sweep_asked asked = {.dry_run = false};

    return set_options(&asked.how, c, e) ? -1 : sweep_retry(&asked, c->arg[0], e);
}

static int run_task(const struct cli *c, struct err *e)
{
    struct sweep_asked asked = {.dry_run = false};
    uint64_t batch, task;

    if (!number_of_text(c->arg[1], &batch) || !number_of_text(c->arg[2], &task) || batch > UINT_MAX)
        return err_set(
            e, LARD_USAGE,
            "sweep task: BATCH and TASK are numbers, as in `lardsim sweep task DIR 1 0`");
    return set_options(&asked.how, c, e)
               ? -1
               : sweep_run_task(&asked, c->arg[0], (unsigned)batch, task, e);
}

/* ---- verbs ---------------------------------------------------------------------------------- */

#define ROWS_RUNNING                                                                               \
    OPTION("jobs", 'j', "N",                                                                       \
           "Run in this many processes; else in as many as there are processors"),                 \
        OPTION("timeout", OPT_TIMEOUT, "SECONDS",                                                  \
               "End a process that has run no event for so long (600); 0: never"),                 \
        OPTION("accept-build", OPT_ACCEPT_BUILD, NULL,                                             \
               "Keep the results of another build that the folder has, and add to them"),          \
        OPTION("max-memory", OPT_MAX_MEMORY, "BYTES",                                              \
               "What all processes may take together: no more start than fit, and the largest is " \
               "ended if they take more"),                                                         \
        ROW_JSON, ROW_QUIET
#define ROWS_ENGINE                                                                                \
    OPTION("engine", OPT_ENGINE, "local|slurm|shell",                                              \
           "What runs the cells: this machine, Slurm, or commands that are printed"),              \
        OPTION("partition", OPT_PARTITION, "NAME", "Of Slurm, for its jobs"),                      \
        OPTION("account", OPT_ACCOUNT, "NAME", "Of Slurm, for its jobs"),                          \
        OPTION("time", OPT_TIME, "TIME", "The limit of a task in Slurm: 90 (minutes), 1:30:00"),   \
        OPTION("memory", OPT_TASK_MEMORY, "SIZE", "The memory of a task in Slurm: 4G"),            \
        OPTION("task-seconds", OPT_TASK_SECONDS, "N",                                              \
               "Put about so many seconds of cells into a task (600)")

static const struct argp_option options[] = {
    OPTION("output", 'o', "DIR", "The folder of the sweep; one that is there goes on"),
    OPTION("dry-run", OPT_DRY_RUN, NULL,
           "Run nothing: list the cells, and what each is likely to take"),
    ROWS_RUNNING, ROWS_ENGINE, ROW_END};

const struct verb verb_sweep = {
    .help = &verb_help[HELP_sweep], .options = options, .run = run_sweep};

static const struct argp_option retry_options[] = {ROWS_RUNNING, ROWS_ENGINE, ROW_END};
const struct verb verb_sweep_retry = {
    .help = &verb_help[HELP_sweep_retry], .options = retry_options, .run = run_retry};

static const struct argp_option task_options[] = {ROWS_RUNNING, ROW_END};
const struct verb verb_sweep_task = {
    .help = &verb_help[HELP_sweep_task], .options = task_options, .run = run_task};
