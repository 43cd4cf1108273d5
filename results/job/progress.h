/* progress.h - how far a command is that may take long, on standard error: in percent where the
 * length is known, with the time that is left, events, their rate and the memory in use. On a
 * terminal one line that is rewritten; else a line each 30 seconds, so that a log stays short.
 *
 * A command has parts: runs or traces, one after the other or side by side, that count the same.
 * The wall clock is read here alone, and no result depends on it. */
#ifndef LARDSIM_PROGRESS_H
#define LARDSIM_PROGRESS_H

#include <stdio.h>

#include "base/err.h"
#include "sim/lardsim.h"

struct progress {
    bool quiet;
    bool terminal;         /* a line that is rewritten */
    bool shown;            /* that line stands there */
    double (*clock)(void); /* seconds; tests have their own */
    FILE *to;
    double began, looked, told; /* by the clock: at first; the last look, the last line */
    unsigned calls, stride;     /* since the last look; until the next */
    size_t parts;               /* all of them; 0: nobody knows */
    size_t over;                /* parts that have ended */
    double now;                 /* how much of the parts under way is done, in parts */
    bool known;                 /* how long one of those is */
    uint64_t events, told_events;
    const char *name;    /* the name of the part under way; NULL: it has none */
    struct lardsim *run; /* the run under way; NULL: none is */
    uint64_t run_events; /* the run's own part of events */
    double run_now;      /* the run's own part of now */
};

/* quiet: nothing is ever shown. */
void progress_begin(struct progress *p, bool quiet, size_t parts);
/* Takes the line off the terminal, as something else is about to be printed there. */
void progress_clear(struct progress *p);

/* The next part is a run, before lardsim_start; its name is borrowed. Then, when it has ended: */
void progress_run(struct progress *p, struct lardsim *l, const char *name);
void progress_run_over(struct progress *p);

/* The next part is what is read from s until its end: use what is returned in its place. Takes
 * s; NULL gives NULL. */
struct lardsim_source *progress_source(struct progress *p, struct lardsim_source *s);

/* Shows a line in other words: whether one is due, and the line. */
bool progress_due(struct progress *p);
void progress_show(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "12 s", "3 min 20 s", "5 h 2 min". */
const char *progress_time(char to[32], double seconds);

size_t terminal_columns(int fd); /* 0: it is no terminal */

double now_seconds(void);       /* by a clock that never goes back */
uint64_t resident_memory(void); /* bytes of this process in the host's memory; 0: not known */

#endif
