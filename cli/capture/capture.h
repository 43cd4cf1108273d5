/* capture.h - what the verbs of `lardsim capture` share. */
#ifndef LARDSIM_V_CAPTURE_H
#define LARDSIM_V_CAPTURE_H

#include "capture/capture.h"
#include "cli/cli.h"

#define ROWS_CAPTURE                                                                               \
    {"output", 'o', "FILE", 0, "Write the trace here; - is standard output", 0},                   \
        {"from", OPT_FROM, "SECONDS", 0, "Record accesses only from this time on", 0},             \
        {"for", OPT_FOR, "SECONDS", 0, "Record accesses only for so long", 0},                     \
        {"method", OPT_METHOD, "NAME", 0, "Record accesses only while a call of it goes on", 0},   \
        {"warm-up", OPT_WARM_UP, "CALLS", 0, "Calls of --method that are not recorded yet", 0},    \
        {"on-signal",                                                                              \
         OPT_ON_SIGNAL,                                                                            \
         NULL,                                                                                     \
         0,                                                                                        \
         "Record accesses from a SIGUSR2 to lardsim on, until the next one",                       \
         0},                                                                                       \
        {"baseline",                                                                               \
         OPT_BASELINE,                                                                             \
         NULL,                                                                                     \
         0,                                                                                        \
         "Run the program without capture first, and say how much slower it is under it",          \
         0},                                                                                       \
        {"measured",                                                                               \
         OPT_MEASURED,                                                                             \
         "FILE",                                                                                   \
         0,                                                                                        \
         "Write the processor seconds of the program here, and of lardsim",                        \
         0},                                                                                       \
        ROWS_OUT

/* Captures argv, and writes its trace. alone: the program's arguments without a capture. */
int capture_run(const struct cli *c, enum capture_kind kind, char *const *argv, char *const *alone,
                struct err *e);
/* Returns the operands as argv, with n words inserted behind the first one; the caller's. */
char **capture_arguments(const struct cli *c, const char *const *inserted, size_t n);
void capture_arguments_free(char **argv);

#endif
