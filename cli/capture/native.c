/* native.c - lardsim capture native: runs a program, and writes its execution as a trace. */
#include "cli/capture/capture.h"
#include "cli/trace/trace.h"

static int native_run(const struct cli *c, struct err *e)
{
    char **argv = capture_arguments(c, NULL, 0);
    const int code = capture_run(c, CAPTURE_NATIVE, argv, argv, e);

    capture_arguments_free(argv);
    return code;
}

static const struct argp_option options[] = {ROWS_CAPTURE, ROW_END};

const struct verb verb_capture_native = {
    .name = "capture native",
    .args = "PROGRAM [ARGUMENT...]",
    .summary = "Runs a program, and writes its execution as a trace.",
    .text = "The program is compiled and linked by lardsim-cc or lardsim-c++, which take what cc "
            "and c++ take. Its loads, stores, atomics, locks, threads and memory become events, in "
            "one total order. With --from and --for only accesses are left out: locks, threads and "
            "memory are recorded from its start, so what orders accesses of the window is known.\n"
            "Options of this verb stand before PROGRAM: what follows it is PROGRAM's own.\n"
            "The exit code is 0 if the trace is whole, whatever the program's was.",
    .examples = "lardsim-cc -O1 -o counter counter.c -lpthread\n"
                "lardsim capture native -o counter.lard ./counter 4\n"
                "lardsim compare counter.lard",
    .options = options,
    .command = true,
    .run = native_run,
};
