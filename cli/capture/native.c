/* native.c - lardsim capture native: runs a program, and writes its execution as a trace. */
#include <stdlib.h>

#include "cli/capture/capture.h"
#include "cli/trace/trace.h"

static int native_run(const struct cli *c, struct err *e)
{
    char **argv = capture_arguments(c, NULL, 0);
    const int code = capture_run(c, CAPTURE_NATIVE, argv, argv, e);

    free(argv);
    return code;
}

static const struct argp_option options[] = {ROWS_CAPTURE, ROW_END};

const struct verb verb_capture_native = {.help = &verb_help[HELP_capture_native],
                                         .options = options,
                                         .command = true,
                                         .run = native_run};
