/* predict.c - what the cells of a sweep will take: for each source and policy one cell is run for a
 * moment, about a second for all together, and what it took is held against how much of its source
 * it has read. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "cli/sweep/sweep.h"
#include "sim/sim.h"
#include "trace/trace.h"

struct sample {            /* of a cell that ran for a moment */
    double seconds, part;  /* part: of its source that it has read; 0: not known */
    uint64_t fixed, grown; /* bytes of memory: at first, and since */
    uint64_t files, lines; /* bytes: of files that are as long as they are, of those that grow */
    bool ok;
};
struct sampling {
    struct sim_shared *shared;
    struct lardsim *run;
    struct sample *to;
    double began, until;
    uint64_t before; /* bytes of memory, without the run */
    double events;   /* of the source; 0: not known */
};

double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

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

/* ---- a moment of a cell, in a process of its own -------------------------------------------- */

static void look(void *sampling, uint64_t events)
{
    struct sampling *s = sampling;
    const uint64_t memory = process_memory((long)getpid());

    (void)events;
    if (!s->to->fixed)
        s->to->fixed = memory - s->before;
    s->to->grown = memory - s->before > s->to->fixed ? memory - s->before - s->to->fixed : 0;
    if (now_seconds() > s->until)
        sim_shared_stop(s->shared);
}

static double part_read(const struct sampling *s)
{
    const double events = (double)lardsim_events(s->run);
    uint64_t done, all;

    if (!sim_shared_stopped(s->shared))
        return 1;
    if (s->events > 0)
        return events / s->events;
    return !lardsim_progress(s->run, &done, &all) && all ? (double)done / (double)all : 0;
}

static void ended(void *sampling, struct lardsim *l)
{
    struct sampling *s = sampling;

    look(s, 0);
    s->to->part = part_read(s);
    s->to->seconds = now_seconds() - s->began;
    lardsim_finish(l);
    /* A program that is asked ends as if it was interrupted. */
    s->to->ok = !lardsim_error(l) || sim_shared_stopped(s->shared);
}

static void measure_files(struct sample *to, const char *dir)
{
    static const char *const growing[] = {"races.jsonl", "intervals.csv"};
    DIR *d = opendir(dir);
    struct stat st;

    for (struct dirent *x; d && (x = readdir(d));) {
        bool grows = false;
        for (size_t i = 0; i < ARRAY_SIZE(growing); i++)
            grows |= strcmp(x->d_name, growing[i]) == 0;
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
                         .before = process_memory((long)getpid()),
                         .began = now_seconds(),
                         .events = (double)source->events};
    struct err e = {0};

    s.until = s.began + seconds;
    s.shared = sim_shared_open(source->text, c->rules, 0, &e);
    lardsim_on_progress(s.run, look, &s);
    if (!s.shared || cell_configure(p, c, s.run) || lardsim_output(s.run, dir, 0) ||
        lardsim_start(s.run))
        return;
    sim_shared_add(s.shared, s.run);
    sim_shared_run(s.shared, ended, &s, &e);
    measure_files(to, dir);
}

static void sample_cell(struct sample *to, const struct plan *p, const struct sweep_cell *c,
                        const char *dir, double seconds)
{
    int ends[2];

    *to = (struct sample){0};
    if (pipe(ends))
        return;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        sample_here(to, p, c, dir, seconds);
        _exit(write(ends[1], to, sizeof *to) != (ssize_t)sizeof *to);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], to, sizeof *to) != (ssize_t)sizeof *to)
        *to = (struct sample){0};
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    folder_remove(dir);
}

/* ---- all cells ------------------------------------------------------------------------------ */

static uint64_t kind_of(const struct sweep_cell *c)
{
    const uint64_t kind[] = {c->given, c->machine, digest_bytes(c->policy, strlen(c->policy))};

    return digest_bytes(kind, sizeof kind);
}

/* By cell, the first that is like it; how many kinds there are. */
static size_t find_alike(const struct plan *p, size_t *first)
{
    struct map known;
    size_t kinds = 0;

    map_init(&known, NULL);
    for (size_t i = 0; i < p->n; i++) {
        uint64_t *at = map_put(&known, kind_of(&p->cell[i]));
        kinds += *at == 0;
        *at = *at ? *at : i + 1;
        first[i] = *at - 1;
    }
    map_free(&known);
    return kinds;
}

static struct predicted predicted_of(const struct sample *s)
{
    const double part = s->part > 0 ? s->part : 1;

    return (struct predicted){.known = s->ok && s->part > 0,
                              .seconds = s->seconds / part,
                              .memory = s->fixed + (uint64_t)((double)s->grown / part),
                              .disk = s->files + (uint64_t)((double)s->lines / part)};
}

/* The events of a source that doesn't say how many it has, unless there are very many. */
static uint64_t count_events(const char *text)
{
    const double until = now_seconds() + 1;
    struct err e = {0};
    struct batch b = {.records = 0};
    struct source *s = source_open(text, &e);
    uint64_t n = 0;

    while (s && !source_next(s, &b, &e) && b.records && now_seconds() < until)
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev))
            n++;
    source_close(s);
    return b.records || e.code ? 0 : n;
}

int predict(struct predicted *to, struct plan *p, struct err *e)
{
    char *dir;
    const bool made = !cli_temporary(&dir, "lardsim-sweep");
    size_t *first = xcalloc(p->n + 1, sizeof *first);
    const size_t kinds = find_alike(p, first);

    const double share = 1.0 / (double)(kinds ? kinds : 1), seconds = share > 0.05 ? share : 0.05;
    char *cell = xasprintf("%s/cell", dir);
    for (size_t i = 0; i < p->n && made; i++) {
        struct sample s;
        if (first[i] != i) {
            to[i] = to[first[i]];
            continue;
        }
        struct plan_source *source = &p->source[p->cell[i].source];
        if (!source->events)
            source->events = count_events(source->text);
        sample_cell(&s, p, &p->cell[i], cell, seconds);
        to[i] = predicted_of(&s);
    }
    if (made)
        folder_remove(dir);
    else
        err_set(e, LARD_OUTPUT, "%s: can't be made; set TMPDIR to a folder that you may write to",
                dir);
    free(cell);
    free(first);
    free(dir);
    return e->code ? -1 : 0;
}
