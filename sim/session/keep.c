/* keep.c - the trace that an execution made: its events in the order in which the policies decided
 * on them, which is the recorded order for whoever reads it. */
#include "sim/session/session.h"

#include <stdlib.h>

struct keep {
    struct outfile *file; /* owns */
    struct sink *sink;    /* owns; NULL: finished */
    size_t named;         /* names that it has been shown */
};

struct keep *keep_new(const char *path, bool replace, const struct sink_info *info, struct err *e)
{
    struct outfile *file = outfile_open(path, replace, e);
    struct sink *sink = file ? sink_binary(outfile_stream(file), info, CODEC_ZSTD, 0, e) : NULL;

    if (!sink) {
        outfile_abort(file);
        return NULL;
    }
    struct keep *k = xcalloc(1, sizeof *k);
    k->file = file;
    k->sink = sink;
    return k;
}

static int keep_names(struct keep *k, const struct names *names, struct err *e)
{
    const size_t n = names_count(names);

    if (n > k->named && k->sink->names(k->sink, names, e))
        return -1;
    k->named = n;
    return 0;
}

int keep_event(struct keep *k, const struct event *ev, const struct names *names, struct err *e)
{
    return keep_names(k, names, e) ? -1 : k->sink->event(k->sink, ev, e);
}

int keep_finish(struct keep *k, const struct names *names, struct err *e)
{
    int bad = keep_names(k, names, e);

    bad |= k->sink->finish(k->sink, bad ? &(struct err){0} : e);
    k->sink = NULL;
    if (bad)
        outfile_abort(k->file);
    else
        bad = outfile_commit(k->file, e);
    free(k);
    return bad;
}

void keep_abort(struct keep *k)
{
    struct err none = {0};

    if (!k)
        return;
    k->sink->finish(k->sink, &none); /* into a file that goes */
    outfile_abort(k->file);
    free(k);
}

int lardsim_record(struct lardsim *l, const char *path, int overwrite)
{
    if (l->err.code)
        return -1;
    if (l->state != STATE_NEW || l->record.path)
        return err_set(&l->err, LARD_USAGE,
                       "lardsim_record: not at this point; once, before lardsim_start");
    l->record.path = xstrdup(path);
    l->record.overwrite = overwrite != 0;
    return 0;
}
