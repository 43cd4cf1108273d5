/* stopped.c - a run and a source that end when a signal has come. */
#include "results/job/stopped.h"

static void stop_lardsim(void *run, int signal)
{
    lardsim_stop(run, signal);
}

void stop_run(struct lardsim *l)
{
    stop_calls(stop_lardsim, l);
}

static int stop_reading(void *unused, const struct lardsim_reading *at, struct err *e)
{
    (void)unused;
    if (!at || !*stop_flag())
        return 0;
    err_clear(e);
    return stop_error(e);
}

struct lardsim_source *stop_source(struct lardsim_source *s)
{
    (void)stop_flag(); /* from now on signals are caught */
    return lardsim_source_watch(s, stop_reading, NULL);
}
