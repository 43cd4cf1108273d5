/* keep.c - the trace that an execution made: its events in the order in which the policies decided
 * on them, which is the recorded order for whoever reads it. Their numbers in the recording that
 * the execution replayed can be kept beside it, in a file of their own. */
#include "sim/session/session.h"

#include <stdlib.h>

#include "base/outfile.h"

struct keep {
    struct outfile *file;    /* owns */
    struct outfile *numbers; /* owns; NULL: not kept */
    struct sink *sink;       /* owns; NULL: finished */
    size_t named;            /* names that it has been shown */
};

struct keep *keep_new(const struct run_record *to, const struct sink_info *info, struct err *e)
{
    struct keep *k = xcalloc(1, sizeof *k);

    k->file = outfile_open(to->path, to->overwrite, e);
    if (k->file && to->numbers)
        k->numbers = outfile_open(to->numbers, to->overwrite, e);
    if (!e->code)
        k->sink = sink_binary(outfile_stream(k->file), info, CODEC_ZSTD, 0, e);
    if (k->sink)
        return k;
    outfile_abort(k->numbers);
    outfile_abort(k->file);
    free(k);
    return NULL;
}

static int keep_names(struct keep *k, const struct names *names, struct err *e)
{
    const size_t n = names_count(names);

    if (n > k->named && k->sink->names(k->sink, names, e))
        return -1;
    k->named = n;
    return 0;
}

int keep_event(struct keep *k, const struct event *ev, uint64_t number, const struct names *names,
               struct err *e)
{
    if (k->numbers) /* what can't be written is found at the end */
        (void)fwrite(&number, sizeof number, 1, outfile_stream(k->numbers));
    return keep_names(k, names, e) ? -1 : k->sink->event(k->sink, ev, e);
}

int keep_finish(struct keep *k, const struct names *names, struct err *e)
{
    int bad = keep_names(k, names, e);

    bad |= k->sink->finish(k->sink, bad ? &(struct err){0} : e);
    k->sink = NULL;
    if (bad) {
        outfile_abort(k->file);
        outfile_abort(k->numbers);
    } else {
        bad = outfile_commit(k->file, e);
        if (k->numbers)
            bad |= outfile_commit(k->numbers, bad ? &(struct err){0} : e);
    }
    free(k);
    return bad;
}

void keep_abort(struct keep *k)
{
    if (!k)
        return;
    k->sink->finish(k->sink, &(struct err){0}); /* into a file that goes */
    outfile_abort(k->file);
    outfile_abort(k->numbers);
    free(k);
}

int lardsim_keep_executed(struct lardsim *l, const char *trace, const char *numbers)
{
    if (lardsim_record(l, trace, 0))
        return -1;
    l->record.numbers = xstrdup(numbers);
    return 0;
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
