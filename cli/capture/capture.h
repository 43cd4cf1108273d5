/* capture.h - what the verbs of `lardsim capture` share. */
#ifndef LARDSIM_V_CAPTURE_H
#define LARDSIM_V_CAPTURE_H

#include "capture/capture.h"
#include "cli/cli.h"

#define ROWS_CAPTURE                                                                               \
    {"output", 'o', "FILE", 0, "Write the trace here; - is standard output", 0},                   \
        {"from", OPT_FROM, "SECONDS", 0, "Record accesses only from this time on", 0},             \
        {"for", OPT_FOR, "SECONDS", 0, "Record accesses only for so long", 0}, ROWS_OUT

int capture_run(const struct cli *c, enum capture_kind kind, char *const *argv, struct err *e);
/* The operands as argv, with n words inserted behind the first one; the caller's. */
char **capture_arguments(const struct cli *c, const char *const *inserted, size_t n);
void capture_arguments_free(char **argv);

#endif
