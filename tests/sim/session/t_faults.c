/* t_faults.c - memory that runs out at any allocation, disks that fill up at any byte, files that
 * can't be read from any byte on: the process ends with its documented exit code and a message, and
 * leaves nothing under its final name that is not whole.
 *
 * Every allocation of the process can be the one that fails, those of the C library and of other
 * libraries included: malloc and friends are replaced here. Not under the sanitizers, which do that
 * themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "base/param.h"
#include "base/stats.h"
#include "sim/lardsim.h"
#include "trace/trace.h"

/* ---- memory that runs out ------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

struct shared { /* with the child */
    uint64_t allocations;
};
static struct shared *shared;
static uint64_t fail_at; /* which allocation fails; 0: none */

#if !defined(SANITIZED) && defined(__GLIBC__)
#define CAN_FAIL true
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t n);

static bool fails(void)
{
    if (!fail_at || __atomic_add_fetch(&shared->allocations, 1, __ATOMIC_RELAXED) != fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
#else
#define CAN_FAIL false
#endif

/* ---- folders and files ---------------------------------------------------------------------- */

/* Sizes of the results folder's files are tried in steps. */
#ifdef SANITIZED
static uint64_t stride = 997;
#else
static uint64_t stride = 61;
#endif

struct place {
    char dir[64]; /* everything is in here */
    char trace[100], gzip[100], zstd[100], config[100];
};

static void put_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fwrite(bytes, 1, n, out);
    assert_int_equal(fclose(out), 0);
}

static void put_file(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

/* "T0|w(x)|1\nT1|r(x)|2\n" */
static const uint8_t gzip_bytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                     0x0b, 0x31, 0xa8, 0x29, 0xd7, 0xa8, 0xd0, 0xac, 0x31, 0xe4,
                                     0x0a, 0x31, 0xac, 0x29, 0x02, 0xb1, 0x8c, 0xb8, 0x00, 0x56,
                                     0xac, 0x45, 0x15, 0x14, 0x00, 0x00, 0x00};
static const uint8_t zstd_bytes[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0xa1, 0x00, 0x00, 0x54,
                                     0x30, 0x7c, 0x77, 0x28, 0x78, 0x29, 0x7c, 0x31, 0x0a, 0x54,
                                     0x31, 0x7c, 0x72, 0x28, 0x78, 0x29, 0x7c, 0x32, 0x0a};

/* In memory where there is such a folder: all that is synced would take its time. */
static int make_place(void **state)
{
    struct place *p = xcalloc(1, sizeof *p);

    snprintf(p->dir, sizeof p->dir, "/dev/shm/lardsim-faults-XXXXXX");
    if (!mkdtemp(p->dir)) {
        snprintf(p->dir, sizeof p->dir, "/tmp/lardsim-faults-XXXXXX");
        assert_non_null(mkdtemp(p->dir));
    }
    snprintf(p->trace, sizeof p->trace, "%s/in.trace", p->dir);
    snprintf(p->config, sizeof p->config, "%s/in.yaml", p->dir);
    snprintf(p->gzip, sizeof p->gzip, "%s/in.gz", p->dir);
    snprintf(p->zstd, sizeof p->zstd, "%s/in.zst", p->dir);
    put_bytes(p->gzip, gzip_bytes, sizeof gzip_bytes);
    put_bytes(p->zstd, zstd_bytes, sizeof zstd_bytes);
    put_file(p->trace, "lardsim-text 1\n"
                       "granularity 4\n"
                       "name thread 1 \"worker\"\n"
                       "T0 alloc 0x1000 64 16 4 @\"main:1\"\n"
                       "T0 write 0x1000 4 @\"main:2\"\n"
                       "T0 fork T1 @\"main:3\"\n"
                       "T0 acq 0x2000\n"
                       "T0 write 0x1004 4 @\"main:4\"\n"
                       "T0 rel 0x2000\n"
                       "T0 write 0x1008 4 @\"main:5\"\n"
                       "T1 write 0x1008 4 @\"run:6\"\n"
                       "T1 vwrite 0x2100\n"
                       "T0 vread 0x2100\n"
                       "T0 copy 0x3000 0x1000 64 @\"gc:7\"\n"
                       "T0 clear 0x1000 64 @\"gc:8\"\n"
                       "T0 read 0x3008 4 @\"main:9\"\n");
    put_file(p->config, "policies: [vc, quick=fasttrack]\n"
                        "policy: {quick: {repeats: skip, view: [tracked, no-clear]}}\n"
                        "limits: {memory: 1 MiB}\n");
    *state = p;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    return 0;
}

static void remove_tree(const char *dir)
{
    DIR *d = opendir(dir);

    if (!d) {
        unlink(dir);
        return;
    }
    for (const struct dirent *e; (e = readdir(d));) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_tree(path);
    }
    closedir(d);
    rmdir(dir);
}

static int remove_place(void **state)
{
    struct place *p = *state;

    remove_tree(p->dir);
    free(p);
    return 0;
}

/* Owned by the caller; NULL: there is no such file. */
static char *get_file(const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 0;

    *n = 0;
    if (!in)
        return NULL;
    for (int c; (c = getc(in)) != EOF;) {
        text = xgrow(text, *n, &cap, 1);
        text[(*n)++] = (char)c;
    }
    fclose(in);
    return text ? text : xstrdup("");
}

/* ---- jobs, each in a process of its own ----------------------------------------------------- */

typedef int job(const struct place *p, const char *out, struct err *e); /* the exit code */

/* The whole library, with a results folder. */
static int run_job(const struct place *p, const char *out, struct err *e)
{
    struct lardsim *l = lardsim_new();

    lardsim_load(l, p->config);
    lardsim_output(l, out, 0);
    lardsim_start(l);
    lardsim_run(l, p->trace);
    lardsim_finish(l);
    const int code = lardsim_exit_code(l);
    if (code)
        err_set(e, (enum lard_exit)code, "%s", lardsim_error(l));
    lardsim_free(l);
    return code;
}

static struct sink *sink_for(const char *path, FILE *out, struct err *e)
{
    const struct sink_info info = {.granularity = 4};
    const char *name = strrchr(path, '-');

    if (!strcmp(name, "-text.trace"))
        return sink_text(out, &info, e);
    if (!strcmp(name, "-std.trace"))
        return sink_std(out, &info, true, e);
    return sink_binary(out, &info, CODEC_ZSTD, 0, e);
}

static int convert(const struct place *p, const char *path, FILE *out, struct err *e)
{
    struct source *from = source_open(p->trace, e);
    struct sink *sink = from ? sink_for(path, out, e) : NULL;
    int bad = !sink || trace_pump(from, sink, e);

    if (bad && sink)
        sink->abort(sink);
    else if (!bad)
        bad = sink->finish(sink, e);
    source_close(from);
    return bad;
}

static int convert_job(const struct place *p, const char *path, struct err *e)
{
    struct outfile *out = outfile_open(path, false, e);

    if (!out)
        return e->code;
    if (convert(p, path, outfile_stream(out), e))
        outfile_abort(out);
    else
        outfile_commit(out, e);
    return e->code;
}

static int gzip_job(const struct place *p, const char *path, struct err *e)
{
    struct place packed = *p;

    memcpy(packed.trace, p->gzip, sizeof packed.trace);
    return convert_job(&packed, path, e);
}

static int zstd_job(const struct place *p, const char *path, struct err *e)
{
    struct place packed = *p;

    memcpy(packed.trace, p->zstd, sizeof packed.trace);
    return convert_job(&packed, path, e);
}

enum fault { NO_FAULT, MEMORY, FILE_SIZE };

static void prepare(enum fault fault, uint64_t n)
{
    if (fault == FILE_SIZE) {
        const struct rlimit limit = {n, n};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (fault == MEMORY)
        fail_at = n;
}

struct ending {
    int code;
    char said[2000];
};

/* Does the job in a child with the n-th fault. */
static struct ending try(const struct place *p, job *what, const char *out, enum fault fault,
                         uint64_t n)
{
    struct ending end = {0, ""};
    int say[2], status;

    assert_int_equal(pipe(say), 0);
    shared->allocations = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct err e = {0};
        dup2(say[1], STDERR_FILENO);
        prepare(fault, n);
        const int code = what(p, out, &e);
        fail_at = 0;
        if (code)
            dprintf(STDERR_FILENO, "%s", e.text);
        _exit(code);
    }
    close(say[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    const ssize_t said = read(say[0], end.said, sizeof end.said - 1);
    end.said[said > 0 ? said : 0] = '\0';
    close(say[0]);
    if (!WIFEXITED(status))
        fail_msg("fault %u at %llu: killed by signal %d: %s", fault, (unsigned long long)n,
                 WTERMSIG(status), end.said);
    end.code = WEXITSTATUS(status);
    return end;
}

/* ---- what may be left behind ---------------------------------------------------------------- */

/* True: the file is there. It is whole then. */
static bool whole(const char *path, const char *reference)
{
    size_t n, m;
    char *text = get_file(path, &n), *ref = get_file(reference, &m);

    assert_non_null(ref);
    if (text && strstr(path, "/host.json")) /* is another in each run */
        assert_true(n > 3 && text[0] == '{' && !memcmp(text + n - 2, "}\n", 2));
    else if (text && (n != m || memcmp(text, ref, n) != 0))
        fail_msg("%s was left behind with %zu bytes of %zu", path, n, m);
    free(ref);
    free(text);
    return text != NULL;
}

/* Only whole files; all of them when the job was done, or DONE is there. A process that dies after
 * DONE has lost nothing; one that tells an error leaves none. */
static void check_folder(const char *out, const char *reference, const struct ending *end)
{
    DIR *d = opendir(reference);
    unsigned missing = 0;
    bool done = false;

    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        char path[500], ref[500];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", out, e->d_name);
        snprintf(ref, sizeof ref, "%s/%s", reference, e->d_name);
        const bool there = whole(path, ref);
        missing += !there;
        done = done || (there && !strcmp(e->d_name, "DONE"));
    }
    closedir(d);
    if (done && end->code && end->code != LARD_INTERNAL)
        fail_msg("DONE was left behind: %s", end->said);
    assert_true(!missing || (!done && end->code));
}

static void check_left(const char *out, const char *reference, const struct ending *end)
{
    if (end->code && !*end->said)
        fail_msg("exit code %d without a message", end->code);
    if (strstr(reference, ".trace"))
        assert_true(whole(out, reference) || end->code);
    else
        check_folder(out, reference, end);
}

static const struct {
    const char *name; /* of what it writes */
    job *what;
} jobs[] = {{"run", run_job},           {"binary.trace", convert_job}, {"text.trace", convert_job},
            {"std.trace", convert_job}, {"gzip.trace", gzip_job},      {"zstd.trace", zstd_job}};

/* Tries the job with the fault at n; everything has to hold. */
static struct ending check(const struct place *p, size_t i, enum fault fault, uint64_t n)
{
    char out[200], reference[200];

    snprintf(out, sizeof out, "%s/out-%s", p->dir, jobs[i].name);
    snprintf(reference, sizeof reference, "%s/ref-%s", p->dir, jobs[i].name);
    if (access(reference, F_OK) != 0) {
        const struct ending whole_end = try(p, jobs[i].what, reference, NO_FAULT, 0);
        assert_string_equal(whole_end.said, "");
        assert_int_equal(whole_end.code, 0);
    }
    const struct ending end = try(p, jobs[i].what, out, fault, n);
    check_left(out, reference, &end);
    remove_tree(out);
    return end;
}

/* Some libraries do without, as the C library does for the buffers of files: then all is well. */
static void memory_may_run_out_at_any_allocation(void **state)
{
    (void)state;
    if (!CAN_FAIL)
        skip();
    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        unsigned internal = 0;
        uint64_t n = 1;
        for (;; n++) {
            const struct ending end = check(*state, i, MEMORY, n);
            if (shared->allocations < n)
                break;
            assert_true(end.code == LARD_DONE || end.code == LARD_INTERNAL ||
                        end.code == LARD_CONFIG || end.code == LARD_TRACE ||
                        end.code == LARD_OUTPUT);
            internal += end.code == LARD_INTERNAL;
        }
        assert_true(n > 10 && internal > n / 2);
    }
}

static uint64_t file_size(const char *dir, const char *name)
{
    char path[400];
    size_t n;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    free(get_file(path, &n));
    return n;
}

static void check_full_at(const struct place *p, size_t i, uint64_t n, uint64_t largest)
{
    const struct ending end = check(p, i, FILE_SIZE, n);

    if (n >= largest)
        assert_int_equal(end.code, LARD_DONE);
    else if (end.code != LARD_OUTPUT)
        fail_msg("%s, at most %llu bytes: exit code %d: %s", jobs[i].name, (unsigned long long)n,
                 end.code, end.said);
}

/* At every size up to the largest file's, and near the size of each. */
static void a_disk_may_fill_up_at_any_byte(void **state)
{
    const struct place *p = *state;
    static const char *const files[] = {"config.yaml", "stats.json",      "stats.txt", "stats.csv",
                                        "races.jsonl", "provenance.json", "host.json", "DONE"};
    char reference[200];
    uint64_t largest = 0;

    check(p, 0, NO_FAULT, 0);
    snprintf(reference, sizeof reference, "%s/ref-run", p->dir);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        const uint64_t n = file_size(reference, files[i]);
        assert_true(n > 0);
        largest = n > largest ? n : largest;
    }
    for (uint64_t n = 0; n < largest; n += stride)
        check_full_at(p, 0, n, largest);
    for (size_t i = 0; i < ARRAY_SIZE(files) - 2; i++)
        for (uint64_t n = file_size(reference, files[i]) - 1, k = 0; k < 3; k++)
            check_full_at(p, 0, n + k, largest);
    for (size_t i = 1; i < ARRAY_SIZE(jobs); i++) {
        snprintf(reference, sizeof reference, "ref-%s", jobs[i].name);
        check(p, i, NO_FAULT, 0);
        largest = file_size(p->dir, reference);
        for (uint64_t n = 0; n <= largest; n++)
            check_full_at(p, i, n, largest);
    }
}

/* ---- streams that fail ---------------------------------------------------------------------- */

struct cookie {
    const char *text;   /* what there is to read */
    size_t at, fail_at; /* bytes so far; where it fails */
    int reason;
};

static ssize_t cookie_write(void *arg, const char *from, size_t n)
{
    struct cookie *c = arg;
    const size_t room = c->fail_at - c->at;

    (void)from;
    if (n > room) {
        errno = c->reason;
        c->at = c->fail_at;
        return (ssize_t)room; /* short; nothing at all the next time */
    }
    c->at += n;
    return (ssize_t)n;
}

static ssize_t cookie_read(void *arg, char *to, size_t n)
{
    struct cookie *c = arg;
    const size_t left = c->fail_at - c->at;

    if (left == 0) {
        errno = c->reason;
        return -1;
    }
    n = n < left ? n : left;
    memcpy(to, c->text + c->at, n);
    c->at += n;
    return (ssize_t)n;
}

/* mode: "rb" or "wb" */
static FILE *cookie_open(struct cookie *c, const char *mode, bool buffered)
{
    FILE *f =
        fopencookie(c, mode, (cookie_io_functions_t){.read = cookie_read, .write = cookie_write});

    assert_non_null(f);
    if (!buffered)
        setvbuf(f, NULL, _IONBF, 0);
    return f;
}

static struct sink *open_binary(FILE *out, const struct sink_info *info, struct err *e)
{
    return sink_binary(out, info, CODEC_RAW, 0, e);
}

static struct sink *open_text(FILE *out, const struct sink_info *info, struct err *e)
{
    return sink_text(out, info, e);
}

static struct sink *open_std(FILE *out, const struct sink_info *info, struct err *e)
{
    return sink_std(out, info, true, e);
}

typedef struct sink *sink_open(FILE *out, const struct sink_info *info, struct err *e);
static const struct {
    const char *format;
    sink_open *open;
} sinks[] = {{"binary", open_binary}, {"text", open_text}, {"std", open_std}};

static int write_all(sink_open *open, FILE *out, struct err *e)
{
    const struct sink_info info = {.first = 7, .granularity = 4};
    struct source *from = source_open("synth:seed=8,events=60,names=on", e);
    struct sink *to = open(out, &info, e);
    int bad = !to || trace_pump(from, to, e);

    if (bad && to)
        to->abort(to);
    else if (!bad)
        bad = to->finish(to, e);
    source_close(from);
    return bad;
}

/* Wherever it fails, at the latest finish says so. */
static void a_sink_tells_that_its_stream_failed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
        for (int buffered = 0; buffered < 2; buffered++) {
            struct cookie c = {.fail_at = SIZE_MAX, .reason = ENOSPC};
            struct err e = {0};
            FILE *out = cookie_open(&c, "wb", buffered);
            assert_int_equal(write_all(sinks[i].open, out, &e), 0);
            fclose(out);
            const size_t all = c.at;
            for (size_t n = 0; n < all; n += n < 300 || n > all - 300 ? 1 : 37) {
                c.at = 0;
                c.fail_at = n;
                e.code = 0;
                out = cookie_open(&c, "wb", buffered);
                assert_int_not_equal(write_all(sinks[i].open, out, &e), 0);
                assert_int_equal(e.code, LARD_OUTPUT);
                assert_non_null(strstr(e.text, "can't be written"));
                fclose(out);
            }
        }
}

static void write_json(FILE *out)
{
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    for (unsigned i = 0; i < 20; i++) {
        json_key(&j, "key");
        json_fixed(&j, i, 7);
    }
    json_end(&j);
}

static void write_stats(FILE *out)
{
    struct stats *s = stats_new();
    struct json j;
    uint64_t n = 5;

    stats_count(stats_root(s), "n", "events", "A count.", &n);
    json_init(&j, out, true);
    json_object(&j);
    stats_json(s, &j);
    json_end(&j);
    stats_text(s, out);
    stats_csv(s, out);
    stats_free(s);
}

/* They return nothing: the stream itself has to know. */
static void what_is_written_in_vain_shows_in_the_stream(void **state)
{
    static void (*const writers[])(FILE *) = {write_json, write_stats};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
        struct cookie c = {.fail_at = SIZE_MAX, .reason = ENOSPC};
        FILE *out = cookie_open(&c, "wb", true);
        writers[i](out);
        fclose(out);
        const size_t all = c.at;
        for (size_t n = 0; n < all; n++) {
            c.at = 0;
            c.fail_at = n;
            out = cookie_open(&c, "wb", n % 2);
            writers[i](out);
            assert_true(ferror(out) || fflush(out));
            fclose(out);
        }
    }
}

static const struct trace_format *format_of(const char *name)
{
    for (size_t i = 0; trace_formats[i]; i++)
        if (!strcmp(trace_formats[i]->name, name))
            return trace_formats[i];
    fail_msg("there is no format %s", name);
    return NULL;
}

/* Reads to the end or the error. */
static void read_all(const struct trace_format *format, struct cookie *c, bool buffered,
                     struct err *e)
{
    struct input *in = xcalloc(1, sizeof *in);
    struct batch b;

    in->name = xstrdup("broken.trace");
    in->file = cookie_open(c, "rb", buffered);
    struct source *s = format->open(in, e);
    while (s && !source_next(s, &b, e) && b.records)
        continue;
    source_close(s);
}

static void a_file_that_breaks_off_is_no_truncated_trace(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sinks); i++) {
        char *text;
        size_t all;
        struct err e = {0};
        FILE *out = open_memstream(&text, &all);
        assert_int_equal(write_all(sinks[i].open, out, &e), 0);
        fclose(out);
        for (size_t n = 0; n < all; n += n < 300 || n > all - 300 ? 1 : 37) {
            struct cookie c = {.text = text, .fail_at = n, .reason = EIO};
            e = (struct err){0};
            read_all(format_of(sinks[i].format), &c, n % 2, &e);
            assert_int_equal(e.code, LARD_TRACE);
            if (!strstr(e.text, "broken.trace") || !strstr(e.text, "can't be read"))
                fail_msg("%s, byte %zu: %s", sinks[i].format, n, e.text);
        }
        free(text);
    }
}

/* The argument: another stride. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_may_run_out_at_any_allocation, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(a_disk_may_fill_up_at_any_byte, make_place, remove_place),
        cmocka_unit_test(a_sink_tells_that_its_stream_failed),
        cmocka_unit_test(what_is_written_in_vain_shows_in_the_stream),
        cmocka_unit_test(a_file_that_breaks_off_is_no_truncated_trace),
    };

    if (argc > 1)
        stride = strtoull(argv[1], NULL, 10);
    return stride ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
}
