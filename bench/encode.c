/* encode.c - writes a source's events, which are in memory, in batches such as a capture has: what
 * is left between a program under capture and the file. One line of text: nanoseconds of processor
 * time for each event, the best of RUNS, and the bytes of an event on disk.
 *
 *     encode TRACE [RUNS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "trace/trace.h"

enum { BATCH = 4096, BATCHES = 1024 }; /* as capture/collect.c has */

struct memory {
    struct source base;
    struct event *rec;
    size_t records, cap;
    uint64_t events;
    size_t end[BATCHES]; /* of each batch, in rec */
    size_t batches, next;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const struct err *e)
{
    fprintf(stderr, "encode: %s\n", e->code ? e->text : "usage: encode TRACE [RUNS]");
    exit(2);
}

/* As many events as batches have room for. */
static void memory_read(struct memory *m, const char *spec)
{
    struct err e = {0};
    struct source *s = source_open(spec, &e);
    struct batch b = {.records = 0};

    if (!s)
        fail(&e);
    while (m->batches < BATCHES && !source_next(s, &b, &e) && b.records) {
        for (size_t i = 0; i < b.records && m->batches < BATCHES; i++) {
            m->rec = xgrow(m->rec, m->records, &m->cap, sizeof *m->rec);
            m->rec[m->records++] = b.rec[i];
            if (b.rec[i].flags & EVF_MORE)
                continue;
            m->events++;
            if (m->events % BATCH == 0)
                m->end[m->batches++] = m->records;
        }
    }
    if (e.code)
        fail(&e);
    source_close(s);
    if (m->batches < BATCHES)
        m->end[m->batches++] = m->records;
}

static int memory_next(struct source *s, struct batch *b, struct err *e)
{
    struct memory *m = (struct memory *)s;
    const size_t at = m->next ? m->end[m->next - 1] : 0;

    (void)e;
    if (m->next < m->batches)
        *b = (struct batch){.rec = m->rec + at, .records = m->end[m->next++] - at};
    return 0;
}

static ssize_t count(void *arg, const char *from, size_t n)
{
    uint64_t *bytes = arg;

    (void)from;
    *bytes += n;
    return (ssize_t)n;
}

static double run(struct memory *m, uint64_t *bytes)
{
    const struct sink_info info = {.producer = "encode"};
    struct err e = {0};
    FILE *out = fopencookie(bytes, "w", (cookie_io_functions_t){.write = count});
    const double from = seconds();
    struct sink *to = out ? sink_binary(out, &info, CODEC_ZSTD, 0, &e) : NULL;

    *bytes = m->next = 0;
    if (!to || trace_pump(&m->base, to, &e) || to->finish(to, &e))
        fail(&e);
    const double took = seconds() - from;
    fclose(out);
    return took;
}

int main(int argc, char **argv)
{
    struct memory m = {.base = {.next = memory_next, .name = "memory"}};
    const int runs = argc > 2 ? atoi(argv[2]) : 5;
    double best = 0;
    uint64_t bytes;

    if (argc < 2)
        fail(&(struct err){0});
    memory_read(&m, argv[1]);
    for (int i = 0; i < runs; i++) {
        const double took = run(&m, &bytes);
        if (!i || took < best)
            best = took;
    }
    printf("%.1f ns %.3f bytes\n", best / (double)m.events * 1e9, (double)bytes / (double)m.events);
    free(m.rec);
    return 0;
}
