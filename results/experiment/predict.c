/* predict.c - what the cells of a sweep will take of a processor, of memory and of disk.
 *
 * Some cells are run, each in a process of its own, to their end or for a moment: of each source
 * and policy one, and with each axis moved to its last value and its middle. What a process has
 * taken is asked of the host: processor time, not the time on a clock, which depends on who else is
 * there, and all its resident memory, so that caches, directory, shadow memory by the locations
 * that were touched, and the window of events are in it as they are. A cell that was not at its end
 * goes on as it did lately: what begins once (caches that fill, pages that are touched for the
 * first time) does not count again. A cell that was not run is like the first of its kind, times
 * what each of its axes changed there; values of an axis lie evenly between its ends. */
#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/program/place.h"
#include "results/experiment/sweep.h"
#include "sim/lardsim.h"

enum { LOOKS = 64 };

struct sample_at {   /* of a cell, a moment */
    double seconds;  /* of a processor */
    double part;     /* of its source that it has read; 0: not known */
    uint64_t memory; /* bytes: of the whole process */
};
struct sample {                /* of a cell that ran for a moment */
    struct sample_at end, mid; /* mid: about half way there */
    /* Bytes of the process: without the cell, and when its first events have run. */
    uint64_t base, start;
    uint64_t files, lines; /* bytes: of files that are as long as they are, of those that grow */
    bool ok;
};
struct sampling {
    struct lardsim_shared *shared;
    struct lardsim *run;
    struct sample *to;
    double began, until, step;
    double events; /* of the source; 0: not known */
    struct sample_at at[LOOKS];
    size_t looks;
};

uint64_t process_memory(long pid)
{
    char *path = xasprintf("/proc/%ld/statm", pid);
    FILE *in = fopen(path, "re");
    unsigned long long size = 0, resident = 0, shared = 0;

    if (in && fscanf(in, "%llu %llu %llu", &size, &resident, &shared) != 3)
        resident = shared = 0;
    if (in)
        fclose(in);
    free(path);
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- a moment of a cell, in a process of its own -------------------------------------------- */

static double part_read(const struct sampling *s)
{
    const double events = (double)lardsim_events(s->run);
    uint64_t done, all;

    if (s->events > 0)
        return events / s->events;
    return !lardsim_progress(s->run, &done, &all) && all ? (double)done / (double)all : 0;
}

/* All that is resident counts, the program itself, too: so others count when they look at it. */
static struct sample_at now_at(const struct sampling *s)
{
    return (struct sample_at){processor_seconds() - s->began, part_read(s), resident_memory()};
}

static void look(void *sampling, uint64_t events)
{
    struct sampling *s = sampling;
    const double now = processor_seconds() - s->began;

    (void)events;
    if (s->looks < LOOKS && now >= s->step * (double)s->looks)
        s->at[s->looks++] = now_at(s);
    if (now > s->until)
        lardsim_shared_stop(s->shared);
}

/* The last look before half of the part. */
static struct sample_at half_way(const struct sampling *s, double part)
{
    struct sample_at half = {.memory = s->to->base};

    for (size_t i = 0; i < s->looks && s->at[i].part <= part / 2; i++)
        half = s->at[i];
    return half;
}

static void ended(void *sampling, struct lardsim *l)
{
    struct sampling *s = sampling;
    struct rusage use;

    s->to->end = now_at(s);
    if (!lardsim_shared_stopped(s->shared))
        s->to->end.part = 1;
    s->to->mid = half_way(s, s->to->end.part);
    s->to->start = s->looks ? s->at[0].memory : s->to->end.memory;
    lardsim_finish(l);
    s->to->end.seconds = processor_seconds() - s->began;
    if (!getrusage(RUSAGE_SELF, &use) && (uint64_t)use.ru_maxrss * 1024 > s->to->end.memory)
        s->to->end.memory = (uint64_t)use.ru_maxrss * 1024; /* Linux tells it in KiB */
    /* A program that is asked ends as if it was interrupted. */
    s->to->ok = !lardsim_error(l) || lardsim_shared_stopped(s->shared);
}

static void measure_files(struct sample *to, const char *dir)
{
    DIR *d = opendir(dir);
    struct stat st;

    for (struct dirent *x; d && (x = readdir(d));) {
        const bool grows = !strcmp(x->d_name, "races.jsonl") || !strcmp(x->d_name, "intervals.csv");
        if (x->d_name[0] == '.' || fstatat(dirfd(d), x->d_name, &st, 0))
            continue;
        *(grows ? &to->lines : &to->files) += (uint64_t)st.st_blocks * 512;
    }
    if (d)
        closedir(d);
}

static void sample_here(struct sample *to, const struct plan *p, const struct sweep_cell *c,
                        const char *dir, double seconds)
{
    const struct plan_source *source = &p->source[c->source];
    struct sampling s = {.to = to,
                         .run = lardsim_new(),
                         .began = processor_seconds(),
                         .until = seconds,
                         .step = seconds / LOOKS,
                         .events = (double)source->events};
    struct err e = {0};

    to->base = resident_memory();
    s.shared = lardsim_shared_open(source->text, c->rules, 0, &e);
    lardsim_on_progress(s.run, look, &s);
    if (!s.shared || cell_configure(p, c, s.run) || lardsim_output(s.run, dir, 0) ||
        lardsim_start(s.run))
        return;
    lardsim_shared_add(s.shared, s.run);
    lardsim_shared_run(s.shared, ended, &s, &e);
    measure_files(to, dir);
}

static void sample_cell(struct sample *to, const struct plan *p, const struct sweep_cell *c,
                        const char *dir, double seconds)
{
    int ends[2];

    *to = (struct sample){.ok = false};
    if (pipe(ends))
        return;
    malloc_trim(0); /* what was freed here would be of each process that begins */
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        sample_here(to, p, c, dir, seconds);
        _exit(write(ends[1], to, sizeof *to) != (ssize_t)sizeof *to);
    }
    close(ends[1]);
    if (pid < 0 || file_bytes(ends[0], to, sizeof *to) != (int64_t)sizeof *to)
        *to = (struct sample){.ok = false};
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    folder_remove(dir);
}

/* ---- from a moment to the whole ------------------------------------------------------------- */

/* Extrapolates to the whole run: the rest takes as long, in proportion, as the second half of what
 * ran. */
static double whole_of(double end, double mid, double part, double part_mid)
{
    if (part >= 1 || part <= part_mid)
        return part > 0 && part < 1 ? end / part : end;
    return end + (end > mid ? end - mid : 0) * (1 - part) / (part - part_mid);
}

/* Memory grows as fewer and fewer locations are touched for the first time: in each stretch of the
 * length of the second half that ran it grows by the same part of the one before, and never faster
 * than it did. */
static double memory_of_all(const struct sample *s)
{
    const double end = (double)s->end.memory, mid = (double)s->mid.memory;
    const double stretch = s->end.part - s->mid.part, left = 1 - s->end.part;
    const double first = mid - (double)s->start, second = end - mid;

    if (left <= 0 || stretch <= 0 || second <= 0)
        return end;
    const double ratio = first > second ? second / first : 1, n = left / stretch;
    const double more = ratio < 1 ? ratio * (1 - pow(ratio, n)) / (1 - ratio) : n;
    return end + second * more;
}

static struct predicted predicted_of(const struct sample *s)
{
    const struct sample_at *end = &s->end, *mid = &s->mid;
    const double part = end->part > 0 ? end->part : 1;
    const double memory = memory_of_all(s);

    return (struct predicted){.known = s->ok && end->part > 0,
                              .seconds = whole_of(end->seconds, mid->seconds, part, mid->part),
                              .memory = (uint64_t)memory,
                              .own = memory > (double)s->base ? (uint64_t)memory - s->base : 0,
                              .disk = s->files + (uint64_t)((double)s->lines / part)};
}

/* The events of a source that doesn't say how many it has, unless there are very many. */
static uint64_t count_events(const char *text)
{
    const double until = now_seconds() + 1;
    struct err e = {0};
    struct lardsim_source *s = lardsim_source_open(text, &e);
    struct lardsim_event ev;
    uint64_t n = 0;
    int more = s != NULL;

    while (more > 0 && (n % 4096 || now_seconds() < until)) {
        more = lardsim_source_next(s, &ev, &e);
        n += more > 0;
    }
    lardsim_source_close(s);
    return more || e.code ? 0 : n;
}

/* ---- which cells are run -------------------------------------------------------------------- */

/* A kind is the cells of one source and policy, on a machine or without. Of each axis it has the
 * cells that differ from its first there alone: by the axis and its values, so that steps[i] of a
 * kind is where axis i begins. */
struct predicting {
    struct plan *plan;
    struct predicted *to;
    size_t *kind;  /* owns; by cell */
    size_t *first; /* owns; by kind, its first cell */
    size_t *begin; /* owns; by axis, where its values begin in a row of `probe`; then the end */
    size_t *probe; /* owns; by kind, a row of cells; NO_CELL: there is none */
    bool *run;     /* owns; by cell: it was run */
    size_t kinds, runs; /* runs: cells that were run */
    char *dir;          /* owns */
    double seconds;     /* of each */
};

static uint64_t kind_of(const struct sweep_cell *c)
{
    const uint64_t kind[] = {c->given, c->machine, digest_bytes(c->policy, strlen(c->policy))};

    return digest_bytes(kind, sizeof kind);
}

static void find_kinds(struct predicting *x)
{
    struct map known = {0};

    for (size_t i = 0; i < x->plan->n; i++) {
        uint64_t *at = map_put(&known, kind_of(&x->plan->cell[i]));
        if (!*at) {
            x->first[x->kinds] = i;
            *at = ++x->kinds;
        }
        x->kind[i] = *at - 1;
    }
    map_free(&known);
}

static size_t step_of(const struct plan *p, size_t cell, size_t axis)
{
    const struct axis *a = &p->spec->axis[axis];
    const char *value = p->cell[cell].value[axis];

    for (size_t i = 0; value && i < a->n; i++)
        if (!strcmp(a->step[i].name, value))
            return i;
    return 0;
}

/* The only axis on which two cells of a kind differ; NO_CELL: they differ on several, or on none.
 * The first counts of axes that move together. */
static size_t only_difference(const struct plan *p, size_t a, size_t b)
{
    size_t axis = NO_CELL;

    for (size_t i = 0; i < p->spec->axes; i++) {
        if (p->spec->axis[i].with != i || step_of(p, a, i) == step_of(p, b, i))
            continue;
        if (axis != NO_CELL)
            return NO_CELL;
        axis = i;
    }
    return axis;
}

/* The cells of a kind that differ from its first on the axis alone, by value. */
static size_t *probes_of(const struct predicting *x, size_t kind, size_t axis)
{
    return x->probe + kind * x->begin[x->plan->spec->axes] + x->begin[axis];
}

static void find_probes(struct predicting *x)
{
    const struct plan *p = x->plan;
    const size_t axes = p->spec->axes;

    for (size_t i = 0; i < axes; i++)
        x->begin[i + 1] = x->begin[i] + p->spec->axis[i].n;
    x->probe = xcalloc(x->kinds * x->begin[axes] + 1, sizeof *x->probe);
    for (size_t i = 0; i < x->kinds * x->begin[axes]; i++)
        x->probe[i] = NO_CELL;
    for (size_t i = 0; i < p->n; i++) {
        const size_t kind = x->kind[i], first = x->first[kind];
        const size_t axis = only_difference(p, first, i);
        for (size_t k = 0; k < axes && first == i; k++)
            probes_of(x, kind, k)[step_of(p, i, k)] = i;
        if (axis != NO_CELL)
            probes_of(x, kind, axis)[step_of(p, i, axis)] = i;
    }
}

/* ---- what is predicted of a cell --------------------------------------------------------------
 */

static double seconds_of(const struct predicted *x)
{
    return x->seconds;
}
static double memory_of(const struct predicted *x)
{
    return (double)x->memory;
}
static double own_of(const struct predicted *x)
{
    return (double)x->own;
}
static double disk_of(const struct predicted *x)
{
    return (double)x->disk;
}

/* ---- running them --------------------------------------------------------------------------- */

static void run_cell(struct predicting *x, size_t cell)
{
    struct plan *p = x->plan;
    struct plan_source *source = &p->source[p->cell[cell].source];
    struct sample s;

    if (cell == NO_CELL || x->run[cell])
        return;
    if (!source->events)
        source->events = count_events(source->text);
    sample_cell(&s, p, &p->cell[cell], x->dir, x->seconds);
    x->to[cell] = predicted_of(&s);
    x->run[cell] = true;
    x->runs++;
}

static bool is_known(const struct predicting *x, size_t cell)
{
    return cell != NO_CELL && x->run[cell] && x->to[cell].known;
}

/* A quantity at a value of the axis, by the nearest values below and above that were run: as if it
 * changed by the same factor at each step between them. 0: none was run. */
static double along(const struct predicting *x, size_t kind, size_t axis, size_t step,
                    double (*of)(const struct predicted *))
{
    const size_t *probe = probes_of(x, kind, axis), n = x->plan->spec->axis[axis].n;
    size_t below = step + 1, above = step;

    while (below > 0 && !is_known(x, probe[below - 1]))
        below--;
    while (above < n && !is_known(x, probe[above]))
        above++;
    if (!below && above == n)
        return 0;
    const double a = below ? of(&x->to[probe[below - 1]]) : of(&x->to[probe[above]]),
                 b = above < n ? of(&x->to[probe[above]]) : a;
    if (!below || above == n || above == below - 1 || a <= 0 || b <= 0)
        return a;
    return a * pow(b / a, (double)(step - (below - 1)) / (double)(above - (below - 1)));
}

/* Seconds of a processor: about so many in all, and of a cell no more and no less than these. */
static const double ALL_SECONDS = 6, CELL_SECONDS = 1, LEAST_SECONDS = 0.1, MOST_SECONDS = 10;

static bool affordable(size_t cells)
{
    return (double)cells * LEAST_SECONDS <= MOST_SECONDS;
}

/* The value in the middle of an axis says whether what lies between its ends lies evenly there; if
 * not, all its values are run. */
static void run_axis(struct predicting *x, size_t kind, size_t axis, bool middle)
{
    static const double even = 1.3;
    const size_t n = x->plan->spec->axis[axis].n, *probe = probes_of(x, kind, axis);

    if (n > 1)
        run_cell(x, probe[n - 1]);
    if (n < 3 || !middle || probe[n / 2] == NO_CELL || x->run[probe[n / 2]])
        return;
    const double expected = along(x, kind, axis, n / 2, seconds_of);
    run_cell(x, probe[n / 2]);
    const double is = x->to[probe[n / 2]].seconds;
    for (size_t i = 0; i < n && (is > even * expected || expected > even * is); i++)
        if (affordable(x->runs))
            run_cell(x, probe[i]);
}

static void run_samples(struct predicting *x)
{
    const size_t axes = x->plan->spec->axes;
    const bool ends = affordable(x->kinds * (1 + axes)),
               middle = affordable(x->kinds * (1 + 2 * axes));
    const size_t cells = x->kinds * (1 + (ends ? axes : 0) + (middle ? axes : 0));
    const double share = ALL_SECONDS / (double)(cells ? cells : 1);

    x->seconds = fmax(LEAST_SECONDS, fmin(share, CELL_SECONDS));
    for (size_t kind = 0; kind < x->kinds; kind++) {
        run_cell(x, x->first[kind]);
        for (size_t axis = 0; axis < axes && ends; axis++)
            run_axis(x, kind, axis, middle);
    }
}

/* ---- all cells ------------------------------------------------------------------------------ */

/* Scales the quantity of the kind's first cell by its change along each axis. */
static double scaled(const struct predicting *x, size_t cell,
                     double (*of)(const struct predicted *))
{
    const struct plan *p = x->plan;
    const size_t kind = x->kind[cell], base = x->first[kind];
    const double first = of(&x->to[base]);
    double all = first;

    for (size_t axis = 0; axis < p->spec->axes && first > 0; axis++) {
        const double is = along(x, kind, axis, step_of(p, cell, axis), of);
        if (is > 0)
            all *= is / first;
    }
    return all;
}

static void predict_rest(struct predicting *x)
{
    for (size_t i = 0; i < x->plan->n; i++) {
        if (x->run[i])
            continue;
        const struct predicted *kind = &x->to[x->first[x->kind[i]]];
        x->to[i] = (struct predicted){.known = kind->known,
                                      .seconds = scaled(x, i, seconds_of),
                                      .memory = (uint64_t)scaled(x, i, memory_of),
                                      .own = (uint64_t)scaled(x, i, own_of),
                                      .disk = (uint64_t)scaled(x, i, disk_of)};
    }
}

int predict(struct predicted *to, struct plan *p, struct err *e)
{
    struct predicting x = {.plan = p, .to = to};
    char *dir;

    if (place_temporary(&dir, "lardsim-sweep")) {
        err_set(e, LARD_OUTPUT, "%s: can't be made; set TMPDIR to a folder that you may write to",
                dir);
    } else {
        x.kind = xcalloc(p->n + 1, sizeof *x.kind);
        x.first = xcalloc(p->n + 1, sizeof *x.first);
        x.begin = xcalloc(p->spec->axes + 1, sizeof *x.begin);
        x.run = xcalloc(p->n + 1, sizeof *x.run);
        x.dir = xasprintf("%s/cell", dir);
        find_kinds(&x);
        find_probes(&x);
        run_samples(&x);
        predict_rest(&x);
        folder_remove(dir);
    }
    void *const own[] = {x.kind, x.first, x.begin, x.probe, x.run, x.dir, dir};
    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        free(own[i]);
    return e->code ? -1 : 0;
}
