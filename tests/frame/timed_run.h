/* timed_run.h - for tests of the machine: a trace written as text is simulated three times (read
 * from a file twice, pushed event by event once), which must give the same digest, and each core's
 * cycles must add up. The statistics, vectors too, are read from stats.json. It judges no count
 * itself. */
#ifndef LARDSIM_TIMED_RUN_H
#define LARDSIM_TIMED_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/lardsim.h"
#include "sim/sim.h"
#include "trace/trace.h"

struct stat_value {
    char name[96]; /* as lardsim_stat takes it, or with an index: "cores.idle.2" */
    uint64_t value;
};
struct ran { /* what a run gave */
    int code;
    char error[1000];
    uint64_t digest;
    size_t n, room;
    struct stat_value *stat; /* owns */
};

/* ---- stats.json: objects, numbers and texts ------------------------------------------------- */

static inline void ran_add(struct ran *r, const char *name, uint64_t value)
{
    if (r->n == r->room)
        r->stat = realloc(r->stat, (r->room = 2 * r->room + 64) * sizeof *r->stat);
    assert_non_null(r->stat);
    snprintf(r->stat[r->n].name, sizeof r->stat->name, "%s", name);
    r->stat[r->n++].value = value;
}

/* Reads the value at p, whose name is path; returns what follows it. */
static inline const char *ran_value(struct ran *r, const char *p, char *path)
{
    const size_t end = strlen(path);

    p += strspn(p, " \n");
    if (isdigit((unsigned char)*p)) {
        ran_add(r, path, strtoull(p, NULL, 10));
        return p + strspn(p, "0123456789.eE+-");
    }
    if (*p == '"')
        return strchr(p + 1, '"') + 1; /* no text in this file has a quote in it */
    if (*p != '{' && *p != '[')
        return p + strspn(p, "abcdefghijklmnopqrstuvwxyz");
    const char open = *p++;
    for (size_t i = 0;; i++) {
        p += strspn(p, " \n,");
        if (*p == '}' || *p == ']')
            return p + 1;
        if (open == '{') {
            const size_t key = strcspn(++p, "\"");
            snprintf(path + end, 400 - end, "%s%.*s", end ? "." : "", (int)key, p);
            p += key + 2;
        } else {
            snprintf(path + end, 400 - end, ".%zu", i);
        }
        p = ran_value(r, p, path);
        path[end] = 0;
    }
}

static inline void ran_load(struct ran *r, const char *file)
{
    char path[400] = "", *text = NULL;
    size_t n = 0;
    FILE *f = fopen(file, "r");

    assert_non_null(f);
    assert_true(getdelim(&text, &n, 0, f) > 0);
    fclose(f);
    r->n = 0;
    ran_value(r, text, path);
    free(text);
}

/* ---- what is known of a run ----------------------------------------------------------------- */

static inline uint64_t ran_stat(const struct ran *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->stat[i].name, name))
            return r->stat[i].value;
    fail_msg("no statistic %s", name);
    return 0;
}

/* "machine.cycles=121 cores.memory.0=120": each holds. All that differ are told. */
static inline void ran_want(const struct ran *r, const char *want)
{
    char name[96];
    int bad = 0, used;
    unsigned long long value;

    if (r->code)
        fail_msg("exit %d: %s", r->code, r->error);
    for (; sscanf(want, " %95[^= ]=%llu%n", name, &value, &used) == 2; want += used) {
        const uint64_t is = ran_stat(r, name);
        if (is != value && ++bad)
            print_error("%s: %llu expected, %llu found\n", name, value, (unsigned long long)is);
    }
    assert_int_equal(*want, 0); /* all was understood */
    if (bad)
        fail_msg("%d differ", bad);
}

/* The cycles of each core are all spent on something, and machine.spent.* is the sum over cores. */
static inline void ran_adds_up(const struct ran *r)
{
    const uint64_t cores = ran_stat(r, "machine.cores"), cycles = ran_stat(r, "machine.cycles");
    uint64_t spent[128] = {0};
    char name[128];

    assert_true(cores <= 128);
    for (size_t i = 0; i < r->n; i++) {
        const char *all = r->stat[i].name;
        if (strncmp(all, "machine.spent.", 14))
            continue;
        uint64_t sum = 0;
        for (uint64_t c = 0; c < cores; c++) {
            snprintf(name, sizeof name, "cores.%s.%d", all + 14, (int)c);
            const uint64_t one = ran_stat(r, name);
            sum += one;
            spent[c] += one;
        }
        assert_int_equal(sum, r->stat[i].value);
    }
    for (uint64_t c = 0; c < cores; c++)
        assert_int_equal(spent[c], cycles);
}

/* ---- running -------------------------------------------------------------------------------- */

static inline void ran_push(struct lardsim *l, const char *source)
{
    struct err e = {0};
    struct source *s = source_open(source, &e);
    struct batch b;
    int failed = 0;

    if (!s)
        fail_msg("%s", e.text);
    while (!failed && !source_next(s, &b, &e) && b.records)
        for (size_t i = 0; !failed && i < b.records; i += event_records(&b.rec[i])) {
            const struct lardsim_event p = sim_event(&b.rec[i]);
            failed = lardsim_event(l, &p);
        }
    if (e.code)
        fail_msg("%s", e.text);
    source_close(s);
}

/* settings: NAME=VALUE, divided by blanks. What goes wrong stays in l. */
static inline void ran_set(struct lardsim *l, const char *settings)
{
    char one[200];
    int used;

    for (; sscanf(settings, " %199s%n", one, &used) == 1; settings += used)
        lardsim_set(l, one);
}

/* Where temporary files go: results are synced, which costs nothing in memory. */
static inline const char *ran_tmp(void)
{
    const char *tmp = getenv("TMPDIR");

    if (tmp)
        return tmp;
    return access("/dev/shm", W_OK | X_OK) ? "/tmp" : "/dev/shm";
}

enum ran_how { RAN_PULL, RAN_PUSH };

/* One run; its results go to folder, if there is one. */
static inline void ran_once(struct ran *r, const char *source, const char *settings,
                            enum ran_how how, const char *folder)
{
    struct lardsim *l = lardsim_new();
    char stats[400];

    ran_set(l, "machine=multicore pages.mapping=identity contention=off policies=none cores=4");
    ran_set(l, settings);
    if (folder)
        lardsim_output(l, folder, 1);
    lardsim_start(l);
    if (how == RAN_PULL)
        lardsim_run(l, source);
    else if (!lardsim_error(l))
        ran_push(l, source);
    lardsim_finish(l);
    r->code = lardsim_exit_code(l);
    snprintf(r->error, sizeof r->error, "%s", lardsim_error(l) ? lardsim_error(l) : "");
    r->digest = lardsim_digest(l);
    if (folder && !r->code) {
        snprintf(stats, sizeof stats, "%s/stats.json", folder);
        ran_load(r, stats);
    }
    lardsim_free(l);
}

static inline void ran_remove(const char *folder) /* and the files in it */
{
    DIR *d = opendir(folder);
    char path[1000];

    for (struct dirent *f; d && (f = readdir(d));)
        if (f->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
            unlink(path);
        }
    if (d)
        closedir(d);
    rmdir(folder);
}

/* A run of any source, thrice. */
static inline struct ran ran_source(const char *source, const char *settings)
{
    char folder[300], out[340];
    struct ran r = {0}, again = {0}, pushed = {0};

    snprintf(folder, sizeof folder, "%s/lardsim-timed-XXXXXX", ran_tmp());
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/out", folder);
    ran_once(&r, source, settings, RAN_PULL, out);
    ran_once(&again, source, settings, RAN_PULL, NULL);
    ran_once(&pushed, source, settings, RAN_PUSH, NULL);
    ran_remove(out);
    ran_remove(folder);
    assert_int_equal(again.code, r.code);
    assert_int_equal(pushed.code, r.code);
    if (!r.code) {
        assert_int_equal(again.digest, r.digest);
        assert_int_equal(pushed.digest, r.digest);
        ran_adds_up(&r);
    }
    return r;
}

/* The same for events as text, one a line or divided by ";". */
static inline struct ran ran_text(const char *events, const char *settings)
{
    char file[300];

    snprintf(file, sizeof file, "%s/lardsim-trace-XXXXXX", ran_tmp());
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs("lardsim-text 1\n", f);
    for (const char *p = events; *p; p++)
        fputc(*p == ';' ? '\n' : *p, f);
    fputc('\n', f);
    fclose(f);
    const struct ran r = ran_source(file, settings);
    unlink(file);
    return r;
}

static inline void ran_free(struct ran *r)
{
    free(r->stat);
}

/* Runs the events and wants these counts. */
static inline void costs(const char *events, const char *settings, const char *want)
{
    struct ran r = ran_text(events, settings);

    ran_want(&r, want);
    ran_free(&r);
}

/* Runs the events, which must fail with this code; each of the texts is in the message. */
static inline void fails(const char *events, const char *settings, int code, const char *a,
                         const char *b, const char *c)
{
    struct ran r = ran_text(events, settings);

    assert_int_equal(r.code, code);
    for (const char *const *t = (const char *const[]){a, b, c, NULL}; *t; t++)
        if (!strstr(r.error, *t))
            fail_msg("\"%s\" is not in: %s", *t, r.error);
    ran_free(&r);
}

#endif
