/* native.c - programs on this host: the probe, and what is timed, plain and checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "results/read/estimate.h"
#include "results/validate/validate.h"

/* ---- running -------------------------------------------------------------------------------- */

int native_probe(const struct tools *t, struct host_facts *h, struct err *e)
{
    char size[CACHE_LEVELS][24], *path = xasprintf("%s/probe.plain", t->work);
    const char *const argv[] = {path, size[0], size[1], size[2], NULL};
    struct child_process c = {0};

    for (unsigned i = 0; i < CACHE_LEVELS; i++)
        snprintf(size[i], sizeof size[i], "%llu", (unsigned long long)h->cache[i].size);
    int failed = native_compile(t, "probe", BUILD_PLAIN, e) || child_run(&c, argv, e);
    if (!failed && child_failed(&c))
        failed = err_set(e, LARD_USAGE, "%s failed: %s", path, child_complaint(&c));
    failed = failed || host_values(h, c.said, path, e);
    child_free(&c);
    free(path);
    return failed ? -1 : 0;
}

/* Nanoseconds of all repetitions but the first. */
static int run_kernel(const struct tools *t, const struct subject *s, enum build how,
                      unsigned threads, long repeats, double *to, struct err *e)
{
    char *path = xasprintf("%s/%s.%s", t->work, s->name, how == BUILD_TSAN ? "tsan" : "plain");
    char number[2][24];
    const char *const argv[] = {path, number[0], number[1], NULL};
    struct child_process c;

    snprintf(number[0], sizeof number[0], "%u", threads);
    snprintf(number[1], sizeof number[1], "%ld", repeats + 1);
    int failed = child_run(&c, argv, e);
    if (!failed && (child_failed(&c) || sscanf(c.said, "nanoseconds %lf", to) != 1))
        failed = err_set(e, LARD_USAGE, "%s failed: %s", path, child_complaint(&c));
    child_free(&c);
    free(path);
    return failed;
}

static double used(void) /* by what has ended, in nanoseconds */
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Measures the processor time that the program takes for more work, beyond that for less. */
static int run_other(const struct tools *t, const struct subject *s, enum build how,
                     unsigned threads, double *to, struct err *e)
{
    double took[2] = {0, 0};
    int failed = 0;

    for (unsigned work = 0; work < 2 && !failed; work++) {
        char *text = native_command(t, s, how, threads, (enum work)work);
        const char *const argv[] = {"sh", "-c", text, NULL};
        struct child_process c;
        const double before = used();
        failed = child_run(&c, argv, e);
        took[work] = used() - before;
        if (!failed && child_failed(&c))
            failed = err_set(e, LARD_USAGE, "%s failed: %s", s->name, child_complaint(&c));
        child_free(&c);
        free(text);
    }
    *to = took[WORK_MORE] - took[WORK_LESS];
    if (!failed && *to <= 0)
        failed = err_set(e, LARD_USAGE,
                         "%s takes no longer for its size medium than for small; measure it on a "
                         "host that does nothing else",
                         s->name);
    return failed;
}

/* Finds how many repetitions take `least` nanoseconds. */
static int calibrate(const struct tools *t, const struct subject *s, enum build how,
                     unsigned threads, double least, long *repeats, struct err *e)
{
    double took = 0;

    *repeats = 1;
    if (s->recipe)
        return 0;
    for (*repeats = 2;; *repeats *= 2) {
        if (run_kernel(t, s, how, threads, *repeats, &took, e))
            return -1;
        if (took >= least / 8 || *repeats > 1 << 24)
            break;
    }
    const double all = least / (took / (double)*repeats);
    *repeats = all < 2 ? 2 : (long)all;
    return 0;
}

struct sampled spread_of(double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_size);
    return (struct sampled){(value[(n - 1) / 2] + value[n / 2]) / 2, value[0], value[n - 1]};
}

/* Plain and checked in turn, so that both see the same of what else the host does. */
int native_measure(const struct tools *t, const struct subject *s, unsigned threads, unsigned runs,
                   double least, struct timing *to, struct err *e)
{
    double *time[3];
    long repeats[2];
    int failed = 0;

    for (unsigned i = 0; i < 3; i++)
        time[i] = xcalloc(runs, sizeof **time);
    for (unsigned b = 0; b < 2 && !failed; b++)
        failed = calibrate(t, s, (enum build)b, threads, least, &repeats[b], e);
    for (unsigned r = 0; r < runs && !failed; r++) {
        for (unsigned b = 0; b < 2 && !failed; b++) {
            failed = s->recipe
                         ? run_other(t, s, (enum build)b, threads, &time[b][r], e)
                         : run_kernel(t, s, (enum build)b, threads, repeats[b], &time[b][r], e);
            time[b][r] /= (double)repeats[b];
        }
        time[2][r] = failed ? 0 : time[1][r] / time[0][r];
    }
    to->runs = runs;
    for (unsigned i = 0; i < 3 && !failed; i++)
        *(i < 2 ? &to->time[i] : &to->slowdown) = spread_of(time[i], runs);
    for (unsigned i = 0; i < 3; i++)
        free(time[i]);
    return failed;
}
