/* stopped.c - a run and a source that end when a signal has come. */
#include "results/job/stopped.h"

#include <stdlib.h>

#include "base/mem.h"

static void stop_lardsim(void *run, int signal)
{
    lardsim_stop(run, signal);
}

void stop_run(struct lardsim *l)
{
    stop_calls(stop_lardsim, l);
}

struct stopped_source {
    struct source base;
    struct source *inner; /* owns */
    const volatile sig_atomic_t *came;
};

static int stopped_next(struct source *source, struct batch *b, struct err *e)
{
    struct stopped_source *s = (struct stopped_source *)source;
    const int bad = *s->came ? -1 : source_next(s->inner, b, e);

    if (!*s->came)
        return bad;
    err_clear(e);
    return stop_error(e);
}

static void stopped_close(struct source *source)
{
    struct stopped_source *s = (struct stopped_source *)source;

    source_close(s->inner);
    free(s);
}

struct source *stop_source(struct source *inner)
{
    if (!inner)
        return NULL;
    struct stopped_source *s = xcalloc(1, sizeof *s);
    s->base = *inner;
    s->base.next = stopped_next;
    s->base.close = stopped_close;
    s->inner = inner;
    s->came = stop_flag();
    return &s->base;
}
