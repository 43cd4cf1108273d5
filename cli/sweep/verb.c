/* verb.c - lardsim sweep: makes the cells of a spec, finds those that the folder does not have, and
 * has them run. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build.h"
#include "base/yaml.h"
#include "cli/sweep/sweep.h"

enum { OPT_DRY_RUN = 600, OPT_ACCEPT_BUILD, OPT_TIMEOUT };

/* ---- files of a line, or a few -------------------------------------------------------------- */

/* The whole file: owned by the caller. NULL: errno tells. */
static char *read_all(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "re");
    char *text = NULL;

    if (!in)
        return NULL;
    text = xmalloc(YAML_MAX_BYTES + 2);
    *bytes = fread(text, 1, YAML_MAX_BYTES + 1, in);
    text[*bytes] = '\0';
    const int reason = ferror(in) ? errno : 0;
    fclose(in);
    if (!reason)
        return text;
    free(text);
    errno = reason;
    return NULL;
}

static int write_text(const struct folder *f, const char *name, const char *text, size_t bytes,
                      struct err *e)
{
    char *path = folder_path(f, name, NULL);
    struct outfile *out = outfile_open(path, e);

    free(path);
    if (!out)
        return -1;
    fwrite(text, 1, bytes, outfile_stream(out));
    return outfile_commit(out, e);
}

/* ---- whose results count -------------------------------------------------------------------- */

/* The build whose cells the folder has: owned by the caller. NULL: it has none. */
static char *folder_build(const char *dir)
{
    char *path = xasprintf("%s/build", dir);
    size_t bytes;
    char *text = read_all(path, &bytes);

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
    for (size_t i = 0; i < s->plan->n; i++) {
        const char *hash = s->plan->cell[i].hash;
        s->state[i] = folder_has(s->folder, "cells", hash)    ? CELL_DONE
                      : folder_has(s->folder, "failed", hash) ? CELL_FAILED
                                                              : CELL_MISSING;
    }
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
    if (cli_u64(c, 'j', &jobs, e) || cli_u64(c, OPT_TIMEOUT, &s->timeout, e))
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
    char *text; /* owns; of the spec */
    size_t bytes;
    char build[BUILD_ID];
    struct spec spec;
    struct plan plan;
};

static int run_in_folder(const struct request *q, struct err *e)
{
    struct folder folder;
    struct sweep s = {.plan = &q->plan, .folder = &folder};
    int code = -1;

    s.state = xcalloc(q->plan.n + 1, sizeof *s.state);
    s.code = xcalloc(q->plan.n + 1, sizeof *s.code);
    if (!set_options(&s, q->cli, e) && !folder_open(&folder, q->dir, e)) {
        char *line = xasprintf("%s\n", q->build);
        if (!write_text(&folder, "build", line, strlen(line), e) &&
            !write_text(&folder, "sweep.yaml", q->text, q->bytes, e))
            code = run_missing(&s, e);
        free(line);
    }
    folder_close(&folder);
    free(s.state);
    free(s.code);
    return code;
}

static int prepare(struct request *q, const char *path, struct err *e)
{
    q->text = read_all(path, &q->bytes);
    if (!q->text)
        return err_set(e, LARD_CONFIG, "%s: %s; a sweep's spec must be a file that can be read",
                       path, strerror(errno));
    return choose_build(q->cli, q->dir, q->build, e) ||
                   spec_read(&q->spec, path, q->text, q->bytes, e) ||
                   plan_make(&q->plan, &q->spec, q->build, e)
               ? -1
               : 0;
}

static int run_sweep(const struct cli *c, struct err *e)
{
    struct request q = {.cli = c, .dir = cli_get(c, 'o')};
    int code = -1;

    if (!q.dir)
        return err_set(e, LARD_USAGE, "sweep: --output is missing; it names the sweep's folder");
    if (!prepare(&q, c->arg[0], e))
        code = run_in_folder(&q, e);
    plan_free(&q.plan);
    spec_free(&q.spec);
    free(q.text);
    return code;
}

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "The folder of the sweep; one that is there is gone on with", 0},
    {"jobs", 'j', "N", 0, "Run in this many processes; else in as many as there are processors", 0},
    {"timeout", OPT_TIMEOUT, "SECONDS", 0,
     "End a process that has run no event for so long (600); 0: never", 0},
    {"accept-build", OPT_ACCEPT_BUILD, NULL, 0,
     "Keep the results of another build that the folder has, and add to them", 0},
    {"quiet", OPT_QUIET, NULL, 0, "Print no summary and no progress", 0},
    ROW_END};

const struct verb verb_sweep = {
    .name = "sweep",
    .args = "SPEC",
    .summary = "Runs every combination of configurations, policies, sources and seeds of a spec.",
    .text =
        "SPEC is a YAML file (docs/sweeps.md). Each combination is a cell: a run, whose results "
        "are a folder as `lardsim run --output` writes it, under DIR/cells/. The same command "
        "goes on where it was stopped or killed.",
    .examples = "lardsim sweep l2.yaml -o l2\n"
                "lardsim sweep l2.yaml -o l2 -j 8",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_sweep,
};
