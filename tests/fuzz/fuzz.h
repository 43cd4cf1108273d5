/* fuzz.h - what the fuzz targets share: a file made of bytes, the events and names of a source, a
 * run of the whole library. With -DLARDSIM_LIBFUZZER a target is for clang's libFuzzer; without, it
 * is a program that takes the files given to it, so that all of tests/corpus is tested by
 * `make check` (tests/fuzz/corpus.sh). */
#ifndef LARDSIM_FUZZ_H
#define LARDSIM_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "sim/sim.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* With NDEBUG, too. */
#define MUST(holds) ((holds) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #holds))

static inline void fuzz_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

/* ---- files in memory ------------------------------------------------------------------------ */

struct fuzz_file {
    int fd;
    char path[32];
};

static inline struct fuzz_file fuzz_file(const void *bytes, size_t n)
{
    struct fuzz_file f = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};

    MUST(f.fd >= 0);
    for (size_t done = 0; done < n;) {
        const ssize_t more = write(f.fd, (const char *)bytes + done, n - done);
        MUST(more > 0);
        done += (size_t)more;
    }
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

static inline void fuzz_file_close(struct fuzz_file *f)
{
    close(f->fd);
}

/* ---- what a source yields ------------------------------------------------------------------- */

enum { FUZZ_RECORDS_MAX = 1 << 18 }; /* few bytes can hold many more: then it is cut off */

struct fuzz_trace {
    struct event *rec; /* owns */
    size_t records, cap;
    uint64_t first, events;
    unsigned granularity;
    struct names *names; /* owns */
    bool opened, cut;
    struct err err;
};

static inline void fuzz_keep(struct fuzz_trace *t, const struct batch *b)
{
    const char *what;

    MUST(b->first == t->first + t->events);
    for (size_t i = 0; i < b->records; i += event_records(&b->rec[i])) {
        MUST(!event_well_formed(&b->rec[i], &what));
        MUST(i + event_records(&b->rec[i]) <= b->records);
        t->events++;
    }
    for (size_t i = 0; i < b->records; i++) {
        t->rec = xgrow(t->rec, t->records, &t->cap, sizeof *t->rec);
        t->rec[t->records++] = b->rec[i];
    }
    t->cut = t->records >= FUZZ_RECORDS_MAX;
}

/* Reads all of s and closes it. s may be NULL, after an error. */
static inline void fuzz_read(struct fuzz_trace *t, struct source *s)
{
    struct batch b;

    t->names = names_new();
    t->opened = s != NULL;
    MUST(t->opened == !t->err.code);
    if (!s)
        return;
    t->first = s->first;
    t->granularity = s->granularity;
    while (!t->cut && !source_next(s, &b, &t->err) && b.records)
        fuzz_keep(t, &b);
    if (t->err.code) { /* an error stays */
        struct err again = {0};
        MUST(source_next(s, &b, &again) && !strcmp(again.text, t->err.text));
    }
    for (size_t i = 0; i < names_count(s->names); i++) {
        const struct name *n = names_at(s->names, i);
        MUST(!names_add(t->names, n->space, n->id, n->text, NULL));
    }
    MUST(names_count(t->names) == names_count(s->names));
    source_close(s);
}

static inline struct fuzz_trace fuzz_open(const char *path)
{
    struct fuzz_trace t = {0};

    fuzz_read(&t, source_open(path, &t.err));
    MUST(t.err.code == 0 || t.err.code == LARD_TRACE);
    MUST(!t.err.code || (*t.err.text && !strchr(t.err.text, '\n')));
    return t;
}

static inline void fuzz_trace_free(struct fuzz_trace *t)
{
    free(t->rec);
    names_free(t->names);
}

static inline void fuzz_same(const struct fuzz_trace *a, const struct fuzz_trace *b)
{
    MUST(a->events == b->events && a->records == b->records && a->first == b->first);
    MUST(!a->records || !memcmp(a->rec, b->rec, a->records * sizeof *a->rec));
    MUST(names_count(a->names) == names_count(b->names));
    for (size_t i = 0; i < names_count(a->names); i++) {
        const struct name *x = names_at(a->names, i), *y = names_at(b->names, i);
        MUST(x->space == y->space && x->id == y->id && !strcmp(x->text, y->text));
    }
}

/* ---- round trips ---------------------------------------------------------------------------- */

typedef struct sink *fuzz_sink(FILE *out, const struct sink_info *info, struct err *e);

static inline struct sink *fuzz_binary_sink(FILE *out, const struct sink_info *info, struct err *e)
{
    return sink_binary(out, info, CODEC_RAW, 0, e);
}

/* What t holds is written and read again. The sink may refuse: then 0. */
static inline bool fuzz_written(const struct fuzz_trace *t, fuzz_sink *open, char **text, size_t *n)
{
    const struct sink_info info = {.first = t->first, .granularity = t->granularity};
    struct err e = {0};
    FILE *out = open_memstream(text, n);
    struct sink *to = open(out, &info, &e);
    int bad = !to || to->names(to, t->names, &e);

    for (size_t i = 0; i < t->records && !bad; i += event_records(&t->rec[i]))
        bad = to->event(to, &t->rec[i], &e);
    if (bad && to)
        to->abort(to);
    else if (!bad)
        bad = to->finish(to, &e);
    fclose(out);
    MUST(!bad == !e.code);
    return !bad;
}

/* All names stand before the first event then; that they come in the same order is enough. */
static inline void fuzz_round_trip(const struct fuzz_trace *t, fuzz_sink *open)
{
    char *text;
    size_t n;

    if (t->cut)
        return;
    MUST(fuzz_written(t, open, &text, &n));
    struct fuzz_file f = fuzz_file(text, n);
    struct fuzz_trace again = fuzz_open(f.path);
    MUST(!again.err.code);
    fuzz_same(t, &again);
    fuzz_trace_free(&again);
    fuzz_file_close(&f);
    free(text);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* settings: NULL-terminated. */
static inline struct lardsim *fuzz_start(const char *const *settings)
{
    struct lardsim *l = lardsim_new();

    MUST(!lardsim_set(l, "limits.memory=1Mi") && !lardsim_set(l, "limits.events=100000"));
    for (; *settings; settings++)
        MUST(!lardsim_set(l, *settings));
    MUST(!lardsim_start(l));
    return l;
}

/* Any end will do that says why. */
static inline void fuzz_finish(struct lardsim *l, bool ran)
{
    const bool finished = !lardsim_finish(l);
    const int code = lardsim_exit_code(l);

    MUST(ran || !finished);
    MUST(finished == !lardsim_error(l));
    MUST(code == LARD_DONE || code == LARD_TRACE || code == LARD_LIMIT || code == LARD_CONFIG);
}

static inline void fuzz_run(const char *path, const char *const *settings)
{
    struct lardsim *l = fuzz_start(settings);

    fuzz_finish(l, !lardsim_run(l, path));
    lardsim_free(l);
}

/* fasttrack against vc, which are equal where the rules hold (clock-sane, for one). */
static inline void fuzz_compare(const char *path)
{
    static const char *const counts[] = {"false.accesses", "missed.accesses", "false.sites",
                                         "missed.sites",   "false.places",    "missed.places"};
    struct lardsim *l = lardsim_new();
    uint64_t n;

    MUST(!lardsim_compare(l) && !lardsim_set(l, "policies=vc,fasttrack") &&
         !lardsim_set(l, "limits.memory=1Mi") && !lardsim_set(l, "limits.events=100000") &&
         !lardsim_start(l));
    fuzz_finish(l, !lardsim_run(l, path));
    for (size_t i = 0; i < ARRAY_SIZE(counts) && !lardsim_error(l); i++) {
        char *name = xasprintf("compare.fasttrack.%s", counts[i]);
        MUST(!lardsim_stat(l, name, &n) && n == 0);
        free(name);
    }
    lardsim_free(l);
}

static inline int fuzz_push_event(struct lardsim *l, const struct event *ev)
{
    const struct lardsim_event p = sim_event(ev);

    return lardsim_event(l, &p);
}

/* One policy, which gets slices of a batch when the trace is pulled and single events when it is
 * pushed: the same results, the same end. t was read from path without an error. */
static inline void fuzz_pull_and_push(const char *path, const struct fuzz_trace *t,
                                      const char *policy)
{
    char granularity[32];
    const char *const settings[] = {policy, granularity, NULL};

    snprintf(granularity, sizeof granularity, "granularity=%u",
             t->granularity ? t->granularity : 1);
    struct lardsim *pull = fuzz_start(settings), *push = fuzz_start(settings);
    const bool pulled = !lardsim_run(pull, path);
    bool pushed = true;
    for (size_t i = 0; i < t->records && pushed; i += event_records(&t->rec[i]))
        pushed = !fuzz_push_event(push, &t->rec[i]);
    fuzz_finish(pull, pulled);
    fuzz_finish(push, pushed);
    MUST(lardsim_exit_code(pull) == lardsim_exit_code(push));
    MUST(lardsim_events(pull) == lardsim_events(push));
    MUST(lardsim_digest(pull) == lardsim_digest(push));
    if (lardsim_error(pull) && !t->first)
        MUST(strstr(lardsim_error(pull), lardsim_error(push)) != NULL);
    lardsim_free(pull);
    lardsim_free(push);
}

/* ---- without libFuzzer ---------------------------------------------------------------------- */

#ifndef LARDSIM_LIBFUZZER
static void fuzz_replay(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t n = 0, cap = 0;
    int c;

    if (!in) {
        perror(path);
        exit(99);
    }
    while ((c = getc(in)) != EOF) {
        data = xgrow(data, n, &cap, 1);
        data[n++] = (uint8_t)c;
    }
    fclose(in);
    fprintf(stderr, "%s\n", path); /* the last line tells which one failed */
    LLVMFuzzerTestOneInput(data ? data : (const uint8_t *)"", n);
    free(data);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        fuzz_replay(argv[i]);
    return argc > 1 ? 0 : 99;
}
#endif

#endif
