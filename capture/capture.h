/* capture.h - a program's execution as a source of events, while it runs. */
#ifndef LARDSIM_CAPTURE_H
#define LARDSIM_CAPTURE_H

#include <signal.h>
#include <sys/types.h>

#include "trace/trace.h"

struct window {          /* accesses outside are not recorded */
    double from, length; /* in seconds after the program's start; length 0: to the end */
    const char *method;  /* inside of which it is open; NULL: none */
    uint64_t warm_up;    /* calls of the method that do not open it */
    int toggle;          /* a signalfd: each signal opens or closes it; -1: none */
    /* The signal that ends the recording, which the program is sent, too; 0: none. */
    const volatile sig_atomic_t *stop;
};

struct spent { /* seconds of processor time, of a program; 0: not known */
    double process;
    double own;           /* by its own threads: not those of a JVM, nor before main */
    double instrumenting; /* by those, too, and not counted there: classes that are loaded */
};

struct captured { /* known when the source is at its end */
    uint64_t events, accesses;
    uint64_t locked; /* accesses while their thread held a lock */
    uint64_t lost;   /* records that were begun, and no more (lanes_lost) */
    uint64_t broken; /* records that are no event */
    uint64_t within; /* events inside a collector's pause, in which no thread runs */
    struct spent spent;
    bool opened; /* the window was */
    uint32_t threads;
    uint32_t processes;   /* that were built for capture; the trace is of the first one */
    int status;           /* the program's, as waitpid gives it */
    unsigned left;        /* classes that could not be instrumented */
    char left_first[200]; /* the first one, and why */
};

enum capture_kind {
    CAPTURE_NATIVE, /* a program that was built by lardsim-cc */
    CAPTURE_JAVA    /* a JVM with lardsim's agents */
};
/* Starts argv under capture. *to: borrowed, until the source is closed. NULL: it can't be
 * started. */
struct source *capture_start(enum capture_kind kind, char *const *argv, const struct window *w,
                             struct captured *to, struct err *e);
/* Runs argv without a capture, its output thrown away. A signal that this process catches ends it:
 * then *e has strerror(EINTR). */
int capture_plain(enum capture_kind kind, char *const *argv, struct spent *to, struct err *e);

#endif
