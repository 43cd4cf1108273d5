/* again.c - a run in program order is repeated, so that its events are there: they came out of the
 * machine, and nobody kept them. They are kept in a file for the while. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/why/why.h"

static int run_again(const struct why_asked *a, const char *trace, bool quiet, struct err *e)
{
    struct lardsim *l = lardsim_new();
    struct progress progress;

    progress_begin(&progress, quiet, 1);
    /* Intervals go to a results folder, and there is none. */
    if (!lardsim_load(l, a->config) && !lardsim_set(l, "stats.interval=0") &&
        !lardsim_set(l, "stats.rows=0") && !lardsim_record(l, trace, 0)) {
        progress_run(&progress, l, NULL);
        stop_run(l);
        if (!lardsim_start(l))
            lardsim_run(l, NULL);
        progress_run_over(&progress);
        lardsim_finish(l);
        stop_run(NULL);
    }
    progress_clear(&progress);
    if (lardsim_error(l))
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s: to have its events it runs again: %s",
                a->dir, lardsim_error(l));
    lardsim_free(l);
    return e->code ? -1 : 0;
}

int again_record(struct why_asked *a, bool quiet, struct err *e)
{
    if (cli_temporary(&a->folder, "lardsim-why")) {
        err_set(e, LARD_OUTPUT, "%s: %s; the events of the run go there: give another TMPDIR",
                a->folder, strerror(errno));
        free(a->folder);
        a->folder = NULL;
        return -1;
    }
    char *trace = xasprintf("%s/run.lard", a->folder);
    if (run_again(a, trace, quiet, e)) {
        free(trace);
        return -1;
    }
    free(a->source);
    a->source = trace;
    return 0;
}

void again_forget(struct why_asked *a)
{
    if (a->folder)
        (void)folder_remove(a->folder);
    free(a->folder);
}
