/* stopped.h - what signals stop (base/program/stop.h): a run, and a source. */
#ifndef LARDSIM_STOPPED_H
#define LARDSIM_STOPPED_H

#include "base/program/stop.h"
#include "sim/lardsim.h"

/* A signal stops this run from now on, and one that has come does so at once; call it before
 * lardsim_start. NULL: no run is to be stopped any more, before lardsim_free. */
void stop_run(struct lardsim *l);
/* A source that fails when a signal has come: use what is returned in its place. Takes s; NULL
 * gives NULL. */
struct lardsim_source *stop_source(struct lardsim_source *s);

#endif
