/* capture.h - what the verbs of `lardsim capture` share. */
#ifndef LARDSIM_V_CAPTURE_H
#define LARDSIM_V_CAPTURE_H

#include "capture/capture.h"
#include "cli/cli.h"

#define ROWS_CAPTURE                                                                               \
    OPTION("output", 'o', "FILE", "Write the trace here; - is standard output"),                   \
        OPTION("from", OPT_FROM, "SECONDS", "Record accesses only from this time on"),             \
        OPTION("for", OPT_FOR, "SECONDS", "Record accesses only for so long"),                     \
        OPTION("method", OPT_METHOD, "NAME", "Record accesses only while a call of it goes on"),   \
        OPTION("warm-up", OPT_WARM_UP, "CALLS", "Calls of --method that are not recorded yet"),    \
        OPTION("on-signal", OPT_ON_SIGNAL, NULL,                                                   \
               "Record accesses from a SIGUSR2 to lardsim on, until the next one"),                \
        OPTION("baseline", OPT_BASELINE, NULL,                                                     \
               "Run the program without capture first, and say how much slower it is under it"),   \
        OPTION("measured", OPT_MEASURED, "FILE",                                                   \
               "Write the processor seconds of the program here, and of lardsim"),                 \
        ROWS_OUT

/* Captures argv, and writes its trace. alone: the program's arguments without a capture. */
int capture_run(const struct cli *c, enum capture_kind kind, char *const *argv, char *const *alone,
                struct err *e);
/* Returns the operands as argv, with n words inserted behind the first one. The list is the
 * caller's, the words are borrowed. */
char **capture_arguments(const struct cli *c, const char *const *inserted, size_t n);

#endif
