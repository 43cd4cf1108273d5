/* capture.c - what the verbs of `lardsim capture` share: run a program, and write what it did. */
#include "cli/capture/capture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/stop.h"
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

/* As a shell would say it. */
static void say(const struct cli *c, const struct captured *had, const char *out)
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
    if (!cli_has(c, OPT_QUIET))
        fprintf(stderr, "lardsim: %s: %llu events of %u threads%s\n", out,
                (unsigned long long)had->events, had->threads,
                had->lost ? "; some were lost when it was killed" : "");
}

int capture_run(const struct cli *c, enum capture_kind kind, char *const *argv, struct err *e)
{
    const char *out = cli_get(c, 'o');
    struct window w = {.from = 0};
    struct captured had;

    if (!out)
        return err_set(e, LARD_USAGE, "where to write the trace is missing: -o FILE");
    if (out_check(c, out, e) || seconds(c, OPT_FROM, &w.from, e) ||
        seconds(c, OPT_FOR, &w.length, e))
        return -1;
    stop_leave();
    struct source *s = capture_start(kind, argv, &w, &had, e);
    if (!s || out_copy(s, c, out, e))
        return -1;
    say(c, &had, out);
    return LARD_DONE;
}

char **capture_arguments(const struct cli *c, const char *const *inserted, size_t n)
{
    char **argv = xcalloc(c->args + n + 1, sizeof *argv);

    for (size_t i = 0; i < c->args + n; i++)
        argv[i] = xstrdup(i == 0 ? c->arg[0] : i <= n ? inserted[i - 1] : c->arg[i - n]);
    return argv;
}

void capture_arguments_free(char **argv)
{
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    free(argv);
}
