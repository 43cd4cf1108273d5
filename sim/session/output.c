/* output.c - the results folder (docs/results.md). Each file is written beside its name, synced and
 * renamed, so none is ever there in part; DONE comes last, so a folder with DONE is whole. */
#include "sim/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct results_folder {
    char *dir;
    struct outfile *races, *differences, *intervals; /* NULL until asked for */
};

static int make_dir(const char *dir, bool overwrite, struct err *e)
{
    struct stat st;

    if (mkdir(dir, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return err_set(e, LARD_OUTPUT,
                       "%s: can't make the results folder: %s; choose another with -o", dir,
                       strerror(errno));
    if (stat(dir, &st) || !S_ISDIR(st.st_mode))
        return err_set(e, LARD_OUTPUT, "%s: exists and is no folder; choose another with -o", dir);
    if (!overwrite)
        return err_set(e, LARD_OUTPUT,
                       "%s: the folder exists; choose another with -o, or give --overwrite", dir);
    return 0;
}

static char *path_in(const struct results_folder *o, const char *name)
{
    return xasprintf("%s/%s", o->dir, name);
}

struct results_folder *output_new(const char *dir, bool overwrite, struct err *e)
{
    static const char *const old[] = {
        "DONE",         "config.yaml",       "stats.json",   "stats.txt",
        "stats.csv",    "provenance.json",   "host.json",    "races.jsonl",
        "compare.json", "differences.jsonl", "intervals.csv"};

    if (make_dir(dir, overwrite, e))
        return NULL;
    struct results_folder *o = xcalloc(1, sizeof *o);
    o->dir = xstrdup(dir);
    for (size_t i = 0; i < ARRAY_SIZE(old);
         i++) { /* of an earlier run; DONE goes first, as it came last */
        char *path = path_in(o, old[i]);
        if (unlink(path) && errno != ENOENT)
            err_set(e, LARD_OUTPUT, "%s: can't be removed: %s; choose another folder with -o", path,
                    strerror(errno));
        free(path);
    }
    if (!e->code)
        return o;
    output_abort(o);
    return NULL;
}

static FILE *open_lines(const struct results_folder *o, const char *name, struct outfile **f,
                        struct err *e)
{
    char *path = path_in(o, name);

    *f = outfile_open(path, e);
    free(path);
    return *f ? outfile_stream(*f) : NULL;
}

FILE *output_races(struct results_folder *o, struct err *e)
{
    return o ? open_lines(o, "races.jsonl", &o->races, e) : NULL;
}

FILE *output_differences(struct results_folder *o, struct err *e)
{
    return o ? open_lines(o, "differences.jsonl", &o->differences, e) : NULL;
}

FILE *output_intervals(struct results_folder *o, struct err *e)
{
    return open_lines(o, "intervals.csv", &o->intervals, e);
}

/* A folder in which nothing could be written goes, too, so that the next try finds it missing. */
static void output_free(struct results_folder *o)
{
    rmdir(o->dir);
    free(o->dir);
    free(o);
}

void output_abort(struct results_folder *o)
{
    if (!o)
        return;
    outfile_abort(o->races);
    outfile_abort(o->differences);
    outfile_abort(o->intervals);
    output_free(o);
}

/* ---- the files ------------------------------------------------------------------------------ */

static void write_config(FILE *out, const struct lardsim *l)
{
    fprintf(out,
            "# The complete configuration of this run; `lardsim %s --config config.yaml` repeats "
            "it.\n",
            l->comparing ? "compare" : "run");
    config_dump(l->config, out);
}

static void write_stats_json(FILE *out, const struct lardsim *l)
{
    struct sim_findings found = sim_findings(l);
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    stats_json(l->stats, &j);
    json_key_hex16(&j, "behaviour", l->result.behaviour);
    sim_findings_json(&found, &j);
    json_end(&j);
    sim_findings_free(&found);
}

static void write_stats_text(FILE *out, const struct lardsim *l)
{
    stats_text(l->stats, out);
}

static void write_stats_csv(FILE *out, const struct lardsim *l)
{
    stats_csv(l->stats, out);
}

static void write_done(FILE *out, const struct lardsim *l)
{
    fprintf(out, "%016llx\n", (unsigned long long)l->result.all);
}

static int write_file(const struct results_folder *o, const char *name,
                      void (*write)(FILE *, const struct lardsim *), const struct lardsim *l,
                      struct err *e)
{
    char *path = path_in(o, name);
    struct outfile *f = outfile_open(path, e);

    free(path);
    if (!f)
        return -1;
    write(outfile_stream(f), l);
    return outfile_commit(f, e);
}

int output_finish(struct results_folder *o, const struct lardsim *l, bool done, struct err *e)
{
    static const struct {
        const char *name;
        void (*write)(FILE *, const struct lardsim *);
    } files[] = {
        {"config.yaml", write_config},
        {"stats.json", write_stats_json},
        {"stats.txt", write_stats_text},
        {"stats.csv", write_stats_csv},
        {"provenance.json", provenance_write},
        {"host.json", host_write},
        {"DONE", write_done},
    };
    int bad = 0;

    if (!o)
        return 0;
    /* Files that grow with the run come first: if one of them fails, no summary claims that all is
     * there. */
    if (o->races)
        bad = outfile_commit(o->races, e);
    if (o->intervals && bad)
        outfile_abort(o->intervals);
    else if (o->intervals)
        bad = outfile_commit(o->intervals, e);
    if (o->differences && bad)
        outfile_abort(o->differences);
    else if (o->differences)
        bad = outfile_commit(o->differences, e) ||
              write_file(o, "compare.json", compared_write, l, e);
    /* DONE is the last of the table, and left out after an error. */
    for (size_t i = 0; i < ARRAY_SIZE(files) - !done && !bad; i++)
        bad = write_file(o, files[i].name, files[i].write, l, e);
    output_free(o);
    return bad;
}
