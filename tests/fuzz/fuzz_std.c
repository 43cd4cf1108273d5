/* fuzz_std.c - any bytes as a trace of another tool, and as whatever their first bytes say, packed
 * or not: an error that names the place, or well-formed events. STD text is the same to the byte
 * when it is written again, and the reader's quick way gives what the slow one gives. */
#include "tests/fuzz/fuzz.h"
#include "trace/binary/codec.h"

static struct fuzz_trace take(const char *format, const char *path)
{
    char *spec = xasprintf("%s%s", format, path);
    struct fuzz_trace t = fuzz_open(spec);

    free(spec);
    return t;
}

static void take_only(const char *format, const char *path)
{
    struct fuzz_trace t = take(format, path);

    if (t.opened)
        fuzz_round_trip(&t, sink_text);
    fuzz_trace_free(&t);
}

static struct sink *exact_sink(FILE *out, const struct sink_info *info, struct err *e)
{
    return sink_std(out, info, false, e);
}

static struct sink *lossy_sink(FILE *out, const struct sink_info *info, struct err *e)
{
    return sink_std(out, info, true, e);
}

/* Without empty lines and with a newline at the end; there are no CRs. Owned by the caller. */
static char *tidy(const uint8_t *data, size_t n, size_t *to_n)
{
    char *to = xmalloc(n + 1);

    *to_n = 0;
    for (size_t i = 0; i < n; i++)
        if (data[i] != '\n' || (*to_n && to[*to_n - 1] != '\n'))
            to[(*to_n)++] = (char)data[i];
    if (*to_n && to[*to_n - 1] != '\n')
        to[(*to_n)++] = '\n';
    return to;
}

/* A thread that is forked may have a bar in its name; where one acts it can't, so that it is
 * written under another. */
static bool bar_in_thread(const struct names *names)
{
    for (size_t i = 0; i < names_count(names); i++)
        if (names_at(names, i)->space == NAME_THREAD && strchr(names_at(names, i)->text, '|'))
            return true;
    return false;
}

/* t was read from data without an error. */
static void check_written(const struct fuzz_trace *t, const uint8_t *data, size_t n)
{
    size_t written_n, tidy_n;
    char *written, *tidied = tidy(data, n, &tidy_n);

    MUST(fuzz_written(t, exact_sink, &written, &written_n));
    MUST(bar_in_thread(t->names) || (written_n == tidy_n && !memcmp(written, tidied, tidy_n)));
    free(written);
    free(tidied);
    if (fuzz_written(t, lossy_sink, &written, &written_n) && written_n) {
        struct fuzz_file f = fuzz_file(written, written_n);
        struct fuzz_trace again = take("std:", f.path);
        MUST(!again.err.code && again.events <= t->events);
        fuzz_trace_free(&again);
        fuzz_file_close(&f);
    }
    free(written);
}

/* A CR before each newline keeps the reader off its quick way. */
static void check_slow(const struct fuzz_trace *t, const uint8_t *data, size_t n)
{
    char *slow = xmalloc(2 * n + 1);
    size_t slow_n = 0;

    for (size_t i = 0; i < n; i++) {
        if (data[i] == '\n')
            slow[slow_n++] = '\r';
        slow[slow_n++] = (char)data[i];
    }
    struct fuzz_file f = fuzz_file(slow, slow_n);
    struct fuzz_trace other = take("std:", f.path);
    fuzz_same(t, &other);
    MUST(t->err.code == other.err.code);
    fuzz_trace_free(&other);
    fuzz_file_close(&f);
    free(slow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const formats[] = {"", "std:begin=transaction:", "lackey:", "din:", "xdin:"};
    static const char *const policies[] = {"policies=fasttrack", "trace.ahead=on", NULL};
    struct fuzz_file f = fuzz_file(data, n);
    struct fuzz_trace t = take("std:", f.path);

    if (t.opened && !t.cut && !memchr(data, '\r', n) && packing_of(data, n) == PACKING_NONE) {
        check_slow(&t, data, n);
        if (!t.err.code)
            check_written(&t, data, n);
    }
    if (t.opened)
        fuzz_run(f.path, policies);
    fuzz_trace_free(&t);
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        take_only(formats[i], f.path);
    fuzz_file_close(&f);
    return 0;
}
