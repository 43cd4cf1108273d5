/* trace_file.h - binary traces in memory, for tests: written with the sink, opened as a source. */
#ifndef LARDSIM_TRACE_FILE_H
#define LARDSIM_TRACE_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "trace/trace.h"

struct file {
    char *at; /* owns */
    size_t n;
};

static inline struct source *file_open(const uint8_t *at, size_t n, struct err *e)
{
    struct input *in = xcalloc(1, sizeof *in);

    in->name = xstrdup("t.trace");
    in->file = n ? fmemopen((void *)(uintptr_t)at, n, "rb") : fopen("/dev/null", "rb");
    assert_non_null(in->file);
    return trace_format_binary.open(in, e);
}

/* Writes events and names with the sink. */
static inline struct file file_write(const struct event *rec, size_t records,
                                     const struct names *names, const struct sink_info *info,
                                     enum trace_codec how)
{
    struct err e = {0};
    struct file f;
    FILE *out = open_memstream(&f.at, &f.n);
    struct sink *to = sink_binary(out, info, how, 0, &e);

    assert_non_null(to);
    assert_int_equal(to->names(to, names, &e), 0);
    for (size_t i = 0; i < records; i += event_records(rec + i))
        assert_int_equal(to->event(to, rec + i, &e), 0);
    assert_int_equal(to->finish(to, &e), 0);
    fclose(out);
    return f;
}

/* Reads on, compares what comes with rec, and returns the number of records. Stops at an error. */
static inline size_t read_and_compare(struct source *s, const struct event *rec, size_t records,
                                      struct err *e)
{
    uint64_t number = s->first;
    struct batch b;
    size_t n = 0;

    while (!source_next(s, &b, e) && b.records) {
        assert_true(b.records <= records - n);
        assert_memory_equal(b.rec, rec + n, b.records * sizeof *rec);
        assert_true(b.first == number);
        for (size_t i = 0; i < b.records; i += event_records(b.rec + i))
            number++;
        n += b.records;
    }
    return n;
}

static inline void read_whole(const struct file *f, const struct event *rec, size_t records)
{
    struct err e = {0};
    struct source *s = file_open((uint8_t *)f->at, f->n, &e);

    if (!s)
        fail_msg("%s", e.text);
    const size_t n = read_and_compare(s, rec, records, &e);
    if (e.code)
        fail_msg("%s", e.text);
    assert_int_equal(n, records);
    source_close(s);
}

#endif
