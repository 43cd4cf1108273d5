/* native.c - lardsim capture native: runs a program, and writes its execution as a trace. */
#include "capture/capture.h"
#include "cli/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int seconds(const struct cli *c, int key, double *to, struct err *e)
{
    const char *text = cli_get(c, key);
    char *end;

    if (!text)
        return 0;
    errno = 0;
    *to = strtod(text, &end);
    if (*end || errno || !isfinite(*to) || *to < 0)
        return err_set(e, LARD_USAGE, "\"%s\" is no number of seconds", text);
    return 0;
}

/* As a shell would say it. */
static void say(const struct cli *c, const struct captured *had, const char *out)
{
    const int s = had->status;

    if (WIFSIGNALED(s))
        fprintf(stderr, "lardsim: %s was killed by SIG%s; the trace goes as far as it came\n",
                c->arg[0], sigabbrev_np(WTERMSIG(s)));
    else if (WEXITSTATUS(s))
        fprintf(stderr, "lardsim: %s ended with exit code %d\n", c->arg[0], WEXITSTATUS(s));
    if (!cli_has(c, OPT_QUIET))
        fprintf(stderr, "lardsim: %s: %llu events of %u threads%s\n", out,
                (unsigned long long)had->events, had->threads,
                had->lost ? "; some were lost when it was killed" : "");
}

static int native_run(const struct cli *c, struct err *e)
{
    const char *out = cli_get(c, 'o');
    struct window w = {.from = 0};
    struct captured had;
    char **argv;
    int failed;

    if (!out)
        return err_set(e, LARD_USAGE, "where to write the trace is missing: -o FILE");
    if (out_check(c, out, e) || seconds(c, OPT_FROM, &w.from, e) ||
        seconds(c, OPT_FOR, &w.length, e))
        return -1;
    argv = xcalloc(c->args + 1, sizeof *argv);
    for (size_t i = 0; i < c->args; i++)
        argv[i] = xstrdup(c->arg[i]);
    /* Ctrl-C reaches the program, too; its trace ends where it does. */
    signal(SIGINT, SIG_IGN);
    struct source *s = capture_native(argv, &w, &had, e);
    failed = !s || out_copy(s, c, out, e);
    if (!failed)
        say(c, &had, out);
    for (size_t i = 0; i < c->args; i++)
        free(argv[i]);
    free(argv);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the trace here; - is standard output", 0},
    {"from", OPT_FROM, "SECONDS", 0, "Record accesses only from this time on", 0},
    {"for", OPT_FOR, "SECONDS", 0, "Record accesses only for so long", 0},
    ROWS_OUT,
    ROW_END};

const struct verb verb_capture_native = {
    .name = "capture native",
    .args = "PROGRAM [ARGUMENT...]",
    .summary = "Runs a program, and writes its execution as a trace.",
    .text =
        "The program is compiled and linked by lardsim-cc or lardsim-c++, which take what cc and "
        "c++ take. Its loads, stores, atomics, locks, threads and memory become events, in one "
        "total order. With --from and --for only accesses are left out: locks, threads and "
        "memory are recorded from its start, so what orders accesses of the window is known.\n"
        "The exit code is 0 if the trace is whole, whatever the program's was.",
    .examples = "lardsim-cc -O1 -o counter counter.c -lpthread\n"
                "lardsim capture native -o counter.lard -- ./counter 4\n"
                "lardsim compare counter.lard",
    .options = options,
    .min_args = 1,
    .max_args = 10000,
    .run = native_run,
};
