/* capture.c - what the verbs of `lardsim capture` share: run a program, and write what it did. */
#include "cli/capture/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/program/stop.h"
#include "cli/trace/trace.h"

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

static void say_times(double now, double plain)
{
    if (now > 0 && plain > 0)
        fprintf(stderr, ", %.1f times as much as without capture", now / plain);
}

/* Says how much the capture may have changed: the more slowly a program runs, and the less of it in
 * locks, the more the order of its threads can differ from that without capture. */
static void say_numbers(const struct captured *had, const struct spent *plain, const char *out)
{
    const struct spent *took = &had->spent;

    fprintf(stderr, "lardsim: %s: %" PRIu64 " events of %u threads%s\n", out, had->events,
            had->threads, had->lost ? "; some were begun and no more, and are lost" : "");
    fprintf(stderr, "lardsim: %.2f s of processor time", took->process);
    say_times(took->process, plain->process);
    if (took->own > 0) {
        fprintf(stderr, "; %.2f s in the program's own threads", took->own);
        say_times(took->own, plain->own);
        if (had->events)
            fprintf(stderr, ", %.0f ns an event", took->own * 1e9 / (double)had->events);
    }
    if (took->instrumenting > 0)
        fprintf(stderr, "; %.2f s to instrument its classes", took->instrumenting);
    fprintf(stderr, "\nlardsim: %.1f %% of the accesses while a lock was held\n",
            had->accesses ? 100.0 * (double)had->locked / (double)had->accesses : 0);
}

/* The processor time that lardsim itself, the recorder, has used so far. */
static double own_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Writes the measured times; a time that is not known is left out. */
static void measured(const struct captured *had, const struct spent *plain, int stop, FILE *out)
{
    const struct {
        const char *key;
        double seconds;
    } all[] = {{"plain-process-seconds", plain->process},
               {"plain-own-seconds", plain->own},
               {"process-seconds", had->spent.process},
               {"own-seconds", had->spent.own},
               {"instrumenting-seconds", had->spent.instrumenting},
               {"recorder-seconds", own_seconds()}};

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (all[i].seconds > 0)
            fprintf(out, "%s: %.3f\n", all[i].key, all[i].seconds);
    fprintf(out, "events: %" PRIu64 "\n", had->events);
    if (stop)
        fprintf(out, "stopped: SIG%s\n", sigabbrev_np(stop));
}

/* Says how the program ended, in a shell's words. */
static void say(const struct cli *c, const struct captured *had, const struct spent *plain,
                const char *out)
{
    const int s = had->status;

    if (WIFSIGNALED(s))
        fprintf(stderr, "lardsim: %s was killed by SIG%s; the trace goes as far as it came\n",
                c->arg[0], sigabbrev_np(WTERMSIG(s)));
    else if (WEXITSTATUS(s))
        fprintf(stderr, "lardsim: %s ended with exit code %d\n", c->arg[0], WEXITSTATUS(s));
    if (had->left)
        fprintf(stderr,
                "lardsim: %u class%s could not be instrumented, and %s left as %s; first %s\n",
                had->left, had->left == 1 ? "" : "es", had->left == 1 ? "was" : "were",
                had->left == 1 ? "it is" : "they are", had->left_first);
    if (!had->opened)
        fprintf(stderr,
                "lardsim: the window never opened%s: the trace has no plain accesses; see --%s\n",
                cli_has(c, OPT_METHOD) ? ", as the method was not called often enough" : "",
                cli_has(c, OPT_METHOD)      ? "method"
                : cli_has(c, OPT_ON_SIGNAL) ? "on-signal"
                                            : "from");
    if (had->processes > 1)
        fprintf(
            stderr,
            "lardsim: %" PRIu32
            " processes were built for capture; the trace is of the first one that was started\n",
            had->processes);
    if (had->broken)
        fprintf(stderr,
                "lardsim: %" PRIu64
                " records were no events, and are left out: the program has written where it "
                "should not, into what it shares with lardsim\n",
                had->broken);
    if (had->within)
        fprintf(stderr,
                "lardsim: %" PRIu64 " events were recorded inside a collector's pause, in which no "
                "thread runs: addresses near them can't be trusted\n",
                had->within);
    if (!cli_has(c, OPT_QUIET))
        say_numbers(had, plain, out);
}

/* Reads the window; only one thing may open it: a time, a method, or signals. */
static int window_of(const struct cli *c, struct window *w, struct err *e)
{
    const bool timed = cli_has(c, OPT_FROM) || cli_has(c, OPT_FOR);

    *w = (struct window){.method = cli_get(c, OPT_METHOD), .toggle = -1};
    if (timed + (w->method != NULL) + cli_has(c, OPT_ON_SIGNAL) > 1)
        return err_set(
            e, LARD_USAGE,
            "a window has one kind of bounds: --from and --for, or --method, or --on-signal");
    if (cli_has(c, OPT_WARM_UP) && !w->method)
        return err_set(e, LARD_USAGE, "--warm-up counts calls: of --method NAME, which is missing");
    if (w->method && (!*w->method || strlen(w->method) >= 1024))
        return err_set(e, LARD_USAGE, "--method: a name has 1 to 1023 characters");
    if (seconds(c, OPT_FROM, &w->from, e) || seconds(c, OPT_FOR, &w->length, e) ||
        cli_u64(c, OPT_WARM_UP, &w->warm_up, e))
        return -1;
    if (cli_has(c, OPT_ON_SIGNAL) && (w->toggle = stop_toggles()) < 0)
        return err_set(e, LARD_LIMIT, "signals can't be waited for: %s", strerror(errno));
    return 0;
}

static int run(const struct cli *c, enum capture_kind kind, char *const *argv, char *const *alone,
               struct captured *had, struct spent *plain, int *stop, struct err *e)
{
    struct window w;

    if (window_of(c, &w, e))
        return -1;
    stop_leave();
    w.stop = stop_flag();
    if (cli_has(c, OPT_BASELINE) && capture_plain(kind, alone, plain, e))
        return -1;
    struct source *s = capture_start(kind, argv, &w, had, e);
    const int failed = s ? out_copy(s, c, cli_get(c, 'o'), e) : -1;
    *stop = *w.stop;
    if (w.toggle >= 0)
        close(w.toggle);
    return failed;
}

/* The trace has been written. */
static int stopped(const struct cli *c, int signal, struct err *e)
{
    if (!signal)
        return LARD_DONE;
    return err_set(e, (enum lard_exit)(128 + signal),
                   "stopped by SIG%s; %s has what %s did until then", sigabbrev_np(signal),
                   cli_get(c, 'o'), c->arg[0]);
}

/* The files of the trace and of what is measured have names that are free, or may be replaced. */
static int check_names(const struct cli *c, const char *out, const char *figures, struct err *e)
{
    if (!out)
        return err_set(e, LARD_USAGE,
                       "where to write the trace is missing: -o FILE, before the program");
    if (figures && strcmp(out, figures) == 0)
        return err_set(e, LARD_USAGE, "--measured and -o name the same file, %s", out);
    return out_check(c, out, e);
}

int capture_run(const struct cli *c, enum capture_kind kind, char *const *argv, char *const *alone,
                struct err *e)
{
    const char *out = cli_get(c, 'o'), *figures = cli_get(c, OPT_MEASURED);
    struct captured had;
    struct spent plain = {.process = 0};
    struct outfile *to = NULL;
    int stop;

    if (check_names(c, out, figures, e) || (figures && !(to = outfile_open(figures, true, e))))
        return -1;
    if (run(c, kind, argv, alone, &had, &plain, &stop, e)) {
        outfile_abort(to);
        return -1;
    }
    say(c, &had, &plain, out);
    if (to)
        measured(&had, &plain, stop, outfile_stream(to));
    return to && outfile_commit(to, e) ? -1 : stopped(c, stop, e);
}

char **capture_arguments(const struct cli *c, const char *const *inserted, size_t n)
{
    const char **argv = xcalloc(c->args + n + 1, sizeof *argv);

    for (size_t i = 0; i < c->args + n; i++)
        argv[i] = i == 0 ? c->arg[0] : i <= n ? inserted[i - 1] : c->arg[i - n];
    return (char **)(uintptr_t)argv;
}
