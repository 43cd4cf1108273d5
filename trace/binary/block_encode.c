/* block_encode.c - up to 65,536 consecutive events to bytes: the order as runs of threads, then
 * columns in which each thread's events stand together. Decoding is in block.c. */
#include "trace/binary/block_form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT_BITS = 6, RECENT = 1 << RECENT_BITS }; /* shapes that are found without the map */

struct block_encoder {
    struct column_encoder *columns; /* owns */
    struct map shape_index;         /* shape to its place in shape[]; empty between blocks */
    size_t events, threads, runs, shapes;
    uint64_t thread[BLOCK_EVENTS];                               /* ids in order of appearance */
    uint64_t run_thread[BLOCK_EVENTS], run_length[BLOCK_EVENTS]; /* place in thread[]; events - 1 */
    uint64_t shape[BLOCK_EVENTS];
    uint16_t recent[RECENT];              /* place of the latest shape of a hash */
    uint32_t thread_index[MAX_THREADS];   /* 1 + place in thread[]; 0 between blocks */
    uint32_t length[PARTS][BLOCK_EVENTS]; /* events by thread */
    uint32_t next[PARTS][BLOCK_EVENTS];   /* by thread: where its next event goes */
    size_t total[PARTS];
    uint64_t shape_of[BLOCK_EVENTS]; /* place in shape[]; by thread, as all columns */
    uint64_t number[COLUMNS][BLOCK_EVENTS];
};

struct block_encoder *block_encoder_new(enum trace_codec how, int level)
{
    struct block_encoder *b = xcalloc(1, sizeof *b);

    b->columns = column_encoder_new(how, level);
    map_init(&b->shape_index, NULL);
    return b;
}

void block_encoder_free(struct block_encoder *b)
{
    if (!b)
        return;
    column_encoder_free(b->columns);
    map_free(&b->shape_index);
    free(b);
}

/* ---- order: threads and runs ---------------------------------------------------------------- */

/* A thread's place, in order of appearance. */
static size_t thread_place(struct block_encoder *b, sim_tid tid)
{
    if (b->thread_index[tid] == 0) {
        for (int part = 0; part < PARTS; part++)
            b->length[part][b->threads] = 0;
        b->thread[b->threads++] = tid;
        b->thread_index[tid] = (uint32_t)b->threads;
    }
    return b->thread_index[tid] - 1;
}

static void run_extend(struct block_encoder *b, size_t thread)
{
    if (b->runs && b->run_thread[b->runs - 1] == thread) {
        b->run_length[b->runs - 1]++;
        return;
    }
    b->run_thread[b->runs] = thread;
    b->run_length[b->runs++] = 0;
}

/* First pass: who has how many events of each part. The second, event_put, knows then where they
 * go. */
static void order_scan(struct block_encoder *b, const struct event *rec, size_t records)
{
    b->events = b->threads = b->runs = 0;
    for (size_t i = 0; i < records; i += event_records(rec + i)) {
        const size_t thread = thread_place(b, rec[i].tid);

        assert(b->events < BLOCK_EVENTS);
        run_extend(b, thread);
        b->length[PART_ALL][thread]++;
        b->length[PART_OTHER][thread] += !event_is_access(rec + i);
        b->length[PART_MORE][thread] += event_records(rec + i) - 1;
        b->events++;
    }
}

/* Where each thread's events go. */
static void order_places(struct block_encoder *b)
{
    memset(b->total, 0, sizeof b->total);
    for (size_t t = 0; t < b->threads; t++) {
        b->length[PART_ACCESS][t] = b->length[PART_ALL][t] - b->length[PART_OTHER][t];
        for (int part = 0; part < PARTS; part++) {
            b->next[part][t] = (uint32_t)b->total[part];
            b->total[part] += b->length[part][t];
        }
    }
}

/* ---- events to columns ---------------------------------------------------------------------- */

static uint64_t shape_find(struct block_encoder *b, uint64_t shape)
{
    uint64_t *place = map_put(&b->shape_index, shape); /* counted from 1 */

    if (*place == 0) {
        b->shape[b->shapes++] = shape;
        *place = b->shapes;
    }
    return *place - 1;
}

/* Most events have one of few shapes: a small table in front of the map. */
static uint64_t shape_place(struct block_encoder *b, uint64_t shape)
{
    uint16_t *recent = &b->recent[shape * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];

    if (b->shapes == 0 || b->shape[*recent] != shape)
        *recent = (uint16_t)shape_find(b, shape);
    return *recent;
}

static void event_put(struct block_encoder *b, const struct event *ev)
{
    const size_t thread = b->thread_index[ev->tid] - 1;
    const uint32_t at = b->next[PART_ALL][thread]++;
    const unsigned other = event_is_access(ev) ? 0 : 1;
    const uint32_t part_at = b->next[PART_ACCESS + other][thread]++;

    b->shape_of[at] = shape_place(b, shape_make(ev));
    b->number[COLUMN_GAP][at] = ev->gap;
    b->number[COLUMN_ADDR + other][part_at] = ev->addr;
    b->number[COLUMN_AUX + other][part_at] = ev->aux;
    if (ev->flags & EVF_MORE) {
        const uint32_t more_at = b->next[PART_MORE][thread]++;
        b->number[COLUMN_MORE_ADDR][more_at] = ev[1].addr;
        b->number[COLUMN_MORE_SIZE][more_at] = ev[1].size;
        b->number[COLUMN_MORE_AUX][more_at] = ev[1].aux;
    }
}

static void events_put(struct block_encoder *b, const struct event *rec, size_t records)
{
    b->shapes = 0;
    memset(b->recent, 0, sizeof b->recent);
    for (size_t i = 0; i < records; i += event_records(rec + i))
        event_put(b, rec + i);
    map_free(&b->shape_index);
    for (size_t t = 0; t < b->threads; t++)
        b->thread_index[b->thread[t]] = 0;
}

/* ---- columns to bytes ----------------------------------------------------------------------- */

static void list_put(struct block_encoder *b, struct bytes *to, const uint64_t *v, size_t n)
{
    const uint32_t length = (uint32_t)n;

    column_put(b->columns, to, v, n, (struct groups){&length, 1});
}

static void part_put(struct block_encoder *b, struct bytes *to, const uint64_t *v, enum part part)
{
    column_put(b->columns, to, v, b->total[part], (struct groups){b->length[part], b->threads});
}

static unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* Where most runs have one event, the thread of each event takes less than threads and lengths, of
 * which most are 0 and so take about a bit. */
static bool runs_are_short(const struct block_encoder *b)
{
    const unsigned thread = bits_of(b->threads - 1);

    return b->runs > 1 && b->events * thread <= b->runs * (thread + 1);
}

/* Splits runs into runs of one event, in place. There are more of them than before, so it goes from
 * the last to the first. */
static void runs_split(struct block_encoder *b)
{
    size_t to = b->events;

    for (size_t i = b->runs; i-- > 0;) {
        const uint64_t thread = b->run_thread[i];
        for (uint64_t n = b->run_length[i] + 1; n > 0; n--)
            b->run_thread[--to] = thread;
    }
    b->runs = b->events;
    memset(b->run_length, 0, b->runs * sizeof *b->run_length);
}

static void runs_put(struct block_encoder *b, struct bytes *to)
{
    if (runs_are_short(b))
        runs_split(b);
    bytes_varint(to, b->runs);
    list_put(b, to, b->run_thread, b->runs);
    list_put(b, to, b->run_length, b->runs);
}

void block_encode(struct block_encoder *b, const struct event *rec, size_t records,
                  struct bytes *to)
{
    assert(records > 0);
    order_scan(b, rec, records);
    order_places(b);
    events_put(b, rec, records);
    bytes_varint(to, b->threads);
    list_put(b, to, b->thread, b->threads);
    runs_put(b, to);
    bytes_varint(to, b->shapes);
    list_put(b, to, b->shape, b->shapes);
    part_put(b, to, b->shape_of, PART_ALL);
    for (int i = 0; i < COLUMNS; i++)
        part_put(b, to, b->number[i], (enum part)column_part[i]);
}
