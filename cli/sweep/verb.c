/* verb.c - lardsim sweep: makes the cells of a spec, finds those that the folder does not have, and
 * has them run. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build.h"
#include "cli/sweep/sweep.h"

enum { OPT_DRY_RUN = 600, OPT_ACCEPT_BUILD, OPT_TIMEOUT, OPT_MAX_MEMORY };

/* ---- whose results count -------------------------------------------------------------------- */

/* The build whose cells the folder has: owned by the caller. NULL: it has none. */
static char *folder_build(const char *dir)
{
    char *path = xasprintf("%s/build", dir);
    size_t bytes;
    char *text = file_read(path, &bytes);

    free(path);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

/* With --accept-build the cells count as if they were of this build. */
static int choose_build(const struct cli *c, const char *dir, char to[static BUILD_ID],
                        struct err *e)
{
    char *theirs = folder_build(dir);
    int failed = 0;

    build_id(to);
    if (theirs && strcmp(theirs, to) != 0) {
        if (cli_has(c, OPT_ACCEPT_BUILD))
            snprintf(to, BUILD_ID, "%s", theirs);
        else
            failed = err_set(e, LARD_OUTPUT,
                             "%s: its results are of build %s, and this is build %s; give another "
                             "folder, or --accept-build to keep them and add to them",
                             dir, theirs, to);
    }
    free(theirs);
    return failed;
}

/* ---- the sweep ------------------------------------------------------------------------------ */

size_t sweep_count(const struct sweep *s, enum cell_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < s->plan->n; i++)
        n += s->state[i] == state;
    return n;
}

static void find_missing(struct sweep *s)
{
    for (size_t i = 0; i < s->plan->n; i++)
        s->state[i] = folder_state(s->folder, s->plan->cell[i].hash);
}

/* The exit code is that of the first cell that failed now; what failed earlier is as bad. */
static int outcome(const struct sweep *s, struct err *e)
{
    for (size_t i = 0; i < s->plan->n; i++)
        if (s->state[i] == CELL_FAILED)
            return err_set(e, s->code[i] ? (enum lard_exit)s->code[i] : LARD_INTERNAL,
                           "%zu of %zu cells failed; `lardsim sweep status %s` lists them, and "
                           "%s/failed/ has the log of each",
                           sweep_count(s, CELL_FAILED), s->plan->n, s->folder->dir, s->folder->dir);
    return LARD_DONE;
}

static size_t processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 1 : (size_t)CPU_COUNT(&set);
}

static int set_options(struct sweep *s, const struct cli *c, struct err *e)
{
    uint64_t jobs = processors();

    s->timeout = 600;
    if (cli_u64(c, 'j', &jobs, e) || cli_u64(c, OPT_TIMEOUT, &s->timeout, e) ||
        cli_u64(c, OPT_MAX_MEMORY, &s->max_memory, e))
        return -1;
    if (jobs < 1 || jobs > 4096)
        return err_set(e, LARD_USAGE, "--jobs: %" PRIu64 " processes; give 1 to 4096", jobs);
    s->jobs = jobs;
    s->quiet = cli_has(c, OPT_QUIET);
    return 0;
}

static int run_missing(struct sweep *s, struct err *e)
{
    find_missing(s);
    if (s->max_memory && sweep_count(s, CELL_MISSING)) {
        s->predicted = xcalloc(s->plan->n, sizeof *s->predicted);
        if (predict(s->predicted, s->plan, e))
            return -1;
    }
    const size_t had = sweep_count(s, CELL_DONE);
    const int failed = engine_local.run(s, e);
    const size_t done = sweep_count(s, CELL_DONE);

    if (!s->quiet)
        printf("%zu cells: %zu done, of which %zu were there; %zu failed\n", s->plan->n, done, had,
               sweep_count(s, CELL_FAILED));
    return failed ? -1 : outcome(s, e);
}

struct request { /* what was asked for, as far as it is known */
    const struct cli *cli;
    const char *dir;
    char *path, *text; /* own; of the spec */
    size_t bytes;
    char build[BUILD_ID];
    struct spec spec;
    struct plan plan;
    struct memo memo;
};

/* What goes on without the spec's file has to know: its text, from where it was named, and how. */
static int write_origin(const struct request *q, const struct folder *f, struct err *e)
{
    char *here = getcwd(NULL, 0), *origin = xasprintf("%s\n%s\n", here ? here : "/", q->path);
    char *build = xasprintf("%s\n", q->build);
    const int failed = folder_write(f, "sweep.yaml", q->text, q->bytes, e) ||
                       folder_write(f, "origin", origin, strlen(origin), e) ||
                       folder_write(f, "build", build, strlen(build), e) ||
                       listing_write(f, &q->plan, e) || memo_save(&q->memo, f, e);

    free(here);
    free(origin);
    free(build);
    return failed ? -1 : 0;
}

static int forget_failed(const struct folder *f, struct err *e)
{
    char *path = folder_path(f, "failed", NULL);
    const int failed =
        remove_tree(path) || mkdir(path, 0777)
            ? err_set(e, LARD_OUTPUT, "%s: can't be emptied: %s", path, strerror(errno))
            : 0;

    free(path);
    return failed;
}

/* Nothing is made, and nothing locked. */
static int show_only(struct request *q, struct err *e)
{
    const struct folder folder = {.dir = (char *)(uintptr_t)q->dir, .lock = -1};
    struct sweep s = {.plan = &q->plan, .folder = &folder};
    struct predicted *x = xcalloc(q->plan.n + 1, sizeof *x);

    s.state = xcalloc(q->plan.n + 1, sizeof *s.state);
    find_missing(&s);
    const int failed = predict(x, &q->plan, e);
    if (!failed)
        predicted_print(&s, x);
    free(s.state);
    free(x);
    return failed ? -1 : LARD_DONE;
}

static int run_in_folder(struct request *q, struct sweep s, bool retry, struct err *e)
{
    struct folder folder = {.lock = -1};
    int code = -1;

    s.plan = &q->plan;
    s.folder = &folder;
    s.state = xcalloc(q->plan.n + 1, sizeof *s.state);
    s.code = xcalloc(q->plan.n + 1, sizeof *s.code);
    if (!folder_open(&folder, q->dir, e) && !(retry && forget_failed(&folder, e)) &&
        !write_origin(q, &folder, e))
        code = run_missing(&s, e);
    free(s.predicted);
    folder_close(&folder);
    free(s.state);
    free(s.code);
    return code;
}

/* q->path and q->text are there. */
static int plan_and_run(struct request *q, bool retry, struct err *e)
{
    struct sweep s = {.jobs = 0};

    memo_load(&q->memo, q->dir);
    const bool planned = !set_options(&s, q->cli, e) &&
                         !choose_build(q->cli, q->dir, q->build, e) &&
                         !spec_read(&q->spec, q->path, q->text, q->bytes, e) &&
                         !plan_make(&q->plan, &q->spec, q->build, &q->memo, e);
    const int code = !planned                       ? -1
                     : cli_has(q->cli, OPT_DRY_RUN) ? show_only(q, e)
                                                    : run_in_folder(q, s, retry, e);

    plan_free(&q->plan);
    spec_free(&q->spec);
    memo_free(&q->memo);
    return code;
}

static int run_sweep(const struct cli *c, struct err *e)
{
    struct request q = {.cli = c, .dir = cli_get(c, 'o'), .path = xstrdup(c->arg[0])};
    int code = -1;

    if (!q.dir) {
        err_set(e, LARD_USAGE, "sweep: --output is missing; it names the sweep's folder");
    } else {
        q.text = file_read(q.path, &q.bytes);
        code = q.text ? plan_and_run(&q, false, e)
                      : err_set(e, LARD_CONFIG,
                                "%s: %s; a sweep's spec must be a file that can be read", q.path,
                                strerror(errno));
    }
    free(q.path);
    free(q.text);
    return code;
}

/* ---- retry ---------------------------------------------------------------------------------- */

/* What the spec names is named from the folder in which the sweep was started. */
static int go_where_it_began(struct request *q, const struct folder *f, struct err *e)
{
    size_t bytes;
    char *origin = folder_read(f, "origin", &bytes, e);
    char *path = origin ? strchr(origin, '\n') : NULL;

    if (path) {
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        q->path = xstrdup(path);
        if (chdir(origin))
            err_set(e, LARD_CONFIG, "%s: %s; the sweep began there, and names its files from there",
                    origin, strerror(errno));
    } else {
        err_set(e, LARD_CONFIG, "%s/origin: not as lardsim wrote it; start the sweep with its spec",
                f->dir);
    }
    free(origin);
    return e->code ? -1 : 0;
}

static int run_retry(const struct cli *c, struct err *e)
{
    char *dir = realpath(c->arg[0], NULL);
    const struct folder f = {.dir = dir ? dir : xstrdup(c->arg[0]), .lock = -1};
    struct request q = {.cli = c, .dir = f.dir};
    int code = -1;

    q.text = folder_read(&f, "sweep.yaml", &q.bytes, e);
    if (q.text && !go_where_it_began(&q, &f, e))
        code = plan_and_run(&q, true, e);
    free(q.path);
    free(q.text);
    free(f.dir);
    return code;
}

/* ---- verbs ---------------------------------------------------------------------------------- */

#define ROWS_RUNNING                                                                                \
    {                                                                                               \
        "jobs", 'j', "N", 0, "Run in this many processes; else in as many as there are processors", \
        0},                                                                                         \
        {"timeout",                                                                                 \
         OPT_TIMEOUT,                                                                               \
         "SECONDS",                                                                                 \
         0,                                                                                         \
         "End a process that has run no event for so long (600); 0: never",                         \
         0},                                                                                        \
        {"accept-build",                                                                            \
         OPT_ACCEPT_BUILD,                                                                          \
         NULL,                                                                                      \
         0,                                                                                         \
         "Keep the results of another build that the folder has, and add to them",                  \
         0},                                                                                        \
        {"max-memory",                                                                              \
         OPT_MAX_MEMORY,                                                                            \
         "BYTES",                                                                                   \
         0,                                                                                         \
         "Start processes only as far as what they are likely to take fits, and end one that "      \
         "takes more",                                                                              \
         0},                                                                                        \
        ROW_QUIET

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "The folder of the sweep; one that is there is gone on with", 0},
    {"dry-run", OPT_DRY_RUN, NULL, 0,
     "Run nothing: list the cells, and what each is likely to take", 0},
    ROWS_RUNNING,
    ROW_END};

const struct verb verb_sweep = {
    .name = "sweep",
    .args = "FILE",
    .summary = "Runs every combination of configurations, policies, sources and seeds of a spec.",
    .text = "FILE is the spec, in YAML (docs/sweeps.md). Each combination is a cell: a run, whose "
            "results "
            "are a folder as `lardsim run --output` writes it, under DIR/cells/. The same command "
            "goes on where it was stopped or killed.",
    .examples = "lardsim sweep l2.yaml -o l2\n"
                "lardsim sweep l2.yaml -o l2 --dry-run\n"
                "lardsim sweep l2.yaml -o l2 -j 8 --max-memory 4Gi\n"
                "lardsim sweep status l2\n"
                "lardsim sweep collect l2",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_sweep,
};

static const struct argp_option retry_options[] = {ROWS_RUNNING, ROW_END};
const struct verb verb_sweep_retry = {
    .name = "sweep retry",
    .args = "DIR",
    .summary = "Goes on with a sweep, and runs the cells that failed once more.",
    .text = "It needs the sources and files that the spec names where they were.",
    .examples = "lardsim sweep retry l2",
    .options = retry_options,
    .min_args = 1,
    .max_args = 1,
    .run = run_retry,
};
