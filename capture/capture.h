/* capture.h - a program's execution as a source of events, while it runs. */
#ifndef LARDSIM_CAPTURE_H
#define LARDSIM_CAPTURE_H

#include <sys/types.h>

#include "trace/trace.h"

struct window { /* in seconds after the program's start; accesses outside are not recorded */
    double from, length; /* length 0: to the end */
};

struct captured { /* known when the source is at its end */
    uint64_t events;
    uint64_t lost; /* records that a thread took a number for, and was killed before it wrote */
    uint32_t threads;
    int status;           /* of the program, as waitpid gives it */
    unsigned left;        /* classes that could not be instrumented */
    char left_first[200]; /* the first one, and why */
};

enum capture_kind {
    CAPTURE_NATIVE, /* a program that was built by lardsim-cc */
    CAPTURE_JAVA    /* a JVM with lardsim's agents */
};
/* Starts argv. *to: borrowed, until the source is closed. NULL: it can't be started. */
struct source *capture_start(enum capture_kind kind, char *const *argv, const struct window *w,
                             struct captured *to, struct err *e);

#endif
