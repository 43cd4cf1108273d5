/* output.c - the results folder (docs/results.md): what is in it. How it appears is base/folder.c's
 * business. */
#include "sim/session/session.h"

#include <stdlib.h>

#include "base/folder.h"

struct results_folder {
    struct folder *folder;
    struct outfile *lines[OUTPUT_LINES]; /* NULL until asked for */
};

struct results_folder *output_new(const struct lardsim *l, struct err *e)
{
    struct folder *folder = l->output_private ? folder_private(l->output_dir, e)
                                              : folder_claim(l->output_dir, l->overwrite, e);

    if (!folder)
        return NULL;
    struct results_folder *o = xcalloc(1, sizeof *o);
    o->folder = folder;
    return o;
}

FILE *output_lines(struct results_folder *o, enum output_lines which, struct err *e)
{
    static const char *const name[] = {"races.jsonl", "intervals.csv", "differences.jsonl"};

    if (!o)
        return NULL;
    o->lines[which] = folder_file(o->folder, name[which], e);
    return o->lines[which] ? outfile_stream(o->lines[which]) : NULL;
}

void output_abort(struct results_folder *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < OUTPUT_LINES; i++)
        outfile_abort(o->lines[i]);
    folder_abort(o->folder);
    free(o);
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
    struct lardsim_findings found = lardsim_findings(l);
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    stats_json(l->stats, &j);
    json_key_hex16(&j, "behaviour", l->result.behaviour);
    lardsim_findings_json(&found, &j);
    json_end(&j);
    lardsim_findings_free(&found);
}

static void write_stats_text(FILE *out, const struct lardsim *l)
{
    stats_text(l->stats, out);
}

static void write_stats_csv(FILE *out, const struct lardsim *l)
{
    stats_csv(l->stats, out);
}

static int write_file(const struct results_folder *o, const char *name,
                      void (*write)(FILE *, const struct lardsim *), const struct lardsim *l,
                      struct err *e)
{
    struct outfile *f = folder_file(o->folder, name, e);

    if (!f)
        return -1;
    write(outfile_stream(f), l);
    return outfile_commit(f, e);
}

static int write_files(struct results_folder *o, const struct lardsim *l, struct err *e)
{
    static const struct {
        const char *name;
        void (*write)(FILE *, const struct lardsim *);
    } files[] = {
        {"config.yaml", write_config},         {"stats.json", write_stats_json},
        {"stats.txt", write_stats_text},       {"stats.csv", write_stats_csv},
        {"provenance.json", provenance_write}, {"host.json", host_write},
    };

    if (o->lines[OUTPUT_DIFFERENCES] && write_file(o, "compare.json", compared_write, l, e))
        return -1;
    for (size_t i = 0; i < OUTPUT_LINES; i++) {
        struct outfile *f = o->lines[i];
        o->lines[i] = NULL;
        if (f && outfile_commit(f, e))
            return -1;
    }
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (write_file(o, files[i].name, files[i].write, l, e))
            return -1;
    return 0;
}

int output_finish(struct results_folder *o, const struct lardsim *l, bool done, struct err *e)
{
    if (!o)
        return 0;
    if (write_files(o, l, e) || (done && folder_seal(o->folder, l->result.all, e))) {
        output_abort(o);
        return -1;
    }
    const int bad = folder_commit(o->folder, e);
    free(o);
    return bad;
}
