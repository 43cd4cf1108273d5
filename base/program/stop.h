/* stop.h - SIGINT, SIGTERM, SIGHUP and SIGXCPU: what runs ends as at a limit, with what is known so
 * far, and the exit code is 128 + the signal's number. A second signal ends the program at once.
 * Verbs that write something say what is to be stopped; the others end as any program does. */
#ifndef LARDSIM_STOP_H
#define LARDSIM_STOP_H

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"

/* From now on a signal calls fn with what, and one that has come does so at once. NULL: there is
 * nothing to stop any more. */
void stop_calls(void (*fn)(void *what, int signal), void *what);
/* Ctrl-C is for a program that was started: it has it from the terminal, too, and what it did until
 * then is kept. A helper process that ends while it is asked is no reason to end, either. */
void stop_leave(void);
/* A signal has come: *e says so. -1. */
int stop_error(struct err *e);
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
