/* sweep.c - a sweep: makes the cells of a spec, finds those that the folder does not have, and has
 * them run. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/program/print.h"
#include "base/yaml.h"
#include "results/experiment/sweep.h"

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
            print_note("%s", why.text);
    }
}

/* Finds the cells to be run: damaged ones are made again. */
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

size_t sweep_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 1 : (size_t)CPU_COUNT(&set);
}

/* Reports the axes that change nothing. For a whole sweep: a task knows of its own cells alone. */
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
    json_page(&j, stdout, "lardsim-sweep-run-1");
    JSON_COUNTS(&j, {"cells", all}, {"done", done}, {"there", there},
                {"failed", sweep_count(s, CELL_FAILED)});
    json_key_array(&j, "change-nothing");
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
    const struct sweep_asked *asked;
    const struct sweep_inside *inside; /* of another verb; NULL: it is none's */
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
    char *here = getcwd(NULL, 0);
    struct outfile *out = sweep_file(f, "origin", e);

    if (out)
        fprintf(outfile_stream(out), "%s%c%s%c", here ? here : "/", 0, q->path, 0);
    free(here);
    return out ? outfile_commit(out, e) : -1;
}

/* Writes down the request for processes that go on without the spec's file: its text, the folder
 * from which it was named, and how. */
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
    if (!failed && q->asked->how.json)
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

/* Cells that fail are the other verb's business: what is done is there. */
static int run_inside(const struct request *q, struct sweep *s, struct sweep_folder *f,
                      struct err *e)
{
    struct err failed = {0};

    if (run_in_folder(q, s, f, &failed) &&
        (!sweep_count(s, CELL_FAILED) || sweep_count(s, CELL_MISSING))) {
        *e = failed;
        return -1;
    }
    return q->inside->then(q->inside->arg, s, e);
}

static int run_planned(struct request *q, struct sweep s, struct err *e)
{
    struct sweep_folder folder = {.lock = -1};

    s.plan = &q->plan;
    s.folder = &folder;
    s.state = xcalloc(q->plan.n + 1, sizeof *s.state);
    s.code = xcalloc(q->plan.n + 1, sizeof *s.code);
    const int code = (q->inside              ? run_inside
                      : q->mode == MODE_TASK ? run_task_cells
                                             : run_in_folder)(q, &s, &folder, e);
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
    const struct sweep_asked *asked = q->asked;

    memo_load(&q->memo, q->dir);
    const bool planned = !choose_build(asked->how.elsewhere.accept_build, q->dir, q->build, e) &&
                         !spec_read(&q->spec, q->path, q->text, q->bytes, e) &&
                         !plan(q, asked->how.quiet, e);
    const int code = !planned         ? -1
                     : asked->dry_run ? show_only(q, asked->how.jobs, e)
                                      : run_planned(q, asked->how, e);

    plan_free(&q->plan);
    spec_free(&q->spec);
    memo_free(&q->memo);
    return code;
}

int sweep_run(const struct sweep_asked *asked, const char *spec, const char *dir, struct err *e)
{
    struct request q = {.asked = asked, .dir = dir, .path = xstrdup(spec)};

    q.text = file_text(q.path, YAML_MAX_BYTES + 1, &q.bytes);
    const int code =
        q.text ? plan_and_run(&q, e)
               : err_set(e, LARD_CONFIG, "%s: %s; a sweep's spec must be a file that can be read",
                         q.path, strerror(errno));
    free(q.path);
    free(q.text);
    return code;
}

/* ---- inside another verb -------------------------------------------------------------------- */

int sweep_inside(const struct sweep_inside *o, struct err *e)
{
    const struct sweep_asked asked = {.how = {.engine = &engine_local,
                                              .jobs = o->jobs ? o->jobs : sweep_processors(),
                                              .timeout = 600,
                                              .quiet = o->quiet,
                                              .inside = true}};
    struct request q = {.asked = &asked,
                        .inside = o,
                        .dir = o->dir,
                        .path = xstrdup(o->name),
                        .text = xstrdup(o->text),
                        .bytes = strlen(o->text)};
    const int code = plan_and_run(&q, e);

    free(q.path);
    free(q.text);
    return code;
}

/* ---- retry ---------------------------------------------------------------------------------- */

/* Changes to the folder in which the sweep was started: the spec names its files from there. */
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

/* Runs a request in a folder where a sweep has begun. */
static int run_begun(struct request *q, const char *where, struct err *e)
{
    char *dir = realpath(where, NULL);
    const struct sweep_folder f = {.dir = dir ? dir : xstrdup(where), .lock = -1};
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

int sweep_retry(const struct sweep_asked *asked, const char *dir, struct err *e)
{
    struct request q = {.mode = MODE_RETRY, .asked = asked};

    return run_begun(&q, dir, e);
}

int sweep_run_task(const struct sweep_asked *asked, const char *dir, unsigned batch, uint64_t task,
                   struct err *e)
{
    struct request q = {.mode = MODE_TASK, .asked = asked, .batch = batch, .task = task};

    return run_begun(&q, dir, e);
}
