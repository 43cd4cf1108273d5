/* verb.c - lardsim sweep: makes the cells of a spec, finds those that the folder does not have, and
 * has them run. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build.h"
#include "base/folder.h"
#include "base/yaml.h"
#include "cli/sweep/sweep.h"

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

/* ---- whose results count -------------------------------------------------------------------- */

/* The build whose cells the folder has: owned by the caller. NULL: it has none, or error. */
static char *folder_build(const char *dir, struct err *e)
{
    char *path = xasprintf("%s/build", dir);
    size_t bytes;
    char *text = file_text(path, BUILD_ID, &bytes);

    if (!text && errno != ENOENT && errno != ENOTDIR)
        err_set(e, LARD_CONFIG, "%s: can't be read: %s; it says whose results the folder has", path,
                strerror(errno));
    free(path);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

/* accept: the cells count as if they were of this build. */
static int choose_build(bool accept, const char *dir, char to[static BUILD_ID], struct err *e)
{
    char *theirs = folder_build(dir, e);
    int failed = e->code ? -1 : 0;

    build_id(to);
    if (theirs && strcmp(theirs, to) != 0) {
        if (accept)
            snprintf(to, BUILD_ID, "%s", theirs);
        else
            failed = err_set(e, LARD_OUTPUT,
                             "%s: its results are of build %s, and this is build %s; give another "
                             "folder, or `lardsim sweep --accept-build` to add to them",
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

static void find_states(struct sweep *s)
{
    for (size_t i = 0; i < s->plan->n; i++) {
        struct err why = {0};
        s->state[i] = cell_state(s->folder->dir, s->plan->cell[i].hash, &why);
        if (s->state[i] == CELL_DAMAGED)
            cli_note("%s", why.text);
    }
}

/* What is damaged is made again. */
static void find_missing(struct sweep *s)
{
    find_states(s);
    for (size_t i = 0; i < s->plan->n; i++)
        if (s->state[i] == CELL_DAMAGED)
            s->state[i] = CELL_MISSING;
}

/* The exit code is that of the first cell that failed now; what failed earlier is as bad. */
static int outcome(const struct sweep *s, struct err *e)
{
    for (size_t i = 0; i < s->plan->n; i++)
        if (s->state[i] == CELL_FAILED)
            return err_set(e, s->code[i] ? (enum lard_exit)s->code[i] : LARD_INTERNAL,
                           "%zu of %zu cells failed; `lardsim sweep status %s` lists them, and "
                           "%s/failed/ has the log of each",
                           sweep_count(s, CELL_FAILED), s->plan->n - s->others, s->folder->dir,
                           s->folder->dir);
    return LARD_DONE;
}

static size_t processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 1 : (size_t)CPU_COUNT(&set);
}

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

static int set_engine(struct sweep *s, const struct cli *c, struct err *e)
{
    size_t engine = 0;

    if (cli_index(c, OPT_ENGINE, engine_names, &engine, e))
        return -1;
    s->engine = engines[engine];
    return set_elsewhere(&s->elsewhere, c, s->engine == &engine_slurm, e);
}

static int set_options(struct sweep *s, const struct cli *c, struct err *e)
{
    if (set_engine(s, c, e))
        return -1;
    uint64_t jobs = s->engine == &engine_local ? processors() : 1;

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

/* Of a whole sweep: a task knows of its own cells alone. */
static void say_idle(const struct sweep *s, void (*fn)(void *arg, const char *axis, size_t places),
                     void *arg)
{
    struct err unread = {0};
    struct listing l;

    if (s->others)
        return;
    if (!listing_read(&l, s->folder->dir, &unread))
        listing_idle_in(&l, s->folder->dir, fn, arg);
    listing_free(&l);
    err_clear(&unread);
}

static void json_idle(void *j, const char *axis, size_t places)
{
    (void)places;
    json_str(j, axis);
}

/* there: cells that were done before. */
static void say_result(const struct sweep *s, size_t there)
{
    const size_t done = sweep_count(s, CELL_DONE) - s->others, all = s->plan->n - s->others;
    struct json j;

    if (!s->json) {
        printf("%zu cells: %zu done, of which %zu were there; %zu failed\n", all, done, there,
               sweep_count(s, CELL_FAILED));
        say_idle(s, idle_note, NULL);
        return;
    }
    json_init(&j, stdout, true);
    json_object(&j);
    json_key_str(&j, "schema", "lardsim-sweep-run-1");
    json_key_u64(&j, "cells", all);
    json_key_u64(&j, "done", done);
    json_key_u64(&j, "there", there);
    json_key_u64(&j, "failed", sweep_count(s, CELL_FAILED));
    json_key(&j, "change-nothing");
    json_array(&j);
    say_idle(s, json_idle, &j);
    json_end(&j);
    json_end(&j);
}

static int run_missing(struct sweep *s, struct err *e)
{
    if ((s->max_memory || s->engine != &engine_local) && sweep_count(s, CELL_MISSING)) {
        s->predicted = xcalloc(s->plan->n, sizeof *s->predicted);
        if (predict(s->predicted, s->plan, e))
            return -1;
    }
    const size_t done = sweep_count(s, CELL_DONE);
    s->had = done + sweep_count(s, CELL_FAILED);
    malloc_trim(0); /* planning took more than processes that begin now should have */
    const int failed = s->engine->run(s, e);

    if (s->engine->follows && !s->inside && (s->json || !s->quiet))
        say_result(s, done - s->others);
    return failed ? -1 : outcome(s, e);
}

enum mode { MODE_GO_ON, MODE_RETRY, MODE_TASK };
struct request { /* what was asked for, as far as it is known */
    enum mode mode;
    uint64_t batch, task; /* of MODE_TASK */
    const struct cli *cli;
    const char *dir;
    char *path, *text; /* own; of the spec */
    size_t bytes;
    char build[BUILD_ID];
    struct spec spec;
    struct plan plan;
    struct memo memo;
};

/* The working folder, and the spec as it was named there. Each ends in a NUL byte: names may have
 * all others. */
static int write_origin(const struct request *q, const struct sweep_folder *f, struct err *e)
{
    char *here = getcwd(NULL, 0), *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        die("no memory for a path");
    fprintf(out, "%s%c%s%c", here ? here : "/", 0, q->path, 0);
    fclose(out);
    const int failed = sweep_write(f, "origin", text, bytes, e);
    free(here);
    free(text);
    return failed;
}

/* What goes on without the spec's file has to know: its text, from where it was named, and how. */
static int write_request(const struct request *q, const struct sweep_folder *f, struct err *e)
{
    char *build = xasprintf("%s\n", q->build);
    const int failed = sweep_write(f, "sweep.yaml", q->text, q->bytes, e) ||
                       write_origin(q, f, e) || sweep_write(f, "build", build, strlen(build), e) ||
                       listing_write(f, &q->plan, e) || memo_save(&q->memo, f, e);

    free(build);
    return failed ? -1 : 0;
}

static int forget_failed(const struct sweep_folder *f, struct err *e)
{
    char *path = sweep_path(f, "failed", NULL);
    const int failed =
        folder_remove(path) || mkdir(path, 0777)
            ? err_set(e, LARD_OUTPUT, "%s: can't be emptied: %s", path, strerror(errno))
            : 0;

    free(path);
    return failed;
}

/* Nothing is made, and nothing locked. */
static int show_only(struct request *q, size_t jobs, struct err *e)
{
    const struct sweep_folder folder = {.dir = (char *)(uintptr_t)q->dir, .lock = -1};
    struct sweep s = {.plan = &q->plan, .folder = &folder, .jobs = jobs};
    struct predicted *x = xcalloc(q->plan.n + 1, sizeof *x);

    s.state = xcalloc(q->plan.n + 1, sizeof *s.state);
    find_states(&s);
    const int failed = predict(x, &q->plan, e);
    if (!failed && cli_has(q->cli, OPT_JSON))
        predicted_json(&s, x);
    else if (!failed)
        predicted_print(&s, x);
    free(s.state);
    free(x);
    return failed ? -1 : LARD_DONE;
}

static int run_in_folder(const struct request *q, struct sweep *s, struct sweep_folder *f,
                         struct err *e)
{
    if (sweep_open(f, q->dir, e) || (q->mode == MODE_RETRY && forget_failed(f, e)) ||
        write_request(q, f, e))
        return -1;
    find_missing(s);
    return run_missing(s, e);
}

/* ---- a task --------------------------------------------------------------------------------- */

/* Other cells are none of its business, and count as done. */
static int choose_cells(const struct request *q, struct sweep *s, struct err *e)
{
    struct batch_of_tasks b;
    int failed = 0;

    if (tasks_read(&b, (unsigned)q->batch, s->folder, s->plan, e))
        return -1;
    find_missing(s);
    enum cell_state *is = s->state;
    s->state = xcalloc(s->plan->n + 1, sizeof *s->state);
    for (size_t i = 0; i < s->plan->n; i++)
        s->state[i] = CELL_DONE;
    if (q->task >= b.n)
        failed = err_set(e, LARD_USAGE, "sweep task: batch %" PRIu64 " has %zu tasks, from 0 on",
                         q->batch, b.n);
    for (size_t k = 0; !failed && k < b.task[q->task].n; k++)
        s->state[b.task[q->task].cell[k]] = is[b.task[q->task].cell[k]];
    s->others = s->plan->n - (failed ? 0 : b.task[q->task].n);
    free(is);
    tasks_free(&b);
    return failed;
}

/* A room that nobody else has: a task may run once more while its first machine is only thought to
 * be dead. */
static char *flight_name(const struct request *q)
{
    char host[65] = "";

    if (gethostname(host, sizeof host - 1) || strchr(host, '/'))
        *host = '\0';
    return xasprintf(FLIGHT "%" PRIu64 "-%" PRIu64 "-%s-%ld", q->batch, q->task, host,
                     (long)getpid());
}

/* The folder has an owner, who waits for it: it is not opened. */
static int run_task_cells(const struct request *q, struct sweep *s, struct sweep_folder *f,
                          struct err *e)
{
    char *name = flight_name(q), *room;

    f->dir = xstrdup(q->dir);
    f->flight = name;
    room = folder_flight(f, NULL);
    int code = mkdir(room, 0777)
                   ? err_set(e, LARD_OUTPUT, "%s: can't be made: %s", room, strerror(errno))
                   : choose_cells(q, s, e);
    if (!code)
        code = run_missing(s, e);
    (void)folder_remove(room);
    free(room);
    free(name);
    return code;
}

static int run_planned(struct request *q, struct sweep s, struct err *e)
{
    struct sweep_folder folder = {.lock = -1};
    int code = -1;

    s.plan = &q->plan;
    s.folder = &folder;
    s.state = xcalloc(q->plan.n + 1, sizeof *s.state);
    s.code = xcalloc(q->plan.n + 1, sizeof *s.code);
    code =
        q->mode == MODE_TASK ? run_task_cells(q, &s, &folder, e) : run_in_folder(q, &s, &folder, e);
    free(s.predicted);
    sweep_close(&folder);
    free(s.state);
    free(s.code);
    return code;
}

/* Planning makes and frees a machine for each cell. After that glibc would take large blocks of
 * runs from what was freed, and touch all of them: they are the kernel's, and mostly untouched. */
enum { MMAP_THRESHOLD = 128 << 10 };

static int plan(struct request *q, bool quiet, struct err *e)
{
    struct progress p;

    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
    progress_begin(&p, quiet, 0);
    const int failed = plan_make(&q->plan, &q->spec, q->build, &q->memo, &p, e);
    progress_clear(&p);
    return failed;
}

/* q->path and q->text are there. */
static int plan_and_run(struct request *q, struct err *e)
{
    struct sweep s = {.jobs = 0};

    memo_load(&q->memo, q->dir);
    const bool planned = !set_options(&s, q->cli, e) &&
                         !choose_build(cli_has(q->cli, OPT_ACCEPT_BUILD), q->dir, q->build, e) &&
                         !spec_read(&q->spec, q->path, q->text, q->bytes, e) &&
                         !plan(q, s.quiet, e);
    const int code = !planned                       ? -1
                     : cli_has(q->cli, OPT_DRY_RUN) ? show_only(q, s.jobs, e)
                                                    : run_planned(q, s, e);

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
        q.text = file_text(q.path, YAML_MAX_BYTES + 1, &q.bytes);
        code = q.text ? plan_and_run(&q, e)
                      : err_set(e, LARD_CONFIG,
                                "%s: %s; a sweep's spec must be a file that can be read", q.path,
                                strerror(errno));
    }
    free(q.path);
    free(q.text);
    return code;
}

/* ---- inside another verb -------------------------------------------------------------------- */

/* Cells that fail are the caller's business: what is done is there. */
static int inside_folder(struct request *q, const struct sweep_inside *o, struct sweep *s,
                         struct err *e)
{
    struct sweep_folder folder = {.lock = -1};
    struct err failed = {0};

    s->plan = &q->plan;
    s->folder = &folder;
    s->state = xcalloc(q->plan.n + 1, sizeof *s->state);
    s->code = xcalloc(q->plan.n + 1, sizeof *s->code);
    int code = run_in_folder(q, s, &folder, &failed);
    if (code && sweep_count(s, CELL_FAILED) && !sweep_count(s, CELL_MISSING))
        code = 0;
    if (code)
        *e = failed;
    if (!code)
        code = o->then(o->arg, s, e);
    sweep_close(&folder);
    free(s->state);
    free(s->code);
    return code;
}

int sweep_inside(const struct sweep_inside *o, struct err *e)
{
    struct request q = {.dir = o->dir,
                        .path = xstrdup(o->name),
                        .text = xstrdup(o->text),
                        .bytes = strlen(o->text)};
    struct sweep s = {.engine = &engine_local,
                      .jobs = o->jobs ? o->jobs : processors(),
                      .timeout = 600,
                      .quiet = o->quiet,
                      .inside = true};

    memo_load(&q.memo, q.dir);
    const bool planned = !choose_build(false, q.dir, q.build, e) &&
                         !spec_read(&q.spec, q.path, q.text, q.bytes, e) && !plan(&q, s.quiet, e);
    const int code = planned ? inside_folder(&q, o, &s, e) : -1;
    plan_free(&q.plan);
    spec_free(&q.spec);
    memo_free(&q.memo);
    free(q.path);
    free(q.text);
    return code;
}

/* ---- retry ---------------------------------------------------------------------------------- */

/* What the spec names is named from the folder in which the sweep was started. */
static int go_where_it_began(struct request *q, const struct sweep_folder *f, struct err *e)
{
    size_t bytes;
    char *origin = sweep_read(f, "origin", &bytes, e);
    const size_t path = origin ? strlen(origin) + 1 : 0; /* where it begins */

    if (origin && path < bytes) {
        q->path = xstrdup(origin + path);
        if (chdir(origin))
            err_set(e, LARD_CONFIG, "%s: %s; the sweep began there, and names its files from there",
                    origin, strerror(errno));
    } else if (origin) {
        err_set(e, LARD_CONFIG, "%s/origin: not as lardsim wrote it; start the sweep with its spec",
                f->dir);
    }
    free(origin);
    return e->code ? -1 : 0;
}

/* In a folder where a sweep has begun. */
static int run_begun(struct request *q, struct err *e)
{
    char *dir = realpath(q->cli->arg[0], NULL);
    const struct sweep_folder f = {.dir = dir ? dir : xstrdup(q->cli->arg[0]), .lock = -1};
    int code = -1;

    q->dir = f.dir;
    q->text = sweep_read(&f, "sweep.yaml", &q->bytes, e);
    if (q->text && !go_where_it_began(q, &f, e))
        code = plan_and_run(q, e);
    free(q->path);
    free(q->text);
    free(f.dir);
    return code;
}

static int run_retry(const struct cli *c, struct err *e)
{
    struct request q = {.mode = MODE_RETRY, .cli = c};

    return run_begun(&q, e);
}

static int run_task(const struct cli *c, struct err *e)
{
    struct request q = {.mode = MODE_TASK, .cli = c};

    if (!cli_number(c->arg[1], &q.batch) || !cli_number(c->arg[2], &q.task) || q.batch > UINT_MAX)
        return err_set(e, LARD_USAGE,
                       "sweep task: BATCH and TASK are numbers, as in `lardsim sweep "
                       "task DIR 1 0`");
    return run_begun(&q, e);
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
         "What all processes may take together: no more start than fit, and the largest is "        \
         "ended if they take more",                                                                 \
         0},                                                                                        \
        ROW_JSON, ROW_QUIET
#define ROWS_ENGINE                                                                                \
    {"engine",                                                                                     \
     OPT_ENGINE,                                                                                   \
     "local|slurm|shell",                                                                          \
     0,                                                                                            \
     "What runs the cells: this machine, Slurm, or commands that are printed",                     \
     0},                                                                                           \
        {"partition", OPT_PARTITION, "NAME", 0, "Of Slurm, for its jobs", 0},                      \
        {"account", OPT_ACCOUNT, "NAME", 0, "Of Slurm, for its jobs", 0},                          \
        {"time", OPT_TIME, "TIME", 0, "The limit of a task in Slurm: 90 (minutes), 1:30:00", 0},   \
        {"memory", OPT_TASK_MEMORY, "SIZE", 0, "The memory of a task in Slurm: 4G", 0},            \
    {                                                                                              \
        "task-seconds", OPT_TASK_SECONDS, "N", 0,                                                  \
            "Put about so many seconds of cells into a task (600)", 0                              \
    }

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "The folder of the sweep; one that is there goes on", 0},
    {"dry-run", OPT_DRY_RUN, NULL, 0,
     "Run nothing: list the cells, and what each is likely to take", 0},
    ROWS_RUNNING,
    ROWS_ENGINE,
    ROW_END};

const struct verb verb_sweep = {
    .name = "sweep",
    .args = "FILE",
    .summary = "Runs every combination of configurations, policies, sources and seeds of a spec.",
    .text = "FILE is the spec, in YAML (docs/sweeps.md). Each combination is a cell: a run, whose "
            "results "
            "are a folder as `lardsim run --output` writes it, under DIR/cells/. The same command "
            "goes on where it was stopped or killed. --engine runs the cells elsewhere "
            "(docs/sweep-engines.md).",
    .examples = "lardsim sweep l2.yaml -o l2\n"
                "lardsim sweep l2.yaml -o l2 --dry-run\n"
                "lardsim sweep l2.yaml -o l2 -j 8 --max-memory 4Gi\n"
                "lardsim sweep l2.yaml -o l2 --engine slurm --partition long --memory 4G\n"
                "lardsim sweep l2.yaml -o l2 --engine shell >commands\n"
                "lardsim sweep status l2\n"
                "lardsim sweep collect l2",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_sweep,
};

static const struct argp_option retry_options[] = {ROWS_RUNNING, ROWS_ENGINE, ROW_END};
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

static const struct argp_option task_options[] = {ROWS_RUNNING, ROW_END};
const struct verb verb_sweep_task = {
    .name = "sweep task",
    .args = "DIR BATCH TASK",
    .summary = "Runs the cells of one task: what engines and schedulers call.",
    .text =
        "`lardsim sweep --engine shell` prints these commands, and --engine slurm gives them to "
        "Slurm. Any machine that sees DIR, and the spec's files, may run one. Cells that are "
        "done are not run again, so a task may be repeated.",
    .examples = "lardsim sweep task l2 1 0",
    .options = task_options,
    .min_args = 3,
    .max_args = 3,
    .run = run_task,
};
