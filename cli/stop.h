/* stop.h - SIGINT, SIGTERM, SIGHUP and SIGXCPU: what runs ends as at a limit, with what is known so
 * far, and the exit code is 128 + the signal's number. A second signal ends the program at once.
 * Verbs that write something say what is to be stopped; the others end as any program does. */
#ifndef LARDSIM_STOP_H
#define LARDSIM_STOP_H

#include <signal.h>

#include "cli/cli.h"
#include "sim/lardsim.h"
#include "trace/trace.h"

/* From now on a signal stops this run, one that has come does so at once; before lardsim_start.
 * NULL: there is none any more, before lardsim_free. */
void stop_run(struct lardsim *l);
/* A source that fails when a signal has come: use what is returned in its place. Takes inner; NULL
 * gives NULL. */
struct source *stop_source(struct source *inner);
/* Ctrl-C is for a program that was started: it has it from the terminal, too, and what it did until
 * then is kept. A helper process that ends while it is asked is no reason to end, either. */
void stop_leave(void);
/* Between two steps of what takes long: -1 and *e, if a signal has come. */
int stop_asked(struct err *e);
/* For what looks by itself: the signal that has come; 0: none. */
const volatile sig_atomic_t *stop_flag(void);
/* The exit code says that a signal stopped the program. */
bool stop_code(int code);
/* For a loop that waits: the signals come through the descriptor that is returned (signalfd), and
 * are blocked; -1: errno tells, and none are. *before: the mask that was, for processes that are
 * started. */
int stop_descriptor(sigset_t *before);
/* For a window that signals open and close: SIGUSR2 comes through the descriptor; -1: errno tells.
 */
int stop_toggles(void);
/* A call that a signal interrupted has failed for that reason: *e says so. */
void stop_judge(struct err *e);

#endif
