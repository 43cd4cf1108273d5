/* native.c - programs on this host: compiled three ways, and two of them timed. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/validate/validate.h"

const char *const native_kernels[] = {"series", "crypt", "lufact", "sor", "sparse", NULL};

/* ---- tools ---------------------------------------------------------------------------------- */

/* Beside this program, as installed; or where it was built. */
static char *find_wrapper(const char *self)
{
    static const char *const places[] = {"lardsim-cc", "capture/lardsim-cc"};
    const char *slash = strrchr(self, '/');

    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        char *path = xasprintf("%.*s/%s", (int)(slash - self), self, places[i]);
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return xstrdup("lardsim-cc");
}

static int read_version(struct tools *t, struct err *e)
{
    const char *const argv[] = {t->compiler, "--version", NULL};
    struct err why = {0};
    struct child_process c;
    int failed = child_run(&c, argv, &why);

    if (failed)
        err_set(e, LARD_USAGE, "%s; install gcc, or name another compiler with --cc", why.text);
    else
        snprintf(t->version, sizeof t->version, "%.*s", (int)strcspn(c.said, "\n"), c.said);
    child_free(&c);
    return failed;
}

int tools_open(struct tools *t, const char *compiler, const char *work, struct err *e)
{
    char self[PATH_MAX] = "";
    const char *folder = getenv("LARDSIM_VALIDATE"), *temporary = getenv("TMPDIR");

    *t = (struct tools){.compiler = compiler};
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0)
        return err_set(e, LARD_USAGE, "where this program lies is not known: /proc/self/exe");
    t->folder = xstrdup(folder ? folder : LARDSIM_PKGDATADIR "/validate");
    t->self = xstrdup(self);
    t->wrapper = find_wrapper(self);
    t->work = work ? xstrdup(work)
                   : xasprintf("%s/lardsim-validate-XXXXXX", temporary ? temporary : "/tmp");
    if (!work && !mkdtemp(t->work)) {
        const int why = errno;
        free(t->work);
        t->work = NULL;
        return err_set(e, LARD_OUTPUT, "a working folder can't be made in %s: %s",
                       temporary ? temporary : "/tmp", strerror(why));
    }
    t->own = !work;
    return read_version(t, e);
}

static void remove_file(const struct tools *t, const char *name, const char *end)
{
    char *path = xasprintf("%s/%s%s", t->work, name, end);

    unlink(path);
    free(path);
}

static const char *const build_name[BUILDS] = {"plain", "tsan", "capture"};

void tools_close(struct tools *t)
{
    if (t->work && t->own) {
        for (size_t i = 0; native_kernels[i]; i++)
            for (unsigned b = 0; b < BUILDS; b++) {
                char *end = xasprintf(".%s", build_name[b]);
                remove_file(t, native_kernels[i], end);
                free(end);
            }
        remove_file(t, "probe", ".plain");
        remove_file(t, "once", ".lard");
        remove_file(t, "twice", ".lard");
        rmdir(t->work);
    }
    free(t->folder);
    free(t->wrapper);
    free(t->self);
    free(t->work);
}

/* ---- compiling ------------------------------------------------------------------------------ */

static char *built(const struct tools *t, const char *name, enum build how)
{
    return xasprintf("%s/%s.%s", t->work, name, build_name[how]);
}

int native_build(const struct tools *t, const char *name, enum build how, struct err *e)
{
    char *source = xasprintf("%s/%s.c", t->folder, name), *to = built(t, name, how);
    const char *argv[16];
    size_t n = 0;
    struct child_process c = {0};

    argv[n++] = how == BUILD_CAPTURE ? t->wrapper : t->compiler;
    argv[n++] = "-O2";
    argv[n++] = "-g";
    argv[n++] = "-pthread";
    argv[n++] = "-I";
    argv[n++] = t->folder;
    if (how == BUILD_TSAN)
        argv[n++] = "-fsanitize=thread";
    argv[n++] = "-o";
    argv[n++] = to;
    argv[n++] = source;
    argv[n++] = "-lm";
    argv[n] = NULL;
    int failed = 0;
    if (access(source, R_OK))
        failed = err_set(e, LARD_USAGE,
                         "%s can't be read: %s; install lardsim, or name the folder of its "
                         "programs in LARDSIM_VALIDATE",
                         source, strerror(errno));
    else if (setenv("CC", t->compiler, 1) || child_run(&c, argv, e))
        failed = -1;
    else if (child_failed(&c))
        failed =
            err_set(e, LARD_USAGE, "%s does not build %s%s: %s%s", argv[0], source,
                    how == BUILD_TSAN ? " with -fsanitize=thread" : "", child_complaint(&c),
                    how == BUILD_TSAN ? "; its ThreadSanitizer must be installed (libtsan)" : "");
    child_free(&c);
    free(source);
    free(to);
    return failed;
}

/* ---- running -------------------------------------------------------------------------------- */

int native_probe(const struct tools *t, struct host_facts *h, struct err *e)
{
    char size[CACHE_LEVELS][24], *path = built(t, "probe", BUILD_PLAIN);
    const char *const argv[] = {path, size[0], size[1], size[2], NULL};
    struct child_process c = {0};

    for (unsigned i = 0; i < CACHE_LEVELS; i++)
        snprintf(size[i], sizeof size[i], "%llu", (unsigned long long)h->cache[i].size);
    int failed = native_build(t, "probe", BUILD_PLAIN, e) || child_run(&c, argv, e);
    if (!failed && child_failed(&c))
        failed = err_set(e, LARD_USAGE, "%s failed: %s", path, child_complaint(&c));
    if (!failed)
        failed = host_values(h, c.said, path, e);
    child_free(&c);
    free(path);
    return failed ? -1 : 0;
}

struct one_run {
    double nanoseconds; /* of all repetitions but the first */
    double result;
};

static int run_once(const struct tools *t, const char *name, enum build how, unsigned threads,
                    long repeats, struct one_run *to, struct err *e)
{
    char *path = built(t, name, how), number[2][24];
    const char *const argv[] = {path, number[0], number[1], NULL};
    struct child_process c;

    snprintf(number[0], sizeof number[0], "%u", threads);
    snprintf(number[1], sizeof number[1], "%ld", repeats + 1);
    int failed = child_run(&c, argv, e);
    if (!failed && (child_failed(&c) || sscanf(c.said, "nanoseconds %lf result %lf",
                                               &to->nanoseconds, &to->result) != 2))
        failed = err_set(e, LARD_USAGE, "%s failed: %s", path, child_complaint(&c));
    child_free(&c);
    free(path);
    return failed;
}

/* As many repetitions as take `least` nanoseconds. */
static int calibrate(const struct tools *t, const char *name, enum build how, unsigned threads,
                     double least, long *repeats, struct err *e)
{
    struct one_run r;

    for (*repeats = 2;; *repeats *= 2) {
        if (run_once(t, name, how, threads, *repeats, &r, e))
            return -1;
        if (r.nanoseconds >= least / 8 || *repeats > 1 << 24)
            break;
    }
    const double all = least / (r.nanoseconds / (double)*repeats);
    *repeats = all < 2 ? 2 : (long)all;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct sampled spread_of(double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_value);
    return (struct sampled){(value[(n - 1) / 2] + value[n / 2]) / 2, value[0], value[n - 1]};
}

/* Plain and checked in turn, so that both see the same of what else the host does. */
int native_measure(const struct tools *t, const char *name, unsigned threads, unsigned runs,
                   double least, struct timing *to, struct err *e)
{
    double *time[3];
    int failed = 0;

    for (unsigned i = 0; i < 3; i++)
        time[i] = xcalloc(runs, sizeof **time);
    for (unsigned b = 0; b < 2 && !failed; b++)
        failed = calibrate(t, name, (enum build)b, threads, least, &to->repetitions[b], e);
    for (unsigned r = 0; r < runs && !failed; r++) {
        for (unsigned b = 0; b < 2 && !failed; b++) {
            struct one_run one;
            failed = run_once(t, name, (enum build)b, threads, to->repetitions[b], &one, e);
            if (failed)
                break;
            time[b][r] = one.nanoseconds / (double)to->repetitions[b];
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
